# lines.py - source lines and inlined functions are those of addr2line.
"""usage: lines.py [NAME...]

For every distinct address of a capture that lies in a file with debug
information: the chain of inlined functions, and file and line of each, as
addr2line -i -f -C of binutils and eu-addr2line of elfutils say them; of a
return address for the address before it. Ours must agree with one of the two;
where they differ is counted in classes:

only_elfutils   we say what eu-addr2line says, binutils something else
only_binutils   the other way round

File names are compared without "/./". The outermost function is named by the
symbol table, as perf does (names.py), so its name is compared only where the
debug information knows it, without what the compiler appends (.cold, .part.0),
and not in glibc, whose functions have several names each."""

import collections
import re
import shutil
import subprocess
import sys

import common
import names

TOOLS = {"elfutils": ["eu-addr2line", "-a", "-f", "-i", "-C"],
         "binutils": ["addr2line", "-a", "-f", "-i", "-C"]}

QUERY = """
SELECT i.file, f.vaddr, f.id IN (SELECT p.frame FROM stack s
	JOIN stack p ON p.id = s.parent), y.name, f.file, f.line, f.id
FROM frame f JOIN image i ON i.id = f.image JOIN symbol y ON y.id = f.symbol
WHERE i.file LIKE '/%' AND f.vaddr IS NOT NULL"""


def place(name, file, line):
    file = re.sub(r"(/\.)+/", "/", file or "??")
    return (name, file if line else "??", int(line or 0))


def ours(db):
    """{file: {addr: [(name, file, line)]}}, innermost first"""
    inner = collections.defaultdict(list)
    for frame, name, file, line in common.query(
            db, "SELECT frame, name, file, line FROM inline_frame"
                " ORDER BY frame, depth"):
        inner[frame].append(place(name, file, line))
    out = collections.defaultdict(dict)
    for path, vaddr, back, name, file, line, frame in common.query(db, QUERY):
        out[path][vaddr - back] = inner[frame] + [place(name, file, line)]
    return out


def theirs(tool, path, addrs):
    p = subprocess.run(TOOLS[tool] + ["-e", path], text=True,
                       input="".join("%x\n" % a for a in addrs),
                       capture_output=True, errors="replace")
    out = {}
    name = None
    chain = []
    for line in p.stdout.split("\n"):
        if re.fullmatch(r"0x[0-9a-f]{8,16}", line):
            chain = out.setdefault(int(line, 16), [])
            name = None
        elif name is None:
            name = re.sub(r" inlined at .*", "", line)
        else:
            line = re.sub(r" \(discriminator \d+\)$", "", line)
            m = re.match(r"(.*?):(\d+|\?)(?::\d+)?$", line)
            chain.append(place(name, m[1], 0 if m[2] == "?" else m[2]))
            name = None
    return out


def bare(name):
    return re.sub(r"(\.(cold|part|constprop|isra|lto_priv|llvm|\d+)\b[.\d]*"
                  r"| \[clone .*\])+$|@.*$", "", name)


def same(a, b):
    """The outermost function has several names: aliases are of one address,
    and the symbol table may know others than the debug information."""
    return (len(a) == len(b) and a[:-1] == b[:-1] and a[-1][1:] == b[-1][1:])


def outer_names(path, a, b):
    """Names of the outermost function that are no aliases of each other."""
    return (not a[-1][2] or re.search("libc.so|ld-linux", path) or
            bare(a[-1][0]) == bare(b[-1][0]))


def with_lines(path):
    """The file itself, or its debug file; None when there is none."""
    text = common.output("readelf", "-SnW", path)
    if " .debug_info " in text:
        return path
    m = re.search(r"Build ID: (..)(\w+)", text)
    return m and common.first("/usr/lib/debug/.build-id/%s/%s.debug"
                              % m.groups())


def compare(db, count, wrong):
    for path, frames in sorted(ours(db).items()):
        debug = with_lines(path)
        if not debug:
            if any(c[-1][2] or len(c) > 1 for c in frames.values()):
                wrong["%s: lines from where?" % path] += 1
            continue
        answers = {t: theirs(t, debug, sorted(frames)) for t in TOOLS}
        for addr, mine in frames.items():
            said = {t for t in TOOLS if same(mine, answers[t].get(addr, []))}
            other = {t for t in said
                     if not outer_names(path, mine, answers[t][addr])}
            if not said or other == said:
                wrong["%s %x: %s, but elfutils %s, binutils %s" % (
                    path, addr, mine, answers["elfutils"].get(addr),
                    answers["binutils"].get(addr))] += 1
            count["inlined" if len(mine) > 1 else "plain"] += 1
            if len(said) == 1:
                count["only_" + said.pop()] += 1
            elif said:
                count["both"] += 1


def jobs(only):
    """(capture, symfs) of those whose programs are at hand"""
    for job in names.jobs(only):
        yield job.capture, job.symfs
    for c in common.captures(only):
        machine = c.name.split("-")[0]
        if machine in ("arm64", "s390x"):
            yield c, common.symfs(machine + "/symfs")


def main():
    if not all(shutil.which(t[0]) for t in TOOLS.values()):
        print("skip lines: no addr2line or eu-addr2line")
        common.finish()
    total = collections.Counter()
    for c, symfs in jobs(sys.argv[1:]):
        db = common.sound("%s is read with symbols" % c.name,
                          common.ingest(c, "--symfs", symfs))
        if not db:
            continue
        count = collections.Counter()
        wrong = collections.Counter()
        compare(db, count, wrong)
        total += count
        if count or wrong:
            common.ok(not wrong, "%s: lines and inlined functions are "
                      "addr2line's (%s)" % (c.name, ", ".join(
                          "%s %d" % kv for kv in sorted(count.items()))),
                      [w for w, _ in wrong.most_common(6)])
    common.ok(total["inlined"] > 0 and total["plain"] > 0,
              "there was something to compare: %s" % ", ".join(
                  "%s %d" % kv for kv in sorted(total.items())))
    common.finish()


if __name__ == "__main__":
    main()
