#!/bin/bash
# packages.sh - builds the packages in clean systems: Debian's in 12, 13 and sid, twice and compared, and the RPM.
# usage: tests/packages.sh FOLDER [bookworm|trixie|sid|rpm...]
#
# Debian: `make dist`, dpkg-buildpackage (with its tests), lintian, hardening-check, autopkgtest with the
# installed package, and a second build with another folder, user, time zone and locale, compared by diffoscope.
# The linker marks a program for control-flow protection only if all that it links is marked; crt1.o of Debian is not. The
# other mark, of branches, is AArch64's. Whether bytes of code look like a word spelt wrong depends on the compiler, so
# not every system uses its override, nor knows each tag that is overridden; sid's lintian cannot be asked to be silent
# about that. Priority and Rules-Requires-Root are needed by Debian 12 and called redundant by sid, whose tags Debian 12's
# lintian does not let an override name.
# rpm: the spec, by Debian's rpmbuild. Prints a table; logs are in FOLDER. Needs root and debootstrap; run by hand.
# $DEB_BUILD_OPTIONS, such as nocheck, is for the first build too.
# The mirror is $MIRROR, otherwise the first one in the apt configuration of this system.
set -u
cd "$(dirname "$0")/.." || exit 2
dir=$(realpath -m "${1:?usage: tests/packages.sh FOLDER [bookworm|trixie|sid|rpm...]}")
shift
[ $# -gt 0 ] || set -- bookworm trixie sid rpm
mkdir -p "$dir"
# Not by --suppress-tags: a lintian that does not know a tag of it ends at once.
LEFT_OUT='unused-override|redundant-priority-optional-field|redundant-rules-requires-root-no-field'
rc=0
status=0
version=$(sed -n 's/^#define VERSION "\(.*\)"/\1/p' cli/version.h)
src=backstitch-$version
root=
# shellcheck disable=SC2317 # by trap
clean() {
	[ -z "$root" ] || umount -R "$root/proc" "$root/dev" 2>/dev/null
}
trap clean EXIT

mirror() {
	# shellcheck disable=SC2016 # apt's own placeholder
	apt-get indextargets --format '$(SITE)' 'Codename: bookworm' \
		'Created-By: Packages' 2>/dev/null | sort -u | head -n 1
}

# row SYSTEM WHAT RESULT...: a line of the table, by $status; a command in RESULT would change that of the last one
row() {
	local what=ok
	[ $status = 0 ] || { what=FAILED; rc=1; }
	printf '%-10s %-28s %-7s %s\n' "$1" "$2" "$what" "${*:3}"
	return $status
}

inside() {
	chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root \
		DEBIAN_FRONTEND=noninteractive JOBS="$(nproc)" \
		${http_proxy:+http_proxy="$http_proxy"} \
		${https_proxy:+https_proxy="$https_proxy"} "$@" </dev/null
}

# system NAME: a clean Debian with what the build asks for, kept for the next run
system() {
	root=$dir/$1
	if [ ! -f "$root/made" ]
	then
		rm -rf "$root"
		debootstrap --variant=minbase --include=ca-certificates "$1" \
			"$root" "${MIRROR:-$(mirror)}" >"$dir/$1.log" 2>&1 ||
			return 1
		cp -r /etc/apt/apt.conf.d/. "$root/etc/apt/apt.conf.d/"
		printf 'force-unsafe-io\nforce-confold\n' \
			>"$root/etc/dpkg/dpkg.cfg.d/quick"
	fi
	cp -L /etc/resolv.conf "$root/etc/resolv.conf" 2>/dev/null
	cp /etc/hosts "$root/etc/hosts"
	mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
	mountpoint -q "$root/dev" || mount --rbind --make-rslave /dev "$root/dev"
	[ ! -f "$root/made" ] || return 0
	mkdir -p "$root/src" && cp -r debian "$root/src/" &&
		inside sh -c 'apt-get -qq update &&
		apt-get -qq install -y --no-install-recommends dpkg-dev \
			fakeroot lintian devscripts diffoscope-minimal \
			autopkgtest &&
		cd /src && apt-get -qq build-dep -y ./' \
			>>"$dir/$1.log" 2>&1 &&
		touch "$root/made"
}

# build FOLDER ENVIRONMENT...: the package, by a user without rights
build() {
	local at=$1
	shift
	inside sh -c "rm -rf $at && mkdir -p $at && cd $at &&
		tar -xzf /src/backstitch_$version.orig.tar.gz &&
		cp /src/backstitch_$version.orig.tar.gz . &&
		id builder >/dev/null 2>&1 || useradd -m builder
		chown -R builder $at" &&
		inside setpriv --reuid builder --regid builder --clear-groups \
			env "HOME=$at" "$@" sh -c "cd $at/$src &&
			dpkg-buildpackage -us -uc"
}

same_debs() {
	local deb
	for deb in "$root"/build/one/*.deb
	do
		inside diffoscope --text - "/build/one/${deb##*/}" \
			"/build/another/place/${deb##*/}" || return 1
	done
}

on_debian() {
	local name=$1 log=$dir/$1.log began deb

	began=$SECONDS
	system "$name"
	status=$?
	row "$name" "system" "$((SECONDS - began)) s" || return
	rm -rf "$root/src" && mkdir "$root/src"
	cp "$dir/$src.tar.gz" "$root/src/backstitch_$version.orig.tar.gz"
	began=$SECONDS
	build /build/one "DEB_BUILD_OPTIONS=parallel=$(nproc) ${DEB_BUILD_OPTIONS:-}" \
		>"$log" 2>&1
	status=$?
	row "$name" "dpkg-buildpackage" "$((SECONDS - began)) s," \
		"$(grep -aE '^[0-9]+ passed, [0-9]+ failed$' "$log" | tail -n 1)," \
		"$(inside gcc --version | head -n 1 | sed 's/.* //')" || return
	inside sh -c 'cd /build/one && lintian -EvIL +pedantic \
		--fail-on none --show-overrides *.changes' \
		>"$dir/$name.lintian" 2>/dev/null
	status=$?
	grep -E '^[EWIPX]: ' "$dir/$name.lintian" |
		grep -vE ": ($LEFT_OUT)( |$)" >"$dir/$name.tags"
	cat "$dir/$name.tags"
	[ ! -s "$dir/$name.tags" ] || status=1
	row "$name" "lintian" "$(wc -l <"$dir/$name.tags") tags," \
		"$(grep -cE '^O: ' "$dir/$name.lintian") overridden"
	# shellcheck disable=SC2016 # that of the other system
	inside sh -c 'cd /build/one && rm -rf x && dpkg-deb -x backstitch_*.deb x &&
		hardening-check --nocfprotection \
			$(hardening-check --help | grep -o -- --nobranchprotection) \
			x/usr/bin/backstitch \
			x/usr/lib/*/backstitch/backstitch_sql.so \
			x/usr/lib/*/babeltrace2/plugins/*.so' >"$dir/$name.hardening" 2>&1
	status=$?
	row "$name" "hardening-check"
	began=$SECONDS
	inside sh -c "cd /build/one && autopkgtest *.changes -- null" \
		>"$dir/$name.autopkgtest" 2>&1
	status=$?
	row "$name" "autopkgtest" "$((SECONDS - began)) s," \
		"$(grep -aE '^installed +(PASS|FAIL)' "$dir/$name.autopkgtest" |
			tail -n 1)"
	inside apt-get -qq purge -y backstitch >/dev/null 2>&1
	build /build/another/place DEB_BUILD_OPTIONS=nocheck TZ=Asia/Tokyo \
		LC_ALL=C.UTF-8 USER=other >"$dir/$name.again" 2>&1 &&
		same_debs >"$dir/$name.diffoscope" 2>&1
	status=$?
	row "$name" "the same bytes again"
	clean
}

on_rpm() {
	local top=$dir/rpm began=$SECONDS

	rm -rf "$top" && mkdir -p "$top/SOURCES"
	cp "$dir/$src.tar.gz" "$top/SOURCES/"
	# Debian's sh has no "read -d", by which this script of rpm finds manual pages
	rpmbuild --nodeps --define "_topdir $top" \
		--define '__brp_compress bash /usr/lib/rpm/brp-compress /usr' \
		-ba packaging/backstitch.spec >"$dir/rpm.log" 2>&1
	status=$?
	row rpm rpmbuild "$((SECONDS - began)) s" || return
	rpmlint -r packaging/backstitch.rpmlintrc packaging/backstitch.spec "$top"/RPMS/*/*.rpm \
		>"$dir/rpm.rpmlint" 2>&1
	status=$?
	row rpm rpmlint "$(tail -n 1 "$dir/rpm.rpmlint")"
}

make -s dist DIST="$dir" >/dev/null || exit 1
for system
do
	case $system in
	rpm) on_rpm ;;
	*) on_debian "$system" ;;
	esac
done
exit $rc
