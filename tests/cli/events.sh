#!/bin/sh
# events.sh - the text of tracepoints, and fields of them as numbers to sum, sort and filter by.
# usage: BACKSTITCH=PROGRAM tests/cli/events.sh; prints "ok NAME" or "not ok NAME" lines.
#
# tests/live/events.py compares such text with that of a running kernel.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=tests/captures/events.data.zst
# those of the kernel that are told; others are named by the one before them
kallsyms=tests/captures/events.kallsyms
"$B" ingest --kallsyms $kallsyms -o "$work/e.db" $cap >"$work/ingest" 2>&1
"$B" script -F event,trace "$work/e.db" >"$work/script"
says an_address_is_named_with_the_size_of_its_function \
	'call_site=perf_event_mmap+0x155/0x3e0 ptr=ffff888122d33000 bytes_req=4096 bytes_alloc=4096 gfp_flags=GFP_KERNEL node=-1' \
	"$work/script"
says an_address_that_is_in_no_stack_is_named_too \
	'function=hrtimer_wakeup expires=3784827371755 softexpires=3784827321755 mode=REL was_armed=0' \
	"$work/script"
says elements_of_a_probes_arrays_have_their_type \
	'(401615) arr={1,-3,3,4} x16={65535,2,3} n=-2' "$work/script"
says an_address_of_the_kernels_own_is_no_number_of_ours \
	'page=? pfn=0x18ede8 order=0 migratetype=0 gfp_flags=GFP_KERNEL_ACCOUNT|__GFP_ZERO|__GFP_COMP' \
	"$work/script"
"$B" info "$work/e.db" >"$work/info"
says info_says_what_a_print_format_needs \
	'print format kmem:mm_page_alloc: needs vmemmap_base, which is in no capture' \
	"$work/info"
is info_names_no_format_that_is_followed 1 "$(grep -c 'print format\|which is in' "$work/info")"
is and_so_does_its_json '[{"event":"kmem:mm_page_alloc","problem":"needs vmemmap_base, which is in no capture"}]' \
	"$("$B" info --json "$work/e.db" | python3 -c 'import json, sys; print(json.dumps(json.load(sys.stdin)["print_formats"], separators=(",", ":")))')"

# The sum by the text of the events, and by their fields: 24,792 bytes, as perf kmem stat of perf 6.1 says.
sum=$(sed -n 's/.*kmem:kmalloc:.* bytes_alloc=\([0-9]*\) .*/\1/p' "$work/script" | awk '{ n += $1 } END { print n }')
is a_report_adds_up_a_field "\"weight\":$sum,\"unit\":\"bytes_alloc\"" \
	"$("$B" report --weight bytes_alloc --json $cap | grep -o '"weight":[0-9]*,"unit":"[a-z_]*"')"
"$B" report --weight 'iif(bytes_req > 64, bytes_alloc, NULL)' $cap >"$work/report"
large=$(sed -n 's/.*kmem:kmalloc:.* bytes_req=\([0-9]*\) bytes_alloc=\([0-9]*\) .*/\1 \2/p' "$work/script" |
	awk '$1 > 64 { n++; sum += $2 } END { printf("%d samples, %d,%03d iif", n, sum / 1000, sum % 1000) }')
says samples_without_a_weight_are_left_out "event: kmem:kmalloc, $large" "$work/report"
"$B" flame --weight bytes_alloc -o "$work/flame.svg" $cap 2>"$work/err"
says a_capture_is_drawn_by_a_field 'weighed by bytes_alloc' "$work/flame.svg"
is the_widths_add_up_to_the_sum_of_the_report "$sum" \
	"$(folded --weight bytes_alloc $cap 2>/dev/null | awk '{ n += $NF } END { print n }')"
"$B" report --weight no_such_field $cap >/dev/null 2>"$work/err"
is a_field_that_no_event_has_is_wrong_usage "2 1" "$? $(grep -c "no column 'no_such_field'" "$work/err")"
"$B" report --weight bytes_alloc --by samples $cap >/dev/null 2>"$work/err"
is two_weights_are_one_too_many 2 $?

# Rows by the value of a field, and samples chosen by one.
sed -n 's/.*kmem:kmalloc:.* bytes_req=\([0-9]*\) bytes_alloc=\([0-9]*\) .*/\1 \2/p' "$work/script" >"$work/sizes"
is a_report_has_a_row_for_each_value_of_a_field \
	"$(awk '{ n[$1]++; sum[$1] += $2 } END { for (v in n) print v, n[v], sum[v] }' "$work/sizes" | sort)" \
	"$("$B" report --sort kmem:kmalloc.bytes_req --weight bytes_alloc --json $cap |
		sed -n 's/.*"self_samples":\([0-9]*\),"self_weight":\([0-9]*\),.*"field":"\([0-9]*\)".*/\3 \1 \2/p' | sort)"
# As 'perf report --sort kmem:kmalloc.gfp_flags' of perf 6.1 names them, with these shares.
is flags_are_rows_by_their_names "6 GFP_KERNEL
3 GFP_KERNEL|__GFP_ZERO
1 GFP_ATOMIC" "$("$B" report --sort kmem:kmalloc.gfp_flags --format csv $cap | awk -F, 'NR > 1 { print $3, $NF }')"
"$B" report --sort kmem:kmalloc.call_site --kallsyms $kallsyms $cap >"$work/report"
says a_function_is_a_row_by_its_name '  50.00        5  perf_event_mmap+0x155/0x3e0' "$work/report"
want=$(awk '$1 > 64 { n++; sum += $2 } END { printf("%d samples, %d,%03d bytes_alloc", n, sum / 1000, sum % 1000) }' "$work/sizes")
"$B" report --filter 'bytes_req > 64' --weight bytes_alloc $cap >"$work/report"
says only_samples_that_pass_the_filter_count "event: kmem:kmalloc (filtered), $want" "$work/report"
"$B" report --filter 'bytes_req > 64' --weight bytes_alloc --json $cap >"$work/report"
says and_json_says_that_they_are_filtered '"filtered":true' "$work/report"
"$B" flame --filter 'bytes_req > 64' -o "$work/flame.svg" $cap 2>"$work/err"
says a_flame_graph_has_only_samples_that_pass_the_filter \
	">${want%%,*} of kmem:kmalloc, filtered" "$work/flame.svg"
"$B" report --filter 'bytes_req > 1000000' $cap >/dev/null 2>"$work/err"
is a_filter_that_nothing_passes_is_said "1 1" "$? $(grep -c 'no samples that the filters let through' "$work/err")"
bad=
while read -r o
do
	eval "$B report $o $cap" >"$work/out" 2>"$work/err"
	[ $? = 2 ] && [ ! -s "$work/out" ] || bad="$bad$o; "
done <<'END'
--filter 'bytes_req > 1) OR (1'
--filter '(DELETE FROM event)'
--filter 'no_such_field > 1'
--filter 'sum(bytes_req) > 1'
--filter "1 --"
--filter 1 --off-cpu
--filter 1 --html
--sort .bytes_req
--sort kmem:kmalloc.
--sort kmem:kmalloc.no_such_field
--sort 'kmem:kmalloc.ptr]'
--sort kmem:no_such_event.ptr
--sort kmem:kmalloc.ptr,kmem:kmalloc.node
--sort kmem:kmalloc.ptr --event timer:hrtimer_start
END
is what_is_no_field_or_filter_is_wrong_usage "" "$bad"

# values without a column of their own, as perf prints them
cp "$work/e.db" "$work/x.db"
python3 -c "import sqlite3, sys
with sqlite3.connect(sys.argv[1]) as c:
    first, = c.execute('SELECT min(e.id) FROM event e JOIN event_type t ON t.id = e.type WHERE t.kind = \'sample\'').fetchone()
    c.executemany('INSERT INTO sample_extra VALUES(?, ?, ?)', [
        (first, 'weight', 77), (first, 'addr', -4096), (first, 'data_page_size', 2 << 20)])" "$work/x.db"
is values_without_a_column_are_printed "fffffffffffff000 - 77 2M" \
	"$("$B" script -F addr,phys_addr,weight,data_page_size "$work/x.db" | head -n 1 | tr -s ' ' | sed 's/^ //; s/ $//')"
is and_others_have_none "- - - -" \
	"$("$B" script -F addr,phys_addr,weight,data_page_size "$work/x.db" | sed -n 2p | tr -s ' ' | sed 's/^ //; s/ $//')"
