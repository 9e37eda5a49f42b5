#!/bin/sh
# push.sh - options, messages and exit statuses of push where no server is; tests/fleet/push.py has servers.
# usage: BACKSTITCH=PROGRAM tests/cli/push.sh; prints "ok NAME" or "not ok NAME" lines.
# Needs: libcurl
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
unset BACKSTITCH_CLICKHOUSE_PASSWORD
# a port on which nobody listens
NOBODY=clickhouse://127.0.0.1:1/f

says() {	# says STATUS TEXT ARGUMENT...
	want=$1 text=$2
	shift 2
	"$B" push "$@" >out 2>err </dev/null
	rc=$?
	[ $rc = "$want" ] && grep -q -e "$text" err && [ ! -s out ] && return
	echo "# push $*: status $rc, $(cat out err)"
	return 1
}

says 2 'the first argument is its URL' &&
	says 2 'the first argument is its URL' a.db &&
	says 2 'the first argument is its URL' http://127.0.0.1:1/f a.db
ok push_needs_a_url $?
says 2 'which database or folder' "$NOBODY"
ok push_needs_a_database $?
says 2 'no URL of a server' clickhouse:// a.db &&
	says 2 'no URL of a server' clickhouse://h:x/f a.db
ok a_url_that_is_none_is_refused $?
says 2 'BACKSTITCH_CLICKHOUSE_PASSWORD' clickhouse://u:geheim@h/f a.db &&
	! grep -q geheim err
ok a_password_in_a_url_is_refused_and_not_repeated $?
says 2 'cluster is for --create' --cluster x "$NOBODY" a.db &&
	says 2 'connections needs 1 to 64' --connections 0 "$NOBODY" a.db &&
	says 2 'retry needs' --retry -1 "$NOBODY" a.db &&
	says 2 'timeout needs' --timeout 0 "$NOBODY" a.db
ok options_are_checked $?
says 1 'cannot connect' "$NOBODY" a.db &&
	grep -q 'is the server running' err
ok a_server_that_is_not_there_is_said $?
says 1 'no-such-file' --password-file no-such-file "$NOBODY" a.db
ok a_password_file_that_is_not_there_is_said $?
printf '%5000s\n' x | tr ' ' x >pw
says 2 'more than 4094 bytes' --password-file pw "$NOBODY" a.db
ok a_password_is_not_cut $?
printf 'a\tb\n' >pw
says 2 'control character' --password-file pw "$NOBODY" a.db &&
	BACKSTITCH_CLICKHOUSE_PASSWORD=$(printf 'a\nX-Other: b') \
		says 2 'control character' "$NOBODY" a.db
ok a_password_cannot_add_lines_to_a_request $?
"$B" ingest -q --no-symbols -o d.db "$root/tests/captures/two-e.data" &&
	python3 "$root/tests/cli/push_lies.py" "$B" d.db
# stacks of a text have the names of the text
"$B" ingest -q -o n.db "$root/tests/captures/ftext-marker-kstack.txt" &&
	python3 "$root/tests/cli/push_unasked.py" "$B" n.db
