/* model_count.c - what must be said of the counters in cookies (formats.md
 * C.2, C.5 and C.6). */
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

static void see(const struct record *r)
{
	uint64_t c = cookie_of(r);
	const struct seen *max = largest(cookie_cpu(c));
	struct seen *s = &seen[n_seen];

	*s = (struct seen){ .cpu = cookie_cpu(c),
			    .count = cookie_count(c),
			    .time = time_of(r),
			    .elsewhere = r->kind == REC_SAMPLE && r->cpu >= 0 &&
					 r->cpu != cookie_cpu(c) };
	if (max) {
		s->count = max->count +
			   (int32_t)(cookie_count(c) - (uint32_t)max->count);
		s->late = s->count < max->count;
	}
	s->made = r->kind == REC_SAMPLE && !s->late && !s->elsewhere;
	n_seen++;
}

/* The next larger one of the same CPU. */
static const struct seen *next(const struct seen *s)
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
static bool surely_made(const struct expect *ex, const struct seen *s)
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
		const struct seen *n = next(s);

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
		ex->gap = mem_grow(ex->gap, &ex->cap_gap, ex->n_gap + 1,
				   sizeof(*ex->gap));
		ex->gap_late = mem_grow(ex->gap_late, &ex->cap_gap_late,
					ex->n_gap + 1, sizeof(bool));
		ex->gap_late[ex->n_gap] = !surely_made(ex, s);
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
	ex->counter = mem_grow(ex->counter, &ex->cap_counter, ex->n_counter + 1,
			       sizeof(*ex->counter));
	ex->counter[ex->n_counter++] = c;
}

/* Distinct cookies that have one half only. */
static void count_halves(const struct list *l, struct expect *ex)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct record *r = l->at[i].rec;

		if (ex->first[i] != i)
			continue;
		if (r->kind == REC_CHAIN && !ex->chain[i].n_events)
			ex->session.no_sample++;
		if (r->kind == REC_SAMPLE && ex->request[i].chain == NOWHERE)
			ex->session.no_chain++;
	}
}

void model_counters(const struct slice *s, const struct list *l,
		    struct expect *ex)
{
	n_seen = 0;
	ex->session = (struct fact_session){ 0 };
	ex->proves = s->info.system_wide == TRI_YES;
	for (size_t i = 0; i < ex->n_half && n_seen < SEEN_MAX; i++)
		if (!known_before(ex, &ex->half[i]))
			see(l->at[ex->half[i].item].rec);
	for (int32_t cpu = 0; cpu < 64; cpu++)
		count_cpu(ex, cpu);
	count_halves(l, ex);
	for (size_t i = 0; i < l->n; i++)
		if (ex->chain[i].has && ex->chain[i].verdict == CHAIN_FOREIGN)
			ex->proves = false;
	for (size_t i = 0; i < ex->n_gap; i++) {
		struct fact_gap *g = &ex->gap[i];

		ex->session.missing += g->n;
		g->loss = model_loss(ex, g->cpu, g->t0, g->t1);
		g->verdict = !ex->proves	  ? GAP_FOREIGN
			     : g->loss != NOWHERE ? GAP_LOST
						  : GAP_UNCOUNTED;
	}
}
