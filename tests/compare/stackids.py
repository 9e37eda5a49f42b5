"""stackids.py - by which hash a stack is known in the tables of a fleet.

That of a stack of a database, unless a walk along frame pointers led into
frames that nothing can have been called from: then that of this hash and of
a byte for each frame, its stack.bogus."""
from common import query

REASONS = {"no_call": 1, "no_code": 2}
MASK = (1 << 64) - 1


def content_hash(data, seed):
    h = seed ^ len(data) * 0x9e3779b97f4a7c15 & MASK
    whole = len(data) & ~7
    for i in range(0, whole, 8):
        word = int.from_bytes(data[i:i + 8], "little")
        h = (h ^ word) * 0xff51afd7ed558ccd & MASK
        h ^= h >> 32
    for b in data[whole:]:
        h = (h ^ b) * 0x100000001b3 & MASK
    for _ in range(2):
        h = (h ^ h >> 32) * 0xd6e8feb86659fd93 & MASK
    return h ^ h >> 32


def bogus_lists(db):
    """By stack.id: the hash, and the bytes, of those that have bogus frames and
    were walked by frame pointers."""
    out = {}
    for stack, hash_, depth in query(db, """
            SELECT s.id, s.hash, (SELECT max(pos) + 1 FROM stack_path p
                                  WHERE p.stack = s.id)
            FROM stack s JOIN internal_stack_check k ON k.stack = s.id AND k.bogus
            WHERE s.hash NOT NULL AND EXISTS (SELECT 1 FROM raw_chain r
                WHERE r.stack = s.id AND r.ended IS NULL)"""):
        out[stack] = (hash_, bytearray(depth))
    for stack, pos, reason in query(db, """SELECT stack, pos, reason
                                           FROM bogus_frames"""):
        if stack in out:
            out[stack][1][pos] = REASONS[reason]
    return out


class StackIds:
    def __init__(self, db):
        self.of = {}     # stack.id: hash in the tables, in hexadecimal
        self.plain = {}  # that hash: the database's, and the list
        for stack, (hash_, bogus) in bogus_lists(db).items():
            key = hash_ + bytes(bogus)
            known = "".join("%016x" % content_hash(key, k) for k in (1, 2))
            self.of[stack] = known
            self.plain[known] = hash_.hex(), list(bogus)

    def known(self, stack, hash_):
        """By stack.id, and the database's hash in hexadecimal."""
        return self.of.get(stack, (hash_ or "").lower() or "0" * 32)
