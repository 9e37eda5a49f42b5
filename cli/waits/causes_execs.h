/* causes_execs.h - when threads called exec, which may change their tids. */
#pragma once
struct causes_names;
struct causes_types;
struct err;
struct store;
struct timeline;

/* Tells the timeline, which has no records so far. ts and names are borrowed as
 * long as it takes records. Returns 0, or -1 and *err. */
int causes_execs_load(struct timeline *t, struct store *db,
		      const struct causes_types *ts, struct causes_names *names,
		      struct err *err);
