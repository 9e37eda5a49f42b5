/* payloads.c - payloads of tracepoints: as text for script, as fields, as bytes
 * for perf.data. */
#include "analyze/samples/payloads.h"

#include <inttypes.h>
#include <strings.h>

#include "analyze/samples/chains.h"
#include "analyze/samples/events.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/tracepoint.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/source.h"
#include "stitch/text/safe_text.h"

/* Raw payloads are read along with the events, in the order of event ids. An
 * event has either a new payload, the next one of the table, or one that it
 * shares with an event shortly before it, which is kept here; others are looked
 * up. */

/* All zeros: not yet opened. */
struct payload_raws {
	struct rows *next; /* the payloads, in the order of their ids */
	int64_t last;	   /* id of the one read last */
	bool ended;
	struct rows *one;		   /* a payload by its id */
	struct kept_payload *kept, *again; /* read in order; looked up */
};

/* Payloads that are read again are among the last few thousand, or are read
 * many times; there is room for KEPT of either. Those that events share are not
 * longer than KEPT_BYTES (schema/write/fact_rows.c). */
#define KEPT 16384
#define KEPT_BYTES 120

struct kept_payload {
	int64_t id; /* 0: none */
	uint32_t len;
	char data[KEPT_BYTES];
};

/* Keeps a copy of a payload, if it is short enough. */
static void payload_raws_keep(struct kept_payload *kept, int64_t id,
			      const struct value *v)
{
	struct kept_payload *k = &kept[(uint64_t)id % KEPT];

	if (v->kind != VALUE_BLOB || v->len > KEPT_BYTES)
		return;
	k->id = id;
	k->len = (uint32_t)v->len;
	if (v->len)
		memcpy(k->data, v->text, v->len);
}

static bool payload_raws_find(const struct kept_payload *kept, int64_t id,
			      struct value *v)
{
	const struct kept_payload *k = &kept[(uint64_t)id % KEPT];

	if (!id || k->id != id)
		return false;
	*v = (struct value){ .kind = VALUE_BLOB,
			     .text = k->data,
			     .len = k->len };
	return true;
}

/* Reads on until the payload. Returns 1 and *v, 0: it is not there, or -1. */
static int payload_raws_read_on(struct payload_raws *raws, int64_t id,
				struct value *v, struct err *err)
{
	while (raws->last < id && !raws->ended) {
		int ret = rows_next(raws->next, err);

		if (ret < 0)
			return -1;
		if (!ret) {
			raws->ended = true;
			break;
		}
		raws->last = rows_int(raws->next, PAYLOADS_ID);
		*v = rows_value(raws->next, PAYLOADS_DATA);
		payload_raws_keep(raws->kept, raws->last, v);
	}
	return raws->last == id && !raws->ended;
}

/* Stores the bytes of a payload in *v, valid until the next call; v->kind is
 * not VALUE_BLOB if the database lacks them. Returns 0, or -1 and *err. */
static int payload_raws_read(struct payload_raws *raws, struct store *db,
			     int64_t id, struct value *v, struct err *err)
{
	if (!raws->kept) {
		raws->kept = mem_new(KEPT, sizeof(*raws->kept));
		raws->again = mem_new(KEPT, sizeof(*raws->again));
		raws->next = rows_of(db, "payloads", err);
		if (!raws->next)
			return -1;
		rows_by_pages(raws->next, "payload");
	}
	if (raws->last < id) {
		int ret = payload_raws_read_on(raws, id, v, err);

		if (ret)
			return ret < 0 ? -1 : 0;
	} else if (payload_raws_find(raws->kept, id, v) ||
		   payload_raws_find(raws->again, id, v)) {
		return 0;
	}
	/* Read the payload by a statement of its own, which takes 0.6 us with
	 * the lock that SQLite has for raws->next. */
	const struct value key = { .kind = VALUE_INT, .num = id };
	int ret;

	if (raws->one) {
		ret = rows_again(raws->one, &key, err);
	} else {
		raws->one =
			rows_open(db, store_sql("payload_data"), &key, 1, err);
		ret = raws->one ? 0 : -1;
	}
	if (!ret)
		ret = rows_next(raws->one, err);
	*v = (struct value){ 0 };
	if (ret > 0)
		*v = rows_value(raws->one, PAYLOAD_DATA_DATA);
	payload_raws_keep(raws->again, id, v);
	return ret < 0 ? -1 : 0;
}

#define TEXT_FIRST 4096
#define TEXT_MOST ((size_t)64 << 20) /* more than a real line */
#define MEMOS 8192
#define MEMO_TEXT 160

/* An ev_ table. */
struct payload_rows {
	char *name;
	struct row_cursor c;
};

struct type_payload {
	struct payload *payload; /* NULL: no format */
	size_t cursor;	/* 1 + index in payloads.cursor; 0: no ev_ table */
	size_t *column; /* that of each field in the table; 0: none */
	struct field_def *text; /* if it is a text capture's, else NULL */
	size_t n_text;
};

/* The text of a payload that was printed before: system calls of a loop share
 * one, and following its format takes ten times as long as finding it here. */
struct payload_memo {
	int64_t type, id; /* id: of the payload; 0: none */
	size_t len;
	char text[MEMO_TEXT];
};

/* A function of the kernel, from its start to the last address in it that the
 * database names. */
struct payload_symbol {
	struct tp_symbol is;
	uint64_t last;
};

struct payloads {
	struct store *db;
	struct payload_symbol *symbol; /* by start */
	size_t n_symbol, cap_symbol;
	bool has_symbols;
	struct payload_memo *memo; /* MEMOS, by id; NULL: not yet made */
	struct type_payload *type;
	size_t n_type, cap_type;
	struct payload_rows *cursor;
	size_t n_cursor, cap_cursor;
	struct field *field;
	size_t cap_field;
	struct payload_raws raws;
	struct chains
		*chains; /* for fields that are stacks; NULL: not yet loaded */
	struct arena stacks; /* texts of such fields of one event */
	struct arena names;
	/* of the last event; they grow with the longest */
	char *raw, *text;
	size_t cap_raw, cap_text;
};

bool payloads_long32(const char *arch)
{
	return *arch && !strstr(arch, "64") && strcmp(arch, "s390x") &&
	       strcmp(arch, "ppc64le");
}

struct payload *payloads_of_row(const struct rows *r)
{
	const struct payload_machine on = {
		.big = rows_int(r, PRINT_FORMATS_BIG_ENDIAN) != 0,
		.long32 = payloads_long32(rows_text(r, PRINT_FORMATS_ARCH)),
		.release = rows_text(r, PRINT_FORMATS_RELEASE),
	};
	const char *format = rows_text(r, PRINT_FORMATS_FORMAT);

	return *format ? payload_new(format, &on) : NULL;
}

/* Finds the function at an address. Returns false if none is known, or if two
 * captures have different ones there. */
static bool payloads_symbol(void *of, uint64_t addr, struct tp_symbol *out)
{
	struct payloads *ps = of;

	if (!ps->has_symbols) {
		/* Only a few formats name functions of the kernel. If this
		 * fails, they have no names. */
		struct rows *r = rows_of(ps->db, "payload_symbols", NULL);

		ps->has_symbols = true;
		while (rows_step(r)) {
			const char *path = rows_text(r, PAYLOAD_SYMBOLS_PATH);
			const char *name = arena_strdup(
				&ps->names, rows_text(r, PAYLOAD_SYMBOLS_NAME));
			struct payload_symbol s = {
				.is = { .name = name,
					.len = strlen(name),
					.start = (uint64_t)rows_int(
						r, PAYLOAD_SYMBOLS_ADDR),
					.size = (uint64_t)rows_int(
						r, PAYLOAD_SYMBOLS_SIZE) },
				.last = (uint64_t)rows_int(
					r, PAYLOAD_SYMBOLS_LAST),
			};

			/* "[veth]", or a file of that name */
			if (rows_int(r, PAYLOAD_SYMBOLS_IS_MODULE) &&
			    *path == '[') {
				s.is.module =
					arena_strdup(&ps->names, path + 1);
				s.is.module_len = strcspn(s.is.module, "]");
			}
			*mem_add(ps->symbol, ps->n_symbol, ps->cap_symbol) = s;
		}
		rows_close(r);
	}
	const size_t n =
		search_where(ps->n_symbol, i, ps->symbol[i].is.start > addr);
	const struct payload_symbol *s = n ? &ps->symbol[n - 1] : NULL;

	if (!s || s->last < addr ||
	    (n > 1 && s[-1].last >= addr && strcmp(s[-1].is.name, s->is.name)))
		return false;
	*out = s->is;
	return true;
}

struct payloads *payloads_open(struct store *db, struct err *err)
{
	struct payloads *ps = mem_new(1, sizeof(*ps));
	struct rows *r = rows_of(db, "list_ev_tables", err);

	ps->db = db;
	mem_grow(ps->raw, ps->cap_raw, TEXT_FIRST);
	while (rows_step(r)) {
		const char *name = rows_text(r, LIST_EV_TABLES_NAME);
		struct payload_rows *added;

		if (!row_cursor_is_table(name))
			continue;
		added = mem_add(ps->cursor, ps->n_cursor, ps->cap_cursor);
		added->name = mem_strdup(name);
		if (row_cursor_open_table(&added->c, db, name, true, err)) {
			rows_stop(r);
			goto fail;
		}
	}
	if (rows_end(r, err))
		goto fail;
	r = rows_of(db, "print_formats", err);

	while (rows_step(r)) {
		struct type_payload t = { 0 };
		const char *table = rows_text(r, PRINT_FORMATS_FIELDS);
		t.payload = payloads_of_row(r);
		if (t.payload) {
			t.payload->tp.symbol = payloads_symbol;
			t.payload->tp.symbols_of = ps;
		}
		for (size_t i = 0; t.payload && i < ps->n_cursor; i++)
			if (!strcmp(ps->cursor[i].name, table))
				t.cursor = i + 1;
		if (t.cursor) {
			const struct rows *ev = ps->cursor[t.cursor - 1].c.rows;
			char name[STORE_NAME_MAX];
			const struct tp_format *fmt = &t.payload->fmt;

			t.column = mem_new(fmt->n + 1, sizeof(*t.column));
			for (size_t i = 0; i < fmt->n; i++) {
				store_column_name(fmt->def[i].name, name);
				for (size_t j = 1; j < rows_columns(ev); j++)
					if (!strcmp(rows_name(ev, j), name))
						t.column[i] = j;
			}
		}
		if (t.cursor && rows_int(r, PRINT_FORMATS_IS_TEXT)) {
			/* A capture that is text has one format for a whole
			 * line. The fields that the reader found in lines are
			 * in columns, as text. */
			const struct rows *c = ps->cursor[t.cursor - 1].c.rows;

			t.n_text = rows_columns(c) - 1;
			t.text = mem_new(t.n_text + 1, sizeof(*t.text));
			for (size_t i = 0; i < t.n_text; i++) {
				t.text[i].name = arena_strdup(
					&ps->names, rows_name(c, i + 1));
				t.text[i].is_text = true;
			}
		}
		*mem_add(ps->type, ps->n_type, ps->cap_type) = t;
	}
	if (rows_end(r, err))
		goto fail;
	return ps;
fail:
	payloads_close(ps);
	return NULL;
}

void payloads_close(struct payloads *ps)
{
	if (!ps)
		return;
	for (size_t i = 0; i < ps->n_type; i++) {
		payload_free(ps->type[i].payload);
		free_all(ps->type[i].column, ps->type[i].text);
	}
	for (size_t i = 0; i < ps->n_cursor; i++) {
		row_cursor_close(&ps->cursor[i].c);
		free(ps->cursor[i].name);
	}
	rows_close(ps->raws.next);
	rows_close(ps->raws.one);
	free_all(ps->raws.kept, ps->raws.again, ps->type, ps->cursor, ps->field,
		 ps->memo, ps->symbol, ps->raw, ps->text);
	chains_free(ps->chains);
	arena_release(&ps->stacks);
	arena_release(&ps->names);
	free(ps);
}

/* Finds the payload of an event. Returns 1 if its fields are in ps->field, 2 if
 * it is raw, 0 if it has none, or -1 and *err. */
static int payloads_find_event(struct payloads *ps, const struct event_row *e,
			       const struct type_payload *t, struct err *err)
{
	const struct tp_format *fmt = &t->payload->fmt;
	int rc = 0;

	if (t->cursor)
		rc = row_cursor_seek(&ps->cursor[t->cursor - 1].c, e->id, err);
	if (rc < 0)
		return -1;
	if (!rc)
		return e->payload ? 2 : 0;
	const struct rows *r = ps->cursor[t->cursor - 1].c.rows;
	mem_grow(ps->field, ps->cap_field, fmt->n + 1);
	if (ps->stacks.used)
		arena_release(&ps->stacks);
	for (size_t i = 0; i < fmt->n; i++) {
		const struct field_def *def = &fmt->def[i];
		struct field *f = &ps->field[i];
		struct value v = { .kind = VALUE_NULL };

		if (t->column[i])
			v = rows_value(r, t->column[i]);
		*f = (struct field){ .text = fmt->field[i].of_probe ? TP_FAULT
								    : NULL };
		if (v.kind == VALUE_INT && def->is_stack) {
			/* like the kernel, but in one line */
			const struct chain_style style = { .sym = true,
							   .symoff = true,
							   .tab = true };
			size_t len;

			if (!ps->chains)
				ps->chains = chains_load(ps->db, &style, err);
			if (!ps->chains)
				return -1;
			const char *lines =
				chains_text(ps->chains, v.num, &len, err);

			if (!lines)
				return -1;
			/* a tab becomes four bytes, and its line has another
			 * one at its end */
			char *text = arena_take(&ps->stacks, len * 4 + 1);
			char *to = text;

			for (size_t k = 0; k < len; k++) {
				if (lines[k] == '\t') {
					memcpy(to, " => ", 4);
					to += 4;
				} else if (lines[k] != '\n') {
					*to++ = lines[k];
				}
			}
			*to = '\0';
			*f = (struct field){ .present = true,
					     .text = text,
					     .len = (uint32_t)(to - text) };
		} else if (v.kind == VALUE_INT && !def->is_text &&
			   !def->is_blob) {
			*f = (struct field){ .present = true, .num = v.num };
		} else if (v.kind == VALUE_TEXT && def->is_text) {
			*f = (struct field){ .present = true,
					     .text = v.text,
					     .len = (uint32_t)v.len };
		} else if (v.kind == VALUE_BLOB && def->is_blob) {
			*f = (struct field){ .present = true,
					     .blob = v.text,
					     .len = (uint32_t)v.len };
		}
	}
	return 1;
}

/* Returns the payload of an event type; NULL if it has none. */
static const struct type_payload *payload_of(const struct payloads *ps,
					     int64_t type)
{
	return type >= 1 && (uint64_t)type <= ps->n_type &&
			       ps->type[type - 1].payload
		       ? &ps->type[type - 1]
		       : NULL;
}

const char *payloads_text(struct payloads *ps, const struct event_row *e,
			  size_t *len, struct err *err)
{
	const struct type_payload *t = payload_of(ps, e->type);
	struct payload_memo *m = NULL;
	struct value v = { 0 };

	*len = 0;
	ps->raw[0] = '\0';
	if (!t)
		return ps->raw;
	int rc = payloads_find_event(ps, e, t, err);

	if (rc < 0)
		return NULL;
	if (rc == 2) {
		if (!ps->memo)
			ps->memo = mem_new(MEMOS, sizeof(*ps->memo));
		m = &ps->memo[(uint64_t)e->payload % MEMOS];
		if (m->id == e->payload && m->type == e->type) {
			*len = m->len;
			return m->text;
		}
		if (payload_raws_read(&ps->raws, ps->db, e->payload, &v, err))
			return NULL;
	}
	while (rc == 1 || v.kind == VALUE_BLOB) {
		*len = rc == 1 ? tp_print_fields(&t->payload->tp,
						 &t->payload->fmt, ps->field,
						 ps->raw, ps->cap_raw)
			       : tp_print(&t->payload->tp, &t->payload->fmt,
					  v.text, v.len, ps->raw, ps->cap_raw);
		/* if it is full, there may be more */
		if (*len + 1 < ps->cap_raw || ps->cap_raw >= TEXT_MOST)
			break;
		mem_grow(ps->raw, ps->cap_raw, ps->cap_raw + 1);
	}
	const char *text = ps->raw;

	if (safe_text_plain(text, *len) < *len) {
		mem_grow(ps->text, ps->cap_text, *len * 4 + 1);
		*len = safe_text_clean_buf(ps->text, ps->cap_text, text, *len,
					   NULL);
		text = ps->text;
	}
	if (m && *len < MEMO_TEXT) {
		m->type = e->type;
		m->id = e->payload;
		m->len = *len;
		memcpy(m->text, text, *len + 1);
	}
	return text;
}

bool payloads_is_message(const char *event)
{
	const char *colon = strrchr(event, ':');
	const char *name = colon ? colon + 1 : event;

	return !strcmp(name, "print") || !strcmp(name, "bprint") ||
	       !strcmp(name, "tracing_mark_write");
}

const struct field_def *payloads_defs(const struct payloads *ps, int64_t type,
				      size_t *n)
{
	const struct type_payload *t = payload_of(ps, type);

	*n = t ? t->n_text : 0;
	if (!t || t->text)
		return t ? t->text : NULL;
	*n = t->payload->fmt.n;
	return t->payload->fmt.def;
}

size_t payload_field(const struct field_def *def, size_t n, const char *name)
{
	for (size_t i = 0; name && i < n; i++)
		if (!strcmp(def[i].name, name))
			return i + 1;
	return 0;
}

int payloads_fields(struct payloads *ps, const struct event_row *e,
		    const struct field **out, struct err *err)
{
	const struct type_payload *t = payload_of(ps, e->type);
	int rc = t ? payloads_find_event(ps, e, t, err) : 0;
	struct value v;

	if (rc == 1 && t->text) {
		const struct rows *r = ps->cursor[t->cursor - 1].c.rows;
		char number[24];

		mem_grow(ps->field, ps->cap_field, t->n_text + 1);
		for (size_t i = 0; i < t->n_text; i++) {
			struct value x = rows_value(r, i + 1);

			if (x.kind == VALUE_INT) {
				snprintf(number, sizeof(number), "%" PRId64,
					 x.num);
				x.text = arena_strdup(&ps->stacks, number);
			}
			ps->field[i] = (struct field){
				.present = x.kind == VALUE_INT ||
					   x.kind == VALUE_TEXT,
				.text = x.text,
			};
		}
	}
	*out = ps->field;
	if (rc != 2 || t->text)
		return rc < 2 ? rc : 0;
	if (payload_raws_read(&ps->raws, ps->db, e->payload, &v, err))
		return -1;
	if (v.kind != VALUE_BLOB)
		return 0;
	mem_grow(ps->field, ps->cap_field, t->payload->fmt.n + 1);
	tp_fields_take(&t->payload->tp, &t->payload->fmt, v.text, v.len,
		       ps->field);
	*out = ps->field;
	return 1;
}

const char *payloads_value_text(struct payloads *ps, int64_t type,
				const char *column, const char *value)
{
	const struct type_payload *t = payload_of(ps, type);
	char name[STORE_NAME_MAX];
	const size_t n = t ? t->payload->fmt.n : 0;
	const struct field_def *def = t ? t->payload->fmt.def : NULL;
	size_t i = 0;

	for (; i < n; i++) {
		store_column_name(def[i].name, name);
		if (!strcasecmp(name, column))
			break;
	}
	if (i == n || t->text || def[i].is_text || def[i].is_blob ||
	    def[i].is_stack || !*value)
		return value;
	const struct field f = { .present = true,
				 .num = (int64_t)strtoull(value, NULL, 0) };

	return tp_print_value_of(&t->payload->tp, &t->payload->fmt, i, &f,
				 ps->raw, ps->cap_raw);
}

char *payloads_perf_format(const struct payloads *ps, int64_t type,
			   const char *name, uint32_t id)
{
	const struct type_payload *t = payload_of(ps, type);

	return t ? tp_make_format(&t->payload->fmt, name, id) : NULL;
}

int payloads_perf(struct payloads *ps, const struct event_row *e,
		  const struct payload_of *of, const void **data, size_t *len,
		  struct err *err)
{
	const struct type_payload *t = payload_of(ps, e->type);
	int rc = t ? payloads_find_event(ps, e, t, err) : 0;
	struct value v;

	if (rc == 1)
		*data = tp_make_payload(&t->payload->tp, &t->payload->fmt,
					ps->field, of->id, of->tid, len);
	if (rc != 2)
		return rc;
	if (payload_raws_read(&ps->raws, ps->db, e->payload, &v, err))
		return -1;
	if (v.kind != VALUE_BLOB)
		return 0;
	*data = tp_copy_payload(&t->payload->tp, &t->payload->fmt, v.text,
				v.len, of->id, of->tid, len);
	return 1;
}
