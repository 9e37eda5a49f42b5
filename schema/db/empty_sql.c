/* empty_sql.c - a database with all tables and no rows, made by SQL. */
#include <sqlite3.h>

#include "schema/db/empty.h"
#include "schema/db/queries.h"
#include "stitch/base/mem.h"

int empty_by_sql(struct sqlite3 *conn, uint32_t page_size)
{
	char begin[128];

	snprintf(begin, sizeof(begin),
		 "PRAGMA page_size=%u; PRAGMA encoding='UTF-8';"
		 "PRAGMA secure_delete=OFF; BEGIN",
		 page_size);
	int rc = sqlite3_exec(conn, begin, NULL, NULL, NULL);

	return rc ? rc
		  : sqlite3_exec(conn, sql_file("tables"), NULL, NULL, NULL);
}

/* before it is committed, the first page does not have the version of SQLite */
unsigned char *empty_image(uint32_t page_size, size_t *size)
{
	unsigned char *image = NULL;
	sqlite3_int64 n = 0;
	sqlite3 *conn = NULL;

	if (!sqlite3_open(":memory:", &conn) && !empty_by_sql(conn, page_size))
		image = sqlite3_serialize(conn, "main", &n, 0);
	unsigned char *copy = image ? mem_dup(image, (size_t)n) : NULL;

	sqlite3_free(image);
	sqlite3_close(conn);
	*size = (size_t)n;
	return copy;
}
