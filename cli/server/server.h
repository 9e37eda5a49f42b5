/* server.h - runs that are in a ClickHouse server, as a temporary database.
 *
 * The server adds up samples: only the sums and their stacks, names and counts
 * are fetched. Memory is bounded by the distinct stacks and names, not by
 * samples. Runs without a row in table run are incomplete, and are not read. */
#pragma once
#include "cli/server/server_detail.h"

struct err;
struct maker;
struct store;

/* Fetches the runs that `ask` and a condition after '#' in the URL choose, and
 * of these the samples that ask->filter selects. Returns the database, for
 * store_close(), or NULL and *err, never a part of the samples. */
struct store *server_open(const char *url, const struct server_ask *ask,
			  struct err *err);

/* Fetches the code that has no name in the server, of all runs, for
 * name_images(). Returns the maker of a database, or NULL and *err. */
struct maker *server_open_unnamed(const char *url,
				  const struct clickhouse_options *how,
				  struct err *err);
