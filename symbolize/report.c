/* report.c - collects the facts about an image that a resolver reports: file,
 * status, notes, and the sections that it read. */
#include "symbolize/report.h"

#include "stitch/base/mem.h"
#include "stitch/symbol.h"
#include "symbolize/symbolizer.h"

void report_release(struct image_report *rep)
{
	free(rep->seg);
	for (size_t i = 0; i < rep->n_used; i++)
		free_all((char *)rep->used[i].file, (char *)rep->used[i].name);
	free(rep->used);
	rep->seg = NULL;
	rep->n_seg = 0;
	rep->used = NULL;
	rep->n_used = 0;
	rep->cap_used = 0;
}

void report_file(struct symbolizer *sy, const char *file)
{
	snprintf(sy->rep->file, sizeof(sy->rep->file), "%s", file);
}

void report_status(struct symbolizer *sy, enum image_status status)
{
	sy->rep->status = status == IMAGE_NAMED && sy->unproved
				  ? IMAGE_UNVERIFIED
				  : status;
}

void report_note(struct symbolizer *sy, const char *what, const char *path)
{
	snprintf(sy->rep->note, sizeof(sy->rep->note), "%.160s: %s", path,
		 what);
}

const struct section_used *report_find_section(const struct section_used *list,
					       size_t n, const char *file,
					       const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (!strcmp(list[i].name, name) && !strcmp(list[i].file, file))
			return &list[i];
	return NULL;
}

void report_add_section(struct image_report *rep, const struct section_used *u)
{
	*mem_add(rep->used, rep->n_used, rep->cap_used) = (struct section_used){
		.file = mem_strdup(u->file),
		.name = mem_strdup(u->name),
		.hash = u->hash,
	};
}

const struct section_used *report_changed_section(const struct section_used *a,
						  size_t n_a,
						  const struct section_used *b,
						  size_t n_b)
{
	for (size_t i = 0; i < n_a; i++) {
		const struct section_used *u =
			report_find_section(b, n_b, a[i].file, a[i].name);

		if (u && u->hash != a[i].hash)
			return &a[i];
	}
	return NULL;
}
