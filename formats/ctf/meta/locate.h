/* locate.h - finds what lengths and selectors are read from, and numbers it.
 *
 * resolve.c copies each scope in the order in which it is decoded, and asks for
 * a place when its user is copied. What is decoded before is there by then. The
 * copies that are not finished are frames, outermost first.
 *
 * Slots are counted for three levels: the trace (packet header), the stream
 * (packet context, event header, common context) and the event. While copies
 * are made, a slot is its level and its number there. locate_number() turns
 * that into the final number when the sums are known: events, which are never
 * decoded at the same time, use the same ones. */
#pragma once
#include "formats/ctf/meta/raw.h"

#define LOCATE_TARGETS_MAX 64
#define LOCATE_LEVELS 3

struct locate_node {
	const struct raw_class *type;
	struct ctf_node *node; /* NULL: none, or not yet */
};

struct locate_frame {
	struct locate_node at;
	uint32_t done; /* parts that are copied */
};

struct locate {
	struct raw *r;
	struct locate_node scope[RAW_SCOPES];
	int now; /* the scope that is copied */
	struct locate_frame frame[CTF_DEPTH_MAX];
	size_t n_frame;
	uint32_t steps; /* comparisons of names */
	bool lost;	/* a limit was exceeded on the way */
	/* where a location leads; all of it is in one scope */
	struct locate_node target[LOCATE_TARGETS_MAX];
	size_t n_target;
	int target_scope;
	uint32_t n_slot[LOCATE_LEVELS];
	/* by level and number: the slot that took its place */
	uint16_t *same[LOCATE_LEVELS];
	size_t cap_same[LOCATE_LEVELS];
	bool joined[LOCATE_LEVELS]; /* a slot took another's place */
};

/* Finds what the length or selector of *to is read from; gives it a slot, and
 * to->from the same. A TSDL variant gets its choices. */
int locate_from(struct locate *v, const struct raw_class *c,
		struct ctf_node *to);

/* Returns the slot that took this one's place, or the slot. */
uint16_t locate_joined(const struct locate *v, uint16_t slot);
/* Returns the final number: after the slots of the packet header stand those
 * of the stream, then those of the event. v->n_slot has the sums. */
uint16_t locate_number(const struct locate *v, uint16_t slot);
typedef uint16_t locate_slot_fn(const struct locate *v, uint16_t slot);
/* Changes the slots of a finished tree, which may be NULL. */
void locate_each(const struct locate *v, const struct ctf_node *tree,
		 locate_slot_fn *fn);
