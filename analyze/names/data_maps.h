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
	int64_t from, to; /* TIME_NONE is in none */
};

/* Returns NULL and *err if the database fails. */
struct data_maps *data_maps_load(struct store *db, struct err *err);
void data_maps_free(struct data_maps *m); /* NULL is fine */
/* Returns the mapping of a process whose code is next below an address, or next
 * below the mapping `above`; NULL: none is so near that it may be of the same
 * file. At any time: there may be several at a place. */
const struct data_map *data_maps_below(const struct data_maps *m,
				       uint32_t process, uint64_t addr,
				       const struct data_map *above);
/* Returns the one of these that was there at a time; NULL: none was. O(log n)
 * if times do not decrease from call to call. */
const struct data_map *data_maps_at(struct data_maps *m, uint32_t process,
				    uint64_t addr, int64_t time);
/* Returns the address less that of the file's first byte, if all of it was
 * mapped as its code is. */
uint64_t data_maps_off(const struct data_map *map, uint64_t addr);
/* Returns the process of a thread; 0: not known. */
uint32_t data_maps_process(const struct data_maps *m, uint32_t thread);
/* Returns the key of meta that has the name of data of an image, which the
 * caller frees; NULL: there is no such image. */
char *data_maps_key(const struct data_maps *m, uint32_t image, uint64_t off);
