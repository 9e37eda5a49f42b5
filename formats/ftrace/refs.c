/* refs.c - what next() returns: refs of records, and the events of buffers. */
#include "formats/ftrace/refs.h"

#include <stdio.h>

void ft_add_ref(struct ft *ft, const struct ref *ev, uint8_t kind, uint32_t len)
{
	mem_grow(ft->due, ft->cap_due, ft->n_due + 1);
	struct ref *r = &ft->due[ft->n_due++];

	*r = *ev;
	r->kind = kind;
	r->len = len;
	r->seq = ++ft->seq;
}

static bool ft_refs_is_top(const struct ft *ft, uint32_t instance)
{
	return instance >= ft->n_inst || !*ft->inst[instance].name;
}

static uint64_t ft_refs_event_hash(uint32_t instance, uint16_t id)
{
	return hash_u64((uint64_t)instance << 16 | id);
}

/* If several buffers record an event, it is a different event in each. */
uint32_t ft_event_look(struct ft *ft, uint32_t instance, uint16_t id)
{
	uint32_t i;

	if (ft_refs_is_top(ft, instance))
		i = ft->event_of[id] - 1;
	else
		i = table_find_hash(&ft->events,
				    ft_refs_event_hash(instance, id));
	ft->near_event[(id ^ instance) % FT_NEAR] =
		(struct ft_near_event){ instance, i + 1, id };
	return i;
}

uint32_t ft_event_add(struct ft *ft, uint32_t instance, uint16_t id)
{
	const struct ft_type *t = ft_type_of(ft, id);
	struct event_def ev = {
		.type = 2, /* PERF_TYPE_TRACEPOINT */
		.config = id,
		.has_cpu = true,
		.has_time = true,
	};
	const char *buffer =
		ft_refs_is_top(ft, instance) ? NULL : ft->inst[instance].name;
	char number[16];

	snprintf(number, sizeof(number), "%u", id);
	ev.name = arena_join(&ft->arena, t ? t->fmt.system : "unknown", ':',
			     t && t->fmt.name ? t->fmt.name : number);
	if (buffer)
		ev.name = arena_join(&ft->arena, buffer, '/', ev.name);
	if (t) {
		ev.format = t->fmt.text;
		ev.fields = t->fmt.def;
		ev.n_fields = (uint32_t)t->fmt.n;
		ev.sched = t->fmt.sched.kind;
		ev.has_chain = t->fmt.n_stack > 0;
		ev.adds_fields = t->printk || t->named;
	}
	ev.buffer = buffer;
	*mem_add(ft->event, ft->n_event, ft->cap_event) = ev;
	if (ft_refs_is_top(ft, instance))
		ft->event_of[id] = (uint32_t)ft->n_event;
	else
		table_add(&ft->events, ft_refs_event_hash(instance, id),
			  (uint32_t)ft->n_event - 1);
	ft->src.events = ft->event;
	ft->src.n_events = (uint32_t)ft->n_event;
	return (uint32_t)ft->n_event - 1;
}
