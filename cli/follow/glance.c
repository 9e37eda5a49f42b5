/* glance.c - what is said of a finished segment. */
#include "cli/follow/glance.h"

#include <inttypes.h>

#include "schema/columns.h"
#include "schema/store.h"

#define GLANCE_LINE "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " end\n"

int glance_write(FILE *out, const char *path, struct err *err)
{
	struct store *db = store_open(path, false, err);
	struct rows *r = db ? rows_of(db, "follow_glance", err) : NULL;

	while (rows_step(r))
		fprintf(out, GLANCE_LINE,
			(uint64_t)rows_int(r, FOLLOW_GLANCE_SAMPLES),
			(uint64_t)rows_int(r, FOLLOW_GLANCE_LOST),
			(uint64_t)rows_int(r, FOLLOW_GLANCE_LOST_UNKNOWN),
			(uint64_t)rows_int(r, FOLLOW_GLANCE_OPEN));
	int ret = rows_end(r, err);

	store_close(db);
	return ret;
}

bool glance_read(FILE *in, struct glance *g)
{
	char end = 0;

	return fscanf(in,
		      "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " en%c",
		      &g->samples, &g->lost, &g->lost_unknown, &g->open,
		      &end) == 5 &&
	       end == 'd';
}
