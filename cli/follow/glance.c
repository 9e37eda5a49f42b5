/* glance.c - what is said of a finished segment. */
#include "cli/follow/glance.h"

#include <inttypes.h>

#include "schema/columns.h"
#include "schema/store.h"

#define GLANCE_LINE "%" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 " end\n"

static int glance_write_row(void *arg, const struct rows *r, struct err *err)
{
	(void)err;
	fprintf(arg, GLANCE_LINE, (uint64_t)rows_int(r, FOLLOW_GLANCE_SAMPLES),
		(uint64_t)rows_int(r, FOLLOW_GLANCE_LOST),
		(uint64_t)rows_int(r, FOLLOW_GLANCE_LOST_UNKNOWN),
		(uint64_t)rows_int(r, FOLLOW_GLANCE_OPEN));
	return 0;
}

int glance_write(FILE *out, const char *path, struct err *err)
{
	struct store *db = store_open(path, false, err);
	int ret =
		db ? rows_each(db, "follow_glance", glance_write_row, out, err)
		   : -1;

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
