# table.py - writes the table of backstitch-trust(7) from a result of twins.py.
"""usage: table.py RESULT.json PAGE VERSION

The lines between '.\\" twins: begin' and '.\\" twins: end' are replaced. VERSION
is that of the program that was asked: numbers are of a version, not of a day."""

import collections
import json
import sys

from score import RELATIONS, STRONGER

BEGIN, END = '.\\" twins: begin\n', '.\\" twins: end\n'
ENOUGH = 100  # samples of a language, for a row of its own
# what a word says, no less and no more
SAYS = {
    "whole": ("same",), "caller inferred": ("same",),
    "caller missing": ("one", "some"),
    "caller missing (further out)": ("gap",), "ends early": ("short", "one+short", "gap"),
    "fabricated": ("false",), "in no mapping": ("false",),
    "one frame": ("short", "one+short"), "cut": ("short",),
}


def share(part, whole):
    if not whole:
        return "-"
    text = "%.2f" % (100 * part / whole)
    if part and text == "0.00":
        return "<0.01"
    return ">99.99" if part < whole and text == "100.00" else text


def cells(counts):
    """{(word, relation): number}"""
    return {tuple(k.split(" / ")[1:]): v for k, v in counts.items()
            if k.startswith("cell / ")}


def words(total):
    n = cells(total)
    yield '.Bl -column "caller missing (further out)" "samples" "as said" "less" "more"'
    yield ".It word Ta samples Ta as said Ta less Ta more"
    for word, stronger in STRONGER.items():
        every = sum(n.get((word, r), 0) for r in RELATIONS)
        if not every or word not in SAYS:
            continue
        as_said = sum(n.get((word, r), 0) for r in SAYS[word])
        more = sum(n.get((word, r), 0) for r in stronger)
        yield ".It Sy %s Ta %s Ta %s Ta %s Ta %s" % (
            word, format(every, ","), share(as_said, every),
            share(every - as_said - more, every), share(more, every))
    yield ".El"


def languages(rows):
    yield '.Bl -column "Python" "builds" "samples" "100.00" "said so"' \
        ' "100.00" "100.00" "inferred" "100.00"'
    yield ".It Ta builds Ta samples Ta whole Ta said so" \
        " Ta false Ta found Ta inferred Ta right"
    for name, (builds, n) in rows.items():
        c, judged = cells(n), n["judged"]
        if judged < ENOUGH:
            continue
        same = sum(c.get((w, "same"), 0) for w in STRONGER)
        false = sum(c.get((w, "false"), 0) for w in STRONGER)
        whole = c.get(("whole", "same"), 0) \
            + c.get(("caller inferred", "same"), 0)
        found = sum(c.get((w, "false"), 0)
                    for w in ("fabricated", "in no mapping"))
        inferred = n["inferred right"] + n["inferred wrong"]
        yield ".It %s Ta %d Ta %s Ta %s Ta %s Ta %s Ta %s Ta %s Ta %s" % (
            name, builds, format(judged, ","), share(same, judged),
            share(whole, same), share(false, judged), share(found, false),
            share(inferred, judged), share(n["inferred right"], inferred))
    yield ".El"


def text(result, version):
    rows = collections.OrderedDict()
    for r in result:
        if r["counts"].get("judged"):
            builds, n = rows.setdefault(r["language"],
                                        [0, collections.Counter()])
            rows[r["language"]][0] = builds + 1
            n.update(r["counts"])
    total = collections.Counter()
    for _, n in rows.values():
        total.update(n)
    rows["all"] = [sum(b for b, _ in rows.values()), total]
    yield "Measured with version %s:" % version
    yield "%s samples of %d builds, each the frame-pointer stack of a sample" \
        % (format(total["judged"], ","), rows["all"][0])
    yield "whose stack dump tells the true one, by libdw and perf;"
    yield ".Sq make twins"
    yield "repeats it."
    yield "Percent of the samples of a word: those that are as it says,"
    yield "of which less is wrong, and of which more is wrong:"
    yield from words(total)
    yield ".Pp"
    yield "By language, if %d samples could be judged:" % ENOUGH
    yield "in truth whole, in truth with a frame that is false, and with an"
    yield "inferred caller, in percent of the samples; behind each, how many percent"
    yield "of these were said to be whole, were found to be false, are right:"
    yield from languages(rows)
    yield ".Pp"
    yield "Of %s frames that were fabricated %s %% were marked so," % (
        format(total["false frames"], ","),
        share(total["found frames"], total["false frames"]))
    yield "and %s true ones." % format(total["true frames accused"], ",")


def main():
    result, page, version = sys.argv[1:]
    with open(result, encoding="utf-8") as f:
        lines = list(text(json.load(f), version))
    with open(page, encoding="utf-8") as f:
        before, rest = f.read().split(BEGIN)
    after = rest.split(END)[1]
    with open(page, "w", encoding="utf-8") as f:
        f.write(before + BEGIN + "\n".join(lines) + "\n" + END + after)


main()
