/* image_status.h - whether an image has its names, and if not, why. The words
 * are those of image.status in the database (backstitch-schema(5)). */
#pragma once
#include <stdbool.h>

enum image_status {
	IMAGE_NOT_TRIED,  /* its file was not looked for: NULL */
	IMAGE_NAMED,	  /* by the file that was mapped */
	IMAGE_UNVERIFIED, /* by one that nothing proves to be that file */
	IMAGE_NO_FILE,
	IMAGE_NO_COPY, /* of a vdso */
	IMAGE_NO_ELF,  /* the file is here, and is of another kind */
	IMAGE_OTHER_ID,
	IMAGE_REPLACED,
	IMAGE_NO_SYMBOLS,
	IMAGE_SEVERAL_SEGMENTS, /* offsets of a mapping could be of each one */
	IMAGE_NO_NAMES,		/* code of this kind never has any */
	IMAGE_NO_CODE,		/* its file has none; never stored */
	IMAGE_STATUSES
};

/* Returns the word, "" for IMAGE_NOT_TRIED. */
const char *image_status_word(enum image_status s);
/* Returns the status of a word; NULL, "" and words that this program does not
 * know are IMAGE_NOT_TRIED. */
enum image_status image_status_of(const char *word);

/* Returns whether its functions have names, proved or not. */
static inline bool image_is_named(enum image_status s)
{
	return s == IMAGE_NAMED || s == IMAGE_UNVERIFIED;
}

/* Returns whether nothing is here that could be its file. */
static inline bool image_is_absent(enum image_status s)
{
	return s == IMAGE_NO_FILE || s == IMAGE_NO_COPY;
}
