/* short_name.h - the short form of the name of a function, for people.
 *
 * A pure function of the name, so that one function has one short name in every
 * recording of it. Several functions may share a short name (overloads,
 * instances of a template): who shows them side by side asks for more of it
 * with enum short_keep, and last for the full name. */
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

/* Returns what V8 calls the function, without tier and place, and *len; NULL if
 * the name is none of V8's, or of a function without a name. */
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
