#!/bin/sh
# packed.sh - names from files that are compressed, or all in one folder.
# usage: BACKSTITCH=PROGRAM MKCAP=PROGRAM tests/cli/packed.sh
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
HOME=$dir/home
mkdir home
export HOME
unset XDG_CACHE_HOME

sql() {
	"$B" query --format csv x.db "$1" 2>&1 | tail -n +2 | tr -d '\r'
}

# ---- kallsyms
cat >kallsyms <<'EOF2'
ffffffff81000000 T _text
ffffffff81000000 T _stext
ffffffff81001000 T do_one
ffffffff81002000 T do_two
ffffffff81400000 T _etext
EOF2
cat >k.txt <<'EOF2'
event cpu-clock
mmap pid=-1 tid=0 start=0xffffffff81000000 len=0x400000 pgoff=0xffffffff81000000 path=[kernel.kallsyms]_text kernel
sample pid=7 tid=7 cpu=0 time=1000 k=0xffffffff81002010
EOF2
"$MKCAP" k.txt k.data || exit 2
for how in '' gzip zstd
do
	name=kallsyms
	if [ "$how" ]
	then
		if ! command -v "$how" >/dev/null
		then
			echo "skip kallsyms_packed_by_${how}_is_read: no $how"
			continue
		fi
		"$how" -q -c kallsyms >packed
		name=packed
	fi
	"$B" ingest -q -f --kallsyms "$name" -o x.db k.data 2>err
	is "kallsyms_packed_by_${how:-nothing}_is_read" do_two \
		"$(sql "SELECT s.name FROM frame f JOIN symbol s ON s.id = f.symbol")"
done
head -c 40 packed >short.gz
"$B" ingest -q --kallsyms short.gz -o y.db k.data 2>err
is one_that_is_cut_is_an_error 1 $?
grep -q 'short.gz: no symbols with addresses' err
ok and_named $?

# ---- debug sections
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
# Short sections are not packed: the name of the folder is in .debug_line_str.
long=$(printf %0200d 0)
mkdir "$long"
for flags in -gdwarf-4 -gdwarf-5
do
	for pack in none zlib zlib-gnu
	do
		what="lines_are_read_of_$flags sections_packed_by_$pack"
		what=$(echo "$what" | tr ' -' '__')
		if ! (cd "$long" && exec gcc -O2 $flags -gz=$pack -pie -fPIE \
			-Wl,--build-id=sha1 -o ../prog ../a.c 2>/dev/null)
		then
			echo "skip $what: gcc cannot do that"
			continue
		fi
		id=$(readelf -n prog | sed -n 's/.*Build ID: //p')
		addr=$(objdump -d prog --disassemble=outer |
			sed -n '/shl\|imul/{s/:.*//;s/ //g;p;q}')
		if [ -z "$addr" ]
		then
			echo "skip $what: other code than this test knows"
			continue
		fi
		cat >c.txt <<EOF2
event cpu-clock
comm pid=7 name="prog"
mmap pid=7 start=0x500000 len=0x10000 pgoff=0 path=$dir/prog id=$id
sample pid=7 tid=7 cpu=0 time=1000 u=$(printf '0x%x' $((0x$addr + 0x500000)))
EOF2
		"$MKCAP" c.txt c.data || exit 2
		"$B" ingest -q -f --no-cache -o x.db c.data 2>err
		is "$what" 'outer,9,inner:4' "$(sql "SELECT s.name, f.line,
			(SELECT n.name || ':' || n.line FROM inline_frame n
			WHERE n.frame = f.id) FROM frame f
			JOIN symbol s ON s.id = f.symbol")"
	done
done

# ---- a folder with programs by their names, as perf 7.1 has it
if [ -f prog ]
then
	mkdir flat
	mv prog flat/
	"$B" ingest -q -f --no-cache -o x.db c.data 2>err
	is a_program_that_is_gone_has_no_names '' "$(sql "SELECT s.name
		FROM frame f JOIN symbol s ON s.id = f.symbol")"
	"$B" ingest -q -f --no-cache --symfs flat -o x.db c.data 2>err
	is a_flat_folder_of_programs_has_them outer "$(sql "SELECT s.name
		FROM frame f JOIN symbol s ON s.id = f.symbol")"
fi
