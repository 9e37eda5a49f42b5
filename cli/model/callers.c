/* callers.c - which functions called what events are of. */
#include "cli/model/callers.h"

#include <stdio.h>
#include <stdlib.h>

#include "cli/model/events.h"
#include "cli/model/filter.h"
#include "cli/model/label.h"
#include "cli/model/stacks.h"
#include "cli/model/wait_cause.h"
#include "schema/db/int_rows.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct callers {
	struct intern *names;
	struct labels *labels;
	struct stacks *stacks;
	struct wait_causes *words;
	struct table by_stack; /* of names, by both halves */
	struct table joined; /* user halves by the events that asked for one */
};

static int callers_read_requests(struct callers *c, struct store *db,
				 struct err *err)
{
	static const char *const column[] = { "event", "uraw" };
	struct int_rows *rows = int_rows_of(db, "request", column, 2, err);
	struct int_row r;

	while (int_rows_step(rows, &r))
		if (r.v[1] > 0 && r.v[1] < UINT32_MAX)
			table_add(&c->joined, hash_u64((uint64_t)r.v[0]),
				  (uint32_t)r.v[1]);
	return int_rows_end(rows, err);
}

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
	if (!c->stacks || callers_read_requests(c, db, err)) {
		callers_close(c);
		return NULL;
	}
	c->words = wait_causes_new(c->stacks);
	return c;
}

void callers_close(struct callers *c)
{
	if (!c)
		return;
	wait_causes_free(c->words);
	stacks_free(c->stacks);
	labels_free(c->labels);
	table_release(&c->by_stack);
	table_release(&c->joined);
	free(c);
}

/* Returns a raw chain's id; 0: it can be none. */
static uint32_t callers_chain(int64_t raw)
{
	return raw > 0 && raw < UINT32_MAX ? (uint32_t)raw : 0;
}

uint32_t callers_of(struct callers *c, const struct event_row *e, bool kernel)
{
	uint32_t joined =
		table_find_hash(&c->joined, hash_u64((uint64_t)e->id));
	uint32_t kraw = callers_chain(e->kraw);
	uint32_t uraw = joined == TABLE_NONE ? callers_chain(e->uraw) : joined;
	uint64_t word[2] = { (uint64_t)kraw << 32 | uraw, kernel };
	uint64_t hash = hash_u64s(word, 2, 0);
	uint32_t id = table_find_hash(&c->by_stack, hash);
	const char *name;
	bool missing;
	char text[512];

	if (id != TABLE_NONE)
		return id;
	name = wait_causes_caller(c->words, kraw, uraw, kernel, &missing);
	if (missing && *name)
		snprintf(text, sizeof(text), STACK_NAMES_GAP " < %.400s", name);
	id = intern_add(c->names, missing && *name ? text : name);
	table_add(&c->by_stack, hash, id);
	return id;
}
