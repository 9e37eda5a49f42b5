/* export_firefox.c - a profile for the Firefox Profiler.
 *
 * The profile has a thread for each use of a thread id, with its samples in
 * time order. The format needs each thread as a whole, in columns, while events
 * come in time order: samples and markers are put into spools, which are files,
 * linked by thread. Calls are kept in memory. */

#include <inttypes.h>
#include <stdbool.h>

#include "stitch/text/json.h"
#include "analyze/samples/code.h"
#include "analyze/names/code_place.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/payloads.h"
#include "analyze/samples/recorder.h"
#include "cli/export/export.h"
#include "cli/export/firefox/firefox.h"
#include "cli/output/say.h"
#include "analyze/stacks/label.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/traced.h"
#include "analyze/waits/waits.h"
#include "cli/export/spool.h"
#include "cli/output/out.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/intern.h"
#include "stitch/files/path.h"
#include "stitch/verdict.h"

/* The weights of the samples of a profile. */
struct firefox_weights {
	bool given;   /* false: each sample weighs 1 */
	bool is_time; /* weights are ns of CPU time */
};

/* A linked list of items of a spool. Each item begins with the index of the
 * next one plus 1; 0 is the end. Zero-initialised is empty. */
struct spooled {
	uint64_t first, last, n;
};

/* Appends a new item to a list and returns it. *before is the item before it,
 * NULL if it is the first. Returns NULL and *err on failure. */
static void *spooled_add(struct spool *s, struct spooled *l, void **before,
			 struct err *err)
{
	void *item = spool_add(s, err);

	if (!item)
		return NULL;
	*before = l->last ? spool_at(s, l->last - 1) : NULL;
	*(*before ? (uint64_t *)*before : &l->first) = spool_count(s);
	l->last = spool_count(s);
	l->n++;
	return item;
}

enum firefox_mark_kind {
	FIREFOX_MARK_LOSS,
	FIREFOX_MARK_OFF_CPU,
	FIREFOX_MARK_EVENT
};

struct firefox_mark {
	enum firefox_mark_kind kind;
	int64_t start, end; /* INT64_MIN, INT64_MAX: not known */
	int64_t cpu;	    /* -1: not known */
	int64_t n;	    /* lost records; -1: not known */
	bool counts;	    /* n counts towards the number of lost records */
	const char *what;   /* borrowed until the markers are written; for an
			     * event, its name, NULL if its text names it */
	uint64_t text;	    /* for an event: its first piece in texts */
	uint32_t stack;	    /* for an event; FIREFOX_NONE: it has none */
};

#define TEXT_PIECE 32

/* Phases of markers in the format. */
enum phase {
	PHASE_INSTANT,
	PHASE_INTERVAL
};

struct item {
	uint64_t next;
	struct firefox_mark mark;
};

/* What is needed to write markers; times are in ns. */
struct writing {
	struct firefox *f;
	struct json *j;
	int64_t begin, end;
	struct spool *texts;
};

/* Adds a marker of a thread. Returns 0, or -1 and *err. */
static int firefox_mark_add(struct spool *marks, struct spooled *l,
			    const struct firefox_mark *mark, struct err *err)
{
	void *before;
	struct item *item = spooled_add(marks, l, &before, err);

	if (item)
		item->mark = *mark;
	return item ? 0 : -1;
}

/* Writes the data of a marker, whose members mark_schemas[] names. */
static void put_data(const struct writing *w, const struct firefox_mark *k)
{
	static const char *const types[] = { "Loss", "OffCpu", "Event" };
	struct json *j = w->j;

	json_break(j);
	json_object(j, NULL);
	json_text(j, "type", types[k->kind]);
	json_shown(j, "what",
		   k->kind == FIREFOX_MARK_EVENT ? spool_at(w->texts, k->text)
						 : k->what);
	if (k->cpu >= 0)
		json_int(j, "cpu", k->cpu);
	if (k->n >= 0)
		json_int(j, "records", k->n);
	if (k->kind == FIREFOX_MARK_LOSS)
		json_text(j, "counts", k->counts ? "yes" : "no");
	if (k->kind == FIREFOX_MARK_EVENT && k->stack != FIREFOX_NONE) {
		json_object(j, "cause");
		firefox_put_time(j, "time", w->begin, k->start);
		json_uint(j, "stack", k->stack);
		json_end(j);
	}
	json_end(j);
}

static void firefox_marks_put_name(const struct writing *w,
				   const struct firefox_mark *k)
{
	const char *name = k->kind == FIREFOX_MARK_OFF_CPU ? "off CPU"
			   : k->what			   ? k->what
				     : spool_at(w->texts, k->text);

	json_uint(w->j, NULL, firefox_string(w->f, name));
}

static bool is_instant(const struct firefox_mark *k)
{
	return k->kind != FIREFOX_MARK_LOSS && k->end == INT64_MAX;
}

static void put_start(const struct writing *w, const struct firefox_mark *k)
{
	firefox_put_time(w->j, NULL, w->begin, k->start);
}

/* Writes the end of a marker; an instant has none. A loss without a known end
 * lasts to the end of the profile. */
static void firefox_marks_put_end(const struct writing *w,
				  const struct firefox_mark *k)
{
	int64_t end = k->end < w->end ? k->end : w->end;

	if (is_instant(k))
		json_null(w->j, NULL);
	else
		firefox_put_time(w->j, NULL, w->begin,
				 end > k->start ? end : k->start);
}

static void put_phase(const struct writing *w, const struct firefox_mark *k)
{
	json_int(w->j, NULL, is_instant(k) ? PHASE_INSTANT : PHASE_INTERVAL);
}

static void put_category(const struct writing *w, const struct firefox_mark *k)
{
	json_int(w->j, NULL,
		 k->kind == FIREFOX_MARK_LOSS ? FIREFOX_LOSS : FIREFOX_OTHER);
}

static const struct {
	const char *name;
	void (*put)(const struct writing *w, const struct firefox_mark *k);
} columns[] = {
	{ "data", put_data },	    { "name", firefox_marks_put_name },
	{ "startTime", put_start }, { "endTime", firefox_marks_put_end },
	{ "phase", put_phase },	    { "category", put_category },
};

/* Writes "markers": {...}, column by column. Times are relative to w->begin. */
static void firefox_put_marks(struct spool *marks, const struct spooled *l,
			      const struct writing *w)
{
	struct json *j = w->j;

	json_object(j, "markers");
	json_uint(j, "length", l->n);
	for (size_t i = 0; i < ARRAY_SIZE(columns); i++) {
		json_break(j);
		json_array(j, columns[i].name);
		for (uint64_t at = l->first; at && !out_failed();) {
			const struct item *item = spool_at(marks, at - 1);

			columns[i].put(w, &item->mark);
			at = item->next;
		}
		json_end(j);
	}
	json_end(j);
}

struct mark_field {
	const char *key, *label, *format;
};

/* For each kind of marker, what the profiler shows, and where. */
static const struct mark_schema {
	const char *name, *description, *chart, *table;
	bool overview;
	struct mark_field field[5]; /* the last is zero */
} mark_schemas[] = {
	{ "Loss",
	  "Records that were lost, or not recorded, in this time.",
	  "{marker.data.records}",
	  "{marker.data.records} records, CPU {marker.data.cpu}",
	  true,
	  { { "what", "What", "string" },
	    { "records", "Records", "integer" },
	    { "cpu", "CPU", "integer" },
	    { "counts", "Adds to the records lost", "string" } } },
	{ "OffCpu",
	  "The thread left its CPU, until it came back.",
	  "{marker.data.what}",
	  "{marker.data.what}, CPU {marker.data.cpu}",
	  false,
	  { { "what", "Why", "string" }, { "cpu", "Left CPU", "integer" } } },
	{ "Event",
	  "An event that was recorded, with its fields.",
	  "{marker.name}",
	  "{marker.data.what}",
	  false,
	  { { "what", "Fields", "string" }, { "cpu", "CPU", "integer" } } },
};

/* Writes "markerSchema": [...], which tells the profiler what to show. */
static void firefox_put_mark_schema(struct json *j)
{
	json_array(j, "markerSchema");
	for (size_t i = 0; i < ARRAY_SIZE(mark_schemas); i++) {
		const struct mark_schema *s = &mark_schemas[i];

		json_break(j);
		json_object(j, NULL);
		json_text(j, "name", s->name);
		json_array(j, "display");
		json_text(j, NULL, "marker-chart");
		json_text(j, NULL, "marker-table");
		if (s->overview)
			json_text(j, NULL, "timeline-overview");
		json_end(j);
		json_text(j, "description", s->description);
		json_text(j, "chartLabel", s->chart);
		json_text(j, "tableLabel", s->table);
		json_array(j, "fields");
		for (const struct mark_field *f = s->field; f->key; f++) {
			json_object(j, NULL);
			json_text(j, "key", f->key);
			json_text(j, "label", f->label);
			json_text(j, "format", f->format);
			json_end(j);
		}
		json_end(j);
		json_end(j);
	}
	json_end(j);
}

struct sample {
	uint64_t next, weight;
	int64_t time;
	uint32_t stack;
};

/* A thread or a process. The kernel reuses the number of one that has ended, so
 * that one number can have several lives. */
struct life {
	int64_t number;	    /* tid or pid; -1: not known */
	uint32_t earlier;   /* count of earlier lives with this number */
	int64_t start, end; /* INT64_MIN, INT64_MAX: not known */
	const char *name;   /* its last name; NULL: not known */
};

struct thread {
	struct life life;
	uint32_t process;
	uint64_t weight;
	struct spooled samples, marks;
};

struct firefox_threads {
	struct spool *samples;
	struct thread *thread; /* by thread.id; [0]: unknown thread */
	size_t n_thread, cap_thread;
	struct life *process; /* by process.id */
	size_t n_process, cap_process;
	struct spool *marks;
	struct spool *texts; /* of events, each with its 0 in whole pieces */
	uint32_t losses;     /* index in thread[]: shows losses */
	int64_t begin, end;
};

static int firefox_threads_read_range(struct firefox_threads *t,
				      struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "capture_range", err);

	while (rows_step(r)) {
		t->begin = rows_int_or(r, CAPTURE_RANGE_FIRST_NS, 0);
		t->end = rows_int_or(r, CAPTURE_RANGE_LAST_NS, t->begin);
		if (t->end < t->begin)
			t->end = t->begin;
	}
	return rows_end(r, err);
}

/* Reads all threads and processes. Returns 0, or -1 and *err. */
static int firefox_threads_read(struct firefox_threads *t, struct store *db,
				struct err *err)
{
	struct rows *r = rows_dense(db, "firefox_threads", err);

	while (rows_step(r)) {
		int64_t process = rows_int(r, FIREFOX_THREADS_PROCESS);

		if (process < 0 ||
		    process > rows_int(r, FIREFOX_THREADS_ID) + (1 << 20)) {
			rows_unsound(r);
			continue;
		}
		*mem_add(t->thread, t->n_thread,
			 t->cap_thread) = (struct thread){
			.life = { .number = rows_int_or(r, FIREFOX_THREADS_TID,
							-1),
				  .start = rows_int_or(r,
						       FIREFOX_THREADS_START_NS,
						       INT64_MIN),
				  .end = rows_int_or(r, FIREFOX_THREADS_END_NS,
						     INT64_MAX) },
			.process = (uint32_t)process,
		};
		mem_reach(t->process, t->n_process, t->cap_process,
			  (size_t)process + 1);
		if (!process)
			continue;
		t->process[process] = (struct life){
			.number = rows_int_or(r, FIREFOX_THREADS_PID, -1),
			.start = rows_int_or(
				r, FIREFOX_THREADS_PROCESS_START_NS, INT64_MIN),
			.end = rows_int_or(r, FIREFOX_THREADS_PROCESS_END_NS,
					   INT64_MAX),
		};
	}
	return rows_end(r, err);
}

/* How many lives of each pid, or of each tid, are numbered so far. */
struct numbering {
	struct intern numbers; /* the id of a number is its place in lives[] */
	uint32_t *lives;
	size_t n, cap;
};

/* Stores in a life how many of its pid or tid were numbered before it. */
static void number_life(struct numbering *g, struct life *l)
{
	uint32_t id =
		intern_add_bytes(&g->numbers, &l->number, sizeof(l->number));

	if (id == g->n)
		*mem_add(g->lives, g->n, g->cap) = 0;
	l->earlier = g->lives[id]++;
}

static void numbering_release(struct numbering *g)
{
	intern_release(&g->numbers);
	free(g->lives);
}

static void firefox_threads_free(struct firefox_threads *t)
{
	if (!t)
		return;
	spool_free(t->samples);
	spool_free(t->marks);
	spool_free(t->texts);
	free_all(t->thread, t->process, t);
}

/* Returns the threads of a database, without samples and markers, which
 * firefox_threads_free() frees; NULL and *err on failure. */
static struct firefox_threads *firefox_threads_new(struct store *db,
						   struct err *err)
{
	struct firefox_threads *t = mem_new(1, sizeof(*t));
	const struct life unknown = { .number = -1,
				      .start = INT64_MIN,
				      .end = INT64_MAX };

	mem_at(t->thread, t->n_thread, t->cap_thread, 0)->life = unknown;
	*mem_at(t->process, t->n_process, t->cap_process, 0) = unknown;
	t->samples = spool_new(sizeof(struct sample), err);
	t->marks = t->samples ? spool_new(sizeof(struct item), err) : NULL;
	t->texts = t->marks ? spool_new(TEXT_PIECE, err) : NULL;
	if (!t->texts || firefox_threads_read_range(t, db, err) ||
	    firefox_threads_read(t, db, err)) {
		firefox_threads_free(t);
		return NULL;
	}
	/* Lost records may belong to any thread. Losses are shown in a separate
	 * thread and process, which come last. */
	struct life life = t->process[0];

	life.name = "[losses]";
	t->losses = (uint32_t)t->n_thread;
	*mem_add(t->thread, t->n_thread, t->cap_thread) = (struct thread){
		.life = life,
		.process = (uint32_t)t->n_process,
	};
	*mem_add(t->process, t->n_process, t->cap_process) = life;
	return t;
}

static struct thread *firefox_threads_thread_of(struct firefox_threads *t,
						const struct event_comm *comm)
{
	return &t->thread[comm->thread < t->losses ? comm->thread : 0];
}

/* Sets the name of each thread to its last one. */
static void firefox_name_threads(struct firefox_threads *t,
				 const struct events *e)
{
	for (size_t i = 1; i <= events_comms(e); i++) {
		const struct event_comm *c = events_comm(e, (int64_t)i);

		firefox_threads_thread_of(t, c)->life.name = c->name;
		/* the name of the main thread is also that of the process */
		if (c->process && c->process < t->n_process - 1 &&
		    c->pid == c->tid)
			t->process[c->process].name = c->name;
	}
	t->thread[0].life.name = events_comm(e, 0)->name;
}

/* Adds a sample. Returns 0, or -1 and *err. */
static int firefox_sample(struct firefox_threads *t, const struct event_row *e,
			  const struct event_comm *comm, uint32_t stack,
			  uint64_t weight, struct err *err)
{
	struct thread *th = firefox_threads_thread_of(t, comm);
	void *before;
	struct sample *s = spooled_add(t->samples, &th->samples, &before, err);

	if (!s)
		return -1;
	s->weight = weight;
	s->stack = stack;
	/* an event without a time gets that of the sample before it */
	if (e->timed)
		s->time = e->time;
	else
		s->time = before ? ((struct sample *)before)->time : t->begin;
	if (__builtin_add_overflow(th->weight, weight, &th->weight))
		th->weight = UINT64_MAX;
	return 0;
}

/* Adds a wait as a marker of the thread of comm, unless it is a sum, was
 * sampled or is of another tid. Returns 0, or -1 and *err. Two threads may have
 * had one tid: if the thread that left ended during the wait, the wait has no
 * end. After its exit event, a thread still runs and waits a little. */
static int firefox_wait(struct firefox_threads *t, const struct offcpu_wait *w,
			const struct event_comm *comm, struct err *err)
{
	struct thread *th = firefox_threads_thread_of(t, comm);
	bool back = w->end != OFFCPU_OPEN &&
		    (th->life.end >= w->to || th->life.end <= w->from);
	const struct firefox_mark mark = {
		.kind = FIREFOX_MARK_OFF_CPU,
		.start = w->from,
		.end = back ? w->to : INT64_MAX,
		.cpu = w->cpu,
		.n = -1,
		.what = w->end == OFFCPU_UNCERTAIN
				? "uncertain"
				: offcpu_state_word(w->state),
	};

	return w->sum || w->sampled || comm->tid != w->tid
		       ? 0
		       : firefox_mark_add(t->marks, &th->marks, &mark, err);
}

/* Adds an event that is not a sample of the profile, as a marker. name is
 * borrowed until the threads are written; if it is NULL, text names the marker.
 * text has the fields, len bytes. stack is FIREFOX_NONE if there is none.
 * Returns 0, or -1 and *err. */
static int firefox_event(struct firefox_threads *t, const struct event_row *e,
			 const struct event_comm *comm, const char *name,
			 const char *text, size_t len, uint32_t stack,
			 struct err *err)
{
	struct thread *th = firefox_threads_thread_of(t, comm);
	const struct firefox_mark mark = {
		.kind = FIREFOX_MARK_EVENT,
		.start = e->time,
		.end = INT64_MAX,
		.cpu = e->on_cpu ? e->cpu : -1,
		.n = -1,
		.what = name,
		.text = spool_count(t->texts),
		.stack = stack,
	};

	for (size_t at = 0; at <= len; at += TEXT_PIECE) {
		char *piece = spool_add(t->texts, err);

		if (!piece)
			return -1;
		memcpy(piece, text + at,
		       len - at < TEXT_PIECE ? len - at : TEXT_PIECE);
	}
	return firefox_mark_add(t->marks, &th->marks, &mark, err);
}

/* Adds a loss, whose `what` is borrowed until the threads are written. Returns
 * 0, or -1 and *err. */
static int firefox_loss(struct firefox_threads *t, const struct loss_row *l,
			struct err *err)
{
	const struct firefox_mark mark = {
		.kind = FIREFOX_MARK_LOSS,
		.start = l->has_from ? l->from : INT64_MIN,
		.end = l->has_to ? l->to : INT64_MAX,
		.cpu = l->cpu,
		.n = l->n,
		.counts = l->counts,
		.what = l->what,
	};

	return firefox_mark_add(t->marks, &t->thread[t->losses].marks, &mark,
				err);
}

static bool is_used(const struct thread *th)
{
	return th->samples.n || th->marks.n;
}

enum sample_column {
	SAMPLE_STACK,
	SAMPLE_TIME,
	SAMPLE_WEIGHT,
	SAMPLE_MS
};

/* Writes an array with one value for each sample of a thread. */
static void put_column(const struct firefox_threads *t, struct json *j,
		       const char *name, const struct thread *th,
		       enum sample_column column)
{
	json_break(j);
	json_array(j, name);
	for (uint64_t at = th->samples.first; at && !out_failed();) {
		const struct sample *s = spool_at(t->samples, at - 1);

		if (column == SAMPLE_STACK)
			json_int_or_null(j, NULL, s->stack,
					 s->stack != FIREFOX_NONE);
		else if (column == SAMPLE_TIME)
			firefox_put_time(j, NULL, t->begin, s->time);
		else if (column == SAMPLE_WEIGHT)
			json_uint(j, NULL, s->weight);
		else
			firefox_put_ms(j, NULL, s->weight);
		at = s->next;
	}
	json_end(j);
}

/* Writes a pid or tid. The second life of 42 is "42.2", as the profiler knows
 * threads by their number. */
static void firefox_threads_put_number(struct json *j, const char *key,
				       const struct life *l, bool quoted)
{
	char text[40];

	if (l->earlier)
		snprintf(text, sizeof(text), "%" PRId64 ".%" PRIu32, l->number,
			 l->earlier + 1);
	else
		snprintf(text, sizeof(text), "%" PRId64, l->number);
	if (l->earlier || quoted)
		json_text(j, key, text);
	else
		json_number(j, key, text);
}

static void put_life(const struct firefox_threads *t, struct json *j,
		     const struct life *l, const char *start, const char *end)
{
	firefox_put_time(j, start, t->begin, l->start);
	if (l->end == INT64_MAX)
		json_null(j, end);
	else
		firefox_put_time(j, end, t->begin, l->end);
}

static size_t firefox_threads_process(const struct firefox_threads *t,
				      const struct thread *th)
{
	return th->process < t->n_process ? th->process : 0;
}

/* Writes "threads": [...], and adds the strings of markers to f. The profiler
 * refuses a profile without threads: if none is used, losses have one. */
static void firefox_put_threads(struct firefox_threads *t, struct firefox *f,
				const struct firefox_weights *w, struct json *j)
{
	const struct writing marks = { f, j, t->begin, t->end, t->texts };
	bool empty = true;

	/* Number the lives of each tid and pid that are written, by the time at
	 * which they began: ids of the database, which are indexes in thread[]
	 * and process[], grow with time. If perf recorded the start of a thread
	 * and then listed the thread as well, the database has a second life
	 * without samples, which is not written and not numbered. [0], which is
	 * no thread of the database, has number -1, as lives without a known
	 * number do, and comes after all of them. */
	struct numbering tids RELEASED_BY(numbering_release) = { 0 };
	struct numbering pids RELEASED_BY(numbering_release) = { 0 };
	bool *used OWNED = mem_new(t->n_process, sizeof(*used));

	for (size_t i = 0; i < t->n_thread; i++)
		used[firefox_threads_process(t, &t->thread[i])] |=
			is_used(&t->thread[i]);
	for (size_t i = 1; i <= t->n_thread; i++) {
		struct thread *th = &t->thread[i % t->n_thread];

		if (is_used(th))
			number_life(&tids, &th->life);
	}
	for (size_t i = 1; i <= t->n_process; i++)
		if (used[i % t->n_process])
			number_life(&pids, &t->process[i % t->n_process]);
	for (size_t i = 0; empty && i < t->n_thread; i++)
		empty = !is_used(&t->thread[i]);
	json_array(j, "threads");
	for (size_t i = 0; i < t->n_thread && !out_failed(); i++) {
		if (!is_used(&t->thread[i]) && !(empty && i == t->losses))
			continue;
		const struct thread *th = &t->thread[i];
		const struct life *p =
			&t->process[firefox_threads_process(t, th)];

		json_object(j, NULL);
		json_text(j, "processType", "default");
		json_array(j, "pausedRanges");
		json_end(j);
		json_bool(j, "showMarkersInTimeline", true);
		json_shown(j, "name",
			   th->life.name ? th->life.name : "[no name]");
		json_bool(j, "isMainThread", th->life.number == p->number);
		json_shown(j, "processName",
			   p->name ? p->name : "[process not known]");
		firefox_threads_put_number(j, "pid", p, true);
		firefox_threads_put_number(j, "tid", &th->life, false);
		put_life(t, j, p, "processStartupTime", "processShutdownTime");
		put_life(t, j, &th->life, "registerTime", "unregisterTime");
		json_break(j);
		json_object(j, "samples");
		json_uint(j, "length", th->samples.n);
		json_text(j, "weightType",
			  w->is_time ? "tracing-ms" : "samples");
		put_column(t, j, "stack", th, SAMPLE_STACK);
		put_column(t, j, "time", th, SAMPLE_TIME);
		if (w->given)
			put_column(t, j, "weight", th,
				   w->is_time ? SAMPLE_MS : SAMPLE_WEIGHT);
		else
			json_null(j, "weight");
		/* CPU time since the previous sample */
		if (w->given && w->is_time)
			put_column(t, j, "threadCPUDelta", th, SAMPLE_WEIGHT);
		json_end(j);
		json_break(j);
		firefox_put_marks(t->marks, &th->marks, &marks);
		json_end(j);
	}
	json_end(j);
}

/* Returns the index of the thread with the largest weight, of those written. */
static uint32_t firefox_heaviest(const struct firefox_threads *t)
{
	uint64_t most = 0;
	uint32_t place = 0;
	uint32_t best = 0;

	for (size_t i = 0; i < t->n_thread; i++) {
		if (!is_used(&t->thread[i]))
			continue;
		if (t->thread[i].weight > most) {
			most = t->thread[i].weight;
			best = place;
		}
		place++;
	}
	return best;
}

#define NS_PER_MS 1000000u

struct job {
	FILE *out;
	const struct export_request *x;
	struct stacks *s;
	const struct known_code *c; /* of s */
	struct code_places *places;
	struct firefox *f;
	struct firefox_threads *threads;
	struct loss_rows *losses;
	struct events *events;
	struct payloads *payloads; /* of events */
	/* by event_type.id: 'w': a sample, 'm': a marker, 0: left out */
	char *wanted;
	uint64_t no_time; /* events that are left out for lack of a time */
	struct label_list l;
	struct intern known; /* both raw chains, calls, verdict, flags: keys */
	uint32_t *stack;     /* by key: index of the profile's stack */
	size_t n_stack, cap_stack;
	struct stacks_sample *call; /* calls of all kinds, in time order */
	size_t n_call, cap_call;
	uint64_t weight, samples;
	bool weighted; /* some sample has a weight other than 1 */
};

/* Returns the index of the profile's stack for a group of samples. */
static uint32_t stack_of(struct job *j, const struct stacks_group *g)
{
	const uint32_t key[] = { g->kraw, g->uraw, g->nest,
				 (uint32_t)g->verdict << 8 | g->flags };
	uint32_t id = intern_add_bytes(&j->known, key, sizeof(key));

	if (id < j->n_stack)
		return j->stack[id];
	j->l.n = 0;
	stacks_get(j->s, g, &j->l);
	if (!j->l.n)
		label_list_add(&j->l,
			       labels_add_name(j->s->labels, LABEL_MISSING,
					       "[no stack]"));
	*mem_add(j->stack, j->n_stack, j->cap_stack) =
		firefox_stack(j->f, &j->l);
	return j->stack[id];
}

static int take_sample(struct job *j, const struct event_row *e,
		       const struct stacks_group *g, uint64_t weight,
		       struct err *err)
{
	j->samples++;
	j->weighted |= weight != 1;
	if (__builtin_add_overflow(j->weight, weight, &j->weight))
		j->weight = UINT64_MAX;
	return firefox_sample(j->threads, e, events_comm(j->events, e->comm),
			      stack_of(j, g), weight, err);
}

/* Adds an event of another type than the samples as a marker, with fields and
 * stack; without a time it is only counted. Returns 0, or -1 and *err. */
static int firefox_take_event(struct job *j, const struct event_row *e,
			      const struct stacks_group *g, struct err *err)
{
	const char *name = events_type(j->events, e->type)->name;
	size_t len;
	const char *text = payloads_text(j->payloads, e, &len, err);

	if (!text)
		return -1;
	if (!e->timed) {
		j->no_time++;
		return 0;
	}
	return firefox_event(j->threads, e, events_comm(j->events, e->comm),
			     payloads_is_message(name) ? NULL : name, text, len,
			     g->kraw || g->uraw ? stack_of(j, g) : FIREFOX_NONE,
			     err);
}

static void firefox_keep_call(void *arg, const struct stacks_sample *one)
{
	struct job *j = arg;

	*mem_add(j->call, j->n_call, j->cap_call) = *one;
}

static void firefox_put_note(void *arg, const char *line)
{
	struct json *j = arg;

	json_break(j);
	json_object(j, NULL);
	json_text(j, "label", "Note");
	json_text(j, "format", "string");
	json_text(j, "value", line);
	json_end(j);
}

/* Returns the mean interval of samples in ns; 1 ms if they weigh no time. */
static uint64_t interval(const struct job *j, bool is_time)
{
	return is_time && j->samples && j->weight / j->samples
		       ? j->weight / j->samples
		       : NS_PER_MS;
}

/* Writes the whole profile. The shared tables come last, because threads add
 * strings to them. Returns 0, or -1 and *err. */
static int firefox_write(struct job *d, int event, struct err *err)
{
	const char *unit = stacks_unit(d->s, event, d->x->samples);
	const char *name =
		event < 0 ? "several events" : d->s->event[event].name;
	const struct firefox_weights w = { d->weighted, !strcmp(unit, "ns") };
	struct json j;

	json_open(&j, d->out, JSON_ROWS);
	json_object(&j, NULL);
	json_object(&j, "meta");
	json_int(&j, "version", FIREFOX_GECKO_VERSION);
	json_int(&j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_shown(&j, "product", path_name(d->x->path));
	json_text(&j, "importedFrom", "backstitch");
	json_shown(&j, "arguments", name);
	json_int(&j, "startTime", 0);
	json_int(&j, "profilingStartTime", 0);
	/* The profiler leaves out a sample at the end of the profile, so the
	 * end is one interval later. */
	firefox_put_ms(&j, "profilingEndTime",
		       (uint64_t)d->threads->end - (uint64_t)d->threads->begin +
			       interval(d, w.is_time));
	firefox_put_ms(&j, "interval", interval(d, w.is_time));
	json_int(&j, "processType", 0);
	json_int(&j, "stackwalk", 1);
	json_bool(&j, "symbolicated", true);
	json_bool(&j, "sourceCodeIsNotOnSearchfox", true);
	json_bool(&j, "usesOnlyOneStackType", true);
	json_object(&j, "sampleUnits");
	json_text(&j, "time", "ms");
	json_text(&j, "eventDelay", "ms");
	json_text(&j, "threadCPUDelta", "ns");
	json_end(&j);
	json_array(&j, "initialSelectedThreads");
	json_uint(&j, NULL, firefox_heaviest(d->threads));
	json_end(&j);
	firefox_put_categories(&j);
	firefox_put_mark_schema(&j);
	/* The profiler shows notes next to its own facts about the profile. */
	json_array(&j, "extra");
	json_object(&j, NULL);
	json_text(&j, "label", "Capture and losses");
	json_array(&j, "entries");
	if (notes_each(d->x->db, firefox_put_note, &j, err))
		return -1;
	if (d->no_time) {
		char text[80];

		snprintf(text, sizeof(text),
			 "%" PRIu64 " events without a time are left out",
			 d->no_time);
		firefox_put_note(&j, text);
	}
	json_end(&j);
	json_end(&j);
	json_end(&j);
	json_end(&j);
	firefox_put_threads(d->threads, d->f, &w, &j);
	firefox_put_libs(d->f, &j);
	firefox_put_shared(d->f, &j);
	json_finish(&j);
	return 0;
}

/* Adds samples, markers and losses; writes all. Returns 0, or -1 and *err. */
static int export_firefox_write_all(struct job *j, struct err *err)
{
	char *others OWNED = NULL;
	int event = stacks_choose(j->s, "exporting", &others);
	size_t n = events_types(j->events);
	struct event_row e;
	bool markers = false;
	int rc;

	/* Events with the same name in several captures are one event. Other
	 * events are markers if they still count as samples: records that
	 * became calls do not. Nor is sched_switch a marker unless --event asks
	 * for it, because waits are markers that show the same. */
	j->wanted = mem_new(n + 1, sizeof(*j->wanted));
	for (size_t i = 1; i <= n; i++) {
		const struct event_type *t = events_type(j->events, (int64_t)i);

		if (!t->sample)
			continue;
		if (event < 0 || !strcmp(t->name, j->s->event[event].name))
			j->wanted[i] = 'w';
		else if (any_where(j->s->n_event, k,
				   j->s->event[k].samples &&
					   !strcmp(t->name,
						   j->s->event[k].name)) &&
			 (j->x->filter->event ||
			  strcmp(t->name, "sched:sched_switch")))
			j->wanted[i] = 'm';
		markers |= j->wanted[i] == 'm';
	}
	if (markers)
		say_note("samples are of '%s', other events are markers; "
			 "choose with --event\n",
			 j->s->event[event].name);
	firefox_name_threads(j->threads, j->events);
	while ((rc = events_next(j->events, &e, err)) > 0) {
		const struct stacks_group g = {
			.kraw = id_of_row(e.kraw),
			.uraw = id_of_row(e.uraw),
			.verdict = (uint8_t)e.verdict,
			.flags = (uint8_t)(e.flags & VERDICT_EXEC),
		};

		if (e.type < 1 || (size_t)e.type > events_types(j->events) ||
		    !j->wanted[e.type])
			continue;
		if (j->wanted[e.type] == 'm'
			    ? firefox_take_event(j, &e, &g, err)
			    : take_sample(j, &e, &g,
					  j->x->samples ? 1
							: (uint64_t)e.weight,
					  err))
			return -1;
	}
	if (rc)
		return -1;
	/* Calls are samples, each with its time outside of calls inside it. */
	for (size_t k = 0; k < j->n_call; k++) {
		const struct stacks_sample *c = &j->call[k];
		const struct stacks_group *group = &j->s->group[c->group];
		const struct event_row entry = { .timed = c->timed,
						 .time = c->time,
						 .comm = group->comm };

		if ((event < 0 || c->event == (uint32_t)event) &&
		    take_sample(j, &entry, group, c->weight, err))
			return -1;
	}
	/* Waits are markers. */
	const struct waits_ask ask = { .filter = j->x->filter, .any = true };
	struct waits *w = waits_open(j->x->db, j->x->path, &ask, err);
	struct waits_item item;
	int ret;

	while ((ret = waits_next(w, &item, err)) > 0) {
		const struct event_comm *comm =
			events_comm(j->events, item.wait.at.comm);

		if (firefox_wait(j->threads, &item.wait, comm, err)) {
			ret = -1;
			break;
		}
	}
	waits_close(w, NULL);
	if (ret)
		return -1;
	j->losses = loss_rows_load(j->x->db, j->x->filter, err);
	if (!j->losses)
		return -1;
	for (size_t i = 0; i < j->losses->n; i++)
		if (firefox_loss(j->threads, &j->losses->row[i], err))
			return -1;
	return firefox_write(j, event, err);
}

/* Loads stacks and calls, and opens the events. Returns 0, or -1 and *err. */
static int export_firefox_load(struct job *j, struct err *err)
{
	const struct stacks_opts o = { .filter = j->x->filter,
				       .names = j->x->names,
				       .gaps = true,
				       .inlined = j->x->inlined,
				       .samples = j->x->samples,
				       .code = CODE_ALL & ~CODE_ADDRS };

	j->s = stacks_load(j->x->db, &o, err);
	if (!j->s)
		return -1;
	j->s->o.each = firefox_keep_call;
	j->s->o.arg = j;
	if (traced_add_to(j->x->db, j->x->path, j->x->filter, j->s, err))
		return -1;
	j->c = j->s->code;
	j->places = code_places_load(j->x->db, j->c, err);
	if (!j->places)
		return -1;
	j->f = firefox_new(j->c, j->places, j->s->labels);
	j->threads = firefox_threads_new(j->x->db, err);
	if (!j->threads)
		return -1;
	j->events = events_open(j->x->db, j->x->filter, EVENTS_ALL, err);
	j->payloads = j->events ? payloads_open(j->x->db, err) : NULL;
	return j->payloads ? 0 : -1;
}

static int write_firefox(FILE *out, const struct export_request *x,
			 struct err *err)
{
	struct job j = { .out = out, .x = x, .l.want_from = true };
	int rc = export_firefox_load(&j, err);

	if (!rc)
		rc = export_firefox_write_all(&j, err);
	events_close(j.events);
	payloads_close(j.payloads);
	loss_rows_free(j.losses);
	firefox_threads_free(j.threads);
	firefox_free(j.f);
	code_places_free(j.places);
	stacks_free(j.s);
	intern_release(&j.known);
	free_all(j.stack, j.wanted, j.call, j.l.label, j.l.from);
	return rc;
}

const struct exporter export_firefox = {
	.summary = "JSON for the Firefox Profiler (profiler.firefox.com): "
		   "each thread over time, stacks, losses as markers",
	.write = write_firefox,
};
