#!/bin/sh
# folded.sh - a symbol without a size ends where the next function begins, and
# functions that are one code have all their names.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/folded.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
dir=$PWD
HOME=$dir
export HOME
CC=${CC:-gcc}

cat >z.s <<'EOF2'
	.text
	.globl asm_api
asm_api:
	mov %rdi, %rax
	ret
	.p2align 4
	.section .note.GNU-stack,"",@progbits
EOF2
cat >z.c <<'EOF2'
#define NI static __attribute__((noinline))
volatile unsigned long s;
NI void secret(long n) { while (n--) s += n; }
NI void secret2(long n) { while (n--) s ^= n; }
void api_end(long n) { secret(n); secret2(n); }
EOF2
# names of one address: of one size and two sources, an alias that is weak or has
# underscores, one of another size; a mangled pair, and two of one constructor
cat >two.s <<'EOF2'
	.macro fn name, bytes
	.globl \name
	.type \name, @function
	.size \name, \bytes
	.endm
	.text
	fn never_called, 16
	fn zz_hot, 16
	fn __zz_hot, 16
	fn short, 8
	fn faint, 16
	.weak faint
faint:
short:
__zz_hot:
zz_hot:
never_called:
	.zero 16, 0x90
	fn _Z3hotImET_S0_, 16
	fn _Z3hotIyET_S0_, 16
_Z3hotImET_S0_:
_Z3hotIyET_S0_:
	.zero 16, 0x90
	fn _ZN1AC1Ev, 16
	fn _ZN1AC2Ev, 16
_ZN1AC1Ev:
_ZN1AC2Ev:
	.zero 16, 0x90
	fn main, 16
main:
	.zero 16, 0x90
	.section .note.GNU-stack,"",@progbits
EOF2
if [ "$(uname -m)" != x86_64 ] || ! "$CC" -O1 -fPIC -shared -Wl,--build-id -o z.so z.s z.c ||
	! "$CC" -Wl,--build-id -o two two.s || ! "$CC" -shared -Wl,--build-id -o two.so two.s -Wl,-soname,two.so
then
	echo "skip folded: no compiler for x86-64"
	exit 0
fi
cp z.so stripped.so
strip stripped.so

# names FILE SYMBOL-TABLE-FILE SYMBOL+OFFSET...: what is there, in this order;
# NAME*: nothing proves it, though the file is the one that ran
names() {
	names_file=$1 names_table=$2
	shift 2
	python3 - "$dir/$names_file" "$names_table" "$(code_of "$names_file")" \
		"$(readelf -n "$names_file" | sed -n 's/.*Build ID: *//p')" "$@" >c.txt <<'END'
import os, subprocess, sys
path, table, code, id, *places = sys.argv[1:]
out = subprocess.run(["nm", table], check=True, stdout=subprocess.PIPE).stdout.decode()
at = {line.split()[-1]: int(line.split()[0], 16) for line in out.split("\n") if len(line.split()) == 3}
print(f"event cpu-clock\nhost {os.uname().nodename} {os.uname().release}\ncomm pid=7 name=p exec\n"
      f"mmap pid=7 {code} path={path} id={id}")
for i, p in enumerate(places):
    name, _, off = p.partition("+")
    print(f"sample pid=7 tid=7 cpu=0 time={1000 + i} u=0x{at[name] + int(off or 0):x}")
END
	"$MKCAP" c.txt c.data && "$B" ingest -q -f -o x.db c.data 2>err
	"$B" query --format csv x.db "SELECT coalesce(s.name, '?') ||
		CASE WHEN s.unverified > (i.status = 'unverified') THEN '*' ELSE '' END
		FROM event e JOIN raw_chain r ON r.id = e.uraw JOIN stack t
		ON t.id = r.stack JOIN frame f ON f.id = t.frame
		JOIN image i ON i.id = f.image LEFT JOIN symbol s ON s.id = f.symbol
		ORDER BY e.id" | tail -n +2 | tr -d '\r"' | tr '\n' ';'
}

is a_symbol_without_a_size_ends_at_the_next_function 'asm_api*;?;?;api_end;' \
	"$(names stripped.so z.so asm_api+3 secret+4 secret2+4 api_end)"
is which_has_its_name_if_there_is_one 'asm_api*;secret;secret2;' \
	"$(names z.so z.so asm_api secret+4 secret2+4)"
is of_functions_that_are_one_code_none_is_preferred \
	'zz_hot = never_called;' "$(names two two never_called+9)"
is mangled_ones_are_told_apart 'unsigned long hot<unsigned long>(unsigned long) = unsigned long long hot<unsigned long long>(unsigned long long);' \
	"$(names two two _Z3hotImET_S0_+9)"
"$B" report x.db >out 2>&1
says and_shortened_one_by_one 'hot<unsigned long> = hot<unsigned long long>' out
is constructors_are_one_function 'A::A();' "$(names two two _ZN1AC1Ev+9)"
is aliases_of_a_library_are_one_function 'never_called;' \
	"$(names two.so two.so never_called+9)"
is but_not_mangled_ones 1 "$(names two.so two.so _Z3hotImET_S0_+9 | grep -c ' = ')"
