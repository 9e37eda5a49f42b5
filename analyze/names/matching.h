/* matching.h - which code of two recordings is the same: one rule for the
 * table, the flame graph and the page of a comparison.
 *
 * A function is the same if its name and the name of its image are: paths,
 * build-ids and offsets differ from one build, and one folder, to the next.
 * Kernel code has one image, and jitted code has one. Code without a name is
 * the same by its offset where all images of that name have one build-id;
 * otherwise all such code of an image is one place.
 *
 * Order of calls: matching_new(), matching_add() for each recording,
 * matching_check(), then the others. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct homonym;
struct homonyms;
struct image;
struct known_code;
struct matching;

/* What the user knows about the two recordings. All zeros: nothing. */
struct match_opts {
	/* "OLD=NEW": the image OLD of A is NEW of B. Borrowed. */
	const char *const *image;
	size_t n_image;
	bool full_names; /* as in struct name_opts */
};

/* What an image is called in a comparison. */
struct matched_image {
	uint32_t id;	  /* equal for all images that are the same */
	const char *name; /* "libc.so.6", "[kernel]"; lives as long as the
			   * matching, as does own */
	const char *own;  /* the same, but "[ext4]" for a module */
	bool exact;	  /* offsets in it are the same on both sides */
};

/* Returns NULL and *err if an item of o->image is malformed. */
struct matching *matching_new(const struct match_opts *o, struct err *err);
void matching_free(struct matching *m);
/* Returns whether --match or matching_rename() names one of two images, which
 * are given by matched_image.id. */
bool matching_is_reported(const struct matching *m, uint32_t a, uint32_t b);
/* Does what --match FROM=TO would, but matching_check() accepts it even if A
 * has no such image. Call it before matching_add(). */
void matching_rename(struct matching *m, const char *from, const char *to);
/* Adds the images and functions of a recording of A (side 0) or B (1). c and
 * its homonyms h are borrowed for the call. inlined_same: see stack_names.h. */
void matching_add(struct matching *m, int side, const struct known_code *c,
		  const struct homonyms *h, bool inlined_same);
/* Returns 0, or -1 and *err if --match names an image that A does not have. */
int matching_check(const struct matching *m, struct err *err);
/* Returns what a function of an image is called in the comparison; lives as
 * long as the matching and the name. at: where it is; NULL: not known. */
const char *matching_function(struct matching *m,
			      const struct matched_image *img, const char *name,
			      const struct homonym *at);
/* Returns what an image of a side is called, and which others are the same. */
struct matched_image matching_image(struct matching *m, int side,
				    const struct image *img);
/* Returns what code without a name is called, to be freed: "[libc.so.6+0x1f40]"
 * if offsets are the same on both sides, otherwise "[in libc.so.6]". */
char *matching_unnamed(const struct matched_image *img, uint64_t off);

/* Functions are the same if their short names (short_name.h) are. Of several
 * with one short name, those that have their parameters and arguments on both
 * sides are kept apart. Debug information has no more than the last part of the
 * name of some inlined functions, "mix" of "(anon)::mix": then all functions of
 * the image with this last part are one, because none of them can be
 * distinguished from it. With --full-names functions are the same only if their
 * whole names are.
 *
 * Compilers number lambdas and closures: an edit in front of one gives it the
 * next number. So where the builds differ, and one side has a number that the
 * other has not, all lambdas of a function are one, "f::{lambda#}",
 * "main.f.func".
 *
 * V8 puts the place of a function into its name. If the place differs between
 * the sides, in one file or in one that only moved, functions are the same if
 * each side has one of that name only, "JS:parse a.js".
 *
 * Where an image has several functions of one full name (homonyms.h), they are
 * told apart by their files if the files of all that are compared are known: "f
 * (a.c)". Their offsets tell them apart only where both sides have the same
 * build; otherwise which is which cannot be proved, and they are one row that
 * says so, "f (several functions)".
 *
 * match_names_see() for each function of all recordings, then
 * match_names_get(). */

struct match_names;

/* Returns an object for match_names_free(). full: names stay as they are,
 * except for what tells equal ones apart. */
struct match_names *match_names_new(bool full);
void match_names_free(struct match_names *m);
/* Adds a function of a recording of A (side 0) or B (1). image: one number for
 * all images that are the same. inlined: the function is inlined, and is the
 * same as the one of its name that is not. at: where it is; NULL: not known. */
void match_names_see(struct match_names *m, int side, uint32_t image,
		     const char *name, bool inlined, const struct homonym *at);
/* Returns what a function is called; lives as long as m and name. exact:
 * offsets in the image are the same on both sides. */
const char *match_names_get(struct match_names *m, uint32_t image,
			    const char *name, const struct homonym *at,
			    bool exact);
