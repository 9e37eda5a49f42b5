#!/bin/sh
# split.sh - inlined functions of programs made with -gsplit-dwarf.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/split.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
HOME=$dir/home
mkdir home src bin
export HOME
unset XDG_CACHE_HOME

# -fdebug-types-section: types have a section of their own, from clang (C++ only)
# a table of files, too
cat >src/turn.h <<'EOF2'
struct kept {
	int n;
} kept;
EOF2
cat >src/inner.h <<'EOF2'
static inline __attribute__((always_inline)) int deep(int x)
{
	return x * state + 7;
}
static inline __attribute__((always_inline)) int inner(int x)
{
	if (x > 1000)
		printf("%d\n", x);
	return deep(x) ^ deep(x + 1);
}
EOF2
cat >src/a.c <<'EOF2'
#include <stdio.h>
#ifdef __cplusplus
extern "C" {
#endif
volatile int state = 3;
#include "inner.h"
#include "turn.h"
__attribute__((noinline)) int outer(int x)
{
	for (int i = 0; i < x; i++)
		state += inner(i);
	return inner(x + 1) ^ 3;
}
__attribute__((noinline, cold)) int rare(int x)
{
	return inner(x);
}
int other(int x);
int main(int argc, char **argv)
{
	(void)argv;
	if (argc > 5)
		return rare(argc);
	return outer(argc) + other(argc);
}
#ifdef __cplusplus
}
#endif
EOF2
cat >src/b.c <<'EOF2'
#ifdef __cplusplus
extern "C"
#endif
	int other(int x);
extern volatile int state;
static inline __attribute__((always_inline)) int square(int x)
{
	return x * x + state;
}
__attribute__((noinline)) int other(int x)
{
	int s = 0;

	while (x--)
		s += square(x);
	return s;
}
EOF2

# build NAME CC FLAGS...: bin/NAME, its .dwo files beside the sources
build() {
	name=$1
	cc=$2
	shift 2
	(cd src && rm -f ./*.dwo && "$cc" -O2 "$@" -c a.c b.c &&
		$cc -Wl,--build-id=sha1 -o ../bin/"$name" a.o b.o) 2>/dev/null
}

# frames PROG [OPTION...]: line and inlined functions of all its own code
frames() {
	prog=$dir/bin/$1
	shift
	python3 - "$prog" >c.txt <<'EOF2'
import re
import subprocess
import sys
prog = sys.argv[1]
def run(*cmd):
    return subprocess.run(cmd, capture_output=True, text=True).stdout
load = re.search(r"LOAD\s+0x(\w+) 0x(\w+) \S+ (\S+) \S+ R E",
                 run("readelf", "-lW", prog))
off, addr, size = (int(s, 16) for s in load.groups())
id = re.search(r"Build ID: (\w+)", run("readelf", "-n", prog))[1]
at = [int(m[1], 16) + i for m in re.finditer(
          r"(\w+) (\w+) [tT] (?:outer|rare|other|main)\b",
          run("nm", "-S", prog)) for i in range(int(m[2], 16))]
print("event cpu-clock\ncomm pid=7 name=\"prog\"")
print("mmap pid=7 start=0x500000 len=0x%x pgoff=0x%x path=%s id=%s" %
      ((size + 4095) & ~4095, off & ~4095, prog, id))
for i, a in enumerate(at):
    print("sample pid=7 tid=7 cpu=0 time=%d u=0x%x" %
          (1000 + i, a - (addr & ~4095) + 0x500000))
EOF2
	"$MKCAP" c.txt c.data || return 1
	"$B" ingest -q -f -o x.db "$@" c.data 2>err
	"$B" query --format csv x.db "SELECT s.name || ' ' || f.symoff || ' ' ||
		coalesce(f.line, '-') || ' ' || coalesce((SELECT group_concat(
			replace(n.name, '(int)', '') || ':' || substr(n.file, -7) || ':' || n.line || ' ', '')
			FROM inline_frame n WHERE n.frame = f.id), '')
		FROM frame f JOIN symbol s ON s.id = f.symbol
		JOIN image i ON i.id = f.image WHERE i.path LIKE '%/bin/%'
		ORDER BY f.off" | tail -n +2 | tr -d '\r"' | tee all | grep -c .
	if [ "$(grep -c : all)" -gt 40 ]
	then
		cp all got
	fi
}
# pack TOOL: puts the .dwo files of bin/prog, of DWARF $v, into bin/prog.dwp;
# not 0: this tool cannot
pack() {
	case $1$v in
	mkdwp.py5) python3 "$root/tests/cli/mkdwp.py" bin/prog.dwp src/?.dwo ;;
	# it writes none for DWARF 5
	dwp4) dwp -o bin/prog.dwp src/?.dwo ;;
	# it does not end with files of gcc 12
	llvm-dwp5) [ "$cc" = clang ] && llvm-dwp -o bin/prog.dwp src/?.dwo ;;
	llvm-dwp4) llvm-dwp -o bin/prog.dwp src/?.dwo ;;
	*) return 1 ;;
	esac 2>/dev/null
}
note() {
	"$B" query --format csv x.db "SELECT detail FROM damage
		WHERE what = 'names'" | tail -n +2
}

made=
for cc in gcc clang
do
	command -v $cc >/dev/null || continue
	for v in 5 4
	do
		build whole "$cc" -gdwarf-$v || continue
		rm -f got
		frames whole --no-cache >/dev/null
		mv got want || exit 2
		for more in -fdebug-types-section '-x c++ -fdebug-types-section' \
			-gsplit-dwarf=single
		do
			# shellcheck disable=SC2086 # several options
			build prog "$cc" -gdwarf-$v -gsplit-dwarf $more ||
				continue
			frames prog --no-cache >/dev/null
			cmp -s want got
			ok "nor_with_other_sections_in_the_file $cc $v $more" $?
			rm -f got
		done
		build prog "$cc" -gdwarf-$v -gsplit-dwarf || continue
		[ -f src/a.dwo ] || continue
		made=yes
		frames prog --no-cache >/dev/null
		cmp -s want got
		ok "split_or_not_the_answers_are_the_same $cc $v" $?
		for t in dwp llvm-dwp mkdwp.py
		do
			pack $t || continue
			mkdir away
			mv src/?.dwo away
			rm -f got
			frames prog --no-cache >/dev/null
			cmp -s want got
			ok "and_of_a_package $cc $v $t" $?
			cp bin/prog.dwp "$cc$v.dwp"
			mv away/* src
			rm -r away bin/prog.dwp
		done
	done
done
if [ -z "$made" ]
then
	echo "skip split: no compiler that splits debug information"
	exit 0
fi
lines_only() {
	[ "$(grep -c . all)" = "$(grep -c . want)" ] &&
		grep -q '^outer [0-9]* [0-9][0-9]* $' all &&
		! grep -q '^outer.*:' all && grep -q '^other.*square:' all
}

mv src/a.dwo away.dwo
frames prog >/dev/null
lines_only
ok without_the_file_there_are_lines $?
case $(note) in
*"inlined functions of 1 unit are in files that are not here: a.dwo"*)
	ok and_it_is_said 0 ;;
*) ok and_it_is_said 1 ;;
esac
cp away.dwo src/a.dwo
rm -f got
frames prog >/dev/null
cmp -s want got
ok a_file_that_came_is_found_in_spite_of_the_cache $?
rm src/a.dwo
mkfifo src/a.dwo
timeout 20 "$B" ingest -q -f -o x.db --no-cache c.data 2>err
ok a_fifo_does_not_hang_it $?
rm src/a.dwo
cp src/b.dwo src/a.dwo
frames prog --no-cache >/dev/null
lines_only
ok the_file_of_another_unit_is_not_taken $?
for n in 40 100 400 1000
do
	head -c $n away.dwo >src/a.dwo
	frames prog --no-cache >/dev/null
	[ "$(grep -c . all)" = "$(grep -c . want)" ]
	ok "a_cut_file_is_no_harm $n" $?
done
rm src/a.dwo
mkdir debug
cp away.dwo debug/a.dwo
rm -f got
frames prog --debug-dir debug --no-cache >/dev/null
cmp -s want got
ok it_is_found_in_a_debug_dir $?
rm -r debug
cp away.dwo bin/a.dwo
cp src/b.dwo bin
mv src elsewhere
rm -f got
frames prog --no-cache >/dev/null
cmp -s want got
ok and_beside_the_program $?
mkdir -p "sys$dir"
cp -r bin elsewhere "sys$dir"
mv "sys$dir/elsewhere" "sys$dir/src"
cp away.dwo "sys$dir/src/a.dwo"
rm bin/*.dwo "sys$dir"/bin/*.dwo
rm -f got
frames prog --no-cache --symfs "sys" >/dev/null
cmp -s want got
ok and_below_symfs $?

# ---- packages, of the last program
package=$dir/$cc$v.dwp
[ -f "$package" ] || exit 0
rm -rf "sys$dir"
mkdir packages
cp "$package" packages/prog.dwp
rm -f got
frames prog --no-cache --debug-dir packages >/dev/null
cmp -s want got
ok a_package_is_found_in_a_debug_dir $?
frames prog >/dev/null
[ "$(grep -c . all)" = "$(grep -c . want)" ] && ! grep -q : all
ok without_the_package_there_are_lines $?
cp "$package" bin/prog.dwp
rm -f got
frames prog >/dev/null
cmp -s want got
ok a_package_that_came_is_found_in_spite_of_the_cache $?
objcopy --compress-debug-sections "$package" bin/prog.dwp
rm -f got
frames prog --no-cache >/dev/null
cmp -s want got
ok a_package_may_be_compressed $?
size=$(wc -c <"$package")
bad=0
for i in 1 2 3 4 5 6 7
do
	head -c $((size * i / 8)) "$package" >bin/prog.dwp
	frames prog --no-cache >/dev/null
	[ "$(grep -c . all)" = "$(grep -c . want)" ] || bad=1
done
ok a_cut_package_is_no_harm $bad
for other in "$dir"/*.dwp
do
	[ "$other" = "$package" ] || cp "$other" bin/prog.dwp
done
frames prog --no-cache >/dev/null
[ "$(grep -c . all)" = "$(grep -c . want)" ] && ! grep -q : all
ok the_package_of_another_program_is_not_taken $?
objcopy --only-keep-debug bin/prog packages/prog.debug
strip -g bin/prog
objcopy --add-gnu-debuglink=packages/prog.debug bin/prog 2>/dev/null
rm bin/prog.dwp
rm -f got
frames prog --no-cache --debug-dir packages >/dev/null
cmp -s want got
ok a_package_of_a_stripped_program_is_found $?

# What a program names as its files is no file that waits, or has no end.
[ -d src ] || mv elsewhere src || mkdir src
printf '#!/bin/sh\nexec timeout 20 "%s" "$@"\n' "$B" >limited
chmod +x limited
B=$dir/limited
for evil in fifo /dev/zero /dev/tty / ../../../../../../etc/passwd
do
	build evil gcc -g -gsplit-dwarf
	rm -f src/*.dwo
	case $evil in
	fifo)
		mkfifo src/a.dwo
		altlink=$dir/src/a.dwo ;;
	*)
		ln -s "$evil" src/a.dwo
		altlink=$evil ;;
	esac
	{
		printf '%s\0' "$altlink"
		head -c 20 /dev/zero
	} >section
	objcopy --add-section .gnu_debugaltlink=section bin/evil bin/evil2 2>/dev/null &&
		mv bin/evil2 bin/evil
	rm -f all
	frames evil --no-cache >/dev/null 2>&1
	[ "$(grep -c . all)" -gt 0 ]
	ok "a_file_named_by_a_program_may_be_$(echo "$evil" | tr -c 'a-z\n' _)" $?
	rm -f src/a.dwo
done
