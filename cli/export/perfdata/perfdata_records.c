/* perfdata_records.c - writes the bytes and records of a perf.data file. */
#include "cli/export/perfdata/perfdata.h"

#include <errno.h>

#include "analyze/samples/code.h"
#include "analyze/samples/payloads.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/user_mask.h"

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
	struct blob b = { 0 };

	pd->out = out;
	for (size_t i = 0; i < pd->n_event; i++)
		if (pd->event[i].n && pd->event[i].sample)
			pd->event[i].id = ++pd->n_id;
	memset(blob_room(&b, HEADER_SIZE), 0, HEADER_SIZE);
	perfdata_attrs(pd, &b);
	pd->data_at = b.n;
	int rc = perfdata_write_all(pd, &b, err);
	blob_release(&b);
	return rc;
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
	struct blob b = { 0 };

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
	blob_release(&b);
	if (!rc && (ferror(pd->out) || fseeko(pd->out, 0, SEEK_END)))
		rc = err_set(err, ERR_IO, "cannot write perf.data");
	return rc;
}

struct blob *perfdata_begin(struct perfdata *pd, enum pd_type type,
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
		perfdata_begin(pd, PD_FINISHED_ROUND, 0);
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
	struct blob *b = perfdata_begin(pd, PD_SAMPLE, misc);

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
