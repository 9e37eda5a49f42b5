# link.py - addresses of views that can be read, and views as PNG files.
"""What an address says in words is what is shown, and the other way round."""

import base64
import os
import shutil
import struct
import tempfile

from browser import (OUT, Browser, ask, draw, finish, make, needs, number, ok)

needs("link")
work = tempfile.mkdtemp()
db = make(work, "defer-lost-clock.data.zst")
before, after = make(work, "before.data"), make(work, "after.data")
page, changes = work + "/report.html", work + "/diff.html"
draw("report", "--html", "--no-source", "-o", page, db)
draw("report", "--html", "--no-source", "--diff", "-o", changes, before, after)


def link(b):
    return b.js("return location.hash")


def at(b, words):
    """Goes to an address while the page is open."""
    b.js("location.hash = arguments[0]", words)
    b.settle("return location.hash === '' || performance.now() > 0")
    b.settle("return new Promise(r => setTimeout(() => r(1), 60))")


def again(b, name, words):
    """The address is as expected, and brings back what is shown."""
    said = b.text("#details")
    chips = b.text("#chips")
    ok(link(b) == words, name, link(b), words)
    b.reload()
    ok(b.text("#details") == said and b.text("#chips") == chips and
       link(b) == words, name + "_and_is_found_again", b.text("#details"), said)


def samples(b):
    return int(number(b.text("#details")))


def check_words(b):
    b.open(page)
    ok(link(b) == "", "a_fresh_page_has_no_address")
    b.js("document.querySelector('#hot tbody button.link').click()")
    name = b.text("#func")
    again(b, "a_function_is_named", "#view=callers&func=" + name)
    b.keys("0")
    thread = b.text("#threads .name")
    b.js("document.querySelector('#threads input').click()")
    again(b, "a_thread_is_named", "#view=flame&threads=" +
          thread.replace(" ", ":"))
    b.keys("0")
    b.js("""
        const set = (id, v) => {
            document.querySelector(id).value = v;
            document.querySelector(id).dispatchEvent(new Event("change"));
        };
        set("#from", "0.5"); set("#to", "1.25");""")
    ok(link(b).startswith("#view=flame&from=0.5s&to=1.25"),
       "times_are_seconds", link(b))
    again(b, "a_range_is_seconds", link(b))
    b.js("document.querySelector('#search').value = 'do_(idle|syscall)'; "
         "document.querySelector('#search').dispatchEvent(new Event('input'))")
    b.settle("return location.hash.includes('search')")
    ok(link(b).endswith("&search=do_(idle%7Csyscall)"), "search_is_a_word",
       link(b))


def check_written(b):
    """Addresses that somebody wrote."""
    b.open(page, "#view=flame&verdicts=chain_lost")
    want = ask(db, "SELECT count(*) FROM samples WHERE verdict = 'chain_lost'")
    ok(samples(b) == want[0][0], "a_verdict_can_be_written", b.text("#details"))
    at(b, "#cpus=0,2")
    want = ask(db, "SELECT count(*) FROM samples WHERE cpu IN (0, 2)")
    ok(samples(b) == want[0][0], "cpus_can_be_written", b.text("#details"))
    at(b, "#cpus=0,2&without=do_idle&reverse&collapse")
    want = ask(db, "SELECT count(*) FROM samples s WHERE cpu IN (0, 2) AND NOT "
               "EXISTS (SELECT 1 FROM stack_frames f WHERE f.symbol = 'do_idle'"
               " AND f.stack IN (s.kernel_stack, s.user_stack))")
    ok(samples(b) == want[0][0], "a_frame_can_be_left_out", b.text("#details"))
    ok(b.js("return document.querySelector('#reverse').ariaPressed") == "true",
       "flags_need_no_value")
    b.js("history.back()")
    whole = ask(db, "SELECT count(*) FROM samples")[0][0]
    for wrong in ("#nonsense", "#func=no_such&zoom=a;b&threads=x:1&cpus=99",
                  "#from=x&to=%E0%A4%A&search=%", "#[1,2,3]", "#view=&event="):
        b.open("/dev/null")
        b.open(page, wrong)
        ok(samples(b) == whole, "what_a_page_does_not_know_is_ignored" +
           str(len(wrong)), wrong, b.text("#details"))


def check_zoom(b):
    b.open(changes)
    b.js("document.querySelector('#flame').focus()")
    b.keys("Up", "Up", "Up", "Up", "Enter")
    path = "slower;%5Blibc.so.6%5D;main".replace("%5B", "[").replace("%5D", "]")
    again(b, "a_zoom_is_the_path_to_the_frame", "#view=flame&zoom=" + path)
    b.keys("0")
    b.js("document.querySelector('#changed button').click()")
    b.js("document.querySelector('#diff_by').click()")
    again(b, "changes_have_words", "#view=flame&changes=total&changes-zoom=" +
          path.replace("[", "[in%20") + ";request;reply;checksum")
    b.js("document.querySelector('#link').click()")
    ok(b.text("#details").startswith("copied: file://") and
       b.text("#details").endswith("checksum"), "it_can_be_copied",
       b.text("#details"))


PNG = """
    window.png = null;
    const real = URL.createObjectURL;
    URL.createObjectURL = blob => {
        const r = new FileReader();
        r.onload = () => { window.png = r.result; };
        r.readAsDataURL(blob);
        return real(blob);
    };"""


def check_png(b, path, name, keys):
    b.open("about:blank".replace("about:blank", "/dev/null"))
    b.open(path)
    b.js(PNG)
    for k in keys:
        b.js(k)
    wanted = b.js("""return [...document.querySelectorAll(
        ".graph .space")].filter(s => s.offsetParent).reduce((h, s) =>
        h + s.offsetHeight, 0)""")
    b.js("document.querySelector('#png').click()")
    data = b.settle("return window.png", name)
    png = base64.b64decode(data.split(",", 1)[1])
    with open(os.path.join(OUT, "view-%s.png" % name), "wb") as f:
        f.write(png)
    wide, high = struct.unpack(">II", png[16:24])
    ok(png[:8] == b"\x89PNG\r\n\x1a\n" and data.startswith("data:image/png") and
       high > wanted + 40 and wide > 300, name + "_is_a_png_of_all_that_is_shown",
       (wide, high), wanted)
    ok(b.text("#details").startswith("saved: "), name + "_says_so")
    _, said = b.logs()
    ok(not said, name + "_without_a_word_on_the_console", *said[:3])


with Browser(1200, 900) as browser:
    check_words(browser)
    check_written(browser)
    check_zoom(browser)
    browser.logs()
    check_png(browser, page, "flame", [])
    check_png(browser, page, "callers", [
        "document.querySelector('#hot tbody button.link').click()"])
    check_png(browser, changes, "changes", [])
shutil.rmtree(work)
finish()
