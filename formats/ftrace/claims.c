/* claims.c - checks that what the tables of a trace.dat describe is all that
 * the file holds.
 *
 * The reader claims every range of the file that it takes: the header, each
 * section, each ring. A table with a smaller number than was written leaves
 * bytes that nothing claims; one with a larger number makes two claims overlap.
 * trace-cmd fills with zeros only, up to the next page, between claims. */
#include <inttypes.h>
#include <stdlib.h>

#include "formats/ftrace/ftrace.h"
#include "formats/reader/compare.h"
#include "stitch/base/err.h"

COMPARE_BY(ft_claim_compare, struct ft_claim, off);

int ft_section_head(const struct ft *ft, uint64_t off, struct ft_section *s,
		    struct err *err)
{
	struct bytes b;
	uint32_t name;

	bytes_init(&b, ft->in.data, ft->in.len, ft->in.path, 0, ft->swap);
	if (bytes_skip(&b, off, err) || bytes_u16(&b, &s->id, err) ||
	    bytes_u16(&b, &s->flags, err) || bytes_u32(&b, &name, err) ||
	    bytes_u64(&b, &s->size, err))
		return -1;
	s->off = off + FT_SECTION_HEAD;
	return 0;
}

void ft_claim(struct ft *ft, uint64_t off, uint64_t len)
{
	if (!len)
		return;
	ft->claim = mem_grow(ft->claim, &ft->cap_claim, ft->n_claim + 1,
			     sizeof(*ft->claim));
	ft->claim[ft->n_claim++] = (struct ft_claim){ off, len };
}

/* Returns the offset of the first byte in [from, to) that is not 0, or to. */
static uint64_t ft_claims_nonzero(const struct ft *ft, uint64_t from,
				  uint64_t to)
{
	while (from < to && !ft->in.data[from])
		from++;
	return from;
}

/* Returns the end of the sections that begin at off: of kinds that no option
 * has to name, such as the table of strings. */
static uint64_t ft_claims_skip_unnamed(const struct ft *ft, uint64_t off,
				       uint64_t end)
{
	struct ft_section s;

	while (ft->version >= 7 && off < end &&
	       !ft_section_head(ft, off, &s, NULL) && s.off <= end &&
	       s.size <= end - s.off &&
	       (s.id == FT_STRINGS || s.id > FT_CMDLINES))
		off = s.off + s.size;
	return off;
}

static void ft_claims_check_gap(struct ft *ft, uint64_t from, uint64_t to)
{
	struct err why;

	from = ft_claims_skip_unnamed(ft, from, to);
	from = ft_claims_nonzero(ft, from, to);
	if (from >= to)
		return;
	err_at(&why, ft->in.path, from,
	       "%" PRIu64 " bytes that no table of the file describes; a size "
	       "or a count in front of them may be too small",
	       to - from);
	reader_damage(&ft->src, "unclaimed", from, to - from, &why);
}

static void ft_claims_overlap(struct ft *ft, const struct ft_claim *c,
			      uint64_t end)
{
	struct err why;

	err_at(&why, ft->in.path, c->off,
	       "the bytes up to 0x%" PRIx64 " belong to what stands in front "
	       "of them too",
	       end);
	reader_damage(&ft->src, "overlap", c->off, end - c->off, &why);
}

void ft_claims_check(struct ft *ft)
{
	uint64_t end = 0;

	if (ft->n_claim)
		qsort(ft->claim, ft->n_claim, sizeof(*ft->claim),
		      ft_claim_compare);
	for (size_t i = 0; i < ft->n_claim; i++) {
		const struct ft_claim *c = &ft->claim[i];

		if (c->off > end)
			ft_claims_check_gap(ft, end, c->off);
		else if (c->off < end)
			ft_claims_overlap(ft, c, end);
		if (c->off + c->len > end)
			end = c->off + c->len;
	}
	if (end < ft->in.len)
		ft_claims_check_gap(ft, end, ft->in.len);
}

/* Notes what is left of a part after all that its own counts describe. */
void ft_claims_check_rest(struct ft *ft, const struct bytes *b,
			  const char *what)
{
	struct err why;

	if (!bytes_left(b))
		return;
	err_at(&why, ft->in.path, bytes_off(b),
	       "%zu bytes are left of %s; a size or a count in it is wrong",
	       bytes_left(b), what);
	reader_damage(&ft->src, "rest", bytes_off(b), bytes_left(b), &why);
}
