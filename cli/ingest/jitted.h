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
	bool only;	   /* only these: others are not looked for */
	const char *symfs; /* below it are the others; NULL: below / */
};

/* Borrows all arguments. Returns NULL and *err if a file that the user names
 * cannot be read. */
struct jitted *jitted_new(const struct jitted_ask *ask, struct ledger *lg,
			  const char *temp_dir, struct err *err);
/* Call it after stitch_free(), because the stitch borrows what was found. */
void jitted_free(struct jitted *jd);
/* Implements jit_find_fn; arg is the struct jitted. */
bool jitted_find(void *arg, const struct source *src, int32_t pid,
		 const struct rec_map *hint, struct jit **out);

/* Reads n files with mappings of processes, named as for --maps: PID=FILE,
 * PID=FILE@SECONDS, or a folder with PID.maps. Returns NULL and *err if one
 * cannot be read. */
struct mapped *mapped_new(const char *const *given, size_t n, struct ledger *lg,
			  struct err *err);
/* Call it after stitch_free(). */
void mapped_free(struct mapped *md);
/* Passes the mappings of a source to the stitch: given ones, then those of the
 * folder 'maps' in its capture, then those of its own lists for which files
 * prove the offsets. sy NULL: read no files. Returns 0, or -1 and *err. */
int mapped_add(struct mapped *md, struct stitch *st, const struct source *src,
	       const struct symbolizer *sy, struct err *err);
