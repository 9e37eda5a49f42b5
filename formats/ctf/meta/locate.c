/* locate.c - finds what lengths and selectors are read from, and numbers it. */
#include "formats/ctf/meta/locate.h"

#include <string.h>

/* Comparisons of names while locations are looked for. */
#define LOCATE_STEPS_MAX (1u << 28)
#define LOCATE_SHIFT 14
#define LOCATE_MASK ((1u << LOCATE_SHIFT) - 1)

static int locate_level(int scope)
{
	return scope == RAW_HEADER ? 0 : scope < RAW_SPECIFIC ? 1 : 2;
}

uint16_t locate_joined(const struct locate *v, uint16_t slot)
{
	const uint16_t *same = v->same[slot >> LOCATE_SHIFT];

	while (slot && same[slot & LOCATE_MASK] != slot)
		slot = same[slot & LOCATE_MASK];
	return slot;
}

/* Gives all targets one slot. */
static int locate_slot(struct locate *v, uint32_t at, uint16_t *out)
{
	int level = locate_level(v->target_scope);
	uint16_t slot = 0;

	for (size_t i = 0; i < v->n_target; i++) {
		uint16_t old = locate_joined(v, v->target[i].node->slot);

		if (slot && old && old != slot) {
			v->same[level][old & LOCATE_MASK] = slot;
			v->joined[level] = true;
		}
		slot = slot ? slot : old;
	}
	if (!slot) {
		uint32_t k = ++v->n_slot[level];

		if (k > CTF_SLOTS_MAX)
			return raw_fail(v->r, at,
					"more than %d lengths and selectors",
					CTF_SLOTS_MAX);
		slot = (uint16_t)(level << LOCATE_SHIFT | (int)k);
		mem_grow(v->same[level], v->cap_same[level], k + 1);
		v->same[level][k] = slot;
	}
	for (size_t i = 0; i < v->n_target; i++)
		v->target[i].node->slot = slot;
	*out = slot;
	return 0;
}

void locate_each(const struct locate *v, const struct ctf_node *tree,
		 locate_slot_fn *fn)
{
	struct ctf_node *n = (struct ctf_node *)tree;

	if (!n)
		return;
	n->slot = n->slot ? fn(v, n->slot) : 0;
	n->from = n->from ? fn(v, n->from) : 0;
	for (uint32_t i = 0; i < n->n_child; i++)
		locate_each(v, &n->child[i], fn);
}

uint16_t locate_number(const struct locate *v, uint16_t slot)
{
	int level = slot >> LOCATE_SHIFT;
	uint32_t n = (level ? slot : locate_joined(v, slot)) & LOCATE_MASK;

	while (level--)
		n += v->n_slot[level];
	return (uint16_t)n;
}

/* How many children of a node are there: all, unless its copy is in progress.
 * *busy is the child that is being copied, or -1. */
static uint32_t locate_done(const struct locate *v, const struct ctf_node *n,
			    int64_t *busy)
{
	*busy = -1;
	for (size_t i = v->n_frame; i--;)
		if (v->frame[i].at.node == n) {
			if (i + 1 < v->n_frame)
				*busy = v->frame[i].done;
			return v->frame[i].done;
		}
	return n->n_child;
}

/* Looks for a part with this name, from the end, among those that are copied
 * and the one that is being copied. */
static int64_t locate_part(struct locate *v, struct locate_node at,
			   uint32_t name)
{
	int64_t busy;
	int64_t n = locate_done(v, at.node, &busy);

	n = busy >= 0 ? busy + 1 : n;
	while (n-- > 0) {
		if (++v->steps > LOCATE_STEPS_MAX) {
			v->lost = true;
			return -1;
		}
		if (at.type->part[n].name == name)
			return n;
	}
	return -1;
}

static void locate_walk(struct locate *v, struct locate_node at,
			const struct raw_place *p, uint32_t i);

static struct locate_node locate_into(struct locate_node at, int64_t i)
{
	return (struct locate_node){ at.type->part[i].type,
				     (struct ctf_node *)&at.node->child[i] };
}

/* CTF 2 does not name what stands between a structure and a member: options,
 * and the element that is being decoded. */
static void locate_through(struct locate *v, struct locate_node at,
			   const struct raw_place *p, uint32_t i)
{
	int64_t busy;
	uint32_t n = locate_done(v, at.node, &busy);
	bool array =
		at.node->kind == CTF_ARRAY || at.node->kind == CTF_SEQUENCE;

	if (busy >= 0)
		locate_walk(v, locate_into(at, busy), p, i);
	for (uint32_t k = 0; busy < 0 && !array && k < n && !v->lost; k++)
		locate_walk(v, locate_into(at, k), p, i);
}

/* Collects the nodes to which names i and up lead. */
static void locate_walk(struct locate *v, struct locate_node at,
			const struct raw_place *p, uint32_t i)
{
	uint8_t kind = at.node->kind;
	bool option = kind == CTF_VARIANT || kind == CTF_OPTIONAL;
	int64_t k;

	if (++v->steps > LOCATE_STEPS_MAX ||
	    (v->n_target == LOCATE_TARGETS_MAX)) {
		v->lost = true;
	} else if (at.node->child && !p->climb &&
		   (kind == CTF_ARRAY || kind == CTF_SEQUENCE ||
		    (option && v->r->tree->version == 2))) {
		locate_through(v, at, p, i);
	} else if (i == p->n) {
		v->target[v->n_target++] = at;
	} else if (at.node->child && (kind == CTF_STRUCT || option)) {
		k = locate_part(v, at, p->name[i]);
		if (k >= 0)
			locate_walk(v, locate_into(at, k), p, i + 1);
	}
}

static void locate_relative(struct locate *v, const struct raw_place *p)
{
	uint32_t up = p->up;

	v->target_scope = v->now;
	for (size_t i = v->n_frame; i--;) {
		if (v->frame[i].at.node->kind != CTF_STRUCT || up-- > 0)
			continue;
		up = 0;
		locate_walk(v, v->frame[i].at, p, 0);
		if (v->n_target || v->lost || !p->climb)
			return;
	}
}

/* Puts the names of a location into buf. */
static const char *locate_text(const struct locate *v,
			       const struct raw_place *p, char *buf,
			       size_t size)
{
	size_t n = 0;

	buf[0] = '\0';
	for (uint32_t i = 0; i < p->n && n + 1 < size; i++) {
		const char *s = intern_get(&v->r->names, p->name[i]);
		size_t len = strnlen(s, size - n - 2);

		if (i)
			buf[n++] = '.';
		memcpy(buf + n, s, len);
		n += len;
		buf[n] = '\0';
	}
	return buf;
}

static bool locate_is_number(const struct ctf_node *n, bool is_signed)
{
	return is_signed ? n->kind == CTF_SINT || n->kind == CTF_VAR_SINT
			 : n->kind == CTF_UINT || n->kind == CTF_VAR_UINT;
}

static int locate_check_target(struct locate *v, const struct raw_class *c,
			       struct ctf_node *to, const char *path)
{
	bool choice = to->kind == CTF_VARIANT || to->kind == CTF_OPTIONAL;
	const struct ctf_node *first = v->target[0].node;

	to->sel_signed = choice && locate_is_number(first, true);
	for (size_t i = 0; i < v->n_target; i++) {
		const struct ctf_node *n = v->target[i].node;

		if (to->no_ranges ? n->kind != CTF_BOOL
				  : !locate_is_number(n, to->sel_signed))
			return raw_fail(v->r, c->at,
					"'%s' is no %s, which a %s needs", path,
					to->no_ranges ? "boolean"
					: choice      ? "integer"
						      : "unsigned integer",
					choice ? "selector" : "length");
	}
	if (to->sel_signed ? c->wide : c->negative)
		return raw_fail(v->r, c->at,
				"range of a selector is outside the values of "
				"'%s'",
				path);
	return 0;
}

static const char *locate_bare(const char *name)
{
	return name && name[0] == '_' ? name + 1 : name;
}

/* A TSDL variant has the option that has the label's name. One '_' in front is
 * ignored on either side: LTTng puts it before members. */
static int locate_choices(struct locate *v, const struct raw_class *c,
			  struct ctf_node *to, const char *path)
{
	const struct ctf_node *tag = v->target[0].node;
	struct ctf_label *choice =
		arena_take(v->r->out, c->node.n_child * sizeof(*choice));

	if (!tag->n_label)
		return raw_fail(v->r, c->at, "tag '%s' is no enumeration",
				path);
	for (uint32_t i = 0; i < c->node.n_child; i++) {
		const char *name = raw_keep(v->r, c->part[i].name);
		const struct ctf_label *found = NULL;

		v->steps += tag->n_label;
		if (v->steps > LOCATE_STEPS_MAX)
			return raw_fail(v->r, c->at, "too many options");
		for (uint32_t k = 0; k < tag->n_label; k++) {
			const struct ctf_label *l = &tag->label[k];

			if (!strcmp(l->name, name))
				found = l;
			else if (!found && !strcmp(locate_bare(l->name),
						   locate_bare(name)))
				found = l;
		}
		choice[i] = (struct ctf_label){ name, NULL, 0 };
		if (found)
			choice[i] = *found;
	}
	to->choice = choice;
	return 0;
}

int locate_from(struct locate *v, const struct raw_class *c,
		struct ctf_node *to)
{
	const struct raw_place *p = c->from;
	char path[120];

	v->n_target = 0;
	if (p->scope == RAW_RELATIVE) {
		locate_relative(v, p);
	} else {
		v->target_scope = p->scope;
		if (p->scope <= v->now && v->scope[p->scope].node)
			locate_walk(v, v->scope[p->scope], p, 0);
	}
	locate_text(v, p, path, sizeof(path));
	if (v->lost)
		return raw_fail(v->r, c->at, "'%s' takes too long to find",
				path);
	if (!v->n_target)
		return raw_fail(v->r, c->at,
				"'%s' is not decoded before '%s', which needs "
				"it",
				path, to->name ? to->name : "element");
	if (locate_check_target(v, c, to, path))
		return -1;
	if (v->r->tree->version == 1 && to->kind == CTF_VARIANT &&
	    locate_choices(v, c, to, path))
		return -1;
	return locate_slot(v, c->at, &to->from);
}
