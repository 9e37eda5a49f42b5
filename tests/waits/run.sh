#!/bin/sh
# run.sh - ten situations: what the first sentence of 'path' says of each.
# usage: BACKSTITCH=build/backstitch tests/waits/run.sh [NAME...]
# With BESIDE=1 also what perf sched timehist says, and offcputime of libbpf-tools if it is there. Root, perf, ftrace and
# cgroups; README.md has the results. A situation that this machine cannot make is skipped with the reason.
cd "$(dirname "$0")/../.." || exit 2
B=$(realpath "${BACKSTITCH:-build/backstitch}") || exit 2
here=$PWD/tests/waits
keep=${KEEP:-$(mktemp -d)}
mkdir -p "$keep"
cd "$keep" || exit 2
${CC:-gcc} -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer -pthread -o situations "$here/situations.c" || exit 2
group=
swap=
end() {
	[ -z "$pid" ] || kill "$pid" 2>/dev/null
	wait 2>/dev/null
	[ -z "$swap" ] || swapoff "$swap" 2>/dev/null
	[ -z "$group" ] || rmdir "$group" 2>/dev/null
	pid='' group='' swap=''
}
trap end EXIT
trap 'exit 1' INT TERM

# one NAME PATTERN: runs it for 3 s, and looks for the pattern in the first sentence
one() {
	[ -z "$only" ] || case " $only " in *" $1 "*) ;; *) end; return ;; esac
	$before ./situations "$1" "$keep" &
	pid=$!
	[ -z "$group" ] || echo "$pid" >"$group/cgroup.procs"
	sleep 0.5
	start=$(date +%s%N)
	"$B" record --waits --for 3s -p "$pid" -o "$1.data" >"$1.record" 2>&1
	more=$((($(date +%s%N) - start) / 1000000 - 3000))
	# perf writes its file last of all
	after=$(($(date +%s%3N) - $(stat -c %.3Y "$1.data" | tr -d .)))
	if [ -n "$BESIDE" ]
	then
		perf sched record -g -o "$1.sched" -- sleep 3 >/dev/null 2>&1
		start=$(date +%s%N)
		perf sched timehist -i "$1.sched" --pid "$pid" >"$1.timehist" 2>/dev/null
		echo "# $1: perf sched timehist takes $((($(date +%s%N) - start) / 1000000)) ms and has" \
			"$(grep -c . "$1.timehist") lines; its stack that slept longest:" \
			"$(awk '$2 ~ /^\[/ {
					t[at[$3]] += $4
					delay += $5
					$1 = $2 = $4 = $5 = $6 = ""
					at[$3] = substr($0, index($0, $3) + length($3))
				}
				END {
					for (s in t) if (s != "" && t[s] > most) { most = t[s]; name = s }
					print name, most " ms; delays of " delay " ms"
				}' "$1.timehist")"
		if command -v offcputime >/dev/null
		then
			start=$(date +%s%N)
			offcputime -p "$pid" 3 >"$1.offcpu" 2>/dev/null
			echo "# $1: offcputime takes $((($(date +%s%N) - start) / 1000000 - 3000)) ms more than 3 s and has" \
				"$(grep -c '^  *- ' "$1.offcpu") stacks in $(grep -c . "$1.offcpu") lines; the longest:" \
				"$(awk '/^ *- / { ends = 1; next }
					ends && /^ *[0-9]+$/ { if ($1 > most) { most = $1; stack = is }; is = ""; ends = 0; next }
					!/bpf_|__traceiter|^ *_*schedule$/ && NF == 1 { is = is " " $1 }
					END { print substr(stack, 2, 90), most / 1000 " ms" }' "$1.offcpu")"
		fi
	fi
	start=$(date +%s%N)
	"$B" path "$1.db" >"$1.txt" 2>&1
	took=$((($(date +%s%N) - start) / 1000000))
	said=$(sed '/^behind/,$d; /^[0-9.>]* % proved/,$d' "$1.txt" | tr '\n' ' ')
	case $said in
	*[0-9]" %"*) ;;
	*) said=$(head -n 4 "$1.txt" | tr '\n' ' ') ;;
	esac
	if echo "$said" | grep -qE "$2"
	then echo "ok $1 ($more ms more than 3 s, $after ms after the recording, path $took ms): $said"
	else echo "not ok $1 ($more ms more than 3 s, $after ms after the recording, path $took ms): $said"
	fi
	end
}
only=$*
before=
pid=
one row-lock ': [0-9.]+ % waiting for holder .[0-9]+. in fcntl of descriptor [0-9]+ .*/table.db'
one wal-fsync ': [0-9.]+ % waiting for a disk in fsync of descriptor [0-9]+ .*/wal.log'
one upstream ': [0-9.]+ % waiting for upstream .[0-9]+. in read of descriptor [0-9]+ .tcp:127.0.0.1:'
one full-pool ': [0-9.]+ % waiting for its own threads'
for at in /sys/fs/cgroup/cpu /sys/fs/cgroup
do
	[ -z "$group" ] && mkdir "$at/situations" 2>/dev/null && group=$at/situations
done
if [ -n "$group" ] && { { echo 100000 >"$group/cpu.cfs_period_us" && echo 20000 >"$group/cpu.cfs_quota_us"; } ||
	echo '20000 100000' >"$group/cpu.max"; } 2>/dev/null
then one throttled ': [0-9.]+ % throttled'
else
	echo "skip throttled: no quota may be set"
	end
fi
before='taskset -c 0'
one neighbour ': [0-9.]+ % ready, [0-9.]+ % of it while neighbour had its CPU'
before=
for at in /sys/fs/cgroup/memory /sys/fs/cgroup
do
	[ -z "$group" ] && mkdir "$at/situations" 2>/dev/null && group=$at/situations
done
dd if=/dev/zero of=swapfile bs=1M count=256 2>/dev/null && chmod 600 swapfile
if mkswap swapfile >mkswap.txt 2>&1 && swapon "$keep/swapfile" 2>>mkswap.txt && swap=$keep/swapfile &&
	{ echo 33554432 >"$group/memory.limit_in_bytes" || echo 33554432 >"$group/memory.max"; } 2>/dev/null
then one memory '% waiting for a disk .swap.'
else
	echo "skip memory: $(tail -n 1 mkswap.txt)"
	end
fi
for at in /sys/fs/cgroup/blkio /sys/fs/cgroup
do
	[ -z "$group" ] && mkdir "$at/situations" 2>/dev/null && group=$at/situations
done
dev=$(stat -c '%Hd:%Ld' "$keep")
if [ -n "$group" ] && dd if=/dev/urandom of=slow bs=1M count=16 conv=fsync 2>/dev/null &&
	{ echo "$dev 8388608" >"$group/blkio.throttle.read_bps_device" ||
		echo "$dev rbps=8388608" >"$group/io.max"; } 2>/dev/null
then one slow-disk ': [0-9.]+ % waiting for a disk in pread64 of descriptor [0-9]+ .*/slow'
else
	echo "skip slow-disk: a disk may not be made slow"
	end
fi
one convoy ': [0-9.]+ % waiting for a lock that its own threads released'
one dns ': [0-9.]+ % waiting for a timeout .poll. in poll of descriptor [0-9]+ .udp:127.0.0.1:'
[ -n "$KEEP" ] || rm -rf "$keep"
