#!/bin/sh
# check-names.sh - compares our names with those of perf 7.2 for every frame whose image is in a symfs.
# usage: tests/check-names.sh NAMES-PROGRAM; reads tests/captures, and also
# $BACKSTITCH_SHARED/captures (default ../shared beside the project) if it exists.
# User frames of other machines' captures need their mappings, so they are
# not compared here but in the comparison of `backstitch script`.
root=$(cd "$(dirname "$0")/.." && pwd)
cap=${BACKSTITCH_SHARED:-$root/../shared}/captures
names=$1
[ -x "$names" ] || { echo "usage: tests/check-names.sh NAMES-PROGRAM" >&2; exit 2; }
own=$(ROOT=$root python3 "$root/tests/compare/unpack.py") || exit 2
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
rc=0
sep=$(printf '\001')

# Converts perf's "addr sym+off (dso)" lines on stdin to the table that names.c
# reads. kernel: the kernel's frames by address; file: frames with
# "(file+0xoff)".
table() {
	awk -v want="$1" '
	/^[ \t]+[0-9a-f]+ .* \(.*\)$/ {
		addr = $1
		match($0, / \([^()]*\)$/)
		if (!RSTART)
			next
		dso = substr($0, RSTART + 2, RLENGTH - 3)
		s = substr($0, 1, RSTART - 1)
		sub(/^[ \t]*[0-9a-f]+ /, "", s)
		if (s == "(cookie)" || s == "(deleted)")
			next
		name = "-"; symoff = 0
		if (s != "[unknown]") {
			n = match(s, /\+0x[0-9a-f]+$/)
			if (!n)
				next
			name = substr(s, 1, n - 1); symoff = substr(s, n + 3)
		}
		if (want == "kernel") {
			if (dso != "[kernel.kallsyms]")
				next
			place = "[kernel]"
		} else {
			n = match(dso, /\+0x[0-9a-f]+$/)
			if (!n || dso !~ /^\// || dso ~ /^\/proc\/kcore/)
				next
			place = substr(dso, 1, n - 1); addr = substr(dso, n + 3)
		}
		while (length(addr) < 16)
			addr = "0" addr
		print place "\t" addr "\t" name "\t" symoff
	}' | LC_ALL=C sort -u
}

# Merges two outputs with the same lines, one with symbols and one with file
# offsets, into lines as perf -F dsoff prints them.
pair() {
	paste -d "$sep" "$1" "$2" | awk -F "$sep" '
	$1 ~ /^[ \t]+[0-9a-f]+ .* \(\/.*\)$/ && $2 ~ /^[ \t]+[0-9a-f]+ / {
		split($2, f, " ")
		if (length(f[1]) < 16)
			print substr($1, 1, length($1) - 1) "+0x" f[1] ")"
	}'
}

check() {	# check WHAT SYMFS KALLSYMS <table
	word=ok
	"$names" "$2" "$3" >"$tmp/out" 2>"$tmp/log" || {
		rc=1
		word='not ok'
		grep -E '^(differ|more)' "$tmp/out" | head -20
		cat "$tmp/log"
	}
	echo "$word names of $1: $(tail -n 1 "$tmp/out")"
}

cat_all() {
	for f in "$@"; do [ -f "$f" ] && zcat "$f"; done
}

here=$root/tests/captures
zcat "$here/task-exitexec.script-sym.txt.gz" | table kernel |
	check "task-exitexec kernel" "$here/symfs" "$here/task-exitexec.kallsyms"
zcat "$here/task-exitexec.script-dsoff.txt.gz" | table file |
	check "task-exitexec user" "$here/symfs" "$here/task-exitexec.kallsyms"
table kernel <"$own/perf-deferred/defer-lost-clock.script.txt" |
	check "defer-lost-clock kernel" "$here/symfs" \
		"$here/defer-lost-clock.kallsyms"
table kernel <"$own/arm64/perf/fp-leaf/script-v72.txt" |
	check "arm64-fp-leaf kernel" "$here/symfs-arm64" "$own/arm64/kallsyms"
table kernel <"$own/s390x/perf/z/script-v72.txt" |
	check "s390x-z kernel" "$own/s390x/symfs" "$own/s390x/kallsyms"
[ -d "$cap" ] || exit $rc

cat "$cap"/perf-deferred/*.boot | sort -u >"$tmp/boots"
while read -r ks; do
	zcat "$cap/perf-deferred/$ks" >"$tmp/kallsyms"
	boot=$(grep -lx "$ks" "$cap"/perf-deferred/*.boot | sed 's/\.boot$//')
	for b in $boot; do zcat "$b.script.txt.gz"; done | table kernel |
		check "7.2 kernel ${ks%.gz}" "$cap/symfs-7.2" "$tmp/kallsyms"
	for b in $boot; do zcat "$b.script-dsoff.txt.gz"; done | table file |
		check "7.2 user ${ks%.gz}" "$cap/symfs-7.2" "$tmp/kallsyms"
done <"$tmp/boots"

zcat "$cap/perf/kallsyms.gz" >"$tmp/kallsyms"
cat_all "$cap"/perf/*/script-v72.txt.gz | table kernel |
	check "6.18 kernel" "$cap/symfs-6.18" "$tmp/kallsyms"
# perf had the debug file of libc; without it these names cannot be resolved.
debug=/usr/lib/debug/.build-id/93/ac61ec5a8eb1396f9fbd350e3169a558528a40.debug
skip='^/usr/lib/x86_64-linux-gnu/(libc|ld-linux-x86-64)\.so'
[ -f "$debug" ] && skip='^$'
for d in "$cap"/perf/*/; do
	[ -f "$d/script-v61.txt.gz" ] || continue
	zcat "$d/script-v72.txt.gz" >"$tmp/v72"
	zcat "$d/script-v61.txt.gz" >"$tmp/v61"
	[ "$(wc -l <"$tmp/v72")" = "$(wc -l <"$tmp/v61")" ] || continue
	pair "$tmp/v72" "$tmp/v61"
done | table file | grep -vE "$skip" |
	check "6.18 user" "$cap/symfs-6.18" "$tmp/kallsyms"

for boot in main:kallsyms sve:kallsyms-sve nopauth:kallsyms-nopauth; do
	zcat "$cap/arm64/${boot#*:}.gz" >"$tmp/kallsyms"
	for d in "$cap"/arm64/perf/*/; do
		grep -q "boot ${boot%:*}:" "$d/boot.txt" &&
			zcat "$d/script-v72.txt.gz"
	done | table kernel |
		check "arm64 kernel ${boot%:*}" "$cap/arm64/symfs" "$tmp/kallsyms"
done

zcat "$cap/s390x/kallsyms.gz" >"$tmp/kallsyms"
for d in "$cap"/s390x/perf/*/; do
	case $d in */bidtable/ | */read-s/ | */pipe-tp/) continue ;; esac
	zcat "$d/script-v72.txt.gz"
done | table kernel | check "s390x kernel" "$cap/s390x/symfs" "$tmp/kallsyms"
exit $rc
