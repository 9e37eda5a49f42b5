/* loss_rows.h - what was not recorded, in the order of time.
 *
 * --time and -C narrow it; the other filters do not, for what was lost could
 * have been of any thread and event. Memory is bounded by the number of
 * records about losses. */
#ifndef CLI_MODEL_LOSS_ROWS_H
#define CLI_MODEL_LOSS_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct store;

/* In (from, to]; n, cpu: -1 not known. */
struct loss_row {
	int64_t id, cpu, from, to, n;
	const char *what; /* "lost", "throttled", ... */
	uint32_t capture;
	bool counts;	       /* its n adds to the number of records lost */
	bool has_from, has_to; /* from, to are known */
};

struct loss_rows;

/* NULL and *err. */
struct loss_rows *loss_rows_load(struct store *db, struct err *err);
void loss_rows_free(struct loss_rows *l);
size_t loss_rows_count(const struct loss_rows *l);
/* By their end; those without one are the last. */
const struct loss_row *loss_rows_at(const struct loss_rows *l, size_t i);
#endif
