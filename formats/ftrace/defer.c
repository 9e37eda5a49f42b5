/* defer.c - deferred user stacks: cookies, the stacks that follow later, the
 * files that they name, and lines that processes which unwind themselves write
 * to trace_marker. Layouts: backstitch-formats(5), "Deferred stacks: ftrace".
 */
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/page.h"
#include "formats/reader/nonce.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"

/* The bytes of an array, as recorded in the entry. */
static struct bytes ft_defer_take_array(struct ft *ft, const struct ft_type *t,
					int field, const struct bytes *raw)
{
	struct bytes b = *raw;
	struct field f;

	tp_field_take_alone(&ft->look, &t->fmt, field, raw, &f);
	b.pos = b.end;
	if (f.present && f.blob) {
		b.pos = f.blob;
		b.end = b.pos + f.len;
	}
	return b;
}

/* Takes the next element of an array of kernel longs. Returns false at the end.
 */
static bool ft_defer_next_long(const struct ft *ft, struct bytes *b,
			       uint64_t *out)
{
	if (tp_take_long(b, ft->commit32, out, NULL))
		return false;
	/* -1 ends a stack with longs of either size. */
	if (ft->commit32 && *out == UINT32_MAX)
		*out = UINT64_MAX;
	return true;
}

/* The text up to its first 0; buf is padded. */
static struct scan ft_defer_marker_text(const struct ft_type *t,
					const struct bytes *raw)
{
	struct bytes b = *raw;

	if (bytes_skip(&b, t->fmt.field[t->part.at].off, NULL))
		return scan_of("", 0);
	return scan_of(b.pos, strnlen((const char *)b.pos, bytes_left(&b)));
}

void ft_defer_cookie(const struct ft_type *t, const struct bytes *raw,
		     struct rec_sample *s)
{
	int64_t cookie = ft_field_number(t, t->part.at, raw, 0);

	/* A cookie of 0 means that the kernel could not take the request. */
	s->cookie = (uint64_t)cookie;
	s->defer = cookie ? DEFER_COOKIE : DEFER_REFUSED;
}

void ft_defer_inode(struct ft *ft, const struct ft_type *t,
		    const struct bytes *raw)
{
	struct place file = { .ino = (uint64_t)ft_field_number(t, t->part.at,
							       raw, 0) };
	struct field f;

	user_stack_reader_set_device(
		(uint32_t)ft_field_number(t, t->part.dev, raw, 0), &file);
	tp_field_take_alone(&ft->look, &t->fmt, t->part.size, raw, &f);
	if (f.present && f.text)
		user_stack_reader_note_file(&ft->stack, &file,
					    scan_of(f.text, strlen(f.text)));
}

/* If the event has inodes, the values are offsets in files; otherwise they are
 * addresses. */
static void ft_defer_take_stack(struct ft *ft, const struct ft_type *t,
				const struct bytes *raw)
{
	struct bytes stack = ft_defer_take_array(ft, t, t->part.at, raw);
	struct bytes inodes = ft_defer_take_array(ft, t, t->part.inodes, raw);
	struct bytes devs = ft_defer_take_array(ft, t, t->part.dev, raw);
	struct place file = { .off = 0 };
	uint64_t value;
	uint32_t dev;

	while (ft_defer_next_long(ft, &stack, &value)) {
		if (t->part.inodes < 0) {
			if (value == UINT64_MAX)
				break;
			user_stack_reader_add(&ft->stack, value, NULL);
			continue;
		}
		if (!ft_defer_next_long(ft, &inodes, &file.ino))
			break;
		user_stack_reader_set_device(
			bytes_u32(&devs, &dev, NULL) ? 0 : dev, &file);
		user_stack_reader_add_file(&ft->stack, value, &file);
	}
}

void ft_defer_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		   const struct bytes *raw, struct event_def *def)
{
	struct scan text = ft_defer_marker_text(t, raw);
	struct nonce_line l;

	for (size_t at = 0, from = 0;
	     nonce_next(ft->nonce_format, text, &at, &l); from = at) {
		if (l.kind == NONCE_REQUEST)
			def->defer = true;
		else
			ft_add_ref(ft, ev, CLASS_CHAIN, (uint32_t)from);
	}
}

void ft_defer_request(struct ft *ft, const struct ft_type *t,
		      const struct bytes *raw, struct record *rec)
{
	nonce_request(ft->nonce_format, ft_defer_marker_text(t, raw), rec);
}

int ft_defer_chain(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err)
{
	user_stack_reader_start(&ft->stack);
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->src.path);
	rec->kind = REC_CHAIN;
	rec->chain = (struct rec_chain){ .cookie = 0 };
	if (t->role == ROLE_MARKER) {
		nonce_stack(ft->nonce_format, ft_defer_marker_text(t, raw),
			    ref->len, &ft->stack, rec);
		if (rec->pid < 0)
			rec->pid = ft_tgid_of(ft, rec->tid);
	} else {
		rec->chain.cookie =
			(uint64_t)ft_field_number(t, t->part.size, raw, 0);
		ft_defer_take_stack(ft, t, raw);
	}
	rec->chain.user = user_stack_reader_addrs(&ft->stack);
	return 0;
}
