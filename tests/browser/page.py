# page.py - the HTML report in a browser: what is chosen is what is shown.
"""Every number is compared with the database."""

import collections
import csv
import os
import re
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as ET

from browser import (BACKSTITCH, OUT, Browser, ask, audit, box, draw, finish,
                     make, needs, number, ok, type_in, zero)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from folded import stacks

NAME = "do_idle"
SPIN = "spin"

needs("page")
work = tempfile.mkdtemp()
db = make(work, "defer-lost-clock.data.zst")
page = work + "/report.html"
draw("report", "--html", "-o", page, db)

EVENT = ask(db, "SELECT event FROM samples GROUP BY 1 "
            "ORDER BY sum(weight) DESC LIMIT 1")[0][0]
THROUGH = "EXISTS (SELECT 1 FROM stack_frames f WHERE f.stack IN " \
    "(s.kernel_stack, s.user_stack) AND f.symbol = '%s')" % NAME


def count(condition="1"):
    """Samples, and their weight."""
    return ask(db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples s "
               "WHERE event = ?1 AND " + condition, EVENT)[0]


def shown(b):
    """The same from the line below the picture."""
    text = b.text("#details")
    samples, rest = text.split(" samples, ")
    return int(number(samples)), int(number(rest))


def same(b, name, condition):
    got, want = shown(b), count(condition)
    ok(got == want, name, "%s, not %s" % (got, want))


def tick(b, where, text):
    """Clicks the box of the row that begins with a text."""
    b.js("""
        [...document.querySelectorAll(arguments[0] + " label")].find(l =>
            l.querySelector(".name").textContent === arguments[1])
            .querySelector("input").click();""", where, text)


def first(b, where):
    return b.text(where + " .name")


def chosen_time(b):
    """The condition for what the two fields say; see --time."""
    ns = [int(v.replace(".", "")) + zero(b) for v in
          b.js("return [document.querySelector('#from').value,"
               "document.querySelector('#to').value]")]
    return "time_ns >= %d AND time_ns < %d" % (ns[0], ns[1] + 1000)


def root(b):
    """Where the root is: (x, y) of its middle."""
    g = box(b, "#graph")
    icicle = b.js("return document.querySelector('#flip').ariaPressed") == \
        "true"
    return g[0] + g[2] / 2, g[1] + (9 if icicle else g[3] - 9)


def check_summary(b):
    """The banner says what SQL and check say, and only what is broken is red."""
    facts = b.js("return [...document.querySelectorAll('.facts li')].map("
                 "l => [l.textContent, l.className])")
    want, = ask(db, "SELECT (SELECT count(*) FROM samples), (SELECT count(*) "
                "FROM request), (SELECT count(*) FROM samples WHERE verdict "
                "= 'matched'), (SELECT count(*) FROM samples WHERE verdict = "
                "'refused'), (SELECT count(*) FROM samples WHERE verdict = "
                "'chain_lost'), (SELECT count(*) FROM samples WHERE verdict "
                "= 'pending_end'), (SELECT sum(n) FROM loss WHERE counts), "
                "(SELECT count(*) FROM internal_finding)")
    ok([int(number(f)) for f, _ in facts] == list(want),
       "the_first_numbers_are_those_of_the_database", facts, want)
    said = audit(db)
    ok([int(number(f)) for f, c in facts if c == "bad"] ==
       [said["breaks"]["requests"], said["breaks"]["lost"]] and
       not said["breaks"]["findings"], "only_what_check_calls_broken_is_red",
       facts, said["breaks"])
    ok(b.text("#banner .trust") == said["user_stacks"] and
       b.text("#banner .verdict").startswith(said["verdict"] + ": ") and
       b.js("return document.querySelector('#banner').className") ==
       said["verdict"], "the_banner_says_what_check_says")
    ok(b.js("return [...document.querySelectorAll('.advice li')].map("
            "l => l.textContent)") == said["advice"],
       "and_what_to_do", said["advice"])
    marks, bands = b.js(
        "const m = JSON.parse(document.querySelector('#meta').textContent);"
        "const sum = list => list.filter(x => !x[2])"
        ".reduce((n, x) => n + x[5], 0); return [sum(m.marks), sum(m.bands)]")
    (timed,), = ask(db, "SELECT sum(n) FROM loss WHERE what IN ('lost', "
                    "'lost_end') AND coalesce(t0, t1) IS NOT NULL")
    ok((marks, bands) == (want[-1], timed),
       "the_timeline_counts_the_same_findings_and_losses",
       (marks, bands), (want[-1], timed))
    lost = b.js("return [...document.querySelectorAll('#t-losses tbody tr')]"
                ".map(r => [r.cells[5].textContent, r.cells[3].textContent])")
    ok(sum(int(number(n)) for yes, n in lost if yes == "yes") == want[-2],
       "and_so_does_the_table_of_losses", lost)


def check_lists(b):
    same(b, "all_samples_are_there", "1")
    (verdict,), = ask(db, "SELECT verdict FROM samples WHERE verdict IS NOT "
                      "NULL AND user_stack IS NULL GROUP BY 1 ORDER BY "
                      "count(*) DESC LIMIT 1")
    tick(b, "#verdicts", verdict)
    same(b, "a_verdict_can_be_chosen", "verdict = '%s'" % verdict)
    cpu = first(b, "#cpus")
    tick(b, "#cpus", cpu)
    same(b, "and_a_cpu_with_it", "verdict = '%s' AND cpu = %d" %
         (verdict, number(cpu)))
    b.keys("u")
    same(b, "undo_takes_one_step_back", "verdict = '%s'" % verdict)
    b.keys("r")
    same(b, "redo_goes_forward_again", "verdict = '%s' AND cpu = %d" %
         (verdict, number(cpu)))
    b.keys("0")
    thread = first(b, "#threads")
    tick(b, "#threads", thread)
    comm, tid = thread.rsplit(" ", 1)
    same(b, "a_thread_can_be_chosen", "comm = '%s' AND tid = %s" % (comm, tid))
    b.js("document.querySelector('.chip').click()")
    same(b, "a_chip_takes_it_back", "1")


def check_shares(b, condition):
    """The lists and the table say shares of what is chosen."""
    for where, column, name in (("#cpus", "cpu", "CPU %s"),
                                ("#verdicts", "coalesce(verdict, "
                                 "'no request')", "%s")):
        rows = ask(db, "SELECT %s, sum(weight) FROM samples WHERE event = ?1 "
                   "AND %s GROUP BY 1" % (column, condition), EVENT)
        whole = sum(w for _, w in rows)
        want = {name % n: "%.2f %%" % (100 * w / whole) for n, w in rows}
        got = dict(b.js("return [...document.querySelectorAll(arguments[0] + "
                        "' label')].map(l => [l.querySelector('.name')"
                        ".textContent, l.querySelector('.n').textContent])",
                        where))
        ok(got == want, "shares_of_%s_are_of_what_is_chosen" % where[1:],
           got, want)
    find_row(b, NAME)
    rows = hot_rows(b)
    find_row(b, "")
    want, = ask(db, "SELECT count(*), sum(weight) FROM samples s WHERE event "
                "= ?1 AND %s AND %s" % (condition, THROUGH), EVENT)
    row = next(r for r in rows if r[4] == NAME)
    ok(abs(float(row[1]) - 100 * want[1] / count(condition)[1]) < 0.0101,
       "the_table_of_functions_is_of_what_is_chosen", row, want)


def hot_rows(b):
    return b.js("return [...document.querySelectorAll('#hot tbody tr')].map("
                "r => [...r.cells].map(c => c.textContent))")


def check_images(b):
    """Images have their names; the path is there when one points at it."""
    got = b.js("return [...document.querySelectorAll('#hot tbody tr')].map("
               "r => [r.cells[5].textContent, r.cells[5].title])")
    paths = {r[0] for r in ask(db, "SELECT DISTINCT path FROM image")}
    ok(all("/" not in name and name == path.split("/")[-1] for name, path in got)
       and sum(path[0] == "/" and path in paths for _, path in got) > 2,
       "the_table_has_names_of_images_and_their_paths_on_hover", got[:9])


def find_row(b, text):
    """Searches the table of functions."""
    b.js("const f = document.querySelector('#hot_search');"
         "f.value = arguments[0]; f.dispatchEvent(new Event('input'))", text)
    b.settle("const t = [...document.querySelectorAll('#hot tbody .link')];"
             "return t.length > 30 ? !'%s' : t.every("
             "l => l.textContent.includes('%s'))" % (text, text))


def check_sandwich(b):
    """Callers above, callees below, and the table that leads there."""
    find_row(b, SPIN)
    self_, total = ask(
        db, "SELECT sum(self), sum(total) FROM hot_functions "
        "WHERE event = ?1 AND symbol = ?2", EVENT, SPIN)[0]
    row = next(r for r in hot_rows(b) if r[4] == SPIN)
    ok(abs(float(row[0]) - 100 * self_ / count()[1]) < 0.0101 and
       abs(float(row[1]) - 100 * total / count()[1]) < 0.0101,
       "the_table_finds_a_function_with_self_and_total", row, self_, total)
    b.js("[...document.querySelectorAll('#hot tbody .link')].find(l => "
         "l.textContent === '%s').click();" % SPIN)
    find_row(b, "")
    ok(b.text("#func") == SPIN and b.text("#func_says").startswith(
        "%.2f %%" % (100 * total / count()[1])),
       "a_click_there_shows_its_callers_and_callees", b.text("#func_says"))
    want = ask(db, "SELECT c.symbol, count(*), sum(s.weight) FROM samples s "
               "JOIN stack_frames f ON f.stack = s.user_stack AND f.symbol = "
               "?2 JOIN stack_frames c ON c.stack = f.stack AND c.pos = f.pos "
               "+ 1 WHERE s.event = ?1 GROUP BY 1 ORDER BY 3 DESC",
               EVENT, SPIN)
    b.js("document.querySelector('#callers').focus()")
    got = []
    b.keys("Up", "Up")
    while not got or got[-1] != b.text("#details"):
        got.append(b.text("#details"))
        b.keys("Right")
    for line, (name, n, weight) in zip(got, want):
        ok(line.startswith(name + " ") and
           "%d samples, %s ns" % (n, "{:,}".format(weight)) in line,
           "caller_%s_has_the_samples_of_the_database" % name, line, n, weight)
    ok(len(got) == len(want) > 1, "all_callers_are_there", got, want)
    want = ask(db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples s "
               "WHERE event = ?1 AND kernel_stack IS NOT NULL AND EXISTS ("
               "SELECT 1 FROM stack_frames f WHERE f.stack = s.user_stack "
               "AND f.symbol = ?2 AND f.pos = 0)", EVENT, SPIN)[0]
    b.js("document.querySelector('#callees').focus()")
    b.keys("Down", "Down")
    got = []
    while not got or got[-1] != b.text("#details"):
        got.append(b.text("#details"))
        b.keys("Right")
    n = sum(int(number(g.rsplit("\u2014", 1)[1])) for g in got)
    ok(n == want[0] > 0, "its_callees_are_those_of_the_database", got, want)
    at = b.js("return location.hash")
    b.reload()
    ok(b.text("#func") == SPIN, "the_address_knows_the_function", at)
    b.js("document.querySelector('#callers').focus()")
    b.keys("Up", "Up")
    name = b.text("#details").split(" ")[0]
    copied = "document.addEventListener('copy', () => { window.copied = " \
        "document.activeElement.value; })"
    b.js(copied)
    b.keys("c")
    ok(b.js("return window.copied") == name, "c_copies_the_name", name)
    b.keys("C")
    ok(b.js("return window.copied") == name + "\n" + SPIN,
       "and_C_the_stack", b.js("return window.copied"))
    b.keys("Enter")
    ok(b.text("#func") == name, "enter_goes_on_to_the_caller", name)
    b.keys("u")
    b.js("document.querySelector('#whole').click()")
    ok(b.js("return document.querySelector('#sandwich').hidden"),
       "a_button_leads_back_to_all_stacks")
    for i, word in enumerate(("self", "total", "samples")):
        b.js("document.querySelectorAll('#hot th .link')[arguments[0]]"
             ".click()", i)
        got = [float(r[i].replace(",", "")) for r in hot_rows(b)]
        ok(got == sorted(got, reverse=True) and len(got) > 20,
           "the_table_sorts_by_" + word, got[:5])
    b.js("document.querySelectorAll('#hot th .link')[0].click()")
    b.keys("0")


def check_time(b):
    s = box(b, "#strip")
    y = s[1] + 20
    b.point(s[0] + s[2] * 0.25, y, button=0, to=(s[0] + s[2] * 0.5, y))
    got = count(chosen_time(b))
    ok(0 < got[0] < count()[0], "a_drag_chooses_a_part_of_the_time", got)
    same(b, "and_all_samples_of_it", chosen_time(b))
    check_shares(b, chosen_time(b))
    command = b.text("#same").split()
    t = command[command.index("--time") + 1]
    draw("export", "--format", "folded", "--by", "samples", "--time", t,
         "--event", EVENT, "-o", work + "/folded", db)
    with open(work + "/folded") as f:
        n = sum(int(line.rsplit(" ", 1)[1]) for line in f)
    ok(n == got[0], "the_command_line_shows_the_same", n, got, command)
    b.point(s[0] + 5, y, button=0)
    same(b, "a_click_takes_it_back", "1")
    lo, hi = ask(db, "SELECT min(time_ns), max(time_ns) FROM samples")[0]
    mid = (lo + hi) // 2 - zero(b)
    ok(0 <= lo - zero(b) < 5000, "time_begins_at_the_first_sample", lo)
    type_in(b, "#from", "%d.%09d" % (mid // 10**9, mid % 10**9))
    same(b, "a_time_can_be_typed", chosen_time(b))
    ok(shown(b)[0] < count()[0], "and_makes_a_difference")
    type_in(b, "#to", "nonsense")
    same(b, "what_is_no_time_changes_nothing", chosen_time(b))
    b.keys("0")


def go_to(b, name):
    """Focuses the widest frame of that name with the keyboard's means."""
    b.js("document.querySelector('#flame').focus()")
    b.js("document.querySelector('#search').value = arguments[0];"
         "document.querySelector('#search').dispatchEvent("
         "new Event('input'))", "^%s$" % name)
    b.settle("return document.querySelector('#found').textContent")
    b.keys("n")


def check_frames(b):
    go_to(b, NAME)
    whole = count()[1]
    want = round(100 * count(THROUGH)[1] / whole, 2)
    got = number(b.text("#found"))
    ok(abs(got - want) <= 0.0101, "search_says_the_share_of_the_database",
       "%s, not %s" % (got, want))
    b.keys("w")
    same(b, "w_leaves_its_stacks_out", "NOT " + THROUGH)
    b.keys("u")
    go_to(b, NAME)
    b.keys("o")
    same(b, "o_keeps_only_its_stacks", THROUGH)
    cpu = first(b, "#cpus")
    tick(b, "#cpus", cpu)
    same(b, "filters_work_together", "cpu = %d AND %s" %
         (number(cpu), THROUGH))
    shown_at = b.js("return location.hash")
    before = shown(b)
    b.reload()
    ok(shown(b) == before and len(shown_at) > 2,
       "the_address_brings_the_choice_along", shown_at)
    b.keys("Escape", "Escape")
    same(b, "escape_ends_the_search_then_undoes", "1")


def check_picture(b):
    # one row above the root are threads: the widest takes the most of it
    b.point(*root(b))
    tip = b.text("#tip")
    ok("all" in tip and "%d" % number(tip), "a_frame_says_what_it_is", tip)
    b.keys("f")
    b.point(*root(b))
    ok(b.text("#tip").startswith("all"), "flip_puts_the_root_on_top")
    g = box(b, "#graph")
    (comm, weight), = ask(
        db, "SELECT comm, sum(weight) FROM samples WHERE event = ?1 "
        "GROUP BY 1 ORDER BY 2 DESC LIMIT 1", EVENT)
    order = ask(db, "SELECT comm, sum(weight) FROM samples WHERE event = ?1 "
                "GROUP BY 1 ORDER BY 1", EVENT)
    before = sum(w for c, w in order if c < comm)
    x = g[0] + g[2] * (before + weight / 2) / count()[1]
    b.point(x, g[1] + 27, button=0)
    said = b.text("#details")
    share = 100 * weight / count()[1]
    ok("zoomed to %s, %.2f %%" % (comm, share) in said,
       "a_click_zooms_to_a_frame_where_it_must_be", said, comm, share)
    b.keys("u")
    ok("zoomed" not in b.text("#details"), "undo_ends_the_zoom")
    b.point(x, g[1] + 27, button=0, hold="Alt")
    same(b, "alt_click_leaves_its_stacks_out", "comm <> '%s'" % comm)
    b.keys("u")
    b.point(x, g[1] + 27, button=0, hold="Shift")
    same(b, "shift_click_keeps_only_them", "comm = '%s'" % comm)
    b.keys("0", "f")
    b.point(*root(b), button=2)
    ok(b.js("return !document.querySelector('#menu').hidden"),
       "a_right_click_says_what_can_be_done")
    b.keys("Escape")
    b.js("document.querySelector('#flame').focus()")
    b.keys("Up", "Up")
    said = b.text("#details").split(" ")[0]
    b.keys("Enter")
    ok("zoomed to " + said in b.text("#details"), "keys_walk_and_zoom", said)
    b.keys("0")


def check_reverse(b):
    b.keys("v")
    same(b, "reverse_loses_no_sample", "1")
    top, = ask(db, "SELECT symbol, sum(self) FROM hot_functions WHERE event = "
               "?1 AND symbol IS NOT NULL GROUP BY 1 ORDER BY 2 DESC LIMIT 1",
               EVENT)
    before, = ask(
        db, "SELECT coalesce(sum(self), 0) FROM hot_functions WHERE event = "
        "?1 AND coalesce(symbol, '[') < ?2", EVENT, top[0])
    # the innermost functions stand on the root, by name
    g = box(b, "#graph")
    x = g[0] + g[2] * (before[0] + top[1] / 2) / count()[1]
    b.point(x, g[1] + g[3] - 27, button=0)
    said = b.text("#details")
    share = "%.2f %%" % (100 * top[1] / count()[1])
    ok("zoomed to %s, %s" % (top[0], share) in said,
       "the_innermost_functions_are_at_the_root", said, top, share)
    at = b.js("return location.hash")
    b.reload()
    ok(b.text("#details") == said, "the_address_knows_it", at)
    b.keys("v")
    go_to(b, NAME)
    b.keys("o", "v")
    same(b, "filters_hold_in_reverse", THROUGH)
    b.keys("Escape", "0", "0")
    ok(b.js("return document.querySelector('#reverse').ariaPressed") ==
       "false", "reset_turns_it_back")


def check_recursion(b):
    """The rows of the picture are those of flame --collapse-recursion."""
    def rows(*options):
        draw("flame", "--minwidth", "0", "--include", "^rec$", "--event",
             EVENT, *options, "-o", work + "/rec.svg", db)
        return 2 + max(stack.count(";") for stack in stacks(
            ET.parse(work + "/rec.svg").getroot()))

    def height():
        return b.js("return document.querySelector('.space').clientHeight")

    go_to(b, "rec")
    b.keys("o")
    ok(height() == min(rows(), 100) * 18 + 1 and rows() > 100 and
       "deeper than 100 rows" in b.text("#details"),
       "a_deep_tower_is_cut_and_says_so", height(), rows())
    before = shown(b)
    b.js("document.querySelector('#graph').scrollTop = 0")
    g = box(b, "#graph")
    b.point(g[0] + g[2] / 2, g[1] + 9, button=0)
    ok(height() > 150 * 18 and "zoomed to rec" in b.text("#details"),
       "a_click_on_its_top_goes_on", height(), b.text("#details"))
    b.keys("u")
    b.keys("x")
    few = rows("--collapse-recursion")
    ok(height() == few * 18 + 1 and few < rows() and shown(b) == before,
       "x_makes_one_frame_of_them", height(), few, rows())
    ok(b.js("return document.querySelector('#alone').ariaPressed") == "true",
       "and_its_button_is_pressed")
    b.keys("Escape", "0")
    same(b, "reset_brings_recursion_back", "1")


def check_closer(b):
    s = box(b, "#strip")
    y = s[1] + 20
    b.point(s[0] + s[2] * 0.4, y, button=0, to=(s[0] + s[2] * 0.8, y))
    b.keys("+")
    before = shown(b)
    same(b, "closer_chooses_nothing_else", chosen_time(b))
    b.point(s[0] + s[2] * 0.25, y, button=0, to=(s[0] + s[2] * 0.5, y))
    same(b, "a_drag_over_the_closer_strip_chooses_what_it_shows",
         chosen_time(b))
    ok(0 < shown(b)[0] < before[0], "and_that_is_less", shown(b), before)
    b.keys("-")
    b.js("document.querySelector('#all').click()")
    same(b, "and_all_the_time_is_all", "1")
    b.js("document.querySelector('#which').value = 't-';"
         "document.querySelector('#which').dispatchEvent(new Event('input'));"
         "document.querySelector('#found_threads').click()")
    same(b, "all_threads_of_a_name_can_be_chosen",
         "instr(lower(comm || ' ' || tid), 't-') > 0")
    b.keys("0")


def check_tables(b):
    rows = hot_rows(b)
    want, = ask(db, "SELECT symbol, self FROM hot_functions WHERE event = ?1 "
                "AND symbol IS NOT NULL ORDER BY self DESC LIMIT 1", EVENT)
    ok(rows[0][4] == want[0] and
       abs(float(rows[0][0]) - 100 * want[1] / count()[1]) < 0.0101,
       "hot_functions_are_those_of_the_database", rows[0], want)
    for kind, table in ("request", "requests"), ("chain", "chains"):
        got = b.js("return [...document.querySelectorAll(arguments[0])].map("
                   "r => [r.cells[0].textContent, r.cells[2].textContent])",
                   "#t-%s tbody tr" % table)
        want = ask(db, "SELECT verdict, n FROM verdicts WHERE kind = ?1 "
                   "ORDER BY n DESC, verdict", kind)
        ok([(v, int(number(n))) for v, n in got] == want,
           "the_verdicts_of_%ss_are_those_of_the_database" % kind, got, want)


def check_without_script(b):
    b.cdp("Emulation.setScriptExecutionDisabled", value=True)
    b.open(page, "?plain", scripts=False)

    def height(css):
        try:
            return b.cdp("DOM.getBoxModel", nodeId=b.node(css))["model"]["height"]
        except SystemExit:
            return 0
    ok(height("#hot") > 100 and height("#t-requests table") > 40 and
       height("noscript p") > 10,
       "without_scripts_the_tables_are_there")
    b.cdp("Emulation.setScriptExecutionDisabled", value=False)


def check_other_captures():
    """Without times, without requests, with several events."""
    for capture in ("notime-defer.data.zst", "group.data", "fp-1.data",
                    "defer-exitexec-s.data.zst"):
        other = make(work, capture)
        out = work + "/other.html"
        draw("report", "--html", "-o", out, other)
        with Browser() as b:
            b.open(out)
            event = b.js("const e = document.querySelector('#event');"
                         "return e.selectedOptions[0].textContent")
            name = event.rsplit(" (", 1)[0]
            want = ask(other, "SELECT count(*), sum(weight) FROM samples "
                       "WHERE event = ?1", name)[0]
            ok(shown(b) == want, "all_samples_of_" + capture.split(".")[0],
               shown(b), want)
            _, said = b.logs()
            ok(not said, "no_errors_in_" + capture.split(".")[0], *said[:3])


def check_inlined():
    """Inlined functions have the same rows as in report --inline."""
    other = make(work, "lines-gcc.data.zst")
    out = work + "/inlined.html"
    for option, some in (["--inline"], True), ([], False):
        draw("report", "--html", *option, "-o", out, other)
        run = subprocess.run([BACKSTITCH, "report", "--format", "csv",
                              *option, other], stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, text=True, check=True)
        want, total = collections.Counter(), collections.Counter()
        for r in csv.DictReader(run.stdout.splitlines()):
            want[r["kind"], r["symbol"]] += int(r["self_samples"])
            total[r["kind"], r["symbol"]] += float(r["total_percent"])
        with Browser() as b:
            b.open(out)
            got, all_ = collections.Counter(), collections.Counter()
            for _, share, n, kind, name, _ in hot_rows(b):
                got[kind, name] += int(number(n))
                all_[kind, name] += number(share)
        name = "with" if some else "without"
        ok(got == want and some == any(k == "inlined" for k, _ in got),
           "rows_%s_inlined_functions_are_those_of_report" % name, got, want)
        ok(all(abs(all_[k] - total[k]) < 0.02 for k in total),
           "%s_them_their_totals_too" % name, all_, total)


def check_tower():
    """A thin tower does not make the picture high and empty."""
    mkcap = os.path.join(OUT, "mkcap")
    if not os.path.exists(mkcap):
        print("skip a_thin_tower_makes_no_empty_room: no mkcap")
        return
    with open(work + "/tower.txt", "w") as f:
        f.write("event cpu-clock period=1000\ncomm pid=7 name=tower\n")
        for i in range(400):
            f.write("sample pid=7 tid=7 cpu=0 time=%d u=%s\n" % (
                1000 + i, ",".join("0x%x" % (0x400000 + 16 * k)
                                   for k in range(90 if i == 7 else 5))))
    subprocess.run([mkcap, work + "/tower.txt", work + "/tower.data"],
                   check=True)
    draw("report", "--html", "-o", work + "/tower.html", work + "/tower.data")
    with Browser() as b:
        b.open(work + "/tower.html")
        high = box(b, "#graph")[3]
        rows = b.js("return document.querySelector('#graph .space')"
                    ".clientHeight / 18")
        ok(rows > 90 and high < 300, "a_thin_tower_makes_no_empty_room",
           rows, high)


def check_bogus_tower():
    """130 fabricated callers are one row, which opens and can be walked over."""
    mkcap = os.path.join(OUT, "mkcap")
    if not os.path.exists(mkcap) or not shutil.which("gcc"):
        print("skip a_fabricated_tower_is_one_row: no mkcap or gcc")
        return
    with open(work + "/prog.c", "w") as f:
        f.write("int leaf(int x) { return x * 3; }\n"
                "int outer(int x) { return leaf(x) + 1; }\n"
                "int main(void) { return outer(2); }\n")
    prog = work + "/prog"
    subprocess.run(["gcc", "-O0", "-Wl,--build-id", "-o", prog, prog + ".c"],
                   check=True)

    def told(*command):
        return subprocess.run(command + (prog,), stdout=subprocess.PIPE,
                              check=True, text=True).stdout

    build = re.search("Build ID: (\\w+)", told("readelf", "-n")).group(1)
    at = {name: int(addr, 16) + 0x500000 for addr, name in
          re.findall(r"(\w+) T (\w+)", told("nm"))}
    with open(work + "/bogus.txt", "w") as f:
        f.write("event cpu-clock period=1000\ncomm pid=7 name=prog\nmmap pid=7 "
                "start=0x500000 len=0x10000 pgoff=0 path=%s id=%s\n" %
                (prog, build))
        for i in range(4):
            f.write("sample pid=7 tid=7 cpu=0 time=%d u=0x%x%s\n" % (
                1000 + i, at["leaf"], ",0x%x" % at["outer"] * 130 * (i > 0)))
    subprocess.run([mkcap, work + "/bogus.txt", work + "/bogus.data"],
                   check=True)
    draw("report", "--html", "-o", work + "/bogus.html", work + "/bogus.data")
    rows = "return document.querySelector('#graph .space').clientHeight"
    with Browser() as b:
        b.open(work + "/bogus.html")
        folded = b.js(rows)
        ok(folded == 4 * 18 + 1, "a_fabricated_tower_is_one_row", folded)
        b.js("document.querySelector('#flame').focus()")
        b.keys("Up", "Up", "Up", "Up")
        said = b.text("#details")
        b.keys("Down")
        back = b.text("#details")
        ok(said.startswith("leaf") and "outermost of 130 fabricated" in back,
           "arrows_step_over_it", said, back)
        b.keys("Enter")
        ok(b.js(rows) == 133 * 18 + 1 or "deeper than 100" in
           b.text("#details"), "and_it_opens", b.js(rows))
        b.keys("u")
        ok(b.js(rows) == folded, "and_closes", b.js(rows))


def check_own_time():
    """The heaviest event has a tenth of the time: the strip opens on that, and
    the buttons and links go to the rest and back."""
    mkcap = os.path.join(OUT, "mkcap")
    if not os.path.exists(mkcap):
        print("skip the_strip_opens_on_the_time_of_the_event: no mkcap")
        return
    with open(work + "/late.txt", "w") as f:
        f.write("event early period=1\nevent cpu-clock period=1000\n"
                "comm pid=7 name=prog\n")
        for i in range(100):
            f.write("sample event=%s pid=7 tid=7 cpu=0 time=%d "
                    "u=0x400000\n" % ("early" if i < 90 else
                                      "cpu-clock period=1000",
                                      1000000 * (i + 1)))
    subprocess.run([mkcap, work + "/late.txt", work + "/late.data"], check=True)
    late = work + "/late.html"
    draw("report", "--html", "-o", late, work + "/late.data")

    with Browser() as b:
        b.open(late)
        ok(b.js("return !document.querySelector('#farther').disabled && "
                "document.querySelector('#reset').disabled && !location.hash"),
           "the_strip_opens_on_the_time_of_the_event")
        b.js("document.querySelector('#all').click()")
        whole = b.js("return location.hash")
        ok(b.js("return !document.querySelector('#reset').disabled") and
           "strip-from" in whole, "the_whole_capture_is_a_click_away", whole)
        b.open(late, whole)
        ok(b.js("return location.hash") == whole, "and_has_a_link", whole)
        hidden = "return document.querySelector('#command').hidden"
        plain = b.js(hidden)
        draw("page", "-o", late, "--comm", "prog", work + "/late.data")
        b.open(late)
        ok(b.js(hidden) and not plain,
           "no_command_draws_what_a_filter_of_the_page_left", plain)


def check_tips():
    """A tip is beside what it tells of: a row of frames, the strip."""
    with Browser(1000, 700) as b:
        b.open(page)
        for css, high in ("#flame", 18), ("#time", None):
            b.js("document.querySelector('%s').scrollIntoView({block: "
                 "'center'})" % css)
            x, y, w, h = box(b, css)
            for part in 0.1, 0.5, 0.9:
                at = y + h - 5 if high else y + 50 * part
                b.point(x + w * part, at)
                if b.js("return document.querySelector('#tip').hidden"):
                    continue
                _, top, _, tall = box(b, "#tip")
                lo, hi = (y + h - 18, y + h) if high else (y, y + h)
                ok(top >= hi - 2 or top + tall <= lo + 2,
                   "a_tip_does_not_cover_%s_%s" % (css[1:], part), top, tall,
                   lo, hi)


def check_looks():
    """Wide and narrow, light and dark: nothing is wider than the window, and
    the picture is kept to be looked at."""
    for width in 1600, 1000, 400:
        for look in "light", "dark":
            with Browser(width, 900, look) as b:
                b.open(page)
                same(b, "all_is_there_at_%d_%s" % (width, look), "1")
                ok(b.js("return document.documentElement.scrollWidth") <=
                   width, "nothing_is_wider_than_%d_%s" % (width, look))
                ok(width == 400 or root(b)[1] < 900,
                   "the_root_is_in_view_%d_%s" % (width, look), root(b))
                # one line box each, and a space or a sign before it
                broken = b.js("""
                    const at = [], text = document.createTreeWalker(
                        document.querySelector("#app").parentNode,
                        NodeFilter.SHOW_TEXT);
                    while (text.nextNode()) {
                        const t = text.currentNode;
                        if (t.parentNode.closest("script, style"))
                            continue;
                        for (const m of t.data.matchAll(
                            /(?<![^ '(])--?[a-zA-Z][-\\w]*/g)) {
                            const r = document.createRange();
                            r.setStart(t, m.index);
                            r.setEnd(t, m.index + m[0].length);
                            at.push([m[0], r.getClientRects().length]);
                        }
                    }
                    return at;""")
                broken = [x for x in broken if x[1]]
                ok(len(broken) > 4 and all(n < 2 for _, n in broken),
                   "no_option_is_broken_%d_%s" % (width, look), *broken)
                tall = b.js("return Math.max(...[...document.querySelectorAll("
                            "'#hot tbody tr')].map(r => r.offsetHeight))")
                ok(10 < tall < (30 if width > 400 else 200),
                   "a_row_of_functions_is_one_line_%d_%s" % (width, look),
                   tall)
                wide = b.js("const r = document.querySelector('#hot')"
                            ".getBoundingClientRect(); return r.right <= "
                            "innerWidth")
                ok(wide, "all_columns_are_in_view_%d_%s" % (width, look))
                if width == 400:
                    ok(b.js("return getComputedStyle(document.querySelector("
                            "'#bar')).position") == "static",
                       "the_toolbar_scrolls_away_" + look)
                lost, missing = b.js(
                    "return ['--lost', '--missing'].map(n => getComputedStyle("
                    "document.documentElement).getPropertyValue(n).trim())")
                hue = [[int(c[i:i + 2], 16) for i in (1, 3, 5)]
                       for c in (lost, missing)]
                ok(abs(hue[0][1] - hue[1][1]) > 60,
                   "lost_and_missing_look_different_%d_%s" % (width, look),
                   lost, missing)
                b.shot(os.path.join(OUT, "page-%d-%s.png" % (width, look)))
                b.quiet(page, "at_%d_%s" % (width, look))


def check_bytes():
    again = page + ".again"
    draw("report", "--html", "-o", again, db)
    with open(page, "rb") as x, open(again, "rb") as y:
        ok(x.read() == y.read(), "the_same_input_gives_the_same_bytes")
    os.unlink(again)


with Browser(1380, 900, "light") as browser:
    browser.open(page)
    rows_of_bar = browser.js("""return [...document.querySelectorAll("#bar > *")]
        .map(x => x.getBoundingClientRect()).filter(r => r.width && r.height)
        .map(r => (r.top + r.bottom) / 2);""")
    ok(max(rows_of_bar) - min(rows_of_bar) < 10,
       "the_bar_is_one_row_where_the_search_may_be_narrower", rows_of_bar)
with Browser() as browser:
    browser.open(page)
    check_summary(browser)
    check_tables(browser)
    check_lists(browser)
    check_sandwich(browser)
    check_time(browser)
    check_frames(browser)
    check_picture(browser)
    check_reverse(browser)
    check_recursion(browser)
    check_closer(browser)
    browser.quiet(page, "the_page")
    check_without_script(browser)
check_looks()
check_other_captures()
check_inlined()
check_tower()
check_bogus_tower()
check_own_time()
check_tips()
check_bytes()
shutil.rmtree(work)
finish()
