/* tasks.h - for tests of tasks: what records say of them, as text, and the rows
 * that are given out.
 *
 * A ';' ends a step, which is TIME VERB T ARGUMENT... = WANTED. TIME is as in
 * script.h, and '-' before all records. T is a thread, [CAPTURE:][PID/]TID; the
 * captures 0 and 1 are of one line, 2 is alone. WANTED is a number, or a letter
 * that stands for a row or slot: the same letter for the same one, and another
 * letter for another one.
 *
 *	thread, slot T		a record of T, which has this row, this slot
 *	process, process_slot T	the same of the process PID
 *	name T			the row of its name
 *	called T NAME		1 if that is its name, 0 if not
 *	comm, exec T NAME	it is called so, after exec or not
 *	fork T [PARENT]		its row; without PARENT, of thread 1
 *	found T [PARENT]	the recorder tells of it at the start
 *	exit, forget T
 *	map T ADDR		in the process PID
 *	maps T			how many it has
 *	forked, parent T	when its process was made, by which one
 *	pid, introduced, reused, over, ended, process_ended T
 *	peek, find T		its slot, or -1
 *	gone			the capture of who was replaced, or -1
 *	retire			what ended before TIME
 *	threads, processes, comms
 *				how many rows were given out
 */
#pragma once
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "stitch/fact_queue.h"
#include "stitch/fact.h"
#include "stitch/tasks/shared_tasks.h"
#include "stitch/tasks/tasks.h"
#include "tests/unit/script.h"

#define WORLD_KINDS 5
#define WORLD_SLOTS 3

struct world {
	struct fact_queue q;
	struct tasks *ts;
	size_t threads, processes, mappings, comms;
	struct fact_thread thread[64];
	struct fact_process process[64];
	char name[64][20];
	/* See world_letters(); 1 more than they stand for, 0: nothing yet. */
	int64_t letter[WORLD_KINDS][26];
};

static inline void world_start(struct world *w)
{
	memset(w, 0, sizeof(*w));
	w->ts = tasks_new(&w->q);
}

static inline void world_take(struct world *w)
{
	struct fact f;

	while (fact_queue_take(&w->q, &f)) {
		if (f.kind == FACT_THREAD)
			w->thread[w->threads++ % 64] = f.thread;
		else if (f.kind == FACT_PROCESS)
			w->process[w->processes++ % 64] = f.process;
		else if (f.kind == FACT_MAPPING)
			w->mappings++;
		else
			snprintf(w->name[w->comms++ % 64], sizeof(w->name[0]),
				 "%s", f.comm.name);
	}
}

static inline void world_retire(struct world *w, int64_t t)
{
	uint32_t slot;

	while (tasks_retire(w->ts, t, &slot))
		tasks_drop(w->ts, slot);
	world_take(w);
}

static inline void world_finish(struct world *w)
{
	world_retire(w, TIME_NONE);
	while (tasks_drop_rest(w->ts))
		;
	world_take(w);
	tasks_free(w->ts);
	fact_queue_release(&w->q);
}

/* ---- a row of a table */

struct world_row {
	const char *name, *steps, *rows;
};

/* One step; who: T. */
struct world_step {
	struct world *w;
	const struct script_line *line;
	const char *verb;
	int64_t time;
	uint16_t source;
	int32_t pid, tid;
};

static inline void world_task(const char *word, struct world_step *s)
{
	const char *colon = strchr(word, ':'), *slash = strchr(word, '/');

	s->source = colon ? (uint16_t)strtol(word, NULL, 0) : 0;
	s->pid = (int32_t)strtol(colon ? colon + 1 : word, NULL, 0);
	s->tid = slash ? (int32_t)strtol(slash + 1, NULL, 0) : s->pid;
}

/* What is asked of, or told to, the process; false: it is no such verb. */
static inline bool world_of_process(const struct world_step *s, int64_t *is)
{
	struct tasks *ts = s->w->ts;
	uint32_t slot = tasks_process(ts, s->source, s->pid);
	const struct process *p = tasks_process_at(ts, slot);

	if (!strcmp(s->verb, "process")) {
		*is = p->id;
	} else if (!strcmp(s->verb, "process_slot")) {
		*is = slot;
	} else if (!strcmp(s->verb, "maps")) {
		*is = (int64_t)p->space.now.n;
	} else if (!strcmp(s->verb, "forked")) {
		*is = p->space.now.forked;
	} else if (!strcmp(s->verb, "parent")) {
		*is = p->parent;
	} else if (!strcmp(s->verb, "process_ended")) {
		*is = p->ended;
	} else if (!strcmp(s->verb, "map")) {
		uint64_t addr = script_number(s->line, 3);
		struct region r = { .start = addr,
				    .end = addr + 0x1000,
				    .t0 = s->time };

		tasks_map(ts, slot, &r);
	} else {
		return false;
	}
	return true;
}

/* The same of a thread. */
static inline bool world_of_thread(const struct world_step *s, uint32_t slot,
				   int64_t *is)
{
	struct tasks *ts = s->w->ts;
	struct thread *th = tasks_thread_at(ts, slot);
	const char *arg = s->line->n > 3 ? s->line->word[3] : "";

	if (!strcmp(s->verb, "thread")) {
		*is = th->id;
		if (s->time > th->last)
			th->last = s->time;
	} else if (!strcmp(s->verb, "slot")) {
		*is = slot;
	} else if (!strcmp(s->verb, "pid")) {
		*is = tasks_process_at(ts, th->process)->pid;
	} else if (!strcmp(s->verb, "introduced")) {
		*is = th->introduced;
	} else if (!strcmp(s->verb, "reused")) {
		*is = th->reused_tid;
	} else if (!strcmp(s->verb, "over")) {
		*is = shared_tasks_is_over(ts, slot);
	} else if (!strcmp(s->verb, "ended")) {
		*is = th->ended;
	} else if (!strcmp(s->verb, "name")) {
		*is = tasks_comm(ts, slot);
	} else if (!strcmp(s->verb, "called")) {
		*is = !strcmp(th->name, arg);
	} else if (!strcmp(s->verb, "comm") || !strcmp(s->verb, "exec")) {
		tasks_set_comm(ts, slot, arg, s->time, *s->verb == 'e');
	} else if (!strcmp(s->verb, "exit")) {
		tasks_exit(ts, slot, s->time);
	} else if (!strcmp(s->verb, "forget")) {
		tasks_forget(ts, slot);
	} else {
		return false;
	}
	return true;
}

/* What makes no task by asking. */
static inline bool world_of_all(struct world_step *s, int64_t *is)
{
	struct world *w = s->w;
	struct world_step by = *s;
	struct thread gone;

	if (!strcmp(s->verb, "retire")) {
		world_retire(w, s->time);
	} else if (!strcmp(s->verb, "threads")) {
		*is = (int64_t)w->threads;
	} else if (!strcmp(s->verb, "processes")) {
		*is = (int64_t)w->processes;
	} else if (!strcmp(s->verb, "comms")) {
		world_take(w);
		*is = (int64_t)w->comms;
	} else if (!strcmp(s->verb, "gone")) {
		*is = tasks_replaced(w->ts, &gone) ? gone.source : -1;
	} else if (!strcmp(s->verb, "peek")) {
		*is = (int32_t)tasks_peek(w->ts, s->source, s->pid, s->tid);
	} else if (!strcmp(s->verb, "find")) {
		*is = (int32_t)tasks_find(w->ts, s->source, s->pid, s->tid);
	} else if (!strcmp(s->verb, "fork") || !strcmp(s->verb, "found")) {
		world_task(s->line->n > 3 ? s->line->word[3] : "1", &by);
		uint32_t slot =
			tasks_fork(w->ts, s->source, s->pid, s->tid, by.pid,
				   by.tid, s->time, !strcmp(s->verb, "found"));
		*is = tasks_thread_at(w->ts, slot)->id;
	} else {
		return false;
	}
	return true;
}

/* Is the verb one of the list? */
static inline bool world_verb(const char *list, const char *verb)
{
	char word[24];

	snprintf(word, sizeof(word), " %s ", verb);
	return strstr(list, word);
}

/* The letters of which kind stand for what a verb gives; NULL: numbers only. */
static inline int64_t *world_letters(struct world *w, const char *verb)
{
	static const char *const kinds[] = { " thread fork found ",
					     " process parent ", " name ",
					     " slot peek find ",
					     " process_slot " };

	for (size_t i = 0; i < WORLD_KINDS; i++)
		if (world_verb(kinds[i], verb))
			return w->letter[i];
	return NULL;
}

static inline void world_compare(const struct world_step *s, int64_t is,
				 const char *wanted)
{
	int64_t *letter = world_letters(s->w, s->verb);

	if (*wanted < 'a') {
		ck_assert_msg(is == strtoll(wanted, NULL, 0), "%" PRId64 ": %s",
			      is, s->line->text);
		return;
	}
	ck_assert_msg(letter, "no letters: %s", s->line->text);
	for (char c = 'a'; c <= 'z'; c++)
		ck_assert_msg(c == *wanted || letter[c - 'a'] != is + 1,
			      "it is %c: %s", c, s->line->text);
	letter += *wanted - 'a';
	ck_assert_msg(!*letter || *letter == is + 1, "it is another: %s",
		      s->line->text);
	*letter = is + 1;
}

static inline void world_step(struct world *w, struct script_line *l)
{
	struct world_step s = { .w = w, .line = l };
	const char *wanted = NULL;
	int64_t is = 0;

	if (l->n > 2 && !strcmp(l->word[l->n - 2], "=")) {
		wanted = l->word[l->n - 1];
		l->n -= 2;
	}
	ck_assert_msg(l->n > 1, "no verb: %s", l->text);
	s.time = *l->word[0] == '-' ? TIME_NONE : (int64_t)script_number(l, 0);
	s.verb = l->word[1];
	/* a name from before the records may be told of late */
	if (s.time != TIME_NONE || strcmp(s.verb, "comm"))
		w->ts->now = s.time;
	const char *who = l->n > 2 ? l->word[2] : "1";
	bool known;

	world_task(who, &s);
	if (world_verb(" process process_slot maps map forked parent "
		       "process_ended ",
		       s.verb))
		known = world_of_process(&s, &is);
	else if (*who >= 'a')
		known = world_of_thread(
			&s, (uint32_t)w->letter[WORLD_SLOTS][*who - 'a'] - 1,
			&is);
	else
		known = world_of_all(&s, &is) ||
			world_of_thread(
				&s, tasks_thread(w->ts, s.source, s.pid, s.tid),
				&is);
	ck_assert_msg(known, "no verb: %s", l->text);
	if (wanted)
		world_compare(&s, is, wanted);
}

static inline void world_time(FILE *f, int64_t t)
{
	const int64_t second = SCRIPT_SECOND;

	if (t == TIME_NONE)
		return;
	if (t >= second)
		fprintf(f, "%" PRId64 "s", t / second);
	if (t < second || t % second)
		fprintf(f, "%s%" PRId64, t < second ? "" : "+", t % second);
}

static inline void world_span(FILE *f, int64_t start, int64_t end)
{
	world_time(f, start);
	fputc('-', f);
	world_time(f, end);
}

/* The rows in the order in which they were given out: threads as "TID
 * START-END", with "=a" behind the id if a letter stands for them, processes as
 * "process CAPTURE:PID START-END", names, and how many mappings. */
static inline char *world_rows(const struct world *w)
{
	char *text;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	for (size_t i = 0; i < w->threads; i++) {
		const struct fact_thread *t = &w->thread[i];

		fprintf(f, "%s%d", i ? "; " : "", t->tid);
		for (size_t c = 0; c < 26; c++)
			if (w->letter[0][c] == (int64_t)t->id + 1)
				fprintf(f, "=%c", (int)('a' + c));
		fputc(' ', f);
		world_span(f, t->start, t->end);
	}
	for (size_t i = 0; i < w->processes; i++) {
		const struct fact_process *p = &w->process[i];

		fprintf(f, "; process %u:%d ", p->source, p->pid);
		world_span(f, p->start, p->end);
	}
	for (size_t i = 0; i < w->comms; i++)
		fprintf(f, "%s %s", i ? "" : "; names", w->name[i]);
	if (w->mappings)
		fprintf(f, "; %zu mappings", w->mappings);
	fclose(f);
	return text;
}

static inline void world_row_holds(const struct world_row *row)
{
	struct world w;
	struct script_line l;

	world_start(&w);
	tasks_together(w.ts, 0, 0);
	tasks_together(w.ts, 1, 0);
	for (const char *s = row->steps; *s;) {
		size_t len = strcspn(s, ";");

		script_cut(&l, s, len);
		world_step(&w, &l);
		s += len + (s[len] == ';');
	}
	world_finish(&w);
	char *rows = world_rows(&w);

	ck_assert_str_eq(rows, row->rows);
	free(rows);
}
