/* out_lines.c - rows as blocks with one value a line, for values that are long
 * or have lines themselves, such as stacks.
 *
 * A line of a value never begins in the column of the names, so that text from
 * a capture cannot pass for another value. */
#include <string.h>

#include "cli/output/out.h"
#include "cli/output/output.h"
#include "stitch/text/safe_text.h"
#include "cli/output/term.h"
#include "schema/store.h"

static void out_lines_put_value(FILE *out, const struct value *v, int indent)
{
	const char *s = v->text;
	size_t left = v->len;

	if (v->kind != VALUE_TEXT || !s) {
		output_value(out, v);
		putc('\n', out);
		return;
	}
	for (;;) {
		const char *end = memchr(s, '\n', left);
		size_t n = end ? (size_t)(end - s) : left;

		safe_text_clean(out, s, n);
		putc('\n', out);
		if (!end)
			return;
		fprintf(out, "%*s", indent, "");
		s += n + 1;
		left -= n + 1;
	}
}

static int out_lines_write(FILE *out, struct rows *rows, struct err *err)
{
	size_t n = rows_columns(rows);
	int width = 0;
	bool first = true;
	int ret;

	for (size_t i = 0; i < n; i++) {
		size_t cells = safe_text_cells(rows_name(rows, i));

		if (cells < 40 && (int)cells > width)
			width = (int)cells;
	}
	while ((ret = rows_next(rows, err)) > 0 && !out_failed()) {
		if (!first)
			putc('\n', out);
		first = false;
		for (size_t i = 0; i < n; i++) {
			const char *name = rows_name(rows, i);
			struct value v = rows_value(rows, i);
			int pad = width - (int)safe_text_cells(name);

			fprintf(out, "%s", term_on(out, STYLE_BOLD));
			safe_text_put(out, name, 0, 0);
			fprintf(out, "%s%*s  ", term_off(out),
				pad > 0 ? pad : 0, "");
			out_lines_put_value(out, &v, width + 2);
		}
	}
	return ret < 0 ? -1 : 0;
}

const struct output out_lines = {
	.name = "lines",
	.write = out_lines_write,
};
