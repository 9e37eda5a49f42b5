#!/bin/sh
# deps.sh - lists the packages that backstitch needs, and installs missing ones
# with apt-get.
# Some tests read our exports with programs from npm. If npm is installed, their
# packages are put into $O/npm; otherwise those tests are skipped.
# usage: tests/deps.sh list|probe|install [build|all|bench]
#   probe: prints one line per missing library, and fails if there is any
#   install build: what compiling needs; all: also what tests and style need;
#   bench: also the programs that benchmarks compare with
# $BABELTRACE empty: a build without libbabeltrace2; $DEBUGINFOD, $CAPSTONE, $CURL,
# $NCURSES empty: one without that library

# The version of the system's clang, of which the runtime has the number in its name.
clang_of_system() {
	v=$(apt-cache show clang 2>/dev/null |
		sed -n 's/^Depends: clang-\([0-9]*\).*/\1/p' | head -n 1)
	echo "${v:-14}"
}

# package; kind of probe; what to look for; which target needs it
table() {
	cat <<-EOT
	gcc cmd ${CC:-gcc} build
	libc6-dev hdr stdio.h build
	pkg-config cmd ${PKG_CONFIG:-pkg-config} build
	libsqlite3-dev lib sqlite3:sqlite3.h build
	libarchive-dev lib libarchive:archive.h build
	libelf-dev lib libelf:libelf.h build
	libdw-dev lib libdw:dwarf.h build
	libzstd-dev lib libzstd:zstd.h build
	zlib1g-dev lib zlib:zlib.h build
	liblzma-dev lib liblzma:lzma.h build
	libjson-c-dev lib json-c:json.h build
	libcapstone-dev lib ${CAPSTONE-capstone}:capstone/capstone.h build
	libbabeltrace2-dev lib ${BABELTRACE-babeltrace2}:babeltrace2/babeltrace.h build
	libdebuginfod-dev lib ${DEBUGINFOD-libdebuginfod}:elfutils/debuginfod.h build
	libcurl4-openssl-dev lib ${CURL-libcurl}:curl/curl.h build
	libncurses-dev lib ${NCURSES-ncursesw}:curses.h build
	libiberty-dev hdr libiberty/demangle.h build
	check pc check all
	clang cmd clang all
	lld cmd ld.lld all
	libclang-rt-$(clang_of_system)-dev fuzzer - all
	clang-format-14 cmd clang-format-14 all
	shellcheck cmd shellcheck all
	universal-ctags cmd ctags all
	mandoc cmd mandoc all
	python3 cmd python3 all
	python3-jsonschema file /usr/lib/python3/dist-packages/jsonschema all
	sqlite3 cmd sqlite3 all
	jq cmd jq all
	babeltrace2 cmd babeltrace2 all
	gzip cmd gzip all
	locales file /usr/share/i18n/locales/tr_TR all
	zstd cmd zstd all
	xz-utils cmd xz all
	elfutils cmd eu-addr2line all
	chromium cmd chromium all
	chromium-headless-shell cmd chromium-headless-shell all
	chromium-driver cmd chromedriver all
	linux-perf cmd perf all
	strace cmd strace all
	tmux cmd tmux all
	clickhouse-server file /usr/sbin/clickhouse-server all
	trace-cmd cmd trace-cmd bench
	libtraceevent-dev pc libtraceevent bench
	libtracefs-dev pc libtracefs bench
	libtracecmd-dev pc libtracecmd bench
	debootstrap file /usr/sbin/debootstrap bench
	EOT
}

# name@version
npm_packages="speedscope@1.25.0 ajv@8.20.0 pprof-format@2.3.2
	@firefox-devtools/profiler-cli@0.10.0 @duckdb/node-api@1.5.6-r.1
	hyparquet@1.31.5 hyparquet-compressors@1.1.2"

npm_install() {
	command -v npm >/dev/null || return 0
	npm=${O:-build}/npm
	want=
	for p in $npm_packages
	do
		grep -qs "\"version\": \"${p##*@}\"" \
			"$npm/node_modules/${p%@*}/package.json" ||
			want="$want $p"
	done
	[ -n "$want" ] || return 0
	mkdir -p "$npm"
	# shellcheck disable=SC2086 # a list of words
	npm install --prefix "$npm" --no-package-lock --ignore-scripts \
		--no-audit --no-fund --loglevel=error $want >/dev/null ||
		echo "npm could not install$want: tests with them are skipped" >&2
}

has() {	# has KIND WHAT
	case $1 in
	cmd) command -v "$2" >/dev/null 2>&1 ;;
	hdr) echo "#include <$2>" |
		${CC:-gcc} -E -x c - >/dev/null 2>&1 ;;
	file) [ -e "$2" ] ;;
	pc) ${PKG_CONFIG:-pkg-config} --exists "$2" 2>/dev/null ;;
	lib) [ -z "${2%%:*}" ] || ${PKG_CONFIG:-pkg-config} --exists "${2%%:*}" 2>/dev/null ;;
	# what it would link; of clang 19 on, -print-runtime-dir is another folder
	fuzzer) f=$(clang -fsanitize=fuzzer -### -x c /dev/null 2>&1 |
		tr ' ' '\n' | tr -d '"' | grep -m 1 '/libclang_rt\.fuzzer') &&
		[ -e "$f" ] ;;
	esac
}

missing() {	# missing build|all|bench: "package kind what" per line
	table | while read -r package kind what who
	do
		case $1-$who in
		*-build | all-all | bench-*) ;;
		*) continue ;;
		esac
		has "$kind" "$what" || echo "$package $kind $what"
	done
}

# Debian 13 has no clang-format-14, of which our style is, and no ClickHouse.
in_system() {	# in_system build|all|bench: the lines of packages that apt knows
	while read -r package kind what
	do
		if [ "$1" != build ] &&
			[ -z "$(apt-cache show "$package" 2>/dev/null)" ]
		then
			echo "$package is not in this system:" \
				"tests with it are skipped" >&2
		else
			echo "$package $kind $what"
		fi
	done
}

case ${1:-list} in
list)
	table | cut -d' ' -f1
	;;
probe)
	missing build | {
		rc=0
		while read -r package kind what
		do
			rc=1
			case $kind in
			lib) what="${what#*:} / ${what%%:*}" ;;
			esac
			echo "$what not found: install $package," \
				"or run 'make deps'" >&2
		done
		exit $rc
	}
	;;
install)
	[ "${2:-all}" = build ] || npm_install
	want=$(missing "${2:-all}" | cut -d' ' -f1 | tr '\n' ' ')
	[ -n "$want" ] || exit 0
	echo "missing: $want"
	if ! command -v apt-get >/dev/null
	then
		echo "no apt-get here: install what these Debian packages" \
			"hold with your own package manager" >&2
		exit 1
	fi
	sudo=
	if [ "$(id -u)" != 0 ]
	then
		sudo=sudo
		if ! command -v sudo >/dev/null
		then
			echo "not root and no sudo: as root, run" \
				"apt-get install $want" >&2
			exit 1
		fi
	fi
	apt() {
		$sudo env DEBIAN_FRONTEND=noninteractive apt-get -qq \
			-o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 "$@" \
			</dev/null
	}
	# Tries the existing package list first, which may need no network.
	# shellcheck disable=SC2086 # a list of words
	apt install -y --no-install-recommends $want >/dev/null 2>&1 || {
		apt update || exit 1
		want=$(missing "${2:-all}" | in_system "${2:-all}" |
			cut -d' ' -f1 | tr '\n' ' ')
		apt install -y --no-install-recommends $want >/dev/null
	} || exit 1
	left=$(missing "${2:-all}" | in_system "${2:-all}" 2>/dev/null)
	if [ -n "$left" ]
	then
		echo "still missing: $left" >&2
		exit 1
	fi
	echo "installed: $want"
	;;
*)
	sed -n '6,10s/^# //p' "$0" >&2
	exit 2
	;;
esac
