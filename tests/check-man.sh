#!/bin/sh
# check-man.sh - every command and option is in the manual, and the manual is well-formed.
# usage: tests/check-man.sh [root]; $BACKSTITCH is the program. Silent and 0 if all is well.
cd "${1:-.}" || exit 2
B=${BACKSTITCH:-./backstitch}
[ -x "$B" ] || { echo "$B: not built"; exit 2; }
tmp=$(mktemp -d) || exit 2
trap 'rm -rf "$tmp"' EXIT
bad=$(
	mandoc -Tlint -W warning man/*.[1-9]
	tab=$(printf '\t')
	"$B" --list-commands | while IFS=$tab read -r name summary
	do
		page=man/backstitch-$name.1
		[ -f "$page" ] || { echo "$page: is missing"; continue; }
		nd=$(sed -n 's/^\.Nd //p' "$page")
		[ "$nd" = "$summary" ] ||
			echo "$page: says '$nd', the program says '$summary'"
		grep -q "^\\.It Cm $name\$" man/backstitch.1 ||
			echo "man/backstitch.1: no command '$name'"
	done
	"$B" help rules | sed -n 's/^  \([a-z_][a-z_]*\)  .*/\1/p' |
	while read -r rule
	do
		grep -q "^\\.It Sy $rule\$" man/backstitch.7 ||
			echo "man/backstitch.7: no rule '$rule'"
	done
	# topics and variables: in help, in the manual, and in the code
	"$B" help | sed -n '/^Topics: /,$p' | tr -s ' ' '\n' | tail -n +2 |
	while read -r topic
	do
		[ "$(grep -c "^\\.Cm $topic\( [,.]\)\{0,1\}$" \
			man/backstitch-help.1)" = 1 ] ||
			echo "man/backstitch-help.1: topic '$topic' not once"
	done
	COLUMNS=200 "$B" help environment |
		sed -n 's/^  \([A-Z_, ]*[A-Z]\)\(  .*\)\{0,1\}$/\1/p' | tr -d ' ' |
		tr ',' '\n' | sort >"$tmp/help"
	sed -n 's/^\.It Ev //p' man/backstitch.1 | sed 's/ , Ev /\n/g' |
		sort >"$tmp/man"
	grep -rhoE 'getenv\("[A-Z_]+' cli symbolize | sed 's/.*"//' |
		sort -u >"$tmp/code"
	diff "$tmp/help" "$tmp/man" | sed -n \
		's/^[<>]/help environment and man\/backstitch.1 differ:/p'
	comm -13 "$tmp/help" "$tmp/code" | sed 's/^/help environment lacks /'
	# -h shows at most 14 options, and only those that there are
	"$B" --list-common | while read -r name common
	do
		have=$("$B" --list-options | sed -n "s/^$name //p")
		for o in $common
		do
			case " $have " in
			*" --$o "*) ;;
			*) echo "$name: no --$o, of which struct command has the name" ;;
			esac
		done
		[ "$(echo "$common" | wc -w)" -le 14 ] ||
			echo "$name: more than 14 common options"
	done
	"$B" --list-options | while read -r name options
	do
		page=man/backstitch-$name.1
		[ -f "$page" ] || continue
		others=$(sed -n '/^\.Sh OPTIONS/,/^\.Sh [^O]/s/^\.Xr \(backstitch[a-z-]*\) 1.*/man\/\1.1/p' \
			"$page" | sort -u)
		for o in $options
		do
			case $o in
			--*) item="Fl Fl ${o#--}" ;;
			*) item="Fl ${o#-}" ;;
			esac
			# in the page, or in one to which its OPTIONS point
			# shellcheck disable=SC2086 # several pages
			grep -Eqs "^\\.It (.* )?$item( |\$)" "$page" $others ||
				echo "$page: no option $o"
			case $name in
			# they have more to say of their own
			merge | record) continue ;;
			esac
			grep -Eq "^\\.It (.* )?$item( |\$)" "$page" &&
				grep -Eq "^\\.It (.* )?$item( |\$)" man/backstitch.1 &&
				echo "$page: option $o is in man/backstitch.1"
		done
		case " $options " in
		*' --json '*) grep -q '^\.Sh JSON$' "$page" ||
			echo "$page: no section JSON" ;;
		esac
		# options of the page that the program does not have
		grep -o '^\.It .*Fl Fl [a-z-]*' "$page" | sed 's/.* //' |
		while read -r long
		do
			case " $options " in
			*" --$long "*) ;;
			*) echo "$page: the program has no --$long" ;;
			esac
		done
		# an option that is defined twice: the second has no effect
		for o in $options
		do
			echo "$o"
		done | sort | uniq -d | sed "s|^|$name: two options |"
	done
)
[ -z "$bad" ] && exit 0
printf '%s\n' "$bad"
exit 1
