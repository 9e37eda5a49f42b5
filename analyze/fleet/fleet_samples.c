/* fleet_samples.c - the rows of table sample: one for each sample, or, with
 * --weighted, one for those of a period that differ in nothing else.
 *
 * The order of samples in the database is that of their times. Those that are
 * added up keep the order in which the first of each came, so that the rows of
 * a database are the same ones, in the same order, each time. */

#include "analyze/fleet/fleet.h"
#include "analyze/fleet/fleet_input.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

/* What rows that are added up have in common. No padding: it is hashed. */
struct fleet_key {
	int32_t pid, tid;
	uint32_t comm, event, kernel, user, verdict, user_mark, kernel_mark;
	uint32_t classed;
};

struct fleet_sample {
	struct fleet_key key;
	int64_t time;
	int32_t cpu;
	uint32_t n;
	uint64_t weight;
};

struct fleet_samples {
	struct events *ev;
	uint32_t run;
	uint32_t *comm, *type; /* by id: in words; TABLE_NONE: not asked yet */
	struct fleet_sample *sum; /* of one period */
	size_t n, cap, at;	  /* sum[at] is the next row */
	struct table index;
	struct fleet_sample ahead; /* the first of the next period */
	bool has_ahead, ended;
	uint64_t kept, rows; /* so far */
	struct fleet_counts requests;
	struct trust *trust;
	const char *last; /* class of the sample before, and in words: */
	uint32_t last_word;
};

static uint32_t fleet_samples_word(struct fleet *f, uint32_t *known, size_t n,
				   int64_t id, const char *text)
{
	size_t i = id >= 1 && (uint64_t)id <= n ? (size_t)id : 0;

	if (known[i] == TABLE_NONE)
		known[i] = fleet_word(f, text, strlen(text));
	return known[i];
}

static uint32_t *fleet_samples_unasked(size_t n)
{
	uint32_t *known = mem_new(n + 1, sizeof(*known));

	memset(known, 0xff, (n + 1) * sizeof(*known));
	return known;
}

/* Returns the number of a chain, 0 for one that is not there. */
static uint32_t fleet_samples_raw(const struct fleet *f, int64_t raw)
{
	return raw > 0 && (uint64_t)raw < f->n_chain ? (uint32_t)raw : 0;
}

static uint32_t fleet_samples_class_of(struct fleet_rows *r,
				       const struct event_row *e)
{
	struct fleet_samples *s = r->of;
	const struct stacks_group g = {
		.type = (uint32_t)e->type,
		.kraw = fleet_samples_raw(r->f, e->kraw),
		.uraw = fleet_samples_raw(r->f, e->uraw),
		.verdict = e->verdict > 0 && e->verdict < 32
				   ? (uint8_t)e->verdict
				   : 0,
		.flags = (uint8_t)e->flags,
	};
	const char *name = trust_class(s->trust, &g);

	if (!s->last_word || name != s->last) {
		const char *word = name ? name : FLEET_UNCLASSED;

		s->last = name;
		s->last_word = fleet_word(r->f, word, strlen(word));
	}
	return s->last_word;
}

/* Reads the next sample of the run. Returns 1, 0 at the end, or -1. */
static int fleet_samples_read_next(struct fleet_rows *r,
				   struct fleet_sample *out, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct event_row e;
	int ret;

	while ((ret = events_next(s->ev, &e, err)) > 0) {
		const struct event_type *t = events_type(s->ev, e.type);

		if (t->sample && t->capture == s->run)
			break;
	}
	if (ret > 0 && e.verdict)
		fleet_count(&s->requests, e.verdict, e.confidence);
	if (ret > 0) {
		struct fleet *f = r->f;
		const struct event_comm *c = events_comm(s->ev, e.comm);
		const struct fleet_chain *k =
			&f->chain[fleet_samples_raw(f, e.kraw)];
		const struct fleet_chain *u =
			&f->chain[fleet_samples_raw(f, e.uraw)];
		struct fleet_sample to = {
			.key = {
				.pid = fleet_small(c->pid),
				.tid = fleet_small(c->tid),
				.comm = fleet_samples_word(f, s->comm,
					events_comms(s->ev), e.comm, c->name),
				.event = fleet_samples_word(f, s->type,
					events_types(s->ev), e.type,
					events_type(s->ev, e.type)->name),
				.kernel = k->stack,
				.user = u->stack,
				.user_mark = u->ended,
				.kernel_mark = k->ended,
				.classed = fleet_samples_class_of(r, &e),
			},
			.time = e.timed ? fleet_time(r->capture, e.time) : 0,
			.cpu = e.on_cpu ? fleet_small(e.cpu) : -1,
			.n = 1,
			/* as in a sum of samples: 1 if it is not known */
			.weight = !e.weighed	 ? 1
				  : e.weight > 0 ? (uint64_t)e.weight
						 : 0,
		};

		if (e.verdict > 0 && e.verdict < 32)
			to.key.verdict = f->verdict[e.verdict];
		if (e.verdict > 0 && !u->stack)
			to.key.user_mark = FLEET_NO_WORD;
		else if (e.verdict > 0 && e.flags & VERDICT_EXEC)
			to.key.user_mark = f->after_exec;
		*out = to;
	}
	return ret;
}

/* The columns of table sample, after that of the run. */
enum {
	SAMPLE_RUN,
	SAMPLE_TIME,
	SAMPLE_CPU,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_COMM,
	SAMPLE_EVENT,
	SAMPLE_WEIGHT,
	SAMPLE_N,
	SAMPLE_KERNEL,
	SAMPLE_USER,
	SAMPLE_VERDICT,
	SAMPLE_USER_MARK,
	SAMPLE_KERNEL_MARK,
	SAMPLE_CLASS
};

SAME_FUNCTION(fleet_samples_is_same, struct fleet_samples, sum[id].key,
	      struct fleet_key, !memcmp(x, y, sizeof(*x)));

static void fleet_samples_sum(struct fleet_samples *s,
			      const struct fleet_sample *x)
{
	uint64_t h = hash_bytes(&x->key, sizeof(x->key), 0);
	uint32_t i =
		table_find(&s->index, h, fleet_samples_is_same, s, &x->key);

	if (i != TABLE_NONE) {
		s->sum[i].n += x->n;
		s->sum[i].weight += x->weight;
		return;
	}
	table_add(&s->index, h, (uint32_t)s->n);
	*mem_add(s->sum, s->n, s->cap) = *x;
}

/* Adds up the samples of the next period. Returns 1, 0 if there is none, or
 * -1. */
static int fleet_samples_add_up(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct fleet_sample x;
	int ret = 1;

	table_release(&s->index);
	s->n = s->at = 0;
	if (s->has_ahead)
		fleet_samples_sum(s, &s->ahead);
	s->has_ahead = false;
	while (!s->ended && (ret = fleet_samples_read_next(r, &x, err)) > 0) {
		/* Move a sample to the begin of its period; it has no CPU then.
		 */
		uint64_t period = r->f->ask->period;
		int64_t past = x.time % (int64_t)period;

		if (past < 0)
			past += (int64_t)period;
		__builtin_sub_overflow(x.time, past, &x.time);
		x.cpu = -1;
		if (s->n && s->sum[0].time != x.time) {
			s->ahead = x;
			s->has_ahead = true;
			return 1;
		}
		fleet_samples_sum(s, &x);
	}
	s->ended = true;
	return ret < 0 ? -1 : s->n > 0;
}

static int fleet_samples_next(struct fleet_rows *r, struct fleet_sample *out,
			      struct err *err)
{
	struct fleet_samples *s = r->of;
	int ret = 1;

	if (!r->f->ask->period)
		return fleet_samples_read_next(r, out, err);
	if (s->at == s->n)
		ret = fleet_samples_add_up(r, err);
	if (ret > 0)
		*out = s->sum[s->at++];
	return ret;
}

static int fleet_samples_step(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct fleet_sample x;
	int ret = fleet_samples_next(r, &x, err);

	if (ret > 0) {
		struct fleet_fill *b = &r->fill;
		size_t i = fleet_fill_room(b);

		((uint32_t *)b->of[SAMPLE_RUN].data)[i] = r->run;
		((int64_t *)b->of[SAMPLE_TIME].data)[i] = x.time;
		((int32_t *)b->of[SAMPLE_CPU].data)[i] = x.cpu;
		((int32_t *)b->of[SAMPLE_PID].data)[i] = x.key.pid;
		((int32_t *)b->of[SAMPLE_TID].data)[i] = x.key.tid;
		((uint32_t *)b->of[SAMPLE_COMM].data)[i] = x.key.comm;
		((uint32_t *)b->of[SAMPLE_EVENT].data)[i] = x.key.event;
		((uint64_t *)b->of[SAMPLE_WEIGHT].data)[i] = x.weight;
		((uint32_t *)b->of[SAMPLE_N].data)[i] = x.n;
		((uint32_t *)b->of[SAMPLE_KERNEL].data)[i] = x.key.kernel;
		((uint32_t *)b->of[SAMPLE_USER].data)[i] = x.key.user;
		((uint32_t *)b->of[SAMPLE_VERDICT].data)[i] = x.key.verdict;
		((uint32_t *)b->of[SAMPLE_USER_MARK].data)[i] = x.key.user_mark;
		((uint32_t *)b->of[SAMPLE_KERNEL_MARK].data)[i] =
			x.key.kernel_mark;
		((uint32_t *)b->of[SAMPLE_CLASS].data)[i] = x.key.classed;
		s->kept += x.n;
		s->rows++;
	} else if (!ret) {
		r->capture->counted = true;
		r->capture->kept = s->kept;
		r->capture->rows = s->rows;
		r->capture->requests = s->requests;
	}
	return ret;
}

static void fleet_samples_close(struct fleet_rows *r)
{
	struct fleet_samples *s = r->of;

	events_close(s->ev);
	trust_free(s->trust);
	table_release(&s->index);
	free_all(s->comm, s->type, s->sum, s);
}

int fleet_sample_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = mem_new(1, sizeof(*s));

	r->of = s;
	r->whole = true;
	r->step = fleet_samples_step;
	r->close = fleet_samples_close;
	s->run = (uint32_t)r->capture->id;
	if (fleet_load_code(r->f, err))
		return -1;
	s->trust = trust_new(r->f->db, r->f->code, err);
	if (!s->trust)
		return -1;
	s->ev = events_open(r->f->db, r->f->ask->filter, EVENTS_FEW, err);
	if (!s->ev)
		return -1;
	s->comm = fleet_samples_unasked(events_comms(s->ev));
	s->type = fleet_samples_unasked(events_types(s->ev));
	return 0;
}
