/* claims.c - checks that what the tables of a file describe is all that the
 * file holds. */
#include "formats/reader/claims.h"

#include <inttypes.h>
#include <stdlib.h>

#include "formats/reader/reader.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

COMPARE_BY(claims_compare, struct claim, off);

void claims_add(struct claims *c, uint64_t off, uint64_t len)
{
	if (len)
		*mem_add(c->claim, c->n, c->cap) = (struct claim){ off, len };
}

void claims_release(struct claims *c)
{
	free(c->claim);
}

/* Notes what stands in [from, to) behind the zeros there. */
static void claims_check_gap(const struct source *src, const struct bytes *file,
			     uint64_t from, uint64_t to)
{
	struct err why;
	uint8_t v = 0;

	while (from < to && !bytes_peek(file, from, &v, 1) && !v)
		from++;
	if (from >= to)
		return;
	err_at(&why, file->path, from,
	       "%" PRIu64 " bytes that no table of the file describes; a size "
	       "or a count in front of them may be too small",
	       to - from);
	reader_damage(src, "unclaimed", from, to - from, &why);
}

static void claims_note_overlap(const struct source *src,
				const struct bytes *file, const struct claim *c,
				uint64_t end)
{
	struct err why;

	err_at(&why, file->path, c->off,
	       "the bytes up to 0x%" PRIx64 " belong to what stands in front "
	       "of them too",
	       end);
	reader_damage(src, "overlap", c->off, end - c->off, &why);
}

void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg)
{
	uint64_t len = bytes_left(file);
	uint64_t end = 0;

	claims_add(c, len, 1);
	if (c->n)
		qsort(c->claim, c->n, sizeof(*c->claim), claims_compare);
	for (size_t i = 0; i < c->n; i++) {
		const struct claim *at = &c->claim[i];

		if (at->off > end)
			claims_check_gap(src, file,
					 skip ? skip(arg, end, at->off) : end,
					 at->off);
		else if (at->off < end)
			claims_note_overlap(src, file, at, end);
		if (at->off + at->len > end)
			end = at->off + at->len;
	}
}

void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what)
{
	struct err why;

	if (!bytes_left(b))
		return;
	err_at(&why, b->path, bytes_off(b),
	       "%zu bytes are left of %s; a size or a count in it is wrong",
	       bytes_left(b), what);
	reader_damage(src, "rest", bytes_off(b), bytes_left(b), &why);
}
