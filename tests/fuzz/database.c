/* database.c - libFuzzer target: a database that somebody gave us, read by
 * every command that reads one.
 *
 * The first byte chooses the command and one of two sound databases, of samples
 * or of a schedule; then comes a list of changes to it, 12 bytes each: table,
 * column, row, the kind of a value and the value, or a place in the file and
 * what it is changed to. What a database holds is never trusted: it is refused
 * or answered from. */
#include <sqlite3.h>

#include "cli/page/page.h"
#include "analyze/samples/filter.h"
#include "cli/path/path.h"
#include "stitch/base/err.h"
#include "symbolize/names/demangle.h"
#include "tests/fuzz_file.h"
#include "tests/fuzz_sqlite.h"
#include "tests/pipeline.h"

#define CHANGES_MAX 64
#define COLUMNS_MAX 400
#define ANSWERS 4    /* of path */
#define IN_FILE 0xf0 /* kinds from here up are places in the file */

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static char path[96];
static int sound_fd = -1; /* of the file at path */

struct column {
	char table[64], name[64];
};

/* A database that is changed. */
struct sound {
	char seed[40];
	unsigned char *data;
	size_t len;
	struct column column[COLUMNS_MAX];
	int n_column;
};
static struct sound sounds[] = {
	{ .seed = "tests/fuzz/perf.seeds/defer" },
	{ .seed = "tests/fuzz/ftext.seeds/schedule" },
};

static void list_columns(struct sound *s, sqlite3 *db)
{
	sqlite3_stmt *st = NULL;

	if (sqlite3_prepare_v2(db,
			       "SELECT t.name, c.name FROM sqlite_master t,"
			       " pragma_table_info(t.name) c"
			       " WHERE t.type = 'table'",
			       -1, &st, NULL))
		pipeline_die(sqlite3_errmsg(db));
	while (s->n_column < COLUMNS_MAX && sqlite3_step(st) == SQLITE_ROW) {
		struct column *c = &s->column[s->n_column++];

		snprintf(c->table, sizeof(c->table), "%s",
			 (const char *)sqlite3_column_text(st, 0));
		snprintf(c->name, sizeof(c->name), "%s",
			 (const char *)sqlite3_column_text(st, 1));
	}
	sqlite3_finalize(st);
}

static void read_sound(struct sound *s)
{
	struct pipeline p = pipeline_load_path(s->seed, path);
	sqlite3 *db = NULL;
	FILE *f;

	if (p.ret)
		pipeline_die(p.err.msg);
	if (sqlite3_open(path, &db))
		pipeline_die("cannot open the database");
	list_columns(s, db);
	sqlite3_close(db);
	f = fopen(path, "rb");
	if (!f || fseek(f, 0, SEEK_END) || ftell(f) <= 0)
		pipeline_die("no database to change");
	s->len = (size_t)ftell(f);
	s->data = malloc(s->len);
	rewind(f);
	if (!s->data || fread(s->data, 1, s->len, f) != s->len)
		pipeline_die("cannot read the database");
	fclose(f);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char dir[64];

	(void)argc;
	(void)argv;
	fuzz_file_folder(dir, sizeof(dir));
	snprintf(path, sizeof(path), "%s/db", dir);
	fuzz_sqlite_start();
	pipeline_start();
	read_sound(&sounds[0]);
	read_sound(&sounds[1]);
	sound_fd = open(path, O_RDWR | O_CLOEXEC);
	return 0;
}

static void fuzz_database_bind(sqlite3_stmt *st, const uint8_t *op)
{
	static const char *const text[] = { "",	      "\x1b[31m;<&\"'\n",
					    "%s%n",   "\xff\xfe",
					    "\u202e", "a;b" };
	int64_t v;

	memcpy(&v, op + 4, sizeof(v));
	switch (op[3] % 6) {
	case 0:
		sqlite3_bind_null(st, 1);
		break;
	case 1:
		sqlite3_bind_int64(st, 1, v);
		break;
	case 2:
		sqlite3_bind_int64(st, 1, v % 300);
		break;
	case 3:
		sqlite3_bind_text(st, 1, text[(uint64_t)v % 6], -1,
				  SQLITE_STATIC);
		break;
	case 4:
		sqlite3_bind_blob(st, 1, op + 4, 8, SQLITE_TRANSIENT);
		break;
	default:
		sqlite3_bind_double(st, 1, (double)v * 1.5e300);
		break;
	}
}

static void change(const struct sound *s, sqlite3 *db, const uint8_t *op)
{
	const struct column *c = &s->column[(op[0] | op[1] << 8) % s->n_column];
	sqlite3_stmt *st = NULL;
	char *sql =
		sqlite3_mprintf("UPDATE OR IGNORE \"%w\" SET \"%w\" = ?1"
				" WHERE \"%w\" IS (SELECT \"%w\" FROM"
				" \"%w\" LIMIT 1 OFFSET ?2)",
				c->table, c->name, c->name, c->name, c->table);

	if (!sqlite3_prepare_v2(db, sql, -1, &st, NULL)) {
		fuzz_database_bind(st, op);
		sqlite3_bind_int(st, 2, op[2] % 32);
		sqlite3_step(st);
	}
	sqlite3_finalize(st);
	sqlite3_free(sql);
}

static void change_file(const struct sound *s, const uint8_t *op)
{
	uint32_t at;

	memcpy(&at, op + 4, sizeof(at));
	if (pwrite(sound_fd, op + 8, 1 + op[2] % 4, at % s->len) <= 0)
		pipeline_die("cannot change the database");
}

static void make_lies(const struct sound *s, const uint8_t *data, size_t size)
{
	size_t n = size / 12 < CHANGES_MAX ? size / 12 : CHANGES_MAX;
	sqlite3 *db = NULL;

	fuzz_file_put(sound_fd, s->data, s->len);
	if (sqlite3_open(path, &db))
		pipeline_die("cannot open the database");
	/* only tables are changed: no view is loaded */
	fuzz_sqlite_asked[0] = "";
	fuzz_sqlite_chosen = db;
	sqlite3_exec(db, "PRAGMA journal_mode=OFF; BEGIN", NULL, NULL, NULL);
	for (size_t i = 0; i < n; i++)
		if (data[12 * i + 3] < IN_FILE)
			change(s, db, data + 12 * i);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	fuzz_sqlite_chosen = NULL;
	for (size_t i = 0; i < n; i++)
		if (data[12 * i + 3] >= IN_FILE)
			change_file(s, data + 12 * i);
}

static void addrs(struct store *db)
{
	struct rows *r = rows_open(db, "SELECT addrs FROM raw_chain LIMIT 100",
				   NULL, 0, NULL);
	uint64_t ip[64];

	while (r && rows_next(r, NULL) > 0) {
		struct value v = rows_value(r, 0);

		if (store_addrs(v.text, v.len, ip, 64) > 64)
			pipeline_die("more addresses than asked for");
	}
	rows_close(r);
}

/* Our SQL functions, which walk what the tables say. */
static void functions(struct store *db, struct err *err)
{
	static const char *const sql[] = {
		"SELECT stack_text(id), folded(id, id) FROM stack",
		"SELECT folded(kernel, user) FROM sample_group",
		"SELECT frame_name(id), frame_name(image) FROM frame",
		"SELECT demangle(name), hex(name), wall(start) FROM symbol",
		"SELECT * FROM flame",
		"SELECT * FROM flame(NULL, NULL, NULL, NULL, 0)",
		"SELECT e.id, line FROM event e, at(e.time_ns) LIMIT 500",
		NULL,
	};

	if (store_functions(db, demangle_name, err))
		return;
	for (size_t i = 0; sql[i]; i++)
		pipeline_all(db, sql[i], err);
}

/* Not through the command: its options would stay set for the tables. */
static void page(struct store *db)
{
	struct err err = { 0 };
	const struct page_opts what = { .filter = &filter_none,
					.inlined = true };
	struct html_page *p = html_page_new(db, path, &what, &err);
	FILE *out = fopen("/dev/null", "w");

	if (!out)
		pipeline_die("no /dev/null");
	if ((!p || html_page_write(out, p, &err)) && !err.msg[0])
		pipeline_die("no page, without a message");
	html_page_free(p);
	fclose(out);
}

/* Not through the command either. */
static void why(struct store *db, unsigned int answer)
{
	struct err err = { 0 };
	const struct path_opts o = {
		.ask.tid = -1,
		.limit = 20,
		.fail = -1,
		.waits = answer == 0,
		.worst = answer == 1 ? 3 : 0,
		.tree = answer == 2,
		.blame = answer == 3,
		.ask.comm = answer == 3 ? "t5" : NULL,
	};

	if (path_print(db, path, &o, &err) < 0 && !err.msg[0])
		pipeline_die("no reason, without a message");
}

/* Asks for some views, and what no command asks for. */
static void views(unsigned int which)
{
	size_t n = sizeof(pipeline_reads) / sizeof(*pipeline_reads) - 1;
	struct err err = { 0 };
	struct store *db = store_open(path, &err);

	if (!db) {
		if (!err.msg[0])
			pipeline_die("refused without a message");
		return;
	}
	addrs(db);
	if (which == 0)
		functions(db, &err);
	else if (which == 1)
		page(db);
	else if (which < 2 + ANSWERS)
		why(db, which - 2);
	else
		pipeline_all(db, pipeline_reads[which % n], &err);
	store_close(db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t n =
		sizeof(pipeline_reads_all) / sizeof(*pipeline_reads_all) - 1;
	struct err err = { 0 };

	if (!size)
		return 0;
	unsigned int which = *data < 2 * n ? 0 : *data - 2 * (unsigned int)n;

	make_lies(&sounds[which ? which > 1 && which < 2 + ANSWERS : *data & 1],
		  data + 1, size - 1);
	if (*data >= 2 * n)
		views(which);
	else if (pipeline_read_all(*data / 2, path, &err) < 0 && !err.msg[0])
		pipeline_die("failed without a message");
	return 0;
}
