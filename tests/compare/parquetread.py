# parquetread.py - reads Parquet files as far as this project writes them, from the format's documents alone.
"""read(path) returns a File with columns as lists of Python values: numbers,
text, bytes, and lists of these. What does not fit together is an error:
offsets, counts, sizes, levels, encodings, and statistics that are not those of
the values. usage: parquetread.py FILE: prints the columns with their types."""

import ctypes
import ctypes.util
import struct
import sys

PLAIN, RLE, DELTA, DICTIONARY = 0, 3, 5, 8
INT32, INT64, DOUBLE, TEXT, FIXED = 1, 2, 5, 6, 7
UNSIGNED = {11: "u8", 12: "u16", 13: "u32", 14: "u64"}
SIGNED = {15: "i8", 16: "i16", 17: "i32", 18: "i64"}
_zstd = ctypes.CDLL(ctypes.util.find_library("zstd") or "libzstd.so.1")
_zstd.ZSTD_decompress.restype = ctypes.c_size_t
_zstd.ZSTD_decompress.argtypes = [ctypes.c_void_p, ctypes.c_size_t,
                                  ctypes.c_char_p, ctypes.c_size_t]


def need(good, what):
    if not good:
        raise ValueError(what)


def unzstd(data, size):
    out = ctypes.create_string_buffer(size or 1)
    n = _zstd.ZSTD_decompress(out, size, data, len(data))
    need(n == size, "a page of %d bytes, not %d" % (n, size))
    return out.raw[:size]


class Cursor:
    def __init__(self, data, at=0):
        self.data, self.at = data, at

    def take(self, n):
        need(0 <= n <= len(self.data) - self.at, "past the end")
        self.at += n
        return self.data[self.at - n:self.at]

    def byte(self):
        return self.take(1)[0]

    def varint(self):
        v = shift = 0
        while True:
            b = self.byte()
            v |= (b & 127) << shift
            shift += 7
            if b < 128:
                return v

    def zigzag(self):
        v = self.varint()
        return v >> 1 ^ -(v & 1)

    def u32(self):
        return struct.unpack("<I", self.take(4))[0]

    # ---- thrift compact protocol

    def value(self, kind):
        if kind in (1, 2):
            return kind == 1
        if kind == 3:
            return struct.unpack("b", self.take(1))[0]
        if kind in (4, 5, 6):
            return self.zigzag()
        if kind == 8:
            return self.take(self.varint())
        if kind == 9:
            head = self.byte()
            n = head >> 4 if head >> 4 < 15 else self.varint()
            return [self.value(head & 15) for _ in range(n)]
        need(kind == 12, "thrift type %d" % kind)
        return self.struct()

    def struct(self):
        out, last = {}, 0
        while True:
            head = self.byte()
            if not head:
                return out
            need(head >> 4, "a long field header")
            last += head >> 4
            need(last not in out, "a field twice")
            out[last] = self.value(head & 15)

    # ---- encodings

    def hybrid(self, width, n):
        out = []
        while len(out) < n:
            head = self.varint()
            if head & 1:
                groups = head >> 1
                bits = int.from_bytes(self.take(groups * width), "little")
                mask = (1 << width) - 1
                out += [bits >> i * width & mask for i in range(groups * 8)]
                need(len(out) - n < 8, "a padded group before the last")
            else:
                v = int.from_bytes(self.take((width + 7) // 8), "little")
                need(v < 1 << width or not v, "a run's value is too wide")
                out += [v] * (head >> 1)
                need(len(out) <= n, "a run is too long")
        return out[:n]

    def delta(self, n):
        block, minis, count = self.varint(), self.varint(), self.varint()
        need(block % 128 == 0 and block // minis % 32 == 0, "delta blocks")
        need(count == n, "%d deltas for %d values" % (count, n))
        out, v = [], self.zigzag()
        if n:
            out.append(v & (1 << 64) - 1)
        while len(out) < n:
            low = self.zigzag()
            for width in self.take(minis):
                if len(out) >= n:
                    need(not width, "an unused miniblock with a width")
                    continue
                size = block // minis
                bits = int.from_bytes(self.take(size * width // 8), "little")
                for i in range(size):
                    d = bits >> i * width & (1 << width) - 1
                    if len(out) < n:
                        out.append((out[-1] + low + d) & (1 << 64) - 1)
        return out


class Column:
    def __init__(self, path, leaf, is_list):
        self.path, self.name, self.is_list = path, path[0], is_list
        self.physical, self.length = leaf[1], leaf.get(2)
        converted = leaf.get(6)
        logical = leaf.get(10, {})
        if self.physical == TEXT:
            need(converted == 0 and logical == {1: {}}, "a text that is none")
            self.type = "string"
        elif self.physical == FIXED:
            need(self.length == 16, "a hash of %s bytes" % self.length)
            self.type = "hash"
        elif self.physical == DOUBLE:
            self.type = "f64"
        else:
            self.type = UNSIGNED.get(converted) or SIGNED[converted]
            need(logical == {10: {1: int(self.type[1:]),
                                  2: self.type[0] == "i"}},
                 "the two types of %s differ" % self.name)

    def number(self, raw):
        """An unsigned number of the physical type as a value."""
        bits = 32 if self.physical == INT32 else 64
        raw &= (1 << bits) - 1
        if self.type[0] == "i" and raw >> bits - 1:
            raw -= 1 << bits
        need(self.type[0] == "i" or raw < 1 << int(self.type[1:]),
             "%s: %d is no %s" % (self.name, raw, self.type))
        return raw

    def plain(self, c, n):
        if self.physical == INT32:
            raw = struct.unpack("<%dI" % n, c.take(4 * n))
        elif self.physical == INT64:
            raw = struct.unpack("<%dQ" % n, c.take(8 * n))
        elif self.physical == DOUBLE:
            return list(struct.unpack("<%dd" % n, c.take(8 * n)))
        elif self.physical == FIXED:
            return [bytes(c.take(16)) for _ in range(n)]
        else:
            return [c.take(c.u32()).decode() for _ in range(n)]
        return [self.number(v) for v in raw]

    def values(self, c, encoding, n, dictionary):
        if encoding == PLAIN:
            return self.plain(c, n)
        if encoding == DELTA:
            return [self.number(v) for v in c.delta(n)]
        need(encoding == DICTIONARY and dictionary is not None, "encoding")
        return [dictionary[i] for i in c.hybrid(c.byte(), n)]

    def page(self, body, head, dictionary, out):
        """Adds the rows of a data page; returns its level entries."""
        c, n, values = Cursor(body), head[1], head[1]
        need(head[3] == RLE and head[4] == RLE, "levels")
        if self.is_list:
            levels = []
            for _ in range(2):
                size = c.u32()
                inner = Cursor(c.take(size))
                levels.append(inner.hybrid(1, n))
                need(inner.at == size, "bytes behind levels")
            again, there = levels
            need(not again[0], "a page begins within a row")
            values = sum(there)
        got = self.values(c, head[2], values, dictionary)
        need(c.at == len(body), "%d bytes behind a page" % (len(body) - c.at))
        if not self.is_list:
            out += got
            return n
        at = 0
        for a, t in zip(again, there):
            if not a:
                out.append([])
            if t:
                out[-1].append(got[at])
                at += 1
            else:
                need(not a, "an empty list within a list")
        return n

    def chunk(self, data, start, meta, rows, out):
        begin = meta.get(11, meta[9])
        need(begin == start, "a chunk at %d, not %d" % (begin, start))
        c, dictionary, entries, plain, used = Cursor(data, begin), None, 0, 0, set()
        before = len(out)
        if self.is_list:
            used.add(RLE)
        while c.at < begin + meta[7]:
            at = c.at
            head = c.struct()
            plain += c.at - at + head[2]
            body = unzstd(c.take(head[3]), head[2])
            if head[1] == 2:
                need(dictionary is None and at == begin and head[7][2] == PLAIN,
                     "a dictionary that is not the first page")
                inner = Cursor(body)
                dictionary = self.plain(inner, head[7][1])
                need(inner.at == len(body), "bytes behind a dictionary")
                need(len(set(dictionary)) == len(dictionary), "twice in a dictionary")
                used.add(PLAIN)
                need(c.at == meta[9], "the first data page is elsewhere")
                continue
            need(head[1] == 0, "page type %d" % head[1])
            used.add(head[5][2])
            entries += self.page(body, head[5], dictionary, out)
        need(c.at == begin + meta[7], "the size of a chunk")
        need(plain == meta[6], "the plain size of a chunk")
        need(entries == meta[5], "%d values, not %d" % (entries, meta[5]))
        need(set(meta[2]) == used, "encodings %s, not %s" % (meta[2], used))
        need(len(out) - before == rows, "%s: %d rows, not %d" %
             (self.name, len(out) - before, rows))
        self.statistics(meta.get(12), out[before:])
        return c.at

    def statistics(self, s, values):
        if s is None:
            need(self.is_list or self.type == "f64" or
                 self.type == "string" and max(map(len, values)) > 60,
                 "%s: no statistics" % self.name)
            return
        need(s[3] == 0, "nulls")
        key = (lambda v: v.encode()) if self.type == "string" else None
        for field, want in ((5, max(values, key=key)), (6, min(values, key=key))):
            got = s[field]
            if self.type == "string":
                got = got.decode()
            elif self.type != "hash":
                got = self.plain(Cursor(got), 1)[0]
            need(got == want, "%s: bound %r, not %r" % (self.name, got, want))


class File:
    def __init__(self, path):
        with open(path, "rb") as f:
            data = f.read()
        need(data[:4] == b"PAR1" == data[-4:], "no Parquet file")
        size = struct.unpack("<I", data[-8:-4])[0]
        c = Cursor(data, len(data) - 8 - size)
        end = c.at
        meta = c.struct()
        need(c.at == len(data) - 8, "the length of the footer")
        self.rows, self.groups = meta[3], len(meta[4])
        self.keys = {k[1].decode(): k[2].decode() for k in meta[5]}
        self.name = meta[2][0][4].decode()
        self.columns = self.schema(meta[2])
        need(meta[7] == [{1: {}}] * len(self.columns), "column orders")
        self.data = {c.name: [] for c in self.columns}
        at = 4
        for i, g in enumerate(meta[4]):
            at = self.group(data, at, i, g)
        need(at == end, "bytes between the row groups and the footer")
        need(sum(g[3] for g in meta[4]) == self.rows, "the number of rows")

    @staticmethod
    def schema(items):
        out, i = [], 1
        need(items[0][5] == sum(1 for x in items[1:]
                                if x.get(6) == 3 or
                                x[4] not in (b"list", b"element")),
             "children of the root")
        while i < len(items):
            x = items[i]
            name = x[4].decode()
            if x.get(6) != 3:
                need(x[3] == 0, "an optional column")
                out.append(Column([name], x, False))
                i += 1
                continue
            group, leaf = items[i + 1:i + 3]
            need(x[3] == 0 and x[5] == 1 and x[10] == {3: {}}, "a list")
            need(group[3] == 2 and group[5] == 1 and group[4] == b"list" and
                 leaf[3] == 0 and leaf[4] == b"element", "a list's parts")
            out.append(Column([name, "list", "element"], leaf, True))
            i += 3
        return out

    def group(self, data, at, i, g):
        need(g[5] == at and g[7] == i, "row group %d" % i)
        need(len(g[1]) == len(self.columns), "chunks")
        start = at
        for c, chunk in zip(self.columns, g[1]):
            meta = chunk[3]
            need(meta[1] == c.physical and meta[4] == 6 and
                 [p.decode() for p in meta[3]] == c.path and chunk[2] == at,
                 "the chunk of " + c.name)
            at = c.chunk(data, at, meta, g[3], self.data[c.name])
        need(g[6] == at - start and g[2] == sum(k[3][6] for k in g[1]),
             "the sizes of row group %d" % i)
        return at


def read(path):
    try:
        return File(path)
    except (ValueError, IndexError, KeyError, struct.error) as e:
        raise ValueError("%s: %s" % (path, e)) from e


if __name__ == "__main__":
    for column in read(sys.argv[1]).columns:
        print(column.name, "[%s]" % column.type if column.is_list else column.type)
