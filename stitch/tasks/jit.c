/* jit.c - finds code that a runtime made in a process.
 *
 * The starts and ends of all codes divide the address space into pieces. Each
 * piece has a list of the codes that cover it, oldest first. Functions hardly
 * nest, so these lists are short; a limit protects against hostile files. */
#include "stitch/tasks/jit.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"
#include "stitch/files/path.h"
#include "stitch/record.h"
#include "stitch/tasks/space.h"

#define CODES_MAX (1u << 25)
/* Most entries in the lists of all pieces: a minimum, plus a number for each
 * code. */
#define PLACES_MIN (1u << 20)
#define PLACES_EACH 64

struct piece {
	uint64_t start;	 /* its end is the start of the next piece */
	size_t first, n; /* its list in place[] */
	uint64_t low;	 /* smallest start of its codes */
	uint32_t image;
};

struct jit {
	bool dated;
	struct jit_code *code; /* in file order */
	size_t n, cap;
	struct table by_number; /* newest code with a number at an address */
	int64_t *change;	/* times of changes, sorted by jit_finish() */
	size_t n_change, cap_change;
	struct piece *piece;
	size_t n_piece;
	struct jit_code **place;
};

struct jit *jit_new(bool dated)
{
	struct jit *j = mem_new(1, sizeof(*j));

	j->dated = dated;
	return j;
}

void jit_free(struct jit *j)
{
	if (!j)
		return;
	free_all(j->code, j->change, j->piece, j->place);
	table_release(&j->by_number);
	free(j);
}

size_t jit_count(const struct jit *j)
{
	return j->n;
}

struct numbered {
	uint64_t number, start;
};

SAME_FUNCTION(jit_is_same_number, struct jit, code[id], struct numbered,
	      x->number == y->number && x->start == y->start);

bool jit_add(struct jit *j, const struct jit_code *c, int64_t t)
{
	const struct numbered key = { c->number, c->start };
	uint64_t h = hash_pair(key.number, key.start);
	uint64_t end;

	if (!c->len || __builtin_add_overflow(c->start, c->len, &end) ||
	    j->n >= CODES_MAX)
		return false;
	uint32_t was =
		table_find(&j->by_number, h, jit_is_same_number, j, &key);

	if (was != TABLE_NONE)
		table_remove(&j->by_number, h, was);
	table_add(&j->by_number, h, (uint32_t)j->n);
	struct jit_code *own = mem_add(j->code, j->n, j->cap);

	*own = *c;
	own->t0 = j->dated ? t : INT64_MIN;
	own->t1 = INT64_MAX;
	own->image = 0;
	if (j->dated)
		*mem_add(j->change, j->n_change, j->cap_change) = t;
	return true;
}

bool jit_move(struct jit *j, uint64_t number, uint64_t from, uint64_t to,
	      int64_t t)
{
	const struct numbered key = { number, from };
	uint32_t at = table_find(&j->by_number, hash_pair(number, from),
				 jit_is_same_number, j, &key);

	if (at == TABLE_NONE || j->code[at].t1 != INT64_MAX)
		return false;
	struct jit_code moved = j->code[at];

	if (j->dated)
		j->code[at].t1 = t > moved.t0 ? t : moved.t0;
	moved.start = to;
	return jit_add(j, &moved, t);
}

/* Compares times, then positions in the file. */
COMPARE_FUNCTION(compare_code_times, struct jit_code *const,
		 compare_numbers((*x)->t0, (*y)->t0)
			 ?: compare_numbers(*x, *y));

/* Returns the last piece that starts at or below addr, or n_piece. */
static size_t jit_piece_at(const struct jit *j, uint64_t addr)
{
	size_t n = search_where(j->n_piece, i, j->piece[i].start > addr);

	return n ? n - 1 : j->n_piece;
}

size_t jit_finish(struct jit *j)
{
	size_t limit = PLACES_MIN + j->n * PLACES_EACH;
	size_t total = 0; /* entries of the lists of all pieces */
	size_t used;

	if (!j->n)
		return 0;
	/* Several threads of a runtime may write, so records may be out of
	 * order. */
	struct jit_code **by OWNED = mem_new(j->n, sizeof(struct jit_code *));

	for (size_t i = 0; i < j->n; i++)
		by[i] = &j->code[i];
	sort_items(by, j->n, compare_code_times);
	sort_items(j->change, j->n_change, compare_i64);

	/* divide the address space at all starts and ends of codes */
	uint64_t *edge OWNED = mem_new(j->n * 2, sizeof(*edge));

	for (size_t i = 0; i < j->n; i++) {
		edge[2 * i] = j->code[i].start;
		edge[2 * i + 1] = j->code[i].start + j->code[i].len;
	}
	sort_items(edge, j->n * 2, compare_u64);
	j->piece = mem_new(j->n * 2, sizeof(*j->piece));
	j->n_piece = 0;
	for (size_t i = 0; i < j->n * 2; i++)
		if (!j->n_piece || j->piece[j->n_piece - 1].start != edge[i])
			j->piece[j->n_piece++].start = edge[i];
	/* count the entries of each list, of as many codes as fit */
	for (used = 0; used < j->n; used++) {
		const struct jit_code *c = by[used];
		size_t first = jit_piece_at(j, c->start);
		size_t last = jit_piece_at(j, c->start + c->len - 1);

		if (last - first >= limit - total)
			break;
		for (size_t k = first; k <= last; k++)
			j->piece[k].n++;
		total += last - first + 1;
	}
	j->place = mem_new(total + 1, sizeof(struct jit_code *));
	for (size_t k = 0, at = 0; k < j->n_piece; k++) {
		j->piece[k].first = at;
		at += j->piece[k].n;
		j->piece[k].n = 0;
		j->piece[k].low = UINT64_MAX;
	}
	for (size_t i = 0; i < used; i++) {
		struct jit_code *c = by[i];
		uint64_t end = c->start + c->len;
		size_t k = jit_piece_at(j, c->start);

		for (; k < j->n_piece && j->piece[k].start < end; k++) {
			struct piece *p = &j->piece[k];

			j->place[p->first + p->n++] = c;
			lower_to(p->low, c->start);
		}
	}
	return j->n - used;
}

int64_t jit_first(const struct jit *j)
{
	return j->n_change ? j->change[0] : TIME_NONE;
}

static int64_t jit_with_grace(int64_t t)
{
	return t > INT64_MAX - JIT_GRACE_NS ? INT64_MAX : t + JIT_GRACE_NS;
}

static struct jit_hit jit_hit_at(struct jit *j, const struct piece *p, size_t i,
				 enum jit_found how)
{
	return (struct jit_hit){ .found = how,
				 .code = &j->place[p->first + i],
				 .n = 1 };
}

struct jit_hit jit_find(struct jit *j, uint64_t addr, int64_t t)
{
	size_t at = jit_piece_at(j, addr);
	struct piece *p = at < j->n_piece ? &j->piece[at] : NULL;
	struct jit_hit none = { .found = JIT_NONE };

	if (!p || !p->n)
		return none;
	none.code = &j->place[p->first];
	none.n = p->n;
	if (p->n == 1 && (!j->dated || t == TIME_NONE))
		return jit_hit_at(j, p, 0, JIT_ONE);
	if (!j->dated || t == TIME_NONE)
		return (struct jit_hit){ .found = JIT_SEVERAL,
					 .code = &j->place[p->first],
					 .n = p->n,
					 .start = p->low,
					 .image = &p->image };
	/* how many codes of the piece had appeared at t */
	size_t n = search_where(p->n, i, j->place[p->first + i]->t0 > t);

	if (n && t < j->place[p->first + n - 1]->t1)
		return jit_hit_at(j, p, n - 1, JIT_ONE);
	if (n < p->n && j->place[p->first + n]->t0 <= jit_with_grace(t))
		return jit_hit_at(j, p, n, JIT_EARLY);
	return none;
}

static size_t jit_changes_until(const struct jit *j, int64_t t)
{
	return search_where(j->n_change, i, j->change[i] > t);
}

/* Both terms grow with t, so different pairs have different sums. */
uint32_t jit_changes(const struct jit *j, int64_t t)
{
	if (t == TIME_NONE)
		return 0;
	return (uint32_t)(jit_changes_until(j, t) +
			  jit_changes_until(j, jit_with_grace(t)));
}

void jit_view_start(struct jit_view *v, int64_t t)
{
	*v = (struct jit_view){ .since = t == TIME_NONE ? 0 : t };
}

void jit_view_fork(struct jit_view *child, const struct jit_view *parent,
		   int64_t t)
{
	jit_view_start(child, t);
	child->forked = t;
	child->source = parent->source;
	child->shift = parent->shift;
	child->parents = parent->own ? parent->own : parent->parents;
	if (!parent->own && parent->parents && parent->forked < t)
		child->forked = parent->forked;
}

bool jit_is_marker(const struct rec_map *m)
{
	const char *s = path_base(m->path);

	if (strncmp(s, "jit-", 4) != 0)
		return false;
	size_t n = strspn(s + 4, "0123456789");
	return n && n <= 10 && !strcmp(s + 4 + n, ".dump");
}

/* Most names in the path of an image for several codes. */
#define NAMES_MAX 64
#define NAMES_SIZE 4096
/* Seeds of the two halves of an image id. They must not change, because ids are
 * stored in the database. */
#define SEED_0 0x6a69742d636f6465u
#define SEED_1 0x636f64652d6a6974u

/* Writes the names of several codes, each once, as far as they fit. */
static void jit_put_names(const struct jit_hit *hit, char *out, size_t size)
{
	size_t max = hit->n < NAMES_MAX ? hit->n : NAMES_MAX;
	size_t n = (size_t)snprintf(out, size, "%s", JIT_AMBIGUOUS);
	size_t left = hit->n - max;

	for (size_t i = 0; i < max; i++) {
		const char *name = hit->code[i]->name;

		if (any_where(i, k, !strcmp(hit->code[k]->name, name)))
			continue;
		if (n + strlen(name) + 40 > size)
			left++;
		else
			n += (size_t)snprintf(out + n, size - n, "%s%s",
					      i ? "|" : "", name);
	}
	if (left)
		snprintf(out + n, size - n, "|and %zu more", left);
}

static void put_big_endian(uint8_t *out, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		out[i] = (uint8_t)(v >> (56 - 8 * i));
}

/* Returns the image of one code, which is the same in every run. */
static uint32_t jit_code_image(struct frames *fr, struct jit_code *c)
{
	struct image img = { .kind = IMAGE_JIT, .len = c->len, .code = c };
	size_t n = strlen(c->name);

	if (c->image)
		return c->image;
	img.path = n ? c->name : "[jit]";
	if (c->bytes) {
		put_big_endian(img.id,
			       hash_content(c->bytes, c->n_bytes,
					    hash_content(c->name, n, SEED_0)));
		put_big_endian(img.id + 8,
			       hash_content(c->bytes, c->n_bytes,
					    hash_content(c->name, n, SEED_1)));
		img.id_len = 16;
	}
	c->image = frames_image(fr, &img);
	return c->image;
}

/* Returns the image for several codes that may have run: its path lists their
 * names. */
static uint32_t jit_several_image(struct frames *fr, const struct jit_hit *hit)
{
	struct image img = { .kind = IMAGE_JIT };
	char name[NAMES_SIZE];

	if (*hit->image)
		return *hit->image;
	img.path = name;
	if (any_where(hit->n, i,
		      strcmp(hit->code[i]->name, hit->code[0]->name)))
		jit_put_names(hit, name, sizeof(name));
	else
		img.path = hit->code[0]->name;
	*hit->image = frames_image(fr, &img);
	return *hit->image;
}

/* Times of a capture may have any value, so the sum may wrap. */
static int64_t shift_time(int64_t t, int64_t shift)
{
	return t == TIME_NONE ? t : (int64_t)((uint64_t)t + (uint64_t)shift);
}

/* Jitted code is in anonymous memory or a memfd. Some runtimes, such as V8,
 * also have code in files: a file mapped there later covers the jitted code,
 * and code without times does not count there. */
static bool jit_is_covered(const struct frames *fr, const struct jit_at *at,
			   const struct jit_hit *hit)
{
	const struct region *r = at->region;

	if (!r)
		return false;
	const struct image *img = frames_get_image(fr, r->image);

	if (img->kind == IMAGE_ANON || image_is_copy(img) ||
	    !strncmp(img->path, "/memfd:", 7))
		return false;
	if (hit->found == JIT_SEVERAL || hit->code[0]->t0 == INT64_MIN)
		return true;
	return r->since != TIME_NONE &&
	       shift_time(r->since, at->view->shift) > hit->code[0]->t0;
}

static bool jit_hit_in(const struct frames *fr, struct jit *j, int64_t t,
		       const struct jit_at *at, struct jit_hit *hit, bool *ever)
{
	if (!j)
		return false;
	*hit = jit_find(j, at->addr, shift_time(t, at->view->shift));
	*ever |= hit->n > 0;
	return hit->found != JIT_NONE && !jit_is_covered(fr, at, hit);
}

/* Returns the time at which to search the parent's code: a process inherits the
 * code that its parent had at the fork. */
static int64_t jit_parents_time(const struct jit_view *v, int64_t t)
{
	return t != TIME_NONE && v->forked < t ? v->forked : t;
}

static bool jit_hit_for(const struct frames *fr, const struct jit_at *at,
			struct jit_hit *hit, bool *ever)
{
	const struct jit_view *v = at->view;

	return jit_hit_in(fr, v->own, at->t, at, hit, ever) ||
	       jit_hit_in(fr, v->parents, jit_parents_time(v, at->t), at, hit,
			  ever);
}

struct frame jit_frame(struct frames *fr, const struct jit_at *at,
		       uint32_t flags, bool *ever)
{
	struct frame f = { .flags = flags };
	struct jit_hit hit;

	if (!jit_hit_for(fr, at, &hit, ever))
		return f;
	if (hit.found == JIT_SEVERAL) {
		f.image = jit_several_image(fr, &hit);
		f.off = at->addr - hit.start;
		if (!strncmp(frames_get_image(fr, f.image)->path, JIT_AMBIGUOUS,
			     strlen(JIT_AMBIGUOUS)))
			f.flags |= FRAME_AMBIGUOUS;
	} else {
		f.image = jit_code_image(fr, hit.code[0]);
		f.off = at->addr - hit.code[0]->start;
		f.flags |= hit.found == JIT_EARLY ? FRAME_EARLY : 0;
	}
	return f;
}

const struct jit_code *jit_code_at(const struct frames *fr,
				   const struct jit_at *at, bool *ever)
{
	struct jit_hit hit;

	return jit_hit_for(fr, at, &hit, ever) && hit.found != JIT_SEVERAL
		       ? hit.code[0]
		       : NULL;
}

uint32_t jit_gen(const struct jit_view *v, int64_t t)
{
	uint32_t n = v->own ? jit_changes(v->own, shift_time(t, v->shift)) : 0;

	t = shift_time(jit_parents_time(v, t), v->shift);
	return n + (v->parents ? jit_changes(v->parents, t) : 0);
}
