/* sums_code.h - the code of a database of sums, which is in memory. */
#pragma once
#include <stdint.h>

struct frames;
struct store;

/* A database of sums (store_sums_only()) has its code in memory, and no rows of
 * frame, symbol, stack and raw_chain. Returns it, or NULL: it has the rows. */
const struct frames *store_sums_code(const struct store *db);
/* Returns the name of a frame of it, NULL if it is not known, and how far the
 * frame is from the start of the function in *symoff. */
const char *store_sums_name(const struct store *db, uint32_t frame,
			    uint64_t *symoff);
/* Returns the file of a frame whose function is one of several of its name, see
 * store_shared_names(); NULL: not known. */
const char *store_sums_file(const struct store *db, uint32_t frame);
