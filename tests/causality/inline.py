#!/usr/bin/env python3
# inline.py - whose a wake-up in a softirq is, by who raised it: for each that is
# called a thread's own.
"""usage: inline.py BACKSTITCH DB

DB has all of irq:softirq_raise, softirq_entry and softirq_exit, with fields. A
softirq that only interrupts raised since it ran last on that CPU is none of the
thread's in which it runs. So a wake-up of context softirq-inline, in a softirq
that was raised so, is false; and one by a thread is false where a disk was done
(vector BLOCK). Prints how many were looked at, by vector and by who raised it,
and ends with status 1 if one that is proved, with a premise or without, is
false. Shares no code with backstitch but its tables of events."""

import collections
import csv
import io
import sqlite3
import subprocess
import sys

HARDIRQ = 8
NAMES = {3: "NET_RX", 2: "NET_TX", 4: "BLOCK"}


def inline_wakes(program, db):
    done = subprocess.run([program, "query", "--format", "csv", db,
                           "SELECT event, proof FROM wake WHERE context ="
                           " 'softirq-inline' AND event NOT NULL"],
                          capture_output=True, text=True, check=True)
    return {int(r["event"]): r["proof"]
            for r in csv.DictReader(io.StringIO(done.stdout))}


def events(c):
    """(id, what, cpu, vector, in a hard interrupt) in the order of time."""
    parts = []
    for table, what, columns in (
            ("ev_irq_softirq_raise", "raise", "s.vec, s.common_flags"),
            ("ev_irq_softirq_entry", "entry", "s.vec, 0"),
            ("ev_irq_softirq_exit", "exit", "s.vec, 0"),
            ("ev_sched_sched_waking", "wake", "0, 0")):
        parts.append("SELECT e.id, '%s', e.cpu, %s, e.time_ns FROM %s s JOIN"
                     " event e ON e.id = s.event_id" % (what, columns, table))
    return c.execute(" UNION ALL ".join(parts) + " ORDER BY 6, 1")


def judge_inline(program, db):
    """Returns a Counter of (vector, who raised it, proof)."""
    wakes = inline_wakes(program, db)
    raised, runs = collections.defaultdict(list), {}
    found = collections.Counter()
    with sqlite3.connect(db) as c:
        for id_, what, cpu, vector, flags, _ in events(c):
            if what == "raise":
                raised[cpu, vector].append(bool(flags & HARDIRQ))
            elif what == "entry":
                runs[cpu] = vector, raised.pop((cpu, vector), [])
            elif what == "exit":
                runs.pop(cpu, None)
            elif id_ in wakes:
                vector, by = runs.get(cpu, (None, []))
                who = "not seen" if not by else "interrupts" if all(by) \
                    else "both" if any(by) else "thread"
                found[NAMES.get(vector, str(vector)), who, wakes[id_]] += 1
    return found


def is_false(key):
    vector, who, proof = key
    return proof.startswith("proved") and (
        who == "interrupts" or vector not in ("NET_RX", "NET_TX", "None"))


def main():
    found = judge_inline(*sys.argv[1:])
    for key, n in sorted(found.items()):
        print("%8d  %-8s raised by: %-10s %s%s" % (
            n, *key, "  FALSE" if is_false(key) else ""))
    false = sum(n for key, n in found.items() if is_false(key))
    print("%d wake-ups, %d false" % (sum(found.values()), false))
    return bool(false)


if __name__ == "__main__":
    sys.exit(main())
