#!/bin/sh
# export.sh - the forms that export writes, as the tools they are for read them.
# usage: BACKSTITCH=build/backstitch tests/cli/export.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/z.db
"$B" ingest -q -o "$db" tests/captures/z-defer.data
ok "a database to export" $?

"$B" export --format folded "$db" >"$work/a.folded" &&
	BACKSTITCH=$B python3 tests/folded.py "$db" >"$work/b.folded" &&
	sed 's/\(;\[kernel.kallsyms\]\)_\[k\]/\1/g' "$work/a.folded" | sort |
		cmp -s - "$work/b.folded"
ok "folded has the stacks of the picture" $?

bad=0
for o in --partition --event-fields --label=a=b --weighted=1s
do
	"$B" export --format folded $o "$db" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && grep -q 'are for --format parquet' "$work/err" && [ ! -s "$work/out" ] || bad=1
done
ok "options of parquet are refused with other forms" $bad

# refuses FORM OPTION...: each of them
refuses() {
	form=$1
	shift
	for o
	do
		# shellcheck disable=SC2086 # words
		"$B" export --format "$form" $o -o "$work/unmade" "$db" >"$work/out" 2>"$work/err"
		[ $? = 2 ] && grep -qF -- "${o%%=*} changes nothing with --format $form" "$work/err" &&
			[ ! -e "$work/unmade" ] || bad=1
	done
}
bad=0
refuses parquet --by=samples --no-inline --interpreter=collapse
refuses ctf --no-inline --interpreter=collapse
refuses perf.data --no-inline --interpreter=mark
refuses json --interpreter=mark
"$B" export --format json --no-inline --by samples -o "$work/made" "$db" || bad=1
ok "options that would change nothing are refused" $bad

"$B" export "$db" 2>"$work/err"
[ $? = 2 ] && grep -q "help exports" "$work/err"
ok "without a form the message says where they are" $?

cat >"$work/zero.txt" <<END
event cpu-clock period=0
comm pid=1 name=app
sample pid=1 tid=1 cpu=0 time=1000 period=0 ip=0x400010
END
"$MKCAP" "$work/zero.txt" "$work/zero.data"
"$B" export --format folded "$work/zero.data" >"$work/out" 2>"$work/err"
[ $? = 1 ] && grep -q 'all samples have weight 0; use --by samples' "$work/err" &&
	[ "$("$B" export --by samples --format folded "$work/zero.data" | sed 's/.* //')" = 1 ]
ok "stacks without a weight are not left out without a word" $?
"$B" export --format folded --time 1,2 "$db" >"$work/out" 2>"$work/err" &&
	[ ! -s "$work/out" ]
ok "no samples are no lines" $?
