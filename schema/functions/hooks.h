/* hooks.h - what our SQL functions need from outside of schema/.
 *
 * schema/ knows neither ELF files nor mangled names: cli/hooks.c passes these
 * in, for the program and for the loadable extension. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

struct sql_hooks {
	/* Writes the demangled name to buf. Returns false if the name is not
	 * mangled. */
	bool (*demangle)(const char *name, char *buf, size_t size);
};

extern const struct sql_hooks sql_hooks; /* cli/hooks.c */
