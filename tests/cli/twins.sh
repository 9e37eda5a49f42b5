#!/bin/sh
# twins.sh - table, flame graph and page of a comparison name the same functions.
# usage: BACKSTITCH=build/backstitch tests/cli/twins.sh
# Without sanitizers: diff.sh compares recordings under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=$PWD/tests/captures/twins

cd "$work" || exit 2

# judge QUESTION A B [OPTION...]: of a comparison of two databases
cat >judge.py <<'PY'
import json
import os
import re
import subprocess
import sys
import xml.etree.ElementTree as ET

BACKSTITCH, question, a, b = sys.argv[1:5]
options = sys.argv[5:]

def run(*args):
    return subprocess.run([BACKSTITCH, *args, *options, a, b], check=True,
                          stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()

def of_table(by):
    rows = json.loads(run("report", "--diff", "--json"))["rows"]
    return {(r["symbol"], r["image"]): (
        r[by + "_significant"] if r[by + "_significant"] != "unknown" else "",
        r[by + "_a_weight"], r[by + "_b_weight"], r[by + "_a_samples"],
        r[by + "_b_samples"],
        "%.4e" % (1 if r[by + "_p"] is None else r[by + "_p"])) for r in rows
        if r["kind"] != "missing"}

def of_page(by):
    # the table has ten digits of p
    text = run("report", "--html", "--no-source", "--diff")
    data = json.loads(re.search(r'id="diff">\n(.*?)\n</script>', text,
                                re.S).group(1).replace("<\\/", "</"))
    out = {}
    for name, image, unknown, *places in data["functions"]:
        wa, wb, na, nb, change, p, _, _, only = places[by == "total"]
        if not unknown or "interrupts" in unknown:
            out[name, image] = ({1: "new", -1: "gone"}.get(only) or
                                {1: "more", -1: "less", 0: ""}[change], wa, wb,
                                na, nb, "%.4e" % float("%.9e" % p))
    return out

def of_flame(by):
    """Names and changes: of the frames with a color, and of the rows below. The
    cause has the color of its total, also where it has no change itself."""
    cause = json.loads(run("report", "--diff", "--json"))["cause"] or {}
    hidden = by == "self" and cause and not of_table(by)[cause["symbol"], cause["image"]][0]
    svg = ET.fromstring(run("flame", "--diff", "--diff-by", by,
                            "--minwidth", "0"))
    n = "{http://www.w3.org/2000/svg}"
    word = {"dr": "more", "db": "less"}
    found = set()
    for g in svg.find(".//*[@id='frames']"):
        name = g.find(n + "title").text.split("\n")[0]
        if g.get("class")[:2] in word and not (hidden and name == cause["symbol"]):
            found.add((word[g.get("class")[:2]], name))
    texts = [t.text or "" for t in svg.iter(n + "text")]
    for t in texts:
        m = re.match(r"gone from A: (.*) [<>\d.]+ %; [\d,]+ samples?$", t)
        if m:
            found.add(("less", m.group(1)))
    listed = set()
    for t in texts:
        m = re.match(r"(?!largest change)(.*): A [\d,]+ samples, B .*, (more|less|new|gone)(?: \(p |: the program)", t)
        if m:
            listed.add(({"new": "more", "gone": "less"}.get(m.group(2), m.group(2)), m.group(1)))
    # every row has its frame, unless that is too narrow to be drawn
    return found | listed, found

def changed(rows):
    as_drawn = {"new": "more", "gone": "less"}
    return {(as_drawn.get(v[0], v[0]), k[0]) for k, v in rows.items() if v[0]}

bad = []
for by in ("self", "total"):
    table, page = of_table(by), of_page(by)
    flame, drawn = of_flame(by)
    if table != page:
        bad.append((by, "page", sorted(set(table.items()) ^
                                       set(page.items()))[:4]))
    if flame != changed(table) or not drawn <= changed(table):
        bad.append((by, "flame", flame ^ changed(table)))
    if by == "self":
        for change, name in sorted(changed(table)):
            print(change, name)
if bad:
    print("differ:", bad)
PY
judge() {
	python3 judge.py "$B" changed "$@"
}

# symfs FOLDERS: the programs of the captures, where they were recorded
mkdir -p symfs/wl
for d in a b O0
do
	mkdir symfs/wl/$d
	for l in c cc
	do
		from=O2
		[ $d = O0 ] && from=O0
		cp "$captures/$l-$from" symfs/wl/$d/twins-$l
	done
done
for l in c cc
do
	for d in a b O0
	do
		"$B" ingest -q --symfs symfs -o $l-$d.db \
			"$captures/$l-$d.data.zst" || exit 1
	done
done

for l in c cc
do
	[ -z "$(judge $l-a.db $l-b.db)" ]
	ok one_program_in_two_folders_has_not_changed_$l $?
	judge $l-O0.db $l-a.db >names
	! grep -q '^differ' names && [ -s names ]
	ok two_builds_have_the_same_changes_in_all_three_outputs_$l $?
	judge $l-a.db $l-O0.db >back
	! grep -q '^differ' back
	ok and_the_other_way_round_$l $?
done
for l in c cc
do
	{ judge $l-O0.db $l-a.db --inline && judge $l-a.db $l-O0.db --inline; } >names
	! grep -q '^differ' names && [ -s names ]
	ok and_with_inlined_functions_$l $?
	grep '^differ' names
done
judge c-O0.db c-a.db --inline >names
# sort is what the others are measured against: only its share is larger
printf '%s\n' 'less before' 'less power' 'more hash' |
	cmp -s - names
ok with_inline_a_function_that_was_inlined_is_still_itself $?
# as in report: the sums of both recordings, row by row
python3 - "$B" <<'PY'
import json
import subprocess
import sys

def rows(*args):
    out = subprocess.run([sys.argv[1], "report", "--json", *args], check=True,
                         stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return json.loads(out.stdout)["rows"]

def own(of, key):
    # names differ where one is short for several, and code has no name
    return sorted(r[key] for r in of if r[key] and r["kind"] == "user")

for option in ([], ["--no-inline"]):
    both = rows("--diff", *option, "cc-O0.db", "cc-a.db")
    assert own(both, "self_a_samples") == own(rows("cc-O0.db"), "self_samples")
    assert own(both, "self_b_samples") == own(rows("cc-a.db"), "self_samples")
both = rows("--diff", "--inline", "cc-O0.db", "cc-a.db")
assert own(both, "self_b_samples") != own(rows("cc-a.db"), "self_samples")
PY
ok without_it_a_row_is_a_function_of_the_program_as_in_report $?
"$B" flame --inline c-a.db >out 2>&1
[ $? = 2 ] && grep -q -- '--inline is about --diff' out
ok inline_of_a_flame_graph_is_for_a_comparison $?

# an image that was renamed
cp c-b.db renamed.db
python3 - <<'PY'
import sqlite3
db = sqlite3.connect("renamed.db")
db.execute("UPDATE image SET path = '/opt/twins-c-1.2' WHERE path LIKE '%/twins-c'")
db.commit()
PY
want='twins-c of A is taken for twins-c-1.2 of B: 100.00 % of it is functions of the same names (--match twins-c=twins-c keeps them apart)'
[ "$("$B" diff c-a.db renamed.db 2>/dev/null | sed -n 2p)" = "$want" ] &&
	"$B" flame --diff c-a.db renamed.db 2>/dev/null | grep -qF "$want" &&
	"$B" page --diff c-a.db renamed.db 2>/dev/null | grep -qF "\"images\":\"$want"
ok a_renamed_image_is_matched_and_said_so $?
"$B" diff c-a.db renamed.db >out 2>/dev/null &&
	grep -q '^significant: 0 more in B, 0 less' out && grep -q ' step  *twins-c-1.2$' out &&
	[ -z "$(judge c-a.db renamed.db)" ]
ok and_it_is_the_same $?
"$B" diff --match twins-c=twins-c c-a.db renamed.db 2>/dev/null | grep -q '^most cannot be compared: 100.00 % of the user code of A and 100.00 % of B are functions that the other does not have; if an image was renamed: --match OLD=NEW$'
ok but_not_if_told_to_keep_them_apart $?
"$B" diff --match twins-c=twins-c-1.2 c-a.db renamed.db >out 2>/dev/null &&
	sed -n 2p out | grep -q '^A: c-a.db' && [ -z "$(judge c-a.db renamed.db --match twins-c=twins-c-1.2)" ]
ok and_match_says_nothing_more $?
bad=0
"$B" diff --match twins-d=x c-a.db renamed.db >/dev/null 2>err
[ $? = 2 ] && grep -q "A has no image 'twins-d'" err || bad=1
for o in 'diff --match twins-c c-a.db c-b.db' 'flame --diff --match =x c-a.db c-b.db' \
	'report --match twins-c=x c-a.db' 'flame --match twins-c=x c-a.db'
do
	# shellcheck disable=SC2086 # options
	"$B" $o >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
ok wrong_matches_are_wrong_usage $bad

# code without a name
for d in a b O0
do
	"$B" ingest -q --no-symbols -o bare-$d.db "$captures/c-$d.data.zst" || exit 1
done
"$B" diff --limit 0 bare-a.db bare-b.db >out 2>/dev/null
grep -q ' \[twins-c+0x[0-9a-f]*\]  *twins-c$' out && ! grep -q 'in twins-c' out
ok of_one_build_it_is_compared_by_offset $?
"$B" diff --limit 0 bare-a.db bare-O0.db >out 2>/dev/null
[ "$(grep -c 'twins-c$' out)" = 1 ] && grep -q ' \[in twins-c\]  *twins-c$' out
ok of_two_builds_all_of_it_is_one $?
[ -z "$(judge bare-a.db bare-b.db)$(judge bare-a.db bare-O0.db)" ]
ok and_it_has_not_changed $?

# the stated rate: 100 pairs of recordings of one program, with LONG 200, which are
# drawn from the stacks of one
times=${LONG:+50}
times=${times:-25}
python3 - "$B" "$times" >pairs <<'PY'
import random
import re
import subprocess
import sys

BACKSTITCH = sys.argv[1]
for name in ("c-a.db", "cc-O0.db"):
    text = subprocess.run([BACKSTITCH, "export", "--format", "folded", name],
                          check=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout.decode()
    stacks = [line.rpartition(" ") for line in text.splitlines()]
    weights = [int(n) for _, _, n in stacks]
    draw = random.Random(20)
    for by in ("self", "total"):
        shown = 0
        for _ in range(int(sys.argv[2])):
            for side in "ab":
                with open(side, "w") as f:
                    for s in draw.choices(stacks, weights, k=1500):
                        f.write(s[0] + " 1\n")
            svg = subprocess.run(
                [BACKSTITCH, "flame", "--diff", "--from-folded", "--diff-by",
                 by, "a", "b"], check=True, stdout=subprocess.PIPE).stdout
            found = re.search(rb">significant: (\d+) more in B, (\d+) less",
                              svg)
            shown += found.groups() != (b"0", b"0")
        print(name, by, shown)
PY
[ "$(awk -v most=$((times / 25)) '{ n += $3 } END { print NR, n <= most }' pairs)" = "4 1" ]
rc=$?
[ $rc = 0 ] || cat pairs
ok of_100_pairs_without_a_change_at_most_1_shows_one $rc

# programs that are built and recorded here
if ! command -v perf >/dev/null || ! perf record -q -o probe.data -e cpu-clock:u true >/dev/null 2>&1
then
	echo "skip corpus: perf cannot record here"
	exit
fi

# record NAME PROGRAM COUNT: NAME.db. perf 6.1 now and then aborts at its end, over its
# table of build-ids ("buffer overflow detected"), which it does not write so.
record() {
	env -i PATH="$PATH" perf record -q -N --buildid-mmap -g -F 1999 \
		-e cpu-clock:u -o "$1.data" "$2" "$3" >err 2>&1 &&
		"$B" ingest -q -f -o "$1.db" "$1.data" 2>>err
}

cat >twins.rs <<'RS'
use std::collections::BTreeMap;

fn mix(s: &str) -> u32 {
    s.bytes().fold(2166136261, |h, c| (h ^ c as u32).wrapping_mul(16777619))
}

#[inline(never)]
fn step(of: &mut BTreeMap<String, u32>, v: &mut Vec<u32>, n: u32) -> u32 {
    let key = format!("key{}", n % 50);
    let sum = *of.entry(key).or_insert_with_key(|k| mix(k));
    for (i, x) in v.iter_mut().enumerate() {
        *x = mix(&"0123456789"[i % 9..]).rotate_left(i as u32);
    }
    v.sort_by(|a, b| b.cmp(a));
    sum ^ v[3]
}

fn main() {
    let n = std::env::args().nth(1).map_or(100, |s| s.parse().unwrap());
    let mut of = BTreeMap::new();
    let mut v = vec![0; 500];
    println!("{}", (0..n).fold(0, |sum, i| sum ^ step(&mut of, &mut v, i)));
}
RS
cat >twins.go <<'GO'
package main

import (
	"os"
	"sort"
	"strconv"
)

func mix(s string) uint32 {
	h := uint32(2166136261)
	for i := 0; i < len(s); i++ {
		h = (h ^ uint32(s[i])) * 16777619
	}
	return h
}

//go:noinline
func step(of map[string]uint32, v []int, n int) uint32 {
	key := "key" + strconv.Itoa(n%50)
	if _, ok := of[key]; !ok {
		of[key] = mix(key)
	}
	for i := range v {
		v[i] = int(mix("0123456789"[i%9:])) >> (i % 7)
	}
	sort.Ints(v)
	return of[key] ^ uint32(v[3])
}

func main() {
	n, _ := strconv.Atoi(os.Args[1])
	of, v, sum := map[string]uint32{}, make([]int, 500), uint32(0)
	for i := 0; i < n; i++ {
		sum ^= step(of, v, i)
	}
	println(sum)
}
GO

# build LANGUAGE LEVEL OUTPUT
build() {
	case $1 in
	c) gcc -g "-O$2" -fno-omit-frame-pointer -o "$3" "$captures/twins.c" ;;
	cc) g++ -g "-O$2" -fno-omit-frame-pointer -o "$3" "$captures/twins.cc" ;;
	rs) rustc -g -C "opt-level=$2" -C force-frame-pointers=yes -o "$3" twins.rs ;;
	go)
		flags=
		# of the program alone: the libraries are there compiled
		[ "$2" = 0 ] && flags='-N -l'
		HOME=$work go build -gcflags="$flags" -o "$3" twins.go
		;;
	esac >err 2>&1
}

# rustc of rustup wants the home of its user
RUSTUP_HOME=${RUSTUP_HOME:-$(getent passwd "$(id -u)" | cut -d: -f6)/.rustup}
export RUSTUP_HOME
for l in c cc rs go
do
	case $l in
	c) tool='gcc --version' ;;
	cc) tool='g++ --version' ;;
	rs) tool='rustc --version' ;;
	go) tool='go version' ;;
	esac
	if ! $tool >/dev/null 2>&1
	then
		echo "skip corpus_$l: '$tool' does not run"
		continue
	fi
	mkdir -p one two plain
	build $l 2 one/prog-$l && cp one/prog-$l two/ && build $l 0 plain/prog-$l &&
		record $l-one one/prog-$l 6000 && record $l-two two/prog-$l 6000 && record $l-plain plain/prog-$l 2000
	bad=$?
	ok the_program_is_built_and_recorded_$l $bad
	[ $bad = 0 ] || sed 's/^/# /' err
	# two recordings may differ: a machine does not run the same twice
	{ judge $l-one.db $l-two.db && judge $l-plain.db $l-one.db && judge $l-one.db $l-plain.db; } >names &&
		! grep -q '^differ' names
	ok table_picture_and_page_name_the_same_functions_$l $?
	grep '^differ' names
	"$B" diff --limit 0 $l-one.db $l-two.db 2>/dev/null >out
	! grep -q 'most cannot be compared' out
	ok two_folders_are_one_program_$l $?
	[ $l != go ] || [ "$("$B" query --format csv go-one.db "SELECT count(*) FROM bogus_frames WHERE symbol LIKE 'runtime.goexit%'" |
		tail -n 1)" = 0 ]
	ok where_threads_begin_is_not_fabricated_$l $?
	# the tables of Go count from SP, but its code sets FP
	[ $l != go ] || "$B" report --json go-plain.db | grep -qE '"user_stacks":"(All|([7-9][0-9]|>?99)\.[0-9]+ % of the)( [0-9,]+)? user stacks are whole'
	ok and_most_stacks_are_whole_$l $?
done
