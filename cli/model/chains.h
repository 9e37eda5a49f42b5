/* chains.h - raw chains of a database as lines of text.
 *
 * Loads the frames, stacks and chains once; the lines of one chain are made
 * when it is first asked for and kept, so that printing a sample is copying
 * (a capture has far fewer chains than samples). */
#ifndef CLI_MODEL_CHAINS_H
#define CLI_MODEL_CHAINS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct chains;
struct err;
struct json;
struct store;

/* What a line of a frame shows. */
struct chain_style {
	bool ip, sym, symoff, dso, dsoff, srcline;
	bool inlined; /* a line for each inlined function too */
	bool tab;     /* a tab in front, a newline behind */
	bool marks;   /* "(inferred)" behind guessed frames, "(bogus)" behind
		       * what no call returns to */
	bool json;    /* chains_json() only: names as they are */
};

struct chains *chains_load(struct store *db, const struct chain_style *style,
			   struct err *err);
/* The lines of raw chain id, innermost first; 0: none. Borrowed until the
 * next call. NULL and *err when the database is damaged. */
const char *chains_text(struct chains *c, int64_t id, size_t *len,
			struct err *err);
/* 0 when raw chain id can be read, or is 0; -1 and *err when the database is
 * damaged. */
int chains_check(struct chains *c, int64_t id, struct err *err);
/* Writes an array with one object for each frame, empty for id 0. Returns 0,
 * or -1 and *err after an empty array. */
int chains_json(struct chains *c, int64_t id, struct json *j, const char *key,
		struct err *err);
void chains_free(struct chains *c);
#endif
