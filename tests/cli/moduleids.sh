#!/bin/sh
# moduleids.sh - modules that have the build-id of another one are not trusted.
# usage: BACKSTITCH=PROGRAM tests/cli/moduleids.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
cp "$root/tests/captures/arm64-fp-leaf.data" sound.data
"$B" ingest -q -o sound.db sound.data 2>err
grep -q 'same build-id' err && echo not ok modules_of_their_own_are_not_told ||
	echo ok modules_of_their_own_are_not_told

# the second module gets the build-id of the first
"$B" query --format csv sound.db "SELECT DISTINCT lower(hex(build_id))
	FROM image i JOIN word w ON w.kind = 'image' AND w.id = i.kind
	WHERE w.name = 'module' AND build_id NOT NULL ORDER BY i.id LIMIT 2" |
	sed 1d | tr -d '\r"' >ids
python3 - <<'PY'
first, second = [bytes.fromhex(s) for s in open("ids").read().split()]
data = open("sound.data", "rb").read()
open("edit.data", "wb").write(data.replace(second, first))
PY
"$B" ingest -q -o edit.db edit.data 2>err
grep -q '^note: 2 modules have the same build-id' err && echo ok two_of_one_build_id_are_told ||
	echo not ok two_of_one_build_id_are_told
n=$("$B" query --format csv edit.db "SELECT count(*), sum(status = 'named')
	FROM image WHERE build_id IN (SELECT build_id FROM image
		GROUP BY build_id HAVING count(DISTINCT path) > 1)" | sed 1d | tr -d '\r')
case $n in
2,0 | 2,) echo ok and_their_names_are_not_trusted ;;
*) echo "not ok and_their_names_are_not_trusted: $n" ;;
esac
