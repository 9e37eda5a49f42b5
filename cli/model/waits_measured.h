/* waits_measured.h - the waits that the kernel itself measured, for perf record
 * --off-cpu. For waits.c only. */
#ifndef CLI_MODEL_WAITS_MEASURED_H
#define CLI_MODEL_WAITS_MEASURED_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/offcpu.h"

struct err;
struct store;
struct waits_measured;
struct waits_parts;

struct measured_wait {
	int64_t event, tid;
	int64_t from, to; /* of a sum 0, and how long */
	int64_t ns;
	bool sum;
	struct offcpu_stack stack;
	/* Another capture of the same kernel tells of it too, or of a part of
	 * the sum. A capture tells of a wait if it was recording when the wait
	 * began: of its end it then tells too, or says that it is open or
	 * uncertain. Of a wait that was under way when recording began it has
	 * no more than the return, which nobody counts. */
	bool told;
};

/* Opens part number `at`; those in front of it tell of waits too. */
struct waits_measured *waits_measured_open(struct store *db,
					   struct waits_parts *parts, size_t at,
					   struct err *err);
void waits_measured_close(struct waits_measured *m);
/* Returns 1 and *out, 0 at the end, or -1 and *err. */
int waits_measured_next(struct waits_measured *m, struct measured_wait *out,
			struct err *err);
#endif
