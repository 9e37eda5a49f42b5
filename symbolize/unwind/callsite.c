/* callsite.c - the call-site check: can a return address be true, and does the
 * call in front of it go to the function of the next inner frame? */
#include "symbolize/unwind/callsite.h"

#include <gelf.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "symbolize/disasm/call.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/plt.h"
#include "symbolize/symbolizer.h"
#include "symbolize/elf/symtab.h"

/* More than any real file has. */
#define SYMBOLS_MAX 20000000
/* .plt, .plt.sec, .plt.got, .iplt */
#define PLT_MAX 8

/* A function's name, as its hash: names are compared, never shown. */
struct name {
	uint64_t hash, addr;
	bool chosen; /* at run time: the target may be any */
};

struct callsite_file {
	struct elf_file *ef; /* NULL when settled */
	struct cfi *cfi;
	struct symtab stubs; /* of the plt; names in text */
	struct symtab funcs; /* where the cfi says nothing; no names */
	struct arena text;
	struct name *name; /* by hash */
	size_t n_name, cap_name;
	struct name *cold; /* hash of the warm part's name, own address */
	size_t n_cold, cap_cold;
	struct segment *seg;
	size_t n_seg;
	struct segment plt[PLT_MAX]; /* sections; vaddr and filesz only */
	size_t n_plt;
	uint16_t machine;
	bool big, loader;
};

/* ---- opening */

static uint64_t name_hash(const char *s, size_t n)
{
	return hash_bytes(s, n, 0);
}

static void put_name(struct name **list, size_t *n, size_t *cap,
		     const struct name *add)
{
	*list = mem_grow(*list, cap, *n + 1, sizeof(**list));
	(*list)[(*n)++] = *add;
}

static void take_symbol(struct callsite_file *f, const GElf_Sym *s,
			const char *name)
{
	unsigned int type = GELF_ST_TYPE(s->st_info);
	const char *cold = strstr(name, ".cold");
	struct name add = { .addr = s->st_value,
			    .chosen = type == STT_GNU_IFUNC };
	struct sym fn = { .start = s->st_value, .name = "", .how = "" };

	if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
	    s->st_shndx == SHN_UNDEF || !s->st_value || !name[0])
		return;
	add.hash = name_hash(name, strlen(name));
	put_name(&f->name, &f->n_name, &f->cap_name, &add);
	if (cold) {
		add.hash = name_hash(name, (size_t)(cold - name));
		put_name(&f->cold, &f->n_cold, &f->cap_cold, &add);
	}
	if (s->st_size &&
	    !__builtin_add_overflow(fn.start, s->st_size, &fn.end)) {
		fn.rank = SYM_REAL | SYM_SIZED | SYM_TYPED;
		symtab_add(&f->funcs, &fn);
	}
}

static void take_table(struct callsite_file *f, const struct elf_section *s)
{
	struct elf_section str;
	Elf_Data *d = elf_section_data(s);
	Elf_Data *sd;
	size_t each = gelf_fsize(f->ef->elf, ELF_T_SYM, 1, EV_CURRENT);

	if (!d || d->d_type != ELF_T_SYM || !each ||
	    !elf_section_get(f->ef, s->link, &str) || str.type != SHT_STRTAB)
		return;
	sd = elf_section_data(&str);
	if (!sd)
		return;
	const char *text = sd->d_buf;
	size_t len = sd->d_size;
	while (len && text[len - 1])
		len--;
	for (size_t i = 1; i < d->d_size / each && i < SYMBOLS_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(d, (int)i, &sym))
			return;
		if (sym.st_name < len)
			take_symbol(f, &sym, text + sym.st_name);
	}
}

static int by_hash(const void *a, const void *b)
{
	const struct name *x = a;
	const struct name *y = b;

	if (x->hash != y->hash)
		return x->hash < y->hash ? -1 : 1;
	return (x->addr > y->addr) - (x->addr < y->addr);
}

static void take_symbols(struct callsite_file *f)
{
	struct elf_section s;
	size_t n = elf_sections(f->ef);

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(f->ef, i, &s))
			continue;
		if (s.type == SHT_SYMTAB || s.type == SHT_DYNSYM)
			take_table(f, &s);
		else if (f->n_plt < PLT_MAX && s.flags & SHF_EXECINSTR &&
			 strstr(s.name, "plt"))
			f->plt[f->n_plt++] =
				(struct segment){ .vaddr = s.addr,
						  .filesz = s.size };
	}
	if (f->n_name)
		qsort(f->name, f->n_name, sizeof(*f->name), by_hash);
	symtab_finish(&f->funcs);
	/* stubs of chosen functions have the name of the chooser: not ours */
	symtab_finish(&f->stubs);
	plt_add(f->ef, &f->stubs, &f->text);
	symtab_finish(&f->stubs);
}

/* Calls through it arrive by way of the dynamic linker the first time. */
static bool is_loader(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash &&
	       (!strncmp(slash, "/ld-", 4) || !strncmp(slash, "/ld64", 5) ||
		!strncmp(slash, "/ld.so", 6));
}

struct callsite_file *callsite_open(struct symbolizer *sy,
				    const struct image *img, const char **why,
				    bool *unverified)
{
	struct elf_file *ef = code_file(sy, img, why);
	uint64_t unused;

	*unverified = !img->id_len;
	if (!ef)
		return NULL;
	if (call_before(ef->machine, false, (const unsigned char *)"", 0, 0, 0,
			&unused) == CALL_UNKNOWN) {
		elf_file_close(ef);
		*why = "no rules for this machine";
		return NULL;
	}
	struct callsite_file *f = mem_new(1, sizeof(*f));

	f->ef = ef;
	f->machine = ef->machine;
	f->big = elf_getident(ef->elf, NULL)[EI_DATA] == ELFDATA2MSB;
	f->seg = mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg));
	f->n_seg = ef->n_seg;
	f->loader = is_loader(img->path);
	f->cfi = cfi_open_either(ef);
	take_symbols(f);
	*why = NULL;
	return f;
}

bool callsite_text(const struct callsite_file *f, struct section_used *out)
{
	return f->ef && used_text(f->ef, out);
}

void callsite_settle(struct callsite_file *f)
{
	elf_file_close(f->ef);
	f->ef = NULL;
}

void callsite_close(struct callsite_file *f)
{
	if (!f)
		return;
	elf_file_close(f->ef);
	cfi_close(f->cfi);
	symtab_release(&f->stubs);
	symtab_release(&f->funcs);
	arena_release(&f->text);
	free(f->name);
	free(f->cold);
	free(f->seg);
	free(f);
}

/* ---- the range that is mapped */

/* Pages of arm64 and powerpc are of 64 KiB at most. */
static uint64_t page_of(uint16_t machine)
{
	return machine == EM_AARCH64 || machine == EM_PPC64 ? 65536 : 4096;
}

bool callsite_fits(const struct callsite_file *f, uint64_t pgoff, uint64_t len)
{
	uint64_t page = page_of(f->machine);
	uint64_t end;
	uint64_t seg_end;

	if (__builtin_add_overflow(pgoff, len, &end))
		return false;
	for (size_t i = 0; i < f->n_seg; i++) {
		const struct segment *s = &f->seg[i];

		if (!__builtin_add_overflow(s->off, s->filesz, &seg_end) &&
		    pgoff <= s->off && s->off - pgoff < page &&
		    end >= seg_end && end - seg_end < page)
			return true;
	}
	return false;
}

/* ---- one place */

static bool is_in(const struct segment *seg, size_t n, uint64_t vaddr)
{
	for (size_t i = 0; i < n; i++)
		if (vaddr >= seg[i].vaddr &&
		    vaddr - seg[i].vaddr < seg[i].filesz)
			return true;
	return false;
}

void callsite_at(const struct callsite_file *f, uint64_t off,
		 struct callsite *out)
{
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	const struct segment *seg = NULL;
	size_t before;
	size_t n;

	*out = (struct callsite){ .kind = CALLSITE_NO_CODE };
	/* A call may be the last instruction: off - 1 is in the code. */
	for (size_t i = 0; i < f->n_seg && off; i++)
		if (off - 1 >= f->seg[i].off &&
		    off - 1 - f->seg[i].off < f->seg[i].filesz)
			seg = &f->seg[i];
	if (!seg)
		return;
	before = off - seg->off < CALL_BEFORE ? (size_t)(off - seg->off)
					      : CALL_BEFORE;
	n = code_bytes(f->ef, off - before, code, before + CALL_AFTER);
	if (n < before) {
		out->kind = CALLSITE_UNCHECKED;
		return;
	}
	switch (call_before(f->machine, f->big, code, before, n - before,
			    off - seg->off + seg->vaddr, &out->target)) {
	case CALL_DIRECT:
		/* bytes of another instruction: a call leads to code */
		out->kind = is_in(f->seg, f->n_seg, out->target)
				    ? CALLSITE_DIRECT
				    : CALLSITE_NO_CALL;
		break;
	case CALL_INDIRECT:
		out->kind = CALLSITE_INDIRECT;
		break;
	case CALL_SIGNAL:
		out->kind = CALLSITE_SIGNAL;
		break;
	case CALL_START:
		out->kind = CALLSITE_START;
		break;
	case CALL_UNKNOWN:
		out->kind = CALLSITE_UNCHECKED;
		break;
	case CALL_NONE:
		out->kind = CALLSITE_NO_CALL;
		break;
	}
}

/* ---- two places */

/* The function around an ELF address, by the unwind tables (which stripped
 * files have, too), else by symbols. */
static bool function_at(const struct callsite_file *f, uint64_t vaddr,
			uint64_t *start, uint64_t *end)
{
	const struct sym *s;

	if (cfi_function(f->cfi, vaddr, start, end))
		return true;
	s = symtab_find(&f->funcs, vaddr);
	if (!s)
		return false;
	*start = s->start;
	*end = s->end;
	return true;
}

/* The first of that name; *n: how many there are. */
static const struct name *names_of(const struct callsite_file *f, uint64_t hash,
				   size_t *n)
{
	size_t lo = 0;
	size_t hi = f->n_name;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (f->name[mid].hash < hash)
			lo = mid + 1;
		else
			hi = mid;
	}
	*n = 0;
	while (lo + *n < f->n_name && f->name[lo + *n].hash == hash)
		++*n;
	return *n ? &f->name[lo] : NULL;
}

/* The call goes through a stub that has the name of a function. */
static enum callsite_link by_name(const char *stub,
				  const struct callsite_file *inner,
				  uint64_t start, uint64_t end)
{
	const char *at = strrchr(stub, '@');
	size_t n;
	const struct name *nm;

	if (!at || inner->loader)
		return CALLSITE_UNKNOWN;
	nm = names_of(inner, name_hash(stub, (size_t)(at - stub)), &n);
	for (size_t i = 0; i < n; i++)
		if (nm[i].chosen || (nm[i].addr >= start && nm[i].addr < end))
			return nm[i].chosen ? CALLSITE_UNKNOWN
					    : CALLSITE_PROVED;
	return CALLSITE_GAP;
}

/* Is [start, end) the cold part of the function at target? */
static bool cold_of(const struct callsite_file *f, uint64_t start, uint64_t end,
		    uint64_t target)
{
	for (size_t i = 0; i < f->n_cold; i++) {
		const struct name *nm;
		size_t n;

		if (f->cold[i].addr < start || f->cold[i].addr >= end)
			continue;
		nm = names_of(f, f->cold[i].hash, &n);
		for (size_t k = 0; k < n; k++)
			if (nm[k].addr == target)
				return true;
	}
	return false;
}

enum callsite_link callsite_link(const struct callsite_file *f,
				 const struct callsite *site,
				 const struct callsite_file *inner,
				 uint64_t off)
{
	const struct sym *stub;
	uint64_t vaddr;
	uint64_t start;
	uint64_t end;

	if (site->kind == CALLSITE_INDIRECT)
		return CALLSITE_OPEN;
	if (site->kind != CALLSITE_DIRECT || !inner ||
	    !elf_vaddr(inner->seg, inner->n_seg, off, &vaddr) ||
	    !function_at(inner, vaddr, &start, &end))
		return CALLSITE_UNKNOWN;
	stub = symtab_find(&f->stubs, site->target);
	/* in the stub itself */
	if (stub && f == inner && vaddr >= stub->start && vaddr < stub->end)
		return CALLSITE_PROVED;
	if (stub)
		return by_name(stub->name, inner, start, end);
	/* a stub without a name: the target is chosen at run time */
	if (is_in(f->plt, f->n_plt, site->target))
		return CALLSITE_UNKNOWN;
	if (f != inner)
		return CALLSITE_GAP;
	if (site->target >= start && site->target < end)
		return CALLSITE_PROVED;
	return cold_of(f, start, end, site->target) ? CALLSITE_PROVED
						    : CALLSITE_GAP;
}
