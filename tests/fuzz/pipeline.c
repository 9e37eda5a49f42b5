/* pipeline.c - libFuzzer target: any bytes as a capture, through the whole
 * program: read, order, join, store, and the views over what came out.
 *
 * Every input ends with an error of its own or with a database that adds up;
 * anything else is a crash to be found. To be fast, an input asks only some of
 * the questions about its database, which its bytes choose, and few of those
 * that are no capture get as far as a database. */
#include "formats/formats.h"
#include "stitch/base/ledger.h"
#include "stitch/base/table.h"
#include "stitch/source.h"
#include "tests/fuzz_file.h"
#include "tests/fuzz_sqlite.h"
#include "tests/pipeline.h"

/* A few hundred bytes of zstd can unpack to gigabytes, and a small number may
 * stand for a million forks: enough is enough. */
#define RECORDS_MAX 20000

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	fuzz_sqlite_start();
	fuzz_sqlite_make_tables();
	pipeline_start();
	return 0;
}

/* Returns how many records a capture has: RECORDS_MAX for more. */
static int count_records(const char *path)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct ref ref;
	int n = 0;

	struct source *src = formats_open(path, NULL, lg, &err);

	if (src && !src->ops->scan(src, &err))
		while (n < RECORDS_MAX && src->ops->next(src, &ref, &err) > 0) {
			if (src->ops->release)
				src->ops->release(src, &ref);
			n++;
		}
	source_close(src);
	ledger_free(lg);
	return n;
}

/* How many questions an input asks of each kind. */
#define HOLDS 3

/* Chooses the questions: those that must give 0, then one that is read. */
static void fuzz_pipeline_choose(uint64_t choice)
{
	size_t holds = sizeof(pipeline_holds) / sizeof(*pipeline_holds) - 1;
	size_t reads = sizeof(pipeline_reads) / sizeof(*pipeline_reads) - 1;

	for (size_t i = 0; i < HOLDS; i++)
		fuzz_sqlite_asked[i] = pipeline_holds[(choice + i) % holds];
	fuzz_sqlite_asked[HOLDS] = pipeline_reads[choice / holds % reads];
}

static int fuzz_pipeline_some(struct store *db, struct err *err)
{
	const char *sql = fuzz_sqlite_asked[HOLDS];

	for (size_t i = 0; i < HOLDS; i++)
		if (pipeline_zero(db, fuzz_sqlite_asked[i], err))
			return -1;
	return pipeline_all(db, sql, err) ? err_while(err, "%s", sql) : 0;
}

static void fuzz_pipeline_ask(struct pipeline *p, const char *what)
{
	struct err err = { 0 };

	if (p->ret && !p->err.msg[0])
		pipeline_die("failed without a message");
	if (p->ret && p->err.code != ERR_FORMAT && p->err.code != ERR_LIMIT)
		pipeline_die(p->err.msg);
	if (p->db && fuzz_pipeline_some(p->db, &err)) {
		fprintf(stderr, "%s: ", what);
		pipeline_die(err.msg);
	}
	store_close(p->db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *path = (char *)fuzz_file(data, size);
	uint64_t choice = hash_content(data, size, 0);
	int n = count_records(path);

	if (n == RECORDS_MAX || (!n && choice % 16))
		return 0;
	fuzz_pipeline_choose(choice / 16);
	if (choice % 8 || size < 16) {
		struct pipeline p = pipeline_load_path(path, NULL);

		fuzz_pipeline_ask(&p, "file");
	} else {
		struct pipeline p = pipeline_pipe(data, size);

		fuzz_pipeline_ask(&p, "pipe");
	}
	return 0;
}
