# kernels.py - cases of Linux 6.16 to 7.3 and LTTng 2.16, as the README beside them says.
"""usage: kernels.py [NAME...]

captures/kernels of $BACKSTITCH_SHARED has a case for each form that these
versions added. Each must be read without damage and have the events, losses
and notes of CASES. Where perf 7.2 prints a case, as many blocks as SAME says
must be the same, to time and addresses; where babeltrace2 does, it must print
as many events. The cases h216-* of that README are in no folder."""

import collections
import glob
import os
import re
import subprocess
import sys
import tempfile

import common

# samples, losses as their numbers (?: not known), notes, and what else is so
Case = collections.namedtuple("Case", "samples lost notes sql want")
WITH_STACK = "SELECT count(DISTINCT event_id) FROM full_stack"
NO_CPU = "SELECT count(*) FROM event WHERE cpu IS NULL"
VERDICTS = ("SELECT group_concat(verdict || ' ' || n, ', ') FROM (SELECT verdict,"
            " sum(n) AS n FROM verdicts WHERE kind = 'request' GROUP BY 1)")
CASES = {
    "offcpu-616.data": Case(7, "", "", "SELECT group_concat(pid || '/' || tid,"
                            " ' ') FROM samples WHERE unit = 'ns' AND weight"
                            " > 500000000", "1200/1207 1200/1200 1200/1207"),
    "offcpu-60.data": Case(3, "", "", WITH_STACK, 3),
    "feats.data": Case(4, "", "", WITH_STACK, 4),
    "feats-pipe.data": Case(4, "", "", WITH_STACK, 4),
    "abi-simd.data": Case(9, "", "registers", WITH_STACK, 9),
    "abi-simdintr.data": Case(9, "", "registers", WITH_STACK, 9),
    "defer619.data": Case(9, "", "", VERDICTS, "empty 1, matched 6, refused 1"),
    "defer619pipe.data": Case(9, "", "", VERDICTS,
                              "empty 1, matched 6, refused 1"),
    "inject-aslr.data.zst": Case(2283, "", "unmapped", VERDICTS,
                                 "refused 2, stripped 1419"),
    "ftrace-subbuf16.tar.zst": Case(447, "", "", NO_CPU, 0),
    "ftrace-missed-page.tar.zst": Case(337, "?", "", NO_CPU, 0),
    "graph-retval-65.txt": Case(6, "", "", NO_CPU, 0),
    "graph-retaddr-613.txt": Case(6, "", "", NO_CPU, 0),
    "graph-args-615.txt": Case(6, "", "", NO_CPU, 0),
    "func-args-615.txt": Case(4, "", "", NO_CPU, 0),
    "remote-trace.txt": Case(4, "7", "", "SELECT count(*) FROM samples"
                             " WHERE tid <> -1", 0),
    "l216-c2-chan": Case(12, "", "", NO_CPU, 0),
    "l216-c18-chan": Case(12, "", "", NO_CPU, 0),
    "l216-c2-nocpu": Case(9, "", "", NO_CPU, 9),
    "l216-blob-c2": Case(6, "", "", NO_CPU, 0),
    "l216-blob-c18": Case(6, "", "", NO_CPU, 0),
}
# blocks of perf that ours has too, of how many; the others are the classes of
# the README: threads of direct waits exchanged do not change a block, and perf
# leaves out hits in guests
SAME = {"offcpu-616": (7, 7), "offcpu-60": (3, 3), "abi-simd": (9, 9),
        "abi-simdintr": (9, 9), "defer619": (7, 7), "defer619pipe": (7, 7),
        "feats": (4, 4), "feats-pipe": (4, 4), "inject-aslr": (2283, 2283)}


def unpacked(path, folder):
    if ".tar" not in path:
        return path
    subprocess.run(["tar", "-xf", path, "-C", folder], check=True)
    inside = os.path.join(folder, os.listdir(folder)[0])
    return inside if os.path.isdir(inside) else folder


def blocks(text):
    """{(time, addresses): how many} of a text of perf script. Sums of waits
    have a time that is none; perf takes a cookie that inject left in a chain,
    without its marker, for an address."""
    out = collections.Counter()
    for block in text.split("\n\n"):
        lines = block.strip("\n").split("\n")
        time = re.search(r"(\d+\.\d{6}):", lines[0])
        time = time[1] if time and len(time[1]) < 18 else ""
        addrs = [s.split()[0] for s in lines[1:] if s.strip()]
        if addrs and re.fullmatch("[0-9a-f]{1,8}0000000[1-4]", addrs[-1]):
            addrs.pop()
        if time or addrs:
            out[time, tuple(addrs)] += 1
    return out


def compare_perf(name, db, base):
    stem = name.split(".")[0]
    found = glob.glob("%s/%s.script-7.2.txt" % (base, stem)) + glob.glob(
        "%s/%s.script.txt.gz" % (base, stem))
    if not found:
        return
    theirs = blocks(common.read_gz(found[0]))
    ours = blocks(common.run("script", "-F", "comm,tid,time,ip", "--no-inline",
                             db).stdout.decode(errors="replace"))
    same = sum((theirs & ours).values())
    common.ok((same, sum(theirs.values())) == SAME[stem],
              "%s_has_the_blocks_of_perf" % stem,
              ["%d of %d are the same, expected %s"
               % (same, sum(theirs.values()), SAME[stem]),
               *common.differences(ours, theirs)])


def judge(name, case, base):
    path = os.path.join(base, name)
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(folder + "/in")
        db, status, _ = common.into(folder + "/db", "--no-symbols",
                                    unpacked(path, folder + "/in"))
        got = Case(*common.query(db, """SELECT
            (SELECT count(*) FROM event e JOIN event_type t ON t.id = e.type
             WHERE t.kind = 'sample'),
            coalesce((SELECT group_concat(coalesce(n, '?'), ' ') FROM loss
             WHERE counts), ''),
            coalesce((SELECT group_concat(what, ' ') FROM (SELECT DISTINCT what
             FROM damage WHERE kind = 'note' AND what IN ('registers',
             'unmapped', 'mode', 'firmware', 'CPU'))), '')""")[0],
                   case.sql, common.query(db, case.sql)[0][0])
        damage = common.query(db, "SELECT what, detail FROM damage"
                              " WHERE kind = 'damage'")
        common.ok(got == case and not status and not damage,
                  "%s_is_read_as_it_should_be" % name,
                  ["status %d, %s" % (status, damage), str(got),
                   "expected " + str(case)])
        compare_perf(name, db, base)
        bt2 = os.path.join(base, name + ".bt2-2.1.txt")
        if os.path.exists(bt2):
            n = common.read_gz(bt2).count("\n")
            common.ok(got.samples == n, "%s_has_the_events_of_babeltrace2"
                      % name, ["%d, babeltrace2 prints %d" % (got.samples, n)])


def main():
    base = os.path.join(common.SHARED or "", "captures/kernels")
    if not common.SHARED or not os.path.isdir(base):
        print("skip kernels: no captures/kernels")
        common.finish()
    for name, case in CASES.items():
        if len(sys.argv) == 1 or name in sys.argv:
            judge(name, case, base)
    ignored = ("README.md", "lib")
    there = {f for f in os.listdir(base) if f not in ignored and not re.search(
        r"-7\.2\.txt$|\.bt2-2\.1\.txt$|\.script\.txt\.gz$", f)}
    common.ok(there == set(CASES), "each_case_of_the_folder_has_a_row",
              [str(sorted(there ^ set(CASES)))])
    common.finish()


if __name__ == "__main__":
    main()
