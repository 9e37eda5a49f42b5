/* callers.c - which functions led to events. */
#include "analyze/latency/callers.h"

#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct callers {
	struct intern *names;
	struct labels *labels;
	struct stacks *stacks;
	struct wait_causes *words;
	struct table by_stack; /* of name ids, by both halves of the stack */
	struct event_rows events;
};

struct callers *callers_open(struct store *db, struct intern *names,
			     struct err *err)
{
	struct callers *c = mem_new(1, sizeof(*c));
	struct stacks_opts so = { .filter = &filter_none,
				  .gaps = true,
				  .no_groups = true };

	c->names = names;
	so.labels = c->labels = labels_new();
	c->stacks = stacks_load(db, &so, err);
	if (c->stacks)
		c->events = event_rows_open_both(db, EVENT_ROWS_TO_WEIGHT, err);
	if (!c->events.rows) {
		callers_close(c);
		return NULL;
	}
	labels_shorten(c->labels, &so.names);
	c->words = wait_causes_new(c->stacks);
	return c;
}

void callers_close(struct callers *c)
{
	if (!c)
		return;
	wait_causes_free(c->words);
	event_rows_close(&c->events);
	stacks_free(c->stacks);
	labels_free(c->labels);
	table_release(&c->by_stack);
	free(c);
}

int callers_of(struct callers *c, const struct event_row *e, bool kernel,
	       uint32_t *name, struct err *err)
{
	struct offcpu_stack s;
	int rc = offcpu_stack_of(&c->events, e, &s, err);
	uint64_t word[2] = { (uint64_t)s.kraw << 32 | s.uraw, kernel };
	uint64_t hash = hash_u64s(word, 2, 0);
	const struct label *f;
	bool missing;
	char gap[512];

	*name = table_find_hash(&c->by_stack, hash);
	if (rc < 0 || *name != TABLE_NONE)
		return rc < 0 ? -1 : 0;
	f = wait_causes_caller(c->words, s.kraw, s.uraw, kernel, &missing);
	if (missing && f)
		snprintf(gap, sizeof(gap), STACK_NAMES_GAP " < %.400s",
			 f->name);
	*name = intern_add(c->names, !f ? "" : missing ? gap : f->name);
	table_add(&c->by_stack, hash, *name);
	return 0;
}

int callers_stack(struct callers *c, int64_t event, bool kernel,
		  struct label_list *out, struct err *err)
{
	struct offcpu_stack s;
	struct stacks_group g;
	struct event_row e;
	int rc = event_rows_seek(&c->events, event, &e, err);

	if (rc <= 0)
		return rc;
	if (offcpu_stack_of(&c->events, &e, &s, err))
		return -1;
	if (!kernel)
		s.kraw = 0;
	if (!s.kraw && !s.uraw && !s.verdict)
		return 0;
	g = offcpu_group(&s);
	stacks_get(c->stacks, &g, out);
	return 0;
}

const struct label *callers_label(const struct callers *c, uint32_t label)
{
	return labels_get(c->labels, label);
}
