#!/usr/bin/env python3
# lttngoptions.py - records by each option of lttng, and compares field for field with babeltrace2.
"""usage: BACKSTITCH=PROGRAM lttngoptions.py [OPTION...]

Records a program that has every kind of field of LTTng-UST, with each option of lttng (of those whose name has an
OPTION in it), compares each trace that came with babeltrace2's text by tests/compare/ctf.py - time, CPU, name,
fields, contexts, texts, losses - prints a row for each, and fails if anything is not equal. What lttng does not
take on this machine is named as such. Needs lttng-sessiond, lttng-relayd, babeltrace2, liblttng-ust-dev and gcc;
python3-lttngust and liblttng-ust-agent-java for --python and --jul."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.abspath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../.."))
B = os.path.abspath(os.environ.get("BACKSTITCH", os.path.join(ROOT, "build/backstitch")))
HEADER = r"""
#undef LTTNG_UST_TRACEPOINT_PROVIDER
#define LTTNG_UST_TRACEPOINT_PROVIDER kinds
#undef LTTNG_UST_TRACEPOINT_INCLUDE
#define LTTNG_UST_TRACEPOINT_INCLUDE "./kinds.tp"
#if !defined(KINDS_H) || defined(LTTNG_UST_TRACEPOINT_HEADER_MULTI_READ)
#define KINDS_H
#include <lttng/tracepoint.h>
#include <stdint.h>
LTTNG_UST_TRACEPOINT_ENUM(kinds, colour, LTTNG_UST_TP_ENUM_VALUES(
	lttng_ust_field_enum_value("RED", 0) lttng_ust_field_enum_range("BLUE", 1, 3)
	lttng_ust_field_enum_auto("AUTO") lttng_ust_field_enum_value("two words", -7)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, integers, LTTNG_UST_TP_ARGS(int64_t, i), LTTNG_UST_TP_FIELDS(
	lttng_ust_field_integer(int8_t, s8, -i) lttng_ust_field_integer(uint8_t, u8, -i)
	lttng_ust_field_integer(int16_t, s16, -i) lttng_ust_field_integer(uint16_t, u16, -i)
	lttng_ust_field_integer(int32_t, s32, -i) lttng_ust_field_integer(uint32_t, u32, -i)
	lttng_ust_field_integer(int64_t, s64, -i) lttng_ust_field_integer(uint64_t, u64, -i)
	lttng_ust_field_integer_hex(uint32_t, hex, i) lttng_ust_field_integer_hex(int64_t, minus_hex, -i)
	lttng_ust_field_integer_network(uint16_t, net16, i) lttng_ust_field_integer_network(int32_t, net32, -i)
	lttng_ust_field_integer_network_hex(uint64_t, net64, i) lttng_ust_field_integer_nowrite(int, unseen, i)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, floats, LTTNG_UST_TP_ARGS(int64_t, i), LTTNG_UST_TP_FIELDS(
	lttng_ust_field_float(float, single, i / 3.f) lttng_ust_field_float(double, twice, -i / 7.)
	lttng_ust_field_float(double, none, i ? 0. / (double)(i - i) : 0) lttng_ust_field_float(float, far, 1e30f * i)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, texts, LTTNG_UST_TP_ARGS(int64_t, i, const char *, t, size_t, n), LTTNG_UST_TP_FIELDS(
	lttng_ust_field_string(text, t) lttng_ust_field_string(empty, "") lttng_ust_field_array_text(char, four, t, 4)
	lttng_ust_field_sequence_text(char, part, t, size_t, n) lttng_ust_field_string_nowrite(unseen, t)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, lists, LTTNG_UST_TP_ARGS(int64_t, i, const uint64_t *, w, size_t, n), LTTNG_UST_TP_FIELDS(
	lttng_ust_field_array(uint8_t, bytes, w, 5) lttng_ust_field_array(int64_t, longs, w, 2) lttng_ust_field_array_hex(uint16_t, hexes, w, 3)
	lttng_ust_field_array_network(uint32_t, nets, w, 2) lttng_ust_field_array_network_hex(uint16_t, nethex, w, 2)
	lttng_ust_field_sequence(uint32_t, any, w, size_t, n) lttng_ust_field_sequence_hex(uint8_t, anyhex, w, uint8_t, (uint8_t)n)
	lttng_ust_field_sequence_network(uint16_t, anynet, w, uint16_t, (uint16_t)n) lttng_ust_field_sequence(int8_t, nothing, w, size_t, 0)
	lttng_ust_field_sequence_network_hex(uint64_t, anynethex, w, uint32_t, (uint32_t)n % 4)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, labels, LTTNG_UST_TP_ARGS(int64_t, i), LTTNG_UST_TP_FIELDS(
	lttng_ust_field_enum(kinds, colour, int, colour, i % 7) lttng_ust_field_enum(kinds, colour, int8_t, small, -7)))
LTTNG_UST_TRACEPOINT_EVENT(kinds, bare, LTTNG_UST_TP_ARGS(), LTTNG_UST_TP_FIELDS())
LTTNG_UST_TRACEPOINT_LOGLEVEL(kinds, bare, LTTNG_UST_TRACEPOINT_LOGLEVEL_WARNING)
LTTNG_UST_TRACEPOINT_MODEL_EMF_URI(kinds, bare, "http://localhost/bare")
LTTNG_UST_TRACEPOINT_EVENT_CLASS(kinds, two, LTTNG_UST_TP_ARGS(int64_t, i), LTTNG_UST_TP_FIELDS(lttng_ust_field_integer(int64_t, i, i)))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(kinds, two, kinds, first, LTTNG_UST_TP_ARGS(int64_t, i))
LTTNG_UST_TRACEPOINT_EVENT_INSTANCE(kinds, two, kinds, second, LTTNG_UST_TP_ARGS(int64_t, i))
#endif
#include <lttng/tracepoint-event.h>
"""
PROBES = """
#define LTTNG_UST_TRACEPOINT_CREATE_PROBES
#define LTTNG_UST_TRACEPOINT_DEFINE
#include "kinds.tp"
"""
PROGRAM = r"""
#define _GNU_SOURCE
#include "kinds.tp"
#include <lttng/tracef.h>
#include <lttng/tracelog.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
static void *turn(void *n)
{
	uint64_t words[16];
	for (int64_t i = 1; i <= (intptr_t)n; i++) {
		for (int k = 0; k < 16; k++)
			words[k] = i * 0x9e3779b97f4a7c15u >> k;
		lttng_ust_tracepoint(kinds, integers, i);
		lttng_ust_tracepoint(kinds, floats, i);
		lttng_ust_tracepoint(kinds, texts, i, "words, \"quoted\"; \\ and more", i % 9);
		lttng_ust_tracepoint(kinds, lists, i, words, i % 7);
		lttng_ust_tracepoint(kinds, labels, i);
		lttng_ust_tracepoint(kinds, bare);
		lttng_ust_tracepoint(kinds, first, i);
		lttng_ust_tracepoint(kinds, second, i);
		lttng_ust_tracef("number %ld", (long)i);
		lttng_ust_tracelog(LTTNG_UST_TRACEPOINT_LOGLEVEL_INFO, "log %ld", (long)i);
		if (i % 50 == 0)
			usleep(200);
	}
	return NULL;
}
int main(int argc, char **argv)
{
	pthread_t t;
	if (argc > 2 && fork() == 0)
		return turn((void *)10L), 0;
	pthread_create(&t, NULL, turn, (void *)atol(argv[1]));
	turn((void *)atol(argv[1]));
	pthread_join(t, NULL);
	wait(NULL);
	free(malloc(10));
	return 0;
}
"""
PYTHON = "import lttngust, logging; l = logging.getLogger('logs'); l.setLevel(10); [l.log(10 * (i % 5 + 1), 'line %d', i) for i in range(50)]"
JAVA = r"""
import java.util.logging.*;
class Logs {
	public static void main(String[] a) throws Exception {
		Logger l = Logger.getLogger("logs");
		l.addHandler(new org.lttng.ust.agent.jul.LttngLogHandler());
		for (int i = 0; i < 50; i++)
			l.info("line " + i);
	}
}
"""
RUN = "$W/kinds 300"
CONTEXTS = ("vpid vtid procname pthread_id ip cgroup_ns ipc_ns mnt_ns net_ns pid_ns time_ns user_ns uts_ns vuid veuid vsuid vgid vegid vsgid "
            "perf:thread:instructions perf:thread:page-fault perf:thread:task-clock perf:thread:raw:r0013c:x pid tid ppid prio nice hostname callstack-user callstack-kernel").split()


def session(create="--output=$W/out", channel="", event="-a", context="", run=RUN, before="", domain="-u", after="lttng stop; lttng destroy s"):
    name = "ch" if domain == "-u" else ""
    enabled = "lttng enable-channel -u ch %s || exit 1; " % channel if name else ""
    return "lttng create s %s || exit 1; %slttng enable-event %s %s %s || exit 1; %s %s lttng start; %s; %s" % (
        create, enabled, domain, "-c ch" if name else "", event,
        "lttng add-context -u -c ch %s || exit 1;" % " ".join("-t '%s'" % c for c in context.split()) if context else "", before and before + ";", run, after)


def relayed(create, **more):
    return "lttng-relayd -o $W/out -C tcp://0.0.0.0:5442 -D tcp://0.0.0.0:5443 -L tcp://0.0.0.0:5444 > /dev/null 2>&1 & r=$!; sleep 0.7; (%s); sleep 1; kill $r; wait $r" % session(create, **more)


URLS = "-C tcp://localhost:5442 -D tcp://localhost:5443"
SHORT = "$W/kinds 40"
ROWS = [
    ("create --output", session()), ("create --set-url=file://", session("--set-url=file://$W/out")),
    ("create --no-output", session("--no-output")), ("create, nothing given", "mkdir $W/out; export LTTNG_HOME=$W/out; " + session("")),
    ("create --shm-path", session("--output=$W/out --shm-path=$W/shm")), ("create -C -D (relayd)", relayed(URLS)),
    ("create --set-url=net:// (relayd)", relayed("--set-url=net://localhost:5442:5443")),
    ("create --set-url=net6:// (relayd)", relayed("--set-url=net6://[::1]:5442:5443").replace("tcp://0.0.0.0", "tcp6://[::]")),
    ("create --live (relayd's files)", relayed("--live=200000 " + URLS, after="sleep 1; lttng stop; lttng destroy s")),
    ("relayd --group-output-by-session", relayed(URLS).replace("-o $W/out", "-o $W/out --group-output-by-session")),
    ("create --snapshot", session("--snapshot --output=$W/out", after="lttng snapshot record; lttng destroy s")),
    ("snapshot record -n", session("--snapshot --output=$W/out", after="lttng snapshot record -n one; %s; lttng snapshot record -n two; lttng destroy s" % SHORT)),
    ("snapshot record --max-size", session("--snapshot --output=$W/out", channel="--subbuf-size=16k --num-subbuf=4", after="lttng snapshot record --max-size=64k; lttng destroy s")),
    ("snapshot record URL", session("--snapshot --no-output", after="lttng snapshot record file://$W/out; lttng destroy s")),
    ("snapshot add-output", session("--snapshot --no-output", before="lttng snapshot add-output file://$W/out", after="lttng snapshot record; lttng destroy s")),
    ("snapshot, relayd", relayed("--snapshot " + URLS, after="lttng snapshot record; lttng destroy s")),
    ("snapshot, overwritten", session("--snapshot --output=$W/out", channel="--subbuf-size=4k --num-subbuf=2", after="lttng stop; lttng snapshot record; lttng destroy s")),
] + [("enable-channel " + o, session(channel=o, run=r)) for o, r in (
    ("--discard", RUN), ("--overwrite", RUN), ("--discard --subbuf-size=4k --num-subbuf=2", "$W/kinds 3000"), ("--overwrite --subbuf-size=4k --num-subbuf=2", "$W/kinds 3000"),
    ("--blocking-timeout=inf --subbuf-size=4k --num-subbuf=2", "LTTNG_UST_ALLOW_BLOCKING=1 $W/kinds 2000"),
    ("--blocking-timeout=100 --subbuf-size=4k --num-subbuf=2", "LTTNG_UST_ALLOW_BLOCKING=1 $W/kinds 2000"),
    ("--subbuf-size=1M", RUN), ("--num-subbuf=16", RUN), ("--switch-timer=1000", RUN), ("--switch-timer=0", RUN), ("--read-timer=1000", RUN), ("--monitor-timer=1000", RUN),
    ("--output=mmap", RUN), ("--output=splice", RUN), ("--buffers-uid", RUN), ("--buffers-pid", RUN + "; " + SHORT), ("--buffers-global", RUN),
    ("--tracefile-size=16384 --subbuf-size=4k", RUN), ("--tracefile-size=16384 --tracefile-count=2 --subbuf-size=4k", RUN),
    ("--tracefile-size=16384 --tracefile-count=1 --subbuf-size=4k --overwrite", RUN))] + [
    ("enable-event " + o, session(event=o)) for o in (
        "kinds:lists", "'kinds:*'", "kinds:first,kinds:second", "'kinds:*' -x 'kinds:l*'", "kinds:integers -f 's8 > 0 || u16 > 65400'", "kinds:texts -f 'text == \"words*\"'",
        "kinds:labels -f 'colour == 1'", "-a -f '$ctx.vtid > 0'", "--loglevel=WARNING -a", "--loglevel-only=INFO -a", "'lttng_ust_tracelog:*'", "'lttng_ust_tracef:*'",
        "--tracepoint kinds:bare", "no:such_event")] + [
    ("enable-event --python", session(domain="--python", run="/usr/bin/python3 -c \"%s\"" % PYTHON)),
    ("enable-event --jul", session(domain="--jul", run="cd $W && java -cp /usr/share/java/lttng-ust-agent-common.jar:/usr/share/java/lttng-ust-agent-jul.jar:. -Djava.library.path=/usr/lib/x86_64-linux-gnu/jni Logs")),
    ("enable-event --log4j", session(domain="--log4j", run="true")), ("enable-event -k sched_switch", session(domain="-k", event="sched_switch")),
    ("enable-event -k --syscall", session(domain="-k", event="--syscall -a")), ("enable-event -k --probe", session(domain="-k", event="--probe=vfs_read p")),
    ("enable-event -k --userspace-probe", session(domain="-k", event="--userspace-probe=/bin/sh:main p")),
    ("enable-event in two channels", session(before="lttng enable-channel -u two --subbuf-size=64k; lttng enable-event -u -c two kinds:first; lttng add-context -u -c two -t vtid")),
] + [("add-context -t " + c, session(context=c)) for c in CONTEXTS] + [
    ("add-context, sixteen at once", session(context=" ".join(CONTEXTS[:16]))), ("add-context -t $app.a:b", session(context="$app.none:such")),
    ("track --vpid (none)", session(before="lttng untrack -u --vpid --all; lttng track -u --vpid=1")), ("track --vuid=0", session(before="lttng track -u --vuid=0")),
    ("track --vgid=0", session(before="lttng track -u --vgid=0")), ("untrack --vuid --all", session(before="lttng untrack -u --vuid --all")),
    ("track --all --vpid", session(before="lttng track -u --all --vpid")), ("track -k --pid=1", session(before="lttng track -k --pid=1 || exit 1")),
    ("rotate", session(after="lttng rotate; %s; lttng rotate; %s; lttng stop; lttng destroy s" % (SHORT, SHORT))),
    ("rotate, only rotated", session(after="lttng stop; lttng rotate; lttng destroy s")), ("rotate --no-wait", session(after="lttng rotate --no-wait; %s; lttng stop; lttng destroy s" % SHORT)),
    ("enable-rotation --timer", session(before="lttng enable-rotation --timer=200000", run="for i in 1 2 3 4 5; do $W/kinds 50; sleep 0.1; done")),
    ("enable-rotation --size", session(channel="--subbuf-size=4k --monitor-timer=20000", before="lttng enable-rotation --size=64k", run="for i in 1 2 3 4 5; do $W/kinds 50; sleep 0.1; done")),
    ("disable-rotation", session(before="lttng enable-rotation --timer=200000; lttng disable-rotation --timer")),
    ("rotate, relayd", relayed(URLS, after="lttng rotate; %s; lttng stop; lttng destroy s" % SHORT)), ("rotate --live", relayed("--live " + URLS, after="lttng rotate; lttng stop; lttng destroy s")),
    ("destroy --no-wait", session(after="lttng stop -n; lttng destroy -n s; sleep 1")), ("clear", session(after="lttng clear; %s; lttng stop; lttng destroy s" % SHORT)),
    ("stop, start again", session(after="lttng stop; lttng start; %s; lttng stop; lttng destroy s" % SHORT)), ("regenerate metadata", session(run=RUN + "; lttng regenerate metadata; " + SHORT)),
    ("regenerate statedump", session(run="(sleep 0.4; lttng regenerate statedump) & $W/kinds 20000; wait")),
    ("disable-event", session(after="lttng disable-event -u -c ch -a; %s; lttng stop; lttng destroy s" % SHORT)),
    ("disable-channel", session(after="lttng disable-channel -u ch; %s; lttng enable-channel -u ch; %s; lttng stop; lttng destroy s" % (SHORT, SHORT))),
    ("save, load", "lttng create s --output=$W/out; lttng enable-channel -u ch; lttng enable-event -u -c ch -a; lttng save s -f -o $W/saved; lttng destroy s; lttng load -i $W/saved/s.lttng s; lttng start; %s; lttng stop; lttng destroy s" % RUN),
    ("add-trigger, rotates", session(before="lttng add-trigger --name=t --condition=event-rule-matches --type=user --name=kinds:bare --action=rotate-session s --rate-policy=once-after:30", after="sleep 1; lttng stop; lttng remove-trigger t; lttng destroy s")),
    ("add-trigger, snapshots", session("--snapshot --output=$W/out", before="lttng add-trigger --name=t --condition=event-rule-matches --type=user --name=kinds:bare --action=snapshot-session s --rate-policy=once-after:200", after="sleep 1; lttng stop; lttng remove-trigger t; lttng destroy s")),
    ("lttng-crash --extract", session("--shm-path=$W/shm --output=$W/none", channel="--overwrite", run=RUN + "; cp -r $W/shm $W/kept; lttng-crash --extract=$W/out $W/kept/*", after="lttng destroy s")),
    ("fork without liblttng-ust-fork", session(run="$W/kinds 50 fork", context="vpid vtid procname")), ("two programs, --buffers-pid", session(channel="--buffers-pid", run="$W/kinds 300 & $W/kinds 300; wait", context="vpid vtid")),
    ("killed while it records", session(run="$W/kinds 20000 & sleep 0.2; kill -9 $!")),
] + [("LD_PRELOAD=liblttng-ust-%s.so" % lib, session(run="LD_PRELOAD=liblttng-ust-%s.so $W/kinds 30 fork" % lib)) for lib in (
    "libc-wrapper", "pthread-wrapper", "dl", "fork", "fd", "cyg-profile", "cyg-profile-fast")] + [
    ("babeltrace2 -o ctf", session() + "; mv $W/out $W/none; babeltrace2 $W/none -o ctf -w $W/out"),
    ("babeltrace2 --component sink.ctf.fs, ctf-version", session() + "; mv $W/out $W/none; babeltrace2 $W/none -c sink.ctf.fs -p 'path=\"'$W/out'\",assume-single-trace=yes'"),
    ("babeltrace2 --begin --end", session() + "; mv $W/out $W/none; set -- $(babeltrace2 --clock-seconds --no-delta $W/none | grep -o '^.[0-9.]*' | tr -d [ | sed -n '500p;900p'); babeltrace2 $W/none -b $1 -e $2 -o ctf -w $W/out"),
    ("babeltrace2 --debug-info", session(context="ip vpid") + "; mv $W/out $W/none; babeltrace2 $W/none --debug-info -o ctf -w $W/out"),
    ("babeltrace2 --stream-intersection", session(channel="--subbuf-size=4k") + "; mv $W/out $W/none; babeltrace2 --stream-intersection $W/none -o ctf -w $W/out"),
] + [("babeltrace2 %s (text)" % o, session(run="$W/kinds 5") + "; mv $W/out $W/none; babeltrace2 %s $W/none > $W/text" % o) for o in ("", "-n all", "--clock-seconds --no-delta", "-c sink.text.details")]


def shell(command, folder, timeout=60):
    return subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, capture_output=True, check=False, errors="replace", timeout=timeout, env=dict(os.environ, W=folder))


def traces(folder):
    """Snapshots one by one, as they have the same events, and anything else as one."""
    found = sorted({os.path.dirname(m) for m in glob.glob(folder + "/out/**/metadata", recursive=True)})
    snapshots = sorted({re.match(r".*?/(?:snapshot-\d+|(?:one|two))-\d{8}-\d{6}-\d+", f)[0] for f in found if re.search(r"-\d{8}-\d{6}-\d+/", f)})
    return snapshots or ([folder + "/out"] if found else [])


def compared(folder, cache):
    """(events equal, what is different)"""
    n, bad = 0, []
    for path in traces(folder):
        env = dict(os.environ, BACKSTITCH=B, ROOT=ROOT, O=os.path.relpath(cache, ROOT))
        r = subprocess.run([sys.executable, ROOT + "/tests/compare/ctf.py", path], env=env, capture_output=True, check=False, text=True)
        m = re.search(r"live: (\d+) events", r.stdout)
        n += int(m[1]) if m else 0
        if r.returncode:
            bad.append(" ".join(r.stdout.split()) + r.stderr[-300:])
    return n, bad


def main():
    asked, count = sys.argv[1:], {}
    daemon = subprocess.Popen(["lttng-sessiond"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(1)
    print("| option | events | |\n|---|---|---|")
    with tempfile.TemporaryDirectory() as built:
        for name, text in (("kinds.tp", HEADER), ("kinds.c", PROGRAM), ("probes.c", PROBES), ("Logs.java", JAVA)):
            with open(os.path.join(built, name), "w", encoding="ascii") as f:
                f.write(text)
        subprocess.run(["gcc", "-O1", "-g", "-w", "-I" + built, "-finstrument-functions", "-o", built + "/kinds", built + "/kinds.c", built + "/probes.c", "-llttng-ust", "-ldl", "-lpthread"], check=True)
        shell("javac -cp /usr/share/java/lttng-ust-agent-common.jar:/usr/share/java/lttng-ust-agent-jul.jar -d $W $W/Logs.java", built)
        for name, command in [r for r in ROWS if not asked or any(a in r[0] for a in asked)]:
            with tempfile.TemporaryDirectory() as folder:
                for f in ["kinds"] + [os.path.basename(p) for p in glob.glob(built + "/*.class")]:
                    os.link(os.path.join(built, f), os.path.join(folder, f))
                try:
                    r = shell(command, folder)
                    said = [w for w in (r.stderr + r.stdout).split("\n") if "rror" in w or "Warning" in w]
                except subprocess.TimeoutExpired:
                    said = ["does not end"]
                shell("lttng destroy s", folder)
                n, bad = compared(folder, built + "/o")
                text = ""
                if os.path.exists(folder + "/text"):
                    q = subprocess.run([B, "info", folder + "/text"], capture_output=True, check=False, errors="replace")
                    text = "refused: " + q.stderr.strip().replace(folder + "/", "") if q.returncode == 1 else "read: " + q.stdout.split("\n")[0]
                if bad and "KEEP" in os.environ:
                    shutil.copytree(folder + "/out", os.path.join(os.environ["KEEP"], re.sub(r"\W+", "_", name)), dirs_exist_ok=True)
            kind, what = ("different", "; ".join(bad)[:300]) if bad else ("equal", "equal") if n else ("told", text) if text else \
                ("not taken", "lttng: " + said[0][:110]) if said else ("none", "no events")
            count[kind] = count.get(kind, 0) + 1
            print("| `%s` | %s | %s |" % (name, f"{n:,}" if n else "", what), flush=True)
    daemon.terminate()
    daemon.wait()
    print(", ".join("%s %d" % x for x in sorted(count.items())))
    sys.exit("different" in count)


main()
