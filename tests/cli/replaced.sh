#!/bin/sh
# replaced.sh - a program that was built anew gives no names to what ran before.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/replaced.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
dir=$PWD # perf records the true path
HOME=$dir
XDG_CACHE_HOME=$dir
export HOME XDG_CACHE_HOME

# The recorder makes its file before the program is built, and writes it later.
: >c.data
: >none.data
cat >p.s <<'EOF3'
	.text
	.globl _start
	.type _start, @function
_start:
	.zero 4096
	.size _start, 4096
EOF3
if ! ${CC:-gcc} -c -o p.o p.s || ! ld --build-id=sha1 -o prog p.o ||
	! ld --build-id=none -o bare p.o
then
	echo "skip replaced: no assembler and linker"
	exit 0
fi
if [ "$(stat -c %W prog)" = 0 ]
then
	echo "skip replaced: the file system does not tell when files were made"
	exit 0
fi
id=$(readelf -n prog | sed -n 's/.*Build ID: *//p')
off=$(readelf -lW prog | awk '$1 == "LOAD" && / R E / { print $2 }')

# record OUT PATH INODE MORE ID: the capture of a program that was mapped from a
# file with this inode. ID: what perf read from that path at the end
record() {
	python3 - "$2" "$3" "$4" "$5" "$off" >c.txt <<'EOF3'
import os, sys
path, ino, more, id, off = sys.argv[1:]
st = os.stat(path)
u = os.uname()
print(f'event cpu-clock\nhost {u.nodename} {u.release}')
print('comm pid=7 name="prog" exec')
print(f'mmap pid=7 start=0x400000 len=0x1000 pgoff={off} path={path} '
      f'maj={os.major(st.st_dev)} min={os.minor(st.st_dev)} '
      f'ino={st.st_ino + int(ino)} {more}')
print('sample pid=7 tid=7 cpu=0 time=1000 u=0x400010')
print('sample pid=7 tid=7 cpu=0 time=2000 u=0x400020')
if id:
    name = path.encode()
    name += bytes(64 - len(name) % 64)
    print('raw type=67 misc=0x8002 hex=ffffffff' + id + '14000000' +
          name.hex())
EOF3
	"$MKCAP" c.txt "$1"
}

# status CAPTURE: what the names of the program are
status() {
	"$B" ingest -q -f -o x.db "$1" 2>err
	"$B" query --format csv x.db "SELECT i.status || ' ' ||
		count(f.symbol) FROM image i JOIN frame f ON f.image = i.id
		WHERE i.path LIKE '$dir/%'" | tail -n +2 | tr -d '\r"'
}

# why: what says that the file is the one
why() {
	"$B" query --format csv x.db "SELECT identity FROM image
		WHERE path LIKE '$dir/%'" | tail -n +2 | tr -d '\r"'
}

record c.data "$dir/prog" 0 '' "$id"
is the_file_that_was_mapped 'named 2' "$(status c.data)"
is it_says_why 'read: build-id of the path' "$(why)"
"$B" merge -q -f -o y.db x.db 2>err && mv y.db x.db
is also_after_merge 'read: build-id of the path' "$(why)"
record c.data "$dir/prog" 1 '' "$id"
is another_one_that_came_meanwhile 'replaced 0' "$(status c.data)"
"$B" info x.db >out
says info_says_so "no names for $dir/prog: replaced, 2 addresses" out
says and_what_has_more "'backstitch symbolize x.db', with --symfs DIR" out
# The build-id in the capture is of the other one, and proves nothing.
mkdir old && cp prog old
"$B" symbolize --symfs old x.db >/dev/null 2>err
is what_is_given_is_not_proved 'given: path' "$(why)"
is the_old_build_may_be_given 'unverified 2' "$("$B" query --format csv x.db \
	"SELECT i.status || ' ' || count(f.symbol) FROM image i
	JOIN frame f ON f.image = i.id WHERE i.path LIKE '$dir/%'" |
	tail -n +2 | tr -d '\r"')"
# A capture has no names to add to: what is said of one can be done, too.
"$B" info c.data >out
advice=$(sed -n "s/.* have more: 'backstitch \(.*\)', with --symfs DIR.*/\1/p" out)
is of_a_capture_another_command_has_more "ingest c.data" "$advice"
# shellcheck disable=SC2086 # words
"$B" $advice --symfs old 2>err
is which_names_what_it_said "named 2" "$(one c.db "SELECT 'named ' || count(f.symbol) FROM image i
	JOIN frame f ON f.image = i.id WHERE i.path LIKE '$dir/%'" | tr -d '\r"')"
"$B" info --symfs old c.data >out
! grep -q 'have more.*--symfs' out
ok what_was_given_is_no_advice $?
"$B" symbolize --symfs old c.data 2>err
says who_tries_it_with_a_capture_is_told "'backstitch ingest c.data' makes one, with the same options" err
# Nor does it tell what can be a return address, or what the instructions are.
judged() {
	"$B" query --format csv "$1" "SELECT w.name FROM internal_judged j
		JOIN word w ON w.kind = 'judged' AND w.id = j.class
		JOIN stack s ON s.id = j.stack AND s.depth = 2" | tail -n +2 | tr -d '\r"'
}
sed 's/u=0x400020/u=0x400020,0x400030/' c.txt >d.txt
"$MKCAP" d.txt c.data
"$B" ingest -q -f -o d.db c.data 2>err
is no_stack_is_judged_by_its_code 'not judged (no file)' "$(judged d.db)"
"$B" annotate d.db "prog+$(printf '%#x' $((off + 16)))" >out 2>err
is no_instruction_is_shown_of_it 1 $?
"$B" bundle -f -o d.tar d.db >out 2>err
is and_it_is_not_packed 0 "$(tar tf d.tar | grep -c 'symfs/')"
record c.data "$dir/prog" 0 '' "$id"
sed 's/u=0x400020/u=0x400020,0x400030/' c.txt >d.txt
"$MKCAP" d.txt c.data
"$B" ingest -q -f -o d.db c.data 2>err
is by_that_of_the_mapped_file_it_is 'fabricated (no frame pointers)' "$(judged d.db)"
record c.data "$dir/prog" 1 '' "$id"
# a copy is younger than what it tells of
sed 's/time=2000/time=9000000000/' c.txt >d.txt
"$MKCAP" d.txt copy.data
is when_a_copy_was_recorded_is_not_known 'unverified 2' "$(status copy.data)"
"$B" info x.db >out
says info_names_the_file_that_nothing_proves "unverified   $dir/prog, \
100.00 % of samples: another file than the mapped one is there; 'perf record \
--buildid-mmap' tells them apart; believed: build-id, another file is there now" out
for c in report check info annotate
do
	"$B" $c x.db 2>&1 | tr -s ' \n' ' ' >out
	says ${c}_says_that_names_are_not_proved \
		'Nothing proves the names of 100.00 % of the samples.' out
done
"$B" report copy.data 2>&1 | tr -s ' \n' ' ' >out
says so_does_the_first_look_at_a_capture \
	'Nothing proves the names of 100.00 % of the samples.' out
record c.data "$dir/prog" 1 '' "$id"
sed 's/maj=[0-9]*/maj=99/' c.txt >d.txt
"$MKCAP" d.txt c.data
# A container's, which has the path of a file of this machine: the build-id is
# perf's of the latter. Only of a file on a disk stat() tells the device that is
# in records.
case $(stat -c %Hd prog) in
0) want='named 2' ;;
*) want='replaced 0' ;;
esac
is a_file_of_another_device_may_be_any "$want" "$(status c.data)"
sed 's/ino=[0-9]*/ino='"$(stat -c %i prog)"'/' d.txt >e.txt
"$MKCAP" e.txt c.data
is a_disk_may_have_got_another_number 'named 2' "$(status c.data)"
record c.data "$dir/prog" 1 "id=$id" ''
is the_build_id_of_the_kernel_is_of_the_mapped_file 'named 2' \
	"$(status c.data)"
is as_it_says 'proved: build-id' "$(why)"

# What is proved is said of a file's identity, not of its name: a debug file may
# be called as its program is, and a program as a debug file is.
mkdir -p "alone$dir" "given$dir"
objcopy --only-keep-debug prog "alone$dir/prog"
"$B" ingest -q -f -o x.db --symfs alone c.data 2>err
is a_debug_file_alone_has_its_build_id 'proved: build-id' "$(why)"
"$B" report x.db 2>&1 | tr -s ' \n' ' ' >out
is whatever_it_is_called 0 "$(grep -c 'Nothing proves' out)"
record c.data "$dir/prog" 1 '' "$id"
sed 's/^host .*/host elsewhere 1.2.3/' c.txt >d.txt
"$MKCAP" d.txt c.data
"$B" ingest -q -f -o x.db --symfs alone c.data 2>err
is as_it_has_if_that_was_read_from_the_path 'read: build-id of the path' "$(why)"
"$B" bundle -f -o x.tar x.db >out 2>&1
is which_refutes_no_program "symfs$dir/prog" "$(tar tf x.tar | grep '/prog$')"
cp prog x.debug && cp prog "given$dir/x.debug"
record c.data "$dir/x.debug" 1000 '' "$id"
"$B" ingest -q -f -o x.db --symfs given c.data 2>err
"$B" report x.db 2>&1 | tr -s ' \n' ' ' >out
is a_programs_name_is_no_evidence 'given: path' "$(why)"
says and_proves_nothing \
	'Nothing proves the names of 100.00 % of the samples.' out
record c.data "$dir/prog" 1 '' "$id"
sed 's/^host .*/host elsewhere 1.2.3/' c.txt >d.txt
"$MKCAP" d.txt c.data
is on_another_machine_inodes_differ 'named 2' "$(status c.data)"
is there_a_build_id_was_read 'read: build-id of the path' "$(why)"
# Its stacks are judged by it, unless what was mapped has another length.
judged() {
	sed "s/len=0x1000/len=$1/;s/u=0x400010/u=0x400010,0x400020/" d.txt >e.txt
	"$MKCAP" e.txt c.data
	status c.data >/dev/null
	"$B" query --format csv x.db "SELECT DISTINCT w.name
		FROM internal_judged j JOIN word w ON w.kind = 'judged'
		AND w.id = j.class" | tail -n +2 | tr -d '\r"'
}
is and_judges_stacks 'fabricated' "$(judged 0x1000 | grep -o fabricated)"
judged 0x3000 >out
is but_not_of_a_mapping_of_another_length 'not judged (no file)' \
	"$(grep -o 'not judged.*' out)"
is of_which_no_name_is_taken 'replaced 0 ' "$(status c.data) $(why)"
"$B" report x.db 2>&1 | tr -s ' \n' ' ' >out
says and_the_remedy_is_said 'prog here is another file than the one that ran (replaced, or in a container): 100.00 % of the samples have no names' out
"$B" symbolize x.db >/dev/null 2>err
is symbolize_leaves_it_so 'replaced' "$("$B" query --format csv x.db \
	"SELECT status FROM image WHERE path LIKE '%/prog'" | tail -n 1 | tr -d '\r"')"
"$MKCAP" d.txt c.data
is also_if_names_are_kept_from_before 'named 2 read: build-id of the path' \
	"$(status c.data) $(why)"

# In perf's cache here is what was at that path on this machine.
mkdir -p ".debug$dir/bare/$id" && cp bare ".debug$dir/bare/$id/elf"
record c.data "$dir/bare" 1000 '' ''
mkdir nothing
of_the_cache() {
	"$MKCAP" "$1" c.data && "$B" ingest -q -f -o x.db --symfs nothing c.data 2>err
	"$B" query --format csv x.db "SELECT status FROM image
		WHERE path = '$dir/bare'" | tail -n 1 | tr -d '\r"'
}
is a_file_in_the_cache_with_another_inode_took_its_place 'replaced' \
	"$(of_the_cache c.txt)"
sed 's/^host .*/host elsewhere 1.2.3/' c.txt >d.txt
is on_another_machine_it_tells_nothing 'no file' "$(of_the_cache d.txt)"
rm -r .debug

# Without a build-id, the inode is proof if the file has not changed since before
# the recording began.
sleep 0.1
: >late.data
sleep 0.1
record late.data "$dir/bare" 0 '' ''
is the_mapped_file_that_has_not_changed_since 'named 2' "$(status late.data)"
# a copy is younger than what it tells of
sed 's/time=2000/time=9000000000/' c.txt >d.txt
rm copy.data # older than that on a slow machine
"$MKCAP" d.txt copy.data
is of_a_copy_nobody_knows_when_it_was_recorded 'unverified 2' \
	"$(status copy.data)"
touch bare
is one_that_was_changed_later 'replaced 0' "$(status late.data)"
# in some seconds, as nobody knows how long a busy machine takes to read it
now=$(python3 -c 'import time
print(time.clock_gettime_ns(time.CLOCK_MONOTONIC_RAW) + 5 * 10**9)')
sed "s/time=1000/time=$now/; s/time=2000/time=$((now + 1000))/" c.txt >d.txt
"$MKCAP" d.txt live.data
{
	sleep 0.1
	cat live.data
} | "$B" ingest -q -f -o x.db - 2>err
is a_stream_is_recorded_while_it_is_read 1 "$("$B" query --format csv x.db \
	"SELECT count(*) FROM image WHERE status = 'named'
	AND path LIKE '$dir/%'" | tail -n +2 | tr -d '\r')"

# The recording ends, then the same program is installed again.
record c.data "$dir/prog" 0 '' "$id"
# Times have the grain of the kernel's tick.
for _ in $(seq 1000)
do
	: >new
	[ -z "$(find new -newer c.data)" ] || break
	rm new
done
cp prog new && mv new prog
is the_same_file_again_is_as_good 'named 2' "$(status c.data)"

record none.data "$dir/bare" 0 '' ''
is no_build_id_proves_nothing 'unverified 2' "$(status none.data)"
"$B" info x.db >out
says info_says_why_nothing_does \
	"unverified   $dir/bare, 100.00 % of samples: no build-id; believed: \
inode, perhaps written since" out
cp bare too
ino=$(stat -c %i too)
sed "/^mmap/{p;s/0x400000/0x500000/;s/path=[^ ]*/path=$(
	echo "$dir" | sed 's|/|\\/|g')\\/too/;s/ino=[0-9]*/ino=$ino/}" c.txt >d.txt
echo 'sample pid=7 tid=7 cpu=0 time=3000 u=0x500020' >>d.txt
"$MKCAP" d.txt none.data
is of_two_neither_is_proved 'unverified 3' "$(status none.data | sed 's/ 2$/ 3/')"
"$B" check x.db 2>&1 | tr -s ' \n' ' ' >out
says parts_of_all_add_up_to_all \
	' Nothing proves the names of 100.00 % of the samples.' out
sed 's/^event.*/& nochain/;s/u=/ip=/' d.txt >c.txt
"$MKCAP" c.txt none.data
"$B" check none.data 2>&1 | tr -s ' \n' ' ' >out
says a_recording_of_unproved_names_is_not_clean 'none.data: doubtful: nothing \
lost, but 100.00 % of the samples have names of files that nothing proves ' out
record none.data "$dir/bare" 0 '' ''
cp bare new && mv new bare
is without_one_a_later_file_is_refused 'replaced 0' "$(status none.data)"

# names of a file that nothing proves, until the one that ran is here; then until it is here
# without names
sed "s/_start/wrong/; s/\\.zero 4096/.rept 4096; nop; .endr/" p.s >w.s && "${CC:-gcc}" -g -c -o w.o w.s && ld --build-id=none -e wrong -o w w.o
for kind in whole stripped
do
	ld --build-id=none -o "$kind" p.o
	[ $kind = whole ] || strip "$kind"
	mkdir -p "away$dir"
	cp w "away$dir/$kind"
	rm -f late.data
	sleep 0.1
	: >late.data
	sleep 0.1
	record late.data "$dir/$kind" 0 '' ''
	"$B" ingest -q -f --symfs away -o x.db late.data 2>err
	names="SELECT group_concat(DISTINCT y.name) || ' ' || count(f.line) || ' ' || i.status || ' ' || i.file
		FROM frame f JOIN symbol y ON y.id = f.symbol JOIN image i ON i.id = f.image"
	is "names_of_another_file_are_unproved_$kind" "wrong 2 unverified away$dir/$kind" "$(one x.db "$names" | tr -d '\r"')"
	"$B" symbolize x.db 2>said
	case $kind in
	whole)
		is they_give_way_to_those_of_the_file_that_ran "_start 0 named $dir/whole" \
			"$(one x.db "$names" | tr -d '\r"')"
		says and_that_is_told '2 addresses had the name of a file that nothing proves' said
		cp bare "away$dir/whole"
		"$B" symbolize x.db 2>said
		is what_becomes_of_the_other_file_is_not_told '' "$(grep not.what said)"
		;;
	*)
		is but_stay_unproved_if_it_has_none "wrong 2 unverified away$dir/stripped" \
			"$(one x.db "$names" | tr -d '\r"')"
		;;
	esac
done

# a stripped copy has no name in place of those that are there
record c.data "$dir/prog" 0 '' "$id"
"$B" ingest -q -f -o x.db c.data 2>err
mkdir -p "bare.d$dir" && strip -o "bare.d$dir/prog" prog
"$B" symbolize --no-cache --symfs bare.d x.db 2>err
is the_file_that_gave_names_stays "named $dir/prog" \
	"$(one x.db "SELECT status || ' ' || file FROM image WHERE path = '$dir/prog'" | tr -d '\r"')"

# nor do names that nothing proves become those of another such file
sed 's/_start/other/' p.s >w.s && "${CC:-gcc}" -c -o w.o w.s && ld --build-id=none -e other -o w w.o
for folder in one two
do
	mkdir -p "$folder$dir"
	cp w "$folder$dir/gone"
	cp bare w
done
sed "s|path=[^ ]*|path=$dir/gone|" c.txt | grep -v '^raw' >d.txt
"$MKCAP" d.txt gone.data
"$B" ingest -q -f --symfs one -o x.db gone.data 2>err
"$B" symbolize --symfs two x.db 2>err
is names_of_one_file_are_not_said_to_be_of_another "other unverified one$dir/gone 1" "$(one x.db \
	"SELECT group_concat(DISTINCT y.name) || ' ' || i.status || ' ' || i.file || ' ' ||
		(SELECT count(DISTINCT file) FROM internal_image_section)
	FROM frame f JOIN symbol y ON y.id = f.symbol JOIN image i ON i.id = f.image" | tr -d '\r"')"
