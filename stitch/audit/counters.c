/* counters.c - the per-CPU counters inside cookies, and what is missing.
 *
 * Counters are kept in 64 bits, where they never wrap: a number is taken to be
 * the one nearest to the largest seen so far. Of each CPU, between two calls:
 * every counter from first to last was seen, or is in one of the runs (sorted,
 * none touches another), or was in a run that is given out. */
#include "stitch/audit/counters.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/base/losses.h"
#include "stitch/join/sessions.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "stitch/fact.h"

#define CPU_MAX 65536
/* Runs of a CPU that may still be filled; the older half of more is given
 * out. What fills a run comes soon, or was asleep for long. */
#define RUNS_MAX 1024
/* Where counting starts, and how far it may go either way. */
#define COUNT_BASE ((uint64_t)1 << 62)
#define COUNT_FAR ((uint64_t)1 << 61)

/* Which bits are what. */
struct shape {
	enum cookie_layout layout;
	uint8_t cpu_at, cpu_bits;
	uint8_t count_at, count_bits;
	uint8_t bias; /* the number of CPU 0 */
	uint8_t step; /* 2: counters are odd */
};

static const struct shape shapes[] = {
	{ LAYOUT_KERNEL, 0, 32, 32, 32, 1, 2 },
	{ LAYOUT_KERNEL, 32, 32, 0, 32, 1, 2 },
	{ LAYOUT_CPU48, 48, 16, 0, 48, 0, 1 },
	{ LAYOUT_LOWCPU, 0, 12, 12, 52, 0, 1 },
	{ LAYOUT_PAIR, 0, 32, 32, 32, 0, 1 },
};

#define READINGS 2
#define N_SHAPES (sizeof(shapes) / sizeof(shapes[0]))

/* Missing counters lo, lo + step, ... hi, and when they were given to
 * somebody: after t0, before t1. */
struct run {
	uint64_t lo, hi;
	int64_t t0, t1;
};

struct per_cpu {
	bool any;
	uint64_t first, last; /* the smallest and the largest seen */
	int64_t first_time;   /* when first was seen */
	int64_t made;	      /* when a cookie was last seen to be made here */
	uint64_t seen, late, elsewhere;
	struct run *run;
	size_t n_run, cap_run;
	uint64_t n_out, missing_out; /* given out */
};

/* All cookies of a source in one shape. */
struct reading {
	const struct shape *shape;
	struct per_cpu *cpu;
	size_t n_cpu, cap_cpu;
};

/* What captures of one kernel know together. The first cookies may fit two
 * shapes: the likelier reading is first. None is left once a cookie fits
 * neither. */
struct group {
	bool any;
	int32_t max_cpu; /* of the records */
	struct reading read[READINGS];
	size_t n_read;
	int32_t witness; /* whose numbers they are; -1: not asked so far */
};

struct per_source {
	const struct source_info *info; /* NULL: not known */
	bool any, ended;
	uint16_t line;
	uint16_t head, next; /* its group's; the ring of its sources */
	struct group group;  /* where it is the head */
	struct cookie_totals end;
	int64_t first, last; /* its sights; TIME_NONE */
	uint64_t *newest;    /* when it is not alone: the largest counter that
			      * it has, by CPU and shape */
	size_t n_newest, cap_newest;
};

struct counters {
	struct facts *out;
	struct losses *losses;
	enum cookie_layout layout;
	struct per_source *src;
	size_t n_src, cap_src;
};

const char *cookie_layout_name(unsigned int layout)
{
	static const char *const words[] = {
		[LAYOUT_AUTO] = "auto",	  [LAYOUT_KERNEL] = "kernel",
		[LAYOUT_CPU48] = "cpu48", [LAYOUT_LOWCPU] = "lowcpu",
		[LAYOUT_PAIR] = "pair",	  [LAYOUT_OPAQUE] = "opaque",
	};

	return layout < sizeof(words) / sizeof(words[0]) ? words[layout] : NULL;
}

struct counters *counters_new(struct facts *out, struct losses *ls,
			      enum cookie_layout layout)
{
	struct counters *cs = mem_new(1, sizeof(*cs));

	cs->out = out;
	cs->losses = ls;
	cs->layout = layout;
	return cs;
}

static void drop_reading(struct group *gr, size_t i)
{
	struct reading *rd = &gr->read[i];

	for (size_t k = 0; k < rd->n_cpu; k++)
		free(rd->cpu[k].run);
	free(rd->cpu);
	gr->n_read--;
	memmove(rd, rd + 1, (gr->n_read - i) * sizeof(*rd));
}

void counters_free(struct counters *cs)
{
	if (!cs)
		return;
	for (size_t i = 0; i < cs->n_src; i++) {
		while (cs->src[i].group.n_read)
			drop_reading(&cs->src[i].group, 0);
		free(cs->src[i].newest);
	}
	free(cs->src);
	free(cs);
}

static uint64_t *newest_at(struct per_source *ps, const struct shape *sh,
			   int32_t cpu)
{
	size_t at = (size_t)cpu * N_SHAPES + (size_t)(sh - shapes);

	ps->newest = mem_reach(ps->newest, &ps->n_newest, &ps->cap_newest,
			       at + 1, sizeof(*ps->newest));
	return &ps->newest[at];
}

/* What it has seen while it was alone. */
static void note_newest(struct per_source *ps)
{
	for (size_t i = 0; i < ps->group.n_read; i++) {
		const struct reading *rd = &ps->group.read[i];

		for (size_t k = 0; k < rd->n_cpu; k++)
			*newest_at(ps, rd->shape, (int32_t)k) = rd->cpu[k].last;
	}
}

/* Cookies of other makers than perf have nothing to do with its own. */
static void find_group(struct counters *cs, uint16_t source)
{
	struct per_source *ps = &cs->src[source];

	for (uint16_t i = 0; i < cs->n_src; i++) {
		struct per_source *o = &cs->src[i];

		if (i == source || !o->info || o->line != ps->line ||
		    o->info->cookies != COOKIES_PERF || o->head != i)
			continue;
		if (o->next == i)
			note_newest(o);
		ps->head = i;
		ps->next = o->next;
		o->next = source;
		return;
	}
}

void counters_source(struct counters *cs, uint16_t source,
		     const struct source_info *info, uint16_t line)
{
	cs->src = mem_reach(cs->src, &cs->n_src, &cs->cap_src, source + 1u,
			    sizeof(*cs->src));
	struct per_source *ps = &cs->src[source];

	ps->info = info;
	ps->line = line;
	ps->head = ps->next = source;
	ps->first = ps->last = TIME_NONE;
	ps->group.max_cpu = ps->group.witness = -1;
	if (info->cookies == COOKIES_PERF)
		find_group(cs, source);
}

static struct group *group_of(const struct counters *cs, uint16_t source)
{
	return &cs->src[cs->src[source].head].group;
}

static bool is_alone(const struct counters *cs, uint16_t source)
{
	return cs->src[source].next == source;
}

/* ---- the layout */

static uint64_t bits(uint64_t v, uint8_t at, uint8_t n)
{
	return v >> at & (((uint64_t)1 << n) - 1);
}

static uint64_t count_of(const struct shape *sh, uint64_t cookie)
{
	return bits(cookie, sh->count_at, sh->count_bits);
}

/* CPU numbers may have holes, so that a record may name one that is larger
 * than the number of CPUs. */
static uint64_t cpu_limit(const struct counters *cs, uint16_t source)
{
	int32_t n = cs->src[source].info->cpus_avail;
	int32_t max = group_of(cs, source)->max_cpu;

	if (n <= 0 || n > CPU_MAX)
		return CPU_MAX;
	return (uint64_t)(max < n ? n : max + 1);
}

/* The CPU by this shape; -1: the cookie is none of it. */
static int32_t fit(const struct counters *cs, uint16_t source,
		   const struct shape *sh, uint64_t cookie)
{
	uint64_t cpu = bits(cookie, sh->cpu_at, sh->cpu_bits);

	if (sh->step == 2 && !(count_of(sh, cookie) & 1))
		return -1;
	if (cpu < sh->bias || cpu - sh->bias >= cpu_limit(cs, source))
		return -1;
	return (int32_t)(cpu - sh->bias);
}

/* The shapes that the first cookie fits. Which half of the kernel's pair is
 * the CPU: in a file whose byte order was changed afterwards it is not the one
 * that the order says. Most cookies are first seen on their own CPU. */
static void choose(const struct counters *cs, const struct counters_sight *s)
{
	const struct source_info *info = cs->src[s->source].info;
	struct group *gr = group_of(cs, s->source);
	enum cookie_layout want = cs->layout;
	int best = -1;

	/* ftrace's, as far as they were ever seen, are made otherwise */
	if (want == LAYOUT_AUTO)
		want = info->cookies == COOKIES_PERF ? LAYOUT_KERNEL
						     : LAYOUT_OPAQUE;

	for (size_t i = 0; i < N_SHAPES; i++) {
		const struct shape *sh = &shapes[i];
		int32_t cpu = fit(cs, s->source, sh, s->cookie);
		int points = 0;

		if (sh->layout != want || cpu < 0 || gr->n_read == READINGS)
			continue;
		points += 2 * (cpu == s->cpu);
		points += info->big_endian == (sh->cpu_at != 0);
		if (points > best) {
			best = points;
			gr->read[1] = gr->read[0];
			gr->read[0] = (struct reading){ .shape = sh };
		} else {
			gr->read[1] = (struct reading){ .shape = sh };
		}
		gr->n_read++;
	}
}

int32_t counters_cpu(const struct counters *cs, uint16_t source,
		     uint64_t cookie)
{
	if (source >= cs->n_src || !group_of(cs, source)->n_read)
		return -1;
	return fit(cs, source, group_of(cs, source)->read[0].shape, cookie);
}

/* ---- runs of missing counters */

static uint64_t run_count(const struct shape *sh, const struct run *r)
{
	return (r->hi - r->lo) / sh->step + 1;
}

/* Whether its missing counters could prove anything at all. */
static bool may_prove(const struct source_info *info)
{
	return info->has_time && info->system_wide == TRI_YES &&
	       !info->overwrite && !info->overwrote;
}

/* Whose numbers those of a group are: the same all the time. */
static uint16_t witness_of(struct counters *cs, uint16_t source)
{
	struct group *gr = group_of(cs, source);
	uint16_t head = cs->src[source].head;
	uint16_t i = head;

	if (gr->witness >= 0)
		return (uint16_t)gr->witness;
	do {
		const struct per_source *ps = &cs->src[i];

		if (ps->any && (gr->witness < 0 || may_prove(ps->info)))
			gr->witness = i;
		i = ps->next;
	} while (i != head &&
		 !(gr->witness >= 0 && may_prove(cs->src[gr->witness].info)));
	return gr->witness < 0 ? source : (uint16_t)gr->witness;
}

/* Why missing counters prove nothing; NULL: they do. foreign: chains that
 * somebody else asked for. */
static const char *doubt(struct counters *cs, uint16_t source, uint64_t foreign)
{
	const struct source_info *info = cs->src[source].info;

	if (!group_of(cs, source)->n_read)
		return "the layout of the cookies is not known";
	if (!info->has_time)
		return "records have no times";
	if (info->system_wide == TRI_NO)
		return "only some tasks or CPUs were recorded";
	if (info->system_wide == TRI_UNKNOWN)
		return "it is not known whether all tasks were recorded";
	if (info->overwrite || info->overwrote)
		return "the ring was overwritten";
	if (foreign)
		return "another session asked for stacks too";
	return NULL;
}

/* Of any capture that may have had it, the witness first. */
static uint32_t loss_of(struct counters *cs, uint16_t source, int32_t cpu,
			const struct run *r)
{
	/* TIME_NONE is the smallest number: from the start */
	int64_t to = r->t1 == TIME_NONE ? INT64_MAX : r->t1;
	uint16_t i = source;
	uint32_t loss;

	do {
		loss = cs->src[i].info->has_time
			       ? losses_find(cs->losses, i, cpu, r->t0, to)
			       : losses_any(cs->losses, i);
		i = cs->src[i].next;
	} while (!loss && i != source);
	return loss;
}

/* Was the witness there all the while? Others may have recorded for longer,
 * and nobody knows who asked then. */
static bool was_there(const struct counters *cs, uint16_t source,
		      const struct run *r)
{
	const struct per_source *ps = &cs->src[source];

	return is_alone(cs, source) ||
	       (r->t0 >= ps->first && r->t1 <= ps->last);
}

/* sure: a run that no loss explains is one all the same. Not so before the
 * first request that is surely of this capture: somebody else may have asked
 * before it began, and the chain was written later. */
static void push_run(struct counters *cs, uint16_t source, int32_t cpu,
		     const struct run *r, const char *reason, bool sure)
{
	const struct shape *sh = group_of(cs, source)->read[0].shape;
	struct fact f = { .kind = FACT_GAP };

	f.gap = (struct fact_gap){
		.source = source,
		.cpu = cpu,
		.first = bits(r->lo, 0, sh->count_bits),
		.n = run_count(sh, r),
		.t0 = r->t0,
		.t1 = r->t1,
		.verdict = GAP_FOREIGN,
		.loss = loss_of(cs, source, cpu, r),
	};
	if (!reason && f.gap.loss)
		f.gap.verdict = GAP_LOST;
	else if (!reason && sure && r->t0 != TIME_NONE &&
		 was_there(cs, source, r))
		f.gap.verdict = GAP_UNCOUNTED;
	facts_push(cs->out, &f);
}

/* The older half, by what is known now; the likelier reading is right. */
static void push_half(struct counters *cs, uint16_t source, int32_t cpu)
{
	struct group *gr = group_of(cs, source);
	uint16_t witness = witness_of(cs, source);
	struct per_cpu *pc = &gr->read[0].cpu[cpu];
	size_t n = (pc->n_run + 1) / 2;

	while (gr->n_read > 1)
		drop_reading(gr, 1);

	for (size_t i = 0; i < n; i++) {
		push_run(cs, witness, cpu, &pc->run[i], doubt(cs, witness, 0),
			 false);
		pc->n_out++;
		pc->missing_out += run_count(gr->read[0].shape, &pc->run[i]);
	}
	pc->n_run -= n;
	memmove(pc->run, pc->run + n, pc->n_run * sizeof(*pc->run));
}

static void insert_run(struct per_cpu *pc, size_t at, const struct run *r)
{
	pc->run = mem_grow(pc->run, &pc->cap_run, pc->n_run + 1,
			   sizeof(*pc->run));
	memmove(pc->run + at + 1, pc->run + at,
		(pc->n_run - at) * sizeof(*pc->run));
	pc->run[at] = *r;
	pc->n_run++;
}

/* The first run that ends at e or above. */
static size_t find_run(const struct per_cpu *pc, uint64_t e)
{
	size_t lo = 0;

	for (size_t hi = pc->n_run; lo < hi;) {
		size_t mid = lo + (hi - lo) / 2;

		if (pc->run[mid].hi >= e)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/* A counter that was missing came into sight; false: it was none. */
static bool fill(struct per_cpu *pc, uint64_t e, uint8_t step)
{
	size_t i = find_run(pc, e);

	if (i == pc->n_run || pc->run[i].lo > e)
		return false;
	struct run *r = &pc->run[i];

	if (r->lo == r->hi) {
		pc->n_run--;
		memmove(r, r + 1, (pc->n_run - i) * sizeof(*r));
	} else if (r->lo == e) {
		r->lo += step;
	} else if (r->hi == e) {
		r->hi -= step;
	} else {
		struct run low = *r;

		low.hi = e - step;
		r->lo = e + step;
		insert_run(pc, i, &low);
	}
	return true;
}

/* ---- a cookie is seen */

enum sight {
	SIGHT_AGAIN,
	SIGHT_NEW,  /* the largest so far */
	SIGHT_LATE, /* a larger one was seen before */
};

/* The counter in 64 bits: 0 when it cannot be one. */
static uint64_t extend(const struct shape *sh, const struct per_cpu *pc,
		       uint64_t count)
{
	uint64_t mask = ((uint64_t)1 << sh->count_bits) - 1;

	if (!pc->any)
		return COUNT_BASE + count;
	uint64_t up = (count - pc->last) & mask;
	uint64_t e = up > mask / 2 ? pc->last - (mask + 1 - up) : pc->last + up;

	return e < COUNT_BASE - COUNT_FAR || e > COUNT_BASE + COUNT_FAR ? 0 : e;
}

static enum sight see(struct per_cpu *pc, uint64_t e, uint8_t step,
		      int64_t time)
{
	if (!pc->any) {
		pc->any = true;
		pc->first = pc->last = e;
		pc->first_time = time;
		pc->made = TIME_NONE;
		return SIGHT_NEW;
	}
	if (e > pc->last) {
		const struct run r = { pc->last + step, e - step, pc->made,
				       time };

		if (r.lo <= r.hi)
			insert_run(pc, pc->n_run, &r);
		pc->last = e;
		return SIGHT_NEW;
	}
	if (e < pc->first) {
		const struct run r = { e + step, pc->first - step, TIME_NONE,
				       pc->first_time };

		if (r.lo <= r.hi)
			insert_run(pc, 0, &r);
		pc->first = e;
		pc->first_time = time;
		return SIGHT_LATE;
	}
	return fill(pc, e, step) ? SIGHT_LATE : SIGHT_AGAIN;
}

static struct per_cpu *cpu_at(struct reading *rd, int32_t cpu)
{
	rd->cpu = mem_reach(rd->cpu, &rd->n_cpu, &rd->cap_cpu, (size_t)cpu + 1,
			    sizeof(*rd->cpu));
	return &rd->cpu[cpu];
}

/* Is the first sight of a cookie on its own CPU the sample that made it? A
 * lost one may have been before, unless no loss is as young as the cookie. */
static bool surely_made(const struct counters *cs,
			const struct counters_sight *s,
			const struct per_cpu *pc, int32_t made_on)
{
	int64_t since = s->since > pc->made ? s->since : pc->made;
	uint16_t i = s->source;

	if (!s->is_sample || s->cpu != made_on)
		return false;
	do {
		int64_t lost = losses_newest(cs->losses, i, made_on);

		if (lost != INT64_MIN && lost > since)
			return false;
		i = cs->src[i].next;
	} while (i != s->source);
	return true;
}

/* Has the capture itself seen a later one of that CPU? Records of others may
 * be later only because clocks are apart. */
static bool is_late(struct counters *cs, uint16_t source,
		    const struct shape *sh, int32_t cpu, uint64_t e)
{
	uint64_t *newest;

	if (is_alone(cs, source))
		return true;
	newest = newest_at(&cs->src[source], sh, cpu);
	if (e < *newest)
		return true;
	*newest = e;
	return false;
}

/* As counters_see(). -1: the cookie does not fit this reading. */
static int read_cookie(struct counters *cs, struct reading *rd,
		       const struct counters_sight *s)
{
	int32_t made_on = fit(cs, s->source, rd->shape, s->cookie);

	if (made_on < 0)
		return -1;
	struct per_cpu *pc = cpu_at(rd, made_on);
	uint64_t e = extend(rd->shape, pc, count_of(rd->shape, s->cookie));

	if (!e)
		return -1;
	enum sight got = see(pc, e, rd->shape->step, s->time);
	bool late = is_late(cs, s->source, rd->shape, made_on, e) &&
		    got == SIGHT_LATE;

	if (got == SIGHT_AGAIN)
		return 0;
	pc->seen++;
	/* without times the order is that of the file: it proves nothing */
	if (!cs->src[s->source].info->has_time || s->time == TIME_NONE)
		return 0;
	bool elsewhere = s->is_sample && s->cpu >= 0 && s->cpu != made_on;

	pc->late += late;
	pc->elsewhere += elsewhere;
	if (got == SIGHT_NEW && surely_made(cs, s, pc, made_on))
		pc->made = s->time;
	return s->is_sample && (elsewhere || late);
}

static void note_sight(struct per_source *ps, int64_t time)
{
	ps->any = true;
	if (ps->first == TIME_NONE)
		ps->first = time;
	if (time > ps->last)
		ps->last = time;
}

bool counters_see(struct counters *cs, const struct counters_sight *s)
{
	struct group *gr = group_of(cs, s->source);
	int ret = 0;

	if (s->cpu > gr->max_cpu && s->cpu < CPU_MAX)
		gr->max_cpu = s->cpu;
	if (!gr->any)
		choose(cs, s);
	gr->any = true;
	note_sight(&cs->src[s->source], s->time);
	for (size_t i = gr->n_read; i-- > 0;) {
		ret = read_cookie(cs, &gr->read[i], s);
		if (ret < 0)
			drop_reading(gr, i);
	}
	if (!gr->n_read)
		return false;
	int32_t cpu = fit(cs, s->source, gr->read[0].shape, s->cookie);

	if (gr->read[0].cpu[cpu].n_run >= RUNS_MAX)
		push_half(cs, s->source, cpu);
	return ret > 0;
}

/* ---- the end */

static uint64_t push_cpu(struct counters *cs, uint16_t source, int32_t cpu,
			 const char *reason)
{
	const struct reading *rd = &group_of(cs, source)->read[0];
	const struct shape *sh = rd->shape;
	const struct per_cpu *pc = &rd->cpu[cpu];
	uint64_t missing = pc->missing_out;
	struct fact f = { .kind = FACT_COUNTER };

	for (size_t i = 0; i < pc->n_run; i++) {
		push_run(cs, source, cpu, &pc->run[i], reason, true);
		missing += run_count(sh, &pc->run[i]);
	}
	f.counter = (struct fact_counter){
		.source = source,
		.cpu = cpu,
		.first = bits(pc->first, 0, sh->count_bits),
		.last = bits(pc->last, 0, sh->count_bits),
		.seen = pc->seen,
		.missing = missing,
		.gaps = pc->n_out + pc->n_run,
		.late = pc->late,
		.elsewhere = pc->elsewhere,
		.wraps = (pc->last >> sh->count_bits) -
			 (pc->first >> sh->count_bits),
	};
	facts_push(cs->out, &f);
	return missing;
}

static void push_source(struct counters *cs, uint16_t source, uint64_t foreign)
{
	const struct per_source *ps = &cs->src[source];
	const struct group *gr = group_of(cs, source);
	bool tells = witness_of(cs, source) == source;
	struct fact f = { .kind = FACT_SESSION };

	if (!ps->any)
		return;
	f.session = (struct fact_session){
		.source = source,
		.layout = cookie_layout_name(
			gr->n_read ? gr->read[0].shape->layout : LAYOUT_OPAQUE),
		.reason = "they are counted with another capture's",
		.no_chain = ps->end.no_chain,
		.no_sample = ps->end.no_sample,
	};
	if (tells)
		f.session.reason = doubt(cs, source, foreign);
	for (size_t i = 0; tells && gr->n_read && i < gr->read[0].n_cpu; i++)
		if (gr->read[0].cpu[i].any)
			f.session.missing += push_cpu(cs, source, (int32_t)i,
						      f.session.reason);
	facts_push(cs->out, &f);
}

void counters_end(struct counters *cs, uint16_t source,
		  const struct cookie_totals *end)
{
	uint64_t foreign = 0;
	uint16_t i = source;

	cs->src[source].end = *end;
	cs->src[source].ended = true;
	do {
		if (!cs->src[i].ended)
			return;
		foreign += cs->src[i].end.foreign;
		i = cs->src[i].next;
	} while (i != source);
	i = cs->src[source].head;
	do {
		push_source(cs, i, foreign);
		i = cs->src[i].next;
	} while (i != cs->src[source].head);
}
