/* plain.c - where plain records have their time and id. */
#include "formats/perf/plain.h"

#include <string.h>

#include "stitch/base/path_files.h"
#include "stitch/base/table.h"

/* Where the name is in a record MMAP2, with its header. */
#define MAP_NAME 72

bool perf_layout_find(struct perf_layout *l, uint64_t id)
{
	if (table_find_hash(l->ids, hash_u64(id)) == TABLE_NONE)
		return false;
	l->recent[id % RECENT_IDS] = id;
	return true;
}

void perf_plain_take_map(struct path_files **files, const struct bytes *b,
			 uint16_t misc, uint16_t size)
{
	struct bytes name = *b;
	struct path_file f;

	if ((misc & PM_BIT14) || (misc & PM_CPUMODE) == PM_KERNEL ||
	    bytes_left(b) < size || size <= MAP_NAME ||
	    bytes_peek_u32(b, 40, &f.maj) || bytes_peek_u32(b, 44, &f.min) ||
	    bytes_peek_u64(b, 48, &f.ino) || bytes_peek_u64(b, 56, &f.gen) ||
	    bytes_skip(&name, MAP_NAME, NULL))
		return;
	const char *path = (const char *)name.pos;

	path_files_add(files, path, strnlen(path, size - MAP_NAME), &f);
}

struct perf_layout *perf_layout_of(struct perf *p)
{
	const struct perf_attr *first = p->attr;
	struct perf_layout *l = &p->layout;

	if (l->known)
		return l;
	memset(l, 0, sizeof(*l));
	l->known = true;
	if (!p->n_attr || !p->src.info.has_time || p->src.info.overwrite)
		return l;
	l->samples = p->same_sample_time;
	l->others = p->same_time;
	l->asks = !p->same_time && p->n_id && first->s_id;
	l->s_time = first->s_time;
	l->s_id = first->s_id;
	l->t_time = first->t_time;
	l->t_size = first->t_size;
	l->ids = &p->by_id;
	l->files = &p->files;
	return l;
}
