/* server_groups.c - the sums of samples. */

#include "analyze/fleet/fleet_schema.h"
#include "cli/server/server_detail.h"
#include "cli/server/server_ask.h"
#include "schema/write/served.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define NO_STACK "toFixedString(unhex('00000000000000000000000000000000'), 16)"
#define AFTER_EXEC "after exec"
#define VERDICTS 32

/* The columns of the statement. */
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

/* Stores the number of a verdict, 0 if there is none. */
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

/* Stores the id of a raw chain, 0 for no stack. mark: why it ends. */
static int server_raw_of(struct server *s, const struct rowbinary_value *hash,
			 const struct rowbinary_value *mark, int64_t *out,
			 struct err *err)
{
	static const char none[SERVER_HASH];
	struct server_raw raw = { .ended = UNWIND_NONE };
	uint64_t h;
	uint32_t id;

	*out = 0;
	if (!memcmp(hash->text, none, SERVER_HASH))
		return 0;
	/* a stack without bogus frames is another one than that with them, but
	 * in rows of earlier versions only the mark tells */
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
	h = hash_u32s(raw.stack, 2u * raw.ended + raw.bogus);
	id = table_find_hash(&s->raws, h);
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

/* A name of a thread, and which thread it is if that was asked for. */
struct server_comm {
	int32_t pid, tid;
	uint32_t name; /* in comm_names */
	uint32_t zero;
};

/* Stores the comm.id of a group, 0 if its thread has no name. */
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
	struct server_comm key;
	size_t n = s->comms.n;
	uint32_t id;

	*out = 0;
	if (!name->len)
		return 0;
	c.name = intern_add_bytes(&s->comm_names, name->text, name->len);
	/* groups of one name may have other processes */
	key = c;
	if (!threads)
		key.pid = 0;
	id = intern_add_bytes(&s->comms, &key, sizeof(key));
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

static int server_take_group(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct server *s = arg;
	uint32_t type = server_type(s, v[GROUP_EVENT].text, v[GROUP_EVENT].len);
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

	/* of joined requests the verdict is not told apart */
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
	int rc;
	char *sql = mem_printf(
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
	rc = server_select(s, sql, GROUP_TYPES, server_take_group, false, err);
	free(sql);
	return rc;
}
