/* print.c - makes the text of a tracepoint's payload, as the kernel would print
 * it.
 *
 * libtraceevent does this too, but it crashes on malformed formats (version
 * 1.7.1: an out-of-bounds access in its parser within seconds of fuzzing), and
 * formats come from the capture. So they are interpreted here. If something is
 * not understood, the text shows the fields instead, and tp_print_problem()
 * returns the reason. Values of the kernel's own variables, such as its array
 * of pages, are in no capture and print as "?". */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/tracepoint/expr.h"
#include "formats/tracepoint/expr_parse.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/pointed.h"
#include "formats/tracepoint/tracepoint.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/table.h"
#include "stitch/source.h"

#define NAMED_LETTERS "SsFfB" /* after %p: a function's name */
#define WORD_LETTERS                                                           \
	"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789"
#define LACKS_STRING "lacks the string of"
#define BITS_MAX 65536 /* the most bits of %*pb */

/* A part of a line: text, then a conversion and its argument. */
struct tp_part {
	const char *text; /* len bytes */
	size_t len;
	struct tp_conversion c;	   /* type 0: the part is only text */
	uint32_t of;		   /* node of the argument; 0: none */
	uint32_t width, precision; /* nodes of these arguments; 0: none */
	uint32_t number; /* index + 1 of the field that is the whole argument;
			    0: it is more */
	uint32_t only; /* index + 1 of the only field in the argument; 0: it has
			  others */
	bool variable; /* has a kernel variable, whose value is in no capture */
	bool bare;     /* prints one field without width, precision and flags: a
			  decimal or hexadecimal number, or text */
	struct tp_memo *memo; /* MEMOS; NULL: none yet */
};

/* The text of a part for one value of the only number it depends on: a state,
 * flags, a name of a list. Evaluation takes ten times as long as finding it
 * here. */
struct tp_memo {
	int64_t num;
	bool known;    /* the memo is in use; its text may be empty */
	uint8_t len;   /* length of text */
	uint16_t used; /* bytes that it took of the expression's texts, */
	bool later;    /* when other texts were before it */
	char text[45];
};
#define MEMOS 16 /* by a hash of the number */

/* The parsed print format of an event: n parts, from part `first` on. */
struct tp_line {
	size_t first, n;
	bool understood;
	const char *problem; /* why it is not understood; "": it is */
};

/* The parsed print formats. Each is parsed once. Formats must not move as long
 * as struct tp is used. */
struct tp_print {
	struct table lines; /* by the address of the format's text */
	struct tp_line *line;
	size_t n_line, cap_line;
	struct tp_part *part;
	size_t n_part, cap_part;
	struct expr_tree tree;
	struct expr values;
};

/* These output functions avoid vsnprintf(), which took half the time of a
 * payload. */
static void tp_out_bytes(struct text_out *o, const char *s, size_t n)
{
	if (o->len + 1 >= o->size)
		return;
	lower_to(n, o->size - o->len - 1);
	memcpy(o->buf + o->len, s, n);
	o->len += n;
	o->buf[o->len] = '\0';
}

static void tp_out_char(struct text_out *o, char c)
{
	tp_out_bytes(o, &c, 1);
}

static void tp_out_fill(struct text_out *o, char c, int n)
{
	while (n-- > 0)
		tp_out_char(o, c);
}

/* Writes the digits of v, the last one before `end`. Returns the first one. The
 * compiler makes a loop for each base, without divisions. */
static inline char *tp_digits(char *end, uint64_t v, unsigned int base,
			      bool upper)
{
	const char *digit = upper ? "0123456789ABCDEF" : "0123456789abcdef";

	do {
		*--end = digit[v % base];
		v /= base;
	} while (v);
	return end;
}

/* Prints a decimal or hexadecimal number without padding: most are like
 * this. */
static void tp_out_bare(struct text_out *o, const struct tp_conversion *c,
			uint64_t v)
{
	bool is_signed = c->type == 'd' || c->type == 'i';
	char buf[24];
	char *end = buf + sizeof(buf);

	v = tp_narrow(v, c->bytes, is_signed);
	const bool minus = is_signed && (int64_t)v < 0;

	if (minus)
		v = -v;
	char *p = c->type == 'x' ? tp_digits(end, v, 16, false)
				 : tp_digits(end, v, 10, false);

	if (minus)
		*--p = '-';
	tp_out_bytes(o, p, (size_t)(end - p));
}

static int tp_print_small_number(const char **s)
{
	int v = 0;

	for (; isdigit((unsigned char)**s); ++*s)
		if (v <= TEXT_WIDTH_MAX)
			v = v * 10 + (**s - '0');
	return v > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : v;
}

void tp_conversion(const char **s, struct tp_conversion *c, bool long32)
{
	*c = (struct tp_conversion){ .precision = -1, .bytes = 4 };
	for (;; ++*s) {
		if (**s == '-')
			c->left = true;
		else if (**s == '0')
			c->zero = true;
		else if (**s == '#')
			c->alt = true;
		else if (**s == '+')
			c->plus = true;
		else if (**s == ' ')
			c->blank = true;
		else
			break;
	}
	c->width_given = **s == '*';
	*s += c->width_given;
	c->width = tp_print_small_number(s);
	if (**s == '.') {
		++*s;
		c->precision_given = **s == '*';
		*s += c->precision_given;
		c->precision = tp_print_small_number(s);
	}
	for (; **s && strchr("hlzLqjt", **s); ++*s) {
		if (**s == 'h')
			c->bytes = c->bytes == 2 ? 1 : 2;
		else if (**s == 'l' && c->bytes != 8 && long32)
			c->bytes = (*s)[1] == 'l' ? 8 : 4;
		else
			c->bytes = 8;
	}
	c->type = **s;
	if (**s)
		++*s;
}

/* Prints sign, base prefix and digits, padded. */
static void tp_out_number(struct text_out *o, const struct tp_conversion *c,
			  uint64_t v)
{
	bool is_signed = c->type == 'd' || c->type == 'i';
	const char *sign = "";
	char buf[24];
	char *end = buf + sizeof(buf);

	v = tp_narrow(v, c->bytes, is_signed);
	if (is_signed && (int64_t)v < 0) {
		sign = "-";
		v = -v;
	} else if (is_signed && (c->plus || c->blank)) {
		sign = c->plus ? "+" : " ";
	} else if (c->alt && (c->type == 'x' || c->type == 'X')) {
		/* for 0 too, unlike C */
		sign = c->type == 'x' ? "0x" : "0X";
	} else if (c->alt && v && c->type == 'o') {
		sign = "0";
	}
	const char *digits = c->type == 'x'   ? tp_digits(end, v, 16, false)
			     : c->type == 'X' ? tp_digits(end, v, 16, true)
			     : c->type == 'o' ? tp_digits(end, v, 8, false)
					      : tp_digits(end, v, 10, false);
	int n = (int)(end - digits);
	int zeros = c->precision > n ? c->precision - n : 0;

	n += (int)strlen(sign) + zeros;
	int fill = c->width > n ? c->width - n : 0;

	if (c->zero && !c->left && c->precision < 0) {
		zeros += fill;
		fill = 0;
	}
	tp_out_fill(o, ' ', c->left ? 0 : fill);
	tp_out_bytes(o, sign, strlen(sign));
	tp_out_fill(o, '0', zeros);
	tp_out_bytes(o, digits, (size_t)(end - digits));
	tp_out_fill(o, ' ', c->left ? fill : 0);
}

static void tp_out_text(struct text_out *o, const struct tp_conversion *c,
			const char *s)
{
	size_t n = c->precision >= 0 ? strnlen(s, (size_t)c->precision)
				     : strlen(s);
	int fill = (size_t)c->width > n ? c->width - (int)n : 0;

	tp_out_fill(o, ' ', c->left ? 0 : fill);
	tp_out_bytes(o, s, n);
	tp_out_fill(o, ' ', c->left ? fill : 0);
}

/* Prints an address like sprint_symbol() of Linux: "name+0x12/0x34 [module]".
 * An address without a name, and %p, gets all its digits; the kernel prints
 * hashes instead unless its option hash-ptr is off. */
void tp_out_pointer(struct text_out *o, const struct tp *tp,
		    const struct tp_conversion *c, uint64_t v)
{
	const struct tp_conversion digits = { .type = 'x',
					      .bytes = 8,
					      .zero = !c->width,
					      .left = c->left,
					      .precision = -1,
					      .width = c->width	    ? c->width
						       : tp->long32 ? 8
								    : 16 };
	struct tp_symbol sym;

	if (!c->letter || !strchr(NAMED_LETTERS, c->letter)) {
		tp_out_number(o, &digits, v);
		return;
	}
	/* %pB has a return address; the call may be the last instruction of its
	 * function */
	const uint64_t at = v - (c->letter == 'B' && v);

	if (!tp->symbol || !tp->symbol(tp->symbols_of, at, &sym)) {
		text_out_add(o, "0x%" PRIx64, v);
		return;
	}
	tp_out_bytes(o, sym.name, sym.len);
	if (strchr("SFB", c->letter))
		text_out_add(o, "+0x%" PRIx64, v - sym.start);
	if (strchr("SFB", c->letter) && sym.size)
		text_out_add(o, "/0x%" PRIx64, sym.size);
	if (sym.module_len)
		text_out_add(o, " [%.*s]", (int)sym.module_len, sym.module);
}

/* Takes the letters after %p. Returns false if they are not known. */
static bool tp_parse_letters(const char **s, struct tp_conversion *c)
{
	/* R: a return address on s390x with extra bits; b: with the build-id,
	 * which no tracepoint prints */
	const size_t n = tp_pointed_letters(*s);

	if (!isalnum((unsigned char)**s))
		return true;
	if (n && n < sizeof(c->pointed)) {
		memcpy(c->pointed, *s, n);
		*s += n;
	} else if (strchr(NAMED_LETTERS, **s) || **s == 'x' || **s == 'K') {
		c->letter = *(*s)++;
		if (c->letter == 'S' && **s == 'R')
			++*s;
	}
	return *c->pointed || c->letter;
}

/* Takes the argument that is a width or precision, if `given`. Returns its
 * node, or 0. */
static uint32_t tp_parse_given(struct expr_source *args, bool given)
{
	if (!given || args->failed)
		return 0;
	if (!expr_is(args, ','))
		return expr_refuse_word(args, "lacks", "an argument", 11);
	return expr_parse(args);
}

/* Returns index + 1 of the only field in the nodes from `first` on; 0: there is
 * none, or several. */
static uint32_t tp_only_field(const struct expr_tree *tree, size_t first)
{
	uint32_t only = 0;

	for (size_t i = first; i < tree->n; i++) {
		const struct expr_node *n = &tree->node[i];

		if (n->op == EXPR_FIELD && only && only != n->num + 1)
			return 0;
		if (n->op == EXPR_FIELD)
			only = (uint32_t)n->num + 1;
	}
	return only;
}

/* Replaces the address of a kernel string by the string, if the format lists
 * it, or notes that it is not known. */
static void tp_parse_strings(struct expr_source *args, struct tp_part *p)
{
	const struct expr_node *n = &args->tree->node[p->of];

	while (n->op == EXPR_CAST || n->op == EXPR_POINTER)
		n = &args->tree->node[n->a];
	if (p->c.type != 's' || n->op != EXPR_FIELD ||
	    args->fmt->field[n->num].kind != FMT_NUM)
		return;
	const char *list = strstr(args->fmt->text, "\n" TP_STRINGS);

	if (list) {
		p->of = expr_strings(args, p->of, list + sizeof(TP_STRINGS));
		return;
	}
	args->what = LACKS_STRING;
	snprintf(args->word, sizeof(args->word), "%s",
		 args->fmt->def[n->num].name);
}

/* Takes the conversion at *s and its arguments. Returns false if they are not
 * understood. */
static bool tp_parse_conversion(const char **s, struct expr_source *args,
				bool long32, struct tp_part *p)
{
	const char *from = *s - 1;

	tp_conversion(s, &p->c, long32);
	if (p->c.type == '%')
		return true;
	if (!p->c.type || !strchr("diuxXocsp", p->c.type) ||
	    (p->c.type == 'p' && !tp_parse_letters(s, &p->c))) {
		size_t n = (size_t)(*s - from);

		n += strspn(*s, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
				"abcdefghijklmnopqrstuvwxyz");
		expr_refuse_word(args, "converts by", from, n);
		return false;
	}
	const size_t first = args->tree->n;

	args->variable = false;
	p->width = tp_parse_given(args, p->c.width_given);
	p->precision = tp_parse_given(args, p->c.precision_given);
	p->of = tp_parse_given(args, true);
	p->variable = args->variable;
	if (args->failed)
		return false;
	const struct expr_node *n = &args->tree->node[p->of];

	if (n->op == EXPR_FIELD && strchr("diuxXo", p->c.type) && !p->width &&
	    !p->precision)
		p->number = (uint32_t)n->num + 1;
	tp_parse_strings(args, p);
	if (!p->variable)
		p->only = tp_only_field(args->tree, first);
	const bool whole = args->tree->node[p->of].op == EXPR_FIELD;

	p->bare = (p->number ? strchr("diux", p->c.type) != NULL
			     : whole && p->c.type == 's') &&
		  !p->width && !p->precision && !p->c.width &&
		  p->c.precision < 0 && !p->c.alt && !p->c.plus && !p->c.blank;
	return true;
}

/* Adds the parts of a print format. Returns false if it is not understood. */
static bool tp_parse_line(struct tp_print *pr, struct expr_source *args,
			  bool long32)
{
	const char *s = expr_string(args);

	while (s && *s) {
		struct tp_part p = { .text = s, .len = strcspn(s, "%") };

		s += p.len;
		if (*s) {
			s++;
			if (!tp_parse_conversion(&s, args, long32, &p))
				return false;
		}
		*mem_add(pr->part, pr->n_part, pr->cap_part) = p;
	}
	return s != NULL;
}

/* Prints a value. Returns false if the conversion is for another kind of
 * value. */
static bool tp_print_value(struct text_out *o, const struct tp *tp,
			   const struct tp_conversion *c,
			   const struct expr_value *v)
{
	switch (c->type) {
	case 's':

		if (v->kind == EXPR_TEXT)
			tp_out_text(o, c, v->text ? v->text : "");
		else if (v->kind == EXPR_BLOB && v->blob && v->elem == 1) {
			/* Print bytes as text, up to a NUL. */
			char copy[1024];
			size_t n = v->len < sizeof(copy) ? v->len
							 : sizeof(copy) - 1;

			memcpy(copy, v->blob, n);
			copy[n] = '\0';
			tp_out_text(o, c, copy);
		} else if (v->kind == EXPR_BLOB)
			return false;
		else if (!v->num)
			tp_out_text(o, c, "(null)");
		else
			text_out_add(o, "0x%" PRIx64, v->num);
		return true;
	case 'c':
		if (v->num & 0xff)
			tp_out_char(o, (char)v->num);
		return true;
	case 'p':
		if (*c->pointed)
			return tp_out_pointed(
				o, &tp->print->values.on, c->pointed,
				c->width_given ? c->width : -1, v);
		tp_out_pointer(o, tp, c, v->num);
		return v->kind == EXPR_NUM;
	default:
		tp_out_number(o, c, v->num);
		return v->kind == EXPR_NUM;
	}
}

/* Returns the value of an argument that is a width or precision, limited to
 * -most to most. */
static int tp_print_given(struct expr *e, uint32_t node, int most)
{
	const int64_t v = (int64_t)expr_evaluate(e, node).num;

	return v < -most ? -most : v > most ? most : (int)v;
}

static struct tp_conversion tp_print_widths(struct expr *e,
					    const struct tp_part *p)
{
	struct tp_conversion c = p->c;

	if (p->width)
		c.width = tp_print_given(
			e, p->width, *c.pointed ? BITS_MAX : TEXT_WIDTH_MAX);
	if (c.width < 0 && !*c.pointed) {
		c.left = true;
		c.width = -c.width;
	}
	if (p->precision)
		c.precision = tp_print_given(e, p->precision, EXPR_TEXT_MAX);
	return c;
}

static bool tp_print_evaluated(struct tp *tp, const struct tp_part *p,
			       struct text_out *o)
{
	struct expr *e = &tp->print->values;
	const struct tp_conversion *c = &p->c;
	struct tp_conversion given;

	if (p->width || p->precision) {
		given = tp_print_widths(e, p);
		c = &given;
	}
	struct expr_value v = expr_evaluate(e, p->of);

	if (e->failed)
		return false;
	if (!e->unknown)
		return tp_print_value(o, tp, c, &v);
	e->unknown = false;
	if (p->variable)
		tp_out_char(o, '?');
	return p->variable;
}

/* Prints a part that depends only on field f. The same number makes the same
 * text, unless the texts of earlier parts leave no room. */
static bool tp_print_again(struct tp *tp, struct tp_part *p,
			   const struct field *f, struct text_out *o)
{
	struct expr *e = &tp->print->values;

	if (f->present && f->text && p->bare) {
		tp_out_bytes(o, f->text, strlen(f->text));
		return true;
	}
	if (!f->present || f->text || f->blob)
		return tp_print_evaluated(tp, p, o);
	if (!p->memo)
		p->memo = mem_new(MEMOS, sizeof(*p->memo));
	struct tp_memo *m = &p->memo[hash_u64((uint64_t)f->num) % MEMOS];

	if (m->known && m->num == f->num && m->later == (e->n_text > 0) &&
	    e->n_text + m->used + 2u < sizeof(e->text)) {
		tp_out_bytes(o, m->text, m->len);
		e->n_text += m->used;
		return true;
	}
	const size_t from = o->len;
	const size_t used = e->n_text;

	if (!tp_print_evaluated(tp, p, o))
		return false;
	const size_t len = o->len - from;

	if (len <= sizeof(m->text) && o->len + 1 < o->size &&
	    e->n_text - used <= UINT16_MAX) {
		m->known = true;
		m->num = f->num;
		m->len = (uint8_t)len;
		m->used = (uint16_t)(e->n_text - used);
		m->later = used > 0;
		memcpy(m->text, o->buf + from, len);
	}
	return true;
}

static bool tp_print_part(struct tp *tp, struct tp_part *p, struct text_out *o)
{
	const struct expr *e = &tp->print->values;

	/* most arguments are fields that are numbers */
	if (p->number) {
		const struct field *f = &e->field[p->number - 1];

		if (!f->present || f->text || f->blob)
			return false;
		if (p->bare)
			tp_out_bare(o, &p->c, (uint64_t)f->num);
		else
			tp_out_number(o, &p->c, (uint64_t)f->num);
		return true;
	}
	/* not for %p: the name of an address may become known later */
	return p->only && p->c.type != 'p'
		       ? tp_print_again(tp, p, &e->field[p->only - 1], o)
		       : tp_print_evaluated(tp, p, o);
}

static bool tp_print_line(struct tp *tp, const struct tp_line *l,
			  struct text_out *o)
{
	bool faulty = false;

	for (size_t i = 0; i < l->n; i++) {
		struct tp_part *p = &tp->print->part[l->first + i];
		const bool quote = faulty && p->len && *p->text == '"';

		tp_out_bytes(o, p->text + quote, p->len - quote);
		faulty = false;
		if (p->c.type == '%')
			tp_out_char(o, '%');
		if (!p->of)
			continue;
		const struct field *f =
			p->only ? &tp->print->values.field[p->only - 1] : NULL;

		/* print it without the quotes that the print format has around
		 * the string */
		faulty = f && !f->present && f->text;
		if (faulty) {
			o->len -= o->len && o->buf[o->len - 1] == '"';
			tp_out_bytes(o, f->text, strlen(f->text));
			continue;
		}
		if (!tp_print_part(tp, p, o))
			return false;
	}
	return true;
}

static void tp_print_plain(struct text_out *o, const struct field_def *def,
			   const struct field *f)
{
	if (f->text)
		text_out_add(o, "%s", f->text);
	else if (f->blob)
		for (uint32_t i = 0; i < f->len; i++)
			text_out_add(o, "%02x",
				     ((const unsigned char *)f->blob)[i]);
	else if (def->is_signed)
		text_out_add(o, "%" PRId64, f->num);
	else
		text_out_add(o, "%" PRIu64, (uint64_t)f->num);
}

static const struct tp_line *
tp_print_find(struct tp *tp, const struct tp_format *fmt, bool recorded)
{
	const uint64_t key = hash_u64((uintptr_t)fmt->text * 2 + recorded);

	if (!tp->print)
		tp->print = mem_new(1, sizeof(*tp->print));
	struct tp_print *pr = tp->print;
	uint32_t i = table_find_hash(&pr->lines, key);

	if (i != TABLE_NONE)
		return &pr->line[i];
	static const char begin[] = "print fmt: ";
	static const char other[] = "\n" TP_RECORDED_PRINT;
	const char *text = strstr(fmt->text, begin);
	const char *was = text && recorded ? strstr(text, other) : NULL;
	struct expr_source args = {
		.s = was    ? was + sizeof(other) - 1
		     : text ? text + sizeof(begin) - 1
			    : "",
		.fmt = fmt,
		.tree = &pr->tree,
		.release = tp->release,
		.long32 = tp->long32,
	};
	struct tp_line *l = mem_add(pr->line, pr->n_line, pr->cap_line);

	l->first = pr->n_part;
	l->understood = tp_parse_line(pr, &args, tp->long32);
	l->n = pr->n_part - l->first;
	/* no format shows which bits of a union hold what */
	const char *bits = l->understood ? NULL : strstr(args.s, "union ");
	char why[160];
	int n = 0;

	if (bits)
		n = snprintf(why, sizeof(why),
			     "needs the bits of %.*s, which are in no capture",
			     6 + (int)strspn(bits + 6, WORD_LETTERS), bits);
	else if (args.what)
		n = snprintf(why, sizeof(why), "%s %s", args.what, args.word);
	else if (!l->understood)
		n = snprintf(why, sizeof(why), "is not understood");
	else if (*args.unknown)
		n = snprintf(why, sizeof(why),
			     "needs %s, which is in no capture", args.unknown);
	l->problem = n ? arena_strdup(&pr->tree.texts, why) : "";
	table_add(&pr->lines, key, (uint32_t)pr->n_line - 1);
	return l;
}

static void tp_print_begin(struct tp *tp, const struct field *field)
{
	struct expr *e = &tp->print->values;

	e->tree = &tp->print->tree;
	e->field = field;
	e->on.swap = tp->swap;
	e->on.long32 = tp->long32;
	e->failed = false;
	e->unknown = false;
	e->n_text = 0;
}

size_t tp_print_fields(struct tp *tp, const struct tp_format *fmt,
		       const struct field *field, char *buf, size_t size)
{
	struct text_out o = { .buf = buf, .size = size };
	bool recorded = false;

	/* if a field that a reader adds is missing, the print format that was
	 * recorded is the right one */
	for (size_t i = fmt->n; i-- && fmt->field[i].off >= TP_ADDED_OFF;)
		recorded |= !field[i].present;
	const struct tp_line *l = tp_print_find(tp, fmt, recorded);

	buf[0] = 0;
	tp_print_begin(tp, field);
	if (!l->understood || !tp_print_line(tp, l, &o)) {
		buf[0] = 0;
		o.len = 0;
		for (size_t i = 0; i < fmt->n; i++) {
			const char *name = fmt->def[i].name;

			if (!field[i].present || !strncmp(name, "common_", 7))
				continue;
			text_out_add(&o, "%s%s=", o.len ? " " : "", name);
			tp_print_plain(&o, &fmt->def[i], &field[i]);
		}
	}
	/* A text written to trace_marker has its own line feed, which is
	 * removed. It stays if the buffer is full, so that a caller can see
	 * that there may be more. */
	while (o.len && o.len + 1 < size && buf[o.len - 1] == '\n')
		buf[--o.len] = 0;
	return o.len;
}

const char *tp_print_value_of(struct tp *tp, const struct tp_format *fmt,
			      size_t i, const struct field *f, char *buf,
			      size_t size)
{
	struct text_out o = { .buf = buf, .size = size };
	const struct tp_line *l = tp_print_find(tp, fmt, true);
	const struct tp_part *part = tp->print->part + l->first;
	struct tp_line of = { 0 };

	while (of.first < l->n && part[of.first].only != i + 1)
		of.first++;
	while (of.first + of.n < l->n && part[of.first + of.n].only == i + 1)
		of.n++;
	size_t skip = of.n ? part[of.first].len : 0;
	of.first += l->first;
	buf[0] = 0;
	mem_grow(tp->field, tp->cap_field, fmt->n);
	memset(tp->field, 0, fmt->n * sizeof(*tp->field));
	tp->field[i] = *f;
	tp_print_begin(tp, tp->field);
	if (!l->understood || !of.n || !tp_print_line(tp, &of, &o) ||
	    o.len < skip) {
		skip = o.len = 0;
		buf[0] = 0;
		tp_print_plain(&o, &fmt->def[i], f);
	}
	while (o.len > skip && buf[o.len - 1] == ' ')
		buf[--o.len] = 0;
	return buf + skip + strspn(buf + skip, " ");
}

void tp_print_find_code(struct tp *tp, struct tp_format *fmt)
{
	const struct tp_line *l = tp_print_find(tp, fmt, false);
	const struct tp_print *pr = tp->print;

	for (size_t i = 0; l->understood && i < l->n; i++) {
		const struct tp_part *p = &pr->part[l->first + i];

		if (p->c.type != 'p' || !p->c.letter ||
		    !strchr(NAMED_LETTERS, p->c.letter))
			continue;
		/* A text without arguments has no tree. */
		const struct expr_node *n = &pr->tree.node[p->of];
		while (n->op == EXPR_CAST || n->op == EXPR_POINTER)
			n = &pr->tree.node[n->a];
		if (n->op == EXPR_FIELD && fmt->n_code < TP_CODES &&
		    fmt->field[n->num].kind == FMT_NUM)
			fmt->code[fmt->n_code++] = (uint16_t)n->num;
	}
}

const char *tp_print_problem(struct tp *tp, const struct tp_format *fmt)
{
	return tp_print_find(tp, fmt, false)->problem;
}

bool tp_print_lacks_strings(struct tp *tp, const struct tp_format *fmt)
{
	return !strncmp(tp_print_problem(tp, fmt), LACKS_STRING,
			sizeof(LACKS_STRING) - 1);
}

size_t tp_print(struct tp *tp, const struct tp_format *fmt, const void *raw,
		size_t len, char *buf, size_t size)
{
	mem_grow(tp->field, tp->cap_field, fmt->n);
	tp_fields_take(tp, fmt, raw, len, tp->field);
	return tp_print_fields(tp, fmt, tp->field, buf, size);
}

void tp_release(struct tp *tp)
{
	arena_release(&tp->scratch);
	free_all(tp->field, tp->ip, tp->made);
	if (!tp->print)
		return;
	for (size_t i = 0; i < tp->print->n_part; i++)
		free(tp->print->part[i].memo);
	table_release(&tp->print->lines);
	arena_release(&tp->print->tree.texts);
	free_all(tp->print->line, tp->print->part, tp->print->tree.node,
		 tp->print);
}

/* ---- makes the text of a trace_printk() from its format and packed arguments
 * (lib/vsprintf.c, vbin_printf): each argument has its own alignment, except
 * that 8 bytes are aligned to 4, and strings are between them */

static bool tp_bprint_take_number(struct bytes *args, int size, uint64_t *out)
{
	uint64_t align = size == 8 ? 4 : (uint64_t)size;
	uint64_t at = (uint64_t)(args->pos - args->base);
	const struct tp_field as = { .kind = FMT_NUM, .size = (uint32_t)size };
	struct bytes number;
	int64_t v;

	if (bytes_skip(args, (align - at % align) % align, NULL) ||
	    bytes_take(args, (uint32_t)size, &number, NULL) ||
	    !tp_field_number(&number, &as, &v))
		return false;
	*out = (uint64_t)v;
	return true;
}

/* Takes the width or precision of "%*d", which is a separate argument. */
static bool tp_bprint_take_given(struct bytes *args, int *out)
{
	uint64_t v;

	if (!tp_bprint_take_number(args, 4, &v))
		return false;
	*out = v > TEXT_WIDTH_MAX ? TEXT_WIDTH_MAX : (int)v;
	return true;
}

/* Prints one conversion with its packed arguments, and moves past both. Returns
 * false if it is not understood. */
static bool tp_bprint_one(const struct tp *tp, struct bytes *args,
			  const char **s, struct text_out *o)
{
	struct tp_conversion c;
	const char *text;
	uint64_t v = 0;
	bool stored;

	tp_conversion(s, &c, tp->long32);
	if (c.width_given && !tp_bprint_take_given(args, &c.width))
		return false;
	if (c.precision_given && !tp_bprint_take_given(args, &c.precision))
		return false;
	switch (c.type) {
	case '%':
		tp_out_char(o, '%');
		return true;
	case 'p':
		/* for %pS and the like the kernel stores the pointer, for other
		 * letters the text */
		c.letter = **s;
		stored = !isalnum((unsigned char)c.letter) ||
			 strchr("SsFfBxKe", c.letter);
		while (isalnum((unsigned char)**s))
			++*s;
		if (stored ? !tp_bprint_take_number(args, tp->long32 ? 4 : 8,
						    &v)
			   : bytes_str(args, &text, NULL))
			return false;
		if (stored)
			tp_out_pointer(o, tp, &c, v);
		else
			tp_out_text(o, &c, text);
		return true;
	case 's':
		if (bytes_str(args, &text, NULL))
			return false;
		tp_out_text(o, &c, text);
		return true;
	case 'c':
		if (!tp_bprint_take_number(args, 1, &v))
			return false;
		if (v >= ' ' && v < 0x7f)
			tp_out_char(o, (char)v);
		return true;
	default:
		if (!c.type || !strchr("diuxXo", c.type) ||
		    !tp_bprint_take_number(args, c.bytes, &v))
			return false;
		tp_out_number(o, &c, v);
		return true;
	}
}

void tp_bprint(const struct tp *tp, const char *format,
	       const struct bytes *args, char *buf, size_t size)
{
	struct text_out o = { .buf = buf, .size = size };
	struct bytes b = *args;
	const char *s = format;

	b.base = b.pos;
	buf[0] = '\0';
	while (*s) {
		const char *from = s;

		if (*s != '%') {
			tp_out_char(&o, *s++);
			continue;
		}
		s++;
		if (!tp_bprint_one(tp, &b, &s, &o)) {
			/* Not understood: print the rest of the format as it
			 * is. */
			text_out_add(&o, "%s", from);
			break;
		}
	}
	while (o.len && buf[o.len - 1] == '\n')
		buf[--o.len] = '\0';
}
