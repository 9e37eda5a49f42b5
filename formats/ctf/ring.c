/* ring.c - passes messages from one process to another. */
#include "formats/ctf/ring.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"

#define BLOCKS 8
/* A block with this many bytes is handed over: as much as fits in the caches.
 */
#define FULL ((size_t)128 << 10)

struct block {
	size_t used;
	_Alignas(16) unsigned char data[CTF_RING_MAX];
};

struct shared {
	_Atomic uint32_t doing;
	_Atomic uint64_t done;
	struct block block[BLOCKS];
};

struct ctf_ring {
	struct shared *shared;
	int full[2], empty[2]; /* pipes: written to the reader, to the writer */
	unsigned int now;      /* index of the current block */
	unsigned int left;     /* writer: blocks that are empty */
	bool open;	       /* the current block is being used */
	size_t pos, len;       /* reader: in the current block */
};

static void ctf_ring_close_pipe(int fd[2])
{
	for (int i = 0; i < 2; i++)
		if (fd[i] >= 0)
			close(fd[i]);
	fd[0] = fd[1] = -1;
}

struct ctf_ring *ctf_ring_new(struct err *err)
{
	struct ctf_ring *rg = mem_new(1, sizeof(*rg));

	rg->full[0] = rg->full[1] = rg->empty[0] = rg->empty[1] = -1;
	rg->left = BLOCKS;
	/* pages that are never touched need no memory */
	rg->shared = mmap(NULL, sizeof(*rg->shared), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (rg->shared == MAP_FAILED)
		rg->shared = NULL;
	if (rg->shared && !pipe2(rg->full, O_CLOEXEC) &&
	    !pipe2(rg->empty, O_CLOEXEC))
		return rg;
	err_set(err, ERR_IO, "no memory or pipe to another process (%m)");
	ctf_ring_free(rg);
	return NULL;
}

void ctf_ring_free(struct ctf_ring *rg)
{
	if (!rg)
		return;
	ctf_ring_close_pipe(rg->full);
	ctf_ring_close_pipe(rg->empty);
	if (rg->shared)
		munmap(rg->shared, sizeof(*rg->shared));
	free(rg);
}

static void ctf_ring_keep_end(int fd[2], int which)
{
	close(fd[1 - which]);
	fd[1 - which] = -1;
}

void ctf_ring_writer(struct ctf_ring *rg)
{
	ctf_ring_keep_end(rg->full, 1);
	ctf_ring_keep_end(rg->empty, 0);
}

void ctf_ring_reader(struct ctf_ring *rg)
{
	/* both ends of empty stay open, so that returning a block to a dead
	 * writer causes no SIGPIPE */
	ctf_ring_keep_end(rg->full, 0);
}

/* Writes one byte. Returns false on failure. */
static bool ctf_ring_push(int fd)
{
	ssize_t n;

	do
		n = write(fd, "", 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* Reads up to `most` bytes and returns how many; 0 if the writer is gone. */
static unsigned int ctf_ring_pull(int fd, unsigned int most)
{
	char buf[BLOCKS];
	ssize_t n;

	do
		n = read(fd, buf, most < BLOCKS ? most : BLOCKS);
	while (n < 0 && errno == EINTR);
	return n > 0 ? (unsigned int)n : 0;
}

/* ---- the writer */

void ctf_ring_flush(struct ctf_ring *rg)
{
	if (!rg->open)
		return;
	rg->open = false;
	rg->now = (rg->now + 1) % BLOCKS;
	rg->left--;
	ctf_ring_push(rg->full[1]);
}

static struct block *ctf_ring_writable_block(struct ctf_ring *rg)
{
	struct block *b = &rg->shared->block[rg->now];

	if (rg->open)
		return b;
	if (!rg->left)
		rg->left = ctf_ring_pull(rg->empty[0], BLOCKS);
	if (!rg->left)
		return NULL;
	rg->open = true;
	b->used = 0;
	return b;
}

struct ctf_msg *ctf_ring_put(struct ctf_ring *rg, size_t len)
{
	size_t need = (sizeof(struct ctf_msg) + len + 15) & ~(size_t)15;

	if (len > CTF_RING_MAX - sizeof(struct ctf_msg) - 16)
		return NULL;
	if (rg->open) {
		size_t used = rg->shared->block[rg->now].used;

		if (used >= FULL || need > CTF_RING_MAX - used)
			ctf_ring_flush(rg);
	}
	struct block *b = ctf_ring_writable_block(rg);

	if (!b)
		return NULL;
	struct ctf_msg *m = (struct ctf_msg *)(b->data + b->used);

	*m = (struct ctf_msg){ .len = (uint32_t)len };
	b->used += need;
	return m;
}

void ctf_ring_note(struct ctf_ring *rg, uint32_t doing, uint64_t done)
{
	atomic_store_explicit(&rg->shared->doing, doing, memory_order_relaxed);
	atomic_store_explicit(&rg->shared->done, done, memory_order_relaxed);
}

/* ---- the reader */

void ctf_ring_noted(const struct ctf_ring *rg, uint32_t *doing, uint64_t *done)
{
	*doing = atomic_load_explicit(&rg->shared->doing, memory_order_relaxed);
	*done = atomic_load_explicit(&rg->shared->done, memory_order_relaxed);
}

/* Returns 1, 0 if the writer is gone, -1 on timeout. */
static int ctf_ring_next_block(struct ctf_ring *rg, unsigned int seconds)
{
	struct pollfd p = { .fd = rg->full[0], .events = POLLIN };
	int n;

	if (rg->open) {
		rg->open = false;
		rg->shared->block[rg->now].used = 0;
		rg->now = (rg->now + 1) % BLOCKS;
		ctf_ring_push(rg->empty[1]); /* fails if the writer is gone */
	}
	do
		n = poll(&p, 1, (int)seconds * 1000);
	while (n < 0 && errno == EINTR);
	if (!n)
		return -1;
	/* the messages in the block that a dead writer was filling are
	 * complete: it does not die in ctf_ring_put() */
	if (!ctf_ring_pull(rg->full[0], 1) && !rg->shared->block[rg->now].used)
		return 0;
	rg->open = true;
	rg->pos = 0;
	rg->len = rg->shared->block[rg->now].used;
	return rg->len <= CTF_RING_MAX;
}

int ctf_ring_get(struct ctf_ring *rg, struct ctf_msg *out,
		 const unsigned char **body, unsigned int seconds)
{
	while (!rg->open || rg->pos >= rg->len) {
		int got = ctf_ring_next_block(rg, seconds);

		if (got <= 0)
			return got;
	}
	/* The writer runs the library, so its messages are not trusted. */
	const unsigned char *at = rg->shared->block[rg->now].data + rg->pos;
	size_t left = rg->len - rg->pos;

	if (left < sizeof(*out))
		return 0;
	memcpy(out, at, sizeof(*out));
	if (out->len > left - sizeof(*out))
		return 0;
	*body = at + sizeof(*out);
	rg->pos += (sizeof(*out) + out->len + 15) & ~(size_t)15;
	return 1;
}
