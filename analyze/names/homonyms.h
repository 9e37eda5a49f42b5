/* homonyms.h - functions of one image that have one name: static functions of
 * several files, instances of a template whose names do not tell them apart.
 *
 * Functions of one name are different if they start at different offsets. They
 * are told apart by the file that each of them is in, if line information has
 * another one for each; otherwise by the offset in the image, which 'annotate
 * IMAGE+0xOFFSET' takes. Only functions in the recording count, without those
 * that the capture itself named, because these have no offset. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct homonyms;
struct known_code;
struct store;

/* homonym.start of an inlined function. */
#define HOMONYM_INLINED UINT64_MAX

struct homonym {
	uint64_t start;	   /* offset in the image */
	const char *file;  /* of its code; NULL: not known, or several */
	const char *apart; /* "b.c", "+0x11c0": what tells it from others of its
			    * name; NULL: there are no others */
	unsigned int depth; /* how many last parts of paths tell the files of
			     * functions of this name apart; 0: files do not */
};

/* Finds the functions of c, which is borrowed until homonyms_free(). files:
 * member file is set in all functions, not only in those that share a name.
 * Returns NULL and *err if the database fails. O(frames). */
struct homonyms *homonyms_load(struct store *db, const struct known_code *c,
			       bool files, struct err *err);
void homonyms_free(struct homonyms *h);
/* Returns the function of a frame, the one that is not inlined; NULL: it has no
 * name or offset, or h is NULL. Valid until homonyms_free(). */
const struct homonym *homonyms_of_frame(const struct homonyms *h,
					uint32_t frame);
/* Returns the last parts of `file`, where an inlined function is, if files tell
 * functions of its name apart; else NULL. name is a string of c. */
const char *homonyms_of_inlined(const struct homonyms *h, uint32_t image,
				const char *name, const char *file);
/* Returns the last `depth` parts of a path, in its memory. */
const char *homonyms_path_end(const char *path, unsigned int depth);
/* Returns "helper (b.c)", to be freed; short_name() keeps the last part. */
char *homonyms_name(const char *name, const char *apart);
