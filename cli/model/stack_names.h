/* stack_names.h - all stacks of a database as labels.
 *
 * Loaded at once with a handful of scans: what is in memory is bounded by the
 * number of distinct images, frames and stacks, not of samples. */
#ifndef CLI_MODEL_STACK_NAMES_H
#define CLI_MODEL_STACK_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct labels;
struct stack_names;
struct store;

/* by_name: one label for one name (and kind), wherever it is from; for text
 * forms, which show nothing else. inlined: with inlined functions. bogus: what
 * the call-site check found is LABEL_BOGUS. */
struct stack_names *stack_names_load(struct store *db, struct labels *labels,
				     bool by_name, bool inlined, bool bogus,
				     struct err *err);
void stack_names_free(struct stack_names *sn);

/* What a label is of, in the words of code.h. frame 0: it stands for
 * something that is not in the chain. */
struct label_from {
	uint32_t frame;
	uint32_t inlined; /* 0: the function that is not inlined; else 1 + its
			   * place among those of the frame */
	bool called;	  /* its address is behind a call: a return address */
};

/* Labels, grown as needed; free(label). want_from: from[] is filled too;
 * free(from). */
struct label_list {
	uint32_t *label;
	size_t n, cap;
	bool want_from;
	struct label_from *from;
	size_t cap_from;
};

void label_list_add(struct label_list *l, uint32_t label);
/* Appends the frames of a raw chain (0, or not there: none), the outermost
 * first. exec: as LABEL_EXEC. */
void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out);
/* Why a raw chain that was unwound ends before the outermost frame: a word;
 * NULL: it does not, or was not unwound. */
const char *stack_names_ended(const struct stack_names *sn, uint32_t raw);
/* Has it a bogus frame? False when those were not loaded. */
bool stack_names_bogus(const struct stack_names *sn, uint32_t raw);
/* The label of a frame by itself, without what was inlined there; false: no
 * such frame. */
bool stack_names_label(const struct stack_names *sn, int64_t frame,
		       uint32_t *label);
#endif
