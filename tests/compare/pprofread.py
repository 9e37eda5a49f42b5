# pprofread.py - reads pprof's profile.proto by the numbers of its fields, and nothing of ours.
"""A message of Protocol Buffers is a row of fields: number, kind, value.
read(path) gives a Profile; check(profile) what is wrong with it, as text."""

import collections
import functools
import gzip
import os

Mapping = collections.namedtuple(
    "Mapping", "id start limit offset file build_id functions files lines "
    "inlined")
Line = collections.namedtuple("Line", "name raw file line")
Location = collections.namedtuple("Location", "id mapping address lines")
Sample = collections.namedtuple("Sample", "locations values labels")
Profile = collections.namedtuple(
    "Profile", "types samples mappings locations comments default period "
    "period_type duration drop_frames")


def varint(data, at):
    if data[at] < 128:  # most are of one byte
        return data[at], at + 1
    value, shift = 0, 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a varint of more than 10 bytes")


def fields(data):
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        elif key & 7 == 2:
            size, at = varint(data, at)
            value = data[at:at + size]
            if len(value) != size:
                raise ValueError("a field goes on behind the end")
            at += size
        else:
            raise ValueError("wire type %d" % (key & 7))
        yield key >> 3, value


# Many samples have one stack, and profiles of one database the same messages.
@functools.lru_cache(1 << 16)
def numbers(value):
    """Of a repeated field: packed, or one."""
    if isinstance(value, int):
        return [value]
    out, at = [], 0
    while at < len(value):
        v, at = varint(value, at)
        out.append(v)
    return out


def signed(v):
    return v - (1 << 64) if v >> 63 else v


@functools.lru_cache(1 << 16)
def message(data):
    out = collections.defaultdict(list)
    for number, value in fields(data):
        out[number].append(value)
    return out


def last(m, number, none=0):
    return m[number][-1] if number in m else none


def by_id(items):
    out = {}
    for x in items:
        if not x.id or x.id in out:
            raise ValueError("id %d is 0 or there twice" % x.id)
        out[x.id] = x
    return out


def read_label(data, s):
    m = message(data)
    key = s[last(m, 1)]
    if last(m, 2):
        return key, s[last(m, 2)]
    return key, signed(last(m, 3))


def read_sample(data, s):
    m = message(data)
    locations = [n for v in m[1] for n in numbers(v)]
    values = [signed(n) for v in m[2] for n in numbers(v)]
    return Sample(locations, values, dict(read_label(v, s) for v in m[3]))


def read_mapping(data, s):
    m = message(data)
    return Mapping(last(m, 1), last(m, 2), last(m, 3), last(m, 4),
                   s[last(m, 5)], s[last(m, 6)], *(bool(last(m, i))
                                                   for i in range(7, 11)))


def read_location(data, functions):
    m = message(data)
    lines = []
    for v in m[4]:
        line = message(v)
        f = functions[last(line, 1)]
        lines.append(Line(f[0], f[1], f[2], signed(last(line, 2))))
    return Location(last(m, 1), last(m, 2), last(m, 3), lines)


def read_type(data, s):
    m = message(data)
    return s[last(m, 1)], s[last(m, 2)]


def parse(data):
    m = message(data)
    s = [v.decode("utf-8") for v in m[6]]
    if not s or s[0] or len(set(s)) != len(s):
        raise ValueError("string 0 must be \"\", and each be there once")
    functions = {}
    for v in m[5]:
        f = message(v)
        if not last(f, 1) or last(f, 1) in functions:
            raise ValueError("function %d is there twice" % last(f, 1))
        functions[last(f, 1)] = (s[last(f, 2)], s[last(f, 3)], s[last(f, 4)])
    return Profile(
        [read_type(v, s) for v in m[1]], [read_sample(v, s) for v in m[2]],
        by_id(read_mapping(v, s) for v in m[3]),
        by_id(read_location(v, functions) for v in m[4]),
        [s[n] for v in m[13] for n in numbers(v)], s[last(m, 14)],
        last(m, 12), read_type(m[11][-1], s) if 11 in m else None,
        last(m, 10), last(m, 7))


def read(path):
    with open(path, "rb") as f:
        packed = f.read()
    if packed[4:8] != b"\0\0\0\0" or packed[3]:
        raise ValueError("a time or a name in the gzip header")
    return parse(gzip.decompress(packed))


def check(p):
    """What pprof's own reader refuses, and more."""
    for s in p.samples:
        if len(s.values) != len(p.types):
            return "a sample with %d values" % len(s.values)
        if not s.locations:
            return "a sample without locations"
        for i in s.locations:
            if i not in p.locations:
                return "a sample with location %d" % i
    used = {i for s in p.samples for i in s.locations}
    for x in p.locations.values():
        if x.id not in used:
            return "location %d is of no sample" % x.id
        m = p.mappings.get(x.mapping)
        if x.mapping and not m:
            return "location %d has no mapping" % x.id
        if m and not m.start <= x.address < m.limit:
            return "location %d is outside of %s" % (x.id, m.file)
    for m in p.mappings.values():
        if not any(x.mapping == m.id for x in p.locations.values()):
            return "nothing is in mapping " + m.file
    if p.drop_frames:
        return "frames are dropped"
    return None


def names(p, location):
    """As pprof shows a location, the innermost first."""
    if location.lines:
        return [x.name for x in location.lines]
    m = p.mappings.get(location.mapping)
    return ["[%s]" % os.path.basename(m.file) if m else "<unknown>"]


def stacks(p, value):
    """Sums by stack, the outermost first."""
    out = collections.Counter()
    at = {i: names(p, x) for i, x in p.locations.items()}
    for s in p.samples:
        frames = [n for i in s.locations for n in at[i]]
        out[s.labels["thread"], tuple(reversed(frames))] += s.values[value]
    return out


def functions(p, value, alias={}):
    """{name: (self, total)} as pprof's -top has it: recursion counts once."""
    own, total = collections.Counter(), collections.Counter()
    at = {i: [alias.get(n, n) for n in names(p, x)] for i, x in p.locations.items()}
    for s in p.samples:
        frames = [n for i in s.locations for n in at[i]]
        own[frames[0]] += s.values[value]
        for n in set(frames):
            total[n] += s.values[value]
    return {n: (own[n], total[n]) for n in total}
