#!/bin/sh
# archives.sh - captures in archives and packed files are read where they are.
# usage: BACKSTITCH=PROGRAM tests/cli/archives.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
mkdir "$work/tmp"
TMPDIR=$work/tmp
export TMPDIR
cd "$work" || exit 2

# dbs of the same capture differ by its name and when it was written
rows() {
	"$B" query --format csv "$1" "select time_ns, tid, user_stack, kernel_stack, verdict from samples order by event_id" | md5sum
}
mkdir -p run/lttng
cp "$cap/z-defer.data" run/perf.data
cp "$cap/ftrace-v7.dat" run/trace.dat
cp -r "$cap/ctf-discard/trace" run/lttng
"$B" ingest -q --no-symbols -o whole.db run/perf.data
want=$(rows whole.db)

# bz2 FILE: as bzip2 -c, which Debian does not install by itself
bz2() {
	python3 -c 'import bz2, sys
sys.stdout.buffer.write(bz2.compress(open(sys.argv[1], "rb").read()))' "$1"
}

# ---- one capture, in each form, and packed alone
tar cf one.tar -C run perf.data
tar cf deep.tar run/perf.data
for p in gzip:gz xz:xz zstd:zst
do
	"${p%:*}" -q -c one.tar >"one.tar.${p#*:}"
	"${p%:*}" -q -c run/perf.data >"perf.data.${p#*:}"
done
bz2 one.tar >one.tar.bz2
bz2 run/perf.data >perf.data.bz2
cp one.tar.gz one.tgz
cp one.tar.xz named-otherwise
python3 -c 'import sys, zipfile
for name, how in ("one.zip", zipfile.ZIP_DEFLATED), ("stored.zip", zipfile.ZIP_STORED):
    with zipfile.ZipFile(name, "w", how) as z:
        z.write("run/perf.data")'
for f in one.tar deep.tar one.tar.* one.tgz one.zip stored.zip perf.data.* named-otherwise one.tgz/perf.data deep.tar/run \
	one.zip/run/perf.data
do
	"$B" ingest -q -f --no-symbols -o x.db "$f" >out 2>err
	is "is read: $f" "0 $want" "$? $(rows x.db)"
done
is "nothing is left in TMPDIR" "" "$(ls tmp)"
"$B" ingest -q -f --no-symbols -o x.db - <perf.data.xz
is "xz on standard input" "$want" "$(rows x.db)"
"$B" info - <one.tar >out 2>&1
says "an archive on standard input is named" 'this is a tar archive; give it by name' out

# ---- every command; the database beside it, made once
for c in $("$B" completion bash | sed -n "s/.*compgen -W '\(report [a-z ]*\)'.*/\1/p")
do
	set --
	case $c in
	query) set -- --tables ;;
	export) set -- --format folded ;;
	annotate) continue ;; # it wants a function
	ingest | symbolize | follow | push | merge | bundle | completion | help | page | record | view) continue ;;
	esac
	"$B" "$c" "$@" run/perf.data >a 2>/dev/null
	status=$?
	"$B" "$c" "$@" one.tgz >b 2>err
	rc=$?
	sed 's|one\.tgz/perf\.data|run/perf.data|g; s|one\.tgz|run/perf.data|g' b | tr -s '\n ' '  ' >c
	[ $rc = $status ] && tr -s '\n ' '  ' <a | cmp -s - c
	ok "an archive is read: $c" $?
done
"$B" one.tgz >/dev/null 2>err
[ -s one.db ]
ok "its database has its name" $?
"$B" one.tgz >out 2>err
is "and is read the next time" "reading one.db" "$(cat err)"
"$B" report one.db >out 2>err
is "of which nothing is newer" "" "$(cat err)"
is "the capture is named by both" one.tgz/perf.data "$(one one.db 'select path from capture')"
touch -d tomorrow one.tgz
"$B" report one.db >out 2>err
says "a newer archive is told" 'one.tgz is newer' err

# ---- folders, and several captures
tar czf lttng.tgz run/lttng
"$B" ingest -q -f --no-symbols -o a.db run/lttng
"$B" ingest -q -f --no-symbols -o x.db lttng.tgz
is "a folder of a trace in an archive" "$(rows a.db)" "$(rows x.db)"
tar czf all.tgz run
"$B" report all.tgz >out 2>err
is "captures of other runs are no one run" 1 "$?"
says "and named" "in it, each to be given as all.tgz/NAME: 'run/lttng/trace', 'run/perf.data', 'run/trace.dat'" err
"$B" ingest -q -f --no-symbols -o x.db all.tgz/run/perf.data
is "one of them is read" "$want" "$(rows x.db)"
"$B" report all.tgz/perf.data >out 2>err
is "what is not in it is refused" 2 "$?"
says "with what is" "no 'perf.data' is in this archive; captures in it: 'run/lttng/trace', " err
"$B" dump all.tgz >out 2>err
says "dump takes one" 'has 3 captures; give one of them, as all.tgz/NAME:' err
mkdir two
printf 'main;f 3\n' >two/out.folded
cp run/perf.data two/perf.data
tar czf texts.tgz two/out.folded two/perf.data
"$B" ingest -q -f --no-symbols -o x.db texts.tgz
is "a text beside a capture is left out" "$want" "$(rows x.db)"
"$B" query --format csv x.db "select detail from damage where what = 'archive'" >out
says "which is told" "texts are left out, as captures are next to them: 'two/out.folded'" out
tar czf text.tgz two/out.folded
"$B" report text.tgz >out 2>err
is "a text alone is read" 1 "$(grep -c ' main ' out)"

# ---- what is no capture
refused() {	# refused NAME STATUS WORDS FILE
	"$B" info "$4" >out 2>&1
	is "$1" "$2 1" "$? $(grep -cF -- "$3" out)"
}
mkdir -p sym/.build-id/ab
echo x >sym/.build-id/ab/cdef
tar cf sym.tar -C sym .build-id
bz2 sym.tar >perf.data.tar.bz2
refused "the archive of perf archive" 1 "has files for symbols, as 'perf archive' packs them: 'tar -xf perf.data.tar.bz2" perf.data.tar.bz2
tar czf again.tgz one.tar.gz
refused "an archive in an archive" 1 "'one.tar.gz' in it is an archive again" again.tgz
echo a text of no kind >a.txt
echo text >b.txt
tar cf texts.tar a.txt b.txt
refused "texts of no kind" 1 "no capture is in this archive, and no database, but 'a.txt' and 1 more" texts.tar
tar cf text.tar a.txt
refused "one text" 1 'text.tar/a.txt: this is a text file, needs to be a capture' text.tar
tar cf empty.tar --no-recursion sym
refused "folders alone" 1 'no files are in this archive' empty.tar
gzip -c perf.data.gz >twice.gz
refused "what is packed twice" 1 'this is a gzip file inside a packed file' twice.gz
{
	printf '\004\042\115\030'
	cat run/perf.data
} >data.lz4
refused "what lz4 packed" 1 'this is an lz4 file; unpack it first: lz4 -d' data.lz4

# ---- other ways to write what is read: pzstd begins with a frame to be skipped, and a device ends with zeros
if command -v zstd >/dev/null
then
	{
		printf '\120\052\115\030\004\000\000\000\377\377\377\000'
		zstd -q -c run/perf.data
	} >pzstd.zst
	"$B" ingest -q -f --no-symbols -o x.db pzstd.zst 2>err
	is "a file of pzstd is read" "0 $want" "$? $(rows x.db)"
else
	echo "skip a file of pzstd is read: no zstd"
fi
{
	cat perf.data.gz
	head -c 1000 /dev/zero
} >filled.gz
"$B" ingest -q -f --no-symbols -o x.db filled.gz 2>err
is "zeros behind what gzip packed are no damage" "0 $want" "$? $(rows x.db)"

# what a shell waited for is in its own sums
mkdir large && head -c 8000000 /dev/urandom >large/noise && cp run/perf.data large/
tar czf large.tgz large
# shellcheck disable=SC2016 # for the other shell
sh -c '"$0" info large.tgz >out 2>&1; while read -r k v; do [ "$k" != rchar: ] || echo "$v"; done </proc/self/io' "$B" >taken
[ "$(cat taken)" -gt 8000000 ] && [ "$(cat taken)" -lt 25000000 ]
ok "an archive is unpacked once" $?

python3 "$root/tests/cli/archives.py" "$B" run/perf.data
