# script.py - what CPython does to stacks: calls, callbacks from C, generators, a
# thread.
# usage: script.py SECONDS
import json
import re
import sys
import threading
import time


def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)


def numbers(n):
    for i in range(n):
        yield {"n": i, "text": "%x" % (i * 7919 % 257)}


def work(seconds):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        rows = sorted(numbers(300), key=lambda r: (len(r["text"]), r["n"]))
        text = json.dumps(rows)
        json.loads(text)
        re.sub(r"(a|b)+c?[0-9]", lambda m: m.group(0)[::-1], text)
        fib(12)


half = float(sys.argv[1]) / 2
other = threading.Thread(target=work, args=(half,))
other.start()
work(half)
other.join()
