/* resolve.c - makes the class tree of raw classes: copies each where it is
 * used, with its clock, its role, and the slots of lengths and selectors. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/meta/locate.h"
#include "stitch/base/search.h"

struct resolve {
	struct locate find;
	uint32_t nodes;
	int32_t clock; /* CTF 2: default clock of the stream */
};

static int resolve_clock(struct resolve *v, const struct raw_class *c,
			 struct ctf_node *to)
{
	int32_t clock = raw_clock_find(v->find.r, c->clock);

	if (clock < 0)
		return raw_fail(v->find.r, c->at, "clock '%s' is not declared",
				intern_get(&v->find.r->names, c->clock));
	to->clock = clock;
	to->role = CTF_CLOCK;
	return 0;
}

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

/* A time that is not mapped counts by the only clock, or in nanoseconds. */
static void resolve_time(const struct resolve *v, enum ctf_field_role role,
			 struct ctf_node *to)
{
	struct raw *r = v->find.r;

	if (to->role != CTF_CLOCK) {
		if (!r->n_clock)
			raw_add_clock(
				r, 0,
				&(struct raw_clock){ RAW_NONE,
						     { .freq = 1000000000 } });
		if (r->n_clock != 1)
			return;
		to->clock = 0;
	}
	to->role = (uint8_t)role;
}

/* TSDL knows what a field is for by its name. */
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
		resolve_time(v, known->role, to);
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
	if (c->clock != RAW_NONE && resolve_clock(v, c, to))
		return -1;
	if (c->from && locate_from(&v->find, c, to))
		return -1;
	if (to->kind == CTF_VARIANT && !to->from)
		return raw_fail(v->find.r, part->at, "variant has no tag");
	if (to->n_child && resolve_children(v, c, to))
		return -1;
	if (tsdl)
		resolve_role(v, to);
	else {
		/* In CTF 2 a role counts where its packet or event is read
		 * from; a class may be used elsewhere by its alias. */
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

/* Copies the class of a scope; *out is NULL if it has none. */
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

/* The first clock that sets the time of packets or events. */
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

/* Copies the events of a stream, which begin at *e. */
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

/* Sorts streams and events, and finds the stream of each event. A TSDL trace
 * whose events name no stream may do without one. */
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
	uint32_t *level = mem_new(r->n_stream, sizeof(*level));
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
	free(level);
	return ret;
}

int raw_resolve(struct raw *r)
{
	struct resolve *v = mem_new(1, sizeof(*v));

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
		/* LTTng wrote no 'absolute' into TSDL, although its clocks are.
		 */
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
	free(v);
	return ret;
}
