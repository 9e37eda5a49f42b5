/* pick.h - selects stacks by the names of their frames. Each name is matched
 * once. The weight of dropped stacks is summed up for a message. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct labels;
struct pick;

/* Regular expressions, borrowed for the call. All zeros select all stacks. */
struct pick_opts {
	const char *const *include; /* each must match a frame of the stack */
	const char *const *exclude; /* none may */
	size_t n_include, n_exclude;
};

/* labels: borrowed. Returns NULL and *err if an expression is malformed. */
struct pick *pick_new(const struct labels *labels, const struct pick_opts *o,
		      struct err *err);
void pick_free(struct pick *p);
/* Returns whether the stack of these labels is selected; if not, adds its
 * weight to the dropped weight. */
bool pick_stack(struct pick *p, const uint32_t *label, size_t n,
		uint64_t weight);
/* Returns the dropped weight; UINT64_MAX if the sum is too large. */
uint64_t pick_dropped(const struct pick *p);
