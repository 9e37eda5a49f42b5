/* stack_trail.c - the frames of the stack before, of which the next stack of a
 * thread mostly has the outer ones. */
#include "symbolize/unwind/stack_trail.h"

#include <string.h>

#include "stitch/base/bytes.h"

/* To have all return addresses fetched at once halves the time of a walk:
 * each is in another cache line of a dump that has not been touched yet. */
void stack_trail_begin(struct stack_trail *t, const struct stack_walk *w,
		       uint64_t epoch)
{
	for (uint32_t i = 0; i < t->n[t->own]; i++)
		bytes_prefetch(&w->dump,
			       t->frame[t->own][i].sp - w->abi->word - w->low);
	t->at = epoch && t->epoch == epoch && t->abi == w->abi ? 0
							       : t->n[t->own];
	t->epoch = epoch;
	t->abi = w->abi;
	t->own ^= 1;
	t->n[t->own] = 0;
}

/* Returns whether the words that led from a frame to the next one are still
 * there. */
static bool stack_trail_leads(const struct stack_walk *w,
			      const struct stack_trail_frame *from,
			      const struct stack_trail_frame *to)
{
	uint64_t pc, fp;

	return from->ra_at && !stack_walk_read_word(w, from->ra_at, &pc) &&
	       (pc & w->user_mask) == to->pc &&
	       (!from->fp_at ||
		(!stack_walk_read_word(w, from->fp_at, &fp) && fp == to->fp));
}

void stack_trail_follow(struct stack_trail *t, struct stack_walk *w,
			struct unwind_out *out)
{
	const struct stack_trail_frame *f = t->frame[!t->own];
	uint32_t n = t->n[!t->own];
	uint32_t *n_own = &t->n[t->own];
	uint32_t room = STACK_TRAIL_MAX - 1 - *n_own;
	uint64_t sp = w->v.reg[w->abi->sp];
	uint32_t from = t->at;

	while (from < n && f[from].sp < sp)
		from++;
	t->at = from;
	if (from == n || f[from].pc != w->v.pc ||
	    f[from].sp != w->v.reg[w->abi->sp] ||
	    f[from].fp != w->v.reg[w->abi->fp] ||
	    f[from].has_fp != (w->v.have >> w->abi->fp & 1))
		return;
	room = room < out->max - out->n ? room : out->max - out->n;
	n = n - 1 - from < room ? n - 1 : from + room;
	uint32_t to = from;

	for (; to < n && stack_trail_leads(w, &f[to], &f[to + 1]); to++)
		/* return addresses are given as inside the call */
		out->ip[out->n++] = f[to].pc - 1;
	if (to == from)
		return;
	memcpy(&t->frame[t->own][*n_own], &f[from], (to - from) * sizeof(*f));
	*n_own += to - from;
	t->at = to;
	w->v.pc = f[to].pc;
	w->v.reg[w->abi->sp] = f[to].sp;
	w->v.reg[w->abi->fp] = f[to].fp;
	w->v.have &= ~(1ull << w->abi->fp);
	w->v.have |= (uint64_t)f[to].has_fp << w->abi->fp;
}
