#!/bin/sh
# trust.sh - the shares of trust add up, and six places print the same sentence of it.
# usage: BACKSTITCH=build/backstitch tests/cli/trust.sh
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
case $B in /*) ;; *) B=$PWD/$B ;; esac
root=$PWD
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
unset COLUMNS
export NO_COLOR=1 LC_ALL=C

. tests/ok.sh

for c in tests/captures/packed/*.tar.xz
do
	tar -C "$work" -xJf "$c" || exit 2
done
cd "$work" || exit 2
find "$root/tests/captures" -maxdepth 1 \( -name '*.data' -o -name '*.data.*z*' \
	-o -name '*.dat' -o -name '*.dat.zst' -o -name 'ftext-*' \) >list
find "$root/tests/captures" "$work" -name metadata -exec dirname {} \; >>list
# twins are unpacked captures of the above
rm -rf twins
find "$work" \( -name perf.data -o -name '*.data' -o -name trace.dat \) >>list

cat >sums.py <<'END'
"""Prints what is wrong with view trust of a database."""
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
rows = list(db.execute("SELECT capture, event, class, samples, share, fix"
                       " FROM trust"))
share = {}
seen = set()
for capture, event, name, n, part, fix in rows:
    share[capture, event] = share.get((capture, event), 0) + part
    if (capture, event, name) in seen or n < 1 or not name:
        print("not one row per class:", capture, event, name, n)
    seen.add((capture, event, name))
for key, part in share.items():
    if abs(part - 100) > 1e-6:
        print("the shares of", key, "are", part)
# counted from the events, without groups: each sample that has a user half or
# asked for one
slow = dict(db.execute("""
    SELECT t.capture || ' ' || t.name, count(*) FROM event e
    JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
    LEFT JOIN request r ON r.event = e.id
    WHERE e.uraw IS NOT NULL OR r.event IS NOT NULL GROUP BY 1"""))
quick = {}
for capture, event, name, n, part, fix in rows:
    key = "%s %s" % (capture, event)
    quick[key] = quick.get(key, 0) + n
silent = {"%s %s" % (r[0], r[1]) for r in rows if r[2] == "not recorded"}
for key in set(slow) | set(quick):
    if key not in silent and slow.get(key, 0) != quick.get(key, 0):
        print(key, "has", slow.get(key), "samples, trust", quick.get(key))
perf = {r[0] for r in db.execute("SELECT id FROM capture WHERE format = 'perf'"
                                 " OR version LIKE 'perf%'")}
for capture, event, name, n, part, fix in rows:
    if capture not in perf and "perf" in (fix or ""):
        print("advice for another recorder:", event, name, fix)
END

# of FILE: the sentence in a text, which may be wrapped and escaped
sentence() {
	# the page keeps the name of an option on one line by an element
	tr -s '\n ' '  ' <"$1" |
		sed 's|<span class="option">\([^<]*\)</span>|\1|g
			s/&gt;/>/g; s/&lt;/</g; s/&#39;/'"'/g"
}

# says_one_thing CAPTURE: in each place, if a database can be made of it
says_one_thing() {
	c=$1
	name=$(echo "${c#"$root/tests/captures/"}" | sed "s|^$work/||")
	rm -f x.db
	"$B" ingest -q -f --no-symbols -o x.db "$c" </dev/null >/dev/null 2>&1
	[ -s x.db ] || return
	n=$((n + 1))
	python3 sums.py x.db >bad 2>&1 || echo "the view fails" >>bad
	cat bad
	ok "$name adds up" "$([ ! -s bad ]; echo $?)"
	"$B" check --json x.db >check.json 2>/dev/null
	said=$(sed -n 's/^.*"user_stacks": *"\([^"]*\)".*$/\1/p' check.json)
	[ "$said" ] || echo "check --json says nothing" >>bad
	"$B" info --json x.db >info.json 2>/dev/null
	grep -qF "\"user_stacks\":\"$said\"" info.json ||
		echo "info --json says something else" >>bad
	"$B" check x.db >check.out 2>/dev/null
	"$B" info x.db >info.out 2>/dev/null
	"$B" report x.db >report.out 2>err || rm report.out
	"$B" flame -o flame.out x.db 2>err || rm -f flame.out
	"$B" report --html -o page.out x.db 2>err || rm -f page.out
	"$B" annotate x.db >annotate.out 2>err || rm -f annotate.out
	for f in check info report flame page annotate
	do
		# no sample at all leaves nothing to report or to draw
		[ -f $f.out ] || continue
		sentence $f.out | grep -qF -- "$said" ||
			echo "$f does not say: $said" >>bad
	done
	cat bad
	ok "$name says one thing" "$([ ! -s bad ]; echo $?)"
	rm -f ./*.out
}

n=0
if grep -q __asan_init "$B"
then
	echo "skip each capture says one thing: under sanitizers it is the same"
else
	while read -r c
	do
		says_one_thing "$c"
	done <list
	ok "most captures were looked at" "$([ "$n" -ge 55 ]; echo $?)"
fi

# says NAME CAPTURE TEXT OPTION...: what the first screen begins with
says() {
	name=$1 capture=$2 text=$3
	shift 3
	"$B" check "$@" "$root/tests/captures/$capture" >out 2>err
	sentence out | grep -qF -- "$text" || cat out
	ok "$name" "$(sentence out | grep -qF -- "$text"; echo $?)"
}
cp "$work"/clocks/clk_perf_mono.data nog.data || exit 2
"$B" check nog.data >out 2>err
ok without_g_there_is_one_advice "$(grep -q 'no stacks recorded: perf record -g' out; echo $?)"
ok nothing_of_deferral "$(! grep -qE 'asked for|request|cookie' out; echo $?)"
says frames_without_pointers v72-zstd.data 'fabricated (no frame pointers)'
says ftrace_is_told_of_trace-cmd ftrace-v7.dat \
	'no user stacks recorded: trace-cmd record -T -O userstacktrace'
"$B" ingest -q -f -o damaged.db lttng-damaged/lt_body >/dev/null 2>&1
"$B" check damaged.db >out 2>err
ok a_database_of_damage_is_not_clean "$(! grep -q clean out; echo $?)"
