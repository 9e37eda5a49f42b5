/* server.h - runs that are in a ClickHouse server, as a temporary database.
 *
 * The server adds up samples; only the sums are fetched, and the stacks, names
 * and counts that belong to them. Memory is bounded by the distinct stacks and
 * names, not by samples. Runs without a row in table run are not complete yet,
 * and are not read. */
#pragma once
#include "cli/server/server_detail.h"

struct err;
struct maker;
struct store;

/* Fetches the runs that a condition after '#' in the URL and what is asked for
 * choose, and of these the samples that the filter selects. Returns the
 * database, for store_close(), or NULL and *err: never a part of what was asked
 * for. */
struct store *server_open(const char *url, const struct server_ask *ask,
			  struct err *err);

/* Fetches the code of all runs that has no name in the server, for
 * name_images(). Returns the maker of a database, or NULL and
 * *err. */
struct maker *server_open_unnamed(const char *url,
				  const struct clickhouse_options *how,
				  struct err *err);
