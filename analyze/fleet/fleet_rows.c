/* fleet_rows.c - the rows of a table, batch by batch, and those of the small
 * tables. */
#include "analyze/fleet/fleet.h"

#include "analyze/fleet/fleet_input.h"
#include "analyze/samples/filter.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/verdict.h"

/* A batch ends after this many values of lists, or bytes of texts of fields. */
#define ITEMS_MAX ((size_t)1 << 20)

static void fleet_rows_put(struct fleet_rows *r, struct value v)
{
	if (fleet_fill_type(&r->fill) != FLEET_STRING)
		fleet_fill_value(&r->fill, &v);
	else
		fleet_fill_id(&r->fill,
			      v.kind == VALUE_TEXT
				      ? fleet_word(r->f, v.text, v.len)
				      : FLEET_NO_WORD);
}

static int fleet_query_step(struct fleet_rows *r, struct err *err)
{
	int ret = rows_next(r->of, err);

	for (size_t i = 0; ret > 0 && i < r->fill.table->n_column - 1; i++)
		fleet_rows_put(r, rows_value(r->of, i));
	return ret;
}

static void fleet_query_close(struct fleet_rows *r)
{
	rows_close(r->of);
}

static int fleet_query_begin(struct fleet_rows *r, const char *query,
			     struct err *err)
{
	r->step = fleet_query_step;
	r->close = fleet_query_close;
	r->of = ROWS_BY(r->f->db, query, err, r->capture->id, r->capture->wall);
	return r->of ? 0 : -1;
}

/* Counts the rows of another table of the run, unless they were read before. */
static int fleet_run_count(struct fleet_rows *r, enum fleet_table_id table,
			   struct err *err)
{
	size_t run = (size_t)(r->capture - r->f->capture);
	const struct fleet_batch *ignored;
	struct fleet_rows *rows;
	int ret = 1;

	if (r->capture->ended[table])
		return 0;
	rows = fleet_rows_open(r->f, table, run, err);
	if (!rows)
		return -1;
	while (ret > 0)
		ret = fleet_rows_next(rows, FLEET_BATCH, &ignored, err);
	fleet_rows_close(rows);
	return ret;
}

/* Those whose numbers are in table run, in the order of its columns. */
static const enum fleet_table_id fleet_run_tables[] = {
	FLEET_LOSS, FLEET_VERDICT, FLEET_TRUST, FLEET_FINDING
};
#define RUN_TABLES ARRAY_SIZE(fleet_run_tables)

/* Puts the columns [from, to] of the query as the next ones. */
static void fleet_run_put_values(struct fleet_rows *r, size_t from, size_t to)
{
	for (size_t i = from; i <= to; i++)
		fleet_rows_put(r, rows_value(r->of, i));
}

static void fleet_run_put_time(struct fleet_rows *r, size_t i)
{
	struct value v = rows_value(r->of, i);

	fleet_fill_int(&r->fill,
		       v.kind == VALUE_INT ? fleet_time(r->capture, v.num) : 0);
}

static int fleet_run_step(struct fleet_rows *r, struct err *err)
{
	int ret;

	while ((ret = rows_next(r->of, err)) > 0 &&
	       rows_int(r->of, FLEET_CAPTURES_ID) != r->capture->id)
		;
	if (ret <= 0)
		return ret;
	if (fleet_run_count(r, FLEET_SAMPLE, err))
		return -1;
	for (size_t i = 0; i < RUN_TABLES; i++)
		if (fleet_run_count(r, fleet_run_tables[i], err))
			return -1;
	const struct fleet_ask *ask = r->f->ask;
	struct fleet_capture *c = r->capture;
	struct fleet_fill *b = &r->fill;

	fleet_fill_id(b, intern_add_bytes(&r->f->hashes, c->run.made,
					  sizeof(c->run.made)));
	fleet_fill_int(b, FLEET_VERSION);
	fleet_put_text(r, ask->version);
	fleet_put_text(r, c->run.host);
	fleet_run_put_values(r, FLEET_CAPTURES_RELEASE, FLEET_CAPTURES_CLOCK);
	fleet_fill_int(b, c->has_wall);
	fleet_fill_int(b, c->wall);
	fleet_run_put_time(r, FLEET_CAPTURES_FIRST_NS);
	fleet_run_put_time(r, FLEET_CAPTURES_LAST_NS);
	fleet_run_put_values(r, FLEET_CAPTURES_SYSTEM_WIDE,
			     FLEET_CAPTURES_LOST_UNKNOWN);
	fleet_fill_int(b, (int64_t)ask->period);
	fleet_fill_int(b, filter_given(ask->filter));
	fleet_fill_int(b, (int64_t)c->kept);
	fleet_fill_int(b, (int64_t)c->rows);
	for (size_t i = 0; i < ask->n_label; i++)
		fleet_fill_id(b, fleet_word(r->f, ask->label[i],
					    strcspn(ask->label[i], "=")));
	fleet_fill_list(b);
	for (size_t i = 0; i < ask->n_label; i++)
		fleet_put_text(r, strchr(ask->label[i], '=') + 1);
	fleet_fill_list(b);
	fleet_run_put_values(r, FLEET_CAPTURES_PATH, FLEET_CAPTURES_PATH);
	fleet_fill_int(b, 1);
	for (size_t i = 0; i < RUN_TABLES; i++)
		fleet_fill_int(b, (int64_t)c->n[fleet_run_tables[i]]);
	return ret;
}

static int fleet_run_begin(struct fleet_rows *r, struct err *err)
{
	r->step = fleet_run_step;
	r->close = fleet_query_close;
	r->of = rows_of(r->f->db, "fleet_captures", err);
	return r->of ? 0 : -1;
}

/* Table verdict: requests and chains by verdict and confidence. */

#define PAIRS ((size_t)FLEET_VERDICTS * FLEET_CONFIDENCES)

struct fleet_verdicts {
	struct fleet_counts of[2]; /* requests, chains */
	size_t at;
};

/* The columns of the queries. */
enum {
	COUNTED_ID,
	COUNTED_VERDICT,
	COUNTED_CONFIDENCE,
	COUNTED_CAPTURE
};

static int fleet_verdict_count(struct fleet_rows *r, const char *query,
			       struct fleet_counts *c, struct err *err)
{
	struct rows *q = rows_ints(r->f->db, store_sql(query), err);
	struct int_row row;

	while (rows_step_ints(q, &row))
		if (row.v[COUNTED_CAPTURE] == r->capture->id)
			fleet_count(c, row.v[COUNTED_VERDICT],
				    row.v[COUNTED_CONFIDENCE]);
	return rows_end(q, err);
}

static int fleet_verdict_step(struct fleet_rows *r, struct err *err UNUSED)
{
	struct fleet_verdicts *v = r->of;

	for (; v->at < 2 * PAIRS; v->at++) {
		size_t chain = v->at / PAIRS;
		unsigned int verdict = v->at % PAIRS / FLEET_CONFIDENCES;
		unsigned int confidence = v->at % FLEET_CONFIDENCES;
		uint64_t n = v->of[chain].n[verdict][confidence];

		/* no number of a verdict: the row is no request */
		if (!n || (!chain && !verdict))
			continue;
		fleet_put_text(r, chain ? "chain" : "request");
		fleet_put_text(r, chain ? chain_verdict_name(verdict)
					: request_verdict_name(verdict));
		fleet_put_text(r, confidence_name(confidence));
		fleet_fill_int(&r->fill, (int64_t)n);
		v->at++;
		return 1;
	}
	return 0;
}

static void fleet_verdict_close(struct fleet_rows *r)
{
	free(r->of);
}

static int fleet_verdict_begin(struct fleet_rows *r, struct err *err)
{
	struct fleet_verdicts *v = mem_new(1, sizeof(*v));

	r->of = v;
	r->step = fleet_verdict_step;
	r->close = fleet_verdict_close;
	/* all samples may have been read before, which counted the requests */
	if (r->capture->counted && !filter_given(r->f->ask->filter))
		v->of[0] = r->capture->requests;
	else if (fleet_verdict_count(r, "fleet_requests", &v->of[0], err))
		return -1;
	return fleet_verdict_count(r, "fleet_chains", &v->of[1], err) ? -1 : 0;
}

/* What begins a table: a function, or else a named query. */
static const struct {
	int (*begin)(struct fleet_rows *r, struct err *err);
	const char *query;
} fleet_begins[FLEET_TABLES] = {
	[FLEET_RUN] = { fleet_run_begin, NULL },
	[FLEET_EVENT] = { NULL, "fleet_event" },
	[FLEET_SAMPLE] = { fleet_sample_begin, NULL },
	[FLEET_STACK] = { fleet_stack_begin, NULL },
	[FLEET_NAME] = { fleet_name_begin, NULL },
	[FLEET_LOSS] = { NULL, "fleet_loss" },
	[FLEET_VERDICT] = { fleet_verdict_begin, NULL },
	[FLEET_TRUST] = { NULL, "fleet_trust" },
	[FLEET_FINDING] = { NULL, "fleet_finding" },
	[FLEET_FIELD] = { fleet_field_begin, NULL },
};

struct fleet_rows *fleet_rows_open(struct fleet *f, enum fleet_table_id table,
				   size_t run, struct err *err)
{
	struct fleet_rows *r = mem_new(1, sizeof(*r));

	r->f = f;
	if (fleet_tables[table].by_run) {
		r->capture = &f->capture[run];
		r->run = intern_add_bytes(&f->hashes, r->capture->run.id,
					  sizeof(r->capture->run.id));
	}
	fleet_fill_init(&r->fill, &fleet_tables[table], &f->words, &f->hashes);
	if (!(fleet_begins[table].begin
		      ? fleet_begins[table].begin(r, err)
		      : fleet_query_begin(r, fleet_begins[table].query, err)))
		return r;
	fleet_rows_close(r);
	return NULL;
}

int fleet_rows_next(struct fleet_rows *r, size_t max,
		    const struct fleet_batch **out, struct err *err)
{
	int ret = r->ended ? 0 : 1;

	fleet_fill_clear(&r->fill);
	while (ret > 0 && r->fill.rows < max && r->fill.items < ITEMS_MAX) {
		if (r->capture && !r->whole)
			fleet_fill_id(&r->fill, r->run);
		ret = r->step(r, err);
		if (ret > 0)
			fleet_fill_row(&r->fill);
	}
	/* a statement that has ended would begin again */
	r->ended = ret <= 0;
	r->n += r->fill.rows;
	if (!ret && r->capture) {
		size_t table = (size_t)(r->fill.table - fleet_tables);

		r->capture->ended[table] = true;
		r->capture->n[table] = r->n;
	}
	*out = fleet_fill_batch(&r->fill);
	return ret < 0 ? -1 : (*out)->n > 0;
}

void fleet_rows_close(struct fleet_rows *r)
{
	if (!r)
		return;
	if (r->close)
		r->close(r);
	fleet_fill_release(&r->fill);
	free(r);
}
