#!/bin/sh
# copies.sh - debug files beside a program are found although perf's copy of it is read.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/copies.sh
# 'perf record' copies programs to ~/.debug, and nothing that is beside them.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
HOME=$dir/home
mkdir home bin away
export HOME
unset XDG_CACHE_HOME

cat >a.c <<'EOF2'
static inline __attribute__((always_inline)) int inner(int x)
{
	for (int i = 0; i < 100; i++)
		x = x * 31 + i;
	return x;
}
__attribute__((noinline)) int outer(int x)
{
	return inner(x) + 1;
}
int main(int argc, char **argv)
{
	(void)argv;
	return outer(argc);
}
EOF2

# build FLAGS...: bin/prog, and in $addr where it multiplies
build() {
	rm -rf bin/* bin/.debug away/* home/.debug
	(cd bin && gcc -O2 "$@" -Wl,--build-id=sha1 -pie -fPIE -c -o a.o ../a.c &&
		gcc "$@" -Wl,--build-id=sha1 -pie -o prog a.o) 2>/dev/null ||
		return 1
	addr=$(objdump -d bin/prog --disassemble=outer |
		sed -n '/shl\|imul/{s/:.*//;s/ //g;p;q}')
	[ -n "$addr" ]
}
# frame [OPTION...]: the frame there, of a capture with which perf copied bin/prog
frame() {
	id=$(readelf -n bin/prog | sed -n 's/.*Build ID: //p')
	copy=home/.debug/.build-id/$(echo "$id" | cut -c1-2)/$(echo "$id" |
		cut -c3-)
	mkdir -p "$copy"
	cp bin/prog "$copy"/elf
	cat >c.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=7 start=0x500000 len=0x10000 pgoff=0 path=$at/prog id=$id
sample pid=7 tid=7 cpu=0 time=1000 u=$(printf '0x%x' $((0x$addr + 0x500000)))
EOF2
	"$MKCAP" c.txt c.data || exit 2
	"$B" ingest -q -f --no-cache -o x.db "$@" c.data 2>err
	"$B" query --format csv x.db "SELECT s.name, f.line,
		(SELECT n.name || ':' || n.line FROM inline_frame n
		WHERE n.frame = f.id) FROM frame f
		JOIN symbol s ON s.id = f.symbol" | tail -n +2 | tr -d '\r'
}
both() {
	at=$dir/bin
	is "$1" outer,9,inner:4 "$(frame)"
	at=/bin
	mkdir -p root/bin
	cp -r bin/. root/bin
	rm -r bin/* bin/.debug 2>/dev/null
	cp root/bin/prog bin/
	is "$1 below_symfs" outer,9,inner:4 "$(frame --symfs root)"
	rm -r root
}

build -g || {
	echo "skip copies: gcc makes no such program"
	exit 0
}
split() {
	objcopy --only-keep-debug bin/prog bin/prog.debug
	strip bin/prog
	(cd bin && objcopy --add-gnu-debuglink=prog.debug prog)
}
split
both of_the_debug_link
build -g
split
mkdir bin/.debug
mv bin/prog.debug bin/.debug
both of_the_debug_link_in_a_folder
# whose name is not that of the program, as in Fedora's packages
build -g
objcopy --only-keep-debug bin/prog bin/prog-1.debug
strip bin/prog
(cd bin && objcopy --add-gnu-debuglink=prog-1.debug prog)
mkdir -p "debug$dir/bin"
mv bin/prog-1.debug "debug$dir/bin"
at=$dir/bin
is of_the_debug_link_in_a_folder_like_usr_lib_debug outer,9,inner:4 \
	"$(frame --debug-dir debug)"
rm -r debug

# a part of which is in a file that is not here, as after dwz
build -g
printf '../.dwz/common\0%020d' 7 >alt
objcopy --add-section .gnu_debugaltlink=alt bin/prog
at=$dir/bin
is without_the_shared_file_there_are_names 'outer,,' "$(frame)"
grep -q ': source lines need the file of dwz, which is not here: ../.dwz/common$' err
ok and_it_is_said $?

if command -v dwz >/dev/null && build -g && (cd bin && cp prog other &&
	dwz -m shared.dwz -M shared.dwz prog other) 2>/dev/null
then
	both of_what_dwz_shared
else
	echo "skip of_what_dwz_shared: no dwz"
fi
if build -gdwarf-4 -gsplit-dwarf && [ -f bin/a.dwo ]
then
	cp -r bin kept
	# where it was compiled it would be found
	sed -i "s|$dir/bin|$dir/bim|" bin/prog 2>/dev/null
	both of_split_units
	rm -r bin
	mv kept bin
	if (cd bin && dwp -e prog -o prog.dwp && rm a.dwo) 2>/dev/null
	then
		both of_a_package
	else
		echo "skip of_a_package: no dwp"
	fi
else
	echo "skip of_split_units: gcc makes none"
fi
