/* pipeline.h - bytes through the whole program, inside a test.
 *
 * Order: pipeline_start once, then pipeline_load with bytes (or pipeline_pipe
 * for the same through standard input), pipeline_ask on what it gave, and
 * store_close. pipeline_run runs a command on a file. What goes to standard
 * output is thrown away. */
#pragma once
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/args/options.h"
#include "cli/commands/option_groups.h"
#include "schema/store.h"
#include "stitch/base/err.h"

struct pipeline {
	int ret;
	bool damaged;
	struct store *db; /* NULL when ret is -1, or it went to a file */
	struct err err;
};

static inline void pipeline_die(const char *what)
{
	fprintf(stderr, "%s\n", what);
	abort();
}

/* Names are looked for on no machine but in what the test ships. */
static inline void pipeline_start(void)
{
	char no[] = "--no-symbols";
	char *argv[] = { no };
	const struct command c = { .opts = load_opts };
	struct err err;

	signal(SIGPIPE, SIG_IGN); /* as the program does */
	if (options_parse(&c, 1, argv, &err) != 0 ||
	    !freopen("/dev/null", "w", stdout))
		pipeline_die("cannot start");
}

static inline int pipeline_file(const void *data, size_t n)
{
	int fd = memfd_create("pipeline", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, n) != (ssize_t)n || lseek(fd, 0, 0))
		pipeline_die("cannot make a file in memory");
	return fd;
}

static inline struct pipeline pipeline_load_path(char *path, const char *out)
{
	struct load_ask ask = open_chosen().load;
	struct pipeline p = { 0 };

	ask.out = out;
	ask.force = true;
	p.ret = load_captures(&path, 1, &ask, &p.db, &p.damaged, &p.err);
	return p;
}

/* out NULL: into a database without a name. */
static inline struct pipeline pipeline_load(const void *data, size_t n,
					    const char *out)
{
	int fd = pipeline_file(data, n);
	char path[64];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct pipeline p = pipeline_load_path(path, out);

	close(fd);
	return p;
}

struct pipeline_feed {
	const unsigned char *data;
	size_t n;
	int fd;
};

static inline void *pipeline_write(void *arg)
{
	struct pipeline_feed *f = arg;

	while (f->n) {
		ssize_t got = write(f->fd, f->data, f->n);

		if (got <= 0)
			break;
		f->data += got;
		f->n -= (size_t)got;
	}
	close(f->fd);
	return NULL;
}

/* The same bytes through a pipe on standard input. */
static inline struct pipeline pipeline_pipe(const void *data, size_t n)
{
	struct pipeline_feed f = { data, n, -1 };
	int old = dup(0);
	pthread_t t;
	int fd[2];

	if (pipe2(fd, O_CLOEXEC) || dup2(fd[0], 0) != 0)
		pipeline_die("cannot make a pipe");
	close(fd[0]);
	f.fd = fd[1];
	if (pthread_create(&t, NULL, pipeline_write, &f))
		pipeline_die("cannot start a thread");
	struct pipeline p = pipeline_load_path((char[]){ "-" }, NULL);

	/* who gave up early must not leave the writer waiting */
	if (old >= 0)
		dup2(old, 0);
	close(old >= 0 ? old : 0);
	pthread_join(t, NULL);
	return p;
}

/* A statement that must give 0 rows, or one row that says 0. */
static inline int pipeline_zero(struct store *db, const char *sql,
				struct err *err)
{
	struct rows *r = rows_open(db, sql, NULL, 0, err);
	int got = r ? rows_next(r, err) : -1;
	int64_t n = got > 0 ? rows_int(r, 0) : 0;

	rows_close(r);
	if (got < 0)
		return -1;
	return n ? err_set(err, ERR_DB, "%lld of: %s", (long long)n, sql) : 0;
}

/* Reads all rows: 0, or -1 and *err. */
static inline int pipeline_all(struct store *db, const char *sql,
			       struct err *err)
{
	struct rows *r = rows_open(db, sql, NULL, 0, err);
	int got = r ? 1 : -1;

	while (got > 0)
		got = rows_next(r, err);
	rows_close(r);
	return got;
}

/* What holds in every database, whatever it was made from. */
static const char *const pipeline_holds[] = {
	"SELECT (SELECT coalesce(sum(weight), 0) FROM folded)"
	" <> (SELECT coalesce(sum(weight), 0) FROM samples)",
	"SELECT (SELECT coalesce(sum(n), 0) FROM verdicts WHERE kind ="
	" 'request') <> (SELECT count(*) FROM request)",
	"SELECT (SELECT coalesce(sum(n), 0) FROM verdicts WHERE kind ="
	" 'chain') <> (SELECT count(*) FROM chain)",
	"SELECT (SELECT sum(events) FROM event_type)"
	" <> (SELECT count(*) FROM event)",
	"SELECT count(*) FROM event e LEFT JOIN comm c ON c.id = e.comm"
	" WHERE e.comm IS NOT NULL AND c.id IS NULL",
	"SELECT count(*) FROM event e LEFT JOIN thread t ON t.id = e.thread"
	" WHERE e.thread IS NOT NULL AND t.id IS NULL",
	"SELECT count(*) FROM thread t LEFT JOIN process p ON p.id = t.process"
	" WHERE p.id IS NULL",
	"SELECT count(*) FROM event e LEFT JOIN event_type t ON t.id = e.type"
	" WHERE t.id IS NULL",
	"SELECT count(*) FROM event e LEFT JOIN raw_chain k ON k.id = e.kraw"
	" LEFT JOIN raw_chain u ON u.id = e.uraw WHERE (e.kraw IS NOT NULL"
	" AND k.id IS NULL) OR (e.uraw IS NOT NULL AND u.id IS NULL)",
	"SELECT count(*) FROM raw_chain r LEFT JOIN stack s ON s.id = r.stack"
	" WHERE r.stack IS NOT NULL AND s.id IS NULL",
	"SELECT count(*) FROM stack WHERE parent >= id",
	"SELECT count(*) FROM frame f LEFT JOIN image i ON i.id = f.image"
	" WHERE i.id IS NULL",
	"SELECT count(*) FROM mapping m LEFT JOIN image i ON i.id = m.image"
	" WHERE i.id IS NULL",
	"SELECT count(*) FROM mapping WHERE t1 < t0",
	"SELECT count(*) FROM request q LEFT JOIN chain c ON c.id = q.chain"
	" WHERE q.chain IS NOT NULL AND (c.id IS NULL OR"
	" coalesce(c.cookie, 0) <> coalesce(q.cookie, 0))",
	"SELECT count(*) FROM (SELECT event FROM request GROUP BY event"
	" HAVING count(*) > 1)",
	"SELECT count(*) FROM event a JOIN event b ON b.id = a.id + 1"
	" WHERE b.time_ns < a.time_ns AND NOT EXISTS"
	" (SELECT 1 FROM ordering)",
	NULL
};

static const char *const pipeline_reads[] = {
	"SELECT * FROM samples",
	"SELECT * FROM folded",
	"SELECT * FROM verdicts",
	"SELECT * FROM hot_functions",
	"SELECT * FROM causality_errors",
	"SELECT * FROM maps",
	"SELECT * FROM unsymbolized",
	"SELECT * FROM deferral_latency",
	"SELECT * FROM trust",
	"SELECT * FROM damage",
	"SELECT * FROM full_stack WHERE event_id IN"
	" (SELECT id FROM event ORDER BY id DESC LIMIT 20)",
	NULL
};

static inline int pipeline_ask(struct store *db, struct err *err)
{
	for (size_t i = 0; pipeline_holds[i]; i++)
		if (pipeline_zero(db, pipeline_holds[i], err))
			return -1;
	for (size_t i = 0; pipeline_reads[i]; i++)
		if (pipeline_all(db, pipeline_reads[i], err))
			return err_while(err, "%s", pipeline_reads[i]);
	return 0;
}

/* Runs a command as the command line would, with these arguments. */
/* Commands with options that read every table; each takes one file more. */
static const char *const pipeline_reads_all[][8] = {
	{ "info" },
	{ "report" },
	{ "flame" },
	{ "script" },
	{ "check", "--verbose", "--limit=0", "--as-perf", "--as-tid" },
	{ "check", "--json" },
	{ "export", "--format=perf.data", "-o/dev/null" },
	{ NULL },
};

static inline int pipeline_run(const char *name, int argc, char **argv,
			       struct err *err)
{
	for (size_t i = 0; commands[i]; i++) {
		if (strcmp(commands[i]->name, name) != 0)
			continue;
		argc = options_parse(commands[i], argc, argv, err);
		return argc < 0 ? -1 : commands[i]->run(argc, argv, err);
	}
	return err_set(err, ERR_USAGE, "no command '%s'", name);
}

/* Row i of pipeline_reads_all on a database. */
static inline int pipeline_read_all(size_t i, char *path, struct err *err)
{
	const char *const *row = pipeline_reads_all[i];
	char copy[8][32];
	char *argv[9];
	int argc = 0;

	for (size_t k = 1; k < 8 && row[k]; k++) {
		snprintf(copy[k], sizeof(copy[k]), "%s", row[k]);
		argv[argc++] = copy[k];
	}
	argv[argc++] = path;
	argv[argc] = NULL;
	return pipeline_run(row[0], argc, argv, err);
}
