/* chain.c - finds the packets of a stream file. A packet says how long it is,
 * and the next one follows it.
 *
 * After a damaged packet the next one is searched by its magic number and the
 * uuid of the trace, at multiples of a page, since recorders write whole
 * pages. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "stitch/base/bytes.h"

#define MAGIC 0xC1FC1FC1u
#define PAGE 4096
#define PARTS_MAX 4096

static bool ctf_chain_read_place(const struct bytes *b, struct ctf_place p,
				 uint64_t *out)
{
	uint16_t v16;
	uint32_t v32;
	int rc = -1;

	if (p.size == 8) {
		rc = bytes_peek_u64(b, p.off, out);
	} else if (p.size == 4) {
		rc = bytes_peek_u32(b, p.off, &v32);
		if (!rc)
			*out = v32;
	} else if (p.size == 2) {
		rc = bytes_peek_u16(b, p.off, &v16);
		if (!rc)
			*out = v16;
	} else if (p.size == 1 && p.off < bytes_left(b)) {
		*out = b->pos[p.off];
		rc = 0;
	}
	return !rc;
}

/* Returns 1 and the layout of the packet at b, 0 if no stream has its id, -1
 * if the layout is unknown. */
static int ctf_chain_find_layout(const struct ctf_meta *meta,
				 const struct bytes *b,
				 const struct ctf_layout **out)
{
	uint64_t id = 0;

	if (!meta->n_layout || meta->n_layout == CTF_STREAMS)
		return -1;
	if (meta->stream.size && !ctf_chain_read_place(b, meta->stream, &id))
		return 0;
	for (size_t i = 0; i < meta->n_layout; i++) {
		*out = &meta->layout[i];
		if ((*out)->id == id)
			return (*out)->known ? 1 : -1;
	}
	return 0;
}

static bool ctf_chain_has_mark(const struct ctf_meta *meta,
			       const struct bytes *b)
{
	uint64_t magic;

	if (meta->magic.size &&
	    (!ctf_chain_read_place(b, meta->magic, &magic) || magic != MAGIC))
		return false;
	if (meta->id.size != CTF_UUID || !meta->has_uuid)
		return true;
	return bytes_left(b) >= meta->id.off + (uint64_t)CTF_UUID &&
	       !memcmp(b->pos + meta->id.off, meta->uuid, CTF_UUID);
}

/* Returns 1 if there is a whole packet at b, 0 if not, -1 if the metadata does
 * not tell. */
static int ctf_chain_check_packet(const struct ctf_meta *meta,
				  const struct bytes *b, struct ctf_part *out)
{
	uint64_t packet, content;

	*out = (struct ctf_part){ .good = true };
	if (!ctf_chain_has_mark(meta, b))
		return 0;
	const struct ctf_layout *lo = NULL;
	int known = ctf_chain_find_layout(meta, b, &lo);

	if (known <= 0)
		return known;
	if (!ctf_chain_read_place(b, lo->packet, &packet))
		return 0;
	if (!ctf_chain_read_place(b, lo->content, &content))
		content = packet;
	if (!packet || packet % 8 || packet / 8 > bytes_left(b) ||
	    content > packet || content / 8 < lo->len)
		return 0;
	out->len = packet / 8;
	ctf_chain_read_place(b, lo->begin, &out->begin);
	ctf_chain_read_place(b, lo->end, &out->end);
	return 1;
}

static void ctf_chain_add_part(struct ctf_chain *ch, const struct ctf_part *p)
{
	struct ctf_part *last = ch->n ? &ch->part[ch->n - 1] : NULL;

	if (!p->len)
		return;
	if (last && (last->good == p->good || ch->n >= PARTS_MAX)) {
		last->len += p->len;
		last->good = last->good && p->good;
		if (p->end)
			last->end = p->end;
		return;
	}
	*mem_add(ch->part, ch->n, ch->cap) = *p;
}

/* Returns the distance to the next packet, or to the end if there is none. */
static uint64_t ctf_chain_next_packet(const struct ctf_meta *meta,
				      const struct bytes *b, uint64_t off)
{
	uint64_t left = bytes_left(b);
	struct ctf_part p;

	/* without a magic number every page could be a packet */
	if (meta->magic.size != 4)
		return left;
	for (uint64_t n = PAGE - off % PAGE; n < left; n += PAGE) {
		struct bytes at = *b;

		if (!bytes_skip(&at, n, NULL) &&
		    ctf_chain_check_packet(meta, &at, &p) > 0)
			return n;
	}
	return left;
}

/* Some writers give packets a uuid that differs from the metadata's, and the
 * library reads such traces. So takes the uuid of the first packet, unless the
 * second has the metadata's: then the first is damaged. */
static void ctf_chain_adopt_uuid(struct ctf_meta *m, const struct bytes *b)
{
	struct bytes next = *b;
	struct ctf_part p;

	if (!m->has_uuid || m->id.size != CTF_UUID || m->magic.size != 4 ||
	    ctf_chain_has_mark(m, b) ||
	    bytes_left(b) < m->id.off + (uint64_t)CTF_UUID)
		return;
	struct ctf_meta other = *m;

	memcpy(other.uuid, b->pos + m->id.off, CTF_UUID);
	if (ctf_chain_check_packet(&other, b, &p) <= 0)
		return;
	if (!bytes_skip(&next, p.len, NULL) && ctf_chain_has_mark(m, &next))
		return;
	memcpy(m->uuid, other.uuid, CTF_UUID);
}

void ctf_chain_read(const struct ctf_meta *said, const void *data, uint64_t len,
		    struct ctf_chain *out)
{
	bool host_big = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
	struct ctf_meta own = *said;
	const struct ctf_meta *meta = &own;
	struct bytes b;

	*out = (struct ctf_chain){ .known = true, .begin = UINT64_MAX };
	bytes_init(&b, data, len, "stream", 0, meta->big != host_big);
	ctf_chain_adopt_uuid(&own, &b);
	while (bytes_left(&b)) {
		struct ctf_part p;
		uint64_t off = bytes_off(&b);
		int got = ctf_chain_check_packet(meta, &b, &p);

		if (got < 0) {
			out->known = false;
			return;
		}
		p.off = off;
		p.good = got > 0;
		if (got) {
			out->packets++;
			if (p.begin < out->begin)
				out->begin = p.begin;
			if (p.end > out->end)
				out->end = p.end;
		} else {
			p.len = ctf_chain_next_packet(meta, &b, off);
			p.begin = p.end = 0;
		}
		ctf_chain_add_part(out, &p);
		if (bytes_skip(&b, p.len, NULL))
			return;
	}
}

void ctf_chain_release(struct ctf_chain *ch)
{
	free(ch->part);
	*ch = (struct ctf_chain){ 0 };
}
