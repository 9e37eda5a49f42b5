/* expr_parse.c - parses the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr_parse.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"
#include "stitch/base/words.h"

/* Limits the nesting of the text and the height of the tree: a sum of many
 * fields is a high tree. */
#define DEPTH_MAX 100

static uint32_t expr_refuse(struct expr_source *in)
{
	in->failed = true;
	return 0;
}

uint32_t expr_refuse_word(struct expr_source *in, const char *what,
			  const char *word, size_t n)
{
	if (!in->failed) {
		in->what = what;
		snprintf(in->word, sizeof(in->word), "%.*s", (int)n, word);
	}
	return expr_refuse(in);
}

static const struct expr_type type_int = { 4, true };
static const struct expr_type type_pointer = { 8, false };

/* Adds a node, or its value if the format alone determines it: masks of states
 * are sums of a dozen numbers, and each sched_switch has three. Returns the
 * node, or 0 on failure. */
static uint32_t expr_add(struct expr_source *in, struct expr_node node)
{
	struct expr_tree *tree = in->tree;
	const uint32_t below[] = { node.a, node.b, node.c };
	bool known = node.op >= EXPR_CAST && node.op <= EXPR_REST;

	if (in->failed)
		return 0;
	/* values that are not numbers are not narrowed */
	if (!node.type.bytes && node.op >= EXPR_CAST && node.op <= EXPR_REST)
		node.type.bytes = 8;
	if (!tree->n)
		*mem_add(tree->node, tree->n, tree->cap) =
			(struct expr_node){ 0 };
	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		const struct expr_node *n = &tree->node[below[i]];

		known &= n->op == EXPR_NUMBER;
		if (n->height >= node.height)
			node.height = (uint16_t)(n->height + 1);
	}
	if (node.height > DEPTH_MAX)
		return expr_refuse(in);
	*mem_add(tree->node, tree->n, tree->cap) = node;
	if (known) {
		/* The buffer for texts is not used here, and so not cleared:
		 * clearing it took a third of the time of a format. */
		struct expr e;

		e.tree = tree;
		e.failed = e.unknown = false;
		uint64_t num = expr_evaluate(&e, (uint32_t)tree->n - 1).num;

		if (!e.failed)
			tree->node[tree->n - 1] = (struct expr_node){
				.op = EXPR_NUMBER, .type = node.type, .num = num
			};
	}
	return (uint32_t)tree->n - 1;
}

static void expr_skip_blanks(struct expr_source *in)
{
	while (isspace((unsigned char)*in->s))
		in->s++;
}

bool expr_is(struct expr_source *in, char c)
{
	expr_skip_blanks(in);
	if (*in->s != c)
		return false;
	in->s++;
	return true;
}

static void expr_need(struct expr_source *in, char c)
{
	if (!expr_is(in, c))
		in->failed = true;
}

static char expr_take_escape(const char **s)
{
	char c = *(*s)++;

	switch (c) {
	case 'n':
		return '\n';
	case 't':
		return '\t';
	default:
		return c;
	}
}

const char *expr_string(struct expr_source *in)
{
	size_t n = 0;
	size_t cap = 0;
	char *text OWNED = NULL;

	if (!expr_is(in, '"'))
		return NULL;
	do {
		while (*in->s && *in->s != '"') {
			char c = *in->s++;

			if (c == '\\' && *in->s)
				c = expr_take_escape(&in->s);
			*mem_add(text, n, cap) = c;
		}
		expr_need(in, '"');
	} while (expr_is(in, '"'));
	*mem_add(text, n, cap) = '\0';
	return arena_strdup(&in->tree->texts, text);
}

static uint32_t expr_add_number(struct expr_source *in, uint64_t num,
				struct expr_type type)
{
	return expr_add(in, (struct expr_node){ .op = EXPR_NUMBER,
						.type = type,
						.num = num });
}

static struct expr_type expr_type_of(const struct expr_source *in,
				     uint32_t node)
{
	return in->failed ? type_int : in->tree->node[node].type;
}

/* Returns the type after integer promotion: small numbers become int. */
static struct expr_type expr_promoted(struct expr_type t)
{
	return t.bytes && t.bytes < 4 ? type_int : t;
}

/* Returns the common type in which two numbers are added or compared. */
static struct expr_type expr_common(struct expr_type a, struct expr_type b)
{
	a = expr_promoted(a);
	b = expr_promoted(b);
	if (!a.bytes || !b.bytes)
		return (struct expr_type){ 0, a.is_signed && b.is_signed };
	if (a.bytes == b.bytes)
		return (struct expr_type){ a.bytes,
					   a.is_signed && b.is_signed };
	return a.bytes > b.bytes ? a : b;
}

static uint32_t expr_cast(struct expr_source *in, uint32_t of,
			  struct expr_type to)
{
	const struct expr_type from = expr_type_of(in, of);

	if (in->failed || !to.bytes ||
	    (from.bytes == to.bytes && from.is_signed == to.is_signed) ||
	    (from.bytes && from.bytes < to.bytes && !from.is_signed))
		return of;
	return expr_add(
		in, (struct expr_node){ .op = EXPR_CAST, .a = of, .type = to });
}

static uint32_t expr_add_index(struct expr_source *in, uint32_t of, uint32_t i)
{
	struct expr_node n = { .op = EXPR_INDEX, .a = of, .b = i };

	if (in->failed)
		return 0;
	n.type = (struct expr_type){ (uint8_t)in->tree->node[of].size,
				     in->tree->node[of].type.is_signed };
	return expr_add(in, n);
}

static uint32_t expr_take_indexes(struct expr_source *in, uint32_t of)
{
	while (!in->failed && expr_is(in, '[')) {
		uint32_t i = expr_parse(in);

		expr_need(in, ']');
		of = expr_add_index(in, of, i);
	}
	return of;
}

/* Takes the rest of a list: , {number, "name"} any number of times. A pair
 * without a name, such as {0, NULL} or {}, ends the list. Returns the first
 * pair, which is as high as the highest one, or 0. */
static uint32_t expr_take_pairs(struct expr_source *in)
{
	uint32_t first = 0;
	uint32_t last = 0;
	bool end = false;

	while (!in->failed && expr_is(in, ',')) {
		struct expr_node pair = { .op = EXPR_PAIR };

		expr_need(in, '{');
		if (expr_is(in, '}')) {
			end = true;
			continue;
		}
		pair.a = expr_parse(in);
		expr_need(in, ',');
		pair.text = expr_string(in);
		if (!pair.text) {
			expr_parse(in);
			end = true;
		}
		expr_is(in, ',');
		expr_need(in, '}');
		if (end)
			continue;
		uint32_t i = expr_add(in, pair);

		if (in->failed)
			return 0;
		struct expr_node *n = in->tree->node;

		first = first ? first : i;
		if (last)
			n[last].b = i;
		raise_to(n[first].height, n[i].height);
		last = i;
	}
	return first;
}

/* Takes (bytes, count) and returns the node. */
static uint32_t expr_take_hex(struct expr_source *in, const char *between)
{
	struct expr_node hex = { .op = EXPR_HEX,
				 .a = expr_parse(in),
				 .text = between };

	expr_need(in, ',');
	hex.b = expr_parse(in);
	return expr_add(in, hex);
}

/* Takes the field name of __get_str(name) and the like, and returns the
 * node. */
static uint32_t expr_take_field(struct expr_source *in)
{
	const char *w;
	size_t n = expr_types_word(&in->s, &w);

	for (size_t i = 0; i < in->fmt->n; i++) {
		const struct tp_field *f = &in->fmt->field[i];

		if (!expr_word_is(w, n, in->fmt->def[i].name))
			continue;
		return expr_add(in, (struct expr_node){
					    .op = EXPR_FIELD,
					    .num = i,
					    .size = (uint16_t)f->elem,
					    .type = { f->kind == FMT_NUM
							      ? (uint8_t)f->size
							      : (uint8_t)0,
						      f->is_signed },
				    });
	}
	return expr_refuse_word(in, "names the field", w, n);
}

/* Takes (items, count, size of an item), or (field, size of an item). */
static uint32_t expr_take_array(struct expr_source *in, bool counted)
{
	struct expr_node array = { .op = EXPR_ARRAY };

	array.a = counted ? expr_parse(in) : expr_take_field(in);
	expr_need(in, ',');
	if (counted) {
		array.b = expr_parse(in);
		expr_need(in, ',');
	}
	array.c = expr_parse(in);
	return expr_add(in, array);
}

static uint32_t expr_add_of(struct expr_source *in, enum expr_op op,
			    struct expr_type type, uint32_t a)
{
	return expr_add(in,
			(struct expr_node){ .op = op, .type = type, .a = a });
}

/* Returns a node for a value that no capture has: that of a kernel variable, or
 * of a name in a kernel enum. */
static uint32_t expr_add_unknown(struct expr_source *in, const char *w,
				 size_t n, bool variable)
{
	if (!*in->unknown)
		snprintf(in->unknown, sizeof(in->unknown), "%.*s", (int)n, w);
	in->variable |= variable;
	return expr_add(in, (struct expr_node){ .op = EXPR_UNKNOWN });
}

enum expr_function {
	CALL_FIELD,
	CALL_LENGTH,
	CALL_BITMASK,
	CALL_STACK,
	CALL_FLAGS,
	CALL_SYMBOLIC,
	CALL_HEX,
	CALL_HEX_STR,
	CALL_ARRAY,
	CALL_ALL_OF_ARRAY,
	CALL_SECONDS,
	CALL_NANOSECONDS,
	CALL_EXPECT,
	CALL_CONFIG,
	CALL_MSECS,
};

static const struct {
	const char *names;
	enum expr_function is;
} functions[] = {
	{ "__print_flags __print_flags_u64", CALL_FLAGS },
	{ "__print_symbolic __print_symbolic_u64", CALL_SYMBOLIC },
	{ "__get_str __get_rel_str __get_dynamic_array "
	  "__get_rel_dynamic_array __get_sockaddr __get_rel_sockaddr",
	  CALL_FIELD },
	{ "__get_dynamic_array_len __get_rel_dynamic_array_len", CALL_LENGTH },
	{ "__get_bitmask __get_rel_bitmask __get_cpumask __get_rel_cpumask",
	  CALL_BITMASK },
	{ "__get_stacktrace", CALL_STACK },
	{ "__print_hex", CALL_HEX },
	{ "__print_hex_str", CALL_HEX_STR },
	{ "__print_array", CALL_ARRAY },
	{ "__print_dynamic_array", CALL_ALL_OF_ARRAY },
	{ "__print_ns_to_secs", CALL_SECONDS },
	{ "__print_ns_without_secs", CALL_NANOSECONDS },
	{ "__builtin_expect", CALL_EXPECT },
	{ "IS_ENABLED", CALL_CONFIG },
	{ "jiffies_to_msecs", CALL_MSECS },
};

/* Takes the arguments of a function of the kernel, and returns the node of its
 * value. */
static uint32_t expr_take_arguments(struct expr_source *in,
				    enum expr_function f)
{
	static const struct expr_type u64 = { 8, false };
	struct expr_node n = { .op = EXPR_NUMBER,
			       .type = u64,
			       .num = 1000000000 };
	const char *w;
	uint32_t v;

	switch (f) {
	case CALL_FIELD:
		return expr_take_field(in);
	case CALL_LENGTH:
		return expr_add_of(in, EXPR_LENGTH, type_int,
				   expr_take_field(in));
	case CALL_BITMASK:
		return expr_add_of(in, EXPR_BITMASK, type_pointer,
				   expr_take_field(in));
	case CALL_STACK:
		return expr_add_of(in, EXPR_ADDRESSES, type_pointer,
				   expr_take_field(in));
	case CALL_FLAGS: {
		/* (value, "between", {mask, "name"}, ...) */
		struct expr_node flags = { .op = EXPR_FLAGS,
					   .a = expr_parse(in) };

		expr_need(in, ',');
		flags.text = expr_string(in);
		if (!flags.text)
			return expr_refuse(in);
		flags.b = expr_take_pairs(in);
		return expr_add(in, flags);
	}
	case CALL_SYMBOLIC: {
		/* (value, {value, "name"}, ...) */
		struct expr_node symbolic = { .op = EXPR_SYMBOLIC,
					      .a = expr_parse(in) };

		symbolic.b = expr_take_pairs(in);
		return expr_add(in, symbolic);
	}
	case CALL_HEX:
		return expr_take_hex(in, " ");
	case CALL_HEX_STR:
		return expr_take_hex(in, "");
	case CALL_ARRAY:
		return expr_take_array(in, true);
	case CALL_ALL_OF_ARRAY:
		return expr_take_array(in, false);
	case CALL_SECONDS:
	case CALL_NANOSECONDS:
		n.b = expr_add(in, n);
		n.a = expr_cast(in, expr_parse(in), u64);
		n.op = f == CALL_SECONDS ? EXPR_DIVIDE : EXPR_REST;
		return expr_add(in, n);
	case CALL_EXPECT:
		v = expr_parse(in);
		expr_need(in, ',');
		expr_parse(in);
		return v;
	case CALL_CONFIG:
		v = (uint32_t)expr_types_word(&in->s, &w);
		return expr_add_unknown(in, w, v, true);
	case CALL_MSECS: /* 0 jiffies are 0 ms whatever HZ is */
		n.op = EXPR_CHOICE;
		n.a = expr_parse(in);
		n.b = expr_add_unknown(in, "HZ", 2, true);
		n.c = expr_add_number(in, 0, u64);
		return expr_add(in, n);
	}
	return expr_refuse(in);
}

static uint32_t expr_take_call(struct expr_source *in, const char *w, size_t n)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(functions) &&
	       words_find(functions[i].names, w, n) < 0)
		i++;
	if (i == ARRAY_SIZE(functions))
		return expr_refuse_word(in, "calls", w, n);
	expr_need(in, '(');
	uint32_t v = expr_take_arguments(in, functions[i].is);

	expr_need(in, ')');
	return v;
}

static uint32_t expr_take_unary(struct expr_source *in);

/* Takes the statements of ({ ... }): variables with an initial value, which are
 * taken as constant, and an expression, whose node is returned. */
static uint32_t expr_take_statements(struct expr_source *in)
{
	const size_t was = in->n_local;
	struct expr_declared type;
	uint32_t v = 0;

	while (!in->failed && !expr_is(in, '}')) {
		struct expr_local local;

		if (!expr_types_take(&in->s, in->long32, &type)) {
			v = expr_parse(in);
			expr_need(in, ';');
			continue;
		}
		local.len = expr_types_word(&in->s, &local.name);
		if (!expr_is(in, '=') || in->n_local == EXPR_LOCALS)
			return expr_refuse_word(in, "declares", local.name,
						local.len);
		local.node = expr_cast(in, expr_parse(in), type.is);
		expr_need(in, ';');
		in->local[in->n_local++] = local;
	}
	in->n_local = was;
	return v ? v : expr_refuse(in);
}

/* Takes what follows '(': a cast and its operand, statements, or an
 * expression. */
static uint32_t expr_take_bracket(struct expr_source *in)
{
	struct expr_declared type;
	uint32_t v;

	if (expr_is(in, '{')) {
		v = expr_take_statements(in);
		expr_need(in, ')');
		return v;
	}
	if (!expr_types_take(&in->s, in->long32, &type)) {
		v = expr_parse(in);
		expr_need(in, ')');
		return v;
	}
	expr_need(in, ')');
	v = expr_take_unary(in);
	if (type.pointer && type.to.bytes && !in->failed &&
	    in->tree->node[v].op != EXPR_NUMBER)
		return expr_add(in, (struct expr_node){
					    .op = EXPR_POINTER,
					    .a = v,
					    .size = type.to.bytes,
					    .type = { 8, type.to.is_signed } });
	return expr_cast(in, v, type.is);
}

static uint32_t expr_take_number(struct expr_source *in)
{
	struct expr_type type = type_int;
	uint64_t v = 0;
	unsigned int base = 10;
	unsigned int longs = 0;

	if (in->s[0] == '0' && (in->s[1] == 'x' || in->s[1] == 'X')) {
		base = 16;
		in->s += 2;
	} else if (in->s[0] == '0') {
		base = 8;
	}
	for (; isxdigit((unsigned char)*in->s); in->s++) {
		unsigned int c = (unsigned char)*in->s;
		unsigned int d = c <= '9' ? c - '0' : (c | 32) - 'a' + 10;

		if (d >= base)
			break;
		v = v * base + d;
	}
	for (; *in->s && strchr("ULul", *in->s); in->s++) {
		if ((*in->s | 32) == 'u')
			type.is_signed = false;
		else
			longs++;
	}
	bool fits = v <= (type.is_signed ? INT32_MAX : UINT32_MAX);
	if (!fits && base != 10 && type.is_signed && v <= UINT32_MAX) {
		type.is_signed = false;
		fits = true;
	}
	if (!fits || longs > 1 || (longs && !in->long32))
		type.bytes = 8;
	if (v > INT64_MAX && type.bytes == 8)
		type.is_signed = false;
	return expr_add_number(in, v, type);
}

uint32_t expr_strings(struct expr_source *in, uint32_t addr, const char *list)
{
	struct expr_node symbolic = { .op = EXPR_SYMBOLIC, .a = addr };
	struct expr_node pair = { .op = EXPR_PAIR, .text = "(null)" };
	const char *was = in->s;
	uint32_t last = 0;

	pair.a = expr_add_number(in, 0, type_int);
	in->s = list;
	while (pair.text && !in->failed) {
		uint32_t i = expr_add(in, pair);

		/* not through pair.b, as the first pair would then be as high
		 * as the list is long */
		if (last)
			in->tree->node[last].b = i;
		else
			symbolic.b = i;
		last = i;
		expr_skip_blanks(in);
		if (*in->s != '0')
			break;
		pair.a = expr_take_number(in);
		pair.text = expr_is(in, ':') ? expr_string(in) : NULL;
	}
	in->failed = false;
	in->s = was;
	return expr_add(in, symbolic);
}

/* Takes the name of a field after REC. */
static uint32_t expr_take_member(struct expr_source *in)
{
	expr_need(in, '-');
	expr_need(in, '>');
	return expr_take_field(in);
}

/* Takes a number, string, name, call or bracketed expression. */
static uint32_t expr_take_primary(struct expr_source *in)
{
	const char *w;

	expr_skip_blanks(in);
	if (isdigit((unsigned char)*in->s))
		return expr_take_number(in);
	if (*in->s == '"')
		return expr_add(in,
				(struct expr_node){ .op = EXPR_STRING,
						    .text = expr_string(in) });
	if (expr_is(in, '\'')) {
		char c = *in->s ? *in->s++ : 0;

		if (c == '\\' && *in->s)
			c = expr_take_escape(&in->s);
		expr_need(in, '\'');
		return expr_add_number(in, (unsigned char)c, type_int);
	}
	if (expr_is(in, '(')) {
		/* casts have REC in brackets: ((u64)(REC)->field) */
		const char *was = in->s;
		const size_t len = expr_types_word(&in->s, &w);

		if (expr_word_is(w, len, "REC") && expr_is(in, ')'))
			return expr_take_indexes(in, expr_take_member(in));
		in->s = was;
		return expr_take_indexes(in, expr_take_bracket(in));
	}
	size_t n = expr_types_word(&in->s, &w);

	if (!n || isdigit((unsigned char)*w))
		return expr_refuse(in);
	if (expr_word_is(w, n, "REC"))
		return expr_take_indexes(in, expr_take_member(in));
	if (expr_word_is(w, n, "sizeof")) {
		/* Take sizeof(type) or sizeof(field). */
		struct expr_type type = { in->long32 ? 4 : 8, false };
		struct expr_declared of;
		uint32_t v;

		expr_need(in, '(');
		if (expr_types_take(&in->s, in->long32, &of)) {
			v = of.is.bytes;
		} else {
			v = expr_parse(in);
			v = expr_type_of(in, v).bytes;
		}
		expr_need(in, ')');
		return v ? expr_add_number(in, v, type)
			 : expr_refuse_word(in, "calls", "sizeof", 6);
	}
	expr_skip_blanks(in);
	if (*in->s == '(')
		return expr_take_indexes(in, expr_take_call(in, w, n));
	/* Take a name: a variable of statements, or a number of the kernel. */
	int64_t value;

	for (size_t i = in->n_local; i--;)
		if (in->local[i].len == n && !memcmp(in->local[i].name, w, n))
			return in->local[i].node;
	if (words_find("NULL false", w, n) >= 0)
		return expr_add_number(in, 0, type_int);
	if (expr_word_is(w, n, "true"))
		return expr_add_number(in, 1, type_int);
	/* no capture has the values that these had when the kernel printed */
	if (words_find("jiffies vmemmap_base mem_map vmemmap", w, n) >= 0)
		return expr_add_unknown(in, w, n, true);
	if (kernel_name_value(w, n, in->release, &value))
		return expr_add_number(in, (uint64_t)value, type_int);
	return expr_add_unknown(in, w, n, false);
}

/* Parses the operand of a unary operator, and applies the operator. */
static uint32_t expr_take_signed(struct expr_source *in, char sign)
{
	const uint32_t of = expr_take_unary(in);
	const struct expr_type type = expr_promoted(expr_type_of(in, of));

	switch (sign) {
	case '!':
		return expr_add_of(in, EXPR_NOT, type_int, of);
	case '~':
		return expr_add_of(in, EXPR_COMPLEMENT, type, of);
	case '-':
		return expr_add_of(in, EXPR_NEGATE, type, of);
	case '*':
		return expr_add_index(in, of, expr_add_number(in, 0, type_int));
	case '&':
		return expr_add_of(in, EXPR_ADDRESS, type_pointer, of);
	default:
		return of;
	}
}

static uint32_t expr_take_unary(struct expr_source *in)
{
	uint32_t v;

	if (in->failed || ++in->depth > DEPTH_MAX)
		return expr_refuse(in);
	expr_skip_blanks(in);
	if (*in->s && strchr("!~-+*&", *in->s))
		v = expr_take_signed(in, *in->s++);
	else
		v = expr_take_primary(in);
	in->depth--;
	return v;
}

struct expr_operator {
	const char *text;
	int rank;
	enum expr_op op;
};

/* Longer ones first, so that "<<" is not read as "<". */
static const struct expr_operator operators[] = {
	{ "||", 1, EXPR_OR },	      { "&&", 2, EXPR_AND },
	{ "==", 6, EXPR_EQUAL },      { "!=", 6, EXPR_UNEQUAL },
	{ "<=", 7, EXPR_LESS_EQUAL }, { ">=", 7, EXPR_MORE_EQUAL },
	{ "<<", 8, EXPR_LEFT },	      { ">>", 8, EXPR_RIGHT },
	{ "|", 3, EXPR_BIT_OR },      { "^", 4, EXPR_BIT_XOR },
	{ "&", 5, EXPR_BIT_AND },     { "<", 7, EXPR_LESS },
	{ ">", 7, EXPR_MORE },	      { "+", 9, EXPR_PLUS },
	{ "-", 9, EXPR_MINUS },	      { "*", 10, EXPR_TIMES },
	{ "/", 10, EXPR_DIVIDE },     { "%", 10, EXPR_REST },
};

static const struct expr_operator *expr_operator_at(struct expr_source *in)
{
	expr_skip_blanks(in);
	for (size_t i = 0; i < ARRAY_SIZE(operators); i++)
		if (!strncmp(in->s, operators[i].text,
			     strlen(operators[i].text)))
			return &operators[i];
	return NULL;
}

/* Adds a binary operator, after the usual arithmetic conversions of its
 * operands. */
static uint32_t expr_add_binary(struct expr_source *in, enum expr_op op,
				uint32_t a, uint32_t b)
{
	struct expr_node n = { .op = op, .a = a, .b = b, .type = type_int };
	const struct expr_type common =
		expr_common(expr_type_of(in, a), expr_type_of(in, b));

	if (in->failed)
		return 0;
	if (op == EXPR_LEFT || op == EXPR_RIGHT) {
		n.type = expr_promoted(expr_type_of(in, a));
	} else if (op != EXPR_OR && op != EXPR_AND) {
		n.a = expr_cast(in, a, common);
		n.b = expr_cast(in, b, common);
		n.size = common.is_signed;
		if (op < EXPR_EQUAL || op > EXPR_MORE_EQUAL)
			n.type = common;
	}
	return expr_add(in, n);
}

/* Takes operands and operators of at least this precedence. */
static uint32_t expr_take_binary(struct expr_source *in, int rank)
{
	uint32_t v = expr_take_unary(in);

	while (!in->failed) {
		const struct expr_operator *op = expr_operator_at(in);

		if (!op || op->rank < rank)
			break;
		in->s += strlen(op->text);
		if (++in->depth > DEPTH_MAX)
			return expr_refuse(in);
		uint32_t right = expr_take_binary(in, op->rank + 1);

		in->depth--;
		v = expr_add_binary(in, op->op, v, right);
	}
	return v;
}

uint32_t expr_parse(struct expr_source *in)
{
	if (in->failed || ++in->depth > DEPTH_MAX)
		return expr_refuse(in);
	uint32_t v = expr_take_binary(in, 1);

	if (!in->failed && expr_is(in, '?')) {
		struct expr_node choice = { .op = EXPR_CHOICE, .a = v };
		const bool same = expr_is(in, ':'); /* a ?: c */

		if (!same) {
			choice.b = expr_parse(in);
			expr_need(in, ':');
		}
		choice.c = expr_parse(in);
		choice.type = expr_common(expr_type_of(in, same ? v : choice.b),
					  expr_type_of(in, choice.c));
		v = expr_add(in, choice);
	}
	in->depth--;
	return in->failed ? 0 : v;
}
