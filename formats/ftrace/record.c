/* record.c - makes the record of a ref: an event with its stacks, a mark of
 * loss, or what task.c, defer.c and synthetic.c make. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/reader/bounds.h"
#include "stitch/base/err.h"

#define PLACE_MASK (((uint64_t)1 << 48) - 1)

/* Takes the addresses of a stack up to its end mark. */
static uint32_t ft_record_take_addrs(const struct ft *ft, struct bytes *b,
				     uint64_t most, bool zero_ends,
				     uint64_t **out, size_t *cap)
{
	uint64_t n = bytes_left(b) / (ft->commit32 ? 4 : 8);
	uint64_t end = ft->commit32 ? UINT32_MAX : UINT64_MAX;
	uint32_t got = 0;
	uint32_t low = 0;

	if (n > most)
		n = most;
	*out = mem_grow(*out, cap, (size_t)n, sizeof(**out));
	uint64_t *ip = *out;

	if (!ft->commit32)
		bytes_u64s(b, ip, n, NULL);
	for (uint64_t i = 0; ft->commit32 && i < n; i++)
		ip[i] = bytes_u32(b, &low, NULL) ? end : low;
	while (got < n && ip[got] != end && (ip[got] || !zero_ends))
		got++;
	return got;
}

/* Raw pages of the last boot have addresses of that boot. */
static void ft_record_move_addrs(const struct ft_instance *in, uint64_t *ip,
				 uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		if (ip[i] - in->last_text < in->text_len)
			ip[i] += in->moved;
}

static void ft_record_kernel_stack(struct ft *ft, const struct ft_type *t,
				   const struct bytes *raw, struct record *rec)
{
	struct rec_sample *s = &rec->sample;
	struct bytes b = *raw;
	int64_t n = ft_field_number(t, t->part.size, raw, INT32_MAX);

	if (bytes_skip(&b, (uint64_t)t->part.at, NULL))
		return;
	s->kern.n = ft_record_take_addrs(ft, &b, n < 0 ? 0 : (uint64_t)n, false,
					 &ft->kern, &ft->cap_kern);
	if (rec->ring < ft->n_inst && ft->inst[rec->ring].moved)
		ft_record_move_addrs(&ft->inst[rec->ring], ft->kern, s->kern.n);
	s->kern.ip = ft->kern;
}

/* The entry also tells the process. */
static void ft_record_user_stack(struct ft *ft, const struct ft_type *t,
				 const struct bytes *raw, struct record *rec)
{
	struct rec_sample *s = &rec->sample;
	struct bytes b = *raw;
	int64_t tgid = ft_field_number(t, t->part.size, raw, -1);

	if (bytes_skip(&b, (uint64_t)t->part.at, NULL))
		return;
	s->user.n = ft_record_take_addrs(ft, &b, UINT64_MAX, true, &ft->user,
					 &ft->cap_user);
	s->user.ip = ft->user;
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

/* Sets the thread, and the process unless a user stack has told it. */
static void ft_record_set_task(const struct ft *ft, const struct bytes *raw,
			       struct record *rec)
{
	uint32_t tid = 0;

	bytes_peek_u32(raw, 4, &tid);
	rec->tid = (int32_t)tid;
	if (rec->pid < 0)
		rec->pid = tid ? ft_tgid_of(ft, rec->tid) : 0;
}

/* Sets the stacks in fields of the event. An event without a stack of its own
 * gets the first of them. */
static void ft_record_field_stacks(struct ft *ft, const struct ft_type *t,
				   const struct bytes *raw, struct record *rec)
{
	struct rec_sample *s = &rec->sample;

	tp_stacks_take(&ft->look, &t->fmt, raw, ft->commit32, s);
	if (rec->ring < ft->n_inst && ft->inst[rec->ring].moved)
		ft_record_move_addrs(&ft->inst[rec->ring], ft->look.ip,
				     (uint32_t)ft->look.n_ip);
	if (!s->kern.n && s->n_held)
		s->kern = s->held[0];
}

/* Reads the stacks first: reading them may drop the window that holds the
 * event's bytes. */
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
	ft_record_set_task(ft, &raw, rec);
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
		ft_defer_request(ft, t, &raw, rec);
	else if (t->role >= ROLE_SWITCH)
		tp_sched_take(&t->fmt, &raw, &s->sched);
	if (!thread_id_can_be(s->sched.tid) ||
	    !thread_id_can_be(s->sched.next_tid))
		return err_at(err, raw.path, rec->off,
			      "a switch or wakeup of thread %" PRId32
			      " or %" PRId32 ", needs at most %d",
			      s->sched.tid, s->sched.next_tid, THREAD_ID_MAX);
	if (t->fmt.n_stack)
		ft_record_field_stacks(ft, t, &raw, rec);
	if (t->fmt.call.what != CALL_NONE) {
		tp_call_take(&ft->look, &t->fmt, &raw, &ft->call);
		s->call = &ft->call;
	}
	return 0;
}

static int ft_record_lost(struct ft *ft, struct ft_stream *st, uint64_t place,
			  struct record *rec, struct err *err)
{
	struct ft_page pg;

	if (ft_page_open(ft, st, place, &pg, err))
		return -1;
	rec->kind = REC_LOST;
	rec->tid = -1;
	rec->lost.n = pg.has_number ? pg.n_lost : 0;
	rec->lost.event = -1;
	return 0;
}

static int ft_record_of_entry(struct ft *ft, const struct ref *ref,
			      struct ft_stream *st, uint64_t place,
			      struct record *rec, struct err *err)
{
	struct bytes raw;
	uint16_t id = 0;

	if (ft_entry_at(ft, st, place, &raw, err))
		return -1;
	ft_record_set_task(ft, &raw, rec);
	bytes_peek_u16(&raw, 0, &id);
	const struct ft_type *t = ft_type_of(ft, id);

	if (ref->kind == CLASS_CHAIN)
		return ft_defer_chain(ft, t, ref, &raw, rec, err);
	return ft_task_record(ft, t, ref, &raw, rec, err);
}

int ft_decode(struct source *src, const struct ref *ref, struct record *rec,
	      struct err *err)
{
	struct ft *ft = ft_from_source(src);
	uint64_t stream = ref->handle >> 48;
	uint64_t place = ref->handle & PLACE_MASK;

	*rec = (struct record){ .time = ref->key, .pid = -1, .tid = -1 };
	if (stream == FT_SYNTHETIC) {
		ft_synthetic_record(ft, (size_t)place, rec);
		return 0;
	}
	struct ft_stream *st = &ft->stream[stream];

	rec->cpu = st->cpu;
	rec->ring = st->instance;
	rec->off = ft_stream_file_offset(st, place);
	if (ref->kind == CLASS_LOST)
		return ft_record_lost(ft, st, place, rec, err);
	if (ref->kind == CLASS_SAMPLE)
		return ft_record_event(ft, ref, st, place, rec, err);
	return ft_record_of_entry(ft, ref, st, place, rec, err);
}
