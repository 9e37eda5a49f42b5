/* mapped_code.h - which parts of files the mappings of a database show. */
#ifndef SCHEMA_WRITE_MAPPED_CODE_H
#define SCHEMA_WRITE_MAPPED_CODE_H
#include <stdint.h>

struct err;
struct store;

typedef void store_mapped_fn(void *arg, uint32_t image, uint64_t pgoff,
			     uint64_t len);
/* Calls fn for each part of a file that was mapped as code, in any order: image
 * is a row of image, pgoff the part's offset in the file and len its bytes,
 * none of which need make sense. Of a database that is being made it is what
 * the facts said, so far as it is in memory. Returns 0, or -1 and *err. */
int store_mapped_code(struct store *db, store_mapped_fn *fn, void *arg,
		      struct err *err);
#endif
