/* expr.c - evaluates the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/text.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/bytes.h"
#include "stitch/base/mem.h"
#include "stitch/source.h"

#define DEPTH_MAX 100

static struct expr_value expr_number(uint64_t n)
{
	return (struct expr_value){ .kind = EXPR_NUM, .num = n };
}

static struct expr_value expr_fail(struct expr *e)
{
	e->failed = true;
	return expr_number(0);
}

static void expr_skip_blanks(struct expr *e)
{
	while (isspace((unsigned char)*e->s))
		e->s++;
}

bool expr_is(struct expr *e, char c)
{
	expr_skip_blanks(e);
	if (*e->s != c)
		return false;
	e->s++;
	return true;
}

static void expr_need(struct expr *e, char c)
{
	if (!expr_is(e, c))
		e->failed = true;
}

/* Appends to the output; fails the expression if it does not fit. */
static void expr_append(struct expr *e, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static void expr_append(struct expr *e, const char *fmt, ...)
{
	size_t room = sizeof(e->text) - e->n_text;
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(e->text + e->n_text, room, fmt, ap);

	va_end(ap);
	if (n < 0 || (size_t)n >= room)
		e->failed = true;
	else
		e->n_text += (size_t)n;
}

/* The same for one character: most of a text comes so, and vsnprintf() took a
 * third of the time for it. */
static void expr_append_char(struct expr *e, char c)
{
	if (sizeof(e->text) - e->n_text < 2) {
		e->failed = true;
		return;
	}
	e->text[e->n_text++] = c;
	e->text[e->n_text] = '\0';
}

/* Begins a new text after those of earlier arguments. */
static const char *expr_begin_text(struct expr *e)
{
	if (e->n_text + 2 < sizeof(e->text) && e->n_text)
		e->n_text++; /* keep the final 0 of the last text */
	e->text[e->n_text] = 0;
	return e->text + e->n_text;
}

static char expr_take_escape(struct expr *e)
{
	char c = *e->s++;

	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	default:
		return c;
	}
}

const char *expr_string(struct expr *e)
{
	const char *start = expr_begin_text(e);

	if (!expr_is(e, '"'))
		return NULL;
	do {
		while (*e->s && *e->s != '"') {
			char c = *e->s++;

			if (c == '\\' && *e->s)
				c = expr_take_escape(e);
			expr_append_char(e, c);
		}
		expr_need(e, '"');
	} while (expr_is(e, '"'));
	return start;
}

static size_t expr_take_word(struct expr *e, const char **out)
{
	expr_skip_blanks(e);
	*out = e->s;
	while (isalnum((unsigned char)*e->s) || *e->s == '_')
		e->s++;
	return (size_t)(e->s - *out);
}

static bool expr_word_is(const char *w, size_t n, const char *name)
{
	return n && *w == *name && strlen(name) == n && !memcmp(w, name, n);
}

static struct expr_value expr_field(struct expr *e, const char *w, size_t n)
{
	e->fields++;
	for (size_t i = 0; i < e->fmt->n; i++) {
		const struct field *f = &e->field[i];
		struct expr_value v = { .elem = e->fmt->field[i].elem };

		if (!expr_word_is(w, n, e->fmt->def[i].name))
			continue;
		if (!f->present)
			return expr_fail(e);
		v.kind = f->text ? EXPR_TEXT : f->blob ? EXPR_BLOB : EXPR_NUM;
		v.num = (uint64_t)f->num;
		v.text = f->text;
		v.blob = f->text ? (const void *)f->text : f->blob;
		v.len = f->len;
		return v;
	}
	return expr_fail(e);
}

/* Returns element i of an array; sets *ok to false if there is none. */
static uint64_t expr_element(const struct expr *e, const struct expr_value *v,
			     uint32_t elem, uint64_t i, bool *ok)
{
	struct bytes b;
	uint8_t u8 = 0;
	uint16_t u16 = 0;
	uint32_t u32 = 0;
	uint64_t u64 = 0;

	*ok = v->blob && elem && i < v->len / elem;
	if (!*ok)
		return 0;
	bytes_init(&b, v->blob + i * elem, elem, "", 0, e->swap);
	switch (elem) {
	case 1:
		bytes_u8(&b, &u8, NULL);
		return u8;
	case 2:
		bytes_u16(&b, &u16, NULL);
		return u16;
	case 4:
		bytes_u32(&b, &u32, NULL);
		return u32;
	case 8:
		bytes_u64(&b, &u64, NULL);
		return u64;
	default:
		*ok = false;
		return 0;
	}
}

static struct expr_value expr_take_indexes(struct expr *e, struct expr_value v)
{
	bool ok = true;

	while (!e->failed && expr_is(e, '[')) {
		uint64_t i = expr_take(e).num;

		expr_need(e, ']');
		v = expr_number(expr_element(e, &v, v.elem, i, &ok));
		e->failed |= !ok;
	}
	return v;
}

/* Takes the next {number, "name"} of a list; *was is the place before the name.
 * Returns false at the end. */
static bool expr_take_pair(struct expr *e, uint64_t *number, const char **name,
			   size_t *was)
{
	if (e->failed || !expr_is(e, ','))
		return false;
	expr_need(e, '{');
	*number = expr_take(e).num;
	expr_need(e, ',');
	*was = e->n_text;
	*name = expr_string(e);
	expr_need(e, '}');
	return true;
}

/* Takes {mask, "name"}, ...: the names of all bits that are set. */
static struct expr_value expr_print_flags(struct expr *e)
{
	uint64_t v = expr_take(e).num;
	const char *delim = NULL;
	const char *name;
	uint64_t mask;
	size_t was;
	char names[1024] = "";
	size_t len = 0;
	bool done = false;

	expr_need(e, ',');
	delim = expr_string(e);
	while (delim && expr_take_pair(e, &mask, &name, &was)) {
		e->n_text = was; /* the name was copied if it is needed */
		if (!name || done || (mask ? (v & mask) != mask : v || len))
			continue;
		int n = snprintf(names + len, sizeof(names) - len, "%s%s",
				 len ? delim : "", name);

		len += (size_t)n < sizeof(names) - len ? (size_t)n : 0;
		v &= ~mask;
		done = !mask;
	}
	if (!delim)
		return expr_fail(e);
	const char *start = expr_begin_text(e);

	expr_append(e, "%s", names);
	if (v)
		expr_append(e, "%s0x%" PRIx64, len ? delim : "", v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes {value, "name"}, ...: the name of the equal value. */
static struct expr_value expr_print_symbolic(struct expr *e)
{
	uint64_t v = expr_take(e).num;
	const char *found = NULL;
	const char *name;
	uint64_t is_value;
	size_t was;

	while (expr_take_pair(e, &is_value, &name, &was)) {
		if (!found && name && is_value == v)
			found = name;
		else
			e->n_text = was;
	}
	if (!found) {
		found = expr_begin_text(e);
		expr_append(e, "0x%" PRIx64, v);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = found };
}

/* Takes (bytes, count) and prints "01 02 03". */
static struct expr_value expr_print_hex(struct expr *e, const char *between)
{
	struct expr_value v = expr_take(e);

	expr_need(e, ',');
	uint64_t n = expr_take(e).num;
	const char *start = expr_begin_text(e);

	if (n > v.len || !v.blob)
		return expr_fail(e);
	for (uint64_t i = 0; i < n; i++)
		expr_append(e, "%s%02x", i ? between : "", v.blob[i]);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes (items, count, bytes of an item) and prints "{0x1,0x2}". */
static struct expr_value expr_print_array(struct expr *e)
{
	struct expr_value v = expr_take(e);
	bool ok = true;

	expr_need(e, ',');
	uint64_t n = expr_take(e).num;

	expr_need(e, ',');
	uint64_t elem = expr_take(e).num;
	const char *start = expr_begin_text(e);

	expr_append(e, "{");
	for (uint64_t i = 0; i < n && ok && elem <= 8; i++) {
		uint64_t x = expr_element(e, &v, (uint32_t)elem, i, &ok);

		expr_append(e, "%s0x%" PRIx64, i ? "," : "", x);
	}
	expr_append(e, "}");
	e->failed |= !ok || elem > 8;
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes the name of __get_str(name) and the like: the field, or its length. */
static struct expr_value expr_get_field(struct expr *e, bool length)
{
	const char *w;
	size_t n = expr_take_word(e, &w);
	struct expr_value v = expr_field(e, w, n);

	return length ? expr_number(v.len) : v;
}

/* Prints the addresses of a field that is a stack, after their count; or its
 * text, if it was made before. */
static struct expr_value expr_print_stack(struct expr *e)
{
	struct expr_value v = expr_get_field(e, false);
	bool ok = true;

	if (v.kind == EXPR_TEXT)
		return v;
	if (v.kind != EXPR_BLOB)
		return expr_fail(e);
	const char *start = expr_begin_text(e);

	for (uint64_t i = 0; ok; i++) {
		uint64_t addr = expr_element(e, &v, e->long32 ? 4 : 8, i, &ok);

		ok &= addr != 0;
		if (ok && (i || addr >= v.len))
			expr_append(e, " => %" PRIx64, addr);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

static struct expr_value expr_take_call(struct expr *e, const char *w, size_t n)
{
	struct expr_value v;

	expr_need(e, '(');
	if (expr_word_is(w, n, "__print_flags"))
		v = expr_print_flags(e);
	else if (expr_word_is(w, n, "__print_symbolic"))
		v = expr_print_symbolic(e);
	else if (expr_word_is(w, n, "__print_hex"))
		v = expr_print_hex(e, " ");
	else if (expr_word_is(w, n, "__print_hex_str"))
		v = expr_print_hex(e, "");
	else if (expr_word_is(w, n, "__print_array"))
		v = expr_print_array(e);
	else if (expr_word_is(w, n, "__get_stacktrace"))
		v = expr_print_stack(e);
	else if (expr_word_is(w, n, "__get_str") ||
		 expr_word_is(w, n, "__get_rel_str") ||
		 expr_word_is(w, n, "__get_dynamic_array") ||
		 expr_word_is(w, n, "__get_rel_dynamic_array"))
		v = expr_get_field(e, false);
	else if (expr_word_is(w, n, "__get_dynamic_array_len") ||
		 expr_word_is(w, n, "__get_rel_dynamic_array_len"))
		v = expr_get_field(e, true);
	else
		v = expr_fail(e);
	expr_need(e, ')');
	return v;
}

/* Returns the size of a type if the word begins one, otherwise 0. */
static int expr_type_size(const char *w, size_t n)
{
	static const struct {
		const char *name;
		int size;
	} types[] = {
		{ "char", 1 },	 { "u8", 1 },	    { "s8", 1 },
		{ "__u8", 1 },	 { "bool", 1 },	    { "short", 2 },
		{ "u16", 2 },	 { "s16", 2 },	    { "__u16", 2 },
		{ "int", 4 },	 { "u32", 4 },	    { "s32", 4 },
		{ "__u32", 4 },	 { "unsigned", 4 }, { "signed", 4 },
		{ "long", 8 },	 { "u64", 8 },	    { "s64", 8 },
		{ "__u64", 8 },	 { "const", 8 },    { "void", 8 },
		{ "struct", 8 }, { "enum", 4 },	    { "size_t", 8 },
		{ "dev_t", 4 },	 { "sector_t", 8 }, { "ino_t", 8 },
		{ "loff_t", 8 }, { "pid_t", 4 },    { "uintptr_t", 8 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if (expr_word_is(w, n, types[i].name))
			return types[i].size;
	return 0;
}

static struct expr_value expr_take_unary(struct expr *e);

/* Parses what follows '(': the type of a cast, or an expression. Masks of
 * states are sums of a dozen numbers, and there are three in each sched_switch:
 * to know them saves half of the instructions of its text. */
static struct expr_value expr_take_bracket(struct expr *e)
{
	struct expr_known *k = &e->known[(uintptr_t)e->s % EXPR_KNOWN];
	const uint32_t fields = e->fields;
	const size_t n_text = e->n_text;
	const char *was = e->s;
	const char *w;

	if (k->begin == was) {
		e->s = k->end;
		return expr_number(k->num);
	}
	size_t n = expr_take_word(e, &w);
	int size = expr_type_size(w, n);
	bool is_signed = true;

	if (!size) {
		e->s = was;
		struct expr_value v = expr_take(e);

		expr_need(e, ')');
		if (!e->failed && v.kind == EXPR_NUM && e->fields == fields &&
		    e->n_text == n_text)
			*k = (struct expr_known){ was, e->s, v.num };
		return v;
	}
	for (; n; n = expr_take_word(e, &w)) {
		int more = expr_type_size(w, n);

		if (expr_word_is(w, n, "unsigned") || *w == 'u' ||
		    !strncmp(w, "__u", 3))
			is_signed = false;
		if (more && !expr_word_is(w, n, "unsigned") &&
		    !expr_word_is(w, n, "signed"))
			size = more;
	}
	while (expr_is(e, '*'))
		size = 8;
	expr_need(e, ')');
	struct expr_value v = expr_take_unary(e);

	v.num = tp_narrow(v.num, size, is_signed);
	return v;
}

static struct expr_value expr_take_number(struct expr *e)
{
	uint64_t v = 0;
	unsigned int base = 10;

	if (e->s[0] == '0' && (e->s[1] == 'x' || e->s[1] == 'X')) {
		base = 16;
		e->s += 2;
	} else if (e->s[0] == '0') {
		base = 8;
	}
	for (; isxdigit((unsigned char)*e->s); e->s++) {
		unsigned int c = (unsigned char)*e->s;
		unsigned int d = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;

		if (d >= base)
			break;
		v = v * base + d;
	}
	while (*e->s == 'U' || *e->s == 'L' || *e->s == 'u' || *e->s == 'l')
		e->s++;
	return expr_number(v);
}

static struct expr_value expr_take_primary(struct expr *e)
{
	const char *w;

	expr_skip_blanks(e);
	if (isdigit((unsigned char)*e->s))
		return expr_take_number(e);
	if (*e->s == '"')
		return (struct expr_value){ .kind = EXPR_TEXT,
					    .text = expr_string(e) };
	if (expr_is(e, '\'')) {
		char c = *e->s ? *e->s++ : 0;

		if (c == '\\' && *e->s)
			c = expr_take_escape(e);
		expr_need(e, '\'');
		return expr_number((unsigned char)c);
	}
	if (expr_is(e, '('))
		return expr_take_indexes(e, expr_take_bracket(e));
	size_t n = expr_take_word(e, &w);

	if (expr_word_is(w, n, "REC")) {
		expr_need(e, '-');
		expr_need(e, '>');
		n = expr_take_word(e, &w);
		return expr_take_indexes(e, expr_field(e, w, n));
	}
	if (n && !isdigit((unsigned char)*w))
		return expr_take_call(e, w, n);
	return expr_fail(e);
}

static struct expr_value expr_take_unary(struct expr *e)
{
	struct expr_value v;

	if (e->failed || ++e->depth > DEPTH_MAX)
		return expr_fail(e);
	if (expr_is(e, '!'))
		v = expr_number(!expr_take_unary(e).num);
	else if (expr_is(e, '~'))
		v = expr_number(~expr_take_unary(e).num);
	else if (expr_is(e, '-'))
		v = expr_number(-expr_take_unary(e).num);
	else if (expr_is(e, '+'))
		v = expr_take_unary(e);
	else
		v = expr_take_primary(e);
	e->depth--;
	return v;
}

struct expr_operator {
	const char *text;
	int rank;
};

/* Longer ones first, so that "<<" is not taken for "<". */
static const struct expr_operator operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 },
	{ ">=", 7 }, { "<<", 8 }, { ">>", 8 }, { "|", 3 },  { "^", 4 },
	{ "&", 5 },  { "<", 7 },  { ">", 7 },  { "+", 9 },  { "-", 9 },
	{ "*", 10 }, { "/", 10 }, { "%", 10 },
};

static const struct expr_operator *expr_operator_at(struct expr *e)
{
	expr_skip_blanks(e);
	/* what follows most values */
	if (*e->s == ',' || *e->s == ')')
		return NULL;
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (*e->s == operators[i].text[0] &&
		    (!operators[i].text[1] || e->s[1] == operators[i].text[1]))
			return &operators[i];
	return NULL;
}

static uint64_t expr_apply(struct expr *e, const char *op, uint64_t a,
			   uint64_t b)
{
	const int64_t x = (int64_t)a;
	const int64_t y = (int64_t)b;

	if (op[1]) {
		if (!strcmp(op, "<<"))
			return b < 64 ? a << b : 0;
		if (!strcmp(op, ">>"))
			return b < 64 ? a >> b : 0;
		if (!strcmp(op, "=="))
			return a == b;
		if (!strcmp(op, "!="))
			return a != b;
		if (!strcmp(op, "<="))
			return x <= y;
		if (!strcmp(op, ">="))
			return x >= y;
		if (!strcmp(op, "&&"))
			return a && b;
		return a || b;
	}
	switch (*op) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return x < y;
	case '>':
		return x > y;
	case '+':
		return a + b;
	case '-':
		return a - b;
	case '*':
		return a * b;
	default:
		if (!b) {
			e->failed = true;
			return 0;
		}
		return *op == '/' ? a / b : a % b;
	}
}

/* Evaluates operators of at least this rank. */
static struct expr_value expr_take_binary(struct expr *e, int rank)
{
	struct expr_value v = expr_take_unary(e);

	while (!e->failed) {
		const struct expr_operator *op = expr_operator_at(e);

		if (!op || op->rank < rank)
			break;
		e->s += strlen(op->text);
		if (++e->depth > DEPTH_MAX)
			return expr_fail(e);
		struct expr_value right = expr_take_binary(e, op->rank + 1);

		e->depth--;
		v = expr_number(expr_apply(e, op->text, v.num, right.num));
	}
	return v;
}

struct expr_value expr_take(struct expr *e)
{
	if (e->failed || ++e->depth > DEPTH_MAX)
		return expr_fail(e);
	struct expr_value v = expr_take_binary(e, 1);

	if (!e->failed && expr_is(e, '?')) {
		struct expr_value yes = expr_take(e);

		expr_need(e, ':');
		struct expr_value no = expr_take(e);

		v = v.num || (v.kind != EXPR_NUM && v.len) ? yes : no;
	}
	e->depth--;
	return v;
}
