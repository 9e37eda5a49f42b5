# sides.py - two recordings one above the other, in the HTML page of a comparison.
"""What the time of a program went to, and how long pairs of events took. The text
that is recorded here says how long each wait was; its names would like to be
elements."""

import json
import os
import random
import re
import shutil
import statistics
import subprocess
import tempfile

from browser import BACKSTITCH, OUT, Browser, draw, finish, needs, ok

needs("sides")
work = tempfile.mkdtemp()
EVIL = "<img src=x>"    # a name of 15 characters at most
W, H = ("w", 11), (EVIL, 12)


def record(path, seed, us, rounds=300):
    """A program that computes 200 us, and waits US on average for a lock that another thread, which is
    named to be an element, computes under. Returns (the ns of each wait until it runs again, of all)."""
    r = random.Random(seed)
    out, waits, t = [], [], 100.0
    idle = [("swapper/%d" % i, 0) for i in range(2)]

    def line(task, cpu, text):
        out.append("%20s [%03d] d..2. %.6f: %s\n" % ("%s-%d" % (task if task[1] else ("<idle>", 0)), cpu, t, text))

    def switch(cpu, a, state, b):
        line(a, cpu, "sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "
             "next_comm=%s next_pid=%d next_prio=120" % (a + (state,) + b))

    def wake(cpu, a, b, to):
        for event in "waking", "wakeup":
            line(a, cpu, "sched_%s: comm=%s pid=%d prio=120 target_cpu=%03d" % ((event,) + b + (to,)))

    switch(1, H, "S", idle[1])
    switch(0, idle[0], "R", ("trace-cmd", 11))
    t += 1e-5
    line(W, 0, "sched_process_exec: filename=/bin/w pid=11 old_pid=11")
    begin = t
    for _ in range(rounds):
        t += 2e-4
        wake(0, W, H, 1)
        t += 2e-6
        switch(1, idle[1], "R", H)
        t += 5e-5
        switch(0, W, "S", idle[0])
        out.append("%20s [000] d..2. %.6f: <stack trace>\n => __schedule\n => schedule\n => mutex_lock\n => take_pipe\n" % ("w-11", t))
        slept = round(t, 6)
        t += round(us * 1e-6 * r.lognormvariate(0, .4), 6)
        wake(1, H, W, 0)
        t += 4e-6
        switch(0, idle[0], "R", W)
        waits.append(round((round(t, 6) - slept) * 1e9))
        t += 5e-6
        switch(1, H, "S", idle[1])
    t += 1e-5
    line(W, 0, "sched_process_exit: comm=w pid=11 prio=120")
    took = t - begin
    t += 1e-5
    switch(1, idle[1], "R", H)
    with open(path, "w", encoding="ascii") as f:
        f.write("# tracer: nop\n#\n# entries-in-buffer/entries-written: 9/9   #P:2\n#\n" + "".join(out))
    return waits, took


paths = [work + "/a.txt", work + "/b.txt"]
waits, took = zip(record(paths[0], 1, 100), record(paths[1], 2, 900))
page = work + "/sides.html"
draw("page", "--diff", "-o", page, *paths)
rows = json.loads(subprocess.run([BACKSTITCH, "diff", "--wall", "--json"] + paths, stdout=subprocess.PIPE,
                                 stderr=subprocess.DEVNULL, check=True).stdout)
NS = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}


def ns(text):
    value, unit = text.split(" ")
    return float(value) * NS[unit]


def near(a, b):
    return abs(a - b) <= 0.006 * max(a, b)


def check_lengths(b):
    """Of waits, how many there are, p50, p99 and the longest are those that were written."""
    said = b.js("return [...document.querySelectorAll('#changes .halves > div')].map(d => d.innerText)"
                ".find(s => s.startsWith('off-cpu'))")
    for side, name in enumerate("AB"):
        lengths = sorted(waits[side])
        found = re.search(name + r": (\d+).*?; p50 ([\d.]+ \w+), p99 ([\d.]+ \w+), longest ([\d.]+ \w+)", said)
        want = [lengths[round(len(lengths) * share) - 1] for share in (0.5, 0.99, 1)]
        ok(found and int(found[1]) == len(lengths) and all(near(ns(found[i + 2]), w) for i, w in enumerate(want)),
           "lengths_of_%s_are_those_that_were_recorded" % name, said, want)
    ok(statistics.mean(waits[1]) > 5 * statistics.mean(waits[0]) and
       not b.js("return document.querySelectorAll('img').length"), "no_name_is_an_element")


def covered(b, x):
    """Whether a place of the canvas of times has a colour, by the top of each lane."""
    return b.js("""
        const c = document.querySelector("#side_times"), p = c.getContext("2d");
        const ratio = c.width / c.getBoundingClientRect().width;
        return [...p.getImageData(arguments[0] * ratio, arguments[1] * ratio, 1, 1).data].slice(0, 3);""", *x)


def check_times(b):
    """Both begin at the same place, and a pixel is as long in both: A ends where its part of B's time does."""
    left, width, lanes = b.js("""
        const c = document.querySelector("#side_times"), w = c.getBoundingClientRect().width;
        const block = JSON.parse(document.querySelector("#sides").textContent);
        return [112, w, block.lanes];""")
    ok(sorted(lanes) == sorted(["itself", EVIL]), "threads_are_those_of_the_rows", lanes)
    at = lanes.index("itself")
    top = [18 + side * (len(lanes) * 18 + 20) + at * 18 + 1 for side in (0, 1)]
    end = left + (width - left) * took[0] / took[1]
    empty, lane = covered(b, (end + 8, top[0])), covered(b, (end - 8, top[0]))
    ok(empty != lane and covered(b, (end + 8, top[1])) == lane and covered(b, (width - 8, top[1])) == lane,
       "a_pixel_is_as_long_in_both", empty, lane)
    box = b.js("const r = document.querySelector('#side_times').getBoundingClientRect(); return [r.x, r.y]")
    b.point(box[0] + left + 20, box[1] + top[1] + 8)
    tip = b.js("const t = document.querySelector('#tip'); return t.hidden ? '' : t.innerText")
    ok(tip.startswith("B, itself: ") and "computing " in tip, "a_tip_says_what_a_moment_went_to", tip)
    sums = b.js("""
        const d = JSON.parse(document.querySelector("#sides").textContent), sum = {};
        d.bars.forEach(([side, lane, state, proved, ...cells]) => {
            const key = side + d.states[state] + d.lanes[lane];
            for (let i = 1; i < cells.length; i += 2)
                sum[key] = (sum[key] || 0) + cells[i] / 1000 * d.column;
        });
        return sum;""")
    for row in rows["rows"]:
        who = row["name"]
        for side, name in enumerate("ab"):
            want = row[name + "_time_ns_per_s"]
            got = sums.get("%d%s%s" % (side, row["kind"], who), 0)
            ok(abs(got - want) < 0.01 * took[side] * 1e9, "times_of_%s_are_those_of_diff_wall" % name, row, got)


with Browser(1200, 1000, "light") as browser:
    browser.open(page)
    ok(browser.text("#changes .answer") == rows["says"], "the_answer_is_that_of_diff_wall", browser.text("#changes .answer"))
    check_lengths(browser)
    browser.quiet(page, "the_page")
    check_times(browser)
for size, look in (1200, "dark"), (600, "light"), (400, "light"):
    with Browser(size, 1000, look) as browser:
        browser.open(page)
        browser.fits("nothing_is_wider_than_%d" % size)
        browser.shot(os.path.join(OUT, "sides-%d.png" % size))
shutil.rmtree(work)
finish()
