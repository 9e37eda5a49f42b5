/* ingest_opts.c - the options that say what is read, and how. */
#include "cli/commands/ingest_opts.h"

#include "stitch/base/mem.h"

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
		 "by the capture's records, or beside it, or below "
		 "--symfs)"),
	OPT_LIST(0, "perf-map", "FILE", &jit_maps,
		 "the same from a perf-PID.map, PID=FILE, or a folder with "
		 "such files; may be given several times (default: found "
		 "beside the capture, in tmp below --symfs, or in /tmp when "
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
	OPT_LIST(0, "nonce-format", "TEMPLATE", &nonce_formats,
		 "a line in which a process that unwinds itself logs a "
		 "request or a stack, in place of those in backstitch(7), "
		 "such as 'unwound %{nonce}: %{ips}'; may be repeated"),
	OPT_STRING(0, "clock", "NAME", &asked.load.clock,
		   "of captures that do not say it: the clock of their times"),
	OPT_STRING(
		0, "formats", "DIR", &asked.load.formats,
		"of raw ftrace pages: the folder with copies of tracefs' "
		"events/*/*/format and header_page, when they are not beside"),
	OPT_STRING(0, "stats", "DIR", &asked.load.stats,
		   "of a text of ftrace: the folder with copies of tracefs' "
		   "per_cpu/cpu*/stats, when it is not per_cpu beside the "
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
	OPT_GROUP_TOLD(load_common_opts,
		       "and for a capture, those of 'backstitch help ingest': "
		       "--symfs, --kallsyms, --debuginfod, --maps, ..."),
	OPT_HEADING("Several databases"),
	OPT_GROUP_TOLD(database_set_opts,
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
	OPT_GROUP_TOLD(clickhouse_opts,
		       "and --password-file, --ca-file, --timeout: see "
		       "'backstitch help push'"),
	{ .kind = OPT_END }
};

struct open_ask open_asked(void)
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
