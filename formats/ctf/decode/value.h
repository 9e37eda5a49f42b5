/* value.h - any field as text: numbers, lists and structures as JSON. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct ctf_node;
struct ctf_state;

/* Text that grows at the end of the payload. */
struct ctf_text {
	unsigned char *at;
	size_t n, max;
	bool cut;
};

/* Adds the text of a string in UTF-8. */
void ctf_text_string(struct ctf_text *t, const struct ctf_node *node,
		     const struct bytes *b);
/* Adds a floating-point number: 15 digits if they parse to the same number,
 * else 17, which always do; 6 or 9 if it is of single precision. */
void ctf_text_real(struct ctf_text *t, double v, bool single);
/* Adds the labels that a number has, with '|' between them. Returns false if
 * it has none. */
bool ctf_text_labels(struct ctf_text *t, const struct ctf_node *node,
		     uint64_t value);
/* Reads any class; adds its text, JSON except for a single value, if t is not
 * NULL. */
int ctf_value_read(struct ctf_state *st, const struct ctf_node *node,
		   struct ctf_text *t);
