# names.py - short names are read, full ones are found, linked to and in tooltips.
"""The names of a C program are replaced by those of C++."""

import os
import shutil
import sqlite3
import tempfile

from browser import Browser, draw, finish, make, needs, ok

STRING = "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >"
FULL = "void app::find<%s>(%s const&) const" % (STRING, STRING)
SHORT = "app::find<std::string>"
LONG = "app::" + "long_" * 20 + "name()"

needs("names")
work = tempfile.mkdtemp()
db = make(work, "before.data")
with sqlite3.connect(db) as c:
    for old, new in (("lookup", FULL), ("parse", "app::parse(int)"),
                     ("format", "app::parse(char)"), ("checksum", LONG)):
        assert c.execute("UPDATE symbol SET name = ? WHERE name = ?", (new, old)).rowcount
c.close()
page, svg = work + "/report.html", work + "/flame.svg"
draw("report", "--html", "--no-source", "-o", page, db)
draw("flame", "--minwidth", "0", "-o", svg, db)


def found(b, text):
    """What the picture says after a search."""
    said = b.find(text)
    b.keys("Escape")
    return said


def check_flame(b):
    b.open(svg)
    at = b.js("return [...document.querySelectorAll('#frames > g')].findIndex("
              "g => g.dataset.n === arguments[0])", SHORT)
    said = b.js("""
        const g = document.querySelectorAll('#frames > g')[arguments[0]];
        return [g.querySelector('text').textContent, g.querySelector('title').textContent];""", at)
    ok(said[0] == SHORT, "a_frame_has_the_short_name", said[0])
    ok(said[1].startswith(FULL + "\n"), "its_tooltip_has_the_full_one", said[1])
    short = found(b, "^app::find<std::string>$")
    ok(short.startswith("matched") and short == found(b, "^void.app::find<std::__cxx11.*const$"),
       "both_are_found", short)


def check_page(b):
    b.open(page)
    names = b.js("return [...document.querySelectorAll('#hot tbody button.link')]"
                 ".map(x => [x.textContent, x.title, x.getBoundingClientRect().height])")
    by_name = {n[0]: n for n in names}
    ok(SHORT in by_name and by_name[SHORT][1].startswith(FULL + "\n"),
       "a_row_has_the_short_name_and_the_full_one_in_its_tip", names)
    ok("app::parse(int)" in by_name and "app::parse(char)" in by_name,
       "overloads_are_told_apart", names)
    cut = [n for n in by_name if "\u2026" in n]
    ok(len(cut) == 1 and cut[0].startswith("app::long_") and cut[0].endswith("_name"),
       "a_long_name_has_both_ends", names)
    ok(len({n[2] for n in names}) == 1, "each_row_is_one_line", names)
    b.js("document.querySelector('#hot_search').value = '__cxx11';"
         "document.querySelector('#hot_search').dispatchEvent(new Event('input'))")
    b.settle("return document.querySelectorAll('#hot tbody tr').length === 1")
    ok(b.text("#hot tbody button.link") == SHORT, "the_table_is_searched_for_full_names")
    b.js("document.querySelector('#hot tbody button.link').click()")
    ok(b.text("#func") == SHORT, "callers_and_callees_have_it")
    ok("__cxx11" in b.js("return decodeURIComponent(location.hash)"), "a_link_has_the_full_name",
       b.js("return location.hash"))
    b.reload()
    ok(b.text("#func") == SHORT, "and_is_found_again", b.text("#func"))


with Browser(1200, 900) as browser:
    check_flame(browser)
    check_page(browser)
shutil.rmtree(work)
finish()
