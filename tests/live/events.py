#!/usr/bin/env python3
# events.py - compares the text of every tracepoint that ordinary work hits with that of the kernel itself.
"""usage: BACKSTITCH=PROGRAM events.py [--keep DIR | --again DIR] [--show] [SECONDS]

For root, with tracefs. Records in an instance of its own all tracepoints of the
running kernel while files, sockets, timers, memory, cgroups, signals, futexes,
rings, network namespaces, probes of programs and others are used for about
SECONDS (10). Then it reads the same events twice: as the text that the kernel
prints (per_cpu/cpuN/trace), and as the pages of its buffer, which backstitch
prints. Prints a table: event, lines, equal ones, class of the others. --keep
stores the capture in DIR, --again compares one that is there. --show prints an
example of each difference. Classes: a system call or probe, whose values are
equal: the kernel's trace file prints them by functions of its own, perf and
trace-cmd by their print format, as script does; '?', where the kernel computes
from a variable of its own when it prints. What has no class is 'other'."""

import argparse
import collections
import contextlib
import ctypes
import fcntl
import glob
import mmap
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time

TRACING = "/sys/kernel/tracing"
INSTANCE = TRACING + "/instances/backstitch-events"
B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
ENV = {"PATH": os.environ["PATH"], "HOME": "/nonexistent"}
# Not in an instance, or hit so often that nothing else remains in the buffer.
LEFT_OUT = {"ftrace", "syscalls", "raw_syscalls", "lock", "preemptirq"}
# Recorded for the time of the first work only.
FREQUENT = ["memcg", "mmap_lock", "kmem/mm_page_*", "kmem/rss_stat", "kmem/kmem_cache_*", "exceptions", "rcu",
            "ext4/ext4_es_*", "block/block_*_buffer", "ext4/ext4_da_*", "maple_tree", "filemap", "pagemap", "tlb",
            "syscalls/*futex", "msr", "csd", "x86_fpu"]


def write(path, text):
    with open(path, "w") as f:
        f.write(text)


def append(path, text):
    """Without the seek of Python's mode 'a', which tracefs refuses."""
    f = os.open(path, os.O_WRONLY | os.O_APPEND)
    try:
        os.write(f, text.encode())
    finally:
        os.close(f)


def read(path):
    with open(path, errors="surrogateescape") as f:
        return f.read()


def run(*command, **more):
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        return subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENV,
                              timeout=20, **more).returncode == 0
    return False


# ---- ordinary work

def work_files(where):
    path = os.path.join(where, "file")
    for i in range(3):
        with open(path, "wb") as f:
            f.write(os.urandom(300000))
            f.flush()
            os.fsync(f.fileno())
            os.posix_fadvise(f.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        with open(path, "r+b") as f:
            while f.read(65536):
                pass
            m = mmap.mmap(f.fileno(), 0)
            m[4096 * 5] = 1
            m.flush()
            m.close()
            with contextlib.suppress(OSError):
                os.posix_fallocate(f.fileno(), 0, 600000)
            os.truncate(path, 100000)
        with contextlib.suppress(OSError):
            os.setxattr(path, "user.a", b"1")
            os.getxattr(path, "user.a")
            os.removexattr(path, "user.a")
        with contextlib.suppress(OSError):
            f = os.open(path, os.O_RDWR | os.O_DIRECT)
            m = mmap.mmap(-1, 8192)
            os.preadv(f, [m], 0)
            os.pwritev(f, [m], 0)
            os.close(f)
        os.link(path, path + ".l")
        os.symlink(path, path + ".s")
        os.rename(path + ".l", path + ".r")
        os.mkdir(path + ".d")
        for k in range(20):
            write(f"{path}.d/{k}", "x" * 5000)
        os.listdir(path + ".d")
        os.chmod(path, 0o600)
        run("fallocate", "--punch-hole", "--offset", "4096", "--length", "8192", path)
        run("fallocate", "--collapse-range", "--offset", "4096", "--length", "4096", path)
        run("fallocate", "--insert-range", "--offset", "4096", "--length", "4096", path)
        run("fallocate", "--zero-range", "--offset", "0", "--length", "4096", path)
        run("filefrag", path)
        run("lsattr", path)
        run("chattr", "+A", path)
        run("flock", path, "true")
        with open(path, "rb") as f:
            with open(path, "r+b") as g:
                fcntl.lockf(g, fcntl.LOCK_EX)
            with contextlib.suppress(OSError):
                fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_RDLCK)
                fcntl.fcntl(f, fcntl.F_SETLEASE, fcntl.F_UNLCK)
        os.sync()
        shutil.rmtree(path + ".d")
        for end in "", ".r", ".s":
            os.unlink(path + end)


def work_mounts(where):
    for kind, make in (("ext4", ["mkfs.ext4", "-q", "-F"]), ("ext2", ["mkfs.ext2", "-q", "-F"]),
                       ("xfs", ["mkfs.xfs", "-q", "-f"]), ("btrfs", ["mkfs.btrfs", "-q", "-f"]),
                       ("f2fs", ["mkfs.f2fs", "-q", "-f"]), ("erofs", None), ("tmpfs", None)):
        image = os.path.join(where, kind + ".img")
        on = os.path.join(where, kind)
        os.mkdir(on)
        if kind == "tmpfs":
            ok = run("mount", "-t", "tmpfs", "none", on)
        elif make:
            with open(image, "wb") as f:
                f.truncate(400 << 20)
            ok = run(*make, image) and run("mount", "-o", "loop", "-t", kind, image, on)
        else:
            ok = False
        if ok:
            with contextlib.suppress(OSError):
                work_files(on)
            if kind == "ext4":
                run("fstrim", on)
                run("resize2fs", image)
            if kind == "btrfs":
                run("btrfs", "subvolume", "create", on + "/s")
                run("btrfs", "subvolume", "snapshot", on + "/s", on + "/t")
                run("btrfs", "balance", "start", "-m", on)
                run("btrfs", "scrub", "start", "-B", on)
            run("umount", on) or run("umount", "-l", on)
    run("mount", "--bind", where, where)
    run("umount", where)


def tcp(family, host, n):
    s = socket.socket(family)
    s.bind((host, 0))
    s.listen(5)
    for i in range(n):
        c = socket.create_connection(s.getsockname()[:2])
        d, _ = s.accept()
        c.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        d.sendall(b"y" * 20000)
        c.recv(100000)
        c.sendall(b"x")
        if i % 3 == 2:
            d.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        d.close()
        c.close()
    port = s.getsockname()[1]
    s.close()
    with contextlib.suppress(OSError):
        socket.create_connection((host, port), 1)


def work_sockets(where):
    for family, host in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
        with contextlib.suppress(OSError):
            tcp(family, host, 6)
            u = socket.socket(family, socket.SOCK_DGRAM)
            u.bind((host, 0))
            u.sendto(b"abc", u.getsockname()[:2])
            u.recv(10)
            u.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2000)
            for _ in range(20):
                u.sendto(b"abc" * 300, u.getsockname()[:2])
            port = u.getsockname()[1]
            u.close()
            u = socket.socket(family, socket.SOCK_DGRAM)
            u.connect((host, port))
            for _ in range(3):
                u.send(b"x")
    a, b = socket.socketpair()
    for _ in range(5):
        a.send(b"x" * 1000)
        b.recv(2000)
    socket.send_fds(a, [b"f"], [0])
    b.recv(10)
    n = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)
    n.close()


def work_network(where):
    """Two network namespaces, a pair of virtual devices, a bridge, a queue that loses."""
    for n in "bsa", "bsb":
        run("ip", "netns", "add", n)
    run("ip", "link", "add", "bsv0", "type", "veth", "peer", "name", "bsv1")
    for i, n in enumerate(("bsa", "bsb")):
        run("ip", "link", "set", f"bsv{i}", "netns", n)
        run("ip", "-n", n, "addr", "add", f"10.99.77.{i + 1}/24", "dev", f"bsv{i}")
        run("ip", "-n", n, "addr", "add", f"fd99::{i + 1}/64", "dev", f"bsv{i}", "nodad")
        run("ip", "-n", n, "link", "set", f"bsv{i}", "up")
        run("ip", "-n", n, "link", "set", "lo", "up")
    run("ip", "-n", "bsb", "link", "add", "bsbr", "type", "bridge")
    run("ip", "-n", "bsb", "link", "set", "bsbr", "up")
    run("ip", "-n", "bsb", "link", "add", "bsd", "type", "dummy")
    run("ip", "-n", "bsb", "link", "set", "bsd", "master", "bsbr", "up")
    run("ip", "-n", "bsb", "link", "add", "bsd2", "type", "dummy")
    run("ip", "-n", "bsb", "link", "set", "bsd2", "master", "bsbr", "up")
    run("ip", "netns", "exec", "bsb", "bridge", "fdb", "add", "02:11:22:33:44:55", "dev", "bsd", "master")
    run("tc", "-n", "bsa", "qdisc", "add", "dev", "bsv0", "root", "netem", "loss", "20%", "delay", "1ms")
    for to in "10.99.77.2", "fd99::2", "10.99.77.3":
        run("ip", "netns", "exec", "bsa", "ping", "-c", "3", "-i", "0.1", "-W", "1", to)
    script = ("import socket,sys,threading\n"
              "s=socket.socket(); s.bind(('10.99.77.2',4321)); s.listen(2)\n"
              "print('up',flush=True)\n"
              "for _ in range(3):\n c,_a=s.accept()\n while c.recv(65536): pass\n c.close()\n")
    with contextlib.suppress(OSError):
        p = subprocess.Popen(["ip", "netns", "exec", "bsb", sys.executable, "-c", script],
                             stdout=subprocess.PIPE, env=ENV)
        p.stdout.readline()
        for _ in range(3):
            run("ip", "netns", "exec", "bsa", sys.executable, "-c",
                "import socket;s=socket.create_connection(('10.99.77.2',4321));s.sendall(b'x'*150000);s.close()")
        p.kill()
        p.wait()
    for n in "bsa", "bsb":
        run("ip", "-n", n, "neigh", "flush", "all")
        run("ip", "-n", n, "route", "get", "10.99.77.1")
        run("ip", "netns", "del", n)


def work_memory(where):
    for _ in range(3):
        m = mmap.mmap(-1, 32 << 20)
        m.madvise(mmap.MADV_HUGEPAGE)
        for at in range(0, len(m), 4096):
            m[at] = 1
        m.madvise(mmap.MADV_DONTNEED)
        with contextlib.suppress(OSError, AttributeError, ValueError):
            m.madvise(20)   # MADV_COLD
            m.madvise(21)   # MADV_PAGEOUT
            m.madvise(25)   # MADV_COLLAPSE
        m.close()
    libc = ctypes.CDLL(None, use_errno=True)
    libc.mremap.restype = ctypes.c_void_p
    b = mmap.mmap(-1, 1 << 20)
    libc.mlockall(1)
    libc.munlockall()
    b.close()
    with contextlib.suppress(OSError):
        write("/proc/sys/vm/compact_memory", "1")
    with contextlib.suppress(OSError):
        write("/proc/sys/vm/drop_caches", "3")
    swap = os.path.join(where, "swap")
    with open(swap, "wb") as f:
        f.write(b"\0" * (16 << 20))
    os.chmod(swap, 0o600)
    if run("mkswap", swap) and run("swapon", swap):
        m = mmap.mmap(-1, 4 << 20)
        for at in range(0, len(m), 4096):
            m[at] = 3
        with contextlib.suppress(OSError, ValueError):
            m.madvise(21)
        sum(m[at] for at in range(0, len(m), 4096))
        run("swapoff", swap)


def work_cgroups(where):
    base = os.path.join(where, "cg")
    os.mkdir(base)
    mounted = run("mount", "-t", "cgroup2", "none", base)
    c = base + "/backstitch"
    if mounted:
        with contextlib.suppress(OSError):
            os.mkdir(c)
            os.mkdir(c + "/a")
            p = subprocess.Popen(["sleep", "0.5"])
            write(c + "/a/cgroup.procs", str(p.pid))
            write(c + "/cgroup.freeze", "1")
            write(c + "/cgroup.freeze", "0")
            p.wait()
            time.sleep(0.2)
            os.rmdir(c + "/a")
            os.rmdir(c)
        run("umount", base)
    old = "/sys/fs/cgroup/memory"
    if os.path.exists(old + "/memory.limit_in_bytes"):
        with contextlib.suppress(OSError):
            os.mkdir(old + "/backstitch")
            write(old + "/backstitch/memory.limit_in_bytes", "20000000")
            run("sh", "-c", f"echo $$ > {old}/backstitch/cgroup.procs; "
                "dd if=/dev/zero of=" + where + "/big bs=1M count=60; "
                f"exec {sys.executable} -c 'x=bytearray(60000000)'")
            os.rmdir(old + "/backstitch")


def work_processes(where):
    for i in range(20):
        run("true")
    run("sh", "-c", "kill -USR1 $$")
    run("sh", "-c", "sleep 5 & kill -STOP $!; kill -CONT $!; kill -9 $!; wait")
    signal.signal(signal.SIGALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_REAL, 0.01, 0.01)
    time.sleep(0.05)
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGVTALRM, lambda *a: None)
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.001, 0.001)
    end = time.time() + 0.1
    while time.time() < end:
        pass
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    os.sched_setaffinity(0, {0})
    os.sched_setaffinity(0, set(range(os.cpu_count())))
    os.nice(1)
    run("chrt", "-f", "5", "true")
    run("chrt", "-d", "--sched-runtime", "1000000", "--sched-period", "10000000", "0", "true")
    lock = threading.Lock()

    def contend():
        for _ in range(200):
            with lock:
                time.sleep(0)
    all_ = [threading.Thread(target=contend) for _ in range(4)]
    for t in all_:
        t.start()
    for t in all_:
        t.join()
    r, w = os.pipe()
    p = select.epoll()
    p.register(r, select.EPOLLIN)
    os.write(w, b"x" * 100)
    p.poll(1)
    run("hwclock", "-r")
    run("rtcwake", "-m", "no", "-s", "1")
    write("/dev/kmsg", "<6>backstitch events\n")
    run("dmesg")
    run("unshare", "-mnupif", "true")
    run("prlimit", "--nofile=100", "true")
    run("sysctl", "kernel.randomize_va_space")


IO_URING = r'''
#include <linux/io_uring.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
static char buf[4096];
int main(void)
{
	struct io_uring_params p = { 0 };
	int fd = syscall(__NR_io_uring_setup, 8, &p);
	if (fd < 0) return 1;
	unsigned char *sq = mmap(0, p.sq_off.array + p.sq_entries * 4, 3, MAP_SHARED, fd, IORING_OFF_SQ_RING);
	struct io_uring_sqe *e = mmap(0, p.sq_entries * sizeof(*e), 3, MAP_SHARED, fd, IORING_OFF_SQES);
	unsigned *tail = (unsigned *)(sq + p.sq_off.tail), *array = (unsigned *)(sq + p.sq_off.array);
	int f = open("/proc/self/exe", O_RDONLY), pipes[2];
	struct { long long s, n; } t = { 0, 1000000 };
	pipe(pipes);
	syscall(__NR_io_uring_register, fd, IORING_REGISTER_FILES, &f, 1);
	static const unsigned char op[] = { IORING_OP_NOP, IORING_OP_READ, IORING_OP_POLL_ADD, IORING_OP_TIMEOUT,
		IORING_OP_FSYNC, IORING_OP_READ, IORING_OP_ASYNC_CANCEL, 250 };
	for (unsigned i = 0; i < sizeof(op); i++) {
		unsigned at = *tail & (p.sq_entries - 1);
		memset(&e[at], 0, sizeof(*e));
		e[at].opcode = op[i];
		e[at].fd = op[i] == IORING_OP_POLL_ADD || i == 5 ? pipes[0] : f;
		e[at].user_data = i + 1;
		if (op[i] == IORING_OP_READ) { e[at].addr = (unsigned long)buf; e[at].len = 100; }
		if (op[i] == IORING_OP_POLL_ADD) e[at].poll32_events = 1;
		if (op[i] == IORING_OP_TIMEOUT) { e[at].addr = (unsigned long)&t; e[at].len = 1; }
		if (i == 1) e[at].flags = IOSQE_ASYNC;
		if (i == 0) e[at].flags = IOSQE_IO_LINK;
		array[at] = at;
		__atomic_store_n(tail, *tail + 1, __ATOMIC_RELEASE);
		syscall(__NR_io_uring_enter, fd, 1, 0, 0, 0, 0);
	}
	write(pipes[1], "x", 1);
	syscall(__NR_io_uring_enter, fd, 0, 2, IORING_ENTER_GETEVENTS, 0, 0);
	return 0;
}
'''
BPF = r'''
#include <linux/bpf.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>
int main(void)
{
	struct bpf_insn i[] = { { .code = 0xb7, .imm = 1 }, { .code = 0x95 } };
	union bpf_attr a;
	int s[2];
	memset(&a, 0, sizeof(a));
	a.prog_type = BPF_PROG_TYPE_SOCKET_FILTER; a.insns = (unsigned long)i; a.insn_cnt = 2;
	a.license = (unsigned long)"GPL";
	int fd = syscall(__NR_bpf, BPF_PROG_LOAD, &a, sizeof(a));
	socketpair(AF_UNIX, SOCK_DGRAM, 0, s);
	setsockopt(s[0], SOL_SOCKET, SO_ATTACH_BPF, &fd, sizeof(fd));
	write(s[1], "abc", 3);
	memset(&a, 0, sizeof(a));
	a.map_type = BPF_MAP_TYPE_HASH; a.key_size = 4; a.value_size = 4; a.max_entries = 10;
	syscall(__NR_bpf, BPF_MAP_CREATE, &a, sizeof(a));
	return 0;
}
'''
PROBED = r'''
#include <stdint.h>
struct all { int32_t arr[4]; uint16_t x16[3]; uint8_t u8[3]; int64_t s64; char name[16]; };
__attribute__((noinline)) int probed(struct all *p, long n, char *s) { asm volatile("" ::: "memory"); return (int)(n + p->arr[0]); }
int main(void)
{
	struct all a = { { 1, -2, 3, 4 }, { 65535, 2, 3 }, { 255, 1, 2 }, -5, "name" };
	int sum = 0;
	for (int i = 0; i < 20; i++) { a.arr[1]--; a.x16[0]--; sum += probed(&a, i - 3, a.name); }
	return sum & 1;
}
'''


def compiled(where, name, source):
    path = os.path.join(where, name)
    write(path + ".c", source)
    return path if run("gcc", "-O1", "-g", "-no-pie", "-w", "-o", path, path + ".c") else None


def make_probes(where):
    """Probes of a program of ours, with arrays of all kinds. Returns it."""
    program = compiled(where, "probed", PROBED)
    if not program:
        return None
    out = subprocess.run(["nm", program], capture_output=True, text=True).stdout
    at = re.search(r"^([0-9a-f]+) T probed$", out, re.M)
    head = subprocess.run(["readelf", "-lW", program], capture_output=True, text=True).stdout
    for m in re.finditer(r"LOAD\s+(\S+)\s+(\S+)\s+\S+\s+(\S+)", head):
        off, start, size = (int(x, 16) for x in m.groups())
        addr = int(at.group(1), 16)
        if start <= addr < start + size:
            place = f"{program}:0x{addr - start + off:x}"
    lines = [f"p:bsprobes/plain {place} n=%si:s64 s=+0(%dx):string x=%si:x32 c=%si:char b=%si:b4@2/32 u=%si:u8",
             f"p:bsprobes/arrays {place} arr=+0(%di):s32[4] x16=+16(%di):u16[3] u8=+22(%di):u8[3] "
             f"hex=+0(%di):x16[2] s64=+32(%di):s64[1] strings=+40(%di):string",
             f"r:bsprobes/back {place} ret=$retval:s32"]
    for line in lines:
        with contextlib.suppress(OSError):
            append(TRACING + "/uprobe_events", line + "\n")
    with contextlib.suppress(OSError):
        append(TRACING + "/kprobe_events",
               "p:bsprobes/kernel do_sys_openat2 name=+0(%si):ustring arr=+0(%sp):x64[3]\n")
    return program


def remove_probes():
    for name in "uprobe_events", "kprobe_events":
        for line in (read(f"{TRACING}/{name}").splitlines() if os.path.exists(f"{TRACING}/{name}") else []):
            if ":bsprobes/" in line:
                with contextlib.suppress(OSError):
                    append(f"{TRACING}/{name}", "-:" + line.split()[0].split(":", 1)[1] + "\n")


WORK = [work_files, work_processes, work_sockets, work_memory, work_cgroups, work_network, work_mounts]


def work(where, programs, seconds):
    end = time.time() + seconds
    first = True
    while first or time.time() < end:
        for f in WORK if first else [work_files, work_processes, work_sockets]:
            try:
                f(where)
            except Exception as e:  # what this kernel has not is not hit
                print(f"# {f.__name__}: {e}", file=sys.stderr)
        for p in programs:
            if p:
                run(p)
        first = False


# ---- recording

def record(to, seconds):
    """Fills the folder with text and pages of the same buffer."""
    where = os.path.join(to, "work")
    os.makedirs(where)
    programs = [compiled(where, "uring", IO_URING), compiled(where, "bpf", BPF), make_probes(where)]
    os.mkdir(INSTANCE)
    try:
        write(INSTANCE + "/buffer_size_kb", str(192 << 10))
        write(INSTANCE + "/trace_clock", "mono")
        for option, value in ("hash-ptr", "0"), ("overwrite", "0"):
            with contextlib.suppress(OSError):
                write(f"{INSTANCE}/options/{option}", value)
        write(INSTANCE + "/tracing_on", "0")
        for system in sorted(os.listdir(INSTANCE + "/events")):
            enable = f"{INSTANCE}/events/{system}/enable"
            if system not in LEFT_OUT and os.path.exists(enable):
                with contextlib.suppress(OSError):
                    write(enable, "1")
        for call in ("openat", "read", "futex", "clone", "execve"):
            for way in ("enter", "exit"):
                with contextlib.suppress(OSError):
                    write(f"{INSTANCE}/events/syscalls/sys_{way}_{call}/enable", "1")
        write(INSTANCE + "/tracing_on", "1")
        run("true")
        work_files(where)
        for pattern in FREQUENT:
            for path in glob.glob(f"{INSTANCE}/events/{pattern}/enable"):
                write(path, "0")
        work(where, programs, seconds)
        write(INSTANCE + "/tracing_on", "0")
        copy_events(to)
        write(INSTANCE + "/events/enable", "0")
    finally:
        with contextlib.suppress(OSError):
            os.rmdir(INSTANCE)
        remove_probes()
        shutil.rmtree(where, ignore_errors=True)


def copy_events(to):
    cap = os.path.join(to, "capture")
    os.makedirs(cap)
    for path in glob.glob(TRACING + "/events/*/*/format"):
        system, name = path.split("/")[-3:-1]
        os.makedirs(f"{cap}/events/{system}/{name}")
        write(f"{cap}/events/{system}/{name}/format", read(path))
    for name in "header_page", "header_event":
        write(f"{cap}/events/{name}", read(f"{TRACING}/events/{name}"))
    for name in "saved_cmdlines", "printk_formats":
        write(f"{cap}/{name}", read(f"{TRACING}/{name}"))
    write(f"{cap}/trace_clock", read(f"{INSTANCE}/trace_clock"))
    shutil.copyfile("/proc/kallsyms", f"{cap}/kallsyms")
    shutil.copyfile("/proc/sys/kernel/osrelease", f"{cap}/osrelease")
    for cpu in sorted(os.listdir(INSTANCE + "/per_cpu")):
        shutil.copyfile(f"{INSTANCE}/per_cpu/{cpu}/trace", f"{to}/{cpu}.txt")
    for cpu in sorted(os.listdir(INSTANCE + "/per_cpu")):
        os.makedirs(f"{cap}/per_cpu/{cpu}")
        f = os.open(f"{INSTANCE}/per_cpu/{cpu}/trace_pipe_raw", os.O_RDONLY | os.O_NONBLOCK)
        with open(f"{cap}/per_cpu/{cpu}/trace_pipe_raw", "wb") as out:
            with contextlib.suppress(BlockingIOError):
                while page := os.read(f, 4096):
                    out.write(page)
        os.close(f)


# ---- comparison

LINE = re.compile(r"^\s*(.{1,16})-(\d+)\s+\[(\d+)\] \S+\s+(\d+\.\d+): (sys_\w+(?=\(| ->)|[^:\s]+(?=:)):?[ ]?(.*)$", re.S)
OURS = re.compile(r"^(.{1,16}?)\s+(\d+) \[(\d+)\]\s+(\d+\.\d+): +([^\s:]+):([^\s:]+): ?(.*)$", re.S)


def kernel_lines(path):
    """Events of a CPU, by the kernel: (time, name, text)."""
    last = None
    with open(path, errors="surrogateescape", newline="\n") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("#") and last is None or line.startswith("CPU:"):
                continue
            m = LINE.match(line)
            if m:
                if last:
                    yield last
                # a system call has another name in its text
                call = re.match(r"sys_(\w+)(\(| ->)", line[m.start(5):])
                last = (m.group(4), m.group(5), m.group(6)) if not call else (
                    m.group(4), ("sys_exit_" if call.group(2) == " ->" else "sys_enter_") + call.group(1),
                    line[m.start(5):])
            elif last:
                last = (last[0], last[1], last[2] + "\n" + line)
    if last:
        yield last


def our_lines(to):
    """Events by CPU as backstitch prints them: (time, name, text)."""
    out = collections.defaultdict(list)
    p = subprocess.Popen([B, "script", "-F", "comm,tid,cpu,time,event,trace", to], stdout=subprocess.PIPE,
                         env=dict(ENV, XDG_CACHE_HOME="/nonexistent"))
    for line in p.stdout:
        m = OURS.match(line.decode(errors="surrogateescape").rstrip("\n"))
        if m:
            out[int(m.group(3))].append((m.group(4), m.group(6), m.group(7), m.group(5)))
        elif line.strip():
            print("# not a line:", line[:200], file=sys.stderr)
    if p.wait() not in (0, 3):
        sys.exit("backstitch script failed")
    return out


# Of the first and the last all values are equal.
CALL = "system call: the words of its print fmt"
VARIABLE = "? for a variable of the kernel"
PROBE = "probe: the words of its print fmt"


def as_call(text):
    """The text of a system call's print fmt in the words of print_syscall_enter()."""
    return re.sub(r"0x0*([0-9a-f])", r"\1", text)


def classify(system, kernel, ours):
    """The class of a difference; None: they are equal."""
    # of a character 0 the kernel's text has the byte
    kernel = kernel.replace("\0", "").rstrip()
    ours = re.sub(r"\\x([0-9a-f]{2})", lambda m: bytes.fromhex(m.group(1)).decode(errors="surrogateescape"),
                  ours).rstrip()
    if kernel == ours:
        return None
    if system == "syscalls":
        inner = re.match(r"sys_\w+\((.*)\)$|sys_\w+ -> (.*)$", kernel, re.S)
        if inner and (as_call(inner.group(1) or inner.group(2)) == as_call(ours)):
            return CALL
    if "?" in ours and re.fullmatch(re.escape(ours).replace(r"\?", r"[^ ]+"), kernel):
        return VARIABLE
    if system == "bsprobes" and re.sub(r"^\(0x(\w+)(?: <- 0x(\w+))?\)", lambda m: "(%s)" % " <- ".join(
            reversed([x for x in m.groups() if x])), kernel) == ours:
        return PROBE
    return "other"


def compare(to, show):
    ours = our_lines(os.path.join(to, "capture"))
    lines, equal = collections.Counter(), collections.Counter()
    classes = collections.defaultdict(collections.Counter)
    examples = {}
    for path in sorted(glob.glob(to + "/cpu*.txt")):
        cpu = int(re.search(r"cpu(\d+)\.txt$", path).group(1))
        kernel = list(kernel_lines(path))
        mine = ours[cpu]
        if [x[1] for x in kernel] != [x[1] for x in mine]:
            n = next((i for i, (a, b) in enumerate(zip(kernel, mine)) if a[1] != b[1]), min(len(kernel), len(mine)))
            print(f"not ok cpu {cpu}: {len(kernel)} events of the kernel, {len(mine)} here; differ at {n}: "
                  f"{kernel[n:n + 1]} {mine[n:n + 1]}")
            kernel, mine = kernel[:n], mine[:n]
        for k, m in zip(kernel, mine):
            event = m[3] + ":" + m[1]
            lines[event] += 1
            why = classify(m[3], k[2], m[2])
            if why is None:
                equal[event] += 1
            else:
                classes[event][why] += 1
                examples.setdefault((event, why), (k[2], m[2]))
    print(f"{'event':<48} {'lines':>9} {'equal':>9}  differences")
    for event in sorted(lines):
        print(f"{event:<48} {lines[event]:>9} {equal[event]:>9}  " +
              "; ".join(f"{n} {why}" for why, n in classes[event].most_common()))
    total, same = sum(lines.values()), sum(equal.values())
    by = collections.Counter()
    for c in classes.values():
        by.update(c)
    if show:
        for (event, why), (k, m) in sorted(examples.items()):
            print(f"\n{event}: {why}\n  kernel {k[:600]!r}\n  here   {m[:600]!r}")
    by_value = same + by[CALL] + by[PROBE]
    print(f"\n{len(lines)} tracepoints, {total} lines, {same} equal: {100 * same / max(total, 1):.3f} %; "
          f"with those equal but for the words around the values {100 * by_value / max(total, 1):.3f} %")
    for why, n in by.most_common():
        print(f"  {n} {why}: " + ", ".join(f"{event} {c[why]}" for event, c in sorted(classes.items()) if c[why]))
    return by["other"] <= total * 0.001 and len(lines) >= 300


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--keep")
    p.add_argument("--again")
    p.add_argument("--show", action="store_true")
    p.add_argument("seconds", nargs="?", type=float, default=10)
    a = p.parse_args()
    if a.again:
        sys.exit(not compare(a.again, a.show))
    if os.geteuid():
        print("skip events: for root")
        return
    if not os.path.exists(TRACING + "/events"):
        run("mount", "-t", "tracefs", "nodev", TRACING)
    if not os.path.exists(TRACING + "/instances"):
        print("skip events: no tracefs")
        return
    with tempfile.TemporaryDirectory() as scratch:
        to = a.keep or os.path.join(scratch, "events")
        record(to, a.seconds)
        sys.exit(not compare(to, a.show))


main()
