#!/bin/sh
# cgroup.sh - samples by the cgroup that they were recorded with.
# usage: BACKSTITCH=build/backstitch tests/cli/cgroup.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
db=$work/a.db
"$B" ingest -q --no-symbols -o "$db" tests/captures/cgroups.data

# as 'perf report --sort cgroup -n' counts them
"$B" report --sort cgroup --format csv "$db" | awk -F, 'NR > 1 {
	print $3, $NF }' | sort >"$work/rows"
printf '12 /db\n24 /web\n25 /\n25 /web/api\n' | sort | cmp -s - "$work/rows"
ok rows_by_cgroup_are_those_of_perf $?
"$B" report --json --sort cgroup,comm "$db" |
	grep -q '"total_samples":12,.*"comm":"cgroups","cgroup":"/db"'
ok cgroups_go_with_other_keys $?

bad=0
# samples PATTERN: of each command that filters
for want in '/db 12' '/web 24' '/web* 49' '/web,/db 36' '*api,/ 50' '* 86'
do
	n=${want##* } name=${want% *}
	"$B" report --cgroup "$name" "$db" 2>&1 |
		grep -q "filtered), $n samples," || bad=1
	"$B" flame --cgroup "$name" -o - "$db" 2>&1 |
		grep -q "<title id=\"name\">cgroups.*: $n samples of" || bad=1
	[ "$("$B" script --cgroup "$name" -F comm,time "$db" | wc -l)" = "$n" ] ||
		bad=1
	[ "$("$B" export --format folded --cgroup "$name" --by samples "$db" |
		awk '{ n += $NF } END { print n }')" = "$n" ] || bad=1
	[ "$("$B" export --format chrome --cgroup "$name" "$db" 2>"$work/err" |
		grep -o '"sf":' | wc -l)" = "$n" ] || bad=1
done
ok every_command_takes_a_list_of_patterns $bad
"$B" report --sort cgroup --filter "cgroup GLOB '/web*'" "$db" |
	grep -q ', 49 samples,'
ok expressions_may_use_the_cgroup $?
"$B" diff --sort cgroup --json "$db" "$db" | grep -c '"cgroup":"/' |
	grep -qx 4
ok a_diff_has_a_row_for_each_cgroup $?

"$B" report --cgroup /nope "$db" 2>&1 |
	grep -q "no cgroup '/nope' here; there is /, /web, /web/api, /db"
ok a_name_that_is_not_there_is_said $?
"$B" ingest -q --no-symbols -o "$work/b.db" tests/captures/fp-1.data
"$B" report --sort cgroup "$work/b.db" 2>&1 | grep -q 'all-cgroups.* records'
ok a_capture_without_cgroups_says_how_to_record_them $?
bad=0
for opts in '--sched --cgroup /db' '--wall --sort cgroup' \
	'--sort cgroup,a.b'
do
	# shellcheck disable=SC2086 # several words
	"$B" report $opts "$db" >"$work/out" 2>&1
	[ $? = 2 ] || bad=1
done
ok what_has_no_cgroup_refuses_it $bad
