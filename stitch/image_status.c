/* image_status.c - tells whether an image has its names, and if not, why. */
#include "stitch/image_status.h"

#include "stitch/base/words.h"

WORDS_FUNCTION(
	image_status_word, enum image_status, [IMAGE_NOT_TRIED] = "",
	[IMAGE_NAMED] = "named", [IMAGE_UNVERIFIED] = "unverified",
	[IMAGE_NO_FILE] = "no file", [IMAGE_NO_COPY] = "no copy",
	[IMAGE_NO_ELF] = "no ELF file", [IMAGE_OTHER_ID] = "other build-id",
	[IMAGE_REPLACED] = "replaced", [IMAGE_NO_SYMBOLS] = "no symbols",
	[IMAGE_SEVERAL_SEGMENTS] = "several code segments",
	[IMAGE_NO_NAMES] = "no names", [IMAGE_NO_CODE] = "no code");

enum image_status image_status_of(const char *word)
{
	enum image_status s = IMAGE_STATUSES;

	while (word && --s)
		if (!strcmp(image_status_word(s), word))
			return s;
	return IMAGE_NOT_TRIED;
}
