/* name_opts.h - how the functions of an answer are named, as its reader wants
 * them. All zeros are the defaults. */
#pragma once
#include <stdbool.h>

struct name_opts {
	bool full;	    /* with parameters and all template arguments */
	bool fold_suffixes; /* without what suffix.h removes, OF_BUILD */
	/* What is inlined of a library counts for the function that it is
	 * inlined into; with `library`, what that matches as well: a regular
	 * expression, or NULL. */
	bool fold_library;
	const char *library;
	const char *interpreter; /* of interpreter_words[]; NULL: the first */
};
