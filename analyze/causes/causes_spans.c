/* causes_spans.c - which captures report the switches of each kernel, and of
 * which time. */
#include "analyze/causes/causes_spans.h"

#include "analyze/samples/events.h"
#include "analyze/samples/loss_rows.h"
#include "analyze/samples/row_cursor.h"
#include "formats/reader/bounds.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Text of ftrace has microseconds. */
#define TEXT_SKEW 1000

/* The events of a type. */
struct causes_times {
	int64_t capture;
	int64_t first, last; /* times */
	int64_t first_event, last_event;
};

/* What events of a type report of switches. */
enum causes_word {
	WORD_SWITCH,
	WORD_RECORD,
	WORD_SAMPLE,
	WORD_WAIT,
	WORDS
};

/* The types of a capture with the most events, 0: none. */
struct causes_choice {
	struct causes_capture capture;
	int64_t type[WORDS], events[WORDS], weight[WORDS];
};

/* What is known while they are made. */
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
		free_all(s->kernel[i].span, s->kernel[i].of);
	free_all(s->kernel, s->measured, s->capture, s);
}

/* ---- the captures */

/* Returns a number that rises with the version of a kernel; 0: unknown. */
#define KERNEL_VERSION(major, minor) ((uint64_t)(major) << 32 | (minor))
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
			/* unknown versions may have it */
			.signal_bug = !version ||
				      (version >= KERNEL_VERSION(5, 18) &&
				       version <= KERNEL_VERSION(6, 15)),
			/* Until Linux 5.14 records of switches did not mark a
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
		/* the store makes no such name, but the database may be from
		 * elsewhere */
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
		/* of a piece of a stream none may be of this type */
		if (x->type[i] && events <= x->events[i])
			continue;
		x->type[i] = rows_int(r, CAUSES_TYPES_ID);
		x->events[i] = events;
		x->weight[i] = rows_int(r, CAUSES_TYPES_WEIGHT);
	}
	return rows_end(r, err);
}

/* Returns 1 if records of switches are those of threads, which do not name who
 * comes when one leaves, 0 if not, or -1 and *err. */
static int causes_are_of_threads(struct store *db, int64_t type,
				 struct err *err)
{
	struct rows *r = ROWS_BY(db, "causes_wide", err, type);
	bool threads = true;

	while (rows_step(r))
		threads = !rows_int(r, CAUSES_WIDE_WIDE);
	return rows_end(r, err) ? -1 : threads;
}

/* Chooses the events that report a capture's switches, if there are any. */
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
		int rc = causes_are_of_threads(db, x->type[word], err);

		if (rc < 0)
			return -1;
		c.threads = rc;
		if (rc && !threads) {
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

/* Adds what a capture tells from here on that no span so far does. */
static void causes_add_spans(struct causes_kernel *k,
			     const struct causes_capture *c)
{
	size_t n = k->n;
	int64_t from = c->first;

	/* those so far are in time order */
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
	/* Moves those to their places. There are few of them, so this is less
	 * than to sort all. */
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

/* Adds a capture, with the pieces of its stream that fit and have switches:
 * they go on without a gap, each up to its last time, though a record of a ring
 * that was read late may be in a later piece. If another capture reports a
 * part of their time, each is one for itself. added: by capture. */
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

/* Makes the kernel of capture i and of all others of it that have none so far.
 * of: by capture, whether it has its kernel. */
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
	while (rows_step(r))
		for (size_t j = i; j < n; j++) {
			struct causes_capture *c = &s->capture[j];

			if (of[j] || c->id != rows_int(r, CAUSES_CAPTURES_ID))
				continue;
			c->error = rows_int(r, CAUSES_CAPTURES_ERROR_NS);
			fits[j] = c->threads == k->capture->threads;
			of[j] = true;
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
		/* Finds when the events of each type were. Grouped by SQLite, a
		 * million of them takes a second. */
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
		/* Puts captures with switches together to kernels. */
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

		/* 0 hides everything, -1 is as many as there are */
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

const struct causes_capture *
causes_kernel_capture(const struct causes_kernel *k, int64_t id)
{
	const struct causes_span *s = causes_kernel_span(k, id);

	return s ? s->capture : NULL;
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
	size_t last = 0; /* of the line */

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
