#!/bin/sh
# export_ctf.sh - what export --format ctf makes of its options, and the plugin
# of babeltrace2; the content of traces is compared by tests/compare/exportctf.py.
# usage: O=build tests/cli/export_ctf.sh
# Needs: libbabeltrace2
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/z.db
"$B" ingest -q -o "$db" --no-symbols tests/captures/z-defer.data
ok "a database to export" $?

"$B" export --format ctf -o "$work/a" "$db" 2>"$work/err"
rc=$?
if grep -q "built without" "$work/err"
then
	[ $rc = 2 ] && [ ! -e "$work/a" ]
	ok "a build without the library says so" $?
	exit
fi
[ $rc = 0 ] && [ -s "$work/a/metadata" ] && [ -s "$work/a/events_0" ]
ok "a folder has the metadata and a file for each CPU" $?

# the one clock of a trace cannot have the time of day of two boots
for boot in before,16 after,17
do
	"$B" ingest -q --no-symbols -o "$work/${boot%,*}.db" "tests/captures/${boot%,*}.data"
	sqlite3 "$work/${boot%,*}.db" "INSERT INTO meta VALUES(1, 'wall_offset_ns', ${boot#*,}00000000000000000)"
done
"$B" export --format ctf -o "$work/boot" "$work/after.db" 2>"$work/err" &&
	grep -q 'absolute = true' "$work/boot/metadata" &&
	"$B" export --format ctf -o "$work/boots" "$work/before.db" "$work/after.db" 2>"$work/err" &&
	grep -q 'absolute = false' "$work/boots/metadata"
ok "times of two boots are not called times of day" $?

mkdir "$work/b" && "$B" export --format ctf -o "$work/b/" "$db" &&
	diff -r "$work/a" "$work/b"
ok "the same database gives the same bytes, in an empty folder too" $?

"$B" export --format ctf -o "$work/c" --time 0%-50% "$db" &&
	! cmp -s "$work/a/metadata" "$work/c/metadata"
ok "another part of it is a trace with another uuid" $?

# fails NAME STATUS TEXT ARGUMENT...: nothing is left behind
fails() {
	name=$1 want=$2 text=$3
	shift 3
	ls -A "$work" >"$work/before"
	"$B" export --format ctf "$@" "$db" >"$work/said" 2>"$work/err"
	rc=$?
	ls -A "$work" >"$work/after"
	[ $rc = "$want" ] && grep -q "$text" "$work/err" &&
		[ ! -s "$work/said" ] && cmp -s "$work/before" "$work/after"
	ok "$name" $?
}
touch "$work/said" "$work/err" "$work/before" "$work/after"
fails "standard output is no folder" 2 "add '-o DIR'"
fails "nor is -" 2 "add '-o DIR'" -o -
fails "a folder with files is not touched" 2 "not empty" -o "$work/a"
fails "nor is a file" 1 "Not a directory" -o "$db"
fails "a place that does not exist is an error" 1 "No such file" \
	-o "$work/no/where"
fails "nothing to write is an error" 2 "no event is selected" \
	-o "$work/d" --comm wl --tid 0
mkdir "$work/lib"
echo none >"$work/lib/libbabeltrace2.so.0"
(
	export LD_LIBRARY_PATH="$work/lib"
	fails "a library that is none is named" 1 \
		"libbabeltrace2.so.0: $work/lib/libbabeltrace2.so.0: file too short" -o "$work/f"
	"$B" report "$db" >"$work/said" 2>"$work/err"
	ok "no other command needs it" $?
)
(
	ulimit -f 100
	# the library loses memory when it cannot write
	export ASAN_OPTIONS=detect_leaks=0
	fails "a file that cannot be written leaves nothing" 1 \
		"could not write" -o "$work/e"
)

"$B" ingest -q -o "$work/again.db" --no-symbols "$work/a"
for i in "$db" "$work/again.db"
do
	"$B" query --format csv "$i" "SELECT e.time_ns, e.cpu, y.name,
		hex(k.addrs), hex(u.addrs) FROM event e
		JOIN event_type y ON y.id = e.type
		LEFT JOIN request r ON r.event = e.id
		LEFT JOIN raw_chain k ON k.id = e.kraw
		LEFT JOIN raw_chain u ON u.id = coalesce(r.uraw, e.uraw)
		ORDER BY 1, 2" >"$i.csv"
done
cmp "$db.csv" "$work/again.db.csv" && [ "$(wc -l <"$db.csv")" -gt 3000 ]
ok "the trace read again has the same samples and stacks" $?

# 7 records in two losses that overlap, 5 and an unknown number right after them,
# an unknown number on no CPU until a time, and throttling, which loses nothing
cp "$db" "$work/lossy.db"
sqlite3 "$work/lossy.db" "DELETE FROM loss;
	INSERT INTO loss(id, capture, what, counts, cpu, t0, t1, n) VALUES
	(1, 1, 'lost', 1, 0, 314500000000, 314600000000, 3),
	(2, 1, 'lost', 1, 0, 314550000000, 314700000000, 4),
	(3, 1, 'lost', 1, 0, 314700000000, 314800000000, 5),
	(4, 1, 'lost', 1, NULL, NULL, 314900000000, NULL),
	(5, 1, 'throttled', 0, 0, 314500000000, 314600000000, 9),
	(6, 1, 'lost', 1, 0, 314750000000, 314800000000, NULL)"
"$B" export --format ctf -o "$work/lossy" "$work/lossy.db" &&
	"$B" ingest -q -o "$work/lost.db" --no-symbols "$work/lossy"
[ "$("$B" query --format csv "$work/lost.db" "SELECT coalesce(cpu, -1),
	t0 / 1000000, t1 / 1000000, n FROM loss ORDER BY 1, 2" |
	tail -n +2 | tr '\n' ' ')" = \
	"-1,314900,314900,1 0,314500,314700,7 0,314700,314800,6 " ]
ok "losses are ranges of their CPU, and those that overlap are one" $?

# ---- a library that has no memory, and a file of it that was not finished

cat >"$work/shim.c" <<'END'
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void *(*create)(void *class, void *trace, uint64_t id);
/* there is no memory for the first one */
static void *fail_first(void *class, void *trace, uint64_t id)
{
	static int calls;

	return calls++ ? create(class, trace, id) : NULL;
}
void *dlsym(void *lib, const char *name)
{
	void *(*real)(void *, const char *) = dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.34");
	void *found = real(lib, name);

	if (!getenv("FAIL") || strcmp(name, "bt_stream_create_with_id"))
		return found;
	create = found;
	return fail_first;
}
/* the first packet says that it has 4 bytes, and nothing is behind them */
ssize_t pread64(int fd, void *to, size_t n, off_t off)
{
	ssize_t (*real)(int, void *, size_t, off_t) = dlsym(RTLD_NEXT, "pread64");
	static int heads;

	if (!getenv("SHORT") || n != 44)
		return real(fd, to, n, off);
	if (heads++)
		return 0;
	n = (size_t)real(fd, to, n, off);
	memcpy((char *)to + 36, &(uint64_t){ 8 * 4 }, 8);
	return (ssize_t)n;
}
END
if grep -q __asan_init "$B"
then echo "skip a library that has no memory: under sanitizers no library can be loaded first"
elif gcc -shared -fPIC -w -o "$work/shim.so" "$work/shim.c" -ldl
then
	# the loss is before all events
	sqlite3 "$work/lossy.db" "UPDATE loss SET cpu = 3, t0 = 1, t1 = 2 WHERE id = 1"
	LD_PRELOAD=$work/shim.so FAIL=1 "$B" export --format ctf -o "$work/g" "$work/lossy.db" 2>"$work/err"
	[ $? = 1 ] && grep -q "has no memory" "$work/err" && [ ! -e "$work/g" ]
	ok "a library without memory for the stream of a loss is an error" $?
	LD_PRELOAD=$work/shim.so SHORT=1 "$B" export --format ctf -o "$work/g" "$db" 2>"$work/err"
	[ $? = 1 ] && grep -q "the trace is not complete" "$work/err" && [ ! -e "$work/g" ]
	ok "a packet that is shorter than its head is an error" $?
fi

# bt ARGUMENT...: babeltrace2 with the plugin
bt() {
	babeltrace2 --plugin-path="${O:-build}/plugin" "$@"
}
if ! command -v babeltrace2 >/dev/null
then
	echo "skip the plugin of babeltrace2: it is not installed"
	exit
fi
if grep -q __asan_init "$B"
then
	echo "skip the plugin of babeltrace2: under sanitizers it has none itself"
	exit
fi
ust=tests/captures/ctf-discard/trace
"$B" export --no-symbols --format ctf -o "$work/ust" "$ust" 2>"$work/err"
for i in "$ust" "$work/ust"
do
	babeltrace2 --clock-gmt --clock-date --no-delta "$i" 2>"$work/err" |
		sed 's/\(\[[^]]*\]\).*/\1/' | sort | cksum
done | uniq | wc -l >"$work/said"
grep -qx 1 "$work/said"
ok "babeltrace2 tells the time on the wall that LTTng recorded" $?

[ "$(bt "$db" | grep -c .)" = $(($(wc -l <"$db.csv") - 1)) ]
ok "babeltrace2 reads a database by its name" $?

cp "$work/a/metadata" "$work/odd.db"
! bt "$work/odd.db" >"$work/said" 2>&1
ok "and no other file" $?

cp "$db" "$work/cut.db" && truncate -s 20000 "$work/cut.db" &&
	! bt "$work/cut.db" >"$work/said" 2>"$work/err" &&
	grep -q "cut.db" "$work/err"
ok "a damaged database is an error" $?

bt convert "$db" --begin=315 --clock-seconds >"$work/said" 2>&1 &&
	[ "$(grep -c . "$work/said")" -gt 1 ] &&
	[ "$(grep -c . "$work/said")" -lt 3267 ]
ok "filters of babeltrace2 work on it" $?

! bt convert --component=a:source.backstitch.db \
	--params='inputs=["'"$db"'","x"]' >"$work/said" 2>"$work/err" &&
	grep -q "array with one path" "$work/err"
ok "two paths are refused" $?

# a trace of some threads or CPUs has a mark, or what it lacks would be judged
if "$B" ingest -q -o "$work/sched.db" tests/captures/disk-irqs.data.zst &&
	"$B" export --format ctf --cpu 0 -o "$work/part" "$work/sched.db" 2>/dev/null
then
	"$B" ingest -q -o "$work/part.db" "$work/part"
	"$B" check "$work/part.db" >"$work/said"
	"$B" sched "$work/part.db" 2>/dev/null | sed -n 2p >>"$work/said"
	grep -q 'whether switches are missing is not judged' "$work/said" &&
		grep -q 'switches were filtered' "$work/said"
	ok "what --cpu leaves out is not called missing" $?
fi
