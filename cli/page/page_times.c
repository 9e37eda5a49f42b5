/* page_times.c - when that happened which the page's tables count. */
#include "cli/page/page_times.h"

#include "cli/stacks/label.h"
#include "cli/output/json.h"
#include "cli/page/page_bytes.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"

struct page_times {
	struct labels *keys; /* a label's name is the text */
	struct blob bytes;
	uint64_t n, last;
	uint64_t (*bin_of)(const void *arg, int64_t time);
	const void *arg;
};

/* Returns 0 if the time is not known. */
static uint64_t page_times_bin(const struct page_times *t, const struct rows *r,
			       size_t column)
{
	return rows_value(r, column).kind == VALUE_NULL
		       ? 0
		       : 1 + t->bin_of(t->arg, rows_int(r, column));
}

struct page_times *page_times_load(struct store *db,
				   uint64_t (*bin_of)(const void *arg,
						      int64_t time),
				   const void *arg, struct err *err)
{
	struct page_times *t = mem_new(1, sizeof(*t));
	struct rows *r = rows_of(db, "page_times", err);

	t->keys = labels_new();
	t->bin_of = bin_of;
	t->arg = arg;
	while (rows_step(r)) {
		uint32_t key = labels_add_name(t->keys, LABEL_GROUP,
					       rows_text(r, PAGE_TIMES_KEY));
		uint64_t from = page_times_bin(t, r, PAGE_TIMES_T0);
		uint64_t to = page_times_bin(t, r, PAGE_TIMES_T1);
		uint64_t n = (uint64_t)rows_int(r, PAGE_TIMES_N);

		blob_leb(&t->bytes,
			 (uint64_t)key * 4 + (to != from) + (n != 1) * 2);
		blob_zigzag(&t->bytes, from - t->last);
		if (to != from)
			blob_leb(&t->bytes, to);
		if (n != 1)
			blob_leb(&t->bytes, n);
		t->last = from;
		t->n++;
	}
	if (!rows_end(r, err))
		return t;
	page_times_free(t);
	return NULL;
}

void page_times_free(struct page_times *t)
{
	if (!t)
		return;
	labels_free(t->keys);
	blob_release(&t->bytes);
	free(t);
}

void page_times_meta(const struct page_times *t, struct json *j)
{
	json_array(j, "times");
	json_uint(j, NULL, t->n);
	for (uint32_t i = 0; i < labels_count(t->keys); i++)
		json_shown(j, NULL, labels_get(t->keys, i)->name);
	json_end(j);
}

void page_times_write(const struct page_times *t, FILE *out)
{
	page_bytes_write(&t->bytes, "times", out);
}
