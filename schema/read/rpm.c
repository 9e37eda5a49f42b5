/* rpm.c - finds the package of a file in rpm's database. */
#include "schema/read/rpm.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"

/* Limits of a query: a file that is not rpm's may have anything under these
 * names. */
#define STEPS 10000
#define CALLS_MAX 1000
#define NAME_MAX_LEN 256

struct rpm {
	sqlite3 *db;
	sqlite3_stmt *find;
	int calls; /* of rpm_count_call() in this query */
	char name[NAME_MAX_LEN];
};

/* rpm's tables of base names, of folders that end with a slash, and of package
 * names (lib/backend/sqlite.c); hnum identifies the package. */
static const char owner_query[] =
	"SELECT n.key FROM Basenames b"
	" JOIN Dirnames d ON d.hnum = b.hnum AND d.key = ?2"
	" JOIN Name n ON n.hnum = b.hnum WHERE b.key = ?1 LIMIT 1";

/* Stops a query that takes too long. */
static int rpm_count_call(void *arg)
{
	return ++((struct rpm *)arg)->calls > CALLS_MAX;
}

/* Returns a URI that opens the file without writing anything, not even journal
 * files beside it. The caller frees it. */
static char *rpm_uri(const char *path)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyz"
				    "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~/";
	static const char head[] = "file:", tail[] = "?immutable=1";
	char *uri = mem_new(3 * strlen(path) + sizeof(head) + sizeof(tail), 1);
	char *at = uri + sizeof(head) - 1;

	memcpy(uri, head, sizeof(head));
	for (; *path; path++)
		at += snprintf(at, 4, strchr(plain, *path) ? "%c" : "%%%02X",
			       (unsigned char)*path);
	memcpy(at, tail, sizeof(tail));
	return uri;
}

struct rpm *rpm_open(const char *path)
{
	struct rpm *r = mem_new(1, sizeof(*r));
	char *uri = rpm_uri(path);
	int rc = sqlite3_open_v2(uri, &r->db,
				 SQLITE_OPEN_READONLY | SQLITE_OPEN_URI |
					 SQLITE_OPEN_NOMUTEX,
				 NULL);

	free(uri);
	if (!rc) {
		sqlite3_db_config(r->db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0,
				  NULL);
		sqlite3_progress_handler(r->db, STEPS, rpm_count_call, r);
		rc = sqlite3_prepare_v2(r->db, owner_query, -1, &r->find, NULL);
	}
	if (!rc)
		return r;
	rpm_close(r);
	return NULL;
}

void rpm_close(struct rpm *r)
{
	if (!r)
		return;
	sqlite3_finalize(r->find);
	sqlite3_close(r->db);
	free(r);
}

const char *rpm_owner(struct rpm *r, const char *path)
{
	const char *slash = strrchr(path, '/');
	const char *name = NULL;

	if (!slash)
		return NULL;
	r->calls = 0;
	sqlite3_bind_text(r->find, 1, slash + 1, -1, SQLITE_STATIC);
	sqlite3_bind_text(r->find, 2, path, (int)(slash + 1 - path),
			  SQLITE_STATIC);
	if (sqlite3_step(r->find) == SQLITE_ROW) {
		const unsigned char *text = sqlite3_column_text(r->find, 0);

		snprintf(r->name, sizeof(r->name), "%s",
			 text ? (const char *)text : "");
		name = *r->name ? r->name : NULL;
	}
	sqlite3_reset(r->find);
	sqlite3_clear_bindings(r->find);
	return name;
}
