# trust_classes.awk - the classes of view trust as C and as SQL.
# usage: awk -v out=header|sql -f schema/trust_classes.awk schema/trust_classes.txt
#
# header: enum trust_class and enum trust_remedy, and the rows of their tables as
# TRUST_CLASS_ROWS and TRUST_REMEDY_ROWS, which is schema/trust_classes.h. sql:
# a row of VALUES for each help: class, when, fix.

function fail(message)
{
	printf "%s:%d: %s\n", FILENAME, FNR, message >"/dev/stderr"
	failed = 1
	exit 1
}

# "cut (no_map)" as CUT_NO_MAP
function name_of(text)
{
	text = toupper(text)
	gsub(/[^A-Z0-9]+/, "_", text)
	sub(/_$/, "", text)
	return text
}

BEGIN { FS = " [|] " }
/^#/ || /^$/ { next }
/^remedy / && (NF == 3 || NF == 4) {
	sub(/^remedy /, "", $1)
	fix[$1] = ($2 == "build" ? "build with " : $2 == "give" ? "give the " : "") $3
	remedies = remedies "\tREMEDY_" name_of($1) ",\n"
	remedy_rows = remedy_rows "\t{ HOW_" name_of($2) ", \"" fix[$1] "\", \"" $4 \
		"\" }, \\\n"
	next
}
/^class / && NF == 4 {
	sub(/^class /, "", $1)
	class = $1
	classes = classes "\tCLASS_" name_of(class) ",\n"
	class_rows = class_rows "\t{ \"" class "\", TRUST_" name_of($2) ", \"" $3 \
		"\", \"" $4 "\" }, \\\n"
	next
}
/^helps / && NF == 2 && class != "" && ($2 in fix) {
	sub(/^helps /, "", $1)
	view = view (view == "" ? "" : ",\n") "\t('" class "', '" $1 "', '" fix[$2] "')"
	next
}
{ fail("no remedy, class or help is written so") }

END {
	if (failed)
		exit 1
	if (out == "sql") {
		print view
		exit
	}
	print "/* Made by schema/trust_classes.awk. */\n#pragma once"
	print "enum trust_class {\n" classes "\tCLASS_UNKNOWN,\n};"
	print "enum trust_remedy {\n\tREMEDY_NONE,\n" remedies "\tREMEDIES\n};"
	print "#define TRUST_CLASS_ROWS \\\n" class_rows
	print "#define TRUST_REMEDY_ROWS \\\n" remedy_rows
}
