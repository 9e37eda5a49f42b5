/* plain.h - records that can be told by their first bytes, without decoding
 * them. */
#pragma once

#include "formats/perf/perf.h"

/* Returns how to tell plain records, as long as no event and no id is added. */
struct perf_layout *perf_layout_of(struct perf *p);
/* Finds an id that is not in the cache. */
bool perf_layout_find(struct perf_layout *l, uint64_t id);

/* Returns true if the next records of f can be plain. */
static inline bool perf_plain_may_be(const struct perf_layout *l,
				     const struct perf_file *f)
{
	return l->samples && f->in.data && !f->skip && !f->z && !f->done;
}

/* Is this sample of a known event? b: what begins with it. */
static inline bool perf_plain_is_known(struct perf_layout *l,
				       const struct bytes *b, uint16_t size)
{
	uint64_t id = 0;

	if (!l->asks || l->s_id + 8u > size ||
	    bytes_peek_u64(b, l->s_id, &id) || !id)
		return true;
	return l->recent[id % RECENT_IDS] == id || perf_layout_find(l, id);
}

/* Reads the record at b, without moving it. Returns false if it is not plain,
 * or not all there. */
static inline bool perf_plain_peek(struct perf_layout *l, const struct bytes *b,
				   struct perf_plain *r)
{
	uint64_t at = 0;

	if (bytes_left(b) < 8 || bytes_peek_u32(b, 0, &r->type) ||
	    bytes_peek_u16(b, 4, &r->misc) || bytes_peek_u16(b, 6, &r->size) ||
	    r->size > bytes_left(b) || r->size % 8)
		return false;
	if (r->type == PR_SAMPLE)
		at = l->s_time;
	else if (l->others && r->type && r->type < PR_KERNEL_KNOWN &&
		 l->t_time && r->size >= 8 + l->t_size)
		at = r->size - (uint64_t)l->t_time;
	if (!at || at + 8 > r->size || bytes_peek_u64(b, at, &r->key) ||
	    !r->key || r->key >= TIME_UNREAL)
		return false;
	return r->type != PR_SAMPLE || perf_plain_is_known(l, b, r->size);
}
