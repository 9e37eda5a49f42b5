#!/bin/sh
# flame.sh - pictures are well-formed and whole: what goes in is in the widths.
# usage: BACKSTITCH=build/backstitch tests/cli/flame.sh
# Without sanitizers: bundle.sh, offcpu.sh and report.sh run flame under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# svg FILE QUESTION: what an XML parser finds in a picture
svg() {
	python3 - "$1" "$2" <<'END'
import sys
import xml.etree.ElementTree as ET

N = "{http://www.w3.org/2000/svg}"
root = ET.parse(sys.argv[1]).getroot()
frames = list(root.find(".//*[@id='frames']"))
weight = [int(g.get("data-w")) for g in frames]
name = [g.find(N + "title").text.split("\n")[0] for g in frames]
y = [float(g.find(N + "rect").get("y")) for g in frames]
question = sys.argv[2]
if question == "sum":
    print(weight[0])
elif question == "foreign":
    # scripts, links and event handlers that are not ours
    bad = 0
    for e in root.iter():
        bad += any(a.split("}")[-1].lower().startswith(("on", "href"))
                   for a in e.attrib)
        bad += e.tag.split("}")[-1] in ("a", "image", "use", "animate")
    bad += sum(1 for e in root.iter(N + "script")) != 1
    print(bad)
elif question == "order":
    print("down" if y[0] < y[1] else "up")
elif question == "inferred":
    # the share of all, added up from those of the frames
    part = 0
    for g, n, w in zip(frames, name, weight):
        told = [x for x in g.find(N + "title").text.split("\n")
                if x.startswith("inferred from the code, not recorded: ")]
        assert bool(told) == ("inferred" in g.get("class").split())
        part += w * float(told[0].split()[-4]) / 100 if told else 0
    print("%.2f %%" % (100 * part / weight[0]))
elif question == "hatched":
    print(sum(w for g, w in zip(frames, weight) if g.get("class") == "m"))
else:
    print(sum(question == n for n in name))
END
}

folded_sum() {
	awk '{ sum += $NF } END { printf "%.0f\n", sum }' "$1"
}

# every shipped capture: the same sum in the database, the text, the picture
python3 - "$B" "$work" "$captures"/*.data "$captures"/*.data.zst <<'END'
import os
import sqlite3
import subprocess
import sys
import xml.etree.ElementTree as ET

sys.path.insert(0, "tests")
import folded

program, work = sys.argv[1:3]


def run(*args):
    return subprocess.run([program, *args], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def draw(db, *args):
    return ET.fromstring(run("flame", "--minwidth", "0", *args, db))


def whole(picture):
    """The sum, and how many frames are not side by side, inside their parents,
    in every row."""
    bad, row, all_of = 0, {}, None
    for g in picture.find(".//*[@id='frames']"):
        s, w = int(g.get("data-s")), int(g.get("data-w"))
        y = float(g.find(folded.SVG + "rect").get("y"))
        all_of = all_of or (s, w)
        bad += s < row.get(y, 0)
        row[y] = s + w
        bad += s + w > sum(all_of)
    return all_of[1], bad


def ok(name, good):
    print("ok" if good else "not ok", name)


for path in sys.argv[3:]:
    name = os.path.basename(path).partition(".data")[0]
    db = os.path.join(work, name + ".db")
    run("ingest", "-q", "--no-symbols", "-o", db, path)
    weight = bad = want = None
    try:
        with sqlite3.connect("file:%s?mode=ro" % db, uri=True) as c:
            event, want, count = c.execute(
                "SELECT event, sum(weight), count(*) FROM samples GROUP BY 1"
                " ORDER BY 2 DESC, 1 LIMIT 1").fetchone()
        text = run("export", "--format", "folded", "--event", event, db)
        text = sum(int(line.rpartition(b" ")[2]) for line in text.splitlines())
        weight, bad = whole(draw(db, "--event", event))
        samples = sum(folded.stacks(draw(
            db, "--by", "samples", "--event", event)).values())
    except Exception as e:
        print("#", name, repr(e))
    ok("no_weight_is_lost_in_" + name,
       want is not None and text == weight == want and samples == count)
    ok("frames_lie_side_by_side_in_" + name, bad == 0)
END

# missing user halves
db=$work/overwrite-defer.db
want=$(one "$db" "SELECT coalesce(sum(weight), 0) FROM samples
	WHERE user_stack IS NULL AND verdict IS NOT NULL")
folded "$db" | grep '\[user: ' | grep -v 'after exec' \
	>"$work/missing"
[ "$want" -gt 0 ] && [ "$(folded_sum "$work/missing")" = "$want" ]
ok every_missing_user_half_is_a_frame $?
"$B" flame --minwidth 0 "$db" >"$work/svg"
grep '<desc ' "$work/svg" | grep -q 'user stack' && ! grep '<desc ' "$work/svg" | grep -q '[^.]\.\.[^.]'
ok the_description_is_of_sentences $?
exec=$(folded "$db" | grep 'after exec' | folded_sum /dev/stdin)
[ "$(svg "$work/svg" hatched)" = "$((want + exec))" ]
ok missing_user_halves_are_hatched $?
db=$work/defer-exitexec-s.db
n=$(one "$db" "SELECT count(*) FROM request WHERE flags & 2 AND
	uraw IS NOT NULL")
folded --by samples --event '*' "$db" 2>/dev/null |
	grep 'after exec' >"$work/exec"
[ "$n" -gt 0 ] && [ "$(folded_sum "$work/exec")" = "$n" ]
ok a_stack_taken_after_exec_is_marked $?

# missing callers, as trust, tables, pictures and texts have them
callerless() {	# callerless DB: weight in the picture, the text and the view
	folded "$1" | grep -F ';[caller missing];' | folded_sum /dev/stdin
	"$B" export --format folded "$1" | grep -F ';[caller missing];' |
		folded_sum /dev/stdin
	one "$1" "SELECT sum(weight) FROM folded
		WHERE stack LIKE '%;[caller missing];%'"
}
"$B" ingest -q --no-infer-callers --symfs "$captures/symfs" \
	-o "$work/callers.db" "$captures/shop.data.zst" >/dev/null 2>&1
lacking() {	# lacking DB: weight of the class
	one "$1" "SELECT coalesce(sum(g.weight), 0) FROM sample_group g
		JOIN internal_judged j ON j.stack = g.user
		JOIN word w ON w.kind = 'judged' AND w.id = j.class
		WHERE w.name = 'caller missing'"
}
want=$(lacking "$work/callers.db")
callerless "$work/callers.db" >"$work/got"
[ "$want" -gt 0 ] && printf '%s\n' "$want" "$want" "$want" |
	cmp -s - "$work/got"
ok every_missing_caller_is_a_frame $?
"$B" flame "$work/callers.db" >"$work/svg"
grep -q 'the caller of the function inside of it was not recorded' "$work/svg"
ok and_says_what_it_is $?
! grep -q 'samples of [^<]*, filtered' "$work/svg" &&
	"$B" flame --comm shop "$work/callers.db" |
	grep -q 'samples of [^<]*, filtered'
ok only_what_is_filtered_says_so $?
! "$B" report --limit 0 "$work/callers.db" | grep -qF 'caller missing]'
ok it_is_no_function_of_the_table $?
"$B" report --callers '[caller missing]' --limit 0 --format csv "$work/callers.db" 2>/dev/null |
	python3 -c '
import csv, sys
print(sum(int(r["weight"]) for r in csv.DictReader(sys.stdin)))' >"$work/got"
[ "$(cat "$work/got")" = "$want" ]
ok but_its_callers_are_told $?
# a table of callers goes on behind it, as the stacks do
for way in callers callees
do
	python3 - "$B" $way "$work/callers.db" <<'END'
import collections
import csv
import subprocess
import sys

b, way, db = sys.argv[1:]
want = collections.defaultdict(collections.Counter)
for line in subprocess.run([b, "export", "--format", "folded", "--no-inline",
                            db], stdout=subprocess.PIPE, text=True,
                           check=True).stdout.splitlines():
    stack, n = line.rsplit(" ", 1)
    frames = [f[:-4] if f[-4:] in ("_[k]", "_[j]") else f
              for f in stack.split(";")][1:]
    if "[caller missing]" in frames:
        at = frames.index("[caller missing]")
        if frames.count(frames[at - 1]) + frames.count(frames[at + 1]) == 2:
            outer, inner = frames[at - 1], frames[at + 1]
            func, row = ((inner, "[caller missing] < " + outer)
                         if way == "callers" else
                         (outer, "[caller missing] > " + inner))
            want[func][row] += int(n)
got = {}
for func in want:
    table = subprocess.run([b, "report", "--" + way, func, "--format", "csv",
                            "--limit", "0", db], stdout=subprocess.PIPE,
                           text=True, check=True).stdout
    got[func] = {r["symbol"]: int(r["weight"])
                 for r in csv.DictReader(table.splitlines())}
    assert "[caller missing]" not in got[func], func
sys.exit(not want or any(got[f].get(row) != n for f in want
                         for row, n in want[f].items()))
END
	ok "${way}_behind_a_missing_one_are_told" $?
done
# of stacks whose other frames nobody could check, or that are wrong
for name in dlchurn.data lines-gcc.data.zst
do
	"$B" ingest -q --no-infer-callers --symfs "$captures/symfs" \
		-o "$work/$name.db" "$captures/$name" >/dev/null 2>&1
	want=$(lacking "$work/$name.db")
	callerless "$work/$name.db" >"$work/got"
	printf '%s\n' "$want" "$want" "$want" >"$work/want"
	sed -i 's/^$/0/' "$work/got"
	{ [ "$want" -gt 0 ] || [ $name != dlchurn.data ]; } &&
		cmp -s "$work/want" "$work/got"
	ok "pictures_and_sentences_lack_the_same_callers_$name" $?
done
# one that only the call-site check knows
"$B" ingest -q --symfs "$captures/symfs" -o "$work/inferred.db" \
	"$captures/shop.data.zst" >/dev/null 2>&1
cp "$work/inferred.db" "$work/judged.db"
want=$(python3 - "$work/judged.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
stack, weight = db.execute(
    "SELECT g.user, sum(g.weight) FROM sample_group g JOIN stack s ON s.id = "
    "g.user WHERE s.depth > 2 AND g.mark IS NULL AND NOT EXISTS (SELECT 1 FROM "
    "internal_judged j WHERE j.stack = g.user) GROUP BY 1 ORDER BY 2 DESC"
).fetchone()
db.execute("INSERT INTO internal_judged SELECT ?, id, 1, NULL FROM word WHERE "
           "kind = 'judged' AND name = 'caller missing'", (stack,))
db.commit()
print(weight)
END
)
callerless "$work/judged.db" >"$work/got"
printf '%s\n' "$want" "$want" "$want" | cmp -s - "$work/got"
ok also_where_only_the_call_shows_it $?

# inferred callers
"$B" flame --minwidth 0 "$work/inferred.db" >"$work/svg" 2>/dev/null
share=$("$B" report --limit 1 "$work/inferred.db" 2>/dev/null |
	sed -n 's/^caller inferred from the code: //p')
grep -qF "$share of the weight has a caller that was inferred" "$work/svg"
ok a_note_says_how_many_callers_were_inferred $?
svg "$work/svg" inferred >"$work/got"
[ "$(cat "$work/got")" = "$share" ]
ok and_the_tooltips_of_these_frames_how_much_of_them $?
! "$B" flame "$work/callers.db" | grep -q 'class="[^"]* inferred"'
ok without_inference_none_is_marked $?

# several events
folded "$db" >"$work/one" 2>"$work/talk"
grep -q "drawing '.*left out:" "$work/talk"
ok it_says_which_events_are_left_out $?
grep -q . "$work/one" && awk '{ s += $NF } END { exit !(s > 0) }' "$work/one"
ok one_of_several_events_is_drawn $?

# names from a hostile capture
hell() {
	printf 'c;</title><script>alert(1)</script>;f 1\n'
	printf 'c;]]>&amp;"'"'"'<!--;f 2\n'
	printf 'c;\033[31mred\001\177;f 3\n'
	printf 'c;\377\376\300\257;f 4\n'
	printf 'c;\355\240\200\364\220\200\200;f 5\n'
	printf 'c;\342\200\256gnp.exe;\357\277\276;f 6\n'
	printf 'c;__proto__;constructor;f 7\n'
	printf 'c;\346\227\245\346\234\254\350\252\236;f 8\n'
	printf 'c;;;f 9\n'
}
hell >"$work/hell"
"$B" flame --from-folded "$work/hell" >"$work/hell.svg"
[ "$(svg "$work/hell.svg" sum)" = 45 ]
ok hostile_names_give_well_formed_xml $?
[ "$(svg "$work/hell.svg" foreign)" = 0 ]
ok hostile_names_bring_no_script $?
! grep -v 'http://www.w3.org/' "$work/hell.svg" | grep -q '://'
ok nothing_is_fetched_from_outside $?
folded --from-folded "$work/hell" >"$work/again"
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$work/again" &&
	[ "$(folded_sum "$work/again")" = 45 ]
ok texts_have_no_control_bytes $?

# options
printf 'a;b;c 3\na;b;d 1\na;e 1\n' >"$work/small"
f() {
	"$B" flame --from-folded "$@" "$work/small"
}
f >"$work/1" && f >"$work/2" && cmp -s "$work/1" "$work/2"
ok the_same_input_gives_the_same_bytes $?
ok the_root_is_on_top "$([ "$(svg "$work/1" order)" = down ]; echo $?)"
f --upward >"$work/3" && [ "$(svg "$work/3" order)" = up ]
ok upward_has_the_root_below $?
bad=0
for o in '--comm a' '--time 0,1' '--event x' --by-pid --by-thread --by-verdict --no-comm --no-inline
do
	# shellcheck disable=SC2086 # an option and its value
	f $o >"$work/out" 2>"$work/err"
	[ $? = 2 ] && grep -q 'a text has stacks only' "$work/err" || bad=1
done
ok what_a_text_does_not_tell_cannot_be_asked $bad
folded --from-folded --reverse "$work/small" >"$work/4"
printf 'c;b;a 3\nd;b;a 1\ne;a 1\n' | cmp -s - "$work/4"
ok reverse_starts_with_the_innermost_frame $?
f --minwidth 30% >"$work/5"
grep -q '>2 frames narrower than 30 % are not drawn, 40.00 %<' "$work/5"
ok narrow_frames_are_counted_in_the_picture $?
f --title 'a <b> & c' --subtitle '"sub"' --colors hot --width 800 >"$work/6"
grep -q '>a &lt;b&gt; &amp; c<' "$work/6" &&
	grep -q '&quot;sub&quot;' "$work/6" &&
	grep -q 'width="800"' "$work/6" && [ "$(svg "$work/6" sum)" = 5 ]
ok titles_colors_and_width_can_be_chosen $?
f -o "$work/7" && cmp -s "$work/1" "$work/7"
ok output_goes_to_a_file $?
f -o "$work/none/7" 2>"$work/talk"
[ $? = 1 ] && grep -q "none/7: " "$work/talk"
ok a_file_that_cannot_be_made_is_named $?
bad=0
for o in '--width 5' '--minwidth x' '--minwidth 1%x' '--colors mauve'
do
	# shellcheck disable=SC2086 # an option and its value
	f $o >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
ok wrong_options_are_wrong_usage $bad
if [ -e /dev/full ]
then
	f >/dev/full 2>/dev/null
	[ $? = 1 ]
	ok a_full_disk_is_an_error $?
fi
echo 'no stacks here' >"$work/small"
f >/dev/null 2>&1
[ $? = 1 ]
ok text_without_stacks_is_refused $?

db=$work/defer-exitexec-s.db
folded --by-verdict --event "*" "$db" >"$work/folded"
for v in $("$B" query --format csv "$db" "SELECT DISTINCT verdict FROM
	samples WHERE verdict NOT NULL" | sed 1d)
do
	want=$(one "$db" "SELECT sum(weight) FROM samples WHERE verdict = '$v'")
	grep "^\[$v\];" "$work/folded" >"$work/part"
	[ "$(folded_sum "$work/part")" = "$want" ] || echo "$v: not $want"
done >"$work/bad"
[ ! -s "$work/bad" ] && grep -q '^\[matched\];' "$work/folded"
ok width_can_be_split_by_verdict $?
db=$work/fp-1.db
tid=$(one "$db" 'SELECT tid FROM samples LIMIT 1')
want=$(one "$db" "SELECT sum(weight) FROM samples WHERE tid = $tid")
folded --tid "$tid" "$db" >"$work/folded"
[ "$(folded_sum "$work/folded")" = "$want" ]
ok filters_choose_what_is_drawn $?
folded --time 0,1 "$db" >"$work/folded" 2>&1
[ $? = 1 ] && grep -q 'filters' "$work/folded"
ok a_filter_that_leaves_nothing_says_so $?
folded --no-comm --by-pid --by-thread "$db" >"$work/folded"
! grep -v '^pid [0-9]*;tid [0-9]*[; ]' "$work/folded" | grep -q .
ok processes_and_threads_are_frames $?

# the script, where a browser is there to run it
if command -v chromium >/dev/null 2>&1
then
	printf 'a;bxy;c 3\na;b;xyz 1\na;e 4\n' >"$work/small"
	f >"$work/page.svg"
	timeout 100 chromium --headless --no-sandbox --disable-gpu \
		--disable-quic --no-first-run --disable-sync \
		--disable-background-networking --disable-component-update \
		--user-data-dir="$work/browser" --virtual-time-budget=3000 \
		--dump-dom "file://$work/page.svg?s=XY&i=1" \
		>"$work/dom" 2>/dev/null
	grep -q '>matched 50.00 % in 2 frames<' "$work/dom"
	ok the_search_in_the_address_is_done $?
else
	echo "skip the_search_in_the_address_is_done: no chromium"
fi

"$B" flame --event sched:sched_switch tests/captures/task-exitexec.data \
	>"$work/title.svg" 2>/dev/null
grep -qE '<title id="name">.* [0-9]+ samples? of sched:sched_switch</title>' "$work/title.svg"
ok the_title_names_the_event $?
printf 'a;b;b;b;[x];[x] 3\na;b;c;b 1\n' >"$work/deep"
folded --from-folded --collapse-recursion "$work/deep" >"$work/got"
printf 'a;b;[x];[x] 3\na;b;c;b 1\n' | cmp -s - "$work/got"
ok a_function_in_itself_is_one_frame $?
grep -q 'capture tests/captures/task-exitexec.data of sidvm' "$work/title.svg"
ok a_note_names_the_capture $?
mkdir "$work/many"
for f in abi-simd abi-simdintr after before bpf cgroups converted dlchurn pair perthread
do
	"$B" ingest -q --no-symbols -o "$work/many/$f.db" "tests/captures/$f.data" 2>/dev/null
done
"$B" flame --include . -o "$work/many.svg" "$work/many" 2>/dev/null
[ "$(grep -c '>capture ' "$work/many.svg")" = 6 ] && grep -q '>and [0-9]* other captures' "$work/many.svg" &&
	grep -q '>[0-9,]* samples of ' "$work/many.svg"
ok of_many_captures_the_other_notes_are_there_too $?
"$B" flame --event syscalls:sys_enter_exit_group -o "$work/exit.svg" \
	tests/captures/task-exitexec.data 2>/dev/null
grep -q 'no user half: 100.00 % exit_per_task' "$work/exit.svg"
ok a_note_says_why_user_halves_are_missing $?
if [ -c /dev/full ] && ln -s /dev/full "$work/full" 2>/dev/null
then
	"$B" flame tests/captures/fp-1.data >/dev/full 2>"$work/err"
	[ "$(grep -c 'No space left' "$work/err")" = 1 ]
	ok a_full_disk_is_one_message $?
	"$B" flame -o "$work/full" tests/captures/fp-1.data 2>"$work/err"
	[ -L "$work/full" ]
	ok what_is_no_file_is_not_removed $?
fi
"$B" flame -o "$work/picture.png" tests/captures/fp-1.data 2>"$work/err"
[ $? = 2 ] && [ ! -e "$work/picture.png" ] && grep -q 'picture.png: a flame graph is an SVG' "$work/err"
ok an_svg_has_the_name_of_one $?
