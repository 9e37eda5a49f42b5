#!/bin/sh
# check-readme.sh - the example in README.md is what make demo prints.
# usage: BACKSTITCH=build/backstitch tests/check-readme.sh; silent and 0 if it is
cd "$(dirname "$0")/.." || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
COLUMNS=300 tests/demo.sh "${BACKSTITCH:-./backstitch}" "$tmp/demo" \
	>"$tmp/out" 2>&1 || {
	cat "$tmp/out"
	echo "tests/demo.sh fails"
	exit 1
}
sed -i "s|$tmp/||g; s/ *\$//" "$tmp/out"
# Commands are shortened in README.md, and so are the tables.
awk '/^<!-- what make demo prints -->/ { on = 1 }
	on && /^```/ { if (++fence == 2) exit; next }
	on && fence == 1 && NF && !/^\$/' README.md >"$tmp/example"
[ -s "$tmp/example" ] || {
	echo "README.md: has no example"
	exit 1
}
grep -vxFf "$tmp/out" "$tmp/example" |
	sed 's/^/README.md: the demo does not print: /' >"$tmp/differ"
[ -s "$tmp/differ" ] || exit 0
cat "$tmp/differ"
exit 1
