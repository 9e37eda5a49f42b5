#!/bin/bash
# run.sh - runs the tests and counts them; the last line is "N passed, N failed".
# usage: O=build JOBS=2 tests/run.sh [GROUP|GROUP/NAME|O=DIR...]
#
# Groups: cases truth compare fleet browser cli unit docs damage fuzz (all of
# these by default; the longest programs come first), and style. GROUP/NAME runs
# one program of a group. Groups behind O=DIR test what is built there: programs
# of several builds run in one queue.
#
# LONG=1 does all that there is to do: $BACKSTITCH_SHARED is found beside the
# root, random tests run longer, and under sanitizers all captures are damaged
# and leaks are looked for in each command. Without it, a change is tested in
# minutes. 'make check-long' sets it.
#
# JOBS programs (four more than processors by default) run side by side, each with a
# home and a temporary folder of its own; their results are printed in the
# order in which they were started. $O/log/times lists the time that each
# took: by the clock, user and system; those that took the most processor time
# are named at the end.
#
# A script of cli with a line "Waits: FOR WHAT" takes a minute and hardly any
# processor time: it runs beside those JOBS programs, from the beginning.
#
# SHARE=1: of the programs of $TURNS only those run whose turn it is; the commit
# says whose. Each script of cli runs in one of two builds, a twelfth of them under
# sanitizers, another one for each commit. One that says "With sanitizers:
# REASON" always runs under them, and without them with LONG only; one that says
# "In both builds: REASON" runs in both.
#
# A script reports with lines "ok NAME" and "not ok NAME", and "skip NAME:
# REASON" for what cannot be tested on this machine; libcheck programs report
# with their own summary. A program that ends with an error, or that reports
# nothing, is a failure.
cd "$(dirname "$0")/.." || exit 2
ROOT=$PWD
export ROOT LONG=${LONG:-}
export LC_ALL=C TZ=UTC NO_COLOR=1
# no test ends with a crash of the machine
export BACKSTITCH_NO_SYNC=1
# What was freed is kept for a while: 8 MB of it instead of 256 save the tests
# that try much in one process a tenth of their time.
export ASAN_OPTIONS="quarantine_size_mb=8:${ASAN_OPTIONS:-}:detect_leaks=1:abort_on_error=0"
export UBSAN_OPTIONS="print_stacktrace=1:${UBSAN_OPTIONS:-}"
# make exports its variables: CC=clang must not affect what the tests compile
unset XDG_CACHE_HOME DEBUGINFOD_URLS MAKEFLAGS MFLAGS MAKEOVERRIDES COLUMNS \
	CC CFLAGS LDFLAGS
if [ -z "${BACKSTITCH_SHARED:-}" ] && [ "$LONG" ] && [ -d ../shared/captures ]
then
	BACKSTITCH_SHARED=$(cd ../shared && pwd)
fi
export BACKSTITCH_SHARED
# which part of what takes turns it is: that of the commit, or one that is wanted
export SHARE_OF=${SHARE_OF:-$((0x$(git rev-parse --short=4 HEAD 2>/dev/null || echo 0)))}

# Files are made and removed all the time: in memory, that takes half of what it
# takes on a disk. Needs room for all that runs, and to start what was compiled.
tmp=/dev/shm
if [ "${TMPDIR:-}" ] || ! df -Pk -t tmpfs $tmp 2>/dev/null | awk -v least=$((4 << 20)) '
	NR > 1 && $4 >= least { room = 1 }
	$1 == "MemAvailable:" && $2 >= least { memory = 1 }
	END { exit !(room && memory) }' - /proc/meminfo || ! work=$(mktemp -d -p $tmp)
then work=$(mktemp -d) || exit 2
elif ! { printf '#!/bin/sh\n' >"$work/try" && chmod +x "$work/try" && "$work/try"; } 2>/dev/null
then
	rm -r "$work"
	work=$(mktemp -d) || exit 2
fi
# stop STATUS: ends all programs that still run
stop() {
	# shellcheck disable=SC2046 # a list of process ids
	kill $(jobs -p) 2>/dev/null
	exit "$1"
}
trap 'rm -rf "$work"' EXIT
trap 'stop 130' INT TERM
# Scripts start Python more than a thousand times. One that is a script itself, as
# pyenv's, takes ten times as long to start: they get the next one that is none.
for python in $(type -ap python3)
do
	[ "$(head -c 2 "$python")" != '#!' ] || continue
	mkdir "$work/bin"
	ln -s "$python" "$work/bin/python3"
	PATH=$work/bin:$PATH
	break
done
: >"$work/failed"
# Since 6.17 perf asks the kernel for build-ids in place of inodes, and the kernel
# (5.12 to 6.18) writes some into what others record meanwhile, too. Here, it does so
# for those that ask; an older perf refuses the value.
printf '[record]\n\tbuild-id = no-mmap\n' >"$work/perfconfig"
if PERF_CONFIG=$work/perfconfig perf record -q -o /dev/null true >"$work/out" 2>&1
then export PERF_CONFIG=$work/perfconfig
fi
passed=0
failed=0
skipped=0

# four more than processors, as some wait for servers, a page or a minute to pass; with
# six more, two processors have nothing to do for as long
JOBS=${JOBS:-$(($(nproc) + 4))}
export DAMAGE_JOBS=${DAMAGE_JOBS:-1}
# A program that hangs is stopped after these seconds; one that takes a minute
# must not be, however busy the machine is.
LIMIT=${LIMIT:-900}
# As much for a test of libcheck, whose own limit is 4 s.
export CK_DEFAULT_TIMEOUT=$LIMIT
groups=()	# for each program: its group,
builds=()	# the build that it tests,
names=()	# its name,
commands=()	# and its command, quoted for eval
waiting=()	# those that wait more than they compute, and run beside the others
wanted=()	# NAMEs of this group that were asked for; empty: all
started=0
counted=0
running=0

declare -A sans withouts	# of each build that was asked once

# build DIR: what follows tests this build
build() {
	O=$1
	case $O in /*) out=$O ;; *) out=$ROOT/$O ;; esac
	BACKSTITCH=$out/backstitch
	MKCAP=$out/mkcap
	MKFTRACE=$out/mkftrace
	log=$out/log
	if [ -z "${sans[$O]+known}" ]
	then
		sans[$O]=
		! grep -qse '-fsanitize=' "$out/flags" || sans[$O]=san
		withouts[$O]=$("$BACKSTITCH" --version 2>/dev/null |
			sed -n 's/^built without://p')
	fi
	SAN=${sans[$O]}
	without=${withouts[$O]}
	export O BACKSTITCH MKCAP MKFTRACE SAN
}

# count GROUP NAME STATUS SECONDS CPU: adds the results in the log of one program
count() {
	local f=$log/$1-$2.log good bad skip note
	# libcheck: "100%: Checks: 9, Failures: 0, Errors: 0"
	read -r good bad skip < <(awk -v name="$1/$2" -v failed="$work/failed" '
		# a verdict may stand behind output that ends without a newline
		match($0, /not ok [A-Za-z0-9_]/) {
			bad++
			print name ": " substr($0, RSTART + 7) >>failed
			next
		}
		/^skip / { skip++ }
		/^ok / || /[^ ]ok [a-z0-9_]+$/ { good++ }
		/^[0-9]*%: Checks: [0-9]+, Failures: [0-9]+, Errors: [0-9]+$/ {
			bad += $5 + $7
			good += $3 - $5 - $7
		}
		/^[^ ]+\.c:[0-9]+:[FE]:/ { print name ": " $0 >>failed }
		END { print good + 0, bad + 0, skip + 0 }' "$f")
	if [ "$3" = 124 ] || [ "$3" = 137 ]
	then
		bad=$((bad + 1))
		echo "$1/$2: took too long, see $f" >>"$work/failed"
	elif [ "$3" != 0 ] && [ "$bad" = 0 ]
	then
		bad=1
		echo "$1/$2: ended with status $3, see $f" >>"$work/failed"
	elif [ $((good + bad + skip)) = 0 ]
	then
		bad=1
		echo "$1/$2: tested nothing, see $f" >>"$work/failed"
	fi
	passed=$((passed + good))
	failed=$((failed + bad))
	skipped=$((skipped + skip))
	note=
	if [ "$bad" != 0 ]
	then
		note="  $bad FAILED"
		{
			echo "$1/$2 said:"
			grep -a -A 12 -e 'not ok ' -e ':[FE]:' "$f" || tail -n 20 "$f"
		} | head -n 60 | sed 's/^/    /' >>"$work/said"
	fi
	[ "$skip" = 0 ] || note="$note  $skip skipped"
	[ "$4" -lt 5 ] || note="$note  ($4 s)"
	printf '  %-7s %-24s %5d ok%s\n' "$1" "$2" "$good" "$note"
	echo "$4 s, $5: $1 $2" >>"$log/times"
}

# What takes most processor time, in four parts that take about the same: with
# SHARE, two bits of the commit's id say which part runs.
TURNS=("fleet/there cli/hostile cli/identity_more cli/diff_times cli/growth
	browser/chain"
	"fleet/push cli/faults cli/identity cli/bombs cli/impossible docs/examples"
	"cli/archives cli/causality cli/escapes cli/twins cli/memory cli/lying
	compare/cookbook compare/deferred browser/heat"
	"cli/asleep cli/throttled cli/jobs cli/planted cli/foreign compare/fleet
	compare/hostile browser/views browser/evil")

# not_its_turn GROUP/NAME: is that a program of a part for other commits?
not_its_turn() {
	[ "${SHARE:-}" ] && [ -z "$LONG" ] && [ ${#wanted[@]} = 0 ] &&
		[[ " ${TURNS[*]} " =~ [[:space:]]$1[[:space:]] ]] &&
		! [[ " ${TURNS[$(((SHARE_OF >> 8) % ${#TURNS[@]}))]} " =~ [[:space:]]$1[[:space:]] ]]
}

# run GROUP NAME COMMAND...: queues a program if it was asked for
run() {
	local group=$1 name=$2
	shift 2
	[ ${#wanted[@]} = 0 ] || [[ " ${wanted[*]} " == *" $name "* ]] || return
	! not_its_turn "$group/$name" || return
	groups+=("$group")
	builds+=("$O")
	names+=("$name")
	commands+=("${*@Q}")
}

# run_with FILE GROUP NAME COMMAND...: run, if this build has the optional libraries
# that the file needs, which a line "# Needs: libcurl" of it names
run_with() {
	local file=$1 lib
	shift
	# shellcheck disable=SC2013 # words
	for lib in ${without:+$(sed -n 's|^[#/ ][* ]*Needs: \([^*]*\).*|\1|p' "$file")}
	do
		case "$without " in
		*" $lib "*)
			run "$1" "$2" echo "skip $2: built without $lib"
			return
			;;
		esac
	done
	run "$@"
}

# work_on N: runs the N-th program; leaves its status and seconds in N/end
work_on() {
	local dir=$work/$1 begun=$SECONDS rc=0
	mkdir -p "$dir/home" "$dir/tmp"
	export HOME=$dir/home TMPDIR=$dir/tmp
	# It takes longer than most commands; the same functions run in units
	# and cases, and first.sh runs every command.
	case $LONG${groups[$1]}/${names[$1]} in
	cli/first) ;;
	cli/*) ASAN_OPTIONS=$ASAN_OPTIONS:detect_leaks=0 ;;
	esac
	trap 'kill $!; exit 1' TERM
	# a shell without job control lets what it starts ignore SIGINT, nohup SIGHUP
	eval "timeout -k 5 $LIMIT env --default-signal=INT,HUP ${commands[$1]}" \
		>"$log/${groups[$1]}-${names[$1]}.log" 2>&1 </dev/null &
	wait $! || rc=$?
	rm -rf "${dir:?}/home" "${dir:?}/tmp"
	# user and system time of the program: "0m1.234s 0m0.456s"
	times >"$dir/cpu"
	echo "$rc $((SECONDS - begun)) $(tail -n 1 "$dir/cpu")" >"$dir/end.tmp"
	mv "$dir/end.tmp" "$dir/end"
}

# one_ended: waits until any program ends, then prints the results that are next
# in the order
one_ended() {
	local rc took cpu
	wait -n
	running=$((running - 1))
	while [ -f "$work/$counted/end" ]
	do
		read -r rc took cpu <"$work/$counted/end"
		build "${builds[$counted]}"
		count "${groups[$counted]}" "${names[$counted]}" "$rc" "$took" \
			"$cpu"
		counted=$((counted + 1))
	done
}

# still_waiting: how many of those that wait have not ended
still_waiting() {
	local i n=0
	for i in "${waiting[@]}"
	do
		[ -f "$work/$i/end" ] || n=$((n + 1))
	done
	echo $n
}

# waits I: does the I-th program wait more than it computes?
waits() {
	grep -qs '^# Waits: ' "tests/${groups[$1]}/${names[$1]}.sh"
}

# begin_with_those_that_wait: nothing else would run beside the last of them
begin_with_those_that_wait() {
	local i first=() rest=()
	for i in "${!groups[@]}"
	do
		if waits "$i"
		then first+=("$i")
		else rest+=("$i")
		fi
	done
	local -n list
	for list in groups builds names commands
	do
		local old=("${list[@]}")
		list=()
		for i in "${first[@]}" "${rest[@]}"
		do
			list+=("${old[$i]}")
		done
	done
}

run_queue() {
	begin_with_those_that_wait
	while [ $started -lt ${#groups[@]} ]
	do
		# damage and fuzz begin with the captures that cases makes
		case ${groups[$started]} in
		damage | fuzz) wait_for_cases "${builds[$started]}" ;;
		esac
		build "${builds[$started]}"
		work_on $started &
		! waits $started || waiting+=("$started")
		started=$((started + 1))
		running=$((running + 1))
		while [ $running -ge $((JOBS + $(still_waiting))) ]
		do
			one_ended
		done
	done
	while [ $running -gt 0 ]
	do
		one_ended
	done
}

# wait_for_cases BUILD
wait_for_cases() {
	local i
	for ((i = 0; i < started; i++))
	do
		while [ "${groups[$i]} ${builds[$i]}" = "cases $1" ] &&
			[ ! -f "$work/$i/end" ]
		do
			one_ended
		done
	done
}

# A test whose program was not built counts as a failure. Under sanitizers, the
# fork of a test and the search for leaks at its end take 0.1 s, more than most of
# them: all tests of a program run in one process, whose end tells of every leak.
# Without them, with LONG, and of a file with a line "A process for each test:
# REASON", each has a process of its own.
group_unit() {
	local fork
	for c in tests/unit/*.c
	do
		[ -f "$c" ] || continue
		name=$(basename "$c" .c)
		fork="env CK_FORK=no"
		if [ -z "$SAN" ] || [ "$LONG" ] || grep -q '^/\* A process for each test: ' "$c"
		then fork=
		fi
		# shellcheck disable=SC2086 # words
		run_with "$c" unit "$name" $fork "$out/unit/$name"
	done
}

group_cases() {
	run cases cases tests/cases/run.py
}

# Captures in which nothing was lost, of all CPUs and of one process.
group_truth() {
	set -- tests/captures/z-defer.data tests/captures/task-exitexec.data \
		tests/captures/defer-exitexec-s.data.zst
	for name in defer-cpuclock mono-defer defer-static
	do
		f=$BACKSTITCH_SHARED/captures/perf-deferred/$name.data
		[ ! -f "$f" ] || set -- "$@" "$f"
	done
	# sanitizers make a case ten times as long
	cases=4000
	[ -z "$LONG" ] || cases=30000
	[ -z "$SAN" ] || cases=3000
	run truth truth env BACKSTITCH_CASES="${BACKSTITCH_CASES:-$cases}" \
		"$out/truth/truth" "$@"
	for f in perf-deferred/tidreuse-defer.data ftrace/marker/trace.dat
	do
		f=$BACKSTITCH_SHARED/captures/$f
		[ ! -f "$f" ] || set -- "$@" "$f"
	done
	run truth edits "$out/truth/truth" --edits "$@"
}

group_compare() {
	for t in compare newest kernels intact hits selfs counts joincheck asperf evidence audit twin \
		names shortnames callsite accused unmapped deferred maps mapped made ftrace eventnames eventtext ftext offcpu waits sched latency ctflatency latencycuts critical nonce ctf ctfmade \
		ctfmeta ctfframes texts timeline lives jit lines inlined across libdw sframe \
		exporttext exportpprof exportfirefox exportperf exportctf fleet cookbook segments hostile kills \
		jsonschemas screens
	do
		run compare "$t" python3 "tests/compare/$t.py"
	done
}

# With servers of their own.
group_fleet() {
	for t in tests/fleet/*.py
	do
		# what is no program, but a module of them, begins with its text
		[ "$(head -c 1 "$t")" = "#" ] || continue
		run fleet "$(basename "$t" .py)" python3 "$t"
	done
}

# its_turn SCRIPT N: does the N-th script of cli run in this build?
its_turn() {
	[ ${#wanted[@]} = 0 ] || return 0
	# it shows the same without sanitizers, in a tenth of the time
	if grep -q '^# Without sanitizers: ' "$1"
	then
		[ -z "$SAN" ]
		return
	fi
	[ -z "$LONG" ] || return 0
	# it does another part in each
	! grep -q '^# In both builds: ' "$1" || return 0
	# what it tries shows under them, or not at all
	if [ -z "$SAN" ] && grep -q '^# With sanitizers: ' "$1"
	then
		return 1
	fi
	[ "${SHARE:-}" ] || return 0
	if [ $((($2 + SHARE_OF) % 12)) = 0 ] ||
		grep -q '^# With sanitizers: ' "$1"
	then
		[ "$SAN" ] || grep -q 'echo "skip .*: under sanitizers' "$1"
	else
		[ -z "$SAN" ]
	fi
}

group_cli() {
	local t n=0
	for t in tests/cli/*.sh
	do
		[ -f "$t" ] || continue
		n=$((n + 1))
		its_turn "$t" $n || continue
		run_with "$t" cli "$(basename "$t" .sh)" sh "$t"
	done
}

# Pictures and pages in a headless Chromium.
group_browser() {
	for t in svg diff page views heat chain source diffpage sides link names evil
	do
		run browser "$t" python3 "tests/browser/$t.py"
	done
}

group_damage() {
	for c in tests/damage/*.c
	do
		[ -f "$c" ] || continue
		name=$(basename "$c" .c)
		# what nobody notices is the same under sanitizers, and five
		# times as long; their part are the random changes of the others
		[ "$SAN $name ${wanted[*]}" != "san edits " ] || continue
		run damage "$name" tests/damage.sh "$out/damage/$name"
	done
	# 'make faults' tries more of them
	parts=1
	[ -z "$SAN" ] || [ "$LONG" ] || parts=3
	run damage hostile python3 tests/faults/hostile.py "$out" 24/$parts
}

group_fuzz() {
	for c in tests/fuzz/*.c
	do
		[ -f "$c" ] || continue
		name=$(basename "$c" .c)
		run fuzz "$name" tests/fuzz.sh "$name"
	done
}

# Checks of the documents: every tests/check-*.sh except those of style.
group_docs() {
	for t in tests/check-*.sh
	do
		case $t in
		*-layers.sh | *-sizes.sh | *-style.sh | *-headers.sh) continue ;;
		*-circles.sh | *-definitions.sh | *-asserts.sh | *-text.sh)
			continue ;;
		esac
		[ -f "$t" ] || continue
		name=$(basename "$t" .sh)
		# What a check needs besides the root: its programs, by name.
		set --
		[ "$name" != check-names ] || set -- "$out/names/names"
		run_with "$t" docs "${name#check-}" tests/quiet.sh "$name" "$t" "$@"
	done
}

group_style() {
	run style layers tests/quiet.sh layers tests/check-layers.sh
	run style circles tests/quiet.sh circles tests/check-circles.sh
	run style definitions tests/quiet.sh definitions \
		tests/check-definitions.sh
	run style sizes tests/quiet.sh sizes tests/check-sizes.sh
	run style text tests/quiet.sh text tests/check-text.sh
	run style english tests/quiet.sh english tests/check-english.sh
	run style style tests/check-style.sh
	run style asserts tests/check-asserts.sh
	run style headers tests/check-headers.sh
}

# shellcheck disable=SC2034 # SECONDS counts by itself
SECONDS=0
build "${O:-build}"
[ $# -gt 0 ] || set -- cases truth compare fleet browser cli unit docs damage fuzz
logs=()
for g in "$@"
do
	case $g in
	O=*)
		build "${g#O=}"
		continue
		;;
	esac
	case " ${logs[*]} " in
	*" $log "*) ;;
	*)
		rm -rf "$log"
		mkdir -p "$log"
		logs+=("$log")
		;;
	esac
	wanted=()
	[ "$g" = "${g#*/}" ] || wanted=("${g#*/}")
	case ${g%%/*} in
	unit | cases | truth | compare | fleet | cli | browser | damage | fuzz | \
		docs | style)
		before=${#groups[@]}
		"group_${g%%/*}"
		if [ ${#groups[@]} = "$before" ] && [ ${#wanted[@]} != 0 ]
		then
			echo "no test '$g'" >&2
			exit 2
		fi
		;;
	*)
		echo "no test group '$g'" >&2
		exit 2
		;;
	esac
done
run_queue

if [ -s "$work/failed" ]
then
	echo
	echo "failed:"
	sed 's/^/  /' "$work/failed"
	cat "$work/said"
fi
# the most processor time: "8 s, 0m1.035s 0m0.528s: cli output"
awk '{
	for (i = 3; i <= 4; i++) {
		split($i, t, "m")
		used[NR] += 60 * t[1] + t[2]
	}
	printf "%.0f s %s/%s\n", used[NR], $5, $6
	all += used[NR]
}
END { printf "%.0f s of processor time\n", all }' "${logs[@]/%//times}" |
	sort -rn | head -n 10 | paste -s -d , | sed 's/,/, /g'
[ "$skipped" = 0 ] || echo "$skipped skipped (see ${logs[*]})"
echo "took $SECONDS s"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
