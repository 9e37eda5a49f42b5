#!/bin/sh
# identity_more.sh - more situations in which a file at the recorded path is not
# the one that ran: no function is named wrongly, and a table says how many are
# named.
# Waits: for programs that are recorded
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/identity_more.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
dir=$PWD # perf records the true path
HOME=$dir
XDG_CACHE_HOME=$dir
export HOME XDG_CACHE_HOME
CC=${CC:-gcc}

# Version B has another function in front, and each function has another size.
cat >hot.c <<'EOF2'
#include <time.h>
volatile long sink;
static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}
#define BURN(name, ...)                                                        \
	__attribute__((noinline)) void name(double s)                          \
	{                                                                      \
		double e = now() + s;                                          \
		while (now() < e)                                              \
			for (int i = 0; i < 20000; i++) {                      \
				__VA_ARGS__;                                   \
			}                                                      \
		sink++;                                                        \
	}
#ifdef B
BURN(new_one, sink ^= i; sink += i * 5; sink -= 3)
BURN(beta, sink += i * 3)
BURN(alpha, sink ^= i * 7; sink += i)
#else
BURN(alpha, sink += i * 7)
BURN(beta, sink ^= i * 3; sink++)
#endif
#ifdef MAIN
int main(void)
{
	for (int i = 0; i < MAIN; i++) {
		alpha(0.1);
		beta(0.05);
	}
	return 0;
}
#endif
EOF2
cat >m.c <<'EOF2'
void alpha(double), beta(double);
int main(void)
{
	for (int i = 0; i < 3; i++) {
		alpha(0.1);
		beta(0.05);
	}
	return 0;
}
EOF2
# Runs a program from memory, or a library that is unlinked.
cat >memory.c <<'EOF2'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <unistd.h>
int main(int n, char **v)
{
	void (*f)(double);
	void *so;

	if (!strcmp(v[1], "exec")) {
		int fd = memfd_create("hot", 0), in = open(v[2], O_RDONLY);
		char *none[] = { "hot", NULL };

		while (sendfile(fd, in, NULL, 1 << 20) > 0)
			;
		return fexecve(fd, none, none), 1;
	}
	so = dlopen(v[2], RTLD_NOW);
	unlink(v[2]);
	for (int i = 0; so && i < 6; i++)
		if ((f = (void (*)(double))dlsym(so, i & 1 ? "beta" : "alpha")))
			f(i & 1 ? 0.05 : 0.1);
	return n < 3;
}
EOF2
# Code that is made while it runs, with the map that perf reads.
cat >jit.c <<'EOF2'
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
int main(void)
{
	static const unsigned char code[] = { 0xb9, 0, 0, 0, 8,	   0xff,
					      0xc9, 0x75, 0xfc, 0xc3 };
	void *p = mmap(NULL, 4096, 7, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char name[64];
	FILE *f;

	memcpy(p, code, sizeof(code));
	snprintf(name, sizeof(name), "/tmp/perf-%d.map", getpid());
	f = fopen(name, "w");
	fprintf(f, "%lx 10 jitted_loop\n", (unsigned long)p);
	fclose(f);
	for (int i = 0; i < 8; i++)
		((void (*)(void))p)();
	return 0;
}
EOF2
# build OUT OPTION...
build() {
	build_out=$1
	shift
	"$CC" -O1 -g -fno-omit-frame-pointer -Wl,--build-id -o "$build_out" "$@" \
		2>err
}
mkdir lib new
if ! build one -DMAIN=400 hot.c || ! build two -DB -DMAIN=400 hot.c ||
	! build three -DMAIN=3 hot.c ||
	! build lib/libhot.so -fPIC -shared hot.c ||
	! build new/libhot.so -fPIC -shared -DB hot.c || ! build jit jit.c ||
	! build memory memory.c -ldl ||
	! build m m.c -Llib -lhot "-Wl,-rpath,$dir/lib"
then
	echo "skip identity_more: no compiler"
	exit 0
fi
if [ "$(id -u)" != 0 ] || [ "$(uname -m)" != x86_64 ] ||
	! perf record -q -o try.data true 2>/dev/null ||
	! unshare -um true 2>/dev/null || ! command -v python3 >/dev/null
then
	echo "skip identity_more: x86-64 with perf, root or python3 is not here"
	exit 0
fi
record() {
	perf record -q -F 999 -g "$@" >/dev/null 2>&1
}

# What is said of the samples in an image, beside the symbols of the right file:
# of how many the function is right, wrong and not named, and the classes.
cat >measure.py <<'EOF2'
import csv, io, subprocess, sys
program, db, image, right = sys.argv[1:5]
def ask(sql):
    out = subprocess.run([program, "query", "--format", "csv", db, sql],
                         capture_output=True, text=True, check=True).stdout
    return list(csv.reader(io.StringIO(out)))[1:]
functions, began = [], []
for line in subprocess.run(["nm", "-S", right], capture_output=True,
                           text=True).stdout.splitlines():
    f = line.split()
    if len(f) == 4 and f[2] in "tTwW":
        functions.append((int(f[0], 16), int(f[1], 16), f[3]))
    elif len(f) == 3 and f[1] in "tT":
        began.append((int(f[0], 16), f[2]))
sized = functions[:]
# What the linker adds (_init, frame_dummy ...) has no size: until the next one.
for at, name in began:
    after = [a for a, *_ in functions + began if a > at]
    functions.append((at, min(after, default=at + 16) - at, name))
n = {"right": 0, "wrong": 0, "none": 0}
for line in subprocess.run(["objdump", "-d", "-j", ".plt", right],
                           capture_output=True, text=True).stdout.splitlines():
    if line.endswith("@plt>:"):
        functions.append((int(line.split()[0], 16), 16, line.split("<")[1][:-2]))
for off, name, count in ask("""SELECT f.off, coalesce(s.name, ''), sum(g.n)
        FROM sample_group g JOIN stack t ON t.id = g.user
        JOIN frame f ON f.id = t.frame JOIN image i ON i.id = f.image
        LEFT JOIN symbol s ON s.id = f.symbol
        WHERE g.kernel IS NULL AND i.path LIKE '%%%s%%' GROUP BY 1, 2""" % image):
    at = [x for a, size, x in functions if a <= int(off) < a + size]
    n["none" if not name or name.startswith("[") else
      "right" if name in at else "wrong"] += int(count)
# Only of the functions that have frame pointers: ld.so, which has none, calls the
# others, and there its register is followed into its data.
wrong = sum(int(count) for off, count in ask("""SELECT f.off, sum(g.n) FROM sample_group g
        JOIN internal_judged j ON j.stack = g.user JOIN stack t ON t.id = g.user
        JOIN frame f ON f.id = t.frame JOIN image i ON i.id = f.image
        JOIN word w ON w.kind = 'judged' AND w.id = j.class
        WHERE g.kernel IS NULL AND i.path LIKE '%%%s%%'
        AND w.name LIKE 'fabricated%%' GROUP BY 1""" % image)
    if any(a <= int(off) < a + size for a, size, _ in sized))
total = sum(n.values())
print(total > 20, n["wrong"], wrong,
      "%.0f" % (100 * n["right"] / total if total else 0))
EOF2
printf '%-34s %s\n' situation 'named here, elsewhere, with the right file, %' >table
# look NAME IMAGE RIGHT-FILE CAPTURE SHARE --symfs FOLDER: with the folder, at least
# the share has names. The C library is put there too: where a chain goes on beyond
# its start function (glibc 2.43), only its file says that the rest is none.
libc=$(realpath "$(ldd m | awk '$1 ~ /^libc[.]so/ { print $3 }')")
look() {
	look_name=$1 look_image=$2 look_right=$3 look_data=$4 look_share=$5
	look_row=
	shift 5
	install -D "$libc" "$2/$libc"
	"$B" ingest -q -f -o x.db "$look_data" 2>err
	look_at here
	# shellcheck disable=SC2016
	unshare -u sh -c 'hostname elsewhere; HOME=/none exec "$0" ingest -q -f -o x.db "$@"' \
		"$B" "$look_data" 2>err
	look_at elsewhere
	# shellcheck disable=SC2016
	unshare -u sh -c 'hostname elsewhere; HOME=/none exec "$0" ingest -q -f -o x.db "$@"' \
		"$B" "$@" "$look_data" 2>err
	look_at with_the_file
	ok "${look_name}_is_named_by_the_right_file" $((look_found < look_share))
	printf '%-34s%s\n' "$look_name" "$look_row" >>table
}
# look_at WHERE
look_at() {
	# shellcheck disable=SC2046
	set -- "$1" $(python3 measure.py "$B" x.db "$look_image" "$look_right")
	is "${look_name}_$1_has_samples" True "$2"
	is "${look_name}_$1_names_no_other_function" 0 "$3"
	is "${look_name}_$1_has_no_class_of_another_file" 0 "$4"
	look_found=$5
	look_row="$look_row $5"
}

# 1. A program in memory that has no name in any file system.
record -o memfd.data ./memory exec three
mkdir memfd
cp three "memfd/memfd:hot"
look program_in_memory memfd:hot three memfd.data 90 --symfs memfd

# 2. A library in /dev/shm that is unlinked while it is used.
shm=$(mktemp -d /dev/shm/identity.XXXXXX)
cp lib/libhot.so "$shm/libhot.so"
record -o shm.data ./memory open "$shm/libhot.so"
cp new/libhot.so "$shm/libhot.so"
mkdir shm
cp lib/libhot.so shm/
look unlinked_library libhot.so lib/libhot.so shm.data 90 --symfs shm
rm -r "$shm"

# 3. An overlay, whose upper folder has the file, over the one that is outside.
mkdir -p over/upper over/work over/roots
cp new/libhot.so over/upper/
if unshare -m mount -t overlay none -o \
	"lowerdir=$dir/lib,upperdir=$dir/over/upper,workdir=$dir/over/work" \
	"$dir/lib" 2>/dev/null
then
	record -o overlay.data unshare -m sh -c "mount -t overlay none -o \
lowerdir='$dir/lib',upperdir='$dir/over/upper',workdir='$dir/over/work' \
'$dir/lib' && exec '$dir/m'"
	cp new/libhot.so over/roots/
	look upper_file_of_an_overlay libhot.so new/libhot.so overlay.data 90 \
		--symfs over/roots
else
	echo "skip upper_file_of_an_overlay: the kernel has none here"
fi

# 4. Two containers of one image, in one of which the library was upgraded.
mkdir -p c1 c2 roots/a roots/b
cp lib/libhot.so c1/ && cp new/libhot.so c2/
cp m m1 && cp m m2
record -a -o containers.data -- sh -c "unshare -m sh -c \
'mount --bind \"$dir/c1\" \"$dir/lib\" && exec \"$dir/m1\"' & unshare -m sh -c \
'mount --bind \"$dir/c2\" \"$dir/lib\" && exec \"$dir/m2\"' & wait; sleep 0.1"
# each sample is measured by the file of its own image
"$B" ingest -q -f -o y.db containers.data 2>err
for n in 1 2
do
	cp c$n/libhot.so "roots/libhot.so.$(stat -c %i c$n/libhot.so)"
done
# shellcheck disable=SC2016
unshare -u sh -c 'hostname elsewhere; HOME=/none exec "$0" ingest -q -f -o x.db --symfs roots containers.data' \
	"$B" 2>err
is two_containers_have_the_names_of_their_own_file 'alpha beta' "$("$B" query \
	--format csv x.db "SELECT DISTINCT s.name FROM sample_group g
	JOIN stack t ON t.id = g.user JOIN frame f ON f.id = t.frame
	JOIN image i ON i.id = f.image JOIN symbol s ON s.id = f.symbol
	WHERE i.path LIKE '%/libhot.so' AND i.file LIKE 'roots/%.' || i.ino
	AND s.name IN ('alpha', 'beta', 'new_one') AND g.kernel IS NULL
	ORDER BY 1" | tail -n +2 | tr -d '\r' | tr '\n' ' ' | sed 's/ $//')"

# 5. A read-only image that is mounted for a program, as snaps are.
if command -v mksquashfs >/dev/null && mksquashfs new snap.img -quiet \
	>/dev/null 2>&1 && unshare -m mount -o loop,ro snap.img lib 2>/dev/null
then
	record -o snap.data unshare -m sh -c "mount -o loop,ro '$dir/snap.img' \
'$dir/lib' && exec '$dir/m'"
	mkdir snap
	cp new/libhot.so snap/
	look library_of_a_squashfs libhot.so new/libhot.so snap.data 90 --symfs snap
else
	echo "skip library_of_a_squashfs: mksquashfs or the file system is not here"
fi

# 6. A library that is replaced by rename, and put back.
cp lib/libhot.so kept.so
record -o back.data sh -c "'$dir/m' & sleep 0.1; mv lib/libhot.so aside; \
cp new/libhot.so x; mv x lib/libhot.so; wait; mv aside lib/libhot.so"
mkdir back
cp kept.so back/libhot.so
look library_that_came_back libhot.so kept.so back.data 90 --symfs back

# 7. A stripped copy has the build-id of the file.
record -o equal.data "$dir/m"
mkdir stripped
strip -o stripped/libhot.so lib/libhot.so
look stripped_copy_with_the_same_id libhot.so lib/libhot.so equal.data 90 \
	--symfs stripped

# Captures in which the table of build-ids, or what a mapping says of its file, is
# spoiled: a third of the places, another one for the next commit.
cat >spoil.py <<'EOF2'
import sys
data = open("equal.data", "rb").read()
path, id = sys.argv[1].encode() + b"\0", bytes.fromhex(sys.argv[2])
places = []
at = data.find(id)
while at >= 0:
    places += range(at - 12, at + 24 + len(path), 4)
    at = data.find(id, at + 1)
at = data.find(path)
while at >= 0:
    if id not in data[at - 32:at]:
        places += range(at - 32, at - 8, 2)
    at = data.find(path, at + 1)
turn, of = map(int, sys.argv[3:])
for i, at in list(enumerate(places))[turn % of::of]:
    bad = bytearray(data)
    bad[at] ^= 1 << i % 8
    open("spoiled.%d" % i, "wb").write(bad)
EOF2
of=3
[ -z "$LONG" ] || of=1
python3 spoil.py "$dir/lib/libhot.so" \
	"$(readelf -n kept.so | sed -n 's/.*Build ID: *//p')" "${SHARE_OF:-0}" $of
spoiled=0 wrong=0
for f in spoiled.*
do
	spoiled=$((spoiled + 1))
	"$B" ingest -q -f -o x.db "$f" >/dev/null 2>&1 || continue
	# shellcheck disable=SC2046
	set -- $(python3 measure.py "$B" x.db libhot.so kept.so)
	[ "$2 $3" = '0 0' ] || wrong=$((wrong + 1))
done
is spoiled_captures_name_nothing_wrongly 0 $wrong
is of_twenty_and_more 1 $((spoiled * of > 20))

# 8. The debug file beside a stripped program is of the build after it.
cp three prog && objcopy --only-keep-debug two prog.debug
strip prog && objcopy --add-gnu-debuglink=prog.debug prog
objcopy --only-keep-debug three right.debug
record -o neighbour.data "$dir/prog"
cp two x && objcopy --only-keep-debug x prog.debug
mkdir -p "debug$dir"
cp three "debug$dir/prog"
look debug_file_of_a_neighbour prog three neighbour.data 90 --symfs debug

# 9. The file at the path is one of another machine.
cp three moved
perf record -q -F 999 -g -o - ./moved >moved.data 2>/dev/null
mkdir arm
cp moved arm/right
printf '\267\000' | dd of=moved bs=1 seek=18 conv=notrunc 2>/dev/null
touch -d '2001-01-01' moved
mkdir -p "was$dir"
cp arm/right "was$dir/moved"
look file_of_another_architecture moved three moved.data 90 --symfs was

# 10. A process that is 1 in its namespace writes the map of process 1. There is
# one with its number outside, which another process wrote before.
record -o pid.data unshare -pf "$dir/jit"
"$B" ingest -q -f -o x.db pid.data 2>err
pid=$("$B" query --format csv x.db "SELECT p.pid FROM image i
	JOIN process p ON p.id = i.process JOIN frame f ON f.image = i.id
	LIMIT 1" | tail -n +2 | tr -d '\r')
map=/tmp/perf-$pid.map
echo "1000 ffffffffffff0000 wrong_function" >"$map"
# jitted OPTION...: functions of its code
jitted() {
	"$B" ingest -q -f -o x.db "$@" pid.data 2>err
	"$B" query --format csv x.db "SELECT DISTINCT name FROM symbol
		WHERE name IN ('wrong_function', 'jitted_loop')" |
		tail -n +2 | tr -d '\r'
}
is the_wrong_map_is_of_all_its_code wrong_function \
	"$(jitted --perf-map "$pid=$map")"
touch -d '2001-01-01' "$map"
is but_is_not_read_if_it_was_written_before '' "$(jitted)"
is its_own_map_may_be_given jitted_loop \
	"$(jitted --perf-map "$pid=/tmp/perf-1.map")"
rm -f "$map" /tmp/perf-1.map

# 11. A kernel module that was built anew: the notes of the loaded one are in the
# capture.
cat >module.s <<'EOF2'
	.macro function name, size
	.globl \name
	.type \name, @function
\name:
	.zero \size
	.size \name, \size
	.endm
	.text
	.ifdef B
	function new_one, 32
	.endif
	function first, 32
	function second, 64
EOF2
ko=lib/modules/9.9.9/kernel/net/rebuilt.ko
mkdir -p loaded/${ko%/*} rebuilt/${ko%/*}
"$CC" -c -o a.o module.s && "$CC" -c -Wa,--defsym,B=1 -o b.o module.s &&
	ld -r --build-id=sha1 -o loaded/$ko a.o &&
	ld -r --build-id=sha1 -o rebuilt/$ko b.o
id=$(readelf -n loaded/$ko | sed -n 's/.*Build ID: *//p')
cat >module.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=-1 tid=0 kernel start=0xffffffffc0400000 len=0x1000 pgoff=0 path=/$ko id=$id
sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffffc0400010,0xffffffffc0400030
EOF2
"$MKCAP" module.txt module.data
# module SYMFS: the functions, and the status
module() {
	"$B" ingest -q -f -o x.db --symfs "$1" module.data 2>err
	"$B" query --format csv x.db "SELECT i.status || ' ' ||
		coalesce(s.name, '-') FROM image i JOIN frame f ON f.image = i.id
		LEFT JOIN symbol s ON s.id = f.symbol
		WHERE i.path LIKE '%rebuilt%' ORDER BY f.off" | tail -n +2 |
		tr -d '\r"' | tr '\n' ';'
}
is a_module_that_was_rebuilt_names_nothing \
	'other build-id -;other build-id -;' "$(module rebuilt)"
is the_one_that_was_loaded_does 'named first;named second;' "$(module loaded)"

# 12. A prelinked copy has the build-id of the file, and other addresses.
cat >prelink.py <<'EOF2'
import struct, sys
d = bytearray(open(sys.argv[1], "rb").read())
MOVED = 0x30000000
def add(at):
    v, = struct.unpack_from("<Q", d, at)
    struct.pack_into("<Q", d, at, v + MOVED)
    return v
phoff, shoff = struct.unpack_from("<QQ", d, 32)
phsize, phnum, shsize, shnum = struct.unpack_from("<HHHH", d, 54)
for at in range(phoff, phoff + phsize * phnum, phsize):
    add(at + 16)
    add(at + 24)
for at in range(shoff, shoff + shsize * shnum, shsize):
    kind, flags, addr, off, size = struct.unpack_from("<IQQQQ", d, at + 4)
    if flags & 2:
        add(at + 16)
    for sym in range(off, off + size, 24) if kind in (2, 11) else ():
        if 0 < struct.unpack_from("<H", d, sym + 6)[0] < 0xff00:
            add(sym + 8)
open(sys.argv[2], "wb").write(d)
EOF2
mkdir prelinked
python3 prelink.py kept.so prelinked/libhot.so
is its_functions_are_elsewhere 2 "$( (nm kept.so; nm prelinked/libhot.so) |
	grep -c ' T alpha$')"
look prelinked_copy_with_the_same_id libhot.so kept.so equal.data 90 \
	--symfs prelinked

sed 's/^/# /' table
