/* cut_state.c - records of mappings and of kernel objects that a piece of a cut
 * stream begins with. */
#include "formats/perf/cut_state.h"

#include <stdlib.h>

#include "formats/perf/cut_read.h"
#include "formats/perf/perf.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define SWEEP_MIN 64
#define KSYMBOL_UNREGISTER 1
#define BPF_UNLOAD 2
/* Offsets in these records. */
#define KEY_AT 8 /* the address of a symbol, the number of a group */
#define KSYMBOL_FLAGS_AT 22
#define BPF_TYPE_AT 8
#define BPF_ID_AT 12
/* What a record takes beside its bytes: its place in an array that grows by
 * halves, and what malloc() adds. */
#define KEPT_EACH 64

bool cut_kept_take(struct cut_kept *k, size_t size)
{
	if (k->bytes + size + KEPT_EACH > CUT_KEPT_MAX) {
		k->dropped++;
		return false;
	}
	k->bytes += size + KEPT_EACH;
	return true;
}

void cut_kept_give(struct cut_kept *k, size_t size)
{
	k->bytes -= size + KEPT_EACH;
}

/* ---- mappings */

static uint64_t cut_map_end(const struct cut_map *m)
{
	uint64_t end;

	return __builtin_add_overflow(m->start, m->len, &end) ? UINT64_MAX
							      : end;
}

static void cut_map_drop(struct cut_map *m, struct cut_kept *k)
{
	cut_kept_give(k, m->size);
	free(m->record);
}

static int cut_compare_places(const void *pa, const void *pb)
{
	const uint64_t *a = pa;
	const uint64_t *b = pb;

	return compare_numbers(*a, *b);
}

/* Returns the first place from i on that nothing covers yet. */
static size_t cut_next_free(size_t *next, size_t i)
{
	while (next[i] != i) {
		next[i] = next[next[i]];
		i = next[i];
	}
	return i;
}

/* Frees the mappings of which later ones cover every byte. The newest covers
 * its range first; next[] leads from what is covered to what is not. Looking at
 * all older ones for each new one took n * n steps. */
static void cut_maps_sweep(struct cut_maps *s, struct cut_kept *k)
{
	size_t n = 2 * s->n;
	uint64_t *place = mem_new(n, sizeof(*place));
	size_t *next = mem_new(n + 1, sizeof(*next));
	size_t to = s->n;

	for (size_t i = 0; i < s->n; i++) {
		place[2 * i] = s->map[i].start;
		place[2 * i + 1] = cut_map_end(&s->map[i]);
	}
	qsort(place, n, sizeof(*place), cut_compare_places);
	for (size_t i = 0; i <= n; i++)
		next[i] = i;
	for (size_t j = s->n; j-- > 0;) {
		struct cut_map m = s->map[j];
		uint64_t end = cut_map_end(&m);
		size_t at = search_where(n, i, place[i] >= m.start);
		size_t stop = search_where(n, i, place[i] >= end);
		bool seen = false;

		for (at = cut_next_free(next, at); at < stop;
		     at = cut_next_free(next, at)) {
			next[at] = at + 1;
			seen = true;
		}
		if (seen)
			s->map[--to] = m;
		else
			cut_map_drop(&m, k);
	}
	s->n -= to;
	for (size_t i = 0; i < s->n; i++)
		s->map[i] = s->map[to + i];
	free(place);
	free(next);
}

void cut_maps_add(struct cut_maps *s, const struct cut_map *m,
		  struct cut_kept *k)
{
	if (!cut_kept_take(k, m->size)) {
		free(m->record);
		return;
	}
	*mem_add(s->map, s->n, s->cap) = *m;
	if (s->n < SWEEP_MIN || s->n < s->sweep_at)
		return;
	cut_maps_sweep(s, k);
	size_t over = s->n > CUT_STATE_MAX ? s->n - CUT_STATE_MAX : 0;

	for (size_t i = 0; i < s->n; i++) {
		if (i < over)
			cut_map_drop(&s->map[i], k);
		else
			s->map[i - over] = s->map[i];
	}
	s->n -= over;
	k->dropped += over;
	s->sweep_at = 2 * s->n;
}

void cut_maps_release(struct cut_maps *s, struct cut_kept *k)
{
	for (size_t i = 0; i < s->n; i++)
		cut_map_drop(&s->map[i], k);
	free(s->map);
	*s = (struct cut_maps){ .n = 0 };
}

void cut_maps_write(const struct cut_maps *s, struct cut_read *read, FILE *out)
{
	for (size_t i = 0; i < s->n; i++)
		cut_read_write(read, s->map[i].record, s->map[i].size, out);
}

/* ---- kernel objects */

static uint64_t cut_object_hash(uint64_t a, uint64_t b)
{
	return hash_pair(a, b);
}

static bool cut_object_same(const void *owner, uint32_t id, const void *key)
{
	const struct cut_objects *s = owner;
	const struct cut_object *k = key;

	return s->item[id].a == k->a && s->item[id].b == k->b;
}

/* Closes the gaps that removed objects left. */
static void cut_objects_close_gaps(struct cut_objects *s)
{
	size_t n = 0;

	table_release(&s->by_key);
	for (size_t i = 0; i < s->n; i++) {
		struct cut_object o = s->item[i];

		if (!o.record)
			continue;
		table_add(&s->by_key, cut_object_hash(o.a, o.b), (uint32_t)n);
		s->item[n++] = o;
	}
	s->n = n;
	s->gone = 0;
}

static void cut_object_drop(struct cut_objects *s, uint32_t at,
			    struct cut_kept *k)
{
	struct cut_object *o = &s->item[at];

	cut_kept_give(k, o->size);
	table_remove(&s->by_key, cut_object_hash(o->a, o->b), at);
	free(o->record);
	o->record = NULL;
	s->gone++;
}

static void cut_objects_remove(struct cut_objects *s, uint64_t a, uint64_t b,
			       struct cut_kept *k)
{
	struct cut_object key = { .a = a, .b = b };
	uint32_t at = table_find(&s->by_key, cut_object_hash(a, b),
				 cut_object_same, s, &key);

	if (at != TABLE_NONE)
		cut_object_drop(s, at, k);
}

void cut_objects_put(struct cut_objects *s, const struct cut_object *o,
		     struct cut_kept *k)
{
	cut_objects_remove(s, o->a, o->b, k);
	if (s->n - s->gone >= CUT_STATE_MAX) {
		/* Drop the oldest half, so that the next ones are cheap. */
		for (uint32_t i = 0; s->n - s->gone > CUT_STATE_MAX / 2; i++) {
			if (!s->item[i].record)
				continue;
			cut_object_drop(s, i, k);
			k->dropped++;
		}
	}
	if (s->gone > SWEEP_MIN && s->gone > s->n / 2)
		cut_objects_close_gaps(s);
	if (!cut_kept_take(k, o->size)) {
		free(o->record);
		return;
	}
	*mem_add(s->item, s->n, s->cap) = *o;
	table_add(&s->by_key, cut_object_hash(o->a, o->b),
		  (uint32_t)(s->n - 1));
}

void cut_objects_release(struct cut_objects *s, struct cut_kept *k)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->item[i].record)
			cut_object_drop(s, i, k);
	free(s->item);
	table_release(&s->by_key);
	*s = (struct cut_objects){ .n = 0 };
}

void cut_objects_write(const struct cut_objects *s, struct cut_read *read,
		       FILE *out)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].record)
			cut_read_write(read, s->item[i].record, s->item[i].size,
				       out);
}

/* Code of the kernel that was made at run time, BPF programs, control groups:
 * until they are unloaded. The kernel does not tell when a group is removed. */
void cut_objects_take(struct cut_objects kernel[CUT_KERNEL], struct cut_kept *k,
		      const struct perf_rec *r)
{
	enum cut_kernel kind = r->type == PR_KSYMBOL	 ? CUT_KSYMBOLS
			       : r->type == PR_BPF_EVENT ? CUT_BPF
							 : CUT_CGROUPS;
	struct cut_object o = { .size = r->size };
	uint16_t word = 0;
	uint32_t id = 0;
	bool gone = false;

	if (kind == CUT_BPF) {
		bytes_peek_u16(&r->b, BPF_TYPE_AT, &word);
		bytes_peek_u32(&r->b, BPF_ID_AT, &id);
		o.a = id;
		gone = word == BPF_UNLOAD;
	} else {
		bytes_peek_u64(&r->b, KEY_AT, &o.a);
	}
	if (kind == CUT_KSYMBOLS) {
		bytes_peek_u16(&r->b, KSYMBOL_FLAGS_AT, &word);
		gone = word & KSYMBOL_UNREGISTER;
	}
	if (gone) {
		cut_objects_remove(&kernel[kind], o.a, 0, k);
		return;
	}
	o.record = mem_dup(r->b.pos, r->size);
	cut_objects_put(&kernel[kind], &o, k);
}
