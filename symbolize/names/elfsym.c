/* elfsym.c - finds names in ELF files: programs, libraries, the vdso, vmlinux,
 * kernel modules.
 *
 * Symbols of the file itself, of its debug file, of .gnu_debugdata and of Go's
 * own table go into one table. Where several name one address, symtab.c picks
 * the best. */
#include <gelf.h>
#include <inttypes.h>

#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "symbolize/dwarf/dwarf.h"
#include "symbolize/dwarf/dwarf_sections.h"
#include "symbolize/dwarf/line_table.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/disasm/call_insn.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/gopclntab.h"
#include "symbolize/files/locate.h"
#include "symbolize/files/kernel_module.h"
#include "symbolize/elf/plt.h"
#include "symbolize/names/demangle.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/report.h"
#include "symbolize/symbolizer.h"
#include "symbolize/elf/symtab.h"
#include "symbolize/files/unxz.h"

struct elfsym {
	const struct symbolizer *sy; /* used while files are read */
	struct elf_file *ef, *debug, *copy, *mini;
	bool asked; /* debug information was looked for */
	const struct elf_file
		*lines; /* file with debug information; NULL: none */
	struct elf_file *shared;
	struct dwarf_file *info; /* of lines; NULL: closed, or none */
	struct dwarf *dwarf; /* NULL: no source lines and inlined functions */
	struct symtab tab;
	struct arena names;
	bool whole;	 /* tab has local functions too */
	bool program;	 /* a program: all its names are of its own source */
	struct cfi *cfi; /* NULL: not read yet, or none */
	bool asked_cfi;
	struct disasm *dis; /* NULL: not opened yet, or none */
	bool kernel;	    /* offsets count from `text` */
	uint64_t text;
	uint64_t shift; /* file offset minus image offset */
};

/* The source and target of symbols that are loaded. */
struct elfsym_loader {
	struct symtab *t;
	const struct elf_file *ef;
	struct elf_section *sec;
	size_t n_sec;
	const char *how;
	bool program;
};

static void elfsym_add(const struct elfsym_loader *l, const GElf_Sym *es,
		       const char *name)
{
	unsigned int type = GELF_ST_TYPE(es->st_info);
	unsigned int bind = GELF_ST_BIND(es->st_info);
	bool func = type == STT_FUNC || type == STT_GNU_IFUNC;
	uint64_t last = UINT64_MAX;
	uint64_t start = es->st_value;
	struct sym s = { .start = start, .name = name, .how = l->how };

	/* Assembler symbols that mark code and data ($a, $d, $x). */
	if ((!func && type != STT_OBJECT && type != STT_NOTYPE) ||
	    es->st_shndx == SHN_UNDEF || !name[0] ||
	    ((l->ef->machine == EM_ARM || l->ef->machine == EM_AARCH64 ||
	      l->ef->machine == EM_RISCV) &&
	     name[0] == '$' &&
	     (name[1] == 'a' || name[1] == 't' || name[1] == 'd' ||
	      name[1] == 'x')))
		return;
	if (l->ef->type == ET_REL) {
		if (es->st_shndx >= l->n_sec || !l->sec[es->st_shndx].addr ||
		    __builtin_add_overflow(l->sec[es->st_shndx].addr, start,
					   &start))
			return;
		s.start = start;
	}
	if (!start)
		return;
	if (es->st_shndx < l->n_sec) {
		const struct elf_section *sec = &l->sec[es->st_shndx];

		/* Data symbols are no functions. A function symbol may point
		 * into a data section (.opd of ppc64), a label may not. */
		if (!func && !(sec->flags & SHF_EXECINSTR))
			return;
		if (!__builtin_add_overflow(sec->addr, sec->size, &last) &&
		    (start < sec->addr || start >= last))
			last = UINT64_MAX;
	} else if (!func) {
		return;
	}
	if (l->ef->machine == EM_ARM && func)
		s.start = start &= ~(uint64_t)1; /* bit 0 means Thumb code */
	s.open = !es->st_size;
	s.end = last;
	if (!s.open && __builtin_add_overflow(start, es->st_size, &s.end))
		s.end = UINT64_MAX;
	s.rank = (uint8_t)(SYM_REAL | (s.open ? 0 : SYM_SIZED) |
			   (type == STT_NOTYPE ? 0 : SYM_TYPED) |
			   (bind == STB_WEAK ? 0 : SYM_STRONG) |
			   (bind == STB_GLOBAL ? SYM_GLOBAL : 0));
	/* aliases are mostly weak, or of libraries; mangled names are made by
	 * the compiler */
	s.folds = type == STT_FUNC && !s.open &&
		  strcmp(l->how, "dynsym") != 0 &&
		  (!strncmp(name, "_Z", 2) || !strncmp(name, "_R", 2) ||
		   (l->program && bind != STB_WEAK));
	symtab_add(l->t, &s);
}

/* Loads all symbol tables of one type from a file. Returns false if there are
 * no symbols. */
static bool elfsym_load_symbols(struct elfsym *en, const struct elf_file *ef,
				uint32_t type, const char *how)
{
	struct elfsym_loader l = {
		.t = &en->tab,
		.ef = ef,
		.n_sec = elf_sections(ef),
		.how = how,
		.program = en->program,
	};
	size_t before = en->tab.n;
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	l.sec = mem_new(l.n_sec, sizeof(*l.sec));
	for (size_t i = 1; i < l.n_sec; i++)
		elf_section_get(ef, i, &l.sec[i]);
	if (ef->type == ET_REL)
		kernel_module_layout(ef, l.sec, l.n_sec);
	for (size_t i = 1; i < l.n_sec; i++) {
		if (!l.sec[i].scn || l.sec[i].type != type ||
		    !elf_symbols_open(ef, &l.sec[i], &it))
			continue;
		section_hashes_add(en->sy, ef, &l.sec[i]);
		section_hashes_add(en->sy, ef, &it.strings);
		while (elf_symbols_next(&it, &sym, &name))
			elfsym_add(&l, &sym, name);
	}
	free(l.sec);
	return en->tab.n > before;
}

/* Fedora programs carry the symbols of their static functions in an
 * xz-compressed ELF file. */
static bool elfsym_load_debugdata(struct elfsym *en)
{
	struct elf_section s;
	size_t len;

	if (!elf_section_find(en->ef, ".gnu_debugdata", &s))
		return false;
	Elf_Data *d = elf_section_data(&s);
	void *mem = d ? unxz(d->d_buf, d->d_size, &len) : NULL;
	if (!mem)
		return false;
	section_hashes_add(en->sy, en->ef, &s);
	en->mini = elf_file_memory(mem, len, ".gnu_debugdata", NULL);
	return en->mini &&
	       elfsym_load_symbols(en, en->mini, SHT_SYMTAB, "debugdata");
}

static bool elfsym_load_symtab(void *arg, const struct elf_file *ef)
{
	struct elfsym *en = arg;

	return elfsym_load_symbols(en, ef, SHT_SYMTAB,
				   ef == en->debug ? "debug" : "symtab");
}

static void elfsym_close(void *r)
{
	struct elfsym *en = r;

	disasm_close(en->dis);
	cfi_close(en->cfi);
	dwarf_free(en->dwarf);
	dwarf_close(en->info);
	symtab_release(&en->tab);
	arena_release(&en->names);
	elf_file_close(en->shared);
	elf_file_close(en->ef);
	elf_file_close(en->debug);
	elf_file_close(en->copy);
	elf_file_close(en->mini);
	free(en);
}

/* Takes ownership of ef and loads every symbol table for it. */
static struct elfsym *elfsym_load(struct symbolizer *sy,
				  const struct image *img, struct elf_file *ef)
{
	struct elfsym *en = mem_new(1, sizeof(*en));
	struct elf_section go;
	uint64_t soname;

	en->sy = sy;
	en->ef = ef;
	/* libc.so.6 and ld.so name a loader too */
	en->program =
		elf_has_loader(ef) && !elf_dynamic(ef, DT_SONAME, &soname);
	en->whole =
		debugfile_try(sy, img, ef, elfsym_load_symtab, en, &en->debug);
	if (!en->whole && !elfsym_load_debugdata(en) &&
	    gopclntab_add(ef, &en->tab, &go))
		section_hashes_add(sy, ef, &go);
	elfsym_load_symbols(en, ef, SHT_DYNSYM, "dynsym");
	symtab_finish(&en->tab);
	if (ef->type != ET_REL) {
		plt_add(ef, &en->tab, &en->names);
		symtab_finish(&en->tab);
	}
	return en;
}

static int elfsym_open(struct symbolizer *sy, const struct image *img,
		       const char *file, void **r, struct err *err UNUSED)
{
	struct elf_file *ef = NULL;

	if (img->kind != IMAGE_FILE && img->kind != IMAGE_VDSO &&
	    img->kind != IMAGE_MAPPING)
		return 0;
	/* the file was judged when it was found */
	if (file && img->kind == IMAGE_VDSO && *file == '[')
		ef = vdso_own();
	else if (file)
		ef = elf_file_open(file, NULL);
	if (!ef)
		return 0;
	if (img->kind == IMAGE_MAPPING && ef->n_seg != 1) {
		report_status(sy, IMAGE_SEVERAL_SEGMENTS);
		elf_file_close(ef);
		return 0;
	}
	if (img->kind != IMAGE_MAPPING) {
		sy->rep->n_seg = ef->n_seg;
		sy->rep->seg = mem_dup(ef->seg, ef->n_seg * sizeof(*ef->seg));
	}
	struct elfsym *en = elfsym_load(sy, img, ef);
	/* the mapping contains the only segment with code */
	if (img->kind == IMAGE_MAPPING)
		en->shift = elf_page_floor(ef->seg->off);
	if (!en->tab.n)
		report_status(sy, IMAGE_NO_SYMBOLS);
	*r = en;
	return 1;
}

static int elfsym_open_vmlinux(struct symbolizer *sy, const struct image *img,
			       const char *file UNUSED, void **r,
			       struct err *err UNUSED)
{
	struct identity_answer answer;

	if (img->kind != IMAGE_KERNEL)
		return 0;
	struct elf_file *ef = locate_open(sy, img, &answer);
	if (!ef) {
		if (answer.status == IMAGE_OTHER_ID)
			report_status(sy, answer.status);
		return 0;
	}
	struct elfsym *en = elfsym_load(sy, img, ef);
	en->kernel = true;
	size_t i = 0;

	while (i < en->tab.n && strcmp(en->tab.sym[i].name, "_text"))
		i++;
	if (i == en->tab.n) {
		elfsym_close(en);
		return 0;
	}
	en->text = en->tab.sym[i].start;
	report_file(sy, ef->path);
	report_status(sy, img->id_len ? IMAGE_NAMED : IMAGE_UNVERIFIED);
	*r = en;
	return 1;
}

/* Offsets count from where the kernel placed the module's first function. */
static int elfsym_open_module(struct symbolizer *sy, const struct image *img,
			      const char *file UNUSED, void **r,
			      struct err *err UNUSED)
{
	bool other = false;

	if (img->kind != IMAGE_MODULE)
		return 0;
	struct elf_file *ef = kernel_module_open(sy, img, &other);
	if (!ef) {
		if (other)
			report_status(sy, IMAGE_OTHER_ID);
		return 0;
	}
	report_file(sy, ef->path);
	struct elfsym *en = elfsym_load(sy, img, ef);
	if (ef->type != ET_REL || !en->tab.n) {
		report_status(sy, IMAGE_NO_SYMBOLS);
		elfsym_close(en);
		return 0;
	}
	en->kernel = true;
	en->text = KERNEL_MODULE_TEXT;
	report_status(sy, img->id_len ? IMAGE_NAMED : IMAGE_UNVERIFIED);
	*r = en;
	return 1;
}

static bool elfsym_vaddr(const struct elfsym *en, uint64_t off, uint64_t *vaddr)
{
	off += en->shift;
	if (!en->kernel)
		return elf_vaddr(en->ef->seg, en->ef->n_seg, off, vaddr);
	*vaddr = off + en->text;
	return true;
}

/* The most names that are printed of those at one address. */
#define FOLD_MAX 8

/* Writes a symbol's name as in the source. */
static void elfsym_plain(const char *name, char *buf, size_t size)
{
	if (demangle_name(name, buf, size))
		return;
	name += strspn(name, "_");
	snprintf(buf, size, "%.*s", (int)strcspn(name, ".@"), name);
}

/* Sorts names by length, as in `zz_hot = never_called`. */
static int elfsym_compare_names(const void *a, const void *b)
{
	const char *const x = *(const char *const *)a;
	const char *const y = *(const char *const *)b;
	int by_length = compare_numbers(strlen(x), strlen(y));

	return by_length ? by_length : strcmp(x, y);
}

/* Returns the names of all functions that the linker or the compiler folded
 * into one, as "a = b", as the one that ran is unknown; NULL if there is one.
 * Names that differ in underscores, a suffix, or what demangling omits are of
 * one function, such as constructors. Libraries have any number of names for a
 * function (alias of gcc, versions of symbols): only mangled names distinguish
 * functions there. */
static const char *elfsym_folded(struct elfsym *en, const struct sym *s)
{
	char plain[FOLD_MAX][256], text[16384];
	const char *name[FOLD_MAX] = { s->name };
	size_t n, n_name = 1, more = 0, len = 0;
	const struct sym *twin = symtab_twins(&en->tab, s, &n);

	if (!n)
		return s->name;
	elfsym_plain(s->name, plain[0], sizeof(plain[0]));
	for (size_t i = 0; i < n; i++) {
		char other[256];

		if (twin[i].end != s->end)
			continue;
		elfsym_plain(twin[i].name, other, sizeof(other));
		if (any_where(n_name, k, !strcmp(plain[k], other)))
			continue;
		if (n_name == FOLD_MAX) {
			more++;
			continue;
		}
		memcpy(plain[n_name], other, sizeof(other));
		name[n_name++] = twin[i].name;
	}
	if (n_name == 1)
		return s->name;
	qsort(name, n_name, sizeof(*name), elfsym_compare_names);
	for (size_t i = 0; i < n_name; i++)
		len += (size_t)snprintf(text + len, sizeof(text) - len,
					"%s%.1900s", i ? FOLDED_NAMES : "",
					name[i]);
	if (more)
		snprintf(text + len, sizeof(text) - len,
			 FOLDED_NAMES "%zu more", more);
	return arena_strdup(&en->names, text);
}

static const struct cfi *elfsym_cfi(struct elfsym *en)
{
	/* tables of a module are not relocated */
	if (!en->asked_cfi && en->ef->type != ET_REL)
		en->cfi = cfi_open_both(en->ef);
	en->asked_cfi = true;
	return en->cfi;
}

static int elfsym_resolve(void *r, uint64_t off, struct symbol *sym)
{
	struct elfsym *en = r;
	uint64_t vaddr;

	if (!elfsym_vaddr(en, off, &vaddr))
		return 0;
	const struct sym *found = symtab_find(&en->tab, vaddr);
	struct sym *s = found ? &en->tab.sym[found - en->tab.sym] : NULL;

	/* Without a size, a function ends where the next one begins, which in a
	 * stripped file only the unwind tables show. */
	if (s && s->open)
		lower_to(s->end, cfi_next(elfsym_cfi(en), s->start));
	if (!s || (s->open && vaddr >= s->end))
		return 0;
	if (s->folds) {
		s->name = elfsym_folded(en, s);
		s->folds = false;
	}
	sym->start = off - (vaddr - s->start);
	sym->size = s->end == UINT64_MAX ? 0 : s->end - s->start;
	sym->raw_name = s->name;
	sym->how = s->how;
	sym->unverified = s->open;
	return 1;
}

static bool elfsym_called(void *r, uint64_t off)
{
	const struct elfsym *en = r;
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	uint64_t vaddr, target;

	if (!elfsym_vaddr(en, off - 1, &vaddr) || ++vaddr < CALL_BEFORE)
		return false;
	size_t n =
		elf_read_code(en->ef, vaddr - CALL_BEFORE, code, sizeof(code));
	if (n < CALL_BEFORE)
		return false;
	enum call_kind kind =
		call_insn_before(en->ef->machine, en->ef->big, code,
				 CALL_BEFORE, n - CALL_BEFORE, vaddr, &target);

	return kind == CALL_DIRECT || kind == CALL_INDIRECT;
}

/* How many bytes of a function are disassembled, and the longest
 * instruction. */
#define RUNS_BYTES 2048
#define INSN_BYTES 16

/* Returns as runs() of a resolver. start: that of the function. */
static int elfsym_begins(struct elfsym *en, uint64_t start, uint64_t vaddr)
{
	unsigned char code[RUNS_BYTES + INSN_BYTES];
	const unsigned char *p = code;
	struct insn in;

	if (!en->dis)
		en->dis =
			disasm_open(en->ef->machine, en->ef->big, false, NULL);
	if (!en->dis || vaddr - start > RUNS_BYTES)
		return 0;
	size_t n = elf_read_code(en->ef, start, code,
				 (size_t)(vaddr - start) + INSN_BYTES);

	/* data in code, or an instruction that capstone does not know */
	while (start < vaddr)
		if (!disasm_next(en->dis, &p, &n, &start, &in) ||
		    in.flow == FLOW_BAD)
			return 0;
	return start == vaddr ? 1 : -1;
}

static int elfsym_runs(void *r, uint64_t off)
{
	struct elfsym *en = r;
	uint64_t vaddr, start, end;

	if (!elfsym_vaddr(en, off, &vaddr))
		return -1;
	const struct sym *s = symtab_find(&en->tab, vaddr);

	if (s && !s->open)
		return elfsym_begins(en, s->start, vaddr);
	if (cfi_function(elfsym_cfi(en), vaddr, &start, &end))
		return elfsym_begins(en, start, vaddr);
	if (s)
		return elfsym_begins(en, s->start, vaddr);
	/* assembler code of a stripped file may belong to no function */
	return en->whole ? -1 : 0;
}

static bool elfsym_outside(void *r, uint64_t off)
{
	const struct elfsym *en = r;
	struct elf_section s;
	uint64_t vaddr;
	bool any = false;

	if (en->kernel || !elfsym_vaddr(en, off, &vaddr))
		return false;
	for (size_t i = elf_sections(en->ef); i-- > 1;) {
		if (!elf_section_get(en->ef, i, &s) ||
		    !(s.flags & SHF_EXECINSTR))
			continue;
		if (vaddr >= s.addr && vaddr - s.addr < s.size)
			return false;
		any = true;
	}
	return any;
}

static bool elfsym_has_dwarf(void *arg UNUSED, const struct elf_file *ef)
{
	return dwarf_has(ef);
}

/* Returns the file with debug information for this program, or NULL. */
static const struct elf_file *elfsym_dwarf_file(struct elfsym *en,
						struct symbolizer *sy,
						const struct image *img)
{
	if (dwarf_has(en->ef))
		return en->ef;
	if (!en->debug)
		en->debug = debugfile_open(sy, img, en->ef);
	if (!en->debug || !dwarf_has(en->debug)) {
		elf_file_close(en->copy);
		en->copy =
			debugfile_copy(sy, img, en->ef, elfsym_has_dwarf, NULL);
		return en->copy;
	}
	return en->debug;
}

/* Notes sections that are not read: libelf 0.189 and later unpack them. */
static void elfsym_note_packed(struct symbolizer *sy, const struct elf_file *ef)
{
	if (dwarf_sections_are_zstd(ef))
		report_note(sy,
			    "debug sections compressed by zstd, which libelf "
			    "before 0.189 cannot read",
			    ef->path);
}

static void elfsym_open_lines(struct elfsym *en, struct symbolizer *sy,
			      const struct image *img)
{
	en->asked = true;
	en->lines = elfsym_dwarf_file(en, sy, img);
	if (!en->lines) {
		elfsym_note_packed(sy, en->debug ? en->debug : en->ef);
		return;
	}
	en->shared = debugfile_shared(sy, en->lines);
	section_hashes_add_debug(sy, en->lines);
	if (en->shared && dwarf_has(en->shared))
		section_hashes_add_debug(sy, en->shared);
	en->info = dwarf_open(en->lines, en->shared);
	if (!en->shared) {
		/* dwz moved a part of the debug information to a file that
		 * several programs share */
		struct elf_section s;
		char text[128];
		Elf_Data *d =
			elf_section_find(en->lines, ".gnu_debugaltlink", &s)
				? elf_section_data(&s)
				: NULL;

		if (d) {
			snprintf(
				text, sizeof(text),
				"source lines need the file of dwz, which is not here: %.*s",
				d->d_size < 60 ? (int)d->d_size : 60,
				(char *)d->d_buf);
			report_note(sy, text, en->lines->path);
		}
	}
	elfsym_note_packed(sy, en->lines);
}

static void elfsym_lines(struct symbolizer *sy, const struct image *img,
			 void *r, const struct code_place *code, size_t n)
{
	struct elfsym *en = r;

	if (!en->asked)
		elfsym_open_lines(en, sy, img);
	if (!en->info)
		return;
	uint64_t *vaddr = mem_new(n, sizeof(*vaddr));
	for (size_t i = 0; i < n; i++)
		if (elfsym_vaddr(en, code[i].off, &vaddr[i]))
			vaddr[i] -= code[i].after_call;
	dwarf_free(en->dwarf);
	en->dwarf = dwarf_lookup(sy, en->info, vaddr, n);
	const struct dwarf *d = en->dwarf;
	const char *name;
	size_t count = dwarf_missing(d, &name);
	char text[160];

	if (dwarf_gave_up(d)) {
		report_note(sy, "looking up source lines took too long",
			    en->lines->path);
	} else if (dwarf_unread(d)) {
		snprintf(text, sizeof(text),
			 "source lines of %zu unit%s are not read: a table of "
			 "them is damaged or would take more than %" PRIu64
			 " MiB",
			 dwarf_unread(d), dwarf_unread(d) == 1 ? "" : "s",
			 LINE_ROWS_BYTES_MAX >> 20);
		report_note(sy, text, en->lines->path);
	} else if (count) {
		snprintf(text, sizeof(text),
			 "inlined functions of %zu unit%s are in files that "
			 "are not here: %.60s",
			 count, count == 1 ? "" : "s", name);
		report_note(sy, text, en->lines->path);
	}
	free(vaddr);
	if (sy->opts.kept)
		return;
	dwarf_close(en->info);
	elf_file_close(en->shared);
	en->info = NULL;
	en->shared = NULL;
}

static size_t elfsym_inlined(void *r, size_t i, const struct dwarf_frame **out)
{
	const struct elfsym *en = r;

	return en->dwarf ? dwarf_frames(en->dwarf, i, out) : 0;
}

#define ELFSYM_RESOLVER(opens)                                                 \
	{                                                                      \
		.open = opens, .lines = elfsym_lines,                          \
		.resolve = elfsym_resolve, .called = elfsym_called,            \
		.runs = elfsym_runs, .outside = elfsym_outside,                \
		.inlined = elfsym_inlined, .close = elfsym_close,              \
		.outlives = true,                                              \
	}

const struct resolver resolve_elf = ELFSYM_RESOLVER(elfsym_open);
const struct resolver resolve_vmlinux = ELFSYM_RESOLVER(elfsym_open_vmlinux);
const struct resolver resolve_module = ELFSYM_RESOLVER(elfsym_open_module);
