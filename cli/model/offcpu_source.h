/* offcpu_source.h - the events of the scheduler in one database, capture by
 * capture, in time order. */
#ifndef CLI_MODEL_OFFCPU_SOURCE_H
#define CLI_MODEL_OFFCPU_SOURCE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/model/offcpu.h"

enum offcpu_role {
	OFFCPU_NONE,
	OFFCPU_SWITCH, /* sched_switch: one leaves, one comes */
	OFFCPU_RECORD, /* PERF_RECORD_SWITCH: one of the two */
	OFFCPU_WAKING,
	OFFCPU_WAKEUP,
	OFFCPU_STACK, /* a sample of a switch, for the record behind it */
};

struct offcpu_event {
	enum offcpu_role role;
	int64_t id, time;
	struct offcpu_stack stack;
	bool has_out, has_in;
	int64_t out, in; /* tids: who leaves, who comes or is woken */
	int64_t state;	 /* of the one that leaves; -1: not known */
	bool chosen;	 /* the filters let it through */
};

struct offcpu_source;
struct offcpu_sources;

/* What there is; NULL and *err when nothing tells of switches. */
struct offcpu_sources *offcpu_sources_load(struct store *db, const char *path,
					   struct err *err);
void offcpu_sources_free(struct offcpu_sources *s);
/* Captures of different kernels; of one kernel the first is enough. */
size_t offcpu_sources_count(const struct offcpu_sources *s);
/* Says in sums what the capture has, and lost. */
struct offcpu_source *offcpu_source_open(struct offcpu_sources *s, size_t i,
					 struct offcpu_sums *sums,
					 struct err *err);
void offcpu_source_close(struct offcpu_source *s);
/* 1 one more, 0 the end, -1 an error. */
int offcpu_source_next(struct offcpu_source *s, struct offcpu_event *e,
		       struct err *err);
/* Could a switch in this time have been lost? */
bool offcpu_source_lost(const struct offcpu_source *s, int64_t from,
			int64_t to);
/* When the capture ended. */
int64_t offcpu_source_end(const struct offcpu_source *s);
#endif
