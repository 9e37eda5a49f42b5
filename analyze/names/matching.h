/* matching.h - which code of two recordings is the same: one rule for the
 * table, the flame graph and the page of a comparison.
 *
 * A function is the same if its name and the name of its image
 * are: paths, build-ids and offsets differ from one build, and one folder, to
 * the next. Kernel code has one image, and jitted code has one. Code without a
 * name is the same by its offset where all images of that name have one
 * build-id; otherwise all of an image is one place.
 *
 * matching_new(), matching_add() for each recording, matching_check(); then
 * images are asked for. */
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

/* What the reader of a comparison knows. All zeros: nothing. */
struct match_opts {
	/* "OLD=NEW": the image OLD of A is NEW of B. Borrowed. */
	const char *const *image;
	size_t n_image;
	bool full_names; /* as in struct name_opts */
};

/* What an image is called in a comparison. */
struct matched_image {
	uint32_t id;	  /* of all images that are the same */
	const char *name; /* "libc.so.6", "[kernel]"; lives as long as the
			   * matching, as does own */
	const char *own;  /* the same, but "[ext4]" of a module */
	bool exact;	  /* offsets in it are the same on both sides */
};

/* Returns NULL and *err if an item of o->image is malformed. */
struct matching *matching_new(const struct match_opts *o, struct err *err);
void matching_free(struct matching *m);
/* Returns whether --match names one of two images, by matched_image.id. */
bool matching_is_reported(const struct matching *m, uint32_t a, uint32_t b);
/* Adds what --match OLD=NEW does; before matching_add(). */
void matching_rename(struct matching *m, const char *from, const char *to);
/* Takes the images of a recording of A (side 0) or B (1), which are borrowed
 * for the call, as is h, of c. inlined_same: see stack_names.h. */
void matching_add(struct matching *m, int side, const struct known_code *c,
		  const struct homonyms *h, bool inlined_same);
/* Returns -1 and *err if --match names an image that A does not have. */
int matching_check(const struct matching *m, struct err *err);
/* Returns what a function of an image is called in the comparison; lives as
 * long as the matching and the name. at: where it is; NULL: not known. */
const char *matching_function(struct matching *m,
			      const struct matched_image *img, const char *name,
			      const struct homonym *at);
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
