/* claims.h - checks that what the tables of a file describe is all that the
 * file holds.
 *
 * The reader claims every range of the file that it takes: the header, each
 * section, each ring. A table with a smaller number than was written leaves
 * bytes that nothing claims; one with a larger number makes two claims overlap.
 * Zeros may stand between claims. */
#pragma once
#include <stddef.h>
#include <stdint.h>

struct bytes;
struct source;

struct folder_lock {
	uint64_t off, len;
};

struct claims {
	struct folder_lock *claim;
	size_t n, cap;
};

/* Returns the end of what may stand unclaimed at off, up to end; off if nothing
 * may. */
typedef uint64_t claims_skip_fn(void *arg, uint64_t off, uint64_t end);

/* The reader takes these bytes of the file. Ranges may come in any order. */
void claims_add(struct claims *c, uint64_t off, uint64_t len);
/* Notes each range of the whole file that no claim has ("unclaimed"), and each
 * that two of them have ("overlap"). skip may be NULL. */
void claims_check(struct claims *c, const struct source *src,
		  const struct bytes *file, claims_skip_fn *skip, void *arg);
void claims_release(struct claims *c);
/* Notes what is left of a part ("rest") after all that its own counts
 * describe. */
void claims_check_rest(const struct source *src, const struct bytes *b,
		       const char *what);
