#!/bin/sh
# walks.sh - who walked a stack: frame pointers, or the SFrame tables that a kernel was
# given; and what is said of stacks that end where it was given none.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/walks.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

case $(uname -m)-$(command -v gcc) in
x86_64-/*) ;;
*)
	echo "skip walks: no gcc for x86-64"
	exit 0
	;;
esac
cat >code.S <<'EOF'
	.macro begin name
	.p2align 4
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	.endm
	.macro ends name
	ret
	.cfi_endproc
	.size \name, . - \name
	.endm
	# sets a frame pointer, and calls
	.macro framed name, as, to:vararg
	begin \name
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset rbp, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register rbp
	call \to
after_\as\()_in_\name:
	nop
	pop %rbp
	.cfi_def_cfa rsp, 8
	ends \name
	.endm
	# the same without one
	.macro plain name, to:vararg
	begin \name
	sub $8, %rsp
	.cfi_def_cfa_offset 16
	call \to
after_call_in_\name:
	add $8, %rsp
	.cfi_def_cfa_offset 8
	ends \name
	.endm
	begin bare
	nop
in_bare:
	nop
	ends bare
	plain hop, bare
	plain again, again
	plain loose, *%rax
	begin jumps
	nop
	jmp bare
	.cfi_endproc
	.size jumps, . - jumps
	plain over, jumps
	framed work, hop, hop
	framed lone, bare, bare
	framed jumped, over, over
	framed far, loose, loose
	framed any, it, *%rax
	begin _start
	.cfi_undefined rip
	.irp to, work, lone, jumped, far, any
	call \to
after_\to:
	.endr
	hlt
	ends _start
EOF
gcc -c -o without.o code.S || exit 2
gcc -c -Wa,--gsframe -o with.o code.S 2>/dev/null || {
	echo "skip walks: the assembler writes no .sframe"
	exit 0
}
# 'closed' has a table, too, which nobody gives to the kernel
ld -z separate-code --build-id -Ttext=0x401000 -o with with.o && ld -z separate-code --build-id -Ttext=0x501000 -o without without.o &&
	ld -z separate-code --build-id -Ttext=0x601000 -o closed with.o || exit 2

# capture.py FOLDER STACK...: FILE:LABEL,FILE:LABEL,...; each comes after its sample, as record 22
cat >capture.py <<'EOF'
import re, subprocess, sys
at = {}
print("event cpu-clock defer\nevent dummy:u output\ncomm pid=100 tid=100 name=p exec")
for f in "with", "without", "closed":
    for line in subprocess.run(["nm", f], capture_output=True, text=True, check=True).stdout.splitlines():
        a, _, name = line.split()
        at[f, name] = int(a, 16)
    notes = subprocess.run(["readelf", "-nlW", f], capture_output=True, text=True, check=True).stdout
    off, addr = re.search(r"LOAD +(\w+) (\w+).* R E ", notes).groups()
    print("mmap pid=100 tid=100 start=%s len=0x1000 pgoff=%s path=%s/%s id=%s" % (
        addr, off, sys.argv[1], f, re.search(r"Build ID: (\w+)", notes)[1]))
for i, stack in enumerate(sys.argv[2:]):
    ips = [at[tuple(s.split(":"))] if ":" in s else int(s, 16) for s in stack.split(",")]
    print("sample pid=100 tid=100 cpu=0 time=%d k=0xffffffff81000010 cookie=0:%d" % (1000 + 10 * i, 3 + 2 * i))
    print("chain cookie=0:%d pid=100 tid=100 cpu=0 time=%d u=%s" % (3 + 2 * i, 1005 + 10 * i,
          ",".join("0x%x" % a for a in ips)))
EOF
# made DB STACK...
made() {
	db=$1
	shift
	python3 capture.py "$PWD" "$@" >"$db.txt" && "$MKCAP" "$db.txt" "$db.data" && "$B" ingest -q -f -o "$db" "$db.data"
}
# said DB: of each sample the class, and who walked it
said() {
	sqlite3 -separator ', ' "$1" "SELECT coalesce(j.name, 'whole'), w.name FROM chain e
		JOIN raw_chain c ON c.id = e.uraw LEFT JOIN internal_judged q ON q.stack = c.stack
		LEFT JOIN word j ON j.kind = 'judged' AND j.id = q.class
		LEFT JOIN internal_stack_check k ON k.stack = c.stack
		LEFT JOIN word w ON w.kind = 'walk' AND w.id = k.walked ORDER BY e.time_ns"
}
# one STACK...: of the last of them
one() { made one.db "$@"; said one.db | tail -n 1; }

# perf inject has put what it unwound in place of dumps: addresses inside calls, without functions that gcc cloned
inside() {
	python3 - "$@" <<'EOF' >inside.txt
import re, sys
kind = sys.argv[1]
for line in open("all.db.txt"):
    if line.startswith("event cpu"):
        line = "event cpu-clock\ncmdline /usr/bin/perf %s record -g\n" % ("/usr/bin/perf" if kind != "plain" else "")
    elif line.startswith("event") or line.startswith("sample"):
        continue
    elif line.startswith("chain"):
        ips = [int(a, 16) for a in re.search(" u=(.*)", line)[1].split(",")]
        if kind != "frames":
            ips[1:] = [a - 1 for a in ips[1:]]
        line = "sample pid=100 tid=100 cpu=0 time=%s ip=0x%x u=%s\n" % (
            re.search(r"time=(\d+)", line)[1], ips[0], ",".join("0x%x" % a for a in ips))
    sys.stdout.write(line)
EOF
	"$MKCAP" inside.txt inside.data && "$B" ingest -q -f -o inside.db inside.data
	sqlite3 inside.db "SELECT class, samples FROM trust; SELECT walked FROM walks" | paste -sd' '
}
sframe=with:in_bare,with:after_call_in_hop,with:after_hop_in_work,with:after_work
skips=with:in_bare,with:after_work
is frame_pointers_skip_callers 'caller missing, frame pointers' "$(one $skips)"
is a_table_does_not 'whole, SFrame' "$(one $sframe)"
is nor_for_functions_that_are_called_by_address 'whole, SFrame' \
	"$(one $sframe with:in_bare,with:after_call_in_loose,with:after_loose_in_far,with:after_far)"
is where_all_have_frames_both_lead 'whole, frame pointers or SFrame' "$(one with:after_bare_in_lone,with:after_lone)"
is unless_the_table_is_known 'whole, SFrame' "$(one $sframe with:after_bare_in_lone,with:after_lone)"
is a_jump_leaves_no_frame 'whole, SFrame' \
	"$(one $sframe with:in_bare,with:after_call_in_over,with:after_over_in_jumped,with:after_jumped)"
is what_calls_itself_may_be_skipped 'not judged (uncertain), frame pointers or SFrame' \
	"$(one with:after_call_in_again,with:after_call_in_again,with:after_call_in_again,with:after_hop_in_work,with:after_work)"
is a_library_without_a_table_is_left_by_frame_pointers 'whole, SFrame and frame pointers' \
	"$(one with:in_bare,with:after_call_in_hop,without:after_it_in_any,without:after_any)"

# a file whose table only some processes have given: that of others may have been used
mixed="$sframe $skips with:after_call_in_loose"
# shellcheck disable=SC2086 # stacks
is of_others_a_call_by_address_tells_nothing 'not judged (uncertain), frame pointers or SFrame' \
	"$(one $mixed with:in_bare,with:after_call_in_loose,with:after_it_in_any,with:after_any)"
# shellcheck disable=SC2086
is but_what_is_skipped_does 'caller missing, frame pointers or SFrame' "$(one $mixed $skips)"
# shellcheck disable=SC2086
is and_so_does_what_is_not 'whole, SFrame' "$(one $mixed $sframe)"

# ends: where frame pointers end, too, they are not the cause alone
is ends_where_the_file_has_no_table 'ends early (no .sframe), SFrame' \
	"$(one with:in_bare,with:after_call_in_hop,without:after_call_in_loose)"
is ends_where_the_table_was_not_given 'ends early (.sframe not registered), SFrame' \
	"$(one with:in_bare,with:after_call_in_hop,closed:after_call_in_loose)"
is without_a_walk_by_tables_frame_pointers_are_the_cause 'ends early (function), frame pointers or SFrame' \
	"$(one with:after_bare_in_lone,without:after_call_in_loose)"

# what all of that is for a reader
made all.db $sframe $sframe with:after_bare_in_lone,with:after_lone
is the_sentence_says_so "All 3 user stacks are whole. 100.00 % were walked by SFrame." "$("$B" report all.db | head -n 1)"
made some.db $sframe with:in_bare,with:after_call_in_hop,without:after_call_in_loose
"$B" report some.db >some.txt
grep -q 'end where no .sframe was registered, as the file has none' some.txt && ! grep -q 'frame pointer\|-fno-omit' some.txt
ok no_sentence_names_frame_pointers $?
is by_view 'cpu-clock|SFrame|deferred|3' "$(sqlite3 all.db 'SELECT event, walked, taken, samples FROM walks')"
is by_json '[{"walked": "SFrame", "samples": 2}]' "$("$B" report --json some.db | python3 -c '
import json, sys
print(json.dumps(json.load(sys.stdin)["user_stacks_by_walk"]))')"
"$B" merge -q -f -o both.db all.db some.db && cp both.db before.db
is a_merge_says_the_same "$({ said all.db; said some.db; } | sort)" "$(said both.db | sort)"
is what_perf_unwound_is_known_by_its_form 'cut (converted)|3 perf inject' "$(inside converted)"
is but_not_in_a_file_that_perf_inject_did_not_write 'fabricated (no frame pointers)|3 frame pointers' "$(inside plain)"
is nor_are_chains_of_the_kernel_in_one_that_it_wrote 'whole|3 SFrame' "$(inside frames)"
sqlite3 all.db "UPDATE internal_stack_check SET walked = x'2d35'"
"$B" report all.db >hostile.txt 2>&1 && "$B" report --comm p all.db >>hostile.txt 2>&1
ok a_number_that_is_none_is_not_known $?
# a stack of as many frames as perf asked for ends at none, so that no frame pointer led there
made all.db with:after_bare_in_lone,with:after_it_in_any,with:after_call_in_loose with:after_bare_in_lone,with:after_lone
inside frames >full.txt
is where_a_walk_ends_frame_pointers_led 'frame pointers' "$(sqlite3 inside.db 'SELECT DISTINCT walked FROM walks')"
sed 's/^event cpu-clock/& frames=3/' inside.txt >full.txt
"$MKCAP" full.txt full.data && "$B" ingest -q -f -o full.db full.data
is where_no_more_is_kept_it_is_not_known 'frame pointers or SFrame' "$(sqlite3 full.db 'SELECT DISTINCT walked FROM walks')"
# walks CAPTURE: all ways in it
walks() {
	"$B" ingest -q -f -o other.db "$root/tests/captures/$1"
	sqlite3 other.db "SELECT walked, taken, sum(samples) FROM walks GROUP BY 1, 2" | paste -sd' '
}
is the_processor_recorded_these 'LBR|at once|86' "$(walks hits-lbr.data.zst)"
is dumps_were_walked_here 'stack dump|at once|15' "$(walks tiny-sframe.data)"
is stacks_of_ftrace_come_later_and_are_not_deferred 'not known|at once|118' "$(walks ftext-verbose.txt.gz)"
