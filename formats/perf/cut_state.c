/* cut_state.c - records of mappings and of kernel objects that a piece of a cut
 * stream begins with. */
#include "formats/perf/cut_state.h"

#include <stdlib.h>

#include "formats/perf/perf.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define SWEEP_MIN 64
#define KSYMBOL_UNREGISTER 1
#define BPF_UNLOAD 2

/* ---- mappings */

static uint64_t cut_map_end(const struct cut_map *m)
{
	uint64_t end;

	return __builtin_add_overflow(m->start, m->len, &end) ? UINT64_MAX
							      : end;
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
static void cut_maps_sweep(struct cut_maps *s)
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
	for (size_t k = s->n; k-- > 0;) {
		struct cut_map m = s->map[k];
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
			free(m.record);
	}
	s->n -= to;
	for (size_t i = 0; i < s->n; i++)
		s->map[i] = s->map[to + i];
	free(place);
	free(next);
}

void cut_maps_add(struct cut_maps *s, const struct cut_map *m)
{
	*mem_add(s->map, s->n, s->cap) = *m;
	if (s->n < SWEEP_MIN || s->n < s->sweep_at)
		return;
	cut_maps_sweep(s);
	size_t over = s->n > CUT_STATE_MAX ? s->n - CUT_STATE_MAX : 0;

	for (size_t i = 0; i < s->n; i++) {
		if (i < over)
			free(s->map[i].record);
		else
			s->map[i - over] = s->map[i];
	}
	s->n -= over;
	s->dropped += over;
	s->sweep_at = 2 * s->n;
}

void cut_maps_release(struct cut_maps *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->map[i].record);
	free(s->map);
	*s = (struct cut_maps){ .dropped = s->dropped };
}

void cut_maps_write(const struct cut_maps *s, FILE *out)
{
	for (size_t i = 0; i < s->n; i++)
		fwrite(s->map[i].record, 1, s->map[i].size, out);
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

static void cut_object_drop(struct cut_objects *s, uint32_t at)
{
	struct cut_object *o = &s->item[at];

	table_remove(&s->by_key, cut_object_hash(o->a, o->b), at);
	free(o->record);
	o->record = NULL;
	s->gone++;
}

void cut_objects_remove(struct cut_objects *s, uint64_t a, uint64_t b)
{
	struct cut_object key = { .a = a, .b = b };
	uint32_t at = table_find(&s->by_key, cut_object_hash(a, b),
				 cut_object_same, s, &key);

	if (at != TABLE_NONE)
		cut_object_drop(s, at);
}

void cut_objects_put(struct cut_objects *s, uint64_t a, uint64_t b,
		     unsigned char *record, size_t size)
{
	cut_objects_remove(s, a, b);
	if (s->n - s->gone >= CUT_STATE_MAX) {
		/* Drop the oldest half, so that the next ones are cheap. */
		for (uint32_t i = 0; s->n - s->gone > CUT_STATE_MAX / 2; i++) {
			if (!s->item[i].record)
				continue;
			cut_object_drop(s, i);
			s->dropped++;
		}
	}
	if (s->gone > SWEEP_MIN && s->gone > s->n / 2)
		cut_objects_close_gaps(s);
	*mem_add(s->item, s->n, s->cap) = (struct cut_object){
		.a = a, .b = b, .record = record, .size = size
	};
	table_add(&s->by_key, cut_object_hash(a, b), (uint32_t)(s->n - 1));
}

void cut_objects_release(struct cut_objects *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->item[i].record);
	free(s->item);
	table_release(&s->by_key);
	*s = (struct cut_objects){ .dropped = s->dropped };
}

void cut_objects_write(const struct cut_objects *s, FILE *out)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->item[i].record)
			fwrite(s->item[i].record, 1, s->item[i].size, out);
}

/* Code of the kernel that was made at run time, BPF programs, control groups:
 * until they are unloaded. The kernel does not tell when a group is removed. */
int cut_objects_take(struct cut_objects kernel[CUT_KERNEL],
		     const struct cut_object_record *r, struct err *err)
{
	struct bytes b = r->b;
	uint64_t key = 0;
	uint32_t id = 0;
	uint32_t len;
	uint16_t type = 0;
	uint16_t flags = 0;
	enum cut_kernel kind;
	bool gone = false;

	if (r->type == PR_KSYMBOL) {
		kind = CUT_KSYMBOLS;
		if (bytes_u64(&b, &key, err) || bytes_u32(&b, &len, err) ||
		    bytes_u16(&b, &type, err) || bytes_u16(&b, &flags, err))
			return -1;
		gone = flags & KSYMBOL_UNREGISTER;
	} else if (r->type == PR_BPF_EVENT) {
		kind = CUT_BPF;
		if (bytes_u16(&b, &type, err) || bytes_u16(&b, &flags, err) ||
		    bytes_u32(&b, &id, err))
			return -1;
		key = id;
		gone = type == BPF_UNLOAD;
	} else {
		kind = CUT_CGROUPS;
		if (bytes_u64(&b, &key, err))
			return -1;
	}
	if (gone)
		cut_objects_remove(&kernel[kind], key, 0);
	else
		cut_objects_put(&kernel[kind], key, 0,
				mem_dup(r->data, r->size), r->size);
	return 0;
}
