#!/bin/sh
# bundle.sh - a database for somebody else: with its files, or without its words.
# usage: BACKSTITCH=build/backstitch tests/cli/bundle.sh
# Needs: libcapstone libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

symfs=tests/captures/symfs-arm64
db=$work/leaf.db
"$B" ingest -q --symfs $symfs -o "$db" tests/captures/arm64-fp-leaf.data
ok "a database to pack" $?

"$B" bundle --symfs $symfs -o "$work/leaf.tar.gz" "$db" 2>"$work/said" &&
	mkdir "$work/out" && tar xf "$work/leaf.tar.gz" -C "$work/out"
ok "an archive that tar unpacks" $?
(cd "$work/out" && find symfs -type f | sort) >"$work/files"
[ -s "$work/files" ] && while read -r f
do
	cmp -s "$work/out/$f" "$symfs/${f#symfs/}" || exit 1
done <"$work/files"
ok "the programs are in it, at their places" $?
function=$("$B" report --format csv --limit 0 "$db" 2>/dev/null |
	awk -F, '$8 == "user" { print $7; exit }')
"$B" annotate --symfs "$symfs" --json "$db" "$function" >"$work/a" 2>/dev/null
(cd "$work/out" && "$B" annotate --symfs symfs --json leaf.db "$function") \
	>"$work/b" 2>/dev/null
python3 - "$work/a" "$work/b" <<'END'
import json
import sys

a, b = (json.load(open(p)) for p in sys.argv[1:])

def code(x):
    if isinstance(x, dict):
        return {k: code(v) for k, v in x.items() if k != "code" or isinstance(v, list)}
    return [code(v) for v in x] if isinstance(x, list) else x

sys.exit(code(a) != code(b))
END
ok "with it the other machine sees the same code" $?
cp "$work/leaf.tar.gz" "$work/first.tar.gz"
"$B" bundle --symfs $symfs -f -o "$work/leaf.tar.gz" "$db" 2>/dev/null &&
	cmp -s "$work/leaf.tar.gz" "$work/first.tar.gz"
ok "the same database makes the same archive" $?
# every command reads a bundle as its database, or says why not
mkdir "$work/read"
cp "$work/leaf.db" "$work/leaf.tar.gz" "$work/read"
for c in $("$B" completion bash |
	sed -n "s/.*compgen -W '\(report [a-z ]*\)'.*/\1/p")
do
	want=
	set --
	case $c in
	query) set -- --tables ;;
	export) set -- --format folded ;;
	bundle) set -- -f -o "$work/again.tar" ;;
	push) set -- clickhouse://127.0.0.1:1/x; want='127.0.0.1' ;;
	merge) set -- -f -o "$work/again.db"; want='not a backstitch database' ;;
	ingest) want='this is a bundle' ;;
	symbolize) want='has to be taken out for that: .backstitch bundle -o' ;;
	# what it is given is no database either
	follow | dump | sframe) continue ;;
	completion | help) continue ;;
	esac
	(cd "$work/read" && "$B" "$c" "$@" leaf.tar.gz >"$work/b" 2>"$work/said")
	status=$?
	if [ -n "$want" ]
	then
		[ $status != 0 ] && grep -q "$want" "$work/said"
	else
		(cd "$work/read" && "$B" "$c" "$@" leaf.db) >"$work/a" \
			2>/dev/null
		# the longer name may break a line elsewhere
		[ $? = $status ] && tr -s '\n ' '  ' <"$work/a" >"$work/c" &&
			sed 's/leaf\.tar\.gz/leaf.db/g' "$work/b" |
			tr -s '\n ' '  ' | cmp -s - "$work/c"
	fi
	ok "a bundle is read, or not for a reason: $c" $?
done
(cd "$work/read" && "$B" leaf.tar.gz >"$work/b" &&
	"$B" diff leaf.db leaf.tar.gz >"$work/a") 2>/dev/null &&
	grep -q ' small_def$' "$work/b" && grep -q 'B: leaf.tar.gz' "$work/a"
ok "a bundle is read: the first screen, and a diff" $?
"$B" bundle -o "$work/leaf.zip" "$db" 2>"$work/said"
[ $? = 2 ] && [ ! -e "$work/leaf.zip" ] && grep -q 'leaf.zip: an archive is called .tar' "$work/said"
ok "a database is not written as an archive of another kind" $?

printf 'no archive' >"$work/no.tar.gz"
"$B" report "$work/no.tar.gz" 2>"$work/said"
[ $? = 1 ] && grep -q 'no.tar.gz: ' "$work/said"
ok "what only has the name of an archive is refused" $?
(cd "$work" && tar cf plain.tar said) && "$B" report "$work/plain.tar" \
	2>"$work/err"
[ $? = 1 ] && grep -q 'plain.tar/said: this is a text file, needs to be a capture' "$work/err"
ok "an archive of something else is refused" $?
# One bit of the database: packed, some of them unpack to as many other bytes.
"$B" bundle -f -o "$work/whole.tar" "$db" 2>/dev/null && python3 - "$work/whole.tar" "$work/changed.tar" <<'END'
import sys
import tarfile
with tarfile.open(sys.argv[1]) as t:
    db = next(m for m in t if m.name.endswith(".db"))
data = bytearray(open(sys.argv[1], "rb").read())
data[db.offset_data + db.size // 2] ^= 1
open(sys.argv[2], "wb").write(data)
END
"$B" report "$work/changed.tar" >"$work/a" 2>"$work/err"
[ $? = 1 ] && [ ! -s "$work/a" ] && grep -q 'the checksums differ; copy the archive again' "$work/err"
ok "a database that was changed on its way is refused" $?
tar cf "$work/older.tar" -C "$work" leaf.db && "$B" report "$work/older.tar" >"$work/a" 2>/dev/null
ok "an archive of an older version is read" $?
[ -z "$(find "${TMPDIR:-/tmp}" -maxdepth 1 -name 'backstitch-bundle.db*')" ]
ok "no copy is left behind" $?

"$B" bundle -o "$work/leaf.tar.gz" "$db" 2>"$work/said"
[ $? = 1 ] && grep -q "use -f" "$work/said"
ok "an archive that exists stays" $?
# a database that names files which were never recorded
db=$work/hostile.db
cp "$work/leaf.db" "$db"
mkdir "$work/debug"
echo for nobody >"$work/secret"
cp "$B" "$work/elf"
cp "$B" "$work/debug/elf.debug"
mkfifo "$work/debug/fifo.debug"
python3 - "$db" "$work" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
work = sys.argv[2]
image, = db.execute("SELECT id FROM image WHERE build_id IS NOT NULL"
                    " AND path LIKE '/%' LIMIT 1").fetchone()
db.executemany("INSERT OR REPLACE INTO internal_image_section VALUES(?, ?, ?, 1)", [
    (image, "/usr/lib/debug/../../.." + work + "/secret", ".symtab"),
    (image, work + "/debug/../secret", ".symtab"),
    (image, work + "/debug/elf.debug", ".symtab"),
    (image, work + "/debug/fifo.debug", ".symtab"),
    (image, "/proc/self/environ", "debug")])
db.execute("INSERT INTO image(id, kind, path) SELECT max(id) + 1,"
           " (SELECT kind FROM image WHERE id = ?), ? FROM image",
           (image, work + "/elf"))
db.commit()
END
"$B" bundle --symfs $symfs -o "$work/hostile.tar" "$db" 2>"$work/said" &&
	tar tf "$work/hostile.tar" | grep '^symfs/.' | sort >"$work/names"
sort "$work/files" | cmp -s - "$work/names" &&
	grep -q "not packed, such as .*no build-id or hash" "$work/said" &&
	! grep -q "for nobody" "$work/hostile.tar"
ok "files that were not recorded are not packed" $?
"$B" bundle -o "$work/hostile2.tar" "$db" 2>"$work/said" &&
	! tar tf "$work/hostile2.tar" | grep -q "elf"
ok "nor is a program that no build-id proves" $?
timeout 20 "$B" symbolize "$db" >"$work/said" 2>&1
[ $? -lt 124 ]
ok "a FIFO that a database names is not waited for" $?

db=$work/leaf.db
mkfifo "$work/fifo"
ln -s nowhere "$work/link"
for out in fifo link out
do
	"$B" bundle -f -o "$work/$out" "$db" 2>"$work/said"
	[ $? = 1 ] && grep -q "no regular file" "$work/said"
	ok "a bundle does not replace what is no file: $out" $?
done
"$B" bundle --redact -o "$work/no/where.db" "$db" 2>"$work/said"
[ $? = 1 ] && grep -q "where.db" "$work/said"
ok "the message names the file that cannot be made" $?
cp "$db" "$work/before.db"
for c in "bundle --redact -f" "flame" "export --format folded" "page"
do
	# shellcheck disable=SC2086 # words
	"$B" $c -o "$db" "$db" 2>"$work/said"
	[ $? = 2 ] && grep -q "is what is read" "$work/said" &&
		cmp -s "$db" "$work/before.db"
	ok "what is read is not written over: $c" $?
done
"$B" flame --diff -o "$db" "$work/before.db" "$db" 2>"$work/said"
[ $? = 2 ] && cmp -s "$db" "$work/before.db"
ok "nor by pictures of two" $?
[ -z "$(find "$work" -name '*.tmp')" ]
ok "nothing is left behind" $?

# every word of a capture that was recorded with arguments and names
for c in tests/captures/defer-exitexec-s.data.zst tests/captures/ftrace-v7.dat \
	tests/captures/jit-reused.data.zst
do
	name=$(basename "$c" | sed 's/\..*//')
	db=$work/$name.db
	"$B" ingest -q -o "$db" "$c" 2>/dev/null
	"$B" bundle --redact -o "$work/$name.red.db" "$db" 2>/dev/null
	ok "$name: a redacted copy" $?
	python3 - "$db" "$work/$name.red.db" <<'END'
import sqlite3
import sys

db, red = (sqlite3.connect(p) for p in sys.argv[1:])
common = (":", "swapper", "kworker/", "ksoftirqd/", "migration/", "rcu_",
          "kthreadd", "cpuhp/", "idle_inject/", "perf",
          "trace-cmd")
words = set()
for (w,) in db.execute(
        "SELECT path FROM image i JOIN word w ON w.kind = 'image'"
        " AND w.id = i.kind WHERE w.name IN ('file', 'bpf', 'jit')"
        " UNION SELECT name FROM comm UNION SELECT host FROM capture"
        " UNION SELECT path FROM capture UNION SELECT cmdline FROM capture"
        " UNION SELECT raw_name FROM symbol s JOIN image i ON i.id = s.image"
        " WHERE i.kind = 2"):
    if w and not w.startswith(common) and w[0] not in "[/" or \
            w and w[:1] == "/" and w[:2] != "//":
        words |= {w} if w[0] != "/" else {p for p in w.split("/") if p}
raw = open(sys.argv[2], "rb").read()
# short ones may stand in there by chance, or are words of the schema
schema = "".join(r[0] or "" for r in red.execute(
    "SELECT sql FROM sqlite_schema")).encode()
events = "".join(r[0] + (r[1] or "") for r in red.execute(
    "SELECT name, format FROM event_type")).encode()
kernel = "".join(r[0] for r in red.execute(
    "SELECT name FROM symbol UNION SELECT version FROM capture"
    " WHERE version IS NOT NULL")).encode()
left = [w for w in sorted(words - {"timeout"}) if len(w) > 5 and w.encode() in raw
        and w.encode() not in schema + events + kernel]
print("   %d words, left: %s" % (len(words), left[:8]))
sums = ("SELECT count(*), sum(time_ns), sum(cpu), sum(weight) FROM event",
        "SELECT count(*), count(DISTINCT image) FROM frame",
        "SELECT verdict, count(*) FROM request GROUP BY 1",
        "SELECT count(DISTINCT path) FROM image",
        "SELECT count(DISTINCT name) FROM comm",
        "SELECT count(*), sum(n) FROM loss")
for q in sums:
    a, b = db.execute(q).fetchall(), red.execute(q).fetchall()
    if a != b:
        print("  ", q, a, b)
        left.append(q)
sys.exit(bool(left) or len(words) < 3)
END
	ok "$name: no word is left, and all numbers are" $?
	"$B" bundle --redact -o "$work/$name.red2.db" "$db" 2>/dev/null &&
		cmp -s "$work/$name.red.db" "$work/$name.red2.db"
	ok "$name: the same copy each time" $?
	"$B" check "$db" 2>/dev/null | sed 's/[^ ]*\.db//' >"$work/a"
	"$B" check "$work/$name.red.db" >/dev/null 2>&1
	[ $? -le 4 ] && "$B" flame -o "$work/x.svg" "$work/$name.red.db" 2>/dev/null
	ok "$name: the copy can be checked and drawn" $?
done

# the recorder's own threads, of whose wake-ups there is no record, are known by name
sched() {
	"$B" sched "$1" 2>/dev/null | sed '/^$/,$d'
}
is "a copy proves no more than the original" "$(sched "$work/ftrace-v7.db")" \
	"$(sched "$work/ftrace-v7.red.db")"

# that record --waits took the events is known by the names of its files
"$B" ingest -q -o "$work/waits.db" tests/captures/clone.data.zst 2>/dev/null
python3 - "$work/waits.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.executescript("""INSERT INTO capture(path, format) VALUES
    ('/srv/joe.data.ftrace', 'ftrace'), ('/srv/joe.data.cgroups', 'ftext');
    UPDATE capture SET path = '/srv/joe.data' WHERE id = 1""")
END
"$B" bundle --redact -o "$work/waits.red.db" "$work/waits.db" 2>/dev/null
for name in waits waits.red
do
	"$B" query --format csv "$work/$name.db" \
		"SELECT name, waits FROM internal_recorder" >"$work/$name.csv"
done
grep -q record,1 "$work/waits.red.csv" && cmp -s "$work/waits.csv" "$work/waits.red.csv"
ok "a copy is known to be of record --waits" $?

# the values that calls return, which tell the child of clone, are not in a copy
"$B" ingest -q -o "$work/clone.db" tests/captures/clone.data.zst 2>/dev/null
"$B" bundle --redact -o "$work/clone.red.db" "$work/clone.db" 2>/dev/null
is "a child's return from clone is no call that began before" \
	"5 intervals in 1.28 ms: 5 proved" \
	"$("$B" latency "$work/clone.red.db" 2>/dev/null | head -1)"
python3 - "$work/clone.red.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE thread SET start_ns = NULL")
db.commit()
END
is "nor if nothing tells when the child was born" \
	"5 intervals in 1.28 ms: 5 proved" \
	"$("$B" latency "$work/clone.red.db" 2>/dev/null | head -1)"

# what perf was told to leave out is known by its options
"$B" ingest -q -o "$work/left.db" tests/captures/disk-irqs.data.zst 2>/dev/null
python3 - "$work/left.db" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
name = db.execute("SELECT name FROM comm WHERE name NOT GLOB 'rcu*'"
                  " AND length(name) > 5 AND name NOT GLOB '*[/: -]*'").fetchone()[0]
db.execute("UPDATE capture SET cmdline = ?", (
    "/usr/bin/perf record -a -m 4M -o joe.data -e sched:* --filter=pid!=7 -uid"
    " --secret -- /srv/joe/" + name + " --token -m x",))
db.commit()
END
"$B" bundle --redact -o "$work/left.red.db" "$work/left.db" 2>/dev/null
is "a copy knows what was not recorded" "$(sched "$work/left.db")" \
	"$(sched "$work/left.red.db")"
is "of a command it has only that" "perf record -m 4M --filter -u -- comm-N -m" \
	"$("$B" query --format csv "$work/left.red.db" "SELECT cmdline FROM capture" |
		tr -d '\r"' | sed -n '2{s/comm-[0-9]*/comm-N/p}')"

# names that look like the kernel's, chosen by those who have something to hide
cat >"$work/looks.txt" <<'END'
event cpu-clock defer period=1000
comm pid=0 name=swapper/0
fork pid=1 tid=1 ppid=0 ptid=0 time=1 cpu=0
fork pid=2 tid=2 ppid=0 ptid=0 time=2 cpu=0
comm pid=2 name=kthreadd time=5 cpu=0
fork pid=30 tid=30 ppid=2 ptid=2 time=3 cpu=0
comm pid=30 name=kworker/0:1 time=6 cpu=0
fork pid=31 tid=31 ppid=2 ptid=2 time=4 cpu=0
comm pid=31 name=kworker/planted1 time=7 cpu=0
mmap pid=31 start=0x400000 len=0x1000 pgoff=0 path=/sbin/planted2 time=8 cpu=0
comm pid=100 name=kworker/planted3
mmap pid=100 start=0x500000 len=0x1000 pgoff=0 path=//planted4
mmap pid=100 start=0x600000 len=0x1000 pgoff=0 path=[anon:planted5]
mmap pid=100 start=0x700000 len=0x1000 pgoff=0 path=[planted6]
mmap pid=100 start=0x800000 len=0x1000 pgoff=0 path=[stackplanted7
mmap pid=100 start=0x900000 len=0x1000 pgoff=0 path=[vdso-planted8]
mmap pid=100 start=0xa00000 len=0x1000 pgoff=0 path=//anon-planted9
mmap pid=100 start=0xb00000 len=0x1000 pgoff=0 path=[heap]
comm pid=101 name=:planted10
comm pid=102 name=swapper/planted11
sample pid=100 tid=100 cpu=1 time=1000 k=0xffffffff81000010 u=0x500010,0x600010,0x700010,0x800010,0x900010,0xa00010,0xb00010
sample pid=101 tid=101 cpu=1 time=1001 k=0xffffffff81000010
sample pid=102 tid=102 cpu=1 time=1001 k=0xffffffff81000010
sample pid=31 tid=31 cpu=1 time=1002 k=0xffffffff81000010 u=0x400010
sample pid=30 tid=30 cpu=1 time=1003 k=0xffffffff81000010
END
if "${MKCAP:-build/mkcap}" "$work/looks.txt" "$work/looks.data" &&
	"$B" ingest -q --no-symbols -o "$work/looks.db" "$work/looks.data" &&
	grep -q planted9 "$work/looks.db" &&
	"$B" bundle --redact -o "$work/looks.red.db" "$work/looks.db" 2>/dev/null
then
	! grep -ao 'planted[0-9]*' "$work/looks.red.db"
else
	false
fi
ok "names that only look like the kernel's are replaced" $?
[ "$("$B" query --format csv "$work/looks.red.db" \
	"SELECT count(DISTINCT name) FROM comm WHERE name IN ('swapper/0', 'kthreadd', 'kworker/0:1')" \
	2>/dev/null | tail -1 | tr -d '\r')" = 3 ] &&
	"$B" query "$work/looks.red.db" "SELECT path FROM image" \
		>"$work/said" 2>/dev/null && grep -Fq '[heap]' "$work/said" &&
	grep -Fq '[anon:text-1]' "$work/said"
ok "names of kernel threads and the kernel's mappings stay" $?

name=defer-exitexec-s
"$B" bundle --redact --keep '*/libc.so.6' -o "$work/keep.db" "$work/$name.db" \
	2>/dev/null
[ "$("$B" query --format csv "$work/keep.db" \
	"SELECT count(*) > 0, count(build_id) > 0 FROM image WHERE path LIKE '%/libc.so.6'" \
	2>/dev/null | tail -1 | tr -d '\r')" = 1,1 ]
ok "--keep leaves an image as it is" $?
"$B" bundle --redact -o "$work/redacted.tar" "$work/$name.db" 2>/dev/null
tar xOf "$work/redacted.tar" README >"$work/text" && grep -q 'backstitch report ' "$work/text" &&
	! grep -q symfs "$work/text"
ok "the text with a redacted copy promises no programs" $?
"$B" bundle --keep x "$work/$name.db" 2>/dev/null
[ $? = 2 ]
ok "--keep without --redact is wrong usage" $?

# what the user gave is named, not the temporary copy of it
echo none >"$work/none.db"
: >"$work/empty.db"
for n in none empty
do
	tar cf "$work/$n.tar" -C "$work" $n.db &&
		! "$B" info "$work/$n.tar" 2>"$work/said" &&
		grep -q "^backstitch: $work/$n.tar: .*not a backstitch database" "$work/said"
	ok "an archive with $n in place of a database is named" $?
done
cp "$work/$name.db" "$work/check.db" &&
	change_schema "$work/check.db" "UPDATE sqlite_master
		SET sql = replace(sql, 'file TEXT,', 'file TEXT CHECK(1),')" 2>/dev/null
! "$B" bundle --redact -o "$work/check.red.db" "$work/check.db" 2>"$work/said" &&
	grep -q "^backstitch: $work/check.red.db: 'image' is no table" "$work/said" &&
	! ls "$work/check.red.db"* 2>/dev/null
ok "a copy that cannot be redacted is named by its output" $?

# libarchive is loaded by those who need it
! ldd "$B" | grep -q libarchive
ok the_library_costs_no_other_command_its_start $?
for ending in tar tar.gz tgz tar.xz tar.zst
do
	"$B" bundle --symfs $symfs -f -o "$work/form.$ending" "$db" 2>"$work/said" &&
		"$B" info "$work/form.$ending" >"$work/text" 2>&1
	ok "written_and_read_as_$ending" $?
	od -An -tx1 -N6 "$work/form.$ending" | tr -d ' ' >"$work/magic"
	case $ending in
	*gz) grep -q ^1f8b "$work/magic" ;;
	*.xz) grep -q ^fd377a585a00 "$work/magic" ;;
	*.zst) grep -q ^28b52ffd "$work/magic" ;;
	*) tar tf "$work/form.$ending" >"$work/text" && ! grep -q '^1f8b\|^fd37\|^28b5' "$work/magic" ;;
	esac
	ok "and_packed_as_$ending" $?
done
mkdir "$work/lib"
echo none >"$work/lib/libarchive.so.13"
for c in "bundle -f -o $work/unmade.tar $db" "info $work/form.tar"
do
	# shellcheck disable=SC2086 # words
	LD_LIBRARY_PATH=$work/lib "$B" $c >"$work/text" 2>"$work/said"
	[ $? = 1 ] && grep -qF "written and read by libarchive.so.13: $work/lib/libarchive.so.13: file too short" "$work/said"
	ok "${c%% *}_names_a_library_that_is_none" $?
done
[ ! -e "$work/unmade.tar" ]
ok and_leaves_no_file $?
LD_LIBRARY_PATH=$work/lib "$B" info "$db" >"$work/text" 2>&1
ok other_commands_need_no_such_library $?
(cd "$work" && "$B" bundle -f -o - "$db" >text 2>said)
[ $? = 2 ] && grep -q 'a bundle is a file; -o needs its name' "$work/said" && [ ! -e "$work/-" ]
ok standard_output_is_no_bundle $?
for o in --symfs --debug-dir
do
	"$B" bundle $o "$work/nowhere" -o "$work/unmade.tar" "$db" >"$work/text" 2>"$work/said"
	[ $? = 1 ] && grep -qF -- "$o $work/nowhere: No such file" "$work/said" && [ ! -e "$work/unmade.tar" ]
	ok "a_folder_of_${o#--}_must_be_there" $?
done
