/* refs.h - refs of entries, and the events of buffers. */
#pragma once

#include "formats/ftrace/ftrace.h"

/* Adds a ref of an entry: a copy of *ev with this kind and len. */
void ft_add_ref(struct ft *ft, const struct ref *ev, uint8_t kind,
		uint32_t len);
/* The index of an event of a buffer; UINT32_MAX: not seen yet. */
uint32_t ft_event_look(struct ft *ft, uint32_t instance, uint16_t id);
static inline uint32_t ft_event_find(struct ft *ft, uint32_t instance,
				     uint16_t id)
{
	const struct ft_near_event *e =
		&ft->near_event[(id ^ instance) % FT_NEAR];

	return e->event && e->instance == instance && e->id == id
		       ? e->event - 1
		       : ft_event_look(ft, instance, id);
}
/* Adds an event of a buffer, which was not seen yet. Returns its index. */
uint32_t ft_event_add(struct ft *ft, uint32_t instance, uint16_t id);
