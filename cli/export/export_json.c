/* export_json.c - a database as one JSON object: samples, the stacks, frames
 * and images they refer to, captures, losses and verdicts.
 *
 * The keys are a promise (backstitch-export(1), VERSION below): keys may be
 * added; one that goes, or means something else, makes a new version. One row
 * a line, and samples one after the other: memory is bounded by what is
 * distinct. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/code.h"
#include "cli/model/events.h"
#include "cli/export/export.h"
#include "cli/model/loss_rows.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
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
	{ FRAME_GUESSED, "guessed" },	  { 0, NULL },
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
	FILE *out;
	const struct export *x;
	struct events *events;
	struct known_code *code;
	const char **comm;  /* what a sample says of who: by comm.id */
	const char **event; /* its name as JSON: by event_type.id */
	const char **kind;  /* word of an enum image_kind */
	size_t n_kind, cap_kind;
	uint64_t *addr; /* CHAIN_MAX */
	struct arena text;
};

/* ---- values */

static void add(struct json_object *o, const char *key, struct json_object *v)
{
	json_object_object_add(o, key, v);
}

static void add_int(struct json_object *o, const char *key, int64_t v)
{
	add(o, key, json_object_new_int64(v));
}

static void add_known(struct json_object *o, const char *key, int64_t v,
		      bool known)
{
	add(o, key, known ? json_object_new_int64(v) : NULL);
}

static void add_text(struct json_object *o, const char *key, const char *s)
{
	add(o, key, s ? output_json_text(s, strlen(s)) : NULL);
}

static struct json_object *hex(uint64_t v)
{
	char buf[32];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, v);
	return json_object_new_string(buf);
}

static struct json_object *words(uint64_t flags, const struct word *w)
{
	struct json_object *list = json_object_new_array();

	for (; w->name; w++)
		if (flags & w->bit)
			json_object_array_add(list,
					      json_object_new_string(w->name));
	return list;
}

/* Writes an item of an array and lets go of it. */
static void put_item(FILE *out, bool first, struct json_object *o)
{
	fputs(first ? "\n" : ",\n", out);
	output_json_put(out, o, false);
	json_object_put(o);
}

static void put_key(struct json_export *j, const char *key)
{
	fprintf(j->out, ",\n\"%s\": ", key);
}

/* ---- tables as they are */

static int put_rows(struct json_export *j, const char *key, const char *query,
		    struct err *err)
{
	struct rows *r = rows_open(j->x->db, store_sql(query), NULL, 0, err);
	int rc;

	if (!r)
		return -1;
	put_key(j, key);
	rc = output_json_array(j->out, r, err);
	rows_close(r);
	return rc;
}

static struct json_object *loss(const struct loss_row *l)
{
	struct json_object *o = json_object_new_object();

	add_int(o, "id", l->id);
	add_int(o, "capture", l->capture);
	add_text(o, "what", l->what);
	add(o, "counts", json_object_new_boolean(l->counts));
	add_known(o, "cpu", l->cpu, l->cpu >= 0);
	add_known(o, "from_ns", l->from, l->has_from);
	add_known(o, "to_ns", l->to, l->has_to);
	add_known(o, "n", l->n, l->n >= 0);
	return o;
}

static int put_losses(struct json_export *j, struct err *err)
{
	struct loss_rows *l = loss_rows_load(j->x->db, err);

	if (!l)
		return -1;
	put_key(j, "losses");
	putc('[', j->out);
	for (size_t i = 0; i < loss_rows_count(l); i++)
		put_item(j->out, !i, loss(loss_rows_at(l, i)));
	fputs("\n]", j->out);
	loss_rows_free(l);
	return 0;
}

/* ---- code: the place in an array is the id, and item 0 is none */

static int take_kind(void *arg, const struct rows *r, struct err *err)
{
	struct json_export *j = arg;
	int64_t id = rows_int(r, 0);

	(void)err;
	if (id < 0 || id > UINT8_MAX)
		return 0;
	j->kind = mem_reach(j->kind, &j->n_kind, &j->cap_kind, (size_t)id + 1,
			    sizeof(*j->kind));
	j->kind[id] = arena_strdup(&j->text, rows_text(r, 1));
	return 0;
}

static struct json_object *build_id(const struct image *img)
{
	char buf[2 * sizeof(img->id) + 1] = "";

	for (size_t i = 0; i < img->id_len && i < sizeof(img->id); i++)
		snprintf(buf + 2 * i, 3, "%02x", img->id[i]);
	return *buf ? json_object_new_string(buf) : NULL;
}

static struct json_object *image(const struct json_export *j, size_t id)
{
	const struct code_image *i = &j->code->image[id];
	size_t kind = (size_t)i->img.kind;
	struct json_object *o = json_object_new_object();

	add_int(o, "id", (int64_t)id);
	add_text(o, "kind", id && kind < j->n_kind ? j->kind[kind] : NULL);
	add_text(o, "path", i->img.path);
	add(o, "build_id", build_id(&i->img));
	add_text(o, "status", *i->status ? i->status : NULL);
	return o;
}

static void add_where(struct json_object *o, const struct code_where *w)
{
	add_text(o, "symbol", w->name);
	add_text(o, "file", w->file);
	add_known(o, "line", w->line, w->line);
}

static struct json_object *frame(const struct json_export *j, size_t id)
{
	const struct code_frame *f = &j->code->frame[id];
	struct json_object *o = json_object_new_object();
	struct json_object *inlined = json_object_new_array();

	add_int(o, "id", (int64_t)id);
	add_int(o, "image", f->image);
	add(o, "off", hex(f->off));
	add(o, "vaddr", f->has_vaddr ? hex(f->vaddr) : NULL);
	add_where(o, &f->at);
	add_text(o, "raw_symbol", f->raw_name);
	add(o, "symoff", f->at.name ? hex(f->symoff) : NULL);
	for (uint32_t i = 0; j->x->inlined && i < f->n_inlined; i++) {
		struct json_object *in = json_object_new_object();

		add_where(in, &j->code->inlined[f->inlined + i]);
		json_object_array_add(inlined, in);
	}
	add(o, "inlined", inlined);
	add(o, "flags", words(f->flags, frame_words));
	add_text(o, "bogus", f->bogus);
	return o;
}

static struct json_object *stack(const struct json_export *j, size_t id)
{
	static const char *const caller[] = {
		[CALLER_MISSING] = "missing", [CALLER_INFERRED] = "inferred"
	};
	const struct code_chain *c = &j->code->chain[id];
	struct json_object *o = json_object_new_object();
	struct json_object *frames = json_object_new_array();
	struct json_object *addrs = json_object_new_array();
	int n = store_addrs(c->addrs, c->len, j->addr, CHAIN_MAX);

	add_int(o, "id", (int64_t)id);
	for (uint32_t at = c->stack; at; at = j->code->stack[at].parent)
		json_object_array_add(
			frames,
			json_object_new_int64(j->code->stack[at].frame));
	add(o, "frames", frames);
	for (int i = 0; i < n; i++)
		json_object_array_add(addrs, hex(j->addr[i]));
	add(o, "addresses", addrs);
	add_text(o, "ended", c->ended ? unwind_end_name(c->ended) : NULL);
	add_text(o, "caller",
		 c->caller <= CALLER_INFERRED ? caller[c->caller] : NULL);
	return o;
}

static void put_array(struct json_export *j, const char *key, size_t n,
		      struct json_object *make(const struct json_export *,
					       size_t))
{
	put_key(j, key);
	putc('[', j->out);
	for (size_t i = 0; i < n && !out_failed(); i++)
		put_item(j->out, !i, make(j, i));
	fputs("\n]", j->out);
}

static int put_code(struct json_export *j, struct err *err)
{
	if (rows_each(j->x->db, "export_image_kinds", take_kind, j, err))
		return -1;
	j->code = code_load(j->x->db, err);
	if (!j->code)
		return -1;
	j->addr = mem_new(CHAIN_MAX, sizeof(*j->addr));
	put_array(j, "images", j->code->n_image, image);
	put_array(j, "frames", j->code->n_frame, frame);
	put_array(j, "stacks", j->code->n_chain, stack);
	return 0;
}

/* ---- samples */

/* The text of o without the braces around it; lets go of o. */
static const char *keep(struct json_export *j, struct json_object *o,
			bool braces)
{
	char *text = NULL;
	const char *kept = "";
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);

	if (out) {
		output_json_put(out, o, false);
		fclose(out);
		if (len && !braces)
			text[len - 1] = '\0';
		kept = arena_strdup(&j->text, len ? text + !braces : "");
	}
	free(text);
	json_object_put(o);
	return kept;
}

static const char *who(struct json_export *j, int64_t id)
{
	const struct event_comm *c = events_comm(j->events, id);
	struct json_object *o;

	if (id < 1 || (uint64_t)id > events_comms(j->events))
		id = 0;
	if (j->comm[id])
		return j->comm[id];
	o = json_object_new_object();
	add_known(o, "pid", c->pid, c->pid >= 0);
	add_known(o, "tid", c->tid, c->tid >= 0);
	add_known(o, "thread", c->thread, c->thread);
	add_text(o, "comm", id ? c->name : NULL);
	j->comm[id] = keep(j, o, false);
	return j->comm[id];
}

static const char *event(struct json_export *j, int64_t id)
{
	const char *name = events_type(j->events, id)->name;

	if (!j->event[id])
		j->event[id] =
			keep(j, output_json_text(name, strlen(name)), true);
	return j->event[id];
}

static void put_int(FILE *out, const char *key, int64_t v, bool known)
{
	if (known)
		fprintf(out, "\"%s\":%" PRId64 ",", key, v);
	else
		fprintf(out, "\"%s\":null,", key);
}

static void put_request(struct json_export *j, const struct event_row *e)
{
	const char *verdict = request_verdict_name((unsigned int)e->verdict);

	if (!e->verdict) {
		fputs("\"verdict\":null,\"flags\":[]}", j->out);
		return;
	}
	fprintf(j->out, "\"verdict\":\"%s\",\"flags\":",
		verdict ? verdict : "unexplained");
	struct json_object *flags = words((uint64_t)e->flags, sample_words);

	output_json_put(j->out, flags, false);
	json_object_put(flags);
	putc('}', j->out);
}

static int64_t chain(const struct json_export *j, int64_t id)
{
	return id > 0 && (uint64_t)id < j->code->n_chain ? id : 0;
}

static void put_sample(struct json_export *j, const struct event_row *e)
{
	FILE *out = j->out;

	putc('{', out);
	put_int(out, "event_id", e->id, true);
	put_int(out, "time_ns", e->time, e->timed);
	put_int(out, "cpu", e->cpu, e->on_cpu);
	fputs(who(j, e->comm), out);
	fprintf(out, ",\"capture\":%" PRIu32 ",\"event\":%s,",
		events_type(j->events, e->type)->capture, event(j, e->type));
	put_int(out, "weight", j->x->samples ? 1 : e->weight, true);
	put_int(out, "kernel", chain(j, e->kraw), true);
	put_int(out, "user", chain(j, e->uraw), true);
	put_request(j, e);
}

static int put_samples(struct json_export *j, struct err *err)
{
	const char *before = "\n";
	struct event_row e;
	int ret;

	j->events = events_open(j->x->db, err);
	if (!j->events)
		return -1;
	j->comm = mem_new(events_comms(j->events) + 1, sizeof(*j->comm));
	j->event = mem_new(events_types(j->events) + 1, sizeof(*j->event));
	put_key(j, "samples");
	putc('[', j->out);
	while ((ret = events_next(j->events, &e, err)) > 0 && !out_failed()) {
		if (!events_type(j->events, e.type)->sample)
			continue;
		fputs(before, j->out);
		put_sample(j, &e);
		before = ",\n";
	}
	fputs("\n]\n}\n", j->out);
	return ret < 0 ? -1 : 0;
}

static int write_json(FILE *out, const struct export *x, struct err *err)
{
	struct json_export j = { .out = out, .x = x };
	int rc;

	fprintf(out, "{\n\"format\": \"backstitch\",\n\"version\": %d",
		VERSION);
	rc = put_rows(&j, "captures", "export_captures", err);
	if (!rc)
		rc = put_rows(&j, "events", "export_events", err);
	if (!rc)
		rc = put_rows(&j, "threads", "export_threads", err);
	if (!rc)
		rc = put_rows(&j, "verdicts", "export_verdicts", err);
	if (!rc)
		rc = put_losses(&j, err);
	if (!rc)
		rc = put_code(&j, err);
	if (!rc)
		rc = put_samples(&j, err);
	events_close(j.events);
	code_free(j.code);
	free(j.comm);
	free(j.event);
	free(j.kind);
	free(j.addr);
	arena_release(&j.text);
	return rc;
}

extern const struct exporter export_json;
const struct exporter export_json = {
	.summary = "one JSON object: samples, stacks, frames with lines and "
		   "inlined functions, images, captures, losses and verdicts",
	.write = write_json,
};
