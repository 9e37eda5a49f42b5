/* hooks.h - what our SQL functions need from outside of schema/.
 *
 * schema/ knows neither ELF files nor names that compilers made, so whoever
 * puts the parts together hands these in: cli/hooks.c does it for the program
 * and for the loadable extension alike. */
#ifndef SCHEMA_FUNCTIONS_HOOKS_H
#define SCHEMA_FUNCTIONS_HOOKS_H
#include <stdbool.h>
#include <stddef.h>

struct err;
struct store;

struct sql_hooks {
	/* The name in buf as people wrote it; false: it is not mangled. */
	bool (*demangle)(const char *name, char *buf, size_t size);
};

extern const struct sql_hooks sql_hooks; /* cli/hooks.c */

/* Our SQL functions on the connection of a database; hooks are borrowed for
 * as long as it is open. 0, or -1 and *err. */
int store_functions(struct store *db, const struct sql_hooks *hooks,
		    struct err *err);
#endif
