#!/bin/sh
# export_text.sh - json and chrome: filters, names that mean
# something to their readers, databases that lie.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/export_text.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
forms="json chrome"

cat >"$work/read.py" <<'EOT'
"""python3 read.py FORM FILE: fails when FILE is not of that form."""
import json, sys
form, path = sys.argv[1:3]
text = open(path, "rb").read().decode("utf-8")
shown = text.replace("\n", "")
assert shown.isprintable(), [c for c in shown if not c.isprintable()]
d = json.loads(text)
if form == "chrome":
    n = len(d["stackFrames"])
    assert all(1 <= e.get("sf", 1) <= n for e in d["traceEvents"])
    depth = {}
    for e in d["traceEvents"]:
        k = e["pid"], e["tid"]
        depth[k] = depth.get(k, 0) + {"B": 1, "E": -1}.get(e["ph"], 0)
        assert depth[k] in (0, 1), e
    assert not any(depth.values())
EOT
reads() {
	python3 "$work/read.py" "$1" "$2" 2>"$work/err" ||
		{ tail -n 3 "$work/err"; return 1; }
}

db=$work/x.db
"$B" ingest -q -o "$db" tests/captures/defer-exitexec-s.data.zst
ok "a database with switches" $?

for form in $forms
do
	"$B" export --format "$form" -o "$work/a" "$db" &&
		"$B" export --format "$form" "$db" >"$work/b" &&
		cmp -s "$work/a" "$work/b" && reads "$form" "$work/a"
	ok "$form is one, and the same bytes each time" $?
	"$B" export --format "$form" "$db" 2>"$work/err" | head -n 1 >/dev/null
	[ ! -s "$work/err" ]
	ok "$form says nothing when its reader has enough" $?
done

# filters: as the view says
want=$(sqlite3 "$db" "SELECT group_concat(event_id) FROM (SELECT event_id
	FROM samples WHERE comm = 'shorty' AND cpu IN (1, 2)
	AND event = 'sched:sched_switch' ORDER BY 1)")
set -- --comm shorty -C 1,2 --event sched:sched_switch "$db"
got=$("$B" export --format json "$@" | python3 -c 'import json, sys
print(*(s["event_id"] for s in json.load(sys.stdin)["samples"]), sep=",")')
[ -n "$want" ] && [ "$got" = "$want" ]
ok "json has the samples that the filters leave" $?
got=$("$B" export --format chrome "$@" | python3 -c 'import json, sys
d = json.load(sys.stdin)["traceEvents"]
print(*(e["args"]["event_id"] for e in d if e["ph"] == "i"), sep=",")')
[ "$got" = "$want" ]
ok "and chrome" $?
"$B" export --format chrome tests/causality/captures/chain.data.zst |
	python3 -c 'import json, sys
d = json.load(sys.stdin)
e = d["traceEvents"]
on, woke, bad = {}, 0, 0
for x in e:
    at = x["pid"], x["tid"]
    if x["ph"] in "BE":
        on[at] = x["ph"] == "B"
    elif x["ph"] in "sf":
        woke += 1
        bad += not on.get(at)
names = {x["cat"] for x in e if x["ph"] == "i" and ";" not in
         x["args"].get("kernel", "") + x["args"].get("user", "")}
assert woke > 50 and not bad, (woke, bad)
assert not any(n.startswith(("sched:", "irq:")) for n in names), names
assert d["otherData"]["events_left_out"] > 100
'
ok "arrows lead from a slice to a slice, in place of the events of the scheduler" $?
"$B" export --format chrome --comm shorty "$db" | python3 -c '
import json, sys
d = json.load(sys.stdin)["traceEvents"]
names = {(e["pid"], e["tid"]): e["args"]["name"] for e in d
         if e["name"] == "thread_name"}
run = {names[e["pid"], e["tid"]] for e in d if e["ph"] == "B"
       and e["name"] == "running"}
assert run == {"shorty"}, run'
ok "slices are those of the threads asked for, whoever made room for them" $?

lost=$work/lost.db
"$B" ingest -q -o "$lost" tests/captures/defer-lost-clock.data.zst
"$B" export --format speedscope "$db" >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q "gone since 2.0; speedscope reads '--format folded'" "$work/err"
ok "a form that is gone says what to type" $?

# names
"$MKCAP" tests/cases/names_cannot_break_out/capture.txt "$work/n.data" &&
	"$B" ingest -q -o "$work/n.db" "$work/n.data"
ok "a database with odd names" $?
for form in $forms
do
	"$B" export --format "$form" "$work/n.db" >"$work/a" &&
		reads "$form" "$work/a"
	ok "names do not break out of $form" $?
done
"$B" export --format json "$work/n.db" | python3 -c '
import json, sys
d = json.load(sys.stdin)
assert d["samples"][0]["comm"] == "a;b<c\n\x1b[31m", d["samples"]
assert any("\\xff" in (i["path"] or "") for i in d["images"])'
ok "names in json are what they were, when they can be" $?

# what the man page promises
"$B" export --format json "$lost" >"$work/a"
python3 - "$work/a" <<'EOT'
import json, re, sys
page = open("man/backstitch-json.5").read()
def words(title):
    section = page.split(".Sh %s\n" % title)[1].split("\n.Sh ")[0]
    return set(re.findall(r"\w+", " ".join(re.findall(
        r"\.(?:It )?Va (.*)", section))))
keys = set()
def walk(x):
    if isinstance(x, dict):
        keys.update(x)
    for y in (x.values() if isinstance(x, dict) else
              x if isinstance(x, list) else ()):
        walk(y)
walk(json.load(open(sys.argv[1])))
missing = [k for k in keys if k not in words("EXPORT")]
print(*missing)
sys.exit(1 if missing or len(keys) < 40 else 0)
EOT
ok "every key is in the man page" $?

# whatever a database says
cp "$db" "$work/bad.db"
sqlite3 "$work/bad.db" "
	UPDATE event SET comm = 99999999 WHERE id % 7 = 0;
	UPDATE event SET thread = 4000000000, cpu = -5 WHERE id % 7 = 1;
	UPDATE event SET kraw = -1, uraw = 4000000000 WHERE id % 7 = 2;
	UPDATE event SET weight = -1, cpu = 1 << 40 WHERE id % 7 = 3;
	UPDATE event SET time_ns = -9223372036854775807 - id WHERE id = 5;
	UPDATE event SET time_ns = 9223372036854775807 WHERE id = 6;
	UPDATE request SET verdict = 77, flags = -1 WHERE event % 3 = 0;
	UPDATE ev_sched_sched_switch SET prev_pid = 'x', next_pid = -3
		WHERE event_id % 5 = 0;
	UPDATE ev_sched_sched_switch SET next_pid = 1 << 40
		WHERE event_id % 5 = 1;
	INSERT INTO loss(capture, what, counts, cpu, t0, t1, n) VALUES
		(99, 'a' || char(10) || '\"', 1, 1 << 40, 9, 3, -4),
		(1, NULL, 1, NULL, NULL, NULL, 1 << 62),
		(1, 'b', 1, -3, NULL, -9223372036854775807, 1 << 62);
	UPDATE process SET pid = 1 << 40 WHERE id % 3 = 0;
	UPDATE thread SET tid = NULL WHERE id % 5 = 0;
	UPDATE word SET id = 1 << 33 WHERE kind = 'image' AND id = 3;"
for form in $forms
do
	"$B" export --format "$form" "$work/bad.db" >"$work/a" 2>"$work/err"
	rc=$?
	case $form in # times that no sort has put in order are not checked
	chrome) python3 -m json.tool "$work/a" /dev/null ;;
	*) reads "$form" "$work/a" ;;
	esac && [ "$rc" = 0 ] && [ ! -s "$work/err" ]
	ok "$form of a database that lies" $?
done
sqlite3 "$work/bad.db" "UPDATE stack SET parent = id WHERE id = 3;
	UPDATE event_type SET fields = 'gone' WHERE name LIKE '%switch'"
for form in $forms
do
	"$B" export --format "$form" -o "$work/c" "$work/bad.db" 2>"$work/err"
	[ $? = 1 ] && grep -q "damaged\|ingest" "$work/err" && [ ! -e "$work/c" ]
	ok "$form of a damaged one fails and leaves nothing" $?
done
