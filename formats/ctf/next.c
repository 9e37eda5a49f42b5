/* next.c - merges the streams of all traces by time, into one stream of refs.
 *
 * The times of a stream do not go back, or that is noted, so the floor is the
 * time of the earliest event that was not returned yet. A stream is opened when
 * its first packet is due. */
#include <string.h>

#include "formats/ctf/ctf.h"

/* Most bytes of items of one time before some of them are returned. */
#define WAITING_MAX ((uint64_t)16 << 20)

/* Maps the kernel once, with the first trace of the kernel domain. */
static void ctf_next_map_kernel(struct ctf *ctf)
{
	ctf->told_kernel = true;
	for (size_t i = 0; i < ctf->n_trace; i++) {
		struct ctf_trace *tr = &ctf->trace[i];
		const char *domain =
			tr->n_live ? ctf_tree_env(&tr->schema->tree, "domain")
				   : NULL;

		if (!domain || strcmp(domain, "kernel"))
			continue;
		ctf_map_kernel(tr);
		ctf->giving = tr;
		return;
	}
}

/* Makes the items of the earliest event. Returns false at the end. */
static bool ctf_next_step(struct ctf *ctf)
{
	if (!ctf->n_heap)
		return false;
	struct ctf_stream *s = &ctf->stream[ctf->heap[0].stream];

	ctf->giving = s->trace;
	if (s->due)
		ctf_event_take(s);
	s->due = ctf_stream_next(s);
	ctf->heap[0].time = s->time;
	if (!s->due) {
		ctf_stream_close(s);
		ctf->heap[0] = ctf->heap[--ctf->n_heap];
		if (!--s->trace->n_live) {
			ctf_map_flush_all(s->trace);
			ctf_ends_check(s->trace);
		}
	}
	turns_put(ctf->heap, ctf->n_heap, 0, ctf->heap[0]);
	return true;
}

int ctf_next(struct source *src, struct ref *ref, struct err *err UNUSED)
{
	struct ctf *ctf = ctf_of(src);

	if (!ctf->told_kernel) {
		ctf_next_map_kernel(ctf);
		ctf->heap = mem_new(ctf->n_stream + 1, sizeof(*ctf->heap));
		for (size_t i = 0; i < ctf->n_stream; i++)
			ctf->heap[ctf->n_heap++] =
				(struct turn){ ctf->stream[i].time,
					       (uint32_t)i };
		for (size_t i = ctf->n_heap; i-- > 0;)
			turns_put(ctf->heap, ctf->n_heap, i, ctf->heap[i]);
	}
	do {
		struct ctf_trace *tr = ctf->giving;

		while (tr && tr->due_pos < tr->n_due) {
			const struct ctf_due *d = &tr->due[tr->due_pos++];
			uint64_t floor = d->at;

			if (!ctf_settle_item(ctf, ctf_pool_at(&ctf->pool,
							      d->ref.handle))) {
				ctf->waiting -= d->ref.len;
				ctf_pool_drop(&ctf->pool, d->ref.handle);
				continue;
			}
			*ref = d->ref;
			if (ctf->waiting > WAITING_MAX &&
			    floor < UINT64_MAX - 1)
				floor++;
			raise_to(src->floor, floor);
			return 1;
		}
		if (tr)
			tr->n_due = tr->due_pos = 0;
		src->pos = ctf->done < src->size ? ctf->done : src->size;
	} while (ctf_next_step(ctf));
	src->floor = UINT64_MAX;
	src->pos = src->size;
	return 0;
}
