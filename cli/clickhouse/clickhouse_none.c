/* clickhouse_none.c - stands in for clickhouse_curl.c in a build without
 * libcurl. */
#include "cli/clickhouse/clickhouse.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

struct clickhouse *clickhouse_open(const char *url UNUSED,
				   const struct clickhouse_options *o UNUSED,
				   struct err *err)
{
	err_set(err, ERR_USAGE,
		"this program was built without libcurl, which talks to "
		"servers");
	return NULL;
}

/* No struct clickhouse exists, so nothing below is ever called. */

void clickhouse_close(struct clickhouse *c UNUSED)
{
}

int clickhouse_run(struct clickhouse *c UNUSED, const char *sql UNUSED,
		   struct err *err UNUSED)
{
	return -1;
}

int clickhouse_create_database(struct clickhouse *c UNUSED,
			       struct err *err UNUSED)
{
	return -1;
}

int clickhouse_select(struct clickhouse *c UNUSED,
		      const struct clickhouse_ask *ask UNUSED,
		      struct err *err UNUSED)
{
	return -1;
}

int clickhouse_select_one(struct clickhouse *c UNUSED, const char *sql UNUSED,
			  const char *types UNUSED,
			  struct rowbinary_value *v UNUSED,
			  struct err *err UNUSED)
{
	return -1;
}

void clickhouse_insert(struct clickhouse *c UNUSED, const char *sql UNUSED,
		       const char *id UNUSED, const void *body UNUSED,
		       size_t len UNUSED, void *arg UNUSED)
{
}

int clickhouse_step(struct clickhouse *c UNUSED, int ms UNUSED,
		    struct clickhouse_done *done UNUSED, struct err *err UNUSED)
{
	return -1;
}

void clickhouse_drop_inserts(struct clickhouse *c UNUSED)
{
}
