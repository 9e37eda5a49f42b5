/* symbols.c - names that the text of an event needs and its payload does not
 * have: functions (%ps, %pS), which the capture's kallsyms names, and strings
 * of the kernel (%s of a char *), of which printk_formats has the text.
 *
 * Such a name becomes a field NAME_name of the event and stands in its text, as
 * what print.c adds to the events of trace_printk(): so that it is available
 * without the capture too. */
#include <ctype.h>

#include "formats/ftrace/ftrace.h"
#include "formats/reader/scan.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

#define ADDED_FIELD                                                            \
	"\tfield:__data_loc char[] %.*s_name;\toffset:%u;\tsize:4;\t"          \
	"signed:0;\n"
#define ADDED_MOST 64 /* bytes of a field's name */
#define ARGS_MOST 32  /* of a print fmt */
/* Letters of conversions by the last digit of an added field's offset; a
 * quotation mark: a string */
#define SYMBOL_KINDS "sSfF\""

struct added {
	struct scan name;
	char letter;
};

/* A print fmt that is being copied with its names. */
struct symbols_text {
	const char *fields; /* from here on up to the print fmt */
	size_t n_fields;
	struct added added[FT_SYMBOLS];
	size_t n;
	char *out;
	size_t len;
};

static void symbols_put(struct symbols_text *st, const char *s, size_t n)
{
	memcpy(st->out + st->len, s, n);
	st->len += n;
}

/* Returns where the string that begins behind a quote ends; NULL: nowhere. */
static const char *symbols_string_end(const char *s)
{
	for (; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s : NULL;
}

/* Returns the end of an argument: a comma outside of brackets and strings, or
 * the end of the line. NULL: a string has no end. */
static const char *symbols_argument_end(const char *s)
{
	int depth = 0;

	for (; *s && *s != '\n' && (depth > 0 || *s != ','); s++) {
		depth += *s == '(' || *s == '{' || *s == '[';
		depth -= *s == ')' || *s == '}' || *s == ']';
		if (*s == '"') {
			s = symbols_string_end(s + 1);
			if (!s)
				return NULL;
		}
	}
	return s;
}

/* Is the argument a field alone, cast or not? Then *name is it. */
static bool symbols_is_field(struct scan arg, struct scan *name)
{
	static const char *const casts[] = { "(void *)", "(const void *)",
					     "((void *)" };

	scan_blanks(&arg);
	for (size_t i = 0; i < ARRAY_SIZE(casts); i++)
		if (scan_take(&arg, casts[i]))
			break;
	scan_blanks(&arg);
	if (!scan_take(&arg, "REC->"))
		return false;
	*name = (struct scan){ .p = arg.p };
	while (arg.n && (isalnum((unsigned char)*arg.p) || *arg.p == '_')) {
		name->n++;
		arg.p++;
		arg.n--;
	}
	while (arg.n && (*arg.p == ' ' || *arg.p == ')')) {
		arg.p++;
		arg.n--;
	}
	return name->n && name->n < ADDED_MOST && !arg.n;
}

/* Is there a field of that name, behind that type? */
static bool symbols_declares(const struct symbols_text *st, const char *type,
			     struct scan name, const char *more)
{
	char word[2 * ADDED_MOST];
	int n = snprintf(word, sizeof(word), "%s%.*s%s;\toffset:", type,
			 (int)name.n, name.p, more);

	return memmem(st->fields, st->n_fields, word, (size_t)n);
}

/* Returns the kind of name that the text has in place of an address: 's', 'S',
 * 'f' or 'F' as the letter after %p, '"' for a string, 0 for none. */
static char symbols_letter(const struct symbols_text *st, const char *end,
			   const struct tp_conversion *c, struct scan name)
{
	if (symbols_declares(st, "", name, "_name"))
		return 0;
	if (c->type == 'p' && *end && strchr("sSfF", *end))
		return *end;
	if (c->type == 's' && (symbols_declares(st, "char * ", name, "") ||
			       symbols_declares(st, "char *", name, "")))
		return '"';
	return 0;
}

static bool symbols_add(struct symbols_text *st, struct scan name, char letter)
{
	for (size_t i = 0; i < st->n; i++)
		if (st->added[i].name.n == name.n &&
		    !memcmp(st->added[i].name.p, name.p, name.n))
			return st->added[i].letter == letter;
	if (st->n == FT_SYMBOLS)
		return false;
	st->added[st->n++] = (struct added){ name, letter };
	return true;
}

/* Takes the arguments behind the string. Returns their number, -1 if they are
 * not understood. */
static int symbols_arguments(const char *s, struct scan *args)
{
	int n = 0;

	while (*s == ',') {
		const char *end = symbols_argument_end(++s);

		if (!end || n == ARGS_MOST)
			return -1;
		args[n++] = scan_of(s, (size_t)(end - s));
		s = end;
	}
	return !*s || *s == '\n' ? n : -1;
}

/* Makes the new print fmt, without the line feed at its end: copies the string,
 * then the arguments. Where a field has got a name, its conversion becomes %s,
 * and its argument that name. Returns false if the text is not understood, or
 * no field got a name. */
static bool symbols_print(struct symbols_text *st, const char *string)
{
	struct scan args[ARGS_MOST];
	struct scan named[ARGS_MOST] = { 0 };
	const char *end = symbols_string_end(string);
	int n = end ? symbols_arguments(end + 1, args) : -1;

	if (n < 0)
		return false;
	for (int k = 0; string < end;) {
		const char *from = string++;
		struct tp_conversion c = { .type = '%' };
		struct scan name;

		if (*from == '%')
			tp_conversion(&string, &c, false);
		symbols_put(st, from, (size_t)(string - from));
		if (c.type == '%')
			continue;
		if (k == n)
			return false;
		char letter = symbols_is_field(args[k], &name)
				      ? symbols_letter(st, string, &c, name)
				      : 0;
		if (letter && symbols_add(st, name, letter)) {
			named[k] = name;
			st->out[st->len - 1] = 's';
			string += c.type == 'p';
		}
		k++;
	}
	symbols_put(st, "\"", 1);
	if (!st->n)
		return false;
	for (int k = 0; k < n; k++) {
		symbols_put(st, ",", 1);
		if (!named[k].n) {
			symbols_put(st, args[k].p, args[k].n);
			continue;
		}
		symbols_put(st, " __get_str(", 11);
		symbols_put(st, named[k].p, named[k].n);
		symbols_put(st, "_name)", 6);
	}
	return true;
}

char *ft_symbols_format(const struct bytes *text)
{
	static const char head[] = "\nprint fmt: \"";
	const char *s = (const char *)text->pos;
	size_t n = bytes_left(text);
	const char *print = memmem(s, n, head, sizeof(head) - 1);

	if (!print)
		return NULL;
	/* with a final 0, which tp_conversion() needs */
	const char *recorded = print + sizeof(head) - 2;
	size_t rest = n - (size_t)(print - s) - (sizeof(head) - 1);
	char *copy = mem_new(rest + 1, 1);
	struct symbols_text st = {
		.fields = s,
		.n_fields = (size_t)(print - s),
		.out = mem_new(n + ARGS_MOST * (ADDED_MOST + 32), 1),
	};
	char *out = NULL;

	memcpy(copy, print + sizeof(head) - 1, rest);
	if (symbols_print(&st, copy)) {
		size_t size = st.n_fields +
			      FT_SYMBOLS * 2 * sizeof(ADDED_FIELD) +
			      FT_SYMBOLS * ADDED_MOST + st.len + sizeof(head) +
			      sizeof(TP_RECORDED_PRINT) + rest + 8;
		size_t len = st.n_fields;

		out = mem_new(size, 1);
		memcpy(out, s, len);
		for (size_t i = 0; i < st.n; i++) {
			const struct added *a = &st.added[i];
			const char *kind = strchr(SYMBOL_KINDS, a->letter);

			len += (size_t)snprintf(
				out + len, size - len, ADDED_FIELD,
				(int)a->name.n, a->name.p,
				FT_SYMBOL_OFF + 8 * (unsigned int)i +
					(unsigned int)(kind - SYMBOL_KINDS));
		}
		snprintf(out + len, size - len,
			 "%s%.*s\n" TP_RECORDED_PRINT "%.*s\n", head,
			 (int)st.len, st.out, (int)strcspn(copy, "\n") + 1,
			 recorded);
	}
	free(copy);
	free(st.out);
	return out;
}

/* The field of which a field of that offset has the name. */
static int symbols_source(const struct tp_format *fmt, size_t i)
{
	char name[ADDED_MOST];
	size_t n = strlen(fmt->def[i].name);

	if (n < 5 || n - 5 >= sizeof(name))
		return -1;
	memcpy(name, fmt->def[i].name, n - 5);
	name[n - 5] = '\0';
	return tp_field_index(fmt, name);
}

/* The text of the address in the n-th added field. */
static const struct ft_symbol_text *symbols_text_of(struct ft *ft, uint32_t n,
						    char letter, uint64_t addr)
{
	struct ft_symbol_text *t =
		&ft->symbols[n][hash_u64(addr) % FT_SYMBOL_TEXTS];
	const struct tp_conversion c = { .letter = letter };
	struct text_out o = { .buf = t->text, .size = sizeof(t->text) };

	if (t->letter == letter && t->addr == addr)
		return t;
	t->text[0] = '\0';
	if (letter == '"')
		text_out_add(&o, "0x%" PRIx64, addr);
	else
		tp_out_pointer(&o, &ft->tp, &c, addr);
	t->letter = letter;
	t->addr = addr;
	t->len = (uint32_t)strlen(t->text);
	return t;
}

void ft_symbols_take(struct ft *ft, const struct tp_format *fmt,
		     struct field *out)
{
	for (size_t i = 0; i < fmt->n; i++) {
		uint32_t at = fmt->field[i].off - FT_SYMBOL_OFF;
		int of = at < 8 * FT_SYMBOLS ? symbols_source(fmt, i) : -1;

		if (of < 0 || !out[of].present)
			continue;
		const char letter = SYMBOL_KINDS[at % 8];
		const uint64_t addr = (uint64_t)out[of].num;
		const char *text =
			letter == '"' ? ft_print_find_text(ft, addr) : NULL;
		const struct ft_symbol_text *t =
			text ? NULL : symbols_text_of(ft, at / 8, letter, addr);

		out[i] = (struct field){
			.present = true,
			.text = text ? text : t->text,
			.len = text ? (uint32_t)strlen(text) : t->len,
		};
	}
}
