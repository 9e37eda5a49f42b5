/* event.c - makes items of events: their stacks, facts about threads and
 * mappings. */
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/plan.h"
#include "formats/ctf/decode/field.h"

#define CPU_MAX 65536
/* CPUs whose thread is known, in all traces together. */
#define ON_CPU_MAX (1u << 20)
/* Room for the addresses of most events. */
#define STACKS 1024

/* Values of the current event that do not become fields. */
struct event_facts {
	int32_t cpu, pid, tid;
	bool has_ip, has_cookie;
	uint64_t ip, cookie;
};

static int32_t ctf_event_to_s32(int64_t v)
{
	return v < -1 || v > INT32_MAX ? -1 : (int32_t)v;
}

static int32_t ctf_event_id(const struct ctf_state *st, enum ctf_use use,
			    enum ctf_use otherwise)
{
	int32_t v = -1;

	if (st->uses >> use & 1)
		v = ctf_event_to_s32((int64_t)st->use[use]);
	if (v < 0 && st->uses >> otherwise & 1)
		v = ctf_event_to_s32((int64_t)st->use[otherwise]);
	return v;
}

/* A thread that no member names is the one that sched_switch brought to the
 * CPU. */
static void ctf_event_facts(struct ctf_stream *s, const struct ctf_event *ev,
			    const struct bytes *raw, struct event_facts *out)
{
	const struct ctf_state *st = &s->st;
	struct ctf_trace *tr = s->trace;

	*out = (struct event_facts){
		.cpu = s->cpu,
		.pid = ctf_event_id(st, CTF_USE_PID, CTF_USE_VPID),
		.tid = ctf_event_id(st, CTF_USE_TID, CTF_USE_VTID),
		.has_ip = st->uses >> CTF_IP & 1,
		.has_cookie = st->uses >> CTF_COOKIE & 1,
		.ip = st->use[CTF_IP],
		.cookie = st->use[CTF_COOKIE],
	};
	if (st->uses >> CTF_CPU & 1)
		out->cpu = ctf_event_to_s32((int64_t)st->use[CTF_CPU]);
	if (out->pid < 0 && out->tid < 0)
		out->pid = tr->vpid;
	if (out->cpu < 0 || out->cpu >= CPU_MAX)
		return;
	size_t cpu = (size_t)out->cpu;

	if (out->tid < 0 && ev->role == CTF_SWITCH)
		out->tid = ctf_event_to_s32(ctf_number(ev, CTF_TID, raw, -1));
	else if (out->tid < 0 && out->pid < 0 && cpu < tr->n_cpu)
		out->tid = tr->on_cpu[cpu];
	if (ev->role != CTF_SWITCH)
		return;
	if (cpu >= tr->n_cpu) {
		size_t cap = tr->n_cpu;

		if (tr->ctf->n_on_cpu > ON_CPU_MAX)
			return;
		mem_grow(tr->on_cpu, cap, cpu + 1);
		tr->ctf->n_on_cpu += cap - tr->n_cpu;
		for (; tr->n_cpu < cap; tr->n_cpu++)
			tr->on_cpu[tr->n_cpu] = -1;
	}
	tr->on_cpu[cpu] = ctf_event_to_s32(ctf_number(ev, CTF_TID2, raw, -1));
}

static void ctf_event_sched(const struct ctf_event *ev, const struct bytes *raw,
			    struct sched *out)
{
	const enum sched_kind kind =
		event_role_sched((enum event_role)ev->role);

	if (kind == SCHED_NONE)
		return;
	int64_t tid = ctf_number(ev, CTF_TID, raw, -1);

	if (tid < 0)
		return;
	out->kind = kind;
	out->tid = ctf_event_to_s32(tid);
	out->next_tid = ctf_event_to_s32(ctf_number(ev, CTF_TID2, raw, -1));
	/* only the low byte means the same in all kernels: 0 is runnable */
	out->sleeps = (ctf_number(ev, CTF_STATE_OF, raw, 0) & 0xff) != 0;
}

/* An event's item while it is made. Its payload is decoded into the pool where
 * the item will be; an item that keeps no payload has it in ctf->spare. */
struct event_item {
	struct ctf_item *it;
	size_t room, raw_len;
	uint64_t handle;
	size_t extra;
	bool bare;
};

/* Makes the item of the event itself. An address in a context becomes a stack
 * of one frame, except in a request, whose stack comes later. */
static void ctf_event_make(struct ctf_stream *s, const struct ctf_class *cl,
			   const struct event_facts *f, struct event_item *out)
{
	struct ctf_trace *tr = s->trace;
	struct ctf *ctf = tr->ctf;
	struct ctf_state *st = &s->st;
	const struct event_def *def = &ctf->def[cl->event];
	/* the addresses of a chain go to its own item */
	const uint64_t *user = st->user.ip;
	size_t n_user = cl->chain ? 0 : st->user.n;
	bool asks = f->has_cookie && def->defer;
	bool hit = f->has_ip && f->ip && !st->kern.n && !n_user &&
		   !s->schema->perf;

	if (hit && !asks) {
		user = &f->ip;
		n_user = 1;
	}
	/* the addresses stand behind the payload */
	out->raw_len = out->bare ? 0 : st->raw_len;
	out->extra =
		((out->raw_len + 7) & ~(size_t)7) + (st->kern.n + n_user) * 8;
	/* an item that needs more room than was made may get another block of
	 * the pool, so its payload waits in ctf->spare */
	if (!out->bare && sizeof(*out->it) + out->extra > out->room) {
		if (!ctf->spare)
			ctf->spare = mem_new(CTF_PAYLOAD_MAX * 2, 1);
		memcpy(ctf->spare, st->raw, out->raw_len);
		st->raw = ctf->spare;
	}
	struct ctf_item *it =
		ctf_item_take(tr, tr->at, out->extra, &out->handle);

	out->it = it;
	it->raw_len = (uint32_t)out->raw_len;
	if (st->raw == ctf->spare && out->raw_len)
		memcpy(it + 1, st->raw, out->raw_len);
	it->n_kern = (uint32_t)st->kern.n;
	it->n_user = (uint32_t)n_user;
	if (st->kern.n)
		memcpy(ctf_item_ips(it), st->kern.ip, st->kern.n * 8);
	if (n_user)
		memcpy(ctf_item_ips(it) + st->kern.n, user, n_user * 8);
	it->kind = REC_SAMPLE;
	it->pid = f->pid;
	it->tid = f->tid;
	it->cpu = f->cpu;
	it->event = cl->event;
	it->sample.ip = f->has_ip ? f->ip : 0;
	it->cut = (uint8_t)(st->kern.cut | (cl->chain ? 0 : st->user.cut) << 1);
	if (hit)
		it->flags |= REC_F_USER;
	if (hit && !asks)
		it->flags |= REC_F_NO_CHAIN;
	if (n_user)
		it->defer = DEFER_DIRECT;
	if (asks) {
		it->defer = DEFER_COOKIE;
		it->sample.cookie = f->cookie;
	}
}

static void ctf_event_make_chain(struct ctf_stream *s,
				 const struct event_facts *f)
{
	const struct ctf_state *st = &s->st;
	size_t n = st->user.n;
	size_t names = (st->names_len + 7) & ~(size_t)7;
	struct ctf_item *it = ctf_item_new(s->trace, CLASS_CHAIN, s->trace->at,
					   n * 8 + names);

	it->raw_len = (uint32_t)st->names_len;
	it->n_user = (uint32_t)n;
	if (st->names_len) {
		memcpy(ctf_item_raw(it), st->names, st->names_len);
		memset(ctf_item_ips(it), 0, n * 8);
	} else if (n) {
		memcpy(ctf_item_ips(it), st->user.ip, n * 8);
	}
	it->kind = REC_CHAIN;
	it->pid = f->pid;
	it->tid = f->tid;
	it->cpu = f->cpu;
	it->sample.cookie = f->cookie;
}

/* Reads the fields of an event, its payload to where the item will be. Returns
 * -1 and st->why if the packet is damaged. */
static int ctf_event_read(struct ctf_stream *s, const struct ctf_class *cl,
			  struct event_item *out)
{
	struct ctf *ctf = s->trace->ctf;
	struct ctf_state *st = &s->st;
	const struct ctf_event *ev = ctf_event_at(ctf, cl->event);
	bool dynamic = cl->packet.dynamic || cl->event_fields.dynamic;
	size_t most = dynamic ? CTF_PAYLOAD_MAX + 1u : 0;

	out->bare = ctf->opts.no_fields && ev->fmt.call.what == CALL_NONE;
	if (cl->fixed >= most)
		most = cl->fixed + 1;
	out->room = sizeof(*out->it) + most + STACKS;
	if (out->bare) {
		if (!ctf->spare)
			ctf->spare = mem_new(CTF_PAYLOAD_MAX * 2, 1);
		st->raw = ctf->spare;
	} else {
		struct ctf_item *it = ctf_pool_room(&ctf->pool, out->room);

		st->raw = (unsigned char *)(it + 1);
	}
	memset(st->raw, 0, cl->fixed);
	st->raw_len = cl->fixed;
	ctf_state_clear(st);
	/* the fields of the packet, which its events have, too */
	if (cl->packet.n) {
		const uint64_t at = st->cur.at;

		st->cur.at = s->packet.context;
		st->again = true;
		int rc = ctf_run(&cl->packet, st);

		st->again = false;
		st->cur.at = at;
		if (rc)
			return -1;
	}
	if (ctf_run(&cl->event_fields, st))
		return -1;
	if (st->cur.at == s->event_at)
		return ctf_field_stop(st, "an event has no size");
	return 0;
}

/* The items of facts come before the event's own. */
static void ctf_event_emit(struct ctf_stream *s, const struct ctf_class *cl,
			   struct event_item *item)
{
	struct ctf_trace *tr = s->trace;
	struct ctf_state *st = &s->st;
	const struct ctf_event *ev = ctf_event_at(tr->ctf, cl->event);
	struct event_facts f;
	struct bytes raw;

	bytes_init(&raw, st->raw, st->raw_len, "event", 0, false);
	const char *why = ctf_check_event(s, ev, &raw);

	if (why) {
		ctf_stream_blame_event(s, why);
		return;
	}
	ctf_event_facts(s, ev, &raw, &f);
	ctf_event_make(s, cl, &f, item);
	if (!item->bare)
		bytes_init(&raw, ctf_item_raw(item->it), item->raw_len, "event",
			   0, false);
	if (st->name)
		ctf_task_name(s, f.pid, f.tid, scan_of(st->name, st->name_len));
	/* few events tell of threads and mappings */
	if (ev->role != CTF_PLAIN || tr->n_pending) {
		const struct ctf_item head = {
			.time = tr->at,
			.pid = f.pid,
			.tid = f.tid,
			.cpu = f.cpu,
		};

		ctf_event_sched(ev, &raw, &item->it->sample.sched);
		ctf_task(tr, ev, &head, &raw);
	}
	ctf_item_add(tr, CLASS_SAMPLE, tr->at, item->extra, item->handle);
	if (cl->chain && f.has_cookie)
		ctf_event_make_chain(s, &f);
}

void ctf_event_take(struct ctf_stream *s)
{
	struct ctf_trace *tr = s->trace;
	struct ctf *ctf = tr->ctf;
	struct ctf_state *st = &s->st;
	struct event_item item;
	const char *why;
	const struct ctf_class *cl =
		ctf_class_of(ctf, s->schema, s->packet.plan, s->event_id, &why);

	s->due = false;
	if (!cl) {
		char text[120];

		snprintf(text, sizeof(text), "event id %" PRIu64 ": %s",
			 s->event_id, why);
		ctf_stream_drop_packet(s, text);
		return;
	}
	if (ctf_event_read(s, cl, &item)) {
		ctf_stream_drop_packet(s, st->why);
		return;
	}
	raise_to(s->packet.plan->event_most, st->cur.at - s->event_at);
	if (s->clock)
		tr->at = s->time;
	for (; st->n_cut; st->n_cut--)
		ledger_skip(ctf->src.ledger, ctf->src.index,
			    "end of an event's fields beyond 64 KiB, or 256 "
			    "times its packet",
			    0, 0, NULL);
	ctf_event_emit(s, cl, &item);
}
