/* chrome_state.h - state of the tracks of a Chrome trace, shared by
 * chrome_tracks.c, which names them, and chrome_slices.c, which fills them. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct events;
struct filter;
struct json;

#define KERNELS_MAX 256

struct track {
	int64_t pid, tid, from,
		to; /* lifetime; INT64_MIN, INT64_MAX: not known */
	uint32_t process, kernel; /* kernel: index in tracks.kernel */
	uint32_t same;		  /* the next thread with this tid; 0: none */
	uint32_t comm;		  /* the last one; 0: none */
	bool named, wanted;
};

struct cpu {
	uint32_t kernel;
	int64_t cpu;
	bool named;
};

struct tracks {
	struct json *j;
	struct events *events;
	const struct filter *filter; /* which tracks */
	struct track *track; /* by thread.id; [0]: events without a thread */
	size_t n_track, cap_track;
	struct table by_tid;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct table by_cpu;
	uint32_t kernel[KERNELS_MAX]; /* their first captures */
	size_t n_kernel;
	uint32_t *of_capture; /* capture.id -> index in kernel[] */
	size_t n_capture, cap_capture;
	uint32_t *leader; /* process.id -> comm.id that names it */
	size_t n_leader, cap_leader;
	bool *named; /* by process: its name was written */
};

/* Returns the newest thread with that tid, of any kernel; 0: none. */
uint32_t tracks_find_tid(const struct tracks *t, int64_t tid);
/* Adds or replaces track[id], which becomes the newest of its tid. */
void tracks_put(struct tracks *t, uint32_t id, const struct track *k);
const char *tracks_name(const struct tracks *t, const struct track *k);
/* Returns the index in cpu[] of a CPU, which is added if it is new. */
uint32_t tracks_find_cpu(struct tracks *t, uint32_t capture, int64_t cpu);
/* Like tracks_begin_thread() and tracks_begin_cpu(), by index. */
void tracks_thread(struct tracks *t, uint32_t id);
void tracks_cpu(struct tracks *t, uint32_t id);
