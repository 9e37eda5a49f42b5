/* stack_names.h - makes labels for all stacks of a database.
 *
 * Memory is bounded by the number of distinct images, frames and functions, not
 * of samples. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "analyze/names/name_opts.h"

struct err;
struct homonyms;
struct known_code;
struct labels;
struct matching;
struct stack_names;

#define STACK_NAMES_GAP "[caller missing]"

struct stack_names_opts {
	struct name_opts names;
	bool by_name; /* functions of one name and kind share a label, whatever
		       * their image, for text forms that show nothing else */
	bool inlined; /* with inlined functions (CODE_INLINED) */
	bool bogus;   /* frames that the call-site check found bogus get
		       * LABEL_BOGUS (CODE_BOGUS, CODE_WRONG) */
	bool gaps; /* if a chain lacks a caller and goes on after it, the caller
		    * is a frame STACK_NAMES_GAP (CODE_CALLERS) */
	const struct homonyms *homonyms; /* of the code; NULL: functions of
					  * one name and image are
					  * distinguished by offset only */
	struct matching *match; /* labels of a comparison: equal code of both
				 * sides has the same label; NULL: labels of
				 * one recording */
	bool inlined_same; /* in a comparison: inlined or not is the same, as
			    * another build inlines other functions */
	int side;	   /* which side this is, 0 or 1 */
};

/* Makes the labels of c, which needs the parts CODE_NAMES and CODE_CHAINS. c,
 * labels, o->match and o->homonyms are borrowed. Returns NULL and *err if an
 * option of the user is wrong. */
struct stack_names *stack_names_new(const struct known_code *c,
				    struct labels *labels,
				    const struct stack_names_opts *o,
				    struct err *err);
void stack_names_free(struct stack_names *sn);

/* Where in struct known_code a label comes from. frame 0: it stands for
 * something that is not in the chain. */
struct label_from {
	uint32_t frame;
	uint32_t inlined; /* 0: the function that is not inlined; else 1 + its
			   * index among the inlined ones of the frame */
	bool called;	  /* the address is a return address */
};

/* A list of labels that grows as needed; the caller frees label. If want_from,
 * from[] is filled too; the caller frees it. */
struct label_list {
	uint32_t *label;
	size_t n, cap;
	bool want_from;
	struct label_from *from;
	size_t cap_from;
};

/* Appends a label that stands for nothing in the chain. */
void label_list_add(struct label_list *l, uint32_t label);
/* Copies item i to item n. */
void label_list_move(struct label_list *l, size_t n, size_t i);
/* Reverses the items from index `from` on. */
void label_list_reverse(struct label_list *l, size_t from);
/* Appends the frames of a raw chain, outermost first; none if the chain is 0 or
 * not in the database. exec: the labels get the kind LABEL_EXEC. */
void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out);
/* Returns a word for why a raw chain that was unwound by tables ends before the
 * outermost frame; NULL if it ends there, or was not unwound. */
const char *stack_names_ended(const struct stack_names *sn, uint32_t raw);
/* Returns whether an item of a list with from[] is a function, not inlined,
 * that was not recorded but inferred. */
bool stack_names_inferred(const struct stack_names *sn,
			  const struct label_from *from);
/* Returns whether each frame of a raw chain has one label, that of
 * stack_names_label(), and stack_names_get() appends nothing else. */
bool stack_names_plain(const struct stack_names *sn, uint32_t raw);
/* Returns whether the chain has a bogus frame; false if those were not loaded.
 */
bool stack_names_bogus(const struct stack_names *sn, uint32_t raw);
/* Stores the label of a frame's function, not of inlined ones. Returns false if
 * there is no such frame. */
bool stack_names_label(const struct stack_names *sn, int64_t frame,
		       uint32_t *label);
