/* traced.c - what ftrace's own tracers recorded, as an event of stacks. */
#include "analyze/waits/traced.h"

#include "analyze/latency/intervals.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/payloads.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/record.h"
#include "stitch/source.h"

/* Stacks are cut there: a program may begin slices and end none. The shadow
 * stack of function_graph has room for a third. */
#define TRACED_LEVELS 512

/* A call, by its number. */
struct traced_call {
	int64_t event; /* that begins it, or else ends it */
	int64_t ns;    /* in no other call */
	int64_t all;   /* that it took; -1: not known */
	uint64_t inside;
	uint32_t name, depth;
	uint32_t nest, level; /* how many it stands on */
};

struct traced_run {
	struct stacks *s;
	struct traced *t;
	struct intervals *iv;
	struct traced_call *call;
	size_t n, cap;
	uint32_t *label; /* of names of functions, by iv->names; + 1 */
	size_t n_label, cap_label;
	struct table seen; /* labels of functions */
	struct table by_pair;
};

/* Returns the label of a function, "ext4_file_open [ext4]" with its module; of
 * a slice, whose name is what a program likes. */
static uint32_t traced_label(struct traced_run *r, const char *name)
{
	const struct known_code *c = r->s->code;
	const char *module = strstr(name, " [");
	const char *kernel = "";
	char *bare = NULL;
	uint32_t label;

	if (r->t->slices)
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

/* Counts a function that was called. */
static void traced_see(struct traced_run *r, uint32_t label)
{
	if (table_find_hash(&r->seen, hash_u64(label)) != TABLE_NONE)
		return;
	table_add(&r->seen, hash_u64(label), label);
	r->t->functions++;
}

/* Returns an event by its name without that of an ftrace instance, or NULL. */
static struct stacks_event *traced_event(const struct stacks *s,
					 const char *name)
{
	const char *rest;
	size_t len;

	for (size_t i = 0; i < s->n_event; i++)
		if (s->event[i].samples &&
		    pair_name_is(name, s->event[i].name, &rest, &len))
			return &s->event[i];
	return NULL;
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

static void traced_take(void *arg, const struct interval *i)
{
	struct traced_run *r = arg;

	r->t->open += i->verdict != INTERVAL_PROVED;
	r->t->perhaps_less += i->verdict == INTERVAL_PROVED && !i->whole;
	*mem_add(r->call, r->n, r->cap) = (struct traced_call){
		.event = i->begin_event ?: i->end_event,
		.ns = i->self > 0 ? i->self : 0,
		.all = i->verdict == INTERVAL_PROVED ? i->most : -1,
		.name = i->name,
		.depth = i->depth,
	};
}

static void traced_take_inside(void *arg, uint64_t call, uint64_t of)
{
	struct traced_run *r = arg;

	r->call[call - 1].inside = of;
}

COMPARE_BY(traced_compare, struct traced_call, event);

/* Finds where each call stands: what it is inside of has a larger number. */
static void traced_nest(struct traced_run *r)
{
	for (size_t i = r->n; i-- > 0;) {
		struct traced_call *c = &r->call[i];
		uint32_t *label =
			mem_at(r->label, r->n_label, r->cap_label, c->name);
		uint32_t below = 0;

		if (!*label)
			*label = traced_label(r, intern_get(&r->iv->names,
							    c->name)) +
				 1;
		if (c->inside && r->call[c->inside - 1].level < TRACED_LEVELS) {
			below = r->call[c->inside - 1].nest;
			c->level = r->call[c->inside - 1].level + 1;
		} else if (c->inside || c->depth) {
			r->t->callerless += !c->inside;
			below = stacks_nest(r->s, 0,
					    labels_add_name(r->s->labels,
							    LABEL_MISSING,
							    STACK_NAMES_GAP));
		}
		c->nest = stacks_nest(r->s, below, *label - 1);
	}
}

/* Counts a call of the function of a label. */
static void traced_count(struct traced_run *r, uint32_t label, int64_t ns)
{
	struct traced_function *f =
		mem_at(r->t->function, r->t->n, r->t->cap, label);

	if (ns < 0)
		return;
	f->calls++;
	f->ns = saturating_add(f->ns, (uint64_t)ns);
	raise_to(f->longest, ns);
}

static int traced_load_calls(struct traced_run *r, struct store *db,
			     const char *path, const struct filter *filter,
			     struct err *err)
{
	const struct intervals_ask ask = { .kind = r->t->slices ? "slice"
								: "call",
					   .any = true };
	struct events *ev = NULL;
	struct event_row e;
	size_t next = 0;
	int rc = -1;

	r->iv = intervals_open(db, path, &ask, err);
	if (r->iv) {
		r->iv->inside = traced_take_inside;
		rc = intervals_each(r->iv, traced_take, r, err);
	}
	if (!rc && r->iv->sums.premise)
		snprintf(r->t->premise, sizeof(r->t->premise), "%s",
			 r->iv->sums.premise);
	if (!rc && r->n) {
		traced_nest(r);
		sort_items(r->call, r->n, traced_compare);
		ev = events_open(db, filter, EVENTS_FEW, err);
		rc = ev ? 0 : -1;
	}
	while (!rc && ev && (rc = events_next(ev, &e, err)) > 0) {
		struct stacks_group g;

		rc = 0;
		while (next < r->n && r->call[next].event < e.id)
			next++;
		if (next == r->n || r->call[next].event != e.id ||
		    !stacks_group_of(r->s, &e, &g))
			continue;
		g.event = stacks_add_event(
			r->s, r->t->slices ? "slices" : TRACED_CALLS, "ns");
		g.weight = r->s->o.samples ? 1 : (uint64_t)r->call[next].ns;
		g.samples = 1;
		g.nest = r->call[next].nest;
		traced_add(r, &e, &g);
		traced_see(r, r->label[r->call[next].name] - 1);
		traced_count(r, r->label[r->call[next].name] - 1,
			     r->call[next].all);
		r->t->calls++;
	}
	events_close(ev);
	return rc;
}

/* ---- functions */

/* Returns the calls of a function that was called once, by their names. */
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
	/* a text has names alone */
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
		label = traced_label(r, text[k] && *text[k] ? text[k] : hex);
		at = stacks_nest(r->s, at, label);
	}
	table_add(&r->by_pair, hash, at);
	return at;
}

/* Returns the calls of a stack, without the frames of the tracer itself. */
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
		g.event = stacks_add_event(r->s, "function", "calls");
		g.weight = g.samples = 1;
		traced_add(r, &e, &g);
		if (g.nest)
			traced_see(r, r->s->nest[g.nest - 1].label);
		r->t->hits++;
	}
	free(l.label);
	events_close(ev);
	payloads_close(ps);
	return rc;
}

static void traced_release_run(struct traced_run *r)
{
	intervals_close(r->iv);
	table_release(&r->seen);
	table_release(&r->by_pair);
	free_all(r->call, r->label);
}

int traced_load(struct store *db, const char *path, const struct filter *filter,
		struct stacks *s, struct traced *t, struct err *err)
{
	static const char *const records[] = { "ftrace:funcgraph_entry",
					       "ftrace:fgraph_retaddr_entry",
					       "ftrace:funcgraph_exit",
					       "ftrace:function" };
	struct traced_run r = { .s = s, .t = t };
	int rc = 0;

	*t = (struct traced){ 0 };
	if (filter->event)
		return 0;
	if (traced_event(s, records[2]))
		rc = traced_load_calls(&r, db, path, filter, err);
	if (!rc && !t->calls && traced_event(s, "ftrace:print")) {
		/* the filter may have left out calls that were found */
		traced_release_run(&r);
		traced_release(t);
		r = (struct traced_run){ .s = s, .t = t };
		*t = (struct traced){ .slices = true };
		rc = traced_load_calls(&r, db, path, filter, err);
	}
	if (!rc && traced_event(s, records[3]))
		rc = traced_load_hits(&r, db, filter, err);
	for (size_t i = 0; i < ARRAY_SIZE(records); i++) {
		struct stacks_event *e = traced_event(s, records[i]);

		if (e && (i == 3 ? t->hits : t->calls && !t->slices))
			e->apart = true;
	}
	traced_release_run(&r);
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

struct traced_function traced_of(const struct traced *t, uint32_t label)
{
	return label < t->n ? t->function[label]
			    : (struct traced_function){ 0 };
}
