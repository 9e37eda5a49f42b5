/* trust.h - how far the user stacks of a database can be trusted, in one
 * sentence that check, report, info, flame, annotate and the page print. */
#ifndef CLI_MODEL_TRUST_H
#define CLI_MODEL_TRUST_H
#include <stddef.h>

struct err;
struct store;

/* Enough for each sentence. */
#define TRUST_SENTENCE 320

struct trust_words {
	char sentence[TRUST_SENTENCE];
	/* the fix where most stacks are fabricated; "" where none is */
	char pointers[TRUST_SENTENCE];
};

/* Reads the view trust once: the sentence of trust_sentence(), and more. */
int trust_read(struct store *db, struct trust_words *out, struct err *err);
/* Writes the sentence of the whole database, whatever the filters are, made of
 * the view trust: "user stacks: 3 % whole, 97 % fabricated (no frame pointers):
 * perf record --call-graph dwarf". It has no line break and no bytes of
 * captures. Returns 0, or -1 and *err. */
int trust_sentence(struct store *db, char out[TRUST_SENTENCE], struct err *err);
#endif
