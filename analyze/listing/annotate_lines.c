/* annotate_lines.c - the source lines of a function by share. */
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

#include "analyze/names/source_text.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "analyze/listing/annotated.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "symbolize/dwarf/line_files.h"

#define LINES 10 /* in the text form */
#define PLACE_MIN 12

struct hot_line *hot_lines_add(struct hot_lines *l, const char *file,
			       uint32_t line, uint64_t weight, uint64_t samples)
{
	size_t size = strlen(file) + sizeof(line);
	char *key = mem_new(size, 1);
	uint32_t id;

	memcpy(key, &line, sizeof(line));
	memcpy(key + sizeof(line), file, size - sizeof(line));
	id = intern_add_bytes(&l->index, key, size);
	free(key);
	if (id == l->n)
		*mem_add(l->line, l->n, l->cap) = (struct hot_line){
			.file = arena_strdup(&l->text, file),
			.line = line,
		};
	l->line[id].weight += weight;
	l->line[id].samples += samples;
	return &l->line[id];
}

COMPARE_FUNCTION(hot_lines_compare, struct hot_line,
		 compare_numbers(y->weight, x->weight)
			 ?: compare_numbers(y->samples, x->samples)
			 ?: strcmp(x->file, y->file)
			 ?: compare_numbers(x->line, y->line));

void hot_lines_sort(struct hot_lines *l)
{
	sort_items(l->line, l->n, hot_lines_compare);
	intern_release(&l->index);
}

void hot_lines_release(struct hot_lines *l)
{
	intern_release(&l->index);
	arena_release(&l->text);
	free(l->line);
}

static int hot_lines_place(const struct hot_line *l, char *buf, size_t size)
{
	if (!l->file[0])
		return snprintf(buf, size, "[no line]");
	return snprintf(buf, size, "%s:%u", path_base(l->file), l->line);
}

void hot_lines_put(FILE *out, const struct hot_lines *l, uint64_t whole)
{
	size_t n = l->n < LINES ? l->n : LINES;
	int width = PLACE_MIN;
	char place[512];

	if (!n || (n == 1 && !l->line[0].file[0]))
		return;
	fprintf(out, "%8s %8s  Line\n", "Share %", "Samples");
	for (size_t i = 0; i < n; i++) {
		int len = hot_lines_place(&l->line[i], place, sizeof(place));

		raise_to(width, len);
	}
	for (size_t i = 0; i < n; i++) {
		const struct hot_line *at = &l->line[i];
		const char *text = source_line(at->source, at->line);

		fprintf(out, "%8s %8" PRIu64 "  ",
			HUMAN_PERCENT(at->weight, whole), at->samples);
		hot_lines_place(at, place, sizeof(place));
		safe_text_put(out, place, 0, 0);
		if (text && *text) {
			fprintf(out, "%*s  ", width - (int)strlen(place), "");
			safe_text_put(out, text + strspn(text, " \t"), 0, 0);
		}
		putc('\n', out);
	}
	if (l->n > n)
		fprintf(out, "%19s%zu more lines\n", "", l->n - n);
	putc('\n', out);
}

void hot_lines_json(struct json *j, const struct hot_lines *l)
{
	json_array(j, "lines");
	for (size_t i = 0; i < l->n; i++) {
		const struct hot_line *at = &l->line[i];

		json_object(j, NULL);
		json_text(j, "file", at->file[0] ? at->file : NULL);
		json_uint(j, "line", at->line);
		json_uint(j, "samples", at->samples);
		json_uint(j, "weight", at->weight);
		json_end(j);
	}
	json_end(j);
}

/* ---- the source lines that belong to the instructions */

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
