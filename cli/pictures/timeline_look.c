/* timeline_look.c - how the things in a timeline look, and what they are.
 *
 * Colours are Okabe and Ito's, made darker or lighter until they are read on
 * the page; no two kinds differ by colour alone. */
#include "cli/output/human.h"
#include "cli/pictures/timeline_look.h"

#include <ctype.h>
#include <string.h>

const struct timeline_look timeline_marks[MARK_KINDS] = {
	[MARK_FINDING] = { "finding", "violet", "",
			   "what must not happen in a trace" },
	[MARK_CHAIN_LOST] = { "chain_lost", "red", "",
			      "request whose chain was lost: records were "
			      "dropped meanwhile" },
	[MARK_UNJOINABLE] = { "unjoinable", "pink", "line",
			      "request with the marker but without a cookie" },
	[MARK_STRIPPED] = { "stripped", "brown", "",
			    "request in a file whose chains were removed" },
	[MARK_EXIT_PER_TASK] = { "exit_per_task", "green", "",
				 "request of a thread that ended before its "
				 "chain could be written" },
	[MARK_PENDING_END] = { "pending_end", "blue", "",
			       "request still in the kernel when the capture "
			       "ended" },
	[MARK_UNWINDER] = { "no answer", "brown", "line",
			    "request to a process that unwinds itself: it had "
			    "not opted in, was at it already, or gave up" },
	[MARK_UNEXPLAINED] = { "unexplained", "black", "",
			       "request without a chain, and without a "
			       "reason" },
	[MARK_NO_SAMPLE] = { "chain: sample_lost", "red", "hollow",
			     "chain whose samples were lost" },
	[MARK_OVERWRITTEN] = { "chain: overwritten", "blue", "hollow",
			       "chain whose samples were overwritten in the "
			       "ring" },
	[MARK_FOREIGN] = { "chain: foreign", "green", "hollow",
			   "chain that another session asked for" },
	[MARK_DUPLICATE] = { "chain: duplicate", "brown", "hollow",
			     "chain that was there already" },
	[MARK_NO_COOKIE] = { "chain: unjoinable", "pink", "hollow",
			     "chain whose samples carry no cookie" },
	[MARK_NO_REASON] = { "chain: unexplained", "black", "hollow",
			     "chain without a sample, and without a reason" },
};

const struct timeline_look timeline_bands[BAND_KINDS] = {
	[BAND_LOST] = { "lost", "lost", "",
			"records dropped: the ring was full" },
	[BAND_OVERWRITTEN] = { "overwritten", "overwritten", "",
			       "the ring overwrote its oldest records" },
	[BAND_DAMAGE] = { "damage", "damage", "",
			  "a part of the file could not be read" },
	[BAND_OTHER] = { "other", "other", "", "not recorded" },
	[BAND_FILTERED] = { "filtered", "filtered", "",
			    "dropped by a filter, on purpose" },
	[BAND_THROTTLED] = { "throttled", "throttled", "",
			     "the kernel stopped the event" },
	[BAND_GAP_LOST] = { "missing cookies: lost", "gap0", "",
			    "counters of cookies that no record has; a loss "
			    "explains them" },
	[BAND_GAP_UNCOUNTED] = { "missing cookies: uncounted", "gap1", "",
				 "counters of cookies that no record has, and "
				 "no loss explains them" },
	[BAND_GAP_FOREIGN] = { "missing cookies: lost or foreign", "gap2", "",
			       "counters of cookies that no record has: lost, "
			       "or asked for by somebody else" },
};

const char *timeline_untimed_says(const char *what)
{
	static const char *const says[][2] = {
		{ "lost_total", "the recorder's own count at the end; not "
				"added to those with a time" },
		{ "filtered", "dropped by a filter, on purpose" },
		{ "damage", "a part of the file could not be read" },
		{ "aux", "AUX data was cut" },
	};

	for (size_t i = 0; i < sizeof(says) / sizeof(*says); i++)
		if (!strcmp(says[i][0], what))
			return says[i][1];
	return NULL;
}

/* Paths that start in the middle and reach 4 px to each side. */
static const char *const shape[MARK_KINDS] = {
	[MARK_FINDING] = "m-4-4h8l-4 8z",
	[MARK_CHAIN_LOST] = "m-1-4h2v8h-2z",
	[MARK_UNJOINABLE] = "m-3-3l6 6m0-6l-6 6",
	[MARK_STRIPPED] = "m-4-1h8v2h-8z",
	[MARK_EXIT_PER_TASK] = "m-3-3h6v6h-6z",
	[MARK_PENDING_END] = "m-3 0a3 3 0 0 0 6 0a3 3 0 0 0-6 0z",
	[MARK_UNWINDER] = "m0-4v8m-4-4h8",
	[MARK_UNEXPLAINED] = "m0-4l4 4l-4 4l-4-4z",
	[MARK_NO_SAMPLE] = "m-2-4h4v8h-4z",
	[MARK_OVERWRITTEN] = "m-3 0a3 3 0 0 0 6 0a3 3 0 0 0-6 0z",
	[MARK_FOREIGN] = "m0-4l4 8h-8z",
	[MARK_DUPLICATE] = "m-3-3h6v6h-6z",
	[MARK_NO_COOKIE] = "m-1-4h2v3h3v2h-3v3h-2v-3h-3v-2h3z",
	[MARK_NO_REASON] = "m0-4l4 4l-4 4l-4-4z",
};

void timeline_shape(FILE *out, enum timeline_mark_kind kind, unsigned int x,
		    unsigned int y, unsigned int radius)
{
	fprintf(out, "M%u %u", x, y);
	for (const char *s = shape[kind]; *s; s++) {
		if (!isdigit((unsigned char)*s)) {
			putc(*s, out);
			continue;
		}
		/* every number has one digit; the flags of an arc are 0, so
		 * scaling keeps them */
		human_put_fixed(out, (uint64_t)(*s - '0') * radius, 4,
				(unsigned int)(*s - '0') * radius % 4 ? 2 : 0);
	}
}

void timeline_hatching(FILE *out)
{
	static const struct {
		const char *id;
		unsigned int size, angle;
		const char *body;
	} hatch[] = {
		{ "lost", 5, 45, "M0 0h5" },
		{ "overwritten", 6, 135, "M0 0h6" },
		{ "damage", 6, 0, "M0 0l6 6M6 0l-6 6" },
		{ "other", 6, 0, "M1 1h2M4 4h2" },
		{ "throttled", 3, 0, "M0 1h3" },
		{ "gap0", 3, 45, "M0 0v3" },
		{ "gap1", 2, 0, "M0 0v3" },
		{ "gap2", 4, 135, "M0 0v4" },
	};

	for (size_t i = 0; i < sizeof(hatch) / sizeof(*hatch); i++)
		fprintf(out,
			"<pattern id=\"%s\" width=\"%u\" height=\"%u\" "
			"patternUnits=\"userSpaceOnUse\" "
			"patternTransform=\"rotate(%u)\">"
			"<rect class=\"under %s\" width=\"%u\" height=\"%u\"/>"
			"<path class=\"over %s\" d=\"%s\"/></pattern>\n",
			hatch[i].id, hatch[i].size, hatch[i].size,
			hatch[i].angle, hatch[i].id, hatch[i].size,
			hatch[i].size, hatch[i].id, hatch[i].body);
}
