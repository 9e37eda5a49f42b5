/* incarnations.h - which life of a thread id a record belongs to, where no FORK
 * told of a new one. */
#ifndef STITCH_TASKS_INCARNATIONS_H
#define STITCH_TASKS_INCARNATIONS_H
#include <stdint.h>

struct record;
struct tasks;
struct thread;

/* The slot of the life that made the record, which only a living thread can
 * make. That is another one than slot's when the EXIT of that was seen: then
 * *gone is a copy of it, with used set. t: the record's time. */
uint32_t incarnations_of_record(struct tasks *ts, const struct record *rec,
				int64_t t, uint32_t slot, struct thread *gone);
/* The same of a COMM record, which may also tell that a thread has become the
 * first of its process. */
uint32_t incarnations_of_comm(struct tasks *ts, const struct record *rec,
			      int64_t t, uint32_t slot, struct thread *gone);
#endif
