/* report_offcpu.h - tables of the time that threads were off the CPU. */
#ifndef CLI_TABLES_REPORT_OFFCPU_H
#define CLI_TABLES_REPORT_OFFCPU_H
#include <stdbool.h>
#include <stddef.h>

struct err;
struct store;

/* report --off-cpu: the sums of each thread and the longest waits, `limit` of
 * both. format: "table", "csv" (threads only), "json". -1 and *err. */
int report_offcpu(struct store *db, const char *path, const char *format,
		  size_t limit, bool inlined, struct err *err);
#endif
