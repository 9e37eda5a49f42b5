#!/bin/sh
# module.sh - kernel modules are named from their files, packed or not.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/module.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
HOME=$dir
export HOME

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

# ---- lines and inlined functions, from debug information with relocations
cat >d.c <<'EOF2'
int state;
static inline __attribute__((always_inline)) int inner(int x)
{
	return x * state + 7;
}
__attribute__((noinline)) int outer(int x)
{
	return inner(x + 1) ^ 3;
}
__attribute__((section(".init.text"))) int init_module(void)
{
	return inner(5) + inner(state);
}
__attribute__((section(".exit.text"))) void cleanup_module(void)
{
	state = outer(state) + inner(state) * 2;
}
EOF2
# module FLAGS...: $ko in d/ of d.c
module() {
	rm -rf d
	mkdir -p d/${ko%/*}
	${CC:-gcc} -O2 -g -ffunction-sections "$@" -c -o d.o d.c &&
		ld -r --build-id=sha1 -o d/$ko d.o &&
		id=$(readelf -n d/$ko | sed -n 's/.*Build ID: *//p')
}
# lines SYMFS [OPTION...]: of .text.outer and .exit.text
lines() {
	symfs=$1
	shift
	cat >l.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=-1 tid=0 kernel start=$base len=0x3000 pgoff=0 path=/$ko ${id:+id=$id}
EOF2
	for off in 00 01 02 03 04 05 06 07 08 09 0a 0b 0c 0d 0e 0f \
		20 21 22 23 24 25 26 27 28 29 2a 2b 2c 2d 2e 2f
	do
		echo "sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffffc04000$off"
	done >>l.txt
	"$MKCAP" l.txt l.data &&
		"$B" ingest -q -f --no-cache -o l.db --symfs "$symfs" "$@" l.data 2>err
	"$B" query --format csv l.db "SELECT coalesce((SELECT
		group_concat(name || ' ' || line || ' ', '') FROM inline_frame n
		WHERE n.frame = f.id), '') || s.name || ' ' || coalesce(f.line, '-')
		FROM frame f JOIN image i ON i.id = f.image
		JOIN symbol s ON s.id = f.symbol
		WHERE i.len = 0x3000 ORDER BY f.off" | tail -n +2 | tr -d '\r"'
}
# The same by eu-addr2line: a line for each address.
peer() {
	for sec in .text.outer .exit.text
	do
		eu-addr2line -a -f -i -j $sec -e d/$ko 0x0 0x1 0x2 0x3 0x4 0x5 \
			0x6 0x7 0x8 0x9 0xa 0xb 0xc 0xd 0xe 0xf
	done | awk '/^0x/ { if (s) print s; s = ""; next }
		/:[0-9]+:[0-9]+$/ { n = split($0, w, ":"); s = s " " w[n - 1]; next }
		{ s = s (s ? " " : "") $1 }
		END { print s }'
}
if ! command -v eu-addr2line >/dev/null || ! module -gdwarf-5
then
	echo "skip lines_of_modules: no eu-addr2line, or no compiler"
	exit 0
fi
for flags in -gdwarf-5 -gdwarf-4 "-gdwarf-5 -gz"
do
	# shellcheck disable=SC2086
	module $flags
	peer >want
	lines d >got
	grep -q '^inner 4 outer 8$' got && cmp -s want got
	ok "lines_of_modules_are_those_of_eu_addr2line $flags" $?
done
cat >ks.txt <<'EOF2'
ffffffffc0400000 t outer	[snd_x]
ffffffffc0400020 t cleanup_module	[snd_x]
EOF2
lines d --kallsyms ks.txt >got
cmp -s want got
ok they_are_there_when_names_are_from_kallsyms $?
saved=$id
id=
lines d --kallsyms ks.txt >got
id=$saved
is but_not_without_a_build_id 'outer -' "$(sort -u got | tail -1)"
debug=d/usr/lib/debug/.build-id/$(echo "$id" | cut -c1-2)
mkdir -p "$debug"
objcopy --only-keep-debug d/$ko "$debug/$(echo "$id" | cut -c3-).debug"
strip -g d/$ko
lines d >got
cmp -s want got
ok a_debug_file_beside_it_does_too $?
rm -r d/usr
module -gdwarf-5
if command -v xz >/dev/null
then
	xz -q d/$ko
	lines d >got
	cmp -s want got
	ok and_so_does_a_packed_one $?
fi
