/* option_groups.h - the groups of options that several commands take, and the
 * values that were given. Commands pass these on as arguments. */
#pragma once
#include <stdbool.h>
#include <stddef.h>

#include "analyze/fleet/fleet.h"
#include "analyze/names/matching.h"
#include "analyze/names/name_opts.h"
#include "analyze/samples/filter.h"
#include "cli/args/command.h"
#include "cli/open/input.h"
#include "cli/output/output.h"
#include "cli/tables/diff_limit.h"

struct report_opts;

/* The values of filter_opts[], filter_expr_opts[] and --state. */
extern struct filter filter;
/* --time -C --pid --tid --comm --cgroup --event: for OPT_GROUP */
extern const struct opt filter_opts[];
/* --filter, for commands that read samples by stacks_load() */
extern const struct opt filter_expr_opts[];

/* --by, for OPT_GROUP. by_given() returns whether it was given, by_samples()
 * whether each sample weighs 1, by_wall() whether --by wall was given. */
extern const struct opt by_opts[];
extern const struct opt by_wall_opts[]; /* the same, with wall */
bool by_given(void);
bool by_samples(void);
bool by_wall(void);

/* --off-cpu, and --wall --state: for OPT_GROUP; --state is in filter.state */
struct offcpu_opts {
	bool on;
	bool wall; /* waits with samples, see analyze/waits/wall.h */
};
extern struct offcpu_opts offcpu_opts;
extern const struct opt offcpu_opt_table[], wall_opt_table[];
/* Returns 0, or -1 and *err if --state is wrong or options exclude each other.
 */
int offcpu_check(struct err *err);

/* --wall-clock */
extern bool wall_clock_given; /* was it given? */
extern const struct opt wall_clock_opts[];
/* Notes on standard error that the times of a database are ticks of a clock, so
 * that its durations are none. Returns 0, or -1 and *err. */
int ticks_note(struct store *db, const char *path, struct err *err);
/* With --wall-clock, sets *wall to offset, and *offset to the ns that are added
 * to printed times; else *wall to NULL. Returns 0, or -1 and *err if the
 * database does not know the time of the day. */
int wall_clock_take(struct store *db, const char *path, int64_t *offset,
		    const int64_t **wall, struct err *err);

/* The values of the options in the four tables below. */
extern struct name_opts chosen_names;
/* --full-names; --fold-library --library; --fold-suffixes; --interpreter: for
 * OPT_GROUP */
extern const struct opt full_names_opts[], library_opts[], suffix_opts[],
	interpreter_opts[];

/* --source-dir, and its values. */
extern struct opt_list source_dirs;
extern const struct opt source_opts[];

/* --match; --fail-above --function: for OPT_GROUP */
extern const struct opt matching_opts[], diff_limit_opts[];
/* The values of --fail-above --function. */
extern struct diff_limit diff_limit;

/* Returns the values of --match and --full-names, borrowed. */
struct match_opts match_opts(void);
/* Checks that --match and --fail-above are given with a comparison only, and
 * parses the latter. Returns 0, or -1 and *err. */
int diff_opts_check(bool diff, struct err *err);

/* --format --json --spreadsheet: for OPT_GROUP(). */
extern const struct opt output_opts[];
/* Returns whether the user chose an output. */
bool output_is_set(void);
/* Returns 0, or -1 and *err if the user chose two. */
int output_check(struct err *err);
/* Returns the output that the user chose, else that for a table. */
const struct output *output_chosen(void);

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
/* --where, and how to reach a server: for commands that can read one. */
extern const struct opt server_opts[];

/* Returns the values of all these options, valid until the program ends. */
struct open_ask open_chosen(void);

/* --label and --weighted: for OPT_GROUP(). */
extern const struct opt fleet_opts[];
/* Sets *out by these options and the filter. Returns 0, or -1 and *err if one
 * is malformed. */
int fleet_opts_read(struct fleet_ask *out, struct err *err);

/* How functions are named, and whether inlined functions have rows. */
extern const struct opt report_names_opts[];

/* Sets o->keys to those that --sort names (NULL: sym,dso), and o->field.
 * Returns 0, or -1 and *err. */
int report_take_keys(struct report_opts *o, const char *sort, struct err *err);
/* Returns the most rows by --limit; NUMBER_UNSET: a table on a terminal fills
 * one screen. */
size_t report_limit(long limit, const char *format);
/* Returns the bits of enum server_detail by which a server must group
 * samples. */
unsigned int report_detail(unsigned int keys);
/* Sets o->inlined and KEY_INLINED by --inline, --no-inline and --fold-library.
 * Returns 0, or -1 and *err if they exclude each other. */
int report_take_inlined(struct report_opts *o, struct err *err);
bool report_inline_chosen(void); /* is --inline given? */
