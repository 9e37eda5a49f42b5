#!/bin/sh
# refuse.sh - files that no reader takes are named, with what to do.
# usage: BACKSTITCH=PROGRAM tests/cli/refuse.sh; prints "ok NAME" or "not ok NAME" lines.
root=$(cd "$(dirname "$0")/../.." && pwd)
B=${BACKSTITCH:-$root/backstitch}
dir=$(mktemp -d) || exit 2
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 2

# refused NAME FILE WORDS: ingest and info fail, and ingest says the words
refused() {
	"$B" ingest -q -o out.db "$2" 2>err
	if [ $? = 1 ] && grep -q -- "$3" err && ! [ -e out.db ] &&
		! "$B" info "$2" >/dev/null 2>&1
	then
		echo "ok $1"
	else
		sed 's/^/    /' err
		echo "not ok $1"
	fi
	rm -f out.db
}

cat >script.txt <<'TEXT'
python3 12345/12345 [001]  1.500000:   1000000 cpu-clock:u:
	    7f0000001000 read+0x10 (/usr/lib/libc.so.6)
	    55550000abcd main+0x2d (/usr/bin/prog)

TEXT
refused "the text of perf script" script.txt 'or ask for the perf.data'
printf 'SIMPLEPERF\001\000and samples behind it' >samples.pb
refused "samples of simpleperf" samples.pb 'the perf.data that simpleperf'
printf '{"traceEvents":[{"name":"a","ph":"X","ts":1}]}' >trace.json
refused "JSON of systrace" trace.json 'give the capture it was made of'
printf '[{"name":"a","ph":"X","ts":1,"dur":2,"pid":3}]' >array.json
refused "JSON of Chrome" array.json 'give the capture it was made of'
printf '<!DOCTYPE html>\n<html><head></head><body>trace</body></html>' >a.html
refused "a page of systrace" a.html "from '# tracer:' on"
{
	printf 'PK\003\004\024\000\000\000\010\000aaaabbbbccccdddd\010\000\000\000'
	printf 'host.etlpacked data'
} >host.etl.zip
refused "a packed .etl" host.etl.zip 'a recording of Windows'
{
	printf '\177ELF\002\001\001\000\000\000\000\000\000\000\000\000\004\000\076\000'
	printf 'and the rest of the core'
} >core
refused "a core dump" core 'a core dump of one process'
{
	printf 'SQLite format 3\000'
	head -c 200 /dev/zero
} >other.db
refused "a database of another program" other.db 'of another program'
