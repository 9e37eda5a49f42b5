#!/bin/sh
# inputs.sh - what recorders put into files, and what is read of it: long texts, padding, strings, rings, other programs' texts.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/inputs.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
export XDG_CACHE_HOME="$work/cache"
in=$root/tests/captures/inputs
cd "$work" || exit 2

# ---- texts are printed whole, however long
python3 -c 'print("# tracer: nop\n#\n# entries-in-buffer/entries-written: 4/4   #P:1\n#")
for i, s in enumerate(("x" * 4090, "x" * 4096, "\1" * 27000, "x" * 36000)):
    print(f"   prog-12      [000] ....   12.00010{i}: tracing_mark_write: {s} END{i}")' >long.txt
"$B" script -F trace long.txt | awk '{ print length($0), $NF }' >out
is "script prints all of a text" "4095 END0
4101 END1
108005 END2
36005 END3" "$(sed 's/^ *//' out)"
is "and its JSON" "4095 4101 108005 36005" \
	"$("$B" script --json long.txt | python3 -c 'import json, sys
print(*(len(json.loads(l)["trace"]) for l in sys.stdin))')"

# ---- perf.data of old versions
unzstd -qf "$in/buildids.data.zst" -o old.data && unzstd -qf "$in/v1.data.zst" -o v1.data
"$B" ingest -q --no-symbols -o old.db old.data 2>err
is "build-ids padded by 64 bytes" "0|$(perf buildid-list -i old.data | wc -l)" \
	"$?|$(one old.db "SELECT count(*) FROM image WHERE build_id IS NOT NULL")"
"$B" ingest -q --no-symbols -o v1.db v1.data 2>err
is "a file of before PERFILE2" "0|1032" "$?|$(one v1.db 'SELECT count(*) FROM event')"
# perf record -o - >FILE 2>&1
cp "$root/tests/captures/pipe-zstd.data" said.data
printf '[ perf record: Woken up 1 times to write data ]\n[ perf record: Captured and wrote 0.030 MB - ]\n' >>said.data
"$B" ingest -q -f --no-symbols -o said.db said.data 2>err
is "perf's messages behind a pipe are no records" "0|1|0" "$?|$("$B" info said.db |
	grep -c "note *perf's messages follow the records")|$("$B" info said.db | grep -c 'damage')"
printf '\1' >>said.data
"$B" ingest -q -f --no-symbols -o said.db said.data 2>err
is "other bytes are" "3|0" "$?|$("$B" info said.db | grep -c "note *perf's messages")"

for order in "" -b
do
	# shellcheck disable=SC2086 # none, or one
	"$MKCAP" $order "$root/tests/cases/chain_after_its_sample/capture.txt" new.data &&
		(printf PERFFILE && tail -c +9 new.data) >was.data
	"$B" script new.data >a 2>/dev/null && "$B" script was.data >b 2>/dev/null
	[ -s a ] && cmp -s a b
	ok "whose byte order is that of its size $order" $?
done

# ---- what the kernel reserves and could not read
tar -xJf "$in/synth.tar.xz" && "$B" ingest -q --no-symbols -o synth.db pages 2>err
is "a string that ends a synthetic event takes 256 bytes" "0|clean|62" \
	"$?|$("$B" check synth.db | grep -o clean)|$(one synth.db "SELECT events FROM event_type WHERE name LIKE '%lat2'")"
unzstd -qf "$in/fault.data.zst" -o fault.data
"$B" ingest -q --no-symbols --fields all -o fault.db fault.data
for f in fault.data fault.db
do
	is "a string that could not be read is no empty one: $f" '9 1' "$("$B" script -F trace $f |
		awk '/ n=\(fault\) v=0 / { n++ } / s="" n=\(fault\)/ { s++ } END { print n, s }')"
done
is "and NULL in its column" "9|1" \
	"$(one fault.db "SELECT sum(n IS NULL) || '|' || sum(s = '') FROM ev_myp_f")"

# ---- a ring of LTTng files: 14 packets of CPU 0 are gone, while CPU 1 was idle
tar -xJf "$in/lttng-ring.tar.xz" && "$B" ingest -q --no-symbols -o ring.db session
"$B" check ring.db >out
is "a ring of LTTng's files is not clean" "4 1 1" \
	"$? $(grep -c 'broken: an unknown number' out) $(grep -c 'overwritten 1 time' out)"
says "what to do is of rings" "--tracefile-count" out
! grep -q 'subbuf-size' out
ok "and not of sub-buffers" $?
is "it says how much, and from when to when" "0|2234.984231|2235.140650|14 packets of 1 stream" \
	"$(one ring.db "SELECT printf('%d|%.6f|%.6f', l.cpu, l.t0 / 1e9, l.t1 / 1e9) FROM loss l WHERE what = 'overwritten'")|$(
	"$B" info ring.db | grep -o '14 packets of 1 stream ' | sed 's/ $//')"
# a chunk begins with the rotation on each CPU, by a packet of no time
rm session/ust/uid/0/64-bit/ch_1_* session/ust/uid/0/64-bit/index/ch_1_*
"$B" check --no-symbols session >out
is "without another stream it is no chunk either" 4 $?

# ---- texts of perf script: the stacks of our own reading of the same file, of
# programs that are here: perf names code of another machine's C library by this one's
stacks() {	# stacks DB: with their weights, sorted; perf names the vdso if its cache has it
	"$B" export --format folded "$1" 2>>err | sed 's/;__vdso_[a-z_]*/;[vdso]/g' | sort
}
for name in after lines-gcc hits-fp
do
	f=$(ls "$root/tests/captures/$name.data"*)
	case $f in
	*.zst) unzstd -qf "$f" -o p.data ;;
	*) cp "$f" p.data ;;
	esac
	# newer ones (7.2) name the kernel of another machine by this one's
	perf script --kallsyms /dev/null -i p.data >p.txt 2>err
	"$B" ingest -q -f --no-symbols -o text.db p.txt 2>>err &&
		"$B" ingest -q -f -o data.db p.data 2>>err
	stacks text.db >a
	stacks data.db >b
	[ -s a ] && cmp -s a b
	ok "the text of $name has its stacks and shares" $?
done
"$B" check text.db >out
is "a text is not clean: it does not say what was lost" "doubtful not" \
	"$(grep -o doubtful out) $(sed -n 's/^ *lost *\(not\) told$/\1/p' out)"

forms() {	# forms NAME WANTED: of the text on stdin
	printf '%b' "$(cat)" >form.txt
	"$B" ingest -q -f --no-symbols -o form.db form.txt 2>err
	is "$1" "$2" "$(one form.db "SELECT group_concat(x, ' ') FROM (SELECT coalesce(c.name, '-') || '|' ||
		coalesce(c.tid, '-') || '|' || coalesce(e.cpu, '-') || '|' || coalesce(e.time_ns, '-') || '|' ||
		e.weight || '|' || t.name AS x FROM event e JOIN event_type t ON t.id = e.type
		LEFT JOIN (SELECT c.id, c.name, t.tid FROM comm c JOIN thread t ON t.id = c.thread) c
		ON c.id = e.comm ORDER BY e.id)" | tr -d '"')|$(stacks form.db | tr '\n' ' ' | sed 's/ $//')"
}
forms "perf 3.x: no period, no offset" 'swapper|0|0|1234567890000|1|cycles|swapper;start_kernel_[k];f_[k] 1' <<'E2'
swapper     0 [000]  1234.567890: cycles: \n\tffffffff8104f45a f ([kernel.kallsyms])\n\tffffffff8104f45b start_kernel ([kernel.kallsyms])\n\n
E2
forms "a name with blanks and a colon, pid and tid" 'tmux: server|8|1|2000000001|77|cycles:u|tmux: server;main;f(int) 77' <<'E2'
tmux: server     7/8     [001]     2.000000001:         77 cycles:u: \n\t            12ab f(int)+0x1b (/usr/bin/tmux (deleted))\n\t            12ac main+0x2 (/usr/bin/tmux (deleted))\n\n
E2
forms "a name with a number and a colon" 't 1 [x]/y:|8|1|2000000001|77|cycles|t 1 [x]/y:;main 77' <<'E2'
t 1 [x]/y:     7/8     [001]     2.000000001:         77 cycles: \n\t            12ac main+0x2 (/usr/bin/t)\n\n
E2
forms "neither time nor CPU" 'a b|9|-|-|1|cycles|a b;main;g;f 1' <<'E2'
a b     9 cycles: \n\t  12 f (inlined)\n\t  12 g+0x1 (/x)\n  g.c:12\n\t  13 main+0x2 (/x)\n\n
E2
forms "a kernel by its file, at offsets in that" 'iperf|7|0|1133575000|1|cpu-clock|iperf;recv;entry_[k];copy_[k] 1' <<'E2'
iperf 7/7 [000] 1.133575: cpu-clock: \n\t          59fef5 copy (/lib/modules/4.3.0-rc1-virtual/build/vmlinux)\n\t          974e36 entry (/usr/lib/debug/boot/vmlinux-4.4.0-2)\n\t            f7eb recv (/lib/libpthread-2.19.so)\n\n
E2
forms "modules and other names in brackets" 'x|7|0|1000000000|1|c|x;main;jit;f_[k] 1' <<'E2'
x 7 [000] 1.0: c: \n\t 59f f ([nf_conntrack])\n\t 7f31 jit ([anon:dalvik-jit-code-cache])\n\t 7f32 main ([udp.sh])\n\n
E2
forms "the code that the kernel gives to programs" 'x|7|0|1000000000|1|c|x;main;k;v;w 1' <<'E2'
x 7 [000] 1.0: c: \n\t 59f w ([vdsox32])\n\t 60f v ([vdso32])\n\t 61f k ([vectors])\n\t 7f32 main (/x)\n\n
E2
forms "a file is a module by its own name, not by that of a folder" 'x|7|0|1000000000|1|c|x;u;pvr;g_[k];f_[k] 1' <<'E2'
x 7 [000] 1.0: c: \n\t 59f f (/lib/modules/6.1/extra/a.ko.xz)\n\t 60f g (/x/a.ko)\n\t 61 pvr (/opt/.kodi/pvr.so)\n\t 62 u (/opt/vmlinux/x)\n\n
E2
forms "no time, frames behind blanks, and names of JavaScript" 'node|7|-|-|1|cpu-clock|node;start(int, char**);LazyCompile:*a_b /apps/x y/a.js:39;RegExp:\\bF ?B(?:/[\\d.]+|[ \\w.]*) 1' <<'E2'
node 7 cpu-clock: \n             c6d78255e68 RegExp:\\\\bF ?B(?:/[\\\\d.]+|[ \\\\w.]*) (/tmp/perf-7.map)\n             c6d788f8125 LazyCompile:*a_b /apps/x y/a.js:39 (/tmp/perf-7.map)\n                  ae5f31 start(int, char**) (/tmp/node)\n\n
E2
forms "an inlined one whose function is not printed" 'x|7|-|1000000000|1|cycles|x;_start;start;main;f 1' <<'E2'
x 7 1.000000: 1 cycles: \n\t 7fe17e f+0x4e (inlined)\n\t 7fe17e main+0x4e (/x)\n\t 752d28a start+0x8a (inlined)\n\t 5dd354 _start+0x24 (/x)\n\n
E2
is "has no file, which only its address would tell" "(/x) (/x) ([script]) (/x)" "$("$B" script form.db | grep -o '([^ ]*)$' | tr '\n' ' ' | sed 's/ $//')"
forms "functions without a name, in files and none, of an event of a hybrid CPU" 'x|7|-|1000000000|5|cpu_core/cycles/P|x;[unknown];[/ (deleted)];[vdso];[y];f<A>::g() const;[ext4]_[k];[kernel.kallsyms]_[k] 5' <<'E2'
x 7 1.000000: 5 cpu_core/cycles/P: \n\tffffffff81414b3c [unknown] ([kernel.kallsyms])\n\tffffffff81414b3e [unknown] ([ext4])\n\t    7f9ca5486e00 f<A>::g() const+0x4 (/x)\n\t    7f9ca5486e01 [unknown] (/z/y)\n\t    7f9ca5486e02 [unknown] ([vdso])\n\t    7f9ca5486e03 [unknown] (/ (deleted))\n\tc04c0cd1a394e5de [unknown] ([unknown])\n\n
E2
"$B" script -F ip,sym,symoff,dso,dsoff form.db 2>err >out
sed 1d form.txt | diff -wB - out >err
is "whose lines are those of the text, without offsets that it does not have" "0 100.00 %" \
	"$? $("$B" report form.db 2>err | sed -n 's/^code without a name: \(.*%\);.*/\1/p')"
printf 'main;foo;bar 10\nmain;foo 5\nmain;idle_[k] 3\n' >f.folded
"$B" report --format csv f.folded 2>err >out
is "folded stacks" "bar 55.56 foo 27.78 idle 16.67" "$(awk -F, 'NR > 1 && $1 > 0 { printf "%s%s %.2f", s, $7, $1; s = " " }' out | tr -d '"')"
printf 'sleep;main;-;do_nanosleep;schedule 3\nsleep;main;-;do_nanosleep 4\n' >f.folded
is "a - of bcc is where the kernel begins" ":-1;sleep;main;do_nanosleep_[k] 4 :-1;sleep;main;do_nanosleep_[k];schedule_[k] 3" \
	"$("$B" export --format folded f.folded 2>err | sort | tr '\n' ' ' | sed 's/ $//')"
forms "no time, CPU or event" 'x|5|-|-|1|samples|x;g 1' <<'E2'
x 5 \n\t  13 g+0x2 (/x)\n\n
E2
forms "no thread: the seconds of the time are none" ':-1|-1|-|853965864000|1|c|:-1;g 1' <<'E2'
a b   853.965864: c: \n\t  13 g+0x2 (/x)\n\n
E2
forms "nor is a period behind a CPU and a time" ':-1|-1|0|882210795000|3347843|c|:-1;g 3347843' <<'E2'
a b [000]   882.210795:    3347843     c: \n\t  13 g+0x2 (/x)\n\n
E2
forms "with the mode (-F misc)" 'x|5|0|1500000000|7|c|x;g 7' <<'E2'
x 5 [000] U     1.500000:      7 c: \n\t  13 g+0x2 (/x)\n\n
E2
forms "with perf's own records (--show-task-events, --show-mmap-events and others)" 'a b|9|1|2000000000|1|c a b|9|1|2500000000|1|c|a b;g 2' <<'E2'
swapper     0     0.000000: PERF_RECORD_MMAP -1/0: [0xffffffff81000000(0x120bb08) @ 0xffffffff81000000]: x [kernel.kallsyms]_text\na b     9 [001]     1.900000: PERF_RECORD_COMM exec: a b:9/9\na b     9 [001]     2.000000: c: \n\t  13 g+0x2 (/x)\n\nPERF_RECORD_FINISHED_ROUND\n   a b     9 [001]     2.100000: PERF_RECORD_MMAP2 9/9: [0x5640(0x1000) @ 0 fe:00 11 27]: r-xp /x\na b     9 [001]     2.200000: PERF_RECORD_LOST lost 17\na b     9 [001]     2.500000: c: \n\t  13 g+0x2 (/x)\n\na b     9 [001]     2.600000: PERF_RECORD_EXIT(9:9):(1:1)\n
E2
is "which are no damage, and tell what was lost" "17||0" \
	"$(one form.db "SELECT n FROM loss")|$(cat err)|$("$B" info form.db | grep -c damage)"
forms "nor a thread" ':-1|-1|-|-|1|cycles|:-1;g 1' <<'E2'
x cycles: \n\t  13 g+0x2 (/x)\n\n
E2

# ---- what is not read is named in one line, with what would be
named() {	# named TEXT WORDS
	printf '%b' "$1" >foreign
	"$B" info foreign >out 2>&1
	[ $? = 1 ] && [ "$(wc -l <out)" = 1 ] && grep -qF -- "$2" out
	ok "named: $2" $?
}
named '[    0.000000] Linux version 6.1\n[    1.2] usb: x\n' 'the log of the kernel (dmesg)'
named '[Sat Nov 28 13:00:01 2026] Linux version 6.1.0 (x)\n' 'the log of the kernel (dmesg)'
named '12  13:00:01.5 open("/x", O_RDONLY)    = -1 ENOENT (No)\n' 'the output of strace'
named '\n\020\010\001\022\014abcdefghijkl\n\004\010\002\020\003' 'a trace of Perfetto; '"'traceconv systrace'"
named '{\n  "traceEvents": [\n{"ph": "X"}]}\n' 'this is JSON'
named '@[\n  do_sys_open+5\n]: 12\n@n[foo]: 3\n' 'stackcollapse-bpftrace.pl'
named 'capturing trace... done\nTRACE:\nx\0234\001\002\003\004\005\006\007\010' 'record it without -z'
named '# To display the perf.data header info, please use --header options.\n#\n' "the text of 'perf report'"
named '\n0x1a8@p.data [0x90]: event: 69\n.\n. ... raw event: size 144 bytes\n' "'perf script -D'"
named '[02:25:30.986274971] (+?.?????????) vm a:b: { cpu_id = 0 }, { }\n' 'the text of babeltrace2; give the folder'
named '[1795945675.590638266] vm a:b: { cpu_id = 1 }, { }\n' 'the text of babeltrace2; give'
named 'timestamp = 09:47:55.590638266, delta = +?.?????????, name = a:b, stream.packet.context = { cpu_id = 1 }\n' 'text of babeltrace2; give'
named 'Trace class:\n  Stream class (ID 0):\n    Supports packets: Yes\n' 'is the text of babeltrace2'
named '[Unknown] {0 0 0} Stream beginning\n[1 2] {0 0 0} Packet beginning\n' 'this is the text of babeltrace2'
named ' Tracing meta data in file t.dat:\n\t[Initial format]\n\t\t7\t[Version]\n' "this is a table of trace-cmd"
named '\ntask: a-1\n  Event: softirq_raise:RCU (1) Total: 217 Avg: 217\n' "give the trace.dat or the text of 'trace-cmd report'"
named '  %%7.16  (12) sh   sched_switch #49\n         |\n         --- *sched_switch*\n' "which has no events; give the trace.dat"
named 'cpus=2\n\nKernel buffer statistics:\n  Note: "entries" are\n' "a table of trace-cmd (dump, hist, profile, --stat)"
named 'Listing of file x:\n\t[first]\n\t\t7\t[size]\n\t[second]\n' "this is a text file"
named 'version: 1\ncreator: callgrind-3.19\nevents: Ir\nfn=main\n1 2\n' 'a profile of callgrind'
named '     0.000 ( 0.005 ms): sleep/1234 brk() = 0x5581f8b6b000\n' 'perf trace record'
named '     0.000 (         ): sleep/1234 clock_nanosleep(rqtp: 0x7ffd5d3f6bc0) ...\n' 'perf trace record'
named 'Sampling at 49 Hertz of all threads by user + kernel stack... Hit Ctrl-C to end.\n    f\n    -   x (1)\n        3\n' 'with -f'
named 'main;foo 12 15\nmain;bar 3 4\n' 'difffolded.pl'
named '# DURATION     TID     FUNCTION\n   1.1 us [ 1] | a();\n' 'uftrace dump --flame-graph'
named '\377\376a\000 \0001\000:\000 \000a\000b\000c\000d\000e\000f\000' 'iconv -f UTF-16 -t UTF-8'
named 'DTiJ\001\000\000\000\050\000\000\000\076\000\000\000\000' 'a jitdump file'
named 'PK\003\004\024\000\000\000\010\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\000\011\000\000\000perf.data0' "this entry of the archive cannot be read: "
named 'BZh91AY&SY0000' "packed data are damaged"
printf 'capturing trace... done\nTRACE:\n# tracer: nop\n#\n  a-1  [000] d..2  10.000001: cpu_idle: state=1 cpu_id=0\n' >atrace
"$B" info atrace >out 2>err
is "the text of atrace is read" "0 1 0" "$? $(grep -c '^atrace: 1 sample' out) $(wc -c <err)"
cp f.folded perf.data
tar -czf capture.tgz perf.data
"$B" report capture.tgz >out 2>&1
says "a capture in an archive is read" "[script]" out

# ---- forms of perf script -F
form() {	# form NAME WANTED TEXT: samples, threads, first and last time, the first frame
	printf '%b' "$3" >form.txt
	"$B" ingest -q -f --no-symbols -o form.db form.txt >out 2>&1
	form=$?$(one form.db "select ' ' || count(*) || ' ' || count(distinct tid) || ' ' || coalesce(min(time_ns), '-') || ' ' ||
		coalesce(max(time_ns), '-') || ' ' || max(comm) from samples" | tr -d '"')
	is "perf script $1" "$2" "$form$("$B" script -F ip,sym form.db | head -1 | tr -s '\t ' ' ' | sed 's/ $//')"
}
a='\t          401136 f+0x10 (/x)\n\n'
form "-F tod" '0 2 1 4838710170000 4838710480000 a' \
	"a 7 [000] 2026-11-25 22:59:21.267447  4838.710170: cycles: \\n${a}a 7 [000] disabled  4838.710480: cycles: \\n$a"
form "-F insn" '0 2 1 1000000000 2000000000 a' "a 7 1.000000: cycles: \\n${a}a 7 2.000000: cycles: \\n\t 11 f (/x)\\n ilen: 2 insn: 89 07\\n"
form "--deltatime" '0 3 1 0 350000000 a' "a 7 0.000000: cycles: \\n${a}a 7 0.200000: cycles: \\n${a}a 7 0.150000: cycles: \\n$a"
form "--deltatime of deep stacks" '0 3 1 0 350000000 a' "$(f=$(printf '\\t 11 f (/x)\\n%.0s' $(seq 150))
printf 'a 7 %s: cycles: \\n%s\\n' 0.000000 "$f" 0.200000 "$f" 0.150000 "$f")"
form "-F addr" '0 1 1 1000000000 1000000000 a ffffffff8175336a elf_load' \
	'a 7 1.000000: page-faults:     55d8c9be95c0 __progname+0x0 (/usr/bin/ls)   1e05080021 |OP N/A 0 ffffffff8175336a elf_load+0x28a ([kernel.kallsyms])        0\n'
form "of a tracepoint whose text begins with an address" '0 1 1 1000000000 1000000000 a' \
	'a 7 1.000000: lock:contention_begin: 0xffffffff831f5aa0 (flags=MUTEX)\n'
form "of one whose text begins like an address" '0 1 1 1000000000 1000000000 a' \
	'a 7 1.000000: bpf_trace:bpf_trace_printk: 1234567 things seen\n'
is "which is all of its text, and an event" "1234567 things seen|count" \
	"$("$B" script -F trace form.db | sed 's/^ *//; s/ $//')|$(one form.db 'SELECT how FROM event_type' | tr -d '"')"
form "of an event with modifiers" '0 1 1 1000000000 1000000000 a 401136 main' 'a 7 1.000000: 1 cycles:P:            401136 main+0x6 (/x)\n'
is "which is a sample" "sample" "$(one form.db 'SELECT how FROM event_type' | tr -d '"')"
form "-F comm,tid,ip" '0 2 1 - - a' "a  7 \\n\\na  7 \\n$a"
form "-F comm,tid,ip of events without frames" '0 1 1 - - a ffffffff81b713d8 [unknown]' 'a  7524  ffffffff81b713d8 [unknown]\n'
form "of a thread without a name" '0 1 1 1000000000 1000000000 :7' ':7     7 1.000000: cycles:  \n'
form "-F comm,cpu,time,event is no text of ftrace" '0 1 1 882210795000 882210795000 :-1' "work-0 [000]   882.210795:        cpu-clock: \\n$a"
form "that begins with records" '0 1 1 2000000000 2000000000 a' "$(for i in $(seq 99)
do printf 'swapper 0 [000] 0.000000: PERF_RECORD_COMM: kworker:%d/%d\\n' "$i" "$i"
done)a 7 [000] 2.000000: cycles: \\n$a"
form "with a mark of UTF-8, and line feeds of DOS" '0 2 1 1000000000 2000000000 a' "\\357\\273\\277a 7 1.000000: cycles: \\r\\n\\t 11 f (/x)\\r\\n\\r\\na 7 2.000000: cycles: \\r\\n\\t 11 f (/x)\\r\\n\\r\\n"
form "behind a message of perf" "3 2 1 1000000000 1000000000 a" "Warning:\\nProcessed 1 events and lost 1 chunks!\\n\\na 7 [000] 1.000000: cycles: \\n${a}a 7 [000] 1.000000: cycles: \\n$a"
form "that begins in a sample" '3 1 1 1000000000 1000000000 a' "${a}a 7 [000] 1.000000: cycles: \\n$a"
form "--show-namespace-events" '0 1 1 1000000000 1000000000 a' "a 7 [000] 0.000000: PERF_RECORD_NAMESPACES 7/7 - nr_namespaces: 7\\n\\t\\t[0/net: 4/0xf0000098, 1/uts: 4/0xeffffffe, \\n\\t\\t 4/user: 4/0xeffffffd]\\na 7 [000] 1.000000: cycles: \\n$a"
form "of an event whose first sample has no frames" '0 2 1 1000000000 2000000000 a' "a 7 [000] 1.000000: cycles: \\n\\na 7 [000] 2.000000: cycles: \\n$a"
is "which has callchains" 1 "$(one form.db 'SELECT has_chain FROM event_type')"
form "-G -F iregs,insn" '0 2 1 1000000000 2000000000 a 401136 f' "a 7 1.000000: 1 cycles:  401136 f+0x10 (/x) ABI:2    AX:0x0    IP:0x401136 \\na 7 2.000000: 1 cycles:  401136 f+0x10 (/x) ilen: 2 insn: 89 07\\n"
is "are one function" "a;f 2" "$(stacks form.db)"
form "-F phys_addr" '0 1 1 1000000000 1000000000 a' "a 7 1.000000: 1 cycles: \\n\\t 401136 f+0x10 (/x)\\n               0\\n"
is "is no frame" "a;f 1" "$(stacks form.db)"
printf '\n\t          40113\n\t          1136\n\n\t          4013\n\n' >form.txt
"$B" ingest -q -f --no-symbols -o form.db form.txt >out 2>&1
is "frames alone are no samples" 1 $?
form "-F srccode" '0 2 1 1000000000 2000000000 a' "a 7 1.000000: cycles: \\n\\t 11cf f (/x)\\n  x.c:1\\n\\n|1         int f(void)\\na 7 2.000000: cycles: \\n\\t 11cf f (/x)\\n  x.c:1\\n\\n|1         int f(void)\\n"
form "-F brstackinsn" '0 1 1 1000000000 1000000000 a' "a 7 1.000000: cycles: \\n\\t 11cf f+0x10 (/x)\\n\\tmain+22:\\tx.c:1\\n\\t0000000000401136\\tinsn: 89 07 \\t# PRED 3 cycles [3]\\n\\tf(int)+22:\\n\\t0000000000401140\\tinsn: 89 d0\\n\\t... not reaching sample ...\\n\\n"
is "has no instruction as a frame" "a;f 1" "$(stacks form.db)"
{ printf "a 7 1.000000: cycles: \\n${a}%.0s" 1 2 3; yes a | head -n 300000 | tr '\n' ' '; printf '\n'; } >long.txt
timeout 10 "$B" check --no-symbols long.txt >out 2>&1
is "a long line of many words is looked at once" "4" $?
form "--deltatime --show-mmap-events" '0 4 1 0 450000000 a' "a 7 0.000000: cycles: \\n${a}a 7 0.200000: cycles: \\n${a}a 7 0.100000: PERF_RECORD_COMM: a:7/7\\na 7 0.050000: cycles: \\n${a}a 7 0.100000: cycles: \\n$a"
form "--no-merge-callchains" '0 1 1 1000000000 1000000000 a' "a 7 [000] 1.000000: 1 cycles: \\n\\tffffffff81000010 k+0x10 ([kernel.kallsyms])\\n\\t       100000001 (cookie) ([unknown])\\n\\na 7 [000] 2.000000: DEFERRED CALLCHAIN [cookie: 100000001]\\n\\t 11 f+0x1 (/x)\\n\\t 12 main+0x1 (/x)\\n\\n"
is "joins deferred stacks" "a;main;f;k_[k] 1" "$(stacks form.db)"
form "of a user stack that perf did not find" '0 1 1 1000000000 1000000000 a' "a 7 [000] 1.000000: 1 cycles: \\n\\tffffffff81000010 k+0x10 ([kernel.kallsyms])\\n\\t       100000001 (cookie) ([unknown])\\n\\n"
is "has no frame for the cookie" "a;[user: pending_end];k_[k] 1" "$(stacks form.db)"
form "of samples that perf printed late" '0 4 1 1000000000 4000000000 b' "a 7 [000] 1.000000: cycles: \\n${a}a 7 [000] 3.000000: cycles: \\n${a}a 7 [000] 2.000000: cycles: \\n${a}b 7 [000] 4.000000: cycles: \\n$a"
is "has them in order, with their times" "1 2 3 4 0" \
	"$(one form.db "SELECT group_concat(time_ns / 1000000000, ' ') FROM (SELECT time_ns FROM event ORDER BY id)" | tr -d '"') $("$B" check form.db | grep -c 'out of order')"
period() {	# period NAME WANTED TEXT: tid and weight of the sample
	printf '%b' "$3" >form.txt
	"$B" ingest -q -f --no-symbols -o form.db form.txt 2>err
	is "perf script $1: a period is no thread" "$2" "$(one form.db "select coalesce(tid, -1) || ' ' || weight from samples" | tr -d '"')"
}
period "-F period,event" '-1 29331' '     29331        page-faults: \n\t 11 f (/x)\n\n'
period "-F period,event without frames" '-1 4' '         4        page-faults: \n'
period "-F comm,period,ip" '-1 250000' "perf     250000 \\n$a"
period "-F comm,tid,period,ip" '7 250000' "perf     7     250000 \\n$a"
period "-F pid,tid,period,ip" '7 250000' "    7/7         250000 \\n$a"
period "-F pid,tid,period,ip of perf 7" '7 250000' "      7/7           250000 \\n$a"
period "-F comm,tid,time,period,ip" '7 12345678901' "perf     7     1.000000: 12345678901 \\n$a"
period "-F tid,time,addr" '7 1' '    7     1.000000:                 0 \n'
form "-F srcline" '0 1 1 1000000000 1000000000 a' "a 7 1.000000: cycles: \\n\\t 11cf f (/x)\\n  x.c:1\\n\\t 11ce g (/x)\\n  x.c:2\\n\\n"

{ printf '\357\273\277'; cat "$root/tests/captures/ftext-marker-kstack.txt"; } >marked
"$B" info marked >out 2>err
is "a text of ftrace with a mark of UTF-8 has its first line" "0 0 1" "$? $(wc -c <err) $(grep -c 'ftext, overwrite' out)"

# ---- a text of ftrace without its head: the CPUs are those in it, on a premise
proved() {	# proved OPTION...: the share that is proved
	"$B" path "$@" "$in/nohead.txt" 2>>err | sed -n 's/^\([0-9.]* %\) proved.*/\1/p'
}
is "without its head a text proves on a premise" "76.74 %" "$(proved)"
rests() {
	"$B" path --premises "$@" "$in/nohead.txt" 2>>err | tr '\n' ' ' | grep -c 'no CPUs ran but those in the text'
}
is "which --cpus takes away" "76.74 % 0 1" "$(proved --cpus 2) $(rests --cpus 2) $(rests)"
is "or proves wrong: others hide everything" "0.00 %" "$(proved --cpus 4)"
"$B" ingest -qf --no-symbols --cpus 3 -o "$work/off.db" "$root/tests/captures/ftrace-v7.dat"
sed "s/#P:[0-9]*/#P:3/" "$root/tests/captures/ftext-overrun-pipe.txt" >"$work/head.txt"
grep -q "#P:3" "$work/head.txt" || sed -i "1i # entries-in-buffer/entries-written: 9/9   #P:3" "$work/head.txt"
for cpus in "" "--cpus 2"
do
	# shellcheck disable=SC2086 # an option and its value
	"$B" ingest -qf --no-symbols $cpus -o "$work/head.db" "$work/head.txt"
	"$B" path --limit 1 "$work/head.db" >"$work/said" 2>&1
	is "a CPU without records may have been off: $cpus" "$((${#cpus} == 0))" \
		"$(tr '\n' ' ' <"$work/said" | grep -c "no record of CPU 2 ('ingest --cpus N' if only N were on)")"
done
is "trace-cmd counts CPUs that were off" 3 "$("$B" query --format csv "$work/off.db" 'SELECT cpus FROM capture' | tail -n 1 | tr -d '\r')"
"$B" path --cpus 8193 "$in/nohead.txt" >out 2>&1
is "more than a kernel has are refused" "2 1" "$? $(grep -c 'at most 8192' out)"

# ---- trace-cmd report -N
printf 'cpus=1\n   a-7   [000]  1.000001: sys_exit_write:  0x1\n   a-7   [000]  1.000002: kernel_stack:   \t=> f\n\t=> g\n\t=> 0x0\n\t=> 0x0\n   a-7   [000]  1.000003: sys_exit_write:  0x2\n' >n.txt
is "a kernel stack of trace-cmd report -N is no event, and ends at its zeros" "a;g_[k];f_[k] 1 a 1 | 1" \
	"$("$B" export --format folded n.txt 2>err | sort -r | tr '\n' ' ')| $("$B" info n.txt 2>&1 | grep -c 'of eight frames at most')"

# ---- what was written to trace_marker_raw, as the kernel prints it
mkdir -p raw/events/ftrace/raw_data raw/per_cpu/cpu0
cat >raw/events/header_page <<'TEXT'
	field: u64 timestamp;	offset:0;	size:8;	signed:0;
	field: local_t commit;	offset:8;	size:8;	signed:1;
	field: int overwrite;	offset:8;	size:1;	signed:1;
	field: char data;	offset:16;	size:4080;	signed:0;
TEXT
cat >raw/events/ftrace/raw_data/format <<'TEXT'
name: raw_data
ID: 19
format:
	field:unsigned short common_type;	offset:0;	size:2;	signed:0;
	field:unsigned char common_flags;	offset:2;	size:1;	signed:0;
	field:unsigned char common_preempt_count;	offset:3;	size:1;	signed:0;
	field:int common_pid;	offset:4;	size:4;	signed:1;

	field:unsigned int id;	offset:8;	size:4;	signed:0;
	field:char buf[];	offset:12;	size:0;	signed:0;

print fmt: "id:%04x %08x", REC->id, (int)REC->buf[0]
TEXT
python3 -c 'import struct, sys
data = struct.pack("<HBBii", 19, 0, 0, 77, 0x1a) + b"raw\0b\xff12"
entry = struct.pack("<I", len(data) // 4 | 5 << 5) + data
page = struct.pack("<QQ", 1000000000, len(entry)) + entry
open("raw/per_cpu/cpu0/trace_pipe_raw", "wb").write(page.ljust(4096, b"\0"))'
is "a raw marker is printed whole" "# 1a buf: 72 61 77 00 62 ff 31 32" \
	"$("$B" script -F trace raw 2>err | sed 's/^ *//')"

# ---- CTF
mkdir -p ids && cat >ids/metadata <<'TEXT'
/* CTF 1.8 */
typealias integer { size = 8; align = 8; signed = false; } := u8;
typealias integer { size = 32; align = 8; signed = false; } := u32;
trace { major = 1; minor = 8; byte_order = le; packet.header := struct { u32 magic; u32 stream_id; }; };
stream { id = 0; event.header := struct { u8 id; }; packet.context := struct { u32 content_size; u32 packet_size; }; };
event { name = "e"; id = 0; stream_id = 0; fields := struct {
	u8 len; enum : u8 { A = 0, B = 1 } tag; variant <tag> { u32 A; u8 B[len]; } v; u8 end; }; };
TEXT
python3 -c 'import struct
e = b"\0\3\1abc\x63" + b"\0\2\0\x11\x22\x33\x44\x64" + b"\x2a\1"
n = 8 * (16 + len(e))
open("ids/stream", "wb").write(struct.pack("<IIII", 0xc1fc1fc1, 0, n, n) + e)'
"$B" script -F trace ids 2>err | sed 's/^ *//' >out
is "an array in a variant has its length from outside" 'len = 3, tag = ( "B" : container = 1 ), v = { [ [0] = 97, [1] = 98, [2] = 99 ] }, end = 99
len = 2, tag = ( "A" : container = 0 ), v = { 1144201745 }, end = 100' "$(cat out)"
"$B" info --no-symbols ids >out 2>&1
says "an unknown event of CTF has its number" 'event id 42: the metadata has no event of this id' out

# ---- folded stacks are read, and written over as any output
printf 'a;b;c 3\n' >again.folded
"$B" export --format folded -o again.folded text.db 2>err && ! grep -q '^a;b;c' again.folded
ok "folded stacks are no capture that an output must not replace" $?
