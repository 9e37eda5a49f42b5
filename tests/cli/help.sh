#!/bin/sh
# help.sh - help in two levels: one screen of what most people need, and all, by headings.
# usage: BACKSTITCH=PROGRAM tests/cli/help.sh; prints "ok NAME" or "not ok NAME" lines.
cd "$(dirname "$0")/../.." || exit 2
. tests/lib.sh
export COLUMNS=80
"$B" --list-commands | cut -f1 >"$dir/commands"
"$B" --list-options >"$dir/options"
"$B" --list-common >"$dir/common"
"$B" help options >"$dir/most"
sed -n '/^Commands/q; s/^[- ,a-zA-Z]*--\([a-z-]*\).*/--\1/p' "$dir/most" >"$dir/shared"
cd "$dir" || exit 2

"$B" help >out
ok the_overview_fits_a_small_screen "$([ "$(wc -l <out)" -le 23 ]; echo $?)"
grep -vx help commands | while read -r c
do
	grep -qE "^  $c +[a-z]|^[A-Z][a-z, ]*:.* $c( |\$)" out || echo "$c"
done >bad
ok and_names_every_command "$([ ! -s bad ]; echo $?)"
ok in_the_order_of_work "$(sed -n 's/^\([A-Z][a-z, ]*\):.*/\1/p' out | head -2 |
	tr '\n' '.' | grep -qx 'Keep, convert, send.For developers.' &&
	sed -n 4,5p out | tr -s ' \n' ' ' | grep -q '^ record .* report '; echo $?)"

ok the_option_without_a_command_is_explained "$(grep -q -- '--open' out && grep -qx -- '--open' shared; echo $?)"

# names FILE: the long options that help explains
names() {
	sed -n 's/^  \(-[a-zA-Z],\|   \) --\([a-z-]*\).*/--\2/p' "$1"
}
# judge NAME: a test that fails if there are lines in `bad`
judge() {
	sed "s/^/# $1: /" bad
	ok "$1" "$([ ! -s bad ]; echo $?)"
}
while read -r c
do
	"$B" "$c" -h >"brief.$c"
	"$B" "$c" --help >"all.$c"
done <commands
# each NAME TEXT: is the shell's command TEXT true of each command $c, with its -h
# in the file $brief and its --help in $all?
each() {
	while read -r c
	do
		# shellcheck disable=SC2034 # by TEXT
		brief=brief.$c all=all.$c
		eval "$2" || echo "$c"
	done <commands >bad
	judge "$1"
}
# what is in quotes is run by each()
# shellcheck disable=SC2016
{
	each h_fits_a_screen '[ "$(wc -l <$brief)" -le 40 ]'
	each and_fits_80_columns '! grep -n ".\{81\}" $brief'
	each and_has_at_most_14_options '[ "$(names $brief | wc -l)" -le 14 ]'
	each and_one_to_four_examples 'sed -n "/^Examples:/,/^\$/p" $brief |
		grep "^  " >x; [ -s x ] && [ "$(wc -l <x)" -le 4 ]'
	each and_says_how_to_see_all '[ "$(tail -n 1 $brief)" = "all: backstitch help $c" ]'
	each and_its_options_are_the_common_ones_in_their_order '
		sed -n "s/^$c /--/p" common | sed "s/ / --/g" | tr " " "\n" >want
		[ ! -s want ] || { names $brief | cmp -s - want; }'
	each help_with_a_name_is_the_long_option '"$B" help "$c" | cmp -s - $all'
	each those_of_every_command_are_in_one_place '! names $all | grep -qxF -f shared'
	each no_option_is_explained_twice '[ -z "$(names $all | sort | uniq -d)" ]'
	# those of most commands, of ingest and of push are named by a sentence
	each every_option_is_explained '
		names $all >have; names most >>have
		for x in ingest push
		do
			! grep -q "backstitch help $x" $all || { "$B" help $x >of; names of >>have; }
		done
		sed -n "s/^$c //p" options | tr " " "\n" | grep -e "^--" | grep -vxF -f have >x
		[ ! -s x ] || sed "s/^/$c /" x'
	each and_at_most_40_options_have_a_line '[ "$(names $all | wc -l)" -le 40 ]'
	each no_heading_is_there_twice '[ -z "$(grep "^[A-Z].*:\$" $all | sort | uniq -d)" ]'
}
for c in report flame
do
	"$B" help $c | grep '^[A-Z].*:$' >out
	for h in 'What to count' 'Which samples' 'How to show it' 'Several databases'
	do
		grep -qx "$h:" out || echo "$c: no '$h'"
	done
done >bad
judge options_are_grouped_by_what_they_are_about
