/* silent_tasks.c - describes the tasks without records in a capture. */
#include "analyze/causes/silent_tasks.h"

#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "stitch/text/human.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

static void silent_tasks_tell(void *arg, const struct causes *c)
{
	struct silent_tasks *s = arg;
	const struct timeline *t = c->t;
	uint64_t gaps = 0;
	size_t n = t->n_silent;
	FILE *out;

	s->told = t->types & TIMELINE_HAS_SWITCH;
	s->others = t->contradictions;
	for (size_t i = 0; i < n; i++)
		gaps += t->silent[i].gaps;
	if (!n)
		return;
	out = mem_stream(&s->text, NULL);
	fprintf(out,
		"%s record%s nothing, a known fault of guests: %s of %s gaps "
		"%s of %s",
		c->silent, n == 1 ? "s" : "", HUMAN_GROUPED(gaps),
		HUMAN_GROUPED(gaps + s->others), gaps == 1 ? "is" : "are",
		n == 1 ? "it" : "them");
	mem_stream_end(out);
}

int silent_tasks_ask(struct store *db, const char *path, silent_tasks_fn *fn,
		     void *arg, struct err *err)
{
	struct stacks_opts so = { .filter = &filter_none,
				  .labels = labels_new(),
				  .no_groups = true };
	struct stacks *stacks = stacks_load(db, &so, err);
	struct wait_causes *words = stacks ? wait_causes_new(stacks) : NULL;
	struct causes *c = words ? causes_load(db, path, words, err) : NULL;
	int rc = c || (stacks && err->code == ERR_FORMAT) ? 0 : -1;

	if (c)
		fn(arg, c);
	causes_free(c);
	wait_causes_free(words);
	stacks_free(stacks);
	labels_free(so.labels);
	return rc;
}

int silent_tasks_load(struct silent_tasks *s, struct store *db,
		      const char *path, struct err *err)
{
	*s = (struct silent_tasks){ 0 };
	return silent_tasks_ask(db, path, silent_tasks_tell, s, err);
}

void silent_tasks_release(struct silent_tasks *s)
{
	free(s->text);
	*s = (struct silent_tasks){ 0 };
}
