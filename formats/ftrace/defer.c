/* defer.c - deferred user stacks: cookies, the stacks that come later,
 * the files that these name, and what processes that unwind themselves write
 * to trace_marker. The kernel's layouts: backstitch-formats(5), "Deferred
 * stacks: ftrace". */
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/reader/nonce.h"
#include "stitch/base/err.h"

struct defer_row {
	const char *system, *name;
	enum ft_role role;
	const char *at, *size, *inodes, *dev;
};

/* The field without which an event is not what its name says; the others. */
static const struct defer_row rows[] = {
	{ "ftrace", "user_unwind_cookie", FT_COOKIE, "cookie", NULL, NULL,
	  NULL },
	{ "ftrace", "user_unwind_stack", FT_CHAIN, "stack", "cookie", "inodes",
	  "dev" },
	{ "inode_cache", "inode_cache", FT_INODE, "inode", "path", NULL,
	  "dev" },
	{ "ftrace", "print", FT_MARKER, "buf", NULL, NULL, NULL },
};

static int field_at(const struct ft_type *t, const char *name)
{
	for (size_t i = 0; name && i < t->fmt.n; i++)
		if (!strcmp(t->fmt.def[i].name, name))
			return (int)i;
	return -1;
}

void ft_defer_find(struct ft_type *t)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		const struct defer_row *r = &rows[i];

		if (strcmp(r->system, t->fmt.system) || !t->fmt.name ||
		    strcmp(r->name, t->fmt.name))
			continue;
		t->part.at = field_at(t, r->at);
		t->part.size = field_at(t, r->size);
		t->part.inodes = field_at(t, r->inodes);
		t->part.dev = field_at(t, r->dev);
		if (t->part.at >= 0 && (!r->size || t->part.size >= 0))
			t->role = r->role;
		return;
	}
}

/* ---- arrays and texts of an entry */

static void take(struct ft *ft, const struct ft_type *t, int field,
		 const struct bytes *raw, struct field *out)
{
	*out = (struct field){ .present = false };
	if (ft->look.scratch.used)
		arena_release(&ft->look.scratch);
	if (field >= 0)
		tp_take(&ft->look, raw, &t->fmt.field[field], out);
}

/* The bytes of an array, as they stand in the entry. */
static struct bytes array_of(struct ft *ft, const struct ft_type *t, int field,
			     const struct bytes *raw)
{
	struct bytes b = *raw;
	struct field f;

	take(ft, t, field, raw, &f);
	b.pos = b.end;
	if (f.present && f.blob) {
		b.pos = f.blob;
		b.end = b.pos + f.len;
	}
	return b;
}

/* The next of an array of the kernel's longs; false: the end. */
static bool next_long(const struct ft *ft, struct bytes *b, uint64_t *out)
{
	uint32_t low;

	if (!ft->commit32)
		return !bytes_u64(b, out, NULL);
	if (bytes_u32(b, &low, NULL))
		return false;
	/* -1 is the same in both */
	*out = low == UINT32_MAX ? UINT64_MAX : low;
	return true;
}

/* Up to its first 0: buf is padded with more. */
static struct scan text_of(const struct ft_type *t, const struct bytes *raw)
{
	struct bytes b = *raw;

	if (bytes_skip(&b, t->fmt.field[t->part.at].off, NULL))
		return scan_of("", 0);
	return scan_of(b.pos, strnlen((const char *)b.pos, bytes_left(&b)));
}

/* ---- what stands in entries */

void ft_defer_cookie(const struct ft_type *t, const struct bytes *raw,
		     struct rec_sample *s)
{
	int64_t cookie = ft_number(t, t->part.at, raw, 0);

	/* zero: the kernel could not take the request */
	s->cookie = (uint64_t)cookie;
	s->defer = cookie ? DEFER_COOKIE : DEFER_REFUSED;
}

void ft_defer_inode(struct ft *ft, const struct ft_type *t,
		    const struct bytes *raw)
{
	struct place file = { .ino = (uint64_t)ft_number(t, t->part.at, raw,
							 0) };
	struct field f;

	inodes_dev((uint32_t)ft_number(t, t->part.dev, raw, 0), &file);
	take(ft, t, t->part.size, raw, &f);
	if (f.present && f.text)
		inodes_add(&ft->inodes, &file, scan_of(f.text, strlen(f.text)));
}

/* With inodes the values are offsets in files; else they are addresses. */
static void take_stack(struct ft *ft, const struct ft_type *t,
		       const struct bytes *raw)
{
	struct bytes stack = array_of(ft, t, t->part.at, raw);
	struct bytes inodes = array_of(ft, t, t->part.inodes, raw);
	struct bytes devs = array_of(ft, t, t->part.dev, raw);
	struct place file = { .off = 0 };
	struct place p;
	uint64_t value;
	uint64_t ip;
	uint32_t dev;

	while (next_long(ft, &stack, &value)) {
		if (t->part.inodes < 0) {
			if (value == UINT64_MAX)
				break;
			unwound_add(&ft->unwound, value, NULL);
			continue;
		}
		if (!next_long(ft, &inodes, &file.ino))
			break;
		inodes_dev(bytes_u32(&devs, &dev, NULL) ? 0 : dev, &file);
		bool in_file = inodes_place(&ft->inodes, value, &file, &ip, &p);

		unwound_add(&ft->unwound, ip, in_file ? &p : NULL);
	}
}

/* ---- lines of user mode */

void ft_defer_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		   const struct bytes *raw, struct event_def *def)
{
	struct scan text = text_of(t, raw);
	struct nonce_line l;

	for (size_t at = 0, from = 0;
	     nonce_next(ft->nonce_format, text, &at, &l); from = at) {
		if (l.kind == NONCE_REQUEST)
			def->defer = true;
		else
			ft_due(ft, ev, CLASS_CHAIN, (uint32_t)from);
	}
}

void ft_defer_request(struct ft *ft, const struct ft_type *t,
		      const struct bytes *raw, struct record *rec)
{
	nonce_request(ft->nonce_format, text_of(t, raw), rec);
}

static void marker_chain(struct ft *ft, const struct ft_type *t,
			 const struct ref *ref, const struct bytes *raw,
			 struct record *rec)
{
	nonce_stack(ft->nonce_format, text_of(t, raw), ref->len, &ft->unwound,
		    rec);
	if (rec->pid < 0)
		rec->pid = ft_tgid_of(ft, rec->tid);
}

int ft_defer_chain(struct ft *ft, const struct ft_type *t,
		   const struct ref *ref, const struct bytes *raw,
		   struct record *rec, struct err *err)
{
	unwound_start(&ft->unwound);
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->src.path);
	rec->kind = REC_CHAIN;
	rec->chain = (struct rec_chain){ .cookie = 0 };
	if (t->role == FT_MARKER) {
		marker_chain(ft, t, ref, raw, rec);
	} else {
		rec->chain.cookie =
			(uint64_t)ft_number(t, t->part.size, raw, 0);
		take_stack(ft, t, raw);
	}
	rec->chain.user = unwound_addrs(&ft->unwound);
	return 0;
}
