/* summary.c - the text of info and of the end of ingest: what is in a capture.
 * 'check' reports what is wrong with it; ingest has one line about that. */
#include "cli/tables/summary.h"

#include <inttypes.h>

#include "analyze/stacks/label.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/trust.h"
#include "stitch/text/human.h"
#include "cli/output/grid.h"
#include "cli/output/output.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "formats/tracepoint/tracepoint.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/order/clocks.h"
#include "stitch/base/mem.h"
#include "stitch/image_status.h"
#include "stitch/base/saturate.h"

/* Lines of each section before "and N more". */
#define LINES_BRIEF 3
#define LINES_FULL 20

struct summary {
	struct lines l;
	struct store *db;
	char *word; /* its path, for a shell */
	bool brief;
	struct summary_more more;
	uint64_t n;	   /* rows of the section being printed */
	uint64_t problems; /* events whose print format is not followed */
	uint64_t samples;
	int64_t span; /* ns that were recorded */
	bool ticks;   /* times are ticks, not ns */
	struct err *err;
	int64_t unnamed;   /* addresses that were not symbolized */
	int64_t generated; /* addresses in code that no file has */
};

static int summary_each(struct summary *s, const char *query,
			void (*fn)(struct summary *s, const struct rows *r))
{
	struct rows *r = rows_of(s->db, query, s->err);

	for (s->n = 0; rows_step(r); s->n++)
		fn(s, r);
	return rows_end(r, s->err);
}

static void summary_take_range(struct summary *s, const struct rows *r)
{
	s->samples = (uint64_t)rows_int(r, INFO_SPAN_SAMPLES);
	s->span = rows_int(r, INFO_SPAN_NS);
}

static void summary_take_ticks(struct summary *s, const struct rows *r UNUSED)
{
	s->ticks = true;
}

/* Writes the time from first to last as "2.31 s", or as "1,406 ticks". */
static const char *summary_span(const struct summary *s, char *buf, size_t size,
				int64_t last, int64_t first)
{
	const int64_t apart = saturating_apart(last, first);

	if (!s->ticks)
		return human_ns(buf, size, apart);
	return human_noun(buf, size, (uint64_t)apart, "tick");
}

/* Prints "same clock, 305 equal events, within 2.93 us". */
static void put_aligned(struct summary *s, const struct rows *r)
{
	static const char *const text[][2] = {
		{ "reference", "its clock is the timeline" },
		{ "given", "as was said" },
		{ "host", "times are on its host's clock" },
		{ "same_clock", "same clock" },
		{ "time_conv", "by perf's TIME_CONV" },
		{ "sched_clock", "by the offset of sched_clock" },
		{ "events", "by equal events" },
		{ "wall", "by wall time" },
	};
	const char *word = rows_text(r, INFO_CAPTURES_ALIGN);
	double drift = rows_value(r, INFO_CAPTURES_DRIFT_PPB).real;

	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		if (!strcmp(word, text[i][0]))
			lines_add(&s->l, "%s", text[i][1]);
	if (rows_int(r, INFO_CAPTURES_OFFSET_NS))
		lines_add(&s->l, ", %+.6f ms",
			  (double)rows_int(r, INFO_CAPTURES_OFFSET_NS) / 1e6);
	if (drift < 0 || drift > 0)
		lines_add(&s->l, ", drift %.3f ppm", drift / 1000);
	if (rows_int(r, INFO_CAPTURES_PAIRS))
		lines_count(&s->l, ", ", rows_int(r, INFO_CAPTURES_PAIRS),
			    "event agrees", "events agree");
	if (rows_value(r, INFO_CAPTURES_ERROR_NS).kind != VALUE_INT)
		lines_add(&s->l, ", how exactly is not known");
	else if (strcmp(word, "reference") != 0)
		lines_add(&s->l, ", within %s",
			  HUMAN_NS(rows_int(r, INFO_CAPTURES_ERROR_NS)));
	if (rows_int(r, INFO_CAPTURES_TOGETHER) !=
	    rows_int(r, INFO_CAPTURES_ID))
		lines_add(&s->l, "; one kernel with capture %s",
			  HUMAN_GROUPED(rows_int(r, INFO_CAPTURES_TOGETHER)));
	lines_put(&s->l, "aligned");
}

static void summary_put_capture(struct summary *s, const struct rows *r)
{
	static const size_t about[] = { INFO_CAPTURES_HOST,
					INFO_CAPTURES_RELEASE,
					INFO_CAPTURES_ARCH };
	const int64_t cpus = rows_int(r, INFO_CAPTURES_CPUS);
	const int64_t steps = rows_int(r, INFO_CAPTURES_STEPS_BACK);

	lines_clean(&s->l, rows_text(r, INFO_CAPTURES_PATH));
	lines_add(&s->l, " (%s", rows_text(r, INFO_CAPTURES_FORMAT));
	if (*rows_text(r, INFO_CAPTURES_NOTE)) {
		lines_add(&s->l, ", ");
		lines_clean(&s->l, rows_text(r, INFO_CAPTURES_NOTE));
	}
	lines_print(&s->l, "capture", ", %s)",
		    HUMAN_BYTES(rows_int(r, INFO_CAPTURES_BYTES)));
	for (size_t i = 0; i < ARRAY_SIZE(about); i++) {
		const char *text = rows_text(r, about[i]);

		if (!*text)
			continue;
		lines_add(&s->l, "%s", s->l.len ? ", " : "");
		lines_clean(&s->l, text);
	}
	if (cpus)
		lines_add(&s->l, "%s%s", s->l.len ? ", " : "",
			  HUMAN_NOUN(cpus, "CPU"));
	if (s->l.len)
		lines_put(&s->l, "recorded on");
	if (*rows_text(r, INFO_CAPTURES_CMDLINE)) {
		lines_clean(&s->l, rows_text(r, INFO_CAPTURES_CMDLINE));
		lines_put(&s->l, "command");
	}
	if (*rows_text(r, INFO_CAPTURES_VERSION)) {
		lines_clean(&s->l, rows_text(r, INFO_CAPTURES_VERSION));
		lines_put(&s->l, "recorder");
	}
	if (rows_int(r, INFO_CAPTURES_LAST_NS)) {
		/* Prints the time range, also in UTC if the capture has an
		 * offset to wall time. */
		int64_t first = rows_int(r, INFO_CAPTURES_FIRST_NS);
		int64_t last = rows_int(r, INFO_CAPTURES_LAST_NS);
		const struct value wall =
			rows_value(r, INFO_CAPTURES_WALL_OFFSET_NS);
		char span[32];
		char from[CLOCK_UTC_SIZE];
		char to[CLOCK_UTC_SIZE];

		if (s->ticks) {
			lines_add(&s->l, "%s to %s", HUMAN_GROUPED(first),
				  HUMAN_GROUPED(last));
		} else {
			lines_seconds(&s->l, first);
			lines_add(&s->l, " to ");
			lines_seconds(&s->l, last);
			lines_add(&s->l, " s");
		}
		lines_print(&s->l, "time", ", %s on clock %s",
			    summary_span(s, span, sizeof(span), last, first),
			    *rows_text(r, INFO_CAPTURES_CLOCK)
				    ? rows_text(r, INFO_CAPTURES_CLOCK)
				    : "unknown");
		if (wall.kind == VALUE_INT &&
		    !__builtin_add_overflow(first, wall.num, &first) &&
		    !__builtin_add_overflow(last, wall.num, &last) &&
		    clock_utc(first, from) && clock_utc(last, to))
			lines_print(&s->l, "on the wall", "%s to %s", from, to);
	}
	if (*rows_text(r, INFO_CAPTURES_ALIGN))
		put_aligned(s, r);
	/* Records that a CPU made after its clock was set back have earlier
	 * times; they come late if records of later times are in order
	 * already. */
	if (steps)
		lines_print(&s->l, "order",
			    "by time, which goes back %s, at most by %s",
			    HUMAN_NOUN(steps, "time"),
			    HUMAN_NS(rows_int(r, INFO_CAPTURES_STEP_NS)));
	else
		lines_print(&s->l, "order",
			    rows_int(r, INFO_CAPTURES_EXACT_ORDER)
				    ? "exact: nothing can come late"
				    : "by finished rounds");
	if (!rows_int(r, INFO_CAPTURES_COMPLETE))
		lines_print(&s->l, "complete", "no: see below");
}

static void summary_put_event(struct summary *s, const struct rows *r)
{
	const char *how = rows_text(r, INFO_EVENTS_HOW);
	int64_t n = rows_int(r, INFO_EVENTS_EVENTS);
	bool sample = !strcmp(rows_text(r, INFO_EVENTS_KIND), "sample");
	bool marks = sample && !n && !strcmp(how, "mark");

	if (marks && s->brief) {
		s->n--;
		return;
	}
	lines_clean(&s->l, rows_text(r, INFO_EVENTS_NAME));
	if (marks) {
		lines_add(&s->l, ": only for records that are no samples");
		lines_put(&s->l, s->n ? "" : "events");
		return;
	}
	/* ": 12 samples" of an event that is sampled, ": 12 events" if each of
	 * them was recorded, ": 12 readings of 340 events" of a member of a
	 * group */
	lines_add(&s->l, ": %s %s%s", HUMAN_GROUPED(n),
		  !sample		  ? "record"
		  : !strcmp(how, "count") ? "event"
		  : !strcmp(how, "read")  ? "reading"
					  : "sample",
		  n == 1 ? "" : "s");
	if (!strcmp(how, "read"))
		lines_add(&s->l, " of %s %s",
			  HUMAN_GROUPED(rows_int(r, INFO_EVENTS_WEIGHT)),
			  rows_text(r, INFO_EVENTS_UNIT));
	if (rows_int(r, INFO_EVENTS_DEFERRED))
		lines_add(&s->l, ", deferred user stacks");
	else if (!rows_int(r, INFO_EVENTS_HAS_CHAIN) && sample)
		lines_add(&s->l, ", no stacks");
	lines_put(&s->l, s->n ? "" : "events");
}

/* Prints an event whose text has fields by their names, or '?', and why. */
static void summary_put_problem(struct summary *s, const struct rows *r)
{
	struct payload *pl =
		rows_int(r, PRINT_FORMATS_EVENTS) ? payloads_of_row(r) : NULL;
	const char *problem = pl ? tp_print_problem(&pl->tp, &pl->fmt) : "";

	if (*problem) {
		lines_clean(&s->l, rows_text(r, PRINT_FORMATS_NAME));
		lines_add(&s->l, ": ");
		lines_clean(&s->l, problem);
		lines_put(&s->l, s->problems++ ? "" : "print format");
	}
	payload_free(pl);
}

static void put_counts(struct summary *s, const struct rows *r)
{
	lines_count(&s->l, "", rows_int(r, INFO_COUNTS_PROCESSES), "process",
		    "processes");
	lines_count(&s->l, ", ", rows_int(r, INFO_COUNTS_THREADS), "thread",
		    "threads");
	lines_count(&s->l, ", ", rows_int(r, INFO_COUNTS_IMAGES), "image",
		    "images");
	lines_count(&s->l, ", ", rows_int(r, INFO_COUNTS_STACKS), "stack",
		    "stacks");
	lines_put(&s->l, "holds");
	lines_count(&s->l, "", rows_int(r, INFO_COUNTS_NAMED_FRAMES), "of",
		    "of");
	lines_count(&s->l, " ", rows_int(r, INFO_COUNTS_FRAMES), "address",
		    "addresses");
	lines_print(&s->l, "names", " in code %s",
		    rows_int(r, INFO_COUNTS_NAMED_FRAMES) == 1 ? "has a name"
							       : "have a name");
}

/* Prints the requests for user stacks by verdict: "3,220 asked for: 2,931
 * matched, 289 chain_lost". Chains without a request are left to 'check'. */
static int summary_put_requests(struct summary *s)
{
	struct rows *r = rows_of(s->db, "info_requests", s->err);
	bool missing = false;
	uint64_t n = 0;

	while (rows_step(r)) {
		const char *verdict = rows_text(r, INFO_REQUESTS_VERDICT);

		if (!n++)
			lines_add(
				&s->l, "%s asked for: ",
				HUMAN_GROUPED(rows_int(r, INFO_REQUESTS_SUM)));
		else
			lines_add(&s->l, ", ");
		lines_add(&s->l, "%s ",
			  HUMAN_GROUPED(rows_int(r, INFO_REQUESTS_N)));
		lines_clean(&s->l, verdict);
		if (rows_int(r, INFO_REQUESTS_DOUBT))
			lines_add(&s->l, " (unexplained)");
		missing |= strcmp(verdict, "matched") &&
			   strcmp(verdict, "refused");
	}
	int ret = rows_end(r, s->err);
	if (n)
		lines_put(&s->l, "user stacks");
	if (missing)
		lines_print(&s->l, "",
			    "'backstitch help verdicts' explains the words");
	return ret;
}

/* Prints how many records were lost, as check counts them. */
static int summary_put_lost(struct summary *s)
{
	uint64_t n = 0;
	bool unknown = false;

	if (loss_rows_sum(s->db, &n, &unknown, s->err))
		return -1;
	if (!n && !unknown)
		return 0;
	if (n)
		lines_count(&s->l, "", (int64_t)n, "record", "records");
	else
		lines_add(&s->l, "an unknown number of records");
	lines_add(&s->l, "%s; 'backstitch check %s' says what that broke",
		  n && unknown ? " and an unknown number more" : "", s->word);
	lines_put_styled(&s->l, "lost", STYLE_YELLOW);
	return 0;
}

/* Prints an entry of the ledger, unless there were enough. */
static void summary_put_damage(struct summary *s, const struct rows *r)
{
	const char *kind = rows_text(r, INFO_DAMAGE_KIND);
	bool damage = !strcmp(kind, "damage");

	/* what was skipped is shown only if there are no samples */
	if (s->brief && !damage && (s->samples || strcmp(kind, "skipped") != 0))
		return;
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	if (*rows_text(r, INFO_DAMAGE_DETAIL)) {
		lines_clean(&s->l, rows_text(r, INFO_DAMAGE_DETAIL));
	} else {
		lines_clean(&s->l, rows_text(r, INFO_DAMAGE_WHAT));
		if (rows_value(r, INFO_DAMAGE_OFF).kind == VALUE_INT)
			lines_add(&s->l, " at 0x%" PRIx64,
				  rows_int(r, INFO_DAMAGE_OFF));
	}
	if (rows_int(r, INFO_DAMAGE_N) > 1)
		lines_add(&s->l, " (%s times)",
			  HUMAN_GROUPED(rows_int(r, INFO_DAMAGE_N)));
	if (damage)
		lines_put_styled(&s->l, kind, STYLE_RED);
	else
		lines_put(&s->l, kind);
}

/* Prints why an image has addresses without names, or counts them. */
static void put_unnamed(struct summary *s, const struct rows *r)
{
	const char *status = rows_text(r, INFO_UNNAMED_STATUS);
	const char *plural = rows_int(r, INFO_UNNAMED_FRAMES) == 1 ? "" : "es";
	bool named = image_is_named(image_status_of(status));

	if (rows_int(r, INFO_UNNAMED_GENERATED)) {
		s->generated += rows_int(r, INFO_UNNAMED_FRAMES);
		s->n--;
		return;
	}
	/* images ingested with --no-symbols share one line */
	if (!*status) {
		s->unnamed += rows_int(r, INFO_UNNAMED_FRAMES);
		s->n--;
		return;
	}
	/* addresses outside all symbols: in info only */
	if (named && s->brief) {
		s->n--;
		return;
	}
	if (s->n >= (s->brief ? LINES_BRIEF : LINES_FULL))
		return;
	lines_clean(&s->l, rows_text(r, INFO_UNNAMED_PATH));
	if (named)
		lines_add(&s->l, ": %s address%s in no symbol",
			  HUMAN_GROUPED(rows_int(r, INFO_UNNAMED_FRAMES)),
			  plural);
	else
		lines_add(&s->l, ": %s%s, %s address%s", status,
			  image_status_of(status) == IMAGE_OTHER_ID
				  ? rows_text(r, INFO_UNNAMED_IDS)
				  : "",
			  HUMAN_GROUPED(rows_int(r, INFO_UNNAMED_FRAMES)),
			  plural);
	lines_put(&s->l, s->n ? "" : "no names for");
}

/* Returns what kernel code without a name may be, by the function that calls
 * it: programs of classic BPF are not in kallsyms
 * (bpf_prog_kallsyms_candidate() of kernel/bpf/core.c, Linux 4.11 to 7.3). */
static const char *summary_kernel_code(const char *caller)
{
	if (strstr(caller, "seccomp"))
		return "a filter of seccomp (classic BPF)";
	if (strstr(caller, "sk_filter") || strstr(caller, "packet_rcv"))
		return "a filter of a socket (classic BPF)";
	return "made at run time, as classic BPF and the trampolines of ftrace "
	       "and kprobes are, or of a module that is gone";
}

/* Prints code of no image that has a percent of the samples. */
static void summary_put_unmapped(struct summary *s, const struct rows *r)
{
	const char *kind = rows_text(r, INFO_UNMAPPED_KIND);
	const char *caller = rows_text(r, INFO_UNMAPPED_CALLER);
	double part = (double)rows_int(r, INFO_UNMAPPED_SAMPLES);
	double all = (double)rows_int(r, INFO_UNMAPPED_COUNTED);
	bool kernel = !strcmp(kind, "unknown_kernel");

	if (part < all / TRUST_UNPROVED_OF || s->n == LINES_FULL)
		return;
	lines_add(&s->l, "%s, %s of samples",
		  kernel ? "kernel code without a symbol"
			 : "user code in no mapping",
		  HUMAN_PERCENT(part, all));
	if (kernel && *caller) {
		lines_add(&s->l, ", called by ");
		lines_clean(&s->l, caller);
	}
	lines_add(&s->l, ": %s",
		  !kernel ? "no record says what was there; 'backstitch ingest "
			    "--maps PID=FILE' does"
		  : rows_int(r, INFO_UNMAPPED_PLACED)
			  ? summary_kernel_code(caller)
			  : "no record says where the kernel's code was");
	lines_put(&s->l, "no names for");
}

/* Prints the files with a percent of the samples whose names nothing proves.
 * Returns 0, or -1 and *err. */
static int summary_put_unverified(struct summary *s)
{
	const struct sql_gap gap = { "images", store_sql("unverified_images") };
	char *sql OWNED = store_sql_fill("unverified_files", &gap, 1);
	struct rows *r = rows_open(s->db, sql, NULL, 0, s->err);
	size_t n = 0;

	while (rows_step(r)) {
		double part = (double)rows_int(r, UNVERIFIED_FILES_SAMPLES);
		double all = (double)rows_int(r, UNVERIFIED_FILES_COUNTED);
		const char *why = rows_text(r, UNVERIFIED_FILES_IDENTITY);

		if (part < all / TRUST_UNPROVED_OF || n == LINES_FULL)
			continue;
		lines_clean(&s->l, rows_text(r, UNVERIFIED_FILES_PATH));
		lines_add(&s->l, ", %s of samples: %s%s%s",
			  HUMAN_PERCENT(part, all),
			  rows_int(r, UNVERIFIED_FILES_COPY)
				  ? "a copy of its code in other memory"
			  : !rows_int(r, UNVERIFIED_FILES_OTHER) ? "no build-id"
			  : rows_int(r, UNVERIFIED_FILES_ASKED)
				  ? "another file than the mapped one is there"
				  : "another file than the mapped one is "
				    "there; 'perf record --buildid-mmap' "
				    "tells them apart",
			  *why ? "; " : "", why);
		lines_put(&s->l, n++ ? "" : "unverified");
	}
	return rows_end(r, s->err);
}

/* Prints the whole summary. Returns 0, or -1 and *err. */
static int summary_put(struct summary *s, const char *path)
{
	char trust[TRUST_SENTENCE];
	char n[32];
	FILE *out = s->l.out;
	bool brief = s->brief;

	if (summary_each(s, "info_span", summary_take_range) ||
	    summary_each(s, "info_ticks", summary_take_ticks) ||
	    (!brief && trust_sentence(s->db, trust, s->err)))
		return -1;
	/* "perf.db: 7832 samples over 2.31 s" */
	safe_text_say(out, term_on(out, STYLE_BOLD), path, "");
	fprintf(out, "%s: %s", term_off(out), HUMAN_NOUN(s->samples, "sample"));
	if (s->span)
		fprintf(out, " over %s",
			summary_span(s, n, sizeof(n), s->span, 0));
	putc('\n', out);
	if (!brief) {
		fputs("  ", out);
		term_wrap(out, trust, 2, 2, s->l.width);
	}
	if (!brief && (summary_each(s, "info_captures", summary_put_capture) ||
		       summary_each(s, "info_counts", put_counts)))
		return -1;
	if (summary_each(s, "info_events", summary_put_event) ||
	    (!brief && summary_each(s, "print_formats", summary_put_problem)) ||
	    (brief && (summary_put_requests(s) || summary_put_lost(s))) ||
	    summary_each(s, "info_damage", summary_put_damage) ||
	    summary_each(s, "info_unnamed", put_unnamed))
		return -1;
	uint64_t shown = s->brief ? LINES_BRIEF : LINES_FULL;

	if (s->n > shown)
		lines_print(&s->l, "", "and %s more %s%s%s%s",
			    HUMAN_GROUPED(s->n - shown),
			    s->n - shown == 1 ? "image" : "images",
			    s->brief ? "; see 'backstitch info " : "",
			    s->brief ? s->word : "", s->brief ? "'" : "");
	if (s->n && *s->more.options)
		lines_print(&s->l, "", "%s: 'backstitch %s %s', with %s",
			    brief ? "to name them"
				  : "the recorded files, not stripped, or "
				    "their debug files have more",
			    s->more.command, s->word, s->more.options);
	if (!brief && (summary_each(s, "info_unmapped", summary_put_unmapped) ||
		       summary_put_unverified(s)))
		return -1;
	if (s->unnamed) {
		lines_print(
			&s->l, "no names",
			"not looked for of %s address%s; 'backstitch %s %s' does",
			HUMAN_GROUPED(s->unnamed), s->unnamed == 1 ? "" : "es",
			s->more.command, s->word);
	}
	if (s->generated)
		lines_print(
			&s->l, "no names for",
			"code made at run time, %s address%s: " LABEL_GENERATED_ADVICE,
			HUMAN_GROUPED(s->generated),
			s->generated == 1 ? "" : "es");
	if (!brief)
		lines_print(&s->l, "more",
			    "'backstitch check %s' says what was lost, and "
			    "what that broke",
			    s->word);
	return 0;
}

int summary_print(FILE *out, struct store *db, const char *path, bool brief,
		  struct summary_more more, struct err *err)
{
	struct summary s = { .l = { .out = out, .width = term_limit(out) },
			     .db = db,
			     .word = safe_text_word(path),
			     .brief = brief,
			     .more = more,
			     .err = err };
	int rc = summary_put(&s, path);

	free(s.word);
	return rc;
}

int summary_json(FILE *out, struct store *db, struct err *err)
{
	static const char *const section[] = {
		"info_captures", "info_events",	  "info_counts", "info_damage",
		"info_unnamed",	 "info_unmapped", "check_trust",
	};
	char sentence[TRUST_SENTENCE];
	struct json j;

	if (trust_sentence(db, sentence, err))
		return -1;
	json_answer(&j, out, JSON_PRETTY);
	json_text(&j, "user_stacks", sentence);
	for (size_t i = 0; i < ARRAY_SIZE(section); i++) {
		struct rows *r = rows_of(db, section[i], err);

		if (!r || json_rows(&j, strchr(section[i], '_') + 1, r, err)) {
			rows_close(r);
			return -1;
		}
		rows_close(r);
	}
	/* Writes the events that summary_put_problem() names. */
	struct rows *r = rows_of(db, "print_formats", err);

	json_array(&j, "print_formats");
	while (rows_step(r)) {
		struct payload *pl = rows_int(r, PRINT_FORMATS_EVENTS)
					     ? payloads_of_row(r)
					     : NULL;
		const char *problem =
			pl ? tp_print_problem(&pl->tp, &pl->fmt) : "";

		if (*problem) {
			json_object(&j, NULL);
			json_text(&j, "event",
				  rows_text(r, PRINT_FORMATS_NAME));
			json_text(&j, "problem", problem);
			json_end(&j);
		}
		payload_free(pl);
	}
	json_end(&j);
	if (rows_end(r, err))
		return -1;
	json_finish(&j);
	return 0;
}
