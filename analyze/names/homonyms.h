/* homonyms.h - functions of one image that have one name: static functions of
 * several files, instances of a template whose names do not tell them apart.
 *
 * Functions are different if they start at different offsets; several symbols
 * of one place are one function. What tells them apart is the file that each of
 * them is in, if line information names another one for each; otherwise the
 * offset in the image, which 'annotate IMAGE+0xOFFSET' takes. Only functions
 * that are in the recording count, and of these none that the capture itself
 * named, because their offsets are none. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct homonyms;
struct known_code;
struct store;

/* In place of the start of a function that is inlined. */
#define HOMONYM_INLINED UINT64_MAX

struct homonym {
	uint64_t start;	   /* offset in the image */
	const char *file;  /* NULL: not known, or several */
	const char *apart; /* "b.c", "+0x11c0": what tells it from others of its
			    * name; NULL: there are none */
	unsigned int depth; /* how many parts of paths tell the files of that
			     * name apart; 0: files do not */
};

/* Reads the names of c, which is borrowed. files: field file is wanted of all
 * functions, not only where others have their name. Returns NULL and *err if
 * the database fails. O(frames). */
struct homonyms *homonyms_load(struct store *db, const struct known_code *c,
			       bool files, struct err *err);
void homonyms_free(struct homonyms *h);
/* Returns the function of a frame that is not inlined; NULL: the frame has no
 * name, or h is NULL. Valid until homonyms_free(). */
const struct homonym *homonyms_of_frame(const struct homonyms *h,
					uint32_t frame);
/* Returns the last parts of an inlined function's file if they tell it from
 * others of this name, which is a string of c; else NULL. */
const char *homonyms_of_inlined(const struct homonyms *h, uint32_t image,
				const char *name, const char *file);
/* Returns the last `depth` parts of a path. */
const char *homonyms_path_end(const char *path, unsigned int depth);
/* Returns "helper (b.c)", to be freed; short_name() keeps what is added. */
char *homonyms_name(const char *name, const char *apart);
