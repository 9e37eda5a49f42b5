/* tsdl_read.c - TSDL: its packets, then its blocks (trace, env, clock ...). */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/tsdl.h"
#include "stitch/base/bytes.h"

#define TSDL_MAGIC 0x75D11D57u
#define TSDL_PACKED_HEADER 37

/* Copies the content of packets: magic, uuid[16], checksum, content and packet
 * size in bits, then bytes for compression, encryption, checksum scheme and
 * version. A packet that is cut gives what is there of it. */
static int tsdl_packets(struct raw *r, struct bytes b, char *text, bool *cut)
{
	while (bytes_left(&b)) {
		struct bytes body = b;
		uint64_t off = bytes_off(&b) - b.base_off;
		uint32_t magic = 0;
		uint32_t content = 0;
		uint32_t packet = 0;
		uint8_t scheme[3] = { 0 };

		*cut = true;
		if (bytes_peek_u32(&b, 0, &magic) ||
		    bytes_peek(&b, 32, scheme, sizeof(scheme)) ||
		    bytes_peek_u32(&b, 24, &content) ||
		    bytes_peek_u32(&b, 28, &packet) ||
		    bytes_skip(&body, TSDL_PACKED_HEADER, NULL))
			return 0;
		if (magic != TSDL_MAGIC)
			return raw_fail(r, (uint32_t)off,
					"found 0x%x, needed the magic number "
					"of a metadata packet",
					magic);
		if (scheme[0] || scheme[1])
			return raw_fail(r, (uint32_t)off,
					"metadata packet is compressed or "
					"encrypted");
		if (content > packet || packet % 8 || content % 8 ||
		    content / 8 < TSDL_PACKED_HEADER)
			return raw_fail(r, (uint32_t)off,
					"metadata packet has %u bits of "
					"content and a size of %u bits",
					content, packet);
		size_t len = content / 8 - TSDL_PACKED_HEADER;

		*cut = packet / 8 > bytes_left(&b);
		if (len > bytes_left(&body))
			len = bytes_left(&body);
		*mem_add(r->span, r->n_span, r->cap_span) = (struct raw_span){
			.text = (uint32_t)r->n_text,
			.file = (uint32_t)(off + TSDL_PACKED_HEADER),
		};
		bytes_peek(&body, 0, text + r->n_text, len);
		r->n_text += len;
		if (*cut)
			return 0;
		bytes_skip(&b, packet / 8, NULL);
	}
	return 0;
}

int tsdl_unpack(struct raw *r, const struct bytes *meta, bool *cut)
{
	struct bytes b = *meta;
	uint32_t magic = 0;

	*cut = false;
	if (bytes_peek(&b, 0, &magic, sizeof(magic)))
		magic = 0;
	b.swap = magic == __builtin_bswap32(TSDL_MAGIC);
	if (magic != TSDL_MAGIC && !b.swap) {
		r->n_text = bytes_left(&b);
		r->text = raw_copy(&r->scratch, b.pos, r->n_text, 1);
		r->text = r->text ? r->text : "";
		return 0;
	}
	char *text = arena_take(&r->scratch, bytes_left(&b));
	int ret = tsdl_packets(r, b, text, cut);

	r->text = ret ? NULL : text;
	return ret;
}

/* Reads { key = value; key := type; } and declarations of types. */
static int tsdl_block(struct tsdl *t, tsdl_set_fn *set, void *to)
{
	size_t block = tsdl_enter(t);
	uint32_t key;
	bool done;

	if (tsdl_need(t, '{', "'{'"))
		return -1;
	while (!tsdl_is(t, '}')) {
		struct tsdl_value v = { .at = t->tok.at, .kind = TSDL_ASSIGN };

		if (tsdl_declaration(t, &done))
			return -1;
		if (done)
			continue;
		if (tsdl_path(t, &key))
			return -1;
		if (!tsdl_is(t, TSDL_ASSIGN)) {
			if (tsdl_attribute(t, key, set, to))
				return -1;
		} else if (tsdl_next(t) || tsdl_type(t, &v.type) ||
			   set(t, to, key, &v) || tsdl_need(t, ';', "';'")) {
			return -1;
		}
	}
	tsdl_leave(t, block);
	return tsdl_next(t);
}

/* Fails if the value is no structure. */
static int tsdl_scope(struct tsdl *t, const struct tsdl_value *v,
		      const struct raw_class **out)
{
	if (v->kind != TSDL_ASSIGN || v->type->node.kind != CTF_STRUCT)
		return raw_fail(t->r, v->at, "value is no structure");
	*out = v->type;
	return 0;
}

/* to: a bool, is the byte order known? */
static int tsdl_set_trace(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	bool *order_known = to;
	struct ctf_tree *tree = t->r->tree;
	bool native = false;
	uint64_t n;

	switch (key) {
	case TSDL_MAJOR:
		return tsdl_unsigned(t, v, 1, 1, &n);
	case TSDL_MINOR:
		return tsdl_unsigned(t, v, 8, 8, &n);
	case TSDL_UUID:
		tree->has_uuid = true;
		struct scan s = scan_of("", 0);

		if (v->kind == TSDL_TEXT)
			s = scan_of(tsdl_text(t, v->name),
				    strlen(tsdl_text(t, v->name)));
		for (size_t i = 0; i < 16; i++) {
			if (i == 4 || i == 6 || i == 8 || i == 10)
				scan_take(&s, "-");
			if (s.n < 2 || scan_hex_digit(s.p[0]) < 0 ||
			    scan_hex_digit(s.p[1]) < 0)
				return raw_fail(t->r, v->at,
						"value is no uuid");
			tree->uuid[i] = (uint8_t)(scan_hex_digit(s.p[0]) << 4 |
						  scan_hex_digit(s.p[1]));
			scan_skip(&s, 2);
		}
		return s.n ? raw_fail(t->r, v->at, "value is no uuid") : 0;
	case TSDL_BYTE_ORDER:
		*order_known = true;
		return tsdl_byte_order(t, v, &native, &tree->big);
	case TSDL_PACKET_HEADER:
		return tsdl_scope(t, v, &t->r->header);
	default:
		return 0;
	}
}

static int tsdl_set_env(struct tsdl *t, void *to UNUSED, uint32_t key,
			const struct tsdl_value *v)
{
	struct raw *r = t->r;
	struct ctf_env e = { .name = raw_keep(r, key) };

	if (v->kind == TSDL_TEXT)
		e.text = raw_keep(r, v->name);
	else if (tsdl_signed(t, v, &e.num))
		return -1;
	*mem_add(r->env, r->n_env, r->cap_env) = e;
	return 0;
}

static int tsdl_set_clock(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	struct raw_clock *c = to;

	switch (key) {
	case TSDL_NAME:
		if (v->kind == TSDL_NUMBER)
			return raw_fail(t->r, v->at, "value is no name");
		c->name = v->name;
		c->clock.name = raw_keep(t->r, v->name);
		return 0;
	case TSDL_UUID:
		if (v->kind == TSDL_TEXT)
			c->clock.uid = raw_keep(t->r, v->name);
		return 0;
	case TSDL_FREQ:
		return tsdl_unsigned(t, v, 1, UINT64_MAX, &c->clock.freq);
	case TSDL_OFFSET:
		return tsdl_signed(t, v, &c->clock.offset);
	case TSDL_OFFSET_S:
		return tsdl_signed(t, v, &c->clock.offset_s);
	case TSDL_ABSOLUTE:
		return tsdl_bool(t, v, &c->clock.unix_epoch);
	default:
		return 0;
	}
}

static int tsdl_set_stream(struct tsdl *t, void *to, uint32_t key,
			   const struct tsdl_value *v)
{
	struct raw_stream *s = to;

	switch (key) {
	case TSDL_ID:
		return tsdl_unsigned(t, v, 0, INT64_MAX, &s->id);
	case TSDL_PACKET_CONTEXT:
		return tsdl_scope(t, v, &s->scope[RAW_PACKET]);
	case TSDL_EVENT_HEADER:
		return tsdl_scope(t, v, &s->scope[RAW_EVENT_HEADER]);
	case TSDL_EVENT_CONTEXT:
		return tsdl_scope(t, v, &s->scope[RAW_COMMON]);
	default:
		return 0;
	}
}

static int tsdl_set_event(struct tsdl *t, void *to, uint32_t key,
			  const struct tsdl_value *v)
{
	struct raw_event *e = to;
	int64_t level = 0;

	switch (key) {
	case TSDL_ID:
		return tsdl_unsigned(t, v, 0, INT64_MAX, &e->id);
	case TSDL_NAME:
		if (v->kind == TSDL_NUMBER)
			return raw_fail(t->r, v->at, "value is no name");
		e->name = v->name;
		return 0;
	case TSDL_STREAM_ID:
		e->any_stream = false;
		return tsdl_unsigned(t, v, 0, INT64_MAX, &e->stream);
	case TSDL_CONTEXT:
		return tsdl_scope(t, v, &e->specific);
	case TSDL_FIELDS:
		return tsdl_scope(t, v, &e->payload);
	case TSDL_LOGLEVEL:
		return tsdl_signed(t, v, &level);
	default:
		return 0;
	}
}

static int tsdl_set_nothing(struct tsdl *t UNUSED, void *to UNUSED,
			    uint32_t key UNUSED,
			    const struct tsdl_value *v UNUSED)
{
	return 0;
}

static int tsdl_read_trace(struct tsdl *t)
{
	bool order_known = false;
	uint32_t at = t->tok.at;

	if (tsdl_next(t) || tsdl_block(t, tsdl_set_trace, &order_known))
		return -1;
	if (!order_known)
		return raw_fail(t->r, at, "trace has no 'byte_order'");
	t->r->tree->version = 1;
	return 0;
}

static int tsdl_read_clock(struct tsdl *t)
{
	struct raw *r = t->r;
	struct raw_clock c = { RAW_NONE, { .freq = 1000000000 } };
	uint32_t at = t->tok.at;

	if (tsdl_next(t) || tsdl_attributes(t, tsdl_set_clock, &c))
		return -1;
	if (c.name == RAW_NONE)
		return raw_fail(r, at, "clock has no 'name'");
	return raw_add_clock(r, at, &c);
}

static int tsdl_read_stream(struct tsdl *t)
{
	struct raw_stream s = { .at = t->tok.at, .clock = RAW_NONE };

	if (tsdl_next(t) || tsdl_block(t, tsdl_set_stream, &s))
		return -1;
	return raw_add_stream(t->r, &s);
}

static int tsdl_read_event(struct tsdl *t)
{
	struct raw_event e = { .at = t->tok.at,
			       .name = RAW_NONE,
			       .any_stream = true };

	if (tsdl_next(t) || tsdl_block(t, tsdl_set_event, &e))
		return -1;
	return raw_add_event(t->r, &e);
}

static int tsdl_top(struct tsdl *t)
{
	bool done;
	int ret;

	if (tsdl_is(t, ';'))
		return tsdl_next(t);
	if (tsdl_declaration(t, &done))
		return -1;
	if (done)
		return 0;
	switch (tsdl_is(t, TSDL_IDENT) ? t->tok.name : TSDL_N_WORDS) {
	case TSDL_TRACE:
		ret = tsdl_read_trace(t);
		break;
	case TSDL_ENV:
		ret = tsdl_next(t) ? -1
				   : tsdl_attributes(t, tsdl_set_env, NULL);
		break;
	case TSDL_CLOCK:
		ret = tsdl_read_clock(t);
		break;
	case TSDL_CALLSITE:
		ret = tsdl_next(t) ? -1 : tsdl_block(t, tsdl_set_nothing, NULL);
		break;
	case TSDL_STREAM:
		ret = tsdl_read_stream(t);
		break;
	case TSDL_EVENT:
		ret = tsdl_read_event(t);
		break;
	default:
		return tsdl_unexpected(t, "a block or a declaration");
	}
	return ret ? ret : tsdl_need(t, ';', "';' after a block");
}

/* Does the statement at this place of the text have no end? */
static bool tsdl_is_cut(struct raw *r, uint32_t at)
{
	struct tsdl t = { .r = r };
	int depth = 0;
	bool open = true;

	t.rest = scan_tail(scan_of(r->text, r->n_text), at);
	while (!tsdl_next(&t) && !tsdl_is(&t, TSDL_END) && open) {
		depth += tsdl_is(&t, '{') - tsdl_is(&t, '}');
		open = depth > 0 || !tsdl_is(&t, ';');
	}
	free(t.word);
	return open && tsdl_is(&t, TSDL_END);
}

/* A recorder that stops in the middle leaves the last statement unfinished. */
int tsdl_read(struct raw *r, bool *cut)
{
#define TSDL_NAME(word, text) text,
	static const char *const words[] = { TSDL_WORDS(TSDL_NAME) };
#undef TSDL_NAME
	struct tsdl t = { .r = r, .rest = scan_of(r->text, r->n_text) };
	uint32_t at = 0;

	/* numbers of words are numbers of names */
	for (size_t i = 0; i < TSDL_N_WORDS; i++)
		intern_add(&r->names, words[i]);
	int ret = tsdl_next(&t);

	while (!ret && !tsdl_is(&t, TSDL_END)) {
		at = t.tok.at;
		ret = tsdl_top(&t);
	}
	if (!ret && !r->tree->version)
		ret = raw_fail(r, t.tok.at, "metadata has no 'trace' block");
	if (ret && r->n_stream && tsdl_is_cut(r, at)) {
		*cut = true;
		ret = 0;
	}
	free_all(t.symbol, t.top, t.part, t.word, t.path);
	return ret;
}
