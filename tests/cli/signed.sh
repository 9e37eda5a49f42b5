#!/bin/sh
# signed.sh - deferred stacks of AArch64 whose addresses have signatures, at each place.
# usage: BACKSTITCH=build/backstitch tests/cli/signed.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

cat >"${work:?}/sign.py" <<'EOF'
"""sign.py IN OUT KIND: makes the user stacks of IN deferred ones, which end before code that is
not here, and signs addresses. KINDnn: of nn bits, to which those of programs are cut."""
import struct, sys
source, out, kind = sys.argv[1:]
bits = int(kind[-2:]) if kind[-2:].isdigit() else 48
kind = kind.rstrip("0123456789")
with open(source, "rb") as f:
    d = bytearray(f.read())
PAC = 0x5555 << bits & (1 << 55) - 1
def cut(a):
    return a if a >> 55 & 1 else a & (1 << bits) - 1
at, = struct.unpack_from("<Q", d, 24)
flags, = struct.unpack_from("<Q", d, at + 40)
struct.pack_into("<Q", d, at + 40, flags | 3 << 38)  # defer_callchain, defer_output
start, size = struct.unpack_from("<QQ", d, 40)
body, pos, n, where = bytearray(), start, 1, []
while pos < start + size:
    what, misc, length = struct.unpack_from("<IHH", d, pos)
    r = bytes(d[pos:pos + length])
    pos += length
    if what in (1, 10):
        r = r[:16] + struct.pack("<Q", cut(struct.unpack_from("<Q", r, 16)[0])) + r[24:]
    if what == 10 and b"small_def" in r or what == 10 and b"libs_def" in r:
        where.append(struct.unpack_from("<QQ", r, 16))
    if what != 9:
        body += r
        continue
    # IP, TID, TIME, PERIOD; the chain; ABI and a register
    count, = struct.unpack_from("<Q", r, 40)
    words = tuple(map(cut, struct.unpack_from("<%dQ" % count, r, 48)))
    fixed = struct.pack("<%dQ" % ((len(r) - 48) // 8), *map(cut, struct.unpack_from("<%dQ" % ((len(r) - 48) // 8), r, 48)))
    r = r[:8] + struct.pack("<Q", cut(struct.unpack_from("<Q", r, 8)[0])) + r[16:48] + fixed
    user = (1 << 64) - 512
    if user not in words:
        body += r
        continue
    i = words.index(user)
    ips = [a for a in words[i + 1:] if any(s <= a < s + n for s, n in where)]
    if len(ips) < 3:
        ips = []
    elif kind in ("junk", "nowhere"):  # code, but not after a call; or no code
        ips[-2:] = [ips[-2] + 4 | PAC if kind == "junk" else 0x7000000000 | PAC]
    elif kind == "cut":
        ips[-2:] = ips[-2:-1]
    elif kind != "none":
        for k in {"innermost": [0], "middle": [len(ips) // 2], "outermost": [-1]}.get(kind, range(len(ips))):
            ips[k] |= PAC
    if not ips:
        body += r
        continue
    n += 2
    cookie = n << 32 | 1
    chain = words[:i] + ((1 << 64) - 640, cookie)
    new = r[8:40] + struct.pack("<%dQ" % (len(chain) + 1), len(chain), *chain) + r[48 + 8 * count:]
    body += struct.pack("<IHH", 9, misc, len(new) + 8) + new
    new = struct.pack("<%dQ" % (len(ips) + 2), cookie, len(ips), *ips) + r[16:32]
    body += struct.pack("<IHH", 22, 2, len(new) + 8) + new
rest = d[start + size:]
struct.pack_into("<Q", d, 48, len(body))
# the table of features follows, with offsets in the file
shift = len(body) - size
for k in range(sum(bin(b).count("1") for b in d[72:104])):
    off, = struct.unpack_from("<Q", rest, 16 * k)
    struct.pack_into("<Q", rest, 16 * k, off + shift)
with open(out, "wb") as f:
    f.write(d[:start] + body + rest)
EOF
# said KIND: classes of the stacks, of which names and addresses go to KIND.frames
said() {
	python3 "$work/sign.py" tests/captures/arm64-fp-leaf.data "$work/$1.data" "$1" &&
		"$B" ingest -q -f --symfs tests/captures/symfs-arm64 -o "$work/$1.db" "$work/$1.data"
	sqlite3 "$work/$1.db" "SELECT c.time_ns, p.pos, f.off, i.path, y.name FROM chain c JOIN raw_chain r ON r.id = c.uraw
		JOIN stack_path p ON p.stack = r.stack JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
		LEFT JOIN symbol y ON y.id = f.symbol ORDER BY 1, 2" >"$work/$1.frames"
	sqlite3 "$work/$1.db" "SELECT c.time_ns, f.off, i.path FROM chain c JOIN raw_chain r ON r.id = c.uraw
		JOIN stack_path p ON p.stack = r.stack JOIN frame f ON f.id = p.frame JOIN image i ON i.id = f.image
		WHERE NOT f.flags & 1 ORDER BY 1, p.pos" >"$work/$1.recorded"
	sqlite3 "$work/$1.db" "SELECT coalesce(w.name, 'whole'), count(*) FROM chain c JOIN raw_chain r ON r.id = c.uraw
		LEFT JOIN internal_judged j ON j.stack = r.stack
		LEFT JOIN word w ON w.kind = 'judged' AND w.id = j.class GROUP BY 1 ORDER BY 1"
}
none=$(said none)
[ "$(wc -l <"$work/none.frames")" -gt 2000 ] && [ "${none##*whole}" != "$none" ]
ok there_are_stacks_and_whole_ones $?
for kind in innermost middle outermost all
do
	got=$(said $kind)
	cmp -s "$work/none.frames" "$work/$kind.frames"
	ok "all_frames_are_kept_if_signed_$kind" $?
	is "and_judged_as_without_it_$kind" "$none" "$got"
done
for bits in 39 42 47 52
do
	is "with_addresses_of_${bits}_bits_it_is_the_same" "$none" "$(said all$bits)"
	cmp -s "$work/none.frames" "$work/all$bits.frames"
	ok "and_all_frames_are_kept_of_${bits}_bits" $?
done
# inner FILE: recorded frames, but the last of each stack; no caller is inferred where one frame may be none
inner() { awk -F'|' '$1 == time { print last } { last = $0; time = $1 }' "$work/$1"; }
said cut >"$work/cut"
for kind in junk nowhere
do
	is "what_is_no_code_after_a_call_ends_the_stack_$kind" "$(awk -F'|' '{ n += $2 } END { print "ends early (signed address)|" n }' "$work/cut")" \
		"$(said $kind)"
	[ "$(inner $kind.recorded)" = "$(inner cut.recorded)" ]
	ok "and_the_rest_is_kept_$kind" $?
done
"$B" report "$work/junk.db" >"$work/report"
says so_says_the_sentence 'end at a signed address' "$work/report"
! grep -q 'frame pointer\|fabricated' "$work/report"
ok and_blames_nothing_else $?
"$B" export --format json -o "$work/json" "$work/junk.db" && grep -q '"signed"' "$work/json"
ok the_frame_is_marked $?
