/* mapping_offsets.h - computes the file offsets of mappings from the program
 * headers of the file. This checks and completes a list of mappings that lacks
 * offsets. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/late_maps.h"

struct symbolizer;

struct mapping_offset {
	uint64_t start, end; /* addresses in the process */
	uint64_t pgoff;	     /* result: file offset */
};

/* Takes all mappings of one file in a process, sorted by address. Returns true,
 * and sets each pgoff, if the file is found and its segments match the
 * mappings; else changes nothing. */
bool mapping_offsets_prove(const struct symbolizer *sy, const struct image *img,
			   struct mapping_offset *map, size_t n);
/* Stores where each segment is when the whole file is mapped, up to max.
 * Returns how many, 0 if the file is not found. */
size_t mapping_offsets_parts(const struct symbolizer *sy,
			     const struct image *img, struct file_part *out,
			     size_t max);
