"""merge.py - what a database holds, without its ids: to compare databases that were merged in different ways.
usage: merge.py sum ALL.db PART.db... | order ALL.db | cut WHOLE.db ALL.db; prints what differs, and ends with 1 then.

sum: ALL holds the rows of all parts added up, and once what is known by content. order: events are in time order and
ids are dense. cut: ALL, of the segments of a recording, holds what WHOLE, the recording in one piece, does."""
import collections
import sqlite3
import sys

# Rows that add up. Ids are replaced by what they stand for.
WHO = "p.pid, h.tid, c.name"
ADD = {
    "capture": """SELECT format, bytes, host, release, version, cmdline, first_ns, last_ns, records, samples, complete
        FROM capture""",
    "event_type": """SELECT t.name, t.kind, t.type, t.config, t.events, t.weight, t.fields, t.format, x.bytes
        FROM event_type t JOIN capture x ON x.id = t.capture""",
    "event": f"""SELECT x.bytes, x.records, e.time_ns, e.cpu, {WHO}, t.name, e.weight, e.raw_ns, hex(k.addrs),
        hex(u.addrs), hex(ks.hash), hex(us.hash), u.ended, u.caller
        FROM event e JOIN event_type t ON t.id = e.type JOIN capture x ON x.id = t.capture
        LEFT JOIN thread h ON h.id = e.thread LEFT JOIN process p ON p.id = h.process
        LEFT JOIN comm c ON c.id = e.comm LEFT JOIN raw_chain k ON k.id = e.kraw
        LEFT JOIN raw_chain u ON u.id = e.uraw LEFT JOIN stack ks ON ks.id = k.stack
        LEFT JOIN stack us ON us.id = u.stack""",
    "request": """SELECT e.time_ns, e.cpu, r.cookie, r.verdict, r.confidence, r.flags, r.latency_ns, r.exec_ns,
        r.ended_by, r.until_ns, r.as_perf, r.held_ns, hex(u.addrs), hex(s.hash), r.ip, l.what, l.t0, n.time_ns,
        n.cookie, q.time_ns
        FROM request r JOIN event e ON e.id = r.event LEFT JOIN raw_chain u ON u.id = r.uraw
        LEFT JOIN stack s ON s.id = u.stack LEFT JOIN loss l ON l.id = r.loss LEFT JOIN chain n ON n.id = r.chain
        LEFT JOIN chain q ON q.id = r.as_tid""",
    "chain": """SELECT x.bytes, n.time_ns, n.cpu, h.tid, n.cookie, hex(u.addrs), n.verdict, n.confidence, n.quality,
        n.flags, n.n_events, n.from_ns, l.what, l.t0 FROM chain n JOIN capture x ON x.id = n.capture
        LEFT JOIN thread h ON h.id = n.thread LEFT JOIN raw_chain u ON u.id = n.uraw
        LEFT JOIN loss l ON l.id = n.loss""",
    "chain_copy": """SELECT n.cookie, x.bytes, y.time_ns, y.cpu FROM chain_copy y JOIN chain n ON n.id = y.chain
        JOIN capture x ON x.id = y.capture""",
    "process": """SELECT x.bytes, p.pid, o.pid, p.start_ns, p.end_ns FROM process p
        LEFT JOIN capture x ON x.id = p.capture LEFT JOIN process o ON o.id = p.parent WHERE p.id > 0""",
    "thread": """SELECT p.pid, h.tid, h.start_ns, h.end_ns FROM thread h LEFT JOIN process p ON p.id = h.process""",
    "comm": """SELECT h.tid, c.time_ns, c.exec, c.name, c.label FROM comm c LEFT JOIN thread h ON h.id = c.thread""",
    "mapping": """SELECT p.pid, m.start, m."end", m.pgoff, i.path, hex(i.build_id), m.prot, m.flags, m.t0, m.t1
        FROM mapping m JOIN process p ON p.id = m.process LEFT JOIN image i ON i.id = m.image WHERE p.id > 0""",
    "loss": """SELECT x.bytes, l.what, l.counts, l.cpu, t.name, l.t0, l.t1, l.n, l.off FROM loss l
        LEFT JOIN capture x ON x.id = l.capture LEFT JOIN event_type t ON t.id = l.type""",
    "ordering": "SELECT x.bytes, what, time_ns, by_ns, cpu, n, off, detail FROM ordering JOIN capture x ON x.id = capture",
    "damage": "SELECT x.bytes, kind, what, off, len, n, detail FROM damage JOIN capture x ON x.id = capture",
    "finding": """SELECT f.rule, x.bytes, f.time_ns, f.since_ns, f.cpu, h.tid, e.time_ns, l.what, l.t0, f.n
        FROM internal_finding f JOIN capture x ON x.id = f.capture LEFT JOIN thread h ON h.id = f.thread
        LEFT JOIN event e ON e.id = f.event LEFT JOIN loss l ON l.id = f.loss""",
    "cookies": "SELECT x.bytes, layout, reason, no_chain, no_sample, missing FROM cookies JOIN capture x ON x.id = capture",
    "cookie_cpu": """SELECT x.bytes, y.cpu, first, last, seen, missing, gaps, late, elsewhere, wraps FROM cookie_cpu y
        JOIN capture x ON x.id = y.capture""",
    "cookie_gap": """SELECT x.bytes, g.cpu, g.first, g.n, g.t0, g.t1, g.verdict, l.what FROM cookie_gap g
        JOIN capture x ON x.id = g.capture LEFT JOIN loss l ON l.id = g.loss""",
    "event_raw": "SELECT e.time_ns, e.cpu, hex(r.data) FROM payload r JOIN event e ON r.id = e.payload",
    "sample_extra": """SELECT e.time_ns, e.cpu, y.name, CASE y.name WHEN 'leader' THEN o.time_ns
        ELSE quote(y.value) END FROM sample_extra y JOIN event e ON e.id = y.event
        LEFT JOIN event o ON y.name = 'leader' AND o.id = y.value""",
    "branch": 'SELECT e.time_ns, e.cpu, b.pos, b."from", b."to", b.flags FROM branch b JOIN event e ON e.id = b.event',
    "trust": "SELECT x.bytes, t.event, t.class, t.samples, t.fix FROM trust t JOIN capture x ON x.id = t.capture",
    "folded": "SELECT x.bytes, f.event, f.stack, f.weight, f.unit FROM folded f JOIN capture x ON x.id = f.capture",
    "samples": """SELECT x.bytes, s.time_ns, s.cpu, s.pid, s.tid, s.comm, s.event, s.weight, s.verdict, s.bogus, s.unit
        FROM samples s JOIN capture x ON x.id = s.capture""",
}
# What is known by its content, and stored once.
ONCE = {
    "stack_frames": """SELECT hex(s.hash), f.pos, f.symbol, f.symoff, f.image, f.off, f.vaddr, f.build_id, f.kind,
        f.flags, f.inlined, f.file, f.line FROM stack_frames f JOIN stack s ON s.id = f.stack""",
    "image": "SELECT kind, path, hex(build_id) FROM image WHERE build_id IS NOT NULL",
    # the file of an image is that of the database which knows most
    "named": "SELECT kind, path, hex(build_id), file FROM image WHERE build_id IS NOT NULL AND status = 'named'",
    "symbol": "SELECT i.path, y.start, y.size, y.name, y.raw_name, y.how FROM symbol y JOIN image i ON i.id = y.image",
    "raw_chain": "SELECT hex(r.addrs), r.ended, r.caller, hex(s.hash) FROM raw_chain r LEFT JOIN stack s ON s.id = r.stack",
    "label": """SELECT i.path, f.off, l.name FROM internal_label l JOIN frame f ON f.id = l.frame JOIN image i ON i.id = f.image""",
    "stack_check": """SELECT hex(s.hash), k.checked, k.bogus, k.first, i.path, k.gaps, k.caller FROM internal_stack_check k
        JOIN stack s ON s.id = k.stack LEFT JOIN image i ON i.id = k.image""",
    "callsite": """SELECT i.path, f.off, c.kind, c.target, c.unverified FROM internal_callsite c JOIN frame f ON f.id = c.frame
        JOIN image i ON i.id = f.image""",
    "segment": "SELECT i.path, s.off, s.vaddr, s.filesz, s.flags FROM internal_segment s JOIN image i ON i.id = s.image",
    "section": "SELECT i.path, s.file, s.name, s.hash FROM internal_image_section s JOIN image i ON i.id = s.image",
    "jit_code": "SELECT i.path, j.machine, j.addr, hex(j.bytes) FROM jit_code j JOIN image i ON i.id = j.image",
    "jit_line": "SELECT i.path, j.off, j.file, j.line FROM jit_line j JOIN image i ON i.id = j.image",
    "kernel": """SELECT m.start, m."end", m.pgoff, i.path, m.prot, m.t0, m.t1 FROM mapping m
        LEFT JOIN image i ON i.id = m.image WHERE m.process = 0""",
}
# What does not tell that a recording was cut: not the captures, and not what perf does at the end of each.
CUT = {
    "samples": f"""SELECT e.time_ns, e.cpu, {WHO}, t.name, e.weight, hex(k.addrs), hex(ks.hash), hex(u.addrs),
        hex(us.hash), w.name, f.name, r.flags & 255, r.latency_ns, r.exec_ns
        FROM event e JOIN event_type t ON t.id = e.type AND t.kind = 'sample'
        LEFT JOIN request r ON r.event = e.id LEFT JOIN thread h ON h.id = e.thread
        LEFT JOIN process p ON p.id = h.process LEFT JOIN comm c ON c.id = e.comm LEFT JOIN raw_chain k ON k.id = e.kraw
        LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw) LEFT JOIN stack ks ON ks.id = k.stack
        LEFT JOIN stack us ON us.id = u.stack LEFT JOIN word w ON w.kind = 'request' AND w.id = r.verdict
        LEFT JOIN word f ON f.kind = 'confidence' AND f.id = r.confidence""",
    "chains": """SELECT n.time_ns, n.cpu, h.tid, n.cookie, hex(u.addrs), w.name, f.name, n.n_events, n.quality
        FROM chain n LEFT JOIN thread h ON h.id = n.thread LEFT JOIN raw_chain u ON u.id = n.uraw
        LEFT JOIN word w ON w.kind = 'chain' AND w.id = n.verdict
        LEFT JOIN word f ON f.kind = 'confidence' AND f.id = n.confidence""",
    "verdicts": "SELECT * FROM verdicts",
    "losses": "SELECT what, counts, cpu, t1, n FROM loss",
    "trust": "SELECT event, class, sum(samples), fix FROM trust GROUP BY event, class",
    "folded": "SELECT event, stack, sum(weight) FROM folded GROUP BY event, stack",
    "stacks": "SELECT hex(hash), depth FROM stack WHERE hash NOT NULL",
    "checks": """SELECT hex(s.hash), k.checked, k.bogus, k.first, k.gaps, k.caller FROM internal_stack_check k
        JOIN stack s ON s.id = k.stack""",
    "findings": "SELECT rule, time_ns, cpu, n FROM internal_finding",
    "gaps": "SELECT cpu, first, n, verdict FROM cookie_gap",
    "cookies": "SELECT layout, sum(no_chain), sum(no_sample), sum(missing) FROM cookies GROUP BY layout",
}


def fields(db):
    """The ev_ tables, each with the sorted list of its columns."""
    out = {}
    for (table,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'table' AND name GLOB 'ev_*'"):
        columns = sorted(r[1] for r in db.execute(f'PRAGMA table_info("{table}")') if r[1] != "event_id")
        out[table] = columns
    return out


def rows_of_fields(db, table, columns, have):
    stacks = {k for (k,) in db.execute("SELECT key FROM meta WHERE capture = 0 AND key GLOB 'stack column*'")}
    parts = []
    for c in columns:
        if c not in have:
            parts.append("'NULL'")
        elif f"stack column {table}.{c}" in stacks:
            parts.append(f'(SELECT hex(addrs) FROM raw_chain WHERE id = v."{c}")')
        else:
            parts.append(f'quote(v."{c}")')
    return f'SELECT e.time_ns, e.cpu, {", ".join(parts or ["1"])} FROM "{table}" v JOIN event e ON e.id = v.event_id'


def count(db, sql):
    return collections.Counter(db.execute(sql).fetchall())


def report(name, want, have):
    if dict.__eq__(want, have):  # that of Counter is slower
        return 0
    missing, more = want - have, have - want
    if not missing and not more:
        return 0
    print(f"{name}: {sum(missing.values())} rows missing, {sum(more.values())} too many of {sum(want.values())}")
    for word, c in (("missing", missing), ("too many", more)):
        for row in list(c)[:3]:
            print(f"  {word}: {str(row)[:600]}")
    return 1


def compare(whole, parts):
    bad = 0
    for name, sql in ADD.items():
        want = collections.Counter()
        for p in parts:
            want += count(p, sql)
        bad += report(name, want, count(whole, sql))
    for name, sql in ONCE.items():
        want = set()
        for p in parts:
            want |= set(p.execute(sql).fetchall())
        bad += report(name, collections.Counter(want), collections.Counter(set(whole.execute(sql).fetchall())))
    have = fields(whole)
    each = [fields(p) for p in parts]
    for table in set(have).union(*each):
        columns = sorted(set(have.get(table, [])).union(*(e.get(table, []) for e in each)))
        want = collections.Counter()
        for p, e in zip(parts, each):
            if table in e:
                want += count(p, rows_of_fields(p, table, columns, e[table]))
        got = count(whole, rows_of_fields(whole, table, columns, have[table])) if table in have else want - want
        bad += report(table, want, got)
    return bad


def compare_cut(whole, merged):
    return sum(report(name, count(whole, sql), count(merged, sql)) for name, sql in CUT.items())


def order(db):
    last, bad, n = None, 0, 0
    for n, (i, t) in enumerate(db.execute("SELECT id, time_ns FROM event ORDER BY id"), 1):
        bad += i != n or (t is not None and last is not None and t < last)
        last = t if t is not None else last
    if bad:
        print(f"{bad} of {n} events are not in order")
    unsorted = db.execute("SELECT count(*) FROM stack WHERE parent >= id").fetchone()[0]
    if unsorted:
        print(f"{unsorted} stacks are before their callers")
    for table in ("process", "thread", "comm", "image", "frame", "stack", "raw_chain", "symbol", "chain", "loss"):
        top, rows = db.execute(f"SELECT coalesce(max(id), 0), count(*) FROM {table} WHERE id > 0").fetchone()
        if top != rows:
            print(f"{table}: {rows} rows, the last id is {top}")
            bad += 1
    return bad + unsorted


def main():
    what, *paths = sys.argv[1:]
    dbs = [sqlite3.connect(f"file:{p}?mode=ro", uri=True) for p in paths]
    if what == "order":
        bad = order(dbs[0])
    elif what == "cut":
        bad = compare_cut(*dbs)
    else:
        bad = compare(dbs[0], dbs[1:])
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
