#!/bin/sh
# top.sh - the newest segment that follow --top shows on a terminal.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/top.sh; prints "ok NAME" or "not ok NAME" lines.
# Waits: segments that end by time
# Needs: libncursesw
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
if [ ! -x "$M" ] || ! command -v tmux >/dev/null; then
	echo "skip top: mkcap is not built or tmux is not installed"
	exit 0
fi
# Each session has a server of its own: one that was told to end still answers on
# its socket for a moment, and takes a new session with it.
server=0
tmux() {
	command tmux -f /dev/null -S "$dir/socket$server" "$@"
}
session() {	# session WIDTH HEIGHT COMMAND
	server=$((server + 1))
	tmux new-session -d -x "$1" -y "$2" "$3"
}
trap 'tmux kill-server 2>/dev/null; rm -rf "$dir"' EXIT
cd "$dir" || exit 2
XDG_CACHE_HOME=$dir/cache LC_ALL=C.UTF-8 TERM=screen
export XDG_CACHE_HOME LC_ALL TERM

shows() {	# shows TEXT [TIMES]: the screen, soon
	for _ in $(seq "${2:-300}"); do
		tmux capture-pane -p >screen 2>&1
		if grep -q -- "$1" screen
		then return 0
		fi
		sleep 0.3
	done
	return 1
}
say() {	# say NAME: by the status of the command before
	if [ $? = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' screen
	fi
}

{
	echo 'event cpu-clock period=1000'
	for p in 10 20; do
		echo "comm pid=$p tid=$p name=prog$p"
		echo "mmap pid=$p tid=$p start=0x400000 len=0x10000 pgoff=0 path=/bin/prog$p id=0${p}aabb"
	done
	for i in 1 2 3; do echo "sample pid=10 tid=10 cpu=0 time=$((1000 + i)) u=0x400100,0x400200"; done
	echo 'sample pid=20 tid=20 cpu=0 time=2000 u=0x400300'
	echo 'lost n=5 time=2100 cpu=0'
} >stream.txt
"$M" -p stream.txt stream.pipe || exit 2
mkfifo fifo
cat >run.sh <<END
sleep 900 >fifo &
stty -a >before
'$B' follow --top --no-symbols -o seg --segment 3s fifo
echo "status \$?"
stty -a >after
kill %1
cmp before after && echo restored
exec sleep 100
END
session 100 20 'bash run.sh'
shows 'seg: no segment is finished yet'
say it_waits_for_the_first_segment
cat stream.pipe >fifo
shows 'segment-000001.db: functions: cpu-clock, 4 samples' && grep -q '75.00 .*3  + \[prog10\]' screen &&
	grep -q '25.00 .*1  + \[prog20\]' screen
say functions_and_their_shares_are_shown
tmux send-keys Down && tmux send-keys z
shows 'frozen; z shows' && sed 's/time=1/time=5/' stream.txt >more.txt && "$M" -p more.txt more.pipe && tail -c +17 more.pipe >more.part
say z_freezes_it
cat more.part >fifo
for _ in $(seq 100); do
	[ ! -e seg/segment-000002.db ] || break
	sleep 0.1
done
shows 'segment-000001.db: ' && tmux send-keys z && shows 'segment-000002.db: functions'
say and_shows_the_newest_one_again
# on a busy machine three seconds may end between two records: a later segment, then
for _ in $(seq 8); do
	tmux send-keys 6
	! shows 'what was lost' || ! shows '5 records lost' 10 || break
	tmux send-keys q
	shows 'functions: ' && cat more.part >fifo
	sleep 5
done
shows '5 records lost' 10
say losses_have_a_screen
tmux send-keys q && shows 'functions: ' && tmux send-keys q
shows '^restored' && grep -q 'status 0' screen && grep -q 'seg: [0-9]* segments, 0 removed' screen
say q_ends_it_and_restores_the_terminal

tmux kill-server
rm -rf seg
session 60 12 'bash run.sh'
shows 'no segment is finished yet' && tmux send-keys C-c && shows '^restored' && grep -q '^seg: 0 segments' screen
say an_interrupt_restores_the_terminal_and_messages_are_printed

tmux kill-server
rm -rf seg
# The kernel sends SIGCONT after SIGHUP, which takes away the SIGSTOP by which LeakSanitizer looks at a process that ends
# just then: both would wait for ever.
cat >elsewhere.sh <<END
trap : HUP
ASAN_OPTIONS=\$ASAN_OPTIONS:detect_leaks=0 '$B' follow --top --no-symbols -o seg --segment 1h fifo >out
echo "status \$?" >ended
END
exec 3<>fifo
session 60 12 'exec bash elsewhere.sh'
shows 'no segment is finished yet' && sed -n 12p screen | grep -q 'q quit'
say the_table_fills_the_terminal_wherever_the_output_goes

# its stream goes on
cat stream.pipe >&3
for _ in $(seq 300); do
	[ ! -s seg/.segment-000001.data ] || break
	sleep 0.1
done
tmux kill-server
for _ in $(seq 300); do
	[ ! -s ended ] || break
	sleep 0.1
done
grep -qx 'status 0' ended && "$B" query seg/segment-000001.db 'SELECT count(*) FROM samples' >screen 2>&1 && grep -q '^ *4$' screen
say without_its_terminal_it_ends_and_the_last_segment_is_finished
exec 3>&-

# the database waits for a FIFO: after q, only the process that makes it is there
tmux kill-server
rm -rf seg
mkfifo map
sed -e '1i set -m' -e 's/--no-symbols/--perf-map 10=map/' -e 's/^echo "status.*/echo stopped; fg %2/' run.sh >stops.sh
session 60 12 'bash stops.sh'
shows 'no segment is finished yet' && cat stream.pipe >fifo && tmux send-keys q && {
	for _ in $(seq 300); do
		[ "$(tmux display-message -p '#{alternate_on}')" = 1 ] || break
		sleep 0.2
	done
	tmux send-keys C-z
	shows 'stopped$' && echo '400000 100 jitted' | timeout 9 tee map >/dev/null && shows '^restored' &&
		[ "$(tmux display-message -p '#{alternate_on}')" = 0 ]
}
say a_stop_behind_the_table_leaves_the_terminal_alone
"$B" follow --top -o no - </dev/null >screen 2>&1
s=$?
if command -v setsid >/dev/null; then
	setsid "$B" follow --top -o no - </dev/null >screen 2>&1
	s=$?
fi
[ $s = 2 ] && grep -q 'needs a terminal' screen
say without_a_terminal_it_is_refused
