#!/bin/sh
# report.sh - tables add up, and count every function once a sample.
# usage: BACKSTITCH=build/backstitch tests/cli/report.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# check QUESTION REPORT.csv FOLDED: a table against the stacks it is made of
check() {
	python3 - "$@" <<'END'
import collections
import csv
import sys

question, table, folded = sys.argv[1:4]
rows = list(csv.DictReader(open(table)))
own = collections.Counter()
whole = collections.Counter()
total = 0
for line in open(folded):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    frames = [f[:-4] if f[-4:] in ("_[k]", "_[i]", "_[j]") else f
              for f in stack.split(";")][1:] or ["[no stack]"]
    own[frames[-1]] += int(n)
    for f in set(frames) - {"[caller missing]"}:     # no function
        whole[f] += int(n)
    total += int(n)

got_own = collections.Counter()
got_whole = collections.Counter()
for r in rows:
    got_own[r["symbol"]] += int(r["self_weight"])
    got_whole[r["symbol"]] += int(r["total_weight"])
if question == "self":
    good = +got_own == own and sum(got_own.values()) == total
elif question == "total":
    # one name in two images or halves is two rows: those are not compared
    twice = [n for n, k in collections.Counter(
        r["symbol"] for r in rows).items() if k > 1]
    good = len(twice) < len(rows) and all(
        got_whole[n] == whole[n] for n in whole if n not in twice)
elif question == "percent":
    good = abs(sum(float(r["self_percent"]) for r in rows) - 100) < 0.01
sys.exit(not good or not rows)
END
}

for name in fp-1 dlchurn m32 defer-exitexec-s overwrite-defer z-defer group
do
	f=$captures/$name.data
	[ -f "$f" ] || f=$f.zst
	db=$work/$name.db
	set -- --symfs "$captures/symfs"
	[ ! -f "$captures/$name.kallsyms" ] ||
		set -- "$@" --kallsyms "$captures/$name.kallsyms"
	"$B" ingest -q "$@" -o "$db" "$f" >/dev/null 2>&1
	# a row is a function with what was inlined into it
	"$B" export --format folded --no-inline "$db" >"$work/folded" 2>/dev/null
	"$B" report --format csv "$db" >"$work/csv" 2>/dev/null
	check self "$work/csv" "$work/folded"
	ok "self_is_where_stacks_end_in_$name" $?
	check total "$work/csv" "$work/folded"
	ok "total_counts_a_function_once_a_sample_in_$name" $?
	check percent "$work/csv" "$work/folded"
	ok "shares_sum_up_to_100_in_$name" $?
	# of a capture only what the table needs is stored
	"$B" report --json "$db" >"$work/json" 2>/dev/null
	"$B" report --json "$@" "$f" 2>/dev/null | cmp -s - "$work/json"
	ok "a_capture_has_the_table_of_its_database_in_$name" $?
done

# the same numbers by hand
db=$work/overwrite-defer.db
want=$(one "$db" "SELECT sum(weight) FROM samples WHERE event = 'cpu-clock'
	AND comm = 'swapper'")
"$B" report --event cpu-clock --sort comm --format csv "$db" >"$work/csv"
got=$(awk -F, '$7 == "swapper" { print $4 }' "$work/csv")
[ -n "$want" ] && [ "$got" = "$want" ]
ok rows_by_thread_name_are_their_samples $?
want=$(one "$db" "SELECT count(*) FROM samples WHERE event = 'cpu-clock'
	AND cpu = 0")
"$B" report --event cpu-clock --by samples --sort cpu --format csv "$db" |
	awk -F, -v want="$want" '$7 == "0" { good = $4 == want }
		END { exit !good }'
ok rows_by_cpu_are_their_samples $?
want=$(one "$db" "SELECT count(*) FROM samples WHERE event = 'cpu-clock'
	AND verdict = 'pending_end'")
"$B" report --event cpu-clock --by samples --sort verdict --format csv "$db" |
	awk -F, -v want="$want" '$7 == "pending_end" { good = $4 == want }
		END { exit !(good || !want) }'
ok rows_by_verdict_are_their_samples $?
n=$(one "$db" 'SELECT count(DISTINCT comm || pid || tid) FROM samples')
"$B" report --sort comm,pid,tid --format csv "$db" >"$work/csv"
[ "$(sed 1d "$work/csv" | wc -l)" -eq "$n" ]
ok one_row_for_each_thread $?

# lines: those that addr2line knows of the sampled addresses
"$B" query --format csv "$work/fp-1.db" "SELECT i.file AS image,
	printf('%x', f.vaddr) AS addr, sum(coalesce(s.weight, 1)) AS weight
	FROM samples s JOIN frame f ON f.id = (SELECT k.frame FROM stack k
		WHERE k.id = coalesce(s.kernel_stack, s.user_stack))
	JOIN image i ON i.id = f.image
	WHERE i.file IS NOT NULL AND f.vaddr IS NOT NULL GROUP BY 1, 2" \
	>"$work/addrs"
"$B" report --sort srcline --json "$work/fp-1.db" >"$work/lines.json"
python3 - "$work/addrs" "$work/lines.json" <<'END'
import collections
import csv
import json
import subprocess
import sys

want = collections.Counter()
for r in csv.DictReader(open(sys.argv[1])):
    at = subprocess.run(["addr2line", "-e", r["image"], "0x" + r["addr"]],
                        capture_output=True, text=True, check=True).stdout
    file, line = at.split(" (")[0].strip().rsplit(":", 1)
    if line not in ("?", "0"):
        want[file, int(line)] += int(r["weight"])
report = json.load(open(sys.argv[2]))
got = collections.Counter()
for r in report["rows"]:
    if r["file"]:
        got[r["file"], r["line"]] += r["self_weight"]
    elif not r["symbol"] or r["line"]:
        sys.exit("neither a line nor a function: %s" % r)
if +got != want or len(want) < 3 or report["weight"] != sum(
        r["self_weight"] for r in report["rows"]):
    sys.exit("%s\n%s" % (got, want))
END
ok rows_by_line_are_those_of_addr2line $?
"$B" report --sort srcline,sym --format csv "$work/fp-1.db" |
	grep -q ',[^,]*/leaf\.c,5,leaf_inner,'
ok lines_go_with_functions $?
"$B" report --sort srcline --limit 0 "$work/fp-1.db" >"$work/text"
grep -q ' leaf\.c:[0-9]*$' "$work/text" &&
	grep -q ' finish_task_switch \[no line\]$' "$work/text"
ok code_without_a_line_is_its_function $?

# names that differ by numbers only
if [ -x "$MKCAP" ]
then
	cat >"$work/n.txt" <<'EOF2'
event cpu-clock
comm pid=7 name="kworker/0:1"
comm pid=8 name="kworker/12:3"
comm pid=9 name="plain"
sample pid=7 tid=7 cpu=0 time=1000 u=0x1000
sample pid=8 tid=8 cpu=0 time=2000 u=0x1000
sample pid=9 tid=9 cpu=0 time=3000 u=0x1000
EOF2
	"$MKCAP" "$work/n.txt" "$work/n.data" || exit 2
	"$B" report --sort comm_nodigit --by samples --format csv \
		"$work/n.data" 2>/dev/null | sed 1d | cut -d, -f4,7 | sort |
		tr -d '\r' | tr '\n' ' ' >"$work/got"
	grep -qx '1,plain 2,kworker/<N>:<N> ' "$work/got"
	ok names_that_differ_by_numbers_are_one $?
fi

# missing user halves
word=$(one "$db" "SELECT verdict FROM samples WHERE user_stack IS NULL AND
	verdict IS NOT NULL GROUP BY 1 ORDER BY count(*) DESC LIMIT 1")
want=$(one "$db" "SELECT sum(weight) FROM samples WHERE user_stack IS NULL
	AND verdict = '$word'")
"$B" report --format csv "$db" >"$work/csv"
got=$(awk -F, -v n="[user: $word]" '{ gsub(/"/, "", $7) } $7 == n { print $6 }' \
	"$work/csv")
[ -n "$want" ] && [ "$got" = "$want" ]
ok missing_user_halves_are_rows $?
"$B" report --limit 3 "$db" >"$work/text"
grep -q "^user half missing: \[user: $word\] " "$work/text" &&
	grep -q " \[user: $word\]" "$work/text"
ok missing_user_halves_are_never_cut_off $?
grep -q '^[0-9]* more rows with [0-9.]* % self not shown' "$work/text"
ok it_says_how_much_is_not_shown $?
"$B" report --limit 0 "$db" >"$work/text"
! grep -q 'not shown' "$work/text"
ok limit_0_shows_all $?

# classes of user stacks, as the first sentence has them
for name in shop lines-gcc
do
	"$B" report --sort trust --by samples --json --symfs "$captures/symfs" \
		"$captures/$name.data.zst" 2>/dev/null | python3 -c '
import json, sys
got = json.load(sys.stdin)
rows = {r["trust"]: r["self_samples"] for r in got["rows"]}
rows.pop("no user stack", None)
want = {c["class"]: c["samples"] for c in got["user_stacks_by_class"]}
sys.exit(rows != want or not want)'
	ok "rows_of_classes_are_those_of_the_sentence_$name" $?
done
"$B" report --sort sym,trust --diff "$db" "$db" >"$work/text" 2>&1
[ $? = 2 ]
ok a_comparison_has_no_classes $?

# callers and callees
func=$("$B" report --order total --format csv "$db" |
	awk -F, '$8 == "kernel" { print $7; exit }')
[ -n "$func" ] || func='[kernel.kallsyms]'
for side in callers callees
do
	"$B" report --$side "$func" --format csv "$db" >"$work/csv" &&
		awk -F, 'NR > 1 { s += $1 }
			END { exit !(s > 99.99 && s < 100.01) }' "$work/csv"
	ok "${side}_sum_up_to_the_function" $?
done
mkdir -p "$work/empty"
(cd "$work/empty" && "$B" report --callers "$db" >../text 2>&1)
[ $? = 2 ] && grep -q "callers needs the name of a function in front of '.*': 'report --callers main " "$work/text"
ok a_file_in_place_of_the_function_is_told $?
cp "$db" "$work/empty/perf.db"
(cd "$work/empty" && "$B" report --callers perf.db >../text 2>&1)
[ $? = 2 ] && grep -q "callers needs the name of a function in front of 'perf.db': 'report --callers main " "$work/text"
ok where_there_is_a_database_too $?
"$B" report --limit 1 "$db" 2>/dev/null | grep -q 'limit 0 shows all, --sort dso sums up by library$'
ok the_table_names_the_one_by_library $?
"$B" report --callers no_such_function "$db" >"$work/text" 2>&1
[ $? = 2 ] && grep -q "no frame is called 'no_such_function'" "$work/text"
ok an_unknown_function_is_said $?
for c in lines-gcc lines-clang
do
	"$B" ingest -q --symfs "$captures/symfs" -o "$work/$c.db" "$captures/$c.data.zst" 2>/dev/null
	want=$("$B" report --inline --limit 0 --format csv "$work/$c.db" 2>/dev/null |
		awk -F, '/,inlined,/ { sum += $1 } END { printf "%.2f\n", sum }')
	"$B" report "$work/$c.db" 2>/dev/null | tail -1 |
		grep -q "^$want % is in functions that were inlined, and counts here for those that contain them; --inline shows them$"
	ok "what_is_inlined_in_a_hot_function_is_told_of_$c" $?
	! "$B" report --inline "$work/$c.db" 2>/dev/null | grep 'that were inlined' &&
		! "$B" report --no-inline "$work/$c.db" 2>/dev/null | grep 'that were inlined'
	ok "and_not_where_it_is_shown_or_left_out_of_$c" $?
done
"$B" report --callers hash_row5 --symfs "$captures/symfs" "$captures/shop.data.zst" >"$work/text" 2>&1
[ $? = 2 ] && grep -q "no frame is called 'hash_row5'; did you mean 'hash_rows'?" "$work/text"
ok and_the_nearest_one_proposed $?
grep -q 'was inlined (no debug info that was read says so) or jumped to what it called last (a tail call): a build with -g -fno-optimize-sibling-calls shows it$' "$work/text" &&
	! "$B" report --no-inline --callees no_such_function "$db" >"$work/text" 2>&1 &&
	grep -q 'was inlined (--no-inline leaves out where) or jumped to .* shows it$' "$work/text"
ok what_leaves_a_function_without_a_frame_is_told $?

# with those that the kernel told of at the end only
"$B" ingest -q --no-cache -o "$work/lost.db" "$captures/defer-lost-clock.data.zst"
lost=$("$B" check --json "$work/lost.db" | python3 -c '
import json, sys
print("{:,}".format(json.load(sys.stdin)["breaks"]["lost"]))')
"$B" report "$work/lost.db" | grep -qx "lost records: $lost"
ok the_head_counts_what_is_lost_as_check_does $?
# of damage nobody knows how much it hides: a file cut short, a hole, and a text
head -c 20000 "$captures/fp-1.data" >"$work/cut.data"
{ head -c 12000 "$captures/fp-1.data"; head -c 400 /dev/zero
	tail -c +12401 "$captures/fp-1.data"; } >"$work/hole.data"
head -c 9000 "$captures/ftext-marker-kstack.txt" >"$work/cut.txt"
for name in cut.data hole.data cut.txt
do (
	cd "$work" || exit 1
	"$B" ingest -q --no-cache -o $name.db $name 2>err
	"$B" check --json $name.db >check.json
	"$B" report --json $name.db 2>err >report.json
	for text in "check $name.db" "report $name.db" \
		"diff $name.db $name.db"
	do
		# shellcheck disable=SC2086 # words
		"$B" $text 2>err | tr -s '\n ' '  '
		echo
	done >texts
	[ "$(grep -c 'an unknown number' texts)" = 3 ] &&
		grep -q '"lost_unknown": *[1-9]' check.json &&
		grep -q '"lost_unknown": *true' report.json
)
	ok "what_damage_hides_is_not_known_to_be_nothing_$name" $?
done
fp=$work/fp.db
# no names, also where perf's cache has the program
HOME=$work "$B" ingest -q --no-cache -o "$fp" "$captures/fp-1.data"
"$B" report --callers no_such_function "$fp" >"$work/text" 2>&1
grep -q "there is '\[libleaf-fp.so\]', '\[work-fp\]'" "$work/text"
ok and_which_there_are $?
# nowhere OPTION VALUE TEXT: which there are is said where nothing matches
nowhere() {
	for c in report script "flame -o -" "export --format folded" check
	do
		# shellcheck disable=SC2086 # a command and an option
		"$B" $c "$1" "$2" "$fp" >"$work/text" 2>&1
		[ $? = 2 ] && grep -qF -e "$3" "$work/text" || return 1
	done
}
nowhere --comm fo "no thread named 'fo' here; there is perf-exec, work-fp, work-0, work-1"
ok a_name_of_no_thread $?
nowhere --tid 7,9-11 "no thread '7,9-11' here; there is 15639, 15693"
ok a_number_of_no_thread $?
nowhere --pid 7 "no process '7' here; there is 15639"
ok a_number_of_no_process $?
nowhere -C 7,9-11 "no CPU '7,9-11' here; there is none at all"
ok no_cpu_was_recorded $?
"$B" report -C 7,9-11 "$db" >"$work/text" 2>&1
[ $? = 2 ] && grep -q "no CPU '7,9-11' here; there is [0-3], [0-3]" "$work/text"
ok no_such_cpu $?
nowhere --event x,y* "no event 'x,y*' here; there is cpu-clock"
ok no_such_event $?
"$B" report --tid 5-20000 --comm 'x,work-*' "$fp" >"$work/text" 2>&1
ok what_matches_in_part_is_no_mistake $?

# names of events with commas
cat >"$work/events.txt" <<'END'
event "cpu/event=0x3c,umask=0x0/" period=10
event "cpu/event=0x3c,umask=0x1/u" period=20
event a period=1
event b period=1
event "a,b" period=1
comm pid=7 tid=7 name="prog" time=1
sample event="cpu/event=0x3c,umask=0x0/" pid=7 tid=7 cpu=0 time=1000 u=0x5000
sample event="cpu/event=0x3c,umask=0x1/u" pid=7 tid=7 cpu=0 time=1010 u=0x5000
sample event=a pid=7 tid=7 cpu=0 time=1020 u=0x5000
sample event=b pid=7 tid=7 cpu=0 time=1030 u=0x5000
sample event="a,b" pid=7 tid=7 cpu=0 time=1040 u=0x5000
END
"${MKCAP:-build/mkcap}" "$work/events.txt" "$work/events.data"
"$B" ingest -q -o "$work/events.db" "$work/events.data"
# events NAME LIST WANTED: the events that a list selects
events() {
	got=$("$B" script --event "$2" "$work/events.db" 2>&1 |
		sed -n 's/^prog .* \([^ ]*\): $/\1/p' | tr '\n' ' ')
	[ "$got" = "$3 " ] || echo "    $2: $got"
	[ "$got" = "$3 " ]
	ok "$1" $?
}
events a_name_with_commas_is_one 'cpu/event=0x3c,umask=0x0/' \
	'cpu/event=0x3c,umask=0x0/'
events and_so_in_a_list 'b,cpu/event=0x3c,umask=0x1/u' \
	'cpu/event=0x3c,umask=0x1/u b'
events and_with_wildcards 'cpu/*,umask=0x0/,a' 'cpu/event=0x3c,umask=0x0/ a'
events a_whole_name_comes_before_its_parts 'a,b' 'a,b'
events a_list_of_names 'b,a' 'a b'
"$B" report --event 'cpu/event=0x3c,umask=0x1/u' "$work/events.db" >"$work/text"
grep -q '^event: cpu/event=0x3c,umask=0x1/u, 1 sample' "$work/text"
ok report_takes_them_too $?

# forms
"$B" report --json "$db" | python3 -c '
import json, sys
rows = json.load(sys.stdin)["rows"]
sys.exit(not rows or "symbol" not in rows[0])'
ok json_is_json $?
bad=0
for o in '--sort pids' '--sort srcline --diff x y' '--sort ,' '--by time' '--limit -2' \
	'--callers a --callees b'
do
	# shellcheck disable=SC2086 # an option and its value
	"$B" report $o "$db" >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
ok wrong_options_are_wrong_usage $bad
# what would do nothing beside another option is refused, with its name
bad=
for o in '--off-cpu --by weight' '--off-cpu --inline' '--off-cpu -G' \
	'--html --sort comm' '--html --order total' '--html --no-children' \
	'--html --limit 3' '--html --json' '--callers a --sort comm' \
	'--callees a --order total' '--callers a --no-children' \
	'--diff --no-children' '--diff --callers a' '--wall --by samples' \
	'-g --callers a' '--no-inline --inline' \
	'--no-inline --fold-library'
do
	# shellcheck disable=SC2086 # options
	"$B" report $o "$db" >/dev/null 2>"$work/err"
	[ $? = 2 ] && grep -q ': leave out -' "$work/err" || bad="$bad [$o]"
done
[ -z "$bad" ] || echo "    $bad"
ok options_that_would_do_nothing_are_refused "$([ -z "$bad" ]; echo $?)"
for o in '--depth 2' '--absolute' '-o x'
do
	# shellcheck disable=SC2086 # options
	"$B" report $o "$db" >/dev/null 2>&1
	[ $? = 2 ] || bad="$bad [$o]"
done
ok and_those_that_need_another "$([ -z "$bad" ]; echo $?)"
"$B" report --no-children "$db" >"$work/text"
grep -q 'Self %' "$work/text" && ! grep -q 'Total %' "$work/text" &&
	! grep -q '^ *0\.00 *0 [^[]' "$work/text"
ok no_children_shows_self_only $?
[ "$("$B" report "$captures/fp-1.data" 2>/dev/null | wc -l)" -gt 8 ]
ok a_capture_may_be_given $?

"$B" report --no-symbols "$captures/task-exitexec.data" 2>/dev/null |
	grep -q "^code without a name: .* %; 'backstitch info .*' says why"
ok much_code_without_a_name_is_said $?

# a column that a narrow screen has no room for leaves no blanks
"$B" ingest -q -f --no-symbols -o "$work/narrow.db" $captures/defer-lost-clock.data.zst
bad=0
for columns in 30 60 80
do
	COLUMNS=$columns "$B" report "$work/narrow.db" >"$work/out" 2>&1
	[ -s "$work/out" ] && ! grep -q 'Self %.* $' "$work/out" || bad=1
done
ok the_head_of_a_narrow_table_ends_with_a_word $bad

# a table of some samples says so, whichever option chose them
"$B" ingest -qf --no-symbols -o "$work/after.db" "$root/tests/captures/after.data"
"$B" report --filter 'time_ns % 2 = 0' "$work/after.db" | grep -q '^event: cpu-clock (filtered), 242 samples' &&
	"$B" report --filter 'time_ns % 2 = 0' --json "$work/after.db" | grep -q '"filtered":true'
ok an_expression_is_a_filter $?
"$B" report --callees handle_order --limit 1 --symfs "$root/tests/captures/symfs" "$root/tests/captures/shop.data.zst" >"$work/out" 2>&1
grep -q 'more rows with .* not shown; --limit 0 shows' "$work/out" && ! grep -q 'sort dso' "$work/out"
ok what_callers_refuse_is_not_advised $?

# perf's first sample of an event with a frequency has a period of 1
cat >"$work/first.txt" <<END
event cycles freq=1000
comm pid=1 name=first
comm pid=2 name=rest
sample pid=1 tid=1 cpu=0 time=1000 period=1 ip=0x400010
sample pid=2 tid=2 cpu=0 time=2000 period=4000000000 ip=0x400020
END
"$MKCAP" "$work/first.txt" "$work/first.data"
"$B" report --no-symbols --sort comm "$work/first.data" >"$work/out" &&
	grep -q '^>99.99  *>99.99 .* rest$' "$work/out" && grep -q '^ *<0.01  *<0.01 .* first$' "$work/out"
ok almost_all_is_not_all $?
