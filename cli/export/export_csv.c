/* export_csv.c - a CSV row for each sample and each loss, in time order. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/events.h"
#include "cli/export/export.h"
#include "cli/model/loss_rows.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/model/stack_cache.h"
#include "cli/model/stacks.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

struct csv {
	FILE *out;
	bool samples;
	struct events *events;
	struct stacks *stacks;
	struct stack_cache *halves;
	struct loss_rows *losses;
	size_t lost;	    /* losses written */
	const char **comm;  /* "pid,tid,name," by comm.id; NULL: not yet made */
	const char **event; /* name by event_type.id */
	struct arena text;
};

static void export_csv_put_text(FILE *out, const char *s)
{
	output_csv_text(out, s, strlen(s));
}

/* Writes nothing if there is no stack: an empty text would be quoted. */
static void export_csv_put_half(void *arg, FILE *out,
				const struct labels *labels,
				const struct label_list *frames, size_t kernel)
{
	char *text = NULL;
	size_t len = 0;
	FILE *folded = mem_stream(&text, &len);

	(void)arg;
	(void)kernel;
	stack_put_folded(folded, labels, frames->label, frames->n);
	mem_stream_end(folded);
	if (len)
		export_csv_put_text(out, text);
	free(text);
}

static void put_known(FILE *out, int64_t v, bool known)
{
	if (known)
		fprintf(out, "%" PRId64, v);
	putc(',', out);
}

/* Closes the stream and returns its text, which lives as long as c. */
static const char *export_csv_keep_text(struct csv *c, FILE *out, char **text)
{
	const char *kept;

	mem_stream_end(out);
	kept = arena_strdup(&c->text, *text);
	free(*text);
	return kept;
}

static const char *comm_text(struct csv *c, int64_t id)
{
	const struct event_comm *comm = events_comm(c->events, id);
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (id < 1 || (uint64_t)id > events_comms(c->events))
		id = 0;
	if (c->comm[id])
		return c->comm[id];
	out = mem_stream(&text, &len);
	put_known(out, comm->pid, comm->pid >= 0);
	put_known(out, comm->tid, comm->tid >= 0);
	export_csv_put_text(out, comm->name);
	putc(',', out);
	c->comm[id] = export_csv_keep_text(c, out, &text);
	return c->comm[id];
}

static const char *event_text(struct csv *c, int64_t id)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out;

	if (c->event[id])
		return c->event[id];
	out = mem_stream(&text, &len);
	export_csv_put_text(out, events_type(c->events, id)->name);
	c->event[id] = export_csv_keep_text(c, out, &text);
	return c->event[id];
}

/* A loss has event_id 0, and weight 0, so that it does not change sums. */
static void export_csv_put_loss(FILE *out, const struct loss_row *l)
{
	char what[64];

	fputs("0,", out);
	put_known(out, l->to, l->has_to);
	put_known(out, l->cpu, l->cpu >= 0);
	snprintf(what, sizeof(what), "[%.50s]", l->what);
	fputs(",,,", out);
	export_csv_put_text(out, what);
	fputs(",0,,,,", out);
	put_known(out, l->n, l->n >= 0);
	fprintf(out, "%" PRIu32 "\n", l->capture);
}

/* Writes losses that ended before that time; NULL: all that remain. */
static void export_csv_put_losses(struct csv *c, const int64_t *time)
{
	for (; c->lost < loss_rows_count(c->losses); c->lost++) {
		const struct loss_row *l = loss_rows_at(c->losses, c->lost);

		if (time && (!l->has_to || l->to > *time))
			break;
		if (l->counts)
			export_csv_put_loss(c->out, l);
	}
}

static void export_csv_put_sample(struct csv *c, const struct event_row *e,
				  uint32_t capture)
{
	const char *verdict = request_verdict_name((unsigned int)e->verdict);
	struct stack_text kernel = stack_cache_event(c->halves, e, HALF_KERNEL);
	struct stack_text user = stack_cache_event(c->halves, e, HALF_USER);

	fprintf(c->out, "%" PRId64 ",", e->id);
	put_known(c->out, e->time, e->timed);
	put_known(c->out, e->cpu, e->on_cpu);
	fputs(comm_text(c, e->comm), c->out);
	fputs(event_text(c, e->type), c->out);
	fprintf(c->out, ",%" PRId64 ",%s,", c->samples ? 1 : e->weight,
		!e->verdict ? ""
		: verdict   ? verdict
			    : "unexplained");
	fwrite(kernel.text, 1, kernel.len, c->out);
	putc(',', c->out);
	fwrite(user.text, 1, user.len, c->out);
	fprintf(c->out, ",0,%" PRIu32 "\n", capture);
}

static int export_csv_put_rows(struct csv *c, struct err *err)
{
	struct event_row e;
	int ret;

	while ((ret = events_next(c->events, &e, err)) > 0 && !out_failed()) {
		const struct event_type *t = events_type(c->events, e.type);

		if (!t->sample)
			continue;
		if (e.timed)
			export_csv_put_losses(c, &e.time);
		export_csv_put_sample(c, &e, t->capture);
	}
	if (ret < 0)
		return -1;
	export_csv_put_losses(c, NULL);
	return 0;
}

static int write_csv(FILE *out, const struct export_request *x, struct err *err)
{
	const struct stacks_opts o = { .by_name = true,
				       .inlined = x->inlined,
				       .no_groups = true };
	struct csv c = { .out = out, .samples = x->samples };
	int rc = -1;

	c.events = events_open(x->db, err);
	if (!c.events)
		goto out;
	c.stacks = stacks_load(x->db, &o, err);
	c.losses = c.stacks ? loss_rows_load(x->db, err) : NULL;
	if (!c.losses)
		goto out;
	c.halves = stack_cache_new(c.stacks, export_csv_put_half, NULL);
	c.comm = mem_new(events_comms(c.events) + 1, sizeof(*c.comm));
	c.event = mem_new(events_types(c.events) + 1, sizeof(*c.event));
	fputs("event_id,time_ns,cpu,pid,tid,comm,event,weight,verdict,kernel,"
	      "user,lost,capture\n",
	      out);
	rc = export_csv_put_rows(&c, err);
out:
	loss_rows_free(c.losses);
	stack_cache_free(c.halves);
	stacks_free(c.stacks);
	events_close(c.events);
	free(c.comm);
	free(c.event);
	arena_release(&c.text);
	return rc;
}

extern const struct exporter export_csv;
const struct exporter export_csv = {
	.summary = "comma-separated values: one row for each sample, with both "
		   "halves of its stack as folded text, and one for each loss",
	.write = write_csv,
};
