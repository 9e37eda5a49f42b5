# live.py - LTTng's live stream while its relay daemon is killed: nothing is lost in silence.
"""usage: BACKSTITCH=PROGRAM live.py [ROUNDS [SECONDS]]
       BACKSTITCH=PROGRAM live.py --discards [SESSIONS [SECONDS]]

Each round starts lttng-relayd and a live session, and a program that numbers its
events, 100,000 a second, for some seconds. `follow net://` receives them, one process
through all rounds; the daemon is killed at a random moment of all rounds but the last.
A session has one viewer, so babeltrace2 reads what the daemon stored. With
--discards several sessions, whose sub-buffers are so small that the tracer
discards, are followed at once, and `report --since` reads each folder while it
grows. Fails if

  of discarded events another number is told than babeltrace2 tells of what the daemon
    stored, in all or of one CPU, or an event that it stored is in no segment;

  of the last round an event that the daemon stored is in no segment,
  of another one an event is missing but in the last second before the kill, which the
    daemon may not have sent,
  an event is in two segments, or nothing says that the daemon went.

Needs lttng-sessiond, lttng-relayd, babeltrace2, liblttng-ust-dev and gcc; it is in no
group, as what it records depends on the machine."""

import collections
import glob
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..")
US = os.environ.get("BACKSTITCH", os.path.join(ROOT, "build/backstitch"))
RATE = 100000
PROGRAM = r"""
#include <lttng/tracef.h>
#include <stdlib.h>
#include <unistd.h>
int main(int argc, char **argv)
{
	long n = atol(argv[1]), first = atol(argv[2]);
	for (long i = 0; i < n; i++) {
		if (i % 100 == 0)
			usleep(900);
		tracef("number %ld end", first + i);
	}
	return argc < 0;
}
"""
NUMBER = re.compile(rb"number (\d+) end")


def quiet(*args):
    return subprocess.run(args, capture_output=True, text=True, check=False)


def numbers_of(text):
    return set(map(int, NUMBER.findall(text)))


def one_round(folder, first, count, kill_at, begun):
    """Returns the numbers that the daemon stored."""
    stored = os.path.join(folder, "relay%d" % first)
    relayd = subprocess.Popen(["lttng-relayd", "--output=" + stored],
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(0.5)
    quiet("lttng", "create", "live", "--live=100000", "--set-url=net://localhost")
    quiet("lttng", "enable-channel", "-u", "ch", "--subbuf-size=256k", "--num-subbuf=4")
    quiet("lttng", "enable-event", "-u", "-c", "ch", "lttng_ust_tracef:*")
    quiet("lttng", "start")
    begun()
    program = subprocess.Popen([os.path.join(folder, "numbers"), str(count), str(first)])
    if kill_at is not None:
        time.sleep(kill_at)
        relayd.kill()
        relayd.wait()
    program.wait()
    if kill_at is None:
        quiet("lttng", "stop")
        time.sleep(3)
    quiet("lttng", "destroy", "live")
    if relayd.poll() is None:
        time.sleep(1)
        relayd.terminate()
        relayd.wait()
    text = subprocess.run(["babeltrace2", stored], capture_output=True, check=False).stdout
    shutil.rmtree(stored, ignore_errors=True)
    return numbers_of(text)


def told(text):
    """The numbers of events that babeltrace2 says were discarded."""
    return sorted(int(n) for n in re.findall(r"discarded (\d+) events? between", text))


def discards(sessions, seconds):
    ports = [port + 700 for port in (5342, 5343, 5344)]
    daemon = quiet("lttng-sessiond", "--daemonize")
    bad = False
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        stored = os.path.join(folder, "relay")
        relayd = subprocess.Popen(["lttng-relayd", "--output=" + stored, *["--%s-port=tcp://127.0.0.1:%d" % x for x in zip(("control", "data", "live"), ports)]],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(0.5)
        names = ["small%d" % i for i in range(sessions)]
        for i, name in enumerate(names):
            quiet("lttng", "create", name, "--live=100000", "--ctrl-url=tcp://127.0.0.1:%d" % ports[0], "--data-url=tcp://127.0.0.1:%d" % ports[1])
            quiet("lttng", "enable-channel", "-u", "-s", name, "ch", "--subbuf-size=%dk" % (4 << i), "--num-subbuf=2")
            quiet("lttng", "enable-event", "-u", "-s", name, "-c", "ch", "lttng_ust_tracef:*")
            quiet("lttng", "start", name)
        errs = [open(os.path.join(folder, name + ".err"), "wb") for name in names]
        followers = [subprocess.Popen([US, "follow", "-o", os.path.join(folder, name), "--segment", "2s", "net://127.0.0.1:%d/host/%s/%s" % (
            ports[2], socket.gethostname(), name)], stdout=subprocess.DEVNULL, stderr=err) for name, err in zip(names, errs)]
        programs = [subprocess.Popen([os.path.join(folder, "numbers"), str(1 << 40), str(i << 32)]) for i in range(2)]
        end = time.time() + seconds
        looks = {0: 0}
        while time.time() < end:
            time.sleep(2.5)
            for name in names:
                r = quiet(US, "report", os.path.join(folder, name), "--since", "10s")
                looks[r.returncode] = looks.get(r.returncode, 0) + 1
                if r.returncode not in (0, 3):
                    print(name, r.returncode, r.stderr.strip())
        for p in programs:
            p.kill()
            p.wait()
        for name in names:
            quiet("lttng", "stop", name)
        time.sleep(3)
        for name in names:
            quiet("lttng", "destroy", name)
        time.sleep(1)
        for f in followers:
            f.send_signal(signal.SIGINT)
            f.wait()
        relayd.terminate()
        relayd.wait()
        for name in names:
            paths = glob.glob(stored + "/**/%s*" % name, recursive=True)
            r = subprocess.run(["babeltrace2", paths[0]], capture_output=True, check=False)
            want, lost = len(NUMBER.findall(r.stdout)), told(r.stderr.decode(errors="replace"))
            got, mine = 0, []
            for db in sorted(glob.glob(os.path.join(folder, name, "*.db"))):
                got += int(quiet(US, "query", "--format", "csv", db, "SELECT count(*) FROM event").stdout.split()[-1])
                mine += [int(n) for n in quiet(US, "query", "--format", "csv", db, "SELECT n FROM loss WHERE what = 'lost' AND n > 0").stdout.split()[1:]]
            # a counter that the tracer read too early is less than the one before: 2^64 - N, and N more behind it
            same = want == got and sum(lost) % (1 << 64) == sum(mine)
            bad |= not same or not lost
            print("%s: %d events stored, %d in segments; babeltrace2 tells of %d discarded in %d places, %d of them below 0, segments of %d in %d%s" % (
                name, want, got, sum(lost) % (1 << 64), len(lost), sum(n >> 63 for n in lost), sum(mine), len(mine), "" if same else ": DIFFERENT"), flush=True)
            if not same:
                with open(os.path.join(folder, name + ".err"), encoding="utf-8", errors="replace") as f:
                    print(f.read()[-600:])
                if "KEEP" in os.environ:
                    shutil.copytree(folder, os.environ["KEEP"], dirs_exist_ok=True)
        print("report while it grew: " + ", ".join("status %d: %d" % x for x in sorted(looks.items())))
    if not daemon.returncode:
        quiet("pkill", "-x", "lttng-sessiond")
    return bad


def build(folder):
    source = os.path.join(folder, "numbers.c")
    with open(source, "w", encoding="utf-8") as f:
        f.write(PROGRAM)
    subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "numbers"), source, "-llttng-ust"], check=True)


def main():
    if sys.argv[1:2] == ["--discards"]:
        return discards(*[int(a) for a in sys.argv[2:4]] + [3, 20][len(sys.argv) - 2:])
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    draw = random.Random(5)
    daemon = quiet("lttng-sessiond", "--daemonize")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        build(folder)
        segments = os.path.join(folder, "segments")
        with open(os.path.join(folder, "follow.err"), "wb") as err:
            follow = []
            stored = []

            def begin():
                # it refuses to wait for a daemon that was never there
                if not follow:
                    follow.append(subprocess.Popen(
                        [US, "follow", "-o", segments, "--segment", "3s",
                         "net://localhost/host/%s/live" % socket.gethostname()],
                        stdout=subprocess.DEVNULL, stderr=err))

            for i in range(rounds):
                count = seconds * RATE
                kill_at = draw.uniform(1, seconds - 1) if i + 1 < rounds else None
                stored.append(one_round(folder, i * count, count, kill_at, begin))
                print("round %d: %d of %d are stored%s" % (
                    i, len(stored[i]), count, "" if kill_at is None else
                    ", killed after %.1f s" % kill_at), flush=True)
            time.sleep(4)
            follow[0].send_signal(signal.SIGINT)
            follow[0].wait()
        ours = collections.Counter()
        for db in sorted(glob.glob(segments + "/*.db")):
            ours.update(map(int, NUMBER.findall(subprocess.run(
                [US, "script", db], capture_output=True, check=False).stdout)))
        with open(os.path.join(folder, "follow.err"), encoding="utf-8", errors="replace") as f:
            said = f.read()
        twice = sum(n > 1 for n in ours.values())
        gone = said.count("the relay daemon ended the connection")
        bad = twice > 0 or gone < rounds - 1
        for i, numbers in enumerate(stored):
            missing = sorted(numbers - set(ours))
            until = max((n for n in ours if n // count == i), default=i * count)
            told = [n for n in missing if i + 1 < rounds and n > until - RATE]
            bad |= len(missing) > len(told)
            print("round %d: %d stored, %d in segments, %d missing, %d of these from the last "
                  "second on" % (i, len(numbers), sum(n // count == i for n in ours),
                                 len(missing), len(told)))
        print("%d events twice; %d times follow said that the daemon went; it ended with %d" % (
            twice, gone, follow[0].returncode))
        if bad:
            print(said[-2000:])
            if "KEEP" in os.environ:
                shutil.copytree(segments, os.environ["KEEP"])
    if not daemon.returncode:
        quiet("pkill", "-x", "lttng-sessiond")
    return bad


sys.exit(main())
