#!/bin/sh
# jit.sh - jitdump and perf map files: how they are found, given and refused.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/jit.sh; prints "ok NAME" or "not ok NAME" lines.
# Needs: libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
cd "$dir" || exit 2

# One process with code of Node's kind in anonymous memory.
cat >c.txt <<'EOF'
event cpu-clock mono
comm pid=77 name="node"
mmap pid=77 start=0x10000 len=0x10000 pgoff=0x10000 path=//anon
sample pid=77 tid=77 cpu=0 time=1000 u=0x11000,0x12000,0x11008,0x13000,0x14000
sample pid=77 tid=77 cpu=0 time=2000 u=0x14000,0x13000
EOF
"$MKCAP" c.txt c.data || exit 2
mkdir maps other
printf '%s\n' '11000 10 Builtin:Leaf' '12000 10 JS:*f a.js:1' \
	'13000 10 Builtin:Entry' '14000 10 Builtin:Root' >maps/perf-77.map

# is NAME WANTED OPTION...: the folded stacks
is() {
	name=$1 want=$2
	shift 2
	got=$("$B" export --format folded --by samples "$@" c.data 2>err)
	if [ "$got" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name"
		printf '%s\n' "$got" | sed 's/^/# got: /'
		sed 's/^/# err: /' err | head -5
	fi
}

# refuses NAME STATUS TEXT OPTION...
refuses() {
	name=$1 want=$2 text=$3
	shift 3
	"$B" info "$@" c.data >out 2>err
	got=$?
	if [ "$got" = "$want" ] && grep -q -e "$text" err
	then echo "ok $name"
	else
		echo "not ok $name"
		echo "# status $got"
		sed 's/^/# err: /' err | head -5
	fi
}

bare="node;[anon];[anon] 1
node;[anon];[anon];[anon];[anon];[anon] 1"
named="node;Builtin:Entry_[j];Builtin:Root_[j] 1
node;Builtin:Root_[j];Builtin:Entry_[j];Builtin:Leaf_[j];JS:*f a.js:1_[j];Builtin:Leaf_[j] 1"
is "code without a file about it has no name" "$bare"
is "a map is given by its process" "$named" --perf-map 77=maps/perf-77.map
is "a map says its process by its name" "$named" --perf-map maps/perf-77.map
printf '%s\n' '11000 10 JS:*twice /srv/a.js:1' '14000 20 JS:*twice /srv/a.js:1' >two.map
"$B" ingest -q -f -o two.db --perf-map 77=two.map c.data
"$B" annotate two.db 'JS:*twice /srv/a.js:1' >out 2>err
grep -q "^note: this is 1 of 2 functions of this name, .*in \[jit\], 1 sample, .*; 'backstitch annotate --nth 2 two.db 'JS:\*twice /srv/a.js:1'' chooses another" err &&
	grep -q "a jitdump file has them: 'perf record -k mono' of" err &&
	"$B" annotate two.db | grep -q ' \[jit\]+0x' && ! "$B" annotate two.db | grep -q ' a.js:1+'
rc=$?
"$B" annotate --nth 2 two.db 'JS:*twice /srv/a.js:1' >out 2>err2
if [ $rc = 0 ] && grep -q '^note: this is 2 of 2 ' err2
then echo "ok functions of one name in generated code are chosen by number"
else
	echo "not ok functions of one name in generated code are chosen by number"
	cat err err2
	"$B" annotate two.db
fi
printf '%s\n' '11000 10 JS:^twice /srv/a.js:1' '14000 20 JS:*twice /srv/a.js:1' >two.map
"$B" ingest -q -f -o two.db --perf-map 77=two.map c.data
"$B" annotate two.db twice >out 2>err
"$B" annotate --nth 2 two.db twice >out 2>>err
"$B" annotate two.db 'JS:*twice /srv/a.js:1' >out 2>err2
if [ "$(grep -o 'note: this is . of 2\|by [A-Z][A-Za-z]*, in .jit., 1 sample' err | sort | tr '\n' ' ')" = \
	"by Sparkplug, in [jit], 1 sample by TurboFan, in [jit], 1 sample note: this is 1 of 2 note: this is 2 of 2 " ] &&
	grep -q 'JS:\*twice' err2 && ! grep -q 'note: ' err2
then echo "ok the tiers of a function are chosen by number, or by their names"
else
	echo "not ok the tiers of a function are chosen by number, or by their names"
	cat err err2
fi
# one of two runs has no optimized code of it
for tier in '^' '*'
do
	printf '%s\n' "11000 10 JS:${tier}twice /srv/a.js:1:9" '14000 20 JS:*once /srv/a.js:5:9' >tier.map
	"$B" ingest -q -f -o "tier$tier.db" --perf-map 77=tier.map c.data
done
"$B" diff --format csv 'tier^.db' 'tier*.db' >out 2>err
if [ "$(grep -c 'JS:twice .*,tier$' out)" = 1 ] && [ "$(grep -c ',tier$' out)" = 1 ]
then echo "ok a comparison tells which code was of another tier"
else
	echo "not ok a comparison tells which code was of another tier"
	cat err out
fi
printf '%s\n' '11000 10 Interpreter' '14000 20 a.B::once' >run.map
"$B" ingest -q -f -o run.db --perf-map 77=run.map c.data
"$B" diff --format csv run.db run.db >out 2>err
if [ "$(grep -c 'Interpreter,.*,tier$' out)" = 1 ] && [ "$(grep -c ',tier$' out)" = 1 ]
then echo "ok an interpreter runs what is not compiled yet"
else
	echo "not ok an interpreter runs what is not compiled yet"
	cat err out
fi
is "maps are taken from a folder" "$named" --perf-map maps
is "a map of another process names nothing" "$bare" \
	--perf-map 78=maps/perf-77.map
cp maps/perf-77.map .
is "a map is found beside the capture" "$named"
is "nothing is looked for when that is not wanted" "$bare" --no-jit
mkdir crowd && (cd crowd && seq 3000 | xargs touch) && cp perf-77.map c.data crowd || exit 2
cd crowd || exit 2
is "a map is found among thousands of files" "$named"
cd .. && rm -r crowd || exit 2
gzip perf-77.map
is "a map that is packed is found too" "$named"
mkdir -p root/tmp
mv perf-77.map.gz root/tmp
is "a map is found where the process wrote it, below --symfs" "$named" \
	--symfs root
is "nothing below --symfs is looked for when that is not wanted" "$bare" \
	--symfs root --no-jit
mv root/tmp/perf-77.map.gz .
is "an interpreter's own frames are kept by default" "$named" \
	--interpreter keep
is "an interpreter's own frames are marked" \
	"node;[interpreter: node] Builtin:Entry_[j];[interpreter: node] Builtin:Root_[j] 1
node;[interpreter: node] Builtin:Root_[j];[interpreter: node] Builtin:Entry_[j];[interpreter: node] Builtin:Leaf_[j];JS:*f a.js:1_[j];[interpreter: node] Builtin:Leaf_[j] 1" \
	--interpreter mark
is "an interpreter's own frames are one, or the code's that they run" \
	"node;[interpreter: node] 1
node;[interpreter: node];JS:*f a.js:1_[j] 1" --interpreter collapse

refuses "a map whose process is not known is refused" 2 "give PID=" \
	--perf-map c.txt
refuses "a map that is not there is refused" 1 "cannot read" \
	--perf-map 77=gone
refuses "a jitdump file that is none is refused" 1 "jitdump" --jitdump c.txt
rm perf-77.map.gz
mkfifo perf-77.map
is "what is no file is not opened" "$bare"
rm perf-77.map
printf '11000 10 cut_nam' >perf-77.map
refuses "a map without a whole line is damage" 3 "could not be read" \
	--no-symbols
is "a name that may be cut is no name" "$bare"
rm perf-77.map

# Three functions in turn at one address.
cp "$cap/jit-reused.data.zst" c.data.zst
zstd -qdf c.data.zst -o c.data

# hot NAME WANTED OPTION...: names of jitted code
hot() {
	name=$1 want=$2
	shift 2
	got=$("$B" report --format csv "$@" c.data 2>err | grep -o '[^,"]*jit_[^,"]*' |
		sort -u | tr '\n' ' ')
	if [ "$got" = "$want" ]
	then echo "ok $name"
	else
		echo "not ok $name"
		echo "# got: $got"
	fi
}

cp "$cap/perf-13475.map" .
hot "by the map nobody knows which one ran" \
	"[ambiguous] jit_alpha|jit_beta|jit_gamma "
cp "$cap/jit-13475.dump" .
hot "a jitdump file counts before a map" "jit_alpha jit_beta jit_gamma "
# The number in the head is at offset 20.
cp jit-13475.dump mine
printf '\001\0\0\0' | dd of=jit-13475.dump bs=1 seek=20 conv=notrunc 2>/dev/null
hot "one that another process wrote is not read, and a map is" \
	"[ambiguous] jit_alpha|jit_beta|jit_gamma "
"$B" info c.data 2>&1 | tr -s ' \n' ' ' >out
if grep -q "jit-13475.dump: not read, as process 1 wrote it, not 13475; --jitdump 13475=FILE takes it" out
then echo "ok it is said which process wrote it"
else
	echo "not ok it is said which process wrote it"
	grep dump out | head -c 500
fi
hot "what the user names is, whatever it is called" \
	"jit_alpha jit_beta jit_gamma " --jitdump 13475=mine
mv mine jit-13475.dump
# The path of its mapping record, below --symfs; not outside of it.
wrote=$("$B" query --no-jit c.data "SELECT path FROM image
	WHERE path LIKE '%/jit-13475.dump'" --format csv 2>/dev/null | sed 1d)
mkdir -p "root$(dirname "$wrote")"
rm perf-13475.map
mv jit-13475.dump "root$wrote"
hot "a jitdump file is found where the process wrote it, below --symfs" \
	"jit_alpha jit_beta jit_gamma " --symfs root
hot "it is not found without that" ""
mv "root$wrote" .
head -c 100 jit-13475.dump >short
mv short jit-13475.dump
"$B" ingest -q -f -o c.db c.data 2>err
if [ $? = 3 ]
then echo "ok a cut jitdump file is damage"
else echo "not ok a cut jitdump file is damage"
fi
# whole NAME INPUT: damage beside a capture takes no record from it
whole() {
	got=$("$B" check "$2" 2>err | tr -s '\n' ' ')
	got="$("$B" query --format csv "$2" 'SELECT complete FROM capture' \
		2>err | tail -n 1 | tr -d '\r') $got"
	case $got in
	"1 $2: damaged: "*'nothing else is lost'*) echo "ok $1" ;;
	*)
		echo "not ok $1"
		echo "# got: $got"
		;;
	esac
}
whole "no record of the capture is lost by that" c.db
rm jit-13475.dump
# of a regular expression with a line feed
printf '%s\n' '7f0000000000 10 RegExp:a' b >perf-13475.map
whole "nor by a line of a map that is none" c.data
if "$B" check c.data 2>err | grep -q '(perf map), first at 0x19$'
then echo "ok the offset of the line is hexadecimal"
else echo "not ok the offset of the line is hexadecimal"
fi
rm perf-13475.map

# Code without frame pointers, of two kinds in turn at one address: the tables
# that the program wrote lead out of it.
rm -f c.db c.data c.data.zst jit-* perf-*
cp "$cap/jitframes.data.zst" c.data.zst
zstd -qdf c.data.zst -o c.data
cp "$cap/jit-26339.dump" .
is "stack dumps are unwound by the tables of jitted code" \
	"jitframes;_start;start;run_for 5
jitframes;_start;start;run_for;large_frame_[j] 7
jitframes;_start;start;run_for;large_frame_[j];work 23
jitframes;_start;start;run_for;small_frame_[j] 14
jitframes;_start;start;run_for;small_frame_[j];work 17" --symfs "$cap/symfs"
is "without them they end there" \
	"jitframes;[user: no_table];[anon] 21
jitframes;[user: no_table];[anon];work 40
jitframes;_start;start;run_for 5" --symfs "$cap/symfs" --no-jit
printf '\0\0\0\0' | dd of=jit-26339.dump bs=1 seek=12 conv=notrunc 2>/dev/null
is "and by those of a file that says no machine, as CPython 3.13's" \
	"jitframes;_start;start;run_for 5
jitframes;_start;start;run_for;large_frame_[j] 7
jitframes;_start;start;run_for;large_frame_[j];work 23
jitframes;_start;start;run_for;small_frame_[j] 14
jitframes;_start;start;run_for;small_frame_[j];work 17" --symfs "$cap/symfs"

mv c.data jitframes.data
zstd -qdf "$cap/trampolines.data.zst" -o c.data
is "CPython's trampolines in a map are unwound, too" \
	"trampolines;_start;start;evaluate;py::outer:e.py_[j];evaluate;py::middle:e.py_[j];evaluate;py::leaf:e.py_[j];evaluate 1
trampolines;_start;start;evaluate;py::outer:t.py_[j];evaluate;py::middle:t.py_[j];evaluate;py::leaf:t.py_[j];evaluate 1" \
	--symfs "$cap/symfs" --perf-map "$cap/perf-19615.map"
sed 's/ [bf] / 10 /' "$cap/perf-19615.map" >perf-19615.map
is "but not code of another size" \
	"trampolines;[user: no_table];py::leaf:e.py_[j];evaluate 1
trampolines;[user: no_table];py::leaf:t.py_[j];evaluate 1" \
	--symfs "$cap/symfs" --perf-map perf-19615.map
rm perf-19615.map
mv jitframes.data c.data

advice="perf map ('backstitch record --runtime' for Java, Node and Python) or a jitdump"
"$B" report --symfs "$cap/symfs" --no-jit c.data >out
if grep -q "code without a name: .*, made at run time; .*$advice" out
then echo "ok code made at run time has the advice to name it"
else echo "not ok code made at run time has the advice to name it"
fi
"$B" ingest -q -f -o c.db --symfs "$cap/symfs" --no-jit c.data
"$B" info c.db | tr -s ' \n' ' ' >out
if grep -q "no names for code made at run time, [0-9]* addresses: .*$advice" out
then echo "ok and so says info"
else echo "not ok and so says info"
fi
"$B" ingest -q -f -o c.db --symfs "$cap/symfs" c.data
if "$B" info c.db | grep -q "made at run time"
then echo "not ok info does not say it of code that has names"
else echo "ok info does not say it of code that has names"
fi

# Code of a big-endian machine is read in its own byte order.
rm -f c.data ./*.dump
cat >c.txt <<'END'
event cpu-clock mono
comm pid=77 name="power"
mmap pid=77 start=0x10000 len=0x10000 pgoff=0x10000 path=//anon
sample pid=77 tid=77 cpu=0 time=2000 u=0x11004
END
"$MKCAP" -b c.txt c.data || exit 2
python3 - <<'END' >jit-77.dump
import struct
import sys

out = struct.pack(">6I2Q", 0x4A695444, 1, 40, 21, 0, 77, 0, 0)
code = struct.pack(">2I", 0x60000000, 0x4E800020)  # nop; blr
name = b"made\0"
out += struct.pack(">2IQ2I4Q", 0, 56 + len(name) + len(code), 1000, 77, 77,
                   0x11000, 0x11000, len(code), 1)
sys.stdout.buffer.write(out + name + code)
END
got=$("$B" annotate c.data made 2>err | grep -E -o 'nop|blr' | tr '\n' ' ')
if [ "$got" = "nop blr " ]
then echo "ok code of a big-endian machine is disassembled"
else
	echo "not ok code of a big-endian machine is disassembled"
	echo "# got: $got"
	sed 's/^/# err: /' err | head -5
fi

# A process in a pid namespace of its own writes its number there.
cat >jitter.c <<'END'
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
int main(void)
{
	/* mov $100000000,%ecx; dec %ecx; jnz; ret */
	static const unsigned char code[] = { 0xb9, 0x00, 0xe1, 0xf5, 0x05,
					      0xff, 0xc9, 0x75, 0xfc, 0xc3 };
	uint32_t head[10] = { 0x4a695444, 1, 40, 62, 0, (uint32_t)getpid() };
	unsigned char *at = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct timespec t;
	char name[64];
	snprintf(name, sizeof(name), "jit-%d.dump", (int)getpid());
	FILE *f = fopen(name, "w+");
	mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fileno(f), 0);
	memcpy(at, code, sizeof(code));
	clock_gettime(CLOCK_MONOTONIC, &t);
	const struct {
		uint32_t id, size;
		uint64_t time;
		uint32_t pid, tid;
		uint64_t vma, addr, len, index;
	} load = { 0, 56 + 7 + sizeof(code),
		   (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec,
		   (uint32_t)getpid(), (uint32_t)getpid(), (uintptr_t)at,
		   (uintptr_t)at, sizeof(code), 1 };
	fwrite(head, sizeof(head), 1, f);
	fwrite(&load, sizeof(load), 1, f);
	fwrite("jitted", 7, 1, f);
	fwrite(code, sizeof(code), 1, f);
	fclose(f);
	for (int i = 0; i < 6; i++)
		((void (*)(void))(uintptr_t)at)();
	return 0;
}
END
# code of a jitdump is what return addresses and innermost frames are checked by:
# outer calls inner; each has its frame at 4. Of 78 the return address is behind no
# call, of 79 the innermost function has no frame yet.
python3 - <<'END'
import struct
outer = bytes.fromhex("554889e5e80700000090905dc3909090")
inner = bytes.fromhex("554889e590905dc3")
for pid in (78, 79, 80):
    out = struct.pack("<6I2Q", 0x4A695444, 1, 40, 62, 0, pid, 0, 0)
    for number, (name, at, code) in enumerate(((b"outer\0", 0x11000, outer), (b"inner\0", 0x11010, inner))):
        out += struct.pack("<2IQ2I4Q", 0, 56 + len(name) + len(code), 500, pid, pid,
                           at, at, len(code), number) + name + code
    open("jit-%d.dump" % pid, "wb").write(out)
END
for want in 78/0x11014/0x11005 79/0x11010/0x11009 80/0x11014/0x11009
do
	pid=${want%%/*} leaf=${want#*/}
	cat >made.txt <<-END
	event cpu-clock mono
	event dummy:u output
	comm pid=$pid name=made exec time=100
	mmap pid=$pid start=0x10000 len=0x10000 pgoff=0x10000 path=//anon time=200
	sample pid=$pid tid=$pid cpu=0 time=1000 u=${leaf%/*},${leaf#*/}
	END
	"$MKCAP" made.txt made.data && "$B" ingest -q -f --jitdump "$pid=jit-$pid.dump" -o made.db made.data 2>err
	sqlite3 made.db 'SELECT class FROM trust'
done >got
cat >want <<'END'
not judged (generated code)
not judged (no table)
not judged (start)
END
if diff want got
then echo "ok recorded_code_is_looked_into"
else echo "not ok recorded_code_is_looked_into"
fi

mkdir away
if [ "$(uname -m)" != x86_64 ] || [ "$(id -u)" != 0 ] ||
	! cc -O1 -o jitter jitter.c ||
	! (cd away && perf record -q -k mono -F 199 -g -o ../ns.data \
		unshare -pf ../jitter >/dev/null 2>&1)
then echo "skip a process in a pid namespace: no root, perf or compiler"
else
	# jitted: the names of code that was made at run time
	jitted() {
		"$B" report --format csv ns.data 2>err | grep -o 'jitted' |
			sort -u
	}
	# like NAME WANTED
	like() {
		if [ "$(jitted)" = "$2" ]
		then echo "ok $1"
		else
			echo "not ok $1"
			sed 's/^/# err: /' err | head -5
		fi
	}
	like "one of a process in a pid namespace is read" jitted
	cp away/jit-1.dump x && mv x away/jit-1.dump
	like "but not if it is another file than was mapped" ""
fi
