/* path_waits.c - the command path for many waits: the longest ones, and what
 * their time is put down to. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/idle.h"
#include "analyze/causes/limits.h"
#include "analyze/latency/files.h"
#include "analyze/causes/offcpu.h"
#include "analyze/path/asleep.h"
#include "cli/output/grid.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "cli/output/term.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/text/safe_text.h"

#define ROWS_AT_ONCE 1024 /* rows of JSON that are in memory */
/* Waits that are kept at first. The longest may all be those of idle servers;
 * KEPT_MORE times as many are kept if too few others are among them. */
#define KEPT_FIRST 65536
#define KEPT_MORE 16
/* The longest waits of a process that its sentence sums. */
#define CHAINS_OF_PROCESS 16384

/* ---- the longest waits */

struct path_length {
	int64_t ns, from;
	uint32_t thread, piece;
};

struct path_longest {
	struct path_run *r;
	const struct path_opts *o;
	/* The program with which the recording began. Before its exec, its
	 * first thread was the recorder's, whose waits do not count. */
	const struct path_program *began;
	const struct asleep *asleep; /* of the selected process */
	bool told;		     /* the chain of `began` is printed, too */
	/* the longest waits: `keep` are left whenever it is cut */
	struct path_length *wait;
	size_t n, cap, keep;
	int64_t least;	    /* ns; shorter waits are not kept */
	uint64_t waits, ns; /* all waits */
	/* idle waits left out that are longer than the last one kept */
	uint64_t idle, idle_ns;
	bool only_idle; /* all waits are idle, so that none is left out */
	/* to whom the waits of a table are put down */
	struct path_sum *sum;
	size_t n_sum, cap_sum;
};

COMPARE_LARGEST_BY(path_compare_waits, struct path_length, ns, from, thread);

static void path_cut_waits(struct path_longest *l)
{
	sort_items(l->wait, l->n, path_compare_waits);
	if (l->n <= l->keep)
		return;
	l->n = l->keep;
	l->least = l->wait[l->n - 1].ns;
}

/* Counts a wait, and keeps it if it may be one of the longest. */
static void path_keep_wait(struct path_longest *l, const struct path_wait *w)
{
	if (l->began->pid >= 0 && w->thread == l->began->thread &&
	    w->to <= l->began->from && !l->o->idle)
		return;
	l->waits++;
	l->ns += (uint64_t)w->to - (uint64_t)w->from;
	if (w->to - w->from < l->least)
		return;
	if (l->n >= l->keep * 2)
		path_cut_waits(l);
	*mem_add(l->wait, l->n, l->cap) =
		(struct path_length){ w->to - w->from, w->from, w->thread,
				      w->piece };
}

static struct path_wait path_long_wait(struct path_longest *l, size_t i)
{
	size_t end;

	return path_wait_of(l->r, l->wait[i].thread, l->wait[i].piece, &end);
}

/* Returns whether a wait may be that of a server without work. A wait on a
 * connection that the process itself made is not: it waits for an answer. */
static bool path_is_idle(const struct path_longest *l, struct idle *s,
			 const struct path_wait *w)
{
	struct files_call c;

	return idle_wait(s, w->thread, w->piece) &&
	       !(files_call(l->r->files, timeline_tid(l->r->t, w->thread),
			    w->from, w->to, &c) &&
		 c.name && *c.call != 'e' &&
		 (!strncmp(c.name, "tcp:", 4) || !strncmp(c.name, "udp:", 4)));
}

/* Reduces the waits to the first `most` that are not idle. Returns true if that
 * left fewer, and waits that were not kept may be such ones. */
static bool path_leave_idle(struct path_longest *l, size_t most)
{
	struct idle s = { .p = l->r->proofs,
			  .t = l->r->t,
			  .budget = IDLE_BUDGET };
	const struct path_ask *ask = l->r->ask;
	/* a thread that the user names is shown even if it is a recorder's */
	bool all = ask->pid < 0 && ask->tid < 0 && !ask->comm;
	size_t kept = 0;

	l->idle = l->idle_ns = 0;
	for (size_t i = 0; i < l->n && kept < most; i++) {
		const struct path_length w = l->wait[i];
		const struct path_wait wait = path_long_wait(l, i);

		if ((all && l->r->t->thread[w.thread].recorder) ||
		    path_is_idle(l, &s, &wait)) {
			l->idle++;
			l->idle_ns += (uint64_t)w.ns;
			continue;
		}
		l->wait[i] = l->wait[kept];
		l->wait[kept++] = w;
	}
	if (kept < most && l->n < l->waits)
		return true;
	l->only_idle = l->n && !kept;
	if (l->only_idle)
		l->idle = l->idle_ns = 0;
	l->n = kept ? kept : l->n < most ? l->n : most;
	return false;
}

/* Writes to whom the waits of a process are put down, without idle waits. */
static void path_put_process(const struct path_longest *l, FILE *out)
{
	struct path_run *r = l->r;
	const struct path_tally before = r->sum;
	int64_t pid = r->ask->pid;
	struct path_longest all = *l;
	struct idle s = { .p = r->proofs, .t = r->t, .budget = IDLE_BUDGET };
	struct path_sum *own = NULL, *sum = NULL, *part;
	size_t n_own = 0, cap_own = 0, n_sum = 0, cap_sum = 0, parts, waits = 0;
	struct path_walk at = { 0 };
	struct path_wait w;

	all.wait = NULL;
	all.n = all.cap = 0;
	all.least = 0;
	all.keep = CHAINS_OF_PROCESS;
	while (path_next_wait(r, &at, &w))
		path_keep_wait(&all, &w);
	path_cut_waits(&all);
	r->sum = (struct path_tally){ 0 };
	for (size_t i = 0; i < all.n; i++) {
		struct chain c RELEASED_BY(chain_release) = { 0 };

		w = path_long_wait(&all, i);
		if (path_is_idle(l, &s, &w))
			continue;
		path_chain(r, w.thread, w.from, w.to, &c);
		part = path_own(r, &c, w.thread, pid, &parts);
		for (size_t k = 0; k < parts; k++)
			*mem_add(own, n_own, cap_own) = part[k];
		free(part);
		part = path_sums(r, &c, false, &parts);
		for (size_t k = 0; k < parts; k++)
			*mem_add(sum, n_sum, cap_sum) = part[k];
		free(part);
		waits++;
	}
	if (waits) {
		safe_text_put(out, causes_comm(r->causes, (int32_t)pid), 0, 0);
		fprintf(out, " (%" PRId64 ") waited %s in all, %s:", pid,
			HUMAN_NS(r->sum.asked), HUMAN_NOUN(waits, "time"));
		n_own = path_add_details(own, n_own);
		path_put_own(r, own, n_own, r->sum.asked, "", out);
		path_put_memory(r, pid,
				r->ask->timed ? r->ask->from : INT64_MIN,
				r->ask->timed ? r->ask->to : INT64_MAX, out);
		n_sum = path_add_up(sum, n_sum);
		path_put_sums(r, sum, n_sum, r->sum.asked, TIMELINE_NONE,
			      "\nbehind these waits: ", out);
		fprintf(out, "\n%s proved",
			HUMAN_PERCENT(r->sum.proved, r->sum.asked));
		if (r->sum.proved)
			path_put_premise(r, NULL, out);
		fputs(l->o->ask.pid < 0 ? "\n'--all' shows all threads\n\n"
					: "\n\n",
		      out);
	}
	r->sum = before;
	free_all(own, sum, all.wait);
}

/* Writes how many idle waits were left out, or that all waits may be idle. */
static void path_put_idle(const struct path_longest *l, FILE *out)
{
	if (l->only_idle) {
		fputs("all of them may be those of a server without work\n",
		      out);
		return;
	}
	if (!l->idle)
		return;
	fprintf(out,
		"%s, %s together, end%s in work that came, a timer or a signal "
		"(or in a lock whose owner slept): '--idle' has them too\n",
		HUMAN_NOUN(l->idle, "longer wait"), HUMAN_NS(l->idle_ns),
		l->idle == 1 ? "s" : "");
}

static const struct grid_column path_wait_columns[] = {
	GRID_TWO("Took", "ns"),
	GRID_TWO("Time", "from_ns"),
	{ NULL, "to_ns" },
	{ "Tid", "tid" },
	{ "Comm", "comm" },
	{ "State", "state" },
	{ "In", "function" },
	{ "Because", "because" },
	{ "Proved %", "proved_percent" },
};

/* Prints a table as text or as JSON. */
static void path_put_grid(const struct path_opts *o, const struct grid *g,
			  const char *key)
{
	struct json j;

	if (!o->json) {
		grid_write(g, "table", stdout);
		return;
	}
	json_answer(&j, stdout, JSON_COMPACT);
	grid_json(g, &j, key);
	json_finish(&j);
}

/* Fills a new grid with the waits from *at on, at most n, and moves *at. */
static struct grid *path_some_waits(struct path_longest *l, size_t *at,
				    size_t n)
{
	struct grid *g =
		grid_new(path_wait_columns, ARRAY_SIZE(path_wait_columns));
	struct path_run *r = l->r;

	grid_names(g, "In", true);
	grid_whole(g, "Time");
	/* the line above has it for all waits, JSON for each */
	grid_spare(g, "Proved %");
	grid_spare(g, "State");
	/* where a thread waited matters less than why */
	grid_give_way(g, "In");
	for (; n > 0 && *at < l->n; n--) {
		const struct path_wait w = path_long_wait(l, (*at)++);
		const char *in = path_function(r, w.out);
		struct chain c RELEASED_BY(chain_release) = { 0 };
		struct path_sum *sum;
		size_t sums;
		char text[128 > SPAN_TEXT ? 128 : SPAN_TEXT];

		path_chain(r, w.thread, w.from, w.to, &c);
		grid_ns(g, (uint64_t)(w.to - w.from));
		grid_text(g, span_text(text, l->o->wall, w.from, w.to));
		grid_signed(g, w.from);
		grid_signed(g, w.to);
		grid_signed(g, timeline_tid(r->t, w.thread));
		grid_text(g, path_comm(r, w.thread));
		grid_text(g, offcpu_state(w.bits));
		grid_text(g, in);
		sum = path_sums(r, &c, false, &sums);
		for (size_t i = 0; i < sums; i++)
			*mem_add(l->sum, l->n_sum, l->cap_sum) = sum[i];
		free(sum);
		/* "owner computing 52.31 %" */
		sum = path_sums(NULL, &c, true, &sums);
		*text = 0;
		if (sums)
			snprintf(text, sizeof(text), "%s %s %s",
				 path_tell(r, sum[0].thread),
				 chain_state_word(sum[0].state),
				 HUMAN_PERCENT(sum[0].ns, w.to - w.from));
		free(sum);
		grid_text(g, text);
		grid_percent(g, path_with(&c, PROOF_PROVED),
			     (uint64_t)w.to - (uint64_t)w.from);
	}
	return g;
}

static void path_json_idle(const struct path_longest *l, struct json *j)
{
	json_object(j, "idle");
	json_uint(j, "n", l->idle);
	json_uint(j, "ns", l->idle_ns);
	json_bool(j, "all", l->only_idle);
	json_end(j);
}

/* Prints the waits in parts, as a table of all may not fit into memory. */
static void path_put_waits_json(struct path_longest *l)
{
	size_t at = 0;
	struct json j;

	json_answer(&j, stdout, JSON_COMPACT);
	json_uint(&j, "n", l->waits);
	json_uint(&j, "ns", l->ns);
	path_json_idle(l, &j);
	path_json_asleep(l->r, l->asleep, &j);
	if (l->told) {
		/* The chain of the program's first thread is not one of the
		 * waits. */
		const struct path_program *p = l->began;
		struct path_run *r = l->r;
		const struct path_tally before = r->sum;

		json_object(&j, "program");
		path_json(r, &j, p->thread, p->from, p->to);
		json_uint(&j, "asked_ns", r->sum.asked - before.asked);
		json_uint(&j, "proved_ns", r->sum.proved - before.proved);
		json_end(&j);
		r->sum = before;
	}
	json_array(&j, "waits");
	json_lines(&j);
	while (at < l->n && !json_failed(&j)) {
		struct grid *g OWNED_GRID =
			path_some_waits(l, &at, ROWS_AT_ONCE);

		grid_json_rows(g, &j);
	}
	json_end(&j);
	json_uint(&j, "asked_ns", l->r->sum.asked);
	json_uint(&j, "proved_ns", l->r->sum.proved);
	json_finish(&j);
}

static void path_put_waits(struct path_longest *l)
{
	struct path_run *r = l->r;
	size_t at = 0;
	struct grid *g OWNED_GRID = path_some_waits(l, &at, SIZE_MAX);
	int64_t from = r->ask->from;
	int64_t to = r->ask->to;
	struct term_lines lines;
	FILE *out = path_lines_begin(&lines);

	if (!r->ask->timed)
		timeline_span(r->t, &from, &to);
	if (l->asleep->n_ring)
		path_put_asleep(r, l->asleep, out);
	if (r->ask->pid >= 0 && !l->told)
		path_put_process(l, out);
	fprintf(out,
		"the longest wait%s (%zu), %s together:", l->n == 1 ? "" : "s",
		l->n, HUMAN_NS(r->sum.asked));
	l->n_sum = path_add_up(l->sum, l->n_sum);
	path_put_sums(r, l->sum, l->n_sum, r->sum.asked, TIMELINE_NONE, " ",
		      out);
	fprintf(out, "\n%s proved", HUMAN_PERCENT(r->sum.proved, r->sum.asked));
	if (r->sum.proved)
		path_put_premise(r, NULL, out);
	if (r->sum.unknown)
		path_put_losses(r, out, from, to);
	else
		putc('\n', out);
	fprintf(out, "all: %s, %s together\n", HUMAN_NOUN(l->waits, "wait"),
		HUMAN_NS(l->ns));
	path_put_idle(l, out);
	/* '--worst 3' without --tid is not limited to the program */
	fprintf(out,
		"'--time TIME --tid TID' shows the chain of one, '%s--worst 3' "
		"of the longest",
		r->ask->pid < 0 ? "" : "--tid TID ");
	term_lines_end(&lines);
	putchar('\n');
	path_put_grid(l->o, g, "waits");
	if (r->sum.unknown)
		path_put_advice(r, from, to);
}

static int path_put_worst(struct path_longest *l, struct err *err)
{
	struct json j;

	if (l->o->json) {
		json_answer(&j, stdout, JSON_PRETTY);
		path_json_idle(l, &j);
		json_array(&j, "chains");
	}
	for (size_t i = 0; i < l->n; i++) {
		const struct path_wait w = path_long_wait(l, i);

		if (!l->o->json) {
			fputs(i ? "\n" : "", stdout);
			if (path_screen(l->r, l->o, w.thread, w.from, w.to,
					err))
				return -1;
			continue;
		}
		json_object(&j, NULL);
		path_json(l->r, &j, w.thread, w.from, w.to);
		json_end(&j);
	}
	if (l->o->json) {
		json_end(&j);
		json_finish(&j);
	} else if (l->idle || l->only_idle) {
		struct term_lines lines;

		putchar('\n');
		path_put_idle(l, path_lines_begin(&lines));
		term_lines_end(&lines);
	}
	return 0;
}

/* Sets l->wait to at most `most` longest waits; idle ones only with --idle. */
static void path_find_waits(struct path_longest *l, size_t most)
{
	bool idle = l->o->idle;

	lower_to(most, SIZE_MAX / 4);
	l->keep = idle || most > KEPT_FIRST ? most : KEPT_FIRST;
	for (;;) {
		struct path_walk at = { 0 };
		struct path_wait w;

		while (path_next_wait(l->r, &at, &w))
			path_keep_wait(l, &w);
		path_cut_waits(l);
		if (idle || !path_leave_idle(l, most))
			return;
		l->keep *= KEPT_MORE;
		l->n = 0;
		l->least = 0;
		l->waits = l->ns = 0;
	}
}

int path_waits(struct path_run *r, const struct path_opts *o,
	       const struct path_program *began, bool told, struct err *err)
{
	struct asleep a RELEASED_BY(asleep_release) = { .n = 0 };
	struct path_longest l = {
		.r = r, .o = o, .began = began, .told = told, .asleep = &a
	};
	int rc = 0;

	path_find_waits(&l, o->worst ? o->worst : o->limit);
	/* what is above the waits has the deadlock, if there are any */
	if (r->ask->pid >= 0 && !r->ask->timed && (o->json || !told || !l.n))
		rc = asleep_find(r, r->ask->pid, &a, err);
	if (rc || !l.n) {
		if (!rc && (o->worst || !path_asleep(r, o, &a)))
			rc = path_no_waits(r, err);
	} else if (o->worst) {
		rc = path_put_worst(&l, err);
	} else if (o->json) {
		path_put_waits_json(&l);
	} else {
		path_put_waits(&l);
	}
	free_all(l.wait, l.sum);
	return rc;
}

int path_put_recorded(struct store *db, const char *path, FILE *out,
		      struct err *err)
{
	static const char *const pid[] = { "pid" };
	/* of -p, and of a program that was started */
	static const char *const event[] = { "limits_process", "limits_sleep" };
	struct path_opts o = {
		.ask = { .tid = -1, .pid = -1, .depth = INT32_MAX }
	};
	struct path_run r RELEASED_BY(path_close) = { .ask = &o.ask,
						      .calls = true };
	const struct path_program none = { .pid = -1 };
	struct path_program started;
	struct path_longest l = { .r = &r, .o = &o, .began = &none };
	struct asleep a RELEASED_BY(asleep_release) = { .n = 0 };
	struct rows *rows;
	int rc = 0;

	for (size_t i = 0; i < ARRAY_SIZE(event) && !rc; i++) {
		const struct limits_rows_ask ask = { .event = event[i],
						     .name = pid,
						     .n = 1 };
		size_t at = 0;

		rc = limits_open_rows(db, &ask, &at, &rows, err);
	}
	/* a capture without switches is no error: nothing is written */
	if (rc <= 0 || rows_end(rows, err))
		return rc ? -1 : 0;
	if (path_open(&r, db, path, err))
		return err->code == ERR_FORMAT ? 0 : -1;
	if (path_program_find(&r, &started, err))
		return -1;
	const bool asked = files_process(r.files) >= 0;

	o.ask.pid = asked ? files_process(r.files) : started.pid;
	if (o.ask.pid < 0)
		return 0;
	if (asleep_find(&r, o.ask.pid, &a, err))
		return -1;
	if (a.n && (a.n_ring || (asked && a.n == a.all)))
		path_put_asleep(&r, &a, out);
	if (asked)
		path_put_process(&l, out);
	return 0;
}

/* ---- sums over waits */

/* A sum of time by a key, whose text path_put_share() makes. */
struct path_share {
	uint32_t key; /* in path_shares.keys */
	uint64_t ns, likely, waits;
	uint64_t last; /* path_shares.waits at the last wait that was counted */
};

struct path_shares {
	struct path_run *r;
	const struct path_opts *o;
	struct path_share *share;
	size_t n, cap;
	struct intern keys;	      /* index: that of share[] */
	struct intern names;	      /* of threads and functions */
	uint32_t *name;		      /* by thread: index in names + 1, or 0 */
	struct chain chain;	      /* of the current wait */
	uint32_t key[CHAIN_MOST + 2]; /* of the current piece */
	uint64_t ns, likely, unknown, waits; /* sums of all; ns */
};

/* Words of a key of --blame. */
enum {
	BLAME_NAME,
	BLAME_STATE,
	BLAME_HOW,
	BLAME_FUNCTION,
	BLAME_WORDS
};

static uint32_t path_name_of(struct path_shares *p, uint32_t thread)
{
	if (!p->name[thread])
		p->name[thread] =
			intern_add(&p->names, path_comm(p->r, thread)) + 1;
	return p->name[thread] - 1;
}

/* Sets p->key to the state of the last thread of a path, and to the names from
 * the first waiter on. Returns its number of words. */
static size_t path_key_tree(struct path_shares *p, const struct chain *c,
			    const struct chain_segment *s)
{
	size_t n = 0;

	p->key[n++] = s->state;
	for (uint32_t i = 0; i < s->depth; i++) {
		uint32_t edge = c->path[s->path + i];
		uint32_t waiter = proofs_edge(p->r->proofs, edge).waiter;

		if (i + 1 < s->depth || waiter != s->thread)
			p->key[n++] = path_name_of(p, waiter);
	}
	p->key[n++] = path_name_of(p, s->thread);
	return n;
}

/* Sets p->key to the name of the last thread, its state, and the function where
 * it woke the one above it or waited. Returns its number of words. */
static size_t path_key_blame(struct path_shares *p, const struct chain *c,
			     const struct chain_segment *s)
{
	struct proof_edge e = { .waiter = s->thread };
	bool woke;
	const char *f;

	if (s->depth)
		e = proofs_edge(p->r->proofs, c->path[s->path + s->depth - 1]);
	woke = e.waiter != s->thread;
	f = path_function(p->r, woke ? e.event : s->out);
	p->key[BLAME_NAME] = path_name_of(p, s->thread);
	p->key[BLAME_STATE] = s->state;
	p->key[BLAME_HOW] = *f && woke;
	p->key[BLAME_FUNCTION] = intern_add(&p->names, f);
	return BLAME_WORDS;
}

static void path_share_chain(struct path_shares *p, uint32_t thread,
			     int64_t from, int64_t to)
{
	struct chain *c = &p->chain;

	p->waits++;
	chain_clear(c);
	path_chain(p->r, thread, from, to, c);
	for (size_t i = 0; i < c->n; i++) {
		const struct chain_segment *s = &c->segment[i];

		size_t words = p->o->blame ? path_key_blame(p, c, s)
					   : path_key_tree(p, c, s);
		uint64_t ns = (uint64_t)s->to - (uint64_t)s->from;
		uint32_t id = intern_add_bytes(&p->keys, p->key,
					       words * sizeof(*p->key));
		struct path_share *sh;

		if (id == p->n)
			*mem_add(p->share, p->n, p->cap) =
				(struct path_share){ .key = id };
		sh = &p->share[id];
		sh->ns += ns;
		sh->likely += s->proof == PROOF_LIKELY ? ns : 0;
		sh->waits += sh->last != p->waits || !sh->waits;
		sh->last = p->waits;
		p->ns += ns;
		p->likely += s->proof == PROOF_LIKELY ? ns : 0;
		p->unknown += s->proof == PROOF_UNKNOWN ? ns : 0;
	}
}

COMPARE_LARGEST_BY(path_compare_shares, struct path_share, ns, key);

static const struct grid_column path_share_columns[] = {
	GRID_TWO("Time", "ns"),	   { "Share %", "percent" },
	{ "Waits", "waits" },	   { NULL, "consistent_ns" },
	{ "Only likely %", NULL }, { "Put down to", "because" },
};

static void path_put_share(const struct path_shares *p, struct grid *g,
			   uint32_t key)
{
	uint32_t word[CHAIN_MOST + 2];
	char *text OWNED = NULL;
	FILE *out = mem_stream(&text, NULL);

	memcpy(word, intern_get(&p->keys, key), intern_length(&p->keys, key));
	if (p->o->blame) {
		/* "owner: run, woke in unlock_it" */
		const char *f = intern_get(&p->names, word[BLAME_FUNCTION]);

		fprintf(out, "%s: %s", intern_get(&p->names, word[BLAME_NAME]),
			chain_state_word((enum chain_state)word[BLAME_STATE]));
		if (*f)
			fprintf(out, ", %s %s",
				word[BLAME_HOW] ? "woke in" : "waited in", f);
	} else {
		/* "server <- backend: timer" */
		size_t n = intern_length(&p->keys, key) / sizeof(*word);
		for (size_t i = 1; i < n; i++)
			fprintf(out, "%s%s", i > 1 ? " <- " : "",
				intern_get(&p->names, word[i]));
		fprintf(out, ": %s",
			chain_state_word((enum chain_state)word[0]));
	}
	mem_stream_end(out);
	grid_text(g, text);
}

static void path_put_shares(struct path_shares *p, const char *key)
{
	struct grid *g OWNED_GRID =
		grid_new(path_share_columns, ARRAY_SIZE(path_share_columns));
	size_t n = p->n < p->o->limit ? p->n : p->o->limit;

	sort_items(p->share, p->n, path_compare_shares);
	for (size_t i = 0; i < n; i++) {
		const struct path_share *s = &p->share[i];

		grid_ns(g, s->ns);
		grid_percent(g, s->ns, p->ns);
		grid_number(g, s->waits);
		grid_number(g, s->likely);
		grid_percent(g, s->likely, s->ns);
		path_put_share(p, g, s->key);
	}
	if (!p->o->json) {
		printf("%s: %s proved", HUMAN_NS(p->ns),
		       HUMAN_PERCENT(p->ns - p->likely - p->unknown, p->ns));
		if (p->ns > p->likely + p->unknown)
			path_put_premise(p->r, NULL, stdout);
		printf(", %s likely", HUMAN_PERCENT(p->likely, p->ns));
		printf(", %s not known\n\n", HUMAN_PERCENT(p->unknown, p->ns));
	}
	path_put_grid(p->o, g, key);
}

int path_shares(struct path_run *r, const struct path_opts *o, struct err *err)
{
	struct path_shares p = { .r = r, .o = o };
	int rc = 0;

	p.name = mem_new(r->t->n_thread + 1, sizeof(*p.name));
	if (r->ask->timed && !o->blame) {
		uint32_t asker = path_asker(r, err);

		if (asker == TIMELINE_NONE)
			rc = -1;
		else
			path_share_chain(&p, asker, r->ask->from, r->ask->to);
	} else {
		struct path_walk at = { 0 };
		struct path_wait w;

		while (path_next_wait(r, &at, &w))
			path_share_chain(&p, w.thread, w.from, w.to);
	}
	if (!rc && !p.n)
		rc = path_no_waits(r, err);
	if (!rc)
		path_put_shares(&p, o->blame ? "blame" : "tree");
	chain_release(&p.chain);
	intern_release(&p.keys);
	intern_release(&p.names);
	free(p.name);
	free(p.share);
	return rc;
}
