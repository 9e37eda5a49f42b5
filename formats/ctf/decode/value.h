/* value.h - any field as text: numbers, lists and structures as JSON. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/ctf/decode/state.h"

struct bytes;
struct ctf_node;
struct ctf_state;

/* Reads a number, aligned already, with its effects on slots, clocks and
 * roles. Signed ones are extended to 64 bits. */
int ctf_field_number(struct ctf_state *st, const struct ctf_node *node,
		     uint64_t *out);
/* The same for an unsigned number of CTF_UINT, whose value is not needed. */
int ctf_field_plain(struct ctf_state *st, const struct ctf_node *node);
/* Returns the option that a selector's value chooses, or -1. */
int64_t ctf_field_option(const struct ctf_node *node, uint64_t value);
/* Returns how many elements or bytes a list or text has. */
uint64_t ctf_field_length(const struct ctf_state *st,
			  const struct ctf_node *node);
/* Sets *out to the next n bytes. */
int ctf_field_window(struct ctf_state *st, uint64_t n, struct bytes *out);
/* Sets *out to the bytes of a string or BLOB. A string's end at the first
 * null. */
int ctf_field_chars(struct ctf_state *st, const struct ctf_node *node,
		    struct bytes *out);
/* Sets st->why and returns -1. */
int ctf_field_stop(struct ctf_state *st, const char *why);
int ctf_field_too_short(struct ctf_state *st);
/* Counts an element of no size. Returns -1 if there are too many. */
int ctf_field_idle(struct ctf_state *st);

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
