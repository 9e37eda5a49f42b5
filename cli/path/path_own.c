/* path_own.c - a chain as JSON; and sums of what threads did themselves and for
 * whom they waited, in a program's time or in all calls of one name. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/account.h"
#include "analyze/causes/causes.h"
#include "analyze/causes/chain.h"
#include "analyze/causes/offcpu.h"
#include "analyze/causes/wake_context.h"
#include "analyze/latency/files.h"
#include "analyze/latency/intervals.h"
#include "analyze/path/path_run.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stack_names.h"
#include "analyze/stacks/stacks.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

/* ---- a chain as JSON */

void path_json_evidence(const struct path_run *r, struct json *j, int64_t from,
			int64_t to)
{
	static const char *const type[] = { "sched_switch", "sched_waking",
					    "sched_wakeup" };
	const struct timeline_loss *l = NULL;
	uint64_t n = 0;
	uint64_t losses = 0;
	struct causes_premise premise = causes_premise(r->causes);

	for (; (l = timeline_next_loss(r->t, from, to, l)); losses++)
		n += l->n > 0 ? (uint64_t)l->n : 0;
	json_object(j, "evidence");
	json_uint(j, "lost", n);
	json_uint(j, "losses", losses);
	json_uint(j, "contradictions", r->t->contradictions);
	json_array(j, "types");
	for (unsigned int i = 0; i < 3; i++)
		if (r->t->types >> i & 1)
			json_text(j, NULL, type[i]);
	json_end(j);
	json_text(j, "partial", r->causes->partial.why);
	json_text(j, "cure", r->causes->partial.cure);
	json_text(j, "premise", premise.words);
	json_text(j, "softirq_premise", premise.cards);
	json_text(j, "blind", premise.none);
	json_end(j);
}

/* Writes the functions of an event's stack, outermost first. */
static void path_json_stack(struct path_run *r, struct json *j, const char *key,
			    int64_t event)
{
	const struct offcpu_stack *at = causes_stack(r->causes, event);
	struct label_list l = { 0 };
	struct stacks_group g;

	if (!at)
		return;
	g = offcpu_group(at);
	stacks_get(r->stacks, &g, &l);
	json_array(j, key);
	for (size_t i = 0; i < l.n; i++)
		json_text(j, NULL, labels_get(r->labels, l.label[i])->name);
	json_end(j);
	free(l.label);
}

static void path_json_segment(struct path_run *r, struct json *j,
			      const struct chain *c,
			      const struct chain_segment *s)
{
	const struct timeline_loss *l = NULL;
	struct files_call call;
	int32_t on_cpu = s->state == CHAIN_READY ? chain_on_cpu(r->t, s) : -1;

	json_object(j, NULL);
	json_int(j, "from_ns", s->from);
	json_int(j, "to_ns", s->to);
	json_int(j, "tid", timeline_tid(r->t, s->thread));
	json_text(j, "comm", path_comm(r, s->thread));
	json_text(j, "state", chain_state_word(s->state));
	json_text(j, "proof", proof_key(s->proof));
	json_uint(j, "depth", s->depth);
	json_array(j, "edges");
	for (uint32_t i = 0; i < s->depth; i++)
		json_uint(j, NULL, c->path[s->path + i]);
	json_end(j);
	json_int_or_null(j, "cpu", s->cpu, s->cpu >= 0);
	json_int_or_null(j, "on_cpu_tid", on_cpu, on_cpu >= 0);
	if (s->state == CHAIN_READY || s->state == CHAIN_THROTTLED ||
	    s->state == CHAIN_HELD) {
		const struct limits_answer held = chain_held(r->proofs, s);

		json_object(j, "limits");
		json_bool(j, "known", held.known && !held.cgroup);
		json_text(j, "cgroup", held.cgroup);
		json_bool(j, "frozen", held.frozen);
		json_int(j, "periods", held.periods);
		json_int(j, "throttled", held.throttled);
		json_int(j, "stolen_ns", held.stolen);
		json_text(j, "cpus", held.cpus);
		json_int_or_null(j, "idle_cpu", held.idle, held.idle >= 0);
		json_bool(j, "real_time", held.real_time);
		json_end(j);
	}
	if (files_call(r->files, timeline_tid(r->t, s->thread), s->from, s->to,
		       &call)) {
		json_object(j, "call");
		json_text(j, "name", call.call);
		json_int(j, "descriptor", call.fd);
		json_text(j, "file", call.name);
		json_end(j);
	}
	json_array(j, "losses");
	while (s->open && (l = timeline_next_loss_in(r->t, s->from, s->to, l)))
		if (l->id > 0)
			json_int(j, NULL, l->id);
	json_end(j);
	path_json_stack(r, j, "waiter_stack", s->out);
	json_end(j);
}

void path_json(struct path_run *r, struct json *j, uint32_t thread,
	       int64_t from, int64_t to)
{
	struct chain c RELEASED_BY(chain_release) = { 0 };
	struct path_sum *sum OWNED = NULL;
	size_t n;

	path_chain(r, thread, from, to, &c);
	json_object(j, "thread");
	json_int(j, "tid", timeline_tid(r->t, thread));
	json_text(j, "comm", path_comm(r, thread));
	json_end(j);
	json_int(j, "from_ns", from);
	json_int(j, "to_ns", to);
	path_json_evidence(r, j, from, to);
	sum = path_sums(NULL, &c, true, &n);
	json_array(j, "sums");
	for (size_t i = 0; i < n; i++) {
		json_object(j, NULL);
		json_int(j, "tid", timeline_tid(r->t, sum[i].thread));
		json_text(j, "comm", path_comm(r, sum[i].thread));
		json_text(j, "state", chain_state_word(sum[i].state));
		json_text(j, "proof", proof_key(sum[i].proof));
		json_uint(j, "ns", sum[i].ns);
		json_end(j);
	}
	json_end(j);
	json_array(j, "segments");
	for (size_t i = 0; i < c.n; i++)
		path_json_segment(r, j, &c, &c.segment[i]);
	json_end(j);
	size_t count;
	uint32_t *id OWNED = chain_edges(&c, &count);

	json_array(j, "edges");
	for (size_t k = 0; k < count; k++) {
		const struct proof_edge one = proofs_edge(r->proofs, id[k]);
		const struct proof_edge *e = &one;

		json_object(j, NULL);
		json_uint(j, "id", id[k]);
		json_int(j, "at_ns", e->time);
		json_int(j, "waiter", timeline_tid(r->t, e->waiter));
		json_int(j, "waker", path_edge_waker(e));
		json_int(j, "current", e->waker);
		json_text(j, "kind", path_edge_kind(e));
		json_text(j, "context", path_context(e->context));
		json_text(j, "what",
			  wake_contexts_what(r->causes->contexts, e));
		json_int_or_null(j, "cpu", e->cpu, e->cpu >= 0);
		json_text(j, "proof", proof_key(e->proof));
		json_int_or_null(j, "event", e->event, e->event != 0);
		json_int(j, "from_ns", e->from);
		json_int(j, "to_ns", e->to);
		path_json_stack(r, j, "waker_stack", e->event);
		json_end(j);
	}
	json_end(j);
}

uint32_t path_call(struct path_run *r, uint32_t thread, int64_t time,
		   enum wait_cause *cause)
{
	size_t piece = proofs_find(r->proofs, thread, time), end;
	const struct path_wait w = path_wait_of(r, thread, piece, &end);
	struct files_call c;
	char *text OWNED = NULL;

	if (!files_call(r->files, timeline_tid(r->t, thread), w.from, w.to, &c))
		return c.elsewhere ? PATH_ELSEWHERE : 0;
	if (cause)
		*cause = wait_cause_of_call(c.call);
	text = mem_printf(c.name ? "%s of descriptor %" PRId64 " (%s)"
				 : "%s of descriptor %" PRId64,
			  c.call, c.fd, c.name);
	return intern_add(&r->details, text) + 1;
}

/* Moves the time in which another thread had the CPU of s from *p to the
 * result. own: the process of "its own threads"; -1: none. */
static struct path_sum own_take_behind(struct path_run *r,
				       const struct chain_segment *s,
				       int64_t own, struct path_sum *p)
{
	struct path_sum out = *p;
	struct occupant o;
	const char *text;
	int32_t tid;

	out.ns = 0;
	if (s->cpu < 0 || !account_occupant(r->t, s->cpu, s->from, s->to, &o) ||
	    o.thread == TIMELINE_NONE || o.ns > p->ns)
		return out;
	tid = timeline_tid(r->t, o.thread);
	text = own >= 0 && causes_pid(r->causes, tid) == own
		       ? "its own threads"
		       : causes_comm(r->causes, tid);
	out.detail = intern_add(&r->details, text) + 1;
	out.ns = o.ns;
	p->ns -= o.ns;
	return out;
}

/* Sets p->cause if it is to be printed: for memory, guests, and timeouts that
 * are no sleep; and p->detail if none is known, but the stack shows a call that
 * is not on a descriptor. call: the cause by the system call, if no stack shows
 * one. */
static void own_set_cause(struct path_run *r, struct path_sum *p,
			  const struct proof_piece *pc, enum wait_cause call)
{
	enum wait_cause cause = wait_causes_get(
		r->words, pc->bits, causes_stack(r->causes, pc->out));

	switch (cause) {
	case WAIT_FUTEX:
	case WAIT_TIMER:
	case WAIT_CHILD:
	case WAIT_SIGNAL:
	case WAIT_CLONE:
	case WAIT_EXEC:
	case WAIT_EXIT:
		p->detail = p->detail ?: PATH_ELSEWHERE;
		break;
	case WAIT_UNKNOWN:
		cause = call;
		break;
	default:
		break;
	}
	switch (cause) {
	case WAIT_FAULT:
	case WAIT_RECLAIM:
	case WAIT_SWAP:
	case WAIT_NUMA:
	case WAIT_DIRTY:
	case WAIT_GUEST:
		p->cause = (uint8_t)cause;
		break;
	case WAIT_FUTEX:
	case WAIT_POLL:
	case WAIT_SOCKET:
		if (p->state == CHAIN_TIMER)
			p->cause = (uint8_t)cause;
		break;
	default:
		break;
	}
}

struct path_sum *path_own(struct path_run *r, const struct chain *c,
			  uint32_t thread, int64_t process, size_t *n)
{
	struct path_sum *part = mem_new(c->n * 2 + 1, sizeof(*part));
	struct path_locks locks RELEASED_BY(path_locks_release) = { .r = r };
	size_t more = c->n;

	for (size_t i = 0; i < c->n; i++) {
		const struct chain_segment *s = &c->segment[i];
		struct path_sum *p = &part[i];
		const struct proof_piece pc =
			proofs_piece(r->proofs, thread,
				     proofs_find(r->proofs, thread, s->from));

		*p = path_first(r, c, s);
		p->proof = PROOF_UNKNOWN;
		if (p->state == CHAIN_READY)
			part[more++] = own_take_behind(r, s, process, p);
		if (p->state == CHAIN_RUN || p->state == CHAIN_READY ||
		    p->state == CHAIN_UNKNOWN)
			continue;
		enum wait_cause call = WAIT_UNKNOWN;

		p->detail = path_call(r, thread, s->from, &call);
		own_set_cause(r, p, &pc, call);
		if (p->thread == TIMELINE_NONE)
			continue;
		p->lock = path_locks_is(&locks, pc.out);
		if (process >= 0 &&
		    causes_pid(r->causes, timeline_tid(r->t, p->thread)) ==
			    process)
			p->thread = PATH_OWN;
	}
	*n = path_add_up(part, more);
	return part;
}

bool path_put_function(FILE *out, const char *before, const char *f)
{
	if (!*f || *f == '[' || strstr(f, "< " STACK_NAMES_GAP))
		return false;
	safe_text_say(out, before, f, "");
	return true;
}

bool path_put_several(const struct path_run *r, const struct path_sum *s,
		      FILE *out)
{
	if (!s->others)
		return false;
	safe_text_put(out, path_comm(r, s->thread), 0, 0);
	fprintf(out, " (%s %s)", HUMAN_GROUPED(s->others + 1ULL),
		s->processes ? "processes" : "threads");
	return true;
}

/* Writes "waiting for prog (4711)" of a sum. in: as in path_put_own(). */
static void own_put(const struct path_run *r, const struct path_sum *p,
		    const char *in, FILE *out)
{
	const char *cause = wait_cause_word((enum wait_cause)p->cause);

	if (p->state == CHAIN_RUN) {
		fputs("computing", out);
		path_put_function(out, " in ", in);
	} else if (p->state == CHAIN_TIMER) {
		fputs(*cause ? "waiting for a timeout" : "sleeping", out);
	} else if (p->state != CHAIN_BLOCKED && p->state != CHAIN_SIGNAL) {
		fputs(path_doing(p->state), out);
	} else if (p->thread == TIMELINE_NONE) {
		fputs("waiting, woken by whom is not known", out);
	} else {
		fputs(p->state == CHAIN_SIGNAL
			      ? "waiting, ended by a signal of "
		      : p->lock ? "waiting for a lock that "
				: "waiting for ",
		      out);
		if (p->thread == PATH_OWN) {
			fputs("its own threads", out);
		} else if (!path_put_several(r, p, out)) {
			safe_text_put(out, path_comm(r, p->thread), 0, 0);
			fprintf(out, " (%d)", timeline_tid(r->t, p->thread));
		}
		fputs(p->lock && p->state == CHAIN_BLOCKED ? " released" : "",
		      out);
	}
	if (*cause)
		fprintf(out, " (%s)", cause);
	if (p->detail <= PATH_ELSEWHERE)
		return;
	if (p->state == CHAIN_READY)
		fprintf(out, ", %s of it while ",
			HUMAN_PERCENT(p->detailed, p->ns));
	else
		fputs(" in ", out);
	safe_text_put(out, intern_get(&r->details, p->detail - 1), 0, 0);
	fputs(p->state == CHAIN_READY ? " had its CPU" : "", out);
}

/* How long, and how often, the threads of a process freed memory. */
struct own_memory {
	struct intervals *iv;
	const struct causes *causes;
	int64_t pid, from, to;
	struct {
		uint64_t ns, n;
	} of[2]; /* reclaim, compaction */
};

/* Adds an interval to a struct own_memory if it is proved and in its time. */
static void own_take_memory(void *arg, const struct interval *i)
{
	struct own_memory *m = arg;
	const bool compacts =
		!strcmp(m->iv->pair[i->pair].kind->word, "compaction");

	if (i->verdict != INTERVAL_PROVED || i->begin < m->from ||
	    i->end > m->to ||
	    intervals_thread(m->iv, i->thread)->pid != m->pid ||
	    causes_thread_number(m->causes, i->thread) == TIMELINE_NONE)
		return;
	m->of[compacts].ns += (uint64_t)(i->end - i->begin);
	m->of[compacts].n++;
}

void path_put_memory(const struct path_run *r, int64_t pid, int64_t from,
		     int64_t to, FILE *out)
{
	const struct intervals_ask ask = { .kind = "reclaim",
					   .also = "compaction",
					   .any = true };
	struct err err;
	struct own_memory m = {
		.iv = intervals_open(r->db, r->path, &ask, &err),
		.causes = r->causes,
		.pid = pid,
		.from = from,
		.to = to,
	};
	const char *before = "; its threads took ";

	if (m.iv && !intervals_each(m.iv, own_take_memory, &m, &err))
		for (size_t k = 0; k < ARRAY_SIZE(m.of); k++) {
			if (!m.of[k].n)
				continue;
			fprintf(out, "%s%s for %s of memory, %s", before,
				HUMAN_NS(m.of[k].ns),
				k ? "compaction" : "reclaim",
				HUMAN_NOUN(m.of[k].n, "time"));
			before = ", ";
		}
	intervals_close(m.iv);
}

#define OWN_SHOWN 5

void path_put_own(const struct path_run *r, struct path_sum *own, size_t n,
		  uint64_t all, const char *in, FILE *out)
{
	n = path_add_names(r, own, n, TIMELINE_NONE);
	for (size_t i = 0; i < n && i < OWN_SHOWN; i++) {
		fprintf(out, "%s%s ", i ? ", " : " ",
			HUMAN_PERCENT(own[i].ns, all));
		own_put(r, &own[i], in, out);
	}
}
