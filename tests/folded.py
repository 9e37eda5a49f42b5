# folded.py - the stacks of a picture of backstitch flame, as folded text.
"""BACKSTITCH=PROGRAM python3 tests/folded.py OPTION...: runs flame with these
options and prints a line for each stack: its frames, outermost first, between
semicolons, and its weight. Names end in _[k], _[i] and _[j] as in the folded
stacks of 'backstitch export', but frames without a name have one color, from
which the kernel's are not told. Ends with the status of flame."""

import collections
import os
import subprocess
import sys
import xml.etree.ElementTree as ET

SVG = "{http://www.w3.org/2000/svg}"


def stacks(picture):
    """{stack: weight}; frames are drawn parents first."""
    sums = collections.Counter()
    path, base = [], None
    for g in picture.find(".//*[@id='frames']"):
        y = float(g.find(SVG + "rect").get("y"))
        base = y if base is None else base
        depth = round(abs(y - base) / 16)
        kind = g.get("class")[0]
        name = g.find(SVG + "title").text.split("\n")[0].replace(";", ":")
        weight = int(g.get("data-w"))
        del path[depth:]
        if depth:
            sums[";".join(path[1:])] -= weight
        path.append(name + ("_[%s]" % kind if kind in "kij" else ""))
        sums[";".join(path[1:])] += weight
    return +sums


def main():
    r = subprocess.run([os.environ["BACKSTITCH"], "flame", "--minwidth", "0",
                        *sys.argv[1:]], stdout=subprocess.PIPE)
    if r.stdout:
        for stack, weight in sorted(stacks(ET.fromstring(r.stdout)).items()):
            print(stack, weight)
    return r.returncode


if __name__ == "__main__":
    sys.exit(main())
