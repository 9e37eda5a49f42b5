/* jitted.h - finds the files with the names of jitted code: jitdump files and
 * perf-PID.map files, named by the user or found. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

#include "cli/args/command.h"
#include "stitch/tasks/jit.h"

struct jitted;
struct ledger;

/* --jitdump --perf-map --no-jit */
extern const struct opt jitted_opts[];

/* Borrows temp_dir. Returns NULL and *err if a file that the options name
 * cannot be read. */
struct jitted *jitted_new(struct ledger *lg, const char *temp_dir,
			  struct err *err);
/* To be called after stitch_free(), because the stitch borrows what was found.
 */
void jitted_free(struct jitted *jd);
/* Implements jit_find_fn; arg is the struct jitted. */
bool jitted_find(void *arg, const struct source *src, int32_t pid,
		 const struct rec_map *hint, struct jit **out);
