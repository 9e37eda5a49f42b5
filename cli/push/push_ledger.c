/* push_ledger.c - which blocks of a run a server has, and how they are removed.
 *
 * A block is stored whole or not at all, so their numbers of rows are a ledger
 * of what was sent: whatever became of an insert whose answer did not come, it
 * tells. */
#include <inttypes.h>

#include "cli/clickhouse/clickhouse.h"
#include "analyze/fleet/fleet_batch.h"
#include "cli/push/push_server.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

#define BLOCKS_MAX (1 << 20) /* of a table of a run */
#define WAIT_MS 200
#define PUSH_REASON_SIZE 600

/* Rows of the same run that were made with other options must not be taken for
 * ours: so the block says how they were made. */
uint64_t push_block_name(const struct fleet_run *run, uint64_t k)
{
	uint32_t made = (uint32_t)run->made[0] << 24 |
			(uint32_t)run->made[1] << 16 |
			(uint32_t)run->made[2] << 8 | run->made[3];

	return (uint64_t)made << 32 | k;
}

/* Asks again and again, for as long as --timeout says, for the number of
 * statements under way. Returns 1 if there is none, 0 if the time is over, or
 * -1. */
static int push_server_wait(struct clickhouse *c, const char *sql,
			    struct err *err)
{
	struct clickhouse_done ignored;
	int64_t begun = now_ns();

	for (;;) {
		struct rowbinary_value n;

		if (clickhouse_select_one(c, sql, "u64", &n, err))
			return -1;
		if (!n.u)
			return 1;
		if ((now_ns() - begun) / 1000000000 >= c->timeout)
			return 0;
		if (clickhouse_step(c, WAIT_MS, &ignored, err) < 0)
			return -1;
	}
}

/* Writes a table of database system: of one server, or of a cluster. */
static void push_put_system(FILE *f, const char *cluster, const char *table)
{
	if (!*cluster) {
		fprintf(f, "system.%s", table);
		return;
	}
	fputs("cluster(", f);
	clickhouse_quote(f, cluster);
	fprintf(f, ", system, %s)", table);
}

/* A pusher that was killed leaves its inserts behind, which still may end well:
 * on the server that it spoke to, and on the shard that gets the rows. */
static int push_server_wait_run(struct push_server *s,
				const struct fleet_run *run, struct err *err)
{
	char *sql OWNED = NULL;
	FILE *f = mem_stream(&sql, NULL);

	fputs("SELECT toUInt64(count()) FROM ", f);
	push_put_system(f, s->cluster, "processes");
	fprintf(f, " WHERE initial_query_id LIKE 'backstitch-%s-%%'", run->hex);
	mem_stream_end(f);
	int ret = push_server_wait(s->c, sql, err);
	if (ret)
		return ret < 0 ? -1 : 0;
	return err_set(err, ERR_IO,
		       "%s: an earlier push of the run has not ended; wait, "
		       "then push again",
		       s->c->name);
}

/* The conditions by which rows are removed, as we write them: of a run, and of
 * a block of it. */
#define OF_RUN "`run` = toFixedString(unhex('%s'), 16)"
#define OF_BLOCK "`block` = %" PRIu64

/* Our DELETE, of whatever run, as system.mutations prints it. 18.16 prints
 *
 *   DELETE WHERE run = toFixedString(unhex('ID'), 16)
 *   DELETE WHERE (run = toFixedString(unhex('ID'), 16)) AND (block = 1)
 *
 * and other versions have names in backquotes, and brackets around all of it or
 * around no part. So brackets may open in front of each part and close after
 * it, and how many do is not compared. The pattern is itself in quotes in our
 * statement, so the quotes of 'ID' are any character in it. */
#define OPENED "[(]*"
#define CLOSED "[)]*"
#define RUN_PRINTED                                                            \
	OPENED "`?run`? = toFixedString[(]unhex[(].[0-9a-f]{32}.[)], 16[)]+"
#define BLOCK_PRINTED OPENED "`?block`? = [0-9]+"
#define OUR_DELETE_PRINTED                                                     \
	"^[( ]*DELETE WHERE " RUN_PRINTED "( AND " BLOCK_PRINTED ")?" CLOSED "$"

static int push_take_reason(void *arg, const struct rowbinary_value *v,
			    struct err *err UNUSED)
{
	char *out = arg;

	snprintf(out, PUSH_REASON_SIZE, "; table %.*s, '%.*s': %.*s",
		 (int)(v[0].len < 100 ? v[0].len : 100), v[0].text,
		 (int)(v[1].len < 150 ? v[1].len : 150), v[1].text,
		 (int)(v[2].len < 200 ? v[2].len : 200), v[2].text);
	for (char *s = out; *s; s++)
		if ((unsigned char)*s < ' ' || *s == 127)
			*s = ' ';
	return 0;
}

/* Says which statement has not ended, and why, if the server tells. */
static int push_mutation_left(struct clickhouse *c, const char *which,
			      struct err *err)
{
	char reason[PUSH_REASON_SIZE] = "";
	/* servers before 19 do not have the last column */
	char *sql = mem_printf("SELECT table, command, latest_fail_reason "
			       "FROM %s LIMIT 1",
			       which);
	struct clickhouse_ask ask = { .sql = sql,
				      .types = "string string string",
				      .row = push_take_reason,
				      .arg = reason };
	struct err ignored;

	if (clickhouse_select(c, &ask, &ignored) &&
	    ignored.code == ERR_STOPPED) {
		*err = ignored;
		free(sql);
		return -1;
	}
	free(sql);
	return err_set(err, ERR_IO,
		       "%s: removing rows has not ended; wait, or stop it with "
		       "KILL MUTATION, then push again%s",
		       c->name, reason);
}

/* Of a cluster, its name reaches one server of each shard, and --server those
 * that were named. */
static int push_wait_removed(struct push_server *s, const struct fleet_run *run,
			     struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		/* Rows that a statement under way will remove are still
		 * counted. */
		struct clickhouse *c = s->all[i];
		char *which, *sql;
		FILE *f = mem_stream(&which, NULL);

		/* Write where the mutations under way are listed that may
		 * remove or change rows of a run, for which its push must wait.
		 * One is left out only if it cannot reach these rows: if it is
		 * no DELETE or UPDATE, or if it is our own DELETE of another
		 * run; else all pushes to a server would wait for each other.
		 * What does not look like ours may be for any rows. So a
		 * version that prints ours in yet another way makes us wait
		 * longer, but never for too short a time. */
		push_put_system(f, i ? "" : s->cluster, "mutations");
		fputs(" WHERE NOT is_done AND database = ", f);
		clickhouse_quote(f, c->database);
		fputs(" AND table IN (''", f);
		for (unsigned int t = 0; t < FLEET_TABLES; t++)
			if (fleet_tables[t].by_run)
				fprintf(f, ", '%s', '%s_local'",
					fleet_tables[t].name,
					fleet_tables[t].name);
		fputs(") AND match(command, '(DELETE|UPDATE) ')", f);
		fprintf(f, " AND (position(command, '%s') > 0", run->hex);
		fputs(" OR NOT match(command, '" OUR_DELETE_PRINTED "'))", f);
		mem_stream_end(f);
		sql = mem_printf("SELECT toUInt64(count()) FROM %s", which);
		int ret = push_server_wait(c, sql, err);
		if (!ret)
			ret = push_mutation_left(c, which, err);
		free_all(sql, which);
		if (ret < 0)
			return -1;
	}
	return 0;
}

struct push_reading {
	struct push_ledger *l;
	const struct fleet_run *run;
};

static int push_take_block(void *arg, const struct rowbinary_value *v,
			   struct err *err)
{
	const struct push_reading *r = arg;
	uint32_t k = (uint32_t)v[1].u;

	if (v[0].u >= FLEET_TABLES)
		return err_set(err, ERR_FORMAT, "a reply is not as asked for");
	struct push_blocks *b = &r->l->of[v[0].u];
	if (push_block_name(r->run, k) != v[1].u || k >= BLOCKS_MAX) {
		b->foreign += v[2].u;
		return 0;
	}
	*mem_at(b->rows, b->n, b->cap, k) += v[2].u;
	if (v[0].u == FLEET_RUN) {
		r->l->committed = v[2].u == 1;
		r->l->rows = v[3].u;
	}
	return 0;
}

int push_server_ledger(struct push_server *s, const struct fleet_run *run,
		       struct push_ledger *l, struct err *err)
{
	struct push_reading r = { l, run };
	struct clickhouse_ask ask = { .types = "u8 u64 u64 u64",
				      .row = push_take_block,
				      .arg = &r };
	char *sql = NULL;
	const char *between = "";
	FILE *f = mem_stream(&sql, NULL);

	push_ledger_release(l);
	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		if (!fleet_tables[t].by_run)
			continue;
		fprintf(f,
			"%sSELECT toUInt8(%u), `block`, toUInt64(count()), "
			"toUInt64(%s) FROM `%s` WHERE " OF_RUN
			" GROUP BY `block`",
			between, t, t == FLEET_RUN ? "max(`rows`)" : "0",
			fleet_tables[t].name, run->hex);
		between = " UNION ALL ";
	}
	mem_stream_end(f);
	ask.sql = sql;
	int rc = push_server_wait_run(s, run, err) ||
		 push_wait_removed(s, run, err) ||
		 clickhouse_select(s->c, &ask, err);
	free(sql);
	return rc ? -1 : 0;
}

void push_ledger_release(struct push_ledger *l)
{
	for (unsigned int t = 0; t < FLEET_TABLES; t++)
		free(l->of[t].rows);
	*l = (struct push_ledger){ 0 };
}

uint64_t push_ledger_rows(const struct push_ledger *l, enum fleet_table_id t,
			  uint64_t k)
{
	return k < l->of[t].n ? l->of[t].rows[k] : 0;
}

static int push_remove(struct push_server *s, const struct fleet_run *run,
		       enum fleet_table_id t, const char *where,
		       struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		/* TRUNCATE and DROP PARTITION are undone when the server
		 * starts again; ALTER DELETE is not. It goes on after it has
		 * returned. */
		char sql[600];

		snprintf(sql, sizeof(sql), "ALTER TABLE `%s%s` DELETE WHERE %s",
			 fleet_tables[t].name, *s->cluster ? "_local" : "",
			 where);
		if (clickhouse_run(s->all[i], sql, err))
			return -1;
	}
	return push_wait_removed(s, run, err);
}

int push_server_remove_block(struct push_server *s, const struct fleet_run *run,
			     enum fleet_table_id t, uint64_t k, struct err *err)
{
	char where[200];

	snprintf(where, sizeof(where), OF_RUN " AND " OF_BLOCK, run->hex,
		 push_block_name(run, k));
	return push_remove(s, run, t, where, err);
}

int push_server_remove_run(struct push_server *s, const struct fleet_run *run,
			   struct err *err)
{
	char where[200];

	snprintf(where, sizeof(where), OF_RUN, run->hex);
	/* table run is the first: no reader takes a run that is not in it */
	for (unsigned int t = 0; t < FLEET_TABLES; t++)
		if (fleet_tables[t].by_run &&
		    push_remove(s, run, t, where, err))
			return -1;
	return 0;
}
