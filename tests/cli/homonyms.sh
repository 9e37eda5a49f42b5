#!/bin/sh
# homonyms.sh - functions of one image that have one name are several.
# usage: BACKSTITCH=build/backstitch MKCAP=build/mkcap tests/cli/homonyms.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$work" || exit 2

# capture NAME HEAVY LIGHT: samples in the two functions, called by main
capture() {
	{
		echo "event cpu-clock period=1000"
		echo "comm pid=100 name=app"
		echo "mmap pid=100 start=0x400000 len=0x10000 pgoff=0 path=/bin/app id=0123456789abcdef0123456789abcdef0123456$4"
		seq "$2" | sed 's/.*/sample pid=100 tid=100 cpu=1 time=&000 u=0x401010,0x403020/'
		seq "$3" | sed 's/.*/sample pid=100 tid=100 cpu=1 time=&500 u=0x402010,0x403020/'
		echo "sample pid=100 tid=100 cpu=1 time=99999999 u=0x402020,0x403020"
	} >"$1.txt"
	"$MKCAP" "$1.txt" "$1.data" &&
		"$B" ingest -q -f -o "$1.db" "$1.data"
}

# named DB FILE1 FILE2: both are called helper; a file "" is not known
named() {
	python3 - "$@" <<'END'
import sqlite3
import sys

db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM symbol")
image = db.execute("SELECT id FROM image WHERE path = '/bin/app'").fetchone()[0]
for i, (start, name, file) in enumerate((
        (0x1000, "helper", sys.argv[2]), (0x2000, "helper", sys.argv[3]),
        (0x3000, "main", "/src/main.c")), 1):
    db.execute("INSERT INTO symbol(id, image, start, size, name, how) "
               "VALUES(?, ?, ?, 4096, ?, 'symtab')", (i, image, start, name))
    db.execute("UPDATE frame SET symbol = ?, symoff = off - ?, file = ?, "
               "line = 3 WHERE image = ? AND off >= ? AND off < ? + 4096",
               (i, start, file or None, image, start, start))
db.commit()
END
}

# rows COMMAND...: names and samples of its JSON
rows() {
	"$B" "$@" --json 2>err | python3 -c 'import json, sys
print(*("%s %s" % (r["short"], r.get("self_samples", r.get("samples")))
        for r in json.load(sys.stdin)["rows"]), sep=", ")'
}

# changed OPTION...: the shares of both sides
changed() {
	"$B" diff --json "$@" 2>err | python3 -c 'import json, sys
print(*sorted("%s %.0f %.0f" % (r["symbol"], r["self_a_percent"],
                               r["self_b_percent"])
              for r in json.load(sys.stdin)["rows"]
              if r["self_a_percent"] + r["self_b_percent"]), sep=", ")'
}

capture a 80 19 0 && capture b 50 49 1 && capture same 50 49 0
ok captures_are_made $?
for db in a b same
do
	named $db.db /src/a.c /src/b.c
done
is static_functions_of_two_files_are_two_rows \
	'helper (a.c) 80, helper (b.c) 20' "$(rows report --no-children a.db)"
is annotate_counts_the_same \
	'helper (a.c) 80, helper (b.c) 20' "$(rows annotate a.db)"
is a_comparison_pairs_them_by_file \
	'helper (a.c) 80 50, helper (b.c) 20 50' "$(changed a.db b.db)"

# the function of the first frame has a short name like the others
{
	grep -v '^sample' a.txt
	echo "sample pid=100 tid=100 cpu=1 time=1000 u=0x401010"
	echo "sample pid=100 tid=100 cpu=1 time=2000 u=0x402010"
} >lone.txt
"$MKCAP" lone.txt lone.data && "$B" ingest -q -f -o lone.db lone.data && named lone.db /src/a.c /src/b.c &&
	sqlite3 lone.db "UPDATE symbol SET name = 'int app::help<int>(int)' WHERE name = 'helper'"
is functions_of_two_files_have_short_names \
	'app::help<int> (a.c) 1, app::help<int> (b.c) 1' "$(rows annotate lone.db)"
"$B" export --format folded -o folded a.db 2>err
is folded_stacks_tell_them_apart \
	"app;main;helper (a.c) 80 app;main;helper (b.c) 20" \
	"$(sort folded | tr '\n' ' ' | sed 's/ $//')"
"$B" annotate a.db helper >out 2>err
grep -q "^note: this is 1 of 2 functions of this name, helper (a.c) of app, 80 samples, .*; 'backstitch annotate --nth 2 a.db helper' chooses another$" err
ok annotate_says_what_chooses_the_other $?
"$B" annotate --nth 2 a.db helper >out 2>err
grep -q "^note: this is 2 of 2 .*helper (b.c) of app, 20 samples, .*; 'backstitch annotate --nth 1 a.db helper' " err &&
	"$B" annotate --nth 3 a.db helper 2>&1 | grep -q 'nth 3: 2 functions have this name' &&
	"$B" annotate --nth 0 a.db helper 2>&1 | grep -q 'from 1; say which name' &&
	"$B" annotate --nth 2 a.db 2>&1 | grep -q 'from 1; say which name'
ok nth_chooses_by_weight $?
"$B" annotate a.db 'helper (b.c)' >out 2>err
grep -q '/bin/app: no file' err && ! grep -q 'this name' err
ok and_that_chooses_it $?
"$B" report --callers helper a.db >out 2>err
is callers_of_both_are_told_the_heavier_first \
	'callers of helper (a.c), which is in 80.00 % of all: 80.00 main callers of helper (b.c), which is in 20.00 % of all: 20.00 main' \
	"$(awk '/^callers of/ || / main / { print /^ / ? $2 " " $4 : $0 }' out |
		tr '\n' ' ' | sed 's/ $//')"
"$B" report --callers helper --format csv a.db >out 2>err
[ $? = 2 ] && grep -qF "may be several functions: 'helper (a.c)' 80.00 %, 'helper (b.c)' 20.00 %" err
ok but_one_table_is_not_of_both $?
"$B" report --callers 'helper (b.c)' a.db 2>err | grep -q '20.00 .* main '
ok callers_of_one_are $?

# one file, as of a template
for db in a b same
do
	named $db.db /src/a.h /src/a.h
done
is instances_of_one_file_are_told_by_offset \
	'helper (+0x1000) 80, helper (+0x2000) 20' \
	"$(rows report --no-children a.db)"
is offsets_of_two_builds_pair_nothing \
	'helper (several functions) 100 100' "$(changed a.db b.db)"
is those_of_one_build_do \
	'helper (+0x1000) 80 50, helper (+0x2000) 20 50' \
	"$(changed a.db same.db)"

# a side without lines
named a.db /src/a.c /src/b.c
named b.db '' ''
is files_of_one_side_pair_nothing \
	'helper (several functions) 100 100' "$(changed a.db b.db)"

# equal names of files
named a.db /src/one/a.c /src/two/a.c
is folders_tell_files_of_one_name_apart \
	'helper (one/a.c) 80, helper (two/a.c) 20' \
	"$(rows report --no-children a.db)"
is a_picture_tells_them_too 2 \
	"$("$B" flame -o - a.db 2>err | grep -cE '<title>helper \((one|two)/a.c\)')"

"$B" flame --include '^helper$' -o all.svg a.db 2>err &&
	grep -q '<title>helper (one/a.c)' all.svg &&
	"$B" flame --include '^helper \(two/a.c\)$' -o one.svg a.db 2>err &&
	! grep -q '<title>helper (one/a.c)' one.svg
ok patterns_match_with_and_without_it $?

# a table of a capture is made of sums, for which no lines are looked for
cc=${CC:-cc}
if ! command -v "$cc" >out || ! command -v nm >out
then
	echo "skip a_capture_has_the_rows_of_its_database: no compiler"
	exit 0
fi
for f in a b
do
	echo "static __attribute__((noinline)) int helper(int n) { return n * $(printf %d "'$f"); }
int call_$f(int n) { return helper(n) + 1; }" >$f.c
done
echo 'int call_a(int), call_b(int); int main(int n, char **v) { (void)v; return call_a(n) + call_b(n); }' >main.c
"$cc" -g -O1 -fno-inline -no-pie -o prog a.c b.c main.c 2>err
ok a_program_is_built $?
{
	echo "event cpu-clock period=1000"
	echo "comm pid=100 name=prog"
	echo "mmap pid=100 $(code_of prog) path=$work/prog"
	nm prog | sed -n 's/^\([0-9a-f]*\) t helper$/sample pid=100 tid=100 cpu=1 time=5000 u=0x\1/p'
} >prog.txt
"$MKCAP" prog.txt prog.data && "$B" ingest -q -f -o prog.db prog.data 2>err
is a_database_has_the_files 'helper (a.c) 1, helper (b.c) 1' \
	"$(rows report prog.db)"
is a_capture_has_the_rows_of_its_database 'helper (a.c) 1, helper (b.c) 1' \
	"$(rows report prog.data)"
is but_looks_for_no_lines_if_told_so 2 \
	"$("$B" report --no-lines prog.data 2>err | grep -c 'helper (+0x')"

# gcc writes no linkage names of lambdas, and of what is in unnamed namespaces
if ! command -v g++ >out
then
	echo "skip lambdas_have_the_name_of_their_function: no g++"
	exit 0
fi
cat >lambda.cc <<'END'
volatile long sink;
namespace {
struct P {
	template <class F> static inline __attribute__((always_inline)) void each(F f, long n)
	{
		for (long i = 0; i < n; i++)
			f(i);
	}
};
inline __attribute__((always_inline)) void mix() { sink ^= 77; }
}
namespace ns {
__attribute__((noinline)) void both(long n)
{
	auto a = [](long i) { sink += i; }; auto b = [](long i) { sink ^= i * 3; };
	P::each(b, n);
	P::each(a, n);
	mix();
}
}
int main(int n, char **) { ns::both(n); auto c = [](long i) { sink -= i; }; P::each(c, n); }
END
g++ -g -O2 -no-pie -o lambda lambda.cc 2>err
ok a_program_with_lambdas_is_built $?
{
	echo "event cpu-clock period=1000"
	echo "comm pid=100 name=lambda"
	echo "mmap pid=100 $(code_of lambda) path=$work/lambda"
	nm -S lambda | sed -n 's/^\([0-9a-f]*\) \([0-9a-f]*\) [tT] \(_ZN2ns4bothEl\|main\)$/\1 \2/p' |
		while read -r at size
		do
			for i in $(seq 0 $((0x$size - 1)))
			do
				echo "sample pid=100 tid=100 cpu=1 time=5000 u=$((0x$at + i))"
			done
		done
} >lambda.txt
"$MKCAP" lambda.txt lambda.data && "$B" ingest -q -f --no-cache -o lambda.db lambda.data 2>err
is lambdas_have_the_name_of_their_function \
	'(anon)::mix, main::lambda#1::operator(), ns::both::lambda#1::operator(), ns::both::lambda#2::operator(), .' \
	"$("$B" report --inline --json lambda.db 2>err | python3 -c 'import json, sys
print(*sorted(r["short"] + ", " for r in json.load(sys.stdin)["rows"]
              if "mix" in r["short"] or r["short"].endswith("operator()")),
      sep="", end="")' && echo .)"
