/* glance.c - what is said of a finished segment. */
#include "cli/follow/glance.h"

#include <inttypes.h>

#include "cli/samples/loss_rows.h"
#include "schema/columns.h"
#include "schema/store.h"

int glance_write(FILE *out, const char *path, struct err *err)
{
	struct store *db = store_open(path, false, err);
	struct glance g = { 0 };
	struct rows *r;

	if (!db)
		return -1;
	r = rows_of(db, "follow_glance", err);
	if (rows_step(r)) {
		g.samples = (uint64_t)rows_int(r, FOLLOW_GLANCE_SAMPLES);
		g.open = (uint64_t)rows_int(r, FOLLOW_GLANCE_OPEN);
	}
	int rc = rows_end(r, err);

	if (!rc)
		rc = loss_rows_sum(db, &g.lost, &g.lost_unknown, err);
	if (!rc)
		fprintf(out, "%" PRIu64 " %" PRIu64 " %d %" PRIu64 " end\n",
			g.samples, g.lost, g.lost_unknown, g.open);
	store_close(db);
	return rc;
}

bool glance_read(FILE *in, struct glance *g)
{
	int unknown = 0;
	char end = 0;

	if (fscanf(in, "%" SCNu64 " %" SCNu64 " %d %" SCNu64 " en%c",
		   &g->samples, &g->lost, &unknown, &g->open, &end) != 5)
		return false;
	g->lost_unknown = unknown;
	return end == 'd';
}
