#!/bin/sh
# files.sh - which file a descriptor was, of a call in which a thread waits.
# usage: BACKSTITCH=build/backstitch tests/cli/files.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# `prog` opens two files as ftrace's text has it since Linux 6.19, waits in read
# of one, closes it and waits once more; the other one is copied to descriptor 7.
cat >run.txt <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 1/1   #P:1
prog-100   [000] .....  1.000000: sys_openat(dfd: ffffff9c, filename: 55d7c0 "/var/lib/x/wal", flags: 2, mode: 0)
prog-100   [000] .....  1.000010: sys_openat -> 0x3
prog-100   [000] .....  1.000020: sys_openat(dfd: ffffff9c, filename: 55d7f0 "/etc/conf", flags: 80000, mode: 0)
prog-100   [000] .....  1.000030: sys_openat -> 0x4
prog-100   [000] .....  1.000040: sys_dup2(oldfd: 4, newfd: 7)
prog-100   [000] .....  1.000050: sys_dup2 -> 0x7
prog-100   [000] .....  1.000060: sys_read(fd: 3, buf: 7ffe00, count: 100)
prog-100   [000] d....  1.000070: sched_switch: prev_comm=prog prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
prog-100   [000] d....  1.100000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=100 next_prio=120
prog-100   [000] .....  1.100010: sys_read -> 0x10
prog-100   [000] .....  1.100020: sys_close(fd: 3)
prog-100   [000] .....  1.100030: sys_close -> 0x0
prog-100   [000] .....  1.100040: sys_read(fd: 3, buf: 7ffe00, count: 100)
prog-100   [000] d....  1.100050: sched_switch: prev_comm=prog prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=swapper/0 next_pid=0 next_prio=120
prog-100   [000] d....  1.150000: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=prog next_pid=100 next_prio=120
prog-100   [000] .....  1.150010: sys_read -> 0x10
prog-100   [000] .....  1.150020: sys_fsync(fd: 7)
prog-100   [000] .....  1.170000: sys_fsync -> 0x0
prog-100   [000] .....  1.170010: sys_read(fd: 9, buf: 7ffe00, count: 100)
prog-100   [000] .....  1.170020: sys_read -> 0x0
END
# with one record lost between the open and the read
awk '{ print } /sys_openat -> 0x4/ { print "CPU:0 [LOST 1 EVENTS]" }' run.txt >lost.txt
# exec closes /etc/conf (flags 80000), not what dup2 made of it nor the other
awk '/sys_read\(fd: 3/ && !n++ {
	print "prog-100   [000] .....  1.000055: sched_process_exec: filename=/bin/prog pid=100 old_pid=100"
}
{ print }
/sys_fsync -> / {
	print "prog-100   [000] .....  1.170001: sys_fsync(fd: 4)"
	print "prog-100   [000] .....  1.170002: sys_fsync -> 0x0"
}' run.txt >exec.txt
# copies: of what a loss may have closed; of a number that has another file since exec, or
# since close_range, after which exec came
{
	sed -n '1,3p' run.txt
	cat <<'END'
prog-100   [000] .....  1.000000: sys_openat(dfd: ffffff9c, filename: 55d7c0 "/var/lib/x/wal", flags: 2, mode: 0)
prog-100   [000] .....  1.000010: sys_openat -> 0x3
GAP
prog-100   [000] .....  1.000070: sys_dup2(oldfd: 3, newfd: 7)
prog-100   [000] .....  1.000080: sys_dup2 -> 0x7
prog-100   [000] .....  1.150020: sys_fsync(fd: 7)
prog-100   [000] .....  1.170000: sys_fsync -> 0x0
prog-100   [000] .....  1.180000: sys_fcntl(fd: 3, cmd: 2, arg: 0)
prog-100   [000] .....  1.180001: sys_fcntl -> 0x0
prog-100   [000] .....  1.190020: sys_fsync(fd: 3)
prog-100   [000] .....  1.190500: sys_fsync -> 0x0
END
} >copy.txt
exec='prog-100   [000] .....  1.000055: sched_process_exec: filename=/bin/prog pid=100 old_pid=100'
made='prog-100   [000] .....  1.000060: sys_memfd_create(uname_ptr: 0, flags: 0)\nprog-100   [000] .....  1.000065: sys_memfd_create -> 0x3'
range='prog-100   [000] .....  1.000050: sys_close_range(fd: 3, max_fd: ffffffff, flags: 0)\nprog-100   [000] .....  1.000051: sys_close_range -> 0x0'
sed 's/^GAP/CPU:0 [LOST 4 EVENTS]/' copy.txt >copy-lost.txt
sed "s|^GAP|$exec\\n$made|; s/flags: 2,/flags: 80002,/" copy.txt >copy-exec.txt
sed "s|^GAP|$range\\n$exec\\n$made|" copy.txt >copy-range.txt
sed -i '/^GAP/d' copy.txt
for f in run lost exec copy copy-lost copy-exec copy-range
do
	"$B" ingest -q --fields all -o $f.db $f.txt 2>err || cat err
done

"$B" path --worst 2 run.db >out 2>err
tr -s ' \n' ' ' <out | grep -q 'in read unknown of descriptor 3 (/var/lib/x/wal)' &&
	[ "$(grep -c '/var/lib/x/wal' out)" = 1 ]
bad=$?
say a_wait_in_a_call_names_the_file_that_was_opened
"$B" path --worst 2 --json run.db 2>err | tr -d ' \n' >out
grep -q '"call":{"name":"read","descriptor":3,"file":"/var/lib/x/wal"}' out &&
	grep -q '"call":{"name":"read","descriptor":3,"file":null}' out
bad=$?
say json_has_the_call_and_a_closed_descriptor_has_no_name
"$B" latency syscall --worst 9 run.db 2>err >out
grep -q 'read .* 3 (/var/lib/x/wal)' out && grep -q 'fsync .* 7 (/etc/conf)' out &&
	grep -q 'read .* 9 *$' out && grep -q '50.0 ms .* 3 *$' out
bad=$?
say latency_has_descriptors_of_the_longest_calls
"$B" script run.db 2>err >out
grep -q 'sys_read(fd: 3, .*) (descriptor 3: /var/lib/x/wal)' out &&
	grep -q 'sys_fsync(fd: 7) (descriptor 7: /etc/conf)' out &&
	[ "$(grep -c '(descriptor ' out)" = 3 ]
bad=$?
say script_names_files_behind_calls
"$B" script -F comm,time,trace run.db 2>err >out
! grep -q '(descriptor ' out && grep -q sys_fsync out
bad=$?
say fields_of_perf_are_as_perf_has_them
"$B" script lost.db 2>err >out
! grep 'descriptor [37]:' out
bad=$?
"$B" latency syscall --worst 9 lost.db 2>err >out
! grep -q 'wal)' out || bad=1
say a_loss_since_the_open_leaves_no_name
"$B" script exec.db 2>err >out
grep -q 'sys_fsync(fd: 7) (descriptor 7: /etc/conf)' out && grep -q 'sys_fsync(fd: 4)' out &&
	! grep -q 'descriptor 4' out && grep -q 'descriptor 3: /var/lib/x/wal' out
bad=$?
say exec_closes_what_is_to_be_closed
"$B" script copy.db 2>err >out
[ "$(grep -c 'sys_fsync(fd: [37]) (descriptor [37]: /var/lib/x/wal)' out)" = 2 ]
bad=$?
say a_copy_has_the_name_of_its_file
for f in lost exec range
do
	"$B" script copy-$f.db 2>err >out
	[ "$(grep -c 'sys_fsync(' out)" = 2 ] && ! grep -q 'sys_fsync(.*(descriptor' out
	bad=$?
	say but_not_after_$f
done

# LTTng's statedump has the descriptors that were opened before: behind the state of a thread, of
# its table, in older ones of its process. Of two processes with one table each may close unseen.
cat >dump.py <<'END'
import struct, sys
sys.path.insert(0, sys.argv[1])
import hostile
TABLE = 0xffff888001234560


def one(event, tid, body):
    one.n += 1
    return struct.pack("<BBII", event, one.n, tid, tid) + (b"main\0" if tid == 100 else b"lttng\0") + body

def trace(name, old=False, shared=False, lost=False, late=False):
    kept = "u32 pid;" if old else "u64 file_table_address;"
    meta = hostile.types(tracer="lttng-modules", domain="kernel")
    meta += "typealias integer { size = 64; align = 8; signed = true; } := s64;\n"
    meta += hostile.stream(context="u32 tid; u32 pid; string procname;", packet=hostile.PACKET + " u64 events_discarded;")
    for i, (event, fields) in enumerate((
            ("lttng_statedump_process_state", "u32 tid; u32 pid;" + kept * (not old)),
            ("lttng_statedump_file_descriptor", kept + " u32 fd; u32 flags; string filename;"),
            ("syscall_entry_read", "u32 fd;"), ("syscall_exit_read", "s64 ret;"),
            ("syscall_entry_close", "u32 fd;"), ("syscall_exit_close", "s64 ret;"))):
        meta += hostile.event(fields, i, event)
    one.n = 0
    state = [one(0, 7, struct.pack("<II", pid, pid) if old else struct.pack("<IIQ", pid, pid, table))
             for pid, table in ((100, TABLE), (200, TABLE if shared else TABLE + 64))]
    files = b"".join(one(1, 7, struct.pack("<III" if old else "<QII", 100 if old else TABLE, fd, 2) + path)
                     for fd, path in ((3, b"/srv/wal\0"), (4, b"socket:[77]\0")))
    calls = b"".join(one(i, 100, struct.pack("<I", fd)) + one(i + 1, 100, bytes(8))
                     for i, fd in ((2, 3), (2, 4), (4, 3), (2, 3)))
    t = hostile.Trace(name)
    t.write("metadata", meta)
    t.write("s", b"".join(hostile.packet(body, seq=i, more=struct.pack("<Q", 5 * (lost and i > 0)))
                          for i, body in enumerate((files, b"".join(state), calls) if late else (state[0], files, state[1], calls))))

trace("dump")
trace("dump-old", old=True)
trace("dump-shared", shared=True)
trace("dump-lost", lost=True)
trace("dump-late", late=True)
END
python3 dump.py "${ROOT:-}/tests/cli" || exit 1
for f in dump dump-old dump-shared dump-lost dump-late
do
	"$B" ingest -q --fields all -o $f.db $f 2>err || cat err
	"$B" script $f.db 2>err | sed -n 's/.*syscall_entry_//p' | tr '\n' ' ' >$f.txt
done
wanted='read: fd = 3 (descriptor 3: /srv/wal) read: fd = 4 (descriptor 4: socket:[77]) close: fd = 3 (descriptor 3: /srv/wal) read: fd = 3'
for f in dump dump-old
do
	is ${f}_of_the_state_names_what_was_opened_before "$wanted" "$(tr -s ' ' <$f.txt | sed 's/ *$//')"
done
for f in shared lost late
do
	is but_no_${f}_one 'read: fd = 3 read: fd = 4 close: fd = 3 read: fd = 3' "$(tr -s ' ' <dump-$f.txt | sed 's/ *$//')"
done

# what 'record --waits -p PID' read while the thread waited, which has no events
# of calls: took_ns back from its time, all within the wait
sched=$(grep sched_switch run.txt)
printf '%s\n' '# beside: clock=monotonic' '# tracer: nop' '#P:1' "$sched" >bare.txt
cat >seen.txt <<'END'
# beside: clock=monotonic
# tracer: nop
backstitch-50 [000] ..... 0.900000: limits_process: pid=100
backstitch-50 [000] ..... 1.050000: limits_call: took_ns=20000 tid=100 call=read fd=5 path=tcp:10.0.0.5:5432
backstitch-50 [000] ..... 1.100060: limits_call: took_ns=20000 tid=100 call=read fd=6 path=/wrong
backstitch-50 [000] ..... 1.900000: limits_read: took_ns=2000 stolen_ns=0 cpus=0 real_time_us=950000 host=box
END
"$B" ingest -q -o seen.db bare.txt seen.txt 2>err || cat err
"$B" path --all --worst 2 seen.db 2>err | tr -s ' \n' ' ' >out
grep -q 'descriptor 5 (tcp:10.0.0.5:5432)' out && ! grep -q wrong out
bad=$?
say a_reading_counts_for_the_wait_that_it_was_in
# one of another machine does not, as its capture is of one kernel with another one
printf '# beside: clock=monotonic\n# tracer: nop\nx-7 [000] ..... 1.000000: mark: x=1\n' >there.txt
"$B" ingest -q --separate -o there.db bare.txt seen.txt there.txt 2>err || cat err
python3 -c 'import sqlite3
db = sqlite3.connect("there.db")
db.execute("UPDATE capture SET together = min(id, 2)")
db.commit()'
"$B" path --all --worst 2 there.db 2>err | tr -s ' \n' ' ' >out
grep -q ' took ' out && ! grep -q descriptor out && ! "$B" path there.db 2>err | grep -q "'--all'"
bad=$?
say one_of_another_machine_does_not

# of the process that was asked for the answer is first: two threads of it wait for
# each other, one is behind another program, and a poll ends without an answer
awk 'BEGIN {
	print "# beside: clock=monotonic\n# tracer: nop\n# entries-in-buffer/entries-written: 1/1   #P:1"
	line(1.0, "hog", 300, "sched_waking: comm=main pid=100 prio=120 target_cpu=000")
	sw(1.001, "hog", 300, "R", "main", 100)
	sw(1.002, "main", 100, "S", "hog", 300)
	line(1.102, "hog", 300, "sched_waking: comm=main pid=100 prio=120 target_cpu=000")
	sw(1.152, "hog", 300, "R", "main", 100)
	sw(1.153, "main", 100, "S", "swapper/0", 0)
	line(1.553, "<idle>", 0, "sched_waking: comm=main pid=100 prio=120 target_cpu=000", "d.h..")
	sw(1.5531, "swapper/0", 0, "R", "main", 100)
	sw(1.554, "main", 100, "S", "hog", 300)
	sw(1.6, "hog", 300, "S", "swapper/0", 0)
}
function line(at, who, tid, text, flags) {
	printf "%16s-%-5d (%7s) [000] %s   %.6f: %s\n", who, tid, tid ? tid : "-------", flags ? flags : "d....", at, text
}
function sw(at, from, a, state, to, b) {
	line(at, a ? from : "<idle>", a, "sched_switch: prev_comm=" from " prev_pid=" a " prev_prio=120 prev_state=" state " ==> next_comm=" to " next_pid=" b " next_prio=120")
}' >main.txt
cat >asked.txt <<'END'
# beside: clock=monotonic
# tracer: nop
backstitch-50 [000] ..... 0.900000: limits_process: pid=100
backstitch-50 [000] ..... 1.300000: limits_call: took_ns=20000 tid=100 call=poll fd=5 path=udp:10.0.0.53:53
backstitch-50 [000] ..... 1.900000: limits_read: took_ns=2000 stolen_ns=0 cpus=0 real_time_us=950000 host=box
END
"$B" ingest -q -o asked.db main.txt asked.txt 2>err || cat err
"$B" path asked.db >out 2>err
tr '\n' ' ' <out | grep -q "^main (100) waited 550 ms in all, 2 times: .* in poll of descriptor 5 (udp:10.0.0.53:53), .* % waiting for hog (300), .* % ready, 99.80 % of it while hog had its CPU" &&
	grep -q "'--all' shows all threads" out
bad=$?
say the_process_that_was_asked_for_comes_first
# a longer wait of the same kind is none on a descriptor: its stack, or the event of its
# call, shows a vfork
sed '/ 1.554000: sched_switch/s/prev_state=S/prev_state=D/' main.txt >other.txt
cat >>other.txt <<'END'
          <idle>-0     (-------) [000] d.h..   2.300000: sched_waking: comm=main pid=100 prio=120 target_cpu=000
          <idle>-0     (-------) [000] d....   2.300100: sched_switch: prev_comm=swapper/0 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=main next_pid=100 next_prio=120
            main-100   (    100) [000] d....   2.400000: sched_switch: prev_comm=main prev_pid=100 prev_prio=120 prev_state=S ==> next_comm=hog next_pid=300 next_prio=120
END
awk '{ print } / 1.554000: sched_switch/ { print "main-100 (100) [000] d.... 1.554000: <stack trace>\n => schedule\n => kernel_clone" }' other.txt >other-stack.txt
awk '/ 1.554000: sched_switch/ { print "main-100 (100) [000] ..... 1.553900: sys_vfork()" } { print }' other.txt >other-event.txt
for f in other other-stack other-event
do
	"$B" ingest -q --fields all -o $f.db $f.txt asked.txt 2>err || cat err
	"$B" path $f.db 2>err | tr '\n' ' ' | sed 's/, [0-9.]* % waiting for hog.*//; s/ [0-9.]* % / /' >$f.out
done
is but_not_of_what_else_it_waited_for 'main (100) waited 1.30 s in all, 3 times: waiting for an interrupt in poll of descriptor 5 (udp:10.0.0.53:53)
main (100) waited 1.30 s in all, 3 times: waiting for an interrupt
main (100) waited 1.30 s in all, 3 times: waiting for an interrupt' "$(cat other.out; echo; cat other-event.out; echo; cat other-stack.out)"
# no stack tells what such a wait is for, but the call does, where a timer ended it
awk '{ if (/ 1.553000: sched_waking/) print timer(1.552999, "hrtimer_expire_entry: hrtimer=00000000c0ffee00 function=hrtimer_wakeup now=1552999")
	print
	if (/ 1.553000: sched_waking/) print timer(1.553001, "hrtimer_expire_exit: hrtimer=00000000c0ffee00") }
function timer(at, text) { return sprintf("          <idle>-0     (-------) [000] d.h..   %.6f: %s", at, text) }' main.txt >timer.txt
"$B" ingest -q -o timed.db timer.txt asked.txt 2>err || cat err
"$B" path timed.db 2>err | tr '\n' ' ' |
	grep -q "^main (100) waited 550 ms in all, 2 times: [0-9.]* % waiting for a timeout (poll) in poll of descriptor 5"
bad=$?
say a_call_with_a_timeout_timed_out
"$B" page -o asked.html asked.db 2>err && "$B" page --comm hog -o hog.html asked.db 2>err
tr '\n' ' ' <asked.html | grep -q 'id="banner"[^<]*<p class="answer">main (100) waited 550 ms in all, 2 times: ' &&
	! grep -q 'class="answer"' hog.html
bad=$?
say a_page_of_all_begins_with_it
"$B" path --all asked.db >out 2>err
! grep -q 'main (100) waited' out && grep -q 'the longest wait' out
bad=$?
say all_tells_of_all_threads
