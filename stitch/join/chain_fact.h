/* chain_fact.h - makes the fact of a deferred user stack. */
#pragma once
#include "stitch/fact.h"

struct join_chain;

/* Sets *f to the fact of a chain that is used: its flags, its quality by the
 * number of its frames. The caller changes what differs. */
void chain_fill_fact(struct fact *f, const struct join_chain *c);
