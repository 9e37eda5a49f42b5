#!/bin/bash
# builds.sh - the builds that others make: without an optional library, by another compiler, for another standard of C.
# usage: O=build tests/builds.sh [NAME...]
#
# NAME is one of the table below; all of them without one. Each is built in $O-NAME, where warnings are errors. A build
# without libraries must say in --version exactly which, and a script of tests/cli that needs one of them must skip with
# the name of that library. Run by hand, not part of make check, which tests the first compiler with all libraries.
set -u
cd "$(dirname "$0")/.." || exit 2
rc=0
ctf="cli/export_ctf cli/faults cli/leaks cli/output compare/exportctf"
code="cli/annotate cli/bundle cli/jit cli/json cli/leaks cli/report cli/sframe unit/call_insn unit/disasm"
curl="cli/bundle cli/endless cli/fleet cli/fleet_hostile cli/json cli/keep cli/leaks cli/push cli/tls"
debuginfod=cli/symbolize
ncurses="cli/top cli/view"

# name|variables of make|what --version says is missing|tests
table() {
	cat <<-EOT
	no-babeltrace2|BABELTRACE=|libbabeltrace2|$ctf
	no-capstone|CAPSTONE=|libcapstone|$code
	no-curl|CURL=|libcurl|$curl
	no-debuginfod|DEBUGINFOD=|libdebuginfod|$debuginfod
	no-ncurses|NCURSES=|libncursesw|$ncurses
	no-library|BABELTRACE= CAPSTONE= CURL= DEBUGINFOD= NCURSES=|libbabeltrace2 libcapstone libcurl libdebuginfod libncursesw|cases docs $ctf $code $curl $debuginfod $ncurses
	c11|CSTD=c11||cases unit
	c23|CSTD=c2x||cases unit
	clang|CC=clang||cases unit
	EOT
}

# result STATUS NAME: ok or not ok
result() {
	if [ "$1" = 0 ]
	then
		echo "ok $2"
	else
		echo "not ok $2"
		rc=1
	fi
	return "$1"
}

# skips OUT LIBRARY...: a script that cannot do without one of them was run and skipped; a skip names each of them
skips() {
	local out=$1 lib t bad=0
	shift
	for lib
	do
		# shellcheck disable=SC2013 # names without blanks
		for t in $(grep -l "^# Needs:.* $lib\b" tests/cli/*.sh)
		do
			grep -qs "^skip .*: built without lib" "$out/log/cli-$(basename "$t" .sh).log" ||
				{ echo "$t did not skip"; bad=1; }
		done
		grep -qs "^skip .*: built without $lib" "$out"/log/* ||
			{ echo "no test skipped because of $lib"; bad=1; }
	done
	return $bad
}

[ $# -gt 0 ] || mapfile -t names < <(table | cut -d'|' -f1)
[ $# -gt 0 ] || set -- "${names[@]}"
for name
do
	IFS='|' read -r _ vars lacks tests < <(table | grep "^$name|")
	[ -n "${vars:-}" ] || { echo "no build '$name'" >&2; exit 2; }
	out=${O:-build}-$name
	began=$SECONDS
	mkdir -p "$out"
	# shellcheck disable=SC2086 # words
	make -j"$(nproc)" O="$out" LTO= WERROR=-Werror $vars GROUPS="$tests" \
		check-build >"$out/make.log" 2>&1
	result $? "$name: builds without a warning" || { tail "$out/make.log"; continue; }
	[ "$("$out/backstitch" --version | sed -n 's/^built without: //p')" = "$lacks" ]
	result $? "$name: --version says what is missing"
	# shellcheck disable=SC2086 # words
	env O="$out" $vars tests/run.sh $tests >"$out/tests.log" 2>&1
	result $? "$name: $(tail -n 1 "$out/tests.log")" || sed -n '/^failed:$/,$p' "$out/tests.log"
	# shellcheck disable=SC2086 # words
	skips "$out" $lacks
	result $? "$name: what needs a library that is missing is skipped"
	echo "$name took $(((SECONDS - began + 30) / 60)) min"
done
exit $rc
