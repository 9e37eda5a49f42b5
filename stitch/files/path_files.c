/* path_files.c - at which paths a capture has mapped more than one file. */
#include "stitch/files/path_files.h"

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct path_entry {
	const char *path; /* in text */
	size_t len;
	struct path_file first;
	bool several;
};

struct path_files {
	struct path_entry *entry;
	size_t n, cap;
	struct table by_path;
	struct arena text;
	uint32_t last; /* most processes map the same few files in turn */
};

/* Returns whether two records prove that they are of two files. Of a file
 * system without a disk, such as an overlay or btrfs, /proc and the kernel's
 * own records may have two devices and inodes for one file. Only the latter
 * have a generation. */
static bool path_file_differs(const struct path_file *a,
			      const struct path_file *b)
{
	if (a->maj == b->maj && a->min == b->min)
		return a->ino != b->ino ||
		       (a->gen && b->gen && a->gen != b->gen);
	return (a->maj && b->maj) || (a->gen && b->gen);
}

static bool path_entry_is(const struct path_entry *e, const char *path,
			  size_t len)
{
	return e->len == len && !memcmp(e->path, path, len);
}

struct path_key {
	const char *path;
	size_t len;
};

static bool path_files_same(const void *owner, uint32_t id, const void *key)
{
	const struct path_key *k = key;

	return path_entry_is(&((const struct path_files *)owner)->entry[id],
			     k->path, k->len);
}

static uint32_t path_files_find(const struct path_files *pf, const char *path,
				size_t len, uint64_t hash)
{
	const struct path_key k = { path, len };

	return table_find(&pf->by_path, hash, path_files_same, pf, &k);
}

static const char *path_files_keep(struct path_files *pf, const char *path,
				   size_t len)
{
	char *copy = arena_take(&pf->text, len);

	memcpy(copy, path, len);
	return copy;
}

static struct path_entry *path_files_entry(struct path_files *pf,
					   const char *path, size_t len,
					   const struct path_file *f)
{
	uint32_t next = pf->last + 1 < pf->n ? pf->last + 1 : 0;

	if (pf->n && path_entry_is(&pf->entry[next], path, len)) {
		pf->last = next;
		return &pf->entry[next];
	}
	uint64_t hash = hash_bytes(path, len, 0);
	uint32_t id = path_files_find(pf, path, len, hash);

	if (id == TABLE_NONE) {
		id = (uint32_t)pf->n;
		table_add(&pf->by_path, hash, id);
		*mem_add(pf->entry, pf->n, pf->cap) = (struct path_entry){
			.path = path_files_keep(pf, path, len),
			.len = len,
			.first = *f,
		};
	}
	pf->last = id;
	return &pf->entry[id];
}

void path_files_add(struct path_files **pf, const char *path, size_t len,
		    const struct path_file *f)
{
	if (!f->ino || !len || path[0] != '/')
		return;
	if (!*pf)
		*pf = mem_new(1, sizeof(**pf));
	struct path_entry *e = path_files_entry(*pf, path, len, f);

	e->several |= path_file_differs(&e->first, f);
	if (!e->first.gen && !e->several)
		e->first = *f;
}

bool path_files_several(const struct path_files *pf, const char *path)
{
	size_t len = strlen(path);

	if (!pf)
		return false;
	uint32_t id = path_files_find(pf, path, len, hash_bytes(path, len, 0));

	return id != TABLE_NONE && pf->entry[id].several;
}

void path_files_free(struct path_files *pf)
{
	if (!pf)
		return;
	table_release(&pf->by_path);
	arena_release(&pf->text);
	free(pf->entry);
	free(pf);
}
