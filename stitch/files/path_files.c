/* path_files.c - finds the paths from which a capture has mapped more than one
 * file. */
#include "stitch/files/path_files.h"

#include "stitch/base/intern.h"

struct path_entry {
	struct path_file first;
	bool several, reused;
};

struct path_files {
	struct intern paths;
	struct path_entry *entry; /* by path */
	size_t n, cap;
	uint32_t last; /* most processes map the same few files in turn */
};

/* Returns whether two records prove two different files. On a file system
 * without a device of its own, such as an overlay or btrfs, /proc and the
 * kernel's records may have different devices and inodes for one file. Only the
 * kernel's records have a generation. */
static bool path_file_differs(const struct path_file *a,
			      const struct path_file *b)
{
	if (a->maj == b->maj && a->min == b->min)
		return a->ino != b->ino ||
		       (a->gen && b->gen && a->gen != b->gen);
	return (a->maj && b->maj) || (a->gen && b->gen);
}

void path_files_add(struct path_files **pfs, const char *path, size_t len,
		    const struct path_file *f)
{
	if (!f->ino || !len || path[0] != '/')
		return;
	if (!*pfs)
		*pfs = mem_new(1, sizeof(**pfs));
	struct path_files *pf = *pfs;
	uint32_t id = pf->last + 1 < pf->n ? pf->last + 1 : 0;

	if (!pf->n || intern_length(&pf->paths, id) != len ||
	    memcmp(intern_get(&pf->paths, id), path, len) != 0)
		id = intern_add_bytes(&pf->paths, path, len);
	if (id == pf->n)
		*mem_add(pf->entry, pf->n, pf->cap) =
			(struct path_entry){ .first = *f };
	pf->last = id;
	struct path_entry *e = &pf->entry[id];

	bool differs = path_file_differs(&e->first, f);

	e->several |= differs;
	e->reused |= differs && e->first.ino == f->ino &&
		     e->first.maj == f->maj && e->first.min == f->min;
	if (!e->first.gen && !e->several)
		e->first = *f;
}

static const struct path_entry *path_files_find(const struct path_files *pf,
						const char *path)
{
	uint32_t id = pf ? intern_find(&pf->paths, path) : TABLE_NONE;

	return id != TABLE_NONE ? &pf->entry[id] : NULL;
}

bool path_files_several(const struct path_files *pf, const char *path)
{
	const struct path_entry *e = path_files_find(pf, path);

	return e && e->several;
}

bool path_files_reused(const struct path_files *pf, const char *path)
{
	const struct path_entry *e = path_files_find(pf, path);

	return e && e->reused;
}

void path_files_free(struct path_files *pf)
{
	if (!pf)
		return;
	intern_release(&pf->paths);
	free_all(pf->entry, pf);
}
