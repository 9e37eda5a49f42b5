#!/bin/sh
# check-examples.sh - every example in help and in the manual runs; README.md is check-readme.sh's.
# usage: BACKSTITCH=build/backstitch tests/check-examples.sh; silent and 0 if they do
# Needs: libcapstone libcurl libncursesw
#
# TRY IT of a page runs as it is written, beside what `make demo` leaves. The
# others speak of the reader's own programs: SUBSTITUTES names ours. perf,
# flamegraph.pl and the like are stand-ins, which only take or give bytes.
cd "$(dirname "$0")/.." || exit 2
B=$(realpath "${BACKSTITCH:-./backstitch}") || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
tests/demo.sh "$B" "$tmp/demo" >"$tmp/out" 2>&1 || { cat "$tmp/out"; exit 1; }
ROOT=$PWD B=$B TMP=$tmp python3 - <<'END'
import glob
import os
import re
import shutil
import subprocess
import sys

sys.path.insert(0, os.environ["ROOT"] + "/tests/fleet")
from servers import Servers, installed

root, prog, tmp = (os.environ[n] for n in ("ROOT", "B", "TMP"))
captures = root + "/tests/captures"
# what a reader has -> what is here
SUBSTITUTES = (
    (r"kmalloc\.gfp_flags.*perf\.data", "kmalloc.gfp_flags --filter 'bytes_alloc > 4095' " + captures + "/events.data.zst"),
    (r"path (.*)perf\.db", r"path \1" + captures + "/ftrace-v7.dat"), (r"--tid 4711", "--tid 12875"),
    (r"probe:f,probe:f__return perf\.db", "raw_syscalls:sys_enter,raw_syscalls:sys_exit " + captures + "/calls.data.zst"),
    (r"latency(.*) perf\.db", r"latency\1 " + captures + "/calls.data.zst"),
    (r"backstitch sched(.*?)(?: --comm server)? perf\.db", r"backstitch sched\1 " + captures + "/ftrace-v7.dat"),
    (r"--comm waiter|--blame server", r"--blame qemu-system-x86"), (r"86 --worst", "86 --limit"),
    (r"--time 12\.5,12\.75", "--time 1443.164,1443.166"),
    (r"my_function|vfs_read|memcpy", "hot"), (r"--dso libc\.so\.6", "--dso lines-clang"),
    (r"cc1\+0x7ab010", "hot"), (r"~/project", "."), (r"bytes_req", "weight"),
    (r"--off-cpu(.*) perf\.db", r"--off-cpu\1 naps.db"), (r"(--off-cpu.*)nginx", r"\1'*'"),
    (r"(backstitch record) --calls '[^']*'", r"\1"),
    (r"(backstitch record) --again", r"cp perf.data again.data; \1 --again --output=again.data"), (r"backstitch record", "backstitch record -o recorded.data"), (r"-p (4711|1234)", "-p $$"),
    (r"\./program\b|\./prog$", "true"), (r"comm nginx", "comm lines-clang"), (r"t-ping perf", "orders lost"), (r"--top (path )?", ""),
    (r"--comm server", "--comm lines-clang"), (r"--event cycles", "--event '*'"),
    (r"--max-loss 0\.1% --max-unjoined 10", "--max-loss 100%"),
    (r"--max-loss 0\.1% --min", "--max-loss 100% --min"), (r"--min-whole 90", "--min-whole 0"),
    (r" trace\.dat lttng-session/", " more.data --separate"),
    (r"/mnt/target", captures + "/symfs"), (r"kallsyms\.txt", captures + "/defer-lost-clock.kallsyms"),
    (r"libx\.so", captures + "/sframe/plt-got.so"),
    (r"--unwind perf\.data", "--unwind " + captures + "/frames32.data.zst"),
    (r"--latency syscall before\.db after\.db", "--latency syscall " + (captures + "/calls.data.zst ") * 2),
    (r"--cluster fleet clickhouse://a/fleet$", "--cluster fleet --server $FLEET_URL1 $FLEET_URL0"),
    (r"clickhouse://(host|a|store)/fleet", "$FLEET_URL0"), (r"clickhouse://b/fleet", "$FLEET_URL1"),
    (r" \*\.db$", " perf.db naps.db"),
    (r"shop\.data", captures + "/shop.data.zst"),
)
# a terminal, in which somebody leaves: what is typed before the screen is there is lost
IN_TERMINAL = "while printf q; do /bin/sleep 0.2; done | TERM=xterm script -qec \"%s\" /dev/null"
STANDINS = {"perf": "while [ $# -gt 0 ]; do case $1$2 in -o?*[!-]) exec cp %s \"$2\" ;; esac; shift; done; cat %s"
            % ((captures + "/pipe-zstd.data",) * 2), "flamegraph.pl": "cat", "less": "cat",
            "source": "cat", "go": "true", "babeltrace2": "true", "sudo": '"$@"', "pkill": "true",
            "lttng": "true", "scp": "true", "sleep": "true"}
bad, asked = [], []


def folder(name):
    path = os.path.join(tmp, name)
    os.makedirs(path + "/bin")
    os.symlink(prog, path + "/bin/backstitch")
    for n, text in STANDINS.items():
        with open(path + "/bin/" + n, "w") as f:
            f.write("#!/bin/sh\n" + text + "\n")
        os.chmod(path + "/bin/" + n, 0o755)
    return path


def run(where, line, cwd):
    """Runs a line of the shell. Status 3 and 4 tell of the capture."""
    env = dict(os.environ, HOME=cwd, PATH=cwd + "/bin:" + os.environ["PATH"], COLUMNS="80")
    if "$FLEET_URL" in line:
        if not installed():
            return b""
        # each has a database of its own
        asked.append(line)
        for i in range(2):
            env["FLEET_URL%d" % i] = servers.url(i, "d%d" % len(asked))
    r = subprocess.run(["sh", "-c", line], cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)
    if r.returncode not in (0, 3, 4):
        bad.append("%s: status %d: %s\n  %s" % (where, r.returncode, line,
                                               r.stdout.decode("utf-8", "replace")[-300:]))
    return r.stdout


def commands():
    text = subprocess.run([prog, "--list-commands"], stdout=subprocess.PIPE, text=True).stdout
    return [line.split("\t")[0] for line in text.splitlines()]


def blocks(page, section):
    """The lines of the literal blocks of a section, continued ones joined."""
    text = open(page).read()
    m = re.search(r"(?ms)^\.Sh %s\n(.*?)(?=^\.Sh |\Z)" % section, text)
    found = re.findall(r"(?ms)^\.Bd [^\n]*\n(.*?)^\.Ed", m.group(1)) if m else []
    return [b.replace("\\e\n", "").replace("\\e", "\\").replace("\\(aq", "'").splitlines()
            for b in found]


def tutorial(cwd):
    """Commands with some lines of what they print; "..." stands for anything. A
    section whose capture is too large to ship says so behind its title."""
    page = "man/backstitch-tutorial.7"
    n = 0
    for section in re.findall(r"(?m)^\.Sh (.*)\n(?!\.\\\" not run)", open(page).read()):
        for line in sum(blocks(page, section), []):
            if line.startswith("$ "):
                # whatever kernel and files are here
                if "tests/causality/captures" in line:
                    line = line.replace(" path ", " path --no-symbols ")
                line = line.replace(" tests/captures/before.data",
                                    " --kallsyms tests/captures/events.kallsyms tests/captures/before.data")
                said = " ".join(run(page, line[2:], cwd).decode().split())
                n += bool(said)
                if not said:
                    bad.append("%s: says nothing: %s" % (page, line))
                continue
            for part in line.split("..."):
                if " ".join(part.split()) not in said:
                    bad.append("%s: is not printed: %s" % (page, line))
    if n < 20:
        bad.append("%s: has %d commands, not 20" % (page, n))


def try_it():
    cwd = folder("clone")
    os.rename(tmp + "/demo", cwd + "/demo")
    # a database that an example makes beside a capture stays in there
    for name in ("", "/captures"):
        os.mkdir(cwd + "/tests" + name)
        for f in os.listdir(root + "/tests" + name):
            if f != "captures" and not f.endswith(".db"):
                os.symlink(root + "/tests" + name + "/" + f, cwd + "/tests" + name + "/" + f)
    tutorial(cwd)
    for c in commands():
        page = "man/backstitch-%s.1" % c
        lines = sum(blocks(page, "TRY IT"), [])
        if len(lines) != 3:
            bad.append("%s: TRY IT has %d lines, not three" % (page, len(lines)))
        if c == "push":
            run(page, " && ".join(lines).replace("clickhouse://localhost/fleet", "$FLEET_URL0"), cwd)
            continue
        for line in lines:
            said = run(page, IN_TERMINAL % line if c == "view" else line, cwd)
            out = re.search(r" -o (\S+)", line)
            if not said and not (out and os.path.exists(cwd + "/" + out.group(1))) and c != "symbolize":
                bad.append("%s: says and writes nothing: %s" % (page, line))


def stage():
    cwd = folder("own")
    zstd = subprocess.run(["zstd", "-qdc", captures + "/lines-clang.data.zst"], stdout=subprocess.PIPE)
    open(cwd + "/perf.data", "wb").write(zstd.stdout)
    shutil.copy(captures + "/fp-1.data", cwd + "/more.data")
    shutil.copy(captures + "/naps.data", cwd + "/naps.data")
    for d in ("before", "after", "segments", "host1", "backstitch-follow"):
        os.makedirs(cwd + "/" + d, exist_ok=True)
    os.makedirs(cwd + "/.local/share/bash-completion/completions")
    run("stage", "for f in perf naps; do backstitch ingest -q --symfs %s/symfs -o $f.db $f.data; done; "
        "for f in before after; do backstitch ingest -q --symfs %s/symfs -o $f.db %s/$f.data; "
        "cp $f.db $f/1.db; done; cp before.db monday.db; cp after.db tuesday.db; "
        "for d in segments host1 backstitch-follow; do cp before.db after.db $d; done; "
        "cp perf.data l.data; cp ../clone/demo/shop.db .; cp shop.db lost.db" % (captures, captures, captures), cwd)
    return cwd


def examples(where, lines, cwd):
    for line in lines:
        line = re.sub(r"^\$ ", "", line)
        if not re.match(r"(sudo )?backstitch |perf record .*backstitch", line):
            continue
        if re.match("backstitch follow [^-]*--keep 1h [a-z]", line):
            continue  # waits for the next file, until it is stopped
        for a, b in SUBSTITUTES:
            line = re.sub(a, b, line)
        for out in re.findall(r" -o (\S+)", line):
            if " -f " not in line and not os.path.isdir(cwd + "/" + out):
                run(where, "rm -rf " + out, cwd)
        if re.match(r"backstitch (ingest|bundle) ", line) and " -o " not in line:
            run(where, "rm -f *.tar *.tar.* backstitch.db", cwd)
        if line.startswith("backstitch ingest perf.data"):
            run(where, "mv perf.db kept.db", cwd)
        if "annotate" in line:
            line = line.replace("annotate", "annotate --symfs %s/symfs" % captures, 1)
        if "$FLEET_URL" in line and "--create" not in line:
            db = "" if "backstitch push" in line else " perf.db"
            line = "backstitch push -q --create $FLEET_URL0%s && %s" % (db, line)
        if "backstitch view" in line:
            line = IN_TERMINAL % line
        run(where, line, cwd)
        run(where, "if [ -e kept.db ]; then mv kept.db perf.db; fi", cwd)


def main():
    try_it()
    own = stage()
    for c in commands():
        text = subprocess.run([prog, "help", c], stdout=subprocess.PIPE, text=True).stdout
        examples("help " + c, re.findall(r"(?m)^  (.*)", text.split("\nExamples:\n")[-1]), own)
    for page in sorted(glob.glob("man/backstitch*.1")):
        for b in blocks(page, "EXAMPLES"):
            joined = []
            for line in b:
                if joined and (joined[-1].count("'") % 2 or joined[-1].count('"') % 2):
                    joined[-1] += "\n" + line
                else:
                    joined.append(line)
            examples(page, joined, own)


if installed():
    with Servers(2) as servers:
        main()
else:
    main()
print("\n".join(bad), end="\n" if bad else "")
sys.exit(bool(bad))
END
