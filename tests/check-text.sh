#!/bin/sh
# check-text.sh - all text goes out through cli/output/escape_filter.c, and messages through say().
# usage: tests/check-text.sh [root]; silent when all is well
#
# Text from outside is then shown, not obeyed, wherever it is printed: no caller
# has to know what his strings are. tests/cli/escapes.sh plants raw ones.
cd "${1:-.}" || exit 2
rc=0

# none WHAT ALLOWED PATTERN: no line of analyze/ or cli/ has PATTERN, but those of files ALLOWED
none() {
	found=$(grep -rnE --include='*.[ch]' -e "$3" analyze cli | grep -vE "^($2):")
	[ -n "$found" ] || return
	rc=1
	printf '%s:\n%s\n' "$1" "$found"
}

# main.c prints its own errors, which err.c has made safe; query.c draws
# below a statement, piece by piece
none 'a message that say() does not print' \
	'cli/output/[a-z_]*\.c|cli/main\.c|cli/commands/query\.c|cli/embed/embed_empty\.c' \
	'(printf|puts?|putc|term_wrap|safe_text_[a-z_]+)\((.*[ (,])?stderr\b'
# ctfout_graph.c, cells.c: in a signal handler, one text of ours
none 'bytes that pass by the streams of out.c' \
	'cli/output/out\.c|cli/export/ctf/ctfout_graph\.c|cli/view/cells\.c' \
	'\b(write|writev|write_all|dprintf|vdprintf|fdopen)\((STDOUT_FILENO|STDERR_FILENO|fileno\(std|[12]\b|pager_fd)'
none 'a sequence for terminals; term_on() and term_mark() have all' \
	'cli/output/(term|out)\.c' '"[^"]*\\(033|x1[bB]|e\[)|'"'"'\\(033|x1[bB])'
# follow.c gives the terminal to a process of this program; segments.c is of files that are no output
none 'streams that are not those of out.c' \
	'cli/output/out\.c|cli/follow/(follow|segments)\.c' \
	'\b(fopencookie|freopen)\(|\bstd(out|err) = |/dev/(tty|stdout|stderr)'
exit $rc
