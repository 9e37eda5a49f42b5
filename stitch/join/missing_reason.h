/* missing_reason.h - why a sample has no chain, or a chain no sample, and the
 * evidence: backstitch-formats(5), "Failure modes" and "Deferred stacks:
 * verdicts". Asked once all is known that ever will be. */
#ifndef STITCH_JOIN_MISSING_REASON_H
#define STITCH_JOIN_MISSING_REASON_H

struct cookie_entry;
struct fact_chain;
struct fact_request;
struct losses;
struct session;
struct unwinder_life;

/* Fills verdict, confidence, end, until and loss. se: of the sample. life: of
 * a nonce's process as an unwinder; not looked at for the kernel's cookies. */
void excuse_request(struct losses *ls, const struct session *se,
		    const struct cookie_entry *e,
		    const struct unwinder_life *life, struct fact_request *r);
/* Fills verdict, confidence, from and loss. se: of the chain. */
void excuse_chain(struct losses *ls, const struct session *se,
		  const struct cookie_entry *e, struct fact_chain *c);
#endif
