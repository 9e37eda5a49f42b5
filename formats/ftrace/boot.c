/* boot.c - moves addresses of a buffer that survived a reboot.
 *
 * When the kernel prints such a buffer, it moves addresses to where the same
 * code is now; raw pages have the addresses of the last boot. last_boot_info
 * has the kernel's old address ("ADDRESS\t[kernel]"), and kallsyms its current
 * one. Neither has the current addresses of modules, so those are not moved. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/ftrace/ftrace.h"

#define BOOTS_MAX 4096u

/* The text is "INSTANCE:", followed by lines. */
void ft_boot_read(struct ft *ft, const char *s)
{
	const char *line = strchr(s, ':');
	char *end;

	if (!line || ft->n_boot >= BOOTS_MAX)
		return;
	uint64_t text = strtoull(line + 1, &end, 16);

	/* "# Current" means that the buffer is of this boot. */
	if (end == line + 1 || strncmp(end, "\t[kernel]", 9) != 0)
		return;
	*mem_add(ft->boot, ft->n_boot, ft->cap_boot) = (struct ft_boot){
		arena_strndup(&ft->arena, s, (size_t)(line - s)), text
	};
}

void ft_boot_moved(struct ft *ft, uint64_t text, uint64_t end)
{
	bool known = text && end > text;
	char detail[384];

	for (size_t i = 0; i < ft->n_boot; i++) {
		const struct ft_boot *boot = &ft->boot[i];

		for (size_t j = 0; j < ft->n_inst; j++) {
			struct ft_instance *in = &ft->inst[j];

			if (strcmp(in->name, boot->instance) != 0)
				continue;
			if (known) {
				in->last_text = boot->text;
				in->text_len = end - text;
				in->moved = text - boot->text;
			}
			snprintf(detail, sizeof(detail),
				 "buffer '%.200s' is of the last boot: times "
				 "are of another run of its clock; addresses "
				 "of the kernel are %s, those of modules as "
				 "they were",
				 in->name,
				 known ? "moved to where it is now"
				       : "as they were");
			reader_note(&ft->src, "last boot", detail);
		}
	}
}
