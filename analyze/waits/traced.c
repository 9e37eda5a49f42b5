/* traced.c - adds calls as events of stacks. */
#include "analyze/waits/traced.h"

#include "analyze/latency/callers.h"
#include "analyze/latency/calls.h"
#include "analyze/latency/intervals.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/waits.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/source.h"

/* Deeper stacks are cut: a program may begin slices and end none. The shadow
 * stack of function_graph has room for a third of these levels. */
#define TRACED_LEVELS 512

/* kind: word in pair_kinds[]; NULL: not made of pairs. */
static const struct {
	const char *event, *kind;
} traced_kinds[TRACED_KINDS] = {
	[TRACED_GRAPH] = { "function_graph", "call" },
	[TRACED_USER] = { "cyg_profile", "user-call" },
	[TRACED_PROBES] = { "probes", "probe" },
	[TRACED_SLICES] = { "slices", "slice" },
	[TRACED_FUNCTION] = { "function", NULL },
};

/* A call; its number is its index + 1. */
struct traced_call {
	int64_t event; /* the one that begins it or, without that, ends it */
	int64_t ns;    /* in no other call */
	int64_t all;   /* ns that it took; -1: not known */
	int64_t waited;
	uint64_t inside;
	uint32_t name, depth;
	uint32_t nest, level; /* nest: in stacks; level: calls around it */
	uint8_t kind;
};

/* A time of a thread: a system call, or a call that is in no other. */
struct traced_span {
	int64_t from, to, event;
	uint32_t thread;
	uint32_t what; /* name of the system call; index of the call */
	uint32_t in;   /* for a call: name of its system call, of .event */
};

/* A time in which a thread was off the CPU. before: ns of those before it. */
struct traced_wait {
	int64_t tid, from, to, before;
};

struct traced_run {
	struct traced_wait *wait; /* by thread, in time order */
	size_t n_wait, cap_wait;
	struct stacks *s;
	struct traced *t;
	struct intervals *iv;
	struct traced_call *call;
	size_t n, cap;
	struct traced_span *system, *outer;
	size_t n_system, cap_system, n_outer, cap_outer;
	struct table label; /* of labels, by kind and name */
	struct table seen;  /* of functions, by kind and label */
	struct table by_pair;
};

/* Returns the label of a function: "ext4_file_open [ext4]" is in a module.
 * Functions that are not the kernel's have any name that a program likes. */
static uint32_t traced_label(const struct traced_run *r, enum traced_kind kind,
			     const char *name)
{
	const struct known_code *c = r->s->code;
	const char *module = strstr(name, " [");
	const char *kernel = "";
	char *bare = NULL;
	uint32_t label;

	if (kind != TRACED_GRAPH && kind != TRACED_FUNCTION)
		return labels_add(r->s->labels,
				  &(struct label){ .kind = LABEL_USER,
						   .name = name,
						   .image = "" });

	for (size_t i = 0; i < c->n_image && !*kernel; i++)
		if (c->image[i].img.kind == IMAGE_KERNEL)
			kernel = c->image[i].img.path;

	if (module)
		bare = mem_printf("%.*s", (int)(module - name), name);
	label = labels_add(
		r->s->labels,
		&(struct label){ .kind = LABEL_KERNEL,
				 .name = bare ? bare : name,
				 .image = module ? module + 1 : kernel,
				 .kernel = true });
	free(bare);
	return label;
}

/* Counts a function that was called, once. */
static void traced_see(struct traced_run *r, enum traced_kind kind,
		       uint32_t label)
{
	uint64_t hash = hash_u32s(kind, label);

	if (table_find_hash(&r->seen, hash) != TABLE_NONE)
		return;
	table_add(&r->seen, hash, label);
	r->t->of[kind].functions++;
}

/* Adds the sample that a record makes. */
static void traced_add(const struct traced_run *r, const struct event_row *e,
		       const struct stacks_group *g)
{
	const struct stacks_sample one = { .group = stacks_add(r->s, g),
					   .event = g->event,
					   .cpu = e->on_cpu ? (int32_t)e->cpu
							    : -1,
					   .timed = e->timed,
					   .time = e->time,
					   .weight = g->weight };

	if (r->s->o.each)
		r->s->o.each(r->s->o.arg, &one);
}

/* ---- calls */

COMPARE_BY(traced_compare_waits, struct traced_wait, tid, from);

/* Returns ns plus those between two times; INT64_MAX if they are more. */
static int64_t traced_add_span(int64_t ns, int64_t from, int64_t to)
{
	return __builtin_add_overflow(ns, interval_span(from, to), &ns)
		       ? INT64_MAX
		       : ns;
}

/* Reads when threads were off the CPU. Returns 0, or -1 and *err. */
static int traced_load_waits(struct traced_run *r, struct store *db,
			     const char *path, struct err *err)
{
	const struct waits_ask ask = { .filter = &filter_none, .any = true };
	struct waits *w = waits_open(db, path, &ask, err);
	struct waits_item item;
	struct offcpu_sums sums;
	int rc;

	while ((rc = waits_next(w, &item, err)) > 0)
		if (item.kind == WAITS_WAIT && item.wait.end == OFFCPU_BACK &&
		    !item.wait.sum && !item.wait.sampled)
			*mem_add(r->wait, r->n_wait, r->cap_wait) =
				(struct traced_wait){ .tid = item.wait.tid,
						      .from = item.wait.from,
						      .to = item.wait.to };
	waits_close(w, &sums);
	sort_items(r->wait, r->n_wait, traced_compare_waits);
	for (size_t i = 1; i < r->n_wait; i++)
		r->wait[i].before =
			traced_add_span(r->wait[i - 1].before,
					r->wait[i - 1].from, r->wait[i - 1].to);
	r->t->waits = r->n_wait > 0;
	return rc;
}

/* Returns how long a thread was off the CPU until a time, plus a constant. */
static int64_t traced_waited(const struct traced_run *r, int64_t tid,
			     int64_t until)
{
	const struct traced_wait *w = r->wait;
	size_t i = search_where(
		r->n_wait, k,
		w[k].tid > tid || (w[k].tid == tid && w[k].from >= until));

	/* the thread has no wait before */
	if (!i || w[i - 1].tid != tid)
		return i < r->n_wait ? w[i].before : 0;
	i--;
	return traced_add_span(w[i].before, w[i].from,
			       w[i].to < until ? w[i].to : until);
}

/* Keeps a call, or notes a system call, until all are read. */
static void traced_take(void *arg, const struct interval *i)
{
	struct traced_run *r = arg;
	const struct pair_kind *k = r->iv->pair[i->pair].kind;
	struct traced_span span = { .from = i->begin,
				    .to = i->end,
				    .event = i->begin_event,
				    .thread = i->thread,
				    .what = i->name };
	int64_t tid = intervals_thread(r->iv, i->thread)->tid;
	uint8_t kind = 0;

	if (k->calls) {
		if (i->verdict == INTERVAL_PROVED)
			*mem_add(r->system, r->n_system, r->cap_system) = span;
		*mem_add(r->call, r->n, r->cap) =
			(struct traced_call){ .kind = TRACED_KINDS };
		return;
	}
	span.what = (uint32_t)r->n;
	if (!i->depth && i->begin_event && i->verdict == INTERVAL_PROVED)
		*mem_add(r->outer, r->n_outer, r->cap_outer) = span;
	while (strcmp(traced_kinds[kind].kind, k->word) != 0)
		kind++;
	r->t->of[kind].open += i->verdict != INTERVAL_PROVED;
	r->t->of[kind].perhaps_less +=
		i->verdict == INTERVAL_PROVED && !i->whole;
	*mem_add(r->call, r->n, r->cap) = (struct traced_call){
		.event = i->begin_event ?: i->end_event,
		.ns = i->self > 0 ? i->self : 0,
		.all = i->verdict == INTERVAL_PROVED ? i->most : -1,
		.waited = i->verdict != INTERVAL_PROVED ||
					  i->begin == INTERVAL_NEVER
				  ? 0
				  : traced_waited(r, tid, i->end) -
					    traced_waited(r, tid, i->begin),
		.name = i->name,
		.depth = i->depth,
		.kind = kind,
	};
}

static void traced_take_inside(void *arg, uint64_t call, uint64_t of)
{
	struct traced_run *r = arg;

	r->call[call - 1].inside = of;
}

COMPARE_BY(traced_compare, struct traced_call, event);

COMPARE_BY(traced_compare_spans, struct traced_span, thread, from);
COMPARE_BY(traced_compare_spans_events, struct traced_span, event);

/* Nests calls that are in no other in the system calls of their threads, and
 * these in the user stacks that were recorded with them. */
static int traced_find_system(struct traced_run *r, struct store *db,
			      struct err *err)
{
	struct callers *c = NULL;
	struct label_list l = { 0 };
	size_t at = 0;
	int rc = 0;

	sort_items(r->system, r->n_system, traced_compare_spans);
	sort_items(r->outer, r->n_outer, traced_compare_spans);
	if (r->n_system &&
	    any_where(r->s->n_event, i, r->s->event[i].stacked)) {
		c = callers_open(db, &r->iv->names, err);
		rc = c ? 0 : -1;
	}
	for (size_t i = 0; i < r->n_outer; i++) {
		struct traced_span *o = &r->outer[i];
		const struct traced_span *s;

		while (at < r->n_system &&
		       traced_compare_spans(&r->system[at], o) <= 0)
			at++;
		s = at ? &r->system[at - 1] : NULL;
		o->event = 0;
		if (!s || s->thread != o->thread || s->to < o->to)
			continue;
		o->event = s->event;
		o->in = s->what;
	}
	/* stacks are read in the order of events, whatever their threads */
	sort_items(r->outer, r->n_outer, traced_compare_spans_events);
	for (size_t i = 0; !rc && i < r->n_outer; i++) {
		const struct traced_span *o = &r->outer[i];
		char name[CALLS_NAME + 16];
		uint32_t below = 0;

		if (!o->event)
			continue;
		snprintf(name, sizeof(name), "[system call %s]",
			 intern_get(&r->iv->names, o->in));
		l.n = 0;
		if (c)
			rc = callers_stack(c, o->event, false, &l, err);
		for (size_t k = 0; !rc && k < l.n; k++)
			below = stacks_nest(
				r->s, below,
				labels_add(r->s->labels,
					   callers_label(c, l.label[k])));
		r->call[o->what].nest = stacks_nest(
			r->s, below,
			labels_add_name(r->s->labels, LABEL_KERNEL, name));
	}
	callers_close(c);
	free(l.label);
	return rc;
}

/* Adds the calls that pairs of events make, and sums by function. */
static int traced_load_calls(struct traced_run *r, struct store *db,
			     const char *path, const struct filter *filter,
			     struct err *err)
{
	const struct intervals_ask ask = { .nested = true, .any = true };
	struct events *ev = NULL;
	struct event_row e;
	size_t next = 0;
	int rc;

	r->iv = intervals_open(db, path, &ask, err);
	if (!r->iv)
		return -1;
	r->iv->inside = traced_take_inside;
	rc = r->iv->n_role ? traced_load_waits(r, db, path, err) : 0;
	if (!rc)
		rc = intervals_each(r->iv, traced_take, r, err);
	if (!rc && r->iv->sums.premise)
		snprintf(r->t->premise, sizeof(r->t->premise), "%s",
			 r->iv->sums.premise);
	if (!rc && r->n)
		rc = traced_find_system(r, db, err);
	if (!rc && r->n) {
		/* the caller of a call has a larger number */
		for (size_t i = r->n; i-- > 0;) {
			struct traced_call *c = &r->call[i];
			uint64_t hash = hash_u32s(c->kind, c->name);
			uint32_t below = c->nest;

			if (c->kind == TRACED_KINDS)
				continue;
			if (table_find_hash(&r->label, hash) == TABLE_NONE)
				table_add(&r->label, hash,
					  traced_label(r, c->kind,
						       intern_get(&r->iv->names,
								  c->name)));
			c->name = table_find_hash(&r->label, hash);
			if (c->inside &&
			    r->call[c->inside - 1].level < TRACED_LEVELS) {
				below = r->call[c->inside - 1].nest;
				c->level = r->call[c->inside - 1].level + 1;
			} else if (c->inside || c->depth) {
				r->t->of[c->kind].callerless += !c->inside;
				below = stacks_nest(
					r->s, 0,
					labels_add_name(r->s->labels,
							LABEL_MISSING,
							STACK_NAMES_GAP));
			}
			c->nest = stacks_nest(r->s, below, c->name);
		}
		sort_items(r->call, r->n, traced_compare);
		ev = events_open(db, filter, EVENTS_FEW, err);
		rc = ev ? 0 : -1;
	}
	while (!rc && ev && (rc = events_next(ev, &e, err)) > 0) {
		const struct traced_call *c;
		struct stacks_group g;

		rc = 0;
		while (next < r->n && r->call[next].event < e.id)
			next++;
		if (next == r->n || r->call[next].event != e.id ||
		    !stacks_group_of(r->s, &e, &g))
			continue;
		c = &r->call[next];
		/* other texts of trace_marker need not be slices */
		r->s->event[g.event].apart = c->kind != TRACED_SLICES;
		g.event = stacks_add_event(r->s, traced_kinds[c->kind].event,
					   "ns");
		g.weight = r->s->o.samples ? 1 : (uint64_t)c->ns;
		g.samples = 1;
		g.nest = c->nest;
		/* the recorded stack would only repeat its callers */
		if (c->kind == TRACED_USER || c->kind == TRACED_PROBES) {
			g.kraw = g.uraw = 0;
			g.verdict = g.flags = 0;
		}
		traced_add(r, &e, &g);
		traced_see(r, c->kind, c->name);
		/* counts a call of the function of a label */
		struct traced_function *f =
			mem_at(r->t->function, r->t->n, r->t->cap, c->name);

		if (c->all >= 0) {
			f->calls++;
			f->ns = saturating_add(f->ns, (uint64_t)c->all);
			f->waited =
				saturating_add(f->waited, (uint64_t)c->waited);
			raise_to(f->longest, c->all);
		}
		r->t->of[c->kind].calls++;
	}
	events_close(ev);
	for (size_t i = 0; i < r->s->n_event; i++) {
		const struct pair_kind *k = pair_nests(r->s->event[i].name);

		for (int j = 0; k && j < TRACED_SLICES; j++)
			r->s->event[i].apart |=
				r->t->of[j].calls &&
				!strcmp(traced_kinds[j].kind, k->word);
	}
	return rc;
}

/* ---- functions */

/* Returns the nest of a function and its caller; made once for each pair. */
static uint32_t traced_pair(struct traced_run *r, const struct field_def *def,
			    size_t n, const struct field *f)
{
	static const char *const name[2][2] = {
		{ "parent_ip_name", "parent_ip" }, { "ip_name", "ip" }
	};
	uint64_t addr[2] = { 0 };
	const char *text[2] = { NULL };
	uint32_t at = 0, id;
	uint64_t hash;
	char hex[32];

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < 2; k++)
			if (f[i].present && !strcmp(def[i].name, name[k][0]))
				text[k] = f[i].text;
			else if (f[i].present &&
				 !strcmp(def[i].name, name[k][1]))
				addr[k] = (uint64_t)f[i].num;
	hash = hash_u64s(addr, 2, 0);
	/* a text has only names */
	for (size_t k = 0; k < 2 && !addr[1]; k++)
		hash = hash_bytes(text[k] ? text[k] : "",
				  text[k] ? strlen(text[k]) : 0, hash);
	id = table_find_hash(&r->by_pair, hash);
	if (id != TABLE_NONE)
		return id;
	for (size_t k = 0; k < 2; k++) {
		uint32_t label;

		snprintf(hex, sizeof(hex), "%#llx",
			 (unsigned long long)addr[k]);
		label = traced_label(r, TRACED_FUNCTION,
				     text[k] && *text[k] ? text[k] : hex);
		at = stacks_nest(r->s, at, label);
	}
	table_add(&r->by_pair, hash, at);
	return at;
}

/* Returns the nest of a recorded stack, without the frames of the tracer
 * itself. */
static uint32_t traced_stack(struct traced_run *r, struct stacks_group *g,
			     struct label_list *l)
{
	const uint64_t word[2] = { (uint64_t)g->kraw << 32 | g->uraw,
				   (uint64_t)g->verdict << 8 | g->flags };
	uint64_t hash = hash_u64s(word, 2, 1);
	uint32_t at = table_find_hash(&r->by_pair, hash);

	if (at != TABLE_NONE)
		return at;
	at = 0;
	l->n = 0;
	stacks_get(r->s, g, l);
	while (l->n &&
	       !strcmp(labels_get(r->s->labels, l->label[l->n - 1])->name,
		       FTRACE_TRAMPOLINE))
		l->n--;
	for (size_t i = 0; i < l->n; i++)
		at = stacks_nest(r->s, at, l->label[i]);
	table_add(&r->by_pair, hash, at);
	return at;
}

/* Adds the hits of the tracer function as an event. */
static int traced_load_hits(struct traced_run *r, struct store *db,
			    const struct filter *filter, struct err *err)
{
	struct payloads *ps = payloads_open(db, err);
	struct events *ev =
		ps ? events_open(db, filter, EVENTS_ALL, err) : NULL;
	struct label_list l = { 0 };
	struct event_row e;
	int rc = ev ? 0 : -1;

	while (!rc && (rc = events_next(ev, &e, err)) > 0) {
		const struct field *f;
		const char *rest;
		size_t n;
		struct stacks_group g;

		rc = 0;
		if (!pair_name_is("ftrace:function",
				  events_type(ev, e.type)->name, &rest, &n) ||
		    !stacks_group_of(r->s, &e, &g))
			continue;
		if (g.kraw || g.uraw) {
			g.nest = traced_stack(r, &g, &l);
			g.kraw = g.uraw = 0;
			g.verdict = g.flags = 0;
		} else {
			const struct field_def *def =
				payloads_defs(ps, e.type, &n);

			rc = payloads_fields(ps, &e, &f, err);
			if (rc > 0)
				g.nest = traced_pair(r, def, n, f);
			rc = rc < 0 ? -1 : 0;
		}
		r->s->event[g.event].apart = true;
		g.event = stacks_add_event(
			r->s, traced_kinds[TRACED_FUNCTION].event, "calls");
		g.weight = g.samples = 1;
		traced_add(r, &e, &g);
		if (g.nest)
			traced_see(r, TRACED_FUNCTION,
				   r->s->nest[g.nest - 1].label);
		r->t->of[TRACED_FUNCTION].calls++;
	}
	free(l.label);
	events_close(ev);
	payloads_close(ps);
	return rc;
}

int traced_load(struct store *db, const char *path, const struct filter *filter,
		struct stacks *s, struct traced *t, struct err *err)
{
	struct traced_run r = { .s = s, .t = t };
	const char *rest;
	size_t len;
	int rc;

	*t = (struct traced){ 0 };
	if (filter->event)
		return 0;
	rc = traced_load_calls(&r, db, path, filter, err);
	if (!rc &&
	    any_where(s->n_event, i,
		      s->event[i].samples &&
			      pair_name_is("ftrace:function", s->event[i].name,
					   &rest, &len)))
		rc = traced_load_hits(&r, db, filter, err);
	intervals_close(r.iv);
	table_release(&r.label);
	table_release(&r.seen);
	table_release(&r.by_pair);
	free_all(r.call, r.system, r.outer, r.wait);
	return rc;
}

void traced_release(struct traced *t)
{
	free(t->function);
}

int traced_add_to(struct store *db, const char *path,
		  const struct filter *filter, struct stacks *s,
		  struct err *err)
{
	struct traced t;
	int rc = traced_load(db, path, filter, s, &t, err);

	traced_release(&t);
	return rc;
}

const char *traced_name(enum traced_kind kind)
{
	return traced_kinds[kind].event;
}

enum traced_kind traced_kind_of(const char *event)
{
	unsigned int k = 0;

	while (k < TRACED_KINDS && strcmp(event, traced_kinds[k].event) != 0)
		k++;
	return k;
}
