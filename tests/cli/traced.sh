#!/bin/sh
# traced.sh - what SECURITY.md promises of files, programs and networks, by the system calls of every output.
# usage: BACKSTITCH=PROGRAM tests/cli/traced.sh; prints "ok NAME", "not ok NAME" or "skip NAME" lines.
#
# names.py asks for each output of a capture whose every name is hostile; here each
# of its commands runs under strace. A command may open for writing what it
# names, with FILE.PID-N.tmp beside it, its cache, and temporary files that nobody
# else can open; it runs no other program, and asks no network.
# Without sanitizers: that of leaks cannot work under strace; cli/names runs the same commands with them
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
if ! strace -f -o /dev/null true 2>/dev/null
then
	echo "skip traced: strace is not installed, or cannot trace here"
	exit 0
fi
mkdir "$dir/here" "$dir/traces" "$dir/user" "$dir/tmp"
# What makes, moves and removes names; a question mark: not on all machines.
moves='?rename,?renameat,renameat2,?link,linkat,?unlink,unlinkat,?mkdir,mkdirat,?symlink,symlinkat,truncate'
cat >"$dir/program" <<END
#!/bin/sh
printf '%s\n' "\$@" >"$dir/traces/\$\$.args"
exec strace -f -qq -s 4096 -o "$dir/traces/\$\$.calls" \\
	-e trace=execve,execveat,network,open,openat,creat,$moves "$B" "\$@"
END
chmod +x "$dir/program"
cd "$dir/here" || exit 2
export HOME="$dir/user" TMPDIR="$dir/tmp" PYTHONDONTWRITEBYTECODE=1
unset XDG_CACHE_HOME
python3 "$root/tests/cli/names.py" "$dir/program" >"$dir/names" 2>&1
! grep '^not ok' "$dir/names" && grep -q '^ok' "$dir/names"
ok every_output_is_as_without_strace $?
rm -rf "$dir/user/.cache"
"$dir/program" report --limit 1 "$root/tests/captures/before.data" >"$dir/out"
ok a_capture_is_reported $?
python3 - "$dir" "$B" <<'END'
import glob
import os
import re
import sys

top, program = sys.argv[1:]
work, tmp, cache = top + "/here", top + "/tmp", top + "/user/.cache"
bad = {"program": [], "network": [], "file": [], "temporary": [], "moved": []}
runs = written = temporary = moved = 0
for path in glob.glob(top + "/traces/*.calls"):
    runs += 1
    with open(path[:-len("calls")] + "args", errors="replace") as f:
        args = f.read().splitlines()
    named = {os.path.normpath(os.path.join(work, a.split("=")[-1])) for a in args if a}
    if args[0] in ("ingest", "follow") and "-o" not in args:
        named |= {re.sub(r"\.data$", ".db", n) for n in named}
    made = set()
    for line in open(path, errors="replace"):
        line = line.split(" ", 1)[1].strip()
        said = "%s: %.300s" % (" ".join(args)[:60], line)
        if re.match(r"execve(at)?\(", line) and not line.startswith('execve("%s"' % program):
            bad["program"].append(said)
        elif re.match(r"(socket|connect|bind|send)", line):
            bad["network"].append(said)
        if re.match("rename|link|unlink|mkdir|symlink|truncate", line) and " = -1 " not in line:
            moved += 1
            for name in re.findall(r'"(.*?)"', line):
                name = os.path.normpath(os.path.join(work, name))
                if not (name.startswith((cache + "/", tmp + "/", "/proc/self/fd/")) or name in (cache, work) or
                        re.sub(r"\.\d+-\d+\.(tmp|keep)$", "", name) in named):
                    bad["moved"].append(said)
        m = re.match(r'(?:open|openat|creat)\((?:AT_FDCWD, |\d+, )?"(.*?)", ([A-Z_|]+)(?:, (\d+))?', line)
        if not m or not re.search("O_WRONLY|O_RDWR|O_CREAT|O_TMPFILE", m[2]) or " = -1 " in line:
            continue
        name = os.path.normpath(os.path.join(work, m[1]))
        nameless = "O_TMPFILE" in m[2]
        if name in ("/dev/null", "/dev/tty") or name.startswith(cache + "/") or name in made:
            continue
        if name == tmp or name.startswith(tmp + "/"):
            temporary += 1
            made.add(name)
            if m[3] != "0600" or not (nameless or "O_EXCL" in m[2]):
                bad["temporary"].append(said)
            continue
        written += 1
        plain = re.sub(r"\.\d+-\d+\.(tmp|keep)$", "", name)
        beside = nameless and any(os.path.dirname(n) == name for n in named)
        if plain not in named and not beside:
            bad["file"].append(said)
for what, name in (("program", "no_other_program_is_run"), ("network", "no_network_is_asked"),
                   ("file", "only_files_that_the_command_names_are_written"),
                   ("temporary", "temporary_files_are_nobody_elses"),
                   ("moved", "no_other_file_is_made_moved_or_removed")):
    print("\n".join(bad[what][:10]), end="\n" if bad[what] else "")
    print("not ok" if bad[what] else "ok", name)
print("ok" if runs >= 100 and written >= 5 and temporary and moved else "not ok",
      "there_are_calls_to_judge_(%d_runs_%d_files_%d_temporary_%d_moved)" % (runs, written, temporary, moved))
END
