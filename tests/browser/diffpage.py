# diffpage.py - what changed between two recordings, in the HTML report.
"""Its judgement and its numbers are those of diff and flame --diff."""

import html
import json
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile

from browser import (BACKSTITCH, CAPTURES, OUT, Browser, ask, draw, finish, make, needs,
                     number, ok)

needs("diffpage")
work = tempfile.mkdtemp()
before, after = make(work, "before.data"), make(work, "after.data")
page = work + "/diff.html"
draw("report", "--html", "--diff", "-o", page, before, after)
draw("flame", "--diff", "-o", work + "/diff.svg", before, after)
with open(work + "/diff.svg") as f:
    svg = f.read()
table = json.loads(subprocess.run(
    [BACKSTITCH, "report", "--diff", "--json", before, after],
    stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)["rows"]


def rows(b):
    """(function, image, A, B, if same, change, p, mark) of each row of the table."""
    return b.js("return [...document.querySelectorAll('#changed tbody tr')]"
                ".map(r => [...r.cells].map(c => c.textContent))")


def check_table(b):
    want = [[r["symbol"], r["image"], "%.2f %%" % r["self_a_percent"],
             "%.2f %%" % r["self_b_percent"],
             "%.2f %%" % r["self_b_expected"],
             "+%.2f points" % r["self_change"], "%.1e" % r["self_p"]]
            for r in table if r["self_significant"] in ("more", "less")]
    ok(len(want) == 1 and [r[:6] + ["%.1e" % float(r[6])] for r in rows(b)]
       == want,
       "what_is_significant_is_what_report_says", rows(b), want)
    said = b.text("#diff_says")
    ok(said.split(";")[0] in svg, "and_what_flame_says", said)
    row = rows(b)[0]
    in_svg = re.search(r"<title>checksum\n[^<]*self: A (\d+) samples, B (\d+) "
                       r"samples; ([^<]*?) to ([^<]*?), ([^<]*?) if same, \+([\d.]+) points, "
                       r"more \(p ([\d.e-]+)\)", html.unescape(svg))
    ok(in_svg and in_svg.group(3, 4, 5) == tuple(row[2:5]) and
       in_svg.group(6) == "%.2f" % number(row[5]) and
       float(in_svg.group(7)) == float(row[6]),
       "numbers_are_those_of_the_picture", row, in_svg and in_svg.groups())
    ok(not b.js("return document.querySelector('canvas.side')"), "times_are_drawn_where_there_are_any")
    n = [ask(db, "SELECT count(*) FROM samples")[0][0]
         for db in (before, after)]
    said = b.js("return [...document.querySelectorAll('#changes p')]"
                ".map(p => p.textContent)")
    ok(all(s.startswith("%s: %s, " % (side, path)) and
           ", cpu-clock, %d samples. All user stacks are " % samples in s
           for s, side, path, samples in zip(said, "AB", (before, after), n)),
       "both_sides_are_named_with_their_trust", said[:2])


def reds(b, y):
    """(most, least) of red above green in a row of the canvas."""
    return b.js("""
        const c = document.querySelector("#diff_flame");
        const copy = document.createElement("canvas");
        const p = copy.getContext("2d", { willReadFrequently: true });
        const ratio = c.width / c.getBoundingClientRect().width;
        copy.width = c.width;
        copy.height = c.height;
        p.drawImage(c, 0, 0);
        const d = p.getImageData(0, arguments[0] * ratio, c.width, 1).data;
        const more = [];
        for (let i = 0; i < d.length; i += 4)
            if (d[i + 3] === 255)
                more.push(d[i] - d[i + 1]);
        return [Math.max(...more), Math.min(...more)];""", y)


def check_picture(b):
    ok(reds(b, 3)[0] > 60, "what_is_more_is_red", reds(b, 3))
    ok(reds(b, 21)[0] < 10, "what_did_not_change_is_grey", reds(b, 21))
    b.js("document.querySelector('#changed button').click()")
    said = b.text("#diff_details")
    ok(said.startswith("checksum \u2014 self: A ") and ", more (p " in said,
       "a_row_zooms_to_its_frame", said)
    b.keys("u")
    ok(b.text("#diff_details").startswith("all "), "undo_takes_it_back",
       b.text("#diff_details"))
    ok(b.text("#diff_details").endswith("100.00 % to 100.00 %, 74.96 % if same, +25.04 points"),
       "the_share_of_all_is_not_judged", b.text("#diff_details"))
    b.js("document.querySelector('#diff_side').click()")
    ok(max(reds(b, y)[0] for y in (3, 21, 39)) > 60 and b.js("return document.querySelector('#diff_side')"
                           ".ariaPressed") == "true",
       "widths_of_the_first_show_what_it_was", reds(b, 3))
    b.js("document.querySelector('#diff_by').click()")
    names = [r[0] for r in rows(b)]
    want = sorted(r["symbol"] for r in table if r["total_significant"]
                  in ("more", "less"))
    ok(set(want) <= set(names), "totals_are_judged_too", names, want)
    b.keys("u", "u")
    b.js("document.querySelector('#diff_flame').focus()")
    b.keys("Up", "Up", "Up", "Up", "Up", "Up", "Up")
    ok(b.text("#diff_details").startswith("checksum "), "keys_walk_in_it",
       b.text("#diff_details"))
    b.keys("Enter")
    ok(not b.js("return document.querySelector('#diff_out').disabled"),
       "and_zoom")
    b.js("document.querySelector('#diff_out').click()")


def check_self(b):
    """A recording has not changed against itself; absolute counts weights."""
    draw("report", "--html", "--diff", "--absolute", "-o", work + "/same.html",
         after, after)
    b.open(work + "/same.html")
    ok(rows(b) == [] and "0 more in B, 0 less, by weights of self" in
       b.text("#diff_says"), "nothing_changed_against_itself",
       b.text("#diff_says"))


def check_runs(b):
    """Of several runs a side, numbers are those of one, as in the table of diff."""
    runs = [before, "--", before, after]
    draw("page", "--diff", "--absolute", "-o", work + "/runs.html", *runs)
    want = {r["symbol"]: r for r in json.loads(subprocess.run(
        [BACKSTITCH, "diff", "--absolute", "--json", *runs],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True).stdout)["rows"]}
    b.open(work + "/runs.html")
    got = rows(b)
    told = [[number(r[2]), number(r[4]), abs(number(r[3]) - number(r[2])), number(r[5])]
            for r in got]
    each = [[abs(want[r[0]]["self_" + k]) for k in ("b_expected", "b_expected", "change", "change")]
            for r in got]
    ok(got and all(abs(x - y) <= 0.001 * abs(y) + 1 for t, e in zip(told, each)
                   for x, y in zip(t, e)),
       "of_several_runs_numbers_are_those_of_one", got, each)
    b.quiet(work + "/runs.html", "runs")


def check_unproved(b):
    """What chance explains is shown where nothing else is, and marked."""
    less = work + "/less.db"
    shutil.copy(before, less)
    with sqlite3.connect(less) as db:
        db.execute("DELETE FROM event WHERE id % 9 = 0")
    draw("report", "--html", "--diff", "-o", work + "/less.html", before, less)
    b.open(work + "/less.html")
    got = rows(b)
    ok(1 < len(got) <= 10 and all(r[7] in ("not significant", "not known") for r in got) and
       "0 more in B, 0 less" in b.text("#diff_says"),
       "the_largest_changes_are_there_though_none_is_significant", got)


def check_alike(b):
    """A program with another name is a note, no warning."""
    shutil.copytree(os.path.join(CAPTURES, "builds"), work + "/symfs/wl")
    builds = [work + "/o2fp-1.db", work + "/o2b.db"]
    for db in builds:
        draw("ingest", "-q", "--symfs", work + "/symfs", "-o", db, "%s/%s.zst" %
             (work + "/symfs/wl", os.path.basename(db).replace("db", "data")))
    draw("report", "--html", "--diff", "-o", work + "/alike.html", *builds)
    b.open(work + "/alike.html")
    said = b.js("return [...document.querySelectorAll('#changes p')]"
                ".filter(p => p.textContent.includes(' is taken for '))"
                ".map(p => p.className)")
    ok(said == ["quiet"] and
       not b.js("return document.querySelector('#changes p.bad')"),
       "a_program_with_another_name_is_a_note", said)


def check_legend(b):
    """The last colour of the legend is that of a frame that did not change."""
    b.js("document.querySelector('#changes .key span:last-child i').id = 'same'")
    said = re.findall(r"\d+", b.js("return getComputedStyle(document"
                                   ".querySelector('#same')).backgroundColor"))
    drawn = b.js("""
        const c = document.querySelector("#diff_flame");
        return [...c.getContext("2d").getImageData(c.width / 2,
            c.height - 4, 1, 1).data].slice(0, 3);""")
    ok(all(abs(int(a) - n) < 32 for a, n in zip(said, drawn)),
       "the_legend_has_the_colours_of_the_frames", said, drawn)


def check_paper(b):
    """On paper, and without scripts, the page tells what it is of."""
    b.cdp("Emulation.setEmulatedMedia", media="print")
    ok(b.js("const seen = css => document.querySelector(css).offsetParent;"
            "return seen('#diff_flame') && seen('#changed') && !seen('#bar') "
            "&& !seen('#diff_by') && !seen('#hot_search')"),
       "what_changed_is_printed")
    ok(b.js("const t = document.querySelector('#hot').parentNode;"
            "return t.scrollWidth <= t.clientWidth"),
       "and_the_whole_table_of_functions")
    b.cdp("Emulation.setEmulatedMedia", media="")
    b.cdp("Emulation.setScriptExecutionDisabled", value=True)
    b.open(page, scripts=False)
    ok("'backstitch diff' prints it" in b.cdp(
        "DOM.getOuterHTML", nodeId=b.node("noscript p"))["outerHTML"],
       "without_scripts_it_says_what_is_not_there")
    b.cdp("Emulation.setScriptExecutionDisabled", value=False)


for width, look in (1600, "light"), (1000, "dark"), (400, "light"):
    with Browser(width, 1000, look) as browser:
        browser.open(page)
        check_table(browser)
        browser.shot(os.path.join(OUT, "diffpage-%d.png" % width))
        browser.fits("nothing_is_wider_than_%d" % width)
        if width == 1600:
            check_picture(browser)
        browser.quiet(page, "the_page")
        check_legend(browser)
        if width == 400:
            check_paper(browser)
        if width == 1600:
            check_runs(browser)
            check_self(browser)
            check_unproved(browser)
            check_alike(browser)
shutil.rmtree(work)
finish()
