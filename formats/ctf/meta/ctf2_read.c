/* ctf2_read.c - reads CTF 2 metadata, a sequence of fragments: each is an RS
 * byte and a JSON object (RFC 7464). */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/ctf2.h"
#include "formats/reader/scan.h"
#include "stitch/base/bytes.h"
#include "stitch/base/words.h"

/* ---- values of JSON, and messages with the path of a wrong value */

/* Sets the error, with the path that ctf2_enter() made. Returns -1. */
static int ctf2_fail(struct ctf2 *j, const char *fmt, ...)
{
	char msg[240];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(msg, sizeof(msg), fmt, ap);
	va_end(ap);
	return raw_fail(j->r, j->at, "%.*s: %s", (int)j->n_where, j->where,
			msg);
}

/* Appends a name to the path that messages print. Returns the previous n_where,
 * which the caller restores. */
static size_t ctf2_enter(struct ctf2 *j, const char *name)
{
	size_t mark = j->n_where;
	int n = snprintf(j->where + mark, sizeof(j->where) - mark, "%s%s",
			 mark ? "." : "", name);

	if (n > 0 && (size_t)n < sizeof(j->where) - mark)
		j->n_where += (size_t)n;
	return mark;
}

/* These return -1 with an error if the value has another type, or is not in lo
 * to hi. */
static int ctf2_u64(struct ctf2 *j, struct json_object *o, uint64_t lo,
		    uint64_t hi, uint64_t *out)
{
	bool number = json_object_is_type(o, json_type_int) &&
		      json_object_get_int64(o) >= 0;

	*out = number ? json_object_get_uint64(o) : 0;
	if (!number || *out < lo || *out > hi)
		return ctf2_fail(
			j, "value is not a number from %" PRIu64 " to %" PRIu64,
			lo, hi);
	return 0;
}

static int ctf2_array(struct ctf2 *j, struct json_object *o, size_t *n)
{
	if (!json_object_is_type(o, json_type_array))
		return ctf2_fail(j, "value is not an array");
	*n = json_object_array_length(o);
	return 0;
}

static int ctf2_object(struct ctf2 *j, struct json_object *o)
{
	if (!json_object_is_type(o, json_type_object))
		return ctf2_fail(j, "value is not an object");
	return 0;
}

/* Returns the index of the string in `words` (see words_find()), or -1 with an
 * error. */
static int ctf2_word(struct ctf2 *j, struct json_object *o, const char *words)
{
	if (!json_object_is_type(o, json_type_string))
		return ctf2_fail(j, "value is not a string");
	const char *word = json_object_get_string(o);
	int i = words_find(words, word, strlen(word));

	return i < 0 ? ctf2_fail(j, "'%.60s' is not known", word) : i;
}

int ctf2_put_name(struct ctf2 *j, void *to, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_string))
		return ctf2_fail(j, "value is not a string");
	*(uint32_t *)to =
		intern_add_bytes(&j->r->names, json_object_get_string(value),
				 (size_t)json_object_get_string_len(value));
	return raw_room(j->r, j->at);
}

int ctf2_put_text(struct ctf2 *j, void *to, struct json_object *value)
{
	const char **text = to;
	uint32_t name = 0;

	if (ctf2_put_name(j, &name, value))
		return -1;
	*text = raw_keep(j->r, name);
	return 0;
}

int ctf2_put_u64(struct ctf2 *j, void *to, struct json_object *value)
{
	return ctf2_u64(j, value, 0, UINT64_MAX, to);
}

int ctf2_put_i64(struct ctf2 *j, void *to, struct json_object *value)
{
	if (!json_object_is_type(value, json_type_int) ||
	    (json_object_get_int64(value) >= 0 &&
	     json_object_get_uint64(value) > INT64_MAX))
		return ctf2_fail(j, "value is not a signed number of 64 bits");
	*(int64_t *)to = json_object_get_int64(value);
	return 0;
}

int ctf2_range(struct ctf2 *j, struct json_object *o, struct ctf2_range *out)
{
	uint64_t end[2];
	bool below[2];
	size_t n = 0;

	if (ctf2_array(j, o, &n))
		return -1;
	if (n != 2)
		return ctf2_fail(j, "range has %zu numbers, needs 2", n);
	for (size_t i = 0; i < 2; i++) {
		struct json_object *v = json_object_array_get_idx(o, i);

		if (!json_object_is_type(v, json_type_int))
			return ctf2_fail(j, "end of a range is not a number");
		below[i] = json_object_get_int64(v) < 0;
		end[i] = below[i] ? (uint64_t)json_object_get_int64(v)
				  : json_object_get_uint64(v);
	}
	if (below[0] == below[1] ? end[0] > end[1] : below[1])
		return ctf2_fail(j, "range ends before it begins");
	out->range = (struct ctf_range){ end[0], end[1] };
	out->negative = below[0];
	out->wide = !below[1] && end[1] > INT64_MAX;
	return 0;
}

static int ctf2_property(struct ctf2 *j, const char *name,
			 struct json_object *value,
			 const struct ctf2_property *table, size_t n, void *to)
{
	const struct ctf2_property *p = NULL;

	for (size_t i = 0; i < n && !p; i++)
		if (!strcmp(table[i].name, name))
			p = &table[i];
	if (p) {
		size_t mark = ctf2_enter(j, name);

		if (p->set && p->set(j, (char *)to + p->at, value))
			return -1;
		j->n_where = mark;
		return 0;
	}
	if (!strcmp(name, "type") || !strcmp(name, "attributes"))
		return 0;
	if (strcmp(name, "extensions") != 0)
		return ctf2_fail(j, "property '%.60s' is not known", name);
	if (ctf2_object(j, value))
		return -1;
	json_object_object_foreach(value, space, in_space)
	{
		if (!json_object_is_type(in_space, json_type_object) ||
		    json_object_object_length(in_space))
			return ctf2_fail(j,
					 "extension of '%.60s' is not "
					 "supported",
					 space);
	}
	return 0;
}

/* Reads the properties of an object, except 'type' and 'attributes', which the
 * caller reads if needed. Fails on a property that is not in the table. */
static int ctf2_properties(struct ctf2 *j, struct json_object *o,
			   const struct ctf2_property *table, size_t n,
			   void *to)
{
	if (ctf2_object(j, o))
		return -1;
	for (size_t i = 0; i < n; i++)
		if (table[i].needed &&
		    !json_object_object_get_ex(o, table[i].name, NULL))
			return ctf2_fail(j, "property '%s' is missing",
					 table[i].name);
	json_object_object_foreach(o, name, value)
	{
		if (ctf2_property(j, name, value, table, n, to))
			return -1;
	}
	return 0;
}

/* ---- field classes of CTF 2 */

static struct raw_class *ctf2_to(void *to)
{
	return to;
}

static int ctf2_set_bits(struct ctf2 *j, void *to, struct json_object *v)
{
	struct ctf_node *n = &ctf2_to(to)->node;
	uint64_t bits;

	if (ctf2_u64(j, v, 1, n->kind == CTF_REAL ? 128 : 64, &bits))
		return -1;
	if (n->kind == CTF_REAL && bits != 16 && bits != 32 && bits != 64 &&
	    bits != 128)
		return ctf2_fail(j,
				 "number has %d bits, needs 16, 32, 64 or 128",
				 (int)bits);
	n->bits = (uint32_t)bits;
	return 0;
}

static int ctf2_set_byte_order(struct ctf2 *j, void *to, struct json_object *v)
{
	int i = ctf2_word(j, v, "little-endian big-endian");

	ctf2_to(to)->node.big = i == 1;
	return i < 0 ? -1 : 0;
}

/* Which of the two orders is the normal one depends on the byte order, which
 * may follow: ctf2_put_class() compares them. */
static int ctf2_set_bit_order(struct ctf2 *j, void *to, struct json_object *v)
{
	int i = ctf2_word(j, v, "first-to-last last-to-first");

	ctf2_to(to)->bit_order = (uint8_t)(i + 1);
	return i < 0 ? -1 : 0;
}

static int ctf2_set_alignment(struct ctf2 *j, void *to, struct json_object *v)
{
	uint64_t n;

	if (ctf2_u64(j, v, 1, CTF_ALIGN_MAX, &n))
		return -1;
	if (n & (n - 1))
		return ctf2_fail(j, "alignment is no power of two");
	if (n > ctf2_to(to)->node.align)
		ctf2_to(to)->node.align = (uint32_t)n;
	return 0;
}

static int ctf2_set_base(struct ctf2 *j, void *to, struct json_object *v)
{
	uint64_t n;

	if (ctf2_u64(j, v, 2, 16, &n))
		return -1;
	if (n != 2 && n != 8 && n != 10 && n != 16)
		return ctf2_fail(j, "base is not 2, 8, 10 or 16");
	ctf2_to(to)->node.base = (uint8_t)n;
	return 0;
}

static int ctf2_set_encoding(struct ctf2 *j, void *to, struct json_object *v)
{
	int i = ctf2_word(j, v, "utf-8 utf-16le utf-16be utf-32le utf-32be");

	ctf2_to(to)->node.encoding = (uint8_t)i;
	return i < 0 ? -1 : 0;
}

static int ctf2_set_roles(struct ctf2 *j, void *to, struct json_object *v)
{
	/* in the order of enum ctf_field_role */
	static const char words[] =
		"packet-magic-number metadata-stream-uuid data-stream-class-id "
		"data-stream-id packet-total-length packet-content-length "
		"default-clock-timestamp packet-end-default-clock-timestamp "
		"packet-sequence-number "
		"discarded-event-record-counter-snapshot event-record-class-id";
	struct ctf_node *n = &ctf2_to(to)->node;
	size_t count = 0;

	if (ctf2_array(j, v, &count))
		return -1;
	for (size_t i = 0; i < count; i++) {
		int word = ctf2_word(j, json_object_array_get_idx(v, i), words);
		int role = CTF_MAGIC + word;

		if (word < 0)
			return -1;
		if (n->role && n->role != role)
			return ctf2_fail(j, "field has two roles");
		if ((role == CTF_UUID_FIELD) != (n->kind == CTF_FIXED_BLOB))
			return ctf2_fail(j, "role is not one of this class");
		n->role = (uint8_t)role;
	}
	return 0;
}

/* Appends the ranges of a name to range[*n]. */
static int ctf2_ranges(struct ctf2 *j, struct raw_class *c, uint32_t name,
		       struct json_object *v, struct raw_range **range,
		       size_t *n, size_t *cap)
{
	struct ctf2_range one = { 0 };
	size_t count = 0;

	if (ctf2_array(j, v, &count))
		return -1;
	if (!count)
		return ctf2_fail(j, "ranges are missing");
	for (size_t i = 0; i < count; i++) {
		if (ctf2_range(j, json_object_array_get_idx(v, i), &one))
			return -1;
		c->wide |= one.wide;
		c->negative |= one.negative;
		*mem_add(*range, *n, *cap) =
			(struct raw_range){ name, one.range, false };
	}
	return raw_room(j->r, j->at);
}

/* { "name": [[1, 2], [5, 5]] } */
static int ctf2_set_labels(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_class *c = to;
	bool is_signed =
		c->node.kind == CTF_SINT || c->node.kind == CTF_VAR_SINT;
	struct raw_range *range = NULL;
	size_t n = 0;
	size_t cap = 0;
	int ret = ctf2_object(j, v);

	if (ret)
		return -1;
	json_object_object_foreach(v, name, ranges)
	{
		size_t mark = ctf2_enter(j, name);

		ret = ret ? ret
			  : ctf2_ranges(j, c, intern_add(&j->r->names, name),
					ranges, &range, &n, &cap);
		j->n_where = ret ? j->n_where : mark;
	}
	if (!ret && (is_signed ? c->wide : c->negative))
		ret = ctf2_fail(j, "range is outside the values of the number");
	if (!ret && n)
		c->node.label = raw_labels(j->r, range, n, &c->node.n_label);
	free(range);
	return ret;
}

/* Makes the choice of an option from its ranges. */
static int ctf2_choice(struct ctf2 *j, struct raw_class *c, uint32_t name,
		       struct json_object *v, struct ctf_label *out)
{
	struct raw_range *range OWNED = NULL;
	struct ctf_range *copy;
	size_t n = 0;
	size_t cap = 0;
	int ret = ctf2_ranges(j, c, name, v, &range, &n, &cap);

	copy = arena_take(j->r->out, n * sizeof(*copy));
	for (size_t i = 0; i < n; i++)
		copy[i] = range[i].range;
	*out = (struct ctf_label){ raw_keep(j->r, name), copy, (uint32_t)n };
	return ret;
}

static int ctf2_set_path(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_place *p = to;
	uint32_t *name;
	size_t n = 0;

	if (ctf2_array(j, v, &n))
		return -1;
	name = raw_take(j->r, n * sizeof(*name));
	p->name = name;
	for (size_t i = 0; i < n; i++) {
		struct json_object *o = json_object_array_get_idx(v, i);

		/* null goes one structure up, so it removes the name before
		 * it */
		if (o && ctf2_put_name(j, &name[p->n], o))
			return -1;
		if (o)
			p->n++;
		else if (p->n)
			p->n--;
		else
			p->up++;
	}
	if (!p->n)
		return ctf2_fail(j, "path does not end with a name");
	return 0;
}

static int ctf2_set_origin(struct ctf2 *j, void *to, struct json_object *v)
{
	/* in the order of enum raw_scope */
	static const char words[] =
		"packet-header packet-context event-record-header "
		"event-record-common-context event-record-specific-context "
		"event-record-payload";
	struct raw_place *p = to;
	int i = ctf2_word(j, v, words);

	p->scope = (int8_t)i;
	return i < 0 ? -1 : 0;
}

static int ctf2_set_from(struct ctf2 *j, void *to, struct json_object *v)
{
	static const struct ctf2_property table[] = {
		{ "origin", false, ctf2_set_origin, 0 },
		{ "path", true, ctf2_set_path, 0 },
	};
	struct raw_place *p = raw_take(j->r, sizeof(*p));

	p->scope = RAW_RELATIVE;
	ctf2_to(to)->from = p;
	if (ctf2_properties(j, v, table, ARRAY_SIZE(table), p))
		return -1;
	if (p->scope != RAW_RELATIVE && p->up)
		return ctf2_fail(j, "path leads out of its origin");
	return 0;
}

static int ctf2_element(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_part *part = raw_take(j->r, sizeof(*part));

	*part = (struct raw_part){ RAW_NONE, j->at, NULL };
	ctf2_to(to)->part = part;
	ctf2_to(to)->node.n_child = 1;
	return ctf2_put_class(j, &part->type, v);
}

/* A member of a structure or an option of a variant. */
struct ctf2_part {
	struct raw_part part;
	struct json_object *ranges;
};

static int ctf2_set_part_ranges(struct ctf2 *j UNUSED, void *to,
				struct json_object *v)
{
	struct json_object **ranges = to;

	*ranges = v;
	return 0;
}

static int ctf2_part(struct ctf2 *j, struct json_object *o, enum ctf_kind kind,
		     struct ctf2_part *p)
{
	static const struct ctf2_property member[] = {
		{ "name", true, ctf2_put_name,
		  offsetof(struct ctf2_part, part.name) },
		{ "field-class", true, ctf2_put_class,
		  offsetof(struct ctf2_part, part.type) },
	};
	static const struct ctf2_property option[] = {
		{ "name", false, ctf2_put_name,
		  offsetof(struct ctf2_part, part.name) },
		{ "selector-field-ranges", true, ctf2_set_part_ranges,
		  offsetof(struct ctf2_part, ranges) },
		{ "field-class", true, ctf2_put_class,
		  offsetof(struct ctf2_part, part.type) },
	};
	struct json_object *name = NULL;
	size_t mark = j->n_where;

	if (json_object_object_get_ex(o, "name", &name))
		ctf2_enter(j, json_object_get_string(name));
	if (kind == CTF_STRUCT
		    ? ctf2_properties(j, o, member, ARRAY_SIZE(member), p)
		    : ctf2_properties(j, o, option, ARRAY_SIZE(option), p))
		return -1;
	j->n_where = mark;
	return raw_room(j->r, j->at);
}

/* Reads the members of a structure or the options of a variant. */
static int ctf2_set_parts(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_class *c = to;
	struct ctf_label *choice = NULL;
	struct raw_part *part;
	size_t n = 0;

	if (ctf2_array(j, v, &n))
		return -1;
	part = raw_take(j->r, n * sizeof(*part));
	c->part = part;
	c->node.n_child = (uint32_t)n;
	if (c->node.kind == CTF_VARIANT)
		choice = arena_take(j->r->out, n * sizeof(*choice));
	c->node.choice = choice;
	if (choice && !n)
		return ctf2_fail(j, "variant has no options");
	for (size_t i = 0; i < n; i++) {
		struct ctf2_part p = { { RAW_NONE, j->at, NULL }, NULL };

		if (ctf2_part(j, json_object_array_get_idx(v, i),
			      (enum ctf_kind)c->node.kind, &p) ||
		    (choice &&
		     ctf2_choice(j, c, p.part.name, p.ranges, &choice[i])))
			return -1;
		part[i] = p.part;
	}
	return raw_unique(j->r, part, n);
}

static int ctf2_set_ranges(struct ctf2 *j, void *to, struct json_object *v)
{
	struct raw_class *c = to;
	struct ctf_label *choice = arena_take(j->r->out, sizeof(*choice));

	c->node.choice = choice;
	return ctf2_choice(j, c, RAW_NONE, v, choice);
}

#define CTF2_FIXED                                                             \
	{ "length", true, ctf2_set_bits, 0 },                                  \
		{ "byte-order", true, ctf2_set_byte_order, 0 },                \
		{ "bit-order", false, ctf2_set_bit_order, 0 },                 \
	{                                                                      \
		"alignment", false, ctf2_set_alignment, 0                      \
	}
#define CTF2_BASE                                                              \
	{ "preferred-display-base", false, ctf2_set_base, 0 },                 \
	{                                                                      \
		"mappings", false, ctf2_set_labels, 0                          \
	}
#define CTF2_ROLES "roles", false, ctf2_set_roles, 0
#define CTF2_LENGTH                                                            \
	"length", true, ctf2_put_u64, offsetof(struct raw_class, node.count)
#define CTF2_FROM "length-field-location", true, ctf2_set_from, 0
#define CTF2_SELECTOR "selector-field-location", true, ctf2_set_from, 0
#define CTF2_ENCODING "encoding", false, ctf2_set_encoding, 0
#define CTF2_MEDIA "media-type", false, NULL, 0
#define CTF2_MINIMUM "minimum-alignment", false, ctf2_set_alignment, 0
#define CTF2_ELEMENT "element-field-class", true, ctf2_element, 0
#define CTF2_KIND(name, kind, align, ...)                                      \
	{                                                                      \
		name, kind, align,                                             \
		{                                                              \
			__VA_ARGS__                                            \
		}                                                              \
	}

static const struct ctf2_kind {
	const char *name;
	enum ctf_kind kind;
	uint32_t align;
	struct ctf2_property property[8];
} ctf2_kinds[] = {
	CTF2_KIND("fixed-length-unsigned-integer", CTF_UINT, 1, CTF2_FIXED,
		  CTF2_BASE, { CTF2_ROLES }),
	CTF2_KIND("fixed-length-signed-integer", CTF_SINT, 1, CTF2_FIXED,
		  CTF2_BASE),
	CTF2_KIND("fixed-length-bit-array", CTF_BITS, 1, CTF2_FIXED),
	CTF2_KIND("fixed-length-bit-map", CTF_BITMAP, 1, CTF2_FIXED,
		  { "flags", true, ctf2_set_labels, 0 }),
	CTF2_KIND("fixed-length-boolean", CTF_BOOL, 1, CTF2_FIXED),
	CTF2_KIND("fixed-length-floating-point-number", CTF_REAL, 1,
		  CTF2_FIXED),
	CTF2_KIND("variable-length-unsigned-integer", CTF_VAR_UINT, 8,
		  CTF2_BASE, { CTF2_ROLES }),
	CTF2_KIND("variable-length-signed-integer", CTF_VAR_SINT, 8, CTF2_BASE),
	CTF2_KIND("null-terminated-string", CTF_STRING, 8, { CTF2_ENCODING }),
	CTF2_KIND("static-length-string", CTF_FIXED_STRING, 8, { CTF2_LENGTH },
		  { CTF2_ENCODING }),
	CTF2_KIND("dynamic-length-string", CTF_LENGTH_STRING, 8, { CTF2_FROM },
		  { CTF2_ENCODING }),
	CTF2_KIND("static-length-blob", CTF_FIXED_BLOB, 8, { CTF2_LENGTH },
		  { CTF2_MEDIA }, { CTF2_ROLES }),
	CTF2_KIND("dynamic-length-blob", CTF_LENGTH_BLOB, 8, { CTF2_FROM },
		  { CTF2_MEDIA }),
	CTF2_KIND("static-length-array", CTF_ARRAY, 1, { CTF2_LENGTH },
		  { CTF2_MINIMUM }, { CTF2_ELEMENT }),
	CTF2_KIND("dynamic-length-array", CTF_SEQUENCE, 1, { CTF2_FROM },
		  { CTF2_MINIMUM }, { CTF2_ELEMENT }),
	CTF2_KIND("structure", CTF_STRUCT, 1, { CTF2_MINIMUM },
		  { "member-classes", false, ctf2_set_parts, 0 }),
	CTF2_KIND("optional", CTF_OPTIONAL, 1, { CTF2_SELECTOR },
		  { "selector-field-ranges", false, ctf2_set_ranges, 0 },
		  { "field-class", true, ctf2_element, 0 }),
	CTF2_KIND("variant", CTF_VARIANT, 1, { CTF2_SELECTOR },
		  { "options", true, ctf2_set_parts, 0 }),
};

int ctf2_put_class(struct ctf2 *j, void *to, struct json_object *o)
{
	const struct raw_class **out = to;
	const struct ctf2_kind *k = ctf2_kinds;
	const struct ctf2_kind *end = ctf2_kinds + ARRAY_SIZE(ctf2_kinds);
	struct json_object *type = NULL;
	size_t n = 0;

	if (json_object_is_type(o, json_type_string)) {
		uint32_t alias;

		if (ctf2_put_name(j, &alias, o))
			return -1;
		*out = alias < j->n_alias ? j->alias[alias] : NULL;
		return *out ? 0
			    : ctf2_fail(j,
					"field class alias '%.60s' is not "
					"declared",
					json_object_get_string(o));
	}
	if (ctf2_object(j, o))
		return -1;
	if (!json_object_object_get_ex(o, "type", &type) ||
	    !json_object_is_type(type, json_type_string))
		return ctf2_fail(j, "field class has no 'type'");
	while (k < end && strcmp(k->name, json_object_get_string(type)) != 0)
		k++;
	if (k == end)
		return ctf2_fail(j, "field class '%.60s' is not known",
				 json_object_get_string(type));
	if (j->depth == CTF_DEPTH_MAX)
		return ctf2_fail(j, "classes are nested deeper than %d",
				 CTF_DEPTH_MAX);
	while (n < ARRAY_SIZE(k->property) && k->property[n].name)
		n++;

	struct raw_class *c = raw_class(j->r, k->kind, j->at);
	struct ctf_node *node = &c->node;

	*out = c;
	node->align = k->align;
	j->depth++;
	if (raw_room(j->r, j->at) || ctf2_properties(j, o, k->property, n, c))
		return -1;
	/* Derive what depends on several properties. In little-endian fields,
	 * the bit that is read first is the lowest one. */
	node->reverse = c->bit_order && (c->bit_order == 2) != node->big;
	if (node->kind == CTF_OPTIONAL)
		node->no_ranges = !node->choice;
	if (node->role == CTF_UUID_FIELD && node->count != 16)
		return ctf2_fail(j, "uuid has %llu bytes, needs 16",
				 (unsigned long long)node->count);
	if (node->role == CTF_MAGIC && node->bits != 32)
		return ctf2_fail(j, "magic number has %u bits, needs 32",
				 node->bits);
	j->depth--;
	return 0;
}

int ctf2_put_scope(struct ctf2 *j, void *to, struct json_object *value)
{
	const struct raw_class **out = to;

	if (ctf2_put_class(j, out, value))
		return -1;
	if ((*out)->node.kind != CTF_STRUCT)
		return ctf2_fail(j, "field class is no structure");
	return 0;
}

/* The memory that the JSON values of one fragment may take. */
#define CTF2_TEXT_ROOM ((size_t)20 << 20)
/* Nesting of objects and arrays: five for each level of classes, and a few
 * around them. */
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

/* Reads "unix-epoch", or a namespace, a name and a uid, which are not used. */
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

/* Returns whether json-c needs little enough memory for a fragment. It takes
 * some 900 bytes for an object, 400 for an array, 100 for another value, and
 * the length of each string (json-c 0.16). Strings in '' are refused: json-c
 * takes them, but they are no JSON and would hide brackets from this count. */
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

/* Parses one fragment. Sets *whole to false if the text ends inside a value. */
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

/* Reads all fragments. Sets *cut if the last one is unfinished, as a recorder
 * that dies leaves it. */
static int ctf2_sequence(struct ctf2 *j, struct json_tokener *tok,
			 struct scan s, bool *cut)
{
	size_t all = s.n;

	while (s.n) {
		bool whole = true;

		/* the byte before the text is the separator */
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
