#!/bin/sh
# context.sh - the thread and the context in which an event of the scheduler was
# hit are columns, by default.
# usage: BACKSTITCH=build/backstitch tests/cli/context.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# same WANTED GOT
same() {
	[ "$1" = "$2" ] || printf '    wanted: %s\n    got:    %s\n' "$1" "$2"
	[ "$1" = "$2" ]
}

# ingest DATABASE CAPTURE OPTION...
ingest() {
	db=$1
	shift
	"$B" ingest -q --no-symbols -o "$work/$db" "$@" 2>"$work/err"
}

# ask DATABASE SQL
ask() {
	"$B" query --format csv "$work/$1" "$2" | sed 1d | tr '\r\n' '  '
}

flags='SELECT common_flags, count(*) FROM ev_sched_sched_waking
	GROUP BY 1 ORDER BY 1'

# perf.data and trace.dat: byte 2 of the payload, and bytes 4 to 7
for name in defer-exitexec-s.data.zst ftrace-v7.dat ftrace-missed.dat.zst
do
	at=${name%%.*}
	ingest "$at.db" "$captures/$name"
	ingest "$at.raw.db" --fields 'sched_switch' "$captures/$name"
	python3 - "$work/$at" >"$work/said" <<'END'
import sqlite3
import struct
import sys

ours = sqlite3.connect(sys.argv[1] + ".db")
tables = [t for t, in ours.execute(
    "SELECT name FROM sqlite_master WHERE name LIKE 'ev_sched%'"
    " AND name <> 'ev_sched_sched_switch'")]
have = {}
for t in tables:
    have.update((e, (flags, pid)) for e, flags, pid in ours.execute(
        f'SELECT event_id, common_flags, common_pid FROM "{t}"'))
raw = sqlite3.connect(sys.argv[1] + ".raw.db")
for e, b in raw.execute(
        "SELECT e.id, p.data FROM event e JOIN payload p ON p.id = e.payload"
        " JOIN event_type t ON t.id = e.type WHERE t.name LIKE 'sched:%'"):
    want = b[2], struct.unpack("<i", b[4:8])[0]
    if have.pop(e) != want:
        sys.exit("event %d: not %s" % (e, want))
if have or not tables:
    sys.exit("%d without a payload" % len(have))
END
	ok "flags_and_pid_of_${at}_are_those_of_the_payload" $?
done

# a text has the flags as letters, or none
{
	printf '# tracer: nop\n#\n'
	printf '# entries-in-buffer/entries-written: 4/4   #P:2\n#\n'
	printf '#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION\n'
	printf '#              | |         |   |||||     |         |\n'
	for column in d..2. d.h1. dNs1. D.H1.
	do
		n=$((n + 1))
		printf '          <idle>-0       [001] %s   %d.000100: %s\n' \
			$column $n \
			'sched_waking: comm=nap pid=77 prio=120 target_cpu=001'
	done
} >"$work/text"
ingest text.db "$work/text"
same '1,1 9,1 53,1 153,1 ' "$(ask text.db "$flags" | tr -s ' ')" # 0x35, 0x99
ok letters_of_a_text_are_bits $?
ingest report.db "$captures/ftrace-v7.report-R.txt.gz"
same ",66 " "$(ask report.db "$flags" | tr -s ' ')"
ok a_text_without_flags_has_none $?

# an exported file has them where perf would
"$B" export --format perf.data -o "$work/text.data" "$work/text.db" 2>"$work/err"
ingest again.db "$work/text.data"
same '1,1 9,1 53,1 153,1 ' "$(ask again.db "$flags" | tr -s ' ')"
ok an_export_keeps_the_flags_of_a_text $?
