/* database_times.c - the times of a database, read from its file without
 * SQLite.
 *
 * The B-tree of sqlite_schema has the first pages of capture and meta, whose
 * rows are few ("B-tree Pages" and "Record Format" of SQLite's documented file
 * format). What is in overflow pages is not read. */
#include "schema/merge/database_times.h"

#include <fcntl.h>
#include <unistd.h>

#include "schema/db/page_format.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"

#define DEPTH 6	   /* levels of a small B-tree */
#define PAGES 200  /* pages that are read at most */
#define COLUMNS 13 /* of a row that are looked at */

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
 * among them is NULL; returns false if that is one of those to META_VALUE. */
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

/* Checks the header: a finished database of this version, with our pages and
 * no journal of its own kind. */
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
