# live.py - LTTng's live stream while its relay daemon is killed: nothing is lost in silence.
"""usage: BACKSTITCH=PROGRAM live.py [ROUNDS [SECONDS]]

Each round starts lttng-relayd and a live session, and a program that numbers its
events, 100,000 a second, for some seconds. `follow net://` receives them, one process
through all rounds; the daemon is killed at a random moment of all rounds but the last.
A session has one viewer, so babeltrace2 reads what the daemon stored. Fails if

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


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 11
    seconds = int(sys.argv[2]) if len(sys.argv) > 2 else 11
    draw = random.Random(5)
    daemon = quiet("lttng-sessiond", "--daemonize")
    bad = 0
    with tempfile.TemporaryDirectory() as folder:
        source = os.path.join(folder, "numbers.c")
        with open(source, "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        subprocess.run(["gcc", "-O1", "-o", os.path.join(folder, "numbers"), source,
                        "-llttng-ust"], check=True)
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
