/* pprof.c - writes the messages of pprof's profile.proto, gzipped. */
#include "cli/export/pprof.h"

#include "cli/output/json.h"
#include "cli/export/proto.h"
#include "cli/output/safe_text.h"
#include "formats/pack.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"

#define FLUSH_AT ((size_t)64 * 1024)

/* Numbers of fields, as in profile.proto. */
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING_TABLE = 6,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_PERIOD_TYPE = 11,
	PROFILE_PERIOD = 12,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
	VALUE_TYPE_TYPE = 1,
	VALUE_TYPE_UNIT = 2,
	SAMPLE_LOCATION_ID = 1,
	SAMPLE_VALUE = 2,
	SAMPLE_LABEL = 3,
	LABEL_KEY = 1,
	LABEL_STR = 2,
	LABEL_NUM = 3,
	LABEL_NUM_UNIT = 4,
	MAPPING_ID = 1,
	MAPPING_MEMORY_START = 2,
	MAPPING_MEMORY_LIMIT = 3,
	MAPPING_FILE_OFFSET = 4,
	MAPPING_FILENAME = 5,
	MAPPING_BUILD_ID = 6,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
	MAPPING_HAS_INLINE_FRAMES = 10,
	LOCATION_ID = 1,
	LOCATION_MAPPING_ID = 2,
	LOCATION_ADDRESS = 3,
	LOCATION_LINE = 4,
	LINE_FUNCTION_ID = 1,
	LINE_LINE = 2,
	FUNCTION_ID = 1,
	FUNCTION_NAME = 2,
	FUNCTION_SYSTEM_NAME = 3,
	FUNCTION_FILENAME = 4,
};

struct pprof_function {
	uint32_t name, raw_name, file; /* ids of strings */
};

struct pprof {
	struct pack *pack;
	struct proto buf;	/* of the profile, not compressed so far */
	struct proto msg, part; /* messages that are being made */
	struct proto labels;	/* of the current sample */
	/* by id - 1; a location's key is its message without the id */
	struct intern functions, locations;
	struct intern strings;
	uint64_t *value;
	size_t n_value, cap_value;
	uint32_t type, unit; /* of the last sample type */
};

static int put_packed(void *arg, const void *data, size_t n, struct err *err)
{
	(void)err; /* out_write() reports write errors */
	fwrite(data, 1, n, arg);
	return 0;
}

static uint32_t intern_clean(struct pprof *p, const char *s)
{
	size_t n = p->strings.n;
	uint32_t id = intern_add(&p->strings, s);

	if (id == n)
		proto_bytes(&p->buf, PROFILE_STRING_TABLE, s, strlen(s));
	return id;
}

static uint32_t pprof_string(struct pprof *p, const char *s)
{
	size_t len = strlen(s);
	size_t size = 4 * len + 1;
	uint32_t id;
	char *clean;

	if (json_can(s, len))
		return intern_clean(p, s);
	clean = mem_new(size, 1);
	safe_text_clean_buf(clean, size, s, len, NULL);
	id = intern_clean(p, clean);
	free(clean);
	return id;
}

struct pprof *pprof_new(FILE *out)
{
	struct pprof *p = mem_new(1, sizeof(*p));

	p->pack = pack_new(put_packed, out);
	pprof_string(p, ""); /* string 0 must be "" */
	return p;
}

void pprof_free(struct pprof *p)
{
	if (!p)
		return;
	pack_free(p->pack);
	proto_release(&p->buf);
	proto_release(&p->msg);
	proto_release(&p->part);
	proto_release(&p->labels);
	intern_release(&p->strings);
	intern_release(&p->functions);
	intern_release(&p->locations);
	free(p->value);
	free(p);
}

static void put_value_type(struct pprof *p, unsigned int field)
{
	proto_clear(&p->msg);
	proto_uint(&p->msg, VALUE_TYPE_TYPE, p->type);
	proto_uint(&p->msg, VALUE_TYPE_UNIT, p->unit);
	proto_message(&p->buf, field, &p->msg);
}

void pprof_type(struct pprof *p, const char *type, const char *unit)
{
	p->type = pprof_string(p, type);
	p->unit = pprof_string(p, unit);
	put_value_type(p, PROFILE_SAMPLE_TYPE);
	*mem_add(p->value, p->n_value, p->cap_value) = 0;
}

uint64_t *pprof_values(struct pprof *p)
{
	memset(p->value, 0, p->n_value * sizeof(*p->value));
	return p->value;
}

size_t pprof_n_values(const struct pprof *p)
{
	return p->n_value;
}

void pprof_label(struct pprof *p, const char *key, const char *value)
{
	proto_clear(&p->msg);
	proto_uint(&p->msg, LABEL_KEY, pprof_string(p, key));
	proto_uint(&p->msg, LABEL_STR, pprof_string(p, value));
	proto_message(&p->labels, SAMPLE_LABEL, &p->msg);
}

/* A unit is set, as readers ignore a 0 without one, and would take the key for
 * the unit. */
void pprof_label_num(struct pprof *p, const char *key, int64_t value)
{
	proto_clear(&p->msg);
	proto_uint(&p->msg, LABEL_KEY, pprof_string(p, key));
	proto_item(&p->msg, LABEL_NUM, (uint64_t)value);
	proto_uint(&p->msg, LABEL_NUM_UNIT, pprof_string(p, key));
	proto_message(&p->labels, SAMPLE_LABEL, &p->msg);
}

/* Ids start at 1. */
static uint64_t pprof_add_function(struct pprof *p,
				   const struct pprof_line *line)
{
	struct pprof_function f = { .name = pprof_string(p, line->name) };

	f.raw_name = line->raw_name ? pprof_string(p, line->raw_name) : f.name;
	f.file = line->file ? pprof_string(p, line->file) : 0;

	size_t n = p->functions.n;
	uint32_t id = intern_add_bytes(&p->functions, &f, sizeof(f));

	if (id < n)
		return (uint64_t)id + 1;
	proto_clear(&p->part);
	proto_uint(&p->part, FUNCTION_ID, (uint64_t)id + 1);
	proto_uint(&p->part, FUNCTION_NAME, f.name);
	proto_uint(&p->part, FUNCTION_SYSTEM_NAME, f.raw_name);
	proto_uint(&p->part, FUNCTION_FILENAME, f.file);
	proto_message(&p->buf, PROFILE_FUNCTION, &p->part);
	return (uint64_t)id + 1;
}

uint64_t pprof_location(struct pprof *p, const struct pprof_location *at)
{
	proto_clear(&p->msg);
	proto_uint(&p->msg, LOCATION_MAPPING_ID, at->mapping);
	/* written also if 0, so that the message is never empty */
	proto_item(&p->msg, LOCATION_ADDRESS, at->addr);
	for (size_t i = 0; i < at->n_line; i++) {
		uint64_t function = pprof_add_function(p, &at->line[i]);

		proto_clear(&p->part);
		proto_uint(&p->part, LINE_FUNCTION_ID, function);
		proto_uint(&p->part, LINE_LINE, at->line[i].line);
		proto_message(&p->msg, LOCATION_LINE, &p->part);
	}

	size_t n = p->locations.n;
	uint32_t id = intern_add_bytes(&p->locations, p->msg.buf, p->msg.n);

	if (id == n) {
		proto_uint(&p->msg, LOCATION_ID, (uint64_t)id + 1);
		proto_message(&p->buf, PROFILE_LOCATION, &p->msg);
	}
	return (uint64_t)id + 1;
}

static int pprof_flush(struct pprof *p, size_t at, struct err *err)
{
	int rc = 0;

	if (p->buf.n >= at) {
		rc = pack_add(p->pack, p->buf.buf, p->buf.n, err);
		proto_clear(&p->buf);
	}
	return rc;
}

int pprof_sample(struct pprof *p, const uint64_t *location, size_t n,
		 struct err *err)
{
	for (size_t i = 0; i < p->n_value; i++) {
		if (p->value[i] > INT64_MAX)
			p->value[i] = INT64_MAX;
	}
	proto_clear(&p->msg);
	proto_packed(&p->msg, SAMPLE_LOCATION_ID, location, n);
	proto_packed(&p->msg, SAMPLE_VALUE, p->value, p->n_value);
	proto_add(&p->msg, &p->labels);
	proto_message(&p->buf, PROFILE_SAMPLE, &p->msg);
	proto_clear(&p->labels);
	return pprof_flush(p, FLUSH_AT, err);
}

void pprof_mapping(struct pprof *p, uint32_t id, const struct pprof_mapping *m)
{
	char hex[2 * 64 + 1] = "";

	for (size_t i = 0; i < m->build_id_len && i < 64; i++)
		snprintf(hex + 2 * i, 3, "%02x", m->build_id[i]);
	proto_clear(&p->msg);
	proto_uint(&p->msg, MAPPING_ID, id);
	proto_uint(&p->msg, MAPPING_MEMORY_START, m->start);
	proto_uint(&p->msg, MAPPING_MEMORY_LIMIT, m->limit);
	proto_uint(&p->msg, MAPPING_FILE_OFFSET, m->off);
	proto_uint(&p->msg, MAPPING_FILENAME, pprof_string(p, m->file));
	proto_uint(&p->msg, MAPPING_BUILD_ID, pprof_string(p, hex));
	proto_uint(&p->msg, MAPPING_HAS_FUNCTIONS, m->has_functions);
	proto_uint(&p->msg, MAPPING_HAS_FILENAMES, m->has_files);
	proto_uint(&p->msg, MAPPING_HAS_LINE_NUMBERS, m->has_lines);
	proto_uint(&p->msg, MAPPING_HAS_INLINE_FRAMES, m->has_inlined);
	proto_message(&p->buf, PROFILE_MAPPING, &p->msg);
}

void pprof_comment(struct pprof *p, const char *text)
{
	uint64_t id = pprof_string(p, text);

	proto_packed(&p->buf, PROFILE_COMMENT, &id, 1);
}

void pprof_duration(struct pprof *p, int64_t ns)
{
	proto_uint(&p->buf, PROFILE_DURATION_NANOS, (uint64_t)ns);
}

void pprof_period(struct pprof *p, int64_t period)
{
	put_value_type(p, PROFILE_PERIOD_TYPE);
	proto_uint(&p->buf, PROFILE_PERIOD, (uint64_t)period);
}

int pprof_finish(struct pprof *p, struct err *err)
{
	proto_uint(&p->buf, PROFILE_DEFAULT_SAMPLE_TYPE, p->type);
	if (pprof_flush(p, 0, err))
		return -1;
	return pack_finish(p->pack, err);
}
