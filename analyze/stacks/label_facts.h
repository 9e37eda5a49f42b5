/* label_facts.h - facts about a label that pictures show besides its name: the
 * build-id of its file, its source line, the number of bogus places.
 *
 * Loaded with one scan over the frames; memory is bounded by the labels. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct err;
struct label_facts;
struct stacks;
struct store;

struct label_fact {
	char build[13];	  /* first 6 bytes in hex; "": unknown, or several */
	const char *file; /* of its source line; NULL: none, or several */
	uint32_t line;
	bool several;	 /* it has several lines */
	uint32_t places; /* distinct offsets in files */
	uint32_t bogus;	 /* of these, places to which no call returns */
};

/* Returns the facts of all labels, freed by label_facts_free(), or NULL and
 * *err. */
struct label_facts *label_facts_load(struct store *db, const struct stacks *s,
				     struct err *err);
void label_facts_free(struct label_facts *f);
/* Never returns NULL: an unknown label, or f NULL, has empty facts. */
const struct label_fact *label_facts_get(const struct label_facts *f,
					 uint32_t label);
