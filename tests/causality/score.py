# score.py - compares a chain of causes with the truth, nanosecond by nanosecond.
"""A statement is a segment or an edge. What is called proved must be true; what
is called consistent is counted as right or wrong, the rest as unknown."""

import collections

NOT_INTERRUPT = ("run", "ready", "unknown", "off", "blocked", "unborn", "dead")


def same(said, true):
    """States of the tool and of the truth. How exactly an interrupt is named is
    the tool's choice; off is blocked or ready, blocked leaves the waker open."""
    if said == true:
        return True
    if said == "off":
        return true not in ("run", "dead", "unborn")
    if said == "blocked":
        return true in ("interrupt", "open")
    return true == "interrupt" and said not in NOT_INTERRUPT


def holes(segments, start, end):
    at = start
    for s in segments:
        if s["from_ns"] != at or s["to_ns"] <= at:
            return "%d to %d, expected from %d on" % (s["from_ns"],
                                                      s["to_ns"], at)
        at = s["to_ns"]
    return None if at == end else "ends at %d, not %d" % (at, end)


def score_segments(segments, truth, tid, slack, total, say):
    i = k = 0
    while i < len(segments) and k < len(truth):
        s, (a, b, who, state, cpu) = segments[i], truth[k]
        ns = min(s["to_ns"], b) - max(s["from_ns"], a)
        ok = s["tid"] == who and same(s["state"], state) and \
            (s["state"] != "run" or s.get("cpu") in (None, cpu))
        proof = "unknown" if s["state"] == "unknown" else s["proof"]
        if ns > slack and state is not None and not (who == tid and state == "run" and ok):
            if proof == "proved":
                total["proved" if ok else "false"] += ns
                if not ok:
                    say("[%d,%d] said: tid %s %s cpu %s, true: tid %s %s cpu %s"
                        % (max(s["from_ns"], a), min(s["to_ns"], b), s["tid"],
                           s["state"], s.get("cpu"), who, state, cpu))
            elif proof == "consistent":
                total["right" if ok else "wrong"] += ns
            else:
                total["unknown"] += ns
        if s["to_ns"] <= b:
            i += 1
        else:
            k += 1


def score_edges(edges, wakes, total, say):
    """An edge is a wake-up that happened: by that thread, in that time. It may
    be told by sched_waking or by sched_wakeup, or be somewhere between."""
    for e in edges:
        lo, hi = e.get("from_ns"), e.get("to_ns")
        lo = e["at_ns"] if lo is None else lo
        hi = e["at_ns"] if hi is None else hi
        leaf = e.get("context") in ("hardirq", "nmi", "softirq") or \
            not e["waker"]
        hit = [w for w in wakes.get(e["waiter"], ()) if lo <= (
            w.time if w.done is None else w.done) and w.time <= hi and
               (w.waker == e["waker"] or (leaf and w.waker < 0))]
        if hit:
            total["edges right"] += 1
        elif e["proof"] == "proved":
            total["edges false"] += 1
            say("edge %s <- %s at %s was not so" % (e["waiter"], e["waker"],
                                                   e["at_ns"]))
        else:
            total["edges wrong"] += 1


def score(answer, query, truth, wakes, say=lambda text: None, slack=0):
    """query: tid, from, to. truth: segments (from, to, tid, state, cpu), where
    state None is not known; wakes: by waiter, or None. Returns a Counter of ns and edges; "false", "edges
    false" and "bad" must be 0. slack: ns that are not looked at where a state
    ends."""
    tid, start, end = query
    total = collections.Counter()
    segments = sorted(answer.get("segments", ()), key=lambda s: s["from_ns"])
    bad = holes(segments, start, end)
    if bad:
        total["bad"] += 1
        say("the segments do not cover the time once: " + bad)
        return total
    score_segments(segments, truth, tid, slack, total, say)
    if wakes is not None:
        score_edges(answer.get("edges", ()), wakes, total, say)
    return total
