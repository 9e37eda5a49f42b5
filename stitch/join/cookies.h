/* cookies.h - a table of cookies, with what the join knows about each.
 *
 * An entry is a cookie of one thread in a line of captures (sessions.h). The
 * entries of one (cookie, line) form a list whose head is in a bucket; the
 * others are found by (cookie, line, tid). A kernel gives a cookie to one
 * thread only, so the list nearly always has one entry. All calls are O(1).
 * Pointers are valid until the next cookies_new(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"
#include "stitch/verdict.h"
#include "stitch/base/table.h"

struct cookie_entry {
	uint64_t cookie;
	uint64_t hash; /* cookie_key.hash */
	uint16_t line;
	bool nonce;
	int32_t tid;
	uint64_t asked_by, chain_by; /* sets of captures: with samples, with
				      * the chain */
	uint32_t thread, process; /* row ids of the last sample; 0: unknown */
	uint64_t asked;	  /* nonces: time of the request, as unwinders.now */
	bool in_unwinder; /* nonces: requested while an earlier request was
			   * answered */
	uint32_t newer, older; /* list of the same cookie; 0: none. The head
				* has older 0 */
	uint32_t beside;       /* the next head of its bucket; 0: none */
	/* Samples without a verdict. Once there is a chain: samples of captures
	 * that may still bring it too. 0: none. */
	uint32_t first, last;
	uint32_t n_events; /* number of samples that got the chain */
	bool has_chain, has_mark;
	bool sealed; /* later records do not find this entry */
	bool listed; /* it is in a list of cookies_list(), between these
		      * entries; 0: none */
	uint32_t before_it, behind_it;
	struct join_chain chain;
	uint32_t chain_execs;
	int64_t sample_time;  /* time of the first sample */
	int64_t last_time;    /* time of the last sample */
	int64_t before;	      /* time when its thread was last seen before this
			       * cookie */
	enum request_end end; /* what closed it; 0: still open */
	int64_t closed_at;    /* time when it was closed */
	int32_t closed_cpu;   /* CPU of the record that closed it; -1 */
	int32_t first_cpu;    /* CPU of its first record; -1 */
	int64_t first_time;   /* time of that; TIME_NONE */
};

struct cookies {
	struct cookie_entry *entry; /* [0] is unused */
	size_t n, cap;
	uint32_t free;
	/* By hash: the first head of each bucket; 0: none. At least 4 buckets
	 * for each head. Each request adds and removes a head, and removal from
	 * a struct table moves others, which took 3 % of an ingest with many
	 * requests. */
	uint32_t *bucket;
	size_t n_bucket, n_head; /* n_bucket: a power of two */
	struct table by_tid;	 /* all other entries */
};

void cookies_init(struct cookies *cs);
void cookies_release(struct cookies *cs);

struct cookie_key {
	uint64_t cookie;
	int32_t tid;
	uint16_t line;
	bool nonce;
	uint64_t hash; /* hash of all other members but the tid */
};

struct cookie_key cookie_key_of(uint64_t cookie, int32_t tid, uint16_t line,
				bool nonce);
/* Returns the entry of a sample or chain, or 0. tid -1: the cookie alone
 * decides. */
uint32_t cookies_find(const struct cookies *cs, const struct cookie_key *key);
uint32_t cookies_new(struct cookies *cs, const struct cookie_key *key);
void cookies_drop(struct cookies *cs, uint32_t i);
/* Hides entry i from later records, as its cookie is used again. */
void cookies_seal(struct cookies *cs, uint32_t i);
/* Entries in the order in which they were added. 0: none. */
struct cookie_list {
	uint32_t first, last;
	size_t n;
};

/* Add entry i, which is in no list, at the end; remove it from any place. */
void cookies_list(struct cookies *cs, struct cookie_list *l, uint32_t i);
void cookies_unlist(struct cookies *cs, struct cookie_list *l, uint32_t i);
/* Prefetches entry i. */
static inline void cookies_prefetch(const struct cookies *cs, uint32_t i)
{
	const char *p = (const char *)&cs->entry[i];

	for (size_t k = 0; k < sizeof(*cs->entry); k += 64)
		__builtin_prefetch(p + k);
}
/* Sets the tid of an entry whose sample did not know its thread. */
void cookies_set_tid(struct cookies *cs, uint32_t i, int32_t tid);
