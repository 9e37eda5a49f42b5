/* report_sched.c - what each thread did: on a CPU, ready while others ran,
 * blocked for what. All is counted by analyze/causes/account.h, so that only
 * what is proved is in a sum, and the rest is unknown. */

#include "analyze/causes/account.h"
#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wait_cause.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "cli/path/path.h"
#include "cli/tables/report.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define LONGEST 10 /* rows of the tables below the first, as text */

struct sched_thread {
	uint32_t thread;
	struct account a;
};

/* What a thread was blocked for: a cause or, where none is known, a state. */
struct sched_cause {
	uint32_t thread;
	const char *word;
	uint64_t ns, waits;
};

struct sched {
	struct path_run r;
	const struct sched_opts *o;
	int64_t from, to;
	struct sched_thread *th;
	size_t n, cap;
	const char *order; /* of th[]; NULL: the longest ready first */
	struct sched_cause *cause;
	size_t n_cause, cap_cause;
	struct intern index; /* indices in cause[], by thread and word */
	uint32_t now;	     /* the thread that is counted */
	uint64_t time, off, unknown, throttled, held; /* ns, of all threads */
	uint64_t others; /* threads that only switches of others name */
	bool recorder;	 /* a thread of the recorder has unknown time */
};

/* Counts a wait of a thread by its cause, which the stack at its start shows,
 * or by its state. */
static void sched_take_wait(void *arg, const struct proof_piece *pc,
			    uint64_t ns)
{
	struct sched *s = arg;
	const char *word = wait_cause_word(wait_causes_get(
		s->r.words, pc->bits, causes_stack(s->r.causes, pc->out)));
	char key[64];

	if (!*word)
		word = offcpu_state(pc->bits);
	int len = snprintf(key, sizeof(key), "%u %s", s->now, word);
	uint32_t id = intern_add_bytes(&s->index, key, (size_t)len);
	if (id == s->n_cause)
		*mem_add(s->cause, s->n_cause, s->cap_cause) =
			(struct sched_cause){ s->now, word, 0, 0 };
	s->cause[id].ns += ns;
	s->cause[id].waits++;
}

/* See account_ask.takes_cpu. */
static bool sched_takes_cpu(const void *arg, int32_t cpu)
{
	return filter_takes_cpu(arg, cpu);
}

static uint64_t sched_longest(const struct account *a)
{
	return (uint64_t)(a->longest_to - a->longest_from);
}

static uint64_t sched_average(const struct account *a)
{
	return a->delays ? a->ready / a->delays : 0;
}

/* Returns the value by which threads are sorted, largest first. */
static uint64_t sched_key(const struct account *a, const char *order)
{
	const struct {
		const char *word;
		uint64_t key;
	} keys[] = {
		{ "max", sched_longest(a) }, { "average", sched_average(a) },
		{ "ready", a->ready },	     { "run", a->run },
		{ "blocked", a->blocked },   { "runs", a->runs },
		{ "woken", a->woken },	     { "moves", a->moves },
		{ "unknown", a->unknown },
	};

	for (size_t i = 0; order && i < ARRAY_SIZE(keys); i++)
		if (!strcmp(keys[i].word, order))
			return keys[i].key;
	return keys[0].key;
}

COMPARE_FUNCTION_OF(sched_compare_threads, struct sched_thread, struct sched,
		    compare_numbers(sched_key(&y->a, of->order),
				    sched_key(&x->a, of->order))
			    ?: compare_numbers(y->a.run, x->a.run)
			    ?: compare_numbers(x->thread, y->thread));

/* Sorts the threads; order NULL: by the longest time that each was ready. */
static void sched_sort(struct sched *s, const char *order)
{
	s->order = order;
	sort_items_by(s->th, s->n, sched_compare_threads, s);
}

COMPARE_FUNCTION(sched_compare_causes, struct sched_cause,
		 compare_numbers(y->ns, x->ns)
			 ?: compare_numbers(x->thread, y->thread)
			 ?: strcmp(x->word, y->word));

/* Adds the proved part of a time; "-": nothing is proved, and a part is
 * unknown. */
static void sched_add_proved(struct grid *g, const struct account *a,
			     uint64_t ns)
{
	if (ns || !a->unknown) {
		grid_ns(g, ns);
		return;
	}
	grid_text(g, "-");
	grid_number(g, 0);
}

static void sched_add_name(const struct sched *s, struct grid *g,
			   uint32_t thread)
{
	int64_t tid = timeline_tid(s->r.t, thread);

	grid_signed(g, causes_pid(s->r.causes, tid));
	grid_signed(g, tid);
	grid_text(g, path_comm(&s->r, thread));
}

/* Returns who was on the CPU that a thread came to, while it was ready longest:
 * "idle", name() of a thread, or "" if that is not known. */
static const char *
sched_behind(const struct sched *s, const struct account *a, struct occupant *o,
	     const char *(*name)(const struct path_run *r, uint32_t thread))
{
	if (!account_occupant(s->r.t, a->longest_cpu, a->longest_from,
			      a->longest_to, o))
		return "";
	return o->thread == TIMELINE_NONE ? "idle" : name(&s->r, o->thread);
}

/* A line of 80 columns has what people read; the wakes and moves are in the
 * other forms, and in text if they are what threads are sorted by. */
static const struct grid_column sched_columns[] = {
	{ NULL, "pid" },	   { "Tid", "tid" },
	{ "Comm", "comm" },	   { "On CPU", NULL },
	{ NULL, "run_ns" },	   { "Runs", "runs" },
	{ "Ready", NULL },	   { NULL, "ready_ns" },
	{ NULL, "delays" },	   { NULL, "preempted_ns" },
	{ "Average", NULL },	   { NULL, "average_ns" },
	{ "Maximum", NULL },	   { NULL, "max_ns" },
	{ NULL, "max_at_ns" },	   { NULL, "max_cpu" },
	{ NULL, "max_behind" },	   { NULL, "max_behind_tid" },
	{ NULL, "max_behind_ns" }, { "Blocked", NULL },
	{ NULL, "blocked_ns" },	   { NULL, NULL },
	{ NULL, "off_ns" },	   { NULL, NULL },
	{ NULL, "unknown_ns" },	   { NULL, "woken" },
	{ NULL, "moves" },	   { NULL, NULL },
	{ NULL, "throttled_ns" },  { NULL, NULL },
	{ NULL, "not_run_ns" },	   { NULL, "ready_premise_ns" },
};
#define SCHED_OFF 21
#define SCHED_UNKNOWN 23
#define SCHED_WOKEN 25
#define SCHED_MOVES 26
#define SCHED_THROTTLED 27
#define SCHED_HELD 29
#define SCHED_COLUMNS ARRAY_SIZE(sched_columns)

/* Writes a table, after its title if it is text. */
static void sched_put(const struct sched *s, const struct grid *g,
		      struct json *j, const char *key, const char *title)
{
	if (title && !j) {
		if (!grid_has_rows(g))
			return;
		printf("\n%s\n\n", title);
	}
	grid_put(g, s->o->format, j, key);
}

static void sched_put_threads(const struct sched *s, struct json *j)
{
	size_t n = s->n < s->o->limit ? s->n : s->o->limit;
	struct grid_column col[SCHED_COLUMNS];

	memcpy(col, sched_columns, sizeof(col));
	col[SCHED_OFF].title = s->off ? "Off" : NULL;
	col[SCHED_UNKNOWN].title = s->unknown ? "Unknown" : NULL;
	col[SCHED_THROTTLED].title = s->throttled ? "Throttled" : NULL;
	col[SCHED_HELD].title = s->held ? "Not run" : NULL;
	if (s->order && !strcmp(s->order, "woken"))
		col[SCHED_WOKEN].title = "Woken";
	if (s->order && !strcmp(s->order, "moves"))
		col[SCHED_MOVES].title = "Moves";
	struct grid *g OWNED_GRID = grid_new(col, SCHED_COLUMNS);
	for (size_t i = 0; i < n; i++) {
		const struct sched_thread *th = &s->th[i];
		const struct account *a = &th->a;
		struct occupant o;
		const char *behind = sched_behind(s, a, &o, path_comm);

		sched_add_name(s, g, th->thread);
		sched_add_proved(g, a, a->run);
		grid_number(g, a->runs);
		sched_add_proved(g, a, a->ready);
		grid_number(g, a->delays);
		grid_number(g, a->preempted);
		sched_add_proved(g, a, sched_average(a));
		sched_add_proved(g, a, sched_longest(a));
		grid_signed(g, a->longest_from);
		grid_signed(g, a->longest_cpu);
		grid_text(g, behind);
		grid_signed(g, *behind ? timeline_tid(s->r.t, o.thread) : -1);
		grid_number(g, o.ns);
		sched_add_proved(g, a, a->blocked);
		sched_add_proved(g, a, a->off);
		grid_ns(g, a->unknown);
		grid_number(g, a->woken);
		grid_number(g, a->moves);
		sched_add_proved(g, a, a->throttled);
		sched_add_proved(g, a, a->held);
		grid_number(g, a->ready_if);
	}
	sched_put(s, g, j, "threads", NULL);
	if (!strcmp(s->o->format, "table") && n < s->n)
		grid_say_rest(s->n - n, "thread");
}

static void sched_put_causes(struct sched *s, struct json *j)
{
	static const struct grid_column col[] = {
		{ "Blocked", NULL }, { NULL, "ns" },  { "Waits", "waits" },
		{ "For", "cause" },  { NULL, "pid" }, { "Tid", "tid" },
		{ "Comm", "comm" },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	size_t most = j ? s->o->limit : LONGEST;

	sort_items(s->cause, s->n_cause, sched_compare_causes);
	for (size_t i = 0; i < s->n_cause && i < most; i++) {
		const struct sched_cause *c = &s->cause[i];

		grid_ns(g, c->ns);
		grid_number(g, c->waits);
		grid_text(g, c->word);
		sched_add_name(s, g, c->thread);
	}
	sched_put(s, g, j, "blocked", "longest blocked, and for what:");
}

/* Writes all tables, in the chosen format. */
static void sched_put_all(struct sched *s)
{
	sched_sort(s, s->o->order);
	if (!strcmp(s->o->format, "json")) {
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_int(&j, "from_ns", s->from);
		json_int(&j, "to_ns", s->to);
		json_uint(&j, "ns", s->time);
		json_uint(&j, "proved_ns", s->time - s->unknown);
		json_uint(&j, "others", s->others);
		path_json_evidence(&s->r, &j, s->from, s->to);
		json_break(&j);
		sched_put_threads(s, &j);
		sched_put_causes(s, &j);
		json_finish(&j);
		return;
	}
	if (strcmp(s->o->format, "table") != 0) {
		sched_put_threads(s, NULL);
		return;
	}
	printf("%s in %s: %s of their time proved", HUMAN_NOUN(s->n, "thread"),
	       HUMAN_NS(s->to - s->from),
	       HUMAN_PERCENT(s->time - s->unknown, s->time));
	if (s->time > s->unknown)
		path_put_premise(&s->r, NULL, stdout);
	if (s->unknown)
		printf(", %s not known", HUMAN_PERCENT(s->unknown, s->time));
	path_put_losses(&s->r, stdout, s->from, s->to);
	if (s->others)
		printf("not shown: %s that only switches of these name\n",
		       HUMAN_NOUN(s->others, "thread"));
	if (s->off)
		fputs("off is blocked or ready: sched:sched_waking tells, "
		      "which was not recorded\n",
		      stdout);
	if (s->recorder)
		fputs("the recorder's own threads wake each other without a "
		      "record\n",
		      stdout);
	if (s->unknown)
		path_put_advice(&s->r, s->from, s->to);
	putchar('\n');
	sched_put_threads(s, NULL);
	/* The longest time that each thread was ready; the other forms have
	 * them in the rows of the threads. */
	static const struct grid_column col[] = {
		{ "Ready", NULL },  { "Time", NULL },	 { "CPU", NULL },
		{ "Behind", NULL }, { "Of it %", NULL }, { "Tid", NULL },
		{ "Comm", NULL },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	char text[SPAN_TEXT];
	unsigned int premises = 0;
	char title[256];

	grid_whole(g, "Time");

	sched_sort(s, NULL);
	for (size_t i = 0; i < s->n && i < LONGEST; i++) {
		const struct account *a = &s->th[i].a;
		struct occupant o;

		if (!a->delays)
			break;
		premises |= a->longest_if;
		grid_text(g, HUMAN_NS(sched_longest(a)));
		grid_text(g, span_text(text, s->o->wall, a->longest_from,
				       a->longest_to));
		grid_signed(g, a->longest_cpu);
		grid_text(g, sched_behind(s, a, &o, path_tell));
		grid_percent(g, o.ns, sched_longest(a));
		grid_signed(g, timeline_tid(s->r.t, s->th[i].thread));
		grid_text(g, path_comm(&s->r, s->th[i].thread));
	}
	snprintf(title, sizeof(title),
		 "longest ready%s, and who was on the CPU:",
		 limits_words(premises));
	sched_put(s, g, NULL, NULL, title);
	sched_put_causes(s, NULL);
}

/* Sets from and to: the time of records in --time. Returns 0, or -1 and
 * *err. */
static int sched_find_window(struct sched *s, struct err *err)
{
	int64_t first;
	int64_t last;

	if (filter_window(s->o->filter, s->r.db, &s->from, &s->to, err))
		return -1;
	timeline_span(s->r.t, &first, &last);
	raise_to(s->from, first);
	lower_to(s->to, last);
	if (s->from < s->to)
		return 0;
	if (s->o->filter->time)
		return err_set(err, ERR_USAGE,
			       "%s: no records of the scheduler in this time",
			       s->r.path);
	return err_set(err, ERR_FORMAT,
		       "%s: all records of the scheduler have one time, so "
		       "that nothing took any",
		       s->r.path);
}

int report_sched(struct store *db, const char *path, const struct sched_opts *o,
		 struct err *err)
{
	struct sched s = { .o = o, .r.names = o->names };
	int rc = path_open(&s.r, db, path, err);

	if (!rc)
		rc = sched_find_window(&s, err);
	if (!rc) {
		const struct filter *filter = s.o->filter;
		const struct account_ask ask = {
			.from = s.from,
			.to = s.to,
			.takes_cpu = filter->cpu ? sched_takes_cpu : NULL,
			.arg = filter,
		};

		for (uint32_t i = 0; i < s.r.t->n_thread; i++) {
			int64_t tid = timeline_tid(s.r.t, i);
			struct sched_thread th = { .thread = i };

			if (!filter_takes_thread(filter,
						 causes_pid(s.r.causes, tid),
						 tid, path_comm(&s.r, i)))
				continue;
			s.now = i;
			account_thread(&th.a, s.r.proofs, s.r.t, i, &ask,
				       sched_take_wait, &s);
			if (!account_time(&th.a))
				continue;
			if (causes_is_named_only(s.r.causes, tid)) {
				s.others++;
				continue;
			}
			*mem_add(s.th, s.n, s.cap) = th;
			s.time += account_time(&th.a);
			s.off += th.a.off;
			s.throttled += th.a.throttled;
			s.held += th.a.held;
			s.unknown += th.a.unknown;
			s.recorder |= s.r.t->thread[i].recorder && th.a.unknown;
			proofs_forget(s.r.proofs);
		}
	}
	if (!rc && !s.n)
		rc = err_set(err, ERR_USAGE,
			     "%s: no thread that the options select ran or "
			     "waited in this time",
			     path);
	if (!rc)
		sched_put_all(&s);
	path_close(&s.r);
	intern_release(&s.index);
	free_all(s.th, s.cause);
	return rc;
}
