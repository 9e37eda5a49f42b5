/* fleet_rows.c - the rows of a table, batch by batch: of samples, and those
 * of the small tables. */
#include <assert.h>

#include "analyze/fleet/fleet.h"
#include "analyze/fleet/fleet_input.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/tasks/frame.h"
#include "stitch/text/json.h"
#include "stitch/verdict.h"

/* Returns the type of the next column. */
static enum fleet_type fleet_fill_type(const struct fleet_fill *b)
{
	return b->table->column[b->at].type;
}

/* Returns the place of the next value, which has `size` bytes. */
static inline void *fleet_fill_place(struct fleet_fill *b, size_t size)
{
	struct fleet_values *v = &b->of[b->at];

	assert(b->at < b->table->n_column);
	if (__builtin_expect(v->n == v->cap, 0))
		v->data = mem_grow_to(v->data, &v->cap, v->n + 1, size);
	if (v->first)
		b->items++;
	else
		b->at++;
	return (char *)v->data + v->n++ * size;
}

/* Puts the next value, a number that the column's type holds. A list takes any
 * number of them, then fleet_fill_list(). */
static void fleet_fill_int(struct fleet_fill *b, int64_t v)
{
	switch (fleet_fill_type(b)) {
	case FLEET_U8:
		*(uint8_t *)fleet_fill_place(b, 1) = (uint8_t)v;
		break;
	case FLEET_U16:
		*(uint16_t *)fleet_fill_place(b, 2) = (uint16_t)v;
		break;
	case FLEET_U32:
		*(uint32_t *)fleet_fill_place(b, 4) = (uint32_t)v;
		break;
	case FLEET_I32:
		*(int32_t *)fleet_fill_place(b, 4) = (int32_t)v;
		break;
	case FLEET_U64:
	case FLEET_I64:
		*(int64_t *)fleet_fill_place(b, 8) = v;
		break;
	default:
		assert(!"a number for a column of numbers");
	}
}

/* Puts the next value, an id of the column's pool. */
static void fleet_fill_id(struct fleet_fill *b, uint32_t id)
{
	assert(b->cell[b->at].pool);
	*(uint32_t *)fleet_fill_place(b, sizeof(id)) = id;
}

static void fleet_put_text(struct fleet_rows *r, const char *s)
{
	fleet_fill_id(&r->fill, fleet_word_of(r->f, s));
}

/* Ends the list that is the next column. */
static void fleet_fill_list(struct fleet_fill *b)
{
	struct fleet_values *v = &b->of[b->at];

	assert(v->first);
	mem_grow(v->first, v->cap_first, b->rows + 2);
	v->first[b->rows + 1] = (uint32_t)v->n;
	b->at++;
}

struct fleet_fields {
	struct events *ev;
	struct payloads *payloads;
	struct event_row e;
	const struct field *field; /* of e */
	const struct field_def *def;
	size_t n, at;	     /* number of fields; the next */
	struct intern texts; /* of the rows of one batch */
};

#define FIELD_TEXT 7 /* the last column of the table */

/* Adds the row of the next field of an event. */
static int fleet_field_step(struct fleet_rows *r, struct err *err)
{
	struct fleet_fields *s = r->of;
	struct fleet_fill *b = &r->fill;

	for (;;) {
		while (s->at < s->n &&
		       (!s->field[s->at].present || s->def[s->at].is_blob))
			s->at++;
		if (s->at < s->n)
			break;
		/* Reads the next event of the run that has fields. */
		int rc;

		while ((rc = events_next(s->ev, &s->e, err)) > 0) {
			const struct event_type *t =
				events_type(s->ev, s->e.type);

			if (!t->sample ||
			    t->capture != (uint32_t)r->capture->id)
				continue;
			s->at = 0;
			s->def = payloads_defs(s->payloads, s->e.type, &s->n);
			if (!s->n)
				continue;
			rc = payloads_fields(s->payloads, &s->e, &s->field,
					     err);
			if (rc)
				break;
		}
		if (rc <= 0)
			return rc;
	}
	const struct field_def *def = &s->def[s->at];
	const struct field *v = &s->field[s->at];
	const char *text = def->is_text && v->text ? v->text : "";
	size_t len = strlen(text);
	if (!b->rows)
		intern_release(&s->texts);
	fleet_fill_int(b, s->e.timed ? fleet_time(r->capture, s->e.time) : 0);
	fleet_fill_int(b, s->e.on_cpu ? fleet_small(s->e.cpu) : -1);
	fleet_fill_int(b, fleet_small(events_comm(s->ev, s->e.comm)->tid));
	fleet_put_text(r, events_type(s->ev, s->e.type)->name);
	fleet_put_text(r, def->name);
	fleet_fill_int(b, def->is_text ? 0 : v->num);
	fleet_fill_id(b, json_intern(&s->texts, text, len));
	b->items += len;
	s->at++;
	return 1;
}

static void fleet_field_close(struct fleet_rows *r)
{
	struct fleet_fields *s = r->of;

	events_close(s->ev);
	payloads_close(s->payloads);
	intern_release(&s->texts);
	free(s);
}

static int fleet_field_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_fields *s = mem_new(1, sizeof(*s));

	r->of = s;
	r->step = fleet_field_step;
	r->close = fleet_field_close;
	r->fill.cell[FIELD_TEXT].pool = &s->texts;
	s->payloads = payloads_open(r->f->db, err);
	s->ev = s->payloads ? events_open(r->f->db, r->f->ask->filter,
					  EVENTS_ALL, err)
			    : NULL;
	return s->ev ? 0 : -1;
}

/* The rows of the tables stack and name, once for each content: two stacks of
 * a database can differ in a flag and have the same hash. */

struct fleet_image {
	uint32_t build_id, path, kind; /* ids in words */
	uint64_t hash;		       /* of the build-id, or else the path */
};

struct fleet_walk {
	struct fleet_image *image; /* by image.id */
	struct table done;	   /* hashes and places that have rows */
	size_t next;		   /* stack.id or frame.id */
	/* of a frame: its next function; of a stack, 1: its row with bogus
	 * frames is next */
	size_t level;
};

/* Returns the place of a frame: a hash of what names it on every host. */
static uint64_t fleet_walk_place(const struct fleet_walk *w,
				 const struct code_frame *fr)
{
	return hash_u64(w->image[fr->image].hash ^
			hash_u64(fr->off + 0x9e3779b97f4a7c15u));
}

/* Loads the code, and the words of its images. Returns 0, or -1 and *err. */
static int fleet_walk_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_walk *w = mem_new(1, sizeof(*w));
	struct fleet *f = r->f;

	r->of = w;
	w->next = 1;
	if (fleet_load_code(f, err))
		return -1;
	w->image = mem_new(f->code->n_image, sizeof(*w->image));
	for (size_t i = 1; i < f->code->n_image; i++) {
		const struct image *img = &f->code->image[i].img;
		const char *path = img->path ? img->path : "";
		struct fleet_image *out = &w->image[i];
		char hex[2 * sizeof(img->id) + 1];

		for (size_t k = 0; k < img->id_len; k++)
			snprintf(hex + 2 * k, 3, "%02x", img->id[k]);
		hex[2 * (size_t)img->id_len] = 0;
		out->build_id = fleet_word_of(f, hex);
		out->path = fleet_word_of(f, path);
		out->kind = fleet_word_of(f, image_kind_name(img->kind));
		out->hash = img->id_len ? hash_content(img->id, img->id_len, 1)
					: hash_content(path, strlen(path), 2);
	}
	return 0;
}

static void fleet_walk_close(struct fleet_rows *r)
{
	struct fleet_walk *w = r->of;

	table_release(&w->done);
	free_all(w->image, w);
}

/* Adds the row of a stack. first: position of the first bogus frame, or 0. */
static void fleet_code_put_stack(struct fleet_rows *r, uint32_t hash,
				 size_t stack, uint32_t first)
{
	const struct fleet_walk *w = r->of;
	const struct known_code *c = r->f->code;
	struct fleet_fill *b = &r->fill;
	uint32_t pos = 0;

	fleet_fill_id(b, hash);
	for (unsigned int col = 0; col < 7; col++) {
		for (size_t s = stack; s; s = c->stack[s].parent) {
			const struct code_frame *fr =
				&c->frame[c->stack[s].frame];
			const struct fleet_image *img = &w->image[fr->image];

			switch (col) {
			case 0:
				fleet_fill_id(b, img->build_id);
				break;
			case 1:
				fleet_fill_id(b, img->path);
				break;
			case 2:
				fleet_fill_id(b, img->kind);
				break;
			case 3:
				fleet_fill_int(b, (int64_t)fr->off);
				break;
			case 4:
				fleet_fill_int(b, (int64_t)fr->vaddr);
				break;
			case 5:
				fleet_fill_int(b, fr->flags & UINT16_MAX);
				break;
			default:
				fleet_fill_int(
					b, (int64_t)fleet_walk_place(w, fr));
			}
		}
		fleet_fill_list(b);
	}
	for (size_t s = stack; s; s = c->stack[s].parent)
		fleet_fill_int(b,
			       fleet_bogus(c, c->stack[s].frame, pos++, first));
	fleet_fill_list(b);
}

/* Adds the row of the next stack. One with bogus frames has a row in which they
 * are marked, and, if `sound`, one in which they are not. */
static int fleet_code_step_stack(struct fleet_rows *r, struct err *err UNUSED)
{
	static const struct fleet_wrong right = { .sound = true };
	struct fleet_walk *w = r->of;
	const struct fleet *f = r->f;

	while (w->next < f->n_stack && w->next < f->code->n_stack) {
		size_t id = w->next;
		const struct fleet_wrong *wrong =
			id < f->n_wrong && f->wrong[id].first ? &f->wrong[id]
							      : &right;
		bool bogus = w->level != 0;
		uint32_t hash = bogus ? wrong->hash : f->stack[id];

		w->level = !bogus && wrong->first;
		w->next += !w->level;
		if ((!bogus && !wrong->sound) || hash == FLEET_NO_HASH ||
		    table_find_hash(&w->done, hash_u64(hash)) != TABLE_NONE)
			continue;
		table_add(&w->done, hash_u64(hash), hash);
		fleet_code_put_stack(r, hash, id, bogus ? wrong->first : 0);
		return 1;
	}
	return 0;
}

/* Fails if a stack has more than FLEET_FRAMES_MAX frames. */
static int fleet_stack_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_code_step_stack;
	r->close = fleet_walk_close;
	if (fleet_walk_begin(r, err))
		return -1;
	uint32_t *depth = mem_new(r->f->code->n_stack, sizeof(*depth));
	size_t i = 1;

	/* a parent has a smaller number, see code_load() */
	while (i < r->f->code->n_stack &&
	       (depth[i] = depth[r->f->code->stack[i].parent] + 1) <=
		       FLEET_FRAMES_MAX)
		i++;
	free(depth);
	return i < r->f->code->n_stack
		       ? err_set(err, ERR_DB,
				 "the database is damaged: stack %zu has more "
				 "than %d frames",
				 i, FLEET_FRAMES_MAX)
		       : 0;
}

/* Adds the row of the next function of a place that has no rows so far. */
static int fleet_code_step_name(struct fleet_rows *r, struct err *err UNUSED)
{
	struct fleet_walk *w = r->of;
	const struct known_code *c = r->f->code;

	for (; w->next < c->n_frame; w->next++, w->level = 0) {
		const struct code_frame *fr = &c->frame[w->next];
		uint64_t place = fleet_walk_place(w, fr);

		if (w->level > fr->n_inlined)
			continue;
		if (!w->level) {
			if (!fr->at.name || fr->n_inlined > UINT8_MAX ||
			    table_find_hash(&w->done, place) != TABLE_NONE)
				continue;
			table_add(&w->done, place, 0);
		}
		/* Puts the function of a level: 0 contains the others. */
		size_t level = w->level++;
		const struct fleet_image *img = &w->image[fr->image];
		const struct code_where *at =
			level ? &c->inlined[fr->inlined + fr->n_inlined - level]
			      : &fr->at;
		struct fleet_fill *b = &r->fill;

		fleet_fill_int(b, (int64_t)place);
		fleet_fill_int(b, (int64_t)level);
		fleet_fill_int(b, fr->n_inlined);
		fleet_fill_id(b, img->build_id);
		fleet_fill_id(b, img->path);
		fleet_fill_int(b, (int64_t)fr->off);
		fleet_put_text(r, at->name);
		fleet_put_text(r, at->file);
		fleet_fill_int(b, at->line);
		fleet_fill_int(b, !c->image[fr->image].proved);
		fleet_fill_int(b, level ? 0 : (int64_t)(fr->off - fr->symoff));
		return 1;
	}
	return 0;
}

static int fleet_name_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_code_step_name;
	r->close = fleet_walk_close;
	return fleet_walk_begin(r, err);
}

/* A batch ends after this many values of lists, or bytes of texts of fields. */
#define ITEMS_MAX ((size_t)1 << 20)

static void fleet_rows_put(struct fleet_rows *r, struct value v)
{
	if (fleet_fill_type(&r->fill) != FLEET_STRING) {
		/* the nearest number of the column's type, or 0 for what is no
		 * integer */
		static const struct {
			int64_t low, high;
		} range[] = {
			[FLEET_U8] = { 0, UINT8_MAX },
			[FLEET_U16] = { 0, UINT16_MAX },
			[FLEET_U32] = { 0, UINT32_MAX },
			[FLEET_U64] = { 0, INT64_MAX },
			[FLEET_I32] = { INT32_MIN, INT32_MAX },
			[FLEET_I64] = { INT64_MIN, INT64_MAX },
		};
		enum fleet_type type = fleet_fill_type(&r->fill);
		int64_t n = v.kind == VALUE_INT ? v.num : 0;

		assert(type < ARRAY_SIZE(range));
		raise_to(n, range[type].low);
		lower_to(n, range[type].high);
		fleet_fill_int(&r->fill, n);
	} else {
		fleet_fill_id(&r->fill,
			      v.kind == VALUE_TEXT
				      ? fleet_word(r->f, v.text, v.len)
				      : FLEET_NO_WORD);
	}
}

static int fleet_query_step(struct fleet_rows *r, struct err *err)
{
	int ret = rows_next(r->of, err);

	for (size_t i = 0; ret > 0 && i < r->fill.table->n_column - 1; i++)
		fleet_rows_put(r, rows_value(r->of, i));
	return ret;
}

static void fleet_query_close(struct fleet_rows *r)
{
	rows_close(r->of);
}

/* Counts the rows of another table of the run by reading them, unless they were
 * read before. Returns 0, or -1 and *err. */
static int fleet_run_count(struct fleet_rows *r, enum fleet_table_id table,
			   struct err *err)
{
	size_t run = (size_t)(r->capture - r->f->capture);
	const struct fleet_batch *ignored;
	int ret = 1;

	if (r->capture->ended[table])
		return 0;
	struct fleet_rows *rows = fleet_rows_open(r->f, table, run, err);
	if (!rows)
		return -1;
	while (ret > 0)
		ret = fleet_rows_next(rows, FLEET_BATCH, &ignored, err);
	fleet_rows_close(rows);
	return ret;
}

/* The tables whose numbers of rows are columns of table run, in their order. */
static const enum fleet_table_id fleet_run_tables[] = {
	FLEET_LOSS, FLEET_VERDICT, FLEET_TRUST, FLEET_FINDING
};
#define RUN_TABLES ARRAY_SIZE(fleet_run_tables)

/* Puts the columns [from, to] of the query as the next values. */
static void fleet_run_put_values(struct fleet_rows *r, size_t from, size_t to)
{
	for (size_t i = from; i <= to; i++)
		fleet_rows_put(r, rows_value(r->of, i));
}

static void fleet_run_put_time(struct fleet_rows *r, size_t i)
{
	struct value v = rows_value(r->of, i);

	fleet_fill_int(&r->fill,
		       v.kind == VALUE_INT ? fleet_time(r->capture, v.num) : 0);
}

/* Adds the row of the run, after counting those of its other tables. */
static int fleet_run_step(struct fleet_rows *r, struct err *err)
{
	int ret;

	while ((ret = rows_next(r->of, err)) > 0 &&
	       rows_int(r->of, FLEET_CAPTURES_ID) != r->capture->id)
		;
	if (ret <= 0)
		return ret;
	if (fleet_run_count(r, FLEET_SAMPLE, err))
		return -1;
	for (size_t i = 0; i < RUN_TABLES; i++)
		if (fleet_run_count(r, fleet_run_tables[i], err))
			return -1;
	const struct fleet_ask *ask = r->f->ask;
	struct fleet_capture *c = r->capture;
	struct fleet_fill *b = &r->fill;

	fleet_fill_id(b, intern_add_bytes(&r->f->hashes, c->run.made,
					  sizeof(c->run.made)));
	fleet_fill_int(b, FLEET_VERSION);
	fleet_put_text(r, ask->version);
	fleet_put_text(r, c->run.host);
	fleet_run_put_values(r, FLEET_CAPTURES_RELEASE, FLEET_CAPTURES_CLOCK);
	fleet_fill_int(b, c->has_wall);
	fleet_fill_int(b, c->wall);
	fleet_run_put_time(r, FLEET_CAPTURES_FIRST_NS);
	fleet_run_put_time(r, FLEET_CAPTURES_LAST_NS);
	fleet_run_put_values(r, FLEET_CAPTURES_SYSTEM_WIDE,
			     FLEET_CAPTURES_LOST_UNKNOWN);
	fleet_fill_int(b, (int64_t)ask->period);
	fleet_fill_int(b, filter_given(ask->filter));
	fleet_fill_int(b, (int64_t)c->kept);
	fleet_fill_int(b, (int64_t)c->rows);
	for (size_t i = 0; i < ask->n_label; i++)
		fleet_fill_id(b, fleet_word(r->f, ask->label[i],
					    strcspn(ask->label[i], "=")));
	fleet_fill_list(b);
	for (size_t i = 0; i < ask->n_label; i++)
		fleet_put_text(r, strchr(ask->label[i], '=') + 1);
	fleet_fill_list(b);
	fleet_run_put_values(r, FLEET_CAPTURES_PATH, FLEET_CAPTURES_PATH);
	fleet_fill_int(b, 1);
	for (size_t i = 0; i < RUN_TABLES; i++)
		fleet_fill_int(b, (int64_t)c->n[fleet_run_tables[i]]);
	return ret;
}

static int fleet_run_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_run_step;
	r->close = fleet_query_close;
	r->of = rows_of(r->f->db, "fleet_captures", err);
	return r->of ? 0 : -1;
}

/* Table verdict: requests and chains by verdict and confidence. */

#define PAIRS ((size_t)FLEET_VERDICTS * FLEET_CONFIDENCES)

struct fleet_verdicts {
	struct fleet_counts of[2]; /* requests, chains */
	size_t at;
};

/* The columns of queries fleet_requests and fleet_chains. */
enum {
	COUNTED_ID,
	COUNTED_VERDICT,
	COUNTED_CONFIDENCE,
	COUNTED_CAPTURE
};

static int fleet_verdict_count(struct fleet_rows *r, const char *query,
			       struct fleet_counts *c, struct err *err)
{
	struct rows *q = rows_ints(r->f->db, store_sql(query), err);
	struct int_row row;

	while (rows_step_ints(q, &row))
		if (row.v[COUNTED_CAPTURE] == r->capture->id)
			fleet_count(c, row.v[COUNTED_VERDICT],
				    row.v[COUNTED_CONFIDENCE]);
	return rows_end(q, err);
}

/* Adds a row for the next verdict and confidence that a request or chain
 * has. */
static int fleet_verdict_step(struct fleet_rows *r, struct err *err UNUSED)
{
	struct fleet_verdicts *v = r->of;

	for (; v->at < 2 * PAIRS; v->at++) {
		size_t chain = v->at / PAIRS;
		unsigned int verdict = v->at % PAIRS / FLEET_CONFIDENCES;
		unsigned int confidence = v->at % FLEET_CONFIDENCES;
		uint64_t n = v->of[chain].n[verdict][confidence];

		/* verdict 0: the row is no request */
		if (!n || (!chain && !verdict))
			continue;
		fleet_put_text(r, chain ? "chain" : "request");
		fleet_put_text(r, chain ? chain_verdict_name(verdict)
					: request_verdict_name(verdict));
		fleet_put_text(r, confidence_name(confidence));
		fleet_fill_int(&r->fill, (int64_t)n);
		v->at++;
		return 1;
	}
	return 0;
}

static void fleet_verdict_close(struct fleet_rows *r)
{
	free(r->of);
}

static int fleet_verdict_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_verdicts *v = mem_new(1, sizeof(*v));

	r->of = v;
	r->step = fleet_verdict_step;
	r->close = fleet_verdict_close;
	/* all samples may have been read before, which counted the requests */
	if (r->capture->counted && !filter_given(r->f->ask->filter))
		v->of[0] = r->capture->requests;
	else if (fleet_verdict_count(r, "fleet_requests", &v->of[0], err))
		return -1;
	return fleet_verdict_count(r, "fleet_chains", &v->of[1], err) ? -1 : 0;
}

/* Samples are in the order of their times. Sums of samples are in the order in
 * which the first of each came, so that a database has the same rows, in the
 * same order, each time. */

/* What rows that are added up have in common. No padding: it is hashed. */
struct fleet_key {
	int32_t pid, tid;
	uint32_t comm, event, kernel, user, verdict, user_mark, kernel_mark;
	uint32_t classed;
};

struct fleet_sample {
	struct fleet_key key;
	int64_t time;
	int32_t cpu;
	uint32_t n;
	uint64_t weight;
};

struct fleet_samples {
	struct events *ev;
	uint32_t run;
	uint32_t *comm, *type;	  /* ids in words, by id; TABLE_NONE: not yet */
	struct fleet_sample *sum; /* of one period */
	size_t n, cap, at;	  /* sum[at] is the next row */
	struct table index;
	struct fleet_sample ahead; /* the first of the next period */
	bool has_ahead, ended;
	uint64_t kept, rows; /* so far */
	struct fleet_counts requests;
	struct trust *trust;
	const char *last; /* class of the previous sample, and in words: */
	uint32_t last_word;
};

static uint32_t fleet_samples_word(struct fleet *f, uint32_t *known, size_t n,
				   int64_t id, const char *text)
{
	size_t i = id >= 1 && (uint64_t)id <= n ? (size_t)id : 0;

	if (known[i] == TABLE_NONE)
		known[i] = fleet_word(f, text, strlen(text));
	return known[i];
}

static uint32_t *fleet_samples_unasked(size_t n)
{
	uint32_t *known = mem_new(n + 1, sizeof(*known));

	memset(known, 0xff, (n + 1) * sizeof(*known));
	return known;
}

/* Returns the number of a chain, 0 for one that is not there. */
static uint32_t fleet_samples_raw(const struct fleet *f, int64_t raw)
{
	return raw > 0 && (uint64_t)raw < f->n_chain ? (uint32_t)raw : 0;
}

/* Returns the id of a sample's class of view trust in words. */
static uint32_t fleet_samples_class_of(struct fleet_rows *r,
				       const struct event_row *e)
{
	struct fleet_samples *s = r->of;
	const struct stacks_group g = {
		.type = (uint32_t)e->type,
		.kraw = fleet_samples_raw(r->f, e->kraw),
		.uraw = fleet_samples_raw(r->f, e->uraw),
		.verdict = e->verdict > 0 && e->verdict < 32
				   ? (uint8_t)e->verdict
				   : 0,
		.flags = (uint8_t)e->flags,
	};
	const char *name = trust_class(s->trust, &g);

	if (!s->last_word || name != s->last) {
		const char *word = name ? name : FLEET_UNCLASSED;

		s->last = name;
		s->last_word = fleet_word(r->f, word, strlen(word));
	}
	return s->last_word;
}

/* Reads the next sample of the run. Returns 1, 0 at the end, or -1. */
static int fleet_samples_read_next(struct fleet_rows *r,
				   struct fleet_sample *out, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct event_row e;
	int ret;

	while ((ret = events_next(s->ev, &e, err)) > 0) {
		const struct event_type *t = events_type(s->ev, e.type);

		if (t->sample && t->capture == s->run)
			break;
	}
	if (ret > 0 && e.verdict)
		fleet_count(&s->requests, e.verdict, e.confidence);
	if (ret > 0) {
		struct fleet *f = r->f;
		const struct event_comm *c = events_comm(s->ev, e.comm);
		const struct fleet_chain *k =
			&f->chain[fleet_samples_raw(f, e.kraw)];
		const struct fleet_chain *u =
			&f->chain[fleet_samples_raw(f, e.uraw)];
		struct fleet_sample to = {
			.key = {
				.pid = fleet_small(c->pid),
				.tid = fleet_small(c->tid),
				.comm = fleet_samples_word(f, s->comm,
					events_comms(s->ev), e.comm, c->name),
				.event = fleet_samples_word(f, s->type,
					events_types(s->ev), e.type,
					events_type(s->ev, e.type)->name),
				.kernel = k->stack,
				.user = u->stack,
				.user_mark = u->ended,
				.kernel_mark = k->ended,
				.classed = fleet_samples_class_of(r, &e),
			},
			.time = e.timed ? fleet_time(r->capture, e.time) : 0,
			.cpu = e.on_cpu ? fleet_small(e.cpu) : -1,
			.n = 1,
			/* as in a sum of samples: 1 if it is not known */
			.weight = !e.weighed	 ? 1
				  : e.weight > 0 ? (uint64_t)e.weight
						 : 0,
		};

		if (e.verdict > 0 && e.verdict < 32)
			to.key.verdict = f->verdict[e.verdict];
		if (e.verdict > 0 && !u->stack)
			to.key.user_mark = FLEET_NO_WORD;
		else if (e.verdict > 0 && e.flags & VERDICT_EXEC)
			to.key.user_mark = f->after_exec;
		*out = to;
	}
	return ret;
}

/* The columns of table sample. */
enum {
	SAMPLE_RUN,
	SAMPLE_TIME,
	SAMPLE_CPU,
	SAMPLE_PID,
	SAMPLE_TID,
	SAMPLE_COMM,
	SAMPLE_EVENT,
	SAMPLE_WEIGHT,
	SAMPLE_N,
	SAMPLE_KERNEL,
	SAMPLE_USER,
	SAMPLE_VERDICT,
	SAMPLE_USER_MARK,
	SAMPLE_KERNEL_MARK,
	SAMPLE_CLASS
};

SAME_FUNCTION(fleet_samples_is_same, struct fleet_samples, sum[id].key,
	      struct fleet_key, !memcmp(x, y, sizeof(*x)));

/* Adds a sample to the sum of its key, which is added if it is new. */
static void fleet_samples_sum(struct fleet_samples *s,
			      const struct fleet_sample *x)
{
	uint64_t h = hash_bytes(&x->key, sizeof(x->key), 0);
	uint32_t i =
		table_find(&s->index, h, fleet_samples_is_same, s, &x->key);

	if (i != TABLE_NONE) {
		s->sum[i].n += x->n;
		s->sum[i].weight += x->weight;
		return;
	}
	table_add(&s->index, h, (uint32_t)s->n);
	*mem_add(s->sum, s->n, s->cap) = *x;
}

/* Adds up the samples of the next period. Returns 1, 0: none, or -1. */
static int fleet_samples_add_up(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct fleet_sample x;
	int ret = 1;

	table_release(&s->index);
	s->n = s->at = 0;
	if (s->has_ahead)
		fleet_samples_sum(s, &s->ahead);
	s->has_ahead = false;
	while (!s->ended && (ret = fleet_samples_read_next(r, &x, err)) > 0) {
		/* Moves a sample to the start of its period, without a CPU. */
		uint64_t period = r->f->ask->period;
		int64_t past = x.time % (int64_t)period;

		if (past < 0)
			past += (int64_t)period;
		__builtin_sub_overflow(x.time, past, &x.time);
		x.cpu = -1;
		if (s->n && s->sum[0].time != x.time) {
			s->ahead = x;
			s->has_ahead = true;
			return 1;
		}
		fleet_samples_sum(s, &x);
	}
	s->ended = true;
	return ret < 0 ? -1 : s->n > 0;
}

static int fleet_samples_next(struct fleet_rows *r, struct fleet_sample *out,
			      struct err *err)
{
	struct fleet_samples *s = r->of;
	int ret = 1;

	if (!r->f->ask->period)
		return fleet_samples_read_next(r, out, err);
	if (s->at == s->n)
		ret = fleet_samples_add_up(r, err);
	if (ret > 0)
		*out = s->sum[s->at++];
	return ret;
}

/* Adds the row of the next sample or sum; at the end, stores the counts. */
static int fleet_samples_step(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = r->of;
	struct fleet_sample x;
	int ret = fleet_samples_next(r, &x, err);

	if (ret > 0) {
		struct fleet_fill *b = &r->fill;
		/* Sets the value of each column in `data`, which is much
		 * faster than value by value. */
		if (b->rows == b->room) {
			/* columns without room for a row become larger */
			for (size_t i = 0; i < b->table->n_column; i++) {
				size_t size = fleet_type_size(
					b->table->column[i].type);

				if (b->cell[i].pool)
					size = sizeof(uint32_t);
				b->of[i].data = mem_grow_to(b->of[i].data,
							    &b->of[i].cap,
							    b->rows + 1, size);
				b->room = !i || b->of[i].cap < b->room
						  ? b->of[i].cap
						  : b->room;
			}
		}
		b->at = b->table->n_column;
		size_t i = b->rows;

		((uint32_t *)b->of[SAMPLE_RUN].data)[i] = r->run;
		((int64_t *)b->of[SAMPLE_TIME].data)[i] = x.time;
		((int32_t *)b->of[SAMPLE_CPU].data)[i] = x.cpu;
		((int32_t *)b->of[SAMPLE_PID].data)[i] = x.key.pid;
		((int32_t *)b->of[SAMPLE_TID].data)[i] = x.key.tid;
		((uint32_t *)b->of[SAMPLE_COMM].data)[i] = x.key.comm;
		((uint32_t *)b->of[SAMPLE_EVENT].data)[i] = x.key.event;
		((uint64_t *)b->of[SAMPLE_WEIGHT].data)[i] = x.weight;
		((uint32_t *)b->of[SAMPLE_N].data)[i] = x.n;
		((uint32_t *)b->of[SAMPLE_KERNEL].data)[i] = x.key.kernel;
		((uint32_t *)b->of[SAMPLE_USER].data)[i] = x.key.user;
		((uint32_t *)b->of[SAMPLE_VERDICT].data)[i] = x.key.verdict;
		((uint32_t *)b->of[SAMPLE_USER_MARK].data)[i] = x.key.user_mark;
		((uint32_t *)b->of[SAMPLE_KERNEL_MARK].data)[i] =
			x.key.kernel_mark;
		((uint32_t *)b->of[SAMPLE_CLASS].data)[i] = x.key.classed;
		s->kept += x.n;
		s->rows++;
	} else if (!ret) {
		r->capture->counted = true;
		r->capture->kept = s->kept;
		r->capture->rows = s->rows;
		r->capture->requests = s->requests;
	}
	return ret;
}

static void fleet_samples_close(struct fleet_rows *r)
{
	struct fleet_samples *s = r->of;

	events_close(s->ev);
	trust_free(s->trust);
	table_release(&s->index);
	free_all(s->comm, s->type, s->sum, s);
}

/* Begins table sample: sets step, close and of. Returns 0, or -1 and *err;
 * close() is called in either case if it is set. */
static int fleet_sample_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_samples *s = mem_new(1, sizeof(*s));

	r->of = s;
	r->whole = true;
	r->step = fleet_samples_step;
	r->close = fleet_samples_close;
	s->run = (uint32_t)r->capture->id;
	if (fleet_load_code(r->f, err))
		return -1;
	s->trust = trust_new(r->f->db, r->f->code, err);
	if (!s->trust)
		return -1;
	s->ev = events_open(r->f->db, r->f->ask->filter, EVENTS_FEW, err);
	if (!s->ev)
		return -1;
	s->comm = fleet_samples_unasked(events_comms(s->ev));
	s->type = fleet_samples_unasked(events_types(s->ev));
	return 0;
}

/* How a table begins: by a function, or else by a named query. */
static const struct {
	int (*begin)(struct fleet_rows *r, struct err *err);
	const char *query;
} fleet_begins[FLEET_TABLES] = {
	[FLEET_RUN] = { fleet_run_begin, NULL },
	[FLEET_EVENT] = { NULL, "fleet_event" },
	[FLEET_SAMPLE] = { fleet_sample_begin, NULL },
	[FLEET_STACK] = { fleet_stack_begin, NULL },
	[FLEET_NAME] = { fleet_name_begin, NULL },
	[FLEET_LOSS] = { NULL, "fleet_loss" },
	[FLEET_VERDICT] = { fleet_verdict_begin, NULL },
	[FLEET_TRUST] = { NULL, "fleet_trust" },
	[FLEET_FINDING] = { NULL, "fleet_finding" },
	[FLEET_FIELD] = { fleet_field_begin, NULL },
};

struct fleet_rows *fleet_rows_open(struct fleet *f, enum fleet_table_id table,
				   size_t run, struct err *err)
{
	struct fleet_rows *r = mem_new(1, sizeof(*r));

	r->f = f;
	if (fleet_tables[table].by_run) {
		r->capture = &f->capture[run];
		r->run = intern_add_bytes(&f->hashes, r->capture->run.id,
					  sizeof(r->capture->run.id));
	}
	struct fleet_fill *b = &r->fill;

	b->table = &fleet_tables[table];
	for (size_t i = 0; i < b->table->n_column; i++) {
		const struct fleet_column *c = &b->table->column[i];

		if (c->type == FLEET_STRING)
			b->cell[i].pool = &f->words;
		else if (c->type == FLEET_HASH)
			b->cell[i].pool = &f->hashes;
		if (c->list)
			mem_grow(b->of[i].first, b->of[i].cap_first, 1);
	}
	int rc;

	if (fleet_begins[table].begin) {
		rc = fleet_begins[table].begin(r, err);
	} else {
		r->step = fleet_query_step;
		r->close = fleet_query_close;
		r->of = ROWS_BY(f->db, fleet_begins[table].query, err,
				r->capture->id, r->capture->wall);
		rc = r->of ? 0 : -1;
	}
	if (!rc)
		return r;
	fleet_rows_close(r);
	return NULL;
}

int fleet_rows_next(struct fleet_rows *r, size_t max,
		    const struct fleet_batch **out, struct err *err)
{
	int ret = r->ended ? 0 : 1;
	struct fleet_fill *b = &r->fill;

	for (size_t i = 0; i < b->table->n_column; i++) {
		b->of[i].n = 0;
		if (b->of[i].first)
			b->of[i].first[0] = 0;
	}
	b->at = b->rows = b->items = 0;
	while (ret > 0 && b->rows < max && b->items < ITEMS_MAX) {
		if (r->capture && !r->whole)
			fleet_fill_id(b, r->run);
		ret = r->step(r, err);
		if (ret <= 0)
			break;
		assert(b->at == b->table->n_column);
		b->at = 0;
		b->rows++;
	}
	/* a statement that has ended would begin again if it were stepped */
	r->ended = ret <= 0;
	r->n += b->rows;
	if (!ret && r->capture) {
		size_t table = (size_t)(b->table - fleet_tables);

		r->capture->ended[table] = true;
		r->capture->n[table] = r->n;
	}
	for (size_t i = 0; i < b->table->n_column; i++) {
		b->cell[i].any = b->of[i].data;
		b->cell[i].first = b->of[i].first;
	}
	b->batch = (struct fleet_batch){ .table = b->table,
					 .n = b->rows,
					 .cell = b->cell };
	*out = &b->batch;
	return ret < 0 ? -1 : b->rows > 0;
}

void fleet_rows_close(struct fleet_rows *r)
{
	if (!r)
		return;
	if (r->close)
		r->close(r);
	for (size_t i = 0; i < r->fill.table->n_column; i++)
		free_all(r->fill.of[i].data, r->fill.of[i].first);
	free(r);
}
