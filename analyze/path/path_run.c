/* path_run.c - shared parts of the answers of the command path: names, chains,
 * and the threads and waits that the options select. */
#include "analyze/path/path_run.h"

#include <inttypes.h>

#include "analyze/causes/causes.h"
#include "analyze/latency/files.h"
#include "analyze/samples/events.h"
#include "analyze/samples/filter.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "schema/columns.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/words.h"
#include "stitch/text/safe_text.h"

#define NS 1000000000

COMPARE_BY(path_compare_code, struct path_code_sample, thread, time);

int path_code_load(struct path_code *code, struct path_run *r, int64_t from,
		   int64_t to, struct err *err)
{
	char time[64];
	const struct filter in = { .time = time };
	struct events *ev;
	struct event_row e;
	struct stacks_group g;
	int rc = 0;

	*code = (struct path_code){ 0 };
	if (from < 0 ||
	    !any_where(r->stacks->n_event, i, !r->stacks->event[i].point))
		return 0;
	snprintf(time, sizeof(time),
		 "%" PRId64 ".%09" PRId64 ",%" PRId64 ".%09" PRId64, from / NS,
		 from % NS, to / NS, to % NS);
	ev = events_open(r->db, &in, EVENTS_ALL, err);
	while (ev && (rc = events_next(ev, &e, err)) > 0) {
		const struct event_comm *comm = events_comm(ev, e.comm);
		struct offcpu_stack at;
		struct wait_place p;

		if (!stacks_group_of(r->stacks, &e, &g) ||
		    r->stacks->event[g.event].point || comm->tid <= 0)
			continue;
		at = (struct offcpu_stack){ .type = g.type,
					    .comm = g.comm,
					    .kraw = g.kraw,
					    .uraw = g.uraw };
		p = wait_causes_place(r->words, &at);
		*mem_add(code->at, code->n,
			 code->cap) = (struct path_code_sample){
			e.time, causes_thread_number(r->causes, comm->thread),
			p.has_in ? p.in : TIMELINE_NONE, at
		};
	}
	events_close(ev);
	sort_items(code->at, code->n, path_compare_code);
	return ev ? rc : -1;
}

const struct path_code_sample *path_code_of(const struct path_code *code,
					    uint32_t thread, int64_t from,
					    int64_t to, size_t *n)
{
	size_t first = search_where(code->n, k,
				    code->at[k].thread > thread ||
					    (code->at[k].thread == thread &&
					     code->at[k].time >= from));

	*n = search_where(code->n, k,
			  code->at[k].thread > thread ||
				  (code->at[k].thread == thread &&
				   code->at[k].time >= to)) -
	     first;
	return *n ? code->at + first : NULL;
}

const char *path_code_in(const struct path_code *code, const struct path_run *r,
			 uint32_t thread, int64_t from, int64_t to)
{
	size_t all, votes = 0, has = 0;
	const struct path_code_sample *at =
		path_code_of(code, thread, from, to, &all);
	uint32_t in = TIMELINE_NONE;

	/* majority vote: only a function with more than half of the samples can
	 * remain */
	for (size_t i = 0; i < all; i++) {
		if (!votes)
			in = at[i].in;
		votes += at[i].in == in ? 1 : (size_t)-1;
	}
	for (size_t i = 0; i < all; i++)
		has += at[i].in == in;
	return in == TIMELINE_NONE || has * 2 <= all
		       ? ""
		       : label_shown(labels_get(r->labels, in));
}

/* ---- locks */

void path_locks_release(struct path_locks *l)
{
	free(l->lock);
	intern_release(&l->stack);
}

bool path_locks_is(struct path_locks *l, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(l->r->causes, event);
	struct label_list f = { 0 };
	struct stacks_group g;
	uint32_t id;

	if (!at)
		return false;
	id = intern_add_bytes(&l->stack, &at, sizeof(at));
	if (id < l->n)
		return l->lock[id];
	g = offcpu_group(at);
	stacks_get(l->r->stacks, &g, &f);
	mem_reach(l->lock, l->n, l->cap, id + 1u);
	for (size_t i = 0; i < f.n && !l->lock[id]; i++)
		l->lock[id] = wait_cause_is_lock(
			labels_get(l->r->labels, f.label[i])->name);
	free(f.label);
	return l->lock[id];
}

const char *path_locks_in(struct path_run *r, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(r->causes, event);
	const struct label *f = NULL;
	bool missing;

	/* no kernel function shows which futex it is */
	for (int kernel = 0; at && !f && kernel < 2; kernel++)
		if (!kernel || wait_causes_get(r->words, -1, at) != WAIT_FUTEX)
			f = wait_causes_caller(r->words, at->kraw, at->uraw,
					       kernel, &missing);
	return f ? label_shown(f) : "code that is not known";
}

int64_t path_locks_on_way(struct path_locks *l, const struct chain *c,
			  const struct chain_segment *s)
{
	for (uint32_t i = s->depth; i-- > 0;) {
		const struct proof_edge e =
			proofs_edge(l->r->proofs, c->path[s->path + i]);
		int64_t out = proofs_piece(l->r->proofs, e.waiter,
					   proofs_find(l->r->proofs, e.waiter,
						       s->from))
				      .out;

		if (chain_leaf(&e) == CHAIN_STATES && path_locks_is(l, out))
			return out;
	}
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
	intern_add(&r->details, ""); /* PATH_ELSEWHERE */
	so.labels = r->labels = labels_new();
	r->stacks = stacks_load(db, &so, err);
	if (!r->stacks)
		return -1;
	labels_shorten(r->labels, &r->names);
	r->words = wait_causes_new(r->stacks);
	r->causes = causes_load(db, path, r->words, err);
	if (!r->causes)
		return -1;
	if (r->calls && !(r->files = files_load(db, r->causes->kernel, err)))
		return -1;
	r->t = r->causes->t;
	r->proofs = proofs_new(r->t);
	return 0;
}

void path_close(struct path_run *r)
{
	proofs_free(r->proofs);
	files_free(r->files);
	intern_release(&r->details);
	causes_free(r->causes);
	wait_causes_free(r->words);
	stacks_free(r->stacks);
	labels_free(r->labels);
}

const char *path_comm(const struct path_run *r, uint32_t thread)
{
	return causes_comm(r->causes, timeline_tid(r->t, thread));
}

const char *path_tell(const struct path_run *r, uint32_t thread)
{
	return causes_name(r->causes, timeline_tid(r->t, thread));
}

WORDS_FUNCTION(path_context,
	       enum timeline_context, [CONTEXT_UNKNOWN] = "unknown",
	       [CONTEXT_TASK] = "task", [CONTEXT_INLINE] = "softirq-inline",
	       [CONTEXT_SOFTIRQ] = "softirq",
	       [CONTEXT_SOFTIRQ_UNKNOWN] = "softirq", [CONTEXT_DISK] = "disk",
	       [CONTEXT_TIMER] = "hardirq", [CONTEXT_HARDIRQ] = "hardirq",
	       [CONTEXT_NMI] = "nmi", [CONTEXT_SIGNAL] = "signal");

const char *path_edge_kind(const struct proof_edge *e)
{
	static const char *const kind[] = { "wake", "fork", "deduced" };

	return kind[e->kind];
}

int32_t path_edge_waker(const struct proof_edge *e)
{
	switch (e->context) {
	case CONTEXT_TASK:
	case CONTEXT_SIGNAL:
	case CONTEXT_INLINE:
	case CONTEXT_UNKNOWN:
		return e->waker;
	default:
		return 0;
	}
}

const char *path_function(struct path_run *r, int64_t event)
{
	const struct offcpu_stack *at = causes_stack(r->causes, event);
	struct wait_place p;

	if (!at)
		return "";
	p = wait_causes_place(r->words, at);
	return wait_causes_in(r->words, &p);
}

/* ---- chains */

const char *path_doing(enum chain_state s)
{
	switch (s) {
	case CHAIN_RUN:
		return "computing";
	case CHAIN_HELD:
		return "not run, cause not recorded";
	case CHAIN_TIMER:
		return "in a timer";
	case CHAIN_DISK:
		return "waiting for a disk";
	case CHAIN_HARDIRQ:
	case CHAIN_SOFTIRQ:
		return "waiting for an interrupt";
	case CHAIN_IDLE:
		return "waiting, woken by an idle CPU";
	case CHAIN_SIGNAL:
		return "waiting, ended by a signal";
	case CHAIN_UNKNOWN:
		return "not known";
	default:
		return chain_state_word(s);
	}
}

/* Returns the cause of a segment's wait. */
static enum wait_cause path_cause(const struct path_run *r,
				  const struct chain_segment *s)
{
	const struct proof_piece pc =
		proofs_piece(r->proofs, s->thread,
			     proofs_find(r->proofs, s->thread, s->from));

	return wait_causes_get(r->words, pc.bits,
			       causes_stack(r->causes, s->out));
}

enum wait_cause path_interrupted(const struct path_run *r,
				 const struct chain *c,
				 const struct chain_segment *s)
{
	struct proof_edge e;

	if (s->state != CHAIN_HARDIRQ)
		return WAIT_UNKNOWN;
	e = proofs_edge(r->proofs, c->path[s->path + s->depth - 1]);
	return causes_irq(r->causes, &e) ? WAIT_UNKNOWN : path_cause(r, s);
}

void path_chain(struct path_run *r, uint32_t thread, int64_t from, int64_t to,
		struct chain *c)
{
	const struct chain_ask ask = {
		.thread = thread,
		.from = from,
		.to = to,
		.depth = r->ask->depth,
	};

	chain_walk(c, r->proofs, r->t, &ask);
	for (size_t i = 0; i < c->n; i++)
		if (path_interrupted(r, c, &c->segment[i]) == WAIT_TIMER)
			c->segment[i].state = CHAIN_TIMER;
	/* With --proved, likely segments count as not known. */
	for (size_t i = 0; r->ask->proved && i < c->n; i++) {
		if (c->segment[i].proof != PROOF_LIKELY)
			continue;
		c->segment[i].proof = PROOF_UNKNOWN;
		c->segment[i].state = CHAIN_UNKNOWN;
	}
	r->sum.asked += (uint64_t)to - (uint64_t)from;
	r->sum.proved += path_with(c, PROOF_PROVED);
	r->sum.unknown += path_with(c, PROOF_UNKNOWN);
	r->sum.ready_if |= chain_ready_if(c, r->proofs, r->t);
}

struct path_sum path_first(const struct path_run *r, const struct chain *c,
			   const struct chain_segment *s)
{
	struct path_sum first = {
		.thread = TIMELINE_NONE,
		.state = s->state,
		.proof = s->proof,
		.ns = (uint64_t)s->to - (uint64_t)s->from,
	};
	struct proof_edge e;

	if (!s->depth)
		return first;
	e = proofs_edge(r->proofs, c->path[s->path]);
	if (chain_leaf(&e) == CHAIN_STATES) {
		if (e.context != CONTEXT_SIGNAL)
			first.state = CHAIN_BLOCKED;
		first.thread = timeline_thread(r->t, e.waker);
	}
	return first;
}

uint64_t path_with(const struct chain *c, enum proof proof)
{
	uint64_t ns = 0;

	for (size_t i = 0; i < c->n; i++)
		if (c->segment[i].proof == proof)
			ns += (uint64_t)c->segment[i].to -
			      (uint64_t)c->segment[i].from;
	return ns;
}

COMPARE_BY(path_compare_keys, struct path_sum, thread, state, proof, lock,
	   cause, detail);

COMPARE_LARGEST_BY(path_compare_sums, struct path_sum, ns, thread, state, proof,
		   lock, cause, detail);

size_t path_add_up(struct path_sum *sum, size_t n)
{
	size_t sums = 0;

	sort_items(sum, n, path_compare_keys);
	for (size_t i = 0; i < n; i++)
		if (sums && !path_compare_keys(&sum[sums - 1], &sum[i]))
			sum[sums - 1].ns += sum[i].ns;
		else
			sum[sums++] = sum[i];
	sort_items(sum, sums, path_compare_sums);
	return sums;
}

size_t path_add_details(struct path_sum *sum, size_t n)
{
	size_t sums = 0;

	n = path_add_up(sum, n);
	sort_items(sum, n, path_compare_keys);
	for (size_t i = 0, end; i < n; i = end) {
		struct path_sum one = sum[i];
		uint64_t most = 0, known = 0, ns;

		one.ns = 0;
		for (end = i; end < n; end++) {
			struct path_sum other = sum[end];

			other.detail = sum[i].detail;
			if (path_compare_keys(&other, &sum[i]))
				break;
			ns = sum[end].detailed ?: sum[end].ns;
			one.ns += sum[end].ns;
			known += sum[end].detail ? ns : 0;
			if (sum[end].detail && ns > most) {
				most = ns;
				one.detail = sum[end].detail;
			}
		}
		one.detailed = most;
		if (most <= known / 2 && one.state != CHAIN_READY)
			one.detail = 0;
		sum[sums++] = one;
	}
	sort_items(sum, sums, path_compare_sums);
	return sums;
}

size_t path_add_names(const struct path_run *r, struct path_sum *sum, size_t n,
		      uint32_t but)
{
	struct path_name {
		uint32_t most, threads, first;
		uint64_t ns, most_ns;
	} *name = NULL, *of;
	struct intern names = { 0 };
	size_t n_name = 0, cap = 0;
	uint64_t ns;

	sort_items(sum, n, path_compare_keys);
	for (int merge = 0; merge < 2; merge++)
		for (size_t i = 0, end; i < n; i = end) {
			uint32_t thread = sum[i].thread;

			ns = 0;
			for (end = i; end < n && sum[end].thread == thread;)
				ns += sum[end++].ns;
			if (thread == but || thread >= r->t->n_thread ||
			    !*path_comm(r, thread))
				continue;
			of = mem_at(name, n_name, cap,
				    intern_add(&names, path_comm(r, thread)));
			if (!merge) {
				const int32_t tid = timeline_tid(r->t, thread);

				of->threads++;
				of->first += causes_pid(r->causes, tid) == tid;
				of->ns += ns;
				if (ns > of->most_ns) {
					of->most = thread;
					of->most_ns = ns;
				}
			} else if (of->most_ns < of->ns / 2) {
				for (size_t k = i; k < end; k++) {
					sum[k].thread = of->most;
					sum[k].others = of->threads - 1;
					sum[k].processes =
						of->first == of->threads;
				}
			}
		}
	intern_release(&names);
	free(name);
	return path_add_details(sum, n);
}

struct path_sum *path_sums(const struct path_run *r, const struct chain *c,
			   bool by_proof, size_t *n)
{
	struct path_sum *sum = mem_new(c->n + 1, sizeof(*sum));

	for (size_t i = 0; i < c->n; i++) {
		const struct chain_segment *s = &c->segment[i];

		sum[i] = (struct path_sum){
			.thread = s->thread,
			.state = s->state,
			.proof = by_proof ? s->proof : PROOF_UNKNOWN,
			.ns = (uint64_t)s->to - (uint64_t)s->from,
		};
		if (r && s->state == CHAIN_TIMER &&
		    path_cause(r, s) == WAIT_TIMER)
			sum[i].cause = WAIT_TIMER;
	}
	*n = path_add_up(sum, c->n);
	return sum;
}

/* ---- whose */

/* Returns whether the options select a thread. */
static bool path_selects(const struct path_run *r, uint32_t thread)
{
	const struct path_ask *o = r->ask;

	return (o->tid < 0 || timeline_tid(r->t, thread) == o->tid) &&
	       (o->pid < 0 ||
		causes_pid(r->causes, timeline_tid(r->t, thread)) == o->pid) &&
	       (!o->comm || !strcmp(path_comm(r, thread), o->comm));
}

struct path_wait path_wait_of(struct path_run *r, uint32_t thread, size_t piece,
			      size_t *end)
{
	struct proof_piece pc;

	proofs_pieces(r->proofs, thread);
	pc = proofs_piece(r->proofs, thread, piece);
	*end = proofs_wait_end(r->proofs, thread, piece);
	return (struct path_wait){
		.thread = thread,
		.piece = (uint32_t)piece,
		.from = pc.from,
		.to = proofs_piece(r->proofs, thread, *end - 1).to,
		.out = pc.out,
		.bits = pc.bits,
	};
}

bool path_next_of_thread(struct path_run *r, struct path_walk *at,
			 struct path_wait *out)
{
	size_t n = proofs_pieces(r->proofs, at->thread);

	while (at->piece < n) {
		const struct proof_piece pc =
			proofs_piece(r->proofs, at->thread, at->piece);

		if (pc.state == PIECE_RUN) {
			at->piece++;
			continue;
		}
		/* A wait is between two runs: the time before the first and
		 * after the last has no known length. Between a thread that
		 * ended and one that got its tid, no thread waits. */
		*out = path_wait_of(r, at->thread, at->piece, &at->piece);
		if (pc.state != PIECE_DEAD && pc.state != PIECE_UNBORN &&
		    !pc.came && out->from != TIMELINE_START &&
		    out->to != TIMELINE_END &&
		    !(r->ask->timed &&
		      (out->to <= r->ask->from || out->from >= r->ask->to)))
			return true;
	}
	return false;
}

bool path_next_wait(struct path_run *r, struct path_walk *at,
		    struct path_wait *out)
{
	for (; at->thread < r->t->n_thread; at->thread++, at->piece = 0) {
		if ((at->piece || path_selects(r, at->thread)) &&
		    path_next_of_thread(r, at, out))
			return true;
		/* chains need the pieces of many threads, a list of waits does
		 * not */
		if (!r->sum.asked)
			proofs_forget(r->proofs);
	}
	return false;
}

/* Sets *err: the capture has no such thread. Returns -1. */
static int path_no_thread(const struct path_run *r, struct err *err)
{
	char *word = safe_text_word(r->path);

	err_set(err, ERR_USAGE,
		"%s: no switch or wake-up of such a thread is recorded; "
		"'backstitch path %s' lists those that waited longest",
		r->path, word);
	free(word);
	return -1;
}

uint32_t path_asker(struct path_run *r, struct err *err)
{
	uint32_t found = TIMELINE_NONE;

	for (uint32_t i = 0; i < r->t->n_thread; i++) {
		if (!path_selects(r, i))
			continue;
		if (found != TIMELINE_NONE) {
			err_set(err, ERR_USAGE,
				"there are several such threads, %d and %d "
				"among them; choose one with --tid",
				timeline_tid(r->t, found),
				timeline_tid(r->t, i));
			return TIMELINE_NONE;
		}
		found = i;
	}
	if (found == TIMELINE_NONE)
		path_no_thread(r, err);
	return found;
}

int path_no_waits(const struct path_run *r, struct err *err)
{
	bool some = r->ask->tid >= 0 || r->ask->pid >= 0 || r->ask->comm;
	/* that a whole recording has none is no fault of the options */
	enum err_code code = some || r->ask->timed ? ERR_USAGE : ERR_FORMAT;
	bool recorder = false;
	size_t threads = 0;
	size_t stays = 0;

	for (uint32_t i = 0; i < r->t->n_thread; i++) {
		if (!path_selects(r, i))
			continue;
		threads++;
		stays += lists_get(&r->t->stays, i).n;
		recorder |= r->t->thread[i].recorder;
	}
	if (some && !threads)
		return path_no_thread(r, err);
	if (!stays)
		return err_set(err, code,
			       "%s: no record shows %s on a CPU, so no wait "
			       "has a begin or an end%s",
			       r->path, some ? "that thread" : "a thread",
			       recorder ? "; it is the recorder's, whose "
					  "records may be missing"
					: "");
	return err_set(err, code, "%s: %s left a CPU and came back%s", r->path,
		       some ? "the thread was seen on a CPU, but never"
			    : "no thread",
		       r->ask->timed ? " in this time" : " in this capture");
}

int path_program_find(const struct path_run *r, struct path_program *out,
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
		out->thread = timeline_thread(r->t, causes_id(pid));
		if (out->thread != TIMELINE_NONE && out->from < out->to &&
		    causes_kernel_has(r->causes->kernel,
				      rows_int(q, PATH_PROGRAM_CAPTURE)) &&
		    out->from >= first && out->to <= last)
			out->pid = pid;
	}
	return rows_end(q, err);
}
