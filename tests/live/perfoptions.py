#!/usr/bin/env python3
# perfoptions.py - records by each option of perf record, and compares the samples with those of perf script.
"""usage: BACKSTITCH=PROGRAM perfoptions.py [OPTION...]

For root. Records a loop by each option (of those whose name has an OPTION in it),
counts the samples of all files that came by perf script and by backstitch, and
prints a row for each: what perf does not take on this machine is named as
such. Fails if a count differs."""
import glob
import os
import signal
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
LOOP = "i=0; while [ $i -lt 60000 ]; do i=$((i+1)); [ $((i%2000)) != 0 ] || /bin/true; done"
CLOCK = "-e cpu-clock"
# The options, and what is done while it records: signals, or a process that is there before.
OPTIONS = [
    "", "-p LOOP", "-t LOOP", "-a", "-C 0", "-b", "-j any,u", "-g", "--call-graph fp", "--call-graph dwarf", "--call-graph dwarf,1024",
    "--call-graph lbr", "-g --user-callchains", "-g --kernel-callchains", "--control fifo:CTL", "-D 100 -a", "--snapshot USR2",
    "--switch-output USR2", "--switch-output=1s -a TIMED", "--switch-output=100K -a -g TIMED", "-m 1", "-m 512,64", "--overwrite -a -g",
    "--overwrite --tail-synthesize -a", "--aio", "--aio=4 -a -g", "-z", "-z=22 -a -g", "--threads -a", "--threads=core -a",
    "--off-cpu", "--timestamp-boundary", "--timestamp-filename", "-R", "--per-thread", "-T", "--code-page-size -d", "--data-page-size -d",
    "--phys-data -d", "-d", "-W", "--user-regs=ip,sp", "--intr-regs=ip,sp,bp", "-c 1000000", "--kcore", "--sample-cpu", "-P", "-s", "-N",
    "-B", "--buildid-all", "--buildid-mmap", "--no-inherit", "--all-user", "--all-kernel", "--all-cgroups", "--namespaces",
    "--switch-events", "--clockid monotonic", "--clockid CLOCK_REALTIME", "-k boottime", "--proc-map-timeout 100", "--no-bpf-event",
    "--running-time", "--num-thread-synthesize 2 -a", "--synth task", "--synth no", "--strict-freq", "--max-size 100K -a -g",
    "--affinity cpu -a", "--mmap-flush 16K", "-n -c 1000000", "--group -e task-clock", "-e sched:sched_switch -R -a",
    "-e page-faults -c 1 -d", "-e context-switches -c 1 -g", "--weight", "--data", "--no-samples", "--debuginfod", "--no-buffering", "-r 1",
]


def record(option, folder):
    """Records by an option. Returns perf's word if it does not take it."""
    words = option.split()
    wait = "TIMED" in words
    sent = signal.SIGUSR2 if "USR2" in words else None
    words = [w for w in words if w not in ("TIMED", "USR2")]
    if option.startswith("--switch-output USR2"):
        words = ["--switch-output=signal"]
    loop = None
    if "LOOP" in words:
        loop = subprocess.Popen(["sh", "-c", LOOP + ";" + LOOP])
        words[words.index("LOOP")] = str(loop.pid)
    if "fifo:CTL" in words:
        ctl = os.path.join(folder, "ctl")
        os.mkfifo(ctl)
        words[words.index("fifo:CTL")] = "fifo:" + ctl
        held = os.open(ctl, os.O_RDWR)
        os.write(held, b"enable\n")
    command = ["perf", "record", "-o", os.path.join(folder, "p.data"), *CLOCK.split(), *([] if "-c" in words else ["-F", "2000"]), *words]
    if loop is None:
        command += ["--", "sh", "-c", LOOP + (";sleep 2.2" if wait else "")]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE) as perf:
        for _ in range(2 if sent else 0):
            time.sleep(0.15)
            if perf.poll() is None:
                perf.send_signal(sent)
        try:
            said = perf.communicate(timeout=60)[1].decode(errors="replace")
        except subprocess.TimeoutExpired:
            perf.terminate()
            said = perf.communicate()[1].decode(errors="replace")
    if loop is not None:
        loop.wait()
    said = [w for w in said.split("\n") if w.strip() and w.strip() != "Error:" and "[ perf record:" not in w]
    return (said + ["ends with status %d" % perf.returncode])[0].strip() if perf.returncode else None


def lines(command):
    r = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, check=False)
    return sum(1 for line in r.stdout.split(b"\n") if line.strip()), r


def main():
    asked, bad, count = sys.argv[1:], 0, [0, 0]
    print("| option | samples | perf | |\n|---|---|---|---|")
    for option in [o for o in OPTIONS if not asked or any(a in o for a in asked)]:
        with tempfile.TemporaryDirectory() as folder:
            said = record(option, folder)
            ours = theirs = 0
            why = ""
            for path in [p for p in sorted(glob.glob(folder + "/p.data*")) if not p.endswith(".old")]:
                if os.path.isdir(path) and not os.path.exists(path + "/data"):
                    continue
                n, r = lines([B, "script", "-F", "tid", path])
                ours += n
                why = why or r.stderr.decode(errors="replace").strip().split("\n")[0]
                theirs += lines(["perf", "script", "-f", "-i", path, "-F", "tid"])[0]
            name = "`%s`" % (option or "(none)").replace("|", "\\|")
            if said is not None and not theirs:
                print(f"| {name} | | | perf: {said[:80]} |", flush=True)
                continue
            same = ours == theirs
            bad += not same
            count[same] += ours + theirs > 0
            print(f"| {name} | {ours:,} | {theirs:,} | {'different: ' + why[:90] if not same else 'equal' if ours else 'no samples'} |", flush=True)
    print(f"{count[1]} of {sum(count)} equal")
    sys.exit(bool(bad))


main()
