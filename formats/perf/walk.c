/* walk.c - finds the records in the bytes of a file, in file order.
 *
 * Records are in the file itself or inside compressed records. No mark tells
 * where a record starts, so a wrong size ends the walk. */
#include <inttypes.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "stitch/base/err.h"

#define WINDOW ((size_t)256 * 1024)
#define PAYLOAD_MAX ((uint64_t)256 << 20)
#define HEADER 8

void perf_walk_start(struct perf *p, struct perf_file *f)
{
	perf_walk_end(p, f);
	f->done = false;
	f->skip = 0;
	f->place = f->n = f->last_key = f->block = 0;
	f->near.n = 0;
	f->holds = false;
	if (f->in.data) {
		bytes_init(&f->raw, f->in.data + f->start,
			   (size_t)(f->end - f->start), f->in.path, f->start,
			   p->swap);
		return;
	}
	if (f->in.fd >= 0) {
		/* opening consumed the pipe header */
		f->window = perf_chunk_new(p, WINDOW, f->in.n_head, true);
		bytes_init(&f->raw, f->window->data, 0, f->in.path,
			   f->window->off, p->swap);
		return;
	}
	f->done = true;
}

void perf_walk_end(struct perf *p, struct perf_file *f)
{
	perf_z_free(p, f);
	perf_chunk_put(p, f->window);
	f->window = NULL;
}

/* Reads until f->raw has n bytes or the file ends. Returns -1 on a read
 * error. */
static inline int perf_walk_want(struct perf *p, struct perf_file *f, size_t n,
				 struct err *err)
{
	if (bytes_left(&f->raw) >= n || !f->window)
		return 0;
	size_t used = f->window->len - bytes_left(&f->raw);

	if (f->window->cap - used < n) {
		/* Replace the window by one with room for n bytes, which begins
		 * with the bytes that are not walked yet. */
		struct perf_chunk *old = f->window;
		size_t have = bytes_left(&f->raw);
		uint64_t off = bytes_off(&f->raw);
		struct perf_chunk *c =
			perf_chunk_new(p, n > WINDOW ? n : WINDOW, off, true);

		if (have)
			memcpy(c->data, f->raw.pos, have);
		c->len = have;
		f->window = c;
		bytes_init(&f->raw, c->data, have, f->in.path, off, p->swap);
		perf_chunk_put(p, old);
	}
	while (bytes_left(&f->raw) < n) {
		struct perf_chunk *c = f->window;
		int64_t got = input_read(&f->in, c->data + c->len,
					 c->cap - c->len, err);

		if (got <= 0)
			return got ? -1 : 0;
		c->len += (size_t)got;
		f->raw.end += got;
	}
	return 0;
}

static void perf_walk_report_cut(struct perf *p, struct perf_file *f,
				 uint64_t needs)
{
	uint64_t left = bytes_left(&f->raw);

	f->done = true;
	p->src.info.truncated = true;
	perf_damage_text(p, f->in.path, "truncated", bytes_off(&f->raw), left,
			 "record is cut off: has %" PRIu64
			 " bytes, needs %" PRIu64,
			 left, needs);
}

/* Reports that the rest of the file cannot be read: only the size of a record
 * tells where the next one is. */
static void perf_walk_report_bad_size(struct perf *p, struct perf_file *f,
				      uint64_t off, uint16_t size,
				      uint64_t left)
{
	perf_damage_text(p, f->in.path, "record", off, left,
			 "record size is %u, needs at least 8; the %" PRIu64
			 " bytes from here on are not readable",
			 size, left);
}

/* Cuts a record of simpleperf above 64 KiB to its header, and returns how many
 * bytes follow that. */
static inline uint64_t perf_walk_cut_long(struct perf_rec *r)
{
	uint64_t size = (uint64_t)r->misc << 16 | r->size;

	if (!perf_type_is_simpleperf(r->type) || !r->misc)
		return 0;
	r->size = HEADER;
	return size - HEADER;
}

/* Skips the payload that follows AUXTRACE, TRACING_DATA or a header that was
 * cut. */
static int perf_walk_skip_payload(struct perf *p, struct perf_file *f,
				  struct err *err)
{
	while (f->skip) {
		if (perf_walk_want(p, f, 1, err))
			return -1;
		uint64_t n = bytes_left(&f->raw);

		if (!n) {
			perf_walk_report_cut(p, f, f->skip);
			f->skip = 0;
			return 0;
		}
		lower_to(n, f->skip);
		bytes_skip(&f->raw, n, NULL);
		f->skip -= n;
	}
	return 0;
}

static inline void perf_walk_take_header(const struct bytes *b,
					 struct perf_rec *r)
{
	bytes_peek_u32(b, 0, &r->type);
	bytes_peek_u16(b, 4, &r->misc);
	bytes_peek_u16(b, 6, &r->size);
}

/* Returns 1 and a record of the file itself, 0 at its end, -1 on a read
 * error. */
static int perf_walk_next_raw(struct perf *p, struct perf_file *f,
			      struct perf_rec *r, struct err *err)
{
	if (f->skip && perf_walk_skip_payload(p, f, err))
		return -1;
	if (f->done || perf_walk_want(p, f, HEADER, err))
		return f->done ? 0 : -1;
	if (bytes_left(&f->raw) < HEADER) {
		if (bytes_left(&f->raw))
			perf_walk_report_cut(p, f, HEADER);
		f->done = true;
		return 0;
	}
	perf_walk_take_header(&f->raw, r);
	uint64_t more = perf_walk_cut_long(r);

	if (r->size < HEADER) {
		perf_walk_report_bad_size(p, f, bytes_off(&f->raw), r->size,
					  bytes_left(&f->raw));
		f->done = true;
		return 0;
	}
	if (perf_walk_want(p, f, r->size, err))
		return -1;
	if (bytes_left(&f->raw) < r->size) {
		perf_walk_report_cut(p, f, r->size);
		return 0;
	}
	r->off = bytes_off(&f->raw);
	r->chunk = f->window;
	r->handle = f->window ? perf_chunk_handle(f->window,
						  r->off - f->window->off)
			      : perf_in_file(f, r->off);
	r->b = f->raw;
	r->b.end = r->b.pos + r->size;
	bytes_skip(&f->raw, r->size, NULL);
	perf_walk_fetch(&f->raw, r->size);
	f->skip = more;
	if (__builtin_expect(
		    r->type == PR_TRACING_DATA || r->type == PR_AUXTRACE, 0)) {
		uint32_t n32;
		uint64_t n64;

		if (r->type == PR_TRACING_DATA &&
		    !bytes_peek_u32(&r->b, 8, &n32))
			f->skip = ((uint64_t)n32 + 7) & ~(uint64_t)7;
		else if (r->type == PR_AUXTRACE &&
			 !bytes_peek_u64(&r->b, 8, &n64))
			f->skip = n64;
	}
	return 1;
}

/* Returns 1 and a decompressed record, 0 if more must be decompressed
 * first. */
static int perf_walk_next_unpacked(struct perf *p, struct perf_file *f,
				   struct perf_rec *r)
{
	struct perf_chunk *c = f->plain;
	size_t left = perf_z_rest(f);

	if (left < HEADER)
		return 0;
	bytes_init(&r->b, c->data + f->plain_at, left, f->in.path, c->off,
		   p->swap);
	perf_walk_take_header(&r->b, r);
	if (r->size < HEADER) {
		perf_walk_report_bad_size(p, f, c->off, r->size, left);
		perf_z_free(p, f);
		f->done = true;
		return 0;
	}
	if (left < r->size)
		return 0;
	r->b.end = r->b.pos + r->size;
	r->off = c->off;
	r->chunk = c;
	r->handle = perf_chunk_handle(c, f->plain_at);
	f->plain_at += r->size;
	return 1;
}

/* At the end of the file: reports a record cut inside the compressed data. */
static void perf_walk_report_rest(struct perf *p, struct perf_file *f)
{
	size_t rest = perf_z_rest(f);

	if (!rest)
		return;
	p->src.info.truncated = true;
	perf_damage_text(
		p, f->in.path, "truncated", f->plain->off, rest,
		"record is cut off inside compressed data: has %zu bytes",
		rest);
	f->plain_at = f->plain->len;
}

int perf_walk_next(struct perf *p, struct perf_file *f, struct perf_rec *r,
		   struct err *err)
{
	if (f->holds) {
		f->holds = false;
		*r = f->held;
		return 1;
	}
	for (;;) {
		int got = perf_walk_next_unpacked(p, f, r);

		if (!got && f->z && perf_z_more(p, f))
			continue;
		if (!got) {
			got = perf_walk_next_raw(p, f, r, err);
			if (got <= 0) {
				perf_z_check_end(p, f);
				perf_walk_report_rest(p, f);
				return got;
			}
			if (r->type == PR_COMPRESSED ||
			    r->type == PR_COMPRESSED2) {
				perf_z_feed(p, f, r);
				continue;
			}
		}
		r->place = f->place;
		f->place += r->size;
		return 1;
	}
}

int perf_walk_payload(struct perf *p, struct perf_file *f, struct bytes *out,
		      unsigned char **owned, struct err *err)
{
	uint64_t n = f->skip;
	uint64_t off = bytes_off(&f->raw);
	size_t have = 0;
	size_t cap = 0;

	*owned = NULL;
	bytes_init(out, f->raw.pos, 0, f->in.path, off, p->swap);
	if (n > PAYLOAD_MAX)
		return err_at(err, f->in.path, off,
			      "payload of %" PRIu64 " bytes is over the limit",
			      n);
	if (!f->window) {
		/* if it is cut, perf_walk_skip_payload() reports that */
		if (n > bytes_left(&f->raw))
			n = bytes_left(&f->raw);
		bytes_take(&f->raw, n, out, NULL);
		f->skip -= n;
		return 0;
	}
	while (have < n) {
		if (perf_walk_want(p, f, 1, err))
			return -1;
		uint64_t some = bytes_left(&f->raw);

		if (!some)
			break;
		lower_to(some, n - have);
		mem_grow(*owned, cap, have + some);
		memcpy(*owned + have, f->raw.pos, some);
		bytes_skip(&f->raw, some, NULL);
		have += some;
	}
	f->skip -= have;
	bytes_init(out, *owned ? *owned : f->raw.pos, have, f->in.path, off,
		   p->swap);
	return 0;
}

int perf_walk_find(struct perf *p, const struct ref *ref, struct perf_rec *r,
		   struct err *err)
{
	struct perf_chunk *c = perf_chunk_find(p, ref->handle);
	const unsigned char *data = NULL;
	const char *path = p->src.path;
	uint64_t at = ref->handle & UINT32_MAX;
	uint64_t len = 0;

	if (c) {
		data = c->data;
		len = c->len;
	} else if (!(ref->handle >> 63) &&
		   ref->handle >> PERF_FILE_BIT < p->n_file) {
		struct perf_file *f = &p->file[ref->handle >> PERF_FILE_BIT];

		at = ref->handle & (((uint64_t)1 << PERF_FILE_BIT) - 1);
		data = f->in.data;
		len = f->in.data ? f->end : 0;
		path = f->in.path;
	}
	if (!data || ref->len < HEADER || at > len || ref->len > len - at)
		return err_set(err, ERR_FORMAT,
			       "%s: record is not held any more", path);
	r->off = c && !c->flat ? c->off : at + (c ? c->off : 0);
	bytes_init(&r->b, data + at, ref->len, path, r->off, p->swap);
	perf_walk_take_header(&r->b, r);
	r->handle = ref->handle;
	r->chunk = c;
	return 0;
}
