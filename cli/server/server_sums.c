/* server_sums.c - events, which server_events() fetches first, as all others
 * name them; sums of samples, losses, verdicts, trust and findings. */
#include "analyze/fleet/fleet_schema.h"
#include "cli/server/server_ask.h"
#include "cli/server/server_detail.h"
#include "schema/write/served.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define NO_STACK "toFixedString(unhex('00000000000000000000000000000000'), 16)"
#define AFTER_EXEC "after exec"
#define VERDICTS 32

/* The columns of server_groups(). */
enum {
	GROUP_EVENT,
	GROUP_COMM,
	GROUP_KERNEL,
	GROUP_USER,
	GROUP_VERDICT,
	GROUP_USER_MARK,
	GROUP_KERNEL_MARK,
	GROUP_PID,
	GROUP_TID,
	GROUP_CPU,
	GROUP_LEAST_PID,
	GROUP_ASKED,
	GROUP_WEIGHT,
	GROUP_N,
	GROUP_ABOUT /* the weight as a float, which does not wrap */
};
#define GROUP_TYPES                                                            \
	"string string hash hash string string string i32 i32 i32 i32 u8 "     \
	"u64 u64 f64"

/* Sets *out to the number of a verdict, 0 for none, or returns -1 and *err. */
static int server_verdict(const struct rowbinary_value *v, int64_t *out,
			  struct err *err)
{
	*out = 0;
	for (unsigned int i = 0; v->len && i < VERDICTS; i++) {
		const char *name = request_verdict_name(i);

		if (name && server_is(v, name))
			*out = i;
	}
	return v->len && !*out ? server_bad("a sample has a verdict that is "
					    "not known",
					    err)
			       : 0;
}

/* Sets *out to the id of a raw chain, 0 for no stack. mark: why it ends. */
static int server_raw_of(struct server *s, const struct rowbinary_value *hash,
			 const struct rowbinary_value *mark, int64_t *out,
			 struct err *err)
{
	static const char none[SERVER_HASH];
	struct server_raw raw = { .ended = UNWIND_NONE };

	*out = 0;
	if (!memcmp(hash->text, none, SERVER_HASH))
		return 0;
	/* a stack without bogus frames differs from that with them, but in rows
	 * of earlier versions only the mark shows it */
	raw.bogus = server_is(mark, FLEET_FABRICATED) ||
		    server_is(mark, AFTER_EXEC);
	if (mark->len && !raw.bogus) {
		for (uint8_t i = UNWIND_OUTERMOST + 1; i < UNWIND_N; i++)
			if (server_is(mark, unwind_end_name(i)))
				raw.ended = i;
		if (!raw.ended)
			return server_bad("a stack ends for a reason that is "
					  "not known",
					  err);
	}
	raw.stack = intern_add_bytes(&s->hashes, hash->text, SERVER_HASH);
	uint64_t h = hash_u32s(raw.stack, 2u * raw.ended + raw.bogus);
	uint32_t id = table_find_hash(&s->raws, h);
	if (id == TABLE_NONE) {
		id = (uint32_t)s->n_raw;
		if (s->n_raw >= SERVER_ITEMS_MAX)
			return server_bad("too many stacks", err);
		*mem_add(s->raw, s->n_raw, s->cap_raw) = raw;
		table_add(&s->raws, h, id);
	}
	*out = (int64_t)id + 1;
	return 0;
}

/* The name of a thread, and the thread if those were asked for. */
struct server_comm {
	int32_t pid, tid;
	uint32_t name; /* in comm_names */
	uint32_t zero;
};

/* Sets *out to the comm.id of a group, 0 if its thread has no name. */
static int server_comm_of(struct server *s, const struct rowbinary_value *v,
			  int64_t *out, struct err *err)
{
	bool threads = s->ask->detail & SERVER_THREADS;
	const struct rowbinary_value *name = &v[GROUP_COMM];
	struct server_comm c = {
		.pid = (int32_t)(threads ? v[GROUP_PID].i
					 : v[GROUP_LEAST_PID].i),
		.tid = (int32_t)(threads ? v[GROUP_TID].i : -1),
	};
	size_t n = s->comms.n;

	*out = 0;
	if (!name->len)
		return 0;
	c.name = intern_add_bytes(&s->comm_names, name->text, name->len);
	/* groups of one name are one, whatever their process */
	struct server_comm key = c;
	if (!threads)
		key.pid = 0;
	uint32_t id = intern_add_bytes(&s->comms, &key, sizeof(key));
	if (id >= SERVER_ITEMS_MAX)
		return server_bad("too many threads", err);
	*out = (int64_t)id + 1;
	if (id < n)
		return 0;

	return SERVED_PUT(s->out, "served_put_comm", err, server_int(*out),
			  server_text_of(name->text, name->len)) ||
			       SERVED_PUT(s->out, "served_put_thread", err,
					  server_int(*out),
					  server_known(c.tid, -1)) ||
			       SERVED_PUT(s->out, "served_put_process", err,
					  server_int(*out),
					  server_known(c.pid, -1))
		       ? -1
		       : 0;
}

/* Takes a group of samples. */
static int server_take_group(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server *s = arg;
	const char *name = v[GROUP_EVENT].text;
	size_t len = v[GROUP_EVENT].len;
	/* an unknown name gets an id above those that have a type */
	uint32_t i = intern_add_bytes((struct intern *)&s->events, name, len);

	uint32_t type = i < s->n_type ? s->type[i] : 0;
	bool exec = server_is(&v[GROUP_USER_MARK], AFTER_EXEC);
	int64_t comm, kernel, user, verdict;

	if (!type)
		return server_bad("a sample is of an event that its run does "
				  "not have",
				  err);
	if (!v[GROUP_N].u)
		return server_bad("a sample stands for none", err);
	if (!(v[GROUP_ABOUT].f < 0x1p63) || v[GROUP_WEIGHT].u > INT64_MAX ||
	    v[GROUP_N].u > INT64_MAX ||
	    __builtin_add_overflow(s->samples, v[GROUP_N].u, &s->samples))
		return err_set(err, ERR_LIMIT,
			       "the weights sum up to more than 63 bits; "
			       "choose fewer runs");
	if (server_comm_of(s, v, &comm, err) ||
	    server_verdict(&v[GROUP_VERDICT], &verdict, err) ||
	    server_raw_of(s, &v[GROUP_KERNEL], &v[GROUP_KERNEL_MARK], &kernel,
			  err) ||
	    server_raw_of(s, &v[GROUP_USER], &v[GROUP_USER_MARK], &user, err))
		return -1;

	/* the verdict of a joined request may not be fetched */
	if (!verdict && user && v[GROUP_ASKED].u)
		verdict = REQ_MATCHED;

	return SERVED_PUT(s->out, "served_put_group", err, server_int(type),
			  server_known(comm, 0),
			  server_known(v[GROUP_CPU].i, -1),
			  server_known(kernel, 0), server_known(user, 0),
			  server_known(verdict, 0),
			  server_int(exec && user ? VERDICT_EXEC : 0),
			  server_int((int64_t)v[GROUP_WEIGHT].u),
			  server_int((int64_t)v[GROUP_N].u));
}

int server_groups(struct server *s, const char *cond, struct err *err)
{
	bool threads = s->ask->detail & SERVER_THREADS;
	char *sql OWNED = mem_printf(
		"SELECT event, comm, kernel_stack, user_stack, %s AS fate, "
		"user_mark, kernel_mark, %s AS process, %s AS thread, "
		"%s AS place, min(pid), max(verdict != ''), sum(weight), "
		"sum(n), sum(toFloat64(weight)) FROM sample "
		"WHERE run GLOBAL IN (SELECT run FROM chosen) AND %s "
		"GROUP BY event, comm, kernel_stack, user_stack, fate, "
		"user_mark, kernel_mark, process, thread, place "
		"ORDER BY event, comm, kernel_stack, user_stack, fate, "
		"user_mark, kernel_mark, process, thread, place",
		s->ask->detail & SERVER_VERDICTS ? "verdict"
						 : "if(user_stack = " NO_STACK
						   ", verdict, '')",
		threads ? "pid" : "toInt32(-1)",
		threads ? "tid" : "toInt32(-1)",
		s->ask->detail & SERVER_CPUS ? "cpu" : "toInt32(-1)", cond);
	return server_select(s, sql, GROUP_TYPES, server_take_group, false,
			     err);
}

#define IN_CHOSEN "run GLOBAL IN (SELECT run FROM chosen)"
/* A missing or doubled row would change the answer, so each statement also
 * returns the marks of the rows that it has added up: the sum of the first 8
 * bytes of their runs, modulo 2^64. Runs of an older version are left out. */
#define MARKS                                                                  \
	"sumIf(reinterpretAsUInt64(run), run GLOBAL IN "                       \
	"(SELECT run FROM chosen WHERE counted = 1))"

/* Returns the event_type.id of an event in run[run], 0 if there is none. */
static uint32_t server_type_of(const struct server *s, size_t run,
			       const char *name, size_t len)
{
	uint32_t i = intern_add_bytes((struct intern *)&s->events, name, len);

	if (run >= s->n_run || i >= s->n_type)
		return 0;
	uint32_t id = table_find_hash(&s->typed, hash_u32s((uint32_t)run, i));
	return id == TABLE_NONE ? 0 : id;
}

/* Takes a row of table event. */
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

/* Takes the losses of a kind in a run: they become one, and those of unknown
 * size another one. */
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

/* Returns the sum that the marks of all rows of a table must have. */
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

/* Fetches the classes of the samples that filters select. Rows of an earlier
 * version have none, and its tables lack the column. */
static int server_chosen_trust(struct server *s, const char *cond,
			       struct err *err)
{
	struct rowbinary_value has;
	char *sql OWNED = NULL;

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
	return server_select(s, sql, "hash string string u64 u64",
			     server_take_trust, true, err);
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

	size_t i = s->filtered ? 1 : 0; /* of[0] is for all samples */

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
