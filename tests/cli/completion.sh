#!/bin/sh
# completion.sh - completion knows every option and choice, and files, in a bash that somebody types into.
# usage: BACKSTITCH=PROGRAM tests/cli/completion.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
cd "$dir" || exit 2
for shell in bash zsh fish
do
	"$B" completion $shell >out || exit 2
	mv out $shell
	if command -v $shell >/dev/null
	then
		$shell -n $shell
		ok "$shell takes it" $?
	fi
done

# offers WORD...: what bash offers for the last word
cat >ask <<'E2'
. ./bash
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_backstitch
echo "${COMPREPLY[*]}"
E2
offers() {
	bash ask "$@"
}
is() {	# is NAME WANTED GOT
	[ "$2" = "$3" ]
	rc=$?
	ok "$1" $rc
	[ $rc = 0 ] || printf '# wanted: %.300s\n# got: %.300s\n' "$2" "$3"
}

"$B" --list-commands | cut -f1 >commands
is "every command" "$(tr '\n' ' ' <commands | sed 's/ $//')" \
	"$(offers backstitch "")"
# all_offers WORD: what bash offers for it behind each command, a line each
all_offers() {
	# shellcheck disable=SC2016 # of the bash that is started
	bash -c '. ./bash
		while read -r name
		do
			COMP_WORDS=(backstitch "$name" "$1") COMP_CWORD=2
			_backstitch
			echo "$name ${COMPREPLY[*]}"
		done' - "$1" <commands
}
"$B" --list-options >options
all_offers - >offered
awk '{ lines[$1]++
		for (i = 2; i <= NF; i++)
			seen[$1 " " $i] += FILENAME == "options" ? 1 : -1 }
	END {
		for (name in lines)
			if (lines[name] != 2)
				print name
		for (key in seen)
			if (seen[key])
				print key
	}' options offered >bad
is "every option of every command in bash" "" "$(cat bad)"
# In zsh, those of a command are between its name and ";;".
awk 'FILENAME == "zsh" {
		if (match($0, /^\t[a-z-]*\) _arguments/))
			in_zsh = substr($0, 2, index($0, ")") - 2)
		zsh[in_zsh] = zsh[in_zsh] "\n" $0
		if (/;;$/)
			in_zsh = ""
	}
	FILENAME == "fish" && match($0, "__fish_seen_subcommand_from [^\47]*\47") {
		name = substr($0, RSTART + 28, RLENGTH - 29)
		fish[name] = fish[name] "\n" $0
	}
	FILENAME == "options" {
		for (i = 2; i <= NF; i++) {
			if ($i !~ /^--/)
				continue
			tried++
			if (!index(zsh[$1], "\47" $i "[") &&
				!index(zsh[$1], "\47" $i "=["))
				print "zsh: " $1 " " $i
			if (!index(fish[$1], "-l " substr($i, 3) " "))
				print "fish: " $1 " " $i
		}
	}
	END { if (tried < 300) print tried + 0 " options" }' zsh fish options >bad
is "in zsh and in fish" "" "$(head -3 bad)"

"$B" --list-common >common
all_offers -- >offered
awk 'FNR == NR { sub(/ *$/, ""); common[$1] = $0; n[$1] = NF; next }
	$1 in common {
		tried++
		line = $1
		for (i = 2; i <= n[$1]; i++)
			line = line " " substr($i, 3)
		if (line != common[$1])
			print $1
	}
	END { if (!tried || tried != length(n)) print tried + 0 " commands" }' common offered >bad
is "the common options come first" "" "$(cat bad)"

is "choices" "table lines csv json markdown sql" "$(offers backstitch query --format "")"
is "choices behind =" "csv" "$(offers backstitch query --format = c)"
is "and all of them" "auto always never" "$(offers backstitch flame --color =)"
is "the shells" "bash zsh fish" "$(offers backstitch completion "")"
is "topics are helped with" "verdicts" "$(offers backstitch help verd)"
is "and commands" "query" "$(offers backstitch help que)"
is "a file is no word of ours" "" "$(offers backstitch query "")"
is "nor is one behind an option" "" "$(offers backstitch query --file "")"

# typed, with the tabulator, and then shown by echo at the line's beginning
touch some.db "old file.db"
mkdir fol
type_in() {
	printf '. ./bash\nPS1=\n%b\001echo GOT \nexit\n' "$1" |
		INPUTRC=/dev/null timeout 20 script -qec \
		"bash --norc --noprofile -i" /dev/null 2>/dev/null |
		tr -d '\r' | sed -n 's/^\(.*2004l\)\{0,1\}GOT //p'
}
is "a command, an option, and a file" "backstitch query --views some.db" \
	"$(type_in 'backstitch que\t --vi\t so\t')"
is "the file of an option" "backstitch query -f some.db" \
	"$(type_in 'backstitch query -f so\t')"
is "a file behind =" "backstitch query --file=some.db" \
	"$(type_in 'backstitch query --file=so\t')"
is "a name with a blank" "backstitch info old file.db" \
	"$(type_in 'backstitch info ol\t')"
is "a choice behind =" "backstitch query --format=lines" \
	"$(type_in 'backstitch query --format=l\t')"
is "a folder" "backstitch ingest --symfs fol/" \
	"$(type_in 'backstitch ingest --symfs fo\t')"
