/* chains.c - raw chains of a database as lines of text. */
#include "cli/chains.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/output.h"
#include "cli/stack_tree.h"
#include "schema/store.h"
#include "stitch/err.h"
#include "stitch/frame.h"
#include "stitch/mem.h"
#include "stitch/table.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define TEXT_MAX ((size_t)64 << 20) /* bytes of lines kept */
#define DEPTH_MAX 65536
#define NAME_MAX_LEN 4096

struct image_text {
	const char *dso;
};

/* A function, and where in its source. */
struct place_text {
	const char *sym;  /* NULL: not named */
	const char *file; /* NULL: not known */
	uint32_t line;
};

struct frame_text {
	uint64_t off, symoff;
	struct place_text at;
	uint32_t image, flags;
	uint32_t inlined, n_inlined; /* in chains.inlined, innermost first */
};

struct chain_text {
	const void *addrs;
	uint32_t len, stack;
	uint32_t ended; /* enum unwind_end; 0: not unwound */
	uint32_t at, n; /* in text; valid in this round only */
	uint32_t round;
};

struct chains {
	struct chain_style style;
	struct arena arena;
	struct table strings;
	const char **string;
	size_t n_string, cap_string;
	struct image_text *image;
	size_t n_image, cap_image;
	struct frame_text *frame;
	size_t n_frame, cap_frame;
	struct place_text *inlined;
	size_t n_inlined, cap_inlined;
	struct stack_tree tree;
	struct chain_text *chain;
	size_t n_chain, cap_chain;
	char *text;
	size_t text_len, text_cap;
	uint32_t round;
	uint64_t ip[DEPTH_MAX];
};

static bool same_string(const void *owner, uint32_t id, const void *key)
{
	const struct chains *c = owner;

	return !strcmp(c->string[id], key);
}

/* One copy of each name, cleaned for text, however many frames have it. */
static const char *intern(struct chains *c, const char *s, size_t len)
{
	char buf[NAME_MAX_LEN];
	size_t n = len;

	if (c->style.json && len < sizeof(buf) && output_json_can(s, len)) {
		memcpy(buf, s, len);
		buf[len] = 0;
	} else {
		n = output_clean_buf(buf, sizeof(buf), s, len, NULL);
	}
	uint64_t hash = hash_bytes(buf, n, 0);
	uint32_t id = table_find(&c->strings, hash, same_string, c, buf);

	if (id != TABLE_NONE)
		return c->string[id];
	c->string = mem_grow(c->string, &c->cap_string, c->n_string + 1,
			     sizeof(*c->string));
	c->string[c->n_string] = arena_strdup(&c->arena, buf);
	table_add(&c->strings, hash, (uint32_t)c->n_string);
	return c->string[c->n_string++];
}

/* What perf calls the place: it names kernel code by the kernel, and
 * anonymous memory by the map file that a JIT compiler would write. */
static const char *dso_name(struct chains *c, const char *kind,
			    const char *path, int64_t pid)
{
	char buf[64];

	if (!strncmp(kind, "unknown", 7))
		return "[unknown]";
	if (!strcmp(kind, "kernel"))
		return "[kernel.kallsyms]";
	if (!strcmp(kind, "jit"))
		return "[jit]";
	if (!strcmp(kind, "anon")) {
		snprintf(buf, sizeof(buf), "/tmp/perf-%" PRId64 ".map", pid);
		return intern(c, buf, strlen(buf));
	}
	return *path ? intern(c, path, strlen(path)) : "[unknown]";
}

static int take_image(void *arg, const struct rows *r, struct err *err)
{
	struct chains *c = arg;

	(void)err;
	c->image = mem_grow(c->image, &c->cap_image, c->n_image + 1,
			    sizeof(*c->image));
	c->image[c->n_image++] = (struct image_text){
		.dso = dso_name(c, rows_text(r, 2), rows_text(r, 1),
				rows_int(r, 3)),
	};
	return 0;
}

/* A name, or a source file, as text; NULL when the value is none. */
static const char *text_or_null(struct chains *c, struct value v)
{
	return v.kind == VALUE_TEXT ? intern(c, v.text, v.len) : NULL;
}

static int take_frame(void *arg, const struct rows *r, struct err *err)
{
	struct chains *c = arg;
	int64_t image = rows_int(r, 1);

	(void)err;
	if (image < 1 || (uint64_t)image > c->n_image)
		return 1;
	c->frame = mem_grow(c->frame, &c->cap_frame, c->n_frame + 1,
			    sizeof(*c->frame));
	c->frame[c->n_frame++] = (struct frame_text){
		.off = (uint64_t)rows_int(r, 2),
		.symoff = (uint64_t)rows_int(r, 3),
		.at = { text_or_null(c, rows_value(r, 5)),
			text_or_null(c, rows_value(r, 6)),
			(uint32_t)rows_int(r, 7) },
		.image = (uint32_t)image,
		.flags = (uint32_t)rows_int(r, 4),
	};
	return 0;
}

static int take_inlined(void *arg, const struct rows *r, struct err *err)
{
	struct chains *c = arg;
	int64_t id = rows_int(r, 0);

	(void)err;
	if (id < 1 || (uint64_t)id > c->n_frame)
		return 0;
	struct frame_text *f = &c->frame[id - 1];

	if (!f->n_inlined++)
		f->inlined = (uint32_t)c->n_inlined;
	c->inlined = mem_grow(c->inlined, &c->cap_inlined, c->n_inlined + 1,
			      sizeof(*c->inlined));
	c->inlined[c->n_inlined++] =
		(struct place_text){ text_or_null(c, rows_value(r, 1)),
				     text_or_null(c, rows_value(r, 2)),
				     (uint32_t)rows_int(r, 3) };
	return 0;
}

static int take_chain(void *arg, const struct rows *r, struct err *err)
{
	struct chains *c = arg;
	int64_t stack = rows_int(r, 1);
	struct value blob = rows_value(r, 2);
	void *copy;

	(void)err;
	if (stack < 0 || (uint64_t)stack > c->tree.n || blob.len > INT_MAX)
		return 1;
	copy = arena_take(&c->arena, blob.len);
	if (blob.len)
		memcpy(copy, blob.text, blob.len);
	c->chain = mem_grow(c->chain, &c->cap_chain, c->n_chain + 1,
			    sizeof(*c->chain));
	c->chain[c->n_chain++] = (struct chain_text){
		.addrs = copy,
		.len = (uint32_t)blob.len,
		.stack = (uint32_t)stack,
		.ended = (uint32_t)rows_int(r, 3),
	};
	return 0;
}

struct chains *chains_load(struct store *db, const struct chain_style *style,
			   struct err *err)
{
	struct chains *c = mem_new(1, sizeof(*c));

	c->style = *style;
	c->round = 1;
	if (rows_each_dense(db, "print_images", take_image, c, err) ||
	    rows_each_dense(db, "print_frames", take_frame, c, err) ||
	    (style->inlined &&
	     rows_each(db, "report_inlines", take_inlined, c, err)) ||
	    stack_tree_load(&c->tree, db, c->n_frame, err) ||
	    rows_each_dense(db, "print_chains", take_chain, c, err)) {
		chains_free(c);
		return NULL;
	}
	return c;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	table_release(&c->strings);
	free(c->string);
	free(c->image);
	free(c->frame);
	free(c->inlined);
	stack_tree_release(&c->tree);
	free(c->chain);
	free(c->text);
	free(c);
}

static void put(struct chains *c, const char *s, size_t n)
{
	c->text = mem_grow(c->text, &c->text_cap, c->text_len + n, 1);
	memcpy(c->text + c->text_len, s, n);
	c->text_len += n;
}

static void put_string(struct chains *c, const char *s)
{
	put(c, s, strlen(s));
}

/* Hexadecimal, right-aligned in `width`. */
static void put_hex(struct chains *c, uint64_t v, int width)
{
	char buf[16];
	int n = 0;

	do {
		buf[15 - n++] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	if (n < width)
		put(c, "                ", (size_t)(width - n));
	put(c, buf + 16 - n, (size_t)n);
}

static void put_dso(struct chains *c, const struct frame_text *f)
{
	const char *dso = c->image[f->image - 1].dso;

	put(c, " (", 2);
	put_string(c, dso);
	if (c->style.dsoff && strcmp(dso, "[unknown]")) {
		put(c, "+0x", 3);
		put_hex(c, f->off, 0);
	}
	put(c, ")", 1);
}

/* perf shows the name of the file only, on a line of its own. */
static void put_source(struct chains *c, const struct place_text *at)
{
	char line[16];
	const char *slash = at->file ? strrchr(at->file, '/') : NULL;

	if (!at->file)
		return;
	put_string(c, "\n  ");
	put_string(c, slash && slash[1] ? slash + 1 : at->file);
	snprintf(line, sizeof(line), ":%" PRIu32, at->line);
	put_string(c, line);
}

/* One line: the frame's own function, or one that was inlined there, which
 * has no place of its own, so perf gives it that of the frame. */
static void put_line(struct chains *c, const struct frame_text *f, uint64_t ip,
		     const struct place_text *at, bool inlined)
{
	const struct chain_style *s = &c->style;

	if (s->tab)
		put(c, "\t", 1);
	if (s->ip)
		put_hex(c, ip, 16);
	if (s->sym) {
		if (s->ip)
			put(c, " ", 1);
		put_string(c, at->sym ? at->sym : "[unknown]");
		if (s->symoff && at->sym) {
			put(c, "+0x", 3);
			put_hex(c, f->symoff, 0);
		}
	}
	if (s->dso && !inlined)
		put_dso(c, f);
	if (s->marks && (f->flags & FRAME_INFERRED))
		put_string(c, " (inferred)");
	if (s->marks && (f->flags & FRAME_GUESSED))
		put_string(c, " (by frame pointer)");
	if (s->srcline)
		put_source(c, at);
	if (inlined)
		put_string(c, " (inlined)");
	if (s->tab)
		put(c, "\n", 1);
}

static void put_frame(struct chains *c, const struct frame_text *f, uint64_t ip)
{
	for (uint32_t i = 0; i < f->n_inlined; i++)
		put_line(c, f, ip, &c->inlined[f->inlined + i], true);
	put_line(c, f, ip, &f->at, false);
}

static int broken(int64_t id, struct err *err)
{
	return err_set(err, ERR_DB,
		       "the database is damaged: raw_chain %" PRId64, id);
}

/* The addresses of a chain into c->ip: how many, or -1. */
static int addresses(struct chains *c, int64_t id, struct err *err)
{
	const struct chain_text *t;
	int n;

	if (id < 1 || (uint64_t)id > c->n_chain)
		return broken(id, err);
	t = &c->chain[id - 1];
	n = store_addrs(t->addrs, t->len, c->ip, DEPTH_MAX);
	return n < 0 ? broken(id, err) : n;
}

static int make_text(struct chains *c, int64_t id, struct err *err)
{
	struct chain_text *t = &c->chain[id - 1];
	int n = addresses(c, id, err);
	uint32_t stack = t->stack;

	if (n < 0)
		return -1;
	if (c->text_len > TEXT_MAX) {
		c->text_len = 0;
		c->round++;
	}
	t->at = (uint32_t)c->text_len;
	t->round = c->round;
	for (int i = 0; i < n && stack; i++) {
		const struct stack_link *s = stack_tree_at(&c->tree, stack);

		put_frame(c, &c->frame[s->frame - 1], c->ip[i]);
		stack = s->parent;
	}
	const char *why = unwind_end_name(t->ended);

	/* As a missing user half is shown. */
	if (c->style.marks && why && t->ended != UNWIND_OUTERMOST) {
		put_string(c, c->style.tab ? "\t[user: " : " [user: ");
		put_string(c, why);
		put_string(c, c->style.tab ? "]\n" : "]");
	}
	t->n = (uint32_t)(c->text_len - t->at);
	return 0;
}

const char *chains_text(struct chains *c, int64_t id, size_t *len,
			struct err *err)
{
	const struct chain_text *t;

	*len = 0;
	if (!id)
		return "";
	if (id < 1 || (uint64_t)id > c->n_chain) {
		broken(id, err);
		return NULL;
	}
	t = &c->chain[id - 1];
	if (t->round != c->round && make_text(c, id, err))
		return NULL;
	*len = t->n;
	return t->n ? c->text + t->at : "";
}

static struct json_object *hex_text(uint64_t v)
{
	char buf[24];

	snprintf(buf, sizeof(buf), "0x%" PRIx64, v);
	return json_object_new_string(buf);
}

static void place_json(struct json_object *o, const struct place_text *at)
{
	if (at->sym)
		json_object_object_add(o, "symbol",
				       json_object_new_string(at->sym));
	if (at->file)
		json_object_object_add(o, "file",
				       json_object_new_string(at->file));
	if (at->line)
		json_object_object_add(o, "line",
				       json_object_new_int64(at->line));
}

static struct json_object *inlined_json(const struct chains *c,
					const struct frame_text *f)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < f->n_inlined; i++) {
		struct json_object *o = json_object_new_object();

		place_json(o, &c->inlined[f->inlined + i]);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *frame_json(struct chains *c,
				      const struct frame_text *f, uint64_t ip)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ip", hex_text(ip));
	if (f->at.sym)
		json_object_object_add(o, "symoff", hex_text(f->symoff));
	place_json(o, &f->at);
	if (f->n_inlined)
		json_object_object_add(o, "inlined", inlined_json(c, f));
	json_object_object_add(
		o, "image", json_object_new_string(c->image[f->image - 1].dso));
	json_object_object_add(o, "off", hex_text(f->off));
	if (f->flags & FRAME_INFERRED)
		json_object_object_add(o, "inferred",
				       json_object_new_boolean(1));
	if (f->flags & FRAME_GUESSED)
		json_object_object_add(o, "by_frame_pointer",
				       json_object_new_boolean(1));
	return o;
}

int chains_json(struct chains *c, int64_t id, struct json_object *array,
		struct err *err)
{
	uint32_t stack;
	int n;

	if (!id)
		return 0;
	n = addresses(c, id, err);
	if (n < 0)
		return -1;
	stack = c->chain[id - 1].stack;
	for (int i = 0; i < n && stack; i++) {
		const struct stack_link *s = stack_tree_at(&c->tree, stack);

		json_object_array_add(
			array,
			frame_json(c, &c->frame[s->frame - 1], c->ip[i]));
		stack = s->parent;
	}
	return 0;
}
