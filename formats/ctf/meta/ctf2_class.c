/* ctf2_class.c - field classes of CTF 2. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/ctf2.h"

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

/* Which of the two orders is the usual one depends on the byte order, which may
 * follow: ctf2_put_class() compares them. */
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

/* Adds the ranges of a name to range[*n]. */
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

/* Makes the choice of an option. */
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

		/* null is one structure up: it takes the name before it away */
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

/* A member or an option. */
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

/* Members of a structure or options of a variant. */
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
	/* What follows from several properties. The bit that is read first is
	 * the lowest one of little-endian fields. */
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
