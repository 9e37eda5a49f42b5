/* format.c - reads the formats of tracepoints. */
#include "formats/tracepoint/tracepoint.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/expr.h"
#include "stitch/base/err.h"
#include "stitch/base/words.h"
#include "stitch/source.h"

#define FIELDS_MAX 512

bool tp_number_after(const char *s, const char *end, const char *key,
		     uint32_t *out)
{
	const char *at = memmem(s, (size_t)(end - s), key, strlen(key));
	uint64_t v = 0;

	if (!at)
		return false;
	at += strlen(key);
	if (at >= end || !isdigit((unsigned char)*at))
		return false;
	for (; at < end && isdigit((unsigned char)*at); at++) {
		v = v * 10 + (uint64_t)(*at - '0');
		if (v > UINT32_MAX)
			return false;
	}
	*out = (uint32_t)v;
	return true;
}

static bool tp_format_has_word(const char *s, const char *end, const char *word)
{
	return memmem(s, (size_t)(end - s), word, strlen(word)) != NULL;
}

static bool tp_format_is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

/* In "char comm[16]", "__data_loc char[] name" and "const char * path" the name
 * is the last word outside of brackets. */
static const char *tp_format_field_name(const char *s, const char *end,
					size_t *len)
{
	const char *e = end;

	if (e > s && e[-1] == ']') {
		while (e > s && *e != '[')
			e--;
	}
	while (e > s && !tp_format_is_word(e[-1]))
		e--;
	const char *b = e;

	while (b > s && tp_format_is_word(b[-1]))
		b--;
	*len = (size_t)(e - b);
	return b;
}

static enum fmt_kind tp_format_kind(const char *decl, const char *end,
				    uint32_t size)
{
	bool text = tp_format_has_word(decl, end, "char") &&
		    !tp_format_has_word(decl, end, "unsigned char");

	if (tp_format_has_word(decl, end, "__data_loc") ||
	    tp_format_has_word(decl, end, "__rel_loc"))
		return text ? FMT_DYN_TEXT : FMT_DYN_BLOB;
	/* Linux before 5.9 declares the array at the end of an entry as
	 * "char buf", with size 0. */
	if (!size || tp_format_has_word(decl, end, "["))
		return text ? FMT_TEXT : FMT_BLOB;
	if (size == 1 || size == 2 || size == 4 || size == 8)
		return FMT_NUM;
	return FMT_BLOB;
}

/* The size of an element: "[6]" after the name divides the size. Of dynamic
 * arrays and of those of probes ("s32 arr[]; size:8") only the type tells it.
 */
static uint32_t tp_format_elem_size(const char *decl, const char *s,
				    const char *end, uint32_t size)
{
	uint32_t n;

	if (tp_number_after(s, end, "[", &n) && n && size % n == 0)
		return size / n;
	return expr_types_element(decl, end);
}

static bool tp_format_is_name(const char *name, size_t len, const char *is)
{
	return len == strlen(is) && !memcmp(name, is, len);
}

/* Takes "\tfield:TYPE NAME;\toffset:N;\tsize:N;\tsigned:N;". */
static void tp_format_take_field(struct arena *arena, struct tp_format *fmt,
				 const char *s, const char *end)
{
	struct tp_field f = { 0 };
	uint32_t is_signed = 0;
	const char *semi = memchr(s, ';', (size_t)(end - s));
	size_t len;

	if (!semi || fmt->n >= FIELDS_MAX ||
	    !tp_number_after(semi, end, "offset:", &f.off) ||
	    !tp_number_after(semi, end, "size:", &f.size))
		return;
	tp_number_after(semi, end, "signed:", &is_signed);
	const char *name = tp_format_field_name(s, semi, &len);

	f.elem = tp_format_elem_size(s, name + len, semi, f.size);
	/* Of the common fields, those that say in which thread and in which
	 * context of its CPU the event was hit are of interest. */
	if (!len || (len >= 7 && !memcmp(name, "common_", 7) &&
		     !tp_format_is_name(name, len, "common_pid") &&
		     !tp_format_is_name(name, len, "common_flags")))
		return;
	f.kind = tp_format_kind(s, semi, f.size);
	f.is_signed = is_signed != 0;
	f.relative = tp_format_has_word(s, semi, "__rel_loc");
	mem_grow(fmt->field, fmt->cap_field, fmt->n + 1);
	mem_grow(fmt->def, fmt->cap_def, fmt->n + 1);
	fmt->field[fmt->n] = f;
	fmt->def[fmt->n++] = (struct field_def){
		.name = arena_strndup(arena, name, len),
		.is_text = f.kind == FMT_TEXT || f.kind == FMT_DYN_TEXT,
		.is_blob = f.kind == FMT_BLOB || f.kind == FMT_DYN_BLOB,
		.is_signed = f.is_signed,
	};
}

int tp_format_check(const char *system, const struct bytes *text,
		    struct err *err)
{
	size_t n = bytes_left(text);
	char first[6];
	char last = 0;

	for (const char *s = system; *s; s++)
		if (*s <= ' ' || *s > '~')
			return err_at(err, text->path, bytes_off(text),
				      "the system in front of this format has "
				      "a name with byte %u",
				      (unsigned char)*s);
	if (bytes_peek(text, 0, first, sizeof(first)) ||
	    memcmp(first, "name: ", sizeof(first)) ||
	    bytes_peek(text, n - 1, &last, 1) || last != '\n')
		return err_at(err, text->path, bytes_off(text),
			      "a format of %zu bytes, needs 'name: ' at its "
			      "start and a line feed at its end",
			      n);
	return 0;
}

bool tp_format_is_probe(const struct tp_format *fmt)
{
	return words_find("kprobes uprobes eprobes fprobes", fmt->system,
			  strlen(fmt->system)) >= 0 ||
	       any_where(fmt->n, i, !strncmp(fmt->def[i].name, "__probe", 7));
}

bool tp_format_parse(struct arena *arena, const char *system,
		     const struct bytes *b, struct tp_format *out)
{
	const char *s = (const char *)b->pos;
	const char *end = (const char *)b->end;
	uint32_t id;

	if (!tp_number_after(s, end, TP_ID, &id))
		return false;
	*out = (struct tp_format){ .id = id, .len = (size_t)(end - s) };
	out->system = arena_strdup(arena, system);
	const char *name = memmem(s, out->len, "name: ", 6);

	if (name) {
		name += 6;
		const char *nl = memchr(name, '\n', (size_t)(end - name));

		out->name = arena_strndup(arena, name,
					  (size_t)((nl ? nl : end) - name));
	}
	out->text = arena_strndup(arena, s, out->len);
	for (const char *at = s; at < end;) {
		const char *nl = memchr(at, '\n', (size_t)(end - at));
		const char *stop = nl ? nl : end;

		if (stop - at > 7 && !memcmp(at, "\tfield:", 7))
			tp_format_take_field(arena, out, at + 7, stop);
		at = stop + 1;
	}
	const bool probe = tp_format_is_probe(out);

	for (size_t i = 0; i < out->n; i++)
		out->field[i].of_probe =
			probe && out->field[i].kind == FMT_DYN_TEXT;
	tp_sched_find(out);
	tp_call_find(out);
	tp_stack_find(out);
	return true;
}

void tp_format_release(struct tp_format *fmt)
{
	free_all(fmt->field, fmt->def);
}

struct payload *payload_new(const char *format,
			    const struct payload_machine *on)
{
	struct payload *pl = mem_new(1, sizeof(*pl));
	struct bytes text;

	pl->tp.swap = bytes_must_swap(on->big);
	pl->tp.long32 = on->long32;
	pl->tp.release = on->release ? kernel_release_number(on->release) : 0;
	bytes_init(&text, format, strlen(format), "format", 0, false);
	if (tp_format_parse(&pl->arena, "", &text, &pl->fmt))
		return pl;
	payload_free(pl);
	return NULL;
}

void payload_free(struct payload *pl)
{
	if (!pl)
		return;
	tp_format_release(&pl->fmt);
	tp_release(&pl->tp);
	arena_release(&pl->arena);
	free(pl);
}
