/* partial_maps.h - mappings of which only the file and its lowest address are
 * known: the file's own segments say what is where, when the file is here. */
#ifndef STITCH_TASKS_PARTIAL_MAPS_H
#define STITCH_TASKS_PARTIAL_MAPS_H
#include <stddef.h>
#include <stdint.h>

struct frames;
struct image;
struct region;

/* Bytes of a file in memory: from the lowest address of all of them on. */
struct file_part {
	uint64_t start, end, off; /* off: of start, in the file */
};

/* The parts of a file, by address, up to max; 0: it is not here. */
typedef size_t (*partial_maps_fn)(void *arg, const struct image *img,
				  struct file_part *out, size_t max);

struct partial_maps;

/* fn is asked once for each image. */
struct partial_maps *partial_maps_new(const struct frames *fr,
				      partial_maps_fn fn, void *arg);
void partial_maps_free(struct partial_maps *wh);
/* The i-th mapping that all of the file makes: 1, or 0: there are no more.
 * all: from where to where, and its image. Of a file that is not here there
 * is one, with addresses for offsets, as is right for most. */
int partial_maps_get(struct partial_maps *wh, const struct region *all,
		     size_t i, struct region *out);
#endif
