#!/bin/sh
# escapes.sh - names from captures, databases, files and arguments command no terminal.
# usage: BACKSTITCH=PROGRAM tests/cli/escapes.sh; prints "ok NAME" or "not ok NAME" lines.
# In both builds: names that nobody writes are read under sanitizers, and what is
# printed of them is looked at without
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh

# check-text.sh fails on what passes by, planted in a copy of the source
cp -r cli analyze "$dir"
tests/check-text.sh "$dir" >"$dir/out"
ok the_source_prints_through_the_sieve $?
# planted NAME FILE LINE
planted() {
	cp "cli/$2" "$dir/cli/$2"
	printf '%s\n' "$3" >>"$dir/cli/$2"
	! tests/check-text.sh "$dir" >"$dir/out" && grep -q "^cli/$2:" "$dir/out"
	ok "$1" $?
	cp "cli/$2" "$dir/cli/$2"
}
planted a_planted_message_is_found commands/merge.c \
	'static void f(const char *s) { fprintf(stderr, "%s", s); }'
planted and_one_by_fputs tables/summary.c \
	'static void f(const char *s) { fputs(s, stderr); }'
planted and_a_write_to_a_descriptor follow/parts.c \
	'static void f(const char *s) { write(STDERR_FILENO, s, 1); }'
planted and_bytes_for_standard_output commands/bundle.c \
	'static void f(const char *s) { write_all(1, s, 1); }'
planted and_a_sequence path/path_screen.c \
	'static void f(void) { puts("\033[1mx"); }'
planted and_another_stream commands/query.c \
	'static void f(void) { FILE *f = fopen("/dev/tty", "w"); }'

python3 "$root/tests/cli/escapes.py" "$B" "$root/tests/captures" "$dir"
