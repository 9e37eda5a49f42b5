#!/bin/sh
# bpf.sh - return addresses in BPF programs are looked up in the code that perf recorded: true ones are not marked, others are.
# usage: BACKSTITCH=PROGRAM tests/cli/bpf.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2

cp "$root/tests/captures/bpf.data" true.data
sites() { # sites DB: of return addresses in BPF programs, what is in front of them
	sqlite3 "$1" "SELECT w.name, count(*) FROM internal_callsite c JOIN frame f ON f.id = c.frame
		JOIN image i ON i.id = f.image JOIN word k ON k.kind = 'image' AND k.id = i.kind AND k.name = 'bpf'
		JOIN word w ON w.kind = 'callsite' AND w.id = c.kind GROUP BY 1" | tr '|\n' '  '
}
read_it() { "$B" ingest -q -f -o "$1.db" --kallsyms "$root/tests/captures/bpf.kallsyms" "$1.data" 2>err; }
classes() {
	"$B" report --json "$1" | python3 -c 'import json, sys
print(*(c["class"] + " %d" % c["samples"] for c in json.load(sys.stdin)["kernel_stacks_by_class"]), sep=", ")'
}
read_it true
is "each return address of a BPF program is after a call" "indirect 4 " "$(sites true.db)"
is "and no half is wrong" "unchecked 59" "$(classes true.db)"

# each other offset of its two functions, in place of a true one
cat >plant.py <<'P'
import struct, sys
d = bytearray(open("true.data", "rb").read())
n = 0
for start, size, true in ((0xffffffffc0000654, 42, (23, 28)), (0xffffffffc00006d0, 26, (17, 22))):
    # not those that are innermost
    at = [i for t in true for i in range(8, len(d) - 8) if d[i:i + 8] == struct.pack("<Q", start + t)
          and struct.unpack("<q", d[i - 8:i])[0] < -4096]
    for off in range(1, size):
        if off not in true:
            struct.pack_into("<Q", d, at[n % len(at)], start + off)
            at.pop(n % len(at))
            n += 1
open("false.data", "wb").write(d)
print(n)
P
is "62 false ones are planted" 62 "$(python3 plant.py)"
read_it false
is "all are found, but two after a nop that a tracer makes a call" "indirect 4 no_call 60 " "$(sites false.db)"
"$B" merge -q -o merged.db true.db false.db 2>err
is "and of merged ones" "indirect 4 no_call 60 " "$(sites merged.db)"

# the section: how many programs, then the lengths of struct bpf_prog_info and of the data
damaged() { # damaged OFFSET VALUE: at this place of the section
	python3 - "$1" "$2" <<'P'
import struct, sys
d = bytearray(open("true.data", "rb").read())
at = d.index(struct.pack("<IIIQ", 1, 232, 112, 0x1f9))
struct.pack_into("<I", d, at + int(sys.argv[1]), int(sys.argv[2]))
open("bad.data", "wb").write(d)
P
	read_it bad
	echo "$? $(sites bad.db)"
}
is "more programs than there are" "3 indirect 4 " "$(damaged 0 9)"
is "a program that is longer than the section" "3 " "$(damaged 4 4000000000)"
is "code that is longer than the data" "3 " "$(damaged $((20 + 16)) 4000000000)"
is "code that begins behind the data" "3 " "$(damaged $((20 + 24)) 4000000000)"
is "more functions than there are" "0 indirect 4 " "$(damaged $((20 + 104)) 4000000000)"
is "addresses of functions behind the data" "3 " "$(damaged $((20 + 112)) 4294967295)"
# damage: function %d of a BPF program is not in its data
is "and that is said" 1 "$("$B" query bad.db 'SELECT what, detail FROM damage' |
	grep -c 'function 0 of a BPF program is not in its data')"
is "a function that is longer than the code" "3 " "$(damaged $((20 + 232 + 0x58)) 69)"
is "without the code nothing is looked up" "0 " "$(damaged 12 0)"
