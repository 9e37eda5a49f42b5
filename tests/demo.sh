#!/bin/sh
# demo.sh - the five-minute tour over a shipped capture; leaves demo/flame.svg.
# usage: tests/demo.sh BACKSTITCH FOLDER
cd "$(dirname "$0")/.." || exit 2
bin=${1:-build/backstitch}
case $bin in
/*) ;;
*) bin=./$bin ;;
esac
dir=${2:-demo}
capture=tests/captures/z-defer.data
mkdir -p "$dir" || exit 1

say() {
	printf '\n$ backstitch %s\n' "$*"
}
symfs=tests/captures/symfs
kallsyms=tests/captures/z-defer.kallsyms
say ingest -f -o "$dir/z-defer.db" --symfs "$symfs" --kallsyms "$kallsyms" \
	"$capture"
"$bin" ingest -f -o "$dir/z-defer.db" --symfs "$symfs" \
	--kallsyms "$kallsyms" "$capture" || exit 1
say query "$dir/z-defer.db" "'SELECT * FROM verdicts'"
"$bin" query "$dir/z-defer.db" 'SELECT * FROM verdicts' || exit 1
say report "$dir/z-defer.db"
"$bin" report "$dir/z-defer.db" >"$dir/report.txt" || exit 1
head -n 30 "$dir/report.txt"
say flame "$dir/z-defer.db" '>' "$dir/flame.svg"
"$bin" flame "$dir/z-defer.db" >"$dir/flame.svg" || exit 1
[ -s "$dir/flame.svg" ] || exit 1
echo
echo "flame graph: $dir/flame.svg (open it in a browser)"
echo "database:    $dir/z-defer.db (open it with sqlite3)"
echo "report:      $dir/report.txt"
