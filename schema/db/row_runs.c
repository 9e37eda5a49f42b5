/* row_runs.c - puts rows that are almost in the order of their key in order,
 * within bounded memory. */
#include "schema/db/row_runs.h"

#include <stdlib.h>
#include <string.h>

#include "stitch/base/mem.h"

/* Bytes that each run may keep. */
#define RUN_SMALL ((size_t)16 << 10)

/* In front of a row. */
struct row_head {
	int64_t key;
	size_t len;
};

static struct row_head row_run_at(const struct row_run *run, size_t at)
{
	struct row_head h;

	memcpy(&h, run->data + at, sizeof(h));
	return h;
}

/* Moves the rows to the front. */
static void row_run_move(struct row_run *run)
{
	run->len -= run->head;
	if (run->len && run->head)
		memmove(run->data, run->data + run->head, run->len);
	run->head = 0;
}

/* Makes room for n bytes at the end of the run. */
static void row_run_reserve(struct row_run *run, size_t n)
{
	if (run->len + n <= run->cap)
		return;
	/* no more is moved than was taken since */
	if (run->head >= run->len - run->head)
		row_run_move(run);
	run->data = mem_grow(run->data, &run->cap, run->len + n, 1);
}

/* Returns the run with the lowest key, and sets *until to the lowest one of the
 * others. */
static struct row_run *row_runs_lowest(struct row_runs *rr, int64_t *until)
{
	struct row_run *low = NULL;
	int64_t lowest = INT64_MAX;

	*until = INT64_MAX;
	for (unsigned int i = 0; i < rr->n; i++) {
		struct row_run *run = &rr->run[i];

		if (run->head == run->len)
			continue;
		int64_t key = row_run_at(run, run->head).key;

		if (!low || key < lowest) {
			*until = lowest;
			lowest = key;
			low = run;
		} else if (key < *until) {
			*until = key;
		}
	}
	return low;
}

/* Makes one run of those that have at most twice as many bytes as one has on
 * average: of more than half of all, and again and again of short ones. */
static void row_runs_merge(struct row_runs *rr)
{
	const size_t most = 2 * rr->bytes / rr->n;
	struct row_runs part = { .n = 0 };
	struct row_run all = { .data = NULL };
	const unsigned int n = rr->n;
	unsigned int at = 0;

	rr->n = 0;
	for (unsigned int i = 0; i < n; i++) {
		struct row_run run = rr->run[i];

		rr->run[i] = (struct row_run){ .data = NULL };
		if (run.len - run.head > most) {
			rr->run[rr->n++] = run;
			continue;
		}
		if (!part.n) {
			all.last = run.last;
			at = rr->n++;
		}
		part.run[part.n++] = run;
	}
	int64_t until;
	struct row_run *run;

	while ((run = row_runs_lowest(&part, &until))) {
		size_t end = run->head;

		while (end < run->len) {
			const struct row_head h = row_run_at(run, end);

			if (h.key > until)
				break;
			end += sizeof(h) + h.len;
		}
		size_t size = end - run->head;

		row_run_reserve(&all, size);
		memcpy(all.data + all.len, run->data + run->head, size);
		all.len += size;
		run->head = end;
	}
	row_runs_release(&part);
	rr->run[at] = all;
}

/* Returns the first run that a row continues; rr->n: a new one. */
static unsigned int row_runs_find(const struct row_runs *rr, int64_t key)
{
	unsigned int i = 0;

	while (i < rr->n && rr->run[i].last >= key)
		i++;
	return i;
}

bool row_runs_add(struct row_runs *rr, int64_t key, const void *row, size_t len)
{
	const struct row_head h = { key, len };
	const size_t size = sizeof(h) + len;
	unsigned int i = row_runs_find(rr, key);

	if (rr->any && key <= rr->taken)
		return false;
	if (i == ROW_RUNS_MAX) {
		row_runs_merge(rr);
		i = row_runs_find(rr, key);
	}
	struct row_run *run = &rr->run[i];

	rr->n += i == rr->n;
	row_run_reserve(run, size);
	memcpy(run->data + run->len, &h, sizeof(h));
	memcpy(run->data + run->len + sizeof(h), row, len);
	run->len += size;
	run->last = key;
	rr->bytes += size;
	return true;
}

int row_runs_take(struct row_runs *rr, size_t keep,
		  int (*fn)(void *arg, int64_t key, const void *row,
			    size_t len),
		  void *arg)
{
	while (rr->bytes > keep) {
		int64_t until;
		struct row_run *run = row_runs_lowest(rr, &until);

		while (run->head < run->len && rr->bytes > keep) {
			const struct row_head h = row_run_at(run, run->head);

			if (h.key > until)
				break;
			int rc = fn(arg, h.key,
				    run->data + run->head + sizeof(h), h.len);

			if (rc)
				return rc;
			run->head += sizeof(h) + h.len;
			rr->bytes -= sizeof(h) + h.len;
			rr->taken = h.key;
			rr->any = true;
		}
	}
	size_t caps = 0;

	for (unsigned int i = 0; i < rr->n; i++)
		caps += rr->run[i].cap;
	/* Give back memory of runs that were much longer, but not what they
	 * need again at once: each of its pages costs a fault. */
	if (caps / 8 <= rr->bytes + RUN_SMALL)
		return 0;
	for (unsigned int i = 0; i < rr->n; i++) {
		struct row_run *run = &rr->run[i];

		if (run->cap / 4 <= run->len - run->head + RUN_SMALL)
			continue;
		row_run_move(run);
		run->cap = run->len + RUN_SMALL;
		run->data = mem_must(realloc(run->data, run->cap));
	}
	return 0;
}

void row_runs_release(struct row_runs *rr)
{
	for (unsigned int i = 0; i < rr->n; i++)
		free(rr->run[i].data);
}
