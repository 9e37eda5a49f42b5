/* cut_state.c - records of mappings and of kernel objects that a piece of a cut
 * stream begins with. */
#include "formats/perf/cut_state.h"

#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

#define SWEEP_MIN 64
#define OWNER_AT 8 /* in COMM and MMAP: pid, tid */
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

struct cut_map_table {
	uint32_t users; /* processes that have it */
	struct cut_map *map;
	size_t n, cap;
	size_t sweep_at; /* number at which covered ones are freed next */
	size_t kept;	 /* what they count as, for each user */
};

static uint64_t cut_map_end(const struct cut_map *m)
{
	return saturating_add(m->start, m->len);
}

/* Of a table of one user. */
static void cut_map_drop(struct cut_map_table *t, struct cut_map *m,
			 struct cut_kept *k)
{
	t->kept -= m->size + KEPT_EACH;
	cut_kept_give(k, m->size);
	free(m->record);
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
static void cut_maps_sweep(struct cut_map_table *s, struct cut_kept *k)
{
	size_t n = 2 * s->n;
	uint64_t *place = mem_new(n, sizeof(*place));
	size_t *next = mem_new(n + 1, sizeof(*next));
	size_t to = s->n;

	for (size_t i = 0; i < s->n; i++) {
		place[2 * i] = s->map[i].start;
		place[2 * i + 1] = cut_map_end(&s->map[i]);
	}
	sort_items(place, n, compare_u64);
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
			cut_map_drop(s, &m, k);
	}
	s->n -= to;
	for (size_t i = 0; i < s->n; i++)
		s->map[i] = s->map[to + i];
	free(place);
	free(next);
}

/* Returns the table of a set, which no other set has then. */
static struct cut_map_table *cut_maps_own(struct cut_maps *s)
{
	struct cut_map_table *old = s->table;

	if (old && old->users == 1)
		return old;
	s->table = mem_new(1, sizeof(*s->table));
	s->table->users = 1;
	if (!old)
		return s->table;
	old->users--;
	s->table->kept = old->kept;
	s->table->sweep_at = old->sweep_at;
	for (size_t i = 0; i < old->n; i++) {
		struct cut_map m = old->map[i];

		m.record = mem_dup(m.record, m.size);
		*mem_add(s->table->map, s->table->n, s->table->cap) = m;
	}
	return s->table;
}

void cut_maps_add(struct cut_maps *s, const struct cut_map *m,
		  struct cut_kept *k)
{
	if (!cut_kept_take(k, m->size)) {
		free(m->record);
		return;
	}
	struct cut_map_table *t = cut_maps_own(s);
	*mem_add(t->map, t->n, t->cap) = *m;
	t->kept += m->size + KEPT_EACH;
	if (t->n < SWEEP_MIN || t->n < t->sweep_at)
		return;
	cut_maps_sweep(t, k);
	size_t over = t->n > CUT_STATE_MAX ? t->n - CUT_STATE_MAX : 0;

	for (size_t i = 0; i < t->n; i++) {
		if (i < over)
			cut_map_drop(t, &t->map[i], k);
		else
			t->map[i - over] = t->map[i];
	}
	t->n -= over;
	k->dropped += over;
	t->sweep_at = 2 * t->n;
}

/* A copy of 30,000 mappings, and its end, took 6 ms. */
void cut_maps_inherit(struct cut_maps *s, const struct cut_maps *from,
		      struct cut_kept *k)
{
	const struct cut_map_table *t = from->table;

	if (!t || t == s->table)
		return;
	if (!s->table && t->users < UINT32_MAX &&
	    t->kept <= CUT_KEPT_MAX - k->bytes) {
		s->table = from->table;
		s->table->users++;
		k->bytes += t->kept;
		return;
	}
	for (size_t i = 0; i < t->n; i++) {
		struct cut_map m = t->map[i];

		m.record = mem_dup(m.record, m.size);
		cut_maps_add(s, &m, k);
	}
}

void cut_maps_release(struct cut_maps *s, struct cut_kept *k)
{
	struct cut_map_table *t = s->table;

	s->table = NULL;
	if (!t)
		return;
	k->bytes -= t->kept;
	if (--t->users)
		return;
	for (size_t i = 0; i < t->n; i++)
		free(t->map[i].record);
	free(t->map);
	free(t);
}

static void cut_put_u32(bool swap, unsigned char *at, uint32_t v)
{
	v = swap ? __builtin_bswap32(v) : v;
	memcpy(at, &v, sizeof(v));
}

void cut_set_owner(bool swap, unsigned char *record, int32_t pid, int32_t tid)
{
	cut_put_u32(swap, record + OWNER_AT, (uint32_t)pid);
	cut_put_u32(swap, record + OWNER_AT + 4, (uint32_t)tid);
}

void cut_maps_write(const struct cut_maps *s, struct cut_read *read,
		    int32_t pid, FILE *out)
{
	bool swap = read->p.swap;
	unsigned char record[UINT16_MAX];
	unsigned char owner[4];

	cut_put_u32(swap, owner, (uint32_t)pid);
	for (size_t i = 0; s->table && i < s->table->n; i++) {
		const struct cut_map *m = &s->table->map[i];

		memcpy(record, m->record, m->size);
		if (memcmp(record + OWNER_AT, owner, sizeof(owner)) != 0)
			cut_set_owner(swap, record, pid, pid);
		cut_read_write(read, record, m->size, out);
	}
}

SAME_BY(cut_object_same, struct cut_objects, item[id], struct cut_object, a, b);

/* Closes the gaps that removed objects left. */
static void cut_objects_close_gaps(struct cut_objects *s)
{
	size_t n = 0;

	table_release(&s->by_key);
	for (size_t i = 0; i < s->n; i++) {
		struct cut_object o = s->item[i];

		if (!o.record)
			continue;
		table_add(&s->by_key, hash_pair(o.a, o.b), (uint32_t)n);
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
	table_remove(&s->by_key, hash_pair(o->a, o->b), at);
	free(o->record);
	o->record = NULL;
	s->gone++;
}

static void cut_objects_remove(struct cut_objects *s, uint64_t a, uint64_t b,
			       struct cut_kept *k)
{
	struct cut_object key = { .a = a, .b = b };
	uint32_t at = table_find(&s->by_key, hash_pair(a, b), cut_object_same,
				 s, &key);

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
	table_add(&s->by_key, hash_pair(o->a, o->b), (uint32_t)(s->n - 1));
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
