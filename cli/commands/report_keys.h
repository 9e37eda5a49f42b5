/* report_keys.h - what --sort and --limit of report and its like ask for. */
#ifndef CLI_COMMANDS_REPORT_KEYS_H
#define CLI_COMMANDS_REPORT_KEYS_H
#include <stdbool.h>
#include <stddef.h>

struct err;
struct report_opts;

/* Stores the keys that --sort names (NULL: sym,dso), and its field. Returns 0,
 * or -1 and *err. */
int report_take_keys(struct report_opts *o, const char *sort, struct err *err);
/* Returns how many rows --limit asks for; NUMBER_UNSET: a table on a terminal
 * fills one screen. */
size_t report_limit(long limit, const char *format);
/* Returns what the groups of a server have to tell apart for these keys. */
unsigned int report_detail(unsigned int keys);
/* Returns -1 and *err if inlined functions are to be left out (not `inlined`)
 * and to have rows. */
int report_check_inlined(bool inlined, bool rows, struct err *err);
#endif
