# advice.py - does the advice of the sentence of trust reach what it promises?
"""usage: advice.py [options]

Records programs of the bench of twins along frame pointers, does what the
sentence of trust advises, and does so again until it advises nothing that can be
done here. README.md says what is compared. Ends with status 1 if a share that is
reached is more than 5 points below the promised one; ABOVE is printed if it is as
much above.

    --program PATH   backstitch (build/backstitch)
    --folder DIR     where to build and record (build/advice)
    --only REGEX     builds with such a name"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, "../twins"))
import builds  # noqa: E402

# of each kind some
CHOSEN = (r"^(gcc-O[02]-(fp|nofp)|gcc-O2-fp-(leaf|stripped|static|lto|now)"
          r"|gcc-inner-.*|clang-O2-(fp|nofp)|musl-O2-(fp|nofp)"
          r"|(cla|g)[+a-z]*-O2-(fp|nofp)|rust-O(-fp)?|go|cgo|python-.*|node"
          r"|java)$")
SECONDS, STEPS, POINTS = 1.5, 3, 5.0
ADVICE = re.compile(r"(?:'([^']*)'|(build with -\S+)) (?:may mend|would check)"
                    r" (?:(all of them)|(\S+) %)")


class Skipped(Exception):
    pass


def run(argv):
    said = subprocess.run(argv, capture_output=True, text=True, check=False,
                          timeout=300)
    if said.returncode:
        raise Skipped(" ".join(argv[:3]) + ": " + (
            said.stderr.strip().splitlines() or ["no reason"])[-1][:100])
    return said.stdout


class Advice:
    def __init__(self, args):
        self.args = args

    def build(self, b, flag):
        words = {"src": os.path.join(HERE, "../twins/programs"),
                 "out": os.path.join(self.args.folder, b.name),
                 "cache": os.path.join(self.args.folder, "go-cache"),
                 "seconds": str(SECONDS)}
        for command in b.commands:
            argv = shlex.split(command.format(**words))
            if not shutil.which(argv[0]):
                raise Skipped(argv[0] + " is not here")
            if flag and re.match(r"(gcc|g\+\+|clang|clang\+\+|musl-gcc)$",
                                 argv[0]):
                argv[1:1] = ["-O2"]
                argv = [a for a in argv if a != builds.NOFP] + [flag]
            run(argv)
        if not shutil.which(b.run[0].format(**words)):
            raise Skipped(b.run[0] + " is not here")
        return [w.format(**words) for w in b.run]

    def record(self, graph, program):
        data = os.path.join(self.args.folder, "perf.data")
        run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "997",
             "--buildid-mmap", "-m", "4M", "--call-graph", graph, "-o", data,
             "--"] + program)
        db = os.path.join(self.args.folder, "perf.db")
        run([self.args.program, "ingest", "-q", "-f", "-o", db, data])
        n = {row["class"]: row["samples"] for row in json.loads(run(
            [self.args.program, "query", "--json", db,
             "SELECT class, sum(samples) AS samples FROM trust"
             " GROUP BY class"]))["rows"]}
        report = json.loads(run([self.args.program, "report", "--json", db]))
        return (100.0 * n.get("whole", 0) / max(1, sum(n.values())),
                report["user_stacks"])

    def follow(self, b):
        """Yields (what is advised, promised, reached)"""
        graph, program = "fp", self.build(b, None)
        whole, said = self.record(graph, program)
        for step in range(STEPS):
            m = ADVICE.search(said)
            if not m:
                if not step:
                    yield "nothing", whole, whole
                return
            how = m[1] or m[2]
            promised = 100.0 if m[3] else whole + float(m[4].lstrip("<>"))
            dumps = re.match(r"perf record --call-graph (dwarf,\d+)$", how)
            flag = re.match(r"(?:re)?build with (-\S+)$", how)
            if not dumps and not (flag and b.language in ("C", "C++")):
                yield how + " (not done)", promised, None
                return
            if dumps:
                graph = dumps[1]
            else:
                program = self.build(b, flag[1])
            whole, said = self.record(graph, program)
            yield how, promised, whole


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--program", default="build/backstitch")
    parser.add_argument("--folder", default="build/advice")
    parser.add_argument("--only", default=CHOSEN)
    args = parser.parse_args()
    args.program = os.path.abspath(args.program)
    args.folder = os.path.abspath(args.folder)
    os.makedirs(args.folder, exist_ok=True)
    advice, bad = Advice(args), 0
    print("%-28s %8s %8s  %s" % ("build", "promised", "reached", "advice"))
    for b in builds.builds():
        if not re.search(args.only, b.name):
            continue
        try:
            for how, promised, reached in advice.follow(b):
                far = "" if reached is None \
                    else "  BELOW" if reached < promised - POINTS \
                    else "  ABOVE" if reached > promised + POINTS else ""
                bad += far == "  BELOW"
                print("%-28s %8.2f %8s  %s%s" % (
                    b.name, promised, "-" if reached is None
                    else "%.2f" % reached, how, far),
                    flush=True)
        except Skipped as e:
            print("%-28s skip: %s" % (b.name, e), flush=True)
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
