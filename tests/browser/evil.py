# evil.py - names from captures that would like to be scripts or elements.
"""Each text of a database is replaced, once by a plain name and once by one that
closes, opens or quotes what it stands in. Pictures and pages of both must be of
the same elements with the same attributes, and must show the names."""

import os
import re
import shutil
import sqlite3
import tempfile

from browser import (CAPTURES, Browser, ask, box, centre, draw,
                     finish, make, needs, ok)

RUN = "window.evil=1"
EVIL = [
    "</script><script>%s</script>" % RUN,
    "<img src=x onerror=%s>" % RUN,
    "]]><script>%s</script>" % RUN,
    "\" onmouseover=\"%s\" x=\"" % RUN,
    "' onfocus='%s' tabindex='0" % RUN,
    "javascript:" + RUN,
    "<!--<script>%s" % RUN,
    "--></title></style></svg><svg onload=%s>" % RUN,
    "\u2028%s\u2029" % RUN,
    "<a href=javascript:%s><iframe srcdoc=x>" % RUN,
    "\x01\x08\x1b[31m\x7f\x85\n\r\t",
    "&#x3c;script&#x3e;%s&lt;" % RUN,
    "${%s}`\\u003cscript>\\x3c\\" % RUN,
    "%%3Cscript%%3E#&view=callers&func=%s;," % RUN,
    "\u202e1=live\u2066\u200f\u061c\ufeff",
    "\xe4\xff<script src=//evil.invalid/x.js>",
]
PLAIN = ["plain%d_" % i for i in range(len(EVIL))]
# What a capture, a program or its debug information names.
COLUMNS = [
    ("capture", "path", "host", "release", "version", "arch", "cmdline",
     "clock", "note"),
    ("comm", "name", "label"), ("event_type", "name", "unit"),
    ("image", "path", "file", "status"), ("symbol", "name", "raw_name"),
    ("internal_label", "name"), ("frame", "file"), ("inline_frame", "name", "file"),
    ("jit_line", "file"), ("loss", "what"),
    ("damage", "kind", "what", "detail"),
]

needs("evil")
work = tempfile.mkdtemp()


def spoil(db, names, label, keep=()):
    """A copy in which texts are replaced: the nth of a column by the nth name
    and its number."""
    out = os.path.join(work, "%s-%s" % (label, os.path.basename(db)))
    shutil.copy(db, out)
    with sqlite3.connect(out) as c:
        c.execute("INSERT INTO damage(capture, kind, what, off, len, n, "
                  "detail) VALUES(1, 'a', 'b', 0, 0, 1, 'c')")
        for table, *columns in COLUMNS:
            for column in columns:
                if table + "." + column not in keep:
                    replace(c, table, column, names)
        for table, in c.execute("SELECT name FROM sqlite_master WHERE type = "
                                "'table' AND name GLOB 'ev_*'").fetchall():
            for _, column, *_ in c.execute(
                    "SELECT * FROM pragma_table_info(?)", (table,)).fetchall():
                replace(c, table, column, names)
    c.close()
    return out


def replace(c, table, column, names):
    name = '"%s"."%s"' % (table, column)
    texts = c.execute("SELECT DISTINCT %s FROM \"%s\" WHERE typeof(%s) = "
                      "'text' AND %s <> '' ORDER BY 1" %
                      (name, table, name, name)).fetchall()
    begin = len(table + column)		# columns begin with different names
    for n, (text,) in enumerate(texts):
        c.execute('UPDATE "%s" SET "%s" = ? WHERE %s = ?' %
                  (table, column, name),
                  (names[(n + begin) % len(names)] + str(n), text))


def shown(text):
    """How a name is written: what would not be seen, or turns text around, as
    an escape."""
    def escape(m):
        c = ord(m.group())
        return "\\x%02x" % c if c < 0x20 or c == 0x7f else "\\u%04x" % c
    return re.sub("[\x00-\x1f\x7f-\x9f\xad\u061c\u200b-\u200f\u2028-\u202e"
                  "\u2060-\u206f\ufeff]", escape, text)


def first(db, sql):
    """The names that a query gives, as they are shown."""
    return [shown(row[0]) for row in ask(db, sql) if row[0]]


def is_evil(text):
    return any(shown(e) in text for e in EVIL)


# ---- what a document is made of

# Pairs of element and attribute, the number of elements that could run or fetch
# something, and addresses that lead out of the document.
MADE_OF = """
    const pairs = new Set(), out = [];
    const some = ["script", "img", "image", "iframe", "object", "embed", "link",
        "meta", "base", "form", "a", "style", "foreignObject", "svg", "title"];
    for (const e of document.querySelectorAll("*"))
        for (const a of e.attributes) {
            // only names of which a part is not shown have a short one
            if (a.name !== "data-n")
                pairs.add(e.localName + " " + a.name);
            if (/href$|src|action|data$/.test(a.name) &&
                !/^(#|data:image\\/svg)/.test(a.value))
                out.push(a.value);
        }
    return [[...pairs].sort(), some.map(k => k + " " +
        document.getElementsByTagNameNS("*", k).length), out];
    """


class Judge:
    """What is seen of the plain documents, to compare with the evil ones."""

    def __init__(self, name):
        self.name = name
        self.made = {}
        self.plain = True

    def same(self, b, view):
        """It ran nothing, and is of the elements of the plain document."""
        made = b.js(MADE_OF)
        if self.plain:
            self.made[view] = made
            return
        ran = b.js("return String(window.evil)")
        more = [x for a, o in zip(made, self.made[view]) for x in a
                if x not in o]
        ok(ran == "undefined" and made == self.made[view] and not made[2],
           "%s_%s_has_only_its_own_elements" % (self.name, view), ran, more)

    def says(self, what, text, names):
        """A text has the names."""
        missing = [n for n in names if n not in text]
        if not self.plain:
            ok(names and not missing, "%s_%s" % (self.name, what),
               missing[:3], text[:600])

    def evil(self, what, text):
        if not self.plain:
            ok(is_evil(text), "%s_%s" % (self.name, what), text[:600])

    def end(self, b, path):
        b.quiet(path, self.name + ("_plain" if self.plain else "_evil"))
        self.plain = False


# ---- the page

def click(b, css):
    b.js("document.querySelector(arguments[0]).click()", css)


def look_at_texts(b, db, j):
    j.same(b, "as_it_opens")
    j.says("shows_host_and_command", b.text("header"), first(
        db, "SELECT host FROM capture UNION ALL SELECT cmdline FROM capture"))
    j.says("shows_captures_and_damage", b.text("main"), first(
        db, "SELECT path FROM capture UNION ALL SELECT detail FROM damage"))
    j.says("shows_its_threads", b.text("#threads"), first(
        db, "SELECT comm FROM samples GROUP BY 1 ORDER BY count(*) DESC "
        "LIMIT 3"))
    j.says("shows_its_event", b.text("#event"), first(
        db, "SELECT event FROM samples LIMIT 1"))


def walk_up(b):
    """To the first frame above the root."""
    b.js("document.querySelector('#flame').focus()")
    b.keys("Up", "Up")


def look_at_frames(b, j):
    b.js("document.querySelector('#flame').scrollIntoView({block: 'end'})")
    where = box(b, "#graph")
    b.point(where[0] + where[2] * 0.3, where[1] + where[3] - 27)
    j.evil("tip_is_text", b.text("#tip .name"))
    walk_up(b)
    j.evil("details_are_text", b.text("#details"))
    b.keys("m")
    j.same(b, "menu")
    b.keys("Escape", "w")
    j.evil("chips_are_text", b.text("#chips"))
    j.same(b, "without")
    b.keys("0")
    walk_up(b)
    b.keys("Enter")
    j.evil("zoom_is_text", b.text("#details"))
    j.same(b, "zoomed")
    b.keys("0")


def look_at_callers(b, j):
    b.js("[...document.querySelectorAll('#hot tbody button.link')].find(x => "
         "/^plain|evil|=1/.test(x.textContent)).click()")
    function = b.text("#func")
    j.evil("callers_are_text", function)
    j.same(b, "callers")
    b.reload()
    j.says("address_finds_its_function", b.text("#func"), [function])
    j.same(b, "callers_again")
    click(b, "#whole")


def look_at_time(b, db, j):
    b.js("if (document.querySelector('#tracks').hidden) "
         "document.querySelector('#rows').click();"
         "document.querySelector('#bar').scrollIntoView()")
    where = box(b, "#tracks")
    for x in 0.2, 0.4, 0.6, 0.8:
        b.point(where[0] + where[2] * x, where[1] + 9)
    j.same(b, "tracks")
    b.js("document.querySelector('#lanes').focus()")
    b.keys("Down", "Down", "Down", "Down", "Down", "Down")
    j.evil("track_is_text", b.text("#details"))
    b.keys("0", "T")
    j.says("lanes_are_text", b.text("#lane"), first(
        db, "SELECT comm FROM samples GROUP BY 1 ORDER BY count(*) DESC "
        "LIMIT 3"))
    j.same(b, "order_of_time")


def look_at_link(b, j):
    """An address may hold what it likes."""
    b.js("location.hash = '#view=callers&func=%3Cscript%3Ewindow.evil=1&"
         "threads=%3Cimg%20src=x%20onerror=window.evil=1%3E:1&zoom=</script>&"
         "search=%3Cimg%20src=x%20onerror=window.evil=1%3E'")
    b.settle("return document.querySelector('#search').value")
    j.same(b, "a_link")


def page(name, plain, evil, *options):
    """The page of plain databases, then that of evil ones."""
    j = Judge(name)
    for dbs in plain, evil:
        path = os.path.join(work, "page.html")
        draw("report", "--html", *options, "-o", path, *dbs)
        with Browser(1400, 1000) as b:
            b.open(path)
            b.settle("return document.querySelector('#details').textContent")
            if "--diff" in options:
                j.says("shows_the_event_of_both", b.text("#changes h2"), first(
                    dbs[-1], "SELECT event FROM samples LIMIT 1"))
            look_at_texts(b, dbs[-1], j)
            look_at_frames(b, j)
            look_at_callers(b, j)
            look_at_time(b, dbs[-1], j)
            look_at_link(b, j)
            j.end(b, path)


# ---- pictures

def walk_flame(b, j):
    """A frame is pointed at, kept, zoomed to and searched."""
    b.point(*centre(b, 1))
    j.evil("details_are_text", b.text("#details"))
    b.keys("o")
    j.evil("filter_is_text", b.text("#matched"))
    b.point(*centre(b, 1), button=0)
    b.find("<|=1")
    j.same(b, "in_use")


def picture(name, plain, evil, write):
    """A picture of plain databases, then that of evil ones."""
    j = Judge(name)
    for dbs in plain, evil:
        path = os.path.join(work, name)
        names = write(path, dbs)
        with Browser(1400, 1000) as b:
            b.open(path)
            j.same(b, "as_it_opens")
            j.says("shows_names", b.js(
                "return document.documentElement.textContent"), names)
            walk_flame(b, j)
            j.end(b, path)


def flame(path, dbs):
    draw("flame", "--minwidth", "0", *(["--diff"] if len(dbs) > 1 else []),
         "-o", path, *dbs)
    return first(dbs[-1], "SELECT comm FROM samples GROUP BY 1")


def both(capture, keep=()):
    """Plain and evil copies of a capture's database."""
    db = make(work, capture)
    return [spoil(db, PLAIN, "plain", keep)], [spoil(db, EVIL, EVIL[1][:4],
                                                     keep)]


SYMFS = os.path.join(CAPTURES, "symfs")
CODE = "image.path", "image.file"	# code is found by its path
SCHED = "event_type.name",		# and switches by the event's name
samples = both("fp-1.data")
lines = both("lines-clang.data.zst", CODE)
changes = [a + b for a, b in zip(both("before.data"), both("after.data"))]
picture("flame.svg", *samples, flame)
picture("changes.svg", *changes, flame)
page("samples", *samples)
page("switches", *both("ftrace-v7.dat", SCHED))
page("lines", *lines, "--symfs", SYMFS)
page("changes", *changes, "--diff")
shutil.rmtree(work)
finish()
