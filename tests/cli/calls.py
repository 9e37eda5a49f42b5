"""calls.py - a recording of system calls, as text for mkcap.
usage: calls.py sleeps|SEED; sleeps: three of 2.5 s in 9 s. SEED: threads that call, fork and end, whose ids are used
again, with losses."""
import random
import sys

ENTER, EXIT = "syscalls:sys_enter_", "syscalls:sys_exit_"
NAMES = ("clock_nanosleep", "read", "futex")
HEAD = [*(f"event {e}{n}" for n in NAMES for e in (ENTER, EXIT)), "event cpu-clock period=1000"]
S = 10**9


def sample(event, tid, cpu, time):
    return time, f"sample event={event} pid={tid} tid={tid} cpu={cpu} time={time}"


def sleeps():
    for i in range(3):
        at = S + i * 2500000100
        yield sample(ENTER + NAMES[0], 10, 0, at)
        yield sample(EXIT + NAMES[0], 10, 1, at + 2500000000)
    for i in range(900):
        yield sample("cpu-clock", 20, i % 4, S // 2 + i * 10**7 + 5)


def calls(seed):
    rnd = random.Random(seed)
    time, inside = 1000, {tid: None for tid in range(10, 18)}
    for _ in range(900):
        time += rnd.randrange(1, 400)
        tid, cpu = rnd.choice(list(inside)), rnd.randrange(4)
        if rnd.random() < 0.01:
            yield time, f"lost n={rnd.choice((1, 1, 2, 9))} cpu={cpu} time={time}"
        elif rnd.random() < 0.01:
            # it is gone, and another one has its id
            yield time, f"exit pid={tid} tid={tid} ppid=1 ptid=1 cpu={cpu} time={time}"
            yield time + 1, f"fork pid={tid} tid={tid} ppid=1 ptid=1 cpu={cpu} time={time + 1}"
            time += 1
            inside[tid] = None
        elif rnd.random() < 0.3:
            yield sample("cpu-clock", tid, cpu, time)
        elif inside[tid]:
            if rnd.random() < 0.95:
                yield sample(EXIT + inside[tid], tid, cpu, time)
            inside[tid] = None
        else:
            inside[tid] = rnd.choice(NAMES)
            if rnd.random() < 0.95:
                yield sample(ENTER + inside[tid], tid, cpu, time)


def main():
    one = sys.argv[1]
    records = sorted(sleeps() if one == "sleeps" else calls(int(one)), key=lambda r: r[0])
    tids = (10, 20) if one == "sleeps" else range(10, 18)
    step = S if one == "sleeps" else 5000
    print("\n".join(HEAD + [f"comm pid={t} tid={t} name=t{t}" for t in tids]))
    end = step
    for time, line in records:
        while time >= end:
            print("round")
            end += step
        print(line)
    print("round")


main()
