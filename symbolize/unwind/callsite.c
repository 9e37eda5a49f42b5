/* callsite.c - the call-site check: is a return address possible, and does the
 * call before it go to the function of the next inner frame? */
#include "symbolize/unwind/callsite.h"

#include <gelf.h>

#include "stitch/base/digits.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/tasks/frame.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/disasm/call_insn.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"
#include "symbolize/elf/plt.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/files/locate.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/sframe/sframe.h"
#include "symbolize/symbolizer.h"
#include "symbolize/symbolizer_cache.h"
#include "symbolize/unwind/callsite_file.h"
#include "symbolize/unwind/kernel_code.h"

uint64_t callsite_hash_name(const char *s, size_t n)
{
	return hash_bytes(s, n, 0);
}

static void callsite_take_table(struct callsite_file *f,
				const struct elf_section *s)
{
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	if (!elf_symbols_open(f->ef, s, &it))
		return;
	while (elf_symbols_next(&it, &sym, &name)) {
		unsigned int type = GELF_ST_TYPE(sym.st_info);
		/* most C names have no dot */
		const char *cold = strchr(name, '.');
		struct callsite_name add = {
			.addr = sym.st_value,
			.chosen = type == STT_GNU_IFUNC,
			.local = GELF_ST_BIND(sym.st_info) == STB_LOCAL,
		};
		struct sym fn = { .start = sym.st_value,
				  .name = "",
				  .how = "" };

		if ((type != STT_FUNC && type != STT_GNU_IFUNC) ||
		    sym.st_shndx == SHN_UNDEF || !sym.st_value || !name[0])
			continue;
		add.hash = callsite_hash_name(name, strlen(name));
		*mem_add(f->name, f->n_name, f->cap_name) = add;
		cold = cold ? strstr(cold, ".cold") : NULL;
		if (cold) {
			add.hash =
				callsite_hash_name(name, (size_t)(cold - name));
			*mem_add(f->cold, f->n_cold, f->cap_cold) = add;
		}
		if (sym.st_size &&
		    !__builtin_add_overflow(fn.start, sym.st_size, &fn.end)) {
			fn.rank = SYM_REAL | SYM_SIZED | SYM_TYPED;
			symtab_add(&f->funcs, &fn);
		}
	}
}

/* Sort by address, and by hash: with qsort() a compiler's 60,000 names took a
 * hundredth of an ingest. */
SORT_BY_DIGITS(callsite_by_addr, struct callsite_name, addr);
SORT_BY_DIGITS(callsite_by_hash, struct callsite_name, hash);

/* Finds the table of stack depths in the bytes of f->ef. */
static void callsite_open_go(struct callsite_file *f)
{
	struct elf_section from;

	if (!f->ef || !callsite_is_go(f) ||
	    !gopclntab_open(f->ef, &f->go, &from))
		f->go.n = 0;
}

static void callsite_free(void *object)
{
	struct callsite_file *f = object;

	elf_file_close(f->ef);
	cfi_close(f->cfi);
	unwind_rows_free(f->sframe);
	symtab_release(&f->stubs);
	symtab_release(&f->funcs);
	arena_release(&f->names);
	tried_files_release(&f->tried);
	free_all(f->kept_as, f->name, f->cold, f->seg, f->starts.of, f);
}

static struct callsite_file *callsite_open_new(struct symbolizer *sy,
					       const struct image *img,
					       struct identity_answer *answer)
{
	struct tried_files tried = { .n = 0 };

	sy->tried = sy->opts.kept ? &tried : NULL;
	struct elf_file *ef = code_bytes_find_file(sy, img, answer);
	uint64_t unused;

	sy->tried = NULL;
	if (ef &&
	    call_insn_before(ef->machine, false, (const unsigned char *)"", 0,
			     0, 0, &unused) == CALL_UNKNOWN) {
		elf_file_close(ef);
		ef = NULL;
	}
	if (!ef) {
		tried_files_release(&tried);
		return NULL;
	}
	struct callsite_file *f = mem_new(1, sizeof(*f));

	f->ef = ef;
	f->tried = tried;
	f->machine = ef->machine;
	f->big = ef->big;
	f->seg = mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg));
	f->n_seg = ef->n_seg;
	f->span = identity_span(ef);
	/* The first call through a PLT stub goes through the dynamic linker. */
	const char *slash = img->path ? strrchr(img->path, '/') : NULL;

	f->loader = slash && (!strncmp(slash, "/ld-", 4) ||
			      !strncmp(slash, "/ld64", 5) ||
			      !strncmp(slash, "/ld.so", 6));
	f->cfi = cfi_open_both(ef);
	struct sframe_file sframe;

	if (sframe_file_open(ef, &sframe, NULL) == 1) {
		f->sframe = sframe_table(&sframe.sf, NULL);
		sframe_file_release(&sframe);
	}
	struct elf_section s;
	size_t n = elf_sections(f->ef);

	for (size_t i = 1; i < n; i++) {
		if (!elf_section_get(f->ef, i, &s))
			continue;
		if (s.type == SHT_SYMTAB || s.type == SHT_DYNSYM)
			callsite_take_table(f, &s);
		else if (f->n_plt < PLT_MAX && s.flags & SHF_EXECINSTR &&
			 strstr(s.name, "plt"))
			f->plt[f->n_plt++] =
				(struct segment){ .vaddr = s.addr,
						  .filesz = s.size };
	}
	if (!f->n_name) {
		/* a stripped Go program: the names in the runtime's table */
		struct symtab go = { 0 };
		struct elf_section from;

		gopclntab_add(f->ef, &go, &from);
		for (size_t i = 0; i < go.n; i++)
			*mem_add(f->name, f->n_name,
				 f->cap_name) = (struct callsite_name){
				callsite_hash_name(go.sym[i].name,
						   strlen(go.sym[i].name)),
				go.sym[i].start, false, false
			};
		symtab_release(&go);
	}
	if (f->n_name)
		f->name = callsite_by_hash(callsite_by_addr(f->name, f->n_name),
					   f->n_name);
	/* Go 1.19, runtime/preempt.go and signal_*.go: pushCall(). Stripped
	 * programs have the names without the ending of the ABI. */
	static const char *const names[] = { "runtime.asyncPreempt",
					     "runtime.asyncPreempt.abi0",
					     "runtime.sigpanic",
					     "runtime.sigpanic0.abi0" };

	for (size_t k = 0; k < ARRAY_SIZE(names); k++) {
		size_t count;
		const struct callsite_name *nm = callsite_find_names(
			f, callsite_hash_name(names[k], strlen(names[k])),
			&count);

		if (count)
			f->injected[f->n_injected++] = nm->addr;
	}
	callsite_open_go(f);
	symtab_finish(&f->funcs);
	/* stubs is still empty: so plt_add() names no stubs of IFUNCs, which
	 * would get the name of the resolver function. */
	symtab_finish(&f->stubs);
	plt_add(f->ef, &f->stubs, &f->names);
	symtab_finish(&f->stubs);
	f->answer = answer->is;
	return f;
}

struct callsite_file *callsite_open(struct symbolizer *sy,
				    const struct image *img,
				    struct identity_answer *answer)
{
	bool keep = sy->opts.kept && identity_may_be_kept(sy, img);
	char *name = keep ? symbolizer_cache_name(sy, "callsites", img) : NULL;
	struct callsite_file *f =
		name ? symbolizer_cache_take(sy->opts.kept, name) : NULL;

	if (f && !tried_files_unchanged(&f->tried)) {
		callsite_free(f);
		f = NULL;
	}
	if (f)
		*answer = (struct identity_answer){ .is = f->answer };
	else
		f = callsite_open_new(sy, img, answer);
	if (f && name && !f->tried.young && tried_files_can_tell(&f->tried)) {
		f->kept = sy->opts.kept;
		free(f->kept_as);
		f->kept_as = name;
		name = NULL;
	}
	free(name);
	return f;
}

bool callsite_text(struct callsite_file *f, struct symbolizer *sy,
		   struct section_used *out)
{
	struct code_cache *c =
		f->ef && !f->hashed ? code_cache_of(sy, f->ef) : NULL;

	if (code_cache_find_text(c, &f->text.hash)) {
		f->text.file = f->ef->path;
		f->text.name = SECTION_HASHES_TEXT;
		f->has_text = true;
	} else if (!f->hashed) {
		f->has_text = f->ef && section_hashes_text(f->ef, &f->text);
		if (f->has_text)
			code_cache_note_text(c, f->text.hash);
	}
	f->hashed = true;
	*out = f->text;
	return f->has_text;
}

void callsite_settle(struct callsite_file *f)
{
	if (f->kept)
		return;
	elf_file_close(f->ef);
	f->ef = NULL;
}

void callsite_reopen(struct callsite_file *f, struct symbolizer *sy,
		     const struct image *img)
{
	struct identity_answer answer;

	if (f->ef)
		return;
	f->ef = code_bytes_find_file(sy, img, &answer);
	callsite_open_go(f);
}

void callsite_close(struct callsite_file *f)
{
	if (!f)
		return;
	if (!f->kept) {
		callsite_free(f);
		return;
	}
	struct symbolizer_cache *kept = f->kept;

	f->kept = NULL;
	symbolizer_cache_give(kept, f->kept_as, f, callsite_free);
}

bool callsite_maps(const struct callsite_file *f, const struct image_part *part,
		   size_t n)
{
	const struct identity_code c = { f->seg, f->n_seg, f->span,
					 f->machine };

	return identity_maps(&c, part, n);
}

bool callsite_made_sets_fp(const struct made_code *c, uint64_t off)
{
	return off <= c->n && frame_code_sets(c->machine, c->bytes, off) &&
	       !frame_code_leaves(c->machine, c->bytes + off, c->n - off);
}

bool callsite_made_is_settled(const struct made_code *c, uint64_t off)
{
	return off <= c->n &&
	       (c->machine == EM_X86_64
			? !kernel_code_is_traced(c->machine, c->bytes, off)
			: callsite_made_sets_fp(c, off));
}

bool callsite_made_calls(const struct made_code *c, uint64_t off)
{
	const size_t before = off < CALL_BEFORE ? off : CALL_BEFORE;
	uint64_t to;

	if (off > c->n)
		return false;
	enum call_kind kind =
		call_insn_before(c->machine, false, c->bytes + off - before,
				 before, c->n - off, 0, &to);

	return kind == CALL_DIRECT || kind == CALL_INDIRECT;
}

void callsite_at(const struct callsite_file *f, uint64_t off,
		 struct callsite *out)
{
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	const struct segment *seg = NULL;

	*out = (struct callsite){ .kind = CALLSITE_NO_CODE };
	/* A call may be the last instruction: off - 1 is in the code. */
	for (size_t i = 0; i < f->n_seg && off; i++)
		if (off - 1 >= f->seg[i].off &&
		    off - 1 - f->seg[i].off < f->seg[i].filesz)
			seg = &f->seg[i];
	if (!seg)
		return;
	size_t before = off - seg->off < CALL_BEFORE ? (size_t)(off - seg->off)
						     : CALL_BEFORE;
	size_t n = elf_read(f->ef, off - before, code, before + CALL_AFTER);
	if (n < before) {
		out->kind = CALLSITE_UNCHECKED;
		return;
	}
	switch (call_insn_before(f->machine, f->big, code, before, n - before,
				 off - seg->off + seg->vaddr, &out->target)) {
	case CALL_DIRECT:
		/* a call must lead to code, otherwise these are bytes of
		 * another instruction */
		out->kind = elf_segment_at(f->seg, f->n_seg, out->target)
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

bool callsite_function_at(const struct callsite_file *f, uint64_t vaddr,
			  uint64_t *start, uint64_t *end)
{
	if (cfi_function(f->cfi, vaddr, start, end))
		return true;
	const struct sym *s = symtab_find(&f->funcs, vaddr);
	if (!s)
		return false;
	*start = s->start;
	*end = s->end;
	return true;
}

bool callsite_has_table(const struct callsite_file *f, uint64_t off)
{
	uint64_t vaddr, start, end;

	return elf_vaddr(f->seg, f->n_seg, off, &vaddr) &&
	       cfi_function(f->cfi, vaddr, &start, &end);
}

bool callsite_in_sframe(const struct callsite_file *f, uint64_t off,
			bool *entry)
{
	uint64_t vaddr, start, end;

	*entry = false;
	if (!f->sframe || !elf_vaddr(f->seg, f->n_seg, off, &vaddr))
		return false;
	const struct unwind_row *row = unwind_rows_find(f->sframe, vaddr);

	*entry = callsite_function_at(f, vaddr, &start, &end) && start == vaddr;
	return row && unwind_row_kind(row) != ROW_GAP;
}

const struct callsite_name *callsite_find_names(const struct callsite_file *f,
						uint64_t hash, size_t *n)
{
	size_t lo = search_where(f->n_name, i, f->name[i].hash >= hash);

	*n = 0;
	while (lo + *n < f->n_name && f->name[lo + *n].hash == hash)
		++*n;
	return *n ? &f->name[lo] : NULL;
}

bool callsite_is_injected(const struct callsite_file *f, uint64_t off)
{
	uint64_t vaddr, start, end;

	if (!f->n_injected || !elf_vaddr(f->seg, f->n_seg, off, &vaddr) ||
	    !callsite_function_at(f, vaddr, &start, &end))
		return false;
	return any_where(f->n_injected, i, f->injected[i] == start);
}

bool callsite_is_go(const struct callsite_file *f)
{
	return f->n_injected > 0;
}

uint32_t callsite_go_bytes(const struct callsite_file *f, uint64_t off)
{
	/* size of the return address, or of the saved link register */
	const uint32_t word = sizeof(uint64_t);
	struct gopclntab_depths d;
	uint64_t vaddr, start;

	if (!f->ef || !f->go.n || !elf_vaddr(f->seg, f->n_seg, off, &vaddr) ||
	    !gopclntab_around(&f->go, vaddr, &d))
		return 0;
	while (gopclntab_next_depth(&d, &start) > 0)
		if (vaddr < d.pc)
			return d.depth < UINT32_MAX - word ? d.depth + word : 0;
	return word;
}

uint64_t callsite_stub_leads(const struct callsite_file *f, uint64_t stub,
			     const struct callsite_file *inner)
{
	const struct sym *s = symtab_find(&f->stubs, stub);
	const char *at = s ? strrchr(s->name, '@') : NULL;
	uint64_t leads = 0;
	size_t n;

	if (!at || inner->loader)
		return 0;
	const struct callsite_name *nm = callsite_find_names(
		inner, callsite_hash_name(s->name, (size_t)(at - s->name)), &n);
	for (size_t i = 0; i < n; i++) {
		if (nm[i].local)
			continue;
		if (nm[i].chosen || (leads && leads != nm[i].addr))
			return 0;
		leads = nm[i].addr;
	}
	return leads;
}

/* Returns true if [start, end) is the cold part of the function at target. */
static bool callsite_is_cold_part(const struct callsite_file *f, uint64_t start,
				  uint64_t end, uint64_t target)
{
	for (size_t i = 0; i < f->n_cold; i++) {
		const struct callsite_name *nm;
		size_t n;

		if (f->cold[i].addr < start || f->cold[i].addr >= end)
			continue;
		nm = callsite_find_names(f, f->cold[i].hash, &n);
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
	uint64_t vaddr;
	uint64_t start;
	uint64_t end;

	if (site->kind == CALLSITE_INDIRECT)
		return CALLSITE_OPEN;
	if (site->kind != CALLSITE_DIRECT || !inner ||
	    !elf_vaddr(inner->seg, inner->n_seg, off, &vaddr) ||
	    !callsite_function_at(inner, vaddr, &start, &end))
		return CALLSITE_UNKNOWN;
	const struct sym *stub = symtab_find(&f->stubs, site->target);
	/* the inner frame is in the stub itself */
	if (stub && f == inner && vaddr >= stub->start && vaddr < stub->end)
		return CALLSITE_PROVED;
	if (stub) {
		/* compare the function in `inner` with the stub's name */
		const char *at = strrchr(stub->name, '@');
		size_t n;

		if (!at || inner->loader)
			return CALLSITE_UNKNOWN;
		const struct callsite_name *nm = callsite_find_names(
			inner,
			callsite_hash_name(stub->name,
					   (size_t)(at - stub->name)),
			&n);

		for (size_t i = 0; i < n; i++)
			if (nm[i].chosen ||
			    (nm[i].addr >= start && nm[i].addr < end))
				return nm[i].chosen ? CALLSITE_UNKNOWN
						    : CALLSITE_PROVED;
		return CALLSITE_GAP;
	}
	/* a stub without a name: the target is unknown */
	if (elf_segment_at(f->plt, f->n_plt, site->target))
		return CALLSITE_UNKNOWN;
	if (f != inner)
		return CALLSITE_GAP;
	if (site->target >= start && site->target < end)
		return CALLSITE_PROVED;
	return callsite_is_cold_part(f, start, end, site->target)
		       ? CALLSITE_PROVED
		       : CALLSITE_GAP;
}
