/* mapped_code.c - which parts of files the mappings of a new database show,
 * each once. A shell starts a program a thousand times, which maps the same a
 * thousand times: of a compiler's 229,000 mappings 5,500 are left. That SQLite
 * need not find these again was a tenth of the main thread's work. */
#include "schema/write/mapped_code.h"

#include <stdlib.h>

#include "schema/columns.h"
#include "schema/db/rows.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"

/* Most parts that are kept, 3 MB, where the rows can be read instead. */
#define PARTS_MAX 65536

#define PROT_CODE 4 /* mapping.prot: PROT_EXEC */

struct mapped_part {
	uint64_t pgoff, len;
	uint32_t image, prot;
};

struct mapped_code {
	struct mapped_part *part;
	size_t n, cap;
	struct table index;
	bool many; /* some are not there */
};

void mapped_code_free(struct mapped_code *mc)
{
	if (!mc)
		return;
	table_release(&mc->index);
	free(mc->part);
	free(mc);
}

static bool mapped_code_same(const void *owner, uint32_t id, const void *key)
{
	const struct mapped_part *a =
		&((const struct mapped_code *)owner)->part[id];
	const struct mapped_part *b = key;

	return a->image == b->image && a->prot == b->prot &&
	       a->pgoff == b->pgoff && a->len == b->len;
}

bool mapped_code_add(struct store *db, const struct fact_mapping *m)
{
	struct mapped_code *mc = db->w->mapped;
	const struct mapped_part key = { m->pgoff, m->end - m->start, m->image,
					 m->prot };
	uint64_t hash = hash_pair(key.pgoff ^ key.prot,
				  key.len ^ (uint64_t)key.image << 32);

	if (!mc)
		mc = db->w->mapped = mem_new(1, sizeof(*mc));
	if (mc->many || table_find(&mc->index, hash, mapped_code_same, mc,
				   &key) != TABLE_NONE)
		return false;
	if (mc->n == PARTS_MAX && !db->w->sums) {
		mc->many = true;
		return false;
	}
	table_add(&mc->index, hash, (uint32_t)mc->n);
	*mem_add(mc->part, mc->n, mc->cap) = key;
	return true;
}

static int mapped_code_read(struct store *db, store_mapped_fn *fn, void *arg,
			    struct err *err)
{
	if (tables_link(db, err))
		return -1;
	struct rows *r = rows_of(db, "mapped_code", err);

	while (rows_step(r)) {
		int64_t image = rows_int(r, MAPPED_CODE_IMAGE);

		if (image > 0 && image < UINT32_MAX)
			fn(arg, (uint32_t)image,
			   (uint64_t)rows_int(r, MAPPED_CODE_PGOFF),
			   (uint64_t)rows_int(r, MAPPED_CODE_LEN));
	}
	return rows_end(r, err);
}

int store_mapped_code(struct store *db, store_mapped_fn *fn, void *arg,
		      struct err *err)
{
	const struct mapped_code *mc = db->w->mapped;

	if (!db->making || !db->w->fr || (mc && mc->many))
		return mapped_code_read(db, fn, arg, err);
	for (size_t i = 0; mc && i < mc->n; i++) {
		const struct mapped_part *p = &mc->part[i];

		if (p->image && p->prot & PROT_CODE)
			fn(arg, p->image, p->pgoff, p->len);
	}
	return 0;
}
