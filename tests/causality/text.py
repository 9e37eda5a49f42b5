# text.py - writes records as a text of ftrace, with the losses of each CPU.
"""Events as /sys/kernel/tracing/trace prints them; "CPU:N [LOST K EVENTS]"
stands in front of the first record behind a loss of that CPU's ring."""

HEAD = ("# tracer: nop\n#\n"
        "# entries-in-buffer/entries-written: %d/%d   #P:%d\n#\n"
        "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n"
        "#              | |         |   |||||     |         |\n")


def fields(r):
    f = r.fields
    if r.type == "sched_switch":
        return ("prev_comm=%s prev_pid=%d prev_prio=120 prev_state=%s ==> "
                "next_comm=%s next_pid=%d next_prio=120"
                % (f["prev_comm"], f["prev_pid"], f["prev_state"],
                   f["next_comm"], f["next_pid"]))
    if r.type == "sched_migrate_task":
        return "comm=%s pid=%d prio=120 orig_cpu=%d dest_cpu=%d" % (
            f["comm"], f["pid"], f["orig_cpu"], f["dest_cpu"])
    if r.type == "sched_process_fork":
        return "comm=%s pid=%d child_comm=%s child_pid=%d" % (
            f["comm"], f["pid"], f["child_comm"], f["child_pid"])
    if r.type == "sched_process_exit":
        return "comm=%s pid=%d prio=120" % (f["comm"], f["pid"])
    return "comm=%s pid=%d prio=120 target_cpu=%03d" % (
        f["comm"], f["pid"], f["target_cpu"])


def line(r, names):
    flags = ("d" if r.flags & 1 else ".") + "." + \
        ("H" if r.flags & 24 == 24 else "h" if r.flags & 8 else
         "s" if r.flags & 16 else ".") + "2."
    return "%16s-%-7d [%03d] %s %d.%09d: %s: %s\n" % (
        names.get(r.current, "x") if r.current else "<idle>", r.current,
        r.cpu, flags, r.time // 10**9, r.time % 10**9, r.type, fields(r))


def write(path, kept, names, cpus):
    """kept: (record, number lost in front of it in its ring) in time order"""
    with open(path, "w", encoding="ascii") as out:
        out.write(HEAD % (len(kept), len(kept), cpus))
        for r, lost in kept:
            if lost:
                out.write("CPU:%d [LOST %d EVENTS]\n" % (r.cpu, lost))
            out.write(line(r, names))
