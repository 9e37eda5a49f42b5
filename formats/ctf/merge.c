/* merge.c - the traces of a session as one stream of refs.
 *
 * A trace's messages come in time order, so that the floor is the time of the
 * earliest that was not handed out. A trace is opened when its first packet is
 * due: of a session that was rotated a thousand times one or two are open. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"

static uint64_t head_of(const struct ctf_trace *tr)
{
	return tr->due_pos < tr->n_due ? tr->due[tr->due_pos].at : tr->start;
}

static bool earlier(const struct ctf *ctf, uint32_t a, uint32_t b)
{
	uint64_t ta = head_of(&ctf->trace[a]);
	uint64_t tb = head_of(&ctf->trace[b]);

	return ta != tb ? ta < tb : a < b;
}

static void sift_down(struct ctf *ctf, size_t i)
{
	for (;;) {
		size_t low = i;

		for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < ctf->n_heap &&
			    earlier(ctf, ctf->heap[c], ctf->heap[low]))
				low = c;
		if (low == i)
			return;
		uint32_t t = ctf->heap[i];

		ctf->heap[i] = ctf->heap[low];
		ctf->heap[low] = t;
		i = low;
	}
}

void ctf_merge_start(struct ctf *ctf)
{
	ctf->n_heap = 0;
	free(ctf->heap);
	ctf->heap = mem_new(ctf->n_trace + 1, sizeof(*ctf->heap));
	for (size_t i = 0; i < ctf->n_trace; i++)
		if (!ctf->trace[i].ended)
			ctf->heap[ctf->n_heap++] = (uint32_t)i;
	for (size_t i = ctf->n_heap; i-- > 0;)
		sift_down(ctf, i);
}

/* Until there is something to hand out, or nothing more comes. */
static void pull(struct ctf_trace *tr)
{
	tr->n_due = tr->due_pos = 0;
	while (!tr->ended && !tr->n_due) {
		struct err why = { 0 };
		ctf_ring_note(tr->ctf->ring,
			      (uint32_t)(tr - tr->ctf->trace) + 1,
			      tr->ctf->packets_done);
		int got = ctf_graph_pull(tr, &why);

		if (got > 0)
			continue;
		ctf_map_flush_all(tr);
		tr->ended = true;
		ctf_graph_close(tr);
		if (got < 0)
			ctf_tell_damage(tr, &why);
	}
}

int ctf_merge_next(struct ctf *ctf, uint32_t *trace, struct ctf_due *out)
{
	while (ctf->n_heap) {
		struct ctf_trace *tr = &ctf->trace[ctf->heap[0]];
		bool got = tr->due_pos < tr->n_due;

		if (got) {
			*trace = ctf->heap[0];
			*out = tr->due[tr->due_pos++];
		}
		if (tr->due_pos >= tr->n_due)
			pull(tr);
		if (!tr->n_due)
			ctf->heap[0] = ctf->heap[--ctf->n_heap];
		sift_down(ctf, 0);
		if (got)
			return 1;
	}
	return 0;
}
