#!/bin/sh
# log.sh - BACKSTITCH_LOG says which reader, method, file and verdict were chosen.
# usage: BACKSTITCH=PROGRAM tests/cli/log.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
caps=$root/tests/captures
cd "$work" || exit 2

# logged NAME PATTERN: it is a line of err
logged() {
	grep -qE "$2" err
	ok "$1" $?
}

BACKSTITCH_LOG=all "$B" ingest -q -o shop.db --symfs "$caps/symfs" \
	"$caps/shop.data.zst" >out 2>err
logged "the reader of a capture" '^ingest: .*shop\.data\.zst: format perf$'
logged "the file of an image, and what proves it" \
	'^files: .*/shop: .*symfs.*/shop is [a-z]+: '
logged "why a request has no chain" \
	'^join: cookie 0x[0-9a-f]+ of thread [0-9]+: chain_lost, loss [1-9]'
is "once for each cookie of which the database says so" "$(grep -c ^join: err)" \
	"$(one shop.db \
	"SELECT count(DISTINCT cookie) FROM request WHERE verdict <> 1")"
BACKSTITCH_LOG=advice "$B" check shop.db >out 2>err
logged "the rule of an advice" '^advice: check: rule [0-9]+$'
[ "$(grep -c '^advice: ' err)" = "$(grep -c . err)" ]
ok "and nothing of other domains" $?
BACKSTITCH_LOG=ingest,align "$B" ingest -q -f -o two.db \
	"$caps/before.data" "$caps/after.data" >out 2>err
logged "how two captures are aligned" \
	'^align: .*data and .*data: method [a-z]+, error -?[0-9]+ ns'
"$B" check shop.db >out 2>err
is "without it nothing is logged" "" "$(cat err)"
BACKSTITCH_LOG=join,nothing "$B" check shop.db >out 2>err
is "a word that is no domain is wrong usage" 2 $?
says "and named" "BACKSTITCH_LOG: 'nothing' is none of ingest, align," err
