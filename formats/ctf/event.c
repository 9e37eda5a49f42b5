/* event.c - makes items of events: of their stacks, and of facts about threads
 * and mappings. */
#include <stdlib.h>
#include <string.h>

#include "formats/code/maps.h"
#include "formats/ctf/ctf.h"
#include "formats/ctf/decode/run.h"
#include "formats/ctf/plan.h"
#include "formats/input.h"
#include "formats/tracepoint/fields.h"

/* One event reports a file, and the next event of the same thread its build-id,
 * so a mapping waits until then. All segments of a file are one mapping that
 * starts at its base. */

#define ID_MAX 20
#define PAGE 4096u

static struct ctf_item *ctf_map_new_item(struct ctf_trace *tr, int32_t pid,
					 int32_t tid, const char *path)
{
	size_t n = strlen(path) + 1;
	struct ctf_item *it = ctf_item_new(tr, CLASS_MAP, tr->at, n);

	it->kind = REC_MAP;
	it->pid = pid;
	it->tid = tid;
	it->raw_len = (uint32_t)n;
	memcpy(ctf_item_raw(it), path, n);
	return it;
}

static void ctf_map_flush_one(struct ctf_trace *tr, struct ctf_pending *p)
{
	if (!p->used)
		return;
	p->used = false;
	tr->n_pending--;
	struct ctf_item *it = ctf_map_new_item(tr, p->pid, p->tid, p->path);

	it->cpu = p->cpu;
	it->map.start = p->start;
	it->map.len = p->len;
	it->map.role = p->role;
	it->map.id_len = p->id_len;
	memcpy(it->map.id, p->id, sizeof(it->map.id));
}

static void ctf_map_kernel_item(struct ctf_trace *tr,
				const struct kernel_code *c)
{
	struct ctf_item *it = ctf_map_new_item(tr, -1, -1, c->name);

	tr->due[tr->n_due - 1].ref.untimed = 1;
	it->flags = REC_F_SYNTH;
	it->map.start = c->start;
	it->map.len = c->len;
	it->map.pgoff = c->pgoff;
	if (c->is_symbol) {
		it->kind = REC_KSYMBOL;
		it->map.type = c->type;
	} else {
		it->flags |= REC_F_KERNEL;
	}
}

/* Returns the slot of a thread; another thread may occupy it. */
static struct ctf_pending *ctf_map_pending_of(struct ctf_trace *tr, int32_t tid)
{
	return &tr->pending[hash_u64((uint32_t)tid) % CTF_PENDING];
}

/* Makes the items of an event about mappings. */
static void ctf_map(struct ctf_trace *tr, const struct ctf_event *ev,
		    const struct ctf_item *head, const struct bytes *raw)
{
	if (ev->role == CTF_BUILD_ID) {
		struct field f;

		if (!tr->n_pending)
			return;
		struct ctf_pending *p = ctf_map_pending_of(tr, head->tid);

		if (!p->used || p->pid != head->pid || p->tid != head->tid ||
		    p->start != (uint64_t)ctf_number(ev, CTF_BASE, raw, 0))
			return;
		tp_field_take_alone(&tr->ctf->look, &ev->fmt,
				    ev->part[CTF_PATH], raw, &f);
		if (f.blob && f.len) {
			p->id_len = (uint8_t)(f.len < ID_MAX ? f.len : ID_MAX);
			memcpy(p->id, f.blob, p->id_len);
		}
		ctf_map_flush_one(tr, p);
	} else if (ev->role == CTF_CLOSE || ev->role == CTF_UNLOAD) {
		struct ctf_item *it =
			ctf_map_new_item(tr, head->pid, head->tid, "");

		it->cpu = head->cpu;
		it->flags = REC_F_GONE;
		it->map.start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
		it->map.role = (uint8_t)ev->role;
	} else {
		const char *path = ctf_text(tr->ctf, ev, CTF_PATH, raw);
		uint64_t start = (uint64_t)ctf_number(ev, CTF_BASE, raw, 0);
		uint64_t len = (uint64_t)ctf_number(ev, CTF_SIZE, raw, 0);
		uint64_t end;

		/* the vdso is reported without a size */
		if (!path || !*path || !len || head->pid < 0 ||
		    __builtin_add_overflow(start, len, &end) ||
		    __builtin_add_overflow(end, PAGE - 1, &end))
			return;
		if (!tr->pending)
			tr->pending =
				mem_new(CTF_PENDING, sizeof(*tr->pending));
		struct ctf_pending *p = ctf_map_pending_of(tr, head->tid);

		ctf_map_flush_one(tr, p);
		free(p->path);
		*p = (struct ctf_pending){
			.used = true,
			.role = (uint8_t)ev->role,
			.pid = head->pid,
			.tid = head->tid,
			.cpu = head->cpu,
			.start = start,
			.len = (len + PAGE - 1) & ~(uint64_t)(PAGE - 1),
			.path = mem_strdup(path),
		};
		tr->n_pending++;
		if (!ctf_number(ev, CTF_HAS_ID, raw, 0))
			ctf_map_flush_one(tr, p);
	}
}

/* LTTng's kernel events have a tid where ftrace's have a pid. task_rules.h
 * decides which records an event makes. */

static struct ctf_item *ctf_task_name_item(struct ctf_trace *tr, uint64_t time,
					   struct scan name)
{
	struct ctf_item *it = ctf_item_new(tr, CLASS_COMM, time, name.n + 1);

	it->kind = REC_COMM;
	it->raw_len = (uint32_t)name.n + 1;
	if (name.n)
		memcpy(ctf_item_raw(it), name.p, name.n);
	ctf_item_raw(it)[name.n] = 0;
	return it;
}

static void ctf_task_comm_item(struct ctf_trace *tr, uint64_t time, int32_t pid,
			       int32_t tid, struct scan name, uint32_t flags)
{
	struct ctf_item *it = ctf_task_name_item(tr, time, name);

	it->pid = pid;
	it->tid = tid;
	it->flags = flags;
}

/* Makes an item of a thread's name from a context, if the name is new. The name
 * ends at a NUL or with `name`. */
static void ctf_task_name(struct ctf_stream *s, int32_t pid, int32_t tid,
			  struct scan name)
{
	struct ctf_trace *tr = s->trace;

	/* Fast path for nearly all names: the stream's last event had the same
	 * one, and no other event has set a name since. */
	const size_t n = s->named_len;

	if (s->n_named == s->trace->known.n_changed && s->named_tid == tid &&
	    n <= name.n && !memcmp(name.p, s->named, n) &&
	    (n == name.n || n > COMM_LEN || !name.p[n]))
		return;
	name = scan_head(name, COMM_LEN + 1);
	name.n = strnlen(name.p, name.n);
	if (known_tasks_rename(&tr->known, tid, name.p, name.n, true))
		ctf_task_comm_item(tr, tr->at, pid, tid, name, 0);
	s->n_named = tr->known.n_changed;
	s->named_tid = tid;
	s->named_len = (uint32_t)name.n;
	memcpy(s->named, name.p, name.n);
}

static int32_t ctf_task_id(const struct ctf_event *ev, enum ctf_part_of part,
			   const struct bytes *raw)
{
	int64_t v = ctf_number(ev, part, raw, -1);

	return v < 0 || v > INT32_MAX ? -1 : (int32_t)v;
}

/* Returns the name in a field, copied to buf, as the text of a field is valid
 * only until the next ctf_text(). p is NULL if there is none. */
static struct scan ctf_task_field_name(struct ctf_trace *tr,
				       const struct ctf_event *ev,
				       enum ctf_part_of part,
				       const struct bytes *raw,
				       char buf[COMM_LEN + 1])
{
	const char *text = ctf_text(tr->ctf, ev, part, raw);

	if (!text)
		return scan_of(NULL, 0);
	struct scan s = scan_of(text, strlen(text));

	if (part == CTF_PATH)
		s = scan_head(task_name_of_path(s), COMM_LEN);
	s = scan_head(s, COMM_LEN + 1);
	memcpy(buf, s.p, s.n);
	return scan_of(buf, s.n);
}

/* Makes the items of an event about tasks. LTTng records an event once, and has
 * no task_newtask. */
static void ctf_task_event(struct ctf_trace *tr, const struct ctf_event *ev,
			   const struct ctf_item *head, const struct bytes *raw)
{
	char name[2][COMM_LEN + 1];
	struct task_event event = {
		.role = (enum event_role)ev->role,
		.tid = ctf_task_id(ev, CTF_TID, raw),
		.tid2 = ctf_task_id(ev, CTF_TID2, raw),
		.clone_flags = -1,
	};
	int32_t pid = ctf_task_id(ev, CTF_PID, raw);

	if (ev->role == CTF_STATE)
		event.role = ROLE_NAMED;
	event.name = ctf_task_field_name(
		tr, ev, ev->role == CTF_EXEC ? CTF_PATH : CTF_COMM, raw,
		name[0]);
	if (ev->role == CTF_SWITCH)
		event.name2 =
			ctf_task_field_name(tr, ev, CTF_COMM2, raw, name[1]);
	unsigned int due = known_tasks_event(&tr->known, &event);

	uint32_t flags = ev->role == CTF_STATE ? REC_F_SYNTH : 0;

	if (due & TASK_COMM2)
		ctf_task_comm_item(tr, head->time, pid, (int32_t)event.tid2,
				   event.name2, flags);
	if (due & TASK_COMM && ev->role == CTF_EXEC) {
		struct ctf_item *it =
			ctf_task_name_item(tr, head->time, event.name);

		/* After an exec, the task has the id of its process, whichever
		 * thread called execve. */
		it->pid = it->tid = (int32_t)event.tid;
		it->cpu = head->cpu;
		it->flags = REC_F_EXEC;
	} else if (due & TASK_COMM) {
		ctf_task_comm_item(tr, head->time, pid, (int32_t)event.tid,
				   event.name, flags);
	}
	if (due & TASK_FORK) {
		struct ctf_item *it =
			ctf_item_new(tr, CLASS_FORK, head->time, 0);

		it->kind = REC_FORK;
		it->cpu = head->cpu;
		it->tid = ctf_task_id(ev, CTF_TID2, raw);
		it->pid = ctf_task_id(ev, CTF_PID2, raw);
		it->fork.ppid = pid;
		it->fork.ptid = ctf_task_id(ev, CTF_TID, raw);
	}
	if (due & TASK_EXIT) {
		struct ctf_item *it =
			ctf_item_new(tr, CLASS_EXIT, head->time, 0);

		it->kind = REC_EXIT;
		it->cpu = head->cpu;
		it->tid = (int32_t)event.tid;
		it->pid = it->tid == head->tid ? head->pid : -1;
		it->fork.ppid = it->fork.ptid = -1;
	}
}

/* How many CPUs, of all traces together, have their running thread kept. */
#define ON_CPU_MAX (1u << 20)
/* Initial room for addresses; most events need no more. */
#define STACKS 1024

/* Values of the current event that are not fields of its record. */
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

/* Collects the facts of an event. If none of its fields names the thread, it is
 * the thread that sched_switch switched to on this CPU. */
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
	if (out->cpu < 0 || out->cpu >= CPUS_MAX)
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

/* The item of an event while it is made. The payload is decoded in place in the
 * pool; without a kept payload, in ctf->spare. */
struct event_item {
	struct ctf_item *it;
	size_t room, raw_len;
	uint64_t handle;
	size_t extra;
	bool bare;
};

/* Reads the fields of an event, and its payload into the place of the item.
 * Returns -1 with st->why if the packet is damaged. */
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
	/* the packet's own fields, which each of its events gets */
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

/* Completes the items of an event; those of its facts come before its own. */
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
	/* Make the item of the event itself. An address in a context becomes a
	 * stack of one frame, except in a request, whose stack is a later
	 * event. */
	struct ctf *ctf = tr->ctf;
	const struct event_def *def = &ctf->def[cl->event];
	/* the addresses of a chain are in a separate item */
	const uint64_t *user = st->user.ip;
	size_t n_user = cl->chain ? 0 : st->user.n;
	bool asks = f.has_cookie && def->defer;
	bool hit =
		f.has_ip && f.ip && !st->kern.n && !n_user && !s->schema->perf;

	if (hit && !asks) {
		user = &f.ip;
		n_user = 1;
	}
	/* the addresses follow the payload */
	item->raw_len = item->bare ? 0 : st->raw_len;
	item->extra =
		((item->raw_len + 7) & ~(size_t)7) + (st->kern.n + n_user) * 8;
	/* a larger item may be moved to another block of the pool, so the
	 * payload is saved in ctf->spare */
	if (!item->bare && sizeof(*item->it) + item->extra > item->room) {
		if (!ctf->spare)
			ctf->spare = mem_new(CTF_PAYLOAD_MAX * 2, 1);
		memcpy(ctf->spare, st->raw, item->raw_len);
		st->raw = ctf->spare;
	}
	struct ctf_item *it =
		ctf_item_take(tr, tr->at, item->extra, &item->handle);

	item->it = it;
	it->raw_len = (uint32_t)item->raw_len;
	if (st->raw == ctf->spare && item->raw_len)
		memcpy(it + 1, st->raw, item->raw_len);
	it->n_kern = (uint32_t)st->kern.n;
	it->n_user = (uint32_t)n_user;
	if (st->kern.n)
		memcpy(ctf_item_ips(it), st->kern.ip, st->kern.n * 8);
	if (n_user)
		memcpy(ctf_item_ips(it) + st->kern.n, user, n_user * 8);
	it->kind = REC_SAMPLE;
	it->pid = f.pid;
	it->tid = f.tid;
	it->cpu = f.cpu;
	it->event = cl->event;
	it->sample.ip = f.has_ip ? f.ip : 0;
	it->cut = (uint8_t)(st->kern.cut | (cl->chain ? 0 : st->user.cut) << 1);
	if (hit)
		it->flags |= REC_F_USER;
	if (hit && !asks)
		it->flags |= REC_F_NO_CHAIN;
	if (n_user)
		it->defer = DEFER_DIRECT;
	if (asks) {
		it->defer = DEFER_COOKIE;
		it->sample.cookie = f.cookie;
	}
	if (!item->bare)
		bytes_init(&raw, ctf_item_raw(item->it), item->raw_len, "event",
			   0, false);
	if (st->name)
		ctf_task_name(s, f.pid, f.tid, scan_of(st->name, st->name_len));
	/* only a few events are about threads and mappings */
	if (ev->role != CTF_PLAIN || tr->n_pending) {
		const struct ctf_item head = {
			.time = tr->at,
			.pid = f.pid,
			.tid = f.tid,
			.cpu = f.cpu,
		};

		struct sched *out = &item->it->sample.sched;
		const enum sched_kind kind =
			event_role_sched((enum event_role)ev->role);

		const int64_t woken =
			kind == SCHED_NONE ? -1
					   : ctf_number(ev, CTF_TID, &raw, -1);

		if (woken >= 0) {
			out->kind = kind;
			out->tid = ctf_event_to_s32(woken);
			out->next_tid = ctf_event_to_s32(
				ctf_number(ev, CTF_TID2, &raw, -1));
			/* kernels agree only on the low byte, in which 0 is
			 * runnable */
			out->sleeps = (ctf_number(ev, CTF_STATE_OF, &raw, 0) &
				       0xff) != 0;
		}
		/* Make the items that the event's role requires, before its
		 * own. */
		if (tr->n_pending && ev->role != CTF_BUILD_ID) {
			/* The thread had another event, so no build-id follows:
			 * make the item of the waiting mapping without one. */
			int32_t pid = head.pid;
			int32_t tid = head.tid;
			struct ctf_pending *p = ctf_map_pending_of(tr, tid);

			if (p->used && p->pid == pid && p->tid == tid)
				ctf_map_flush_one(tr, p);
		}
		if (ev->role >= CTF_IMAGE)
			ctf_map(tr, ev, &head, &raw);
		else if (ev->role != CTF_PLAIN)
			ctf_task_event(tr, ev, &head, &raw);
	}
	ctf_item_add(tr, CLASS_SAMPLE, tr->at, item->extra, item->handle);
	if (cl->chain && f.has_cookie) {
		/* a late stack: its addresses or names, by their cookie */
		size_t n = st->user.n;
		size_t names = (st->names_len + 7) & ~(size_t)7;
		struct ctf_item *late = ctf_item_new(
			s->trace, CLASS_CHAIN, s->trace->at, n * 8 + names);

		late->raw_len = (uint32_t)st->names_len;
		late->n_user = (uint32_t)n;
		if (st->names_len) {
			memcpy(ctf_item_raw(late), st->names, st->names_len);
			memset(ctf_item_ips(late), 0, n * 8);
		} else if (n) {
			memcpy(ctf_item_ips(late), st->user.ip, n * 8);
		}
		late->kind = REC_CHAIN;
		late->pid = f.pid;
		late->tid = f.tid;
		late->cpu = f.cpu;
		late->sample.cookie = f.cookie;
	}
}

/* Makes items of the event whose header was read. */
static void ctf_event_take(struct ctf_stream *s)
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

/* The times of a stream do not go backwards without a note, so no later item is
 * earlier than the earliest event that was not returned yet. A stream is opened
 * when its first packet is due. */

/* How many bytes of items with the same time may wait before some of them are
 * returned. */
#define WAITING_MAX ((uint64_t)16 << 20)

/* Maps the kernel once, with the first trace of the kernel domain. */
static void ctf_next_map_kernel(struct ctf *ctf)
{
	ctf->kernel_noted = true;
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];
		const char *domain =
			tr->n_live ? ctf_tree_env(&tr->schema->tree, "domain")
				   : NULL;

		if (!domain || strcmp(domain, "kernel"))
			continue;
		/* from the recorded machine's kallsyms, as LTTng does not
		 * record the mappings; without kallsyms the kernel is one
		 * mapping from address 0, so that symbols can be resolved
		 * later */
		const struct kernel_code all = {
			.len = UINT64_MAX,
			.name = "[kernel.kallsyms]",
		};
		const struct source_opts *o = &tr->ctf->opts;
		struct kernel_map km = { .n = 0 };
		struct input in;

		if (o->kallsyms &&
		    !input_open(&in, o->kallsyms, o->temp_dir, NULL)) {
			if (!input_spool(&in, o->temp_dir, NULL))
				kernel_map_read(&km, (const char *)in.data,
						in.len);
			input_close(&in);
		}
		for (size_t k = 0; k < km.n; k++)
			ctf_map_kernel_item(tr, &km.at[k]);
		if (!km.n)
			ctf_map_kernel_item(tr, &all);
		kernel_map_release(&km);
		ctf->giving = tr;
		return;
	}
}

/* Makes the items of the earliest event. Returns false at the end. */
static bool ctf_next_step(struct ctf *ctf)
{
	if (!ctf->n_heap)
		return false;
	struct ctf_stream *s = &ctf->stream[ctf->heap[0].stream];

	ctf->giving = s->trace;
	if (s->due)
		ctf_event_take(s);
	s->due = ctf_stream_next(s);
	ctf->heap[0].time = s->time;
	if (!s->due) {
		ctf_stream_close(s);
		ctf->heap[0] = ctf->heap[--ctf->n_heap];
		if (!--s->trace->n_live) {
			for (size_t i = 0;
			     s->trace->n_pending && i < CTF_PENDING; i++)
				ctf_map_flush_one(s->trace,
						  &s->trace->pending[i]);
			ctf_ends_check(s->trace);
		}
	}
	turns_put(ctf->heap, ctf->n_heap, 0, ctf->heap[0]);
	return true;
}

int ctf_next(struct source *src, struct ref *ref, struct err *err UNUSED)
{
	struct ctf *ctf = ctf_of(src);

	if (!ctf->kernel_noted) {
		ctf_next_map_kernel(ctf);
		ctf->heap = mem_new(ctf->n_stream + 1, sizeof(*ctf->heap));
		for (size_t i = 0; i < ctf->n_stream; i++)
			ctf->heap[ctf->n_heap++] =
				(struct turn){ ctf->stream[i].time,
					       (uint32_t)i };
		for (size_t i = ctf->n_heap; i-- > 0;)
			turns_put(ctf->heap, ctf->n_heap, i, ctf->heap[i]);
	}
	do {
		struct ctf_trace *tr = ctf->giving;

		while (tr && tr->due_pos < tr->n_due) {
			const struct ctf_due *d = &tr->due[tr->due_pos++];
			uint64_t floor = d->at;

			if (!ctf_settle_item(ctf, ctf_pool_at(&ctf->pool,
							      d->ref.handle))) {
				ctf->waiting -= d->ref.len;
				ctf_pool_drop(&ctf->pool, d->ref.handle);
				continue;
			}
			*ref = d->ref;
			if (ctf->waiting > WAITING_MAX &&
			    floor < UINT64_MAX - 1)
				floor++;
			raise_to(src->floor, floor);
			return 1;
		}
		if (tr)
			tr->n_due = tr->due_pos = 0;
		src->pos = ctf->done < src->size ? ctf->done : src->size;
	} while (ctf_next_step(ctf));
	src->floor = UINT64_MAX;
	src->pos = src->size;
	return 0;
}
