/* firefox_out.c - a whole profile for the Firefox Profiler as JSON. */
#include "cli/export/firefox/firefox_out.h"

#include <inttypes.h>
#include <string.h>

#include "cli/export/firefox/firefox.h"
#include "cli/export/firefox/firefox_marks.h"
#include "cli/export/firefox/firefox_threads.h"
#include "cli/model/notes.h"
#include "cli/output/human.h"
#include "cli/output/json.h"
#include "cli/output/safe_text.h"
#include "schema/store.h"
#include "stitch/base/err.h"

#define NS_PER_MS 1000000u

struct notes_out {
	FILE *out;
	bool more;
};

static void firefox_out_put_note(void *arg, const char *line)
{
	struct notes_out *n = arg;
	struct json j;

	fputs(n->more ? ",\n" : "\n", n->out);
	json_open(&j, n->out, JSON_COMPACT);
	json_object(&j, NULL);
	json_text(&j, "label", "Note");
	json_text(&j, "format", "string");
	json_text(&j, "value", line);
	json_end(&j);
	n->more = true;
}

/* The profiler shows them with its own facts about the profile. */
static int firefox_out_put_notes(FILE *out, struct store *db, struct err *err)
{
	struct notes_out n = { out, false };

	fputs("\"extra\":[{\"label\":\"Capture and losses\",\"entries\":[",
	      out);
	if (notes_each(db, firefox_out_put_note, &n, err))
		return -1;
	fputs("]}]", out);
	return 0;
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

/* The profiler leaves out what is at the end: it is one interval later. */
static void put_range(FILE *out, const struct firefox_doc *d)
{
	fputs("\"startTime\":0,\"profilingStartTime\":0,"
	      "\"profilingEndTime\":",
	      out);
	human_put_fixed(out, firefox_duration(d->threads) + interval(d),
			NS_PER_MS, 6);
	fputs(",\n\"interval\":", out);
	human_put_fixed(out, interval(d), NS_PER_MS, 6);
}

static void firefox_out_put_name(FILE *out, const struct firefox_doc *d)
{
	const char *slash = strrchr(d->path, '/');

	fputs("\"product\":", out);
	safe_text_json(out, slash && slash[1] ? slash + 1 : d->path);
	fputs(",\"importedFrom\":\"backstitch\",\"arguments\":", out);
	safe_text_json(out, d->event);
}

static int firefox_out_put_meta(FILE *out, struct store *db,
				const struct firefox_doc *d, struct err *err)
{
	fprintf(out,
		"\"meta\":{\"version\":%d,\"preprocessedProfileVersion\":%d,\n",
		FIREFOX_GECKO_VERSION, FIREFOX_VERSION);
	firefox_out_put_name(out, d);
	fputs(",\n", out);
	put_range(out, d);
	fputs(",\"processType\":0,\"stackwalk\":1,\"symbolicated\":true,\n"
	      "\"sourceCodeIsNotOnSearchfox\":true,"
	      "\"usesOnlyOneStackType\":true,\n"
	      "\"sampleUnits\":{\"time\":\"ms\",\"eventDelay\":\"ms\","
	      "\"threadCPUDelta\":\"ns\"},\n",
	      out);
	fprintf(out, "\"initialSelectedThreads\":[%" PRIu32 "],\n",
		firefox_heaviest(d->threads));
	firefox_put_categories(out);
	fputs(",\n", out);
	firefox_put_mark_schema(out);
	fputs(",\n", out);
	if (firefox_out_put_notes(out, db, err))
		return -1;
	putc('}', out);
	return 0;
}

/* The shared tables come last, as threads add strings to them. */
int firefox_write(FILE *out, struct store *db, const struct firefox_doc *d,
		  struct err *err)
{
	const struct firefox_weights w = { d->weighted, d->is_time };

	fputs("{", out);
	if (firefox_out_put_meta(out, db, d, err))
		return -1;
	fputs(",\n", out);
	firefox_put_threads(d->threads, d->f, &w, out);
	fputs(",\n", out);
	firefox_put_libs(d->f, out);
	fputs(",\n", out);
	firefox_put_shared(d->f, out);
	fputs("}\n", out);
	return 0;
}
