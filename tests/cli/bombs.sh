#!/bin/sh
# bombs.sh - small files that unpack to large ones: captures and bundles end at a bound.
# usage: BACKSTITCH=PROGRAM tests/cli/bombs.sh; prints "ok NAME" or "not ok NAME" lines.
# With sanitizers: inputs that want memory
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cp tests/captures/z-defer.data "$work"
cd "$work" || exit 2
mkdir tmp
TMPDIR=$work/tmp
export TMPDIR
"$B" ingest -q --no-symbols -o run.db z-defer.data
# more than that is a bomb, in blocks of 512 bytes
most=$(((64 << 20) / 512 + 1024))

# ends STATUS WORDS FILE ARGUMENT...: the command on the file, which writes no
# more than is allowed, says the words
ends() {
	want=$1 words=$2 name=$3
	shift 3
	if (
		ulimit -f $most
		timeout 60 "$B" "$@" >out 2>err
		[ $? = "$want" ]
	) && { [ -z "$words" ] || grep -q "$words" err; } && [ -z "$(ls tmp)" ]
	then echo "ok $name"
	else
		echo "not ok $name"
		sed 's/^/# /' err
	fi
}
# what is larger is not packed better, but in three times as long
XZ_OPT=-0
export XZ_OPT
# pack PROGRAM FILE...: the files, one after the other
pack() {
	program=$1
	shift
	cat "$@" | "$program" -q -c
}
bomb='unpack to more than 256 times as many.*unpack it and read that'
head -c 80M /dev/zero >zeros
for program in gzip zstd xz
do
	if ! command -v "$program" >null
	then
		echo "skip bombs of $program: it is not installed"
		continue
	fi
	pack "$program" z-defer.data zeros >bomb.data
	case $program in
	gzip) end=gz ;;
	zstd) end=zst ;;
	xz)
		end=xz
		;;
	esac
	ends 1 "$bomb" "bombs_of_${program}_end" ingest -f -o x.db bomb.data
	ends 1 "$bomb" "and_bombs_on_stdin_of_$program" ingest -f -o x.db - <bomb.data
	pack "$program" bomb.data >nested.data
	ends 1 'file inside a packed file' \
		"bombs_in_bombs_of_${program}_are_refused" ingest -f -o x.db nested.data
	if [ "$end" != xz ]
	then
		pack "$program" zeros >jit-1.dump
		ends 1 "$bomb" "jitdumps_of_${program}_end" ingest -f --jitdump jit-1.dump -o x.db z-defer.data
	fi

	# in a bundle: as the database, in front of it, as holes, packed twice
	mkdir -p in
	cp zeros in/run.db
	tar cf - -C in run.db | "$program" -q -c >"big.tar.$end"
	ends 1 "$bomb" "bundles_of_${program}_end" report "big.tar.$end"
	cp zeros in/front
	cp run.db in/run.db
	tar cf - -C in front run.db | "$program" -q -c >"front.tar.$end"
	ends 1 "$bomb" "files_in_front_of_it_end_too_$program" report "front.tar.$end"
	truncate -s 1T in/holes.db
	echo end >>in/holes.db
	tar cSf - -C in holes.db | "$program" -q -c >"holes.tar.$end"
	ends 1 "$bomb" "holes_in_${program}_end" report "holes.tar.$end"
	tar cf - -C in run.db | "$program" -q -c | "$program" -q -c >"twice.tar.$end"
	ends 1 'inside a packed file' "bundles_packed_twice_by_$program" report "twice.tar.$end"
	tar cf - -C in run.db | "$program" -q -c >"good.tar.$end"
	ends 0 '' "a_good_one_of_${program}_is_read" report "good.tar.$end"
	rm in/holes.db
done
printf '7z\274\257\047\034' | cat - zeros | head -c 4096 >seven.data
ends 1 '7z' archives_of_7z_are_refused ingest -f -o x.db seven.data

python3 "$root/tests/cli/members.py" "$B" run.db

# a folder that is full: the message says what to do
if [ "$(id -u)" = 0 ] && mkdir small && mount -t tmpfs -o size=1M none small 2>err
then
	head -c 20M /dev/urandom >long
	pack gzip z-defer.data long >long.data
	TMPDIR=$work/small
	ends 1 'set TMPDIR to a folder with space' no_space_for_the_copy ingest -f -o x.db long.data
	TMPDIR=$work/tmp
	umount small
else
	echo "skip no_space_for_the_copy: nothing can be mounted"
fi
