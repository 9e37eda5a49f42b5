/* field.h - reads the classes that have no members. Each function moves st->cur
 * behind what it read, and returns -1 with st->why if it is not there. */
#pragma once
#include "formats/ctf/decode/state.h"

struct ctf_label;

/* Reads a number, aligned already, with its effects on slots, clocks and
 * roles. Signed ones are extended to 64 bits. */
int ctf_field_number(struct ctf_state *st, const struct ctf_node *node,
		     uint64_t *out);
/* The same for an unsigned number of CTF_UINT, whose value is not needed. */
int ctf_field_plain(struct ctf_state *st, const struct ctf_node *node);
/* Is the value in a range of the label? */
bool ctf_field_is_inside(const struct ctf_label *l, uint64_t v, bool is_signed);
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
