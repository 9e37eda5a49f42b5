/* sums_code.h - the code of a database of sums, which is in memory. */
#pragma once
#include <stdint.h>

struct frames;
struct store;
struct sums_code;

/* A database of sums (store_sums_only()) has its code in memory, and no rows of
 * frame, symbol, stack and raw_chain. Returns it, or NULL: it has the rows. */
const struct frames *store_sums_code(const struct store *db);
/* Returns the name of one of its frames, or NULL if unknown. Sets *symoff to
 * the offset of the frame in its function. */
const char *store_sums_name(const struct store *db, uint32_t frame,
			    uint64_t *symoff);
/* Returns the file of a frame whose function shares its name with others, see
 * store_shared_names(); NULL: unknown. */
const char *store_sums_file(const struct store *db, uint32_t frame);
/* Passes on its frames: store_close() frees them. */
void store_sums_own(struct store *db, struct frames *fr);

struct sums_code *sums_code_new(const struct frames *fr);
void sums_code_free(struct sums_code *sc); /* NULL is allowed */
/* Returns a copy of the name of a function, for sums_code_put(). */
const char *sums_code_text(struct sums_code *sc, const char *name);
/* Names a frame. Borrows the name until the database is closed. */
void sums_code_put(struct sums_code *sc, uint32_t frame, const char *name,
		   uint64_t symoff, const char *file);
