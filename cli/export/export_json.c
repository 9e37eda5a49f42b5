/* export_json.c - a database as one JSON object: samples, the stacks, frames
 * and images they refer to, captures, losses and verdicts.
 *
 * The keys are an interface (backstitch-export(1), VERSION below): keys may be
 * added; removing a key or changing its meaning needs a new version. Each row
 * is a line. Samples are written as they are read, so that memory depends on
 * the number of distinct stacks only. */

#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "cli/export/export.h"
#include "analyze/samples/loss_marks.h"
#include "cli/output/output.h"
#include "stitch/text/json.h"
#include "analyze/stacks/stacks.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define VERSION 1
#define CHAIN_MAX (1 << 16)

struct word {
	uint32_t bit;
	const char *name;
};

static const struct word frame_words[] = {
	{ FRAME_INFERRED, "inferred" },	  { FRAME_UNCERTAIN, "uncertain" },
	{ FRAME_OLD_IMAGE, "old_image" }, { FRAME_DERIVED, "derived" },
	{ FRAME_AMBIGUOUS, "ambiguous" }, { FRAME_EARLY, "early" },
	{ FRAME_GUESSED, "guessed" },	  { FRAME_PARTIAL, "partial" },
	{ FRAME_SIGNED, "signed" },	  { 0, NULL },
};

static const struct word sample_words[] = {
	{ VERDICT_AFTER, "after" },
	{ VERDICT_EXEC, "exec_between" },
	{ VERDICT_OTHER_CAPTURE, "other_capture" },
	{ VERDICT_REUSED_TID, "reused_tid" },
	{ VERDICT_USER_HIT, "user_hit" },
	{ VERDICT_FIRST_LOST, "first_lost" },
	{ VERDICT_PERF_LATE, "perf_late" },
	{ VERDICT_NONCE, "nonce" },
	{ 0, NULL },
};

struct json_export {
	struct json json;
	const struct export_request *x;
	struct events *events;
	struct known_code *code;
	uint64_t *addr; /* room for CHAIN_MAX addresses */
};

static void export_json_put_words(struct json *j, const char *key,
				  uint64_t flags, const struct word *w)
{
	json_array(j, key);
	for (; w->name; w++)
		if (flags & w->bit)
			json_text(j, NULL, w->name);
	json_end(j);
}

/* Begins an array with one item in each line. An empty array ends on a line of
 * its own, as version 1 has it. */
static void export_json_begin(struct json *j, const char *key)
{
	json_array(j, key);
	json_lines(j);
}

static void export_json_end(struct json *j)
{
	json_break(j);
	json_end(j);
}

static int export_json_put_rows(struct json_export *e, const char *key,
				const char *query, struct err *err)
{
	struct rows *r = rows_of(e->x->db, query, err);
	int rc = r ? json_rows(&e->json, key, r, err) : -1;

	rows_close(r);
	return rc;
}

/* Writes the array "losses". Returns 0, or -1 and *err. */
static int export_json_put_losses(struct json_export *e, struct err *err)
{
	struct loss_rows *rows = loss_rows_load(e->x->db, e->x->filter, err);
	struct json *j = &e->json;

	if (!rows)
		return -1;
	export_json_begin(j, "losses");
	for (size_t i = 0; i < rows->n; i++) {
		const struct loss_row *l = &rows->row[i];

		json_object(j, NULL);
		json_int(j, "id", l->id);
		json_int(j, "capture", l->capture);
		json_text(j, "what", l->what);
		json_bool(j, "counts", l->counts);
		json_int_or_null(j, "cpu", l->cpu, l->cpu >= 0);
		json_int_or_null(j, "from_ns", l->from, l->has_from);
		json_int_or_null(j, "to_ns", l->to, l->has_to);
		json_int_or_null(j, "n", l->n, l->n >= 0);
		json_end(j);
	}
	export_json_end(j);
	loss_rows_free(rows);
	return 0;
}

/* In the arrays of code, the index of an item is its id, and item 0 is none. */

static void export_json_put_image(struct json_export *e, size_t id)
{
	const struct code_image *i = &e->code->image[id];
	const struct image *img = &i->img;
	size_t len = img->id_len;
	struct json *j = &e->json;

	json_object(j, NULL);
	json_int(j, "id", (int64_t)id);
	json_text(j, "kind", id ? image_kind_name(img->kind) : NULL);
	json_text(j, "path", img->path);
	if (len)
		json_hex_bytes(j, "build_id", img->id,
			       len < sizeof(img->id) ? len : sizeof(img->id));
	else
		json_null(j, "build_id");
	json_text(j, "status", i->status ? image_status_word(i->status) : NULL);
	json_end(j);
}

static void export_json_put_where(struct json *j, const struct code_where *w)
{
	json_text(j, "symbol", w->name);
	json_text(j, "file", w->file);
	json_int_or_null(j, "line", w->line, w->line);
}

static void export_json_put_hex(struct json *j, const char *key, uint64_t v,
				bool known)
{
	if (known)
		json_hex(j, key, v);
	else
		json_null(j, key);
}

static void export_json_put_frame(struct json_export *e, size_t id)
{
	const struct code_frame *f = &e->code->frame[id];
	struct json *j = &e->json;

	json_object(j, NULL);
	json_int(j, "id", (int64_t)id);
	json_int(j, "image", f->image);
	json_hex(j, "off", f->off);
	export_json_put_hex(j, "vaddr", f->vaddr, f->has_vaddr);
	export_json_put_where(j, &f->at);
	json_text(j, "raw_symbol", f->raw_name);
	export_json_put_hex(j, "symoff", f->symoff, f->at.name);
	json_array(j, "inlined");
	for (uint32_t i = 0; e->x->inlined && i < f->n_inlined; i++) {
		json_object(j, NULL);
		export_json_put_where(j, &e->code->inlined[f->inlined + i]);
		json_end(j);
	}
	json_end(j);
	export_json_put_words(j, "flags", f->flags, frame_words);
	json_text(j, "bogus", f->bogus);
	json_end(j);
}

/* Writes a raw chain: its frames and addresses, and how it ended. */
static void export_json_put_stack(struct json_export *e, size_t id)
{
	static const char *const caller[] = {
		[CALLER_MISSING] = "missing", [CALLER_INFERRED] = "inferred"
	};
	const struct code_chain *c = &e->code->chain[id];
	struct json *j = &e->json;
	int n = store_addrs(c->addrs, c->len, e->addr, CHAIN_MAX);

	json_object(j, NULL);
	json_int(j, "id", (int64_t)id);
	json_array(j, "frames");
	for (uint32_t at = c->stack; at; at = e->code->stack[at].parent)
		json_int(j, NULL, e->code->stack[at].frame);
	json_end(j);
	json_array(j, "addresses");
	for (int i = 0; i < n; i++)
		json_hex(j, NULL, e->addr[i]);
	json_end(j);
	json_text(j, "ended", c->ended ? unwind_end_name(c->ended) : NULL);
	json_text(j, "caller",
		  c->caller <= CALLER_INFERRED ? caller[c->caller] : NULL);
	json_end(j);
}

static void put_array(struct json_export *e, const char *key, size_t n,
		      void put(struct json_export *, size_t))
{
	export_json_begin(&e->json, key);
	for (size_t i = 0; i < n && !json_failed(&e->json); i++)
		put(e, i);
	export_json_end(&e->json);
}

static int export_json_put_code(struct json_export *e, struct err *err)
{
	e->code = code_load(e->x->db, CODE_ALL, err);
	if (!e->code)
		return -1;
	e->addr = mem_new(CHAIN_MAX, sizeof(*e->addr));
	put_array(e, "images", e->code->n_image, export_json_put_image);
	put_array(e, "frames", e->code->n_frame, export_json_put_frame);
	put_array(e, "stacks", e->code->n_chain, export_json_put_stack);
	return 0;
}

static int64_t export_json_chain(const struct json_export *e, int64_t id)
{
	return id > 0 && (uint64_t)id < e->code->n_chain ? id : 0;
}

static void export_json_put_sample(struct json_export *e,
				   const struct event_row *row)
{
	const struct event_type *type = events_type(e->events, row->type);
	const struct event_comm *c = events_comm(e->events, row->comm);
	bool named = row->comm >= 1 &&
		     (uint64_t)row->comm <= events_comms(e->events);
	struct json *j = &e->json;

	json_object(j, NULL);
	json_int(j, "event_id", row->id);
	json_int_or_null(j, "time_ns", row->time, row->timed);
	json_int_or_null(j, "cpu", row->cpu, row->on_cpu);
	json_int_or_null(j, "pid", c->pid, c->pid >= 0);
	json_int_or_null(j, "tid", c->tid, c->tid >= 0);
	json_int_or_null(j, "thread", c->thread, c->thread);
	json_text(j, "comm", named ? c->name : NULL);
	json_uint(j, "capture", type->capture);
	json_text(j, "event", type->name);
	json_int(j, "weight", e->x->samples ? 1 : row->weight);
	json_int(j, "kernel", export_json_chain(e, row->kraw));
	json_int(j, "user", export_json_chain(e, row->uraw));
	json_text(j, "verdict",
		  row->verdict ? stacks_verdict(row->verdict) : NULL);
	export_json_put_words(j, "flags",
			      row->verdict ? (uint64_t)row->flags : 0,
			      sample_words);
	json_end(j);
}

/* Writes the array "samples". Returns 0, or -1 and *err. */
static int export_json_put_samples(struct json_export *e, struct err *err)
{
	struct event_row row;
	int ret;

	e->events = events_open(e->x->db, e->x->filter, EVENTS_ALL, err);
	if (!e->events)
		return -1;
	export_json_begin(&e->json, "samples");
	while ((ret = events_next(e->events, &row, err)) > 0 &&
	       !json_failed(&e->json))
		if (events_type(e->events, row.type)->sample)
			export_json_put_sample(e, &row);
	export_json_end(&e->json);
	return ret < 0 ? -1 : 0;
}

static int export_json_write(FILE *out, const struct export_request *x,
			     struct err *err)
{
	struct json_export e = { .x = x };
	int rc;

	json_open(&e.json, out, JSON_COMPACT);
	json_object(&e.json, NULL);
	json_lines(&e.json);
	json_text(&e.json, "format", "backstitch");
	json_int(&e.json, "version", VERSION);
	rc = export_json_put_rows(&e, "captures", "export_captures", err) ||
	     export_json_put_rows(&e, "events", "export_events", err) ||
	     export_json_put_rows(&e, "threads", "export_threads", err) ||
	     export_json_put_rows(&e, "verdicts", "export_verdicts", err) ||
	     export_json_put_losses(&e, err) || export_json_put_code(&e, err) ||
	     export_json_put_samples(&e, err);
	json_finish(&e.json);
	events_close(e.events);
	code_free(e.code);
	free(e.addr);
	return rc ? -1 : 0;
}

const struct exporter export_json = {
	.summary = "one JSON object: samples, stacks, frames with lines and "
		   "inlined functions, images, captures, losses and verdicts",
	.refused = "--interpreter",
	.write = export_json_write,
};
