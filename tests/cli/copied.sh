#!/bin/sh
# copied.sh - code that a program has copied to other memory at its place has the names of its file.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/copied.sh
# Needs: libcapstone
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
work=$PWD
if [ "$(uname -m)" != x86_64 ]
then
	echo "skip copied: its programs are of x86-64"
	exit 0
fi
cat >code.s <<'END'
.macro f name
	.globl \name
	.type \name, @function
\name:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset 6, -16
	mov %rsp, %rbp
	.cfi_def_cfa_register 6
.endm
.macro e name
	pop %rbp
	.cfi_def_cfa 7, 8
	ret
	.cfi_endproc
	.size \name, . - \name
.endm
f spin
in_spin: nop
e spin
f main
	.rept 12
	call spin
	.endr
in_main: nop
e main
f _start
	call main
in_start: hlt
e _start
END
cc -c -o code.o code.s && ld --build-id -o prog code.o &&
	ld --build-id -shared -Bsymbolic -o code.so code.o || exit 2
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: //p'
}
# made FILE KIND LINE...: with a mapping of FILE, then one of KIND at its place
made() {
	made_file=$1 made_kind=$2
	shift 2
	made_text=$(readelf -lW "$made_file" |
		awk '$1 == "LOAD" && / R E / { print $2, $3 }')
	case $made_file in
	*.so) base=0x7f0000000000 ;;
	*) base=0 ;;
	esac
	start=$((base + ${made_text#* }))
	{
		echo 'event cpu-clock period=1000'
		echo 'comm pid=7 name=prog'
		echo "mmap pid=7 start=$start len=0x2000 pgoff=${made_text% *} path=$work/$made_file id=$(id_of "$made_file")"
		[ "$made_kind" = none ] || {
			echo "mmap pid=7 start=$start len=0x1000 pgoff=0 path=$made_kind time=1500 cpu=0"
		}
		printf '%s\n' "$@"
	} >c.txt
	"$MKCAP" c.txt c.data
}
# at FILE LABEL: in the process
at() {
	printf 0x%x $((base + 0x$(nm "$1" | awk -v l="$2" '$3 == l { print $1 }')))
}
# chain FILE TIME
chain() {
	echo "sample pid=7 tid=7 cpu=0 time=$2 u=$(at "$1" in_spin),$(at "$1" in_main),$(at "$1" in_start)"
}
# names OPTION...: of the stacks
names() {
	"$B" ingest -q -f -o c.db "$@" c.data 2>err
	"$B" export --format folded --by samples c.db 2>>err
}
made prog none # for base
before=$(chain prog 1000) after=$(chain prog 2000)
for kind in //anon '/memfd:text (deleted)'
do
	made prog "$kind" "$before" "$after"
	sed -i "s|path=/memfd:text (deleted)|path=\"/memfd:text (deleted)\" ino=77 min=1|" c.txt
	"$MKCAP" c.txt c.data
	is "a_copy_has_the_names_of_the_program_$kind" \
		'prog;_start;main;spin 2' "$(names)"
done
"$B" report c.db >out 2>&1
says it_is_said_that_nothing_proves_it \
	'Nothing proves the names of 50.00 % of the samples.' out
"$B" info c.db >out 2>&1
says and_why "$work/prog, 50.00 % of samples: a copy of its code in other memory" out
"$B" symbolize --symfs / c.db >out 2>&1
is a_finished_database_knows_it_is_a_copy unverified "$("$B" query --format csv \
	c.db "SELECT status FROM image WHERE len = 4096" | tail -n +2 |
	tr -d '\r"')"

# what is made there by a compiler has its own names
mkdir maps
printf '%x 1000 made\n' "$start" >maps/perf-7.map
is but_code_that_the_program_names_itself_has_those \
	'prog;_start;main;spin 1
prog;made_[j];made_[j];made_[j] 1' "$(names --perf-map maps)"
# larger than the text, it is other code
made prog //anon "$before" "$after"
sed -i '/path=.*anon/s/len=0x1000/len=0x3000/' c.txt
"$MKCAP" c.txt c.data
is nor_is_it_of_the_file_if_it_is_larger_than_its_code \
	'prog;[anon];[anon];[anon] 1
prog;_start;main;spin 1' "$(names | sort)"

# a library may have been unmapped before, which no record says
made code.so none
before=$(chain code.so 1000) after=$(chain code.so 2000)
made code.so //anon "$before" "$after"
is nor_of_a_library_that_may_be_gone 'prog;[anon];[anon];[anon] 1
prog;_start;main;spin 1' "$(names | sort)"

# the first mapping of a file is as long as all of its segments, and what is
# between them is unmapped again
made prog //anon "$before"
sed -i "/path=.*anon/s/start=[0-9]*/start=$((start + 4096))/" c.txt
printf 'sample pid=7 tid=7 cpu=0 time=2000 u=0x%x\n' $((start + 4200)) >>c.txt
"$MKCAP" c.txt c.data
is nor_of_a_program_behind_its_code 'prog;[anon] 1' "$(names | grep anon)"

# perf keeps 20 bytes of a build-id, of which a linker makes more if it is told to
ld --build-id="0x$(printf '%02x' $(seq 32))" -o long code.o || exit 2
id_of() {
	readelf -n "$1" | sed -n 's/.*Build ID: \(.\{40\}\).*/\1/p'
}
made long none
before=$(chain long 1000)
made long none "$before"
is a_file_with_a_longer_build_id_is_the_one 'prog;_start;main;spin 1' "$(names)"
