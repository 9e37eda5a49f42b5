/* meta.c - the metadata of a CTF 1.8 trace, as far as it is read here:
 * where packets say their sizes and times, the clock, and the environment.
 *
 * The library reads it too, but tells neither where a packet's numbers stand
 * nor anything at all when one packet of a trace is broken. What is not
 * understood makes a layout unknown: then no packet is judged by it. */
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

/* What packets hold, up to the first one that is not whole; of that one what
 * is there. */
static size_t unpack(struct bytes b, char *text, bool *cut)
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

/* Text stays text. A copy, which ends with a 0. */
static char *take_text(const unsigned char *data, size_t len, size_t *out_len,
		       bool *cut)
{
	struct bytes b;
	uint32_t magic = 0;
	char *text = mem_new(len + 1, 1);

	*cut = false;
	bytes_init(&b, data, len, "metadata", 0, false);
	bytes_peek_u32(&b, 0, &magic);
	b.swap = magic == __builtin_bswap32(PACKETIZED);
	if (magic == PACKETIZED || b.swap) {
		*out_len = unpack(b, text, cut);
	} else {
		memcpy(text, data, len);
		*out_len = len;
	}
	return text;
}

/* Comments become blanks; what is in strings is no comment. */
static void blank_comments(char *s, size_t n)
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

static struct span trim(struct span t)
{
	while (t.s < t.end && isspace((unsigned char)*t.s))
		t.s++;
	while (t.s < t.end && isspace((unsigned char)t.end[-1]))
		t.end--;
	return t;
}

static bool is(struct span t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t.end - t.s) == n && !memcmp(t.s, word, n);
}

static bool starts(struct span t, const char *word)
{
	size_t n = strlen(word);

	return (size_t)(t.end - t.s) >= n && !memcmp(t.s, word, n);
}

static const char *find(struct span t, const char *word)
{
	return memmem(t.s, (size_t)(t.end - t.s), word, strlen(word));
}

/* Up to the ';' that ends it; braces and strings hide theirs. */
static bool statement(struct span *rest, struct span *out)
{
	unsigned int depth = 0;
	bool quoted = false;
	const char *p;

	*rest = trim(*rest);
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
	*out = trim((struct span){ rest->s, p });
	rest->s = p + 1;
	return true;
}

/* Between the first '{' and the last '}'. */
static bool body_of(struct span t, struct span *out)
{
	const char *open = memchr(t.s, '{', (size_t)(t.end - t.s));
	const char *close = memrchr(t.s, '}', (size_t)(t.end - t.s));

	if (!open || !close || close < open)
		return false;
	*out = (struct span){ open + 1, close };
	return true;
}

/* "KEY = VALUE" in a body; false: there is none. */
static bool value_of(struct span body, const char *key, struct span *out)
{
	struct span st;

	while (statement(&body, &st)) {
		const char *eq = memchr(st.s, '=', (size_t)(st.end - st.s));

		if (!eq || (eq > st.s && eq[-1] == ':'))
			continue;
		if (!is(trim((struct span){ st.s, eq }), key))
			continue;
		*out = trim((struct span){ eq + 1, st.end });
		return true;
	}
	return false;
}

static bool number_of(struct span t, int64_t *out)
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

static bool number_at(struct span body, const char *key, int64_t *out)
{
	struct span v;

	return value_of(body, key, &v) && number_of(v, out);
}

/* A string without its quotes, or a word. */
static const char *text_at(const struct reader *r, struct span body,
			   const char *key)
{
	struct span v;

	if (!value_of(body, key, &v))
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

static bool type_of(const struct reader *r, struct span t, unsigned int depth,
		    struct type *out);

static bool integer_type(struct span t, struct type *out)
{
	struct span body;
	int64_t size, align;

	if (!body_of(t, &body) || !number_at(body, "size", &size) || size < 1 ||
	    size > 64)
		return false;
	if (!number_at(body, "align", &align))
		align = size % 8 ? 1 : 8;
	if (align < 1 || align > 64 || align & (align - 1))
		return false;
	out->bits = (uint32_t)size;
	out->align = (uint32_t)align;
	return true;
}

static bool named_type(const struct reader *r, struct span t, struct type *out)
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

static bool type_of(const struct reader *r, struct span t, unsigned int depth,
		    struct type *out)
{
	if (depth > DEPTH_MAX)
		return false;
	if (starts(t, "integer") && memchr(t.s, '{', (size_t)(t.end - t.s)))
		return integer_type(t, out);
	if (starts(t, "enum")) {
		const char *colon = memchr(t.s, ':', (size_t)(t.end - t.s));
		const char *open = memchr(t.s, '{', (size_t)(t.end - t.s));

		if (!colon || !open || colon > open)
			return false;
		return type_of(r, trim((struct span){ colon + 1, open }),
			       depth + 1, out);
	}
	return named_type(r, t, out);
}

static void typealias(struct reader *r, struct span st)
{
	const char *to = find(st, ":=");
	struct type t;

	st.s += strlen("typealias");
	if (!to || r->n_type == TYPES_MAX ||
	    !type_of(r, trim((struct span){ st.s, to }), 0, &t))
		return;
	t.name = trim((struct span){ to + 2, st.end });
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
	bool whole; /* all of it was understood */
};

/* "TYPE NAME[16]" */
static bool member_of(const struct reader *r, struct span st, uint64_t at,
		      uint32_t *align, struct member *out)
{
	const char *e = st.end;
	int64_t count = 1;
	struct type t;

	if (e > st.s && e[-1] == ']') {
		const char *open = memrchr(st.s, '[', (size_t)(e - st.s));

		if (!open ||
		    !number_of(trim((struct span){ open + 1, e - 1 }), &count))
			return false;
		e = trim((struct span){ st.s, open }).end;
	}
	const char *b = e;

	while (b > st.s && (isalnum((unsigned char)b[-1]) || b[-1] == '_'))
		b--;
	if (b == e || count < 0 || count > 4096 ||
	    !type_of(r, trim((struct span){ st.s, b }), 0, &t))
		return false;
	*align = t.align;
	*out = (struct member){
		.name = { b, e },
		.off = (at + t.align - 1) & ~(uint64_t)(t.align - 1),
		.bits = t.bits,
		.count = (uint32_t)count,
	};
	/* the library takes one leading underscore away, and so do we */
	if (*b == '_')
		out->name.s++;
	return true;
}

static uint32_t align_behind(struct span t)
{
	const char *close = memrchr(t.s, '}', (size_t)(t.end - t.s));
	int64_t v;

	if (!close)
		return 1;
	struct span rest = trim((struct span){ close + 1, t.end });

	if (!starts(rest, "align"))
		return 1;
	const char *open = memchr(rest.s, '(', (size_t)(rest.end - rest.s));
	const char *end = memchr(rest.s, ')', (size_t)(rest.end - rest.s));

	if (!open || !end || end < open ||
	    !number_of(trim((struct span){ open + 1, end }), &v) || v < 1 ||
	    v > 64 || v & (v - 1))
		return 1;
	return (uint32_t)v;
}

/* The definition "struct NAME { ... }" of the whole text. */
static bool struct_named(const struct reader *r, struct span name,
			 struct span *out)
{
	struct span rest = r->text;
	struct span body;

	while (statement(&rest, out)) {
		if (!starts(*out, "struct") || !body_of(*out, &body))
			continue;
		struct span own = trim((struct span){ out->s + 6, body.s - 1 });

		if (own.end - own.s == name.end - name.s &&
		    !memcmp(own.s, name.s, (size_t)(own.end - own.s)))
			return true;
	}
	return false;
}

/* "struct { ... } align(8)", or "struct NAME". */
static bool struct_members(const struct reader *r, struct span t,
			   struct members *out)
{
	struct span body, st;

	*out = (struct members){ .align = 1, .whole = true };
	if (!starts(t, "struct"))
		return false;
	if (!memchr(t.s, '{', (size_t)(t.end - t.s)) &&
	    !struct_named(r, trim((struct span){ t.s + 6, t.end }), &t))
		return false;
	if (!body_of(t, &body))
		return false;
	out->align = align_behind(t);
	while (statement(&body, &st)) {
		struct member m;
		uint32_t align = 1;

		if (out->n == MEMBERS_MAX ||
		    !member_of(r, st, out->bits, &align, &m)) {
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

static struct ctf_place place_of(const struct members *ms, const char *name,
				 uint64_t base)
{
	for (size_t i = 0; i < ms->n; i++) {
		const struct member *m = &ms->m[i];
		uint64_t at = base + m->off;
		uint64_t bits = (uint64_t)m->bits * m->count;

		if (is(m->name, name) && at % 8 == 0 && bits % 8 == 0 && bits &&
		    bits <= 128)
			return (struct ctf_place){ (uint32_t)(at / 8),
						   (uint32_t)(bits / 8) };
	}
	return (struct ctf_place){ 0 };
}

/* ---- blocks */

static bool uuid_of(const char *s, uint8_t out[CTF_UUID])
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

/* What "KEY := struct ..." says. */
static bool struct_at(const struct reader *r, struct span body, const char *key,
		      struct members *out)
{
	struct span st;

	while (statement(&body, &st)) {
		const char *to = find(st, ":=");

		if (to && is(trim((struct span){ st.s, to }), key))
			return struct_members(
				r, trim((struct span){ to + 2, st.end }), out);
	}
	return false;
}

static void trace_block(const struct reader *r, struct span body,
			struct ctf_meta *out, struct members *header)
{
	const char *order = text_at(r, body, "byte_order");

	out->big = order && (!strcmp(order, "be") || !strcmp(order, "network"));
	out->has_uuid = uuid_of(text_at(r, body, "uuid"), out->uuid);
	if (!struct_at(r, body, "packet.header", header))
		return;
	out->magic = place_of(header, "magic", 0);
	out->id = place_of(header, "uuid", 0);
	out->stream = place_of(header, "stream_id", 0);
}

static void stream_block(const struct reader *r, struct span body,
			 struct ctf_meta *out, const struct members *header)
{
	struct members ctx;
	int64_t id = 0;

	number_at(body, "id", &id);
	if (out->n_layout == CTF_STREAMS)
		return;
	struct ctf_layout *lo = &out->layout[out->n_layout++];

	*lo = (struct ctf_layout){ .id = (uint64_t)id };
	if (!header->whole || !struct_at(r, body, "packet.context", &ctx))
		return;
	uint64_t base =
		(header->bits + ctx.align - 1) & ~(uint64_t)(ctx.align - 1);

	lo->begin = place_of(&ctx, "timestamp_begin", base);
	lo->end = place_of(&ctx, "timestamp_end", base);
	lo->content = place_of(&ctx, "content_size", base);
	lo->packet = place_of(&ctx, "packet_size", base);
	lo->seq = place_of(&ctx, "packet_seq_num", base);
	lo->cpu = place_of(&ctx, "cpu_id", base);
	lo->len = (uint32_t)((base + ctx.bits + 7) / 8);
	lo->known = lo->packet.size > 0 && lo->packet.size <= 8;
}

static void clock_block(const struct reader *r, struct span body,
			struct ctf_meta *out)
{
	int64_t v;

	if (out->freq)
		return;
	out->clock = text_at(r, body, "name");
	out->clock_uuid = text_at(r, body, "uuid");
	out->freq =
		number_at(body, "freq", &v) && v > 0 ? (uint64_t)v : 1000000000;
	if (number_at(body, "offset_s", &v))
		out->offset_s = v;
	if (number_at(body, "offset", &v))
		out->offset = (uint64_t)v;
}

static void env_block(const struct reader *r, struct span body,
		      struct ctf_meta *out)
{
	int64_t v;

	out->host = text_at(r, body, "hostname");
	if (!out->host)
		out->host = text_at(r, body, "host");
	out->tracer = text_at(r, body, "tracer_name");
	out->domain = text_at(r, body, "domain");
	out->release = text_at(r, body, "kernel_release");
	if (!out->release)
		out->release = text_at(r, body, "release");
	out->machine = text_at(r, body, "machine");
	out->name = text_at(r, body, "trace_name");
	if (number_at(body, "vpid", &v) && v > 0 && v <= INT32_MAX)
		out->vpid = (int32_t)v;
}

static int version_of(const char *s, size_t n)
{
	struct span t = trim((struct span){ s, s + n });

	if (t.s < t.end && *t.s == 0x1e)
		return 2;
	return starts(t, "/* CTF 1.8") ? 1 : 0;
}

void ctf_meta_read(struct arena *arena, const void *data, size_t len,
		   struct ctf_meta *out)
{
	struct reader *r = mem_new(1, sizeof(*r));
	struct members *header = mem_new(1, sizeof(*header));
	struct span rest, st, body;
	size_t n;

	*out = (struct ctf_meta){ .vpid = -1 };
	char *text =
		take_text(data, len < TEXT_MAX ? len : TEXT_MAX, &n, &out->cut);

	out->version = version_of(text, n);
	blank_comments(text, n);
	r->arena = arena;
	r->text = rest = (struct span){ text, text + n };
	header->whole = true;
	while (out->version != 2 && statement(&rest, &st)) {
		if (starts(st, "typealias"))
			typealias(r, st);
		else if (starts(st, "trace") && body_of(st, &body))
			trace_block(r, body, out, header);
		else if (starts(st, "stream") && body_of(st, &body))
			stream_block(r, body, out, header);
		else if (starts(st, "clock") && body_of(st, &body))
			clock_block(r, body, out);
		else if (starts(st, "env") && body_of(st, &body))
			env_block(r, body, out);
	}
	rest = trim(rest);
	out->cut |= out->version == 1 && rest.s < rest.end;
	free(text);
	free(header);
	free(r);
}

char *ctf_meta_whole(const void *data, size_t len, size_t *out_len)
{
	bool cut;
	size_t n;
	char *text = take_text(data, len < TEXT_MAX ? len : TEXT_MAX, &n, &cut);
	char *plain = mem_dup(text, n);
	struct span rest, st;

	/* blanks for comments: every place stays where it is */
	blank_comments(plain, n);
	rest = (struct span){ plain, plain + n };
	*out_len = 0;
	while (statement(&rest, &st))
		*out_len = (size_t)(rest.s - plain);
	free(plain);
	return text;
}
