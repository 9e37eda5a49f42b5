/* chains.c - raw chains of a database as lines of text. */
#include "cli/model/chains.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/model/code.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define TEXT_MAX ((size_t)64 << 20) /* bytes of lines kept */
#define DEPTH_MAX 65536
#define NAME_MAX_LEN 4096

/* Where the lines of a chain are. */
struct chain_text {
	uint32_t at, n; /* in text; valid in this round only */
	uint32_t round;
};

struct chains {
	struct chain_style style;
	struct known_code *code; /* names are clean */
	const char **dso;	 /* of each image */
	struct arena arena;
	struct table strings; /* by the address of what was cleaned */
	const char **string;
	size_t n_string, cap_string;
	struct chain_text *chain;
	char *text;
	size_t text_len, text_cap;
	uint32_t round;
	uint64_t ip[DEPTH_MAX];
};

/* Safe to show. In JSON names are as they are, if they can be. */
static const char *clean_copy(struct chains *c, const char *s)
{
	char buf[NAME_MAX_LEN];
	size_t len = strlen(s);

	if (c->style.json && json_can(s, len))
		return s;
	safe_text_clean_buf(buf, sizeof(buf), s, len, NULL);
	return arena_strdup(&c->arena, buf);
}

/* code.h has one copy of each name, however many frames have it. */
static const char *clean(struct chains *c, const char *s)
{
	uint64_t hash = hash_u64((uint64_t)(uintptr_t)s);
	uint32_t id;

	if (!s)
		return NULL;
	id = table_find(&c->strings, hash, NULL, NULL, NULL);
	if (id != TABLE_NONE)
		return c->string[id];
	c->string = mem_grow(c->string, &c->cap_string, c->n_string + 1,
			     sizeof(*c->string));
	c->string[c->n_string] = clean_copy(c, s);
	table_add(&c->strings, hash, (uint32_t)c->n_string);
	return c->string[c->n_string++];
}

/* What perf calls the place: it names kernel code by the kernel, and
 * anonymous memory by the map file that a JIT compiler would write. */
static const char *dso_name(struct chains *c, const struct code_image *i)
{
	char buf[64];

	switch (i->img.kind) {
	case IMAGE_UNKNOWN_USER:
	case IMAGE_UNKNOWN_KERNEL:
		return "[unknown]";
	case IMAGE_KERNEL:
		return "[kernel.kallsyms]";
	case IMAGE_JIT:
		return "[jit]";
	case IMAGE_ANON:
		snprintf(buf, sizeof(buf), "/tmp/perf-%" PRId64 ".map", i->pid);
		return arena_strdup(&c->arena, buf);
	default:
		return *i->img.path ? clean_copy(c, i->img.path) : "[unknown]";
	}
}

static void clean_where(struct chains *c, struct code_where *w)
{
	w->name = clean(c, w->name);
	w->file = clean(c, w->file);
}

static void clean_names(struct chains *c)
{
	struct known_code *code = c->code;

	c->dso = mem_new(code->n_image, sizeof(*c->dso));
	for (size_t i = 1; i < code->n_image; i++)
		c->dso[i] = dso_name(c, &code->image[i]);
	for (size_t i = 1; i < code->n_frame; i++) {
		clean_where(c, &code->frame[i].at);
		code->frame[i].bogus = clean(c, code->frame[i].bogus);
		if (!c->style.inlined)
			code->frame[i].n_inlined = 0;
	}
	for (size_t i = 1; i < code->n_inlined; i++)
		clean_where(c, &code->inlined[i]);
}

struct chains *chains_load(struct store *db, const struct chain_style *style,
			   struct err *err)
{
	struct chains *c = mem_new(1, sizeof(*c));

	c->style = *style;
	c->round = 1;
	c->code = code_load(db, err);
	if (!c->code) {
		chains_free(c);
		return NULL;
	}
	c->chain = mem_new(c->code->n_chain, sizeof(*c->chain));
	clean_names(c);
	return c;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	table_release(&c->strings);
	free(c->string);
	free(c->dso);
	code_free(c->code);
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

static void put_dso(struct chains *c, const struct code_frame *f)
{
	const char *dso = c->dso[f->image];

	put(c, " (", 2);
	put_string(c, dso);
	if (c->style.dsoff && strcmp(dso, "[unknown]")) {
		put(c, "+0x", 3);
		put_hex(c, f->off, 0);
	}
	put(c, ")", 1);
}

/* perf shows the name of the file only, on a line of its own. */
static void put_source(struct chains *c, const struct code_where *at)
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
static void put_line(struct chains *c, const struct code_frame *f, uint64_t ip,
		     const struct code_where *at, bool inlined, bool called)
{
	const struct chain_style *s = &c->style;

	if (s->tab)
		put(c, "\t", 1);
	if (s->ip)
		put_hex(c, ip, 16);
	if (s->sym) {
		if (s->ip)
			put(c, " ", 1);
		put_string(c, at->name ? at->name : "[unknown]");
		if (s->symoff && at->name) {
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
	if (s->marks && called && f->bogus)
		put_string(c, " (bogus)");
	if (s->srcline)
		put_source(c, at);
	if (inlined)
		put_string(c, " (inlined)");
	if (s->tab)
		put(c, "\n", 1);
}

/* called: it is a return address, not the innermost one. */
static void put_frame(struct chains *c, const struct code_frame *f, uint64_t ip,
		      bool called)
{
	for (uint32_t i = 0; i < f->n_inlined; i++)
		put_line(c, f, ip, &c->code->inlined[f->inlined + i], true,
			 called);
	put_line(c, f, ip, &f->at, false, called);
}

static int broken(int64_t id, struct err *err)
{
	return err_set(err, ERR_DB,
		       "the database is damaged: raw_chain %" PRId64, id);
}

/* The addresses of a chain into c->ip: how many, or -1. */
static int addresses(struct chains *c, int64_t id, struct err *err)
{
	const struct code_chain *t;
	int n;

	if (id < 1 || (uint64_t)id >= c->code->n_chain)
		return broken(id, err);
	t = &c->code->chain[id];
	n = store_addrs(t->addrs, t->len, c->ip, DEPTH_MAX);
	return n < 0 ? broken(id, err) : n;
}

static int make_text(struct chains *c, int64_t id, struct err *err)
{
	const struct code_chain *chain = &c->code->chain[id];
	struct chain_text *t = &c->chain[id];
	int n = addresses(c, id, err);
	uint32_t stack = chain->stack;

	if (n < 0)
		return -1;
	if (c->text_len > TEXT_MAX) {
		c->text_len = 0;
		c->round++;
	}
	t->at = (uint32_t)c->text_len;
	t->round = c->round;
	for (int i = 0; i < n && stack; i++) {
		const struct code_stack *s = &c->code->stack[stack];

		put_frame(c, &c->code->frame[s->frame], c->ip[i], i > 0);
		stack = s->parent;
	}
	const char *why = unwind_end_name(chain->ended);

	/* As a missing user half is shown. */
	if (c->style.marks && why && chain->ended != UNWIND_OUTERMOST) {
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
	if (id < 1 || (uint64_t)id >= c->code->n_chain) {
		broken(id, err);
		return NULL;
	}
	t = &c->chain[id];
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

static void place_json(struct json_object *o, const struct code_where *at)
{
	if (at->name)
		json_object_object_add(o, "symbol",
				       json_object_new_string(at->name));
	if (at->file)
		json_object_object_add(o, "file",
				       json_object_new_string(at->file));
	if (at->line)
		json_object_object_add(o, "line",
				       json_object_new_int64(at->line));
}

static struct json_object *inlined_json(const struct chains *c,
					const struct code_frame *f)
{
	struct json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < f->n_inlined; i++) {
		struct json_object *o = json_object_new_object();

		place_json(o, &c->code->inlined[f->inlined + i]);
		json_object_array_add(list, o);
	}
	return list;
}

static struct json_object *frame_json(struct chains *c,
				      const struct code_frame *f, uint64_t ip,
				      bool called)
{
	struct json_object *o = json_object_new_object();

	json_object_object_add(o, "ip", hex_text(ip));
	if (f->at.name)
		json_object_object_add(o, "symoff", hex_text(f->symoff));
	place_json(o, &f->at);
	if (f->n_inlined)
		json_object_object_add(o, "inlined", inlined_json(c, f));
	json_object_object_add(o, "image",
			       json_object_new_string(c->dso[f->image]));
	json_object_object_add(o, "off", hex_text(f->off));
	if (f->flags & FRAME_INFERRED)
		json_object_object_add(o, "inferred",
				       json_object_new_boolean(1));
	if (f->flags & FRAME_GUESSED)
		json_object_object_add(o, "by_frame_pointer",
				       json_object_new_boolean(1));
	if (called && f->bogus)
		json_object_object_add(o, "bogus",
				       json_object_new_string(f->bogus));
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
	stack = c->code->chain[id].stack;
	for (int i = 0; i < n && stack; i++) {
		const struct code_stack *s = &c->code->stack[stack];

		json_object_array_add(array,
				      frame_json(c, &c->code->frame[s->frame],
						 c->ip[i], i > 0));
		stack = s->parent;
	}
	return 0;
}
