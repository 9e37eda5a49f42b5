#!/bin/sh
# symbolize.sh - names again when files turned up, changed, or can be fetched.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/symbolize.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
server=
trap 'rm -rf "$dir"; [ -z "$server" ] || kill "$server"' EXIT
cd "$dir" || exit 2
HOME=$dir/home
mkdir home
export HOME
unset DEBUGINFOD_URLS DEBUGINFOD_CACHE_PATH XDG_CACHE_HOME

# sql DB TEXT
sql() {
	"$B" query --format csv "$1" "$2" 2>&1 | tail -n +2 | tr '\r\n' ' ' |
		tr -s ' '
}

cat >prog.c <<'EOF2'
int state;
static inline __attribute__((always_inline)) int inner(int x)
{
	return x * state + 7;
}
__attribute__((noinline)) int outer(int x)
{
	return inner(x + 1) ^ 3;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc);
}
EOF2
if ! ${CC:-gcc} -O1 -g -gdwarf-4 -Wl,--build-id=sha1 -o whole prog.c ||
	! objcopy --only-keep-debug whole whole.debug ||
	! strip -g -o prog whole
then
	echo "skip symbolize: no compiler that makes build-ids"
	exit 0
fi
id=$(readelf -n whole | sed -n 's/.*Build ID: *//p')
# Some address inside of the inlined function.
addr=$(python3 - <<'EOF2'
import re
import subprocess
line = subprocess.run(["objdump", "-d", "--disassemble=outer", "whole"],
                      capture_output=True, text=True).stdout
print("0x" + re.search(r"^ *([0-9a-f]+):.*imul", line, re.M)[1])
EOF2
)
if [ -z "$id" ] || [ "$addr" = 0x ]
then
	echo "skip symbolize: other code than this test knows"
	exit 0
fi
cat >c.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=7 start=0x500000 len=0x10000 pgoff=0 path=$dir/prog id=$id
mmap pid=7 start=0x700000 len=0x1000 pgoff=0 path=$dir/gone id=0102030405060708090a0b0c0d0e0f1011121314
sample pid=7 tid=7 cpu=0 time=1000 u=$(printf '0x%x' $((addr + 0x500000)))
sample pid=7 tid=7 cpu=0 time=2000 u=0x700010
EOF2
"$MKCAP" c.txt c.data || exit 2
frame="SELECT s.name, f.line, (SELECT group_concat(n.name || ':' || n.line)
	FROM inline_frame n WHERE n.frame = f.id) FROM frame f
	JOIN symbol s ON s.id = f.symbol"
notes="SELECT what, detail FROM damage"

# ---- debug files that turn up later
"$B" ingest -q -f -o x.db c.data 2>err
is without_debug_information_there_is_a_name_only 'outer,, ' \
	"$(sql x.db "$frame")"
"$B" symbolize x.db 2>err
is nothing_new_changes_nothing 'outer,, ' "$(sql x.db "$frame")"
grep -q '0 a source line' err
ok and_says_so $?
mkdir -p "d/.build-id/${id%"${id#??}"}"
debug=d/.build-id/${id%"${id#??}"}/${id#??}.debug
cp whole.debug "$debug"
"$B" symbolize --no-lines --debug-dir d x.db 2>err
is lines_are_not_asked_for_when_they_are_not_wanted 'outer,, ' \
	"$(sql x.db "$frame")"
"$B" symbolize --debug-dir d x.db 2>err
is a_named_frame_gets_its_line_and_inlined_functions 'outer,8,inner:4 ' \
	"$(sql x.db "$frame")"
grep -q '1 a source line' err
ok and_they_are_counted $?
is its_symbol_is_there_once '1 ' "$(sql x.db 'SELECT count(*) FROM symbol')"
"$B" symbolize --debug-dir d x.db 2>err
is again_changes_nothing 'outer,8,inner:4 ' "$(sql x.db "$frame")"
is inlined_functions_are_there_once '1 ' \
	"$(sql x.db 'SELECT count(*) FROM inline_frame')"
is what_is_as_it_was_is_not_told '' "$(sql x.db "$notes")"

# ---- debug sections that libelf before 0.189 cannot unpack
if objcopy --compress-debug-sections=zstd whole zstd.debug 2>err
then
	mkdir -p "z/.build-id/${id%"${id#??}"}"
	cp zstd.debug "z/.build-id/${id%"${id#??}"}/${id#??}.debug"
	"$B" ingest -q -f --no-cache --debug-dir z -o z.db c.data 2>err
	case $(sql z.db "$frame") in
	'outer,8,inner:4 ') true ;;
	'outer,, ') grep -q 'debug sections compressed by zstd, which' err ;;
	*) false ;;
	esac
	ok sections_compressed_by_zstd_are_read_or_told $?
fi

# ---- the same build-id, other bytes
for cache in '' --no-cache
do
	cp x.db y.db
	python3 - "$debug" <<'EOF2'
import sys
data = bytearray(open(sys.argv[1], "rb").read())
at = data.index(b"outer\0")
data[at:at + 5] = b"other"
open(sys.argv[1], "wb").write(data)
EOF2
	"$B" symbolize $cache --debug-dir d y.db 2>err
	grep -q "^note: $debug: .*is not what it was when names were read" err
	ok "a_changed_debug_file_is_told $cache" $?
	case $(sql y.db "$notes") in
	names,*"is not what it was"*) ok "and_is_a_row $cache" 0 ;;
	*) ok "and_is_a_row $cache" 1 ;;
	esac
	is "the_names_stay $cache" 'outer,8,inner:4 ' "$(sql y.db "$frame")"
	sql y.db "$notes" >first
	"$B" symbolize $cache --debug-dir d y.db 2>err
	is "told_again_it_is_the_same_row $cache" "$(cat first)" \
		"$(sql y.db "$notes")"
	cp whole.debug "$debug"
done
rm "$debug"
"$B" symbolize x.db 2>err
is a_file_that_went_away_is_no_change '' "$(sql x.db "$notes")"

# ---- return addresses that no call returns to
cat >bogus.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=7 start=0x500000 len=0x10000 pgoff=0 path=$dir/prog id=$id
sample pid=7 tid=7 cpu=0 time=1000 u=$(printf '0x%x,0x%x' \
	$((addr + 0x500000)) $((addr + 0x500000)))
EOF2
"$MKCAP" bogus.txt bogus.data || exit 2
"$B" ingest -q -f -o bogus.db bogus.data 2>err
is script_marks_them_but_not_the_innermost_one 'outer outer (fabricated) ' \
	"$("$B" script --marks bogus.db | sed -n 's/^\t.*\(outer\)[^ ]* ([^ ]*)/\1/p' |
		tr '\n' ' ')"
# scripts for perf's text take what is in the last parentheses for the image
is in_a_pipe_it_does_not 0 "$("$B" script bogus.db | grep -c fabricated)"
is as_perf_does_it_does_not '0' \
	"$("$B" script -F ip,sym bogus.db | grep -c fabricated)"
is json_says_why '1' \
	"$("$B" script --json bogus.db | grep -o '"bogus": *"no_call"' | wc -l)"
"$B" flame bogus.db >bogus.svg 2>err
is a_picture_hatches_the_frame_that_is_bogus 1 \
	"$(grep -c '^<g class="b" .*>outer$' bogus.svg)"
is and_says_why 1 "$(grep -c '^fabricated: no call is in front of' bogus.svg)"
is and_not_the_innermost_one 1 "$(grep -c '^<g class="u.*>outer$' bogus.svg)"
grep -q 'fabricated: no call returns there</text>' bogus.svg
ok the_legend_explains_it $?
grep -q '100.00 % of the weight has fabricated frames' bogus.svg
ok and_a_line_says_how_much $?
is folded_stacks_have_the_same_frames 'prog;outer;outer 1' \
	"$("$B" export --format folded bogus.db)"

# ---- code that changed, with the same build-id
cp bogus.db bogus2.db
cp prog prog.was
python3 - $((addr)) <<'EOF2'
import sys
data = bytearray(open("prog", "rb").read())
data[int(sys.argv[1])] ^= 1
open("prog", "wb").write(data)
EOF2
"$B" annotate bogus.db outer >out 2>err
grep -q "^note: .*prog: .text is not what it was when its calls were looked at" err
ok annotate_tells_that_code_changed $?
"$B" symbolize bogus2.db 2>err
grep -q "^note: .*prog: .text is not what it was when its calls were looked at" err
ok and_so_does_symbolize $?
is which_makes_it_a_row 1 "$(sql bogus2.db "SELECT count(*) FROM damage
	WHERE what = 'names' AND detail LIKE '%prog: .text is%'" | tr -d ' ')"
mv prog.was prog
"$B" annotate bogus.db outer >out 2>err
is what_is_as_it_was_is_not_told_of_code_either '' "$(grep text err)"

# ---- several files at a time
{
	echo 'event cpu-clock'
	echo 'comm pid=7 name="prog"'
	for i in 1 2 3 4 5 6 7 8 9
	do
		cp whole "p$i"
		echo "mmap pid=7 start=0x${i}00000 len=0x10000 pgoff=0" \
			"path=$dir/p$i id=$id"
	done
	for i in 1 2 3 4 5 6 7 8 9
	do
		echo "sample pid=7 tid=7 cpu=0 time=${i}000" \
			"u=$(printf '0x%x' $((addr + 0x${i}00000)))"
	done
} >many.txt
rm p4
echo 'no program' >p5
"$MKCAP" many.txt many.data || exit 2
for n in 1 2 7
do
	# the name of the file is in it
	"$B" ingest -q -f --no-cache --jobs $n -o many.db many.data
	mv many.db many$n.db
done
is names_by_threads 7 \
	"$(sql many7.db "SELECT count(*) FROM frame f JOIN symbol s
		ON s.id = f.symbol WHERE s.name = 'outer'" | tr -d ' ')"
for n in 2 7
do
	cmp many1.db many$n.db
	ok "are_the_same_bytes_with_$n" $?
done
"$B" symbolize --jobs -1 many1.db 2>err
is a_negative_number_is_wrong_usage 2 $?

# ---- debuginfod
"$B" symbolize --debuginfod x.db >out 2>err
rc=$?
if grep -q 'libdebuginfod is not here' err
then
	ok without_the_library_it_is_refused "$((rc != 2))"
	echo "skip debuginfod: built without libdebuginfod, or it is not here"
	exit 0
fi
ok without_servers_it_is_refused "$((rc != 2))"
cat >server.py <<'EOF2'
import http.server
import shutil
import sys
import time

class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        with open("asked", "a") as log:
            print(self.path, file=log)
        if self.path == "/buildid/%s/debuginfo" % sys.argv[1]:
            if len(sys.argv) > 2:
                time.sleep(20)
            self.send_response(200)
            self.end_headers()
            with open("whole.debug", "rb") as f:
                shutil.copyfileobj(f, self.wfile)
        else:
            self.send_error(404)

    def log_message(self, *args):
        pass

server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
with open("port.new", "w") as f:
    print(server.server_port, file=f)
import os
os.rename("port.new", "port")
server.serve_forever()
EOF2

# serve ARGUMENTS...: starts it and sets DEBUGINFOD_URLS
serve() {
	[ -z "$server" ] || kill "$server"
	rm -f port asked
	python3 server.py "$@" &
	server=$!
	for _ in $(seq 300)
	do
		[ ! -s port ] || break
		sleep 0.1
	done
	DEBUGINFOD_URLS=http://127.0.0.1:$(cat port)/
	export DEBUGINFOD_URLS
	rm -rf home
	mkdir home
}

serve "$id"
"$B" ingest -q -f -o x.db c.data 2>err
[ ! -e asked ]
ok nothing_is_fetched_unless_asked_for $?
is and_there_are_no_lines 'outer,, ' "$(sql x.db "$frame")"
"$B" symbolize --debuginfod x.db 2>err
is debug_information_is_fetched 'outer,8,inner:4 ' "$(sql x.db "$frame")"
grep -q 'fetched 1 file, had none for 1 image' err
ok what_was_fetched_is_counted $?
case $(sql x.db "$notes") in
*debuginfod,*"program of 0102030405060708090a0b0c0d0e0f1011121314: "*)
	ok what_could_not_be_had_is_a_row 0 ;;
*) ok what_could_not_be_had_is_a_row 1 ;;
esac
! grep -q "$id/executable" asked
ok what_is_here_is_not_fetched $?
rm -f asked
"$B" ingest -q -f --debuginfod -o x.db c.data 2>err
is ingest_does_it_too 'outer,8,inner:4 ' "$(sql x.db "$frame")"
! grep -q "$id" asked 2>/dev/null
ok what_was_fetched_is_fetched_once $?
"$B" ingest -q -f --no-cache -o x.db c.data 2>err
is what_was_fetched_is_found_without_asking 'outer,8,inner:4 ' \
	"$(sql x.db "$frame")"

# two images that nobody has, with one build-id
gone=0102030405060708090a0b0c0d0e0f1011121399
cat >gone.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=7 start=0x500000 len=0x10000 pgoff=0 path=$dir/gone1 id=$gone
mmap pid=7 start=0x600000 len=0x10000 pgoff=0 path=$dir/gone2 id=$gone
sample pid=7 tid=7 cpu=0 time=1000 u=0x500010
sample pid=7 tid=7 cpu=0 time=2000 u=0x600010
EOF2
"$MKCAP" gone.txt gone.data || exit 2
rm -f asked
"$B" ingest -q -f --debuginfod -o gone.db gone.data 2>err
grep -q 'had none for 2 images' err
ok what_is_missing_is_counted_for_each_image $?
is but_asked_for_once 1 "$(grep -c "$gone/executable" asked)"
is and_one_row 1 "$(sql gone.db "SELECT count(*) FROM damage
	WHERE what = 'debuginfod'" | tr -d ' ')"

serve "$id" slow
"$B" ingest -q -f -o x.db c.data 2>err
begun=$(date +%s)
"$B" symbolize --debuginfod --debuginfod-timeout 2 x.db 2>err
[ $(($(date +%s) - begun)) -lt 15 ]
ok fetching_ends_in_time $?
begun=$(date +%s)
DEBUGINFOD_MAXTIME=1 "$B" symbolize --debuginfod --debuginfod-timeout 60 x.db 2>err
[ $(($(date +%s) - begun)) -lt 15 ]
ok and_that_of_a_file_in_what_the_user_asks $?
"$B" symbolize --debuginfod --debuginfod-timeout 2 x.db 2>err
case $(sql x.db "$notes") in
*": the time for fetching is over"*) ok and_the_reason_is_a_row 0 ;;
*) ok and_the_reason_is_a_row 1 ;;
esac
is the_names_are_there_all_the_same 'outer,, ' "$(sql x.db "$frame")"

# The names of a kernel that its own capture has are not looked for again: the kernel
# that runs here may have the same release, and names that nothing proves.
"$B" ingest -q -f -o v7.db "$root/tests/captures/ftrace-v7.dat"
"$B" symbolize v7.db >out 2>&1
says recorded_names_of_a_kernel_stay 'looked at 0 images' out
"$B" symbolize --kallsyms "$root/tests/captures/events.kallsyms" v7.db >out 2>&1
says unless_a_file_of_it_is_given 'looked at 1 image' out

# Stacks whose dumps led into a file that was not there get names, and what is to be
# typed to have the rest.
cp "$root/tests/captures/frames32.data.zst" 'a b.zst'
"$B" ingest -q -f -o cut.db 'a b.zst'
"$B" symbolize --symfs "$root/tests/captures/symfs" cut.db >out 2>&1
says stacks_that_were_cut_for_want_of_a_file_are_told \
	'86 stacks end where a file was not found when the capture was read; ' out
sed -n "s/.*read; 'backstitch \(.*\)' reads it again.*/'$(echo "$B" | sed 's/[&/]/\\&/g')' \1/p" out >again
sh again >out 2>&1
is and_what_is_said_mends_them 'whole,86 ' "$(sql cut.db 'SELECT class, samples FROM trust')"
"$B" symbolize --symfs "$root/tests/captures/symfs" cut.db >out 2>&1
is then_nothing_is_said 0 "$(grep -c 'when the capture was read' out)"

# What was found by files that are not given again stays as it was.
for capture in hits-group2 shop hits-mixed
do
	"$B" ingest -q -f -o found.db --symfs "$root/tests/captures/symfs" "$root/tests/captures/$capture.data.zst"
	found='SELECT class, samples FROM trust ORDER BY 1, 2'
	was=$(sql found.db "$found")
	rm -rf home/.cache
	"$B" symbolize --debug-dir nowhere found.db >out 2>&1
	is "what_was_found_stays_$capture" "$was" "$(sql found.db "$found")"
done
