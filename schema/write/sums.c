/* sums.c - checks that the tables of a finished database add up. */
#include <inttypes.h>

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"

static int sums_equal(struct store *db, const char *sql, uint64_t want,
		      const char *what, struct err *err)
{
	int64_t have;

	if (db_number(db, sql, &have, err))
		return -1;
	if ((uint64_t)have != want)
		return err_set(err, ERR_DB,
			       "%s: does not add up: %s are %" PRId64
			       " of %" PRIu64 "; please report this",
			       db->path, what, have, want);
	return 0;
}

/* Numbers that the audit stores twice must be equal, and a verdict that a loss
 * explains must name the loss. */
static int sums_check_audit(struct store *db, struct err *err)
{
	const struct {
		const char *query;
		uint64_t want;
		const char *what;
	} sums[] = {
		{ "sums_requests", db->w->requests,
		  "requests whose verdict agrees with their chain and loss" },
		{ "sums_chains", db->w->chains,
		  "chains whose verdict agrees with their samples and loss" },
		{ "sums_copies", 0, "copies of chains that are not there" },
		{ "sums_gaps", 0, "missing cookies beyond those in gaps" },
	};

	for (size_t i = 0; i < sizeof(sums) / sizeof(*sums); i++)
		if (sums_equal(db, store_sql(sums[i].query), sums[i].want,
			       sums[i].what, err))
			return -1;
	return 0;
}

/* Event ids are dense, which is checked when they are stored, so comparing the
 * lowest and highest event of the requests proves that each exists. */
int sums_check(struct store *db, struct err *err)
{
	int64_t chains;

	if (!db->making)
		return 0;
	if (sums_equal(db, "SELECT coalesce(max(id), 0) FROM event",
		       db->w->events, "events", err) ||
	    sums_equal(db, "SELECT count(*) FROM chain_copy", db->w->copies,
		       "copies of chains", err) ||
	    sums_equal(db, "SELECT coalesce(sum(n), 0) FROM sample_group",
		       db->w->grouped, "samples in groups", err) ||
	    sums_equal(
		    db,
		    "SELECT coalesce((SELECT min(event) FROM request), 1) < 1 OR"
		    " coalesce((SELECT max(event) FROM request), 0) >"
		    " coalesce((SELECT max(id) FROM event), 0)",
		    0, "requests without an event", err) ||
	    db_number(db, "SELECT coalesce(max(id), 0) FROM chain", &chains,
		      err))
		return -1;
	if (db->w->max_chain > chains)
		return err_set(err, ERR_DB,
			       "%s: does not add up: a request names chain "
			       "%u, the last one is %" PRId64
			       "; please report this",
			       db->path, db->w->max_chain, chains);
	if (db->w->chain_events != db->w->joined)
		return err_set(err, ERR_DB,
			       "%s: does not add up: chains say %" PRIu64
			       " samples, %" PRIu64 " requests have one; "
			       "please report this",
			       db->path, db->w->chain_events, db->w->joined);
	if (db->w->deferred > db->w->requests)
		return err_set(err, ERR_DB,
			       "%s: does not add up: %" PRIu64 " samples "
			       "wait for a user stack, %" PRIu64 " have a "
			       "request; please report this",
			       db->path, db->w->deferred, db->w->requests);
	return sums_check_audit(db, err);
}
