#!/bin/sh
# page.sh - the HTML report: options, and that names from a capture stay text.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/page.sh
# Without sanitizers: annotate.sh, bundle.sh and hits.sh make pages under them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# page FILE QUESTION: what an HTML parser finds, which runs until the end
cat >"$work/parser.py" <<'END'
import base64
import contextlib
import html.parser
import json
import sys
import traceback

class Page(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.bad, self.block, self.blocks = [], [], None, {}

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        a = dict(attrs)
        if tag == "script":
            self.block = a.get("id", "run")
            self.blocks[self.block] = ""
        if tag in ("link", "iframe", "object", "embed", "base", "form", "a"):
            self.bad.append(tag)
        for name, value in attrs:
            if name.startswith("on") or name == "href" or \
               (name == "src" and not value.startswith("data:image/svg+xml;")):
                self.bad.append((tag, name, value))

    def handle_endtag(self, tag):
        if tag == "script":
            self.block = None

    def handle_data(self, data):
        if self.block:
            self.blocks[self.block] += data

def numbers(text):
    out, v, shift = [], 0, 0
    for byte in base64.b64decode(text):
        v |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            out.append(v)
            v = shift = 0
    return out

def signed(v):
    return -(v >> 1) - 1 if v & 1 else v >> 1

def answer(path, question):
    p = Page()
    p.feed(open(path, encoding="utf-8").read())
    meta = json.loads(p.blocks["meta"])
    samples = numbers(p.blocks["samples"])
    groups = numbers(p.blocks["groups"])
    nodes = numbers(p.blocks["nodes"])
    if question == "foreign":
        print(len(p.bad), sorted(p.blocks))
    elif question == "sizes":
        print([len(nodes) // 2, len(groups) // 5, len(samples) // 4] ==
              meta["sizes"])
    elif question == "sums":
        # of each event: samples, weight
        n, w, last = {}, {}, {}
        for i in range(0, len(samples), 4):
            e = groups[5 * samples[i + 1]]
            last[e] = last.get(e, 0) + signed(samples[i + 3])
            n[e] = n.get(e, 0) + 1
            w[e] = w.get(e, 0) + last[e]
        for e, (name, *_) in enumerate(meta["events"]):
            if e in n:
                print("%s,%d,%d" % (name, n[e], w[e]))
    elif question == "labels":
        for l in meta["labels"]:
            print(l[0])
    elif question == "plain":
        print(meta["plain"])
    elif question == "bogus":
        print(sum(bool(l[9]) for l in meta["labels"]))
    elif question == "sources":
        for l in sorted("%s:%d" % tuple(l[6]) for l in meta["labels"] if l[6]):
            print(l)
    elif question == "builds":
        for l in sorted({(meta["strings"][l[3]], meta["strings"][l[5]])
                         for l in meta["labels"] if meta["strings"][l[5]]}):
            print(",".join(l))
    elif question == "csp":
        print("default-src 'none'" in open(path).read())


for path in map(str.rstrip, sys.stdin):
    with open(sys.argv[1], "w") as said, contextlib.redirect_stdout(said):
        try:
            answer(path, next(sys.stdin).rstrip())
            done = "answered"
        except Exception:
            traceback.print_exc()
            done = "failed"
    print(done, flush=True)
END
mkfifo "$work/ask" "$work/answered"
python3 "$work/parser.py" "$work/said" <"$work/ask" >"$work/answered" &
exec 3>"$work/ask" 4<"$work/answered"
page() {
	printf '%s\n' "$1" "$2" >&3
	read -r went <&4 && cat "$work/said" && [ "$went" = answered ]
}

html() {	# html DB OPTION...
	from=$1
	shift
	"$B" page "$@" -o "$work/page.html" "$from" 2>"$work/err"
}

# the data block says what the database says, in every shipped capture
for f in tests/captures/*.data tests/captures/*.data.zst \
	tests/captures/*.dat tests/captures/*.dat.zst tests/captures/ftext-*
do
	[ -f "$f" ] || continue
	name=$(basename "$f" | sed 's/\.data.*//')
	db=$work/$name.db
	"$B" ingest -q -f --no-symbols -o "$db" "$f" >/dev/null 2>&1
	"$B" query --format csv "$db" "SELECT event, count(*),
		coalesce(sum(coalesce(weight, 1)), 0) FROM samples
		GROUP BY 1 ORDER BY 1" | sed 1d | tr -d '\r"' >"$work/want"
	html "$db"
	status=$?
	if [ ! -s "$work/want" ]
	then
		[ "$status" = 1 ] && grep -q 'no samples' "$work/err"
		ok "no_page_of_no_samples_$name" $?
		continue
	fi
	page "$work/page.html" sums | LC_ALL=C sort -t, -k1,1 >"$work/got"
	LC_ALL=C sort -t, -k1,1 "$work/want" | cmp -s - "$work/got" &&
		[ "$(page "$work/page.html" sizes)" = True ]
	ok "the_page_has_all_samples_of_$name" $?
done

# what is known of a frame beside its name
db=$work/facts.db
"$B" ingest -q -o "$db" --symfs tests/captures/symfs \
	tests/captures/defer-lost-clock.data.zst 2>"$work/err"
html "$db"
"$B" flame --minwidth 0 -o "$work/facts.svg" "$db"
csv() {
	"$B" query --format csv "$db" "$1" | sed 1d | tr -d '\r"'
}
want=$(csv "SELECT count(DISTINCT coalesce(f.symbol, -f.image) || w.name)
	FROM internal_callsite c JOIN frame f ON f.id = c.frame
	JOIN word w ON w.kind = 'callsite' AND w.id = c.kind
	WHERE w.name IN ('no_call', 'no_code')")
[ "$want" -gt 0 ] && [ "$(page "$work/page.html" bogus)" = "$want" ] &&
	grep -q '^fabricated: ' "$work/facts.svg"
ok bogus_places_are_told $?
csv "SELECT DISTINCT path, substr(lower(hex(build_id)), 1, 12) FROM image
	JOIN frame f ON f.image = image.id WHERE build_id IS NOT NULL
	ORDER BY 1, 2" >"$work/want"
page "$work/page.html" builds >"$work/got"
[ -s "$work/want" ] && cmp -s "$work/want" "$work/got" &&
	grep -q "^/wl/wl.*, build-id $(grep '^/wl/wl,' "$work/want" |
		cut -d, -f2)..\$" "$work/facts.svg"
ok frames_say_their_build_id $?
# functions of which all places are of one line
csv "SELECT min(f.file) || ':' || min(f.line) FROM frame f
	JOIN symbol s ON s.id = f.symbol WHERE f.file IS NOT NULL
	GROUP BY s.image, s.name, s.start
	HAVING count(DISTINCT f.file || ':' || f.line) = 1" |
	LC_ALL=C sort >"$work/want"
page "$work/page.html" sources | LC_ALL=C sort >"$work/got"
[ -s "$work/want" ] && cmp -s "$work/want" "$work/got" &&
	grep -qxF "$(head -n 1 "$work/want")" "$work/facts.svg"
ok functions_of_one_line_say_it $?
grep -q '^no chain; records were lost meanwhile$' "$work/facts.svg"
ok a_missing_user_half_says_what_its_verdict_means $?

# names that would like to be more than text
cat >"$work/hell.txt" <<'END'
event cpu-clock period=1000
comm pid=100 name="</script>"
comm pid=101 name="<!--<script>"
comm pid=102 name="\"';\\"
mmap pid=100 start=0x400000 len=0x10000 pgoff=0x1000 path="/bin/</title><script>alert(1)</script>"
mmap pid=101 start=0x400000 len=0x10000 pgoff=0x1000 path="/bin/\x1b[31m\xff\x01]]>&amp;"
mmap pid=102 start=0x400000 len=0x10000 pgoff=0x1000 path="/bin/__proto__"
sample pid=100 tid=100 cpu=0 time=1000000 u=0x400010,0x400020
sample pid=101 tid=101 cpu=0 time=1001000 u=0x400010,0x400020
sample pid=102 tid=102 cpu=0 time=1002000 u=0x400010,0x400020
END
"$MKCAP" "$work/hell.txt" "$work/<img src=x onerror=alert(1)>.data"
html "$work/<img src=x onerror=alert(1)>.data"
[ "$(page "$work/page.html" foreign)" = \
	"0 ['chains', 'code', 'groups', 'intervals', 'meta', 'nodes', 'run', 'runs', 'samples', 'spots', 'times', 'waits']" ]
ok names_bring_no_elements_scripts_or_addresses $?
page "$work/page.html" labels >"$work/labels"
grep -qxF '</script>' "$work/labels" && grep -qxF '<!--<script>' "$work/labels"
ok and_arrive_as_they_are $?
! LC_ALL=C grep -q "$(printf '[\001-\010\013-\037\177]')" "$work/page.html"
ok control_bytes_are_shown_not_sent $?
[ "$(page "$work/page.html" csp)" = True ] &&
	! grep -v 'http://www.w3.org/' "$work/page.html" | grep -q '://'
ok the_page_names_no_other_place $?

# options
"$B" page --kallsyms /nonexistent "$work/fp-1.db" >"$work/out.html" 2>"$work/err"
[ $? = 1 ] && grep -q /nonexistent "$work/err"
ok a_file_for_names_that_is_not_there_is_said $?
db=$work/fp-1.db
"$B" page "$db" >"$work/out.html" && html "$db" &&
	cmp -s "$work/out.html" "$work/page.html"
ok it_goes_to_standard_output_too $?
tid=$(page "$work/page.html" sums >/dev/null &&
	"$B" query --format csv "$db" 'SELECT tid FROM samples LIMIT 1' |
	tail -n 1)
html "$db" --tid "$tid"
want=$("$B" query --format csv "$db" "SELECT count(*) FROM samples
	WHERE tid = $tid" | tail -n 1)
[ "$(page "$work/page.html" sums | cut -d, -f2)" = "$want" ] &&
	grep -q 'samples are filtered' "$work/page.html"
ok filters_choose_what_is_in_it_and_it_says_so $?
facts() {	# facts DB OPTION...: the figures of the banner
	html "$@" --no-source && sed -n '/<ul class="facts">/,/<\/ul>/s/<[^>]*>//gp' "$work/page.html"
}
facts "$work/facts.db" >"$work/want"
facts "$work/facts.db" --comm t-ping >"$work/got"
grep -q '[1-9].* records lost' "$work/want" && grep -q ' samples$' "$work/want" &&
	grep -q 'asked for' "$work/got" && ! grep -q ' lost$\| samples$' "$work/got"
ok figures_that_a_filter_cannot_narrow_are_left_out $?
facts "$work/facts.db" -C 0 | grep -q 'records lost'
ok those_that_it_can_are_there $?
cat >"$work/light.txt" <<'END'
event cpu-clock period=0
comm pid=100 name=app
sample pid=100 tid=100 cpu=0 time=1000000 period=0 u=0x400010
END
"$MKCAP" "$work/light.txt" "$work/light.data"
html "$work/light.data"
[ $? = 1 ] && grep -q 'by samples' "$work/err" &&
	html "$work/light.data" --by samples &&
	[ "$(page "$work/page.html" sums)" = cpu-clock,1,1 ]
ok samples_without_weight_are_counted_when_asked_for $?
bad=0
for o in '--callers main' '--json' '--format csv'
do
	# shellcheck disable=SC2086 # an option and its value
	"$B" report --html $o "$db" >/dev/null 2>&1
	[ $? = 2 ] || bad=1
done
ok what_makes_a_table_is_refused $bad
"$B" report -o "$work/x" "$db" >/dev/null 2>"$work/err"
[ $? = 2 ] && grep -q "for 'backstitch page'" "$work/err"
ok a_table_goes_to_standard_output_only $?
"$B" page -o "$work/none/x" "$db" 2>"$work/err"
[ $? = 1 ] && grep -q 'none/x: ' "$work/err"
ok a_file_that_cannot_be_made_is_named $?
# a place without a name in a file of which others have one
db=$work/unnamed.db
"$B" ingest -q --symfs tests/captures/symfs -o "$db" \
	tests/captures/lines-gcc.data.zst 2>"$work/err"
python3 - "$db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE frame SET symbol = NULL WHERE id = (SELECT f.id FROM frame f "
           "JOIN image i ON i.id = f.image JOIN stack_path s ON s.frame = f.id "
           "WHERE i.status = 'named' LIMIT 1)")
db.commit()
END
html "$db"
sed -n '/id="t-unnamed"/,/<\/section>/p' "$work/page.html" >"$work/section"
grep -q '<td>no symbol there</td>' "$work/section" &&
	! grep -q '<td>named</td>' "$work/section"
ok code_without_a_name_is_not_said_to_be_named $?
if [ -e /dev/full ]
then
	"$B" page "$db" >/dev/full 2>/dev/null
	[ $? = 1 ]
	ok a_full_disk_is_an_error $?
fi
# notes are no damage
"$B" ingest -q --no-symbols -o "$work/notes.db" "tests/captures/ftrace-buffers.dat" 2>/dev/null
"$B" page --no-source -o "$work/notes.html" "$work/notes.db" 2>/dev/null
grep -q 'id="t-notes"' "$work/notes.html" && grep -q "<td>buffer &#39;stk&#39;: clock local\|<td>buffer 'stk': clock local" "$work/notes.html" &&
	! grep -q 'id="t-damage"' "$work/notes.html"
ok notes_do_not_stand_among_what_could_not_be_read $?
mkdir "$work/debug"
"$B" page --debug-dir "$work/debug" --debug-dir "$work/nowhere" "$work/fp-1.db" >"$work/out.html" 2>"$work/err"
[ $? = 1 ] && grep -qF -- "--debug-dir $work/nowhere: No such file" "$work/err"
ok nor_is_a_folder_of_debug_files_that_is_not_there $?
"$B" page --debug-dir "$work/debug" -o "$work/fp.html" "$work/fp-1.db" &&
	[ "$(page "$work/fp.html" plain)" = True ]
ok without_options_flame_draws_the_same $?
"$B" page --wall --state S -o "$work/waits.html" tests/captures/naps.data &&
	[ "$(page "$work/waits.html" plain)" = False ]
ok with_the_states_of_waits_it_does_not $?
exec 3>&-
wait
