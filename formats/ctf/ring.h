/* ring.h - passes messages through shared memory, from the process that calls
 * libbabeltrace2 to the one that reads the capture.
 *
 * The memory consists of a few blocks. The writer fills a block and writes a
 * byte to a pipe; the reader returns the block by a byte in another pipe. If
 * the writer dies, the reader still gets all messages of filled blocks, then
 * ctf_ring_get() returns 0. */
#ifndef FORMATS_CTF_RING_H
#define FORMATS_CTF_RING_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

/* The largest message, with its head: more than any item. */
#define CTF_RING_MAX ((size_t)4 << 20)

struct ctf_msg {
	uint32_t kind; /* set by the writer */
	uint32_t len;  /* of the bytes that follow */
	uint32_t trace;
	uint8_t ref_kind, untimed;
	uint16_t none;
	uint64_t at;
};

struct ctf_ring;

/* Returns NULL and *err if there is no memory or no pipe. */
struct ctf_ring *ctf_ring_new(struct err *err);
void ctf_ring_free(struct ctf_ring *rg);
/* After the fork each process calls one of them. */
void ctf_ring_writer(struct ctf_ring *rg);
void ctf_ring_reader(struct ctf_ring *rg);

/* Returns a message with len bytes after it, for the caller to fill. NULL: too
 * long, or the reader is gone. */
struct ctf_msg *ctf_ring_put(struct ctf_ring *rg, size_t len);
/* Hands all messages so far to the reader. */
void ctf_ring_flush(struct ctf_ring *rg);
/* Returns 1, *out and the bytes after it, valid until the next call; 0 if the
 * writer is gone or wrote no valid message; -1 if it wrote nothing for
 * `seconds`. */
int ctf_ring_get(struct ctf_ring *rg, struct ctf_msg *out,
		 const unsigned char **body, unsigned int seconds);
/* The trace that the writer is reading, plus 1 (0: none), and its progress. */
void ctf_ring_note(struct ctf_ring *rg, uint32_t doing, uint64_t done);
void ctf_ring_noted(const struct ctf_ring *rg, uint32_t *doing, uint64_t *done);
#endif
