/* header_ids.c - the build-ids that a recorder read from the paths of images,
 * in the table of a capture. */
#include "stitch/tasks/header_ids.h"

#include "stitch/base/mem.h"
#include "stitch/files/path_files.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "stitch/tasks/frame.h"

/* Indexes the table of a source by (path, kernel), because it may be as long as
 * the list of mappings. */
struct header_index {
	struct table by_path;
	struct path_files *files; /* files mapped so far in a stream, which was
				   * not scanned */
	/* by entry of the table: whether a later entry has another id for the
	 * path */
	bool *several;
	size_t n_several, cap_several;
	uint32_t n; /* number of table entries indexed so far */
};

/* A file that `written` was called for, and its answer. */
struct header_file {
	struct path_file f;
	uint64_t written;
};

struct header_ids {
	struct header_index *of; /* by source */
	size_t n, cap;
	header_written_fn *written;
	void *arg;
	struct table by_file;
	struct header_file *file;
	size_t n_file, cap_file;
};

struct header_ids *header_ids_new(header_written_fn *written, void *arg)
{
	struct header_ids *ids = mem_new(1, sizeof(*ids));

	ids->written = written;
	ids->arg = arg;
	return ids;
}

void header_ids_free(struct header_ids *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < ids->n; i++) {
		table_release(&ids->of[i].by_path);
		path_files_free(ids->of[i].files);
		free(ids->of[i].several);
	}
	table_release(&ids->by_file);
	free_all(ids->file, ids->of, ids);
}

void image_set_id(struct image *img, const uint8_t *id, size_t len)
{
	if (len > sizeof(img->id))
		len = sizeof(img->id);
	memcpy(img->id, id, len);
	img->id_len = (uint8_t)len;
}

struct header_key {
	const char *path;
	bool kernel;
};

static uint64_t header_hash(const struct header_key *k)
{
	return hash_bytes(k->path, strlen(k->path), k->kernel);
}

SAME_FUNCTION(header_is_same, struct source, build_ids[id], struct header_key,
	      x->kernel == y->kernel && !strcmp(x->path, y->path));

/* Returns the first entry for a path, or TABLE_NONE. */
static uint32_t header_find(const struct header_index *ix,
			    const struct source *src,
			    const struct header_key *k)
{
	return table_find(&ix->by_path, header_hash(k), header_is_same, src, k);
}

/* Returns the index of the source, after adding entries that a pipe brought
 * since the last call. */
static struct header_index *header_index(struct header_ids *ids,
					 const struct source *src)
{
	struct header_index *ix = mem_at(ids->of, ids->n, ids->cap, src->index);

	for (; ix->n < src->n_build_ids; ix->n++) {
		const struct build_id_def *b = &src->build_ids[ix->n];
		const struct header_key k = { b->path, b->kernel };
		uint32_t first = header_find(ix, src, &k);

		if (first == TABLE_NONE)
			table_add(&ix->by_path, header_hash(&k), ix->n);
		else {
			/* perf 6.1 writes one entry for each file */
			const struct build_id_def *a = &src->build_ids[first];

			if (a->id_len != b->id_len ||
			    memcmp(a->id, b->id, a->id_len))
				*mem_at(ix->several, ix->n_several,
					ix->cap_several, first) = true;
		}
	}
	return ix;
}

SAME_FUNCTION(header_file_is_same, struct header_ids, file[id].f,
	      struct path_file,
	      x->maj == y->maj && x->min == y->min && x->ino == y->ino &&
		      x->gen == y->gen);

/* Returns when a file was written. Calls `written` once for each file, as most
 * processes map the same few. */
static uint64_t header_written(struct header_ids *ids,
			       const struct path_file *f,
			       const struct image *img)
{
	uint64_t h = hash_pair(f->ino ^ f->gen << 32,
			       (uint64_t)f->maj << 32 | f->min);
	uint32_t i = table_find(&ids->by_file, h, header_file_is_same, ids, f);

	if (i != TABLE_NONE)
		return ids->file[i].written;
	table_add(&ids->by_file, h, (uint32_t)ids->n_file);
	struct header_file *of = mem_add(ids->file, ids->n_file, ids->cap_file);

	*of = (struct header_file){ *f, ids->written(ids->arg, img) };
	return of->written;
}

void header_ids_set(struct header_ids *ids, const struct source *src,
		    bool kernel, struct image *img)
{
	const struct header_key k = { img->path, kernel };
	struct header_index *ix = header_index(ids, src);
	const struct path_file f = { img->maj, img->min, img->ino,
				     img->ino_gen };
	uint32_t i = header_find(ix, src, &k);

	if (!src->files && !kernel)
		path_files_add(&ix->files, img->path, strlen(img->path), &f);
	const struct path_files *files = src->files ? src->files : ix->files;

	if (!kernel && img->ino) {
		uint64_t written = ids->written && img->kind == IMAGE_FILE
					   ? header_written(ids, &f, img)
					   : 0;

		img->t0 = img->mapped < written ? written : 0;
		img->reused = img->t0 || path_files_reused(files, img->path);
		img->several = img->t0 ||
			       path_files_several(files, img->path) ||
			       (i < ix->n_several && ix->several[i]);
	}
	if (i != TABLE_NONE && !img->several)
		image_set_id(img, src->build_ids[i].id,
			     src->build_ids[i].id_len);
}
