/* report_latency.c - how long pairs of events took: sums of those that are
 * proved, how many others there are, and how much these may change. */
#include <inttypes.h>

#include "cli/args/status.h"
#include "analyze/latency/calls.h"
#include "analyze/latency/callers.h"
#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/latency/files.h"
#include "analyze/latency/intervals.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "analyze/path/latency_sched.h"
#include "cli/path/path.h"
#include "cli/tables/report.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define BINS_MAX 63
#define LATENCY_KEY 300
/* Frames of a stack on a screen: the innermost, and the outermost ones. */
#define CHAIN_LINES 12
#define STACK_INNER 8
#define STACK_OUTER 2
/* ns: a disk seldom takes so long, and a wait for others often does. */
#define LONG_NS 100000000

/* From this many lengths on, equal ones are merged before the array grows: a
 * long recording has fewer distinct lengths than intervals. */
#define LENGTHS_MANY 4096

struct latency_length {
	int64_t ns;
	uint64_t n; /* intervals that took so long */
};

/* The intervals of one kind and name. */
struct latency_row {
	uint32_t kind, label; /* ids in labels */
	uint64_t errors;
	uint64_t verdict[INTERVAL_VERDICTS];
	uint64_t count, total; /* of proved and ambiguous ones; total: ns */
	int64_t longest;       /* ns, of these, at least */
	struct latency_length *length; /* of proved ones */
	size_t n, cap;
	struct interval_range *range; /* of those not proved */
	size_t n_range, cap_range;
	uint64_t least, most; /* ns, sums of other ones; most: UINT64_MAX,
			       * any */
};

/* One of the longest intervals. */
struct latency_worst {
	struct interval i;
	int64_t ns; /* its length */
	const char *kind, *name;
	const char *by; /* of interval.by */
	const struct intervals_thread *thread;
	struct label_list stack; /* where it began, outermost first */
};

struct latency {
	const struct latency_opts *o;
	const char *path;
	struct intervals *iv;
	struct latency_sched *sched;
	int64_t from, to;    /* --time */
	int64_t first, last; /* of what was recorded */
	struct latency_row *row;
	size_t n, cap;
	struct intern labels, index; /* of row[] */
	struct latency_worst *worst; /* the longest first */
	size_t n_worst, cap_worst;
	struct callers *stacks; /* of worst[]; NULL: of none */
	struct files *files;	/* likewise */
	uint64_t verdict[INTERVAL_VERDICTS];
};

/* Returns the number of an interval's thread in the timeline. */
static uint32_t latency_thread(const struct latency *l,
			       const struct latency_worst *w)
{
	return l->iv ? causes_thread_number(l->sched->r.causes, w->i.thread)
		     : w->i.thread;
}

/* Writes what most of an interval is put down to. Returns out. */
static const char *latency_behind(const struct latency *l,
				  const struct latency_worst *w,
				  char out[LATENCY_KEY])
{
	snprintf(out, LATENCY_KEY, "not known");
	if (l->sched && w->i.verdict == INTERVAL_PROVED)
		latency_sched_behind(l->sched, latency_thread(l, w), w->i.begin,
				     w->i.end, out, LATENCY_KEY);
	return out;
}

COMPARE_BY(latency_compare_lengths, struct latency_length, ns);

/* Sorts lengths, and adds up equal ones. Returns how many are left. */
static size_t latency_add_up(struct latency_length *length, size_t n)
{
	size_t to = 0;

	sort_items(length, n, latency_compare_lengths);
	for (size_t i = 0; i < n; i++)
		if (to && length[to - 1].ns == length[i].ns)
			length[to - 1].n += length[i].n;
		else
			length[to++] = length[i];
	return to;
}

/* Adds an interval that the options select to its row, and to the longest. */
static void latency_take(struct latency *l, const struct latency_worst *w,
			 bool calls)
{
	const struct interval *i = &w->i;
	int64_t at = i->begin != INTERVAL_NEVER ? i->begin : i->end;
	char text[LATENCY_KEY];
	const char *key = text;

	if (at < l->from || at >= l->to ||
	    !filter_takes_thread(l->o->filter, w->thread->pid, w->thread->tid,
				 w->thread->comm) ||
	    (l->o->filter->cpu && !filter_takes_cpu(l->o->filter, i->cpu)))
		return;
	const struct intervals_thread *t = w->thread;
	const char *by = l->o->by;

	if (!strcmp(by, "name"))
		key = w->name;
	else if (!strcmp(by, "kind"))
		key = w->kind;
	else if (!strcmp(by, "comm"))
		key = t->comm;
	else if (!strcmp(by, "tid"))
		snprintf(text, LATENCY_KEY, "%s/%" PRId64, t->comm, t->tid);
	else if (!strcmp(by, "pid"))
		snprintf(text, LATENCY_KEY, "%" PRId64, t->pid);
	else if (!strcmp(by, "behind"))
		latency_behind(l, w, text);
	else if (!strcmp(by, "cpu") && i->cpu >= 0)
		snprintf(text, LATENCY_KEY, "%" PRId32, i->cpu);
	else
		key = !strcmp(by, "cpu") ? ""
		      : l->iv		 ? w->by
			      : latency_sched_caller(l->sched, i->begin_event);
	key = *key ? key : strcmp(by, "name") ? "not known" : "";
	if (l->o->name && strcmp(l->o->name, w->name) != 0 &&
	    strcmp(l->o->name, key) != 0)
		return;
	const uint32_t word[2] = { intern_add(&l->labels, w->kind),
				   intern_add(&l->labels, key) };
	uint32_t id = intern_add_bytes(&l->index, word, sizeof(word));

	if (id == l->n)
		*mem_add(l->row, l->n, l->cap) =
			(struct latency_row){ .kind = word[0],
					      .label = word[1] };
	struct latency_row *r = &l->row[id];
	r->verdict[i->verdict]++;
	l->verdict[i->verdict]++;
	if (i->verdict == INTERVAL_CANCELLED)
		return;
	struct interval_range range = interval_range(i, l->first, l->last);
	/* ambiguous ones have one sum, whichever of them ended when */
	if (i->verdict == INTERVAL_PROVED || i->verdict == INTERVAL_AMBIGUOUS) {
		r->count++;
		r->total += (uint64_t)w->ns;
		raise_to(r->longest, w->ns);
		r->errors +=
			calls && i->has_ret && i->ret < 0 && i->ret >= -4095;
	} else {
		r->least += (uint64_t)range.least;
		r->most = range.most == INT64_MAX || r->most > INT64_MAX
				  ? UINT64_MAX
				  : r->most + (uint64_t)range.most;
	}
	if (i->verdict != INTERVAL_PROVED) {
		*mem_add(r->range, r->n_range, r->cap_range) = range;
		return;
	}
	if (r->n == r->cap && r->n >= LENGTHS_MANY) {
		r->n = latency_add_up(r->length, r->n);
		if (r->n > r->cap / 2)
			mem_grow(r->length, r->cap, r->cap + 1);
	}
	*mem_add(r->length, r->n, r->cap) = (struct latency_length){ w->ns, 1 };
	/* keep the interval if it is one of the longest */
	size_t place = l->n_worst;

	if (place == l->o->worst) {
		if (!place || l->worst[place - 1].ns >= w->ns)
			return;
		place--;
	} else {
		l->n_worst++;
		mem_grow(l->worst, l->cap_worst, l->n_worst);
	}
	for (; place && l->worst[place - 1].ns < w->ns; place--)
		l->worst[place] = l->worst[place - 1];
	l->worst[place] = *w;
}

static void latency_take_interval(void *arg, const struct interval *i)
{
	struct latency *l = arg;
	const struct latency_worst w = { *i,
					 interval_ns(i),
					 l->iv->pair[i->pair].kind->word,
					 intern_get(&l->iv->names, i->name),
					 intern_get(&l->iv->names, i->by),
					 intervals_thread(l->iv, i->thread),
					 { 0 } };

	latency_take(l, &w, l->iv->pair[i->pair].kind->calls);
}

static void latency_take_sched(void *arg, const struct interval *i,
			       const char *kind, const char *name,
			       const struct intervals_thread *t)
{
	const struct latency_worst w = {
		*i, interval_span(i->begin, i->end), kind, name, "", t, { 0 }
	};

	latency_take(arg, &w, false);
}

/* Returns a percentile: the least length that per_mille of all do not
 * exceed. */
static int64_t latency_at(const struct latency_length *length, size_t n,
			  unsigned int per_mille)
{
	uint64_t all = 0, rank;

	for (size_t i = 0; i < n; i++)
		all += length[i].n;
	rank = (all * per_mille + 999) / 1000;
	for (size_t i = 0; i < n; i++) {
		if (rank <= length[i].n)
			return length[i].ns;
		rank -= length[i].n;
	}
	return 0;
}

/* Returns the least and the most that a percentile can be: with all that are
 * not proved as short, or as long, as they may be. */
static struct interval_range latency_bounds(const struct latency_row *r,
					    unsigned int per_mille)
{
	size_t n = r->n + r->n_range;
	struct latency_length *all OWNED = mem_new(n + 1, sizeof(*all));
	struct interval_range out = { 0, 0 };

	for (int most = 0; most < 2; most++) {
		if (r->n)
			memcpy(all, r->length, r->n * sizeof(*all));
		for (size_t i = 0; i < r->n_range; i++)
			all[r->n + i] = (struct latency_length){
				most ? r->range[i].most : r->range[i].least, 1
			};
		*(most ? &out.most : &out.least) =
			latency_at(all, latency_add_up(all, n), per_mille);
	}
	return out;
}

/* Returns the least and the most that the average can be. */
static struct interval_range latency_average(const struct latency_row *r)
{
	uint64_t n = r->count + r->n_range - r->verdict[INTERVAL_AMBIGUOUS];
	struct interval_range out = { 0, INT64_MAX };

	if (!n)
		return (struct interval_range){ 0, 0 };
	out.least = (int64_t)((r->total + r->least) / n);
	if (r->most < UINT64_MAX - r->total)
		out.most = (int64_t)((r->total + r->most) / n);
	return out;
}

/* Returns how many are not known. Cancelled ones have no length. */
static uint64_t latency_unknown(const uint64_t verdict[INTERVAL_VERDICTS])
{
	uint64_t n = 0;

	for (size_t i = INTERVAL_CONSISTENT; i < INTERVAL_CANCELLED; i++)
		n += verdict[i];
	return n;
}

static uint64_t latency_order(const struct latency_row *r, const char *order)
{
	if (!strcmp(order, "count"))
		return r->count;
	if (!strcmp(order, "max"))
		return (uint64_t)r->longest;
	if (!strcmp(order, "average"))
		return r->count ? r->total / r->count : 0;
	if (!strcmp(order, "p99"))
		return (uint64_t)latency_at(r->length, r->n, 990);
	return !strcmp(order, "unknown") ? latency_unknown(r->verdict)
					 : r->total;
}

COMPARE_FUNCTION_OF(latency_compare_rows, struct latency_row, struct latency,
		    compare_numbers(latency_order(y, of->o->order),
				    latency_order(x, of->o->order))
			    ?: compare_numbers(y->total, x->total)
			    ?: strcmp(intern_get(&of->labels, x->kind),
				      intern_get(&of->labels, y->kind))
			    ?: strcmp(intern_get(&of->labels, x->label),
				      intern_get(&of->labels, y->label)));

static void latency_add_ns(struct grid *g, int64_t ns, bool known)
{
	grid_text(g, known ? HUMAN_NS(ns) : "-");
	grid_signed(g, known ? ns : -1);
}

/* Adds "1.2 ms..3.4 ms". */
static void latency_add_range(struct grid *g, struct interval_range b)
{
	char least[32];
	char text[80];

	human_ns(least, sizeof(least), b.least);
	if (b.least == b.most)
		snprintf(text, sizeof(text), "%s", least);
	else
		snprintf(text, sizeof(text), "%s..%s", least,
			 b.most == INT64_MAX ? "" : HUMAN_NS(b.most));
	grid_text(g, text);
}

static void latency_add_limits(struct grid *g, struct interval_range b)
{
	grid_signed(g, b.least);
	grid_signed(g, b.most == INT64_MAX ? -1 : b.most);
}

static const struct grid_column latency_columns[] = {
	{ "Kind", "kind" },
	{ "Name", "name" },
	{ "Count", "count" },
	{ "Errors", "errors" },
	GRID_TWO("Total", "total_ns"),
	GRID_TWO("Average", "average_ns"),
	GRID_TWO("p50", "p50_ns"),
	{ NULL, NULL },
	{ NULL, "p90_ns" },
	GRID_TWO("p99", "p99_ns"),
	GRID_TWO("Max", "max_ns"),
	{ NULL, "wall_percent" },
	{ "Unknown", "unknown" },
	{ "Average is", NULL },
	{ "p50 is", NULL },
	GRID_TWO("p99 is", "p99_least_ns"),
	{ NULL, "p99_most_ns" },
	{ NULL, "consistent" },
	{ NULL, "began_before" },
	{ NULL, "unfinished" },
	{ NULL, "begin_lost" },
	{ NULL, "end_lost" },
	{ NULL, "unexplained" },
	{ NULL, "cancelled" },
	{ NULL, "ambiguous" },
	{ NULL, "average_least_ns" },
	{ NULL, "average_most_ns" },
	{ NULL, "p50_least_ns" },
	{ NULL, "p50_most_ns" },
};
#define LATENCY_ERRORS 3
#define LATENCY_UNKNOWN 17
#define LATENCY_RANGES 18 /* and the next two */

static void latency_add_row(const struct latency *l, struct grid *g,
			    const struct latency_row *r)
{
	const struct interval_range average = latency_average(r);
	const struct interval_range half = latency_bounds(r, 500);
	const struct interval_range most = latency_bounds(r, 990);
	bool any = r->n > 0;

	grid_text(g, intern_get(&l->labels, r->kind));
	grid_text(g, intern_get(&l->labels, r->label));
	grid_number(g, r->count);
	grid_number(g, r->errors);
	latency_add_ns(g, (int64_t)r->total, true);
	latency_add_ns(g, r->count ? (int64_t)(r->total / r->count) : 0,
		       r->count);
	latency_add_ns(g, latency_at(r->length, r->n, 500), any);
	latency_add_ns(g, latency_at(r->length, r->n, 900), any);
	latency_add_ns(g, latency_at(r->length, r->n, 990), any);
	latency_add_ns(g, r->longest, r->count);
	grid_percent(g, r->total,
		     l->last > l->first ? (uint64_t)(l->last - l->first) : 0);
	grid_number(g, latency_unknown(r->verdict));
	latency_add_range(g, average);
	latency_add_range(g, half);
	latency_add_range(g, most);
	latency_add_limits(g, most);
	for (size_t i = INTERVAL_CONSISTENT; i < INTERVAL_VERDICTS; i++)
		grid_number(g, r->verdict[i]);
	latency_add_limits(g, average);
	latency_add_limits(g, half);
}

/* Returns whether the times of a row may be spent without a request for
 * anything: by timers, a virtual CPU that halts, or calls that wait. */
static bool latency_may_idle(const struct latency *l,
			     const struct latency_row *r)
{
	const char *kind = intern_get(&l->labels, r->kind);
	const char *name = intern_get(&l->labels, r->label);
	uint64_t longer = 0;
	bool either;

	if (!strcmp(kind, "timer-wait") ||
	    (!strcmp(kind, "kvm") && !strcasecmp(name, "hlt")))
		return true;
	if (strcmp(kind, "syscall") != 0 || !calls_wait(name, &either))
		return false;
	for (size_t i = r->n; either && i-- > 0 && r->length[i].ns >= LONG_NS;)
		longer += (uint64_t)r->length[i].ns * r->length[i].n;
	return !either || longer > r->total / 2;
}

/* Adds the first rows of a kind, idle ones last. Returns how many. */
static size_t latency_add_kind(const struct latency *l, struct grid *g,
			       uint32_t kind)
{
	size_t n = 0;

	for (int idle = 0; idle <= 1; idle++)
		for (size_t i = 0; i < l->n && n < l->o->each; i++) {
			const struct latency_row *r = &l->row[i];

			if (r->kind != kind || latency_may_idle(l, r) != idle)
				continue;
			latency_add_row(l, g, r);
			n++;
		}
	return n;
}

/* The same for each kind: kinds with a row that is not idle come first. */
static size_t latency_add_each(const struct latency *l, struct grid *g)
{
	struct intern shown RELEASED_BY(intern_release) = { 0 };
	size_t rows = 0;

	for (int idle = 0; idle <= 1; idle++)
		for (size_t i = 0; i < l->n; i++) {
			const struct latency_row *r = &l->row[i];
			size_t known = shown.n;

			if ((idle || !latency_may_idle(l, r)) &&
			    intern_add(&shown, intern_get(&l->labels,
							  r->kind)) == known)
				rows += latency_add_kind(l, g, r->kind);
		}
	return rows;
}

/* Writes the table of rows, with the columns that have something to show. */
static void latency_put_rows(const struct latency *l, struct json *j)
{
	size_t n = l->n < l->o->limit ? l->n : l->o->limit;
	struct grid_column col[ARRAY_SIZE(latency_columns)];
	bool ranges =
		latency_unknown(l->verdict) || l->verdict[INTERVAL_AMBIGUOUS];
	bool each = l->o->each && !strcmp(l->o->format, "table") &&
		    any_where(l->n, i, l->row[i].kind != l->row[0].kind);

	memcpy(col, latency_columns, sizeof(col));
	if (!any_where(l->n, i, l->row[i].errors))
		col[LATENCY_ERRORS].title = NULL;
	if (!latency_unknown(l->verdict))
		col[LATENCY_UNKNOWN].title = NULL;
	for (size_t i = 0; !ranges && i < 3; i++)
		col[LATENCY_RANGES + i].title = NULL;
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	for (size_t i = 0; ranges && i < 3; i++)
		grid_spare(g, col[LATENCY_RANGES + i].title);
	grid_spare(g, "p50");
	if (each)
		n = latency_add_each(l, g);
	for (size_t i = 0; !each && i < n; i++)
		latency_add_row(l, g, &l->row[i]);
	grid_put(g, l->o->format, j, "rows");
	if (each && n < l->n) {
		char *path OWNED = safe_text_word(l->path);

		printf("the first %zu of each kind; 'backstitch latency KIND "
		       "%s' has all of one, '--limit 0' all %zu rows\n",
		       l->o->each, path, l->n);
	} else if (!strcmp(l->o->format, "table") && n < l->n) {
		grid_say_rest(l->n - n, "row");
	}
}

/* Writes the functions in which the longest intervals began, outermost first,
 * as `path --json` does. */
static void latency_json_stacks(const struct latency *l, struct json *j)
{
	if (!l->stacks)
		return;
	json_array(j, "stacks");
	for (size_t i = 0; i < l->n_worst; i++) {
		const struct label_list *f = &l->worst[i].stack;

		json_array(j, NULL);
		for (size_t k = 0; k < f->n; k++)
			json_text(j, NULL,
				  callers_label(l->stacks, f->label[k])->name);
		json_end(j);
	}
	json_end(j);
}

/* Prints the stack in which an interval began, innermost first. */
static void latency_put_stack(const struct latency *l,
			      const struct latency_worst *w)
{
	size_t n = w->stack.n, rest = 0;
	char *text OWNED = NULL;
	FILE *out;

	if (!n)
		return;
	if (n > STACK_INNER + STACK_OUTER + 1)
		rest = n - STACK_INNER - STACK_OUTER;
	out = mem_stream(&text, NULL);
	fprintf(out, "%s of ", HUMAN_NS(w->ns));
	safe_text_put(out, w->thread->comm, 0, 0);
	fprintf(out, "/%" PRId64 ": ", w->thread->tid);
	for (size_t i = 0; i < n; i++) {
		const struct label *f =
			callers_label(l->stacks, w->stack.label[n - 1 - i]);

		if (i)
			fputs(" < ", out);
		if (rest && i == STACK_INNER) {
			fprintf(out, "... %zu more ...", rest);
			i += rest - 1;
			continue;
		}
		safe_text_put(out, label_shown(f), 0, 0);
	}
	mem_stream_end(out);
	putchar('\n');
	term_wrap(stdout, text, 0, 4, term_columns(stdout));
}

/* Prints the chain of path for an interval, if its thread has one; as an item
 * of an array, which is empty without a chain, if j is not NULL. */
static void latency_put_chain(const struct latency *l,
			      const struct latency_worst *w, struct json *j)
{
	const struct path_opts o = { .lines = CHAIN_LINES, .wall = l->o->wall };
	struct path_run *r = &l->sched->r;
	uint32_t thread = latency_thread(l, w);

	if (j) {
		json_object(j, NULL);
		if (thread != TIMELINE_NONE)
			path_json(r, j, thread, w->i.begin, w->i.end);
		json_end(j);
	} else if (thread != TIMELINE_NONE) {
		putchar('\n');
		/* without samples that can be read, the screen says less */
		path_screen(r, &o, thread, w->i.begin, w->i.end,
			    &(struct err){ 0 });
	}
}

/* Adds the descriptor of a call, and its file: "3 (/var/lib/x/wal)". Returns
 * whether it is known. g NULL: adds nothing. */
static bool latency_descriptor(const struct latency *l,
			       const struct latency_worst *w, struct grid *g)
{
	char *text OWNED = NULL;
	struct files_call c;
	bool is = l->files && w->i.begin != INTERVAL_NEVER &&
		  files_call(l->files, w->thread->tid, w->i.begin, w->i.begin,
			     &c);

	if (is)
		text = mem_printf(c.name ? "%" PRId64 " (%s)" : "%" PRId64,
				  c.fd, c.name);
	if (g)
		grid_text(g, text ? text : "");
	return is;
}

/* Writes the longest intervals, with their stacks and chains. */
static void latency_put_worst(const struct latency *l, struct json *j)
{
	bool any = any_where(l->n_worst, i,
			     latency_descriptor(l, &l->worst[i], NULL));
	const struct grid_column col[] = {
		GRID_TWO("Took", "ns"),
		GRID_TWO("Time", "begin_ns"),
		{ NULL, "end_ns" },
		{ "Kind", "kind" },
		{ "Name", "name" },
		{ NULL, "result" },
		{ NULL, "pid" },
		{ "Tid", "tid" },
		{ "Comm", "comm" },
		{ NULL, "cpu" },
		{ "Event", "begin_event" },
		{ NULL, "end_event" },
		{ l->sched ? "Behind" : NULL, "behind" },
		{ any ? "Descriptor" : NULL, "descriptor" },
	};
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));
	char text[SPAN_TEXT], whom[LATENCY_KEY];

	grid_whole(g, "Time");
	for (size_t i = 0; i < l->n_worst; i++) {
		const struct latency_worst *w = &l->worst[i];

		latency_add_ns(g, w->ns, true);
		grid_text(g, span_text(text, l->o->wall, w->i.begin, w->i.end));
		grid_signed(g, w->i.begin);
		grid_signed(g, w->i.end);
		grid_text(g, w->kind);
		grid_text(g, w->name);
		grid_signed(g, w->i.ret);
		grid_signed(g, w->thread->pid);
		grid_signed(g, w->thread->tid);
		grid_text(g, w->thread->comm);
		grid_signed(g, w->i.cpu);
		grid_signed(g, w->i.begin_event);
		grid_signed(g, w->i.end_event);
		grid_text(g, latency_behind(l, w, whom));
		latency_descriptor(l, w, g);
	}
	if (!j)
		printf("\nthe longest:\n\n");
	grid_put(g, l->o->format, j, "worst");
	if (j) {
		latency_json_stacks(l, j);
		if (l->sched)
			json_array(j, "chains");
	}
	for (size_t i = 0; i < l->n_worst; i++) {
		const struct latency_worst *w = &l->worst[i];

		if (!j)
			latency_put_stack(l, w);
		if (l->sched)
			latency_put_chain(l, w, j);
	}
	if (j && l->sched)
		json_end(j);
}

/* Writes a histogram of the proved intervals of a kind, by powers of two. */
static void latency_put_histogram(const struct latency *l, uint32_t kind,
				  struct json *j)
{
	static const struct grid_column col[] = {
		{ NULL, "kind" },     GRID_TWO("From", "from_ns"),
		{ "Count", "count" }, { "Share %", "percent" },
		{ "", NULL },
	};
	uint64_t count[BINS_MAX] = { 0 };
	char bar[41];
	size_t from = BINS_MAX, to = 0;
	uint64_t most = 0, all = 0;
	struct grid *g OWNED_GRID = grid_new(col, ARRAY_SIZE(col));

	for (size_t i = 0; i < l->n; i++)
		for (size_t k = 0; l->row[i].kind == kind && k < l->row[i].n;
		     k++) {
			const struct latency_length *len = &l->row[i].length[k];
			size_t bin = 0;

			while (bin + 1 < BINS_MAX &&
			       len->ns >= (int64_t)1 << (bin + 1))
				bin++;

			count[bin] += len->n;
			raise_to(most, count[bin]);
			lower_to(from, bin);
			raise_to(to, bin);
			all += len->n;
		}
	for (size_t bin = from; bin <= to && all; bin++) {
		size_t len = (size_t)(count[bin] * 40 / most);
		int64_t low = bin ? (int64_t)1 << bin : 0;

		memset(bar, '#', len);
		bar[len] = '\0';
		grid_text(g, intern_get(&l->labels, kind));
		latency_add_ns(g, low, true);
		grid_number(g, count[bin]);
		grid_percent(g, count[bin], all);
		grid_text(g, count[bin] && !len ? "." : bar);
	}
	if (!j)
		printf("\n%s, %" PRIu64 " proved:\n\n",
		       intern_get(&l->labels, kind), all);
	if (j)
		grid_json_rows(g, j);
	else
		grid_write(g, l->o->format, stdout);
}

static void latency_put_histograms(const struct latency *l, struct json *j)
{
	if (j)
		json_array(j, "histogram");
	for (size_t i = 0; i < l->n; i++)
		if (!any_where(i, k, l->row[k].kind == l->row[i].kind))
			latency_put_histogram(l, l->row[i].kind, j);
	if (j)
		json_end(j);
}

static struct intervals_sums latency_sums(const struct latency *l)
{
	struct intervals_sums s = { 0 };

	if (l->iv)
		s = l->iv->sums;
	/* without a premise of the pairs, that of the waits */
	if (l->sched && !s.premise)
		s.premise = causes_premise(l->sched->r.causes).words;
	return s;
}

/* Returns the row whose longest intervals are worth a look: the first that was
 * not idle, or else the first. */
static const struct latency_row *latency_worth(const struct latency *l)
{
	if (strcmp(l->o->by, "name") != 0)
		return l->row;
	for (size_t i = 0; i < l->n; i++)
		if (l->row[i].n && !latency_may_idle(l, &l->row[i]))
			return &l->row[i];
	return l->row;
}

/* Prints how to see the slowest ones: options to add to those given. */
static void latency_put_advice(const struct latency *l)
{
	const struct latency_row *r = latency_worth(l);
	bool named = !l->o->name &&
		     (!strcmp(l->o->by, "name") || l->o->by_field) && l->iv;

	if (!l->n)
		return;
	/* pairs of --pair have no names, and may have a '*' */
	named &= *intern_get(&l->labels, r->label) != '\0';
	char *kind OWNED = safe_text_word(intern_get(&l->labels, r->kind));
	char *name OWNED = safe_text_word(intern_get(&l->labels, r->label));
	char *path OWNED = safe_text_word(l->path);
	printf("\nwith '%s%s%s--worst 3' it lists the longest%s\n",
	       named ? "--name " : "", named ? name : "", named ? " " : "",
	       l->iv ? ", with their stacks" : ", with their chains");
	if (r != l->row && latency_may_idle(l, l->row))
		fputs("the rows above that may be waits for work: for what "
		      "others do, or for a time\n",
		      stdout);
	if (l->iv)
		printf("'backstitch flame --latency %s -o flame.svg %s' draws "
		       "their stacks by time\n",
		       kind, path);
}

/* Writes all that the options ask for, in the chosen format. */
static void latency_put(const struct latency *l)
{
	if (!strcmp(l->o->format, "json")) {
		const struct intervals_sums s = latency_sums(l);
		struct json j;

		json_answer(&j, stdout, JSON_COMPACT);
		json_int(&j, "from_ns", l->first);
		json_int(&j, "to_ns", l->last);
		json_text(&j, "premise", s.premise);
		json_uint(&j, "no_thread", s.no_thread);
		json_uint(&j, "doubled", s.doubled);
		json_object(&j, "verdicts");
		for (uint8_t i = 0; i < INTERVAL_VERDICTS; i++)
			json_uint(&j, interval_verdict_word(i), l->verdict[i]);
		json_end(&j);
		json_break(&j);
		latency_put_rows(l, &j);
		if (l->o->worst)
			latency_put_worst(l, &j);
		if (l->o->histogram)
			latency_put_histograms(l, &j);
		json_finish(&j);
		return;
	}
	if (strcmp(l->o->format, "table") != 0) {
		latency_put_rows(l, NULL);
		return;
	}
	const struct intervals_sums s = latency_sums(l);
	uint64_t all = 0, open = 0;
	const char *sep = ": ";

	for (size_t i = 0; i < INTERVAL_VERDICTS; i++)
		all += l->verdict[i];
	fputs(HUMAN_NOUN(all, "interval"), stdout);
	if (l->last >= l->first)
		printf(" in %s", HUMAN_NS(l->last - l->first));
	for (uint8_t i = 0; i < INTERVAL_VERDICTS; i++) {
		if (!l->verdict[i])
			continue;
		fputs(sep, stdout);
		sep = ", ";
		printf("%s %s", HUMAN_GROUPED(l->verdict[i]),
		       interval_verdict_word(i));
		if (!i && s.premise)
			printf(" %s", s.premise);
	}
	putchar('\n');
	if (l->verdict[INTERVAL_AMBIGUOUS])
		fputs("ambiguous: several of one key at a time, of which only "
		      "the sum is known; count, total\nand average have them, "
		      "and Max is at least so long\n",
		      stdout);
	if (latency_unknown(l->verdict) || l->verdict[INTERVAL_AMBIGUOUS])
		fputs("percentiles are of the proved ones; 'p99 is' and its "
		      "like tell what may be with the others\n",
		      stdout);
	open += s.cut_before ? l->verdict[INTERVAL_BEFORE] : 0;
	open += s.cut_behind ? l->verdict[INTERVAL_UNFINISHED] : 0;
	if (open)
		printf("%s of them may have the other end in another segment "
		       "of the stream: 'backstitch latency\nFOLDER' of all "
		       "segments has these whole\n",
		       HUMAN_GROUPED(open));
	if (s.no_thread)
		printf("%" PRIu64 " records are of threads that nobody "
		       "knows\n",
		       s.no_thread);
	if (s.doubled)
		printf("%" PRIu64 " records are there twice, and count once\n",
		       s.doubled);
	putchar('\n');
	latency_put_rows(l, NULL);
	if (l->o->worst)
		latency_put_worst(l, NULL);
	if (l->o->histogram)
		latency_put_histograms(l, NULL);
	if (!l->o->worst && !l->o->histogram)
		latency_put_advice(l);
}

COMPARE_FUNCTION(latency_compare_begins, struct latency_worst *const,
		 compare_numbers((*x)->i.begin_event, (*y)->i.begin_event));

/* Reads the intervals: of the scheduler if l->o->kind is one of its kinds, else
 * pairs of events. Returns 0, or -1 and *err. */
static int latency_read(struct latency *l, struct store *db, const char *path,
			struct err *err)
{
	const struct intervals_ask ask = { .kind = l->o->kind,
					   .pair = l->o->pair,
					   .n_pair = l->o->n_pair,
					   .by = l->o->by_field };

	if (l->o->kind && latency_sched_has(l->o->kind)) {
		l->sched = latency_sched_open(db, path, l->o->worst > 0, err);
		if (!l->sched)
			return -1;
		timeline_span(l->sched->r.t, &l->first, &l->last);
		latency_sched_each(l->sched, l->o->kind, latency_take_sched, l);
		return 0;
	}
	if (!strcmp(l->o->by, "behind") || l->o->worst) {
		l->sched = latency_sched_open(db, path, l->o->worst > 0, err);
		if (!l->sched &&
		    (err->code != ERR_FORMAT || !strcmp(l->o->by, "behind")))
			return -1;
	}
	l->iv = intervals_open(db, path, &ask, err);
	if (!l->iv)
		return -1;
	l->first = l->iv->sums.first;
	l->last = l->iv->sums.last;
	if (intervals_each(l->iv, latency_take_interval, l, err))
		return -1;
	if (!l->n_worst)
		return 0;
	l->files = files_load(db, NULL, err);
	if (l->files)
		l->stacks = callers_open(db, &l->labels, err);
	/* Reads the stacks in which the longest began: of calls and own pairs,
	 * those of the program. */
	struct latency_worst **w OWNED = mem_new(l->n_worst, sizeof(*w));
	int rc = l->stacks ? 0 : -1;

	for (size_t i = 0; i < l->n_worst; i++)
		w[i] = &l->worst[i];
	sort_items(w, l->n_worst, latency_compare_begins);
	for (size_t i = 0; !rc && i < l->n_worst; i++)
		rc = callers_stack(l->stacks, w[i]->i.begin_event,
				   !intervals_of_program(l->iv, w[i]->i.pair),
				   &w[i]->stack, err);
	return rc;
}

int report_latency(struct store *db, const char *path,
		   const struct latency_opts *o, struct err *err)
{
	struct latency l = { .o = o, .path = path };
	int rc = filter_window(o->filter, db, &l.from, &l.to, err);

	if (!rc)
		rc = latency_read(&l, db, path, err);
	raise_to(l.first, l.from); /* the time that is shown */
	lower_to(l.last, l.to);
	if (!rc && !l.n)
		rc = err_set(err, ERR_USAGE,
			     "%s: no interval that the options select", path);
	if (!rc) {
		for (size_t i = 0; i < l.n; i++)
			l.row[i].n =
				latency_add_up(l.row[i].length, l.row[i].n);
		sort_items_by(l.row, l.n, latency_compare_rows, &l);
		latency_put(&l);
		/* fails only for what is proved to be above the limit */
		for (size_t i = 0; l.o->fail >= 0 && i < l.n; i++)
			if (latency_bounds(&l.row[i], l.o->per_mille).least >
			    l.o->fail)
				rc = STATUS_LOSS;
	}
	for (size_t i = 0; i < l.n; i++)
		free_all(l.row[i].length, l.row[i].range);
	free(l.row);
	for (size_t i = 0; i < l.n_worst; i++)
		free(l.worst[i].stack.label);
	free(l.worst);
	callers_close(l.stacks);
	intern_release(&l.labels);
	intern_release(&l.index);
	files_free(l.files);
	latency_sched_close(l.sched);
	intervals_close(l.iv);
	return rc;
}
