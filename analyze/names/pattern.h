/* pattern.h - regular expressions of the command line, which cannot explode. */
#pragma once
#include <regex.h>

struct err;

/* Compiles an extended expression that is given to option opt. Refuses what
 * takes exponential time or memory: references back to what was matched, and
 * repeats of repeats. The others are matched in a time that grows with the text
 * and the expression. Returns 0 and *out for regfree(), or -1 and *err. */
int pattern_compile(regex_t *out, const char *opt, const char *text,
		    struct err *err);
