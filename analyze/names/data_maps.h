/* data_maps.h - where data of files was in memory: a loader puts it at a fixed
 * distance from the file's code, whose mappings are recorded. */
#pragma once
#include <stdint.h>

struct data_maps;
struct err;
struct store;

/* A mapping of code. */
struct data_map {
	uint32_t process, image;
	uint64_t start, pgoff;
	int64_t from, to; /* ns, without `to`; TIME_NONE is in no mapping */
};

/* Returns NULL and *err if the database fails. */
struct data_maps *data_maps_load(struct store *db, struct err *err);
void data_maps_free(struct data_maps *m);
/* Returns the mapping of code of a process that starts last at or below an
 * address or, if `above` is not NULL, the one before that. NULL: none is near
 * enough to be of the address's file. Mappings of all times count, and several
 * may start at one address. */
const struct data_map *data_maps_below(const struct data_maps *m,
				       uint32_t process, uint64_t addr,
				       const struct data_map *above);
/* Returns the last mapping of code at or below an address that existed at a
 * time; NULL: none did, or none is near enough. O(log n) if times do not
 * decrease from call to call. */
const struct data_map *data_maps_at(struct data_maps *m, uint32_t process,
				    uint64_t addr, int64_t time);
/* Returns the offset of an address in its file, as if the whole file were
 * mapped at the distance at which its code is. */
uint64_t data_maps_off(const struct data_map *map, uint64_t addr);
/* Returns the process of a thread; 0: not known. */
uint32_t data_maps_process(const struct data_maps *m, uint32_t thread);
/* Returns the key of table meta under which the name of data at an offset of an
 * image is kept, to be freed; NULL: there is no such image. */
char *data_maps_key(const struct data_maps *m, uint32_t image, uint64_t off);
