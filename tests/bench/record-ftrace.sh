#!/bin/sh
# record-ftrace.sh - records a trace.dat with a kernel stack on every event.
# usage: tests/bench/record-ftrace.sh FILE LOAD SECONDS; needs root
#
# In a buffer of its own, so that nobody's tracing is disturbed. Locked-down
# kernels refuse to have the function tracer's files opened, which trace-cmd
# does before every recording though it has no use for them here: in a mount
# namespace of our own, plain files take their place.
[ $# -eq 3 ] || exit 2
[ -n "$RECORD_FTRACE" ] ||
	RECORD_FTRACE=1 exec unshare -m "$0" "$@"

name=backstitch_bench
top=/sys/kernel/tracing
own=$top/instances/$name
dir=$(mktemp -d) || exit 1

hide() {	# hide FILE...
	for f
	do
		[ ! -e "$f" ] || mount --bind "$dir/${f##*/}" "$f"
	done
}

mount | grep -q " on $top " || mount -t tracefs nodev "$top" || exit 1
mkdir -p "$own" || exit 1
echo 1 >"$dir/ftrace_enabled"
hide /proc/sys/kernel/ftrace_enabled
for f in filter notrace pid notrace_pid
do
	: >"$dir/set_ftrace_$f"
	hide "$top/set_ftrace_$f" "$own/set_ftrace_$f"
done
trace-cmd record -B $name -b 200000 -T --compression none -o "$1" \
	-e sched -e irq -e timer -e raw_syscalls -e kmem \
	sh -c "timeout $3 find / -xdev -size +900k >/dev/null & '$2' $3 2; wait"
rc=$?
# trace-cmd may have removed it
umount "$own"/set_ftrace_* 2>/dev/null
rmdir "$own" 2>/dev/null
rm -r "$dir"
exit $rc
