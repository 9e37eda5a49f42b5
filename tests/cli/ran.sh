#!/bin/sh
# ran.sh - which file ran: what the capture says of content, then inode and
# generation, then times; and what only another file at the path means.
# Waits: for programs whose files are looked at
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/ran.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
HOME=$PWD
XDG_CACHE_HOME=$PWD
export HOME XDG_CACHE_HOME
# Instructions of 5 and of 7 bytes: what ran in one is inside of one of the other.
for v in old new
do
	cat >$v.s <<EOF2
	.text
	.globl _start
	.globl ${v}_fn
	.type ${v}_fn, @function
_start:
${v}_fn:
	.rept 585
	.byte $([ $v = old ] && echo 0x0f,0x1f,0x44,0,0 || echo 0x0f,0x1f,0x80,0,0,0,0)
	.endr
	.org 4096
	.size ${v}_fn, 4096
EOF2
	if ! "${CC:-gcc}" -c -o $v.o $v.s || ! ld --build-id=sha1 -o $v $v.o
	then
		echo "skip ran: no assembler and linker"
		exit 0
	fi
done
if [ "$(stat -c %W old)" = 0 ]
then
	echo "skip ran: the file system does not tell when files were made"
	exit 0
fi
python3 "$root/tests/cli/ran.py" "$B" "$MKCAP"
