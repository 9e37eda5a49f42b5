/* trace_clock.h - the file trace_clock of tracefs. */
#pragma once
#include "formats/reader/scan.h"

/* Returns the clock that is in brackets in "[local] global counter ..."; empty:
 * none is. */
struct scan trace_clock_chosen(struct scan s);
/* Returns the name that captures of all formats have for a clock of ftrace. */
const char *trace_clock_name(const char *name);
