/* perfdata_head.c - the event types in front of the records of a perf.data
 * file, and the feature sections after them. */

#include "analyze/samples/code.h"
#include "cli/export/perfdata/perfdata.h"
#include "stitch/base/mem.h"
#include "stitch/order/clocks.h"

#define ATTR_SIZE 112u /* PERF_ATTR_SIZE_VER5: of Linux 4.1 */
#define TYPE_SOFTWARE 1u
#define TYPE_TRACEPOINT 2u
/* Other events become software events that no kernel has: perf prints no stacks
 * of "dummy", the software event for such cases. */
#define SW_DUMMY 9u
#define SW_OTHER 0x1000u

/* Bits of sample_type. */
#define S_IP 0x1u
#define S_TID 0x2u
#define S_TIME 0x4u
#define S_CALLCHAIN 0x20u
#define S_CPU 0x80u
#define S_PERIOD 0x100u
#define S_RAW 0x400u
#define S_IDENTIFIER 0x10000u

/* Bits of the attribute's flags. */
#define A_MMAP ((uint64_t)1 << 8)
#define A_COMM ((uint64_t)1 << 9)
#define A_FREQ ((uint64_t)1 << 10)
#define A_TASK ((uint64_t)1 << 13)
#define A_SAMPLE_ID_ALL ((uint64_t)1 << 18)
#define A_MMAP2 ((uint64_t)1 << 23)
#define A_COMM_EXEC ((uint64_t)1 << 24)
#define A_USE_CLOCKID ((uint64_t)1 << 25)
#define A_CONTEXT_SWITCH ((uint64_t)1 << 26)
#define A_KSYMBOL ((uint64_t)1 << 29)

/* Set in a build-id entry that has the length of its id. */
#define HAS_ID_SIZE (1u << 15)

/* Feature bits that all readers know. */
enum feature {
	F_TRACING_DATA = 1,
	F_BUILD_ID,
	F_HOSTNAME,
	F_OSRELEASE,
	F_VERSION,
	F_ARCH,
	F_NRCPUS,
	F_CMDLINE = 11,
	F_EVENT_DESC = 12,
	F_SAMPLE_TIME = 21,
	F_CLOCKID = 23,
	F_CLOCK_DATA = 29,
	F_N = 32,
};

void pd_text(struct blob *b, const char *s, size_t max, size_t align)
{
	size_t len = strnlen(s, max);
	size_t all = (len + align) / align * align;
	unsigned char *p = blob_room(b, all);

	memcpy(p, s, len);
	memset(p + len, 0, all - len);
}

/* Adds a string after its length, as in feature sections. */
static void pd_string(struct blob *b, const char *s)
{
	size_t at = b->n;

	blob_u32(b, 0);
	pd_text(b, s, PD_NAME_MAX, 64);
	blob_set(b, at, b->n - at - 4, 4);
}

static const struct pd_event no_event = { .name = "dummy",
					  .type = TYPE_SOFTWARE,
					  .config = SW_DUMMY };

static const struct pd_capture *main_capture(const struct perfdata *pd)
{
	static const struct pd_capture none;

	return pd->n_capture ? &pd->capture[0] : &none;
}

/* Returns the clockid of the times; -1: perf's default clock, or unknown. */
static int clockid(const struct perfdata *pd)
{
	static const struct {
		enum clock_id id;
		int number;
	} known[] = {
		{ CLOCK_ID_REAL, 0 },	  { CLOCK_ID_MONO, 1 },
		{ CLOCK_ID_MONO_RAW, 4 }, { CLOCK_ID_BOOT, 7 },
		{ CLOCK_ID_TAI, 11 },
	};
	enum clock_id id = clock_id_of(main_capture(pd)->clock);

	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		if (known[i].id == id)
			return known[i].number;
	return -1;
}

static void pd_head_put_attr(const struct perfdata *pd,
			     const struct pd_event *e, struct blob *b)
{
	size_t at = b->n;
	/* A tracepoint without the format of its fields cannot be opened, and
	 * events of other tracers do not exist for perf. */
	const char *format = e->capture && e->capture <= pd->n_capture
				     ? pd->capture[e->capture - 1].format
				     : NULL;

	bool perfs = e == &no_event || e->raw ||
		     (e->type != TYPE_TRACEPOINT && format &&
		      !strcmp(format, "perf"));
	int clock = clockid(pd);
	uint64_t sample_type = S_IP | S_TID | S_PERIOD | S_IDENTIFIER;
	uint64_t flags = A_MMAP | A_COMM | A_TASK | A_SAMPLE_ID_ALL | A_MMAP2 |
			 A_COMM_EXEC | A_KSYMBOL;

	if (pd->timed)
		sample_type |= S_TIME;
	if (pd->on_cpu)
		sample_type |= S_CPU;
	if (e->chain)
		sample_type |= S_CALLCHAIN;
	if (e->raw)
		sample_type |= S_RAW;
	if (e->freq)
		flags |= A_FREQ;
	if (clock >= 0)
		flags |= A_USE_CLOCKID;
	if (pd->switches)
		flags |= A_CONTEXT_SWITCH;
	blob_u32(b, perfs ? e->type : TYPE_SOFTWARE);
	blob_u32(b, ATTR_SIZE);
	blob_u64(b, perfs ? e->config : SW_OTHER + e->id);
	blob_u64(b, e->period);
	blob_u64(b, sample_type);
	blob_u64(b, 0); /* read_format */
	blob_u64(b, flags);
	while (b->n < at + 92)
		blob_u32(b, 0);
	blob_u32(b, clock >= 0 ? (uint32_t)clock : 0);
	while (b->n < at + ATTR_SIZE)
		blob_u32(b, 0);
}

/* Calls the function for each event of the file, ordered by id. */
static void each_event(const struct perfdata *pd, struct blob *b,
		       void (*fn)(const struct perfdata *pd,
				  const struct pd_event *e, uint64_t id,
				  struct blob *b))
{
	if (!pd->n_id)
		fn(pd, &no_event, 1, b);
	for (size_t i = 0; i < pd->n_event; i++)
		if (pd->event[i].id)
			fn(pd, &pd->event[i], pd->event[i].id, b);
}

static void pd_head_put_id(const struct perfdata *pd UNUSED,
			   const struct pd_event *e UNUSED, uint64_t id,
			   struct blob *b)
{
	blob_u64(b, id);
}

/* Adds the attribute of an event, and the position of its only id. */
static void pd_head_put_entry(const struct perfdata *pd,
			      const struct pd_event *e, uint64_t id,
			      struct blob *b)
{
	pd_head_put_attr(pd, e, b);
	blob_u64(b, 104 + (id - 1) * 8);
	blob_u64(b, 8);
}

void perfdata_attrs(struct perfdata *pd, struct blob *b)
{
	each_event(pd, b, pd_head_put_id);
	each_event(pd, b, pd_head_put_entry);
}

static void put_desc(const struct perfdata *pd, const struct pd_event *e,
		     uint64_t id, struct blob *b)
{
	pd_head_put_attr(pd, e, b);
	blob_u32(b, 1);
	pd_string(b, e->name);
	blob_u64(b, id);
}

/* Adds nothing if the value is not known. */
static void pd_head_put_feature(const struct perfdata *pd, enum feature f,
				struct blob *b)
{
	const struct pd_capture *c = main_capture(pd);
	const char *const text[F_N] = {
		[F_HOSTNAME] = c->host,
		[F_OSRELEASE] = c->release,
		[F_VERSION] = "backstitch",
		[F_ARCH] = c->arch,
	};

	if (text[f])
		pd_string(b, text[f]);
	else if (f == F_TRACING_DATA)
		blob_add(b, pd->tracing.at, pd->tracing.n);
	else if (f == F_BUILD_ID) {
		for (size_t i = 1; i < pd->code->n_image; i++) {
			const struct image *img = &pd->code->image[i].img;
			bool kernel = image_is_kernel(img->kind);
			size_t at = b->n;

			if (!img->id_len || img->kind == IMAGE_JIT)
				continue;
			blob_u32(b, 0);
			blob_u16(b,
				 (kernel ? PD_KERNEL : PD_USER) | HAS_ID_SIZE);
			blob_u16(b, 0);
			blob_u32(b, UINT32_MAX);
			blob_add(b, img->id, 20);
			blob_u32(b, img->id_len);
			pd_text(b, img->path, PD_NAME_MAX, 64);
			blob_set(b, at + 6, b->n - at, 2);
		}
	} else if (f == F_NRCPUS) {
		int64_t n = main_capture(pd)->cpus;

		if (n <= pd->max_cpu)
			n = pd->max_cpu + 1;
		blob_u32(b, (uint32_t)n);
		blob_u32(b, (uint32_t)n);
	} else if (f == F_CMDLINE && c->cmdline) {
		const char *line = c->cmdline;
		size_t at = b->n;
		uint32_t n = 0;

		blob_u32(b, 0);
		while (*line) {
			char word[512];
			size_t len = strcspn(line, " ");
			size_t keep =
				len < sizeof(word) ? len : sizeof(word) - 1;

			memcpy(word, line, keep);
			word[keep] = '\0';
			pd_string(b, word);
			n++;
			line += len + (line[len] == ' ');
		}
		blob_set(b, at, n, 4);
	} else if (f == F_EVENT_DESC) {
		blob_u32(b, pd->n_id ? pd->n_id : 1);
		blob_u32(b, ATTR_SIZE);
		each_event(pd, b, put_desc);
	} else if (f == F_SAMPLE_TIME) {
		blob_u64(b, pd->timed ? (uint64_t)pd->first : 0);
		blob_u64(b, pd->timed ? (uint64_t)pd->last : 0);
	} else if (f == F_CLOCKID && clockid(pd) >= 0)
		blob_u64(b, 1); /* ns */
	else if (f == F_CLOCK_DATA) {
		/* Adds the same moment on the file's clock and since 1970,
		 * for times of day. */
		const struct pd_capture *one = main_capture(pd);
		int64_t wall;

		if (!one->has_wall || !pd->timed || clockid(pd) < 0 ||
		    __builtin_add_overflow(pd->first, one->wall_offset, &wall))
			return;
		blob_u32(b, 1);
		blob_u32(b, (uint32_t)clockid(pd));
		blob_u64(b, (uint64_t)wall);
		blob_u64(b, (uint64_t)pd->first);
	}
}

void perfdata_features(struct perfdata *pd, struct blob *b, uint64_t at,
		       uint64_t features[4])
{
	struct blob body = { 0 };
	size_t start[F_N + 1];
	uint64_t n = 0;

	for (unsigned int f = 0; f < F_N; f++) {
		start[f] = body.n;
		pd_head_put_feature(pd, f, &body);
		if (body.n > start[f]) {
			features[0] |= (uint64_t)1 << f;
			n++;
		}
	}
	start[F_N] = body.n;
	for (unsigned int f = 0; f < F_N; f++)
		if (start[f + 1] > start[f]) {
			blob_u64(b, at + n * 16 + start[f]);
			blob_u64(b, start[f + 1] - start[f]);
		}
	blob_add(b, body.at, body.n);
	blob_release(&body);
}
