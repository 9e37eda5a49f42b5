/* jitdump.h - jit-PID.dump: code that a runtime made, with its bytes, lines
 * and the time of each piece (tools/perf/Documentation/jitdump-specification
 * in Linux).
 *
 * Call order: jitdump_open, jitdump_read once, close when the code is not
 * asked for any more: names and bytes are in the file. */
#ifndef FORMATS_CODE_JITDUMP_H
#define FORMATS_CODE_JITDUMP_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct jit;
struct jitdump;
struct ledger;
struct source_info;

/* Looks at the head of the file. NULL and *err: it is no such file. temp_dir:
 * for one that is packed; NULL: /tmp. */
struct jitdump *jitdump_open(const char *path, const char *temp_dir,
			     struct err *err);
/* The same of bytes in memory, which are borrowed. */
struct jitdump *jitdump_memory(const void *data, size_t len, const char *path,
			       struct err *err);
void jitdump_close(struct jitdump *d);
/* Of the process that wrote it, in its own pid namespace. */
int32_t jitdump_pid(const struct jitdump *d);
/* All records. Dated when the capture's clock is the file's: CLOCK_MONOTONIC,
 * or cycles that the capture can turn into its time. What is broken is damage
 * in the ledger, as far as it could be read it is used. */
struct jit *jitdump_read(struct jitdump *d, const struct source_info *info,
			 struct ledger *lg, uint16_t capture);
#endif
