/* match_names.h - what functions are called in a comparison of two recordings.
 *
 * Functions are the same if their short names (short_name.h) are. Of several
 * with one short name, those that have their parameters and arguments on both
 * sides are kept apart. Debug information has no more than the last part of the
 * name of some inlined functions, "mix" of "(anon)::mix": then all functions of
 * the image with this last part are one, because none of them can be
 * distinguished from it. With --full-names functions are the same only if all
 * of their names is.
 *
 * Compilers number lambdas and closures: an edit in front of one gives it the
 * next number. So where the builds differ, and one side has a number that the
 * other has not, all of a function's are one, "f::{lambda#}", "main.f.func".
 *
 * V8 has the place of a function in its name: if it is another one on each
 * side, in one file or in one that only moved, the only function of a name is
 * the same, "JS:parse a.js".
 *
 * Where an image has several functions of one full name (homonyms.h), they are
 * told apart by their files if these are known of all that are compared: "f
 * (a.c)". Their offsets tell them apart only where both sides have the same
 * build; otherwise which is which cannot be proved, and they are one row that
 * says so, "f (several functions)".
 *
 * match_names_see() for each function of all recordings, then
 * match_names_get(). */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct homonym;
struct match_names;

/* full: names stay as they are, but for what tells equal ones apart. */
struct match_names *match_names_new(bool full);
void match_names_free(struct match_names *m);
/* Takes a function of a recording of A (side 0) or B (1); image: any number for
 * images that are the same. inlined: it is inlined, and is the same as that of
 * its name which is not. at: where it is; NULL: not known. */
void match_names_see(struct match_names *m, int side, uint32_t image,
		     const char *name, bool inlined, const struct homonym *at);
/* Returns what it is called; lives as long as m and name. exact: offsets in the
 * image are the same on both sides. */
const char *match_names_get(struct match_names *m, uint32_t image,
			    const char *name, const struct homonym *at,
			    bool exact);
