#!/bin/sh
# newer.sh - perf, trace-cmd and babeltrace2 of Debian unstable: the fastest is measured against.
# usage: tests/bench/newer.sh [PROGRAM...]; prints a command for each that there is
#
# They are installed into bench/sid by debootstrap, once; to get newer ones, remove that folder.
# bench/sid/newest has the perf of Debian experimental, which is often a version ahead.
# $BENCH_SID is a folder with such a system, which is then used as it is. The programs run with
# its loader and libraries outside of it: so they see the same files as ours. Without root,
# without a network, or with BENCH_SID= there are none, which is said.
cd "$(dirname "$0")/../.." || exit 2
sid=${BENCH_SID-$PWD/bench/sid}
[ $# -gt 0 ] || set -- perf trace-cmd babeltrace2

no() {
	echo "only the installed version: $1" >&2
	exit 0
}

[ "$sid" ] || no "BENCH_SID is empty"
if ! [ -x "$sid/usr/bin/perf" ]
then
	[ "${BENCH_SID+set}" ] && no "no usr/bin/perf in $sid"
	[ "$(id -u)" = 0 ] || no "to get a newer one needs root"
	command -v debootstrap >/dev/null || no "install debootstrap"
	mkdir -p bench && rm -rf "$sid.new"
	echo "installing perf, trace-cmd and babeltrace2 of Debian unstable into $sid" >&2
	debootstrap --variant=minbase \
		--include=linux-perf,trace-cmd,babeltrace2 sid "$sid.new" \
		"${BENCH_MIRROR:-http://deb.debian.org/debian}" \
		>bench/sid.log 2>&1 || no "see bench/sid.log"
	echo "deb ${BENCH_MIRROR:-http://deb.debian.org/debian} experimental main" \
		>"$sid.new/etc/apt/sources.list.d/experimental.list"
	# a mirror of an earlier day may be past the date of its lists
	chroot "$sid.new" sh -c 'apt-get update \
			-o Acquire::Check-Valid-Until=false && cd /tmp &&
		apt-get download linux-perf/experimental &&
		dpkg -x linux-perf_*.deb /newest' >>bench/sid.log 2>&1 ||
		echo "no perf of Debian experimental: see bench/sid.log" >&2
	mv "$sid.new" "$sid"
fi
multi=$(${CC:-gcc} -print-multiarch)
for loader in "$sid"/lib64/ld-*.so.* "$sid"/lib/ld-*.so.*
do
	[ -x "$loader" ] && break
done
[ -x "$loader" ] || no "no loader in $sid"
lib=$sid/usr/lib/$multi
wrap() {	# wrap FOLDER NAME
	[ -x "$1/usr/bin/$program" ] || return
	mkdir -p bench
	options=
	# its plugins, not those of the installed version
	[ "$program" = babeltrace2 ] &&
		options="--omit-system-plugin-path --plugin-path $lib/babeltrace2/plugins"
	cat >"bench/$2-$program" <<-EOT
	#!/bin/sh
	TRACEEVENT_PLUGIN_DIR=$lib/traceevent/plugins
	export TRACEEVENT_PLUGIN_DIR
	exec "$loader" --argv0 $program --library-path \\
		"$lib:$sid/usr/lib" "$1/usr/bin/$program" $options "\$@"
	EOT
	chmod +x "bench/$2-$program"
	echo "bench/$2-$program"
}

for program
do
	wrap "$sid" newer ||
		echo "only the installed $program: no usr/bin/$program in $sid" >&2
	wrap "$sid/newest" newest
done
exit 0
