#!/bin/sh
# signals.sh - signals end what waits, and leave nothing behind; neither does SIGKILL.
# usage: BACKSTITCH=build/backstitch tests/cli/signals.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

db=$work/a.db
"$B" ingest -q --no-symbols -o "$db" tests/captures/arm64-fp-leaf.data
mkfifo "$work/in.map" "$work/out"

# Starts a command that waits, sends it signal $1 once it sleeps, and expects
# that it ends by it.
ends_by() {	# ends_by SIGNAL NUMBER COMMAND...
	python3 - "$@" <<'END2'
import os
import signal
import subprocess
import sys
import time

want = int(sys.argv[2])
signal.signal(signal.SIGINT, signal.default_int_handler)
p = subprocess.Popen(sys.argv[3:], stdin=subprocess.DEVNULL,
                     stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
end = time.monotonic() + 20
slept = 0
while p.poll() is None and slept < 5 and time.monotonic() < end:
    with open("/proc/%d/stat" % p.pid) as f:
        slept += f.read().rsplit(")", 1)[1].split()[0] == "S"
    time.sleep(0.02)
p.send_signal(getattr(signal, "SIG" + sys.argv[1]))
try:
    rc = p.wait(20)
except subprocess.TimeoutExpired:
    p.kill()
    rc = p.wait()
    print("   not ended")
sys.exit(rc != -want)
END2
}

for s in "INT 2" "TERM 15" "HUP 1"
do
	# shellcheck disable=SC2086 # words
	ends_by $s "$B" ingest -q -f -o "$work/b.db" --maps "1=$work/in.map" \
		tests/captures/jit-reused.data.zst
	ok "a FIFO without a writer: ${s% *}" $?
	# shellcheck disable=SC2086
	ends_by $s "$B" export --format folded -o "$work/out" "$db"
	ok "a FIFO without a reader: ${s% *}" $?
	# shellcheck disable=SC2086
	ends_by $s "$B" query --file "$work/in.map" "$db"
	ok "nor is SQL waited for that nobody writes: ${s% *}" $?
	[ "$(find "$work" -type f | wc -l)" = 1 ]
	ok "nothing is left behind: ${s% *}" $?
done
timeout 20 "$B" info "$work/in.map" 2>"$work/said"
[ $? = 1 ] && grep -q "a FIFO, needs to be a file" "$work/said"
ok "a FIFO is no capture, and is not waited for" $?
rm "$work/said"

# A stack that is too small is no crash.
for kb in 64 256
do
	sh -c "ulimit -s $kb; exec \"\$@\"" sh "$B" info "$db" >/dev/null 2>"$work/said"
	[ $? = 1 ] && grep -q "limited to $kb kB" "$work/said"
	ok "a stack of $kb kB is refused" $?
	sh -c "ulimit -Ss $kb; exec \"\$@\"" sh "$B" ingest -q --no-symbols \
		-o "$work/small.db" tests/captures/shop.data.zst 2>/dev/null &&
		[ -s "$work/small.db" ]
	ok "one of $kb kB that may be raised is raised" $?
	rm -f "$work/small.db" "$work/said"
done

# A reader that never reads: more is written than fits in a pipe.
exec 3<>"$work/out"
big=$work/big.db
"$B" ingest -q --no-symbols -o "$big" tests/captures/defer-exitexec-s.data.zst
ends_by TERM 15 "$B" export --format json -o "$work/out" "$big"
ok "a reader that does not read" $?
exec 3<&-

# What a killed run leaves is removed by the next one; what others use is not.
dead=$(sh -c 'echo $$')
for name in "a2.db.$dead-0.tmp" "x.svg.$dead-3.tmp" "pack.tar.$dead-1.tmp" \
	"a2.db.$dead-0.tmp-journal"
do
	echo left >"$work/$name"
done
for name in "a2.db.$$-0.tmp" "a2.db.$dead-0.tmp.keep" "a2.db.tmp" "a22.db.$dead-0.tmp"
do
	echo mine >"$work/$name"
done
"$B" ingest -q --no-symbols -o "$work/a2.db" tests/captures/arm64-fp-leaf.data
"$B" flame -o "$work/x.svg" "$db" 2>/dev/null
"$B" bundle -o "$work/pack.tar" "$db" 2>/dev/null
! grep -rq '^left' "$work" &&
	[ "$(grep -rl '^mine' "$work" | wc -l)" = 4 ]
ok "the leftovers of dead runs go, and no other file" $?
rm "$work"/*.tmp "$work"/*.keep
[ "$(stat -c %a "$work/x.svg")" = "$(touch "$work/t" && stat -c %a "$work/t")" ]
ok "a new file has the permissions of any other" $?

# An existing file is the old one or the new one.
old=$work/old
echo old >"$old"
chmod 640 "$old"
ln -s old "$work/link"
"$B" flame -o "$work/link" "$db" 2>/dev/null
[ -L "$work/link" ] && head -c 100 "$old" | grep -q svg &&
	[ "$(stat -c %a "$old")" = 640 ]
ok "a link stays a link, and the file keeps its mode" $?
for c in "flame" "page" "export --format perf.data" \
	"export --format chrome" "export --format json" "export --format pprof" \
	"export --format firefox" "bundle -f"
do
	[ "${c%% *}" = bundle ] && old=$work/old.tar
	echo old >"$old"
	# shellcheck disable=SC2086 # words; 1 kB is less than each of them
	(ulimit -f 2; "$B" $c -o "$old" "$big" 2>"$work/said")
	[ $? = 1 ] && [ "$(cat "$old")" = old ] && grep -q "File too large" "$work/said"
	ok "no room, the old file stays: $c" $?
done
for c in "flame" "page" "export --format perf.data" \
	"export --format chrome" "bundle --redact -f"
do
	old=$work/old
	echo old >"$old"
	for kb in 20000 40000 80000
	do
		# shellcheck disable=SC2086 # words
		prlimit --as=$((kb * 1000)) "$B" $c -o "$old" "$big" \
			>/dev/null 2>&1 && echo old >"$old"
	done
	[ "$(cat "$old")" = old ]
	ok "no memory, the old file stays: $c" $?
done
[ -z "$(find "$work" -name '*.tmp')" ]
ok "and nothing is left behind" $?
