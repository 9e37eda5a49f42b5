/* ring.c - messages from one process to another. */
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
/* A block is handed over when it has this much: what is in the caches. */
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
	unsigned int now;      /* block */
	unsigned int left;     /* writer: blocks that are empty */
	bool open;	       /* now is being written, or read */
	size_t pos, len;       /* reader: of now */
};

static void close_all(int fd[2])
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
	/* pages that nobody touches cost nothing */
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
	close_all(rg->full);
	close_all(rg->empty);
	if (rg->shared)
		munmap(rg->shared, sizeof(*rg->shared));
	free(rg);
}

static void keep_one(int fd[2], int which)
{
	close(fd[1 - which]);
	fd[1 - which] = -1;
}

void ctf_ring_writer(struct ctf_ring *rg)
{
	keep_one(rg->full, 1);
	keep_one(rg->empty, 0);
}

void ctf_ring_reader(struct ctf_ring *rg)
{
	/* empty stays open at both ends: giving a block back to a writer that
	 * died is no SIGPIPE */
	keep_one(rg->full, 0);
}

/* One byte: true when it went through. */
static bool push(int fd)
{
	ssize_t n;

	do
		n = write(fd, "", 1);
	while (n < 0 && errno == EINTR);
	return n == 1;
}

/* As many bytes as are there: how many; 0: the other side is gone. */
static unsigned int pull(int fd, unsigned int most)
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
	push(rg->full[1]);
}

static struct block *writable(struct ctf_ring *rg)
{
	struct block *b = &rg->shared->block[rg->now];

	if (rg->open)
		return b;
	if (!rg->left)
		rg->left = pull(rg->empty[0], BLOCKS);
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
	struct block *b = writable(rg);

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

/* 1, 0 the writer is gone, -1 it is late. */
static int next_block(struct ctf_ring *rg, unsigned int seconds)
{
	struct pollfd p = { .fd = rg->full[0], .events = POLLIN };
	int n;

	if (rg->open) {
		rg->open = false;
		rg->shared->block[rg->now].used = 0;
		rg->now = (rg->now + 1) % BLOCKS;
		push(rg->empty[1]); /* a writer that is gone needs none */
	}
	do
		n = poll(&p, 1, (int)seconds * 1000);
	while (n < 0 && errno == EINTR);
	if (!n)
		return -1;
	/* what it was filling when it died is whole: it does not die in put()
	 */
	if (!pull(rg->full[0], 1) && !rg->shared->block[rg->now].used)
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
		int got = next_block(rg, seconds);

		if (got <= 0)
			return got;
	}
	/* The writer is a library's victim: nothing of it is believed. */
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
