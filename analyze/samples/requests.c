/* requests.c - what the requests of events say. */
#include "analyze/samples/requests.h"

#include "schema/db/rows.h"
#include "stitch/base/mem.h"

/* Columns of table request; few are those before ip. */
enum {
	ASKED_EVENT,
	ASKED_URAW,
	ASKED_VERDICT,
	ASKED_CONFIDENCE,
	ASKED_FLAGS,
	ASKED_IP,
	ASKED_COLUMNS
};

struct requests {
	struct rows *rows;
	bool few;
};

struct requests *requests_open(struct store *db, bool few, struct err *err)
{
	static const char *const column[ASKED_COLUMNS] = {
		[ASKED_EVENT] = "event",     [ASKED_URAW] = "uraw",
		[ASKED_VERDICT] = "verdict", [ASKED_CONFIDENCE] = "confidence",
		[ASKED_FLAGS] = "flags",     [ASKED_IP] = "ip",
	};
	struct requests *a = mem_new(1, sizeof(*a));

	a->few = few;
	a->rows = rows_ints_of(db, "request", column,
			       few ? ASKED_IP : ASKED_COLUMNS, err);
	if (a->rows)
		return a;
	free(a);
	return NULL;
}

void requests_close(struct requests *a)
{
	if (a)
		rows_close(a->rows);
	free(a);
}

int requests_find(struct requests *a, int64_t event, struct request_row *row,
		  struct err *err)
{
	struct int_row r;
	int rc = rows_seek_ints(a->rows, event, &r, err);

	if (rc > 0)
		*row = (struct request_row){
			.uraw = r.v[ASKED_URAW],
			.verdict = r.v[ASKED_VERDICT],
			.confidence = r.v[ASKED_CONFIDENCE],
			.flags = r.v[ASKED_FLAGS],
			.ip = a->few ? 0 : r.v[ASKED_IP],
			.joined = r.known >> ASKED_URAW & 1,
		};
	return rc;
}
