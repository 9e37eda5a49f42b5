/* export_parquet.c - a folder of Parquet files, one for each table of
 * backstitch-fleet(7), from one or more databases. */
#include <errno.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "cli/export/export.h"
#include "analyze/fleet/fleet.h"
#include "analyze/fleet/fleet_schema.h"
#include "cli/open/input.h"
#include "analyze/samples/filter.h"
#include "cli/export/parquet/pq_buf.h"
#include "stitch/text/human.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "cli/version.h"
#include "formats/pack.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/files/new_file.h"

/* A Parquet file is made of row groups of columns, then the footer. Call
 * parquet_open(), parquet_put() for each batch, parquet_finish(), which gives
 * the file its name, then parquet_close(). Memory is bounded by a row group:
 * 524,288 rows, or fewer if lists are long or texts large.
 *
 * The format is Parquet 2.x with pages of version 1, which all readers know:
 * dictionary pages, packed indexes, deltas for times; zstd; minimum and maximum
 * of each column of a row group. */

/* A column of a row group; empty if all but c is 0. Call pq_column_add() for
 * each batch, then pq_column_write(), which empties it for the next group. */
struct pq_column {
	const struct fleet_column *c;
	/* numbers as they are; of texts and hashes, their ids in words */
	unsigned char *value;
	size_t n, cap;	       /* values of the row group so far */
	uint32_t *length;      /* of a list: count of values in each row */
	size_t n_row, cap_row; /* rows, of a list */
	struct intern words;
	uint32_t *known; /* by id in the batch's pool: 1 + id in words; or 0 */
	size_t n_known, cap_known;
};

struct pq_pages {
	FILE *out;
	struct pack_zstd *zstd;
	uint64_t at;	  /* bytes written */
	uint64_t plain;	  /* bytes before compression, with headers, since the
			   * caller cleared it */
	struct blob body; /* of the next page; the caller fills it */
	struct blob packed, head;
};

enum pq_encoding {
	PQ_PLAIN = 0,
	PQ_RLE = 3,
	PQ_DELTA = 5,
	PQ_DICTIONARY = 8
};

enum pq_page {
	PQ_PAGE_DATA = 0,
	PQ_PAGE_DICTIONARY = 2
};

/* Writes bytes as they are. */
static void pq_pages_raw(struct pq_pages *p, const void *data, size_t n)
{
	fwrite(data, 1, n, p->out);
	p->at += n;
}

/* Writes the body as a page and empties it. encoding -1: a dictionary. Returns
 * 0, or -1 and *err. */
static int pq_pages_put(struct pq_pages *p, size_t n_values, int encoding,
			struct err *err)
{
	size_t room = pack_zstd_room(p->body.n);
	bool dictionary = encoding < 0;
	struct pq_thrift t;
	size_t n = 0;

	if (p->body.n > INT32_MAX || room > INT32_MAX)
		return err_set(err, ERR_LIMIT,
			       "a page of a Parquet file holds 2 GB, not %zu "
			       "bytes",
			       p->body.n);
	p->packed.n = 0;
	if (pack_zstd_put(p->zstd, p->body.at, p->body.n,
			  blob_room(&p->packed, room), &n, err))
		return -1;
	p->packed.n = n;
	p->head.n = 0;
	pq_begin(&t, &p->head);
	pq_i32(&t, 1, dictionary ? PQ_PAGE_DICTIONARY : PQ_PAGE_DATA);
	pq_i32(&t, 2, (int64_t)p->body.n);
	pq_i32(&t, 3, (int64_t)p->packed.n);
	pq_struct(&t, dictionary ? 7 : 5);
	pq_i32(&t, 1, (int64_t)n_values);
	pq_i32(&t, 2, dictionary ? PQ_PLAIN : encoding);
	if (!dictionary) {
		pq_i32(&t, 3, PQ_RLE);
		pq_i32(&t, 4, PQ_RLE);
	}
	pq_end(&t);
	pq_end(&t);
	p->plain += p->head.n + p->body.n;
	pq_pages_raw(p, p->head.at, p->head.n);
	pq_pages_raw(p, p->packed.at, p->packed.n);
	p->body.n = 0;
	return 0;
}

#define PAGE_VALUES 65536
#define DICTIONARY_MAX 65536 /* entries of a dictionary of numbers */
#define BOUND_MAX 256	     /* bytes; longer texts have no statistics */
#define CODEC_ZSTD 6
#define RECENT 64 /* slots of a cache in front of a table */

enum pq_type {
	PQ_INT32 = 1,
	PQ_INT64 = 2,
	PQ_DOUBLE = 5,
	PQ_TEXT = 6,
	PQ_FIXED = 7
};

static bool pq_is_pooled(enum fleet_type t)
{
	return t == FLEET_STRING || t == FLEET_HASH;
}

/* Returns the physical type: INT32 and so on. */
static int pq_column_type(const struct fleet_column *c)
{
	switch (c->type) {
	case FLEET_STRING:
		return PQ_TEXT;
	case FLEET_HASH:
		return PQ_FIXED;
	case FLEET_F64:
		return PQ_DOUBLE;
	case FLEET_U64:
	case FLEET_I64:
		return PQ_INT64;
	default:
		return PQ_INT32;
	}
}

/* Forgets the ids of the pools, because the next batch has others. */
static void pq_column_forget(struct pq_column *p)
{
	if (p->n_known)
		memset(p->known, 0, p->n_known * sizeof(*p->known));
}

/* Adds rows [from, from + n) of a batch. */
static void pq_column_add(struct pq_column *p, const struct fleet_cells *cells,
			  size_t from, size_t n)
{
	size_t size = pq_is_pooled(p->c->type) ? sizeof(uint32_t)
					       : fleet_type_size(p->c->type);

	if (p->c->list) {
		mem_grow(p->length, p->cap_row, p->n_row + n);
		for (size_t i = from; i < from + n; i++)
			p->length[p->n_row++] =
				cells->first[i + 1] - cells->first[i];
		n = cells->first[from + n] - cells->first[from];
		from = cells->first[from];
	}
	p->value = mem_grow_to(p->value, &p->cap, p->n + n, size);
	if (pq_is_pooled(p->c->type)) {
		uint32_t *out = (uint32_t *)p->value + p->n;

		for (size_t i = 0; i < n; i++) {
			uint32_t id = cells->id[from + i];

			if (id >= p->n_known)
				mem_reach(p->known, p->n_known, p->cap_known,
					  (size_t)id + 1);
			if (!p->known[id])
				p->known[id] =
					1 +
					intern_add_bytes(
						&p->words,
						intern_get(cells->pool, id),
						intern_length(cells->pool, id));
			out[i] = p->known[id] - 1;
		}
	} else if (n)
		memcpy(p->value + p->n * size,
		       (const char *)cells->any + from * size, n * size);
	p->n += n;
}

/* Returns value i as 64 bits; a signed number is extended. */
static uint64_t pq_column_at(const struct pq_column *p, size_t i)
{
	const void *v = p->value;

	switch (p->c->type) {
	case FLEET_U8:
		return ((const uint8_t *)v)[i];
	case FLEET_U16:
		return ((const uint16_t *)v)[i];
	case FLEET_U32:
		return ((const uint32_t *)v)[i];
	case FLEET_I32:
		return (uint64_t)(int64_t)((const int32_t *)v)[i];
	default:
		return ((const uint64_t *)v)[i];
	}
}

static void pq_put_number(struct blob *b, const struct pq_column *p, uint64_t v)
{
	blob_put(b, v, pq_column_type(p->c) == PQ_INT32 ? 4 : 8);
}

static void pq_put_word(struct blob *b, const struct pq_column *p,
			uint32_t word)
{
	size_t n = intern_length(&p->words, word);

	if (p->c->type == FLEET_STRING)
		blob_u32(b, (uint32_t)n);
	blob_add(b, intern_get(&p->words, word), n);
}

/* How a row group's values of a column are written. */
struct pq_plan {
	enum pq_encoding encoding;
	uint32_t *index; /* by value: its entry in the dictionary */
	uint32_t *owned; /* index, if it is to be freed */
	uint64_t *entry; /* the dictionary of numbers; or NULL */
	size_t n_entry;
	unsigned int width; /* bits of an index */
};

static size_t pq_word_bytes(const struct pq_column *p, uint32_t word)
{
	return intern_length(&p->words, word) +
	       (p->c->type == FLEET_STRING ? 4 : 0);
}

/* Makes a dictionary of numbers unless there are too many different ones. */
static void pq_plan_numbers(const struct pq_column *p, struct pq_plan *plan)
{
	size_t most = p->n / 4 < DICTIONARY_MAX ? p->n / 4 : DICTIONARY_MAX;
	struct table seen RELEASED_BY(table_release) = { 0 };
	uint32_t recent[RECENT] = { 0 }; /* last entry with these low bits */
	size_t cap = 0;

	if (!p->n)
		return;
	plan->owned = plan->index = mem_new(p->n, sizeof(*plan->index));
	for (size_t i = 0; i < p->n && plan->n_entry <= most + 1; i++) {
		uint64_t v = pq_column_at(p, i);
		uint32_t at = recent[v % RECENT];

		if (!i || v != plan->entry[at])
			at = table_find_or_add(&seen, hash_u64(v),
					       plan->n_entry);
		if (at == plan->n_entry)
			*mem_add(plan->entry, plan->n_entry, cap) = v;
		plan->index[i] = recent[v % RECENT] = at;
	}
	if (plan->n_entry > most + 1)
		return;
	plan->encoding = PQ_DICTIONARY;
	plan->width = pq_width(plan->n_entry - 1);
}

/* Writes the values [from, from + n). */
static void pq_put_values(const struct pq_column *p, const struct pq_plan *plan,
			  struct blob *b, size_t from, size_t n)
{
	if (plan->encoding == PQ_DICTIONARY) {
		blob_u8(b, plan->width);
		pq_put_hybrid(b, plan->index + from, n, plan->width);
	} else if (plan->encoding == PQ_DELTA) {
		pq_put_delta(b, (const uint64_t *)p->value + from, n);
	} else {
		for (size_t i = from; i < from + n; i++)
			if (pq_is_pooled(p->c->type))
				pq_put_word(b, p, plan->index[i]);
			else
				pq_put_number(b, p, pq_column_at(p, i));
	}
}

static void pq_put_level(struct blob *b, const uint32_t *v, size_t n)
{
	size_t at = b->n;

	blob_u32(b, 0);
	pq_put_hybrid(b, v, n, 1);
	blob_set(b, at, b->n - at - 4, 4);
}

/* The part of a row group that one page has. */
struct pq_part {
	size_t row, value; /* the first ones */
	size_t n_row, n_value, n_entry;
};

/* Writes the levels of the lists of a page: an entry begins a row (0) or
 * continues it (1), and is a value (1) or stands for an empty list (0). */
static void pq_put_levels(const struct pq_column *p, const struct pq_part *g,
			  struct blob *b)
{
	uint32_t *again OWNED = mem_new(g->n_entry, sizeof(*again));
	uint32_t *there OWNED = mem_new(g->n_entry, sizeof(*there));
	size_t at = 0;

	for (size_t r = g->row; r < g->row + g->n_row; r++) {
		for (uint32_t i = 0; i < p->length[r]; i++) {
			again[at] = i > 0;
			there[at++] = 1;
		}
		at += !p->length[r]; /* both are 0 */
	}
	pq_put_level(b, again, g->n_entry);
	pq_put_level(b, there, g->n_entry);
}

/* Moves on to the next page. Returns false if there is none. */
static bool pq_next_part(const struct pq_column *p, struct pq_part *g)
{
	g->row += g->n_row;
	g->value += g->n_value;
	g->n_row = g->n_value = g->n_entry = 0;
	if (!p->c->list) {
		size_t left = p->n - g->value;

		g->n_entry = g->n_value =
			left < PAGE_VALUES ? left : PAGE_VALUES;
		return left > 0;
	}
	while (g->row + g->n_row < p->n_row && g->n_entry < PAGE_VALUES) {
		uint32_t n = p->length[g->row + g->n_row++];

		g->n_value += n;
		g->n_entry += n ? n : 1;
	}
	return g->n_row > 0;
}

/* Offsets of a column of a row group; data is after the dictionary. */
struct pq_chunk {
	uint64_t start, data, end, plain;
	size_t n_entry;
};

/* Writes the pages of a column, the dictionary first, and sets *k. Returns 0,
 * or -1 and *err. */
static int pq_write_pages(const struct pq_column *p, const struct pq_plan *plan,
			  struct pq_pages *out, struct pq_chunk *k,
			  struct err *err)
{
	struct pq_part g = { 0 };

	*k = (struct pq_chunk){ .start = out->at };
	out->plain = 0;
	if (plan->encoding == PQ_DICTIONARY) {
		for (size_t i = 0; i < plan->n_entry; i++)
			if (plan->entry)
				pq_put_number(&out->body, p, plan->entry[i]);
			else
				pq_put_word(&out->body, p, (uint32_t)i);
		if (pq_pages_put(out, plan->n_entry, -1, err))
			return -1;
	}
	k->data = out->at;
	while (pq_next_part(p, &g)) {
		if (p->c->list)
			pq_put_levels(p, &g, &out->body);
		pq_put_values(p, plan, &out->body, g.value, g.n_value);
		if (pq_pages_put(out, g.n_entry, (int)plan->encoding, err))
			return -1;
		k->n_entry += g.n_entry;
	}
	k->end = out->at;
	k->plain = out->plain;
	return 0;
}

static int pq_compare_words(const struct pq_column *p, uint32_t a, uint32_t b)
{
	size_t n = intern_length(&p->words, a);
	size_t m = intern_length(&p->words, b);
	int d = memcmp(intern_get(&p->words, a), intern_get(&p->words, b),
		       n < m ? n : m);

	return d ? d : n < m ? -1 : n > m;
}

/* Appends the smallest text to low and the largest to high. Returns false if
 * there is none, or one of them is longer than BOUND_MAX. */
static bool pq_word_bounds(const struct pq_column *p, struct blob *low,
			   struct blob *high)
{
	uint32_t a = 0;
	uint32_t b = 0;

	for (uint32_t i = 1; i < p->words.n; i++) {
		if (pq_compare_words(p, i, a) < 0)
			a = i;
		if (pq_compare_words(p, i, b) > 0)
			b = i;
	}
	if (!p->words.n || intern_length(&p->words, a) > BOUND_MAX ||
	    intern_length(&p->words, b) > BOUND_MAX)
		return false;
	blob_add(low, intern_get(&p->words, a), intern_length(&p->words, a));
	blob_add(high, intern_get(&p->words, b), intern_length(&p->words, b));
	return true;
}

/* Appends the bounds of numbers. Returns false for none, and for doubles. */
static bool pq_number_bounds(const struct pq_column *p,
			     const struct pq_plan *plan, struct blob *low,
			     struct blob *high)
{
	bool known = plan->encoding == PQ_DICTIONARY; /* it has all values */
	size_t n = known ? plan->n_entry : p->n;
	bool is_signed = p->c->type == FLEET_I32 || p->c->type == FLEET_I64;
	/* with the sign bit flipped, unsigned order is that of the values */
	uint64_t flip = is_signed ? (uint64_t)1 << 63 : 0;
	uint64_t a = UINT64_MAX;
	uint64_t b = 0;

	if (!n || p->c->type == FLEET_F64)
		return false;
	for (size_t i = 0; i < n; i++) {
		uint64_t v =
			(known ? plan->entry[i] : pq_column_at(p, i)) ^ flip;

		a = v < a ? v : a;
		b = v > b ? v : b;
	}
	pq_put_number(low, p, a ^ flip);
	pq_put_number(high, p, b ^ flip);
	return true;
}

/* Writes the pages of a column and, as the next item of meta, its ColumnChunk,
 * and empties the column. Returns 0, or -1 and *err. */
static int pq_column_write(struct pq_column *p, struct pq_pages *out,
			   struct pq_thrift *meta, struct err *err)
{
	struct pq_chunk k;

	struct pq_plan plan = (struct pq_plan){ .encoding = PQ_PLAIN };
	if (pq_is_pooled(p->c->type)) {
		const uint32_t *v = (const uint32_t *)p->value;
		size_t dictionary = 0;
		size_t plain = 0;

		plan.n_entry = p->words.n;
		plan.width = pq_width(plan.n_entry ? plan.n_entry - 1 : 0);
		for (uint32_t i = 0; i < plan.n_entry; i++)
			dictionary += pq_word_bytes(p, i);
		for (size_t i = 0; i < p->n; i++)
			plain += pq_word_bytes(p, v[i]);
		plan.index = (uint32_t *)p->value;
		if (dictionary + p->n * plan.width / 8 < plain)
			plan.encoding = PQ_DICTIONARY;
	} else if (p->c->shape == FLEET_FEW)
		pq_plan_numbers(p, &plan);
	else if (p->c->shape == FLEET_RISING &&
		 pq_column_type(p->c) == PQ_INT64)
		plan.encoding = PQ_DELTA;
	int rc = pq_write_pages(p, &plan, out, &k, err);
	if (!rc) {
		bool dictionary = plan.encoding == PQ_DICTIONARY;
		bool rle = p->c->list; /* of the levels */
		struct blob low RELEASED_BY(blob_release) = { 0 };
		struct blob high RELEASED_BY(blob_release) = { 0 };

		pq_struct_item(meta);
		pq_i64(meta, 2, (int64_t)k.start);
		pq_struct(meta, 3);
		pq_i32(meta, 1, pq_column_type(p->c));
		pq_list(meta, 2, PQ_I32, 1u + dictionary + rle);
		pq_item_i32(meta, plan.encoding);
		if (dictionary)
			pq_item_i32(meta, PQ_PLAIN);
		if (rle)
			pq_item_i32(meta, PQ_RLE);
		pq_list(meta, 3, PQ_BINARY, p->c->list ? 3 : 1);
		pq_item_text(meta, p->c->name);
		if (p->c->list) {
			pq_item_text(meta, "list");
			pq_item_text(meta, "element");
		}
		pq_i32(meta, 4, CODEC_ZSTD);
		pq_i64(meta, 5, (int64_t)k.n_entry);
		pq_i64(meta, 6, (int64_t)k.plain);
		pq_i64(meta, 7, (int64_t)(k.end - k.start));
		pq_i64(meta, 9, (int64_t)k.data);
		if (dictionary)
			pq_i64(meta, 11, (int64_t)k.start);
		/* Write statistics, but not of lists: readers differ in what
		 * they count as null there. */
		if (!p->c->list &&
		    (pq_is_pooled(p->c->type)
			     ? pq_word_bounds(p, &low, &high)
			     : pq_number_bounds(p, &plan, &low, &high))) {
			pq_struct(meta, 12);
			pq_i64(meta, 3, 0);
			pq_bytes(meta, 5, high.at, high.n);
			pq_bytes(meta, 6, low.at, low.n);
			pq_end(meta);
		}
		pq_end(meta);
		pq_end(meta);
	}
	free_all(plan.owned, plan.entry);
	intern_release(&p->words);
	pq_column_forget(p);
	p->n = p->n_row = 0;
	return rc;
}

#define GROUP_ROWS 524288
#define GROUP_VALUES ((size_t)4 << 20) /* values of all list columns */
#define GROUP_TEXT ((size_t)64 << 20)  /* bytes of the texts of a column */
#define MAGIC "PAR1"

struct parquet {
	const struct fleet_table *table;
	char *path;
	struct new_file *file;
	struct pq_pages pages;
	struct pq_column column[FLEET_COLUMNS_MAX];
	size_t n_row; /* of the open row group */
	uint64_t rows;
	struct blob groups; /* the RowGroup structs */
	size_t n_group;
};

/* Frees p, and removes the file unless it is finished. */
static void parquet_close(struct parquet *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->table->n_column; i++) {
		intern_release(&p->column[i].words);
		free_all(p->column[i].value, p->column[i].length,
			 p->column[i].known);
	}
	pack_zstd_free(p->pages.zstd);
	blob_release(&p->pages.body);
	blob_release(&p->pages.packed);
	blob_release(&p->pages.head);
	blob_release(&p->groups);
	new_file_free(p->file);
	free_all(p->path, p);
}

/* Returns what parquet_close() frees, or NULL and *err. */
static struct parquet *
parquet_open(const char *path, const struct fleet_table *table, struct err *err)
{
	struct parquet *p = mem_new(1, sizeof(*p));
	FILE *out = NULL;

	p->table = table;
	p->path = mem_strdup(path);
	for (size_t i = 0; i < table->n_column; i++)
		p->column[i].c = &table->column[i];
	p->file = new_file_open(path, false, err);
	if (p->file && !(out = new_file_stream(p->file)))
		err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	p->pages.out = out;
	if (!out || !(p->pages.zstd = pack_zstd_new(err))) {
		parquet_close(p);
		return NULL;
	}
	pq_pages_raw(&p->pages, MAGIC, 4);
	return p;
}

/* Writes the rows so far as a row group. Returns 0, or -1 and *err. */
static int parquet_end_group(struct parquet *p, struct err *err)
{
	uint64_t start = p->pages.at;
	uint64_t plain = 0;
	struct pq_thrift t;

	if (!p->n_row)
		return 0;
	pq_begin(&t, &p->groups);
	pq_list(&t, 1, PQ_STRUCT, p->table->n_column);
	for (size_t i = 0; i < p->table->n_column; i++) {
		if (pq_column_write(&p->column[i], &p->pages, &t, err))
			return err_while(err, "writing %s", p->path);
		plain += p->pages.plain;
	}
	pq_i64(&t, 2, (int64_t)plain);
	pq_i64(&t, 3, (int64_t)p->n_row);
	pq_i64(&t, 5, (int64_t)start);
	pq_i64(&t, 6, (int64_t)(p->pages.at - start));
	if (p->n_group <= INT16_MAX)
		pq_i16(&t, 7, (int)p->n_group);
	pq_end(&t);
	p->n_group++;
	p->rows += p->n_row;
	p->n_row = 0;
	return 0;
}

static bool parquet_group_is_full(const struct parquet *p)
{
	size_t values = 0;

	if (p->n_row >= GROUP_ROWS)
		return true;
	for (size_t i = 0; i < p->table->n_column; i++) {
		if (p->column[i].c->list)
			values += p->column[i].n;
		if (p->column[i].words.text.used >= GROUP_TEXT)
			return true;
	}
	return values >= GROUP_VALUES;
}

/* Adds rows [from, from + n) of a batch. Returns 0, or -1 and *err. */
static int parquet_put(struct parquet *p, const struct fleet_batch *b,
		       size_t from, size_t n, struct err *err)
{
	while (n) {
		size_t room = GROUP_ROWS - p->n_row;
		size_t take = n < room ? n : room;

		for (size_t i = 0; i < p->table->n_column; i++)
			pq_column_add(&p->column[i], &b->cell[i], from, take);
		p->n_row += take;
		from += take;
		n -= take;
		if (parquet_group_is_full(p) && parquet_end_group(p, err))
			return -1;
	}
	return 0;
}

/* Forgets ids of pools. Call it when the pools have changed: before the first
 * batch of another database, and after each batch of table field. */
static void parquet_forget(struct parquet *p)
{
	for (size_t i = 0; i < p->table->n_column; i++)
		pq_column_forget(&p->column[i]);
}

enum pq_converted {
	PQ_UTF8 = 0,
	PQ_AS_LIST = 3,
	PQ_UINT_8 = 11,
	PQ_INT_8 = 15
};

/* Writes the schema element of a group; repetition is -1 for the root. */
static void parquet_put_group(struct pq_thrift *t, const char *name,
			      int repetition, size_t children, bool is_list)
{
	pq_struct_item(t);
	if (repetition >= 0)
		pq_i32(t, 3, repetition);
	pq_text(t, 4, name);
	pq_i32(t, 5, (int64_t)children);
	if (is_list) {
		pq_i32(t, 6, PQ_AS_LIST);
		pq_struct(t, 10);
		pq_struct(t, 3);
		pq_end(t);
		pq_end(t);
	}
	pq_end(t);
}

/* Writes the last row group and the footer, and gives the file its name.
 * Returns 0, or -1 and *err. */
static int parquet_finish(struct parquet *p, struct err *err)
{
	struct blob footer RELEASED_BY(blob_release) = { 0 };
	int rc = parquet_end_group(p, err);

	if (rc)
		return rc;
	char version[12];
	struct pq_thrift t;

	snprintf(version, sizeof(version), "%d", FLEET_VERSION);
	pq_begin(&t, &footer);
	pq_i32(&t, 1, 2);
	size_t n = 1;

	for (size_t i = 0; i < p->table->n_column; i++)
		n += p->table->column[i].list ? 3 : 1;
	pq_list(&t, 2, PQ_STRUCT, n);
	parquet_put_group(&t, p->table->name, -1, p->table->n_column, false);
	for (size_t i = 0; i < p->table->n_column; i++) {
		const struct fleet_column *c = &p->table->column[i];

		if (c->list) {
			parquet_put_group(&t, c->name, 0, 1, true);
			parquet_put_group(&t, "list", 2, 1, false);
		}
		/* Put a column, with what readers need to know about its type:
		 * that it is text, or the size and sign of a number. */
		enum fleet_type type = c->type;
		bool is_signed = type == FLEET_I32 || type == FLEET_I64;
		unsigned int bits = 8 * (unsigned int)fleet_type_size(type);
		unsigned int step = bits == 8	 ? 0
				    : bits == 16 ? 1
				    : bits == 32 ? 2
						 : 3;

		pq_struct_item(&t);
		pq_i32(&t, 1, pq_column_type(c));
		if (type == FLEET_HASH)
			pq_i32(&t, 2, (int64_t)fleet_type_size(type));
		pq_i32(&t, 3, 0); /* required */
		pq_text(&t, 4, c->list ? "element" : c->name);
		if (type == FLEET_STRING) {
			pq_i32(&t, 6, PQ_UTF8);
			pq_struct(&t, 10);
			pq_struct(&t, 1);
			pq_end(&t);
			pq_end(&t);
		} else if (type != FLEET_HASH && type != FLEET_F64) {
			pq_i32(&t, 6,
			       (is_signed ? PQ_INT_8 : PQ_UINT_8) + step);
			pq_struct(&t, 10);
			pq_struct(&t, 10);
			pq_i8(&t, 1, (int)bits);
			pq_bool(&t, 2, is_signed);
			pq_end(&t);
			pq_end(&t);
		}
		pq_end(&t);
	}
	pq_i64(&t, 3, (int64_t)p->rows);
	pq_list(&t, 4, PQ_STRUCT, p->n_group);
	blob_add(&footer, p->groups.at, p->groups.n);
	pq_list(&t, 5, PQ_STRUCT, 1);
	pq_struct_item(&t);
	pq_text(&t, 1, "backstitch.fleet");
	pq_text(&t, 2, version);
	pq_end(&t);
	pq_text(&t, 6, "backstitch version " VERSION);
	/* all columns are ordered as their type is */
	pq_list(&t, 7, PQ_STRUCT, p->table->n_column);
	for (size_t i = 0; i < p->table->n_column; i++) {
		pq_struct_item(&t);
		pq_struct(&t, 1);
		pq_end(&t);
		pq_end(&t);
	}
	pq_end(&t);
	if (footer.n > INT32_MAX) {
		rc = err_set(err, ERR_LIMIT,
			     "%s: a footer of %zu bytes, 2 GB is the most",
			     p->path, footer.n);
	} else {
		blob_u32(&footer, (uint32_t)footer.n);
		blob_add(&footer, MAGIC, 4);
		pq_pages_raw(&p->pages, footer.at, footer.n);
		rc = new_file_finish(p->file, err);
	}
	return rc;
}

/* The folder that is being written. */
struct lake {
	const struct export_request *x;
	struct fleet_ask ask; /* of the request, with our own filter */
	struct filter_apart apart;
	const char *folder;
	struct parquet *file[FLEET_TABLES]; /* NULL: not open */
	struct intern runs, stacks;	    /* that were written */
	struct table names;		    /* places that were written */
	bool names_are_new;		    /* this place was not written */
	struct fleet *f;		    /* the database that is read */
	uint64_t kept, rows;
};

static bool lake_has_folders(const struct lake *l, enum fleet_table_id t)
{
	return l->x->partition && (t == FLEET_SAMPLE || t == FLEET_FIELD);
}

static bool lake_wants(const struct lake *l, enum fleet_table_id t)
{
	return l->x->fields || t != FLEET_FIELD;
}

/* Returns whether row i is not written yet, and counts it as written. Runs
 * share these tables, so that several databases may have one row. */
static bool lake_is_new(struct lake *l, const struct fleet_batch *b, size_t i)
{
	if (b->table == &fleet_tables[FLEET_STACK]) {
		const struct fleet_cells *c = &b->cell[0];
		size_t n = l->stacks.n;

		return intern_add_bytes(&l->stacks,
					intern_get(c->pool, c->id[i]),
					intern_length(c->pool, c->id[i])) == n;
	}
	if (b->table == &fleet_tables[FLEET_NAME]) {
		/* A place is a hash. All levels of a place are of one database,
		 * one after the other; level 0 is the first. */
		uint64_t place = b->cell[0].u64[i];

		if (b->cell[1].u8[i])
			return l->names_are_new;
		l->names_are_new =
			table_find_hash(&l->names, place) == TABLE_NONE;
		if (l->names_are_new)
			table_add(&l->names, place, 0);
		return l->names_are_new;
	}
	return true;
}

/* Adds the rows of a batch that are new. Returns 0, or -1 and *err. */
static int lake_put(struct lake *l, struct parquet *p,
		    const struct fleet_batch *b, struct err *err)
{
	size_t from = 0;

	if (b->table->by_run)
		return parquet_put(p, b, 0, b->n, err);
	for (size_t i = 0; i < b->n; i++) {
		if (lake_is_new(l, b, i))
			continue;
		if (parquet_put(p, b, from, i - from, err))
			return -1;
		from = i + 1;
	}
	return parquet_put(p, b, from, b->n - from, err);
}

/* Adds rows of a table, of a run if it is by_run. Returns 0, or -1 and *err. */
static int lake_put_table(struct lake *l, struct parquet *p,
			  enum fleet_table_id t, size_t run, struct err *err)
{
	struct fleet_rows *r = fleet_rows_open(l->f, t, run, err);
	const struct fleet_batch *b;
	int ret = r ? 1 : -1;

	while (ret > 0 && (ret = fleet_rows_next(r, FLEET_BATCH, &b, err)) > 0)
		if (stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		else if (lake_put(l, p, b, err))
			ret = -1;
		else if (t == FLEET_FIELD)
			parquet_forget(p);
	fleet_rows_close(r);
	return ret;
}

/* Appends /NAME=VALUE to a path and makes that folder; what is special in a
 * path becomes %XX, as in all partition folders. Returns 0, or -1 and *err. */
static int lake_add_folder(char *path, size_t size, const char *name,
			   const char *value, struct err *err)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-_.";
	size_t n = strlen(path);

	n += (size_t)snprintf(path + n, size - n, "/%s=", name);
	for (const char *s = value; *s && n + 4 < size; s++)
		n += (size_t)snprintf(path + n, size - n,
				      strchr(plain, *s) ? "%c" : "%%%02X",
				      (unsigned char)*s);
	if (mkdir(path, 0777) && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	return 0;
}

/* Writes the rows of one run to a file in the folders of its host and day. */
static int lake_put_part(struct lake *l, enum fleet_table_id t, size_t run,
			 struct err *err)
{
	const struct fleet_run *r = fleet_run(l->f, run);
	char path[4096];
	int rc = -1;

	snprintf(path, sizeof(path), "%.3000s/%s", l->folder,
		 fleet_tables[t].name);
	if (mkdir(path, 0777) && errno != EEXIST)
		return err_set(err, ERR_IO, "%s: %s", path, strerror(errno));
	if (lake_add_folder(path, 3500, "host", r->host, err) ||
	    lake_add_folder(path, 3600, "day", r->day, err))
		return -1;
	size_t n = strlen(path);
	snprintf(path + n, sizeof(path) - n, "/%s.parquet", r->hex);
	struct parquet *p = parquet_open(path, &fleet_tables[t], err);
	if (p && !lake_put_table(l, p, t, run, err))
		rc = parquet_finish(p, err);
	parquet_close(p);
	return rc;
}

/* Adds a run, unless another database had it. Returns 0, or -1 and *err. */
static int lake_put_run(struct lake *l, size_t run, struct err *err)
{
	static const enum fleet_table_id order[] = {
		/* run is after sample, whose rows it counts */
		FLEET_SAMPLE,  FLEET_RUN,   FLEET_EVENT,   FLEET_LOSS,
		FLEET_VERDICT, FLEET_TRUST, FLEET_FINDING, FLEET_FIELD,
	};
	const struct fleet_run *r = fleet_run(l->f, run);
	size_t seen = l->runs.n;

	if (intern_add_bytes(&l->runs, r->id, sizeof(r->id)) != seen)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		enum fleet_table_id t = order[i];

		if (!lake_wants(l, t))
			continue;
		if (lake_has_folders(l, t)
			    ? lake_put_part(l, t, run, err)
			    : lake_put_table(l, l->file[t], t, run, err))
			return -1;
	}
	return 0;
}

/* Adds all rows of a database. Returns 0, or -1 and *err. */
static int lake_put_database(struct lake *l, struct store *db, struct err *err)
{
	uint64_t rows;
	int rc = 0;

	l->f = fleet_open(db, &l->ask, err);
	if (!l->f)
		return -1;
	for (size_t i = 0; !rc && i < fleet_runs(l->f); i++)
		rc = lake_put_run(l, i, err);
	if (!rc)
		rc = lake_put_table(l, l->file[FLEET_STACK], FLEET_STACK, 0,
				    err);
	if (!rc)
		rc = lake_put_table(l, l->file[FLEET_NAME], FLEET_NAME, 0, err);
	l->kept += fleet_samples_read(l->f, &rows);
	l->rows += rows;
	for (size_t t = 0; t < FLEET_TABLES; t++)
		if (l->file[t])
			parquet_forget(l->file[t]);
	fleet_close(l->f);
	return rc;
}

/* Makes the folder, and files outside partitions. Returns 0, or -1 and *err. */
static int lake_open(struct lake *l, struct err *err)
{
	char path[4096];

	if (mkdir(l->folder, 0777))
		return err_set(err, ERR_IO, "%s: %s", l->folder,
			       strerror(errno));
	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		if (!lake_wants(l, t) || lake_has_folders(l, t))
			continue;
		snprintf(path, sizeof(path), "%.4000s/%s.parquet", l->folder,
			 fleet_tables[t].name);
		l->file[t] = parquet_open(path, &fleet_tables[t], err);
		if (!l->file[t])
			return -1;
	}
	return 0;
}

/* Fails if the filter has a name that none of the databases has. */
static int lake_end_filter(const struct lake *l, const struct inputs *in,
			   struct err *err)
{
	if (!filter_end_apart(&l->apart, err))
		return 0;
	if (in->list.n > 1)
		err_while(err, "reading %zu databases, the first of them %s",
			  in->list.n, in->list.path[0]);
	return -1;
}

static int export_parquet_write(const char *folder,
				const struct export_request *x, struct err *err)
{
	struct filter filter = *x->filter;
	struct lake l = { .folder = folder, .x = x, .ask = *x->fleet };
	struct store *db;
	int ret = lake_open(&l, err) ? -1 : 1;

	filter.apart = &l.apart;
	l.ask.filter = &filter;
	while (ret > 0 && (ret = inputs_next(x->inputs, &db, err)) > 0) {
		if (lake_put_database(&l, db, err))
			ret = -1;
		store_close(db);
	}
	if (!ret)
		ret = lake_end_filter(&l, x->inputs, err);
	for (size_t t = 0; !ret && t < FLEET_TABLES; t++)
		if (l.file[t])
			ret = parquet_finish(l.file[t], err);
	/* a row stands for several samples if they were added up */
	if (!ret && l.rows && l.kept > l.rows)
		say("%s samples in %s rows, %.1f each\n", HUMAN_GROUPED(l.kept),
		    HUMAN_GROUPED(l.rows), (double)l.kept / (double)l.rows);
	for (size_t t = 0; t < FLEET_TABLES; t++)
		parquet_close(l.file[t]);
	intern_release(&l.runs);
	intern_release(&l.stacks);
	table_release(&l.names);
	return ret;
}

const struct exporter export_parquet = {
	.summary = "a folder of Parquet files, one for each table of "
		   "backstitch-fleet(7), for DuckDB and other engines",
	.binary = true,
	.apart = true,
	.refused = "--by --no-inline --interpreter",
	.write_folder = export_parquet_write,
};
