/* causes_silent.h - the names of silent tasks, and the premise about them. */
#pragma once

struct causes_names;
struct thread_names;
struct timeline;

/* Returns "swapper/1 and NAME", which the caller frees; NULL: there are none.
 * told: of the timeline's threads. */
char *causes_silent_names(const struct timeline *t, struct thread_names *told,
			  const struct causes_names *names);
/* Returns the premise that only records of these names are missing, likewise.
 */
char *causes_silent_premise(const struct timeline *t, const char *names);
