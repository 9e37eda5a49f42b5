/* rowbinary.c - the rows of a reply in ClickHouse's format RowBinary.
 *
 * Numbers are little-endian; a string is its length in LEB128 and its bytes, a
 * list its length and its items. There is no header, and nothing between
 * values. */
#include "cli/clickhouse/clickhouse.h"

#include <assert.h>
#include <inttypes.h>

#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

enum kind {
	UNSIGNED,
	SIGNED,
	REAL,
	TEXT,
	FIXED
};

struct column {
	enum kind kind;
	size_t size; /* bytes; TEXT: 0 */
	bool list;
};

struct rowbinary {
	rowbinary_fn *fn;
	void *arg;
	struct column column[ROWBINARY_COLUMNS];
	size_t n_column;
	struct rowbinary_value row[ROWBINARY_COLUMNS];
	struct rowbinary_value *item; /* of all lists of a row */
	size_t n_item, cap_item;
	size_t first[ROWBINARY_COLUMNS]; /* index in item of each list */
	unsigned char *rest; /* bytes of a row that is not complete */
	size_t n_rest, cap_rest;
	size_t tried; /* so many bytes of it were too few */
	uint64_t rows;
};

/* Returns the column for the name of a type. */
static struct column rowbinary_column(const char *name, size_t len)
{
	static const struct {
		const char *name;
		struct column column;
	} known[] = {
		{ "u8", { UNSIGNED, 1, false } },
		{ "u16", { UNSIGNED, 2, false } },
		{ "u32", { UNSIGNED, 4, false } },
		{ "u64", { UNSIGNED, 8, false } },
		{ "i32", { SIGNED, 4, false } },
		{ "i64", { SIGNED, 8, false } },
		{ "f64", { REAL, 8, false } },
		{ "string", { TEXT, 0, false } },
		{ "hash", { FIXED, 16, false } },
	};

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (strlen(known[i].name) == len &&
		    !memcmp(known[i].name, name, len))
			return known[i].column;
	assert(!"a type that is known");
	return known[0].column;
}

struct rowbinary *rowbinary_new(const char *types, rowbinary_fn *fn, void *arg)
{
	struct rowbinary *r = mem_new(1, sizeof(*r));

	r->fn = fn;
	r->arg = arg;
	for (const char *s = types; *s;) {
		size_t len = strcspn(s, " ");
		bool list = *s == '[';
		struct column c = rowbinary_column(s + list, len - 2 * list);

		assert(r->n_column < ROWBINARY_COLUMNS);
		c.list = list;
		r->column[r->n_column++] = c;
		s += len;
		s += strspn(s, " ");
	}
	return r;
}

void rowbinary_free(struct rowbinary *r)
{
	if (!r)
		return;
	free_all(r->item, r->rest, r);
}

/* The next four return 1 and a value, 0 if the bytes end in it, -1 and *err. */

static int rowbinary_length(struct bytes *b, uint64_t *out, struct err *err)
{
	*out = 0;
	for (unsigned int shift = 0; shift < 63; shift += 7) {
		uint8_t v;

		if (!bytes_left(b))
			return 0;
		if (bytes_u8(b, &v, err))
			return -1;
		*out |= (uint64_t)(v & 0x7f) << shift;
		if (!(v & 0x80))
			return *out <= ROWBINARY_ROW
				       ? 1
				       : err_set(err, ERR_LIMIT,
						 "a length of %" PRIu64
						 " bytes",
						 *out);
	}
	return err_set(err, ERR_FORMAT, "a length of more than 63 bits");
}

static int rowbinary_single(struct bytes *b, const struct column *c,
			    struct rowbinary_value *v, struct err *err)
{
	uint64_t len = c->size;
	int ret = 1;

	if (c->kind == TEXT)
		ret = rowbinary_length(b, &len, err);
	if (ret <= 0 || bytes_left(b) < len)
		return ret < 0 ? -1 : 0;
	if (c->kind == TEXT || c->kind == FIXED) {
		v->text = (const char *)b->pos;
		v->len = (size_t)len;
	} else {
		unsigned char raw[8] = { 0 };

		memcpy(raw, b->pos, c->size);
		v->u = 0;
		for (unsigned int i = 8; i-- > 0;)
			v->u = v->u << 8 | raw[i];
		if (c->kind == SIGNED && c->size == 4)
			v->i = (int32_t)v->u;
	}
	b->pos += len;
	return 1;
}

static int rowbinary_list(struct rowbinary *r, struct bytes *b, size_t column,
			  struct err *err)
{
	uint64_t n;
	int ret = rowbinary_length(b, &n, err);

	if (ret > 0 && n > ROWBINARY_ITEMS - r->n_item)
		ret = err_set(err, ERR_LIMIT,
			      "lists with more than %d items in a row",
			      ROWBINARY_ITEMS);
	r->first[column] = r->n_item;
	for (uint64_t i = 0; ret > 0 && i < n; i++)
		ret = rowbinary_single(b, &r->column[column],
				       mem_add(r->item, r->n_item, r->cap_item),
				       err);
	return ret;
}

static int rowbinary_row(struct rowbinary *r, struct bytes *b, struct err *err)
{
	int ret = 1;

	r->n_item = 0;
	for (size_t i = 0; ret > 0 && i < r->n_column; i++)
		ret = r->column[i].list ? rowbinary_list(r, b, i, err)
					: rowbinary_single(b, &r->column[i],
							   &r->row[i], err);
	if (ret < 0)
		return err_while(err, "reading row %" PRIu64 " of the reply",
				 r->rows + 1);
	for (size_t i = 0, end = r->n_item; ret && i < r->n_column; i++) {
		size_t k = r->n_column - 1 - i;

		if (!r->column[k].list)
			continue;
		r->row[k].item = r->item ? r->item + r->first[k] : NULL;
		r->row[k].n = end - r->first[k];
		end = r->first[k];
	}
	return ret;
}

/* Calls fn() for all complete rows of the n bytes. Returns how many bytes these
 * have, or -1 and *err. */
static int64_t rowbinary_rows_of(struct rowbinary *r, const void *data,
				 size_t n, struct err *err)
{
	struct bytes b;
	size_t used = 0;
	int ret = 1;

	bytes_init(&b, data, n, "reply", 0, bytes_must_swap(false));
	while (ret > 0 && bytes_left(&b)) {
		ret = rowbinary_row(r, &b, err);
		if (ret > 0) {
			r->rows++;
			used = n - bytes_left(&b);
			ret = r->fn(r->arg, r->row, err) ? -1 : 1;
		}
	}
	return ret < 0 ? -1 : (int64_t)used;
}

/* Appends bytes to rest. Returns 0, or -1 and *err if they are too many. */
static int rowbinary_keep(struct rowbinary *r, const void *data, size_t n,
			  struct err *err)
{
	if (n > ROWBINARY_ROW - r->n_rest)
		return err_set(err, ERR_LIMIT,
			       "row %" PRIu64 " of the reply has more than %zu "
			       "bytes",
			       r->rows + 1, ROWBINARY_ROW);
	if (!n)
		return 0;
	mem_append(r->rest, r->n_rest, r->cap_rest, data, n);
	return 0;
}

/* Calls fn() for the complete rows in rest. Returns 0, or -1 and *err. */
static int rowbinary_drain(struct rowbinary *r, struct err *err)
{
	int64_t used = rowbinary_rows_of(r, r->rest, r->n_rest, err);

	if (used < 0)
		return -1;
	r->n_rest -= (size_t)used;
	memmove(r->rest, r->rest + used, r->n_rest);
	return 0;
}

int rowbinary_add(struct rowbinary *r, const void *data, size_t n,
		  struct err *err)
{
	const unsigned char *at = data;
	int64_t used = 0;

	if (!n)
		return 0;
	if (!r->n_rest) {
		used = rowbinary_rows_of(r, at, n, err);
		if (used < 0 ||
		    rowbinary_keep(r, at + used, n - (size_t)used, err))
			return -1;
		r->tried = r->n_rest;
		return 0;
	}
	/* a long row that comes in many pieces is tried a few times only */
	if (rowbinary_keep(r, at, n, err))
		return -1;
	if (r->n_rest - r->tried < r->tried / 2)
		return 0;
	if (rowbinary_drain(r, err))
		return -1;
	r->tried = r->n_rest;
	return 0;
}

int rowbinary_finish(struct rowbinary *r, struct err *err)
{
	if (r->n_rest && rowbinary_drain(r, err))
		return -1;
	return r->n_rest ? err_set(err, ERR_FORMAT,
				   "the reply ends within row %" PRIu64,
				   r->rows + 1)
			 : 0;
}
