/* found.c - the findings of the rules: which must be there, and which must
 * not. */
#include <inttypes.h>
#include <string.h>

#include "stitch/audit/rules.h"
#include "tests/truth/truth.h"

/* What is asked of one list. */
struct look {
	const struct slice *s;
	const struct change *ch;
	const struct list *l;
	const struct result *got;
	const struct expect *ex;
	struct report *rp;
	size_t matched; /* findings that had to be there */
};

static const char *rule_of(const struct finding_row *f)
{
	return rules[f->f.rule].name;
}

static bool is_done(const struct look *k, enum kind kind)
{
	return k->ch->kinds >> kind & 1;
}

/* There must be one of that rule about that thread (-1: any), at that time. */
static void must_find(struct look *k, const char *rule, int32_t tid,
		      int64_t time)
{
	for (size_t i = 0; i < k->got->n_finding; i++) {
		const struct finding_row *f = &k->got->finding[i];

		if (strcmp(rule_of(f), rule) != 0 || f->f.time != time ||
		    (tid >= 0 && f->tid != tid))
			continue;
		k->matched++;
		return;
	}
	report_add(k->rp, "no finding %s of %d at %" PRId64 "\n", rule,
		   (int)tid, time);
}

/* A life that begins without FORK after an EXIT; clocks of CPUs may explain it
 * as well, and then that is said. */
static void must_find_again(struct look *k, const struct life *lf)
{
	int64_t time = truth_time_of(k->l->at[lf->again_at].rec);

	for (size_t i = 0; i < k->got->n_finding; i++) {
		const struct finding_row *f = &k->got->finding[i];

		if (f->f.rule != RULE_EXIT_ORDER || f->tid != lf->tid ||
		    f->f.time != time)
			continue;
		k->matched++;
		return;
	}
	must_find(k, "after_exit", lf->tid, time);
}

/* A thread id with another life, though no EXIT ended the one before. */
static void look_at_reuse(struct look *k, size_t life)
{
	const struct life *a = &k->ex->lives[life];
	const struct life *b = a + 1;
	const struct life *end = k->ex->lives + k->ex->n_lives;

	while (b < end && b->tid != a->tid)
		b++;
	if (b == end || a->ended || a->last == NOWHERE)
		return;
	const struct record *r = k->l->at[a->last].rec;
	/* of some tasks the FORK may be recorded and the end not */
	bool shows = r->kind != REC_FORK || k->s->info.system_wide == TRI_YES;
	int64_t last = shows ? truth_time_of(r) : TIME_NONE;
	int64_t time = truth_time_of(k->l->at[b->first].rec);

	if (last != TIME_NONE && time > last)
		must_find(k, "tid_reused", a->tid, time);
}

/* More breaks than one in so many switches, without a loss, are a way of the
 * machine. */
#define BREAKS_MAX 20

static bool is_switch(const struct record *r)
{
	return r->kind == REC_SAMPLE && is_timed(r) &&
	       r->sample.sched.kind == SCHED_SWITCH;
}

/* Of some tasks no record ever says that they leave a CPU; each CPU has its
 * own task 0. */
static bool found_leaves(const struct look *k, int32_t tid, int32_t cpu)
{
	for (size_t i = 0; i < k->l->n; i++) {
		const struct record *r = k->l->at[i].rec;

		if (is_switch(r) && r->sample.sched.tid == tid &&
		    (tid || r->cpu == cpu))
			return true;
	}
	return false;
}

static bool is_exec(const struct record *r)
{
	return r->kind == REC_COMM && r->flags & REC_F_EXEC;
}

/* A thread that becomes the first of its process by exec changes its id while
 * it runs, before its COMM tells: may the one that leaves at item `at` be the
 * one that came? */
static bool found_may_be_exec(const struct look *k, size_t at, int32_t came)
{
	const struct record *r = k->l->at[at].rec;
	bool execs = false;

	for (size_t i = at; i < k->l->n; i++)
		execs |= is_exec(k->l->at[i].rec) &&
			 k->l->at[i].rec->tid == r->sample.sched.tid;
	if (r->pid != r->tid || !execs)
		return false;
	execs = true;
	for (size_t i = at; i-- > 0;) {
		const struct record *o = k->l->at[i].rec;

		if (!is_switch(o) || o->sample.sched.tid != came ||
		    (!came && o->cpu != r->cpu))
			continue;
		if (o->pid >= 0)
			return o->pid == r->tid;
		execs = false;
	}
	return execs;
}

/* The records of what a thread does are written by itself, on its CPU. */
static bool found_is_own(const struct record *r)
{
	return r->by > 0 && is_timed(r) && !(r->flags & REC_F_SYNTH) &&
	       !is_exec(r);
}

/* Who is on a CPU, as its records tell so far. */
struct current_thread {
	int32_t tid; /* -1: unknown */
	int64_t since;
	bool odd; /* the thread wrote a record, and nothing says it came */
};

/* Who is on the CPU of item `at` right before it. */
static struct current_thread seat_at(const struct look *k, size_t at)
{
	struct current_thread s = { .tid = -1, .since = TIME_NONE };
	int32_t cpu = k->l->at[at].rec->cpu;

	for (size_t i = 0; i < at; i++) {
		const struct record *r = k->l->at[i].rec;

		if (r->cpu != cpu)
			continue;
		if (is_switch(r))
			s = (struct current_thread){ r->sample.sched.next_tid,
						     truth_time_of(r), false };
		else if (is_exec(r) && s.tid >= 0)
			s = (struct current_thread){ r->tid, truth_time_of(r),
						     s.odd };
		else if (found_is_own(r) && s.tid >= 0 && s.tid != r->by &&
			 !s.odd && truth_time_of(r) > s.since)
			s = (struct current_thread){ r->by, truth_time_of(r),
						     true };
	}
	return s;
}

/* Is there a switch of the CPU behind item `at`? perf starts and stops what
 * threads write before and after the switches. */
static bool switches_behind(const struct look *k, size_t at)
{
	bool found = false;

	for (size_t i = at + 1; i < k->l->n; i++)
		found |= k->l->at[i].rec->cpu == k->l->at[at].rec->cpu &&
			 is_switch(k->l->at[i].rec);
	return found;
}

/* Who came to the CPU of this item is another one than who leaves it, or who
 * wrote it: since when; TIME_NONE: no break. */
static int64_t break_at(const struct look *k, size_t at)
{
	const struct record *r = k->l->at[at].rec;
	struct current_thread s;
	bool odd;

	if (!is_switch(r) && !found_is_own(r))
		return TIME_NONE;
	s = seat_at(k, at);
	odd = is_switch(r) ? s.tid != r->sample.sched.tid &&
				     !found_may_be_exec(k, at, s.tid)
			   : s.tid != r->by && !s.odd && switches_behind(k, at);
	return odd && s.tid >= 0 && s.since < truth_time_of(r) &&
			       found_leaves(k, s.tid, r->cpu)
		       ? s.since
		       : TIME_NONE;
}

/* Consecutive records of a CPU must fit. */
static void look_at_switches(struct look *k)
{
	size_t n = 0;
	size_t odd = 0;

	for (size_t i = 0; i < k->l->n; i++) {
		const struct record *r = k->l->at[i].rec;
		int64_t since = break_at(k, i);

		n += is_switch(r);
		odd += since != TIME_NONE &&
		       model_loss(k->ex, 0, r->cpu, since, truth_time_of(r)) ==
			       NOWHERE;
	}
	for (size_t i = 0; i < k->l->n && odd <= n / BREAKS_MAX; i++)
		if (break_at(k, i) != TIME_NONE)
			must_find(k, "switch_broken", -1,
				  truth_time_of(k->l->at[i].rec));
}

static bool found_is_in(const struct record *map, uint64_t addr)
{
	return addr >= map->map.start && addr - map->map.start < map->map.len;
}

/* The code that the record surely ran; 0: none. */
static uint64_t ran(const struct record *r)
{
	if (r->kind == REC_CHAIN && r->chain.user.n)
		return r->chain.user.ip[0];
	if (r->kind == REC_SAMPLE && r->sample.user.n)
		return r->sample.user.ip[0];
	if (r->kind == REC_SAMPLE && r->flags & REC_F_USER)
		return r->sample.ip;
	return 0;
}

/* Did the code of such a finding lie in the mapping that is gone? The process
 * may be a child of its. */
static bool is_of_map(const struct look *k, const struct finding_row *f)
{
	for (size_t i = 0; i < k->l->n; i++) {
		const struct record *r = k->l->at[i].rec;

		if (truth_time_of(r) == f->f.time && r->tid == f->tid && ran(r))
			return found_is_in(k->ch->gone[0].rec, ran(r));
	}
	return false;
}

/* A mapping is gone: map_lost, if a chain began in it; nothing, if nobody was
 * seen in it. Without a loss it proves nothing, as mremap() does the same; so
 * where the process had run unmapped code before. */
static void look_at_map(struct look *k)
{
	const struct item *gone = &k->ch->gone[0];
	const struct record *first = NULL;
	bool odd = false;
	size_t n = 0;

	for (size_t i = 0; i < k->l->n; i++) {
		const struct record *r = k->l->at[i].rec;
		uint64_t addr = ran(r);

		if (!addr || r->pid != gone->rec->pid ||
		    model_map(k->l, k->ex, i, r->pid, addr))
			continue;
		if (!found_is_in(gone->rec, addr) ||
		    k->l->at[i].origin < gone->origin)
			odd = true;
		else if (!first && r->kind == REC_CHAIN)
			first = r;
	}
	for (size_t i = 0; i < k->got->n_finding; i++) {
		const struct finding_row *f = &k->got->finding[i];

		if (strcmp(rule_of(f), "map_lost") != 0)
			continue;
		n++;
		if (!is_of_map(k, f))
			report_add(k->rp,
				   "map_lost at %" PRId64 ": other code\n",
				   f->f.time);
	}
	if (!n && first && !odd &&
	    model_loss(k->ex, 0, -1, TIME_NONE, truth_time_of(first)) !=
		    NOWHERE)
		report_add(k->rp, "no finding map_lost at %" PRId64 "\n",
			   truth_time_of(first));
}

/* May this kind of change lead to such a finding, where it cannot be said
 * that it must? */
static bool may_find(const struct look *k, const struct finding_row *f)
{
	const char *rule = rule_of(f);
	bool born = is_done(k, CHANGE_FORK) || is_done(k, CHANGE_TID_NEW);
	/* two lives look like one, which has the mappings of the first */
	bool one = is_done(k, CHANGE_TID_NEW) && is_done(k, CHANGE_EXIT);

	if (!strcmp(rule, "map_lost"))
		return f->f.loss && (born || is_done(k, CHANGE_MAP));
	if (!strcmp(rule, "unmapped"))
		return !f->f.loss && (one || is_done(k, CHANGE_MAP));
	if (!strcmp(rule, "fork_lost"))
		return f->f.loss && born;
	if (!strcmp(rule, "wakeup_order") || !strcmp(rule, "wakeup_lost"))
		return k->ch->sched;
	return false;
}

/* Each gap without an explanation is a finding, and nothing else is one of
 * that rule. */
static bool is_gap(const struct look *k, const struct finding_row *f)
{
	for (size_t i = 0; i < k->got->n_gap; i++) {
		const struct fact_gap *g = &k->got->gap[i];

		if (g->verdict == GAP_UNCOUNTED && g->cpu == f->f.cpu &&
		    g->t1 == f->f.time && g->t0 == f->f.since && g->n == f->f.n)
			return true;
	}
	return false;
}

static void look_at_gaps(struct look *k)
{
	size_t n = 0;

	for (size_t i = 0; i < k->got->n_gap; i++)
		n += k->got->gap[i].verdict == GAP_UNCOUNTED;
	for (size_t i = 0; i < k->got->n_finding; i++)
		n -= k->got->finding[i].f.rule == RULE_UNCOUNTED;
	if (n)
		report_add(k->rp, "gaps and findings of them differ\n");
}

static void look_at_finding(struct look *k, const struct finding_row *f)
{
	const char *rule = rule_of(f);
	bool told = false;

	for (size_t i = 0; i < k->got->n_loss; i++)
		told |= k->got->loss[i].id == f->f.loss;
	if (f->f.loss && !told)
		report_add(k->rp, "finding %s: there is no loss %u\n", rule,
			   f->f.loss);
	if (f->f.rule == RULE_UNCOUNTED && is_gap(k, f))
		return;
	if (!strcmp(rule, "tid_reused") || !strcmp(rule, "after_exit") ||
	    !strcmp(rule, "exit_order") || !strcmp(rule, "switch_broken"))
		k->matched--; /* the model knows of all of them */
	else if (!may_find(k, f))
		report_add(k->rp, "finding %s of %d at %" PRId64 "\n", rule,
			   (int)f->tid, f->f.time);
}

void check_found(const struct slice *s, const struct change *ch,
		 const struct result *got, const struct expect *ex,
		 struct report *rp)
{
	struct look k = { s, ch, &ch->list, got, ex, rp, 0 };

	for (size_t i = 0; s->info.whole_tasks && i < ex->n_lives; i++) {
		const struct life *lf = &ex->lives[i];

		look_at_reuse(&k, i);
		if (lf->again)
			must_find_again(&k, lf);
	}
	if (s->info.system_wide == TRI_YES)
		look_at_switches(&k);
	if (ch->kind == CHANGE_MAP)
		look_at_map(&k);
	look_at_gaps(&k);
	for (size_t i = 0; i < got->n_finding; i++)
		look_at_finding(&k, &got->finding[i]);
	if (k.matched)
		report_add(rp,
			   "findings that the model knows not of: %" PRId64
			   "\n",
			   -(int64_t)k.matched);
}
