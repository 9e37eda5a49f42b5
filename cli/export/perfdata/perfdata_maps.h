/* perfdata_maps.h - mappings as a reader of a perf.data file sees them.
 *
 * The mappings of the database are written at their times. Before a sample is
 * written, each of its frames is looked up as the reader will do it. If that
 * finds other code (jitted code that was replaced, code of the program before
 * an exec), a mapping that corrects it is written. */
#pragma once
#include <stdbool.h>

#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/tasks/space.h"

struct err;
struct pd_places;
struct perfdata;

struct pd_row {
	struct region r;	/* t0 PD_START: from the start on */
	uint32_t process, next; /* process.id, 0: the kernel; its next one */
};

/* Read only. */
struct pd_maps {
	struct pd_row *row;
	size_t n_row, cap_row;
	/* For perfdata_maps.c. */
	struct perfdata *pd;
	struct pd_places *places;
	uint32_t *first; /* row of a process */
	size_t n_first, cap_first;
	struct space *space;
	size_t n_space, cap_space;
	struct table by_chain; /* (space, chain): checked */
	uint32_t *checked;     /* the generation of a space that a chain was
				* checked against */
	size_t n_checked, cap_checked;
	bool *own_id; /* by image: another image has the same path */
};

/* Returns NULL and *err on failure. */
struct pd_maps *pd_maps_new(struct perfdata *pd, struct pd_places *places,
			    struct err *err);
void pd_maps_free(struct pd_maps *m);

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
