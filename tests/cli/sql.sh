#!/bin/sh
# sql.sh - our SQL functions: in query, in the sqlite3 shell and in Python alike, and on bad databases.
# usage: BACKSTITCH=PROGRAM tests/cli/sql.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
EXT=$(dirname "$B")/backstitch_sql
# Debian's own: others are built without extensions
PY=/usr/bin/python3
export EXT
cd "$dir" || exit 2

make_db() {	# make_db NAME CAPTURE...
	name=$1
	shift
	"$B" ingest -o "$name.db" --no-cache --symfs "$cap/symfs" \
		--kallsyms "$cap/defer-lost-clock.kallsyms" "$@" >log 2>&1 ||
		[ $? = 3 ] || { cat log; echo "not ok $name is read"; exit 1; }
}
make_db task "$cap/task-exitexec.data"
make_db lost "$cap/defer-lost-clock.data.zst"
make_db fp "$cap/fp-1.data"
make_db ftrace "$cap/ftrace-v7.dat"
make_db jit --jitdump "$cap/jit-13475.dump" "$cap/jit-reused.data.zst"

# q DB SQL: the values, without the names of the columns
q() {
	"$B" query --format csv "$1.db" "$2" 2>err | sed 1d | tr -d '\r"'
}

in_python() {	# in_python DB SQL
	"$PY" - "$1.db" "$2" <<-'EOT'
	import os, sqlite3, sys
	db = sqlite3.connect(sys.argv[1])
	db.enable_load_extension(True)
	db.load_extension(os.environ["EXT"])
	for row in db.execute(sys.argv[2]):
	    print(",".join("" if v is None else str(v) for v in row))
	db.close()
	EOT
}
in_shell() {	# in_shell DB SQL
	sqlite3 -list -separator , -cmd ".load $EXT" "$1.db" "$2"
}

# ---- the same everywhere
cat >questions <<'E2'
SELECT id, replace(stack_text(id), char(10), '/') FROM stack
SELECT id, folded(id, NULL), folded(NULL, id) FROM stack
SELECT kernel, user, folded(kernel, user) FROM sample_group
SELECT id, frame_name(id) FROM frame
SELECT hex(-1), hex(0), hex(4294967296), hex(x'00ff'), hex('a;'), hex(NULL), hex(1.5)
SELECT demangle('_ZN3fooC1Ev'), demangle('main'), demangle(NULL), demangle('_RNvC5crate4main'), demangle(12)
SELECT id, wall(time_ns) FROM event LIMIT 50
SELECT * FROM flame
SELECT * FROM flame(NULL, (SELECT name FROM comm ORDER BY id DESC LIMIT 1))
SELECT * FROM at((SELECT max(last_ns) FROM capture))
SELECT * FROM backstitch_functions
SELECT f.id, count(*) FROM flame f JOIN at(f.weight * 0 + 1) WHERE f.id <= 100 GROUP BY 1
E2
[ -f "$EXT.so" ]
ok "the extension is built" $?
programs=
if command -v sqlite3 >/dev/null
then programs=in_shell
else echo "skip the sqlite3 shell says the same: there is no sqlite3"
fi
if "$PY" -c 'import sqlite3
sqlite3.connect(":memory:").enable_load_extension(True)' 2>/dev/null
then programs="$programs in_python"
else echo "skip Python says the same: its SQLite loads no extensions"
fi
while read -r sql
do
	any=
	for db in task lost jit
	do
		q $db "$sql" >want
		[ ! -s want ] || any=1
		for program in $programs
		do
			"$program" $db "$sql" 2>&1 | tr -d '"' >got
			cmp -s want got || echo "$program $db: $sql"
		done
	done
	[ "$any" ] || echo "no answer: $sql"
done <questions >differ
for program in $programs
do
	is "${program#in_}: the same everywhere" "" \
		"$(grep -e "^$program" -e '^no answer' differ)"
done
if command -v sqlite3 >/dev/null
then
	sqlite3 :memory: "SELECT load_extension('$EXT')" 2>&1 |
		grep -q 'only by .load'
	ok "where it cannot be loaded it says so" $?
	is "loaded twice it is there once" 9 "$(sqlite3 -cmd ".load $EXT" \
		-cmd ".load $EXT" :memory: 'SELECT count(*)
		FROM backstitch_functions')"
fi

# ---- they say what the views say
for db in task lost jit
do
	# an event that counts nothing weighs one in the tree
	tree="WITH RECURSIVE e(name) AS (SELECT name FROM event_type
			WHERE kind = 'sample' AND weight > 0
			ORDER BY events DESC LIMIT 1),
		f AS MATERIALIZED (SELECT * FROM flame((SELECT name FROM e))),
		p(id, path) AS (SELECT id, name FROM f WHERE parent IS NULL
			UNION ALL SELECT f.id, path || ';' || f.name
			FROM p JOIN f ON f.parent = p.id),
		ours AS (SELECT path, sum(self) AS self, sum(weight) AS total
			FROM p JOIN f ON f.id = p.id GROUP BY 1),
		theirs AS (SELECT path, self, total FROM flame_tree
			WHERE event = (SELECT name FROM e))"
	is "flame() is flame_tree, $db" 0,1 "$(q $db "$tree SELECT
		(SELECT count(*) FROM (SELECT * FROM ours EXCEPT
			SELECT * FROM theirs)) +
		(SELECT count(*) FROM (SELECT * FROM theirs EXCEPT
			SELECT * FROM ours)), (SELECT count(*) FROM ours) > 5")"
	is "flame() of all times is flame(), $db" 0 "$(q $db "SELECT count(*)
		FROM (SELECT * FROM flame(NULL, NULL, NULL, NULL, 0) EXCEPT
			SELECT * FROM flame)")"
	is "flame() counts every sample once, $db" 1 "$(q $db "SELECT
		(SELECT sum(samples) FROM flame WHERE depth = 0) =
		(SELECT sum(n) FROM sample_group g JOIN event_type t
		ON t.id = g.type WHERE t.name = (SELECT name FROM event_type
		WHERE kind = 'sample' AND events > 0 GROUP BY name
		ORDER BY max(id IN (SELECT type FROM sample_group
			WHERE kernel > 0 OR user > 0)) DESC,
		sum(weight) DESC, min(id) LIMIT 1))")"
	is "a walk: parents first, heaviest child first, $db" 0 "$(q $db "
		WITH f AS MATERIALIZED (SELECT * FROM flame)
		SELECT count(*) FROM f JOIN f p ON p.id = f.parent
		WHERE p.id >= f.id OR p.depth + 1 <> f.depth
		OR p.weight < f.weight OR EXISTS (SELECT 1 FROM f s
		WHERE s.parent = f.parent AND s.id < f.id
		AND s.weight < f.weight)")"
	is "folded() is folded, $db" 0 "$(q $db "SELECT count(*) FROM (
		SELECT coalesce(c.label, c.name, '[unknown]') || coalesce(
			';' || folded(g.kernel, g.user), '')
		FROM sample_group g LEFT JOIN comm c ON c.id = g.comm
		WHERE g.mark IS NULL
		EXCEPT SELECT replace(stack, ';[caller missing]', '')
			FROM folded)")"
	is "at() is maps, in order, $db" 0,1 "$(q $db "
		WITH t(ns) AS (SELECT (min(first_ns) + max(last_ns)) / 2
			FROM capture),
		a AS MATERIALIZED (SELECT rowid AS i, * FROM
			at((SELECT ns FROM t)))
		SELECT (SELECT count(*) FROM (SELECT pid, line FROM maps, t
			WHERE coalesce(t0, 0) <= ns
			AND (t1 IS NULL OR t1 > ns)
			EXCEPT SELECT pid, line FROM a)) +
		(SELECT count(*) FROM a JOIN a b ON b.pid = a.pid
			AND b.i = a.i + 1 AND b.capture = a.capture
			AND b.line < a.line
			AND instr(b.line, '-') = instr(a.line, '-')),
		(SELECT count(*) > 0 FROM a)")"
done
is "stack_text() has every frame" 0 "$(q fp "SELECT count(*) FROM stack s
	WHERE length(stack_text(id)) - length(replace(stack_text(id),
	char(10), '')) < depth - 1")"

# ---- what there is
"$B" query task.db </dev/null >out 2>err
sed "/^\$/,\$d; s/:.*/',/; s/^/'/" out >first
is "query without SQL lists ten views" 10 "$(q task "SELECT count(*)
	FROM sqlite_schema WHERE type = 'view' AND name IN ($(cat first)'')")"
awk 'length($0) > 80 || /^[a-z_]+: *$/ { bad = 1 } END { exit bad || NR != 13 }' out
ok "in a line each, with what they show" $?
is "which is the same for programs" 10 "$("$B" query --json task.db |
	grep -c '"columns":"[A-Z]')"

names="SELECT name FROM sqlite_schema WHERE type = 'view'"
is "views of all kinds can be read" "" "$(for db in task ftrace
do
	for v in $(q $db "$names")
	do
		"$B" query --format csv $db.db "SELECT * FROM $v LIMIT 3" \
			>/dev/null 2>&1 || echo "$db: $v"
	done
done)"

# ---- bad databases: an error with a reason, and an end
refuses() {	# refuses NAME TEXT SQL
	timeout 20 "$B" query --format csv bad.db "$3" >out 2>err
	rc=$?
	[ $rc = 1 ] && grep -qF -e "$2" err && ! grep -q 'runtime error' err
	rc2=$?
	ok "$1" $rc2
	[ $rc2 = 0 ] || { echo "# status $rc"; sed 's/^/# /' err | head -3; }
}
if command -v sqlite3 >/dev/null
then
	bad() {	# bad SQL: a copy, changed
		cp fp.db bad.db
		sqlite3 bad.db "$1"
	}
	bad "UPDATE stack SET parent = (SELECT max(id) FROM stack)
		WHERE parent IS NULL"
	refuses "a circle of parents ends" "damaged: stack" \
		"SELECT stack_text(max(id)) FROM stack"
	refuses "in folded() too" "damaged: stack" \
		"SELECT folded(max(id), NULL) FROM stack"
	refuses "and in flame()" "damaged: stack" "SELECT * FROM flame"
	bad "UPDATE stack SET parent = 9223372036854775807 WHERE id = 5"
	refuses "a parent that is no id" "damaged: stack" "SELECT * FROM flame"
	bad "DELETE FROM frame WHERE id = 2"
	refuses "a frame that is not there" "damaged: frame" \
		"SELECT * FROM flame"
	bad "UPDATE sample_group SET weight = 9223372036854775807"
	refuses "weights that do not fit" "do not fit" "SELECT * FROM flame"
	bad "UPDATE sample_group SET weight = -5"
	refuses "weights below 0" "do not fit" "SELECT * FROM flame"
	bad "DROP TABLE stack;
		CREATE VIEW stack AS SELECT 1 AS id, 1 AS frame, 1 AS depth,
			length(stack_text(1)) AS parent"
	refuses "a table that calls the function back" "is no table" \
		"SELECT stack_text(1)"
	bad "DROP VIEW maps; CREATE VIEW maps AS SELECT pid, line, capture, t0,
			t1 FROM at(5)"
	is "at() inside of at() is hidden behind ours" \
		"$(q fp "SELECT count(*) FROM at(5)")" \
		"$(q bad "SELECT count(*) FROM at(5)")"
	bad "DROP TABLE internal_label; CREATE VIEW internal_label AS SELECT id AS frame,
			name FROM flame"
	refuses "flame() inside of flame()" "is no table" \
		"SELECT * FROM flame"
	bad "UPDATE internal_label SET name = x'ff3bfe3b3b'; UPDATE frame SET image = -1"
	is "labels that are no text" 1 "$(q bad "SELECT count(*) > 5 FROM flame")"
fi
is "at() wants a time" 1 "$(q fp "SELECT * FROM at" | wc -l | sed 's/0/1/')"
"$B" query fp.db "SELECT * FROM at" >out 2>err
grep -q 'at() needs' err
ok "and says so" $?
"$B" query fp.db "SELECT stack_text(1, 2)" >out 2>err
grep -q 'wrong number of arguments' err
ok "a function says how many arguments it takes" $?
is "ids that are not there" ",,," "$(q fp "SELECT stack_text(0),
	stack_text(-1), frame_name(99999999), folded(88888888, NULL)")"

# ---- query says what is wrong, and where
place() {	# place NAME SQL WANTED
	"$B" query fp.db "$2" >out 2>err
	is "$1" "$3" "$(cut -c1-100 err | tr '\n' '/' |
		sed 's|backstitch: fp.db: ||')"
}
place "a column that is not there" "SELECT tim_ns FROM samples" \
	"  SELECT tim_ns FROM samples/         ^/no such column: tim_ns; did you mean 'time_ns'?/"
place "behind a tab and on the second line" \
	"$(printf 'SELECT 1,\n\te.tme_ns FROM event e')" \
	"   e.tme_ns FROM event e/   ^/no such column: e.tme_ns; did you mean 'time_ns'?/"
place "a column of another table" "SELECT n FROM samples" \
	"  SELECT n FROM samples/         ^/no such column: n; 'n' is a column of sample_group/"
place "a table" "SELECT * FROM flam" \
	"  SELECT * FROM flam/                ^/no such table: flam; did you mean 'flame'?/"
place "a function" "SELECT stack_txt(1)" \
	"  SELECT stack_txt(1)/         ^/no such function: stack_txt; did you mean 'stack_text'?/"
place "what is no SQL" "SELECT (1 FROM" \
	"  SELECT (1 FROM/            ^/near \"FROM\": syntax error/"
place "a column far to the right" "SELECT '$(printf '%0300d' 0)', nott" \
	"  00000000000000000', nott/                      ^/no such column: nott; did you mean 'note', a column of capture?/"
place "the nearest column of all tables" "SELECT name FROM samples" \
	"  SELECT name FROM samples/         ^/no such column: name; 'name' is a column of word/"
is "a name in other letters than ASCII" 1 "$("$B" query fp.db \
	"SELECT 'äöü', nott FROM event" 2>&1 | grep -c '^                ^')"
"$B" query --functions fp.db >out 2>err
is "--functions lists them" "$(q fp 'SELECT count(*) FROM
	backstitch_functions')" "$(wc -l <out)"
is "lines: one value below the other" "a     1/b     x/      y/long  3/" \
	"$("$B" query --format lines fp.db \
	"SELECT 1 AS a, 'x' || char(10) || 'y' AS b, 3 AS long" | tr '\n' '/')"

# ---- off the CPU: the manual's query, against trace-cmd's text
mkdir queries
"$root/tests/sql-queries.sh" queries
off=$(grep -l 'AS longest' queries/*.sql | xargs grep -l ev_sched)
"$B" query --format csv -f "$off" ftrace.db | tr -d '\r' >ours.csv
gzip -dc "$cap/ftrace-v7.report.txt.gz" | python3 -c '
import re, sys
left, sums = {}, {}
for line in sys.stdin:
    m = re.search(r"\s(\d+\.\d+): sched_switch:\s+.*:(\d+) \[\d+\] \S+"
                  r" ==> .*:(\d+) \[", line)
    if not m:
        continue
    at, out, into = float(m[1]), int(m[2]), int(m[3])
    if into in left:
        sums.setdefault(into, []).append((at - left.pop(into)) * 1e3)
    if out:
        left[out] = at
bad = len(sums)
for line in open("ours.csv").readlines()[1:]:
    comm, pid, times, ms, longest = line.rsplit(",", 4)
    theirs = sums.get(int(pid), [])
    # microseconds in the text
    if len(theirs) == int(times) and \
            abs(sum(theirs) - float(ms)) < 0.002 * len(theirs) and \
            abs(max(theirs) - float(longest)) < 0.002:
        bad -= 1
print(bad, len(sums) > 3)' >said
is "times off the CPU are those of trace-cmd's text" "0 True" "$(cat said)"
