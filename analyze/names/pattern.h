/* pattern.h - regular expressions of the command line, in bounded time. */
#pragma once
#include <regex.h>

struct err;

/* Compiles the extended regular expression `text` of option --opt. Refuses what
 * takes exponential time or memory: references back to a group, and repeats of
 * repeats that are too large. Others are matched in a time that grows with the
 * text and the expression. Returns 0 and *out for regfree(), or -1 and *err. */
int pattern_compile(regex_t *out, const char *opt, const char *text,
		    struct err *err);
