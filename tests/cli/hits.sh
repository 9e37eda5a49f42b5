#!/bin/sh
# hits.sh - samples whose chain lacks the half that was hit, groups, kinds of events.
# usage: BACKSTITCH=PROGRAM tests/cli/hits.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=tests/captures
w=$work

# sql DATABASE TEXT: the last row
sql() {
	"$B" query --format csv "$1" "$2" | tail -n 1 | tr -d '"'
}

for n in kernel user group4-s
do
	"$B" ingest -q --symfs $cap/symfs --kallsyms $cap/hits.kallsyms \
		-o "$w/$n.db" $cap/hits-$n.data.zst
	ok "hits-$n is read" $?
done

# ---- no chain at all: the address that was hit has a line, as perf script prints it
cat >"$w/bare.txt" <<'END'
event cpu-clock nochain period=20
comm pid=7 tid=7 name="shop" time=1
mmap pid=7 start=0x401000 len=0x1000 pgoff=0x1000 path=/shop/shop time=2
sample pid=7 tid=7 cpu=0 time=1000 ip=0x40109c
sample pid=7 tid=7 cpu=0 time=1020 ip=0x401fff
sample pid=7 tid=7 cpu=0 time=1040 ip=0x40109c
END
"${MKCAP:-build/mkcap}" "$w/bare.txt" "$w/bare.data"
"$B" script --symfs $cap/symfs -F comm,ip,sym,srcline "$w/bare.data" >"$w/bare.out"
is a_sampled_address_has_its_line "shop 40109c sort_rows/shop.c:67/shop 401fff [unknown]/shop 40109c sort_rows/shop.c:67/" \
	"$(awk '{ $1 = $1 } 1' "$w/bare.out" | tr '\n' /)"
cd "$w" || exit 2

# ---- the half that was hit
is no_sample_is_without_a_stack 0 "$(sql kernel.db \
	'SELECT count(*) FROM samples WHERE kernel_stack IS NULL AND user_stack IS NULL')"
"$B" report kernel.db >out
grep -q '^ .* add  *hits$' out && ! grep -q 'no stack' out
ok report_names_the_function_that_was_hit $?
is trust_says_that_user_stacks_were_not_recorded "No user stacks were recorded. 'perf record -g' records them." \
	"$(head -n 1 out)"
"$B" export --format folded kernel.db >out
grep -q '^hits;\[user: hit_only\];add [0-9]*$' out
ok graphs_mark_the_address $?
"$B" export --format folded user.db >out
grep -q '^hits;.*;\[kernel: hit_only\];do_syscall_64_\[k\] [0-9]*$' out &&
	! grep -v 'hit_only' out | grep -q '_\[k\]'
ok and_those_of_the_kernel $?
"$B" report user.db >out.report
grep -q '^kernel half missing: \[kernel: hit_only\] [0-9.]* %$' out.report &&
	! grep -q 'user half missing' out.report
ok report_counts_them $?
is the_view_folded_does_so_too "$(grep -c 'kernel: hit_only' out)" \
	"$(sql user.db "SELECT count(*) FROM folded
		WHERE stack LIKE '%;[kernel: hit_only];%\_[k]' ESCAPE '\'")"
is and_the_tree "$(awk '/kernel: hit_only/ { n += $NF } END { print n }' out)" \
	"$(sql user.db "SELECT sum(weight) FROM flame WHERE name = '[kernel: hit_only]'")"
is and_that_of_a_process "$(awk '/kernel: hit_only/ { n += $NF } END { print n }' out)" \
	"$(sql user.db "SELECT sum(weight) FROM flame WHERE name = '[kernel: hit_only]'
		AND pid = (SELECT max(pid) FROM process WHERE name = 'hits')")"
is and_a_stack "kernel,do_syscall_64 kernel,[kernel: hit_only] user," \
	"$("$B" query --format csv user.db "SELECT half, CASE half WHEN 'user'
		THEN '' ELSE symbol END FROM full_stack WHERE event_id = (SELECT
		min(e.id) FROM event e JOIN raw_chain k ON k.id = e.kraw
		JOIN stack_path s ON s.stack = k.stack JOIN frame f
		ON f.id = s.frame JOIN symbol y ON y.id = f.symbol
		WHERE y.name = 'do_syscall_64') AND pos < 3 ORDER BY pos" |
		tail -n +2 | tr -d '"\r' | tr '\n' ' ' | sed 's/ $//')"
"$B" flame -o out.svg user.db && grep -q '\[kernel: hit_only\]' out.svg &&
	"$B" page -o out.html user.db &&
	grep -q '\[kernel: hit_only\]' out.html
ok pictures_and_pages_mark_it_too $?
is so_does_the_view 1 "$(sql kernel.db "SELECT count(*) FROM folded
	WHERE stack = 'hits;[user: hit_only];add'")"
"$B" script kernel.db >out
! grep -q 'hit_only\|add+' out
ok script_leaves_it_out_as_perf_does $?
"$B" script --json kernel.db >out
is json_has_it_with_a_mark "$(sql kernel.db "SELECT count(*) FROM event e
	JOIN raw_chain u ON u.id = e.uraw WHERE u.ended =
	(SELECT id FROM word WHERE kind = 'unwind' AND name = 'hit_only')")" \
	"$(grep -c '"user":\[{[^}]*"hit_only":true}\]' out)"
"$B" script --json user.db >out
grep -q '"kernel":\[{[^}]*"hit_only":true}\],"user":\[{[^}]*"symbol":"ask_kernel"' out
ok a_kernel_half_has_the_mark_too $?
"$B" report user.db >out
grep -q 'do_syscall_64  *\[kernel' out
ok a_user_chain_has_the_kernel_function $?
"$B" check kernel.db >out && ! grep -q unwound out
ok check_does_not_call_them_unwound $?

# ---- groups
is each_member_has_samples 'cpu-clock 83;task-clock 83;page-faults 83;context-switches 51' \
	"$(sql group4-s.db "SELECT group_concat(name || ' ' || events, ';')
	FROM event_type WHERE kind = 'sample' AND how <> 'mark'")"
is a_member_names_its_leader 0 "$(sql group4-s.db "SELECT count(*) FROM event e
	JOIN event_type t ON t.id = e.type AND t.how = 'read'
	LEFT JOIN sample_extra x ON x.event = e.id AND x.name = 'leader'
	LEFT JOIN event l ON l.id = x.value
	WHERE l.id IS NULL OR l.type = e.type OR l.time_ns <> e.time_ns
	OR l.uraw IS NOT e.uraw OR l.kraw IS NOT e.kraw")"
"$B" report --event page-faults group4-s.db >out 2>&1
grep -q '^event: page-faults, 83 samples, 4,779 page-faults$' out &&
	grep -q '  work  *hits$' out
ok report_shows_a_member $?
"$B" export --format folded --event context-switches group4-s.db >out
is folded_stacks_show_a_member 55 "$(awk '{ n += $NF } END { print n }' out)"

# ---- kinds and units
"$B" info group4-s.db >out
grep -q 'events  *cpu-clock: 83 samples$' out &&
	grep -q '^  *page-faults: 83 readings of 4,779 events$' out
ok info_tells_readings $?
is units_are_known 'ns ns events events' "$(sql group4-s.db "SELECT
	group_concat(unit, ' ') FROM event_type WHERE kind = 'sample' AND how <> 'mark'")"
is views_have_the_unit 'ns' "$(sql group4-s.db \
	"SELECT unit FROM hot_functions WHERE event = 'task-clock' LIMIT 1")"
cd - >/dev/null || exit 2
"$B" info $cap/naps.data >"$w/out" 2>/dev/null
grep -q 'context-switches: [0-9]* events' "$w/out"
ok info_tells_events_that_each_have_a_row $?
"$B" info $cap/group.data >"$w/out" 2>/dev/null
grep -q 'dummy:HG: only for records that are no samples' "$w/out"
ok info_tells_events_without_samples $?
