/* push_known.c - sends the stacks and names of a database that the server does
 * not have. */

#include "cli/clickhouse/clickhouse.h"
#include "cli/push/push_known.h"
#include "cli/push/push_server.h"
#include "cli/process/signals.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

#define BODY_ROWS 65536
#define BODY_BYTES ((size_t)32 << 20)
#define HASH_SIZE 16

/* a: the hashes or places of a batch, each of `size` bytes, as the rows of a
 * table. */
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

/* Returns 0 if a row of the reply is of a key that was asked for and may come
 * once more, else -1 and *err: a server that means harm may answer without
 * end, and what it sends is kept. */
static int push_was_asked(struct push *p, const void *key, size_t size,
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

/* Adds the rows of a batch that are to be sent to the body, and sends it where
 * it may be cut. Returns 0, or -1 and *err. */
typedef int push_known_fn(struct push *p, const struct fleet_batch *batch,
			  struct push_body **b, struct err *err);

/* Sends the body if it is large enough. Call it where the rows so far may be
 * stored without the next one: a body is stored whole or not at all. */
static int push_known_cut(struct push *p, enum fleet_table_id t,
			  struct push_body **b, struct err *err)
{
	struct push_body *whole = *b;

	if (whole && whole->rows < BODY_ROWS && whole->plain < BODY_BYTES)
		return 0;
	*b = push_body_new(p->o->dry_run);
	return whole ? push_sender_put(&p->sender, t, NULL, whole, err) : 0;
}

static int push_known(struct push *p, enum fleet_table_id t, push_known_fn *fn,
		      struct err *err)
{
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
	return ret || push_sender_drain(&p->sender, err) ? -1 : 0;
}

/* Sends a table of which the server may have rows, and counts its rows: all and
 * those that are sent. Returns 1; or -1 and *err, as if nothing was counted. */
static int push_counted(struct push *p, enum fleet_table_id t,
			push_known_fn *fn, uint64_t *all, uint64_t *sent,
			struct err *err)
{
	uint64_t was[] = { *all, *sent };

	if (!push_known(p, t, fn, err))
		return 1;
	*all = was[0];
	/* in a dry run those are known from now on, and not counted again */
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

	if (push_was_asked(p, v[0].text, v[0].len, err))
		return -1;
	intern_add_bytes(&p->stacks, v[0].text, v[0].len);
	return 0;
}

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

int push_stacks(void *push, struct err *err)
{
	struct push *p = push;
	int ret = push_counted(p, FLEET_STACK, push_stack_batch,
			       &p->counts.stacks, &p->counts.stacks_sent, err);

	if (!p->o->dry_run)
		intern_release(&p->stacks);
	return ret;
}

/* What makes a name better than another one of the same place: that it is
 * proved, and has a line of source. */
enum name_column {
	PLACE,
	LEVEL,
	FILE_ = 7,
	UNVERIFIED = 9
};

/* Names of the rank are in the server, or will be. */
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

	if (push_was_asked(p, &v[0].u, sizeof(v[0].u), err))
		return -1;
	push_name_know(p, v[0].u, (uint32_t)v[1].u);
	return 0;
}

/* All levels of a place have one version: they are replaced together. The level
 * 0 is the first. */
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

static int push_name_batch(struct push *p, const struct fleet_batch *batch,
			   struct push_body **b, struct err *err)
{
	/* A place of which levels are missing is as good as none: level 0 tells
	 * how many there are above it. */
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
		/* all levels of a place, or none */
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

int push_names(void *push, struct err *err)
{
	struct push *p = push;
	int ret = push_counted(p, FLEET_NAME, push_name_batch, &p->counts.names,
			       &p->counts.names_sent, err);

	if (!p->o->dry_run)
		table_release(&p->names);
	return ret;
}
