/* ingest_opts.h - the options that say what is read, and how: tables for
 * OPT_GROUP(), and what was given of them. */
#pragma once
#include "cli/args/command.h"
#include "cli/open/input.h"

/* --symfs: for commands that read programs but name nothing. */
extern const struct opt name_place_opts[];
/* --symfs --kallsyms --vmlinux --debug-dir --debuginfod --no-demangle ... */
extern const struct opt name_opts[];
/* --clock-offset --sched-clock-offset --separate */
extern const struct opt align_opts[];
/* How captures are read, and --fields, for ingest; script has a --fields of its
 * own. */
extern const struct opt load_opts[];
/* --from --to --since --last: which of several databases are read. */
extern const struct opt database_set_opts[];
/* -i and the options of ingest, for commands that may ingest. */
extern const struct opt ingest_opts[];
/* --password-file, --ca-file, --timeout */
extern const struct opt clickhouse_opts[];
/* --where, and how to reach a server: for commands that may be given one. */
extern const struct opt server_opts[];

/* Returns what was given of all of them, which lives until the program ends. */
struct open_ask open_asked(void);
