/* excuse.h - why a sample has no chain, or a chain no sample, and the evidence:
 * formats.md C.5 and C.6. Asked once all is known that ever will be. */
#ifndef STITCH_EXCUSE_H
#define STITCH_EXCUSE_H
#include <stdbool.h>
#include <stdint.h>

#include "stitch/source.h"

struct cookie_entry;
struct fact_chain;
struct fact_request;
struct losses;
struct unwinder_life;

/* What is known of one capture. */
struct excuse_session {
	bool overwrite, injected, has_time;
	enum tri system_wide;
	enum cookie_maker cookies;
	int64_t last; /* time of the last record; 0: not known */
	uint64_t n_chains;
	uint64_t n_closed; /* cookies that ended without a chain */
};

/* Fills verdict, confidence, end, until and loss. life: of a nonce's process
 * as an unwinder; not looked at for the kernel's cookies. */
void excuse_request(struct losses *ls, const struct excuse_session *se,
		    const struct cookie_entry *e,
		    const struct unwinder_life *life, struct fact_request *r);
/* Fills verdict, confidence, from and loss. */
void excuse_chain(struct losses *ls, const struct excuse_session *se,
		  const struct cookie_entry *e, struct fact_chain *c);
#endif
