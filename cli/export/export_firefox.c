/* export_firefox.c - a profile for the Firefox Profiler.
 *
 * The profile has a thread for each use of a thread id, with its samples in
 * time order. The format needs each thread as a whole, in columns, while events
 * come in time order: samples are put into a spool, linked by thread. */
#include <stdlib.h>
#include <string.h>

#include "cli/samples/code.h"
#include "cli/names/code_place.h"
#include "cli/samples/events.h"
#include "cli/export/export.h"
#include "cli/export/firefox/firefox.h"
#include "cli/export/firefox/firefox_out.h"
#include "cli/export/firefox/firefox_threads.h"
#include "cli/stacks/label.h"
#include "cli/samples/loss_rows.h"
#include "cli/stacks/stacks.h"
#include "cli/waits/waits.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/intern.h"
#include "stitch/verdict.h"

struct job {
	FILE *out;
	const struct export_request *x;
	struct stacks *s;
	const struct known_code *c; /* of s */
	struct code_places *places;
	struct firefox *f;
	struct firefox_threads *threads;
	struct loss_rows *losses;
	struct events *events;
	bool *wanted; /* by event_type.id */
	struct label_list l;
	struct intern known; /* both raw chains, verdict and flags */
	uint32_t *stack;     /* of those */
	size_t n_stack, cap_stack;
	uint64_t weight, samples;
	bool weighted; /* some sample has a weight other than 1 */
};

/* ---- samples */

static uint32_t stack_of(struct job *j, const struct event_row *e)
{
	const struct stacks_group g = {
		.kraw = e->kraw > 0 ? (uint32_t)e->kraw : 0,
		.uraw = e->uraw > 0 ? (uint32_t)e->uraw : 0,
		.verdict = (uint8_t)e->verdict,
		.flags = (uint8_t)(e->flags & VERDICT_EXEC),
	};
	const uint32_t key[] = { g.kraw, g.uraw,
				 (uint32_t)g.verdict << 8 | g.flags };
	uint32_t id = intern_add_bytes(&j->known, key, sizeof(key));

	if (id < j->n_stack)
		return j->stack[id];
	j->l.n = 0;
	stacks_get(j->s, &g, &j->l);
	if (!j->l.n)
		label_list_add(&j->l,
			       labels_add_name(stacks_labels(j->s),
					       LABEL_MISSING, "[no stack]"));
	*mem_add(j->stack, j->n_stack, j->cap_stack) =
		firefox_stack(j->f, &j->l);
	return j->stack[id];
}

static int take_events(struct job *j, struct err *err)
{
	struct event_row e;
	int rc;

	while ((rc = events_next(j->events, &e, err)) > 0) {
		uint64_t weight;

		if (e.type < 1 || (size_t)e.type > events_types(j->events))
			continue;
		if (!j->wanted[e.type])
			continue;
		weight = j->x->samples ? 1 : (uint64_t)e.weight;
		j->samples++;
		j->weighted |= weight != 1;
		if (__builtin_add_overflow(j->weight, weight, &j->weight))
			j->weight = UINT64_MAX;
		if (firefox_sample(j->threads, &e,
				   events_comm(j->events, e.comm),
				   stack_of(j, &e), weight, err))
			return -1;
	}
	return rc;
}

/* Waits are markers. */
static int take_waits(struct job *j, struct err *err)
{
	const struct waits_ask ask = { .filter = j->x->filter, .any = true };
	struct waits *w = waits_open(j->x->db, j->x->path, &ask, err);
	struct waits_item item;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0) {
		const struct event_comm *comm =
			events_comm(j->events, item.wait.at.comm);

		if (firefox_wait(j->threads, &item.wait, comm, err)) {
			rc = -1;
			break;
		}
	}
	waits_close(w, NULL);
	return rc;
}

/* ---- all of it */

/* Events with the same name in several captures are one event. */
static void export_firefox_choose_event(struct job *j, int event)
{
	size_t n = events_types(j->events);

	j->wanted = mem_new(n + 1, sizeof(*j->wanted));
	for (size_t i = 1; i <= n; i++) {
		const struct event_type *t = events_type(j->events, (int64_t)i);

		j->wanted[i] =
			t->sample &&
			(event < 0 ||
			 !strcmp(t->name,
				 stacks_event(j->s, (size_t)event)->name));
	}
}

static int export_firefox_write_all(struct job *j, struct err *err)
{
	int event = stacks_choose(j->s, "exporting");
	const char *unit = stacks_unit(j->s, event, j->x->samples);
	struct firefox_doc d = {
		.path = j->x->path,
		.event = event < 0 ? "several events"
				   : stacks_event(j->s, (size_t)event)->name,
		.is_time = !strcmp(unit, "ns"),
	};

	export_firefox_choose_event(j, event);
	firefox_name_threads(j->threads, j->events);
	if (take_events(j, err) || take_waits(j, err))
		return -1;
	j->losses = loss_rows_load(j->x->db, j->x->filter, err);
	if (!j->losses)
		return -1;
	for (size_t i = 0; i < loss_rows_count(j->losses); i++) {
		if (firefox_loss(j->threads, loss_rows_at(j->losses, i), err))
			return -1;
	}
	d.weighted = j->weighted;
	d.samples = j->samples;
	d.weight = j->weight;
	d.f = j->f;
	d.threads = j->threads;
	return firefox_write(j->out, j->x->db, &d, err);
}

static int export_firefox_load(struct job *j, struct err *err)
{
	const struct stacks_opts o = { .filter = j->x->filter,
				       .gaps = true,
				       .inlined = j->x->inlined,
				       .samples = j->x->samples,
				       .code = CODE_ALL & ~CODE_ADDRS };

	j->s = stacks_load(j->x->db, &o, err);
	if (!j->s)
		return -1;
	j->c = stacks_code(j->s);
	j->places = code_places_load(j->x->db, j->c, err);
	if (!j->places)
		return -1;
	j->f = firefox_new(j->c, j->places, stacks_labels(j->s));
	j->threads = firefox_threads_new(j->x->db, err);
	if (!j->threads)
		return -1;
	j->events = events_open(j->x->db, j->x->filter, err);
	if (!j->events)
		return -1;
	return 0;
}

static int write_firefox(FILE *out, const struct export_request *x,
			 struct err *err)
{
	struct job j = { .out = out, .x = x, .l.want_from = true };
	int rc = export_firefox_load(&j, err);

	if (!rc)
		rc = export_firefox_write_all(&j, err);
	events_close(j.events);
	loss_rows_free(j.losses);
	firefox_threads_free(j.threads);
	firefox_free(j.f);
	code_places_free(j.places);
	stacks_free(j.s);
	intern_release(&j.known);
	free(j.stack);
	free(j.wanted);
	free(j.l.label);
	free(j.l.from);
	return rc;
}

extern const struct exporter export_firefox;
const struct exporter export_firefox = {
	.summary = "JSON for the Firefox Profiler (profiler.firefox.com): "
		   "each thread over time, stacks, losses as markers",
	.write = write_firefox,
};
