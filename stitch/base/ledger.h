/* ledger.h - records everything that was skipped, lost, late or damaged.
 *
 * Readers, order and join add entries; the store takes them and writes a row
 * for each. To bound memory in hostile files, callers merge entries about one
 * place into one with a count, and after LEDGER_MAX entries of a kind the
 * ledger only counts the others and adds one last entry for them. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEDGER_MAX 100000

enum ledger_kind {
	LEDGER_DAMAGE,	/* bytes that could not be read: exit status 3 */
	LEDGER_SKIPPED, /* well-formed, but of a kind that is not decoded */
	LEDGER_LOSS,	/* the recorder reports dropped records */
	LEDGER_ORDER,	/* a record or source broke the time order */
	LEDGER_NOTE,	/* information; nothing is missing */
	LEDGER_KINDS
};

struct ledger_entry {
	enum ledger_kind kind;
	uint16_t capture;   /* index of the source, as in struct source */
	const char *what;   /* a fixed word: "truncated", "lost", "late", ... */
	const char *detail; /* may be NULL; owned by the ledger */
	uint64_t off,
		len; /* place in the file; len 0: unknown. For LEDGER_SKIPPED,
		      * len is the key: the record type, ... */
	uint64_t t0, t1; /* ns, the interval (t0, t1]; 0, 0: unknown. For
			  * LEDGER_DAMAGE: the time of the damaged records */
	uint64_t n;	 /* number of records, bytes, ...; LEDGER_LOSS: 0 means
			  * unknown */
	int32_t cpu;	 /* -1: unknown */
	int32_t event;	 /* index in the source's events; -1: unknown */
	bool counts;	 /* LEDGER_LOSS: n adds to the number of lost records;
			  * false if another entry already counts the same drops */
	bool on_line;	 /* t0 and t1 are already on the timeline */
	uint32_t id; /* LEDGER_LOSS: number of its row; set by ledger_add() */
};

struct clock_map;
struct ledger;

struct ledger *ledger_new(void);
void ledger_free(struct ledger *lg);
/* From now on, converts the times in a capture's entries with *map, which is
 * copied. Without a map, times are stored unchanged. */
void ledger_align(struct ledger *lg, uint16_t capture,
		  const struct clock_map *map);
/* Adds a copy of *e, with its detail. Does nothing if lg is NULL. Returns the
 * number of a LEDGER_LOSS entry (1, 2, ...; all after LEDGER_MAX get LEDGER_MAX
 * + 1), else 0. */
uint32_t ledger_add(struct ledger *lg, const struct ledger_entry *e);
/* Returns true if a part of the capture could not be read. */
bool ledger_damaged(const struct ledger *lg, uint16_t capture);

/* The records of a capture that may be missing because of damage. */
struct ledger_broken {
	const uint64_t *time; /* times of records that could not be decoded */
	size_t n;
	bool end;      /* everything from some place in a file to its end */
	bool anywhere; /* records whose time is unknown, or too many records */
};
/* Returns false if no record is missing; damage to names or fields removes no
 * record. out->time is borrowed until the next entry is added. */
bool ledger_broken(const struct ledger *lg, uint16_t capture,
		   struct ledger_broken *out);
/* Returns whether damage of this kind is in a file next to the capture, which
 * has only names: the capture itself is complete. */
bool ledger_is_adjacent(const char *what);
/* Adds a LEDGER_DAMAGE entry with err->msg as detail. what is a fixed word. */
struct err;
void ledger_damage(struct ledger *lg, uint16_t capture, const char *what,
		   uint64_t off, uint64_t len, const struct err *err);
/* Adds a LEDGER_NOTE entry about the whole capture. */
void ledger_note(struct ledger *lg, uint16_t capture, const char *what,
		 const char *detail);
/* Adds a LEDGER_NOTE that n items were left out; n 0: does nothing. */
void ledger_left_out(struct ledger *lg, uint16_t capture, const char *what,
		     const char *detail, uint64_t n);
/* Counts one LEDGER_SKIPPED item. ledger_end() adds one entry for each
 * (capture, what, key). says: a description and its meaning; borrowed, may be
 * NULL. */
void ledger_skip(struct ledger *lg, uint16_t capture, const char *what,
		 uint64_t key, uint64_t off, const char *says);
/* Takes the next entry, in the order of ledger_add(). Returns 1 and *e, which
 * is borrowed until the next ledger_add(), or 0 if all were taken. Skipped
 * items follow after ledger_end(). */
int ledger_take(struct ledger *lg, struct ledger_entry *e);
/* Sets the function that ledger_add() calls when many entries wait to be taken:
 * a file with only damage has no record after which they would be taken. */
void ledger_when_many(struct ledger *lg, void (*fn)(void *arg), void *arg);
/* Sets a function that returns the text to store for a detail, borrowed until
 * its next call. */
void ledger_reword(struct ledger *lg, const char *(*fn)(void *, const char *),
		   void *arg);
void ledger_end(struct ledger *lg);
/* Returns a queue, which keeps the calls of ledger_add() (it returns 0) and
 * ledger_skip() in their order, for a thread whose entries must wait. To bound
 * memory, a call that only adds to a sum is merged with an earlier one for the
 * same sum. All calls kept by this queue and those it was swapped with count
 * for the limits, as they reach one ledger. */
struct ledger *ledger_new_queue(void);
/* Returns the number of calls in a queue. */
size_t ledger_queued(const struct ledger *queue);
/* Repeats the queue's calls up to number n on `to`, except those already
 * repeated. */
void ledger_pass(struct ledger *queue, struct ledger *to, size_t n);
/* Swaps the contents of two queues, then empties b. */
void ledger_swap(struct ledger *a, struct ledger *b);

/* Returns the number of all entries of a kind ever added. */
uint64_t ledger_count(const struct ledger *lg, enum ledger_kind kind);

/* Adds n to a sum of counts from captures, which stays at UINT64_MAX instead of
 * wrapping. */
static inline void ledger_add_up(uint64_t *sum, uint64_t n)
{
	if (__builtin_add_overflow(*sum, n, sum))
		*sum = UINT64_MAX;
}
