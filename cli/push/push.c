/* push.c - sends the runs of databases to a server, each row exactly once.
 *
 * The rows of a run have a fixed order and are cut into blocks of a fixed size,
 * each of which is stored whole or not at all. The server is asked which blocks
 * it has before any is sent, and again after each failure, so that none is sent
 * twice; and once more before the row of table run, the last one, is sent. */
#include "cli/push/push.h"

#include <inttypes.h>

#include "cli/clickhouse/clickhouse.h"
#include "cli/output/say.h"
#include "cli/process/signals.h"
#include "cli/push/push_server.h"
#include "formats/pack.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"
#include "stitch/text/human.h"

#define PUSH_BUF ((size_t)256 * 1024)

static int push_body_take(void *arg, const void *data, size_t n,
			  struct err *err UNUSED)
{
	blob_add(arg, data, n);
	return 0;
}

/* Returns an empty body; count_only: its rows are not sent. */
static struct push_body *push_body_new(bool count_only)
{
	struct push_body *b = mem_new(1, sizeof(*b));

	if (!count_only)
		b->pack = pack_new_fast(push_body_take, &b->packed);
	return b;
}

static void push_body_free(struct push_body *b)
{
	if (!b)
		return;
	pack_free(b->pack);
	free_all(b->packed.at, b->buf.at, b);
}

static void push_body_text(struct push_body *b, const struct fleet_cells *c,
			   uint32_t id, bool sized)
{
	size_t n = intern_length(c->pool, id);

	if (sized)
		blob_leb(&b->buf, n);
	blob_add(&b->buf, intern_get(c->pool, id), n);
}

/* Adds value i of a column. */
static void push_body_value(struct push_body *b, const struct fleet_cells *c,
			    enum fleet_type type, size_t i)
{
	switch (type) {
	case FLEET_U8:
		blob_put(&b->buf, c->u8[i], 1);
		break;
	case FLEET_U16:
		blob_put(&b->buf, c->u16[i], 2);
		break;
	case FLEET_U32:
	case FLEET_I32:
		blob_put(&b->buf, c->u32[i], 4);
		break;
	case FLEET_U64:
	case FLEET_I64:
	case FLEET_F64:
		blob_put(&b->buf, c->u64[i], 8);
		break;
	case FLEET_STRING:
	case FLEET_HASH:
		push_body_text(b, c, c->id[i], type == FLEET_STRING);
		break;
	}
}

/* Adds row i of the batch. */
static void push_body_row(struct push_body *b, const struct fleet_batch *batch,
			  size_t i)
{
	size_t was = b->buf.n;

	for (size_t k = 0; k < batch->table->n_column; k++) {
		const struct fleet_cells *c = &batch->cell[k];
		enum fleet_type type = batch->table->column[k].type;

		if (!c->first) {
			push_body_value(b, c, type, i);
			continue;
		}
		blob_leb(&b->buf, c->first[i + 1] - c->first[i]);
		for (size_t at = c->first[i]; at < c->first[i + 1]; at++)
			push_body_value(b, c, type, at);
	}
	b->rows++;
	b->plain += b->buf.n - was;
}

/* Adds a column of `size` bytes that only the server's table has. */
static void push_body_add(struct push_body *b, uint64_t v, size_t size)
{
	blob_put(&b->buf, v, size);
	b->plain += size;
}

/* Packs buf once it is large. Returns 0, or -1 and *err. */
static int push_body_flush(struct push_body *b, struct err *err)
{
	int rc = 0;

	if (b->buf.n < PUSH_BUF)
		return 0;
	if (b->pack)
		rc = pack_add(b->pack, b->buf.at, b->buf.n, err);
	b->buf.n = 0;
	return rc;
}

/* Completes the packed rows of a body. Returns 0, or -1 and *err. */
static int push_body_finish(struct push_body *b, struct err *err)
{
	if (pack_add(b->pack, b->buf.at, b->buf.n, err) ||
	    pack_finish(b->pack, err))
		return -1;
	pack_free(b->pack);
	b->pack = NULL;
	blob_release(&b->buf);
	return 0;
}

#define STEP_MS 1000

/* Returns 0, or -1 and the error of the first insert that failed. */
static int push_sender_reported(const struct push_sender *s, struct err *err)
{
	if (s->failed)
		*err = s->err;
	return s->failed ? -1 : 0;
}

/* Handles an insert that has ended. Returns as clickhouse_step() does. */
static int push_sender_step(struct push_sender *s, int ms, struct err *err)
{
	struct push_body **p = &s->bodies;
	struct clickhouse_done done;
	int ret = clickhouse_step(s->c, ms, &done, err);

	if (ret <= 0)
		return ret;
	struct push_body *b = done.arg;
	while (*p != b)
		p = &(*p)->next;
	*p = b->next;
	if (!done.rc) {
		s->inserts++;
		s->rows += b->rows;
		s->plain += b->plain;
		s->packed += b->packed.n;
	} else if (!s->failed) {
		s->failed = true;
		s->may_pass = done.may_pass;
		s->err = *err;
	}
	push_body_free(b);
	return 1;
}

/* Continues the inserts under way. Returns 0, or -1 and *err if one failed. */
static int push_sender_go_on(struct push_sender *s, struct err *err)
{
	int ret = 1;

	while (ret > 0 && s->c->inserts)
		ret = push_sender_step(s, 0, err);
	return ret < 0 ? -1 : push_sender_reported(s, err);
}

/* Finishes a body, which it takes over, and sends it unless its rows were only
 * counted. Waits while `connections` inserts are under way. Returns 0, or -1
 * and *err if this or an earlier insert failed. */
static int push_sender_put(struct push_sender *s, enum fleet_table_id t,
			   const char *id, struct push_body *b, struct err *err)
{
	bool counted = !b->pack;
	char *sql OWNED = NULL;
	int ret = counted ? 0 : push_body_finish(b, err);
	FILE *f;

	while (!counted && ret >= 0 && !s->failed &&
	       s->c->inserts >= s->connections)
		ret = push_sender_step(s, STEP_MS, err);
	if (counted || ret < 0 || push_sender_reported(s, err)) {
		push_body_free(b);
		return counted ? 0 : -1;
	}
	f = mem_stream(&sql, NULL);
	push_sql_insert(f, t);
	mem_stream_end(f);
	clickhouse_insert(s->c, sql, id, b->packed.at, b->packed.n, b);
	b->next = s->bodies;
	s->bodies = b;
	return push_sender_go_on(s, err);
}

/* Waits for all inserts. Returns 0 if all are stored, or -1 and *err. */
static int push_sender_drain(struct push_sender *s, struct err *err)
{
	while (s->c->inserts)
		if (push_sender_step(s, STEP_MS, err) < 0)
			return -1;
	return push_sender_reported(s, err);
}

/* Cancels the inserts under way. */
static void push_sender_drop(struct push_sender *s)
{
	clickhouse_drop_inserts(s->c);
	while (s->bodies) {
		struct push_body *b = s->bodies;

		s->bodies = b->next;
		push_body_free(b);
	}
}

#define BODY_ROWS 65536
#define BODY_BYTES ((size_t)32 << 20)
#define HASH_SIZE 16

/* Asks which stacks or names the server has. a: their hashes or places, of
 * `size` bytes each; it is released. Returns 0, or -1 and *err. */
static int push_ask(struct push *p, struct blob *a, size_t size,
		    struct clickhouse_ask *ask, struct err *err)
{
	int rc = 0;

	ask->extra = "asked";
	ask->data = a->at;
	ask->len = a->n;
	ask->arg = p;
	for (size_t i = 0; i < a->n; i += size)
		intern_add_bytes(&p->asked, (const char *)a->at + i, size);
	p->n_asked = p->to_come = p->asked.n;
	if (a->n)
		rc = clickhouse_select(p->server->c, ask, err);
	intern_release(&p->asked);
	blob_release(a);
	return rc;
}

/* Returns 0 if the key of a row of the reply was asked for and not too many
 * rows came, else -1 and *err: what a server sends is kept in memory, and a
 * hostile one may send rows without end. */
static int push_is_requested(struct push *p, const void *key, size_t size,
			     struct err *err)
{
	if (p->to_come && intern_add_bytes(&p->asked, key, size) < p->n_asked) {
		p->to_come--;
		return 0;
	}
	return err_set(err, ERR_FORMAT,
		       "%s: a reply has rows that were not asked for",
		       p->server->c->name);
}

/* Adds the rows of a batch that the server lacks to the body, and sends it
 * where it may be cut. Returns 0, or -1 and *err. */
typedef int push_known_fn(struct push *p, const struct fleet_batch *batch,
			  struct push_body **b, struct err *err);

/* Sends the body if it is large, and begins one. Call it where the rows so far
 * may be stored without the next one: a body is stored whole or not at all. */
static int push_known_cut(struct push *p, enum fleet_table_id t,
			  struct push_body **b, struct err *err)
{
	struct push_body *whole = *b;

	if (whole && whole->rows < BODY_ROWS && whole->plain < BODY_BYTES)
		return 0;
	*b = push_body_new(p->o->dry_run);
	return whole ? push_sender_put(&p->sender, t, NULL, whole, err) : 0;
}

/* Sends rows of a table that the server lacks, and adds to *all and *sent.
 * Returns 1; or -1 and *err, as if nothing was counted. */
static int push_counted(struct push *p, enum fleet_table_id t,
			push_known_fn *fn, uint64_t *all, uint64_t *sent,
			struct err *err)
{
	uint64_t was[] = { *all, *sent };

	struct fleet_rows *r = fleet_rows_open(p->f, t, 0, err);
	const struct fleet_batch *batch;
	struct push_body *b = NULL;
	int ret = r ? 1 : -1;

	while (ret > 0 &&
	       (ret = fleet_rows_next(r, FLEET_BATCH, &batch, err)) > 0) {
		if (stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		else if (fn(p, batch, &b, err) ||
			 push_sender_go_on(&p->sender, err))
			ret = -1;
	}
	if (!ret && b && b->rows)
		ret = push_sender_put(&p->sender, t, NULL, b, err);
	else
		push_body_free(b);
	fleet_rows_close(r);
	if (!ret && !push_sender_drain(&p->sender, err))
		return 1;
	*all = was[0];
	/* in a dry run the rows are known from now on, and not counted again */
	if (!p->o->dry_run)
		*sent = was[1];
	return -1;
}

static const char *push_stack_of(const struct fleet_batch *batch, size_t i)
{
	return intern_get(batch->cell[0].pool, batch->cell[0].id[i]);
}

static int push_take_stack(void *arg, const struct rowbinary_value *v,
			   struct err *err)
{
	struct push *p = arg;

	if (push_is_requested(p, v[0].text, v[0].len, err))
		return -1;
	intern_add_bytes(&p->stacks, v[0].text, v[0].len);
	return 0;
}

/* A push_known_fn for stacks. */
static int push_stack_batch(struct push *p, const struct fleet_batch *batch,
			    struct push_body **b, struct err *err)
{
	struct clickhouse_ask ask = {
		.sql = "SELECT DISTINCT `stack` FROM `stack` "
		       "WHERE `stack` IN asked",
		.types = "hash",
		.row = push_take_stack,
		.extra_columns = "stack FixedString(16)",
	};
	struct blob asked = { 0 };

	for (size_t i = 0; i < batch->n; i++)
		blob_add(&asked, push_stack_of(batch, i), HASH_SIZE);
	if (push_ask(p, &asked, HASH_SIZE, &ask, err))
		return -1;
	for (size_t i = 0; i < batch->n; i++) {
		size_t known = p->stacks.n;

		p->counts.stacks++;
		if (intern_add_bytes(&p->stacks, push_stack_of(batch, i),
				     HASH_SIZE) != known)
			continue;
		p->counts.stacks_sent++;
		if (push_known_cut(p, FLEET_STACK, b, err))
			return -1;
		push_body_row(*b, batch, i);
		if (push_body_flush(*b, err))
			return -1;
	}
	return 0;
}

/* A push_try_fn: sends the stacks that the server lacks. */
static int push_stacks(void *push, struct err *err)
{
	struct push *p = push;
	int ret = push_counted(p, FLEET_STACK, push_stack_batch,
			       &p->counts.stacks, &p->counts.stacks_sent, err);

	if (!p->o->dry_run)
		intern_release(&p->stacks);
	return ret;
}

/* Columns of table name. Of two names of a place, one that is proved is better,
 * and then one that has a source file. */
enum name_column {
	PLACE,
	LEVEL,
	FILE_ = 7,
	UNVERIFIED = 9
};

/* Notes that the server has, or will have, names of that rank for a place. */
static void push_name_know(struct push *p, uint64_t place, uint32_t rank)
{
	uint32_t was = table_find_hash(&p->names, place);

	if (was != TABLE_NONE)
		table_remove(&p->names, place, was);
	table_add(&p->names, place, rank);
}

static int push_take_name(void *arg, const struct rowbinary_value *v,
			  struct err *err)
{
	struct push *p = arg;

	if (push_is_requested(p, &v[0].u, sizeof(v[0].u), err))
		return -1;
	push_name_know(p, v[0].u, (uint32_t)v[1].u);
	return 0;
}

/* Returns whether a place's names are new: the server has none or worse ones.
 * All levels have one version, so that they are replaced together; 0 is
 * first. */
static bool push_name_is_new(struct push *p, const struct fleet_batch *batch,
			     size_t i)
{
	uint64_t place = batch->cell[PLACE].u64[i];
	const struct fleet_cells *file = &batch->cell[FILE_];

	uint32_t rank = (batch->cell[UNVERIFIED].u8[i] ? 0 : 2) +
			(intern_length(file->pool, file->id[i]) ? 1 : 0);
	uint32_t there = table_find_hash(&p->names, place);

	if (batch->cell[LEVEL].u8[i])
		return p->name_is_new;
	p->name_is_new = there == TABLE_NONE || there < rank;
	if (!p->name_is_new)
		return false;
	push_name_know(p, place, rank);
	p->name_version = (uint64_t)rank << 56 | (uint64_t)now_wall_ns() / 1000;
	return true;
}

/* A push_known_fn for names. */
static int push_name_batch(struct push *p, const struct fleet_batch *batch,
			   struct push_body **b, struct err *err)
{
	/* A place with missing levels counts as unknown: its `levels` are those
	 * above level 0. */
	struct clickhouse_ask ask = {
		.sql = "SELECT `place`, "
		       "toUInt8(bitShiftRight(max(`version`), 56)) "
		       "FROM `name` WHERE `place` IN asked GROUP BY `place` "
		       "HAVING uniqExact(`level`) > "
		       "argMax(`levels`, `version`)",
		.types = "u64 u8",
		.row = push_take_name,
		.extra_columns = "place UInt64",
	};
	struct blob asked = { 0 };

	for (size_t i = 0; i < batch->n; i++) {
		uint64_t place = batch->cell[PLACE].u64[i];

		if (table_find_hash(&p->names, place) == TABLE_NONE)
			blob_u64(&asked, place);
	}
	if (push_ask(p, &asked, sizeof(uint64_t), &ask, err))
		return -1;
	for (size_t i = 0; i < batch->n; i++) {
		p->counts.names++;
		if (!push_name_is_new(p, batch, i))
			continue;
		p->counts.names_sent++;
		/* all levels of a place are in one insert */
		if (!batch->cell[LEVEL].u8[i] &&
		    push_known_cut(p, FLEET_NAME, b, err))
			return -1;
		push_body_row(*b, batch, i);
		push_body_add(*b, p->name_version, 8);
		if (push_body_flush(*b, err))
			return -1;
	}
	return 0;
}

/* A push_try_fn: sends the names that the server lacks. */
static int push_names(void *push, struct err *err)
{
	struct push *p = push;
	int ret = push_counted(p, FLEET_NAME, push_name_batch, &p->counts.names,
			       &p->counts.names_sent, err);

	if (!p->o->dry_run)
		table_release(&p->names);
	return ret;
}

#define ROUNDS_MAX 4 /* tries to repair a run; more do not help */
#define PAUSE_MS 250 /* before the second try; twice as long each time */

/* What the server has of a run. */
enum push_state {
	PUSH_UNKNOWN,
	PUSH_THERE, /* the same rows */
	PUSH_OTHER, /* other rows, which stay */
	PUSH_PART,  /* other rows, but none in table run; they stay */
	PUSH_READY  /* all but the row of table run */
};

struct push_job {
	struct push *p;
	size_t number;
	const struct fleet_run *run;
	enum push_state state;
	struct push_ledger there;
	struct push_ledger ours; /* blocks of this database */
	uint64_t blocks, rows, blocks_missing, rows_missing; /* in this try */
	unsigned int rounds;
};

struct push *push_new(struct push_server *s, const struct push_options *o)
{
	struct push *p = mem_new(1, sizeof(*p));

	p->server = s;
	p->o = o;
	p->sender.c = s->c;
	p->sender.connections = o->connections;
	return p;
}

void push_free(struct push *p)
{
	if (!p)
		return;
	intern_release(&p->stacks);
	table_release(&p->names);
	free(p);
}

struct push_counts push_counts(const struct push *p)
{
	struct push_counts c = p->counts;

	c.plain = p->sender.plain;
	c.packed = p->sender.packed;
	return c;
}

/* Counts block k, and sends it unless its rows were only counted. Takes over
 * the body. Returns 0, or -1 and *err. */
static int push_end_block(struct push_job *j, enum fleet_table_id t, uint64_t k,
			  struct push_body *b, struct err *err)
{
	struct push_blocks *ours = &j->ours.of[t];
	bool missing = !push_ledger_rows(&j->there, t, k);
	char id[100];

	*mem_at(ours->rows, ours->n, ours->cap, k) = b->rows;
	j->blocks++;
	j->rows += b->rows;
	j->blocks_missing += missing;
	j->rows_missing += missing ? b->rows : 0;
	/* push_server_ledger() looks for this form */
	snprintf(id, sizeof(id), "backstitch-%s-%s-%" PRIu64, j->run->hex,
		 fleet_tables[t].name, k);
	return push_sender_put(&j->p->sender, t, id, b, err);
}

/* Cuts the rows of a table into blocks, and sends those the server lacks. */
static int push_table(struct push_job *j, enum fleet_table_id t,
		      struct err *err)
{
	struct push *p = j->p;
	uint64_t day = j->run->day_number;
	struct fleet_rows *r = fleet_rows_open(p->f, t, j->number, err);
	const struct fleet_batch *batch;
	struct push_body *b = NULL; /* of block k; NULL: it has no row yet */
	uint64_t k = 0;
	int ret = r ? 1 : -1;

	while (ret > 0 &&
	       (ret = fleet_rows_next(r, FLEET_BATCH, &batch, err)) > 0) {
		for (size_t at = 0; ret > 0 && at < batch->n; at++) {
			if (!b)
				b = push_body_new(
					p->o->dry_run ||
					push_ledger_rows(&j->there, t, k));
			push_body_row(b, batch, at);
			push_body_add(b, day <= UINT16_MAX ? day : 0, 2);
			push_body_add(b, push_block_name(j->run, k), 8);
			if (push_body_flush(b, err)) {
				ret = -1;
			} else if (b->rows >= PUSH_BLOCK_ROWS ||
				   b->plain >= PUSH_BLOCK_BYTES) {
				ret = push_end_block(j, t, k++, b, err) ? -1
									: 1;
				b = NULL;
			}
		}
		if (ret > 0 && push_sender_go_on(&p->sender, err))
			ret = -1;
		if (ret > 0 && stop_requested())
			ret = err_set(err, ERR_STOPPED, "stopped");
		uint64_t rows = p->done + j->rows;
		if (p->o->progress)
			progress_update(rows < p->total ? rows : p->total,
					p->total, rows, "rows");
	}
	if (!ret && b)
		ret = push_end_block(j, t, k, b, err);
	else
		push_body_free(b);
	fleet_rows_close(r);
	return ret;
}

typedef int push_try_fn(void *arg, struct err *err);

/* Waits for inserts under way, which may succeed, and then for ms. */
static int push_settle(struct push *p, int ms, struct err *err)
{
	struct clickhouse_done none;
	struct err ignored;

	if (push_sender_drain(&p->sender, &ignored) &&
	    ignored.code == ERR_STOPPED) {
		*err = ignored;
		return -1;
	}
	p->sender.failed = false;
	return clickhouse_step(p->server->c, ms, &none, err) < 0 ? -1 : 0;
}

/* Calls fn until it returns 1: again at once if it returns 0, after a pause if
 * it fails for a reason that may pass, and not once nothing has been stored for
 * --retry seconds. Returns 0, or -1 and *err. */
static int push_try(struct push *p, push_try_fn *fn, void *arg, struct err *err)
{
	int64_t end = now_ns() + (int64_t)p->o->retry * 1000000000;
	uint64_t stored = p->sender.inserts;
	int pause = PAUSE_MS;
	int ret;

	while ((ret = fn(arg, err)) <= 0) {
		bool may_pass = p->sender.failed ? p->sender.may_pass
						 : p->server->c->may_pass;

		if (!ret)
			continue;
		if (p->sender.inserts != stored) {
			end = now_ns() + (int64_t)p->o->retry * 1000000000;
			pause = PAUSE_MS;
			stored = p->sender.inserts;
		}
		if (err->code == ERR_STOPPED || !may_pass || now_ns() >= end) {
			push_sender_drop(&p->sender);
			return -1;
		}
		p->counts.retries++;
		progress_clear();
		say("%s; trying again in %s\n", err->msg,
		    HUMAN_NS((int64_t)pause * 1000000));
		if (push_settle(p, pause, err)) {
			push_sender_drop(&p->sender);
			return -1;
		}
		pause = pause < 8000 ? 2 * pause : pause;
	}
	return 0;
}

static bool push_is_other(const struct push_job *j)
{
	return j->state == PUSH_OTHER || j->state == PUSH_PART;
}

/* Returns 0, or -1 and *err if the run was repaired too often. */
static int push_limit_rounds(struct push_job *j, struct err *err)
{
	const char *cluster = j->p->server->cluster;

	if (j->rounds++ < ROUNDS_MAX)
		return 0;
	return err_set(err, ERR_LIMIT,
		       "%s: the rows of a run are not those that were sent%s; "
		       "does someone else push it?",
		       j->p->server->c->name,
		       *cluster
			       ? ", and cannot be removed without the --server "
				 "URL of each server of the cluster"
			       : "");
}

/* Returns whether the rows of a table are read here. Those of sample are not if
 * the run is committed: the server's number of them is known to be right. */
static bool push_reads(const struct push_job *j, enum fleet_table_id t,
		       bool committed)
{
	return t == FLEET_SAMPLE  ? !committed
	       : t == FLEET_FIELD ? j->p->o->fields
				  : t != FLEET_RUN;
}

/* Lets other rows of the run stay (returns 1), or removes them (returns 0). */
static int push_run_other(struct push_job *j, struct err *err)
{
	const struct push_options *o = j->p->o;

	if (!o->replace) {
		j->state = j->there.of[FLEET_RUN].n ||
					   j->there.of[FLEET_RUN].foreign
				   ? PUSH_OTHER
				   : PUSH_PART;
		return 1;
	}
	if (o->dry_run) {
		push_ledger_release(&j->there);
		return 0;
	}
	if (push_limit_rounds(j, err) ||
	    push_server_remove_run(j->p->server, j->run, err))
		return -1;
	return push_server_ledger(j->p->server, j->run, &j->there, err);
}

/* A push_try_fn: sends all of a run but its row of table run. */
static int push_run_try(void *arg, struct err *err)
{
	struct push_job *j = arg;
	struct push *p = j->p;

	if (push_server_ledger(p->server, j->run, &j->there, err))
		return -1;
	while (any_where(FLEET_TABLES, t, j->there.of[t].foreign)) {
		int ret = push_run_other(j, err);

		if (ret)
			return ret;
	}
	/* Whether the server has the row of table run, and all samples that
	 * this row counts. */
	uint64_t rows = 0;

	for (size_t k = 0; k < j->there.of[FLEET_SAMPLE].n; k++)
		rows += j->there.of[FLEET_SAMPLE].rows[k];
	bool committed = j->there.committed && rows == j->there.rows;
	static const enum fleet_table_id order[] = {
		FLEET_EVENT,   FLEET_LOSS,   FLEET_VERDICT, FLEET_TRUST,
		FLEET_FINDING, FLEET_SAMPLE, FLEET_FIELD,
	};

	push_ledger_release(&j->ours);
	j->blocks = j->rows = j->blocks_missing = j->rows_missing = 0;
	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		enum fleet_table_id t = order[i];

		if (push_reads(j, t, committed) && push_table(j, t, err))
			return -1;
	}
	if (push_sender_drain(&j->p->sender, err))
		return -1;
	j->state = committed && !j->blocks_missing ? PUSH_THERE : PUSH_READY;
	if (p->o->dry_run)
		return 1;
	if (push_limit_rounds(j, err) ||
	    (j->blocks_missing &&
	     push_server_ledger(p->server, j->run, &j->there, err)))
		return -1;
	/* Compare the tables that were read with the server's; remove blocks
	 * with other numbers of rows. */
	int same = 1;

	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		size_t n = j->there.of[t].n;

		if (!push_reads(j, t, committed))
			continue;
		n = n > j->ours.of[t].n ? n : j->ours.of[t].n;
		for (size_t k = 0; k < n; k++) {
			uint64_t there = push_ledger_rows(&j->there, t, k);

			if (there == push_ledger_rows(&j->ours, t, k))
				continue;
			same = 0;
			if (there && push_server_remove_block(
					     j->p->server, j->run, t, k, err))
				return -1;
		}
	}
	return same;
}

/* A push_try_fn: sends the row of table run. */
static int push_commit_try(void *arg, struct err *err)
{
	struct push_job *j = arg;

	if (push_server_ledger(j->p->server, j->run, &j->there, err))
		return -1;
	if (j->there.committed)
		return 1;
	if (push_ledger_rows(&j->there, FLEET_RUN, 0) &&
	    (push_limit_rounds(j, err) ||
	     push_server_remove_block(j->p->server, j->run, FLEET_RUN, 0, err)))
		return -1;
	push_ledger_release(&j->there);
	return push_table(j, FLEET_RUN, err) ||
			       push_sender_drain(&j->p->sender, err)
		       ? -1
		       : 1;
}

/* Sends and counts a run, but for its row of table run. */
static int push_send_run(struct push *p, struct push_job *j, struct err *err)
{
	uint64_t blocks = p->sender.inserts;
	uint64_t rows = p->sender.rows;

	if (push_try(p, push_run_try, j, err))
		return -1;
	p->counts.there += j->state == PUSH_THERE;
	p->counts.other += push_is_other(j);
	p->done += j->state == PUSH_READY ? j->rows : j->run->samples;
	if (j->state != PUSH_READY)
		return 0;
	p->counts.blocks += j->blocks;
	p->counts.rows += j->rows;
	p->counts.blocks_sent +=
		p->o->dry_run ? j->blocks_missing : p->sender.inserts - blocks;
	p->counts.rows_sent +=
		p->o->dry_run ? j->rows_missing : p->sender.rows - rows;
	return 0;
}

/* Sends the row of table run, if the run is ready. */
static int push_commit(struct push *p, struct push_job *j, struct err *err)
{
	if (j->state != PUSH_READY)
		return 0;
	if (!p->o->dry_run && push_try(p, push_commit_try, j, err))
		return -1;
	/* An insert whose end is unknown, as one that a proxy held back, may
	 * have been stored after we asked. */
	if (!p->o->dry_run && p->counts.retries) {
		j->rounds = 0;
		if (push_try(p, push_run_try, j, err) ||
		    push_try(p, push_commit_try, j, err))
			return -1;
	}
	p->counts.runs++;
	return 0;
}

/* Pushes n runs, then stacks and names, then the rows of table run. */
static int push_jobs(struct push *p, struct push_job *job, size_t n,
		     const char *path, struct err *err)
{
	size_t wanted = 0;

	for (size_t i = 0; i < n; i++) {
		const struct push_job *j = &job[i];

		if (push_send_run(p, &job[i], err))
			return -1;
		if (!push_is_other(j)) {
			wanted++;
			continue;
		}
		progress_clear();
		say("%s: the run of host %s on %s %s (made with other "
		    "options or another version); 'backstitch push "
		    "--replace' puts these in their place\n",
		    path, j->run->host, j->run->day,
		    j->state == PUSH_OTHER
			    ? "is there with other rows"
			    : "is there in part only: another push, perhaps "
			      "one that replaces it, has not ended");
	}
	/* a name is right for its place, whatever the options of the run */
	if ((wanted && push_try(p, push_stacks, p, err)) ||
	    (n && push_try(p, push_names, p, err)))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (push_commit(p, &job[i], err))
			return -1;
	return 0;
}

int push_database(struct push *p, struct store *db, const char *path,
		  struct err *err)
{
	uint64_t rows;

	p->f = fleet_open(db, &p->o->rows, err);
	if (!p->f)
		return -1;
	size_t n = fleet_runs(p->f);
	struct push_job *job OWNED = mem_new(n + 1, sizeof(*job));
	p->total = p->done = 0;
	for (size_t i = 0; i < n; i++) {
		job[i] = (struct push_job){ .p = p,
					    .number = i,
					    .run = fleet_run(p->f, i) };
		p->total += job[i].run->samples;
	}
	int rc = push_jobs(p, job, n, path, err);
	progress_clear();
	p->counts.samples += fleet_samples_read(p->f, &rows);
	p->counts.sample_rows += rows;
	for (size_t i = 0; i < n; i++) {
		push_ledger_release(&job[i].there);
		push_ledger_release(&job[i].ours);
	}
	fleet_close(p->f);
	return rc;
}

int push_database_names(struct push *p, struct store *db, struct err *err)
{
	p->f = fleet_open(db, &p->o->rows, err);
	if (!p->f)
		return -1;
	int rc = push_try(p, push_names, p, err);
	fleet_close(p->f);
	return rc;
}
