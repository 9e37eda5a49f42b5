/* join_data.h - samples and chains as the join takes them. */
#ifndef STITCH_JOIN_JOIN_DATA_H
#define STITCH_JOIN_JOIN_DATA_H
#include <stdbool.h>
#include <stdint.h>

struct join_sample {
	uint32_t event; /* id of the event row */
	uint16_t source;
	int32_t tid; /* -1: not known, the cookie alone decides */
	int64_t time;
	uint64_t cookie;
	uint64_t ip;		  /* when it hit user mode; else 0 */
	uint32_t thread, process; /* row ids; process 0: not known */
	bool reused_tid;
	bool first_lost; /* as counters_see() says */
	bool nonce;	 /* the cookie is one */
};

struct join_chain {
	uint32_t id;
	uint16_t source;
	int32_t tid, cpu;
	uint32_t thread, process; /* row ids; process 0: not known */
	int64_t time;
	uint64_t cookie;
	uint32_t uraw;	   /* 0: empty */
	uint32_t n;	   /* addresses */
	int32_t asked_cpu; /* CPU of the request; -1: not known */
	bool after_exit, duplicate, reused_tid;
	bool nonce;	      /* the cookie is one */
	bool parts, unproved; /* as in enum verdict_flag */
};

/* Why a thread is let go. */
enum join_reason {
	JOIN_CAPTURE, /* the capture ended, not the thread */
	JOIN_REUSED,  /* its id means another life; no EXIT was seen */
	JOIN_EXIT,
};
#endif
