/* path_json.c - a chain as JSON. */
#include "cli/path/path.h"

#include <stdlib.h>

#include "analyze/causes/causes.h"
#include "analyze/causes/wake_context.h"
#include "analyze/latency/files.h"
#include "analyze/stacks/label.h"
#include "analyze/causes/offcpu.h"
#include "analyze/stacks/stacks.h"
#include "stitch/text/json.h"

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
		const struct limits_told told = chain_held(r->proofs, s);

		json_object(j, "limits");
		json_bool(j, "known", told.known && !told.cgroup);
		json_text(j, "cgroup", told.cgroup);
		json_bool(j, "frozen", told.frozen);
		json_int(j, "periods", told.periods);
		json_int(j, "throttled", told.throttled);
		json_int(j, "stolen_ns", told.stolen);
		json_text(j, "cpus", told.cpus);
		json_int_or_null(j, "idle_cpu", told.idle, told.idle >= 0);
		json_bool(j, "real_time", told.real_time);
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
