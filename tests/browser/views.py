# views.py - the HTML report over time: tracks, order of time, waits, the map.
"""Every number is compared with the database: waits and runs are worked out
again from the fields of sched_switch and sched_waking."""

import collections
import os
import re
import shutil
import sqlite3
import subprocess
import tempfile

from browser import (OUT, Browser, ask, box, choose, chosen, draw, finish,
                     make, needs, number, ok, shown, type_in, zero)

LANE = 22         # px of a track
ROW = 18          # and of a frame
WORD = {0: "ready to run", 1: "asleep", 2: "asleep, not to be interrupted",
        0x100: "preempted, ready to run", 0x80: "idle"}

needs("views")
work = tempfile.mkdtemp()

Switch = collections.namedtuple("Switch", "time cpu out state comes comm")


def switches(db):
    return [Switch(*row) for row in ask(
        db, "SELECT e.time_ns, e.cpu, f.prev_pid, f.prev_state, f.next_pid, "
        "f.next_comm FROM ev_sched_sched_switch f JOIN event e ON e.id = "
        "f.event_id ORDER BY e.id")]


def waits(db):
    """(tid, from, to, state) of threads that left once and came back."""
    away, out = {}, []
    for s in switches(db):
        if s.out:
            away[s.out] = None if s.state in (16, 32) else (s.time, s.state)
        if away.get(s.comes):
            out.append((s.comes, away[s.comes][0], s.time,
                        away[s.comes][1]))
        away.pop(s.comes, None)
    return out


def runs(db):
    """(cpu, tid, from, to, comm) where one switch follows another."""
    seat, out = {}, []
    for s in switches(db):
        if s.cpu in seat and seat[s.cpu].comes == s.out and s.out:
            out.append((s.cpu, s.out, seat[s.cpu].time, s.time,
                        seat[s.cpu].comm))
        seat[s.cpu] = s
    return out


def page_of(db, *options):
    path = os.path.join(work, os.path.basename(db) + ".html")
    draw("report", "--html", "-o", path, *options, db)
    return path


def inside(db, lo, hi):
    """Waits and their ns within a time."""
    part = [min(to, hi) - max(begin, lo) for _, begin, to, _ in waits(db)
            if begin < hi and (to > lo or begin >= lo)]
    return len(part), sum(part)


# ---- off the CPU

def check_waits(b, db):
    whole = inside(db, 0, 1 << 62)
    choose(b, "#event", "off-CPU")
    ok(shown(b) == whole and whole[0] > 10,
       "off_cpu_time_is_that_of_the_switches", shown(b), whole)
    share = collections.Counter()
    for tid, begin, to, _ in waits(db):
        share[tid] += to - begin
    tid, ns = share.most_common(1)[0]
    row = b.js("const r = document.querySelector('#threads label');"
               "return [r.querySelector('.name').textContent,"
               "r.querySelector('.n').textContent]")
    ok(row[0].endswith(" %d" % tid) and
       abs(number(row[1]) - 100 * ns / whole[1]) < 0.0101,
       "the_list_of_threads_has_their_shares", row, tid, ns)
    choose(b, "#event", "cpu-clock and off-CPU")
    on = ask(db, "SELECT count(*), sum(weight) FROM samples "
             "WHERE event = 'cpu-clock'")[0]
    ok(shown(b) == (on[0] + whole[0], on[1] + whole[1]),
       "wall_clock_time_is_both", shown(b), on, whole)
    rows = b.js("return [...document.querySelectorAll('#hot tbody tr')].map("
                "r => [...r.cells].map(c => c.textContent))")
    asleep = sum(to - begin for _, begin, to, state in waits(db) if state == 1)
    row = next(r for r in rows if r[4] == "[off-CPU: S]")
    ok(abs(float(row[0]) - 100 * asleep / sum((on[1], whole[1]))) < 0.0101 and
       row[3] == "off-CPU", "the_table_has_waits_by_state", row, asleep)
    s = box(b, "#strip")
    b.point(s[0] + s[2] * 0.31, s[1] + 20, button=0,
            to=(s[0] + s[2] * 0.62, s[1] + 20))
    lo, hi = chosen(b)
    on = ask(db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples "
             "WHERE event = 'cpu-clock' AND time_ns >= ? AND time_ns < ?",
             lo, hi)[0]
    off = inside(db, lo, hi)
    ok(shown(b) == (on[0] + off[0], on[1] + off[1]) and off[0] < whole[0],
       "a_range_cuts_the_waits_that_cross_it", shown(b), on, off)
    b.keys("0")


def check_wall():
    db = make(work, "pipe-zstd.data")
    with sqlite3.connect(db) as c:	# as if each switch was recorded
        c.execute("UPDATE event_type SET weight = events"
                  " WHERE name = 'sched:sched_switch'")
    path = page_of(db)
    with Browser(1400, 900) as b:
        b.open(path)
        check_waits(b, db)
        check_order_of_waits(b, db)
        choose(b, "#event", "cpu-clock (")
        check_map(b, db, "cpu-clock")
        check_wait(b, db)
        check_empty(b)
        b.quiet(path, "waits")
    path = page_of(db, "--wall")
    with Browser(1400, 900) as b:
        b.open(path)
        ok("samples and waits" in b.text("#details") and
           b.js("return document.querySelector('#event')"
                ".selectedOptions[0].textContent").startswith(
                    "cpu-clock and off-CPU"), "--wall_opens_with_both")
        ok("--wall" in b.text("#same").split(), "and_says_so_in_the_command",
           b.text("#same"))
        b.js("[...document.querySelectorAll('#cpus label')].find(l => "
             "l.textContent.includes('no CPU')).click()")
        ok(b.js("return document.querySelector('#command').hidden"),
           "no_command_shows_what_is_on_no_cpu", b.text("#same"))


# ---- tracks

def lane(b, name):
    """Focuses a lane by its name; where its middle is in the window."""
    b.js("document.querySelector('#lanes').focus()")
    last, i = None, 0
    while b.text("#details") != last:		# to the first one
        last = b.text("#details")
        b.keys("Up")
    last = None
    while b.text("#details").rsplit(": ", 1)[0] != name:
        if b.text("#details") == last:
            raise KeyError(name)
        last = b.text("#details")
        b.keys("Down")
        i += 1
    top = b.js("return document.querySelector('#tracks').scrollTop")
    return box(b, "#tracks")[1] + i * LANE + LANE / 2 - top


def x_of(b, ns):
    """Where a time of the whole capture is."""
    s = box(b, "#time")
    lo, hi = chosen(b)
    return s[0] + s[2] * (ns - lo) / (hi - lo)


def in_time(ns):
    return "%.3f %s" % ((ns / 1e6, "ms") if ns >= 1e6 else (ns / 1e3, "us"))


def check_tracks(b, db):
    cpu, tid, begin, to, comm = max(runs(db), key=lambda r: r[3] - r[2])
    y = lane(b, "CPU %d" % cpu)
    b.point(x_of(b, (begin + to) / 2), y)
    ok("%s %d ran on CPU %d for %s" % (comm, tid, cpu, in_time(to - begin))
       in b.text("#tip"), "a_cpu_says_what_ran_and_how_long", b.text("#tip"),
       (cpu, tid, begin, to))
    woken = ask(db, "SELECT e.time_ns, f.pid, c.name FROM "
                "ev_sched_sched_waking f JOIN event e ON e.id = f.event_id "
                "JOIN comm c ON c.id = e.comm ORDER BY 1")
    tid, begin, to, state = max(
        (w for w in waits(db) if any(
            p == w[0] and w[1] <= t <= w[2] for t, p, _ in woken)),
        key=lambda w: w[2] - w[1])
    time, _, waker = next(w for w in woken
                          if w[1] == tid and begin <= w[0] <= to)
    name, = ask(db, "SELECT comm FROM samples WHERE tid = ? ORDER BY time_ns "
                "DESC LIMIT 1", tid)[0]
    y = lane(b, "%s %d" % (name, tid))
    b.point(x_of(b, (begin + time) / 2), y)
    tip = b.text("#tip")
    ok("off the CPU for %s: %s" % (in_time(to - begin), WORD[state]) in tip and
       ", woken by %s " % waker in tip and "(likely)" in tip and
       " after " + in_time(time - begin) in tip,
       "a_thread_says_how_long_it_waited_and_who_woke_it", tip,
       (tid, begin, to, waker, time))
    b.point(x_of(b, (begin + time) / 2), y, button=0)
    ok(b.text("#wait .halves h3") == "It waited in" and
       b.text("#wait .halves > :last-child h3").startswith(
           "Woken by %s " % waker), "and_a_click_where_and_by_what",
       b.text("#wait"))
    b.keys("0")
    s = box(b, "#time")
    b.point(s[0] + s[2] * 0.4, y, button=0, to=(s[0] + s[2] * 0.7, y))
    lo, hi = chosen(b)
    event = b.js("return document.querySelector('#event').selectedOptions[0]"
                 ".textContent").rsplit(" (", 1)[0]
    want = ask(db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples "
               "WHERE event = ? AND time_ns >= ? AND time_ns < ?",
               event, lo, hi)[0]
    ok(shown(b) == want and want[0] > 0, "a_drag_there_chooses_the_time",
       shown(b), want)
    b.keys("0")
    y = lane(b, "CPU 0")
    want = ask(db, "SELECT count(*), coalesce(sum(weight), 0) FROM samples "
               "WHERE event = ? AND cpu = 0", event)[0]
    b.keys("o")
    ok(shown(b) == want, "o_chooses_a_lane", shown(b), want)
    left = box(b, "#lanes")[0]
    ok(s[0] - left > 50, "names_are_beside_the_times", s, left)
    b.point(left + 10, y, button=0)
    ok(shown(b)[0] > want[0], "a_click_on_its_name_takes_it_back", shown(b))
    b.keys("t")
    ok(b.js("return document.querySelector('#tracks').hidden"),
       "t_hides_the_tracks")
    b.keys("u")
    ok(not b.js("return document.querySelector('#tracks').hidden"),
       "and_undo_brings_them_back")


def check_wait(b, db):
    """A click on a wait shows its stacks, and the chosen time stays."""
    tid, begin, to, state = max(
        (w for w in waits(db) if w[3] == 1), key=lambda w: w[2] - w[1])
    name, = ask(db, "SELECT comm FROM samples WHERE tid = ? ORDER BY time_ns "
                "DESC LIMIT 1", tid)[0]
    y = lane(b, "%s %d" % (name, tid))
    s = box(b, "#time")
    whole = chosen(b)
    x = x_of(b, (begin + to) / 2)
    b.point(x - 30, y, button=0, to=(x + 30, y))
    time = chosen(b)
    b.js("window.scrollTo(0, 0)")
    y = lane(b, "%s %d" % (name, tid))
    b.point(x, y, button=0)
    ok(chosen(b) == time != whole and
       not b.js("return document.querySelector('#wait').hidden"),
       "a_click_on_a_wait_keeps_the_chosen_time", chosen(b), time, whole)
    ok(b.text("#wait p").startswith("%s %d, at " % (name, tid)) and
       "off the CPU for %s: %s" % (in_time(to - begin), WORD[state]) in
       b.text("#wait p"), "and_says_what_it_was", b.text("#wait p"))
    want = [re.sub(r"\.\w+\.\d+$", "", r[0]) for r in ask(
        db, "SELECT coalesce(f.symbol, '[kernel.kallsyms]') FROM samples s "
        "JOIN stack_frames f ON f.stack = s.kernel_stack WHERE s.tid = ? AND "
        "s.time_ns = ? AND s.event = 'sched:sched_switch' ORDER BY f.pos",
        tid, begin)]
    got = b.js("return [...document.querySelectorAll("
               "'#wait .halves div:first-child li')].map(l => "
               "l.textContent.replace(/ kernel$/, ''))")
    ok(want and got[:len(want)] == want, "and_in_what_it_waited", got, want)
    hash_ = b.js("return location.hash")
    b.reload()
    ok("wait=" in hash_ and
       not b.js("return document.querySelector('#wait').hidden"),
       "the_address_knows_the_wait", hash_)
    b.keys("u")
    b.js("document.querySelector('#wait button:last-child').click()")
    b.keys("0")
    ok(b.js("return document.querySelector('#wait').hidden"),
       "it_can_be_closed")


def check_empty(b):
    """What has nothing to show is not there."""
    ok(not [o for o in b.js("return [...document.querySelector('#event')"
                            ".options].map(o => o.textContent)")
            if o.endswith("(0)")], "no_event_without_samples_is_offered")
    empty = b.js("return [...document.querySelectorAll('main > section')]"
                 ".filter(s => s.querySelector('table') ? !s.querySelector("
                 "'tbody tr') : !s.querySelector('li, p + *')).map(s => s.id)")
    ok(not empty, "no_table_is_empty", empty)


def check_plain():
    """A recording without CPUs, switches and losses has no place for them."""
    path = page_of(make(work, "fp-1.data"))
    with Browser(1400, 900) as b:
        b.open(path)
        check_empty(b)
        ok(b.js("return document.querySelector('#cpus').closest('fieldset')"
                ".hidden"), "no_list_of_cpus_where_none_is_known")
        ok(box(b, "#time")[3] < 80, "no_row_for_losses_where_nothing_is_lost",
           box(b, "#time"))
        b.keys("t")
        b.js("document.querySelector('#lanes').focus()")
        b.keys("Up")
        ok("CPU" not in b.text("#details"), "no_track_of_no_cpu",
           b.text("#details"))
        ok(not b.js("return [...document.querySelectorAll('th')].some(h => "
                    "['File', 'Symbol'].includes(h.textContent))"),
           "headings_have_the_words_of_the_texts")
        b.quiet(path, "plain")


# ---- order of time

def boxes(b, row):
    """What the boxes of a row say, from left to right."""
    b.js("document.querySelector('#flame').focus()")
    b.keys(*["Up"] * row)
    out = []
    while not out or out[-1] != b.text("#details"):
        out.append(b.text("#details"))
        b.keys("Right")
    return out


def counts(said):
    """The number of samples or waits that each box says."""
    return [int(number(s.rsplit(" \u2014 ", 1)[1])) for s in said]


def check_order(b, db, event):
    comm, tid, n = ask(
        db, "SELECT comm, tid, count(*) FROM samples WHERE event = ?1 AND "
        "comm <> 'swapper' GROUP BY 1, 2 ORDER BY 3 DESC LIMIT 1", event)[0]
    choose(b, "#lane", "in time: %s %d" % (comm, tid))
    ok("the picture: {:,} samples in order".format(n) in b.text("#details"),
       "the_order_of_time_has_all_samples_of_a_thread", b.text("#details"), n)
    ok(b.js("return document.querySelector('#command').hidden"),
       "no_command_draws_the_order_of_time", b.text("#same"))
    samples = ask(
        db, "SELECT s.time_ns, coalesce((SELECT f.symbol FROM stack_frames f "
        "WHERE f.stack = coalesce(s.kernel_stack, s.user_stack) AND f.pos = "
        "0), '') FROM samples s WHERE event = ?1 AND comm = ?2 AND tid = ?3 "
        "ORDER BY s.time_ns", event, comm, tid)
    got = counts(boxes(b, 1))
    ok(sum(got) == n, "its_boxes_add_up_to_them", sum(got), n)
    # a sample that has its time for itself, by name
    i = next(i for i in range(len(samples) // 2, len(samples) - 1) if
             samples[i][1] and samples[i + 1][0] - samples[i][0] > 50000 and
             samples[i][0] - samples[i - 1][0] > 50000)
    for name, ns in ("#from", samples[i - 1][0] - 20000), \
            ("#to", samples[i + 1][0] + 20000):
        ns -= zero(b)
        type_in(b, name, "%d.%09d" % (ns // 10**9, ns % 10**9))
    lo, hi = chosen(b)
    few = [s for s in samples if lo <= s[0] < hi]
    ok("the picture: %d samples" % len(few) in b.text("#details"),
       "a_range_leaves_the_samples_within", b.text("#details"), few)
    b.js("document.querySelector('#closer').click()")
    b.js("document.querySelector('#flame').focus()")
    width = box(b, "#flame")[2]
    at = few.index(samples[i])
    x = box(b, "#flame")[0] + width * (samples[i][0] - lo) / (hi - lo) + 3
    b.js("document.querySelector('#graph').scrollIntoView({block: 'end'})")
    g = box(b, "#graph")
    y = g[1] + g[3] - 9
    seen = None
    while y > g[1]:		# from the root to the innermost frame above it
        b.point(x, y)
        if b.js("return document.querySelector('#tip').hidden"):
            break
        seen = b.text("#tip .name")
        y -= ROW
    ok(seen == samples[i][1], "a_zoom_shows_the_stack_of_one_sample", seen,
       samples[i], at)
    before = chosen(b), b.text("#details")
    b.point(x, g[1] + g[3] - 27, button=0)
    ok(b.js("return document.querySelector('#farther').disabled") is False and
       "samples in order" in b.text("#details"),
       "a_click_shows_the_time_of_a_frame", b.text("#details"))
    b.keys("u")
    ok((chosen(b), b.text("#details")) == before, "undo_goes_back")
    at = b.js("return location.hash")
    b.reload()
    ok(b.text("#details") == before[1], "the_address_knows_the_order", at)
    b.keys("0", "T")
    ok("in order of time" in b.text("#details"), "T_is_the_heaviest_thread")
    b.keys("T")
    ok("in order of time" not in b.text("#details"), "and_merged_again")


def check_order_of_waits(b, db):
    choose(b, "#event", "cpu-clock and off-CPU")
    tid = max(waits(db), key=lambda w: w[2] - w[1])[0]
    comm, n = ask(db, "SELECT comm, sum(event = 'cpu-clock') FROM samples "
                  "WHERE tid = ? GROUP BY 1 ORDER BY count(*) DESC", tid)[0]
    choose(b, "#lane", "in time: %s %d" % (comm, tid))
    n += len([w for w in waits(db) if w[0] == tid])
    want = "the picture: %d samples and waits" % n if n > 1 else \
        "the picture: 1 sample or wait"
    ok(want in b.text("#details"), "the_order_of_time_has_the_waits",
       b.text("#details"), want)
    b.keys("0")


def check_scroll(path):
    """More lanes than fit scroll: each is all in view, with its number, and a tip
    is beside the lane that it tells of."""
    for width in 1400, 400:
        with Browser(width, 900, "light") as b:
            b.open(path)
            b.js("if (document.querySelector('#tracks').hidden) "
                 "document.querySelector('#rows').click();"
                 "document.querySelector('#tracks').scrollIntoView({block: "
                 "'center'})")
            n, high, most = b.js("""
                const t = document.querySelector("#tracks");
                return [t.firstChild.clientHeight, t.clientHeight, t.scrollHeight];
                """)
            ok(n > high and n == most and n % LANE == 0 and high % LANE == 0,
               "lanes_scroll_and_none_is_cut_%d" % width, n, high, most)
            b.js("document.querySelector('#lanes').focus()")
            b.keys(*["Down"] * (n // LANE))
            last = b.js("""
                const t = document.querySelector("#tracks");
                const c = document.querySelector("#lanes");
                const part = devicePixelRatio;
                const y = c.height - 22 * part;
                const ink = c.getContext("2d").getImageData(0, y, 90 * part,
                                                            20 * part).data;
                return [t.scrollTop + t.clientHeight,
                        ink.some((v, i) => i % 4 === 3 && v > 99)];""")
            ok(last == [n, True], "keys_reach_the_last_lane_%d" % width, last, n)
            x, y, w, _ = box(b, "#tracks")
            for part in 0.5, 0.9:
                for row in 0, high // LANE - 1:
                    b.point(x + w * part, y + row * LANE + LANE / 2)
                    _, top, _, tall = box(b, "#tip")
                    ok(tall and (top >= y + (row + 1) * LANE - 2 or
                                 top + tall <= y + row * LANE + 2),
                       "a_tip_is_beside_its_lane_%d_%s_%d" % (width, part, row),
                       top, tall, y)
            b.quiet(path, "scroll_%d" % width)


def check_resize(path):
    """A page is drawn again at once: a picture by a headless browser waits for
    no timer."""
    with Browser(1000, 900, "light") as b:
        b.open(path)
        sizes = b.js("""
            document.body.style.width = "500px";
            dispatchEvent(new Event("resize"));
            return ["#flame", "#time"].map(css => {
                const c = document.querySelector(css);
                return [c.width / devicePixelRatio,
                        c.getBoundingClientRect().width];
            });""")
        ok(all(abs(a - drawn) < 2 for a, drawn in sizes),
           "a_new_width_is_drawn_at_once", sizes)


def check_narrow_names(path):
    """Threads of one name are told apart by their numbers, also where the names
    have little room."""
    with Browser(400, 900, "light") as b:
        b.open(path)
        said = b.js("""
            const text = CanvasRenderingContext2D.prototype.fillText, said = [];
            CanvasRenderingContext2D.prototype.fillText = function (s, ...at) {
                said.push(s);
                return text.call(this, s, ...at);
            };
            document.querySelector("#rows").click();
            document.querySelector("#rows").click();
            document.body.style.width = "360px";
            dispatchEvent(new Event("resize"));
            return said;""")
        tids = [str(t) for t, in ask(ftrace, "SELECT DISTINCT tid FROM samples "
                                     "WHERE comm = 'qemu-system-x86'")]
        ok(len(tids) > 2 and all(any(s.startswith("qemu-") and s.endswith(
            "\u2026 " + t) for s in said) for t in tids),
           "narrow_names_keep_their_numbers", said)


# ---- the map

def check_map(b, db, event):
    rows = (b.js("return document.querySelector('#graph .space')"
                 ".clientHeight") - 1) / ROW
    b.js("document.querySelector('#flame').focus()")
    b.keys("Up", "Up", "Enter")
    ok(b.js("return !document.querySelector('#map').hidden"),
       "the_map_is_there_when_a_part_is_shown")
    order = ask(db, "SELECT comm, sum(weight) FROM samples WHERE event = ? "
                "GROUP BY 1 ORDER BY 1", event)
    whole = sum(w for _, w in order)
    comm, weight = max(order, key=lambda o: o[1])
    left = sum(w for c, w in order if c < comm)
    b.js("document.querySelector('#map').scrollIntoView({block: 'center'})")
    m = box(b, "#map")
    b.point(m[0] + m[2] * (left + weight / 2) / whole,
            m[1] + m[3] - 1.5 * min(48 / rows, 4), button=0)
    ok("zoomed to %s, %.2f %%" % (comm, 100 * weight / whole) in
       b.text("#details"), "a_click_on_it_zooms", b.text("#details"), comm)
    b.keys("0")


# ---- tables within a range

def table(b, name):
    """Texts of the rows that are to be seen."""
    return b.js("return [...document.querySelectorAll('#t-%s tbody tr')]"
                ".filter(r => !r.hidden).map(r => [...r.cells].map("
                "c => c.textContent))" % name)


def figures(rows, *columns):
    """The last one is a number; None where the cell is empty."""
    return sorted([r[i] if k < len(columns) - 1 else
                   int(number(r[i])) if r[i] else None
                   for k, i in enumerate(columns)] for r in rows)


def check_tables(b, db):
    before = {name: table(b, name) for name in
              ("requests", "chains", "losses", "findings")}
    s = box(b, "#strip")
    b.point(s[0] + s[2] * 0.3, s[1] + 20, button=0,
            to=(s[0] + s[2] * 0.6, s[1] + 20))
    lo, hi = chosen(b)
    for kind, sql in ("request", "request r JOIN event e ON e.id = r.event"), \
            ("chain", "chain r"):
        time = "e.time_ns" if kind == "request" else "r.time_ns"
        want = ask(db, "SELECT v.name, c.name, count(*) FROM %s JOIN word v "
                   "ON v.kind = '%s' AND v.id = r.verdict JOIN word c ON "
                   "c.kind = 'confidence' AND c.id = r.confidence WHERE %s >= "
                   "? AND %s < ? GROUP BY 1, 2" % (sql, kind, time, time),
                   lo, hi)
        ok(figures(table(b, kind + "s"), 0, 1, 2) ==
           sorted(map(list, want)) and want,
           "the_table_of_%ss_is_of_the_range" % kind, table(b, kind + "s"),
           want)
    want = ask(db, "SELECT what, coalesce(cpu, ''), sum(n) FROM "
               "loss WHERE coalesce(t1, ?1) >= ?1 AND coalesce(t0, ?1) < ?2 "
               "GROUP BY capture, what, cpu, counts", lo, hi)
    ok(figures(table(b, "losses"), 1, 2, 3) ==
       sorted([w, str(c), n] for w, c, n in want) and want,
       "and_the_table_of_losses", table(b, "losses"), want)
    want = ask(db, "SELECT r.name, count(*) FROM internal_finding f JOIN internal_rule r ON "
               "r.id = f.rule WHERE f.time_ns IS NULL OR (f.time_ns >= ? AND "
               "f.time_ns < ?) GROUP BY 1", lo, hi)
    ok(figures(table(b, "findings"), 0, 2) == sorted(map(list, want)),
       "and_that_of_findings", table(b, "findings"), want)
    ok(b.text("#t-unnamed .when") == "of the whole capture",
       "tables_without_times_say_so")
    b.keys("0")
    ok({name: table(b, name) for name in before} == before and
       b.js("return document.querySelector('#t-unnamed .when').hidden"),
       "without_a_range_they_are_as_before")


# ---- looks, names

def check_looks(path, label):
    for width in 1600, 1000, 400:
        for look in "light", "dark":
            with Browser(width, 1000, look) as b:
                b.open(path)
                b.js("if (document.querySelector('#tracks').hidden) "
                     "document.querySelector('#rows').click();"
                     "document.querySelector('#bar').scrollIntoView();")
                b.keys("+", "T")
                ok(b.js("return document.documentElement.scrollWidth") <=
                   width and "in order of time" in b.text("#details"),
                   "%s_fits_%d_%s" % (label, width, look))
                b.shot(os.path.join(OUT, "views-%s-%d-%s.png" %
                                    (label, width, look)))
                b.quiet(path, "%s_%d_%s" % (label, width, look))


def check_names():
    """Names that would like to be elements are text in all views."""
    mkcap = os.path.join(OUT, "mkcap")
    if not os.path.exists(mkcap):
        print("skip names_stay_text: no mkcap")
        return
    evil = "<img src=x onerror=alert(1)>"
    with open(work + "/evil.txt", "w") as f:
        f.write("event cpu-clock period=1000\n"
                'comm pid=7 name="%s"\n'
                "sample pid=7 tid=7 cpu=0 time=1000000 u=0x400010\n"
                "sample pid=7 tid=7 cpu=0 time=2000000 u=0x400010\n" % evil)
    subprocess.run([mkcap, work + "/evil.txt", work + "/evil.data"],
                   check=True)
    path = work + "/evil.html"
    draw("report", "--html", "-o", path, work + "/evil.data")
    with Browser() as b:
        b.open(path)
        before = b.js("return document.querySelectorAll('img, script').length")
        b.keys("t", "T")
        lane(b, evil + " 7")
        b.point(box(b, "#lanes")[0] + 300, box(b, "#tracks")[1] + 27)
        ok(evil in b.text("#lane") and evil in b.text("#details") and
           evil in b.text("#tip") and before == b.js(
               "return document.querySelectorAll('img, script').length"),
           "names_stay_text_in_all_views", b.text("#tip"))
        b.quiet(path, "evil_names")


def check_counts():
    """The tip of a lane without switches counts the samples of the event."""
    with open(work + "/counts.txt", "w") as f:
        f.write("event one period=1\nevent two period=1\n"
                "comm pid=7 name=counted\n" + "".join(
                    "sample event=%s pid=7 tid=7 cpu=0 time=%d u=0x400010\n" %
                    s for s in [("one", 1000000)] * 3 +
                    [("two", 1000000)] * 5 + [("one", 2000000)] * 2))
    subprocess.run([os.path.join(OUT, "mkcap"), work + "/counts.txt",
                    work + "/counts.data"], check=True)
    path = work + "/counts.html"
    draw("report", "--html", "-o", path, work + "/counts.data")
    with Browser() as b:
        b.open(path)
        choose(b, "#event", "one (")
        b.keys("t")
        y = lane(b, "counted 7")
        s = box(b, "#time")
        said = []
        for x in 0, s[2] // 2, s[2] - 1:
            b.point(s[0] + x, y)
            said.append(b.text("#tip"))
        ok([[w in t for w in ("3 samples;", "0 samples;", "2 samples;")]
            for t in said] == [[True, False, False], [False, True, False],
                               [False, False, True]],
           "the_tip_of_a_lane_counts_its_samples", said)
        type_in(b, "#from", "0")
        type_in(b, "#to", "0")
        b.keys("+")
        b.point(s[0] + s[2] // 2, y)
        ok("3 samples;" in b.text("#tip"), "also_within_a_wide_bin",
           b.text("#tip"))
        b.quiet(path, "counts")


def check_unknown():
    """A loss of a number that is not known is not one of 0 records."""
    path = page_of(make(work, "overwrite-defer.data.zst"))
    with Browser() as b:
        b.open(path)
        s = box(b, "#time")
        tips = []
        for y in range(50, int(s[3]), 3):
            b.point(s[0] + s[2] // 3, s[1] + y)
            tips += re.findall(r"overwritten, CPU \d: (.*?) \u2014",
                               b.text("#tip"))
        ok(set(tips) == {"not known how many"},
           "a_loss_of_an_unknown_number_is_not_one_of_0", tips)
        type_in(b, "#from", "0")
        type_in(b, "#to", "0.1")
        lost = [r[3:5] for r in table(b, "losses") if r[1] == "overwritten"]
        ok(lost and all(n == "" and times == "1" for n, times in lost),
           "nor_in_the_table_of_a_range", lost)


def check_many_interrupts():
    """Each of 300 waits is ended by an interrupt of its own."""
    def line(task, tid, us, event):
        return "%16s-%-7d [000] %s %5d.%06d: %s\n" % (
            task, tid, "d..." if "switch" in event else "d.h.",
            us // 10**6, us % 10**6, event)
    gone, back = ("sched_switch: prev_comm=%s prev_pid=%d prev_prio=120 "
                  "prev_state=%s ==> next_comm=%s next_pid=%d next_prio=120" % x
                  for x in (("prog", 100, "S", "swapper/0", 0),
                            ("swapper/0", 0, "R", "prog", 100)))
    with open(work + "/irqs.txt", "w") as f:
        f.write("# tracer: nop\n#\n")
        for i in range(300):
            us = 1000000 + 1000 * i
            f.write(line("prog", 100, us, gone) +
                    line("<idle>", 0, us + 100,
                         "irq_handler_entry: irq=%d name=eth-%d" % (i, i)) +
                    line("<idle>", 0, us + 110, "sched_waking: comm=prog "
                         "pid=100 prio=120 target_cpu=000") +
                    line("<idle>", 0, us + 120,
                         "irq_handler_exit: irq=%d ret=handled" % i) +
                    line("<idle>", 0, us + 130, back))
    path = page_of(work + "/irqs.txt")
    said = []
    with Browser() as b:
        for i in 1, 254, 255, 256, 299:
            b.open(path, "#view=flame&wait=%d" % i)
            said.append((i, b.text("#wait .line")))
    ok(all("woken by [irq:eth-%d]" % i in text for i, text in said),
       "each_of_many_interrupts_has_its_own_name", said)


check_counts()
check_unknown()
check_many_interrupts()
check_plain()
check_wall()
ftrace = make(work, "ftrace-v7.dat")
traced = page_of(ftrace)
with Browser(1400, 900) as browser:
    browser.open(traced)
    check_tracks(browser, ftrace)
    browser.quiet(traced, "tracks")
lost = make(work, "defer-lost-clock.data.zst")
page = page_of(lost)
check_scroll(page)
check_resize(page)
check_narrow_names(traced)
with Browser(1400, 1400) as browser:
    browser.open(page)
    check_order(browser, lost, "cpu-clock")
    check_tables(browser, lost)
    browser.quiet(page, "views")
calls = page_of(make(work, "fgraph"))
with Browser(1400, 900) as browser:
    browser.open(calls)
    ok(re.match(r"462 calls, [\d.]+ ms: all", browser.text("#details")),
       "calls_are_counted_as_such_and_have_their_time", browser.text("#details"))
check_looks(page, "samples")
check_looks(traced, "switches")
check_names()
shutil.rmtree(work)
finish()
