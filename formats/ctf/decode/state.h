/* state.h - where a stream stands, and what its last event had. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "formats/ctf/decode/cursor.h"
#include "formats/ctf/decode/program.h"

/* The place of a field of variable length has 16 bits for its offset. */
#define CTF_PAYLOAD_MAX 0xffffu
/* Labels, names of members and a packet's own fields, which all its events
 * have, make long payloads of short events: of 4 MB 100 GB. */
#define CTF_TOLD_RATIO 256
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
	uint64_t idle;	/* elements of no size in this packet */
	uint64_t told;	/* bytes that its payloads had after their fixed part,
			 * and labels that were looked at, four as one */
	bool again;	/* a packet's context is read again for its fields: it
			 * has no effects */
	uint32_t n_cut; /* fields cut at the end of the payload */
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
