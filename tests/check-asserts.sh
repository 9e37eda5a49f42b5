#!/bin/sh
# check-asserts.sh - every unit test asserts something, and has a name of its own.
# usage: tests/check-asserts.sh [root]; one ok or not ok line per rule
#
# A test asserts if its body calls ck_assert...(), ck_abort...() or must(), or
# a function of tests/ that calls one of these, directly or indirectly.
cd "${1:-.}" || exit 2
# Lists functions and tests: "function NAME" or "test FILE:LINE NAME", then the
# functions that the body calls, one word per line.
# shellcheck disable=SC2016 # $ is of awk
awk_program='
function begin(kind, name) {
	me = kind SUBSEP name
	where[me] = FILENAME ":" FNR
}
/^START_TEST\(/ {
	name = $0
	gsub(/^START_TEST\(|\).*/, "", name)
	if (("test", name) in where)
		twice[name] = FILENAME ":" FNR
	begin("test", name)
}
/^[a-z].*[ *][A-Za-z_0-9]+\(/ && !/;$/ {
	name = $0
	sub(/\(.*/, "", name)
	sub(/.*[ *]/, "", name)
	begin("function", name)
}
/^#define [A-Za-z_0-9]+\(/ {
	name = $2
	sub(/\(.*/, "", name)
	begin("function", name)
	macro = 1
}
me != "" {
	line = $0
	if (line ~ /ck_assert|ck_abort|[^a-z_]must\(/)
		asserts[me] = 1
	while (match(line, /[A-Za-z_0-9]+\(/)) {
		calls[me] = calls[me] " " substr(line, RSTART, RLENGTH - 1)
		line = substr(line, RSTART + RLENGTH)
	}
}
/^}/ || (macro && !/\\$/) {
	me = ""
	macro = 0
}
END {
	do {
		more = 0
		for (m in calls) {
			if (m in asserts)
				continue
			n = split(calls[m], w, " ")
			for (i = 1; i <= n; i++)
				if (("function", w[i]) in asserts) {
					asserts[m] = 1
					more = 1
				}
		}
	} while (more)
	for (m in where) {
		split(m, part, SUBSEP)
		if (part[1] == "test" && !(m in asserts))
			print "silent", where[m] ": " part[2]
	}
	for (name in twice)
		print "twice", twice[name] ": " name
}'
found=$(mktemp) || exit 2
trap 'rm -f "$found"' EXIT
awk "$awk_program" tests/*.h tests/unit/*.h tests/unit/*.c | sort >"$found"
rc=0
# rule KIND NAME
rule() {
	if grep "^$1 " "$found" | cut -d' ' -f2-
		grep -q "^$1 " "$found"
	then
		echo "not ok $2"
		rc=1
	else
		echo "ok $2"
	fi
}
rule silent "every unit test asserts something"
rule twice "no two unit tests have one name"
exit $rc
