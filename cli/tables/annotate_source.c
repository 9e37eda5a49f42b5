/* annotate_source.c - the source lines that belong to the instructions. */
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/names/source_text.h"
#include "cli/tables/annotated.h"
#include "symbolize/dwarf/line_files.h"

/* Lines that are shown at most at a time: a jump further ahead is mostly one
 * over other functions. */
#define LINES_AHEAD 12

/* Returns when a file was written, in s; 0: not known. */
static int64_t annot_written(const char *path)
{
	struct stat st;

	return path && *path && !stat(path, &st) ? st.st_mtim.tv_sec : 0;
}

static bool annot_is_named(const struct annot_insn *in, const char *path)
{
	return in->file && in->line &&
	       (in->file == path || !strcmp(in->file, path));
}

void annot_find_sources(struct annot *a, struct symbolizer *sy,
			const struct image *img, struct sources *s)
{
	struct source_proof proof = { .built = annot_written(a->file) };
	struct line_files *tables = NULL;

	for (size_t i = 0; i < a->n; i++) {
		const struct annot_insn *in = &a->insn[i];
		const char *path = in->file;
		const struct source_file *f;

		if (!path || !in->line || in->source)
			continue;
		if (!tables)
			tables = line_files_open(sy, img);
		/* the instructions of this file from here on share it */
		proof.md5 = line_files_md5(tables, path);
		proof.last = 0;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path) &&
			    a->insn[k].line > proof.last)
				proof.last = a->insn[k].line;
		f = sources_get(s, path, &proof);
		*mem_add(a->source, a->n_source, a->cap_source) = f;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path))
				a->insn[k].source = f;
	}
	line_files_close(tables);
}

static bool annot_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void annot_lines_go(struct annot_lines *l, const struct annot_insn *in)
{
	const struct annot_insn *was = l->shown;
	bool same = was && annot_same_text(was->file, in->file) &&
		    annot_same_text(was->inlined, in->inlined);
	uint32_t top = l->last;

	l->place = false;
	l->next = top + 1;
	if (!in->file || !in->line || (same && was->line == in->line))
		return;
	l->shown = in;
	l->place = !same || !source_line(in->source, in->line);
	l->last = l->next = in->line;
	if (same && top < in->line && in->line - top <= LINES_AHEAD)
		l->next = top + 1;
}
