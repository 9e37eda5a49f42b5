/* push_tables.c - the tables of backstitch-fleet(7) in a ClickHouse server. */
#include "cli/push/push_tables.h"

#include <stdbool.h>

#include "cli/clickhouse/clickhouse.h"

const struct push_column *push_columns(enum fleet_table_id t)
{
	static const struct push_column by_run[] = { { "day", "Date" },
						     { "block", "UInt64" },
						     { NULL, NULL } };
	static const struct push_column name[] = { { "version", "UInt64" },
						   { NULL, NULL } };
	static const struct push_column none[] = { { NULL, NULL } };

	return fleet_tables[t].by_run ? by_run : t == FLEET_NAME ? name : none;
}

const char *push_type(const struct fleet_column *c)
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

/* The table over those of the shards. */
static void push_sql_create_over(FILE *f, enum fleet_table_id t,
				 const char *database, const char *cluster)
{
	const struct fleet_table *table = &fleet_tables[t];

	fprintf(f, "CREATE TABLE IF NOT EXISTS `%s` (", table->name);
	push_sql_columns(f, t, true);
	fputs(") ENGINE = Distributed(", f);
	clickhouse_quote(f, cluster);
	fputs(", ", f);
	clickhouse_quote(f, database);
	fprintf(f, ", '%s_local', cityHash64(`%s`))", table->name,
		table->column[0].name);
}

void push_sql_create(FILE *f, enum fleet_table_id t, const char *database,
		     const char *cluster, bool over)
{
	const struct fleet_table *table = &fleet_tables[t];

	if (over) {
		push_sql_create_over(f, t, database, cluster);
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
