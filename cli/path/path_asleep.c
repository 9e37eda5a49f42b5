/* path_asleep.c - prints which threads of a process never ran while it was
 * recorded, and whether they wait for one another. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/latency/files.h"
#include "analyze/path/asleep.h"
#include "analyze/path/path_run.h"
#include "cli/output/grid.h"
#include "cli/output/term.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* Writes "worker (4711)". */
static void path_put_task(const struct path_run *r, int64_t tid, FILE *out)
{
	safe_text_put(out, causes_comm(r->causes, tid), 0, 0);
	fprintf(out, " (%" PRId64 ")", tid);
}

void path_put_asleep(const struct path_run *r, const struct asleep *a,
		     FILE *out)
{
	static const char *const premise[] = {
		[ASLEEP_KERNEL] = "",
		[ASLEEP_END] = ", if one waits for the end of another",
		[ASLEEP_WORD] = ", if these are locks with their owner in them",
		[ASLEEP_MUTEX] = ", if these are mutexes of glibc"
	};
	enum asleep_by by = ASLEEP_KERNEL;
	size_t stopped = 0;

	for (size_t i = 0; i < a->n_ring; i++) {
		const struct asleep_thread *t = &a->thread[a->ring[i]];

		path_put_task(r, t->tid, out);
		fputs(i ? ", which waits for " : " waits for ", out);
		raise_to(by, t->by);
	}
	if (a->n_ring == 1)
		fputs("a lock that it has itself", out);
	else if (a->n_ring)
		path_put_task(r, a->thread[a->ring[0]].tid, out);
	if (a->n_ring)
		fprintf(out, ": a deadlock%s\n", premise[by]);
	for (size_t i = 0; i < a->n; i++)
		stopped += a->thread[i].state == 'T';
	if (a->all == 1)
		fputs("the only thread", out);
	else if (a->n < a->all)
		fprintf(out, "%zu of the %zu threads", a->n, a->all);
	else
		fprintf(out, "none of the %zu threads", a->all);
	fputs(" of ", out);
	path_put_task(r, r->ask->pid, out);
	fprintf(out,
		"%s ran in %s, by the kernel's count of their switches%s\n",
		a->n < a->all || a->all == 1 ? " never" : "",
		HUMAN_NS(a->to - a->from),
		stopped == a->all ? ": a signal has stopped it, and 'kill "
				    "-CONT' lets it go on"
				  : "");
	if (stopped < a->all)
		fprintf(out,
			"'eu-stack -p %" PRId64 "' shows where they are, as "
			"long as they are there\n",
			r->ask->pid);
}

void path_json_asleep(const struct path_run *r, const struct asleep *a,
		      struct json *j)
{
	if (!a->n)
		return;
	json_object(j, "asleep");
	json_int(j, "from_ns", a->from);
	json_int(j, "to_ns", a->to);
	json_uint(j, "of", a->all);
	json_array(j, "deadlock");
	for (size_t i = 0; i < a->n_ring; i++)
		json_int(j, NULL, a->thread[a->ring[i]].tid);
	json_end(j);
	json_array(j, "threads");
	json_lines(j);
	for (size_t i = 0; i < a->n; i++) {
		const struct asleep_thread *t = &a->thread[i];

		json_object(j, NULL);
		json_int(j, "tid", t->tid);
		json_text(j, "comm", causes_comm(r->causes, t->tid));
		json_text_len(j, "state", &t->state, 1);
		json_text(j, "call", *t->call == '-' ? NULL : t->call);
		json_int_or_null(j, "owner", t->owner, t->owner > 0);
		json_text(j, "by", asleep_by_words[t->by]);
		json_end(j);
	}
	json_end(j);
	json_end(j);
}

/* Prints a row for each thread: where it is, and for which thread it waits. */
static void path_put_sleepers(const struct path_run *r, const struct asleep *a,
			      size_t limit)
{
	static const struct grid_column columns[] = {
		{ "Tid", "tid" },	  { "Comm", "comm" },
		{ "State", "state" },	  { "In", "in" },
		{ "Waits for", "owner" },
	};
	struct grid *g OWNED_GRID = grid_new(columns, ARRAY_SIZE(columns));

	for (size_t i = 0; i < a->n && i < limit; i++) {
		const struct asleep_thread *t = &a->thread[i];
		char *in OWNED = NULL, *owner OWNED = NULL;
		FILE *out = mem_stream(&in, NULL);
		struct files_call c;

		fputs(*t->call == '-' ? "" : t->call, out);
		if (files_call(r->files, t->tid, t->from, t->to, &c) &&
		    !strcmp(c.call, t->call))
			fprintf(out, " of descriptor %" PRId64 " (%s)", c.fd,
				c.name ?: "not known");
		mem_stream_end(out);
		out = mem_stream(&owner, NULL);
		fputs(t->by == ASLEEP_END ? "the end of " : "", out);
		if (t->owner)
			path_put_task(r, t->owner, out);
		mem_stream_end(out);
		grid_signed(g, t->tid);
		grid_text(g, causes_comm(r->causes, t->tid));
		grid_text(g, t->state == 'S'   ? "sleeping"
			     : t->state == 'D' ? "blocked"
			     : t->state == 'T' ? "stopped"
					       : "traced");
		grid_text(g, in);
		grid_text(g, owner);
	}
	grid_write(g, "table", stdout);
	if (a->n > limit)
		grid_say_rest(a->n - limit, "thread");
}

int path_asleep(const struct path_run *r, const struct path_opts *o,
		const struct asleep *a)
{
	struct term_lines lines;
	struct json j;
	FILE *out;

	if (!a->n)
		return 0;
	if (o->json) {
		json_answer(&j, stdout, JSON_COMPACT);
		json_uint(&j, "n", 0);
		json_uint(&j, "ns", 0);
		path_json_asleep(r, a, &j);
		json_array(&j, "waits");
		json_end(&j);
		json_uint(&j, "asked_ns", 0);
		json_uint(&j, "proved_ns", 0);
		json_finish(&j);
		return 1;
	}
	out = path_lines_begin(&lines);
	path_put_asleep(r, a, out);
	term_lines_end(&lines);
	putchar('\n');
	path_put_sleepers(r, a, o->limit);
	return 1;
}
