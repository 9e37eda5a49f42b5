/* jit_frame.c - frames in code that a process made at run time. */
#include "stitch/tasks/jit_frame.h"

#include "stitch/tasks/frame.h"
#include "stitch/tasks/jit.h"
#include "stitch/record.h"
#include "stitch/tasks/space.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

/* Most names in the path of an image for several codes. */
#define NAMES_MAX 64
#define NAMES_SIZE 4096
/* Seeds of the two halves of an image id. They must not change, because ids are
 * stored in the database. */
#define SEED_0 0x6a69742d636f6465u
#define SEED_1 0x636f64652d6a6974u

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

static bool jit_has_one_name(const struct jit_hit *hit)
{
	for (size_t i = 1; i < hit->n; i++)
		if (strcmp(hit->code[i]->name, hit->code[0]->name) != 0)
			return false;
	return true;
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
	if (jit_has_one_name(hit))
		img.path = hit->code[0]->name;
	else
		jit_put_names(hit, name, sizeof(name));
	*hit->image = frames_image(fr, &img);
	return *hit->image;
}

static bool jit_is_ambiguous(const struct frames *fr, uint32_t image)
{
	const char *path = frames_get_image(fr, image)->path;

	return !strncmp(path, JIT_AMBIGUOUS, strlen(JIT_AMBIGUOUS));
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

/* A process inherits the code that its parent had at the fork. */
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

uint32_t jit_frame(struct frames *fr, const struct jit_at *at, uint32_t flags,
		   bool *ever)
{
	struct frame f = { .flags = flags };
	struct jit_hit hit;

	if (!jit_hit_for(fr, at, &hit, ever))
		return 0;
	if (hit.found == JIT_SEVERAL) {
		f.image = jit_several_image(fr, &hit);
		f.off = at->addr - hit.start;
		f.flags |= jit_is_ambiguous(fr, f.image) ? FRAME_AMBIGUOUS : 0;
	} else {
		f.image = jit_code_image(fr, hit.code[0]);
		f.off = at->addr - hit.code[0]->start;
		f.flags |= hit.found == JIT_EARLY ? FRAME_EARLY : 0;
	}
	return frames_frame(fr, &f);
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
