# screens.py - what a screen says is in --json: every number and every name, of each command that has both.
"""A number of a screen is a number of the answer as people see it, the share that
two numbers of one object have, or the time between two. --limit cuts what
scripts get, and reasons for missing stacks are always on the screen: so a row
may be in the answer without a limit. Without LONG each command is asked of two and of half of the other
captures, of the other half for the next commit."""

import functools
import json
import os
import re
import subprocess

import common

DBS = os.path.join(common.OUT, "screens")
NAMES = """before.data after.data overwrite-defer.data.zst shop.data.zst ftrace-v7.dat ctf-discard naps.data
offcpu-616.data""".split()
ASKED = """check
check -v
info
report --limit 5
report --limit 5 -g
report --limit 5 -G
report --limit 5 --sort comm,dso
report --limit 5 --off-cpu
report --limit 5 --off-cpu -g
report --limit 5 --off-cpu --sort comm
report --limit 5 --wall
report --limit 5 --sched
path
path --worst 3
path --waits
path --tree
annotate --limit 5
symbolize --no-cache""".splitlines()
# What a screen says for people alone: how to go on, explanations, sums over several objects of an answer (shares of
# path are those of its "sums"), a time of the day, and how many rows it leaves out.
SPOKEN = re.compile(r"'(?:backstitch|perf|trace-cmd)[^']*'|false-positive rate by chance: at most 1 %|\S*/\S*|"
                    r"\d+ \([\d.]+ %\) with only one frame|of [\d,]+ records \([\d.]+ %\)|wakers: not known without .*|"
                    r"weighs [\d.]+ times one of A|to know more: .*|\d{4}-\d\d-\d\dT\S*|^\d+ more rows? .*")
SUMS = re.compile(r"[\d.]+ %|[\d.]+$")
NUMBER = re.compile(r"(?<![\w.+-])\d[\d,]*(?:\.\d+)?(?: (?:ns|us|ms|s|kB|MB|GB)\b)?(?![\w.]*\w)")
NAME = re.compile(r"(?<![\w\[<-])[a-z]\w*_\w+")


@functools.lru_cache(None)
def human(ns):
    for unit, size in (("ns", 1), ("us", 1e3), ("ms", 1e6), ("s", 1e9)):
        v = ns / size
        if v < 999.5 or unit == "s":
            digits = 0 if unit == "ns" or v >= 99.95 else 1 if v >= 9.995 else 2
            return "%.*f %s" % (digits, v, unit)
    return None


def seconds(n):
    """The end of a time is rounded up."""
    return ("%d.%06d" % divmod(n // 1000 + up, 1000000) for up in (0, 1))


# Answers have the same numbers again and again, and the same two beside each other.
@functools.lru_cache(None)
def shown(v):
    """A number of an answer as screens may have it."""
    n = int(v)
    return ("%d" % v, "{:,}".format(n), "%.2f" % v, "%.1f" % v, "%.2f" % (v * 100), human(abs(v)), *seconds(n),
            *("%.*f %s" % (d, v / size, unit) for unit, size in (("kB", 1e3), ("MB", 1e6), ("GB", 1e9))
              for d in (0, 1, 2)))


@functools.lru_cache(None)
def shown_beside(v, whole):
    """A number of an object and another one of it, or around it."""
    shares = ("%.2f" % (100 * v / whole), "%.2f" % (100 - 100 * v / whole)) if whole and 0 <= v <= whole else ()
    apart = abs(whole - v)
    return (*shares, human(apart), "{:,}".format(int(apart)), "%.1f" % (apart / 1000),
            "{:,}".format(int(v + whole)), *seconds(int(v + whole)))


def plain(v):
    return isinstance(v, (int, float)) and not isinstance(v, bool)


def said(answer, above=()):
    """What a screen can say of an answer: numbers, sums and shares of what is in one object or around it."""
    if isinstance(answer, list):
        yield from shown(len(answer))
        for v in answer:
            yield from shown(v) if plain(v) else said(v, above)
    elif isinstance(answer, dict):
        own = [v for v in answer.values() if plain(v)]
        near = tuple(own) + tuple(above)[:40]
        for v in own:
            yield from shown(v)
            for whole in near:
                yield from shown_beside(v, whole)
        for v in answer.values():
            if isinstance(v, (dict, list)):
                yield from said(v, near)
        lists = [v for v in answer.values() if isinstance(v, list)]
        for rows in lists:
            for key in {k for r in rows if isinstance(r, dict) for k in r}:
                total = sum(r.get(key) or 0 for r in rows if isinstance(r, dict) and plain(r.get(key, 0)))
                yield from shown(total)
                for part in own:
                    if total and 0 <= part <= total:
                        yield "%.2f" % (100 * part / total)


def texts(answer):
    if isinstance(answer, dict):
        for k, v in answer.items():
            yield k
            yield from texts(v)
    elif isinstance(answer, list):
        for v in answer:
            yield from texts(v)
    elif isinstance(answer, str):
        yield answer


def run(*args):
    done = subprocess.run([common.BACKSTITCH, *args], capture_output=True, check=False, timeout=300,
                          env=dict(os.environ, COLUMNS="4000", NO_COLOR="1"))
    return done.stdout.decode("utf-8", "replace") if done.returncode in (0, 3, 4) else None


def lacking(args, db):
    """Lines of the screen with what the answer lacks."""
    screen = run(*args, *db)
    if screen is None:
        return None
    answers = [json.loads(run(*args, *more, "--json", *db) or "null")
               for more in ([], ["--limit", "0"] if "--limit" in args else [])]
    if args[0] == "path":  # which names losses by their number
        answers.append(json.loads(run("check", "--json", *db)))
    numbers = {n for a in answers for n in said(a)}
    blob = "\n".join(t for a in answers for t in texts(a))
    bad = []
    for line in screen.splitlines():
        rest = SPOKEN.sub(" ", line)
        if args[0] == "path":
            rest = SUMS.sub(" ", rest)
        found = [n for n in NUMBER.findall(rest) if n.rstrip(",") not in numbers
                 and n.split(" ")[0].rstrip(",") not in numbers and n not in blob]
        found += [n for n in NAME.findall(rest) if n not in blob]
        if found:
            bad.append("%s: %s   | %s" % (" ".join(args), found, line[:120]))
    return bad


os.makedirs(DBS, exist_ok=True)
# which alone have an answer to some
always = ["ftrace-v7.dat", "offcpu-616.data"]
mine = always + common.share([name for name in NAMES if name not in always], 2)
dbs = {}
for name in NAMES[:2] + mine:
    db = os.path.join(DBS, name + ".db")
    dbs[name] = common.into(db, "--no-cache", "--symfs", common.HERE + "/symfs", os.path.join(common.HERE, name))[0]
for asked in ASKED:
    bad = [lacking(asked.split(), [dbs[name]]) for name in mine]
    common.ok(any(b is not None for b in bad) and not any(bad), asked, sum((b or [] for b in bad), []))
bad = lacking(["report", "--diff", "--limit", "5"], [dbs[name] for name in NAMES[:2]])
common.ok(bad == [], "diff", bad or [])
common.finish()
