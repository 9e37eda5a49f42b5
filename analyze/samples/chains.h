/* chains.h - raw chains of a database as lines of text.
 *
 * Loads the frames, stacks and chains once. The lines of a chain are made when
 * first needed and kept, so that printing a sample is a copy: a capture has far
 * fewer chains than samples. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct err;
struct json;
struct store;

/* What the line of a frame shows. */
struct chain_style {
	bool ip, sym, symoff, dso, dsoff, srcline;
	bool inlined; /* a line for each inlined function as well */
	bool tab;     /* each line begins with a tab and ends with a newline */
	bool marks;   /* "(inferred)" after guessed frames, "(fabricated)" after
		       * return addresses that follow no call */
	bool ends;    /* "[user: REASON]" where unwinding stopped early */
	bool json;    /* for chains_json() only: names are not cleaned */
};

/* Returns NULL and *err if the database is damaged. The style is copied. */
struct chains *chains_load(struct store *db, const struct chain_style *style,
			   struct err *err);
/* Returns the lines of raw chain id, innermost frame first; none for id 0. The
 * text is valid until the next call. Returns NULL and *err if the database is
 * damaged. */
const char *chains_text(struct chains *c, int64_t id, size_t *len,
			struct err *err);
/* Returns 0 if raw chain id can be read, or is 0; else -1 and *err. */
int chains_check(struct chains *c, int64_t id, struct err *err);
/* Writes an array with one object for each frame: empty for id 0, and for one
 * that chains_check() refuses. */
void chains_json(struct chains *c, int64_t id, struct json *j, const char *key);
void chains_free(struct chains *c);
