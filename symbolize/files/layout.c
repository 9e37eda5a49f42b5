/* layout.c - offsets of mappings in their file, by the file's own program
 * headers. */
#include "symbolize/files/layout.h"

#include <gelf.h>

#include "stitch/tasks/frame.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"

#define PAGE 4096u
#define LOADS_MAX 64

/* What one PT_LOAD becomes in memory, in whole pages. */
struct load {
	uint64_t start, end, off;
	bool found; /* a mapping begins with it */
};

struct loads {
	struct load at[LOADS_MAX];
	size_t n;
};

static uint64_t floor_page(uint64_t v)
{
	return v & ~(uint64_t)(PAGE - 1);
}

static bool read_loads(const struct elf_file *ef, struct loads *out)
{
	size_t n;

	out->n = 0;
	if (ef->no_code || elf_getphdrnum(ef->elf, &n))
		return false;
	for (size_t i = 0; i < n; i++) {
		GElf_Phdr ph;
		uint64_t end;

		if (!gelf_getphdr(ef->elf, (int)i, &ph))
			return false;
		if (ph.p_type != PT_LOAD || !ph.p_filesz)
			continue;
		if (out->n == LOADS_MAX ||
		    __builtin_add_overflow(ph.p_vaddr, ph.p_filesz, &end) ||
		    __builtin_add_overflow(end, PAGE - 1, &end))
			return false;
		out->at[out->n++] = (struct load){
			.start = floor_page(ph.p_vaddr),
			.end = floor_page(end),
			.off = floor_page(ph.p_offset),
		};
	}
	return out->n > 0;
}

/* The one that the range is in; a part of it may have rights of its own. */
static struct load *load_of(struct loads *ls, uint64_t start, uint64_t end)
{
	for (size_t i = 0; i < ls->n; i++)
		if (start >= ls->at[i].start && end <= ls->at[i].end)
			return &ls->at[i];
	return NULL;
}

static bool matches(struct loads *ls, struct layout_map *map, size_t n,
		    bool set)
{
	uint64_t base = map[0].start - ls->at[0].start;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = map[i].start - base;
		struct load *l = load_of(ls, start, map[i].end - base);

		if (!l)
			return false;
		l->found |= start == l->start;
		if (set)
			map[i].pgoff = l->off + (start - l->start);
	}
	for (size_t i = 0; i < ls->n; i++)
		if (!ls->at[i].found)
			return false;
	return true;
}

bool layout_prove(const struct symbolizer *sy, const struct image *img,
		  struct layout_map *map, size_t n)
{
	struct places p = { .n = 0 };
	struct loads ls;
	bool proved = false;
	bool other;

	if (!n)
		return false;
	locate_image(sy, img, &p);
	struct elf_file *ef = places_open(&p, img->id, img->id_len, &other);

	places_release(&p);
	if (ef && read_loads(ef, &ls) && matches(&ls, map, n, false))
		proved = matches(&ls, map, n, true);
	elf_file_close(ef);
	return proved;
}

size_t layout_parts(const struct symbolizer *sy, const struct image *img,
		    struct file_part *out, size_t max)
{
	struct places p = { .n = 0 };
	struct loads ls = { .n = 0 };
	bool other;

	locate_image(sy, img, &p);
	struct elf_file *ef = places_open(&p, img->id, img->id_len, &other);

	places_release(&p);
	if (!ef || !read_loads(ef, &ls))
		ls.n = 0;
	elf_file_close(ef);
	for (size_t i = 0; i < ls.n && i < max; i++)
		out[i] = (struct file_part){
			.start = ls.at[i].start - ls.at[0].start,
			.end = ls.at[i].end - ls.at[0].start,
			.off = ls.at[i].off,
		};
	return ls.n < max ? ls.n : max;
}
