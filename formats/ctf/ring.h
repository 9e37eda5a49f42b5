/* ring.h - messages from the process that calls libbabeltrace2 to the one
 * that reads the capture, through shared memory.
 *
 * The memory is a few blocks. The writer fills one and says so by a byte in a
 * pipe; the reader gives it back by a byte in another. When the writer dies,
 * what it had handed over can still be read: then get() says the end. */
#ifndef FORMATS_CTF_RING_H
#define FORMATS_CTF_RING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* The largest message, with its head: more than any item. */
#define CTF_RING_MAX ((size_t)4 << 20)

struct ctf_msg {
	uint32_t kind; /* the user's */
	uint32_t len;  /* of what follows */
	uint32_t trace;
	uint8_t class, untimed;
	uint16_t none;
	uint64_t at;
};

struct ctf_ring;

/* NULL and *err when there is no memory or no pipe. */
struct ctf_ring *ctf_ring_new(struct err *err);
void ctf_ring_free(struct ctf_ring *rg);
/* After the fork, in each process: what it does from now on. */
void ctf_ring_writer(struct ctf_ring *rg);
void ctf_ring_reader(struct ctf_ring *rg);

/* Room for a message and len bytes behind it; its kind is the caller's to
 * set. NULL: too long, or the reader is gone. */
struct ctf_msg *ctf_ring_put(struct ctf_ring *rg, size_t len);
/* What was put so far can be read. */
void ctf_ring_flush(struct ctf_ring *rg);
/* 1, *out and the bytes behind it, until the next get; 0: the writer is gone,
 * or wrote what is no message; -1: it has not written anything for as many
 * seconds. */
int ctf_ring_get(struct ctf_ring *rg, struct ctf_msg *out,
		 const unsigned char **body, unsigned int seconds);
/* A word that both see: what the writer is at. */
void ctf_ring_note(struct ctf_ring *rg, uint32_t doing, uint64_t done);
void ctf_ring_noted(const struct ctf_ring *rg, uint32_t *doing, uint64_t *done);
#endif
