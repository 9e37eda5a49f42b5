/* unwind_rows.h - one machine-independent table of how to step from a frame to
 * its caller, made once for each file from .eh_frame, .debug_frame or .sframe.
 *
 * A row holds from its address to that of the next one. Only what stepping
 * needs is kept: where the CFA (the stack pointer before the call), the
 * frame pointer and the return address are. 12 bytes a row, found by binary
 * search. Whatever does not fit is ROW_COMPLEX, and whoever unwinds has to
 * work out that place from the section itself.
 *
 * Order of calls: unwind_rows_new(), for each function unwind_rows_begin(),
 * unwind_rows_add() by growing address, unwind_rows_end(); then
 * unwind_rows_finish(), then unwind_rows_find() as often as one likes.
 * Functions may come in any order. Where two overlap, the one that begins later
 * holds from its beginning on. */
#ifndef SYMBOLIZE_CFI_UNWIND_ROWS_H
#define SYMBOLIZE_CFI_UNWIND_ROWS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the CFA is made. SP: x86 rsp, AArch64 sp, s390x r15. FP: rbp, x29,
 * r11. After the step SP is the CFA, on s390x the CFA - 160 (so its ABI has
 * it). */
enum row_kind {
	ROW_GAP,       /* nothing is known of this place */
	ROW_OUTERMOST, /* there is no caller */
	ROW_SP,	       /* SP + cfa */
	ROW_FP,	       /* FP + cfa */
	ROW_SP_DEREF,  /* what is at SP + cfa */
	ROW_FP_DEREF,  /* what is at FP + cfa: a realigned stack */
	ROW_DRAP,      /* r10 + cfa, x86-64: the same in its prologue */
	ROW_PLT,       /* x86 PLT: SP + a word, and one more in the last bytes
			* of the 16 of an entry, from byte cfa on */
	ROW_SIGNAL,    /* signal frame: the registers of the interrupted code
			* are where the kernel puts them, see abi.h; cfa 1:
			* of s390x's older form */
	ROW_COMPLEX,   /* none of these */
};

enum row_flag {
	ROW_SIGNED = 1 << 4, /* AArch64: the return address was signed */
	/* The caller was interrupted, it did not call: its address is that
	 * of an instruction, not behind one. */
	ROW_INTERRUPTED = 1 << 5,
};

/* Where the caller's FP or the return address is. */
enum place_kind {
	PLACE_SAME,	 /* FP: still in its register. ra: in the link
			  * register (AArch64 x30, s390x r14) */
	PLACE_UNDEFINED, /* lost */
	PLACE_CFA,	 /* in memory at CFA + off */
	PLACE_FP,	 /* in memory at FP + off */
	PLACE_SP,	 /* in memory at SP + off */
	PLACE_REG,	 /* in another register, DWARF number off */
};

struct place_rule {
	enum place_kind kind;
	int32_t off; /* bytes, from the registers before the step */
};

/* A row as it is told to the table, and as it is read. */
struct row_rule {
	enum row_kind kind;
	uint32_t flags;		  /* enum row_flag */
	int64_t cfa;		  /* bytes; see row_kind */
	struct place_rule fp, ra; /* of ROW_SP .. ROW_PLT only */
};

/* A row as it is kept. fp and ra hold a place_rule in words of the machine,
 * see row_place(). */
struct row {
	uint32_t pc;	  /* from the table's base */
	int32_t cfa : 24; /* bytes */
	uint32_t how : 8; /* row_kind | row_flags */
	int16_t fp, ra;
};

struct unwind_rows; /* a table */

/* word: 8 or 4, the bytes of an address. */
struct unwind_rows *unwind_rows_new(unsigned int word);
void unwind_rows_free(struct unwind_rows *t);

/* A function [start, end) of ELF addresses. Rows that are added hold from
 * `addr` on; what lies before the first of them is a gap. */
void unwind_rows_begin(struct unwind_rows *t, uint64_t start, uint64_t end);
void unwind_rows_add(struct unwind_rows *t, uint64_t addr,
		     const struct row_rule *rule);
void unwind_rows_end(struct unwind_rows *t);
/* Sorts, cuts overlaps, makes gaps. Nothing may be added after it. */
void unwind_rows_finish(struct unwind_rows *t);

/* The row of an ELF address; NULL: below or above all of them. It may be
 * ROW_GAP. Borrowed from the table. O(log rows). */
const struct row *unwind_rows_find(const struct unwind_rows *t, uint64_t addr);
/* A row in words one can read: for dumps and comparisons. */
void unwind_rows_rule(const struct unwind_rows *t, const struct row *row,
		      struct row_rule *out);

/* How large the table is; how many rows are ROW_COMPLEX; how many functions
 * are not in it, being more than 4 GiB behind the first. */
size_t unwind_rows_count(const struct unwind_rows *t);
size_t unwind_rows_complex(const struct unwind_rows *t);
size_t unwind_rows_dropped(const struct unwind_rows *t);
/* Row i and its address, for walking over all of them. */
const struct row *unwind_rows_at(const struct unwind_rows *t, size_t i,
				 uint64_t *addr);

/* The kept form of a place: from ROW_CFA_MIN to ROW_CFA_MAX words from the
 * CFA, then the others, each in a range of its own. */
#define ROW_CFA_MAX 0x3fff
#define ROW_FP_ZERO 0x5000  /* 0x4000..0x5fff */
#define ROW_SP_ZERO 0x6800  /* 0x6000..0x6fff */
#define ROW_REG_ZERO 0x7000 /* 0x7000..0x707f */
#define ROW_UNDEFINED 0x7ffe
#define ROW_SAME 0x7fff

static inline enum row_kind row_kind(const struct row *r)
{
	return (enum row_kind)(r->how & 15);
}

static inline struct place_rule row_place(int16_t v, int32_t word)
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
#endif
