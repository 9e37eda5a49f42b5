/* ctf2_read.c - the sequence of fragments that is CTF 2 metadata: each is an
 * RS byte and a JSON object (RFC 7464). */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/ctf2.h"
#include "formats/reader/scan.h"
#include "stitch/base/bytes.h"

/* What the values of one fragment may take. */
#define CTF2_TEXT_ROOM ((size_t)20 << 20)
/* Of objects and arrays: five for a level of classes, and a few around. */
#define CTF2_JSON_DEPTH (5 * CTF_DEPTH_MAX + 10)

static int ctf2_set_version(struct ctf2 *j, void *to UNUSED,
			    struct json_object *v)
{
	uint64_t version;

	return ctf2_u64(j, v, 2, 2, &version);
}

static int ctf2_set_uuid(struct ctf2 *j, void *to UNUSED, struct json_object *v)
{
	struct ctf_tree *tree = j->r->tree;
	uint64_t byte;
	size_t n = 0;

	if (ctf2_array(j, v, &n))
		return -1;
	if (n != sizeof(tree->uuid))
		return ctf2_fail(j, "uuid has %zu bytes, needs 16", n);
	for (size_t i = 0; i < n; i++) {
		if (ctf2_u64(j, json_object_array_get_idx(v, i), 0, 255, &byte))
			return -1;
		tree->uuid[i] = (uint8_t)byte;
	}
	tree->has_uuid = true;
	return 0;
}

static int ctf2_set_env(struct ctf2 *j, void *to UNUSED, struct json_object *v)
{
	struct raw *r = j->r;

	if (ctf2_object(j, v))
		return -1;
	json_object_object_foreach(v, key, value)
	{
		size_t mark = ctf2_enter(j, key);
		struct ctf_env e = { .name = arena_strdup(r->out, key) };
		uint32_t text = 0;

		if (json_object_is_type(value, json_type_int)) {
			if (ctf2_put_i64(j, &e.num, value))
				return -1;
		} else {
			if (ctf2_put_name(j, &text, value))
				return -1;
			e.text = raw_keep(r, text);
		}
		*mem_add(r->env, r->n_env, r->cap_env) = e;
		j->n_where = mark;
	}
	return 0;
}

static int ctf2_set_frequency(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_clock *c = to;

	return ctf2_u64(j, v, 1, UINT64_MAX, &c->clock.freq);
}

/* "unix-epoch", or a name and a uid that mean nothing to us. */
static int ctf2_set_clock_origin(struct ctf2 *j, void *to,
				 struct json_object *v)
{
	static const struct ctf2_property table[] = {
		{ "namespace", false, ctf2_put_name, 0 },
		{ "name", true, ctf2_put_name, 0 },
		{ "uid", true, ctf2_put_name, 0 },
	};
	struct raw_clock *c = to;
	uint32_t name = 0;

	if (!json_object_is_type(v, json_type_string))
		return ctf2_properties(j, v, table, ARRAY_SIZE(table), &name);
	c->clock.unix_epoch = true;
	return ctf2_word(j, v, "unix-epoch");
}

static int ctf2_set_cycles(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_clock *c = to;
	uint64_t cycles;

	if (ctf2_u64(j, v, 0, INT64_MAX, &cycles))
		return -1;
	c->clock.offset = (int64_t)cycles;
	return 0;
}

static int ctf2_set_offset(struct ctf2 *j, void *to, struct json_object *v)
{
	static const struct ctf2_property table[] = {
		{ "seconds", false, ctf2_put_i64,
		  offsetof(struct raw_clock, clock.offset_s) },
		{ "cycles", false, ctf2_set_cycles, 0 },
	};

	return ctf2_properties(j, v, table, ARRAY_SIZE(table), to);
}

static int ctf2_clock(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "id", true, ctf2_put_name, offsetof(struct raw_clock, name) },
		{ "namespace", false, NULL, 0 },
		{ "name", false, ctf2_put_text,
		  offsetof(struct raw_clock, clock.name) },
		{ "uid", false, ctf2_put_text,
		  offsetof(struct raw_clock, clock.uid) },
		{ "description", false, NULL, 0 },
		{ "frequency", true, ctf2_set_frequency, 0 },
		{ "precision", false, NULL, 0 },
		{ "accuracy", false, NULL, 0 },
		{ "origin", false, ctf2_set_clock_origin, 0 },
		{ "offset-from-origin", false, ctf2_set_offset, 0 },
	};
	struct raw *r = j->r;
	struct raw_clock c = { .name = RAW_NONE };

	if (ctf2_properties(j, o, table, ARRAY_SIZE(table), &c))
		return -1;
	if ((uint64_t)c.clock.offset >= c.clock.freq)
		return ctf2_fail(j, "offset has as many cycles as a second");
	if (!c.clock.name)
		c.clock.name = raw_keep(r, c.name);
	if (raw_clock_find(r, c.name) >= 0)
		return ctf2_fail(j, "a second clock class with id '%.60s'",
				 intern_get(&r->names, c.name));
	return raw_add_clock(r, j->at, &c);
}

static int ctf2_set_default_clock(struct ctf2 *j, void *to,
				  struct json_object *v)
{
	struct raw_stream *s = to;

	if (ctf2_put_name(j, &s->clock, v))
		return -1;
	if (raw_clock_find(j->r, s->clock) >= 0)
		return 0;
	return ctf2_fail(j, "clock class '%.60s' is not declared",
			 json_object_get_string(v));
}

static int ctf2_stream(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "id", false, ctf2_put_u64, offsetof(struct raw_stream, id) },
		{ "namespace", false, NULL, 0 },
		{ "name", false, NULL, 0 },
		{ "uid", false, NULL, 0 },
		{ "default-clock-class-id", false, ctf2_set_default_clock, 0 },
		{ "packet-context-field-class", false, ctf2_put_scope,
		  offsetof(struct raw_stream, scope[RAW_PACKET]) },
		{ "event-record-header-field-class", false, ctf2_put_scope,
		  offsetof(struct raw_stream, scope[RAW_EVENT_HEADER]) },
		{ "event-record-common-context-field-class", false,
		  ctf2_put_scope,
		  offsetof(struct raw_stream, scope[RAW_COMMON]) },
	};
	struct raw_stream s = { .at = j->at, .clock = RAW_NONE };

	if (ctf2_properties(j, o, table, ARRAY_SIZE(table), &s))
		return -1;
	return raw_add_stream(j->r, &s);
}

static int ctf2_event(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "id", false, ctf2_put_u64, offsetof(struct raw_event, id) },
		{ "data-stream-class-id", false, ctf2_put_u64,
		  offsetof(struct raw_event, stream) },
		{ "namespace", false, NULL, 0 },
		{ "name", false, ctf2_put_name,
		  offsetof(struct raw_event, name) },
		{ "uid", false, NULL, 0 },
		{ "specific-context-field-class", false, ctf2_put_scope,
		  offsetof(struct raw_event, specific) },
		{ "payload-field-class", false, ctf2_put_scope,
		  offsetof(struct raw_event, payload) },
	};
	struct raw_event e = { .at = j->at, .name = RAW_NONE };

	if (ctf2_properties(j, o, table, ARRAY_SIZE(table), &e))
		return -1;
	return raw_add_event(j->r, &e);
}

struct ctf2_alias {
	uint32_t name;
	const struct raw_class *type;
};

static int ctf2_declare(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "name", true, ctf2_put_name,
		  offsetof(struct ctf2_alias, name) },
		{ "field-class", true, ctf2_put_class,
		  offsetof(struct ctf2_alias, type) },
	};
	struct ctf2_alias a = { RAW_NONE, NULL };

	if (ctf2_properties(j, o, table, ARRAY_SIZE(table), &a))
		return -1;
	mem_reach(j->alias, j->n_alias, j->cap_alias, a.name + 1);
	if (j->alias[a.name])
		return ctf2_fail(j, "a second alias '%.60s'",
				 intern_get(&j->r->names, a.name));
	j->alias[a.name] = a.type;
	return 0;
}

static int ctf2_preamble(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "version", true, ctf2_set_version, 0 },
		{ "uuid", false, ctf2_set_uuid, 0 },
	};

	return ctf2_properties(j, o, table, ARRAY_SIZE(table), j);
}

struct ctf2_trace {
	uint32_t name;
	const struct raw_class *header;
};

static int ctf2_trace(struct ctf2 *j, struct json_object *o)
{
	static const struct ctf2_property table[] = {
		{ "namespace", false, NULL, 0 },
		{ "name", false, ctf2_put_name,
		  offsetof(struct ctf2_trace, name) },
		{ "uid", false, NULL, 0 },
		{ "environment", false, ctf2_set_env, 0 },
		{ "packet-header-field-class", false, ctf2_put_scope,
		  offsetof(struct ctf2_trace, header) },
	};

	struct ctf2_trace trace = { RAW_NONE, NULL };

	if (j->trace_seen)
		return ctf2_fail(j, "a second trace class");
	j->trace_seen = true;
	if (ctf2_properties(j, o, table, ARRAY_SIZE(table), &trace))
		return -1;
	j->r->header = trace.header;
	return 0;
}

static int ctf2_fragment(struct ctf2 *j, struct json_object *o)
{
	static const struct {
		const char *type;
		int (*read)(struct ctf2 *j, struct json_object *o);
	} table[] = {
		{ "preamble", ctf2_preamble },
		{ "trace-class", ctf2_trace },
		{ "clock-class", ctf2_clock },
		{ "data-stream-class", ctf2_stream },
		{ "event-record-class", ctf2_event },
		{ "field-class-alias", ctf2_declare },
	};
	struct json_object *type = NULL;

	ctf2_enter(j, "fragment");
	if (ctf2_object(j, o))
		return -1;
	if (!json_object_object_get_ex(o, "type", &type) ||
	    !json_object_is_type(type, json_type_string))
		return ctf2_fail(j, "property 'type' is missing");
	const char *name = json_object_get_string(type);
	j->n_where = 0;
	ctf2_enter(j, name);
	if (!strcmp(name, "preamble") != !j->n_fragment++)
		return ctf2_fail(j, "the first fragment, and no other, is the "
				    "preamble");
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (!strcmp(table[i].type, name))
			return table[i].read(j, o);
	return ctf2_fail(j, "fragment is not known");
}

static bool ctf2_is_blank(struct scan s)
{
	size_t n = 0;

	while (n < s.n &&
	       (scan_is_blank(s.p[n]) || s.p[n] == '\n' || s.p[n] == '\r'))
		n++;
	return n == s.n;
}

/* The library takes some 900 bytes for an object, 400 for an array, 100 for
 * another value and the length of each string (json-c 0.16). It takes strings
 * in '' as well, which are no JSON and would hide their brackets here. */
static bool ctf2_fits(struct scan s)
{
	size_t size = s.n;
	bool quoted = false;

	for (size_t i = 0; i < s.n && size <= CTF2_TEXT_ROOM; i++) {
		char c = s.p[i];

		if (c == '"')
			quoted = !quoted;
		else if (quoted)
			i += c == '\\';
		else if (c == '\'')
			return false;
		else
			size += c == '{'   ? 900
				: c == '[' ? 400
				: c == ',' ? 100
					   : 0;
	}
	return size <= CTF2_TEXT_ROOM;
}

/* Parses one fragment. *whole is false if its text ends inside a value. */
static int ctf2_text(struct ctf2 *j, struct json_tokener *tok, struct scan s,
		     bool *whole)
{
	if (!ctf2_fits(s))
		return raw_fail(j->r, j->at,
				"fragment is too large, or has a string in "
				"single quotes");
	json_tokener_reset(tok);
	struct json_object *o = json_tokener_parse_ex(tok, s.p, (int)s.n);
	enum json_tokener_error error = json_tokener_get_error(tok);
	size_t end = json_tokener_get_parse_end(tok);
	*whole = error != json_tokener_continue &&
		 (error != json_tokener_error_parse_utf8_string || end < s.n);
	if (error != json_tokener_success)
		return raw_fail(j->r, j->at + (uint32_t)end, "JSON: %s",
				*whole ? json_tokener_error_desc(error)
				       : "the text ends inside a value");
	j->n_where = 0;
	int ret = ctf2_is_blank(scan_tail(s, end))
			  ? ctf2_fragment(j, o)
			  : raw_fail(j->r, j->at + (uint32_t)end,
				     "JSON: a second value in one fragment");
	json_object_put(o);
	return ret;
}

/* A recorder that stops in the middle leaves the last fragment unfinished. */
static int ctf2_sequence(struct ctf2 *j, struct json_tokener *tok,
			 struct scan s, bool *cut)
{
	size_t all = s.n;

	while (s.n) {
		bool whole = true;

		/* the byte in front is the separator */
		scan_skip(&s, 1);
		j->at = (uint32_t)(all - s.n);
		struct scan text = scan_head(s, scan_find_char(s, 0x1e));

		scan_skip(&s, text.n);
		if (ctf2_is_blank(text) || !ctf2_text(j, tok, text, &whole))
			continue;
		*cut = !whole && !s.n && j->r->n_stream;
		return *cut ? 0 : -1;
	}
	if (!j->n_fragment)
		return raw_fail(j->r, j->at, "metadata has no preamble");
	return 0;
}

int ctf2_read(struct raw *r, const struct bytes *meta, bool *cut)
{
	struct json_tokener *tok = json_tokener_new_ex(CTF2_JSON_DEPTH);
	struct ctf2 j = { .r = r };
	int ret;

	if (!tok)
		return raw_fail(r, 0, "no memory for a parser");
	json_tokener_set_flags(tok, JSON_TOKENER_STRICT |
					    JSON_TOKENER_VALIDATE_UTF8 |
					    JSON_TOKENER_ALLOW_TRAILING_CHARS);
	r->tree->version = 2;
	ret = ctf2_sequence(&j, tok, scan_of(meta->pos, bytes_left(meta)), cut);
	json_tokener_free(tok);
	free(j.alias);
	return ret;
}
