/* field.c - reads the classes that have no members: numbers with their effects
 * on slots, clocks and roles, and the bytes of texts. */
#include "formats/ctf/decode/field.h"

#include <string.h>

#include "formats/ctf/meta/tree.h"

/* More elements of no size than a packet of no size has. */
#define NOTHING_MAX 256

int ctf_field_stop(struct ctf_state *st, const char *why)
{
	st->why = why;
	return -1;
}

int ctf_field_too_short(struct ctf_state *st)
{
	return ctf_field_stop(st, "a field goes beyond the end of the packet");
}

int ctf_field_idle(struct ctf_state *st)
{
	return ++st->idle > NOTHING_MAX + st->cur.at / 8
		       ? ctf_field_stop(st, "a list of nothing has no end")
		       : 0;
}

static int ctf_field_leb(struct ctf_state *st, bool is_signed, uint64_t *out)
{
	struct ctf_cursor *c = &st->cur;
	uint64_t v = 0;
	uint64_t byte;
	unsigned int shift = 0;

	do {
		if (ctf_cursor_number(c, 8, false, &byte))
			return ctf_field_too_short(st);
		/* the tenth byte has room for the last bit, or for the sign */
		if (shift > 63 ||
		    (shift == 63 &&
		     (is_signed ? byte != 0 && byte != 0x7f : byte > 1)))
			return ctf_field_stop(
				st, "a number of variable length has more "
				    "than 64 bits");
		v |= (byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80);
	if (is_signed && shift < 64 && byte & 0x40)
		v |= UINT64_MAX << shift;
	*out = v;
	return 0;
}

static uint64_t ctf_field_reverse(uint64_t v, uint32_t bits)
{
	uint64_t out = 0;

	for (uint32_t i = 0; i < bits; i++)
		out |= (v >> i & 1) << (bits - 1 - i);
	return out;
}

/* Keeps a number that was read for those who need it: fields whose length or
 * choice it is, and the reader, by its role. */
static inline void ctf_field_effects(struct ctf_state *st,
				     const struct ctf_node *node, uint64_t v)
{
	if (node->slot)
		st->slot[node->slot] = v;
	if (!node->role || st->again)
		return;
	st->role[node->role] = v;
	st->roles |= 1u << node->role;
	if (node->role == CTF_CLOCK && node->clock >= 0) {
		uint64_t *clock = &st->clock[node->clock];
		bool whole = node->kind != CTF_UINT || node->bits >= 64;
		uint64_t mask =
			whole ? UINT64_MAX : ((uint64_t)1 << node->bits) - 1;

		if (!whole && (*clock & mask) > v)
			*clock += mask + 1;
		*clock = (*clock & ~mask) | v;
	}
}

/* Most numbers of headers are within 8 bytes that are there. */
int ctf_field_plain(struct ctf_state *st, const struct ctf_node *node)
{
	uint64_t v;

	if (!ctf_cursor_has(&st->cur, node->bits) ||
	    !ctf_cursor_word(&st->cur, node->bits, node->big, &v))
		return ctf_field_number(st, node, &v);
	ctf_field_effects(st, node, v);
	return 0;
}

int ctf_field_number(struct ctf_state *st, const struct ctf_node *node,
		     uint64_t *out)
{
	uint64_t v;

	if (node->kind == CTF_VAR_UINT || node->kind == CTF_VAR_SINT) {
		if (ctf_field_leb(st, node->kind == CTF_VAR_SINT, &v))
			return -1;
	} else if (ctf_cursor_number(&st->cur, node->bits, node->big, &v)) {
		return ctf_field_too_short(st);
	}
	if (node->reverse)
		v = ctf_field_reverse(v, node->bits);
	if (node->kind == CTF_SINT && node->bits < 64 &&
	    v >> (node->bits - 1) & 1)
		v |= UINT64_MAX << node->bits;
	if (node->kind == CTF_BOOL)
		v = v != 0;
	ctf_field_effects(st, node, v);
	*out = v;
	return 0;
}

bool ctf_field_is_inside(const struct ctf_label *l, uint64_t v, bool is_signed)
{
	for (uint32_t i = 0; i < l->n_range; i++) {
		const struct ctf_range *r = &l->range[i];

		if (is_signed ? (int64_t)v >= (int64_t)r->lo &&
					(int64_t)v <= (int64_t)r->hi
			      : v >= r->lo && v <= r->hi)
			return true;
	}
	return false;
}

int64_t ctf_field_option(const struct ctf_node *node, uint64_t value)
{
	if (node->kind == CTF_OPTIONAL && node->no_ranges)
		return value ? 0 : -1;
	for (uint32_t i = 0; i < node->n_child; i++)
		if (ctf_field_is_inside(&node->choice[i], value,
					node->sel_signed))
			return i;
	return -1;
}

uint64_t ctf_field_length(const struct ctf_state *st,
			  const struct ctf_node *node)
{
	return node->from ? st->slot[node->from] : node->count;
}

int ctf_field_window(struct ctf_state *st, uint64_t n, struct bytes *out)
{
	struct ctf_cursor *c = &st->cur;

	if (n > UINT64_MAX / 8 || !ctf_cursor_has(c, n * 8) ||
	    bytes_window(&c->b, c->at / 8, n, out))
		return ctf_field_too_short(st);
	c->at += n * 8;
	return 0;
}

/* Returns the length of the text up to its first null unit; -1: none. */
static int64_t ctf_field_null(const struct bytes *b, size_t unit)
{
	static const unsigned char null[4];
	size_t n = bytes_left(b);

	if (unit == 1) {
		const void *nul = memchr(b->pos, 0, n);

		return nul ? (const unsigned char *)nul - b->pos : -1;
	}
	for (size_t i = 0; i + unit <= n; i += unit)
		if (!memcmp(b->pos + i, null, unit))
			return (int64_t)i;
	return -1;
}

/* Sets *out to the bytes of a string that ends with its first null. */
static int ctf_field_string(struct ctf_state *st, size_t unit,
			    struct bytes *out)
{
	struct ctf_cursor *c = &st->cur;

	if (c->at > c->end ||
	    bytes_window(&c->b, c->at / 8, (c->end - c->at) / 8, out))
		return ctf_field_too_short(st);
	const int64_t len = ctf_field_null(out, unit);

	if (len < 0) {
		c->at += bytes_left(out) * 8;
		return ctf_field_stop(st, "a string has no end");
	}
	c->at += ((uint64_t)len + unit) * 8;
	out->end = out->pos + len;
	return 0;
}

int ctf_field_chars(struct ctf_state *st, const struct ctf_node *node,
		    struct bytes *out)
{
	const size_t unit = node->encoding == CTF_UTF8		     ? 1
			    : node->encoding <= (uint8_t)CTF_UTF16BE ? 2
								     : 4;

	if (node->kind == CTF_STRING)
		return ctf_field_string(st, unit, out);
	if (st->cur.at > st->cur.end ||
	    ctf_field_window(st, ctf_field_length(st, node), out))
		return ctf_field_too_short(st);
	if (!ctf_node_is_string(node))
		return 0;
	const int64_t len = ctf_field_null(out, unit);

	if (len >= 0)
		out->end = out->pos + len;
	return 0;
}
