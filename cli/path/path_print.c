/* path_print.c - the answers of the command path: which one the options ask
 * for. */
#include "cli/path/path.h"

#include "analyze/latency/files.h"
#include "analyze/path/path_code.h"
#include "cli/args/status.h"
#include "stitch/text/json.h"

/* Tells of the program with which the recording began, or the process that it
 * was of, and then of the longest waits of its threads; of all threads, if
 * there is none. */
static int path_of_program(struct path_run *r, const struct path_opts *o,
			   const struct path_program *p, struct err *err)
{
	const struct path_ask *all = r->ask;
	struct path_ask own = *all;
	struct chain c = { 0 };
	struct path_code code;
	struct path_walk at = { 0 };
	struct path_wait first;
	int rc;

	own.pid = p->pid >= 0 ? p->pid : files_process(r->files);
	r->ask = &own;
	if (own.pid < 0 || !path_next_wait(r, &at, &first)) {
		r->ask = all;
		return path_waits(r, o, p, false, err);
	}
	if (!o->json && p->pid >= 0) {
		rc = path_code_load(&code, r, p->from, p->to, err);
		if (!rc)
			path_head(r, &code, p->thread, p->from, p->to, true,
				  &c);
		chain_release(&c);
		free(code.at);
		if (rc)
			return -1;
		fputs("'--all' shows all threads\n\n", stdout);
	}
	r->sum = (struct path_tally){ 0 };
	rc = path_waits(r, o, p, p->pid >= 0, err);
	r->ask = all;
	return rc;
}

static int path_answer(struct path_run *r, const struct path_opts *o,
		       struct err *err)
{
	const struct path_ask *ask = &o->ask;
	struct path_program p;
	uint32_t thread;
	struct json j;

	if (o->of)
		return path_of(r, o, err);
	if (o->blame || o->tree)
		return path_shares(r, o, err);
	if (!ask->timed || o->worst || o->waits) {
		bool any = !o->all && ask->tid < 0 && ask->pid < 0 &&
			   !ask->comm && !ask->timed && !o->worst && !o->waits;

		if (path_program_find(r, &p, err))
			return -1;
		return any ? path_of_program(r, o, &p, err)
			   : path_waits(r, o, &p, false, err);
	}
	thread = path_asker(r, err);
	if (thread == TIMELINE_NONE)
		return -1;
	if (!o->json)
		return path_screen(r, o, thread, ask->from, ask->to, err);
	json_answer(&j, stdout, JSON_PRETTY);
	path_json(r, &j, thread, ask->from, ask->to);
	json_finish(&j);
	return 0;
}

int path_status(const struct path_run *r, const struct path_opts *o)
{
	return o->fail >= 0 && (double)r->sum.unknown * 100 >
				       (double)o->fail * (double)r->sum.asked
		       ? STATUS_LOSS
		       : 0;
}

int path_print(struct store *db, const char *path, const struct path_opts *o,
	       struct err *err)
{
	struct path_run r = { .ask = &o->ask };
	int rc = path_open(&r, db, path, err);

	if (!rc)
		rc = path_answer(&r, o, err);
	if (!rc)
		rc = path_status(&r, o);
	path_close(&r);
	return rc;
}
