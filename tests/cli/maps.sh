#!/bin/sh
# maps.sh - what processes had mapped, from copies of /proc/PID/maps.
# usage: BACKSTITCH=PROGRAM tests/cli/maps.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2
cp "$cap/ftrace-ustack-both.dat" trace.dat
# two of its user addresses are in here, 0x1ad7 and 0x1a01 behind the starts
printf '%s\n' \
	'7fdc0545a000-7fdc0545c000 r-xp 00012000 fe:00 77    /lib/ld-test.so' \
	'55741b0f7000-55741b0f9000 r-xp 00001000 fe:00 78    /bin/test' >a.txt

# places NAME WANTED OPTION...: images of user frames, with offsets of one
places() {
	name=$1 want=$2
	shift 2
	"$B" query --format csv --no-symbols "$@" trace.dat "
		SELECT DISTINCT i.path, f.off FROM stack_path p
		JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
		WHERE i.path LIKE '%test%' ORDER BY 1, 2" 2>err |
		sed 1d | tr -d '\r"' | tr '\n' ' ' >out
	if [ "$(cat out)" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# got: /' out
		sed 's/^/# err: /' err | head -5
	fi
}

# refuses NAME STATUS TEXT OPTION...
refuses() {
	name=$1 want=$2 text=$3
	shift 3
	"$B" info "$@" trace.dat >out 2>err
	got=$?
	if [ $got = "$want" ] && grep -qF -e "$text" err
	then echo "ok $name"
	else
		echo "not ok $name"
		echo "# status $got"
		sed 's/^/# err: /' err | head -5
	fi
}

places without_a_copy_nothing_is_known ''
both='/bin/test,10753 /lib/ld-test.so,80599 '
# the same without paths: the inode is as good
sed 's, */.*,,' a.txt >inodes.txt
got=$("$B" query --format csv --no-symbols --maps 25911=inodes.txt trace.dat "
	SELECT DISTINCT i.path, f.off, w.name FROM stack_path p
	JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
	JOIN word w ON w.kind = 'image' AND w.id = i.kind
	WHERE i.ino IN (77, 78) ORDER BY 1, 2" | sed 1d | tr -d '\r"' | tr '\n' ' ')
want='[inode 77 of 254:0],80599,file [inode 78 of 254:0],10753,file '
[ "$got" = "$want" ] && echo ok an_inode_without_a_path_is_a_file ||
	echo "not ok an_inode_without_a_path_is_a_file: $got"
got=$("$B" query --format csv --no-symbols --maps 25911=inodes.txt trace.dat \
	"SELECT trim(line) FROM maps WHERE pid = 25911 ORDER BY line" | sed 1d |
	tr -d '\r"')
[ "$got" = "$(sort inodes.txt)" ] && echo ok and_view_maps_gives_it_back ||
	echo "not ok and_view_maps_gives_it_back: $got"
places a_copy_gives_file_and_offset "$both" --maps 25911=a.txt
places one_of_another_process_does_not '' --maps 25909=a.txt
places a_time_says_since_when "$both" --maps 25911=a.txt@1436.9186
places and_before_nothing_is_known '' --maps 25911=a.txt@1437.5
mkdir maps
cp a.txt maps/prog.25911.maps
places a_folder_beside_a_file_may_be_of_another_run ''
"$B" info --no-symbols trace.dat >out 2>err
grep -q 'note .*--maps maps' out && echo ok but_info_tells_of_it ||
	echo not ok but_info_tells_of_it
"$B" info --no-symbols --maps maps trace.dat >out 2>err
grep -q 'note .*--maps maps' out && echo not ok unless_it_is_given ||
	echo ok unless_it_is_given
sed 's/test/other-test/' a.txt >b.txt
places the_option_counts_before_it \
	'/bin/other-test,10753 /lib/ld-other-test.so,80599 ' --maps 25911=b.txt
mv maps elsewhere
places a_folder_by_name "$both" --maps elsewhere
rm elsewhere/*
refuses a_folder_without_such_files 2 'PID.maps' --maps elsewhere
refuses a_word_that_is_none 2 'needs PID=FILE' --maps 25911
refuses a_file_that_is_not_there 1 'nothere' --maps 25911=nothere
echo hello >bad.txt
refuses a_file_without_a_mapping 1 'bad.txt' --maps 25911=bad.txt
cat a.txt bad.txt >half.txt
"$B" info --no-symbols --maps 25911=half.txt trace.dat >out 2>err
[ $? = 3 ] && grep -q 'maps' out && echo ok a_bad_line_is_damage ||
	echo not ok a_bad_line_is_damage
mkdir pages
cp /dev/null pages/cpu0.raw
"$B" info --formats elsewhere pages >out 2>err
[ $? = 1 ] && echo ok pages_without_anything_are_refused ||
	echo not ok pages_without_anything_are_refused

# Beside it a recorder asked for build-ids: its bit is above the device and inode of
# each mapping here. perf 6.1 takes them for a build-id of 254 bytes, and aborted.
"$B" query --format csv --no-symbols "$cap/two-recorders.data" "
	SELECT maj || ' ' || (ino > 0) || ' ' || (build_id IS NULL) FROM image
	WHERE path = '/wl/slower' UNION ALL SELECT kind || ' ' || what FROM damage" \
	2>err | tr -d '\r"' | sed 1d >out
"$B" report --format csv --no-symbols --sort dso "$cap/two-recorders.data" 2>>err |
	tr -d '\r"' | sed 1d >>out
if [ "$(tr '\n' ' ' <out)" = \
	"254 1 1 note unfinished 100.000000,100.000000,10,10030090,10,10030090,/wl/slower " ]
then echo ok a_device_is_no_build_id_of_another_recorder
else
	echo not ok a_device_is_no_build_id_of_another_recorder
	sed 's/^/# /' out err
fi
