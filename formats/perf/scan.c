/* scan.c - exact time order for captures that can be read twice.
 *
 * perf writes one ring buffer after the other, so a file is not sorted, and
 * perf sometimes breaks its own promise about the order (FINISHED_ROUND). The
 * scan reads every time once and keeps the smallest of each 64 KiB. The
 * smallest time of the blocks that were not read again yet is then a correct
 * floor, whatever the recorder did. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"

#define BLOCK_BITS 16

/* Keeps a record that perf_scan_next() returns before all others, in file
 * order. */
static void perf_scan_keep_state(struct perf *p, const struct perf_rec *r,
				 const struct ref *ref)
{
	struct perf_chunk *c = p->state_chunk;

	struct ref *s = mem_add(p->state, p->n_state, p->cap_state);

	*s = *ref;
	s->key = 0;
	s->kind = 0;
	s->seq = p->n_state;
	if (!r->chunk)
		return;
	/* decompressed records are freed after the scan: keep a copy */
	if (!c || c->cap - c->len < r->size) {
		perf_chunk_put(p, c);
		c = p->state_chunk = perf_chunk_new(p, 65536, r->off, false);
	}
	memcpy(c->data + c->len, r->b.pos, r->size);
	s->handle = perf_chunk_handle(c, c->len);
	c->len += r->size;
	c->refs++;
}

static void perf_scan_lower_floor(struct perf_file *f, uint64_t place,
				  uint64_t key)
{
	uint64_t block = place >> BLOCK_BITS;

	if (block >= f->n_floor) {
		f->floor = mem_grow(f->floor, &f->cap_floor, block + 1,
				    sizeof(*f->floor));
		while (f->n_floor <= block)
			f->floor[f->n_floor++] = UINT64_MAX;
	}
	if (key < f->floor[block])
		f->floor[block] = key;
}

/* perf 7.2 stores the kernel's build-id into its mapping record. */
static void perf_scan_kernel_id(struct perf *p, const struct perf_rec *r)
{
	struct bytes b = r->b;
	struct bytes id;
	uint8_t n;

	if (p->src.info.kernel_id_len || (r->misc & PM_CPUMODE) != PM_KERNEL ||
	    !(r->misc & PM_BIT14) || bytes_skip(&b, 40, NULL) ||
	    bytes_u8(&b, &n, NULL) || n > 20 || bytes_skip(&b, 3, NULL) ||
	    bytes_take(&b, 20, &id, NULL) || bytes_skip(&b, 8, NULL) ||
	    bytes_left(&b) < 17 || memcmp(b.pos, "[kernel.kallsyms]", 17))
		return;
	memcpy(p->kernel_id, id.pos, n);
	p->src.info.kernel_id = p->kernel_id;
	p->src.info.kernel_id_len = n;
}

static void perf_scan_record(struct perf *p, struct perf_file *f,
			     const struct perf_rec *r)
{
	struct source_info *info = &p->src.info;
	struct ref ref;

	if (!perf_ref_make(p, f, r, &ref))
		return;
	info->records++;
	if (r->type == PR_MMAP2)
		perf_scan_kernel_id(p, r);
	if (perf_ref_is_state(p, r, &ref)) {
		perf_scan_keep_state(p, r, &ref);
		return;
	}
	perf_scan_lower_floor(f, r->place, ref.key);
	if (ref.untimed)
		return;
	if (!info->first_ns || ref.key < info->first_ns)
		info->first_ns = ref.key;
	if (ref.key > info->last_ns)
		info->last_ns = ref.key;
	perf_round_record(p, r, &ref);
}

static int perf_scan_file(struct perf *p, struct perf_file *f, struct err *err)
{
	struct perf_rec r;
	int got;

	perf_walk_start(p, f);
	while ((got = perf_walk_next(p, f, &r, err)) > 0) {
		if (r.type >= PR_TOOL) {
			if (perf_tool_take(p, f, &r, err))
				return -1;
		} else if (p->n_attr) {
			perf_scan_record(p, f, &r);
		} else {
			struct err why;

			err_at(&why, f->in.path, r.off,
			       "record comes before any event is described");
			perf_damage(p, "record", r.off, r.size, &why);
		}
	}
	for (size_t i = f->n_floor; i-- > 1;)
		if (f->floor[i] < f->floor[i - 1])
			f->floor[i - 1] = f->floor[i];
	return got;
}

static uint64_t perf_scan_file_floor(const struct perf_file *f)
{
	return f->done || f->block >= f->n_floor ? UINT64_MAX
						 : f->floor[f->block];
}

/* Sets the floor and selects the file that has it to be read next. */
static void perf_scan_choose_file(struct perf *p)
{
	uint64_t floor = UINT64_MAX;
	uint64_t pos = 0;
	bool any = false;

	for (size_t i = 0; i < p->n_file; i++) {
		const struct perf_file *f = &p->file[i];
		uint64_t low = perf_scan_file_floor(f);

		pos += f->done ? f->end - f->start
			       : bytes_off(&f->raw) - f->start;
		if (f->done || (any && low >= floor))
			continue;
		any = true;
		floor = low;
		p->cur = (uint16_t)i;
	}
	p->ended = !any;
	p->src.pos = pos;
	p->src.floor = p->state_pos < p->n_state ? 0 : floor;
}

int perf_scan(struct perf *p, struct err *err)
{
	struct source *src = &p->src;

	for (size_t i = 0; i < p->n_file; i++)
		if (perf_scan_file(p, &p->file[i], err))
			return -1;
	if (!p->n_attr)
		return err_set(err, ERR_FORMAT, "%s: no events are described%s",
			       src->path,
			       src->info.truncated ? ": it is cut off" : "");
	perf_trace_join_events(p);
	perf_tool_finish(p);
	p->loud = false;
	src->info.exact = true;
	for (size_t i = 0; i < p->n_file; i++)
		perf_walk_start(p, &p->file[i]);
	perf_scan_choose_file(p);
	return 0;
}

static void perf_scan_enter_block(struct perf *p, struct perf_file *f,
				  uint64_t place)
{
	if (place >> BLOCK_BITS == f->block)
		return;
	f->block = place >> BLOCK_BITS;
	input_pass(&f->in, bytes_off(&f->raw));
	perf_scan_choose_file(p);
}

static int perf_scan_next_state(struct perf *p, struct ref *ref)
{
	*ref = p->state[p->state_pos++];
	ref->source = p->src.index;
	if (p->state_pos == p->n_state)
		perf_scan_choose_file(p);
	return 1;
}

int perf_scan_next(struct perf *p, struct ref *ref, struct err *err)
{
	struct perf_rec r;

	if (p->state_pos < p->n_state)
		return perf_scan_next_state(p, ref);
	while (!p->ended) {
		struct perf_file *f = &p->file[p->cur];
		int got = perf_walk_next(p, f, &r, err);

		if (got < 0)
			return -1;
		if (!got) {
			f->done = true;
			perf_scan_choose_file(p);
			continue;
		}
		perf_scan_enter_block(p, f, r.place);
		if (r.type >= PR_TOOL || !perf_ref_make(p, f, &r, ref) ||
		    perf_ref_is_state(p, &r, ref))
			continue;
		if (r.chunk)
			r.chunk->refs++;
		return 1;
	}
	p->src.floor = UINT64_MAX;
	return 0;
}
