/* totals.c - what is next to a text of ftrace: its clock, its CPUs, and what
 * their buffers lost. */
#include <stdio.h>
#include <string.h>

#include "formats/ftext/ftext.h"
#include "formats/reader/reader.h"
#include "stitch/base/err.h"
#include "stitch/order/clocks.h"

void ftext_totals_open(struct ftext *ft, struct scan head)
{
	struct source_info *info = &ft->src.info;
	struct ftext_beside *b = &ft->beside;
	struct scan line = scan_line(&head);

	ft->piece = scan_take(&line, FTEXT_BESIDE);
	if (ft->piece && scan_take(&line, " clock="))
		snprintf(b->clock, sizeof(b->clock), "%.*s", (int)line.n,
			 line.p);
	if (!ft->piece && strcmp(ft->src.path, "-") != 0)
		ftext_beside_open(b, ft->in.path);
	if (b->cpus)
		info->cpus_online = ftext_beside_cpus(b);
	if (*b->clock) {
		info->clock = b->clock;
		info->clock_id = clock_id_of(b->clock);
	}
}

int ftext_totals_read(struct ftext *ft, struct err *err)
{
	struct ftext_beside *b = &ft->beside;
	const char *given = ft->opts.stats;
	char dir[PATH_MAX];

	if (!given) {
		/* if that fails, what the text says itself counts */
		ftext_beside_read(b, b->per_cpu, NULL);
		return 0;
	}
	int n = ftext_beside_read(b, given, err);

	if (!n) {
		snprintf(dir, sizeof(dir), "%s/per_cpu", given);
		n = ftext_beside_read(b, dir, err);
	}
	if (!n)
		return err_set(err, ERR_USAGE,
			       "--stats %s: no file in it is called cpu0/stats",
			       given);
	return n < 0 ? -1 : 0;
}

bool ftext_has_totals(struct ftext *ft)
{
	struct ftext_beside *b = &ft->beside;

	/* those of tracefs grew while the text was read */
	if (b->live && !ft->opts.stats)
		ftext_beside_read(b, b->per_cpu, NULL);
	/* the header of per_cpu/cpuN/trace counts those of all CPUs */
	if (!b->n_total || b->only || ftext_beside_sum(b) >= ft->overwritten)
		return b->n_total > 0;
	reader_note(
		&ft->src, "stats",
		"the files stats count fewer events than the header of the "
		"text says were overwritten: they are not of this text, and "
		"are not used");
	b->n_total = 0;
	return false;
}
