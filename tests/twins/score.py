# score.py - holds what is said of a frame-pointer stack against the true one.
"""Stacks are lists of addresses, innermost first. relation() puts a stack beside
the true one:

same       the same frames, but for start functions at the outer end
one        exactly one is missing, behind the innermost
short      the true one is longer at the outer end
one+short  both
some       more are missing there, and nowhere else
gap        all frames are in the true one, in order; others are missing between
false      a frame is not in the true one

STRONGER has the relations that a word must not have: where it says more than is
true. The others of a word say less than could be said, and are counted."""

RELATIONS = ("same", "one", "some", "short", "one+short", "gap", "false")
# of libraries without names what they call first is known by its place
STARTS = ("_start", "_start_c", "__libc_start_call_main", "start_thread",
          "libc_start_main_stage2", "clone", "__clone", "clone3", "__clone3",
          "start", "_dl_start")
STARTS_MAX = 4  # musl: libc_start_main_stage2, __libc_start_main, two starts

STRONGER = {
    "whole": ("one", "some", "short", "one+short", "gap", "false"),
    "caller inferred": ("one", "some", "short", "one+short", "gap", "false"),
    "caller missing (further out)": ("false",),
    "caller missing": ("short", "one+short", "gap", "false"),
    "ends early": ("false",),
    "fabricated": ("same", "one", "some", "short", "one+short", "gap"),
    "in no mapping": ("same", "one", "some", "short", "one+short", "gap"),
    "cut": ("same", "one", "false"),
    "one frame": (),
    "not judged": (),
    "missing": (),
}


def word_of(name, inferred):
    """The row of a class of view trust."""
    if inferred and name == "whole":
        return "caller inferred"
    for word in STRONGER:
        if name.startswith(word):
            return word
    raise ValueError("class %r" % name)


def is_start(f):
    """Of a frame, by kind and name as truth.c tells them."""
    return f.name.split("@")[0] in STARTS or f.kind == "e" or f.kind == "c" \
        and f.name == "?" or f.name.startswith("__libc_start_main")


def core_of(frames):
    """How many of the frames are of the program."""
    n = len(frames)
    while n > 1 and len(frames) - n < STARTS_MAX and is_start(frames[n - 1]):
        n -= 1
    return n


def in_order(stack, true):
    """Of each address: is it a frame of the true stack?"""
    at, out = 0, []
    for addr in stack:
        try:
            at = true.index(addr, at) + 1
            out.append(True)
        except ValueError:
            out.append(False)
    return out


def relation(stack, true, core):
    """core: frames of true without the start functions"""
    def begins(frames, core):
        """Are all of the program there, then only start functions, in order?"""
        return stack[:core] == frames[:core] and all(
            in_order(stack[core:], frames[core:]))

    without = true[:1] + true[2:]
    n = len(stack)
    if begins(true, core):
        return "same"
    if core > 1 and begins(without, core - 1):
        return "one"
    if stack == true[:n]:
        return "short"
    if stack == without[:n]:
        return "one+short"
    # up to a start function at most, as "same"
    for k in range(2, core + 1):
        if begins(true[:1] + true[k:], core - k + 1):
            return "some"
    return "gap" if all(in_order(stack, true)) else "false"
