/* short_name.h - the short form of the name of a function, for people.
 *
 * It depends on the name alone, so that a function has one short name in every
 * recording. Several functions may share a short name (overloads, instances of
 * a template): output that shows them together keeps more of their names by
 * enum short_keep, or shows the full names. */
#pragma once
#include <stddef.h>

/* Parts that are left out unless they are asked for. */
enum short_keep {
	SHORT_KEEP_CLONE = 1,  /* what suffix_remove() cuts, and ABI tags */
	SHORT_KEEP_TRAIT = 2,  /* "<T as Trait>::f", "a::<impl X for T>::f" */
	SHORT_KEEP_ARGS = 4,   /* template arguments of any length */
	SHORT_KEEP_PARAMS = 8, /* parameters, "const" and "&" after them */
	SHORT_KEEP_ALL = 15
};

/* Returns the length of a name without what homonyms_name() adds to it. */
size_t short_name_base(const char *name);

/* Returns where the function's own name begins in a name of V8's, after the
 * tier, and its length in *len; NULL if V8 did not make the name, or the
 * function has none. */
const char *short_name_script(const char *name, size_t *len);

/* Longer lists of template arguments are "<...>". */
#define SHORT_ARGS_MAX 40

/* Writes the short form of a demangled C++, Rust or D name; names of C, Go and
 * others stay, except for clones and long type arguments. keep is a sum of enum
 * short_keep. buf has room for strlen(name) + 1 bytes: a short form is never
 * longer, and empty only if the name is.
 *
 *   void std::sort<int*>(int*, int*)       std::sort<int*>
 *   std::vector<std::__cxx11::basic_string<char, std::char_traits<char>,
 *     std::allocator<char> >, std::allocator<...> >::size() const
 *                                          std::vector<std::string>::size
 *   (anonymous namespace)::f(int)::{lambda(char)#2}::operator()(char) const
 *                                          (anon)::f::{lambda#2}
 *   <alloc::vec::Vec<u8,alloc::alloc::Global> as core::ops::Drop>::drop::h01...
 *                                          alloc::vec::Vec<u8>::drop
 *   void f<int>(int*) (a.c)              f<int> (a.c)
 *   void f<int>(int) = void g(int)       f<int> = g
 *
 * The name may be hostile: time is linear in its length, and brackets need not
 * be balanced. */
void short_name(const char *name, unsigned int keep, char *buf);

struct arena;
struct err;
struct name_opts;
struct shown_names;
struct store;

/* Names that are shown in one output. */
struct shown_names *shown_names_new(void);
void shown_names_free(struct shown_names *s);
/* Adds a copy of a name; NULL is ignored. */
void shown_names_add(struct shown_names *s, const char *name);
/* Adds all functions of a database, inlined ones too, so that a name is not
 * shorter because the output lacks another. Adds nothing if names are shown in
 * full, or without suffixes, which makes names of its own. Returns 0, or -1 and
 * *err. */
int shown_names_read(struct shown_names *s, const struct name_opts *o,
		     struct store *db, struct err *err);
/* Finds the short forms of all names that were added, in memory of `text`.
 * Where short forms are equal, more is kept of them, as little as tells them
 * apart: clones, traits, template arguments, parameters, everything. No two are
 * shown alike. If full names are wanted, names stay as they are. */
void shown_names_make(struct shown_names *s, const struct name_opts *o,
		      struct arena *text);
/* Returns what is shown for a name, in memory of the arena, or `name` itself if
 * it was not added, is as short as it gets, or is NULL. */
const char *shown_names_get(struct shown_names *s, const char *name);
