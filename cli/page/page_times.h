/* page_times.h - when that happened which the page's tables count, so that they
 * can count what is within a range of time.
 *
 * page_times_load() once, then _meta and _write. The block "times" has for each
 * item of requests, chains, losses and findings, nearly in order of time: its
 * key * 4, + 1 if it has an end of its own, + 2 if it stands for another number
 * than 1; zigzag of time's difference to the item before (0: not known, else
 * 1 + bins since t0); the end likewise, as a plain number; the number. */
#pragma once
#include <stdint.h>
#include <stdio.h>

struct err;
struct json;
struct page_times;
struct store;

/* bin_of gives the bin of a time. Returns an object to be freed, or NULL and
 * *err. */
struct page_times *page_times_load(struct store *db,
				   uint64_t (*bin_of)(const void *arg,
						      int64_t time),
				   const void *arg, struct err *err);
void page_times_free(struct page_times *t);
/* Writes the texts of the keys: the table and its cells, with '|' between, and
 * the number of items. */
void page_times_meta(const struct page_times *t, struct json *j);
void page_times_write(const struct page_times *t, FILE *out);
