/* kernel.c - finds the code of the kernel that made a text of ftrace.
 *
 * Texts have names of the kernel's functions, and addresses if the option
 * sym-addr was on, but not the start of the kernel's code, which changes at
 * each boot. A copy of kallsyms has it. The copy is of the same boot if it
 * gives the text's addresses the same names as the text. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/ftext/ftext.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/base/search.h"

/* Most frames to compare, and most lines to search for them. */
#define FRAMES_MAX 4096u
#define LINES_MAX 200000u
#define PAGE 4096u

struct ftext_symbol {
	uint64_t addr;
	struct scan name;
};

struct ftext_symbols {
	struct ftext_symbol *at; /* sorted by address */
	size_t n, cap;
	struct table by_name; /* one of each name */
	uint64_t text, etext; /* 0: not in the copy */
};

static bool ftext_symbol_same_name(const void *owner, uint32_t id,
				   const void *key)
{
	const struct scan *k = key;
	const struct scan *s =
		&((const struct ftext_symbols *)owner)->at[id].name;

	return s->n == k->n && !memcmp(s->p, k->p, k->n);
}

static bool ftext_symbols_have(const struct ftext_symbols *ks, struct scan name)
{
	return table_find(&ks->by_name, hash_bytes(name.p, name.n, 0),
			  ftext_symbol_same_name, ks, &name) != TABLE_NONE;
}

COMPARE_BY(ftext_symbol_compare, struct ftext_symbol, addr);

/* Returns true if a symbol of that name is the last one at or before addr.
 * `exact`: it must be at addr. */
static bool ftext_symbols_is_at(const struct ftext_symbols *ks, uint64_t addr,
				struct scan name, bool exact)
{
	size_t i = search_where(ks->n, k, ks->at[k].addr > addr);

	if (!i || (exact && ks->at[i - 1].addr != addr))
		return false;
	for (uint64_t start = ks->at[i - 1].addr;
	     i && ks->at[i - 1].addr == start; i--)
		if (ftext_symbol_same_name(ks, (uint32_t)(i - 1), &name))
			return true;
	return false;
}

/* Frames with a name and an address: how many agree with the copy. */
struct ftext_agreement {
	unsigned int yes, no;
};

static struct ftext_agreement
ftext_kernel_compare_text(struct ftext *ft, const struct ftext_symbols *ks)
{
	struct ftext_agreement v = { 0, 0 };
	struct scan s;
	struct err err;

	if (ftext_peek_text(ft, &s, &err))
		return v;
	for (unsigned int i = 0; i < LINES_MAX && s.n; i++) {
		size_t n = scan_find_char(s, '\n');

		if (n == s.n || v.yes + v.no >= FRAMES_MAX)
			break;
		struct scan line = scan_head(s, n);
		struct line_frame f;

		scan_skip(&s, n + 1);
		if (!line_is_frame(line) || !line_frame(line, true, &f) ||
		    !f.addr || !f.symbol.n || f.path.n ||
		    !ftext_symbols_have(ks, f.symbol))
			continue;
		/* Some texts have no offset; those have no size either. */
		if (ftext_symbols_is_at(ks, f.addr - f.off, f.symbol,
					f.size > 0))
			v.yes++;
		else
			v.no++;
	}
	return v;
}

int ftext_kernel(struct ftext *ft, struct err *err)
{
	struct ftext_symbols ks = { .n = 0 };
	struct input in;

	if (!ft->opts.kallsyms)
		return 0;
	if (input_open(&in, ft->opts.kallsyms, ft->opts.temp_dir, err) ||
	    input_spool(&in, ft->opts.temp_dir, err)) {
		input_close(&in);
		return -1;
	}
	struct kallsyms_text t = { .at = (const char *)in.data,
				   .left = in.len };
	struct kallsyms_line line;

	while (ks.n < UINT32_MAX - 1 && kallsyms_text_next(&t, &line)) {
		if (line.module_len || !kallsyms_line_is_code(&line))
			continue;
		if (kallsyms_line_is(&line, "_text"))
			ks.text = line.addr;
		else if (kallsyms_line_is(&line, "_etext"))
			ks.etext = line.addr;
		*mem_add(ks.at, ks.n, ks.cap) = (struct ftext_symbol){
			line.addr, scan_of(line.name, line.name_len)
		};
	}
	sort_items(ks.at, ks.n, ftext_symbol_compare);
	for (size_t i = 0; i < ks.n; i++)
		if (!ftext_symbols_have(&ks, ks.at[i].name))
			table_add(
				&ks.by_name,
				hash_bytes(ks.at[i].name.p, ks.at[i].name.n, 0),
				(uint32_t)i);
	struct ftext_agreement v = ftext_kernel_compare_text(ft, &ks);

	if (ks.text && v.yes && !v.no) {
		const uint64_t last = ks.at[ks.n - 1].addr;

		ft->kernel = ks.text;
		ft->kernel_end =
			ks.etext > ks.text
				? ks.etext
				: (last & ~(uint64_t)(PAGE - 1)) + PAGE;
	} else if (v.no) {
		reader_note(&ft->src, "kallsyms",
			    "addresses of the text differ from those of "
			    "--kallsyms: offsets in the kernel stay derived");
	}
	free(ks.at);
	table_release(&ks.by_name);
	input_close(&in);
	return 0;
}

void ftext_kernel_record(const struct ftext *ft, struct record *rec)
{
	rec->kind = REC_MAP;
	rec->flags |= REC_F_KERNEL | REC_F_SYNTH;
	rec->map = (struct rec_map){
		.start = ft->kernel,
		.len = ft->kernel_end - ft->kernel,
		.pgoff = ft->kernel,
		.prot = PROT_READ | PROT_EXEC,
		.path = "[kernel.kallsyms]_text",
	};
}
