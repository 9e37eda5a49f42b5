#!/bin/sh
# leaks.sh - what leaves the machine with each output: the table of backstitch-promises(7), cell by cell.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/leaks.sh; prints "ok NAME" or "not ok NAME" lines.
#
# Everything that could be told is marked: the environment, the folder and the
# user of whoever makes the output, and in the capture its host, its own folder, a
# path and a thread name; in a program a function, a line of its source, a text
# and an instruction.
# Needs: libbabeltrace2 libcurl libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
M=$MKCAP
[ -x "$M" ] || {
	echo "skip leaks: mkcap is not built"
	exit 0
}
mkdir -p "$dir/inqfolderq" "$dir/xqhereq"
cd "$dir/inqfolderq" || exit 2
cat >capture.txt <<'END'
host testhost 7.2.0
event cpu-clock period=1000
mmap pid=5 tid=5 start=0x400000 len=0x10000 pgoff=0 path=/opt/xqpathq/app time=1 cpu=0
comm pid=5 tid=5 name=xqcommq time=1 cpu=0
sample pid=5 tid=5 cpu=0 time=100 u=0x401000,0x402000
sample pid=5 tid=5 cpu=0 time=200 u=0x401000,0x403000
END
"$M" capture.txt one.data || exit 2
"$B" ingest -q --no-symbols -o "$dir/xqhereq/one.db" "$dir/inqfolderq/one.data"
cd "$dir/xqhereq" || exit 2
SECRET=xqenvq USER=xquserq LOGNAME=xquserq NO_COLOR=1 XDG_CACHE_HOME=$dir/cache
export SECRET USER LOGNAME NO_COLOR XDG_CACHE_HOME
unset HOME

# tells OUT: the marks that are in a file or folder, also where it is packed
tells() {
	find "$1" -type f | while read -r file
	do
		cat "$file"
		case $file in
		*.parquet) PYTHONDONTWRITEBYTECODE=1 python3 "$root/tests/cli/leaks.py" "$file" ;;
		*) # each of these fails for what is not packed
			gzip -dc "$file" | tar -xO
			gzip -dc "$file"
			;;
		esac
	done >"$dir/all" 2>"$dir/null"
	for mark in env:xqenvq user:xquserq here:xqhereq host:testhost folder:inqfolderq path:xqpathq comm:xqcommq \
		function:xqfuncq source:xqsourceq code:%rbp program:xqtextq
	do
		! grep -aq "${mark#*:}" "$dir/all" || printf ' %s' "${mark%:*}"
	done
}
# row NAME WANTED OUT COMMAND...: the output tells what is wanted, and no more
row() {
	name=$1 want=$2 out=$3
	shift 3
	"$B" "$@" >said 2>err || {
		echo "not ok $name: $(cat err)"
		return
	}
	got=$(tells "$out")
	if [ "$got" = "${want:+ $want}" ]
	then echo "ok ${name}_tells_what_the_table_says"
	else echo "not ok ${name}_tells_what_the_table_says:$got"
	fi
}
row page 'host folder path comm' page.html page -o page.html one.db
row flame 'host folder path comm' f.svg flame -o f.svg one.db
row folded 'comm' o.folded export --format folded -o o.folded one.db
row json 'host folder path comm' o.json export --format json -o o.json one.db
row chrome 'path comm' o.chrome export --format chrome -o o.chrome one.db
row pprof 'host folder path comm' o.pprof export --format pprof -o o.pprof one.db
row firefox 'host folder path comm' o.firefox export --format firefox -o o.firefox one.db
row perf_data 'host path comm' o.data export --format perf.data -o o.data one.db
row ctf 'host comm' o.ctf export --format ctf -o o.ctf one.db
row bundle 'host folder path comm' b.tar.gz bundle -o b.tar.gz one.db
row redacted '' r.db bundle --redact -o r.db one.db
row parquet 'host folder path comm' o.parquet export --format parquet -o o.parquet one.db

# what is on standard output is in the file said
mkdir text
# prints NAME WANTED COMMAND...
prints() {
	name=$1 want=$2
	shift 2
	"$B" "$@" >text/said 2>err
	got=$(tells text)
	if [ -s text/said ] && [ "$got" = "${want:+ $want}" ]
	then echo "ok ${name}_tells_what_the_table_says"
	else echo "not ok ${name}_tells_what_the_table_says:$got"
	fi
}
prints script 'path comm' script one.db
prints report 'host folder' report one.db
prints check '' check one.db
prints info 'host folder' info one.db
prints query comm query one.db 'SELECT * FROM comm'
prints report_json 'host folder path' report --json one.db
prints info_json 'host folder path' info --json one.db
prints check_json folder check --json one.db
prints script_json 'path comm' script --json one.db

# ---- waits: of a text, which names no host
cat >"$dir/inqfolderq/waits.txt" <<'END'
# tracer: nop
#
# entries-in-buffer/entries-written: 6/6   #P:1
#
 other-6 [000] d..2. 1.000050: sched_waking: comm=xqcommq pid=5 prio=120 target_cpu=000
 other-6 [000] d..2. 1.000090: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=xqcommq next_pid=5 next_prio=120
 xqcommq-5 [000] d..2. 1.000100: sched_switch: prev_comm=xqcommq prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
 xqcommq-5 [000] d..2. 1.000101: <stack trace>
 => xqfuncq
 xqcommq-5 [000] d..2. 1.000102: <user stack trace>
 => /opt/xqpathq/app[+0x1000]
 other-6 [000] d..2. 1.000200: sched_waking: comm=xqcommq pid=5 prio=120 target_cpu=000
 other-6 [000] d..2. 1.000201: <stack trace>
 => xqfuncq
 other-6 [000] d..2. 1.000300: sched_switch: prev_comm=other prev_pid=6 prev_prio=120 prev_state=S ==> next_comm=xqcommq next_pid=5 next_prio=120
 xqcommq-5 [000] d..2. 1.000400: sched_switch: prev_comm=xqcommq prev_pid=5 prev_prio=120 prev_state=S ==> next_comm=other next_pid=6 next_prio=120
END
"$B" ingest -q --no-symbols -o waits.db "$dir/inqfolderq/waits.txt"
python3 -c 'import sqlite3
db = sqlite3.connect("waits.db")
db.execute("UPDATE capture SET host = \"testhost\"")
db.commit()'
prints info_of_waits 'host folder' info waits.db
prints sched comm sched waits.db
prints sched_json comm sched --json waits.db
prints off_cpu comm report --off-cpu waits.db
prints off_cpu_json 'path comm' report --off-cpu --json waits.db
prints path_waits comm path waits.db
prints path_chain 'comm function' path --worst 1 waits.db
prints path_tree comm path --tree waits.db
prints path_blame 'comm function' path --blame xqcommq waits.db
prints path_json 'comm function' path --worst 1 --json waits.db

# ---- a program with debug information, whose source is found by --source-dir only
mkdir "$dir/xqpathq"
cat >"$dir/xqpathq/app.c" <<'END'
const char *text = TEXT;
int xqfuncq(int n)
{
	return text[n & 3] + n * 3; /* xqsourceq */
}
int main(int argc, char **argv)
{
	return xqfuncq(argc) + !argv;
}
END
(cd "$dir/xqpathq" && gcc -g -O0 -DTEXT='"xqtextq"' -fno-omit-frame-pointer -Wl,--build-id=0x0123456789abcdef -o app app.c) || exit 2
at=$(nm "$dir/xqpathq/app" | sed -n 's/^0*\([0-9a-f]*\) T xqfuncq$/\1/p')
cat >code.txt <<END
host testhost 7.2.0
event cpu-clock period=1000
comm pid=5 tid=5 name=xqcommq time=1 cpu=0
mmap pid=5 tid=5 start=0x10000 len=0x10000 pgoff=0 path=$dir/xqpathq/app id=0123456789abcdef time=1 cpu=0
sample pid=5 tid=5 cpu=0 time=1000 u=$(printf '0x%x' $((0x10000 + 0x$at + 12)))
END
"$M" code.txt "$dir/inqfolderq/two.data" || exit 2
"$B" ingest -q --no-cache -o two.db "$dir/inqfolderq/two.data"
mkdir "$dir/src" && mv "$dir/xqpathq/app.c" "$dir/src"
where='host folder path comm function'
row page_of_code "$where code" page.html page -o page.html two.db
row page_with_source "$where source code" page.html page -o page.html --source-dir "$dir/src" two.db
row page_without_source "$where" page.html page --no-source -o page.html two.db
row flame_of_code "$where" f.svg flame -o f.svg two.db
row folded_of_code 'comm function' o.folded export --format folded -o o.folded two.db
row json_of_code "$where" o.json export --format json -o o.json two.db
row chrome_of_code 'path comm function' o.chrome export --format chrome -o o.chrome two.db
row pprof_of_code "$where" o.pprof export --format pprof -o o.pprof two.db
row firefox_of_code "$where" o.firefox export --format firefox -o o.firefox two.db
row perf_data_of_code 'host path comm' p.data export --format perf.data -o p.data two.db
row ctf_of_code 'host comm' c.ctf export --format ctf -o c.ctf two.db
row bundle_of_code "$where program" c.tar.gz bundle -o c.tar.gz two.db
row redacted_code '' c.db bundle --redact -o c.db two.db
row parquet_of_code "$where" c.parquet export --format parquet -o c.parquet two.db
prints script_of_code 'path comm function' script two.db
prints report_of_code 'host folder function' report two.db
prints check_of_code '' check two.db
prints annotate 'path function code' annotate two.db xqfuncq
prints annotate_with_source 'path function source code' annotate --source-dir "$dir/src" two.db xqfuncq
prints annotate_json 'path function code' annotate --json two.db xqfuncq

# all screens of view: those words are on the screen of that key
screens() {
	LC_ALL=C.UTF-8 tmux -f /dev/null -S "$dir/tmux" new-session -d -x 200 -y 50 \
		"'$B' view --source-dir '$dir/src' two.db; echo status \$?; sleep 600"
	for screen in 1:^functions: 2:^tree 3:^flame 1:^functions: 4:xqsourceq 5:^threads 6:^what.was 7:xqcommq 8:testhost
	do
		tmux -S "$dir/tmux" send-keys "${screen%%:*}"
		i=0
		until tmux -S "$dir/tmux" capture-pane -p >screen && grep -q "${screen#?:}" screen
		do
			i=$((i + 1))
			[ $i -lt 200 ] || break
			sleep 0.1
		done
		cat screen
	done
	tmux -S "$dir/tmux" kill-server
}
if ! "$B" view 2>&1 </dev/null | grep -q 'without ncurses' && command -v tmux >"$dir/null"
then
	mkdir shown
	screens >shown/all 2>err
	got=$(tells shown)
	if [ "$got" = ' host folder path comm function source code' ]
	then echo "ok view_tells_what_the_table_says"
	else echo "not ok view_tells_what_the_table_says:$got"
	fi
else
	echo "skip view_tells_what_the_table_says: it needs ncurses and tmux"
fi

# all tables of a server that got the run, and of one that was asked for it
if command -v clickhouse-server >"$dir/null" || [ -x /usr/sbin/clickhouse-server ]
then
	mkdir pushed
	python3 "$root/tests/fleet/servers.py" 1 sh -c "'$B' push -q --create \"\$FLEET_URL0\" one.db &&
		python3 '$root/tests/cli/leaks.py' \"\$FLEET_URL0\" >pushed/all" >said 2>err || sed 's/^/# /' said err
	got=$(tells pushed)
	if [ "$got" = ' host folder path comm' ]
	then echo "ok push_tells_what_the_table_says"
	else echo "not ok push_tells_what_the_table_says:$got"
	fi
else
	echo "skip push_tells_what_the_table_says: clickhouse-server is not installed"
fi
