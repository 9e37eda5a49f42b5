# silent.py - records that are missing without a word are found, by 'check'.
"""usage: silent.py BACKSTITCH FOLDER

Of each recorded capture, all records are taken out in whose context one thread
is current, without a LOST record. Where this leaves a sign (see lose.has_sign),
check must find switch_broken without a loss, and a loss 'silent'; the capture
as it was must have none. Without LONG, three threads of each capture are tried,
or a few more."""

import glob
import json
import os
import subprocess
import sys
import tempfile

import lose
import perfdata


def found(program, path):
    """Returns how many findings of switch_broken no loss explains, how many
    losses are silent, and the status."""
    done = subprocess.run([program, "check", "--json", "--no-symbols", path],
                          capture_output=True, text=True, check=False)
    j = json.loads(done.stdout)
    return (sum(f["findings"] - f["explained"] for f in j["findings"]
                if f["rule"] == "switch_broken"),
            sum(x["intervals"] for x in j["losses"] if x["what"] == "silent"),
            done.returncode)


def try_capture(program, name, capture, path):
    records = capture.records
    capture.write(path, lose.keep(records, set(), set()))
    whole = found(program, path)
    bad = [] if whole[:2] == (0, 0) else ["nothing was removed: %s" % (whole,)]
    tried = 0
    some = []
    for tid in sorted({r.current for r in records}):
        kept = lose.keep(records, set(), {
            i for i, r in enumerate(records) if r.current == tid})
        # a thread that calls exec may go on under another id
        if lose.has_sign([k for k in kept if k[0].time > capture.exec]):
            some.append((tid, kept))
    if not os.environ.get("LONG"):
        some = some[::max(1, len(some) // 3)]
    for tid, kept in some:
        capture.write(path, kept)
        tried += 1
        breaks, silent, status = found(program, path)
        if not breaks or breaks != silent or status != 4:
            bad.append("without thread %d: %d breaks, %d silent, status %d"
                       % (tid, breaks, silent, status))
    print("%s a_thread_of_%s_that_is_missing_is_missed"
          % ("ok" if tried > 2 and not bad else "not ok", name))
    for b in bad:
        print("    " + b)


def main():
    program, folder = sys.argv[1:]
    with tempfile.TemporaryDirectory() as temp:
        for f in sorted(glob.glob(os.path.join(folder, "*.truth.json"))):
            name = f[:-len(".truth.json")]
            try_capture(program, os.path.basename(name),
                        perfdata.Capture(name), os.path.join(temp, "c.data"))


if __name__ == "__main__":
    main()
