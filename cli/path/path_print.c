/* path_print.c - the answers of the command path: which one the options ask
 * for. */
#include "cli/path/path.h"

#include "cli/args/command.h"
#include "analyze/causes/causes.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/causes/wait_cause.h"
#include "stitch/text/json.h"
#include "schema/columns.h"

/* Finds the program with which the recording began, from its start to its end.
 * Returns 0, or -1 and *err. */
static int path_program_find(const struct path_run *r, struct path_program *out,
			     struct err *err)
{
	struct rows *q = rows_of(r->db, "path_program", err);
	int64_t first, last;

	*out = (struct path_program){ .pid = -1 };
	timeline_span(r->t, &first, &last);
	if (rows_step(q)) {
		int64_t pid = rows_int(q, PATH_PROGRAM_PID);

		out->from = rows_int(q, PATH_PROGRAM_T0);
		out->to = rows_int_or(q, PATH_PROGRAM_T1, last);
		out->thread = pid > 0 && pid < INT32_MAX
				      ? timeline_thread(r->t, (int32_t)pid)
				      : TIMELINE_NONE;
		if (out->thread != TIMELINE_NONE && out->from < out->to &&
		    out->from >= first && out->to <= last)
			out->pid = pid;
	}
	return rows_end(q, err);
}

/* Tells of the program with which the recording began, and then of the longest
 * waits of its threads; of all threads, if there is none. */
static int path_of_program(struct path_run *r, struct err *err)
{
	const struct path_opts *all = r->o;
	struct path_opts own = *all;
	struct path_program p;
	struct chain c = { 0 };
	struct path_walk at = { 0 };
	struct path_wait first;
	int rc;

	if (path_program_find(r, &p, err))
		return -1;
	own.pid = p.pid;
	r->o = &own;
	if (p.pid < 0 || !path_next_wait(r, &at, &first)) {
		r->o = all;
		return path_waits(r, err);
	}
	if (all->json) {
		r->program = &p;
	} else {
		path_head(r, p.thread, p.from, p.to, true, &c);
		chain_release(&c);
		fputs("'--all' tells of all threads\n\n", stdout);
	}
	r->asked = r->proved = r->unknown = 0;
	rc = path_waits(r, err);
	r->o = all;
	r->program = NULL;
	return rc;
}

static int path_answer(struct path_run *r, struct err *err)
{
	const struct path_opts *o = r->o;
	uint32_t thread;
	struct json j;

	if (!o->all && o->tid < 0 && !o->comm && !o->timed && !o->worst &&
	    !o->waits && !o->tree && !o->blame)
		return path_of_program(r, err);
	if (r->o->blame || r->o->tree)
		return path_shares(r, err);
	if (!r->o->timed || r->o->worst || r->o->waits)
		return path_waits(r, err);
	thread = path_asker(r, err);
	if (thread == TIMELINE_NONE)
		return -1;
	if (!r->o->json) {
		path_screen(r, thread, r->o->from, r->o->to);
		return 0;
	}
	json_answer(&j, stdout, JSON_PRETTY);
	path_json(r, &j, thread, r->o->from, r->o->to);
	json_finish(&j);
	return 0;
}

int path_open(struct path_run *r, struct store *db, const char *path,
	      struct err *err)
{
	struct stacks_opts so = { .filter = &filter_none,
				  .names = r->names,
				  .inlined = true,
				  .gaps = true,
				  .no_groups = true };

	r->db = db;
	r->path = path;
	so.labels = r->labels = labels_new();
	r->stacks = stacks_load(db, &so, err);
	if (!r->stacks)
		return -1;
	labels_shorten(r->labels, &r->names);
	r->words = wait_causes_new(r->stacks);
	r->causes = causes_load(db, path, r->words, err);
	if (!r->causes)
		return -1;
	r->t = r->causes->t;
	r->proofs = proofs_new(r->t);
	return 0;
}

void path_close(struct path_run *r)
{
	proofs_free(r->proofs);
	causes_free(r->causes);
	wait_causes_free(r->words);
	stacks_free(r->stacks);
	labels_free(r->labels);
}

int path_status(const struct path_run *r)
{
	return r->o->fail >= 0 && (double)r->unknown * 100 >
					  (double)r->o->fail * (double)r->asked
		       ? STATUS_LOSS
		       : 0;
}

int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err)
{
	struct path_run r = { .o = o };
	int rc = path_open(&r, db, path, err);

	if (!rc)
		rc = path_answer(&r, err);
	if (!rc)
		rc = path_status(&r);
	path_close(&r);
	return rc;
}
