#!/bin/sh
# check.sh - the audit says what it found, its SQL says the same, and so does its status.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/check.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=$PWD/tests/captures
man=$PWD/man/backstitch-json.5

# ends NAME STATUS ARGUMENT...: how check ends; its output is in out, err
ends() {
	name=$1 want=$2
	shift 2
	"$B" check "$@" >"$work/out" 2>"$work/err"
	got=$?
	[ "$got" = "$want" ] || {
		echo "$name: ends with $got, not $want"
		cat "$work/err"
	}
	ok "$name" "$([ "$got" = "$want" ]; echo $?)"
}

# says NAME TEXT: is a line with this text in the output?
says() {
	grep -qF -- "$2" "$work/out" || {
		echo "$1: no '$2' in:"
		cat "$work/out"
	}
	ok "$1" "$(grep -qF -- "$2" "$work/out"; echo $?)"
}

# field NAME.KEY: a number of --json in out
field() {
	python3 -c '
import json
import sys
v = json.load(open(sys.argv[1]))
for k in sys.argv[2].split("."):
    v = v[k]
print(v)' "$work/out" "$1"
}

# change DB SQL...: a copy of lost.db with other rows, as another.db
change() {
	cp "$work/lost.db" "$work/another.db"
	python3 - "$work/another.db" "$@" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
for sql in sys.argv[2:]:
    db.execute(sql)
db.commit()
END
}

cd "$work" || exit 2
for c in defer-lost-clock defer-exitexec-s ctx2-defer overwrite-defer
do
	"$B" ingest -o $c.db --no-symbols "$captures/$c.data.zst" 2>log ||
		cat log
done
mv defer-lost-clock.db lost.db
mv defer-exitexec-s.db whole.db
"$B" ingest -o plain.db --no-symbols "$captures/fp-1.data" 2>log || cat log
"$B" ingest -q -o clean.db --symfs "$captures/symfs" "$captures/clone.data.zst" >log 2>&1 || cat log

# ---- the first screen

for c in lost whole ctx2-defer overwrite-defer plain
do
	"$B" check $c.db >out 2>err
	[ "$(wc -l <out)" -le 24 ] || cat out
	ok "${c}_fits_one_screen" "$([ "$(wc -l <out)" -le 24 ] &&
		! awk 'length > 80' out | grep -q .; echo $?)"
done
ends what_is_broken_ends_with_4 4 lost.db
says the_verdict_comes_first 'lost.db: broken: 382 requests without their user'
says all_requests_are_counted \
	'4,543 user stacks: 4,530 later by cookie, 13 at once (refused)'
says and_the_joined '4,129 of 4,530 (91.15 %), 171 after their chain'
says each_verdict_has_its_number_and_word '382 chain_lost: records were lost'
says even_the_harmless_ones '19 pending_end: the thread was still'
says images_with_one_frame_are_named 'only one frame: libc.so.6 342'
says chains_are_counted '1,996 used, 23 sample_lost, 3 duplicate'
says losses_have_a_place '2,894 in 100 gaps'
says and_there_is_advice 'larger buffers: perf record -m'
ends what_is_clean_ends_with_0 0 clean.db
says and_says_so 'clean.db: clean: nothing lost, nothing out of order'
"$B" ingest -q --symfs "$root/tests/captures/symfs" -o part.db "$root/tests/captures/hits-group2.data.zst" 2>/dev/null
# 87 of 89 are whole: now of 129
python3 - <<'END'
import sqlite3

db = sqlite3.connect("part.db")
db.execute("UPDATE internal_user_trust SET n = 41 WHERE judged = 'one frame'")
db.commit()
END
ends what_is_clean_and_partly_whole_ends_with_0 0 part.db
is and_says_which_part_first 'part.db: clean: nothing lost, nothing out of order, 67.44 % of the user stacks are whole' \
	"$(tr -s '\n ' '  ' <out | sed 's/ are whole.*/ are whole/')"
ends nothing_is_clean_that_nobody_checked 0 whole.db
says and_that_is_said 'whole.db: doubtful: nothing lost, but '
ends a_capture_without_requests_is_checked_too 0 plain.db
says and_has_a_short_screen 'plain.db: doubtful: nothing lost, but no user stack is known to be whole'
ok of_few_lines "$([ "$(wc -l <out)" -le 7 ]; echo $?)"
ends a_cookie_without_room_breaks 4 ctx2-defer.db
says and_names_the_sysctl kernel.perf_event_max_contexts_per_stack
mkdir empty
cd empty || exit 2
ends no_input_is_wrong_usage 2
cd ..

# ---- color

esc=$(printf '\033')
"$B" check lost.db >out
ok no_color_means_none "$([ -s out ] && ! grep -q "$esc" out; echo $?)"
"$B" check --color always lost.db >out
ok broken_is_red "$(grep -qF "${esc}[31mbroken" out; echo $?)"
"$B" check --color always clean.db >out
ok clean_is_green "$(grep -qF "${esc}[32mclean" out; echo $?)"

# ---- thresholds

"$B" check --json lost.db >out
lost=$(field breaks.lost)
broken=$(($(field breaks.requests) + $(field breaks.chains)))
records=$(python3 -c '
import json
import sys
print(json.load(open(sys.argv[1]))["captures"][0]["records"])' out)
ends both_limits_make_it_clean 0 --max-loss "$lost" --max-unjoined $broken \
	lost.db
says and_the_verdict_still_names_them 'doubtful: within what is tolerated'
ends one_unjoined_too_many 4 --max-loss "$lost" \
	--max-unjoined $((broken - 1)) lost.db
ends one_record_too_many 4 --max-loss $((lost - 1)) \
	--max-unjoined $broken lost.db
ends a_loss_tolerated_breaks_stacks_still 4 --max-loss 100% lost.db
ends everything_is_100_percent 0 --max-loss 100% --max-unjoined 100% lost.db
# the share with three places, rounded up and down
share=$(awk "BEGIN { printf \"%d\", 100000 * $lost / ($records + $lost) }")
ends a_share_just_enough 0 --max-unjoined 100% --max-loss \
	"$(awk "BEGIN { printf \"%.3f\", ($share + 1) / 1000 }")%" lost.db
ends a_share_not_enough 4 --max-unjoined 100% --max-loss \
	"$(awk "BEGIN { printf \"%.3f\", ($share - 1) / 1000 }")%" lost.db
ends loss_is_told_from_unjoined 4 --max-unjoined $broken lost.db
for bad in x '' 5x -1 1.5 % 101% 100.5% 1e3 99999999999999999999
do
	"$B" check --max-loss "$bad" lost.db >out 2>err
	ok "max_loss_'$bad'_is_wrong_usage" "$([ $? = 2 ] &&
		grep -q -e '--max-loss' err; echo $?)"
done
ends a_share_of_filtered_records_is_not_known 2 --max-loss 1% -C 1 lost.db
ends sql_and_json_are_two_questions 2 --sql --json lost.db
ends rows_cannot_be_negative 2 --limit -3 lost.db

# ---- what is in the nature of the recording, and what is not

matched="(SELECT id FROM word WHERE kind = 'request' AND name = 'matched')"
used="(SELECT id FROM word WHERE kind = 'chain' AND name = 'used')"
none="DELETE FROM loss"
healed="UPDATE request SET verdict = $matched"
healed_too="UPDATE chain SET verdict = $used"
change "$none" "$healed" "$healed_too"
ends no_breach_is_clean 0 another.db
for v in pending_end exit_per_task refused
do
	change "$none" "$healed" "$healed_too" "UPDATE request SET verdict =
		(SELECT id FROM word WHERE kind = 'request' AND name = '$v')
		WHERE event = (SELECT min(event) FROM request)"
	ends "a_request_that_is_${v}_is_no_error" 0 another.db
done
for v in chain_lost unjoinable stripped unexplained unwinder_died
do
	change "$none" "$healed" "$healed_too" "UPDATE request SET verdict =
		(SELECT id FROM word WHERE kind = 'request' AND name = '$v')
		WHERE event = (SELECT min(event) FROM request)"
	ends "one_request_that_is_${v}_is" 4 another.db
	says "and_${v}_is_told" "1 $v: "
done
for v in foreign duplicate
do
	change "$none" "$healed" "$healed_too" "UPDATE chain SET verdict =
		(SELECT id FROM word WHERE kind = 'chain' AND name = '$v')
		WHERE id = 1"
	ends "a_chain_that_is_${v}_is_no_error" 0 another.db
done
for v in sample_lost overwritten unjoinable unexplained
do
	change "$none" "$healed" "$healed_too" "UPDATE chain SET verdict =
		(SELECT id FROM word WHERE kind = 'chain' AND name = '$v')
		WHERE id = 1"
	ends "one_chain_that_is_${v}_is" 4 another.db
done
for what in throttled filtered lost_total aux
do
	change "$none" "$healed" "$healed_too" \
		"INSERT INTO loss(capture, what, counts) VALUES (1, '$what', 0)"
	ends "${what}_is_no_loss" 0 another.db
done
for what in overwritten damage
do
	change "$none" "$healed" "$healed_too" \
		"INSERT INTO loss(capture, what, counts) VALUES (1, '$what', 0)"
	ends "${what}_is_one_of_unknown_size" 4 another.db
	says "and_says_so_($what)" 'an unknown number of records'
	ends "which_no_number_tolerates_($what)" 4 --max-loss 1000000 another.db
	ends "but_100_percent_does_($what)" 0 --max-loss 100% another.db
done
for row in "'round', 0" "'late', 4" "'regress', 4"
do
	what=${row%,*}
	change "$none" "$healed" "$healed_too" "DELETE FROM ordering" \
		"INSERT INTO ordering(capture, what, n) VALUES (1, $what, 1)"
	ends "order_${what}_gives${row#*,}" "${row#*, }" another.db
done
for breaks in 0 1
do
	change "$none" "$healed" "$healed_too" "DELETE FROM internal_finding" \
		"INSERT OR REPLACE INTO internal_rule VALUES
		(900, 'odd', 'something is odd', $breaks)" \
		"INSERT INTO internal_finding(rule, capture, n) VALUES (900, 1, 1)"
	ends "a_finding_counts_by_its_rule_($breaks)" $((breaks * 4)) another.db
	says "and_is_told_($breaks)" '1 odd: something is odd'
done
change "DELETE FROM internal_finding" "INSERT OR REPLACE INTO internal_rule VALUES
	(900, 'odd', 'x', 1), (901, 'even', 'x', 0)" \
	"INSERT INTO internal_finding(rule, capture, n) VALUES (900, 1, 1), (901, 1, 1)" \
	"INSERT INTO ordering(capture, what, n) VALUES (1, 'late', 1)"
"$B" check --json another.db >out
python3 - "$work" <<'END'
import json
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1] + "/another.db")
have = dict(db.execute("SELECT kind, count(*) FROM causality_errors GROUP BY 1"))
want = json.load(open(sys.argv[1] + "/out"))["breaks"]
same = (have["request"] == want["requests"] and have["chain"] == want["chains"]
        and have["finding"] == want["findings"] == 1
        and have["ordering"] == want["out_of_order"] == 1)
print("ok" if same else "not ok", "causality_errors_is_what_breaks")
END

# ---- cookies

change "INSERT OR REPLACE INTO cookies VALUES (1, 'kernel', NULL, 401, 26, 400)" \
	"DELETE FROM cookie_gap" "DELETE FROM cookie_cpu" \
	"INSERT INTO cookie_cpu VALUES (1, 0, 1, 9, 5, 400, 2, 0, 0, 0)" \
	"INSERT INTO cookie_gap SELECT NULL, 1, 0, 3, 390, 1, 2, id, 1
	FROM word WHERE kind = 'gap' AND name = 'lost'" \
	"INSERT INTO cookie_gap SELECT NULL, 1, 0, 3, 10, 1, 2, id, NULL
	FROM word WHERE kind = 'gap' AND name = 'uncounted'"
"$B" check another.db >out
says cookies_are_reconciled '401 sample-only + 400 missing = 801; the kernel'
says what_losses_do_not_explain_is_said \
	'losses explain 390, nothing explains 10'
change "INSERT OR REPLACE INTO cookies
	VALUES (1, 'kernel', 'only some tasks', 401, 26, 400)"
"$B" check another.db >out
says or_why_it_proves_nothing 'not provable: 400 counters: only some tasks'

change "INSERT OR REPLACE INTO cookies VALUES (1, 'kernel', NULL, 0, 0, 0)"
"$B" check another.db >out
says nothing_missing_is_one_line 'each has its chain, no counter is missing'

# ---- what others would have shown

kind() {	# the id of a word of as_perf
	echo "(SELECT id FROM word WHERE kind = 'as_perf' AND name = '$1')"
}
chain_lost="(SELECT id FROM word WHERE kind = 'request' AND name = 'chain_lost')"
change "UPDATE request SET as_perf = NULL, held_ns = NULL, as_tid = NULL" \
	"UPDATE request SET as_perf = $(kind merged), held_ns = 5, as_tid = chain
	WHERE chain IS NOT NULL" \
	"UPDATE request SET as_perf = $(kind bare), held_ns = 7000000 WHERE
	cookie IS NOT NULL AND (chain IS NULL OR flags & 1)" \
	"UPDATE request SET loss = 1 WHERE verdict = $chain_lost" \
	"UPDATE request SET flags = (flags & ~256) | 256 * (event % 2)" \
	"UPDATE request SET as_tid = chain + 1 WHERE flags & 1" \
	"UPDATE request SET as_tid = 1 WHERE verdict = $chain_lost"
COLUMNS=200 "$B" check --as-perf --as-tid another.db >out
says perf_is_compared_with '4,530 requests = 3,958 joined by perf + 171 joined only by us + 401 whose chain is not in the file (382 with a loss window, 19 pending at the end), 0 unexplained'
says and_how_long_it_waits 'holds one back for 7.00 ms'
says the_next_chain_of_a_thread_is_wrong ' + 553 with a wrong stack + 19 with none'
says a_wrong_stack_is_printed 'wrong: /'
ok beside_the_true_one "$([ "$(grep -c ' true: ' out)" = 3 ] &&
	grep -q 'true: not in the file (chain_lost)' out; echo $?)"
cp another.db lost.db

# ---- JSON, and the SQL behind it

cat >same.py <<'END'
"""Runs what --sql prints and compares with --json, name by name."""
import json
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
said = json.load(open("json"))
names = []
for part in open("sql").read().split("\n\n"):
    if not part.strip():
        continue
    head, sql = part.strip().split("\n", 1)
    assert head.startswith("-- ") and sql.endswith(";"), head
    name = head[3:].split(":")[0]
    names.append(name)
    cursor = db.execute(sql)
    columns = [c[0] for c in cursor.description]
    rows = [dict(zip(columns, r)) for r in cursor]
    want = said[name] if isinstance(said[name], list) else [said[name]]
    if rows != want:
        sys.exit("%s: SQL gives %s, JSON %s" % (name, rows[:3], want[:3]))
about = {"database", "verdict", "clean", "status", "tolerated", "filtered", "advice",
         "user_stacks", "user_stacks_by_class", "user_stacks_by_walk", "kernel_stacks_by_class", "version"}
if set(said) - about != set(names):
    sys.exit("not of both: %s" % (set(said) ^ set(names)))
END

# same NAME ARGUMENT...
same() {
	name=$1
	shift
	"$B" check --json "$@" >json 2>err
	"$B" check --sql --verbose "$@" >sql 2>err
	python3 same.py lost.db
	ok "$name" $?
}
same the_sql_gives_the_numbers_of_json --as-perf --as-tid lost.db
same limited_too --as-perf --as-tid --limit 3 lost.db
same with_filters_too --as-perf --as-tid --comm "wl,o'x,t-*" --time 20%-70% \
	-C 0-2 lost.db
same by_event --as-perf --as-tid --event cpu-clock lost.db
same by_cpu --as-perf --as-tid -C 1 lost.db

# ---- work: twice as many stacks that cannot be, at most three times the steps

for n in 300 600
do
	echo "event cpu-clock
		event maps output
		comm pid=7 tid=7 name=prog exec time=10 cpu=0
		mmap pid=7 tid=7 time=20 cpu=0 start=0x500000 len=0x100000 pgoff=0 path=/none" >many.txt
	i=0
	while [ $((i += 1)) -le $n ]
	do
		printf 'sample pid=7 tid=7 cpu=0 time=%d u=0x%x,0x10\n' \
			$((1000 + i)) $((0x500000 + i))
	done >>many.txt
	"$MKCAP" many.txt many.data &&
		"$B" ingest -q -o many$n.db many.data 2>err
done
"$B" check --sql --verbose many300.db >sql
python3 - <<'END'
import sqlite3

def steps(db, sql):
    """The work for a statement, in hundreds of steps of SQLite's machine, and its rows."""
    n = 0

    def count():
        nonlocal n
        n += 1

    con = sqlite3.connect(db)
    con.set_progress_handler(count, 100)
    rows = con.execute(sql).fetchall()
    return n, len(rows)

bad = []
told = set()
for part in open("sql").read().split("\n\n"):
    if not part.strip():
        continue
    name, sql = part.strip().split("\n", 1)
    few, rows = steps("many300.db", sql)
    many, _ = steps("many600.db", sql)
    if rows:
        told.add(name[3:].split(":")[0])
    if many > 3 * few + 10:
        bad.append("%s: %d steps, then %d" % (name, few, many))
if "bogus_list" not in told:
    bad.append("nothing is bogus")
for line in bad:
    print("#", line)
print("not ok" if bad else "ok", "work_grows_as_the_stacks_do")
END

"$B" check --json --as-perf --as-tid lost.db >out
python3 - "$man" <<'END'
import json
import re
import sys

page = open(sys.argv[1]).read().split("\n.Sh CHECK\n")[1].split("\n.Sh ")[0]
said = json.load(open("out"))
keys = []
for line in re.findall(r"^\.It (Va .*)$", page, re.M):
    keys += [w for w in line.split() if w not in ("Va", ",")]
print("ok" if sorted(keys) == sorted(said) else "not ok",
      "the_manual_has_every_name_of_json")
words = set(re.findall(r"[a-z_][a-z0-9_]*", page))
missing = []
for name, v in said.items():
    for row in v[:1] if isinstance(v, list) else [v]:
        if isinstance(row, dict):
            missing += [name + "." + k for k in row if k not in words]
verdicts = {"matched", "used", "chain_lost", "exit_per_task", "pending_end",
            "unjoinable", "refused", "stripped", "unexplained", "sample_lost",
            "overwritten", "duplicate", "before_opt_in", "in_unwinder",
            "unwinder_died", "empty"}
missing = [m for m in missing if m.split(".")[1] not in verdicts]
print("\n".join(missing))
print("ok" if not missing else "not ok", "and_every_column")
bad = [r["cookie"] for r in said["unjoined_requests"]
       if not re.match("0x[0-9a-f]+$", r["cookie"])]
print("ok" if said["unjoined_requests"] and not bad else "not ok",
      "cookies_are_hex_strings")
END

"$B" check --json whole.db >one
"$B" check --json --no-symbols "$captures/defer-exitexec-s.data.zst" >two
python3 - <<'END'
import json

one, two = json.load(open("one")), json.load(open("two"))
one["database"] = two["database"]
print("ok" if one == two else "not ok", "a_capture_gives_what_its_database_gives")
END

# ---- filters

"$B" check --json --tid 605 lost.db >out
a=$(field requests.requests)
b=$("$B" query --format csv lost.db "SELECT count(*) FROM samples
	WHERE tid = 605 AND verdict IS NOT NULL" | tail -n 1 | tr -d '\r')
ok filters_narrow_the_requests "$([ "$a" = "$b" ] && [ "$a" -gt 0 ]; echo $?)"
ends and_the_status 0 --time ,210.3 lost.db
ends with_a_note 4 --comm wl lost.db
says about_what_is_left_out 'left out'
python3 -c '
import json
import subprocess
import sys
out = subprocess.run([sys.argv[1], "check", "--json", "--comm", "wl",
                      "lost.db"], stdout=subprocess.PIPE).stdout
have = json.loads(out)
gone = {"losses", "cookies", "damage", "captures"} & set(have)
print("not ok" if gone or "chains" not in have else "ok",
      "what_is_left_out_is_not_in_json")' "$B"

# ---- evidence, and names that command a terminal

"$B" check --verbose --limit 2 lost.db >out
says evidence_is_limited 'and 399 more'
says and_names_the_loss '; loss 1: 45 lost on CPU 0'
"$B" check --verbose --limit 0 lost.db >out
ok or_whole "$([ "$(grep -c ': pending_end' out)" = 19 ]; echo $?)"
# a stack that has a fabricated frame twice is one sample, not two
"$B" ingest -q --symfs "$captures/symfs" -o bogus.db "$captures/z-defer.data" \
	2>err
python3 - bogus.db >counted <<'END'
import collections
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
# what a fabricated frame called is the same one
for stack, pos in db.execute("SELECT stack, pos FROM bogus_frames"
                             " WHERE pos > 1").fetchall():
    db.execute("UPDATE stack_path SET frame = (SELECT frame FROM stack_path"
               " WHERE stack = ?1 AND pos = ?2) WHERE stack = ?1 AND"
               " pos = ?2 - 1", (stack, pos))
db.execute("UPDATE internal_stack_check SET first = first - 1"
           " WHERE bogus AND first > 1")
db.commit()
seen = collections.defaultdict(dict)
rows = 0
for stack, symbol, off, samples in db.execute(
        "SELECT stack, coalesce(symbol, ''), off, samples FROM bogus_frames"):
    seen[symbol or off][stack] = samples
    rows += samples
once = {name: sum(of.values()) for name, of in seen.items()}
if sum(once.values()) == rows:
    sys.exit("no stack has a frame twice")
for name, n in sorted(once.items()):
    print(name, n)
END
"$B" check --verbose --limit 0 --full-names bogus.db | sed -n \
	's/^ *\(.*\) in [^ ]*: no_c[a-z]*, in \([0-9]*\) samples$/\1 \2/p' |
	sort >out
sort counted | cmp -s - out
ok evidence_counts_samples_and_not_frames $?

# what lacks its caller is one number, in whatever output
for o in '' --no-infer-callers
do
	# shellcheck disable=SC2086 # an option, or none
	"$B" ingest -q -f $o --symfs "$captures/symfs" --kallsyms \
		"$captures/shop.kallsyms" -o callers.db \
		"$captures/shop.data.zst" 2>err
	for c in check report info
	do
		"$B" $c --json callers.db >$c.json 2>err || [ $? = 4 ]
	done
	"$B" check callers.db >check.text
	"$B" report callers.db >report.text 2>err
	python3 - "$o" <<'END'
import json
import re
import sys

check, report, info = (json.load(open(f"{name}.json"))
                       for name in ("check", "report", "info"))
event = report["event"]
got = {r["class"]: r["samples"] for r in report["user_stacks_by_class"]}
lacks = got.get("caller missing", 0)
bad = (lacks > 100) != (sys.argv[1] != "")
for whole in check, info:
    bad |= got != {r["class"]: r["samples"] for r in whole["trust"]
                   if r["event"] == event}
# nothing else counts what is missing
bad |= "missing" in " ".join([*check["callers"], *check["callsites"]])
share = "%.2f %% lack the innermost caller" % (100 * lacks / sum(got.values()))
for name in "check", "report":
    text = re.sub(r"\s+", " ", open(name + ".text").read())
    bad |= (share in text) != (lacks > 0)
if bad:
    print(event, got, share, check["trust"])
sys.exit(bad)
END
	ok "one_number_lacks_the_caller$o" $?
done

change "UPDATE comm SET name = 'a' || char(27) || '[31m' || char(10) || 'b'" \
	"UPDATE capture SET path = char(27)" \
	"UPDATE loss SET what = char(27) WHERE id = 1" \
	"UPDATE image SET path = '/' || char(155) || char(8238)" \
	"UPDATE damage SET what = char(27), detail = char(27)"
for o in --json --verbose '--verbose --as-tid'
do
	# shellcheck disable=SC2086 # options
	"$B" check $o another.db >out 2>err || [ $? = 4 ] || cat err
	ok "no_name_commands_the_terminal_($o)" "$(! grep -q "$esc" out &&
		[ -s out ]; echo $?)"
done

# ---- nothing to judge

if [ -x "$MKCAP" ]
then
	printf '%s\n' 'event cpu-clock' 'comm pid=7 name=app' >bare.txt
	"$MKCAP" bare.txt bare.data && "$B" check bare.data >out
	says without_samples_there_are_none 'There are no samples.'
	printf 'sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffff81000010\n' >>bare.txt
	"$MKCAP" bare.txt bare.data && "$B" check bare.data >out
	says one_of_the_kernel_hit_no_user_mode 'No user stack was recorded: no sample hit user mode, or only stacks of the'
fi

# ---- damage

size=$(wc -c <"$captures/fp-1.data")
head -c $((size / 2)) "$captures/fp-1.data" >cut.data
"$B" check --json --no-symbols cut.data >out 2>err
status=$?
want=3
[ "$(field breaks.lost_unknown)" = 0 ] || want=4
ok damage_is_status_3_unless_it_lost_records "$([ $status = $want ] &&
	[ "$(field status)" = $want ]; echo $?)"
ends damage_alone_is_status_3 3 --max-loss 100% --no-symbols cut.data
says and_the_verdict_is_damaged 'cut.data: damaged: part of the input'

# a text of ftrace that lost records without their number
cat >ring.txt <<'END'
            work-200     [000] d....     1.010010: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=other next_pid=100 next_prio=120
CPU:0 [LOST EVENTS]
           other-100     [000] d....     1.020000: sched_switch: prev_comm=other prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
END
"$B" check ring.txt >out 2>/dev/null
grep -q 'buffer_size_kb' out && ! grep -q 'perf record' out
ok advice_for_a_text_of_ftrace_is_its_own $?
grep -q '^  lost         an unknown number in 1 gap$' out
ok check_does_not_say_0_in_a_gap $?
{
	printf '# entries-in-buffer/entries-written: 3/3   #P:1\n'
	printf '            work-200     [000] d....     1.000010: sched_waking: comm=other pid=100 prio=120 target_cpu=000\n'
	cat ring.txt
} >rung.txt
"$B" path --tid 100 --time 1,2 rung.txt >out 2>/dev/null
grep -q '^to know more: larger buffers: echo 20000 >buffer_size_kb' out
ok path_has_the_advice_for_a_text_too $?
cat >hole.txt <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 3/3   #P:1
#
            work-200     [000] d....     1.010000: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=R ==> next_comm=other next_pid=100 next_prio=120
            work-200     [000] d....     1.020000: sched_switch: prev_comm=work prev_pid=200 prev_prio=120 prev_state=S ==> next_comm=other next_pid=100 next_prio=120
           other-100     [000] d....     1.030000: sched_switch: prev_comm=other prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=work next_pid=200 next_prio=120
END
"$B" page -o hole.html hole.txt 2>/dev/null
grep -q 'not provable: 1 *finding' hole.html &&
	grep -q '<b>1</b> finding, not proved' hole.html
ok the_page_has_one_number_of_findings $?
"$B" page -o ring.html ring.txt 2>/dev/null
grep -q '<b>1</b> loss of an unknown number' ring.html &&
	! grep -q '<b>0</b> record' ring.html
ok the_page_does_not_count_0_records_and_more $?
# a database that says that more was lost than a sum can be
change "UPDATE loss SET n = 9223372036854770000 WHERE id =
	(SELECT min(id) FROM loss WHERE n > 0)"
ends a_loss_beyond_all_counts_is_a_loss 4 --max-loss 50% another.db
! grep -q 'runtime error' err
ok and_overflows_no_sum $?

# of fifty parts of a capture that lost nothing none has anything
{
	printf '%s\n' 'event cpu-clock period=1000' 'comm pid=10 name=a'
	for i in 1 2 3
	do
		echo "sample pid=10 tid=10 cpu=0 time=${i}000 u=0x400010"
	done
} >"$work/kept.txt"
"$MKCAP" "$work/kept.txt" "$work/kept.data" && COLUMNS=120 "$B" check --verbose "$work/kept.data" >"$work/out" 2>&1 &&
	! grep -q 'in time' "$work/out"
ok no_loss_has_no_place_in_time $?
# nor has one of two hosts a place in the time of both
for capture in shop.data.zst naps.data
do
	"$B" ingest -q --no-symbols -o "$work/${capture%%.*}.db" "$captures/$capture"
done
COLUMNS=120 "$B" check "$work/shop.db" >"$work/out" 2>"$work/err"
says losses_of_one_host_have_one_time 'in time '
COLUMNS=120 "$B" check "$work/shop.db" "$work/naps.db" >"$work/out" 2>"$work/err"
! grep -q 'in time ' "$work/out" && grep -q ' 2,091 of 6,179 records' "$work/out"
ok losses_of_two_hosts_have_none $?

# a chain without a sample: a segment may begin inside a stay
"$MKCAP" "$root/tests/cases/chain_that_nobody_here_asked_for/capture.txt" "$work/late.data" &&
	"$B" check --no-symbols "$work/late.data" 2>&1 | tr -s '\n ' ' ' | grep -q 'give all files of perf record --switch-output together'
ok a_chain_may_be_of_the_file_before $?

# without all switches nothing is said of effects without a cause, with a filter neither
"$B" check --time 0,9999999 "$root/tests/captures/naps.data" >"$work/out" 2>&1
grep -q '^  findings     none, but whether switches are missing is not judged' "$work/out"
ok what_is_not_judged_has_no_causes_with_a_filter $?
"$B" check --cgroup / "$root/tests/captures/cgroups.data" 2>&1 | grep -q '^  filtered     chains, losses, findings, order,'
ok a_cgroup_leaves_out_chains_and_findings $?

# damage is told of, whatever notes the captures before it have
head -c 30000 "$root/tests/captures/after.data" >"$work/short.data"
"$B" ingest -f --no-symbols --separate -o "$work/noted.db" "$root/tests/captures/ftrace-buffers.dat" "$work/short.data" 2>&1 |
	grep -q 'damage .*file ends here'
ok damage_behind_notes_is_told_of $?

# a loss that may be in the chosen time, or on the chosen CPU, counts
echo 'lost n=3 cpu=0 time=2500' >>"$work/kept.txt"
"$MKCAP" "$work/kept.txt" "$work/kept.data" && "$B" ingest -qf --no-symbols -o "$work/kept.db" "$work/kept.data"
for what in "t1 --time 0,9" "cpu -C 0"
do
	cp "$work/kept.db" "$work/open.db"
	sqlite3 "$work/open.db" "UPDATE loss SET ${what%% *} = NULL"
	# shellcheck disable=SC2086 # an option and its value
	"$B" check ${what#* } "$work/open.db" >"$work/out" 2>&1
	[ $? = 4 ] && grep -q '3 records lost' "$work/out"
	ok "a_loss_with_an_unknown_${what%% *}_is_not_left_out" $?
done

# the sums of a server do not have the gaps, nor whether switches are missing
"$B" ingest -qf --no-symbols -o "$work/sums.db" "$root/tests/captures/naps.data" && sqlite3 "$work/sums.db" <"$root/schema/sql/served.sql"
"$B" check --max-gaps 1% "$work/sums.db" >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q 'of the whole capture, which a server does not have' "$work/err"
ok gaps_of_a_server_are_not_judged $?
"$B" check "$work/sums.db" | grep -q '^  findings     none$'
ok a_server_does_not_say_that_all_effects_have_causes $?

"$B" check --min-whole 000000000000000000000000000090 "$work/sums.db" >"$work/out" 2>&1
[ $? = 4 ] && grep -q '^[^ ]*: broken: ' "$work/out"
ok a_share_with_many_digits_is_not_cut_off $?

# there is no share of a time that was not recorded, and nothing in it that is clean
"$B" ingest -q --no-symbols -o "$work/notime.db" "$root/tests/captures/notime-defer.data.zst"
"$B" check --time 0%-10% "$work/notime.db" >"$work/out" 2>"$work/err"
[ $? = 2 ] && [ ! -s "$work/out" ] && grep -q 'the capture has no times' "$work/err"
ok a_share_of_no_time_is_refused $?
bad=0
for t in 1,2 99999,100000
do
	"$B" check --time $t "$work/notime.db" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && grep -q 'the capture has no times' "$work/err" || bad=1
	"$B" check --json --time $t "$root/tests/captures/after.data" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && [ ! -s "$work/out" ] && grep -q 'nothing was recorded then' "$work/err" || bad=1
done
all=$(sed -n "s/.*'--time \(.*\)' is all that was.*/\1/p" "$work/err")
"$B" check --time "$all" "$root/tests/captures/after.data" >"$work/out" 2>"$work/err"
[ $? = 2 ] && bad=1
ok a_time_in_which_nothing_was_recorded_is_not_clean $bad
