#!/bin/sh
# intervals.sh - how long pairs of events took: by what a program timed itself, and by perf trace.
# usage: BACKSTITCH=build/backstitch tests/cli/intervals.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/calls.db
"$B" ingest -q --no-symbols -o "$db" tests/captures/calls.data.zst

# ---- what the program timed, calls.c
cat >"$work/log.py" <<'END'
import collections
import gzip
import json
import subprocess
import sys

program, db = sys.argv[1:]
NAME = {0: "read", 1: "write", 230: "clock_nanosleep"}
rows = json.loads(subprocess.run(
    [program, "query", "--format", "json", db,
     "SELECT * FROM interval WHERE kind = 'syscall' ORDER BY t0"],
    capture_output=True, check=True, text=True).stdout)
rows = rows["rows"] if isinstance(rows, dict) else rows
seen = collections.Counter()
for line in gzip.open("tests/captures/calls.log.gz", "rt"):
    tid, number, t0, t1, result = map(int, line.split())
    # a handler that interrupts a call returns by a call, too
    inside = [r for r in rows if r["tid"] == tid and
              r["name"] != "rt_sigreturn" and r["t0"] is not None and
              t0 <= r["t0"] and r["t1"] is not None and r["t1"] <= t1]
    assert len(inside) == 1, (line, inside)
    r = inside[0]
    assert r["name"] == NAME[number], (line, r)
    assert r["verdict"] == "proved" and r["reason"] is None, (line, r)
    assert r["ns"] == r["t1"] - r["t0"] <= t1 - t0, (line, r)
    # libc has -1 for an error
    assert r["ret"] == result or (result == -1 and r["ret"] < 0), (line, r)
    seen[r["name"]] += 1
assert seen == {"read": 61, "write": 40, "clock_nanosleep": 22}, seen
verdicts = collections.Counter((r["verdict"], r["name"]) for r in rows
                               if r["verdict"] != "proved")
# perf started the program: its exec began before the events were on
assert verdicts == {("began before", "execve"): 1}, verdicts
END
python3 "$work/log.py" "$B" "$db" >"$work/said" 2>&1
rc=$?
[ $rc = 0 ] || sed 's/^/    /' "$work/said"
ok "each_call_took_what_the_program_timed" $rc

# ---- perf trace -s. An exit without an enter is a call of 0 ms there: that of
# the exec which began the recording, and those of the children of clone3 and
# vfork, which return from a call of their parents. It leaves out rt_sigreturn,
# whose exit has the number -1.
cat >"$work/perf.py" <<'END'
import collections
import gzip
import json
import re
import subprocess
import sys

program, db = sys.argv[1:]
perf = collections.Counter()
for line in gzip.open("tests/captures/calls.trace-s.txt.gz", "rt"):
    m = re.match(r"   (\w+) +(\d+) +(\d+) +([\d.]+) +([\d.]+) +([\d.]+) +([\d.]+)", line)
    if m:
        name, count, errors, total = m[1], int(m[2]), int(m[3]), float(m[4])
        perf[name, "count"] += count
        perf[name, "errors"] += errors
        perf[name, "total"] += round(total * 1000)
ours = collections.Counter()
for r in json.loads(subprocess.run(
        [program, "report", "--latency", "syscall", "--json", "--limit", "0",
         db], capture_output=True, check=True, text=True).stdout)["rows"]:
    ours[r["name"], "count"] = r["count"]
    ours[r["name"], "errors"] = r["errors"]
    ours[r["name"], "total"] = round(r["total_ns"] / 1000)
classes = collections.Counter()
for key in set(perf) | set(ours):
    name, what = key
    if what == "total" and abs(perf[key] - ours[key]) <= 4:
        continue # microseconds, rounded for each of the four threads
    if perf[key] != ours[key]:
        classes[key + (perf[key] - ours[key],)] += 1
for (name, what, n), count in sorted(classes.items()):
    print(name, what, "%+d" % n)
END
python3 "$work/perf.py" "$B" "$db" >"$work/said" 2>&1
is "perf_trace_differs_by_named_classes" "clone3 count +2
execve count +1
rt_sigreturn count -1
rt_sigreturn total -27
vfork count +1" "$(cat "$work/said")"

# ---- what is asked for
json() {	# json EXPRESSION: of the answer, r
	python3 -c 'import json, sys
r = json.load(sys.stdin)
print(eval(sys.argv[1]))' "$1"
}

"$B" latency "$db" >"$work/out"
says "first_line_has_the_verdicts" "342 proved, 1 began before" "$work/out"
is "rows_by_thread_have_all_calls" "342" \
	"$("$B" latency --by tid --json "$db" |
	json 'sum(x["count"] for x in r["rows"])')"
is "rows_by_a_field_have_all_calls" "342 True" \
	"$("$B" latency --by ret --json --limit 0 "$db" |
	json '"%d %s" % (sum(x["count"] for x in r["rows"]), [x["count"] for x in r["rows"] if x["name"] == "0"] == ['"$("$B" query \
	--format csv "$db" "SELECT count(*) FROM interval WHERE ret = 0
	AND verdict = 'proved'" | tail -1 | tr -d '\r')"'])')"
# lacks WANTED ARGUMENT...: what it says records what is not there
lacks() {
	want=$1
	shift
	"$B" "$@" >"$work/out" 2>"$work/err"
	[ $? = 1 ] && grep -qF "recorded for this; '$want' records those" "$work/err" || bad=1
}
bad=0
"$B" ingest -q --no-symbols -o "$work/bare.db" tests/captures/before.data
lacks 'perf record -a -c 1 -e lock:contention_begin -e lock:contention_end' latency lock "$work/bare.db"
lacks 'perf record -a -c 1 -e lock:contention_begin -e lock:contention_end' flame --latency lock "$work/bare.db"
lacks 'perf record -a -c 1 -e block:block_rq_issue -e block:block_rq_complete -e block:block_rq_requeue' \
	latency block "$work/bare.db"
lacks 'perf record -a -c 1 -e raw_syscalls:sys_enter -e raw_syscalls:sys_exit' latency "$work/bare.db"
lacks 'perf record -a -c 1 -e a:b -e c:d' latency --pair a:b,c:d,x "$work/bare.db"
lacks 'trace-cmd record -e kvm:kvm_exit -e kvm:kvm_entry' latency kvm tests/captures/ftrace-v7.dat
sqlite3 "$work/bare.db" "UPDATE capture SET format = 'ctf', version = 'lttng-modules'"
lacks 'lttng enable-event --kernel workqueue_execute_start,workqueue_execute_end' latency work "$work/bare.db"
ok a_kind_that_was_not_recorded_says_how_to $bad

"$B" latency --by nothing "$db" >"$work/out" 2>"$work/err"
is "a_field_that_is_none_is_an_error" 2 $?
"$B" latency --by cgroup "$db" >"$work/out" 2>"$work/err"
is "events_without_cgroups_have_no_rows_by_them" 2 $?
says "and_it_says_what_records_them" "--all-cgroups" "$work/err"
"$B" ingest -q --no-symbols -o "$work/cg.db" \
	tests/captures/calls-cgroups.data.zst
is "rows_by_cgroup_are_those_of_the_begins" "{'/lat-a': 50, '/': 58, '/lat-b': 36}" \
	"$("$B" latency --by cgroup --json "$work/cg.db" |
	json '{x["name"]: x["count"] for x in r["rows"]}')"
is "worst_are_the_longest_first" "True" \
	"$("$B" latency --worst 9 --json "$db" |
	json '[x["ns"] for x in r["worst"]] == sorted((x["ns"] for x in r["worst"]), reverse=True) and len(r["worst"]) == 9')"
is "a_histogram_adds_up_to_the_count" "342" \
	"$("$B" latency --histogram --json "$db" |
	json 'sum(x["count"] for x in r["histogram"])')"
is "a_time_before_all_has_no_interval" "2" \
	"$("$B" latency --time ,1 "$db" >"$work/out" 2>&1; echo $?)"
"$B" latency --format csv --limit 1 "$db" >"$work/out"
says "csv_has_ns" ",total_ns,average_ns,p50_ns,p90_ns," "$work/out"
# what is named first is no wait for work: here wait4 takes longest
"$B" latency --order average "$db" >"$work/out"
is "advice_names_no_wait_for_work" "wait4, with '--name vfork --worst 3'" \
	"$(awk '$1 == "syscall" && !n++ { printf "%s, ", $2 }
	/^with/ { print $1, $2, $3, $4, $5 }' "$work/out")"
says "and_why_rows_above_are_left_out" "waits for work" "$work/out"
"$B" latency --kind irq "$db" >"$work/out" 2>"$work/err"
is "a_kind_that_was_not_recorded_is_an_error" 1 $?
says "and_says_what_lists_events" "backstitch info " "$work/err"

"$B" latency syscall --fail-above 1s "$db" >"$work/out"
is "nothing_took_a_second" 0 $?
"$B" latency syscall --fail-above 5ms "$db" >"$work/out"
is "something_took_5_ms" 4 $?
"$B" latency syscall --fail-above 5ms --percentile 50 "$db" \
	>"$work/out"
is "no_median_is_above_5_ms" 0 $?
"$B" latency --fail-above 5 "$db" >"$work/out" 2>&1
is "a_limit_needs_a_unit" 2 $?

# ---- a program of 32 bits, whose code is below 4 GiB, has other numbers: 230 is
# lgetxattr there
cp "$db" "$work/short.db"
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE mapping SET start = start % 2000000000, \"end\" = start % 2000000000 + 4096 WHERE process > 0")
db.commit()' "$work/short.db"
calls_of() {	# calls_of DB NAME
	"$B" query --format csv "$1" "SELECT count(*) FROM interval
		WHERE name = '$2'" | tail -1 | tr -d '\r'
}
is "numbers_of_32_bits_have_their_names" "22 0 0 22" \
	"$(calls_of "$db" clock_nanosleep) $(calls_of "$db" lgetxattr) $(calls_of \
	"$work/short.db" clock_nanosleep) $(calls_of "$work/short.db" lgetxattr)"

# ---- own pairs
# without their numbers, returns of children have no begin, and exits no end
is "an_own_pair_of_a_thread_is_the_same" "342 4 4" \
	"$("$B" latency --json --pair \
	raw_syscalls:sys_enter,raw_syscalls:sys_exit "$db" |
	json '"{proved} {began before} {unfinished}".format(**r["verdicts"])')"
for opts in "--format csv --worst 1" "--format csv --histogram"
do
	# shellcheck disable=SC2086 # options and their values
	"$B" latency $opts "$db" >"$work/out" 2>&1
	[ $? = 2 ] && grep -q 'are tables of their own: leave out --format csv' "$work/out"
	ok "one_format_has_one_table:${opts##* --}" $?
done
"$B" latency --pair raw_syscalls:sys_enter "$db" >"$work/out" 2>&1
is "a_pair_needs_two_events" 2 $?

# ---- fields of text have the names that are in it
cat >"$work/irq.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 4/4   #P:1
#
 a-5 [000] d.h1. 1.000100: irq_handler_entry: irq=9 name=disk
 a-5 [000] d.h1. 1.000200: irq_handler_exit: irq=9 ret=handled
 a-5 [000] d.h1. 1.000300: irq_handler_entry: irq=9 name=net
 a-5 [000] d.h1. 1.000500: irq_handler_exit: irq=9 ret=handled
END
is "rows_by_a_field_of_text_have_its_values" "{'disk': 100000, 'net': 200000}" \
	"$("$B" latency --by name --json "$work/irq.txt" |
	json '{x["name"]: x["total_ns"] for x in sorted(r["rows"], key=lambda x: x["name"])}')"

# ---- drawn by the stacks of their begins
calls() {	# calls OPTION...: ns of what is drawn
	"$B" flame --latency syscall "$@" -o "$work/svg" "$db" &&
		sed -n 's/.* data-w="\([0-9]*\)"><title>all$/\1/p' "$work/svg"
}
of() {	# of CONDITION: the same of the table
	"$B" query --format csv "$db" "SELECT sum(ns) FROM interval
		WHERE verdict = 'proved' $1" | tail -1 | tr -d '\r'
}
is "widths_are_the_times_of_what_is_proved" "$(of "")" "$(calls)"
says "the_picture_counts_intervals" "342 intervals of syscall" "$work/svg"
says "and_what_is_not_drawn" "not drawn: 1 whose time is not known" "$work/svg"
tid=$("$B" query --format csv "$db" "SELECT tid FROM interval
	WHERE name = 'vfork'" | tail -1 | tr -d '\r')
is "a_filter_selects_begins" "$(of "AND tid = $tid")" "$(calls --tid "$tid")"
"$B" flame --latency nothing -o "$work/svg" "$db" >"$work/out" 2>"$work/err"
is "an_unknown_kind_is_an_error" 2 $?
"$B" flame --latency wake-up -o "$work/svg" "$db" 2>"$work/err"
is "a_kind_of_the_scheduler_is_drawn_by_off_cpu" "2 1" "$? $(grep -c 'ask for --off-cpu' "$work/err")"
"$B" flame --latency syscall --wall -o "$work/svg" "$db" 2>"$work/err"
is "two_times_are_not_one_picture" 2 $?

# ---- rows by kind, and of one name
is "a_row_by_kind_has_all_of_it" "syscall syscall 342" \
	"$("$B" latency --by kind --json "$db" |
	json '"{kind} {name} {count}".format(**r["rows"][0])')"
is "a_name_leaves_out_the_others" "1 read $(of "AND name = 'read'")" \
	"$("$B" latency --name read --json "$db" |
	json '"%d {name} {total_ns}".format(**r["rows"][0]) % len(r["rows"])')"

# ---- behind whom: a waiter wants a mutex that its owner has; the wake-ups that
# path tells of are who ended its waits
lock=$work/lock.db
# without names: by those of the libc of the recording an interrupt is a timer's
"$B" ingest -q --no-symbols -o "$lock" tests/causality/captures/lock.data.zst
"$B" latency off-cpu --by behind --comm waiter --worst 1 --json \
	"$lock" >"$work/behind"
is "who_ended_the_waits_is_who_woke" "$("$B" query --format csv "$lock" "SELECT
	'owner/' || k.by_tid || ' ' || count(*) || ' ' || sum(w.ns) FROM wait w
	JOIN wake k ON k.id = w.wake WHERE w.comm = 'waiter' AND
	k.by_comm = 'owner'" | tail -1 | tr -d '\r"')" \
	"$(json '"{name} {count} {total_ns}".format(**[x for x in r["rows"]
	if "/" in x["name"]][0])' <"$work/behind")"
is "an_interrupt_is_nobody" "waiting for an interrupt" \
	"$(json 'r["worst"][0]["behind"]' <"$work/behind")"
"$B" latency off-cpu --comm waiter --worst 1 "$lock" >"$work/out"
says "the_longest_has_its_chain" "20068.8    waiter waits for an interrupt" \
	"$work/out"
"$B" path --json --tid "$(json 'r["worst"][0]["tid"]' <"$work/behind")" --time \
	"$(json '"%.9f,%.9f" % (r["worst"][0]["begin_ns"] / 1e9,
	r["worst"][0]["end_ns"] / 1e9)' <"$work/behind")" "$lock" >"$work/path"
is "and_in_json_it_is_that_of_path" "True True" "$(python3 -c 'import json, sys
c, p = json.load(open(sys.argv[1]))["chains"], json.load(open(sys.argv[2]))
def plain(v): # edges are numbered by the order in which they are asked for
    if isinstance(v, dict):
        return {k: plain(w) for k, w in v.items() if k not in ("id", "edges")}
    return [plain(w) for w in v] if isinstance(v, list) else v
print(len(c) == 1, bool(p["segments"]) and all(plain(c[0][k]) == plain(p[k])
    for k in ("thread", "from_ns", "to_ns", "sums", "segments", "edges")))' \
	"$work/behind" "$work/path")"
is "without_switches_there_is_no_chain" "False" \
	"$("$B" latency --worst 1 --json "$db" | json '"chains" in r')"
"$B" latency --by behind "$db" >"$work/out" 2>&1
is "without_switches_nobody_knows" 1 $?

# ---- futexes by symbol, of a program that executes another one
for k in raw named; do
	"$B" ingest -qf --symfs tests/captures/symfs -o "$work/locks-$k.db" \
		"tests/captures/locks-$k.data.zst"
done
named() {	# named DB: locks by symbol, and how many calls
	"$B" latency --name futex --by lock --json "$1" | json \
		'" ".join(sorted("%s %d" % (x["name"], x["count"]) for x in r["rows"] if not x["name"].startswith("0x")))'
}
# where the three are: nm says how far from the code, the mappings where that was
python3 - "$work/locks-named.db" "$B" >"$work/expect" <<'END'
import json, subprocess, sys
def rows(*args):
    return json.loads(subprocess.run([sys.argv[2], *args], check=True,
                                     stdout=subprocess.PIPE).stdout)
base = {"locks": [], "liblocks.so": [], "locks-fixed": []}
for x in rows("query", "--json", sys.argv[1], """SELECT i.path, m.start - m.pgoff
    AS base FROM mapping m JOIN image i ON i.id = m.image
    WHERE i.path LIKE '/wl/%'""")["rows"]:
    base[x["path"][4:]].append(x["base"])
base["locks-fixed"] = [0]
at = {}
for name, bases in base.items():
    symbols = subprocess.run(["nm", "-D", "tests/captures/symfs/wl/" + name],
                             check=True, stdout=subprocess.PIPE, text=True)
    for line in symbols.stdout.splitlines():
        if len(line.split()) != 3:
            continue
        value, kind, symbol = line.split()
        symbol = symbol.split("@")[0]
        inside = 0x68 if symbol == "table" else 0
        if symbol in ("big_lock", "table", "library_lock"):
            for b in bases:
                at[b + int(value, 16) + inside] = symbol + (
                    "+0x68" if inside else "")
n = {}
for x in rows("report", "--latency", "--name", "futex", "--by", "uaddr",
              "--json", sys.argv[1])["rows"]:
    name = at.get(int(x["name"], 16))
    if name:
        n[name] = n.get(name, 0) + x["count"]
print(" ".join("%s %d" % i for i in sorted(n.items())))
END
is "a_futex_has_the_name_of_the_variable_it_is_in" "$(cat "$work/expect")" \
	"$(named "$work/locks-named.db")"
is "of_any_call_the_first_argument_is_looked_up" \
	"big_lock library_lock table+0x68" \
	"$(named "$work/locks-raw.db" | sed 's/ [0-9][0-9]*//g')"
"$B" latency --by lock --name big_lock "$work/locks-raw.db" \
	>"$work/out"
says "a_lock_may_be_selected_by_its_name" " big_lock " "$work/out"
"$B" latency --name futex --by lock "$work/locks-raw.db" >"$work/out"
grep -q "0x7f[0-9a-f]* of locks-fixed/[0-9]" "$work/out"
is "what_has_no_symbol_has_its_address" 0 $?
"$B" bundle --redact -o "$work/locks-red.db" "$work/locks-raw.db" 2>"$work/out"
is "a_redacted_copy_has_no_such_names" 0 "$("$B" query --format csv \
	"$work/locks-red.db" "SELECT count(*) FROM meta WHERE key LIKE 'data %'" |
	tail -1 | tr -d '\r')"
# another build at the path of the first program: its names are of the second
mkdir -p "$work/other/wl"
cp tests/captures/symfs/wl/lib*locks.so tests/captures/symfs/wl/locks-fixed \
	"$work/other/wl"
cp tests/captures/symfs/wl/locks-fixed "$work/other/wl/locks"
"$B" ingest -qf --symfs "$work/other" -o "$work/other.db" \
	tests/captures/locks-named.data.zst
"$B" query --format csv "$work/other.db" "SELECT count(*) FROM meta WHERE key
	LIKE 'data % /wl/locks'" | tail -1 | tr -d '\r' >"$work/out"
is "a_file_that_is_not_the_one_that_ran_names_no_futex" 0 "$(cat "$work/out")"
is "the_others_still_do" True "$(named "$work/other.db" |
	python3 -c 'print("big_lock" in input())')"
# a program that a database maps at 21 places below its two locks
"$B" ingest -qf -o "$work/often.db" tests/captures/locks-raw.data.zst
sqlite3 "$work/often.db" "WITH n(i) AS (VALUES(1) UNION ALL SELECT i + 1 FROM n WHERE i < 20)
	INSERT INTO mapping SELECT 1000 + i, process, start + i, end, pgoff, image, prot, flags, t0, t1
	FROM n, mapping WHERE image = (SELECT id FROM image WHERE path = '/wl/locks')"
"$B" symbolize --symfs tests/captures/symfs "$work/often.db" 2>"$work/err"
is "each_lock_is_looked_for_at_16_of_them" 32 "$(one "$work/often.db" \
	"SELECT count(*) FROM meta WHERE key LIKE 'data % /wl/locks'")"
"$B" merge -f -o "$work/locks-both.db" "$work/locks-raw.db" \
	"$work/locks-named.db" >"$work/out" 2>&1
is "merged_databases_keep_them" "big_lock library_lock table+0x68" \
	"$(named "$work/locks-both.db" | sed 's/ [0-9][0-9]*//g')"

# ---- locks by symbol, and who called. A kernel built with KALLSYMS_ALL lists the
# symbols of its data.
net=$work/nets.db
"$B" ingest -q --symfs tests/captures/symfs --kallsyms \
	tests/captures/nets.kallsyms -o "$net" tests/captures/nets.data.zst
rows() {	# rows OPTION...: name, count
	"$B" latency --json "$@" "$net" |
		json '" ".join("%s %d" % (x["name"], x["count"]) for x in r["rows"])'
}
is "a_lock_has_the_name_of_its_symbol" "rtnl_mutex 7" "$(rows lock)"
is "so_has_a_value_of_its_field" "rtnl_mutex 7" "$(rows lock --by lock_addr)"
is "and_a_row_of_the_table" "rtnl_mutex 7" "$("$B" query --format csv "$net" \
	"SELECT name || ' ' || count(*) FROM interval WHERE kind = 'lock'
	GROUP BY name" | tail -1 | tr -d '\r"')"
# the symbols of another place, the same without the lock, and a mark
sed 's/^ffffffff831f5aa0 d/ffffffff831f5a98 d/' tests/captures/nets.kallsyms \
	>"$work/inside"
sed '/rtnl_mutex/d' tests/captures/nets.kallsyms >"$work/without"
sed 's/ rtnl_mutex$/ __start_once/' tests/captures/nets.kallsyms >"$work/mark"
for k in inside without mark; do
	"$B" ingest -qf --kallsyms "$work/$k" -o "$net.$k" \
		tests/captures/nets.data.zst
	is "a_lock_without_its_symbol_has_its_address: $k" ffffffff831f5aa0 \
		"$("$B" latency lock --json "$net.$k" |
		json 'r["rows"][0]["name"]')"
done
# perf's rows are by the address behind the call: here each function has one
is "callers_of_locks_are_those_of_perf" "$(awk '/\+0x/ { sub(/\+0x.*/, "", $NF)
	print $NF, $1 }' tests/captures/nets.contention-v61.txt | xargs)" \
	"$(rows lock --by caller)"
is "the_caller_of_a_call_is_of_the_program" \
	"$("$B" query --format csv "$net" "SELECT 'make_net ' || count(*)
	FROM interval WHERE name = 'unshare' AND verdict = 'proved'" |
	tail -1 | tr -d '\r"')" "$(rows syscall --by caller --name make_net)"
is "a_name_of_its_own_selects_rows_by_caller_too" "make_net 18" \
	"$(rows syscall --by caller --name unshare | grep -o "make_net 18")"
"$B" latency --worst 1 --name unshare "$net" >"$work/out"
says "the_longest_has_the_stack_in_which_it_began" \
	" of nets/20454: make_net < " "$work/out"
is "in_json_outermost_first_without_the_kernel" "True False" \
	"$("$B" latency --worst 2 --name unshare --json "$net" |
	json '"%s %s" % (all(s[-1] == "make_net" for s in r["stacks"]) and len(r["stacks"]) == 2, any("syscall_trace_enter" in s for s in r["stacks"]))')"
"$B" latency lock --worst 1 --json "$net" >"$work/out"
is "of_a_lock_it_has_the_kernel" "True" \
	"$(json 'any("mutex_lock" in f for f in r["stacks"][0])' <"$work/out")"
# and of one of the C library nothing is said
is "a_stack_of_the_c_library_has_no_caller" "1" \
	"$(rows syscall --by caller | grep -c "make_net 18.* 64\|64.* make_net 18")"
is "of_the_scheduler_it_is_who_left_the_cpu" "$("$B" query --format csv "$lock" \
	"SELECT function FROM wait WHERE comm = 'waiter' AND function NOT NULL
	GROUP BY 1 ORDER BY sum(ns) DESC LIMIT 1" | tail -1 | tr -d '\r"')" \
	"$("$B" latency off-cpu --by caller --comm waiter --json "$lock" |
	json '[x["name"] for x in r["rows"] if x["name"] != "not known"][0]')"

# ---- a text of ftrace: the lines of these events have no keys
{
	printf '# tracer: nop\n#\n'
	while read -r who cpu time event
	do
		printf '%24s      [00%s] d..1.    %s: %s\n' "$who" "$cpu" "$time" "$event"
	done <<'END'
fio-100 0 10.000000 block_rq_issue: 8,0 R 4096 () 2048 + 8 none,0,0 [fio]
<idle>-0 1 10.000450 block_rq_complete: 8,0 R () 2048 + 8 none,0,0 [0]
fio-100 0 10.001000 block_rq_insert: 8,0 W 4096 () 4096 + 8 [fio]
fio-100 0 10.001010 block_rq_issue: 8,0 W 4096 () 4096 + 8 [fio]
<idle>-0 1 10.001250 block_rq_complete: 8,0 W () 4096 + 8 [0]
kworker/0:1-12 0 10.002000 workqueue_queue_work: work struct=00000000aaaaaaaa function=vmstat_update workqueue=mm_percpu_wq req_cpu=0 cpu=0
kworker/0:1-12 0 10.002100 workqueue_execute_start: work struct 00000000aaaaaaaa: function vmstat_update
kworker/0:1-12 0 10.002400 workqueue_execute_end: work struct 00000000aaaaaaaa: function vmstat_update
qemu-50 1 10.003000 kvm_exit: vcpu 0 reason EXTERNAL_INTERRUPT rip 0xffffffff81000000 info1 0x0 info2 0x0
qemu-50 1 10.003030 kvm_entry: vcpu 0, rip 0xffffffff81000000
<idle>-0 1 10.004000 hrtimer_expire_entry: hrtimer=00000000bbbbbbbb function=tick_sched_timer now=10004000000
<idle>-0 1 10.004007 hrtimer_expire_exit: hrtimer=00000000bbbbbbbb
cc1-7 0 10.005000 contention_begin: 000000003cd8d602 (flags=WRITE)
cc1-7 0 10.005009 contention_end: 000000003cd8d602 (ret=0)
END
} >"$work/ftrace.txt"
"$B" query --format csv "$work/ftrace.txt" \
	"SELECT kind || ' ' || name || ' ' || ns AS row FROM interval
	WHERE ns NOT NULL ORDER BY t0, kind" | tr -d '\r"' | tail -n +2 >"$work/out"
is "a_text_has_them_all" "block 8,0 450000
block-queue 8,0 10000
block 8,0 240000
work-wait vmstat_update 100000
work vmstat_update 300000
kvm EXTERNAL_INTERRUPT 30000
timer tick_sched_timer 7000
lock 000000003cd8d602 9000" \
	"$(cat "$work/out")"

# where a signal handler returns, the number of the call is -1
{
	head -n 2 "$work/ftrace.txt"
	while read -r time event
	do
		printf '%24s      [000] d..1.    %s: %s\n' app-9 "$time" "$event"
	done <<'END'
10.000000 sys_enter: NR 1 (2, 0, 0, 0, 0, 0)
10.000005 sys_exit: NR 1 = 0
10.000010 sys_enter: NR 15 (0, 0, 0, 0, 0, 0)
10.000020 sys_exit: NR -1 = 0
END
} >"$work/return.txt"
"$B" ingest -q --fields all -o "$work/return.db" "$work/return.txt"
is "a_text_may_have_a_call_without_a_number" "NR 1 5000 proved
NR 15 10000 proved" \
	"$("$B" query --format csv "$work/return.db" "SELECT name, ns, verdict
	FROM interval WHERE ns NOT NULL" | tr -d '\r"' | tail -n +2 | tr , ' ')"

# d is there in the call without a switch to it: records are missing, and none in the next call
{
	head -n 2 "$work/ftrace.txt"
	while read -r who time event
	do
		printf '%24s      [000] d..1.    %s: %s\n' "$who" "$time" "$event"
	done <<'END'
a-10 10.000010 sched_switch: prev_comm=a prev_pid=10 prev_prio=120 prev_state=R ==> next_comm=d next_pid=40 next_prio=120
d-40 10.000020 sched_switch: prev_comm=d prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120
a-10 10.000100 sys_enter: NR 1 (2, 0, 0, 0, 0, 0)
d-40 10.000200 sched_switch: prev_comm=d prev_pid=40 prev_prio=120 prev_state=S ==> next_comm=a next_pid=10 next_prio=120
a-10 10.000300 sys_exit: NR 1 = 0
a-10 10.000400 sys_enter: NR 1 (2, 0, 0, 0, 0, 0)
a-10 10.000500 sys_exit: NR 1 = 0
END
} >"$work/gap.txt"
"$B" ingest -q --fields all -o "$work/gap.db" "$work/gap.txt"
is "the_only_gap_of_switches_leaves_no_proof_of_a_call" "200000 consistent silent 100000 proved" \
	"$("$B" query --format csv "$work/gap.db" "SELECT ns, verdict, coalesce(reason, '')
	FROM interval ORDER BY t0" | tr -d '\r"' | tail -n +2 | tr ',\n' '  ' | sed 's/ *$//')"

# nor does what a recorder of the kernel misses hide records of another recorder of the same time
{
	head -n 2 "$work/ftrace.txt"
	for i in 1 2 3 4 5 6 7 8 9
	do
		printf '%16s-%-7d [000] d..2. 10.000%d10: app_begin: id=%d\n%16s-%-7d [000] d..2. 10.000%d90: app_end: id=%d\n' \
			a 10 $i $i a 10 $i $i
	done
} >"$work/app.txt"
"$B" ingest -q --fields all -o "$work/alone.db" "$work/app.txt"
"$B" ingest -q --fields all --clock mono -o "$work/both.db" "$work/app.txt" "$work/gap.txt"
for db in "$work/alone.db" "$work/both.db"
do
	is "all_pairs_of_${db##*/}_are_proved" "9" "$("$B" latency --pair app_begin,app_end,id --by kind --format csv "$db" |
		python3 -c 'import csv, sys
print(*(row["count"] for row in csv.DictReader(sys.stdin)))')"
done
