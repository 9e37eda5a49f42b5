/* jitted.h - finds the files with the names of jitted code: jitdump files and
 * perf-PID.map files, named by the user or found. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/tasks/jit.h"

struct mapped;
struct source;
struct stitch;
struct symbolizer;
struct err;
struct jitted;
struct ledger;

/* Where the files are; borrowed. */
struct jitted_ask {
	const char *const *dump; /* PID=FILE, or jit-PID.dump */
	const char *const *map;	 /* PID=FILE, perf-PID.map, or a folder */
	size_t n_dump, n_map;
	bool only;	   /* these only: others are not looked for */
	const char *symfs; /* others are below this folder; NULL: here */
};

/* Borrows ask and temp_dir. Returns NULL and *err if a file that is named
 * cannot be read. */
struct jitted *jitted_new(const struct jitted_ask *ask, struct ledger *lg,
			  const char *temp_dir, struct err *err);
/* To be called after stitch_free(), because the stitch borrows what was found.
 */
void jitted_free(struct jitted *jd);
/* Implements jit_find_fn; arg is the struct jitted. */
bool jitted_find(void *arg, const struct source *src, int32_t pid,
		 const struct rec_map *hint, struct jit **out);

/* ---- mappings of processes from files that the user names or that are
 * next to a capture. */

/* Reads n files, which are named as --maps does: PID=FILE, PID=FILE@SECONDS, or
 * a folder with PID.maps. Returns NULL and *err if one cannot be read. */
struct mapped *mapped_new(const char *const *given, size_t n, struct ledger *lg,
			  struct err *err);
/* To be called after stitch_free(). */
void mapped_free(struct mapped *md);
/* Passes the mappings of a source to the stitch: those that were given, then of
 * the folder 'maps' next to its capture, then of its own lists if files prove
 * their offsets. sy NULL: read no files. Returns 0, or -1 and *err. */
int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err);
