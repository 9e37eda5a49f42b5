/* hot.c - the functions with samples, and the one that the user
 * means. */
#include <inttypes.h>

#include "analyze/listing/hot.h"
#include "analyze/names/homonyms.h"
#include "analyze/names/name_find.h"
#include "analyze/names/shown_names.h"
#include "analyze/names/short_name.h"
#include "analyze/stacks/stacks.h"
#include "analyze/names/suffix.h"
#include "schema/columns.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/base/search.h"
#include "stitch/files/path.h"
#include "stitch/base/table.h"

/* ---- loading */

struct hot_loader {
	struct hot *h;
	const struct homonyms *homonyms;
	struct table by_symbol; /* of hot.func; -image: code without symbols */
};

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
			/* Stores what a function is called: raw in the table
			 * of symbols, base for people, and name, which also
			 * tells it from others of its image that are called
			 * so. The row is that of any of its frames. */
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

				/* "JS:*parse" and "JS:^parse" are one function
				 */
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

/* ---- counting */

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

/* Gives all functions a name for people. */
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
		/* Counts the samples of the event, or of all events if it is
		 * -1. */
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
		/* Drops functions and spots without samples, and sorts spots
		 * by function. */
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

/* ---- choosing */

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

/* Parses "0x1f" or "1f". Returns false for anything else. */
static bool parse_hex(const char *s, uint64_t *out)
{
	char *end;

	if (strncmp(s, "0x", 2) != 0 || !s[2] || strlen(s) > 18)
		return false;
	*out = strtoull(s, &end, 16);
	return !*end;
}

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

/* Returns whether a function has the name of the one that was chosen. */
static bool hot_is_same(const struct hot_choice *c, const struct hot_func *f)
{
	return c->told ? !strcmp(f->name, c->func->name)
		       : !strcmp(f->base, c->func->base);
}

/* Takes the nth of the n functions that have the name of the one that was
 * found; they are in the order of their weight. Returns 0, or -1 and *err. */
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
	/* Finds the function that the user calls `what`. */
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
		/* Counts those of the n functions that have the name of the
		 * one that was found, if the user did not tell it from them. */
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
		/* Finds the image of an address by the samples whose virtual
		 * address is known. */
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

/* ---- source lines */

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
