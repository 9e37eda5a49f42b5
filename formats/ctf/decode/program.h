/* program.h - the class of an event as a flat list of steps.
 *
 * A class tree is compiled once: structures disappear, fields that are not
 * needed become distances, and a field that is needed has its destination in
 * its step. run.c runs the steps. Only lists and variants that become text are
 * still walked as trees.
 *
 * Order of calls: ctf_program_start(), one call for each field, and
 * ctf_program_end(). */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctf_node;

/* What a field becomes in the payload of a record. */
enum ctf_how {
	CTF_DROP,   /* nothing; only its ctf_use counts */
	CTF_NUMBER, /* `size` bytes at `off` */
	CTF_TEXT,   /* text; its place is at `off` */
	CTF_BYTES,  /* a list of bytes, as they are */
	CTF_JSON,   /* anything else, as text */
};

/* What the reader uses a field for, besides the payload. */
enum ctf_use {
	CTF_FIELD,
	CTF_CPU,
	CTF_USE_PID,
	CTF_USE_TID,
	CTF_USE_VPID,
	CTF_USE_VTID,
	CTF_IP,
	CTF_COOKIE,
	CTF_PROCNAME, /* this use and those below are not numbers */
	CTF_KSTACK,
	CTF_USTACK,
	CTF_CHAIN,
	CTF_NAMES,	/* a chain of function names */
	CTF_PERF_STACK, /* kernel and user addresses with marks between them */
};

#define CTF_NO_PLACE UINT32_MAX

struct ctf_want {
	uint8_t how, use;
	uint8_t size;	/* of a number: bytes */
	uint32_t off;	/* in the payload */
	uint32_t label; /* payload offset for the place of the number's label;
			   CTF_NO_PLACE: none */
};

enum ctf_code {
	CTF_OP_END,
	CTF_OP_NOP, /* only moves and aligns */
	CTF_OP_U8,  /* a number of whole bytes, for the payload alone */
	CTF_OP_U16,
	CTF_OP_U32,
	CTF_OP_U64,
	CTF_OP_USE, /* a number that has a use, and may be in the payload too */
	CTF_OP_USE32,
	CTF_OP_USE64,
	CTF_OP_MARK, /* an unsigned number that has effects only */
	CTF_OP_NUM,  /* any number, with all its effects */
	CTF_OP_JUMP,
	CTF_OP_SELECT,
	CTF_OP_TEXT,
	CTF_OP_SKIP_TEXT,
	CTF_OP_SKIP_MANY, /* skips n bits as often as slot `from` holds */
	CTF_OP_BYTES,
	CTF_OP_JSON,
	CTF_OP_WALK, /* walks a tree for its effects */
	CTF_OP_UUID,
	CTF_OP_WORDS, /* a stack of 64-bit numbers; want.use is which */
	CTF_OP_STACK, /* a stack of other numbers */
	CTF_OP_NAME,
	CTF_OP_NAME_HERE, /* n bytes of UTF-8 */
};

struct ctf_op {
	uint8_t code;
	bool swap;
	uint32_t pre;  /* bits to skip, then ... */
	uint32_t mask; /* ... alignment minus 1 */
	/* JUMP: the step to go to; SELECT: its first jump; SKIP_MANY: bits of
	 * an element; USE: the bits above a signed number; NAME_HERE: bytes. */
	uint32_t n;
	struct ctf_want want;
	const struct ctf_node *node; /* borrowed from the tree */
};

/* An event header as in nearly all traces: an id, from lo to hi, and the low
 * bits of a clock. */
struct ctf_brief_header {
	uint32_t id_bits, bits; /* bits of the id; of id and clock; 0: the
				   header has another form */
	uint64_t mask;		/* alignment minus 1 */
	uint64_t lo, hi;
	uint16_t slot; /* slot of the id */
	int32_t clock;
};

struct ctf_program {
	struct ctf_brief_header brief;
	struct ctf_op *op;
	size_t n, cap;
	uint32_t *jump; /* the steps of each SELECT: one for each option, and
			   one for none */
	size_t n_jump, cap_jump;
	bool dynamic; /* writes payload fields of variable length */
	/* Only while it is compiled: the position is `at` modulo `mod` bits;
	 * `pre` and `mask` are not in a step yet. */
	uint32_t mod, at, pre, mask;
};

/* Begins a program at a position of unknown alignment. */
void ctf_program_start(struct ctf_program *p);
/* Adds the alignment of a structure, before its members. */
void ctf_program_align(struct ctf_program *p, uint32_t align);
/* Adds a field that is needed. */
void ctf_program_add(struct ctf_program *p, const struct ctf_node *node,
		     const struct ctf_want *want);
/* Adds a class and all below it, only for the effects on slots, clocks and
 * roles. node may be NULL. */
void ctf_program_skip(struct ctf_program *p, const struct ctf_node *node);
void ctf_program_end(struct ctf_program *p);
/* Makes the program of an event header; header NULL: the program is empty. */
void ctf_program_header(struct ctf_program *p, const struct ctf_node *header);
void ctf_program_release(struct ctf_program *p);

/* Return whether the class is an integer or an enumeration; a number of fixed
 * size that does not become text; a signed number. */
bool ctf_node_is_integer(const struct ctf_node *node);
bool ctf_node_is_number(const struct ctf_node *node);
bool ctf_node_is_signed(const struct ctf_node *node);
/* Return whether the class is a string of any kind; the class of its elements,
 * or NULL if it is not a list. */
bool ctf_node_is_string(const struct ctf_node *node);
const struct ctf_node *ctf_node_element(const struct ctf_node *node);
/* Returns whether the class is a list of bytes or a BLOB. */
bool ctf_node_is_bytes(const struct ctf_node *node);
