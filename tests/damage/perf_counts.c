/* perf_counts.c - changes every length, count and offset of a perf.data.
 *
 * usage: damage-perf_counts CAPTURE N SEED: see tests/counts.h. Of the sizes of
 * records and the counts in them, N are taken, with this seed. Prints the
 * numbers of tries and of silent changes. */
#include "formats/perf/perf.h"
#include "tests/counts.h"

#define EVENTS 64

/* What the walk needs of an event. */
struct counted_event {
	uint64_t sample_type, read_format, branch_type, regs_user, regs_intr;
	uint64_t ids, n_ids; /* offset of the ids in the file, how many */
};

static struct counted_event event[EVENTS];
static size_t n_event;
static bool same_event; /* the ids are not needed */

static void counts_entry(struct counts *c, unsigned int width, const char *what)
{
	counts_note_entry(c,
			  &(struct count){ c->at, width, 0, width * 8, what });
}

/* Notes one of many fields at the place of the walk, and returns its value. */
static uint64_t counts_enter(struct counts *c, unsigned int width,
			     const char *what)
{
	counts_entry(c, width, what);
	return counts_take(c, width, NULL);
}

/* ---- events */

static void counts_event(struct counts *c, uint64_t at, uint64_t ids,
			 uint64_t n_ids)
{
	if (n_event == EVENTS)
		return;
	event[n_event++] = (struct counted_event){
		.sample_type = counts_get(c, at + 24, 8),
		.read_format = counts_get(c, at + 32, 8),
		.branch_type = counts_get(c, at + 72, 8),
		.regs_user = counts_get(c, at + 80, 8),
		.regs_intr = counts_get(c, at + 96, 8),
		.ids = ids,
		.n_ids = n_ids,
	};
	same_event =
		n_event == 1 ||
		(same_event && !memcmp(&event[n_event - 1], event,
				       offsetof(struct counted_event, ids)));
}

static const struct counted_event *counts_event_of(const struct counts *c,
						   uint64_t id)
{
	for (size_t i = 0; i < n_event; i++)
		for (uint64_t j = 0; j < event[i].n_ids; j++)
			if (counts_get(c, event[i].ids + j * 8, 8) == id)
				return &event[i];
	return n_event && same_event ? event : NULL;
}

/* ---- samples */

static void counts_registers(struct counts *c, uint64_t mask)
{
	if (counts_take(c, 8, NULL))
		counts_skip(c, 8 * (uint64_t)__builtin_popcountll(mask));
}

static void counts_read_values(struct counts *c, uint64_t format)
{
	uint64_t each = 1 + (format >> 2 & 1) + (format >> 4 & 1);
	uint64_t times = (format & 1) + (format >> 1 & 1);
	uint64_t n = 1;

	if (format & 8)
		n = counts_enter(c, 8, "values of a group");
	counts_skip(c, 8 * (times + n * each));
}

static void counts_stack(struct counts *c)
{
	uint64_t n = counts_enter(c, 8, "size of a stack");

	counts_skip(c, n);
	if (n)
		counts_enter(c, 8, "valid bytes of a stack");
}

static void counts_branches(struct counts *c, uint64_t type)
{
	uint64_t n = counts_enter(c, 8, "number of branches");

	counts_skip(c,
		    (type >> 17 & 1) * 8 + n * 24 + (type >> 19 & 1) * n * 8);
}

static void counts_sample(struct counts *c)
{
	static const uint64_t head[] = {
		PS_IP, PS_TID,	     PS_TIME, PS_ADDR,
		PS_ID, PS_STREAM_ID, PS_CPU,  PS_PERIOD
	};
	uint64_t t = n_event ? event->sample_type : 0;
	uint64_t at = t & PS_IDENTIFIER ? 0 : UINT64_MAX;

	for (size_t i = 0; i < 4 && at && t & PS_ID; i++)
		at = (at == UINT64_MAX ? 0 : at) + 8 * !!(t & head[i]);
	const struct counted_event *e = counts_event_of(
		c, at == UINT64_MAX ? 0 : counts_get(c, c->at + at, 8));

	if (!e)
		return;
	t = e->sample_type;
	counts_skip(c, t & PS_IDENTIFIER ? 8 : 0);
	for (size_t i = 0; i < sizeof(head) / sizeof(*head); i++)
		counts_skip(c, t & head[i] ? 8 : 0);
	if (t & PS_READ)
		counts_read_values(c, e->read_format);
	if (t & PS_CALLCHAIN)
		counts_skip(c, 8 * counts_enter(c, 8, "length of a chain"));
	if (t & PS_RAW)
		counts_skip(c, counts_enter(c, 4, "size of raw data"));
	if (t & PS_BRANCH)
		counts_branches(c, e->branch_type);
	if (t & PS_REGS_USER)
		counts_registers(c, e->regs_user);
	if (t & PS_STACK_USER)
		counts_stack(c);
}

/* ---- sections */

static void counts_string(struct counts *c)
{
	counts_skip(c, counts_take(c, 4, "length of a string"));
}

static void counts_descriptions(struct counts *c)
{
	uint64_t n = counts_take(c, 4, "number of events");
	uint64_t size = counts_take(c, 4, "size of attributes");

	for (; n && !c->bad; n--) {
		counts_skip(c, size);
		uint64_t ids = counts_take(c, 4, "number of ids");

		counts_string(c);
		counts_skip(c, ids * 8);
	}
}

static void counts_build_ids(struct counts *c, uint64_t end)
{
	while (c->at < end && !c->bad) {
		counts_skip(c, 6);
		uint64_t size = counts_take(c, 2, "size of a build-id entry");

		counts_skip(c, size - 8);
	}
}

static void counts_formats_perf(struct counts *c)
{
	for (uint64_t n = counts_take(c, 4, "number of formats"); n && !c->bad;
	     n--)
		counts_skip(c, counts_enter(c, 8, "length of a format"));
}

static void counts_tracing(struct counts *c)
{
	counts_skip(c, 10);
	counts_skip_text(c);
	counts_skip(c, 6);
	for (int i = 0; i < 2; i++) {
		counts_skip_text(c);
		counts_skip(c, counts_take(c, 8, "length of a header"));
	}
	counts_formats_perf(c);
	for (uint64_t n = counts_take(c, 4, "number of systems"); n && !c->bad;
	     n--) {
		counts_skip_text(c);
		counts_formats_perf(c);
	}
	for (int i = 0; i < 2; i++)
		counts_skip(c, counts_take(c, 4, "length of a text"));
	counts_skip(c, counts_take(c, 8, "length of the names"));
}

static void counts_feature(struct counts *c, unsigned int bit, uint64_t end)
{
	switch (bit) {
	case 1:
		counts_tracing(c);
		break;
	case 2:
		counts_build_ids(c, end);
		break;
	case 3:
	case 4:
	case 5:
	case 6:
	case 8:
		counts_string(c);
		break;
	case 11:
		for (uint64_t n = counts_take(c, 4, "number of arguments");
		     n && !c->bad; n--)
			counts_string(c);
		break;
	case 12:
		counts_descriptions(c);
		break;
	default:
		break;
	}
}

/* ---- records */

static void counts_attr(struct counts *c, uint64_t end)
{
	uint64_t at = c->at;

	c->at += 4;
	uint64_t size = counts_take(c, 4, "size of attributes");

	counts_event(c, at, at + size, (end - at - size) / 8);
}

/* Returns how many bytes follow the record. */
static uint64_t counts_tool(struct counts *c, uint32_t type, uint64_t end)
{
	uint64_t bit;

	switch (type) {
	case PR_HEADER_ATTR:
		counts_attr(c, end);
		return 0;
	case PR_TRACING_DATA:
		bit = counts_take(c, 4, "size of tracing data");
		c->at = end;
		counts_tracing(c);
		c->at = end;
		return (bit + 7) / 8 * 8;
	case PR_ID_INDEX:
	case PR_THREAD_MAP:
		counts_take(c, 8, "number of entries");
		return 0;
	case PR_AUXTRACE:
		return counts_take(c, 8, "size of AUX data");
	case PR_FEATURE:
		bit = counts_take(c, 8, NULL);
		if (c->at < end)
			counts_feature(c, (unsigned int)bit, end);
		return 0;
	case PR_COMPRESSED2:
		counts_entry(c, 8, "size of compressed data");
		return 0;
	default:
		return 0;
	}
}

static void counts_kernel(struct counts *c, uint32_t type, uint32_t misc)
{
	uint64_t at = c->at;

	switch (type) {
	case PR_SAMPLE:
		counts_sample(c);
		break;
	case PR_MMAP2:
		c->at = at + 32;
		if (misc & PM_BIT14)
			counts_entry(c, 1, "size of a build-id");
		break;
	case PR_NAMESPACES:
	case PR_CALLCHAIN_DEFERRED:
		c->at = at + 8;
		counts_entry(c, 8, "number of values");
		break;
	case PR_TEXT_POKE:
		c->at = at + 8;
		counts_enter(c, 2, "length of code");
		counts_entry(c, 2, "length of code");
		break;
	default:
		break;
	}
}

static void counts_records(struct counts *c, uint64_t end)
{
	while (c->at + 8 <= end && !c->bad) {
		uint64_t at = c->at;
		uint32_t type = (uint32_t)counts_get(c, at, 4);
		uint32_t misc = (uint32_t)counts_get(c, at + 4, 2);
		uint64_t next = 0;
		struct count size = { at + 6, 2, 0, 16, "size of a record" };

		c->at = at + 8;
		uint64_t to = at + counts_get(c, at + 6, 2);

		counts_note_entry(c, &size);
		if (type >= PR_TOOL)
			next = counts_tool(c, type, to);
		else
			counts_kernel(c, type, misc);
		c->bad |= to < at + 8;
		c->at = to + next;
	}
}

/* ---- the file */

static void counts_attrs(struct counts *c, uint64_t at, uint64_t len,
			 uint64_t size)
{
	for (uint64_t end = at + len; at < end; at += size) {
		counts_note(c, at + 4, 4, "size of attributes");
		counts_note(c, at + size - 16, 8, "offset of ids");
		counts_note(c, at + size - 8, 8, "size of ids");
		counts_event(c, at, counts_get(c, at + size - 16, 8),
			     counts_get(c, at + size - 8, 8) / 8);
	}
}

static void counts_features(struct counts *c, uint64_t at)
{
	uint64_t words[4];

	for (unsigned int i = 0; i < 4; i++)
		words[i] = counts_get(c, 72 + i * 8, 8);
	c->at = at;
	for (unsigned int bit = 0; bit < 256; bit++) {
		if (!(words[bit / 64] >> bit % 64 & 1))
			continue;
		uint64_t off = counts_take(c, 8, "offset of a section");
		uint64_t len = counts_take(c, 8, "size of a section");
		uint64_t next = c->at;

		c->at = off;
		if (len)
			counts_feature(c, bit, off + len);
		c->at = next;
	}
}

static void counts_find_perf(struct counts *c)
{
	c->big = c->data[0] == '2';
	c->at = 8;
	if (counts_take(c, 8, "size of the header") == 16) {
		counts_records(c, c->n);
		return;
	}
	uint64_t size = counts_take(c, 8, "size of an event");
	uint64_t attrs = counts_take(c, 8, "offset of events");
	uint64_t len = counts_take(c, 8, "size of events");
	uint64_t at = counts_take(c, 8, "offset of records");
	uint64_t n = counts_take(c, 8, "size of records");

	counts_attrs(c, attrs, len, size);
	c->at = at;
	counts_records(c, n ? at + n : c->n);
	if (n)
		counts_features(c, at + n);
}

int main(int argc, char **argv)
{
	return counts_main(argc, argv, "damage-perf_counts CAPTURE",
			   counts_find_perf);
}
