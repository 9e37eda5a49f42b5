/* learn.c - what a capture teaches the next recording. */
#include "cli/record/learn.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/input.h"
#include "cli/output/say.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"

/* Dumps grow if more stacks than this end with theirs. */
#define CUT_OF 100
#define MEGABYTES                                                              \
	4 /* perf's own are smaller, and depend on CPUs and rights             \
	   */
#define MEGABYTES_MAX 64

/* Returns the number behind an option of perf's in a command line, 0: none. */
static unsigned int learn_number(const char *cmdline, const char *option)
{
	const char *s = cmdline ? strstr(cmdline, option) : NULL;
	unsigned long v = s ? strtoul(s + strlen(option), NULL, 10) : 0;

	return v > DUMP_MAX ? DUMP_MAX : (unsigned int)v;
}

/* Returns twice as much, of nothing twice what perf has. */
static unsigned int learn_larger(unsigned int had, unsigned int perfs,
				 unsigned int most)
{
	had = 2 * (had ? had : perfs);
	return had < most ? had : most;
}

int learn_from(const char *file, const char *name, struct learned *out,
	       struct err *err)
{
	int status = STATUS_OK;
	struct store *db = database_open(file, &status, err);
	struct rows *r;
	int rc;

	*out = (struct learned){ .dump = 0 };
	if (!db)
		return err_while(err, "learning from the last capture");
	r = rows_of(db, "record_learned", err);
	if (rows_step(r)) {
		const char *line = rows_text(r, RECORD_LEARNED_CMDLINE);
		long long samples = rows_int(r, RECORD_LEARNED_SAMPLES);
		long long cut = rows_int(r, RECORD_LEARNED_CUT);
		long long lost = rows_int(r, RECORD_LEARNED_LOST);

		out->dump = learn_number(line, "dwarf,");
		out->megabytes = learn_number(line, " -m ");
		out->cut = cut > samples / CUT_OF && out->dump < DUMP_MAX;
		out->lost = lost;
		if (out->cut)
			out->dump = learn_larger(out->dump, DUMP / 2, DUMP_MAX);
		if (lost || out->megabytes > MEGABYTES_MAX)
			out->megabytes = learn_larger(out->megabytes, MEGABYTES,
						      MEGABYTES_MAX);
		if (name && out->cut)
			say("%s: %lld of %lld user stacks end with their dump: "
			    "dumps of %u bytes\n",
			    name, cut, samples, out->dump);
		if (name && lost)
			say("%s: %lld records were lost: buffers of %u MB\n",
			    name, lost, out->megabytes);
	}
	rc = rows_end(r, err);
	store_close(db);
	return rc;
}
