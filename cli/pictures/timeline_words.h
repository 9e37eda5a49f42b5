/* timeline_words.h - what the marks and bands of the page are called, and what
 * they are. */
#ifndef CLI_PICTURES_TIMELINE_WORDS_H
#define CLI_PICTURES_TIMELINE_WORDS_H
#include "cli/pictures/timeline.h"

struct timeline_words {
	const char *name, *says;
};

extern const struct timeline_words timeline_marks[MARK_KINDS];
extern const struct timeline_words timeline_bands[BAND_KINDS];
#endif
