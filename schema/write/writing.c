/* writing.c - what is known of a database being written: begins and ends. */
#include "schema/write/writing.h"

#include <stdlib.h>

#include "stitch/base/mem.h"

struct writing *writing_new(const struct frames *fr, const char *fields)
{
	struct writing *w = mem_new(1, sizeof(*w));

	w->fr = fr;
	w->fields = fields_new(fields);
	return w;
}

void writing_free(struct writing *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->n_capture; i++) {
		struct capture_map *c = &w->capture[i];

		for (size_t j = 0; j < c->n_mark; j++)
			free(c->mark[j].name);
		free(c->mark);
		free(c->type);
	}
	free(w->capture);
	free(w->count);
	naming_free(w->naming);
	sample_groups_free(w->groups);
	sums_code_free(w->sums);
	deferral_free(w->deferral);
	fields_free(w->fields);
	table_release(&w->said);
	payload_rows_free(w->payload_rows);
	free(w->used);
	free(w->named);
	free(w->late);
	free(w->work);
	free(w);
}
