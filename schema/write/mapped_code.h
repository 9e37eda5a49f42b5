/* mapped_code.h - lists which parts of files the mappings of a database
 * show. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct err;
struct image_part;
struct maker;

/* What was mapped as code, by image. */
struct mapped_parts {
	struct image_part *part;
	size_t n, cap;
};

/* Fills *parts, for mapped_parts_release(), also if it fails: from the rows or,
 * in a database that is being made, from the facts as far as they are in
 * memory. Returns 0, or -1 and *err. */
int mapped_parts_load(struct maker *mk, struct mapped_parts *parts,
		      struct err *err);
void mapped_parts_release(struct mapped_parts *parts);
/* Returns the *n parts of a row of image. */
const struct image_part *mapped_parts_of(const struct mapped_parts *parts,
					 uint32_t image, size_t *n);
