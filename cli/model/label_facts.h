/* label_facts.h - what is known of a label beyond its name: the build-id of
 * its file, its source line, and how many of its places are bogus.
 *
 * For pictures, which say it beside a frame. Loaded with one scan over the
 * frames; memory is bounded by the labels. */
#ifndef CLI_MODEL_LABEL_FACTS_H
#define CLI_MODEL_LABEL_FACTS_H
#include <stdint.h>

struct err;
struct label_facts;
struct stacks;
struct store;

struct label_fact {
	char build[13];	  /* how it starts, in hex; "": unknown, or several */
	const char *file; /* of its only source line; NULL: none, or several */
	uint32_t line;
	uint32_t places; /* distinct ones */
	uint32_t bogus;	 /* of them: nothing can have been called from there */
};

struct label_facts *label_facts_load(struct store *db, const struct stacks *s,
				     struct err *err);
void label_facts_free(struct label_facts *f);
/* Never NULL: of an unknown label, or with f NULL, everything is empty. */
const struct label_fact *label_facts_get(const struct label_facts *f,
					 uint32_t label);
#endif
