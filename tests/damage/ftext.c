/* ftext.c - damages a text of ftrace: tests/damage_lines.h. */
#include "formats/ftext/ftext.h"
#include "tests/damage_lines.h"

int main(int argc, char **argv)
{
	return damage_lines(argc, argv, &ftext_ops, "damage-ftext CAPTURE",
			    "events");
}
