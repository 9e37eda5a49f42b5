/* chain.c - the packets of a stream file: each says how long it is, and
 * the next one stands behind it.
 *
 * Where a packet is broken the next one is looked for by its magic number and
 * the trace's uuid, at multiples of a page: recorders write whole pages. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "stitch/base/bytes.h"

#define MAGIC 0xC1FC1FC1u
#define PAGE 4096
#define PARTS_MAX 4096

static bool read_place(const struct bytes *b, struct ctf_place p, uint64_t *out)
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

/* 1 and *out, 0: no stream has that id, -1: cannot be told. */
static int layout_of(const struct ctf_meta *meta, const struct bytes *b,
		     const struct ctf_layout **out)
{
	uint64_t id = 0;

	if (!meta->n_layout || meta->n_layout == CTF_STREAMS)
		return -1;
	if (meta->stream.size && !read_place(b, meta->stream, &id))
		return 0;
	for (size_t i = 0; i < meta->n_layout; i++) {
		*out = &meta->layout[i];
		if ((*out)->id == id)
			return (*out)->known ? 1 : -1;
	}
	return 0;
}

static bool right_mark(const struct ctf_meta *meta, const struct bytes *b)
{
	uint64_t magic;

	if (meta->magic.size &&
	    (!read_place(b, meta->magic, &magic) || magic != MAGIC))
		return false;
	if (meta->id.size != CTF_UUID || !meta->has_uuid)
		return true;
	return bytes_left(b) >= meta->id.off + (uint64_t)CTF_UUID &&
	       !memcmp(b->pos + meta->id.off, meta->uuid, CTF_UUID);
}

/* 1: a packet stands at b, 0: none, -1: cannot be told. */
static int look(const struct ctf_meta *meta, const struct bytes *b,
		struct ctf_part *out)
{
	uint64_t packet, content;

	*out = (struct ctf_part){ .good = true };
	if (!right_mark(meta, b))
		return 0;
	const struct ctf_layout *lo = NULL;
	int known = layout_of(meta, b, &lo);

	if (known <= 0)
		return known;
	if (!read_place(b, lo->packet, &packet))
		return 0;
	if (!read_place(b, lo->content, &content))
		content = packet;
	if (!packet || packet % 8 || packet / 8 > bytes_left(b) ||
	    content > packet || content / 8 < lo->len)
		return 0;
	out->len = packet / 8;
	read_place(b, lo->begin, &out->begin);
	read_place(b, lo->end, &out->end);
	return 1;
}

static void add(struct ctf_chain *ch, const struct ctf_part *p)
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
	ch->part = mem_grow(ch->part, &ch->cap, ch->n + 1, sizeof(*p));
	ch->part[ch->n++] = *p;
}

/* How far it is to the next packet; to the end when there is none. */
static uint64_t skip_bad(const struct ctf_meta *meta, const struct bytes *b,
			 uint64_t off)
{
	uint64_t left = bytes_left(b);
	struct ctf_part p;

	/* without a mark every page could be one */
	if (meta->magic.size != 4)
		return left;
	for (uint64_t n = PAGE - off % PAGE; n < left; n += PAGE) {
		struct bytes at = *b;

		if (!bytes_skip(&at, n, NULL) && look(meta, &at, &p) > 0)
			return n;
	}
	return left;
}

/* Some writers give packets another uuid than the metadata; the library reads
 * them. When the second packet has the metadata's, the first is broken. */
static void adopt_uuid(struct ctf_meta *m, const struct bytes *b)
{
	struct bytes next = *b;
	struct ctf_part p;

	if (!m->has_uuid || m->id.size != CTF_UUID || m->magic.size != 4 ||
	    right_mark(m, b) || bytes_left(b) < m->id.off + (uint64_t)CTF_UUID)
		return;
	struct ctf_meta other = *m;

	memcpy(other.uuid, b->pos + m->id.off, CTF_UUID);
	if (look(&other, b, &p) <= 0)
		return;
	if (!bytes_skip(&next, p.len, NULL) && right_mark(m, &next))
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
	adopt_uuid(&own, &b);
	while (bytes_left(&b)) {
		struct ctf_part p;
		uint64_t off = bytes_off(&b);
		int got = look(meta, &b, &p);

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
			p.len = skip_bad(meta, &b, off);
			p.begin = p.end = 0;
		}
		add(out, &p);
		if (bytes_skip(&b, p.len, NULL))
			return;
	}
}

void ctf_chain_release(struct ctf_chain *ch)
{
	free(ch->part);
	*ch = (struct ctf_chain){ 0 };
}
