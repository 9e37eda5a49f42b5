/* code_refs.h - finds the places in code that call or jump to other code, or
 * load its address into a register: only direct calls and jumps.
 *
 * x86-64 is not disassembled: each byte is tried, so a reference may be part of
 * another instruction. The caller keeps those that lead to the start of a
 * function. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum code_ref_kind {
	CODE_REF_CALL,
	CODE_REF_JUMP,
	CODE_REF_SLOT, /* x86-64: a call through the word at `to` */
	CODE_REF_ADDRESS,
};

struct code_ref {
	enum code_ref_kind kind;
	unsigned int reg; /* CODE_REF_ADDRESS: number of the register */
	size_t off;	  /* offset in the code */
	uint64_t to;
};

struct code_refs {
	const unsigned char *code;
	size_t len, off;
	uint64_t addr; /* address of the code */
	uint16_t machine;
	uint64_t page[32]; /* AArch64: results of adrp, by register */
	/* x86-64, for code_refs_next_to(): by kind, the offset after the next
	 * byte that it can begin with */
	size_t behind[CODE_REF_SLOT + 1];
};

/* Starts a search. Returns false if this machine (EM_*) is not supported. */
bool code_refs_init(struct code_refs *r, uint16_t machine,
		    const unsigned char *code, size_t len, uint64_t addr);
/* Finds the next reference. Returns false at the end. */
bool code_refs_next(struct code_refs *r, struct code_ref *out);
/* Finds the next reference of these kinds, bits 1 << CODE_REF_CALL,
 * CODE_REF_JUMP and CODE_REF_SLOT; in large code this is much faster. */
bool code_refs_next_to(struct code_refs *r, unsigned int kinds,
		       struct code_ref *out);
/* Reads four bytes of code, which are little endian on both machines. */
uint32_t code_refs_word(const unsigned char *p);
/* Returns the register of the i-th argument of a function, from 0 to 3. */
unsigned int code_refs_argument(uint16_t machine, unsigned int i);
