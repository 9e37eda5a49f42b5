#!/bin/sh
# kernelcode.sh - return addresses of kernel stacks in the kernel's code: true ones are not marked, where the kernel writes a call neither;
# those after no call are.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/kernelcode.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
[ "$(uname -m)" = x86_64 ] || { echo "ok not on this machine"; exit 0; }

cat >kernel.s <<'S'
	.macro	fn name
	.balign	64
	.globl	\name
	.type	\name, @function
\name:
	.endm
	.text
	fn	_text
	.globl	_stext
_stext:	ret
	fn	work
	.byte	0x0f, 0x1f, 0x44, 0, 0
traced:	call	_text
direct:	nop
middle:	nop
thunk:	call	_text
called:	nop
altern:	.byte	0xf3, 0xa4, 0x0f, 0x1f, 0
copied:	nop
virt:	call	*0x1000
hyper:	ret
	thunk2 = thunk + 2
	thunk3 = thunk + 3
	thunk4 = thunk + 4
	thunk7 = thunk + 7
	altern2 = altern + 2
	virt3 = virt + 3
	virt5 = virt + 5
	fn	do_syscall_64
	call	work
syscall: ret
	fn	entry_SYSCALL_64_after_hwframe
	call	do_syscall_64
entry:	ret
	fn	asm_sysvec_apic_timer_interrupt
	call	work
timer:	ret
	fn	secondary_startup_64_no_verify
	lretq
second:	ret
	fn	framed
	push	%rbp
	mov	%rsp, %rbp
within:	nop
	call	_text
called2: pop	%rbp
after:	ret
	fn	bare
	nop
leaf:	ret
	fn	either
	test	%edi, %edi
	je	1f
	push	%rbp
	mov	%rsp, %rbp
perhaps: pop	%rbp
1:	ret
	fn	ftrace_caller
	nop
tracer:	ret
	fn	return_to_handler
	ret
	fn	__bpf_prog_enter_recur
	nop
enter:	ret
	fn	_etext
	ret
	.section .rodata, "a"
	.globl	a_table
a_table: .quad	0
	.section .retpoline_sites, "a"
	.long	thunk - .
	.section .altinstructions, "a"
	.long	altern - .
	.long	1f - .
	.long	0
	.byte	5, 5
	.section .altinstr_replacement, "ax"
1:	call	_text
	.section .parainstructions, "a"
	.quad	virt
	.byte	0, 7
	.balign	8
S
id=00112233445566778899aabbccddeeff00112233
kernel() { # kernel NAME LINE...: makes NAME of kernel.s and these lines
	name=$1
	shift
	{ cat kernel.s; printf '%s\n' "$@"; } | as -o k.o - &&
		ld -Ttext=0xffffffff81000000 -e 0 --build-id=0x$id -o "$name" k.o 2>/dev/null || exit 2
}
kernel vmlinux '.section .orc_unwind, "a"' '.byte 0'
nm vmlinux >labels
grep " [TR] " labels >kallsyms
at() { awk -v n="$1" '$3 == n { print "0x" $1 }' labels; }
capture() { # capture FILE: of the chains on standard input, one a line, of names of kallsyms
	{
		printf '%s\n' "event cpu-clock" "comm pid=100 name=app" \
			"mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel id=$id"
		while read -r chain; do
			k=
			for n in $chain; do
				case $n in 0x*) k=$k,$n ;; *) k=$k,$(at "$n") ;; esac
			done
			t=$((t + 1000))
			echo "sample pid=100 tid=100 cpu=1 time=$t k=${k#,}"
		done
	} >"$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}
classes() { # classes ARGUMENT...: what report's JSON says
	"$B" report --json "$@" |
		python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)["kernel_stacks_by_class"]), sep=", ")'
}
read_it() { "$B" ingest -q -f -o "$1.db" --vmlinux "${2:-vmlinux}" --kallsyms kallsyms "$1.data"; }

capture true <<E
work direct syscall entry
work called syscall entry
work thunk2 syscall entry
work thunk3 syscall entry
work copied syscall entry
work hyper syscall entry
work virt5 syscall entry
work timer middle syscall entry
work second
E
read_it true
is "halves of which each return address is after a call are whole" "whole 9" "$(classes true.db)"
capture open <<E
tracer traced syscall entry
work 0xffffffffc0000010 traced syscall entry
work return_to_handler syscall entry
work direct 0xffffffff81800000 entry
work 0xffffffffc0000010 middle syscall entry
E
read_it open
is "where a tracer may have written one they are unchecked" "unchecked 4, whole 1" "$(classes open.db)"
capture false <<E
work direct syscall entry
work traced syscall entry
work middle syscall entry
work thunk4 syscall entry
work thunk7 syscall entry
work altern2 syscall entry
work virt3 syscall entry
work direct a_table entry
work timer a_table syscall entry
E
read_it false
is "a frame after no call, or of data, is fabricated" "whole 1, fabricated 8" "$(classes false.db)"
is "script marks it" 7 "$("$B" script --marks false.db | grep -c 'fabricated')"
"$B" merge -q -o merged.db true.db false.db 2>err
is "and of merged ones" "unchecked 1, whole 10, fabricated 7" "$(classes merged.db)"
is "of the capture, without a database" "whole 1, fabricated 8" "$(classes --vmlinux vmlinux --kallsyms kallsyms false.data)"

# a trampoline of BPF: nothing but its name and place is recorded
tramp=0xffffffffc0200020
trampoline() { # trampoline FILE: of the chains on standard input
	capture "$1"
	sed -i "s/^mmap.*/&\nksymbol start=0xffffffffc0200000 len=0x1000 name=bpf_trampoline_6442537355\nksymbol start=0xffffffffc0300000 len=0x1000 name=bpf_prog_00_x/" "$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
}
through="enter $tramp traced syscall entry
called $tramp traced syscall entry
_text called $tramp traced syscall entry
timer middle $tramp traced syscall entry
_text $tramp direct syscall entry
within $tramp called syscall entry
within called $tramp traced syscall entry"
echo "$through" | trampoline through
read_it through
is "halves through a trampoline of BPF are judged by their other frames" "whole 7" "$(classes through.db)"
trampoline beside <<E
_text syscall $tramp traced syscall entry
called $tramp syscall entry
_text called $tramp direct syscall entry
timer $tramp traced syscall entry
_text 0xffffffffc0300010 $tramp traced syscall entry
$tramp traced syscall entry
called $tramp
E
read_it beside
is "not where it calls another function or is entered elsewhere, nor where it is interrupted" \
	"unchecked 7" "$(classes beside.db)"
trampoline wrong <<E
_text middle $tramp traced syscall entry
called $tramp middle syscall entry
called $tramp traced middle entry
E
read_it wrong
is "and a frame that never was is found" "fabricated 3" "$(classes wrong.db)"
sed 's/^ksymbol.*/& gone/' through.txt >gone.txt
"$MKCAP" gone.txt gone.data
read_it gone
is "nor where it was no more" "unchecked 7" "$(classes gone.db)"

# of these the kernel tells a page, wherever in it they are: in 7.2 next to programs
{
	sed -n 1,/^mmap/p through.txt
	echo "ksymbol start=0xffffffffc0200200 len=0x80 name=bpf_prog_11_a
ksymbol start=0xffffffffc0200300 len=0x1000 name=bpf_trampoline_2
ksymbol start=0xffffffffc0200100 len=0x1000 name=bpf_trampoline_1
ksymbol start=0xffffffffc0200400 len=0x80 name=bpf_prog_22_b
sample pid=100 tid=100 cpu=1 time=1000 k=0xffffffffc0200110,0xffffffffc0200210,0xffffffffc0200290,0xffffffffc0200310,0xffffffffc0200410,0xffffffffc0200490
ksymbol start=0xffffffffc0200100 len=0x1000 name=bpf_trampoline_1 gone time=2000
ksymbol start=0xffffffffc0200200 len=0x80 name=bpf_prog_11_a gone time=2000
sample pid=100 tid=100 cpu=1 time=3000 k=0xffffffffc0200110,0xffffffffc0200210,0xffffffffc0200310,0xffffffffc0200410"
} >page.txt
"$MKCAP" page.txt page.data
is "programs beside trampolines have their own names" \
	"bpf_trampoline_1 bpf_prog_11_a [unknown] bpf_trampoline_2 bpf_prog_22_b [unknown] [unknown] [unknown] bpf_trampoline_2 bpf_prog_22_b" \
	"$("$B" script -F ip,sym page.data | awk 'NF { printf "%s%s", sep, $2; sep = " " }')"

kernel framed
read_it through framed
is "with frame pointers, which lead past who called a traced function, not where they do" \
	"unchecked 1, whole 1, caller missing (further out) 1, caller missing 4" "$(classes through.db)"
capture bare <<E
within direct syscall entry
called2 direct syscall entry
work syscall entry
leaf direct syscall entry
after direct syscall entry
within timer leaf syscall entry
perhaps direct syscall entry
E
read_it bare framed
is "with frame pointers it is told where a caller is missing" \
	"unchecked 1, whole 3, caller missing (further out) 1, caller missing 2" "$(classes bare.db)"
read_it bare
is "with tables none is" "whole 7" "$(classes bare.db)"
read_it false framed
is "and a frame that never was is found" "caller missing 1, fabricated 8" "$(classes false.db)"
sed 's/^event/host vm 5.7.0\n&/' false.txt >old.txt
"$MKCAP" old.txt old.data
read_it old
is "where an older kernel is interrupted is not known" "unchecked 9" "$(classes old.db)"
id=ff112233445566778899aabbccddeeff00112233
kernel other
read_it false other
is "by the code of another kernel nothing is" "not judged (no file) 9" "$(classes false.db)"

# vmlinuz, the compressed file that boots
boots() { # boots FILE COMMAND...: packs vmlinux, with its size behind it where COMMAND does not end with it
	out=$1
	shift
	"$@" <vmlinux >payload
	python3 - "$out" <<'P'
import os, struct, sys
payload = open("payload", "rb").read()
if payload[0] != 0x1f:
    payload += struct.pack("<I", os.path.getsize("vmlinux"))
head = bytearray(3 * 512)
head[0x1f1] = 2
struct.pack_into("<4sH", head, 0x202, b"HdrS", 0x20f)
struct.pack_into("<II", head, 0x248, 64, len(payload))
open(sys.argv[1], "wb").write(head + bytes(64) + payload + bytes(512))
P
}
release=6.12.0-amd64
sed "s/^event/host vm $release\n&/" false.txt >placed.txt
"$MKCAP" placed.txt placed.data
mkdir -p root/boot "root/usr/lib/modules/$release"
by_place() { # by_place: classes where nothing but the release of the kernel leads to its file
	"$B" ingest -q -f -o placed.db --symfs root --kallsyms kallsyms placed.data
	classes placed.db
}
for how in "xz --check=crc32 --x86 --lzma2=dict=128MiB" "gzip -n" "zstd -q"; do
	# shellcheck disable=SC2086 # options
	boots root/boot/vmlinuz-"$release" $how
	is "the kernel is read from what boots, of ${how%% *}" "whole 1, fabricated 8" "$(by_place)"
done
read_it false root/boot/vmlinuz-"$release"
is "and where --vmlinux names it" "whole 1, fabricated 8" "$(classes false.db)"
mv root/boot/vmlinuz-"$release" "root/usr/lib/modules/$release/vmlinuz"
is "it is found beside the modules" "whole 1, fabricated 8" "$(by_place)"
head -c 1800 "root/usr/lib/modules/$release/vmlinuz" >root/boot/vmlinuz-"$release"
is "a damaged one is left out" "whole 1, fabricated 8" "$(by_place)"
rm "root/usr/lib/modules/$release/vmlinuz"
is "and proves nothing" "not judged (no file) 9" "$(by_place)"
mv vmlinux mine
cp other vmlinux
boots root/boot/vmlinuz-"$release" xz
mv mine vmlinux
is "nor does one of another build-id" "not judged (no file) 9" "$(by_place)"
wants() { "$B" check "$1" | sed -n '/^  kernel code/,/^  lost/p' | sed '$d' | tr -s ' \n' ' ' | sed 's/ $//'; }
vmlinux="vmlinuz-$release (build-id 001122334455)"
is "check says which file lacks" \
	" kernel code halves unchecked: 9 for want of $vmlinux: give it to 'backstitch symbolize --vmlinux FILE'" "$(wants placed.db)"
"$B" symbolize --kallsyms kallsyms --vmlinux vmlinux placed.db 2>err
is "and with it they are checked" "whole 1, fabricated 8;" "$(classes placed.db);$(wants placed.db)"

# a module
id=00112233445566778899aabbccddeeff00112233
ko=root/lib/modules/$release/kernel/x.ko
mkdir -p "${ko%/*}"
printf '%s\n' .text "fn_x: call work" nop nop '.section .exit.text, "ax"' .balign\ 32 "fn_y: call work" nop nop | as -o m.o - &&
	ld -r --build-id=0xaabbccddeeff0011 -o "$ko" m.o || exit 2
base=0xffffffffc0400000
in_module() { # in_module FILE ID: of the chains on standard input, whose module has this build-id or none
	capture "$1"
	sed -i -e "s/^event/host vm $release\n&/" -e "s|^mmap.*|&\nmmap pid=-1 tid=0 kernel start=$base len=0x3000 pgoff=0 path=/${ko#root/} ${2:+id=$2}|" "$1.txt"
	"$MKCAP" "$1.txt" "$1.data"
	"$B" ingest -q -f -o "$1.db" --vmlinux vmlinux --symfs root --kallsyms kallsyms "$1.data"
	classes "$1.db"
}
true="work 0xffffffffc0400005 syscall entry
work 0xffffffffc0400025 syscall entry"
false="$true
work 0xffffffffc0400006 syscall entry
work 0xffffffffc0400026 syscall entry"
is "each section of a module is looked up" "whole 2, fabricated 2" "$(echo "$false" | in_module m aabbccddeeff0011)"
is "a module without build-id is taken by its path" "whole 2" "$(echo "$true" | in_module m)"
is "unless an address is after no call" "unchecked 4" "$(echo "$false" | in_module m)"
is "with another build-id it is another" "not judged (no file) 2" "$(echo "$true" | in_module m aabbccddeeff0012)"
echo "$true" | sed "1s/0xf.*05/direct/" | in_module m aabbccddeeff0012 >out
is "and check says so" \
	" kernel code halves unchecked: 1 for want of x.ko (build-id aabbccddeeff): 'backstitch symbolize --symfs DIR' takes them from DIR/boot and DIR/lib/modules" \
	"$(wants m.db)"
echo "$true" | in_module m aabbccddeeff0011 >out
"$B" ingest -q -f -o m.db --vmlinux vmlinux --kallsyms kallsyms m.data
advice=$(wants m.db | sed -n "s/.*'backstitch \(symbolize --symfs\) DIR'.*/\1/p")
# shellcheck disable=SC2086 # its words
"$B" $advice root m.db 2>err
is "and what it says to do does it" "whole 2;" "$(classes m.db);$(wants m.db)"
is "nor one of which more addresses are after no call" "unchecked 3" \
	"$(echo "$false" | sed 1d | in_module m aabbccddeeff0011)"
is "what came and went while it was recorded accuses nobody" "unchecked 5" \
	"$(printf '%s\nwork 0xffffffffc0500000 syscall entry\n' "$false" | in_module m aabbccddeeff0011)"

# perf record --kcore: a folder with the code that ran
live() { # live FILE: its data, the code and the names in the folder FILE.dir
	mkdir -p "$1.dir/kcore_dir"
	cp "$1.data" "$1.dir/data"
	{ cat kallsyms; echo "ffffffff82000000 R __start_orc_unwind"; } >"$1.dir/kcore_dir/kallsyms"
	objcopy -O binary -j .text vmlinux text.bin
	python3 - "$1.dir/kcore_dir/kcore" <<'P'
import struct, sys
code = open("text.bin", "rb").read()
with open(sys.argv[1], "wb") as f:
    f.write(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 4, 62, 1, 0, 64, 0, 0, 64, 56, 1, 0, 0, 0))
    f.write(struct.pack("<IIQQQQQQ", 1, 7, 4096, 0xffffffff81000000, 0, len(code), len(code), 4096))
    f.write(bytes(4096 - f.tell()) + code)
P
}
capture ran <<E
work direct syscall entry
work timer middle syscall entry
work traced syscall entry
work 0xffffffff81800000 entry
work middle syscall entry
E
live ran
is "perf's copy of the kernel's code is read, with its names" "unchecked 2, whole 2, fabricated 1" "$(classes ran.dir)"
printf '\1' | dd of=ran.dir/kcore_dir/kcore bs=1 seek=$((64 + 16 + 3)) conv=notrunc 2>err
is "not one of another boot" "not judged (no file) 5" "$(classes ran.dir)"

# both halves
cat >app.c <<'C'
__attribute__((noinline)) static void g(void) { __asm__ volatile("nop"); }
__attribute__((noinline)) static void f(void) { g(); __asm__ volatile("in_f: nop"); g(); __asm__ volatile("nop"); }
void _start(void) { f(); __asm__ volatile("back: nop"); f(); for (;;); }
C
gcc -O1 -fno-omit-frame-pointer -mno-omit-leaf-frame-pointer -nostdlib -static -no-pie -fcf-protection=none \
	-Wl,--build-id=0x0102030405060708 -Wl,-Ttext=0x401000 -o app app.c 2>err || exit 2
off=$(readelf -lW app | awk '/LOAD/ && / R E /{ print $2 }')
u=0x$(nm app | awk '$3 == "in_f"{ print $1 }'),0x$(nm app | awk '$3 == "back"{ print $1 }')
: | capture both
sed "s|^comm.*|&\nmmap pid=100 start=0x401000 len=0x1000 pgoff=$off path=$PWD/app id=0102030405060708|" both.txt >both.in
for k in direct direct middle leaf; do
	t=$((t + 1000))
	echo "sample pid=100 tid=100 cpu=1 time=$t k=$(at work),$(at $k),$(at syscall),$(at entry) u=$u"
done >>both.in
"$MKCAP" both.in both.data
read_it both framed
is "the weaker half comes first" \
	"50.00 % of the kernel halves are fabricated (a frame after no call, or after a kernel entry), 50.00 % lack the innermost caller. All 4 user stacks are whole." \
	"$("$B" report both.db | sed '/^capture/,$d' | tr -s ' \n' ' ' | sed 's/ $//')"
