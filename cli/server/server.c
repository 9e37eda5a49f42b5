/* server.c - runs that are in a ClickHouse server, as a temporary database:
 * which runs, and in which order the rest is fetched.
 *
 * The ids of the runs are fetched first, and sent as a table with each later
 * statement, so that a run that is pushed meanwhile changes nothing. */
#include "cli/server/server.h"

#include <inttypes.h>

#include "analyze/fleet/fleet_schema.h"
#include "analyze/samples/filter.h"
#include "cli/output/say.h"
#include "cli/server/server_ask.h"
#include "schema/maker.h"
#include "schema/merge/merge.h"
#include "schema/store.h"
#include "schema/write/served.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* The columns of table run that are read: number, name and type. The numbers of
 * the run's rows in other tables follow. */
#define RUN_LIST(X)                                                            \
	X(ID, "run", "hash")                                                   \
	X(VERSION, "version", "u16")                                           \
	X(HOST, "host", "string")                                              \
	X(KERNEL, "kernel", "string")                                          \
	X(MACHINE, "machine", "string")                                        \
	X(CPUS, "cpus", "i32")                                                 \
	X(COMMAND, "command", "string")                                        \
	X(FORMAT, "format", "string")                                          \
	X(RECORDER, "recorder", "string")                                      \
	X(NOTE, "note", "string")                                              \
	X(CLOCK, "clock", "string")                                            \
	X(BOOT, "boot", "i64")                                                 \
	X(START, "start", "i64")                                               \
	X(END, "end", "i64")                                                   \
	X(SYSTEM_WIDE, "system_wide", "i32")                                   \
	X(COMPLETE, "complete", "u8")                                          \
	X(RECORDS, "records", "u64")                                           \
	X(SAMPLES, "samples", "u64")                                           \
	X(PERIOD, "period", "u64")                                             \
	X(KEPT, "kept", "u64")                                                 \
	X(PATH, "path", "string")                                              \
	X(FILTERED, "filtered", "u8")                                          \
	X(COUNTED, "counted", "u8")

#define RUN_NUMBER(id, name, type) RUN_##id,
enum {
	RUN_LIST(RUN_NUMBER) RUN_ROWS /* by enum server_part */
};

#define RUN_NAME(id, name, type) name ", "
#define RUN_COLUMNS                                                            \
	RUN_LIST(RUN_NAME) "loss_rows, verdict_rows, trust_rows, finding_rows"

#define RUN_TYPE(id, name, type) type " "
#define RUN_TYPES RUN_LIST(RUN_TYPE) "u64 u64 u64 u64"

/* Takes a run: stores it, and writes its row of table capture. */
static int server_take_run(void *arg, const struct rowbinary_value *v,
			   struct err *err)
{
	struct server *s = arg;
	struct server_run run = { .boot = v[RUN_BOOT].i,
				  .kept = v[RUN_KEPT].u,
				  .period = v[RUN_PERIOD].u,
				  .counted = v[RUN_COUNTED].u != 0 };
	const struct rowbinary_value *host = &v[RUN_HOST];
	bool unknown = server_is(host, "unknown");
	uint64_t boot = (uint64_t)run.boot;

	if (v[RUN_VERSION].u > FLEET_VERSION)
		return err_set(err, ERR_FORMAT,
			       "has a run of version %" PRIu64
			       " of the tables, this program knows up to %d; "
			       "use a newer backstitch, or --where 'version <= "
			       "%d'",
			       v[RUN_VERSION].u, FLEET_VERSION, FLEET_VERSION);
	if (s->n_run == SERVER_RUNS_MAX)
		return err_set(err, ERR_USAGE,
			       "more than %d runs are chosen; choose with "
			       "--where, --from and --to",
			       SERVER_RUNS_MAX);
	s->filtered |= v[RUN_FILTERED].u != 0;
	memcpy(run.id, v[RUN_ID].text, SERVER_HASH);
	for (size_t i = 0; i < SERVER_PARTS; i++)
		run.rows[i] = v[RUN_ROWS + i].u;
	/* a run that is pushed again may have two rows for a moment */
	if (intern_add_bytes(&s->chosen, run.id, SERVER_HASH) != s->n_run)
		return 0;
	*mem_add(s->run, s->n_run, s->cap_run) = run;

	return SERVED_PUT(
		s->out, "served_put_capture", err,
		server_int((int64_t)s->n_run),
		server_text_of(v[RUN_PATH].text, v[RUN_PATH].len),
		server_text_or_null(&v[RUN_FORMAT]),
		unknown ? (struct value){ .kind = VALUE_NULL }
			: server_text_or_null(host),
		server_text_or_null(&v[RUN_KERNEL]),
		server_text_or_null(&v[RUN_RECORDER]),
		server_text_or_null(&v[RUN_MACHINE]),
		server_text_or_null(&v[RUN_COMMAND]),
		server_known(v[RUN_CPUS].i, -1),
		server_text_or_null(&v[RUN_CLOCK]),
		server_int((int64_t)((uint64_t)v[RUN_START].i - boot)),
		server_int((int64_t)((uint64_t)v[RUN_END].i - boot)),
		server_int((int64_t)v[RUN_RECORDS].u),
		server_int((int64_t)v[RUN_SAMPLES].u),
		server_known(v[RUN_SYSTEM_WIDE].i, -1),
		server_int(v[RUN_COMPLETE].u != 0),
		server_text_or_null(&v[RUN_NOTE]));
}

/* Writes the conditions on runs; a comment in one must not hide a bracket. */
static void server_put_where(const struct server *s, FILE *f)
{
	fprintf(f, "(%s\n) AND (%s\n)", s->ask->where ? s->ask->where : "1",
		s->where);
}

/* Writes the time of --since, counted back from the end of the last run. */
static int server_put_since(struct server *s, FILE *f, int64_t since,
			    struct err *err)
{
	struct rowbinary_value last;
	char *sql OWNED = NULL;
	FILE *ask;

	if (!since)
		return 0;
	ask = mem_stream(&sql, NULL);
	fputs("SELECT max(end) FROM run WHERE wall = 1 AND ", ask);
	server_put_where(s, ask);
	mem_stream_end(ask);
	int rc = clickhouse_select_one(s->c, sql, "i64", &last, err);
	if (!rc)
		fprintf(f, " AND wall = 1 AND end >= %" PRId64,
			(int64_t)((uint64_t)last.i - (uint64_t)since));
	return rc;
}

/* Fetches the chosen runs. Returns 0, or -1 and *err if there is none. */
static int server_runs(struct server *s, struct err *err)
{
	const struct merge_choice *choice = s->ask->choice;
	char *sql OWNED = NULL;
	FILE *f;

	f = mem_stream(&sql, NULL);
	if (choice->last)
		fputs("SELECT * FROM (", f);
	fputs("SELECT " RUN_COLUMNS " FROM run WHERE ", f);
	server_put_where(s, f);
	if (choice->has_from)
		fprintf(f, " AND wall = 1 AND end >= %" PRId64, choice->from);
	if (choice->has_to)
		fprintf(f, " AND wall = 1 AND start <= %" PRId64, choice->to);
	int rc = server_put_since(s, f, choice->since, err);
	/* as databases are chosen: by the time of their last event */
	if (choice->last)
		fprintf(f, " ORDER BY end DESC, path DESC LIMIT %zu)",
			choice->last);
	fputs(" ORDER BY start, run", f);
	mem_stream_end(f);
	if (!rc)
		rc = server_select(s, sql, RUN_TYPES, server_take_run, false,
				   err);
	if (rc || s->n_run)
		return rc;
	return err_set(err, ERR_USAGE,
		       "%s: has no run%s; 'backstitch push' sends runs there",
		       s->c->name,
		       s->ask->where || choice->has_from || choice->has_to ||
				       choice->since || choice->last
			       ? " that was chosen"
			       : "");
}

static char *server_quoted(const char *text)
{
	char *out;
	FILE *f = mem_stream(&out, NULL);

	clickhouse_quote(f, text);
	mem_stream_end(f);
	return out;
}

/* Returns the condition on table sample, which the caller frees; NULL and *err
 * if the server cannot apply the filter. */
static char *server_filter(const struct server *s, struct err *err)
{
	struct filter_dialect d = { .quote = server_quoted };
	const struct filter *filter = s->ask->filter;
	char time[64];

	snprintf(time, sizeof(time), "(time - (%" PRId64 "))", s->run[0].boot);
	d.time = time;
	if (filter->time && s->n_run > 1) {
		err_set(err, ERR_USAGE,
			"--time is on the clock of one run, %zu are chosen; "
			"use --from and --to, or --where",
			s->n_run);
		return NULL;
	}
	for (size_t i = 0; i < s->n_run; i++) {
		if (!s->run[i].period || (!filter->cpu && !filter->time))
			continue;
		err_set(err, ERR_USAGE,
			"--%s cannot select samples that were added up by "
			"'push --weighted'; choose other runs with --where "
			"'period = 0'",
			filter->cpu ? "cpu" : "time");
		return NULL;
	}
	char *cond = mem_new(FILTER_TEXT, 1);

	if (!filter_server_sql(filter, &d, cond, err))
		return cond;
	free(cond);
	return NULL;
}

static int server_take_all(void *arg, const struct rowbinary_value *v,
			   struct err *err UNUSED)
{
	struct server *s = arg;

	s->there = v[0].u;
	return 0;
}

/* Checks the number of samples: a missing or doubled row would change the
 * answer, also that of a filter. Returns 0, or -1 and *err. */
static int server_check(struct server *s, struct err *err)
{
	uint64_t kept = 0;

	s->there = s->samples;
	if (s->filtered &&
	    server_select(s,
			  "SELECT sum(n) FROM sample WHERE run GLOBAL IN "
			  "(SELECT run FROM chosen)",
			  "u64", server_take_all, false, err))
		return -1;
	for (size_t i = 0; i < s->n_run; i++)
		kept += s->run[i].kept;
	if (kept != s->there)
		return err_set(err, ERR_FORMAT,
			       "%s: table run announces %" PRIu64
			       " samples, table sample has %" PRIu64
			       "; push the runs again",
			       s->c->name, kept, s->there);
	if (s->filtered && !s->samples)
		return err_set(err, ERR_USAGE,
			       "%s: the filters let no sample through",
			       s->c->name);
	return 0;
}

static int server_fetch(struct server *s, struct err *err)
{
	if (server_runs(s, err) || server_events(s, err))
		return -1;
	char *cond OWNED = server_filter(s, err);
	int rc = cond ? server_groups(s, cond, err) : -1;
	if (rc || server_check(s, err) || server_code(s, err) ||
	    server_sums(s, cond, err))
		rc = -1;
	return rc ? -1 : served_end(s->out, err);
}

/* Makes a database by fetch(), and releases *s with its connection. Returns the
 * maker, or NULL and *err. */
static struct maker *
server_make(struct server *s, int (*fetch)(struct server *s, struct err *err),
	    struct err *err)
{
	const struct maker_opts so = { .no_pages = true };
	int rc = -1;

	s->mk = maker_create_temp(&so, NULL, err);
	if (s->mk)
		s->out = served_new(s->mk, err);
	if (s->out)
		rc = fetch(s, err);
	served_free(s->out);
	clickhouse_close(s->c);
	intern_release(&s->chosen);
	intern_release(&s->events);
	intern_release(&s->comms);
	intern_release(&s->comm_names);
	intern_release(&s->hashes);
	table_release(&s->typed);
	table_release(&s->raws);
	free_all(s->run, s->type, s->raw);
	if (!rc)
		return s->mk;
	maker_free(s->mk);
	return NULL;
}

struct store *server_open(const char *url, const struct server_ask *ask,
			  struct err *err)
{
	struct server s = { .ask = ask, .filtered = filter_given(ask->filter) };
	const char *cond = strchr(url, '#');
	char *plain OWNED = mem_dup(url, strcspn(url, "#"));
	struct store *db = NULL;

	s.where = cond ? cond + 1 : "1";
	s.c = clickhouse_open(plain, ask->how, err);
	if (!s.c)
		return NULL;
	progress_start("asking the server");
	struct maker *mk = server_make(&s, server_fetch, err);
	if (mk)
		db = maker_finish(mk, NULL, err);
	progress_clear();
	return db;
}

struct maker *server_open_unnamed(const char *url,
				  const struct clickhouse_options *how,
				  struct err *err)
{
	struct server s = { .c = clickhouse_open(url, how, err) };

	return s.c ? server_make(&s, server_unnamed, err) : NULL;
}
