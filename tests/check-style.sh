#!/bin/sh
# check-style.sh - checks the style of CONTRIBUTING.md, except layers, sizes and headers.
# usage: tests/check-style.sh [root]; one ok or not ok line per rule
cd "${1:-.}" || exit 2
tmp=$(mktemp) || exit 2
heads=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp" "$heads"' EXIT
rc=0
c_files=$(find analyze cli stitch formats symbolize schema tests -name '*.[ch]' \
	-type f | sort)
sh_files=$(find . \( -path './build*' -o -name .git -o -path ./bench \) -prune -o -name '*.sh' -type f -print |
	sed 's|^\./||' | sort)

# rule NAME: fails when $tmp holds a line
rule() {
	if [ -s "$tmp" ]
	then
		cat "$tmp"
		echo "not ok $1"
		rc=1
	else
		echo "ok $1"
	fi
}

# recent: what changed in the last 50 commits, or is not committed
recent() {
	git log -50 --name-only --format= 2>/dev/null
	git status --porcelain -uall 2>/dev/null | cut -c 4-
}

# due RULES FILE...: the files that changed lately, and of the others an eighth, other
# ones for the next commit, as those were clean when they changed; all of them with LONG,
# where there is no git, or where one of the RULES changed lately
due() {
	recent | awk -v turn="${SHARE_OF:-0}" -v long="${LONG:-}" '
		BEGIN {
			n = ARGC
			ARGC = 1
		}
		{ changed[$0] = 1 }
		END {
			all = long != "" || NR == 0
			for (r = split(ARGV[1], rules, " "); r > 0; r--)
				all = all || rules[r] in changed
			for (i = 2; i < n; i++)
				if (all || ARGV[i] in changed || (i + turn) % 8 == 0)
					print ARGV[i]
		}' "$@"
}

# shellcheck disable=SC2086 # lists of files from here on
if command -v clang-format-14 >/dev/null
then
	due .clang-format $c_files | xargs -P "$(nproc)" -n 64 \
		clang-format-14 --dry-run -Werror >"$tmp" 2>&1
	rule "C files are as .clang-format has them"
else
	echo "skip C files are as .clang-format has them: no clang-format-14"
fi

# What a hundred scripts include is read with each of them, which takes a third of
# all: they include its variables, and read those that its functions read.
mkdir "$heads/tests"
for f in lib.sh ok.sh
do
	awk '/^[a-z_]+\(\) \{$/ { body = 1 }
		!body { print; next }
		/^\}$/ { body = 0 }
		{
			while (match($0, /\$[a-z_]+/)) {
				read = read " \"" substr($0, RSTART, RLENGTH) "\""
				$0 = substr($0, RSTART + RLENGTH)
			}
		}
		END { print "# shellcheck disable=SC2154\n:" read }' tests/$f >"$heads/tests/$f"
done
# One process for all scripts keeps them all in memory, which its collector of
# garbage copies again and again: that takes half as long again.
# shellcheck disable=SC2086
due "tests/lib.sh tests/ok.sh" $sh_files .ci/run | sed "s|^|$PWD/|" | (cd "$heads" && xargs -P "$(nproc)" -n 4 \
	shellcheck -x) 2>&1 | sed "s|$PWD/||" >"$tmp"
rule "shell scripts pass shellcheck"

# clang-format 14 leaves ' *word' where it breaks the last line of a paragraph that
# a table touches; a blank line of the comment between the two avoids it.
# shellcheck disable=SC2086
grep -nE '^ \*[A-Za-z]' $c_files >"$tmp"
rule "the text of a comment stands behind ' * '"

# names_itself LINE BEGIN FILE...: prints the files of which this line lacks BEGIN and
# the name of the file
names_itself() {
	awk 'BEGIN {
		for (i = 3; i < ARGC; i++) {
			line = ""
			for (n = 0; n < ARGV[1]; n++) {
				line = ""
				getline line <ARGV[i]
			}
			close(ARGV[i])
			name = ARGV[i]
			sub(/.*\//, "", name)
			if (!index(line, ARGV[2] name " - "))
				printf "%s:%d: should be \"%s%s - ...\"\n",
					ARGV[i], ARGV[1], ARGV[2], name
		}
	}' "$@"
}
# shellcheck disable=SC2086
names_itself 1 "/* " $c_files >"$tmp"
rule "the first line of a C file says what it is for"
# shellcheck disable=SC2086
names_itself 2 "# " $sh_files >"$tmp"
rule "the second line of a script says what it is for"

# clang-format joins the lines of a list that are too long, and leaves no blank
# shellcheck disable=SC2086
grep -nE '^ \*[^ 	*/]' $c_files >"$tmp"
rule "a line of a comment has a blank behind its *"

# tests/exceptions.txt: 'FILE WORD reason' allows WORD in FILE; an exception
# that is no longer needed is a breach too.
# shellcheck disable=SC2086
grep -nE '(^|[^a-zA-Z0-9_.>])(strcpy|strcat|sprintf|vsprintf|strtok|atoi|atol|gets|alloca|setjmp|longjmp)[[:space:]]*\(' \
	$c_files | awk -v list=tests/exceptions.txt '
	BEGIN {
		while ((getline line < list) > 0) {
			if (line ~ /^#/ || line == "")
				continue
			n = split(line, w, " ")
			if (n < 3)
				print list ": no reason: " line
			left[w[1] " " w[2]] = 1
		}
	}
	{
		file = $0
		sub(/:.*/, "", file)
		bad = 1
		for (k in left) {
			split(k, w, " ")
			if (w[1] == file && match($0, w[2] "[ \t]*[(]")) {
				bad = 0
				used[k] = 1
			}
		}
		if (bad)
			print
	}
	END {
		for (k in left)
			if (!(k in used))
				print list ": not needed: " k
	}' >"$tmp"
rule "no function that CONTRIBUTING.md, style 18 forbids"

# shellcheck disable=SC2086
grep -nE '^[[:space:]]*typedef[[:space:]]+(struct|union|enum)' $c_files >"$tmp"
rule "no typedef of a struct"

# Columns have names in schema/columns.h; a loop over all columns uses a variable.
# shellcheck disable=SC2086
echo $c_files | tr ' ' '\n' | grep -v '^tests/' | xargs grep -nE \
	'(rows_(value|int|text|image|build_id)\(|text_or_null\([^,]*,)[^,]*,[[:space:]]*[0-9]' >"$tmp"
rule "columns of rows have names, not numbers"

# Files must not name folders of the machine that they were written on.
git ls-files -z 2>/dev/null | xargs -0 grep -nIE \
	'(^|[^a-zA-Z0-9_.$}])/(home|root|work)/[a-zA-Z0-9_.-]' -- 2>/dev/null |
	grep -vE '^(tests/captures/|tests/check-style\.sh:)' >"$tmp"
rule "no absolute path of a home or work folder"

# What a trial writes at the root, 'git add -A' commits.
git ls-files 2>/dev/null | cut -d/ -f1 | sort -u |
	grep -vxE '\.clang-format|\.editorconfig|\.gitattributes|\.gitignore|[A-Z]+(\.md)?|Makefile' |
	grep -vxE '\.ci|analyze|cli|debian|formats|man|packaging|schema|stitch|symbolize|tests' >"$tmp"
rule "no file or folder at the root but those of the project"

# shellcheck disable=SC2086
grep -nE '[[:space:]]+$' $c_files $sh_files Makefile README.md >"$tmp"
rule "no blanks at the end of a line"
exit $rc
