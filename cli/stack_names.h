/* stack_names.h - all stacks of a database as labels.
 *
 * Loaded at once with a handful of scans: what is in memory is bounded by the
 * number of distinct images, frames and stacks, not of samples. */
#ifndef CLI_STACK_NAMES_H
#define CLI_STACK_NAMES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct labels;
struct stack_names;
struct store;

/* by_name: one label for one name (and kind), wherever it is from; for text
 * forms, which show nothing else. inlined: with inlined functions. */
struct stack_names *stack_names_load(struct store *db, struct labels *labels,
				     bool by_name, bool inlined,
				     struct err *err);
void stack_names_free(struct stack_names *sn);

/* Labels, grown as needed; free(label). */
struct label_list {
	uint32_t *label;
	size_t n, cap;
};

void label_list_add(struct label_list *l, uint32_t label);
/* Appends the frames of a raw chain (0, or not there: none), the outermost
 * first. exec: as LABEL_EXEC. */
void stack_names_get(struct stack_names *sn, uint32_t raw, bool exec,
		     struct label_list *out);
/* Why a raw chain that was unwound ends before the outermost frame: a word;
 * NULL: it does not, or was not unwound. */
const char *stack_names_ended(const struct stack_names *sn, uint32_t raw);
/* The label of a frame by itself, without what was inlined there; false: no
 * such frame. */
bool stack_names_label(const struct stack_names *sn, int64_t frame,
		       uint32_t *label);
#endif
