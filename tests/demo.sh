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
capture=tests/captures/shop.data.zst
db=$dir/shop.db
mkdir -p "$dir" || exit 1

# Prints the command as a user would type it, then runs it.
tour() {
	printf '\n$ backstitch'
	for a
	do
		case $a in
		*[!a-zA-Z0-9_./,=-]*) printf " '%s'" "$a" ;;
		*) printf ' %s' "$a" ;;
		esac
	done
	echo
	"$bin" "$@" || exit 1
}

echo "Three threads of a small program, recorded on Linux 7.2 with deferred user"
echo "stacks, into ring buffers that were far too small."
tour ingest -f -o "$db" --symfs tests/captures/symfs \
	--kallsyms tests/captures/shop.kallsyms "$capture"
tour query "$db" 'SELECT * FROM verdicts'
tour report --limit 12 "$db"
tour flame --title 'Where three threads were, and what the capture lost' \
	-o "$dir/flame.svg" "$db"
[ -s "$dir/flame.svg" ] || exit 1
echo
echo "flame graph: $dir/flame.svg (open it in a browser; click, ctrl-F)"
echo "database:    $db (open it with sqlite3)"
