/* ledger.h - what was skipped, lost, late or broken: no loss without a row.
 *
 * Readers, order and join put entries in; the store takes them out and writes
 * one row each. Entries of one kind about one place are folded together by
 * the caller's count, so that a hostile file cannot fill the memory: after
 * LEDGER_MAX entries of one kind the rest is only counted (one last entry). */
#ifndef STITCH_BASE_LEDGER_H
#define STITCH_BASE_LEDGER_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LEDGER_MAX 100000

enum ledger_kind {
	LEDGER_DAMAGE,	/* bytes that could not be read: exit status 3 */
	LEDGER_SKIPPED, /* well-formed, but of a kind we do not decode */
	LEDGER_LOSS,	/* the recorder says that records were dropped */
	LEDGER_ORDER,	/* a broken promise about time order */
	LEDGER_NOTE,	/* worth saying, nothing is missing */
	LEDGER_KINDS
};

struct ledger_entry {
	enum ledger_kind kind;
	uint16_t capture;   /* index of the source, as in struct source */
	const char *what;   /* a fixed word: "truncated", "lost", "late", ... */
	const char *detail; /* may be NULL; owned by the ledger */
	uint64_t off, len;  /* place in the file; len 0: not known. Of a SKIPPED
			     * entry len is the key: the record type, ... */
	uint64_t t0, t1;    /* ns; an interval (t0, t1]; 0,0: not known. Of
			     * DAMAGE: where the records were */
	uint64_t n;	    /* how many records, bytes, ...; LOSS: 0 is "not
			     * known" */
	int32_t cpu;	    /* -1: not known */
	int32_t event;	    /* index in the source's events; -1: not known */
	bool counts;	    /* LOSS: adds to the number of records lost, and
			     * is not a second telling of the same drops */
	bool on_line;	    /* t0, t1 are on the timeline already */
	uint32_t id;	    /* LOSS: number of its row; set by ledger_add() */
};

struct clock_map;
struct ledger;

struct ledger *ledger_new(void);
void ledger_free(struct ledger *lg);
/* How times that a capture's reader notes get onto the timeline, from now on;
 * by itself they are. Copies *map. */
void ledger_align(struct ledger *lg, uint16_t capture,
		  const struct clock_map *map);
/* Copies *e, detail too. ledger NULL is allowed: nobody wants to know. Gives
 * the number of a LOSS (1, 2, ...; those after LEDGER_MAX share the one after),
 * else 0. */
uint32_t ledger_add(struct ledger *lg, const struct ledger_entry *e);
/* Was a part of this capture unreadable? */
bool ledger_damaged(const struct ledger *lg, uint16_t capture);

/* Which records of a capture may be missing because of damage. */
struct ledger_broken {
	const uint64_t *time; /* of those that could not be decoded */
	size_t n;
	bool end;      /* all from some place in a file to its end */
	bool anywhere; /* some of which nothing is known, or too many */
};
/* False: none; damage to names and fields takes no record away. Borrowed
 * until the next entry is added. */
bool ledger_broken(const struct ledger *lg, uint16_t capture,
		   struct ledger_broken *out);
/* DAMAGE in the words of an error: what = a fixed word, detail = err->msg. */
struct err;
void ledger_damage(struct ledger *lg, uint16_t capture, const char *what,
		   uint64_t off, uint64_t len, const struct err *err);
/* A NOTE about the capture as a whole. */
void ledger_note(struct ledger *lg, uint16_t capture, const char *what,
		 const char *detail);
/* SKIPPED, counted per (capture, what, key): one entry each, at the end. */
void ledger_skip(struct ledger *lg, uint16_t capture, const char *what,
		 uint64_t key, uint64_t off);
/* Entries in the order they were added: 1 and *e (borrowed until the next
 * ledger_add), 0 when all were taken. Skips come only after ledger_end(). */
int ledger_take(struct ledger *lg, struct ledger_entry *e);
void ledger_end(struct ledger *lg);
/* Sum of n over all entries of a kind ever added; number of entries. */
uint64_t ledger_sum(const struct ledger *lg, enum ledger_kind kind);
uint64_t ledger_count(const struct ledger *lg, enum ledger_kind kind);
#endif
