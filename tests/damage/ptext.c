/* ptext.c - damages a text of perf script: tests/damage_lines.h. */
#include "formats/ptext/ptext.h"
#include "tests/damage_lines.h"

int main(int argc, char **argv)
{
	return damage_lines(argc, argv, &ptext_ops, "damage-ptext TEXT",
			    "samples");
}
