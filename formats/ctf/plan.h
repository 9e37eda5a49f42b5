/* plan.h - the programs that decode the events of a stream class. */
#pragma once
#include "formats/ctf/ctf.h"

/* Returns the class of an event, which is made at the first one. Returns NULL
 * and sets *why if the metadata has no such event, or there are too many. */
struct ctf_class *ctf_class_find(struct ctf *ctf, const struct ctf_schema *sm,
				 struct ctf_plan *plan, uint64_t id,
				 const char **why);
/* Like ctf_class_find(), with a fast path for nearly all events, as ids mostly
 * count from 0. */
static inline struct ctf_class *ctf_class_of(struct ctf *ctf,
					     const struct ctf_schema *sm,
					     struct ctf_plan *plan, uint64_t id,
					     const char **why)
{
	const struct ctf_stream_class *sc = plan->sc;

	if (plan->classes && id < sc->n_event && sc->event[id].id == id &&
	    plan->classes[id].made)
		return &plan->classes[id];
	return ctf_class_find(ctf, sm, plan, id, why);
}

/* Returns whether an event is of LTTng-UST's cyg_profile: an instrumented
 * program enters or leaves a function. */
bool ctf_is_call(const char *event);
/* Makes the programs for the packets and event headers of a stream class. */
void ctf_plan_make(struct ctf_plan *plan);
