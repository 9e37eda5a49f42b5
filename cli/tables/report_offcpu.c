/* report_offcpu.c - tables of the time that threads were off the CPU. */
#include "cli/tables/report.h"

#include <inttypes.h>
#include <math.h>

#include "cli/output/grid.h"
#include "cli/output/output.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "analyze/stacks/label.h"
#include "analyze/waits/waits.h"
#include "stitch/text/safe_text.h"
#include "analyze/stacks/stacks.h"
#include "analyze/stacks/trust.h"
#include "analyze/causes/wait_cause.h"
#include "analyze/stacks/report_rows.h"
#include "cli/output/term.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/intern.h"

#define LONGEST 10 /* longest waits shown in the text form */

/* The waits of one thread under one name. */
struct thread_sum {
	uint32_t name; /* label of the name */
	int64_t pid, tid;
	uint64_t waits[3], ns[3]; /* by enum offcpu_end */
	uint64_t longest;
	uint64_t ready, disk;	     /* parts of the time: ready to run, in
				      * state D */
	uint64_t woken, until_woken; /* waits with a waker, and the time until
				      * it woke the thread */
};

/* The waits for one thing in one place. */
struct cause_sum {
	enum wait_cause cause;
	struct wait_place place;
	uint64_t ns, waits, longest;
	int64_t first; /* event of the first one */
};

struct report_offcpu {
	struct json json; /* used for --json only */
	const char *format;
	size_t limit;
	bool people, full_names;
	const int64_t *wall;   /* wall_clock_take() */
	struct stacks *stacks; /* for names and judgements */
	struct trust *trust;   /* of the waits */
	struct labels *labels;
	struct thread_sum *sum;
	size_t n, cap;
	struct intern index; /* indices in sum[], by thread and name */
	struct wait_causes *causes;
	struct cause_sum *cause;
	size_t n_cause, cap_cause;
	struct intern cause_index; /* indices in cause[], by cause and place */
	bool threads;		   /* show threads, not causes */
	bool graph; /* callers take the place of the longest waits */
	struct offcpu_wait *wait;      /* the longest waits, sorted whenever the
					* array is full */
	size_t n_wait, cap_wait, keep; /* how many waits to show */
	struct offcpu_sums sums;
};

static uint64_t report_offcpu_length(const struct offcpu_wait *w)
{
	return (uint64_t)w->to - (uint64_t)w->from;
}

COMPARE_FUNCTION(compare_waits, struct offcpu_wait,
		 compare_numbers(report_offcpu_length(y),
				 report_offcpu_length(x))
			 ?: compare_numbers(x->event, y->event));

static void cut_waits(struct report_offcpu *rp)
{
	sort_items(rp->wait, rp->n_wait, compare_waits);
	lower_to(rp->n_wait, rp->keep);
}

/* Adds a wait to the sum of its cause and place. */
static void add_cause(struct report_offcpu *rp, const struct offcpu_wait *w)
{
	const struct cause_sum key = {
		.cause = offcpu_cause(rp->causes, w),
		.place = wait_causes_place(rp->causes, &w->at),
		.first = w->event,
	};
	const uint64_t word[3] = {
		key.cause,
		(uint64_t)key.place.in << 1 | key.place.has_in,
		(uint64_t)key.place.caller << 1 | key.place.has_caller,
	};
	uint32_t id = intern_add_bytes(&rp->cause_index, word, sizeof(word));
	uint64_t ns = report_offcpu_length(w);

	if (id == rp->n_cause)
		*mem_add(rp->cause, rp->n_cause, rp->cap_cause) = key;
	struct cause_sum *c = &rp->cause[id];
	c->ns += ns;
	c->waits++;
	if (ns > c->longest && !w->sum)
		c->longest = ns;
}

/* Adds a wait to all sums, and to the longest. */
static void report_offcpu_take_wait(struct report_offcpu *rp,
				    const struct offcpu_wait *w)
{
	const struct stacks_comm *c = stacks_comm(rp->stacks, w->at.comm);
	struct thread_sum key = {
		.name = labels_add_name(rp->labels, LABEL_GROUP, c->name),
		.pid = c->pid,
		.tid = w->tid,
	};
	uint64_t word[3] = { key.name, (uint64_t)key.pid, (uint64_t)key.tid };
	uint32_t id = intern_add_bytes(&rp->index, word, sizeof(word));

	if (id == rp->n)
		*mem_add(rp->sum, rp->n, rp->cap) = key;
	struct thread_sum *s = &rp->sum[id];
	struct stacks_group at = offcpu_group(&w->at);
	uint64_t ns = report_offcpu_length(w);
	const char *state = offcpu_state(w->state);

	s->waits[w->end]++;
	s->ns[w->end] += ns;
	if (w->end != OFFCPU_BACK)
		return;
	at.samples = 1;
	trust_add(rp->trust, &at);
	if (ns > s->longest && !w->sum)
		s->longest = ns;
	if (state[0] == 'R' && w->waker.runnable <= WAIT_READY)
		s->ready += ns;
	if (state[0] == 'D')
		s->disk += ns;
	if (waker_is_known(&w->waker)) {
		s->woken++;
		s->until_woken += (uint64_t)w->waker.ready - (uint64_t)w->from;
	}
	add_cause(rp, w);
	/* The array has room for twice as many, so that it is rarely sorted. */
	if (rp->keep <= SIZE_MAX / 2 && rp->n_wait >= rp->keep * 2)
		cut_waits(rp);
	*mem_add(rp->wait, rp->n_wait, rp->cap_wait) = *w;
}

COMPARE_FUNCTION_OF(compare_sums, struct thread_sum, struct labels,
		    compare_numbers(y->ns[OFFCPU_BACK], x->ns[OFFCPU_BACK])
			    ?: compare_numbers(x->tid, y->tid)
			    ?: label_compare(labels_get(of, x->name),
					     labels_get(of, y->name)));

static const struct grid_column thread_columns[] = {
	{ "Off CPU", NULL },	  { NULL, "ns" },
	{ "Share %", "percent" }, { "Waits", "waits" },
	{ "Longest", NULL },	  { NULL, "longest_ns" },
	{ "Ready", NULL },	  { NULL, "ready_ns" },
	{ "In D", NULL },	  { NULL, "disk_ns" },
	{ NULL, "woken" },	  { NULL, "until_woken_ns" },
	{ NULL, "uncertain" },	  { NULL, "uncertain_ns" },
	{ NULL, "open" },	  { NULL, "open_ns" },
	{ NULL, "pid" },	  { "Tid", "tid" },
	{ "Comm", "comm" },
};

static void print_threads(struct report_offcpu *rp)
{
	struct grid *g OWNED_GRID =
		grid_new(thread_columns, ARRAY_SIZE(thread_columns));
	size_t n = rp->n < rp->limit ? rp->n : rp->limit;

	sort_items_by(rp->sum, rp->n, compare_sums, rp->labels);
	for (size_t i = 0; i < n; i++) {
		const struct thread_sum *s = &rp->sum[i];

		grid_ns(g, s->ns[OFFCPU_BACK]);
		grid_percent(g, s->ns[OFFCPU_BACK], rp->sums.ns[OFFCPU_BACK]);
		grid_number(g, s->waits[OFFCPU_BACK]);
		grid_ns(g, s->longest);
		grid_ns(g, s->ready);
		grid_ns(g, s->disk);
		grid_number(g, s->woken);
		grid_number(g, s->until_woken);
		grid_number(g, s->waits[OFFCPU_UNCERTAIN]);
		grid_number(g, s->ns[OFFCPU_UNCERTAIN]);
		grid_number(g, s->waits[OFFCPU_OPEN]);
		grid_number(g, s->ns[OFFCPU_OPEN]);
		grid_signed(g, s->pid);
		grid_signed(g, s->tid);
		grid_text(g, labels_get(rp->labels, s->name)->name);
	}
	grid_put(g, rp->format, &rp->json, "threads");
	if (rp->people && n < rp->n)
		grid_say_rest(rp->n - n, "thread");
}

static const struct grid_column cause_columns[] = {
	{ "Off CPU", NULL },  { NULL, "ns" },	   { "Share %", "percent" },
	{ "Waits", "waits" }, { "Longest", NULL }, { NULL, "longest_ns" },
	{ "For", "cause" },   { "In", NULL },	   { NULL, "function" },
	{ NULL, "caller" },   { NULL, "image" },
};

static const struct label *report_offcpu_label(const struct report_offcpu *rp,
					       bool has, uint32_t id)
{
	static const struct label none = { .name = "", .image = "" };

	return has ? labels_get(rp->labels, id) : &none;
}

/* Kernel threads that wait for work come last: nothing waits for them. */
COMPARE_FUNCTION(compare_causes, struct cause_sum,
		 compare_numbers(x->cause == WAIT_KERNEL,
				 y->cause == WAIT_KERNEL)
			 ?: compare_numbers(y->ns, x->ns)
			 ?: compare_numbers(x->first, y->first));

static void print_causes(struct report_offcpu *rp)
{
	struct grid *g OWNED_GRID =
		grid_new(cause_columns, ARRAY_SIZE(cause_columns));
	size_t n = rp->n_cause < rp->limit ? rp->n_cause : rp->limit;

	sort_items(rp->cause, rp->n_cause, compare_causes);
	for (size_t i = 0; i < n; i++) {
		const struct cause_sum *c = &rp->cause[i];
		const struct wait_place *p = &c->place;
		const char *shown = wait_causes_in(rp->causes, p);
		const struct label *in =
			report_offcpu_label(rp, p->has_in, p->in);
		const struct label *caller =
			report_offcpu_label(rp, p->has_caller, p->caller);
		/* "user_b <- worker"; if the caller is missing, the name says
		 * so */
		bool named = p->has_caller && shown == label_shown(in);
		const char *by = named ? label_shown(caller) : "";
		char *text OWNED =
			mem_printf("%s%s%s", shown, named ? " <- " : "", by);

		grid_ns(g, c->ns);
		grid_percent(g, c->ns, rp->sums.ns[OFFCPU_BACK]);
		grid_number(g, c->waits);
		grid_ns(g, c->longest);
		grid_text(g, wait_cause_word(c->cause));
		grid_text(g, text);
		grid_text(g, in->name);
		grid_text(g, caller->name);
		grid_text(g, in->image);
	}
	grid_put(g, rp->format, &rp->json, "causes");
	if (rp->people && n < rp->n_cause)
		grid_say_rest(rp->n_cause - n, "row");
}

static const struct grid_column wait_columns[] = {
	{ "Off CPU", NULL },  { NULL, "ns" },	     { "From", NULL },
	{ NULL, "from_ns" },  { NULL, "to_ns" },     { "State", "state" },
	{ "Tid", "tid" },     { "Comm", "comm" },    { NULL, "cause" },
	{ "In", NULL },	      { NULL, "function" },  { NULL, "short" },
	{ "Woken by", NULL }, { NULL, "waker" },     { "Proof", NULL },
	{ NULL, "proof" },    { NULL, "waker_tid" }, { NULL, "woken_ns" },
	{ NULL, "event_id" },
};

/* Adds the start or end of a wait; a sum of waits has no place in time. */
static void report_offcpu_add_end(struct grid *g, const struct offcpu_wait *w,
				  int64_t at)
{
	if (w->sum)
		grid_real(g, NAN, false);
	else
		grid_signed(g, at);
}

static void print_waits(struct report_offcpu *rp)
{
	struct grid *g OWNED_GRID =
		grid_new(wait_columns, ARRAY_SIZE(wait_columns));
	char text[SPAN_TEXT];

	grid_names(g, "In", !rp->full_names);
	grid_whole(g, "From");
	cut_waits(rp);
	for (size_t i = 0; i < rp->n_wait; i++) {
		const struct offcpu_wait *w = &rp->wait[i];
		const struct wait_place p =
			wait_causes_place(rp->causes, &w->at);
		const char *shown = wait_causes_in(rp->causes, &p);
		const struct label *in =
			report_offcpu_label(rp, p.has_in, p.in);

		grid_ns(g, report_offcpu_length(w));
		grid_text(g, w->sum ? "a sum"
				    : span_moment(text, rp->wall, w->from));
		report_offcpu_add_end(g, w, w->from);
		report_offcpu_add_end(g, w, w->to);
		grid_text(g, offcpu_state(w->state));
		grid_signed(g, w->tid);
		grid_text(g, stacks_comm(rp->stacks, w->at.comm)->name);
		grid_text(g, wait_cause_word(offcpu_cause(rp->causes, w)));
		grid_text(g, shown);
		grid_text(g, in->name);
		grid_text(g, label_shown(in));
		/* Adds the name of the waker, or "[timer]", and the proof. */
		const char *name = waker_name(rp->stacks, &w->waker);
		bool thread = w->waker.what == CHAIN_STATES;
		bool woken = waker_is_known(&w->waker);
		bool asleep =
			w->waker.asleep && offcpu_state(w->state)[0] != 'R';
		char word[WAKER_IRQ + 3];

		snprintf(word, sizeof(word), "[%.*s]", WAKER_IRQ, name);
		name = woken && !thread ? word : name;
		grid_text(g, woken && thread
				     ? stacks_tell_comm(rp->stacks,
							w->waker.at.comm)
				     : name);
		grid_text(g, name);
		asleep &= rp->sums.wakes;
		grid_text(g, asleep ? proof_word(w->waker.proof) : "");
		grid_text(g, asleep ? proof_key_of(w->waker.proof,
						   w->waker.premise)
				    : "");
		grid_signed(g, w->waker.tid);
		grid_signed(g, woken ? w->waker.ready : 0);
		grid_signed(g, w->event);
	}
	grid_put(g, rp->format, &rp->json, "longest");
}

static void report_offcpu_print_head(const struct report_offcpu *rp,
				     const char *path)
{
	const struct offcpu_sums *s = &rp->sums;
	struct term_lines l;
	FILE *out = term_lines_begin(&l, stdout);
	char trust[TRUST_SENTENCE];

	trust_say(rp->trust, trust);
	fprintf(out, "%s\n", trust);
	safe_text_put(out, path, 0, 0);
	fprintf(out, ": %s, %s together%s\n",
		HUMAN_NOUN(s->waits[OFFCPU_BACK], "wait"),
		HUMAN_NS(s->ns[OFFCPU_BACK]),
		s->records ? ", by the records of switches" : "");
	if (s->whole)
		fputs("perf record --off-cpu measured them: those below its "
		      "threshold are sums, each shown as one wait\n",
		      out);
	if (s->mixed)
		fprintf(out,
			"not counted: %" PRIu64 " of these sums, %s: another "
			"capture reports a part of their waits\n",
			s->mixed, HUMAN_NS(s->mixed_ns));
	if (s->waits[OFFCPU_OPEN])
		fprintf(out,
			"not counted: %" PRIu64 " that did not end before the "
			"capture, %s of it until then\n",
			s->waits[OFFCPU_OPEN], HUMAN_NS(s->ns[OFFCPU_OPEN]));
	if (s->waits[OFFCPU_UNCERTAIN])
		fprintf(out, "not counted: %" PRIu64 " uncertain, %s: %s\n",
			s->waits[OFFCPU_UNCERTAIN],
			HUMAN_NS(s->ns[OFFCPU_UNCERTAIN]), offcpu_reason(s));
	if (!s->wakes)
		fputs("wakers: not known without sched:sched_switch and "
		      "sched:sched_waking of all CPUs\n",
		      out);
	term_lines_end(&l);
	putchar('\n');
}

static void report_offcpu_print_all(struct report_offcpu *rp, const char *path)
{
	if (!strcmp(rp->format, "json")) {
		/* The caller finishes the JSON. */
		const struct offcpu_sums *s = &rp->sums;
		struct json *j = &rp->json;

		json_answer(j, stdout, JSON_COMPACT);
		trust_put_json(rp->trust, j);
		json_uint(j, "waits", s->waits[OFFCPU_BACK]);
		json_uint(j, "ns", s->ns[OFFCPU_BACK]);
		json_uint(j, "open", s->waits[OFFCPU_OPEN]);
		json_uint(j, "open_ns", s->ns[OFFCPU_OPEN]);
		json_uint(j, "uncertain", s->waits[OFFCPU_UNCERTAIN]);
		json_uint(j, "uncertain_ns", s->ns[OFFCPU_UNCERTAIN]);
		json_uint(j, "mixed", s->mixed);
		json_uint(j, "mixed_ns", s->mixed_ns);
		json_uint(j, "lost", s->lost);
		json_bool(j, "wakers_known", s->wakes);
		json_break(j);
		print_causes(rp);
		print_threads(rp);
		print_waits(rp);
		return;
	}
	if (rp->people)
		report_offcpu_print_head(rp, path);
	if (rp->threads)
		print_threads(rp);
	else
		print_causes(rp);
	if (output_is_csv(rp->format) || rp->graph)
		return;
	fputs("\nlongest waits:\n\n", stdout);
	print_waits(rp);
}

int report_offcpu(struct store *db, const char *path,
		  const struct report_opts *o, struct err *err)
{
	struct report_offcpu rp = {
		.format = o->format,
		.limit = o->limit,
		.people = !strcmp(o->format, "table"),
		.full_names = o->names.full,
		.wall = o->wall_clock,
		.labels = labels_new(),
		.threads = o->keys == KEY_COMM,
		.graph = o->graph,
	};
	struct stacks_opts so = {
		.filter = o->filter,
		.names = o->names,
		.inlined = o->inlined,
		.gaps = true,
		.labels = rp.labels,
		.no_groups = true,
	};
	bool json = !strcmp(o->format, "json");
	int rc = -1;

	rp.keep = rp.people && o->limit > LONGEST ? LONGEST : o->limit;
	rp.stacks = stacks_load(db, &so, err);
	if (rp.stacks) {
		labels_shorten(rp.labels, &o->names);
		rp.causes = wait_causes_new(rp.stacks);
		rp.trust = trust_new(db, rp.stacks->code, err);
	}
	const struct waits_ask ask = { .filter = o->filter,
				       .stacks = rp.stacks,
				       .causes = rp.causes };

	if (rp.trust) {
		trust_of_waits(rp.trust);
		struct waits *w = waits_open(db, path, &ask, err);
		struct waits_item item;

		while ((rc = waits_next(w, &item, err)) > 0)
			if (item.kind == WAITS_WAIT)
				report_offcpu_take_wait(&rp, &item.wait);
		waits_close(w, &rp.sums);
	}
	if (!rc)
		report_offcpu_print_all(&rp, path);
	if (!rc && o->graph) {
		/* the tree of callers of each place, below the table or as a
		 * member */
		struct report_opts tree = *o;

		tree.json = json ? &rp.json : NULL;
		tree.inverted = true;
		tree.below = true;
		rc = report_table(db, path, &tree, err);
	}
	if (!rc && json)
		json_finish(&rp.json);
	wait_causes_free(rp.causes);
	intern_release(&rp.cause_index);
	free(rp.cause);
	trust_free(rp.trust);
	stacks_free(rp.stacks);
	labels_free(rp.labels);
	intern_release(&rp.index);
	free_all(rp.sum, rp.wait);
	return rc;
}
