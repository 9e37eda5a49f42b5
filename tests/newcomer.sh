#!/bin/bash
# newcomer.sh - how long it takes from apt-get install to the hot function of a C++ program, on a system that has neither.
# usage: tests/newcomer.sh FOLDER PACKAGE.deb [SYSTEM]; SYSTEM: bookworm (Debian 12) without one
#
# PACKAGE.deb is of that system, as tests/packages.sh leaves it in FOLDER/bookworm/build/one. The program is built before
# the clock runs. Two commands are then timed, as a newcomer gives them, and the table must have the function in which the
# program spends its time, with whole stacks. Needs root, debootstrap and a kernel that lets perf record; run by hand. The base
# system is kept as FOLDER/SYSTEM-base.tar. Its mirror is $MIRROR, otherwise the first one of this system's apt.
set -eu
dir=$(realpath -m "${1:?usage: tests/newcomer.sh FOLDER PACKAGE.deb [SYSTEM]}")
deb=$(realpath "${2:?usage: tests/newcomer.sh FOLDER PACKAGE.deb [SYSTEM]}")
system=${3:-bookworm}
root=$dir/root
mkdir -p "$dir"

umount_all() {
	for part in sys proc dev
	do
		if mountpoint -q "$root/$part"
		then
			umount -R "$root/$part"
		fi
	done
}
trap umount_all EXIT

if [ ! -f "$dir/$system-base.tar" ]
then
	# shellcheck disable=SC2016 # apt's own placeholder
	url=${MIRROR:-$(apt-get indextargets --format '$(SITE)' \
		'Created-By: Packages' | sort -u | head -n 1)}
	rm -rf "$dir/new"
	debootstrap --variant=minbase --include=ca-certificates "$system" \
		"$dir/new" "$url" >"$dir/debootstrap.log"
	cp -r /etc/apt/apt.conf.d/. "$dir/new/etc/apt/apt.conf.d/"
	tar -C "$dir/new" -cf "$dir/$system-base.tar" .
	rm -rf "$dir/new"
fi
umount_all
rm -rf "$root"
mkdir -p "$root"
tar -C "$root" -xf "$dir/$system-base.tar"
cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
cp /etc/hosts "$root/etc/hosts"
mount -t proc proc "$root/proc"
for part in dev sys
do
	mount --rbind --make-rslave "/$part" "$root/$part"
done

inside() {
	chroot "$root" env -i HOME=/root PATH=/usr/sbin:/usr/bin:/sbin:/bin \
		DEBIAN_FRONTEND=noninteractive \
		${http_proxy:+http_proxy="$http_proxy"} \
		${https_proxy:+https_proxy="$https_proxy"} \
		sh -c "cd /root && $1" </dev/null
}

# what the newcomer has: a program, its compiler, fresh lists of packages
cat >"$root/root/program.cc" <<'EOT'
#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <string>
#include <vector>
struct order {
	std::string customer;
	int cents;
};
static bool by_customer(const order &a, const order &b) { return a.customer < b.customer; }
static void sort_orders(std::vector<order> &v) { std::sort(v.begin(), v.end(), by_customer); }
int main(int, char **argv)
{
	std::vector<order> v;
	for (clock_t end = clock() + std::atoi(argv[1]) * CLOCKS_PER_SEC; clock() < end; v.clear()) {
		for (int i = 0; i < 20000; i++)
			v.push_back({ "customer of the shop " + std::to_string(rand()), i });
		sort_orders(v);
	}
}
EOT
cp "$deb" "$root/root/"
inside 'apt-get -qq update && apt-get -qq install -y g++ &&
	g++ -O2 -g -o program program.cc' >"$dir/before.log" 2>&1

# timed COMMAND: runs it and says how long that took
timed() {
	local began
	began=$(date +%s%N)
	inside "$1" >"$dir/log" 2>&1 || { cat "$dir/log"; echo "FAILED: $1"; exit 1; }
	awk -v ns=$(($(date +%s%N) - began)) -v what="$1" \
		'BEGIN { printf "%6.1f s  %s\n", ns / 1e9, what }'
}
timed "apt-get install -y ./${deb##*/}"
timed 'backstitch record ./program 3'
cat "$dir/log"
# half of the time goes to sorting by the names of customers; that of memcmp() is libc's, which has no names of its own
if ! grep -qE '^(All|9[5-9][0-9.]* % of the)( [0-9,]+)? user stacks are whole' "$dir/log" ||
	! grep -qE ' by_customer +program$' "$dir/log"
then
	echo "FAILED: the screen has no whole stacks, or not the hot function"
	exit 1
fi
