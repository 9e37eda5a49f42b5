/* fields.c - stores the fields of events as columns: tables ev_<system>_<name>.
 *
 * This is the only place where names from captures become SQL text.
 * column_name_fold() leaves only [a-z0-9_] of them, a suffix makes them unique,
 * and they are quoted. There is one table for each event name; its columns are
 * the union over all captures. */

#include "schema/db/column_name.h"
#include "schema/write/writing.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

#define TABLES_MAX 2000
/* The most columns in all tables: SQLite takes some 400 bytes of memory for
 * each. */
#define COLUMNS_MAX 20000
#define TREES_MAX 256

struct ev_column {
	char *field; /* its name in the capture */
	char name[STORE_NAME_MAX];
};

/* One ev_ table. Column 0 is event_id. */
struct ev_table {
	char *event;
	char name[STORE_NAME_MAX];
	unsigned int table; /* in store.table */
	struct ev_column *col;
	size_t n_col, cap_col;
};

/* Which field is in a column. */
struct ev_place {
	uint16_t column;
	uint16_t field;
};

/* What is known about an event of a capture. place: by column. */
struct ev_map {
	bool asked, wanted;
	uint32_t ev; /* index + 1; 0: no table yet */
	struct ev_place *place;
	uint32_t n_place;
};

struct ev_source {
	struct ev_map *map;
	size_t n, cap;
};

struct fields {
	char *patterns;	       /* NULL: the default set */
	bool none, all, usual; /* usual: the default set */
	struct ev_table *ev;
	size_t n_ev, cap_ev;
	struct ev_source *source;
	size_t n_source, cap_source;
	unsigned int n_wanted;
	size_t n_columns; /* of all that are wanted */
};

struct fields *fields_new(const char *patterns)
{
	struct fields *fs = mem_new(1, sizeof(*fs));

	fs->none = patterns && !strcmp(patterns, "none");
	fs->usual = !patterns || !*patterns;
	fs->all = patterns && !strcmp(patterns, "all");
	/* The default set: sched for switches, task and sched_process for
	 * processes, irq and block_rq_complete for what a wait ended in
	 * (LTTng's events have no system). Events with stacks in their fields,
	 * or with fields that are in no payload, are added to it. */
	fs->patterns = mem_strdup(patterns ? patterns
					   : "sched:*,sched_*,task:*,irq:*,"
					     "irq_*,block:block_rq_complete,"
					     "block_rq_complete,limits_*");
	return fs;
}

void fields_free(struct fields *fs)
{
	if (!fs)
		return;
	for (size_t i = 0; i < fs->n_ev; i++) {
		for (size_t j = 0; j < fs->ev[i].n_col; j++)
			free(fs->ev[i].col[j].field);
		free_all(fs->ev[i].col, fs->ev[i].event);
	}
	for (size_t i = 0; i < fs->n_source; i++) {
		for (size_t j = 0; j < fs->source[i].n; j++)
			free(fs->source[i].map[j].place);
		free(fs->source[i].map);
	}
	free_all(fs->source, fs->ev, fs->patterns, fs);
}

bool fields_keep_raw(const struct fields *fs)
{
	return !fs->none;
}

/* Matches a pattern with '*' and '?'. Without recursion, so that no pattern
 * takes exponential time. */
static bool fields_matches(const char *pat, size_t len, const char *s)
{
	const char *end = pat + len;
	const char *star = NULL;
	const char *back = NULL;

	while (*s) {
		if (pat < end && *pat == '*') {
			star = ++pat;
			back = s;
		} else if (pat < end && (*pat == '?' || *pat == *s)) {
			pat++;
			s++;
		} else if (star) {
			pat = star;
			s = ++back;
		} else {
			return false;
		}
	}
	while (pat < end && *pat == '*')
		pat++;
	return pat == end;
}

/* A pattern without ':' is compared with the name after the system. */
static bool fields_is_wanted(const struct fields *fs, const char *event)
{
	const char *colon = strchr(event, ':');

	if (fs->none || fs->all)
		return fs->all;
	for (const char *p = fs->patterns; *p;) {
		size_t n = strcspn(p, ",");
		bool whole = memchr(p, ':', n) || !colon;

		if (fields_matches(p, n, whole ? event : colon + 1))
			return true;
		p += n + (p[n] == ',');
	}
	return false;
}

static struct ev_map *fields_map(struct fields *fs, unsigned int source,
				 uint32_t event)
{
	if (source < fs->n_source && event < fs->source[source].n)
		return &fs->source[source].map[event];
	struct ev_source *s =
		mem_at(fs->source, fs->n_source, fs->cap_source, source);

	return mem_at(s->map, s->n, s->cap, event);
}

/* Decides whether an event's fields are wanted. Not a part of
 * store_wants_fields(), which is called several times for each event and would
 * save and restore all the registers that this function needs. */
static __attribute__((noinline)) bool
fields_ask(struct fields *fs, const struct source *src, uint32_t event)
{
	if (event >= src->n_events)
		return false;
	struct ev_map *m = fields_map(fs, src->index, event);
	const struct event_def *e = &src->events[event];

	m->asked = true;
	/* a stack in a field becomes frames only if the field is stored as a
	 * column */
	m->wanted = e->n_fields && e->n_fields < BULK_COLUMNS && e->name &&
		    fs->n_wanted < TABLES_MAX &&
		    fs->n_columns + e->n_fields <= COLUMNS_MAX &&
		    (fields_is_wanted(fs, event_plain_name(e)) ||
		     (fs->usual &&
		      (e->adds_fields ||
		       any_where(e->n_fields, i, e->fields[i].is_stack))));
	if (m->wanted) {
		fs->n_wanted++;
		fs->n_columns += e->n_fields;
	}
	return m->wanted;
}

bool store_wants_fields(struct maker *mk, const struct source *src,
			uint32_t event)
{
	const struct fields *fs = mk->w->fields;

	if (src->index < fs->n_source && event < fs->source[src->index].n &&
	    fs->source[src->index].map[event].asked)
		return fs->source[src->index].map[event].wanted;
	return fields_ask(mk->w->fields, src, event);
}

static const char *fields_name_column(struct ev_table *ev, const char *field)
{
	struct ev_column c = { .field = mem_strdup(field) };

	store_column_name(field, c.name);
	size_t len = strlen(c.name);

	for (unsigned int n = 2;
	     !strcmp(c.name, "event_id") ||
	     any_where(ev->n_col, i, !strcmp(ev->col[i].name, c.name));
	     n++)
		snprintf(c.name + len, STORE_NAME_MAX - len, "_%u", n);
	struct ev_column *to = mem_add(ev->col, ev->n_col, ev->cap_col);

	*to = c;
	return to->name;
}

/* Adds the table with a column for each field of e, which may be NULL. SQLite
 * reads all tables again after each ALTER TABLE: with 2,000 events of 100
 * fields minutes. */
static int fields_new_table(struct maker *mk, const char *event,
			    const struct event_def *e, struct err *err)
{
	struct fields *fs = mk->w->fields;
	struct ev_table ev = { .event = mem_strdup(event) };
	sqlite3_str *sql = sqlite3_str_new(mk->db->db);

	column_name_fold("ev_", event, ev.name);
	size_t len = strlen(ev.name);

	for (unsigned int n = 2;
	     any_where(fs->n_ev, i, !strcmp(fs->ev[i].name, ev.name)); n++)
		snprintf(ev.name + len, STORE_NAME_MAX - len, "_%u", n);
	sqlite3_str_appendf(sql,
			    "CREATE TABLE \"%w\"(event_id INTEGER PRIMARY "
			    "KEY",
			    ev.name);
	for (uint32_t i = 0;
	     e && i < e->n_fields && ev.n_col + 1 < BULK_COLUMNS; i++)
		sqlite3_str_appendf(sql, ", \"%w\"",
				    fields_name_column(&ev, e->fields[i].name));
	sqlite3_str_appendall(sql, ")");

	char quoted[STORE_NAME_MAX + 2];
	/* each tree has a page in memory, also if the table is small */
	struct bulk_shape shape = { quoted, NULL, (unsigned int)ev.n_col + 1,
				    true,
				    fs->n_ev < TREES_MAX ? PAGES_ID
							 : PAGES_NONE };

	snprintf(quoted, sizeof(quoted), "\"%s\"", ev.name);
	ev.table = (unsigned int)maker_table_add(mk, &shape);
	*mem_add(fs->ev, fs->n_ev, fs->cap_ev) = ev;

	char *text = sqlite3_str_finish(sql);
	int rc = text ? maker_exec(mk, text, err)
		      : err_set(err, ERR_DB, "%s: out of memory", mk->db->path);

	sqlite3_free(text);
	return rc;
}

static int fields_new_column(struct maker *mk, struct ev_table *ev,
			     const char *field, struct err *err)
{
	struct bulk_table *t = mk->table[ev->table];

	/* queued rows have the old shape */
	if (!maker_read(mk, err))
		return -1;
	t->shape.n_columns++;
	bulk_table_reset(t);
	char *sql = sqlite3_mprintf("ALTER TABLE \"%w\" ADD COLUMN \"%w\"",
				    ev->name, fields_name_column(ev, field));
	int rc = sql ? maker_exec(mk, sql, err)
		     : err_set(err, ERR_DB, "%s: out of memory", mk->db->path);

	sqlite3_free(sql);
	return rc;
}

/* Returns the column of the nth field of this name, counted from 0, or 0 if
 * there is none: an event may have two fields of one name. */
static uint16_t fields_find_column(const struct ev_table *ev, const char *field,
				   unsigned int nth)
{
	for (size_t i = 0; i < ev->n_col; i++)
		if (!strcmp(ev->col[i].field, field) && !nth--)
			return (uint16_t)(i + 1);
	return 0;
}

static int fields_set_type_table(struct maker *mk, uint32_t type,
				 const char *name, struct err *err)
{
	char *sql = sqlite3_mprintf(
		"UPDATE event_type SET fields = %Q WHERE id = %u", name, type);
	int rc = sql ? maker_exec(mk, sql, err) : -1;

	sqlite3_free(sql);
	return rc;
}

/* Notes that the values of a column are ids of lists of addresses: merging
 * replaces them. */
static int fields_note_stack(struct maker *mk, const char *table,
			     const char *column, struct err *err)
{
	char key[2 * STORE_NAME_MAX + 16];

	snprintf(key, sizeof(key), "stack column %s.%s", table, column);
	return store_meta_number(mk, -1, key, 1, err);
}

static size_t fields_find_table(const struct fields *fs, const char *event)
{
	size_t i = 0;

	while (i < fs->n_ev && strcmp(fs->ev[i].event, event) != 0)
		i++;
	return i;
}

int fields_reach_table(struct maker *mk, const char *event, unsigned int *ev,
		       unsigned int *table, struct err *err)
{
	struct fields *fs = mk->w->fields;
	size_t i = fields_find_table(fs, event);

	if (i == fs->n_ev && fields_new_table(mk, event, NULL, err))
		return -1;
	*ev = (unsigned int)i;
	*table = fs->ev[i].table;
	return 0;
}

int fields_reach_column(struct maker *mk, unsigned int ev, const char *column,
			bool is_stack, unsigned int *at, struct err *err)
{
	struct ev_table *t = &mk->w->fields->ev[ev];

	*at = fields_find_column(t, column, 0);
	if (*at || t->n_col + 1 >= BULK_COLUMNS)
		return 0;
	if (fields_new_column(mk, t, column, err))
		return -1;
	*at = fields_find_column(t, column, 0);
	return is_stack ? fields_note_stack(mk, t->name, t->col[*at - 1].name,
					    err)
			: 0;
}

int fields_name_type(struct maker *mk, uint32_t type, const char *event,
		     struct err *err)
{
	const struct fields *fs = mk->w->fields;
	size_t i = fields_find_table(fs, event);

	return i < fs->n_ev
		       ? fields_set_type_table(mk, type, fs->ev[i].name, err)
		       : 0;
}

/* Maps the fields of an event to columns, and adds the columns that are
 * missing. Events with too many fields do not come here: store_wants_fields()
 * keeps their raw payload. If the union of the fields in all captures exceeds
 * the limit, the last fields are left out. */
static int fields_make_map(struct maker *mk, const struct source *src,
			   uint32_t event, struct ev_map *m, struct err *err)
{
	const struct event_def *e = &src->events[event];
	struct fields *fs = mk->w->fields;
	const char *plain = event_plain_name(e);
	size_t i = fields_find_table(fs, plain);

	if (i == fs->n_ev && fields_new_table(mk, plain, e, err))
		return -1;
	struct ev_table *ev = &fs->ev[i];
	uint32_t type = capture_type(mk, src->index, event, err);

	if (!type || fields_set_type_table(mk, type, ev->name, err))
		return -1;
	m->place = mem_new(e->n_fields, sizeof(*m->place));
	for (uint32_t f = 0; f < e->n_fields; f++) {
		const char *name = e->fields[f].name;
		unsigned int nth = 0; /* fields before it with this name */

		for (uint32_t k = 0; k < f; k++)
			nth += !strcmp(e->fields[k].name, name);
		if (!fields_find_column(ev, name, nth) &&
		    ev->n_col + 1 < BULK_COLUMNS &&
		    fields_new_column(mk, ev, name, err))
			return -1;
		uint16_t at = fields_find_column(ev, name, nth);

		if (!at)
			continue;
		/* the places are in the order of the columns */
		uint32_t k = m->n_place++;

		for (; k && m->place[k - 1].column > at; k--)
			m->place[k] = m->place[k - 1];
		m->place[k] = (struct ev_place){ at, (uint16_t)f };
		if (e->fields[f].is_stack &&
		    fields_note_stack(mk, ev->name, ev->col[at - 1].name, err))
			return -1;
	}
	m->ev = (uint32_t)i + 1;
	return 0;
}

int store_fields(struct maker *mk, const struct source *src, uint32_t event,
		 uint32_t event_id, const struct field *f, uint32_t n,
		 struct err *err)
{
	struct ev_map *m = fields_map(mk->w->fields, src->index, event);

	if (!m->ev && fields_make_map(mk, src, event, m, err))
		return -1;
	size_t bytes = 0;

	for (uint32_t i = 0; i < m->n_place; i++) {
		const struct field *v = &f[m->place[i].field];

		if (m->place[i].field >= n || !v->present)
			continue;
		if (v->text)
			bytes += strlen(v->text);
		else if (v->blob)
			bytes += v->len;
	}
	struct block *b = maker_packed(mk, mk->w->fields->ev[m->ev - 1].table,
				       bytes, err);

	if (!b)
		return -1;
	struct packing p = packing_begin(b, event_id, bytes);
	unsigned int column = 1;

	for (uint32_t i = 0; i < m->n_place; i++) {
		const struct ev_place *at = &m->place[i];

		for (; column < at->column; column++)
			packing_null(&p);
		column++;
		const struct field *v = &f[at->field];

		if (at->field >= n || !v->present)
			packing_null(&p);
		else if (v->text)
			packing_bytes(&p, RECORD_TEXT, v->text,
				      strlen(v->text));
		else if (v->blob)
			packing_bytes(&p, RECORD_BLOB, v->blob, v->len);
		else
			packing_int(&p, v->num);
	}
	packing_end(&p);
	return 0;
}
