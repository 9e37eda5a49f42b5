/* go_frames.c - call frame information of Go programs without it. */
#include "symbolize/cfi/go_frames.h"

#include <dwarf.h>
#include <elf.h>

#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"

#define WORD 8
/* A hostile table may have the same depths in each function. Those of go
 * itself, a program of 14 MB, take 1 MB. */
#define FRAMES_MOST ((size_t)64 << 20)
/* A depth below zero is of a few words, which fit one byte of DWARF. */
#define LEAST_DEPTH (60 * WORD)

#define X86_SP 7
#define X86_RA 16
#define A64_SP 31
#define A64_LINK 30

struct go_frames {
	uint16_t machine;
	unsigned char *data;
	size_t n, cap;
};

static void go_frames_put(struct go_frames *g, const void *data, size_t n)
{
	mem_append(g->data, g->n, g->cap, data, n);
}

static void go_frames_byte(struct go_frames *g, unsigned int v)
{
	unsigned char byte = (unsigned char)v;

	go_frames_put(g, &byte, 1);
}

static void go_frames_word(struct go_frames *g, uint32_t v)
{
	go_frames_put(g, &v, sizeof(v));
}

static void go_frames_leb(struct go_frames *g, uint32_t v)
{
	for (; v >= 0x80; v >>= 7)
		go_frames_byte(g, (v & 0x7f) | 0x80);
	go_frames_byte(g, v);
}

/* Sets the length of the entry that begins at `at`. */
static void go_frames_end(struct go_frames *g, size_t at)
{
	uint32_t len = (uint32_t)(g->n - at - sizeof(len));

	memcpy(g->data + at, &len, sizeof(len));
}

/* Adds the rules where the stack is so deep. AArch64 saves the link register at
 * the lowest place of the frame, if the function has a caller. The depth is
 * negative where code of the runtime has taken words of its caller from the
 * stack. Returns false if no stack is so deep. */
static bool go_frames_depth(struct go_frames *g, int32_t depth, bool top)
{
	bool is_x86 = g->machine == EM_X86_64;

	if (depth < -LEAST_DEPTH || depth > INT32_MAX - WORD || depth % WORD)
		return false;
	int32_t cfa = depth + (is_x86 ? WORD : 0);

	if (cfa < 0) {
		go_frames_byte(g, DW_CFA_def_cfa_offset_sf);
		go_frames_byte(g, (unsigned int)(-cfa / WORD));
	} else {
		go_frames_byte(g, DW_CFA_def_cfa_offset);
		go_frames_leb(g, (uint32_t)cfa);
	}
	if (is_x86)
		return true;
	if (top) {
		go_frames_byte(g, DW_CFA_undefined);
		go_frames_byte(g, A64_LINK);
	} else if (depth > 0) {
		go_frames_byte(g, DW_CFA_offset | A64_LINK);
		go_frames_leb(g, (uint32_t)(depth / WORD));
	} else {
		go_frames_byte(g, DW_CFA_same_value);
		go_frames_byte(g, A64_LINK);
	}
	return true;
}

/* Adds a function, up to where its depths are known. */
static void go_frames_add(struct go_frames *g,
			  const struct gopclntab_function *f,
			  struct gopclntab_depths *d)
{
	size_t at = g->n;
	uint64_t start;
	uint64_t last = f->start;
	uint64_t length = 0;

	go_frames_word(g, 0);
	go_frames_word(g, (uint32_t)g->n); /* back to the CIE, which is at 0 */
	go_frames_put(g, &f->start, WORD);

	size_t length_at = g->n;

	go_frames_put(g, &length, WORD);
	while (g->n < FRAMES_MOST && gopclntab_next_depth(d, &start) > 0) {
		if (start > last) {
			go_frames_byte(g, DW_CFA_advance_loc4);
			go_frames_word(g, (uint32_t)(start - last));
		}
		if (!go_frames_depth(g, (int32_t)d->depth, d->top))
			break;
		last = start;
		length = d->pc - f->start;
	}
	memcpy(g->data + length_at, &length, WORD);
	go_frames_end(g, at);
	if (!length)
		g->n = at;
}

unsigned char *go_frames_make(const struct elf_file *ef, size_t *len)
{
	struct go_frames g = { .machine = ef->machine };
	struct elf_section from;
	struct gopclntab t;

	if ((ef->machine != EM_X86_64 && ef->machine != EM_AARCH64) ||
	    !gopclntab_open(ef, &t, &from) || t.word != WORD)
		return NULL;
	/* The one CIE: how it is where a function begins. */
	static const unsigned char x86[] = {
		1,	/* version */
		0,	/* no augmentation */
		1,	/* code alignment */
		0x78,	/* data alignment: -8 */
		X86_RA, /* column of the return address */
		DW_CFA_def_cfa,
		X86_SP,
		WORD,
		DW_CFA_offset | X86_RA,
		1,
	};
	static const unsigned char a64[] = {
		1,	  0,	    1,
		0x78,	  A64_LINK, DW_CFA_def_cfa,
		A64_SP,	  0,	    DW_CFA_same_value,
		A64_LINK,
	};
	bool is_x86 = g.machine == EM_X86_64;

	go_frames_word(&g, 0);
	go_frames_word(&g, 0);
	go_frames_put(&g, is_x86 ? x86 : a64,
		      is_x86 ? sizeof(x86) : sizeof(a64));
	go_frames_end(&g, 0);
	for (uint64_t i = 0; i < t.n && g.n < FRAMES_MOST; i++) {
		struct gopclntab_function f;
		struct gopclntab_depths d;

		if (gopclntab_function(&t, i, &f) &&
		    gopclntab_depths(&t, &f, &d))
			go_frames_add(&g, &f, &d);
	}
	*len = g.n;
	return g.data;
}
