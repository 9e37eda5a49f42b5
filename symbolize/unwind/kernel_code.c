/* kernel_code.c - examines the code of a kernel or module: whether a call
 * precedes a return address, also where the kernel writes one when it boots or
 * runs.
 *
 * The file has the code as it was linked. The kernel lists the places that it
 * changes in sections, which are read here in the forms of Linux 6.1 to 7.2: a
 * call through a thunk becomes one through the register and is shorter
 * (.retpoline_sites, arch/x86/kernel/alternative.c; .nospec_call_table,
 * arch/s390/kernel/nospec-branch.c), one of a function of the hypervisor
 * becomes a direct call (.parainstructions), and instructions become others
 * (.altinstructions). Static calls are calls before and after. Nops at the
 * start of functions, and of unused static calls, may be calls while something
 * traces. */
#include "symbolize/unwind/kernel_code.h"

#include <gelf.h>

#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/base/saturate.h"
#include "stitch/base/search.h"
#include "stitch/files/named_file.h"
#include "stitch/tasks/frame.h"
#include "symbolize/disasm/call_insn.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/kernel_module.h"
#include "symbolize/symbolizer.h"

/* The longest code of an entry of .altinstructions; all these sections of a
 * kernel have 2 MB. */
#define PATCH_LEN 255
/* An address after all sections of a module. */
#define NOWHERE ((uint64_t)1 << 30)
/* How many bytes of a function are searched for the setting of its frame. */
#define FRAME_CODE_WINDOW 4096
/* Fewer consecutive entries may be something else. */
#define ALTS_MIN 500
#define TABLE_MAX ((uint64_t)64 << 20)
/* Kernels with unwind tables have these in kallsyms and their configuration. */
#define ORC_SYMBOL " __start_orc_unwind\n"
#define ORC_CONFIG "\nCONFIG_UNWINDER_ORC=y\n"

/* Code that the kernel changes. */
struct kernel_patch {
	uint64_t addr, by; /* by: address of the replacement; 0: see `ends` */
	uint32_t ends; /* bit N: a call that ends after N bytes may be written
			  there */
	uint8_t len, by_len;
};

struct kernel_code {
	struct elf_file *ef;
	struct elf_section *sec;
	size_t n_sec;
	struct elf_section *code; /* sections with code */
	size_t n_code, cap_code;
	struct kernel_patch *patch; /* by address */
	size_t n_patch, cap_patch;
	/* address of offset 0, and the end of the last section */
	uint64_t text, end;
	/* The code is the memory of that boot, with its addresses: it is as it
	 * ran where no patch is listed. */
	bool live;
	bool tables;
};

/* Returns the section with the code at an address, or NULL. */
static const struct elf_section *
kernel_code_section(const struct kernel_code *k, uint64_t addr)
{
	for (size_t i = 0; i < k->n_code; i++)
		if (addr >= k->code[i].addr &&
		    addr - k->code[i].addr < k->code[i].size)
			return &k->code[i];
	return NULL;
}

static bool kernel_code_runs_at(const struct kernel_code *k, uint64_t addr)
{
	const struct elf_section *s = kernel_code_section(k, addr);

	return s && strcmp(s->name, ".altinstr_replacement") != 0;
}

/* Reads up to n bytes of code at an address. Returns the number of bytes
 * read. */
static size_t kernel_code_read(const struct kernel_code *k, uint64_t addr,
			       void *buf, size_t n)
{
	const struct elf_section *s = kernel_code_section(k, addr);
	uint64_t off;

	if (!s || __builtin_add_overflow(s->off, addr - s->addr, &off))
		return 0;
	uint64_t left = s->size - (addr - s->addr);

	return elf_read(k->ef, off, buf, n < left ? n : (size_t)left);
}

/* ---- the lists of what is changed */

/* A list of the kernel, read into memory. */
struct kernel_list {
	unsigned char *buf;
	uint64_t addr;
	struct bytes b;
};

static bool kernel_code_load(const struct kernel_code *k, const char *name,
			     struct kernel_list *out)
{
	struct elf_section s;

	if (!elf_section_find(k->ef, name, &s) || s.type != SHT_PROGBITS ||
	    !s.size || s.size > TABLE_MAX)
		return false;
	out->buf = mem_new(s.size, 1);
	out->addr = s.addr;
	size_t len = elf_read(k->ef, s.off, out->buf, s.size);

	for (size_t i = 1; k->ef->type == ET_REL && i < k->n_sec; i++)
		if (k->sec[i].type == SHT_RELA &&
		    k->sec[i].info == elf_ndxscn(s.scn))
			elf_relocate(k->ef, k->sec, &k->sec[i], 0, out->buf,
				     len);
	bytes_init(&out->b, out->buf, len, "", 0, k->ef->swap);
	return true;
}

/* Returns the address that the relative word at an offset refers to; 0 if the
 * word is not there. */
static uint64_t kernel_list_at(const struct kernel_list *l, uint64_t off)
{
	uint32_t v;

	if (bytes_peek_u32(&l->b, off, &v))
		return 0;
	return l->addr + off + (uint64_t)(int64_t)(int32_t)v;
}

/* Takes a list of calls that the kernel may replace. size: bytes of an entry;
 * ends: as in struct kernel_patch. */
static void kernel_code_take_calls(struct kernel_code *k, const char *name,
				   size_t size, uint32_t ends)
{
	struct kernel_list l;

	if (!kernel_code_load(k, name, &l))
		return;
	for (uint64_t off = 0; off + size <= bytes_left(&l.b); off += size) {
		struct kernel_patch p = { .ends = ends, .len = 8 };

		p.addr = kernel_list_at(&l, off);
		if (size > 4 && bytes_peek_u64(&l.b, off, &p.addr))
			break;
		*mem_add(k->patch, k->n_patch, k->cap_patch) = p;
	}
	free(l.buf);
}

/* Forms of struct alt_instr: x86 since Linux 6.3 and before, arm64; s390 before
 * and since 6.11, where both lengths are one. */
static const struct kernel_alt_form {
	uint16_t machine;
	uint8_t size, len, by_len;
} kernel_alt_forms[] = {
	{ EM_X86_64, 14, 12, 13 },  { EM_X86_64, 12, 10, 11 },
	{ EM_AARCH64, 12, 10, 11 }, { EM_S390, 11, 10, 10 },
	{ EM_S390, 13, 12, 12 },
};

/* Reads the entry at an offset. Returns false if it is not about code. */
static bool kernel_code_read_alt(const struct kernel_code *k,
				 const struct kernel_list *l,
				 const struct kernel_alt_form *f, uint64_t off,
				 struct kernel_patch *out)
{
	*out = (struct kernel_patch){ .addr = kernel_list_at(l, off),
				      .by = kernel_list_at(l, off + 4) };
	return !bytes_peek(&l->b, off + f->len, &out->len, 1) &&
	       !bytes_peek(&l->b, off + f->by_len, &out->by_len, 1) &&
	       kernel_code_runs_at(k, out->addr);
}

/* Takes the entries in the form in which almost all are about code: a few are
 * about data, or, in a module, about code that was freed. */
static void kernel_code_take_alts(struct kernel_code *k)
{
	struct kernel_list l;
	struct kernel_patch p;

	if (!kernel_code_load(k, ".altinstructions", &l))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(kernel_alt_forms); i++) {
		const struct kernel_alt_form *f = &kernel_alt_forms[i];
		const size_t had = k->n_patch;
		size_t others = 0;

		if (f->machine != k->ef->machine || bytes_left(&l.b) % f->size)
			continue;
		for (uint64_t off = 0; off < bytes_left(&l.b); off += f->size)
			if (kernel_code_read_alt(k, &l, f, off, &p))
				*mem_add(k->patch, k->n_patch, k->cap_patch) =
					p;
			else
				others++;
		if (others <= (k->n_patch - had) / 8)
			break;
		k->n_patch = had;
	}
	free(l.buf);
}

/* Finds .altinstructions in the memory of an arm64 kernel, where nothing has
 * its address: the longest run of such entries. Debian's 7.2 has 28,000. */
static void kernel_code_find_alts(struct kernel_code *k)
{
	const struct kernel_alt_form form = { EM_AARCH64, 12, 10, 11 };
	const struct segment *s = k->ef->seg;
	struct kernel_list l = { .buf = mem_new(s->filesz, 1),
				 .addr = s->vaddr };
	struct kernel_patch p;
	uint64_t first = 0, most = 0;
	/* by off / 4 % 3: the end of the last run that begins there */
	uint64_t done[3] = { 0 };

	bytes_init(&l.b, l.buf, elf_read(k->ef, s->off, l.buf, s->filesz), "",
		   0, k->ef->swap);
	for (uint64_t off = 0, n; off < bytes_left(&l.b); off += 4) {
		uint64_t *seen = &done[off / 4 % ARRAY_SIZE(done)];

		if (off < *seen)
			continue;
		/* zeros would refer to their own place */
		for (n = 0; kernel_code_read_alt(k, &l, &form,
						 off + n * form.size, &p) &&
			    p.addr != l.addr + off + n * form.size &&
			    p.len % 4 == 0 && (p.by_len == p.len || !p.by_len);)
			n++;
		*seen = off + n * form.size;
		if (n > most) {
			most = n;
			first = off;
		}
	}
	for (uint64_t n = 0; most >= ALTS_MIN && n < most; n++) {
		kernel_code_read_alt(k, &l, &form, first + n * form.size, &p);
		*mem_add(k->patch, k->n_patch, k->cap_patch) = p;
	}
	free(l.buf);
}

/* ---- what ran */

/* Returns whether a file contains a text: the kernel's configuration or
 * kallsyms. */
static bool kernel_code_file_says(const char *path, const char *text)
{
	size_t len;
	char *has OWNED = named_file_load(path, TABLE_MAX, &len);

	return has && memmem(has, len, text, strlen(text));
}

/* Returns the size of the running kernel's code, which ends before the part
 * that was freed after the boot; 0 if unknown, as for users that may not read
 * addresses. */
static uint64_t kernel_code_running_size(void)
{
	unsigned long long from, to;
	size_t n = 0;
	char *line = NULL;
	uint64_t size = 0;
	FILE *f = fopen("/proc/iomem", "re");

	while (f && getline(&line, &n, f) > 0)
		if (strstr(line, " : Kernel code\n") &&
		    sscanf(line, "%llx-%llx", &from, &to) == 2 && from &&
		    to > from)
			size = to - from;
	free(line);
	if (f)
		fclose(f);
	return size;
}

/* Opens the code that ran: perf's copy of it, or that of the running kernel if
 * it is the same boot. */
static struct elf_file *kernel_code_open_core(struct symbolizer *sy,
					      const struct image *img,
					      bool *tables, uint64_t *size)
{
	char path[PATH_SIZE];
	struct elf_file *ef = NULL;

	*size = UINT64_MAX;
	if (sy->opts.kcore) {
		snprintf(path, sizeof(path), "%s/kcore", sy->opts.kcore);
		ef = elf_file_open(path, NULL);
		snprintf(path, sizeof(path), "%s/kallsyms", sy->opts.kcore);
		*tables = ef && kernel_code_file_says(path, ORC_SYMBOL);
	}
	if (!ef && img->kind == IMAGE_KERNEL && img->id_len &&
	    !sy->opts.no_live && sy->opts.same_machine &&
	    kallsyms_runs_here(img)) {
		*size = kernel_code_running_size();
		ef = *size ? elf_file_open_kcore() : NULL;
		snprintf(path, sizeof(path), "/boot/config-%s",
			 sy->opts.release ?: "");
		*tables = ef && kernel_code_file_says(path, ORC_CONFIG);
	}
	/* the kernel starts at the same address as in the capture: it is the
	 * same boot, as others have other addresses */
	if (ef && (ef->type != ET_CORE ||
		   !any_where(ef->n_seg, i,
			      img->start - ef->seg[i].vaddr <
				      (img->kind == IMAGE_KERNEL
					       ? 1
					       : ef->seg[i].filesz)))) {
		elf_file_close(ef);
		ef = NULL;
	}
	return ef;
}

/* ---- the file */

COMPARE_BY(kernel_patch_compare, struct kernel_patch, addr, by);

static void kernel_code_read_sections(struct kernel_code *k)
{
	const size_t n = elf_sections(k->ef);

	k->sec = mem_new(n + 1, sizeof(*k->sec));
	for (k->n_sec = 1; k->n_sec < n; k->n_sec++)
		if (!elf_section_get(k->ef, k->n_sec, &k->sec[k->n_sec]))
			break;
	k->text = UINT64_MAX;
	if (k->ef->type == ET_REL) {
		kernel_module_layout(k->ef, k->sec, k->n_sec);
		k->text = KERNEL_MODULE_TEXT;
	}
	/* the kernel's image begins with _text */
	for (size_t i = 0; k->ef->type != ET_REL && i < k->ef->n_seg; i++)
		if (k->ef->seg[i].vaddr && k->ef->seg[i].vaddr < k->text)
			k->text = k->ef->seg[i].vaddr;
	for (size_t i = 1; i < k->n_sec; i++) {
		const struct elf_section *s = &k->sec[i];

		k->tables |= !strcmp(s->name, ".orc_unwind");
		if (s->addr >= k->text && s->addr + s->size > k->end)
			k->end = s->addr + s->size;
		if (s->addr && s->type == SHT_PROGBITS &&
		    (s->flags & (SHF_EXECINSTR | SHF_WRITE)) == SHF_EXECINSTR)
			*mem_add(k->code, k->n_code, k->cap_code) = *s;
	}
	/* unplaced sections must not look like the beginning */
	for (size_t i = 1; k->ef->type == ET_REL && i < k->n_sec; i++)
		if (!k->sec[i].addr)
			k->sec[i].addr = NOWHERE;
}

struct kernel_code *kernel_code_open(struct symbolizer *sy,
				     const struct image *img, bool *wanted)
{
	struct identity_answer said = { .is = IDENTITY_ANOTHER };
	bool other;

	*wanted = false;
	/* .altinstructions before Linux 6.0 has forms that are not supported */
	if (!sy->opts.release || strtoul(sy->opts.release, NULL, 10) < 6)
		return NULL;
	struct elf_file *ef = img->kind == IMAGE_MODULE
				      ? kernel_module_open(sy, img, &other)
				      : code_bytes_find_file(sy, img, &said);
	bool tables = false;
	bool flat = false;
	uint64_t unused, size;

	if (ef && (img->kind == IMAGE_MODULE ? ef->type != ET_REL
					     : !identity_is_sure(said.is))) {
		elf_file_close(ef);
		ef = NULL;
	}
	if (!ef)
		ef = kernel_code_open_core(sy, img, &tables, &size);
	/* last, as a compressed kernel takes up to a second */
	if (!ef && img->kind == IMAGE_KERNEL && img->id_len) {
		ef = kernel_module_open(sy, img, &other);
		size = UINT64_MAX;
		flat = ef && ef->type == ET_CORE;
	}
	const bool live = ef && ef->type == ET_CORE;
	*wanted = !ef && (img->kind == IMAGE_MODULE || img->id_len);
	if (ef &&
	    call_insn_before(ef->machine, ef->big, (const unsigned char *)"", 0,
			     0, 0, &unused) == CALL_UNKNOWN) {
		elf_file_close(ef);
		ef = NULL;
	}
	if (!ef)
		return NULL;
	struct kernel_code *k = mem_new(1, sizeof(*k));

	*k = (struct kernel_code){ .ef = ef, .live = live, .tables = tables };
	if (live) {
		/* a copy of the memory of a running kernel, of at most `size`
		 * bytes; flat: of a whole arm64 image, which has
		 * .altinstructions */
		k->text = img->start;
		k->end = saturating_add(img->start, size);
		for (size_t i = 0; i < k->ef->n_seg; i++) {
			const struct segment *s = &k->ef->seg[i];

			*mem_add(k->code, k->n_code, k->cap_code) =
				(struct elf_section){ .name = "",
						      .addr = s->vaddr,
						      .off = s->off,
						      .size = s->filesz };
		}
		if (flat) {
			kernel_code_find_alts(k);
			sort_items(k->patch, k->n_patch, kernel_patch_compare);
		}
		return k;
	}
	kernel_code_read_sections(k);
	if (ef->machine == EM_X86_64) {
		kernel_code_take_calls(k, ".retpoline_sites", 4,
				       1 << 2 | 1 << 3 | 1 << 5 | 1 << 6);
		kernel_code_take_calls(k, ".parainstructions", 16, 1 << 5);
	} else if (ef->machine == EM_S390) {
		kernel_code_take_calls(k, ".nospec_call_table", 4, 1 << 2);
	}
	kernel_code_take_alts(k);
	sort_items(k->patch, k->n_patch, kernel_patch_compare);
	return k;
}

void kernel_code_close(struct kernel_code *k)
{
	if (!k)
		return;
	elf_file_close(k->ef);
	free_all(k->sec, k->code, k->patch);
	free(k);
}

bool kernel_code_has_tables(const struct kernel_code *k)
{
	return k->tables;
}

/* ---- return addresses */

/* Returns whether a patch may write a call that ends at an address. */
static bool kernel_patch_calls(const struct kernel_code *k,
			       const struct kernel_patch *p, uint64_t addr)
{
	const uint64_t n = addr - p->addr; /* below PATCH_LEN */
	const size_t before = n < CALL_BEFORE ? n : CALL_BEFORE;
	unsigned char code[CALL_BEFORE];
	uint64_t unused;

	if (!p->by)
		return n < 32 && p->ends >> n & 1;
	if (n > p->by_len ||
	    kernel_code_read(k, p->by + n - before, code, before) != before)
		return false;
	enum call_kind kind = call_insn_before(k->ef->machine, k->ef->big, code,
					       before, 0, addr, &unused);

	return kind == CALL_DIRECT || kind == CALL_INDIRECT;
}

bool kernel_code_is_traced(uint16_t machine, const unsigned char *code,
			   size_t n)
{
	static const unsigned char x86[] = { 0x0f, 0x1f, 0x44, 0, 0 };
	static const unsigned char arm[] = { 0x1f, 0x20, 0x03, 0xd5,
					     0x1f, 0x20, 0x03, 0xd5 };
	static const unsigned char s390[] = { 0xc0, 0x04 };

	code += n;
	switch (machine) {
	case EM_X86_64:
		return n >= sizeof(x86) &&
		       !memcmp(code - sizeof(x86), x86, sizeof(x86));
	case EM_AARCH64:
		return n >= sizeof(arm) &&
		       !memcmp(code - sizeof(arm), arm, sizeof(arm));
	default:
		return n >= 6 && !memcmp(code - 6, s390, sizeof(s390));
	}
}

/* Returns whether there may have been a call when the sample was taken: now it
 * is a breakpoint, or a static call of a function that returns 0 at once. */
static bool kernel_code_is_changing(const struct kernel_code *k,
				    const unsigned char *code, size_t n)
{
	static const unsigned char zero[] = { 0x2e, 0x2e, 0x2e, 0x31, 0xc0 };

	return k->ef->machine != EM_X86_64 || n < sizeof(zero) ||
	       !memcmp(code + n - sizeof(zero), zero, sizeof(zero)) ||
	       code[n - 5] == 0xcc || code[n - 3] == 0xcc ||
	       code[n - 2] == 0xcc;
}

enum callsite_kind kernel_code_at(const struct kernel_code *k, uint64_t off,
				  uint64_t *to, bool *traced)
{
	unsigned char code[CALL_BEFORE + CALL_AFTER];
	uint64_t addr, target;

	*to = 0;
	*traced = false;
	if (!off || __builtin_add_overflow(off, k->text, &addr) ||
	    addr > k->end)
		return CALLSITE_UNCHECKED;
	const struct elf_section *s = kernel_code_section(k, addr - 1);
	if (!s)
		/* sections of a module are far from each other */
		return k->ef->type == ET_REL || k->live ? CALLSITE_UNCHECKED
							: CALLSITE_NO_CODE;
	const size_t before =
		addr - s->addr < CALL_BEFORE ? addr - s->addr : CALL_BEFORE;
	size_t n =
		kernel_code_read(k, addr - before, code, before + CALL_AFTER);

	if (n < before)
		return CALLSITE_UNCHECKED;
	size_t i;

	switch (call_insn_before(k->ef->machine, k->ef->big, code, before,
				 n - before, addr, &target)) {
	case CALL_DIRECT:
		/* a call of a thunk, in .retpoline_sites */
		i = search_where(k->n_patch, m, k->patch[m].addr >= addr - 5);
		if (k->ef->machine == EM_X86_64 && i < k->n_patch &&
		    k->patch[i].addr == addr - 5 && !k->patch[i].by)
			return CALLSITE_INDIRECT;
		/* a call that the kernel has not relocated yet leads to
		 * itself */
		if (kernel_code_runs_at(k, target) ||
		    (k->ef->type == ET_REL && target - addr + 8 <= 8)) {
			*to = target - k->text;
			return CALLSITE_DIRECT;
		}
		break;
	case CALL_INDIRECT:
		return CALLSITE_INDIRECT;
	case CALL_UNKNOWN:
		return CALLSITE_UNCHECKED;
	case CALL_SIGNAL:
	case CALL_START:
	case CALL_NONE:
		break;
	}
	i = search_where(k->n_patch, m, k->patch[m].addr >= addr);
	while (i-- > 0 && addr - k->patch[i].addr <= PATCH_LEN)
		if (addr - k->patch[i].addr <= k->patch[i].len &&
		    kernel_patch_calls(k, &k->patch[i], addr))
			return CALLSITE_INDIRECT;
	*traced = kernel_code_is_traced(k->ef->machine, code, before);
	return k->live && !k->n_patch &&
			       (*traced ||
				kernel_code_is_changing(k, code, before))
		       ? CALLSITE_UNCHECKED
		       : CALLSITE_NO_CALL;
}

/* Returns how many bytes at the start of a function are not its own: endbr64,
 * and the call or nop of a tracer. */
static size_t kernel_code_entry(const unsigned char *code, size_t n)
{
	static const unsigned char endbr[] = { 0xf3, 0x0f, 0x1e, 0xfa };
	size_t at = n >= 4 && !memcmp(code, endbr, sizeof(endbr)) ? 4 : 0;

	return n - at >= 5 && (code[at] == 0xe8 ||
			       kernel_code_is_traced(EM_X86_64, code, at + 5))
		       ? at + 5
		       : at;
}

/* Returns the end of the first instruction that may set FP in this code of a
 * function, or 0: mov %rsp,%rbp, in both encodings, or lea N(%rsp),%rbp; mov
 * x29,sp or add x29,sp,#N. */
static size_t kernel_code_may_set(uint16_t machine, const unsigned char *code,
				  size_t n)
{
	for (size_t i = 0; machine == EM_X86_64 && i + 3 <= n; i++)
		if (code[i] == 0x48 &&
		    ((code[i + 1] == 0x89 && code[i + 2] == 0xe5) ||
		     (code[i + 1] == 0x8b && code[i + 2] == 0xec) ||
		     (code[i + 1] == 0x8d && (code[i + 2] & 0x3f) == 0x2c)))
			return i + 3;
	for (size_t i = 0; machine == EM_AARCH64 && i + 4 <= n; i += 4)
		if (code[i + 3] == 0x91 && code[i] == 0xfd &&
		    (code[i + 1] & 3) == 3)
			return i + 4;
	return 0;
}

/* Returns whether this code may contain a jump, which could skip a later
 * instruction: jcc, jmp; b.cond, cbz, cbnz, tbz, tbnz. */
static bool kernel_code_may_jump(uint16_t machine, const unsigned char *code,
				 size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (machine == EM_X86_64
			    ? code[i] >> 4 == 7 || code[i] == 0xeb ||
				      code[i] == 0xe9 ||
				      (code[i] >> 4 == 8 && i &&
				       code[i - 1] == 0x0f)
			    : i % 4 == 3 && (code[i] == 0x54 ||
					     (code[i] & 0x7c) == 0x34))
			return true;
	return false;
}

int kernel_code_framed(const struct kernel_code *k, uint64_t off, uint64_t into)
{
	unsigned char code[FRAME_CODE_WINDOW];
	const uint16_t machine = k->ef->machine;
	uint64_t addr, unused;

	if ((machine != EM_X86_64 && machine != EM_AARCH64) || k->ef->big ||
	    __builtin_add_overflow(off, k->text, &addr) || into > addr ||
	    !kernel_code_section(k, addr))
		return -1;
	const size_t want = into < sizeof(code) ? into : sizeof(code);
	const size_t n = kernel_code_read(k, addr - into, code, want);
	const size_t own =
		machine == EM_X86_64 ? kernel_code_entry(code, n) : 0;

	if (n < want)
		return -1;
	const size_t set = kernel_code_may_set(machine, code, n);

	if (set <= own)
		return into == n ? 0 : -1;
	/* a caller has a frame at its call */
	bool traced;
	const enum callsite_kind kind =
		kernel_code_at(k, off, &unused, &traced);

	if (kind == CALLSITE_DIRECT || kind == CALLSITE_INDIRECT)
		return 1;
	if (kernel_code_may_jump(machine, code + own, set - own) ||
	    !frame_code_sets(machine, code + own, set - own))
		return -1;
	const size_t rest =
		kernel_code_read(k, addr, code, FRAME_CODE_EPILOGUE);

	return !frame_code_leaves(machine, code, rest);
}
