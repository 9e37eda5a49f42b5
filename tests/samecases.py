# samecases.py - the captures that tests/same.py compares, and their options.
"""Captures are found by their names and first bytes, so a new capture needs no
line here. The tables name captures that are read together."""

import collections
import glob
import gzip
import os
import re
import shutil

# how: capture, diff, elf or help (same.py). naming: options that name
# addresses; plain: the other options. size in bytes, as stored.
Case = collections.namedtuple(
    "Case", "name how paths naming plain symfs size quick large")
# Bytes above which a capture is read with --all only: half a minute or more.
LARGE = 4 << 20
QUICK = {
    "help", "elf", "task-exitexec.data", "defer-lost-clock.data.zst",
    "two-e.data+two-f.data.zst", "group.data", "pipe-zstd.data",
    "jit-reused.data.zst", "frames32.data.zst", "threads.data",
    "arm64-fp-leaf.data", "s390x-z.data", "ftrace-buffers.dat",
    "ftrace-ustack-both.dat", "ftext-overrun-pipe.txt", "ctf-discard",
    "pair.data+pair.dat.zst", "tiny-sframe.data", "before.data+after.data"}
TOGETHER = (("pair.data", "pair.dat.zst"), ("two-e.data", "two-f.data.zst"))
# Parts of a CTF trace's path below the folder that is the trace.
INSIDE = re.compile(r"kernel|ust|uid|pid|\d+|\d\d-bit|ustapp-.*")
TEXT = re.compile(rb"# tracer: |cpus=\d+$|CPU \d+ is empty|\s*\S+-\d+ +\[\d+\]")
# Texts beside captures that are not captures, or repeat another text.
REFUSED = re.compile(r"report-(R|raw|tl|v34)|\.script|bt2-all|\.switches"
                     r"|task-events|stat\.txt$")


def _options(case):
    return (*case.plain, *case.naming)


def _symfs_option(case):
    return tuple(x for s in case.symfs for x in ("--symfs", s))


Case.options = property(_options)
Case.symfs_option = property(_symfs_option)


def size_of(path):
    if os.path.isfile(path):
        return os.path.getsize(path)
    return sum(os.path.getsize(os.path.join(d, n))
               for d, _, names in os.walk(path) for n in names)


def make(name, how, paths, symfs=None, kallsyms=None, plain=(), quick=False):
    naming = []
    if symfs and os.path.isdir(symfs):
        naming += ["--symfs", symfs]
    if kallsyms and os.path.exists(kallsyms):
        naming += ["--kallsyms", kallsyms]
    size = sum(map(size_of, paths))
    return Case(name, how, tuple(paths), tuple(naming), tuple(plain),
                (symfs,) if symfs and os.path.isdir(symfs) else (), size,
                quick, how == "capture" and size > LARGE)


def path_case(path):
    return make(os.path.basename(path.rstrip("/")), "capture", [path])


def head_of(path):
    try:
        opened = gzip.open if path.endswith(".gz") else open
        with opened(path, "rb") as f:
            return f.read(4096)
    except OSError:
        return b""


def is_capture(path):
    """A file that one of the readers takes, by its name and beginning."""
    name = os.path.basename(path)
    if REFUSED.search(name):
        return False
    head = head_of(path)
    if re.search(r"\.(data|dat)\.zst$", name):
        return True
    if head[:8] in (b"PERFILE2", b"2ELIFREP") or head[3:10] == b"tracing":
        return True
    if not re.search(r"\.txt(\.gz)?$", name):
        return False
    return any(TEXT.match(line) for line in head.split(b"\n")[:12])


def ctf_folder(path):
    """The folder of an LTTng session, given one below it with metadata."""
    parts = path.split("/")
    if "trace" in parts:
        return "/".join(parts[:len(parts) - parts[::-1].index("trace")])
    while INSIDE.fullmatch(parts[-1]):
        parts.pop()
    return "/".join(parts)


def captures(base):
    """Every capture below a folder."""
    found = []
    for folder, subs, names in os.walk(base):
        subs.sort()
        if folder != base and ("symfs" in folder or "hostile" in folder):
            subs[:] = []
            continue
        if "metadata" in names:
            path = ctf_folder(folder)
            if path not in found:
                found.append(path)
            subs[:] = []
            continue
        if folder.endswith(".data") and "data" in names:
            found.append(folder)
            continue
        if any(re.fullmatch(r".*cpu0\.raw", n) for n in names):
            found.append(folder)
        found += [p for p in (os.path.join(folder, n) for n in sorted(names))
                  if is_capture(p)]
    return found


def named(path, base):
    """The name of a capture: its path without the usual file names."""
    name = os.path.relpath(path, base)
    return re.sub(r"/(perf\.data|trace(\.dat)?)$", "", name).replace("/", "-")


def is_elf(path):
    if not os.path.isfile(path):
        return False
    with open(path, "rb") as f:
        return f.read(4) == b"\x7fELF"


def elf_files(base):
    return sorted(p for p in glob.glob(base, recursive=True) if is_elf(p))


def clone_cases(root):
    base = os.path.join(root, "tests/captures")
    cases = []
    for path in captures(base):
        name = os.path.basename(path)
        if name == "trace":
            name = os.path.basename(os.path.dirname(path))
        stem = name.split(".")[0]
        symfs = "symfs-arm64" if stem.startswith("arm64") else "symfs"
        cases.append(make(name, "capture", [path], os.path.join(base, symfs),
                          os.path.join(base, stem + ".kallsyms"),
                          quick=name in QUICK))
    symfs = os.path.join(base, "symfs")
    for names in TOGETHER:
        cases.append(make("+".join(names), "capture",
                          [os.path.join(base, n) for n in names], symfs,
                          quick=True))
    names = ("before.data", "after.data")
    cases.append(make("+".join(names), "diff",
                      [os.path.join(base, n) for n in names], symfs,
                      quick=True))
    cases.append(make("help", "help", [os.path.join(base, "fp-1.data")],
                      quick=True))
    cases.append(make("elf", "elf", elf_files(base + "/**"), quick=True))
    return cases


def unpacked(path, prepared):
    """A plain copy of a packed file; None if there is no such file."""
    if not path or not os.path.exists(path):
        return None
    os.makedirs(prepared, exist_ok=True)
    to = os.path.join(prepared, re.sub(r"\W", "_", path)[-80:])
    if not os.path.exists(to):
        with gzip.open(path) as f, open(to + ".tmp", "wb") as g:
            shutil.copyfileobj(f, g)
        os.replace(to + ".tmp", to)
    return to


def kallsyms_of(path, base):
    """The file with the kernel's names for a capture of the shared folder."""
    group = os.path.relpath(path, base).split("/")[0]
    folder = os.path.join(base, group)
    boot = re.sub(r"\.(data|dat)(\.\w+)?$", "", path) + ".boot"
    if os.path.exists(boot):
        with open(boot) as f:
            return os.path.join(folder, f.read().split()[0])
    if group in ("perf", "fpcap", "clocks"):
        return os.path.join(base, "perf/kallsyms.gz")
    if group == "lttng":
        return os.path.join(folder, "vm-kallsyms-text.txt.gz")
    beside = os.path.join(os.path.dirname(path), "boot.txt")
    if os.path.exists(beside):
        with open(beside) as f:
            for name in re.findall(r"kallsyms[-\w]*\.gz", f.read()):
                if os.path.exists(os.path.join(folder, name)):
                    return os.path.join(folder, name)
    return os.path.join(folder, "kallsyms.gz")


def symfs_of(path, base):
    group = os.path.relpath(path, base).split("/")[0]
    own = os.path.join(base, group, "symfs")
    if os.path.isdir(own):
        return own
    new = group in ("perf-deferred", "ftrace-7.2") or (
        group == "lttng" and ("ku-cookie" in path or "callstack" in path))
    return os.path.join(base, "symfs-7.2" if new else "symfs-6.18")


def pages(base, prepared):
    """Raw pages of several clocks, in the layout that tracefs has."""
    for clock in ("local", "perf", "mono", "boot"):
        files = sorted(glob.glob("%s/clocks/clk_ft_%s.[0-9]" % (base, clock)))
        if not files:
            continue
        folder = os.path.join(prepared, "clk_ft_" + clock)
        for path in files:
            to = os.path.join(folder, "per_cpu/cpu" + path[-1])
            os.makedirs(to, exist_ok=True)
            shutil.copy2(path, os.path.join(to, "trace_pipe_raw"))
        if not os.path.exists(folder + "/trace_clock"):
            with open(folder + "/trace_clock", "w") as f:
                f.write("[%s]\n" % clock)
        yield clock, folder


def shared_cases(shared, prepared):
    base = os.path.join(shared, "captures")
    formats = ["--formats", os.path.join(base, "ftrace-raw")]
    maps = os.path.join(base, "ftrace-7.2/maps")
    cases = []
    for path in captures(base):
        plain = []
        if "/ftrace-7.2/" in path and os.path.isdir(maps):
            plain = ["--maps", maps]
        cases.append(make("shared-" + named(path, base), "capture", [path],
                          symfs_of(path, base),
                          unpacked(kallsyms_of(path, base), prepared), plain))
    symfs = os.path.join(base, "symfs-6.18")
    kallsyms = unpacked(os.path.join(base, "perf/kallsyms.gz"), prepared)
    for clock, folder in pages(base, prepared):
        cases.append(make("shared-clocks-ft_" + clock, "capture", [folder],
                          symfs, kallsyms, formats))
        both = [os.path.join(base, "clocks", n % clock) for n in
                ("clk_perf_%s.data", "clk_lttng_%s")]
        both = [p for p in both if os.path.exists(p)] + [folder]
        for n in (2, 3):
            if len(both) >= n:
                cases.append(make("shared-clocks-%s-%d" % (clock, n),
                                  "capture", both[-n:] if n == 3 else
                                  [both[0], both[-1]], symfs, kallsyms,
                                  formats))
    deferred = [os.path.join(base, "perf-deferred/two-%s.data" % c)
                for c in "ef"]
    if all(map(os.path.exists, deferred)):
        cases.append(make("shared-two", "capture", deferred,
                          os.path.join(base, "symfs-7.2")))
    for folder in ("elf", "elf/v1", "elf/asm", "elf/synth_v2", "elf/hostile"):
        files = elf_files("%s/%s/*" % (base, folder))
        if files:
            cases.append(make("shared-" + folder.replace("/", "-"), "elf",
                              files))
    return cases


def all_cases(root, shared, prepared):
    cases = clone_cases(root)
    if shared:
        cases += shared_cases(shared, prepared)
    seen = collections.Counter(c.name for c in cases)
    twice = [n for n in seen if seen[n] > 1]
    if twice:
        raise SystemExit("same.sh: two captures have the name " + twice[0])
    return cases
