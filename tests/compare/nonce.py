# nonce.py - processes that unwound themselves: each stack they logged, and each they left out.
"""Reads the lines 'ureq' and 'ustack' from texts of the marker captures, and
says by itself which request has which stack. Ours must say the same of every
one: of a trace.dat, where the text is trace-cmd's report, and of a text of
tracefs. The program left out the stack of some requests on purpose: these must
be unexplained, unless the ring was overwritten in between or the capture ended
before the thread asked again."""

import gzip
import os
import re
import sqlite3
import subprocess

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


def lines_of(path):
    opener = gzip.open if path.endswith(".gz") else open
    with opener(path, "rt", errors="replace") as f:
        return list(f)


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


def ours(path):
    os.makedirs(common.CACHE, exist_ok=True)
    out = os.path.join(common.CACHE, "nonce.db")
    subprocess.run([common.BACKSTITCH, "ingest", "-q", "-f", "--no-symbols",
                    "-o", out, path], check=True, stderr=subprocess.DEVNULL)
    db = sqlite3.connect(out)
    chains = {i: a for i, a in db.execute(
        "SELECT c.id, r.addrs FROM chain c LEFT JOIN raw_chain r "
        "ON r.id = c.uraw")}
    return db, chains


def addresses(blob):
    """The delta code of raw_chain: zigzag numbers of 7 bits each."""
    out, at, last = [], 0, 0
    while at < len(blob or b""):
        v = shift = 0
        while True:
            b = blob[at]
            at += 1
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                break
        last = (last + ((v >> 1) ^ -(v & 1))) & (2**64 - 1)
        out.append(last)
    return tuple(out)


def compare(capture, text):
    want, lone = expected(lines_of(common.place(text)))
    db, chains = ours(common.place(capture))
    got = {}
    for nonce, tid, word, chain in db.execute(
            "SELECT r.cookie, t.tid, w.name, r.chain FROM request r "
            "JOIN event e ON e.id = r.event JOIN thread t ON t.id = e.thread "
            "JOIN word w ON w.kind = 'request' AND w.id = r.verdict"):
        got[nonce, tid] = (word, addresses(chains[chain]) if chain else None)
    bad = [f"{k}: {got.get(k)}, needs {want.get(k)}"
           for k in sorted(want.keys() | got.keys())
           if got.get(k) != want.get(k)]
    matched = sum(v[0] == "matched" for v in want.values())
    common.ok(want and not bad,
              f"{capture}: {len(want)} requests, {matched} with their stack",
              bad[:10])
    alone = {(n, t) for n, t in db.execute(
        "SELECT c.cookie, t.tid FROM chain c JOIN thread t ON t.id = c.thread "
        "WHERE c.n_events = 0")}
    common.ok(alone == lone, f"{capture}: {len(lone)} stacks nobody asked for",
              [f"{alone} {lone}"])
    left = sum(v[0] == "unexplained" for v in want.values())
    said = db.execute("SELECT count(*) FROM causality_errors WHERE "
                      "kind = 'request' AND what = 'unexplained'").fetchone()
    common.ok(said == (left,), f"{capture}: the audit finds the {left} that "
              "were left out on purpose")


def main():
    for capture, text in CAPTURES:
        compare(capture, text)
    common.finish()


main()
