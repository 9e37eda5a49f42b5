#!/bin/sh
# damage.sh - runs one damage program on the shipped captures and those of the cases.
# usage: tests/damage.sh PROGRAM; the program takes CAPTURE N SEED
#
# Each capture is cut N times and has bytes flipped N times. N is 500, fewer for
# captures of more than 32 KB, which have more of the same records; 100 for CTF
# traces, each of which is first tried in its own process; and 4 for
# captures that are run through the whole program. $DAMAGE_N overrides N;
# 0 cuts a CTF trace at each byte: DAMAGE_N=0 tests/damage.sh build/damage/ctf TRACE/metadata.
# ftrace_counts and perf_counts instead change every length and count of a capture,
# and those of 10 of its entries, or 40 of its records; ctf_counts every number of
# packets, and 10 of the numbers of events in each file. Of these changes, and of those
# of edits, tables and elf, a part is made for each commit: tests/turn.h.
# edits changes single bytes, of a CTF trace in each of its files, and compares what nobody notices with damage/edits.txt.
# Under sanitizers, an eighth of the captures stands for the others unless LONG is
# set, another one for the next commit (run.sh says which, by $SHARE_OF); without
# them, all are damaged, or with SHARE a half. pipeline takes an eighth of that.
# The seed is fixed, so a failure can be reproduced. One line per capture.
prog=$1
if [ $# = 2 ]
then
	f=$2
	name=${f#*captures/}
	case $name in /*) name=$(basename "$name") ;; esac
	case $prog in
	*/pipeline) n=4 ;;
	*/ctf) n=100 ;;
	*/ctf_counts) n=10 ;;
	*/ftrace_counts) n=10 ;;
	*/perf_counts) n=40 ;;
	# damage/edits.txt has the numbers of both
	*/edits) n=${LONG:+100} n=${n:-50} ;;
	*)	# all captures of more than 32 KB take the same time, down to 50
		n=$((500 * 32768 / ($(wc -c <"$f") + 1)))
		[ $n -le 500 ] || n=500
		[ $n -ge 50 ] || n=50
		;;
	esac
	# fifteen times as long as without sanitizers
	case ${LONG:+long}${SAN:-},$prog in
	san,*/tables) n=$((n / 4)) ;;
	esac
	n=${DAMAGE_N:-$n}
	if text=$("$prog" "$f" "$n" "${DAMAGE_SEED:-7}" 2>&1)
	then
		case $prog in
		*/edits) echo "$name $text" ;;
		*/*_counts) echo "ok $name: ${text##*: }" ;;
		*) echo "ok $name survives $n cuts and $n flips" ;;
		esac
		exit 0
	fi
	echo "$text" | tail -n 60 | sed 's/^\(not \)\{0,1\}ok /  &/'
	echo "not ok $name survives $n cuts and $n flips"
	exit 1
fi
case $prog in
*/elf)	# programs with debug information
	find tests/captures -path '*/symfs*' -type f \
		-exec grep -l '\.debug_info' {} + | sort |
		xargs -r -P "${DAMAGE_JOBS:-$(nproc)}" -n 1 "$0" "$prog"
	exit
	;;
*/ctf_meta)	# both forms
	for f in tests/captures/ctf-*/trace/metadata \
		tests/fuzz/ctf_meta.seeds/tsdl-blocks \
		tests/fuzz/ctf_meta.seeds/tsdl-packets-be \
		tests/fuzz/ctf_meta.seeds/ctf2-roles \
		tests/fuzz/ctf_meta.seeds/ctf2-choices \
		tests/fuzz/ctf_meta.seeds/ctf2-locations
	do
		"$0" "$prog" "$f"
	done
	exit
	;;
*/tables)	# of each machine, and one with .debug_frame alone
	for f in tests/captures/symfs/usr/local/cap/bin/work-fp \
		tests/captures/symfs-arm64/wl/libs_def.so \
		tests/fuzz/unwind.seeds/*.so
	do
		"$0" "$prog" "$f"
	done
	exit
	;;
esac
# Large ones: changed counts reach no branch of the readers in them, as clang's
# coverage counts those, that they do not reach in the other captures.
counted_by_others='two-f\|ctx2-defer\|overwrite-defer\|jit-reused'
counted_by_others=$counted_by_others'\|ftrace-v7\|ku-cookie/trace/kernel/\|t216-snapshot/'
# Whole CTF traces, of both versions and of several writers; of lttng-rotated,
# which has hundreds of packets, there are smaller ones of the same writer.
ctf_traces() {
	packed=$(ROOT=. python3 tests/compare/unpack.py) &&
		find tests/captures/ctf-* "$packed" -name metadata |
		grep -v -e /lttng-damaged/ -e /lttng-rotated/
}

# part N: one of N lines, one at least
part() {
	awk -v step="$1" -v turn="${SHARE_OF:-0}" '
	{ line[NR] = $0 }
	END {
		step = NR < step ? NR : step
		for (i = 1; i <= NR; i++)
			if (i % step == turn % step)
				print line[i]
	}'
}
some() {
	case ${LONG:+long}${SAN:-}${SHARE:+share},$prog in
	san*/pipeline) part 24 ;;
	san*) part 8 ;;
	share,*/pipeline) part 8 ;;
	# a part of the changes of each; of CTF traces there may be one
	share,*/edits | share,*_counts | share,*/ctf) cat ;;
	share,*) part 2 ;;
	*) cat ;;
	esac
}

case $prog in
*/ctf_counts)	# of clk_lttng_*, which has large buffers, there are smaller ones too
	ctf_traces | grep -v -e /clk_lttng_ -e "/\($counted_by_others\)" | sort | some |
		xargs -r -P "${DAMAGE_JOBS:-$(nproc)}" -n 1 "$0" "$prog"
	exit
	;;
esac
# Compressed captures are uncompressed first, because damage to the compressed
# file would only test the decompressor.
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
for f in tests/captures/*.data.gz tests/captures/*.data.zst \
	tests/captures/*.dat.zst tests/captures/ftext-*.txt.gz
do
	name=$(basename "$f")
	case $f in
	*.gz) gzip -dc "$f" >"$tmp/${name%.gz}" || exit 2 ;;
	*.zst) zstd -qdc "$f" >"$tmp/${name%.zst}" || exit 2 ;;
	esac
done
perf_captures() {
	grep -v '\.dat$\|/metadata$\|\.txt$\|\.dump$\|\.seeds'
}
# Sums the lines of edits by format, and compares them with damage/edits.txt.
edits_by_format() {
	awk -v column="${LONG:+2}" -v turn="${SHARE_OF:-0}" '
	FNR == NR {
		if ($0 !~ /^#/)
			most[$1] = $(column ? column : 3 + turn % 4)
		next
	}
	/^not ok/ { print; bad = 1; next }
	{
		format = $1 ~ /\.dat$/ ? "ftrace" : $1 ~ /\.txt$/ ? "ftext" : \
			$1 ~ /metadata$/ ? "ctf" : "perf"
		edits[format] += $2
		for (i = 9; i < NF; i += 2) {
			n[format] += $i
			kind[format, $(i + 1)] += $i
			kinds[$(i + 1)] = 1
		}
	}
	END {
		for (f in edits) {
			said = ""
			for (k in kinds)
				said = said (said ? ", " : "") kind[f, k] " " k
			ok = n[f] <= most[f]
			bad += !ok
			printf "%sok %s: %d of %d edits unnoticed, at most %d: %s\n",
				ok ? "" : "not ", f, n[f], edits[f], most[f], said
		}
		exit bad != 0
	}' tests/damage/edits.txt -
}

find tests/captures "${O:-build}/cases" "$tmp" tests/fuzz/jitdump.seeds \
	tests/fuzz/ptext.seeds \
	-type f \( -name '*.dat' -o \
	-name '*.data' -o -path '*.data/data' -o -name 'ftext-*.txt' -o \
	-path '*/ctf-*/metadata' -o -name '*.dump' -o \
	-path '*/jitdump.seeds/*' -o -path '*/ptext.seeds/*' \) 2>/dev/null |
	case $prog in
	# a long name is a hash: what a fuzzer made may have no code
	*/jitdump) grep '\.dump$\|jitdump\.seeds/[a-z0-9]\{1,8\}$' ;;
	*/perf) perf_captures ;;
	*/perf_counts) perf_captures | grep -v "/\($counted_by_others\)" ;;
	*/ftrace) grep '\.dat$' ;;
	*/ftrace_counts) grep '\.dat$' | grep -v "/\($counted_by_others\)" ;;
	*/ftext) grep '\.txt$' ;;
	*/ptext) grep 'ptext\.seeds/[a-z]*$' ;;
	*/ctf) grep '/metadata$' ;;
	*/edits)
		grep -v '/metadata$\|\.dump$\|\.seeds'
		ctf_traces
		;;
	*) grep -v '/metadata$\|\.dump$\|\.seeds' ;;
	esac | sort | some | xargs -r -P "${DAMAGE_JOBS:-$(nproc)}" -n 1 "$0" "$prog" |
	case $prog in
	*/edits) edits_by_format ;;
	*) cat ;;
	esac
