/* causes.c - the records of the scheduler of a database, as a timeline. */
#include "analyze/causes/causes.h"

#include <ctype.h>
#include <inttypes.h>

#include "analyze/causes/chain.h"
#include "analyze/causes/missing.h"
#include "analyze/causes/irqs.h"
#include "analyze/names/thread_names.h"
#include "analyze/causes/wake_context.h"
#include "analyze/causes/wait_cause.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/task_state.h"

/* A sampled stack that belongs to the thread's next switch record. */
struct causes_pending {
	bool known;
	struct offcpu_stack stack;
};

/* ---- threads and their names */

/* Returns whether the name is that of a recorder's thread: perf does not record
 * wake-ups of its own threads. Debian 11 calls it perf_5.10. */
static bool causes_is_recorder(const char *comm)
{
	static const char *const name[] = { "perf", "trace-cmd",
					    "lttng-consumerd",
					    "lttng-sessiond" };

	return any_where(ARRAY_SIZE(name), i, !strcmp(comm, name[i])) ||
	       (!strncmp(comm, "perf_", 5) && isdigit((unsigned char)comm[5]));
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

uint32_t causes_thread_number(const struct causes *c, uint32_t row)
{
	return row && row <= c->n_tid ? timeline_thread(c->t, c->tid[row - 1])
				      : TIMELINE_NONE;
}

bool causes_is_named_only(const struct causes *c, int64_t tid)
{
	return c->kernel->capture->some &&
	       table_find_hash(&c->recorded, hash_u64((uint64_t)tid)) ==
		       TABLE_NONE;
}

/* ---- losses */

/* Adds the losses of each CPU in time order, as timeline_lose() requires. */
static void causes_take_loss(void *arg, const struct causes_span *span,
			     const struct timeline_loss *l)
{
	struct causes *c = arg;
	const struct causes_capture *capture = span->capture;
	bool goes_on = span != &c->kernel->span[span->line];
	struct timeline_loss all = { .from = goes_on ? span[-1].to : span->from,
				     .to = span->to,
				     .n = -1 };

	if (l) {
		timeline_lose(c->t, l);
		return;
	}
	/* If only some tasks were recorded, or events were sampled, some
	 * switches are not recorded. */
	const struct causes_type *sampled =
		causes_types_sampled(&c->types, capture->id);

	if (!capture->some && !capture->filtered && !sampled)
		return;
	timeline_lose_each(c->t, &all);
	char why[96];

	if (c->partial.why)
		return;
	if (sampled) {
		bool whole = sampled->kind == TIMELINE_SWITCH;

		snprintf(why, sizeof(why),
			 "%s were sampled, %" PRId64 " of %" PRId64,
			 whole ? "switches" : "wake-ups", sampled->recorded,
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

/* ---- events */

/* Returns the number of a stack; equal stacks have the same number. */
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

/* Returns the thread of an event, as the reader of its capture knows it; -1:
 * not known. */
static int32_t causes_thread(const struct causes *c, const struct event_row *e)
{
	return e->thread && e->thread <= c->n_tid ? c->tid[e->thread - 1] : -1;
}

/* ---- switches */

/* Returns the slot for the stack of the thread's next switch record; NULL: the
 * event's thread is not known. */
static struct causes_pending *causes_pending(struct causes *c,
					     const struct event_row *e)
{
	if (!c->pending)
		c->pending = mem_new(c->n_tid + 1, sizeof(*c->pending));
	return causes_thread(c, e) < 0 ? NULL : &c->pending[e->thread - 1];
}

/* Reads a switch record, which names only its own thread, into *out and *rec.
 * Returns 1, 0 if the record has no direction, or -1 and *err. */
static int causes_tell_record(struct causes *c, const struct event_row *e,
			      struct causes_switch *out,
			      struct timeline_record *rec, struct err *err)
{
	struct causes_pending *p = causes_pending(c, e);
	int rc = row_cursor_seek(&c->record, out->event, err);
	const struct rows *sw = c->record.rows;
	bool leaves;

	if (rc <= 0 || rows_value(sw, SWITCH_RECORDS_AWAY).kind == VALUE_NULL)
		return rc < 0 ? -1 : 0;
	leaves = rows_int(sw, SWITCH_RECORDS_AWAY) != 0;
	rec->kind = leaves ? TIMELINE_LEAVE : TIMELINE_COME;
	rec->current = causes_thread(c, e);
	rec->other = causes_id(rows_int(sw, SWITCH_RECORDS_OTHER_TID));
	/* threads outside the recorder's pid namespace have tid 0 as well */
	c->other_ids |= leaves && !rec->current && !rec->other;
	out->has_out = leaves;
	out->has_in = !leaves && rec->current >= 0;
	out->out = out->in = rec->current;
	if (rows_int(sw, SWITCH_RECORDS_PREEMPT))
		out->state = STATE_READY;
	if (p && p->known && leaves)
		out->stack = p->stack;
	if (p)
		p->known = false;
	return 1;
}

/* ---- events for the timeline */

/* Adds an event to the timeline. Returns 1 and the switch in *out if the event
 * reports one, 0 if not, or -1 and *err. */
static int causes_take_event(struct causes *c, const struct event_row *e,
			     struct causes_switch *out, struct err *err)
{
	uint64_t type = (uint64_t)e->type;
	const struct causes_type *t =
		type < c->types.n ? &c->types.type[type] : NULL;
	struct timeline_record rec = {
		.time = e->time,
		.id = e->id,
		.cpu = e->on_cpu ? causes_id(e->cpu) : -1,
		.current = -1,
		.other = -1,
		.state = -1,
		.target = -1,
	};
	struct causes_fields *f =
		t && t->table ? &c->types.table[t->table - 1] : NULL;
	int rc;
	bool told;

	if (!t || (!t->role && !t->stacks) || !e->timed)
		return 0;
	const struct causes_span *span =
		causes_kernel_find(c->kernel, t->capture, rec.time);

	/* the kernel's timeline does not use the capture at that time */
	if (!span)
		return 0;
	if (c->t && c->span && span->line != c->span->line) {
		timeline_change(c->t);
		wake_contexts_change(c->contexts);
	}
	c->span = span;
	told = t->role == CAUSES_SWITCH || t->role == CAUSES_RECORD;
	*out = (struct causes_switch){ .capture = c->span->capture,
				       .event = rec.id,
				       .time = rec.time,
				       .cpu = rec.cpu,
				       .state = -1 };
	if ((told || t->stacks) &&
	    offcpu_stack_of(&c->events, e, &out->stack, err))
		return -1;
	if (t->stacks && causes_pending(c, e))
		*causes_pending(c, e) =
			(struct causes_pending){ true, out->stack };
	rec.kind = t->kind;
	rec.shows = t->shows;
	rec.ended = t->ended;
	rec.irqs_off = t->timers;
	/* as in common_flags, but fields of timers are rarely stored */
	rec.interrupt = irq_interrupts((enum irq_kind)t->irq);
	if (!c->span->capture->tracks)
		rec.current = causes_thread(c, e);
	if (t->role == CAUSES_RECORD)
		rc = causes_tell_record(c, e, out, &rec, err);
	else
		rc = f ? rows_seek_ints(f->rows, rec.id, &f->row, err) : 0;
	if (rc < 0 || !t->role || (!rc && rec.kind != TIMELINE_SEEN))
		return rc < 0 ? -1 : 0;
	if (t->role == CAUSES_SWITCH) {
		/* Fills *out from the fields of sched_switch. */
		out->has_out = causes_fields_has(f, FIELDS_PREV);
		out->out = causes_fields_int(f, FIELDS_PREV);
		out->has_in = causes_fields_has(f, FIELDS_NEXT);
		out->in = causes_fields_int(f, FIELDS_NEXT);
		const char *text = causes_fields_text(f, FIELDS_STATE);
		const struct value v = { .kind = VALUE_TEXT, .text = text };

		out->state = text ? (int32_t)offcpu_state_bits(&v)
				  : (int32_t)causes_fields_int(f, FIELDS_STATE);
		rec.current = causes_id(out->out);
		rec.other = causes_id(out->in);
	}
	if (!c->words)
		return told;
	rec.state = (int32_t)out->state;
	/* A dying thread has no tid in the kernel's record, but it may still be
	 * preempted and return. */
	if (rec.kind == TIMELINE_LEAVE && rec.current < 0)
		rec.state = out->state == STATE_READY ? -1 : STATE_DEAD;
	if (f && rc) {
		struct offcpu_stack stack;
		int32_t current =
			causes_id(causes_fields_int(f, FIELDS_CURRENT));

		if (rec.kind != TIMELINE_SWITCH && current >= 0)
			rec.current = current;
		if (rec.kind != TIMELINE_SWITCH && rec.kind != TIMELINE_SEEN) {
			rec.other =
				causes_id(causes_fields_int(f, FIELDS_WOKEN));
			rec.target =
				causes_id(causes_fields_int(f, FIELDS_TARGET));
		}
		if (rec.kind >= TIMELINE_WAKING) {
			if (offcpu_stack_of(&c->events, e, &stack, err))
				return -1;
			rec.stack = causes_intern_stack(c, &stack);
		}
		wake_contexts_take(c->contexts, t, f, (uint32_t)e->kraw, &rec);
	}
	if (rec.kind == TIMELINE_SWITCH || rec.kind == TIMELINE_LEAVE) {
		rec.stack = out->number = causes_intern_stack(c, &out->stack);
		if (out->stack.kraw && rec.state > 0 &&
		    rec.state < STATE_PREEMPTED)
			(*mem_at(c->slept, c->n_slept, c->cap_slept,
				 rec.stack))[rec.state & STATE_UNINTERRUPTIBLE
						     ? 1
						     : 0] = true;
	}
	/* In a container the recorder's ids differ from those in the fields of
	 * scheduler events. From here on the thread has the scheduler's id. */
	int32_t known = causes_thread(c, e);

	if (rec.kind != TIMELINE_SEEN && rec.current > 0 && known >= 0) {
		c->other_ids |=
			c->span->capture->records && known != rec.current;
		if (known)
			c->tid[e->thread - 1] = rec.current;
	}
	timeline_add(c->t, &rec);
	return told;
}

/* Opens the events, from the first one that the kernel's captures need. */
static int causes_open_events(struct causes *c, struct err *err)
{
	bool records = false;
	struct event_row first;

	for (size_t i = 0; i < c->kernel->n; i++)
		records |= c->kernel->span[i].capture->records;
	if (records && row_cursor_open(&c->record, c->db,
				       store_sql("switch_records"), err))
		return -1;
	c->events = event_rows_open_both(c->db, EVENT_ROWS_TO_THREAD, err);
	if (!c->events.rows)
		return -1;
	return event_rows_seek(&c->events, c->kernel->first_event, &first, err);
}

int causes_missing(const struct causes_spans *s, struct store *db,
		   const char *path, enum recorder_lack lack, struct err *err)
{
	const char *advice = recorder_cure(db, lack, err);
	struct rows *r = rows_of(db, "switches_unnamed", err);
	int64_t n = 0;
	bool cut = false;

	if (rows_step(r)) {
		n = rows_int(r, SWITCHES_UNNAMED_N);
		cut = rows_int(r, SWITCHES_UNNAMED_CUT) != 0;
	}
	if (rows_end(r, err) || !advice)
		return -1;
	if (s->bare)
		return err_set(err, ERR_FORMAT,
			       "%s: the database has no fields of "
			       "sched_switch; ingest with --fields 'sched:*'",
			       path);
	/* in perf.data, the names and formats follow all records */
	if (n)
		return err_set(err, ERR_FORMAT,
			       "%s: nothing says who left a CPU and came back, "
			       "but the names of %lld tracepoint%s are missing"
			       "%s: sched_switch may be one of them",
			       path, (long long)n, n == 1 ? "" : "s",
			       cut ? ", as the capture is cut off or damaged"
				   : "");
	return err_set(err, ERR_FORMAT,
		       "%s: nothing says who left a CPU and came back; record "
		       "with %s",
		       path, advice);
}

static int causes_read_threads(struct causes *c, struct err *err)
{
	struct rows *r = rows_of(c->db, "causes_threads", err);

	while (rows_step(r))
		*mem_add(c->tid, c->n_tid, c->cap_tid) =
			causes_kernel_has(c->kernel,
					  rows_int(r, CAUSES_THREADS_CAPTURE))
				? causes_id(rows_int(r, CAUSES_THREADS_TID))
				: -1;
	return rows_end(r, err);
}

/* Makes the timeline and adds the losses. Returns 0, or -1 and *err. */
static int causes_begin(struct causes *c, struct err *err)
{
	const struct timeline_rules rules = causes_kernel_rules(c->kernel);
	int rc;

	c->t = timeline_new(&rules);
	c->contexts =
		wake_contexts_new(c->t, c->words, c->kernel->capture->x86_64);
	c->names = causes_names_load(c->db, c->kernel, err);
	if (!c->names || causes_types_execs(&c->types, c->db, c->kernel,
					    c->names, c->t, err))
		return -1;
	rc = causes_kernel_losses(c->kernel, c->db, "causes_losses",
				  causes_take_loss, c, err);
	/* Nothing can be proved if other CPUs may have run without records. */
	if (!c->t->rules.cpus && !c->partial.why)
		c->partial.why = "how many CPUs there were is not known";
	return rc;
}

struct causes *causes_open(struct store *db, const struct causes_kernel *k,
			   struct wait_causes *w, struct err *err)
{
	struct causes *c = mem_new(1, sizeof(*c));
	const struct offcpu_stack none = { 0 };

	c->db = db;
	c->words = w;
	c->kernel = k;
	c->told = mem_new(1, sizeof(*c->told));
	causes_intern_stack(c, &none);
	if (!causes_types_load(&c->types, db, k, w, err) &&
	    !causes_read_threads(c, err) && (!w || !causes_begin(c, err)) &&
	    causes_open_events(c, err) >= 0)
		return c;
	causes_free(c);
	return NULL;
}

int causes_next(struct causes *c, struct causes_switch *out, struct err *err)
{
	struct event_row e;
	int rc;

	while ((rc = event_rows_next(&c->events, &e, err)) > 0 &&
	       e.id <= c->kernel->last_event) {
		rc = causes_take_event(c, &e, out, err);
		if (rc)
			return rc;
	}
	if (rc < 0)
		return -1;
	if (!c->words)
		return 0;
	/* The last event: finishes the timeline. */
	const struct timeline_loss all = {
		.from = TIMELINE_START, .to = TIMELINE_END, .n = -1, .cpu = -1
	};

	if (c->other_ids)
		timeline_lose(c->t, &all);
	for (size_t i = 0; i < c->n_tid; i++) {
		table_add(&c->recorded, hash_u64((uint64_t)c->tid[i]), 0);
		if (causes_is_recorder(causes_comm(c, c->tid[i])))
			timeline_mark_recorder(c->t, c->tid[i]);
	}
	/* Threads without a name get the one in the fields of events. */
	bool named = true;

	for (uint32_t k = 0; named && k < c->t->n_thread; k++)
		named = *causes_comm(c, timeline_tid(c->t, k)) != 0;
	for (size_t k = 0; !named && k < c->types.n_table; k++) {
		const struct causes_fields *f = &c->types.table[k];

		if ((f->column[FIELDS_NEXT] || f->column[FIELDS_WOKEN]) &&
		    causes_names_add(c->names, c->db, f->name, err))
			return -1;
	}
	timeline_seal(c->t);
	for (size_t i = 0; i < 2 * c->n_slept; i++)
		if (c->slept[i / 2][i % 2])
			wait_causes_learn(c->words, i % 2, &c->stack[i / 2]);
	if (wake_contexts_settle(c->contexts, c->db, c->names, c->stack, err))
		return -1;
	c->limits = limits_load(c->db, c->kernel, err);
	if (!c->limits)
		return -1;
	c->t->limits = c->limits;
	for (uint32_t i = 0; i < c->t->n_thread; i++) {
		int32_t tid = timeline_tid(c->t, i);

		thread_names_add(c->told, causes_comm(c, tid), tid);
	}
	c->silent = causes_silent_names(c->t, c->told, c->names);
	c->premise = causes_silent_premise(c->t, c->silent);
	return 0;
}

struct causes *causes_load(struct store *db, const char *path,
			   struct wait_causes *w, struct err *err)
{
	struct causes_spans *s = causes_spans_load(db, false, err);
	const struct causes_kernel *k = s ? s->most : NULL;
	struct causes *c = k ? causes_open(db, k, w, err) : NULL;
	struct causes_switch e;
	int rc = 1;

	if (s && !k) {
		const char *advice = recorder_cure(db, LACKS_WAKES, err);

		if (advice) {
			if (!s->bare && s->records)
				err_set(err, ERR_FORMAT,
					"%s: the records of switches are those of some threads "
					"only: they say how long one was off a CPU ('report "
					"--off-cpu'), but not who ran meanwhile, or woke it; "
					"record with %s",
					path, advice);
			else if (!s->bare && s->n_measured)
				err_set(err, ERR_FORMAT,
					"%s: perf's own sums say how long a thread was off a "
					"CPU ('report --off-cpu'), but not who ran meanwhile, "
					"or woke it; record with %s",
					path, advice);
			else
				causes_missing(s, db, path, LACKS_WAKES, err);
		}
	}
	while (c && (rc = causes_next(c, &e, err)) > 0)
		;
	if (!rc && c->other_ids)
		rc = err_set(err, ERR_FORMAT,
			     "%s: the records of switches have the thread ids "
			     "of a container, where all threads outside have "
			     "id 0: they say how long one inside was off a CPU "
			     "('report --off-cpu'), but not who ran meanwhile, "
			     "or woke it; record outside of the container, "
			     "or sched:sched_switch",
			     path);
	if (rc) {
		causes_free(c);
		causes_spans_free(s);
		return NULL;
	}
	c->spans = s;
	return c;
}

void causes_free(struct causes *c)
{
	if (!c)
		return;
	timeline_free(c->t);
	causes_spans_free(c->spans);
	event_rows_close(&c->events);
	row_cursor_close(&c->record);
	free_all(c->pending, c->silent, c->premise);
	causes_types_release(&c->types);
	free(c->tid);
	causes_names_free(c->names);
	thread_names_release(c->told);
	free_all(c->told, c->stack, c->slept);
	intern_release(&c->stack_index);
	table_release(&c->recorded);
	wake_contexts_free(c->contexts);
	limits_free(c->limits);
	arena_release(&c->text);
	free(c);
}

struct causes_premise causes_premise(const struct causes *c)
{
	unsigned int on = missing_premise(c->t);
	struct causes_premise p = { .cards = wake_contexts_cards(c->contexts) };

	if ((on & MISSING_ANYWHERE) && c->t->rules.pauses > 0) {
		p.cure = "record without what may pause perf: -D, "
			 "--control, --overwrite, --snapshot, "
			 "--switch-output";
		p.none = "recording paused, so the absence of a record "
			 "proves nothing";
	} else if (on & MISSING_ANYWHERE) {
		p.cure = c->kernel->capture->ring;
		p.none = "records are missing without a loss in too "
			 "many places: the absence of one proves "
			 "nothing";
	} else {
		static const char *const words[][2] = {
			{ NULL, "if " MISSING_CPUS_WORDS },
			{ "if " MISSING_ON_WORDS,
			  "if " MISSING_ON_WORDS ", and " MISSING_CPUS_WORDS },
			{ "if records are missing only where it shows",
			  "if records are missing only where it shows, and " MISSING_CPUS_WORDS },
		};

		p.words = c->premise;
		if (!p.words)
			p.words = words[on & MISSING_IF_SHOWS ? 2
					: on & MISSING_IF_ON  ? 1
							      : 0]
				       [(on & MISSING_IF_CPUS) != 0];
	}
	return p;
}

const char *causes_irq(const struct causes *c, const struct proof_edge *e)
{
	enum chain_state leaf = chain_leaf(e);
	const char *what = leaf == CHAIN_STATES
				   ? NULL
				   : wake_contexts_what(c->contexts, e);

	return what && strcmp(what, chain_state_word(leaf)) != 0 ? what : NULL;
}

bool causes_wake_has_premise(const struct causes *c, const struct proof_edge *e)
{
	enum softirq_premise rests = wake_contexts_premise(c->contexts, e);

	return rests == SOFTIRQ_IF_NO_IRQ ||
	       (rests != SOFTIRQ_SURE && causes_premise(c).words);
}

const struct offcpu_stack *causes_stack(const struct causes *c, int64_t event)
{
	uint32_t number;

	return timeline_stack(c->t, event, &number) ? &c->stack[number] : NULL;
}
