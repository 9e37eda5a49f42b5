# lives.py - two captures of one run: each task is one row, and what one has mapped the other knows.
"""perf and perf: two-e and two-f, recorded together. Every life of the two
databases made alone is in the common one, each once, with the names and the
mappings that either tells.
perf and ftrace: pair.data and pair.dat.zst. Where each address of a user stack
of ftrace is follows from what perf script says of forks, execs and mappings,
and from trace-cmd's text of the stacks; addresses of the kernel count from
perf's _text."""

import bisect
import collections
import os
import re
import tempfile

import common

EVENT = re.compile(r"-(\d+) +\[\d+\] +(\d+)\.(\d{9}): (\w+): ")
TASK = re.compile(r"(\d+)\.(\d{9}): PERF_RECORD_(\w+)( exec)?"
                  r"(?:: [\w-]+:| |\()(-?\d+)[/:](\d+)(.*)")
MAP = re.compile(r": \[0x(\w+)\(0x(\w+)\) @ (\w+) .*\]: \S+ (\S+)$")

PROCESSES = "SELECT pid, count(*) FROM process WHERE id > 0 GROUP BY 1"
LIVES = "SELECT p.pid, t.tid, count(*) FROM thread t" \
        " JOIN process p ON p.id = t.process GROUP BY 1, 2"
NAMES = "SELECT p.pid, t.tid, c.name, c.exec, count(*) FROM comm c" \
        " JOIN thread t ON t.id = c.thread JOIN process p ON p.id = t.process" \
        " WHERE c.time_ns IS NOT NULL GROUP BY 1, 2, 3, 4"
MAPS = "SELECT p.pid, m.start, m.\"end\", m.pgoff, i.path, count(*)" \
       " FROM mapping m JOIN process p ON p.id = m.process" \
       " JOIN image i ON i.id = m.image GROUP BY 1, 2, 3, 4, 5"
STACKS = "SELECT e.time_ns, h.tid, p.pid, i.path, f.off, i.kind, hex(i.build_id)" \
         " FROM event e JOIN event_type y ON y.id = e.type" \
         " JOIN raw_chain c ON c.id = e.%s" \
         " JOIN stack_path s ON s.stack = c.stack" \
         " JOIN frame f ON f.id = s.frame JOIN image i ON i.id = f.image" \
         " JOIN thread h ON h.id = e.thread JOIN process p ON p.id = h.process" \
         " WHERE y.capture = 2 ORDER BY e.id, s.pos"


def ingest(tmp, name, *captures):
    return common.sound("%s is read" % name, common.into(
        os.path.join(tmp, name + ".db"), "--no-symbols",
        *(common.HERE + "/" + c for c in captures)))


def most(*tables):
    """Of each key the largest count."""
    out = {}
    for t in tables:
        for *key, n in t:
            out[tuple(key)] = max(n, out.get(tuple(key), 0))
    return out


def check_two(tmp):
    alone = [ingest(tmp, "e", "two-e.data"), ingest(tmp, "f", "two-f.data.zst")]
    both = [ingest(tmp, "ef", "two-e.data", "two-f.data.zst"),
            ingest(tmp, "fe", "two-f.data.zst", "two-e.data")]
    for what, sql in (("process", PROCESSES), ("thread", LIVES),
                      ("name", NAMES), ("mapping", MAPS)):
        want = most(*(common.query(db, sql) for db in alone))
        for db in both:
            wrong = common.unlike(want, most(common.query(db, sql)), 0)
            common.ok(not wrong, "two-e and two-f: each %s is one row (%d; %s)"
                      % (what, sum(want.values()), os.path.basename(db)),
                      wrong[:10])


def lines(name):
    return common.read_gz(common.HERE + "/" + name).split("\n")


class Spaces:
    """What perf says that processes had mapped, by time."""

    def __init__(self):
        self.at = collections.defaultdict(list)  # pid: (time, maps)
        self.process = {}
        for line in lines("pair.task-events.txt.gz"):
            m = TASK.search(line)
            if m:
                self.take(int(m[1]) * 10**9 + int(m[2]), m[3], m[4],
                          int(m[5]), int(m[6]), m[7])

    def take(self, t, kind, is_exec, pid, tid, rest):
        if kind == "MMAP":  # the kernel's
            return
        self.process[tid] = pid
        if kind == "FORK":
            parent = int(re.search(r"\):\((\d+):", rest)[1])
            if parent != pid:
                self.at[pid].append((t, self.now(parent, t)))
        elif kind == "COMM" and is_exec:
            self.at[pid].append((t, ()))
        elif kind == "MMAP2":
            start, size, pgoff, path = MAP.search(rest).groups()
            one = (int(start, 16), int(size, 16), int(pgoff, 16), path)
            self.at[pid].append((t, self.now(pid, t) + (one,)))

    def now(self, pid, t):
        i = bisect.bisect_right(self.at[pid], t, key=lambda x: x[0])
        return self.at[pid][i - 1][1] if i else ()

    def place(self, tid, t, addr):
        for start, size, pgoff, path in reversed(
                self.now(self.process.get(tid), t)):
            if start <= addr < start + size:
                return path, (addr if path == "//anon"
                              else addr - start + pgoff)
        return "[unknown]", 0


def expected(spaces):
    """(time, tid) of each event: places of the user stack, and of the
    kernel's."""
    user, kernel = {}, {}
    key = into = None
    for line in lines("pair.report-t.txt.gz"):
        m = EVENT.search(line)
        if m and m[4] not in ("kernel_stack", "user_stack"):
            key = (int(m[2]) * 10**9 + int(m[3]), int(m[1]))
        elif m:
            into = user if m[4] == "user_stack" else kernel
            into[key] = []
        found = re.search(r"=> 0x(\w+)$", line)
        if found and int(found[1], 16):
            user[key].append(spaces.place(key[1], key[0], int(found[1], 16)))
        found = re.search(r"^=> .*\((\w+)\)$", line)
        if found:
            kernel[key].append(("[kernel.kallsyms]",
                                int(found[1], 16) - 0xffffffff81000000))
    return user, kernel


def stacks(db, half):
    out = collections.defaultdict(list)
    for t, tid, _, path, off, _, _ in common.query(db, STACKS % half):
        out[t, tid].append((path, off))
    return out


def compare_stacks(name, want, have):
    wrong = common.unlike(want, have)
    known = sum(p != "[unknown]" for s in want.values() for p, _ in s)
    common.ok(not wrong and known > 100, "pair: %s stacks of ftrace are where"
              " perf says (%d stacks, %d addresses)" % (name, len(want), known),
              wrong[:10])


def check_pair(tmp):
    db = ingest(tmp, "pair", "pair.data", "pair.dat.zst")
    spaces = Spaces()
    user, kernel = expected(spaces)
    compare_stacks("user", {k: v for k, v in user.items() if v},
                   stacks(db, "uraw"))
    compare_stacks("kernel", kernel, stacks(db, "kraw"))
    alone = [tid for tid in spaces.process if common.one(
        db, "SELECT count(*) FROM thread t JOIN process p ON p.id = t.process"
        " WHERE tid = ? AND pid = ?", tid, spaces.process[tid]) != 1
        or common.one(db, "SELECT count(*) FROM thread WHERE tid = ?", tid) != 1]
    common.ok(not alone and len(spaces.process) == 5,
              "pair: each thread that perf tells of is one row, of its process",
              alone)
    ids = {r[6] for r in common.query(db, STACKS % "kraw")}
    common.ok(len(ids) == 1 and "" not in ids,
              "pair: the kernel is perf's, with its build-id", ids)


def main():
    with tempfile.TemporaryDirectory() as tmp:
        check_two(tmp)
        check_pair(tmp)
    common.finish()


main()
