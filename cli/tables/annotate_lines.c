/* annotate_lines.c - the source lines of a function, by share. */
#include <inttypes.h>
#include <string.h>

#include "analyze/names/source_text.h"
#include "cli/tables/annotated.h"
#include "stitch/files/path.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"

#define LINES 10 /* in the text form */
#define PLACE_MIN 12

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
