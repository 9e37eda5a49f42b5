/* sample_groups.c - samples with the same event, name and stacks are added up
 * while they are stored: rows of sample_group, which folded and its kin start
 * from.
 *
 * Grouping 1.8 million samples in SQL sorts them and takes 1.3 s at every
 * look; here it costs some 30 ns a sample, once. The groups held in memory
 * are limited: when there are too many they are written and begun anew, so
 * that one group may have several rows, whose sums count.
 *
 * What a request becomes is known later than its sample: such samples wait. */
#include <stdlib.h>
#include <string.h>

#include "schema/inner.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "stitch/unwinder.h"

#define SLOTS_FIRST 1024u
#define SLOTS_MAX 131072u
/* sample_group.mark of a reason, as the view folded has it too. */
#define MARK_ENDED 100

/* 32 bytes: a look at one touches one cache line. */
struct group {
	uint32_t type, comm, kernel, user; /* stacks */
	int16_t mark;			   /* 0: NULL */
	uint16_t weighs;		   /* 0: the weight is NULL */
	uint32_t n;			   /* 0: a free slot */
	uint64_t weight;
};

/* A sample that waits for its request. */
struct waiting {
	struct group g;
	uint32_t event;
};

/* What is added up lies all over the memory: between the hint to fetch it
 * and its use lie so many samples. With 53 k groups that halved the cost. */
#define AHEAD 8

struct tally {
	struct group *slot;
	size_t n_slot, n_group;
	struct group next[AHEAD];
	uint64_t hash[AHEAD];
	unsigned int at;

	struct waiting *wait;
	uint32_t *hole; /* free places in wait */
	size_t n_wait, cap_wait, n_hole, cap_hole;
	struct table waits; /* by event */

	uint32_t *first; /* comm id - 1 -> the first comm of that name */
	size_t n_first, cap_first;
	const char **name;
	size_t n_name, cap_name;
	uint32_t *named; /* name -> its first comm */
	size_t cap_named;
	struct table names;
	struct arena text;
};

static struct tally *tally_of(struct store *db)
{
	struct tally *ta = db->tally;

	if (ta)
		return ta;
	db->tally = ta = mem_new(1, sizeof(*ta));
	ta->slot = mem_new(SLOTS_FIRST, sizeof(*ta->slot));
	ta->n_slot = SLOTS_FIRST;
	return ta;
}

void tally_free(struct tally *ta)
{
	if (!ta)
		return;
	table_release(&ta->waits);
	table_release(&ta->names);
	arena_release(&ta->text);
	free(ta->slot);
	free(ta->wait);
	free(ta->hole);
	free(ta->first);
	free(ta->name);
	free(ta->named);
	free(ta);
}

/* ---- names: each thread has comms of its own, mostly of few names */

static bool same_name(const void *owner, uint32_t id, const void *key)
{
	return !strcmp(((const struct tally *)owner)->name[id], key);
}

void tally_comm(struct store *db, uint32_t id, const char *name)
{
	struct tally *ta = tally_of(db);
	uint64_t h = hash_bytes(name, strlen(name), 0);
	uint32_t i = table_find(&ta->names, h, same_name, ta, name);

	if (i == TABLE_NONE) {
		i = (uint32_t)ta->n_name++;
		ta->name = mem_grow(ta->name, &ta->cap_name, ta->n_name,
				    sizeof(*ta->name));
		ta->named = mem_grow(ta->named, &ta->cap_named, ta->n_name,
				     sizeof(*ta->named));
		ta->name[i] = arena_strdup(&ta->text, name);
		ta->named[i] = id;
		table_add(&ta->names, h, i);
	}
	if (id != ta->n_first + 1)
		return; /* not dense: it stands for itself */
	ta->first = mem_grow(ta->first, &ta->cap_first, id, sizeof(id));
	ta->first[ta->n_first++] = ta->named[i];
}

/* ---- groups */

static uint64_t key_hash(const struct group *g)
{
	uint64_t a = (uint64_t)g->kernel << 32 | g->user;
	uint64_t b = (uint64_t)g->type << 32 | g->comm;

	b += (uint64_t)g->mark << 8 | g->weighs;
	return hash_u64(a ^ b * 0x9e3779b97f4a7c15u);
}

static bool same_key(const struct group *a, const struct group *b)
{
	return a->kernel == b->kernel && a->user == b->user &&
	       a->comm == b->comm && a->type == b->type && a->mark == b->mark &&
	       a->weighs == b->weighs;
}

/* The slot of a group, or the free one where it belongs. */
static struct group *find(const struct tally *ta, const struct group *g,
			  uint64_t hash)
{
	size_t i = hash & (ta->n_slot - 1);

	while (ta->slot[i].n && !same_key(&ta->slot[i], g))
		i = (i + 1) & (ta->n_slot - 1);
	return &ta->slot[i];
}

static int write_groups(struct store *db, struct err *err)
{
	struct tally *ta = db->tally;
	struct row r;

	for (size_t i = 0; i < ta->n_slot; i++) {
		const struct group *g = &ta->slot[i];

		if (!g->n)
			continue;
		if (store_row(db, T_GROUP, 0, &r, err))
			return -1;
		row_int(&r, 0, g->type);
		row_id(&r, 1, g->comm);
		row_id(&r, 2, g->kernel);
		row_id(&r, 3, g->user);
		if (g->mark)
			row_int(&r, 4, g->mark);
		if (g->weighs)
			row_int(&r, 5, (int64_t)g->weight);
		row_int(&r, 6, g->n);
	}
	memset(ta->slot, 0, ta->n_slot * sizeof(*ta->slot));
	ta->n_group = 0;
	return 0;
}

static void grow(struct tally *ta)
{
	struct group *old = ta->slot;
	size_t n = ta->n_slot;

	ta->slot = mem_new(n * 2, sizeof(*ta->slot));
	ta->n_slot = n * 2;
	for (size_t i = 0; i < n; i++)
		if (old[i].n)
			*find(ta, &old[i], key_hash(&old[i])) = old[i];
	free(old);
}

static int add_now(struct store *db, const struct group *g, uint64_t hash,
		   struct err *err)
{
	struct tally *ta = db->tally;
	struct group *to = find(ta, g, hash);

	if (!to->n && ta->n_group == ta->n_slot / 2) {
		if (ta->n_slot < SLOTS_MAX)
			grow(ta);
		else if (write_groups(db, err))
			return -1;
		to = find(ta, g, hash);
	}
	if (to->n) {
		to->n++;
		to->weight += g->weight; /* the sum of all was checked */
	} else {
		*to = *g;
		ta->n_group++;
	}
	return 0;
}

static int add(struct store *db, const struct group *g, struct err *err)
{
	struct tally *ta = db->tally;
	unsigned int i = ta->at++ % AHEAD;
	int rc =
		ta->next[i].n ? add_now(db, &ta->next[i], ta->hash[i], err) : 0;

	ta->next[i] = *g;
	ta->hash[i] = key_hash(g);
	__builtin_prefetch(&ta->slot[ta->hash[i] & (ta->n_slot - 1)], 1);
	return rc;
}

static uint32_t stack_of(const struct store *db, uint32_t raw)
{
	return raw && db->fr && raw <= frames_raws(db->fr)
		       ? frames_get_raw(db->fr, raw)->stack
		       : 0;
}

/* The mark of a stack that was not unwound to its outermost frame. */
static int16_t ended_of(const struct store *db, uint32_t raw)
{
	uint8_t ended = UNWIND_NONE;

	if (raw && db->fr && raw <= frames_raws(db->fr))
		ended = frames_get_raw(db->fr, raw)->note.ended;
	return ended <= UNWIND_OUTERMOST ? 0 : (int16_t)(MARK_ENDED + ended);
}

/* Will there be a request? Too many is no harm: they wait in vain. */
static bool may_ask(const struct capture_map *c, const struct fact_event *e)
{
	const struct record *rec = e->rec;

	if (!rec || rec->kind != REC_SAMPLE)
		return !rec;
	if (rec->sample.defer == DEFER_COOKIE ||
	    rec->sample.defer == DEFER_MARK ||
	    rec->sample.defer == DEFER_REFUSED)
		return true;
	return rec->sample.defer == DEFER_DIRECT && c->src &&
	       c->src->info.cookies == COOKIES_PERF &&
	       e->type < c->src->n_events && c->src->events[e->type].defer;
}

static void put_waiting(struct tally *ta, const struct waiting *w)
{
	uint32_t i;

	if (ta->n_hole) {
		i = ta->hole[--ta->n_hole];
	} else {
		i = (uint32_t)ta->n_wait++;
		ta->wait = mem_grow(ta->wait, &ta->cap_wait, ta->n_wait,
				    sizeof(*ta->wait));
	}
	ta->wait[i] = *w;
	table_add(&ta->waits, hash_u64(w->event), i);
}

int tally_event(struct store *db, const struct capture_map *c,
		const struct fact_event *e, uint32_t type, bool weighs,
		struct err *err)
{
	struct tally *ta = tally_of(db);
	struct waiting w = {
		.g = {
			.type = type,
			.comm = e->comm && e->comm <= ta->n_first
				? ta->first[e->comm - 1] : e->comm,
			.kernel = stack_of(db, e->kraw),
			.user = stack_of(db, e->uraw),
			.weighs = weighs,
			.weight = weighs ? e->weight : 0,
			.n = 1,
		},
		.event = e->id,
	};

	w.g.mark = ended_of(db, e->uraw);
	if (!may_ask(c, e))
		return add(db, &w.g, err);
	put_waiting(ta, &w);
	return 0;
}

int tally_request(struct store *db, const struct fact_request *q,
		  struct err *err)
{
	struct tally *ta = tally_of(db);
	uint64_t h = hash_u64(q->event);
	uint32_t i = table_find(&ta->waits, h, NULL, NULL, NULL);

	if (i == TABLE_NONE && q->event > db->events)
		return 0; /* store_check() refuses it */
	if (i == TABLE_NONE)
		return err_set(err, ERR_DB,
			       "%s: a request for event %u, which waits for "
			       "none; please report this",
			       db->path, q->event);
	struct waiting w = ta->wait[i];

	table_remove(&ta->waits, h, i);
	ta->hole = mem_grow(ta->hole, &ta->cap_hole, ta->n_hole + 1, sizeof(i));
	ta->hole[ta->n_hole++] = i;
	ta->wait[i].event = 0;
	if (q->uraw) {
		w.g.user = stack_of(db, q->uraw);
		w.g.mark = ended_of(db, q->uraw);
	}
	if (!w.g.user)
		w.g.mark = (int16_t)-q->verdict;
	else if (q->flags & VERDICT_EXEC)
		w.g.mark = 2;
	return add(db, &w.g, err);
}

/* The samples that waited in vain, and whatever is held. */
int tally_end(struct store *db, struct err *err)
{
	struct tally *ta = tally_of(db);

	for (size_t i = 0; i < ta->n_wait; i++) {
		const struct waiting *w = &ta->wait[i];

		if (w->event && add(db, &w->g, err))
			return -1;
	}
	ta->n_wait = ta->n_hole = 0;
	for (unsigned int i = 0; i < AHEAD; i++) {
		unsigned int k = (ta->at + i) % AHEAD;

		if (ta->next[k].n &&
		    add_now(db, &ta->next[k], ta->hash[k], err))
			return -1;
		ta->next[k].n = 0;
	}
	return write_groups(db, err);
}
