/* hooks.h - what our SQL functions need from outside of schema/.
 *
 * schema/ knows neither ELF files nor names that compilers made, so whoever
 * puts the parts together hands these in: cli/hooks.c does it for the program
 * and for the loadable extension alike. */
#ifndef SCHEMA_FUNCTIONS_HOOKS_H
#define SCHEMA_FUNCTIONS_HOOKS_H
#include <stdbool.h>
#include <stddef.h>

struct sql_hooks {
	/* The name in buf as people wrote it; false: it is not mangled. */
	bool (*demangle)(const char *name, char *buf, size_t size);
};

extern const struct sql_hooks sql_hooks; /* cli/hooks.c */

#endif
