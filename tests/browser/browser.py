# browser.py - a headless Chromium to click in, over the WebDriver protocol.
"""chromedriver speaks HTTP and JSON, so nothing but Python is needed. Every
request that a page makes and every message on its console is recorded."""

import atexit
import base64
import collections
import json
import os
import re
import shutil
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib

ROOT = os.environ.get("ROOT", os.getcwd())
OUT = os.path.join(ROOT, os.environ.get("O", "build"))
BACKSTITCH = os.environ.get("BACKSTITCH", os.path.join(OUT, "backstitch"))
CAPTURES = os.path.join(ROOT, "tests/captures")
OPTIONS = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic",
           "--no-first-run", "--disable-background-networking",
           "--disable-component-update", "--disable-sync",
           "--disable-dev-shm-usage"]
KEYS = {"Backspace": "\ue003", "Enter": "\ue007", "Shift": "\ue008",
        "Escape": "\ue00c", "Left": "\ue012", "Up": "\ue013",
        "Right": "\ue014", "Down": "\ue015", "Alt": "\ue00a"}

failures = 0


class Refused(SystemExit):
    """What the driver says of a request that it did not carry out; a script
    that does not expect it ends with that."""


def ok(good, name, *detail):
    """One line for tests/run.sh; the details first, as they explain it."""
    global failures
    if not good:
        failures += 1
        for line in detail:
            print("   ", line)
    print("ok" if good else "not ok", name, flush=True)


def finish():
    sys.exit(1 if failures else 0)


def needs(name):
    """Ends the test, with the reason, where there is no browser."""
    for program in "chromium", "chromium-headless-shell", "chromedriver":
        if not shutil.which(program):
            print("skip %s: no %s" % (name, program))
            sys.exit(0)


def make(work, capture, kallsyms=True):
    """The database of a shipped capture."""
    db = os.path.join(work, capture.split(".")[0] + ".db")
    cmd = [BACKSTITCH, "ingest", "-q", "-o", db, "--symfs",
           os.path.join(CAPTURES, "symfs")]
    names = os.path.join(CAPTURES, capture.split(".")[0] + ".kallsyms")
    # those of another kernel, in place of those of a kernel that runs here
    other = os.path.join(CAPTURES, "events.kallsyms")
    cmd += ["--kallsyms", names if kallsyms and os.path.exists(names) else other]
    run = subprocess.run(cmd + [os.path.join(CAPTURES, capture)],
                         stderr=subprocess.PIPE)
    if run.returncode not in (0, 3):
        sys.exit("cannot ingest %s: %s" % (capture, run.stderr))
    return db


def audit(db):
    """What check says, as its JSON."""
    run = subprocess.run([BACKSTITCH, "check", "--json", "--limit", "1", db],
                         stdout=subprocess.PIPE)
    return json.loads(run.stdout)


def draw(*args, status=0):
    """Runs backstitch, which writes a file."""
    run = subprocess.run([BACKSTITCH] + list(args), stdout=subprocess.DEVNULL,
                         stderr=subprocess.PIPE)
    if run.returncode != status:
        sys.exit("backstitch %s: %s" % (args, run.stderr.decode()))


def ask(db, sql, *bind):
    """What the database itself says, read without backstitch."""
    with sqlite3.connect(db) as c:
        return c.execute(sql, bind).fetchall()


def number(text):
    """The first number of a text: 1234.5 of '1,234.5 ns'."""
    found = re.search(r"\d[\d,]*(\.\d+)?", text)
    return float(found.group().replace(",", "")) if found else None


def frame(b, name):
    """Index of the widest frame of that name."""
    return b.js("""
        const all = [...document.querySelectorAll("#frames > g")];
        let best = -1;
        all.forEach((g, i) => {
            if (g.querySelector("title").textContent.split("\\n")[0] ===
                arguments[0] && (best < 0 ||
                +g.dataset.w > +all[best].dataset.w))
                best = i;
        });
        return best;""", name)


def rect(b, i):
    """x, y, width as drawn, and whether it is to be seen."""
    return b.js("""
        const g = document.querySelectorAll("#frames > g")[arguments[0]];
        const r = g.querySelector("rect");
        return ["x", "y", "width"].map(a => +r.getAttribute(a)).concat(
            !g.classList.contains("hide"));""", i)


def centre(b, i):
    return b.js("""
        const g = document.querySelectorAll("#frames > g")[arguments[0]];
        const r = g.querySelector("rect");
        r.scrollIntoView({ block: "center" });
        const at = r.getBoundingClientRect();
        return [at.x + at.width / 2, at.y + at.height / 2];""", i)


def shown(b):
    """How many, and their weight, from the line below the picture."""
    parts = b.text("#details").split(", ", 1)
    return int(number(parts[0])), int(number(parts[1]))


def choose(b, css, text):
    """Chooses the first option that begins with a text."""
    b.js("const s = document.querySelector(arguments[0]);"
         "s.value = [...s.options].find(o => o.textContent.startsWith("
         "arguments[1])).value;"
         "s.dispatchEvent(new Event('change'))", css, text)


def chosen(b):
    """[from, to) of the chosen time, ns."""
    lo, hi = [int(v.replace(".", "")) + zero(b) for v in
              b.js("return ['#from', '#to'].map(i => "
                   "document.querySelector(i).value)")]
    step = b.text("#bin").split(";")[0].split(" ")[-2:]
    fine = step[1] == "ns" and int(step[0]) < 1000
    return lo, hi + (1 if fine else 1000)


def box(b, css):
    """x, y, width, height in the window."""
    return b.js("const r = document.querySelector(arguments[0])"
                ".getBoundingClientRect();"
                "return [r.x, r.y, r.width, r.height]", css)


def type_in(b, css, text):
    """Changes a field, as if somebody had typed."""
    b.js("const i = document.querySelector(arguments[0]);"
         "i.value = arguments[1];"
         "i.dispatchEvent(new Event('change'))", css, text)


def zero(b):
    """The time that the page calls 0, ns."""
    return int(b.text("#bin").rsplit(" at ", 1)[1].split(" ")[0]
               .replace(".", ""))


def pictured(path, width, height=900):
    """Colours of what 'chromium --headless --screenshot' makes of a file, with
    their numbers of pixels: what a bot posts that never scrolls."""
    png = os.path.join(tempfile.mkdtemp(), "shot.png")
    subprocess.run([shutil.which("chromium")] + OPTIONS + [
        "--window-size=%d,%d" % (width, height), "--screenshot=" + png,
        "file://" + path], check=True, stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL, timeout=60)
    with open(png, "rb") as f:
        data = f.read()
    shutil.rmtree(os.path.dirname(png))
    packed, at = b"", 8
    wide, high, _, form = struct.unpack(">IIBB", data[16:26])
    while at < len(data):
        n, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + n]
        at += n + 12
    step = {2: 3, 6: 4}[form]
    raw, row, colors = zlib.decompress(packed), bytearray(wide * step), collections.Counter()
    for y in range(high):
        line = y * (wide * step + 1)
        row = unfiltered(raw[line], raw[line + 1:line + 1 + wide * step], row, step)
        colors.update(zip(row[::step], row[1::step], row[2::step]))
    return {bytes(rgb): n for rgb, n in colors.items()}


def unfiltered(how, data, over, step):
    """A row of a PNG, by the row above it and its filter."""
    row = bytearray(data)
    if how == 2:
        return bytearray((a + up) & 255 for a, up in zip(row, over))
    for i, up in enumerate(over if how else ()):
        a, c = (row[i - step], over[i - step]) if i >= step else (0, 0)
        if how == 4:
            to_a, to_up, to_c = abs(up - c), abs(a - c), abs(a + up - 2 * c)
            near = a if to_a <= to_up and to_a <= to_c else up if to_up <= to_c else c
        else:
            near = a if how == 1 else (a + up) // 2
        row[i] = row[i] + near & 255
    return row


class Browser:
    """with Browser() as b: b.open(path); b.js("return 1")
    The window of the one Chromium that a program starts, empty: pages keep nothing
    (storage, cookies) that it would show, and a window of its own for each took a
    third of the processor time of all."""
    driver = home = base = None

    def __init__(self, width=1280, height=900, look=None):
        """look: "light" or "dark", for a page of that size; a window is larger
        by its frame, and never narrower than 500 pixels."""
        self.size = width, height
        self.look = look

    @classmethod
    def start_driver(cls):
        """Returns its port; None if it ended, as it does where another
        program was given the same port in between."""
        cls.driver = subprocess.Popen(
            ["chromedriver", "--port=0"], stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True)
        for line in cls.driver.stdout:
            found = re.search(r"started successfully on port (\d+)", line)
            if found:
                return found.group(1)
        cls.driver.wait()
        return None

    @classmethod
    def start(cls):
        port = cls.start_driver() or cls.start_driver()
        if not port:
            sys.exit("chromedriver does not start")
        cls.home = tempfile.mkdtemp()
        # Without the windows of chromium it takes two thirds of the processor
        # time. It begins without a page, for which chromedriver would wait.
        shell = os.path.join(cls.home, "shell")
        with open(shell, "w") as f:
            f.write('#!/bin/sh\nexec chromium-headless-shell "$@" about:blank\n')
        os.chmod(shell, 0o755)
        cls.base = "http://127.0.0.1:%s" % port
        atexit.register(cls.stop)
        options = OPTIONS + ["--user-data-dir=" + cls.home]
        got = cls.call("POST", "/session", {"capabilities": {"alwaysMatch": {
            "browserName": "chrome",
            "goog:chromeOptions": {"binary": shell, "args": options},
            "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"}}}})
        cls.base += "/session/" + got["sessionId"]

    @classmethod
    def stop(cls):
        try:
            cls.call("DELETE", "", {})
        except (OSError, SystemExit):
            pass
        cls.driver.terminate()
        cls.driver.wait()
        shutil.rmtree(cls.home, ignore_errors=True)

    def __enter__(self):
        if not Browser.driver:
            self.start()
        # the page before it may have been of another size and without scripts
        self.call("POST", "/url", {"url": "about:blank"})
        self.cdp("Emulation.setScriptExecutionDisabled", value=False)
        width, height = self.size
        self.call("POST", "/window/rect",
                  {"width": max(width, 600), "height": height})
        if self.look:
            self.cdp("Emulation.setDeviceMetricsOverride", width=width,
                     height=height, deviceScaleFactor=1, mobile=False)
        else:
            self.cdp("Emulation.clearDeviceMetricsOverride")
        self.cdp("Emulation.setEmulatedMedia", media="", features=[
            {"name": "prefers-color-scheme", "value": self.look or ""}])
        self.cdp("Page.bringToFront")
        # the browser's own first page is none of ours
        self.logs()
        return self

    def __exit__(self, *_):
        pass

    @classmethod
    def call(cls, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            cls.base + path, data, {"Content-Type": "application/json"},
            method=method)
        try:
            with urllib.request.urlopen(request, timeout=60) as answer:
                return json.load(answer)["value"]
        except urllib.error.HTTPError as e:
            raise Refused("%s: %s" % (path, json.load(e)["value"]["message"]))

    def cdp(self, command, **params):
        return self.call("POST", "/goog/cdp/execute",
                         {"cmd": command, "params": params})

    def node(self, selector):
        """The id of an element, once the page has it: without scripts nothing
        says when it was read, and the document of one request may be gone at
        the next."""
        end = time.monotonic() + 60
        while time.monotonic() < end:
            try:
                root = self.cdp("DOM.getDocument")["root"]["nodeId"]
                node = self.cdp("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
            except Refused:
                node = 0
            if node:
                return node
            time.sleep(0.02)
        sys.exit("no element is " + selector)

    def open(self, path, rest="", scripts=True):
        self.call("POST", "/url", {"url": "file://" + path + rest})
        if scripts:
            self.drawn()

    def reload(self):
        """Opens its address once more. After location.reload() of its own, a
        script would find the old page for a while, and then half of the new
        one."""
        self.call("POST", "/refresh", {})
        self.drawn()

    def drawn(self):
        """Waits until a page did what it puts off until it is shown: the
        buttons of its first table, by a timer of no time."""
        self.call("POST", "/execute/async",
                  {"script": "setTimeout(arguments[0])", "args": []})

    def js(self, script, *args):
        return self.call("POST", "/execute/sync",
                         {"script": script, "args": list(args)})

    def text(self, css):
        return self.js("return document.querySelector(arguments[0])"
                       ".textContent", css)

    def settle(self, script, what="the page", seconds=10):
        """Waits until the script says something true, and gives that."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.js(script)
            if value:
                return value
            time.sleep(0.05)
        raise TimeoutError("%s: never '%s'" % (what, script))

    def fits(self, name):
        """Nothing of the page is wider than its window, once it is laid out."""
        try:
            self.settle("return document.documentElement.scrollWidth <= "
                        "innerWidth", seconds=2)
            ok(True, name)
        except TimeoutError:
            ok(False, name, self.js("return [innerWidth, document."
                                    "documentElement.scrollWidth]"))

    def actions(self, *sources):
        self.call("POST", "/actions", {"actions": list(sources)})
        self.call("DELETE", "/actions", None)

    def keys(self, *keys):
        steps = []
        for k in keys:
            v = KEYS.get(k, k)
            steps += [{"type": "keyDown", "value": v},
                      {"type": "keyUp", "value": v}]
        self.actions({"type": "key", "id": "keys", "actions": steps})

    def find(self, text):
        """Searches a picture, and gives what it says. Each pause between keys
        searches for what is typed by then; the address has what was found last.
        A driver on a machine with much else to do loses a key now and then, so
        what the field lacks is typed anew, twice; the picture has no second try
        at what is in its field."""
        for _ in range(3):
            self.keys("/")
            self.settle("return document.activeElement?.type === 'search'",
                        "the search field")
            self.keys(*text)
            typed = self.js("return document.activeElement.value")
            if typed == text:
                break
            self.keys("Escape")
        self.settle("return new URLSearchParams(location.search).get('s') "
                    "=== " + json.dumps(text),
                    "the page, with %r in its field" % typed, seconds=30)
        return self.text("#matched")

    def point(self, x, y, button=None, to=None, hold=None):
        """The pointer goes to a place of the window, and clicks or drags."""
        move = {"type": "pointerMove", "x": int(x), "y": int(y), "duration": 0}
        steps = [move]
        if button is not None:
            steps.append({"type": "pointerDown", "button": button})
            if to:
                steps += [{"type": "pointerMove", "x": int(to[0]),
                           "y": int(to[1]), "duration": 50}]
            steps.append({"type": "pointerUp", "button": button})
        mouse = {"type": "pointer", "id": "mouse", "actions": steps}
        if hold:
            pad = [{"type": "pause"}] * len(steps)
            self.actions({"type": "key", "id": "keys", "actions":
                          [{"type": "keyDown", "value": KEYS[hold]}] + pad +
                          [{"type": "keyUp", "value": KEYS[hold]}]}, {
                              "type": "pointer", "id": "mouse", "actions":
                              [{"type": "pause"}] + steps})
        else:
            self.actions(mouse)

    def shot(self, path):
        """The whole window as a PNG, to look at."""
        with open(path, "wb") as f:
            f.write(base64.b64decode(self.call("GET", "/screenshot")))

    def logs(self):
        """(requests, messages) since the last call: addresses, and what the
        console says."""
        urls = []
        for entry in self.call("POST", "/se/log", {"type": "performance"}):
            m = json.loads(entry["message"])["message"]
            if m["method"] == "Network.requestWillBeSent":
                urls.append(m["params"]["request"]["url"])
        said = [e["message"] for e in
                self.call("POST", "/se/log", {"type": "browser"})]
        return urls, said

    def quiet(self, path, name):
        """Nothing but the file was asked for, and nothing went wrong."""
        urls, said = self.logs()
        others = [u for u in urls if not u.startswith("file://" + path) and
                  not u.startswith("data:")]
        ok(len(urls) > 0 and not others, name + "_requests_nothing",
           *others[:5])
        ok(not said, name + "_has_no_errors", *said[:5])
