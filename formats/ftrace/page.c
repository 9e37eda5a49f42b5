/* page.c - reads the kernel's ring-buffer pages (kernel/trace/ring_buffer.c):
 * entries with their times, and marks of lost entries. */
#include "formats/ftrace/page.h"

#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"

#define LOST ((uint64_t)1 << 31)	/* entries before this page were lost */
#define LOST_STORED ((uint64_t)1 << 30) /* their number follows the data */
#define LENGTH_MASK (((uint64_t)1 << 30) - 1)

#define STAMP_BITS 59

/* ring_buffer_read_page() fills the rest of a page with zeros: the first byte
 * is one, and each other equals the one before it. */
static bool ft_page_has_data(const struct bytes *b)
{
	size_t n = bytes_left(b);

	return n && (*b->pos || memcmp(b->pos, b->pos + 1, n - 1) != 0);
}

int ft_page_open(struct ft *ft, struct ft_stream *s, uint64_t place,
		 struct ft_page *pg, struct err *err)
{
	uint64_t commit = 0;
	struct bytes b;

	*pg = (struct ft_page){ .place = place };
	if (ft_stream_bytes(ft, s, place, s->subbuf, &b, err) ||
	    bytes_u64(&b, &pg->time, err) ||
	    tp_take_long(&b, ft->commit32, &commit, err))
		return -1;
	uint64_t len = commit & LENGTH_MASK;

	if (len > bytes_left(&b))
		return err_at(err, s->path, ft_stream_file_offset(s, place),
			      "a page says it has %llu bytes of data, it can "
			      "have %zu",
			      (unsigned long long)len, bytes_left(&b));
	bytes_take(&b, len, &pg->b, NULL);
	pg->lost = commit & LOST;
	if (pg->lost && commit & LOST_STORED)
		pg->has_number =
			!tp_take_long(&b, ft->commit32, &pg->n_lost, NULL);
	pg->unread = ft_page_has_data(&b);
	return 0;
}

int ft_page_check_end(const struct ft_page *pg, struct err *err)
{
	/* Padding to the end of a page has 8 bytes at most; the last 4 of them
	 * may hold anything. */
	if (!pg->unread &&
	    (bytes_left(&pg->b) <= 4 || !ft_page_has_data(&pg->b)))
		return 0;
	return err_at(err, pg->b.path, bytes_off(&pg->b),
		      "a page has data behind the length that it gives");
}

int ft_page_again(struct ft *ft, struct ft_stream *s, struct ft_page *pg,
		  struct err *err)
{
	size_t at = (size_t)(pg->b.pos - pg->b.base);
	size_t left = bytes_left(&pg->b);
	struct bytes b;

	if (ft_stream_bytes(ft, s, pg->place, s->subbuf, &b, err) ||
	    bytes_skip(&b, at, err))
		return -1;
	return bytes_take(&b, left, &pg->b, err);
}

/* Takes the word before each entry. The order of its bit fields depends on the
 * byte order. */
static int ft_page_take_word(const struct ft *ft, struct bytes *b,
			     uint32_t *type, uint32_t *delta, struct err *err)
{
	uint32_t w;

	if (bytes_u32(b, &w, err))
		return -1;
	*type = ft->big ? w >> 27 : w & 31;
	*delta = ft->big ? w & 0x7ffffff : w >> 5;
	return 0;
}

/* Takes the payload after the word of an entry with data. */
static int ft_page_take_payload(struct bytes *b, uint32_t type,
				struct bytes *out, struct err *err)
{
	uint32_t len = type * 4;

	if (type == FT_TYPE_LONG) {
		if (bytes_u32(b, &len, err))
			return -1;
		if (len < 4 || len & 3)
			return err_at(err, b->path, bytes_off(b) - 4,
				      "an entry is %u bytes long, needs a "
				      "multiple of 4",
				      len);
		len -= 4;
	}
	return bytes_take(b, len, out, err);
}

int ft_page_next_any(const struct ft *ft, struct ft_page *pg,
		     struct ft_entry *e, struct err *err)
{
	while (bytes_left(&pg->b)) {
		uint64_t at = (uint64_t)(pg->b.pos - pg->b.base);
		uint32_t type, delta, more;

		if (ft_page_take_word(ft, &pg->b, &type, &delta, err))
			return -1;
		if (type == FT_TYPE_PADDING && !delta)
			return 0;
		if (type == FT_TYPE_PADDING) {
			/* An entry that was written and then discarded. Its
			 * time counts. */
			pg->time += delta;
			if (bytes_u32(&pg->b, &more, err))
				return -1;
			if (more < 4)
				return err_at(err, pg->b.path,
					      bytes_off(&pg->b) - 4,
					      "a discarded entry is %u bytes "
					      "long, needs 4",
					      more);
			if (bytes_skip(&pg->b, more - 4, err))
				return -1;
			continue;
		}
		if (type >= FT_TYPE_EXTEND) {
			if (bytes_u32(&pg->b, &more, err))
				return -1;
			uint64_t t = delta + ((uint64_t)more << 27);
			uint64_t top = pg->time >> STAMP_BITS << STAMP_BITS;

			if (type == FT_TYPE_EXTEND)
				pg->time += t;
			else
				pg->time = top | t;
			continue;
		}
		pg->time += delta;
		e->time = pg->time;
		e->place = pg->place + at;
		if (ft_page_take_payload(&pg->b, type, &e->b, err))
			return -1;
		return 1;
	}
	return 0;
}

int ft_entry_any_at(struct ft *ft, struct ft_stream *s, uint64_t place,
		    struct bytes *out, struct err *err)
{
	uint32_t type, delta;
	struct bytes b;

	if (ft_stream_rest(ft, s, place, &b, err) ||
	    ft_page_take_word(ft, &b, &type, &delta, err))
		return -1;
	return ft_page_take_payload(&b, type, out, err);
}
