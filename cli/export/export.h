/* export.h - an output format for another tool: one file, one struct exporter,
 * one row in the table of commands/export.c.
 *
 * An exporter adds losses and verdicts of requests wherever the format has room
 * for them: as marked frames, labels, tags or notes. The same database and
 * options must give the same bytes. Names come from captures and may hold any
 * bytes; json_can() and safe_text.h make them printable. */
#pragma once
#include <stdbool.h>
#include <stdio.h>

#include "analyze/names/name_opts.h"

struct err;
struct filter;
struct fleet_ask;
struct inputs;
struct store;

/* The input of an exporter. */
struct export_request {
	struct store *db;
	struct inputs *inputs; /* if the exporter is `apart`; db is then NULL */
	const char *path;      /* of the database or capture, for titles */
	const struct filter *filter; /* which samples */
	struct name_opts names;	     /* of functions */
	bool inlined;		     /* with inlined functions */
	bool samples;		     /* every sample weighs 1 */
	/* for parquet only: which rows; samples in folders host=HOST/day=DAY; a
	 * table with the fields of events too */
	const struct fleet_ask *fleet;
	bool partition, fields;
};

struct exporter {
	const char *summary; /* one line of help */
	bool binary;	     /* not to be printed on a terminal */
	bool apart; /* reads several databases one by one, not as one */
	bool sums;  /* reads groups of samples, which a server can sum up */
	unsigned int detail; /* what the groups keep apart: server_detail */
	const char *refused; /* options that would change nothing; NULL: none */
	/* Writes the export. Returns 0, or -1 and *err. Stops early, with 0,
	 * once out_failed() is true. */
	int (*write)(FILE *out, const struct export_request *x,
		     struct err *err);
	/* Instead of write(): makes a folder, which does not exist. Fails with
	 * ERR_STOPPED once stop_requested() is true. */
	int (*write_folder)(const char *path, const struct export_request *x,
			    struct err *err);
};

/* All exporters, and their names in the same order; both end with NULL. */
extern const struct exporter *const exporters[];
extern const char *const exporter_names[];
