#!/bin/sh
# module.sh - kernel modules are named from their files, packed or not.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/module.sh
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
MKCAP=${MKCAP:-$root/build/mkcap}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2
HOME=$dir
export HOME
. "$root/tests/ok.sh"

# A module in small: code for its start is put elsewhere by the kernel, and
# the rest one behind the other, as it wants to be aligned.
cat >m.s <<'EOF2'
	.section .init.text, "ax", @progbits
	.globl init_module
	.type init_module, @function
init_module:
	.zero 64
	.size init_module, 64
	.text
	.balign 16
	.globl first
	.type first, @function
first:
	.zero 24
	.size first, 24
	.type hidden, @function
hidden:
	.zero 9
	.size hidden, 9
	.section .data, "aw", @progbits
	.globl thing
	.type thing, @object
thing:
	.zero 64
	.size thing, 64
	.section .exit.text, "ax", @progbits
	.balign 32
	.globl cleanup_module
	.type cleanup_module, @function
cleanup_module:
	.zero 16
	.size cleanup_module, 16
	.section .text.ftrace_trampoline, "ax", @progbits
	.zero 1
	.section .text.late, "ax", @progbits
	.globl late
	.type late, @function
late:
	.zero 16
	.size late, 16
EOF2
ko=lib/modules/9.9.9/kernel/net/snd-x.ko
mkdir -p whole/lib/modules/9.9.9/kernel/net
if ! ${CC:-gcc} -c -o m.o m.s ||
	! ld -r --build-id=sha1 -o whole/$ko m.o
then
	echo "skip module: no assembler and linker"
	exit 0
fi
id=$(readelf -n whole/$ko | sed -n 's/.*Build ID: *//p')
want='first+0 hidden+0 hidden+8 -+22 cleanup_module+0 cleanup_module+f -+50 '
base=0xffffffffc0400000
echo 'kernel/net/snd-x.ko: kernel/net/other.ko' \
	>whole/lib/modules/9.9.9/modules.dep

# names PATH ID SYMFS: what the offsets of a capture are called
names() {
	cat >c.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=-1 tid=0 kernel start=$base len=0x3000 pgoff=0 path=$1 ${2:+id=$2}
sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffffc0400000,0xffffffffc0400018,0xffffffffc0400020,0xffffffffc0400022
sample pid=7 tid=7 cpu=0 time=2000 k=0xffffffffc0400040,0xffffffffc040004f,0xffffffffc0400050
EOF2
	"$MKCAP" c.txt c.data &&
		"$B" ingest -q -f -o x.db --symfs "$3" c.data 2>err
	"$B" query --format csv x.db "SELECT coalesce(s.name, '-') || '+' ||
		printf('%x', coalesce(f.symoff, f.off)) FROM frame f
		JOIN image i ON i.id = f.image
		LEFT JOIN symbol s ON s.id = f.symbol
		WHERE i.len = 0x3000 ORDER BY f.off" | tail -n +2 | tr '\r\n' ' ' |
		tr -s ' '
}

# is NAME WANTED GOT
is() {
	[ "$2" = "$3" ]
	rc=$?
	[ $rc = 0 ] || printf '%s\n' "$3" | sed 's/^/# got: /'
	ok "$1" $rc
}

status() {
	"$B" query --format csv x.db \
		"SELECT status FROM image WHERE len = 0x3000" | tail -n +2 |
		tr -d '\r"'
}

names /$ko "$id" whole >out
is sections_are_where_the_kernel_puts_them "$want" "$(cat out)"
is its_build_id_proves_it named "$(status)"
for p in xz zstd gzip
do
	case $p in
	xz) end=.xz ;;
	zstd) end=.zst ;;
	gzip) end=.gz ;;
	esac
	command -v $p >/dev/null || {
		echo "skip packed_by_$p: no $p here"
		continue
	}
	mkdir -p $p/${ko%/*}
	$p -q -c whole/$ko >$p/$ko"$end"
	is packed_by_$p "$want" "$(names /$ko"$end" "$id" $p)"
	is packed_by_${p}_but_recorded_as_plain "$want" \
		"$(names /$ko "$id" $p)"
	head -c 200 $p/$ko"$end" >$p/cut
	mv $p/cut $p/$ko"$end"
	names /$ko"$end" "$id" $p >out
	is a_cut_one_gives_no_names_$p 'no file' "$(status)"
done
names /$ko "" whole >out
is without_a_build_id_it_is_unverified unverified "$(status)"
names /$ko 0102030405060708090a0b0c0d0e0f1011121314 whole >out
is another_build_id_is_refused 'other build-id' "$(status)"
is and_names_nothing '' "$(grep -o first out)"
mkdir usr
mv whole/lib usr
mkdir merged
mv usr merged
is lib_may_have_become_usr_lib "$want" "$(names /$ko "$id" merged)"
