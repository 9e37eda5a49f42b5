/* firefox_out.c - a whole profile for the Firefox Profiler as JSON. */
#include "cli/export/firefox/firefox_out.h"

#include "cli/export/firefox/firefox.h"
#include "cli/export/firefox/firefox_marks.h"
#include "cli/export/firefox/firefox_threads.h"
#include "cli/samples/notes.h"
#include "cli/output/json.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/files/path.h"

#define NS_PER_MS 1000000u

static void firefox_out_put_note(void *arg, const char *line)
{
	struct json *j = arg;

	json_break(j);
	json_object(j, NULL);
	json_text(j, "label", "Note");
	json_text(j, "format", "string");
	json_text(j, "value", line);
	json_end(j);
}

/* Returns the mean interval of samples of time in ns; of others it is not
 * known.
 */
static uint64_t interval(const struct firefox_doc *d)
{
	if (d->is_time && d->samples && d->weight / d->samples)
		return d->weight / d->samples;
	return NS_PER_MS;
}

static int firefox_out_put_meta(struct json *j, struct store *db,
				const struct firefox_doc *d, struct err *err)
{
	json_object(j, "meta");
	json_int(j, "version", FIREFOX_GECKO_VERSION);
	json_int(j, "preprocessedProfileVersion", FIREFOX_VERSION);
	json_break(j);
	json_shown(j, "product", path_name(d->path));
	json_text(j, "importedFrom", "backstitch");
	json_shown(j, "arguments", d->event);
	json_break(j);
	json_int(j, "startTime", 0);
	json_int(j, "profilingStartTime", 0);
	/* The profiler leaves out what is at the end: it is one interval later.
	 */
	firefox_put_ms(j, "profilingEndTime",
		       firefox_duration(d->threads) + interval(d));
	json_break(j);
	firefox_put_ms(j, "interval", interval(d));
	json_int(j, "processType", 0);
	json_int(j, "stackwalk", 1);
	json_bool(j, "symbolicated", true);
	json_break(j);
	json_bool(j, "sourceCodeIsNotOnSearchfox", true);
	json_bool(j, "usesOnlyOneStackType", true);
	json_break(j);
	json_object(j, "sampleUnits");
	json_text(j, "time", "ms");
	json_text(j, "eventDelay", "ms");
	json_text(j, "threadCPUDelta", "ns");
	json_end(j);
	json_break(j);
	json_array(j, "initialSelectedThreads");
	json_uint(j, NULL, firefox_heaviest(d->threads));
	json_end(j);
	json_break(j);
	firefox_put_categories(j);
	json_break(j);
	firefox_put_mark_schema(j);
	json_break(j);
	/* The profiler shows notes with its own facts about the profile. */
	json_array(j, "extra");
	json_object(j, NULL);
	json_text(j, "label", "Capture and losses");
	json_array(j, "entries");
	if (notes_each(db, firefox_out_put_note, j, err))
		return -1;
	json_end(j);
	json_end(j);
	json_end(j);
	json_end(j);
	return 0;
}

/* The shared tables come last, as threads add strings to them. */
int firefox_write(FILE *out, struct store *db, const struct firefox_doc *d,
		  struct err *err)
{
	const struct firefox_weights w = { d->weighted, d->is_time };
	struct json j;

	json_open(&j, out, JSON_COMPACT);
	json_object(&j, NULL);
	if (firefox_out_put_meta(&j, db, d, err))
		return -1;
	json_break(&j);
	firefox_put_threads(d->threads, d->f, &w, &j);
	json_break(&j);
	firefox_put_libs(d->f, &j);
	json_break(&j);
	firefox_put_shared(d->f, &j);
	json_end(&j);
	json_newline(&j);
	return 0;
}
