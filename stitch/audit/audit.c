/* audit.c - functions that all rules use, and explanation of findings about
 * FORK and EXIT by clocks that differ between CPUs. */
#include "stitch/audit/audit.h"

#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/join/contradictions.h"
#include "stitch/tasks/task.h"

/* Notes a FORK and an EXIT whose times are in the wrong order. In a capture
 * without losses, clocks that differ explain that better than a missing record
 * does. */
void skew_note_order(struct audit_source *as, const struct fact_finding *f,
		     int32_t cpu, int64_t since, int64_t time)
{
	if (time <= since || saturating_apart(time, since) > CLOCKS_NS ||
	    cpu < 0)
		return;
	if (as->n_orders++ >= AUDIT_ORDERS)
		return;
	as->order[as->n_orders - 1] = (struct fact_finding){
		.rule = RULE_CLOCK_SKEW,
		.source = f->source,
		.time = time,
		.since = since,
		.cpu = cpu,
		.thread = f->thread,
	};
}

COMPARE_FUNCTION(skew_compare, struct fact_finding,
		 compare_numbers(saturating_apart(x->time, x->since),
				 saturating_apart(y->time, y->since)));

/* Notes that the CPU's clock differs from others by the time between the two
 * records of a finding. */
static void audit_note_skew(struct audit *au, const struct fact_finding *f)
{
	struct audit_source *as = &au->src[f->source];
	int64_t skew = saturating_apart(f->time, f->since);

	raise_to(as->skew, skew);
	if (f->cpu >= 0 && (size_t)f->cpu < as->n_cpu &&
	    skew > as->cpu[f->cpu].skew)
		as->cpu[f->cpu].skew = skew;
}

/* If counters do not show that clocks differ, the order of FORK and EXIT may.
 * This needs a capture without losses. Some orders may have another reason, so
 * the median is reported, and a difference that more than a quarter of them
 * exceed explains the others. */
void skew_by_order(struct audit *au)
{
	for (uint16_t i = 0; i < au->n_src; i++) {
		struct audit_source *as = &au->src[i];
		size_t n = as->n_orders < AUDIT_ORDERS ? as->n_orders
						       : AUDIT_ORDERS;

		if (!n || losses_any(au->losses, i))
			continue;
		sort_items(as->order, n, skew_compare);
		if (!as->skew) {
			as->order[n / 2].n = as->n_orders;
			audit_found(au, &as->order[n / 2], 0);
		}
		for (size_t k = 0; k <= n * 3 / 4; k++)
			audit_note_skew(au, &as->order[k]);
	}
}

/* Returns the least ns by which the clock of a CPU differs from others; 0:
 * nothing known. */
static uint64_t skew_of_cpu(const struct audit_source *as, int32_t cpu)
{
	return cpu >= 0 && (size_t)cpu < as->n_cpu ? (uint64_t)as->cpu[cpu].skew
						   : 0;
}

/* Drops findings about two cookies that are so close in time that the clocks of
 * their CPUs may have swapped their order. */
void skew_drop_cookies(struct audit *au)
{
	struct audit_found_list *fd = &au->found[RULE_COOKIE_REUSED];

	for (size_t i = 0; i < fd->n; i++) {
		struct audit_waiting *w = &fd->at[i];
		const struct audit_source *as = &au->src[w->f.source];

		uint64_t skew = skew_of_cpu(as, w->f.cpu);

		for (size_t k = 0; k < 2; k++)
			if (skew_of_cpu(as, w->cpu[k]) > skew)
				skew = skew_of_cpu(as, w->cpu[k]);
		w->dropped |= skew && w->key <= 2 * skew;
	}
}

struct audit_reuse *skew_find(struct audit_source *as, enum rule_number rule,
			      int32_t tid)
{
	for (uint32_t i = 0; i < AUDIT_REUSES && i < as->n_reuses; i++) {
		struct audit_reuse *re =
			&as->reuse[(as->n_reuses - 1 - i) % AUDIT_REUSES];

		if (re->tid == tid && re->rule == rule)
			return re;
	}
	return NULL;
}

/* Returns the finding that a note is about; NULL: none was kept. */
static struct audit_waiting *skew_waiting(struct audit *au,
					  const struct audit_reuse *re)
{
	return re && re->found != UINT32_MAX
		       ? &au->found[re->rule].at[re->found]
		       : NULL;
}

void skew_keep(struct audit_source *as, enum rule_number rule,
	       const struct audit_in *in, uint32_t found)
{
	as->reuse[as->n_reuses++ % AUDIT_REUSES] = (struct audit_reuse){
		.rule = rule,
		.tid = in->rec->tid,
		.time = in->time,
		.exit = TIME_NONE,
		.exit_cpu = -1,
		.found = found,
	};
}

/* Returns by how many ns clocks must differ to explain that this record
 * replaces the thread b; UINT64_MAX: they do not. A child's records may seem
 * older than its FORK. The last records of a thread may seem younger than its
 * EXIT, and then b is no real thread; nor if its FORK seems younger than the
 * EXIT and it has no other record. */
uint64_t skew_of_reuse(struct audit *au, const struct audit_in *in,
		       const struct fact_finding *f)
{
	struct audit_source *as = audit_source_of(au, in);
	const struct thread *b = in->before;
	const struct audit_reuse *re =
		skew_find(as, RULE_AFTER_EXIT, in->rec->tid);
	const struct audit_waiting *exit = skew_waiting(au, re);
	const struct audit_reuse *fork =
		skew_find(as, RULE_CLOCK_SKEW, in->rec->tid);

	if (fork && fork->time == b->first &&
	    saturating_apart(b->last, b->first) <= CLOCKS_NS)
		return (uint64_t)saturating_apart(fork->time, fork->exit);
	if (b->introduced)
		return UINT64_MAX;
	if (exit && re->time == b->first &&
	    saturating_apart(b->last, exit->f.since) <= CLOCKS_NS) {
		skew_note_order(as, f, exit->f.cpu, exit->f.since, b->first);
		return (uint64_t)saturating_apart(b->last, exit->f.since);
	}
	if (in->rec->kind != REC_FORK)
		return UINT64_MAX;
	skew_note_order(as, f, in->rec->cpu, b->first, in->time);
	return (uint64_t)saturating_apart(in->time, b->first);
}

/* Notes an EXIT after a tid_reused finding: it may be the missing one, if
 * clocks differ. */
void skew_note_exit(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	struct audit_reuse *re = skew_find(as, RULE_TID_REUSED, in->rec->tid);
	struct audit_waiting *w = skew_waiting(au, re);

	if (!re || re->exit != TIME_NONE || in->time <= re->time)
		return;
	uint64_t by = (uint64_t)saturating_apart(in->time, re->time);

	re->exit = in->time;
	re->exit_cpu = in->rec->cpu;
	if (w && by < w->key)
		w->key = by;
}

/* Returns whether differing clocks explain a finding that needs a difference of
 * `by` ns. They differ by at least what was seen. */
bool skew_explains(const struct audit *au, const struct fact_finding *f,
		   uint64_t by)
{
	int64_t skew = au->src[f->source].skew;

	return skew && by <= 2 * (uint64_t)skew;
}

void skew_prove(struct audit *au, const struct audit_in *in,
		struct audit_exit *end)
{
	struct audit_waiting *w =
		&au->found[RULE_AFTER_EXIT].at[end->waits - 1];

	if (in->rec->kind == REC_FORK) {
		end->waits = 0;
	} else if (in->rec->cpu == end->cpu ||
		   saturating_apart(in->time, w->f.since) > CLOCKS_NS) {
		w->cpu[0] = -1;
		end->waits = 0;
	}
}

void skew_note_birth(struct audit *au, const struct audit_in *in, int64_t exit)
{
	const struct thread *th = in->thread;

	if (!th || in->rec->flags & REC_F_SYNTH ||
	    (in->before && !in->before->exit_seen) ||
	    (exit && saturating_apart(in->time, exit) <= CLOCKS_NS))
		return;
	audit_source_of(au, in)->birth[th->id % AUDIT_BIRTHS] =
		(struct audit_birth){ th->id, in->rec->cpu, in->time };
}

void skew_note_life(struct audit *au, const struct audit_in *in)
{
	const struct thread *th = in->thread;

	if (!th || th->start == TIME_NONE ||
	    (th->last != TIME_NONE && th->last != th->start))
		return;
	struct audit_source *as = audit_source_of(au, in);
	const struct audit_birth *b = &as->birth[th->id % AUDIT_BIRTHS];

	if (b->thread == th->id)
		clock_bounds_note(&as->bounds, b->cpu, b->time, in->rec->cpu,
				  in->time);
}

void skew_take_bounds(struct audit *au, uint16_t source,
		      const struct clock_bounds *counted)
{
	if (source < au->n_src && counted)
		clock_bounds_join(&au->src[source].bounds, counted);
}

/* Turns after_exit findings that clocks may explain into exit_order: a record
 * that seems younger than its thread's EXIT, on another CPU, is older if the
 * clock of its CPU is ahead. */
void skew_judge(struct audit *au)
{
	struct audit_found_list *fd = &au->found[RULE_AFTER_EXIT];

	for (size_t i = 0; i < au->n_src && fd->n; i++)
		clock_bounds_close(&au->src[i].bounds);
	for (size_t i = 0; i < fd->n; i++) {
		struct audit_waiting *w = &fd->at[i];
		struct fact_finding f = w->f;

		if (w->dropped)
			continue;
		int64_t by = saturating_apart(w->f.time, w->f.since);

		if (w->f.cpu < 0 || w->cpu[0] < 0 || w->f.cpu == w->cpu[0] ||
		    by > CLOCKS_NS ||
		    clock_bounds_most(&au->src[w->f.source].bounds, w->f.cpu,
				      w->cpu[0]) < by)
			continue;
		w->dropped = true;
		f.rule = RULE_EXIT_ORDER;
		audit_found(au, &f, w->key);
	}
}

/* Notes a FORK after an after_exit finding: it may be the missing one, if
 * clocks differ. */
void skew_note_fork(struct audit *au, const struct audit_in *in, int64_t exit)
{
	struct audit_source *as = audit_source_of(au, in);

	if (exit && saturating_apart(in->time, exit) <= CLOCKS_NS) {
		skew_keep(as, RULE_CLOCK_SKEW, in, UINT32_MAX);
		as->reuse[(as->n_reuses - 1) % AUDIT_REUSES].exit = exit;
	}
	const struct audit_reuse *re =
		skew_find(as, RULE_AFTER_EXIT, in->rec->tid);
	struct audit_waiting *w = skew_waiting(au, re);

	if (!w || in->time <= re->time ||
	    saturating_apart(in->time, re->time) > CLOCKS_NS)
		return;
	uint64_t by = (uint64_t)saturating_apart(in->time, re->time);

	/* A finding that a smaller difference explains proves nothing more. */
	if (by >= w->key)
		return;
	w->key = by;
	skew_note_order(as, &w->f, in->rec->cpu, re->time, in->time);
}

/* Most findings of one rule; the others are counted in the last one. */
#define FOUND_MAX 32768

struct audit_cpu *audit_new_cpu(struct audit_source *as, int32_t cpu)
{
	if (cpu < 0 || cpu >= CPUS_MAX)
		return NULL;
	mem_grow(as->cpu, as->cap_cpu, (size_t)cpu + 1);
	while (as->n_cpu < as->cap_cpu && as->n_cpu < CPUS_MAX)
		as->cpu[as->n_cpu++] = (struct audit_cpu){
			.bucket = TIME_NONE,
			.newest = TIME_NONE,
			.event.tid = -1,
			.record.tid = -1,
			.first = TIME_NONE,
			.last = TIME_NONE,
		};
	return &as->cpu[cpu];
}

struct fact_finding audit_finding(const struct audit_in *in, uint32_t rule,
				  int64_t since)
{
	return (struct fact_finding){
		.rule = rule,
		.source = in->rec->source,
		.time = in->time,
		.since = since,
		.cpu = in->rec->cpu,
		.thread = in->thread ? in->thread->id : 0,
		.event = in->event,
		.n = 1,
	};
}

uint32_t audit_found(struct audit *au, const struct fact_finding *f,
		     uint64_t key)
{
	struct audit_found_list *fd = &au->found[f->rule];

	if (fd->n == FOUND_MAX) {
		fd->at[fd->n - 1].f.n++;
		return UINT32_MAX;
	}
	*mem_add(fd->at, fd->n, fd->cap) =
		(struct audit_waiting){ *f, key, { -1, -1 }, false, false };
	return (uint32_t)fd->n - 1;
}

void audit_add(struct audit *au, const struct fact_finding *f,
	       const struct join_clocks *clocks)
{
	uint32_t i = audit_found(au, f, clocks ? clocks->by : UINT64_MAX);

	if (i != UINT32_MAX && clocks)
		memcpy(au->found[f->rule].at[i].cpu, clocks->cpu,
		       sizeof(clocks->cpu));
	if (f->rule == RULE_CLOCK_SKEW)
		audit_note_skew(au, f);
}

uint32_t audit_loss(struct audit *au, const struct fact_finding *f)
{
	enum rule_loss of = au->rules[f->rule].loss;
	uint32_t loss = 0;

	if (of == RULE_LOSS_NONE)
		return 0;
	if (of != RULE_LOSS_ANY)
		loss = losses_find(au->losses, f->source, f->cpu, f->since,
				   f->time);
	if (!loss && of != RULE_LOSS_CPU)
		loss = losses_find(au->losses, f->source, -1, f->since,
				   f->time);
	return loss;
}
