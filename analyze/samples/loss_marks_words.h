/* timeline_words.h - what the marks and bands of the page are called, and what
 * they are. */
#pragma once
#include "analyze/samples/loss_marks.h"

struct timeline_words {
	const char *name, *says;
};

extern const struct timeline_words timeline_marks[MARK_KINDS];
extern const struct timeline_words timeline_bands[BAND_KINDS];
