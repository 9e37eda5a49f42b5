/* export_chrome.c - Chrome's trace events as JSON, for ui.perfetto.dev,
 * chrome://tracing and speedscope: context switches and calls as slices,
 * samples as instants, losses as slices on the track of their CPU.
 *
 * Objects are in time order, except names ("M"), which precede their first use.
 * Perfetto shows only args, so stacks are there as text; "sf" is the same stack
 * for readers of stackFrames. Memory is bounded by the number of distinct
 * stacks, threads, losses and slices. */
#include <inttypes.h>

#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "cli/export/chrome/chrome_tracks.h"
#include "cli/export/export.h"
#include "cli/export/folded.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/verdict.h"

/* A frame and its caller, in a tree with the stacks of both halves. */
struct node {
	uint32_t parent, label; /* parent: index + 1; 0: outermost */
};

/* What samples with the same stack have in common, of chrome_put_stack(): len
 * bytes; a 0 follows. */
struct stack_text {
	char *text;
	size_t len;
};

/* The start or end of a loss. */
struct edge {
	int64_t time;
	uint32_t loss;
	bool end;
};

#define SAMPLED_SIZE 160

struct chrome {
	struct json j;
	const struct export_request *x;
	struct stacks *stacks;
	struct intern keys;	 /* of stacks, each formatted once: */
	struct stack_text *kept; /* by key */
	size_t n_kept, cap_kept;
	struct label_list frames;  /* between calls unused */
	struct events *events;	   /* samples, as all filters say */
	struct payloads *payloads; /* of these */
	struct tracks *tracks;
	struct slices *slices;
	struct chrome_calls *calls;
	struct loss_rows *losses;
	struct edge *edge;
	size_t n_edge, at_edge;
	struct node *node;
	size_t n_node, cap_node;
	struct table by_node;
	bool any; /* something is written */
	uint64_t no_time, lost_no_time, left_out;
};

static void chrome_put_half(struct json *j, const char *key,
			    const struct labels *labels, const uint32_t *label,
			    size_t n)
{
	char *text OWNED = NULL;
	FILE *folded;

	if (!n)
		return;
	folded = mem_stream(&text, NULL);
	folded_stack(folded, labels, label, n);
	mem_stream_end(folded);
	json_shown(j, key, text);
}

/* Returns the stack of an event; lives as long as c. */
static struct stack_text chrome_stack(struct chrome *c,
				      const struct event_row *e)
{
	const struct stacks_group kernel = { .kraw = id_of_row(e->kraw) };
	struct stacks_group user = { .uraw = id_of_row(e->uraw) };
	struct stack_text t;

	/* if the user half is present, only VERDICT_EXEC affects the text */
	if (user.uraw)
		user.flags = (uint8_t)(e->flags & VERDICT_EXEC);
	else
		user.verdict = (uint8_t)e->verdict;

	const uint32_t word[] = { kernel.kraw, user.uraw,
				  (uint32_t)user.verdict << 8 | user.flags };
	uint32_t id = intern_add_bytes(&c->keys, word, sizeof(word));

	if (id < c->n_kept)
		return c->kept[id];
	c->frames.n = 0;
	stacks_get(c->stacks, &user, &c->frames);
	size_t n = c->frames.n;
	stacks_get(c->stacks, &kernel, &c->frames);

	FILE *out = mem_stream(&t.text, &t.len);

	/* Write the frames at hand, of which those from `kernel` on are the
	 * kernel half: "name" and "sf", a 0, and members of args; nothing if
	 * there are none. */
	const struct labels *labels = c->stacks->labels;
	const struct label_list *frames = &c->frames;
	struct json j;
	uint32_t at = 0;

	if (frames->n) {
		for (size_t i = 0; i < frames->n; i++) {
			uint32_t number = table_find_or_add(
				&c->by_node, hash_u32s(at, frames->label[i]),
				c->n_node);

			if (number == c->n_node)
				*mem_add(c->node, c->n_node, c->cap_node) =
					(struct node){ at, frames->label[i] };
			at = number + 1;
		}
		json_open_members(&j, out, true);
		json_shown(
			&j, "name",
			labels_get(labels, frames->label[frames->n - 1])->name);
		json_uint(&j, "sf", at);
		putc('\0', out);
		json_open_members(&j, out, true);
		chrome_put_half(&j, "kernel", labels, frames->label + n,
				frames->n - n);
		chrome_put_half(&j, "user", labels, frames->label, n);
	}
	mem_stream_end(out);
	return *mem_add(c->kept, c->n_kept, c->cap_kept) = t;
}

COMPARE_BY(chrome_by_time, struct edge, time, end, loss);

/* Writes losses up to that time; NULL: all that remain. */
static void put_edges(struct chrome *c, const int64_t *time)
{
	for (; c->at_edge < c->n_edge; c->at_edge++) {
		const struct edge *e = &c->edge[c->at_edge];
		const struct loss_row *l = &c->losses->row[e->loss];
		struct json *j = &c->j;
		char name[96];
		char id[24];

		if (time && e->time > *time)
			break;
		slices_put(c->slices, e->time, INT64_MIN);
		c->any = true;
		if (l->cpu < 0)
			snprintf(name, sizeof(name), "all CPUs: %.48s",
				 l->what);
		else
			snprintf(name, sizeof(name), "CPU %" PRId64 ": %.48s",
				 l->cpu, l->what);
		tracks_begin_cpu(c->tracks, l->capture, l->cpu);
		snprintf(id, sizeof(id), "%" PRId64, l->id);
		json_text(j, "ph", e->end ? "e" : "b");
		json_text(j, "cat", "loss");
		json_text(j, "id", id);
		json_shown(j, "name", name);
		tracks_time(j, e->time);
		if (!e->end) {
			json_object(j, "args");
			if (l->n >= 0)
				json_int(j, "records", l->n);
			else
				json_text(j, "records", "not known");
			json_bool(j, "counts", l->counts);
			json_end(j);
		}
		json_end(j);
	}
}

/* Writes why there are no slices of switches that were sampled. Returns whether
 * they were. */
static bool chrome_say_sampled(const struct chrome *c, char out[SAMPLED_SIZE])
{
	const struct offcpu_sums *s = slices_sums(c->slices);

	snprintf(out, SAMPLED_SIZE,
		 "context switches were sampled, %s of %s, so no slices; 'perf "
		 "record -c 1' records all",
		 HUMAN_GROUPED(s->recorded), HUMAN_GROUPED(s->happened));
	return offcpu_sampled(s);
}

static int chrome_put_event(struct chrome *c, const struct event_row *e,
			    struct err *err)
{
	const struct event_type *type = events_type(c->events, e->type);

	if (!e->timed) {
		c->no_time += type->sample;
		return 0;
	}
	put_edges(c, &e->time);
	slices_put(c->slices, e->time, e->id);
	/* Without slices, the first thing on the tracks says why. */
	char text[SAMPLED_SIZE];
	struct json *j = &c->j;

	if (!c->any && chrome_say_sampled(c, text)) {
		tracks_begin_cpu(c->tracks, type->capture, -1);
		json_text(j, "ph", "i");
		json_text(j, "s", "g");
		json_text(j, "cat", "switches");
		tracks_time(j, e->time);
		json_text(j, "name", text);
		json_end(j);
	}
	c->any = true;
	if (chrome_calls_put(c->calls, e)) {
		c->left_out++;
		return 0;
	}
	if (!type->sample)
		return 0;
	struct stack_text t = chrome_stack(c, e);
	size_t common = strlen(t.text); /* the members before args */
	size_t len;

	/* Slices and arrows show the events of the scheduler and of
	 * interrupts: those without a stack, that are not asked for by name,
	 * are left out. A trace.dat of 12 MB had 814 MB of them. Without a
	 * chain perf has the address of the tracepoint. */
	bool stack = t.len && memchr(t.text, ';', t.len);

	if (!stack && !c->x->filter->event &&
	    slices_sums(c->slices)->happened &&
	    (!strncmp(type->name, "sched:", 6) ||
	     !strncmp(type->name, "irq:", 4))) {
		c->left_out++;
		return 0;
	}
	const char *said = payloads_text(c->payloads, e, &len, err);
	if (!said)
		return -1;
	tracks_begin_thread(c->tracks, e);
	json_text(j, "ph", "i");
	json_text(j, "s", "t");
	json_shown(j, "cat", type->name);
	tracks_time(j, e->time);
	if (len && payloads_is_message(type->name))
		json_shown(j, "name", said);
	else if (t.len)
		json_members(j, t.text, common);
	else
		json_shown(j, "name", type->name);
	json_object(j, "args");
	if (len)
		json_shown(j, "text", said);
	if (t.len)
		json_members(j, t.text + common + 1, t.len - common - 1);
	json_int(j, "event_id", e->id);
	json_int(j, "weight", c->x->samples ? 1 : e->weight);
	if (e->on_cpu)
		json_int(j, "cpu", e->cpu);
	if (e->verdict)
		json_text(j, "verdict", stacks_verdict(e->verdict));
	json_end(j);
	json_end(j);
	return 0;
}

static int chrome_put_events(struct chrome *c, struct err *err)
{
	struct event_row e;
	int ret = 0;

	while (!out_failed() && (ret = events_next(c->events, &e, err)) > 0)
		if (chrome_put_event(c, &e, err))
			return -1;
	return out_failed() ? 0 : ret;
}

static int chrome_load(struct chrome *c, struct err *err)
{
	const struct stacks_opts o = { .filter = c->x->filter,
				       .names = c->x->names,
				       .by_name = false,
				       .gaps = true,
				       .inlined = c->x->inlined,
				       .no_groups = true };

	c->stacks = stacks_load(c->x->db, &o, err);
	if (!c->stacks)
		return -1;
	c->events = events_open(c->x->db, c->x->filter, EVENTS_ALL, err);
	c->payloads = c->events ? payloads_open(c->x->db, err) : NULL;
	if (!c->payloads)
		return -1;
	c->tracks = tracks_load(&c->j, c->x->db, c->x->filter, c->events, err);
	if (!c->tracks)
		return -1;
	/* A loss with only one time becomes a slice of length 0. */
	c->losses = loss_rows_load(c->x->db, c->x->filter, err);
	if (!c->losses)
		return -1;
	size_t n = c->losses->n;

	c->edge = mem_new(2 * n + 1, sizeof(*c->edge));
	for (size_t i = 0; i < n; i++) {
		const struct loss_row *l = &c->losses->row[i];
		int64_t to = l->has_to ? l->to : l->from;
		int64_t from = l->has_from && l->from < to ? l->from : to;

		if (!l->has_from && !l->has_to) {
			c->lost_no_time++;
			continue;
		}
		c->edge[c->n_edge++] =
			(struct edge){ from, (uint32_t)i, false };
		c->edge[c->n_edge++] = (struct edge){ to, (uint32_t)i, true };
	}
	sort_items(c->edge, c->n_edge, chrome_by_time);
	c->slices =
		slices_load(c->tracks, c->x->db, c->x->path, c->stacks, err);
	if (c->slices)
		c->calls = chrome_calls_load(c->x->db, c->x->path, c->tracks,
					     &c->j, err);
	return c->calls ? 0 : -1;
}

static int write_chrome(FILE *out, const struct export_request *x,
			struct err *err)
{
	struct chrome c = { .x = x };

	json_open(&c.j, out, JSON_ROWS);
	int rc = chrome_load(&c, err);

	if (!rc) {
		const struct offcpu_sums *s = slices_sums(c.slices);
		char sampled[SAMPLED_SIZE];

		if (chrome_say_sampled(&c, sampled))
			say_note("%s\n", sampled);
		else if (s->bare)
			say_note(
				"%" PRIu64 " context switches without "
				"slices: their fields are not in the database; "
				"'backstitch ingest --fields all' stores them\n",
				s->bare);
		else if (!s->happened && !s->records &&
			 !chrome_calls_any(c.calls))
			say_note("no context switches here, so no slices; "
				 "'perf record --switch-events' takes them\n");
		const struct labels *labels = c.stacks->labels;
		struct json *j = &c.j;

		json_object(j, NULL);
		json_text(j, "displayTimeUnit", "ns");
		json_array(j, "traceEvents");
		rc = chrome_put_events(&c, err);

		put_edges(&c, NULL);
		slices_put(c.slices, INT64_MAX, INT64_MAX);
		json_end(j);
		json_object(j, "stackFrames");
		for (size_t i = 0; i < c.n_node; i++) {
			const struct label *l =
				labels_get(labels, c.node[i].label);
			char key[24];

			snprintf(key, sizeof(key), "%zu", i + 1);
			json_object(j, key);
			json_shown(j, "name", l->name);
			json_shown(j, "category",
				   *l->image ? l->image
					     : label_kind_name(l->kind));
			if (c.node[i].parent)
				json_uint(j, "parent", c.node[i].parent);
			json_end(j);
		}
		json_end(j);
		json_object(j, "otherData");
		json_uint(j, "events_without_time", c.no_time);
		json_uint(j, "losses_without_time", c.lost_no_time);
		json_uint(j, "events_left_out", c.left_out);
		json_uint(j, "switches_without_fields",
			  slices_sums(c.slices)->bare);
		json_uint(j, "slices_without_end",
			  offcpu_sampled(slices_sums(c.slices))
				  ? 0
				  : slices_sums(c.slices)->cut);
		json_end(j);
		json_finish(j);
	}
	loss_rows_free(c.losses);
	slices_free(c.slices);
	chrome_calls_free(c.calls);
	tracks_free(c.tracks);
	events_close(c.events);
	payloads_close(c.payloads);
	stacks_free(c.stacks);
	table_release(&c.by_node);
	intern_release(&c.keys);
	for (size_t i = 0; i < c.n_kept; i++)
		free(c.kept[i].text);
	free_all(c.node, c.edge, c.kept, c.frames.label);
	return rc;
}

const struct exporter export_chrome = {
	.summary = "Chrome trace events, for ui.perfetto.dev: what ran where "
		   "by context switches, samples with stacks, losses",
	.write = write_chrome,
};
