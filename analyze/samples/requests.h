/* requests.h - what the requests of events say: which user half came later, and
 * what became of it. Read together with the events: a join takes twice as long.
 */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct requests;
struct err;
struct store;

struct request_row {
	int64_t uraw; /* of the raw chain, if joined */
	int64_t verdict, confidence, flags;
	int64_t ip; /* 0: not known, or not asked for */
	bool joined;
};

/* Returns the id of a row as it is kept; 0: none, as of a database from
 * elsewhere it may be anything. */
static inline uint32_t id_of_row(int64_t id)
{
	return id > 0 && id < INT32_MAX ? (uint32_t)id : 0;
}

/* Returns NULL and *err on failure. few: ip is not read. */
struct requests *requests_open(struct store *db, bool few, struct err *err);
void requests_close(struct requests *a); /* NULL is fine */
/* Returns 1 and *row if an event has a request, 0 if not, -1 and *err. Events
 * come by increasing ids. */
int requests_find(struct requests *a, int64_t event, struct request_row *row,
		  struct err *err);
