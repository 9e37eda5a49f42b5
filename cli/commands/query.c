/* query.c - the command that runs SQL statements. */
#include <limits.h>
#include <unistd.h>

#include "cli/args/command.h"
#include "cli/commands/option_groups.h"
#include "cli/open/input.h"
#include "formats/input.h"
#include "stitch/text/safe_text.h"
#include "cli/commands/query_error.h"
#include "cli/commands/query_schema.h"
#include "cli/process/signals.h"
#include "analyze/latency/interval_sql.h"
#include "analyze/path/path_sql.h"
#include "cli/output/term.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/names/demangle.h"

#define SQL_MAX (1 << 20)
/* Of the longest name of a view to begin with. */
#define FIRST_CELLS 16

static const char *file;
static bool list_views, list_tables, list_functions, list_schema;

static const struct opt opts[] = {
	OPT_STRING('f', "file", "FILE", &file,
		   "read the SQL from FILE ('-': standard input)"),
	OPT_GROUP(output_opts),
	OPT_FLAG(0, "views", &list_views, "list the views and their columns"),
	OPT_FLAG(0, "tables", &list_tables,
		 "list the tables and their columns"),
	OPT_FLAG(0, "schema", &list_schema,
		 "print what tables, views and columns mean; needs no "
		 "database"),
	OPT_FLAG(0, "functions", &list_functions,
		 "list the SQL functions of backstitch"),
	OPT_GROUP(ingest_opts),
	{ .kind = OPT_END }
};

/* Returns the text of a file, or NULL and *err; the caller frees it. */
static char *read_sql(const char *path, struct err *err)
{
	FILE *f = input_stream(path, err);

	if (!f)
		return NULL;
	char *sql = mem_new(SQL_MAX + 1, 1);
	size_t n = fread(sql, 1, SQL_MAX, f);
	fclose(f);
	if (n == SQL_MAX || memchr(sql, 0, n)) {
		err_set(err, ERR_LIMIT, "%s: %s", path,
			n == SQL_MAX ? "more than 1 MiB of SQL"
				     : "is not SQL text");
		free(sql);
		return NULL;
	}
	return sql;
}

/* The arguments: databases and a statement, each optional. A last word that is
 * not a file, after a database or with a space, is a statement. */
struct query_args {
	int n_db; /* number of words that name databases */
	const char *sql;
	bool listing; /* of names, in place of a statement */
	bool first;   /* only of the views to begin with */
};

/* The schema is the same for every database, so none is read. */
static int query_print_schema(int argc, struct err *err)
{
	bool json = output_is_set() && !strcmp(output_chosen()->name, "json");

	if (argc || file || list_views || list_tables || list_functions ||
	    output_is_set() != json)
		return err_set(err, ERR_USAGE,
			       "--schema is asked alone, or with --json");
	query_schema(json);
	return 0;
}

static int query_run(int argc, char **argv, struct err *err)
{
	const struct open_ask ask = open_chosen();
	int status = STATUS_OK;
	struct query_args w = { 0 };
	struct path_sql *causes = NULL;
	struct interval_sql *intervals = NULL;
	char *owned OWNED = NULL;
	int ret = -1;

	if (output_check(err))
		return -1;
	if (list_schema)
		return query_print_schema(argc, err);
	int listing = list_views + list_tables + list_functions;

	if (listing > 1 || (listing && file))
		return err_set(err, ERR_USAGE,
			       "--views, --tables, --functions and a statement "
			       "are four questions; ask one at a time");
	if (listing)
		w.sql = store_sql(list_views	? "list_views"
				  : list_tables ? "list_tables"
						: "list_functions");
	else if (argc && strchr(argv[argc - 1], ' ') &&
		 access(argv[argc - 1], F_OK))
		w.sql = argv[--argc];
	else if (argc > 1 && !file && access(argv[argc - 1], F_OK))
		w.sql = argv[--argc];
	w.n_db = argc;
	if (file && w.sql && !listing)
		return err_set(err, ERR_USAGE,
			       "one statement, please: --file or an argument");
	w.first = !w.sql && !file;
	w.listing = listing || w.first;
	if (w.first)
		w.sql = store_sql("list_first");
	const char *path = input_path(&ask, w.n_db, argv, err);
	if (!path)
		return -1;
	if (!w.sql) {
		owned = read_sql(file, err);
		if (!owned)
			return -1;
	}
	struct store *db = database_open(&ask, path, &status, err);
	if (db && !store_functions(db, demangle_name, err))
		causes = path_sql_new(db, path, err);
	if (causes)
		intervals = interval_sql_new(db, path, err);
	if (!intervals)
		;
	else if (w.listing && !output_is_set()) {
		/* Prints names in bold with their columns, wrapped to the
		 * screen. pad: cells that each name takes at least. */
		size_t pad = w.first ? FIRST_CELLS : 0;
		int width = term_is_terminal(stdout) ? term_columns(stdout)
						     : INT_MAX;
		struct rows *r = rows_open(db, w.sql, NULL, 0, err);

		while (rows_step(r)) {
			const char *name = rows_text(r, LIST_VIEWS_VIEW);
			const char *columns = rows_text(r, LIST_VIEWS_COLUMNS);
			char clean[8192];

			safe_text_clean_buf(clean, sizeof(clean), columns,
					    strlen(columns), NULL);
			fputs(term_on(stdout, STYLE_BOLD), stdout);
			safe_text_put(stdout, name, 0, 0);
			size_t cells = safe_text_cells(name);
			int gap = cells < pad ? (int)(pad - cells) : 0;

			fprintf(stdout, "%s: %*s", term_off(stdout), gap, "");
			term_wrap(stdout, clean, (int)cells + gap + 2, 4,
				  width);
		}
		ret = rows_end(r, err);
	} else {
		const char *sql = owned ? owned : w.sql;
		const struct output *o = output_chosen();
		ret = -1;

		signals_query(db);
		struct rows *r = rows_open(db, sql, NULL, 0, err);
		if (r)
			ret = output_write(o, stdout, r, err);
		else
			query_error(db, sql, err);
		rows_close(r);
		signals_query(NULL);
	}
	path_sql_free(causes);
	interval_sql_free(intervals);
	store_close(db);
	if (!ret && w.first && !output_is_set())
		printf("\nThese are views; 'backstitch query DB \"SELECT * FROM "
		       "samples LIMIT 9\"' asks one.\n"
		       "--views and --tables list all with their columns; "
		       "backstitch-sql(7) has queries.\n");
	return ret ? -1 : status;
}

static const char *const examples[] = {
	"backstitch query perf.db \"SELECT * FROM verdicts\"",
	"backstitch query --views perf.db",
	"backstitch query --format csv perf.db \"SELECT comm, pid FROM samples\"",
	NULL
};

const struct command cmd_query = {
	.name = "query",
	.args = "[options] [DB] [SQL]",
	.summary = "run SQL on a database",
	.examples = examples,
	.opts = opts,
	.common = "file format json views tables schema functions input symfs",
	.pages = true,
	.run = query_run,
};
