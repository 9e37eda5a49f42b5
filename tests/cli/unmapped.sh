#!/bin/sh
# unmapped.sh - info says why code has no name that belongs to no file.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/unmapped.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# said NAME TEXT LINE...: of a capture with these samples
said() {
	said_name=$1 said_text=$2
	shift 2
	{
		printf '%s\n' 'event cpu-clock period=1000' 'host a 6.1' \
			'comm pid=7 name=prog' "$@"
	} >c.txt
	"$MKCAP" c.txt c.data
	"$B" info --kallsyms kallsyms c.data 2>err | tr -s ' \n' ' ' >out
	says "$said_name" "$said_text" out
}
cat >kallsyms <<'END'
ffffffff81000000 T _text
ffffffff81001000 t __seccomp_filter
ffffffff81002000 t packet_rcv
ffffffff81003000 T do_it
ffffffff81004000 T last
END
kernel='mmap pid=-1 tid=0 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel'
sample='sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffffc0001000'
without='no names for kernel code without a symbol, 100.00 % of samples'
said a_filter_of_seccomp_is_called_so \
	"$without, called by __seccomp_filter: a filter of seccomp (classic BPF)" \
	"$kernel" "$sample,0xffffffff81001010"
said one_of_a_socket_too \
	"$without, called by packet_rcv: a filter of a socket (classic BPF)" \
	"$kernel" "$sample,0xffffffff81002010"
said of_others_it_says_what_they_may_be \
	"$without, called by do_it: made at run time, as classic BPF and the \
trampolines of ftrace and kprobes are, or of a module that is gone" \
	"$kernel" "$sample,0xffffffff81003010"
said where_no_kernel_is_mapped_that_is_why \
	"$without: no record says where the kernel's code was" "$sample"
said code_of_a_program_in_no_mapping_has_its_remedy \
	"no names for user code in no mapping, 100.00 % of samples: no record \
says what was there; 'backstitch ingest --maps PID=FILE' does" \
	'mmap pid=7 start=0x10000 len=0x1000 pgoff=0 path=/gone' \
	'sample pid=7 tid=7 cpu=0 time=1000 u=0x500000'

# advice that was followed is not given again
printf '%s\n' 'event cpu-clock period=1000' 'comm pid=7 name=prog' \
	'mmap pid=7 start=0x10000 len=0x1000 pgoff=0 path=/gone' \
	'sample pid=7 tid=7 cpu=0 time=1000 u=0x10010' >c.txt
"$MKCAP" c.txt c.data
mkdir root
# advice OPTION...: at the end of ingest, and of symbolize behind it
advice() {
	"$B" ingest -f -o c.db "$@" c.data 2>&1 |
		sed -n 's/.* c.db., with //p'
	"$B" symbolize "$@" c.db 2>&1 | sed -n 's/.*says what is missing//p'
}
unset DEBUGINFOD_URLS
is options_that_may_help_are_named \
	"--symfs DIR, --kallsyms FILE, --debug-dir DIR
; options that say where it is: --symfs DIR, --kallsyms FILE, --debug-dir DIR" \
	"$(advice)"
is but_not_those_that_were_given "--kallsyms FILE
; options that say where it is: --kallsyms FILE" \
	"$(advice --symfs root --debug-dir root)"
is nor_any_if_all_were "" \
	"$(advice --symfs root --debug-dir root --kallsyms kallsyms)"
export DEBUGINFOD_URLS=http://127.0.0.1:9
is servers_that_are_known_are_named_until_they_are_asked "--debuginfod
; options that say where it is: --debuginfod" \
	"$(advice --symfs root --debug-dir root --kallsyms kallsyms)"
