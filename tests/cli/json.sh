#!/bin/sh
# json.sh - every --json is an object with a version, and the manual has its names.
# usage: BACKSTITCH=PROGRAM tests/cli/json.sh; prints "ok NAME" or "not ok NAME" lines.
# Needs: libcapstone libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2
"$B" ingest -q --no-cache --symfs "$cap/symfs" -o lost.db \
	"$cap/overwrite-defer.data.zst" 2>log
"$B" ingest -q --no-cache -o naps.db "$cap/naps.data" 2>log
"$B" ingest -q --no-cache -o a.db "$cap/before.data" 2>log
"$B" ingest -q --no-cache -o b.db "$cap/after.data" 2>log

# Prints each command whose answer is no object with a version, and each name of
# an answer that is not in the page of its command.
cat >names.py <<'E2'
import json
import re
import sys

command, path = sys.argv[1:3]
sys.path.append(sys.argv[3] + "/tests")
import schemas

# one schema for all tables of a recording
TABLES = ("diff", "latency", "sched")
schema = schemas.load(sys.argv[3]).get("report" if command in TABLES else command)
page = open(sys.argv[3] + "/man/backstitch-json.5").read()
page = "".join(s for s in page.split("\n.Sh ")
               if s.split("\n")[0] in [command.upper()] + {
                   "ingest": ["INFO"], "diff": ["REPORT"],
                   "sched": ["PATH"], "latency": ["PATH"],
               }.get(command, []))
known = set(re.findall(r"[a-z_][a-z0-9_]*", page))

# the views of verdicts have a column for each
VERDICTS = {"matched", "used", "chain_lost", "exit_per_task", "pending_end",
            "unjoinable", "refused", "stripped", "unexplained", "sample_lost",
            "overwritten", "duplicate", "before_opt_in", "in_unwinder",
            "unwinder_died", "empty", "began before", "begin lost", "end lost"}

def keys(thing):
    if isinstance(thing, dict):
        for k, v in thing.items():
            yield k
            yield from keys(v)
    elif isinstance(thing, list):
        for v in thing:
            yield from keys(v)

texts = open(path).read()
if command == "script":
    answers = [json.loads(line) for line in texts.splitlines()]
else:
    answers = [json.loads(texts)]
for a in answers:
    if not isinstance(a, dict) or list(a)[0] != "version" or a["version"] != 1:
        sys.exit("no version: %.80s" % a)
    missing = set(keys(a)) - known - VERDICTS
    for e in schema.iter_errors(a) if schema else []:
        sys.exit("%s: %.200s" % ("/".join(map(str, e.path)), e.message))
    if missing and command != "query":
        sys.exit("not in the manual: " + " ".join(sorted(missing)))
sys.exit(not answers)
E2

asked=record # --cost runs perf twenty times: cli/cost
# answer COMMAND ARGUMENTS...
answer() {
	asked="$asked $1"
	"$B" "$@" --json >out 2>err
	status=$?
	[ $status = 0 ] || [ $status = 4 ] || cat err
	judge "$@"
}
# judge COMMAND ARGUMENT: what it printed is in out
judge() {
	name=$(echo "$1 $2" | sed "s/.*sframe.plt/sframe file/; s/\.[a-z]*$//" | tr -cs "a-z\n" _)
	python3 names.py "$1" out "$root" "$2"
	ok "${name}_has_a_version_and_known_names" $?
}
answer info lost.db
answer ingest -f -q -o c.db "$cap/fp-1.data"
answer symbolize --no-cache c.db
answer check --as-perf --as-tid lost.db
answer report --limit 0 lost.db
answer report --callers '[slower]' a.db
answer diff a.db b.db
answer report --off-cpu naps.db
"$B" ingest -q --no-cache -o sched.db "$cap/ftrace-v7.dat" 2>log
answer sched sched.db
answer latency --worst 3 sched.db
answer path sched.db
answer path --worst 3 sched.db
answer path --tree sched.db
answer path --blame sysload sched.db
answer annotate --limit 0 a.db
"$B" ingest -q --no-cache --symfs "$cap/symfs" -o lines.db \
	"$cap/lines-clang.data.zst" 2>log
answer annotate --symfs "$cap/symfs" --source-dir "$cap" lines.db hot
answer script --show-lost lost.db
"$B" script --show-lost --json lost.db | python3 -c 'import json, sys
last, ends, lost = 0, [], 0
for r in map(json.loads, sys.stdin):
    if "lost" in r:
        ends.append(r.get("to_ns", float("inf")))
        assert last < ends[-1], (last, r)
        lost += 1
    elif r["time_ns"] is not None:
        assert not ends or max(ends) <= r["time_ns"], (ends, r)
        last, ends = r["time_ns"], []
assert lost > 3, lost' 2>log
ok losses_are_where_they_end $?
# what ended before the chosen time, or began after it, is not of it
"$B" ingest -q --no-symbols -o shop.db "$cap/shop.data.zst" 2>log
chosen() {	# chosen OPTION...: the losses, as "CPU FROM TO"
	"$B" script --show-lost --json "$@" shop.db | python3 -c 'import json, sys
for r in map(json.loads, sys.stdin):
    if "lost" in r:
        print(r.get("cpu", -1), r.get("from_ns", -1), r.get("to_ns", -1))'
}
chosen >all
first=$(awk '$1 >= 0 && $2 > 0 { print $2; exit }' all)
last=$(awk '$1 >= 0 && $3 > 0 { print $3; exit }' all)
seconds() {
	echo "$(($1 / 1000000000)).$(printf %09d $(($1 % 1000000000)))"
}
chosen --time "$(seconds "$first"),$(seconds "$last")" >some
awk -v a="$first" -v b="$last" '($3 < 0 || $3 >= a) && $2 < b + 1000' all >want
[ "$(wc -l <some)" -lt "$(wc -l <all)" ] && cmp some want >log 2>&1
ok losses_are_those_of_the_chosen_time $?
chosen --cpu 0 >some
awk '$1 <= 0' all >want
[ "$(wc -l <some)" -lt "$(wc -l <all)" ] && cmp some want >log 2>&1
ok losses_are_those_of_the_chosen_cpus $?
answer query lost.db 'SELECT 1 AS x'
answer sframe --readiness lost.db
answer sframe --check "$cap/sframe/plt-got.so"
answer sframe "$cap/sframe/plt-got.so"
asked="$asked push"
if PATH=$PATH:/usr/sbin command -v clickhouse-server >/dev/null
then
	rm -f out
	# shellcheck disable=SC2016 # its URL is known there
	B=$B python3 "$root/tests/fleet/servers.py" 1 sh -c '
		"$B" push -q --create "$FLEET_URL0" &&
			"$B" push -q --json "$FLEET_URL0" a.db >out' 2>err ||
		cat err
	judge push a.db
else
	echo "skip push has a version and known names: there is no clickhouse-server"
fi
"$B" --list-options | sed -n 's/^\([a-z]*\) \(.* \)\{0,1\}--json .*/\1/p' | sort >have
echo "$asked" | tr ' ' '\n' | sed '/^$/d' | sort -u | diff - have
ok these_are_all_commands_with_json $?

# rows DATABASE OPTIONS...: how many
rows() {
	"$B" report --json "$@" 2>err | python3 -c '
import json, sys
print(len(json.load(sys.stdin)["rows"]))'
}
for n in 1 3 4
do
	[ "$(rows --limit $n lost.db)" = $n ]
	ok "limit_${n}_is_that_many_rows" $?
	[ "$("$B" report --format csv --limit $n lost.db 2>err | wc -l)" = \
		$((n + 1)) ]
	ok "limit_${n}_is_that_many_lines_of_csv" $?
done
[ "$(rows --diff --limit 1 a.db b.db)" = 1 ]
ok also_of_significant_changes $?
"$B" report --limit 1 lost.db | grep -q 'user: '
ok a_table_has_the_reasons_for_missing_stacks_as_well $?
