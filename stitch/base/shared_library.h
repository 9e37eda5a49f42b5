/* shared_library.h - loads a library when it is used: linked, it would take
 * time at each start of the program. */
#pragma once
#include <stddef.h>

struct err;

struct shared_library {
	const char *use;	  /* for messages: "a server is asked by" */
	const char *const *names; /* of its file, up to NULL; the usual first */
	const char *package;	  /* of Debian, for messages */
	const char *const *functions;
	size_t n;    /* functions */
	void *calls; /* a pointer to each of them, NULL until it is loaded */
};

/* Loads the library once, until the program ends, and sets `calls` to its
 * functions; not for several threads at a time. Returns 0, or -1 and *err:
 * ERR_USAGE if it is not installed or too old, ERR_IO if it cannot be loaded.
 */
int shared_library_load(const struct shared_library *l, struct err *err);
