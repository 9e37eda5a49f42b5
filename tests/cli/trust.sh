#!/bin/sh
# trust.sh - what is said of user stacks: of which samples, and in which words.
# usage: BACKSTITCH=build/backstitch tests/cli/trust.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

for c in tests/captures/packed/*.tar.xz
do
	tar -C "$work" -xJf "$c" || exit 2
done
cd "$work" || exit 2
find "$root/tests/captures" -maxdepth 1 \( -name '*.data' -o -name '*.data.*z*' \
	-o -name '*.dat' -o -name '*.dat.zst' -o -name 'ftext-*' \) >list
find "$root/tests/captures" "$work" -name metadata -exec dirname {} \; >>list
# twins are unpacked captures of the above
rm -rf twins
find "$work" \( -name perf.data -o -name '*.data' -o -name trace.dat \) >>list

# of FILE: the sentence in a text, which may be wrapped
sentence() {
	tr -s '\n ' '  ' <"$1"
}

if grep -q __asan_init "$B"
then
	echo "skip every sentence is of its samples: under sanitizers it is the same"
else
	tr '\n' '\0' <list | xargs -0 python3 "$root/tests/cli/trust.py" "$B"
	python3 "$root/tests/cli/trust.py" "$B" --changed \
		"$root/tests/captures/shop.data.zst"
fi

# says NAME CAPTURE TEXT OPTION...: what the first screen begins with
says() {
	name=$1 capture=$2 text=$3
	shift 3
	"$B" check "$@" "$root/tests/captures/$capture" >out 2>err
	sentence out | grep -qF -- "$text" || cat out
	ok "$name" "$(sentence out | grep -qF -- "$text"; echo $?)"
}
cp "$work"/clocks/clk_perf_mono.data nog.data || exit 2
"$B" check nog.data >out 2>err
ok without_g_there_is_one_advice "$(sentence out | grep -qF "No stacks were recorded. 'perf record -g' records them."; echo $?)"
ok nothing_of_deferral "$(! grep -qE 'asked for|request|cookie' out; echo $?)"
says frames_without_pointers v72-zstd.data '47.88 % are fabricated'
says ftrace_is_told_of_trace-cmd ftrace-v7.dat \
	"No user stacks were recorded. 'trace-cmd record -T -O userstacktrace' records them."
# What is asked for is more than there was, and nothing where that was much.
"$B" ingest -q -f --symfs "$root/tests/captures/symfs" -o buffers.db \
	"$root/tests/captures/shop.data.zst" 2>/dev/null
bad=0
for asked in ":4M" "-m 2M:8M" "-m 1024:16M" "-m 8M:64M" "-m 64M:"
do
	python3 - buffers.db "${asked%:*}" <<'PY'
import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as db:
    db.execute("UPDATE capture SET cmdline = 'perf record ' || ?", sys.argv[2:])
PY
	"$B" report buffers.db 2>/dev/null | sed -n 1,4p >out
	got=$(sentence out | sed -n "s/.*'perf record -m \([^']*\)'.*/\1/p")
	[ "$got" = "${asked#*:}" ] || { echo "$asked: $got"; bad=1; }
done
ok more_buffers_are_asked_for_than_there_were $bad
"$B" ingest -q -f -o damaged.db lttng-damaged/lt_body >/dev/null 2>&1
"$B" check damaged.db >out 2>err
ok a_database_of_damage_is_not_clean "$(! grep -q clean out; echo $?)"

# ends NAME STATUS OPTION...: of a capture whose stacks were walked without frame pointers
ends() {
	name=$1 want=$2
	shift 2
	"$B" check "$@" "$root/tests/captures/naps.data" >out 2>err
	got=$?
	ok "$name" "$([ "$got" = "$want" ]; echo $?)"
}
ends fabricated_stacks_are_not_clean 0
ok and_are_said_first "$(sentence out | grep -qF 'doubtful: nothing lost, but no user stack is whole'; echo $?)"
# the files that are the cause are named where those that ran are here
ok and_why "$(sentence out | grep -qE '33.33 % are fabricated( \(libc.so.6 and 1 other file have no frame pointers\))?\.'; echo $?)"
# but not one that is the cause of a few of them
"$B" ingest -q -o naps.db "$root/tests/captures/naps.data" 2>err
for n in 4 11
do
	python3 - $n <<'PY'
import sqlite3, sys
n = int(sys.argv[1])
with sqlite3.connect("naps.db") as db:
    db.execute("INSERT OR REPLACE INTO internal_frame_share VALUES(3, 100, 100), (5, 100, 0)")
    db.execute("UPDATE internal_user_trust SET n = iif(image = 5, ?, ?) WHERE image", (n, 15 - n))
PY
	"$B" check naps.db >out 2>err
	sentence out | grep -oE '60.00 % are fabricated( \([^)]*\))?'
done >causes
is but_not_for_a_few_of_them '60.00 % are fabricated
60.00 % are fabricated (libc.so.6, for one, has no frame pointers)' "$(cat causes)"
ends some_may_be_whole 0 --min-whole 0
ends fewer_than_demanded_end_with_4 4 --min-whole 90
ok and_that_is_said "$(sentence out | grep -qF 'broken: no user stack is whole'; echo $?)"
ends a_part_of_them_too 4 --min-whole 0.5% --comm sh
ends a_share_is_at_most_100 2 --min-whole 101
ends and_a_number 2 --min-whole many

# 2,884 of 3,220 are 89.5652 %
says numbers_tell_what_a_rounded_share_does_not shop.data.zst \
	'only 89.57 % of the user stacks are known to be whole (2,884 of 3,220)' --min-whole 89.57 --symfs "$root/tests/captures/symfs"

# data of a library is no code, though code in anonymous memory may be anywhere:
# not where the file has nothing, nor with a file that nothing proves
at=7f0000
cat >data.txt <<END
event cpu-clock period=1000
comm pid=100 name=app exec time=100
mmap pid=100 start=0x${at}001000 len=0x1000 pgoff=0x1000 path=/usr/local/cap/bin/libleaf-fp.so id=852276483f907af3391d1b3f5aa37e8b2e887e6c time=200
mmap pid=100 start=0x${at}100000 len=0x1000 pgoff=0 path=//anon time=300
sample pid=100 tid=100 cpu=0 time=500 ip=0x${at}001160 u=0x${at}001160,0x${at}003f00
sample pid=100 tid=100 cpu=0 time=600 ip=0x${at}001160 u=0x${at}001160,0x${at}002010
sample pid=100 tid=100 cpu=0 time=700 ip=0x${at}001160 u=0x${at}001160,0x${at}000010
sample pid=100 tid=100 cpu=0 time=800 ip=0x${at}001160 u=0x${at}001160,0x${at}003000
sample pid=100 tid=100 cpu=0 time=900 ip=0x${at}001160 u=0x${at}001160,0x${at}005000
END
sed 's/ id=[0-9a-f]*//' data.txt >unproved.txt
sed '$s/.*/lost n=3 cpu=0 time=400/' data.txt >lossy.txt
for name in data unproved lossy
do
	"$MKCAP" $name.txt $name.data
	"$B" ingest -q -o $name.db --symfs "$root/tests/captures/symfs" $name.data 2>err
	printf '%s ' $name
	sqlite3 $name.db "SELECT group_concat(CASE w.name WHEN 'not judged (mappings)' THEN 'unchecked' ELSE
			substr(w.name, 1, 10) END, ' ') FROM event e JOIN raw_chain c ON c.id = e.uraw
		JOIN internal_judged j ON j.stack = c.stack
		JOIN word w ON w.kind = 'judged' AND w.id = j.class"
done >got
cat >want <<'END'
data fabricated fabricated fabricated unchecked unchecked
unproved unchecked unchecked unchecked unchecked unchecked
lossy unchecked unchecked unchecked unchecked
END
diff want got
ok nothing_was_called_from_data $?

# A dump leads nowhere from code that no unwind table covers: that of a JIT that
# names nothing, and of a file without tables. With tables, it may.
cat >tables.c <<'END'
int leaf(int n) { return n * 3; }
int main(void) { return leaf(1); }
END
for kind in with without
do
	no=$([ $kind = without ] && echo no-)
	gcc -O0 -nostartfiles -static -Wl,-e,main -fomit-frame-pointer -f"$no"asynchronous-unwind-tables \
		-f"$no"unwind-tables -o $kind tables.c || continue
	leaf=$(nm $kind | sed -n 's/ T leaf//p')
	seg=$(readelf -lW $kind | awk '/LOAD.*R E/ { print $2, $3, $5 }')
	# shellcheck disable=SC2086 # three numbers
	set -- $seg
	cat <<END
mmap pid=100 start=$2 len=0x1000 pgoff=$1 path=$work/$kind time=200
sample pid=100 tid=100 cpu=0 time=$((${#kind} * 1000)) ip=0x$leaf u=0x$leaf,$(printf '%#x' $((0x$leaf + 2)))
END
	# each in a process of its own
done | awk '/^mmap/ { pid++ } { sub("pid=100", "pid=10" pid); sub("tid=100", "tid=10" pid); print }' >both.txt
{
	# of this machine: on another one so few samples prove no file
	echo "host $(uname -n) $(uname -r)"
	echo 'event cpu-clock period=1000'
	for pid in 101 102 103 104
	do
		echo "comm pid=$pid name=p$pid exec time=100"
	done
	cat both.txt
	echo 'mmap pid=103 start=0x7f0000 len=0x1000 pgoff=0 path=//anon time=300
sample pid=103 tid=103 cpu=0 time=9000 ip=0x7f0010 u=0x7f0010
sample pid=103 tid=103 cpu=0 time=9100 ip=0x7f0020 u=0x7f0020'
	# of a thread that runs such code, what has no caller may have one there
	sed -n '/^mmap.*with$/s/pid=101/pid=104/p' both.txt
	main=0x$(nm with | sed -n 's/ T main//p')
	echo "mmap pid=104 start=0x7f0000 len=0x1000 pgoff=0 path=//anon time=300
sample pid=104 tid=104 cpu=0 time=9200 ip=0x7f0030 u=0x7f0030
sample pid=104 tid=104 cpu=0 time=9300 ip=$main u=$main"
} >nowhere.txt
"$MKCAP" nowhere.txt nowhere.data && "$B" ingest -q -o nowhere.db nowhere.data 2>err
for comm in '*' p101 p102 p103 p104
do
	"$B" check --comm "$comm" nowhere.db 2>err | tr -s '\n ' '  ' | grep -o "'perf record[^.]*" || echo none
done >got
"$B" check nowhere.db 2>err | tr -s '\n ' '  ' | grep -o "'perf record[^.]*" >>got
cat >want <<'END'
'perf record --call-graph dwarf,16384' may mend 16
'perf record --call-graph dwarf,16384' may mend all of them
none
none
none
'perf record --call-graph dwarf,16384' may mend 16
END
diff want got >differ
status=$?
cat differ
if [ -x with ] && [ -x without ]
then ok no_dump_is_advised_where_it_would_end $status
else echo "skip no_dump_is_advised_where_it_would_end: no gcc"
fi

# what is wrong comes behind, largest first
says the_largest_comes_first s390x-z.data \
	'No user stack is known to be whole. 50.37 % are unchecked for want of the file, 48.88 % have one frame only, 0.50 % are fabricated, 0.25 % other.'

# stack dumps that were unwound to where the thread begins
says unwound_stacks_are_whole frames32.data.zst 'All 86 user stacks are whole.' --symfs "$root/tests/captures/symfs"

# a file has others that set one: the function is named, of all samples and of some
"$B" ingest -q -f --symfs symfs-6.18 -o nofp.db fpcap/nofp-200.data 2>err
"$B" check nofp.db >out 2>err
ok a_function_without_frame_pointer_is_told "$(sentence out | grep -qF '4.00 % end early in a function that sets no frame pointer'; echo $?)"
"$B" flame --include rec -o rec.svg nofp.db 2>err
grep -q 'all end early in a function that sets no frame pointer (rec)' rec.svg
ok and_named_where_there_is_room $?
ok and_check_counts_its_samples "$(sentence out | grep -qF 'end early in rec of target 8 (4.00 %)'; echo $?)"
is and_json_too "rec ends early (function) 8 4.0" "$("$B" check --json nofp.db >json; of_json json \
	'" ".join(str(e[k]) for e in r["ends_early"] for k in ("function", "class", "samples", "share"))')"
"$B" report --comm '*' nofp.db >some 2>err
"$B" report nofp.db >all 2>err
is filters_name_the_same_function "$(head -n 1 all)" "$(head -n 1 some)"

# each word of a class has its line of help
"$B" help verdicts >words
for word in whole 'caller missing' 'one frame' 'fabricated (no frame pointers)' 'cut (truncated_dump)' \
	'cut (no_table)' 'not judged (no file)' 'missing (chain_lost)' 'not recorded'
do
	grep -qF -- "  $word" words || echo "$word"
done >lacking
ok each_class_has_its_line_of_help "$([ ! -s lacking ]; echo $?)"

# A stack of 100 kB in dumps of the largest size, and of half of it: the other half
# is left out of the record.
zstd -dcq "$root/tests/captures/deep.data.zst" >deep.data
python3 - <<'END'
import struct
d = bytearray(open("deep.data", "rb").read())
attr, = struct.unpack_from("<Q", d, 24)
at, size = struct.unpack_from("<QQ", d, 40)
struct.pack_into("<I", d, attr + 88, 32768)
left = 0
while not left:
    kind, misc, n = struct.unpack_from("<IHH", d, at)
    if kind == 9:
        begin = next(i for i in range(at + 8, at + n, 8)
                     if struct.unpack_from("<Q", d, i)[0] in (65248, 65528)
                     and at + n - 16 - (i + 8) == struct.unpack_from("<Q", d, i)[0])
        full, = struct.unpack_from("<Q", d, begin)
        left = full - 32768
        struct.pack_into("<Q", d, begin, 32768)
        struct.pack_into("<Q", d, at + n - 16, 32768)
        struct.pack_into("<H", d, at + 6, n - left)
        del d[begin + 8 + 32768:begin + 8 + full]
    at += n
struct.pack_into("<Q", d, 48, size - left)
# what is behind the records is not read
struct.pack_into("<4Q", d, 72, 0, 0, 0, 0)
open("half.data", "wb").write(d)
END
for name in deep half
do
	"$B" ingest -q -f --no-symbols --symfs "$root/tests/captures/symfs" -o $name.db $name.data
	sqlite3 $name.db 'SELECT class, fix FROM trust'
done >fixes
is a_larger_dump_is_asked_for_if_there_is_one 'cut (unread)|
cut (truncated_dump)|perf record --call-graph dwarf,65528' "$(cat fixes)"
# dumps without a byte, as inside execve: nothing to mend, and not for 'record --again'
python3 - <<'END'
import struct
d = bytearray(open("deep.data", "rb").read())
at, size = struct.unpack_from("<QQ", d, 40)
end = at + size
while at < end:
    kind, _, size = struct.unpack_from("<IHH", d, at)
    if kind == 9:  # the dump's size is in front of data_src
        d[at + size - 16:at + size - 8] = bytes(8)
    at += size
open("execve.data", "wb").write(d)
END
"$B" ingest -q -f --no-symbols --symfs "$root/tests/captures/symfs" -o execve.db execve.data
is a_dump_without_a_byte_has_no_remedy 'cut (empty_dump)|' "$(sqlite3 execve.db 'SELECT class, fix FROM trust')"
"$B" execve.db >out 2>err
ok and_is_no_short_one "$(sentence out | grep -qF 'all have an empty dump, as inside execve.'; echo $?)"
# dumps of fewer bytes than were asked for, as where a page was never touched
python3 - <<'END'
import struct
d = bytearray(open("deep.data", "rb").read())
at, size = struct.unpack_from("<QQ", d, 40)
end = at + size
while at < end:
    kind, _, size = struct.unpack_from("<IHH", d, at)
    if kind == 9:
        struct.pack_into("<Q", d, at + size - 16, 512)
    at += size
open("unread.data", "wb").write(d)
END
"$B" ingest -q -f --no-symbols --symfs "$root/tests/captures/symfs" -o unread.db unread.data
is what_the_kernel_could_not_read_no_larger_dump_has 'cut (unread)|' \
	"$(sqlite3 unread.db 'SELECT class, fix FROM trust')"

# perf's unwinder made these of stack dumps, without 'cloned', which called 'work'
"$B" report --no-symbols "$root/tests/captures/converted.data" >out 2>err
is converted_stacks_are_not_judged \
	'All 15 user stacks are unchecked, as perf inject unwound them. The file as perf recorded it would check all of them.' \
	"$(head -1 out)"
is and_stand_as_perf_prints_them '55f15f024192 55f15f0241c4 55f15f024057 7faa28111249 7faa28111304 55f15f0240a0' \
	"$("$B" script --no-symbols -F ip "$root/tests/captures/converted.data" | sed -n '2,7s/[^0-9a-f]*//gp' | paste -sd' ')"

# Of 1,000 stacks along frame pointers 900 are whole, and so many of these are deeper
# than a dump. frames: of internal_user_trust.
"$B" ingest -q -f -o sizes.db "$root/tests/captures/fp-1.data"
for deep in '0 0 dwarf,16384' '20 0 dwarf,65528' '900 0 dwarf,65528' '900 90 dwarf,65528' '900 200 '
do
	# shellcheck disable=SC2086 # numbers and a text
	set -- $deep
	sqlite3 sizes.db "DELETE FROM internal_user_trust;
		INSERT INTO internal_user_trust(type, judged, frames, n)
		SELECT 1, 'whole', NULL, 900 - $1 UNION ALL
		SELECT 1, 'whole', 2, $1 - $2 UNION ALL
		SELECT 1, 'whole', 3, $2 UNION ALL
		SELECT 1, 'caller missing', NULL, 100"
	"$B" check sizes.db >out 2>err
	echo "$1 $2 $(sentence out | sed -n "s/.*--call-graph \([^']*\)'.*/\1/p")"
done >sizes
is dumps_are_advised_by_the_depth_of_whole_stacks "0 0 dwarf,16384
20 0 dwarf,65528
900 0 dwarf,65528
900 90 dwarf,65528
900 200 " "$(cat sizes)"

# as many of 200 that were cut will be whole as of the 300 others, half of which no table proves
sqlite3 half.db "UPDATE internal_user_trust SET n = 200;
	INSERT INTO internal_user_trust (type, judged, n) SELECT type, 'whole', 150 FROM internal_user_trust
	UNION ALL SELECT type, 'not judged (no table)', 150 FROM internal_user_trust"
"$B" half.db >out 2>err
ok what_no_table_proves_will_not_be_whole "$(sentence out | grep -qF "'perf record --call-graph dwarf,65528' may mend 20.00 %"; echo $?)"
