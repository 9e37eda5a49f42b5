/* shared_library.h - loads a library at its first use: linking it would cost
 * time at each start of the program. */
#pragma once
#include <stddef.h>

struct err;

struct shared_library {
	const char *use; /* its use, for messages: "a server is asked by" */
	const char *const *names; /* names of its file, the usual one first,
				   * ended by NULL */
	const char *package;	  /* name of Debian's package, for messages */
	const char *const *functions;
	size_t n;    /* functions */
	void *calls; /* array of pointers to these functions, NULL until
		      * loaded */
};

/* Loads the library once, until the program ends, and sets `calls` to its
 * functions. Not thread-safe. Returns 0, or -1 and *err: ERR_USAGE if it is not
 * installed or too old, ERR_IO if it cannot be loaded. */
int shared_library_load(const struct shared_library *l, struct err *err);
