/* jitdump.h - reads jit-PID.dump: code that a runtime generated, with its
 * bytes, lines and the time of each piece
 * (tools/perf/Documentation/jitdump-specification in Linux).
 *
 * Call order: jitdump_open(), jitdump_read() once, jitdump_close() after the
 * last use of the code: its names and bytes are in the file. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct jit;
struct jitdump;
struct ledger;
struct source_info;

/* Reads the head of the file. Returns NULL and *err if it is not a jitdump.
 * found: the path is not the user's word, see input_open_named(). temp_dir: for
 * a compressed file; NULL: /tmp. */
struct jitdump *jitdump_open(const char *path, bool found, const char *temp_dir,
			     struct err *err);
/* Reads the head of a jitdump in memory, which is borrowed. */
struct jitdump *jitdump_memory(const void *data, size_t len, const char *path,
			       struct err *err);
void jitdump_close(struct jitdump *d);
/* The process that wrote the file, in its own pid namespace. */
int32_t jitdump_pid(const struct jitdump *d);
/* Reads all records. The code is dated if the capture's clock is the file's:
 * CLOCK_MONOTONIC, or cycles that the capture can convert to its time. Damage
 * is noted in the ledger; everything before it is used. */
struct jit *jitdump_read(struct jitdump *d, const struct source_info *info,
			 struct ledger *lg, uint16_t capture);
