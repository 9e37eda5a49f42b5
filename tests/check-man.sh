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
		grep -q "^\\.It Sy $rule\$" man/backstitch-rules.7 ||
			echo "man/backstitch-rules.7: no rule '$rule'"
	done
	# topics and variables: in help, in the manual, and in the code
	"$B" help | sed -n '/^TOPIC: /,$p' | tr -s ' ' '\n' | tail -n +2 |
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
	grep -rhoE 'getenv\("[A-Z_]+' analyze cli symbolize | sed 's/.*"//' |
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
	"$B" --list-options >"$tmp/options"
	# What the pages have, a line each: "PAGE item OPTION" of an ".It", "PAGE long OPTION" of the last
	# long one of it, "PAGE other PAGE" of an ".Xr" in OPTIONS, "PAGE json" of that section.
	# shellcheck disable=SC2016 # of awk
	awk '
	FNR == 1 { options = 0 }
	/^\.Sh / { options = /^\.Sh OPTIONS/ || (options && /^\.Sh O/) }
	/^\.Sh JSON$/ { print FILENAME, "json" }
	options && /^\.Xr backstitch[a-z-]* 1/ { print FILENAME, "other", "man/" $2 ".1" }
	/^\.It / {
		for (i = 2; i < NF; i++) {
			if ($i == "Fl" && $(i + 1) != "Fl")
				print FILENAME, "item", ($(i - 1) == "Fl" ? "--" : "-") $(i + 1)
			if ($i == "Fl" && $(i + 1) == "Fl" && i + 2 <= NF && $(i + 2) ~ /^[a-z-]+/) {
				match($(i + 2), /^[a-z-]+/)
				long = "--" substr($(i + 2), 1, RLENGTH)
			}
		}
		if (long != "")
			print FILENAME, "long", long
		long = ""
	}' man/backstitch*.1 >"$tmp/pages"
	awk '
	FNR == NR {
		if ($2 == "other")
			others[$1] = others[$1] " " $3
		else if ($2 == "long")
			longs[$1] = longs[$1] " " $3
		else
			has[$1, $2, $3] = 1
		there[$1] = 1
		next
	}
	{
		page = "man/backstitch-" $1 ".1"
		if (!(page in there))
			next
		delete mine
		for (i = 2; i <= NF; i++) {
			# in the page, or in one to which its OPTIONS point
			found = (page, "item", $i) in has
			n = split(others[page], other, " ")
			for (j = 1; j <= n; j++)
				found = found || (other[j], "item", $i) in has
			if (!found)
				print page ": no option " $i
			# merge and record have more to say of their own
			if ($1 != "merge" && $1 != "record" && (page, "item", $i) in has &&
			    ("man/backstitch.1", "item", $i) in has)
				print page ": option " $i " is in man/backstitch.1"
			# the second of two has no effect
			if (mine[$i]++ == 1)
				print $1 ": two options " $i
		}
		if ("--json" in mine && !((page, "json", "") in has))
			print page ": no section JSON"
		n = split(longs[page], long, " ")
		for (i = 1; i <= n; i++)
			if (!(long[i] in mine))
				print page ": the program has no " long[i]
	}' "$tmp/pages" "$tmp/options"
)
[ -z "$bad" ] && exit 0
printf '%s\n' "$bad"
exit 1
