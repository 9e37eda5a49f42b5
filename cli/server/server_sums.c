/* server_sums.c - events, which server_events() fetches before all that names
 * them; then losses, verdicts, trust and findings of a server. */

#include "analyze/fleet/fleet_schema.h"
#include "cli/server/server_ask.h"
#include "schema/write/served.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define IN_CHOSEN "run GLOBAL IN (SELECT run FROM chosen)"
/* A row that is not there, or there twice, would change the answer, so each
 * statement tells which rows it has added up: the sum of the first 8 bytes of
 * their runs, modulo 2^64. Runs of an older version are left out. */
#define MARKS                                                                  \
	"sumIf(reinterpretAsUInt64(run), run GLOBAL IN "                       \
	"(SELECT run FROM chosen WHERE counted = 1))"

uint32_t server_type(const struct server *s, const char *name, size_t len)
{
	/* a name that is new gets an id behind those that have a type */
	uint32_t i = intern_add_bytes((struct intern *)&s->events, name, len);

	return i < s->n_type ? s->type[i] : 0;
}

/* The same of one run, whose number is capture.id - 1. */
static uint32_t server_type_of(const struct server *s, size_t run,
			       const char *name, size_t len)
{
	uint32_t i = intern_add_bytes((struct intern *)&s->events, name, len);
	uint32_t id;

	if (run >= s->n_run || i >= s->n_type)
		return 0;
	id = table_find_hash(&s->typed, hash_u32s((uint32_t)run, i));
	return id == TABLE_NONE ? 0 : id;
}

static int server_take_event(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server *s = arg;
	size_t run = server_run_of(s, &v[0]);
	const struct rowbinary_value *name = &v[1];
	uint32_t i = intern_add_bytes(&s->events, name->text, name->len);
	uint32_t id = s->types + 1;

	if (run == SIZE_MAX || id >= SERVER_ITEMS_MAX ||
	    server_type_of(s, run, name->text, name->len) ||
	    v[8].u > INT64_MAX || v[9].u > INT64_MAX || i > s->n_type)
		return server_bad("table event has a row that cannot be", err);
	s->types = id;
	if (i == s->n_type)
		*mem_add(s->type, s->n_type, s->cap_type) = id;
	table_add(&s->typed, hash_u32s((uint32_t)run, i), id);

	return SERVED_PUT(
		s->out, "served_put_event", err, server_int(id),
		server_int((int64_t)run + 1),
		server_text_of(name->text, name->len),
		server_text_or_null(&v[2]), server_text_of(v[3].text, v[3].len),
		server_int((int64_t)v[4].u), server_int((int64_t)v[5].u),
		server_int((int64_t)v[6].u), server_int((int64_t)v[7].u),
		server_int((int64_t)v[8].u), server_int((int64_t)v[9].u));
}

int server_events(struct server *s, struct err *err)
{
	return server_select(
		s,
		"SELECT run, event, how, unit, period, frequency, stacks, "
		"deferred, samples, weight FROM event WHERE " IN_CHOSEN
		" ORDER BY number, event, run",
		"hash string string string u64 u8 u8 u8 u64 u64",
		server_take_event, false, err);
}

static int server_take_trust(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server *s = arg;
	size_t run = server_run_of(s, &v[0]);
	uint32_t type = server_type_of(s, run, v[1].text, v[1].len);

	s->marks += v[4].u;
	if (!type || v[3].u > INT64_MAX)
		return server_bad("table trust has a row that cannot be", err);
	return SERVED_PUT(s->out, "served_put_trust", err, server_int(type),
			  server_text_of(v[2].text, v[2].len),
			  server_int((int64_t)v[3].u));
}

/* All losses of a kind in a run become one; those of unknown size are another
 * one. */
static int server_take_loss(void *arg, const struct rowbinary_value *v,
			    struct err *err)
{
	struct server *s = arg;
	size_t run = server_run_of(s, &v[0]);
	uint64_t unknown = v[5].u;
	struct value bind[] = {
		server_int((int64_t)run + 1),
		server_text_of(v[1].text, v[1].len),
		server_int((int64_t)v[2].u),
		server_int(v[3].i),
	};

	s->marks += v[6].u;
	if (run == SIZE_MAX || v[3].i < 0 || unknown > v[4].u)
		return server_bad("table loss has a row that cannot be", err);
	if (unknown < v[4].u &&
	    served_put(s->out, "served_put_loss", bind, 4, err))
		return -1;
	bind[3].kind = VALUE_NULL;
	return unknown ? served_put(s->out, "served_put_loss", bind, 4, err)
		       : 0;
}

static int server_take_loss_sum(void *arg, const struct rowbinary_value *v,
				struct err *err)
{
	struct server *s = arg;

	return SERVED_PUT(s->out, "served_put_loss_sum", err,
			  server_text_of(v[0].text, v[0].len),
			  server_int((int64_t)v[1].u), server_int(v[2].i),
			  server_int((int64_t)v[3].u),
			  server_int((int64_t)v[4].u));
}

static int server_take_verdict(void *arg, const struct rowbinary_value *v,
			       struct err *err)
{
	struct server *s = arg;

	s->marks += v[4].u;
	return SERVED_PUT(s->out, "served_put_verdict", err,
			  server_text_of(v[0].text, v[0].len),
			  server_text_of(v[1].text, v[1].len),
			  server_text_of(v[2].text, v[2].len),
			  server_int((int64_t)v[3].u));
}

static int server_take_finding(void *arg, const struct rowbinary_value *v,
			       struct err *err)
{
	struct server *s = arg;

	s->marks += v[4].u;
	return SERVED_PUT(s->out, "served_put_finding", err,
			  server_text_of(v[0].text, v[0].len),
			  server_int((int64_t)v[1].u),
			  server_int((int64_t)v[2].u),
			  server_int((int64_t)v[3].u));
}

/* Returns what the marks of all rows of a table must add up to. */
static uint64_t server_marks(const struct server *s, enum server_part part)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < s->n_run; i++) {
		const struct server_run *run = &s->run[i];
		uint64_t mark = 0;

		for (size_t k = 8; k-- > 0;)
			mark = mark << 8 | run->id[k];
		if (run->counted)
			sum += mark * run->rows[part];
	}
	return sum;
}

/* Fetches the classes of the samples that filters selected. Rows of an earlier
 * version have none, and its tables no such column. */
static int server_chosen_trust(struct server *s, const char *cond,
			       struct err *err)
{
	struct rowbinary_value has;
	char *sql;
	int rc;

	if (clickhouse_select_one(s->c,
				  "SELECT count() FROM system.columns WHERE "
				  "database = currentDatabase() AND "
				  "table = 'sample' AND name = 'class'",
				  "u64", &has, err))
		return -1;
	sql = mem_printf("SELECT run, event, %s AS judged, sum(n), toUInt64(0) "
			 "FROM sample WHERE " IN_CHOSEN " AND %s "
			 "GROUP BY run, event, judged HAVING judged != "
			 "'" FLEET_UNCLASSED "' ORDER BY run, event, judged",
			 has.u ? "class" : "''", cond);
	rc = server_select(s, sql, "hash string string u64 u64",
			   server_take_trust, true, err);
	free(sql);
	return rc;
}

int server_sums(struct server *s, const char *cond, struct err *err)
{
	static const struct {
		enum server_part part; /* SERVER_PARTS: no marks */
		const char *table, *sql, *types;
		rowbinary_fn *row;
	} of[] = {
		{ SERVER_TRUST, "trust",
		  "SELECT run, event, class, sum(samples), " MARKS
		  " FROM trust "
		  "WHERE " IN_CHOSEN " GROUP BY run, event, class "
		  "ORDER BY run, event, class",
		  "hash string string u64 u64", server_take_trust },
		{ SERVER_LOSS, "loss",
		  "SELECT run, what, counts, sumIf(n, n > 0), count(), "
		  "countIf(n < 0), " MARKS " FROM loss WHERE " IN_CHOSEN
		  " GROUP BY run, what, counts ORDER BY run, what, counts",
		  "hash string u8 i64 u64 u64 u64", server_take_loss },
		{ SERVER_PARTS, "loss",
		  "SELECT what, counts, sumIf(n, n > 0), count(), "
		  "countIf(n < 0) FROM loss WHERE " IN_CHOSEN
		  " GROUP BY what, counts ORDER BY what, counts",
		  "string u8 i64 u64 u64", server_take_loss_sum },
		{ SERVER_VERDICT, "verdict",
		  "SELECT kind, verdict, confidence, sum(n), " MARKS
		  " FROM verdict "
		  "WHERE " IN_CHOSEN " GROUP BY kind, verdict, confidence "
		  "ORDER BY kind, verdict, confidence",
		  "string string string u64 u64", server_take_verdict },
		{ SERVER_FINDING, "finding",
		  "SELECT rule, breaks, count(), sum(explained), " MARKS
		  " FROM finding "
		  "WHERE " IN_CHOSEN " GROUP BY rule, breaks "
		  "ORDER BY rule, breaks",
		  "string u8 u64 u64 u64", server_take_finding },
	};

	size_t i = s->filtered ? 1 : 0; /* of[0]: of all samples */

	if (i && server_chosen_trust(s, cond, err))
		return -1;
	for (; i < ARRAY_SIZE(of); i++) {
		s->marks = 0;
		if (server_select(s, of[i].sql, of[i].types, of[i].row, true,
				  err))
			return -1;
		if (of[i].part != SERVER_PARTS &&
		    s->marks != server_marks(s, of[i].part))
			return err_set(err, ERR_FORMAT,
				       "%s: table %s lacks rows of the chosen "
				       "runs, or has some twice; push the runs "
				       "again",
				       s->c->name, of[i].table);
	}
	return 0;
}
