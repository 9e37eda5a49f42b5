/* item.c - reads the lines of a text, adds and releases items, and adds their
 * refs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ftext/ftext.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/order/clocks.h"

/* ---- the lines of a text of ftrace, from a file or a stream.
 *
 * A file is mapped, and items point into it. The buffer of a stream has only
 * what was not taken yet; items have copies of their lines. */

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
			/* the end of a line that is too long, or a part of
			 * it */
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
		/* a last line without a line feed may be incomplete, so it is
		 * not used */
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

	/* in a file, bytes between the lines of a part belong to it */
	if (ft->in.data) {
		if (!part->n)
			part->at = off + in_line;
		part->n = (size_t)(off + in_line + s.n - part->at);
		return;
	}
	/* lines of a stream are dropped with the next one: the item has copies,
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

/* ---- what tracefs has besides a text: its clock, its CPUs, and what their
 * buffers lost */

void ftext_totals_open(struct ftext *ft, struct scan head)
{
	struct source_info *info = &ft->src.info;
	struct ftext_beside *b = &ft->beside;
	struct scan line = scan_line(&head);

	ft->piece = scan_take(&line, FTEXT_BESIDE);
	if (ft->piece && scan_take(&line, " clock="))
		snprintf(b->clock, sizeof(b->clock), "%.*s", (int)line.n,
			 line.p);
	if (!ft->piece && strcmp(ft->src.path, "-") != 0)
		ftext_beside_open(b, ft->in.path);
	if (b->cpus)
		info->cpus_online = ftext_beside_cpus(b);
	if (*b->clock) {
		info->clock = b->clock;
		info->clock_id = clock_id_of(b->clock);
	}
}

int ftext_totals_read(struct ftext *ft, struct err *err)
{
	struct ftext_beside *b = &ft->beside;
	const char *given = ft->opts.stats;
	char dir[PATH_MAX];

	if (!given) {
		/* if this fails, only the counts in the text are used */
		ftext_beside_read(b, b->per_cpu, NULL);
		return 0;
	}
	int n = ftext_beside_read(b, given, err);

	if (!n) {
		snprintf(dir, sizeof(dir), "%s/per_cpu", given);
		n = ftext_beside_read(b, dir, err);
	}
	if (!n)
		return err_set(err, ERR_USAGE,
			       "--stats %s: no file in it is called cpu0/stats",
			       given);
	return n < 0 ? -1 : 0;
}

bool ftext_has_totals(struct ftext *ft)
{
	struct ftext_beside *b = &ft->beside;

	/* the counts of tracefs grew while the text was read */
	if (b->live && !ft->opts.stats)
		ftext_beside_read(b, b->per_cpu, NULL);
	/* the header of per_cpu/cpuN/trace has the counts of all CPUs */
	if (!b->n_total || b->only || ftext_beside_sum(b) >= ft->overwritten)
		return b->n_total > 0;
	reader_note(
		&ft->src, "stats",
		"the files stats count fewer events than the header of the "
		"text says were overwritten: they are not of this text, and "
		"are not used");
	b->n_total = 0;
	return false;
}

#define ITEMS_MIN 1024u
#define BUFFERS_MAX 256u

uint64_t ftext_item_new(struct ftext *ft, uint64_t off, const struct line *l)
{
	if (ft->end_item - ft->first == ft->cap_item) {
		size_t cap = ft->cap_item ? ft->cap_item * 2 : ITEMS_MIN;
		struct ftext_item *more = mem_new(cap, sizeof(*more));

		for (uint64_t i = ft->first; i < ft->end_item; i++)
			more[i & (cap - 1)] = *ftext_item_at(ft, i);
		free(ft->item);
		ft->item = more;
		ft->cap_item = cap;
	}
	*ftext_item_at(ft, ft->end_item) = (struct ftext_item){
		.off = off,
		.pid = l->pid,
		.tgid = l->tgid,
		.cpu = l->cpu,
		.flags = l->flags,
		.has_flags = l->has_flags,
	};
	return ft->end_item++;
}

void ftext_release(struct source *src, const struct ref *ref)
{
	struct ftext *ft = ftext_from_source(src);

	if (ref->len == REF_TOTAL || ref->len == REF_KERNEL)
		return;
	ftext_item_at(ft, ref->handle)->refs--;
	while (ft->first < ft->give && !ftext_item_at(ft, ft->first)->refs) {
		free(ftext_item_at(ft, ft->first)->own);
		ft->first++;
	}
}

uint32_t ftext_buffer_of(struct ftext *ft, struct scan name)
{
	if (!name.n)
		return 0;
	for (size_t i = 0; i < ft->n_buffer; i++)
		if (scan_is(name, ft->buffer[i]))
			return (uint32_t)i + 1;
	if (ft->n_buffer == BUFFERS_MAX)
		return BUFFERS_MAX;
	*mem_add(ft->buffer, ft->n_buffer, ft->cap_buffer) =
		arena_strndup(&ft->arena, name.p, name.n);
	reader_note(&ft->src, "instance", ft->buffer[ft->n_buffer - 1]);
	return (uint32_t)ft->n_buffer;
}

uint64_t *ftext_item_newest(struct ftext *ft, uint32_t buffer, int32_t cpu)
{
	uint64_t h = hash_u64((uint64_t)buffer << 32 | (uint32_t)cpu);
	uint32_t i = table_find_or_add(&ft->cpus, h, ft->n_cpu);

	return mem_at(ft->cpu, ft->n_cpu, ft->cap_cpu, i);
}

void ftext_item_link(struct ftext *ft, uint64_t id, uint32_t buffer)
{
	struct ftext_item *it = ftext_item_at(ft, id);
	uint64_t *newest = ftext_item_newest(ft, buffer, it->cpu);

	it->buffer = buffer;
	it->prev = *newest;
	*newest = id + 1;
}

void ftext_add_ref(struct ftext *ft, uint64_t item, uint32_t which)
{
	struct ftext_item *it = ftext_item_at(ft, item);

	*mem_add(ft->due, ft->n_due, ft->cap_due) = (struct ref){
		.key = it->key,
		.seq = ++ft->seq,
		.handle = item,
		.len = which,
		.kind = CLASS_SAMPLE,
		.untimed = it->untimed,
	};
	it->refs++;
}
