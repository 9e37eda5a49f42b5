/* walk.c - finds the records in the bytes of a file, in file order.
 *
 * Records are in the file itself or inside compressed records. There is no mark
 * at the start of a record, so a wrong size ends the walk. */
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/perf/perf.h"
#include "formats/reader/reader.h"
#include "formats/reader/refuse.h"
#include "stitch/base/err.h"
#include "stitch/files/new_file.h"

/* ---- decodes the zstd stream of compressed records */

#define BLOCK_HEAD 3 /* of zstd's format, in bytes */
#define FRAME_MAGIC "\x28\xb5\x2f\xfd"

const char *zstd_stream_decode(struct zstd_stream *z, ZSTD_outBuffer *out)
{
	while (out->pos < out->size) {
		size_t had = out->pos;
		size_t at = z->in.pos;
		size_t rc = ZSTD_decompressStream(z->d, out, &z->in);

		if (ZSTD_isError(rc))
			return ZSTD_getErrorName(rc);
		/* after the end of a frame, the decoder would begin another
		 * one */
		if (out->pos == had && z->in.pos == at)
			break;
		z->wants = rc;
	}
	return NULL;
}

bool zstd_stream_is_open(const struct zstd_stream *z)
{
	return z->wants > BLOCK_HEAD;
}

/* ---- memory for records that are not in a mapped file.
 *
 * A chunk counts its references: one of the code that fills or walks it, and
 * one for each ref to a record in it. A handle is the top bit, the chunk's id
 * and the offset of the record in the chunk.
 *
 * Chunks beyond the memory limit are in a temporary file, which is mapped:
 * records of one time wait for each other, and 88 KB of compressed ones can
 * become gigabytes. */

#define HANDLE_CHUNK ((uint64_t)1 << 63)
#define MEMORY_DEFAULT ((uint64_t)256 << 20)
/* A multiple of all page sizes. */
#define SPILL_UNIT ((size_t)64 << 10)

/* Allocates the chunk's memory in the file. Returns false on failure. */
static bool perf_chunk_spill(struct perf *p, struct perf_chunk *c, size_t cap)
{
	const char *dir = p->opts.temp_dir ? p->opts.temp_dir : "/tmp";
	int fd = p->spill > 0 ? p->spill - 1 : -1;

	if (!p->spill) {
		fd = temp_open(dir);
		p->spill = fd < 0 ? -1 : fd + 1;
	}
	cap = (cap + SPILL_UNIT - 1) / SPILL_UNIT * SPILL_UNIT;
	/* without it, a write to the mapping on a full disk would be a
	 * signal */
	if (fd < 0 || posix_fallocate(fd, (off_t)p->spill_end, (off_t)cap))
		return false;
	void *data = mmap(NULL, cap, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
			  (off_t)p->spill_end);

	if (data == MAP_FAILED)
		return false;
	c->data = data;
	c->cap = cap;
	c->spilled = p->spill_end + 1;
	p->spill_end += cap;
	return true;
}

static void perf_chunk_free(struct perf *p, struct perf_chunk *c)
{
	if (!c)
		return;
	if (c->spilled) {
		munmap(c->data, c->cap);
		fallocate(p->spill - 1,
			  FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
			  (off_t)c->spilled - 1, (off_t)c->cap);
	} else {
		p->chunk_bytes -= c->cap;
		free(c->data);
	}
	free(c);
}

struct perf_chunk *perf_chunk_new(struct perf *p, size_t cap, uint64_t off,
				  bool flat)
{
	struct perf_chunk *c = mem_new(1, sizeof(*c));

	/* the window of a pipe releases records in time order before that */
	uint64_t limit =
		p->opts.memory_bytes ? p->opts.memory_bytes : MEMORY_DEFAULT;
	bool pipe = p->n_file && p->file[0].window;
	if (p->chunk_bytes / (pipe ? 2 : 1) <= limit ||
	    !perf_chunk_spill(p, c, cap)) {
		c->data = mem_grow_to(NULL, &c->cap, cap, 1);
		p->chunk_bytes += c->cap;
	}
	c->off = off;
	c->flat = flat;
	c->refs = 1;
	c->id = p->chunk_base + p->n_chunk;
	*mem_add(p->chunk, p->n_chunk, p->cap_chunk) = c;
	return c;
}

struct perf_chunk *perf_chunk_find(struct perf *p, uint64_t handle)
{
	uint64_t id = (handle & ~HANDLE_CHUNK) >> 32;

	if (!(handle & HANDLE_CHUNK) || id < p->chunk_base ||
	    id - p->chunk_base >= p->n_chunk)
		return NULL;
	return p->chunk[id - p->chunk_base];
}

uint64_t perf_chunk_handle(const struct perf_chunk *c, size_t at)
{
	return HANDLE_CHUNK | c->id << 32 | at;
}

void perf_chunk_put(struct perf *p, struct perf_chunk *c)
{
	size_t gone = 0;

	if (!c || --c->refs)
		return;
	p->chunk[c->id - p->chunk_base] = NULL;
	perf_chunk_free(p, c);
	/* Remove the ids of freed chunks from the front of the list; move it
	 * only if that halves it, so that this is cheap on average. */
	while (gone < p->n_chunk && !p->chunk[gone])
		gone++;
	if (gone * 2 < p->n_chunk)
		return;
	memmove(p->chunk, p->chunk + gone,
		(p->n_chunk - gone) * sizeof(*p->chunk));
	p->n_chunk -= gone;
	p->chunk_base += gone;
}

void perf_chunk_release(struct perf *p)
{
	for (size_t i = 0; i < p->n_chunk; i++)
		perf_chunk_free(p, p->chunk[i]);
	if (p->spill > 0)
		close(p->spill - 1);
	p->spill = 0;
	free(p->chunk);
	p->chunk = NULL;
	p->n_chunk = 0;
}

/* ---- decompresses the records in COMPRESSED and COMPRESSED2.
 *
 * All compressed records of a file form one zstd stream without an end. Its
 * output is a stream of records, and a record may be split between two
 * compressed ones. Decompression goes chunk by chunk, because 64 KiB of input
 * can become gigabytes. */

#define Z_CHUNK ((size_t)128 * 1024)

struct perf_z {
	struct zstd_stream stream;
	struct perf_chunk *holds; /* contains the input; NULL: the file does */
	uint64_t off;
	bool more, dead;
};

static void perf_z_end_input(struct perf *p, struct perf_z *z)
{
	z->more = false;
	perf_chunk_put(p, z->holds);
	z->holds = NULL;
}

/* Starts to decompress the payload of a COMPRESSED record. */
static void perf_z_feed(struct perf *p, struct perf_file *f,
			const struct perf_rec *r)
{
	struct bytes b = r->b;
	struct bytes data;
	struct err why = { 0 };
	uint64_t n = r->size - 8u;

	const bool first = !f->z;

	if (first) {
		f->z = mem_new(1, sizeof(*f->z));
		f->z->stream.d = mem_must(ZSTD_createDStream());
	}
	struct perf_z *z = f->z;

	p->src.info.compressed = true;
	if (bytes_skip(&b, 8, &why) ||
	    (r->type == PR_COMPRESSED2 && bytes_u64(&b, &n, &why)) ||
	    bytes_take(&b, n, &data, &why) || rest_padding(&b, 7, &why)) {
		perf_damage(p, "compressed", r->off, r->size, &why);
		return;
	}
	if (z->dead) {
		/* zstd cannot decompress later data without the earlier */
		perf_damage_text(
			p, f->in.path, "compressed", r->off, r->size,
			"compressed data follows damaged compressed data");
		return;
	}
	/* perf (seen with 6.1) goes on with one stream when it
	 * switches its output: no program can decompress the files after the
	 * first */
	if (first && bytes_left(&data) >= strlen(FRAME_MAGIC) &&
	    memcmp(data.pos, FRAME_MAGIC, strlen(FRAME_MAGIC)) != 0) {
		z->dead = true;
		perf_damage_text(
			p, f->in.path, "compressed", r->off, r->size,
			"compressed data begins inside a stream, as in the "
			"later files of 'perf record -z --switch-output', "
			"which nothing can decompress: record without -z");
		return;
	}
	z->stream.in = (ZSTD_inBuffer){ data.pos, bytes_left(&data), 0 };
	z->off = r->off;
	z->more = true;
	z->holds = r->chunk;
	if (z->holds)
		z->holds->refs++;
}

static void perf_z_fail(struct perf *p, struct perf_file *f, const char *why)
{
	struct perf_z *z = f->z;

	perf_damage_text(p, f->in.path, "compressed", z->off, 0,
			 "compressed data is damaged (%s)", why);
	z->dead = true;
	perf_z_end_input(p, z);
}

/* Returns how many decompressed bytes are not walked yet. */
static size_t perf_z_rest(const struct perf_file *f)
{
	return f->plain ? f->plain->len - f->plain_at : 0;
}

/* Decompresses more bytes into f->plain. Returns false if no input is left. */
static bool perf_z_more(struct perf *p, struct perf_file *f)
{
	struct perf_z *z = f->z;

	if (!z || !z->more)
		return false;
	/* Start a chunk with the bytes of the old one that are not walked
	 * yet. */
	struct perf_chunk *old = f->plain;
	size_t rest = perf_z_rest(f);
	struct perf_chunk *c =
		perf_chunk_new(p, Z_CHUNK + rest, f->z->off, false);

	if (rest)
		memcpy(c->data, old->data + f->plain_at, rest);
	c->len = rest;
	/* nothing fills or walks it now: its records wait, and the bytes stay
	 * in the file */
	if (old && old->spilled)
		madvise(old->data, old->cap, MADV_DONTNEED);
	perf_chunk_put(p, old);
	f->plain = c;
	f->plain_at = 0;
	ZSTD_outBuffer out = { c->data, c->cap, c->len };

	const char *why = zstd_stream_decode(&z->stream, &out);

	c->len = out.pos;
	if (why) {
		perf_z_fail(p, f, why);
		return true;
	}
	/* if the chunk is full, the decoder may hold more output */
	if (out.pos < out.size)
		perf_z_end_input(p, z);
	return true;
}

static void perf_z_free(struct perf *p, struct perf_file *f)
{
	if (f->z) {
		perf_z_end_input(p, f->z);
		ZSTD_freeDStream(f->z->stream.d);
		free(f->z);
		f->z = NULL;
	}
	perf_chunk_put(p, f->plain);
	f->plain = NULL;
	f->plain_at = 0;
}

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

/* Reads until f->raw has n bytes or the file ends. Returns 0, or -1 and *err on
 * a read error. */
static inline int perf_walk_want(struct perf *p, struct perf_file *f, size_t n,
				 struct err *err)
{
	if (bytes_left(&f->raw) >= n || !f->window)
		return 0;
	size_t used = f->window->len - bytes_left(&f->raw);

	if (f->window->cap - used < n) {
		/* Replace the window by one with room for n bytes, which starts
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

/* Notes that the rest of the file cannot be read: only the size of a record
 * leads to the next one. */
static void perf_walk_report_bad_size(struct perf *p, struct perf_file *f,
				      uint64_t off, uint16_t size,
				      uint64_t left)
{
	perf_damage_text(p, f->in.path, "record", off, left,
			 "record size is %u, needs at least 8; the %" PRIu64
			 " bytes from here on are not readable",
			 size, left);
}

static inline void perf_walk_take_header(const struct bytes *b,
					 struct perf_rec *r)
{
	bytes_peek_u32(b, 0, &r->type);
	bytes_peek_u16(b, 4, &r->misc);
	bytes_peek_u16(b, 6, &r->size);
}

/* Returns 1 and a record of the file itself; 0 at its end; -1 and *err on a
 * read error. */
static int perf_walk_next_raw(struct perf *p, struct perf_file *f,
			      struct perf_rec *r, struct err *err)
{
	/* the payload that follows AUXTRACE, TRACING_DATA or a header that was
	 * cut */
	while (f->skip) {
		if (perf_walk_want(p, f, 1, err))
			return -1;
		uint64_t n = bytes_left(&f->raw);

		if (!n) {
			perf_walk_report_cut(p, f, f->skip);
			f->skip = 0;
			break;
		}
		lower_to(n, f->skip);
		bytes_skip(&f->raw, n, NULL);
		f->skip -= n;
	}

	if (f->done || perf_walk_want(p, f, HEADER, err))
		return f->done ? 0 : -1;
	if (bytes_left(&f->raw) < HEADER) {
		if (bytes_left(&f->raw))
			perf_walk_report_cut(p, f, HEADER);
		f->done = true;
		return 0;
	}
	perf_walk_take_header(&f->raw, r);
	uint64_t more = 0;

	if (perf_type_is_simpleperf(r->type) && r->misc) {
		/* above 64 KiB: cut to the header, and the rest is skipped */
		more = ((uint64_t)r->misc << 16 | r->size) - HEADER;
		r->size = HEADER;
	}

	if (r->size < HEADER) {
		perf_walk_report_bad_size(p, f, bytes_off(&f->raw), r->size,
					  bytes_left(&f->raw));
		f->done = true;
		return 0;
	}
	if (perf_walk_want(p, f, r->size, err))
		return -1;
	if (bytes_left(&f->raw) < r->size) {
		if (formats_is_messages(f->raw.pos, bytes_left(&f->raw))) {
			/* perf's standard error went to the same file */
			perf_note(
				p, "messages",
				"perf's messages follow the records: with 2>&1 they could "
				"as well be among them; send them elsewhere");
			f->done = true;
		} else {
			perf_walk_report_cut(p, f, r->size);
		}
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

/* Returns 1 and a decompressed record, or 0 if more must be decompressed
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

/* At the end of the file, notes as damage a record that is incomplete in the
 * compressed data. */
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
				struct perf_z *z = f->z;

				if (z && !z->dead &&
				    zstd_stream_is_open(&z->stream))
					perf_z_fail(p, f,
						    "it ends inside a block");
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
		/* if it is cut, perf_walk_next_raw() notes that */
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
