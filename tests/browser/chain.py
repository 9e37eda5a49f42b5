# chain.py - the chain of the chosen wait in the HTML report.
"""Its words, times and proofs are those of 'backstitch path' for the same
thread and time; its line is over the tracks; a link and the arrow keys show
it."""

import base64
import json
import os
import shutil
import subprocess
import tempfile

from browser import (BACKSTITCH, OUT, ROOT, Browser, draw, finish, needs, ok)

needs("chain")
work = tempfile.mkdtemp()
WORD = {"run": "runs on", "ready": "is ready", "timer": "waits for a timer",
        "hardirq": "waits for an interrupt",
        "softirq": "waits for an interrupt", "disk": "waits for a disk",
        "idle": "an idle CPU",
        "blocked": "is not known", "off": "blocked or ready",
        "unborn": "is not born", "dead": "has exited",
        "unknown": "not known what"}


def word(s, edges):
    """What the page says of a segment, given the edges of its chain by id."""
    what = edges[s["edges"][-1]]["what"] if s["edges"] else None
    if s["state"] == "ready":
        held = s["limits"]
        premise = [x for x in (
            not held["known"] and "no quota held it",
            held["idle_cpu"] is not None and "it may not use a CPU that was idle")
                   if x]
        # an idle CPU, and one of which nothing is known, needs no premise
        if premise and s["on_cpu_tid"]:
            return "is ready if " + " and ".join(premise)
        return "is ready"
    if s["state"] not in ("timer", "hardirq", "softirq", "disk") or not what:
        return WORD[s["state"]]
    kind, _, name = what.partition(":")
    return {"timer": "waits for a timer", "irq": "waits for interrupt " + name,
            "softirq": "waits for softirq " + name,
            "disk": "waits for disk " + name}[kind]


def make(capture):
    """The database of a capture of the bench, and its page."""
    db = os.path.join(work, os.path.basename(capture).split(".")[0] + ".db")
    draw("ingest", "-q", "-f", "--fields", "all", "-o", db, capture)
    draw("report", "--html", "--no-source", "-o", db + ".html", db)
    return db


def asked(*args):
    return json.loads(subprocess.run([BACKSTITCH, *args], check=True,
                                     stdout=subprocess.PIPE).stdout)


def waits(db):
    """Of report --off-cpu, ordered as in the page: by their end."""
    got = asked("report", "--off-cpu", "--json", "--limit", "0", db)
    return sorted(got["longest"], key=lambda w: (w["to_ns"], w["event_id"]))


def path(db, w):
    time = ",".join("%d.%09d" % divmod(t, 10**9)
                    for t in (w["from_ns"], w["to_ns"]))
    return asked("path", "--json", "--tid", str(w["tid"]), "--time", time, db)


def go(b, k):
    b.js("location.hash = arguments[0]", "#wait=%d" % k)
    b.settle("return new Promise(r => setTimeout(() => r(1), 60))")


def rows(b):
    """(at us, for us, why, proof) as shown."""
    return b.js("""return [...document.querySelectorAll("#chain tr")].slice(1)
        .map(tr => [...tr.cells].map(c => c.textContent));""")


def ink(b):
    """A number that changes with the tracks' picture."""
    return b.js("return document.querySelector('#lanes').toDataURL()")


def check_words(b, name, db):
    bad, seen, total, said = [], set(), 0, set()
    asleep = [(k, w) for k, w in enumerate(waits(db))
              if w["state"][0] != "R" and w["proof"]]
    few = 20 if os.environ.get("LONG") else 7
    unsure = [x for x in asleep[few:-few] if x[1]["proof"] == "consistent"]
    for k, w in asleep[:few] + asleep[-few:] + unsure[:2]:
        total += 1
        go(b, k)
        chain, got = path(db, w), rows(b)
        want, edges = chain["segments"], {e["id"]: e for e in chain["edges"]}
        seen |= {s["proof"] for s in want} | {word(s, edges) for s in want}
        if len(got) != len(want):
            bad.append((k, len(got), len(want)))
            continue
        for row, s in zip(got, want):
            if abs(float(row[0]) * 1000 - s["from_ns"] + w["from_ns"]) > 51 or \
                    abs(float(row[1]) * 1000 - s["to_ns"] + s["from_ns"]) > 51 or \
                    row[3] != s["proof"].replace("consistent", "likely") or \
                    word(s, edges) not in row[2] or \
                    " %d" % s["tid"] not in row[2]:
                bad.append((k, row, s["tid"], s["state"], s["proof"]))
            said.add(word(s, edges))
    if name == "disk-irqs":
        ok(any(w.startswith("waits for disk ") for w in said),
           "disks_have_names", said)
    if name == "sock":
        ok({"waits for a timer", "waits for softirq RCU"} <= said,
           "interrupts_have_names", said)
    ok(total > 10 and not bad, name + "_has_the_chains_of_path", total,
       *bad[:5])
    return seen


def check_shown(b, db):
    """What a choice changes, and that a link brings it back."""
    k, w = max(enumerate(waits(db)), key=lambda x: (
        x[1]["comm"] == "waiter", len(path(db, x[1])["segments"])))
    b.open(db + ".html")
    bare = ink(b)
    go(b, k)
    with_chain, said = ink(b), b.text("#chain")
    ok(bare != with_chain and "Why it took so long: " in said and
       "% proved" in said, "a_chain_is_drawn_over_the_tracks", said[:200])
    bars = b.js("""return [...document.querySelectorAll("#chain .bars button")]
        .map(x => [x.textContent, parseFloat(x.style.width), x.style.top]);""")
    leaves = [x for x in bars if x[0] in WORD]
    ok(bars[0][1] == 100 and abs(sum(x[1] for x in leaves) - 100) < 0.01 and
       any(x[0].startswith("woken by ") for x in bars),
       "the_flame_graph_adds_up_to_the_wait", bars)
    b.reload()
    ok(b.text("#chain") == said and ink(b) == with_chain,
       "a_link_restores_it", b.js("return location.hash"))
    b.js("document.querySelector('#wait button').click()")
    b.settle("return document.querySelector('#wait').hidden")
    ok(ink(b) == bare, "and_closing_it_takes_it_away")
    b.js("document.querySelector('#lanes').focus()")
    for _ in range(30):
        b.keys("Down", "Right")
        if b.js("return document.querySelector('#chain') && "
                "!document.querySelector('#wait').hidden"):
            break
    ok(rows(b), "keys_show_a_chain_too")
    _, said = b.logs()
    ok(not said, "without_a_word_on_the_console", *said[:3])


def picture(db, name, k, wide, high):
    with Browser(wide, high, "light") as b:
        b.open(db + ".html", "#wait=%d" % k)
        b.settle("return document.querySelector('#chain')")
        b.js("document.querySelector('#strip').scrollIntoView()")
        with open(os.path.join(OUT, name), "wb") as f:
            f.write(base64.b64decode(b.call("GET", "/screenshot")))
        ok(b.js("""const x = document.querySelector("#wait");
            return x.scrollWidth <= x.clientWidth &&
                x.getBoundingClientRect().right <= innerWidth;"""),
           "a_chain_fits_into_%d_px" % wide)
        broken = b.js("""return [...document.querySelectorAll(
            "#chain td:nth-child(3), #chain td:nth-child(4)")].flatMap(td => {
                const text = td.firstChild, at = document.createRange();
                return [...text.data.matchAll(/\\S+/g)].filter(m => {
                    at.setStart(text, m.index);
                    at.setEnd(text, m.index + m[0].length);
                    return at.getClientRects().length > 1;
                }).map(m => m[0]);
            });""")
        ok(not broken, "no_word_of_it_is_broken_at_%d_px" % wide, broken)


dbs = {os.path.basename(n).split(".")[0]: make(os.path.join(ROOT, "tests", n))
       for n in ("causality/captures/lock.data.zst",
                 "causality/captures/chain.data.zst",
                 "causality/captures/sock.data.zst",
                 "captures/disk-irqs.data.zst",
                 "captures/ftrace-v7.dat",
                 "captures/ftrace-missed.dat.zst")}
levels = set()
with Browser(1200, 900) as browser:
    for n, path_of in dbs.items():
        browser.open(path_of + ".html")
        levels |= check_words(browser, n, path_of)
    ok({"proved", "consistent", "unknown"} <= levels, "all_kinds_of_proof_were_seen",
       levels)
    ok("is ready if no quota held it" in levels, "a_premise_was_seen", levels)
    browser.logs()
    check_shown(browser, dbs["lock"])
K = max(enumerate(waits(dbs["lock"])), key=lambda x: (
    x[1]["comm"] == "waiter", len(path(dbs["lock"], x[1])["segments"])))[0]
picture(dbs["lock"], "chain-1600.png", K, 1600, 1000)
picture(dbs["lock"], "chain-400.png", K, 400, 900)
shutil.rmtree(work)
finish()
