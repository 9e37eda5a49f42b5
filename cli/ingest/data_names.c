/* data_names.c - names of the futexes that are data of programs. */
#include "cli/ingest/data_names.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/names/data_maps.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "schema/write/mapped_code.h"
#include "schema/write/write.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/tasks/frame.h"
#include "symbolize/names/data_names.h"

/* Mappings that are looked at below an address: those of other times, too. */
#define DATA_MAPS_MAX 16

/* A place in the data of an image. */
struct data_at {
	uint64_t off;
	uint32_t image;
	unsigned int capture;
};

struct data_names {
	struct store *db;
	struct data_maps *maps;
	struct data_at *at; /* by image, capture and off */
	size_t n, cap;
	uint32_t image;
	unsigned int capture;
};

static int data_names_compare(const void *pa, const void *pb)
{
	const struct data_at *a = pa;
	const struct data_at *b = pb;

	return compare_numbers(a->image, b->image)
		       ?: compare_numbers(a->capture, b->capture)
		       ?: compare_numbers(a->off, b->off);
}

static void data_names_find(struct data_names *d, const struct lock_futex *f,
			    size_t n)
{
	for (size_t i = 0; i < n; i++) {
		uint32_t process = data_maps_process(d->maps, f[i].thread);
		const struct data_map *map = NULL;

		for (int k = 0; process && k < DATA_MAPS_MAX; k++) {
			map = data_maps_below(d->maps, process, f[i].addr, map);
			if (!map)
				break;
			*mem_add(d->at, d->n, d->cap) = (struct data_at){
				data_maps_off(map, f[i].addr),
				map->image,
				f[i].capture,
			};
		}
	}
	sort_items(d->at, d->n, data_names_compare);
}

/* A data_names_fn. */
static int data_names_put(void *arg, uint64_t off, const char *name,
			  uint64_t inside, struct err *err)
{
	const struct data_names *d = arg;
	char *key = data_maps_key(d->maps, d->image, off);
	char text[512];
	int rc = 0;

	if (inside)
		snprintf(text, sizeof(text), "%.480s+0x%" PRIx64, name, inside);
	else
		snprintf(text, sizeof(text), "%.480s", name);
	if (key)
		rc = store_meta(d->db, (int)d->capture, key, text, err);
	free(key);
	return rc;
}

/* Names the n places at[] of an image. */
static int data_names_of(struct data_names *d, struct symbolizer *sy,
			 const struct image *img, const struct data_at *at,
			 size_t n, struct err *err)
{
	uint64_t *off = mem_new(n, sizeof(*off));
	int rc = 0;

	for (size_t i = 0, k; !rc && i < n; i = k) {
		size_t m = 0;

		d->image = at[i].image;
		d->capture = at[i].capture;
		for (k = i; k < n && at[k].capture == d->capture; k++)
			if (!m || off[m - 1] != at[k].off)
				off[m++] = at[k].off;
		rc = data_names_each(sy, img, off, m, data_names_put, d, err);
	}
	free(off);
	return rc;
}

static int data_names_all(struct data_names *d, struct symbolizer *sy,
			  const struct mapped_parts *parts, struct err *err)
{
	struct rows *r = rows_of(d->db, "data_files", err);
	struct arena text = { 0 };
	size_t i = 0;
	int rc = 0;

	while (!rc && i < d->n && rows_step(r)) {
		struct image img = { 0 };
		uint32_t id = (uint32_t)rows_int(r, DATA_FILES_ID);
		size_t from = i;

		while (i < d->n && d->at[i].image < id)
			from = ++i;
		while (i < d->n && d->at[i].image == id)
			i++;
		if (i == from || rows_int(r, DATA_FILES_DOUBTED))
			continue;
		rows_image(r, DATA_FILES_KIND, &text, &img);
		img.several = rows_int(r, DATA_FILES_SEVERAL) != 0;
		img.part = mapped_parts_of(parts, id, &img.n_part);
		rc = data_names_of(d, sy, &img, &d->at[from], i - from, err);
	}
	arena_release(&text);
	return rc ? rows_stop(r) : rows_end(r, err);
}

int data_names_store(struct store *db, struct symbolizer *sy,
		     const struct lock_futex *futex, size_t n, struct err *err)
{
	struct data_names d = { .db = db };
	struct mapped_parts parts = { 0 };
	int rc;

	if (!n)
		return 0;
	rc = mapped_parts_load(db, &parts, err);
	d.maps = rc ? NULL : data_maps_load(db, err);
	if (d.maps)
		data_names_find(&d, futex, n);
	rc = d.maps ? data_names_all(&d, sy, &parts, err) : -1;
	data_maps_free(d.maps);
	mapped_parts_release(&parts);
	free(d.at);
	return rc;
}
