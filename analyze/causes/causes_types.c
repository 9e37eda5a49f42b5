/* causes_types.c - finds which captures report the switches of each kernel, and
 * when; what each type of event is read for, the fields of events, and the
 * names of threads. */
#include "analyze/causes/causes_types.h"

#include "analyze/causes/irqs.h"
#include "analyze/causes/missing.h"
#include "analyze/names/thread_names.h"
#include "analyze/samples/events.h"
#include "analyze/samples/loss_marks.h"
#include "formats/reader/bounds.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/text/safe_text.h"

/* Times in ftrace text are rounded to microseconds; in ns. */
#define TEXT_SKEW 1000

/* First and last event of one type. */
struct causes_times {
	int64_t capture;
	int64_t first, last; /* times */
	int64_t first_event, last_event;
};

/* What events of a type report about switches. */
enum causes_word {
	WORD_SWITCH,
	WORD_RECORD,
	WORD_SAMPLE,
	WORD_WAIT,
	WORDS
};

/* For each word, the type of the capture with the most events; 0: none. */
struct causes_choice {
	struct causes_capture capture;
	int64_t type[WORDS], events[WORDS], weight[WORDS];
};

/* State while the spans are made. */
struct causes_found {
	struct causes_times *type; /* by event_type.id - 1 */
	size_t n_type, cap_type;
	struct causes_choice *choice; /* for each capture */
	size_t n_choice, cap_choice;
};

void causes_spans_free(struct causes_spans *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		free_all(s->kernel[i].span, s->kernel[i].of, s->kernel[i].same);
	free_all(s->kernel, s->measured, s->capture, s);
}

/* ---- the captures */

/* Returns a number that rises with the version of a kernel; 0: unknown. */
#define KERNEL_VERSION(major, minor) ((uint64_t)(major) << 32 | (minor))
/* Returns the capture of a row, with the rules of its format and kernel. */
static struct causes_capture causes_read_capture(const struct rows *r)
{
	const char *format = rows_text(r, CAUSES_TYPES_FORMAT);
	const char *release = rows_text(r, CAUSES_TYPES_RELEASE);
	unsigned int major, minor;

	uint64_t version = sscanf(release, "%u.%u", &major, &minor) == 2
				   ? KERNEL_VERSION(major, minor)
				   : 0;
	int64_t cpus = rows_int(r, CAUSES_TYPES_CPUS);
	struct causes_capture c = {
		.id = rows_int(r, CAUSES_TYPES_CAPTURE),
		.together = rows_int(r, CAUSES_TYPES_TOGETHER),
		.line = rows_int(r, CAUSES_TYPES_LINE),
		.place = rows_int(r, CAUSES_TYPES_PLACE),
		.rules = {
			.cpus = cpus > 0 && cpus <= CPU_ID_MAX + 1 ? (int32_t)cpus : 0,
			.skew = !strcmp(format, "ftext") ? TEXT_SKEW : 0,
			/* unknown versions may have the bug */
			.signal_bug = !version ||
				      (version >= KERNEL_VERSION(5, 18) &&
				       version <= KERNEL_VERSION(6, 15)),
			/* Before Linux 5.14, switch records did not mark a
			 * thread that was preempted on its way to sleep. */
			.unmarked = version < KERNEL_VERSION(5, 14),
			.pauses = (int8_t)compare_numbers(
				rows_int(r, CAUSES_TYPES_PAUSES), 0),
		},
		.tracks = !strcmp(format, "ctf"),
		.whole = rows_int(r, CAUSES_TYPES_SYSTEM_WIDE) > 0,
		.some = !rows_int(r, CAUSES_TYPES_SYSTEM_WIDE),
		.filtered = rows_int(r, CAUSES_TYPES_FILTERED) != 0,
		.text = !strcmp(format, "ftext"),
		.larger = loss_larger_buffers(
			format, loss_buffer_megabytes(rows_text(r, CAUSES_TYPES_CMDLINE)),
			rows_int(r, CAUSES_TYPES_RECORD) > 0),
		.ring = loss_own_ring(format),
		.x86_64 = !strcmp(rows_text(r, CAUSES_TYPES_ARCH), "x86_64"),
		.begin = rows_int(r, CAUSES_TYPES_FIRST_NS),
		.end = rows_int(r, CAUSES_TYPES_LAST_NS),
		.first = TIMELINE_END,
		.last = TIMELINE_START,
		.first_event = INT64_MIN,
		.last_event = INT64_MAX,
	};

	/* LTTng has a stream for each CPU, empty where nothing happened */
	c.rules.cpus_seen = c.text && !c.rules.cpus;
	if ((c.tracks || c.text) && !c.rules.cpus)
		c.rules.cpus = -1;
	return c;
}

/* Reads the types of all captures into f. Returns 0, or -1 and *err. */
static int causes_read_choices(struct causes_spans *s, struct causes_found *f,
			       struct store *db, struct err *err)
{
	static const char *const word[WORDS] = { "switch", "record", "sample",
						 "wait" };
	struct rows *r = rows_dense(db, "causes_types", err);

	while (rows_step(r)) {
		const char *role = rows_text(r, CAUSES_TYPES_ROLE);
		int64_t capture = rows_int(r, CAUSES_TYPES_CAPTURE);
		int64_t events = rows_int(r, CAUSES_TYPES_EVENTS);
		struct causes_choice *x;
		size_t i = 0;
		size_t k = 0;

		*mem_add(f->type, f->n_type, f->cap_type) =
			(struct causes_times){ .capture = capture,
					       .first = TIMELINE_END,
					       .last = TIMELINE_START,
					       .first_event = INT64_MAX,
					       .last_event = INT64_MIN };
		while (i < WORDS && strcmp(word[i], role) != 0)
			i++;
		if (i == WORDS)
			continue;
		/* the store never writes such a name, but another program may
		 * have made the database */
		if (i == WORD_SWITCH && events &&
		    !row_cursor_is_table(rows_text(r, CAUSES_TYPES_FIELDS))) {
			s->bare += (uint64_t)events;
			continue;
		}
		s->records |= i == WORD_RECORD;
		while (k < f->n_choice && f->choice[k].capture.id != capture)
			k++;
		if (k == f->n_choice)
			*mem_add(f->choice, f->n_choice, f->cap_choice) =
				(struct causes_choice){
					.capture = causes_read_capture(r)
				};
		x = &f->choice[k];
		/* a piece of a stream may have no event of this type */
		if (x->type[i] && events <= x->events[i])
			continue;
		x->type[i] = rows_int(r, CAUSES_TYPES_ID);
		x->events[i] = events;
		x->weight[i] = rows_int(r, CAUSES_TYPES_WEIGHT);
	}
	return rows_end(r, err);
}

/* Adds the capture to those with switches, if it has any, and chooses the
 * events that report them. Returns 0, or -1 and *err. */
static int causes_choose(struct causes_spans *s, struct store *db, bool threads,
			 const struct causes_choice *x, struct err *err)
{
	struct causes_capture c = x->capture;
	bool sampled = x->events[WORD_SWITCH] < x->weight[WORD_SWITCH];
	bool records = x->type[WORD_RECORD] &&
		       (!x->type[WORD_SWITCH] || c.some || sampled);
	enum causes_word word = records ? WORD_RECORD : WORD_SWITCH;

	if (x->type[WORD_WAIT]) {
		c.type = x->type[WORD_WAIT];
		*mem_add(s->measured, s->n_measured, s->cap_measured) = c;
	}
	if (records) {
		struct rows *r = ROWS_BY(db, "causes_wide", err, x->type[word]);

		/* records of single threads do not name the thread that comes
		 * when one leaves */
		c.threads = true;
		while (rows_step(r))
			c.threads = !rows_int(r, CAUSES_WIDE_WIDE);
		if (rows_end(r, err))
			return -1;
		if (c.threads && !threads) {
			word = WORD_SWITCH;
			c.threads = false;
		}
	}
	if (!x->type[word])
		return 0;
	c.records = word == WORD_RECORD;
	c.rules.unmarked |= !c.records;
	c.type = x->type[word];
	c.switches = x->events[word];
	c.happened = x->weight[word];
	if (c.records) {
		c.sample[0] = x->type[WORD_SAMPLE];
		c.sample[1] = x->type[WORD_SWITCH];
	}
	*mem_add(s->capture, s->n_capture, s->cap_capture) = c;
	return 0;
}

COMPARE_FUNCTION(causes_compare_captures, struct causes_capture,
		 compare_numbers(x->threads, y->threads)
			 ?: compare_numbers(y->switches, x->switches)
			 ?: compare_numbers(x->id, y->id));

static void causes_take_times(const struct causes_found *f,
			      struct causes_capture *c)
{
	c->first_event = INT64_MAX;
	c->last_event = INT64_MIN;
	for (size_t i = 0; i < f->n_type; i++) {
		const struct causes_times *t = &f->type[i];

		if (t->capture != c->id)
			continue;
		lower_to(c->first, t->first);
		raise_to(c->last, t->last);
		lower_to(c->first_event, t->first_event);
		raise_to(c->last_event, t->last_event);
	}
}

/* ---- the spans */

static int64_t causes_sum(int64_t a, int64_t b)
{
	int64_t sum;

	if (__builtin_add_overflow(a, b, &sum))
		return b < 0 ? TIMELINE_START : TIMELINE_END;
	return sum;
}

/* Adds spans of the capture for its times that no span covers so far. */
static void causes_add_spans(struct causes_kernel *k,
			     const struct causes_capture *c)
{
	size_t n = k->n;
	int64_t from = c->first;

	/* the existing spans are in time order */
	for (size_t i = 0; i <= n && from <= c->last; i++) {
		bool end = i == n;
		int64_t off =
			end ? 0
			    : causes_sum(c->error, k->span[i].capture->error);
		int64_t to =
			end ? c->last
			    : causes_sum(causes_sum(k->span[i].from, -off), -1);
		int64_t next =
			end ? TIMELINE_END
			    : causes_sum(causes_sum(k->span[i].to, off), 1);

		lower_to(to, c->last);
		if (from <= to)
			*mem_add(k->span, k->n, k->cap) =
				(struct causes_span){ from, to, c, 0 };
		raise_to(from, next);
	}
	/* Moves the new spans to their places. They are few, so this costs less
	 * than sorting all. */
	for (; n < k->n; n++) {
		const struct causes_span add = k->span[n];
		size_t at = search_where(n, i, k->span[i].from > add.from);

		memmove(&k->span[at + 1], &k->span[at], (n - at) * sizeof(add));
		k->span[at] = add;
	}
}

/* A piece of a stream. */
struct causes_piece {
	const struct causes_capture *of;
};

COMPARE_FUNCTION(causes_compare_pieces, struct causes_piece,
		 compare_numbers(x->of->place, y->of->place));

/* Adds a capture and the pieces of its stream that fit and have switches. The
 * pieces follow each other without a gap: each ends at its last time, though a
 * ring's record that was read late may be in a later piece. If another capture
 * reports a part of their time, each piece is added by itself. added: by
 * capture. */
static void causes_add_run(struct causes_spans *s, struct causes_kernel *k,
			   size_t i, const bool *fits, bool *added)
{
	const struct causes_capture *c = &s->capture[i];
	struct causes_piece *piece = NULL;
	int64_t first = TIMELINE_END, last = TIMELINE_START;
	size_t n = 0, cap = 0, low, at;

	for (size_t j = i; j < s->n_capture; j++)
		if (fits[j] && !added[j] && s->capture[j].line == c->line)
			mem_add(piece, n, cap)->of = &s->capture[j];
	sort_items(piece, n, causes_compare_pieces);
	for (low = 0; piece[low].of != c; low++)
		;
	at = low;
	while (low && piece[low - 1].of->place == piece[low].of->place - 1)
		low--;
	while (at + 1 < n && piece[at + 1].of->place == piece[at].of->place + 1)
		at++;
	n = at + 1 - low;
	for (size_t j = low; j < low + n; j++) {
		lower_to(first, piece[j].of->first);
		raise_to(last, piece[j].of->last);
		added[piece[j].of - s->capture] = true;
	}
	if (n == 1 ||
	    any_where(k->n, j,
		      k->span[j].from <= last && k->span[j].to >= first)) {
		for (size_t j = low; j < low + n; j++)
			causes_add_spans(k, piece[j].of);
		free(piece);
		return;
	}
	at = search_where(k->n, j, k->span[j].from > first);
	mem_reach(k->span, k->n, k->cap, k->n + n);
	memmove(&k->span[at + n], &k->span[at],
		(k->n - n - at) * sizeof(*k->span));
	for (size_t j = 0; j < n; j++) {
		int64_t to = j + 1 < n ? piece[low + j].of->last : last;

		raise_to(to, causes_sum(first, -1));
		k->span[at + j] =
			(struct causes_span){ first, to, piece[low + j].of, j };
		first = causes_sum(to, 1);
	}
	free(piece);
}

/* Makes a kernel of capture i and of all other captures of the same kernel. of:
 * by capture, whether it belongs to a kernel already. */
static int causes_add_kernel(struct causes_spans *s, struct store *db, size_t i,
			     bool *of, struct err *err)
{
	size_t n = s->n_capture;
	struct rows *r = ROWS_BY(db, "causes_captures", err, s->capture[i].id);
	bool *fits = mem_new(n, sizeof(*fits));
	bool *added = mem_new(n, sizeof(*added));
	struct causes_kernel *k = mem_add(s->kernel, s->n, s->cap);

	*k = (struct causes_kernel){ .capture = &s->capture[i],
				     .first_event = INT64_MAX,
				     .last_event = INT64_MIN };
	fits[i] = true;
	while (rows_step(r)) {
		int64_t id = rows_int(r, CAUSES_CAPTURES_ID);

		if (id >= 0 && id <= UINT16_MAX)
			*mem_at(k->same, k->n_same, k->cap_same, id) = true;
		for (size_t j = i; j < n; j++) {
			struct causes_capture *c = &s->capture[j];

			if (of[j] || c->id != id ||
			    !rows_int(r, CAUSES_CAPTURES_PLACED))
				continue;
			c->error = rows_int(r, CAUSES_CAPTURES_ERROR_NS);
			fits[j] = c->threads == k->capture->threads;
			of[j] = true;
		}
	}
	for (size_t j = i; j < n; j++) {
		const struct causes_capture *c = &s->capture[j];

		if (!fits[j])
			continue;
		if (!added[j])
			causes_add_run(s, k, j, fits, added);
		lower_to(k->first_event, c->first_event);
		raise_to(k->last_event, c->last_event);
	}
	free_all(fits, added);
	if (!k->n)
		*mem_add(k->span, k->n, k->cap) =
			(struct causes_span){ .capture = k->capture };
	k->span[0].from = TIMELINE_START;
	k->span[k->n - 1].to = TIMELINE_END;
	for (size_t j = 0; j < k->n; j++) {
		int64_t id = k->span[j].capture->id;

		k->span[j].line = j - k->span[j].line;
		if (id >= 0 && id <= UINT16_MAX)
			*mem_at(k->of, k->n_of, k->cap_of, id) = j + 1;
	}
	return rows_end(r, err);
}

COMPARE_BY(causes_compare_kernels, struct causes_kernel, first_event,
	   capture->id);

struct causes_spans *causes_spans_load(struct store *db, bool threads,
				       struct err *err)
{
	struct causes_spans *s = mem_new(1, sizeof(*s));
	struct causes_found f = { 0 };
	int rc = causes_read_choices(s, &f, db, err);

	for (size_t i = 0; !rc && i < f.n_choice; i++)
		rc = causes_choose(s, db, threads, &f.choice[i], err);
	if (!rc && s->n_capture + s->n_measured > 1) {
		/* Finds the first and last event of each type. SQLite takes a
		 * second to group a million events. */
		struct event_rows r =
			event_rows_open(db, EVENT_ROWS_TO_TYPE, err);
		struct event_row e;

		while ((rc = event_rows_next(&r, &e, err)) > 0) {
			uint64_t type = (uint64_t)e.type - 1;
			struct causes_times *t;

			if (type >= f.n_type)
				continue;
			t = &f.type[type];
			lower_to(t->first_event, e.id);
			t->last_event = e.id;
			if (!e.timed)
				continue;
			lower_to(t->first, e.time);
			raise_to(t->last, e.time);
		}
		rows_close(r.rows);
		for (size_t i = 0; i < s->n_capture; i++)
			causes_take_times(&f, &s->capture[i]);
		for (size_t i = 0; i < s->n_measured; i++)
			causes_take_times(&f, &s->measured[i]);
	}
	if (!rc) {
		/* Groups captures with switches by kernel. */
		bool *of = mem_new(s->n_capture + 1, sizeof(*of));

		sort_items(s->capture, s->n_capture, causes_compare_captures);
		for (size_t k = 0; !rc && k < s->n_capture; k++)
			if (!of[k])
				rc = causes_add_kernel(s, db, k, of, err);
		free(of);
		sort_items(s->kernel, s->n, causes_compare_kernels);
		for (size_t k = 0; k < s->n; k++)
			if (s->kernel[k].capture == s->capture)
				s->most = &s->kernel[k];
	}
	free_all(f.type, f.choice);
	if (!rc)
		return s;
	causes_spans_free(s);
	return NULL;
}

/* ---- questions */

bool causes_capture_sampled(const struct causes_capture *c)
{
	return !c->records && c->switches < c->happened;
}

struct timeline_rules causes_kernel_rules(const struct causes_kernel *k)
{
	struct timeline_rules all = k->span[0].capture->rules;

	for (size_t i = 1; i < k->n; i++) {
		const struct timeline_rules *r = &k->span[i].capture->rules;

		/* 0: unknown, all may be hidden; -1: those with records */
		if (all.cpus && (!r->cpus || r->cpus > all.cpus))
			all.cpus = r->cpus;
		all.cpus_seen |= r->cpus_seen;
		raise_to(all.skew, r->skew);
		all.signal_bug |= r->signal_bug;
		all.unmarked |= r->unmarked;
		if (r->pauses > all.pauses || (r->pauses && !all.pauses))
			all.pauses = r->pauses;
	}
	return all;
}

/* Returns a span of a capture; NULL: it has none. */
static const struct causes_span *
causes_kernel_span(const struct causes_kernel *k, int64_t id)
{
	return id >= 0 && (uint64_t)id < k->n_of && k->of[id]
		       ? &k->span[k->of[id] - 1]
		       : NULL;
}

bool causes_kernel_has(const struct causes_kernel *k, int64_t capture)
{
	return capture <= 0 || capture == k->capture->id ||
	       ((uint64_t)capture < k->n_same && k->same[capture]);
}

const struct causes_span *causes_kernel_find(const struct causes_kernel *k,
					     int64_t capture, int64_t time)
{
	size_t at = search_where(k->n, i, k->span[i].to >= time);
	const struct causes_span *s = causes_kernel_span(k, capture);

	if (!s || at == k->n || k->span[at].from > time)
		return NULL;
	return k->span[at].capture->id == capture ? &k->span[at]
	       : k->span[at].line == s->line	  ? s
						  : NULL;
}

int causes_kernel_losses(const struct causes_kernel *k, struct store *db,
			 const char *query, causes_loss_fn *fn, void *arg,
			 struct err *err)
{
	size_t last = 0; /* first span of the line */

	for (size_t i = 0; i < k->n; i++) {
		const struct causes_span *s = &k->span[i];
		int64_t from = k->span[s->line].from;
		struct rows *r = ROWS_BY(db, query, err, s->capture->id,
					 s->capture->type);

		raise_to(last, i);
		while (last + 1 < k->n && k->span[last + 1].line == s->line)
			last++;
		fn(arg, s, NULL);
		while (rows_step(r)) {
			int64_t to = k->span[last].to;
			struct timeline_loss l = {
				.id = rows_int(r, CAUSES_LOSSES_ID),
				.from = rows_int_or(r, CAUSES_LOSSES_T0,
						    TIMELINE_START),
				.to = rows_int_or(r, CAUSES_LOSSES_T1,
						  TIMELINE_END),
				.n = rows_int_or(r, CAUSES_LOSSES_N, -1),
				.cpu = (int32_t)rows_int(r, CAUSES_LOSSES_CPU),
				.silent =
					rows_int(r, CAUSES_LOSSES_SILENT) != 0,
			};

			if (l.to < from || l.from > to)
				continue;
			if (l.from < from || l.to > to) {
				raise_to(l.from, from);
				lower_to(l.to, to);
				l.n = -1;
			}
			fn(arg, s, &l);
		}
		if (rows_end(r, err))
			return -1;
	}
	return 0;
}

/* ---- names of threads */

#define SILENT_NAMED 3 /* tasks that are named; others are counted */

struct causes_name {
	const char *comm;
	int64_t pid;
	bool of_field; /* from a field; a later one may replace it */
};

struct causes_names {
	struct causes_name *name; /* by index */
	size_t n, cap;
	struct table index; /* of tids */
	struct arena text;
};

/* Returns the entry of a thread; a new one has no comm. */
static struct causes_name *causes_names_at(struct causes_names *n, int64_t tid)
{
	uint32_t id =
		table_find_or_add(&n->index, hash_u64((uint64_t)tid), n->n);

	if (id == n->n)
		*mem_add(n->name, n->n, n->cap) =
			(struct causes_name){ .pid = -1 };
	return &n->name[id];
}

struct causes_names *causes_names_load(struct store *db,
				       const struct causes_kernel *k,
				       struct err *err)
{
	struct causes_names *n = mem_new(1, sizeof(*n));
	struct rows *r = rows_of(db, "causes_comms", err);

	while (rows_step(r)) {
		if (!causes_kernel_has(k, rows_int(r, CAUSES_COMMS_CAPTURE)))
			continue;
		*causes_names_at(
			n,
			rows_int(r, CAUSES_COMMS_TID)) = (struct causes_name){
			.comm = arena_strdup(&n->text,
					     rows_text(r, CAUSES_COMMS_NAME)),
			.pid = rows_int(r, CAUSES_COMMS_PID),
		};
	}
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
		for (size_t k = 0; k < 3; k++) {
			const struct rows *r = c.rows;
			struct causes_name *name;

			if (!at[1][k] || !at[0][k] ||
			    rows_int(r, at[1][k]) <= 0 ||
			    !*rows_text(r, at[0][k]))
				continue;
			name = causes_names_at(n, rows_int(r, at[1][k]));
			if (name->comm &&
			    (!name->of_field ||
			     !strcmp(name->comm, rows_text(r, at[0][k]))))
				continue;
			name->comm =
				arena_strdup(&n->text, rows_text(r, at[0][k]));
			name->of_field = true;
		}
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

/* Finds the columns of the table that hold fields, and opens its rows with
 * them. Returns 0, or -1 and *err. A switch names the current thread itself. */
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

/* Returns the index of the table + 1, and opens the table if it is new; 0 and
 * *err on failure. */
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

/* Adds the execs in a table to the timeline. Returns 0, or -1 and *err. */
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

/* perf's exec records do not name the thread that continued as the first of its
 * process; the tracepoint does. */
int causes_types_execs(const struct causes_types *ts, struct store *db,
		       const struct causes_kernel *k,
		       struct causes_names *names, struct timeline *t,
		       struct err *err)
{
	struct rows *r = rows_of(db, "causes_execs", err);

	while (rows_step(r))
		if (causes_kernel_has(k, rows_int(r, CAUSES_EXECS_CAPTURE)))
			timeline_rename(
				t, rows_int(r, CAUSES_EXECS_TIME_NS), -1,
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

/* Returns whether events of the system are always written by the thread that
 * the last switch made current. Samples of a clock are not: they may interrupt
 * the switch itself. */
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

/* Sets what a type is read for, in a capture that reports switches. */
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
	/* another buffer reports the same switches slightly later or earlier */
	t->role = capture->records ? CAUSES_EVENT : CAUSES_IGNORED;
	t->kind = TIMELINE_SEEN;
	t->shows = 0;
}

int causes_types_load(struct causes_types *ts, struct store *db,
		      const struct causes_kernel *k, bool why, struct err *err)
{
	struct rows *r = rows_dense(db, "causes_types", err);
	int64_t capture = -1; /* capture of the previous type */
	uint8_t shows = 0;    /* types that the capture shows so far */

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
		const struct causes_span *s = causes_kernel_span(k, t.capture);
		const struct causes_capture *of = s ? s->capture : NULL;

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
		/* perf turns the events of a CPU on, and off, in the order of
		 * the options: a record of one event shows that the events
		 * before it are on, though they may be off again. Another
		 * event turns on switch records: in a session of all CPUs it is
		 * on before all others, and off after them (perf 6.1,
		 * tools/perf/util/evlist.c). */
		bool perf = !strcmp(rows_text(r, CAUSES_TYPES_FORMAT), "perf");

		if (t.role == CAUSES_RECORD) {
			t.ended = perf ? (uint8_t)~t.shows : 0;
		} else if (perf) {
			t.ended = shows & (uint8_t)~t.shows;
			t.shows |= shows;
			shows = t.shows;
		} else {
			shows |= t.shows;
		}
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
