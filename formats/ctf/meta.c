/* meta.c - reads parts of the metadata of a CTF 1.8 trace: the offsets of sizes
 * and times in packets, the clock, and the environment.
 *
 * The library reads it too, but does not tell these offsets, and returns
 * nothing if one packet of a trace is damaged. If a definition is not
 * understood, the layout is unknown and no packet is checked against it. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "stitch/base/bytes.h"

#define PACKETIZED 0x75D11D57u
#define PACKET_HEADER 37
#define TYPES_MAX 128
#define DEPTH_MAX 16
#define TEXT_MAX ((size_t)64 << 20)

struct span {
	const char *s, *end;
};

struct type {
	struct span name;
	uint32_t bits, align;
};

struct reader {
	struct arena *arena;
	struct span text;
	struct type type[TYPES_MAX];
	size_t n_type;
};

/* ---- text out of packets */

/* Copies the content of packets to text, up to the first incomplete packet and
 * including what is there of it. */
static size_t ctf_meta_unpack(struct bytes b, char *text, bool *cut)
{
	size_t n = 0;

	while (bytes_left(&b)) {
		struct bytes body = b;
		uint32_t magic = 0;
		uint32_t content = 0;
		uint32_t packet = 0;

		/* magic, uuid, checksum; sizes in bits */
		bytes_peek_u32(&b, 0, &magic);
		bytes_peek_u32(&b, 24, &content);
		bytes_peek_u32(&b, 28, &packet);
		*cut = magic != PACKETIZED || content / 8 < PACKET_HEADER ||
		       content > packet || bytes_left(&b) < packet / 8;
		if (magic != PACKETIZED || content / 8 < PACKET_HEADER ||
		    bytes_skip(&body, PACKET_HEADER, NULL))
			break;
		size_t len = content / 8 - PACKET_HEADER;

		if (len > bytes_left(&body))
			len = bytes_left(&body);
		memcpy(text + n, body.pos, len);
		n += len;
		if (*cut || bytes_skip(&b, packet / 8, NULL))
			break;
	}
	return n;
}

/* Returns the metadata as text that ends with a 0; the caller frees it. It may
 * be stored as text or in packets. */
static char *ctf_meta_copy_text(const unsigned char *data, size_t len,
				size_t *out_len, bool *cut)
{
	struct bytes b;
	uint32_t magic = 0;
	char *text = mem_new(len + 1, 1);

	*cut = false;
	bytes_init(&b, data, len, "metadata", 0, false);
	bytes_peek_u32(&b, 0, &magic);
	b.swap = magic == __builtin_bswap32(PACKETIZED);
	if (magic == PACKETIZED || b.swap) {
		*out_len = ctf_meta_unpack(b, text, cut);
	} else {
		memcpy(text, data, len);
		*out_len = len;
	}
	return text;
}

/* Replaces comments, except inside strings, by blanks. */
static void ctf_meta_blank_comments(char *s, size_t n)
{
	bool quoted = false;

	for (size_t i = 0; i < n; i++) {
		if (!s[i])
			s[i] = ' ';
		if (quoted && s[i] == '\\') {
			i++;
		} else if (quoted) {
			quoted = s[i] != '"';
		} else if (s[i] == '"') {
			quoted = true;
		} else if (s[i] == '/' && i + 1 < n && s[i + 1] == '*') {
			for (; i < n; i++) {
				bool end = s[i] == '*' && i + 1 < n &&
					   s[i + 1] == '/';

				s[i] = ' ';
				if (end) {
					s[++i] = ' ';
					break;
				}
			}
		} else if (s[i] == '/' && i + 1 < n && s[i + 1] == '/') {
			for (; i < n && s[i] != '\n'; i++)
				s[i] = ' ';
		}
	}
}

/* ---- statements */

static struct span ctf_meta_trim(struct span t)
{
	while (t.s < t.end && isspace((unsigned char)*t.s))
		t.s++;
	while (t.s < t.end && isspace((unsigned char)t.end[-1]))
		t.end--;
	return t;
}

static bool ctf_meta_equals(struct span t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t.end - t.s) == n && !memcmp(t.s, word, n);
}

static bool ctf_meta_starts_with(struct span t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t.end - t.s) >= n && !memcmp(t.s, word, n);
}

static const char *ctf_meta_find(struct span t, const char *word)
{
	return memmem(t.s, (size_t)(t.end - t.s), word, strlen(word));
}

/* Takes the text up to the next ';' that is not in braces or a string. */
static bool ctf_meta_take_statement(struct span *rest, struct span *out)
{
	unsigned int depth = 0;
	bool quoted = false;
	const char *p;

	*rest = ctf_meta_trim(*rest);
	for (p = rest->s; p < rest->end; p++) {
		if (quoted && *p == '\\') {
			p++;
		} else if (quoted) {
			quoted = *p != '"';
		} else if (*p == '"') {
			quoted = true;
		} else if (*p == '{') {
			depth++;
		} else if (*p == '}' && depth) {
			depth--;
		} else if (*p == ';' && !depth) {
			break;
		}
	}
	if (p >= rest->end)
		return false;
	*out = ctf_meta_trim((struct span){ rest->s, p });
	rest->s = p + 1;
	return true;
}

/* Sets *out to the text between the first '{' and the last '}'. */
static bool ctf_meta_body(struct span t, struct span *out)
{
	const char *open = memchr(t.s, '{', (size_t)(t.end - t.s));
	const char *close = memrchr(t.s, '}', (size_t)(t.end - t.s));

	if (!open || !close || close < open)
		return false;
	*out = (struct span){ open + 1, close };
	return true;
}

/* Finds the value of "KEY = VALUE" in a body. */
static bool ctf_meta_value(struct span body, const char *key, struct span *out)
{
	struct span st;

	while (ctf_meta_take_statement(&body, &st)) {
		const char *eq = memchr(st.s, '=', (size_t)(st.end - st.s));

		if (!eq || (eq > st.s && eq[-1] == ':'))
			continue;
		if (!ctf_meta_equals(ctf_meta_trim((struct span){ st.s, eq }),
				     key))
			continue;
		*out = ctf_meta_trim((struct span){ eq + 1, st.end });
		return true;
	}
	return false;
}

static bool ctf_meta_parse_number(struct span t, int64_t *out)
{
	char buf[32];
	size_t n = (size_t)(t.end - t.s);
	char *end;

	if (!n || n >= sizeof(buf))
		return false;
	memcpy(buf, t.s, n);
	buf[n] = 0;
	*out = *buf == '-' ? strtoll(buf, &end, 0)
			   : (int64_t)strtoull(buf, &end, 0);
	return end != buf && !*end;
}

static bool ctf_meta_number(struct span body, const char *key, int64_t *out)
{
	struct span v;

	return ctf_meta_value(body, key, &v) && ctf_meta_parse_number(v, out);
}

/* Returns the value of a key, without quotes; NULL if there is none. */
static const char *ctf_meta_text(const struct reader *r, struct span body,
				 const char *key)
{
	struct span v;

	if (!ctf_meta_value(body, key, &v))
		return NULL;
	if (v.end - v.s >= 2 && *v.s == '"' && v.end[-1] == '"') {
		v.s++;
		v.end--;
	}
	char *copy = mem_dup(v.s, (size_t)(v.end - v.s));
	const char *kept = arena_strdup(r->arena, copy);

	free(copy);
	return kept;
}

/* ---- types */

static bool ctf_meta_parse_type(const struct reader *r, struct span t,
				unsigned int depth, struct type *out);

static bool ctf_meta_integer_type(struct span t, struct type *out)
{
	struct span body;
	int64_t size, align;

	if (!ctf_meta_body(t, &body) || !ctf_meta_number(body, "size", &size) ||
	    size < 1 || size > 64)
		return false;
	if (!ctf_meta_number(body, "align", &align))
		align = size % 8 ? 1 : 8;
	if (align < 1 || align > 64 || align & (align - 1))
		return false;
	out->bits = (uint32_t)size;
	out->align = (uint32_t)align;
	return true;
}

static bool ctf_meta_named_type(const struct reader *r, struct span t,
				struct type *out)
{
	for (size_t i = r->n_type; i-- > 0;) {
		struct span n = r->type[i].name;

		if (n.end - n.s == t.end - t.s &&
		    !memcmp(n.s, t.s, (size_t)(n.end - n.s))) {
			*out = r->type[i];
			return true;
		}
	}
	return false;
}

static bool ctf_meta_parse_type(const struct reader *r, struct span t,
				unsigned int depth, struct type *out)
{
	if (depth > DEPTH_MAX)
		return false;
	if (ctf_meta_starts_with(t, "integer") &&
	    memchr(t.s, '{', (size_t)(t.end - t.s)))
		return ctf_meta_integer_type(t, out);
	if (ctf_meta_starts_with(t, "enum")) {
		const char *colon = memchr(t.s, ':', (size_t)(t.end - t.s));
		const char *open = memchr(t.s, '{', (size_t)(t.end - t.s));

		if (!colon || !open || colon > open)
			return false;
		return ctf_meta_parse_type(
			r, ctf_meta_trim((struct span){ colon + 1, open }),
			depth + 1, out);
	}
	return ctf_meta_named_type(r, t, out);
}

static void ctf_meta_typealias(struct reader *r, struct span st)
{
	const char *to = ctf_meta_find(st, ":=");
	struct type t;

	st.s += strlen("typealias");
	if (!to || r->n_type == TYPES_MAX ||
	    !ctf_meta_parse_type(r, ctf_meta_trim((struct span){ st.s, to }), 0,
				 &t))
		return;
	t.name = ctf_meta_trim((struct span){ to + 2, st.end });
	r->type[r->n_type++] = t;
}

/* ---- structures of numbers */

struct member {
	struct span name;
	uint64_t off; /* bits */
	uint32_t bits, count;
};

#define MEMBERS_MAX 64

struct members {
	struct member m[MEMBERS_MAX];
	size_t n;
	uint64_t bits;
	uint32_t align;
	bool whole; /* all members were understood */
};

/* Parses "TYPE NAME[16]". */
static bool ctf_meta_parse_member(const struct reader *r, struct span st,
				  uint64_t at, uint32_t *align,
				  struct member *out)
{
	const char *e = st.end;
	int64_t count = 1;
	struct type t;

	if (e > st.s && e[-1] == ']') {
		const char *open = memrchr(st.s, '[', (size_t)(e - st.s));

		if (!open || !ctf_meta_parse_number(ctf_meta_trim((struct span){
							    open + 1, e - 1 }),
						    &count))
			return false;
		e = ctf_meta_trim((struct span){ st.s, open }).end;
	}
	const char *b = e;

	while (b > st.s && (isalnum((unsigned char)b[-1]) || b[-1] == '_'))
		b--;
	if (b == e || count < 0 || count > 4096 ||
	    !ctf_meta_parse_type(r, ctf_meta_trim((struct span){ st.s, b }), 0,
				 &t))
		return false;
	*align = t.align;
	*out = (struct member){
		.name = { b, e },
		.off = (at + t.align - 1) & ~(uint64_t)(t.align - 1),
		.bits = t.bits,
		.count = (uint32_t)count,
	};
	/* the library removes one leading underscore, too */
	if (*b == '_')
		out->name.s++;
	return true;
}

static uint32_t ctf_meta_alignment(struct span t)
{
	const char *close = memrchr(t.s, '}', (size_t)(t.end - t.s));
	int64_t v;

	if (!close)
		return 1;
	struct span rest = ctf_meta_trim((struct span){ close + 1, t.end });

	if (!ctf_meta_starts_with(rest, "align"))
		return 1;
	const char *open = memchr(rest.s, '(', (size_t)(rest.end - rest.s));
	const char *end = memchr(rest.s, ')', (size_t)(rest.end - rest.s));

	if (!open || !end || end < open ||
	    !ctf_meta_parse_number(
		    ctf_meta_trim((struct span){ open + 1, end }), &v) ||
	    v < 1 || v > 64 || v & (v - 1))
		return 1;
	return (uint32_t)v;
}

/* Finds the definition "struct NAME { ... }" in the whole text. */
static bool ctf_meta_named_struct(const struct reader *r, struct span name,
				  struct span *out)
{
	struct span rest = r->text;
	struct span body;

	while (ctf_meta_take_statement(&rest, out)) {
		if (!ctf_meta_starts_with(*out, "struct") ||
		    !ctf_meta_body(*out, &body))
			continue;
		struct span own =
			ctf_meta_trim((struct span){ out->s + 6, body.s - 1 });

		if (own.end - own.s == name.end - name.s &&
		    !memcmp(own.s, name.s, (size_t)(own.end - own.s)))
			return true;
	}
	return false;
}

/* Parses "struct { ... } align(8)", or "struct NAME". */
static bool ctf_meta_struct_members(const struct reader *r, struct span t,
				    struct members *out)
{
	struct span body, st;

	*out = (struct members){ .align = 1, .whole = true };
	if (!ctf_meta_starts_with(t, "struct"))
		return false;
	if (!memchr(t.s, '{', (size_t)(t.end - t.s)) &&
	    !ctf_meta_named_struct(
		    r, ctf_meta_trim((struct span){ t.s + 6, t.end }), &t))
		return false;
	if (!ctf_meta_body(t, &body))
		return false;
	out->align = ctf_meta_alignment(t);
	while (ctf_meta_take_statement(&body, &st)) {
		struct member m;
		uint32_t align = 1;

		if (out->n == MEMBERS_MAX ||
		    !ctf_meta_parse_member(r, st, out->bits, &align, &m)) {
			out->whole = false;
			return true;
		}
		if (align > out->align)
			out->align = align;
		out->bits = m.off + (uint64_t)m.bits * m.count;
		out->m[out->n++] = m;
	}
	return true;
}

static struct ctf_place ctf_meta_member_place(const struct members *ms,
					      const char *name, uint64_t base)
{
	for (size_t i = 0; i < ms->n; i++) {
		const struct member *m = &ms->m[i];
		uint64_t at = base + m->off;
		uint64_t bits = (uint64_t)m->bits * m->count;

		if (ctf_meta_equals(m->name, name) && at % 8 == 0 &&
		    bits % 8 == 0 && bits && bits <= 128)
			return (struct ctf_place){ (uint32_t)(at / 8),
						   (uint32_t)(bits / 8) };
	}
	return (struct ctf_place){ 0 };
}

/* ---- blocks */

bool ctf_meta_parse_uuid(const char *s, uint8_t out[CTF_UUID])
{
	size_t n = 0;

	for (; s && *s && n < 2 * CTF_UUID; s++) {
		unsigned int v;

		if (*s == '-')
			continue;
		if (!isxdigit((unsigned char)*s))
			return false;
		v = isdigit((unsigned char)*s)
			    ? (unsigned int)(*s - '0')
			    : (unsigned int)(tolower((unsigned char)*s) - 'a') +
				      10;
		out[n / 2] = (uint8_t)(n % 2 ? out[n / 2] | v : v << 4);
		n++;
	}
	return n == 2 * CTF_UUID;
}

/* Parses the structure of "KEY := struct ...". */
static bool ctf_meta_struct(const struct reader *r, struct span body,
			    const char *key, struct members *out)
{
	struct span st;

	while (ctf_meta_take_statement(&body, &st)) {
		const char *to = ctf_meta_find(st, ":=");

		if (to &&
		    ctf_meta_equals(ctf_meta_trim((struct span){ st.s, to }),
				    key))
			return ctf_meta_struct_members(
				r,
				ctf_meta_trim((struct span){ to + 2, st.end }),
				out);
	}
	return false;
}

static void ctf_meta_trace_block(const struct reader *r, struct span body,
				 struct ctf_meta *out, struct members *header)
{
	const char *order = ctf_meta_text(r, body, "byte_order");

	out->big = order && (!strcmp(order, "be") || !strcmp(order, "network"));
	out->has_uuid =
		ctf_meta_parse_uuid(ctf_meta_text(r, body, "uuid"), out->uuid);
	if (!ctf_meta_struct(r, body, "packet.header", header))
		return;
	out->magic = ctf_meta_member_place(header, "magic", 0);
	out->id = ctf_meta_member_place(header, "uuid", 0);
	out->stream = ctf_meta_member_place(header, "stream_id", 0);
}

static void ctf_meta_stream_block(const struct reader *r, struct span body,
				  struct ctf_meta *out,
				  const struct members *header)
{
	struct members ctx;
	int64_t id = 0;

	ctf_meta_number(body, "id", &id);
	if (out->n_layout == CTF_STREAMS)
		return;
	struct ctf_layout *lo = &out->layout[out->n_layout++];

	*lo = (struct ctf_layout){ .id = (uint64_t)id };
	if (!header->whole || !ctf_meta_struct(r, body, "packet.context", &ctx))
		return;
	uint64_t base =
		(header->bits + ctx.align - 1) & ~(uint64_t)(ctx.align - 1);

	lo->begin = ctf_meta_member_place(&ctx, "timestamp_begin", base);
	lo->end = ctf_meta_member_place(&ctx, "timestamp_end", base);
	lo->content = ctf_meta_member_place(&ctx, "content_size", base);
	lo->packet = ctf_meta_member_place(&ctx, "packet_size", base);
	lo->seq = ctf_meta_member_place(&ctx, "packet_seq_num", base);
	lo->cpu = ctf_meta_member_place(&ctx, "cpu_id", base);
	lo->len = (uint32_t)((base + ctx.bits + 7) / 8);
	lo->known = lo->packet.size > 0 && lo->packet.size <= 8;
}

static void ctf_meta_clock_block(const struct reader *r, struct span body,
				 struct ctf_meta *out)
{
	int64_t v;

	if (out->freq)
		return;
	out->clock = ctf_meta_text(r, body, "name");
	out->clock_uuid = ctf_meta_text(r, body, "uuid");
	out->freq = ctf_meta_number(body, "freq", &v) && v > 0 ? (uint64_t)v
							       : 1000000000;
	if (ctf_meta_number(body, "offset_s", &v))
		out->offset_s = v;
	if (ctf_meta_number(body, "offset", &v))
		out->offset = (uint64_t)v;
}

static void ctf_meta_env_block(const struct reader *r, struct span body,
			       struct ctf_meta *out)
{
	int64_t v;

	out->host = ctf_meta_text(r, body, "hostname");
	if (!out->host)
		out->host = ctf_meta_text(r, body, "host");
	out->tracer = ctf_meta_text(r, body, "tracer_name");
	out->domain = ctf_meta_text(r, body, "domain");
	out->release = ctf_meta_text(r, body, "kernel_release");
	if (!out->release)
		out->release = ctf_meta_text(r, body, "release");
	out->machine = ctf_meta_text(r, body, "machine");
	out->name = ctf_meta_text(r, body, "trace_name");
	if (ctf_meta_number(body, "vpid", &v) && v > 0 && v <= INT32_MAX)
		out->vpid = (int32_t)v;
}

static int ctf_meta_version(const char *s, size_t n)
{
	struct span t = ctf_meta_trim((struct span){ s, s + n });

	if (t.s < t.end && *t.s == 0x1e)
		return 2;
	return ctf_meta_starts_with(t, "/* CTF 1.8") ? 1 : 0;
}

void ctf_meta_read(struct arena *arena, const void *data, size_t len,
		   struct ctf_meta *out)
{
	struct reader *r = mem_new(1, sizeof(*r));
	struct members *header = mem_new(1, sizeof(*header));
	struct span rest, st, body;
	size_t n;

	*out = (struct ctf_meta){ .vpid = -1 };
	char *text = ctf_meta_copy_text(data, len < TEXT_MAX ? len : TEXT_MAX,
					&n, &out->cut);

	out->version = ctf_meta_version(text, n);
	ctf_meta_blank_comments(text, n);
	r->arena = arena;
	r->text = rest = (struct span){ text, text + n };
	header->whole = true;
	while (out->version != 2 && ctf_meta_take_statement(&rest, &st)) {
		if (ctf_meta_starts_with(st, "typealias"))
			ctf_meta_typealias(r, st);
		else if (ctf_meta_starts_with(st, "trace") &&
			 ctf_meta_body(st, &body))
			ctf_meta_trace_block(r, body, out, header);
		else if (ctf_meta_starts_with(st, "stream") &&
			 ctf_meta_body(st, &body))
			ctf_meta_stream_block(r, body, out, header);
		else if (ctf_meta_starts_with(st, "clock") &&
			 ctf_meta_body(st, &body))
			ctf_meta_clock_block(r, body, out);
		else if (ctf_meta_starts_with(st, "env") &&
			 ctf_meta_body(st, &body))
			ctf_meta_env_block(r, body, out);
	}
	rest = ctf_meta_trim(rest);
	out->cut |= out->version == 1 && rest.s < rest.end;
	free(text);
	free(header);
	free(r);
}

char *ctf_meta_whole(const void *data, size_t len, size_t *out_len)
{
	bool cut;
	size_t n;
	char *text = ctf_meta_copy_text(data, len < TEXT_MAX ? len : TEXT_MAX,
					&n, &cut);
	char *plain = mem_dup(text, n);
	struct span rest, st;

	/* blanks keep the offsets of all statements */
	ctf_meta_blank_comments(plain, n);
	rest = (struct span){ plain, plain + n };
	*out_len = 0;
	while (ctf_meta_take_statement(&rest, &st))
		*out_len = (size_t)(rest.s - plain);
	free(plain);
	return text;
}
