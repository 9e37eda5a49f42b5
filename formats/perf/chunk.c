/* chunk.c - memory for records that are not in a mapped file.
 *
 * A chunk counts its references: one of the code that fills or walks it, and
 * one for each ref to a record in it. A handle is the top bit, the chunk's id
 * and the offset of the record in the chunk.
 *
 * Chunks beyond the memory there is are in a temporary file, which is mapped:
 * records of one time wait for each other, and 88 KB of compressed ones can be
 * gigabytes. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/perf/perf.h"
#include "stitch/files/new_file.h"

#define HANDLE_CHUNK ((uint64_t)1 << 63)
#define MEMORY_DEFAULT ((uint64_t)256 << 20)
/* A multiple of all sizes of pages. */
#define SPILL_UNIT ((size_t)64 << 10)

/* Gives the chunk memory in the file. Returns false if that cannot be. */
static bool perf_chunk_spill(struct perf *p, struct perf_chunk *c, size_t cap)
{
	const char *dir = p->opts.temp_dir ? p->opts.temp_dir : "/tmp";
	int fd = p->spill > 0 ? p->spill - 1 : -1;

	if (!p->spill) {
		fd = temp_open(dir);
		p->spill = fd < 0 ? -1 : fd + 1;
	}
	cap = (cap + SPILL_UNIT - 1) / SPILL_UNIT * SPILL_UNIT;
	/* a full disk would be a signal when the memory is written */
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

void perf_chunk_wait(struct perf_chunk *c)
{
	/* the bytes stay in the file */
	if (c && c->spilled)
		madvise(c->data, c->cap, MADV_DONTNEED);
}

struct perf_chunk *perf_chunk_new(struct perf *p, size_t cap, uint64_t off,
				  bool flat)
{
	struct perf_chunk *c = mem_new(1, sizeof(*c));

	/* A pipe is first released in time order as far as that goes. */
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
	/* Drop the ids of freed chunks from the front of the list; but move it
	 * only if that halves it, so that it is cheap on average. */
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
