/* name_opts.h - how functions are to be named. All zeros are the defaults. */
#pragma once
#include <stdbool.h>

struct name_opts {
	bool full;	    /* with parameters and all template arguments */
	bool fold_suffixes; /* without what suffix_remove() cuts, OF_BUILD */
	/* Inlined functions of standard libraries count for the function that
	 * they are inlined into, and so do those that match `library`, a
	 * regular expression or NULL. */
	bool fold_library;
	const char *library;
	const char *interpreter; /* of interpreter_words[]; NULL: the first */
};
