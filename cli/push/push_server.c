/* push_server.c - the tables of a fleet on one server, or on the servers of a
 * cluster.
 *
 * Statements ON CLUSTER and Replicated tables need ZooKeeper. Without it,
 * tables are made and rows are removed on each server by its own URL. */
#include "cli/push/push_server.h"

#include <inttypes.h>

#include "cli/clickhouse/clickhouse.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/now.h"

/* A column that only the server's table has. */
struct push_column {
	const char *name, *type;
};

/* Returns the columns that the server's table has after those of the fleet's
 * table; a NULL name ends them. */
static const struct push_column *push_columns(enum fleet_table_id t)
{
	static const struct push_column by_run[] = { { "day", "Date" },
						     { "block", "UInt64" },
						     { NULL, NULL } };
	static const struct push_column name[] = { { "version", "UInt64" },
						   { NULL, NULL } };
	static const struct push_column none[] = { { NULL, NULL } };

	return fleet_tables[t].by_run ? by_run : t == FLEET_NAME ? name : none;
}

/* Returns the server's type of a column. */
static const char *push_type(const struct fleet_column *c)
{
	static const char *const name[][2] = {
		[FLEET_U8] = { "UInt8", "Array(UInt8)" },
		[FLEET_U16] = { "UInt16", "Array(UInt16)" },
		[FLEET_U32] = { "UInt32", "Array(UInt32)" },
		[FLEET_U64] = { "UInt64", "Array(UInt64)" },
		[FLEET_I32] = { "Int32", "Array(Int32)" },
		[FLEET_I64] = { "Int64", "Array(Int64)" },
		[FLEET_F64] = { "Float64", "Array(Float64)" },
		[FLEET_STRING] = { "String", "Array(String)" },
		[FLEET_HASH] = { "FixedString(16)", "Array(FixedString(16))" },
	};

	return name[c->type][c->list];
}

/* Writes the columns, with their types if wanted. */
static void push_sql_columns(FILE *f, enum fleet_table_id t, bool types)
{
	const struct fleet_table *table = &fleet_tables[t];
	const char *between = "";

	for (size_t i = 0; i < table->n_column; i++) {
		const struct fleet_column *c = &table->column[i];

		fprintf(f, "%s`%s`%s%s", between, c->name, types ? " " : "",
			types ? push_type(c) : "");
		between = ", ";
	}
	for (const struct push_column *c = push_columns(t); c->name; c++)
		fprintf(f, "%s`%s`%s%s", between, c->name, types ? " " : "",
			types ? c->type : "");
}

/* Writes the statement that creates a table. cluster: NULL for one server;
 * over: the Distributed table over the tables of the cluster's shards. */
static void push_sql_create(FILE *f, enum fleet_table_id t,
			    const char *database, const char *cluster,
			    bool over)
{
	const struct fleet_table *table = &fleet_tables[t];

	if (over) {
		fprintf(f, "CREATE TABLE IF NOT EXISTS `%s` (", table->name);
		push_sql_columns(f, t, true);
		fputs(") ENGINE = Distributed(", f);
		clickhouse_quote(f, cluster);
		fputs(", ", f);
		clickhouse_quote(f, database);
		fprintf(f, ", '%s_local', cityHash64(`%s`))", table->name,
			table->column[0].name);
		return;
	}
	fprintf(f, "CREATE TABLE IF NOT EXISTS `%s%s` (", table->name,
		cluster ? "_local" : "");
	push_sql_columns(f, t, true);
	/* a partition must be the same for all rows of a run: see
	 * PUSH_BLOCK_ROWS */
	if (table->by_run)
		fputs(") ENGINE = MergeTree() PARTITION BY `day` ORDER BY (",
		      f);
	else
		fprintf(f, ") ENGINE = ReplacingMergeTree(%s) ORDER BY (",
			t == FLEET_NAME ? "`version`" : "");
	for (size_t i = 0; i < table->key; i++)
		fprintf(f, "%s`%s`", i ? ", " : "", table->column[i].name);
	fputs(table->key ? ")" : "`run`, `time`)", f);
}

void push_sql_insert(FILE *f, enum fleet_table_id t)
{
	fprintf(f, "INSERT INTO `%s` (", fleet_tables[t].name);
	push_sql_columns(f, t, false);
	fputs(") FORMAT RowBinary", f);
}

/* Where the server's tables are. */
struct push_cluster {
	bool found;	/* table run exists */
	char name[256]; /* "": they are on one server */
};

int push_server_open(struct push_server *s, const char *url,
		     const char *const *others, size_t n,
		     const struct clickhouse_options *o, struct err *err)
{
	*s = (struct push_server){
		.all = mem_new(n + 1, sizeof(*s->all)),
	};
	for (size_t i = 0; i <= n; i++) {
		struct clickhouse *c =
			clickhouse_open(i ? others[i - 1] : url, o, err);

		if (!c)
			return -1;
		s->all[s->n++] = c;
		s->c = s->all[0];
		if (strcmp(s->c->database, c->database) != 0)
			return err_set(err, ERR_USAGE,
				       "%s: all servers of a cluster have the "
				       "same database; this is not that of %s",
				       c->name, s->c->name);
	}
	return 0;
}

void push_server_close(struct push_server *s)
{
	for (size_t i = 0; i < s->n; i++)
		clickhouse_close(s->all[i]);
	free(s->all);
}

struct push_known {
	const char *server, *cluster;
	struct clickhouse *add; /* NULL: columns are not added */
	char type[FLEET_TABLES][FLEET_COLUMNS_MAX + 4][40];
};

/* Takes a row of system.columns: the type of a column. */
static int push_take_column(void *arg, const struct rowbinary_value *v,
			    struct err *err UNUSED)
{
	struct push_known *k = arg;

	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		const struct fleet_table *table = &fleet_tables[t];
		const struct push_column *ours = push_columns(t);

		if (strlen(table->name) != v[0].len ||
		    memcmp(table->name, v[0].text, v[0].len) != 0)
			continue;
		for (size_t i = 0;; i++) {
			const char *name = i < table->n_column
						   ? table->column[i].name
						   : (ours++)->name;

			if (!name)
				return 0;
			if (strlen(name) == v[1].len &&
			    !memcmp(name, v[1].text, v[1].len))
				snprintf(k->type[t][i], sizeof(k->type[t][i]),
					 "%.*s", (int)v[2].len, v[2].text);
		}
	}
	return 0;
}

/* Compares a type with ours, or adds the column. Returns 0, or -1 and *err. */
static int push_compare_column(struct push_known *k, enum fleet_table_id t,
			       size_t i, const char *name, const char *type,
			       struct err *err)
{
	const char *there = k->type[t][i];

	if (!strcmp(there, type))
		return 0;
	if (*there)
		return err_set(
			err, ERR_FORMAT,
			"%s: column %s of table %s is %s, and %s in this "
			"version of the tables; use another database",
			k->server, name, fleet_tables[t].name, there, type);
	if (!k->add)
		return err_set(
			err, ERR_FORMAT,
			"%s: table %s has no column %s: an older backstitch "
			"made it; 'backstitch push --create' adds it",
			k->server, fleet_tables[t].name, name);
	/* Add a column that tables of an older version do not have. The table
	 * of the shard has it already if a run was killed between these two. */
	static const char *const suffix[] = { "_local", "" };

	for (size_t m = k->cluster ? 0 : 1; m < 2; m++) {
		char sql[256];

		snprintf(sql, sizeof(sql),
			 "ALTER TABLE `%s%s` ADD COLUMN `%s` %s",
			 fleet_tables[t].name, suffix[m], name, type);
		/* error 44, ILLEGAL_COLUMN, or 15, DUPLICATE_COLUMN, by
		 * version: the column exists */
		if (clickhouse_run(k->add, sql, err) &&
		    (m || (k->add->code != 44 && k->add->code != 15)))
			return -1;
	}
	return 0;
}

/* Checks or adds all columns that we write. Tables may have others too. */
static int push_server_compare(struct clickhouse *c, const char *cluster,
			       bool add, struct err *err)
{
	struct push_known k = {
		.server = c->name,
		.cluster = cluster,
		.add = add ? c : NULL,
	};
	struct clickhouse_ask ask = {
		.sql = "SELECT table, name, type FROM system.columns "
		       "WHERE database = currentDatabase()",
		.types = "string string string",
		.row = push_take_column,
		.arg = &k,
	};

	if (clickhouse_select(c, &ask, err))
		return -1;
	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		const struct fleet_table *table = &fleet_tables[t];
		const struct push_column *ours = push_columns(t);

		if (!k.type[t][0][0])
			return err_set(err, ERR_FORMAT,
				       "%s: there is no table %s; 'backstitch "
				       "push --create' makes it",
				       k.server, table->name);
		for (size_t i = 0; i < table->n_column; i++)
			if (push_compare_column(&k, t, i, table->column[i].name,
						push_type(&table->column[i]),
						err))
				return -1;
		for (size_t i = 0; ours[i].name; i++)
			if (push_compare_column(&k, t, table->n_column + i,
						ours[i].name, ours[i].type,
						err))
				return -1;
	}
	return 0;
}

/* Takes the name of the cluster. Returns 0, or -1 and *err. */
static int push_take_cluster(void *arg, const struct rowbinary_value *v,
			     struct err *err)
{
	struct push_cluster *c = arg;

	if (v[0].len >= sizeof(c->name) || c->found ||
	    memchr(v[0].text, 0, v[0].len))
		return err_set(err, ERR_FORMAT,
			       "no name of a cluster is in the reply");
	memcpy(c->name, v[0].text, v[0].len);
	c->name[v[0].len] = 0;
	c->found = true;
	return 0;
}

/* Sets *out. The cluster of a Distributed table is the first word after '('. */
static int push_server_find_cluster(struct clickhouse *c,
				    struct push_cluster *out, struct err *err)
{
	struct clickhouse_ask ask = {
		.sql = "SELECT extract(engine_full, "
		       "'^Distributed\\\\(\\'?([^,\\']+)') FROM system.tables "
		       "WHERE database = currentDatabase() AND name = 'run'",
		.types = "string",
		.row = push_take_cluster,
		.arg = out,
	};

	*out = (struct push_cluster){ .found = false };
	return clickhouse_select(c, &ask, err);
}

/* Makes the tables on one server. Returns 0, or -1 and *err. */
static int push_server_create_at(struct clickhouse *c, const char *cluster,
				 struct err *err)
{
	struct push_cluster there;

	if (clickhouse_create_database(c, err) ||
	    push_server_find_cluster(c, &there, err))
		return -1;
	if (there.found && strcmp(there.name, cluster ? cluster : "") != 0)
		return err_set(
			err, ERR_USAGE,
			"%s: the tables are there already, %s%s; %s", c->name,
			*there.name ? "over cluster " : "on one server",
			there.name,
			*there.name ? "name it with --cluster"
				    : "use another database for a cluster");
	for (unsigned int t = 0; t < FLEET_TABLES; t++) {
		for (int over = 0; over <= (cluster != NULL); over++) {
			char *sql OWNED = NULL;
			FILE *f = mem_stream(&sql, NULL);

			push_sql_create(f, t, c->database, cluster, over);
			mem_stream_end(f);
			int rc = clickhouse_run(c, sql, err);
			if (rc)
				return -1;
		}
	}
	return push_server_compare(c, cluster, true, err);
}

int push_server_create(struct push_server *s, const char *cluster,
		       struct err *err)
{
	struct rowbinary_value v;

	for (size_t i = 0; i < s->n; i++)
		if (push_server_create_at(s->all[i], cluster, err))
			return -1;
	/* this asks all shards */
	if (!clickhouse_select_one(s->c, "SELECT count() FROM `run`", "u64", &v,
				   err))
		return 0;
	if (cluster && (s->c->code == 60 || s->c->code == 81))
		return err_set(err, ERR_USAGE,
			       "a server of cluster '%s' has no tables yet: "
			       "give its URL too, with --server URL",
			       cluster);
	return -1;
}

void push_server_print(const struct push_server *s, const char *cluster)
{
	fputs("CREATE DATABASE IF NOT EXISTS ", stdout);
	clickhouse_quote_name(stdout, s->c->database);
	puts(";");
	for (unsigned int t = 0; t < FLEET_TABLES; t++)
		for (int over = 0; over <= (cluster != NULL); over++) {
			push_sql_create(stdout, t, s->c->database, cluster,
					over);
			puts(";");
		}
}

int push_server_check(struct push_server *s, struct err *err)
{
	struct rowbinary_value version;
	struct push_cluster there;

	if (push_server_find_cluster(s->c, &there, err) ||
	    push_server_compare(s->c, NULL, false, err) ||
	    clickhouse_select_one(s->c,
				  "SELECT toUInt64(max(version)) FROM `run`",
				  "u64", &version, err))
		return -1;
	memcpy(s->cluster, there.name, sizeof(s->cluster));
	if (!version.u || version.u == FLEET_VERSION)
		return 0;
	return err_set(err, ERR_FORMAT,
		       "%s: has runs of version %" PRIu64
		       " of the tables, and this program writes %d; use %s",
		       s->c->name, version.u, FLEET_VERSION,
		       version.u > FLEET_VERSION ? "a newer backstitch"
						 : "another database");
}

/* ---- which blocks of a run a server has, and how they are removed
 *
 * A block is stored whole or not at all, so the numbers of rows in blocks are a
 * ledger of what was stored, also by an insert whose answer never came. */

#define BLOCKS_MAX (1 << 20) /* the most of a table of a run */
#define WAIT_MS 200
#define PUSH_REASON_SIZE 600

/* The name has a hash of how the rows were made: rows of the same run that were
 * made with other options must not be taken for ours. */
uint64_t push_block_name(const struct fleet_run *run, uint64_t k)
{
	uint32_t made = (uint32_t)run->made[0] << 24 |
			(uint32_t)run->made[1] << 16 |
			(uint32_t)run->made[2] << 8 | run->made[3];

	return (uint64_t)made << 32 | k;
}

/* Asks for a number of statements under way until it is 0 (returns 1), or for
 * --timeout seconds (returns 0). Returns -1 and *err on error. */
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

/* Writes the name of a table in database system; cluster "": of one server. */
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

/* Waits for inserts of the run: those of a killed push may still succeed, on
 * the server that it spoke to and on the shard that gets the rows. */
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

/* Conditions of our DELETE: for the rows of a run, and for those of a block. */
#define OF_RUN "`run` = toFixedString(unhex('%s'), 16)"
#define OF_BLOCK "`block` = %" PRIu64

/* A pattern of our DELETE of any run, as system.mutations prints it: 18.16 has
 *
 *   DELETE WHERE run = toFixedString(unhex('ID'), 16)
 *   DELETE WHERE (run = toFixedString(unhex('ID'), 16)) AND (block = 1)
 *
 * and other versions have names in backquotes, and brackets around the whole
 * condition or around no part. So the pattern allows any number of brackets
 * before and after each part. It is quoted in our statement, so it has any
 * character for the quotes of 'ID'. */
#define OPENED "[(]*"
#define CLOSED "[)]*"
#define RUN_PRINTED                                                            \
	OPENED "`?run`? = toFixedString[(]unhex[(].[0-9a-f]{32}.[)], 16[)]+"
#define BLOCK_PRINTED OPENED "`?block`? = [0-9]+"
#define OUR_DELETE_PRINTED                                                     \
	"^[( ]*DELETE WHERE " RUN_PRINTED "( AND " BLOCK_PRINTED ")?" CLOSED "$"

/* Writes the first row of the reply as the end of a message. */
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

/* Returns -1 and *err: a statement has not ended, and why, if that is known. */
static int push_mutation_left(struct clickhouse *c, const char *which,
			      struct err *err)
{
	char reason[PUSH_REASON_SIZE] = "";
	/* servers before 19 do not have the last column */
	char *sql OWNED =
		mem_printf("SELECT table, command, latest_fail_reason "
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
		return -1;
	}
	return err_set(err, ERR_IO,
		       "%s: removing rows has not ended; wait, or stop it with "
		       "KILL MUTATION, then push again%s",
		       c->name, reason);
}

/* Waits until no statement under way removes rows of a run. The name of a
 * cluster reaches one server of each shard; the URLs of --server reach the
 * others. */
static int push_wait_removed(struct push_server *s, const struct fleet_run *run,
			     struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		/* Rows that a statement under way will remove are still
		 * counted. */
		struct clickhouse *c = s->all[i];
		char *which, *sql;
		FILE *f = mem_stream(&which, NULL);

		/* Write the FROM and WHERE of unfinished mutations that may
		 * remove or change rows of the run. One is left out only if it
		 * cannot do that: if it is no DELETE or UPDATE, or is our own
		 * DELETE of another run; else all pushes to a server would wait
		 * for each other. One that does not look like ours may be for
		 * any rows, so if a version prints ours in yet another way, we
		 * wait longer, but never for too short a time. */
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

/* Adds the rows of a block to the ledger. */
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
	char *sql OWNED = NULL;
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

/* Removes rows of a table, and waits until they are gone. */
static int push_remove(struct push_server *s, const struct fleet_run *run,
		       enum fleet_table_id t, const char *where,
		       struct err *err)
{
	for (size_t i = 0; i < s->n; i++) {
		/* TRUNCATE and DROP PARTITION are undone when the server starts
		 * again; ALTER DELETE is not, but goes on after its reply. */
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
	/* table run is the first: readers ignore a run that is not in it */
	for (unsigned int t = 0; t < FLEET_TABLES; t++)
		if (fleet_tables[t].by_run &&
		    push_remove(s, run, t, where, err))
			return -1;
	return 0;
}
