#!/bin/bash
# hosts.sh - the same answers on machines of another kind: i386 (32 bits), arm64 and s390x (big-endian).
# usage: tests/hosts.sh FOLDER [i386|arm64|s390x...]
#
# Builds with Debian's cross compilers against the libraries of that machine, which debootstrap fetches to FOLDER/ARCH,
# and runs the result under user emulation (qemu-user-static; i386 on x86-64 by itself): all unit tests, or
# those in $UNITS, all cases, and `script` of the captures below and their databases, whose bytes must be those of
# build/backstitch here. Without libbabeltrace2, libcurl, libdebuginfod and libncursesw. Needs root, debootstrap,
# qemu-user-static, gcc-i686-linux-gnu, gcc-aarch64-linux-gnu and gcc-s390x-linux-gnu; run by hand, not part of make
# check. The mirror is $MIRROR, otherwise the first one in the apt configuration of this system.
set -u
cd "$(dirname "$0")/.." || exit 2
dir=$(realpath -m "${1:?usage: tests/hosts.sh FOLDER [i386|arm64|s390x...]}")
shift
[ $# -gt 0 ] || set -- i386 arm64 s390x
here=${O:-build}/backstitch
rc=0
captures="z-defer.data fp-1.data arm64-fp-leaf.data ftrace-v7.dat s390x-z.data
	pipe-zstd.data v72-zstd.data m32.data two-e.data naps.data regs.data"
packages=libc6-dev,libsqlite3-dev,libarchive-dev,libelf-dev,libdw-dev
packages=$packages,libzstd-dev,zlib1g-dev,liblzma-dev,libjson-c-dev
packages=$packages,libcapstone-dev,libiberty-dev,check

# result NAME: ok or not ok by the status of the last command, which a command in NAME would change
result() {
	local status=$?
	if [ $status = 0 ]
	then
		echo "ok $1"
	else
		echo "not ok $1"
		rc=1
	fi
	return $status
}

mirror() {
	# shellcheck disable=SC2016 # apt's own placeholder
	apt-get indextargets --format '$(SITE)' 'Codename: bookworm' \
		'Created-By: Packages' 2>/dev/null | sort -u | head -n 1
}

# fetch ARCH: unpacks the libraries; nothing of it is run but by the tests
fetch() {
	[ ! -f "$dir/$1/done" ] || return 0
	rm -rf "${dir:?}/$1"
	mkdir -p "$dir/$1"
	debootstrap --foreign --arch="$1" --variant=minbase \
		--include="$packages" bookworm "$dir/$1" \
		"${MIRROR:-$(mirror)}" >"$dir/$1.log" 2>&1 || return 1
	for deb in "$dir/$1"/var/cache/apt/archives/*.deb
	do
		dpkg-deb -x "$deb" "$dir/$1" || return 1
	done
	touch "$dir/$1/done"
}

# build ARCH TRIPLET COMPILER TARGET...
build() {
	local root=$dir/$1 lib=$dir/$1/usr/lib/$2
	local cc="$3-gcc --sysroot=$root"
	local flags="-Wl,-rpath-link,$root/lib/$2:$lib"
	# it has no emulator, and runs by itself
	[ ${#run[@]} -gt 0 ] || flags="-Wl,-rpath,$root/lib/$2:$lib \
		-Wl,--dynamic-linker,$root/lib/ld-linux.so.2"
	shift 3
	PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_LIBDIR=$lib/pkgconfig:$root/usr/share/pkgconfig \
		nice make -j"$(nproc)" O="$out" CC="$cc" RUN="${run[*]}" LTO= \
		BABELTRACE= DEBUGINFOD= CURL= NCURSES= LDFLAGS="$flags" "$@" \
		>>"$out.log" 2>&1
}

# on_host ARCH TRIPLET COMPILER EMULATOR...
on_host() {
	local arch=$1 name f
	local units=() run=("${@:4}")

	out=$dir/build-$arch
	fetch "$arch"
	result "$arch: libraries" || return
	for f in ${UNITS:-$(basename -s .c tests/unit/*.c)}
	do
		units+=("$out/unit/$f")
	done
	: >"$out.log"
	build "$arch" "$2" "$3" "$out/backstitch" "${units[@]}"
	result "$arch: builds" || return
	for f in "${units[@]}"
	do
		CK_DEFAULT_TIMEOUT=600 timeout 900 "${run[@]}" "$f" \
			>"$out.unit" 2>&1
		result "$arch: unit/${f##*/}"
		grep -a ':[FE]:' "$out.unit"
	done
	printf '#!/bin/sh\nexec %s "$@"\n' "${run[*]} $out/backstitch" >"$out/run"
	chmod +x "$out/run"
	BACKSTITCH=$out/run MKCAP=${here%/*}/mkcap tests/cases/run.sh >"$out.cases" 2>&1
	result "$arch: cases"
	grep -c '^ok' "$out.cases"
	grep '^not ok' "$out.cases"
	for name in $captures
	do
		"$here" script --no-symbols "tests/captures/$name" \
			>"$out.here" 2>&1
		"$out/run" script --no-symbols \
			"tests/captures/$name" >"$out.there" 2>&1
		cmp "$out.here" "$out.there"
		result "$arch: the same bytes of script for $name"
		rm -f "$out".*.db
		set -- ingest -q --no-cache --symfs tests/captures/symfs
		"$here" "$@" -o "$out.here.db" "tests/captures/$name" \
			>"$out.here" 2>&1
		"$out/run" "$@" -o "$out.there.db" \
			"tests/captures/$name" >"$out.there" 2>&1
		cmp "$out.here.db" "$out.there.db" && cmp "$out.here" "$out.there"
		result "$arch: the same database of $name"
	done
}

for host
do
	case $host in
	i386)
		on_host i386 i386-linux-gnu i686-linux-gnu
		;;
	arm64)
		on_host arm64 aarch64-linux-gnu aarch64-linux-gnu \
			qemu-aarch64-static -L "$dir/arm64"
		;;
	s390x)
		on_host s390x s390x-linux-gnu s390x-linux-gnu \
			qemu-s390x-static -L "$dir/s390x"
		;;
	*)
		echo "no host '$host'" >&2
		exit 2
		;;
	esac
done
exit $rc
