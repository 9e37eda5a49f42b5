/* cfi.c - call frame information of a file: reads CIEs and FDEs. */
#include "symbolize/cfi/cfi.h"

#include <dwarf.h>
#include <elf.h>
#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/digits.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/cfi/cfi_run.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/gopclntab.h"

/* Go's linker makes .debug_frame from the depths of stacks that the runtime has
 * too (cmd/link/internal/ld/dwarf.go; all rows are the same with Go 1.19, 1.26
 * and 1.27). In a program that was linked with -s, or stripped, the second is
 * left: of it the first is made again. */

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

/* Returns the bytes of an .eh_frame in the byte order of this host, with
 * addresses as they are, for the caller to free; NULL if the file has no such
 * table, or is of another machine than x86-64 and AArch64. */
static unsigned char *go_frames_make(const struct elf_file *ef, size_t *len)
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

/* .eh_frame has a few CIEs, .debug_frame one per source file. */
#define CIES_MAX 65536
/* The header of a compressed section may claim any size. */
#define SECTION_MAX ((uint64_t)1 << 30)

/* Sets *b to [off, off + len), with section offsets as positions. */
static int cfi_window(const struct cfi *c, uint64_t off, uint64_t len,
		      struct bytes *b)
{
	if (off > c->len || len > c->len - off)
		return -1;
	bytes_init(b, c->data + off, len, "", off, c->swap);
	return 0;
}

/* The letters after 'z' describe the augmentation data, which has a length: an
 * unknown letter ends the parsing without an error. */
static int cfi_read_augmentation(const struct cfi *c, struct cfi_cie *cie,
				 const char *a, struct bytes *b)
{
	struct bytes data;
	uint64_t v;
	uint8_t enc;

	cie->sized = *a == 'z';
	if (!cie->sized)
		return *a ? -1 : 0;
	if (leb128_unsigned(b, &v) || bytes_take(b, v, &data, NULL))
		return -1;
	while (*++a) {
		if (*a == 'S') {
			cie->initial.interrupted = true;
		} else if (*a == 'R') {
			if (bytes_u8(&data, &cie->enc, NULL))
				return -1;
		} else if (*a == 'L') {
			if (bytes_u8(&data, &enc, NULL))
				return -1;
		} else if (*a == 'P') {
			if (bytes_u8(&data, &enc, NULL) ||
			    cfi_read_pointer(c, &data, enc & 0xf, cie->address,
					     &v))
				return -1;
		} else if (*a != 'B' && *a != 'G') {
			return 0;
		}
	}
	return 0;
}

static void cfi_start_run(struct cfi_run *r, const struct cfi *c,
			  const struct cfi_cie *cie)
{
	r->c = c;
	r->cie = cie;
	r->now = cie->initial;
	r->loc = 0;
	r->depth = 0;
	r->changed = false;
}

static int cfi_read_cie(const struct cfi *c, struct cfi_cie *cie,
			struct bytes *b)
{
	struct cfi_run r;
	uint8_t version;
	uint8_t byte;
	uint64_t ra;
	const char *a;
	int ret;

	cie->address = c->abi->word;
	cie->enc = DW_EH_PE_absptr;
	if (bytes_u8(b, &version, NULL) || bytes_str(b, &a, NULL))
		return -1;
	if (version != 1 && version != 3 && version != 4)
		return -1;
	if (version == 4) {
		if (bytes_u8(b, &cie->address, NULL) ||
		    bytes_u8(b, &byte, NULL) || byte ||
		    (cie->address != 4 && cie->address != 8))
			return -1;
	}
	if (leb128_unsigned(b, &cie->code_align) ||
	    leb128_signed(b, &cie->data_align))
		return -1;
	if (version == 1) {
		if (bytes_u8(b, &byte, NULL))
			return -1;
		ra = byte;
	} else if (leb128_unsigned(b, &ra)) {
		return -1;
	}
	if (ra >= ABI_REGS)
		return -1;
	cie->initial.ra = (uint8_t)ra;
	if (cfi_read_augmentation(c, cie, a, b))
		return -1;
	cfi_start_run(&r, c, cie);
	while ((ret = cfi_run(&r, b)) > 0)
		;
	cie->initial = r.now;
	return ret;
}

/* Takes the next entry: 1, with *b after its length; 0 at the end. *wide: it
 * is in the 64-bit format. */
static int cfi_next_entry(struct bytes *all, struct bytes *b, bool *wide)
{
	uint32_t word;

	if (bytes_u32(all, &word, NULL))
		return 0;
	uint64_t len = word;
	*wide = word == UINT32_MAX;
	if (*wide && bytes_u64(all, &len, NULL))
		return 0;
	return !bytes_take(all, len, b, NULL);
}

/* Returns the index of the CIE at an offset, reading it the first time. The
 * result is TABLE_NONE if there are too many; a damaged one has !good. */
static uint32_t cfi_cie_at(struct cfi *c, uint64_t off)
{
	uint32_t id = table_find_hash(&c->by_off, hash_u64(off));
	struct cfi_cie cie = { .off = off };
	struct bytes all;
	struct bytes b;
	uint32_t word = 0;
	uint64_t mark = 0;
	bool wide;

	if (id != TABLE_NONE || c->n_cie == CIES_MAX)
		return id;
	if (!cfi_window(c, off, off > c->len ? 0 : c->len - off, &all) &&
	    cfi_next_entry(&all, &b, &wide)) {
		if (wide && !c->eh)
			cie.good = !bytes_u64(&b, &mark, NULL) &&
				   mark == UINT64_MAX;
		else
			cie.good = !bytes_u32(&b, &word, NULL) &&
				   word == (c->eh ? 0 : UINT32_MAX);
		cie.good = cie.good && bytes_left(&b) <= c->cie_room;
		if (cie.good) {
			c->cie_room -= bytes_left(&b);
			cie.good = !cfi_read_cie(c, &cie, &b);
		}
	}
	mem_grow(c->cie, c->cap_cie, c->n_cie + 1);
	c->cie[c->n_cie] = cie;
	table_add(&c->by_off, hash_u64(off), (uint32_t)c->n_cie);
	return (uint32_t)c->n_cie++;
}

/* Reads an FDE; b is after its CIE pointer. */
static int cfi_read_fde(const struct cfi *c, uint32_t id, struct bytes *b,
			struct cfi_fde *f)
{
	const struct cfi_cie *cie = &c->cie[id];
	uint64_t len;

	if (cfi_read_pointer(c, b, cie->enc, cie->address, &f->start) ||
	    cfi_read_pointer(c, b, cie->enc & 0xf, cie->address, &len) ||
	    __builtin_add_overflow(f->start, len, &f->end))
		return -1;
	if (cie->sized &&
	    (leb128_unsigned(b, &len) || bytes_skip(b, len, NULL)))
		return -1;
	if (f->start == f->end || bytes_left(b) > UINT32_MAX)
		return -1;
	f->cie = id;
	f->off = bytes_off(b);
	f->len = (uint32_t)bytes_left(b);
	return 0;
}

/* Reads the CIE pointer of an entry. Returns -1 if the entry is a CIE or
 * damaged. */
static int cfi_cie_offset(const struct cfi *c, struct bytes *b, bool wide,
			  uint64_t *off)
{
	uint64_t here = bytes_off(b);
	uint32_t word = 0;

	if (wide && !c->eh) {
		if (bytes_u64(b, off, NULL) || *off == UINT64_MAX)
			return -1;
		return 0;
	}
	if (bytes_u32(b, &word, NULL) || word == (c->eh ? 0 : UINT32_MAX))
		return -1;
	*off = c->eh ? here - word : word;
	return c->eh && word > here ? -1 : 0;
}

/* They are read in the order of their places, which those with equal starts
 * keep. By qsort() it was half of what opening cc1 took. */
SORT_BY_DIGITS(cfi_sort, struct cfi_fde, start);

/* Returns a copy of a section, or NULL. What is loaded has no other form, so it
 * is read into the copy: libelf would have the 5 MB of a large program, too.
 * The Go linker compresses .debug_frame. */
static unsigned char *cfi_section_data(const struct elf_file *ef,
				       const struct elf_section *s, size_t *len)
{
	const bool packed = s->flags & SHF_COMPRESSED;
	uint64_t end;
	char last;
	GElf_Chdr ch;

	*len = s->size;
	if (s->type == SHT_NOBITS)
		return NULL;
	if (!packed && s->flags & SHF_ALLOC) {
		if (!s->size || s->size > SECTION_MAX ||
		    __builtin_add_overflow(s->off, s->size, &end) ||
		    elf_read(ef, end - 1, &last, 1) != 1)
			return NULL;
		unsigned char *data = mem_new(1, *len);

		*len = elf_read(ef, s->off, data, *len);
		return data;
	}
	if (packed && (!gelf_getchdr(s->scn, &ch) || ch.ch_size > SECTION_MAX ||
		       elf_compress(s->scn, 0, 0) < 0))
		return NULL;
	const Elf_Data *d =
		packed ? elf_getdata(s->scn, NULL) : elf_rawdata(s->scn, NULL);

	if (!d || !d->d_buf || !d->d_size || d->d_size > SECTION_MAX)
		return NULL;
	*len = d->d_size;
	return mem_dup(d->d_buf, d->d_size);
}

/* A binary search of the 60,000 functions of a compiler waits for memory ten
 * times: the index leads to the few that begin near an address. */
static void cfi_make_index(struct cfi *c)
{
	const uint64_t range = c->fde[c->n - 1].start - c->fde[0].start;

	while (range >> c->shift >= c->n)
		c->shift++;
	c->n_near = (size_t)(range >> c->shift) + 1;
	c->near = mem_new(c->n_near + 1, sizeof(*c->near));
	for (size_t i = 0; i < c->n; i++)
		c->near[((c->fde[i].start - c->fde[0].start) >> c->shift) + 1] =
			(uint32_t)i + 1;
	for (size_t i = 1; i <= c->n_near; i++)
		raise_to(c->near[i], c->near[i - 1]);
}

/* Takes ownership of data. */
static struct cfi *cfi_new(const struct abi *abi, unsigned char *data,
			   size_t len, bool eh, uint64_t addr, bool swap)
{
	struct cfi *c = mem_new(1, sizeof(*c));
	struct bytes all;
	struct bytes b;
	uint64_t last = UINT64_MAX;
	uint32_t id = TABLE_NONE;
	bool wide;

	c->abi = abi;
	c->data = data;
	c->len = len;
	c->eh = eh;
	c->swap = swap;
	c->addr = addr;
	c->cie_room = len;
	bytes_init(&all, c->data, len, "", 0, swap);
	while (cfi_next_entry(&all, &b, &wide)) {
		uint64_t off = 0; /* gcc -O1 does not see that it is set */
		struct cfi_fde f;

		if (cfi_cie_offset(c, &b, wide, &off))
			continue;
		/* most have the CIE of the one before */
		if (off != last)
			id = cfi_cie_at(c, last = off);
		if (id == TABLE_NONE || !c->cie[id].good ||
		    cfi_read_fde(c, id, &b, &f))
			continue;
		*mem_add(c->fde, c->n, c->cap) = f;
	}
	if (c->n > 1) {
		c->fde = cfi_sort(c->fde, c->n);
		c->cap = c->n;
	}
	if (c->n)
		cfi_make_index(c);
	return c;
}

struct cfi *cfi_memory(uint16_t machine, const void *data, size_t len,
		       uint64_t addr, bool swap)
{
	const struct abi *abi = abi_of(machine);

	if (!abi || !len || len > SECTION_MAX)
		return NULL;
	return cfi_new(abi, mem_dup(data, len), len, true, addr, swap);
}

static struct cfi *cfi_of_go(const struct abi *abi, const struct elf_file *ef)
{
	size_t len;
	unsigned char *data = go_frames_make(ef, &len);

	return data ? cfi_new(abi, data, len, true, 0, false) : NULL;
}

struct cfi *cfi_open(const struct elf_file *ef, const char *section)
{
	const struct abi *abi = abi_of(ef->machine);
	struct elf_section s;
	size_t len;

	if (!abi || (gelf_getclass(ef->elf) == ELFCLASS64 ? 8 : 4) != abi->word)
		return NULL;
	if (!elf_section_find(ef, section, &s))
		return strcmp(section, ".debug_frame") ? NULL
						       : cfi_of_go(abi, ef);
	unsigned char *data = cfi_section_data(ef, &s, &len);

	return data ? cfi_new(abi, data, len, !strcmp(section, ".eh_frame"),
			      s.addr, ef->swap)
		    : NULL;
}

struct cfi *cfi_open_both(const struct elf_file *ef)
{
	struct cfi *c = cfi_open(ef, ".eh_frame");
	struct cfi *debug = cfi_open(ef, ".debug_frame");

	if (!c)
		return debug;
	c->other = debug;
	return c;
}

void cfi_close(struct cfi *c)
{
	if (!c)
		return;
	cfi_close(c->other);
	table_release(&c->by_off);
	free_all(c->data, c->cie, c->near, c->fde, c);
}

const struct cfi_fde *cfi_find_fde(const struct cfi *c, uint64_t vaddr)
{
	size_t lo = c->n;

	if (!lo || vaddr < c->fde[0].start)
		return NULL;
	const uint64_t at = (vaddr - c->fde[0].start) >> c->shift;

	if (at < c->n_near) {
		const uint32_t from = c->near[at];

		lo = from + search_where(c->near[at + 1] - from, i,
					 c->fde[from + i].start > vaddr);
	}
	return lo && vaddr < c->fde[lo - 1].end ? &c->fde[lo - 1] : NULL;
}

size_t cfi_functions(const struct cfi *c)
{
	return c->n + (c->other ? c->other->n : 0);
}

void cfi_range(const struct cfi *c, size_t i, uint64_t *start, uint64_t *end)
{
	const struct cfi_fde *f =
		i < c->n ? &c->fde[i] : &c->other->fde[i - c->n];

	*start = f->start;
	*end = f->end;
}

bool cfi_function(const struct cfi *c, uint64_t vaddr, uint64_t *start,
		  uint64_t *end)
{
	const struct cfi_fde *f = c ? cfi_find_fde(c, vaddr) : NULL;

	if (!f)
		return c && cfi_function(c->other, vaddr, start, end);
	*start = f->start;
	*end = f->end;
	return true;
}

uint64_t cfi_next(const struct cfi *c, uint64_t vaddr)
{
	if (!c)
		return UINT64_MAX;
	size_t i = search_where(c->n, k, c->fde[k].start > vaddr);
	uint64_t next = cfi_next(c->other, vaddr);

	if (i < c->n)
		lower_to(next, c->fde[i].start);
	return next;
}

int cfi_begin(const struct cfi *c, const struct cfi_fde *f, struct cfi_run *r,
	      struct bytes *b)
{
	if (cfi_window(c, f->off, f->len, b))
		return -1;
	cfi_start_run(r, c, &c->cie[f->cie]);
	r->loc = f->start;
	return 0;
}

int cfi_rules(const struct cfi *c, uint64_t vaddr, struct cfi_rules *out)
{
	const struct cfi_fde *f = cfi_find_fde(c, vaddr);
	struct cfi_run r;
	struct bytes b;

	if (!f && c->other)
		return cfi_rules(c->other, vaddr, out);
	if (!f || cfi_begin(c, f, &r, &b))
		return 0;
	for (;;) {
		int ret = cfi_run(&r, &b);

		if (ret < 0)
			return 0;
		if (!ret || r.loc > vaddr)
			break;
	}
	*out = r.now;
	return 1;
}

int cfi_expr(const struct cfi *c, int64_t v, struct bytes *out)
{
	struct bytes b;
	uint64_t len;

	if (v < 0 || (uint64_t)v > c->len ||
	    cfi_window(c, (uint64_t)v, c->len - (uint64_t)v, &b) ||
	    leb128_unsigned(&b, &len))
		return -1;
	return bytes_take(&b, len, out, NULL);
}
