/* pick.h - which stacks are shown, by the names of their frames.
 *
 * --include keeps those with a matching frame, of several all have to match;
 * --exclude drops those with one. Each name is matched once. What is dropped
 * is counted, so that it can be said. */
#ifndef CLI_MODEL_PICK_H
#define CLI_MODEL_PICK_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct labels;
struct opt_list;
struct pick;

/* labels are borrowed. NULL and *err for what is no regular expression. */
struct pick *pick_new(const struct labels *labels,
		      const struct opt_list *include,
		      const struct opt_list *exclude, struct err *err);
void pick_free(struct pick *p);
/* Is the stack of these labels shown? If not, its weight is counted. */
bool pick_stack(struct pick *p, const uint32_t *label, size_t n,
		uint64_t weight);
/* The weight that was dropped; UINT64_MAX: that much or more. */
uint64_t pick_dropped(const struct pick *p);
#endif
