#!/bin/bash
# fresh.sh - runs make demo, make check or another target on systems that have only make and git.
# usage: tests/fresh.sh FOLDER [SYSTEM [TARGET...]]; SYSTEM: bookworm (Debian 12), trixie (13), sid
#
# TARGET, demo and check without one, may have variables: 'builds B=c11,clang'.
# After demo comes the README's second command, make and make install.
# Says the minutes of each. Needs root and debootstrap; run by hand, not part of
# make check. The base systems are kept as FOLDER/SYSTEM.tar and reused. Their
# mirror is $MIRROR, otherwise the first one in the apt configuration of this
# system.
set -eu
dir=$(realpath -m "${1:?usage: tests/fresh.sh FOLDER [SYSTEM [TARGET...]]}")
system=${2:-}
shift $(($# < 2 ? $# : 2))
if [ -z "$system" ]
then
	rc=0
	for system in bookworm trixie sid
	do
		"$0" "$dir" "$system" || rc=1
	done
	exit $rc
fi
[ $# -gt 0 ] || set -- demo check
here=$(cd "$(dirname "$0")/.." && pwd)
mkdir -p "$dir"

mirror() {
	if [ -n "${MIRROR:-}" ]
	then
		echo "$MIRROR"
		return
	fi
	# shellcheck disable=SC2016 # apt's own placeholder
	apt-get indextargets --format '$(SITE)' 'Codename: bookworm' \
		'Created-By: Packages' 2>/dev/null | sort -u | head -n 1
}

root=$dir/root
# unmount PATH [OPTION]: what was started there may end a moment later
unmount() {
	mountpoint -q "$1" || return 0
	for _ in 1 2 3 4 5 6 7 8 9 10
	do
		# shellcheck disable=SC2086 # none, or one
		umount ${2:-} "$1" 2>/dev/null && return
		sleep 1
	done
	umount "$1"
}
umount_all() {
	unmount "$root/proc"
	unmount "$root/sys" -R
	unmount "$root/dev" -R
	unmount "$root"
}
trap umount_all EXIT

if [ ! -f "$dir/$system.tar" ]
then
	url=$(mirror)
	[ -n "$url" ] || { echo "no mirror known: set MIRROR" >&2; exit 1; }
	rm -rf "$dir/new"
	debootstrap --variant=minbase --include=make,git,ca-certificates \
		"$system" "$dir/new" "$url"
	# The new system needs the same settings to reach the mirror.
	cp -r /etc/apt/apt.conf.d/. "$dir/new/etc/apt/apt.conf.d/"
	# Quicker, and a package whose settings are those of the system outside
	# does not ask which to take.
	printf 'force-unsafe-io\nforce-confold\n' >"$dir/new/etc/dpkg/dpkg.cfg.d/quick"
	tar -C "$dir/new" -cf "$dir/$system.tar" .
	rm -rf "$dir/new"
fi

in_root() {	# in_root COMMAND...
	chroot "$root" env -i HOME=/root \
		PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
		${http_proxy:+http_proxy="$http_proxy"} \
		${https_proxy:+https_proxy="$https_proxy"} "$@" </dev/null
}

rc=0
for target
do
	umount_all
	rm -rf "$root"
	mkdir -p "$root"
	tar -C "$root" -xf "$dir/$system.tar"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	cp /etc/hosts "$root/etc/hosts"
	# Makes the root a mount point, so that tests can use mount namespaces.
	mount --bind "$root" "$root"
	mount --make-private "$root"
	mount -t proc proc "$root/proc"
	# Without it, perf 6.12 records no sample; tracefs and cgroups are in it.
	mount --rbind /sys "$root/sys"
	mount --make-rslave "$root/sys"
	mount --rbind /dev "$root/dev"
	mount --make-rslave "$root/dev"
	git clone -q "$here" "$root/src/backstitch"
	echo "== make $target on a fresh $system"
	began=$SECONDS
	# shellcheck disable=SC2086 # a target and its variables are words
	if in_root make -C /src/backstitch $target &&
		{ [ "$target" != demo ] || in_root sh -c 'cd /src/backstitch &&
			make && make install && backstitch --version'; }
	then
		echo "== make $target on $system: done in $(((SECONDS - began) / 60)) min"
	else
		echo "== make $target on $system: FAILED"
		rc=1
	fi
done
exit $rc
