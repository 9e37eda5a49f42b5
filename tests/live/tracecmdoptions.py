#!/usr/bin/env python3
# tracecmdoptions.py - records by each option of trace-cmd, and compares event for event with trace-cmd report.
"""usage: BACKSTITCH=PROGRAM tracecmdoptions.py [OPTION...]

For root. Runs trace-cmd with each option (of those whose name has an OPTION in it), compares each trace.dat that
came by tests/compare/ftrace.py - time, CPU, thread, name, fields, stacks and losses - and counts the events of
texts; prints a row for each, and fails if anything is not equal. What trace-cmd or the kernel does not take on
this machine is named as such.

The kernel may not let the files of the function tracer be opened, which trace-cmd does before every recording: in
a mount namespace of our own plain files take their place."""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.join(HERE, "../..")
B = os.path.abspath(os.environ.get("BACKSTITCH", os.path.join(ROOT, "build/backstitch")))
TOP = "/sys/kernel/tracing"
INSTANCES = ("bs_one", "bs_two")
LOOP = "sh -c 'i=0; while [ $i -lt 40 ]; do i=$((i+1)); /bin/true; done; echo marked > %s/trace_marker'" % TOP
RECORD = "trace-cmd record -o t.dat -e sched "
START = "trace-cmd start -e sched "
KINDS = "-e irq -e timer -e raw_syscalls:sys_enter "
# Options of record that need nothing else around them.
OPTIONS = [
    "", "-p nop", "-e irq -e timer", "-e raw_syscalls", "-e sched_switch -f 'prev_pid > 0'", "-v -e sched:sched_stat_runtime",
    "-e sched_switch -R 'stacktrace if prev_state > 0'", "-e sched_wakeup -R 'traceoff:1'", "-e sched_process_fork -R snapshot", "-e all", "-e '*:*switch*'",
    "-i -e no:such_event", "-F", "-F -c", "-T", "-T -O userstacktrace", "-O userstacktrace -O sym-userobj", "-O nooverwrite -b 8",
    "-O markers", "-O noirq-info", "-O record-tgid", "-O norecord-cmd", "-O event-fork", "-O pause-on-trace",
    "-O hash-ptr", "-O test_nop_accept", "-O fields", "-O trace_printk", "-O stacktrace", "-O latency-format",
    "-b 4", "-b 20000", "-m 100", "-M 1", "-M 2", "-r 10", "-s 100000", "-q", "--quiet", "-k", "-d", "-D",
    "-C local", "-C global", "-C counter", "-C uptime", "-C perf", "-C mono", "-C mono_raw", "-C boot", "-C tai", "-C x86-tsc",
    "-C x86-tsc --tsc2nsec", "--ts-offset 1000", "--date", "--poll", "--raw-ts", "--no-filter", "--proc-map -F", "--user nobody",
    "--temp .", "--cmdlines-size 4096", "--max-graph-depth 2", "--func-stack", "--module ext4", "-p function", "-p function_graph", "-p blk", "-p wakeup",
    "-l vfs_read", "-g vfs_read", "-n vfs_read", "-A none",
    "--file-version 6", "--file-version 7", "--file-version 7 --compression none", "--compression any", "--compression zstd",
    "--compression zlib", "--tsync-interval 10", "--profile", "--profile -S", "--profile -G", "--by-comm --profile",
    "-B bs_one -e irq -e raw_syscalls", "-B bs_one -e irq -B bs_two -e timer", "-B bs_one -C mono -e irq", "-B bs_one -v -e irq", "-B bs_one -b 4 -e raw_syscalls",
    "-B bs_one --file-version 6 -e irq", "-B bs_one -T -e irq", "-B bs_one -p nop -e irq",
]
# Other commands: shell, in a folder of their own. Files *.dat are captures, *.txt texts.
COMMANDS = [
    ("stream", "trace-cmd stream -e sched " + LOOP + " > a.txt"),
    ("stream -T", "trace-cmd stream -T -e sched " + LOOP + " > a.txt"),
    ("start, stop, extract", START + "; " + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("start --fork", START + "--fork " + LOOP + "; sleep 1; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("start, stop, restart, extract", START + "; " + LOOP + "; trace-cmd stop; trace-cmd restart; " + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("start -b 4 (overwritten), extract", START + "-b 4; " + LOOP + ";" + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("set, restart, extract", "trace-cmd set -e sched; trace-cmd restart; " + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("set COMMAND", "trace-cmd set -e sched -C mono " + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("start -B, extract -B", "trace-cmd start -B bs_one -e sched; " + LOOP + "; trace-cmd stop -B bs_one; trace-cmd extract -o t.dat -B bs_one"),
    ("start -B, extract -a", "trace-cmd start -B bs_one -e sched -B bs_two -e irq; " + LOOP + "; trace-cmd stop -a; trace-cmd extract -o t.dat -a"),
    ("start -B, extract -a -t", "trace-cmd start -e sched -B bs_one -e irq; " + LOOP + "; trace-cmd stop -a -t; trace-cmd extract -o t.dat -a -t"),
    ("extract -C mono", START + "-C mono; " + LOOP + "; trace-cmd stop; trace-cmd extract -C mono -o t.dat"),
    ("snapshot -s, extract -s", START + "; " + LOOP + "; trace-cmd snapshot -s; trace-cmd extract -s -o t.dat; trace-cmd stop"),
    ("snapshot", START + "; " + LOOP + "; trace-cmd snapshot -s; trace-cmd snapshot > a.txt; trace-cmd stop"),
    ("snapshot -c 0", START + "; " + LOOP + "; trace-cmd snapshot -s; trace-cmd snapshot -c 0 > a.txt; trace-cmd stop"),
    ("snapshot -B", "trace-cmd start -B bs_one -e sched; " + LOOP + "; trace-cmd snapshot -s -B bs_one; trace-cmd snapshot -B bs_one > a.txt"),
    ("snapshot -r", START + "; " + LOOP + "; trace-cmd snapshot -s; trace-cmd snapshot -r; trace-cmd snapshot > none.txt; trace-cmd stop"),
    ("show", START + "; " + LOOP + "; trace-cmd stop; trace-cmd show > a.txt"),
    ("show -c 1", START + "; " + LOOP + "; trace-cmd stop; trace-cmd show -c 1 > a.txt"),
    ("show -p", START + "; " + LOOP + "; trace-cmd stop; timeout 1 trace-cmd show -p > a.txt"),
    ("show -B", "trace-cmd start -B bs_one -e sched; " + LOOP + "; trace-cmd show -B bs_one > a.txt"),
    ("show -s", START + "; " + LOOP + "; trace-cmd snapshot -s; trace-cmd show -s > a.txt; trace-cmd stop"),
    ("clear, extract", START + "; " + LOOP + "; trace-cmd clear; " + LOOP + "; trace-cmd stop; trace-cmd extract -o t.dat"),
    ("split -e 300", RECORD + LOOP + "; trace-cmd split -i t.dat -e 300 -r -o s; for f in s*; do mv $f $f.dat; done"),
    ("split -m 20", RECORD + LOOP + "; trace-cmd split -i t.dat -m 20 -r -o s; for f in s*; do mv $f $f.dat; done"),
    ("split -u 9000", RECORD + LOOP + "; trace-cmd split -i t.dat -u 9000 -r -o s; for f in s*; do mv $f $f.dat; done"),
    ("split -p 2", RECORD + KINDS + LOOP + "; trace-cmd split -i t.dat -p 2 -r -o s; for f in s*; do mv $f $f.dat; done"),
    ("split -c -p 2", RECORD + KINDS + LOOP + "; trace-cmd split -i t.dat -c -p 2 -r -o s; for f in s*; do mv $f $f.dat; done"),
    ("split -s 1", RECORD + LOOP + "; trace-cmd split -i t.dat -s 1 -o s; for f in s*; do mv $f $f.dat; done"),
    ("split START END", RECORD + LOOP + "; set -- $(trace-cmd report -i t.dat | grep -o '[0-9]*\\.[0-9]*: ' | tr -d ': ' | sed -n '50p;400p');"
     " trace-cmd split -i t.dat -o s $1 $2; mv s.1 s.dat 2>/dev/null || mv s s.dat"),
    ("convert --file-version 6", RECORD + LOOP + "; trace-cmd convert -i t.dat -o c.dat --file-version 6"),
    ("convert --file-version 7", RECORD + "--file-version 6 " + LOOP + "; trace-cmd convert -i t.dat -o c.dat --file-version 7"),
    ("convert --compression none", RECORD + LOOP + "; trace-cmd convert -i t.dat -o c.dat --compression none"),
    ("convert --compression zstd", RECORD + "--compression none " + LOOP + "; trace-cmd convert -i t.dat -o c.dat --compression zstd"),
    ("convert of -B", RECORD + "-B bs_one -e irq " + LOOP + "; trace-cmd convert -i t.dat -o c.dat --file-version 6"),
    ("listen, record -N", "trace-cmd listen -p 12345 -d . -o n > /dev/null & sleep 1; trace-cmd record -N localhost:12345 -e sched " + LOOP + "; sleep 1; kill $!; for f in n.*[0-9]; do case $f in *.cpu*) ;; *) mv $f $f.dat;; esac; done"),
    ("listen, record -N -t", "trace-cmd listen -p 12346 -d . -o n > /dev/null & sleep 1; trace-cmd record -N localhost:12346 -t -e sched " + LOOP + "; sleep 1; kill $!; for f in n.*[0-9]; do case $f in *.cpu*) ;; *) mv $f $f.dat;; esac; done"),
    ("record, killed; restore", "trace-cmd record -o k -s 10000 -e sched sleep 4 & sleep 1.5; " + LOOP + "; sleep 0.5; kill -9 $! $(ps -o pid= --ppid $!); sleep 0.2; trace-cmd restore -o r.dat k.cpu*"),
    ("restore -c, restore -i", "trace-cmd record -o k -s 10000 -e sched sleep 4 & sleep 1.5; " + LOOP + "; sleep 0.5; kill -9 $! $(ps -o pid= --ppid $!); sleep 0.2; trace-cmd restore -c -o part; trace-cmd restore -i part -o r.dat k.cpu*"),
    ("record -P", LOOP + " & " + RECORD + "-P $! sleep 1"), ("record -P -c", LOOP + " & " + RECORD + "-c -P $! sleep 1"),
    ("record until ^C", RECORD + "& sleep 0.7; kill -INT $!; wait"),
    ("record, a second one adds -k", RECORD + "-k " + LOOP + "; trace-cmd record -k -o u.dat -e irq " + LOOP),
    ("profile -o", "trace-cmd profile -e sched -o none.txt " + LOOP),
    ("hist", RECORD + "-T " + LOOP + "; trace-cmd hist -i t.dat > none.txt"),
    ("stat", "trace-cmd stat > none.txt"),
    ("dump --all", RECORD + LOOP + "; trace-cmd dump -i t.dat --all > none.txt"),
    ("dump --summary", RECORD + LOOP + "; trace-cmd dump -i t.dat --summary > none.txt"),
    ("dump --flyrecord --options", RECORD + LOOP + "; trace-cmd dump -i t.dat --flyrecord --options > none.txt"),
    ("list", "trace-cmd list -e sched > none.txt"), ("options", "trace-cmd options > none.txt"),
] + [("report " + o, RECORD + more + LOOP + "; trace-cmd report -i t.dat %s > a.txt" % o) for o, more in (
    ("", ""), ("-t", ""), ("-l", ""), ("-l -t", ""), ("-R", ""), ("-N", ""), ("-L", ""), ("--ts-diff", ""), ("--ts-offset 100", ""), ("--ts2secs 1000000000", "-C x86-tsc "),
    ("--cpu 0", ""), ("--cpu 0,1", ""), ("-F 'sched_switch: prev_pid > 0'", ""), ("-v -F 'sched_switch'", ""), ("-r sched_switch", ""),
    ("-n sched_switch", ""), ("-I -S", ""), ("-q", ""), ("-G", ""), ("-V", ""), ("-O fgraph:tailprint=1", ""), ("--nodate", "--date "), ("--raw-ts", ""), ("--align-ts", ""), ("", "-T "), ("-R", "-T "),
    ("", "-B bs_one -e irq "), ("-t", "-C counter "), ("-w", ""))] + [
    ("report " + o, RECORD + LOOP + "; trace-cmd report -i t.dat %s > none.txt" % o) for o in (
        "-e", "-f", "-P", "-E", "-T", "--cpus", "--first-event", "--last-event", "--check-events", "--stat", "--uname", "--version", "--profile")]
# A line that has an event; a stack of -T in a text belongs to the event before it.
LINE = re.compile(r"^(?:[^:\[\]]*: )? *\S.*-\d+ +(?:\( *[\d-]+\) +)?(?:\[\d+\] *|\d+\S+ +)(?:\S+ +)?(?:<[^>]*> )?[\d.]+: (?:\([-+.0-9]+\) )?(?!.*(?:kernel_stack|user_stack|stack trace))", re.M)


def shell(command, cwd="."):
    """Returns what it said on standard error."""
    with subprocess.Popen(["sh", "-c", command], cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, start_new_session=True) as p:
        try:
            return p.communicate(timeout=40)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            return p.communicate()[1].decode(errors="replace") + "\ndoes not end"


def stand_in(own):
    """Instances, which trace-cmd removes, and files in the place of those of the function tracer."""
    for path, text in [("/proc/sys/kernel/ftrace_enabled", "1\n")] + [
            (d + "/" + f, "") for d in [TOP] + [TOP + "/instances/" + i for i in INSTANCES]
            for f in ("set_ftrace_filter", "set_ftrace_notrace", "set_ftrace_pid", "set_ftrace_notrace_pid", "set_graph_function", "set_graph_notrace")]:
        if path.startswith(TOP):
            os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(own + "/" + os.path.basename(path), "w", encoding="ascii") as f:
            f.write(text)
        if os.path.exists(path) and not os.path.ismount(path):
            shell("mount --bind %s/%s %s" % (own, os.path.basename(path), path))


def reset(folder):
    """Everything as it was before: options, clock, sizes, events, filters."""
    for top in [TOP] + [TOP + "/instances/" + i for i in INSTANCES]:
        shell("cd %s && { echo 0 > tracing_on; echo nop > current_tracer; echo > set_event; echo local > trace_clock; echo 1408 > buffer_size_kb; echo 0 > snapshot;"
              "echo 3 > tracing_cpumask; echo > set_event_pid; for f in $(grep -ls '[^#]' events/*/filter events/sched/*/filter); do echo 0 > $f; done;"
              "cat %s/options.old > /dev/null; while read o; do echo $o > trace_options; done < %s/options.old; echo > trace; }" % (top, folder, folder))
    for event in ("sched_switch", "sched_wakeup", "sched_process_fork"):
        for t in ("stacktrace if prev_state > 0", "traceoff:1", "snapshot"):
            shell("echo '!%s' > %s/events/sched/%s/trigger" % (t, TOP, event))


def database(path):
    """Returns the number of events that a text has here, or what refuses it."""
    r = subprocess.run([B, "info", path], capture_output=True, check=False, errors="replace")
    m = re.search(r"^ *events? +([\d,]+)|^([\d,]+) (?:events|samples)", r.stdout, re.M)
    q = subprocess.run([B, "query", path, "SELECT count(*) FROM event e JOIN event_type t ON t.id = e.type WHERE t.name NOT LIKE '%_stack'"], capture_output=True, check=False, errors="replace")
    n = re.search(r"^ *(\d+) *$", q.stdout, re.M)
    return (int(n[1]) if n else m and int((m[1] or m[2]).replace(",", ""))), (q.stderr or r.stderr).strip().split("\n")[0]


def compared(folder, env):
    """(events equal, what is different or refused, kind)"""
    n, bad, told = 0, [], []
    for path in sorted(glob.glob(folder + "/*.dat")):
        if not os.path.getsize(path):
            continue
        r = subprocess.run([sys.executable, os.path.join(ROOT, "tests/compare/ftrace.py"), path], env=env, capture_output=True, check=False, text=True)
        m = re.search(r"^(not ok|ok) .*?: (\d+) events", r.stdout, re.M)
        if m:
            n += int(m[2])
        if r.returncode:
            what = r.stdout.strip().split("\n")
            if "the report has no events" in r.stdout:
                told.append("no events: '%s'" % (database(path)[1] or "none here"))
            else:
                bad.append("%s: %s" % (os.path.basename(path), " ".join(w.strip() for w in what)[:400] + r.stderr[-200:]))
    for path in sorted(glob.glob(folder + "/*.txt")):
        with open(path, encoding="utf-8", errors="replace") as f:
            text = f.read()
        count, said = database(path)
        if os.path.basename(path) == "none.txt":
            told.append("refused: " + said if count is None else "read as %s events" % count)
            continue
        want = len(LINE.findall(text))
        if not text:
            continue
        if count != want:
            bad.append("%s of %d events, %s" % (count, want, said))
        else:
            n += count
    return n, bad, told


def main():
    if "BS_NAMESPACE" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(TOP + "/trace_options", folder + "/options.old")
            r = subprocess.run(["unshare", "-m", sys.executable, os.path.abspath(__file__), *sys.argv[1:]], env=dict(os.environ, BS_NAMESPACE=folder), check=False)
            reset(folder)
        for i in INSTANCES:
            shell("rmdir %s/instances/%s" % (TOP, i))
        sys.exit(r.returncode)
    own = os.environ["BS_NAMESPACE"]
    asked, count = sys.argv[1:], {}
    rows = [("record " + o if o else "record", RECORD + o + " " + LOOP) for o in OPTIONS] + COMMANDS
    print("| option | events | |\n|---|---|---|")
    for name, command in [r for r in rows if not asked or any(a in r[0] for a in asked)]:
        stand_in(own)
        reset(own)
        with tempfile.TemporaryDirectory() as folder:
            err = [w.strip() for w in shell(command, folder).split("\n") if w.strip() and "CPU" not in w and "set_" not in w]
            env = dict(os.environ, BACKSTITCH=B, ROOT=os.path.abspath(ROOT), O=os.path.relpath(own + "/o", os.path.abspath(ROOT)))
            n, bad, told = compared(folder, env)
            if bad and "KEEP" in os.environ:
                shutil.copytree(folder, os.path.join(os.environ["KEEP"], re.sub(r"\W+", "_", name)), dirs_exist_ok=True)
        if bad:
            kind, what = "different", "; ".join(bad)
        elif n:
            kind, what = "equal", "equal" + (", " + "; ".join(told) if told else "")
        elif told:
            kind, what = "told", "; ".join(told)
        else:
            kind, what = "not tried", "trace-cmd: " + (" ".join(err)[-110:] if err else "no file")
        count[kind] = count.get(kind, 0) + 1
        print("| `%s` | %s | %s |" % (name.replace("|", "\\|"), f"{n:,}" if n else "", what), flush=True)
    print(", ".join("%s %d" % x for x in sorted(count.items())))
    sys.exit("different" in count)


main()
