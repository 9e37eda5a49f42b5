/* export_pprof.c - the gzipped profile.proto of pprof.
 *
 * One pprof sample for each group of samples with the same thread name, stack
 * and fate. Everything is written as soon as it is known, tables after what
 * refers to them: the order of fields is free in Protocol Buffers.
 *
 * A location is a frame as it is shown: a frame that is shown in two ways (with
 * and without an interpreter's functions, for example) is two locations with
 * one address. */

#include "analyze/names/code_place.h"
#include "analyze/samples/code.h"
#include "analyze/samples/filter.h"
#include "analyze/samples/recorder.h"
#include "analyze/stacks/label.h"
#include "analyze/stacks/stacks.h"
#include "analyze/waits/traced.h"
#include "cli/export/export.h"
#include "cli/export/proto.h"
#include "cli/output/out.h"
#include "cli/output/say.h"
#include "cli/server/server.h"
#include "formats/pack.h"
#include "schema/columns.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/text/json.h"

/* Strings, functions and locations are interned: equal ones are written once.
 * Sample types come first, then samples in any order; mappings may come at any
 * time. Strings are cleaned if they are not UTF-8. */

struct pprof_line {
	const char *name;     /* of the function */
	const char *raw_name; /* as in the file; NULL: the same */
	const char *file;     /* of the source; NULL: not known */
	uint32_t line;
};

/* What the frames of a mapping have, and the samples with these frames. */
struct pprof_mapping {
	bool has_functions, has_files, has_lines;
	uint64_t samples;
};

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
	struct blob buf;       /* of the profile, not compressed so far */
	struct blob msg, part; /* a message that is made, and a part of it */
	struct blob labels;    /* of the current sample */
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

/* Returns the id of a string, which is written if it is new. */
static uint32_t pprof_string(struct pprof *p, const char *s)
{
	size_t n = p->strings.n;
	uint32_t id = json_intern(&p->strings, s, strlen(s));

	if (id == n)
		proto_bytes(&p->buf, PROFILE_STRING_TABLE,
			    intern_get(&p->strings, id),
			    intern_length(&p->strings, id));
	return id;
}

static void put_value_type(struct pprof *p, unsigned int field)
{
	p->msg.n = 0;
	proto_uint(&p->msg, VALUE_TYPE_TYPE, p->type);
	proto_uint(&p->msg, VALUE_TYPE_UNIT, p->unit);
	proto_message(&p->buf, field, &p->msg);
}

/* Adds a sample type; pprof shows the last one by default. */
static void pprof_type(struct pprof *p, const char *type, const char *unit)
{
	p->type = pprof_string(p, type);
	p->unit = pprof_string(p, unit);
	put_value_type(p, PROFILE_SAMPLE_TYPE);
	*mem_add(p->value, p->n_value, p->cap_value) = 0;
}

static void pprof_label(struct pprof *p, const char *key, const char *value)
{
	p->msg.n = 0;
	proto_uint(&p->msg, LABEL_KEY, pprof_string(p, key));
	proto_uint(&p->msg, LABEL_STR, pprof_string(p, value));
	proto_message(&p->labels, SAMPLE_LABEL, &p->msg);
}

/* Adds a label with a number, whose unit is the key: readers ignore a 0 without
 * a unit, and take the key for the unit of others. */
static void pprof_label_num(struct pprof *p, const char *key, int64_t value)
{
	p->msg.n = 0;
	proto_uint(&p->msg, LABEL_KEY, pprof_string(p, key));
	proto_item(&p->msg, LABEL_NUM, (uint64_t)value);
	proto_uint(&p->msg, LABEL_NUM_UNIT, pprof_string(p, key));
	proto_message(&p->labels, SAMPLE_LABEL, &p->msg);
}

/* Returns the id of a function, from 1 on; it is written if it is new. */
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
	p->part.n = 0;
	proto_uint(&p->part, FUNCTION_ID, (uint64_t)id + 1);
	proto_uint(&p->part, FUNCTION_NAME, f.name);
	proto_uint(&p->part, FUNCTION_SYSTEM_NAME, f.raw_name);
	proto_uint(&p->part, FUNCTION_FILENAME, f.file);
	proto_message(&p->buf, PROFILE_FUNCTION, &p->part);
	return (uint64_t)id + 1;
}

static int pprof_flush(struct pprof *p, size_t at, struct err *err)
{
	int rc = 0;

	if (p->buf.n >= at) {
		rc = pack_add(p->pack, p->buf.at, p->buf.n, err);
		p->buf.n = 0;
	}
	return rc;
}

/* Adds a comment to the profile; a note_fn. */
static void pprof_comment(void *arg, const char *line)
{
	struct pprof *p = arg;
	uint64_t id = pprof_string(p, line);

	proto_packed(&p->buf, PROFILE_COMMENT, &id, 1);
}

struct job {
	struct store *db;
	struct stacks *s;
	const struct known_code *c; /* of s */
	struct code_places *places;
	struct pprof *p;
	struct label_list l; /* of the current sample */
	uint64_t *location;  /* ids, the innermost first */
	size_t cap_location;
	struct pprof_mapping *mapping; /* by id; [0]: no mapping */
	size_t n_mapping, cap_mapping;
	size_t *value; /* by event: index in pprof.value; 0: left out */
	size_t n_value;
};

/* Returns whether the image is a file; names in brackets are not. */
static bool has_file(const struct image *img)
{
	const char *base = path_base(img->path);

	return base[0] && base[0] != '[' &&
	       (img->kind == IMAGE_FILE || img->kind == IMAGE_MODULE ||
		img->kind == IMAGE_MAPPING);
}

/* Stores the function and source line of item i of l. Returns false if it
 * should have none, so that pprof looks for the name itself. */
static bool export_pprof_line_of(const struct job *j, size_t i,
				 struct pprof_line *line)
{
	const struct label_from *from = &j->l.from[i];
	const struct label *l = labels_get(j->s->labels, j->l.label[i]);
	const struct code_frame *f = &j->c->frame[from->frame];
	const struct code_where *at = &f->at;

	*line = (struct pprof_line){ .name = l->name };
	if (!from->frame)
		return true;
	if (from->inlined) {
		at = &j->c->inlined[f->inlined + from->inlined - 1];
	} else if (!f->at.name) {
		return !has_file(&j->c->image[f->image].img);
	} else {
		line->raw_name = f->raw_name;
	}
	line->file = at->file;
	line->line = at->line;
	return true;
}

/* Writes a group as a sample, with new locations. Returns 0, or -1 and *err. */
static int export_pprof_add_group(struct job *j, const struct stacks_group *g,
				  struct err *err)
{
	const struct stacks_comm *comm = stacks_comm(j->s, g->comm);
	uint64_t *value = j->p->value;

	j->l.n = 0;
	stacks_get(j->s, g, &j->l);
	if (!j->l.n)
		label_list_add(&j->l,
			       labels_add_name(j->s->labels, LABEL_MISSING,
					       "[no stack]"));
	for (size_t i = 0; i < j->l.n; i++)
		if (j->l.from[i].frame >= j->c->n_frame ||
		    j->l.from[i].inlined >
			    j->c->frame[j->l.from[i].frame].n_inlined)
			return err_set(err, ERR_DB,
				       "the database has a stack with no such "
				       "frame; ingest the capture again");
	memset(value, 0, j->p->n_value * sizeof(*value));
	value[0] = g->samples;
	if (j->value[g->event] < j->p->n_value)
		value[j->value[g->event]] = g->weight;

	struct pprof *p = j->p;
	size_t n = j->l.n; /* places that are free: the innermost comes first */

	mem_grow(j->location, j->cap_location, n);
	for (size_t i = 0; i < j->l.n;) {
		const struct label_from *a = &j->l.from[i];
		size_t end = i + 1;

		for (; a->frame && end < j->l.n; end++) {
			const struct label_from *b = &j->l.from[end];

			if (b->frame != a->frame || !b->inlined ||
			    (j->l.from[end - 1].inlined &&
			     b->inlined >= j->l.from[end - 1].inlined))
				break;
		}

		struct code_place place = { 0 };

		if (a->frame)
			place = code_place(j->places, a->frame, a->called);
		struct pprof_mapping *m = mem_at(j->mapping, j->n_mapping,
						 j->cap_mapping, place.mapping);
		m->has_functions |= j->c->frame[a->frame].at.name != NULL;
		m->samples += g->samples;
		p->msg.n = 0;
		proto_uint(&p->msg, LOCATION_MAPPING_ID, place.mapping);
		/* written also if 0, so that the message is never empty */
		proto_item(&p->msg, LOCATION_ADDRESS, place.addr);
		for (size_t k = end; k-- > i;) {
			struct pprof_line line;

			if (!export_pprof_line_of(j, k, &line))
				continue;
			m->has_files |= line.file != NULL;
			m->has_lines |= line.line > 0;
			uint64_t function = pprof_add_function(p, &line);
			p->part.n = 0;
			proto_uint(&p->part, LINE_FUNCTION_ID, function);
			proto_uint(&p->part, LINE_LINE, line.line);
			proto_message(&p->msg, LOCATION_LINE, &p->part);
		}

		size_t count = p->locations.n;
		uint32_t id =
			intern_add_bytes(&p->locations, p->msg.at, p->msg.n);

		if (id == count) {
			proto_uint(&p->msg, LOCATION_ID, (uint64_t)id + 1);
			proto_message(&p->buf, PROFILE_LOCATION, &p->msg);
		}
		j->location[--n] = (uint64_t)id + 1;
		i = end;
	}
	pprof_label(p, "thread", comm->name);
	if (comm->pid >= 0)
		pprof_label_num(p, "pid", comm->pid);
	if (comm->tid >= 0)
		pprof_label_num(p, "tid", comm->tid);
	if (g->cpu >= 0)
		pprof_label_num(p, "cpu", g->cpu);
	if (g->verdict)
		pprof_label(p, "verdict", stacks_verdict(g->verdict));
	/* Write a sample. */
	for (size_t i = 0; i < p->n_value; i++)
		lower_to(p->value[i], INT64_MAX);
	p->msg.n = 0;
	proto_packed(&p->msg, SAMPLE_LOCATION_ID, j->location + n, j->l.n - n);
	proto_packed(&p->msg, SAMPLE_VALUE, p->value, p->n_value);
	blob_add(&p->msg, p->labels.at, p->labels.n);
	proto_message(&p->buf, PROFILE_SAMPLE, &p->msg);
	p->labels.n = 0;
	return pprof_flush(p, FLUSH_AT, err);
}

/* Sets the duration of the profile: how long was recorded. */
static int export_pprof_read_span(struct job *j, struct err *err)
{
	struct rows *r = rows_of(j->db, "info_span", err);

	while (rows_step(r)) {
		int64_t len = rows_int(r, INFO_SPAN_NS);

		if (len > 0)
			proto_uint(&j->p->buf, PROFILE_DURATION_NANOS,
				   (uint64_t)len);
	}
	return rows_end(r, err);
}

/* Writes a mapping, and what its frames have; inlined: the profile has inlined
 * functions, too. */
static void put_mapping(struct job *j, uint32_t id, bool inlined)
{
	const struct code_mapping *m = code_mapping(j->places, id);
	const struct pprof_mapping *has = &j->mapping[id];
	const struct image *img = &j->c->image[m->image].img;
	struct pprof *p = j->p;
	char hex[2 * sizeof(img->id) + 1] = "";

	for (size_t i = 0; m->image && i < img->id_len; i++)
		snprintf(hex + 2 * i, 3, "%02x", img->id[i]);
	p->msg.n = 0;
	proto_uint(&p->msg, MAPPING_ID, id);
	proto_uint(&p->msg, MAPPING_MEMORY_START, m->start);
	proto_uint(&p->msg, MAPPING_MEMORY_LIMIT, m->limit);
	proto_uint(&p->msg, MAPPING_FILE_OFFSET, m->off);
	proto_uint(&p->msg, MAPPING_FILENAME,
		   pprof_string(p, m->image ? img->path : "[jit]"));
	proto_uint(&p->msg, MAPPING_BUILD_ID, pprof_string(p, hex));
	proto_uint(&p->msg, MAPPING_HAS_FUNCTIONS, has->has_functions);
	proto_uint(&p->msg, MAPPING_HAS_FILENAMES, has->has_files);
	proto_uint(&p->msg, MAPPING_HAS_LINE_NUMBERS, has->has_lines);
	proto_uint(&p->msg, MAPPING_HAS_INLINE_FRAMES,
		   inlined && has->has_lines);
	proto_message(&p->buf, PROFILE_MAPPING, &p->msg);
}

/* Writes the profile. The program's mapping comes first: pprof takes that for
 * the main binary. Returns 0, or -1 and *err. */
static int export_pprof_write_all(struct job *j, const struct export_request *x,
				  struct err *err)
{
	/* with --event, each event is a type of value */
	int event = x->filter->event ? -1 : say_choice(j->s, "exporting");

	/* Add the sample types: the count first, then each event's weight. */
	size_t n = j->s->n_event;

	j->value = mem_new(n + 1, sizeof(*j->value));
	pprof_type(j->p, "samples", "count");
	for (size_t i = 0; i < n; i++) {
		const struct stacks_event *e = &j->s->event[i];

		if ((event >= 0 && i != (size_t)event) || !e->samples)
			continue;
		j->value[i] = x->samples ? SIZE_MAX : ++j->n_value;
		if (x->samples)
			continue;

		const char *unit = stacks_unit(j->s, (int)i, false);

		pprof_type(j->p, e->name,
			   strcmp(unit, "ns") ? "count" : "nanoseconds");
	}
	stacks_each (g, j->s, event) {
		if (out_failed())
			break;
		if (export_pprof_add_group(j, g, err))
			return -1;
	}
	uint64_t most = 0;
	uint32_t best = 0;

	for (uint32_t i = 1; i < j->n_mapping; i++) {
		const struct code_mapping *m = code_mapping(j->places, i);
		const struct image *img = &j->c->image[m->image].img;

		if (m->image && img->kind == IMAGE_FILE && has_file(img) &&
		    !strstr(img->path, ".so") && j->mapping[i].samples > most) {
			most = j->mapping[i].samples;
			best = i;
		}
	}
	if (best)
		put_mapping(j, best, x->inlined);
	for (uint32_t i = 1; i < j->n_mapping; i++)
		if (i != best)
			put_mapping(j, i, x->inlined);
	if (notes_each(j->db, pprof_comment, j->p, err) ||
	    (!x->filter->time && export_pprof_read_span(j, err)))
		return -1;
	struct rows *r = rows_of(j->db, "export_periods", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, EXPORT_PERIODS_NAME);
		int64_t period = rows_int(r, EXPORT_PERIODS_MIN_PERIOD);

		if (period != rows_int(r, EXPORT_PERIODS_MAX_PERIOD))
			continue;
		for (size_t i = 0; i < j->s->n_event; i++)
			if (j->n_value == 1 && j->value[i] == 1 &&
			    !strcmp(j->s->event[i].name, name)) {
				put_value_type(j->p, PROFILE_PERIOD_TYPE);
				proto_uint(&j->p->buf, PROFILE_PERIOD,
					   (uint64_t)period);
			}
	}
	if (rows_end(r, err))
		return -1;
	proto_uint(&j->p->buf, PROFILE_DEFAULT_SAMPLE_TYPE, j->p->type);
	return pprof_flush(j->p, 0, err) ? -1 : pack_finish(j->p->pack, err);
}

static int write_pprof(FILE *out, const struct export_request *x,
		       struct err *err)
{
	const struct stacks_opts o = { .filter = x->filter,
				       .names = x->names,
				       .by_cpu = true,
				       .gaps = true,
				       .inlined = x->inlined,
				       .samples = x->samples,
				       .code = CODE_ALL & ~CODE_ADDRS };
	struct job j = { .db = x->db, .l.want_from = true };
	int rc = -1;

	j.s = stacks_load(x->db, &o, err);
	if (j.s && !traced_add_to(x->db, x->path, x->filter, j.s, err)) {
		j.c = j.s->code;
		j.places = code_places_load(x->db, j.c, err);
	}
	if (j.places) {
		struct pprof *p = mem_new(1, sizeof(*p));

		p->pack = pack_new(put_packed, out);
		pprof_string(p, ""); /* string 0 must be "" */
		j.p = p;
		rc = export_pprof_write_all(&j, x, err);
	}
	if (j.p) {
		pack_free(j.p->pack);
		blob_release(&j.p->buf);
		blob_release(&j.p->msg);
		blob_release(&j.p->part);
		blob_release(&j.p->labels);
		intern_release(&j.p->strings);
		intern_release(&j.p->functions);
		intern_release(&j.p->locations);
		free_all(j.p->value, j.p);
	}
	code_places_free(j.places);
	stacks_free(j.s);
	free_all(j.l.label, j.l.from, j.location, j.mapping, j.value);
	return rc;
}

const struct exporter export_pprof = {
	.summary = "the gzipped protobuf of pprof: go tool pprof, Pyroscope, "
		   "Parca, and others",
	.binary = true,
	.sums = true,
	.detail = SERVER_THREADS | SERVER_CPUS | SERVER_VERDICTS,
	.write = write_pprof,
};
