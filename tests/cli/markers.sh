#!/bin/sh
# markers.sh - slices that programs write to trace_marker, as atrace and Chromium define them.
# usage: BACKSTITCH=build/backstitch tests/cli/markers.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# rows NAME SQL: of a text, without the heading
rows() {
	"$B" query --format csv "$1.txt" "$2" 2>/dev/null | sed 1d | tr -d '\r"'
}
begin='# tracer: nop
#
# entries-in-buffer/entries-written: 9/9   #P:2
#'
{
	echo "$begin"
	cat <<'END'
          render-30    (   20) [000] ...1.   100.000000: tracing_mark_write: E
          render-30    (   20) [000] ...1.   100.000010: tracing_mark_write: B|20|frame|of two parts
          render-30    (   20) [000] ...1.   100.000020: tracing_mark_write: B|20|draw
            load-31    (   20) [001] ...1.   100.000025: tracing_mark_write: B|20|read
          render-30    (   20) [000] ...1.   100.000030: tracing_mark_write: S|20|fetch a|b|7
          render-30    (   20) [000] ...1.   100.000035: tracing_mark_write: C|20|queue|3
          render-30    (   20) [001] ...1.   100.000040: tracing_mark_write: E|20
            load-31    (   20) [001] ...1.   100.000045: tracing_mark_write: F|20|fetch a|b|7
            load-31    (   20) [001] ...1.   100.000047: tracing_mark_write: G|20|net|get|9
          render-30    (   20) [001] ...1.   100.000060: tracing_mark_write: E|20
            load-31    (   20) [001] ...1.   100.000065: tracing_mark_write: H|20|net|9
            load-31    (   20) [001] ...1.   100.000070: tracing_mark_write: S|20|fetch a|b|8
            load-31    (   20) [001] ...1.   100.000080: tracing_mark_write: Build|20 is no slice
            load-31    (   20) [001] ...1.   100.000090: tracing_mark_write: E is none
END
} >m.txt
is "slices_are_inside_of_those_of_their_thread" ",,,began before,
frame|of two parts,30,50000,proved,
draw,30,20000,proved,frame|of two parts
read,31,,unfinished," "$(rows m "SELECT c.name, CASE WHEN c.name NOT NULL THEN c.tid END, c.ns, c.verdict, p.name FROM call c LEFT JOIN call p ON p.id = c.parent ORDER BY coalesce(c.t0, c.t1)")"
is "those_of_a_process_have_a_name_and_a_cookie" "fetch a|b,20,15000,proved
get,20,18000,proved
fetch a|b,20,,unfinished" "$(rows m "SELECT name, key, ns, verdict FROM interval WHERE kind = 'async' ORDER BY t0")"
is "counters_have_their_values" "100000035000,20,queue,3,30,render" "$(rows m "SELECT time_ns, pid, name, value, tid, comm FROM counter")"
"$B" latency m.txt 2>&1 | grep -q '^slice  frame|of two parts  *1  50.0 us'
ok "latency_has_them" $?
"$B" report m.txt 2>/dev/null >said
says "report_says_how_many" "slices: 4 of 4 names" said
grep -q '^ *60.00 *100.00 *1  30.0 us  50.0 us .* frame|of two parts' said
ok "and_their_time_in_no_other" $?

{
	echo "$begin"
	cat <<'END'
          render-30    (   20) [000] ...1.   100.000010: tracing_mark_write: B|20|a
          render-30    (   20) [000] ...1.   100.000020: tracing_mark_write: B|20|b
CPU:0 [LOST 1 EVENTS]
          render-30    (   20) [000] ...1.   100.000030: tracing_mark_write: E|20
          render-30    (   20) [000] ...1.   100.000040: tracing_mark_write: B|20|c
          render-30    (   20) [000] ...1.   100.000050: tracing_mark_write: E|20
          render-30    (   20) [000] ...1.   100.000060: tracing_mark_write: E|20
END
} >lost.txt
is "one_lost_record_may_be_an_end" "a,consistent,
b,consistent,a
c,proved," "$(rows lost "SELECT c.name, c.verdict, p.name FROM call c LEFT JOIN call p ON p.id = c.parent ORDER BY c.t0")"

{
	echo "$begin"
	echo '          render-30    (   20) [000] ...1.   100.000010: tracing_mark_write: here we are'
} >none.txt
"$B" latency none.txt >/dev/null 2>err
says "other_texts_are_no_slices" "no two events that belong together" err

# ends as writers other than atrace have them
{
	echo "$begin"
	cat <<'END'
          render-30    (   20) [000] ...1.   100.000010: tracing_mark_write: B|0|_MET_Global_
          render-30    (   20) [000] ...1.   100.000020: tracing_mark_write: B|20|H:draw
          render-30    (   20) [000] ...1.   100.000030: tracing_mark_write: E|20|
          render-30    (   20) [000] ...1.   100.000040: tracing_mark_write: E|_MET_Global_
END
} >ends.txt
is "an_end_may_have_a_name" "_MET_Global_,30000,
H:draw,10000,_MET_Global_" "$(rows ends "SELECT c.name, c.ns, p.name FROM call c LEFT JOIN call p ON p.id = c.parent ORDER BY c.t0")"

# a program that ends none: stacks are cut, and no time is known
{
	echo "$begin"
	seq 100000 199999 | sed 's/^1\(.*\)/          render-30    (   20) [000] ...1.   100.0\1: tracing_mark_write: B|20|a/'
} >deep.txt
timeout 20 "$B" report --by samples deep.txt >said 2>/dev/null
says "slices_without_an_end_are_told" "slices whose time is not known: 100,000" said

# in Chrome's form other markers are named by what they say, and fields are arguments
{
	echo "$begin"
	echo '          render-30    (   20) [000] ...1.   100.000010: tracing_mark_write: here "we" are'
	echo '          render-30    (   20) [000] ...1.   100.000011: some_event: a=1 b=two'
} >said.txt
"$B" export --format chrome said.txt 2>err | python3 -c '
import json, sys
print(*((e["name"], e["args"]["text"]) for e in json.load(sys.stdin)["traceEvents"] if e["ph"] == "i"))' >said
is "texts_of_events_are_exported" "('here \"we\" are', 'here \"we\" are') ('some_event', 'a=1 b=two')" "$(cat said)"

# a filter that leaves the end of a call of the kernel, but not its begin, beside slices
"$B" ingest -q --no-symbols -o calls.db "$root/tests/captures/fgraph"
"$B" query --format csv calls.db "SELECT max(e.time_ns) FROM event e
	JOIN event_type t ON t.id = e.type AND t.name = 'ftrace:funcgraph_exit'" | tail -1 | tr -d '\r' >end
python3 -c '
t = int(open("end").read())
print("# tracer: nop\n#\n# entries-in-buffer/entries-written: 4/4   #P:1\n#")
for us, text in ((200, "B|20|draw"), (210, "B|20|inner"), (240, "E|20"), (280, "E|20")):
    at = t // 1000 + us
    print("          render-30    (   20) [000] ...1.   %d.%06d: tracing_mark_write: %s" % (
        *divmod(at, 10 ** 6), text))
print("%d.%09d,%d.%09d" % (*divmod(t, 10 ** 9), *divmod(t + 290000, 10 ** 9)), file=open("when", "w"))' >beside.txt
"$B" ingest -q --no-symbols --separate -o both.db "$root/tests/captures/fgraph" beside.txt
"$B" report --time "$(cat when)" --format csv both.db 2>err | tr -d '\r' >said
is "slices_beside_a_call_that_is_cut_have_their_names" "draw inner" \
	"$(awk -F, 'NR > 1 { print $NF }' said | sort | tr '\n' ' ' | sed 's/ $//')"

# texts in the forms of all writers, of threads that write for others, and what a second program makes of each form
for seed in $(seq 12); do
	python3 "$root/tests/cli/markers.py" "$seed" forms.txt >want
	rows forms "SELECT 'slice ' || coalesce(name, '') || ' ' || tid || ' ' || coalesce(ns, '') || ' ' || verdict FROM call
		UNION ALL SELECT 'async ' || name || ' ' || key || ' ' || coalesce(ns, '') || ' ' || verdict FROM interval WHERE kind = 'async'
		UNION ALL SELECT 'counter ' || name || ' ' || pid || ' ' || value FROM counter" | LC_ALL=C sort >got
	LC_ALL=C sort want | cmp -s - got || break
done
is "slices_of_all_forms_are_what_the_forms_say" "12 $(LC_ALL=C sort want)" "$seed $(cat got)"
