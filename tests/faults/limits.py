#!/usr/bin/env python3
# limits.py - every command of faults.py where little is allowed, or nothing is as usual.
#
# usage: limits.py BUILD [NAME...]; NAME: a part of a place's name, such as files
#
# Places are few descriptors, little address space or stack, files that may not
# grow (SIGXFSZ), no threads, closed or full standard streams, a folder that is
# gone, and variables of the environment that make no sense. Each command must end
# within 60 s with a status of backstitch(7), without a signal but SIGXFSZ, say why
# where it failed and a message could be written, and leave no part of an output.
# Two things may be left: the journal of a database that could not be put back
# (faults.rolls_back()), and a temporary folder that no descriptor was left to
# remove, which the next run must do.
import collections
import os
import resource
import shutil
import signal
import subprocess
import sys
import tempfile

import faults

STATUSES = (0, 1, 2, 3, 4, 5, 6)


def limit(what, *values):
    """Yields [name, function] of a limit by its values."""
    for v in values:
        yield ["%s %d" % (what, v), lambda v=v: resource.setrlimit(
            getattr(resource, "RLIMIT_" + what), (v, v))]


def no_threads():
    os.setgid(65534)
    os.setuid(65534)
    resource.setrlimit(resource.RLIMIT_NPROC, (0, 0))


def file_size(v):
    signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
    resource.setrlimit(resource.RLIMIT_FSIZE, (v, v))


def gone(folder):
    os.makedirs(folder)
    os.chdir(folder)
    os.rmdir(folder)


def places(folder):
    """Yields [name, function before the program, variables, what is not read]."""
    # the loader of the program needs four
    for p in limit("NOFILE", 4, 5, 6, 8, 12, 20):
        yield p + [{}, ""]
    for p in limit("AS", *(n << 20 for n in (20, 40, 60, 100, 200))):
        yield p + [{}, ""]
    for p in list(limit("STACK", 65536)) + list(limit("DATA", 4 << 20)):
        yield p + [{}, ""]
    for v in (0, 4096, 100000):
        yield ["files of %d" % v, lambda v=v: file_size(v), {}, "err"]
    yield ["no threads", no_threads, {}, ""]
    for closed in ((1,), (2,), (0, 1, 2)):
        yield ["closed %s" % (closed,), lambda c=closed: [os.close(fd) for fd in c], {}, "err"]
    yield ["full", None, {}, "full"]
    yield ["folder gone", lambda: gone(folder + "/gone"), {}, ""]
    for name, value in (("TZ", ":/dev/zero"), ("TZ", "A" * 5000), ("LC_ALL", "tr_TR.UTF-8"),
                        ("COLUMNS", "0"), ("COLUMNS", "1"), ("COLUMNS", "9" * 20),
                        ("COLUMNS", "-3"), ("TERM", "nope"), ("HOME", "/dev/null"),
                        ("XDG_CACHE_HOME", "/dev/null"), ("TMPDIR", "/nonexistent"), ("PATH", ""),
                        ("DEBUGINFOD_URLS", "http://127.0.0.1:1"), ("LANG", "\udcff\udcfe")):
        yield ["%s=%.12s" % (name, value.encode("utf-8", "replace").decode()), None,
               {name: value}, ""]


def main():
    build = os.path.abspath(sys.argv[1])
    wanted = sys.argv[2:]
    work = tempfile.mkdtemp()
    words = {w for text, _ in faults.COMMANDS.values() for w in text.split()}
    bench = faults.Bench(build, work, words)
    root = os.getcwd()
    tries, found = collections.Counter(), []

    # somebody else runs what may have no threads
    for path in (work, bench.out):
        os.chmod(path, 0o777)
    for name, before, variables, closed in places(work):
        if wanted and not any(w in name for w in wanted):
            continue
        if before is no_threads and (os.geteuid() or not os.access(build, os.X_OK)):
            print("skipped: %s, which only root can ask for" % name)
            continue
        for command, (text, _) in faults.COMMANDS.items():
            bench.empty()
            bench.put_old(text)
            old = bench.files()
            argv = [build + "/backstitch"] + [
                os.path.join(root, w) if w.startswith("tests/") else w for w in bench.words(text)]
            out = "/dev/full" if closed == "full" else os.path.join(work, "stdout")
            tries[name] += 1
            with open(out, "wb") as stdout, open(work + "/stderr", "w+b") as stderr:
                try:
                    status = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                                            env=dict(os.environ, **variables), check=False,
                                            preexec_fn=before, timeout=60, cwd=work).returncode
                except subprocess.TimeoutExpired:
                    status = "no end"
                except PermissionError:
                    tries[name] -= 1
                    continue
                stderr.seek(0)
                said = stderr.read()
            files = bench.files()
            left = [f for f, data in files.items() if old.get(f) != data]
            if status == -signal.SIGXFSZ and "files of" in name:
                pass
            elif status not in STATUSES:
                found.append((name, command, "ended with %s" % status))
            elif status and not said and closed != "err":
                found.append((name, command, "failed, and says nothing"))
            # some of a stream is in its segments, and a damaged capture in its database
            elif status in (1, 2) and left and not text.startswith("follow"):
                if text.startswith("symbolize") and faults.rolls_back(bench, files, old):
                    continue
                if "NOFILE" in name and all(".tmp/" in f for f in left):
                    subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, check=True)
                    left = [f for f in bench.files() if ".tmp/" in f]
                if left:
                    found.append((name, command, "left %s" % left))
            elif not status and closed == "full" and not left:
                found.append((name, command, "ended with 0, though nothing could be written"))
    shutil.rmtree(work)
    for f in found:
        print("%s: %s: %s" % f)
    print("%d tries in %d places, %d findings" % (sum(tries.values()), len(tries), len(found)))
    sys.exit(bool(found) or not tries)


main()
