/* audit.c - functions that all rules use. */
#include "stitch/audit/audit.h"

#include "stitch/base/losses.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/join/contradictions.h"
#include "stitch/tasks/task.h"

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

void audit_note_skew(struct audit *au, const struct fact_finding *f)
{
	struct audit_source *as = &au->src[f->source];
	int64_t skew = saturating_apart(f->time, f->since);

	raise_to(as->skew, skew);
	if (f->cpu >= 0 && (size_t)f->cpu < as->n_cpu &&
	    skew > as->cpu[f->cpu].skew)
		as->cpu[f->cpu].skew = skew;
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
