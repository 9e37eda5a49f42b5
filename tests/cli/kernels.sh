#!/bin/sh
# kernels.sh - files of other kernels and recorders: none of it is damage.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/kernels.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
captures=tests/captures

# intact CAPTURE: makes the database; status 3 would be damage
intact() {
	"$B" ingest -qfo "$work/db" "$captures/$1"
	ok "$1_is_not_damaged" $?
}

# gives NAME EXPECTED SQL: lines of values
gives() {
	"$B" query "$work/db" --format csv "$3" | sed 1d >"$work/got"
	printf '%s\n' "$2" | diff - "$work/got"
	ok "$1" $?
}

for name in abi-simd abi-simdintr
do
	intact $name.data
	gives ${name}_has_all_its_stacks 9,18 "SELECT count(*), sum(n) FROM (
		SELECT count(*) AS n FROM full_stack GROUP BY event_id)"
	gives ${name}_has_one_note 1,registers "SELECT count(*), min(what)
		FROM damage WHERE kind = 'note'"
done

# Direct samples have the ids of thread and process the other way round than the
# sums at the end, which have no time and no CPU.
intact offcpu-616.data
gives offcpu-616_has_threads_times_and_stacks "1200,1207,2,600000000,3
1200,1200,3,600000011,2
1200,1207,0,600000022,0
1200,1207,-1,3000000,3
1301,1301,-1,4000000,2" "SELECT pid, tid, coalesce(cpu, -1), weight,
	(SELECT count(*) FROM full_stack f WHERE f.event_id = s.event_id)
	FROM samples s WHERE event = 'offcpu-time' AND unit = 'ns'
	ORDER BY event_id"
intact offcpu-60.data
gives offcpu-60_has_threads_times_and_stacks "210,214,7000000,2
210,210,800000,3" "SELECT pid, tid, weight,
	(SELECT count(*) FROM full_stack f WHERE f.event_id = s.event_id)
	FROM samples s WHERE event = 'offcpu-time' AND unit = 'ns'
	ORDER BY event_id"

# waits FIELD: the sum of a column of report --off-cpu
waits() {
	"$B" report --off-cpu --format json "$work/db" 2>/dev/null |
		python3 -c 'import json, sys
r = json.load(sys.stdin)
print(sum(t[sys.argv[1]] for t in r["threads"]))' "$1"
}

intact offcpu-60.data
[ "$(waits ns)" = 7800000 ]
ok offcpu-60_is_a_source_of_off_cpu_time $?
intact offcpu-616.data
[ "$(waits ns)" = 1807000033 ]
ok offcpu-616_is_a_source_of_off_cpu_time $?

# Of one kernel and time, what switches tell of counts once: a wait that began
# while they were recorded, and all sums, which nobody can take apart.
"$B" ingest -qfo "$work/db" "$captures/naps.data"
switches=$(waits ns)
"$B" ingest -qfo "$work/two.db" --separate "$captures/naps.data" \
	"$captures/offcpu-616.data"
# both FROM TO ALL: as if naps.data had been recorded at that time
both() {
	cp "$work/two.db" "$work/db"
	python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("UPDATE capture SET together = 1")
db.execute("UPDATE capture SET first_ns = ?, last_ns = ?, system_wide = ?"
           " WHERE id = 1", sys.argv[2:])
db.commit()' "$work/db" "$@"
}
# all_sums: waits, and sums that do not count
all_sums() {
	"$B" report --off-cpu --format json "$work/db" 2>/dev/null |
		python3 -c 'import json, sys
r = json.load(sys.stdin)
print(r["ns"] - int(sys.argv[1]), r["mixed"], r["mixed_ns"])' "$switches"
}
cp "$work/two.db" "$work/db"
[ "$(all_sums)" = "1807000033 0 0" ]
ok waits_of_two_kernels_add_up $?
both 0 9000000000 1
[ "$(all_sums)" = "0 2 7000000" ]
ok no_wait_counts_twice $?
"$B" report --off-cpu "$work/db" 2>/dev/null |
	grep -q '^not counted: 2 of these sums, 7.00 ms: another capture reports'
ok report_says_what_does_not_count $?
both 0 4400001500 1
[ "$(all_sums)" = "1200000033 2 7000000" ]
ok a_wait_counts_that_began_when_no_switches_were_recorded $?
both 4400001500 9000000000 1
[ "$(all_sums)" = "600000000 2 7000000" ]
ok a_wait_counts_of_which_switches_have_the_end_only $?
both 6000000000 9000000000 1
[ "$(all_sums)" = "1807000033 0 0" ]
ok waits_and_sums_of_another_time_count $?
both 0 9000000000 0
[ "$(all_sums)" = "1807000033 0 0" ]
ok so_do_those_of_threads_that_were_not_recorded $?
intact offcpu-616.data
"$B" report --off-cpu --format json "$work/db" 2>/dev/null | python3 -c '
import json, sys
r = json.load(sys.stdin)
times = sorted((w["from_ns"] is None, w["to_ns"] is None) for w in r["longest"])
assert times == [(False, False)] * 3 + [(True, True)] * 2, times
assert [t["longest_ns"] for t in r["threads"]] == [600000022, 600000011, 0], r'
ok a_sum_has_no_place_in_time_and_is_no_longest_wait $?

# A chain without addresses is there, but it is no stack: a verdict of its own.
intact defer619.data
gives a_chain_without_addresses_has_its_verdict "empty,proved,1
matched,proved,6
refused,proved,1" "SELECT verdict, confidence, n FROM verdicts
	WHERE kind = 'request' ORDER BY 1"
gives its_sample_is_joined 1,0 "SELECT count(chain), count(uraw) FROM request
	WHERE verdict = (SELECT id FROM word
		WHERE kind = 'request' AND name = 'empty')"
gives it_is_missing_in_trust '"missing (empty)",1' "SELECT class, samples
	FROM trust WHERE class LIKE 'missing%'"
gives it_is_no_error 0 "SELECT count(*) FROM causality_errors"

# all_say_empty: what shows stacks has the word, and none says "matched"
all_say_empty() {
	"$B" script "$work/db" 2>/dev/null | grep '\[user: ' >"$work/got"
	printf '\t[user: empty]\n' | diff - "$work/got" || return
	for command in "report" "report --format json" "flame -o -" \
		"page -o -" "export --format folded -o -" \
		"export --format chrome -o -"
	do
		# shellcheck disable=SC2086
		"$B" $command "$work/db" 2>/dev/null >"$work/got"
		if ! grep -q 'user: empty' "$work/got" ||
			grep -q 'user: matched' "$work/got"
		then
			echo "$command"
			return 1
		fi
	done
	"$B" query "$work/db" 'SELECT stack FROM folded' >"$work/got"
	[ "$(grep -c '\[user: empty\]' "$work/got")" = 1 ]
}
all_say_empty
ok all_outputs_say_empty $?
"$B" check "$work/db" | tr -s ' \n' ' ' >"$work/got"
grep -q 'joined 7 of 7 (100.00 %) 1 empty: the kernel found no' "$work/got"
ok check_says_why_it_is_empty $?
"$B" check --json "$work/db" | python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r["requests"]["matched"] == 6 and r["requests"]["empty"] == 1, r
assert [q["verdict"] for q in r["unjoined_requests"]] == ["empty"], r'
ok check_has_it_in_json $?
"$B" help verdicts | grep -q '^ *empty  *joined, but'
ok help_knows_the_word $?

# Databases of earlier versions have no such word, and call it matched.
cp "$work/db" "$work/old.db"
python3 -c 'import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.executescript("""UPDATE request SET verdict = 1 WHERE verdict = 12;
UPDATE sample_group SET mark = -1 WHERE mark = -12;
DELETE FROM word WHERE kind = "request" AND id = 12;""")
db.commit()' "$work/old.db"
for command in script report
do
	"$B" $command "$work/old.db" 2>/dev/null | grep -q '\[user: empty\]'
	ok ${command}_of_an_older_database_says_empty $?
done
"$B" merge -qfo "$work/db" "$work/old.db"
gives a_merged_one_has_the_verdict empty,1 "SELECT verdict, n FROM verdicts
	WHERE verdict = 'empty'"
"$B" query "$work/db" 'SELECT stack FROM folded' >"$work/got"
[ "$(grep -c '\[user: empty\]' "$work/got")" = 1 ]
ok so_have_its_sums $?
intact defer619.data
[ "$("$B" script -F comm,ip,dso "$work/db" 2>/dev/null |
	sed -n '/^qemu/,/^$/s/^	 *//p')" = "\
ffffffff9abc0010 ([guest kernel])
400300 (/opt/qemu)
400410 (/opt/qemu)
400520 (/opt/qemu)
401000 ([guest user])
400300 (/opt/qemu)
400410 (/opt/qemu)
400520 (/opt/qemu)" ]
ok the_address_in_a_guest_stands_on_the_stack_of_who_runs_it $?

# The vdso of programs of 32 bits, by its build-id in perf's cache. Their
# mapping has the name of the other one, whose build-id is not theirs.
elf=$captures/symfs/wl/frames32
python3 - "$elf" "$work" >"$work/vdso.txt" <<'EOT'
import os, shutil, sys
elf, work = sys.argv[1:]
def build_id(path):
    note = open(path, "rb").read()
    at = note.index(b"\x14\0\0\0\3\0\0\0GNU\0") + 12
    return note[at:at + 20].hex()
def table(name, of):
    print("raw type=67 misc=0x8002 hex=ffffffff%s14000000%s" % (
        of, name.encode().ljust(68, b"\0").hex()))
small = build_id(elf)
folder = "%s/.debug/.build-id/%s/%s" % (work, small[:2], small[2:])
os.makedirs(folder)
shutil.copy(elf, folder + "/vdso")
print("event cpu-clock")
print("raw type=80 misc=0 hex=0600000000000000" + "40000000" +
      b"x86_64".ljust(64, b"\0").hex())
table("[vdso]", "11" * 20)
table("[vdso32]", small)
print("""comm pid=32 name="small"
mmap pid=32 start=0xf7fc0000 len=0x3000 pgoff=0 path=[vdso]
comm pid=64 name="large"
mmap pid=64 start=0x7ffff7fc0000 len=0x3000 pgoff=0 path=[vdso]
sample pid=32 tid=32 cpu=0 time=1000 u=0xf7fc1012
sample pid=64 tid=64 cpu=0 time=2000 u=0x7ffff7fc1012""")
EOT
"$MKCAP" -p "$work/vdso.txt" "$work/vdso.data"
HOME=$work "$B" ingest -qfo "$work/db" "$work/vdso.data"
gives the_vdso_of_a_small_program_is_another_one "large,[vdso],
small,[vdso32],less" "SELECT comm, image, symbol FROM samples
	JOIN stack_frames ON stack = user_stack ORDER BY 1"

# The names of a kernel are remembered: its list, of a hundred thousand symbols, is
# not read a second time. That of the running kernel is only asked for what is in
# the kernel itself, as the rest of it changes.
mkdir "$work/home"
# remembered ID: whether there are names of that image
remembered() {
	ls "$work/home/.cache/backstitch/names/$(echo "$1" | cut -c1-2)/$(echo "$1" | cut -c3-)"-* \
		>/dev/null 2>&1
}
HOME=$work/home "$B" report --kallsyms $captures/fp-1.kallsyms $captures/fp-1.data \
	>"$work/first" 2>&1
remembered 4a5a9b0affb66c437abcd455d2738af879985fa9
ok a_list_of_symbols_is_read_once $?
HOME=$work/home "$B" report --kallsyms $captures/fp-1.kallsyms $captures/fp-1.data \
	>"$work/second" 2>&1
diff "$work/first" "$work/second"
ok what_is_remembered_says_the_same $?
id=$(od -An -v -tx1 /sys/kernel/notes 2>/dev/null | tr -d ' \n' |
	sed -n 's/.*040000001400000003000000474e5500\(.\{40\}\).*/\1/p')
text=$(sed -n 's/^\([0-9a-f]*\) . _text$/\1/p' /proc/kallsyms 2>/dev/null | head -n 1)
case $text,$id in
,* | 0000000000000000,* | *,)
	echo "skip the_running_kernel_is_remembered: it tells no addresses or no build-id"
	;;
*)
	# live PLACE: the kernel's image, and a sample at _text + PLACE
	live() {
		cat >"$work/live.txt" <<EOT
event cpu-clock
mmap pid=-1 start=0x$text len=0x7e000000 pgoff=0x$text path=[kernel.kallsyms]_text kernel id=$id
comm pid=7 name="one"
sample pid=7 tid=7 cpu=0 time=1000 k=$(python3 -c "print(hex(0x$text + $1))")
EOT
		rm -rf "$work/home/.cache"
		"$MKCAP" "$work/live.txt" "$work/live.data" &&
			HOME=$work/home "$B" ingest -qfo "$work/db" "$work/live.data" &&
			"$B" query --format csv "$work/db" "SELECT file FROM image
				WHERE kind = 3" | sed 1d
	}
	is the_running_kernel_names_its_code /proc/kallsyms "$(live 0x1000 | tr -d '\r')"
	remembered "$id"
	ok and_is_remembered $?
	is what_is_behind_it_is_looked_for_there /proc/kallsyms \
		"$(live 0x7dffff00 | tr -d '\r')"
	! remembered "$id"
	ok and_is_not_remembered $?
	;;
esac
