/* last_recording.c - what a capture teaches the next recording. */
#include "cli/record/last_recording.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analyze/causes/silent_tasks.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/loss_marks.h"
#include "analyze/stacks/trust.h"
#include "cli/args/status.h"
#include "cli/open/input.h"
#include "cli/output/say.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/audit/callsite.h"
#include "stitch/base/err.h"

/* Dumps grow if more stacks than this end with theirs. */
#define CUT_OF 100
/* They grow as far as they can if more than this do: by how much these stacks
 * are larger, nothing tells. */
#define CUT_MOST_OF 2
#define MEGABYTES 4 /* of buffers that go with dumps of 16 kB */
#define MEGABYTES_MAX 64

/* Returns twice as much, of nothing twice what perf has. */
static unsigned int last_recording_larger(int64_t had, unsigned int perfs,
					  unsigned int most)
{
	if (had < 0 || had > most / 2)
		return most;
	return had ? 2 * (unsigned int)had : 2 * perfs;
}

/* In some guests there are tasks of which nothing is recorded, by any tracer. A
 * trial shows them at once; else hours of recording would. */
static int last_recording_proves(struct store *db, const char *file,
				 struct last_recording *out, struct err *err)
{
	struct silent_tasks s RELEASED_BY(silent_tasks_release);
	int rc = silent_tasks_load(&s, db, file, err);

	if (!rc && (s.others || s.text))
		out->ftrace = s.others ? "may miss none"
				       : "hears interrupts in their context";
	if (!rc && s.others)
		snprintf(out->proves, sizeof(out->proves),
			 "%" PRIu64 " time%s records are missing without a "
			 "word: what 'path' proves will rest on that they are "
			 "missing only where it shows",
			 s.others, s.others == 1 ? "" : "s");
	else if (!rc && s.text)
		snprintf(out->proves, sizeof(out->proves),
			 "%s; 'path' will prove waits if only these are "
			 "missing",
			 s.text);
	else if (!rc && s.told)
		snprintf(out->proves, sizeof(out->proves),
			 "no record is missing without a word: 'path' will "
			 "prove what is not lost");
	return rc;
}

int last_recording_read(const char *file, const char *name, bool all,
			struct last_recording *out, struct err *err)
{
	int status = STATUS_OK;
	struct store *db OWNED_STORE =
		database_open(&(struct open_ask){ 0 }, file, &status, err);
	struct trust *t = NULL;
	bool failed = false;
	struct rows *r;
	int rc;

	*out = (struct last_recording){ .dump = 0 };
	if (!db)
		return err_while(err, "learning from the last capture");
	r = ROWS_BY(db, "record_learned", err, getpid(), getppid());
	if (rows_step(r)) {
		const char *others = rows_text(r, RECORD_LEARNED_OTHERS);
		const struct filter f = { .pid = all ? others : NULL };
		struct trust_counts n = { .all = 0 };

		if (!all || *others)
			t = trust_read(db, &f, err);
		failed = !t && (!all || *others);
		if (t)
			n = trust_count(t);
		/* perf 7.2 and 7.3 do not store the rest of it */
		unsigned int mb = loss_buffer_megabytes(
			rows_text(r, RECORD_LEARNED_CMDLINE));
		int64_t dump = rows_int(r, RECORD_LEARNED_DUMP);
		long long samples = n.all, cut = n.cut;
		long long lost = rows_int(r, RECORD_LEARNED_LOST);

		/* larger dumps lose more: room for them comes first */
		out->cut = cut > samples / CUT_OF && cut > lost &&
			   dump < DUMP_LARGEST;
		out->lost = lost;
		out->stacks = n.all;
		out->whole = n.whole;
		out->dump = (unsigned int)dump;
		out->megabytes = mb;
		if (out->cut && cut > samples / CUT_MOST_OF)
			out->dump = DUMP_LARGEST;
		else if (out->cut || dump < 0 || dump > DUMP_LARGEST)
			out->dump = last_recording_larger(dump, DUMP_USUAL / 2,
							  DUMP_LARGEST);
		if (lost || mb > MEGABYTES_MAX)
			out->megabytes = last_recording_larger(
				mb ? mb : dump / (DUMP_USUAL / MEGABYTES),
				MEGABYTES, MEGABYTES_MAX);
		if (name && out->cut)
			say("%s: %lld of %lld user stacks end with their dump: "
			    "dumps of %u bytes\n",
			    name, cut, samples, out->dump);
		if (name && lost)
			say("%s: %lld records were lost: buffers of %u MB\n",
			    name, lost, out->megabytes);
	}
	rc = rows_end(r, err) || failed ? -1 : 0;
	if (!rc && !name)
		rc = last_recording_proves(db, file, out, err);
	trust_free(t);
	return rc;
}
