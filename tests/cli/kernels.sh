#!/bin/sh
# kernels.sh - files of other kernels and recorders: none of it is damage.
# usage: BACKSTITCH=build/backstitch tests/cli/kernels.sh
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
captures=tests/captures

. tests/ok.sh

# intact CAPTURE: makes the database; status 3 would be damage
intact() {
	"$B" ingest -qfo "$work/db" "$captures/$1"
	ok "$1_is_not_damaged" $?
}

# gives NAME EXPECTED SQL: lines of values
gives() {
	"$B" query "$work/db" --format csv "$3" | sed 1d >"$work/got"
	printf '%s\n' "$2" | diff - "$work/got"
	ok "$1" $?
}

for name in abi-simd abi-simdintr
do
	intact $name.data
	gives ${name}_has_all_its_stacks 9,18 "SELECT count(*), sum(n) FROM (
		SELECT count(*) AS n FROM full_stack GROUP BY event_id)"
	gives ${name}_has_one_note 1,registers "SELECT count(*), min(what)
		FROM damage WHERE kind = 'note'"
done
