#!/bin/sh
# screen.sh - tables and summaries fit the screen they are shown on.
# usage: BACKSTITCH=PROGRAM tests/cli/screen.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
TERM=dumb
export TERM
cp "$B" "$dir/backstitch"
cp "$root/tests/captures/task-exitexec.data" "$dir/perf.data" || exit 2
cd "$dir" || exit 2

ok() {	# ok NAME STATUS
	if [ "$2" = 0 ]
	then echo "ok $1"
	else
		echo "not ok $1"
		sed 's/^/# /' screen | head -40
	fi
}

# show COLUMNS ROWS COMMAND...: what a terminal of that size gets
show() {
	size="stty cols $1 rows $2"
	shift 2
	script -qec "$size; $*" /dev/null </dev/null | tr -d '\r' >screen
}

# fits COLUMNS: no line is longer, but for one word that cannot be parted, and
# examples, which are there to be copied
fits() {
	awk -v max="$1" '
	length($0) <= max || /^  (backstitch|perf) / { next }
	{ $0 = substr($0, 16) }
	NF > 1 { bad = 1; print "too long: " $0 >"/dev/stderr" }
	END { exit bad || !NR }' screen
}

./backstitch ingest --kallsyms "$root/tests/captures/task-exitexec.kallsyms" \
	--symfs "$root/tests/captures/symfs" perf.data 2>/dev/null
for width in 40 80 132
do
	for command in report info "report --callers do_syscall_64" help \
		"report --sort comm,dso" "help ingest" "help verdicts"
	do
		name=$(echo "$command" | tr -c 'a-z\n' _)
		case $command in
		help*) show "$width" 30 "./backstitch $command" ;;
		*) show "$width" 30 "./backstitch $command perf.db" ;;
		esac
		fits "$width"
		ok "${name}_fits_${width}_columns" $?
	done
done
show 80 24 ./backstitch report --event syscalls:sys_enter_exit_group perf.db
[ "$(wc -l <screen)" -le 24 ]
ok a_report_fits_the_screen $?
grep -q 'user: exit_per_task' screen
ok and_says_what_is_missing $?
show 40 24 ./backstitch report perf.db
! grep -q Image screen
ok a_narrow_screen_has_no_column_of_images $?
./backstitch report perf.db >screen
[ "$(wc -l <screen)" -gt 40 ]
ok a_file_gets_forty_rows $?
./backstitch info perf.db >screen
grep -q ' are unchecked .* would check ' screen
ok a_fact_is_one_line_in_a_file $?

# what is copied is whole, and names are cut last
./backstitch ingest -q --no-symbols -o sched.db "$root/tests/captures/ftrace-v7.dat" 2>/dev/null
show 80 24 ./backstitch path --limit 5 sched.db
fits 80 && [ "$(grep -c ' [0-9]*\.[0-9]\{6\},[0-9]*\.[0-9]\{6\}  ' screen)" = 5 ]
ok times_to_be_passed_to_path_are_whole_in_80_columns $?
show 70 24 "./backstitch report --sort sym,dso perf.db"
fits 70 && grep -q ' \[kernel\.kal~$' screen && ! grep -q '[^ ]\.\.\.[^ ]' screen
ok a_file_is_cut_before_names_are $?
show 120 24 "./backstitch query perf.db \"SELECT '日本語' AS a, 'x' AS b UNION SELECT 'abcdefg', 'y'\""
printf '%s\n' 'a        b' 'abcdefg  y' '日本語   x' >want
tail -n 3 screen | cmp -s want -
ok columns_are_aligned_by_cells $?
