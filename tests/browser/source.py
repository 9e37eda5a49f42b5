# source.py - source lines and instructions in the HTML report.
"""Every number is compared with annotate, and annotate with the database."""

import collections
import json
import os
import shutil
import subprocess
import tempfile

from browser import (BACKSTITCH, CAPTURES, OUT, Browser, ask, draw, finish,
                     make, needs, number, ok)

needs("source")
work = tempfile.mkdtemp()
db = make(work, "lines-clang.data.zst")
page = work + "/report.html"
below = work + "/project/wl"
os.makedirs(below)
for name in "lines.c", "lines.h":
    shutil.copy(os.path.join(CAPTURES, name), below)
symfs = os.path.join(CAPTURES, "symfs")
draw("report", "--html", "--symfs", symfs, "--source-dir", work + "/project",
     "-o", page, db)


def annotate(*options):
    run = subprocess.run(
        [BACKSTITCH, "annotate", "--json", "--symfs", symfs, "--source-dir",
         work + "/project", *options, db, "hot"], stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def rows(b, table):
    """(share, samples, place, text) of each row of a table, headings not."""
    return b.js("""
        return [...document.querySelectorAll(arguments[0] + " tr")].filter(
            r => r.dataset.line !== undefined).map(
            r => [...r.cells].map(c => c.textContent));""", "#" + table)


def same(b, name, want):
    """The page's instructions and lines are those of annotate."""
    got = rows(b, "assembly")
    insns = [[int(i["address"], 16), i["samples"]]
             for i in want["instructions"]]
    ok([[int(r[2], 16), int(number(r[1]) or 0)] for r in got] == insns,
       name + "_has_the_samples_of_each_instruction", got, insns)
    ok(all(not r[1] or r[0] == "%.2f %%" % i["percent"]
           for r, i in zip(got, want["instructions"])),
       name + "_has_their_shares", got)
    lines = collections.Counter()
    for i in want["instructions"]:
        lines[i.get("source"), i.get("line")] += i["samples"]
    have = {(r[3], int(r[2])): int(number(r[1]) or 0)
            for r in rows(b, "source")}
    ok(all(have.get(k, 0) == n for k, n in lines.items() if k[1]) and
       sum(have.values()) == want["samples"],
       name + "_has_the_samples_of_each_line", have, lines)


def open_function(b, name):
    b.js("""[...document.querySelectorAll("#hot button.link")].find(x =>
        x.textContent === arguments[0]).click();""", name)


def check_all(b):
    ok(not b.js("return document.querySelector('#listing').offsetParent"),
       "there_is_no_code_before_a_function_is_chosen")
    open_function(b, "hot")
    want = annotate()
    same(b, "the_page", want)
    samples, = ask(db, "SELECT count(*) FROM samples s JOIN stack_frames f ON "
                   "f.stack = s.user_stack AND f.pos = 0 WHERE f.symbol = "
                   "'hot'")[0]
    ok(want["samples"] == samples and number(b.text("#listing_says")) ==
       samples, "the_sum_is_that_of_the_database", want["samples"], samples)
    text = []
    for name in "lines.c", "lines.h":
        with open(os.path.join(CAPTURES, name)) as f:
            text.append([""] + f.read().expandtabs(8).split("\n"))
    got = rows(b, "source")
    ok(len(got) > 15 and all(r[3] in [t[int(r[2])] for t in text
                                      if int(r[2]) < len(t)] for r in got),
       "lines_are_those_of_the_files", got)
    ok("MD5 as recorded" in b.text("#source"), "it_says_why_it_is_believed")


def check_range(b):
    """Within half of the time the numbers are those of annotate --time."""
    t0, t1 = ask(db, "SELECT min(time_ns), max(time_ns) FROM samples")[0]
    half = (t1 - t0) // 2
    b.js("""
        document.querySelector("#to").value = arguments[0];
        document.querySelector("#to").dispatchEvent(new Event("change"));
        """, "%d.%09d" % divmod(half, 10**9))
    to = b.js("return document.querySelector('#to').value")
    end = t0 // 1000 * 1000 + int(to.replace(".", ""))
    want = annotate("--time", ",%d.%09d" % divmod(end, 10**9))
    ok(0 < want["samples"] < annotate()["samples"], "half_are_fewer")
    same(b, "a_range", want)
    b.keys("u")


def check_rows(b):
    """A line and its instructions show each other."""
    b.js("""[...document.querySelectorAll("#source tr")].find(r =>
        r.dataset.line && r.cells[2].textContent === "17" &&
        r.cells[3].textContent.includes("for")).click();""")
    marked = b.js("return [...document.querySelectorAll('#assembly tr.on')]"
                  ".map(r => r.cells[2].textContent)")
    want = [i["address"][2:] for i in annotate()["instructions"]
            if i.get("line") == 17 and i["file"].endswith("lines.c")]
    ok(marked == want, "a_line_shows_its_instructions", marked, want)
    b.js("document.querySelector('#assembly').parentNode.dispatchEvent(new "
         "KeyboardEvent('keydown', { key: 'End' }))")
    last = b.js("return document.querySelector('#assembly tr.at')"
                ".cells[3].textContent")
    ok(last.startswith("retq"), "keys_go_through_the_instructions", last)
    jump = b.js("""
        const row = document.querySelector("#assembly tr.jump");
        row.click();
        row.closest(".pane").dispatchEvent(new KeyboardEvent("keydown",
            { key: "Enter" }));
        return [row.cells[3].textContent.split("0x")[1],
            document.querySelector("#assembly tr.at").cells[2].textContent];
        """)
    ok(jump[0] == jump[1], "enter_follows_a_jump", jump)


def check_functions(b, db):
    """A row of the table is a function with what is inlined into it."""
    b.js("document.querySelector('#hot_search').value = '';"
         "document.querySelector('#hot_search')"
         ".dispatchEvent(new Event('input'))")
    b.settle("return document.querySelectorAll('#hot tbody tr').length > 1")
    rows = b.js("return [...document.querySelectorAll('#hot tbody tr')].map("
                "r => [r.cells[4].textContent, r.cells[2].textContent])")
    want = [[r["symbol"], str(r["self_samples"])]
            for r in json.loads(subprocess.run(
                [BACKSTITCH, "report", "--json", db],
                stdout=subprocess.PIPE).stdout)["rows"]
            if r["self_samples"]]
    ok(sorted(r for r in rows if r[1] != "0") == sorted(want),
       "rows_are_functions_with_what_is_inlined", rows)


def check_inlined():
    rows = work + "/rows.html"
    draw("report", "--html", "--inline", "--symfs", symfs, "-o", rows, db)
    with Browser(1600, 1000) as b:
        b.open(rows)
        open_function(b, "mix")
        ok(b.text("#listing_says").startswith("inlined into hot; "),
           "an_inlined_function_shows_where_it_is", b.text("#listing_says"))
        b.quiet(rows, "the_page_with_rows_of_inlined_functions")


def check_keys(b):
    b.js("document.querySelector('#flame').focus()")
    b.keys("Up", "Up", "Up", "a")
    ok(b.js("return document.querySelector('#listing').offsetParent !== null"),
       "a_key_shows_the_code_of_a_frame")


def check_without(b):
    """No code, no source: the page says so, and has none when asked."""
    plain = work + "/plain.html"
    draw("report", "--html", "--symfs", work, "-o", plain, db)
    b.open(plain)
    open_function(b, "hot")
    said = b.text("#listing_says")
    ok("no file; --symfs DIR" in said, "code_that_is_not_here_is_said", said)
    draw("report", "--html", "--symfs", symfs, "-o", plain, db)
    b.open(plain)
    open_function(b, "hot")
    ok([r[3] for r in rows(b, "source")][:1] == ["/wl/lines.c:14"],
       "a_source_that_is_not_here_is_its_lines", rows(b, "source")[:2])
    draw("report", "--html", "--no-source", "--symfs", symfs, "-o", plain, db)
    with open(plain) as f:
        ok('id="spots"' not in f.read(), "no_source_is_asked_for")
    b.open(plain)
    open_function(b, "hot")
    ok(b.js("return document.querySelector('#listing').hidden"),
       "then_there_is_no_panel")


def make_large():
    """A capture of a program with a function of 12,000 instructions, sampled
    at its begin and its end, and two static functions of one name."""
    part = "__attribute__((noinline)) static int same(int x) " \
           "{ return x * %d; }\nint part%d(int x) { return same(x); }\n"
    text = "volatile int v;\nint part3(int), part5(int);\n" \
           "int large(void)\n{\n" + "\tv += 3;\n" * 4000 + \
           "\treturn v;\n}\nint main(void)\n{\n" \
           "\treturn large() + part3(1) + part5(2);\n}\n"
    for name, source in (("large", text), ("part3", part % (3, 3)),
                         ("part5", part % (5, 5))):
        with open("%s/%s.c" % (work, name), "w") as f:
            f.write(source)
    program = work + "/large"
    subprocess.run(["gcc", "-g", "-O0", "-no-pie", "-Wl,-z,noseparate-code",
                    "-o", program] + ["%s/%s.c" % (work, n) for n in
                                      ("large", "part3", "part5")], check=True)
    symbols = [line.split() for line in subprocess.run(
        ["nm", "-S", program], stdout=subprocess.PIPE, check=True,
        text=True).stdout.splitlines()]
    at = {s[3]: int(s[0], 16) for s in symbols if len(s) == 4}
    size = {s[3]: int(s[1], 16) for s in symbols if len(s) == 4}
    same_at = sorted(int(s[0], 16) for s in symbols if s[3:] == ["same"])
    where = [at["large"]] * 3 + [at["large"] + size["large"] - 1] * 5 + \
        [same_at[0]] * 2 + [same_at[1]] * 7
    code = next(line.split() for line in subprocess.run(
        ["readelf", "-lW", program], stdout=subprocess.PIPE, check=True,
        text=True).stdout.splitlines() if " R E " in line)
    with open(work + "/large.txt", "w") as f:
        f.write("event cycles\ncomm pid=7 name=large\nmmap pid=7 start=%s "
                "len=%#x pgoff=%s path=%s\n" % (
                    code[2], -(-int(code[4], 16) // 4096) * 4096, code[1], program))
        for i, ip in enumerate(where):
            f.write("sample pid=7 tid=7 cpu=0 time=%d period=1 u=%#x\n" %
                    (1000000 + i * 1000, ip))
    subprocess.run([os.path.join(OUT, "mkcap"), work + "/large.txt",
                    work + "/large.data"], check=True)
    draw("ingest", "-q", "-o", work + "/large.db", work + "/large.data")
    draw("report", "--html", "-o", work + "/large.html", work + "/large.db")
    return same_at


def said_rows(b, table):
    """Samples and places of the rows that have samples."""
    return [(int(number(r[1])), r[2]) for r in rows(b, table) if r[1]]


def check_large():
    same_at = make_large()
    with Browser(1600, 1000) as b:
        b.open(work + "/large.html")
        open_function(b, "large")
        got = said_rows(b, "assembly")
        ok([n for n, _ in got] == [3, 5],
           "a_large_function_has_all_its_samples", got)
        n = len(rows(b, "assembly"))
        left = b.js("return document.querySelector('#assembly .head')"
                    ".textContent")
        ok(n <= 3000 and number(left) + n > 12000 and
           "are left out" in b.text("#listing_says"),
           "it_says_what_of_it_is_left_out", n, left, b.text("#listing_says"))
        b.keys("u")
        for i, samples in enumerate((2, 7)):
            open_function(b, "same (%s.c)" % ("part3", "part5")[i])
            got = said_rows(b, "assembly")
            ok(got == [(samples, "%x" % same_at[i])],
               "functions_of_one_name_have_their_own_code_%d" % i, got)
            b.keys("u")
        b.quiet(work + "/large.html", "the_page_of_a_large_function")


check_large()
check_inlined()
for width, look in (1600, "light"), (1000, "dark"), (400, "light"):
    with Browser(width, 1000, look) as browser:
        browser.open(page)
        check_all(browser)
        browser.js("document.querySelector('#listing').scrollIntoView()")
        browser.shot(os.path.join(OUT, "source-%d.png" % width))
        browser.fits("nothing_is_wider_than_%d" % width)
        if width == 1600:
            check_range(browser)
            check_rows(browser)
            check_functions(browser, db)
            check_keys(browser)
        browser.quiet(page, "the_page")
        if width == 1600:
            check_without(browser)
shutil.rmtree(work)
finish()
