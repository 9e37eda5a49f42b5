/* library.h - which functions are of a standard library. */
#pragma once
#include <stdbool.h>

struct err;
struct library;
struct name_opts;

/* Returns whether inlined functions of a library are to be left out, so that
 * what they weigh counts for the function that they are inlined into. */
bool library_folds(const struct name_opts *names);
/* Returns NULL and *err if names->library is no regular expression. */
struct library *library_new(const struct name_opts *names, struct err *err);
void library_free(struct library *l);
/* Returns whether a demangled name is that of a function of the standard
 * library of C++, Rust or Go, or matches names->library. What is compared
 * begins after the return type: "void std::swap<int>(int&, int&)" begins with
 * "std::". "<T as Trait>::f" is of the library if T is, or if T is a builtin
 * type and Trait is. */
bool library_has(const struct library *l, const char *name);
