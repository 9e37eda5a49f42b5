/* limits.c - answers from readings of cgroups what may keep a runnable thread
 * from the CPU. */
#include "analyze/causes/limits.h"

#include "analyze/causes/causes_types.h"
#include "analyze/samples/events.h"
#include "schema/columns.h"
#include "schema/db/queries.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* A reading of all cgroups; its lines were read between `begin` and `end`. */
struct limits_reading {
	int64_t begin, end;
	int64_t stolen; /* ns that the host took since boot */
	size_t cgroups; /* number of cgroups that may hold a thread back */
	uint32_t cpus;	/* CPUs that a thread without a line may use: number of
			 * the text */
	bool real_time; /* the kernel may hold back real-time threads */
};

/* A line of a reading: the state of a cgroup, or that a thread is in it. */
struct limits_row {
	uint32_t reading, path, cpus; /* cpus: number of the text */
	int32_t tid; /* -1: the line is about the cgroup itself */
	int64_t periods, throttled, ns, frozen, real_time;
};

struct limits {
	struct limits_reading *reading; /* in time order */
	size_t n_reading, cap_reading;
	struct limits_row *row; /* by tid, path and reading */
	size_t n, cap;
	struct intern text;
	const struct causes_kernel *kernel;
	char host[256];	       /* "": ftrace text, which does not have it */
	struct table captures; /* captures of this machine */
};

COMPARE_BY(limits_compare, struct limits_row, tid, path, reading);

/* Columns of the tables; ftrace text may lack some. */
enum limits_column {
	LIMITS_TOOK,
	LIMITS_HOST,
	LIMITS_STOLEN,
	LIMITS_PATH,
	LIMITS_CPUS,
	LIMITS_TID,
	LIMITS_PERIODS,
	LIMITS_THROTTLED,
	LIMITS_NS,
	LIMITS_FROZEN,
	LIMITS_IS_REAL,
	LIMITS_RUNTIME,
	LIMITS_COLUMNS
};

bool limits_rows_is_of(const struct rows *r, const struct causes_kernel *k)
{
	return !k || rows_int(r, LIMITS_ROWS_ALONE) ||
	       causes_kernel_has(k, rows_int(r, LIMITS_ROWS_CAPTURE));
}

int limits_open_rows(struct store *db, const struct limits_rows_ask *ask,
		     size_t *at, struct rows **out, struct err *err)
{
	const struct value bind[] = {
		{ .kind = VALUE_TEXT, .text = ask->event },
		{ .kind = VALUE_INT, .num = ask->capture }
	};
	struct rows *r = rows_open(db, store_sql("limits_table"), bind, 2, err);
	char *sql = NULL;

	if (rows_step(r) &&
	    row_cursor_is_table(rows_text(r, LIMITS_TABLE_FIELDS))) {
		if (ask->host)
			snprintf(ask->host, ask->host_size, "%s",
				 rows_text(r, LIMITS_TABLE_HOST));
		sql = store_sql_fill(
			"limits_rows",
			&(struct sql_gap){ "table",
					   rows_text(r, LIMITS_TABLE_FIELDS) },
			1);
	}
	int rc = rows_end(r, err) ? -1 : sql != NULL;

	*out = rc > 0 ? rows_open(db, sql, NULL, 0, err) : NULL;
	free(sql);
	if (rc > 0 && !*out)
		return -1;
	for (size_t i = LIMITS_ROWS_EVENT_ID; *out && i < rows_columns(*out);
	     i++)
		for (size_t k = 0; k < ask->n; k++)
			if (!strcmp(rows_name(*out, i), ask->name[k]))
				at[k] = i;
	return rc;
}

/* Reads the rows of an event if it has the columns `needs`; it may have those
 * in `may`. Returns 0, or -1 and *err. */
static int limits_read(struct limits *l, struct store *db, const char *event,
		       unsigned int needs, unsigned int may, struct err *err)
{
	static const char *const name[LIMITS_COLUMNS] = {
		"took_ns",	"host",	  "stolen_ns", "path",
		"cpus",		"tid",	  "periods",   "throttled",
		"throttled_ns", "frozen", "real_time", "real_time_us",
	};
	const struct limits_rows_ask ask = { event,   l->kernel->capture->id,
					     name,    LIMITS_COLUMNS,
					     l->host, sizeof(l->host) };
	size_t at[LIMITS_COLUMNS] = { 0 };
	struct rows *r;
	int rc = limits_open_rows(db, &ask, at, &r, err);
	bool is = true;

	if (rc <= 0)
		return rc;
	for (size_t k = 0; k < LIMITS_COLUMNS; k++) {
		at[k] = (needs | may) >> k & 1 ? at[k] : 0;
		is &= !(needs >> k & 1) || at[k];
	}
	while (is && rows_step(r)) {
		int64_t time = rows_int_or(r, LIMITS_ROWS_TIME_NS, -1);
		uint64_t capture =
			hash_u64((uint64_t)rows_int(r, LIMITS_ROWS_CAPTURE));
		int64_t last = l->n_reading ? l->reading[l->n_reading - 1].end
					    : INT64_MIN;
		size_t k = search_where(l->n_reading, i,
					l->reading[i].end >= time);

		int64_t tid =
			at[LIMITS_TID] ? rows_int_or(r, at[LIMITS_TID], -1) : 0;

		if (!limits_rows_is_of(r, l->kernel))
			continue;
		if (at[LIMITS_TOOK]) {
			int64_t took = rows_int_or(r, at[LIMITS_TOOK], -1);

			if (took < 0 || time < last || took > time ||
			    (*l->host && strcmp(rows_text(r, at[LIMITS_HOST]),
						l->host) != 0))
				continue;
			table_find_or_add(&l->captures, capture, 0);
			*mem_add(l->reading, l->n_reading,
				 l->cap_reading) = (struct limits_reading){
				.begin = time - took,
				.end = time,
				.stolen = rows_int(r, at[LIMITS_STOLEN]),
				.cpus = intern_add(
					&l->text,
					at[LIMITS_CPUS]
						? rows_text(r, at[LIMITS_CPUS])
						: "-"),
				.real_time = at[LIMITS_RUNTIME] &&
					     rows_int_or(r, at[LIMITS_RUNTIME],
							 -1) >= 0,
			};
			continue;
		}
		if (tid < 0 || tid > INT32_MAX || k == l->n_reading ||
		    l->reading[k].begin > time ||
		    table_find_hash(&l->captures, capture) == TABLE_NONE)
			continue;
		l->reading[k].cgroups += !at[LIMITS_TID];
		*mem_add(l->row, l->n, l->cap) = (struct limits_row){
			.reading = (uint32_t)k,
			.path = intern_add(&l->text,
					   rows_text(r, at[LIMITS_PATH])),
			.cpus = intern_add(&l->text,
					   rows_text(r, at[LIMITS_CPUS])),
			.tid = at[LIMITS_TID] ? (int32_t)tid : -1,
			.periods = rows_int(r, at[LIMITS_PERIODS]),
			.throttled = rows_int(r, at[LIMITS_THROTTLED]),
			.ns = rows_int(r, at[LIMITS_NS]),
			.frozen = rows_int(r, at[LIMITS_FROZEN]),
			.real_time = at[LIMITS_IS_REAL]
					     ? rows_int(r, at[LIMITS_IS_REAL])
					     : 0,
		};
	}
	return rows_end(r, err);
}

struct limits *limits_load(struct store *db, const struct causes_kernel *k,
			   struct err *err)
{
	struct limits *l = mem_new(1, sizeof(*l));

	l->kernel = k;
	if (limits_read(l, db, "limits_read",
			1 << LIMITS_TOOK | 1 << LIMITS_HOST |
				1 << LIMITS_STOLEN,
			1 << LIMITS_CPUS | 1 << LIMITS_RUNTIME, err) ||
	    limits_read(l, db, "limits_cgroup",
			1 << LIMITS_PATH | 1 << LIMITS_PERIODS |
				1 << LIMITS_THROTTLED | 1 << LIMITS_NS |
				1 << LIMITS_FROZEN,
			0, err) ||
	    limits_read(l, db, "limits_thread",
			1 << LIMITS_PATH | 1 << LIMITS_CPUS | 1 << LIMITS_TID,
			1 << LIMITS_IS_REAL, err)) {
		limits_free(l);
		return NULL;
	}
	sort_items(l->row, l->n, limits_compare);
	return l;
}

void limits_free(struct limits *l)
{
	if (!l)
		return;
	free_all(l->reading, l->row);
	intern_release(&l->text);
	table_release(&l->captures);
	free(l);
}

/* Returns the index of the first row of a thread (tid -1: a cgroup) at or after
 * a path and a reading. */
static size_t limits_find(const struct limits *l, int32_t tid, uint32_t path,
			  size_t reading)
{
	const struct limits_row key = { .tid = tid,
					.path = path,
					.reading = (uint32_t)reading };

	return search_where(l->n, i, limits_compare(&l->row[i], &key) >= 0);
}

/* The CPUs that a thread may use, and whether it is real-time, by its lines
 * between two readings. */
struct limits_cpus {
	uint32_t cpus; /* number of the text in the first line, if `lines` */
	size_t lines, same; /* `same`: lines with the CPUs of the first one */
	int64_t real_time;  /* 1: FIFO or RR, 2: DEADLINE, in any line */
};

static void limits_add_cpus(const struct limits *l, size_t k, size_t b,
			    struct limits_cpus *c)
{
	const struct limits_row *first = &l->row[k];

	for (; k < l->n && l->row[k].tid == first->tid &&
	       l->row[k].path == first->path && l->row[k].reading <= b;
	     k++) {
		c->cpus = c->lines++ ? c->cpus : l->row[k].cpus;
		c->same += l->row[k].cpus == c->cpus;
		raise_to(c->real_time, l->row[k].real_time);
	}
}

/* Sets the CPUs that the thread may use, if the readings prove them. A reading
 * has a line for a thread only if the thread may not use all CPUs. So lines
 * that differ prove nothing; nor do lines that some readings lack, unless the
 * thread may not have existed at all of them. */
static void limits_tell_cpus(const struct limits *l,
			     const struct limits_ask *ask, size_t a, size_t b,
			     const struct limits_cpus *c,
			     struct limits_answer *out)
{
	const struct limits_reading *first = &l->reading[a];
	const struct limits_reading *last = &l->reading[b];
	bool before = ask->first <= first->begin,
	     after = ask->last >= last->end;
	bool known = c->lines ? c->lines == c->same &&
					(c->lines > b - a || !before || !after)
			      : first->cpus == last->cpus && (before || after);
	const char *cpus =
		intern_get(&l->text, c->lines ? c->cpus : first->cpus);

	out->real_time = c->real_time > 1 || (c->real_time && first->real_time);
	if (!known || !strcmp(cpus, "-"))
		return;
	out->cpus = cpus;
	out->pinned = c->lines && c->cpus != first->cpus &&
		      strcmp(intern_get(&l->text, first->cpus), "-") != 0;
}

struct limits_answer limits_tell(const struct limits *l,
				 const struct limits_ask *ask)
{
	struct limits_answer out = { .idle = -1 };
	struct limits_cpus cpus = { .lines = 0 };
	size_t n = l ? l->n_reading : 0;
	/* the last reading that ended before it, the first that began after */
	size_t a = search_where(n, i, l->reading[i].end > ask->from);
	size_t b = search_where(n, i, l->reading[i].begin >= ask->to);
	uint32_t path = 0;
	bool some = false;

	if (!a || b == n)
		return out;
	a--;
	for (size_t i = limits_find(l, ask->tid, 0, 0);
	     i < l->n && l->row[i].tid == ask->tid;
	     i = limits_find(l, ask->tid, path + 1, 0)) {
		size_t k = limits_find(l, ask->tid, path = l->row[i].path, a);

		if (k == l->n || l->row[k].tid != ask->tid ||
		    l->row[k].path != path || l->row[k].reading > b)
			continue;
		out.known = true;
		limits_add_cpus(l, k, b, &cpus);
		/* Sets what a cgroup did to its threads between two
		 * readings, if it held them. A cgroup without a row in the
		 * first reading is new, and counts from 0. */
		struct limits_row first = { .reading = 0 }, last = first;
		bool frozen = false;
		int64_t ns, periods, times;

		for (size_t j = limits_find(l, -1, path, a);
		     j < l->n && l->row[j].tid == -1 &&
		     l->row[j].path == path && l->row[j].reading <= b;
		     j++) {
			last = l->row[j];
			if (last.reading == a)
				first = last;
			frozen |= last.frozen != 0;
		}
		if (__builtin_sub_overflow(last.ns, first.ns, &ns) ||
		    __builtin_sub_overflow(last.periods, first.periods,
					   &periods) ||
		    __builtin_sub_overflow(last.throttled, first.throttled,
					   &times) ||
		    out.cgroup ||
		    (!frozen && (times <= 0 || ns < (ask->to - ask->from))))
			continue;
		out.cgroup = intern_get(&l->text, path);
		out.frozen = frozen;
		out.periods = periods;
		out.throttled = times;
	}
	limits_tell_cpus(l, ask, a, b, &cpus, &out);
	if (__builtin_sub_overflow(l->reading[b].stolen, l->reading[a].stolen,
				   &out.stolen))
		out.stolen = 0;
	for (size_t k = a; k <= b; k++)
		some |= l->reading[k].cgroups;
	/* A thread that lived during a reading but has no line is in no such
	 * cgroup. A thread that lived shorter may have been in one, if there
	 * was any. */
	out.known |= !some || ask->first <= l->reading[a].begin ||
		     ask->last >= l->reading[b].end;
	return out;
}

struct limits_span *limits_spans(const struct limits *l,
				 bool (*takes)(const void *arg, int32_t tid),
				 const void *arg, size_t *n)
{
	size_t readings = l ? l->n_reading : 0, rows = l ? l->n : 0;
	struct limits_span *span = mem_new(readings + 1, sizeof(*span));
	/* cgroups and readings with such a thread, then or at the reading
	 * before */
	struct table has = { 0 };
	bool takes_it = false;

	*n = readings ? readings - 1 : 0;
	for (size_t i = 0; i < *n; i++)
		span[i] = (struct limits_span){ l->reading[i].begin,
						l->reading[i + 1].begin, 0 };
	for (size_t i = 0; i < rows; i++) {
		const struct limits_row *r = &l->row[i];

		if (!i || r[-1].tid != r->tid)
			takes_it = r->tid >= 0 && takes(arg, r->tid);
		for (uint32_t k = 0; takes_it && k < 2; k++)
			table_find_or_add(
				&has, hash_u32s(r->path, r->reading + k), 0);
	}
	for (size_t i = 0; i < rows && l->row[i].tid == -1; i++) {
		const struct limits_row *r = &l->row[i];
		bool follows = i && r[-1].path == r->path &&
			       r[-1].reading + 1 == r->reading;
		int64_t ns;

		if (r->reading &&
		    !__builtin_sub_overflow(r->ns, follows ? r[-1].ns : 0,
					    &ns) &&
		    ns > 0 &&
		    table_find_hash(&has, hash_u32s(r->path, r->reading)) !=
			    TABLE_NONE &&
		    __builtin_add_overflow(span[r->reading - 1].throttled, ns,
					   &span[r->reading - 1].throttled))
			span[r->reading - 1].throttled = INT64_MAX;
	}
	table_release(&has);
	return span;
}

const char *limits_words(unsigned int premises)
{
	static const char *const words[] = {
		"",
		" if no quota held it",
		" if it may not use a CPU that was idle",
		" if no quota held it and it may not use a CPU that was idle",
		" if real-time throttling did not hold it",
		" if neither a quota nor real-time throttling held it",
		" if real-time throttling did not hold it and it may not use a "
		"CPU that was idle",
		" if neither a quota nor real-time throttling held it and it "
		"may not use a CPU that was idle",
	};

	return words[premises];
}

const char *limits_keys(unsigned int premises)
{
	static const char *const keys[] = {
		"",
		"quota",
		"affinity",
		"quota, affinity",
		"real time",
		"quota, real time",
		"affinity, real time",
		"quota, affinity, real time",
	};

	return keys[premises];
}

bool limits_has_cpu(const char *list, int32_t cpu)
{
	while (list && *list) {
		char *end;
		long from = strtol(list, &end, 10);
		long to = *end == '-' ? strtol(end + 1, &end, 10) : from;

		if (end == list)
			return false;
		if (cpu >= from && cpu <= to)
			return true;
		list = *end == ',' ? end + 1 : "";
	}
	return false;
}
