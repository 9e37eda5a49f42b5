/* path_print.c - the command path: chooses the answer by the options. */
#include "analyze/causes/causes.h"
#include "analyze/latency/files.h"
#include "analyze/latency/intervals.h"
#include "analyze/path/asleep.h"
#include "analyze/path/path_run.h"
#include "cli/args/status.h"
#include "cli/output/term.h"
#include "cli/path/path.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* ---- --of: all calls, slices or requests of one name */

struct of_call {
	uint32_t thread; /* of the timeline */
	int64_t from, to, ns;
};

struct of {
	struct path_run *r;
	const struct intervals *iv;
	const char *name;
	struct of_call *call;
	size_t n, cap;
	uint64_t other; /* calls without a proof, or a thread in the timeline */
};

/* Returns whether `time` is known and outside the time that was asked for. */
static bool of_is_outside(const struct path_ask *ask, int64_t time)
{
	return ask->timed && time != INTERVAL_NEVER &&
	       (time < ask->from || time > ask->to);
}

/* Keeps an interval that the options select if it is proved, else counts it. */
static void of_take(void *arg, const struct interval *i)
{
	struct of *of = arg;
	const struct path_ask *ask = of->r->ask;
	const struct intervals_thread *t = intervals_thread(of->iv, i->thread);

	if (strcmp(intern_get(&of->iv->names, i->name), of->name) != 0 ||
	    (ask->tid >= 0 && t->tid != ask->tid) ||
	    (ask->pid >= 0 && t->pid != ask->pid) ||
	    (ask->comm && strcmp(t->comm, ask->comm) != 0))
		return;
	if (of_is_outside(ask, i->begin) || of_is_outside(ask, i->end))
		return;
	uint32_t thread = causes_thread_number(of->r->causes, i->thread);

	if (i->verdict != INTERVAL_PROVED || i->begin == INTERVAL_NEVER ||
	    i->begin >= i->end || thread == TIMELINE_NONE) {
		of->other++;
		return;
	}
	*mem_add(of->call, of->n, of->cap) =
		(struct of_call){ thread, i->begin, i->end,
				  interval_span(i->begin, i->end) };
}

COMPARE_FUNCTION(of_compare, struct of_call,
		 compare_numbers(y->ns, x->ns)
			 ?: compare_numbers(x->from, y->from));

/* Reads the calls of --of, and sorts the longest first. Returns 0, or -1 and
 * *err, also if there are none. */
static int of_load(struct of *of, const char *kind, struct err *err)
{
	const struct intervals_ask ask = { .kind = kind };
	struct intervals *iv =
		intervals_open(of->r->db, of->r->path, &ask, err);
	char *path OWNED = NULL;
	int rc;

	if (!iv)
		return -1;
	of->iv = iv;
	rc = intervals_each(iv, of_take, of, err);
	intervals_close(iv);
	if (rc || of->n) {
		sort_items(of->call, of->n, of_compare);
		return rc;
	}
	path = safe_text_word(of->r->path);
	return err_set(err, ERR_FORMAT,
		       "%s: no call, slice or request named '%s' is proved "
		       "among those that the options select; 'backstitch "
		       "latency %s' lists what there is",
		       of->r->path, of->name, path);
}

static void of_put_text(const struct of *of, struct path_sum *part, size_t n,
			uint64_t all)
{
	const struct path_run *r = of->r;
	struct term_lines lines;
	FILE *out = path_lines_begin(&lines);

	safe_text_put(out, of->name, 0, 0);
	fprintf(out, ": %s of them took %s, %s on average and %s at most:",
		HUMAN_GROUPED(of->n), HUMAN_NS(all), HUMAN_NS(all / of->n),
		HUMAN_NS((uint64_t)of->call[0].ns));
	path_put_own(r, part, n, all, "", out);
	fprintf(out, "\n%s proved", HUMAN_PERCENT(r->sum.proved, r->sum.asked));
	if (r->sum.proved)
		path_put_premise(r, NULL, out);
	if (r->sum.unknown)
		fprintf(out, ", %s not known",
			HUMAN_PERCENT(r->sum.unknown, r->sum.asked));
	if (of->other)
		fprintf(out,
			"; left out, as begin, end or thread is not proved: %s",
			HUMAN_GROUPED(of->other));
	putc('\n', out);
	term_lines_end(&lines);
}

static void of_put_json(const struct of *of, const struct path_sum *part,
			size_t n, uint64_t all, size_t worst)
{
	struct path_run *r = of->r;
	struct json j;

	json_answer(&j, stdout, JSON_PRETTY);
	json_shown(&j, "of", of->name);
	json_uint(&j, "n", of->n);
	json_uint(&j, "not_proved", of->other);
	json_uint(&j, "ns", all);
	json_uint(&j, "asked_ns", r->sum.asked);
	json_uint(&j, "proved_ns", r->sum.proved);
	json_array(&j, "own");
	for (size_t i = 0; i < n; i++) {
		json_object(&j, NULL);
		json_text(&j, "state", chain_state_word(part[i].state));
		json_int_or_null(&j, "tid", timeline_tid(r->t, part[i].thread),
				 part[i].thread != TIMELINE_NONE);
		json_text(&j, "comm",
			  part[i].thread == TIMELINE_NONE
				  ? NULL
				  : path_comm(r, part[i].thread));
		json_bool(&j, "lock", part[i].lock);
		json_uint(&j, "ns", part[i].ns);
		json_end(&j);
	}
	json_end(&j);
	json_array(&j, "chains");
	for (size_t i = 0; i < worst; i++) {
		json_object(&j, NULL);
		path_json(r, &j, of->call[i].thread, of->call[i].from,
			  of->call[i].to);
		json_end(&j);
	}
	json_end(&j);
	json_finish(&j);
}

/* Prints what threads did in all calls of a name, and the longest calls. */
static int path_of(struct path_run *r, const struct path_opts *o,
		   struct err *err)
{
	const char *colon = strchr(o->of, ':');
	char *kind =
		colon ? mem_printf("%.*s", (int)(colon - o->of), o->of) : NULL;
	bool has = kind && any_where(pair_kinds_n, i,
				     !strcmp(pair_kinds[i].word, kind));
	struct of of = { .r = r, .name = has ? colon + 1 : o->of };
	struct path_sum *sum = NULL;
	size_t n = 0, cap = 0, worst = o->worst ?: 1;
	uint64_t all = 0;
	int rc = of_load(&of, has ? kind : NULL, err);

	for (size_t i = 0; !rc && i < of.n; i++) {
		const struct of_call *call = &of.call[i];
		struct chain c RELEASED_BY(chain_release) = { 0 };
		struct path_sum *part OWNED = NULL;
		size_t parts;

		path_chain(r, call->thread, call->from, call->to, &c);
		part = path_own(r, &c, call->thread, -1, &parts);
		for (size_t k = 0; k < parts; k++)
			*mem_add(sum, n, cap) = part[k];
		n = path_add_up(sum, n);
		all += (uint64_t)call->ns;
	}
	n = path_add_details(sum, n);
	const struct path_tally calls = r->sum;

	lower_to(worst, of.n);
	if (!rc && o->json)
		of_put_json(&of, sum, n, all, worst);
	else if (!rc)
		of_put_text(&of, sum, n, all);
	for (size_t i = 0; !rc && !o->json && i < worst; i++) {
		putchar('\n');
		rc = path_screen(r, o, of.call[i].thread, of.call[i].from,
				 of.call[i].to, err);
	}
	/* the chains of the longest calls were in r->sum before */
	r->sum = calls;
	free_all(of.call, sum, kind);
	return rc;
}

/* ---- what is printed without --of */

/* Prints what the program did with which the recording began, then the longest
 * waits of it or of the process that was recorded; if there is neither, or it
 * never waited, the longest waits of all threads. */
static int path_of_program(struct path_run *r, const struct path_opts *o,
			   const struct path_program *p, struct err *err)
{
	const struct path_ask *all = r->ask;
	struct path_ask own = *all;
	struct chain c RELEASED_BY(chain_release) = { 0 };
	struct path_code code;
	struct path_walk at = { 0 };
	struct path_wait first;
	int rc;

	own.pid = p->pid >= 0 ? p->pid : files_process(r->files);
	r->ask = &own;
	if (own.pid < 0 || !path_next_wait(r, &at, &first)) {
		struct asleep a RELEASED_BY(asleep_release) = { .n = 0 };

		rc = own.pid < 0 ? 0 : asleep_find(r, own.pid, &a, err);
		if (!rc && path_asleep(r, o, &a))
			return 0;
		r->ask = all;
		return rc ?: path_waits(r, o, p, false, err);
	}
	if (!o->json && p->pid >= 0) {
		struct asleep a RELEASED_BY(asleep_release) = { .n = 0 };

		rc = path_code_load(&code, r, p->from, p->to, err);
		if (!rc)
			rc = asleep_find(r, p->pid, &a, err);
		if (!rc && a.n_ring) {
			struct term_lines lines;
			FILE *out = path_lines_begin(&lines);

			path_put_asleep(r, &a, out);
			term_lines_end(&lines);
		}
		if (!rc)
			path_head(r, &code, p->thread, p->from, p->to, true,
				  &c);
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
	struct path_run r RELEASED_BY(path_close) = { .ask = &o->ask,
						      .calls = true };

	return path_open(&r, db, path, err) ?: path_answer(&r, o, err)
					    ?: path_status(&r, o);
}
