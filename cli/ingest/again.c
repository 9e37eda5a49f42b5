/* again.c - looks again at user stacks when mappings came late.
 *
 * A live pipe shows samples before it is certain that no earlier record
 * follows. Waiting longer (--slack) would be exact, but a live view late. The
 * recorded addresses are stored with each stack, so that the end of the stream
 * is the time to correct it. What a stack dump was unwound to stays: the dump
 * is gone. */
#include "cli/ingest/again.h"

#include "schema/write/write.h"
#include "stitch/order/order.h"
#include "stitch/source.h"
#include "stitch/stitch.h"
#include "stitch/tasks/late_maps.h"

struct again {
	struct late_maps *late;
	struct frames *fr;
	struct order *order;
};

static uint32_t again_stack(void *arg, unsigned int source, uint32_t process,
			    int64_t t, uint32_t raw)
{
	const struct again *a = arg;
	const struct source *src = order_source(a->order, source);

	return src ? late_maps_again(a->late, a->fr, process, t,
				     src->info.user_mask, raw)
		   : raw;
}

int again_resolve(struct store *db, struct stitch *st, struct order *ord,
		  struct frames *fr, struct err *err)
{
	struct again a = { stitch_late_maps(st), fr, ord };

	late_maps_sort(a.late);
	return a.late->n ? store_again(db, a.late->from, a.late->until,
				       again_stack, &a, err)
			 : 0;
}
