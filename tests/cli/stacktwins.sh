#!/bin/sh
# stacktwins.sh - no word about a frame-pointer stack is stronger than the truth: the
# bench of tests/twins on a few samples of each kind.
# usage: BACKSTITCH=build/backstitch tests/cli/stacktwins.sh
# Without sanitizers: other scripts run ingest and its checks under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# the bench itself: what is wrong is seen
python3 - <<'END_OF_BENCH'
import collections
import sys
sys.path.insert(0, "tests/twins")
from score import RELATIONS, STRONGER, core_of, relation, word_of

Frame = collections.namedtuple("Frame", "name kind")
true = [1, 2, 3, 4, 5, 8, 9]
frames = [Frame(n, "-") for n in ("leaf", "f", "g", "h", "main",
                                  "__libc_start_call_main", "_start")]
core = core_of(frames)
assert core == 5
for stack, how in ((true, "same"), (true[:5], "same"), (true[:6], "same"),
                   ([1, 2, 3, 4, 5, 9], "same"), ([1, 3, 4, 5], "one"),
                   ([1, 2, 3, 4], "short"), ([1], "short"),
                   ([1, 3, 4], "one+short"), ([1, 2, 4, 5], "gap"),
                   ([1, 4, 5], "some"), ([1, 5, 8], "some"),
                   ([1, 3, 5], "gap"), ([1, 4], "gap"), ([1, 2, 7], "false"),
                   ([1, 2, 3, 4, 5, 7], "false"), ([1, 1, 2], "false")):
    assert relation(stack, true, core) == how, (stack, how)
# what calls itself
assert relation([1, 2, 2, 3], [1, 2, 2, 2, 3], 5) == "one"
assert relation([1, 2, 2], [1, 2, 2, 3], 4) == "short"
for word in "whole", "caller inferred":
    assert set(STRONGER[word]) == set(RELATIONS) - {"same"}
assert set(STRONGER["fabricated"]) == set(RELATIONS) - {"false"}
assert word_of("whole", True) == "caller inferred"
assert word_of("ends early (no frame pointers)", False) == "ends early"
END_OF_BENCH
ok what_is_stronger_than_the_truth_is_seen $?

command -v xz >/dev/null || { echo "skip replay: xz is not here"; exit 0; }
mkdir "$work/kept"
xz -dc tests/twins/captures.tar.xz | tar -xf - -C "$work/kept" || exit 2
python3 tests/twins/twins.py --replay "$work/kept" --program "$B" \
	>"$work/said"
rc=$?
[ $rc = 0 ] || sed 's/^/    /' "$work/said"
ok no_word_is_stronger_than_the_truth $rc

# number NAME: of the last lines
number() {
	awk -v name="$1" '{ n = $NF; $NF = ""; sub(/ +$/, "")
		sub(/^ +/, "") } $0 == name { found = n }
		END { print found + 0 }' "$work/said"
}
[ "$(number derived)" -ge 40 ] &&
	[ "$(number derived)" = "$(number 'as recorded')" ]
ok the_twin_is_what_the_kernel_records $?
[ "$(number judged)" -ge 150 ]
ok all_samples_are_judged $?

# a word that is false is found: what is not whole is called so
cat >"$work/lies" <<'END_OF_LIES'
import sqlite3
import subprocess
import sys

status = subprocess.run(sys.argv[1:], check=False).returncode
con = sqlite3.connect(sys.argv[sys.argv.index("-o") + 1])
con.execute("DELETE FROM internal_judged")
con.execute("UPDATE internal_user_trust SET judged = 'whole'")
con.commit()
sys.exit(status)
END_OF_LIES
printf '#!/bin/sh\nexec python3 %s %s "$@"\n' "$work/lies" "$B" >"$work/liar"
chmod +x "$work/liar"
python3 tests/twins/twins.py --replay "$work/kept" \
	--program "$work/liar" >"$work/said"
[ $? = 1 ] && [ "$(number stronger)" -ge 50 ]
ok who_calls_all_of_them_whole_is_found_out $?
