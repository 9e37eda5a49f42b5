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
	struct path_files *files; /* so far, of a stream: nobody scanned it */
	/* by entry of the table: a later one has another id for the path */
	bool *several;
	size_t n_several, cap_several;
	uint32_t n; /* number of table entries indexed so far */
};

struct header_ids {
	struct header_index *of; /* by source */
	size_t n, cap;
};

void header_ids_free(struct header_ids *ids)
{
	if (!ids)
		return;
	for (size_t i = 0; i < ids->n; i++) {
		table_release(&ids->of[i].by_path);
		path_files_free(ids->of[i].files);
		free(ids->of[i].several);
	}
	free(ids->of);
	free(ids);
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

/* Notes that a path has two build-ids: perf 6.1 writes one for each file. */
static void header_compare(struct header_index *ix, const struct source *src,
			   uint32_t first, const struct build_id_def *b)
{
	const struct build_id_def *a = &src->build_ids[first];

	if (a->id_len == b->id_len && !memcmp(a->id, b->id, a->id_len))
		return;
	*mem_at(ix->several, ix->n_several, ix->cap_several, first) = true;
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
		else
			header_compare(ix, src, first, b);
	}
	return ix;
}

void header_ids_set(struct header_ids **ids, const struct source *src,
		    bool kernel, struct image *img)
{
	const struct header_key k = { img->path, kernel };

	if (!*ids)
		*ids = mem_new(1, sizeof(**ids));
	struct header_index *ix = header_index(*ids, src);
	const struct path_file f = { img->maj, img->min, img->ino,
				     img->ino_gen };
	uint32_t i = header_find(ix, src, &k);

	if (!src->files && !kernel)
		path_files_add(&ix->files, img->path, strlen(img->path), &f);
	img->several = !kernel && img->ino &&
		       (path_files_several(src->files ? src->files : ix->files,
					   img->path) ||
			(i < ix->n_several && ix->several[i]));
	if (i != TABLE_NONE && !img->several)
		image_set_id(img, src->build_ids[i].id,
			     src->build_ids[i].id_len);
}
