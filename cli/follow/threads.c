/* threads.c - names and processes of the threads that are seen in a ring. */
#include "cli/follow/threads.h"

#include <stdlib.h>
#include <string.h>

#include "cli/follow/tracefs.h"
#include "formats/reader/bounds.h"
#include "formats/reader/scan.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

/* TASK_COMM_LEN, and names that kthreads have in newer kernels */
#define NAME_SIZE 64
/* of /proc/TID/stat, as proc(5) counts them */
#define START_FIELD 22

struct thread {
	int32_t tid;
	int32_t process;      /* -1: unknown */
	uint64_t start;	      /* as /proc has it; 0: unknown */
	char name[NAME_SIZE]; /* empty: unknown */
};

struct threads {
	bool live;
	struct thread *at; /* sorted by threads_sort() */
	size_t n, cap;
	struct table by_tid;
	uint64_t *seen; /* a bit for each thread since the last cut */
	int32_t last;	/* seen */
	int32_t *fresh; /* seen, and not asked for */
	size_t n_fresh, cap_fresh;
};

struct threads *threads_new(bool live)
{
	struct threads *t = mem_new(1, sizeof(*t));

	t->live = live;
	t->seen = mem_new(THREAD_ID_MAX / 64 + 1, sizeof(*t->seen));
	return t;
}

void threads_free(struct threads *t)
{
	if (!t)
		return;
	table_release(&t->by_tid);
	free(t->at);
	free(t->seen);
	free(t->fresh);
	free(t);
}

void threads_see(struct threads *t, int32_t tid)
{
	/* the idle task has a name of its own on each CPU */
	if (tid == t->last || tid <= 0 || tid > THREAD_ID_MAX)
		return;
	uint64_t *word = &t->seen[tid / 64];
	uint64_t bit = (uint64_t)1 << (tid % 64);

	t->last = tid;
	if (*word & bit)
		return;
	*word |= bit;
	*mem_add(t->fresh, t->n_fresh, t->cap_fresh) = tid;
}

bool threads_are_new(const struct threads *t)
{
	return t->n_fresh;
}

static bool threads_is_seen(const struct threads *t, int32_t tid)
{
	return t->seen[tid / 64] >> (tid % 64) & 1;
}

static struct thread *threads_find(struct threads *t, int32_t tid)
{
	uint32_t i = table_find(&t->by_tid, hash_u64((uint64_t)tid), NULL, NULL,
				NULL);

	return i == TABLE_NONE ? NULL : &t->at[i];
}

/* Returns a thread, which is added if it is new. */
static struct thread *threads_at(struct threads *t, int32_t tid)
{
	struct thread *th = threads_find(t, tid);

	if (th)
		return th;
	table_add(&t->by_tid, hash_u64((uint64_t)tid), (uint32_t)t->n);
	th = mem_add(t->at, t->n, t->cap);
	*th = (struct thread){ .tid = tid, .process = -1 };
	return th;
}

/* Takes the number at the begin of a line. Returns NULL if it is not that of a
 * thread that was seen. */
static struct thread *threads_take(struct threads *t, struct scan *line)
{
	int32_t tid;

	if (!scan_i32(line, &tid) || tid <= 0 || tid > THREAD_ID_MAX ||
	    !scan_take(line, " "))
		return NULL;
	return threads_is_seen(t, tid) ? threads_at(t, tid)
				       : threads_find(t, tid);
}

static void threads_set_name(struct thread *th, struct scan name)
{
	name = scan_head(name, NAME_SIZE - 1);
	memcpy(th->name, name.p, name.n);
	th->name[name.n] = 0;
}

static void threads_take_names(struct threads *t, const char *text)
{
	struct scan s = scan_of(text, strlen(text));

	while (s.n) {
		struct scan line = scan_line(&s);
		struct thread *th = threads_take(t, &line);

		if (th && line.n && line.p[0] != '<')
			threads_set_name(th, line);
	}
}

static void threads_take_processes(struct threads *t, const char *text)
{
	struct scan s = scan_of(text, strlen(text));

	while (s.n) {
		struct scan line = scan_line(&s);
		struct thread *th = threads_take(t, &line);
		int32_t process;

		if (th && scan_i32(&line, &process) && process > 0)
			th->process = process;
	}
}

/* Returns when a thread that lives began, which tells it from others that had
 * its id; 0: unknown. */
static uint64_t threads_start(int32_t tid)
{
	char path[64];
	size_t len;
	uint64_t start = 0;

	snprintf(path, sizeof(path), "/proc/%d/stat", (int)tid);
	char *text = tracefs_text_of(path, &len);
	/* behind the name, which may be anything */
	const char *at = text ? strrchr(text, ')') : NULL;

	for (int field = 2; at && field < START_FIELD; field++)
		at = strchr(at + 1, ' ');
	if (at)
		start = strtoull(at, NULL, 10);
	free(text);
	return start;
}

/* Drops what is known of an id if it is that of another thread now. */
static void threads_renew(struct threads *t, int32_t tid)
{
	struct thread *th = threads_at(t, tid);
	uint64_t start = threads_start(tid);

	if (start && start != th->start)
		*th = (struct thread){ .tid = tid,
				       .process = -1,
				       .start = start };
}

/* Asks for the process of a thread that lives, which stays the same, and for
 * its name unless the kernel told one. */
static void threads_ask_proc(struct threads *t, int32_t tid)
{
	char path[64];
	size_t len;
	struct thread *th = threads_at(t, tid);

	if (th->process > 0 && th->name[0])
		return;
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	char *text = tracefs_text_of(path, &len);
	struct scan s = scan_of(text, len);
	const char *line = text ? strstr(text, "\nTgid:") : NULL;

	if (line)
		th->process = (int32_t)strtol(line + 6, NULL, 10);
	if (!th->name[0] && scan_take(&s, "Name:\t"))
		threads_set_name(th, scan_line(&s));
	free(text);
}

void threads_ask(struct threads *t, const char *cmdlines, const char *tgids)
{
	for (size_t i = 0; t->live && i < t->n_fresh; i++)
		threads_renew(t, t->fresh[i]);
	if (cmdlines)
		threads_take_names(t, cmdlines);
	if (tgids)
		threads_take_processes(t, tgids);
	for (size_t i = 0; t->live && i < t->n_fresh; i++)
		threads_ask_proc(t, t->fresh[i]);
	t->n_fresh = 0;
}

static int threads_compare(const void *a, const void *b)
{
	const struct thread *x = a;
	const struct thread *y = b;

	return compare_numbers(x->tid, y->tid);
}

static void threads_index(struct threads *t)
{
	table_release(&t->by_tid);
	for (size_t i = 0; i < t->n; i++)
		table_add(&t->by_tid, hash_u64((uint64_t)t->at[i].tid),
			  (uint32_t)i);
}

static void threads_sort(struct threads *t)
{
	if (t->n)
		qsort(t->at, t->n, sizeof(*t->at), threads_compare);
	threads_index(t);
}

void threads_write_names(struct threads *t, FILE *out)
{
	threads_sort(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].name[0])
			fprintf(out, "%d %s\n", (int)t->at[i].tid,
				t->at[i].name);
}

void threads_write_processes(struct threads *t, FILE *out)
{
	threads_sort(t);
	for (size_t i = 0; i < t->n; i++)
		if (t->at[i].process > 0)
			fprintf(out, "%d %d\n", (int)t->at[i].tid,
				(int)t->at[i].process);
}

/* Without /proc, nobody knows whether the id is still that of the thread. */
static bool threads_lives(const struct threads *t, const struct thread *th)
{
	return t->live && th->start && threads_start(th->tid) == th->start;
}

void threads_cut(struct threads *t)
{
	memset(t->seen, 0, (THREAD_ID_MAX / 64 + 1) * sizeof(*t->seen));
	t->last = 0;
}

void threads_forget(struct threads *t)
{
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++)
		if (threads_is_seen(t, t->at[i].tid) ||
		    threads_lives(t, &t->at[i]))
			t->at[n++] = t->at[i];
	t->n = n;
	threads_index(t);
}
