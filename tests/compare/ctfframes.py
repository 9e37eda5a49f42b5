# ctfframes.py - frames of LTTng's stacks as file and offset, and their names.
"""usage: ctfframes.py

Worked out again from the text that babeltrace2 made of the captures: which file
was mapped at an address when a stack was taken, by the UST events of its
process or by the kernel's system calls; and which function that is, by
readelf, or of the kernel by kallsyms."""

import bisect
import os
import re
import shutil

import common
import ctf

KALLSYMS = "lttng/vm-kallsyms-text.txt"


class Space:
    """What a process has mapped: the newest mapping counts."""

    def __init__(self):
        self.maps = []

    def map(self, start, size, path, off=0):
        self.maps.append((start, start + size, path, off))

    def unmap(self, start):
        self.maps = [m for m in self.maps if m[0] != start]

    def find(self, ip):
        for start, end, path, off in reversed(self.maps):
            if start <= ip < end:
                return path, ip - start + off
        return None


def take_ust(space, e):
    f = e.fields
    if e.name.split(":")[-1] in ("bin_info", "dlopen", "load"):
        if f["memsz"]:
            space.map(f["baddr"], (f["memsz"] + 4095) & ~4095, f["path"])
    elif e.name == "lttng_ust_lib:unload":
        space.unmap(f["baddr"])


def take_call(space, tid, state, e):
    """Opens and maps of files; each call is two events of a thread."""
    f = e.fields
    m = re.match(r"syscall_(entry|exit)_(openat|mmap)$", e.name)
    if not m:
        return
    if m[1] == "entry":
        state[tid] = f
        return
    was = state.pop(tid, {})
    if f["ret"] < 0 or f["ret"] >= 2**64 - 4095:
        return
    if m[2] == "openat":
        state["fd", f["ret"]] = was.get("filename", "")
    elif was.get("fd", -1) >= 0:
        path = state.get(("fd", was["fd"]), "")
        space.map(f["ret"], (was["len"] + 4095) & ~4095,
                  path if path.startswith("/") else None, was["offset"])
    elif was:
        space.map(f["ret"], was["len"], None)


def expected(text):
    """(path, offset) of all user addresses, and all kernel addresses."""
    spaces, state, user, kernel = {}, {}, set(), set()
    for e in ctf.theirs(text):
        ctx = e.contexts["ctx"]
        pid = ctx.get("vpid", ctx.get("pid"))
        space = spaces.setdefault(pid, Space())
        kernel.update(v for v in ctx.get("callstack_kernel", [])
                      if v != 2**64 - 1)
        for ip in (ctx.get("callstack_user", []) + e.fields.get("ips", []) +
                   ([ctx["ip"]] if "ip" in ctx and
                    e.name != "stitch:request" else [])):
            user.add(space.find(ip))
        take_ust(space, e)
        take_call(space, ctx.get("tid", 0),
                  state.setdefault(pid, {}), e)
        if e.name == "sched_process_exec":
            spaces[pid] = Space()
    return {u for u in user if u and u[0]}, kernel


def ingest(name, *options):
    db = os.path.join(common.CACHE, "ctfframes.db")
    common.must("ingest", "-f", "-o", db, *options,
                common.place("lttng/%s/trace" % name))
    return common.query(
        db, "SELECT i.path, f.off, s.name, f.symoff, i.kind, i.start"
            " FROM frame f JOIN image i ON i.id = f.image"
            " LEFT JOIN symbol s ON s.id = f.symbol")


def functions(path, offs):
    """Names of the symbols that the offsets are in, by readelf; addresses are
    offsets in these files."""
    found = [(int(w[1], 16), int(w[2], 0), w[7]) for w in
             (line.split() for line in
              common.output("readelf", "-sW", path).splitlines())
             if len(w) > 7 and w[3] == "FUNC"]
    return [{n for start, size, n in found if start <= o < start + size}
            for o in offs]


def text_of(name):
    return common.read_gz(common.place("lttng/%s/bt2-all.txt" % name))


def user(name, symfs):
    want, _ = expected(text_of(name))
    rows = ingest(name, "--symfs", symfs)
    got = {(p, o): s for p, o, s, _, _, _ in rows if p and p[0] == "/"}
    bad = ["missing: %s+0x%x" % w for w in sorted(want - set(got))]
    bad += ["too many: %s+0x%x" % g for g in sorted(set(got) - want)]
    named = 0
    for path in sorted({p for p, _ in got if os.path.exists(symfs + p)}):
        offs = sorted(o for p, o in got if p == path)
        # addresses are return addresses but for the first of each stack
        for o, a, b in zip(offs, functions(symfs + path, offs),
                           functions(symfs + path, [o - 1 for o in offs])):
            named += 1
            if path.endswith("/ustapp") and got[path, o] not in a | b:
                bad.append("%s+0x%x: %s, not %s" % (
                    path, o, got[path, o], a | b))
    print("   %s: %d frames, %d of files that are here" % (
        name, len(want), named))
    common.ok(bool(want) and not bad, name, bad[:10])


def kernel(name):
    plain = common.plain(common.place(KALLSYMS), common.CACHE)
    symbols = {}
    for line in common.read_gz(plain).splitlines():
        words = line.split()
        symbols.setdefault(int(words[0], 16), set()).add(words[2])
    addrs = sorted(symbols)
    text = next(a for a in addrs if "_text" in symbols[a])
    _, want = expected(text_of(name))
    rows = [r for r in ingest(name, "--kallsyms", plain)
            if r[0] and r[0][0] == "["]
    bad = []
    core = {text + o: s for p, o, s, _, _, _ in rows
            if p == "[kernel.kallsyms]"}
    low = {a for a in want if text <= a < text + (1 << 30)
           and a < 0xffffffffc0000000}
    if set(core) != low:
        bad.append("not the same addresses: %d, %d" % (len(core), len(low)))
    for a in sorted(set(core) & low):
        at = addrs[bisect.bisect_right(addrs, a) - 1]
        before = addrs[bisect.bisect_right(addrs, a - 1) - 1]
        if core[a] not in symbols[at] | symbols[before]:
            bad.append("%x: %s, not %s" % (a, core[a], symbols[at]))
    modules = [r for r in rows if r[0] != "[kernel.kallsyms]"
               and r[0] != "[unknown]"]
    bad += ["%s+0x%x: no name" % r[:2] for r in modules if not r[2]]
    print("   %s: %d frames of the kernel, %d of modules" % (
        name, len(core), len(modules)))
    common.ok(len(core) + len(modules) == len(want) and not bad,
              name + " kernel", bad[:10] or ["%d, not %d" % (
                  len(core) + len(modules), len(want))])


def main():
    if not shutil.which("readelf"):
        print("skip frames of LTTng traces: no readelf")
        return
    symfs = common.symfs("symfs-6.18")
    # the others have no process ids, or begin behind what was mapped
    for name in ("uid-basic", "pid-basic", "discard"):
        user(name, symfs)
    user("ku-cookie", common.symfs("symfs-7.2"))
    user("k-callstack", common.symfs("symfs-7.2"))
    kernel("k-callstack")
    kernel("ku-cookie")
    common.finish()


if __name__ == "__main__":
    main()
