#!/bin/sh
# identity.sh - no name, class or instruction comes from a file that is not the
# one that ran.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/identity.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
dir=$PWD # perf records the true path
HOME=$dir
XDG_CACHE_HOME=$dir
export HOME XDG_CACHE_HOME
CC=${CC:-gcc}

# Version A has alpha and beta, version B has beta, new_one and alpha: the
# function that never runs is where another one was.
cat >hot.c <<'EOF2'
#include <time.h>
volatile long sink;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
#define BURN(name, k)                                                          \
	__attribute__((noinline)) void name(double s)                          \
	{                                                                      \
		double e = now() + s;                                          \
		while (now() < e)                                              \
			for (int i = 0; i < 20000; i++)                        \
				sink += i * k;                                 \
		sink++;                                                        \
	}
#ifdef B
BURN(beta, 3) BURN(new_one, 5) BURN(alpha, 7)
#else
BURN(alpha, 7) BURN(beta, 3)
#endif
#ifdef MAIN
int main(void)
{
	for (int i = 0; i < 20 * MAIN; i++) {
		alpha(0.01);
		beta(0.005);
	}
	return 0;
}
#endif
EOF2
cat >m.c <<'EOF2'
void alpha(double), beta(double);
int main(void)
{
	alpha(0.2);
	beta(0.1);
	return 0;
}
EOF2
# build OUT OPTION...
build() {
	build_out=$1
	shift
	"$CC" -O1 -g -fno-omit-frame-pointer -Wl,--build-id -o "$build_out" "$@" \
		2>err
}
mkdir lib new
if ! build one -DMAIN=400 hot.c || ! build two -DB -DMAIN=400 hot.c ||
	! build lib/libhot.so -fPIC -shared hot.c ||
	! build new/libhot.so -fPIC -shared -DB hot.c ||
	! build m m.c -Llib -lhot "-Wl,-rpath,$dir/lib"
then
	echo "skip identity: no compiler"
	exit 0
fi
if [ "$(id -u)" != 0 ] || ! perf record -q -o try.data true 2>/dev/null ||
	! unshare -um true 2>/dev/null
then
	echo "skip identity: perf or root is not here"
	exit 0
fi
# Some processors show a sample at few instructions of a loop, so that a thousand a
# second are at one or two of them.
record_to() {
	record_out=$1
	shift
	perf record -q -F 9999 "$@" >"$record_out" 2>/dev/null
}
record() {
	record_to /dev/null -g "$@"
}

# names DB IMAGE: the functions of the samples in an image, those of a twentieth
# of them; '?' has no name
names() {
	"$B" query --format csv "$1" "WITH s AS (
		SELECT coalesce(s.name, '?') AS name, sum(g.n) AS n
		FROM sample_group g JOIN stack t ON t.id = coalesce(g.kernel, g.user)
		JOIN frame f ON f.id = t.frame JOIN image i ON i.id = f.image
		LEFT JOIN symbol s ON s.id = f.symbol
		WHERE i.path LIKE '$dir/%$2%' GROUP BY s.name)
		SELECT name FROM s WHERE n * 20 >= (SELECT sum(n) FROM s)
		ORDER BY name" | tail -n +2 | tr -d '\r"' | tr '\n' ' ' |
		sed 's/ $//'
}
# classes DB IMAGE: what the stacks in an image are said to be
classes() {
	"$B" query --format csv "$1" "SELECT DISTINCT w.name FROM sample_group g
		JOIN stack t ON t.id = g.user JOIN frame f ON f.id = t.frame
		JOIN image i ON i.id = f.image JOIN internal_judged j ON j.stack = t.id
		JOIN word w ON w.kind = 'judged' AND w.id = j.class
		WHERE i.path LIKE '$dir/%$2%' AND g.kernel IS NULL AND t.depth > 1
		ORDER BY 1" | tail -n +2 | tr -d '\r"' | tr '\n' ' ' | sed 's/ $//'
}
# here OPTION... CAPTURE: read where it was recorded
here() {
	"$B" ingest -q -f -o x.db "$@" 2>err
}
# away OPTION... CAPTURE: read on another machine
away() {
	# shellcheck disable=SC2016
	unshare -u sh -c 'hostname elsewhere; exec "$0" ingest -q -f -o x.db "$@"' \
		"$B" "$@" 2>err
}
# both NAME IMAGE WANTED OPTION... CAPTURE: here, elsewhere, and there without
# perf's cache
both() {
	both_name=$1 both_image=$2 both_wanted=$3
	shift 3
	here "$@"
	is "${both_name}_here" "$both_wanted" "$(names x.db "$both_image")"
	away "$@"
	is "${both_name}_elsewhere" "$both_wanted" "$(names x.db "$both_image")"
	HOME=$dir/none away "$@"
	is "${both_name}_elsewhere_without_cache" "$both_wanted" \
		"$(names x.db "$both_image")"
}

# A daemon is built anew while it runs, and recorded then.
cp one daemon
./daemon &
pid=$!
soon grep -q daemon /proc/$pid/comm
cp two other && mv other daemon
record -o deleted.data -p $pid -- sleep 0.4
kill $pid
both a_deleted_program_has_no_names daemon '?' deleted.data
is its_stacks_are_not_judged 'not judged (no file)' "$(classes x.db daemon)"
"$B" report x.db 2>&1 | tr '\n' ' ' | tr -s ' ' >out
says the_first_sentence_says_why_and_what_helps "daemon (deleted) was \
replaced: " out
"$B" annotate x.db new_one >out 2>/dev/null
is nor_are_instructions_shown 0 "$(wc -c <out)"
mkdir -p "old$dir"
cp one "old$dir/daemon"
both the_old_file_below_symfs_names_it daemon 'alpha beta' --symfs old \
	deleted.data
here --debug-dir old deleted.data
"$B" report x.db >out 2>&1
is and_its_stacks_are_judged_by_it 0 "$(grep -c 'unchecked for want' out)"
both so_does_one_below_a_debug_dir daemon 'alpha beta' --debug-dir old \
	deleted.data
here deleted.data
"$B" symbolize --symfs old x.db >out 2>&1
is a_finished_database_is_mended 'alpha beta' "$(names x.db daemon)"

# A program that was built often: perf's cache has a folder for each build.
cp one often
for i in $(seq 60)
do
	mkdir -p ".debug$dir/often/$i"
	cp two ".debug$dir/often/$i/elf"
done
record_to often.data -g -o - timeout 0.4 ./often
here often.data
is many_builds_in_the_cache_do_not_hide_the_file 'alpha beta' "$(names x.db often)"
mkdir ".debug$dir/often/id"
mv often ".debug$dir/often/id/elf"
cp two often
here often.data
is nor_the_one_that_perf_linked 'alpha beta' "$(names x.db often)"

# The file at the path is written after the capture, which has no build-ids.
cp one pgm
record_to inplace.data -g -o - timeout 0.4 ./pgm
later() {
	: >after && [ -n "$(find after -newer "$1")" ]
}
soon later inplace.data
cat two >pgm
both a_file_that_was_written_later_names_nothing pgm '?' inplace.data
is nor_judges_it_stacks 'not judged (no file)' "$(classes x.db pgm)"
# A stream that was recorded before is not one that is being recorded.
# shellcheck disable=SC2002 # a pipe is asked
cat inplace.data | "$B" ingest -q -f -o x.db - 2>err
is nor_does_it_if_the_capture_comes_through_a_pipe '?' "$(names x.db pgm)"
# perf writes a record after its time; times of files are of a tick, of 10 ms at most.
is the_time_of_its_last_record_is_that_of_its_clock 1 "$(one x.db "SELECT
	value - $(stat -c %.9Y inplace.data | tr -d .) < 50000000 FROM meta
	WHERE key = 'written_before_ns'" | tr -d '\r')"
# It may come as slowly as one that is being recorded.
{
	dd bs=4096 count=1 2>/dev/null
	sleep 0.6
	cat
} <inplace.data | "$B" ingest -q -f -o x.db - 2>err
is nor_if_that_takes_as_long_as_the_recording '?' "$(names x.db pgm)"
# perf's clock is one of several.
for clock in CLOCK_MONOTONIC CLOCK_BOOTTIME CLOCK_REALTIME
do
	cp one pgm
	record_to clock.data -g -k $clock -o - timeout 0.4 ./pgm
	soon later clock.data
	cat two >pgm
	{
		dd bs=4096 count=1 2>/dev/null
		sleep 0.6
		cat
	} <clock.data | "$B" ingest -q -f -o x.db - 2>err
	is nor_if_its_times_are_of_$clock '?' "$(names x.db pgm)"
done
mkdir -p "p$dir"
cp one "p$dir/pgm"
both the_file_as_it_was_does pgm 'alpha beta' --symfs p inplace.data

# Two files at one path at the same time: perf reads build-ids by path.
cp m m1 && cp m m2
record -o two.data -- sh -c "./m1 & unshare -m sh -c 'mount --bind \"$dir/new\" \"$dir/lib\" && exec \"$dir/m2\"' & wait; sleep 0.1"
is neither_of_two_files_at_a_path_has_a_build_id 2 "$(here two.data &&
	"$B" query --format csv x.db "SELECT count(*) FROM image
	WHERE path = '$dir/lib/libhot.so' AND build_id IS NULL" | tail -n +2 |
	tr -d '\r')"
for where in here away
do
	$where two.data
	is "new_one_is_not_named_by_the_other_file_$where" 0 "$("$B" query \
		--format csv x.db "SELECT count(*) FROM frame f JOIN symbol s
		ON s.id = f.symbol JOIN image i ON i.id = f.image
		WHERE s.name = 'new_one' AND i.path LIKE '$dir/%libhot.so'" |
		tail -n +2 | tr -d '\r')"
	# perf links files into its cache: their inodes tell them apart
done
HOME=$dir/none away two.data
is without_it_none_is_named '?' "$(names x.db libhot.so)"

# A stream tells its files one by one; perf inject reads an id from the path.
if perf record -q -F 999 -g -a -o - -- sh -c "./m1 & unshare -m sh -c 'mount --bind \"$dir/new\" \"$dir/lib\" && exec \"$dir/m2\"' & wait; sleep 0.1" \
	2>/dev/null | perf inject -b -o injected.data 2>/dev/null
then
	for where in here away
	do
		# shellcheck disable=SC2002 # a pipe is asked
		cat injected.data | $where -
		is "of_a_stream_none_is_named_by_the_other_file_$where" 0 \
			"$("$B" query --format csv x.db "SELECT count(*) FROM frame f
			JOIN symbol s ON s.id = f.symbol JOIN image i
			ON i.id = f.image WHERE s.name = 'new_one'
			AND i.path LIKE '$dir/%libhot.so'" | tail -n +2 | tr -d '\r')"
	done
else
	echo "skip of_a_stream_none_is_named_by_the_other_file: perf cannot inject"
fi

# What is printed is followed: the file of an inode is where it is wanted.
HOME=$dir/none away two.data
"$B" report x.db 2>&1 | tr '\n' ' ' | tr -s ' ' >out
says the_sentence_says_where_a_copy_of_each_is_looked_for "'backstitch \
symbolize --symfs DIR' with the file of inode " out
mkdir copies
for n in 1 2
do
	# shellcheck disable=SC2012
	wanted=$("$B" report x.db 2>&1 | tr '\n' ' ' | tr -s ' ' |
		sed -n 's|.* as DIR/\([^ ]*\) gives them.*|\1|p')
	for f in lib new
	do
		[ "$(stat -c %i $f/libhot.so)" = "${wanted##*.}" ] &&
			cp $f/libhot.so "copies/$wanted"
	done
	HOME=$dir/none "$B" symbolize --symfs copies x.db >out 2>&1
	is "copy_${n}_is_taken" "$n" "$(find copies -type f | wc -l)"
done
is then_both_are_named 'alpha beta' "$(names x.db libhot.so)"
is as_each_of_them_says 2 "$("$B" query --format csv x.db "SELECT count(*)
	FROM image WHERE path LIKE '$dir/%libhot.so' AND file LIKE 'copies/%'" |
	tail -n +2 | tr -d '\r')"

# A mount namespace that is gone when perf reads build-ids.
for n in 1 2
do
	record -o c$n.data unshare -m sh -c \
		"mount --bind '$dir/new' '$dir/lib' && exec '$dir/m'"
	here c$n.data
	is "the_hosts_file_names_nothing_of_a_container_$n" '?' \
		"$(names x.db libhot.so)"
	is "nor_are_its_stacks_judged_by_it_$n" '' "$(classes x.db libhot.so |
		grep -E 'whole|fabricated|lacks')"
done
# killed CAPTURE: what is there of it if perf is killed: neither machine nor build-ids
killed() {
	python3 - "$1" <<'END'
import struct, sys
d = bytearray(open(sys.argv[1], "rb").read())
off, size = struct.unpack_from("<QQ", d, 40)
struct.pack_into("<Q", d, 48, 0)
d[72:104] = bytes(32)
open("killed.data", "wb").write(d[:off + size])
END
}
killed c1.data
here killed.data
is nor_if_no_machine_is_named '?' "$(names x.db libhot.so)"
# One that was upgraded since has another inode, and was not written since.
build short -DMAIN=1 hot.c && build upgrade -DB -DMAIN=1 hot.c
for by in short upgrade
do
	cp -p short killed
	# perf's cache would have a link to it
	HOME=$dir/none record -o own.data ./killed
	killed own.data
	cp -p $by again && mv again killed
	here killed.data
	names x.db killed
	"$B" query --format csv x.db "SELECT ': ' || identity FROM image
		WHERE path LIKE '%/killed'" | tail -n +2 | tr -d '\r"'
done >out
is but_it_does_if_the_addresses_confirm_it "alpha beta: assumed: path with another inode, and addresses
?" "$(cat out)"
# Elsewhere, only the addresses tell that the build-id is of the host's file.
away c1.data
is nor_does_it_on_another_machine '?' "$(names x.db libhot.so)"
is nor_are_its_stacks_judged_there 'not judged (no file)' \
	"$(classes x.db libhot.so)"
HOME=$dir/none away c1.data
is nor_without_cache '?' "$(names x.db libhot.so)"
# Of few samples two suffice that are where the host's file has no code: the
# function that burns longest is beyond its end.
perf record -q -F 499 -g -o few.data unshare -m sh -c \
	"mount --bind '$dir/new' '$dir/lib' && exec '$dir/m'" >/dev/null 2>&1
XDG_CACHE_HOME=$dir/few away few.data
is nor_of_few_samples '?' "$(names x.db libhot.so)"
perf record -q -F 9999 --call-graph dwarf,4096 -o cd.data unshare -m sh -c \
	"mount --bind '$dir/new' '$dir/lib' && exec '$dir/m'" >/dev/null 2>&1
away cd.data
is nor_of_a_stack_dump '?' "$(names x.db libhot.so)"
is no_stack_that_its_tables_unwound_is_whole 0 "$("$B" query --format csv x.db \
	"SELECT count(*) FROM sample_group g JOIN stack_path p ON p.stack = g.user
	JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
	JOIN stack_path q ON q.stack = g.user AND q.pos = p.pos + 1
	JOIN frame c ON c.id = q.frame
	WHERE i.path LIKE '$dir/%libhot.so' AND c.flags & 64 = 0
	AND g.user NOT IN (SELECT stack FROM internal_judged)" | tail -n +2 |
	tr -d '\r')"

# The path alone, on another machine.
cp one alone
record_to alone.data -g -o - timeout 0.4 ./alone
away alone.data
is a_path_elsewhere_names_what_the_addresses_confirm 'alpha beta' \
	"$(names x.db alone)"
is but_proves_nothing unverified "$("$B" query --format csv x.db \
	"SELECT status FROM image WHERE path LIKE '%/alone'" | tail -n +2 |
	tr -d '\r')"
cp two alone
touch -d '2001-01-01' alone
away alone.data
is the_path_of_another_file_names_nothing '?' "$(names x.db alone)"

# A copy of the right file, beside one of the host's: the addresses choose.
mkdir -p "host$dir/lib" "copy$dir/lib"
cp lib/libhot.so "host$dir/lib/libhot.so"
cp new/libhot.so "copy$dir/lib/libhot.so"
both the_addresses_choose_between_two_roots libhot.so 'alpha beta' \
	--debug-dir host --debug-dir copy c1.data
both in_either_order libhot.so 'alpha beta' --debug-dir copy \
	--debug-dir host c1.data
is which_proves_nothing unverified "$("$B" query --format csv x.db \
	"SELECT status FROM image WHERE path LIKE '$dir/%libhot.so'" | tail -n +2 |
	tr -d '\r')"
"$B" annotate --debug-dir copy --debug-dir host x.db beta >out 2>/dev/null
is and_instructions_are_of_that_one 1 "$(grep -c '<beta>\|beta' out | head -c 1 |
	tr '2-9' 1)"
HOME=$dir/none away --symfs host c1.data
is a_wrong_copy_alone_names_nothing '?' "$(names x.db libhot.so)"

mkdir -p "root$dir/lib"
ln new/libhot.so "root$dir/lib/libhot.so"
both the_inode_below_symfs_proves_the_right_one libhot.so 'alpha beta' \
	--symfs root c1.data

# A library is replaced while all is recorded.
record -a -o upgrade.data -- sh -c \
	"./m & until grep -q libhot /proc/\$!/maps; do sleep 0.02; done; sleep 0.05
	cp new/libhot.so x; mv x lib/libhot.so; wait; ./m"
for where in here away
do
	$where upgrade.data
	is "a_library_that_was_replaced_names_no_new_one_$where" 0 "$("$B" query \
		--format csv x.db "SELECT count(*) FROM frame f JOIN symbol s
		ON s.id = f.symbol JOIN image i ON i.id = f.image
		WHERE s.name = 'new_one' AND i.path LIKE '$dir/%'" |
		tail -n +2 | tr -d '\r')"
done

# Pieces of one recording, which have no build-ids: together as each alone.
cp one pieces
./pieces &
pid=$!
soon grep -q pieces /proc/$pid/comm
# shellcheck disable=SC2016
record --switch-output -o piece.data -p $pid -- \
	sh -c 'sleep 0.6; kill -USR2 $PPID; sleep 0.6'
kill $pid
set -- piece.data.*
is a_recording_in_pieces 1 $(($# > 1))
for where in here away
do
	sure=$([ $where = here ] && echo named || echo unverified)
	for piece in "$1" "$2" all
	do
		if [ "$piece" = all ]; then $where "$@"; else $where "$piece"; fi
		is "${piece%.*}_${where}_has_names" 'alpha beta' \
			"$(names x.db pieces)"
		is "${piece%.*}_${where}_is_$sure" "$sure" "$("$B" query \
			--format csv x.db "SELECT DISTINCT status FROM image
			WHERE path LIKE '%/pieces'" | tail -n +2 | tr -d '\r')"
	done
done
cp two x && mv x pieces
for where in here away
do
	for piece in "$1" all
	do
		if [ "$piece" = all ]; then $where "$@"; else $where "$piece"; fi
		is "${piece%.*}_${where}_has_none_of_a_new_file" '?' \
			"$(names x.db pieces)"
	done
done

# The kernel's own build-ids leave [vdso] without one.
cat >vd.c <<'EOF2'
#include <time.h>
int main(void)
{
	struct timespec t;
	do
		clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	while (t.tv_sec == 0 && t.tv_nsec < 500000000);
	return 0;
}
EOF2
build vd vd.c
reading() {
	python3 -c 'import time
print("x-1 [000] ..... %.6f: limits_process: pid=1" % time.monotonic())'
}
printf '%s\n' '# beside: clock=monotonic' '# tracer: nop' "$(reading)" >readings.txt
if perf record -q --buildid-mmap -k CLOCK_MONOTONIC -o vdso.data -F 999 -g ./vd 2>/dev/null
then
	here vdso.data
	is the_vdso_of_this_boot_is_found named "$("$B" query --format csv x.db \
		"SELECT status FROM image WHERE path = '[vdso]'" | tail -n +2 |
		tr -d '\r')"
	# the text of readings that 'record --waits' writes has no host
	reading >>readings.txt
	here vdso.data readings.txt || cat err
	is readings_do_not_hide_it named "$("$B" query --format csv x.db \
		"SELECT status FROM image WHERE path = '[vdso]'" | tail -n +2 |
		tr -d '\r')"
	away vdso.data
	is elsewhere_it_is_not 'no copy' "$("$B" query --format csv x.db \
		"SELECT status FROM image WHERE path = '[vdso]'" | tail -n +2 |
		tr -d '\r"')"
else
	echo "skip the_vdso_of_this_boot_is_found: perf has no --buildid-mmap"
fi
