/* name_find.h - finds the function that a user means by a part of its name. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;

/* A function that may be meant. Several may have the same full name. */
struct name_choice {
	const char *full, *shown;
	const char *raw;  /* mangled; NULL: the same as full */
	const char *told; /* full, with what tells it from others of that name,
			   * see homonyms.h; NULL: full */
	uint64_t weight;
};

#define NAME_LISTED 5 /* functions that a message lists at most */

/* Finds the function that is called `text`: in full, else by its short name or
 * without its version, else by the end of the short name, else by any part of
 * it, else by a part of the full name. Returns 1 and sets *at to the heaviest
 * choice of that function; 0 if there is none; -1 and *err, which lists them
 * with their shares of `whole`, if there are several. */
int name_find(const struct name_choice *c, size_t n, const char *text,
	      uint64_t whole, size_t *at, struct err *err);
/* Stores in at[] the heaviest choice of each function that name_find() would
 * list, heaviest first, at most NAME_LISTED. Returns how many; *more: the
 * number of choices of further functions. */
size_t name_find_several(const struct name_choice *c, size_t n,
			 const char *text, size_t *at, size_t *more);
