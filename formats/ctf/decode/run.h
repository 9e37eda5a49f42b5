/* run.h - runs programs over the bytes of a packet.
 *
 * ctf_run() reads what the program says from state->cur. It never reads past
 * cur.end, allocates only if a list is longer than all before, and stops with
 * state->why at bytes that do not fit the class. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/ctf/decode/program.h"
#include "formats/ctf/decode/cursor.h"

struct bytes;
struct ctf_node;
struct ctf_state;

/* ---- where a stream stands, and what its last event had. */

/* The place of a field of variable length has 16 bits for its offset. */
#define CTF_PAYLOAD_MAX 0xffffu
/* Labels, names of members and a packet's own fields, which all its events
 * have, make long payloads of short events: of 4 MB 100 GB. */
#define CTF_OUTPUT_RATIO 256
#define CTF_ROLE_COUNT 16
#define CTF_UUID 16

/* A list of addresses or of names, with room that is kept. */
struct ctf_addrs {
	uint64_t *ip; /* owned */
	size_t n, cap;
	bool cut; /* LTTng cut it at its limit */
};

struct ctf_state {
	struct ctf_cursor cur;
	uint64_t *slot;	 /* as many as the stream class has */
	uint64_t *clock; /* as many as the trace has */
	const char *why; /* why ctf_run() failed */
	/* The last value of each role, and a bit for those that were set. */
	uint64_t role[CTF_ROLE_COUNT];
	uint32_t roles;
	uint8_t uuid[CTF_UUID];
	/* Set by the caller: where the payload goes, with room for
	 * CTF_PAYLOAD_MAX + 1 bytes if the program is dynamic; and how much of
	 * it has fixed places. */
	unsigned char *raw;
	size_t raw_len;
	uint64_t idle;	 /* elements of no size in this packet */
	uint64_t output; /* bytes that its payloads had after their fixed part,
			  * and labels that were looked at, four as one */
	bool again;	 /* a packet's context is read again for its fields: it
			  * has no effects */
	uint32_t n_cut;	 /* fields cut at the end of the payload */
	/* Numbers by their use, and a bit for those that were set. */
	uint64_t use[CTF_PROCNAME];
	uint32_t uses;
	const char *name; /* the process's, in the packet; NULL: none */
	size_t name_len;  /* at most: it may end with a 0 before */
	struct ctf_addrs kern, user;
	char *names; /* user.n of them, each ending with a 0 */
	size_t names_len, cap_names;
};

/* Forgets what the event before had. */
static inline void ctf_state_clear(struct ctf_state *st)
{
	st->uses = 0;
	st->name = NULL;
	st->kern.n = st->user.n = st->names_len = 0;
	st->kern.cut = st->user.cut = false;
}

/* Frees the lists. */
static inline void ctf_state_trim(struct ctf_state *st)
{
	free(st->kern.ip);
	free(st->user.ip);
	free(st->names);
	st->kern = st->user = (struct ctf_addrs){ 0 };
	st->names = NULL;
	st->names_len = st->cap_names = 0;
}

static inline void ctf_state_release(struct ctf_state *st)
{
	ctf_state_trim(st);
	*st = (struct ctf_state){ 0 };
}

/* Returns 0, or -1 and state->why. */
int ctf_run(const struct ctf_program *p, struct ctf_state *st);
/* The same for an event header; at once if it is a struct ctf_brief_header. */
int ctf_run_header(const struct ctf_program *p, struct ctf_state *st);

/* ---- any field as text: numbers, lists and structures as JSON. */

/* Reads a number, aligned already, with its effects on slots, clocks and
 * roles. Signed ones are extended to 64 bits. */
int ctf_field_number(struct ctf_state *st, const struct ctf_node *node,
		     uint64_t *out);
/* Returns the option that a selector's value chooses, or -1. */
int64_t ctf_field_option(const struct ctf_node *node, uint64_t value);
/* Returns how many elements or bytes a list or text has. */
uint64_t ctf_field_length(const struct ctf_state *st,
			  const struct ctf_node *node);
/* Sets *out to the bytes of a string or BLOB. A string's end at the first
 * null. */
int ctf_field_chars(struct ctf_state *st, const struct ctf_node *node,
		    struct bytes *out);
/* Sets st->why and returns -1. */
int ctf_field_stop(struct ctf_state *st, const char *why);

/* Text that grows at the end of the payload. */
struct ctf_text {
	unsigned char *at;
	size_t n, max;
	bool cut;
};

/* Adds a floating-point number: 15 digits if they parse to the same number,
 * else 17, which always do; 6 or 9 if it is of single precision. */
void ctf_text_real(struct ctf_text *t, double v, bool single);
