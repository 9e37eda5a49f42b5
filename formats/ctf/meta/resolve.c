/* resolve.c - makes the class tree from raw classes: copies each of them
 * wherever it is used, with its clock, its role, and the slots of lengths and
 * selectors. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/raw.h"
#include "stitch/base/bytes.h"
#include "stitch/base/search.h"

/* Each scope is copied in the order in which it is decoded, and a place is
 * looked for when its user is copied: all that is decoded earlier exists by
 * then. The copies that are not finished are frames, outermost first.
 *
 * Slots are counted on three levels: the trace (packet header), the stream
 * (packet context, event header, common context) and the event. While copies
 * are made, a slot is its level and its number there. locate_number() makes the
 * final number when the sums are known: events, which are never decoded at the
 * same time, share theirs. */

#define LOCATE_TARGETS_MAX 64
#define LOCATE_LEVELS 3

struct locate_node {
	const struct raw_class *type;
	struct ctf_node *node; /* NULL: no copy, or not yet */
};

struct locate_frame {
	struct locate_node at;
	uint32_t done; /* parts that are copied so far */
};

struct locate {
	struct raw *r;
	struct locate_node scope[RAW_SCOPES];
	int now; /* the scope that is being copied */
	struct locate_frame frame[CTF_DEPTH_MAX];
	size_t n_frame;
	uint32_t steps; /* how many names were compared */
	bool lost;	/* the search exceeded a limit */
	/* the nodes to which a location leads; all are in one scope */
	struct locate_node target[LOCATE_TARGETS_MAX];
	size_t n_target;
	int target_scope;
	uint32_t n_slot[LOCATE_LEVELS];
	/* by level and number: the slot that replaced this one */
	uint16_t *same[LOCATE_LEVELS];
	size_t cap_same[LOCATE_LEVELS];
	bool joined[LOCATE_LEVELS]; /* by level: some slot was replaced */
};

typedef uint16_t locate_slot_fn(const struct locate *v, uint16_t slot);

/* The most comparisons of names for all locations. */
#define LOCATE_STEPS_MAX (1u << 28)
#define LOCATE_SHIFT 14
#define LOCATE_MASK ((1u << LOCATE_SHIFT) - 1)

/* Returns the slot that replaced this one, or the slot itself. */
static uint16_t locate_joined(const struct locate *v, uint16_t slot)
{
	const uint16_t *same = v->same[slot >> LOCATE_SHIFT];

	while (slot && same[slot & LOCATE_MASK] != slot)
		slot = same[slot & LOCATE_MASK];
	return slot;
}

/* Replaces all slots of a finished tree by fn; tree may be NULL. */
static void locate_each(const struct locate *v, const struct ctf_node *tree,
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

/* Returns the final number of a slot: those of the packet header come first,
 * then those of the stream, then those of the event. v->n_slot has the sums. */
static uint16_t locate_number(const struct locate *v, uint16_t slot)
{
	int level = slot >> LOCATE_SHIFT;
	uint32_t n = (level ? slot : locate_joined(v, slot)) & LOCATE_MASK;

	while (level--)
		n += v->n_slot[level];
	return (uint16_t)n;
}

/* Returns how many children of a node exist: all, unless its copy is in
 * progress. Sets *busy to the child that is being copied, or -1. */
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

/* Returns the last part with this name among those that are copied and the one
 * that is being copied, or -1. */
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

/* Adds the nodes to which the names from i on lead to v->target. */
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
		/* CTF 2 does not name the levels between a structure and a
		 * member: options, and the element that is being decoded */
		int64_t busy;
		uint32_t n = locate_done(v, at.node, &busy);
		bool array = at.node->kind == CTF_ARRAY ||
			     at.node->kind == CTF_SEQUENCE;

		if (busy >= 0)
			locate_walk(v, locate_into(at, busy), p, i);
		for (uint32_t j = 0; busy < 0 && !array && j < n && !v->lost;
		     j++)
			locate_walk(v, locate_into(at, j), p, i);
	} else if (i == p->n) {
		v->target[v->n_target++] = at;
	} else if (at.node->child && (kind == CTF_STRUCT || option)) {
		k = locate_part(v, at, p->name[i]);
		if (k >= 0)
			locate_walk(v, locate_into(at, k), p, i + 1);
	}
}

/* Writes the names of a location to buf, with dots, and returns buf. */
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

static const char *locate_bare(const char *name)
{
	return name && name[0] == '_' ? name + 1 : name;
}

/* Gives a TSDL variant its choices: a label chooses the option with its name. A
 * leading '_' on either side is ignored: LTTng puts one before members. */
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

/* Finds the nodes that hold the length or selector of *to, and gives them and
 * to->from one slot. Gives a TSDL variant its choices. */
static int locate_from(struct locate *v, const struct raw_class *c,
		       struct ctf_node *to)
{
	const struct raw_place *p = c->from;
	char path[120];

	v->n_target = 0;
	if (p->scope == RAW_RELATIVE) {
		uint32_t up = p->up;

		v->target_scope = v->now;
		for (size_t i = v->n_frame; i--;) {
			if (v->frame[i].at.node->kind != CTF_STRUCT || up-- > 0)
				continue;
			up = 0;
			locate_walk(v, v->frame[i].at, p, 0);
			if (v->n_target || v->lost || !p->climb)
				break;
		}
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
	if (v->r->tree->version == 1 && to->kind == CTF_VARIANT &&
	    locate_choices(v, c, to, path))
		return -1;
	/* all targets have the same slot */
	int level = v->target_scope == RAW_HEADER    ? 0
		    : v->target_scope < RAW_SPECIFIC ? 1
						     : 2;
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
			return raw_fail(v->r, c->at,
					"more than %d lengths and selectors",
					CTF_SLOTS_MAX);
		slot = (uint16_t)(level << LOCATE_SHIFT | (int)k);
		mem_grow(v->same[level], v->cap_same[level], k + 1);
		v->same[level][k] = slot;
	}
	for (size_t i = 0; i < v->n_target; i++)
		v->target[i].node->slot = slot;
	to->from = slot;
	return 0;
}

struct resolve {
	struct locate find;
	uint32_t nodes;
	int32_t clock; /* CTF 2: the default clock of the stream */
};

static const struct resolve_role {
	int scope;
	const char *name;
	enum ctf_field_role role;
} resolve_roles[] = {
	{ RAW_HEADER, "magic", CTF_MAGIC },
	{ RAW_HEADER, "uuid", CTF_UUID_FIELD },
	{ RAW_HEADER, "stream_id", CTF_STREAM_CLASS_ID },
	{ RAW_HEADER, "stream_instance_id", CTF_STREAM_ID },
	{ RAW_PACKET, "packet_size", CTF_PACKET_BITS },
	{ RAW_PACKET, "content_size", CTF_CONTENT_BITS },
	{ RAW_PACKET, "packet_seq_num", CTF_PACKET_SEQ },
	{ RAW_PACKET, "events_discarded", CTF_DISCARDED },
	{ RAW_PACKET, "timestamp_begin", CTF_CLOCK },
	{ RAW_PACKET, "timestamp_end", CTF_PACKET_END_CLOCK },
	{ RAW_EVENT_HEADER, "id", CTF_EVENT_CLASS_ID },
	{ RAW_EVENT_HEADER, "timestamp", CTF_CLOCK },
};

/* Gives a field its role. In TSDL its name decides. */
static void resolve_role(const struct resolve *v, struct ctf_node *to)
{
	const struct resolve_role *known = NULL;
	size_t n = ARRAY_SIZE(resolve_roles);
	bool direct = v->find.n_frame == 1 || v->find.now == RAW_EVENT_HEADER;

	for (size_t i = 0; i < n && to->name && direct; i++)
		if (resolve_roles[i].scope == v->find.now &&
		    !strcmp(resolve_roles[i].name, to->name))
			known = &resolve_roles[i];
	if (!known)
		return;
	if (known->role == CTF_UUID_FIELD) {
		const struct ctf_node *e = to->child;

		if (to->kind == CTF_ARRAY && to->count == 16 &&
		    e->kind == CTF_UINT && e->bits == 8 && e->align <= 8) {
			to->kind = CTF_FIXED_BLOB;
			to->role = CTF_UUID_FIELD;
			to->align = 8;
			to->child = NULL;
			to->n_child = 0;
		}
	} else if (to->kind != CTF_UINT) {
		return;
	} else if (known->role == CTF_CLOCK ||
		   known->role == CTF_PACKET_END_CLOCK) {
		/* a time field without a clock has the only clock of the trace,
		 * or one in nanoseconds if the trace has none */
		struct raw *r = v->find.r;

		if (to->role != CTF_CLOCK) {
			if (!r->n_clock)
				raw_add_clock(r, 0,
					      &(struct raw_clock){
						      RAW_NONE,
						      { .freq = 1000000000 } });
			if (r->n_clock != 1)
				return;
			to->clock = 0;
		}
		to->role = (uint8_t)known->role;
	} else if (to->role == CTF_NO_ROLE) {
		to->role = (uint8_t)known->role;
	}
}

static int resolve_copy(struct resolve *v, const struct raw_part *part,
			struct ctf_node *to);

static int resolve_children(struct resolve *v, const struct raw_class *c,
			    struct ctf_node *to)
{
	uint32_t n = c->node.n_child;
	struct ctf_node *child;

	if (n > CTF_NODES_MAX - v->nodes)
		return raw_fail(v->find.r, c->at, "more than %u fields",
				CTF_NODES_MAX);
	if (v->find.n_frame == CTF_DEPTH_MAX)
		return raw_fail(v->find.r, c->at,
				"classes are nested deeper than %d",
				CTF_DEPTH_MAX);
	v->nodes += n;
	child = arena_take(v->find.r->out, n * sizeof(*child));
	memset(child, 0, n * sizeof(*child));
	to->child = child;

	struct locate_frame *f = &v->find.frame[v->find.n_frame++];

	*f = (struct locate_frame){ { c, to }, 0 };
	for (; f->done < n; f->done++) {
		if (raw_room(v->find.r, c->at) ||
		    resolve_copy(v, &c->part[f->done], &child[f->done]))
			return -1;
		if (to->kind != CTF_VARIANT && to->kind != CTF_OPTIONAL &&
		    child[f->done].align > to->align)
			to->align = child[f->done].align;
	}
	v->find.n_frame--;
	return 0;
}

static int resolve_copy(struct resolve *v, const struct raw_part *part,
			struct ctf_node *to)
{
	const struct raw_class *c = part->type;
	bool tsdl = v->find.r->tree->version == 1;

	*to = c->node;
	to->name = raw_keep(v->find.r, part->name);
	if (tsdl && to->name && to->name[0] == '_' && to->name[1])
		to->name++;
	if (c->native)
		to->big = v->find.r->tree->big;
	if (c->clock != RAW_NONE) {
		int32_t clock = raw_clock_find(v->find.r, c->clock);

		if (clock < 0)
			return raw_fail(
				v->find.r, c->at, "clock '%s' is not declared",
				intern_get(&v->find.r->names, c->clock));
		to->clock = clock;
		to->role = CTF_CLOCK;
	}
	if (c->from && locate_from(&v->find, c, to))
		return -1;
	if (to->kind == CTF_VARIANT && !to->from)
		return raw_fail(v->find.r, part->at, "variant has no tag");
	if (to->n_child && resolve_children(v, c, to))
		return -1;
	if (tsdl)
		resolve_role(v, to);
	else {
		/* A role of CTF 2 counts only in the scope in which packets or
		 * events have it; elsewhere the class may be used by its
		 * alias. */
		static const uint8_t scopes[] = {
			[CTF_MAGIC] = 1 << RAW_HEADER,
			[CTF_UUID_FIELD] = 1 << RAW_HEADER,
			[CTF_STREAM_CLASS_ID] = 1 << RAW_HEADER,
			[CTF_STREAM_ID] = 1 << RAW_HEADER,
			[CTF_PACKET_BITS] = 1 << RAW_PACKET,
			[CTF_CONTENT_BITS] = 1 << RAW_PACKET,
			[CTF_CLOCK] = 1 << RAW_PACKET | 1 << RAW_EVENT_HEADER,
			[CTF_PACKET_END_CLOCK] = 1 << RAW_PACKET,
			[CTF_PACKET_SEQ] = 1 << RAW_PACKET,
			[CTF_DISCARDED] = 1 << RAW_PACKET,
			[CTF_EVENT_CLASS_ID] = 1 << RAW_EVENT_HEADER,
		};

		if (!(scopes[to->role] >> v->find.now & 1))
			to->role = CTF_NO_ROLE;
		if (to->role == CTF_CLOCK || to->role == CTF_PACKET_END_CLOCK)
			to->clock = v->clock;
	}
	if (to->role == CTF_CLOCK && to->clock < 0)
		return raw_fail(v->find.r, part->at,
				"'%s' has the time of the default clock, but "
				"the data stream class has none",
				to->name ? to->name : "");
	return 0;
}

/* Copies the class of a scope; *out is NULL if the scope has none. */
static int resolve_scope(struct resolve *v, int scope,
			 const struct raw_class *c, const struct ctf_node **out)
{
	struct raw_part part = { RAW_NONE, c ? c->at : 0, c };
	struct ctf_node *n;

	*out = NULL;
	v->find.scope[scope] = (struct locate_node){ 0 };
	if (!c)
		return 0;
	n = arena_take(v->find.r->out, sizeof(*n));
	v->find.now = scope;
	v->find.scope[scope] = (struct locate_node){ c, n };
	*out = n;
	return resolve_copy(v, &part, n);
}

COMPARE_BY(resolve_compare_events, struct raw_event, stream, id);

COMPARE_BY(resolve_compare_streams, struct raw_stream, id);

static void resolve_each_of(const struct locate *v,
			    const struct ctf_stream_class *s,
			    locate_slot_fn *fn)
{
	locate_each(v, s->packet, fn);
	locate_each(v, s->header, fn);
	locate_each(v, s->common, fn);
	for (uint32_t i = 0; i < s->n_event; i++) {
		locate_each(v, s->event[i].specific, fn);
		locate_each(v, s->event[i].payload, fn);
	}
}

/* Returns the first clock that sets the time of packets or events, or -1. */
static int32_t resolve_default_clock(const struct ctf_node *n)
{
	int32_t clock = -1;

	if (!n)
		return -1;
	if (n->role == CTF_CLOCK || n->role == CTF_PACKET_END_CLOCK)
		return n->clock;
	for (uint32_t i = 0; i < n->n_child && clock < 0; i++)
		clock = resolve_default_clock(&n->child[i]);
	return clock;
}

/* Copies the events of a stream, from *e on, and moves *e past them. */
static int resolve_events(struct resolve *v, size_t *e,
			  struct ctf_stream_class *out)
{
	const struct raw *r = v->find.r;
	struct ctf_event_class *event;
	uint32_t most = 0;
	size_t n = 0;

	while (*e + n < r->n_event && r->event[*e + n].stream == out->id)
		n++;
	event = arena_take(r->out, n * sizeof(*event));
	out->event = event;
	for (size_t i = 0; i < n; i++, ++*e) {
		const struct raw_event *from = &r->event[*e];
		struct ctf_event_class *to = &event[i];

		if (i && event[i - 1].id == from->id)
			return raw_fail(v->find.r, from->at,
					"a second event class with id %llu",
					(unsigned long long)from->id);
		if (raw_room(v->find.r, from->at))
			return -1;
		to->id = from->id;
		to->name = raw_keep(v->find.r, from->name);
		v->find.n_slot[2] = 0;
		v->find.joined[2] = false;
		if (resolve_scope(v, RAW_SPECIFIC, from->specific,
				  &to->specific) ||
		    resolve_scope(v, RAW_PAYLOAD, from->payload, &to->payload))
			return -1;
		if (v->find.joined[2]) {
			locate_each(&v->find, to->specific, locate_joined);
			locate_each(&v->find, to->payload, locate_joined);
		}
		raise_to(most, v->find.n_slot[2]);
	}
	out->n_event = (uint32_t)n;
	out->n_slot = v->find.n_slot[1] + most;
	return 0;
}

static int resolve_stream(struct resolve *v, const struct raw_stream *s,
			  size_t *e, struct ctf_stream_class *out)
{
	out->id = s->id;
	v->find.n_slot[1] = 0;
	v->find.joined[1] = false;
	v->clock = raw_clock_find(v->find.r, s->clock);
	if (resolve_scope(v, RAW_PACKET, s->scope[RAW_PACKET], &out->packet) ||
	    resolve_scope(v, RAW_EVENT_HEADER, s->scope[RAW_EVENT_HEADER],
			  &out->header) ||
	    resolve_scope(v, RAW_COMMON, s->scope[RAW_COMMON], &out->common) ||
	    resolve_events(v, e, out))
		return -1;
	if (v->find.joined[1])
		resolve_each_of(&v->find, out, locate_joined);
	out->clock = v->clock;
	if (v->find.r->tree->version == 1)
		out->clock = resolve_default_clock(out->packet);
	if (v->find.r->tree->version == 1 && out->clock < 0)
		out->clock = resolve_default_clock(out->header);
	return 0;
}

/* Sorts streams and events, and sets the stream of each event. A TSDL trace
 * whose events name no stream need not declare one. */
static int resolve_sort(struct raw *r)
{
	for (size_t i = 0; i < r->n_event; i++) {
		if (!r->event[i].any_stream)
			continue;
		if (!r->n_stream)
			raw_add_stream(
				r, &(struct raw_stream){ .clock = RAW_NONE });
		if (r->n_stream == 1)
			r->event[i].stream = r->stream[0].id;
	}
	sort_items(r->event, r->n_event, resolve_compare_events);
	sort_items(r->stream, r->n_stream, resolve_compare_streams);
	for (size_t i = 1; i < r->n_stream; i++)
		if (r->stream[i].id == r->stream[i - 1].id)
			return raw_fail(r, r->stream[i].at,
					"a second stream class with id %llu",
					(unsigned long long)r->stream[i].id);
	return 0;
}

static int resolve_streams(struct resolve *v)
{
	struct raw *r = v->find.r;
	struct ctf_tree *tree = r->tree;
	struct ctf_stream_class *stream =
		arena_take(r->out, r->n_stream * sizeof(*stream));
	uint32_t *level OWNED = mem_new(r->n_stream, sizeof(*level));
	size_t e = 0;
	int ret = 0;

	tree->stream = stream;
	tree->n_stream = (uint32_t)r->n_stream;
	memset(stream, 0, r->n_stream * sizeof(*stream));
	for (size_t i = 0; i < r->n_stream && !ret; i++) {
		if (e < r->n_event && r->event[e].stream < r->stream[i].id)
			break;
		ret = resolve_stream(v, &r->stream[i], &e, &stream[i]);
		level[i] = v->find.n_slot[1];
	}
	if (!ret && e < r->n_event)
		ret = raw_fail(r, r->event[e].at,
			       "event is of stream class %llu, which is not "
			       "declared",
			       (unsigned long long)r->event[e].stream);
	for (size_t i = 0; i < r->n_stream && !ret; i++) {
		v->find.n_slot[1] = level[i];
		stream[i].n_slot += v->find.n_slot[0] + 1;
		if (stream[i].n_slot > CTF_SLOTS_MAX)
			ret = raw_fail(r, r->stream[i].at,
				       "more than %d lengths and selectors",
				       CTF_SLOTS_MAX);
		else
			resolve_each_of(&v->find, &stream[i], locate_number);
	}
	locate_each(&v->find, tree->header, locate_number);
	return ret;
}

/* Makes the tree. Returns 0, or -1 with an error. */
static int raw_resolve(struct raw *r)
{
	struct resolve *v OWNED = mem_new(1, sizeof(*v));

	v->find.r = r;
	v->clock = -1;
	r->tree->env = raw_copy(r->out, r->env, r->n_env, sizeof(*r->env));
	r->tree->n_env = (uint32_t)r->n_env;
	int ret = resolve_sort(r);
	if (!ret)
		ret = resolve_scope(v, RAW_HEADER, r->header, &r->tree->header);
	if (!ret)
		ret = resolve_streams(v);
	if (!ret) {
		/* LTTng wrote no 'absolute' into TSDL, although its clocks are
		 * absolute. */
		const char *tracer = ctf_tree_env(r->tree, "tracer_name");
		bool lttng = tracer && !strncmp(tracer, "lttng", 5);
		struct ctf_clock *c =
			arena_take(r->out, r->n_clock * sizeof(*c));

		for (size_t i = 0; i < r->n_clock; i++) {
			c[i] = r->clock[i].clock;
			if (lttng && r->tree->version == 1)
				c[i].unix_epoch = true;
		}
		r->tree->clock = c;
		r->tree->n_clock = (uint32_t)r->n_clock;
	}
	for (int i = 0; i < LOCATE_LEVELS; i++)
		free(v->find.same[i]);
	return ret;
}

/* ---- reads metadata: the TSDL of CTF 1.8, or the JSON of CTF 2 */

/* The memory that metadata may take besides its own size. With the values of a
 * CTF 2 fragment it is 60 MiB. */
#define READ_ROOM ((size_t)40 << 20)

static int read_parse(struct raw *r, const struct bytes *meta)
{
	uint8_t first = 0;

	if (bytes_peek(meta, 0, &first, 1))
		return raw_fail(r, 0, "metadata is empty");
	if (bytes_left(meta) > CTF_META_MAX)
		return raw_fail(r, 0, "metadata is larger than %u bytes",
				CTF_META_MAX);
	/* the RS byte of a JSON text sequence: RFC 7464 */
	if (first == 0x1e)
		return ctf2_read(r, meta, &r->tree->cut);
	if (tsdl_unpack(r, meta, &r->tree->cut))
		return -1;
	return tsdl_read(r, &r->tree->cut);
}

int ctf_tree_read(struct arena *arena, const struct bytes *meta,
		  struct ctf_tree *out, struct err *err)
{
	struct raw r = {
		.tree = out, .out = arena, .path = meta->path, .err = err
	};

	memset(out, 0, sizeof(*out));
	r.room = arena->used + READ_ROOM + bytes_left(meta);

	int ret = read_parse(&r, meta);

	if (!ret)
		ret = raw_resolve(&r);
	raw_release(&r);
	return ret;
}
