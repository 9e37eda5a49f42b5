/* sample_groups.c - adds up samples with the same event, name and stacks while
 * they are stored. The rows of sample_group are what views of stacks read.
 *
 * Grouping 1.8 million samples in SQL sorts them and takes 1.3 s for each
 * query; here it costs about 30 ns per sample, once. The number of groups in
 * memory is limited: when it is reached they are written and the table starts
 * empty, so one group may have several rows, to be added up.
 *
 * The verdict of a request comes later than its sample: such samples wait. */
#include "schema/db/groups.h"

#include "schema/db/rows.h"
#include "schema/db/queries.h"
#include "schema/write/write.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/source.h"
#include "stitch/fact.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"
#include "schema/columns.h"

#define SLOTS_FIRST 1024u
/* A table of this size is filled to three quarters, a smaller one to one half,
 * so that more groups need more memory only where there are many. */
#define SLOTS_FULLER (1u << 18)
/* The most slots. Groups in memory need not be read back: for a compile, in
 * which each sample is a group, that took a fifth of an ingest. */
#define SLOTS_MAX (1u << 20)
/* For sums, which are read from memory, where their readers need more of each
 * than this table does: as rows they would go through SQL three times
 * (measured: 15 % of a first look at stack dumps). */
#define SLOTS_MAX_SUMS (4 * SLOTS_MAX)

/* Samples that equal the previous one of the same event and CPU are added up
 * here first: in a trace of system calls 19 of 20 do. The first went to the
 * table; if the table was written since, they make a second row. */
#define SERIES 256

struct series {
	uint64_t raws;	       /* raw chains, as in stacks */
	uint64_t what;	       /* type << 32 | comm of the event; 0: none */
	struct sample_group g; /* n, weight: of those after the first */
};

/* A sample that waits for its request. */
struct waiting {
	struct sample_group g;
	uint32_t event;
	int32_t cpu; /* -1: not recorded */
};

/* Prefetch distance, in samples. Groups are scattered over the memory; with 53
 * k groups the prefetch halved the cost. */
#define AHEAD 8

/* Most requests are answered while few others wait: an index by the event's low
 * bits finds them faster than the table (measured: 3 % of an ingest). */
#define NEAR 256

struct sample_groups {
	struct sample_group *slot;
	size_t n_slot, n_group;
	bool ended; /* all were written */
	bool part;  /* some were written before; slot[] has the others */
	struct sample_group next[AHEAD];
	uint64_t hash[AHEAD];
	unsigned int at;
	struct series series[SERIES];

	struct waiting *wait;
	uint32_t *hole; /* free places in wait */
	size_t n_wait, cap_wait, n_hole, cap_hole;
	/* Samples by event, which is not hashed: the newest, as index + 1, and
	 * all others. */
	uint32_t near[NEAR];
	struct table waits;

	uint32_t *first; /* comm id - 1 -> the first comm of that name */
	size_t n_first, cap_first;
	struct intern names;
	uint32_t *named; /* name -> the first comm of that name */
	size_t n_named, cap_named;
};

static struct sample_groups *sample_groups_of(struct maker *mk)
{
	struct sample_groups *sg = mk->w->groups;

	if (sg)
		return sg;
	mk->w->groups = sg = mem_new(1, sizeof(*sg));
	sg->slot = mem_new(SLOTS_FIRST, sizeof(*sg->slot));
	sg->n_slot = SLOTS_FIRST;
	return sg;
}

void sample_groups_free(struct sample_groups *sg, const struct store *db)
{
	if (!sg)
		return;
	table_release(&sg->waits);
	intern_release(&sg->names);
	if (!db->group)
		free(sg->slot);
	free_all(sg->wait, sg->hole, sg->first, sg->named, sg);
}

/* Notes a comm. Each thread has its own comms, most of which have few different
 * names. */
void sample_groups_comm(struct maker *mk, uint32_t id, const char *name)
{
	struct sample_groups *sg = sample_groups_of(mk);
	uint32_t i = intern_add(&sg->names, name);

	mem_reach(sg->named, sg->n_named, sg->cap_named, (size_t)i + 1);
	if (!sg->named[i])
		sg->named[i] = id;
	if (id != sg->n_first + 1)
		return; /* ids are not dense: the comm stands for itself */
	mem_grow(sg->first, sg->cap_first, id);
	sg->first[sg->n_first++] = sg->named[i];
}

static inline uint64_t sample_groups_hash(const struct sample_group *g)
{
	uint64_t b = g->what + (uint64_t)(int32_t)g->marks;

	return hash_u64(g->stacks ^ b * 0x9e3779b97f4a7c15u);
}

/* Returns the slot of a group, or the free slot where it belongs. */
static struct sample_group *sample_groups_find(const struct sample_groups *sg,
					       const struct sample_group *g,
					       uint64_t hash)
{
	size_t i = hash & (sg->n_slot - 1);

	while (sg->slot[i].n &&
	       !(sg->slot[i].stacks == g->stacks &&
		 sg->slot[i].what == g->what && sg->slot[i].marks == g->marks))
		i = (i + 1) & (sg->n_slot - 1);
	return &sg->slot[i];
}

static int sample_groups_write(struct maker *mk, struct err *err)
{
	struct sample_groups *sg = mk->w->groups;

	for (size_t i = 0; i < sg->n_slot; i++) {
		const struct sample_group *g = &sg->slot[i];

		if (g->n &&
		    PUT_ROW(mk, T_GROUP, err, VALUE_OF(sample_group_type(g)),
			    VALUE_ID((uint32_t)g->what),
			    VALUE_ID(g->stacks >> 32),
			    VALUE_ID((uint32_t)g->stacks),
			    VALUE_ID(sample_group_mark(g)),
			    value_known(g->marks & GROUP_WEIGHS,
					(int64_t)g->weight),
			    VALUE_OF(g->n), VALUE_ID(g->marks >> 8 & 0xff)))
			return -1;
	}
	return 0;
}

static void sample_groups_clear(struct maker *mk, struct sample_groups *sg)
{
	mk->db->group = NULL;
	memset(sg->slot, 0, sg->n_slot * sizeof(*sg->slot));
	sg->n_group = 0;
	sg->part = true;
	sg->ended = false;
}

static int sample_groups_add_now(struct maker *mk, const struct sample_group *g,
				 uint64_t hash, struct err *err)
{
	struct sample_groups *sg = mk->w->groups;

	if (sg->ended)
		sample_groups_clear(mk, sg);
	struct sample_group *to = sample_groups_find(sg, g, hash);

	if (!to->n &&
	    sg->n_group ==
		    sg->n_slot / 4 * (sg->n_slot < SLOTS_FULLER ? 2 : 3)) {
		const size_t n = sg->n_slot;

		if (n < (mk->db->sums ? SLOTS_MAX_SUMS : SLOTS_MAX)) {
			struct sample_group *old = sg->slot;

			sg->slot = mem_new_table(n * 2, sizeof(*sg->slot));
			sg->n_slot = n * 2;
			for (size_t i = 0; i < n; i++)
				if (old[i].n)
					*sample_groups_find(
						sg, &old[i],
						sample_groups_hash(&old[i])) =
						old[i];
			free(old);
		} else if (sample_groups_write(mk, err)) {
			return -1;
		} else {
			sample_groups_clear(mk, sg);
		}
		to = sample_groups_find(sg, g, hash);
	}
	if (to->n) {
		to->n += g->n;
		to->weight +=
			g->weight; /* the sum over all events was checked */
	} else {
		*to = *g;
		sg->n_group++;
	}
	return 0;
}

/* Adds a sample. g is passed by value, so that what the caller has computed
 * goes from registers straight to its place. */
static inline int sample_groups_add(struct maker *mk, struct sample_group g,
				    struct err *err)
{
	struct sample_groups *sg = mk->w->groups;
	unsigned int i = sg->at++ % AHEAD;
	struct sample_group *next = &sg->next[i];
	int rc =
		next->n ? sample_groups_add_now(mk, next, sg->hash[i], err) : 0;
	uint64_t hash = sample_groups_hash(&g);

	*next = g;
	sg->hash[i] = hash;
	__builtin_prefetch(&sg->slot[hash & (sg->n_slot - 1)], 1);
	return rc;
}

static inline int sample_groups_end_series(struct maker *mk, struct series *s,
					   struct err *err)
{
	int rc = s->g.n ? sample_groups_add(mk, s->g, err) : 0;

	s->g.n = 0;
	s->g.weight = 0;
	return rc;
}

/* Returns the stack of a raw chain, 0 for none. Sets *mark to its mark, which
 * is 0 if it was unwound to its outermost frame. */
static inline uint32_t sample_groups_stack(const struct maker *mk, uint32_t raw,
					   uint32_t *mark)
{
	const struct frames *fr = mk->w->fr;

	*mark = 0;
	if (!raw || !fr)
		return 0;
	const struct raw_chain *c = frames_get_raw(fr, raw);

	if (c->note.ended > UNWIND_OUTERMOST)
		*mark = MARK_ENDED + c->note.ended;
	return c->stack;
}

/* Removes the sample that waits for the request of an event from the index.
 * Returns its index, or TABLE_NONE. */
static uint32_t sample_groups_take_waiting(struct sample_groups *sg,
					   uint32_t event)
{
	uint32_t *near = &sg->near[event % NEAR];
	uint32_t i = *near - 1;

	if (*near && sg->wait[i].event == event) {
		*near = 0;
		return i;
	}
	i = table_find_hash(&sg->waits, event);
	if (i != TABLE_NONE)
		table_remove(&sg->waits, event, i);
	return i;
}

int sample_groups_event(struct maker *mk, const struct capture_map *c,
			const struct fact_event *e, uint32_t type, bool weighs,
			struct err *err)
{
	struct sample_groups *sg = sample_groups_of(mk);
	struct series *s = &sg->series[(type * 16 + (uint32_t)e->cpu) % SERIES];
	const struct series in = { .raws = (uint64_t)e->kraw << 32 | e->uraw,
				   .what = (uint64_t)type << 32 | e->comm };
	/* a sample without a request yet waits until the end */
	const struct record *rec = e->rec;
	bool asks;

	if (!rec || rec->kind != REC_SAMPLE)
		asks = !rec;
	else if (rec->sample.defer == DEFER_NONE)
		asks = false;
	else if (rec->sample.defer != DEFER_DIRECT)
		asks = true;
	else
		asks = c->src && c->src->info.cookies == COOKIES_PERF &&
		       e->type < c->src->n_events &&
		       c->src->events[e->type].defer;

	if (s->raws == in.raws && s->what == in.what && !asks &&
	    (s->g.marks & GROUP_WEIGHS) == weighs) {
		s->g.n++;
		s->g.weight += weighs ? e->weight : 0;
		return 0;
	}
	uint32_t comm = e->comm && e->comm <= sg->n_first
				? sg->first[e->comm - 1]
				: e->comm;
	uint32_t kernel_mark, mark;
	uint32_t kernel = sample_groups_stack(mk, e->kraw, &kernel_mark);
	uint32_t user = sample_groups_stack(mk, e->uraw, &mark);
	const struct sample_group g = {
		.stacks = (uint64_t)kernel << 32 | user,
		.what = (uint64_t)type << 32 | comm,
		.weight = weighs ? e->weight : 0,
		.marks = mark << 16 | kernel_mark << 8 |
			 (weighs ? GROUP_WEIGHS : 0),
		.n = 1,
	};

	if (asks) {
		const struct waiting *w =
			&(struct waiting){ g, .event = e->id, .cpu = e->cpu };
		uint32_t i;

		if (sg->n_hole) {
			i = sg->hole[--sg->n_hole];
		} else {
			i = (uint32_t)sg->n_wait++;
			mem_grow(sg->wait, sg->cap_wait, sg->n_wait);
		}
		sg->wait[i] = *w;
		uint32_t *near = &sg->near[w->event % NEAR];

		if (*near)
			table_add(&sg->waits, sg->wait[*near - 1].event,
				  *near - 1);
		*near = i + 1;
		return 0;
	}
	if (sample_groups_end_series(mk, s, err))
		return -1;
	*s = in;
	s->g = g;
	s->g.n = 0;
	s->g.weight = 0;
	return sample_groups_add(mk, g, err);
}

int sample_groups_request(struct maker *mk, const struct fact_request *q,
			  struct err *err)
{
	struct sample_groups *sg = sample_groups_of(mk);
	uint32_t i = sample_groups_take_waiting(sg, q->event);

	if (i == TABLE_NONE && q->event > mk->w->events)
		return 0; /* an error that sums_check() reports */
	if (i == TABLE_NONE)
		return err_set(err, ERR_DB,
			       "%s: a request for event %u, which waits for "
			       "none; please report this",
			       mk->db->path, q->event);
	struct waiting w = sg->wait[i];

	*mem_add(sg->hole, sg->n_hole, sg->cap_hole) = i;
	sg->wait[i].event = 0;
	deferral_request(mk->w, q, sample_group_type(&w.g), w.cpu);

	uint32_t user = (uint32_t)w.g.stacks;
	uint32_t ended;
	int mark = sample_group_mark(&w.g);

	if (q->uraw) {
		user = sample_groups_stack(mk, q->uraw, &ended);
		mark = (int)ended;
	}
	if (!user)
		mark = -(int)q->verdict;
	else if (q->flags & VERDICT_EXEC)
		mark = MARK_EXEC;
	w.g.stacks = w.g.stacks >> 32 << 32 | user;
	w.g.marks = (uint32_t)mark << 16 | (w.g.marks & 0xffff);
	return sample_groups_add(mk, w.g, err);
}

/* Sorts the groups by user stack: those who read all of them look at what is
 * known of each stack, which is then still in the processor's caches. */
static void sample_groups_sort(struct sample_groups *sg, uint32_t n_stack)
{
	struct sample_group *sorted = mem_new(sg->n_slot, sizeof(*sorted));
	uint32_t *at = mem_new(n_stack + (size_t)2, sizeof(*at));

	for (size_t i = 0; i < sg->n_slot; i++)
		if (sg->slot[i].n)
			at[(uint32_t)sg->slot[i].stacks + 1]++;
	for (size_t i = 1; i <= n_stack; i++)
		at[i] += at[i - 1];
	for (size_t i = 0; i < sg->n_slot; i++)
		if (sg->slot[i].n)
			sorted[at[(uint32_t)sg->slot[i].stacks]++] =
				sg->slot[i];
	free_all(sg->slot, at);
	sg->slot = sorted;
}

int store_groups_end(struct maker *mk, struct err *err)
{
	struct sample_groups *sg = sample_groups_of(mk);

	for (size_t i = 0; i < sg->n_wait; i++) {
		const struct waiting *w = &sg->wait[i];

		if (w->event && sample_groups_add(mk, w->g, err))
			return -1;
	}
	sg->n_wait = sg->n_hole = 0;
	for (size_t i = 0; i < SERIES; i++)
		if (sample_groups_end_series(mk, &sg->series[i], err))
			return -1;
	for (unsigned int i = 0; i < AHEAD; i++) {
		unsigned int k = (sg->at + i) % AHEAD;

		if (sg->next[k].n &&
		    sample_groups_add_now(mk, &sg->next[k], sg->hash[k], err))
			return -1;
		sg->next[k].n = 0;
	}
	if (sg->ended)
		return 0;
	sg->ended = true;
	sample_groups_sort(sg, mk->w->fr ? mk->w->fr->n_stack : 0);
	if (!sg->part) {
		mk->db->group = sg->slot;
		mk->db->n_group = sg->n_group;
	}
	/* sums are read from memory if all are there */
	return mk->db->sums && !sg->part ? 0 : sample_groups_write(mk, err);
}

int store_groups_made(struct maker *mk, store_group_fn *fn, void *arg,
		      struct err *err)
{
	if (!mk->db->group && tables_link(mk, err))
		return -1;
	return store_groups_each(maker_read(mk, err), fn, arg, err);
}

void sample_groups_by_sql(struct maker *mk)
{
	sample_groups_of(mk)->part = true;
	mk->db->group = NULL;
}

/* ---- samples whose user stacks changed */

/* A stack of an event (kind 0) or a chain (1), and its new raw chain. */
struct again_row {
	int64_t kind, id;
	uint32_t raw;
};

struct again_rows {
	struct again_row *row;
	size_t n, cap;
};

/* Runs the statements that use the new raw chains. */
static int again_apply(struct maker *mk, const struct again_rows *rows,
		       struct err *err)
{
	if (flush_frames(mk, err) ||
	    maker_exec(mk, store_sql("again_table"), err) ||
	    PUT_EACH(mk, store_sql("put_again"), err, rows->n, i,
		     VALUE_OF(rows->row[i].kind), VALUE_OF(rows->row[i].id),
		     VALUE_OF(rows->row[i].raw)) ||
	    maker_exec(mk, store_sql("again_events"), err) ||
	    maker_exec(mk, store_sql("again_chains"), err) ||
	    maker_exec(mk, store_sql("again_requests"), err) ||
	    maker_exec(mk, "DELETE FROM sample_group", err) ||
	    maker_exec(mk, "DROP TABLE temp.again", err))
		return -1;
	sample_groups_by_sql(mk);
	return PUT_BY(mk, store_sql("make_groups"), err, VALUE_OF(VERDICT_EXEC),
		      VALUE_OF(UNWIND_OUTERMOST), VALUE_OF(MARK_ENDED));
}

int store_again(struct maker *mk, int64_t from, int64_t until,
		store_again_fn *fn, void *arg, struct err *err)
{
	struct again_rows rows = { 0 };
	int rc = -1;

	if (!flush_frames(mk, err) && !tables_link(mk, err)) {
		/* The connection serves one statement at a time, so the answers
		 * of fn are kept. */
		struct rows *r = ROWS_BY(maker_read(mk, err), "again_stacks",
					 err, from, until);

		while (rows_step(r)) {
			uint32_t raw = (uint32_t)rows_int(r, AGAIN_STACKS_URAW);
			uint32_t now =
				fn(arg,
				   (unsigned int)rows_int(
					   r, AGAIN_STACKS_CAPTURE) -
					   1,
				   (uint32_t)rows_int(r, AGAIN_STACKS_PROCESS),
				   rows_int(r, AGAIN_STACKS_TIME_NS), raw);

			if (now == raw)
				continue;
			*mem_add(rows.row, rows.n, rows.cap) =
				(struct again_row){
					.kind = rows_int(r, AGAIN_STACKS_KIND),
					.id = rows_int(r, AGAIN_STACKS_ID),
					.raw = now,
				};
		}
		rc = rows_end(r, err);
	}
	if (!rc && rows.n)
		rc = again_apply(mk, &rows, err);
	free(rows.row);
	return rc;
}
