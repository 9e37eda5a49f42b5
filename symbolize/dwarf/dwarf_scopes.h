/* dwarf_scopes.h - what a function of C++ without a linkage name is in.
 *
 * gcc writes no linkage names of lambdas, functions of unnamed namespaces, and
 * instances of templates for one of these; clang does. */
#pragma once
#include <elfutils/libdw.h>
#include <stddef.h>

#include "stitch/base/table.h"

/* All zeros is empty. */
struct dwarf_scopes {
	struct table known; /* places in .debug_info, to name[] */
	char **name;	    /* NULL: the function is in nothing */
	size_t n, cap;
	size_t steps; /* DIEs that were looked at */
};

/* Returns the name of a function with what it is in, "main::lambda#2::
 * operator()"; NULL: it has a linkage name, is of another language or in
 * nothing that has a name. Valid until dwarf_scopes_release(). Lambdas count in
 * the order of their lines and columns in a function. A hostile file makes it
 * give up. */
const char *dwarf_scopes_name(struct dwarf_scopes *s, Dwarf_Die *function);
/* To be called when the unit of the next function is another one. */
void dwarf_scopes_release(struct dwarf_scopes *s);
