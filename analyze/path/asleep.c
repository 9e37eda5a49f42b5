/* asleep.c - which threads of a process never ran while it was recorded. */
#include "analyze/path/asleep.h"

#include "analyze/causes/causes.h"
#include "analyze/causes/causes_types.h"
#include "analyze/causes/limits.h"
#include "analyze/path/path_run.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"

const char *const asleep_by_words[] = { [ASLEEP_KERNEL] = "kernel",
					[ASLEEP_END] = "end",
					[ASLEEP_WORD] = "word",
					[ASLEEP_MUTEX] = "mutex" };

/* What was read longer than this before another thread, in ns, is of an earlier
 * reading. */
#define ASLEEP_READING 500000000

/* A reading of a thread, which was made between two times. */
struct asleep_reading {
	int64_t tid, from, to, switches, owner;
	uint32_t call; /* in words */
	char state;
	enum asleep_by by;
};

COMPARE_BY(asleep_compare_readings, struct asleep_reading, tid, to);

/* Reads all readings of a process, sorted by thread and time, into *out, which
 * the caller frees. Returns 0, or -1 and *err. */
static int asleep_read(const struct path_run *r, int64_t pid, struct asleep *a,
		       struct asleep_reading **out, size_t *n, struct err *err)
{
	enum {
		TOOK,
		PID,
		TID,
		STATE,
		SWITCHES,
		CALL,
		OWNER,
		BY,
		SLEEP_FIELDS
	};
	static const char *const name[SLEEP_FIELDS] = { "took_ns",  "pid",
							"tid",	    "state",
							"switches", "call",
							"owner",    "by" };
	const struct limits_rows_ask ask = { .event = "limits_sleep",
					     .name = name,
					     .n = SLEEP_FIELDS };
	size_t at[SLEEP_FIELDS] = { 0 }, cap = 0;
	struct rows *rows;
	int rc = limits_open_rows(r->db, &ask, at, &rows, err);

	if (rc <= 0)
		return rc;
	while (!any_where(SLEEP_FIELDS, k, !at[k]) && rows_step(rows)) {
		int64_t took = rows_int_or(rows, at[TOOK], -1);
		int64_t to = rows_int(rows, LIMITS_ROWS_TIME_NS);
		const char *how = rows_text(rows, at[BY]);
		const char *state = rows_text(rows, at[STATE]);
		const char *call = rows_text(rows, at[CALL]);
		enum asleep_by known = ASLEEP_MUTEX;

		if (took < 0 || took > to || rows_int(rows, at[PID]) != pid ||
		    !limits_rows_is_of(rows, r->causes->kernel))
			continue;
		while (known && strcmp(asleep_by_words[known], how) != 0)
			known--;
		if (strcmp(call, "futex") != 0)
			known = ASLEEP_NOT_KNOWN;
		*mem_add(*out, *n, cap) = (struct asleep_reading){
			.tid = rows_int(rows, at[TID]),
			.from = to - took,
			.to = to,
			.switches = rows_int_or(rows, at[SWITCHES], -1),
			.owner = known ? rows_int(rows, at[OWNER]) : 0,
			.call = intern_add(&a->words, call),
			.state = *state && !state[1] ? *state : 'R',
			.by = known,
		};
	}
	sort_items(*out, *n, asleep_compare_readings);
	return rows_end(rows, err);
}

/* Returns the position of a thread in a->thread; a->n: it is not there. */
static size_t asleep_thread(const struct asleep *a, int64_t tid)
{
	size_t i = search_where(a->n, k, a->thread[k].tid >= tid);

	return i < a->n && a->thread[i].tid == tid ? i : a->n;
}

int asleep_find(const struct path_run *r, int64_t pid, struct asleep *out,
		struct err *err)
{
	struct asleep_reading *all = NULL;
	size_t n = 0, cap = 0;
	int64_t last_from = INT64_MIN; /* of the last reading of all threads */
	int rc;

	*out = (struct asleep){ .from = INT64_MIN, .to = INT64_MAX };
	rc = asleep_read(r, pid, out, &all, &n, err);
	/* a process's first thread is read first, and stays to its end */
	for (size_t i = 0; i < n; i++)
		if (all[i].tid == pid)
			last_from = all[i].from;
	for (size_t i = 0, next; !rc && i < n; i = next) {
		const struct asleep_reading *last;

		for (next = i + 1; next < n && all[next].tid == all[i].tid;)
			next++;
		last = &all[next - 1];
		while (&all[i] < last && (all[i].switches != last->switches ||
					  !strchr("SDTt", all[i].state)))
			i++;
		if (last == &all[i] || last->from <= all[i].to ||
		    last->switches < 0 || !strchr("SDTt", last->state) ||
		    last->to < last_from)
			continue;
		*mem_add(out->thread, out->n, cap) = (struct asleep_thread){
			.tid = last->tid,
			.from = all[i].to,
			.to = last->from,
			.state = last->state,
			.call = intern_get(&out->words, last->call),
			.owner = last->owner,
			.by = last->by,
		};
		raise_to(out->from, all[i].to);
		lower_to(out->to, last->from);
	}
	/* those that were there at its begin, or came later */
	for (size_t i = 0; i < n; i++)
		if (i + 1 == n || all[i + 1].tid != all[i].tid)
			out->all += saturating_apart(out->from, all[i].to) <=
				    ASLEEP_READING;
	free(all);
	/* the readings of a damaged file may have any times */
	if (out->from >= out->to)
		out->n = 0;
	if (!rc) {
		/* Finds the first threads that wait for one another, by
		 * following owners from each thread until one is reached a
		 * second time. */
		size_t *walk =
			mem_new(out->n + 1, sizeof(*walk)); /* 0: not reached */
		size_t at, room = 0;

		for (size_t i = 0; i < out->n && !out->n_ring; i++) {
			for (at = i; at < out->n && !walk[at];
			     at = asleep_thread(out, out->thread[at].owner))
				walk[at] = i + 1;
			if (at == out->n || walk[at] != i + 1)
				continue;
			for (size_t k = at; !out->n_ring || k != at;
			     k = asleep_thread(out, out->thread[k].owner))
				*mem_add(out->ring, out->n_ring, room) = k;
		}
		free(walk);
	}
	return rc ? -1 : 0;
}

void asleep_release(struct asleep *a)
{
	free_all(a->thread, a->ring);
	intern_release(&a->words);
	*a = (struct asleep){ 0 };
}
