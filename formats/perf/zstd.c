/* zstd.c - decompresses the records in COMPRESSED and COMPRESSED2.
 *
 * All compressed records of a file form one zstd stream without an end. Its
 * output is a stream of records, and a record may be split between two
 * compressed ones. Decompression goes chunk by chunk, because 64 KiB of input
 * can become gigabytes. */
#include <stdlib.h>
#include <string.h>

#include "formats/perf/perf.h"
#include "formats/perf/zstd_stream.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"

#define Z_CHUNK ((size_t)128 * 1024)

struct perf_z {
	struct zstd_stream stream;
	struct perf_chunk *holds; /* has the input; NULL: the file has it */
	uint64_t off;
	bool more, dead;
};

static void perf_z_end_input(struct perf *p, struct perf_z *z)
{
	z->more = false;
	perf_chunk_put(p, z->holds);
	z->holds = NULL;
}

void perf_z_feed(struct perf *p, struct perf_file *f, const struct perf_rec *r)
{
	struct bytes b = r->b;
	struct bytes data;
	struct err why = { 0 };
	uint64_t n = r->size - 8u;

	if (!f->z) {
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
		/* zstd needs the earlier data to decompress the later */
		perf_damage_text(
			p, f->in.path, "compressed", r->off, r->size,
			"compressed data follows damaged compressed data");
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

bool perf_z_more(struct perf *p, struct perf_file *f)
{
	struct perf_z *z = f->z;

	if (!z || !z->more)
		return false;
	/* Start a chunk with the bytes of the last one that are not walked yet.
	 */
	struct perf_chunk *old = f->plain;
	size_t rest = perf_z_rest(f);
	struct perf_chunk *c =
		perf_chunk_new(p, Z_CHUNK + rest, f->z->off, false);

	if (rest)
		memcpy(c->data, old->data + f->plain_at, rest);
	c->len = rest;
	perf_chunk_wait(old);
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
	/* if the chunk is full, the decoder may still hold output */
	if (out.pos < out.size)
		perf_z_end_input(p, z);
	return true;
}

void perf_z_check_end(struct perf *p, struct perf_file *f)
{
	struct perf_z *z = f->z;

	if (z && !z->dead && zstd_stream_is_open(&z->stream))
		perf_z_fail(p, f, "it ends inside a block");
}

size_t perf_z_rest(const struct perf_file *f)
{
	return f->plain ? f->plain->len - f->plain_at : 0;
}

void perf_z_free(struct perf *p, struct perf_file *f)
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
