/* rpm.c - finds the package of a file in rpm's database. */
#include "schema/read/rpm.h"

#include <sqlite3.h>

#include "schema/guard/guard.h"
#include "stitch/base/err.h"
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

struct rpm *rpm_open(const char *path)
{
	struct rpm *r = mem_new(1, sizeof(*r));
	struct guard *none;
	struct err ignored;
	int rc = -1;

	r->db = guard_open(path, path, GUARD_AS_IS, &none, &ignored);
	if (r->db) {
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
	guard_close(r->db, NULL);
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
