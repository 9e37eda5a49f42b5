"""goprogram.py - what gonames.py and goframes.py read of a program, by binutils."""
import subprocess


def lines(*args):
    return subprocess.run(args, capture_output=True, text=True,
                          check=True).stdout.splitlines()


def code(program):
    """(offset, address, bytes) of what is mapped to be executed."""
    p = next(p for p in map(str.split, lines("readelf", "-lW", program))
             if p[:1] == ["LOAD"] and p[6:8] == ["R", "E"])
    return int(p[1], 16), int(p[2], 16), int(p[4], 16)
