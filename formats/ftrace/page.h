/* page.h - reads entries of the kernel's ring-buffer pages, one after the
 * other, or by their place.
 *
 * Entries with data are taken inline, all others by page.c. */
#pragma once
#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "stitch/base/wide.h"

/* Adds a ref for an entry: a copy of *ev with this kind and len. */
void ft_add_ref(struct ft *ft, const struct ref *ev, uint8_t kind,
		uint32_t len);
/* Returns the index of an event of a buffer, or UINT32_MAX if it was not seen
 * yet. */
uint32_t ft_event_peek(struct ft *ft, uint32_t instance, uint16_t id);
static inline uint32_t ft_event_find(struct ft *ft, uint32_t instance,
				     uint16_t id)
{
	const struct ft_near_event *e =
		&ft->near_event[(id ^ instance) % FT_NEAR];

	return e->event && e->instance == instance && e->id == id
		       ? e->event - 1
		       : ft_event_peek(ft, instance, id);
}
/* Adds an event of a buffer that was not seen yet. Returns its index. */
uint32_t ft_event_add(struct ft *ft, uint32_t instance, uint16_t id);

/* Reads the option TIME_SHIFT: for each CPU of a guest, repeated measurements
 * of what to add to its times for those of the host. Returns 0, or -1 and *err
 * if it is damaged. */
int ft_sync_read(struct ft *ft, struct bytes *b, struct err *err);
void ft_sync_release(struct ft *ft);
/* Returns a time of a CPU on the host's clock; unchanged if the option has
 * nothing for that CPU. */
uint64_t ft_sync_time(const struct ft *ft, int32_t cpu, uint64_t t);
/* Returns a ring's time in ns on the capture's clock. */
static inline uint64_t ft_time(const struct ft *ft, const struct ft_stream *s,
			       uint64_t t)
{
	if (ft->synced)
		t = ft_sync_time(ft, s->cpu, t);
	if (ft->mult)
		t = wide_shift(wide_mul(t, ft->mult), ft->mult_shift);
	return t + (uint64_t)ft->shift;
}
/* Moves the times of a guest to its host's clock, if `host` is the capture that
 * the guest's TIME_SHIFT names. */
void ft_sync_pair(struct ft *guest, const struct ft *host);

/* Types in the word before an entry; one below FT_TYPE_PADDING is the length of
 * its data in words. */
#define FT_TYPE_LONG 0u /* the length is in the next word */
#define FT_TYPE_PADDING 29u

/* Takes an entry with data. Returns false, and takes nothing, if the entry is
 * of another type or damaged: page.c handles those. Inline, because gcc then
 * keeps the window in registers. */
static inline __attribute__((always_inline)) bool
ft_page_take_plain(const struct ft *ft, struct bytes *restrict b,
		   uint32_t *restrict delta, struct bytes *restrict out)
{
	uint32_t head = 4;
	uint32_t w;

	if (bytes_peek_u32(b, 0, &w))
		return false;
	uint32_t type = ft->big ? w >> 27 : w & 31;
	uint32_t len = type * 4;

	if (type == FT_TYPE_LONG) {
		if (bytes_peek_u32(b, 4, &len) || len < 4 || len & 3)
			return false;
		head = 8;
		len -= 4;
	}
	if (type >= FT_TYPE_PADDING || bytes_left(b) - head < len)
		return false;
	*delta = ft->big ? w & 0x7ffffff : w >> 5;
	bytes_skip(b, head, NULL);
	bytes_take(b, len, out, NULL);
	return true;
}

/* ft_page_next() for entries of all types. */
int ft_page_next_any(const struct ft *ft, struct ft_page *pg,
		     struct ft_entry *e, struct err *err);
/* Reads the next entry of the page. Returns 1 and sets *e; 0 at the end of the
 * page; -1 and *err if it is damaged. */
static inline __attribute__((always_inline)) int
ft_page_next(const struct ft *ft, struct ft_page *pg, struct ft_entry *e,
	     struct err *err)
{
	uint64_t at = (uint64_t)(pg->b.pos - pg->b.base);
	uint32_t delta;

	if (!ft_page_take_plain(ft, &pg->b, &delta, &e->b))
		return ft_page_next_any(ft, pg, e, err);
	e->place = pg->place + at;
	e->time = pg->time += delta;
	return 1;
}

/* ft_entry_at() for entries of all types. */
int ft_entry_any_at(struct ft *ft, struct ft_stream *s, uint64_t place,
		    struct bytes *out, struct err *err);
/* Sets *out to the payload of the entry at place. Returns 0, or -1 and *err. */
static inline int ft_entry_at(struct ft *ft, struct ft_stream *s,
			      uint64_t place, struct bytes *out,
			      struct err *err)
{
	uint32_t delta;
	struct bytes b;

	if (s->n_chunk || place >= s->len)
		return ft_entry_any_at(ft, s, place, out, err);
	ft_stream_plain_rest(ft, s, place, &b);
	return ft_page_take_plain(ft, &b, &delta, out)
		       ? 0
		       : ft_entry_any_at(ft, s, place, out, err);
}

/* ---- compares the length of an entry with its format. */

/* Sets least, open, dynamic and spare of a type from its format and its
 * role. */
void ft_entry_set_size(struct ft_type *t);
/* Returns the end of the data that the fields of an entry refer to. */
uint64_t ft_entry_dynamic_end(const struct ft_type *t, const struct bytes *b);
/* Returns the end of an entry's last field, or of the data that fields refer
 * to. width: bytes of an address. */
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
/* The kernel reserves sizeof(struct), including its padding, rounded up to a
 * word, or to 8 bytes on some 32-bit machines. */
#define FT_ROUNDING 8u
/* Returns false if the payload of an entry is too short or too long for its
 * fields; ft_entry_misfit() sets *err to the difference. */
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
