/* incarnations.h - decides which incarnation of a thread id made a record.
 *
 * Thread ids are reused. An incarnation is the time from the start of one
 * thread with an id to its end. These functions find a new incarnation that no
 * FORK record announced. */
#pragma once
#include <stdint.h>

struct record;
struct tasks;
struct thread;

/* Returns the slot of the incarnation that made a record that only a living
 * thread can make, at time t. If slot's EXIT was seen before, starts a new
 * incarnation, and copies the ended one to *gone with used set. */
uint32_t incarnations_of_record(struct tasks *ts, const struct record *rec,
				int64_t t, uint32_t slot, struct thread *gone);
/* Like incarnations_of_record(), for a COMM record, which may also mean that
 * the thread became the leader of its process by exec. */
uint32_t incarnations_of_comm(struct tasks *ts, const struct record *rec,
			      int64_t t, uint32_t slot, struct thread *gone);
