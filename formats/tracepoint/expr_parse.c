/* expr_parse.c - parses the expressions in a tracepoint's print format. */
#include "formats/tracepoint/expr_parse.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/tracepoint.h"
#include "stitch/source.h"

/* Of the text, and of the nodes: a sum of many fields is one high tree. */
#define DEPTH_MAX 100

static uint32_t expr_refuse(struct expr_source *in)
{
	in->failed = true;
	return 0;
}

/* Adds the node, or its value if that follows from the format alone: masks of
 * states are sums of a dozen numbers, and there are three in each sched_switch.
 */
static uint32_t expr_add(struct expr_source *in, struct expr_node node)
{
	struct expr_tree *tree = in->tree;
	const uint32_t below[] = { node.a, node.b, node.c };
	bool known = node.op >= EXPR_CAST && node.op <= EXPR_REST;

	if (in->failed)
		return 0;
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
		struct expr e = { .tree = tree };
		uint64_t num = expr_evaluate(&e, (uint32_t)tree->n - 1).num;

		if (!e.failed)
			tree->node[tree->n - 1] =
				(struct expr_node){ .op = EXPR_NUMBER,
						    .num = num };
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
	char *text = NULL;

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
	const char *kept = arena_strdup(&in->tree->texts, text);

	free(text);
	return kept;
}

static size_t expr_take_word(struct expr_source *in, const char **out)
{
	expr_skip_blanks(in);
	*out = in->s;
	while (isalnum((unsigned char)*in->s) || *in->s == '_')
		in->s++;
	return (size_t)(in->s - *out);
}

static bool expr_word_is(const char *w, size_t n, const char *name)
{
	return n && *w == *name && strlen(name) == n && !memcmp(w, name, n);
}

static uint32_t expr_find_field(struct expr_source *in, const char *w, size_t n)
{
	for (size_t i = 0; i < in->fmt->n; i++)
		if (expr_word_is(w, n, in->fmt->def[i].name))
			return expr_add(
				in, (struct expr_node){
					    .op = EXPR_FIELD,
					    .num = i,
					    .size = (uint16_t)in->fmt->field[i]
							    .elem,
				    });
	return expr_refuse(in);
}

static uint32_t expr_take_indexes(struct expr_source *in, uint32_t of)
{
	while (!in->failed && expr_is(in, '[')) {
		uint32_t i = expr_parse(in);

		expr_need(in, ']');
		of = expr_add(in, (struct expr_node){
					  .op = EXPR_INDEX, .a = of, .b = i });
	}
	return of;
}

/* Takes the rest of a list, which is , {number, "name"} as often as it comes.
 * Returns its first pair, which is as high as the highest, or 0. */
static uint32_t expr_take_pairs(struct expr_source *in)
{
	uint32_t first = 0;
	uint32_t last = 0;

	while (!in->failed && expr_is(in, ',')) {
		struct expr_node pair = { .op = EXPR_PAIR };

		expr_need(in, '{');
		pair.a = expr_parse(in);
		expr_need(in, ',');
		pair.text = expr_string(in);
		expr_need(in, '}');
		uint32_t i = expr_add(in, pair);

		if (in->failed)
			return 0;
		struct expr_node *n = in->tree->node;

		first = first ? first : i;
		if (last)
			n[last].b = i;
		if (n[i].height > n[first].height)
			n[first].height = n[i].height;
		last = i;
	}
	return first;
}

/* Takes (value, "between", {mask, "name"}, ...). */
static uint32_t expr_take_flags(struct expr_source *in)
{
	struct expr_node flags = { .op = EXPR_FLAGS, .a = expr_parse(in) };

	expr_need(in, ',');
	flags.text = expr_string(in);
	if (!flags.text)
		return expr_refuse(in);
	flags.b = expr_take_pairs(in);
	return expr_add(in, flags);
}

/* Takes (value, {value, "name"}, ...). */
static uint32_t expr_take_symbolic(struct expr_source *in)
{
	struct expr_node symbolic = { .op = EXPR_SYMBOLIC,
				      .a = expr_parse(in) };

	symbolic.b = expr_take_pairs(in);
	return expr_add(in, symbolic);
}

/* Takes (bytes, count). */
static uint32_t expr_take_hex(struct expr_source *in, const char *between)
{
	struct expr_node hex = { .op = EXPR_HEX,
				 .a = expr_parse(in),
				 .text = between };

	expr_need(in, ',');
	hex.b = expr_parse(in);
	return expr_add(in, hex);
}

/* Takes (items, count, bytes of an item). */
static uint32_t expr_take_array(struct expr_source *in)
{
	struct expr_node array = { .op = EXPR_ARRAY, .a = expr_parse(in) };

	expr_need(in, ',');
	array.b = expr_parse(in);
	expr_need(in, ',');
	array.c = expr_parse(in);
	return expr_add(in, array);
}

/* Takes the name of __get_str(name) and the like. */
static uint32_t expr_take_field(struct expr_source *in)
{
	const char *w;
	size_t n = expr_take_word(in, &w);

	return expr_find_field(in, w, n);
}

static uint32_t expr_take_call(struct expr_source *in, const char *w, size_t n)
{
	uint32_t v;

	expr_need(in, '(');
	if (expr_word_is(w, n, "__print_flags"))
		v = expr_take_flags(in);
	else if (expr_word_is(w, n, "__print_symbolic"))
		v = expr_take_symbolic(in);
	else if (expr_word_is(w, n, "__print_hex"))
		v = expr_take_hex(in, " ");
	else if (expr_word_is(w, n, "__print_hex_str"))
		v = expr_take_hex(in, "");
	else if (expr_word_is(w, n, "__print_array"))
		v = expr_take_array(in);
	else if (expr_word_is(w, n, "__get_stacktrace"))
		v = expr_add(in,
			     (struct expr_node){ .op = EXPR_ADDRESSES,
						 .a = expr_take_field(in) });
	else if (expr_word_is(w, n, "__get_str") ||
		 expr_word_is(w, n, "__get_rel_str") ||
		 expr_word_is(w, n, "__get_dynamic_array") ||
		 expr_word_is(w, n, "__get_rel_dynamic_array"))
		v = expr_take_field(in);
	else if (expr_word_is(w, n, "__get_dynamic_array_len") ||
		 expr_word_is(w, n, "__get_rel_dynamic_array_len"))
		v = expr_add(in,
			     (struct expr_node){ .op = EXPR_LENGTH,
						 .a = expr_take_field(in) });
	else
		v = expr_refuse(in);
	expr_need(in, ')');
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

static uint32_t expr_take_unary(struct expr_source *in);

static uint32_t expr_add_number(struct expr_source *in, uint64_t num)
{
	return expr_add(in,
			(struct expr_node){ .op = EXPR_NUMBER, .num = num });
}

/* Takes what follows '(': the type of a cast and what is cast, or an
 * expression. */
static uint32_t expr_take_bracket(struct expr_source *in)
{
	const char *was = in->s;
	const char *w;
	size_t n = expr_take_word(in, &w);
	int size = expr_type_size(w, n);
	bool is_signed = true;

	if (!size) {
		in->s = was;
		uint32_t v = expr_parse(in);

		expr_need(in, ')');
		return v;
	}
	for (; n; n = expr_take_word(in, &w)) {
		int more = expr_type_size(w, n);

		if (expr_word_is(w, n, "unsigned") || *w == 'u' ||
		    !strncmp(w, "__u", 3))
			is_signed = false;
		if (more && !expr_word_is(w, n, "unsigned") &&
		    !expr_word_is(w, n, "signed"))
			size = more;
	}
	while (expr_is(in, '*'))
		size = 8;
	expr_need(in, ')');
	return expr_add(in, (struct expr_node){ .op = EXPR_CAST,
						.a = expr_take_unary(in),
						.size = (uint16_t)size,
						.num = is_signed });
}

static uint32_t expr_take_number(struct expr_source *in)
{
	uint64_t v = 0;
	unsigned int base = 10;

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
	while (*in->s == 'U' || *in->s == 'L' || *in->s == 'u' || *in->s == 'l')
		in->s++;
	return expr_add_number(in, v);
}

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
		return expr_add_number(in, (unsigned char)c);
	}
	if (expr_is(in, '('))
		return expr_take_indexes(in, expr_take_bracket(in));
	size_t n = expr_take_word(in, &w);

	if (expr_word_is(w, n, "REC")) {
		expr_need(in, '-');
		expr_need(in, '>');
		return expr_take_indexes(in, expr_take_field(in));
	}
	if (n && !isdigit((unsigned char)*w))
		return expr_take_call(in, w, n);
	return expr_refuse(in);
}

static uint32_t expr_take_unary(struct expr_source *in)
{
	static const struct {
		char c;
		enum expr_op op;
	} signs[] = {
		{ '!', EXPR_NOT },
		{ '~', EXPR_COMPLEMENT },
		{ '-', EXPR_NEGATE },
	};
	uint32_t v;

	if (in->failed || ++in->depth > DEPTH_MAX)
		return expr_refuse(in);
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (expr_is(in, signs[i].c)) {
			v = expr_add(in, (struct expr_node){
						 .op = signs[i].op,
						 .a = expr_take_unary(in) });
			in->depth--;
			return v;
		}
	v = expr_is(in, '+') ? expr_take_unary(in) : expr_take_primary(in);
	in->depth--;
	return v;
}

struct expr_operator {
	const char *text;
	int rank;
	enum expr_op op;
};

/* Longer ones first, so that "<<" is not taken for "<". */
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

/* Takes operators of at least this rank. */
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
		v = expr_add(in, (struct expr_node){
					 .op = op->op, .a = v, .b = right });
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

		choice.b = expr_parse(in);
		expr_need(in, ':');
		choice.c = expr_parse(in);
		v = expr_add(in, choice);
	}
	in->depth--;
	return in->failed ? 0 : v;
}
