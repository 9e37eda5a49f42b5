/* report_diff.h - the table of what changed between two recordings. */
#ifndef CLI_TABLES_REPORT_DIFF_H
#define CLI_TABLES_REPORT_DIFF_H
#include <stdbool.h>
#include <stddef.h>

struct err;

struct report_diff_opts {
	unsigned int keys;  /* enum report_key */
	const char *format; /* "table": with words around it */
	size_t limit;	    /* rows; SIZE_MAX: all */
	bool by_samples, by_total, absolute, inlined;
};

/* report --diff BEFORE AFTER: an enum status, or -1 and *err. */
int report_diff(int argc, char **argv, const struct report_diff_opts *o,
		struct err *err);
#endif
