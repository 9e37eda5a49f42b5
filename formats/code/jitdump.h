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

struct perfmap;
struct err;
struct jit;
struct jitdump;
struct ledger;
struct source_info;

/* Reads the head of the file. Returns a jitdump for jitdump_close(), or NULL
 * and *err if it is not one. found: the path does not come from the user, see
 * input_open_named(). temp_dir: for a compressed file; NULL: /tmp. */
struct jitdump *jitdump_open(const char *path, bool found, const char *temp_dir,
			     struct err *err);
/* Reads the head of a jitdump in memory, which is borrowed. */
struct jitdump *jitdump_memory(const void *data, size_t len, const char *path,
			       struct err *err);
void jitdump_close(struct jitdump *d);
/* Returns the process that wrote the file, as numbered in its own pid
 * namespace. */
int32_t jitdump_pid(const struct jitdump *d);
/* Reads all records. Returns the code, owned by d. It gets times if the
 * capture's clock is the file's: CLOCK_MONOTONIC, or cycles that the capture
 * can convert. Damage is noted in the ledger, and everything before it is
 * used. */
struct jit *jitdump_read(struct jitdump *d, const struct source_info *info,
			 struct ledger *lg, uint16_t capture);

/* ---- reads perf-PID.map: names of code that a runtime generated, one a line,
 * "START SIZE name" (tools/perf/Documentation/jit-interface.txt in Linux).
 *
 * The lines have no times: where they overlap, each of them may be the code
 * that ran.
 *
 * They have no unwind information either; it is known only for CPython's
 * trampolines, which are all copies of one function. */

/* Returns the map, for perfmap_close(), or NULL and *err if the file cannot be
 * read or no line has that form. Other lines are damage in the ledger. found:
 * the path does not come from the user, see input_open_named(). */
struct perfmap *perfmap_open(const char *path, bool found, const char *temp_dir,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err);
/* perfmap_open() for a text in memory, which may be freed afterwards. */
struct perfmap *perfmap_text(const char *text, size_t len, const char *path,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err);
void perfmap_close(struct perfmap *m);
/* Returns the code, valid until perfmap_close(). */
struct jit *perfmap_jit(struct perfmap *m);
