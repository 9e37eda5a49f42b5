#!/bin/bash
# fresh.sh - runs both commands of the README on a Debian 12 that has only make and git.
# usage: tests/fresh.sh FOLDER [demo|check...]
#
# Needs root and debootstrap; run by hand, not part of make check. The base
# system is kept as FOLDER/base.tar and reused. Its mirror is $MIRROR, otherwise
# the first one in the apt configuration of this system.
set -eu
dir=$(realpath -m "${1:?usage: tests/fresh.sh FOLDER [demo|check...]}")
shift
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
umount_all() {
	mountpoint -q "$root/proc" && umount "$root/proc"
	mountpoint -q "$root/dev" && umount -R "$root/dev"
	mountpoint -q "$root" && umount "$root"
	return 0
}
trap umount_all EXIT

if [ ! -f "$dir/base.tar" ]
then
	url=$(mirror)
	[ -n "$url" ] || { echo "no mirror known: set MIRROR" >&2; exit 1; }
	rm -rf "$dir/new"
	debootstrap --variant=minbase --include=make,git,ca-certificates \
		bookworm "$dir/new" "$url"
	# The new system needs the same settings to reach the mirror.
	cp -r /etc/apt/apt.conf.d/. "$dir/new/etc/apt/apt.conf.d/"
	tar -C "$dir/new" -cf "$dir/base.tar" .
	rm -rf "$dir/new"
fi

rc=0
for target
do
	umount_all
	rm -rf "$root"
	mkdir -p "$root"
	tar -C "$root" -xf "$dir/base.tar"
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null || true
	cp /etc/hosts "$root/etc/hosts"
	# Makes the root a mount point, so that tests can use mount namespaces.
	mount --bind "$root" "$root"
	mount --make-private "$root"
	mount -t proc proc "$root/proc"
	mount --rbind /dev "$root/dev"
	mount --make-rslave "$root/dev"
	git clone -q "$here" "$root/src/backstitch"
	echo "== make $target on a fresh system"
	if chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		${http_proxy:+http_proxy="$http_proxy"} \
		${https_proxy:+https_proxy="$https_proxy"} \
		make -C /src/backstitch "$target" </dev/null
	then
		echo "== make $target: done"
	else
		echo "== make $target: FAILED"
		rc=1
	fi
done
exit $rc
