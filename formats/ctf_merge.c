/* ctf_merge.c - the traces of a session as one stream of refs.
 *
 * A trace's messages come in time order, so that the floor is the time of the
 * earliest that was not handed out. A trace is opened when its first packet is
 * due: of a session that was rotated a thousand times one or two are open. */
#include <stdlib.h>
#include <string.h>

#include "formats/ctf.h"
#include "stitch/err.h"

/* Of records that wait; events of one instant could be any number. */
#define HELD_MAX ((uint64_t)256 << 20)

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

/* The first of the kernel's traces says it for all. */
static void map_kernel(struct ctf *ctf)
{
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];

		if (tr->ended || !tr->meta.domain ||
		    strcmp(tr->meta.domain, "kernel"))
			continue;
		ctf_map_kernel(tr);
		return;
	}
}

static void start(struct ctf *ctf)
{
	map_kernel(ctf);
	ctf->heap = mem_new(ctf->n_trace + 1, sizeof(*ctf->heap));
	for (size_t i = 0; i < ctf->n_trace; i++)
		if (!ctf->trace[i].ended)
			ctf->heap[ctf->n_heap++] = (uint32_t)i;
	for (size_t i = ctf->n_heap; i-- > 0;)
		sift_down(ctf, i);
	ctf->merging = true;
}

/* Until there is something to hand out, or nothing more comes. */
static void pull(struct ctf_trace *tr)
{
	tr->n_due = tr->due_pos = 0;
	while (!tr->ended && !tr->n_due) {
		struct err why = { 0 };
		int got = ctf_graph_pull(tr, &why);

		if (got > 0)
			continue;
		ctf_map_flush_all(tr);
		tr->ended = true;
		ctf_graph_close(tr);
		if (got < 0)
			ctf_damage(tr->ctf, "unreadable", 0, 0, &why);
	}
}

static void progress(struct ctf *ctf)
{
	if (ctf->packets)
		ctf->src.pos =
			(uint64_t)((double)ctf->packets_done /
				   (double)ctf->packets * (double)ctf->files);
	if (ctf->src.pos > ctf->files)
		ctf->src.pos = ctf->files;
}

static void give(struct ctf *ctf, struct ctf_trace *tr, struct ref *ref)
{
	const struct ctf_due *d = &tr->due[tr->due_pos++];
	uint64_t floor = d->at;

	*ref = d->ref;
	if (ctf->pool.held > HELD_MAX && floor < UINT64_MAX - 1)
		floor++;
	if (floor > ctf->src.floor)
		ctf->src.floor = floor;
}

int ctf_next(struct source *src, struct ref *ref, struct err *err)
{
	struct ctf *ctf = ctf_of(src);

	(void)err;
	if (!ctf->merging)
		start(ctf);
	while (ctf->n_heap) {
		struct ctf_trace *tr = &ctf->trace[ctf->heap[0]];

		if (tr->due_pos < tr->n_due) {
			give(ctf, tr, ref);
			if (tr->due_pos == tr->n_due) {
				pull(tr);
				progress(ctf);
				if (tr->ended && !tr->n_due)
					ctf->heap[0] = ctf->heap[--ctf->n_heap];
			}
			sift_down(ctf, 0);
			return 1;
		}
		pull(tr);
		if (!tr->n_due)
			ctf->heap[0] = ctf->heap[--ctf->n_heap];
		sift_down(ctf, 0);
	}
	src->floor = UINT64_MAX;
	src->pos = src->size;
	return 0;
}
