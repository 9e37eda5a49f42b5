/* code_bytes.c - reads the code of an image: from its file, or JIT code. */
#include "symbolize/disasm/code_bytes.h"

#include <gelf.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"

struct elf_file *code_bytes_find_file(struct symbolizer *sy,
				      const struct image *img,
				      struct identity_answer *answer)
{
	*answer = (struct identity_answer){ .status = IMAGE_NO_CODE };
	if (img->kind != IMAGE_KERNEL && img->kind != IMAGE_FILE &&
	    img->kind != IMAGE_VDSO)
		return NULL;
	struct elf_file *ef = locate_open(sy, img, answer);

	if (ef && (ef->no_code || !ef->n_seg)) {
		elf_file_close(ef);
		*answer = (struct identity_answer){ .status = IMAGE_NO_CODE };
		return NULL;
	}
	return ef;
}

/* Finds _text, from which offsets in the kernel count. */
static bool code_bytes_find_text(const struct elf_file *ef, uint64_t *out)
{
	struct elf_symbols it;
	GElf_Sym sym;
	const char *name;

	if (!elf_symbols_find(ef, SHT_SYMTAB, &it))
		return false;
	while (elf_symbols_next(&it, &sym, &name))
		if (!strcmp(name, "_text")) {
			*out = sym.st_value;
			return true;
		}
	return false;
}

struct code_bytes *code_bytes_open(struct symbolizer *sy,
				   const struct image *img, struct err *err)
{
	struct identity_answer answer;
	const char *path = img->path ? img->path : "";
	struct elf_file *ef = code_bytes_find_file(sy, img, &answer);

	if (ef && answer.is <= IDENTITY_DOUBTFUL) {
		elf_file_close(ef);
		ef = NULL;
		answer.status = IMAGE_REPLACED;
	}
	if (!ef) {
		err_set(err, ERR_IO,
			"%s: %s; --symfs DIR says where the recorded programs "
			"are",
			path, image_status_word(answer.status));
		return NULL;
	}
	struct code_bytes *c = mem_new(1, sizeof(*c));

	c->ef = ef;
	c->machine = ef->machine;
	c->big = ef->big;
	c->kernel = img->kind == IMAGE_KERNEL;
	if (c->kernel && !code_bytes_find_text(ef, &c->addr)) {
		code_bytes_close(c);
		err_set(err, ERR_FORMAT, "%s: has no symbol _text", path);
		return NULL;
	}
	return c;
}

struct code_bytes *code_bytes_of_memory(uint16_t machine, bool big,
					uint64_t addr, const void *bytes,
					size_t len)
{
	struct code_bytes *c = mem_new(1, sizeof(*c));

	c->machine = machine;
	c->addr = addr;
	c->bytes = mem_dup(bytes, len);
	c->len = len;
	c->big = big;
	return c;
}

void code_bytes_close(struct code_bytes *c)
{
	if (!c)
		return;
	elf_file_close(c->ef);
	free_all(c->bytes, c);
}

const char *code_bytes_path(const struct code_bytes *c)
{
	return c->ef ? c->ef->path : "";
}

bool code_bytes_addr(const struct code_bytes *c, uint64_t off, uint64_t *addr)
{
	if (!c->ef) {
		*addr = c->addr + off;
		return off < c->len;
	}
	if (c->kernel) {
		*addr = c->addr + off;
		return elf_segment_at(c->ef->seg, c->ef->n_seg, *addr) != NULL;
	}
	return elf_vaddr(c->ef->seg, c->ef->n_seg, off, addr);
}

bool code_bytes_off(const struct code_bytes *c, uint64_t addr, uint64_t *off)
{
	const struct segment *s =
		c->ef ? elf_segment_at(c->ef->seg, c->ef->n_seg, addr) : NULL;

	if (!c->ef || c->kernel) {
		*off = addr - c->addr;
		return c->kernel ? s != NULL : *off < c->len;
	}
	if (!s)
		return false;
	*off = addr - s->vaddr + s->off;
	return true;
}

size_t code_bytes_read(const struct code_bytes *c, uint64_t off, void *buf,
		       size_t n)
{
	uint64_t addr;

	if (!code_bytes_addr(c, off, &addr))
		return 0;
	if (c->ef)
		return elf_read_code(c->ef, addr, buf, n);
	n = n < c->len - off ? n : c->len - (size_t)off;
	memcpy(buf, c->bytes + off, n);
	return n;
}

bool code_bytes_function(const struct code_bytes *c, uint64_t off,
			 uint64_t *start, uint64_t *end)
{
	uint64_t addr;
	uint64_t a;
	uint64_t b;

	if (!c->ef) {
		*start = 0;
		*end = c->len;
		return off < c->len;
	}
	struct cfi *cfi = cfi_open_both(c->ef);
	bool found = code_bytes_addr(c, off, &addr) &&
		     cfi_function(cfi, addr, &a, &b) &&
		     code_bytes_off(c, a, start);

	cfi_close(cfi);
	if (!found)
		return false;
	*end = *start + (b - a);
	return *end > *start;
}
