/* pack.c - the bytes of streams: plain in the file, or compressed in chunks
 * that are unpacked when needed.
 *
 * Each stream keeps a few unpacked chunks: the one being read ahead, the one
 * being decoded, and their neighbours. All together take at most WIN_MAX
 * bytes. */
#include "formats/ftrace/pack.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "stitch/base/err.h"
#include "stitch/base/search.h"

/* trace-cmd compresses about ten pages at a time. */
#define CHUNK_MAX ((uint32_t)2 << 20)
#define WIN_MAX ((uint64_t)128 << 20)
#define STREAMS_MAX 65000u

int ft_unpack(struct ft *ft, const struct bytes *b, void *out, size_t len,
	      struct err *err)
{
	switch (ft->pack) {
	case FT_PACK_ZSTD: {
		/* without memory the program ends: that is not damage of the
		 * capture */
		ZSTD_DCtx *d = mem_must(ZSTD_createDCtx());
		size_t got =
			ZSTD_decompressDCtx(d, out, len, b->pos, bytes_left(b));

		ZSTD_freeDCtx(d);
		if (ZSTD_isError(got))
			return err_at(err, b->path, bytes_off(b),
				      "packed data is damaged (%s)",
				      ZSTD_getErrorName(got));
		if (got != len)
			return err_at(err, b->path, bytes_off(b),
				      "packed data holds %zu bytes, needs %zu",
				      got, len);
		return 0;
	}
	case FT_PACK_ZLIB: {
		uLongf got = len;
		int rc = uncompress(out, &got, b->pos, bytes_left(b));

		mem_must(rc == Z_MEM_ERROR ? NULL : out);
		if (rc != Z_OK)
			return err_at(err, b->path, bytes_off(b),
				      "packed data is damaged (zlib says %d)",
				      rc);
		if (got != len)
			return err_at(err, b->path, bytes_off(b),
				      "packed data holds %lu bytes, needs %zu",
				      (unsigned long)got, len);
		return 0;
	}
	default:
		return err_at(err, b->path, bytes_off(b),
			      "packed data, but the file says it has none");
	}
}

static struct ft_stream *ft_stream_add(struct ft *ft, uint32_t instance,
				       int32_t cpu, uint64_t off)
{
	if (ft->n_stream >= STREAMS_MAX) {
		reader_damage_text(&ft->src, ft->in.path, "limit", off, 0,
				   "more than %u rings", STREAMS_MAX);
		return NULL;
	}
	mem_grow(ft->stream, ft->cap_stream, ft->n_stream + 1);
	struct ft_stream *s = &ft->stream[ft->n_stream++];

	memset(s, 0, sizeof(*s));
	s->cpu = cpu;
	s->instance = instance;
	s->subbuf = ft->inst[instance].subbuf;
	s->off = off;
	s->data = ft->in.data;
	s->path = ft->in.path;
	return s;
}

/* Returns how many of the len bytes at off are in the file, and notes the rest
 * as damage. Rings must not overlap: a small file with many overlapping rings
 * could take hours. */
static uint64_t ft_stream_cut(struct ft *ft, uint64_t off, uint64_t len)
{
	uint64_t have = off < ft->in.len ? ft->in.len - off : 0;

	lower_to(have, len);
	if (have > ft->in.len - ft->claimed) {
		reader_damage_text(
			&ft->src, ft->in.path, "overlap", off, len,
			"rings are larger than the file that they are in");
		return 0;
	}
	ft->claimed += have;
	if (have == len)
		return len;
	reader_damage_text(
		&ft->src, ft->in.path, "truncated", ft->in.len, len - have,
		"the file ends here, needs %llu more bytes of a ring at 0x%llx",
		(unsigned long long)(len - have), (unsigned long long)off);
	ft->src.info.truncated = true;
	return have;
}

/* Adds a stream of len bytes at off and returns it, or NULL if the file has
 * none of them. *have is set to the number of bytes in the file. */
static struct ft_stream *ft_stream_begin(struct ft *ft, uint32_t instance,
					 int32_t cpu, uint64_t off,
					 uint64_t len, uint64_t *have)
{
	*have = len ? ft_stream_cut(ft, off, len) : 0;
	return *have ? ft_stream_add(ft, instance, cpu, off) : NULL;
}

void ft_stream_plain(struct ft *ft, uint32_t instance, int32_t cpu,
		     uint64_t off, uint64_t len)
{
	uint64_t have;
	struct ft_stream *s =
		ft_stream_begin(ft, instance, cpu, off, len, &have);

	claims_add(&ft->claims, off, have);
	if (s)
		s->len = have;
}

void ft_stream_file(struct ft *ft, uint32_t instance, int32_t cpu,
		    const struct input *in)
{
	struct ft_stream *s = ft_stream_add(ft, instance, cpu, 0);

	if (!s)
		return;
	s->data = in->data;
	s->path = in->path;
	s->len = in->len;
}

/* Adds one chunk {packed size, size, data} to a stream. Returns false if it is
 * incomplete. */
static bool ft_stream_take_chunk(struct ft *ft, struct ft_stream *s,
				 struct bytes *b, struct err *err)
{
	struct ft_chunk c = { .at = s->len };
	uint64_t at = bytes_off(b);

	if (bytes_u32(b, &c.packed, err) || bytes_u32(b, &c.len, err))
		return false;
	c.off = bytes_off(b);
	if (!c.len || c.len > CHUNK_MAX || c.len % s->subbuf) {
		err_at(err, ft->in.path, at,
		       "a chunk of %u bytes, needs whole pages of %u, %u at "
		       "most",
		       c.len, s->subbuf, CHUNK_MAX);
		return false;
	}
	if (bytes_skip(b, c.packed, err))
		return false;
	*mem_add(s->chunk, s->n_chunk, s->cap_chunk) = c;
	s->len += c.len;
	return true;
}

void ft_stream_packed(struct ft *ft, uint32_t instance, int32_t cpu,
		      uint64_t off, uint64_t len, uint64_t *end)
{
	struct err why = { 0 };
	struct bytes b;
	uint64_t have;
	uint32_t n;
	struct ft_stream *s =
		ft_stream_begin(ft, instance, cpu, off, len, &have);

	if (!s)
		return;
	/* trace-cmd 3.1 does not include the count of chunks in the length */
	uint64_t most = ft->in.len - off;

	bytes_init(&b, ft->in.data + off, most < len + 4 ? most : len + 4,
		   ft->in.path, off, ft->swap);
	bool good = !bytes_u32(&b, &n, &why);

	for (uint32_t i = 0; good && i < n; i++)
		good = ft_stream_take_chunk(ft, s, &b, &why);
	if (good) {
		/* the chunks must end where the ring ends, give or take that
		 * count */
		uint64_t used = bytes_off(&b) - off;

		good = used == len || used == len + 4;
		if (!good)
			err_at(&why, b.path, bytes_off(&b),
			       "the chunks of a ring end here, after 0x%" PRIx64
			       " bytes, but the ring has 0x%" PRIx64
			       "; the number of chunks or the length is wrong",
			       used, len);
	}
	claims_add(&ft->claims, off, bytes_off(&b) - off);
	/* a ring that extends beyond the file was noted before */
	if (!good && have == len)
		reader_damage(&ft->src, "chunk", bytes_off(&b), bytes_left(&b),
			      &why);
	if (end)
		*end = bytes_off(&b);
	if (s->n_chunk)
		return;
	free(s->chunk);
	ft->n_stream--;
}

static void ft_window_drop(struct ft *ft, struct ft_win *w)
{
	ft->win_bytes -= w->cap;
	free(w->data);
	*w = (struct ft_win){ 0 };
}

/* Returns the least recently used window with memory, of all streams except
 * `not`, or NULL. */
static struct ft_win *ft_window_oldest(struct ft *ft,
				       const struct ft_stream * not )
{
	struct ft_win *old = NULL;

	for (size_t i = 0; i < ft->n_stream; i++) {
		struct ft_stream *s = &ft->stream[i];

		for (size_t j = 0; j < FT_WINS && s != not ; j++)
			if (s->win[j].cap &&
			    (!old || s->win[j].used < old->used))
				old = &s->win[j];
	}
	return old;
}

/* Returns the index of the chunk that contains place: the last one that begins
 * at or before it. */
static size_t ft_chunk_index(const struct ft_stream *s, uint64_t place)
{
	size_t i = search_where(s->n_chunk, k, s->chunk[k].at > place);

	return i ? i - 1 : 0;
}

/* Unpacks chunk i into the window, with memory of an old one if too much is in
 * use. Returns 0, or -1 and *err. */
static int ft_window_load(struct ft *ft, struct ft_stream *s, struct ft_win *w,
			  size_t i, struct err *err)
{
	const struct ft_chunk *c = &s->chunk[i];
	struct bytes b;

	w->chunk = 0;
	if (w->cap < c->len) {
		struct ft_win *old;
		size_t cap = 0;

		ft_window_drop(ft, w);
		while (ft->win_bytes + c->len > WIN_MAX &&
		       (old = ft_window_oldest(ft, s)))
			ft_window_drop(ft, old);
		w->data = mem_grow_to(NULL, &cap, c->len, 1);
		w->cap = cap;
		ft->win_bytes += cap;
	}
	bytes_init(&b, ft->in.data + c->off, c->packed, ft->in.path, c->off,
		   false);
	if (ft_unpack(ft, &b, w->data, c->len, err))
		return -1;
	w->chunk = i + 1;
	return 0;
}

/* Returns the index of the window that contains place, or FT_WINS if none
 * does. */
static size_t ft_window_find(const struct ft_stream *s, uint64_t place)
{
	for (size_t i = 0; i < FT_WINS; i++) {
		if (!s->win[i].chunk)
			continue;
		const struct ft_chunk *c = &s->chunk[s->win[i].chunk - 1];

		if (place >= c->at && place - c->at < c->len)
			return i;
	}
	return FT_WINS;
}

int ft_stream_unpack(struct ft *ft, struct ft_stream *s, uint64_t place,
		     struct bytes *out, struct err *err)
{
	if (place >= s->len)
		return err_at(err, s->path, ft_stream_file_offset(s, place),
			      "nothing there: the ring has 0x%llx bytes",
			      (unsigned long long)s->len);
	size_t i = ft_window_find(s, place);

	if (i == FT_WINS) {
		i = 0;
		for (size_t j = 1; j < FT_WINS; j++)
			if (s->win[j].used < s->win[i].used)
				i = j;
		if (ft_window_load(ft, s, &s->win[i], ft_chunk_index(s, place),
				   err))
			return -1;
	}
	struct ft_win *w = &s->win[i];
	const struct ft_chunk *c = &s->chunk[w->chunk - 1];

	w->used = ++ft->tick;
	bytes_init(out, w->data + (place - c->at), c->len - (place - c->at),
		   ft->in.path, c->off, ft->swap);
	return 0;
}

int ft_stream_bytes(struct ft *ft, struct ft_stream *s, uint64_t place,
		    uint64_t n, struct bytes *out, struct err *err)
{
	struct bytes b;

	return ft_stream_rest(ft, s, place, &b, err)
		       ?: bytes_take(&b, n, out, err);
}

uint64_t ft_stream_chunk_offset(const struct ft_stream *s, uint64_t place)
{
	size_t i = ft_window_find(s, place);

	return s->chunk[i < FT_WINS ? s->win[i].chunk - 1
				    : ft_chunk_index(s, place)]
		.off;
}

void ft_streams_release(struct ft *ft)
{
	for (size_t i = 0; i < ft->n_stream; i++) {
		for (size_t j = 0; j < FT_WINS; j++)
			free(ft->stream[i].win[j].data);
		free(ft->stream[i].chunk);
	}
	free(ft->stream);
}
