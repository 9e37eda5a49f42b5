#!/bin/sh
# session.sh - the first session of a new user, 80 columns by 24 rows, as the text in session.txt.
# usage: BACKSTITCH=PROGRAM tests/cli/session.sh [record]; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
unset COLUMNS PAGER LESS
export TERM=vt100 NO_COLOR=1
mkdir "$dir/bin" "$dir/none"
cp "$B" "$dir/bin/backstitch"
# shellcheck disable=SC2016 # what the script expands
printf '#!/bin/sh\necho "$1" >opened\n' >"$dir/bin/xdg-open"
chmod +x "$dir/bin/xdg-open"
# a paged line is marked: such a screen does not scroll off
export PATH="$dir/bin:$PATH" HOME="$dir" BACKSTITCH_PAGER='sed s/^/P:/'
# no program of this machine is looked into
echo "ffffffffffe00000 T none" >"$dir/kallsyms"
S="--symfs=$dir/none --kallsyms=$dir/kallsyms"
cd "$dir" || exit 2
bad=
n=0

# how far a command is, which it says on a busy machine, is erased at the end
progress=$(printf '\r[^\r]*\033\\[K')

# type COMMAND: shows it and its screen; everything ends with a command to type
type_it() {
	timeout 60 script -qec "stty cols 80 rows 24; $(echo "$1" |
		sed "s|\\(perf.data\\)|\\1 $S|")" /dev/null </dev/null 2>&1 |
		sed "s/$progress//g" | tr -d '\r' >screen
	{
		echo "\$ $1"
		cat screen
		echo
	} >>text
	n=$((n + 1))
	rows=$(awk '{ n += length ? int((length - 1) / 80) + 1 : 1 } END { print n }' screen)
	[ "$rows" -le 23 ] || grep -q '^P:' screen || bad="$bad; '$1' scrolls off"
	tail -n 4 screen | grep -qE 'backstitch |perf record ' ||
		bad="$bad; '$1' does not end with a command"
}

mkdir plain nog nofp lossy naps trace
tar -xJf "$root/tests/captures/packed/clocks.tar.xz" -C "$dir" || exit 2
cp "$root/tests/captures/fp-1.data" plain/perf.data
find . -name clk_perf_mono.data -exec cp {} nog/perf.data \;
cp "$root/tests/captures/pipe-zstd.data" nofp/perf.data
cp "$root/tests/captures/defer-lost-clock.data.zst" lossy/perf.data
cp "$root/tests/captures/naps.data" naps/perf.data
cp "$root/tests/captures/ftrace-v7.dat" trace/perf.data
cd plain || exit 2
for command in backstitch 'backstitch --help' 'backstitch report' \
	'backstitch ingset perf.data' 'backstitch perf.dta' \
	'backstitch report -h' 'backstitch perf.data'
do
	[ "$command" = 'backstitch report' ] && mv perf.data away
	type_it "$command"
	[ -e away ] && mv away perf.data
done
cat text >>"$dir/session"
cd ..
for d in nog nofp lossy naps trace
do
	cd "$dir/$d" || exit 2
	type_it 'backstitch perf.data'
	cat text >>"$dir/session"
done
cd "$dir" || exit 2
if [ "$1" = record ]
then
	cp session "$root/tests/cli/session.txt"
fi
diff "$root/tests/cli/session.txt" session
ok the_session_is_the_one_in_session_txt $?
echo "$bad" | sed '/^$/d; s/^; /# /'
[ -z "$bad" ] && [ "$n" = 12 ]
ok each_screen_stays_and_ends_with_a_command $?

# ---- files

cd "$dir/plain" || exit 2
look() {
	timeout 60 backstitch "$@" >out 2>err
}
touch -d '1 hour' perf.db
was=$(stat -c %i perf.db)
look perf.data
ok a_newer_database_is_read "$([ "$(stat -c %i perf.db)" = "$was" ] && grep -q 'reading perf.db' err; echo $?)"
touch -d '2 hours' perf.data
look perf.data
ok an_older_one_is_made_again "$([ "$(stat -c %i perf.db)" != "$was" ] && grep -q 'How to go on' out; echo $?)"
touch -d '1 hour' perf.data
touch -d '2 hours' perf.db
was=$(stat -c %i perf.db)
look perf.data --no-lines
ok other_options_make_it_again "$([ "$(stat -c %i perf.db)" != "$was" ]; echo $?)"
look --open perf.data
sleep 0.3
ok the_page_is_opened "$([ "$(cat opened)" = perf.html ] && grep -q '</html>' perf.html; echo $?)"
look perf.db
ok a_database_needs_no_command "$(grep -q 'How to go on' out; echo $?)"
cd "$dir" || exit 2
look plain/perf.data
ok the_database_is_beside_the_capture "$([ ! -e perf.db ]; echo $?)"
look - <plain/perf.data
look - <plain/perf.data
ok a_pipe_needs_no_command "$([ -s backstitch.db ] && grep -q 'How to go on' out; echo $?)"
rm -f backstitch.db
cp "$root/tests/captures/naps.data" plain/more.data
look plain/more.data plain/perf.data --separate
ok several_captures_are_one_database "$([ -s plain/more.db ] && grep -q 'How to go on' out; echo $?)"
rm plain/more.db
look plain/more.data
look plain/more.data plain/perf.data --separate
ok one_that_lacks_some_is_made_again "$([ "$("$B" query --format csv plain/more.db 'SELECT count(*) FROM capture' | tail -1)" = 2 ]; echo $?)"
mkdir third
cp plain/perf.data third/perf.data
cp plain/more.db third/perf.db
mv third/perf.data third/x.data
cp plain/more.db third/x.db
look third/x.data
ok a_database_of_others_is_kept "$(grep -q 'has other captures' err && cmp -s third/x.db plain/more.db; echo $?)"
echo text >third/x.db
look third/x.data
ok and_what_is_no_database "$(grep -q 'not a backstitch database' err && [ "$(cat third/x.db)" = text ]; echo $?)"
python3 -c 'import sqlite3
sqlite3.connect("third/s.db").execute("CREATE TABLE t (a)")'
cp third/s.db third/x.db
look third/x.data
ok and_one_of_another_program "$(grep -q 'x.db: is an SQLite database of another program, and' err &&
	cmp -s third/s.db third/x.db; echo $?)"
head -c 100000 plain/more.db >third/c.db
cp third/c.db third/x.db
look third/x.data
ok and_one_that_is_cut_off "$(grep -q "damaged.* 'backstitch ingest -f -o third/x.db third/x.data' replaces it" err &&
	cmp -s third/c.db third/x.db; echo $?)"
mkdir folder
cp plain/more.db folder/a.db
cp plain/perf.db folder/b.db
look folder/
ok a_folder_of_databases_is_read_as_one "$(grep -q 'How to go on' out && grep -q 'view folder' out && [ ! -e folder.db ]; echo $?)"
