/* stacks.c - reads the samples of a database into groups, one by one or as the
 * sums that the database has. */
#include "analyze/stacks/stacks.h"

#include "analyze/names/homonyms.h"
#include "analyze/names/short_name.h"
#include "analyze/samples/code.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/payloads.h"
#include "analyze/samples/recorder.h"
#include "analyze/samples/weight.h"
#include "analyze/stacks/label.h"
#include "schema/columns.h"
#include "schema/db/groups.h"
#include "schema/db/sums_code.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/table.h"
#include "stitch/text/safe_text.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

/* Samples with equal event, thread name, stacks and fate were added up when the
 * database was made; a capture of a million samples has some ten thousand such
 * groups. */

/* A group names stacks; what is drawn of a stack also depends on how it was
 * recorded, which only its raw chains show. So each stack of a group becomes a
 * raw chain that has this stack and an end that fits the group's mark (see
 * stitch/verdict.h). All chains with the same stack and the same end are drawn
 * alike, so that one of them is enough. If two fit that are drawn differently,
 * or none does, the groups are of no use. */

/* One group. A joined request is no different from a sample without one. */
struct stack_sum {
	int64_t type;		/* event_type.id */
	int64_t comm;		/* comm.id, the first of that name; 0: none */
	uint32_t kraw, uraw;	/* raw chains with these stacks; 0: none */
	uint8_t verdict, flags; /* as in struct stacks_group */
	uint64_t weight, n;
};

#define REQUESTS_MAX 32

struct stack_sums {
	const struct known_code *code;
	uint32_t *chain[UNWIND_N]; /* by end and stack: the first chain with
				    * both; 0: none; NULL: no chain ended so */
	struct stack_sum *sum;
	size_t n, cap;
	uint64_t samples;
	bool unsound; /* a row cannot be used as a sum */
};

/* Returns the first chain of a stack with that end, or 0. */
static uint32_t stack_sums_of(const struct stack_sums *s, size_t ended,
			      int64_t stack)
{
	return s->chain[ended] ? s->chain[ended][stack] : 0;
}

/* Returns a chain that can stand for a half of a group: it has its stack, and
 * an end that its mark allows. Returns 0 if there is none, or two that are
 * drawn differently. */
static uint32_t stack_sums_chain(const struct stack_sums *s, int64_t stack,
				 int64_t mark)
{
	size_t last; /* the mark allows UNWIND_NONE and all ends up to this */
	uint32_t recorded;
	uint32_t unwound = 0;

	if (stack < 1 || (uint64_t)stack >= s->code->n_stack)
		return 0;
	/* this mark allows only one end */
	if (mark > MARK_ENDED + UNWIND_OUTERMOST &&
	    mark < MARK_ENDED + UNWIND_N)
		return stack_sums_of(s, (size_t)(mark - MARK_ENDED), stack);
	/* MARK_EXEC leaves the end open; no mark: the stack is complete, by
	 * frame pointers or by unwinding */
	if (mark == MARK_EXEC)
		last = UNWIND_N - 1;
	else if (!mark)
		last = UNWIND_OUTERMOST;
	else
		return 0;
	recorded = stack_sums_of(s, UNWIND_NONE, stack);
	for (size_t i = UNWIND_NONE + 1; i <= last && !unwound; i++)
		unwound = stack_sums_of(s, i, stack);
	/* A stack of one frame may be both, in a capture with frame pointers
	 * and dumps: they look alike. Others cannot, as frames that were
	 * unwound are no return addresses. */
	if (recorded && unwound && s->code->stack[stack].parent)
		return 0;
	return recorded ? recorded : unwound;
}

/* Adds a group. Returns false if it cannot be used as a sum. */
static bool stack_sums_add(struct stack_sums *s, const struct store_group *g)
{
	int64_t mark = g->mark;
	struct stack_sum sum = {
		.type = g->type,
		.comm = g->comm,
		.weight = (uint64_t)g->weight,
		.n = (uint64_t)g->n,
	};

	if (g->weight < 0 || g->n < 1 ||
	    __builtin_add_overflow(s->samples, sum.n, &s->samples))
		return false;
	if (g->kernel)
		sum.kraw = stack_sums_chain(s, g->kernel, g->kernel_mark);
	if (g->user)
		sum.uraw = stack_sums_chain(s, g->user, mark);
	else if (mark < 0 && mark > -REQUESTS_MAX)
		sum.verdict = (uint8_t)-mark;
	else if (mark)
		return false;
	if (!g->kernel != !sum.kraw || !g->user != !sum.uraw)
		return false;
	if (g->user && mark == MARK_EXEC) {
		sum.flags = VERDICT_EXEC;
		sum.verdict = REQ_MATCHED;
	}
	*mem_add(s->sum, s->n, s->cap) = sum;
	return true;
}

static int stack_sums_take(void *arg, const struct store_group *g,
			   struct err *err UNUSED)
{
	struct stack_sums *s = arg;

	s->unsound = s->unsound || !stack_sums_add(s, g);
	return 0;
}

/* Reads the groups; code needs CODE_CHAINS. Returns 1 and the groups, which the
 * caller frees; 0 if the samples themselves have to be read, because the groups
 * do not show how a stack was recorded, or do not add up to the samples; or -1
 * and *err. */
static int stack_sums_read(struct store *db, const struct known_code *code,
			   struct stack_sum **sums, size_t *n, struct err *err)
{
	struct stack_sums s = { .code = code };
	int ret;

	for (size_t i = 1; i < code->n_chain; i++) {
		const struct code_chain *c = &code->chain[i];

		if (c->ended >= UNWIND_N)
			continue;
		if (!s.chain[c->ended])
			s.chain[c->ended] =
				mem_new(code->n_stack, sizeof(uint32_t));
		if (!s.chain[c->ended][c->stack])
			s.chain[c->ended][c->stack] = (uint32_t)i;
	}
	ret = store_groups_each(db, stack_sums_take, &s, err);
	if (!ret && !s.unsound) {
		struct rows *r = rows_of(db, "sampled", err);
		bool same = rows_step(r) &&
			    (uint64_t)rows_int(r, SAMPLED_SAMPLES) == s.samples;

		ret = rows_end(r, err) ? -1 : same;
	}
	for (size_t i = 0; i < UNWIND_N; i++)
		free(s.chain[i]);
	*sums = ret > 0 ? s.sum : NULL;
	*n = ret > 0 ? s.n : 0;
	if (ret <= 0)
		free(s.sum);
	return ret;
}

/* At most this many events are named as left out. */
#define NAMED_MAX 6

uint32_t stacks_add_event(struct stacks *s, const char *name, const char *unit)
{
	const uint32_t id = intern_add(&s->event_names, name);

	if (id < s->n_event)
		return id;
	struct stacks_event e = { .name = intern_get(&s->event_names, id) };

	e.unit = strcmp(unit, "events") ? arena_strdup(&s->text, unit) : e.name;
	*mem_add(s->event, s->n_event, s->cap_event) = e;
	return id;
}

/* Reads the events. Events with the same name in several captures are one. Ids
 * count from 1. */
static int stacks_read_events(struct stacks *s, struct store *db,
			      struct err *err)
{
	struct rows *r = rows_dense(db, "report_events", err);

	*mem_add(s->type, s->n_type, s->cap_type) = 0;
	while (rows_step(r)) {
		uint32_t event;

		*mem_add(s->type, s->n_type, s->cap_type) = 0;
		if (!rows_int(r, REPORT_EVENTS_IS_SAMPLE))
			continue;
		event = stacks_add_event(s, rows_text(r, REPORT_EVENTS_NAME),
					 rows_text(r, REPORT_EVENTS_UNIT));
		s->type[s->n_type - 1] = 1 + event;
		s->event[event].point = rows_int(r, REPORT_EVENTS_POINT) != 0;
	}
	return rows_end(r, err);
}

/* Reads the names of threads, by comm.id; [0] is that of none. */
static int stacks_read_comms(struct stacks *s, struct store *db,
			     struct err *err)
{
	struct rows *r = rows_dense(db, "event_comms", err);

	*mem_add(s->comm, s->n_comm, s->cap_comm) =
		(struct stacks_comm){ "[no name]", -1, -1 };
	while (rows_step(r))
		*mem_add(s->comm, s->n_comm,
			 s->cap_comm) = (struct stacks_comm){
			arena_strdup(&s->text, rows_text(r, EVENT_COMMS_NAME)),
			rows_int_or(r, EVENT_COMMS_PID, -1),
			rows_int_or(r, EVENT_COMMS_TID, -1)
		};
	return rows_end(r, err);
}

SAME_BY(stacks_same_nest, struct stacks, nest[id], struct stacks_nest, inside,
	label);

uint32_t stacks_nest(struct stacks *s, uint32_t inside, uint32_t label)
{
	const struct stacks_nest want = { inside, label };
	uint64_t hash = hash_u32s(inside, label);
	uint32_t id = table_find(&s->by_nest, hash, stacks_same_nest, s, &want);

	if (id == TABLE_NONE) {
		id = (uint32_t)s->n_nest;
		*mem_add(s->nest, s->n_nest, s->cap_nest) = want;
		table_add(&s->by_nest, hash, id);
	}
	return id + 1;
}

SAME_FUNCTION(stacks_same_group, struct stacks, group[id], struct stacks_group,
	      x->type == y->type && x->event == y->event &&
		      x->comm == y->comm && x->cpu == y->cpu &&
		      x->field == y->field && x->kraw == y->kraw &&
		      x->uraw == y->uraw && x->nest == y->nest &&
		      x->verdict == y->verdict && x->flags == y->flags &&
		      x->wait == y->wait);

uint32_t stacks_add(struct stacks *s, const struct stacks_group *g)
{
	uint64_t word[5] = {
		(uint64_t)g->event << 32 | g->comm,
		(uint64_t)g->kraw << 32 | g->uraw,
		(uint64_t)g->type << 32 | (uint32_t)g->cpu,
		(uint64_t)g->field << 32 | (uint64_t)g->verdict << 8 | g->flags,
		g->nest,
	};
	uint64_t hash = hash_u64s(word, 5, 0);
	uint32_t id = table_find(&s->index, hash, stacks_same_group, s, g);

	if (id == TABLE_NONE) {
		id = (uint32_t)s->n_group;
		*mem_add(s->group, s->n_group, s->cap_group) = *g;
		table_add(&s->index, hash, id);
	} else {
		s->group[id].weight =
			saturating_add(s->group[id].weight, g->weight);
		s->group[id].samples += g->samples;
		s->group[id].least += g->least;
	}
	s->event[g->event].weight =
		saturating_add(s->event[g->event].weight, g->weight);
	s->event[g->event].samples += g->samples;
	s->event[g->event].nested |= g->nest > 0;
	if (g->kraw || g->uraw || g->verdict || g->nest)
		s->event[g->event].stacked += g->samples;
	return id;
}

void stacks_give(struct stacks *s, uint32_t from, uint32_t to)
{
	struct stacks_event *a = &s->event[from];
	struct stacks_event *b = &s->event[to];

	for (size_t i = 0; i < s->n_group; i++) {
		if (s->group[i].event == from)
			s->group[i].event = to;
	}
	b->weight = saturating_add(a->weight, b->weight);
	b->samples += a->samples;
	b->stacked += a->stacked;
	a->weight = a->samples = a->stacked = 0;
}

/* Stores the weight of a row in g. Returns 1, 0 if it has none, or -1 and *err
 * if it is not a number. */
static int take_weight(struct stacks *s, const struct rows *r,
		       struct stacks_group *g, struct err *err)
{
	struct value v = rows_value(r, REPORT_SAMPLES_WEIGHT);

	if (v.kind == VALUE_TEXT || v.kind == VALUE_BLOB)
		return err_set(err, ERR_USAGE,
			       "--weight '%s' gives the text '%.60s'; it has "
			       "to be a number",
			       s->o.weight,
			       rows_text(r, REPORT_SAMPLES_WEIGHT));
	if (v.kind == VALUE_REAL && v.real >= 0 && v.real < 0x1p63)
		g->weight = (uint64_t)(v.real + 0.5);
	else if (v.kind == VALUE_INT && v.num >= 0)
		g->weight = (uint64_t)v.num;
	else
		return 0;
	return 1;
}

static uint32_t stacks_comm_of(const struct stacks *s, int64_t id)
{
	if (id < 1 || (uint64_t)id >= s->n_comm)
		return 0;
	return s->o.summed ? s->first[id] : (uint32_t)id;
}

bool stacks_group_of(const struct stacks *s, const struct event_row *e,
		     struct stacks_group *g)
{
	if (e->type < 0 || (size_t)e->type >= s->n_type || !s->type[e->type])
		return false; /* a record, not a sample */
	*g = (struct stacks_group){
		.type = (uint32_t)e->type,
		.event = s->type[e->type] - 1,
		.comm = stacks_comm_of(s, e->comm),
		.cpu = s->o.by_cpu && e->on_cpu ? (int32_t)e->cpu : -1,
		.kraw = id_of_row(e->kraw),
		.uraw = id_of_row(e->uraw),
		.verdict = (uint8_t)e->verdict,
		/* only this flag affects what is drawn */
		.flags = (uint8_t)e->flags & VERDICT_EXEC,
		.weight = s->o.samples || !e->weighed ? 1 : (uint64_t)e->weight,
		.samples = 1,
	};
	return true;
}

/* Counts an event, if it is a sample. r: the row with its weight or field, if
 * one is asked for. */
static int stacks_take_event(struct stacks *s, const struct event_row *e,
			     const struct rows *r, struct err *err)
{
	struct stacks_group g;
	int rc = 1;

	if (!stacks_group_of(s, e, &g))
		return 0;
	if (s->o.weight && (rc = take_weight(s, r, &g, err)) <= 0) {
		s->event[g.event].unweighed += !rc;
		return rc;
	}
	if (s->o.weigh) {
		char field[32];

		if (!s->o.weigh(s->o.arg, e, s->comm[g.comm].tid, &g, field))
			return 0;
		g.field = intern_add(&s->field, field);
	}
	if (s->o.field)
		g.field = intern_add(&s->field, rows_text(r, WEIGHT_ROWS_KEY));
	uint32_t group = stacks_add(s, &g);

	if (s->o.each) {
		const struct stacks_sample one = {
			.group = group,
			.event = s->group[group].event,
			.cpu = e->on_cpu ? (int32_t)e->cpu : -1,
			.timed = e->timed,
			.time = e->time,
			.weight = g.weight,
		};

		s->o.each(s->o.arg, &one);
	}
	return 0;
}

/* Adds samples of a type of event, if that is an event of samples. */
static void stacks_add_sum(struct stacks *s, int64_t type,
			   struct stacks_group *g)
{
	if (type < 0 || (size_t)type >= s->n_type || !s->type[type])
		return;
	if (s->o.samples)
		g->weight = g->samples;
	g->type = (uint32_t)type;
	g->event = s->type[type] - 1;
	stacks_add(s, g);
}

/* Reads the sums that a server sent. */
static int stacks_read_served(struct stacks *s, struct store *db,
			      struct err *err)
{
	struct rows *r = rows_of(db, "served_groups", err);

	while (rows_step(r)) {
		int64_t comm = rows_int(r, SERVED_GROUPS_COMM);
		struct stacks_group g = {
			.comm = stacks_comm_of(s, comm),
			.cpu = s->o.by_cpu
				       ? (int32_t)rows_int(r, SERVED_GROUPS_CPU)
				       : -1,
			.kraw = id_of_row(rows_int(r, SERVED_GROUPS_KRAW)),
			.uraw = id_of_row(rows_int(r, SERVED_GROUPS_URAW)),
			.verdict = (uint8_t)rows_int(r, SERVED_GROUPS_VERDICT),
			.flags = (uint8_t)rows_int(r, SERVED_GROUPS_FLAGS),
			.weight = (uint64_t)rows_int(r, SERVED_GROUPS_WEIGHT),
			.samples = (uint64_t)rows_int(r, SERVED_GROUPS_N),
		};

		stacks_add_sum(s, rows_int(r, SERVED_GROUPS_TYPE), &g);
	}
	return rows_end(r, err);
}

int stacks_served(struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "served_here", err);
	bool here = rows_step(r);

	return rows_end(r, err) ? -1 : here;
}

/* Reads the groups from the smallest source that has them: the sums of a
 * server, those of the database, or else each sample. */
static int stacks_load_groups(struct stacks *s, struct store *db,
			      struct err *err)
{
	const struct stacks_opts *o = &s->o;
	const struct weight_by by = { o->filter, o->weight, o->field };
	bool exprs = o->weight || o->field || o->filter->expr;
	bool each = !o->summed || o->by_cpu || exprs || o->each || o->weigh ||
		    filter_given(o->filter);
	struct rows *r;
	int ret;

	if (o->no_groups)
		return 0;
	if (o->summed) {
		/* finds the first comm of each name, which stands for all its
		 * threads */
		struct intern names = { 0 };
		uint32_t *named = mem_new(s->n_comm, sizeof(*named));
		size_t n = 0;

		s->first = mem_new(s->n_comm, sizeof(*s->first));
		for (size_t i = 1; i < s->n_comm; i++) {
			uint32_t name = intern_add(&names, s->comm[i].name);

			if (name == n)
				named[n++] = (uint32_t)i;
			s->first[i] = named[name];
		}
		intern_release(&names);
		free(named);
	}
	ret = stacks_served(db, err);
	if (ret < 0)
		return -1;
	if (ret && (exprs || o->each || o->weigh))
		return err_set(err, ERR_USAGE,
			       "a server gives sums of samples; what needs "
			       "each of them needs a database");
	if (ret)
		return stacks_read_served(s, db, err);
	if (!each) {
		/* the sums of samples; if stack_sums_read() returns 0, they are
		 * of no use */
		struct stack_sum *sum;
		size_t n;

		ret = stack_sums_read(db, s->code, &sum, &n, err);

		for (size_t i = 0; i < n; i++) {
			struct stacks_group g = {
				.comm = stacks_comm_of(s, sum[i].comm),
				.cpu = -1,
				.kraw = sum[i].kraw,
				.uraw = sum[i].uraw,
				.verdict = sum[i].verdict,
				.flags = sum[i].flags,
				.weight = sum[i].weight,
				.samples = sum[i].n,
			};

			stacks_add_sum(s, sum[i].type, &g);
		}
		free(sum);
	}
	if (ret)
		return ret < 0 ? -1 : 0;
	if (store_sums_code(db))
		return err_set(err, ERR_DB,
			       "the sums of this capture tell its stacks not "
			       "apart; 'backstitch ingest' it, and use the "
			       "database");
	if (!exprs && !filter_given(o->filter)) {
		/* Reads all samples, in a third of the time that a condition
		 * takes. */
		struct events *ev =
			events_open(db, s->o.filter, EVENTS_FEW, err);
		struct event_row e;
		int rc = ev ? 1 : -1;

		while (rc > 0 && (rc = events_next(ev, &e, err)) > 0)
			if (stacks_take_event(s, &e, NULL, err))
				rc = -1;
		events_close(ev);
		return rc;
	}
	r = exprs ? weight_rows(db, &by, err)
		  : filter_rows(o->filter, db, "report_samples", NULL, 0, err);
	while (rows_step(r)) {
		const struct event_row e = {
			.type = rows_int(r, REPORT_SAMPLES_TYPE),
			.comm = rows_int(r, REPORT_SAMPLES_COMM),
			.on_cpu = rows_value(r, REPORT_SAMPLES_CPU).kind ==
				  VALUE_INT,
			.cpu = rows_int(r, REPORT_SAMPLES_CPU),
			.kraw = rows_int(r, REPORT_SAMPLES_KRAW),
			.uraw = rows_int(r, REPORT_SAMPLES_URAW),
			.verdict = rows_int(r, REPORT_SAMPLES_VERDICT),
			.flags = rows_int(r, REPORT_SAMPLES_FLAGS),
			.weighed = true,
			.weight = rows_int(r, REPORT_SAMPLES_WEIGHT),
			.timed = rows_value(r, REPORT_SAMPLES_TIME).kind !=
				 VALUE_NULL,
			.time = rows_int(r, REPORT_SAMPLES_TIME),
		};

		if (stacks_take_event(s, &e, r, err))
			return rows_stop(r);
	}
	return rows_end(r, err);
}

int stacks_match(struct stacks *s, struct matching *match, int side,
		 struct err *err)
{
	struct stack_names_opts o = {
		.names = s->o.names,
		.by_name = s->o.by_name,
		.inlined = s->o.inlined,
		.bogus = s->o.bogus,
		.gaps = s->o.gaps,
		.homonyms = s->homonyms,
		.match = match,
		.inlined_same = s->o.inlined_same,
		.side = side,
	};

	s->names = stack_names_new(s->code, s->labels, &o, err);
	return s->names ? 0 : -1;
}

struct stacks *stacks_load(struct store *db, const struct stacks_opts *o,
			   struct err *err)
{
	struct stacks *s = mem_new(1, sizeof(*s));
	unsigned int parts = CODE_NAMES | CODE_CHAINS | o->code |
			     (o->inlined ? CODE_INLINED : 0) |
			     (o->bogus ? CODE_BOGUS | CODE_WRONG : 0) |
			     (o->gaps ? CODE_CALLERS : 0);

	s->o = *o;
	s->labels = o->labels ? o->labels : labels_new();
	if (!(s->cure = recorder_cure(db, LACKS_STACKS, err)) ||
	    stacks_read_events(s, db, err) || stacks_read_comms(s, db, err) ||
	    !(s->code = code_load(db, parts, err)) ||
	    !(s->homonyms = homonyms_load(db, s->code, o->unnamed, err)) ||
	    stacks_load_groups(s, db, err) ||
	    shown_names_read(labels_names(s->labels), &o->names, db, err) ||
	    (o->field && o->field != weight_cgroup &&
	     !(s->payloads = payloads_open(db, err))) ||
	    (!o->unnamed && stacks_match(s, NULL, 0, err))) {
		stacks_free(s);
		return NULL;
	}
	return s;
}

void stacks_free(struct stacks *s)
{
	if (!s)
		return;
	stack_names_free(s->names);
	homonyms_free(s->homonyms);
	code_free(s->code);
	if (!s->o.labels)
		labels_free(s->labels);
	table_release(&s->index);
	table_release(&s->by_nest);
	free(s->nest);
	arena_release(&s->text);
	intern_release(&s->field);
	intern_release(&s->event_names);
	payloads_close(s->payloads);
	free_all(s->group, s->event, s->type, s->comm);
	thread_names_release(&s->told);
	free_all(s->first, s);
}

const struct stacks_group *stacks_next(const struct stacks *s, int event,
				       const struct stacks_group *after)
{
	size_t i = after ? (size_t)(after - s->group) + 1 : 0;

	while (i < s->n_group && event >= 0 &&
	       s->group[i].event != (uint32_t)event)
		i++;
	return i < s->n_group ? &s->group[i] : NULL;
}

/* Returns whether a is better to show than b: tracepoints come last, as they
 * cannot be hot; then those without stacks: if all events weigh 1, the most
 * frequent one may have none. */
static bool stacks_is_better(const struct stacks_event *a,
			     const struct stacks_event *b)
{
	if (a->point != b->point)
		return b->point;
	if (!a->stacked != !b->stacked)
		return a->stacked > 0;
	return a->weight > b->weight;
}

int stacks_heaviest(const struct stacks *s)
{
	int best = -1;

	for (size_t i = 0; i < s->n_event; i++) {
		if (s->event[i].samples && !s->event[i].apart &&
		    (best < 0 ||
		     stacks_is_better(&s->event[i], &s->event[best])))
			best = (int)i;
	}
	return best;
}

const char *stacks_event_name(const struct stacks *s, int event)
{
	return event < 0 ? "several, added up" : s->event[event].name;
}

int stacks_whole(const struct stacks *s, int event, const char *path,
		 const char *how, uint64_t *weight, uint64_t *samples,
		 struct err *err)
{
	*weight = *samples = 0;
	if (stacks_heaviest(s) < 0)
		return err_set(err, ERR_FORMAT, "%s: no samples%s", path,
			       filter_that_passed(s->o.filter));
	for (size_t i = 0; i < s->n_event; i++) {
		const struct stacks_event *e = &s->event[i];

		if (event >= 0 && i != (size_t)event)
			continue;
		*samples += e->samples;
		/* the weight of an event is UINT64_MAX if it is more */
		*weight = saturating_add(*weight, e->weight);
	}
	if (*weight == UINT64_MAX)
		return err_set(err, ERR_LIMIT,
			       "%s: the weights sum up to more than 64 bits; "
			       "%s",
			       path, how);
	return *weight ? 0
		       : err_set(err, ERR_FORMAT,
				 "%s: all samples have weight 0; %s", path,
				 how);
}

int stacks_choose(const struct stacks *s, const char *doing, char **note)
{
	FILE *out = mem_stream(note, NULL);
	int event = stacks_heaviest(s);
	uint64_t stacked = 0;
	uint64_t samples = 0;
	size_t used = 0;

	for (size_t i = 0; i < s->n_event; i++) {
		used += s->event[i].samples > 0 && !s->event[i].apart;
		stacked += s->event[i].stacked;
		samples += s->event[i].samples;
	}
	if (samples && !stacked)
		fprintf(out, "note: no sample has a stack; '%s' takes them\n",
			s->cure);
	if (used >= 2 && s->o.filter->event) {
		fprintf(out,
			"note: %s the sum of %zu events, as --event says\n",
			doing, used);
		event = -1;
	} else if (used >= 2) {
		/* writes which event is chosen, and which ones are left out */
		const char *sep = "left out: ";
		size_t n = 0;

		fprintf(out, "note: %s '", doing);
		safe_text_put(out, s->event[event].name, 0, 0);
		fputs("'; ", out);
		for (size_t i = 0; i < s->n_event; i++) {
			const struct stacks_event *e = &s->event[i];

			if (!e->samples || e->apart || (int)i == event ||
			    n++ >= NAMED_MAX)
				continue;
			fprintf(out, "%s'", sep);
			safe_text_put(out, e->name, 0, 0);
			fprintf(out, "' (%llu sample%s)",
				(unsigned long long)e->samples,
				e->samples == 1 ? "" : "s");
			sep = ", ";
		}
		if (n > NAMED_MAX)
			fprintf(out, " and %zu more event%s", n - NAMED_MAX,
				n - NAMED_MAX == 1 ? "" : "s");
		fputs("; choose with --event\n", out);
	}
	mem_stream_end(out);
	return event;
}

uint64_t stacks_unweighed(const struct stacks *s, int event)
{
	uint64_t n = 0;

	for (size_t i = 0; i < s->n_event; i++) {
		if (event < 0 || i == (size_t)event)
			n += s->event[i].unweighed;
	}
	return n;
}

const char *stacks_unit(const struct stacks *s, int event, bool samples)
{
	if (samples)
		return "samples";
	if (s->o.weight)
		return weight_unit(s->o.weight);
	return event < 0 ? "events" : s->event[event].unit;
}

const struct stacks_comm *stacks_comm(const struct stacks *s, uint32_t i)
{
	return &s->comm[i < s->n_comm ? i : 0];
}

const char *stacks_tell_comm(struct stacks *s, uint32_t i)
{
	for (size_t k = s->told.n ? s->n_comm : 0; k < s->n_comm; k++)
		thread_names_add(&s->told, s->comm[k].name, s->comm[k].tid);
	return thread_names_tell(&s->told, stacks_comm(s, i)->name,
				 stacks_comm(s, i)->tid);
}

uint32_t stacks_comm_of_tid(const struct stacks *s, int64_t tid)
{
	for (size_t i = 1; i < s->n_comm; i++)
		if (s->comm[i].tid == tid)
			return (uint32_t)i;
	return 0;
}

const char *stacks_field(const struct stacks *s, const struct stacks_group *g)
{
	const char *value = intern_get(&s->field, g->field);

	return s->payloads ? payloads_value_text(s->payloads, g->type,
						 s->o.field, value)
			   : value;
}

const char *stacks_verdict(int64_t verdict)
{
	const char *word = request_verdict_name((unsigned int)verdict);

	return !verdict ? "no request" : word ? word : "unexplained";
}

const char *stacks_missing(int64_t verdict, int64_t uraw)
{
	if (!verdict || uraw)
		return NULL;
	/* earlier versions stored this verdict for empty requests */
	return stacks_verdict(verdict == REQ_MATCHED ? REQ_EMPTY : verdict);
}

bool stacks_inferred(const struct stacks *s, const struct stacks_group *g)
{
	return code_chain_at(s->code, g->uraw)->caller == CALLER_INFERRED;
}

static void stacks_add_mark(struct stacks *s, enum label_kind kind,
			    const char *name, struct label_list *out)
{
	label_list_add(out, labels_add_name(s->labels, kind, name));
}

void stacks_get(struct stacks *s, const struct stacks_group *g,
		struct label_list *out)
{
	const char *missing = stacks_missing(g->verdict, g->uraw);
	bool exec = g->uraw && (g->flags & VERDICT_EXEC);
	char name[64];

	if (missing) {
		snprintf(name, sizeof(name), "[user: %s]", missing);
		stacks_add_mark(s, LABEL_MISSING, name, out);
	}
	if (exec)
		stacks_add_mark(s, LABEL_MISSING, STACKS_AFTER_EXEC, out);
	const char *ended = exec ? NULL : stack_names_ended(s->names, g->uraw);
	if (ended) {
		snprintf(name, sizeof(name), "[user: %s]", ended);
		stacks_add_mark(s, LABEL_MISSING, name, out);
	}
	stack_names_get(s->names, g->uraw, exec, out);
	const char *hit = stack_names_ended(s->names, g->kraw);
	if (hit) {
		snprintf(name, sizeof(name), "[kernel: %s]", hit);
		stacks_add_mark(s, LABEL_MISSING, name, out);
	}
	stack_names_get(s->names, g->kraw, false, out);
	const size_t calls = out->n;
	for (uint32_t at = g->nest; at; at = s->nest[at - 1].inside)
		label_list_add(out, s->nest[at - 1].label);
	label_list_reverse(out, calls);
	if (g->wait) {
		snprintf(name, sizeof(name), "[off-CPU: %s]", g->wait);
		stacks_add_mark(s, LABEL_WAIT, name, out);
	}
}

bool stacks_plain(const struct stacks *s, const struct stacks_group *g)
{
	return !stacks_missing(g->verdict, g->uraw) &&
	       !(g->flags & VERDICT_EXEC) && !g->wait && !g->nest &&
	       !stack_names_ended(s->names, g->uraw) &&
	       !stack_names_ended(s->names, g->kraw) &&
	       stack_names_plain(s->names, g->uraw) &&
	       stack_names_plain(s->names, g->kraw);
}
