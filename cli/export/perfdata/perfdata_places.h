/* perfdata_places.h - addresses of frames in a perf.data file, which can hold
 * only addresses.
 *
 * A frame has its recorded address. Words about a stack, such as
 * [user: chain_lost], and code that is known only by name get addresses that
 * are far from all recorded ones. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct known_code;
struct image;
struct region;

/* A symbol of the kernel that the file itself must name. */
struct pd_symbol {
	uint64_t start;
	uint32_t len;
	const char *name;
};

/* Read only. */
struct pd_places {
	struct pd_symbol *symbol; /* those that the file must have, by start */
	size_t n_symbol, cap_symbol;
	bool *named; /* by image: symbols of it are in the file */
	/* For perfdata_places.c. */
	const struct known_code *code;
	uint64_t *ip;
	size_t cap_ip;
	uint64_t mark_at;
	struct image *mark;
	size_t n_mark, cap_mark;
	struct table by_start, by_key; /* symbols; symbols without an address */
	uint32_t n_key;
	struct arena text;
};

/* Borrows code. */
struct pd_places *pd_places_new(const struct known_code *code);
void pd_places_free(struct pd_places *p);

/* Returns the addresses of a chain, valid until the next call. user_mask: for a
 * user half; all ones for a kernel half. */
const uint64_t *pd_places_chain(struct pd_places *p, uint32_t raw,
				uint64_t user_mask, size_t *n);
/* Stores the smallest mapping (start, end, pgoff, image) by which addr is this
 * frame. Returns false if none is needed. */
bool pd_places_want(const struct pd_places *p, uint32_t frame, uint64_t addr,
		    struct region *want);
/* Returns whether addr in r is this frame. */
bool pd_places_is(const struct pd_places *p, uint32_t frame, uint64_t addr,
		  const struct region *r);
/* Returns the address of "[user: WORD]", and stores what must be mapped there.
 */
uint64_t pd_places_mark(struct pd_places *p, const char *word);
void pd_places_mark_want(const struct pd_places *p, uint64_t addr,
			 struct region *want);
/* Returns the image of a wanted region, from the database or for a mark. */
const struct image *pd_places_image(const struct pd_places *p, uint32_t id);
