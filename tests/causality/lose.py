# lose.py - takes records out of a capture, as the rings of a tracer lose them.
"""Each kind of loss is a function of the records (in time order, with cpu,
current and type) that returns two sets of indexes: those that the ring of their
CPU counts as lost, and those that are missing without a word."""

KINDS = {}


def kind(fn):
    KINDS[fn.__name__] = fn
    return fn


def rings(records):
    found = {}
    for i, r in enumerate(records):
        found.setdefault(r.cpu, []).append(i)
    return found


def in_bursts(rng, ring, share, longest, shortest=1):
    out = set()
    while ring and len(out) < share * len(ring):
        at = rng.randrange(len(ring))
        out.update(ring[at:at + rng.randint(shortest, longest)])
    return out


@kind
def none(rng, records):
    """nothing"""
    return set(), set()


@kind
def one(rng, records):
    """a single record"""
    return {rng.randrange(len(records))}, set()


@kind
def two(rng, records):
    """two records, often near each other"""
    at = rng.randrange(len(records))
    near = min(len(records) - 1, at + rng.randint(1, 12))
    return {at, near}, set()


@kind
def single(rng, records):
    """each record with 1, 5, 20 or 50 %"""
    share = rng.choice((0.01, 0.05, 0.2, 0.5))
    return {i for i in range(len(records)) if rng.random() < share}, set()


@kind
def bursts(rng, records):
    """1, 5, 20 or 50 % in bursts of up to 8"""
    share = rng.choice((0.01, 0.05, 0.2, 0.5))
    return set().union(*(in_bursts(rng, ring, share, 8)
                         for ring in rings(records).values())), set()


@kind
def long_bursts(rng, records):
    """1, 5, 20 or 50 % in bursts of up to 120"""
    share = rng.choice((0.01, 0.05, 0.2, 0.5))
    return set().union(*(in_bursts(rng, ring, share, 120)
                         for ring in rings(records).values())), set()


# Not by default: rows of a table, in each of which as much is lost.
TABLE = {}


def exactly(rng, ring, share, longest, shortest):
    """In bursts, the last of which is as long as is needed."""
    out, much = set(), round(share * len(ring))
    while len(out) < much:
        at = rng.randrange(len(ring))
        n = rng.randint(shortest, longest)
        for i in ring[at:at + n]:
            if len(out) < much:
                out.add(i)
    return out


def share_of(share, longest, shortest):
    def lost(rng, records):
        if longest == 1:
            return {i for i in range(len(records))
                    if rng.random() < share}, set()
        return set().union(*(exactly(rng, ring, share, longest, shortest)
                             for ring in rings(records).values())), set()
    return lost


for percent in 1, 5, 20, 50:
    TABLE["single_%d" % percent] = share_of(percent / 100, 1, 1)
    TABLE["bursts_%d" % percent] = share_of(percent / 100, 8, 8)
    TABLE["long_%d" % percent] = share_of(percent / 100, 120, 1)


@kind
def one_cpu(rng, records):
    """a third of the records of one CPU, in bursts"""
    found = rings(records)
    return in_bursts(rng, found[rng.choice(sorted(found))], 0.3, 8), set()


@kind
def masks(rng, records):
    """a dozen records in a row: any of them"""
    out = set()
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(records))
        mask = rng.getrandbits(12)
        out.update(at + i for i in range(12)
                   if mask >> i & 1 and at + i < len(records))
    return out, set()


@kind
def tail(rng, records):
    """the last records of some rings, which nothing tells of"""
    out = set()
    for ring in rings(records).values():
        if rng.random() < 0.5:
            out.update(ring[-rng.randint(1, max(1, len(ring) // 3)):])
    return set(), out


@kind
def late(rng, records):
    """events that are turned on CPU by CPU, and one after the other: those of
    perf in the order of the types, behind records of switches"""
    order = {r.type: r.fields.get("order", 0) for r in records}
    types = sorted(order, key=str)
    rng.shuffle(types)
    types.sort(key=lambda t: 0 if t == "switch" else order[t])
    first, span = records[0].time, records[-1].time - records[0].time
    on = {}
    for cpu in rings(records):
        at = first + rng.random() * span * 0.3
        for t in types:
            on[cpu, t] = at
            at += rng.random() * span * 0.02
    return set(), {i for i, r in enumerate(records)
                   if r.time < on[r.cpu, r.type]}


@kind
def early(rng, records):
    """events that are turned off CPU by CPU in the order of the types, and
    records of switches behind all others; only types of perf have an order"""
    order = {r.type: r.fields["order"] for r in records if "order" in r.fields}
    last, span = records[-1].time, records[-1].time - records[0].time
    off, at = {}, last - rng.random() * span * 0.3
    for of_records in False, True:
        for cpu in sorted(rings(records)):
            for t in sorted(order, key=order.get):
                if (t == "switch") == of_records:
                    off[cpu, t] = at
                    at += rng.random() * span * 0.02
    return set(), {i for i, r in enumerate(records)
                   if r.time >= off.get((r.cpu, r.type), last + 1)}


@kind
def late_and_lost(rng, records):
    """late, and bursts"""
    missing = late(rng, records)[1]
    return bursts(rng, records)[0] - missing, missing


@kind
def silent(rng, records):
    """all records in whose context some threads are current"""
    tids = sorted({r.current for r in records})
    hidden = set(rng.sample(tids, min(len(tids), rng.randint(1, 2))))
    since = rng.choice(records).time if rng.random() < 0.5 else 0
    return set(), {i for i, r in enumerate(records)
                   if r.current in hidden and r.time >= since}


@kind
def silent_tasks(rng, records):
    """all records of one, two or three tasks, idle ones among them, from the
    first one on"""
    tasks = sorted({task_of(r, r.current) for r in records})
    hidden = set(rng.sample(tasks, min(len(tasks), rng.randint(1, 3))))
    return set(), {i for i, r in enumerate(records)
                   if task_of(r, r.current) in hidden}


@kind
def silent_code(rng, records):
    """silent_tasks, but what interrupts write in their context stays, as in
    guests"""
    missing = silent_tasks(rng, records)[1]
    return set(), {i for i in missing if not in_interrupt(records[i])}


@kind
def silent_and_lost(rng, records):
    """silent, and bursts"""
    missing = silent(rng, records)[1]
    return bursts(rng, records)[0] - missing, missing


def without(*types):
    def missing(rng, records):
        return bursts(rng, records)[0] if rng.random() < 0.5 else set(), \
            {i for i, r in enumerate(records) if r.type in types}
    return missing


# By the names of types, which only schedules have.
FEWER_TYPES = {
    "no_waking": without("sched_waking"),
    "no_wakeup": without("sched_wakeup"),
    "no_migrate": without("sched_migrate_task"),
    "switch_only": without(
        "sched_waking", "sched_wakeup", "sched_wakeup_new",
        "sched_migrate_task", "sched_process_fork", "sched_process_exit"),
}
KINDS.update(FEWER_TYPES)


class Kept(list):
    """lost: numbers of the records that a ring counted as lost"""

    lost = frozenset()


def keep(records, lost, missing):
    """Returns (record, number lost in front of it in its ring) of the rest."""
    waiting, kept = {}, Kept()
    kept.lost = frozenset(id(records[i]) for i in lost - missing)
    for i, r in enumerate(records):
        if i in missing:
            continue
        if i in lost:
            waiting[r.cpu] = waiting.get(r.cpu, 0) + 1
            continue
        kept.append((r, waiting.pop(r.cpu, 0)))
    return kept


SILENT_GAPS = 4


def in_interrupt(r):
    """Was it written by a hardirq, a softirq or an NMI?"""
    return bool(r.flags & (8 | 16 | 64))


def task_of(r, tid):
    """Each CPU has its own idle task."""
    return tid or -1 - r.cpu


def only_premise(kept, removed):
    """Are records missing of which the rest shows nothing, but for those of
    silent tasks? That is what an answer may rest on: that only records of tasks
    are missing that are switched to and never current, and at least one of
    them so often that it is no chance. removed: the tasks of which records are
    missing."""
    seat, gaps, heard = {}, {}, set()
    for r, lost in kept:
        if lost:
            seat.pop(r.cpu, None)
        current = task_of(r, r.current)
        if not in_interrupt(r):
            heard.add(current)
        left = seat.get(r.cpu, current)
        if left != current:
            gaps[left] = gaps.get(left, 0) + 1
        seat[r.cpu] = task_of(r, r.fields.get("next_pid", r.current))
    silent = {t for t in gaps if t not in heard}
    if max((gaps[t] for t in silent), default=0) < SILENT_GAPS:
        silent = set()
    return not set(gaps) - silent and bool(removed - silent)


def has_sign(kept):
    """Does the rest show that records are missing without a loss? In one ring,
    without a loss between, the current thread is who the switch left there."""
    seat = {}
    for r, lost in kept:
        if lost:
            seat.pop(r.cpu, None)
        if seat.get(r.cpu, r.current) != r.current:
            return True
        seat[r.cpu] = r.fields.get("next_pid", r.current)
    return False
