/* event_rates.h - how often each event of a trace came, and when. */
#pragma once
#include <stddef.h>

struct err;
struct store;

/* Prints a row for each event, the most frequent first, `limit` of them.
 * Returns 0, or -1 and *err. */
int event_rates_print(struct store *db, size_t limit, struct err *err);
