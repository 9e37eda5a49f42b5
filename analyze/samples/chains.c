/* chains.c - raw chains of a database as lines of text. */
#include "analyze/samples/chains.h"

#include <inttypes.h>

#include "analyze/samples/code.h"
#include "stitch/text/json.h"
#include "stitch/text/safe_text.h"
#include "schema/store.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/files/path.h"
#include "stitch/base/table.h"
#include "stitch/unwinder.h"
#include "stitch/verdict.h"

#define TEXT_MAX ((size_t)64 << 20) /* bytes of lines that are kept */
#define DEPTH_MAX 65536
#define NAME_MAX_LEN 4096

/* Where the lines of a chain are, if they were made. */
struct chain_text {
	uint32_t at, n; /* offset and length in chains.text */
	uint32_t round; /* that of chains when they were made */
};

struct chains {
	struct chain_style style;
	struct known_code *code; /* with names that are safe to show */
	const char **dso;	 /* path to show, by image */
	struct arena arena;
	struct table strings; /* indices in string[], by original */
	const char **string;
	size_t n_string, cap_string;
	struct chain_text *chain; /* by id */
	char *text;
	size_t text_len, text_cap;
	uint32_t round; /* 1 + how often text was emptied */
	uint64_t ip[DEPTH_MAX];
};

/* Returns a copy of s that is safe to show, or for JSON s, if it is UTF-8. */
static const char *chains_clean(struct chains *c, const char *s)
{
	char buf[NAME_MAX_LEN];
	size_t len = strlen(s);

	if (c->style.json && json_can(s, len))
		return s;
	safe_text_clean_buf(buf, sizeof(buf), s, len, NULL);
	return arena_strdup(&c->arena, buf);
}

/* Cleans each name once: all frames of a name have one copy of it. */
static const char *chains_clean_once(struct chains *c, const char *s)
{
	if (!s)
		return NULL;
	uint32_t id = table_find_or_add(
		&c->strings, hash_u64((uint64_t)(uintptr_t)s), c->n_string);
	if (id == c->n_string)
		*mem_add(c->string, c->n_string, c->cap_string) =
			chains_clean(c, s);
	return c->string[id];
}

/* Returns perf's name for the image: "[kernel.kallsyms]" for kernel code, the
 * map file that a JIT compiler would write for anonymous memory. */
static const char *chains_dso_name(struct chains *c, const struct code_image *i)
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
		return *i->img.path ? chains_clean(c, i->img.path)
				    : "[unknown]";
	}
}

static void chains_clean_where(struct chains *c, struct code_where *w)
{
	w->name = chains_clean_once(c, w->name);
	w->file = chains_clean_once(c, w->file);
}

struct chains *chains_load(struct store *db, const struct chain_style *style,
			   struct err *err)
{
	struct chains *c = mem_new(1, sizeof(*c));

	c->style = *style;
	c->round = 1;
	c->code = code_load(db, CODE_ALL, err);
	if (!c->code) {
		chains_free(c);
		return NULL;
	}
	struct known_code *code = c->code;
	c->chain = mem_new(code->n_chain, sizeof(*c->chain));
	c->dso = mem_new(code->n_image, sizeof(*c->dso));
	for (size_t i = 1; i < code->n_image; i++)
		c->dso[i] = chains_dso_name(c, &code->image[i]);
	for (size_t i = 1; i < code->n_frame; i++) {
		chains_clean_where(c, &code->frame[i].at);
		code->frame[i].bogus =
			chains_clean_once(c, code->frame[i].bogus);
		if (!c->style.inlined)
			code->frame[i].n_inlined = 0;
	}
	for (size_t i = 1; i < code->n_inlined; i++)
		chains_clean_where(c, &code->inlined[i]);
	return c;
}

void chains_free(struct chains *c)
{
	if (!c)
		return;
	arena_release(&c->arena);
	table_release(&c->strings);
	free_all(c->string, c->dso);
	code_free(c->code);
	free_all(c->chain, c->text, c);
}

static void chains_put(struct chains *c, const char *s, size_t n)
{
	mem_append(c->text, c->text_len, c->text_cap, s, n);
}

static void chains_put_string(struct chains *c, const char *s)
{
	chains_put(c, s, strlen(s));
}

/* Appends v in hexadecimal, right-aligned in `width` columns. */
static void chains_put_hex(struct chains *c, uint64_t v, int width)
{
	char buf[16];
	int n = 0;

	do {
		buf[15 - n++] = "0123456789abcdef"[v & 15];
		v >>= 4;
	} while (v);
	if (n < width)
		chains_put(c, "                ", (size_t)(width - n));
	chains_put(c, buf + 16 - n, (size_t)n);
}

/* Appends one line: the frame's own function, or one that was inlined there. An
 * inlined function has no address; like perf, its line has the frame's. called:
 * ip is a return address, not the innermost address. */
static void chains_put_line(struct chains *c, const struct code_frame *f,
			    uint64_t ip, const struct code_where *at,
			    bool inlined, bool called)
{
	const struct chain_style *s = &c->style;
	const char *dso = c->dso[f->image];
	const unsigned int kind = c->code->image[f->image].img.kind;
	char line[16];

	if (s->tab)
		chains_put(c, "\t", 1);
	if (s->ip)
		chains_put_hex(c, ip, 16);
	if (s->sym) {
		if (s->ip)
			chains_put(c, " ", 1);
		chains_put_string(c, at->name ? at->name : "[unknown]");
		if (s->symoff && at->name) {
			chains_put(c, "+0x", 3);
			chains_put_hex(c, f->symoff, 0);
		}
	}
	if (s->dso && !inlined) {
		chains_put(c, " (", 2);
		chains_put_string(c, dso);
		/* code that is known by symbol has no offset in a file */
		if (s->dsoff && strcmp(dso, "[unknown]") &&
		    kind != IMAGE_SYMBOLS && kind != IMAGE_SCRIPT) {
			chains_put(c, "+0x", 3);
			chains_put_hex(c, f->off, 0);
		}
		chains_put(c, ")", 1);
	}
	if (s->marks && (f->flags & FRAME_INFERRED))
		chains_put_string(c, " (inferred)");
	if (s->marks && (f->flags & FRAME_GUESSED))
		chains_put_string(c, " (by frame pointer)");
	if (s->marks && called && f->bogus)
		chains_put_string(c, " (fabricated)");
	/* like perf: the file's base name, on a line of its own */
	if (s->srcline && at->file) {
		chains_put_string(c, "\n  ");
		chains_put_string(c, path_base(at->file));
		snprintf(line, sizeof(line), ":%" PRIu32, at->line);
		chains_put_string(c, line);
	}
	if (inlined)
		chains_put_string(c, " (inlined)");
	if (s->tab)
		chains_put(c, "\n", 1);
}

static int chains_damaged(int64_t id, struct err *err)
{
	return err_set(err, ERR_DB,
		       "the database is damaged: raw_chain %" PRId64, id);
}

/* Decodes the addresses of a chain into c->ip. Returns how many, or -1. */
static int chains_decode(struct chains *c, int64_t id, struct err *err)
{
	if (id < 1 || (uint64_t)id >= c->code->n_chain)
		return chains_damaged(id, err);
	const struct code_chain *t = &c->code->chain[id];
	int n = store_addrs(t->addrs, t->len, c->ip, DEPTH_MAX);
	return n < 0 ? chains_damaged(id, err) : n;
}

/* Appends the lines of a chain to c->text. Returns 0, or -1 and *err. */
static int chains_make_text(struct chains *c, int64_t id, struct err *err)
{
	const struct code_chain *chain = &c->code->chain[id];
	struct chain_text *t = &c->chain[id];
	int n = chains_decode(c, id, err);
	uint32_t stack = chain->stack;

	if (n < 0)
		return -1;
	if (c->text_len > TEXT_MAX) {
		c->text_len = 0;
		c->round++;
	}
	t->at = (uint32_t)c->text_len;
	t->round = c->round;
	t->n = 0;
	/* perf prints no half of a stack that is not in the callchain. */
	if (chain->ended == UNWIND_HIT)
		return 0;
	for (int i = 0; i < n && stack; i++) {
		const struct code_stack *s = &c->code->stack[stack];
		const struct code_frame *f = &c->code->frame[s->frame];

		for (uint32_t k = 0; k < f->n_inlined; k++)
			chains_put_line(c, f, c->ip[i],
					&c->code->inlined[f->inlined + k], true,
					i > 0);
		chains_put_line(c, f, c->ip[i], &f->at, false, i > 0);
		stack = s->parent;
	}
	const char *why = unwind_end_name(chain->ended);

	/* The form is that of a missing user stack. */
	if (c->style.ends && why && chain->ended != UNWIND_OUTERMOST) {
		chains_put_string(c, c->style.tab ? "\t[user: " : " [user: ");
		chains_put_string(c, why);
		chains_put_string(c, c->style.tab ? "]\n" : "]");
	}
	t->n = (uint32_t)(c->text_len - t->at);
	return 0;
}

const char *chains_text(struct chains *c, int64_t id, size_t *len,
			struct err *err)
{
	*len = 0;
	if (!id)
		return "";
	if (id < 1 || (uint64_t)id >= c->code->n_chain) {
		chains_damaged(id, err);
		return NULL;
	}
	const struct chain_text *t = &c->chain[id];
	if (t->round != c->round && chains_make_text(c, id, err))
		return NULL;
	*len = t->n;
	return t->n ? c->text + t->at : "";
}

static void chains_json_place(struct json *j, const struct code_where *at)
{
	if (at->name)
		json_text(j, "symbol", at->name);
	if (at->file)
		json_text(j, "file", at->file);
	if (at->line)
		json_int(j, "line", at->line);
}

int chains_check(struct chains *c, int64_t id, struct err *err)
{
	return id && chains_decode(c, id, err) < 0 ? -1 : 0;
}

void chains_json(struct chains *c, int64_t id, struct json *j, const char *key)
{
	int n = id ? chains_decode(c, id, NULL) : 0;
	uint32_t stack = n > 0 ? c->code->chain[id].stack : 0;
	bool hit = stack && c->code->chain[id].ended == UNWIND_HIT;

	json_array(j, key);
	for (int i = 0; i < n && stack; i++) {
		const struct code_stack *s = &c->code->stack[stack];
		const struct code_frame *f = &c->code->frame[s->frame];

		json_object(j, NULL);
		json_hex(j, "ip", c->ip[i]);
		if (f->at.name)
			json_hex(j, "symoff", f->symoff);
		chains_json_place(j, &f->at);
		if (f->n_inlined) {
			json_array(j, "inlined");
			for (uint32_t k = 0; k < f->n_inlined; k++) {
				json_object(j, NULL);
				chains_json_place(
					j, &c->code->inlined[f->inlined + k]);
				json_end(j);
			}
			json_end(j);
		}
		json_text(j, "image", c->dso[f->image]);
		json_hex(j, "off", f->off);
		if (f->flags & FRAME_INFERRED)
			json_bool(j, "inferred", true);
		if (f->flags & FRAME_GUESSED)
			json_bool(j, "by_frame_pointer", true);
		/* the innermost address is no return address */
		if (i > 0 && f->bogus)
			json_text(j, "bogus", f->bogus);
		if (hit)
			json_bool(j, "hit_only", true);
		json_end(j);
		stack = s->parent;
	}
	json_end(j);
}
