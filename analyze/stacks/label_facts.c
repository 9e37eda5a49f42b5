/* label_facts.c - facts about a label besides its name. */
#include "analyze/stacks/label_facts.h"

#include "analyze/stacks/stack_names.h"
#include "analyze/stacks/stacks.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

struct label_facts {
	const struct stack_names *names;
	struct label_fact *fact;
	size_t n, cap;
	struct intern places; /* label, offset, and build-id or path */
	bool *bogus;	      /* by place */
	size_t n_bogus, cap_bogus;
	struct arena text;
	const char *last; /* file of the last row: most rows repeat it */
};

struct label_facts *label_facts_load(struct store *db, const struct stacks *s,
				     struct err *err)
{
	struct label_facts *f = mem_new(1, sizeof(*f));
	struct rows *r = rows_of(db, "label_facts", err);

	f->names = s->names;
	while (rows_step(r)) {
		uint32_t label = 0;

		if (!stack_names_label(f->names, rows_int(r, LABEL_FACTS_ID),
				       &label))
			continue;
		mem_reach(f->fact, f->n, f->cap, (size_t)label + 1);
		struct label_fact *fact = &f->fact[label];
		/* the source line of the label, or that it has several */
		const char *file = rows_text(r, LABEL_FACTS_FILE);
		uint32_t line = (uint32_t)rows_int(r, LABEL_FACTS_LINE);

		if (file[0] && !fact->several) {
			if (!fact->file) {
				if (!f->last || strcmp(f->last, file))
					f->last = arena_strdup(&f->text, file);
				fact->file = f->last;
				fact->line = line;
			} else if (fact->line != line ||
				   strcmp(fact->file, file)) {
				fact->file = NULL;
				fact->several = true;
			}
		}
		struct value id = rows_value(r, LABEL_FACTS_BUILD_ID);
		char hex[sizeof(fact->build)] = "";

		if (id.kind == VALUE_BLOB) {
			for (size_t i = 0; i < id.len && i < sizeof(hex) / 2;
			     i++)
				snprintf(hex + 2 * i, 3, "%02x",
					 (unsigned char)id.text[i]);
			/* the label has several versions of its file */
			if (fact->places && strcmp(fact->build, hex))
				hex[0] = 0;
			memcpy(fact->build, hex, sizeof(hex));
		}
		/* Counts a place of a label once. Frames of one place may
		 * differ in a flag, or be in files that differ only in the
		 * process that mapped them. */
		const char *path = rows_text(r, LABEL_FACTS_PATH);
		bool bogus = rows_int(r, LABEL_FACTS_BOGUS) != 0;
		int64_t off = rows_int(r, LABEL_FACTS_OFF);
		bool by_id = id.kind == VALUE_BLOB && id.len;
		const char *name = by_id ? id.text : path;
		size_t len = by_id ? id.len : strlen(path);
		char *key = mem_new(sizeof(label) + sizeof(off) + len + 1, 1);
		uint32_t place;

		memcpy(key, &label, sizeof(label));
		memcpy(key + sizeof(label), &off, sizeof(off));
		memcpy(key + sizeof(label) + sizeof(off), name, len);
		place = intern_add_bytes(&f->places, key,
					 sizeof(label) + sizeof(off) + len);
		free(key);
		if (place == f->n_bogus) {
			*mem_add(f->bogus, f->n_bogus, f->cap_bogus) = false;
			fact->places++;
		}
		if (bogus && !f->bogus[place]) {
			f->bogus[place] = true;
			fact->bogus++;
		}
	}
	if (rows_end(r, err)) {
		label_facts_free(f);
		return NULL;
	}
	return f;
}

void label_facts_free(struct label_facts *f)
{
	if (!f)
		return;
	intern_release(&f->places);
	arena_release(&f->text);
	free_all(f->fact, f->bogus, f);
}

const struct label_fact *label_facts_get(const struct label_facts *f,
					 uint32_t label)
{
	static const struct label_fact none;

	return f && label < f->n ? &f->fact[label] : &none;
}
