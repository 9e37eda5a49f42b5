/* counters.c - finds gaps in the per-CPU counters that cookies contain.
 *
 * Counters are extended to 64 bits, so that they never wrap: the value nearest
 * to the largest one seen is taken. Between two calls, for each CPU: every
 * counter from first to last was seen, or is in one of the runs (sorted, never
 * adjacent), or was in a run that was output. */
#include "stitch/audit/counters.h"

#include "stitch/audit/clock_skew.h"
#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/words.h"
#include "stitch/fact.h"
#include "stitch/fact_queue.h"
#include "stitch/join/sessions.h"
#include "stitch/source.h"

/* Most bits for the CPU: CPU numbers are below 65536. */
#define BITS_MAX 16

WORDS_FUNCTION(cookie_layout_name,
	       unsigned int, [LAYOUT_AUTO] = "auto", [LAYOUT_KERNEL] = "kernel",
	       [LAYOUT_CPU48] = "cpu48", [LAYOUT_LOWCPU] = "lowcpu",
	       [LAYOUT_PAIR] = "pair", [LAYOUT_OPAQUE] = "opaque");

int cookie_layout_parse(const char *word, unsigned int *layout)
{
	const char *low = cookie_layout_name(LAYOUT_LOWCPU);
	unsigned int bits = 0;
	const char *name;

	for (*layout = 0; (name = cookie_layout_name(*layout)); ++*layout)
		if (!strcmp(word, name))
			return 0;
	if (strncmp(word, low, strlen(low)) != 0 || word[strlen(low)] != ':')
		return -1;
	for (word += strlen(low) + 1;
	     *word >= '0' && *word <= '9' && bits <= BITS_MAX; word++)
		bits = bits * 10 + (unsigned int)(*word - '0');
	*layout = LAYOUT_LOWCPU | bits << 8;
	return *word || !bits || bits > BITS_MAX ? -1 : 0;
}

void cookie_shapes(struct cookie_shape *shape, unsigned int layout)
{
	static const struct cookie_shape all[COOKIE_SHAPES] = {
		{ LAYOUT_KERNEL, 0, 32, 32, 32, 1, 2, false },
		{ LAYOUT_KERNEL, 32, 32, 0, 32, 1, 2, false },
		{ LAYOUT_CPU48, 48, 16, 0, 48, 0, 1, true },
		{ LAYOUT_LOWCPU, 0, 12, 12, 52, 0, 1, false },
		{ LAYOUT_PAIR, 0, 32, 32, 32, 0, 1, false },
	};
	uint8_t bits = (uint8_t)(layout >> 8);

	memcpy(shape, all, sizeof(all));
	for (size_t i = 0; bits && i < COOKIE_SHAPES; i++) {
		if (shape[i].layout != LAYOUT_LOWCPU)
			continue;
		shape[i].cpu_bits = shape[i].count_at = bits;
		shape[i].count_bits = (uint8_t)(64 - bits);
	}
}

/* Missing counters lo, lo + step, ... hi, which were assigned after t0 and
 * before t1. */
struct counter_run {
	uint64_t lo, hi;
	int64_t t0, t1;
};

/* Sorted; two runs are never adjacent. All zeros: empty. */
struct counter_runs {
	struct counter_run *at;
	size_t n, cap;
};

/* Inserts a run at this index, which keeps the order. */
static void counter_runs_insert(struct counter_runs *rs, size_t at,
				const struct counter_run *r)
{
	mem_grow(rs->at, rs->cap, rs->n + 1);
	memmove(rs->at + at + 1, rs->at + at, (rs->n - at) * sizeof(*rs->at));
	rs->at[at] = *r;
	rs->n++;
}

/* Removes a counter that is seen now. Returns false if it was not missing. */
static bool counter_runs_fill(struct counter_runs *rs, uint64_t e, uint8_t step)
{
	/* the first run that ends at or above e */
	size_t i = search_where(rs->n, k, rs->at[k].hi >= e);

	if (i == rs->n || rs->at[i].lo > e)
		return false;
	struct counter_run *r = &rs->at[i];

	if (r->lo == r->hi) {
		rs->n--;
		memmove(r, r + 1, (rs->n - i) * sizeof(*r));
	} else if (r->lo == e) {
		r->lo += step;
	} else if (r->hi == e) {
		r->hi -= step;
	} else {
		struct counter_run low = *r;

		low.hi = e - step;
		r->lo = e + step;
		counter_runs_insert(rs, i, &low);
	}
	return true;
}

/* Runs of a CPU that are kept, as late counters may still fill them; if there
 * are more, the older half is output. Such a counter comes soon, unless its
 * thread slept for long. */
#define RUNS_MAX 1024
/* Start value of extended counters, and the greatest distance from it. */
#define COUNT_BASE ((uint64_t)1 << 62)
#define COUNT_FAR ((uint64_t)1 << 61)
/* A counter that carried into the number of its CPU is at most this far from
 * the last one of the CPU before. */
#define CARRY_FAR ((uint64_t)1 << 32)

#define READINGS 2

struct per_cpu {
	bool any;
	uint64_t first, last; /* smallest and largest counter seen */
	int64_t first_time;   /* time when first was seen */
	int64_t made; /* time of the last cookie that was certainly made when
		       * seen */
	uint64_t made_count; /* its counter */
	uint64_t seen, late, elsewhere;
	struct counter_runs runs;
	uint64_t n_out, missing_out; /* runs and counters that were output */
	struct clock_far far;
};

/* The cookies of a source, read with one shape. */
struct reading {
	const struct cookie_shape *shape;
	struct per_cpu *cpu;
	size_t n_cpu, cap_cpu;
};

/* The shared state of captures of one kernel. The first cookies may fit two
 * shapes; the likelier reading is first. No reading is left if a cookie fits
 * none. */
struct group {
	bool any;
	int32_t max_cpu; /* largest CPU of a record */
	struct reading read[READINGS];
	size_t n_read;
	int32_t witness; /* source that the findings are attributed to; -1:
			  * not chosen yet */
};

struct per_source {
	const struct source_info *info; /* NULL: unknown */
	bool any, ended;
	uint16_t line;
	uint16_t head, next; /* head of its group; next source of the group */
	struct group group;  /* valid in the head */
	struct cookie_totals end;
	int64_t first, last; /* times of its first and last cookie; TIME_NONE */
	uint64_t *newest;    /* if not alone: largest counter it has seen, by
			      * CPU and shape */
	size_t n_newest, cap_newest;
	struct clock_skew skew;
	struct clock_bounds bounds;
};

struct counters {
	struct fact_queue *out;
	struct losses *losses;
	enum cookie_layout layout;
	struct cookie_shape shape[COOKIE_SHAPES];
	struct per_source *src;
	size_t n_src, cap_src;
};

struct counters *counters_new(struct fact_queue *out, struct losses *ls,
			      unsigned int layout)
{
	struct counters *cs = mem_new(1, sizeof(*cs));

	cs->out = out;
	cs->losses = ls;
	cs->layout = (enum cookie_layout)(layout & UINT8_MAX);
	cookie_shapes(cs->shape, layout);
	return cs;
}

static void drop_reading(struct group *gr, size_t i)
{
	struct reading *rd = &gr->read[i];

	for (size_t k = 0; k < rd->n_cpu; k++) {
		struct counter_runs *rs = &rd->cpu[k].runs;

		free(rs->at);
		*rs = (struct counter_runs){ 0 };
	}
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
		clock_skew_release(&cs->src[i].skew);
		clock_bounds_release(&cs->src[i].bounds);
	}
	free_all(cs->src, cs);
}

static uint64_t *newest_at(const struct counters *cs, struct per_source *ps,
			   const struct cookie_shape *sh, int32_t cpu)
{
	size_t at = (size_t)cpu * COOKIE_SHAPES + (size_t)(sh - cs->shape);

	return mem_at(ps->newest, ps->n_newest, ps->cap_newest, at);
}

/* Adds a source. One with perf's cookies joins the group of its line: only
 * these are compared with those of other captures. */
void counters_source(struct counters *cs, uint16_t source,
		     const struct source_info *info, uint16_t line)
{
	struct per_source *ps = mem_at(cs->src, cs->n_src, cs->cap_src, source);

	ps->info = info;
	ps->line = line;
	ps->head = ps->next = source;
	ps->first = ps->last = TIME_NONE;
	ps->group.max_cpu = ps->group.witness = -1;
	if (info->cookies != COOKIES_PERF)
		return;
	for (uint16_t i = 0; i < cs->n_src; i++) {
		struct per_source *o = &cs->src[i];

		if (i == source || !o->info || o->line != line ||
		    o->info->cookies != COOKIES_PERF || o->head != i)
			continue;
		/* the newest counters that it has seen while it was alone */
		for (size_t k = 0; o->next == i && k < o->group.n_read; k++) {
			const struct reading *rd = &o->group.read[k];

			for (size_t cpu = 0; cpu < rd->n_cpu; cpu++)
				*newest_at(cs, o, rd->shape, (int32_t)cpu) =
					rd->cpu[cpu].last;
		}
		ps->head = i;
		ps->next = o->next;
		o->next = source;
		return;
	}
}

static struct group *counters_group(const struct counters *cs, uint16_t source)
{
	return &cs->src[cs->src[source].head].group;
}

static bool counters_is_alone(const struct counters *cs, uint16_t source)
{
	return cs->src[source].next == source;
}

static uint64_t extract_bits(uint64_t v, uint8_t at, uint8_t n)
{
	return v >> at & (((uint64_t)1 << n) - 1);
}

static uint64_t count_in_cookie(const struct cookie_shape *sh, uint64_t cookie)
{
	return extract_bits(cookie, sh->count_at, sh->count_bits);
}

/* Returns the CPU of the cookie, or -1 if it does not have this shape. */
static int32_t counters_fit_shape(const struct counters *cs, uint16_t source,
				  const struct cookie_shape *sh,
				  uint64_t cookie)
{
	uint64_t cpu = extract_bits(cookie, sh->cpu_at, sh->cpu_bits);
	/* CPU numbers may have holes, so a record may have a CPU above the
	 * number of CPUs. */
	const int32_t max = counters_group(cs, source)->max_cpu;
	int32_t limit = cs->src[source].info->cpus_avail;

	if (limit <= 0 || limit > CPUS_MAX)
		limit = CPUS_MAX;
	else if (max >= limit)
		limit = max + 1;
	if ((sh->step == 2 && !(count_in_cookie(sh, cookie) & 1)) ||
	    cpu < sh->bias || cpu - sh->bias >= (uint64_t)limit)
		return -1;
	return (int32_t)(cpu - sh->bias);
}

/* Chooses the shapes that the first cookie fits. If a file was converted to
 * another byte order, the half that is the CPU is not the one that the order
 * implies. Most cookies are first seen on their own CPU. */
static void counters_choose_shapes(const struct counters *cs,
				   const struct counters_sight *s)
{
	const struct source_info *info = cs->src[s->source].info;
	struct group *gr = counters_group(cs, s->source);
	enum cookie_layout want = cs->layout;
	int best = -1;

	/* ftrace's cookies, as far as seen, are made in another way */
	if (want == LAYOUT_AUTO)
		want = info->cookies == COOKIES_PERF ? LAYOUT_KERNEL
						     : LAYOUT_OPAQUE;

	for (size_t i = 0; i < COOKIE_SHAPES; i++) {
		const struct cookie_shape *sh = &cs->shape[i];
		int32_t cpu = counters_fit_shape(cs, s->source, sh, s->cookie);
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

static uint64_t run_count(const struct cookie_shape *sh,
			  const struct counter_run *r)
{
	return (r->hi - r->lo) / sh->step + 1;
}

/* Returns whether missing counters could prove a loss at all. */
static bool may_prove(const struct source_info *info)
{
	return info->has_time && info->system_wide == TRI_YES &&
	       !info->overwrite && !info->overwrote;
}

/* Returns the source that the findings of a group are attributed to. */
static uint16_t witness_of(struct counters *cs, uint16_t source)
{
	struct group *gr = counters_group(cs, source);
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

/* Returns why missing counters prove no loss, or NULL if they do. cpu -1: of
 * some CPU. */
static const char *why_no_proof(struct counters *cs, uint16_t source,
				int32_t cpu)
{
	const struct source_info *info = cs->src[source].info;

	if (!counters_group(cs, source)->n_read)
		return "the layout of the cookies is not known";
	if (!info->has_time)
		return "records have no times";
	if (info->system_wide == TRI_NO)
		return "only some tasks or CPUs were recorded";
	if (info->system_wide == TRI_UNKNOWN)
		return "it is not known whether all tasks were recorded";
	if (info->overwrite || info->overwrote)
		return "the ring was overwritten";
	/* Counters that another session requested are missing here, too. */
	uint16_t i = source;

	do {
		const struct cookie_totals *end = &cs->src[i].end;

		if (cpu < 0 ? end->foreign != 0
			    : (size_t)cpu < end->n_foreign_cpu &&
				      end->foreign_cpu[cpu])
			return "another session asked for stacks too";
		i = cs->src[i].next;
	} while (i != source);
	return NULL;
}

/* Returns a loss of any capture that may have had the counter, the witness
 * first. */
static uint32_t run_loss(struct counters *cs, uint16_t source, int32_t cpu,
			 const struct counter_run *r)
{
	/* TIME_NONE is the smallest number, so it means from the start */
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

/* Looks for a capture of the group that recorded throughout a run and may prove
 * a loss, beginning with *source, and stores it there. Returns false if there
 * is none: it is then unknown who asked, as before a capture or after it. */
static bool find_recorded(const struct counters *cs, uint16_t *source,
			  const struct counter_run *r)
{
	uint16_t i = *source;

	if (counters_is_alone(cs, i))
		return true;
	do {
		const struct per_source *ps = &cs->src[i];

		if (r->t0 >= ps->first && r->t1 <= ps->last &&
		    (i == *source || may_prove(ps->info))) {
			*source = i;
			return true;
		}
		i = ps->next;
	} while (i != *source);
	return false;
}

/* Outputs a run. One that no loss explains proves that records vanished, if it
 * follows the first request that was certainly made while this capture ran:
 * before that, another session may have asked, with the chain written later.
 * sure: all losses are known. */
static void push_run(struct counters *cs, uint16_t source, int32_t cpu,
		     const struct counter_run *r, const char *reason, bool sure)
{
	const struct cookie_shape *sh =
		counters_group(cs, source)->read[0].shape;
	struct fact f = { .kind = FACT_GAP };
	const bool recorded = find_recorded(cs, &source, r);

	f.gap = (struct fact_gap){
		.source = source,
		.cpu = cpu,
		.first = extract_bits(r->lo, 0, sh->count_bits),
		.n = run_count(sh, r),
		.t0 = r->t0,
		.t1 = r->t1,
		.verdict = GAP_FOREIGN,
		.loss = run_loss(cs, source, cpu, r),
	};
	if (!reason && f.gap.loss)
		f.gap.verdict = GAP_LOST;
	else if (!reason && sure && r->t0 != TIME_NONE && recorded)
		f.gap.verdict = GAP_UNCOUNTED;
	*fact_queue_add(cs->out) = f;
	if (f.gap.verdict != GAP_UNCOUNTED)
		return;
	/* a gap that nothing explains is a finding as well */
	*fact_queue_add(cs->out) = (struct fact){
		.kind = FACT_FINDING,
		.finding = {
			.rule = RULE_UNCOUNTED,
			.source = source,
			.time = r->t1,
			.since = r->t0,
			.cpu = cpu,
			.n = f.gap.n,
		},
	};
}

/* Outputs the older half of the runs; only the likelier reading remains. */
static void push_older_runs(struct counters *cs, uint16_t source, int32_t cpu)
{
	struct group *gr = counters_group(cs, source);
	uint16_t witness = witness_of(cs, source);
	struct per_cpu *pc = &gr->read[0].cpu[cpu];
	size_t n = (pc->runs.n + 1) / 2;

	while (gr->n_read > 1)
		drop_reading(gr, 1);

	for (size_t i = 0; i < n; i++) {
		push_run(cs, witness, cpu, &pc->runs.at[i],
			 why_no_proof(cs, witness, cpu), false);
		pc->n_out++;
		pc->missing_out +=
			run_count(gr->read[0].shape, &pc->runs.at[i]);
	}
	pc->runs.n -= n;
	memmove(pc->runs.at, pc->runs.at + n,
		pc->runs.n * sizeof(*pc->runs.at));
}

enum sight {
	SIGHT_AGAIN,
	SIGHT_NEW,  /* larger than all before */
	SIGHT_LATE, /* a larger one was seen before */
};

/* Notes a counter of a CPU, and which ones are missing before it. */
static enum sight counters_see_count(struct per_cpu *pc, uint64_t e,
				     uint8_t step, int64_t time)
{
	if (!pc->any) {
		pc->any = true;
		pc->first = pc->last = e;
		pc->first_time = time;
		pc->made = TIME_NONE;
		return SIGHT_NEW;
	}
	if (e > pc->last) {
		const struct counter_run r = { pc->last + step, e - step,
					       pc->made, time };

		if (r.lo <= r.hi)
			counter_runs_insert(&pc->runs, pc->runs.n, &r);
		pc->last = e;
		return SIGHT_NEW;
	}
	if (e < pc->first) {
		const struct counter_run r = { e + step, pc->first - step,
					       TIME_NONE, pc->first_time };

		if (r.lo <= r.hi)
			counter_runs_insert(&pc->runs, 0, &r);
		pc->first = e;
		pc->first_time = time;
		return SIGHT_LATE;
	}
	return counter_runs_fill(&pc->runs, e, step) ? SIGHT_LATE : SIGHT_AGAIN;
}

/* Returns whether a cookie, first seen on its own CPU, was made by that sample.
 * An earlier sample may be lost, unless no loss is as recent as the cookie. If
 * nothing in the capture precedes the cookie, its stay may have begun earlier:
 * then another session asked for it, as a stay has one cookie. */
static bool is_surely_made(const struct counters *cs,
			   const struct counters_sight *s,
			   const struct per_cpu *pc, int32_t made_on)
{
	int64_t since = s->since > pc->made ? s->since : pc->made;
	uint16_t i = s->source;

	if (!s->is_sample || s->cpu != made_on || since == TIME_NONE)
		return false;
	do {
		int64_t lost = losses_newest(cs->losses, i, made_on);

		if (lost != INT64_MIN && lost > since)
			return false;
		i = cs->src[i].next;
	} while (i != s->source);
	return true;
}

/* Returns the distance of the counter from the largest one seen; the largest
 * distance if none was seen. */
static uint64_t count_distance(const struct cookie_shape *sh,
			       const struct per_cpu *pc, uint64_t count)
{
	uint64_t mask = ((uint64_t)1 << sh->count_bits) - 1;
	uint64_t up = (count - pc->last) & mask;

	if (!pc->any)
		return mask;
	return up > mask / 2 ? mask + 1 - up : up;
}

/* Returns the CPU that made a cookie which reads as one of `cpu`: a counter
 * that carried reads as one of the next CPU. The right CPU is the one whose
 * counters are near. */
static int32_t carried_from(const struct reading *rd, int32_t cpu,
			    uint64_t cookie)
{
	static const struct per_cpu none = { .any = false };
	uint64_t count = count_in_cookie(rd->shape, cookie);

	if (!rd->shape->carries || cpu < 1 || (size_t)cpu > rd->n_cpu ||
	    !rd->cpu[cpu - 1].any)
		return cpu;
	const struct per_cpu *own =
		(size_t)cpu < rd->n_cpu ? &rd->cpu[cpu] : &none;
	uint64_t far = count_distance(rd->shape, &rd->cpu[cpu - 1], count);

	return far < CARRY_FAR && far < count_distance(rd->shape, own, count)
		       ? cpu - 1
		       : cpu;
}

int32_t counters_cpu(const struct counters *cs, uint16_t source,
		     uint64_t cookie)
{
	if (source >= cs->n_src || !counters_group(cs, source)->n_read)
		return -1;
	const struct reading *rd = &counters_group(cs, source)->read[0];
	int32_t cpu = counters_fit_shape(cs, source, rd->shape, cookie);

	return cpu < 0 ? cpu : carried_from(rd, cpu, cookie);
}

/* Compares the time of a counter with those of other CPUs. */
static void compare_clocks(struct counters *cs, const struct counters_sight *s,
			   struct per_cpu *pc, int32_t made_on, uint64_t e,
			   enum sight got)
{
	struct clock_far *far = &pc->far;

	if (s->cpu < 0 || s->late || !counters_is_alone(cs, s->source))
		return;
	if (s->cpu != made_on) {
		if (pc->made != TIME_NONE && e >= pc->made_count)
			clock_bounds_note(&cs->src[s->source].bounds, made_on,
					  pc->made, s->cpu, s->time);
		if (e > far->count)
			*far = (struct clock_far){
				.count = e,
				.time = s->time,
				.cpu = s->cpu,
				.unmade = s->is_sample && got == SIGHT_NEW,
			};
		return;
	}
	if (!s->is_sample || (e < far->count ? got != SIGHT_LATE
					     : e != far->count || !far->unmade))
		return;
	clock_skew_add(&cs->src[s->source].skew, made_on, s->time, far);
	if (e == far->count)
		far->unmade = false;
}

int counters_next_skew(struct counters *cs, uint16_t source,
		       const struct cookie_totals *end, struct fact_finding *f)
{
	/* The counter may have been made by a lost sample or by another
	 * session; then this record is a later one. */
	if (losses_any(cs->losses, source) || end->foreign ||
	    !clock_skew_take(&cs->src[source].skew, f))
		return 0;
	f->source = source;
	return 1;
}

const struct clock_bounds *counters_bounds(const struct counters *cs,
					   uint16_t source,
					   const struct cookie_totals *end)
{
	return source < cs->n_src && !end->foreign ? &cs->src[source].bounds
						   : NULL;
}

/* Like counters_see(). Returns -1 if the cookie does not have this shape. */
static int read_cookie(struct counters *cs, struct reading *rd,
		       const struct counters_sight *s)
{
	int32_t made_on =
		counters_fit_shape(cs, s->source, rd->shape, s->cookie);

	if (made_on < 0)
		return -1;
	made_on = carried_from(rd, made_on, s->cookie);
	struct per_cpu *pc = mem_at(rd->cpu, rd->n_cpu, rd->cap_cpu, made_on);
	const uint64_t mask = ((uint64_t)1 << rd->shape->count_bits) - 1;
	const uint64_t count = count_in_cookie(rd->shape, s->cookie);
	uint64_t e = COUNT_BASE + count; /* extended to 64 bits */

	if (pc->any) {
		uint64_t up = (count - pc->last) & mask;

		e = up > mask / 2 ? pc->last - (mask + 1 - up) : pc->last + up;
		if (e < COUNT_BASE - COUNT_FAR || e > COUNT_BASE + COUNT_FAR)
			return -1;
	}
	enum sight got = counters_see_count(pc, e, rd->shape->step, s->time);
	if (cs->src[s->source].info->has_time && s->time != TIME_NONE &&
	    rd == counters_group(cs, s->source)->read)
		compare_clocks(cs, s, pc, made_on, e, got);
	/* Has this capture seen a later counter of the CPU? A record of another
	 * capture may seem later because clocks differ. */
	bool late = got == SIGHT_LATE;

	if (!counters_is_alone(cs, s->source)) {
		uint64_t *newest =
			newest_at(cs, &cs->src[s->source], rd->shape, made_on);

		late &= e < *newest;
		raise_to(*newest, e);
	}
	/* a counter of a run that was output was not seen before */
	if (got == SIGHT_AGAIN)
		return pc->n_out ? 0 : COUNTER_AGAIN;
	pc->seen++;
	/* without times, the file order proves nothing */
	if (!cs->src[s->source].info->has_time || s->time == TIME_NONE)
		return 0;
	bool elsewhere = s->is_sample && s->cpu >= 0 && s->cpu != made_on;

	pc->late += late;
	pc->elsewhere += elsewhere;
	if (got == SIGHT_NEW && is_surely_made(cs, s, pc, made_on)) {
		pc->made = s->time;
		pc->made_count = e;
	}
	return s->is_sample && (elsewhere || late) ? COUNTER_FIRST_LOST : 0;
}

unsigned int counters_see(struct counters *cs, const struct counters_sight *s)
{
	struct group *gr = counters_group(cs, s->source);
	int ret = 0;

	if (s->cpu > gr->max_cpu && s->cpu < CPUS_MAX)
		gr->max_cpu = s->cpu;
	if (!gr->any)
		counters_choose_shapes(cs, s);
	gr->any = true;
	struct per_source *ps = &cs->src[s->source];

	ps->any = true;
	if (ps->first == TIME_NONE)
		ps->first = s->time;
	raise_to(ps->last, s->time);
	for (size_t i = gr->n_read; i-- > 0;) {
		ret = read_cookie(cs, &gr->read[i], s);
		if (ret < 0)
			drop_reading(gr, i);
	}
	if (!gr->n_read)
		return 0;
	int32_t cpu = counters_cpu(cs, s->source, s->cookie);

	if (gr->read[0].cpu[cpu].runs.n >= RUNS_MAX)
		push_older_runs(cs, s->source, cpu);
	return ret > 0 ? (unsigned int)ret : 0;
}

/* Outputs a CPU's remaining gaps and totals. Returns the number missing. */
static uint64_t push_cpu_counters(struct counters *cs, uint16_t source,
				  int32_t cpu)
{
	const char *reason = why_no_proof(cs, source, cpu);
	const struct reading *rd = &counters_group(cs, source)->read[0];
	const struct cookie_shape *sh = rd->shape;
	const struct per_cpu *pc = &rd->cpu[cpu];
	uint64_t missing = pc->missing_out;
	struct fact f = { .kind = FACT_COUNTER };

	for (size_t i = 0; i < pc->runs.n; i++) {
		push_run(cs, source, cpu, &pc->runs.at[i], reason, true);
		missing += run_count(sh, &pc->runs.at[i]);
	}
	f.counter = (struct fact_counter){
		.source = source,
		.cpu = cpu,
		.first = extract_bits(pc->first, 0, sh->count_bits),
		.last = extract_bits(pc->last, 0, sh->count_bits),
		.seen = pc->seen,
		.missing = missing,
		.gaps = pc->n_out + pc->runs.n,
		.late = pc->late,
		.elsewhere = pc->elsewhere,
		.wraps = (pc->last >> sh->count_bits) -
			 (pc->first >> sh->count_bits),
	};
	*fact_queue_add(cs->out) = f;
	return missing;
}

void counters_end(struct counters *cs, uint16_t source,
		  const struct cookie_totals *end)
{
	uint16_t i = source;

	cs->src[source].end = *end;
	cs->src[source].ended = true;
	do {
		if (!cs->src[i].ended)
			return;
		i = cs->src[i].next;
	} while (i != source);
	/* outputs the summary of each source that has cookies */
	const uint16_t head = cs->src[source].head;
	const struct group *gr = counters_group(cs, source);

	i = head;
	do {
		const struct per_source *ps = &cs->src[i];
		const bool tells = witness_of(cs, i) == i;
		struct fact f = { .kind = FACT_SESSION };

		f.session = (struct fact_session){
			.source = i,
			.layout = cookie_layout_name(
				gr->n_read ? gr->read[0].shape->layout
					   : LAYOUT_OPAQUE),
			.reason = tells ? why_no_proof(cs, i, -1)
					: "counted together with another "
					  "capture",
			.no_chain = ps->end.no_chain,
			.no_sample = ps->end.no_sample,
		};
		for (size_t k = 0;
		     ps->any && tells && gr->n_read && k < gr->read[0].n_cpu;
		     k++)
			if (gr->read[0].cpu[k].any)
				f.session.missing +=
					push_cpu_counters(cs, i, (int32_t)k);
		if (ps->any)
			*fact_queue_add(cs->out) = f;
		i = ps->next;
	} while (i != head);
}
