/* run.h - runs programs over the bytes of a packet.
 *
 * ctf_run() reads the fields of the program from state->cur. It never reads
 * past cur.end, allocates only if a list is longer than all before it, and
 * stops with state->why at bytes that do not fit the class. */
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

/* ---- the position in a stream, and the values of its last event. */

/* The largest payload: the place of a field of variable length has 16 bits for
 * the offset. */
#define CTF_PAYLOAD_MAX 0xffffu
/* How many times larger than the packet its payloads may be. Labels, member
 * names and the packet's own fields, which all its events get, can make long
 * payloads of short events: 100 GB from 4 MB. */
#define CTF_OUTPUT_RATIO 256
#define CTF_ROLE_COUNT 16
#define CTF_UUID 16

/* A list of addresses or names. Its memory is reused. */
struct ctf_addrs {
	uint64_t *ip; /* owned */
	size_t n, cap;
	bool cut; /* LTTng cut the stack at its limit */
};

struct ctf_state {
	struct ctf_cursor cur;
	uint64_t *slot;	 /* one for each slot of the stream class */
	uint64_t *clock; /* one for each clock of the trace */
	const char *why; /* why ctf_run() failed */
	/* The last value of each role, and a bit for each role that was set. */
	uint64_t role[CTF_ROLE_COUNT];
	uint32_t roles;
	uint8_t uuid[CTF_UUID];
	/* The caller sets raw to where the payload goes, with room for
	 * CTF_PAYLOAD_MAX + 1 bytes if the program is dynamic, and raw_len to
	 * the size of the fields with fixed places. */
	unsigned char *raw;
	size_t raw_len;
	uint64_t idle;	 /* elements without size so far in this packet */
	uint64_t output; /* payload bytes of variable length so far in this
			    packet, plus a quarter of the labels that were
			    compared */
	bool again; /* a packet's context is read again for its fields, without
		       effects */
	uint32_t n_cut; /* fields that were cut at the end of the payload */
	/* Numbers by their use, and a bit for each use that was set. */
	uint64_t use[CTF_PROCNAME];
	uint32_t uses;
	const char
		*name; /* the name of the process, in the packet; NULL: none */
	size_t name_len; /* its longest length: a NUL may come earlier */
	struct ctf_addrs kern, user;
	char *names; /* user.n NUL-terminated names */
	size_t names_len, cap_names;
};

/* Forgets the values of the previous event. */
static inline void ctf_state_clear(struct ctf_state *st)
{
	st->uses = 0;
	st->name = NULL;
	st->kern.n = st->user.n = st->names_len = 0;
	st->kern.cut = st->user.cut = false;
}

/* Frees the lists; they can be filled again. */
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

/* Runs a program. Returns 0, or -1 with state->why. */
int ctf_run(const struct ctf_program *p, struct ctf_state *st);
/* Runs the program of an event header, without steps if the header is a struct
 * ctf_brief_header. Returns 0, or -1 with state->why. */
int ctf_run_header(const struct ctf_program *p, struct ctf_state *st);

/* ---- any field as text: numbers as such, lists and structures as JSON. */

/* Reads a number at its alignment, with its effects on slots, clocks and roles.
 * Signed numbers are extended to 64 bits. Returns -1 with st->why if it is not
 * there. */
int ctf_field_number(struct ctf_state *st, const struct ctf_node *node,
		     uint64_t *out);
/* Returns the index of the option that a selector's value chooses, or -1. */
int64_t ctf_field_option(const struct ctf_node *node, uint64_t value);
/* Returns how many elements or bytes a list or text has. */
uint64_t ctf_field_length(const struct ctf_state *st,
			  const struct ctf_node *node);
/* Sets *out to the bytes of a string or BLOB; a string ends at its first null.
 * Returns -1 with st->why if they are not there. */
int ctf_field_chars(struct ctf_state *st, const struct ctf_node *node,
		    struct bytes *out);
/* Sets st->why and returns -1. */
int ctf_field_stop(struct ctf_state *st, const char *why);

/* A text that is written at the end of the payload, up to max bytes. */
struct ctf_text {
	unsigned char *at;
	size_t n, max;
	bool cut;
};

/* Appends a floating-point number: with 15 digits if they parse to the same
 * number, else with 17, which always do; 6 or 9 in single precision. */
void ctf_text_real(struct ctf_text *t, double v, bool single);
