/* sums.c - checks that the tables of a finished database add up. */
#include <inttypes.h>

#include "schema/db/queries.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/fact.h"
#include "stitch/verdict.h"

enum sums_of {
	SUMS_REQUEST,
	SUMS_CHAIN
};

/* Counts a verdict. joined: the row is joined; `good`: its verdict says so;
 * lost: the verdict must be explained by a loss. */
static void sums_note(struct writing *w, enum sums_of of, bool joined,
		      bool good, bool lost, bool has_loss)
{
	w->unsound[of] += joined != good;
	w->unnamed[of] += joined == good && lost && !has_loss;
}

/* Checking values as they are stored costs a tenth of reading the tables
 * again. */
void sums_request(struct writing *w, const struct fact_request *q)
{
	w->requests++;
	if (!request_verdict_name(q->verdict))
		w->unsound[SUMS_REQUEST]++;
	else
		sums_note(w, SUMS_REQUEST, q->chain != 0,
			  q->verdict == REQ_MATCHED || q->verdict == REQ_EMPTY,
			  q->verdict == REQ_CHAIN_LOST, q->loss != 0);
}

void sums_chain(struct writing *w, const struct fact_chain *f)
{
	w->chains++;
	if (!chain_verdict_name(f->verdict))
		w->unsound[SUMS_CHAIN]++;
	else
		sums_note(w, SUMS_CHAIN, f->n_events > 0,
			  f->verdict == CHAIN_USED,
			  f->verdict == CHAIN_SAMPLE_LOST, f->loss != 0);
}

/* Compares a query's number, minus `less`, with the wanted one. */
static int sums_equal_but(struct maker *mk, const char *sql, uint64_t less,
			  uint64_t want, const char *what, struct err *err)
{
	int64_t have;

	if (maker_number(mk, sql, &have, err))
		return -1;
	have -= (int64_t)less;
	if ((uint64_t)have != want)
		return err_set(err, ERR_DB,
			       "%s: does not add up: %s are %" PRId64
			       " of %" PRIu64 "; please report this",
			       mk->db->path, what, have, want);
	return 0;
}

static int sums_equal(struct maker *mk, const char *sql, uint64_t want,
		      const char *what, struct err *err)
{
	return sums_equal_but(mk, sql, 0, want, what, err);
}

/* A verdict that a loss explains must name the loss; if a ring overwrote its
 * oldest records there is none to refer to. */
static int sums_check_verdicts(struct maker *mk, struct err *err)
{
	static const char *const what[] = {
		"requests whose verdict agrees with their chain and loss",
		"chains whose verdict agrees with their samples and loss",
	};
	const struct writing *w = mk->w;
	int64_t overwritten;

	if (w->merged)
		return sums_equal(mk, store_sql("sums_requests"), w->requests,
				  what[0], err)
			       ?: sums_equal(mk, store_sql("sums_chains"),
					     w->chains, what[1], err);
	if (maker_number(mk, store_sql("sums_overwritten"), &overwritten, err))
		return -1;
	uint64_t bad[2];

	for (int i = 0; i < 2; i++)
		bad[i] = w->unsound[i] + (overwritten ? 0 : w->unnamed[i]);
	return sums_equal_but(mk, "SELECT count(*) FROM request",
			      bad[SUMS_REQUEST], w->requests, what[0], err)
		       ?: sums_equal_but(mk, "SELECT count(*) FROM chain",
					 bad[SUMS_CHAIN], w->chains, what[1],
					 err);
}

/* Event ids are dense, which is checked when they are stored, so comparing the
 * lowest and highest event of the requests proves that each exists. */
int sums_check(struct maker *mk, struct err *err)
{
	int64_t chains;

	if (!mk->is_new)
		return 0;
	if ((!mk->db->sums &&
	     (sums_equal(mk, "SELECT coalesce(max(id), 0) FROM event",
			 mk->w->events, "events", err) ||
	      sums_equal(mk, "SELECT coalesce(sum(n), 0) FROM sample_group",
			 mk->w->grouped, "samples in groups", err))) ||
	    sums_equal(mk, "SELECT count(*) FROM chain_copy", mk->w->copies,
		       "copies of chains", err) ||
	    sums_equal(
		    mk,
		    "SELECT coalesce((SELECT min(event) FROM request), 1) < 1 OR"
		    " coalesce((SELECT max(event) FROM request), 0) >"
		    " coalesce((SELECT max(id) FROM event), 0)",
		    0, "requests without an event", err) ||
	    maker_number(mk, "SELECT coalesce(max(id), 0) FROM chain", &chains,
			 err))
		return -1;
	if (mk->w->max_chain > chains)
		return err_set(err, ERR_DB,
			       "%s: does not add up: a request names chain "
			       "%u, the last one is %" PRId64
			       "; please report this",
			       mk->db->path, mk->w->max_chain, chains);
	if (mk->w->chain_events != mk->w->joined)
		return err_set(err, ERR_DB,
			       "%s: does not add up: chains say %" PRIu64
			       " samples, %" PRIu64 " requests have one; "
			       "please report this",
			       mk->db->path, mk->w->chain_events,
			       mk->w->joined);
	if (mk->w->deferred > mk->w->requests)
		return err_set(err, ERR_DB,
			       "%s: does not add up: %" PRIu64 " samples "
			       "wait for a user stack, %" PRIu64 " have a "
			       "request; please report this",
			       mk->db->path, mk->w->deferred, mk->w->requests);
	/* Counting looks at the head of each page: of a mapped file no page is
	 * copied. Numbers that the audit stores twice must be equal. */
	if (maker_exec(mk, "PRAGMA mmap_size = 0x7fff0000", err) ||
	    sums_check_verdicts(mk, err) ||
	    maker_exec(mk, "PRAGMA mmap_size = 0", err) ||
	    sums_equal(mk, store_sql("sums_copies"), 0,
		       "copies of chains that are not there", err) ||
	    sums_equal(mk, store_sql("sums_gaps"), 0,
		       "missing cookies beyond those in gaps", err))
		return -1;
	return 0;
}
