/* jitted.c - bytes and source lines of jitted code: written while captures are
 * read, and lines read back for naming. */

#include "schema/columns.h"
#include "schema/write/writing.h"
#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/mem.h"

/* Larger code is no function but a code cache that was logged as one. */
#define JIT_BYTES_MAX ((size_t)4 << 20)

int jitted_put(struct maker *mk, uint32_t id, struct err *err)
{
	const struct jit_code *c = frames_get_image(mk->w->fr, id)->code;

	if (!c)
		return 0;
	if (c->bytes && c->n_bytes <= JIT_BYTES_MAX &&
	    PUT_ROW(mk, T_JIT_CODE, err, VALUE_OF(id), VALUE_OF(c->machine),
		    VALUE_OF(c->start), value_blob(c->bytes, c->n_bytes)))
		return -1;
	for (size_t i = 0; i < c->n_line; i++)
		/* Lines are sorted by offset; of several lines of one
		 * instruction the last one is stored. */
		if (c->line[i].file && c->line[i].off < c->len &&
		    (i + 1 == c->n_line ||
		     c->line[i + 1].off != c->line[i].off) &&
		    PUT_ROW(mk, T_JIT_LINE, err, VALUE_OF(id),
			    VALUE_OF(c->line[i].off),
			    value_text(c->line[i].file),
			    VALUE_ID(c->line[i].line)))
			return -1;
	return 0;
}

int jitted_lines(struct maker *mk, uint32_t image, struct arena *text,
		 struct jit_code *out, struct err *err)
{
	struct rows *r = ROWS_BY(maker_read(mk, err), "jit_lines", err, image);
	struct jit_line *line = NULL;
	size_t cap = 0;

	*out = (struct jit_code){ 0 };
	while (rows_step(r))
		*mem_add(line, out->n_line, cap) = (struct jit_line){
			.off = (uint64_t)rows_int(r, JIT_LINES_OFF),
			.file = arena_strdup(text,
					     rows_text(r, JIT_LINES_FILE)),
			.line = (uint32_t)rows_int(r, JIT_LINES_LINE),
		};
	if (out->n_line) {
		struct jit_line *own =
			arena_take(text, out->n_line * sizeof(*own));

		memcpy(own, line, out->n_line * sizeof(*own));
		out->line = own;
	}
	free(line);
	return rows_end(r, err);
}
