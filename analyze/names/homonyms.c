/* homonyms.c - functions of one image that have one name. */
#include "analyze/names/homonyms.h"

#include <inttypes.h>

#include "analyze/samples/code.h"
#include "analyze/names/short_name.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/db/sums_code.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"

/* How many last parts of paths are compared at most. */
#define DEPTH_MAX 4

/* A function. Its group has what functions of one name have in common. */
struct homonyms_function {
	struct homonym homonym;
	const char *name; /* of the code, where equal names are one string */
	uint32_t image, group;
	bool several; /* it has code of several files */
};

/* The functions that have one name, in all images of one path. */
struct homonyms_group {
	const char *name;
	uint32_t path; /* id in paths */
	bool shared;   /* an image has several of these functions */
	unsigned int depth;
};

struct homonyms {
	const struct known_code *code;
	struct intern paths;
	uint32_t *path;	    /* id in paths, by image */
	uint32_t *of_frame; /* function + 1; 0: it has no name */
	struct homonyms_function *function;
	struct homonyms_group *group;
	size_t n_function, cap_function, n_group, cap_group;
	struct table by_place, by_image; /* ids of function[]: of all; of the
					  * first of a name in each image */
	struct table by_name;		 /* of group[] */
	bool any;			 /* a group is shared */
	struct arena text;
};

SAME_BY(homonyms_same_function, struct homonyms, function[id],
	struct homonyms_function, homonym.start, image, name);

SAME_BY(homonyms_same_name, struct homonyms, function[id],
	struct homonyms_function, name, image);

SAME_BY(homonyms_same_group, struct homonyms, group[id], struct homonyms_group,
	name, path);

/* Returns the group of a name, or TABLE_NONE; *hash is its hash in by_name. */
static uint32_t homonyms_group_of(const struct homonyms *h, uint32_t image,
				  const char *name, uint64_t *hash)
{
	struct homonyms_group key = { .name = name, .path = h->path[image] };

	*hash = hash_pair((uintptr_t)name, key.path);
	return table_find(&h->by_name, *hash, homonyms_same_group, h, &key);
}

/* Adds a function, and its group if that is new. */
static void homonyms_add(struct homonyms *h, struct homonyms_function *f)
{
	uint32_t id = (uint32_t)h->n_function;
	uint64_t hash;

	f->group = homonyms_group_of(h, f->image, f->name, &hash);
	if (f->group == TABLE_NONE) {
		f->group = (uint32_t)h->n_group;
		*mem_add(h->group, h->n_group, h->cap_group) =
			(struct homonyms_group){
				.name = f->name,
				.path = h->path[f->image],
			};
		table_add(&h->by_name, hash, f->group);
	}
	hash = hash_pair((uintptr_t)f->name, f->image);
	if (table_find(&h->by_image, hash, homonyms_same_name, h, f) ==
	    TABLE_NONE)
		table_add(&h->by_image, hash, id);
	else
		h->any = h->group[f->group].shared = true;
	*mem_add(h->function, h->n_function, h->cap_function) = *f;
}

/* Adds a frame's file to its function; all: even if no other has its name. */
static void homonyms_add_file(struct homonyms *h, uint32_t frame,
			      const char *file, bool all)
{
	if (!h->of_frame[frame])
		return;
	struct homonyms_function *f = &h->function[h->of_frame[frame] - 1];
	if (f->several || !(all || h->group[f->group].shared))
		return;
	if (!f->homonym.file) {
		f->homonym.file =
			intern_get(&h->paths, intern_add(&h->paths, file));
	} else if (strcmp(f->homonym.file, file) != 0) {
		f->homonym.file = NULL;
		f->several = true;
	}
}

/* Reads the files of all frames. Returns 0, or -1 and *err. */
static int homonyms_read_files(struct homonyms *h, struct store *db, bool all,
			       struct err *err)
{
	if (store_sums_code(db)) {
		for (uint32_t i = 1; i < h->code->n_frame; i++) {
			const char *file = store_sums_file(db, i);

			if (file)
				homonyms_add_file(h, i, file, all);
		}
		return 0;
	}
	struct rows *r = rows_of(db, "code_files", err);
	while (rows_step(r)) {
		int64_t id = rows_int(r, CODE_FILES_ID);

		if (id >= 1 && (uint64_t)id < h->code->n_frame)
			homonyms_add_file(h, (uint32_t)id,
					  rows_text(r, CODE_FILES_FILE), all);
	}
	return rows_end(r, err);
}

const char *homonyms_path_end(const char *path, unsigned int depth)
{
	const char *end = path + strlen(path);

	while (end > path && (end[-1] != '/' || --depth))
		end--;
	return end;
}

/* Sets the depth of the groups whose functions are told apart by `depth` last
 * parts of their files' paths, but not by fewer. */
static void homonyms_try_depth(struct homonyms *h, unsigned int depth)
{
	struct intern seen = { 0 };
	bool *fails = mem_new(h->n_group, sizeof(*fails));

	for (size_t i = 0; i < h->n_function; i++) {
		const struct homonyms_function *f = &h->function[i];
		size_t known = seen.n;

		if (!h->group[f->group].shared || h->group[f->group].depth ||
		    fails[f->group])
			continue;
		fails[f->group] = true;
		if (!f->homonym.file)
			continue;
		const char *end = homonyms_path_end(f->homonym.file, depth);

		/* short_name() must not take it for parameters */
		char *name = homonyms_name("f", end);
		bool is = short_name_base(name) == 1;

		free(name);
		if (!is)
			continue;
		/* two functions of a name in one image must not share it */
		char *key = mem_printf("%" PRIu32 " %" PRIu32 " %s", f->group,
				       f->image, end);

		fails[f->group] = intern_add(&seen, key) < known;
		free(key);
	}
	for (size_t i = 0; i < h->n_group; i++)
		if (h->group[i].shared && !h->group[i].depth && !fails[i])
			h->group[i].depth = depth;
	free(fails);
	intern_release(&seen);
}

struct homonyms *homonyms_load(struct store *db, const struct known_code *c,
			       bool files, struct err *err)
{
	struct homonyms *h = mem_new(1, sizeof(*h));

	h->code = c;
	h->path = mem_new(c->n_image, sizeof(*h->path));
	h->of_frame = mem_new(c->n_frame, sizeof(*h->of_frame));
	for (size_t i = 0; i < c->n_image; i++)
		h->path[i] = intern_add(&h->paths, c->image[i].img.path);
	for (size_t i = 1; i < c->n_frame; i++) {
		uint32_t id = (uint32_t)i;
		const struct code_frame *at = &h->code->frame[id];
		struct homonyms_function f = {
			.homonym.start = at->off - at->symoff,
			.name = at->at.name,
			.image = at->image,
		};
		uint64_t hash;
		uint32_t known;
		if (f.name && f.name[0] &&
		    image_has_offsets(h->code->image[f.image].img.kind)) {
			hash = hash_pair(f.homonym.start,
					 hash_pair((uintptr_t)f.name, f.image));
			known = table_find(&h->by_place, hash,
					   homonyms_same_function, h, &f);
			if (known == TABLE_NONE) {
				known = (uint32_t)h->n_function;
				table_add(&h->by_place, hash, known);
				homonyms_add(h, &f);
			}
			h->of_frame[id] = known + 1;
		}
	}
	if ((h->any || files) && homonyms_read_files(h, db, files, err)) {
		homonyms_free(h);
		return NULL;
	}
	if (h->any) {
		for (unsigned int depth = 1; depth <= DEPTH_MAX; depth++)
			homonyms_try_depth(h, depth);
		for (size_t i = 0; i < h->n_function; i++) {
			struct homonym *s = &h->function[i].homonym;
			const struct homonyms_group *g =
				&h->group[h->function[i].group];
			char off[24];

			if (!g->shared)
				continue;
			s->depth = g->depth;
			snprintf(off, sizeof(off), "+0x%" PRIx64, s->start);
			s->apart =
				s->depth ? homonyms_path_end(s->file, s->depth)
					 : arena_strdup(&h->text, off);
		}
	}
	return h;
}

void homonyms_free(struct homonyms *h)
{
	if (!h)
		return;
	intern_release(&h->paths);
	table_release(&h->by_place);
	table_release(&h->by_image);
	table_release(&h->by_name);
	arena_release(&h->text);
	free_all(h->path, h->of_frame, h->function, h->group, h);
}

const struct homonym *homonyms_of_frame(const struct homonyms *h,
					uint32_t frame)
{
	return h && frame < h->code->n_frame && h->of_frame[frame]
		       ? &h->function[h->of_frame[frame] - 1].homonym
		       : NULL;
}

const char *homonyms_of_inlined(const struct homonyms *h, uint32_t image,
				const char *name, const char *file)
{
	uint64_t hash;
	uint32_t id = h && h->any && name && file && file[0]
			      ? homonyms_group_of(h, image, name, &hash)
			      : TABLE_NONE;

	return id != TABLE_NONE && h->group[id].depth
		       ? homonyms_path_end(file, h->group[id].depth)
		       : NULL;
}

char *homonyms_name(const char *name, const char *apart)
{
	return mem_printf("%s (%s)", name, apart);
}
