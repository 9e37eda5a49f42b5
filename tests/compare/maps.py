# maps.py - view maps is what /proc/PID/maps said while the capture was made.
"""usage: maps.py

Every line of code (r-xp) that was read from /proc/PID/maps of a recorded
program must be in the view, byte for byte; where the kernel put build-ids in
the place of device and inode, all but these two."""

import common

# capture: the files read while it was recorded (pids come again in others)
READ = {
    "defer-cpuclock": "wl.168", "defer-exitexec-s": "wl.298",
    "defer-lost-clock": "wl.605", "defer-nofp": "wl_nofp.1842",
    "defer-static": "wl_static.1991", "mono-defer": "wl.2235",
    "nobidmmap-defer": "wl.1552", "notime-defer": "wl.2817",
    "perthread-defer": "wl.207", "pipe-defer": "wl.724",
    "task-defer-tp": "wl.1154", "task-exitexec": "wl.401",
    "threads-defer": "wl.2093", "tidreuse-defer": "wl.341", "z-defer": "wl.839",
}


def without_inode(line):
    return line[:line.index(" ", 26) + 10] + line[73:]


def check(c, name, path):
    db = common.database(c)
    if not db:
        return
    pid = int(name.split(".")[-1])
    with open(path) as f:
        want = [x for x in f.read().split("\n") if " r-xp " in x]
    have = [r[0] for r in common.query(
        db, "SELECT line FROM maps WHERE pid = ?", pid)]
    if c.name != "nobidmmap-defer":
        want = [without_inode(x) for x in want]
        have = [without_inode(x) for x in have]
    missing = [x for x in want if x not in have]
    common.ok(want and not missing, "%s: %d lines of /proc/%d/maps"
              % (c.name, len(want), pid), missing)


def main():
    by_name = {c.name: c for c in common.captures(list(READ))}
    for name in READ:
        path = common.place("perf-deferred/maps/%s.maps" % READ[name])
        if name in by_name and path:
            check(by_name[name], READ[name], path)
    common.finish()


main()
