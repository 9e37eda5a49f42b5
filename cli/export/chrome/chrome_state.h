/* chrome_state.h - state of the tracks of a Chrome trace, shared by
 * chrome_tracks.c, which names them, and chrome_slices.c, which fills them. */
#ifndef CLI_EXPORT_CHROME_CHROME_STATE_H
#define CLI_EXPORT_CHROME_CHROME_STATE_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"

struct events;
struct json;

#define KERNELS_MAX 256

struct track {
	int64_t pid, tid, from,
		to; /* lifetime; INT64_MIN, INT64_MAX: not known */
	uint32_t process, kernel; /* kernel: index in tracks.kernel */
	uint32_t same;		  /* the next thread with this tid; 0: none */
	uint32_t comm;		  /* the last one; 0: none */
	uint32_t cpu; /* index in cpu[] + 1 of the CPU it runs on; 0: none */
	size_t slice; /* number of its current slice */
	const char *name; /* of a thread that only switches name */
	bool named, wanted, drawn;
};

struct cpu {
	uint32_t kernel;
	int64_t cpu;
	uint32_t thread; /* running thread; 0: none, or idle */
	bool named;
};

struct kernel {
	uint32_t capture; /* its first capture */
	int wide; /* 1: all threads were recorded, 0: not all, -1: not known */
	uint64_t torn; /* slices without a recorded end */
	int64_t last;  /* time of the last event; INT64_MAX not known */
	bool ended;
};

struct tracks {
	struct json *j;
	struct events *events;
	struct track *track; /* by thread.id; [0]: events without a thread */
	size_t n_track, cap_track;
	struct table by_tid;
	struct cpu *cpu;
	size_t n_cpu, cap_cpu;
	struct table by_cpu;
	struct kernel kernel[KERNELS_MAX];
	size_t n_kernel;
	bool finding; /* first pass: find slices with both ends, draw nothing */
	uint64_t *whole; /* bits: slices with both ends, by number */
	size_t n_whole, cap_whole, n_slice;
	int64_t due; /* time of the next end of a kernel */
	struct arena text;
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
#endif
