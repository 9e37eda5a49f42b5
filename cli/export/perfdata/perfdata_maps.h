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
struct known_code;
struct image;
struct region;

/* A frame has its recorded address. Words about a stack, such as
 * [user: chain_lost], and code that is known only by name get addresses that
 * are far from all recorded ones. */

/* A symbol of the kernel that the file itself must name. */
struct pd_symbol {
	uint64_t start;
	uint32_t len;
	const char *name;
};

/* Read only. */
struct pd_places {
	struct pd_symbol *symbol; /* those that the file must have, by start */
	size_t n_symbol, cap_symbol;
	bool *named; /* by image: symbols of it are in the file */
	/* For perfdata_maps.c. */
	const struct known_code *code;
	uint64_t *ip;
	size_t cap_ip;
	uint64_t mark_at;
	struct image *mark;
	size_t n_mark, cap_mark;
	struct table by_start, by_key; /* symbols; symbols without an address */
	uint32_t n_key;
	struct arena text;
};

/* Borrows code. */
struct pd_places *pd_places_new(const struct known_code *code);
void pd_places_free(struct pd_places *p);

/* Returns the addresses of a chain, valid until the next call. user_mask: for a
 * user half; all ones for a kernel half. */
const uint64_t *pd_places_chain(struct pd_places *p, uint32_t raw,
				uint64_t user_mask, size_t *n);
/* Returns the address of "[user: WORD]", and stores what must be mapped there.
 */
uint64_t pd_places_mark(struct pd_places *p, const char *word);

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
