# heat.py - heat maps of the HTML report: lengths of intervals and waits, samples
# within each second.
"""What a range of the map opens is compared with system calls that this script
pairs itself, and with the samples of the database."""

import collections
import json
import os
import shutil
import subprocess
import tempfile

from browser import (BACKSTITCH, OUT, Browser, box, choose, chosen, draw,
                     finish, make, needs, ok, shown, zero)

CELL, TALL, LOW, PARTS = 6, 9, 3, 50   # as in page_heat.js

needs("heat")
work = tempfile.mkdtemp()
Call = collections.namedtuple("Call", "begin ns tid")


def events(db):
    run = subprocess.run([BACKSTITCH, "script", "--json", db], check=True,
                         stdout=subprocess.PIPE)
    return [json.loads(line) for line in run.stdout.splitlines()]


def calls(db):
    """The calls of which begin and end are there, and how many have no begin. An
    exit of rt_sigreturn has no number, and the child of a clone has an exit."""
    begun, out, orphans = {}, [], 0
    for e in events(db):
        number_of = e["trace"].split()[1].replace("-1", "15")
        if e["event"].endswith("sys_enter"):
            begun[e["tid"]] = e["time_ns"], number_of
        elif begun.get(e["tid"], (0, ""))[1] == number_of:
            at = begun.pop(e["tid"])[0]
            out.append(Call(at, e["time_ns"] - at, e["tid"]))
        else:
            orphans += number_of not in ("56", "435", "58")
    return out, orphans


def row(ns):
    return max(ns.bit_length() - 1, 0)


def listed(b):
    return b.js("return [...document.querySelectorAll('#longest tr')].slice(1)"
                ".map(r => [...r.cells].map(c => c.textContent))")


def in_ns(text):
    """1250.0 of '1.250 us'."""
    value, unit = text.split()[-2:]
    return float(value) * {"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[unit]


def see(b, css):
    b.js("document.querySelector(arguments[0]).scrollIntoView("
         "{block: 'center'})", css)


def check_lengths(b, db):
    mine, orphans = calls(db)
    low = min(row(c.ns) for c in mine)
    ok(b.js("return document.querySelector('#heat').hidden"),
       "no_heat_map_is_there_unasked")
    choose(b, "#event", "syscall latency")
    ok(shown(b) == (len(mine), sum(c.ns for c in mine)) and orphans == 1 and
       "(%d)" % (len(mine) + orphans) in b.text("#event"),
       "each_proved_call_weighs_as_much_as_it_took", shown(b), len(mine),
       orphans)
    see(b, "#heat")
    x, y, w, h = box(b, "#heat")
    ok(h == TALL * (max(row(c.ns) for c in mine) - low + 2),
       "a_power_of_two_has_a_row_and_the_unknown_one", h, low)
    # a box in the map: from the middle to the right, four rows
    rows = row(512), row(512) + 3

    def px(r):
        return y + h - TALL * (r - low + 1) - TALL / 2
    b.point(x + w * 0.5, px(rows[1]), button=0, to=(x + w * 0.9, px(rows[0])))
    lo, hi = chosen(b)
    want = [c for c in mine if lo <= c.begin < hi and
            rows[0] <= row(c.ns) <= rows[1]]
    some = [c for c in mine if lo <= c.begin < hi]
    ok(shown(b) == (len(want), sum(c.ns for c in want)) and
       20 < len(want) < len(some) < len(mine),
       "a_box_opens_the_stacks_of_its_calls_only", shown(b), len(want), lo, hi)
    ok("512 ns to 8.192 us" in b.text("#chips"), "and_says_which",
       b.text("#chips"))
    got = listed(b)
    longest = sorted((c.ns for c in want), reverse=True)[:len(got)]
    ok(len(got) == min(50, len(want)) and
       all(abs(in_ns(r[0]) - ns) <= 0.51 for r, ns in zip(got, longest)) and
       b.text("#longest p").startswith("%d in the chosen" % len(want)),
       "and_lists_them_the_longest_first", got[:3], longest[:3])
    said = b.text("#details")
    b.reload()
    ok(b.text("#details") == said and len(listed(b)) == len(got),
       "its_address_is_found_again", b.js("return location.hash"))
    b.js("document.querySelector('#longest button').click()")
    top = listed(b)[0]
    ok(shown(b)[0] >= 1 and all(r[3] == top[3] for r in listed(b)),
       "a_begin_chooses_its_time_and_thread", listed(b)[:3])
    b.keys("0")
    return x


def check_unknown(b):
    """The call that began before the recording is in the map, and hatched."""
    choose(b, "#event", "syscall latency")
    see(b, "#heat")
    x, y, _, h = box(b, "#heat")
    ink = """const c = document.querySelector("#heat");
        const p = devicePixelRatio, d = c.getContext("2d").getImageData(
            0, c.height - 9 * p, 6 * p, 9 * p).data;
        const seen = new Set();
        for (let i = 0; i < d.length; i += 4)
            seen.add([d[i], d[i + 1], d[i + 2]].join());
        return [...seen];"""
    b.point(x + 2, y + h - TALL / 2)
    ok("1 interval, 1 of which" in b.text("#tip") and
       "not known" in b.text("#tip"), "it_is_where_its_end_is", b.text("#tip"))
    seen = b.js(ink)
    ok("211,69,91" in seen, "its_cell_is_hatched", seen)
    b.point(x + 2, y + h - TALL / 2, button=0)
    got = listed(b)
    ok(shown(b) == (0, 0) and len(got) == 1 and
       got[0][0] == "not known" and got[0][2] == "execve, began before",
       "alone_it_has_no_weight_and_is_listed_with_why", shown(b), got)
    b.keys("0")


def check_samples(b, db):
    """A column is a step of time, and a row a part of it; 71 ms have 1 ms each."""
    choose(b, "#event", "raw_syscalls:sys_enter")
    b.keys("h")
    ok(b.js("return document.querySelector('#heat').hidden"), "h_hides_it")
    b.keys("h")
    times = [e["time_ns"] for e in events(db)
             if e["event"] == "raw_syscalls:sys_enter"]
    see(b, "#heat")
    x, y, w, h = box(b, "#heat")
    step = 10**6
    columns = (max(e["time_ns"] for e in events(db)) - zero(b)) // step + 1
    ok(h == LOW * PARTS and not b.js(
        "return document.querySelector('#heat').hidden"),
       "h_shows_samples_within_each_step", h)
    cell = collections.Counter((t - zero(b)) // (step // PARTS) for t in times)
    at, n = cell.most_common(1)[0]

    def px(i):
        return (x + w * (i // PARTS + 0.5) / columns,
                y + h - LOW * (i % PARTS) - LOW / 2)
    b.point(*px(at))
    ok("%d samples" % n in b.text("#tip"), "the_tip_counts_a_cell",
       b.text("#tip"), n)
    b.point(*px(at), button=0)
    lo, hi = chosen(b)
    ok(shown(b)[0] == n and lo == zero(b) + at * (step // PARTS),
       "a_click_is_its_time", shown(b), n, lo - zero(b), hi - zero(b))
    later = at + PARTS + 7
    b.point(*px(at), button=0, to=px(later))
    want = [t for t in times
            if at <= (t - zero(b)) // (step // PARTS) <= later]
    ok(shown(b)[0] == len(want) > n, "a_drag_is_the_time_from_cell_to_cell",
       shown(b), len(want))
    b.keys("0")


def check_waits(b, db):
    """Waits have lengths, too."""
    choose(b, "#event", "off-CPU")
    if b.js("return document.querySelector('#heat').hidden"):
        b.keys("h")
    see(b, "#heat")
    x, y, w, h = box(b, "#heat")
    n, _ = shown(b)
    b.point(x + 1, y + TALL / 2, button=0, to=(x + w - 1, y + TALL / 2))
    k, ns = shown(b)
    chip = b.text("#chips")
    low, high = [in_ns(t) for t in chip.split(" \u00d7")[0].split(" to ")]
    took = [in_ns(r[0]) for r in listed(b)]
    ok(0 < k < n and took and len(took) == min(k, 50) and
       not any(r[2] for r in listed(b)) and
       all(low <= t < high for t in took) and abs(sum(took) - ns) <= 1e3 * k,
       "a_row_of_waits_is_those_of_its_length", k, n, chip, took[:4])
    b.keys("0")


def check_looks(path, event):
    for width in 1400, 400:
        for look in "light", "dark":
            with Browser(width, 900, look) as b:
                b.open(path, "#event=" + event)
                b.fits("heat_fits_%d_%s" % (width, look))
                b.shot(os.path.join(OUT, "heat-%d-%s.png" % (width, look)))
                b.quiet(path, "heat_%d_%s" % (width, look))


db = make(work, "calls.data.zst")
page = work + "/calls.html"
draw("report", "--html", "-o", page, db)
with Browser(1400, 900) as browser:
    browser.open(page)
    check_lengths(browser, db)
    check_unknown(browser)
    check_samples(browser, db)
    browser.quiet(page, "heat")
check_looks(page, "syscall%20latency")
db = make(work, "disk-irqs.data.zst")
page = work + "/waits.html"
draw("report", "--html", "-o", page, db)
with Browser(1400, 900) as browser:
    browser.open(page)
    check_waits(browser, db)
    browser.quiet(page, "heat_of_waits")
shutil.rmtree(work)
finish()
