/* cookies.h - the cookies that the join knows of, and what it knows of each.
 *
 * An entry is one cookie of one thread in a line of captures (sessions.h).
 * Entries of one (cookie, line) form a list whose head is in the table
 * by_cookie; kernels give a cookie to one thread only, so that it is mostly
 * the head alone. The others are found by (cookie, line, tid). All calls are
 * O(1); pointers hold until the next cookies_new(). */
#ifndef STITCH_JOIN_COOKIES_H
#define STITCH_JOIN_COOKIES_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/join/join_data.h"
#include "stitch/verdict.h"
#include "stitch/base/table.h"

struct cookie_entry {
	uint64_t cookie;
	uint16_t line;
	bool nonce;
	int32_t tid;
	uint64_t asked_by, told_by; /* captures with its samples, its chain */
	uint32_t thread, process;   /* row ids of the last sample's; 0 */
	uint64_t asked;		    /* nonces: when, by unwinders_tick() */
	bool in_unwinder; /* nonces: asked while an earlier one was served */
	uint32_t newer, older; /* of the same cookie; 0: none. Head: older 0 */
	/* Samples without a verdict; once there is a chain: those of captures
	 * that may still have it too. 0: none. */
	uint32_t first, last;
	uint32_t n_events; /* samples that got the chain */
	bool has_chain, has_mark;
	struct join_chain chain;
	uint32_t chain_execs;
	int64_t sample_time;  /* of the first sample */
	int64_t last_time;    /* of the last one */
	int64_t before;	      /* when its thread was last seen before */
	enum request_end end; /* what closed it; 0: still open */
	int64_t closed_at;    /* when */
};

struct cookies {
	struct cookie_entry *entry; /* [0] is not used */
	size_t n, cap;
	uint32_t free;
	struct table by_cookie, by_tid; /* heads; all others */
};

void cookies_init(struct cookies *cs);
void cookies_release(struct cookies *cs);

struct cookie_key {
	uint64_t cookie;
	int32_t tid;
	uint16_t line;
	bool nonce;
};

/* The entry of a sample or chain, 0: none. tid -1: the cookie decides. */
uint32_t cookies_find(const struct cookies *cs, const struct cookie_key *key);
uint32_t cookies_new(struct cookies *cs, const struct cookie_key *key);
void cookies_drop(struct cookies *cs, uint32_t i);
/* The sample did not know whose it is, the chain does. */
void cookies_set_tid(struct cookies *cs, uint32_t i, int32_t tid);
#endif
