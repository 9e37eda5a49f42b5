#!/usr/bin/env python3
# richer.py - more that is recorded makes no answer weaker, and none another one.
"""usage: richer.py BACKSTITCH DB

Of a database with stacks, names of the kernel, events of softirqs and disks, and
raises, poorer ones are made: without names, without stacks, without raises,
without any events of interrupts. Whatever one of these proves of a wake-up (that
a thread made it, or none did), the richer one proves, and the same. Prints a row
for each, and ends with status 1 if not."""

import csv
import io
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile

IRQS = "name LIKE 'irq:%' OR name LIKE 'block:%'"
POORER = {
    "no names": ["UPDATE frame SET symbol = NULL WHERE image IN"
                 " (SELECT id FROM image WHERE path LIKE '%kallsyms%'"
                 " OR path LIKE '%vmlinux%' OR path LIKE '[%]')"],
    "no stacks": ["UPDATE event SET kraw = NULL, uraw = NULL"],
    # as if it were another event, of which nothing is read
    "no raises": ["UPDATE event_type SET name = 'other:event'"
                  " WHERE name = 'irq:softirq_raise'"],
    "no interrupts": ["UPDATE event_type SET name = 'other:event' WHERE "
                      + IRQS],
}
POORER["none of all"] = POORER["no stacks"] + POORER["no interrupts"]


def proved(program, db):
    """{event: tid of who woke, "" for none} of the wake-ups that are proved."""
    done = subprocess.run([program, "query", "--format", "csv", db,
                           "SELECT event, by_tid FROM wake WHERE proof LIKE"
                           " 'proved%' AND event NOT NULL"],
                          capture_output=True, text=True, check=True)
    return {int(r["event"]): r["by_tid"]
            for r in csv.DictReader(io.StringIO(done.stdout))}


def main():
    program, db = sys.argv[1:]
    rich, bad = proved(program, db), 0
    print("%-16s %8s %8s %8s" % ("", "proved", "weaker", "another"))
    print("%-16s %8d" % ("all", len(rich)))
    with tempfile.TemporaryDirectory() as temp:
        for name, changes in POORER.items():
            poor_db = os.path.join(temp, "poor.db")
            shutil.copy(db, poor_db)
            with sqlite3.connect(poor_db) as c:
                for sql in changes:
                    c.execute(sql)
            poor = proved(program, poor_db)
            weaker = [e for e in poor if e not in rich]
            another = [e for e in poor if e in rich and rich[e] != poor[e]]
            print("%-16s %8d %8d %8d" % (name, len(poor), len(weaker),
                                         len(another)))
            for e in (weaker + another)[:3]:
                print("    event %d: %r, richer %r" % (e, poor[e],
                                                      rich.get(e)))
            bad += len(weaker) + len(another)
    return bool(bad)


if __name__ == "__main__":
    sys.exit(main())
