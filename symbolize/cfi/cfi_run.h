/* cfi_run.h - executes the instructions of call frame information; with what
 * cfi.c has read of it, for the files here that know of it. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "stitch/base/table.h"
#include "symbolize/cfi/cfi_rule.h"

struct bytes;

/* Compilers nest DW_CFA_remember_state one deep. */
#define CFI_REMEMBER_MAX 32

/* The fields of a CIE that its FDEs need. */
struct cfi_cie {
	uint64_t off;
	uint8_t enc;	 /* DW_EH_PE_* encoding of addresses */
	bool sized;	 /* FDEs have augmentation data with a length */
	bool good;	 /* was read without error */
	uint8_t address; /* bytes of an address */
	uint64_t code_align;
	int64_t data_align;
	struct cfi_rules initial;
};

struct cfi_fde {
	uint64_t start, end; /* ELF addresses; end is exclusive */
	uint32_t cie;
	uint32_t len; /* bytes of instructions */
	uint64_t off; /* of the instructions, in the section */
};

struct cfi {
	const struct abi *abi;
	unsigned char *data; /* owned */
	size_t len;
	bool eh;   /* else .debug_frame */
	bool swap; /* the file has the other byte order */
	uint64_t addr;
	struct cfi_cie *cie;
	size_t n_cie, cap_cie;
	struct table by_off; /* index of cie[] */
	/* bytes that may still be read as CIEs. In a valid file CIEs do not
	 * overlap. */
	uint64_t cie_room;
	struct cfi_fde *fde;
	size_t n, cap;
	/* how many functions begin before the i-th piece of 1 << shift bytes
	 * after the first of them */
	uint32_t *near;
	size_t n_near;
	unsigned int shift;
	struct cfi *other; /* asked where this one has no function; or NULL */
};

/* Returns the function around an ELF address, of several the one with the
 * highest start; NULL: there is none. O(log n). */
const struct cfi_fde *cfi_find_fde(const struct cfi *c, uint64_t vaddr);
/* Reads a pointer in encoding enc (DW_EH_PE_*). Encodings through memory or
 * relative to run-time values are not used for code addresses. */
int cfi_read_pointer(const struct cfi *c, struct bytes *b, uint8_t enc,
		     uint8_t size, uint64_t *out);

struct cfi_run {
	const struct cfi *c;
	const struct cfi_cie *cie;
	struct cfi_rules now;
	uint64_t loc;
	bool changed; /* set by each change; cleared by the caller */
	unsigned int depth;
	struct cfi_rules saved[CFI_REMEMBER_MAX];
};

/* Begins with the instructions of a function, *b. Returns -1 if it has none. */
int cfi_begin(const struct cfi *c, const struct cfi_fde *f, struct cfi_run *r,
	      struct bytes *b);
/* Executes until the location advances: 1; to the end: 0; -1 if damaged. */
int cfi_run(struct cfi_run *r, struct bytes *b);
