/* data_maps.c - where data of files was in memory. */
#include "analyze/names/data_maps.h"

#include <inttypes.h>

#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A file spans less than this in memory: code of x86-64 reaches its data by 32
 * bits with a sign. */
#define DATA_REACH ((uint64_t)1 << 31)

/* Levels of a tree with 64 branches that has all indices of 32 bits. */
#define DATA_LEVELS 6

/* The mappings that exist at `time`: level 0 has a bit for each, and each
 * higher level a bit for each word of 64 bits below it that is not 0. */
struct data_live {
	uint64_t *bit[DATA_LEVELS]; /* NULL: before the first data_maps_at() */
	uint32_t *from, *to; /* indices in map[], ordered by these times */
	size_t n_from, n_to; /* how many of each are not after `time` */
	int64_t time;
};

struct data_maps {
	struct data_map *map; /* by process and start */
	size_t n, cap;
	struct data_live live;
	uint32_t *process; /* id of the process, by thread; 0: not known */
	size_t n_thread, cap_thread;
	const char **image; /* text that identifies it in any database */
	size_t n_image, cap_image;
	struct arena text;
};

/* Reads mappings, threads and images. Returns 0, or -1 and *err. */
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
	for (int i = 0; i < DATA_LEVELS; i++)
		free(m->live.bit[i]);
	free_all(m->map, m->process, m->image, m->live.from, m->live.to);
	arena_release(&m->text);
	free(m);
}

/* Returns map if it is one of the process, and near enough below addr to be of
 * the same file; else NULL. */
static const struct data_map *data_map_reach(const struct data_map *map,
					     uint32_t process, uint64_t addr)
{
	return map && map->process == process && addr - map->start < DATA_REACH
		       ? map
		       : NULL;
}

/* Returns how many mappings belong to earlier processes, or to this one and
 * start at or below an address. */
static size_t data_maps_place(const struct data_maps *m, uint32_t process,
			      uint64_t addr)
{
	return search_where(m->n, at,
			    m->map[at].process > process ||
				    (m->map[at].process == process &&
				     m->map[at].start > addr));
}

const struct data_map *data_maps_below(const struct data_maps *m,
				       uint32_t process, uint64_t addr,
				       const struct data_map *above)
{
	size_t i = above ? (size_t)(above - m->map)
			 : data_maps_place(m, process, addr);

	return data_map_reach(i ? &m->map[i - 1] : NULL, process, addr);
}

COMPARE_FUNCTION_OF(data_compare_from, uint32_t, struct data_maps,
		    compare_numbers(of->map[*x].from, of->map[*y].from));
COMPARE_FUNCTION_OF(data_compare_to, uint32_t, struct data_maps,
		    compare_numbers(of->map[*x].to, of->map[*y].to));

/* Sets or clears the bit of mapping `at`, and those above that change. */
static void data_live_set(struct data_live *l, uint32_t at, bool on)
{
	for (int i = 0; i < DATA_LEVELS; i++, at /= 64) {
		uint64_t *word = &l->bit[i][at / 64];

		*word &= ~(UINT64_C(1) << at % 64);
		*word |= (uint64_t)on << at % 64;
		/* other bits of the word are set: nothing changes above */
		if (!on && *word)
			return;
	}
}

/* Returns 1 + the highest index below `at` whose bit is set; 0: none. */
static size_t data_live_below(const struct data_live *l, size_t at)
{
	for (int i = 0; i < DATA_LEVELS; i++, at /= 64) {
		uint64_t word =
			l->bit[i][at / 64] & ((UINT64_C(1) << at % 64) - 1);

		if (!word)
			continue;
		at = at / 64 * 64 + 63 - (size_t)__builtin_clzll(word);
		while (i-- > 0)
			at = at * 64 + 63 -
			     (size_t)__builtin_clzll(l->bit[i][at]);
		return at + 1;
	}
	return 0;
}

const struct data_map *data_maps_at(struct data_maps *m, uint32_t process,
				    uint64_t addr, int64_t time)
{
	struct data_live *l = &m->live;

	if (!l->from) {
		size_t n = m->n;

		l->from = mem_new(n + 1, sizeof(*l->from));
		l->to = mem_new(n + 1, sizeof(*l->to));
		for (size_t k = 0; k < n; k++)
			l->from[k] = l->to[k] = (uint32_t)k;
		sort_items_by(l->from, n, data_compare_from, m);
		sort_items_by(l->to, n, data_compare_to, m);
		for (int k = 0; k < DATA_LEVELS; k++) {
			n = n / 64 + 1;
			l->bit[k] = mem_new(n, sizeof(*l->bit[k]));
		}
		l->time = INT64_MIN;
	}
	if (time < l->time) {
		l->n_from = l->n_to = 0;
		for (size_t i = 0; i < m->n; i++)
			data_live_set(l, (uint32_t)i, false);
	}
	l->time = time;
	for (; l->n_from < m->n && m->map[l->from[l->n_from]].from <= time;
	     l->n_from++)
		if (m->map[l->from[l->n_from]].to > time)
			data_live_set(l, l->from[l->n_from], true);
	for (; l->n_to < m->n && m->map[l->to[l->n_to]].to <= time; l->n_to++)
		data_live_set(l, l->to[l->n_to], false);
	size_t at = data_live_below(l, data_maps_place(m, process, addr));
	return data_map_reach(at ? &m->map[at - 1] : NULL, process, addr);
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
