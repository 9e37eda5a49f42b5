/* packet.c - reads the heads of packets, and finds packets after damage.
 *
 * A packet says how long it is, and the next one follows it. After a damaged
 * one the next is searched by its magic number and the uuid of the trace. */
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/decode/value.h"

#define MAGIC 0xC1FC1FC1u
/* The search for a packet may read this many times the bytes that it searches:
 * after each magic number that begins no packet, a text without an end would
 * be read to the end of the file. */
#define WORK_MOST 16

static int ctf_packet_sizes(struct ctf_state *st, uint64_t left,
			    struct ctf_packet *out)
{
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
	return 0;
}

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
	st->idle = st->told = 0;
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
	if (ctf_packet_sizes(st, left, out))
		return -1;
	st->cur.end = out->end;
	if (sc->clock < 0)
		return 0;
	out->has_begin = st->roles >> CTF_CLOCK & 1;
	out->has_end = st->roles >> CTF_PACKET_END_CLOCK & 1;
	out->begin = st->clock[sc->clock];
	/* the time of the end does not touch the clock */
	out->finish = st->role[CTF_PACKET_END_CLOCK];
	/* a tracer that died did not write it */
	if (!out->finish && out->begin)
		out->has_end = false;
	return 0;
}

/* Returns the bytes of a magic number at the start of packets, or NULL. */
static const unsigned char *ctf_packet_mark(const struct ctf_schema *sm)
{
	static const unsigned char mark[2][4] = { { 0xc1, 0x1f, 0xfc, 0xc1 },
						  { 0xc1, 0xfc, 0x1f, 0xc1 } };
	const struct ctf_node *h = sm->tree.header;

	if (!h || !h->n_child || h->child[0].role != CTF_MAGIC ||
	    h->child[0].bits != 32)
		return NULL;
	return mark[h->child[0].big];
}

uint64_t ctf_packet_find(const struct ctf_schema *sm, struct ctf_state *st,
			 const struct bytes *b, uint64_t from,
			 const uint8_t *uuid, struct ctf_packet *out)
{
	const unsigned char *mark = ctf_packet_mark(sm);
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
 * uuid of the first packet is expected, unless the second has the metadata's:
 * then the first is damaged. */
bool ctf_packet_uuid(const struct ctf_schema *sm, struct ctf_state *st,
		     const struct bytes *b, uint8_t uuid[CTF_UUID])
{
	const uint8_t *said = sm->tree.has_uuid ? sm->tree.uuid : NULL;
	struct bytes next = *b;
	uint8_t first[CTF_UUID];
	struct ctf_packet p;

	if (!said)
		return false;
	memcpy(uuid, said, CTF_UUID);
	if (ctf_packet_read(sm, st, b, NULL, &p) ||
	    !(st->roles >> CTF_UUID_FIELD & 1) ||
	    !memcmp(st->uuid, said, CTF_UUID))
		return true;
	memcpy(first, st->uuid, CTF_UUID);
	if (!bytes_skip(&next, p.len, NULL) && bytes_left(&next) &&
	    !ctf_packet_read(sm, st, &next, said, &p))
		return true;
	memcpy(uuid, first, CTF_UUID);
	return true;
}

/* What does not fit is damage. The events of a packet whose head does not fit
 * are kept; an event with a value that cannot be is left out. */

#define CPU_MOST 65535

/* A counter of few bits may wrap between two packets. */
bool ctf_check_is_back(uint64_t n, uint64_t mask)
{
	return mask >= UINT32_MAX && n > mask / 2;
}

uint64_t ctf_check_grown(const struct ctf_stream *s, enum ctf_field_role role,
			 uint64_t from, uint64_t to, uint64_t *mask)
{
	const struct ctf_node *ctx = s->packet.plan->sc->packet;

	*mask = UINT64_MAX;
	for (uint32_t i = 0; ctx && i < ctx->n_child; i++)
		if (ctx->child[i].role == role && ctx->child[i].bits &&
		    ctx->child[i].bits < 64)
			*mask = ((uint64_t)1 << ctx->child[i].bits) - 1;
	return (to - from) & *mask;
}

/* The packets of a file are of one stream. */
static const char *ctf_check_stream(struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	const uint64_t class_id = s->packet.plan->sc->id;
	const bool has_id = st->roles >> CTF_STREAM_ID & 1;
	const uint64_t id = has_id ? st->role[CTF_STREAM_ID] : 0;
	const bool has_cpu = st->uses >> CTF_CPU & 1;
	const char *why = NULL;

	/* all ones, as a number of 32 or 64 bits: unknown, in our own export */
	if (has_cpu && st->use[CTF_CPU] > CPU_MOST &&
	    st->use[CTF_CPU] != UINT32_MAX && st->use[CTF_CPU] != UINT64_MAX)
		why = "a packet of a CPU that cannot be";
	else if (s->has_said && (class_id != s->class_id ||
				 has_id != s->has_id || id != s->id))
		why = "a packet of another stream than the one before it in "
		      "this file";
	else if (s->has_said && has_cpu && s->has_cpu && s->schema->lttng &&
		 s->cpu != s->printed_cpu)
		why = "a packet of another CPU than the one before it in this "
		      "file";
	s->has_said = true;
	s->class_id = class_id;
	s->has_id = has_id;
	s->id = id;
	s->has_cpu = has_cpu;
	s->printed_cpu = s->cpu;
	return why;
}

/* More events than nanoseconds? The clock may have passed a tick more. The
 * count is that of when the packet was delivered, its end that of when the last
 * space in it was taken: a writer that is preempted in between delivers late.
 */
#define DELIVERY_NS ((uint64_t)3600 * 1000000000)
static bool ctf_check_is_much(const struct ctf_stream *s, uint64_t n)
{
	const struct ctf_packet *p = &s->packet;

	return n > DELIVERY_NS && s->clock && s->has_end && p->has_end &&
	       p->finish >= s->end &&
	       n - DELIVERY_NS > ctf_clock_ns(s->clock, p->finish - s->end + 1);
}

/* LTTng-UST 2.13.5 was seen to write a packet with 0 between two that go on
 * from the count before it (0, 145, 272, 0, 347: 347 events were lost). Only if
 * the next packet that is not 0 has not reached the old count did it begin
 * anew. */
uint64_t ctf_check_discarded(const struct ctf_stream *s, bool *back)
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

static const char *ctf_check_counters(const struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	uint64_t n, most;
	bool back;

	if (st->roles >> CTF_DISCARDED & 1 && s->has_discarded &&
	    ctf_check_is_much(s, ctf_check_discarded(s, &back)))
		return "more events were discarded than nanoseconds passed";
	if (st->roles >> CTF_PACKET_SEQ & 1 && s->has_seq) {
		n = ctf_check_grown(s, CTF_PACKET_SEQ, s->seq,
				    st->role[CTF_PACKET_SEQ], &most);
		/* a trace of LTTng 2.10 has two packets of one number */
		if ((!n && !s->schema->loose) || ctf_check_is_back(n, most))
			return "the number of a packet is not above that of "
			       "the one before";
	}
	return NULL;
}

const char *ctf_check_begin(struct ctf_stream *s)
{
	const char *stream = ctf_check_stream(s);
	/* If the packet begins before the last event in front of it, the clock
	 * was set back, as is noted for its events. */
	const struct ctf_packet *p = &s->packet;
	const bool both = p->has_begin && p->has_end;
	const char *why = NULL;

	if (both && p->finish < p->begin)
		why = "a packet ends before it begins";
	else if (both && s->clock &&
		 ctf_clock_ns(s->clock, p->finish - p->begin) > YEAR_NS)
		why = "a packet lasts for years";
	else if (p->has_begin && s->has_said_end && p->begin < s->printed_end &&
		 p->begin >= s->printed_last && !s->schema->loose)
		why = "a packet begins before the end of the one before it";
	s->has_said_end = p->has_end;
	s->printed_end = p->finish;

	return stream ? stream : why ? why : ctf_check_counters(s);
}

const char *ctf_check_end(struct ctf_stream *s, uint64_t clock)
{
	const struct ctf_packet *p = &s->packet;

	s->printed_last = clock;
	return !p->cut && p->has_end && p->finish < clock &&
			       p->finish >= p->begin && !s->schema->loose
		       ? "a packet ends before its last event"
		       : NULL;
}

/* All ones, as a number of 32 bits: unknown. */
static bool ctf_check_can_be_thread(int64_t id)
{
	return thread_id_can_be(id) || id == UINT32_MAX;
}

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

/* The sampled address and the kernel's half. Where the machine is not known,
 * one address of the kernel from 2^63 on shows that all of them are. */
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
