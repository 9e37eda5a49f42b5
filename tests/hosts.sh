#!/bin/bash
# hosts.sh - the same answers on machines of another kind: i386 (32 bits), arm64 and s390x (big-endian).
# usage: tests/hosts.sh FOLDER [i386|arm64|s390x...]
#
# Builds with Debian's cross compilers against the libraries of that machine, which debootstrap fetches to FOLDER/ARCH,
# and runs the result under user emulation (qemu-user-static; i386 on x86-64 by itself): all unit tests, or
# those in $UNITS, all cases, and `script` of each capture of the clone and their databases, whose bytes must be those
# of $O/backstitch here. The vdso and the symbols of this kernel, which a program of another kind does not see, are files for both.
# Fields of CTF have the byte order of the machine that read them, and the database says which: one from a big-endian
# machine must give here the same bytes of `script`.
# Without libbabeltrace2, libcurl, libdebuginfod and libncursesw. The last line of a host says how many passed, in how
# many minutes. Needs root, debootstrap, qemu-user-static, gcc-i686-linux-gnu,
# gcc-aarch64-linux-gnu and gcc-s390x-linux-gnu; run by hand, not part of make check. The mirror is $MIRROR, otherwise
# the first one in the apt configuration of this system.
set -u
cd "$(dirname "$0")/.." || exit 2
dir=$(realpath -m "${1:?usage: tests/hosts.sh FOLDER [i386|arm64|s390x...]}")
shift
[ $# -gt 0 ] || set -- i386 arm64 s390x
O=${O:-build}
here=$PWD/$O/backstitch
rc=0
passed=0
failed=0
export LC_ALL=C TZ=UTC NO_COLOR=1 BACKSTITCH_NO_SYNC=1 HOME=$dir/home
export MKCAP=$PWD/$O/mkcap MKFTRACE=$PWD/$O/mkftrace
unset XDG_CACHE_HOME DEBUGINFOD_URLS
mkdir -p "$HOME"
captures=(tests/captures/*.data* tests/captures/*.dat tests/captures/*.dat.zst
	tests/captures/ftext-*.txt* tests/captures/ctf-discard/trace)
packages=libc6-dev,libsqlite3-dev,libarchive-dev,libelf-dev,libdw-dev
packages=$packages,libzstd-dev,zlib1g-dev,liblzma-dev,libjson-c-dev
packages=$packages,libcapstone-dev,libiberty-dev,check

# result NAME: ok or not ok by the status of the last command, which a command in NAME would change
result() {
	local status=$?
	if [ $status = 0 ]
	then
		echo "ok $1"
		passed=$((passed + 1))
	else
		echo "not ok $1"
		failed=$((failed + 1))
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
	# It has no emulator, and runs by itself. RUNPATH, which ld writes
	# otherwise, is not asked for the libraries of libraries.
	[ ${#run[@]} -gt 0 ] || flags="-Wl,-rpath,$root/lib/$2:$lib \
		-Wl,--disable-new-dtags \
		-Wl,--dynamic-linker,$root/lib/ld-linux.so.2"
	shift 3
	PKG_CONFIG_SYSROOT_DIR=$root \
		PKG_CONFIG_LIBDIR=$lib/pkgconfig:$root/usr/share/pkgconfig \
		nice -n 5 make -j"$(nproc)" O="$out" CC="$cc" RUN="${run[*]}" LTO= \
		BABELTRACE= DEBUGINFOD= CURL= NCURSES= LDFLAGS="$flags" "$@" \
		>>"$out.log" 2>&1
}

# units NAME...: each of them, as many at a time as there are processors
units() {
	local f
	# shellcheck disable=SC2016 # of the inner shell
	printf '%s\n' "$@" | CK_DEFAULT_TIMEOUT=300 CK_TIMEOUT_MULTIPLIER=12 \
		xargs -P "$(nproc)" -I{} sh -c '
		f=$1
		shift
		timeout 3600 "$@" "$f" >"$f.log" 2>&1
		echo $? >"$f.status"' sh "$out/unit/{}" "${run[@]}"
	for f
	do
		(exit "$(cat "$out/unit/$f.status")")
		result "$arch: unit/$f" || tail -n 5 "$out/unit/$f.log"
		grep -a ':[FE]:' "$out/unit/$f.log"
	done
}

cases() {
	BACKSTITCH=$out/run tests/cases/run.py >"$out.cases" 2>&1
	result "$arch: cases, $(grep -c '^ok' "$out.cases") of them ok"
	grep '^not ok' "$out.cases"
}

# same CAPTURE
same() {
	local name=${1#tests/captures/}
	local ingest=(ingest -q --no-cache --symfs tests/captures/symfs)

	"$here" script --no-symbols "$1" >"$out.here" 2>&1
	"$out/run" script --no-symbols "$1" >"$out.there" 2>&1
	cmp "$out.here" "$out.there"
	result "$arch: the same bytes of script for $name"
	rm -f "$out".*.db
	"$here" "${ingest[@]}" -o "$out.here.db" "$1" >"$out.here" 2>&1
	"$out/run" "${ingest[@]}" -o "$out.there.db" "$1" >"$out.there" 2>&1
	if [ "$arch" = s390x ] && [ -e "$1/metadata" ]
	then
		"$here" script --no-symbols "$out.here.db" >"$out.here" 2>&1
		"$here" script --no-symbols "$out.there.db" >"$out.there" 2>&1
		cmp "$out.here" "$out.there"
		result "$arch: the same bytes of script for the database of $name"
		return
	fi
	cmp "$out.here.db" "$out.there.db" && cmp "$out.here" "$out.there"
	result "$arch: the same database of $name"
}

# on_host ARCH TRIPLET COMPILER EMULATOR...
on_host() {
	local arch=$1 f began=$SECONDS
	local names run=("${@:4}")

	passed=0
	failed=0

	read -r -a names <<<"${UNITS:-$(basename -s .c tests/unit/*.c | xargs)}"
	out=$dir/build-$arch
	fetch "$arch"
	result "$arch: libraries" || return
	: >"$out.log"
	build "$arch" "$2" "$3" "$out/backstitch" "${names[@]/#/$out/unit/}"
	result "$arch: builds" || return
	printf '#!/bin/sh\nexec %s "$@"\n' "${run[*]} $out/backstitch" >"$out/run"
	chmod +x "$out/run"
	# programs of that machine, for tests that call them
	mkdir -p "$dir/bin-$arch"
	ln -sf "$(command -v "$3-objcopy")" "$dir/bin-$arch/objcopy"
	PATH=$dir/bin-$arch:$PATH units "${names[@]}"
	cases
	for f in "${captures[@]}"
	do
		same "$f"
	done
	echo "$arch: $passed passed, $failed failed in" \
		"$(((SECONDS - began + 30) / 60)) min"
}

# keep NAME ID: the file $HOME/NAME, where a perf on this machine keeps it
keep() {
	local at=$HOME/.debug/.build-id/${2:0:2}/${2:2}

	[ "$2" ] && mkdir -p "$at" && mv "$HOME/$1" "$at/$1"
}

# keep_kernel: the vdso and the symbols of this kernel; a program of 32 bits has another vdso, one under emulation none,
# and the notes of a kernel with the other byte order
keep_kernel() {
	python3 - "$HOME/vdso" <<-'EOT' || return
	import sys
	for line in open("/proc/self/maps"):
	    if line.endswith("[vdso]\n"):
	        at, end = (int(x, 16) for x in line.split()[0].split("-"))
	        with open("/proc/self/mem", "rb") as mem:
	            mem.seek(at)
	            open(sys.argv[1], "wb").write(mem.read(end - at))
	EOT
	keep vdso "$(readelf -n "$HOME/vdso" | sed -n 's/.*Build ID: //p')" &&
		cat /proc/kallsyms >"$HOME/kallsyms" &&
		keep kallsyms "$(od -An -v -tx1 /sys/kernel/notes | tr -d ' \n' |
			sed -n 's/.*040000001400000003000000474e5500\(.\{40\}\).*/\1/p')"
}

make -j"$(nproc)" LTO= O="$O" "$O/backstitch" mkcap >/dev/null
result "here: builds" || exit
keep_kernel
result "here: the vdso and symbols of the kernel" || exit
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
