# schedule.py - makes schedules of threads on CPUs, with everything that is true.
"""A schedule is a list of records, as a tracer would write them, and the truth,
which the generator notes while it lets threads run, wait and wake each other:
it is not derived from the records. All times are different."""

import collections
import random

# time in ns; current: the thread in whose context the record was written;
# flags: common_flags; fields: of the tracepoint
Record = collections.namedtuple("Record", "time cpu current type flags fields")
# from, to, state (run, ready, blocked, dead), cpu, by: who ended a blocked
# piece: a thread, IRQ, or None if nobody did
Piece = collections.namedtuple("Piece", "start end state cpu by")


class Wake:
    """From sched_waking, at time, to sched_wakeup, at done (None: never)."""

    def __init__(self, time, waiter, waker, done=None):
        self.time, self.waiter, self.waker = time, waiter, waker
        self.done = done


IRQ = -1
IDLE = 0
IRQS_OFF, HARDIRQ = 1, 8


class Thread:
    def __init__(self, tid, name, parent, born):
        self.tid, self.name, self.parent, self.born = tid, name, parent, born
        self.state, self.since, self.cpu = "blocked", born, 0
        self.pieces = []


class Schedule:
    """records, threads by tid (IDLE too), wakes, cpus, first, last"""

    def __init__(self, seed, cpus, threads, steps):
        self.rng = random.Random(seed)
        self.now = self.first = 10**9
        self.cpus, self.records, self.wakes = cpus, [], []
        self.threads = {IDLE: Thread(IDLE, "swapper", None, self.now)}
        self.on = [self.threads[IDLE]] * cpus
        self.queue = [[] for _ in range(cpus)]
        self.remote = [[] for _ in range(cpus)]  # wakeups on their way
        for i in range(threads):
            t = self.new_thread(None)
            t.cpu = self.rng.randrange(cpus)
            if self.rng.random() < 0.6:
                self.become(t, "ready")
                self.queue[t.cpu].append(t)
        for _ in range(steps):
            self.step(self.rng.randrange(cpus))
        self.last = self.tick()
        for t in self.threads.values():
            self.become(t, "end")

    # ---- what happens to one thread

    def new_thread(self, parent):
        tid = 1000 + len(self.threads)
        t = Thread(tid, "w%d" % tid, parent, self.now)
        self.threads[tid] = t
        return t

    def tick(self):
        self.now += self.rng.choice((150, 700, 2500, 9000)) + \
            self.rng.randrange(100)
        return self.now

    def become(self, t, state, by=None, cpu=None):
        if self.now > t.since:
            t.pieces.append(Piece(t.since, self.now, t.state,
                                  t.cpu if t.state == "run" else None, by))
        t.state, t.since = state, self.now
        if cpu is not None:
            t.cpu = cpu

    def write(self, cpu, kind, flags=IRQS_OFF, **fields):
        self.records.append(Record(self.now, cpu, self.on[cpu].tid, kind,
                                   flags, fields))

    def some(self, state, but=()):
        found = [t for t in self.threads.values()
                 if t.state == state and t.tid and t not in but]
        return self.rng.choice(found) if found else None

    # ---- what a CPU does

    def switch(self, cpu, state):
        """The thread on the CPU leaves it in this state: S, D, R, X."""
        out = self.on[cpu]
        self.tick()
        if out.tid and state == "R":
            self.queue[cpu].append(out)
        queue = self.queue[cpu]
        came = queue.pop(self.rng.randrange(len(queue))) if queue \
            else self.threads[IDLE]
        if came is out:
            return
        self.write(cpu, "sched_switch", prev_pid=out.tid, prev_comm=out.name,
                   prev_state=state if out.tid else "R", next_pid=came.tid,
                   next_comm=came.name)
        if out.tid:
            self.become(out, {"R": "ready", "X": "dead"}.get(state, "blocked"))
        if came.tid:
            self.become(came, "run", cpu=cpu)
        self.on[cpu] = came

    def wake(self, cpu, t, flags):
        """Whoever is on the CPU, or an interrupt there, wakes t."""
        self.tick()
        waker = IRQ if flags & HARDIRQ else self.on[cpu].tid
        self.write(cpu, "sched_waking", flags, pid=t.tid, comm=t.name,
                   target_cpu=t.cpu)
        t.wake = Wake(self.now, t.tid, waker)
        self.wakes.append(t.wake)
        self.become(t, "ready", waker)
        self.enqueue(cpu, t, flags)

    def enqueue(self, cpu, t, flags):
        to = self.rng.choice((cpu, t.cpu, self.rng.randrange(self.cpus)))
        if to != t.cpu:
            self.tick()
            self.write(cpu, "sched_migrate_task", flags, pid=t.tid,
                       comm=t.name, orig_cpu=t.cpu, dest_cpu=to)
            t.cpu = to
        if to != cpu and self.rng.random() < 0.4:
            self.remote[to].append(t)
            return
        self.tick()
        self.write(cpu, "sched_wakeup", flags, pid=t.tid, comm=t.name,
                   target_cpu=to)
        t.wake.done = self.now
        self.queue[to].append(t)

    def arrive(self, cpu):
        """A wakeup that another CPU sent: told in an interrupt."""
        t = self.remote[cpu].pop(0)
        self.tick()
        self.write(cpu, "sched_wakeup", IRQS_OFF | HARDIRQ, pid=t.tid,
                   comm=t.name, target_cpu=cpu)
        t.wake.done = self.now
        self.queue[cpu].append(t)

    def race(self, cpu):
        """A thread is woken on its way to sleep, before its switch."""
        others = [c for c in range(self.cpus)
                  if c != cpu and self.on[c].tid and
                  (self.queue[c] or not self.remote[c])]
        if not others:
            return
        at = self.rng.choice(others)
        t = self.on[at]
        self.tick()
        self.write(cpu, "sched_waking", pid=t.tid, comm=t.name, target_cpu=at)
        wake = Wake(self.now, t.tid, self.on[cpu].tid)
        self.wakes.append(wake)
        self.switch(at, self.rng.choice("SD"))
        if t.state == "blocked":
            t.state = "ready"
            self.tick()
            self.write(cpu, "sched_wakeup", pid=t.tid, comm=t.name,
                       target_cpu=at)
            wake.done = self.now
            self.queue[at].append(t)

    def in_vain(self, cpu):
        """A thread that has made up its mind not to sleep is woken."""
        t = self.some("run", (self.on[cpu],))
        if t:
            self.tick()
            self.write(cpu, "sched_waking", pid=t.tid, comm=t.name,
                       target_cpu=t.cpu)
            self.wakes.append(Wake(self.now, t.tid, self.on[cpu].tid,
                                   self.tick()))
            self.write(cpu, "sched_wakeup", pid=t.tid, comm=t.name,
                       target_cpu=t.cpu)

    def fork(self, cpu):
        parent = self.on[cpu]
        self.tick()
        child = self.new_thread(parent.tid)
        self.write(cpu, "sched_process_fork", 0, pid=parent.tid,
                   comm=parent.name, child_pid=child.tid,
                   child_comm=child.name)
        self.tick()
        self.write(cpu, "sched_wakeup_new", pid=child.tid, comm=child.name,
                   target_cpu=cpu)
        child.born = child.since = self.now
        child.state, child.cpu = "ready", cpu
        self.wakes.append(Wake(self.now, child.tid, parent.tid, self.now))
        self.queue[cpu].append(child)

    def step(self, cpu):
        cur, dice = self.on[cpu], self.rng.random()
        if self.remote[cpu] and dice < 0.7:
            return self.arrive(cpu)
        if not cur.tid:
            if self.queue[cpu]:
                return self.switch(cpu, "R")
            t = self.some("blocked")
            if t and dice < 0.5:
                self.wake(cpu, t, IRQS_OFF | HARDIRQ)
            return None
        t = self.some("blocked")
        if dice < 0.35 and t:
            return self.wake(cpu, t, IRQS_OFF)
        if dice < 0.43 and t:
            return self.wake(cpu, t, IRQS_OFF | HARDIRQ)
        if dice < 0.70:
            return self.switch(cpu, "S" if dice < 0.65 else "D")
        if dice < 0.82 and self.queue[cpu]:
            return self.switch(cpu, "R")
        if dice < 0.88:
            return self.race(cpu)
        if dice < 0.90:
            return self.in_vain(cpu)
        if dice < 0.915 and len(self.threads) < 200:
            return self.fork(cpu)
        if dice < 0.92 and len(self.threads) > 6:
            self.tick()
            self.write(cpu, "sched_process_exit", 0, pid=cur.tid,
                       comm=cur.name)
            return self.switch(cpu, "X")
        self.tick()
        return None

    # ---- the truth

    def chain(self, tid, start, end, out, depth=0):
        """Appends (from, to, tid, state, cpu) of who was responsible."""
        t = self.threads[tid]
        if start < t.born:
            to = min(end, t.born)
            if t.parent is None or depth > 400:
                out.append((start, to, tid, "unborn", None))
            else:
                self.chain(t.parent, start, to, out, depth + 1)
            start = to
        for p in t.pieces:
            a, b = max(p.start, start), min(p.end, end)
            if a >= b:
                continue
            if p.state == "blocked" and p.by is not None and p.by > 0 and \
                    depth <= 400:
                self.chain(p.by, a, b, out, depth + 1)
            elif p.state == "blocked":
                out.append((a, b, tid, "interrupt" if p.by is not None
                            else "open", None))
            else:
                out.append((a, b, tid, p.state, p.cpu))
        return out
