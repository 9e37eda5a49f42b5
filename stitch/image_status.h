/* image_status.h - tells whether an image has its names, and if not, why. The
 * words are those of image.status in the database (backstitch-schema(5)). */
#pragma once
#include <stdbool.h>

enum image_status {
	IMAGE_NOT_TRIED,  /* its file was not searched for: NULL in the
			   * database */
	IMAGE_NAMED,	  /* named by the file that was mapped */
	IMAGE_UNVERIFIED, /* named by a file that nothing proves to be the
			   * mapped one */
	IMAGE_NO_FILE,
	IMAGE_NO_COPY, /* no file of the vdso */
	IMAGE_NO_ELF,  /* the file exists, but is no ELF file */
	IMAGE_OTHER_ID,
	IMAGE_REPLACED,
	IMAGE_NO_SYMBOLS,
	IMAGE_SEVERAL_SEGMENTS, /* an offset of a mapping could be in any
				 * segment */
	IMAGE_NO_NAMES,		/* code of this kind never has names */
	IMAGE_NO_CODE,		/* its file has no code; never stored */
	IMAGE_STATUSES
};

/* Returns the word, "" for IMAGE_NOT_TRIED. */
const char *image_status_word(enum image_status s);
/* Returns the status of a word; NULL, "" and words that this program does not
 * know are IMAGE_NOT_TRIED. */
enum image_status image_status_of(const char *word);

/* Returns whether the image's functions have names, proved or not. */
static inline bool image_is_named(enum image_status s)
{
	return s == IMAGE_NAMED || s == IMAGE_UNVERIFIED;
}

/* Returns whether no file that could be the image's was found. */
static inline bool image_is_absent(enum image_status s)
{
	return s == IMAGE_NO_FILE || s == IMAGE_NO_COPY;
}
