/* trust_words.h - what the classes of view trust are called in sentences, and
 * what they mean. */
#pragma once

/* What is wrong with a stack. */
enum trust_kind {
	TRUST_WHOLE,
	TRUST_SHORT,	 /* callers are missing */
	TRUST_WRONG,	 /* it has frames that never were */
	TRUST_MISSING,	 /* there is none */
	TRUST_UNCHECKED, /* nothing is known of it */
	TRUST_SILENT,	 /* none was recorded */
	TRUST_KINDS
};

struct trust_word {
	const char *name; /* of view trust */
	enum trust_kind kind;
	const char *phrase;  /* follows "user stacks" or a share */
	const char *meaning; /* a line of help */
};

/* Ends with name NULL. */
extern const struct trust_word trust_words[];
/* Returns the word of a class; of an unknown one the last, which has none. */
const struct trust_word *trust_word(const char *name);
