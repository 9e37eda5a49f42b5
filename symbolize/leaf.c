/* leaf.c - the unwinder for frame-pointer samples of AArch64: one caller, from
 * the link register. */
#include "symbolize/leaf.h"

#include <gelf.h>
#include <stdlib.h>

#include "stitch/bytes.h"
#include "stitch/frame.h"
#include "stitch/mem.h"
#include "stitch/record.h"
#include "stitch/table.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi.h"
#include "symbolize/elf.h"
#include "symbolize/locate.h"
#include "symbolize/symbolizer.h"

#define REG_LINK 30
/* Files held open; answers are kept, so that it matters for new code only. */
#define OPEN_MAX 64
/* A vdso has 7; it is searched once for each address in it. */
#define VDSO_SYMBOLS_MAX 256
#define VDSO_FUNC_MAX 65536
/* Instructions of a stub: bti, adrp, ldr, add, autia1716, br. */
#define STUB_MAX 6

/* Is the return address in the register at this place of this image? */
struct answer {
	uint64_t off;
	uint32_t image;
	bool kept;
};

/* The bytes of a section, or none. */
struct part {
	Elf_Data *data;
	uint64_t addr;
};

struct open_file {
	uint32_t image; /* 0: a free place */
	uint64_t used;	/* when, in look-ups */
	struct elf_file *ef;
	struct cfi *cfi;
	struct part text, plt, dynsym; /* for code without tables */
};

struct leaf {
	struct unwinder uw; /* first */
	struct symbolizer *sy;
	const struct frames *fr;
	struct table table; /* of answers */
	struct answer *answer;
	size_t n, cap;
	bool *missing; /* by image id: there is no file */
	size_t n_missing, cap_missing;
	struct open_file file[OPEN_MAX];
	uint64_t clock;
};

static void close_file(struct open_file *f)
{
	cfi_close(f->cfi);
	elf_file_close(f->ef);
	*f = (struct open_file){ .image = 0 };
}

/* The file that ran, by build-id. A vdso's is in no capture (7.2): then only
 * what the user laid out beside the programs is taken for it. */
static struct elf_file *locate(struct leaf *lf, const struct image *img)
{
	struct places p = { .n = 0 };
	bool other;

	if (img->kind != IMAGE_VDSO &&
	    (img->kind != IMAGE_FILE || !img->id_len))
		return NULL;
	locate_image(lf->sy, img, &p);
	struct elf_file *ef = places_open(&p, img->id, img->id_len, &other);
	places_release(&p);
	if (ef && (ef->machine != EM_AARCH64 || ef->no_code)) {
		elf_file_close(ef);
		return NULL;
	}
	return ef;
}

static bool is_missing(struct leaf *lf, uint32_t image)
{
	size_t old = lf->n_missing;

	if (image >= old) {
		lf->missing = mem_grow(lf->missing, &lf->cap_missing,
				       image + (size_t)1, sizeof(*lf->missing));
		for (size_t i = old; i <= image; i++)
			lf->missing[i] = false;
		lf->n_missing = image + (size_t)1;
	}
	return lf->missing[image];
}

static struct part part(const struct elf_file *ef, const char *name)
{
	struct elf_section s;

	if (!elf_section_find(ef, name, &s))
		return (struct part){ .data = NULL };
	return (struct part){ elf_section_data(&s), s.addr };
}

/* NULL: there is none, and it will not be looked for again. */
static struct open_file *file_of(struct leaf *lf, uint32_t image)
{
	struct open_file *f = &lf->file[0];

	if (is_missing(lf, image))
		return NULL;
	for (size_t i = 0; i < OPEN_MAX; i++) {
		if (lf->file[i].image == image) {
			lf->file[i].used = ++lf->clock;
			return &lf->file[i];
		}
		if (lf->file[i].used < f->used)
			f = &lf->file[i];
	}
	const struct image *img = frames_get_image(lf->fr, image);
	struct elf_file *ef = locate(lf, img);

	if (!ef) {
		lf->missing[image] = true;
		return NULL;
	}
	close_file(f);
	f->image = image;
	f->used = ++lf->clock;
	f->ef = ef;
	f->cfi = cfi_open(ef);
	f->plt = part(ef, ".plt");
	if (img->kind == IMAGE_VDSO) {
		f->text = part(ef, ".text");
		f->dynsym = part(ef, ".dynsym");
	}
	return f;
}

/* Could this A64 instruction write x30? All that have it as a first operand
 * count, and second ones of loads and stores, and calls: some of these only
 * read it, but a leaf has no need for them either. */
static bool touches_link(uint32_t insn)
{
	bool branch = (insn & 0x7c000000) == 0x14000000; /* b, bl */
	bool call = (insn & 0xfc000000) == 0x94000000 || /* bl */
		    (insn & 0xfee00000) == 0xd6200000;	 /* blr, blraa, ... */
	bool memory = (insn & 0x0a000000) == 0x08000000;

	if (branch || call)
		return call;
	return (insn & 31) == REG_LINK ||
	       (memory && (insn >> 10 & 31) == REG_LINK);
}

/* The code of a section from an ELF address on. */
static bool code_at(const struct part *p, uint64_t vaddr, struct bytes *b)
{
	if (!p->data || vaddr < p->addr || vaddr % 4)
		return false;
	bytes_init(b, p->data->d_buf, p->data->d_size, "", 0, false);
	return !bytes_skip(b, vaddr - p->addr, NULL);
}

/* The vdso has no tables (Linux 7.2), so its code has to say it: nothing in
 * the whole function touches the register. */
static bool vdso_leaf(const struct open_file *f, uint64_t vaddr)
{
	Elf_Data *d = f->dynsym.data;
	struct bytes b;
	struct bytes func;
	uint32_t insn;

	for (int i = 0; d && i < VDSO_SYMBOLS_MAX; i++) {
		GElf_Sym sym;

		if (!gelf_getsym(d, i, &sym))
			break;
		if (GELF_ST_TYPE(sym.st_info) != STT_FUNC ||
		    vaddr < sym.st_value || vaddr - sym.st_value >= sym.st_size)
			continue;
		if (sym.st_size > VDSO_FUNC_MAX ||
		    !code_at(&f->text, sym.st_value, &b) ||
		    bytes_take(&b, sym.st_size, &func, NULL))
			return false;
		while (!bytes_u32(&func, &insn, NULL))
			if (touches_link(insn))
				return false;
		return bytes_left(&func) == 0;
	}
	return false;
}

/* A stub that jumps to another file's function, which linkers give no table
 * (ld 2.40): it is entered by a call and leaves by its one 'br'. The head of
 * all stubs begins with a store of the register: that place is left out. */
static bool stub(const struct open_file *f, uint64_t vaddr)
{
	struct bytes b;
	uint32_t insn;

	if (!code_at(&f->plt, vaddr, &b))
		return false;
	for (int i = 0; i < STUB_MAX && !bytes_u32(&b, &insn, NULL); i++) {
		if (touches_link(insn))
			return false;
		if ((insn & 0xfffffc1f) == 0xd61f0000)
			return true;
	}
	return false;
}

static bool look(struct leaf *lf, uint32_t image, uint64_t off)
{
	struct open_file *f = file_of(lf, image);
	enum cfi_link link = CFI_NONE;
	uint64_t vaddr;

	if (!f || !elf_vaddr(f->ef->seg, f->ef->n_seg, off, &vaddr))
		return false;
	if (f->cfi)
		link = cfi_link(f->cfi, vaddr);
	if (link != CFI_NONE)
		return link == CFI_KEPT;
	if (frames_get_image(lf->fr, image)->kind == IMAGE_VDSO)
		return vdso_leaf(f, vaddr);
	return stub(f, vaddr);
}

static bool same_answer(const void *owner, uint32_t id, const void *key)
{
	const struct leaf *lf = owner;
	const struct answer *a = &lf->answer[id];
	const struct answer *b = key;

	return a->off == b->off && a->image == b->image;
}

static bool kept(struct leaf *lf, uint32_t image, uint64_t off)
{
	struct answer a = { .off = off, .image = image };
	uint64_t hash = hash_u64(off ^ hash_u64(image));
	uint32_t id = table_find(&lf->table, hash, same_answer, lf, &a);

	if (id != TABLE_NONE)
		return lf->answer[id].kept;
	a.kept = look(lf, image, off);
	lf->answer =
		mem_grow(lf->answer, &lf->cap, lf->n + 1, sizeof(*lf->answer));
	lf->answer[lf->n] = a;
	table_add(&lf->table, hash, (uint32_t)lf->n++);
	return a.kept;
}

/* Its value without authentication bits; 0: not sampled, or nothing in it. */
static uint64_t link_register(const struct unwind_in *in)
{
	const uint64_t bit = 1ull << REG_LINK;
	const struct regs *regs = in->regs;

	if (!regs || !(regs->mask & bit))
		return 0;
	unsigned int i =
		(unsigned int)__builtin_popcountll(regs->mask & (bit - 1));
	return i < regs->n ? regs->v[i] & in->user_mask : 0;
}

static int leaf_unwind(struct unwinder *uw, const struct unwind_in *in,
		       uint64_t *ip, uint32_t max, enum unwind_end *end,
		       struct err *err)
{
	struct leaf *lf = (struct leaf *)uw;
	uint64_t link = link_register(in);
	uint64_t pc = in->pc & in->user_mask;
	struct unwind_map map;

	(void)err;
	*end = UNWIND_CUT;
	if (!max)
		return 0;
	ip[0] = in->pc;
	if (max == 1 || in->machine != EM_AARCH64 || !link)
		return 1;
	if (!in->find(in->arg, pc, &map)) {
		*end = UNWIND_NO_MAP;
		return 1;
	}
	*end = UNWIND_NO_TABLE;
	if (!map.image || pc < map.start ||
	    !kept(lf, map.image, pc - map.start + map.pgoff))
		return 1;
	*end = UNWIND_CUT;
	ip[1] = link - 1;
	return 2;
}

static void leaf_free(struct unwinder *uw)
{
	struct leaf *lf = (struct leaf *)uw;

	if (!lf)
		return;
	for (size_t i = 0; i < OPEN_MAX; i++)
		close_file(&lf->file[i]);
	table_release(&lf->table);
	free(lf->answer);
	free(lf->missing);
	free(lf);
}

static const struct unwinder_ops ops = {
	.name = "leaf",
	.unwind = leaf_unwind,
	.free = leaf_free,
};

struct unwinder *leaf_new(struct symbolizer *sy, const struct frames *fr)
{
	struct leaf *lf = mem_new(1, sizeof(*lf));

	lf->uw.ops = &ops;
	lf->sy = sy;
	lf->fr = fr;
	return &lf->uw;
}
