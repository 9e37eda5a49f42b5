/* stream.c - reads the packets of a stream, from one file after the other.
 *
 * A damaged packet costs only that packet: reading continues at the next one,
 * which is found by the size of the damaged one or, if there is none there, by
 * its magic number. Losses that the packets' counters show become items. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/decode/run.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"

/* ---- reads the headers of packets, and finds packets after damage.
 *
 * A packet has its own size, and the next packet follows it. After a damaged
 * one, the next is found by its magic number and the uuid of the trace. */

#define MAGIC 0xC1FC1FC1u
/* How many times the bytes that it searches the search for a packet may read:
 * after each magic number that begins no packet, a text without an end would be
 * read to the end of the file. */
#define WORK_MOST 16

int ctf_packet_read(const struct ctf_schema *sm, struct ctf_state *st,
		    const struct bytes *b, const uint8_t *uuid,
		    struct ctf_packet *out)
{
	const struct ctf_tree *t = &sm->tree;
	const uint64_t left = bytes_left(b);

	*out = (struct ctf_packet){ .off = bytes_off(b) };
	st->cur.b = *b;
	st->cur.at = 0;
	st->cur.end = left * 8;
	st->roles = 0;
	st->idle = st->output = 0;
	ctf_state_clear(st);
	if (ctf_run(&sm->head, st))
		return -1;
	if (st->roles >> CTF_MAGIC & 1 && st->role[CTF_MAGIC] != MAGIC)
		return ctf_field_stop(st, "no packet: it has no magic number");
	if (uuid && st->roles >> CTF_UUID_FIELD & 1 &&
	    memcmp(st->uuid, uuid, CTF_UUID) != 0)
		return ctf_field_stop(st, "no packet of this trace: it has "
					  "another uuid");
	uint64_t id = t->n_stream == 1 ? t->stream[0].id : 0;

	if (st->roles >> CTF_STREAM_CLASS_ID & 1)
		id = st->role[CTF_STREAM_CLASS_ID];
	const struct ctf_stream_class *sc = ctf_tree_stream(t, id);

	if (!sc)
		return ctf_field_stop(st, "the metadata has no stream class of "
					  "this packet's id");
	out->plan = &sm->plan[sc - t->stream];
	out->context = st->cur.at;
	if (ctf_run(&out->plan->packet, st))
		return -1;
	out->body = st->cur.at;
	bool sized = st->roles >> CTF_PACKET_BITS & 1;
	uint64_t bits = sized ? st->role[CTF_PACKET_BITS] : left * 8;

	out->end = st->roles >> CTF_CONTENT_BITS & 1
			   ? st->role[CTF_CONTENT_BITS]
			   : bits;
	if (!bits || bits % 8 || out->end > bits || out->end < st->cur.at)
		return ctf_field_stop(st, "no packet: its sizes cannot be");
	out->len = bits / 8;
	out->cut = out->len > left;
	if (out->cut)
		out->len = left;
	lower_to(out->end, out->len * 8);
	st->cur.end = out->end;
	if (sc->clock < 0)
		return 0;
	out->has_begin = st->roles >> CTF_CLOCK & 1;
	out->has_end = st->roles >> CTF_PACKET_END_CLOCK & 1;
	out->begin = st->clock[sc->clock];
	/* the time of the end does not set the clock */
	out->finish = st->role[CTF_PACKET_END_CLOCK];
	/* a tracer that died did not write the end */
	if (!out->finish && out->begin)
		out->has_end = false;
	return 0;
}

uint64_t ctf_packet_find(const struct ctf_schema *sm, struct ctf_state *st,
			 const struct bytes *b, uint64_t from,
			 const uint8_t *uuid, struct ctf_packet *out)
{
	static const unsigned char marks[2][4] = { { 0xc1, 0x1f, 0xfc, 0xc1 },
						   { 0xc1, 0xfc, 0x1f, 0xc1 } };
	const struct ctf_node *h = sm->tree.header;
	const bool has = h && h->n_child && h->child[0].role == CTF_MAGIC &&
			 h->child[0].bits == 32;
	const unsigned char *mark = has ? marks[h->child[0].big] : NULL;
	const uint64_t left = bytes_left(b);
	struct bytes at = *b;
	uint64_t work = 0;

	if (!mark || bytes_skip(&at, from, NULL))
		return left;
	while (work / WORK_MOST <= left) {
		const unsigned char *hit =
			memmem(at.pos, bytes_left(&at), mark, 4);

		if (!hit || bytes_skip(&at, (uint64_t)(hit - at.pos), NULL))
			return left;
		if (!ctf_packet_read(sm, st, &at, uuid, out) && !out->cut)
			return (uint64_t)(at.pos - b->pos);
		work += st->cur.at / 8 + st->idle;
		bytes_skip(&at, 1, NULL);
	}
	return left;
}

/* Some writers give packets a uuid that differs from the metadata's. So the
 * uuid of the first packet is expected, unless the second packet has the
 * metadata's: then the first packet is damaged. */
bool ctf_packet_uuid(const struct ctf_schema *sm, struct ctf_state *st,
		     const struct bytes *b, uint8_t uuid[CTF_UUID])
{
	const uint8_t *want = sm->tree.has_uuid ? sm->tree.uuid : NULL;
	struct bytes next = *b;
	uint8_t first[CTF_UUID];
	struct ctf_packet p;

	if (!want)
		return false;
	memcpy(uuid, want, CTF_UUID);
	if (ctf_packet_read(sm, st, b, NULL, &p) ||
	    !(st->roles >> CTF_UUID_FIELD & 1) ||
	    !memcmp(st->uuid, want, CTF_UUID))
		return true;
	memcpy(first, st->uuid, CTF_UUID);
	if (!bytes_skip(&next, p.len, NULL) && bytes_left(&next) &&
	    !ctf_packet_read(sm, st, &next, want, &p))
		return true;
	memcpy(uuid, first, CTF_UUID);
	return true;
}

/* What does not fit is noted as damage. The events of a packet whose headers do
 * not fit are kept; an event with an impossible value is dropped. */

#define CPU_MOST 65535

/* Returns whether a counter whose difference is n went backwards. A counter of
 * few bits may have wrapped between two packets. */
static bool ctf_check_is_back(uint64_t n, uint64_t mask)
{
	return mask >= UINT32_MAX && n > mask / 2;
}

/* Returns how much a counter grew, modulo the size of its field, and sets *mask
 * to its greatest value. */
static uint64_t ctf_check_grown(const struct ctf_stream *s,
				enum ctf_field_role role, uint64_t from,
				uint64_t to, uint64_t *mask)
{
	const struct ctf_node *ctx = s->packet.plan->sc->packet;

	*mask = UINT64_MAX;
	for (uint32_t i = 0; ctx && i < ctx->n_child; i++)
		if (ctx->child[i].role == role && ctx->child[i].bits &&
		    ctx->child[i].bits < 64)
			*mask = ((uint64_t)1 << ctx->child[i].bits) - 1;
	return (to - from) & *mask;
}

/* Returns what is wrong if the packet is of another stream than the packets
 * before it in the file; else NULL. */
static const char *ctf_check_stream(struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	const uint64_t class_id = s->packet.plan->sc->id;
	const bool has_id = st->roles >> CTF_STREAM_ID & 1;
	const uint64_t id = has_id ? st->role[CTF_STREAM_ID] : 0;
	const bool has_cpu = st->uses >> CTF_CPU & 1;
	const char *why = NULL;

	/* all ones in 32 or 64 bits mean unknown in backstitch's own export */
	if (has_cpu && st->use[CTF_CPU] > CPU_MOST &&
	    st->use[CTF_CPU] != UINT32_MAX && st->use[CTF_CPU] != UINT64_MAX)
		why = "a packet of a CPU that cannot be";
	else if (s->has_ids && (class_id != s->class_id ||
				has_id != s->has_id || id != s->id))
		why = "a packet of another stream than the one before it in "
		      "this file";
	else if (s->has_ids && has_cpu && s->has_cpu && s->schema->lttng &&
		 s->cpu != s->printed_cpu)
		why = "a packet of another CPU than the one before it in this "
		      "file";
	s->has_ids = true;
	s->class_id = class_id;
	s->has_id = has_id;
	s->id = id;
	s->has_cpu = has_cpu;
	s->printed_cpu = s->cpu;
	return why;
}

/* Returns whether n, the events discarded since the previous packet, exceeds
 * the nanoseconds since then. The clock may have passed one tick more. The
 * count is that of when the packet was delivered, but its end is that of when
 * the last space in it was taken: a writer that is preempted in between
 * delivers late. */
#define DELIVERY_NS ((uint64_t)3600 * 1000000000)
static bool ctf_check_is_much(const struct ctf_stream *s, uint64_t n)
{
	const struct ctf_packet *p = &s->packet;

	return n > DELIVERY_NS && s->clock && s->has_end && p->has_end &&
	       p->finish >= s->end &&
	       n - DELIVERY_NS > ctf_clock_ns(s->clock, p->finish - s->end + 1);
}

/* Returns how many events were discarded since the packets before; sets *back
 * if the counter went backwards and the number is unknown. LTTng-UST 2.13.5 was
 * seen to write a packet with 0 between two that continue the earlier count (0,
 * 145, 272, 0, 347: 347 events were lost). The counter was reset only if the
 * next packet that is not 0 is below the old count. */
static uint64_t ctf_check_discarded(const struct ctf_stream *s, bool *back)
{
	const uint64_t v = s->st.role[CTF_DISCARDED];
	uint64_t most;
	uint64_t n = ctf_check_grown(s, CTF_DISCARDED, s->discarded, v, &most);

	*back = false;
	if (!ctf_check_is_back(n, most))
		return n;
	*back = !s->is_back || !v || v < s->back;
	return *back ? 0 : v - s->back;
}

/* Returns what is wrong with the headers of the packet that begins, or NULL. */
static const char *ctf_check_begin(struct ctf_stream *s)
{
	const char *stream = ctf_check_stream(s);
	/* A packet that begins before the last event of the previous one: the
	 * clock was set back, which is noted for its events. */
	const struct ctf_packet *p = &s->packet;
	const bool both = p->has_begin && p->has_end;
	const char *why = NULL;

	if (both && p->finish < p->begin)
		why = "a packet ends before it begins";
	else if (both && s->clock &&
		 ctf_clock_ns(s->clock, p->finish - p->begin) > YEAR_NS)
		why = "a packet lasts for years";
	else if (p->has_begin && s->has_printed_end &&
		 p->begin < s->printed_end && p->begin >= s->printed_last &&
		 !s->schema->loose)
		why = "a packet begins before the end of the one before it";
	s->has_printed_end = p->has_end;
	s->printed_end = p->finish;

	if (stream || why)
		return stream ? stream : why;
	const struct ctf_state *st = &s->st;
	uint64_t n, most;
	bool back;

	if (st->roles >> CTF_DISCARDED & 1 && s->has_discarded &&
	    ctf_check_is_much(s, ctf_check_discarded(s, &back)))
		return "more events were discarded than nanoseconds passed";
	if (st->roles >> CTF_PACKET_SEQ & 1 && s->has_seq) {
		n = ctf_check_grown(s, CTF_PACKET_SEQ, s->seq,
				    st->role[CTF_PACKET_SEQ], &most);
		/* LTTng 2.10 was seen to give two packets the same number */
		if ((!n && !s->schema->loose) || ctf_check_is_back(n, most))
			return "the number of a packet is not above that of "
			       "the one before";
	}
	return NULL;
}

/* Returns whether this can be a thread id. All ones in 32 bits mean unknown. */
static bool ctf_check_can_be_thread(int64_t id)
{
	return thread_id_can_be(id) || id == UINT32_MAX;
}

/* Returns whether all thread ids of the event are possible. */
static bool ctf_check_threads(const struct ctf_state *st,
			      const struct ctf_event *ev,
			      const struct bytes *raw)
{
	static const uint32_t ids = 1u << CTF_USE_PID | 1u << CTF_USE_TID |
				    1u << CTF_USE_VPID | 1u << CTF_USE_VTID;
	static const enum ctf_part_of part[] = { CTF_TID, CTF_TID2, CTF_PID,
						 CTF_PID2 };

	for (uint32_t left = st->uses & ids; left; left &= left - 1)
		if (!ctf_check_can_be_thread(
			    (int64_t)st->use[__builtin_ctz(left)]))
			return false;
	return !ev->role || !any_where(ARRAY_SIZE(part), i,
				       !ctf_check_can_be_thread(ctf_number(
					       ev, part[i], raw, -1)));
}

/* Returns whether the sampled address and the kernel addresses are possible. If
 * the machine is unknown, one kernel address of 2^63 or more shows that all
 * kernel addresses must be such. */
static bool ctf_check_addresses(struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	struct halves half = s->schema->halves;

	if (st->uses >> CTF_IP & 1 && st->use[CTF_IP] &&
	    !halves_have(&half, st->use[CTF_IP], false))
		return false;
	if (!half.kernel_start && s->trace->kernel_is_high)
		half.kernel_start = (uint64_t)1 << 63;
	for (size_t i = 0; i < st->kern.n; i++)
		if (!halves_have(&half, st->kern.ip[i], true))
			return false;
	if (st->kern.n)
		s->trace->kernel_is_high |= st->kern.ip[0] >> 63;
	return true;
}

const char *ctf_check_event(struct ctf_stream *s, const struct ctf_event *ev,
			    const struct bytes *raw)
{
	const struct ctf_state *st = &s->st;

	if (s->beyond)
		return "an event with a time of 2^63 ns or more";
	if (s->far)
		return "an event with a time that is years from those before "
		       "it";
	if (s->schema->of_linux && !ctf_check_threads(st, ev, raw))
		return "an event of a thread or process that cannot be";
	if (s->schema->of_linux && st->uses >> CTF_CPU & 1 &&
	    st->use[CTF_CPU] > CPU_MOST &&
	    (uint32_t)st->use[CTF_CPU] != UINT32_MAX)
		return "an event of a CPU that cannot be";
	return ctf_check_addresses(s)
		       ? NULL
		       : "an event with an address that cannot be";
}

/* ---- packets that several files of a stream have: two snapshots of one buffer
 * contain the packets that were in it both times. Each packet is read once.
 *
 * No other packet of its stream has the same number, times and size.
 * ctf_files_add() notes all packets; ctf_streams_make() drops the list unless
 * the files of some stream overlap. */

/* This many take 32 MiB. Packets beyond that are read as often as overlapping
 * files contain them. */
#define COPIES_MAX ((size_t)1 << 21)

struct ctf_copy {
	uint64_t packet; /* hash of stream, number, times and size */
	uint32_t file;	 /* ctf_file.order of its file */
};

static uint64_t ctf_copy_hash(const struct ctf_file *f,
			      const struct ctf_state *st,
			      const struct ctf_packet *p)
{
	const uint64_t known[] = {
		f->trace,
		p->plan->sc->id,
		st->role[CTF_STREAM_ID],
		st->roles >> CTF_PACKET_SEQ & 1 ? st->role[CTF_PACKET_SEQ] : 0,
		p->begin,
		p->finish,
		p->len,
	};

	return hash_u64s(known, ARRAY_SIZE(known), 0);
}

static bool ctf_copy_is_known(const struct ctf_state *st,
			      const struct ctf_packet *p)
{
	return st->roles >> CTF_STREAM_ID & 1 && p->has_begin && p->has_end &&
	       !p->cut;
}

void ctf_copies_note(struct ctf *ctf, const struct ctf_file *f,
		     const struct ctf_state *st, const struct ctf_packet *p)
{
	if (ctf->n_copy < COPIES_MAX && ctf_copy_is_known(st, p))
		*mem_add(ctf->copy, ctf->n_copy, ctf->cap_copy) =
			(struct ctf_copy){ ctf_copy_hash(f, st, p), f->order };
}

COMPARE_BY(ctf_copy_compare, struct ctf_copy, packet, file);

/* Returns whether a file that was walked before f has the packet. */
static bool ctf_copies_has(const struct ctf *ctf, const struct ctf_file *f,
			   const struct ctf_state *st,
			   const struct ctf_packet *p)
{
	if (!ctf->n_copy || !ctf_copy_is_known(st, p))
		return false;
	const uint64_t h = ctf_copy_hash(f, st, p);
	const size_t i = search_where(ctf->n_copy, k, ctf->copy[k].packet >= h);

	return i < ctf->n_copy && ctf->copy[i].packet == h &&
	       ctf->copy[i].file < f->order;
}

/* How many words of lists a stream keeps from packet to packet. */
#define LISTS_MAX 1024
/* How many bytes of a packet are prefetched: the processor does not prefetch
 * beyond a page. */
#define AHEAD 1024

static void ctf_stream_set_clock(struct ctf_stream *s,
				 const struct ctf_clock *clock)
{
	int64_t zero;

	if (clock == s->clock)
		return;
	s->clock = clock;
	s->shift = 0;
	if (clock &&
	    ctf_clock_zero(s->trace->ctf, s->trace->schema, clock, &zero))
		s->shift = (int64_t)((uint64_t)zero -
				     (uint64_t)s->trace->ctf->base);
}

static uint64_t ctf_stream_shifted(const struct ctf_stream *s, uint64_t ns)
{
	int64_t t;

	if (__builtin_add_overflow((int64_t)ns, s->shift, &t))
		t = INT64_MAX;
	return t < 0 ? 0 : (uint64_t)t;
}

uint64_t ctf_stream_time(const struct ctf_stream *s, uint64_t value)
{
	if (!s->clock)
		return s->trace->at;
	return ctf_stream_shifted(s, ctf_clock_ns(s->clock, value));
}

/* Sorts files by trace, stream and time. */
static int ctf_stream_compare_files(const void *a, const void *b)
{
	const struct ctf_file *x = a;
	const struct ctf_file *y = b;
	int d = compare_numbers(x->trace, y->trace)
			?: compare_numbers(!x->packets, !y->packets)
			?: compare_numbers(x->class_id, y->class_id)
			?: compare_numbers(x->has_id, y->has_id)
			?: compare_numbers(x->id, y->id);

	if (!d && x->has_id)
		d = compare_numbers(x->seq, y->seq)
			    ?: compare_numbers(x->begin, y->begin);
	return d ? d : strcmp(x->path, y->path);
}

/* Returns whether b follows a in the same stream. Files that overlap, such as
 * two snapshots of one buffer, become a stream each. */
static bool ctf_stream_follows(const struct ctf_file *a,
			       const struct ctf_file *b)
{
	if (a->trace != b->trace || !a->packets || !b->packets || !a->has_id ||
	    !b->has_id || a->class_id != b->class_id || a->id != b->id)
		return false;
	if (a->has_seq && b->has_seq)
		return b->seq > a->last_seq;
	return a->has_time && b->has_time && b->begin >= a->last_end;
}

static struct ctf_stream *ctf_stream_new(struct ctf *ctf,
					 const struct ctf_file *f)
{
	struct ctf_stream *s =
		mem_add(ctf->stream, ctf->n_stream, ctf->cap_stream);

	*s = (struct ctf_stream){ .trace = &ctf->trace[f->trace], .cpu = -1 };
	if (!s->trace->n_live++)
		s->trace->first_stream = ctf->n_stream - 1;
	s->trace->n_stream = s->trace->n_live;
	if (!f->has_time)
		return s;
	ctf_stream_set_clock(
		s, ctf_schema_clock(f->schema, ctf_tree_stream(&f->schema->tree,
							       f->class_id)));
	s->time = ctf_stream_shifted(s, f->begin);
	if (s->time && (!s->trace->start || s->time < s->trace->start))
		s->trace->start = s->time;
	if (f->first_end) {
		uint64_t end = ctf_stream_shifted(s, f->first_end);

		if (!s->trace->first_end || end < s->trace->first_end)
			s->trace->first_end = end;
	}
	if (f->has_seq && !f->seq &&
	    (!s->trace->first_whole || s->time < s->trace->first_whole))
		s->trace->first_whole = s->time;
	return s;
}

void ctf_streams_make(struct ctf *ctf)
{
	size_t first = 0;
	bool overlap = false;

	sort_items(ctf->file, ctf->n_file, ctf_stream_compare_files);
	for (size_t i = 0; i < ctf->n_file; i++) {
		const struct ctf_file *f = &ctf->file[i];
		struct ctf_stream *to = NULL;

		if (!i || f->trace != f[-1].trace || f->id != f[-1].id ||
		    f->class_id != f[-1].class_id)
			first = ctf->n_stream;
		for (size_t k = first; k < ctf->n_stream && !to; k++) {
			struct ctf_stream *s = &ctf->stream[k];

			if (ctf_stream_follows(
				    &ctf->file[s->file[s->n_file - 1]], f))
				to = s;
		}
		overlap |= !to && first < ctf->n_stream;
		if (!to)
			to = ctf_stream_new(ctf, f);
		*mem_add(to->file, to->n_file, to->cap_file) = (uint32_t)i;
	}
	/* copies are only needed if files have packets in common */
	if (!overlap)
		ctf->n_copy = 0;
	sort_items(ctf->copy, ctf->n_copy, ctf_copy_compare);
}

static void ctf_stream_leave_file(struct ctf_stream *s)
{
	ctf_file_unmap(s->data, s->len);
	s->data = NULL;
	s->in_packet = false;
}

/* Opens the next file of the stream. Returns false if there is none. */
static bool ctf_stream_next_file(struct ctf_stream *s)
{
	struct ctf *ctf = s->trace->ctf;
	struct ctf_state *st = &s->st;

	while (s->pos < s->n_file) {
		const struct ctf_file *f = &ctf->file[s->file[s->pos++]];
		struct bytes b;

		s->data = ctf_file_map_noted(ctf, f->path, &s->len);
		if (!s->data)
			continue;
		s->path = f->path;
		s->is_short = f->is_short;
		s->off = s->content_end = 0;
		s->has_ids = s->has_printed_end = false;
		s->schema = f->schema;
		/* Clocks keep their values from one file to the next. */
		mem_reach(st->slot, s->n_slot, s->cap_slot,
			  s->schema->n_slot + 1u);
		mem_reach(st->clock, s->n_clock, s->cap_clock,
			  s->schema->tree.n_clock + 1u);
		bytes_init(&b, s->data, s->len, s->path, 0, false);
		const uint64_t before = *st->clock;

		s->has_uuid = ctf_packet_uuid(s->schema, st, &b, s->uuid);
		*st->clock = before;
		return true;
	}
	return false;
}

void ctf_stream_close(struct ctf_stream *s)
{
	ctf_stream_leave_file(s);
	free_all(s->st.slot, s->st.clock);
	ctf_state_release(&s->st);
	free(s->file);
	s->file = NULL;
	s->n_file = 0;
}

static uint64_t ctf_stream_clock(const struct ctf_stream *s)
{
	int32_t clock = s->packet.plan->sc->clock;

	return clock < 0 ? 0 : s->st.clock[clock];
}

/* Notes damage of the stream. t1: the time at which reading continues; 0:
 * unknown. */
static void ctf_stream_damage(const struct ctf_stream *s, const char *what,
			      uint64_t off, uint64_t len, uint64_t t1,
			      const char *why)
{
	const struct ctf *ctf = s->trace->ctf;
	struct err err;
	const struct ledger_entry e = {
		.kind = LEDGER_DAMAGE,
		.capture = ctf->src.index,
		.what = what,
		.detail = err.msg,
		.off = off,
		.len = len,
		.n = 1,
		.cpu = -1,
		.event = -1,
		.t0 = s->last,
		.t1 = t1,
	};

	err_at(&err, s->path, off, "%s: %" PRIu64 " bytes", why, len);
	ledger_add(ctf->src.ledger, &e);
}

/* Notes what is wrong with the headers of the packet; why NULL: nothing. */
static void ctf_stream_blame_head(const struct ctf_stream *s, const char *why)
{
	const struct ctf_packet *p = &s->packet;

	if (why)
		ctf_stream_damage(
			s, "packet", p->off, p->body / 8,
			p->has_begin ? ctf_stream_time(s, p->begin) : 0, why);
}

/* Ends a packet. Its end is its last event if the header has no end, or one
 * that is too early, as LTTng before 2.11 writes. */
static void ctf_stream_end_packet(struct ctf_stream *s)
{
	const struct ctf_packet *p = &s->packet;
	uint64_t clock = ctf_stream_clock(s);

	s->printed_last = clock;
	ctf_stream_blame_head(s, !p->cut && p->has_end && p->finish < clock &&
						 p->finish >= p->begin &&
						 !s->schema->loose
					 ? "a packet ends before its last event"
					 : NULL);
	s->in_packet = false;
	s->has_end = p->plan->sc->clock >= 0 && (p->has_end || p->has_begin);
	s->end = p->has_end && p->finish > clock ? p->finish : clock;
	s->trace->ctf->done += p->len;
	/* thousands of streams may be open, each with one long stack of
	 * addresses or names */
	if (s->st.kern.cap + s->st.user.cap + s->st.cap_names / 8 > LISTS_MAX)
		ctf_state_trim(&s->st);
}

void ctf_stream_blame_event(const struct ctf_stream *s, const char *why)
{
	const uint64_t at = s->event_at / 8;

	ctf_stream_damage(s, "event", s->packet.off + at,
			  (s->st.cur.at + 7) / 8 - at, 0, why);
}

void ctf_stream_drop_packet(struct ctf_stream *s, const char *why)
{
	const struct ctf_packet *p = &s->packet;
	uint64_t at = s->event_at / 8;
	uint64_t end = (p->end + 7) / 8;

	/* the end of a cut packet was noted before */
	if (!p->cut)
		ctf_stream_damage(
			s, "packet", p->off + at, end - at,
			p->has_end ? ctf_stream_time(s, p->finish) : 0, why);
	ctf_stream_end_packet(s);
}

/* Makes the item of a loss of n events. since, until: on the capture's
 * clock. */
static struct ctf_item *ctf_stream_lost(struct ctf_stream *s, uint64_t n,
					bool has_since, uint64_t since,
					uint64_t until)
{
	struct ctf_trace *tr = s->trace;
	struct ctf_item *it = ctf_item_new(tr, CLASS_LOST, until, 0);

	it->kind = REC_LOST;
	it->lost.place = LOST_BEHIND;
	it->cpu = s->cpu;
	it->lost.n = n;
	it->lost.has_since = has_since;
	it->lost.since = has_since ? since : 0;
	/* switches may be lost, so the running threads are unknown */
	for (size_t i = 0; i < tr->n_cpu; i++)
		if (s->cpu < 0 || (size_t)s->cpu == i)
			tr->on_cpu[i] = -1;
	return it;
}

/* Finds what was lost before or in the first packet of a stream, from its
 * counters. LTTng numbers packets from 0: the counter of packet 0 has the
 * events discarded in that packet. The counter of any other packet includes
 * those discarded earlier, so the number is unknown; nothing is discarded in a
 * packet whose begin is its end, with which each stream of a rotated chunk
 * begins (2.13).
 *
 * Packets before the first one may be in another chunk; then all streams of
 * this chunk begin with the rotation, by such empty packets. If another stream
 * has a packet that ended before this one began, or its packet 0 began before,
 * earlier packets of this stream were overwritten: in a ring of which a
 * snapshot was taken, or in a ring of files. An idle CPU has such a packet too,
 * without events. Packets were also overwritten if a stream begins with a
 * packet whose end is after its begin: after a rotation the consumer first
 * writes an empty one, unless the ring is full (consumer_stream_open_packet()
 * of lttng-tools 2.13 to 2.14), and then events are discarded. */
static void ctf_stream_find_first_losses(struct ctf_stream *s)
{
	const struct ctf_packet *p = &s->packet;
	const struct ctf_state *st = &s->st;
	struct ctf_trace *tr = s->trace;
	const bool has_seq =
		s->schema->lttng && st->roles >> CTF_PACKET_SEQ & 1;
	const uint64_t seq = st->role[CTF_PACKET_SEQ];
	const uint64_t begin = ctf_stream_time(s, p->begin);
	const bool no_time =
		p->has_begin && p->has_end && p->begin == p->finish;

	uint64_t known = 0;
	/* 'follow' names a segment of a live session ".after-...", with the
	 * packet that precedes it and the events discarded until then. If this
	 * file begins with the packet after that one, take the count. */
	uint64_t *discarded = &known;
	const char *name = strrchr(s->path, '/');
	const char *at = strstr(name ? name : s->path, ".after-");
	char *end = NULL;

	if (at)
		*discarded = strtoull(at + 7, &end, 10);
	const bool goes_on = at && end > at + 7 && !*end;
	const uint64_t n = st->role[CTF_DISCARDED] - known;

	if (goes_on && st->roles >> CTF_DISCARDED & 1 &&
	    st->role[CTF_DISCARDED] >= known) {
		if (n)
			ctf_stream_lost(s, n, p->has_begin, begin,
					p->has_end
						? ctf_stream_time(s, p->finish)
						: tr->at);
		return;
	}
	const bool later = (tr->first_end && begin > tr->first_end) ||
			   (tr->first_whole && begin > tr->first_whole);
	const bool no_rotation = s->schema->ends_all && p->has_end &&
				 !no_time && st->roles >> CTF_DISCARDED & 1 &&
				 !st->role[CTF_DISCARDED];

	if (has_seq && seq && p->has_begin && !goes_on &&
	    (later || no_rotation)) {
		ctf_stream_lost(s, 0, later, tr->start, begin)->lost.place =
			LOST_BEFORE;
		tr->n_overwritten += seq;
		tr->n_rings++;
		raise_to(tr->ring_begin, begin);
	}
	if (st->roles >> CTF_DISCARDED & 1 && st->role[CTF_DISCARDED] &&
	    (!no_time || (has_seq && !seq)))
		ctf_stream_lost(
			s, has_seq && !seq ? st->role[CTF_DISCARDED] : 0,
			p->has_begin, begin,
			p->has_end ? ctf_stream_time(s, p->finish) : tr->at);
}

static void ctf_stream_find_losses(struct ctf_stream *s)
{
	const struct ctf_packet *p = &s->packet;
	const struct ctf_state *st = &s->st;
	bool has_seq = st->roles >> CTF_PACKET_SEQ & 1;
	bool has_discarded = st->roles >> CTF_DISCARDED & 1;
	const uint64_t before = ctf_stream_time(s, s->end);
	uint64_t seq = st->role[CTF_PACKET_SEQ];
	uint64_t discarded = st->role[CTF_DISCARDED];
	uint64_t n, most;
	bool back;

	if (!s->has_before)
		ctf_stream_find_first_losses(s);
	if (has_discarded && s->has_discarded) {
		n = ctf_check_discarded(s, &back);
		if (n)
			ctf_stream_lost(s, n, s->has_end, before,
					p->has_end
						? ctf_stream_time(s, p->finish)
						: s->trace->at);
		if (back && !s->is_back) {
			char text[200];

			snprintf(text, sizeof(text),
				 "events_discarded goes back from %" PRIu64
				 " to %" PRIu64 " in the packet at 0x%" PRIx64
				 ": the next ones tell which was right",
				 s->discarded, discarded, s->packet.off);
			reader_note(&s->trace->ctf->src, "packet", text);
		}
	}
	if (has_seq && s->has_seq) {
		n = ctf_check_grown(s, CTF_PACKET_SEQ, s->seq, seq, &most);
		if (n > 1 && !ctf_check_is_back(n, most))
			ctf_stream_lost(s, 0, s->has_end, before,
					p->has_begin
						? ctf_stream_time(s, p->begin)
						: s->trace->at);
	}
}

/* Keeps the counters of the packet for the next one. */
static void ctf_stream_keep_counters(struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	const uint64_t discarded = st->role[CTF_DISCARDED];
	bool back = false;

	if (s->has_discarded && st->roles >> CTF_DISCARDED & 1)
		ctf_check_discarded(s, &back);
	s->is_back = back;
	if (back)
		s->back = discarded;
	else
		s->discarded = discarded;
	s->has_before = true;
	s->has_seq = st->roles >> CTF_PACKET_SEQ & 1;
	s->has_discarded = st->roles >> CTF_DISCARDED & 1;
	s->seq = st->role[CTF_PACKET_SEQ];
}

/* Returns the distance from *b to the next packet and sets *begin to its begin
 * time; returns the distance to the end if there is none. Keeps the clock. */
static uint64_t ctf_stream_find_packet(struct ctf_stream *s,
				       const struct bytes *b, uint64_t from,
				       uint64_t *begin)
{
	const uint64_t clock = *s->st.clock;
	struct ctf_packet p;
	uint64_t n = ctf_packet_find(s->schema, &s->st, b, from,
				     s->has_uuid ? s->uuid : NULL, &p);

	*s->st.clock = clock;
	*begin = 0;
	if (n == bytes_left(b))
		return n;
	ctf_stream_set_clock(s, ctf_schema_clock(s->schema, p.plan->sc));
	if (p.has_begin)
		*begin = ctf_stream_time(s, p.begin);
	return n;
}

/* Reads a packet that extends beyond the file: either the file was cut, or the
 * packet's size is damaged and another packet follows. */
static void ctf_stream_cut_packet(struct ctf_stream *s, const struct bytes *b)
{
	struct ctf_packet *p = &s->packet;
	const uint64_t left = bytes_left(b);
	const uint64_t clock = *s->st.clock;
	uint64_t begin;
	uint64_t n = ctf_stream_find_packet(s, b, p->body / 8, &begin);

	/* read it again, as the search has read other packets */
	*s->st.clock = clock;
	ctf_packet_read(s->schema, &s->st, b, s->has_uuid ? s->uuid : NULL, p);
	if (n == left) {
		ctf_stream_damage(s, "truncated", p->off, left, 0,
				  "the file ends inside this packet, whose "
				  "events are read as far as they are there");
		return;
	}
	p->cut = false;
	p->len = n;
	if (p->end > n * 8)
		p->end = s->st.cur.end = n * 8;
	ctf_stream_damage(s, "packet", p->off, 0, begin,
			  "a packet's size goes beyond the file");
}

/* Ends the packet early if another one begins inside its padding: then its size
 * is wrong. */
static void ctf_stream_split_packet(struct ctf_stream *s, const struct bytes *b)
{
	struct ctf_packet *p = &s->packet;
	const struct ctf_packet was = *p;
	const uint64_t clock = *s->st.clock;
	struct bytes whole = *b;
	struct bytes in;
	uint64_t begin;

	if (p->len - (p->end + 7) / 8 < p->body / 8 ||
	    bytes_take(&whole, p->len, &in, NULL))
		return;
	uint64_t n = ctf_stream_find_packet(s, &in, (p->end + 7) / 8, &begin);

	/* read it again, as the search has read other packets */
	*s->st.clock = clock;
	ctf_packet_read(s->schema, &s->st, b, s->has_uuid ? s->uuid : NULL, p);
	if (n == was.len)
		return;
	p->len = n;
	ctf_stream_damage(s, "packet", p->off, 0, begin,
			  "a packet begins inside another");
}

/* Reads the headers of the next packet, in this file or a later one. Returns
 * false at the end of the stream. */
static bool ctf_stream_next_packet(struct ctf_stream *s)
{
	struct ctf_packet *p = &s->packet;

	for (;;) {
		struct bytes b;

		if (!s->data && !ctf_stream_next_file(s))
			return false;
		bytes_init(&b, s->data, s->len, s->path, 0, false);
		if (bytes_skip(&b, s->off, NULL) || !bytes_left(&b)) {
			ctf_stream_leave_file(s);
			continue;
		}
		b.base = b.pos;
		b.base_off = s->off;
		const uint8_t *uuid = s->has_uuid ? s->uuid : NULL;
		const uint64_t clock = *s->st.clock;

		if (!ctf_packet_read(s->schema, &s->st, &b, uuid, p)) {
			if (p->cut)
				ctf_stream_cut_packet(s, &b);
			else
				ctf_stream_split_packet(s, &b);
			s->content_end = s->off + (p->end + 7) / 8;
			s->off += p->len;
			return true;
		}
		*s->st.clock = clock;
		/* There is no packet where the previous one ends: its size may
		 * be wrong, so the search starts at the end of its content. */
		const char *why = s->st.why;
		uint64_t begin, n;

		if (s->content_end && s->content_end < s->off) {
			struct bytes all;

			bytes_init(&all, s->data, s->len, s->path, 0, false);
			n = ctf_stream_find_packet(s, &all, s->content_end,
						   &begin);
			s->content_end = 0;
			if (n < s->off) {
				s->off = n;
				ctf_stream_damage(
					s, "packet", n, 0, begin,
					"a packet begins inside another");
				continue;
			}
		}
		n = ctf_stream_find_packet(s, &b, 1, &begin);
		ctf_stream_damage(s,
				  n == bytes_left(&b) ? "truncated" : "packet",
				  s->off, n, begin, why);
		s->off += n;
	}
}

bool ctf_stream_next(struct ctf_stream *s)
{
	struct ctf *ctf = s->trace->ctf;
	const struct ctf_packet *p = &s->packet;
	struct ctf_state *st = &s->st;

	for (;;) {
		if (!s->in_packet) {
			if (!ctf_stream_next_packet(s))
				return false;
			/* another file has the same packet */
			if (ctf_copies_has(ctf, &ctf->file[s->file[s->pos - 1]],
					   st, p)) {
				ctf_stream_keep_counters(s);
				s->has_end = true;
				s->end = p->finish;
				ctf->done += p->len;
				continue;
			}
			s->in_packet = true;
			ctf_stream_set_clock(
				s, ctf_schema_clock(s->schema, p->plan->sc));
			s->cpu = st->uses >> CTF_CPU & 1 &&
						 st->use[CTF_CPU] <= INT32_MAX
					 ? (int32_t)st->use[CTF_CPU]
					 : -1;
			raise_to(p->plan->packet_most, p->len);
			if (p->end > p->body && p->has_begin)
				s->begun = ctf_stream_time(s, p->begin);
			ctf_stream_blame_head(s, ctf_check_begin(s));
			ctf_stream_find_losses(s);
			ctf_stream_keep_counters(s);
		}
		if (st->cur.at >= p->end) {
			ctf_stream_end_packet(s);
			continue;
		}
		const uint64_t clock = ctf_stream_clock(s);

		s->event_at = st->cur.at;
		bytes_prefetch(&st->cur.b, st->cur.at / 8 + AHEAD);
		st->roles &= ~(1u << CTF_EVENT_CLASS_ID);
		if (ctf_run_header(&p->plan->header, st)) {
			ctf_stream_drop_packet(s, st->why);
			continue;
		}
		const struct ctf_stream_class *sc = p->plan->sc;

		s->event_id = st->roles >> CTF_EVENT_CLASS_ID & 1
				      ? st->role[CTF_EVENT_CLASS_ID]
			      : sc->n_event == 1 ? sc->event[0].id
						 : 0;
		s->time = ctf_stream_time(s, ctf_stream_clock(s));
		/* Is the time of the event years from those before it, or so
		 * late that all such times would be one? Its event is due when
		 * the one before it was, and does not set the clock. */
		const enum clock_id id = s->trace->ctf->src.info.clock_id;

		s->beyond = s->clock && s->time >= INT64_MAX;
		s->far = s->beyond || (s->clock && id != CLOCK_ID_REAL &&
				       id != CLOCK_ID_TAI &&
				       near_time_is_far(&s->near, s->time));
		if (s->far) {
			s->st.clock[s->packet.plan->sc->clock] = clock;
			s->time = s->last;
			return true;
		}
		if (s->time < s->last)
			reader_regress(&ctf->src, p->off + s->event_at / 8,
				       s->time, s->last, s->cpu);
		else
			s->last = s->time;
		return true;
	}
}
