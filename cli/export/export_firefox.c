/* export_firefox.c - a profile for the Firefox Profiler.
 *
 * The profile has a thread for each use of a thread id, with its samples in
 * time order. The format needs each thread as a whole, in columns, while events
 * come in time order: samples are put into a spool, linked by thread. */

#include <inttypes.h>

#include "analyze/names/code_place.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/samples/recorder.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/waits.h"
#include "cli/export/export.h"
#include "cli/export/firefox/firefox.h"
#include "cli/export/firefox/firefox_threads.h"
#include "cli/output/say.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "stitch/text/json.h"
#include "stitch/verdict.h"

#define NS_PER_MS 1000000u

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
	struct payloads *payloads; /* of these */
	/* by event_type.id: 'w' its events are samples, 'm' markers */
	char *wanted;
	uint64_t no_time; /* events that are no markers for want of it */
	struct label_list l;
	struct intern known; /* both raw chains, calls, verdict and flags */
	uint32_t *stack;     /* of those */
	size_t n_stack, cap_stack;
	struct stacks_sample *call; /* of all kinds of calls, by time */
	size_t n_call, cap_call;
	uint64_t weight, samples;
	bool weighted; /* some sample has a weight other than 1 */
};

/* ---- samples */

static uint32_t stack_of(struct job *j, const struct stacks_group *g)
{
	const uint32_t key[] = { g->kraw, g->uraw, g->nest,
				 (uint32_t)g->verdict << 8 | g->flags };
	uint32_t id = intern_add_bytes(&j->known, key, sizeof(key));

	if (id < j->n_stack)
		return j->stack[id];
	j->l.n = 0;
	stacks_get(j->s, g, &j->l);
	if (!j->l.n)
		label_list_add(&j->l,
			       labels_add_name(j->s->labels, LABEL_MISSING,
					       "[no stack]"));
	*mem_add(j->stack, j->n_stack, j->cap_stack) =
		firefox_stack(j->f, &j->l);
	return j->stack[id];
}

static int take_sample(struct job *j, const struct event_row *e,
		       const struct stacks_group *g, uint64_t weight,
		       struct err *err)
{
	j->samples++;
	j->weighted |= weight != 1;
	if (__builtin_add_overflow(j->weight, weight, &j->weight))
		j->weight = UINT64_MAX;
	return firefox_sample(j->threads, e, events_comm(j->events, e->comm),
			      stack_of(j, g), weight, err);
}

/* An event that is not what the samples are of: a marker, with its fields and
 * its stack. */
static int firefox_take_event(struct job *j, const struct event_row *e,
			      const struct stacks_group *g, struct err *err)
{
	const char *name = events_type(j->events, e->type)->name;
	size_t len;
	const char *text = payloads_text(j->payloads, e, &len, err);

	if (!text)
		return -1;
	if (!e->timed) {
		j->no_time++;
		return 0;
	}
	return firefox_event(j->threads, e, events_comm(j->events, e->comm),
			     payloads_is_message(name) ? NULL : name, text, len,
			     g->kraw || g->uraw ? stack_of(j, g) : FIREFOX_NONE,
			     err);
}

static void firefox_keep_call(void *arg, const struct stacks_sample *one)
{
	struct job *j = arg;

	*mem_add(j->call, j->n_call, j->cap_call) = *one;
}

/* ---- the profile */

static void firefox_put_note(void *arg, const char *line)
{
	struct json *j = arg;

	json_break(j);
	json_object(j, NULL);
	json_text(j, "label", "Note");
	json_text(j, "format", "string");
	json_text(j, "value", line);
	json_end(j);
}

/* Returns the mean interval of samples of time in ns; of others it is not
 * known. */
static uint64_t interval(const struct job *j, bool is_time)
{
	return is_time && j->samples && j->weight / j->samples
		       ? j->weight / j->samples
		       : NS_PER_MS;
}

/* The shared tables come last, as threads add strings to them. */
static int firefox_write(struct job *d, int event, struct err *err)
{
	const char *unit = stacks_unit(d->s, event, d->x->samples);
	const char *name =
		event < 0 ? "several events" : d->s->event[event].name;
	const struct firefox_weights w = { d->weighted, !strcmp(unit, "ns") };
	struct json j;

	json_open(&j, d->out, JSON_ROWS);
	json_object(&j, NULL);
	json_object(&j, "meta");
	json_int(&j, "version", FIREFOX_GECKO_VERSION);
	json_int(&j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_shown(&j, "product", path_name(d->x->path));
	json_text(&j, "importedFrom", "backstitch");
	json_shown(&j, "arguments", name);
	json_int(&j, "startTime", 0);
	json_int(&j, "profilingStartTime", 0);
	/* The profiler leaves out what is at the end: it is one interval later.
	 */
	firefox_put_ms(&j, "profilingEndTime",
		       firefox_duration(d->threads) + interval(d, w.is_time));
	firefox_put_ms(&j, "interval", interval(d, w.is_time));
	json_int(&j, "processType", 0);
	json_int(&j, "stackwalk", 1);
	json_bool(&j, "symbolicated", true);
	json_bool(&j, "sourceCodeIsNotOnSearchfox", true);
	json_bool(&j, "usesOnlyOneStackType", true);
	json_object(&j, "sampleUnits");
	json_text(&j, "time", "ms");
	json_text(&j, "eventDelay", "ms");
	json_text(&j, "threadCPUDelta", "ns");
	json_end(&j);
	json_array(&j, "initialSelectedThreads");
	json_uint(&j, NULL, firefox_heaviest(d->threads));
	json_end(&j);
	firefox_put_categories(&j);
	firefox_put_mark_schema(&j);
	/* The profiler shows notes with its own facts about the profile. */
	json_array(&j, "extra");
	json_object(&j, NULL);
	json_text(&j, "label", "Capture and losses");
	json_array(&j, "entries");
	if (notes_each(d->x->db, firefox_put_note, &j, err))
		return -1;
	if (d->no_time) {
		char text[80];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " events without a time are left out",
			 d->no_time);
		firefox_put_note(&j, text);
	}
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	firefox_put_threads(d->threads, d->f, &w, &j);
	firefox_put_libs(d->f, &j);
	firefox_put_shared(d->f, &j);
	json_finish(&j);
	return 0;
}

/* ---- all of it */

static int export_firefox_write_all(struct job *j, struct err *err)
{
	char *others OWNED = NULL;
	int event = stacks_choose(j->s, "exporting", &others);
	size_t n = events_types(j->events);
	struct event_row e;
	bool markers = false;
	int rc;

	/* Events with the same name in several captures are one event. Of the
	 * others those are markers that are still samples, and no records of
	 * calls, and that waits, which are markers too, do not tell. */
	j->wanted = mem_new(n + 1, sizeof(*j->wanted));
	for (size_t i = 1; i <= n; i++) {
		const struct event_type *t = events_type(j->events, (int64_t)i);

		if (!t->sample)
			continue;
		if (event < 0 || !strcmp(t->name, j->s->event[event].name))
			j->wanted[i] = 'w';
		else if (any_where(j->s->n_event, k,
				   j->s->event[k].samples &&
					   !strcmp(t->name,
						   j->s->event[k].name)) &&
			 (j->x->filter->event ||
			  strcmp(t->name, "sched:sched_switch")))
			j->wanted[i] = 'm';
		markers |= j->wanted[i] == 'm';
	}
	if (markers)
		say_note("samples are of '%s', other events are markers; "
			 "choose with --event\n",
			 j->s->event[event].name);
	firefox_name_threads(j->threads, j->events);
	while ((rc = events_next(j->events, &e, err)) > 0) {
		const struct stacks_group g = {
			.kraw = id_of_row(e.kraw),
			.uraw = id_of_row(e.uraw),
			.verdict = (uint8_t)e.verdict,
			.flags = (uint8_t)(e.flags & VERDICT_EXEC),
		};

		if (e.type < 1 || (size_t)e.type > events_types(j->events) ||
		    !j->wanted[e.type])
			continue;
		if (j->wanted[e.type] == 'm'
			    ? firefox_take_event(j, &e, &g, err)
			    : take_sample(j, &e, &g,
					  j->x->samples ? 1
							: (uint64_t)e.weight,
					  err))
			return -1;
	}
	if (rc)
		return -1;
	/* Calls are samples, each with the time that it was in no other one. */
	for (size_t k = 0; k < j->n_call; k++) {
		const struct stacks_sample *c = &j->call[k];
		const struct stacks_group *group = &j->s->group[c->group];
		const struct event_row entry = { .timed = c->timed,
						 .time = c->time,
						 .comm = group->comm };

		if ((event < 0 || c->event == (uint32_t)event) &&
		    take_sample(j, &entry, group, c->weight, err))
			return -1;
	}
	/* Waits are markers. */
	const struct waits_ask ask = { .filter = j->x->filter, .any = true };
	struct waits *w = waits_open(j->x->db, j->x->path, &ask, err);
	struct waits_item item;
	int ret;

	while ((ret = waits_next(w, &item, err)) > 0) {
		const struct event_comm *comm =
			events_comm(j->events, item.wait.at.comm);

		if (firefox_wait(j->threads, &item.wait, comm, err)) {
			ret = -1;
			break;
		}
	}
	waits_close(w, NULL);
	if (ret)
		return -1;
	j->losses = loss_rows_load(j->x->db, j->x->filter, err);
	if (!j->losses)
		return -1;
	for (size_t i = 0; i < j->losses->n; i++)
		if (firefox_loss(j->threads, &j->losses->row[i], err))
			return -1;
	return firefox_write(j, event, err);
}

static int export_firefox_load(struct job *j, struct err *err)
{
	const struct stacks_opts o = { .filter = j->x->filter,
				       .names = j->x->names,
				       .gaps = true,
				       .inlined = j->x->inlined,
				       .samples = j->x->samples,
				       .code = CODE_ALL & ~CODE_ADDRS };

	j->s = stacks_load(j->x->db, &o, err);
	if (!j->s)
		return -1;
	j->s->o.each = firefox_keep_call;
	j->s->o.arg = j;
	if (traced_add_to(j->x->db, j->x->path, j->x->filter, j->s, err))
		return -1;
	j->c = j->s->code;
	j->places = code_places_load(j->x->db, j->c, err);
	if (!j->places)
		return -1;
	j->f = firefox_new(j->c, j->places, j->s->labels);
	j->threads = firefox_threads_new(j->x->db, err);
	if (!j->threads)
		return -1;
	j->events = events_open(j->x->db, j->x->filter, EVENTS_ALL, err);
	j->payloads = j->events ? payloads_open(j->x->db, err) : NULL;
	return j->payloads ? 0 : -1;
}

static int write_firefox(FILE *out, const struct export_request *x,
			 struct err *err)
{
	struct job j = { .out = out, .x = x, .l.want_from = true };
	int rc = export_firefox_load(&j, err);

	if (!rc)
		rc = export_firefox_write_all(&j, err);
	events_close(j.events);
	payloads_close(j.payloads);
	loss_rows_free(j.losses);
	firefox_threads_free(j.threads);
	firefox_free(j.f);
	code_places_free(j.places);
	stacks_free(j.s);
	intern_release(&j.known);
	free_all(j.stack, j.wanted, j.call, j.l.label, j.l.from);
	return rc;
}

const struct exporter export_firefox = {
	.summary = "JSON for the Firefox Profiler (profiler.firefox.com): "
		   "each thread over time, stacks, losses as markers",
	.write = write_firefox,
};
