/* pack.h - the bytes of streams: plain pages, or compressed chunks. */
#pragma once

#include "formats/ftrace/ftrace.h"

/* Unpacks b into out, which must become exactly len bytes. Returns 0, or -1 and
 * *err. */
int ft_unpack(struct ft *ft, const struct bytes *b, void *out, size_t len,
	      struct err *err);
/* Add a stream of plain pages, or of compressed chunks; what is beyond the end
 * of the file is noted and left out. *end is set to where the chunks end. */
void ft_stream_plain(struct ft *ft, uint32_t instance, int32_t cpu,
		     uint64_t off, uint64_t len);
void ft_stream_packed(struct ft *ft, uint32_t instance, int32_t cpu,
		      uint64_t off, uint64_t len, uint64_t *end);
/* Sets *out to the n bytes at place, which must be in one chunk. Returns 0, or
 * -1 and *err. Borrowed until the next call. */
int ft_stream_bytes(struct ft *ft, struct ft_stream *s, uint64_t place,
		    uint64_t n, struct bytes *out, struct err *err);
/* ft_stream_rest() for a ring of chunks, or a place after the end. */
int ft_stream_unpack(struct ft *ft, struct ft_stream *s, uint64_t place,
		     struct bytes *out, struct err *err);
/* ft_stream_rest() for a plain ring and a place in it. */
static inline void ft_stream_plain_rest(const struct ft *ft,
					const struct ft_stream *s,
					uint64_t place, struct bytes *out)
{
	bytes_init(out, s->data + s->off + place, s->len - place, s->path,
		   s->off + place, ft->swap);
}
/* Sets *out to the bytes from place to the end of the chunk or ring. Returns 0,
 * or -1 and *err. Borrowed until the next call. */
static inline int ft_stream_rest(struct ft *ft, struct ft_stream *s,
				 uint64_t place, struct bytes *out,
				 struct err *err)
{
	if (s->n_chunk || place >= s->len)
		return ft_stream_unpack(ft, s, place, out, err);
	ft_stream_plain_rest(ft, s, place, out);
	return 0;
}
/* Returns the offset of a place in the file, for messages. */
uint64_t ft_stream_chunk_offset(const struct ft_stream *s, uint64_t place);
static inline uint64_t ft_stream_file_offset(const struct ft_stream *s,
					     uint64_t place)
{
	return s->n_chunk ? ft_stream_chunk_offset(s, place) : s->off + place;
}
void ft_streams_release(struct ft *ft);

/* Adds a stream that is a file by itself. `in` stays open, and the caller
 * closes it. */
void ft_stream_file(struct ft *ft, uint32_t instance, int32_t cpu,
		    const struct input *in);
