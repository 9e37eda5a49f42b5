/* page.c - reads the kernel's ring-buffer pages (kernel/trace/ring_buffer.c):
 * entries with their times, and the marks of lost entries. */
#include "formats/ftrace/page.h"

#include <inttypes.h>

#include "formats/tracepoint/fields.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* ---- compares the length of an entry with its format.
 *
 * The length leads from one entry to the next: one that is too long hides the
 * entries after it, and one that is too short turns the rest into false
 * entries. */

/* Linux 6.12.117 has the times of a call in the struct that it copies to the
 * entry, and still reserves room for both after it, which it does not write
 * (kernel/trace/trace_entries.h, funcgraph_exit). */
#define FT_TIMES_AGAIN 16

/* Returns whether an entry may be longer than this field makes it.
 *
 * The kernel measures the strings and arrays of a probe before it copies them.
 * If the copy fails, the entry keeps the reserved bytes
 * (kernel/trace/trace_probe_tmpl.h, store_trace_args()); the same holds for
 * strings of system calls (kernel/trace/trace_syscalls.c).
 *
 * In a synthetic event each string of fixed size takes STR_VAR_LEN_MAX bytes,
 * whatever its size field says (kernel/trace/trace_events_synth.c), and for the
 * last string nothing shows it. */
static bool ft_entry_may_be_longer(const struct tp_format *fmt,
				   const struct tp_field *f)
{
	if (f->kind == FMT_TEXT)
		return !strcmp(fmt->system, "synthetic");
	return tp_field_is_dynamic(f) &&
	       (tp_format_is_probe(fmt) || !strcmp(fmt->system, "syscalls"));
}

void ft_entry_set_size(struct ft_type *t)
{
	bool stack = t->role == ROLE_KSTACK;

	t->open = t->fmt.n_stack || (stack && t->part.size < 0);
	if (t->fmt.name && !strcmp(t->fmt.name, "funcgraph_exit"))
		t->spare = FT_TIMES_AGAIN;
	for (size_t i = 0; i < t->fmt.n; i++) {
		const struct tp_field *f = &t->fmt.field[i];
		uint32_t end;

		if (f->off >= FT_SYMBOL_OFF)
			continue;
		t->open |= !f->size && !stack;
		t->dynamic |= tp_field_is_dynamic(f);
		t->open |= ft_entry_may_be_longer(&t->fmt, f);
		/* The format of kernel_stack declares more addresses than an
		 * entry may have. */
		if (__builtin_add_overflow(f->off, f->size, &end) ||
		    (stack && f->off == (uint32_t)t->part.at))
			continue;
		raise_to(t->least, end);
	}
}

uint64_t ft_entry_dynamic_end(const struct ft_type *t, const struct bytes *b)
{
	uint64_t end = 0;

	for (size_t i = 0; i < t->fmt.n; i++) {
		const struct tp_field *f = &t->fmt.field[i];
		uint32_t at;

		if (!tp_field_is_dynamic(f) || bytes_peek_u32(b, f->off, &at))
			continue;
		uint64_t to = (at & 0xffff) + (at >> 16) +
			      (f->relative ? f->off + f->size : 0);

		raise_to(end, to);
	}
	return end;
}

void ft_entry_misfit(const struct ft_type *t, const struct bytes *b,
		     unsigned int width, struct err *err)
{
	err_at(err, b->path, bytes_off(b),
	       "an entry of '%s' has %zu bytes, needs %" PRIu64 "%s",
	       t->fmt.name ? t->fmt.name : "", bytes_left(b),
	       ft_entry_end(t, b, width), t->open ? " or more" : "");
}

#define FT_TYPE_EXTEND 30u

void ft_add_ref(struct ft *ft, const struct ref *ev, uint8_t kind, uint32_t len)
{
	mem_grow(ft->due, ft->cap_due, ft->n_due + 1);
	struct ref *r = &ft->due[ft->n_due++];

	*r = *ev;
	r->kind = kind;
	r->len = len;
	r->seq = ++ft->seq;
}

static bool ft_refs_is_top(const struct ft *ft, uint32_t instance)
{
	return instance >= ft->n_inst || !*ft->inst[instance].name;
}

static uint64_t ft_refs_event_hash(uint32_t instance, uint16_t id)
{
	return hash_u64((uint64_t)instance << 16 | id);
}

/* An event that several buffers record is a separate event in each. */
uint32_t ft_event_peek(struct ft *ft, uint32_t instance, uint16_t id)
{
	uint32_t i;

	if (ft_refs_is_top(ft, instance))
		i = ft->event_of[id] - 1;
	else
		i = table_find_hash(&ft->events,
				    ft_refs_event_hash(instance, id));
	ft->near_event[(id ^ instance) % FT_NEAR] =
		(struct ft_near_event){ instance, i + 1, id };
	return i;
}

uint32_t ft_event_add(struct ft *ft, uint32_t instance, uint16_t id)
{
	const struct ft_type *t = ft_type_of(ft, id);
	struct event_def ev = {
		.type = 2, /* PERF_TYPE_TRACEPOINT */
		.config = id,
		.has_cpu = true,
		.has_time = true,
	};
	const char *buffer =
		ft_refs_is_top(ft, instance) ? NULL : ft->inst[instance].name;
	char number[16];

	snprintf(number, sizeof(number), "%u", id);
	ev.name = arena_join(&ft->arena, t ? t->fmt.system : "unknown", ':',
			     t && t->fmt.name ? t->fmt.name : number);
	if (buffer)
		ev.name = arena_join(&ft->arena, buffer, '/', ev.name);
	if (t) {
		ev.format = t->fmt.text;
		ev.fields = t->fmt.def;
		ev.n_fields = (uint32_t)t->fmt.n;
		ev.sched = t->fmt.sched.kind;
		ev.has_chain = t->fmt.n_stack > 0;
		ev.adds_fields = t->printk || t->named;
	}
	ev.buffer = buffer;
	*mem_add(ft->event, ft->n_event, ft->cap_event) = ev;
	if (ft_refs_is_top(ft, instance))
		ft->event_of[id] = (uint32_t)ft->n_event;
	else
		table_add(&ft->events, ft_refs_event_hash(instance, id),
			  (uint32_t)ft->n_event - 1);
	ft->src.events = ft->event;
	ft->src.n_events = (uint32_t)ft->n_event;
	return (uint32_t)ft->n_event - 1;
}

/* ---- times of a guest. During the recording, trace-cmd measures the
 * difference between the clock of each CPU of a guest and the host's clock
 * (option TIME_SHIFT of the guest's file). As in trace-cmd, it is used when the
 * host's file is read together with the guest's: the option has the host's
 * TRACEID. */

#define SAMPLES_MAX 1000000u
#define INTERPOLATE 1u

COMPARE_BY(ft_sync_compare, struct ft_sample, time);

/* Reads the fractions, if there are any: older recorders write none. */
static void ft_sync_take_fractions(struct ft *ft, struct bytes *b)
{
	for (size_t c = 0; c < ft->n_sync; c++)
		for (uint32_t i = 0; i < ft->sync[c].n; i++) {
			uint64_t bits = 0;

			if (bytes_u64(b, &bits, NULL))
				return;
			ft->sync[c].at[i].fraction = bits < 64 ? bits : 63;
		}
}

int ft_sync_read(struct ft *ft, struct bytes *b, struct err *err)
{
	uint32_t cpus, n;

	ft_sync_release(ft);
	if (bytes_u64(b, &ft->peer, err) ||
	    bytes_u32(b, &ft->sync_flags, err) || bytes_u32(b, &cpus, err))
		return -1;
	if (cpus > CPUS_MAX || cpus > bytes_left(b) / 4)
		return err_at(err, b->path, bytes_off(b),
			      "time samples of %" PRIu32 " CPUs, more than "
			      "there are bytes",
			      cpus);
	ft->sync = mem_new(cpus ? cpus : 1, sizeof(*ft->sync));
	for (uint32_t c = 0; c < cpus; c++) {
		if (bytes_u32(b, &n, err))
			return -1;
		if (n > SAMPLES_MAX || n > bytes_left(b) / 24)
			return err_at(err, b->path, bytes_off(b),
				      "%" PRIu32 " time samples of a CPU, more "
				      "than there are bytes",
				      n);
		struct ft_sample *s = mem_new(n ? n : 1, sizeof(*s));

		ft->sync[c] = (struct ft_sync){ s, n };
		ft->n_sync++;
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].time, NULL);
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].offset, NULL);
		for (uint32_t i = 0; i < n; i++)
			bytes_u64(b, &s[i].scaling, NULL);
	}
	ft_sync_take_fractions(ft, b);
	for (uint32_t c = 0; c < cpus; c++)
		sort_items(ft->sync[c].at, ft->sync[c].n, ft_sync_compare);
	return 0;
}

void ft_sync_release(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_sync; i++)
		free(ft->sync[i].at);
	free(ft->sync);
	ft->sync = NULL;
	ft->n_sync = 0;
}

/* Returns the offset at time t, between the samples a and the one after it. */
static uint64_t ft_sync_interpolate(const struct ft_sample *a,
				    const struct ft_sample *b, uint64_t t)
{
	uint64_t delta = b->time - a->time;
	uint64_t after = t - a->time;
	uint64_t more = b->offset - a->offset;
	bool minus = after >> 63 != more >> 63;
	struct wide by = wide_mul(after >> 63 ? -after : after,
				  more >> 63 ? -more : more);

	if (!delta)
		return a->offset;
	/* half of delta is added before the division; the result rounds towards
	 * 0 */
	if (!minus)
		return a->offset + wide_div(wide_add(by, delta / 2), delta);
	if (!by.hi && by.lo < delta / 2)
		return a->offset;
	by.hi -= by.lo < delta / 2;
	by.lo -= delta / 2;
	return a->offset - wide_div(by, delta);
}

uint64_t ft_sync_time(const struct ft *ft, int32_t cpu, uint64_t t)
{
	if (cpu < 0 || (size_t)cpu >= ft->n_sync)
		return t;
	const struct ft_sync *sy = &ft->sync[cpu];
	if (!sy->n)
		return t;
	if (sy->n == 1)
		return t + sy->at[0].offset;
	size_t i = search_where(sy->n - 1, k, sy->at[k].time > t);
	const struct ft_sample *a = &sy->at[i ? i - 1 : 0];
	uint64_t off = ft->sync_flags & INTERPOLATE
			       ? ft_sync_interpolate(a, a + 1, t)
			       : a->offset;

	if (a->scaling)
		t = wide_shift(wide_mul(t, a->scaling),
			       (unsigned int)a->fraction);
	return t + off;
}

void ft_sync_pair(struct ft *guest, const struct ft *host)
{
	char detail[128];

	if (!guest->n_sync || guest->synced || guest == host ||
	    !host->trace_id || guest->peer != host->trace_id)
		return;
	guest->synced = true;
	guest->src.info.on = &host->src;
	snprintf(detail, sizeof(detail),
		 "of a guest: times are on the clock of its host, %.40s",
		 host->src.info.host ? host->src.info.host : "not named");
	reader_note(&guest->src, "machine", detail);
}

#define LOST ((uint64_t)1 << 31)	/* entries before this page were lost */
#define LOST_STORED ((uint64_t)1 << 30) /* their number follows the data */
#define LENGTH_MASK (((uint64_t)1 << 30) - 1)

#define STAMP_BITS 59

/* Returns whether these bytes are more than filling. ring_buffer_read_page()
 * fills the rest of a page with zeros: the first byte is zero, and each other
 * equals the one before it. */
static bool ft_page_has_data(const struct bytes *b)
{
	size_t n = bytes_left(b);

	return n && (*b->pos || memcmp(b->pos, b->pos + 1, n - 1) != 0);
}

int ft_page_open(struct ft *ft, struct ft_stream *s, uint64_t place,
		 struct ft_page *pg, struct err *err)
{
	uint64_t commit = 0;
	struct bytes b;

	*pg = (struct ft_page){ .place = place };
	if (ft_stream_bytes(ft, s, place, s->subbuf, &b, err) ||
	    bytes_u64(&b, &pg->time, err) ||
	    tp_take_long(&b, ft->commit32, &commit, err))
		return -1;
	uint64_t len = commit & LENGTH_MASK;

	if (len > bytes_left(&b))
		return err_at(err, s->path, ft_stream_file_offset(s, place),
			      "a page says it has %llu bytes of data, it can "
			      "have %zu",
			      (unsigned long long)len, bytes_left(&b));
	bytes_take(&b, len, &pg->b, NULL);
	pg->lost = commit & LOST;
	if (pg->lost && commit & LOST_STORED)
		pg->has_number =
			!tp_take_long(&b, ft->commit32, &pg->n_lost, NULL);
	pg->unread = ft_page_has_data(&b);
	return 0;
}

int ft_page_check_end(const struct ft_page *pg, struct err *err)
{
	/* padding at the end of a page has at most 8 bytes, the last 4 of which
	 * may be anything */
	if (!pg->unread &&
	    (bytes_left(&pg->b) <= 4 || !ft_page_has_data(&pg->b)))
		return 0;
	return err_at(err, pg->b.path, bytes_off(&pg->b),
		      "a page has data after the length that it gives");
}

int ft_page_again(struct ft *ft, struct ft_stream *s, struct ft_page *pg,
		  struct err *err)
{
	size_t at = (size_t)(pg->b.pos - pg->b.base);
	size_t left = bytes_left(&pg->b);
	struct bytes b;

	if (ft_stream_bytes(ft, s, pg->place, s->subbuf, &b, err) ||
	    bytes_skip(&b, at, err))
		return -1;
	return bytes_take(&b, left, &pg->b, err);
}

/* Takes the word before an entry. The order of its bit fields depends on the
 * byte order. */
static int ft_page_take_word(const struct ft *ft, struct bytes *b,
			     uint32_t *type, uint32_t *delta, struct err *err)
{
	uint32_t w;

	if (bytes_u32(b, &w, err))
		return -1;
	*type = ft->big ? w >> 27 : w & 31;
	*delta = ft->big ? w & 0x7ffffff : w >> 5;
	return 0;
}

/* Takes the payload that follows the word of an entry with data. */
static int ft_page_take_payload(struct bytes *b, uint32_t type,
				struct bytes *out, struct err *err)
{
	uint32_t len = type * 4;

	if (type == FT_TYPE_LONG) {
		if (bytes_u32(b, &len, err))
			return -1;
		if (len < 4 || len & 3)
			return err_at(err, b->path, bytes_off(b) - 4,
				      "an entry is %u bytes long, needs a "
				      "multiple of 4",
				      len);
		len -= 4;
	}
	return bytes_take(b, len, out, err);
}

int ft_page_next_any(const struct ft *ft, struct ft_page *pg,
		     struct ft_entry *e, struct err *err)
{
	while (bytes_left(&pg->b)) {
		uint64_t at = (uint64_t)(pg->b.pos - pg->b.base);
		uint32_t type, delta, more;

		if (ft_page_take_word(ft, &pg->b, &type, &delta, err))
			return -1;
		if (type == FT_TYPE_PADDING && !delta)
			return 0;
		if (type == FT_TYPE_PADDING) {
			/* The entry was written and then discarded. Its time
			 * counts. */
			pg->time += delta;
			if (bytes_u32(&pg->b, &more, err))
				return -1;
			if (more < 4)
				return err_at(err, pg->b.path,
					      bytes_off(&pg->b) - 4,
					      "a discarded entry is %u bytes "
					      "long, needs 4",
					      more);
			if (bytes_skip(&pg->b, more - 4, err))
				return -1;
			continue;
		}
		if (type >= FT_TYPE_EXTEND) {
			if (bytes_u32(&pg->b, &more, err))
				return -1;
			uint64_t t = delta + ((uint64_t)more << 27);
			uint64_t top = pg->time >> STAMP_BITS << STAMP_BITS;

			if (type == FT_TYPE_EXTEND)
				pg->time += t;
			else
				pg->time = top | t;
			continue;
		}
		pg->time += delta;
		e->time = pg->time;
		e->place = pg->place + at;
		if (ft_page_take_payload(&pg->b, type, &e->b, err))
			return -1;
		return 1;
	}
	return 0;
}

int ft_entry_any_at(struct ft *ft, struct ft_stream *s, uint64_t place,
		    struct bytes *out, struct err *err)
{
	uint32_t type, delta;
	struct bytes b;

	if (ft_stream_rest(ft, s, place, &b, err) ||
	    ft_page_take_word(ft, &b, &type, &delta, err))
		return -1;
	return ft_page_take_payload(&b, type, out, err);
}
