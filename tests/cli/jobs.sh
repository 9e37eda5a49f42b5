#!/bin/sh
# jobs.sh - ingest makes the same database and says the same with any number of threads.
# usage: tests/cli/jobs.sh
# Without sanitizers: it compares databases; they do not see races of threads, and unwind.sh runs these under them.
#
# Threads unwind ahead of their samples, with the mappings of that moment: captures in which
# libraries come and go are among these. A thread decodes records ahead; what it finds damaged
# must be told in its place.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
shared=${BACKSTITCH_SHARED:-../shared}
rc=0

# same NAME CAPTURE OPTION...
same() {
	name=$1
	capture=$2
	shift 2
	for jobs in 1 2 4 16
	do
		"$B" ingest -q -f --no-cache --jobs $jobs -o "$work/$jobs.db" "$@" \
			"$capture" >"$work/$jobs.said" 2>&1 || [ $? = 3 ] || {
			cat "$work/$jobs.said"
			echo "not ok $name"
			rc=1
			return
		}
		sed -i "s,$work/$jobs.db,DB," "$work/$jobs.said"
	done
	# with what the first of them has found out about code, the second has the same
	rm -rf "$work/cache"
	for run in 1 2
	do
		XDG_CACHE_HOME=$work/cache "$B" ingest -q -f -o "$work/known.db" "$@" \
			"$capture" >"$work/known.said" 2>&1
		cmp "$work/1.db" "$work/known.db" || {
			echo "not ok $name, run $run with a cache"
			rc=1
		}
	done
	if cmp "$work/1.db" "$work/2.db" && cmp "$work/1.db" "$work/4.db" &&
		cmp "$work/1.db" "$work/16.db" &&
		cmp "$work/1.said" "$work/2.said" && cmp "$work/1.said" "$work/16.said"
	then
		echo "ok $name"
	else
		echo "not ok $name"
		rc=1
	fi
}

for c in frames32 jitframes hits-mixed tiny-sframe z-defer dlchurn shop
do
	for f in tests/captures/$c.data tests/captures/$c.data.zst
	do
		[ ! -f "$f" ] || same "$c" "$f" --symfs "$root/tests/captures/symfs"
	done
done
find "$work/cache" -name '*-code-*' | grep -q .
ok what_is_found_out_about_code_is_kept $?
found=no
for f in "$shared"/captures/*/perf/*dwarf*/perf.data "$shared"/captures/perf/*dwarf*/perf.data
do
	[ -f "$f" ] || continue
	found=yes
	what=$(dirname "${f#*captures/}")
	for symfs in "$shared"/captures/symfs-6.18 "${f%/perf/*}/symfs"
	do
		[ ! -d "$symfs" ] || same "$what, $(basename "$symfs")" "$f" --symfs "$symfs"
	done
	same "$what, no symbols" "$f" --no-symbols
done
[ $found = yes ] || echo "skip captures of ../shared: not here"

# Records are decoded ahead in files, unless they have dumps or are packed.
for f in fp-1.data regs.data group.data ftrace-v6.dat.zst ftrace-v7.dat ftrace-buffers.dat \
	ftrace-ustack-both.dat ftrace-missed.dat.zst
do
	same "$f, decoded ahead" "tests/captures/$f" --fields all --no-symbols
done
same "two, decoded ahead" tests/captures/fp-1.data --no-symbols --separate \
	tests/captures/ftrace-v7.dat

# damage FILE OUT: changes 16 bytes at each of 40 places
damage() {
	cp "$1" "$2"
	size=$(stat -c %s "$2")
	for i in $(seq 1 40)
	do
		printf '%s' "damaged damaged " | dd of="$2" bs=1 conv=notrunc status=none \
			seek=$((size / 3 + size * i / 70))
	done
}

has_damage() {	# has_damage NAME: what was ingested last
	if [ "$(sqlite3 "$work/16.db" "SELECT count(*) > 0 FROM damage WHERE kind = 'damage'")" = 1 ]
	then
		echo "ok $1 has damage"
	else
		echo "not ok $1 has damage"
		rc=1
	fi
}

for f in fp-1.data ftrace-v7.dat ftrace-buffers.dat
do
	damage "tests/captures/$f" "$work/damaged-$f"
	same "$f, damaged" "$work/damaged-$f" --fields all --no-symbols
	has_damage "$f"
done

# sessions of LTTng; of damaged ones metadata cannot be read, too
packed=$(PYTHONDONTWRITEBYTECODE=1 ROOT=. O=${O:-build} python3 tests/compare/unpack.py) || exit 2
for f in "$packed"/lttng/*/trace "$packed"/lttng/ctf_perf "$packed"/lttng-rotated/trace \
	"$packed"/lttng-damaged/* tests/captures/ctf-discard
do
	"$B" info "$f" >/dev/null 2>&1 || [ $? = 3 ] || continue
	for fields in all none
	do
		same "${f#"$packed"/}, fields $fields" "$f" --fields $fields --no-symbols
	done
done
for f in uid-basic k-callstack
do
	cp -r "$packed/lttng/$f/trace" "$work/$f"
	find "$work/$f" -name '*_[0-9]*' ! -name '*.idx' >"$work/streams"
	while read -r s
	do
		damage "$s" "$work/stream"
		cat "$work/stream" >"$s"
	done <"$work/streams"
	same "$f, damaged" "$work/$f" --fields all --no-symbols
	has_damage "$f"
done

zstd -qdcf tests/captures/frames32.data.zst >"$work/frames32.data"
same "two captures at once" "$work/frames32.data" --separate --symfs \
	"$root/tests/captures/symfs" tests/captures/tiny-sframe.data

# --no-symbols leaves out names, and nothing else of a stack dump
"$B" ingest -q -f -o "$work/named.db" --symfs "$root/tests/captures/symfs" --no-lines \
	"$work/frames32.data"
"$B" ingest -q -f -o "$work/bare.db" --symfs "$root/tests/captures/symfs" --no-symbols \
	"$work/frames32.data"
for table in raw_chain stack_path sample_group
do
	sqlite3 "$work/named.db" "SELECT * FROM $table" >"$work/named"
	sqlite3 "$work/bare.db" "SELECT * FROM $table" >"$work/bare"
	if cmp "$work/named" "$work/bare" && [ -s "$work/bare" ]
	then
		echo "ok without names $table is the same"
	else
		echo "not ok without names $table is the same"
		rc=1
	fi
done
# --timing tells of each kind of thread, and how much of the work ahead was used
"$B" ingest -f --timing --jobs 2 -o "$work/bare.db" --symfs "$root/tests/captures/symfs" \
	--no-symbols "$work/frames32.data" 2>"$work/timing"
stacks=$(sqlite3 "$work/bare.db" "SELECT count(*) FROM raw_chain")
if grep -Eq '^Thread +Number +Busy ms +Waiting ms +Used of it$' "$work/timing" &&
	grep -Eq '^main +1 +[0-9]+\.[0-9]{2} +-?[0-9]+\.[0-9]{2}$' "$work/timing" &&
	grep -Eq '^unwinding +[12] .* [0-9]+\.[0-9]{2} % of [1-9][0-9,]* stacks$' "$work/timing" &&
	[ "$stacks" -gt 0 ]
then
	echo "ok timing tells of each thread"
else
	cat "$work/timing"
	echo "not ok timing tells of each thread"
	rc=1
fi
exit $rc
