/* ftext_defer.c - deferred user stacks in texts: their cookies, and the files
 * that their frames name by inode (posted patches, formats.md C.7). */
#include <stdlib.h>

#include "formats/ftext.h"

static bool take_cookie(struct scan s, uint64_t *out)
{
	return scan_take(&s, "cookie=") && scan_hex(&s, out);
}

/* "inode=1 dev=[254:3] path=/bin/a" */
static void take_inode(struct ftext *ft, struct scan s)
{
	struct ftext_inode in = { .ino = 0 };
	uint64_t maj, min;

	if (!scan_take(&s, "inode=") || !scan_u64(&s, &in.ino) ||
	    !scan_take(&s, " dev=[") || !scan_u64(&s, &maj) ||
	    !scan_take(&s, ":") || !scan_u64(&s, &min) ||
	    !scan_take(&s, "] path=") || !s.n)
		return;
	char *path = mem_dup(s.p, s.n);

	in.maj = (uint32_t)maj;
	in.min = (uint32_t)min;
	in.path = arena_strdup(&ft->arena, path);
	free(path);
	ft->inode = mem_grow(ft->inode, &ft->cap_inode, ft->n_inode + 1,
			     sizeof(*ft->inode));
	/* an inode may be used again: what was said last holds */
	uint64_t h = hash_pair(in.ino, (uint64_t)in.maj << 32 | in.min);
	uint32_t old = table_find(&ft->inodes, h, NULL, NULL, NULL);

	if (old != TABLE_NONE)
		table_remove(&ft->inodes, h, old);
	table_add(&ft->inodes, h, (uint32_t)ft->n_inode);
	ft->inode[ft->n_inode++] = in;
}

bool ftext_defer(struct ftext *ft, const struct line *l,
		 struct ftext_item *owner)
{
	uint64_t cookie;

	if (scan_is(l->name, "inode_cache"))
		take_inode(ft, l->text);
	if (!scan_is(l->name, "user_unwind_cookie") || !owner ||
	    owner->has_cookie || !take_cookie(l->text, &cookie))
		return false;
	owner->has_cookie = true;
	owner->cookie = cookie;
	ft->def[owner->event].defer = true;
	ft->def[owner->event].defer_output = true;
	ft->def[owner->event].has_chain = true;
	return true;
}

bool ftext_chain(const struct ftext *ft, const struct ftext_item *it,
		 uint64_t *cookie)
{
	struct scan s = ftext_part_of(ft, it, &it->text);

	if (it->stack != STACK_UNWIND)
		return false;
	scan_skip(&s, scan_find_char(s, '\n') + 1);
	return take_cookie(s, cookie);
}

const char *ftext_inode_path(const struct ftext *ft, const struct line_frame *f)
{
	uint64_t h = hash_pair(f->ino, (uint64_t)f->maj << 32 | f->min);
	uint32_t i = table_find(&ft->inodes, h, NULL, NULL, NULL);

	if (i == TABLE_NONE || ft->inode[i].ino != f->ino ||
	    ft->inode[i].maj != f->maj || ft->inode[i].min != f->min)
		return NULL;
	return ft->inode[i].path;
}
