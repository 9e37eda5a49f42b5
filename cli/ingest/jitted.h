/* jitted.h - where the names of code are that processes made themselves:
 * jitdump files and perf-PID.map files, given by the user or found. */
#ifndef CLI_INGEST_JITTED_H
#define CLI_INGEST_JITTED_H
#include <stdbool.h>
#include <stdint.h>

#include "cli/command.h"
#include "stitch/tasks/jit.h"

struct err;
struct jitted;
struct ledger;

/* --jitdump --perf-map --no-jit */
extern const struct opt jitted_opts[];

/* NULL and *err: a file that the options name is not to be had. temp_dir is
 * borrowed. */
struct jitted *jitted_new(struct ledger *lg, const char *temp_dir,
			  struct err *err);
/* After the stitch and what it has stored. */
void jitted_free(struct jitted *jd);
/* A jit_find_fn; arg: struct jitted. */
bool jitted_find(void *arg, const struct source *src, int32_t pid,
		 const struct rec_map *hint, struct jit **out);
#endif
