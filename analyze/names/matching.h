/* matching.h - which code of two recordings is the same: one rule for the
 * table, the flame graph and the page of a comparison.
 *
 * A function is the same if its name (match_names.h) and the name of its image
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
