/* perfmap.h - perf-PID.map: names of code that a runtime made, one a line,
 * "START SIZE name" (tools/perf/Documentation/jit-interface.txt in Linux).
 *
 * Nothing says when the code was there: where lines overlap, each of them may
 * be what ran. */
#ifndef FORMATS_CODE_PERFMAP_H
#define FORMATS_CODE_PERFMAP_H
#include <stddef.h>
#include <stdint.h>

struct err;
struct jit;
struct ledger;
struct perfmap;

/* NULL and *err: it cannot be read, or no line is of that form. Other lines
 * are damage in the ledger. */
struct perfmap *perfmap_open(const char *path, const char *temp_dir,
			     struct ledger *lg, uint16_t capture,
			     struct err *err);
/* The same of a text in memory, which may go then. */
struct perfmap *perfmap_text(const char *text, size_t len, const char *path,
			     struct ledger *lg, uint16_t capture,
			     struct err *err);
void perfmap_close(struct perfmap *m);
/* Holds until it is closed. */
struct jit *perfmap_jit(struct perfmap *m);
#endif
