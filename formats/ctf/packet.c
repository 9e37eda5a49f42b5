/* packet.c - reads the heads of packets, and finds packets behind damage.
 *
 * A packet says how long it is, and the next one follows it. After a damaged
 * one the next is searched by its magic number and the uuid of the trace. */
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/decode/field.h"

#define MAGIC 0xC1FC1FC1u
/* The search for a packet may read this many times the bytes that it searches:
 * behind each magic number that begins no packet, a text without an end would
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
