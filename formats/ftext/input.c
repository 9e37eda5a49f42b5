/* input.c - the lines of a text of ftrace, from a file or a stream.
 *
 * A file is mapped, and items point into it. Of a stream, only what was not
 * taken yet is in a buffer; items have copies of their lines. */
#include <string.h>

#include "formats/ftext/ftext.h"

#define STEP ((size_t)64 << 10)

/* Reads more of a stream. Returns 1, 0 at the end, -1 on failure. */
static int ftext_input_more(struct ftext *ft, struct err *err)
{
	if (ft->pos) {
		memmove(ft->buf, ft->buf + ft->pos, ft->end - ft->pos);
		ft->base += ft->pos;
		ft->end -= ft->pos;
		ft->pos = 0;
	}
	mem_grow(ft->buf, ft->cap, ft->end + STEP);
	int64_t got = input_read(&ft->in, ft->buf + ft->end, STEP, err);

	if (got < 0)
		return -1;
	ft->at_end = !got;
	ft->end += (size_t)got;
	return got > 0;
}

static struct scan ftext_input_window(const struct ftext *ft)
{
	const char *p = ft->in.data ? (const char *)ft->in.data : ft->buf;

	return scan_of(p + ft->pos, ft->end - ft->pos);
}

int ftext_peek_text(struct ftext *ft, struct scan *s, struct err *err)
{
	if (ft->in.data) {
		ft->end = ft->in.len;
		ft->at_end = true;
	} else if (ft->in.n_head) {
		mem_grow(ft->buf, ft->cap, STEP);
		memcpy(ft->buf, ft->in.head, ft->in.n_head);
		ft->end = ft->in.n_head;
		ft->in.n_head = 0;
	}
	*s = ftext_input_window(ft);
	while (!ft->at_end && memchr(s->p, '\n', s->n) == NULL &&
	       s->n < FTEXT_LINE) {
		if (ftext_input_more(ft, err) < 0)
			return -1;
		*s = ftext_input_window(ft);
	}
	if (!ft->base && !ft->pos && scan_take(s, TEXT_MARK))
		ft->pos = strlen(TEXT_MARK);
	return 0;
}

int ftext_next_line(struct ftext *ft, struct scan *s, uint64_t *off,
		    struct err *err)
{
	size_t seen = 0;

	for (;;) {
		struct scan w = ftext_input_window(ft);
		size_t n = seen;

		n += scan_find_char(scan_tail(w, seen), '\n');
		if (n < w.n && !ft->dropping && n <= FTEXT_LINE) {
			*s = scan_head(w, n);
			*off = ft->base + ft->pos;
			ft->pos += n + 1;
			ft->src.pos = ft->base + ft->pos;
			return 1;
		}
		seen = n;
		if (n < w.n || n > FTEXT_LINE) {
			/* the end of a line that is too long, or a part of one
			 */
			const size_t part = n + (n < w.n);

			if (!ft->dropping)
				reader_damage_text(
					&ft->src, ft->in.path, "line",
					ft->base + ft->pos, part,
					"a line of more than 65536 bytes");
			ft->pos += part;
			ft->dropping = n >= w.n;
			seen = 0;
			continue;
		}
		/* a last line without a line feed may be cut anywhere, so it
		 * is not used */
		if (ft->at_end && w.n) {
			ft->src.info.truncated = true;
			reader_damage_text(&ft->src, ft->in.path, "cut",
					   ft->base + ft->pos, w.n,
					   "the last line has no end: the text "
					   "is cut off");
			ft->pos += w.n;
		}
		if (ft->at_end)
			return 0;
		int got = ftext_input_more(ft, err);

		if (got < 0)
			return -1;
	}
}

struct scan ftext_part_of(const struct ftext *ft, const struct ftext_item *it,
			  const struct ftext_part *part)
{
	const char *base = it->own ? it->own : (const char *)ft->in.data;

	return part->n ? scan_of(base + part->at, part->n) : scan_of("", 0);
}

void ftext_part_add(struct ftext *ft, struct ftext_item *it, struct scan line,
		    uint64_t off, struct scan s, struct ftext_part *part)
{
	size_t in_line = s.n ? (size_t)(s.p - line.p) : 0;

	/* what is between the lines of a part in the file belongs to it */
	if (ft->in.data) {
		if (!part->n)
			part->at = off + in_line;
		part->n = (size_t)(off + in_line + s.n - part->at);
		return;
	}
	/* lines of a stream are gone with the next one: the item has copies,
	 * with line feeds between them */
	size_t sep = part->n ? 1 : 0;

	mem_grow(it->own, it->cap_own, it->n_own + s.n + sep + 1);
	if (sep)
		it->own[it->n_own++] = '\n';
	else
		part->at = it->n_own;
	if (s.n) /* else s.p may be NULL */
		memcpy(it->own + it->n_own, s.p, s.n);
	it->n_own += s.n;
	part->n += s.n + sep;
}
