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
