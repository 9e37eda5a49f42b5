/* missing_reason.h - finds out why a sample has no chain, or a chain no sample.
 *
 * See backstitch-formats(5), "Failure modes" and "Deferred stacks: verdicts".
 * Called when nothing more can become known. */
#pragma once

struct cookie_entry;
struct fact_chain;
struct fact_request;
struct losses;
struct session;
struct unwinder_life;

/* Fills verdict, confidence, end, until and loss of a request without a chain.
 * se: session of the sample. life: when the nonce's process logged stacks;
 * unused for the kernel's cookies. */
void missing_reason_request(struct losses *ls, const struct session *se,
			    const struct cookie_entry *e,
			    const struct unwinder_life *life,
			    struct fact_request *r);
/* Fills verdict, confidence, from and loss of a chain without a sample. se:
 * session of the chain. */
void missing_reason_chain(struct losses *ls, const struct session *se,
			  const struct cookie_entry *e, struct fact_chain *c);
