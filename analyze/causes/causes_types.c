/* causes_types.c - what the types of a kernel's events are read for, the fields
 * of these events, and the names of its threads. */
#include "analyze/causes/causes_types.h"

#include "analyze/causes/causes_spans.h"
#include "analyze/causes/irqs.h"
#include "analyze/causes/missing.h"
#include "analyze/causes/timeline.h"
#include "analyze/names/thread_names.h"
#include "analyze/samples/row_cursor.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/text/safe_text.h"

/* ---- names of threads */

#define SILENT_NAMED 3 /* tasks; more are counted */

struct causes_name {
	const char *comm;
	int64_t pid;
	bool of_field; /* a later one may replace it */
};

struct causes_names {
	struct causes_name *name; /* by index */
	size_t n, cap;
	struct table index; /* of tids */
	struct arena text;
};

/* Returns the name of a thread, which may be new and has no comm then. */
static struct causes_name *causes_names_at(struct causes_names *n, int64_t tid)
{
	uint32_t id =
		table_find_or_add(&n->index, hash_u64((uint64_t)tid), n->n);

	if (id == n->n)
		*mem_add(n->name, n->n, n->cap) =
			(struct causes_name){ .pid = -1 };
	return &n->name[id];
}

struct causes_names *causes_names_load(struct store *db, struct err *err)
{
	struct causes_names *n = mem_new(1, sizeof(*n));
	struct rows *r = rows_of(db, "causes_comms", err);

	while (rows_step(r))
		*causes_names_at(
			n,
			rows_int(r, CAUSES_COMMS_TID)) = (struct causes_name){
			.comm = arena_strdup(&n->text,
					     rows_text(r, CAUSES_COMMS_NAME)),
			.pid = rows_int(r, CAUSES_COMMS_PID),
		};
	if (!rows_end(r, err))
		return n;
	causes_names_free(n);
	return NULL;
}

void causes_names_free(struct causes_names *n)
{
	if (!n)
		return;
	free(n->name);
	table_release(&n->index);
	arena_release(&n->text);
	free(n);
}

static void causes_names_take(struct causes_names *n, const struct rows *r,
			      size_t tid, size_t comm)
{
	struct causes_name *name;

	if (!tid || !comm || rows_int(r, tid) <= 0 || !*rows_text(r, comm))
		return;
	name = causes_names_at(n, rows_int(r, tid));
	if (name->comm &&
	    (!name->of_field || !strcmp(name->comm, rows_text(r, comm))))
		return;
	name->comm = arena_strdup(&n->text, rows_text(r, comm));
	name->of_field = true;
}

int causes_names_add(struct causes_names *n, struct store *db,
		     const char *table, struct err *err)
{
	static const char *const field[3][3] = {
		{ "prev_comm", "next_comm", "comm" },
		{ "prev_pid", "next_pid", "pid" },
		{ "prev_tid", "next_tid", "tid" },
	};
	size_t at[2][3] = { 0 };
	struct row_cursor c = { 0 };
	int rc = row_cursor_open_table(&c, db, table, false, err);

	for (size_t i = 1; !rc && i < rows_columns(c.rows); i++)
		for (size_t k = 0; k < 9; k++)
			if (!strcmp(rows_name(c.rows, i), field[k / 3][k % 3]))
				at[k >= 3][k % 3] = i;
	while (!rc && c.more) {
		for (size_t k = 0; k < 3; k++)
			causes_names_take(n, c.rows, at[1][k], at[0][k]);
		rc = row_cursor_step(&c, err);
	}
	row_cursor_close(&c);
	return rc;
}

const char *causes_names_comm(const struct causes_names *n, int64_t tid)
{
	uint32_t id = table_find_hash(&n->index, hash_u64((uint64_t)tid));

	if (tid == 0)
		return "swapper";
	return id == TABLE_NONE ? "" : n->name[id].comm;
}

int64_t causes_names_pid(const struct causes_names *n, int64_t tid)
{
	uint32_t id = table_find_hash(&n->index, hash_u64((uint64_t)tid));

	if (tid == 0)
		return 0;
	return id == TABLE_NONE ? -1 : n->name[id].pid;
}

/* ---- silent tasks */

char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names)
{
	size_t n = t->n_silent;
	char *text;
	FILE *out;

	if (!n)
		return NULL;
	out = mem_stream(&text, NULL);
	for (size_t i = 0; i < n && n <= SILENT_NAMED; i++) {
		const struct timeline_silent s = t->silent[i];
		const char *comm = causes_names_comm(names, s.tid);

		fputs(!i ? "" : i + 1 < n ? ", " : " and ", out);
		if (s.cpu >= 0)
			fprintf(out, "swapper/%d", s.cpu);
		else if (*comm)
			safe_text_put(out, thread_names_tell(told, comm, s.tid),
				      0, 0);
		else
			fprintf(out, "thread %d", s.tid);
	}
	if (n > SILENT_NAMED)
		fprintf(out, "%zu tasks that record nothing", n);
	mem_stream_end(out);
	return text;
}

char *causes_silent_premise(const struct timeline *t, const char *names)
{
	unsigned int on = missing_premise(t);
	char *text;
	FILE *out;

	if (!names)
		return NULL;
	out = mem_stream(&text, NULL);
	fprintf(out, "if only records of %s are missing", names);
	if (on & MISSING_IF_SHOWS)
		fputs(", and others only where it shows", out);
	if (on & MISSING_IF_ON)
		fputs(", and " MISSING_ON_WORDS, out);
	if (on & MISSING_IF_CPUS)
		fputs(", and " MISSING_CPUS_WORDS, out);
	mem_stream_end(out);
	return text;
}

/* ---- fields */

/* Finds which columns of the table tell fields, and opens its rows with those.
 * A switch itself says who is current. */
static int fields_open(struct causes_fields *f, struct store *db,
		       enum timeline_kind kind, struct err *err)
{
	static const struct {
		const char *name;
		enum causes_field field;
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
		{ "old_pid", FIELDS_OLD },
		{ "old_tid", FIELDS_OLD },
	};
	const char *column[1 + ARRAY_SIZE(want)] = { "event_id" };
	struct row_cursor c;
	int rc = row_cursor_open_table(&c, db, f->name, false, err);
	uint8_t n = 1;

	for (size_t i = 1; !rc && i < rows_columns(c.rows); i++)
		for (size_t k = 0; k < ARRAY_SIZE(want); k++) {
			if (strcmp(rows_name(c.rows, i), want[k].name) != 0 ||
			    (want[k].field == FIELDS_CURRENT &&
			     kind == TIMELINE_SWITCH))
				continue;
			f->column[want[k].field] = n;
			column[n++] = want[k].name;
		}
	row_cursor_close(&c);
	f->rows = rc ? NULL : rows_ints_of(db, f->name, column, n, err);
	return f->rows ? 0 : -1;
}

/* Returns the index of the table + 1, which is opened if it is new; 0 and *err.
 */
static size_t fields_of_table(struct causes_types *ts, struct store *db,
			      const char *name, enum timeline_kind kind,
			      struct err *err)
{
	struct causes_fields *f;

	for (size_t i = 0; i < ts->n_table; i++)
		if (!strcmp(ts->table[i].name, name))
			return i + 1;
	f = mem_add(ts->table, ts->n_table, ts->cap_table);
	*f = (struct causes_fields){ .name = mem_strdup(name) };
	return fields_open(f, db, kind, err) ? 0 : ts->n_table;
}

bool causes_fields_has(const struct causes_fields *f, enum causes_field field)
{
	return f->column[field] && (f->row.known >> f->column[field] & 1);
}

int64_t causes_fields_int(const struct causes_fields *f,
			  enum causes_field field)
{
	return causes_fields_has(f, field) ? f->row.v[f->column[field]] : -1;
}

const char *causes_fields_text(const struct causes_fields *f,
			       enum causes_field field)
{
	return f->column[field] ? rows_word(f->rows, &f->row, f->column[field])
				: NULL;
}

/* ---- execs */

static int32_t execs_process(void *arg, int32_t tid)
{
	return causes_id(causes_names_pid(arg, tid));
}

/* Reads the rows of a table from the first one on. */
static int execs_read(const char *table, struct store *db, struct timeline *t,
		      struct err *err)
{
	static const char *const column[] = { "id", "time_ns" };
	struct causes_fields f = { .name = (char *)table };
	struct rows *events = rows_ints_of(db, "event", column, 2, err);
	struct int_row event;
	int rc = events ? fields_open(&f, db, TIMELINE_SEEN, err) : -1;

	while (!rc && (rc = rows_next_ints(f.rows, &f.row, err)) > 0) {
		rc = rows_seek_ints(events, f.row.v[0], &event, err);
		if (rc > 0 && (event.known >> 1 & 1))
			timeline_rename(
				t, event.v[1],
				causes_id(causes_fields_int(&f, FIELDS_OLD)),
				causes_id(causes_fields_int(&f, FIELDS_WOKEN)));
		rc = rc < 0 ? -1 : 0;
	}
	rows_close(f.rows);
	rows_close(events);
	return rc;
}

/* Of those of the first thread of a process, perf does not tell which thread
 * went on as the first; the tracepoint does. */
int causes_types_execs(const struct causes_types *ts, struct store *db,
		       struct causes_names *names, struct timeline *t,
		       struct err *err)
{
	struct rows *r = rows_of(db, "causes_execs", err);

	while (rows_step(r))
		timeline_rename(t, rows_int(r, CAUSES_EXECS_TIME_NS), -1,
				causes_id(rows_int(r, CAUSES_EXECS_TID)));
	t->process = execs_process;
	t->process_arg = names;
	if (rows_end(r, err))
		return -1;
	for (size_t i = 0; i < ts->n_table; i++)
		if (ts->table[i].column[FIELDS_OLD] &&
		    execs_read(ts->table[i].name, db, t, err))
			return -1;
	return 0;
}

/* ---- types */

/* Systems whose events are written by the thread that is current at the last
 * switch; samples of a clock may interrupt the switch itself. */
static bool types_name_current(const char *full)
{
	static const char *const begin[] = {
		"sched:",  "irq:",	    "timer:",	 "workqueue:",
		"signal:", "raw_syscalls:", "syscalls:",
	};

	return any_where(ARRAY_SIZE(begin), i,
			 !strncmp(full, begin[i], strlen(begin[i])));
}

static const struct {
	const char *name;
	enum timeline_kind kind;
	uint8_t shows;
} types_kinds[] = {
	{ "sched_switch", TIMELINE_SWITCH, TIMELINE_HAS_SWITCH },
	{ "sched_waking", TIMELINE_WAKING, TIMELINE_HAS_WAKING },
	{ "sched_wakeup", TIMELINE_WAKEUP, TIMELINE_HAS_WAKEUP },
	{ "sched_wakeup_new", TIMELINE_NEW, TIMELINE_HAS_NEW },
};

/* Chooses what a type of a capture that reports switches is read for. */
static void types_choose(struct causes_type *t, const struct rows *r,
			 const struct causes_capture *capture, bool why)
{
	int64_t id = rows_int(r, CAUSES_TYPES_ID);

	t->stacks = id == capture->sample[0] || id == capture->sample[1];
	if (id == capture->type && capture->records) {
		t->role = CAUSES_RECORD;
		t->kind = TIMELINE_LEAVE;
		t->shows = TIMELINE_HAS_SWITCH;
		return;
	}
	if (id != capture->type && !why)
		return;
	if (!strcmp(rows_text(r, CAUSES_TYPES_KIND), "sample")) {
		const char *full = rows_text(r, CAUSES_TYPES_NAME);
		const char *fields = rows_text(r, CAUSES_TYPES_FIELDS);
		/* without modifiers: "sched:sched_switch:k",
		 * "sched:sched_switch/max-stack=8/" */
		const char *colon = strchr(full, ':');
		const char *name = colon ? colon + 1 : full;
		size_t len = strcspn(name, ":/");

		for (size_t i = 0; i < ARRAY_SIZE(types_kinds); i++) {
			if (strlen(types_kinds[i].name) != len ||
			    strncmp(types_kinds[i].name, name, len) != 0 ||
			    !row_cursor_is_table(fields))
				continue;
			t->role = CAUSES_EVENT;
			t->kind = (uint8_t)types_kinds[i].kind;
			t->shows = types_kinds[i].shows;
		}
		t->irq = (uint8_t)irqs_kind(name, &t->leaves);
		t->timers = !strncmp(full, "timer:hrtimer_", 14) &&
			    strncmp(full, "timer:hrtimer_expire_", 21) != 0;
		if (!t->role && (t->irq || types_name_current(full) ||
				 !strncmp(full, "sched_", 6))) {
			t->role = CAUSES_EVENT;
			t->kind = TIMELINE_SEEN;
		}
	}
	if (t->kind != TIMELINE_SWITCH || !t->role)
		return;
	if (id == capture->type) {
		t->role = CAUSES_SWITCH;
		return;
	}
	/* another buffer has the same switches a little later or earlier */
	t->role = capture->records ? CAUSES_EVENT : CAUSES_IGNORED;
	t->kind = TIMELINE_SEEN;
	t->shows = 0;
}

/* Sets what a record of the type shows of the others of its capture. *shows:
 * what those before it do, which is brought up to date.
 *
 * perf turns the events of a CPU on, and off, in the order of the options: a
 * record of one shows that those before it are on, but they may be off again.
 * Records of switches are on with an event that is none of these: in a session
 * of all CPUs it is on before all others, and off after them (perf 6.1,
 * tools/perf/util/evlist.c). */
static void types_set_shows(struct causes_type *t, bool perf, uint8_t *shows)
{
	if (t->role == CAUSES_RECORD) {
		t->ended = perf ? (uint8_t)~t->shows : 0;
	} else if (perf) {
		t->ended = *shows & (uint8_t)~t->shows;
		t->shows |= *shows;
		*shows = t->shows;
	} else {
		*shows |= t->shows;
	}
}

int causes_types_load(struct causes_types *ts, struct store *db,
		      const struct causes_kernel *k, bool why, struct err *err)
{
	struct rows *r = rows_dense(db, "causes_types", err);
	int64_t capture = -1; /* of the type before */
	uint8_t shows = 0;    /* what the types of that capture show */

	*mem_add(ts->type, ts->n, ts->cap) = (struct causes_type){ 0 };
	while (rows_step(r)) {
		const char *fields = rows_text(r, CAUSES_TYPES_FIELDS);
		struct causes_type t = {
			.capture = rows_int(r, CAUSES_TYPES_CAPTURE),
			.sampled = rows_int(r, CAUSES_TYPES_SAMPLED) != 0,
			.no_packets = rows_int(r, CAUSES_TYPES_NO_PACKETS) != 0,
			.recorded = rows_int(r, CAUSES_TYPES_EVENTS),
			.happened = rows_int(r, CAUSES_TYPES_WEIGHT),
		};
		const struct causes_capture *of =
			causes_kernel_capture(k, t.capture);

		if (of)
			types_choose(&t, r, of, why);
		if (t.role && t.role != CAUSES_RECORD &&
		    row_cursor_is_table(fields)) {
			t.table = fields_of_table(ts, db, fields,
						  (enum timeline_kind)t.kind,
						  err);
			if (!t.table)
				return rows_stop(r);
		}
		if (t.capture != capture)
			shows = 0;
		capture = t.capture;
		types_set_shows(
			&t, !strcmp(rows_text(r, CAUSES_TYPES_FORMAT), "perf"),
			&shows);
		*mem_add(ts->type, ts->n, ts->cap) = t;
	}
	return rows_end(r, err);
}

void causes_types_release(struct causes_types *ts)
{
	for (size_t i = 0; i < ts->n_table; i++) {
		rows_close(ts->table[i].rows);
		free(ts->table[i].name);
	}
	free_all(ts->table, ts->type);
}

const struct causes_type *causes_types_sampled(const struct causes_types *ts,
					       int64_t capture)
{
	const struct causes_type *sampled = NULL;

	for (size_t i = 0; i < ts->n; i++) {
		const struct causes_type *t = &ts->type[i];

		if (t->capture == capture && t->shows &&
		    t->kind != TIMELINE_SEEN && t->sampled &&
		    (!sampled || t->kind == TIMELINE_SWITCH))
			sampled = t;
	}
	return sampled;
}
