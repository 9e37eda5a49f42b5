/* mapped_code.c - collects which parts of files the mappings of a new database
 * show, each once. A shell starts a program a thousand times, which maps the
 * same a thousand times: of a compiler's 229,000 mappings 5,500 are left. That
 * SQLite need not find these again saved a tenth of the main thread's work. */
#include "schema/write/mapped_code.h"

#include "schema/columns.h"
#include "schema/db/rows.h"
#include "schema/write/writing.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/fact.h"
#include "stitch/tasks/frame.h"

/* The most parts that are kept, 3 MB; beyond that the rows are read instead. */
#define PARTS_MAX 65536

#define PROT_CODE 4 /* mapping.prot: PROT_EXEC */

struct mapped_part {
	uint64_t pgoff, len;
	uint32_t image, prot;
	uint64_t t0; /* as of struct image_part */
};

struct mapped_code {
	struct mapped_part *part;
	size_t n, cap;
	struct table index;
	bool many; /* some parts were not kept */
};

void mapped_code_free(struct mapped_code *mc)
{
	if (!mc)
		return;
	table_release(&mc->index);
	free_all(mc->part, mc);
}

SAME_BY(mapped_code_same, struct mapped_code, part[id], struct mapped_part,
	image, prot, pgoff, len);

bool mapped_code_add(struct maker *mk, const struct fact_mapping *m)
{
	struct mapped_code *mc = mk->w->mapped;
	const struct mapped_part key = { m->pgoff, m->end - m->start, m->image,
					 m->prot,
					 m->t0 > 0 ? (uint64_t)m->t0 : 1 };
	uint64_t hash = hash_pair(key.pgoff ^ key.prot,
				  key.len ^ (uint64_t)key.image << 32);

	if (!mc)
		mc = mk->w->mapped = mem_new(1, sizeof(*mc));
	if (mc->many)
		return false;
	uint32_t at = table_find(&mc->index, hash, mapped_code_same, mc, &key);

	if (at != TABLE_NONE) {
		lower_to(mc->part[at].t0, key.t0);
		return false;
	}
	if (mc->n == PARTS_MAX && !mk->db->sums) {
		mc->many = true;
		return false;
	}
	table_add(&mc->index, hash, (uint32_t)mc->n);
	*mem_add(mc->part, mc->n, mc->cap) = key;
	return true;
}

void mapped_parts_release(struct mapped_parts *parts)
{
	free(parts->part);
	*parts = (struct mapped_parts){ 0 };
}

static void mapped_parts_add(struct mapped_parts *parts, uint32_t image,
			     uint64_t pgoff, uint64_t len, uint64_t t0)
{
	*mem_add(parts->part, parts->n, parts->cap) =
		(struct image_part){ image, pgoff, len, t0 };
}

COMPARE_BY(mapped_part_by_image, struct image_part, image);

int mapped_parts_load(struct maker *mk, struct mapped_parts *parts,
		      struct err *err)
{
	const struct mapped_code *mc = mk->w->mapped;

	*parts = (struct mapped_parts){ 0 };
	if (!mk->is_new || !mk->w->fr || (mc && mc->many)) {
		if (tables_link(mk, err))
			return -1;
		struct rows *r =
			rows_of(maker_read(mk, err), "mapped_code", err);

		while (rows_step(r)) {
			int64_t image = rows_int(r, MAPPED_CODE_IMAGE);

			if (image > 0 && image < UINT32_MAX)
				mapped_parts_add(
					parts, (uint32_t)image,
					(uint64_t)rows_int(r,
							   MAPPED_CODE_PGOFF),
					(uint64_t)rows_int(r, MAPPED_CODE_LEN),
					(uint64_t)rows_int(r, MAPPED_CODE_T0));
		}
		if (rows_end(r, err))
			return -1;
	} else {
		for (size_t i = 0; mc && i < mc->n; i++) {
			const struct mapped_part *p = &mc->part[i];

			if (p->image && p->prot & PROT_CODE)
				mapped_parts_add(parts, p->image, p->pgoff,
						 p->len, p->t0);
		}
	}
	sort_items(parts->part, parts->n, mapped_part_by_image);
	return 0;
}

const struct image_part *mapped_parts_of(const struct mapped_parts *parts,
					 uint32_t image, size_t *n)
{
	size_t i = search_where(parts->n, k, parts->part[k].image >= image);
	size_t end = i;

	while (end < parts->n && parts->part[end].image == image)
		end++;
	*n = end - i;
	return *n ? &parts->part[i] : NULL;
}
