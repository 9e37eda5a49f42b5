/* annot.c - which functions and addresses have samples, and the instructions
 * of one function with theirs, targets and source lines. */
#include "analyze/listing/annot.h"

#include <elf.h>
#include <inttypes.h>
#include <sys/stat.h>

#include "analyze/names/homonyms.h"
#include "analyze/names/name_find.h"
#include "analyze/names/short_name.h"
#include "analyze/names/source_text.h"
#include "analyze/names/suffix.h"
#include "analyze/stacks/stacks.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/dwarf/line_files.h"
#include "symbolize/names/section_hashes.h"
#include "symbolize/symbolize.h"

struct hot_loader {
	struct hot *h;
	const struct homonyms *homonyms;
	struct table by_symbol; /* indices in hot.func, by symbol.id, or by
				 * -image for code without symbols */
};

/* Returns the index of the function of a frame, which is added if it is new. */
static uint32_t hot_func_of(struct hot_loader *l, const struct rows *r,
			    uint32_t image)
{
	struct hot *h = l->h;
	int64_t symbol = rows_int(r, ANNOTATE_FRAMES_SYMBOL);
	uint64_t hash = hash_u64((uint64_t)(symbol ? symbol : -(int64_t)image));
	uint32_t id = table_find_or_add(&l->by_symbol, hash, h->n_func);

	if (id == h->n_func) {
		struct hot_func f = { .image = image, .raw = "" };

		if (symbol) {
			/* Sets the names of a function, from any of its frames:
			 * raw as in the file, base for people, and name, with
			 * what tells it from others of its image. */
			const struct homonym *at = homonyms_of_frame(
				l->homonyms,
				(uint32_t)rows_int(r, ANNOTATE_FRAMES_ID));
			struct arena *text = &l->h->text;

			f.base = f.name = arena_strdup(
				text, rows_text(r, ANNOTATE_FRAMES_NAME));
			f.raw = arena_strdup(
				text, rows_text(r, ANNOTATE_FRAMES_RAW_NAME));
			if (at && at->apart) {
				char *told = homonyms_name(f.base, at->apart);

				f.name = arena_strdup(text, told);
				free(told);
			} else if (suffix_tier(f.name)) {
				char *base = arena_strdup(text, f.name);

				/* "JS:*parse" and "JS:^parse" are one */
				memmove(base + 3, base + 4, strlen(base + 3));
				f.base = base;
			}
			f.start = (uint64_t)rows_int(r, ANNOTATE_FRAMES_START);
			f.size = (uint64_t)rows_int(r, ANNOTATE_FRAMES_SIZE);
		}
		*mem_add(h->func, h->n_func, h->cap_func) = f;
	}
	return id;
}

uint32_t hot_leaf(const struct hot *h, const struct stacks_group *g)
{
	uint32_t raw = g->kraw ? g->kraw : g->uraw;

	return raw < h->n_leaf ? h->leaf[raw] : 0;
}

COMPARE_FUNCTION_OF(hot_compare_functions, uint32_t, struct hot,
		    compare_numbers(of->func[*y].weight, of->func[*x].weight)
			    ?: compare_numbers(of->func[*y].samples,
					       of->func[*x].samples)
			    ?: compare_numbers(*x, *y));

/* Finds the short names of all functions. Returns 0, or -1 and *err. */
static int hot_shorten(struct hot *h, struct store *db, struct err *err)
{
	struct shown_names *names = shown_names_new();
	int rc = shown_names_read(names, &h->names, db, err);

	for (size_t i = 0; i < h->n_func; i++)
		shown_names_add(names, h->func[i].name);
	shown_names_make(names, &h->names, &h->text);
	for (size_t i = 0; i < h->n_func; i++)
		h->func[i].shown = shown_names_get(names, h->func[i].name);
	shown_names_free(names);
	return rc;
}

/* Loads leaves, paths and spots with their functions. Returns 0, or -1. */
static int hot_load_code(struct hot_loader *l, struct store *db,
			 struct err *err)
{
	struct hot *h = l->h;

	/* Ids count from 1. */
	*mem_add(h->leaf, h->n_leaf, h->cap_leaf) = 0;
	*mem_add(h->path, h->n_path, h->cap_path) = NULL;
	*mem_add(h->spot, h->n_spot, h->cap_spot) = (struct hot_spot){ 0 };
	struct rows *r = rows_dense(db, "annotate_leaves", err);
	while (rows_step(r)) {
		int64_t frame = rows_int(r, ANNOTATE_LEAVES_FRAME);

		if (frame < 0 || frame > UINT32_MAX)
			rows_unsound(r);
		else
			*mem_add(h->leaf, h->n_leaf, h->cap_leaf) =
				(uint32_t)frame;
	}
	if (rows_end(r, err))
		return -1;
	r = rows_dense(db, "annotate_paths", err);
	while (rows_step(r))
		*mem_add(h->path, h->n_path, h->cap_path) = arena_strdup(
			&h->text, rows_text(r, ANNOTATE_PATHS_PATH));
	if (rows_end(r, err))
		return -1;
	r = rows_dense(db, "annotate_frames", err);
	while (rows_step(r)) {
		int64_t image = rows_int(r, ANNOTATE_FRAMES_IMAGE);

		if (image < 1 || (uint64_t)image >= h->n_path ||
		    rows_int(r, ANNOTATE_FRAMES_SYMBOL) < 0) {
			rows_unsound(r);
			continue;
		}
		*mem_add(h->spot, h->n_spot, h->cap_spot) = (struct hot_spot){
			.off = (uint64_t)rows_int(r, ANNOTATE_FRAMES_OFF),
			.vaddr = (uint64_t)rows_int(r, ANNOTATE_FRAMES_VADDR),
			.image = (uint32_t)image,
			.func = hot_func_of(l, r, (uint32_t)image),
			.frame = (uint32_t)rows_int(r, ANNOTATE_FRAMES_ID),
		};
	}
	return rows_end(r, err);
}

int hot_load(struct hot *h, struct store *db, struct stacks *s, int event,
	     struct err *err)
{
	struct hot_loader l = { .h = h, .homonyms = s->homonyms };
	struct trust *trust = trust_of(db, s, event, err);
	int rc = -1;

	h->names = s->o.names;
	if (trust)
		trust_say(trust, h->trust);
	if (trust && !hot_load_code(&l, db, err) && !hot_shorten(h, db, err)) {
		/* Counts the samples of the event, or of all events. */
		stacks_each (g, s, event) {
			uint32_t frame = hot_leaf(h, g);

			h->weight += g->weight;
			h->samples += g->samples;
			if (!frame || frame >= h->n_spot)
				continue;
			struct hot_spot *sp = &h->spot[frame];
			struct hot_func *f = &h->func[sp->func];

			sp->weight += g->weight;
			sp->samples += g->samples;
			f->weight += g->weight;
			f->samples += g->samples;
			if (sp->weight >= f->peak) {
				f->peak = sp->weight;
				f->peak_off = sp->off;
			}
		}
		/* Drops what has no samples; sorts functions. */
		uint32_t *order = mem_new(h->n_func + 1, sizeof(*order));
		uint32_t *place = mem_new(h->n_func + 1, sizeof(*place));
		struct hot_func *func = mem_new(h->n_func + 1, sizeof(*func));
		size_t n = 0;

		for (uint32_t i = 0; i < h->n_func; i++)
			if (h->func[i].samples)
				order[n++] = i;
		sort_items_by(order, n, hot_compare_functions, h);
		for (uint32_t i = 0; i < n; i++) {
			func[i] = h->func[order[i]];
			place[order[i]] = i;
		}
		free(h->func);
		h->func = func;
		h->n_func = n;
		n = 0;
		for (size_t i = 0; i < h->n_spot; i++) {
			if (!h->spot[i].samples)
				continue;
			h->spot[n] = h->spot[i];
			h->spot[n].func = place[h->spot[n].func];
			n++;
		}
		h->n_spot = n;
		free_all(order, place);
		rc = 0;
	}
	h->event = stacks_event_name(s, event);
	h->unit = stacks_unit(s, event, false);
	trust_free(trust);
	table_release(&l.by_symbol);
	return rc;
}

void hot_release(struct hot *h)
{
	free_all(h->spot, h->func, h->path, h->leaf);
	arena_release(&h->text);
}

const char *hot_base(const struct hot *h, uint32_t image)
{
	const char *path = image < h->n_path ? h->path[image] : NULL;

	return path && path[0] ? path_base(path) : "[unknown]";
}

bool hot_is_called(const char *name, const char *what)
{
	size_t n = strlen(what);

	if (!strcmp(name, what) || (!strncmp(name, what, n) && name[n] == '('))
		return true;
	char *brief = mem_new(strlen(name) + 1, 1);
	short_name(name, 0, brief);
	bool is = !strcmp(brief, what);
	free(brief);
	return is;
}

bool hot_has(const struct hot *h, const char *what, const char *dso)
{
	for (size_t i = 0; i < h->n_func; i++) {
		const struct hot_func *f = &h->func[i];

		if (f->name && hot_in_dso(h, f->image, dso) &&
		    (!strcmp(f->raw, what) || !strcmp(f->shown, what) ||
		     hot_is_called(f->base, what)))
			return true;
	}
	return false;
}

bool hot_in_dso(const struct hot *h, uint32_t image, const char *dso)
{
	return !dso || !strcmp(hot_base(h, image), dso) ||
	       (image < h->n_path && h->path[image] &&
		!strcmp(h->path[image], dso));
}

/* Parses "0x1f", at most 64 bits. Returns false for anything else. */
static bool parse_hex(const char *s, uint64_t *out)
{
	char *end;

	if (strncmp(s, "0x", 2) != 0 || !s[2] || strlen(s) > 18)
		return false;
	*out = strtoull(s, &end, 16);
	return !*end;
}

/* Returns the function with samples at an offset of an image, or NULL. */
static const struct hot_func *func_at(const struct hot *h, uint32_t image,
				      uint64_t off)
{
	for (size_t i = 0; i < h->n_func; i++) {
		const struct hot_func *f = &h->func[i];

		if (f->name && f->image == image && off >= f->start &&
		    off - f->start < f->size)
			return f;
	}
	return NULL;
}

/* Chooses an offset in the image called dso. Returns 0, or -1 and *err. */
static int choose_offset(const struct hot *h, const char *dso, uint64_t off,
			 struct hot_choice *out, struct err *err)
{
	for (uint32_t i = 1; i < h->n_path; i++) {
		if (!h->path[i] || !hot_in_dso(h, i, dso))
			continue;
		*out = (struct hot_choice){ func_at(h, i, off), i, off,
					    .nth = 1 };
		return 0;
	}
	return err_set(err, ERR_USAGE, "no image is called '%s'", dso);
}

/* Returns whether a function has the same name as the chosen one. */
static bool hot_is_same(const struct hot_choice *c, const struct hot_func *f)
{
	return c->told ? !strcmp(f->name, c->func->name)
		       : !strcmp(f->base, c->func->base);
}

/* Chooses the nth of the functions that have the name of the chosen one. func[]
 * has n functions in the order of their weight. Returns 0, or -1 and *err. */
static int hot_take_nth(const struct hot *h, const uint32_t *func, size_t n,
			size_t nth, struct hot_choice *c, struct err *err)
{
	c->nth = 0;
	for (size_t i = 0; i < n && c->others && c->nth < nth; i++) {
		const struct hot_func *f = &h->func[func[i]];

		if (!hot_is_same(c, f))
			continue;
		c->func = f;
		c->image = f->image;
		c->off = f->peak_off;
		c->nth++;
	}
	if (c->nth == nth || nth == 1)
		return 0;
	return err_set(err, ERR_USAGE, "--nth %zu: %zu function%s this name",
		       nth, c->others + 1, c->others ? "s have" : " has");
}

int hot_choose(const struct hot *h, const char *what, const char *dso,
	       size_t nth, struct hot_choice *out, struct err *err)
{
	const char *plus = strrchr(what, '+');
	uint64_t off;
	struct name_choice *c = mem_new(h->n_func + 1, sizeof(*c));
	uint32_t *func = mem_new(h->n_func + 1, sizeof(*func));
	size_t n = 0;
	size_t at = 0;

	for (uint32_t i = 0; i < h->n_func; i++) {
		const struct hot_func *f = &h->func[i];

		if (!f->name || !hot_in_dso(h, f->image, dso))
			continue;
		func[n] = i;
		c[n++] = (struct name_choice){ f->base, f->shown,
					       f->raw[0] ? f->raw : NULL,
					       f->name, f->weight };
	}
	int found = name_find(c, n, what, h->weight, &at, err);
	if (found > 0) {
		const struct hot_func *f = &h->func[func[at]];

		*out = (struct hot_choice){ f, f->image, f->peak_off,
					    .nth = 1 };
		/* Counts other functions with the name of the one that was
		 * found, unless the user's name tells it from them. */
		out->told = !strcmp(out->func->name, what) ||
			    !strcmp(out->func->shown, what);
		for (size_t k = 0; k < n; k++) {
			const struct hot_func *other = &h->func[func[k]];

			if (other == out->func || !hot_is_same(out, other))
				continue;
			out->others++;
		}
		if (nth != 1 && hot_take_nth(h, func, n, nth, out, err))
			found = -1;
	}
	free_all(func, c);

	if (found)
		return found > 0 ? 0 : -1;
	if (parse_hex(what, &off)) {
		/* Finds the image of an address by samples with a known virtual
		 * address. */
		for (size_t i = 0; i < h->n_spot; i++) {
			const struct hot_spot *s = &h->spot[i];
			const struct hot_func *f = &h->func[s->func];
			uint64_t start = s->vaddr - (s->off - f->start);

			if (!s->vaddr || !hot_in_dso(h, s->image, dso))
				continue;
			if (s->vaddr != off &&
			    (!f->name || off < start || off - start >= f->size))
				continue;
			*out = (struct hot_choice){ f->name ? f : NULL,
						    s->image,
						    s->off + (off - s->vaddr),
						    .nth = 1 };
			return 0;
		}
		return err_set(err, ERR_USAGE,
			       "no sample is in a function around 0x%" PRIx64
			       "; IMAGE+0xOFFSET says which file is meant",
			       off);
	}
	if (plus && plus != what && parse_hex(plus + 1, &off)) {
		char *name = mem_dup(what, (size_t)(plus - what));
		int rc = choose_offset(h, name, off, out, err);

		free(name);
		return rc;
	}
	return err_set(err, ERR_USAGE,
		       "no sample was taken in '%s', nor where debug info that "
		       "was read says that it is inlined; 'report --callees' "
		       "shows what a function called; without a name the "
		       "hottest functions are listed",
		       what);
}

struct hot_line *hot_lines_add(struct hot_lines *l, const char *file,
			       uint32_t line, uint64_t weight, uint64_t samples)
{
	size_t size = strlen(file) + sizeof(line);
	char *key = mem_new(size, 1);

	memcpy(key, &line, sizeof(line));
	memcpy(key + sizeof(line), file, size - sizeof(line));
	uint32_t id = intern_add_bytes(&l->index, key, size);
	free(key);
	if (id == l->n)
		*mem_add(l->line, l->n, l->cap) = (struct hot_line){
			.file = arena_strdup(&l->text, file),
			.line = line,
		};
	l->line[id].weight += weight;
	l->line[id].samples += samples;
	return &l->line[id];
}

COMPARE_FUNCTION(hot_lines_compare, struct hot_line,
		 compare_numbers(y->weight, x->weight)
			 ?: compare_numbers(y->samples, x->samples)
			 ?: strcmp(x->file, y->file)
			 ?: compare_numbers(x->line, y->line));

void hot_lines_sort(struct hot_lines *l)
{
	sort_items(l->line, l->n, hot_lines_compare);
	intern_release(&l->index);
}

void hot_lines_release(struct hot_lines *l)
{
	intern_release(&l->index);
	arena_release(&l->text);
	free(l->line);
}

/* The largest real functions (interpreters, parsers) have about 100 KB. */
#define CODE_MAX ((size_t)4 << 20)
/* Bytes before and after an address in code without function bounds. */
#define AROUND 128

/* An instruction or a branch target: its function, line and what is inlined. */
struct call_target {
	uint64_t off;
	const char *name; /* name of the function; NULL: none */
	uint64_t start;
	const char *file, *inlined;
	uint32_t line;
};

struct annot_loader {
	struct annot *a;
	const struct hot *h;
	const struct hot_choice *c;
	struct image img;
	struct code_bytes *code;
	struct call_target *called; /* by offset */
	size_t n_called, cap_called;
	const char *last_file, *last_name, *last_inlined; /* stored last */
};

/* Takes code that a JIT compiler saved, if there is any. Returns 0, or -1. */
static int take_jit(struct annot_loader *l, struct store *db, struct err *err)
{
	struct rows *r = rows_of(db, "annotate_has_jit", err);
	bool has_jit = rows_step(r);

	if (rows_end(r, err))
		return -1;
	if (!has_jit)
		return 0;
	r = ROWS_BY(db, "annotate_jit", err, l->c->image);
	if (rows_step(r)) {
		struct value b = rows_value(r, ANNOTATE_JIT_BYTES);

		if (b.len)
			l->code = code_bytes_of_memory(
				(uint16_t)rows_int(r, ANNOTATE_JIT_MACHINE),
				rows_int(r, ANNOTATE_JIT_BIG_ENDIAN) != 0,
				(uint64_t)rows_int(r, ANNOTATE_JIT_ADDR),
				b.text, b.len);
	}
	return rows_end(r, err);
}

/* Calls o->changed() if the code's section in the file is not as it was at
 * ingest. Returns 0, or -1 and *err. */
static int annot_check_code(struct annot_loader *l, struct store *db,
			    const struct annot_opts *o, struct err *err)
{
	struct rows *r = ROWS_BY(db, "image_text", err, l->c->image);
	uint64_t now;

	if (rows_step(r) &&
	    !strcmp(rows_text(r, IMAGE_TEXT_FILE), code_bytes_path(l->code)) &&
	    section_hashes_of_file(rows_text(r, IMAGE_TEXT_FILE),
				   rows_text(r, IMAGE_TEXT_NAME), &l->img,
				   &now) &&
	    now != (uint64_t)rows_int(r, IMAGE_TEXT_HASH))
		o->changed(rows_text(r, IMAGE_TEXT_FILE),
			   rows_text(r, IMAGE_TEXT_NAME));
	return rows_end(r, err);
}

/* Opens the code of the chosen image. Returns 0, or -1 and *err. */
static int open_code(struct annot_loader *l, struct store *db,
		     struct symbolizer *sy, const struct annot_opts *o,
		     struct err *err)
{
	struct rows *r = ROWS_BY(db, "annotate_image", err, l->c->image);
	bool found = rows_step(r);

	if (found) {
		rows_image(r, ANNOTATE_IMAGE_KIND, &l->a->text, &l->img);
		l->img.t0 = (uint64_t)rows_int(r, ANNOTATE_IMAGE_T0);
		l->img.mapped = (uint64_t)rows_int(r, ANNOTATE_IMAGE_MAPPED);
	}
	if (rows_end(r, err))
		return -1;
	r = rows_of(db, "several_images", err);
	while (rows_step(r))
		l->img.several |= rows_int(r, SEVERAL_IMAGES_ID) == l->c->image;
	if (rows_end(r, err))
		return -1;
	if (!found)
		return err_set(err, ERR_DB, "image %u is not there",
			       l->c->image);
	if (l->img.kind == IMAGE_JIT) {
		if (take_jit(l, db, err))
			return -1;
		if (!l->code)
			return err_set(
				err, ERR_IO,
				"%s: the bytes of this code are not in "
				"the database; a jitdump file has them: "
				"'perf record -k mono' of a program that "
				"writes one (node --perf-prof, java "
				"-agentpath:libperf-jvmti.so), then "
				"--jitdump FILE",
				l->img.path);
		return 0;
	}
	l->code = code_bytes_open(sy, &l->img, err);
	if (!l->code)
		return -1;
	return o->changed ? annot_check_code(l, db, o, err) : 0;
}

/* Finds the bounds of the code: of its symbol, by unwind tables, or guessed. */
static void find_bounds(struct annot_loader *l)
{
	const struct hot_func *f = l->c->func;
	struct annot *a = l->a;

	if (f && f->name) {
		a->start = f->start;
		a->end = f->start + f->size;
		if (f->size)
			return;
	}
	if (code_bytes_function(l->code, l->c->off, &a->start, &a->end))
		return;
	if (!f || !f->name)
		a->start = l->c->off;
	a->end = l->c->off + AROUND;
}

/* Fills a->insn with the code between the bounds. Returns 0, or -1 and *err. */
static int disassemble(struct annot_loader *l, const struct annot_opts *o,
		       struct err *err)
{
	struct annot *a = l->a;
	uint64_t size = a->end - a->start;
	size_t want = size < CODE_MAX ? (size_t)size : CODE_MAX;
	unsigned char *buf = mem_new(want + 1, 1);
	size_t len = code_bytes_read(l->code, a->start, buf, want);
	const unsigned char *p = buf;
	struct disasm *d;
	uint64_t addr = 0;
	struct insn in;

	if (!len || !code_bytes_addr(l->code, a->start, &addr)) {
		free(buf);
		return err_set(err, ERR_FORMAT,
			       "%s: has no code at offset 0x%" PRIx64, a->image,
			       a->start);
	}
	d = disasm_open(l->code->machine, l->code->big, o->intel, err);
	while (d && (!o->limit || a->n < (size_t)o->limit)) {
		const unsigned char *at = p;

		if (!disasm_next(d, &p, &len, &addr, &in))
			break;

		struct annot_insn *i = mem_add(a->insn, a->n, a->cap);

		*i = (struct annot_insn){
			.insn = in,
			.off = a->start + (uint64_t)(at - buf),
			.to = -1,
		};
		memcpy(i->bytes, at,
		       in.len < sizeof(i->bytes) ? in.len : sizeof(i->bytes));
	}
	a->left_out = (size_t)(size - (uint64_t)(p - buf));
	disasm_close(d);
	free(buf);
	return d ? 0 : -1;
}

struct annot_insn *annot_insn_at(const struct annot *a, uint64_t off)
{
	size_t next = search_where(a->n, i, a->insn[i].off > off);
	struct annot_insn *in = next ? &a->insn[next - 1] : NULL;

	return in && off - in->off < in->insn.len ? in : NULL;
}

COMPARE_BY(annot_compare_offsets, struct call_target, off);

static struct call_target *called_at(const struct annot_loader *l, uint64_t off)
{
	struct call_target key = { .off = off };

	return l->n_called ? bsearch(&key, l->called, l->n_called, sizeof(key),
				     annot_compare_offsets)
			   : NULL;
}

/* Returns a stored copy of s. Neighbouring instructions mostly share a text,
 * which is stored once. */
static const char *annot_keep_range(struct annot_loader *l, const char **last,
				    const char *s)
{
	if (!s)
		return NULL;
	if (!*last || strcmp(*last, s) != 0)
		*last = arena_strdup(&l->a->text, s);
	return *last;
}

/* Takes one function at a place. The innermost one comes first: the line is
 * that of the first call, the function that of the last. */
static int annot_take_symbol(void *arg, const struct symbol *sym,
			     struct err *err UNUSED)
{
	struct annot_loader *l = arg;
	struct call_target *c = called_at(l, sym->off);

	if (!c || !sym->name)
		return 0;
	if (!sym->depth) {
		c->file = annot_keep_range(l, &l->last_file, sym->file);
		c->line = sym->line;
	} else if (sym->depth == 1) {
		/* the function of the previous call is inlined */
		c->inlined = annot_keep_range(l, &l->last_inlined, c->name);
	}
	c->name = annot_keep_range(l, &l->last_name, sym->name);
	c->start = sym->start;
	return 0;
}

/* Finds the names of branch targets and, if lines is set, of all instructions.
 * Returns 0, or -1 and *err. */
static int annot_name_places(struct annot_loader *l, struct symbolizer *sy,
			     bool lines, struct err *err)
{
	const struct annot *a = l->a;
	struct image_report rep = { .n_seg = 0 };
	uint64_t at;
	size_t n = 0;

	for (size_t i = 0; i < a->n; i++) {
		if (lines)
			*mem_add(l->called, l->n_called, l->cap_called) =
				(struct call_target){ .off = a->insn[i].off };
		if (a->insn[i].insn.has_target &&
		    code_bytes_off(l->code, a->insn[i].insn.target, &at))
			*mem_add(l->called, l->n_called, l->cap_called) =
				(struct call_target){ .off = at };
	}
	if (!l->n_called || l->img.kind == IMAGE_JIT)
		return 0;
	sort_items(l->called, l->n_called, annot_compare_offsets);
	struct code_place *off = mem_new(l->n_called, sizeof(*off));
	for (size_t i = 0; i < l->n_called; i++) {
		if (n && off[n - 1].off == l->called[i].off)
			continue;
		l->called[n] = l->called[i];
		off[n++] = (struct code_place){ .off = l->called[i].off };
	}
	l->n_called = n;
	int rc = symbolize_image(sy, &l->img, off, n, annot_take_symbol, l,
				 &rep, err);
	report_release(&rep);
	free(off);
	return rc;
}

static bool annot_is_named(const struct annot_insn *in, const char *path)
{
	return in->file && in->line &&
	       (in->file == path || !strcmp(in->file, path));
}

/* The functions that a unit declares in a file. */
struct annot_declared {
	const char *path;
	struct arena text;
	struct source_name *name;
	size_t n, cap;
	uint32_t last; /* the largest of their lines */
};

/* Further functions prove nothing new. */
#define DECLARED_MAX 256

/* Adds a function that a unit declares, if it is in the file d->path. */
static void annot_add_declared(void *arg, const char *file, uint32_t line,
			       const char *name)
{
	struct annot_declared *d = arg;
	size_t len = strlen(d->path);
	size_t n = strlen(file);

	/* a path may be relative to the folder of the unit */
	if (d->n == DECLARED_MAX || len < n ||
	    strcmp(d->path + len - n, file) != 0)
		return;
	raise_to(d->last, line);
	*mem_add(d->name, d->n, d->cap) =
		(struct source_name){ arena_strdup(&d->text, name), line };
}

/* Finds the source files of the instructions, once they have their lines. */
static void annot_find_sources(struct annot *a, struct symbolizer *sy,
			       const struct image *img, struct sources *s)
{
	const char *file = a->file;
	struct stat st;

	struct source_proof proof = {
		.built = (file && *file && !stat(file, &st) ? st.st_mtim.tv_sec
							    : 0)
	};
	struct line_files *tables = NULL;

	for (size_t i = 0; i < a->n; i++) {
		const struct annot_insn *in = &a->insn[i];
		const char *path = in->file;

		if (!path || !in->line || in->source)
			continue;
		if (!tables)
			tables = line_files_open(sy, img);
		/* the instructions of this file from here on share it */
		proof.md5 = line_files_md5(tables, path);
		proof.last = 0;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path) &&
			    a->insn[k].line > proof.last)
				proof.last = a->insn[k].line;

		struct annot_declared d = { .path = path };

		if (!proof.md5)
			line_files_declared(tables, in->off, annot_add_declared,
					    &d);
		proof.declared = d.name;
		proof.n_declared = d.n;
		raise_to(proof.last, d.last);
		const struct source_file *f = sources_get(s, path, &proof);
		arena_release(&d.text);
		free(d.name);
		*mem_add(a->source, a->n_source, a->cap_source) = f;
		for (size_t k = i; k < a->n; k++)
			if (annot_is_named(&a->insn[k], path))
				a->insn[k].source = f;
	}
	line_files_close(tables);
}

/* Finds short names of targets and inlined functions. Returns 0, or -1. */
static int annot_shorten(struct annot *a, const struct name_opts *o,
			 struct store *db, struct err *err)
{
	struct shown_names *names = shown_names_new();
	int rc = shown_names_read(names, o, db, err);

	for (size_t i = 0; i < a->n; i++) {
		shown_names_add(names, a->insn[i].target);
		shown_names_add(names, a->insn[i].inlined);
	}
	shown_names_make(names, o, &a->text);
	for (size_t i = 0; i < a->n; i++) {
		struct annot_insn *in = &a->insn[i];

		in->target_shown = shown_names_get(names, in->target);
		in->inlined_shown = shown_names_get(names, in->inlined);
	}
	shown_names_free(names);
	return rc;
}

int annot_load(struct annot *a, struct store *db, struct symbolizer *sy,
	       const struct hot *h, const struct hot_choice *c,
	       const struct annot_opts *o, struct err *err)
{
	struct annot_loader l = { .a = a, .h = h, .c = c };
	int rc = -1;

	if (!open_code(&l, db, sy, o, err)) {
		a->image = h->path[c->image];
		a->file = arena_strdup(&a->text, code_bytes_path(l.code));
		a->name = c->func && c->func->name ? c->func->name : NULL;
		a->shown = a->name ? c->func->shown : NULL;
		a->event = h->event;
		a->unit = h->unit;
		a->trust = h->trust;
		a->all_weight = h->weight;
		a->all_samples = h->samples;
		if (l.code->machine == EM_X86_64 || l.code->machine == EM_386)
			a->syntax = o->intel ? "intel" : "att";
		find_bounds(&l);
		rc = disassemble(&l, o, err);
	}
	if (!rc) {
		struct annot *annot = l.a;

		for (size_t k = 0; k < l.h->n_spot; k++) {
			const struct hot_spot *s = &l.h->spot[k];

			if (s->image != l.c->image || s->off < annot->start ||
			    s->off >= annot->end)
				continue;
			annot->weight += s->weight;
			annot->samples += s->samples;
			struct annot_insn *in = annot_insn_at(annot, s->off);
			if (!in)
				continue;
			in->weight += s->weight;
			in->samples += s->samples;
			raise_to(annot->peak, in->weight);
		}
		rc = annot_name_places(&l, sy, o->lines, err);
	}
	if (!rc) {
		/* Stores names, lines and targets in the instructions. */
		for (size_t i = 0; i < a->n; i++) {
			struct annot_insn *in = &a->insn[i];
			const struct call_target *call = called_at(&l, in->off);
			uint64_t at;

			if (call) {
				in->file = call->file;
				in->line = call->line;
				in->inlined = call->inlined;
			}
			if (!in->insn.has_target ||
			    !code_bytes_off(l.code, in->insn.target, &at))
				continue;
			struct annot_insn *to = annot_insn_at(a, at);
			if (to && to->off == at && at != a->start) {
				in->to = to - a->insn;
				to->label = true;
				continue;
			}
			call = called_at(&l, at);
			if (call && call->name) {
				in->target = call->name;
				in->beyond = at - call->start;
			}
		}
	}
	rc = rc ? rc : annot_shorten(a, &h->names, db, err);
	if (!rc && o->sources)
		annot_find_sources(a, sy, &l.img, o->sources);
	if (!rc) {
		for (size_t i = 0; i < a->n; i++) {
			const struct annot_insn *in = &a->insn[i];

			if (!in->samples)
				continue;
			struct hot_line *lines = hot_lines_add(
				&a->lines, in->file ? in->file : "", in->line,
				in->weight, in->samples);
			lines->source = in->source;
		}
		hot_lines_sort(&a->lines);
	}
	code_bytes_close(l.code);
	free(l.called);
	return rc;
}

void annot_release(struct annot *a)
{
	free_all(a->insn, a->source);
	hot_lines_release(&a->lines);
	arena_release(&a->text);
}

/* Lines that are shown at most at a time: a jump further ahead is mostly one
 * over other functions. */
#define LINES_AHEAD 12

static bool annot_same_text(const char *a, const char *b)
{
	return a == b || (a && b && !strcmp(a, b));
}

void annot_lines_go(struct annot_lines *l, const struct annot_insn *in)
{
	const struct annot_insn *was = l->shown;
	bool same = was && annot_same_text(was->file, in->file) &&
		    annot_same_text(was->inlined, in->inlined);
	uint32_t top = l->last;

	l->place = false;
	l->next = top + 1;
	if (!in->file || !in->line || (same && was->line == in->line))
		return;
	l->shown = in;
	l->place = !same || !source_line(in->source, in->line);
	l->last = l->next = in->line;
	if (same && top < in->line && in->line - top <= LINES_AHEAD)
		l->next = top + 1;
}
