/* export_speedscope.c - profiles for www.speedscope.app, in its own format.
 *
 * Each event has a profile of all threads, with one item for each distinct
 * stack, and one of each thread in time order, where consecutive samples with
 * the same stack are one item. Frames are shared. The weights of one thread are
 * kept in memory until its stacks are written: 8 bytes for each item. */
#include <inttypes.h>

#include "analyze/samples/events.h"
#include "cli/export/export.h"
#include "analyze/stacks/label.h"
#include "analyze/samples/loss_rows.h"
#include "stitch/text/json.h"
#include "cli/output/out.h"
#include "analyze/stacks/stack_cache.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

#define SCHEMA "https://www.speedscope.app/file-format-schema.json"

struct speedscope {
	struct json j;
	const struct export_request *x;
	struct stacks *stacks;
	struct stack_cache *cache; /* "1,2,3": frames, outermost first */
	uint32_t *number; /* frame number + 1 by label; 0: not yet a frame */
	size_t n_number, cap_number;
	uint32_t *frame; /* labels by frame number */
	size_t n_frame, cap_frame;
	/* of the current profile */
	uint64_t *weight;
	size_t n_weight, cap_weight;
	uint64_t sum;
};

static uint32_t speedscope_number_of(struct speedscope *s, uint32_t label)
{
	mem_reach(s->number, s->n_number, s->cap_number, (size_t)label + 1);
	if (!s->number[label]) {
		*mem_add(s->frame, s->n_frame, s->cap_frame) = label;
		s->number[label] = (uint32_t)s->n_frame;
	}
	return s->number[label] - 1;
}

/* Returns the number of a frame that is a name only. */
static uint32_t speedscope_number(struct speedscope *s, const char *name)
{
	return speedscope_number_of(
		s, labels_add_name(s->stacks->labels, LABEL_GROUP, name));
}

static void speedscope_put_stack(void *arg, FILE *out,
				 const struct labels *labels UNUSED,
				 const struct label_list *frames,
				 size_t kernel UNUSED)
{
	struct speedscope *s = arg;
	struct json j;

	json_open_members(&j, out, false);
	for (size_t i = 0; i < frames->n; i++)
		json_uint(&j, NULL, speedscope_number_of(s, frames->label[i]));
	if (!frames->n)
		json_uint(&j, NULL, speedscope_number(s, "[no stack]"));
}

/* ---- one profile: begin, items, end */

static void speedscope_begin_profile(struct speedscope *s)
{
	json_object(&s->j, NULL);
	json_text(&s->j, "type", "sampled");
	json_array(&s->j, "samples");
	s->n_weight = 0;
	s->sum = 0;
}

/* root: the number of a frame to put outermost; UINT32_MAX: none. */
static void speedscope_put_item(struct speedscope *s, uint32_t root,
				struct stack_text t, uint64_t weight)
{
	json_break(&s->j);
	json_array(&s->j, NULL);
	if (root != UINT32_MAX)
		json_uint(&s->j, NULL, root);
	json_members(&s->j, t.text, t.len);
	json_end(&s->j);
	if (__builtin_add_overflow(s->sum, weight, &s->sum))
		s->sum = UINT64_MAX;
	*mem_add(s->weight, s->n_weight, s->cap_weight) = weight;
}

static void speedscope_end_profile(struct speedscope *s, const char *name,
				   const char *unit)
{
	struct json *j = &s->j;

	json_break(j);
	json_end(j);
	json_array(j, "weights");
	for (size_t i = 0; i < s->n_weight; i++)
		json_uint(j, NULL, s->weight[i]);
	json_end(j);
	json_shown(j, "name", name);
	json_text(j, "unit", !strcmp(unit, "ns") ? "nanoseconds" : "none");
	json_uint(j, "startValue", 0);
	json_uint(j, "endValue", s->sum);
	json_end(j);
}

/* ---- all threads */

static void speedscope_put_event(struct speedscope *s, size_t event)
{
	const struct stacks_event *e = &s->stacks->event[event];
	char name[512];

	if (!e->samples || out_failed())
		return;
	speedscope_begin_profile(s);
	stacks_each (g, s->stacks, (int)event) {
		const char *comm = stacks_comm(s->stacks, g->comm)->name;

		speedscope_put_item(s, speedscope_number(s, comm),
				    stack_cache_group(s->cache, g), g->weight);
	}
	snprintf(name, sizeof(name), "%s, all threads", e->name);
	speedscope_end_profile(
		s, name, stacks_unit(s->stacks, (int)event, s->x->samples));
}

/* Writes the heaviest event, which other commands show, first. */
static void speedscope_put_events(struct speedscope *s)
{
	int first = stacks_heaviest(s->stacks);

	if (first < 0)
		return;
	speedscope_put_event(s, (size_t)first);
	for (size_t i = 0; i < s->stacks->n_event; i++)
		if ((int)i != first)
			speedscope_put_event(s, i);
}

/* ---- each thread */

struct thread_profile {
	struct events *events;
	uint32_t *name; /* thread.id -> its last comm.id */
	size_t n_name, cap_name;
	struct event_row last; /* the current item */
	uint64_t weight;       /* of it */
	bool open, any;
};

static int speedscope_event_of(const struct speedscope *s, const char *name)
{
	for (size_t i = 0; i < s->stacks->n_event; i++)
		if (!strcmp(s->stacks->event[i].name, name))
			return (int)i;
	return -1;
}

static void end_item(struct speedscope *s, struct thread_profile *p)
{
	if (p->any)
		speedscope_put_item(s, UINT32_MAX,
				    stack_cache_event(s->cache, &p->last),
				    p->weight);
	p->any = false;
}

static void end_thread(struct speedscope *s, struct thread_profile *p)
{
	const struct event_type *t = events_type(p->events, p->last.type);
	int64_t id = p->last.thread < p->n_name ? p->name[p->last.thread]
						: p->last.comm;
	const struct event_comm *c = events_comm(p->events, id);
	char name[512];

	if (!p->open)
		return;
	end_item(s, p);
	snprintf(name, sizeof(name), "%.128s %lld/%lld, %.256s", c->name,
		 (long long)c->pid, (long long)c->tid, t->name);
	speedscope_end_profile(s, name,
			       stacks_unit(s->stacks,
					   speedscope_event_of(s, t->name),
					   s->x->samples));
	p->open = false;
}

static bool speedscope_same_stack(const struct event_row *a,
				  const struct event_row *b)
{
	return a->kraw == b->kraw && a->uraw == b->uraw &&
	       a->verdict == b->verdict &&
	       !((a->flags ^ b->flags) & VERDICT_EXEC);
}

static void speedscope_take_stack(struct speedscope *s,
				  struct thread_profile *p,
				  const struct event_row *e)
{
	uint64_t weight = s->x->samples ? 1 : (uint64_t)e->weight;
	uint64_t sum = 0;

	if (p->open && (p->last.type != e->type || p->last.thread != e->thread))
		end_thread(s, p);
	if (!p->open)
		speedscope_begin_profile(s);
	p->open = true;
	if (p->any && (!speedscope_same_stack(&p->last, e) ||
		       __builtin_add_overflow(p->weight, weight, &sum)))
		end_item(s, p);
	p->weight = p->any ? sum : weight;
	p->last = *e;
	p->any = true;
}

static int speedscope_put_threads(struct speedscope *s, struct err *err)
{
	struct thread_profile p = {
		.events = events_open(s->x->db, s->x->filter, EVENTS_BY_THREAD,
				      err),
	};
	struct event_row e;
	int ret = -1;

	if (!p.events)
		return -1;
	for (size_t i = 1; i <= events_comms(p.events); i++) {
		uint32_t thread = events_comm(p.events, (int64_t)i)->thread;

		if (thread > events_comms(p.events))
			continue; /* each thread has a name at least */
		*mem_at(p.name, p.n_name, p.cap_name, thread) = (uint32_t)i;
	}
	while (!out_failed() && (ret = events_next(p.events, &e, err)) > 0)
		if (events_type(p.events, e.type)->sample)
			speedscope_take_stack(s, &p, &e);
	end_thread(s, &p);
	events_close(p.events);
	free(p.name);
	return ret < 0 && !out_failed() ? -1 : 0;
}

/* ---- losses, and the file */

static int speedscope_put_losses(struct speedscope *s, struct err *err)
{
	struct loss_rows *l = loss_rows_load(s->x->db, s->x->filter, err);
	bool any = false;

	for (size_t i = 0; l && i < l->n; i++) {
		const struct loss_row *r = &l->row[i];
		char text[64];
		uint32_t cpu;

		if (!r->counts || r->n <= 0)
			continue;
		if (!any)
			speedscope_begin_profile(s);
		any = true;
		snprintf(text, sizeof(text), "CPU %lld", (long long)r->cpu);
		cpu = speedscope_number(s, r->cpu < 0 ? "CPU not known" : text);
		snprintf(text, sizeof(text), "[%.48s]", r->what);
		snprintf(text, sizeof(text), "%" PRIu32,
			 speedscope_number(s, text));
		speedscope_put_item(s, cpu,
				    (struct stack_text){ text, strlen(text) },
				    (uint64_t)r->n);
	}
	if (any)
		speedscope_end_profile(s, "records lost, by CPU", "");
	loss_rows_free(l);
	return l ? 0 : -1;
}

static int speedscope_put(struct speedscope *s, struct err *err)
{
	const struct labels *labels = s->stacks->labels;
	struct json *j = &s->j;
	int rc = -1;

	json_object(j, NULL);
	json_text(j, "$schema", SCHEMA);
	json_text(j, "exporter", "backstitch");
	json_shown(j, "name", s->x->path);
	json_int(j, "activeProfileIndex", 0);
	json_array(j, "profiles");
	speedscope_put_events(s);
	if (!speedscope_put_threads(s, err))
		rc = speedscope_put_losses(s, err);
	json_end(j);
	json_object(j, "shared");
	json_array(j, "frames");
	for (size_t i = 0; i < s->n_frame; i++) {
		const struct label *l = labels_get(labels, s->frame[i]);
		char inlined[4096];

		json_break(j);
		json_object(j, NULL);
		/* speedscope shows no kinds of frames: inlined functions are
		 * marked by name. */
		if (l->kind == LABEL_INLINED)
			snprintf(inlined, sizeof(inlined), "%.4000s (inlined)",
				 l->name);
		json_shown(j, "name",
			   l->kind == LABEL_INLINED ? inlined : l->name);
		if (*l->image)
			json_shown(j, "file", l->image);
		json_end(j);
	}
	json_end(j);
	json_end(j);
	json_finish(j);
	return rc;
}

static int write_speedscope(FILE *out, const struct export_request *x,
			    struct err *err)
{
	const struct stacks_opts o = { .filter = x->filter,
				       .gaps = true,
				       .inlined = x->inlined,
				       .samples = x->samples };
	struct speedscope s = { .x = x };
	int rc = -1;

	json_open(&s.j, out, JSON_ROWS);
	s.stacks = stacks_load(x->db, &o, err);
	if (!s.stacks)
		return -1;
	s.cache = stack_cache_new(s.stacks, speedscope_put_stack, &s);
	rc = speedscope_put(&s, err);
	stack_cache_free(s.cache);
	stacks_free(s.stacks);
	free_all(s.number, s.frame, s.weight);
	return rc;
}

const struct exporter export_speedscope = {
	.summary = "for www.speedscope.app: a profile of each event, and of "
		   "each event of each thread in the order of time",
	.write = write_speedscope,
};
