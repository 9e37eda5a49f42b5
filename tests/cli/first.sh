#!/bin/sh
# first.sh - the first five minutes of a new user, each as one would hope.
# usage: BACKSTITCH=PROGRAM tests/cli/first.sh; prints "ok NAME" or "not ok NAME" lines.
# With sanitizers: each command once
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cap=$root/tests/captures
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
chmod 755 "$dir"
# where somebody else may run it too
cp "$B" "$dir/backstitch" && B=$dir/backstitch
cd "$dir" || exit 2
cp "$cap/fp-1.data" perf.data
cp "$cap/pipe-zstd.data" pipe.data

# check NAME STATUS-WANTED STATUS TEXT...: the texts are in out or err
check() {
	name=$1 want=$2 got=$3
	shift 3
	why=
	[ "$want" = "$got" ] || why="status $got instead of $want"
	for text in "$@"
	do
		grep -qF -e "$text" out err || why="$why; nobody says '$text'"
	done
	grep -qE 'Sanitizer|runtime error' err && why="$why; sanitizer"
	if [ -z "$why" ]
	then
		echo "ok $name"
	else
		echo "not ok $name"
		echo "# $why"
		sed 's/^/# err: /' err | head -5
	fi
}

# truth NAME COMMAND...: the command succeeds
truth() {
	name=$1
	shift
	if "$@"
	then echo "ok $name"
	else echo "not ok $name"
	fi
}

# no temporary file stayed behind, and no database
nothing_left() {
	left=$(find "$1" -name '*.db*' -o -name '*backstitch*' \
		! -name backstitch)
	[ -z "$left" ]
}

# as_nobody COMMAND...: without the power to read everything
as_nobody() {
	if [ "$(id -u)" = 0 ]
	then setpriv --reuid=65534 --regid=65534 --clear-groups "$@"
	else "$@"
	fi
}

# as_owner COMMAND...: whom the modes of files bind, in folders of its own too
as_owner() {
	if [ "$(id -u)" = 0 ]
	then setpriv --bounding-set=-dac_override,-dac_read_search "$@"
	else "$@"
	fi
}

"$B" >out 2>err
check no_arguments_show_the_way 2 $? 'backstitch perf.data' 'flame'
truth no_arguments_print_nothing_on_stdout [ ! -s out ]
"$B" --help >out 2>err
check help_goes_to_stdout 0 $? '  ingest  '
truth help_prints_nothing_on_stderr [ ! -s err ]
"$B" help ingest >out 2>err
check help_of_a_command 0 $? 'usage: backstitch ingest' '--output'
"$B" ingest --help >all 2>err
truth the_long_option_is_the_same cmp -s all out
for topic in formats verdicts rules exit-status environment keys
do
	"$B" help $topic >out 2>err
	check "help_$topic" 0 $?
done
"$B" --version >out 2>err
check version 0 $? backstitch
# what a capture needs is told once, by ingest
for command in report flame script check info export annotate bundle
do
	"$B" help $command >out 2>err
	check help_points_to_the_rest_$command 0 0 "'backstitch help ingest'"
	truth and_does_not_repeat_it_$command sh -c "! grep -q cookie-layout out"
done
"$B" ingset perf.data >out 2>err
check a_mistyped_command_gets_a_suggestion 2 $? "did you mean 'ingest'?"
"$B" timechart a.data >out 2>err
check a_command_of_perf_has_its_name_here 2 $? "what perf calls 'timechart' is 'backstitch export --format chrome'"
"$B" perf.data >out 2>err
check a_file_instead_of_a_command 0 $? 'How to go on'
rm -f perf.db
"$B" --symfs "$dir" perf.data >out 2>err
check an_option_instead_of_a_command 0 $? 'How to go on'
rm -f perf.db
"$B" --limit 5 report perf.data >out 2>err
check options_of_a_command_come_behind_it 2 $? \
	"a command comes first, 'report' before '--limit'"
"$B" report --json --format csv perf.data >out 2>err
check two_formats_at_once_of_report 2 $? "leave out --json or --format csv"
"$B" query --format csv --json perf.data 'SELECT 1' >out 2>err
check two_formats_at_once_of_query 2 $? "leave out --json or --format csv"
"$B" report --json --format json perf.data >out 2>err
check one_format_named_twice 0 $? '"rows"'
COLUMNS=50 "$B" report --json --format csv perf.data >out 2>err
check long_messages_are_wrapped 2 $? '  --json or --format csv'
truth and_no_line_is_longer sh -c '! grep -qE ".{51}" err'
"$B" help perf.data >out 2>err
check help_of_a_file 2 $? "'backstitch perf.data' reads it"
"$B" ingest --ouptut x perf.data >out 2>err
check a_mistyped_option_gets_a_suggestion 2 $? "did you mean '--output'?"
"$B" info --cookie-layout=kernal perf.data >out 2>err
check a_mistyped_layout_gets_the_choices 2 $? "'kernal'" \
	'auto, kernel, cpu48, lowcpu, pair, opaque'
"$B" ingest >out 2>err
check ingest_without_a_capture 2 $? 'which capture?'
"$B" ingest nothere.data >out 2>err
check a_missing_file 1 $? 'nothere.data: no such file'

"$B" ingest perf.data >out 2>err
check ingest_makes_perf_db 0 $? perf.db samples
truth the_database_is_there [ -s perf.db ]
truth ingest_prints_nothing_on_stdout [ ! -s out ]
"$B" ingest perf.data >out 2>err
check a_database_is_not_overwritten 1 $? perf.db -f
"$B" ingest -f perf.data >out 2>err
check unless_it_is_wanted 0 $?
"$B" info perf.db >out 2>err
check info_of_the_database 0 $? cpu-clock
"$B" info perf.data >out 2>err
check info_straight_from_a_capture 0 $? cpu-clock
for layout in auto kernel cpu48 lowcpu pair opaque
do
	"$B" info --cookie-layout=$layout perf.data >out 2>err
	check "layout_$layout" 0 $? cpu-clock
done
"$B" info >out 2>err
check info_finds_the_database_itself 0 $? cpu-clock 'reading perf.db'
"$B" report --no-ch --lim 3 perf.db >out 2>err
check long_options_may_be_cut 0 $? 'Self %  Samples'
"$B" report --no perf.db >out 2>err
check unless_it_is_not_clear 2 $? "'--no' could be --no-children, --no-inline"
"$B" path --cpu 0 perf.db >out 2>err
check nor_for_another_commands_option 2 $? "unknown option '--cpu'"
"$B" script --format json perf.db >out 2>err
check nor_for_that_of_a_format 2 $? "unknown option '--format'"
"$B" report -g --sort sym perf.db >out 2>err
check perfs_letters_are_known 0 $? 'calls, from the outermost caller down'
for command in ingest report query completion help
do
	"$B" $command --version >out 2>err
	check "version_of_$command" 0 $? 'backstitch '
done
cp perf.db other.db
touch -d '1 hour' other.db
cp other.db notours.db
: >notours.db
touch -d '2 hours' notours.db
"$B" report >out 2>err
check the_newest_database_is_read 0 $? 'reading other.db'
rm -f other.db notours.db
"$B" info --json perf.db >out 2>err
check info_as_json 0 $? '"captures"'
"$B" ingest perf.db >out 2>err
check a_database_instead_of_a_capture 2 $? 'backstitch info perf.db'
"$B" ingest -f -o perf.data perf.data >out 2>err
check the_capture_is_never_the_output 2 $? 'is what is read'
truth the_capture_is_still_there cmp -s perf.data "$cap/fp-1.data"
"$B" script perf.data >out 2>err
check script_straight_from_a_capture 0 $? 'cpu-clock:'
if "$B" flame -h >out 2>err
then
	"$B" flame perf.data >out 2>err
	check flame_straight_from_a_capture 0 $? '<svg'
fi

# shellcheck disable=SC2002 # a pipe is what is tested
cat pipe.data | "$B" ingest - >out 2>err
check a_capture_through_a_pipe 0 $? backstitch.db
truth its_database_is_there [ -s backstitch.db ]
rm -f backstitch.db
# a pipe that cannot be read on is not at its end
python3 -c 'import os, subprocess, sys
out, to = os.pipe()
os.set_blocking(out, False)
os.write(to, open("pipe.data", "rb").read(20001))
sys.exit(subprocess.run([sys.argv[1], "ingest", "-"], stdin=out).returncode)' "$B" >out 2>err
check a_pipe_that_cannot_be_read_on 1 $? 'stdin: cannot read ('
rm -f backstitch.db
"$B" ingest - <perf.data >out 2>err
check a_capture_on_standard_input 0 $? backstitch.db
rm -f backstitch.db
cp perf.data 'my capture.data'
"$B" ingest './my capture.data' >out 2>err
check a_name_with_a_space 0 $? 'my capture.db'
gzip -c perf.data >packed.data.gz
"$B" ingest packed.data.gz >out 2>err
check a_packed_capture 0 $? packed.db

as_nobody "$B" info /etc/shadow >out 2>err
check a_file_of_root 1 $? '/etc/shadow: permission denied' root sudo
head -c 15000 perf.data >cut.data
"$B" ingest cut.data >out 2>err
check a_recording_killed_halfway 3 $? cut.data+0x cut.db
truth what_was_read_is_kept [ -s cut.db ]
head -c 60 perf.data >stub.data
"$B" ingest stub.data >out 2>err
check a_cut_in_the_header 1 $? stub.data
: >empty.data
"$B" ingest empty.data >out 2>err
check an_empty_file 1 $? 'empty.data: the file is empty'
"$B" script -F comm,tid,time,event,ip perf.db >script.txt 2>err
"$B" ingest --no-symbols script.txt >out 2>err
check the_text_of_perf_script 0 $?
rm -f script.txt.db
cp "$B" vmlinux
"$B" ingest vmlinux >out 2>err
check an_elf_file 1 $? vmlinux ELF
truth failures_leave_nothing [ ! -e stub.db ] && [ ! -e empty.db ] &&
	[ ! -e script.db ] && [ ! -e vmlinux.db ]
"$B" ingest . >out 2>err
check a_folder_that_is_no_capture 1 $?

# a reader that goes away; the status is that of backstitch
{ "$B" script perf.db 2>err; echo $? >status; } | head -n 1 >out
check script_into_head 0 "$(cat status)" cpu-clock
truth which_is_quiet [ ! -s err ]
"$B" script perf.db >/dev/full 2>err
check a_full_disk_behind_stdout 1 $? 'No space left on device'
"$B" help >/dev/full 2>err
check help_to_a_full_disk 1 $? 'No space left on device'
mkdir small
# a limit on the size of files fails as a full disk does
(
	ulimit -f 16
	exec "$B" ingest -o small/x.db perf.data
) >out 2>err
check a_database_that_does_not_fit 1 $? x.db
truth which_leaves_nothing nothing_left small
# -r: no need to be root, but not to be had in a chroot
ns=-rm
unshare $ns true 2>/dev/null || ns=-m
if unshare $ns true 2>/dev/null
then
	unshare $ns sh -c "mount -t tmpfs -o size=64k none small &&
		'$B' ingest -o small/x.db perf.data
		echo \$? >status; ls -A small >left" >out 2>err
	check a_full_disk 1 "$(cat status)" x.db
	truth a_full_disk_is_left_empty [ ! -s left ]
else
	echo "skip a_full_disk: no name spaces here"
fi

mkdir ro
cp perf.data ro/perf.data
chmod 555 ro
(cd ro && as_nobody "$B" ingest perf.data) >out 2>err
check a_read_only_folder 1 $? perf.db
truth which_has_nothing_new nothing_left ro
(cd ro && as_nobody "$B" info perf.data) >out 2>err
check looking_needs_no_writing 0 $? cpu-clock

# Both ways to a database make it in the same place, and say where.
mkdir apart rw
cp perf.data apart
"$B" ingest --no-symbols apart/perf.data >out 2>err
check a_database_stands_beside_its_capture 0 $? "apart/perf.db: "
was=$(stat -c %i apart/perf.db)
"$B" apart/perf.data >out 2>err
check where_a_look_finds_it 0 $? "reading apart/perf.db"
truth and_does_not_make_another \
	[ "$was" = "$(stat -c %i apart/perf.db)" ]
(cd rw && as_owner "$B" ingest --no-symbols ../ro/perf.data) >out 2>err
check or_in_the_current_folder 0 $? "perf.db: "
truth if_nothing_can_be_written_beside_it [ -s rw/perf.db ]
(cd rw && as_owner "$B" ../ro/perf.data) >out 2>err
check where_a_look_finds_it_too 0 $? "reading perf.db"

# A bundle is made beside its place first: what cannot be written is named, and
# not the temporary file.
mkdir shut sealed
cp perf.db shut
chmod 555 shut
while read -r made options
do
	# shellcheck disable=SC2086 # options and their values
	(cd shut && as_owner "$B" bundle $options perf.db) >out 2>err
	truth "no_bundle_in_a_read_only_folder_$made" \
		[ "$(cat err)" = "backstitch: $made: Permission denied" ]
	# shellcheck disable=SC2086,SC2016 # the same; the inner shell's
	unshare $ns sh -c 'mount -t tmpfs none sealed && cp perf.db sealed &&
		mount -o remount,ro sealed && cd sealed && exec "$@"' sh \
		"$B" bundle $options perf.db >out 2>err
	if grep -q 'unshare:\|mount:' err
	then
		echo "skip no_bundle_on_a_read_only_disk_$made: no name spaces here"
		continue
	fi
	truth "no_bundle_on_a_read_only_disk_$made" \
		[ "$(cat err)" = "backstitch: $made: Read-only file system" ]
done <<EOT
perf.tar.gz
perf.redacted.db --redact
x.db -o x.db
x.tar.zst -o x.tar.zst
EOT
truth a_bundle_that_failed_leaves_nothing [ "$(ls -A shut)" = perf.db ]
"$B" bundle -o nowhere/x.tar perf.db >out 2>err
truth nor_is_there_one_in_a_missing_folder \
	[ "$(cat err)" = "backstitch: nowhere/x.tar: No such file or directory" ]
"$B" bundle -o perf.db/x.db perf.db >out 2>err
truth nor_below_a_file [ "$(cat err)" = "backstitch: perf.db/x.db: Not a directory" ]

env -u HOME "$B" ingest -f perf.data >out 2>err
check no_home 0 $?
HOME='' "$B" ingest -f perf.data >out 2>err
check an_empty_home 0 $?
env -i "$B" ingest -f perf.data >out 2>err
check no_environment_at_all 0 $?

# Turkish: i and I are not one letter
"$B" script perf.db >c.txt 2>err
LC_ALL=tr_TR.UTF-8 LANG=tr_TR.UTF-8 "$B" script perf.db >tr.txt 2>>err
truth a_turkish_locale_changes_nothing cmp -s c.txt tr.txt
if localedef -i tr_TR -f UTF-8 "$dir/tr_TR.UTF-8" >/dev/null 2>&1
then
	LOCPATH=$dir LC_ALL=tr_TR.UTF-8 "$B" info --json perf.db >out 2>err
	check a_real_turkish_locale 0 $? '"captures"'
	LOCPATH=$dir LC_ALL=tr_TR.UTF-8 "$B" query perf.db \
		'SELECT 1.5 AS x' >out 2>err
	check with_a_point_in_numbers 0 $? 1.5
else
	echo "skip a_real_turkish_locale: no locale sources"
fi

# 40 columns: nothing but commands to copy, and a single word, is wider
for what in '' help ingest info script query symbolize dump verdicts \
	formats exit-status environment keys
do
	COLUMNS=40 "$B" help $what >out 2>err
	wide=$(sed -n '/^Examples:/q; /^  backstitch /d; p' out |
		awk 'length > 40 && NF > 1')
	truth "help_${what:-overview}_in_40_columns" [ -z "$wide" ]
done
# so are answers; a path has no blank to break at
for what in info report 'check --as-perf'
do
	# shellcheck disable=SC2086 # options too
	COLUMNS=50 "$B" $what perf.db >out 2>err
	wide=$(awk 'length > 50 && !/\//' out)
	truth "${what%% *}_in_50_columns" [ -z "$wide" ]
done
"$B" info perf.db >out 2>err
truth info_in_a_file_has_whole_lines grep -q '^  command .*300 2$' out
cat >one.txt <<EOT
event cpu-clock
comm pid=7 name="prog"
sample pid=7 tid=7 cpu=0 time=1000 u=0x400010
EOT
"$MKCAP" one.txt one.data && "$B" ingest -f one.data >out 2>err
truth one_sample_is_no_samples grep -qE '^one.db: 1 sample( |$)' err
truth nor_is_one_of_an_event grep -qE 'cpu-clock: 1 event(,|$)' err
if command -v script >/dev/null
then
	cat >narrow.sh <<-EOT
	stty cols 40
	'$B' query perf.db "SELECT 'abcdefghijklmnopqrstuvwxyz' AS a,
	 'abcdefghijklmnopqrstuvwxyz' AS b, count(*) AS n FROM samples"
	EOT
	TERM=xterm script -qec 'sh narrow.sh' /dev/null </dev/null >out 2>err
	wide=$(tr -d '\r' <out | awk 'length > 40')
	truth a_table_fits_a_narrow_terminal [ -z "$wide" ]
	check and_says_where_it_was_cut 0 0 '~'
fi

# gone PID [again]: waits for the end of a process; again: with more signals
gone() {
	n=0
	while kill -0 "$1" 2>/dev/null
	do
		n=$((n + 1))
		[ $n -lt 600 ] || return 1
		[ -z "$2" ] || kill -INT "$1" 2>/dev/null
		sleep 0.05
	done
}

mkfifo pipe
# A shell starts its background programs deaf to SIGINT.
env --default-signal=INT "$B" ingest - <pipe >out 2>err &
pid=$!
exec 3>pipe
cat pipe.data >&3	# larger than a pipe: it is being read
kill -INT $pid
gone $pid
wait $pid
check ctrl_c_ends_a_live_pipe 0 $? backstitch.db
exec 3>&-
truth and_keeps_what_was_read [ -s backstitch.db ]
rm -f backstitch.db
env --default-signal=INT "$B" ingest - <pipe >out 2>err &
pid=$!
exec 3>pipe
cat pipe.data >&3
gone $pid again
wait $pid
check a_second_ctrl_c_gives_up 130 $?
exec 3>&-
truth and_leaves_nothing [ ! -e backstitch.db ]
ls -A "$dir" >left
truth not_even_a_temporary_file sh -c "! grep -q 'backstitch.db' left"
env --default-signal=INT "$B" query perf.db 'WITH RECURSIVE c(x) AS
	(SELECT 1 UNION ALL SELECT x + 1 FROM c) SELECT count(*) FROM c' \
	>out 2>err &
pid=$!
gone $pid again
wait $pid
check ctrl_c_ends_a_query 130 $?
# xdg-open without a browser, as after ssh
mkdir -p "$dir/nobrowser" && printf '#!/bin/sh\nexit 3\n' >"$dir/nobrowser/xdg-open" && chmod +x "$dir/nobrowser/xdg-open"
cp "$root/tests/captures/naps.data" "$dir/nobrowser/"
PATH="$dir/nobrowser:$PATH" "$B" --open "$dir/nobrowser/naps.data" >/dev/null 2>"$dir/nobrowser/err"
if grep -q "naps.html: xdg-open is not here, or has no browser" "$dir/nobrowser/err"
then
	echo "ok an_opener_that_fails_is_said"
else
	echo "not ok an_opener_that_fails_is_said"
fi
# a database that is older than its capture
mkdir -p "$dir/older" && cd "$dir/older" && cp "$root/tests/captures/naps.data" . &&
	"$B" ingest -q --no-symbols naps.data 2>/dev/null
bad=0
touch -d '1 hour ago' naps.data
for c in info check report script query
do
	"$B" $c naps.db >/dev/null 2>err
	! grep -q 'is newer' err || bad=1
done
touch -d '1 hour' naps.data
for c in info check report 'flame -o f.svg' script query 'export --format json -o o.json' 'path --limit 1'
do
	# shellcheck disable=SC2086 # options
	"$B" $c naps.db >/dev/null 2>err
	grep -qx "note: naps.db: naps.data is newer; 'backstitch ingest -f -o naps.db naps.data' reads it again" err || bad=1
done
check a_database_older_than_its_capture_is_said 0 $bad
# counts of 'perf stat record' in place of samples
printf 'event cpu-clock\nraw type=77 misc=0 hex=00000000000000000000000000000000\n' >stat.txt
if "${MKCAP:-$root/build/mkcap}" stat.txt stat.data 2>err
then
	"$B" stat.data >out 2>err
	check a_first_look_says_what_is_there_in_place_of_samples 0 $? \
		"skipped" "STAT_ROUND: times of 'perf stat record'"
	"$B" report stat.db >out 2>err
	check a_report_without_samples_names_info 1 $? \
		"stat.db: no samples; 'backstitch info' says what is there instead"
fi
# a recording of CPUs that are mostly idle: the command that is named leaves
# them out, and the few user stacks are counted
idle() {
	echo 'event cpu-clock period=1000'
	echo 'comm pid=100 name=app'
	echo 'mmap pid=100 start=0x400000 len=0x10000 pgoff=0 path=/bin/app'
	seq "$1" | sed 's/.*/sample pid=0 tid=0 cpu=1 time=&00 k=0xffffffff81000010/'
	seq 1 4 | sed 's/.*/sample pid=100 tid=100 cpu=0 time=9&00 u=0x401010,0x403020/'
}
if idle 5 >idle.txt && "${MKCAP:-$root/build/mkcap}" idle.txt idle.data 2>err
then
	"$B" idle.data >out 2>err
	check a_first_look_at_idle_cpus_says_so 0 $? \
		'All 4 user stacks' "report --filter 'tid <> 0' idle.db" 'without the idle CPUs, 55.56 %'
	command=$(sed -n "s|^  backstitch \(report .*idle.db\).*|\"$B\" \1 --json|p" out)
	eval "$command" >out 2>err
	check and_its_command_leaves_them_out 0 $? '"filtered":true,"samples":4,'
	idle 4 >busy.txt && "${MKCAP:-$root/build/mkcap}" busy.txt busy.data
	"$B" busy.data >out 2>err
	truth half_idle_cpus_are_not_told_of sh -c '[ -s out ] && ! grep -q idle out'
fi
# a first look at a file of any name ends with commands that can be copied
cat >names.py <<'PY'
import os, re, shutil, subprocess, sys
program, capture = sys.argv[1:]
os.mkdir(b"names")
os.chdir(b"names")
for name in b"a b'c \"d\".data", b"-x.data", b"$(touch made).data", b"n\nl.data", b"e\x1b[31mf.data", b"\xff.data", b"\xe2\x80\xae.data":
    shutil.copy(os.fsencode(capture), name)
    out = subprocess.run([program, b"--", name], stdout=-1, stderr=-1).stdout.decode()
    for command in re.findall(r"^  backstitch (check .*?)(?:   |$)", out, re.M):
        run = subprocess.run(["bash", "-c", "'%s' %s" % (program, command)], stdout=-1, stderr=-1)
        print(run.returncode in (0, 4), *([] if run.returncode in (0, 4) else [name, command, run.stderr]))
print(os.path.exists("made"))
PY
python3 names.py "$B" "$cap/fp-1.data" >out 2>err
[ "$(tr '\n' ' ' <out)" = "True True True True True True True False " ]
check commands_of_a_first_look_can_be_copied_for_any_file 0 $?
