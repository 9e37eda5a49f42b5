/* scan.c - returns records in exact time order, for captures that can be read
 * twice.
 *
 * perf writes one ring buffer after the other, so a file is not sorted, and
 * perf sometimes breaks its own promise about the order (FINISHED_ROUND). The
 * scan reads every time once and keeps the smallest of each 64 KiB. The
 * smallest time of the blocks that were not read again yet is then a correct
 * floor, whatever the recorder did. */
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"
#include "stitch/base/table.h"
#include "stitch/files/path_files.h"

/* Plain records are recognized by their first bytes, and not decoded. */

/* Returns true if the next records of f can be plain. */
static bool perf_plain_may_be(const struct perf_layout *l,
			      const struct perf_file *f)
{
	return l->samples && f->in.data && !f->skip && !f->z && !f->done;
}

/* Reads the record at b without moving b. Returns false if it is not plain, or
 * incomplete. */
static bool perf_plain_peek(struct perf_layout *l, const struct bytes *b,
			    struct perf_plain *r)
{
	uint64_t at = 0;

	if (bytes_left(b) < 8 || bytes_peek_u32(b, 0, &r->type) ||
	    bytes_peek_u16(b, 4, &r->misc) || bytes_peek_u16(b, 6, &r->size) ||
	    r->size > bytes_left(b) || r->size % 8)
		return false;
	if (r->type == PR_SAMPLE)
		at = l->s_time;
	else if (l->others && r->type && r->type < PR_KERNEL_KNOWN &&
		 l->t_time && r->size >= 8 + l->t_size)
		at = r->size - (uint64_t)l->t_time;
	if (!at || at + 8 > r->size || bytes_peek_u64(b, at, &r->key) ||
	    !r->key || r->key >= TIME_UNREAL)
		return false;
	if (r->type != PR_SAMPLE)
		return true;
	/* Check that the sample has the id of a known event. b: the bytes from
	 * the sample on. */
	uint64_t id = 0;

	if (!l->asks || l->s_id + 8u > r->size ||
	    bytes_peek_u64(b, l->s_id, &id) || !id)
		return true;
	if (l->recent[id % RECENT_IDS] == id)
		return true;
	if (table_find_hash(l->ids, hash_u64(id)) == TABLE_NONE)
		return false;
	l->recent[id % RECENT_IDS] = id;
	return true;
}

/* Returns how to recognize plain records; valid until an event or an id is
 * added. */
static struct perf_layout *perf_layout_of(struct perf *p)
{
	const struct perf_attr *first = p->attr;
	struct perf_layout *l = &p->layout;

	if (l->known)
		return l;
	memset(l, 0, sizeof(*l));
	l->known = true;
	if (!p->n_attr || !p->src.info.has_time || p->src.info.overwrite)
		return l;
	l->samples = p->same_sample_time;
	l->others = p->same_time;
	l->asks = !p->same_time && p->n_id && first->s_id;
	l->s_time = first->s_time;
	l->s_id = first->s_id;
	l->t_time = first->t_time;
	l->t_size = first->t_size;
	l->ids = &p->by_id;
	return l;
}

/* Offset of the name in a record MMAP2, from the record's header on. */
#define MAP_NAME 72

/* Keeps a record that perf_scan_next() must return before all others, in file
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

static void perf_scan_lower_floor(struct perf_file *f, uint64_t block,
				  uint64_t key)
{
	if (block >= f->n_floor) {
		mem_grow(f->floor, f->cap_floor, block + 1);
		while (f->n_floor <= block)
			f->floor[f->n_floor++] = UINT64_MAX;
	}
	lower_to(f->floor[block], key);
}

/* Takes the kernel's build-id, which perf 7.2 stores in the kernel's mapping
 * record. */
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

/* Notes the file of a mapping. A mapping with a build-id does not need it. */
static void perf_scan_map(struct perf *p, const struct perf_rec *r)
{
	struct bytes name = r->b;
	struct path_file f;

	if ((r->misc & PM_BIT14) || (r->misc & PM_CPUMODE) == PM_KERNEL ||
	    bytes_left(&r->b) < r->size || r->size <= MAP_NAME ||
	    bytes_peek_u32(&r->b, 40, &f.maj) ||
	    bytes_peek_u32(&r->b, 44, &f.min) ||
	    bytes_peek_u64(&r->b, 48, &f.ino) ||
	    bytes_peek_u64(&r->b, 56, &f.gen) ||
	    bytes_skip(&name, MAP_NAME, NULL))
		return;
	const char *path = (const char *)name.pos;

	path_files_add(&p->files, path, strnlen(path, r->size - MAP_NAME), &f);
}

static void perf_scan_time(struct perf *p, uint64_t time)
{
	struct source_info *info = &p->src.info;

	/* a record with an impossible time is damage */
	if (time > INT64_MAX)
		return;
	if (!info->first_ns || time < info->first_ns)
		info->first_ns = time;
	raise_to(info->last_ns, time);
}

/* perf_scan_file() for a plain record, in fewer instructions. Returns false,
 * and takes nothing, if the next record is not plain, or more than its time
 * matters. */
static inline bool perf_scan_pass_plain(struct perf *p, struct perf_file *f)
{
	struct perf_layout *l = perf_layout_of(p);
	struct perf_plain r;

	if (!perf_plain_may_be(l, f) || !perf_plain_peek(l, &f->raw, &r) ||
	    r.type == PR_MMAP2 || r.key < p->rounds.flushed ||
	    (f->near.n && times_are_far(r.key, f->near.time)))
		return false;
	perf_check_time_is_far(p, f, r.key);
	perf_scan_lower_floor(f, f->place >> PERF_BLOCK_BITS, r.key);
	perf_scan_time(p, r.key);
	perf_round_time(p, r.key);
	p->src.info.records++;
	f->n++;
	f->last_key = r.key;
	f->place += r.size;
	bytes_skip(&f->raw, r.size, NULL);
	perf_walk_fetch(&f->raw, r.size);
	return true;
}

static int perf_scan_file(struct perf *p, struct perf_file *f, struct err *err)
{
	struct perf_rec r;
	int got;

	perf_walk_start(p, f);
	for (;;) {
		while (perf_scan_pass_plain(p, f))
			;
		got = perf_walk_next(p, f, &r, err);
		if (got <= 0)
			break;
		if (r.type >= PR_TOOL) {
			got = perf_tool_take(p, f, &r, err);
			if (got)
				break;
		} else if (p->n_attr) {
			struct ref ref;

			if (!perf_ref_make(p, f, &r, &ref))
				continue;
			p->src.info.records++;
			if (r.type == PR_MMAP2) {
				perf_scan_kernel_id(p, &r);
				perf_scan_map(p, &r);
			}
			if (perf_ref_is_state(p, &r, &ref)) {
				perf_scan_keep_state(p, &r, &ref);
				continue;
			}
			perf_scan_lower_floor(f, r.place >> PERF_BLOCK_BITS,
					      ref.key);
			if (ref.untimed)
				continue;
			perf_scan_time(p, ref.key);
			perf_round_record(p, &r, &ref);
		} else {
			perf_damage_text(
				p, f->in.path, "record", r.off, r.size,
				"record comes before any event is described");
		}
	}
	for (size_t i = f->n_floor; i-- > 1;)
		lower_to(f->floor[i - 1], f->floor[i]);
	return got;
}

/* Sets the floor, and selects the file that it is from to be read next. */
static void perf_scan_choose_file(struct perf *p)
{
	uint64_t floor = UINT64_MAX;
	uint64_t pos = 0;
	bool any = false;

	for (size_t i = 0; i < p->n_file; i++) {
		const struct perf_file *f = &p->file[i];

		if (f->done) {
			pos += f->end - f->start;
			continue;
		}
		uint64_t low =
			f->block < f->n_floor ? f->floor[f->block] : UINT64_MAX;

		pos += bytes_off(&f->raw) - f->start;
		if (any && low >= floor)
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
	src->files = p->files;
	perf_tool_end(p);
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
	if (place >> PERF_BLOCK_BITS == f->block)
		return;
	f->block = place >> PERF_BLOCK_BITS;
	input_pass(&f->in, bytes_off(&f->raw));
	perf_scan_choose_file(p);
}

/* perf_walk_next() and perf_ref_make() for a plain record. Returns false, and
 * takes nothing, if the next record is not plain. */
static inline bool perf_scan_plain(struct perf *p, struct perf_file *f,
				   struct ref *ref, bool *far)
{
	struct perf_layout *l = perf_layout_of(p);
	uint64_t place = f->place;
	struct perf_plain r;

	if (!perf_plain_may_be(l, f) || !perf_plain_peek(l, &f->raw, &r))
		return false;
	*ref = (struct ref){
		.key = r.key,
		.seq = perf_in_file(f, f->n++),
		.handle = perf_in_file(f, bytes_off(&f->raw)),
		.len = r.size,
		.source = p->src.index,
		.kind = perf_type_class(r.type, r.misc),
	};
	bytes_skip(&f->raw, r.size, NULL);
	perf_walk_fetch(&f->raw, r.size);
	f->place += r.size;
	*far = perf_check_time_is_far(p, f, r.key);
	if (!*far)
		f->last_key = r.key;
	perf_scan_enter_block(p, f, place);
	return true;
}

int perf_scan_next(struct perf *p, struct ref *ref, struct err *err)
{
	struct perf_rec r;
	bool far;

	if (p->state_pos < p->n_state) {
		*ref = p->state[p->state_pos++];
		ref->source = p->src.index;
		if (p->state_pos == p->n_state)
			perf_scan_choose_file(p);
		return 1;
	}
	while (!p->ended) {
		struct perf_file *f = &p->file[p->cur];

		if (perf_scan_plain(p, f, ref, &far)) {
			if (far)
				continue;
			return 1;
		}
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
