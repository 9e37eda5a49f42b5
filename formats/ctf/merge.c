/* merge.c - merges the traces of a session by time, into one stream of refs.
 *
 * The messages of a trace are in time order, so the floor is the time of the
 * earliest message that was not returned yet. A trace is opened when its first
 * packet is due: only one or two of a thousand rotated chunks are open at any
 * time. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf/ctf.h"
#include "formats/ctf/ring.h"
#include "stitch/base/err.h"

static uint64_t ctf_merge_head_time(const struct ctf_trace *tr)
{
	return tr->due_pos < tr->n_due ? tr->due[tr->due_pos].at : tr->start;
}

static bool ctf_merge_is_earlier(const struct ctf *ctf, uint32_t a, uint32_t b)
{
	uint64_t ta = ctf_merge_head_time(&ctf->trace[a]);
	uint64_t tb = ctf_merge_head_time(&ctf->trace[b]);

	return ta != tb ? ta < tb : a < b;
}

static void ctf_merge_sift_down(struct ctf *ctf, size_t i)
{
	for (;;) {
		size_t low = i;

		for (size_t c = 2 * i + 1; c <= 2 * i + 2; c++)
			if (c < ctf->n_heap &&
			    ctf_merge_is_earlier(ctf, ctf->heap[c],
						 ctf->heap[low]))
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
		ctf_merge_sift_down(ctf, i);
}

/* Reads until an item is due or the trace ends. */
static void ctf_merge_fill(struct ctf_trace *tr)
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
			ctf_merge_fill(tr);
		if (!tr->n_due)
			ctf->heap[0] = ctf->heap[--ctf->n_heap];
		ctf_merge_sift_down(ctf, 0);
		if (got)
			return 1;
	}
	return 0;
}
