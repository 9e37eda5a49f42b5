/* rules_skew.c - findings about FORK and EXIT that clocks which differ between
 * CPUs explain. */
#include "stitch/audit/rules_skew.h"

#include <stdlib.h>

#include "stitch/audit/audit.h"
#include "stitch/base/losses.h"
#include "stitch/base/saturate.h"
#include "stitch/tasks/task.h"

/* Two records that a thread cannot have in this order: the one of `time` was
 * made before that of `since`, if the clock of its CPU is ahead. Without any
 * loss, that explains more than a record which is missing. */
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

static int skew_compare(const void *a, const void *b)
{
	const struct fact_finding *x = a;
	const struct fact_finding *y = b;
	int64_t s = saturating_apart(x->time, x->since);
	int64_t t = saturating_apart(y->time, y->since);

	return (s > t) - (s < t);
}

/* If counters do not show that clocks differ, the order of FORK and EXIT may.
 * That needs a capture without losses. Some orders may have another reason, so
 * the median is said, and what more than a quarter of them exceed explains the
 * others. */
void skew_by_order(struct audit *au)
{
	for (uint16_t i = 0; i < au->n_src; i++) {
		struct audit_source *as = &au->src[i];
		size_t n = as->n_orders < AUDIT_ORDERS ? as->n_orders
						       : AUDIT_ORDERS;

		if (!n || losses_any(au->losses, i))
			continue;
		qsort(as->order, n, sizeof(*as->order), skew_compare);
		const struct fact_finding *high = &as->order[n * 3 / 4];

		if (!as->skew) {
			as->order[n / 2].n = as->n_orders;
			audit_found(au, &as->order[n / 2], 0);
		}
		if (saturating_apart(high->time, high->since) > as->skew)
			as->skew = saturating_apart(high->time, high->since);
	}
}

/* Returns the rule's newest finding about the thread id, or NULL. */
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

/* Returns how wrong clocks must be to explain that the thread b is replaced by
 * this record; UINT64_MAX: they do not. A child's records may seem older than
 * its FORK. The last records of a thread may seem younger than its EXIT, and
 * then b is no thread at all. Nor is it if its FORK seems younger than the
 * EXIT, and it does nothing. */
uint64_t skew_of_reuse(struct audit *au, const struct audit_in *in,
		       const struct fact_finding *f)
{
	struct audit_source *as = audit_source_of(au, in);
	const struct audit_found_list *fd = &au->found[RULE_AFTER_EXIT];
	const struct thread *b = in->before;
	const struct audit_reuse *re =
		skew_find(as, RULE_AFTER_EXIT, in->rec->tid);

	const struct audit_reuse *fork =
		skew_find(as, RULE_CLOCK_SKEW, in->rec->tid);

	if (fork && fork->time == b->first &&
	    saturating_apart(b->last, b->first) <= CLOCKS_NS)
		return (uint64_t)saturating_apart(fork->time, fork->exit);
	if (b->introduced)
		return UINT64_MAX;
	if (re && re->time == b->first && re->found != UINT32_MAX &&
	    saturating_apart(b->last, fd->at[re->found].f.since) <= CLOCKS_NS) {
		const struct fact_finding *end = &fd->at[re->found].f;

		skew_note_order(as, f, end->cpu, end->since, b->first);
		return (uint64_t)saturating_apart(b->last, end->since);
	}
	if (in->rec->kind != REC_FORK)
		return UINT64_MAX;
	skew_note_order(as, f, in->rec->cpu, b->first, in->time);
	return (uint64_t)saturating_apart(in->time, b->first);
}

/* An EXIT that follows a tid_reused may be the one that was missing there, if
 * clocks differ. */
void skew_note_exit(struct audit *au, const struct audit_in *in)
{
	struct audit_source *as = audit_source_of(au, in);
	struct audit_found_list *fd = &au->found[RULE_TID_REUSED];
	struct audit_reuse *re = skew_find(as, RULE_TID_REUSED, in->rec->tid);

	if (!re || re->exit != TIME_NONE || in->time <= re->time)
		return;
	uint64_t by = (uint64_t)saturating_apart(in->time, re->time);

	re->exit = in->time;
	re->exit_cpu = in->rec->cpu;
	if (re->found != UINT32_MAX && by < fd->at[re->found].key)
		fd->at[re->found].key = by;
}

/* Returns whether clocks that differ explain a finding which is that wrong
 * about the time. They differ by at least what was seen. */
bool skew_explains(const struct audit *au, const struct fact_finding *f,
		   uint64_t by)
{
	int64_t skew = au->src[f->source].skew;

	return skew && by <= 2 * (uint64_t)skew;
}

/* A FORK that follows an after_exit may be the one that was missing there, if
 * clocks differ. */
void skew_note_fork(struct audit *au, const struct audit_in *in, int64_t exit)
{
	struct audit_source *as = audit_source_of(au, in);
	struct audit_found_list *fd = &au->found[RULE_AFTER_EXIT];
	const struct audit_reuse *re =
		skew_find(as, RULE_AFTER_EXIT, in->rec->tid);

	if (exit && saturating_apart(in->time, exit) <= CLOCKS_NS) {
		skew_keep(as, RULE_CLOCK_SKEW, in, UINT32_MAX);
		as->reuse[(as->n_reuses - 1) % AUDIT_REUSES].exit = exit;
	}
	if (!re || re->found == UINT32_MAX || in->time <= re->time ||
	    saturating_apart(in->time, re->time) > CLOCKS_NS)
		return;
	uint64_t by = (uint64_t)saturating_apart(in->time, re->time);

	/* What is already explained by less proves nothing more. */
	if (by >= fd->at[re->found].key)
		return;
	fd->at[re->found].key = by;
	skew_note_order(as, &fd->at[re->found].f, in->rec->cpu, re->time,
			in->time);
}
