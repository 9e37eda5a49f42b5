#!/bin/sh
# pltcallers.sh - callers that frame pointers skip, where a call goes through a PLT.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/pltcallers.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2
cc=${CC:-gcc}
[ "$(uname -m)" = x86_64 ] || {
	echo "skip callers_across_a_plt: the stubs are those of x86-64"
	exit 0
}

cat >lib.c <<'EOF'
volatile unsigned long sink;
#define F __attribute__((noinline)) void
#define LEAF(n) F n(unsigned long k) { for (unsigned long i = 0; i < 9; i++) sink += i ^ k; }
LEAF(leaf1) LEAF(leaf2) LEAF(leaf3)
static LEAF(hidden)
F outer(unsigned long k) { hidden(k); sink++; hidden(k + 1); sink++; }
F outer1(unsigned long k) { sink += k; hidden(k); sink++; }
F passes(unsigned long k) { sink++; leaf3(k); }
/* a call without a frame */
#define HOPS(name, to) __asm__(".globl " #name "\n.type " #name ", @function\n" #name ":\n.cfi_startproc\n" \
	"sub $8, %rsp\n.cfi_adjust_cfa_offset 8\ncall " #to "@plt\nadd $8, %rsp\n" \
	".cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size " #name ", .-" #name "\n");
HOPS(hops3, leaf3)
/* most of it has frames */
#define TEN(k) outer(k); outer(k + 1); outer(k + 2); outer(k + 3); outer(k + 4); \
	outer(k + 5); outer(k + 6); outer(k + 7); outer(k + 8); outer(k + 9)
F much(unsigned long k) { TEN(k); TEN(k); TEN(k); TEN(k); sink++; }
EOF
echo 'void foreign(void) { }' >other.c
cat >prog.c <<'EOF'
void leaf1(unsigned long), leaf2(unsigned long), leaf3(unsigned long);
void passes(unsigned long), hops3(unsigned long), hops1(unsigned long), outer(unsigned long), outer1(unsigned long), foreign(void);
static volatile unsigned long mine;
__asm__(".globl hops1\n.type hops1, @function\nhops1:\n.cfi_startproc\nsub $8, %rsp\n.cfi_adjust_cfa_offset 8\n"
	"call leaf1@plt\nadd $8, %rsp\n.cfi_adjust_cfa_offset -8\nret\n.cfi_endproc\n.size hops1, .-hops1\n");
#define G __attribute__((noinline)) void
G once(unsigned long k) { leaf1(k); mine++; }
G twice(unsigned long k) { leaf2(k); mine++; leaf2(k); mine++; }
G both(unsigned long k) { leaf3(k); mine++; passes(k); mine++; }
G unknown(unsigned long k) { leaf1(k); mine++; foreign(); mine++; }
G tail(unsigned long k) { mine++; leaf1(k); }
G behind(unsigned long k) { leaf1(k); mine++; tail(k); mine++; }
G skips(unsigned long k) { leaf3(k); mine++; hops3(k); mine++; }
G skips1(unsigned long k) { leaf1(k); mine++; hops1(k); mine++; }
G run(unsigned long k)
{
	once(k), twice(k), both(k), unknown(k), behind(k), skips(k), skips1(k), outer(k), outer1(k);
	mine++;
}
int main(void) { run(1); return 0; }
EOF
# plain stubs: whatever the compiler was configured with
fp="-O2 -fno-omit-frame-pointer -fcf-protection=none -fplt -Wl,-z,lazy,-z,separate-code,--build-id"
# shellcheck disable=SC2086 # words
$cc $fp -fPIC -shared -o libx.so lib.c && $cc $fp -fPIC -shared -o libo.so other.c &&
	$cc $fp -fno-pie -no-pie -o prog prog.c ./libx.so ./libo.so || exit 2

# at FILE FUNCTION; behind FILE FUNCTION CALLED: addresses in the process
base() { case $1 in *.so) echo $((0x7f0000000000)) ;; *) echo 0 ;; esac; }
at() { printf '0x%x' $((0x$(nm "$1" | awk -v f="$2" '$3 == f { print $1 }') + 4 + $(base "$1"))); }
behind()
{
	printf '0x%x' $((0x$(objdump -d "$1" | awk -v f="<$2>:" -v to="$3" '$2 == f { on = 1 }
		seen { sub(":", "", $1); print $1; exit }
		on && /\tcall/ && (index($0, "<" to ">") || index($0, "<" to "@plt>")) { seen = 1 }') + $(base "$1")))
}
# maps FILE: the record of its code
maps()
{
	readelf -lW "$1" | awk '$1 == "LOAD" && / R E / { print $2, $3, $6 }' |
		while read -r off vaddr len
		do
			printf 'mmap pid=100 start=0x%x len=0x%x pgoff=0x%x path=%s id=%s\n' \
				$((vaddr + $(base "$1"))) $(((len + 4095) / 4096 * 4096)) $((off)) "$PWD/$1" \
				"$(readelf -n "$1" | awk '/Build ID/ { print $3 }')"
		done
}
# chain NAME WANTED LEAF NEXT [FURTHER]: what script says of such a chain
chain()
{
	{
		echo "event cpu-clock period=1000000"
		echo "comm pid=100 name=prog"
		maps prog
		maps libx.so
		echo "sample pid=100 tid=100 cpu=0 time=1000000000 u=$3,$4,$(behind prog main run)"
	} >in.txt
	"$MKCAP" in.txt in.data && "$B" ingest -q -f -o in.db in.data
	is "$1" "$2" "$("$B" query --format csv in.db "SELECT group_concat(symbol || CASE flags & 1
		WHEN 1 THEN ' inferred' ELSE '' END, ' < ') FROM (SELECT * FROM stack_frames f
		JOIN samples s ON s.user_stack = f.stack ORDER BY pos)" | tail -n 1 | tr -d '"')"
}
chain the_stub_leads_to_the_leaf 'leaf1 < once inferred < run < main' \
	"$(at libx.so leaf1)" "$(behind prog run once)"
chain of_two_calls_the_function_is_known 'leaf2 < twice inferred < run < main' \
	"$(at libx.so leaf2)" "$(behind prog run twice)"
chain the_function_that_a_stub_leads_to_calls_it 'hidden < outer1 inferred < run < main' \
	"$(at libx.so hidden)" "$(behind prog run outer1)"
chain so_does_one_at_two_places 'hidden < outer inferred < run < main' \
	"$(at libx.so hidden)" "$(behind prog run outer)"
chain what_jumps_on_leaves_the_return_address 'leaf3 < both inferred < run < main' \
	"$(at libx.so leaf3)" "$(behind prog run both)"
chain behind_another_stub_it_may_be_called_without_a_frame 'leaf3 < run < main' \
	"$(at libx.so leaf3)" "$(behind prog run skips)"
chain of_a_stub_of_another_file_nothing_is_known 'leaf1 < run < main' \
	"$(at libx.so leaf1)" "$(behind prog run unknown)"
chain so_does_what_jumps_on_in_the_program 'leaf1 < behind inferred < run < main' \
	"$(at libx.so leaf1)" "$(behind prog run behind)"
chain one_that_has_no_frame_may_have_called_it 'leaf1 < run < main' \
	"$(at libx.so leaf1)" "$(behind prog run skips1)"
chain a_function_that_calls_another_leaf 'leaf2 < run < main' \
	"$(at libx.so leaf2)" "$(behind prog run once)"
