#!/bin/sh
# gonames.sh - stripped Go programs have names and unwind tables: fixed, moved by the loader, and with C in front.
# usage: BACKSTITCH=build/backstitch tests/cli/gonames.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

if ! command -v go >/dev/null || ! command -v strip >/dev/null
then
	echo "skip gonames: no Go compiler, or no strip"
	exit 0
fi
cat >program.go <<'END'
package main

import "fmt"

type shape interface{ area(n int) int }
type square struct{ side int }

func (s *square) area(n int) int { return s.side * n }
func each[T any](v []T, f func(T)) {
	for _, x := range v {
		f(x)
	}
}
func main() {
	each([]shape{&square{2}}, func(s shape) { fmt.Println(s.area(3)) })
}
END
{
	echo 'package main'
	echo '// static int in_c(int n) { return n * 2; }'
	echo 'import "C"'
	sed -e 1d -e 's/s.side \* n/int(C.in_c(C.int(s.side * n)))/' program.go
} >with_c.go
# Go has no libraries for programs that are moved, and compiles them: here only the
# runtime's, whose thousand functions are of all kinds
sed -e '/^import/d' -e 's/fmt.Println/println/' program.go >moved.go
export GOFLAGS=-mod=mod GO111MODULE=off
for kind in fixed moved with_c
do
	source=program.go mode=exe
	[ $kind = moved ] && mode=pie
	[ $kind = moved ] && source=moved.go
	[ $kind = with_c ] && source=with_c.go
	go build -buildmode=$mode -o $kind.full $source 2>err || {
		echo "skip stripped_go_has_names_$kind: go cannot build it"
		continue
	}
	strip -o $kind $kind.full
	# before the table is damaged
	if [ "$(uname -m)" = x86_64 ]
	then
		python3 "$root/tests/cli/goframes.py" "$B" $kind.full $kind >out 2>&1
		ok "stripped_go_is_unwound_$kind" $?
		sed 's/^/# /' out | tail -n 8
	fi
	python3 "$root/tests/cli/gonames.py" "$B" "$MKCAP" $kind.full $kind main.main >out 2>&1
	status=$?
	ok "stripped_go_has_names_$kind" $status
	sed 's/^/# /' out | tail -n 8
done

# Go's own code that uses the frame pointer for something else: a dump leads out of it
cat >sum.go <<'END'
package main

import "crypto/sha256"

func main() {
	s := sha256.Sum256(make([]byte, 1<<20))
	println(s[0])
}
END
go build -o sum sum.go 2>err || {
	echo "skip dumps_lead_out_of_go_code: go cannot build it"
	exit 0
}
# at PATTERN: where a function begins
at() {
	nm sum | awk -v name="$1" '$3 ~ name { print "0x" $1; exit }'
}
{
	echo "event cpu-clock period=1000"
	echo "comm pid=9 name=sum exec time=1"
	readelf -lW sum | awk -v path="$PWD/sum" '/LOAD/ && /R E/ {
		print "mmap pid=9 len=" $5, "time=2 start=" $3, "pgoff=" $2, "path=" path }'
	# what is in the register is an address, and no call is in front of it
	echo "sample pid=9 tid=9 cpu=0 time=9 u=$(at 'sha256[.]block.*abi0$'),$(at '^main[.]main$'),$(at '^runtime[.]main$')"
} >sum.txt
"$MKCAP" sum.txt sum.data && "$B" ingest -q -f -o sum.db sum.data 2>err || exit 2
is dumps_lead_out_of_go_code "fabricated (no frame pointers),perf record --call-graph dwarf,16384" \
	"$("$B" query --format csv sum.db 'SELECT class, fix FROM trust' | tail -n 1 | tr -d '"')"

# How deep a stack is follows from the tables: what a dump would cut is known.
cat >sink.go <<'END'
package main

//go:noinline
func sink(n int) int {
	var held [100]int
	held[n%100] = n
	if n == 0 {
		return 1
	}
	return sink(n-1) + held[(n+1)%100]
}

func main() {
	println(sink(9))
}
END
go build -o sink sink.go
# behind the call of FUNCTION in FUNCTION
behind() {
	objdump -d --no-show-raw-insn "sink" | awk -v in_="<$1>:" -v of="<$2>" '
		$2 == in_ { here = 1; next }
		here && found { sub(":", "", $1); print "0x" $1; exit }
		here && $2 == "call" && $4 == of { found = 1 }'
}
{
	echo "event cpu-clock period=1000"
	echo "comm pid=9 name=sink exec time=1"
	readelf -lW sink | awk -v path="$PWD/sink" '/LOAD/ && /R E/ {
		print "mmap pid=9 len=" $5, "time=2 start=" $3, "pgoff=" $2, "path=" path }'
	again=$(behind main.sink main.sink)
	for deep in 10 20 85
	do
		callers=$(yes "$again," | head -n $deep | tr -d '\n')
		echo "sample pid=9 tid=9 cpu=0 time=$deep ip=$((again - 5))" \
			"u=$((again - 5)),$callers$(behind main.main main.sink),$(behind runtime.main main.main)"
	done
} >sink.txt
"$MKCAP" sink.txt sink.data && "$B" ingest -q -f -o sink.db sink.data 2>err || exit 2
is a_stack_of_go_has_as_many_bytes_as_its_frames "10|-|1
20|2|1
85|3|1" "$("$B" query --format csv sink.db 'SELECT 1' >/dev/null
	sqlite3 sink.db "SELECT CASE frames WHEN 2 THEN 20 WHEN 3 THEN 85 ELSE 10 END,
		coalesce(frames, '-'), n FROM internal_user_trust ORDER BY 1")"
