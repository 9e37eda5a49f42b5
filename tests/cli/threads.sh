#!/bin/sh
# threads.sh - the first screen of a capture is what the capture is of: functions, threads or events.
# usage: BACKSTITCH=build/backstitch tests/cli/threads.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures
export COLUMNS=80 NO_COLOR=1

tar -xJf "$captures/packed/clocks.tar.xz" -C "$work" || exit 2
find "$work" -name clk_perf_mono.data -exec cp {} "$work/mono.data" \;
for name in ftrace-v7.dat ftrace-buffers.dat naps.data pipe-zstd.data \
	task-exitexec.data ctf-discard
do
	"$B" ingest -q -o "$work/${name%%.*}.db" "$captures/$name" 2>/dev/null
done
# a long path has no place to wrap at
(cd "$work" && "$B" ingest -q -o mono.db mono.data)

bad=
for db in "$work"/*.db
do
	(cd "$work" && "$B" "$(basename "$db")") >"${db%.db}.text" 2>"$work/err" ||
		bad="$bad $db"
	grep -E 'trace_event_raw_event_|__traceiter_' "${db%.db}.text" &&
		bad="$bad $db"
	[ "$(wc -L <"${db%.db}.text")" -le 80 ] || bad="$bad wide:$db"
done
ok no_screen_shows_the_function_of_a_tracepoint "$([ -z "$bad" ] || { echo "# $bad" >&2; false; }; echo $?)"

# the kernel writes tid -1 for a thread that is no longer hashed: who leaves is a
# field of the switch
for name in causality/captures/herd captures/defer-exitexec-s
do
	"$B" ingest -q -f --no-symbols -o "$work/dying" \
		"tests/$name.data.zst"
	is "dying_threads_of_$(basename $name)_are_known" 0 "$(sqlite3 \
		"$work/dying" "SELECT count(*) FROM thread WHERE tid < 0")"
done
is the_thread_of_a_switch_is_who_leaves '136;0' "$("$B" query --format csv \
	tests/causality/captures/herd.data.zst "SELECT count(*) || ';' ||
	sum(t.tid <> s.prev_pid) FROM ev_sched_sched_switch s
	JOIN event e ON e.id = s.event_id JOIN thread t ON t.id = e.thread" |
	tail -n 1)"

"$B" report --off-cpu --json --limit 0 "$work/ftrace-v7.db" \
	>"$work/ftrace-v7.json"
python3 - "$work" >"$work/verdicts" <<'END'
import json
import re
import sqlite3
import sys

UNITS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}

def shown(cell):
    number, unit = cell.split()
    return float(number) * UNITS[unit]

def near(cell, ns):
    return abs(shown(cell) - ns) <= max(1, ns * 0.006)

def screen(name):
    """(On CPU, Ready, Waiting, Longest, For) by tid, as shown."""
    with open(f"{sys.argv[1]}/{name}.text") as f:
        text = f.read()
    rows = {}
    table = text[text.index("On CPU"):].split("\n\n")[0]
    for line in table.splitlines()[1:]:
        times = re.findall(r"[\d.]+ (?:ns|us|ms|s)\b", line)
        rest = re.sub(r"[\d.]+ (?:ns|us|ms|s)\b", "", line).split()
        at = next(i for i, w in enumerate(rest) if w.isdigit())
        rows[int(rest[at])] = (*times, " ".join(rest[:at]))
    return text, rows

def times(name):
    """The same from the fields of sched_switch, and since when a thread was
    ready as report --off-cpu has it."""
    with open(f"{sys.argv[1]}/{name}.json") as f:
        ready = {(w["tid"], w["from_ns"]):
                 w["woken_ns"] or (0 if w["proof"] else w["from_ns"])
                 for w in json.load(f)["longest"]}
    db = sqlite3.connect(f"{sys.argv[1]}/{name}.db")
    rows = list(db.execute(
        "SELECT e.id, e.time_ns, f.prev_pid, f.prev_state, f.next_pid"
        " FROM event e JOIN ev_sched_sched_switch f ON f.event_id = e.id"))
    end = max(row[1] for row in rows)
    here, away, sums = {}, {}, {}

    def of(tid):
        return sums.setdefault(tid, [0, 0, 0, 0])

    for _, time, out, state, tid in sorted(rows):
        if out:
            if out in here:
                of(out)[0] += time - here.pop(out)
            if state not in (0x10, 0x20):
                away[out] = time
        if tid:
            here[tid] = time
            if tid in away:
                since = away.pop(tid)
                wait = (ready[tid, since] or time) - since
                s = of(tid)
                s[1] += time - since - wait
                s[2] += wait
                s[3] = max(s[3], wait)
    last = db.execute("SELECT max(last_ns) FROM capture").fetchone()[0]
    for tid, since in here.items():
        of(tid)[0] += max(end, last) - since
    return sums

def say(what, good):
    print("ok" if good else "not ok", what)

text, rows = screen("ftrace-v7")
want = times("ftrace-v7")
say("each_thread_has_its_time_on_the_cpu_ready_and_waiting",
    len(rows) >= 3 and all(
        near(cell, ns) for tid, row in rows.items()
        for cell, ns in zip(row[:4], want[tid])))
say("the_kernels_functions_tell_what_a_thread_waits_for",
    rows[26199][4] == "read" and rows[12875][4] == "futex" and
    rows[12868][4] == "poll")
sums = re.search(r"(\d+) threads: (\S+ \S+) on the CPU, (\S+ \S+) ready, "
                 r"(\S+ \S+) waiting$", text, re.M).groups()
say("the_sums_are_of_all_threads",
    all(near(cell, sum(w[i] for w in want.values()))
        for i, cell in enumerate(sums[1:])))

db = sqlite3.connect(f"{sys.argv[1]}/ftrace-v7.db")
events = db.execute(
    "SELECT t.name, count(*), min(e.time_ns), max(e.time_ns) FROM event e "
    "JOIN event_type t ON t.id = e.type GROUP BY 1 ORDER BY 2 DESC").fetchall()
first = min(e[2] for e in events)
span = max(e[3] for e in events) - first
lines = text[text.index("Events"):].split("\n\n")[0].splitlines()[1:-1]
good = len(lines) == 5
for line, (_, n, _, _) in zip(lines, events):
    count, rate, name = re.match(r" *(\d+)  (\S+) k .* (\S+)$", line).groups()
    name = {e[0]: e for e in events}[name]
    good &= int(count) == n == name[1]
    good &= abs(float(rate) * 1e3 - n * 1e9 / span) < 100
    good &= near(re.findall(r"\S+ [nm]?[su]?s", line)[-1], name[3] - first)
say("events_have_counts_rates_and_times", good)
END
cat "$work/verdicts"
[ "$(wc -l <"$work/verdicts")" = 4 ]
ok all_was_compared $?

text=$work/mono.text
# what a CPU ran is known where records of the other one are missing
grep -q '^24 threads: ' "$text" && ! grep -q 'Per second' "$text" &&
	grep -q '^On CPU   Ready    Waiting  Longest    Tid  Thread$' "$text"
ok switches_alone_are_threads $?
# the same of one program, of which the time on CPUs is not known
python3 - "$work/mono.db" <<'END'
import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE capture SET system_wide = 0")
END
"$B" "$work/mono.db" >"$work/out"
grep -q '^time of threads: not known, .*perf record -a' "$work/out" &&
	grep -q '^Events  Per second ' "$work/out" && grep -q ' sched:sched_switch$' "$work/out"
ok switches_of_one_program_are_events $?
text=$work/naps.text
grep -q '^4 threads: 2.71 ms on the CPU, 1.28 ms ready, 163 ms waiting' "$text"
ok records_of_one_program_are_threads_without_a_cpu $?
text=$work/ctf-discard.text
grep -q 'stitch:request$' "$text" && ! grep -q 'On CPU' "$text" &&
	grep -q '^and 4 more kinds of events$' "$text"
ok a_trace_without_switches_is_events $?
text=$work/task-exitexec.text
grep -q 'sched:sched_process_exit$' "$text" && ! grep -q 'On CPU' "$text" &&
	grep -q '^time of threads: not known, .*perf record -a' "$text"
ok a_trace_of_one_process_tells_no_times $?
grep -q '^event: cpu-clock, 180 samples' "$work/pipe-zstd.text"
ok samples_of_a_clock_are_functions $?
# a tracepoint may weigh more than the clock beside it
sqlite_heavy() {
	python3 - "$1" <<'END'
import sqlite3
import sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE event SET weight = 1 << 40 WHERE type = (SELECT id FROM"
           " event_type WHERE name = 'sched:sched_switch')")
db.execute("UPDATE sample_group SET weight = n << 40 WHERE type = (SELECT id"
           " FROM event_type WHERE name = 'sched:sched_switch')")
db.commit()
END
}
sqlite_heavy "$work/pipe-zstd.db"
"$B" "$work/pipe-zstd.db" 2>/dev/null | grep -q '^event: cpu-clock, 180 samples' &&
	"$B" report "$work/pipe-zstd.db" 2>/dev/null |
	grep -q '^event: cpu-clock, 180 samples'
ok a_clock_goes_before_a_heavier_tracepoint $?

# 'perf record --threads' writes a folder; its files are records behind each other
is a_folder_has_the_samples_of_all_its_files "$(python3 -c 'import struct, sys
n = 0
for path in sys.argv[1:]:
    data, at = open(path, "rb").read(), 0
    while at < len(data):
        kind, _, size = struct.unpack_from("<IHH", data, at)
        n, at = n + (kind == 9), at + size
print(n)' "$captures/threads.data/data.0" "$captures/threads.data/data.1")" \
	"$("$B" query --format csv "$captures/threads.data" "SELECT count(*) FROM event" | tail -n 1)"
