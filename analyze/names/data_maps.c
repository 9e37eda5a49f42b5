/* data_maps.c - where data of files was in memory. */
#include "analyze/names/data_maps.h"

#include <inttypes.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* No file is longer than that in memory: code of x86-64 reaches its data by 32
 * bits with a sign. */
#define DATA_REACH ((uint64_t)1 << 31)

struct data_maps {
	struct data_map *map; /* by process and start */
	size_t n, cap;
	uint32_t *process; /* by thread */
	size_t n_thread, cap_thread;
	const char **image; /* what tells one from others */
	size_t n_image, cap_image;
	struct arena text;
};

static int data_maps_read(struct data_maps *m, struct store *db,
			  struct err *err)
{
	struct rows *r = rows_of(db, "data_mappings", err);

	while (rows_step(r))
		*mem_add(m->map, m->n, m->cap) = (struct data_map){
			.process = (uint32_t)rows_int(r, DATA_MAPPINGS_PROCESS),
			.image = (uint32_t)rows_int(r, DATA_MAPPINGS_IMAGE),
			.start = (uint64_t)rows_int(r, DATA_MAPPINGS_START),
			.pgoff = (uint64_t)rows_int(r, DATA_MAPPINGS_PGOFF),
			.from = rows_int(r, DATA_MAPPINGS_T0),
			.to = rows_int(r, DATA_MAPPINGS_T1),
		};
	if (rows_end(r, err))
		return -1;
	r = rows_dense(db, "data_threads", err);
	*mem_add(m->process, m->n_thread, m->cap_thread) = 0;
	while (rows_step(r))
		*mem_add(m->process, m->n_thread, m->cap_thread) =
			(uint32_t)rows_int(r, DATA_THREADS_PROCESS);
	if (rows_end(r, err))
		return -1;
	r = rows_dense(db, "data_images", err);
	*mem_add(m->image, m->n_image, m->cap_image) = "";
	while (rows_step(r))
		*mem_add(m->image, m->n_image, m->cap_image) =
			arena_strdup(&m->text, rows_text(r, DATA_IMAGES_WHICH));
	return rows_end(r, err);
}

struct data_maps *data_maps_load(struct store *db, struct err *err)
{
	struct data_maps *m = mem_new(1, sizeof(*m));

	if (!data_maps_read(m, db, err))
		return m;
	data_maps_free(m);
	return NULL;
}

void data_maps_free(struct data_maps *m)
{
	if (!m)
		return;
	free_all(m->map, m->process, m->image);
	arena_release(&m->text);
	free(m);
}

const struct data_map *data_maps_below(const struct data_maps *m,
				       uint32_t process, uint64_t addr,
				       const struct data_map *above)
{
	size_t i =
		above ? (size_t)(above - m->map)
		      : search_where(m->n, at,
				     m->map[at].process > process ||
					     (m->map[at].process == process &&
					      m->map[at].start > addr));
	const struct data_map *map = i ? &m->map[i - 1] : NULL;

	return map && map->process == process && addr - map->start < DATA_REACH
		       ? map
		       : NULL;
}

uint64_t data_maps_off(const struct data_map *map, uint64_t addr)
{
	return addr - map->start + map->pgoff;
}

uint32_t data_maps_process(const struct data_maps *m, uint32_t thread)
{
	return thread < m->n_thread ? m->process[thread] : 0;
}

char *data_maps_key(const struct data_maps *m, uint32_t image, uint64_t off)
{
	return image && image < m->n_image
		       ? mem_printf("data %" PRIx64 " %s", off, m->image[image])
		       : NULL;
}
