#!/bin/sh
# lib.sh - what scripts of tests/cli begin with, and share.
# usage: cd "$(dirname "$0")/../.." && . tests/lib.sh
#
# Sets the root of the project, the programs by absolute paths, and a temporary
# folder, $work or $dir, which is removed at the end.
root=$PWD
B=$(realpath "${BACKSTITCH:-build/backstitch}") || exit 2
# shellcheck disable=SC2034 # for those who want them
MKCAP=$(realpath -m "${MKCAP:-build/mkcap}")
work=$(mktemp -d) || exit 2
# shellcheck disable=SC2034
dir=$work
trap 'rm -rf "$work"' EXIT
unset COLUMNS
export NO_COLOR=1 LC_ALL=C PYTHONDONTWRITEBYTECODE=1

. tests/ok.sh

# is NAME WANTED GOT
is() {
	[ "$2" = "$3" ]
	is_rc=$?
	ok "$1" $is_rc
	[ $is_rc = 0 ] || printf '# wanted: %.300s\n# got: %.300s\n' "$2" "$3"
}

# says NAME TEXT FILE
says() {
	grep -qF -- "$2" "$3"
	ok "$1" $?
}

# say NAME: by $bad
# shellcheck disable=SC2154 # of the script
say() {
	ok "$1" "$bad"
	[ "$bad" = 0 ] || sed 's/^/# /' out err 2>/dev/null | head -20
}

# soon COMMAND...: is it true within a minute?
soon() {
	for _ in $(seq 600)
	do
		! "$@" >/dev/null 2>&1 || return 0
		sleep 0.1
	done
	return 1
}

# perf ARG...: perf 6.1 aborts (134) while 'record -a' of another test asks the kernel
# for build-ids (backstitch-formats(5), MMAP2): again, until that one has ended
perf() {
	perf_status=134
	for _ in 1 2 3 4 5 6 7 8 9
	do
		command perf "$@" && return
		perf_status=$?
		[ $perf_status = 134 ] || break
		sleep 3
	done
	return $perf_status
}

# change_schema DB SQL: also where sqlite3 protects it, as 3.46 does by itself
change_schema() {
	sqlite3 "$1" '.dbconfig defensive off' "PRAGMA writable_schema = ON; $2" >/dev/null
}

# is_whole DIR: its segments have what whole.db has
is_whole() {
	"$B" merge -q -f -o all.db "$1" >out 2>>err &&
		python3 "$root/tests/cli/merge.py" cut whole.db all.db >out 2>&1
}

# folded OPTION...: the stacks of a picture, a line each
folded() {
	BACKSTITCH=$B python3 "$root/tests/folded.py" "$@"
}

# of_json FILE EXPRESSION: of the answer, r
of_json() {
	python3 -c 'import json, sys
r = json.load(open(sys.argv[1]))
print(eval("(" + sys.argv[2] + ")"))' "$1" "$2"
}

# one DB SQL: the only value of the answer
one() {
	"$B" query --format csv "$1" "$2" | tail -n 1
}

# code_of FILE: what a mapping record says of a program's code, as a loader maps it
code_of() {
	# shellcheck disable=SC2046 # numbers
	set -- $(readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3, $5 }')
	printf 'start=0x%x len=0x%x pgoff=0x%x\n' $(($2 & -4096)) \
		$(((($1 + $3 + 4095) & -4096) - ($1 & -4096))) $(($1 & -4096))
}
