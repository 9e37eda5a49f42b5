/* partial_maps.h - mappings known only by file and lowest address.
 *
 * The mappings are derived from the file's own segments, if the file is
 * available. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frames;
struct image;
struct region;

/* A segment of a file in memory, relative to the file's lowest address. */
struct file_part {
	uint64_t start, end, off; /* off: file offset of start */
};

/* Stores the segments of a file, sorted by address, in out, at most max.
 * Returns how many; 0: the file is not available. */
typedef size_t (*partial_maps_fn)(void *arg, const struct image *img,
				  struct file_part *out, size_t max);

/* The segments of one image. */
struct partial_file {
	bool asked;
	size_t n;
	struct file_part *part; /* owned */
};

struct partial_maps {
	const struct frames *fr;
	partial_maps_fn fn; /* called once for each image; NULL: no file is
			     * available */
	void *arg;
	struct partial_file *file; /* by image */
	size_t n, cap;
};

void partial_maps_release(struct partial_maps *wh);
/* Stores the i-th mapping of a file in *out. all is the complete range with its
 * image. Returns 1, or 0 if there are no more. A file that is not available has
 * one mapping, whose offsets equal the relative addresses; that is right for
 * most files. */
int partial_maps_get(struct partial_maps *wh, const struct region *all,
		     size_t i, struct region *out);
