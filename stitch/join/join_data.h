/* join_data.h - samples and chains, as input of the join. */
#pragma once
#include <stdbool.h>
#include <stdint.h>

struct join_sample {
	uint32_t event; /* id of the event row */
	uint16_t source;
	int32_t tid; /* -1: unknown, the cookie alone decides */
	int32_t cpu; /* -1: unknown */
	int64_t time;
	uint64_t cookie;
	uint64_t ip; /* sampled address if it is in user mode; else 0 */
	uint32_t thread, process; /* row ids; process 0: unknown */
	uint32_t flags;		  /* VERDICT_REUSED_TID, VERDICT_FIRST_LOST */
	bool again;		  /* by counters_see() */
	bool late;		  /* newer records were read before */
	bool nonce;		  /* the cookie is a nonce */
};

struct join_chain {
	uint32_t id;
	uint16_t source;
	int32_t tid, cpu;
	uint32_t thread, process; /* row ids; process 0: unknown */
	int64_t time;
	uint64_t cookie;
	uint32_t uraw;	   /* raw chain id; 0: empty */
	uint32_t n;	   /* number of addresses */
	int32_t asked_cpu; /* CPU on which the cookie was made; -1: unknown */
	uint32_t flags;	   /* VERDICT_REUSED_TID, VERDICT_AFTER_EXIT,
			    * VERDICT_PARTS, VERDICT_UNPROVED */
	bool duplicate;
	bool again; /* by counters_see() */
	bool late;  /* newer records were read before */
	bool nonce; /* the cookie is a nonce */
};

/* Why a thread is removed. */
enum join_reason {
	JOIN_CAPTURE, /* the capture ended, the thread did not */
	JOIN_REUSED,  /* its id was reused; no EXIT was seen */
	JOIN_EXIT,
};
