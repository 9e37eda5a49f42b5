#!/bin/sh
# output.sh - what script, query, info, dump and completion print.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/output.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2

# same NAME WANTED: what stands in the file out
same() {
	printf '%s\n' "$2" >want
	if cmp -s want out
	then
		echo "ok $1"
	else
		echo "not ok $1"
		diff want out | sed 's/^/# /' | head -10
	fi
}

# truth NAME COMMAND...: the command succeeds
truth() {
	name=$1
	shift
	if "$@" >said 2>&1
	then
		echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' said | head -5
	fi
}

"$B" query -f "$dir" "$cap/fp-1.data" >out 2>err
[ $? = 1 ] && grep -qF "$dir: Is a directory" err
ok a_statement_that_cannot_be_read_is_not_an_empty_one $?

"$B" script --show-lost "$cap/overwrite-defer.data.zst" >out 2>err
grep -q '^\[lost an unknown number of records on CPU 0 to .*: overwritten\]$' out && ! grep -q '^\[lost 0 ' out
ok a_number_that_is_not_known_is_not_0 $?

# perf's own text, block by block and byte by byte, where both order alike
for f in fp-1 m32 perthread tailsynth regs dlchurn
do
	"$B" ingest -q --no-symbols -o $f.db "$cap/$f.data"
	"$B" script -F "$(cat "$cap/$f.script-ip.fields")" $f.db >mine
	gzip -dc "$cap/$f.script-ip.txt.gz" >perf
	truth "script_of_${f}_is_perfs_byte_by_byte" cmp mine perf
done
"$B" ingest -q --no-symbols -o group.db "$cap/group.data"
"$B" script -F comm,pid,tid,cpu,time,event,ip group.db >mine
truth events_are_aligned_to_the_widest grep -q ':        cpu-clock: $' mine

db=fp-1.db
"$B" query --format csv $db "SELECT 1 AS a, 'x,\"y' AS b, NULL AS c,
	x'00ff' AS d, 'e' || char(27) || char(10) AS e" >out
same csv_quotes_what_must_be 'a,b,c,d,e
1,"x,""y",,00ff,"e\x1b\x0a"'
"$B" query --format json $db "SELECT 1 AS a, 'x\"' AS b, NULL AS c" >out
same json_has_one_object_a_line '{"version":1,"rows":[
{"a":1,"b":"x\"","c":null}
]}'
"$B" query --json $db 'SELECT 1 WHERE 0' >out
same no_rows_are_an_empty_array '{"version":1,"rows":[]}'
"$B" query $db "SELECT 'abc' AS name, 12345 AS n UNION ALL
	SELECT 'd' || char(27) || '[31m', 7 ORDER BY 2 DESC" >out
same a_table_is_aligned 'name           n
abc        12345
d\x1b[31m      7'
echo 'SELECT 3 AS x' >q.sql
"$B" query --format csv -f q.sql $db >out
same sql_from_a_file 'x
3'
"$B" query --format csv -f - $db <q.sql >out
same sql_from_standard_input 'x
3'
"$B" query $db 'DELETE FROM event' >log 2>&1
truth a_query_cannot_write [ $? = 1 ]
"$B" query $db 'SELECT nonsense' >log 2>&1
truth a_wrong_query_fails [ $? = 1 ]
truth and_says_why grep -q nonsense log
"$B" query $db 'SELECT 1; SELECT 2' >log 2>&1
truth two_statements_are_refused [ $? = 2 ]

# filters: what they keep and what they drop adds up
count() {
	"$B" script "$@" | grep -c 'cpu-clock: $'
}
all=$(count $db)
truth there_are_samples [ "$all" -gt 100 ]
a=$(count --comm work-0 $db)
others=$("$B" query --format csv $db "SELECT DISTINCT comm FROM samples
	WHERE comm <> 'work-0'" | sed 1d | tr '\n' ,)
b=$(count --comm "${others%,}" $db)
truth comms_part_the_samples [ $((a + b)) = "$all" ]
truth and_both_parts_have_some [ "$a" -gt 0 ]
a=$(count --time 0%-50% $db)
truth half_of_the_time_is_less_than_all [ "$a" -lt "$all" ]
t=$("$B" query --format csv $db "SELECT time_ns / 1000 FROM samples
	LIMIT 1 OFFSET 50" | tail -1)
t=$((t / 1000000)).$(printf %06d $((t % 1000000)))
a=$(count --time ",$t" $db)
truth a_shown_time_is_part_of_the_range [ "$a" -ge 51 ]
pid=$("$B" query --format csv $db 'SELECT pid FROM samples LIMIT 1' | tail -1)
truth a_pid_that_is_there [ "$(count --pid "$pid" $db)" -gt 0 ]
truth a_tid_that_is_not [ "$(count --tid 99999999 $db)" = 0 ]
"$B" script --event cycles $db >log 2>&1
truth an_event_that_is_not_there_is_an_error [ $? = 2 ]
truth and_the_others_are_named grep -q cpu-clock log

"$B" script --json $db >out
truth one_json_object_for_each_sample [ "$(wc -l <out)" = "$all" ]
truth which_python_can_read python3 -c 'import json
for line in open("out"):
	o = json.loads(line)
	assert o["event"] == "cpu-clock" and o["user"] + o["kernel"], o'
"$B" info --json $db >out
truth info_is_json python3 -c 'import json
o = json.load(open("out"))
assert o["events"][0]["events"] == '"$all"', o["events"]'

"$B" ingest -q --no-symbols -o d.db "$cap/defer-exitexec-s.data.zst"
"$B" script d.db >out
n=$("$B" query --format csv d.db "SELECT count(*) FROM samples
	WHERE verdict NOT IN ('matched', 'refused')" | tail -1)
got=$(grep -c '^	\[user: ' out)
x=$(grep -c '^	\[user: after exec\]' out)
truth every_missing_user_half_is_said [ $((got - x)) = "$n" ]
truth an_exec_between_is_said [ "$x" -gt 0 ]
"$B" script -F comm,ip d.db >out
truth with_fields_only_what_perf_prints sh -c '! grep -q "user:" out'
"$B" script -F comm,nope d.db >log 2>&1
truth an_unknown_field_is_an_error [ $? = 2 ]

"$B" dump "$cap/fp-1.data" >out
truth dump_prints_offsets grep -q 0x out
"$B" dump fp-1.db >log 2>&1
truth dump_of_a_database_says_what_to_do [ $? = 2 ]
"$B" symbolize "$cap/fp-1.data" >log 2>&1
truth symbolize_of_a_capture_says_what_to_do grep -q 'backstitch ingest' log
"$B" symbolize d.db >log 2>&1
truth symbolize_again_is_fine [ $? = 0 ]

"$B" check "$cap/fp-1.data" >out 2>log
truth check_is_content_with_a_whole_capture [ $? = 0 ]
"$B" check "$cap/overwrite-defer.data.zst" >out 2>log
truth check_says_loss [ $? = 4 ]
# the stacks of thread 8 were asked for by another session, and so may 7 and 9
cat >foreign.txt <<'END'
event cpu-clock defer period=1000
event dummy:u output
sample pid=7 tid=7 cpu=1 time=1000 k=0xffffffff81000010 cookie=1:1
chain cookie=1:1 pid=7 tid=7 cpu=1 time=2000 u=0x400010
chain cookie=1:3 pid=8 tid=8 cpu=1 time=3000 u=0x400010
chain cookie=1:5 pid=8 tid=8 cpu=1 time=4000 u=0x400010
sample pid=7 tid=7 cpu=1 time=5000 k=0xffffffff81000010 cookie=1:11
chain cookie=1:11 pid=7 tid=7 cpu=1 time=6000 u=0x400010
END
"$MKCAP" foreign.txt foreign.data || exit 2
"$B" check foreign.data >out 2>log
truth what_is_not_provable_is_no_failure [ $? = 0 ]
truth what_is_not_provable_is_not_clean grep -q '^foreign.data: unproved' out

# nor is it where samples may have been taken out: no counter is missing
sed 's/cookie=1:11/cookie=1:7/' foreign.txt >bulk.txt
"$MKCAP" bulk.txt bulk.data || exit 2
"$B" check bulk.data 2>log | tr -s ' \n' ' ' >out
truth chains_that_others_asked_for_are_not_clean grep -q \
	'^bulk.data: unproved: .* not provable: 2 chains without a sample ' out

# thread 7 ends on CPU 1 and goes on at CPU 2: which clock is right?
cat >order.txt <<'END'
event cpu-clock period=1000
comm pid=7 name=app
fork pid=8 tid=8 ppid=7 ptid=7 time=500 cpu=1
exit pid=8 tid=8 ppid=7 ptid=7 time=600 cpu=1
sample pid=8 tid=8 cpu=2 time=700 ip=0x400010 u=0x400010
END
"$MKCAP" order.txt order.data || exit 2
"$B" check order.data >out 2>log
truth what_clocks_may_explain_is_no_finding_that_breaks [ $? = 0 ]
truth nor_is_it_clean grep -q '^order.data: unproved: .*: 1 finding$' out
truth and_its_rule_is_told grep -q ' 1 exit_order: not proved' out

# names that a spreadsheet would calculate
"$B" query --format csv --spreadsheet fp-1.db \
	"SELECT '=1' AS a, -1 AS b, '-1' AS c, '+1' AS d, '@a' AS e, 'a=b' AS f" >out
same no_text_is_a_formula_and_numbers_are_no_texts "a,b,c,d,e,f
'=1,-1,'-1,'+1,'@a,a=b"
"$B" query --format csv fp-1.db "SELECT '=1' AS a" >out
same without_it_texts_are_as_recorded "a
=1"
"$B" query --spreadsheet fp-1.db "SELECT '=1' AS a" >out 2>log
truth it_is_refused_where_it_would_do_nothing [ "$?,$(head -n 1 log)" = \
	"2,backstitch: --spreadsheet is for --format csv, not table" ]

"$B" completion bash >out
truth bash_completion_is_shell bash -n out
# shellcheck disable=SC2016 # for bash
truth and_completes bash -c '. ./out
COMP_WORDS=(backstitch ing) COMP_CWORD=1; _backstitch
[ "${COMPREPLY[*]}" = ingest ] || exit 1
COMP_WORDS=(backstitch query --format "") COMP_CWORD=3; _backstitch
[ "${COMPREPLY[*]}" = "table lines csv json markdown sql" ]'
"$B" completion fish >out
truth fish_completion_has_all_commands grep -q -- '-a symbolize' out
"$B" completion zsh >out
truth zsh_completion_has_all_commands grep -q 'symbolize) _arguments' out

# what tracepoints say, from columns and from bytes
cp "$root/tests/captures/task-exitexec.data" tp.data
"$B" ingest -q --no-symbols --fields all -o columns.db tp.data 2>err
"$B" ingest -q --no-symbols --fields nothing:here -o bytes.db tp.data 2>err
"$B" script -F comm,time,event,trace columns.db >columns.txt
"$B" script -F comm,time,event,trace bytes.db >bytes.txt
truth payloads_say_the_same_from_columns_and_from_bytes \
	cmp -s columns.txt bytes.txt
truth a_payload_is_printed_as_the_kernel_does grep -q \
	'sched_switch: prev_comm=.* prev_state=[A-Z].* ==> next_comm=' bytes.txt
truth every_tracepoint_says_something sh -c \
	"! grep -q 'sched:sched_switch: *\$' columns.txt"
"$B" script --comm shorty -F comm,event,trace columns.db >some.txt
"$B" script -F comm,event,trace columns.db | grep '^ *shorty ' >want.txt
truth filters_do_not_mix_payloads_up cmp -s some.txt want.txt
truth json_has_the_payload_too sh -c \
	"$B script --json bytes.db | grep -q '\"trace\":\"prev_comm='"

# a statement finds its database, and the lists say what may be asked
mkdir here && cp columns.db here/perf.db
(cd here && "$B" query 'SELECT 40 + 2') >out 2>err
truth a_statement_alone_is_answered_from_perf_db grep -q '^ *42$' out
"$B" query -i columns.db 'SELECT 40 + 2' >out 2>err
truth a_statement_goes_with_input_too grep -q '^ *42$' out
"$B" query --views columns.db >out 2>err
truth views_are_listed grep -q '^verdicts: kind, verdict, confidence, n$' out
"$B" query --tables columns.db >out 2>err
truth tables_are_listed grep -q '^ev_sched_sched_switch: event_id, ' out
"$B" query --schema >out 2>err
truth the_schema_is_told_without_a_database grep -q '^ *kraw  *INTEGER  raw_chain.id of the kernel half$' out
truth computed_tables_too grep -q '^wait (computed)$' out
"$B" query --schema --json >schema.json
python3 - columns.db <<'END'
import json
import sqlite3
import sys

told = {t["name"]: t for t in json.load(open("schema.json"))["tables"]}
db = sqlite3.connect(sys.argv[1])
for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type IN "
                          "('table', 'view') AND name NOT GLOB 'ev_*' AND "
                          "name NOT GLOB 'internal_*'"):
    columns = [r[1] for r in db.execute("PRAGMA table_info(%s)" % name)]
    if [c["name"] for c in told[name]["columns"]] != columns:
        sys.exit("%s: %s" % (name, columns))
    if not told[name]["comment"]:
        sys.exit(name + ": no comment")
END
truth and_it_is_that_of_every_database test $? = 0
"$B" query --schema columns.db >out 2>err
truth a_database_is_not_asked_for_its_schema [ $? = 2 ]
"$B" query --views columns.db 'SELECT 1' >out 2>err
truth a_list_and_a_statement_are_refused [ $? = 2 ]

# files that options name must be there, before any work is done
while read -r option file
do
	"$B" symbolize "--$option" "$file" columns.db >out 2>err
	truth "symbolize_refuses_a_wrong_$option" \
		grep -q "^backstitch: --$option $file: " err
	"$B" ingest "--$option" "$file" -o never.db tp.data >out 2>err
	truth "ingest_refuses_a_wrong_$option" sh -c \
		"grep -q '^backstitch: --$option' err && [ ! -e never.db ]"
done <<'END'
kallsyms nofile
symfs tp.data
vmlinux here
END
"$B" ingest --no-symbols -f -o columns.db tp.data 2>err
truth names_nobody_looked_for_are_one_line \
	[ "$(grep -c 'not looked for' err)" = 1 ]

# ---- the time on the wall: perf script -F tod,time, and babeltrace2 --clock-gmt
truth "jit-reused is read" "$B" ingest -o wall.db --no-cache --no-jit \
	"$cap/jit-reused.data.zst"
for field in 3 4
do
	flag=
	[ $field = 4 ] || flag=--wall
	# shellcheck disable=SC2086 # a flag or none
	"$B" script $flag wall.db | sed -n 's/ *fakejit  *13475 *\([^ ]*\):.*/\1/p' |
		sed -n '1p;500p;$p' | sed 's/[0-9]\{3\}Z$//; s/T/ /'
done >out
same "times are UTC as perf has them" "2026-11-20 02:36:03.582813
2026-11-20 02:36:04.128681
2026-11-20 02:36:05.385594
1797.129090
1797.674958
1798.931871"
"$B" script --wall "$cap/fp-1.data" >out 2>err
[ $? = 1 ] && grep -q 'does not say the time on the wall' err &&
	[ ! -s out ]
truth "a capture without it says so" [ $? = 0 ]
"$B" info wall.db | sed -n 's/ *on the wall *//p' | cut -c1-26 >out
same "info has it too" "2026-11-20T02:36:03.581808"
TZ=Asia/Tokyo "$B" script --wall --json wall.db | sed -n '1s/.*"wall":"\([^"]*\)".*/\1/p' >out
same "in every time zone, and in JSON" "2026-11-20T02:36:03.582813289Z"
"$B" bundle --redact -o redacted.db wall.db 2>log
"$B" script --wall --json redacted.db | sed -n '1s/.*"wall":"\([^"]*\)".*/\1/p' >out
same "and where names were replaced" "2026-11-20T02:36:03.582813289Z"
case $("$B" ingest -o ctf.db "$cap/ctf-discard/trace" 2>&1) in
*"built without"*)
	echo "skip LTTng's times are babeltrace2's: built without it"
	;;
*)
	gzip -dc "$cap/ctf-discard/bt2-all.txt.gz" |
		sed -n 's/.*timestamp = \([0-9.]*\),.* name = stitch:.*/\1/p' |
		sort >want.s
	"$B" query --format csv ctf.db "SELECT printf('%d.%09d',
		(e.time_ns + m.value) / 1000000000,
		(e.time_ns + m.value) % 1000000000)
		FROM event e JOIN event_type t ON t.id = e.type, meta m
		WHERE t.name GLOB 'stitch:*' AND m.key = 'wall_offset_ns'" |
		sed 1d | sort >got.s
	truth "LTTng's times are babeltrace2's" cmp want.s got.s
	truth "all of them" [ "$(wc -l <got.s)" -gt 1000 ]
	;;
esac
