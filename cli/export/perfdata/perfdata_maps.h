/* perfdata_maps.h - mappings as a reader of a perf.data file sees them.
 *
 * The mappings of the database are written at their times. Before a sample is
 * written, each of its frames is looked up as the reader will do it. If that
 * finds other code (jitted code that was replaced, code of the program before
 * an exec), a mapping that corrects it is written. */
#pragma once
#include <stdint.h>

struct err;
struct pd_maps;
struct pd_places;
struct perfdata;

/* fn is called with the time of each mapping. Returns NULL and *err on failure.
 */
typedef void pd_maps_fn(void *arg, int64_t time, uint32_t row);
struct pd_maps *pd_maps_new(struct perfdata *pd, struct pd_places *places,
			    struct err *err);
void pd_maps_free(struct pd_maps *m);
void pd_maps_each(const struct pd_maps *m, pd_maps_fn *fn, void *arg);
/* Returns the process.id of a mapping; 0: the kernel. */
uint32_t pd_maps_process(const struct pd_maps *m, uint32_t row);

/* Writes a mapping. A space is the number, 0 and up, of what a reader knows
 * under one process id. */
void pd_maps_row(struct pd_maps *m, uint32_t row, uint32_t space, int64_t pid,
		 int64_t time);
void pd_maps_fork(struct pd_maps *m, uint32_t child, uint32_t parent);
void pd_maps_exec(struct pd_maps *m, uint32_t space);
/* Writes the kernel code that the file must name. */
void pd_maps_symbols(struct pd_maps *m);

/* The process of a sample (process.id; 0: not known). */
struct pd_who {
	uint32_t space, process;
	int64_t pid, tid, time; /* tid: for the mappings that are written */
	uint64_t user_mask;
};
void pd_maps_chain(struct pd_maps *m, uint32_t raw, const struct pd_who *who);
void pd_maps_mark(struct pd_maps *m, uint64_t addr, const struct pd_who *who);
