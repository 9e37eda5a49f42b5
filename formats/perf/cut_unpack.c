/* cut_unpack.c - the records in the compressed records of a stream that is cut.
 */
#include "formats/perf/cut_unpack.h"

#include "formats/perf/zstd_stream.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

/* 64 KiB of input can become gigabytes: they are unpacked in such steps. */
#define UNPACK_STEP ((size_t)256 << 10)

struct cut_unpack {
	struct zstd_stream stream;
	bool more;
	bool dead;	   /* zstd needs the earlier data for the later */
	const char *error; /* is told when what is before it was taken */
	unsigned char *plain;
	size_t n, cap;
};

struct cut_unpack *cut_unpack_new(void)
{
	struct cut_unpack *u = mem_new(1, sizeof(*u));

	u->stream.d = mem_must(ZSTD_createDStream());
	return u;
}

void cut_unpack_free(struct cut_unpack *u)
{
	if (!u)
		return;
	ZSTD_freeDStream(u->stream.d);
	free(u->plain);
	free(u);
}

void cut_unpack_feed(struct cut_unpack *u, const void *data, size_t n)
{
	u->stream.in = (ZSTD_inBuffer){ data, n, 0 };
	u->more = true;
}

int cut_unpack_next(struct cut_unpack *u, const unsigned char **data,
		    size_t *len, const char *path, uint64_t off,
		    struct err *err)
{
	if (!u->more)
		return 0;
	if (u->dead) {
		const char *why = u->error ? u->error : "data before it is";

		u->more = false;
		u->error = NULL;
		return err_at(err, path, off, "compressed data is damaged (%s)",
			      why);
	}
	mem_grow(u->plain, u->cap, u->n + UNPACK_STEP);
	ZSTD_outBuffer out = { u->plain, u->n + UNPACK_STEP, u->n };

	u->error = zstd_stream_decode(&u->stream, &out);
	u->dead = u->error != NULL;
	u->n = out.pos;
	/* if there is no room, the decoder may still hold output */
	u->more = u->dead || out.pos == out.size;
	*data = u->plain;
	*len = u->n;
	return 1;
}

void cut_unpack_used(struct cut_unpack *u, size_t n)
{
	memmove(u->plain, u->plain + n, u->n - n);
	u->n -= n;
}

bool cut_unpack_is_open(const struct cut_unpack *u)
{
	return u->n || (!u->dead && zstd_stream_is_open(&u->stream));
}
