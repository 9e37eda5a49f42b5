# diff.py - a differential flame graph in a browser.
"""What is red is what the table calls significant, and it can be walked like
any other picture."""

import json
import os
import shutil
import subprocess
import tempfile

from browser import (BACKSTITCH, Browser, centre, draw, finish, frame, make,
                     needs, number, ok, pictured, rect)

needs("diff")
work = tempfile.mkdtemp()
before, after = make(work, "before.data"), make(work, "after.data")
svg = os.path.join(work, "diff.svg")
draw("flame", "--diff", "-o", svg, before, after)
table = json.loads(subprocess.run(
    [BACKSTITCH, "report", "--diff", "--json", before, after],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)["rows"]


def colored(b, letter):
    """Names of the frames whose class is of that colour."""
    return b.js("""
        return [...document.querySelectorAll("#frames > g")]
            .filter(g => [...g.classList].some(c =>
                new RegExp("^d" + arguments[0] + "[0-9]$").test(c)))
            .map(g => g.querySelector("title").textContent.split("\\n")[0]);
        """, letter)


def check(b):
    b.open(svg)
    more = sorted(r["symbol"] for r in table if r["self_significant"] == "more")
    less = sorted(r["symbol"] for r in table if r["self_significant"] == "less")
    ok(len(more) == 1 and colored(b, "r") == more,
       "red_is_what_the_table_calls_more", colored(b, "r"), more)
    ok(colored(b, "b") == less, "blue_is_what_it_calls_less",
       colored(b, "b"), less)

    row = next(r for r in table if r["symbol"] == more[0])
    at = frame(b, more[0])
    whole, there = rect(b, 0), rect(b, at)
    ok(abs(100 * there[2] / whole[2] - row["total_b_percent"]) < 0.05,
       "it_is_as_wide_as_its_share_of_the_second", there, whole)
    said = b.js("return document.querySelectorAll('#frames > g')"
                "[arguments[0]].querySelector('title').textContent", at)
    ok("%.2f" % row["self_a_percent"] in said and
       "%.2f" % row["self_b_percent"] in said,
       "beside_it_stand_both_shares", said)

    found = b.find("^%s$" % more[0])
    ok(found.startswith("matched") and
       abs(number(found) - row["total_b_percent"]) < 0.011,
       "search_says_its_share", found)
    b.keys("Escape")
    b.point(*centre(b, at), button=0)
    ok(abs(rect(b, at)[2] - whole[2]) < 0.01, "a_click_zooms")
    b.keys("Backspace")
    ok(abs(rect(b, at)[2] - there[2]) < 0.01, "and_undo_goes_back")
    b.quiet(svg, "the_picture")


def check_shot():
    """60 rows with the frames that changed at the root, and a list below."""
    deep = ";".join("f%d" % i for i in range(80))
    for name, n, hot in ("a", 300, 100), ("b", 300, 400):
        with open(os.path.join(work, name), "w", encoding="ascii") as f:
            print("c;m;hot %d\nc;m;%s %d" % (hot, deep, n), file=f)
    tall = os.path.join(work, "tall.svg")
    draw("flame", "--diff", "--from-folded", "-o", tall,
         os.path.join(work, "a"), os.path.join(work, "b"))
    for width in 1600, 400:
        red = pictured(tall, width).get(bytes((0xe2, 0x30, 0x28)), 0)
        ok(red > width * 2, "a_screenshot_has_what_changed_%d" % width, red)


def check_narrow():
    """Where the window is narrow, lines break: none is made smaller, none is over
    another one or over the frames."""
    for width in 1000, 400:
        with Browser(width, 900, "light") as b:
            b.open(svg)
            boxes = b.js("""
                const last = [...document.querySelectorAll("#legend text")].pop();
                return ["#title", "#subtitle", "#flip rect", "#details", "#legend",
                        "#frames", "#notes"].map(css => {
                    const e = document.querySelector(css);
                    const r = e.getBoundingClientRect();
                    const m = (css === "#legend" ? last : e).getScreenCTM();
                    return [css, r.left, r.top, r.right, r.bottom,
                            parseFloat(getComputedStyle(e).fontSize) * m.a];
                });""")
            ok(all(top >= last[4] - 1 for last, (_, _, top, *_) in
                   zip(boxes, boxes[1:])), "no_line_is_over_another_%d" % width,
               *boxes)
            ok(all(left >= 0 and right <= width + 1 and font > 8 for
                   _, left, _, right, _, font in boxes),
               "and_each_can_be_read_%d" % width, *boxes)
            b.quiet(svg, "narrow_%d" % width)


with Browser() as browser:
    check(browser)
check_narrow()
check_shot()
shutil.rmtree(work)
finish()
