/* event.c - makes items of the library's messages: events with their stacks,
 * facts about threads and mappings, losses. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/bt.h"
#include "stitch/base/err.h"

#define PLACE_MAX 0xffffu
#define CPU_MAX 65536
#define CHAIN_MAX 65536
#define NAMES_MAX ((size_t)1 << 20)
/* The last entry of a stack that LTTng cut at its limit. */
#define CUT UINT64_MAX
/* include/uapi/linux/perf_event.h: callchain entries from PERF_CONTEXT_MAX on
 * are marks. */
#define MARK_MAX ((uint64_t)-4095)
#define MARK_USER ((uint64_t)-512)

/* Values of the current event that do not become fields. */
struct event_facts {
	int32_t cpu, pid, tid, vpid, vtid;
	const char *name;
	bool has_ip, has_cookie, kern_cut, user_cut;
	uint64_t ip, cookie;
};

/* ---- numbers */

static int64_t ctf_event_number(const struct ctf_op *op, const bt_field *f)
{
	if (op->is_signed)
		return bt_field_integer_signed_get_value(f);
	if (op->is_int)
		return (int64_t)bt_field_integer_unsigned_get_value(f);
	if (bt_field_class_type_is(bt_field_get_class_type(f),
				   BT_FIELD_CLASS_TYPE_BOOL))
		return bt_field_bool_get_value(f) != 0;
	return (int64_t)bt_field_bit_array_get_value_as_integer(f);
}

static int32_t ctf_event_to_s32(int64_t v)
{
	return v < -1 || v > INT32_MAX ? -1 : (int32_t)v;
}

/* ---- the payload */

static void ctf_event_reserve(struct ctf_graph *g, size_t need)
{
	g->raw = mem_grow(g->raw, &g->raw_cap, need, 1);
}

static void ctf_event_put_number(struct ctf_graph *g, const struct ctf_op *op,
				 int64_t v)
{
	uint64_t u = (uint64_t)v;
	uint32_t u32 = (uint32_t)u;
	uint16_t u16 = (uint16_t)u;
	uint8_t u8 = (uint8_t)u;

	switch (op->size) {
	case 1:
		memcpy(g->raw + op->off, &u8, 1);
		break;
	case 2:
		memcpy(g->raw + op->off, &u16, 2);
		break;
	case 4:
		memcpy(g->raw + op->off, &u32, 4);
		break;
	default:
		memcpy(g->raw + op->off, &u, 8);
		break;
	}
}

/* Reserves len bytes for a field of variable length, whose position takes 16
 * bits. So a payload has 64 KiB at most; the rest is skipped. */
static unsigned char *ctf_event_put_dynamic(struct ctf_trace *tr,
					    const struct ctf_op *op, size_t len)
{
	struct ctf_graph *g = tr->graph;
	size_t left = g->raw_len < PLACE_MAX ? PLACE_MAX - g->raw_len : 0;

	if (len > left) {
		ctf_tell_skip(tr->ctf,
			      "end of an event's fields beyond 64 KiB");
		len = left;
	}
	uint32_t loc = (uint32_t)g->raw_len | (uint32_t)len << 16;

	if (!len)
		loc = 0;
	ctf_event_reserve(g, g->raw_len + len + 1);
	memcpy(g->raw + op->off, &loc, 4);
	unsigned char *at = g->raw + g->raw_len;

	g->raw_len += len;
	return at;
}

static size_t ctf_event_room_left(const struct ctf_graph *g)
{
	return g->raw_len < PLACE_MAX ? PLACE_MAX - g->raw_len : 0;
}

/* Adds text and a final 0, also if it is cut. */
static void ctf_event_put_text(struct ctf_trace *tr, const struct ctf_op *op,
			       const char *s, size_t len)
{
	size_t left = ctf_event_room_left(tr->graph);
	unsigned char *at = ctf_event_put_dynamic(tr, op, len + 1);

	if (len + 1 > left)
		len = left ? left - 1 : 0;
	if (left) {
		memcpy(at, s, len);
		at[len] = 0;
	}
}

static void ctf_event_put_bytes(struct ctf_trace *tr, const struct ctf_op *op,
				const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);
	size_t left = ctf_event_room_left(tr->graph);
	size_t len = n < SIZE_MAX / 2 ? (size_t)n : SIZE_MAX / 2;
	unsigned char *at = ctf_event_put_dynamic(tr, op, len);

	for (size_t i = 0; i < len && i < left; i++) {
		const bt_field *e =
			bt_field_array_borrow_element_field_by_index_const(f,
									   i);
		bool is_signed = bt_field_class_type_is(
			bt_field_get_class_type(e),
			BT_FIELD_CLASS_TYPE_SIGNED_INTEGER);

		at[i] = is_signed
				? (uint8_t)bt_field_integer_signed_get_value(e)
				: (uint8_t)bt_field_integer_unsigned_get_value(
					  e);
	}
}

/* ---- stacks */

static uint64_t ctf_event_address(const bt_field *list, uint64_t i)
{
	return bt_field_integer_unsigned_get_value(
		bt_field_array_borrow_element_field_by_index_const(list, i));
}

static size_t ctf_event_take_stack(const bt_field *f, uint64_t **ip,
				   size_t *cap, bool *cut)
{
	uint64_t n = bt_field_array_get_length(f);

	if (n > CHAIN_MAX)
		n = CHAIN_MAX;
	*ip = mem_grow(*ip, cap, (size_t)n, sizeof(**ip));
	for (uint64_t i = 0; i < n; i++)
		(*ip)[i] = ctf_event_address(f, i);
	*cut = n && (*ip)[n - 1] == CUT;
	return (size_t)n - *cut;
}

/* Takes the stack of an interpreter: names of functions, innermost first. */
static void ctf_event_take_names(struct ctf_graph *g, const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);

	g->names_len = 0;
	for (g->n_user = 0; g->n_user < n && g->n_user < CHAIN_MAX;
	     g->n_user++) {
		const char *s = ctf_field_string(
			bt_field_array_borrow_element_field_by_index_const(
				f, g->n_user));
		size_t len = strlen(s) + 1;

		if (len > NAMES_MAX - g->names_len)
			return;
		g->names = mem_grow(g->names, &g->cap_names, g->names_len + len,
				    1);
		memcpy(g->names + g->names_len, s, len);
		g->names_len += len;
	}
}

static void ctf_event_take_perf_stack(struct ctf_graph *g, const bt_field *f)
{
	uint64_t n = bt_field_array_get_length(f);
	bool user = false;

	if (n > CHAIN_MAX)
		n = CHAIN_MAX;
	g->kern = mem_grow(g->kern, &g->cap_kern, (size_t)n, sizeof(*g->kern));
	g->user = mem_grow(g->user, &g->cap_user, (size_t)n, sizeof(*g->user));
	for (uint64_t i = 0; i < n; i++) {
		uint64_t ip = ctf_event_address(f, i);

		if (ip >= MARK_MAX)
			user = ip == MARK_USER;
		else if (user)
			g->user[g->n_user++] = ip;
		else
			g->kern[g->n_kern++] = ip;
	}
}

static void ctf_event_take_use(struct ctf_graph *g, const struct ctf_op *op,
			       const bt_field *f, struct event_facts *s)
{
	bool cut;

	switch ((enum ctf_use)op->use) {
	case CTF_FIELD:
		break;
	case CTF_CPU:
		s->cpu = ctf_event_to_s32(ctf_event_number(op, f));
		break;
	case CTF_USE_PID:
		s->pid = ctf_event_to_s32(ctf_event_number(op, f));
		break;
	case CTF_USE_TID:
		s->tid = ctf_event_to_s32(ctf_event_number(op, f));
		break;
	case CTF_USE_VPID:
		s->vpid = ctf_event_to_s32(ctf_event_number(op, f));
		break;
	case CTF_USE_VTID:
		s->vtid = ctf_event_to_s32(ctf_event_number(op, f));
		break;
	case CTF_PROCNAME:
		s->name = ctf_field_string(f);
		break;
	case CTF_KSTACK:
		g->n_kern = ctf_event_take_stack(f, &g->kern, &g->cap_kern,
						 &s->kern_cut);
		break;
	case CTF_USTACK:
		g->n_user = ctf_event_take_stack(f, &g->user, &g->cap_user,
						 &s->user_cut);
		break;
	case CTF_CHAIN:
		g->n_user =
			ctf_event_take_stack(f, &g->user, &g->cap_user, &cut);
		break;
	case CTF_NAMES:
		ctf_event_take_names(g, f);
		break;
	case CTF_PERF_STACK:
		ctf_event_take_perf_stack(g, f);
		break;
	case CTF_IP:
		s->has_ip = true;
		s->ip = (uint64_t)ctf_event_number(op, f);
		break;
	case CTF_COOKIE:
		s->has_cookie = true;
		s->cookie = (uint64_t)ctf_event_number(op, f);
		break;
	}
}

static void ctf_event_take_field(struct ctf_trace *tr, const struct ctf_op *op,
				 const bt_field *f)
{
	struct ctf_graph *g = tr->graph;

	if (op->how == CTF_NUM) {
		ctf_event_put_number(g, op, ctf_event_number(op, f));
	} else if (op->how == CTF_STRING) {
		const char *s = ctf_field_string(f);

		ctf_event_put_text(tr, op, s, strlen(s));
	} else if (op->how == CTF_BYTES) {
		ctf_event_put_bytes(tr, op, f);
	} else if (op->how == CTF_LABEL) {
		const char *s = ctf_label_text(op->labels,
					       bt_field_borrow_class_const(f),
					       ctf_event_number(op, f));

		if (s)
			ctf_event_put_text(tr, op, s, strlen(s));
	} else if (op->how == CTF_JSON) {
		ctf_value_text(g, f);
		ctf_event_put_text(tr, op, g->text ? g->text : "", g->text_len);
	}
}

#define NEST_MAX 24

static void ctf_event_walk_fields(struct ctf_trace *tr,
				  const struct ctf_class *cl, int root,
				  const bt_field *st, struct event_facts *s)
{
	const bt_field *stack[NEST_MAX];
	unsigned int depth = 0;

	for (size_t i = cl->first[root]; st && i < cl->first[root + 1]; i++) {
		const struct ctf_op *op = &cl->op[i];

		if (op->how == CTF_LEAVE) {
			st = stack[--depth];
			continue;
		}
		const bt_field *f =
			bt_field_structure_borrow_member_field_by_index_const(
				st, op->index);

		if (op->how == CTF_ENTER) {
			stack[depth++] = st;
			st = f;
			continue;
		}
		if (op->use)
			ctf_event_take_use(tr->graph, op, f, s);
		ctf_event_take_field(tr, op, f);
	}
}

static const bt_field *ctf_event_borrow_root(const bt_event *ev,
					     enum ctf_root root)
{
	switch (root) {
	case CTF_PACKET:
		return bt_packet_borrow_context_field_const(
			bt_event_borrow_packet_const(ev));
	case CTF_COMMON:
		return bt_event_borrow_common_context_field_const(ev);
	case CTF_SPECIFIC:
		return bt_event_borrow_specific_context_field_const(ev);
	default:
		return bt_event_borrow_payload_field_const(ev);
	}
}

static void ctf_event_read(struct ctf_trace *tr, const struct ctf_class *cl,
			   const bt_event *ev, struct event_facts *s)
{
	struct ctf_graph *g = tr->graph;

	*s = (struct event_facts){ -1, -1, -1, -1, -1, NULL, 0, 0, 0, 0, 0, 0 };
	g->n_kern = g->n_user = 0;
	g->names_len = 0;
	g->raw_len = cl->fixed;
	ctf_event_reserve(g, cl->fixed + 1);
	memset(g->raw, 0, cl->fixed);
	for (int i = 0; i < CTF_ROOTS; i++)
		if (cl->first[i + 1] > cl->first[i])
			ctf_event_walk_fields(
				tr, cl, i,
				ctf_event_borrow_root(ev, (enum ctf_root)i), s);
}

/* ---- time */

static int64_t ctf_event_cycles_to_ns(uint64_t cycles, uint64_t freq)
{
	unsigned __int128 v = (unsigned __int128)cycles * 1000000000u / freq;

	return v > INT64_MAX ? INT64_MAX : (int64_t)v;
}

/* Sets the number of ns that convert the trace's clock to the capture's. */
static void ctf_event_find_shift(struct ctf_trace *tr, const bt_clock_class *cc)
{
	uint64_t freq = bt_clock_class_get_frequency(cc);
	struct ctf *ctf = tr->ctf;
	uint64_t cycles;
	int64_t s;

	bt_clock_class_get_offset(cc, &s, &cycles);
	__int128 off =
		(__int128)s * 1000000000 + ctf_event_cycles_to_ns(cycles, freq);

	tr->meta.freq = freq;
	tr->graph->has_shift = true;
	if (off > INT64_MAX || off < INT64_MIN)
		return;
	if (!ctf->has_base) {
		ctf->base = (int64_t)off;
		ctf->has_base = true;
		ctf_tell_base(ctf);
	}
	tr->graph->shift = (int64_t)((uint64_t)off - (uint64_t)ctf->base);
}

static uint64_t ctf_event_time(struct ctf_trace *tr, const bt_clock_class *cc,
			       const bt_clock_snapshot *cs)
{
	struct ctf_graph *g = tr->graph;
	uint64_t v = bt_clock_snapshot_get_value(cs);
	int64_t t;

	if (!g->has_shift)
		ctf_event_find_shift(tr, cc);
	if (tr->meta.freq != 1000000000)
		v = (uint64_t)ctf_event_cycles_to_ns(v, tr->meta.freq);
	if (v > INT64_MAX)
		v = INT64_MAX;
	if (__builtin_add_overflow((int64_t)v, g->shift, &t))
		t = INT64_MAX;
	return t < 0 ? 0 : (uint64_t)t;
}

/* ---- items */

static struct ctf_item *ctf_event_new_stack_item(struct ctf_trace *tr,
						 const uint64_t *user,
						 size_t n_user, size_t raw)
{
	struct ctf_graph *g = tr->graph;
	size_t kern = g->n_kern;
	struct ctf_item *it = ctf_item_new(tr, CLASS_SAMPLE, tr->at,
					   (kern + n_user) * 8 + raw);

	it->n_kern = (uint32_t)kern;
	it->n_user = (uint32_t)n_user;
	it->raw_len = (uint32_t)raw;
	uint64_t *ip = ctf_item_ips(it);

	if (kern)
		memcpy(ip, g->kern, kern * 8);
	if (n_user)
		memcpy(ip + kern, user, n_user * 8);
	if (raw)
		memcpy(ip + kern + n_user, g->raw, raw);
	return it;
}

static void ctf_event_find_thread(struct ctf_trace *tr, struct event_facts *s,
				  const struct ctf_event *ev,
				  const struct bytes *raw)
{
	if (s->tid < 0)
		s->tid = s->vtid;
	if (s->pid < 0)
		s->pid = s->vpid;
	if (s->pid < 0 && s->tid < 0)
		s->pid = tr->meta.vpid;
	if (s->cpu < 0 || s->cpu >= CPU_MAX)
		return;
	size_t cpu = (size_t)s->cpu;

	if (s->tid < 0 && ev->role == CTF_SWITCH)
		s->tid = ctf_event_to_s32(ctf_number(ev, CTF_TID, raw, -1));
	else if (s->tid < 0 && s->pid < 0 && cpu < tr->n_cpu)
		s->tid = tr->on_cpu[cpu];
	if (ev->role != CTF_SWITCH)
		return;
	if (cpu >= tr->n_cpu) {
		size_t cap = tr->n_cpu;

		tr->on_cpu = mem_grow(tr->on_cpu, &cap, cpu + 1,
				      sizeof(*tr->on_cpu));
		for (; tr->n_cpu < cap; tr->n_cpu++)
			tr->on_cpu[tr->n_cpu] = -1;
	}
	tr->on_cpu[cpu] = ctf_event_to_s32(ctf_number(ev, CTF_TID2, raw, -1));
}

static void ctf_event_sched(const struct ctf_event *ev, const struct bytes *raw,
			    struct sched *out)
{
	static const enum sched_kind kind[] = {
		[CTF_SWITCH] = SCHED_SWITCH,
		[CTF_WAKEUP] = SCHED_WAKEUP,
		[CTF_WAKEUP_NEW] = SCHED_NEW,
	};

	if (ev->role != CTF_SWITCH && ev->role != CTF_WAKEUP &&
	    ev->role != CTF_WAKEUP_NEW)
		return;
	int64_t tid = ctf_number(ev, CTF_TID, raw, -1);

	if (tid < 0)
		return;
	out->kind = kind[ev->role];
	out->tid = ctf_event_to_s32(tid);
	out->next_tid = ctf_event_to_s32(ctf_number(ev, CTF_TID2, raw, -1));
	/* only the low byte means the same in all kernels: 0 is runnable */
	out->sleeps = (ctf_number(ev, CTF_STATE_OF, raw, 0) & 0xff) != 0;
}

/* Makes the item of the event itself. An address in a context becomes a stack
 * of one frame, except in a request, whose stack comes later. */
static void ctf_event_make_item(struct ctf_trace *tr,
				const struct ctf_class *cl,
				const struct event_facts *s,
				const struct bytes *raw)
{
	struct ctf_graph *g = tr->graph;
	const struct ctf_event *ev = &tr->ctf->event[cl->event];
	const struct event_def *def = &tr->ctf->def[cl->event];
	size_t n_user = cl->chain ? 0 : g->n_user;
	bool asks = s->has_cookie && def->defer;
	bool hit = s->has_ip && s->ip && !g->n_kern && !n_user && !tr->is_perf;
	bool alone = hit && !asks;
	bool bare = tr->ctf->opts.no_fields && ev->fmt.call.what == CALL_NONE;
	size_t len = bare ? 0 : g->raw_len;

	/* the addresses of a chain go to its own item */
	const uint64_t *user = alone ? &s->ip : g->user;

	if (alone)
		n_user = 1;
	struct ctf_item *it = ctf_event_new_stack_item(tr, user, n_user, len);

	it->kind = REC_SAMPLE;
	it->pid = s->pid;
	it->tid = s->tid;
	it->cpu = s->cpu;
	it->event = cl->event;
	it->sample.ip = s->has_ip ? s->ip : 0;
	it->cut = (uint8_t)(s->kern_cut | s->user_cut << 1);
	if (hit)
		it->flags |= REC_F_USER;
	if (alone)
		it->flags |= REC_F_NO_CHAIN;
	if (n_user)
		it->defer = DEFER_DIRECT;
	if (asks) {
		it->defer = DEFER_COOKIE;
		it->sample.cookie = s->cookie;
	}
	ctf_event_sched(ev, raw, &it->sample.sched);
}

static void ctf_event_make_chain(struct ctf_trace *tr,
				 const struct event_facts *s)
{
	const struct ctf_graph *g = tr->graph;
	size_t named = g->names_len ? g->n_user : 0;
	struct ctf_item *it = ctf_item_new(tr, CLASS_CHAIN, tr->at,
					   g->n_user * 8 + g->names_len);

	it->n_user = (uint32_t)g->n_user;
	it->raw_len = (uint32_t)g->names_len;
	if (named)
		memset(ctf_item_ips(it), 0, named * 8);
	else if (g->n_user)
		memcpy(ctf_item_ips(it), g->user, g->n_user * 8);
	if (named)
		memcpy(ctf_item_raw(it), g->names, g->names_len);

	it->kind = REC_CHAIN;
	it->pid = s->pid;
	it->tid = s->tid;
	it->cpu = s->cpu;
	it->sample.cookie = s->cookie;
}

static void ctf_message_event(struct ctf_trace *tr, const bt_message *m)
{
	const bt_event *ev = bt_message_event_borrow_event_const(m);
	const struct ctf_class *cl = ctf_class_of(tr, ev);
	struct bytes raw;
	struct event_facts s;

	if (cl->clock)
		tr->at = ctf_event_time(
			tr, cl->clock,
			bt_message_event_borrow_default_clock_snapshot_const(
				m));
	ctf_event_read(tr, cl, ev, &s);
	bytes_init(&raw, tr->graph->raw, tr->graph->raw_len, "event", 0, false);
	ctf_event_find_thread(tr, &s, &tr->ctf->event[cl->event], &raw);
	struct ctf_item head = {
		.time = tr->at,
		.pid = s.pid,
		.tid = s.tid,
		.cpu = s.cpu,
	};

	if (s.name)
		ctf_task_name(tr, tr->at, s.pid, s.tid, s.name);
	ctf_task(tr, &tr->ctf->event[cl->event], &head, &raw);
	ctf_event_make_item(tr, cl, &s, &raw);
	if (cl->chain && s.has_cookie)
		ctf_event_make_chain(tr, &s);
}

/* ---- what was lost */

static struct ctf_stream *ctf_message_stream(struct ctf_graph *g,
					     const bt_stream *st)
{
	uint64_t h = hash_u64((uint64_t)(uintptr_t)st);
	uint32_t i = table_find(&g->by_stream, h, NULL, NULL, NULL);

	if (i != TABLE_NONE)
		return &g->stream[i];
	g->stream = mem_grow(g->stream, &g->cap_stream, g->n_stream + 1,
			     sizeof(*g->stream));
	table_add(&g->by_stream, h, (uint32_t)g->n_stream);
	g->stream[g->n_stream] = (struct ctf_stream){ .cpu = -1 };
	return &g->stream[g->n_stream++];
}

static void ctf_message_flush_loss(struct ctf_trace *tr, struct ctf_stream *s)
{
	if (!s->lost)
		return;
	struct ctf_item *it = ctf_item_new(tr, CLASS_LOST,
					   s->has_until ? s->until : tr->at, 0);

	it->kind = REC_LOST;
	it->cpu = s->cpu;
	it->lost.n = s->n;
	it->lost.has_since = s->has_since;
	it->lost.since = s->since;
	s->lost = false;
	/* switches were lost: the running threads are unknown */
	for (size_t i = 0; i < tr->n_cpu; i++)
		if (s->cpu < 0 || (size_t)s->cpu == i)
			tr->on_cpu[i] = -1;
}

/* Holds a loss until the next packet. A packet may have two, of events and of
 * packets, which become two records. */
static void ctf_message_hold_loss(struct ctf_trace *tr, const bt_stream *st,
				  uint64_t n, const bt_clock_snapshot *from,
				  const bt_clock_snapshot *to)
{
	const bt_clock_class *cc =
		bt_stream_class_borrow_default_clock_class_const(
			bt_stream_borrow_class_const(st));
	struct ctf_stream *s = ctf_message_stream(tr->graph, st);

	ctf_message_flush_loss(tr, s);
	s->lost = true;
	s->n = n;
	s->has_since = cc && from;
	s->has_until = cc && to;
	if (s->has_since)
		s->since = ctf_event_time(tr, cc, from);
	if (s->has_until)
		s->until = ctf_event_time(tr, cc, to);
}

static void ctf_message_events_lost(struct ctf_trace *tr, const bt_message *m)
{
	const bt_stream *st =
		bt_message_discarded_events_borrow_stream_const(m);
	const bt_clock_snapshot *from = NULL;
	const bt_clock_snapshot *to = NULL;
	uint64_t n = 0;

	if (bt_message_discarded_events_get_count(m, &n) !=
	    BT_PROPERTY_AVAILABILITY_AVAILABLE)
		n = 0;
	if (bt_stream_class_discarded_events_have_default_clock_snapshots(
		    bt_stream_borrow_class_const(st))) {
		from = bt_message_discarded_events_borrow_beginning_default_clock_snapshot_const(
			m);
		to = bt_message_discarded_events_borrow_end_default_clock_snapshot_const(
			m);
	}
	ctf_message_hold_loss(tr, st, n, from, to);
}

/* The number of events in the lost packets is unknown: 0. */
static void ctf_message_packets_lost(struct ctf_trace *tr, const bt_message *m)
{
	const bt_stream *st =
		bt_message_discarded_packets_borrow_stream_const(m);
	const bt_clock_snapshot *from = NULL;
	const bt_clock_snapshot *to = NULL;

	if (bt_stream_class_discarded_packets_have_default_clock_snapshots(
		    bt_stream_borrow_class_const(st))) {
		from = bt_message_discarded_packets_borrow_beginning_default_clock_snapshot_const(
			m);
		to = bt_message_discarded_packets_borrow_end_default_clock_snapshot_const(
			m);
	}
	ctf_message_hold_loss(tr, st, 0, from, to);
}

static int32_t ctf_message_packet_cpu(const bt_packet *pk)
{
	const bt_field *ctx = bt_packet_borrow_context_field_const(pk);
	const bt_field *f =
		ctx ? bt_field_structure_borrow_member_field_by_name_const(
			      ctx, "cpu_id")
		    : NULL;

	if (!f)
		return -1;
	bt_field_class_type t = bt_field_get_class_type(f);

	if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_UNSIGNED_INTEGER))
		return ctf_event_to_s32(
			(int64_t)bt_field_integer_unsigned_get_value(f));
	if (bt_field_class_type_is(t, BT_FIELD_CLASS_TYPE_SIGNED_INTEGER))
		return ctf_event_to_s32(bt_field_integer_signed_get_value(f));
	return -1;
}

static void ctf_message_packet(struct ctf_trace *tr, const bt_message *m)
{
	const bt_packet *pk =
		bt_message_packet_beginning_borrow_packet_const(m);
	struct ctf_stream *s = ctf_message_stream(
		tr->graph, bt_packet_borrow_stream_const(pk));

	s->cpu = ctf_message_packet_cpu(pk);
	tr->ctf->packets_done++;
	ctf_message_flush_loss(tr, s);
}

void ctf_message_take(struct ctf_trace *tr, const bt_message *m)
{
	switch (bt_message_get_type(m)) {
	case BT_MESSAGE_TYPE_EVENT:
		ctf_message_event(tr, m);
		break;
	case BT_MESSAGE_TYPE_PACKET_BEGINNING:
		ctf_message_packet(tr, m);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_EVENTS:
		ctf_message_events_lost(tr, m);
		break;
	case BT_MESSAGE_TYPE_DISCARDED_PACKETS:
		ctf_message_packets_lost(tr, m);
		break;
	case BT_MESSAGE_TYPE_STREAM_END:
		ctf_message_flush_loss(
			tr,
			ctf_message_stream(
				tr->graph,
				bt_message_stream_end_borrow_stream_const(m)));
		break;
	default:
		break;
	}
}
