# phases.py - 'report --by wall' says what to make faster: programs with known phases are made so.
"""usage: BACKSTITCH=PROGRAM phases.py [TURNS]

For a quiet machine with two CPUs or more, and the right to record. Builds three
programs of threads whose functions do a fixed amount of work, asks 'report --by
wall' which function has most of the time in which the program runs, and lets
the program do 10 % less in that one. It has to end sooner by a tenth of the
share that was told: within the interval of 95 % of TURNS pairs of runs, and a
half of a percent. Prints the load, with which intervals grow. Ends with 1 if
one does not."""
import json
import math
import os
import subprocess
import sys
import tempfile
import time

B = os.path.abspath(os.environ.get("BACKSTITCH", "./backstitch"))
SLACK = 0.5
COMMON = r"""
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#define WORK(name) __attribute__((noinline)) static void name(double n) \
{ n *= !strcmp(faster, #name) ? 0.9 : 1; \
  for (volatile unsigned long i = 0, k = (unsigned long)(n * 1e7); i < k; i++) ; }
static const char *faster = "";
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
"""
# name: source, and how the phases lie
PROGRAMS = {
    # one after the other, then two at once
    "phases": r"""
WORK(prepare) WORK(left) WORK(right) WORK(finish)
static void *other(void *arg) { right(30); return arg; }
int main(int n, char **v)
{
	pthread_t t;
	faster = n > 1 ? v[1] : "";
	prepare(40);
	pthread_create(&t, NULL, other, NULL);
	left(30);
	pthread_join(t, NULL);
	finish(10);
}""",
    # two threads that mostly wait for each other's lock
    "lock": r"""
WORK(inside) WORK(outside)
static void *loop(void *arg)
{
	for (int i = 0; i < 40; i++) {
		pthread_mutex_lock(&lock);
		inside(0.8);
		pthread_mutex_unlock(&lock);
		outside(0.1);
	}
	return arg;
}
int main(int n, char **v)
{
	pthread_t t;
	faster = n > 1 ? v[1] : "";
	pthread_create(&t, NULL, loop, NULL);
	loop(NULL);
	pthread_join(t, NULL);
}""",
    # most of the time of CPUs is in pairs, but most of the time by the clock in one function alone
    "pairs": r"""
WORK(alone) WORK(both)
static void *half(void *arg) { both(16); return arg; }
int main(int n, char **v)
{
	pthread_t t;
	faster = n > 1 ? v[1] : "";
	for (int i = 0; i < 3; i++) {
		pthread_create(&t, NULL, half, NULL);
		both(16);
		pthread_join(t, NULL);
		alone(20);
	}
}""",
}


def seconds(argv):
    start = time.monotonic()
    subprocess.run(argv, check=True)
    return time.monotonic() - start


def main():
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else 15
    failed = 0
    print("load before: %.1f, %d CPUs, Linux %s" % (os.getloadavg()[0], os.cpu_count(), os.uname().release))
    print("%-8s %-9s %6s %9s %9s" % ("program", "first row", "told %", "sooner %", "interval"))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, source in PROGRAMS.items():
            with open(name + ".c", "w", encoding="utf-8") as f:
                f.write(COMMON + source)
            subprocess.run(["cc", "-O1", "-pthread", "-o", name, name + ".c"], check=True)
            subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997", "--switch-events", "-o", name + ".data",
                            "./" + name], check=True)
            said = subprocess.run([B, "report", "--by", "wall", "--json", name + ".data"], check=True, capture_output=True).stdout
            row = json.loads(said)["rows"][0]
            function, told = row["symbol"], row["self_percent"] / 10
            gain = []
            for _ in range(turns):
                before, after = seconds(["./" + name]), seconds(["./" + name, function])
                gain.append(100 * (1 - after / before))
            mean = sum(gain) / turns
            # 2.2 is Student's for 10 to 15 turns
            width = 2.2 * math.sqrt(sum((g - mean) ** 2 for g in gain) / (turns - 1) / turns)
            ok = abs(mean - told) <= width + SLACK
            failed += not ok
            print("%-8s %-9s %6.2f %9.2f %4.2f to %.2f%s" % (name, function, told, mean, mean - width, mean + width,
                                                         "" if ok else "  NOT AS TOLD"))
    print("load after: %.1f" % os.getloadavg()[0])
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
