#!/bin/sh
# nonce.sh - a program that unwinds itself, from end to end; --nonce-format.
# usage: BACKSTITCH=PROGRAM tests/cli/nonce.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
out=$(cd "$root" && cd "${O:-build}" && pwd)
cd "$dir" || exit 2

ask() {
	sqlite3 -batch -noheader "$1" "$2" | tr '\n' ';'
}

verdicts="SELECT w.name || ' ' || count(*) FROM request r JOIN word w
	ON w.kind = 'request' AND w.id = r.verdict GROUP BY w.name ORDER BY 1"

# Every tenth request hits the unwinder; how many come in all is the timer's.
"$out/selfunwind" -o self.txt -n 60
"$B" ingest -q --no-symbols -o self.db self.txt
is the_example_is_read 0 $?
n=$(grep -c 'ureq nonce=' self.txt)
is every_request_of_the_example_has_a_verdict "$n" \
	"$(ask self.db 'SELECT count(*) FROM request' | tr -d ';')"
is its_stacks_are_joined "$(grep -c 'ustack nonce=' self.txt)" \
	"$(ask self.db "SELECT count(*) FROM request WHERE chain IS NOT NULL" |
		tr -d ';')"
is no_request_of_it_is_unexplained 0 \
	"$(ask self.db "SELECT count(*) FROM causality_errors" | tr -d ';')"
is those_that_hit_the_unwinder_are_found yes \
	"$(ask self.db "SELECT CASE WHEN count(*) >= 4 THEN 'yes' ELSE
		count(*) END FROM request r JOIN word w ON w.kind = 'request'
		AND w.id = r.verdict WHERE w.name = 'in_unwinder'" |
		tr -d ';')"
is its_stacks_are_deep yes \
	"$(ask self.db "SELECT CASE WHEN max(pos) >= 2 THEN 'yes' ELSE
		max(pos) END FROM stack_path" | tr -d ';')"

# However many signals come: lines are in the order of their times, and a request
# without a stack lies between another one and its stack.
"$out/selfunwind" -o storm.txt -n 2000 &
pid=$!
while kill -PROF $pid; do :; done 2>/dev/null &
wait $pid
awk '{
	time = $4 + 0
	nonce = $7
}
NR == FNR {
	if ($6 == "ustack") answered[nonce] = 1
	next
}
/nonce=/ {
	if (time < last) bad = bad FNR ": " $0 "\n"
	last = time
	if ($6 == "ustack") unwinds = 0
	else if (answered[nonce]) unwinds = 1
	else if (!unwinds) bad = bad FNR ": " $0 "\n"
}
END { printf "%s", bad }' storm.txt storm.txt >bad.out
is lines_of_it_are_in_order_in_a_storm_of_signals "" "$(head -n 3 bad.out)"

line() {
	printf '             app-7       [000] .....     1.%06d: tracing_mark_write: %s\n' \
		"$1" "$2"
}

{
	echo "# tracer: nop"
	line 1 "please unwind <0a>"
	line 2 "unwound <0a>: main;read"
	line 3 "ureq nonce=1"
	line 4 "ustack nonce=1 ips=10"
} >other.txt
"$B" ingest -q --no-symbols -o one.db other.txt
is lines_of_the_manual_are_read_without_a_template "matched 1;" \
	"$(ask one.db "$verdicts")"
"$B" ingest -q --no-symbols -o two.db \
	--nonce-format 'please unwind <%{nonce:x}>' \
	--nonce-format 'unwound <%{nonce:x}>: %{names}' other.txt
is templates_take_their_place "matched 1;" "$(ask two.db "$verdicts")"
is names_are_frames "main;read;" "$(ask two.db "SELECT s.name FROM request r
	JOIN raw_chain c ON c.id = r.uraw JOIN stack_path p ON p.stack = c.stack
	JOIN frame f ON f.id = p.frame JOIN symbol s ON s.id = f.symbol
	ORDER BY p.pos")"
"$B" ingest -q -f -o two.db --nonce-format 'no %{number}' other.txt 2>err
is a_template_that_means_nothing_is_wrong_usage 2 $?
is and_is_named 1 "$(grep -c "nonce format 'no %{number}'" err)"
"$B" script --no-symbols other.txt >script.out 2>&1
is script_prints_the_lines_too 4 "$(grep -c 'ftrace:print' script.out)"

# thread 7 is of process 5, which only the line says
{
	echo "# tracer: nop"
	line 1 "ureq nonce=1 pid=5"
	line 2 "ustack nonce=1 pid=5 ips=0x7f0000001010"
	line 3 "ureq nonce=2"
	line 4 "ustack nonce=2 ips=0x7f0000001010"
} >pid.txt
echo '7f0000001000-7f0000002000 r-xp 00003000 fe:00 77 /bin/app' >pid.maps
"$B" ingest -q --no-symbols -o pid.db --maps 5=pid.maps pid.txt
is a_line_may_say_the_process "/bin/app 12304;" "$(ask pid.db "
	SELECT DISTINCT i.path || ' ' || f.off FROM request r
	JOIN raw_chain c ON c.id = r.uraw JOIN stack_path p ON p.stack = c.stack
	JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image")"
is which_then_holds_for_the_thread "5;" "$(ask pid.db "SELECT DISTINCT p.pid
	FROM event e JOIN thread t ON t.id = e.thread
	JOIN process p ON p.id = t.process")"
