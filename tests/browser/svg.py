# svg.py - a flame graph in a browser: clicks and keys do what they say.
"""The numbers that the picture shows are compared with the database."""

import shutil
import tempfile

from browser import (Browser, ask, centre, draw, finish, frame, make, needs,
                     number, ok, rect)

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
    b.keys("/")
    b.keys(*("^%s$" % NAME))
    b.settle("return document.querySelector('#matched').textContent"
             ".startsWith('matched')")
    got = number(b.text("#matched"))
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
    ok(rect(b, 0)[1] < rect(b, at)[1] and whole[1] > before[1],
       "flip_puts_the_root_on_top")
    b.keys("f")
    ok(rect(b, 0)[1] == whole[1], "and_back")
    b.js("document.activeElement?.blur()")
    b.keys("Up", "Up")
    focus = b.js("const f = [...document.querySelectorAll('#frames > g')];"
                 "return f.indexOf(document.activeElement)")
    ok(focus > 0 and rect(b, focus)[1] < whole[1],
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


with Browser() as browser:
    check(browser)
shutil.rmtree(work)
finish()
