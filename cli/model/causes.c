/* causes.c - the records of the scheduler of a database, as a timeline. */
#include "cli/model/causes.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/causes/softirq.h"
#include "cli/model/causes_names.h"
#include "cli/model/causes_spans.h"
#include "cli/model/irqs.h"
#include "cli/model/row_cursor.h"
#include "cli/model/switches.h"
#include "cli/model/thread_names.h"
#include "cli/model/wait_cause.h"
#include "schema/columns.h"
#include "schema/db/addrs.h"
#include "schema/db/int_rows.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/verdict.h"

/* Bits of common_flags. */
#define FLAG_HARDIRQ 0x08
#define FLAG_SOFTIRQ 0x10
#define FLAG_NMI 0x40
#define FLAG_INTERRUPT (FLAG_HARDIRQ | FLAG_SOFTIRQ | FLAG_NMI)

#define STATE_SLEEPS 0x3 /* S, D */

/* Longer stacks of the kernel tell nothing. */
#define FRAMES_MAX 1024

/* Columns of the queries causes_events, causes_requests and causes_fields. */
enum {
	EVENTS_ID,
	EVENTS_TIME_NS,
	EVENTS_CPU,
	EVENTS_TYPE,
	EVENTS_THREAD,
	EVENTS_COMM,
	EVENTS_KRAW,
	EVENTS_URAW
};
enum {
	REQUESTS_EVENT,
	REQUESTS_URAW,
	REQUESTS_VERDICT,
	REQUESTS_FLAGS
};
enum {
	FIELDS_EVENT_ID,
	FIELDS_PREV,
	FIELDS_NEXT,
	FIELDS_WOKEN,
	FIELDS_STATE,
	FIELDS_TARGET,
	FIELDS_CURRENT,
	FIELDS_FLAGS,
	FIELDS_DEVICE,
	FIELDS_VECTOR,
	FIELDS_DISK,
	FIELDS
};

/* An ev_ table, its rows, and that of the event at hand. */
struct causes_table {
	char *name;
	struct int_rows *rows;
	struct int_row row;
	bool has[FIELDS]; /* columns of query causes_fields */
};

enum causes_role {
	CAUSES_IGNORED,
	CAUSES_EVENT
};

struct causes_type {
	enum causes_role role;
	uint8_t kind; /* enum timeline_kind */
	uint8_t shows;
	size_t table; /* index + 1; 0: none */
	int64_t capture;
	bool sampled; /* not every occurrence is recorded: */
	int64_t recorded, happened;
	uint8_t irq; /* enum irq_kind */
	bool leaves; /* that interrupt */
};

/* A wake-up in a softirq that nothing explains yet. */
struct causes_open {
	int64_t event;
	uint32_t kraw;
};

struct causes {
	struct timeline *t;
	struct causes_spans *spans;
	const struct causes_span *span; /* that is read; NULL: none yet */
	struct causes_type *type;	/* by event_type.id */
	size_t n_type, cap_type;
	struct causes_table *table;
	size_t n_table, cap_table;
	struct int_rows *events, *requests;
	int32_t *tid; /* by thread.id */
	size_t n_tid, cap_tid;
	struct causes_names *names;
	struct thread_names *told;  /* of the timeline's threads */
	struct table recorded;	    /* tids that have records of their own */
	struct offcpu_stack *stack; /* by stack_index */
	size_t n_stack, cap_stack;
	struct intern stack_index;
	int64_t *out; /* events of switches, ascending; and their stacks */
	uint32_t *out_stack;
	size_t n_out, cap_out, n_out_stack, cap_out_stack;
	struct arena text;
	struct irqs *irqs;
	struct softirqs *softirqs; /* NULL: addresses tell nothing */
	struct causes_open *open;  /* by event */
	size_t n_open, cap_open;
	struct causes_partial partial;
	bool records;	/* there are records of switches */
	bool no_fields; /* sched_switch was stored without its fields */
};

/* ---- types */

/* Systems whose events are written by the thread that is current at the last
 * switch; samples of a clock may interrupt the switch itself. */
static bool causes_names_current(const char *full)
{
	static const char *const begin[] = {
		"sched:",  "irq:",	    "timer:",	 "workqueue:",
		"signal:", "raw_syscalls:", "syscalls:",
	};

	for (size_t i = 0; i < sizeof(begin) / sizeof(*begin); i++)
		if (!strncmp(full, begin[i], strlen(begin[i])))
			return true;
	return false;
}

static const struct {
	const char *name;
	enum timeline_kind kind;
	uint8_t shows;
} causes_kinds[] = {
	{ "sched_switch", TIMELINE_SWITCH, TIMELINE_HAS_SWITCH },
	{ "sched_waking", TIMELINE_WAKING, TIMELINE_HAS_WAKING },
	{ "sched_wakeup", TIMELINE_WAKEUP, TIMELINE_HAS_WAKEUP },
	{ "sched_wakeup_new", TIMELINE_NEW, TIMELINE_HAS_NEW },
};

/* Finds which columns the table has for those of query causes_fields, and opens
 * its rows. */
static int causes_open_fields(struct causes_table *t, struct store *db,
			      struct err *err)
{
	static const struct {
		const char *name;
		size_t at;
	} want[] = {
		{ "prev_pid", FIELDS_PREV },
		{ "prev_tid", FIELDS_PREV },
		{ "next_pid", FIELDS_NEXT },
		{ "next_tid", FIELDS_NEXT },
		{ "pid", FIELDS_WOKEN },
		{ "tid", FIELDS_WOKEN },
		{ "prev_state", FIELDS_STATE },
		{ "target_cpu", FIELDS_TARGET },
		{ "common_pid", FIELDS_CURRENT },
		{ "common_flags", FIELDS_FLAGS },
		{ "name", FIELDS_DEVICE },
		{ "vec", FIELDS_VECTOR },
		{ "dev", FIELDS_DISK },
	};
	struct sql_gap gap[] = {
		{ "table", t->name },  { "prev", "NULL" },
		{ "next", "NULL" },    { "woken", "NULL" },
		{ "state", "NULL" },   { "target", "NULL" },
		{ "current", "NULL" }, { "flags", "NULL" },
		{ "device", "NULL" },  { "vector", "NULL" },
		{ "disk", "NULL" },
	};
	struct row_cursor c;
	int rc = row_cursor_open_table(&c, db, t->name, err);
	char *sql;

	for (size_t i = 1; !rc && i < rows_columns(c.rows); i++)
		for (size_t k = 0; k < sizeof(want) / sizeof(*want); k++)
			if (!strcmp(rows_name(c.rows, i), want[k].name)) {
				gap[want[k].at].text = want[k].name;
				t->has[want[k].at] = true;
			}
	row_cursor_close(&c);
	if (rc)
		return -1;
	sql = store_sql_fill("causes_fields", gap, sizeof(gap) / sizeof(*gap));
	t->rows = int_rows_open(db, sql, err);
	free(sql);
	return t->rows ? 0 : -1;
}

/* Returns the index of the table + 1, which is opened if it is new; 0 and *err.
 */
static size_t causes_open_table(struct causes *c, struct store *db,
				const char *name, struct err *err)
{
	struct causes_table *t;

	for (size_t i = 0; i < c->n_table; i++)
		if (!strcmp(c->table[i].name, name))
			return i + 1;
	t = mem_add(c->table, c->n_table, c->cap_table);
	*t = (struct causes_table){ .name = mem_strdup(name) };
	return causes_open_fields(t, db, err) ? 0 : c->n_table;
}

static int causes_take_kind(struct causes *c, struct store *db,
			    const char *full, const char *fields,
			    struct causes_type *t, struct err *err)
{
	/* without modifiers: "sched:sched_switch:k",
	 * "sched:sched_switch/max-stack=8/" */
	const char *colon = strchr(full, ':');
	const char *name = colon ? colon + 1 : full;
	size_t len = strcspn(name, ":/");

	for (size_t i = 0; i < sizeof(causes_kinds) / sizeof(*causes_kinds);
	     i++) {
		if (strlen(causes_kinds[i].name) != len ||
		    strncmp(causes_kinds[i].name, name, len) != 0)
			continue;
		if (!row_cursor_is_table(fields)) {
			c->no_fields |= causes_kinds[i].kind == TIMELINE_SWITCH;
			continue;
		}
		t->role = CAUSES_EVENT;
		t->kind = (uint8_t)causes_kinds[i].kind;
		t->shows = causes_kinds[i].shows;
	}
	t->irq = (uint8_t)irqs_kind(name, &t->leaves);
	if (!t->role && (t->irq || causes_names_current(full) ||
			 !strncmp(full, "sched_", 6))) {
		t->role = CAUSES_EVENT;
		t->kind = TIMELINE_SEEN;
	}
	if (!t->role || !row_cursor_is_table(fields))
		return 0;
	t->table = causes_open_table(c, db, fields, err);
	return t->table ? 0 : -1;
}

/* perf turns the events of a CPU on in the order of the options: a record of
 * one shows that those before it are on. */
static int causes_read_types(struct causes *c, struct store *db,
			     struct err *err)
{
	struct rows *r = rows_dense(db, "causes_types", err);
	int64_t capture = -1; /* of the type before */
	uint8_t shows = 0;    /* what the types of that capture show */

	*mem_add(c->type, c->n_type, c->cap_type) = (struct causes_type){ 0 };
	while (rows_step(r)) {
		struct causes_type t = {
			.capture = rows_int(r, CAUSES_TYPES_CAPTURE),
			.sampled = rows_int(r, CAUSES_TYPES_SAMPLED) != 0,
			.recorded = rows_int(r, CAUSES_TYPES_EVENTS),
			.happened = rows_int(r, CAUSES_TYPES_WEIGHT),
		};

		causes_spans_type(c->spans, r);
		if (t.capture != capture)
			shows = 0;
		capture = t.capture;
		if (!strcmp(rows_text(r, CAUSES_TYPES_KIND), "sample") &&
		    causes_take_kind(c, db, rows_text(r, CAUSES_TYPES_NAME),
				     rows_text(r, CAUSES_TYPES_FIELDS), &t,
				     err))
			return rows_stop(r);
		c->records |=
			!strcmp(rows_text(r, CAUSES_TYPES_KIND), "record") &&
			!strcmp(rows_text(r, CAUSES_TYPES_NAME), "switch");
		shows |= t.shows;
		if (!strcmp(rows_text(r, CAUSES_TYPES_FORMAT), "perf"))
			t.shows = shows;
		*mem_add(c->type, c->n_type, c->cap_type) = t;
		if (t.kind == TIMELINE_SWITCH && t.role &&
		    rows_int(r, CAUSES_TYPES_EVENTS) > 0)
			causes_spans_note(c->spans, r);
	}
	return rows_end(r, err);
}

/* ---- threads and their names */

/* Threads of recorders, whose own wake-ups perf does not record. */
static bool causes_is_recorder(const char *comm)
{
	static const char *const name[] = { "perf", "trace-cmd",
					    "lttng-consumerd",
					    "lttng-sessiond" };

	for (size_t i = 0; i < sizeof(name) / sizeof(*name); i++)
		if (!strcmp(comm, name[i]))
			return true;
	return false;
}

const char *causes_comm(const struct causes *c, int64_t tid)
{
	return causes_names_comm(c->names, tid);
}

const char *causes_name(const struct causes *c, int64_t tid)
{
	return thread_names_tell(c->told, causes_comm(c, tid), tid);
}

int64_t causes_pid(const struct causes *c, int64_t tid)
{
	return causes_names_pid(c->names, tid);
}

bool causes_is_named_only(const struct causes *c, int64_t tid)
{
	return causes_spans_main(c->spans)->some &&
	       table_find_hash(&c->recorded, hash_u64((uint64_t)tid)) ==
		       TABLE_NONE;
}

/* Names the threads that have no name so far by the fields of events. */
static int causes_name_others(struct causes *c, struct store *db,
			      struct err *err)
{
	bool all = true;

	for (uint32_t i = 0; all && i < timeline_threads(c->t); i++)
		all = *causes_comm(c, timeline_tid(c->t, i)) != 0;
	for (size_t i = 0; !all && i < c->n_table; i++)
		if ((c->table[i].has[FIELDS_NEXT] ||
		     c->table[i].has[FIELDS_WOKEN]) &&
		    causes_names_add(c->names, db, c->table[i].name, err))
			return -1;
	return 0;
}

/* ---- losses */

/* Says why records are missing, and what to record in place of them. sampled:
 * the type that was; NULL: none. */
static void causes_say_partial(struct causes *c,
			       const struct causes_capture *capture,
			       const struct causes_type *sampled)
{
	char why[96];

	if (c->partial.why)
		return;
	if (sampled) {
		bool all = sampled->kind == TIMELINE_SWITCH;

		snprintf(why, sizeof(why),
			 "%s were sampled, %" PRId64 " of %" PRId64,
			 all ? "switches" : "wake-ups", sampled->recorded,
			 sampled->happened);
		c->partial.why = arena_strdup(&c->text, why);
		c->partial.cure = "record each switch and wake-up: "
				  "backstitch record --waits, or without other "
				  "events perf record -a -c 1 -e "
				  "sched:sched_switch -e sched:sched_waking";
		return;
	}
	c->partial.why = capture->filtered ? "switches were filtered"
					   : "not every switch was recorded";
	c->partial.cure = capture->filtered ? "record all CPUs without --filter"
					    : "record all CPUs, perf record -a";
}

/* Where records are those of some tasks, or samples, who comes and goes is not
 * recorded. */
static void causes_lose_all(struct causes *c, const struct causes_span *span)
{
	struct timeline_loss l = { .from = span->from,
				   .to = span->to,
				   .n = -1 };
	const struct causes_capture *capture = span->capture;
	const struct causes_type *sampled = NULL;

	for (size_t i = 0; i < c->n_type; i++) {
		const struct causes_type *t = &c->type[i];

		if (t->capture == capture->id && t->shows &&
		    t->kind != TIMELINE_SEEN && t->sampled &&
		    (!sampled || t->kind == TIMELINE_SWITCH))
			sampled = t;
	}
	if (!capture->some && !capture->filtered && !sampled)
		return;
	causes_say_partial(c, capture, sampled);
	for (l.cpu = 0; l.cpu < timeline_rules(c->t)->cpus; l.cpu++)
		timeline_lose(c->t, &l);
}

/* Nothing is proved where there may be CPUs without records. */
static void causes_say_cpus(struct causes *c)
{
	if (timeline_rules(c->t)->cpus || c->partial.why)
		return;
	c->partial.why = "how many CPUs there were is not known";
	if (causes_spans_main(c->spans)->text)
		c->partial.cure = "keep the first lines of the text, which "
				  "tell it ('#P:', 'cpus='), or the folder "
				  "per_cpu beside it";
}

/* Adds the losses of each span after the other, as timeline_lose() wants them,
 * each as far as it is in the span. */
static int causes_load_losses(struct causes *c, struct store *db,
			      struct err *err)
{
	size_t n;
	const struct causes_span *span = causes_spans_get(c->spans, &n);

	for (size_t i = 0; i < n; i++) {
		const struct causes_span *s = &span[i];
		const struct value bind = { .kind = VALUE_INT,
					    .num = s->capture->id };
		struct rows *r;

		causes_lose_all(c, s);
		r = rows_open(db, store_sql("causes_losses"), &bind, 1, err);
		while (rows_step(r)) {
			struct timeline_loss l = {
				.id = rows_int(r, CAUSES_LOSSES_ID),
				.from = rows_int_or(r, CAUSES_LOSSES_T0,
						    TIMELINE_START),
				.to = rows_int_or(r, CAUSES_LOSSES_T1,
						  TIMELINE_END),
				.n = rows_int(r, CAUSES_LOSSES_N),
				.cpu = (int32_t)rows_int(r, CAUSES_LOSSES_CPU),
				.silent =
					rows_int(r, CAUSES_LOSSES_SILENT) != 0,
			};

			if (l.to < s->from || l.from > s->to)
				continue;
			if (l.from < s->from || l.to > s->to) {
				l.from = l.from < s->from ? s->from : l.from;
				l.to = l.to > s->to ? s->to : l.to;
				l.n = -1;
			}
			timeline_lose(c->t, &l);
		}
		if (rows_end(r, err))
			return -1;
	}
	causes_say_cpus(c);
	return 0;
}

/* ---- events */

static int64_t causes_field(const struct causes_table *t, size_t column)
{
	return t->row.known >> column & 1 ? t->row.v[column] : -1;
}

static int32_t causes_id(int64_t v)
{
	return v >= 0 && v < INT32_MAX ? (int32_t)v : -1;
}

/* Returns the context by common_flags (-1: unknown), and by the stack where
 * they are not enough. */
static enum timeline_context causes_context(struct wait_causes *w,
					    int64_t flags, uint32_t kraw)
{
	enum timeline_context stack = wait_causes_context(w, kraw);

	if (flags < 0)
		return stack;
	if (flags & FLAG_NMI)
		return CONTEXT_NMI;
	if (flags & FLAG_HARDIRQ)
		return stack == CONTEXT_TIMER ? CONTEXT_TIMER : CONTEXT_HARDIRQ;
	if (!(flags & FLAG_SOFTIRQ))
		return CONTEXT_TASK;
	return stack == CONTEXT_INLINE || stack == CONTEXT_SOFTIRQ ||
			       stack == CONTEXT_TIMER
		       ? stack
		       : CONTEXT_SOFTIRQ_UNKNOWN;
}

/* Returns the number of a stack, the same for equal ones. */
static uint32_t causes_intern_stack(struct causes *c,
				    const struct offcpu_stack *s)
{
	const uint32_t word[5] = { s->type, s->comm, s->kraw, s->uraw,
				   (uint32_t)s->verdict << 8 | s->flags };
	uint32_t id = intern_add_bytes(&c->stack_index, word, sizeof(word));

	if (id == c->n_stack)
		*mem_add(c->stack, c->n_stack, c->cap_stack) = *s;
	return id;
}

/* Notes the stack of a switch or a wake-up, whose user half may be that of a
 * request. */
static int causes_take_stack(struct causes *c, const int64_t *event,
			     struct timeline_record *rec, struct err *err)
{
	struct offcpu_stack s = {
		.type = (uint32_t)event[EVENTS_TYPE],
		.comm = (uint32_t)event[EVENTS_COMM],
		.kraw = (uint32_t)event[EVENTS_KRAW],
		.uraw = (uint32_t)event[EVENTS_URAW],
	};
	struct int_row q;
	int rc = int_rows_seek(c->requests, rec->id, &q, err);

	if (rc > 0) {
		if (q.known >> REQUESTS_URAW & 1)
			s.uraw = (uint32_t)q.v[REQUESTS_URAW];
		s.verdict = (uint8_t)q.v[REQUESTS_VERDICT];
		s.flags = (uint8_t)q.v[REQUESTS_FLAGS] & VERDICT_EXEC;
	}
	rec->stack = causes_intern_stack(c, &s);
	if (rec->kind == TIMELINE_SWITCH) {
		*mem_add(c->out, c->n_out, c->cap_out) = rec->id;
		*mem_add(c->out_stack, c->n_out_stack, c->cap_out_stack) =
			rec->stack;
	}
	return rc < 0 ? -1 : 0;
}

/* Returns the state of the thread that leaves: a number, or of a text of ftrace
 * a letter. */
static int32_t causes_state(const struct causes_table *t)
{
	const char *text = int_rows_text(t->rows, &t->row, FIELDS_STATE);
	const struct value v = { .kind = VALUE_TEXT, .text = text };

	return text ? (int32_t)offcpu_state_bits(&v)
		    : (int32_t)causes_field(t, FIELDS_STATE);
}

static void causes_fill_fields(struct wait_causes *w,
			       const struct causes_table *t, uint32_t kraw,
			       struct timeline_record *rec)
{
	int32_t current = causes_id(causes_field(t, FIELDS_CURRENT));

	if (current >= 0)
		rec->current = current;
	if (rec->kind == TIMELINE_SEEN)
		return;
	if (rec->kind == TIMELINE_SWITCH) {
		rec->current = causes_id(causes_field(t, FIELDS_PREV));
		rec->other = causes_id(causes_field(t, FIELDS_NEXT));
		rec->state = causes_state(t);
		return;
	}
	rec->other = causes_id(causes_field(t, FIELDS_WOKEN));
	rec->target = causes_id(causes_field(t, FIELDS_TARGET));
	rec->context =
		(uint8_t)causes_context(w, causes_field(t, FIELDS_FLAGS), kraw);
}

/* ---- softirqs of a kernel without names */

/* Notes what the stack of an event may tell of softirqs. */
static void causes_note_stack(struct causes *c, int64_t flags, uint32_t kraw,
			      const struct timeline_record *rec)
{
	unsigned int roles = rec->current > 0 ? SOFTIRQ_THREAD : 0;

	if (!c->softirqs || !kraw || flags < 0)
		return;
	if (rec->kind == TIMELINE_SWITCH && !(flags & FLAG_INTERRUPT) &&
	    rec->state > 0 && !(rec->state & 0xff & ~STATE_SLEEPS))
		softirqs_want(c->softirqs, kraw, roles | SOFTIRQ_SLEEP);
	if (rec->kind < TIMELINE_WAKING || (flags & FLAG_NMI))
		return;
	if (flags & FLAG_HARDIRQ)
		softirqs_want(c->softirqs, kraw, roles | SOFTIRQ_HARDIRQ);
	else if (flags & FLAG_SOFTIRQ)
		softirqs_want(c->softirqs, kraw, roles | SOFTIRQ_ASKED);
	if (rec->context == CONTEXT_SOFTIRQ_UNKNOWN)
		*mem_add(c->open, c->n_open, c->cap_open) =
			(struct causes_open){ rec->id, kraw };
}

static int causes_load_addrs(struct causes *c, struct store *db,
			     struct err *err)
{
	struct rows *r = rows_of(db, "causes_addrs", err);
	uint64_t *addr = mem_new(FRAMES_MAX, sizeof(*addr));

	while (rows_step(r)) {
		int64_t id = rows_int(r, CAUSES_ADDRS_ID);
		struct value v = rows_value(r, CAUSES_ADDRS_ADDRS);
		int n;

		if (id < 1 || id > UINT32_MAX ||
		    !softirqs_is_wanted(c->softirqs, (uint32_t)id))
			continue;
		n = store_addrs(v.text, v.len, addr, FRAMES_MAX);
		if (n > 0)
			softirqs_take(c->softirqs, (uint32_t)id, addr,
				      (size_t)n);
	}
	free(addr);
	return rows_end(r, err);
}

static void causes_settle(void *arg, int64_t event, uint8_t *context)
{
	const struct causes *c = arg;
	size_t at = search_where(c->n_open, i, c->open[i].event >= event);

	if (at < c->n_open && c->open[at].event == event)
		*context = (uint8_t)softirqs_context(c->softirqs,
						     c->open[at].kraw);
}

/* ---- names of interrupts */

static void causes_note_irq(struct causes *c, const struct causes_type *type,
			    const struct causes_table *f, bool timer,
			    const struct timeline_record *rec)
{
	int64_t flags = causes_field(f, FIELDS_FLAGS);
	bool hard = flags > 0 && (flags & FLAG_HARDIRQ);
	const struct irq_entry e = {
		.kind = (enum irq_kind)type->irq,
		.time = rec->time,
		.hard = hard,
		.name = int_rows_text(f->rows, &f->row, FIELDS_DEVICE),
		.vector = causes_field(f, FIELDS_VECTOR),
	};

	if (flags < 0)
		return;
	if (e.kind == IRQ_DISK && (flags & FLAG_INTERRUPT))
		irqs_disk(c->irqs, rec->cpu, hard,
			  causes_field(f, FIELDS_DISK));
	else if (e.kind == IRQ_DISK)
		return;
	else if (e.kind && type->leaves)
		irqs_leave(c->irqs, rec->cpu, e.kind);
	else if (e.kind)
		irqs_enter(c->irqs, rec->cpu, &e);
	else if (rec->kind >= TIMELINE_WAKING && (flags & FLAG_INTERRUPT))
		irqs_wake(c->irqs, rec->cpu, rec->id, hard, timer);
}

struct causes_between {
	const struct causes *c;
	int32_t cpu;
	int64_t from, to;
	bool lost;
};

static void causes_find_between(void *arg, size_t loss)
{
	struct causes_between *b = arg;
	const struct timeline_loss *l = timeline_loss(b->c->t, loss);

	b->lost |= (l->cpu < 0 || l->cpu == b->cpu) && l->from < b->to &&
		   l->to > b->from;
}

const char *causes_what(const struct causes *c, const struct proof_edge *e)
{
	struct causes_between b = { .c = c, .cpu = e->cpu, .to = e->time };
	const char *what =
		e->event ? irqs_what(c->irqs, e->event, &b.from) : NULL;

	if (e->context == CONTEXT_TIMER)
		return "timer";
	if (!what)
		return NULL;
	timeline_each_loss(c->t, b.from, b.to, causes_find_between, &b);
	return b.lost ? NULL : what;
}

/* Returns whether the capture tells of this time. */
static bool causes_enter(struct causes *c, int64_t capture, int64_t time)
{
	const struct causes_span *span =
		causes_spans_find(c->spans, capture, time);

	if (span && c->span && span != c->span)
		timeline_change(c->t);
	if (span)
		c->span = span;
	return span != NULL;
}

static int causes_take_event(struct causes *c, struct wait_causes *w,
			     const struct int_row *r, struct err *err)
{
	int64_t type = r->v[EVENTS_TYPE];
	int64_t thread = r->v[EVENTS_THREAD];
	uint32_t kraw = (uint32_t)r->v[EVENTS_KRAW];
	const struct causes_type *t =
		type > 0 && (uint64_t)type < c->n_type ? &c->type[type] : NULL;
	struct timeline_record rec = {
		.time = r->v[EVENTS_TIME_NS],
		.id = r->v[EVENTS_ID],
		.cpu = r->known >> EVENTS_CPU & 1 ? (int32_t)r->v[EVENTS_CPU]
						  : -1,
		.current = -1,
		.other = -1,
		.state = -1,
		.target = -1,
	};

	if (!t || !t->role || !causes_enter(c, t->capture, rec.time))
		return 0;
	if (thread > 0 && (uint64_t)thread <= c->n_tid &&
	    !c->span->capture->tracks)
		rec.current = c->tid[thread - 1];
	rec.kind = t->kind;
	rec.shows = t->shows;
	if (t->table) {
		struct causes_table *f = &c->table[t->table - 1];
		int rc = int_rows_seek(f->rows, rec.id, &f->row, err);
		bool work;

		if (rc < 0)
			return -1;
		if (!rc && rec.kind != TIMELINE_SEEN)
			return 0;
		if (rc)
			causes_fill_fields(w, f, kraw, &rec);
		if (rec.kind != TIMELINE_SEEN &&
		    causes_take_stack(c, r->v, &rec, err))
			return -1;
		if (rc)
			causes_note_stack(c, causes_field(f, FIELDS_FLAGS),
					  kraw, &rec);
		/* its stack, if it has one, shows a timer's function */
		work = rec.kind >= TIMELINE_WAKING &&
		       wait_causes_context(w, kraw) == CONTEXT_HARDIRQ;
		if (rc)
			causes_note_irq(c, t, f, !work, &rec);
	}
	/* In a container the recorder's ids differ from those of the scheduler,
	 * which the fields of its events have. */
	if (rec.kind != TIMELINE_SEEN && rec.current > 0 && thread > 0 &&
	    (uint64_t)thread <= c->n_tid && c->tid[thread - 1] > 0)
		c->tid[thread - 1] = rec.current;
	timeline_add(c->t, &rec);
	return 0;
}

static int causes_read_events(struct causes *c, struct store *db,
			      const struct capture_events *only,
			      struct wait_causes *w, struct err *err)
{
	int64_t last = only ? only->last : INT64_MAX;
	struct int_row row;
	int rc;

	c->requests = int_rows_open(db, store_sql("causes_requests"), err);
	c->events = c->requests
			    ? int_rows_open(db, store_sql("causes_events"), err)
			    : NULL;
	if (!c->events)
		return -1;
	if (only && int_rows_seek(c->events, only->first, &row, err) < 0)
		return -1;
	while ((rc = int_rows_next(c->events, &row, err)) > 0 &&
	       row.v[EVENTS_ID] <= last)
		if (causes_take_event(c, w, &row, err))
			return -1;
	return rc < 0 ? -1 : 0;
}

/* Says why there are no waits, and what to record. */
static void causes_refuse(const struct causes *c, struct store *db,
			  const char *path, struct err *err)
{
	static const char advice[] =
		"perf record -a -g -e sched:sched_switch -e sched:sched_waking "
		"-e sched:sched_wakeup -e sched:sched_wakeup_new";

	if (c->no_fields)
		err_set(err, ERR_FORMAT,
			"%s: the database has no fields of sched_switch; "
			"ingest with --fields 'sched:*'",
			path);
	else if (c->records)
		err_set(err, ERR_FORMAT,
			"%s: the records of switches say how long a thread was "
			"off a CPU ('report --off-cpu'), but not what it "
			"waited for or who woke it; record with %s",
			path, advice);
	else
		switches_missing(db, path, advice, err);
}

struct causes *causes_load(struct store *db, const char *path,
			   const struct capture_events *only,
			   struct wait_causes *w, struct err *err)
{
	struct causes *c = mem_new(1, sizeof(*c));
	const struct offcpu_stack none = { 0 };
	struct timeline_rules rules;
	struct rows *r;
	int rc;

	c->spans = causes_spans_new();
	c->told = mem_new(1, sizeof(*c->told));
	causes_intern_stack(c, &none);
	if (causes_read_types(c, db, err))
		goto fail;
	rc = causes_spans_choose(c->spans, db, only ? only->capture : 0, err);
	if (rc < 0)
		goto fail;
	if (!rc) {
		causes_refuse(c, db, path, err);
		goto fail;
	}
	rules = causes_spans_rules(c->spans);
	c->t = timeline_new(&rules);
	c->irqs = irqs_new();
	if (causes_spans_main(c->spans)->x86_64)
		c->softirqs = softirqs_new();
	r = rows_of(db, "causes_threads", err);
	while (rows_step(r)) {
		int64_t tid = rows_int(r, CAUSES_THREADS_TID);

		*mem_add(c->tid, c->n_tid, c->cap_tid) =
			tid >= 0 && tid < INT32_MAX ? (int32_t)tid : -1;
	}
	c->names = rows_end(r, err) ? NULL : causes_names_load(db, err);
	if (!c->names)
		goto fail;
	if (causes_load_losses(c, db, err) ||
	    causes_read_events(c, db, only, w, err))
		goto fail;
	if (c->n_open) {
		if (causes_load_addrs(c, db, err))
			goto fail;
		softirqs_learn(c->softirqs);
		timeline_settle(c->t, causes_settle, c);
	}
	for (size_t i = 0; i < c->n_tid; i++) {
		table_add(&c->recorded, hash_u64((uint64_t)c->tid[i]), 0);
		if (causes_is_recorder(causes_comm(c, c->tid[i])))
			timeline_mark_recorder(c->t, c->tid[i]);
	}
	if (causes_name_others(c, db, err))
		goto fail;
	timeline_seal(c->t);
	for (uint32_t i = 0; i < timeline_threads(c->t); i++) {
		int32_t tid = timeline_tid(c->t, i);

		thread_names_add(c->told, causes_comm(c, tid), tid);
	}
	return c;
fail:
	causes_free(c);
	return NULL;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	timeline_free(c->t);
	causes_spans_free(c->spans);
	int_rows_close(c->events);
	int_rows_close(c->requests);
	for (size_t i = 0; i < c->n_table; i++) {
		int_rows_close(c->table[i].rows);
		free(c->table[i].name);
	}
	free(c->table);
	free(c->type);
	free(c->tid);
	causes_names_free(c->names);
	thread_names_release(c->told);
	free(c->told);
	free(c->stack);
	free(c->out);
	free(c->out_stack);
	intern_release(&c->stack_index);
	table_release(&c->recorded);
	softirqs_free(c->softirqs);
	irqs_free(c->irqs);
	free(c->open);
	arena_release(&c->text);
	free(c);
}

const struct timeline *causes_timeline(const struct causes *c)
{
	return c->t;
}

const struct causes_partial *causes_partial(const struct causes *c)
{
	return c->partial.why ? &c->partial : NULL;
}

const char *causes_larger_buffers(const struct causes *c)
{
	return causes_spans_main(c->spans)->larger;
}

struct causes_premise causes_premise(const struct causes *c)
{
	int8_t pauses = timeline_rules(c->t)->pauses;
	bool silent = timeline_contradictions(c->t) > 0;

	if (timeline_is_blind(c->t))
		return (struct causes_premise){
			.cure = silent ? causes_spans_main(c->spans)->ring
				       : NULL,
			.none = pauses > 0
					? "recording paused: no record proves "
					  "nothing"
					: "records are missing without a loss "
					  "in too many places: no record "
					  "proves nothing",
		};
	return (struct causes_premise){
		.words = silent	  ? "if records are missing only where it shows"
			 : pauses ? "if tracing was not switched off in between"
				  : NULL,
	};
}

const struct offcpu_stack *causes_waker(const struct causes *c, uint32_t stack)
{
	return &c->stack[stack];
}

const struct offcpu_stack *causes_stack(const struct causes *c, int64_t event)
{
	size_t at = search_where(c->n_out, i, c->out[i] >= event);
	const struct timeline_wake *w;

	if (at < c->n_out && c->out[at] == event)
		return &c->stack[c->out_stack[at]];
	w = event ? timeline_wake_of(c->t, event) : NULL;
	return w ? &c->stack[w->stack] : NULL;
}
