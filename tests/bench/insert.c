/* insert.c - what storing events costs: through the store, and by plain
 * single-row INSERTs of the same rows, in one run.
 * usage: insert [N [FOLDER [plain]]]	default 1500000 rows, the current
 * folder; plain: once, by plain INSERTs, to be timed from outside */
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "schema/store.h"
#include "schema/write/write.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"
#include "stitch/fact.h"

static double bench_insert_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of this thread alone: waiting for the writer is no cost of ours. */
static double worked(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void make_event(struct fact *f, uint32_t i)
{
	f->kind = FACT_EVENT;
	f->event = (struct fact_event){
		.id = i + 1,
		.time = 11392459000 + (int64_t)i * 104123,
		.cpu = (int32_t)(i & 3),
		.thread = 1 + i % 40,
		.comm = 1 + i % 60,
		.type = 0,
		.weight = 100000,
		.kraw = 1 + (uint32_t)((uint64_t)i * 7919 % 30000),
		.uraw = i % 3 ? 1 + (uint32_t)((uint64_t)i * 104729 % 50000)
			      : 0,
	};
}

static int bench_insert_failed(const struct err *err)
{
	fprintf(stderr, "insert: %s\n", err->msg);
	return 1;
}

/* Gives the seconds in all; *main_ns: per fact, what the caller worked. */
static double by_store(const char *path, uint32_t n, double *main_ns,
		       struct err *err)
{
	static const struct source_ops ops = { .name = "bench" };
	struct event_def event = { .name = "cpu-clock", .has_time = true };
	struct source src = {
		.ops = &ops,
		.path = (char *)"bench",
		.events = &event,
		.n_events = 1,
	};
	struct store_opts o = { .force = true };
	struct frames *fr = frames_new();
	struct ledger *lg = ledger_new();
	struct fact f;
	double t = bench_insert_now();
	struct store *db = store_create(path, &o, fr, err);
	int rc = db ? store_capture(db, &src, err) : -1;
	double t1 = worked();

	for (uint32_t i = 0; !rc && i < n; i++) {
		make_event(&f, i);
		rc = store_fact(db, &f, err);
	}
	*main_ns = (worked() - t1) / n * 1e9;
	if (!rc)
		rc = store_finish(db, lg, err);
	store_close(db);
	t = bench_insert_now() - t;
	ledger_free(lg);
	frames_free(fr);
	return rc ? -1 : t;
}

static void bench_insert_bind(sqlite3_stmt *st, int i, int64_t v)
{
	if (v)
		sqlite3_bind_int64(st, i, v);
	else
		sqlite3_bind_null(st, i);
}

static void plain_row(sqlite3_stmt *st, uint32_t i)
{
	struct fact f;

	make_event(&f, i);
	sqlite3_bind_int64(st, 1, f.event.id);
	sqlite3_bind_int64(st, 2, f.event.time);
	sqlite3_bind_int64(st, 3, f.event.cpu);
	bench_insert_bind(st, 4, f.event.thread);
	bench_insert_bind(st, 5, f.event.comm);
	sqlite3_bind_int64(st, 6, 1);
	bench_insert_bind(st, 7, (int64_t)f.event.weight);
	bench_insert_bind(st, 8, f.event.kraw);
	bench_insert_bind(st, 9, f.event.uraw);
	sqlite3_step(st);
	sqlite3_reset(st);
}

static double by_plain(const char *path, uint32_t n, struct err *err)
{
	sqlite3 *db = NULL;
	sqlite3_stmt *st = NULL;
	double t = bench_insert_now();

	unlink(path);
	if (sqlite3_open(path, &db) ||
	    sqlite3_exec(db,
			 "PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
			 "CREATE TABLE event(id INTEGER PRIMARY KEY, time_ns,"
			 "cpu, thread, comm, type, weight, kraw, uraw); BEGIN",
			 NULL, NULL, NULL) ||
	    sqlite3_prepare_v2(db,
			       "INSERT INTO event VALUES(?,?,?,?,?,?,?,?,?)",
			       -1, &st, NULL)) {
		err_set(err, ERR_DB, "%s: %s", path, sqlite3_errmsg(db));
		sqlite3_close(db);
		return -1;
	}
	for (uint32_t i = 0; i < n; i++)
		plain_row(st, i);
	sqlite3_finalize(st);
	sqlite3_exec(db, "COMMIT", NULL, NULL, NULL);
	sqlite3_close(db);
	return bench_insert_now() - t;
}

static double size_of(const char *path)
{
	struct stat st;

	return stat(path, &st) ? 0 : (double)st.st_size;
}

int main(int argc, char **argv)
{
	uint32_t n = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 1500000;
	const char *dir = argc > 2 ? argv[2] : ".";
	char path[4096];
	struct err err = { 0 };
	double best[2] = { 1e9, 1e9 };
	double main_ns = 1e9;

	snprintf(path, sizeof(path), "%s/insert.%ld.db", dir, (long)getpid());
	if (argc > 3) {
		bool good = by_plain(path, n, &err) >= 0;

		unlink(path);
		return good ? 0 : bench_insert_failed(&err);
	}
	for (int round = 0; round < 3; round++) {
		double ns;
		double t = by_store(path, n, &ns, &err);

		if (t < 0)
			return bench_insert_failed(&err);
		best[0] = t < best[0] ? t : best[0];
		main_ns = ns < main_ns ? ns : main_ns;
		double bytes = size_of(path);

		t = by_plain(path, n, &err);
		if (t < 0)
			return bench_insert_failed(&err);
		best[1] = t < best[1] ? t : best[1];
		if (!round)
			printf("bytes per row: store %.1f, plain %.1f\n",
			       bytes / n, size_of(path) / n);
	}
	unlink(path);
	printf("store: %.2f M rows/s (%.3f s), caller %.0f ns a row\n",
	       n / best[0] / 1e6, best[0], main_ns);
	printf("plain: %.2f M rows/s (%.3f s)\n", n / best[1] / 1e6, best[1]);
	printf("store/plain time: %.2f\n", best[0] / best[1]);
	return 0;
}
