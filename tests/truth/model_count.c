/* model_count.c - what must be said of the counters in cookies
 * (backstitch-formats(5), "Deferred stacks: cookies", "Failure modes" and
 * "Deferred stacks: counters"). */
#include <string.h>

#include "tests/truth/truth.h"

/* A counter of one CPU that some record has. */
struct seen {
	int32_t cpu;
	int64_t count;		    /* without its wraps */
	int64_t time;		    /* of the first sight */
	bool late, elsewhere, made; /* made: by its sample, on its CPU */
};

#define SEEN_MAX 65536

static struct seen seen[SEEN_MAX];
static size_t n_seen;

static bool known_before(const struct expect *ex, const struct half *h)
{
	for (const struct half *o = ex->half; o < h; o++)
		if (o->cookie == h->cookie)
			return true;
	return false;
}

/* The largest of the CPU so far; NULL: none. */
static const struct seen *largest(int32_t cpu)
{
	const struct seen *max = NULL;

	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].cpu == cpu && (!max || seen[i].count > max->count))
			max = &seen[i];
	return max;
}

/* Had its capture seen a later one of that CPU? */
static bool model_count_is_late(const struct expect *ex, const struct half *h)
{
	for (const struct half *o = ex->half; o < h; o++)
		if (o->source == h->source &&
		    cookie_cpu(o->cookie) == cookie_cpu(h->cookie) &&
		    (int32_t)(cookie_count(o->cookie) -
			      cookie_count(h->cookie)) > 0)
			return true;
	return false;
}

/* May the stay in the kernel be older than the capture, and its cookie be made
 * for another session? Not if the thread was born in it, or had another cookie
 * before; nor if an older one of that CPU was surely made. */
static bool model_count_may_be_older(const struct list *l,
				     const struct expect *ex,
				     const struct half *h, int32_t cpu)
{
	uint32_t life = ex->life[h->item];
	const struct record *birth =
		life != NOWHERE && ex->lives[life].first != NOWHERE
			? l->at[ex->lives[life].first].rec
			: NULL;

	if (birth && birth->kind == REC_FORK && is_timed(birth) &&
	    !(birth->flags & REC_F_SYNTH))
		return false;
	for (const struct half *o = ex->half; o < h; o++)
		if (life != NOWHERE && ex->life[o->item] == life &&
		    o->cookie != h->cookie)
			return false;
	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].cpu == cpu && seen[i].made)
			return false;
	return true;
}

static void model_count_see(const struct list *l, const struct expect *ex,
			    const struct half *h)
{
	const struct record *r = l->at[h->item].rec;
	uint64_t c = cookie_of(r);
	const struct seen *max = largest(cookie_cpu(c));
	struct seen *s = &seen[n_seen];
	bool newest = true;

	*s = (struct seen){ .cpu = cookie_cpu(c),
			    .count = cookie_count(c),
			    .time = truth_time_of(r),
			    .elsewhere = r->kind == REC_SAMPLE && r->cpu >= 0 &&
					 r->cpu != cookie_cpu(c) };
	if (max) {
		s->count = max->count +
			   (int32_t)(cookie_count(c) - (uint32_t)max->count);
		newest = s->count > max->count;
	}
	s->late = !newest && model_count_is_late(ex, h);
	s->made = r->kind == REC_SAMPLE && newest && !s->elsewhere &&
		  !model_count_may_be_older(l, ex, h, s->cpu);
	n_seen++;
}

/* The next larger one of the same CPU. */
static const struct seen *model_count_next(const struct seen *s)
{
	const struct seen *n = NULL;

	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].cpu == s->cpu && seen[i].count > s->count &&
		    (!n || seen[i].count < n->count))
			n = &seen[i];
	return n;
}

/* Was it surely seen when it was made? Its first sample may be lost where a
 * loss on its CPU began before. */
static bool model_count_surely_made(const struct expect *ex,
				    const struct seen *s)
{
	for (size_t i = 0; i < ex->n_loss; i++)
		if ((ex->loss[i].cpu < 0 || ex->loss[i].cpu == s->cpu) &&
		    ex->loss[i].t0 < s->time)
			return false;
	return s->made;
}

/* When the first counter above s came into sight: those below it were made by
 * then. */
static int64_t seen_above(const struct seen *s)
{
	int64_t t = INT64_MAX;

	for (size_t i = 0; i < n_seen; i++)
		if (seen[i].cpu == s->cpu && seen[i].count > s->count &&
		    seen[i].time < t)
			t = seen[i].time;
	return t;
}

static void count_cpu(struct expect *ex, int32_t cpu)
{
	struct fact_counter c = { .cpu = cpu };
	bool any = false;
	int64_t low = 0;
	int64_t high = 0;

	for (size_t i = 0; i < n_seen; i++) {
		const struct seen *s = &seen[i];

		if (s->cpu != cpu)
			continue;
		const struct seen *n = model_count_next(s);

		if (!any || s->count < low)
			low = s->count;
		if (!any || s->count > high)
			high = s->count;
		any = true;
		c.seen++;
		c.late += s->late;
		c.elsewhere += s->elsewhere;
		if (!n)
			continue;
		c.wraps += (n->count >> 32) != (s->count >> 32);
		if (n->count == s->count + 2)
			continue;
		c.gaps++;
		c.missing += (uint64_t)(n->count - s->count) / 2 - 1;
		mem_grow(ex->gap, ex->cap_gap, ex->n_gap + 1);
		mem_grow(ex->gap_late, ex->cap_gap_late, ex->n_gap + 1);
		ex->gap_late[ex->n_gap] = !model_count_surely_made(ex, s);
		ex->gap[ex->n_gap++] = (struct fact_gap){
			.cpu = cpu,
			.first = (uint32_t)(s->count + 2),
			.n = (uint64_t)(n->count - s->count) / 2 - 1,
			.t0 = s->time,
			.t1 = seen_above(s),
		};
	}
	if (!any)
		return;
	c.first = (uint32_t)low;
	c.last = (uint32_t)high;
	*mem_add(ex->counter, ex->n_counter, ex->cap_counter) = c;
}

/* Is it the first of its capture with that cookie, and no other half there? */
static bool model_count_is_bare(const struct expect *ex, const struct half *h)
{
	for (const struct half *o = ex->half; o < ex->half + ex->n_half; o++)
		if (ex->first[o->item] == ex->first[h->item] &&
		    (o->is_chain != h->is_chain ||
		     (o < h && o->source == h->source)))
			return false;
	return true;
}

/* Distinct cookies that have one half only. */
static void count_halves(struct expect *ex)
{
	for (const struct half *h = ex->half; h < ex->half + ex->n_half; h++) {
		struct expect_session *es = &ex->session[h->source];

		es->has = true;
		if (!model_count_is_bare(ex, h))
			continue;
		if (h->is_chain)
			es->no_sample++;
		else
			es->no_chain++;
	}
}

/* Whose counters they are: who records all CPUs, or has any; the first record
 * decides between equals. Missing ones prove something while it was there. */
static void find_witness(const struct slice *s, const struct list *l,
			 struct expect *ex)
{
	uint16_t first = l->n ? l->at[0].source : 0;
	int best = -1;

	ex->there = TIME_NONE;
	for (uint16_t i = 0; i <= s->pair; i++) {
		uint16_t k = s->pair ? first ^ i : i;
		int points = info_of(s, k)->system_wide == TRI_YES;

		if (!ex->session[k].has || points <= best)
			continue;
		best = points;
		ex->witness = k;
	}
	for (size_t i = 0; s->pair && i < ex->n_half; i++)
		if (ex->half[i].source == ex->witness && ex->there == TIME_NONE)
			ex->there = truth_time_of(l->at[ex->half[i].item].rec);
}

/* When it was last there. */
static int64_t gone(const struct slice *s, const struct list *l,
		    const struct expect *ex)
{
	int64_t t = s->pair ? TIME_NONE : INT64_MAX;

	for (size_t i = 0; s->pair && i < ex->n_half; i++)
		if (ex->half[i].source == ex->witness)
			t = truth_time_of(l->at[ex->half[i].item].rec);
	return t;
}

/* Did another session ask on that CPU; -1: on any? */
static bool model_count_is_foreign(const struct list *l,
				   const struct expect *ex, int32_t cpu)
{
	for (size_t i = 0; i < l->n; i++)
		if (ex->chain[i].has && ex->chain[i].verdict == CHAIN_FOREIGN &&
		    (cpu < 0 || cookie_cpu(cookie_of(l->at[i].rec)) == cpu))
			return true;
	return false;
}

void model_counters(const struct slice *s, const struct list *l,
		    struct expect *ex)
{
	n_seen = 0;
	memset(ex->session, 0, sizeof(ex->session));
	for (size_t i = 0; i < ex->n_half && n_seen < SEEN_MAX; i++)
		if (!known_before(ex, &ex->half[i]))
			model_count_see(l, ex, &ex->half[i]);
	for (int32_t cpu = 0; cpu < 64; cpu++)
		count_cpu(ex, cpu);
	count_halves(ex);
	find_witness(s, l, ex);
	ex->proves = info_of(s, ex->witness)->system_wide == TRI_YES;
	ex->foreign = model_count_is_foreign(l, ex, -1);
	for (size_t i = 0; i < ex->n_gap; i++) {
		struct fact_gap *g = &ex->gap[i];

		ex->session[ex->witness].missing += g->n;
		g->loss = model_any_loss(ex, ex->witness, g->cpu, g->t0, g->t1);
		g->verdict = GAP_UNCOUNTED;
		if (!ex->proves || model_count_is_foreign(l, ex, g->cpu))
			g->verdict = GAP_FOREIGN;
		else if (g->loss != NOWHERE)
			g->verdict = GAP_LOST;
		else if (g->t0 < ex->there || g->t1 > gone(s, l, ex))
			g->verdict = GAP_FOREIGN;
	}
}
