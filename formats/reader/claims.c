/* claims.c - checks that what the tables of a file describe is all that the
 * file holds. */
#include "formats/reader/claims.h"

#include <inttypes.h>

#include "formats/reader/reader.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

COMPARE_BY(claims_compare, struct folder_lock, off);

void claims_add(struct claims *c, uint64_t off, uint64_t len)
{
	if (len)
		*mem_add(c->claim, c->n, c->cap) =
			(struct folder_lock){ off, len };
}

void claims_release(struct claims *c)
{
	free(c->claim);
}

void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg)
{
	uint64_t len = bytes_left(file);
	uint64_t end = 0;

	claims_add(c, len, 1);
	sort_items(c->claim, c->n, claims_compare);
	for (size_t i = 0; i < c->n; i++) {
		const struct folder_lock *at = &c->claim[i];

		if (at->off > end) {
			/* zeros are padding: note what stands behind them */
			uint64_t from = skip ? skip(arg, end, at->off) : end;
			uint8_t v = 0;

			while (from < at->off &&
			       !bytes_peek(file, from, &v, 1) && !v)
				from++;
			if (from < at->off)
				reader_damage_text(
					src, file->path, "unclaimed", from,
					at->off - from,
					"%" PRIu64
					" bytes that no table of the file "
					"describes; a size or a count in front "
					"of them may be too small",
					at->off - from);
		} else if (at->off < end) {
			reader_damage_text(
				src, file->path, "overlap", at->off,
				end - at->off,
				"the bytes up to 0x%" PRIx64
				" belong to what stands in front of them too",
				end);
		}
		raise_to(end, at->off + at->len);
	}
}

void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what)
{
	if (bytes_left(b))
		reader_damage_text(
			src, b->path, "rest", bytes_off(b), bytes_left(b),
			"%zu bytes are left of %s; a size or a count in it is wrong",
			bytes_left(b), what);
}
