/* entry.h - compares the length of an entry with its format. */
#pragma once

#include "formats/ftrace/ftrace.h"

/* Sets least and open of a type from its format and its role. */
void ft_entry_set_size(struct ft_type *t);
/* Returns the end of the data that fields of an entry refer to. */
uint64_t ft_entry_dynamic_end(const struct ft_type *t, const struct bytes *b);
/* Returns the end of an entry's last field, with the data that fields refer to.
 * width: bytes of an address. */
static inline uint64_t ft_entry_end(const struct ft_type *t,
				    const struct bytes *b, unsigned int width)
{
	uint64_t end = t->least;

	if (t->role == ROLE_KSTACK && t->part.size >= 0)
		end = (uint64_t)t->part.at +
		      ((uint64_t)ft_field_number(t, t->part.size, b, 0) &
		       UINT32_MAX) *
			      width;
	if (!t->dynamic)
		return end;
	uint64_t behind = ft_entry_dynamic_end(t, b);

	return behind > end ? behind : end;
}
/* The kernel reserves sizeof(struct), which ends with padding, and rounds that
 * up to a word, or to 8 bytes on some 32-bit machines. */
#define FT_ROUNDING 8u
/* Returns false if the payload of an entry ends before its fields do, or is too
 * long for them; ft_entry_misfit() says how. */
static inline bool ft_entry_fits(const struct ft_type *t, const struct bytes *b,
				 unsigned int width)
{
	uint64_t end = ft_entry_end(t, b, width);
	size_t len = bytes_left(b);

	return len >= end &&
	       (t->open || len < end + FT_ROUNDING || len == end + t->spare);
}
void ft_entry_misfit(const struct ft_type *t, const struct bytes *b,
		     unsigned int width, struct err *err);
