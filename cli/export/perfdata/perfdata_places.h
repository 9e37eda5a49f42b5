/* perfdata_places.h - where the frames of a database are in the memory of a
 * perf.data file, which has nothing but addresses.
 *
 * That is where they were recorded. What has no address gets one that nothing
 * recorded comes near to: a word about a stack, such as [user: chain_lost],
 * and code that is known by its name only. */
#ifndef CLI_EXPORT_PERFDATA_PERFDATA_PLACES_H
#define CLI_EXPORT_PERFDATA_PERFDATA_PLACES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct known_code;
struct image;
struct region;

struct pd_places;

/* A symbol of the kernel that the file itself must name. */
struct pd_symbol {
	uint64_t start;
	uint32_t len;
	const char *name;
};

/* code must live as long. */
struct pd_places *pd_places_new(const struct known_code *code);
void pd_places_free(struct pd_places *p);

/* The chain's addresses, borrowed until the next call. user_mask: of a user
 * half; all ones of a kernel half. */
const uint64_t *pd_places_chain(struct pd_places *p, uint32_t raw,
				uint64_t user_mask, size_t *n);
/* What must be mapped so that addr is this frame: start, end, pgoff, image.
 * false: nothing. The range is no larger than it must be. */
bool pd_places_want(const struct pd_places *p, uint32_t frame, uint64_t addr,
		    struct region *want);
/* Is addr in r this frame? */
bool pd_places_is(const struct pd_places *p, uint32_t frame, uint64_t addr,
		  const struct region *r);
/* The address of "[user: WORD]", and what must be mapped there. */
uint64_t pd_places_mark(struct pd_places *p, const char *word);
void pd_places_mark_want(const struct pd_places *p, uint64_t addr,
			 struct region *want);
/* The image of a wanted region: of the database, or ours. */
const struct image *pd_places_image(const struct pd_places *p, uint32_t id);
/* Sorted by start. */
const struct pd_symbol *pd_places_symbols(const struct pd_places *p, size_t *n);
/* Are symbols of this image among them? */
bool pd_places_named(const struct pd_places *p, uint32_t image);
#endif
