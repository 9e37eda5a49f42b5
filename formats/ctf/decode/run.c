/* run.c - runs programs. ctf_run() itself has the steps that every event needs;
 * each of the others is a function. */
#include "formats/ctf/decode/run.h"

#include <float.h>

#include "formats/ctf/meta/tree.h"
#include "stitch/base/mem.h"
#include "stitch/base/wide.h"

/* ---- reads trees and makes text: numbers as such, lists and structures as
 * JSON, which SQL can parse */

/* How many elements without size a list may have in a packet without size. */
#define NOTHING_MAX 256

int ctf_field_stop(struct ctf_state *st, const char *why)
{
	st->why = why;
	return -1;
}

static int ctf_field_too_short(struct ctf_state *st)
{
	return ctf_field_stop(st, "a field goes beyond the end of the packet");
}

/* Counts an element without size. Returns -1 with st->why if there are too
 * many. */
static int ctf_field_idle(struct ctf_state *st)
{
	return ++st->idle > NOTHING_MAX + st->cur.at / 8
		       ? ctf_field_stop(st, "a list of nothing has no end")
		       : 0;
}

/* Reads a LEB128 number. Returns -1 with st->why if it is too long for 64 bits
 * or incomplete. */
static int ctf_field_leb(struct ctf_state *st, bool is_signed, uint64_t *out)
{
	struct ctf_cursor *c = &st->cur;
	uint64_t v = 0;
	uint64_t byte;
	unsigned int shift = 0;

	do {
		if (ctf_cursor_number(c, 8, false, &byte))
			return ctf_field_too_short(st);
		/* the tenth byte has room for one bit, or for the sign */
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

/* Stores a number that was read in its slot, for the fields whose length or
 * option it is, and in its role, for the reader. */
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

/* Reads an unsigned number of CTF_UINT for its effects only. The fast path
 * reads 8 bytes at once. */
static int ctf_field_plain(struct ctf_state *st, const struct ctf_node *node)
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
	if (node->reverse) {
		uint64_t turned = 0;

		for (uint32_t i = 0; i < node->bits; i++)
			turned |= (v >> i & 1) << (node->bits - 1 - i);
		v = turned;
	}
	if (node->kind == CTF_SINT && node->bits < 64 &&
	    v >> (node->bits - 1) & 1)
		v |= UINT64_MAX << node->bits;
	if (node->kind == CTF_BOOL)
		v = v != 0;
	ctf_field_effects(st, node, v);
	*out = v;
	return 0;
}

/* Returns whether the value is in a range of the label. */
static bool ctf_field_is_inside(const struct ctf_label *l, uint64_t v,
				bool is_signed)
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

/* Sets *out to the next n bytes and moves past them. Returns -1 with st->why if
 * they are not there. */
static int ctf_field_window(struct ctf_state *st, uint64_t n, struct bytes *out)
{
	struct ctf_cursor *c = &st->cur;

	if (n > UINT64_MAX / 8 || !ctf_cursor_has(c, n * 8) ||
	    bytes_window(&c->b, c->at / 8, n, out))
		return ctf_field_too_short(st);
	c->at += n * 8;
	return 0;
}

/* Returns the length in bytes of the text before its first null unit, or -1 if
 * there is no null unit. */
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

int ctf_field_chars(struct ctf_state *st, const struct ctf_node *node,
		    struct bytes *out)
{
	const size_t unit = node->encoding == CTF_UTF8		     ? 1
			    : node->encoding <= (uint8_t)CTF_UTF16BE ? 2
								     : 4;

	if (node->kind == CTF_STRING) {
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

static void ctf_text_put(struct ctf_text *t, const void *s, size_t n)
{
	size_t left = t->max - t->n;

	if (n > left) {
		n = left;
		t->cut = true;
	}
	if (n)
		memcpy(t->at + t->n, s, n);
	t->n += n;
}

static void ctf_text_word(struct ctf_text *t, const char *s)
{
	if (t)
		ctf_text_put(t, s, strlen(s));
}

/* Takes a character of UTF-16 or UTF-32 (wide). Returns -1 at the end. */
static int ctf_text_take(struct bytes *b, bool wide, uint32_t *out)
{
	uint16_t hi = 0;
	uint16_t lo = 0;

	if (wide)
		return bytes_left(b) < 4 ? -1 : bytes_u32(b, out, NULL);
	if (bytes_left(b) < 2 || bytes_u16(b, &hi, NULL))
		return -1;
	*out = hi;
	if (hi < 0xd800 || hi >= 0xdc00 || bytes_peek_u16(b, 0, &lo) ||
	    lo < 0xdc00 || lo >= 0xe000)
		return 0;
	*out = 0x10000 + ((uint32_t)(hi - 0xd800) << 10 | (lo - 0xdc00u));
	return bytes_skip(b, 2, NULL);
}

/* Appends a string, converted to UTF-8. */
static void ctf_text_string(struct ctf_text *t, const struct ctf_node *node,
			    const struct bytes *b)
{
	struct bytes rest = *b;
	bool wide = node->encoding >= CTF_UTF32LE;
	uint32_t c;

	if (node->encoding == CTF_UTF8) {
		ctf_text_put(t, b->pos, bytes_left(b));
		return;
	}
	rest.swap = !ctf_cursor_is_native(node->encoding == CTF_UTF16BE ||
					  node->encoding == CTF_UTF32BE);
	while (!ctf_text_take(&rest, wide, &c)) {
		static const uint8_t first[] = { 0, 0xc0, 0xe0, 0xf0 };
		char s[4];

		if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
			c = 0xfffd;
		const int more = (c >= 0x80) + (c >= 0x800) + (c >= 0x10000);

		s[0] = (char)(first[more] | c >> (6 * more));
		for (int i = 1; i <= more; i++)
			s[i] = (char)(0x80 | (c >> (6 * (more - i)) & 0x3f));
		ctf_text_put(t, s, (size_t)more + 1);
	}
}

static void ctf_value_quoted(struct ctf_text *t, const unsigned char *s,
			     size_t n)
{
	char buf[8];

	ctf_text_put(t, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '"' || s[i] == '\\') {
			ctf_text_put(t, "\\", 1);
			ctf_text_put(t, &s[i], 1);
		} else if (s[i] < ' ') {
			snprintf(buf, sizeof(buf), "\\u%04x", s[i]);
			ctf_text_put(t, buf, 6);
		} else {
			ctf_text_put(t, &s[i], 1);
		}
	}
	ctf_text_put(t, "\"", 1);
}

static int ctf_value_string(struct ctf_state *st, const struct ctf_node *node,
			    struct ctf_text *t, bool quote)
{
	unsigned char buf[1024];
	struct ctf_text plain = { .at = buf, .max = sizeof(buf) };
	struct bytes b;

	if (ctf_field_chars(st, node, &b))
		return -1;
	if (!t)
		return 0;
	if (!quote) {
		ctf_text_string(t, node, &b);
	} else if (node->encoding == CTF_UTF8) {
		ctf_value_quoted(t, b.pos, bytes_left(&b));
	} else {
		ctf_text_string(&plain, node, &b);
		ctf_value_quoted(t, buf, plain.n);
		t->cut |= plain.cut;
	}
	return 0;
}

/* ---- numbers. They have their own code because lists consist mostly of
 * numbers, and formatted output took half of the time. */

static void ctf_value_decimal(struct ctf_text *t, uint64_t v, bool minus)
{
	char buf[24];
	size_t at = sizeof(buf);

	do
		buf[--at] = (char)('0' + v % 10);
	while (v /= 10);
	if (minus)
		buf[--at] = '-';
	ctf_text_put(t, buf + at, sizeof(buf) - at);
}

static void ctf_value_hexadecimal(struct ctf_text *t, uint64_t v)
{
	char buf[24];
	size_t at = sizeof(buf);

	do
		buf[--at] = "0123456789abcdef"[v % 16];
	while (v /= 16);
	buf[--at] = 'x';
	buf[--at] = '0';
	ctf_text_put(t, buf + at, sizeof(buf) - at);
}

/* The powers of ten that fit into 64 bits; each is exact as a double too. */
static const uint64_t ctf_value_ten[] = { 1e0,	1e1,  1e2,  1e3,  1e4,
					  1e5,	1e6,  1e7,  1e8,  1e9,
					  1e10, 1e11, 1e12, 1e13, 1e14,
					  1e15, 1e16, 1e17, 1e18, 1e19 };

/* Returns size * 10^decimals, rounded to the nearest integer, ties to even.
 * size must be from 0.001 to 10^15, and the result have at most 17 digits. */
static uint64_t ctf_value_scaled(double size, int decimals)
{
	uint64_t bits;

	memcpy(&bits, &size, sizeof(bits));
	const uint64_t one = (uint64_t)1 << 52;
	const uint32_t shift = 1075 - (uint32_t)(bits >> 52);
	const struct wide all =
		wide_mul((bits & (one - 1)) | one, ctf_value_ten[decimals]);
	const uint64_t half = (uint64_t)1 << (shift - 1);
	const uint64_t whole = wide_shift(all, shift);
	const uint64_t rest = all.lo & ((half << 1) - 1);

	return whole + (rest > half || (rest == half && whole & 1));
}

/* Appends v / 10^decimals without trailing zeros. */
static void ctf_value_point(struct ctf_text *t, uint64_t v, int decimals,
			    bool minus)
{
	char buf[32];
	size_t at = sizeof(buf);

	for (; decimals && v % 10 == 0; decimals--)
		v /= 10;
	for (int i = 0; v || i <= decimals; i++, v /= 10) {
		if (i && i == decimals)
			buf[--at] = '.';
		buf[--at] = (char)('0' + v % 10);
	}
	if (minus)
		buf[--at] = '-';
	ctf_text_put(t, buf + at, sizeof(buf) - at);
}

/* Appends v with `some` digits if they parse to the same number, else with
 * `all`, as ctf_text_real() does. Returns false for numbers that are too large
 * or too small for this way. An integer of 15 digits divided by a power of ten
 * up to 10^22 is the double that strtod() returns, as both are exact. */
static bool ctf_value_usual(struct ctf_text *t, double v, int some, int all)
{
	const double size = v < 0 ? -v : v;
	int digits =
		1; /* digits before the point; 0 and below: zeros after it */

	/* an x87 would round a quotient twice, first to its own precision */
	if (FLT_EVAL_METHOD > 1 || !(size >= 0.001 && size < 1e15))
		return false;
	while (size >= (double)ctf_value_ten[digits])
		digits++;
	digits -= (size < 1) + (size < 0.1) + (size < 0.01);
	if (digits > some)
		return false;
	const uint64_t n = ctf_value_scaled(size, some - digits);
	const double back = (double)n / (double)ctf_value_ten[some - digits];

	if (all < 10 ? (float)back == (float)size : back == size)
		ctf_value_point(t, n, some - digits, v < 0);
	else
		ctf_value_point(t, ctf_value_scaled(size, all - digits),
				all - digits, v < 0);
	return true;
}

void ctf_text_real(struct ctf_text *t, double v, bool single)
{
	const int some = single ? 6 : 15;
	const int all = single ? 9 : 17;
	char buf[40];

	if (ctf_value_usual(t, v, some, all))
		return;
	snprintf(buf, sizeof(buf), "%.*g", some, v);
	double back = strtod(buf, NULL);

	if (single ? (float)back != (float)v : back != v)
		snprintf(buf, sizeof(buf), "%.*g", all, v);
	ctf_text_word(t, buf);
}

/* IEEE 754 binary16: 1 sign, 5 exponent, 10 fraction bits. */
static double ctf_value_half(uint32_t v)
{
	uint32_t exp = v >> 10 & 31;
	double f = v & 1023;

	if (exp == 31)
		f = v & 1023 ? __builtin_nan("") : __builtin_inf();
	else if (exp)
		f = (f + 1024) * (double)(1u << exp) / 33554432.0;
	else
		f /= 16777216.0;
	return v >> 15 ? -f : f;
}

/* Appends a floating-point number. JSON has no infinity and no NaN, so within
 * JSON they are strings. */
static void ctf_value_put_real(struct ctf_text *t, double v, bool single,
			       bool top)
{
	const bool quote = !top && !__builtin_isfinite(v);

	if (quote)
		ctf_text_put(t, "\"", 1);
	ctf_text_real(t, v, single);
	if (quote)
		ctf_text_put(t, "\"", 1);
}

static int ctf_value_real(struct ctf_state *st, const struct ctf_node *node,
			  struct ctf_text *t, bool top)
{
	uint64_t v = 0;
	uint64_t more = 0;
	float f;
	double d;

	if (ctf_cursor_number(&st->cur, node->bits < 64 ? node->bits : 64,
			      node->big, &v) ||
	    (node->bits == 128 &&
	     ctf_cursor_number(&st->cur, 64, node->big, &more)))
		return ctf_field_too_short(st);
	if (!t)
		return 0;
	uint32_t v32 = (uint32_t)v;
	switch (node->bits) {
	case 16:
		ctf_value_put_real(t, ctf_value_half(v32), true, top);
		break;
	case 32:
		memcpy(&f, &v32, sizeof(f));
		ctf_value_put_real(t, (double)f, true, top);
		break;
	case 64:
		memcpy(&d, &v, sizeof(d));
		ctf_value_put_real(t, d, false, top);
		break;
	default:
		/* this machine has no such type: print its bits, the high ones
		 * first */
		ctf_text_put(t, "\"", 1);
		ctf_value_hexadecimal(t, node->big ? v : more);
		ctf_text_put(t, " ", 1);
		ctf_value_hexadecimal(t, node->big ? more : v);
		ctf_text_put(t, "\"", 1);
		break;
	}
	return 0;
}

/* Reads a field of any class and appends its text; see ctf_value_read(). */
static int ctf_value_any(struct ctf_state *st, const struct ctf_node *node,
			 struct ctf_text *t, unsigned int depth, bool top)
{
	if (++depth > CTF_DEPTH_MAX + 2)
		return ctf_field_stop(st, "classes are nested too deeply");
	if (node->kind == CTF_VARIANT || node->kind == CTF_OPTIONAL) {
		int64_t i = ctf_field_option(node, st->slot[node->from]);

		if (i >= 0)
			return ctf_value_any(st, &node->child[i], t, depth,
					     top);
		if (node->kind == CTF_VARIANT)
			return ctf_field_stop(
				st,
				"a selector has a value that no option has");
		ctf_text_word(t, "null");
		return 0;
	}
	ctf_cursor_align(&st->cur, node->align);
	if (st->cur.at > st->cur.end)
		return ctf_field_too_short(st);
	if (ctf_node_is_number(node)) {
		const bool hex = node->base == 16 && ctf_node_is_integer(node);
		const bool is_signed = ctf_node_is_signed(node);
		uint64_t v;

		if (ctf_field_number(st, node, &v))
			return -1;
		if (!t)
			return 0;
		/* SQLite's JSON reads integers above 2^63 as floating-point, so
		 * they become strings */
		const bool quote =
			!top && !is_signed &&
			(hex || (v > INT64_MAX && ctf_node_is_integer(node)));

		if (quote)
			ctf_text_put(t, "\"", 1);
		if (is_signed)
			ctf_value_decimal(t, (int64_t)v < 0 ? -v : v,
					  (int64_t)v < 0);
		else if (hex)
			ctf_value_hexadecimal(t, v);
		else
			ctf_value_decimal(t, v, false);
		if (quote)
			ctf_text_put(t, "\"", 1);
		return 0;
	}
	if (ctf_node_is_string(node))
		return ctf_value_string(st, node, t, true);
	switch ((enum ctf_kind)node->kind) {
	case CTF_REAL:
		return ctf_value_real(st, node, t, top);
	case CTF_STRUCT:

		ctf_text_word(t, "{");
		for (uint32_t i = 0; i < node->n_child; i++) {
			const struct ctf_node *m = &node->child[i];
			const char *name = m->name ? m->name : "";

			if (i)
				ctf_text_word(t, ",");
			if (t) {
				ctf_value_quoted(t, (const unsigned char *)name,
						 strlen(name));
				ctf_text_put(t, ":", 1);
			}
			if (ctf_value_any(st, m, t, depth, false))
				return -1;
		}
		ctf_text_word(t, "}");
		return 0;
	case CTF_FIXED_BLOB:
	case CTF_LENGTH_BLOB: {
		/* a BLOB that is nested in something else is a list of
		 * numbers */
		struct bytes b;
		uint8_t v;

		if (ctf_field_chars(st, node, &b))
			return -1;
		ctf_text_word(t, "[");
		for (bool first = true; t && !bytes_u8(&b, &v, NULL);
		     first = false) {
			if (!first)
				ctf_text_put(t, ",", 1);
			ctf_value_decimal(t, v, false);
		}
		ctf_text_word(t, "]");
		return 0;
	}
	default: {
		uint64_t n = node->from ? st->slot[node->from] : node->count;

		ctf_text_word(t, "[");
		for (uint64_t i = 0; i < n; i++) {
			const uint64_t at = st->cur.at;

			if (i)
				ctf_text_word(t, ",");
			if (ctf_value_any(st, node->child, t, depth, false) ||
			    (st->cur.at == at && ctf_field_idle(st)))
				return -1;
		}
		ctf_text_word(t, "]");
		return 0;
	}
	}
}

/* Reads a field of any class. Appends its text to t if t is not NULL: JSON,
 * except for a single value. Returns -1 with st->why on bytes that do not
 * fit. */
static int ctf_value_read(struct ctf_state *st, const struct ctf_node *node,
			  struct ctf_text *t)
{
	/* a string outside of JSON has no quotes */
	if (t && node->kind == CTF_VARIANT) {
		int64_t i = ctf_field_option(node, st->slot[node->from]);

		if (i >= 0 && ctf_node_is_string(&node->child[i])) {
			ctf_cursor_align(&st->cur, node->child[i].align);
			return ctf_value_string(st, &node->child[i], t, false);
		}
	}
	return ctf_value_any(st, node, t, 0, true);
}

#define CHAIN_MAX 65536
#define NAMES_MAX ((size_t)1 << 20)
/* include/uapi/linux/perf_event.h: callchain entries from PERF_CONTEXT_MAX on
 * are marks. */
#define MARK_MAX ((uint64_t)-4095)
#define MARK_USER ((uint64_t)-512)

static void ctf_run_store(struct ctf_state *st, const struct ctf_want *w,
			  uint64_t u)
{
	uint32_t u32 = (uint32_t)u;
	uint16_t u16 = (uint16_t)u;
	uint8_t u8 = (uint8_t)u;

	switch (w->size) {
	case 1:
		memcpy(st->raw + w->off, &u8, 1);
		break;
	case 2:
		memcpy(st->raw + w->off, &u16, 2);
		break;
	case 4:
		memcpy(st->raw + w->off, &u32, 4);
		break;
	default:
		memcpy(st->raw + w->off, &u, 8);
		break;
	}
}

/* Returns how many bytes may be added to the payload. */
static size_t ctf_run_left(const struct ctf_state *st)
{
	const uint64_t most = (st->cur.end + 7) / 8 * CTF_OUTPUT_RATIO;
	const size_t left = st->raw_len < CTF_PAYLOAD_MAX
				    ? CTF_PAYLOAD_MAX - st->raw_len
				    : 0;

	if (st->output >= most)
		return 0;
	return left < most - st->output ? left : (size_t)(most - st->output);
}

/* Begins a text at the end of the payload and leaves room for its final NUL. */
static struct ctf_text ctf_run_begin(struct ctf_state *st)
{
	size_t left = ctf_run_left(st);

	return (struct ctf_text){
		.at = st->raw + st->raw_len,
		.max = left ? left - 1 : 0,
		.cut = !left,
	};
}

static void ctf_run_place(struct ctf_state *st, uint32_t off, size_t len)
{
	uint32_t loc = (uint32_t)st->raw_len | (uint32_t)len << 16;

	if (!len)
		loc = 0;
	memcpy(st->raw + off, &loc, 4);
	st->raw_len += len;
	st->output += len;
}

/* Ends a text with a NUL, even if the text was cut. */
static void ctf_run_finish(struct ctf_state *st, uint32_t off,
			   const struct ctf_text *t)
{
	st->n_cut += t->cut;
	if (st->raw_len >= CTF_PAYLOAD_MAX) {
		ctf_run_place(st, off, 0);
		return;
	}
	t->at[t->n] = 0;
	ctf_run_place(st, off, t->n + 1);
}

/* Sign-extends v; `above` is the number of bits above the signed number. */
static inline uint64_t ctf_run_extend(uint64_t v, uint32_t above)
{
	return (uint64_t)((int64_t)(v << above) >> above);
}

static int ctf_run_num(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_want *w = &op->want;
	uint64_t v;

	if (ctf_field_number(st, op->node, &v))
		return -1;
	if (w->use) {
		st->use[w->use] = v;
		st->uses |= 1u << w->use;
	}
	if (w->how == CTF_NUMBER)
		ctf_run_store(st, w, v);
	if (w->how == CTF_NUMBER && w->label != CTF_NO_PLACE) {
		struct ctf_text t = ctf_run_begin(st);

		if (!t.max) {
			st->n_cut++;
			return 0;
		}
		st->output += op->node->n_label / 4;
		bool any = false;

		for (uint32_t i = 0; i < op->node->n_label; i++) {
			if (!ctf_field_is_inside(&op->node->label[i], v,
						 ctf_node_is_signed(op->node)))
				continue;
			if (any)
				ctf_text_put(&t, "|", 1);
			any = true;
			ctf_text_put(&t, op->node->label[i].name,
				     strlen(op->node->label[i].name));
		}
		if (any)
			ctf_run_finish(st, w->label, &t);
	}
	return 0;
}

/* Reads a number of 8 or 16 bits at a whole byte that has a use but no effects.
 * ctf_run() itself reads larger ones. */
static int ctf_run_use(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_want *w = &op->want;
	uint64_t v;

	if (ctf_cursor_whole(&st->cur, op->node->bits, op->swap, &v))
		return ctf_field_too_short(st);
	st->use[w->use] = ctf_run_extend(v, op->n);
	st->uses |= 1u << w->use;
	if (w->how == CTF_NUMBER)
		ctf_run_store(st, w, v);
	return 0;
}

/* Copies a list of numbers of up to 8 bits into the payload, one byte each. */
static int ctf_run_bytes(struct ctf_state *st, const struct ctf_op *op)
{
	const struct ctf_node *e = ctf_node_element(op->node);
	size_t left = ctf_run_left(st);
	size_t len = 0;
	struct bytes b;
	uint64_t v;

	if (!e || (e->bits == 8 && e->align <= 8 && !e->slot && !e->reverse &&
		   st->cur.at % 8 == 0)) {
		if (ctf_field_chars(st, op->node, &b))
			return -1;
		len = bytes_left(&b) < left ? bytes_left(&b) : left;
		st->n_cut += len < bytes_left(&b);
		if (len)
			memcpy(st->raw + st->raw_len, b.pos, len);
		ctf_run_place(st, op->want.off, len);
		return 0;
	}
	const uint64_t n = ctf_field_length(st, op->node);

	for (uint64_t i = 0; i < n; i++) {
		ctf_cursor_align(&st->cur, e->align);
		if (ctf_field_number(st, e, &v))
			return -1;
		if (len < left)
			st->raw[st->raw_len + len++] = (unsigned char)v;
		else if (i == left)
			st->n_cut++;
	}
	ctf_run_place(st, op->want.off, len);
	return 0;
}

static int ctf_run_addresses(struct ctf_state *st, const struct ctf_op *op,
			     struct ctf_addrs *out)
{
	const struct ctf_node *e = op->node->child;
	const uint64_t n = ctf_field_length(st, op->node);
	uint64_t v;

	if (st->cur.at > st->cur.end ||
	    (e->bits && n > (st->cur.end - st->cur.at) / e->bits))
		return ctf_field_too_short(st);
	out->n = n < CHAIN_MAX ? (size_t)n : CHAIN_MAX;
	mem_grow(out->ip, out->cap, out->n + 1);
	if (op->code == CTF_OP_WORDS) {
		struct bytes b;

		if (n > UINT64_MAX / 64 || ctf_field_window(st, n * 8, &b))
			return ctf_field_too_short(st);
		b.swap = !ctf_cursor_is_native(e->big);
		if (bytes_u64s(&b, out->ip, out->n, NULL))
			return -1;
	}
	for (uint64_t i = 0; op->code == CTF_OP_STACK && i < n; i++) {
		ctf_cursor_align(&st->cur, e->align);
		if (ctf_field_number(st, e, &v))
			return -1;
		if (i < CHAIN_MAX)
			out->ip[i] = v;
	}
	out->cut = false;
	return 0;
}

/* Reads a stack of LTTng, which ends one that it cut at its limit with an entry
 * of its own: all ones, in the bits of an address. */
static int ctf_run_stack(struct ctf_state *st, const struct ctf_op *op,
			 struct ctf_addrs *out)
{
	const uint32_t bits = op->node->child->bits;
	const uint64_t ones =
		bits && bits < 64 ? ((uint64_t)1 << bits) - 1 : UINT64_MAX;

	if (ctf_run_addresses(st, op, out))
		return -1;
	out->cut = out->n && (out->ip[out->n - 1] & ones) == ones;
	out->n -= out->cut;
	return 0;
}

/* Reads a callchain of perf, in which marks begin the kernel and the user
 * part. */
static int ctf_run_perf_stack(struct ctf_state *st, const struct ctf_op *op)
{
	struct ctf_addrs *to = &st->kern;

	if (ctf_run_addresses(st, op, &st->user))
		return -1;
	const size_t n = st->user.n;

	mem_grow(st->kern.ip, st->kern.cap, n + 1);
	st->kern.n = st->user.n = 0;
	for (size_t i = 0; i < n; i++) {
		uint64_t ip = st->user.ip[i];

		if (ip >= MARK_MAX)
			to = ip == MARK_USER ? &st->user : &st->kern;
		else
			to->ip[to->n++] = ip;
	}
	return 0;
}

/* Reads the stack of an interpreter: names of functions, innermost first. */
static int ctf_run_names(struct ctf_state *st, const struct ctf_node *node)
{
	const uint64_t n = ctf_field_length(st, node);
	bool full = false;
	struct bytes b;

	st->names_len = st->user.n = 0;
	for (uint64_t i = 0; i < n; i++) {
		ctf_cursor_align(&st->cur, node->child->align);
		const uint64_t at = st->cur.at;

		if (ctf_field_chars(st, node->child, &b))
			return -1;
		if (st->cur.at == at && ctf_field_idle(st))
			return -1;
		size_t len = bytes_left(&b) + 1;

		full |= len > NAMES_MAX - st->names_len ||
			st->user.n == CHAIN_MAX;
		if (full)
			continue;
		mem_grow(st->names, st->cap_names, st->names_len + len);
		memcpy(st->names + st->names_len, b.pos, len - 1);
		st->names_len += len;
		st->names[st->names_len - 1] = 0;
		st->user.n++;
	}
	return 0;
}

static int ctf_run_rare(struct ctf_state *st, const struct ctf_op *op)
{
	struct ctf_text t;
	struct bytes b;
	uint64_t n;

	switch ((enum ctf_code)op->code) {
	case CTF_OP_TEXT:
		if (ctf_field_chars(st, op->node, &b))
			return -1;
		t = ctf_run_begin(st);
		ctf_text_string(&t, op->node, &b);
		ctf_run_finish(st, op->want.off, &t);
		return 0;
	case CTF_OP_SKIP_TEXT:
		return ctf_field_chars(st, op->node, &b);
	case CTF_OP_SKIP_MANY:
		n = st->slot[op->node->from];
		if (st->cur.at > st->cur.end ||
		    n > (st->cur.end - st->cur.at) / op->n)
			return ctf_field_too_short(st);
		st->cur.at += n * op->n;
		return 0;
	case CTF_OP_BYTES:
		return ctf_run_bytes(st, op);
	case CTF_OP_JSON:
		t = ctf_run_begin(st);
		if (ctf_value_read(st, op->node, &t))
			return -1;
		ctf_run_finish(st, op->want.off, &t);
		return 0;
	case CTF_OP_WALK:
		return ctf_value_read(st, op->node, NULL);
	case CTF_OP_UUID:
		if (op->node->count != CTF_UUID)
			return ctf_value_read(st, op->node, NULL);
		if (ctf_field_window(st, CTF_UUID, &b))
			return -1;
		memcpy(st->uuid, b.pos, CTF_UUID);
		st->roles |= 1u << CTF_UUID_FIELD;
		return 0;
	case CTF_OP_WORDS:
	case CTF_OP_STACK:
		switch ((enum ctf_use)op->want.use) {
		case CTF_KSTACK:
			return ctf_run_stack(st, op, &st->kern);
		case CTF_NAMES:
			return ctf_run_names(st, op->node);
		case CTF_PERF_STACK:
			return ctf_run_perf_stack(st, op);
		default:
			return ctf_run_stack(st, op, &st->user);
		}
	default:
		return 0;
	}
}

/* Runs a step that few events have, or that takes longer than a call. Returns
 * the next step, or NULL with st->why. */
static const struct ctf_op *ctf_run_step(const struct ctf_program *p,
					 struct ctf_state *st,
					 const struct ctf_op *op)
{
	struct bytes b;
	int rc;

	switch ((enum ctf_code)op->code) {
	case CTF_OP_USE:
		rc = ctf_run_use(st, op);
		break;
	case CTF_OP_MARK:
		rc = ctf_field_plain(st, op->node);
		break;
	case CTF_OP_NUM:
		rc = ctf_run_num(st, op);
		break;
	case CTF_OP_NAME:
		/* strings of another encoding or of fixed length; ctf_run() has
		 * the others */
		rc = ctf_field_chars(st, op->node, &b);
		if (rc)
			break;
		st->name = (const char *)b.pos;
		st->name_len = bytes_left(&b);
		break;
	case CTF_OP_JUMP:
		return &p->op[op->n];
	case CTF_OP_SELECT: {
		const struct ctf_node *node = op->node;
		int64_t i = ctf_field_option(node, st->slot[node->from]);

		if (i < 0 && node->kind == CTF_OPTIONAL)
			i = node->n_child;
		if (i >= 0)
			return &p->op[p->jump[op->n + (uint64_t)i]];
		ctf_field_stop(st, "a selector has a value that no option has");
		return NULL;
	}
	default:
		rc = ctf_run_rare(st, op);
		break;
	}
	return rc ? NULL : op + 1;
}

/* Reads a number of whole bytes. */
#define TAKE(v, swapped)                                                       \
	do {                                                                   \
		if (bytes_peek(&b, at / 8, &(v), sizeof(v))) {                 \
			st->cur.at = at;                                       \
			return ctf_field_too_short(st);                        \
		}                                                              \
		if (op->swap)                                                  \
			(v) = (swapped);                                       \
		at += sizeof(v) * 8;                                           \
	} while (0)
#define STORE(v) memcpy(raw + op->want.off, &(v), sizeof(v))

int ctf_run(const struct ctf_program *p, struct ctf_state *st)
{
	/* local copies: otherwise the compiler must assume that each store to
	 * the payload changes *st */
	const struct bytes b = st->cur.b;
	unsigned char *raw = st->raw;
	uint64_t at = st->cur.at;
	const struct ctf_op *op = p->op;
	struct bytes name;
	uint64_t v64;
	uint32_t v32;
	uint16_t v16;
	uint8_t v8;

	for (;;) {
		at = (at + op->pre + op->mask) & ~(uint64_t)op->mask;
		switch ((enum ctf_code)op->code) {
		case CTF_OP_U8:
			TAKE(v8, v8);
			STORE(v8);
			break;
		case CTF_OP_U16:
			TAKE(v16, __builtin_bswap16(v16));
			STORE(v16);
			break;
		case CTF_OP_U32:
			TAKE(v32, __builtin_bswap32(v32));
			STORE(v32);
			break;
		case CTF_OP_U64:
			TAKE(v64, __builtin_bswap64(v64));
			STORE(v64);
			break;
		case CTF_OP_USE32:
			TAKE(v32, __builtin_bswap32(v32));
			st->use[op->want.use] = ctf_run_extend(v32, op->n);
			st->uses |= 1u << op->want.use;
			if (op->want.how == CTF_NUMBER)
				STORE(v32);
			break;
		case CTF_OP_USE64:
			TAKE(v64, __builtin_bswap64(v64));
			st->use[op->want.use] = v64;
			st->uses |= 1u << op->want.use;
			if (op->want.how == CTF_NUMBER)
				STORE(v64);
			break;
		case CTF_OP_NAME_HERE:
			if (at > st->cur.end ||
			    op->n * (uint64_t)8 > st->cur.end - at ||
			    bytes_window(&b, at / 8, op->n, &name)) {
				st->cur.at = at;
				return ctf_field_too_short(st);
			}
			st->name = (const char *)name.pos;
			st->name_len = op->n;
			at += op->n * (uint64_t)8;
			break;
		case CTF_OP_NOP:
			break;
		case CTF_OP_END:
			st->cur.at = at;
			return at > st->cur.end ? ctf_field_too_short(st) : 0;
		default:
			st->cur.at = at;
			op = ctf_run_step(p, st, op);
			if (!op)
				return -1;
			at = st->cur.at;
			continue;
		}
		op++;
	}
}

int ctf_run_header(const struct ctf_program *p, struct ctf_state *st)
{
	const struct ctf_brief_header *h = &p->brief;
	const uint64_t at = (st->cur.at + h->mask) & ~h->mask;
	uint64_t v;

	if (!h->bits || at > st->cur.end || h->bits > st->cur.end - at ||
	    bytes_peek(&st->cur.b, at / 8, &v, sizeof(v)))
		return ctf_run(p, st);
	const uint64_t id = v & (UINT64_MAX >> (64 - h->id_bits));
	const uint64_t mask = UINT64_MAX >> (64 - (h->bits - h->id_bits));
	const uint64_t time = v >> h->id_bits & mask;

	if (id < h->lo || id > h->hi)
		return ctf_run(p, st);
	uint64_t *clock = &st->clock[h->clock];

	if ((*clock & mask) > time)
		*clock += mask + 1;
	*clock = (*clock & ~mask) | time;
	st->cur.at = at + h->bits;
	st->slot[h->slot] = id;
	st->role[CTF_EVENT_CLASS_ID] = id;
	st->role[CTF_CLOCK] = time;
	st->roles |= 1u << CTF_EVENT_CLASS_ID | 1u << CTF_CLOCK;
	return 0;
}
