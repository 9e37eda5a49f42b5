/* perfdata_records.c - writes the bytes and records of a perf.data file. */
#include <errno.h>

#include "cli/export/perfdata/perfdata.h"
#include "analyze/samples/code.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/user_mask.h"
#include "stitch/order/clocks.h"

/* ---- the event types in front of the records, and the feature sections after
 * them */

#define ATTR_SIZE 112u /* PERF_ATTR_SIZE_VER5: of Linux 4.1 */
#define TYPE_SOFTWARE 1u
/* Other events become software events that no kernel has: perf prints no stacks
 * of "dummy", the software event for such cases. */
#define SW_DUMMY 9u
#define SW_OTHER 0x1000u

/* Bits of the attribute's flags that our reader does not ask for. */
#define A_COMM ((uint64_t)1 << 9)
#define A_TASK ((uint64_t)1 << 13)
#define A_MMAP2 ((uint64_t)1 << 23)
#define A_COMM_EXEC ((uint64_t)1 << 24)
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
		     (e->type != PERF_TYPE_TRACEPOINT && format &&
		      !strcmp(format, "perf"));
	int clock = clockid(pd);
	uint64_t sample_type = PS_IP | PS_TID | PS_PERIOD | PS_IDENTIFIER;
	uint64_t flags = PA_MMAP | A_COMM | A_TASK | PA_SAMPLE_ID_ALL |
			 A_MMAP2 | A_COMM_EXEC | A_KSYMBOL;

	if (pd->timed)
		sample_type |= PS_TIME;
	if (pd->on_cpu)
		sample_type |= PS_CPU;
	if (e->chain)
		sample_type |= PS_CALLCHAIN;
	if (e->raw)
		sample_type |= PS_RAW;
	if (e->freq)
		flags |= PA_FREQ;
	if (clock >= 0)
		flags |= PA_USE_CLOCKID;
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
				 (kernel ? PM_KERNEL : PM_USER) | HAS_ID_SIZE);
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

/* Adds the feature sections and the table in front of them, for a file in which
 * they start at `at`. Stores the bits of the features. */
static void perfdata_features(struct perfdata *pd, struct blob *b, uint64_t at,
			      uint64_t features[4])
{
	struct blob body RELEASED_BY(blob_release) = { 0 };
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
}

/* ---- the file, and its records */

#define HEADER_SIZE 104u
#define ATTR_ENTRY 128u
#define FLUSH_AT (1u << 18)
/* perf holds records back until the next round is finished. */
#define ROUND 8192u

static int perfdata_write_all(struct perfdata *pd, const struct blob *b,
			      struct err *err)
{
	if (b->n && fwrite(b->at, b->n, 1, pd->out) != 1)
		return err_set(err, ERR_IO, "cannot write perf.data: %s",
			       strerror(errno));
	return 0;
}

int perfdata_open(struct perfdata *pd, FILE *out, struct err *err)
{
	struct blob b RELEASED_BY(blob_release) = { 0 };

	pd->out = out;
	for (size_t i = 0; i < pd->n_event; i++)
		if (pd->event[i].n && pd->event[i].sample)
			pd->event[i].id = ++pd->n_id;
	memset(blob_room(&b, HEADER_SIZE), 0, HEADER_SIZE);
	each_event(pd, &b, pd_head_put_id);
	each_event(pd, &b, pd_head_put_entry);
	pd->data_at = b.n;
	return perfdata_write_all(pd, &b, err);
}

static void perfdata_flush(struct perfdata *pd)
{
	/* write errors are reported at the end */
	if (pd->buf.n)
		(void)!fwrite(pd->buf.at, 1, pd->buf.n, pd->out);
	pd->written += pd->buf.n;
	pd->buf.n = 0;
}

int perfdata_finish(struct perfdata *pd, struct err *err)
{
	uint64_t n = pd->n_id ? pd->n_id : 1;
	uint64_t features[4] = { 0 };
	struct blob b RELEASED_BY(blob_release) = { 0 };

	perfdata_flush(pd);
	perfdata_features(pd, &b, pd->data_at + pd->written, features);
	int rc = perfdata_write_all(pd, &b, err);
	b.n = 0;
	blob_add(&b, "PERFILE2", 8);
	blob_u64(&b, HEADER_SIZE);
	blob_u64(&b, ATTR_ENTRY);
	blob_u64(&b, HEADER_SIZE + n * 8); /* after the ids */
	blob_u64(&b, n * ATTR_ENTRY);
	blob_u64(&b, pd->data_at);
	blob_u64(&b, pd->written);
	blob_u64(&b, 0);
	blob_u64(&b, 0);
	for (size_t i = 0; i < 4; i++)
		blob_u64(&b, features[i]);
	if (!rc && fseeko(pd->out, 0, SEEK_SET))
		rc = err_set(err, ERR_IO, "cannot write perf.data: %s",
			     strerror(errno));
	if (!rc)
		rc = perfdata_write_all(pd, &b, err);
	if (!rc && (ferror(pd->out) || fseeko(pd->out, 0, SEEK_END)))
		rc = err_set(err, ERR_IO, "cannot write perf.data");
	return rc;
}

struct blob *perfdata_begin(struct perfdata *pd, uint32_t type,
			    unsigned int misc)
{
	pd->rec = pd->buf.n;
	blob_u32(&pd->buf, type);
	blob_u16(&pd->buf, (uint16_t)misc);
	blob_u16(&pd->buf, 0);
	return &pd->buf;
}

static void set_size(struct perfdata *pd)
{
	blob_set(&pd->buf, pd->rec + 6, pd->buf.n - pd->rec, 2);
}

void perfdata_end_sample(struct perfdata *pd)
{
	set_size(pd);
	if (++pd->n_round == ROUND) {
		pd->n_round = 0;
		perfdata_begin(pd, PR_FINISHED_ROUND, 0);
		set_size(pd);
	}
	if (pd->buf.n >= FLUSH_AT)
		perfdata_flush(pd);
}

/* perf does not accept negative times. */
static uint64_t perfdata_time_of(const struct pd_when *w)
{
	return w->time < 0 ? 0 : (uint64_t)w->time;
}

void perfdata_end(struct perfdata *pd, const struct pd_when *w)
{
	struct blob *b = &pd->buf;

	blob_u32(b, (uint32_t)w->pid);
	blob_u32(b, (uint32_t)w->tid);
	if (pd->timed)
		blob_u64(b, perfdata_time_of(w));
	if (pd->on_cpu)
		blob_u64(b, (uint32_t)w->cpu);
	blob_u64(b, w->id ? w->id : 1);
	perfdata_end_sample(pd);
}

void perfdata_sample(struct perfdata *pd, unsigned int misc, uint64_t ip,
		     uint64_t period, const struct pd_when *w)
{
	struct blob *b = perfdata_begin(pd, PR_SAMPLE, misc);

	blob_u64(b, w->id);
	blob_u64(b, ip);
	blob_u32(b, (uint32_t)w->pid);
	blob_u32(b, (uint32_t)w->tid);
	if (pd->timed)
		blob_u64(b, perfdata_time_of(w));
	if (pd->on_cpu)
		blob_u64(b, (uint32_t)w->cpu);
	blob_u64(b, period);
}

static const char *text_or_null(struct perfdata *pd, const struct rows *r,
				size_t i)
{
	const char *s = rows_text(r, i);

	return *s ? arena_strdup(&pd->texts, s) : NULL;
}

static int perfdata_read_events(struct perfdata *pd, struct err *err)
{
	struct rows *r = rows_dense(pd->db, "perfdata_events", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, PERFDATA_EVENTS_NAME);
		struct pd_event e = {
			.name = arena_strdup(&pd->texts, name),
			.capture =
				(uint32_t)rows_int(r, PERFDATA_EVENTS_CAPTURE),
			.sample = rows_int(r, PERFDATA_EVENTS_IS_SAMPLE),
			.type = (uint32_t)rows_int(r, PERFDATA_EVENTS_TYPE),
			.config = (uint64_t)rows_int(r, PERFDATA_EVENTS_CONFIG),
			.period = (uint64_t)rows_int(r, PERFDATA_EVENTS_PERIOD),
			.freq = rows_int(r, PERFDATA_EVENTS_FREQ),
			.chain = rows_int(r, PERFDATA_EVENTS_HAS_CHAIN),
			.format = text_or_null(pd, r, PERFDATA_EVENTS_FORMAT),
			.payload = rows_int(r, PERFDATA_EVENTS_HAS_PAYLOAD),
		};

		*mem_add(pd->event, pd->n_event, pd->cap_event) = e;
	}
	return rows_end(r, err);
}

struct perfdata *perfdata_new(struct store *db, const struct known_code *code,
			      struct err *err)
{
	struct perfdata *pd = mem_new(1, sizeof(*pd));

	pd->db = db;
	pd->code = code;
	struct rows *r = rows_dense(pd->db, "perfdata_captures", err);

	while (rows_step(r)) {
		struct value wall =
			rows_value(r, PERFDATA_CAPTURES_WALL_OFFSET_NS);
		struct pd_capture c = {
			.format = text_or_null(pd, r, PERFDATA_CAPTURES_FORMAT),
			.host = text_or_null(pd, r, PERFDATA_CAPTURES_HOST),
			.release =
				text_or_null(pd, r, PERFDATA_CAPTURES_RELEASE),
			.arch = text_or_null(pd, r, PERFDATA_CAPTURES_ARCH),
			.cmdline =
				text_or_null(pd, r, PERFDATA_CAPTURES_CMDLINE),
			.cpus = rows_int(r, PERFDATA_CAPTURES_CPUS),
			.clock = text_or_null(pd, r, PERFDATA_CAPTURES_CLOCK),
			.big_endian = rows_int(r, PERFDATA_CAPTURES_BIG_ENDIAN),
			.has_wall = wall.kind == VALUE_INT,
			.wall_offset = wall.num,
		};

		c.long32 = c.arch && payloads_long32(c.arch);
		c.user_mask = user_mask_of(c.arch);
		*mem_add(pd->capture, pd->n_capture, pd->cap_capture) = c;
	}
	if (!rows_end(r, err) && !perfdata_read_events(pd, err))
		return pd;
	perfdata_free(pd);
	return NULL;
}

void perfdata_free(struct perfdata *pd)
{
	if (!pd)
		return;
	arena_release(&pd->texts);
	free_all(pd->buf.at, pd->tracing.at, pd->event, pd->capture, pd);
}

const struct pd_event *perfdata_event(const struct perfdata *pd, int64_t type)
{
	static const struct pd_event none = { .name = "" };

	return type >= 1 && (uint64_t)type <= pd->n_event ? &pd->event[type - 1]
							  : &none;
}
