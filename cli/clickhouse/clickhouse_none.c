/* clickhouse_none.c - stands in for clickhouse_curl.c in a build without
 * libcurl. */
#include "cli/clickhouse/clickhouse.h"
#include "stitch/base/err.h"

struct clickhouse *clickhouse_open(const char *url, struct err *err)
{
	(void)url;
	err_set(err, ERR_USAGE,
		"this program was built without libcurl, which talks to "
		"servers");
	return NULL;
}

/* Nobody has a struct clickhouse, so nothing below is ever called. */

void clickhouse_close(struct clickhouse *c)
{
	(void)c;
}

int clickhouse_run(struct clickhouse *c, const char *sql, struct err *err)
{
	(void)c;
	(void)sql;
	(void)err;
	return -1;
}

int clickhouse_create_database(struct clickhouse *c, struct err *err)
{
	(void)c;
	(void)err;
	return -1;
}

int clickhouse_select(struct clickhouse *c, const struct clickhouse_ask *ask,
		      struct err *err)
{
	(void)c;
	(void)ask;
	(void)err;
	return -1;
}

int clickhouse_select_one(struct clickhouse *c, const char *sql,
			  const char *types, struct rowbinary_value *v,
			  struct err *err)
{
	(void)c;
	(void)sql;
	(void)types;
	(void)v;
	(void)err;
	return -1;
}

void clickhouse_insert(struct clickhouse *c, const char *sql, const char *id,
		       const void *body, size_t len, void *arg)
{
	(void)c;
	(void)sql;
	(void)id;
	(void)body;
	(void)len;
	(void)arg;
}

int clickhouse_step(struct clickhouse *c, int ms, struct clickhouse_done *done,
		    struct err *err)
{
	(void)c;
	(void)ms;
	(void)done;
	(void)err;
	return -1;
}

void clickhouse_drop_inserts(struct clickhouse *c)
{
	(void)c;
}
