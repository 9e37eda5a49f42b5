/* symbol_rows.c - numbers symbols, and writes their rows of table symbol. */
#include <string.h>

#include "schema/write/labels.h"
#include "schema/write/writing.h"
#include "stitch/base/err.h"
#include "stitch/symbol.h"
#include "stitch/tasks/frame.h"

int symbol_rows_resume(struct maker *mk, struct err *err)
{
	int64_t max;

	if (maker_number(mk, "SELECT coalesce(max(id), 0) FROM symbol", &max,
			 err))
		return -1;
	if (max < 0 || max >= UINT32_MAX)
		return err_set(err, ERR_FORMAT,
			       "%s: symbol ids are out of "
			       "range",
			       mk->db->path);
	mk->w->symbols = (uint32_t)max;
	mk->table[T_SYMBOL]->next_id = (uint32_t)max + 1;
	return 0;
}

int symbol_rows_put(struct maker *mk, uint32_t image, const struct symbol *s,
		    uint32_t *id, struct err *err)
{
	bool raw = s->raw_name && strcmp(s->raw_name, s->name) != 0;

	*id = mk->w->symbols + 1;
	if (PUT_ROW(mk, T_SYMBOL, err, VALUE_OF(*id), VALUE_OF(image),
		    VALUE_OF(s->start), VALUE_OF(s->size), value_text(s->name),
		    value_text(raw ? s->raw_name : NULL), value_text(s->how),
		    VALUE_OF(s->unverified)))
		return -1;
	mk->w->symbols++;
	frame_names_symbol(mk, *id, s->name);
	return 0;
}

int symbol_rows_find(struct maker *mk, uint32_t image, uint64_t off,
		     uint32_t *id, uint64_t *symoff, struct err *err)
{
	struct symbol s = { .off = off, .how = "text" };

	s.name = frames_symbol_at(mk->w->fr, off, &s.start, &s.size);
	if (!s.name || image >> 24)
		return 0;
	/* the upper 40 bits of start identify the symbol, the rest is 0 */
	uint64_t h = hash_u64(s.start ^ image);
	uint32_t known = table_find_hash(&mk->w->said, h);

	*symoff = off - s.start;
	*id = known;
	if (known != TABLE_NONE)
		return 0;
	if (symbol_rows_put(mk, image, &s, id, err))
		return -1;
	table_add(&mk->w->said, h, *id);
	return 0;
}
