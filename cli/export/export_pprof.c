/* export_pprof.c - the gzipped profile.proto of pprof.
 *
 * One pprof sample for each group of samples with the same thread name, stack
 * and fate. Everything is written as soon as it is known, tables after what
 * refers to them: the order of fields is free in Protocol Buffers.
 *
 * A location is a frame as it is shown: a frame that is shown in two ways (with
 * and without an interpreter's functions, for example) is two locations with
 * one address. */

#include "cli/samples/code.h"
#include "cli/names/code_place.h"
#include "cli/export/export.h"
#include "cli/samples/filter.h"
#include "cli/stacks/label.h"
#include "cli/samples/notes.h"
#include "cli/output/out.h"
#include "cli/export/pprof.h"
#include "cli/stacks/stacks.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "cli/server/server.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"

struct job {
	struct store *db;
	struct stacks *s;
	const struct known_code *c; /* of s */
	struct code_places *places;
	struct pprof *p;
	struct label_list l; /* of the sample at hand */
	uint64_t *location;  /* the innermost first */
	size_t cap_location;
	struct pprof_line *line;
	size_t cap_line;
	struct pprof_mapping *mapping; /* by id, [0] none */
	size_t n_mapping, cap_mapping;
	size_t *value; /* index of each event's value; 0: left out */
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

/* Stores the function and source line of item i. Returns false if it should
 * have none, so that pprof looks for the name itself. */
static bool export_pprof_line_of(const struct job *j, size_t i,
				 struct pprof_line *line)
{
	const struct label_from *from = &j->l.from[i];
	const struct label *l = labels_get(stacks_labels(j->s), j->l.label[i]);
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

static bool is_sound(const struct job *j, const struct label_from *from)
{
	return from->frame < j->c->n_frame &&
	       from->inlined <= j->c->frame[from->frame].n_inlined;
}

/* Returns the end of the items that belong to the frame of item i: the frame,
 * then its inlined functions. */
static size_t end_of_frame(const struct job *j, size_t i)
{
	const struct label_from *a = &j->l.from[i];
	size_t end = i + 1;

	for (; a->frame && end < j->l.n; end++) {
		const struct label_from *b = &j->l.from[end];

		if (b->frame != a->frame || !b->inlined ||
		    (j->l.from[end - 1].inlined &&
		     b->inlined >= j->l.from[end - 1].inlined))
			break;
	}
	return end;
}

/* Adds a location for the items [from, to), and to its mapping what is known
 * there. */
static uint64_t add_location(struct job *j, size_t from, size_t to,
			     uint64_t samples)
{
	struct pprof_location at = { 0 };
	uint32_t frame = j->l.from[from].frame;

	mem_grow(j->line, j->cap_line, to - from);
	for (size_t i = to; i-- > from;) {
		if (export_pprof_line_of(j, i, &j->line[at.n_line]))
			at.n_line++;
	}
	at.line = j->line;
	if (frame) {
		struct code_place place =
			code_place(j->places, frame, j->l.from[from].called);
		struct pprof_mapping *m;

		at.mapping = place.mapping;
		at.addr = place.addr;
		m = mem_at(j->mapping, j->n_mapping, j->cap_mapping,
			   place.mapping);
		m->has_functions |= j->c->frame[frame].at.name != NULL;
		for (size_t i = 0; i < at.n_line; i++) {
			m->has_files |= j->line[i].file != NULL;
			m->has_lines |= j->line[i].line > 0;
		}
		m->samples += samples;
	}
	return pprof_location(j->p, &at);
}

static size_t add_locations(struct job *j, uint64_t samples)
{
	size_t n = 0;

	for (size_t i = 0; i < j->l.n;) {
		size_t end = end_of_frame(j, i);

		*mem_add(j->location, n, j->cap_location) =
			add_location(j, i, end, samples);
		i = end;
	}
	for (size_t i = 0; i < n / 2; i++) {
		uint64_t swap = j->location[i];

		j->location[i] = j->location[n - 1 - i];
		j->location[n - 1 - i] = swap;
	}
	return n;
}

static int export_pprof_add_group(struct job *j, const struct stacks_group *g,
				  struct err *err)
{
	const struct stacks_comm *comm = stacks_comm(j->s, g->comm);
	uint64_t *value = pprof_values(j->p);

	j->l.n = 0;
	stacks_get(j->s, g, &j->l);
	if (!j->l.n)
		label_list_add(&j->l,
			       labels_add_name(stacks_labels(j->s),
					       LABEL_MISSING, "[no stack]"));
	for (size_t i = 0; i < j->l.n; i++) {
		if (!is_sound(j, &j->l.from[i]))
			return err_set(err, ERR_DB,
				       "the database has a stack with no such "
				       "frame; ingest the capture again");
	}
	value[0] = g->samples;
	if (j->value[g->event] < pprof_n_values(j->p))
		value[j->value[g->event]] = g->weight;

	size_t n = add_locations(j, g->samples);

	pprof_label(j->p, "thread", comm->name);
	if (comm->pid >= 0)
		pprof_label_num(j->p, "pid", comm->pid);
	if (comm->tid >= 0)
		pprof_label_num(j->p, "tid", comm->tid);
	if (g->cpu >= 0)
		pprof_label_num(j->p, "cpu", g->cpu);
	if (g->verdict)
		pprof_label(j->p, "verdict", stacks_verdict(g));
	return pprof_sample(j->p, j->location, n, err);
}

/* Adds the sample types: the count first, then the weight of each event. */
static void add_types(struct job *j, int event, bool samples)
{
	size_t n = stacks_events(j->s);

	j->value = mem_new(n ? n : 1, sizeof(*j->value));
	pprof_type(j->p, "samples", "count");
	for (size_t i = 0; i < n; i++) {
		const struct stacks_event *e = stacks_event(j->s, i);

		if ((event >= 0 && i != (size_t)event) || !e->samples)
			continue;
		j->value[i] = samples ? SIZE_MAX : ++j->n_value;
		if (samples)
			continue;

		const char *unit = stacks_unit(j->s, (int)i, false);

		pprof_type(j->p, e->name,
			   strcmp(unit, "ns") ? "count" : "nanoseconds");
	}
}

static void take_note(void *arg, const char *line)
{
	struct job *j = arg;

	pprof_comment(j->p, line);
}

/* Sets the duration of the profile. */
static int export_pprof_read_range(struct job *j, struct err *err)
{
	struct rows *r;

	r = rows_of(j->db, "capture_range", err);
	while (rows_step(r)) {
		struct value first = rows_value(r, CAPTURE_RANGE_FIRST_NS);
		int64_t last = rows_int(r, CAPTURE_RANGE_LAST_NS);
		int64_t len;

		if (first.kind == VALUE_INT &&
		    !__builtin_sub_overflow(last, first.num, &len) && len > 0)
			pprof_duration(j->p, len);
	}
	return rows_end(r, err);
}

static int export_pprof_read_periods(struct job *j, struct err *err)
{
	struct rows *r = rows_of(j->db, "export_periods", err);

	while (rows_step(r)) {
		const char *name = rows_text(r, EXPORT_PERIODS_NAME);
		int64_t period = rows_int(r, EXPORT_PERIODS_MIN_PERIOD);

		if (period != rows_int(r, EXPORT_PERIODS_MAX_PERIOD))
			continue;
		for (size_t i = 0; i < stacks_events(j->s); i++)
			if (j->n_value == 1 && j->value[i] == 1 &&
			    !strcmp(stacks_event(j->s, i)->name, name))
				pprof_period(j->p, period);
	}
	return rows_end(r, err);
}

/* Returns the mapping to write first, which pprof takes for the main program.
 */
static uint32_t main_mapping(const struct job *j)
{
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
	return best;
}

static void put_mapping(struct job *j, uint32_t id, bool inlined)
{
	const struct code_mapping *m = code_mapping(j->places, id);
	struct pprof_mapping *out = &j->mapping[id];
	const struct image *img = &j->c->image[m->image].img;

	out->start = m->start;
	out->limit = m->limit;
	out->off = m->off;
	out->file = m->image ? img->path : "[jit]";
	out->build_id = img->id;
	out->build_id_len = m->image ? img->id_len : 0;
	out->has_inlined = inlined && out->has_lines;
	pprof_mapping(j->p, id, out);
}

static int export_pprof_write_all(struct job *j, const struct export_request *x,
				  struct err *err)
{
	/* with --event, each event is a type of value */
	int event = x->filter->event ? -1 : stacks_choose(j->s, "exporting");
	uint32_t first;

	add_types(j, event, x->samples);
	stacks_each (g, j->s, event) {
		if (out_failed())
			break;
		if (export_pprof_add_group(j, g, err))
			return -1;
	}
	first = main_mapping(j);
	if (first)
		put_mapping(j, first, x->inlined);
	for (uint32_t i = 1; i < j->n_mapping; i++) {
		if (i != first)
			put_mapping(j, i, x->inlined);
	}
	if (notes_each(j->db, take_note, j, err) ||
	    (!x->filter->time && export_pprof_read_range(j, err)) ||
	    export_pprof_read_periods(j, err))
		return -1;
	return pprof_finish(j->p, err);
}

static int write_pprof(FILE *out, const struct export_request *x,
		       struct err *err)
{
	const struct stacks_opts o = { .filter = x->filter,
				       .by_cpu = true,
				       .gaps = true,
				       .inlined = x->inlined,
				       .samples = x->samples,
				       .code = CODE_ALL & ~CODE_ADDRS };
	struct job j = { .db = x->db, .l.want_from = true };
	int rc = -1;

	j.s = stacks_load(x->db, &o, err);
	if (j.s) {
		j.c = stacks_code(j.s);
		j.places = code_places_load(x->db, j.c, err);
	}
	if (j.places) {
		j.p = pprof_new(out);
		rc = export_pprof_write_all(&j, x, err);
	}
	pprof_free(j.p);
	code_places_free(j.places);
	stacks_free(j.s);
	free(j.l.label);
	free(j.l.from);
	free(j.location);
	free(j.line);
	free(j.mapping);
	free(j.value);
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
