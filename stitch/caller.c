/* caller.c - the caller that a chain of frame pointers lacks. */
#include "stitch/caller.h"

#include <string.h>

#include "stitch/source.h"
#include "stitch/space.h"
#include "stitch/stitch.h"
#include "stitch/unwinder.h"

#define MACHINE_AARCH64 183 /* EM_AARCH64 */
#define REGS_AARCH64_LR (1ull << 30)

/* struct unwind_in.find: what the sampled process has mapped. */
struct lookup {
	const struct space *space;
	int64_t t;
};

static int find_map(void *arg, uint64_t addr, struct unwind_map *map)
{
	const struct lookup *l = arg;
	const struct region *r = space_find(l->space, addr, l->t);

	if (!r)
		return 0;
	*map = (struct unwind_map){ r->start, r->end, r->pgoff, r->image };
	return 1;
}

bool caller_find(struct unwinder *uw, const struct record *rec,
		 const struct source *src, const struct space *sp,
		 uint64_t *caller)
{
	const struct rec_sample *s = &rec->sample;
	bool timed = !(rec->flags & REC_F_UNTIMED) && rec->time <= INT64_MAX;
	struct lookup look = { sp, timed ? (int64_t)rec->time : TIME_NONE };
	enum unwind_end end;
	uint64_t ip[2];
	const struct unwind_in in = {
		.regs = &s->user_regs,
		.machine = MACHINE_AARCH64,
		.pc = s->user.n ? s->user.ip[0] : 0,
		.user_mask = src->info.user_mask,
		.find = find_map,
		.arg = &look,
	};

	if (!uw || s->user_regs.mask != REGS_AARCH64_LR || !s->user.n ||
	    rec->flags & (REC_F_GUEST | REC_F_NO_CHAIN | REC_F_LBR) ||
	    !src->info.arch || strcmp(src->info.arch, "aarch64") != 0 ||
	    uw->ops->unwind(uw, &in, ip, 2, &end, NULL) != 2)
		return false;
	*caller = ip[1];
	return true;
}
