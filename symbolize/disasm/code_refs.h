/* code_refs.h - the places in code that go to other code, or take its address:
 * direct calls and jumps, and addresses that are put in a register.
 *
 * x86-64 is not disassembled: each byte is tried, so that a reference may be
 * part of another instruction. The caller keeps those that lead to the start of
 * a function. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_ref_kind {
	CODE_REF_CALL,
	CODE_REF_JUMP,
	CODE_REF_SLOT, /* x86-64: a call of what the word at `to` points to */
	CODE_REF_ADDRESS,
};

struct code_ref {
	enum code_ref_kind kind;
	unsigned int reg; /* CODE_REF_ADDRESS: number of the register */
	size_t off;	  /* in the code */
	uint64_t to;
};

struct code_refs {
	const unsigned char *code;
	size_t len, off;
	uint64_t addr; /* of the code */
	uint16_t machine;
	uint64_t page[32]; /* AArch64: what adrp left in the registers */
	/* x86-64: after the next byte with which one of each kind begins, by
	 * code_refs_next_to() */
	size_t behind[CODE_REF_SLOT + 1];
};

/* Returns false if this machine (EM_*) has no rules. */
bool code_refs_init(struct code_refs *r, uint16_t machine,
		    const unsigned char *code, size_t len, uint64_t addr);
/* Returns false at the end. */
bool code_refs_next(struct code_refs *r, struct code_ref *out);
/* Finds the next of these kinds, bits 1 << CODE_REF_CALL, CODE_REF_JUMP and
 * CODE_REF_SLOT; in large code this is much faster. */
bool code_refs_next_to(struct code_refs *r, unsigned int kinds,
		       struct code_ref *out);
/* Reads four bytes of code, which are little endian on both machines. */
uint32_t code_refs_word(const unsigned char *p);
/* Returns the register of the i-th argument of a function, from 0 to 3. */
unsigned int code_refs_argument(uint16_t machine, unsigned int i);
