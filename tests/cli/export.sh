#!/bin/sh
# export.sh - the forms that export writes, as the tools they are for read them.
# usage: BACKSTITCH=build/backstitch tests/cli/export.sh
cd "$(dirname "$0")/../.." || exit 2
B=${BACKSTITCH:-./backstitch}
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

. tests/ok.sh

db=$work/z.db
"$B" ingest -q -o "$db" tests/captures/z-defer.data
ok "a database to export" $?

"$B" export --format folded "$db" >"$work/a.folded" &&
	"$B" flame --folded "$db" | cmp -s - "$work/a.folded"
ok "folded is what flame --folded prints" $?

"$B" export "$db" 2>"$work/err"
[ $? = 2 ] && grep -q "help exports" "$work/err"
ok "without a form the message says where they are" $?
