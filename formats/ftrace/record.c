/* record.c - makes the record of a ref: an event with its stacks, a loss, or a
 * record that stream.c made. */
#include <inttypes.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/ftrace/pack.h"
#include "formats/ftrace/page.h"
#include "formats/reader/bounds.h"
#include "formats/reader/nonce.h"
#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/order/decode_ahead.h"
#include "stitch/source.h"

/* ---- deferred user stacks: cookies, the stacks that follow later, the files
 * that they name, and lines that processes which unwind themselves write to
 * trace_marker. Layouts: backstitch-formats(5), "Deferred stacks: ftrace". */

/* Returns the bytes of an array in the entry; empty if there is none. */
static struct bytes ft_defer_take_array(struct ft *ft, const struct ft_type *t,
					int field, const struct bytes *raw)
{
	struct bytes b = *raw;
	struct field f;

	tp_field_take_alone(&ft->look, &t->fmt, field, raw, &f);
	b.pos = b.end;
	if (f.present && f.blob) {
		b.pos = f.blob;
		b.end = b.pos + f.len;
	}
	return b;
}

/* Takes the next element of an array of kernel longs. Returns false at the
 * end. */
static bool ft_defer_next_long(const struct ft *ft, struct bytes *b,
			       uint64_t *out)
{
	if (tp_take_long(b, ft->commit32, out, NULL))
		return false;
	/* -1 of either size ends a stack. */
	if (ft->commit32 && *out == UINT32_MAX)
		*out = UINT64_MAX;
	return true;
}

/* Returns the text up to its first NUL; buf is padded. */
static struct scan ft_defer_marker_text(const struct ft_type *t,
					const struct bytes *raw)
{
	struct bytes b = *raw;

	if (bytes_skip(&b, t->fmt.field[t->part.at].off, NULL))
		return scan_of("", 0);
	return scan_of(b.pos, strnlen((const char *)b.pos, bytes_left(&b)));
}

static void ft_defer_cookie(const struct ft_type *t, const struct bytes *raw,
			    struct rec_sample *s)
{
	int64_t cookie = ft_field_number(t, t->part.at, raw, 0);

	/* a cookie of 0: the kernel could not accept the request */
	s->cookie = (uint64_t)cookie;
	s->defer = cookie ? DEFER_COOKIE : DEFER_REFUSED;
}

void ft_defer_inode(struct ft *ft, const struct ft_type *t,
		    const struct bytes *raw)
{
	struct place file = { .ino = (uint64_t)ft_field_number(t, t->part.at,
							       raw, 0) };
	struct field f;

	user_stack_reader_set_device(
		(uint32_t)ft_field_number(t, t->part.dev, raw, 0), &file);
	tp_field_take_alone(&ft->look, &t->fmt, t->part.size, raw, &f);
	if (f.present && f.text)
		user_stack_reader_note_file(&ft->stack, &file,
					    scan_of(f.text, strlen(f.text)));
}

void ft_defer_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		   const struct bytes *raw, struct event_def *def)
{
	struct scan text = ft_defer_marker_text(t, raw);
	struct nonce_line l;

	for (size_t at = 0, from = 0;
	     nonce_next(ft->nonce_format, text, &at, &l); from = at) {
		if (l.kind == NONCE_REQUEST)
			def->defer = true;
		else
			ft_add_ref(ft, ev, CLASS_CHAIN, (uint32_t)from);
	}
}

static int ft_defer_chain(struct ft *ft, const struct ft_type *t,
			  const struct ref *ref, const struct bytes *raw,
			  struct record *rec, struct err *err)
{
	user_stack_reader_start(&ft->stack);
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->src.path);
	rec->kind = REC_CHAIN;
	rec->chain = (struct rec_chain){ .cookie = 0 };
	if (t->role == ROLE_MARKER) {
		nonce_stack(ft->nonce_format, ft_defer_marker_text(t, raw),
			    ref->len, &ft->stack, rec);
		if (rec->pid < 0)
			rec->pid = ft_tgid_of(ft, rec->tid);
	} else {
		rec->chain.cookie =
			(uint64_t)ft_field_number(t, t->part.size, raw, 0);
		/* if the event has inodes, the values are offsets in files;
		 * otherwise they are addresses */
		struct bytes stack =
			ft_defer_take_array(ft, t, t->part.at, raw);
		struct bytes inodes =
			ft_defer_take_array(ft, t, t->part.inodes, raw);
		struct bytes devs =
			ft_defer_take_array(ft, t, t->part.dev, raw);
		struct place file = { .off = 0 };
		uint64_t value;
		uint32_t dev;

		while (ft_defer_next_long(ft, &stack, &value)) {
			if (t->part.inodes < 0) {
				if (value == UINT64_MAX)
					break;
				user_stack_reader_add(&ft->stack, value, NULL);
				continue;
			}
			if (!ft_defer_next_long(ft, &inodes, &file.ino))
				break;
			user_stack_reader_set_device(
				bytes_u32(&devs, &dev, NULL) ? 0 : dev, &file);
			user_stack_reader_add_file(&ft->stack, value, &file);
		}
	}
	rec->chain.user = user_stack_reader_addrs(&ft->stack);
	return 0;
}

/* Fields are found by name in the event's format; task_rules.h decides which
 * records an event makes. */

/* The task fields of an entry, with copies of the names. */
struct ft_task {
	struct task_event event;
	char name[2][COMM_LEN + 1];
};

static struct scan ft_task_name(struct ft *ft, const struct ft_type *t,
				int field, const struct bytes *raw,
				char out[COMM_LEN + 1])
{
	struct field f;

	tp_field_take_alone(&ft->look, &t->fmt, field, raw, &f);
	if (!f.text)
		return scan_of(NULL, 0);
	struct scan s = scan_of(f.text, strlen(f.text));

	if (t->role == ROLE_EXEC)
		s = task_name_of_path(s);
	s = scan_head(s, COMM_LEN);
	memcpy(out, s.p, s.n);
	out[s.n] = '\0';
	return scan_of(out, s.n);
}

/* Reads the task fields of an entry. `running`: the thread that recorded it. */
static void ft_task_read(struct ft *ft, const struct ft_type *t,
			 const struct bytes *raw, int32_t running,
			 struct ft_task *out)
{
	const struct ft_parts *part = &t->part;

	out->event = (struct task_event){
		.role = t->role,
		.tid = ft_field_number(t, part->pid, raw, running),
		.tid2 = ft_field_number(t, part->pid2, raw, -1),
		.name = ft_task_name(ft, t, part->comm, raw, out->name[0]),
		.name2 = ft_task_name(ft, t, part->comm2, raw, out->name[1]),
		.copies = true,
		.clone_flags =
			t->role == ROLE_NEWTASK
				? ft_field_number(t, part->state, raw, -1)
				: -1,
	};
}

void ft_task_refs(struct ft *ft, const struct ft_type *t, const struct ref *ev,
		  int32_t pid, const struct bytes *raw)
{
	struct ft_task task;
	unsigned int due = 0;

	if (t) {
		ft_task_read(ft, t, raw, pid, &task);
		task.event.buffer = ft->stream[ev->handle >> 48].instance;
		task.event.time = ev->key;
		task.event.has_process = ft->n_tgid && ft_tgid_of(ft, pid) >= 0;
		due = known_tasks_event(&ft->known, &task.event);
	}
	if (due & TASK_COMM)
		ft_add_ref(ft, ev, CLASS_COMM, FT_FIRST);
	if (due & TASK_FORK)
		ft_add_ref(ft, ev, CLASS_FORK, 0);
	if (due & TASK_COMM2)
		ft_add_ref(ft, ev, CLASS_COMM, FT_SECOND);
	if (due & TASK_EXIT)
		ft_add_ref(ft, ev, CLASS_EXIT, 0);
	if (t)
		memset(ft->settled, 0, sizeof(ft->settled));
	if (ft_task_is_settled(ft, pid))
		return;
	ft->settled[(uint32_t)pid % FT_SETTLED] = pid;
	if (known_tasks_has_name(&ft->known, pid))
		return;
	const char *saved = ft_name_of(ft, pid);

	if (saved &&
	    known_tasks_rename(&ft->known, pid, saved, strlen(saved), true))
		ft_add_ref(ft, ev, CLASS_COMM, FT_SAVED);
}

/* Sets the thread of a record. A process from saved_tgids may belong to a later
 * thread with this id, so the process becomes unknown. */
static void ft_task_set_tid(int64_t tid, struct record *rec)
{
	if (tid != rec->tid)
		rec->pid = tid ? -1 : 0;
	rec->tid = (int32_t)tid;
}

/* Makes the record of a ref that ft_task_refs() added. Returns 0, or -1 and
 * *err. */
static int ft_task_record(struct ft *ft, const struct ft_type *t,
			  const struct ref *ref, const struct bytes *raw,
			  struct record *rec, struct err *err)
{
	struct ft_task task;

	if (ref->kind == CLASS_COMM && ref->len == FT_SAVED) {
		const char *name = ft_name_of(ft, rec->tid);

		rec->kind = REC_COMM;
		rec->comm.name = name ? name : "";
		rec->flags |= REC_F_SYNTH;
		return 0;
	}
	if (!t)
		return err_set(err, ERR_FORMAT, "%s: event has no format",
			       ft->in.path);
	ft_task_read(ft, t, raw, rec->tid, &task);
	if (ref->kind == CLASS_COMM) {
		bool second = ref->len == FT_SECOND;

		rec->kind = REC_COMM;
		rec->comm.name = ft->comm;
		memcpy(ft->comm, task.name[second], sizeof(task.name[second]));
		ft_task_set_tid(second ? task.event.tid2 : task.event.tid, rec);
		if (task.event.role == ROLE_EXEC)
			task_exec_record(rec);
	} else if (ref->kind == CLASS_FORK) {
		int64_t tid = task.event.tid2;

		task_fork_record(&task.event, rec->pid,
				 tid == rec->tid ? rec->pid
				 : tid		 ? ft_tgid_of(ft, (int32_t)tid)
						 : 0,
				 rec);
	} else {
		task_exit_record(rec);
		ft_task_set_tid(task.event.tid, rec);
	}
	return 0;
}

/* Returns the arena for what a record points to. */
static inline struct arena *ft_record_arena(struct ft *ft)
{
	return ft->src.arena ? ft->src.arena : &ft->made;
}

/* Moves addresses of the last boot, which raw pages have, to the current
 * one. */
static void ft_record_move_addrs(const struct ft_instance *in, uint64_t *ip,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ip[i] - in->last_text < in->text_len)
			ip[i] += in->moved;
}

/* Sets *out to the addresses of a stack up to its end mark, at most `most` of
 * them. */
static void ft_record_addrs(struct ft *ft, const struct bytes *raw, uint64_t at,
			    uint64_t most, bool zero_ends,
			    const struct ft_instance *moved, struct addrs *out)
{
	uint64_t end = ft->commit32 ? UINT32_MAX : UINT64_MAX;
	uint64_t n = (bytes_left(raw) - at) / (ft->commit32 ? 4 : 8);
	uint32_t low = 0;
	uint32_t got = 0;

	lower_to(n, most);
	uint64_t *ip = arena_take(ft_record_arena(ft), n * sizeof(*ip));

	if (ft->commit32) {
		for (uint64_t i = 0; i < n; i++) {
			bytes_peek_u32(raw, at + 4 * i, &low);
			ip[i] = low;
		}
	} else {
		bytes_peek_u64s(raw, at, ip, n);
	}
	while (got < n && ip[got] != end && !(zero_ends && !ip[got]))
		got++;
	if (moved)
		ft_record_move_addrs(moved, ip, got);
	out->ip = ip;
	out->n = got;
}

/* Returns the buffer of a record if its addresses are of another boot, or
 * NULL. */
static const struct ft_instance *ft_record_moved(const struct ft *ft,
						 const struct record *rec)
{
	return rec->ring < ft->n_inst && ft->inst[rec->ring].moved
		       ? &ft->inst[rec->ring]
		       : NULL;
}

static void ft_record_kernel_stack(struct ft *ft, const struct ft_type *t,
				   const struct bytes *raw, struct record *rec)
{
	int64_t n = ft_field_number(t, t->part.size, raw, INT32_MAX);
	uint64_t at = (uint64_t)t->part.at;

	if (at <= bytes_left(raw))
		ft_record_addrs(ft, raw, at, n < 0 ? 0 : (uint64_t)n, false,
				ft_record_moved(ft, rec), &rec->sample.kern);
}

/* Sets the user stack, and the process, which the entry has too. */
static void ft_record_user_stack(struct ft *ft, const struct ft_type *t,
				 const struct bytes *raw, struct record *rec)
{
	struct rec_sample *s = &rec->sample;
	int64_t tgid = ft_field_number(t, t->part.size, raw, -1);
	uint64_t at = (uint64_t)t->part.at;

	if (at > bytes_left(raw))
		return;
	ft_record_addrs(ft, raw, at, UINT64_MAX, true, NULL, &s->user);
	if (tgid > 0 && tgid <= INT32_MAX)
		rec->pid = (int32_t)tgid;
	if (s->user.n)
		s->defer = DEFER_DIRECT;
}

static void ft_record_stack_at(struct ft *ft, struct ft_stream *st,
			       uint64_t place, struct record *rec)
{
	struct bytes raw;
	uint16_t id = 0;

	if (ft_entry_at(ft, st, place, &raw, NULL) ||
	    bytes_peek_u16(&raw, 0, &id))
		return;
	const struct ft_type *t = ft_type_of(ft, id);

	if (t && t->role == ROLE_KSTACK)
		ft_record_kernel_stack(ft, t, &raw, rec);
	else if (t && t->role == ROLE_USTACK)
		ft_record_user_stack(ft, t, &raw, rec);
	else if (t && t->role == ROLE_COOKIE)
		ft_defer_cookie(t, &raw, &rec->sample);
}

/* Sets the thread, and the process unless a user stack has set it. */
static void ft_record_set_task(const struct ft *ft, const struct ref *ref,
			       const struct bytes *raw, struct record *rec)
{
	uint32_t tid = 0;

	bytes_peek_u32(raw, 4, &tid);
	rec->tid = (int32_t)tid;
	if (rec->pid < 0)
		rec->pid = !tid ? 0
			   : ft->n_tgid && !(ref->handle & 1)
				   ? ft_tgid_of(ft, rec->tid)
				   : -1;
}

/* Copies what a record points to into the caller's arena, if there is one. */
static void ft_record_keep(struct ft *ft, struct record *rec)
{
	if (ft->src.arena)
		keep_record(rec, ft->src.arena);
}

/* Makes the record of an event. Reads its stacks first: that may drop the
 * window with the event's bytes. */
static int ft_record_event(struct ft *ft, const struct ref *ref,
			   struct ft_stream *st, uint64_t place,
			   struct record *rec, struct err *err)
{
	struct rec_sample *s = &rec->sample;
	uint64_t kern = ref->len & UINT16_MAX;
	uint64_t user = ref->len >> 16;
	struct bytes raw;
	uint16_t id = 0;

	rec->kind = REC_SAMPLE;
	s->weight = 1;
	if (kern)
		ft_record_stack_at(ft, st, place + kern * 4, rec);
	if (user)
		ft_record_stack_at(ft, st, place + user * 4, rec);
	if (ft_entry_at(ft, st, place, &raw, err))
		return -1;
	ft_record_set_task(ft, ref, &raw, rec);
	bytes_peek_u16(&raw, 0, &id);
	const struct ft_type *t = ft_type_of(ft, id);

	s->event = ft_event_find(ft, st->instance, id);
	s->event = s->event == UINT32_MAX ? 0 : s->event;
	s->raw = raw.pos;
	s->raw_len = (uint32_t)bytes_left(&raw);
	if (!t)
		return 0;
	if (t->role == ROLE_KSTACK)
		ft_record_kernel_stack(ft, t, &raw, rec);
	else if (t->role == ROLE_USTACK)
		ft_record_user_stack(ft, t, &raw, rec);
	else if (t->role == ROLE_COOKIE)
		ft_defer_cookie(t, &raw, s);
	else if (t->role == ROLE_MARKER)
		nonce_request(ft->nonce_format, ft_defer_marker_text(t, &raw),
			      rec);
	else if (t->role >= ROLE_SWITCH)
		tp_sched_take(&t->fmt, &raw, &s->sched);
	if (!thread_id_can_be(s->sched.tid) ||
	    !thread_id_can_be(s->sched.next_tid))
		return err_at(err, raw.path, rec->off,
			      "a switch or wakeup of thread %" PRId32
			      " or %" PRId32 ", needs at most %d",
			      s->sched.tid, s->sched.next_tid, THREAD_ID_MAX);
	if (t->fmt.call.what != CALL_NONE) {
		struct arena *a = ft_record_arena(ft);
		struct call *c = arena_take(a, sizeof(*c));

		tp_call_take(&ft->look, &t->fmt, &raw, c);
		if (c->path)
			c->path = arena_strdup(a, c->path);
		s->call = c;
	}
	if (t->fmt.n_stack) {
		/* Set the stacks in fields of the event. An event without
		 * another stack gets the first of them. */
		tp_stacks_take(&ft->look, &t->fmt, &raw, ft->commit32, s);
		const struct ft_instance *moved = ft_record_moved(ft, rec);

		if (moved)
			ft_record_move_addrs(moved, ft->look.ip,
					     (uint32_t)ft->look.n_ip);
		if (!s->kern.n && s->n_held)
			s->kern = s->held[0];
		ft_record_keep(ft, rec);
	}
	return 0;
}

int ft_decode(struct source *src, const struct ref *ref, struct record *rec,
	      struct err *err)
{
	struct ft *ft = ft_from_source(src);
	uint64_t stream = ref->handle >> 48;
	uint64_t place = ref->handle & PLACE_MASK & ~(uint64_t)1;

	if (!src->arena)
		arena_clear(&ft->made);
	*rec = (struct record){ .time = ref->key, .pid = -1, .tid = -1 };
	if (stream == FT_SYNTHETIC) {
		*rec = ft->synthetic[ref->handle & PLACE_MASK];
		rec->time = ref->key;
		ft_record_keep(ft, rec);
		return 0;
	}
	struct ft_stream *st = &ft->stream[stream];

	rec->cpu = st->cpu;
	rec->ring = st->instance;
	rec->off = ft_stream_file_offset(st, place);
	if (ref->kind == CLASS_LOST) {
		struct ft_page pg;

		if (ft_page_open(ft, st, place, &pg, err))
			return -1;
		rec->kind = REC_LOST;
		rec->tid = -1;
		rec->lost.n = pg.has_number ? pg.n_lost : 0;
		rec->lost.event = -1;
		return 0;
	}
	if (ref->kind == CLASS_SAMPLE)
		return ft_record_event(ft, ref, st, place, rec, err);
	struct bytes raw;
	uint16_t id = 0;

	if (ft_entry_at(ft, st, place, &raw, err))
		return -1;
	ft_record_set_task(ft, ref, &raw, rec);
	bytes_peek_u16(&raw, 0, &id);
	const struct ft_type *t = ft_type_of(ft, id);

	if (ref->kind == CLASS_CHAIN
		    ? ft_defer_chain(ft, t, ref, &raw, rec, err)
		    : ft_task_record(ft, t, ref, &raw, rec, err))
		return -1;
	ft_record_keep(ft, rec);
	return 0;
}
