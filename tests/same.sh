#!/bin/sh
# same.sh - compares the outputs of two versions of backstitch.
# usage: tests/same.sh [options] REV [CAPTURE...]
#        tests/same.sh [options] --old BINARY [CAPTURE...]
#
# Runs both versions over the captures of tests/captures and compares every
# output: databases, reports, pictures, exports, help. REV is built in a
# temporary git worktree, once; its program is kept in build/same/REV.
# CAPTURE is a path, a name that --list prints, or a pattern of such names.
#   --old BINARY  this program instead of a revision
#   --new BINARY  this program instead of the one of this tree
#   --shared      the captures of $BACKSTITCH_SHARED (../shared) as well
#   --quick       a few captures that stand for the others
#   --all         large captures too
#   --fresh       run the old program again; its outputs are kept otherwise
#   --words FILE  wanted differences (tests/same-words.txt)
#   --list        print the names of the captures
#   -j N          captures at a time (2)
# Wanted differences in words are listed in tests/same-words.txt, which says
# how. Diffs are in build/same/log. The status is 1 if anything differs.
usage() {
	sed -n '/^# usage/,/^# Wanted/s/^# \{0,1\}//p' "$0" | sed '$d' >&2
	exit 2
}

# Options with a value have it in the next argument.
need() {
	[ "$1" -ge 2 ] || usage
}

call=$PWD
cd "$(dirname "$0")/.." || exit 2
ROOT=$PWD
O=${O:-build}
case $O in /*) out=$O ;; *) out=$ROOT/$O ;; esac
if [ -z "${BACKSTITCH_SHARED:-}" ] && [ -d ../shared/captures ]
then
	BACKSTITCH_SHARED=$(cd ../shared && pwd)
fi
export ROOT BACKSTITCH_SHARED

# from_here PATH: the absolute path of a path on the command line
from_here() {
	case $1 in /*) echo "$1" ;; *) echo "$call/$1" ;; esac
}

old=
new=
jobs=2
list=
flags=
words=$ROOT/tests/same-words.txt
while [ $# -gt 0 ]
do
	case $1 in
	--old) need $#; old=$(from_here "$2"); shift ;;
	--new) need $#; new=$(from_here "$2"); shift ;;
	--words) need $#; words=$(from_here "$2"); shift ;;
	-j) need $#; jobs=$2; shift ;;
	-j*) jobs=${1#-j} ;;
	--list) list=--list ;;
	--shared | --quick | --all | --fresh) flags="$flags $1" ;;
	-*) usage ;;
	*) break ;;
	esac
	shift
done

# compile FOLDER LOG O: the output of make is printed only if it fails
compile() {
	(
		unset MAKEFLAGS MFLAGS MAKEOVERRIDES
		make -C "$1" O="$3" -j"$(getconf _NPROCESSORS_ONLN)" all
	) >"$2" 2>&1 && return
	tail -n 20 "$2" >&2
	echo "same.sh: cannot build $1" >&2
	exit 2
}

# Removes the worktree that build makes, even if it is incomplete.
forget() {
	[ -d "$tree" ] || return
	git worktree remove --force "$tree/src" 2>/dev/null
	rm -rf "$tree"
}

# build REV: builds the revision and sets $old to its program
build() {
	commit=$(git rev-parse --verify -q "$1^{commit}") || {
		echo "same.sh: $1 is no revision that this clone has" >&2
		exit 2
	}
	keep=$out/same/$commit
	old=$keep/backstitch
	[ -x "$old" ] && return
	mkdir -p "$keep"
	tree=$(mktemp -d) || exit 2
	trap forget EXIT
	trap 'exit 130' INT TERM
	git worktree add -q --detach "$tree/src" "$commit" || exit 2
	echo "building $1"
	compile "$tree/src" "$keep/make.log" build
	cp "$tree/src/build/backstitch" "$keep/backstitch.new" &&
		mv "$keep/backstitch.new" "$old" || exit 2
	forget
}

if [ -z "$list" ]
then
	if [ -z "$old" ]
	then
		[ $# -ge 1 ] || usage
		build "$1"
		shift
	fi
	if [ -z "$new" ]
	then
		mkdir -p "$out/same"
		compile "$ROOT" "$out/same/make.log" "$O"
		new=$out/backstitch
	fi
fi
# shellcheck disable=SC2086 # flags are words
python3 tests/same.py $list $flags -j "$jobs" --out "$out/same" \
	--words "$words" --old "$old" --new "$new" --from "$call" -- "$@"
