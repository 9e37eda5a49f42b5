/* path_own.c - what a thread itself did, and for whom it waited: of a program
 * all the time, or in all calls of one name. */
#include "cli/path/path.h"

#include <inttypes.h>

#include "analyze/causes/account.h"
#include "analyze/causes/causes.h"
#include "analyze/causes/chain.h"
#include "analyze/latency/files.h"
#include "analyze/latency/intervals.h"
#include "analyze/path/path_run.h"
#include "analyze/stacks/stack_names.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/text/human.h"
#include "stitch/text/safe_text.h"

#define OWN_SHOWN 5

uint32_t path_call(struct path_run *r, uint32_t thread, int64_t time,
		   enum wait_cause *cause)
{
	size_t piece = proofs_find(r->proofs, thread, time), end;
	const struct path_wait w = path_wait_of(r, thread, piece, &end);
	struct files_call c;
	char *text OWNED = NULL;
	uint32_t id;

	if (!files_call(r->files, timeline_tid(r->t, thread), w.from, w.to, &c))
		return 0;
	if (cause)
		*cause = wait_cause_of_call(c.call);
	text = mem_printf(c.name ? "%s of descriptor %" PRId64 " (%s)"
				 : "%s of descriptor %" PRId64,
			  c.call, c.fd, c.name);
	id = intern_add(&r->details, text) + 1;
	return id;
}

/* Takes the time that one other thread had the CPU for which p was ready out of
 * it, as a part of its own. own: the process of which threads have no names. */
static struct path_sum own_take_behind(struct path_run *r,
				       const struct chain_segment *s,
				       int64_t own, struct path_sum *p)
{
	struct path_sum out = *p;
	struct occupant o;
	int32_t tid;
	char *text;

	out.ns = 0;
	if (s->cpu < 0 || !account_occupant(r->t, s->cpu, s->from, s->to, &o) ||
	    o.thread == TIMELINE_NONE || o.ns > p->ns)
		return out;
	tid = timeline_tid(r->t, o.thread);
	text = own >= 0 && causes_pid(r->causes, tid) == own
		       ? mem_strdup("its own threads")
		       : mem_strdup(causes_comm(r->causes, tid));
	out.detail = intern_add(&r->details, text) + 1;
	free(text);
	out.ns = o.ns;
	p->ns -= o.ns;
	return out;
}

/* Sets what of the cause of a wait is printed: what memory is wanted for, and
 * what ended by a timeout that is no sleep. call: by the call that was read,
 * for a wait whose stack does not tell. */
static void own_set_cause(struct path_run *r, struct path_sum *p,
			  const struct proof_piece *pc, enum wait_cause call)
{
	enum wait_cause cause = wait_causes_get(
		r->words, pc->bits, causes_stack(r->causes, pc->out));

	if (cause == WAIT_UNKNOWN)
		cause = call;
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

/* in: the function in which it computed. */
static void own_put(const struct path_run *r, const struct path_sum *p,
		    const char *in, FILE *out)
{
	const char *cause = wait_cause_word((enum wait_cause)p->cause);

	if (p->state == CHAIN_RUN) {
		fputs("computing", out);
		path_put_function(out, " in ", in);
	} else if (p->state == CHAIN_TIMER) {
		fputs(*cause ? "waiting for a timeout" : "sleeping", out);
	} else if (p->state != CHAIN_BLOCKED) {
		fputs(path_doing(p->state), out);
	} else if (p->thread == TIMELINE_NONE) {
		fputs("waiting, woken by whom is not known", out);
	} else {
		fputs(p->lock ? "waiting for a lock that " : "waiting for ",
		      out);
		if (p->thread == PATH_OWN) {
			fputs("its own threads", out);
		} else if (!path_put_several(r, p, out)) {
			safe_text_put(out, path_comm(r, p->thread), 0, 0);
			fprintf(out, " (%d)", timeline_tid(r->t, p->thread));
		}
		fputs(p->lock ? " released" : "", out);
	}
	if (*cause)
		fprintf(out, " (%s)", cause);
	if (!p->detail)
		return;
	if (p->state == CHAIN_READY)
		fprintf(out, ", %s of it while ",
			HUMAN_PERCENT(p->detailed, p->ns));
	else
		fputs(" in ", out);
	safe_text_put(out, intern_get(&r->details, p->detail - 1), 0, 0);
	fputs(p->state == CHAIN_READY ? " had its CPU" : "", out);
}

/* How long the threads of a process freed memory, by kind. */
struct own_memory {
	const struct intervals *iv;
	int64_t pid, from, to;
	struct {
		uint64_t ns, n;
	} of[2]; /* reclaim, compaction */
};

static void own_take_memory(void *arg, const struct interval *i)
{
	struct own_memory *m = arg;
	const bool compacts =
		!strcmp(m->iv->pair[i->pair].kind->word, "compaction");

	if (i->verdict != INTERVAL_PROVED || i->begin < m->from ||
	    i->end > m->to || intervals_thread(m->iv, i->thread)->pid != m->pid)
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
	struct own_memory m = { .pid = pid, .from = from, .to = to };
	const char *before = "; its threads took ";
	struct err err;

	struct intervals *iv = intervals_open(r->db, r->path, &ask, &err);

	m.iv = iv;
	if (iv && !intervals_each(iv, own_take_memory, &m, &err))
		for (size_t k = 0; k < ARRAY_SIZE(m.of); k++) {
			if (!m.of[k].n)
				continue;
			fprintf(out, "%s%s for %s of memory, %s", before,
				HUMAN_NS(m.of[k].ns),
				k ? "compaction" : "reclaim",
				HUMAN_NOUN(m.of[k].n, "time"));
			before = ", ";
		}
	intervals_close(iv);
}

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
