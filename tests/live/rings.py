# rings.py - rings and snapshots of LTTng: none is called clean that is not.
"""usage: BACKSTITCH=PROGRAM rings.py [RUNS [SEED]]

Runs a program that numbers its events, records it with LTTng-UST in ways drawn
at random - files that overwrite one another (--tracefile-size, -count), one or
several snapshots, buffers that overwrite or discard, rotations, one CPU idle or
all busy - and compares the numbers that are here with those that were printed:

  missing   numbers that no event has: `check` ends with 4 and counts at least
            one loss, or the recording is called clean falsely
  whole     all are here: `check` must not speak of a loss

Fails on any of the other kind. Needs lttng-sessiond, liblttng-ust-dev and gcc; it
is in no group, as what it records depends on the machine."""

import collections
import os
import random
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
US = os.environ.get("BACKSTITCH", os.path.join(ROOT, "build/backstitch"))
PROGRAM = r"""
#define _GNU_SOURCE
#include <lttng/tracef.h>
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>
/* N events on CPU C, or if C is -1 on both in turn; PAUSE us after each 100 */
int main(int argc, char **argv)
{
	long n = atol(argv[1]), cpu = atol(argv[2]), pause = atol(argv[3]);
	for (long i = 0; i < n; i++) {
		if (i % 100 == 0) {
			cpu_set_t s;
			CPU_ZERO(&s);
			CPU_SET(cpu < 0 ? i / 100 % 2 : cpu, &s);
			sched_setaffinity(0, sizeof(s), &s);
			if (pause)
				usleep(pause);
		}
		tracef("number %ld end", i + atol(argv[4]));
	}
	return argc < 0;
}
"""


def lttng(*args):
    done = subprocess.run(["lttng", *args], capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit("lttng %s: %s" % (" ".join(args), done.stdout + done.stderr))


def numbers(db):
    """Returns the numbers of the events that are in a database."""
    out = subprocess.run([US, "script", db], capture_output=True, text=True, check=False)
    found = collections.Counter()
    for line in out.stdout.splitlines():
        at = line.find("number ")
        if at >= 0 and " end" in line[at:]:
            found[int(line[at + 7:line.index(" end", at)])] += 1
    return found


def run(folder, draw):
    """Records once. Returns what was asked for, and the recordings with the
    numbers that had been printed when each was made."""
    program = os.path.join(folder, "numbers")
    snapshot = draw.random() < 0.4
    overwrite = snapshot or draw.random() < 0.4
    files = not snapshot and draw.random() < 0.6
    rotate = not snapshot and draw.random() < 0.3
    channel = ["--subbuf-size=%dk" % draw.choice((4, 8, 16)),
               "--num-subbuf=%d" % draw.choice((2, 4, 8)),
               "--overwrite" if overwrite else "--discard"]
    if files:
        channel += ["--tracefile-size=%d" % draw.choice((16384, 32768)),
                    "--tracefile-count=%d" % draw.choice((1, 2, 4))]
    cpu = draw.choice((-1, -1, 0, 1))
    pause = draw.choice((0, 0, 200, 2000))
    counts = [draw.choice((50, 400, 3000, 20000)) for _ in range(draw.choice((1, 1, 2, 3)))]
    out = os.path.join(folder, "out")
    shutil.rmtree(out, ignore_errors=True)
    lttng("create", "rings", "--output=" + out, *(["--snapshot"] if snapshot else []))
    lttng("enable-channel", "-u", "ch", *channel)
    lttng("enable-event", "-u", "-c", "ch", "lttng_ust_tracef:*")
    lttng("add-context", "-u", "-c", "ch", "-t", "vpid", "-t", "vtid", "-t", "procname")
    lttng("start")
    first = 0
    made = []
    for n in counts:
        subprocess.run([program, str(n), str(cpu), str(pause), str(first)], check=True)
        first += n
        if snapshot:
            lttng("snapshot", "record", "-n", "s%d" % len(made))
            made.append(first)
        elif rotate:
            lttng("rotate")
    lttng("stop")
    lttng("destroy", "rings")
    what = " ".join(["snapshot" if snapshot else "rotated" if rotate else "session", *channel,
                     "cpu %d, pause %d, %s events" % (cpu, pause, counts)])
    if not snapshot:
        return what, [(out, first)]
    names = sorted(os.listdir(out), key=lambda s: int(s[1:s.index("-")]))
    return what, list(zip((os.path.join(out, s) for s in names), made))


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    seed = sys.argv[2] if len(sys.argv) > 2 else str(random.randrange(10000))
    draw = random.Random(seed)
    classes = collections.Counter()
    print("seed", seed)
    daemon = subprocess.run(["lttng-sessiond", "--daemonize"], capture_output=True, check=False)
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "numbers.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "numbers"), source,
                        "-llttng-ust"], check=True)
        for _ in range(runs):
            what, recordings = run(folder, draw)
            for path, printed in recordings:
                db = os.path.join(folder, "x.db")
                subprocess.run([US, "ingest", "-q", "-f", "--fields", "all", "-o", db, path],
                               capture_output=True, check=False)
                here = numbers(db)
                check = subprocess.run([US, "check", db], capture_output=True, text=True,
                                       check=False)
                missing = printed - len(here)
                kind = "missing" if missing else "whole"
                bad = (check.returncode == 4) != bool(missing) or \
                    any(n > 1 for n in here.values()) or any(n >= printed for n in here)
                classes[kind + (", FALSE" if bad else "")] += 1
                if bad:
                    print("%s: %s\n    %d of %d here, status %d: %s" % (
                        os.path.basename(path), what, len(here), printed, check.returncode,
                        check.stdout.split("\n")[0]), flush=True)
                    if "KEEP" in os.environ:
                        shutil.copytree(path, os.path.join(os.environ["KEEP"], str(len(classes)) +
                                        "-" + str(sum(classes.values()))))
    if not daemon.returncode:
        subprocess.run(["pkill", "-x", "lttng-sessiond"], check=False)
    for kind, n in sorted(classes.items()):
        print("%-16s %d" % (kind, n))
    return any("FALSE" in kind for kind in classes)


sys.exit(main())
