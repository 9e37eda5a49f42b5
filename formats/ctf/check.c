/* check.c - what the heads of packets say, compared with the events inside, and
 * with the packets before.
 *
 * What does not fit is damage; the events are kept. */
#include "formats/ctf/ctf.h"

#define YEAR_NS (UINT64_C(366) * 86400 * 1000000000)
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
		 s->cpu != s->said_cpu)
		why = "a packet of another CPU than the one before it in this "
		      "file";
	s->has_said = true;
	s->class_id = class_id;
	s->has_id = has_id;
	s->id = id;
	s->has_cpu = has_cpu;
	s->said_cpu = s->cpu;
	return why;
}

/* If the packet begins before the last event in front of it, the clock was set
 * back, as is noted for its events. */
static const char *ctf_check_times(struct ctf_stream *s)
{
	const struct ctf_packet *p = &s->packet;
	const bool both = p->has_begin && p->has_end;
	const char *why = NULL;

	if (both && p->finish < p->begin)
		why = "a packet ends before it begins";
	else if (both && s->clock &&
		 ctf_clock_ns(s->clock, p->finish - p->begin) > YEAR_NS)
		why = "a packet lasts for years";
	else if (p->has_begin && s->has_said_end && p->begin < s->said_end &&
		 p->begin >= s->said_last && !s->schema->loose)
		why = "a packet begins before the end of the one before it";
	s->has_said_end = p->has_end;
	s->said_end = p->finish;
	return why;
}

/* More events than nanoseconds? */
static bool ctf_check_is_much(const struct ctf_stream *s, uint64_t n)
{
	const struct ctf_packet *p = &s->packet;

	return s->clock && s->has_end && p->has_end && p->finish >= s->end &&
	       n > ctf_clock_ns(s->clock, p->finish - s->end) + 1;
}

static const char *ctf_check_counters(const struct ctf_stream *s)
{
	const struct ctf_state *st = &s->st;
	uint64_t n, most;

	if (st->roles >> CTF_DISCARDED & 1 && s->has_discarded) {
		n = ctf_check_grown(s, CTF_DISCARDED, s->discarded,
				    st->role[CTF_DISCARDED], &most);
		if (ctf_check_is_back(n, most))
			return "the number of discarded events goes back";
		if (ctf_check_is_much(s, n))
			return "more events were discarded than nanoseconds "
			       "passed";
	}
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
	const char *times = ctf_check_times(s);

	return stream ? stream : times ? times : ctf_check_counters(s);
}

const char *ctf_check_end(struct ctf_stream *s, uint64_t clock)
{
	const struct ctf_packet *p = &s->packet;

	s->said_last = clock;
	return !p->cut && p->has_end && p->finish < clock &&
			       p->finish >= p->begin && !s->schema->loose
		       ? "a packet ends before its last event"
		       : NULL;
}
