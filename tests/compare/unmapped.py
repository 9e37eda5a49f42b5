# unmapped.py - mapping records taken out of sound captures, and what check finds.
"""usage: unmapped.py [SEED]

From each of up to 50 processes that called exec, one MMAP2 record of code is
taken out: of the mappings in which the process ran code in user mode where
there are any, else of all. The rule 'unmapped' must find each process that ran
code in what was taken out, and no other one; in the captures as they are it
must find nothing. Where no code ran, nothing can be proved: those are counted
apart. A last edit takes out all records after the start."""

import os
import random
import struct
import sys
import tempfile

import common

MMAP2, COMM, SAMPLE, DEFERRED = 10, 3, 9, 22
EXEC_BIT = 1 << 13
USER = 2
PROCESSES = 50
PS_IDENTIFIER, PS_IP, PS_TID = 1 << 16, 1, 2


class Data:
    """A perf.data file of one sample_type, uncompressed."""

    def __init__(self, path):
        self.raw = common.read_bytes(path)
        if self.raw[:8] != b"PERFILE2":
            raise ValueError("not a file of perf")
        self.at, self.size = struct.unpack_from("<QQ", self.raw, 40)
        attrs, n = struct.unpack_from("<QQ", self.raw, 24)
        each = struct.unpack_from("<Q", self.raw, 16)[0]
        kinds = {struct.unpack_from("<Q", self.raw, attrs + i * each + 24)[0]
                 for i in range(n // each)}
        if len(kinds) != 1:
            raise ValueError("several kinds of samples")
        self.kind = kinds.pop()
        self.records = list(common.records(self.raw))
        if any(kind in (81, 83) for _, _, kind, _ in self.records):
            raise ValueError("compressed")

    def hit(self, pos):
        """ip and pid of a sample."""
        pos += 8 + (8 if self.kind & PS_IDENTIFIER else 0)
        if not self.kind & PS_IP or not self.kind & PS_TID:
            return None, None
        return struct.unpack_from("<QI", self.raw, pos)

    def without(self, gone, path):
        out, cut = [self.raw[:self.at]], 0
        for pos, n, _, _ in self.records:
            if pos in gone:
                cut += n
            else:
                out.append(self.raw[pos:pos + n])
        out = bytearray(b"".join(out))
        struct.pack_into("<Q", out, 48, self.size - cut)
        rest = bytearray(self.raw[self.at + self.size:])
        bits = sum(bin(b).count("1") for b in self.raw[72:104])
        for i in range(bits):
            off = struct.unpack_from("<Q", rest, i * 16)[0]
            struct.pack_into("<Q", rest, i * 16, off - cut)
        with open(path, "wb") as f:
            f.write(out + rest)


class Process:
    def __init__(self):
        self.maps = []   # (start, end, pos) of its last program
        self.ran = set()


def processes(data):
    """Processes that called exec once, with the mappings they ran code in."""
    found, execs = {}, {}
    for pos, _, kind, misc in data.records:
        if kind == COMM and misc & EXEC_BIT:
            pid = struct.unpack_from("<I", data.raw, pos + 8)[0]
            execs[pid] = execs.get(pid, 0) + 1
            found[pid] = Process()
        elif kind == MMAP2 and misc & 7 == USER:
            pid, _, start, size = struct.unpack_from("<IIQQ", data.raw, pos + 8)
            if pid in found:
                found[pid].maps.append((start, start + size, pos))
        elif kind == SAMPLE and misc & 7 == USER:
            ip, pid = data.hit(pos)
            for start, end, at in found[pid].maps if pid in found else ():
                if start <= ip < end:
                    found[pid].ran.add(at)
    return {pid: p for pid, p in found.items() if execs[pid] == 1 and p.maps}


def findings(path, folder):
    db, status, _ = common.into(os.path.join(folder, "x.db"), "--no-symbols",
                                path)
    if status not in (0, 3):
        return None
    return {row[0] for row in common.query(db, """
        SELECT pid FROM findings WHERE rule = 'unmapped'""")}, db


def captures():
    for name, path in common.find("perf-deferred/*.data", "perf/*/perf.data"):
        try:
            yield name, path, Data(path)
        except (ValueError, IndexError, struct.error, OSError):
            continue


def main(seed):
    rnd = random.Random(seed)
    total = want = hits = silent = alarms = sound = 0
    emptied = 0
    with tempfile.TemporaryDirectory() as folder:
        for name, path, data in captures():
            before, _ = findings(path, folder) or (None, None)
            if before is None:
                continue
            sound += 1
            alarms += len(before)
            if before:
                print("    false alarm in %s: %r" % (name, sorted(before)))
            them = processes(data)
            if len(them) > 3 and total < PROCESSES:
                gone, ran = set(), set()
                for pid in sorted(them)[:PROCESSES - total]:
                    p = them[pid]
                    at = rnd.choice(sorted(p.ran) or [m[2] for m in p.maps])
                    gone.add(at)
                    ran |= {pid} if at in p.ran else set()
                    total += 1
                edit = os.path.join(folder, "edit.data")
                data.without(gone, edit)
                after, _ = findings(edit, folder)
                want += len(ran)
                hits += len(after & ran)
                silent += len(set(sorted(them)[:len(gone)]) - ran)
                wrong = {p for p in after - ran if p not in them}
                alarms += len(wrong)
                missed = ran - after
                if missed or wrong:
                    print("    %s: missed %r, wrong %r" % (
                        name, sorted(missed), sorted(wrong)))
            if len(them) > 3 and not emptied:
                first = next(pos for pos, _, kind, misc in data.records
                             if kind == COMM and misc & EXEC_BIT)
                edit = os.path.join(folder, "empty.data")
                data.without({pos for pos, _, kind, _ in data.records
                              if kind == MMAP2 and pos > first}, edit)
                after, db = findings(edit, folder)
                r = common.run("check", db)
                emptied = 1
                common.ok(after and r.returncode == 4 and
                          b"ran in no mapping" in r.stdout,
                          "all_mappings_after_the_start_gone_is_broken",
                          [r.stdout.decode()])
    print("processes %d: ran code in what was taken out %d, found %d; nothing "
          "ran there %d; sound captures %d, false alarms %d" % (
              total, want, hits, silent, sound, alarms))
    common.ok(want and hits == want, "each_missing_mapping_that_ran_is_found")
    common.ok(not alarms and sound, "no_sound_capture_is_accused")


main(int(sys.argv[1]) if len(sys.argv) > 1 else 14)
common.finish()
