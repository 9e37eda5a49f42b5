/* perfmap.h - reads perf-PID.map: names of code that a runtime generated, one a
 * line, "START SIZE name" (tools/perf/Documentation/jit-interface.txt in
 * Linux).
 *
 * Nothing tells when the code existed: where lines overlap, each of them may be
 * what ran.
 *
 * Nor does anything tell how to unwind it, but of CPython's trampolines, which
 * are all copies of one function, this is known. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct jit;
struct ledger;
struct perfmap;
struct source_info;

/* Returns NULL and *err if the file cannot be read or no line has that form.
 * Other lines are damage in the ledger. found: the path is not the user's word,
 * see input_open_named(). */
struct perfmap *perfmap_open(const char *path, bool found, const char *temp_dir,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err);
/* Reads a text in memory, which may be freed afterwards. */
struct perfmap *perfmap_text(const char *text, size_t len, const char *path,
			     const struct source_info *info, struct ledger *lg,
			     uint16_t capture, struct err *err);
void perfmap_close(struct perfmap *m);
/* The code, valid until perfmap_close(). */
struct jit *perfmap_jit(struct perfmap *m);
