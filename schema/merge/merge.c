/* merge.c - makes one database of several: decides which captures to keep, and
 * brings their events in one order.
 *
 * The open parts are sorted by their next event, the earliest last. That part
 * is copied until another one has an earlier event, so that databases that
 * follow each other are copied one after the other. */
#include "schema/merge/merge.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

#include "schema/columns.h"
#include "schema/db/page_format.h"
#include "schema/merge/merging.h"
#include "schema/store.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/record.h"

/* The B-tree of sqlite_schema has the first pages of capture and meta, whose
 * rows are few ("B-tree Pages" and "Record Format" of SQLite's documented file
 * format). What is in overflow pages is not read. */

#define DEPTH 6	   /* the most levels of a small B-tree */
#define PAGES 200  /* the most pages that are read */
#define COLUMNS 13 /* the most columns of a row that are read */

/* Columns of the tables. */
enum {
	SCHEMA_TYPE,
	SCHEMA_NAME,
	SCHEMA_ROOT = 3,
	CAPTURE_FIRST = 11,
	CAPTURE_LAST,
	META_CAPTURE = 0,
	META_KEY,
	META_VALUE
};

struct times_column {
	uint64_t type; /* serial type; 0: NULL */
	const unsigned char *at;
	size_t len;
};

struct times_file {
	int fd;
	uint32_t size;		/* of a page */
	unsigned int left;	/* pages that may still be read */
	uint32_t capture, meta; /* first pages */
	struct database_times *out;
	bool bad;
};

/* Called for each row, with its rowid (0 in an index); false ends the walk. */
typedef bool times_fn(struct times_file *f, const struct times_column *c);

static bool times_int(const struct times_column *c, int64_t *out)
{
	unsigned char v[RECORD_SLACK] = { 0 };

	if (!c->at || !record_is_int(c->type))
		return false;
	memcpy(v, c->at, c->len);
	*out = record_int(c->type, v, c->len);
	return true;
}

static bool times_is_text(const struct times_column *c, const char *s)
{
	return c->type >= RECORD_TEXT && c->type % 2 && c->at &&
	       c->len == strlen(s) && !memcmp(c->at, s, c->len);
}

/* Splits a record, of which `len` bytes are here. `at` of a column that is not
 * among these bytes is NULL; returns false if one of the columns up to
 * META_VALUE is missing. */
static bool times_record(const unsigned char *p, size_t len,
			 struct times_column c[COLUMNS])
{
	const unsigned char *end = p + len;
	uint64_t head;
	size_t at = record_varint(p, end, &head);
	size_t body;
	unsigned int i = 0;

	memset(c, 0, COLUMNS * sizeof(*c));
	if (!at || head > len)
		return false;
	for (body = (size_t)head; at < head && i < COLUMNS; i++) {
		size_t n = record_varint(p + at, p + head, &c[i].type);

		c[i].len = record_type_len(c[i].type);
		if (!n || c[i].len > len - body)
			return i > META_VALUE; /* the rest is not here */
		c[i].at = p + body;
		body += c[i].len;
		at += n;
	}
	return true;
}

static bool times_row(struct times_file *f, const unsigned char *cell,
		      const unsigned char *end, bool table, times_fn *fn)
{
	struct times_column c[COLUMNS];
	size_t least = record_least(f->size);
	size_t most = record_most(f->size, table);
	uint64_t len, id;
	size_t n = record_varint(cell, end, &len);
	size_t k = n && table ? record_varint(cell + n, end, &id) : 0;

	if (!n || (table && !k))
		f->bad = true;
	if (f->bad)
		return false;
	cell += n + k;
	if (len > most)
		len = least;
	if (len > (size_t)(end - cell) || !times_record(cell, (size_t)len, c)) {
		f->bad = true;
		return false;
	}
	return fn(f, c);
}

static bool times_walk(struct times_file *f, uint32_t page, unsigned int depth,
		       times_fn *fn);

/* Walks the cells of a page. Returns false at the end of the walk. */
static bool times_cells(struct times_file *f, const unsigned char *p,
			uint32_t from, unsigned int depth, times_fn *fn)
{
	const unsigned char *end = p + f->size;
	int type = p[from];
	bool inner = type == PAGE_INDEX_INNER || type == PAGE_TABLE_INNER;
	bool table = type == PAGE_TABLE_INNER || type == PAGE_TABLE_LEAF;
	uint32_t n = (uint32_t)record_be(p + from + PAGE_CELLS, 2);
	uint32_t first = from + (inner ? PAGE_INNER_HEAD : PAGE_LEAF_HEAD);

	if ((!inner && type != PAGE_INDEX_LEAF && type != PAGE_TABLE_LEAF) ||
	    first + 2 * n > f->size)
		f->bad = true;
	for (uint32_t i = 0; !f->bad && i < n; i++) {
		uint32_t at = (uint32_t)record_be(p + first + 2 * i, 2);

		if (at < first || at + PAGE_CELL_MIN > f->size) {
			f->bad = true;
			break;
		}
		if (inner && !times_walk(f, (uint32_t)record_be(p + at, 4),
					 depth + 1, fn))
			return false;
		if ((!inner || !table) &&
		    !times_row(f, p + at + (inner ? PAGE_POINTER : 0), end,
			       table, fn))
			return false;
	}
	if (!f->bad && inner)
		return times_walk(f,
				  (uint32_t)record_be(p + from + PAGE_RIGHT, 4),
				  depth + 1, fn);
	return !f->bad;
}

static bool times_walk(struct times_file *f, uint32_t page, unsigned int depth,
		       times_fn *fn)
{
	bool ret = false;

	if (!page || depth > DEPTH || !f->left--) {
		f->bad = true;
		return false;
	}
	unsigned char *p = mem_new(1, f->size);
	if (pread(f->fd, p, f->size, (off_t)(page - 1) * f->size) ==
	    (ssize_t)f->size)
		ret = times_cells(f, p, page == 1 ? HEAD_SIZE : 0, depth, fn);
	else
		f->bad = true;
	free(p);
	return ret;
}

static bool times_take_schema(struct times_file *f,
			      const struct times_column *c)
{
	int64_t root;

	if (!times_is_text(&c[SCHEMA_TYPE], "table") ||
	    !times_int(&c[SCHEMA_ROOT], &root) || root < 1 || root > UINT32_MAX)
		return true;
	if (times_is_text(&c[SCHEMA_NAME], "capture"))
		f->capture = (uint32_t)root;
	if (times_is_text(&c[SCHEMA_NAME], "meta"))
		f->meta = (uint32_t)root;
	return !f->capture || !f->meta;
}

static bool times_take_capture(struct times_file *f,
			       const struct times_column *c)
{
	int64_t t;

	/* the path, the command or others were too long for the page */
	if ((c[CAPTURE_FIRST].type && !c[CAPTURE_FIRST].at) ||
	    (c[CAPTURE_FIRST].type && !c[CAPTURE_LAST].at) ||
	    (!c[CAPTURE_FIRST].at && !c[CAPTURE_FIRST - 1].at)) {
		f->bad = true;
		return false;
	}
	if (times_int(&c[CAPTURE_FIRST], &t) &&
	    (f->out->first == TIME_NONE || t < f->out->first))
		f->out->first = t;
	if (times_int(&c[CAPTURE_LAST], &t) &&
	    (f->out->last == TIME_NONE || t > f->out->last))
		f->out->last = t;
	return true;
}

static bool times_take_meta(struct times_file *f, const struct times_column *c)
{
	int64_t capture;

	if (!times_int(&c[META_CAPTURE], &capture) || capture != 1 ||
	    !times_is_text(&c[META_KEY], "wall_offset_ns"))
		return true;
	f->out->has_wall = times_int(&c[META_VALUE], &f->out->wall);
	return false;
}

/* Returns whether the header is that of a finished database of this version,
 * with our page size and no other kind of journal. */
static bool times_head(struct times_file *f)
{
	unsigned char head[HEAD_SIZE];

	if (pread(f->fd, head, HEAD_SIZE, 0) != HEAD_SIZE ||
	    !store_is_database(head, HEAD_SIZE) || !page_head_is_plain(head) ||
	    (uint32_t)record_be(head + HEAD_VERSION, 4) != SCHEMA_VERSION)
		return false;
	f->size = page_size_of(head);
	return f->size >= 4096 && f->size <= 32768 &&
	       !(f->size & (f->size - 1));
}

bool database_times_read(const char *path, struct database_times *out)
{
	struct times_file f = { .left = PAGES, .out = out };

	*out = (struct database_times){ TIME_NONE, TIME_NONE, false, 0 };
	f.fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	if (f.fd < 0)
		return false;
	f.bad = !times_head(&f);
	if (!f.bad)
		times_walk(&f, 1, 0, times_take_schema);
	if (!f.bad && f.capture && f.meta) {
		times_walk(&f, f.capture, 0, times_take_capture);
		if (!f.bad)
			times_walk(&f, f.meta, 0, times_take_meta);
	} else {
		f.bad = true;
	}
	close(f.fd);
	return !f.bad && out->first != TIME_NONE && out->last != TIME_NONE;
}

struct merge *merge_new(void)
{
	return mem_new(1, sizeof(struct merge));
}

void merge_free(struct merge *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->n_input; i++) {
		free_all(m->input[i].path, m->input[i].place,
			 m->input[i].capture);
	}
	free_all(m->input, m->capture);
	intern_release(&m->keys);
	intern_release(&m->notes);
	intern_release(&m->kernel);
	merge_code_free(m->code);
	merge_groups_free(m->groups);
	free(m);
}

static void merge_widen(int64_t *first, int64_t *last, int64_t t)
{
	if (*first == TIME_NONE || t < *first)
		*first = t;
	if (*last == TIME_NONE || t > *last)
		*last = t;
}

void merge_content_key(const char *content, char key[MERGE_KEY_SIZE])
{
	size_t n = strlen(content);

	if (n == 32 && strspn(content, "0123456789abcdef") == n)
		snprintf(key, MERGE_KEY_SIZE, "%s", content);
	else
		snprintf(key, MERGE_KEY_SIZE, "%016" PRIx64 "%016" PRIx64,
			 hash_content(content, n, 1),
			 hash_content(content, n, 2));
}

static struct merge_input *merge_new_input(struct merge *m, const char *path)
{
	struct merge_input *in = mem_add(m->input, m->n_input, m->cap_input);
	struct stat st;

	*in = (struct merge_input){ .path = mem_strdup(path),
				    .first = TIME_NONE,
				    .last = TIME_NONE };
	if (!stat(path, &st))
		in->bytes = (uint64_t)st.st_size;
	return in;
}

int merge_is_result(const char *path, bool *is_result, struct err *err)
{
	struct store *db = store_open(path, err);
	int64_t is = 0;
	int rc =
		db ? db_number(db, store_sql("merge_is_result"), &is, err) : -1;

	*is_result = is != 0;
	store_close(db);
	return rc;
}

/* Reads which captures a database has. */
static int merge_load(struct merge *m, struct merge_input *in, struct err *err)
{
	struct store *db = store_open(in->path, err);
	struct rows *r = db ? rows_of(db, "merge_known", err) : NULL;

	in->first = in->last = TIME_NONE;
	while (rows_step(r)) {
		struct value wall = rows_value(r, MERGE_KNOWN_WALL);
		struct value first = rows_value(r, MERGE_KNOWN_FIRST_NS);
		struct value last = rows_value(r, MERGE_KNOWN_LAST_NS);
		char key[MERGE_KEY_SIZE]; /* a hash of the content */

		merge_content_key(rows_text(r, MERGE_KNOWN_CONTENT), key);
		*mem_add(in->capture, in->n_capture,
			 in->cap_capture) = (struct merge_capture){
			.id = (uint32_t)rows_int(r, MERGE_KNOWN_ID),
			.key = intern_add(&m->keys, key),
			.first =
				first.kind == VALUE_INT ? first.num : TIME_NONE,
			.aligned = rows_int(r, MERGE_KNOWN_ALIGNED) != 0,
		};
		if (first.kind == VALUE_INT)
			merge_widen(&in->first, &in->last, first.num);
		if (last.kind == VALUE_INT)
			merge_widen(&in->first, &in->last, last.num);
		in->named = rows_int(r, MERGE_KNOWN_NAMED);
		if (in->n_capture == 1) {
			in->place = mem_strdup(rows_text(r, MERGE_KNOWN_PLACE));
			in->has_wall = wall.kind == VALUE_INT;
			in->wall = wall.num;
		}
	}
	if (!in->place)
		in->place = mem_strdup("");
	int rc = rows_end(r, err);

	store_close(db);
	return rc;
}

int merge_add(struct merge *m, const char *path, struct err *err)
{
	return merge_load(m, merge_new_input(m, path), err);
}

int merge_add_later(struct merge *m, const char *path, struct err *err)
{
	struct merge_input *in = merge_new_input(m, path);
	struct database_times p;

	if (!database_times_read(path, &p))
		return merge_load(m, in, err);
	in->first = p.first;
	in->last = p.last;
	in->has_wall = p.has_wall;
	in->wall = p.wall;
	return 0;
}

int merge_load_chosen(struct merge *m, struct err *err)
{
	for (size_t i = 0; i < m->n_input; i++)
		if (!m->input[i].out && !m->input[i].place &&
		    merge_load(m, &m->input[i], err))
			return -1;
	return 0;
}

/* Times since 1970 are above this, and times since a boot below it. */
#define CENTURY INT64_C(946684800000000000)

static int64_t merge_sum(int64_t a, int64_t b)
{
	int64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? a : sum;
}

/* Returns whether a database has events in the chosen times. */
static bool merge_in_range(const struct merge_input *in,
			   const struct merge_choice *c, bool by_wall)
{
	int64_t add = by_wall ? in->wall : 0;

	if (in->last == TIME_NONE)
		return !c->has_from && !c->has_to;
	return c->has_from && merge_sum(in->last, add) < c->from
		       ? false
		       : !c->has_to || merge_sum(in->first, add) <= c->to;
}

static int64_t merge_end(const struct merge_input *in, bool walls)
{
	if (in->last == TIME_NONE)
		return INT64_MIN;
	return walls ? merge_sum(in->last, in->wall) : in->last;
}

COMPARE_FUNCTION_OF(merge_compare_end, struct merge_input, bool,
		    compare_numbers(merge_end(x, *of), merge_end(y, *of))
			    ?: strcmp(x->path, y->path));

int merge_choose(struct merge *m, const struct merge_choice *c, struct err *err)
{
	/* a clock of this century needs no offset */
	const struct merge_input *of = m->input;
	bool walls = !any_where(m->n_input, i,
				!of[i].has_wall && of[i].last != TIME_NONE &&
					of[i].last < CENTURY);
	bool by_wall = (c->has_from && c->from >= CENTURY) ||
		       (c->has_to && c->to >= CENTURY);
	int64_t newest = INT64_MIN;
	size_t n = 0;

	if (by_wall && !walls)
		return err_set(err, ERR_USAGE,
			       "--from and --to: not all of the databases know "
			       "the time of day; give seconds of their clock");
	sort_items_by(m->input, m->n_input, merge_compare_end, &walls);
	if (m->n_input)
		newest = merge_end(&m->input[m->n_input - 1], walls);
	for (size_t i = 0; i < m->n_input; i++) {
		struct merge_input *in = &m->input[i];

		in->out = !merge_in_range(in, c, by_wall) ||
			  (c->since && newest != INT64_MIN &&
			   (uint64_t)newest - (uint64_t)merge_end(in, walls) >
				   (uint64_t)c->since) ||
			  (c->last && m->n_input - i > c->last);
		n += !in->out;
	}
	return n ? 0
		 : err_set(err, ERR_USAGE,
			   "none of the %zu databases has events in the time "
			   "that was chosen",
			   m->n_input);
}

uint64_t merge_bytes(const struct merge *m)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < m->n_input; i++)
		sum += m->input[i].out ? 0 : m->input[i].bytes;
	return sum;
}

const char *merge_only(const struct merge *m)
{
	const char *path = NULL;

	for (size_t i = 0; i < m->n_input; i++) {
		if (m->input[i].out)
			continue;
		if (path)
			return NULL;
		path = m->input[i].path;
	}
	return path;
}

/* Sorts databases with more aligned captures first: a capture that is aligned
 * with others is taken from there. Of others, those with more names and lines
 * come first. */
static int merge_compare_size(const void *pa, const void *pb)
{
	const struct merge_input *a = *(const struct merge_input *const *)pa;
	const struct merge_input *b = *(const struct merge_input *const *)pb;

	return compare_numbers(b->aligned, a->aligned) ?:
	       (a->aligned ? compare_numbers(b->n_capture, a->n_capture) : 0) ?:
	       compare_numbers(b->named, a->named) ?:
	       compare_numbers(b->n_capture, a->n_capture) ?:
	       strcmp(a->path, b->path);
}

static int merge_check_apart(const struct merge_input *in, struct err *err)
{
	size_t kept = 0;
	size_t out = 0;

	for (size_t i = 0; i < in->n_capture; i++)
		if (in->capture[i].aligned)
			*(in->capture[i].out ? &out : &kept) += 1;
	if (!kept || !out)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: has captures that another database has too, "
		       "aligned with others here; ingest the captures into "
		       "one database",
		       in->path);
}

/* Numbers the captures of the result by time and content, so that the order of
 * the databases does not matter. */
struct merge_order {
	int64_t first;
	const char *hash;
	uint32_t key;
};

COMPARE_FUNCTION(merge_compare_captures, struct merge_order,
		 compare_numbers(x->first, y->first)
			 ?: strcmp(x->hash, y->hash));

static void merge_number_captures(struct merge *m)
{
	struct merge_order *list = mem_new(m->keys.n + 1, sizeof(*list));
	size_t n = 0;

	m->capture = mem_new(m->keys.n + 1, sizeof(*m->capture));
	for (size_t i = 0; i < m->n_input; i++) {
		const struct merge_input *in = &m->input[i];

		for (size_t k = 0; !in->out && k < in->n_capture; k++) {
			const struct merge_capture *c = &in->capture[k];

			if (!c->out)
				list[n++] = (struct merge_order){
					c->first, intern_get(&m->keys, c->key),
					c->key
				};
		}
	}
	sort_items(list, n, merge_compare_captures);
	for (size_t i = 0; i < n; i++)
		m->capture[list[i].key] = (uint32_t)i + 1;
	for (size_t i = 0; i < m->n_input; i++)
		if (m->input[i].n_capture)
			m->input[i].rank =
				m->capture[m->input[i].capture[0].key];
	m->n_capture = n;
	free(list);
}

struct merge_open {
	struct merge_part **part;
	size_t n, cap;
};

static bool merge_is_before(const struct merge_part *a,
			    const struct merge_part *b)
{
	return a->time != b->time ? a->time < b->time : a->at < b->at;
}

static void merge_open_add(struct merge_open *o, struct merge_part *p)
{
	size_t at = search_where(o->n, i, merge_is_before(o->part[i], p));

	mem_grow(o->part, o->cap, o->n + 1);
	memmove(o->part + at + 1, o->part + at,
		(o->n++ - at) * sizeof(*o->part));
	o->part[at] = p;
}

static int64_t merge_event_or(const struct int_row *e, enum merge_event_value i,
			      int64_t none)
{
	return e->known >> i & 1 ? e->v[i] : none;
}

/* Reads the next event to keep of a part. Returns 1, 0 at the end, -1 and
 * *err. */
static int merge_next_event(struct merge_part *p, struct err *err)
{
	for (;;) {
		int ret = rows_next_ints(p->events, &p->event, err);
		const struct int_row *e = &p->event;

		if (ret <= 0)
			return ret;
		int64_t type = merge_event_or(e, MERGE_EVENT_TYPE, 0);
		int64_t t = merge_event_or(e, MERGE_EVENT_TIME, INT64_MIN);

		if (type < 1 || (uint64_t)type >= p->n_type || !p->rank[type])
			continue; /* its capture is left out */
		/* an event without a time stays where it is */
		if (t > p->time)
			p->time = t;
		p->at = p->rank[type];
		return 1;
	}
}

/* The kinds of rows that the values of an event refer to. */
static const enum merge_kind event_refs[MERGE_EVENT_VALUES] = {
	[MERGE_EVENT_THREAD] = MERGE_THREAD, [MERGE_EVENT_COMM] = MERGE_COMM,
	[MERGE_EVENT_TYPE] = MERGE_TYPE,     [MERGE_EVENT_KRAW] = MERGE_RAW,
	[MERGE_EVENT_URAW] = MERGE_RAW,
};

/* Writes the current event of a part, with new ids. Returns 0, or -1 and
 * *err. */
static int merge_put_event(struct merge *m, struct merge_part *p,
			   struct err *err)
{
	const struct int_row *e = &p->event;
	struct writing *w = m->out->w;
	int64_t id = e->v[MERGE_EVENT_ID];
	uint32_t payload = 0;

	if (id < 1 || id >= UINT32_MAX || w->events >= UINT32_MAX - 1)
		return err_set(err, ERR_LIMIT,
			       "%s: more than 2^32 events do not fit into a "
			       "database",
			       p->in->path);
	if (e->known >> MERGE_EVENT_PAYLOAD & 1) {
		/* Copy payloads up to the one with this id. As events use new
		 * payloads in the order of their ids, no more payloads are
		 * read than are needed so far. */
		while (p->payload < e->v[MERGE_EVENT_PAYLOAD]) {
			int ret = rows_next(p->payloads, err);

			if (ret < 0)
				return -1;
			if (!ret) {
				/* another step would restart the statement */
				p->payload = INT64_MAX;
				break;
			}
			struct value v = rows_value(p->payloads, PAYLOADS_DATA);
			uint32_t now = 0; /* its new id */

			p->payload = rows_int(p->payloads, PAYLOADS_ID);
			if ((v.kind == VALUE_BLOB &&
			     payload_rows_put(m->out, v.text, v.len, &now,
					      err)) ||
			    merge_part_map(p, MERGE_PAYLOAD, p->payload, now,
					   err))
				return -1;
		}
		payload = merge_map_get(&p->map[MERGE_PAYLOAD],
					e->v[MERGE_EVENT_PAYLOAD]);
	}
	struct block *b = maker_packed(m->out, T_EVENT, 0, err);

	if (!b)
		return -1;
	/* note that event `from` of a part is event `to` of the result */
	uint32_t from = (uint32_t)id;
	uint32_t to = (uint32_t)++w->events;
	struct merge_run *r = p->n_run ? &p->run[p->n_run - 1] : NULL;

	if (r && from - r->from == r->n && to - r->to == r->n)
		r->n++;
	else
		*mem_add(p->run, p->n_run, p->cap_run) =
			(struct merge_run){ from, to, 1 };
	w->grouped += p->is_sample[e->v[MERGE_EVENT_TYPE]];
	struct packing row = packing_begin(b, (uint32_t)w->events, 0);

	for (unsigned int i = MERGE_EVENT_TIME; i < MERGE_EVENT_VALUES; i++)
		if (i == MERGE_EVENT_PAYLOAD)
			packing_id(&row, payload);
		else if (event_refs[i])
			packing_id(&row, merge_map_get(&p->map[event_refs[i]],
						       e->v[i]));
		else
			packing_known(&row, e->known >> i & 1, e->v[i]);
	packing_end(&row);
	return 0;
}

/* Ends a part whose events are all copied. */
static int merge_end_part(struct merge *m, struct merge_part *p,
			  struct err *err)
{
	int rc = merge_part_rest(m, p, err);

	merge_part_close(p);
	return rc;
}

/* Copies events of the earliest part until another part, or the database that
 * is opened next (NULL: none), has an earlier one. */
static int merge_run_part(struct merge *m, struct merge_open *o,
			  const struct merge_input *next, struct err *err)
{
	struct merge_part *p = o->part[--o->n];
	int ret = 1;

	while (ret > 0 && (!next || p->time < next->first) &&
	       (!o->n || !merge_is_before(o->part[o->n - 1], p))) {
		ret = merge_put_event(m, p, err) ? -1
						 : merge_next_event(p, err);
	}
	if (ret < 0) {
		merge_part_close(p);
		return -1;
	}
	if (!ret)
		return merge_end_part(m, p, err);
	merge_open_add(o, p);
	return 0;
}

static int merge_open_next(struct merge *m, struct merge_open *o, size_t i,
			   struct err *err)
{
	struct merge_part *p = merge_part_open(m, &m->input[i], err);
	int ret = p ? merge_next_event(p, err) : -1;

	if (ret > 0) {
		merge_open_add(o, p);
		return 0;
	}
	if (!ret)
		return merge_end_part(m, p, err);
	merge_part_close(p);
	return -1;
}

COMPARE_BY(merge_compare_first, struct merge_input, first, rank);

int merge_write(struct merge *m, struct maker *out, struct merge_counts *counts,
		struct err *err)
{
	*counts = (struct merge_counts){ .databases = 0 };
	m->out = out;
	m->counts = counts;
	out->w->merged = true;
	for (size_t i = 0; i < m->n_input; i++)
		counts->databases += !m->input[i].out;
	struct merge_input **by = mem_new(m->n_input + 1, sizeof(*by));
	bool *seen = mem_new(m->keys.n + 1, sizeof(*seen));
	int rc = 0;

	for (size_t i = 0; i < m->n_input; i++) {
		by[i] = &m->input[i];
		for (size_t k = 0; k < by[i]->n_capture; k++)
			by[i]->aligned |= by[i]->n_capture > 1 &&
					  by[i]->capture[k].aligned;
	}
	sort_items(by, m->n_input, merge_compare_size);
	for (size_t i = 0; !rc && i < m->n_input; i++) {
		size_t kept = 0;

		if (by[i]->out)
			continue;
		for (size_t k = 0; k < by[i]->n_capture; k++) {
			struct merge_capture *c = &by[i]->capture[k];

			c->out = seen[c->key];
			seen[c->key] = true;
			kept += !c->out;
			m->counts->twice += c->out;
		}
		by[i]->out = by[i]->n_capture && !kept;
		rc = by[i]->out ? 0 : merge_check_apart(by[i], err);
	}
	free_all(seen, by);
	if (rc)
		return -1;
	merge_number_captures(m);
	counts->captures = m->n_capture;
	m->code = merge_code_new(out);
	m->groups = merge_groups_new();
	sort_items(m->input, m->n_input, merge_compare_first);
	struct merge_open o = { NULL, 0, 0 };
	size_t next = 0;
	int ret = 0;

	while (!ret && (next < m->n_input || o.n)) {
		const struct merge_input *in =
			next < m->n_input ? &m->input[next] : NULL;

		if (in && in->out)
			next++;
		else if (in && (!o.n || o.part[o.n - 1]->time >= in->first))
			ret = merge_open_next(m, &o, next++, err);
		else
			ret = merge_run_part(m, &o, in, err);
	}
	while (o.n)
		merge_part_close(o.part[--o.n]);
	free(o.part);

	if (ret || merge_code_write(m, err) || link_pages(out, err) ||
	    merge_join(m, err) || merge_groups_write(m, err))
		return -1;
	counts->events = out->w->events;
	counts->joined = m->joined;
	return 0;
}
