/* unwind_rows.h - a table of how to step from a frame to its caller, the same
 * for all machines, made once per file from .eh_frame, .debug_frame or .sframe.
 *
 * A row is valid from its address to that of the next row. It has only what
 * stepping needs: how to find the CFA (the stack pointer before the call), the
 * frame pointer and the return address, in 12 bytes. Rules that do not fit are
 * ROW_COMPLEX; the unwinder then evaluates the section itself.
 *
 * Call unwind_rows_new(); for each function unwind_rows_begin(),
 * unwind_rows_add() by increasing address, and unwind_rows_end(); then
 * unwind_rows_finish(); then unwind_rows_find() any number of times. Functions
 * may be added in any order. Where two overlap, the one with the higher start
 * is used from its start on. */
#pragma once
#include <stddef.h>
#include <stdint.h>

/* How the CFA is computed. SP is x86 rsp, AArch64 sp, s390x r15. FP is rbp,
 * x29, r11. After the step SP is the CFA, or the CFA - 160 on s390x, as its ABI
 * defines. */
enum row_kind {
	ROW_GAP,       /* nothing is known of these addresses */
	ROW_OUTERMOST, /* there is no caller */
	ROW_SP,	       /* SP + cfa */
	ROW_FP,	       /* FP + cfa */
	ROW_SP_DEREF,  /* memory at SP + cfa */
	ROW_FP_DEREF,  /* memory at FP + cfa: a realigned stack */
	ROW_DRAP, /* r10 + cfa, x86-64: the prologue of a realigned stack */
	/* x86 PLT with entries of 16 bytes: SP + a word, and one more word from
	 * byte cfa of the entry on */
	ROW_PLT,
	/* signal frame: the kernel saved the registers of the interrupted code,
	 * see abi.h; cfa 1: older form on s390x */
	ROW_SIGNAL,
	ROW_COMPLEX, /* none of these */

	/* No table has these: an unwinder uses them for an address without a
	 * row. */
	ROW_LINK, /* the link register has the return address */
	ROW_NO_TABLE,
	ROW_NO_FILE,
	ROW_NO_CODE, /* not in an executable mapping */
};

enum row_flag {
	ROW_SIGNED = 1 << 4, /* AArch64: the return address was signed */
	/* The caller was interrupted: its address is that of an instruction,
	 * not a return address. */
	ROW_INTERRUPTED = 1 << 5,
};

/* Where the caller's FP or the return address is saved. */
enum place_kind {
	/* FP: unchanged. RA: in the link register (AArch64 x30, s390x r14) */
	PLACE_SAME,
	PLACE_UNDEFINED, /* not saved */
	PLACE_CFA,	 /* in memory at CFA + off */
	PLACE_FP,	 /* in memory at FP + off */
	PLACE_SP,	 /* in memory at SP + off */
	PLACE_REG,	 /* in the register with DWARF number off */
};

struct place_rule {
	enum place_kind kind;
	int32_t off; /* bytes, relative to registers before the step */
};

/* A row in unpacked form, for adding and printing. */
struct unwind_rule {
	enum row_kind kind;
	uint32_t flags;		  /* enum row_flag */
	int64_t cfa;		  /* bytes, see row_kind */
	struct place_rule fp, ra; /* for ROW_SP to ROW_PLT only */
};

/* A row in packed form. fp and ra are place_rules in words of the machine, see
 * unwind_row_place(). */
struct unwind_row {
	uint32_t pc;	  /* relative to the table's base */
	int32_t cfa : 24; /* bytes */
	uint32_t how : 8; /* row_kind | row_flag */
	int16_t fp, ra;
};

struct unwind_rows;

/* Returns an empty table. word: bytes of an address, 8 or 4. */
struct unwind_rows *unwind_rows_new(unsigned int word);
void unwind_rows_free(struct unwind_rows *t);

/* Starts a function [start, end) of ELF addresses. An added row is valid from
 * addr on. Addresses before the first row are a gap. */
void unwind_rows_begin(struct unwind_rows *t, uint64_t start, uint64_t end);
void unwind_rows_add(struct unwind_rows *t, uint64_t addr,
		     const struct unwind_rule *rule);
void unwind_rows_end(struct unwind_rows *t);
/* Sorts the rows, resolves overlaps and adds gaps. Nothing may be added
 * afterwards. */
void unwind_rows_finish(struct unwind_rows *t);

/* Returns the row of an ELF address, borrowed from the table; it may be
 * ROW_GAP. NULL if the address is outside the table. O(log rows). */
const struct unwind_row *unwind_rows_find(const struct unwind_rows *t,
					  uint64_t addr);
/* Unpacks a row, for dumps and comparisons. */
void unwind_rows_rule(const struct unwind_rows *t, const struct unwind_row *row,
		      struct unwind_rule *out);

/* Returns the number of rows. */
size_t unwind_rows_count(const struct unwind_rows *t);
/* Returns row i and its address. */
const struct unwind_row *unwind_rows_at(const struct unwind_rows *t, size_t i,
					uint64_t *addr);

/* Packed places: CFA offsets in words up to ROW_CFA_MAX; the other kinds have a
 * range of values each. */
#define ROW_CFA_MAX 0x3fff
#define ROW_FP_ZERO 0x5000  /* 0x4000..0x5fff */
#define ROW_SP_ZERO 0x6800  /* 0x6000..0x6fff */
#define ROW_REG_ZERO 0x7000 /* 0x7000..0x707f */
#define ROW_UNDEFINED 0x7ffe
#define ROW_SAME 0x7fff

static inline enum row_kind unwind_row_kind(const struct unwind_row *r)
{
	return (enum row_kind)(r->how & 15);
}

static inline struct place_rule unwind_row_place(int16_t v, int32_t word)
{
	if (v <= ROW_CFA_MAX)
		return (struct place_rule){ PLACE_CFA, v * word };
	if (v < 0x6000)
		return (struct place_rule){ PLACE_FP,
					    (v - ROW_FP_ZERO) * word };
	if (v < 0x7000)
		return (struct place_rule){ PLACE_SP,
					    (v - ROW_SP_ZERO) * word };
	if (v < ROW_UNDEFINED)
		return (struct place_rule){ PLACE_REG, v - ROW_REG_ZERO };
	if (v == ROW_UNDEFINED)
		return (struct place_rule){ PLACE_UNDEFINED, 0 };
	return (struct place_rule){ PLACE_SAME, 0 };
}
