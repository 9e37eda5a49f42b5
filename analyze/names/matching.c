/* matching.c - which code of two recordings is the same, and its names. */
#include "analyze/names/matching.h"

#include <inttypes.h>

#include "analyze/names/homonyms.h"
#include "analyze/names/short_name.h"
#include "analyze/names/suffix.h"
#include "analyze/samples/code.h"
#include "stitch/base/err.h"
#include "stitch/base/intern.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/tasks/frame.h"

/* Which functions decide on names: those that are compared, or inlined ones
 * that are only drawn as well. */
enum match_of {
	MATCH_COMPARED,
	MATCH_DRAWN,
};

/* A function by its name with parameters and arguments. */
struct match_function {
	uint32_t brief;	 /* id in briefs */
	bool seen[2][2]; /* by enum match_of, and by side */
};

/* Functions of one recorded name. */
struct match_named {
	uint32_t function;  /* id in functions */
	bool shared;	    /* an image of a recording has several */
	bool unclear;	    /* files do not tell all of them apart */
	unsigned int depth; /* see struct homonym */
};

/* Functions of one short name. */
struct match_brief {
	uint32_t n[2];	 /* by enum match_of, how many functions have it */
	uint32_t last;	 /* id in lasts */
	uint32_t group;	 /* id in groups */
	uint32_t script; /* 1 + id in scripts, if V8's and named; else 0 */
	bool numbered;	 /* the group's name is another, without numbers */
	bool seen[2][2]; /* by enum match_of, and by side */
};

/* Functions whose short names are equal without the numbers that compilers give
 * and the place in a script. alone: by enum match_of, how many of these short
 * names are on one side only. By side: n, how many of V8's short names are
 * compared, and script, the id of the last one's. */
struct match_group {
	uint32_t alone[2], n[2], script[2];
};

/* A file of JavaScript. */
struct match_script {
	bool seen[2]; /* by side */
};

/* Functions whose short names have one last part. */
struct match_last {
	bool bare; /* this is the whole name of an inlined function */
	bool more; /* a function has it after "::" */
};

/* What is interned as a name, function, brief, group or last part is the id of
 * its image, followed by the text. */
struct match_names {
	bool full;	     /* names stay as they are */
	struct intern names; /* as they are recorded */
	struct match_named *named;
	struct intern apart; /* text: names with what tells them apart */
	struct intern functions;
	struct match_function *function;
	struct intern briefs;
	struct match_brief *brief;
	struct intern groups;
	struct match_group *group;
	struct intern lasts;
	struct match_last *last;
	struct intern scripts;
	struct match_script *script;
	size_t n_script, cap_script;
	size_t n_group, cap_group;
	size_t n_name, cap_name, n_function, cap_function;
	size_t n_brief, cap_brief, n_last, cap_last;
};

struct match_names *match_names_new(bool full)
{
	struct match_names *m = mem_new(1, sizeof(*m));

	m->full = full;
	return m;
}

void match_names_free(struct match_names *m)
{
	if (!m)
		return;
	intern_release(&m->names);
	intern_release(&m->functions);
	intern_release(&m->briefs);
	intern_release(&m->groups);
	intern_release(&m->lasts);
	intern_release(&m->scripts);
	intern_release(&m->apart);
	free_all(m->named, m->function, m->brief, m->group, m->last, m->script,
		 m);
}

/* Returns the part of a short name after the last "::" outside of brackets. */
static const char *match_names_last_part(const char *name)
{
	const char *last = name;
	int depth = 0;

	for (const char *p = name; *p; p++) {
		/* the "<" of "operator<" opens no bracket */
		if (!depth && !strncmp(p, "operator", 8) &&
		    (p == name || p[-1] == ':'))
			return p;
		if (strchr("<({[", *p))
			depth++;
		else if (strchr(">)}]", *p))
			depth--;
		else if (!depth && p[0] == ':' && p[1] == ':')
			last = p + 2;
	}
	return last;
}

/* Returns the length of a last part without its arguments. */
static size_t match_names_bare_length(const char *part)
{
	size_t n = 8;

	if (strncmp(part, "operator", n) != 0)
		n = 0;
	else if (part[n] == '(')
		return n + strspn(part + n, "()");
	else if (part[n] == '<')
		return n + strspn(part + n, "<=>");
	n += strcspn(part + n, "<(");
	return n ? n : strlen(part);
}

/* Returns the id of n bytes of a name in an image; they are added if new. */
static uint32_t match_names_intern(struct intern *in, uint32_t image,
				   const char *name, size_t n)
{
	char *key = mem_new(sizeof(image) + n + 1, 1);

	memcpy(key, &image, sizeof(image));
	memcpy(key + sizeof(image), name, n);
	uint32_t id = intern_add_bytes(in, key, sizeof(image) + n);
	free(key);
	return id;
}

static const char *match_names_text(const struct intern *in, uint32_t id)
{
	return intern_get(in, id) + sizeof(uint32_t);
}

/* Cuts folders, line and column out of the name of a V8 function, "JS:parse
 * /srv/a.js:3:20", or of a whole script, "JS: /srv/a.js:1:1". Returns 1 + the
 * id of the script; 0: the function has no name of its own, or is not V8's. */
static uint32_t match_names_script(struct match_names *m, char *name)
{
	size_t len;
	const char *own = short_name_script(name, &len);
	char *path = (char *)(own && own[len] ? own + len + 1 : NULL);
	char *end = strrchr(name, ':');

	if (!strncmp(name, "JS: ", 4) && end - name > 6 &&
	    !strcmp(end - 2, ":1:1"))
		path = name + 4;
	if (!path || end <= path)
		return 0;
	*end = 0;
	end = strrchr(path, ':');
	if (end && end[1] && !end[1 + strspn(end + 1, "0123456789")])
		*end = 0;
	uint32_t id = intern_add(&m->scripts, path);
	mem_reach(m->script, m->n_script, m->cap_script, id + (size_t)1);
	memmove(path, path_base(path), strlen(path_base(path)) + 1);
	return id + 1;
}

/* Returns the id of a short name, which is added if it is new. */
static uint32_t match_names_brief(struct match_names *m, uint32_t image,
				  const char *name)
{
	const char *part = match_names_last_part(name);
	bool more = part > name;
	uint32_t id = match_names_intern(&m->briefs, image, name, strlen(name));
	uint32_t group;

	if (id < m->n_brief)
		return id;
	char *folded = mem_strdup(name);
	suffix_remove(folded, OF_BUILD);
	uint32_t script = match_names_script(m, folded);
	group = match_names_intern(&m->groups, image, folded, strlen(folded));
	mem_reach(m->group, m->n_group, m->cap_group, group + (size_t)1);
	/* "f::{lambda#1}" is short for "f::{lambda#1}::operator()" */
	if (!strncmp(part, "{lambda", 7))
		part = "operator()";
	uint32_t last = match_names_intern(&m->lasts, image, part,
					   match_names_bare_length(part));
	mem_at(m->last, m->n_last, m->cap_last, last)->more |= more;
	*mem_add(m->brief, m->n_brief, m->cap_brief) = (struct match_brief){
		.last = last,
		.group = group,
		.script = script,
		.numbered = strcmp(folded, name) != 0,
	};
	free(folded);
	return id;
}

/* Returns the id of a recorded name, which is added if it is new. */
static uint32_t match_names_name(struct match_names *m, uint32_t image,
				 const char *name)
{
	size_t len = strlen(name);
	uint32_t at = match_names_intern(&m->names, image, name, len);
	uint32_t id;

	if (at < m->n_name)
		return at;
	char *text = mem_new(len + 1, 1);
	/* a clone, and a member of another trait, is the same function */
	short_name(name, SHORT_KEEP_ARGS | SHORT_KEEP_PARAMS, text);
	suffix_remove(text, OF_RUN);
	id = match_names_intern(&m->functions, image, text, strlen(text));
	*mem_add(m->named, m->n_name, m->cap_name) =
		(struct match_named){ .function = id };
	if (id == m->n_function) {
		short_name(name, 0, text);
		suffix_remove(text, OF_RUN);
		uint32_t brief = match_names_brief(m, image, text);
		*mem_add(m->function, m->n_function, m->cap_function) =
			(struct match_function){ .brief = brief };
	}
	free(text);
	return at;
}

/* Counts a function of a side for its short name and its group. */
static void match_names_count(struct match_names *m, uint32_t function,
			      int side, enum match_of of)
{
	struct match_function *f = &m->function[function];
	struct match_brief *b = &m->brief[f->brief];

	b->n[of] += !f->seen[of][0] && !f->seen[of][1];
	f->seen[of][side] = true;
	if (b->seen[of][side])
		return;
	b->seen[of][side] = true;
	m->group[b->group].alone[of] += b->seen[of][!side] ? -1U : 1U;
	if (!b->script)
		return;
	m->script[b->script - 1].seen[side] = true;
	m->group[b->group].n[side] += of == MATCH_COMPARED;
	m->group[b->group].script[side] = b->script - 1;
}

void match_names_see(struct match_names *m, int side, uint32_t image,
		     const char *name, bool inlined, const struct homonym *at)
{
	if (!name || !name[0])
		return;
	uint32_t id = match_names_name(m, image, name);
	struct match_named *named = &m->named[id];
	id = named->function;
	if (inlined || !at || at->start != HOMONYM_INLINED)
		match_names_count(m, id, side, MATCH_COMPARED);
	match_names_count(m, id, side, MATCH_DRAWN);
	const char *text = match_names_text(&m->briefs, m->function[id].brief);
	if (inlined && match_names_last_part(text) == text)
		m->last[m->brief[m->function[id].brief].last].bare = true;
	if (!at)
		return;
	if (at->apart) {
		named->shared = true;
		named->unclear |= !at->depth;
	}
	raise_to(named->depth, at->depth);
	/* an inlined function that is not compared does not matter */
	if (!at->file && (inlined || at->start != HOMONYM_INLINED))
		named->unclear = true;
}

const char *match_names_get(struct match_names *m, uint32_t image,
			    const char *name, const struct homonym *at,
			    bool exact)
{
	/* this may move m->named */
	uint32_t id = match_names_name(m, image, name);
	const struct match_named *named = &m->named[id];
	/* inlined functions do not change the names of those that are compared,
	 * which must be the same in a table without inlined ones */
	enum match_of of = at && at->start == HOMONYM_INLINED ? MATCH_DRAWN
							      : MATCH_COMPARED;
	const struct match_function *f = &m->function[named->function];
	const struct match_brief *b = &m->brief[f->brief];
	const char *base;

	if (m->full)
		base = name;
	else if (m->last[b->last].bare && m->last[b->last].more)
		base = match_names_text(&m->lasts, b->last);
	else if (b->numbered && !exact && m->group[b->group].alone[of] &&
		 (!b->script ||
		  (m->group[b->group].n[0] == 1 &&
		   m->group[b->group].n[1] == 1 &&
		   (m->group[b->group].script[0] ==
			    m->group[b->group].script[1] ||
		    (!m->script[m->group[b->group].script[0]].seen[1] &&
		     !m->script[m->group[b->group].script[1]].seen[0])))))
		base = match_names_text(&m->groups, b->group);
	else
		base = b->n[of] > 1 && f->seen[of][0] && f->seen[of][1]
			       ? match_names_text(&m->functions,
						  named->function)
			       : match_names_text(&m->briefs, f->brief);
	const char *apart = "several functions";
	char off[24];

	if (!at || !named->shared)
		return base;
	if (!named->unclear) {
		apart = at->file ? homonyms_path_end(at->file, named->depth)
				 : NULL;
	} else if (exact) {
		snprintf(off, sizeof(off), "+0x%" PRIx64, at->start);
		apart = at->start != HOMONYM_INLINED ? off : NULL;
	}
	if (!apart)
		return base;
	char *told = homonyms_name(base, apart);
	base = intern_get(&m->apart, intern_add(&m->apart, told));
	free(told);
	return base;
}

/* All images of one name. */
struct match_name {
	uint8_t id[20], id_len;
	bool seen[2]; /* in A, in B */
	bool differ;  /* there are two builds, or one is not known */
};

/* An image of A that has another name in B. */
struct match_rename {
	uint32_t from, to; /* id in names */
	bool seen;	   /* A has the image */
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
		/* a server does not report images that were only mapped */
		if (img->kind != IMAGE_JIT && ran[i]) {
			/* this may move m->name */
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
