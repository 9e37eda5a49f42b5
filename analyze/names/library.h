/* library.h - which functions are of a standard library: --fold-library,
 * --library. */
#pragma once
#include <stdbool.h>

#include "cli/args/command.h"

struct library;

/* --fold-library, --library */
extern const struct opt library_opts[];

/* Returns whether inlined functions of a library are to be left out, so that
 * what they weigh counts for the function that they are inlined into. */
bool library_asked(void);
/* Returns NULL and *err if --library is no regular expression. */
struct library *library_new(struct err *err);
void library_free(struct library *l);
/* Returns whether a demangled name is that of a function of the standard
 * library of C++, Rust or Go, or matches --library. What is compared begins
 * behind the return type: "void std::swap<int>(int&, int&)" begins with
 * "std::". "<T as Trait>::f" is of the library if T is, or if T is a builtin
 * type and Trait is. */
bool library_has(const struct library *l, const char *name);
