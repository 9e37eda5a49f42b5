/* lock_names.c - which events begin to wait for a lock. */
#include "cli/ingest/lock_names.h"

#include "stitch/base/mem.h"
#include "stitch/source.h"
#include "tests/unit/run.h"

START_TEST(a_lock_is_one_by_any_recorders_name)
{
	static const char *const name[] = {
		"lock:contention_begin",
		"backstitch/lock:contention_begin",
		"lock:contention_begin/s=1/",
		"contention_begin",
		"lock:contention_end",
		"sched:sched_switch",
	};
	struct lock_names *l = lock_names_new();

	for (unsigned int i = 0; i < ARRAY_SIZE(name); i++)
		ck_assert_int_eq(lock_names_wants(l, i & 1, i,
						  &(struct event_def){
							  .name = name[i] }),
				 i < 4);
	lock_names_free(l);
}
END_TEST

START_TEST(a_type_of_events_is_asked_for_its_name_once)
{
	const struct event_def lock = { .name = "lock:contention_begin" };
	const struct event_def other = { .name = "lock:contention_end" };
	struct lock_names *l = lock_names_new();

	ck_assert(lock_names_wants(l, 0, 7, &lock));
	ck_assert(lock_names_wants(l, 0, 7, &other));
	ck_assert(!lock_names_wants(l, 0, 6, &other));
	/* of another capture it is another type */
	ck_assert(!lock_names_wants(l, 1, 7, &other));
	ck_assert(lock_names_wants(l, 0, 7, &other));
	lock_names_free(l);
}
END_TEST

RUN("lock_names", a_lock_is_one_by_any_recorders_name,
    a_type_of_events_is_asked_for_its_name_once)
