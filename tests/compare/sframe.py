# sframe.py - every function and row of SFrame sections is what objdump printed.
"""usage: sframe.py

captures/elf: NAME.sframe.txt is objdump's dump of NAME (2.47; of version 1:
2.40). Everything of a dump is compared: header, functions, rows. Differences
are of these classes, with counts in expect-sframe.txt:

fixed_ra   objdump 2.40 has no word for a return address at a fixed place, and
           prints "u" where 2.47 prints "f"
refused    an object file of binutils before 2.45, whose addresses mean nothing
           before linking: objdump prints wrong ones

--check: every byte of a linked file that both tables cover was compared with
.eh_frame, nothing is covered that .eh_frame does not cover, and nothing was
found but GNU ld's error in .plt.got:

plt_got    bytes of .plt.got with another rule than in .eh_frame
entry      entries of .plt.got whose rule is not that of a call

The 50 mutated sections of captures/elf/hostile are refused, or read in a time
that is short, with a status that is documented."""

import json
import re
import subprocess
import time

import common

FUNC = re.compile(r"func idx \[(\d+)\]: pc = 0x([0-9a-f]+), "
                  r"size = (\d+) bytes(.*)")
FLAGS = {"SFRAME_F_FDE_SORTED": 1, "SFRAME_F_FRAME_POINTER": 2,
         "SFRAME_F_FDE_FUNC_START_PCREL": 4}


def reference(path):
    """(header, functions) of objdump's text."""
    head, funcs = {}, []
    for line in open(path):
        m = FUNC.search(line)
        if m:
            funcs.append({"index": int(m[1]), "start": int(m[2], 16),
                          "size": int(m[3]),
                          "signal": '"S' in m[4] or 'S"' in m[4],
                          "flexible": "F" in m[4].split("pauth")[0],
                          "key_b": "pauth = B key" in m[4],
                          "mask": False, "rows": []})
        elif "STARTPC" in line:
            funcs[-1]["mask"] = "[m]" in line
        elif funcs and line.strip():
            # A wide CFA leaves no blank behind it.
            words = re.sub(r"^(\s*\S+\s+\(?[a-z]+\d*[+-]\d+\)?)(?=[uc(])",
                           r"\1 ", line).split()
            if words[1:] == ["RA", "undefined"]:
                words[1:] = ["outermost"]
            funcs[-1]["rows"].append((int(words[0], 16), *words[1:]))
        else:
            for key, pattern in (("version", r"SFRAME_VERSION_(\d)"),
                                 ("fixed_ra", r"fixed RA offset: (-?\d+)"),
                                 ("functions", r"Num FDEs: (\d+)"),
                                 ("rows", r"Num FREs: (\d+)")):
                m = re.search(pattern, line)
                if m:
                    head[key] = int(m[1])
            for name, bit in FLAGS.items():
                if name in line:
                    head["flags"] = head.get("flags", 0) | bit
    return head, funcs


def ours(path):
    r = common.run("sframe", "--json", path)
    if r.returncode:
        return r.returncode, r.stderr.decode(), None, []
    got = json.loads(r.stdout)
    funcs = []
    for f in got["functions"]:
        rows = []
        for row in f["rows"]:
            pc = int(row["pc"], 16)
            if row["outermost"]:
                rows.append((pc, "outermost"))
            else:
                ra = row["ra"] + ("[s]" if row["signed"] else "")
                rows.append((pc, row["cfa"], row["fp"], ra))
        funcs.append({"index": f["index"], "start": int(f["start"], 16),
                      "size": f["size"], "signal": f["signal"],
                      "flexible": f["flexible"], "key_b": f["key_b"],
                      "mask": f["repeat"] != 0, "rows": rows})
    return 0, "", got["section"], funcs


def text_rows(path):
    """The rows of the text: it must say the same as the JSON."""
    rows = []
    for line in common.run("sframe", path).stdout.decode().split("\n"):
        words = line.split()
        if line.startswith("  ") and re.fullmatch(r"[0-9a-f]+", words[0]):
            rows.append((int(words[0], 16), *words[1:]))
    return rows


def compare(path, counts):
    """What differs and has no class."""
    want_head, want = reference(path + ".sframe.txt")
    status, message, head, got = ours(path)
    bad = []
    if status:
        if path.endswith(".o") and want_head["version"] < 3 and \
                "object file" in message:
            counts["refused"] = counts.get("refused", 0) + 1
            return []
        return [message]
    for key, value in want_head.items():
        if head[key] != value:
            bad.append("%s: %s, objdump %s" % (key, head[key], value))
    if len(want) != len(got):
        bad.append("%d functions, objdump %d" % (len(got), len(want)))
    for w, g in zip(want, got):
        if head["version"] == 1 and head["fixed_ra"]:
            fixed = [r[:3] + ("u",) if r[3:] == ("f",) else r
                     for r in g["rows"]]
            counts["fixed_ra"] = counts.get("fixed_ra", 0) + sum(
                a != b for a, b in zip(fixed, g["rows"]))
            g = dict(g, rows=fixed)
        if w != g:
            bad.append("function %d: %s, objdump %s" % (g["index"], g, w))
    if text_rows(path) != [r for g in got for r in g["rows"]]:
        bad.append("the text and the JSON differ")
    counts["functions"] = counts.get("functions", 0) + len(got)
    counts["rows"] = counts.get("rows", 0) + sum(len(f["rows"]) for f in got)
    return bad


def check(path, counts):
    """Nothing but what is known is found."""
    r = common.run("sframe", "--check", "--json", path)
    if path.endswith(".o"):
        return [] if r.returncode == 1 else ["status %d" % r.returncode]
    got = json.loads(r.stdout)
    tests = {t["test"]: t for t in got["tests"]}
    bad = []
    for key, test in (("plt_got", "plt-got"), ("entry", "entry")):
        if tests[test]["found"]:
            counts[key] = tests[test]["found"]
    for t in got["tests"]:
        if t["error"] and t["found"] and t["test"] not in ("plt-got", "entry"):
            bad.append("%s: %d" % (t["test"], t["found"]))
    if r.returncode != (4 if got["errors"] else 0):
        bad.append("status %d, %d errors" % (r.returncode, got["errors"]))
    if not tests["sp-moves"]["looked_at"] or not tests["entry"]["looked_at"]:
        bad.append("the code was not looked at")
    both = sum(tests[t]["looked_at"] for t in
               ("eh-frame", "plt-got", "outermost", "signal"))
    covered = tests["extra"]["looked_at"] - tests["extra"]["found"]
    if not got["has_eh_frame"] or both != covered or tests["extra"]["found"]:
        bad.append("%d bytes compared, %d covered" % (both, covered))
    return bad


def hostile(path):
    for args in (["--json"], [], ["--check"]):
        start = time.time()
        try:
            r = subprocess.run([common.BACKSTITCH, "sframe", *args, path],
                               stdout=subprocess.PIPE, timeout=60,
                               stderr=subprocess.PIPE)
        except subprocess.TimeoutExpired:
            return ["%s: takes too long" % args]
        allowed = (0, 1, 3, 4) if args == ["--check"] else (0, 1, 3)
        if r.returncode not in allowed or b"runtime error" in r.stderr \
                or b"Sanitizer" in r.stderr:
            return ["%s: status %d" % (args, r.returncode),
                    r.stderr.decode(errors="replace")[:2000]]
        if r.returncode != 1 and args == ["--json"]:
            json.loads(r.stdout)
        if time.time() - start > 20:
            return ["%s: %.0f s" % (args, time.time() - start)]
    return []


def main():
    table = common.expectations("expect-sframe.txt")
    total = {}
    for ref, text in common.find("elf/*.sframe.txt", "elf/*/*.sframe.txt"):
        path = text[:-len(".sframe.txt")]
        name = ref[len("elf/"):-len(".sframe.txt")]
        counts = {}
        bad = compare(path, counts)
        bad += check(path, counts)
        for key in ("functions", "rows"):
            total[key] = total.get(key, 0) + counts.pop(key, 0)
        if counts != table[name]:
            bad.append("classes %s, expected %s" % (counts, table[name]))
        common.ok(not bad, name, bad[:5])
    print("   ", total)
    counts = {}
    bad = check(common.place("elf/lib_x86_ibtplt_v3.so"), counts)
    if counts != table["lib_x86_ibtplt_v3.so"]:
        bad.append("classes %s" % counts)
    common.ok(not bad, "lib_x86_ibtplt_v3.so", bad)
    for name, path in common.find("elf/hostile/*.so"):
        bad = hostile(path)
        common.ok(not bad, name[len("elf/"):], bad)


main()
common.finish()
