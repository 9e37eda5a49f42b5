# svg.py - a flame graph in a browser: clicks and keys do what they say.
"""The numbers that the picture shows are compared with the database."""

import collections
import os
import shutil
import sys
import tempfile
import xml.etree.ElementTree as ET

from browser import (OUT, Browser, ask, centre, draw, finish, frame, make, needs,
                     number, ok, rect)

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))
from folded import stacks

NAME = "do_idle"

needs("svg")
work = tempfile.mkdtemp()
db = make(work, "defer-lost-clock.data.zst")
svg = work + "/flame.svg"
draw("flame", "--minwidth", "0", "-o", svg, db)

EVENT = "event = (SELECT event FROM samples GROUP BY 1 " \
    "ORDER BY sum(weight) DESC LIMIT 1)"
THROUGH = "EXISTS (SELECT 1 FROM stack_frames f WHERE f.stack IN " \
    "(s.kernel_stack, s.user_stack) AND f.symbol = ?1)"


def share(condition, *bind):
    (part, whole), = ask(db, "SELECT coalesce(sum(weight) FILTER (WHERE %s), "
                         "0), sum(weight) FROM samples s WHERE %s" %
                         (condition, EVENT), *bind)
    return round(100 * part / whole, 2)


def near(got, want):
    return got is not None and abs(got - want) <= 0.0101


def check(b):
    b.open(svg)
    at = frame(b, NAME)
    whole = rect(b, 0)
    before = rect(b, at)

    # search
    got = number(b.find("^%s$" % NAME))
    want = share(THROUGH, NAME)
    ok(near(got, want), "search_says_the_share_of_the_database",
       "%s, not %s" % (got, want))
    b.keys("Escape")
    ok(b.text("#matched") == "", "escape_ends_the_search")

    # zoom, and back
    b.point(*centre(b, at), button=0)
    zoomed = rect(b, at)
    ok(abs(zoomed[2] - whole[2]) < 0.01 and before[2] < whole[2],
       "a_click_zooms_to_the_whole_width", before, zoomed)
    share_of = b.js("const f = document.querySelectorAll('#frames > g');"
                    "return f[arguments[0]].dataset.w / f[0].dataset.w", at)
    ok(abs(before[2] / whole[2] - share_of) < 1e-4,
       "a_frame_is_as_wide_as_its_weight")
    b.keys("Backspace")
    ok(abs(rect(b, at)[2] - before[2]) < 0.01, "undo_goes_back", rect(b, at))

    # stacks through a frame, or the others
    b.point(*centre(b, at), button=0, hold="Alt")
    got = number(b.text("#matched").split("shown:")[-1])
    want = share("NOT " + THROUGH, NAME)
    ok(near(got, want), "alt_click_leaves_its_stacks_out",
       "%s, not %s" % (got, want))
    ok(not rect(b, at)[3], "what_is_left_out_is_not_to_be_seen")
    b.keys("u")
    ok(rect(b, at)[3] and b.text("#matched") == "", "and_undo_brings_it_back")
    b.point(*centre(b, at))
    b.keys("o")
    got = number(b.text("#matched").split("shown:")[-1])
    want = share(THROUGH, NAME)
    ok(near(got, want), "o_keeps_only_its_stacks", "%s, not %s" % (got, want))
    shown = b.js("return location.search")
    b.keys("0")
    ok(b.text("#matched") == "", "reset_takes_all_back")
    b.open(svg, shown)
    ok(near(number(b.text("#matched").split("shown:")[-1]), want),
       "the_address_brings_the_filter_along", shown)
    b.keys("Escape")
    ok(b.text("#matched") == "", "escape_undoes")

    # icicle, keys
    b.js("document.querySelector('#flip').dispatchEvent("
         "new MouseEvent('click'))")
    ok(rect(b, 0)[1] > rect(b, at)[1] and whole[1] < before[1],
       "flip_puts_the_root_below")
    b.keys("f")
    ok(rect(b, 0)[1] == whole[1], "and_back")
    b.js("document.activeElement?.blur()")
    b.keys("Down", "Down")
    focus = b.js("const f = [...document.querySelectorAll('#frames > g')];"
                 "return f.indexOf(document.activeElement)")
    ok(focus > 0 and rect(b, focus)[1] > whole[1],
       "arrows_walk_from_frame_to_frame", focus)
    said = b.text("#details")
    b.keys("Enter")
    ok(abs(rect(b, focus)[2] - whole[2]) < 0.01 and said,
       "enter_zooms_to_the_frame")
    b.keys("?")
    ok("undo" in b.text("#card"), "a_key_shows_the_keys")
    b.keys("Escape")
    ok(b.js("return !document.querySelector('#card')"), "escape_closes_them")

    # for those who do not see it
    ok(b.js("return document.querySelector('#frames').getAttribute('role')")
       == "tree" and
       b.js("return [...document.querySelectorAll('#frames > g')].every(g =>"
            "g.getAttribute('role') === 'treeitem' && +g.getAttribute("
            "'aria-level') > 0)"), "frames_are_a_tree_for_screen_readers")
    seams = b.js("return document.querySelectorAll('.seam').length")
    ok(seams > 0, "a_seam_marks_where_the_kernel_begins")
    b.quiet(svg, "the_picture")


def seen(b, css):
    """Whether all of an element is in the window."""
    return b.js("""
        const r = document.querySelector(arguments[0]).getBoundingClientRect();
        return r.width > 0 && r.top >= 0 && r.bottom <= innerHeight + 1 &&
            r.left >= 0 && r.right <= innerWidth + 1;""", css)


def check_window():
    """Each width, light and dark: as wide as the window, at the root, with
    title, buttons and legend in view."""
    for width in 1600, 1000, 500, 400:
        for look in "light", "dark":
            name = "%d_%s" % (width, look)
            with Browser(width, 600, look) as b:
                b.open(svg)
                room = b.js("return visualViewport.width")
                ok(abs(rect(b, 0)[2] - (max(room, 480) - 20)) < 1,
                   "as_wide_as_the_window_" + name, rect(b, 0), room)
                b.fits("and_no_wider_" + name)
                ok(seen(b, "#frames > g rect") and
                   b.js("return scrollY") == 0, "opens_at_the_root_" + name)
                ok(b.js("return document.documentElement.getBBox().height") >
                   700 and seen(b, "#legend") and seen(b, "#title") and
                   seen(b, "#flip"), "legend_and_buttons_in_view_" + name)
                back = b.js("return getComputedStyle(document.documentElement"
                            ").backgroundColor")
                ok((number(back.split("(")[1]) < 128) == (look == "dark"),
                   "the_whole_window_has_the_background_" + name, back)
                ok(b.js("""
                    const all = [...document.querySelectorAll("#notes text")];
                    const own = document.documentElement;
                    return all.length > 0 && all.every(e => {
                        const at = e.getBoundingClientRect();
                        return parseFloat(getComputedStyle(e).fontSize) *
                            e.getScreenCTM().a > 8 && at.left >= 0 &&
                            at.right <= visualViewport.width + 1 &&
                            at.bottom <= own.getBoundingClientRect().bottom;
                    });"""), "notes_can_be_read_" + name)
                b.shot(os.path.join(OUT, "svg-%d-%s.png" % (width, look)))
                b.js("scrollTo(0, 1e6)")
                b.settle("return scrollY > 0 && /[1-9]/.test(document."
                         "querySelector('#head').getAttribute('transform'))")
                ok(seen(b, "#legend"), "and_after_scrolling_" + name)
                b.quiet(svg, "at_" + name)


def check_title(b):
    (n, event), = ask(db, "SELECT count(*), event FROM samples WHERE " + EVENT)
    (most, others), = ask(
        db, "SELECT comm, (SELECT count(DISTINCT comm) - 1 FROM samples "
        "WHERE %s) FROM samples WHERE %s AND pid <> 0 GROUP BY 1 ORDER BY "
        "sum(weight) DESC LIMIT 1" % (EVENT, EVENT))
    want = "%s and %d others: %s samples of %s" % (most, others, f"{n:,}", event)
    ok(b.text("#title") == want, "the_title_says_program_samples_and_event",
       b.text("#title"), want)


def check_buttons(b):
    fill = "return getComputedStyle(document.querySelector('#case rect'))" \
        ".fill"
    before = b.js(fill)
    b.js("document.querySelector('#case').dispatchEvent("
         "new MouseEvent('click'))")
    ok(b.js("return document.querySelector('#case').getAttribute("
            "'aria-pressed')") == "true" and b.js(fill) != before and
       b.text("#case text") == "Aa", "a_button_shows_that_it_is_pressed")
    b.js("document.querySelector('#case').focus()")
    b.keys(" ")
    ok(b.js(fill) == before, "the_space_bar_presses_it_again")


def check_seams(b):
    over = b.js("""
        return [...document.querySelectorAll("#frames > g")].filter(g => {
            const s = g.querySelector(".seam"), r = g.querySelector("rect");
            const y = s && +s.getAttribute("d").split(/[ h]/)[1];
            const half = s && parseFloat(getComputedStyle(s).strokeWidth) / 2;
            const top = +r.getAttribute("y");
            return s && (y + half > top || y - half < top - 1);
        }).length""")
    ok(over == 0, "the_line_to_the_kernel_is_in_the_gap_between_rows", over)


def check_recursion():
    def folded(*options):
        draw("flame", "--minwidth", "0", *options, "-o", work + "/folded", db)
        return stacks(ET.parse(work + "/folded").getroot())

    want = collections.Counter()
    for stack, n in folded().items():
        frames = stack.split(";")
        left = [f for i, f in enumerate(frames)
                if not i or f != frames[i - 1] or f.startswith("[")]
        want[";".join(left)] += n
    got = folded("--collapse-recursion")
    ok(got == want and len(want) < len(folded()),
       "collapse_recursion_makes_one_frame_of_a_function_in_itself",
       len(got), len(want))


def check_fixed_width():
    out = work + "/fixed.svg"
    draw("flame", "--width", "700", "-o", out, db)
    with Browser() as b:
        b.open(out)
        ok(rect(b, 0)[2] == 680, "a_width_that_is_asked_for_stays")


with Browser() as browser:
    check(browser)
    browser.open(svg)
    check_title(browser)
    check_buttons(browser)
    check_seams(browser)
check_window()
check_recursion()
check_fixed_width()
shutil.rmtree(work)
finish()
