/* store.c - a changed list of records through SQLite: sums and views. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "schema/maker.h"
#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/order/order.h"
#include "tests/next_fact.h"
#include "tests/pipeline.h"
#include "stitch/stitch.h"
#include "tests/truth/truth.h"

static int store_all(const struct slice *s, const struct list *l,
		     struct store **db, struct err *err)
{
	struct maker_opts so = { .fields = "none", .no_thread = true };
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, NULL);
	struct source *src[2] = { list_source(s, l, 0),
				  s->pair ? list_source(s, l, 1) : NULL };
	struct stitch *st = NULL;
	struct maker *mk;
	const struct fact *f;
	int got = -1;

	*db = NULL;

	order_add(ord, src[0]);
	if (s->pair)
		order_add(ord, src[1]);
	mk = maker_create_temp(&so, fr, err);
	if (!mk || store_capture(mk, src[0], err) ||
	    (s->pair && store_capture(mk, src[1], err)))
		goto out;
	st = stitch_new(ord, fr, lg, NULL);
	for (uint16_t i = 0; s->pair && i < 2; i++)
		stitch_together(st, i, 0);
	while ((got = next_fact(st, &f, err)) > 0) {
		got = store_fact(mk, f, err);
		if (got)
			goto out;
	}
	for (int i = 0; i <= s->pair && !got; i++)
		got = store_capture(mk, src[i], err);
	ledger_end(lg);
	if (!got)
		got = store_flush(mk, lg, err);
	if (!got) {
		*db = maker_finish(mk, lg, err);
		mk = NULL;
		got = *db ? 0 : -1;
	}
out:
	maker_free(mk);
	stitch_free(st);
	order_free(ord);
	ledger_free(lg);
	frames_free(fr);
	return got;
}

/* The view of verdicts, word by word, against the facts. */
static int check_verdicts(struct store *db, const struct result *got,
			  struct report *rp, struct err *err)
{
	static const char sql[] = "SELECT kind, verdict, sum(n) FROM verdicts"
				  " GROUP BY kind, verdict";
	struct rows *r = rows_open(db, sql, NULL, 0, err);
	int more = r ? 1 : -1;

	while (more > 0 && (more = rows_next(r, err)) > 0) {
		bool chain = !strcmp(rows_text(r, 0), "chain");
		int64_t n = 0;

		for (size_t i = 0; i < got->n; i++) {
			const char *v =
				chain && got->chain[i].has
					? chain_verdict_name(
						  got->chain[i].f.verdict)
				: !chain && got->request[i].has
					? request_verdict_name(
						  got->request[i].f.verdict)
					: "";

			n += !strcmp(v, rows_text(r, 1));
		}
		if (n != rows_int(r, 2))
			report_add(rp,
				   "view verdicts: %s %s: %" PRId64
				   ", should be %" PRId64 "\n",
				   rows_text(r, 0), rows_text(r, 1),
				   rows_int(r, 2), n);
	}
	rows_close(r);
	return more;
}

/* Tables against the facts of the same list. */
static int check_counts(struct store *db, const struct result *got,
			struct report *rp, struct err *err)
{
	const struct {
		const char *sql;
		size_t n;
	} ask[] = {
		{ "SELECT count(*) FROM internal_finding", got->n_finding },
		{ "SELECT count(*) FROM cookie_gap", got->n_gap },
		{ "SELECT count(*) FROM cookie_cpu", got->n_counter },
		{ "SELECT count(*) FROM cookies", got->n_session },
		{ "SELECT count(*) FROM chain_copy", got->n_copy },
		{ "SELECT count(*) FROM loss", got->n_loss },
		{ "SELECT count(*) FROM thread", got->n_thread },
	};

	for (size_t i = 0; i < sizeof(ask) / sizeof(ask[0]); i++) {
		struct rows *r = rows_open(db, ask[i].sql, NULL, 0, err);
		int more = r ? rows_next(r, err) : -1;

		if (more > 0 && rows_int(r, 0) != (int64_t)ask[i].n)
			report_add(rp, "%s: %" PRId64 ", should be %zu\n",
				   ask[i].sql, rows_int(r, 0), ask[i].n);
		rows_close(r);
		if (more < 0)
			return -1;
	}
	return 0;
}

int check_store(const struct slice *s, const struct list *l,
		const struct result *got, struct report *rp)
{
	struct store *db = NULL;
	struct err err;
	int ret = store_all(s, l, &db, &err);

	if (!ret)
		ret = pipeline_ask(db, &err);
	if (!ret)
		ret = check_verdicts(db, got, rp, &err);
	if (!ret)
		ret = check_counts(db, got, rp, &err);
	if (ret)
		report_add(rp, "%s\n", err.msg);
	store_close(db);
	return rp->n ? -1 : 0;
}
