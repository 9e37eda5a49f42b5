# nonce.py - processes that unwound themselves: each stack they logged, and each they left out.
"""Reads the lines 'ureq' and 'ustack' from texts of the marker captures, and
says by itself which request has which stack. Ours must say the same of every
one: of a trace.dat, where the text is trace-cmd's report, and of a text of
tracefs. The program left out the stack of some requests on purpose: these must
be unexplained, unless the ring was overwritten in between or the capture ended
before the thread asked again."""

import os
import re

import common

LINE = re.compile(r"-(\d+) +\[(\d+)\].*? (\d+\.\d+): .*"
                  r"\b(ureq|ustack) nonce=(\d+) tid=(\d+)(?: ips=(\S+))?")
STARTED = re.compile(r"##### CPU (\d+) buffer started")

CAPTURES = (
    ("ftrace/marker/trace.dat", "ftrace/marker/report.txt"),
    ("ftrace/marker-ustk/trace.dat", "ftrace/marker-ustk/report.txt"),
    ("ftrace-raw/marker-only.txt", "ftrace-raw/marker-only.txt"),
    ("ftrace-raw/marker-kstack.txt", "ftrace-raw/marker-kstack.txt"),
)


def expected(lines):
    """Requests: (nonce, tid) -> [verdict, addresses]; lone stacks too."""
    asked, lone, order = {}, set(), {}
    overwritten = any(l.startswith("# entries-in-buffer") and
                      len(set(re.findall(r"\d+", l.split("#P")[0]))) > 1
                      for l in lines)
    first = {}  # of each CPU: when its ring begins
    for line in lines:
        m = re.search(r"\[(\d{3})\].*? (\d+\.\d+): ", line)
        if m:
            first.setdefault(int(m[1]), float(m[2]))
        m = LINE.search(line)
        if not m:
            continue
        assert m[1] == m[6], line
        key, time = (int(m[5]), int(m[6])), float(m[3])
        if m[4] == "ureq":
            asked[key] = [None, None, time]
            order.setdefault(key[1], []).append(key)
            continue
        ips = tuple(int(x, 16) for x in (m[7] or "").split(",") if x)
        if key in asked:
            asked[key][:2] = ["matched", ips]
        else:
            lone.add(key)
    for keys in order.values():
        for key, after in zip(keys, keys[1:] + [None]):
            if asked[key][0]:
                continue
            until = asked[after][2] if after else None
            begun = [t for t in first.values()
                     if overwritten and asked[key][2] < t and
                     (until is None or t > asked[key][2])]
            asked[key][0] = ("pending_end" if not after else
                             "chain_lost" if begun else "unexplained")
    return {k: tuple(v[:2]) for k, v in asked.items()}, lone


def compare(capture, text):
    want, lone = expected(common.read_gz(common.place(text)).split("\n"))
    db = os.path.join(common.CACHE, "nonce.db")
    common.must("ingest", "-q", "-f", "--no-symbols", "-o", db,
                common.place(capture))
    got = {(nonce, tid): (word, tuple(common.addresses(a)) if chain else None)
           for nonce, tid, word, chain, a in common.query(
               db, "SELECT r.cookie, t.tid, w.name, r.chain, a.addrs "
               "FROM request r JOIN event e ON e.id = r.event "
               "JOIN thread t ON t.id = e.thread "
               "JOIN word w ON w.kind = 'request' AND w.id = r.verdict "
               "LEFT JOIN chain c ON c.id = r.chain "
               "LEFT JOIN raw_chain a ON a.id = c.uraw")}
    bad = common.unlike(want, got)
    matched = sum(v[0] == "matched" for v in want.values())
    common.ok(want and not bad,
              f"{capture}: {len(want)} requests, {matched} with their stack",
              bad[:10])
    alone = set(common.query(
        db, "SELECT c.cookie, t.tid FROM chain c "
        "JOIN thread t ON t.id = c.thread WHERE c.n_events = 0"))
    common.ok(alone == lone, f"{capture}: {len(lone)} stacks nobody asked for",
              [f"{alone} {lone}"])
    left = sum(v[0] == "unexplained" for v in want.values())
    said = common.one(db, "SELECT count(*) FROM causality_errors WHERE "
                      "kind = 'request' AND what = 'unexplained'")
    common.ok(said == left, f"{capture}: the audit finds the {left} that "
              "were left out on purpose")


def main():
    for capture, text in CAPTURES:
        compare(capture, text)
    common.finish()


main()
