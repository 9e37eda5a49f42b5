/* matching.c - which code of two recordings is the same. */
#include "analyze/names/matching.h"

#include <inttypes.h>

#include "analyze/samples/code.h"
#include "analyze/names/homonyms.h"
#include "analyze/names/match_names.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"

/* All images of one name. */
struct match_name {
	uint8_t id[20], id_len;
	bool seen[2]; /* in A, in B */
	bool differ;  /* there are two builds, or one is not known */
};

/* An image of A that has another name in B. */
struct match_rename {
	uint32_t from, to; /* in names */
	bool seen;
};

struct matching {
	struct match_names *functions;
	struct intern names;	 /* of images */
	struct match_name *name; /* by id in names */
	size_t n_name, cap_name;
	struct match_rename *rename;
	size_t n_rename, cap_rename;
};

/* Returns the id of the name of a path: without folder, and without what the
 * kernel adds to a file that is gone. */
static uint32_t matching_path(struct matching *m, const char *path)
{
	static const char gone[] = " (deleted)";
	const char *name = path_name(path);
	size_t n = strlen(name);

	if (n >= sizeof(gone) && !strcmp(name + n - (sizeof(gone) - 1), gone))
		n -= sizeof(gone) - 1;
	uint32_t id = intern_add_bytes(&m->names, name, n);
	mem_reach(m->name, m->n_name, m->cap_name, (size_t)id + 1);
	return id;
}

struct matching *matching_new(const struct match_opts *o, struct err *err)
{
	struct matching *m = mem_new(1, sizeof(*m));

	m->functions = match_names_new(o->full_names);
	for (size_t i = 0; i < o->n_image; i++) {
		const char *s = o->image[i];
		const char *to = strchr(s, '=');

		if (!to || to == s || !to[1]) {
			err_set(err, ERR_USAGE,
				"--match needs the names of an image before "
				"and after, 'OLD=NEW', not '%s'",
				s);
			matching_free(m);
			return NULL;
		}

		char *old = mem_dup(s, (size_t)(to - s));
		struct match_rename r = { matching_path(m, old),
					  matching_path(m, to + 1), false };

		free(old);
		*mem_add(m->rename, m->n_rename, m->cap_rename) = r;
	}
	return m;
}

bool matching_is_reported(const struct matching *m, uint32_t a, uint32_t b)
{
	for (size_t i = 0; i < m->n_rename; i++) {
		const struct match_rename *r = &m->rename[i];

		if (r->from == a || r->from == b || r->to == a || r->to == b)
			return true;
	}
	return false;
}

void matching_rename(struct matching *m, const char *from, const char *to)
{
	*mem_add(m->rename, m->n_rename, m->cap_rename) =
		(struct match_rename){ matching_path(m, from),
				       matching_path(m, to), true };
}

void matching_free(struct matching *m)
{
	if (!m)
		return;
	match_names_free(m->functions);
	intern_release(&m->names);
	free_all(m->name, m->rename, m);
}

/* Returns the id of the name under which an image is compared. */
static uint32_t matching_name(struct matching *m, int side,
			      const struct image *img)
{
	uint32_t id = matching_path(m, img->path ? img->path : "");

	for (size_t i = 0; !side && i < m->n_rename; i++) {
		if (m->rename[i].from == id) {
			m->rename[i].seen = true;
			return m->rename[i].to;
		}
	}
	return id;
}

void matching_add(struct matching *m, int side, const struct known_code *c,
		  const struct homonyms *h, bool inlined_same)
{
	uint32_t *image = mem_new(c->n_image, sizeof(*image));
	bool *ran = mem_new(c->n_image, sizeof(*ran));

	for (size_t i = 1; i < c->n_frame; i++)
		ran[c->frame[i].image] = true;
	for (size_t i = 1; i < c->n_image; i++) {
		const struct image *img = &c->image[i].img;

		image[i] = matching_image(m, side, img).id;
		/* a server does not report what was only mapped */
		if (img->kind != IMAGE_JIT && ran[i]) {
			/* which may move m->name */
			uint32_t id = matching_name(m, side, img);
			struct match_name *n = &m->name[id];

			if (!n->seen[0] && !n->seen[1]) {
				memcpy(n->id, img->id, sizeof(n->id));
				n->id_len = img->id_len;
			}
			n->seen[side] = true;
			n->differ |= !image_has_offsets(img->kind) ||
				     !n->id_len || n->id_len != img->id_len ||
				     memcmp(n->id, img->id, n->id_len) != 0;
		}
	}
	for (size_t i = 1; i < c->n_frame; i++) {
		const struct code_frame *f = &c->frame[i];

		match_names_see(m->functions, side, image[f->image], f->at.name,
				false, homonyms_of_frame(h, (uint32_t)i));
		for (uint32_t k = 0; k < f->n_inlined; k++) {
			const struct code_where *in =
				&c->inlined[f->inlined + k];

			match_names_see(
				m->functions, side, image[f->image], in->name,
				inlined_same,
				&(struct homonym){ .start = HOMONYM_INLINED,
						   .file = in->file });
		}
	}
	free_all(ran, image);
}

const char *matching_function(struct matching *m,
			      const struct matched_image *img, const char *name,
			      const struct homonym *at)
{
	return match_names_get(m->functions, img->id, name, at, img->exact);
}

int matching_check(const struct matching *m, struct err *err)
{
	for (size_t i = 0; i < m->n_rename; i++)
		if (!m->rename[i].seen)
			return err_set(
				err, ERR_USAGE,
				"--match: A has no image '%s'; 'OLD=NEW' "
				"is an image of A, and its name in B",
				intern_get(&m->names, m->rename[i].from));
	return 0;
}

struct matched_image matching_image(struct matching *m, int side,
				    const struct image *img)
{
	struct matched_image out = { UINT32_MAX, "[jit]", "[jit]", false };

	if (img->kind == IMAGE_JIT)
		return out;
	uint32_t id = matching_name(m, side, img);
	const struct match_name *n = &m->name[id];
	out.id = id;
	out.own = out.name = intern_get(&m->names, id);
	if (image_is_kernel(img->kind) && img->kind != IMAGE_GUEST) {
		out.id = UINT32_MAX - 1;
		out.name = "[kernel]";
	}
	out.exact = n->seen[0] && n->seen[1] && !n->differ;
	return out;
}

char *matching_unnamed(const struct matched_image *img, uint64_t off)
{
	size_t n = strlen(img->own);
	/* "[vdso]" has brackets already */
	bool bare = n < 2 || img->own[0] != '[' || img->own[n - 1] != ']';
	const char *from = img->own + !bare;

	if (!n)
		return mem_strdup("[unknown]");
	n -= bare ? 0 : 2;
	if (img->exact)
		return mem_printf("[%.*s+0x%" PRIx64 "]", (int)n, from, off);
	return mem_printf("[in %.*s]", (int)n, from);
}
