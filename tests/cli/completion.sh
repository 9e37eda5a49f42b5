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
"$B" --list-options | while read -r name options
do
	offers backstitch "$name" - | tr ' ' '\n' | sort >got
	echo "$options" | tr ' ' '\n' | sort >want
	cmp -s want got || echo "$name"
done >bad
is "every option of every command in bash" "" "$(cat bad)"
"$B" --list-options | while read -r name options
do
	for o in $options
	do
		case $o in --*) ;; *) continue ;; esac
		sed -n "/^	$name) _arguments/,/;;\$/p" zsh |
			grep -qF -e "'${o}[" -e "'$o=[" || echo "zsh: $name $o"
		grep "__fish_seen_subcommand_from $name'" fish |
			grep -qF -e "-l ${o#--} " || echo "fish: $name $o"
	done
done >bad
is "in zsh and in fish" "" "$(head -3 bad)"

"$B" --list-common | while read -r name common
do
	n=$(echo "$common" | wc -w)
	offers backstitch "$name" -- | tr ' ' '\n' | head -n "$n" |
		sed 's/^--//' | tr '\n' ' ' >got
	[ "$(cat got)" = "$common " ] || echo "$name"
done >bad
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
