/* gopclntab.c - reads the function table of Go's runtime, which stripped
 * programs have too.
 *
 * Go's runtime prints stacks with a table that neither 'go build -ldflags=-s'
 * nor strip removes. Its layout since Go 1.18 is that of pcHeader, functab and
 * _func in runtime/symtab.go and runtime/runtime2.go: a header with the offsets
 * of parts; names, each followed by a zero; and an entry for each function in
 * the order of addresses, with the offset of its record. Addresses count from
 * runtime.text. A record has the offset of its stack depths, which step() of
 * runtime/symtab.go reads. */
#include "symbolize/elf/gopclntab.h"

#include <gelf.h>
#include <string.h>

#include "symbolize/elf/dwarf_number.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/symtab.h"

/* The first word, in Go 1.18 and in 1.20; the parts that are read here are the
 * same. */
#define MAGIC_118 0xfffffff0u
#define MAGIC_120 0xfffffff1u
/* Sizes: of the header before its numbers, and of an entry of a function. */
#define HEADER 8
#define ENTRY 8
/* Offset in a record of the word for its depths (_func.pcsp). */
#define RECORD_DEPTHS 16
/* Offset of the byte with its flags, since Go 1.20 and before; and the flag of
 * a function without a caller (TOPFRAME of internal/abi). */
#define RECORD_FLAGS 41
#define RECORD_FLAGS_118 37
#define FLAG_TOP 1
/* The longest name: each of millions of entries of a damaged table may have the
 * same endless bytes. */
#define NAME_MOST 16384

/* Starts to read at an offset of the table. Returns false if that is beyond its
 * end. */
static bool gopclntab_at(const struct gopclntab *g, uint64_t off,
			 struct bytes *b)
{
	if (off > g->len)
		return false;
	bytes_init(b, g->data + off, g->len - (size_t)off, "", 0, g->swap);
	return true;
}

/* Reads number i of the header. */
static bool gopclntab_header(const struct gopclntab *g, unsigned int i,
			     uint64_t *out)
{
	struct bytes b;

	return gopclntab_at(g, HEADER + (uint64_t)i * g->word, &b) &&
	       !dwarf_number_fixed(&b, g->word, false, out);
}

/* Reads the header of the table. Returns false if it is damaged or of an
 * unknown version. */
static bool gopclntab_read_header(struct gopclntab *g)
{
	enum {
		FUNCTIONS,
		TEXT = 2,
		NAMES,
		VALUES = 6,
		ENTRIES
	};
	struct bytes b;
	uint32_t magic;

	if (!gopclntab_at(g, 0, &b) || bytes_u32(&b, &magic, NULL) ||
	    (magic != MAGIC_118 && magic != MAGIC_120) || g->len < HEADER)
		return false;
	g->word = g->data[HEADER - 1];
	g->quantum = g->data[HEADER - 2];
	g->flags_at = magic == MAGIC_118 ? RECORD_FLAGS_118 : RECORD_FLAGS;
	return (g->word == 8 || g->word == 4) &&
	       gopclntab_header(g, FUNCTIONS, &g->n) &&
	       gopclntab_header(g, TEXT, &g->text) &&
	       gopclntab_header(g, NAMES, &g->names) &&
	       gopclntab_header(g, VALUES, &g->values) &&
	       gopclntab_header(g, ENTRIES, &g->entries) &&
	       g->entries <= g->len && g->n <= (g->len - g->entries) / ENTRY;
}

/* Reads the start of function i, from runtime.text on; i == g->n: the end of
 * the last one. Sets *record, if not NULL, to the offset of its record. */
static bool gopclntab_entry(const struct gopclntab *g, uint64_t i,
			    uint32_t *start, uint32_t *record)
{
	struct bytes b;

	return gopclntab_at(g, g->entries + i * ENTRY, &b) &&
	       !bytes_u32(&b, start, NULL) &&
	       (!record || !bytes_u32(&b, record, NULL));
}

/* Returns the name of a function by its record; NULL if the record is
 * damaged. */
static const char *gopclntab_name(const struct gopclntab *g, uint32_t record)
{
	struct bytes b;
	uint32_t unused, at;

	if (!gopclntab_at(g, g->entries + record, &b) ||
	    bytes_u32(&b, &unused, NULL) || bytes_u32(&b, &at, NULL) ||
	    g->names > g->len || at >= g->len - g->names)
		return NULL;
	const unsigned char *name = g->data + g->names + at;
	size_t most = g->len - (size_t)g->names - at;

	return memchr(name, '\0', most < NAME_MOST ? most : NAME_MOST)
		       ? (const char *)name
		       : NULL;
}

/* Finds the address of runtime.text. If the loader chooses the address of the
 * file, only relocations have it. It is not the start of .text if C code was
 * linked before it: the program then does not start in Go's own first
 * function. */
static bool gopclntab_find_text(const struct elf_file *ef, struct gopclntab *g)
{
	static const char first[] = "_rt0_";
	struct elf_section text;
	GElf_Ehdr eh;
	uint32_t start, record;

	if (!elf_section_find(ef, ".text", &text) ||
	    !gelf_getehdr(ef->elf, &eh))
		return false;
	for (uint64_t i = 0; i < g->n; i++) {
		if (!gopclntab_entry(g, i, &start, &record) ||
		    text.addr + start != eh.e_entry)
			continue;
		const char *name = gopclntab_name(g, record);

		g->text = text.addr;
		return name && !strncmp(name, first, sizeof(first) - 1);
	}
	return false;
}

bool gopclntab_open(const struct elf_file *ef, struct gopclntab *g,
		    struct elf_section *from)
{
	*g = (struct gopclntab){ .swap = ef->swap };
	if (!elf_section_find(ef, ".gopclntab", from) &&
	    !elf_section_find(ef, ".data.rel.ro.gopclntab", from))
		return false;
	Elf_Data *d = elf_section_data(from);

	if (!d || !d->d_buf)
		return false;
	g->data = d->d_buf;
	g->len = d->d_size;
	return gopclntab_read_header(g) &&
	       (g->text || gopclntab_find_text(ef, g));
}

bool gopclntab_function(const struct gopclntab *g, uint64_t i,
			struct gopclntab_function *out)
{
	uint32_t start, end;

	return gopclntab_entry(g, i, &start, &out->record) &&
	       gopclntab_entry(g, i + 1, &end, NULL) && end > start &&
	       !__builtin_add_overflow(g->text, start, &out->start) &&
	       !__builtin_add_overflow(g->text, end, &out->end);
}

bool gopclntab_depths(const struct gopclntab *g,
		      const struct gopclntab_function *f,
		      struct gopclntab_depths *d)
{
	struct bytes record;
	uint32_t at;
	uint8_t flags;

	if (!gopclntab_at(g, g->entries + f->record, &record) ||
	    bytes_skip(&record, RECORD_DEPTHS, NULL) ||
	    bytes_u32(&record, &at, NULL) || !at || !g->quantum ||
	    bytes_skip(&record, g->flags_at - RECORD_DEPTHS - sizeof(at),
		       NULL) ||
	    bytes_u8(&record, &flags, NULL) || g->values > g->len ||
	    at >= g->len - g->values)
		return false;
	*d = (struct gopclntab_depths){ .pc = f->start,
					.end = f->end,
					.depth = UINT32_MAX,
					.quantum = g->quantum,
					.first = true,
					.top = flags & FLAG_TOP };
	return gopclntab_at(g, g->values + at, &d->b);
}

int gopclntab_next_depth(struct gopclntab_depths *d, uint64_t *start)
{
	uint64_t change, length;

	*start = d->pc;
	if (d->pc == d->end)
		return 0;
	if (leb128_unsigned(&d->b, &change) || change > UINT32_MAX)
		return -1;
	if (!change && !d->first)
		return 0;
	if (leb128_unsigned(&d->b, &length))
		return -1;
	d->first = false;
	/* the lowest bit is the sign */
	d->depth += (uint32_t)(change & 1 ? ~(change >> 1) : change >> 1);
	if (!length || length > (d->end - d->pc) / d->quantum)
		return -1;
	d->pc += length * d->quantum;
	return 1;
}

bool gopclntab_around(const struct gopclntab *g, uint64_t vaddr,
		      struct gopclntab_depths *d)
{
	struct gopclntab_function fn;
	uint64_t lo = 0;

	for (uint64_t hi = g->n; lo < hi;) {
		const uint64_t mid = lo + (hi - lo) / 2;

		if (!gopclntab_function(g, mid, &fn))
			return false;
		if (vaddr < fn.start)
			hi = mid;
		else if (vaddr >= fn.end)
			lo = mid + 1;
		else
			return gopclntab_depths(g, &fn, d);
	}
	return false;
}

bool gopclntab_add(const struct elf_file *ef, struct symtab *t,
		   struct elf_section *from)
{
	struct gopclntab g;

	if (!gopclntab_open(ef, &g, from))
		return false;
	for (uint64_t i = 0; i < g.n; i++) {
		struct gopclntab_function f;

		if (!gopclntab_function(&g, i, &f))
			continue;
		const char *name = gopclntab_name(&g, f.record);
		struct sym s = { .name = name,
				 .how = "pclntab",
				 .start = f.start,
				 .end = f.end,
				 .rank = SYM_REAL | SYM_SIZED | SYM_TYPED |
					 SYM_STRONG };

		if (name && name[0])
			symtab_add(t, &s);
	}
	return true;
}
