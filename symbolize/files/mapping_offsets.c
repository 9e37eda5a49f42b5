/* mapping_offsets.c - computes the file offsets of mappings from the program
 * headers of the file. */
#include "symbolize/files/mapping_offsets.h"

#include <gelf.h>

#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/files/locate.h"

#define LOADS_MAX 64

/* One PT_LOAD in memory, in whole pages. */
struct elf_load {
	uint64_t start, end, off;
	bool found; /* a mapping has the same start */
};

struct elf_loads {
	struct elf_load at[LOADS_MAX];
	size_t n;
};

static bool mapping_offsets_read_loads(const struct elf_file *ef,
				       struct elf_loads *out)
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
		    __builtin_add_overflow(end, ELF_PAGE - 1, &end))
			return false;
		out->at[out->n++] = (struct elf_load){
			.start = elf_page_floor(ph.p_vaddr),
			.end = elf_page_floor(end),
			.off = elf_page_floor(ph.p_offset),
		};
	}
	return out->n > 0;
}

static bool mapping_offsets_match(struct elf_loads *ls,
				  struct mapping_offset *map, size_t n,
				  bool set)
{
	uint64_t base = map[0].start - ls->at[0].start;

	for (size_t i = 0; i < n; i++) {
		uint64_t start = map[i].start - base;
		struct elf_load *l = NULL;

		/* a part of a segment may have other permissions */
		for (size_t k = 0; !l && k < ls->n; k++)
			if (start >= ls->at[k].start &&
			    map[i].end - base <= ls->at[k].end)
				l = &ls->at[k];

		if (!l)
			return false;
		l->found |= start == l->start;
		if (set)
			map[i].pgoff = l->off + (start - l->start);
	}
	return !any_where(ls->n, i, !ls->at[i].found);
}

bool mapping_offsets_prove(const struct symbolizer *sy, const struct image *img,
			   struct mapping_offset *map, size_t n)
{
	struct elf_loads ls;
	bool proved = false;
	struct identity_answer answer;

	if (!n)
		return false;
	struct elf_file *ef = locate_open(sy, img, &answer);

	if (ef && answer.is > IDENTITY_DOUBTFUL &&
	    mapping_offsets_read_loads(ef, &ls) &&
	    mapping_offsets_match(&ls, map, n, false))
		proved = mapping_offsets_match(&ls, map, n, true);
	elf_file_close(ef);
	return proved;
}

size_t mapping_offsets_parts(const struct symbolizer *sy,
			     const struct image *img, struct file_part *out,
			     size_t max)
{
	struct elf_loads ls = { .n = 0 };
	struct identity_answer answer;

	struct elf_file *ef = locate_open(sy, img, &answer);

	if (!ef || answer.is <= IDENTITY_DOUBTFUL ||
	    !mapping_offsets_read_loads(ef, &ls))
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
