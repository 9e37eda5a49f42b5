#!/bin/sh
# pager.sh - long output on a terminal goes through a pager, all else does not.
# usage: BACKSTITCH=PROGRAM tests/cli/pager.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
unset COLUMNS PAGER LESS
TERM=vt100
export TERM
cp "$B" "$dir/backstitch"
cd "$dir" || exit 2
./backstitch ingest -o perf.db --no-cache "$root/tests/captures/fp-1.data" \
	>log 2>&1 || exit 2
./backstitch ingest -o lost.db --no-cache \
	"$root/tests/captures/overwrite-defer.data.zst" >log 2>&1

# show COMMAND...: what a terminal of 24 rows gets, and the status behind it
show() {
	timeout 30 script -qec "stty cols 80 rows 24; $*; echo status \$?" \
		/dev/null </dev/null 2>&1 | tr -d '\r' >screen
}
# is NAME WANTED GOT
is() {
	if [ "$2" = "$3" ]
	then
		echo "ok $1"
	else
		echo "not ok $1"
		echo "# wanted: $2, got: $3"
		head -5 screen | sed 's/^/# /'
	fi
}
marked() {
	echo "$(grep -c '^P:' screen) $(grep -vc '^P:' screen) $(tail -n 1 screen)"
}
mark='BACKSTITCH_PAGER="sed s/^/P:/"'
lines=$(./backstitch script perf.db | wc -l)

show "$mark ./backstitch script perf.db"
is "long output is paged, all of it" "$lines 1 status 0" "$(marked)"
for command in report info check query dump annotate sframe help
do
	case $command in
	query) set -- query perf.db "'SELECT * FROM event'" ;;
	report) set -- report --limit 0 --callers level3 perf.db ;;
	info) set -- info "perf.db; true" ;;
	check) set -- check --verbose "lost.db; true" ;;
	dump) set -- dump "$root/tests/captures/fp-1.data" ;;
	annotate | sframe) continue ;;
	help) set -- ingest --help ;;
	esac
	show "$mark ./backstitch $*"
	rows=$(sed '/^status /d; s/^P://' screen | wc -l)
	paged=$(grep -c '^P:' screen)
	[ "$rows" -gt 0 ] && if [ "$rows" -gt 23 ]
	then [ "$paged" = "$rows" ]
	else [ "$paged" = 0 ]
	fi
	is "$command is paged when it is long" 0 $?
done
show "$mark ./backstitch query perf.db 'SELECT 1'"
is "what fits the screen is not" "0 3 status 0" "$(marked)"
show "$mark ./backstitch query --format csv perf.db \
	'SELECT id FROM event LIMIT 22'"
is "23 lines fit 24 rows" "0 24 status 0" "$(marked)"
show "$mark ./backstitch query --format csv perf.db \
	'SELECT id FROM event LIMIT 23'"
is "24 do not: one is the prompt's" "24 1 status 0" "$(marked)"
show "$mark ./backstitch query --format csv perf.db \
	\"SELECT printf('%0100d', id) FROM event LIMIT 12\""
is "a line that is too long takes two" "13 1 status 0" "$(marked)"
show "$mark ./backstitch script --no-pager perf.db"
is "--no-pager" "0 $((lines + 1)) status 0" "$(marked)"
show "$mark ./backstitch script perf.db | cat"
is "a pipe is no terminal" "0 $((lines + 1)) status 0" "$(marked)"
show "TERM=dumb $mark ./backstitch script perf.db"
is "a terminal that can nothing" "0 $((lines + 1)) status 0" "$(marked)"
for none in '' cat no-such-pager /no/such/pager
do
	show "BACKSTITCH_PAGER='$none' ./backstitch script perf.db"
	is "a pager '$none'" "0 $((lines + 1)) status 0" "$(marked)"
done
show "PAGER='sed s/^/P:/' ./backstitch script perf.db"
is "PAGER" "$lines 1 status 0" "$(marked)"
show "BACKSTITCH_PAGER=cat PAGER='sed s/^/P:/' ./backstitch script perf.db"
is "BACKSTITCH_PAGER before PAGER" "0 $((lines + 1)) status 0" "$(marked)"
mkdir bin
cat >bin/less <<'EOT'
#!/bin/sh
echo "P:LESS=$LESS"
sed s/^/P:/
EOT
chmod +x bin/less
show "PATH=$dir/bin:\$PATH ./backstitch script perf.db"
is "less, when none is named" "$((lines + 1)) 1 status 0 P:LESS=FRX" \
	"$(marked) $(head -n 1 screen)"
show "LESS=S PATH=$dir/bin:\$PATH ./backstitch script perf.db"
is "with the user's options" "P:LESS=S" "$(head -n 1 screen)"
mkdir empty
show "PATH=$dir/empty ./backstitch script perf.db"
is "without less, as it is" "0 $((lines + 1)) status 0" "$(marked)"
cat >less <<'EOT'
#!/bin/sh
echo "P:here"
exec /bin/cat
EOT
chmod +x less
show "PATH=$dir/empty: ./backstitch script perf.db"
is "an empty entry at the end of PATH is the folder at hand" "P:here" \
	"$(head -n 1 screen)"
rm less

show "BACKSTITCH_PAGER='head -n 3' ./backstitch script perf.db"
is "quitting early is fine" "0 4 status 0" "$(marked)"
show "BACKSTITCH_PAGER='cat >/dev/null; sleep 0.3; echo LAST' \
	./backstitch script perf.db"
is "the pager is waited for" "LAST status 0" "$(tr '\n' ' ' <screen |
	sed 's/ $//')"
show "$mark ./backstitch check --verbose lost.db"
is "the status stays" "status 4" "$(tail -n 1 screen)"
show "BACKSTITCH_PAGER='false' ./backstitch check --verbose lost.db"
is "whatever the pager's is" "status 4" "$(tail -n 1 screen)"
show "$mark ./backstitch query perf.db 'SELECT nott FROM event'"
is "an error is not paged" "status 1 0" \
	"$(tail -n 1 screen) $(grep -c '^P:' screen)"
show "$mark ./backstitch query --format csv perf.db \
	'SELECT CASE WHEN id < 100 THEN id ELSE abs(-9223372036854775807 - 1)
	END FROM event'"
is "an error behind the rows comes last" "100 P:99 status 1" \
	"$(grep -c '^P:' screen) $(grep '^P:' screen | tail -n 1) $(tail -n 1 screen)"
grep -q '^backstitch: .*integer overflow' screen
is "and is not paged" 0 $?

# Ctrl-C while the pager has the screen: it is waited for, then we end by it
show "BACKSTITCH_PAGER='head -n 30 >/dev/null; kill -INT \$PPID; sed s/^/P:/;
	echo LAST' ./backstitch query --format csv perf.db \
	'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)
	SELECT i FROM n'"
is "Ctrl-C ends us behind the pager" "LAST status 130" \
	"$(tail -n 2 screen | tr '\n' ' ' | sed 's/ $//')"

# ---- color: on a terminal, unless one says no; in a pipe when one says so
esc=$(printf '\033')
unset NO_COLOR
BACKSTITCH_PAGER=''
TERM=xterm
export BACKSTITCH_PAGER TERM
colors() {	# colors COMMAND...: how many lines have any
	show "$*"
	grep -c "$esc\\[" screen
}
for command in "report perf.db" "info perf.db" "check lost.db" \
	"query --views perf.db" "query perf.db 'SELECT 1'" "help ingest" \
	"ingest -o no.db /no/such/file" "nothing"
do
	never=$(colors "./backstitch $command --color never")
	user=$(colors "NO_COLOR=1 ./backstitch $command")
	dumb=$(colors "TERM=dumb ./backstitch $command")
	piped=$(colors "./backstitch $command 2>&1 | cat")
	is "no color where none is wanted: $command" "0 0 0" \
		"$never $user $dumb"
	case $command in
	ingest* | nothing | check*) ;;
	*) is "nor in a pipe: $command" 0 "$piped" ;;
	esac
	case $command in
	report* | nothing | help*) continue ;;
	esac
	[ "$(colors "./backstitch $command")" -gt 0 ]
	is "but on a terminal: $command" 0 $?
	[ "$(colors "./backstitch $command --color=always 2>&1 | cat")" -gt 0 ]
	is "and where it is asked for: $command" 0 $?
done
