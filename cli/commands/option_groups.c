/* option_groups.c - the groups of options that several commands take. */
#include "cli/commands/option_groups.h"

#include "analyze/names/library.h"
#include "analyze/samples/weight.h"
#include "analyze/stacks/interpreter.h"
#include "analyze/stacks/report_rows.h"
#include "cli/output/say.h"
#include "cli/output/term.h"
#include "cli/server/server.h"
#include "cli/tables/report.h"
#include "cli/version.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/task_state.h"
#include "stitch/text/parse_number.h"

struct filter filter;

static const struct opt each_filter[] = {
	OPT_STRING(0, "time", "FROM,TO", &filter.time,
		   "only this time: seconds, as 'script' has them (12.5,13), a "
		   "share (10%-20%), or '2026-11-28 03:12:04.5+1s'"),
	OPT_STRING('C', "cpu", "LIST", &filter.cpu, "only these CPUs: 0,2-4"),
	OPT_STRING(0, "pid", "LIST", &filter.pid, "only these processes"),
	OPT_STRING(0, "tid", "LIST", &filter.tid, "only these threads"),
	OPT_STRING(0, "comm", "LIST", &filter.comm,
		   "only threads with these names; * and ? are wild"),
	OPT_STRING(0, "cgroup", "LIST", &filter.cgroup,
		   "only samples in these cgroups, of perf record "
		   "--all-cgroups: '/web*'; * and ? are wild"),
	OPT_STRING(0, "event", "LIST", &filter.event,
		   "only these events; * and ? are wild"),
	{ .kind = OPT_END }
};

const struct opt filter_opts[] = {
	OPT_HEADING("Which samples"),
	OPT_GROUP_SENTENCE(each_filter,
			   "--time, --cpu, --pid, --tid, --comm, --cgroup, "
			   "--event: see 'backstitch help options'"),
	{ .kind = OPT_END }
};

const struct opt filter_expr_opts[] = {
	OPT_STRING(0, "filter", "EXPR", &filter.expr,
		   "only samples for which an SQL expression is true: "
		   "--filter 'bytes_req > 4096'"),
	{ .kind = OPT_END }
};

static const char *by;
static const char *const by_words[] = { "weight", "samples", NULL };
static const char *const by_wall_words[] = { "weight", "samples", "wall",
					     NULL };

const struct opt by_opts[] = { OPT_CHOICE(0, "by", "WHAT", &by, by_words,
					  "count weight or samples (weight)"),
			       { .kind = OPT_END } };

const struct opt by_wall_opts[] = {
	OPT_CHOICE(0, "by", "WHAT", &by, by_wall_words,
		   "count weight, samples, or wall: each weight divided by how "
		   "many threads ran (weight)"),
	{ .kind = OPT_END }
};

bool by_given(void)
{
	return by;
}

bool by_samples(void)
{
	return by && !strcmp(by, "samples");
}

bool by_wall(void)
{
	return by && !strcmp(by, "wall");
}

struct offcpu_opts offcpu_opts;

const struct opt offcpu_opt_table[] = {
	OPT_HEADING("What to count"),
	OPT_FLAG(0, "off-cpu", &offcpu_opts.on,
		 "the time that threads were off the CPU, by switches"),
	{ .kind = OPT_END }
};

const struct opt wall_opt_table[] = {
	OPT_FLAG(0, "wall", &offcpu_opts.wall,
		 "time on and off the CPU in one: samples of a clock, and the "
		 "waits"),
	OPT_STRING(0, "state", "LIST", &filter.state,
		   "with --off-cpu, --wall: only waits that began in these "
		   "states: S, D, R "
		   "(ready), R+ (preempted), ..."),
	{ .kind = OPT_END }
};

bool wall_clock_given;

const struct opt wall_clock_opts[] = {
	OPT_FLAG(0, "wall-clock", &wall_clock_given,
		 "print times of the day in UTC, as --time takes them, if the "
		 "capture has them"),
	{ .kind = OPT_END }
};

int ticks_note(struct store *db, const char *path, struct err *err)
{
	struct rows *r = rows_of(db, "info_ticks", err);

	if (rows_step(r))
		say_note("%s: times are ticks of the clock '%s', not ns: "
			 "'1 us' is 1,000 of them\n",
			 path, rows_text(r, INFO_TICKS_CLOCK));
	return rows_end(r, err);
}

int wall_clock_take(struct store *db, const char *path, int64_t *offset,
		    const int64_t **wall, struct err *err)
{
	int known = wall_clock_given ? filter_wall_offset(db, offset, err) : 1;

	*wall = wall_clock_given ? offset : NULL;
	if (known)
		return known > 0 ? 0 : -1;
	return err_set(err, ERR_FORMAT,
		       "%s: does not say the time on the wall; perf record -k "
		       "mono notes it, and LTTng always does; captures of "
		       "several boots have none together",
		       path);
}

int offcpu_check(struct err *err)
{
	if (offcpu_opts.on && offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--wall has the waits of --off-cpu and the "
			       "samples; choose one");
	if (filter.state && !offcpu_opts.on && !offcpu_opts.wall)
		return err_set(err, ERR_USAGE,
			       "--state needs --off-cpu or --wall");
	if ((offcpu_opts.on || offcpu_opts.wall) && filter.event)
		return err_set(err, ERR_USAGE,
			       "--%s reads the events of the scheduler; "
			       "leave out --event",
			       offcpu_opts.on ? "off-cpu" : "wall");
	for (const char *p = filter.state; p && *p;) {
		size_t n = strcspn(p, ",");
		bool known = n == 1 && *p == '?';

		for (size_t i = 0; task_state(i); i++)
			known |= n == strlen(task_state(i)->name) &&
				 !strncmp(p, task_state(i)->name, n);
		if (!known)
			return err_set(err, ERR_USAGE,
				       "--state knows S, D, R, R+, T, t, X, Z, "
				       "P, I and ?, not '%.*s'",
				       (int)n, p);
		p += n + (p[n] == ',');
	}
	return 0;
}

struct name_opts chosen_names;

const struct opt full_names_opts[] = {
	OPT_FLAG(0, "full-names", &chosen_names.full,
		 "names with parameters and all template arguments"),
	{ .kind = OPT_END }
};

const struct opt library_opts[] = {
	OPT_FLAG(0, "fold-library", &chosen_names.fold_library,
		 "inlined library code counts for its caller"),
	OPT_STRING(0, "library", "REGEX", &chosen_names.library,
		   "the same, and what REGEX matches is library"),
	{ .kind = OPT_END }
};

const struct opt suffix_opts[] = {
	OPT_FLAG(0, "fold-suffixes", &chosen_names.fold_suffixes,
		 "names without .isra.0, .cold, hashes and the like"),
	{ .kind = OPT_END }
};

const struct opt interpreter_opts[] = {
	OPT_CHOICE(0, "interpreter", "HOW", &chosen_names.interpreter,
		   interpreter_words,
		   "frames of an interpreter's own (CPython, Node, Perl, Ruby, "
		   "Lua, JVM): keep (default), mark, or collapse into one, or "
		   "none where the frames of the program are in the stack"),
	{ .kind = OPT_END }
};

struct opt_list source_dirs;

const struct opt source_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_LIST(0, "source-dir", "DIR", &source_dirs,
		 "look for source files below DIR too, by the end of their "
		 "path; may be given several times"),
	{ .kind = OPT_END }
};

static struct opt_list match;

const struct opt matching_opts[] = {
	OPT_LIST(0, "match", "OLD=NEW", &match,
		 "of a comparison: the image OLD of A is NEW of B"),
	{ .kind = OPT_END }
};

struct diff_limit diff_limit;

const struct opt diff_limit_opts[] = {
	OPT_STRING(0, "fail-above", "PERCENT", &diff_limit.above,
		   "of a comparison: status 4 if something grew by more"),
	OPT_STRING(0, "function", "REGEX", &diff_limit.function,
		   "with --fail-above: if one of these functions did"),
	{ .kind = OPT_END }
};

struct match_opts match_opts(void)
{
	return (struct match_opts){ match.item, match.n, chosen_names.full };
}

int diff_opts_check(bool diff, struct err *err)
{
	if (match.n && !diff)
		return err_set(err, ERR_USAGE, "--match needs --diff");
	if (!diff_limit.above && diff_limit.function)
		return err_set(err, ERR_USAGE,
			       "--function says what --fail-above looks at: "
			       "add it");
	if (diff_limit.above && !diff)
		return err_set(err, ERR_USAGE, "--fail-above needs --diff");
	return diff_limit_read(&diff_limit, err);
}

static const char *const names[] = { "table",	 "lines", "csv", "json",
				     "markdown", "sql",	  NULL };

static const char *format;
static bool json, spreadsheet;

const struct opt output_opts[] = {
	OPT_HEADING("Output"),
	OPT_CHOICE(0, "format", "FORMAT", &format, names,
		   "table, lines, csv, json, markdown or sql"),
	OPT_FLAG(0, "json", &json, "the same as --format json"),
	OPT_FLAG(0, "spreadsheet", &spreadsheet,
		 "csv: put ' before texts that a spreadsheet would take for "
		 "formulas"),
	{ .kind = OPT_END }
};

bool output_is_set(void)
{
	return json || format;
}

int output_check(struct err *err)
{
	const char *name = json ? "json" : format ? format : names[0];

	if (spreadsheet && !output_is_csv(name))
		return err_set(err, ERR_USAGE,
			       "--spreadsheet is for --format csv, not %s",
			       name);
	if (!json || !format || !strcmp(format, "json"))
		return 0;
	return err_set(err, ERR_USAGE,
		       "--json is --format json: leave out --json or --format "
		       "%s",
		       format);
}

const struct output *output_chosen(void)
{
	const char *name = json ? "json" : format ? format : names[0];

	return output_find(spreadsheet && output_is_csv(name) ? "spreadsheet"
							      : name);
}

static struct open_ask asked = { .load.name.fetch_seconds = 60,
				 .server.timeout = 300 };
static struct opt_list offsets, nonce_formats, process_maps, jit_dumps,
	jit_maps, debug_dirs;
static bool infer_callers = true, find_jit = true;

const struct opt align_opts[] = {
	OPT_HEADING("Several captures"),
	OPT_LIST(0, "clock-offset", "CAPTURE=NS", &offsets,
		 "of several captures: ns to add to the times of one, which "
		 "is named as in the command line, or by its place there "
		 "(1, 2, ...); may be repeated"),
	OPT_STRING(0, "sched-clock-offset", "NS",
		   &asked.load.align.sched_offset,
		   "of several captures, perf's clock and ftrace's local: the "
		   "last number of the kernel's line 'sched_clock: Marking "
		   "stable'"),
	OPT_FLAG(0, "separate", &asked.load.align.separate,
		 "several captures need not be of one run: each keeps its "
		 "own clock"),
	{ .kind = OPT_END }
};

static const struct opt mapped_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_LIST(0, "maps", "PID=FILE", &process_maps,
		 "what a process had mapped, from a copy of /proc/PID/maps: "
		 "PID=FILE from the start on, PID=FILE@SECONDS from then on, "
		 "or a folder with PID.maps; may be given several times "
		 "(default: folder 'maps' in a capture that is a folder)"),
	{ .kind = OPT_END }
};

static const struct opt jitted_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_LIST(0, "jitdump", "FILE", &jit_dumps,
		 "names of code that a process made while it ran, from its "
		 "jit-PID.dump; may be given several times (default: found "
		 "by the capture's records, or next to it, or below "
		 "--symfs)"),
	OPT_LIST(0, "perf-map", "FILE", &jit_maps,
		 "the same from a perf-PID.map, PID=FILE, or a folder with "
		 "such files; may be given several times (default: found "
		 "next to the capture, in tmp below --symfs, or in /tmp when "
		 "it was recorded here)"),
	OPT_NO(0, "no-jit", &find_jit, "do not look for such files"),
	{ .kind = OPT_END }
};

const struct opt name_place_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_STRING(0, "symfs", "DIR", &asked.load.name.symfs,
		   "look for the recorded programs below DIR, by path or name"),
	{ .kind = OPT_END }
};

const struct opt name_opts[] = {
	OPT_GROUP(name_place_opts),
	OPT_STRING(0, "kallsyms", "FILE", &asked.load.name.kallsyms,
		   "names of the kernel, from a copy of /proc/kallsyms"),
	OPT_STRING(0, "vmlinux", "FILE", &asked.load.name.vmlinux,
		   "names of the kernel, from its ELF file"),
	OPT_LIST(0, "debug-dir", "DIR", &debug_dirs,
		 "one more folder of debug files, as /usr/lib/debug; may be "
		 "given several times"),
	OPT_FLAG(0, "debuginfod", &asked.load.name.debuginfod,
		 "fetch programs and debug files that are not here from the "
		 "servers in $DEBUGINFOD_URLS, those of most stacks first"),
	OPT_NUMBER(0, "debuginfod-timeout", "SECONDS",
		   &asked.load.name.fetch_seconds,
		   "fetch no longer than that, all files together (60)"),
	OPT_HEADING("Names"),
	OPT_FLAG(0, "no-demangle", &asked.load.name.no_demangle,
		 "keep C++, Rust and D names as they are in the file"),
	OPT_FLAG(0, "no-lines", &asked.load.name.no_lines,
		 "do not look for source lines and inlined functions"),
	OPT_NUMBER(0, "jobs", "N", &asked.load.name.jobs,
		   "unwind stack dumps in N threads, and look into N files at "
		   "a time (as many as there are CPUs, up to 8; with "
		   "--debuginfod one file)"),
	OPT_FLAG(0, "no-cache", &asked.load.name.no_cache,
		 "do not remember names on disk for the next time"),
	{ .kind = OPT_END }
};

static const struct opt load_common_opts[] = {
	OPT_HEADING("What a capture does not say"),
	OPT_SIZE(0, "memory", "SIZE", &asked.load.memory,
		 "memory for records that wait to be ordered, such as 64M; "
		 "the rest goes to a temporary file"),
	OPT_NUMBER(0, "slack", "MS", &asked.load.slack_ms,
		   "of a live pipe: hold records back this much longer"),
	OPT_STRING(0, "cookie-layout", "LAYOUT", &asked.load.layout,
		   "how cookies are made, to count those that are missing: "
		   "auto (default), kernel, opaque, or as in drafts of 2024 "
		   "cpu48, lowcpu or lowcpu:BITS (bits of the CPU, 12), pair"),
	OPT_LIST(
		0, "nonce-format", "TEMPLATE", &nonce_formats,
		"a line in which a process that unwinds itself logs a "
		"request or a stack, in place of those in backstitch-formats(5), "
		"such as 'unwound %{nonce}: %{ips}'; may be repeated"),
	OPT_STRING(0, "clock", "NAME", &asked.load.clock,
		   "of captures that do not say it: the clock of their times"),
	OPT_STRING(
		0, "formats", "DIR", &asked.load.formats,
		"of raw ftrace pages: the folder with copies of tracefs' "
		"events/*/*/format and header_page, when they are not next to"),
	OPT_NUMBER(0, "cpus", "N", &asked.load.cpus,
		   "how many CPUs were on, for a text of ftrace without its "
		   "first lines, or for trace-cmd, which counts all"),
	OPT_STRING(0, "stats", "DIR", &asked.load.stats,
		   "of a text of ftrace: the folder with copies of tracefs' "
		   "per_cpu/cpu*/stats, when it is not per_cpu next to the "
		   "text"),
	OPT_STRING(
		0, "request", "EVENT(COOKIE)", &asked.load.request,
		"of a CTF trace: events that ask for a user stack that comes "
		"later, and the field with the cookie; several by blanks "
		"(default: 'stitch:request(cookie)')"),
	OPT_STRING(0, "chain", "EVENT(COOKIE,ADDRESSES)", &asked.load.chain,
		   "and the events that bring it (default: "
		   "'stitch:ustack(cookie,ips)')"),
	OPT_GROUP(mapped_opts),
	OPT_GROUP(jitted_opts),
	OPT_GROUP(name_opts),
	OPT_FLAG(0, "no-symbols", &asked.load.no_symbols,
		 "do not look for names; 'backstitch symbolize' can do it "
		 "later"),
	OPT_NO(0, "no-infer-callers", &infer_callers,
	       "do not put the caller that a frame-pointer chain lacks into "
	       "it, marked, where the code proves which one it is"),
	{ .kind = OPT_END }
};

const struct opt load_opts[] = {
	OPT_HEADING("What a capture does not say"),
	OPT_STRING(0, "fields", "NAMES", &asked.load.fields,
		   "whose tracepoint fields become columns: event names or "
		   "globs by commas, 'all' or 'none' (default: scheduling, "
		   "process and interrupt events, and those with stacks in "
		   "their fields)"),
	OPT_GROUP(load_common_opts),
	{ .kind = OPT_END }
};

const struct opt database_set_opts[] = {
	OPT_HEADING("Several databases"),
	OPT_STRING(0, "from", "TIME", &asked.choice.from,
		   "those that end at this time or later, in seconds of their "
		   "clock or since 1970, or as '2026-11-21 10:00'"),
	OPT_STRING(0, "to", "TIME", &asked.choice.to,
		   "those that begin at this time or earlier"),
	OPT_STRING(0, "since", "TIME", &asked.choice.since,
		   "those with events of the last seconds before the end of "
		   "all: 90s, 5m, 2h"),
	OPT_NUMBER(0, "last", "N", &asked.choice.last,
		   "the N newest of several databases"),
	{ .kind = OPT_END }
};

const struct opt ingest_opts[] = {
	OPT_HEADING("Where files are"),
	OPT_STRING('i', "input", "FILE", &asked.input,
		   "what to read, in place of the argument"),
	OPT_GROUP_SENTENCE(
		load_common_opts,
		"and for a capture, those of 'backstitch help ingest': "
		"--symfs, --kallsyms, --debuginfod, --maps, ..."),
	OPT_HEADING("Several databases"),
	OPT_GROUP_SENTENCE(
		database_set_opts,
		"--from, --to, --since, --last: see 'backstitch help "
		"options'"),
	{ .kind = OPT_END }
};

const struct opt clickhouse_opts[] = {
	OPT_HEADING("Servers"),
	OPT_STRING(0, "password-file", "FILE", &asked.server.password_file,
		   "the server's password is the first line of FILE; or set "
		   "$BACKSTITCH_CLICKHOUSE_PASSWORD"),
	OPT_STRING(0, "ca-file", "FILE", &asked.server.ca_file,
		   "certificates to trust with clickhouses://, as PEM"),
	OPT_NUMBER(0, "timeout", "SECONDS", &asked.server.timeout,
		   "give up on a server that takes longer for one request; "
		   "300 if not given"),
	{ .kind = OPT_END }
};

const struct opt server_opts[] = {
	OPT_HEADING("Servers"),
	OPT_STRING(0, "where", "COND", &asked.where,
		   "of a server: the runs for which this condition on "
		   "table run is true, such as \"host = 'web1'\""),
	OPT_GROUP_SENTENCE(clickhouse_opts,
			   "and --password-file, --ca-file, --timeout: see "
			   "'backstitch help push'"),
	{ .kind = OPT_END }
};

struct open_ask open_chosen(void)
{
	struct open_ask ask = asked;
	struct load_ask *l = &ask.load;
	size_t last = ARRAY_SIZE(debug_dirs.item) - 1;

	l->align.offset = offsets.item;
	l->align.n_offset = offsets.n;
	l->nonce_format = nonce_formats.item;
	l->n_nonce_format = nonce_formats.n;
	l->maps = process_maps.item;
	l->n_maps = process_maps.n;
	l->jitted = (struct jitted_ask){ .dump = jit_dumps.item,
					 .n_dump = jit_dumps.n,
					 .map = jit_maps.item,
					 .n_map = jit_maps.n,
					 .only = !find_jit,
					 .symfs = l->name.symfs };
	/* this list ends with NULL */
	debug_dirs.item[debug_dirs.n < last ? debug_dirs.n : last] = NULL;
	l->name.debug_dirs = debug_dirs.item;
	l->no_callers = !infer_callers;
	return ask;
}

#define NS_PER_S 1000000000

static struct opt_list labels;
static const char *weighted;

const struct opt fleet_opts[] = {
	OPT_LIST(0, "label", "NAME=VALUE", &labels,
		 "a label of the runs; may be given several times"),
	OPT_STRING(0, "weighted", "TIME", &weighted,
		   "add samples up: one row for each TIME (1s, 100ms), thread "
		   "and stack"),
	{ .kind = OPT_END }
};

int fleet_opts_read(struct fleet_ask *out, struct err *err)
{
	*out = (struct fleet_ask){ .filter = &filter,
				   .label = labels.item,
				   .n_label = labels.n,
				   .version = VERSION };
	for (size_t i = 0; i < labels.n; i++) {
		const char *text = labels.item[i];
		size_t n = strcspn(text, "=");

		if (!n || !text[n])
			return err_set(err, ERR_USAGE,
				       "--label needs NAME=VALUE, not '%s'",
				       text);
		for (size_t k = 0; k < i; k++)
			if (!strncmp(labels.item[k], text, n + 1))
				return err_set(err, ERR_USAGE,
					       "--label %.*s is given twice",
					       (int)n, text);
	}
	int64_t ns = 0;

	if (weighted && (parse_duration(weighted, &ns) ||
			 ns < NS_PER_S / 1000 || ns > 3600ll * NS_PER_S))
		return err_set(
			err, ERR_USAGE,
			"--weighted needs a time from 1ms to 3600s, such "
			"as 1s, not '%s'",
			weighted);
	out->period = (uint64_t)ns;
	return 0;
}

#define LIMIT 40
#define LIMIT_MIN 10
#define AROUND 11 /* lines of a screen besides the rows of a table */

static bool inline_rows, inlined = true;

const struct opt report_names_opts[] = {
	OPT_HEADING("Names"),
	OPT_FLAG(0, "inline", &inline_rows,
		 "rows for inlined functions as well"),
	OPT_NO(0, "no-inline", &inlined, "no inlined functions at all"),
	OPT_GROUP(full_names_opts),
	OPT_GROUP(library_opts),
	OPT_GROUP(suffix_opts),
	OPT_GROUP(interpreter_opts),
	{ .kind = OPT_END }
};

static const struct {
	const char *word;
	unsigned int key;
} key_words[] = {
	{ "comm_nodigit", KEY_COMM | KEY_NODIGIT },
	{ "comm", KEY_COMM },
	{ "pid", KEY_PID },
	{ "tid", KEY_TID },
	{ "cpu", KEY_CPU },
	{ "cgroup", KEY_CGROUP },
	{ "sym", KEY_SYM },
	{ "symbol", KEY_SYM },
	{ "srcline", KEY_LINE },
	{ "dso", KEY_DSO },
	{ "image", KEY_DSO },
	{ "verdict", KEY_VERDICT },
	{ "trust", KEY_TRUST },
	{ "parallelism", KEY_FIELD | KEY_PARALLEL },
};

static struct arena field_text; /* of --sort EVENT.FIELD */

/* Reads EVENT.FIELD, or takes the cgroup as a field of all events. Returns its
 * key, or 0 and *err. */
static unsigned int report_take_field(struct report_opts *o, const char *key,
				      size_t len, bool cgroup, struct err *err)
{
	if (o->field) {
		err_set(err, ERR_USAGE,
			"--sort takes one field of an event, or cgroup");
		return 0;
	}
	o->field =
		cgroup ? weight_cgroup
		       : weight_take_field(&filter, key, len, &field_text, err);
	return o->field ? KEY_FIELD : 0;
}

int report_take_keys(struct report_opts *o, const char *sort, struct err *err)
{
	const char *p = sort ? sort : "sym,dso";

	o->keys = 0;
	for (;;) {
		size_t len = strcspn(p, ",");
		unsigned int key = 0;

		for (size_t i = 0; i < ARRAY_SIZE(key_words); i++)
			if (strlen(key_words[i].word) == len &&
			    !strncmp(key_words[i].word, p, len))
				key = key_words[i].key;
		bool latency = len == 7 && !strncmp("latency", p, len);

		o->by_wall |= latency || key & KEY_PARALLEL;
		if (key == KEY_CGROUP || (!key && memchr(p, '.', len))) {
			unsigned int of =
				report_take_field(o, p, len, key, err);

			if (!of)
				return -1;
			key |= of;
		}
		if (!key && !latency)
			return err_set(
				err, ERR_USAGE,
				"--sort knows comm, "
				"comm_nodigit, pid, tid, cpu, cgroup, dso, sym, "
				"srcline, verdict, trust, parallelism, latency "
				"and EVENT.FIELD, not '%.*s'",
				(int)len, p);
		o->keys |= key;
		p += len;
		if (!*p++)
			break;
	}
	o->keys = o->keys ?: KEY_SYM | KEY_DSO;
	return 0;
}

size_t report_limit(long limit, const char *form)
{
	int screen = term_rows(stdout) - AROUND;

	if (limit >= 0)
		return limit ? (size_t)limit : SIZE_MAX;
	if (!output_is_text(form))
		return SIZE_MAX;
	if (screen <= 0 || screen >= LIMIT || !term_is_terminal(stdout))
		return LIMIT;
	return screen > LIMIT_MIN ? (size_t)screen : LIMIT_MIN;
}

unsigned int report_detail(unsigned int keys)
{
	return (keys & (KEY_PID | KEY_TID) ? SERVER_THREADS : 0) |
	       (keys & KEY_CPU ? SERVER_CPUS : 0) |
	       (keys & KEY_VERDICT ? SERVER_VERDICTS : 0);
}

int report_take_inlined(struct report_opts *o, struct err *err)
{
	o->inlined = inlined;
	o->keys |=
		inline_rows || library_folds(&chosen_names) ? KEY_INLINED : 0;
	if (inlined || !(o->keys & KEY_INLINED))
		return 0;
	return err_set(err, ERR_USAGE,
		       "--no-inline leaves inlined functions out: leave out "
		       "--inline, --fold-library");
}

bool report_inline_chosen(void)
{
	return inline_rows;
}
