/* claims.c - which sections of a trace.dat need no table that names them. */
#include "formats/ftrace/ftrace.h"

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

/* Returns the end of the sections that begin at off: of kinds that no option
 * has to name, such as the table of strings. */
static uint64_t ft_claims_skip_unnamed(void *arg, uint64_t off, uint64_t end)
{
	const struct ft *ft = arg;
	struct ft_section s;

	while (ft->version >= 7 && off < end &&
	       !ft_section_head(ft, off, &s, NULL) && s.off <= end &&
	       s.size <= end - s.off &&
	       (s.id == FT_STRINGS || s.id > FT_CMDLINES))
		off = s.off + s.size;
	return off;
}

void ft_claims_check(struct ft *ft)
{
	struct bytes file;

	bytes_init(&file, ft->in.data, ft->in.len, ft->in.path, 0, ft->swap);
	claims_check(&ft->claims, &ft->src, &file, ft_claims_skip_unnamed, ft);
}
