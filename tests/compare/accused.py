# accused.py - frames called bogus with and without the saved maps of the same capture.
"""usage: accused.py [NAME...]

Some captures have copies of /proc/PID/maps beside them. Each is read twice:
with nothing but itself, and with the maps and the recorded programs. A frame
that is marked bogus the first time must be marked the second time too: without
evidence nothing is accused that evidence clears. LTTng's captures have neither
maps nor build-ids, so nothing may be marked in them but what its address tells:
no maps have the first page, nor the upper half on x86-64."""

import os
import re
import sys
import tempfile

import common


def own_maps(path):
    """--maps of a copy whose first line is '# pid N'."""
    head = open(path).readline()
    m = re.match(r"# pid (\d+)", head)
    return ["--maps", "%s=%s" % (m.group(1), path)] if m else []


def captures():
    """(name, path, options with the maps)."""
    for name, path in common.find("ftrace/*/trace.dat"):
        copy = common.place(os.path.dirname(name) + "/ustack.maps")
        if copy and own_maps(copy):
            yield name, path, own_maps(copy) + programs("symfs-6.18")
    for name, path in common.find("ftrace-raw/marker-*.txt"):
        copy = common.place(name[:-4] + ".maps")
        if copy and own_maps(copy):
            yield name, path, own_maps(copy) + programs("symfs-6.18")
    for name, path in common.find("ftrace-7.2/*.dat"):
        copies = os.path.dirname(path) + "/maps"
        if os.path.isdir(copies):
            yield name, path, ["--maps", copies] + programs("symfs-7.2")
    for name, path in common.find("lttng/*/"):
        yield name.rstrip("/"), path, None


def programs(name):
    found = common.symfs(name)
    return ["--symfs", found] if found else []


def addresses(blob):
    """Of raw_chain.addrs."""
    found, value, shift = [], 0, 0
    for byte in blob:
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            step = value >> 1 ^ -(value & 1)
            found.append(((found[-1] if found else 0) + step) % (1 << 64))
            value = shift = 0
    return found


def marked(path, options, folder):
    db, status, _ = common.into(os.path.join(folder, "x.db"), *options, path)
    if status not in (0, 3):
        return None
    rows = common.query(db, """
        SELECT e.id, b.pos, u.addrs FROM bogus_frames b
        JOIN raw_chain u ON u.stack = b.stack
        JOIN event e ON e.uraw = u.id
        UNION SELECT r.event, b.pos, u.addrs FROM bogus_frames b
        JOIN raw_chain u ON u.stack = b.stack
        JOIN request r ON r.uraw = u.id""")
    return {(event, pos) for event, pos, addrs in rows
            if 4096 <= addresses(addrs)[pos] < 1 << 63}


def one(name, path, options, folder):
    path = common.plain(path, folder)
    alone = marked(path, [], folder)
    if alone is None:
        print("skip %s: it is not read" % name)
        return
    told = marked(path, options, folder) if options is not None else set()
    print("%s: accused without maps %d, with maps %d, cleared %d" % (
        name, len(alone), len(told), len(alone - told)))
    common.ok(not alone - told, name + "_accuses_nothing_that_maps_clear")


def main(only):
    with tempfile.TemporaryDirectory() as folder:
        for name, path, options in captures():
            if not only or any(o in name for o in only):
                one(name, path, options, folder)


main(sys.argv[1:])
common.finish()
