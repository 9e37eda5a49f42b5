/* asked.c - what the requests of events say. */
#include "cli/model/asked.h"

#include <stdlib.h>

#include "schema/db/int_rows.h"
#include "stitch/base/mem.h"

/* Events between two that are asked for; so many rows are read in less time
 * than one is looked up. */
#define FAR 4096

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

struct asked {
	struct int_rows *rows;
	struct int_row next;
	bool has_next, few;
};

static int asked_next(struct asked *a, struct err *err)
{
	int rc = int_rows_next(a->rows, &a->next, err);

	a->has_next = rc > 0;
	return rc < 0 ? -1 : 0;
}

struct asked *asked_open(struct store *db, bool few, struct err *err)
{
	static const char *const column[ASKED_COLUMNS] = {
		[ASKED_EVENT] = "event",     [ASKED_URAW] = "uraw",
		[ASKED_VERDICT] = "verdict", [ASKED_CONFIDENCE] = "confidence",
		[ASKED_FLAGS] = "flags",     [ASKED_IP] = "ip",
	};
	struct asked *a = mem_new(1, sizeof(*a));

	a->few = few;
	a->rows = int_rows_of(db, "request", column,
			      few ? ASKED_IP : ASKED_COLUMNS, err);
	if (a->rows && !asked_next(a, err))
		return a;
	asked_close(a);
	return NULL;
}

void asked_close(struct asked *a)
{
	if (!a)
		return;
	int_rows_close(a->rows);
	free(a);
}

int asked_find(struct asked *a, int64_t event, struct asked_row *row,
	       struct err *err)
{
	const int64_t *v;

	if (a->has_next && event > FAR &&
	    a->next.v[ASKED_EVENT] < event - FAR) {
		a->next.v = NULL;
		if (int_rows_seek(a->rows, event, &a->next, err) < 0)
			return -1;
		a->has_next = a->next.v != NULL;
	}
	while (a->has_next && a->next.v[ASKED_EVENT] < event)
		if (asked_next(a, err))
			return -1;
	v = a->next.v;
	if (!a->has_next || v[ASKED_EVENT] != event)
		return 0;
	*row = (struct asked_row){
		.uraw = v[ASKED_URAW],
		.verdict = v[ASKED_VERDICT],
		.confidence = v[ASKED_CONFIDENCE],
		.flags = v[ASKED_FLAGS],
		.ip = a->few ? 0 : v[ASKED_IP],
		.joined = a->next.known >> ASKED_URAW & 1,
	};
	return 1;
}
