/* layout.h - offsets of mappings in their file, by the file's own program
 * headers: they say how it is mapped, so that a list of its mappings without
 * offsets can be checked and completed. */
#ifndef SYMBOLIZE_FILES_LAYOUT_H
#define SYMBOLIZE_FILES_LAYOUT_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/partial_maps.h"

struct image;
struct symbolizer;

struct layout_map {
	uint64_t start, end; /* in the process */
	uint64_t pgoff;	     /* out */
};

/* All mappings of one file in a process, by address. True: the file is here
 * and is mapped just like that, and each has its offset. False: nothing has
 * changed. */
bool layout_prove(const struct symbolizer *sy, const struct image *img,
		  struct layout_map *map, size_t n);
/* What is where in memory when all of the file is mapped; 0: it is not here. */
size_t layout_parts(const struct symbolizer *sy, const struct image *img,
		    struct file_part *out, size_t max);
#endif
