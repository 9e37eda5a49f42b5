/* expr.c - evaluates the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/tracepoint/tracepoint.h"
#include "stitch/base/bytes.h"
#include "stitch/source.h"

#define DEPTH_MAX 100

static struct expr_value number(uint64_t n)
{
	return (struct expr_value){ .kind = EXPR_NUM, .num = n };
}

static struct expr_value fail(struct expr *e)
{
	e->failed = true;
	return number(0);
}

static void blanks(struct expr *e)
{
	while (isspace((unsigned char)*e->s))
		e->s++;
}

bool expr_is(struct expr *e, char c)
{
	blanks(e);
	if (*e->s != c)
		return false;
	e->s++;
	return true;
}

static void need(struct expr *e, char c)
{
	if (!expr_is(e, c))
		e->failed = true;
}

/* Appends to the output; fails the expression if it does not fit. */
static void add(struct expr *e, const char *fmt, ...)
	__attribute__((format(__printf__, 2, 3)));
static void add(struct expr *e, const char *fmt, ...)
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

/* Begins a new text after those of earlier arguments. */
static const char *begin_text(struct expr *e)
{
	if (e->n_text + 2 < sizeof(e->text) && e->n_text)
		e->n_text++; /* keep the final 0 of the last text */
	e->text[e->n_text] = 0;
	return e->text + e->n_text;
}

static char escaped(struct expr *e)
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
	const char *start = begin_text(e);

	if (!expr_is(e, '"'))
		return NULL;
	do {
		while (*e->s && *e->s != '"') {
			char c = *e->s++;

			if (c == '\\' && *e->s)
				c = escaped(e);
			add(e, "%c", c);
		}
		need(e, '"');
	} while (expr_is(e, '"'));
	return start;
}

static size_t word(struct expr *e, const char **out)
{
	blanks(e);
	*out = e->s;
	while (isalnum((unsigned char)*e->s) || *e->s == '_')
		e->s++;
	return (size_t)(e->s - *out);
}

static bool is(const char *w, size_t n, const char *name)
{
	return strlen(name) == n && !memcmp(w, name, n);
}

static struct expr_value field_value(struct expr *e, const char *w, size_t n)
{
	for (size_t i = 0; i < e->fmt->n; i++) {
		const struct field *f = &e->field[i];
		struct expr_value v = { .elem = e->fmt->field[i].elem };

		if (!is(w, n, e->fmt->def[i].name))
			continue;
		if (!f->present)
			return fail(e);
		v.kind = f->text ? EXPR_TEXT : f->blob ? EXPR_BLOB : EXPR_NUM;
		v.num = (uint64_t)f->num;
		v.text = f->text;
		v.blob = f->text ? (const void *)f->text : f->blob;
		v.len = f->len;
		return v;
	}
	return fail(e);
}

/* Returns element i of an array; sets *ok to false if there is none. */
static uint64_t item(const struct expr *e, const struct expr_value *v,
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

static struct expr_value indexed(struct expr *e, struct expr_value v)
{
	bool ok = true;

	while (!e->failed && expr_is(e, '[')) {
		uint64_t i = expr_take(e).num;

		need(e, ']');
		v = number(item(e, &v, v.elem, i, &ok));
		e->failed |= !ok;
	}
	return v;
}

/* Takes {mask, "name"}, ...: the names of all bits that are set. */
static struct expr_value print_flags(struct expr *e)
{
	uint64_t v = expr_take(e).num;
	const char *delim = NULL;
	char names[1024] = "";
	size_t len = 0;
	bool done = false;

	need(e, ',');
	delim = expr_string(e);
	while (delim && !e->failed && expr_is(e, ',')) {
		need(e, '{');
		uint64_t mask = expr_take(e).num;

		need(e, ',');
		size_t was = e->n_text;
		const char *name = expr_string(e);

		need(e, '}');
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
		return fail(e);
	const char *start = begin_text(e);

	add(e, "%s", names);
	if (v)
		add(e, "%s0x%" PRIx64, len ? delim : "", v);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes {value, "name"}, ...: the name of the equal value. */
static struct expr_value print_symbolic(struct expr *e)
{
	uint64_t v = expr_take(e).num;
	const char *found = NULL;

	while (!e->failed && expr_is(e, ',')) {
		need(e, '{');
		uint64_t is_value = expr_take(e).num;

		need(e, ',');
		size_t was = e->n_text;
		const char *name = expr_string(e);

		need(e, '}');
		if (!found && name && is_value == v)
			found = name;
		else
			e->n_text = was;
	}
	if (!found) {
		found = begin_text(e);
		add(e, "0x%" PRIx64, v);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = found };
}

/* Takes (bytes, count) and prints "01 02 03". */
static struct expr_value print_hex(struct expr *e, const char *between)
{
	struct expr_value v = expr_take(e);

	need(e, ',');
	uint64_t n = expr_take(e).num;
	const char *start = begin_text(e);

	if (n > v.len || !v.blob)
		return fail(e);
	for (uint64_t i = 0; i < n; i++)
		add(e, "%s%02x", i ? between : "", v.blob[i]);
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes (items, count, bytes of an item) and prints "{0x1,0x2}". */
static struct expr_value print_array(struct expr *e)
{
	struct expr_value v = expr_take(e);
	bool ok = true;

	need(e, ',');
	uint64_t n = expr_take(e).num;

	need(e, ',');
	uint64_t elem = expr_take(e).num;
	const char *start = begin_text(e);

	add(e, "{");
	for (uint64_t i = 0; i < n && ok && elem <= 8; i++) {
		uint64_t x = item(e, &v, (uint32_t)elem, i, &ok);

		add(e, "%s0x%" PRIx64, i ? "," : "", x);
	}
	add(e, "}");
	e->failed |= !ok || elem > 8;
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

/* Takes the name of __get_str(name) and the like: the field, or its length. */
static struct expr_value get_field(struct expr *e, bool length)
{
	const char *w;
	size_t n = word(e, &w);
	struct expr_value v = field_value(e, w, n);

	return length ? number(v.len) : v;
}

/* Prints the addresses of a field that is a stack, after their count; or its
 * text, if it was made before. */
static struct expr_value print_stack(struct expr *e)
{
	struct expr_value v = get_field(e, false);
	bool ok = true;

	if (v.kind == EXPR_TEXT)
		return v;
	if (v.kind != EXPR_BLOB)
		return fail(e);
	const char *start = begin_text(e);

	for (uint64_t i = 0; ok; i++) {
		uint64_t addr = item(e, &v, e->long32 ? 4 : 8, i, &ok);

		ok &= addr != 0;
		if (ok && (i || addr >= v.len))
			add(e, " => %" PRIx64, addr);
	}
	return (struct expr_value){ .kind = EXPR_TEXT, .text = start };
}

static struct expr_value call(struct expr *e, const char *w, size_t n)
{
	struct expr_value v;

	need(e, '(');
	if (is(w, n, "__print_flags"))
		v = print_flags(e);
	else if (is(w, n, "__print_symbolic"))
		v = print_symbolic(e);
	else if (is(w, n, "__print_hex"))
		v = print_hex(e, " ");
	else if (is(w, n, "__print_hex_str"))
		v = print_hex(e, "");
	else if (is(w, n, "__print_array"))
		v = print_array(e);
	else if (is(w, n, "__get_stacktrace"))
		v = print_stack(e);
	else if (is(w, n, "__get_str") || is(w, n, "__get_rel_str") ||
		 is(w, n, "__get_dynamic_array") ||
		 is(w, n, "__get_rel_dynamic_array"))
		v = get_field(e, false);
	else if (is(w, n, "__get_dynamic_array_len") ||
		 is(w, n, "__get_rel_dynamic_array_len"))
		v = get_field(e, true);
	else
		v = fail(e);
	need(e, ')');
	return v;
}

/* Returns the size of a type if the word begins one, otherwise 0. */
static int type_size(const char *w, size_t n)
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

	for (size_t i = 0; i < sizeof(types) / sizeof(*types); i++)
		if (is(w, n, types[i].name))
			return types[i].size;
	return 0;
}

static uint64_t narrow(uint64_t v, int size, bool is_signed)
{
	int drop = 64 - 8 * size;

	if (size >= 8)
		return v;
	return is_signed ? (uint64_t)((int64_t)(v << drop) >> drop)
			 : v << drop >> drop;
}

static struct expr_value unary(struct expr *e);

/* Parses what follows '(': the type of a cast, or an expression. */
static struct expr_value bracket(struct expr *e)
{
	const char *was = e->s;
	const char *w;
	size_t n = word(e, &w);
	int size = type_size(w, n);
	bool is_signed = true;

	if (!size) {
		e->s = was;
		struct expr_value v = expr_take(e);

		need(e, ')');
		return v;
	}
	for (; n; n = word(e, &w)) {
		int more = type_size(w, n);

		if (is(w, n, "unsigned") || *w == 'u' || !strncmp(w, "__u", 3))
			is_signed = false;
		if (more && !is(w, n, "unsigned") && !is(w, n, "signed"))
			size = more;
	}
	while (expr_is(e, '*'))
		size = 8;
	need(e, ')');
	struct expr_value v = unary(e);

	v.num = narrow(v.num, size, is_signed);
	return v;
}

static struct expr_value literal(struct expr *e)
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
	return number(v);
}

static struct expr_value character(struct expr *e)
{
	char c = *e->s ? *e->s++ : 0;

	if (c == '\\' && *e->s)
		c = escaped(e);
	need(e, '\'');
	return number((unsigned char)c);
}

static struct expr_value primary(struct expr *e)
{
	const char *w;

	blanks(e);
	if (isdigit((unsigned char)*e->s))
		return literal(e);
	if (*e->s == '"')
		return (struct expr_value){ .kind = EXPR_TEXT,
					    .text = expr_string(e) };
	if (expr_is(e, '\''))
		return character(e);
	if (expr_is(e, '('))
		return indexed(e, bracket(e));
	size_t n = word(e, &w);

	if (is(w, n, "REC")) {
		need(e, '-');
		need(e, '>');
		n = word(e, &w);
		return indexed(e, field_value(e, w, n));
	}
	if (n && !isdigit((unsigned char)*w))
		return call(e, w, n);
	return fail(e);
}

static struct expr_value unary(struct expr *e)
{
	struct expr_value v;

	if (e->failed || ++e->depth > DEPTH_MAX)
		return fail(e);
	if (expr_is(e, '!'))
		v = number(!unary(e).num);
	else if (expr_is(e, '~'))
		v = number(~unary(e).num);
	else if (expr_is(e, '-'))
		v = number(-unary(e).num);
	else if (expr_is(e, '+'))
		v = unary(e);
	else
		v = primary(e);
	e->depth--;
	return v;
}

struct operator
{
	const char *text;
	int rank;
};

/* Longer ones first, so that "<<" is not taken for "<". */
static const struct operator operators[] = {
	{ "||", 1 }, { "&&", 2 }, { "==", 6 }, { "!=", 6 }, { "<=", 7 },
	{ ">=", 7 }, { "<<", 8 }, { ">>", 8 }, { "|", 3 },  { "^", 4 },
	{ "&", 5 },  { "<", 7 },  { ">", 7 },  { "+", 9 },  { "-", 9 },
	{ "*", 10 }, { "/", 10 }, { "%", 10 },
};

static const struct operator* operator_at(struct expr *e)
{
	blanks(e);
	for (size_t i = 0; i < sizeof(operators) / sizeof(*operators); i++)
		if (!strncmp(e->s, operators[i].text,
			     strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

static uint64_t compare_or_shift(const char *op, uint64_t a, uint64_t b)
{
	int64_t x = (int64_t)a;
	int64_t y = (int64_t)b;

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

static uint64_t apply(struct expr *e, const char *op, uint64_t a, uint64_t b)
{
	if (op[1])
		return compare_or_shift(op, a, b);
	switch (*op) {
	case '|':
		return a | b;
	case '^':
		return a ^ b;
	case '&':
		return a & b;
	case '<':
		return (int64_t)a < (int64_t)b;
	case '>':
		return (int64_t)a > (int64_t)b;
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
static struct expr_value binary(struct expr *e, int rank)
{
	struct expr_value v = unary(e);

	while (!e->failed) {
		const struct operator* op = operator_at(e);

		if (!op || op->rank < rank)
			break;
		e->s += strlen(op->text);
		if (++e->depth > DEPTH_MAX)
			return fail(e);
		struct expr_value right = binary(e, op->rank + 1);

		e->depth--;
		v = number(apply(e, op->text, v.num, right.num));
	}
	return v;
}

struct expr_value expr_take(struct expr *e)
{
	if (e->failed || ++e->depth > DEPTH_MAX)
		return fail(e);
	struct expr_value v = binary(e, 1);

	if (!e->failed && expr_is(e, '?')) {
		struct expr_value yes = expr_take(e);

		need(e, ':');
		struct expr_value no = expr_take(e);

		v = v.num || (v.kind != EXPR_NUM && v.len) ? yes : no;
	}
	e->depth--;
	return v;
}
