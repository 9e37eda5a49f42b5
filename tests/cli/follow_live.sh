#!/bin/sh
# follow_live.sh - a live session of LTTng as segments, from a relay daemon that is a script.
# usage: BACKSTITCH=PROGRAM tests/cli/follow_live.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
trace=$root/tests/captures/ctf-discard/trace
sql="SELECT count(*), min(time_ns), max(time_ns) FROM samples"

live() {	# live MODE: into seg, from a daemon of that kind
	rm -rf seg port
	python3 "$root/tests/cli/relayd.py" "$trace" "$1" >port &
	daemon=$!
	soon test -s port
	timeout 60 "$B" follow -o seg "net4://127.0.0.1:$(cat port)/host/node/${2:-made}" >out 2>err
	rc=$?
	kill "$daemon"
	wait "$daemon" 2>/dev/null
}
lost() {	# lost DATABASE: what check says of losses
	"$B" check "$1" 2>/dev/null | grep '^  lost'
}

"$B" ingest -q -o want.db "$trace" || exit 2
live whole
is the_end_of_a_session_ends_the_stream 0 $rc
is live_events_are_those_of_the_files "$("$B" query want.db "$sql")" "$("$B" query seg/segment-000001.db "$sql")"
is what_the_tracer_discarded_is_lost "$(lost want.db)" "$(lost seg/segment-000001.db)"
is what_is_in_a_segment_is_received_no_more "" "$(find seg/.live* -type f)"

live cut
is a_connection_that_broke_is_damage 3 $rc
says a_connection_that_broke_is_said "ended the connection; what it had not sent" err
says and_so_is_the_next_one "connected again" err
"$B" merge -q -f -o all.db seg
is each_event_is_received_once "$("$B" query want.db "$sql")" "$("$B" query all.db "$sql")"
"$B" check seg/segment-000001.db >out 2>&1
says the_segment_says_that_it_was_cut truncated out

live head
is a_connection_that_broke_before_a_packet_is_damage 3 $rc
"$B" merge -q -f -o all.db seg
is a_packet_of_which_no_byte_came_is_asked_for_again "$("$B" query want.db "$sql")" "$("$B" query all.db "$sql")"

live whole other
is another_session_is_wrong_usage 2 $rc
says those_that_are_there_are_named "the relay daemon has: host/node/made" err
for what in sessions streams; do
	live $what
	is "a_hostile_number_of_${what}_is_refused" 1 $rc
	says "and_said_of_$what" "the relay daemon's reply has a number of $what" err
done
timeout -s INT 2 "$B" follow -o none net://127.0.0.1 2>err
is an_url_without_session_is_wrong_usage 2 $?
says the_form_is_said "net://HOST[:PORT]/host/NAME/SESSION" err
timeout -s INT 2 "$B" follow -o none net://127.0.0.1:70880/host/node/made 2>err
is a_port_that_cannot_be_is_wrong_usage 2 $?
