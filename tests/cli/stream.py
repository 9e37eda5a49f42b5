"""stream.py - a recording with deferred user stacks, whole and cut into segments, as text for mkcap.
usage: stream.py SEED N DIR [forks|lost]; writes DIR/whole.txt and DIR/1.txt ... DIR/N.txt

Threads enter the kernel, are sampled there once or several times, and get their user stack when they return. Each
segment begins with the names and mappings of all threads, as perf record writes them. forks: processes also fork, exec and
exit, and their ids are used again; the segments do not know of that. lost: some user
stacks are missing, losses explain some of them, and some threads end before they get theirs."""
import random
import sys

HEAD = """event cpu-clock defer period=1000
event dummy:u output
"""
STATE = [
    "mmap pid=-1 start=0xffffffff81000000 len=0x1000000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel",
    *(
        line
        for p in (10, 20, 30)
        for line in (
            f"comm pid={p} tid={p} name=prog{p}",
            f"mmap pid={p} tid={p} start=0x400000 len=0x10000 pgoff=0 path=/bin/prog{p} id=0{p}aabb",
        )
    ),
    *(f"comm pid={p} tid={p + i} name=work{p}.{i}" for p in (10, 20, 30) for i in (1, 2)),
]


def user(rnd, depth):
    return ",".join(hex(0x400100 + 0x10 * rnd.randrange(40)) for _ in range(depth))


def make(seed):
    """The records as (time, text), in time order."""
    rnd = random.Random(seed)
    out = []
    free = {(p, p + i): 1000 for p in (10, 20, 30) for i in (0, 1, 2)}
    counter = [0, 0, 0, 0]
    t = 1000
    for _ in range(400):
        t += rnd.randrange(1, 20)
        ready = [k for k, v in free.items() if v <= t]
        if not ready:
            continue
        pid, tid = rnd.choice(ready)
        cpu = rnd.randrange(4)
        who = f"pid={pid} tid={tid} cpu={cpu}"
        if rnd.random() < 0.2:
            out.append((t, f"sample {who} time={t} u={user(rnd, 3)}"))
            continue
        counter[cpu] += 1
        cookie = f"{cpu}:{2 * counter[cpu] + 1}"
        at = t
        for _ in range(rnd.choice((1, 1, 2, 4))):
            kernel = ",".join(hex(0xFFFFFFFF81000100 + 0x10 * rnd.randrange(9)) for _ in range(2))
            out.append((at, f"sample {who} time={at} k={kernel} cookie={cookie}"))
            at += rnd.randrange(1, 60)
        # some stay in the kernel for long, over several segments
        at += rnd.choice((5, 50, 50, 2000))
        out.append((at, f"chain cookie={cookie} {who} time={at} u={user(rnd, rnd.randrange(1, 5))}"))
        free[(pid, tid)] = at + 1
    for _ in range(5):
        at = rnd.randrange(1000, t)
        out.append((at, f"lost n={rnd.randrange(1, 9)} cpu={rnd.randrange(4)} time={at}"))
    return sorted(out)


def write(path, records):
    with open(path, "w", encoding="ascii") as f:
        f.write(HEAD)
        f.write("\n".join(STATE + [text for _, text in records]) + "\n")


def forks(seed, end):
    """Processes that come and go, and their samples: pid 40 and 41 are used again and again."""
    rnd = random.Random(seed + 2)
    out = []
    for pid in (40, 41):
        t = 1000
        while t < end:
            parent = rnd.choice((10, 20, 30))
            t += rnd.randrange(50, 200)
            out.append((t, f"fork pid={pid} tid={pid} ppid={parent} ptid={parent} time={t} cpu=0"))
            for step in range(rnd.randrange(2, 30)):
                t += rnd.randrange(1, 90)
                if rnd.random() < 0.1:
                    out.append((t, f"comm pid={pid} tid={pid} name=exec{t} exec time={t} cpu=0"))
                    t += 1
                    out.append(
                        (t, f"mmap pid={pid} tid={pid} start=0x400000 len=0x10000 pgoff={hex(0x1000 * (step % 3))} "
                            f"path=/bin/exec{step % 4} id=0{step % 4}ccdd time={t} cpu=0")
                    )
                    t += 1
                out.append((t, f"sample pid={pid} tid={pid} cpu=0 time={t} u={user(rnd, 2)}"))
            t += 1
            out.append((t, f"exit pid={pid} tid={pid} ppid={parent} ptid={parent} time={t} cpu=0"))
    return out


def lost(seed, records):
    """The records without some, with losses, and with threads that end in the kernel."""
    rnd = random.Random(seed + 3)
    out = []
    gone = set()
    for t, text in records:
        kind = text.split()[0]
        word = dict(w.split("=", 1) for w in text.split()[1:])
        if word.get("tid") in gone:
            continue
        if kind == "chain" and rnd.random() < 0.25:
            if rnd.random() < 0.6:
                at = t + rnd.randrange(1, 200)
                out.append((at, f"lost n=1 cpu={word['cpu']} time={at}"))
            continue
        out.append((t, text))
        if "cookie" in word and kind == "sample" and len(gone) < 4 and rnd.random() < 0.03:
            pid, tid = word["pid"], word["tid"]
            gone.add(tid)
            out.append((t + 1, f"exit pid={pid} tid={tid} ppid={pid} ptid={tid} time={t + 1} cpu={word['cpu']}"))
    return sorted(out)


def main():
    seed, n, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    records = make(seed)
    if sys.argv[4:] == ["forks"]:
        records = sorted(records + forks(seed, records[-1][0]))
    elif sys.argv[4:] == ["lost"]:
        records = lost(seed, records)
    write(f"{folder}/whole.txt", records)
    cuts = sorted(random.Random(seed + 1).sample(range(1, len(records)), n - 1))
    for i, (a, b) in enumerate(zip([0] + cuts, cuts + [len(records)]), 1):
        write(f"{folder}/{i}.txt", records[a:b])


main()
