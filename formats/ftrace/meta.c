/* meta.c - reads what a capture has besides pages: the layout of pages, formats
 * of events, kallsyms, names of tasks.
 *
 * In version 6 these parts follow each other; in version 7 they are sections
 * with the same contents. */
#include "formats/ftrace/page.h"
#include "formats/ftrace/ftrace.h"
#include "formats/reader/scan.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/err.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/base/ledger.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"
#include "stitch/base/table.h"

/* ---- the text of trace_printk(). Its format or string is in the kernel: pages
 * have the address, printk_formats the text. The text becomes a field of the
 * event, and so does the function that called trace_printk(), from the
 * capture's kallsyms, so that both are available without the capture. */

#define TEXTS_MAX 1000000u
#define LINE_MAX_LEN 4096

/* Replaces the escapes \n, \t, \" and \\ of a C string. */
static void ft_print_unescape(char *s)
{
	char *to = s;

	for (; *s; s++) {
		if (*s == '\\' && s[1]) {
			s++;
			*to++ = *s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
		} else {
			*to++ = *s;
		}
	}
	*to = '\0';
}

COMPARE_BY(ft_print_compare, struct ft_text, addr);

/* Takes lines "0xADDRESS : "TEXT"". */
void ft_print_read_formats(struct ft *ft, const struct bytes *text)
{
	struct scan s = scan_of(text->pos, bytes_left(text));
	char line[LINE_MAX_LEN];

	while (s.n) {
		struct scan at = scan_line(&s);
		char *end;

		if (at.n >= sizeof(line))
			continue;
		memcpy(line, at.p, at.n);
		line[at.n] = '\0';
		uint64_t addr = strtoull(line, &end, 16);
		char *from = strchr(end, '"');
		char *to = strrchr(end, '"');

		if (end == line || !from || to == from ||
		    ft->n_text >= TEXTS_MAX)
			continue;
		*to = '\0';
		ft_print_unescape(from + 1);
		mem_grow(ft->text, ft->cap_text, ft->n_text + 1);
		ft->text[ft->n_text++] =
			(struct ft_text){ addr,
					  arena_strdup(&ft->arena, from + 1) };
	}
	sort_items(ft->text, ft->n_text, ft_print_compare);
}

/* Returns the text of a kernel string, or NULL. */
static const char *ft_print_find_text(const struct ft *ft, uint64_t addr)
{
	const size_t n = search_where(ft->n_text, i, ft->text[i].addr >= addr);

	return n < ft->n_text && ft->text[n].addr == addr ? ft->text[n].text
							  : NULL;
}

/* Sorts by address; symbols with the same address keep the order of
 * kallsyms. */
COMPARE_BY(ft_print_compare_symbols, struct tp_symbol, start, name);

/* Reads the symbols of kallsyms. Those of type A are skipped: they are offsets
 * in per-CPU areas. */
static void ft_print_read_symbols(struct ft *ft)
{
	struct kallsyms_text t = { .at = ft->kallsyms,
				   .left = ft->kallsyms_len };
	struct kallsyms_line line;

	while (kallsyms_text_next(&t, &line)) {
		if ((line.type | 0x20) == 'a' || line.name[0] == '$')
			continue;
		ft->names_data |= line.type == 'd' || line.type == 'b';
		*mem_add(ft->symbol, ft->n_symbol, ft->cap_symbol) =
			(struct tp_symbol){
				.name = line.name,
				.len = line.name_len,
				.module = line.module,
				.module_len = line.module_len,
				.start = line.addr,
				.is_code = kallsyms_line_is_code(&line),
			};
	}
	/* Sort the symbols. Those of the kernel itself come first and in order:
	 * only those of modules are sorted, and merged in. */
	struct tp_symbol *all = ft->symbol;
	const size_t n = ft->n_symbol;
	size_t from = 1;

	while (from < n && all[from - 1].start <= all[from].start)
		from++;
	if (from >= n)
		return;
	sort_items(all + from, n - from, ft_print_compare_symbols);
	size_t to = n;
	size_t rest = n - from;
	struct tp_symbol *put OWNED = mem_dup(all + from, rest * sizeof(*put));

	while (rest)
		all[--to] = from && ft_print_compare_symbols(&all[from - 1],
							     &put[rest - 1]) > 0
				    ? all[--from]
				    : put[--rest];
}

/* Finds the symbol of an address. The last symbol has no end, so only its first
 * address counts. Of several symbols at an address, the kernel and trace-cmd
 * take the first in kallsyms. */
static bool ft_print_symbol(void *of, uint64_t addr, struct tp_symbol *out)
{
	struct ft *ft = of;

	if (!ft->has_symbols)
		ft_print_read_symbols(ft);
	ft->has_symbols = true;
	size_t n = search_where(ft->n_symbol, i, ft->symbol[i].start > addr);

	if (!n || (n == ft->n_symbol && ft->symbol[n - 1].start != addr))
		return false;
	const size_t next = n;

	for (n--; n && ft->symbol[n - 1].start == ft->symbol[n].start;)
		n--;
	*out = ft->symbol[n];
	/* A symbol ends where the next one of the kernel or of its module
	 * begins. BPF programs have a size of their own, and the kernel prints
	 * no module for them. */
	const struct tp_symbol *s = ft->symbol + next;

	if (out->module_len == 3 && !memcmp(out->module, "bpf", 3)) {
		out->module_len = 0;
	} else if (next < ft->n_symbol && s->module_len == out->module_len &&
		   (!s->module_len ||
		    !memcmp(s->module, out->module, s->module_len)))
		out->size = s->start - out->start;
	/* a kernel without names of its data must not name an address in it by
	 * the marks between its sections */
	return out->is_code || ft->names_data;
}

void ft_print_names(struct ft *ft)
{
	ft->tp.symbol = ft_print_symbol;
	ft->tp.symbols_of = ft;
}

/* Like ft_print_format(), for text written to trace_marker_raw: prints it like
 * the kernel's trace_raw_data_print(), not only the first four bytes as the
 * format does. */
static char *ft_print_raw_format(const char *system, const struct bytes *text)
{
	static const char field[] = "\tfield:char buf[];";
	const char *s = (const char *)text->pos;
	const size_t n = bytes_left(text);
	const char *print = memmem(s, n, "\nprint fmt:", 11);
	const char *buf = memmem(s, n, field, sizeof(field) - 1);

	if (strcmp(system, "ftrace") != 0 || !print || !buf || buf > print ||
	    !memmem(s, n, "name: raw_data\n", 15))
		return NULL;
	const char *behind = buf + sizeof(field) - 1;

	return mem_printf("%.*s\tfield:unsigned char buf[];%.*s\n"
			  "print fmt: \"# %%x buf: %%s\", REC->id, "
			  "__print_hex(__get_dynamic_array(buf), "
			  "__get_dynamic_array_len(buf))\n",
			  (int)(buf - s), s, (int)(print - behind), behind);
}

/* Returns the format with added fields for function and text, which the caller
 * frees; NULL if the event is not of trace_printk(). */
static char *ft_print_format(const char *system, const struct bytes *text)
{
	const char *s = (const char *)text->pos;
	size_t n = bytes_left(text);
	const char *print = memmem(s, n, "\nprint fmt:", 11);

	if (strcmp(system, "ftrace") != 0 || !print ||
	    (!memmem(s, n, "name: bprint\n", 13) &&
	     !memmem(s, n, "name: bputs\n", 12)))
		return NULL;
	static const char field[] =
		"%.*s\tfield:__data_loc char[] function;\toffset:%d;\tsize:4;\t"
		"signed:0;\n"
		"\tfield:__data_loc char[] text;\toffset:%d;\tsize:4;\t"
		"signed:0;\n\n"
		"print fmt: \"%%s: %%s\", __get_str(function), "
		"__get_str(text)\n";
	return mem_printf(field, (int)(print - s), s, FT_FUNCTION_OFF,
			  FT_TEXT_OFF);
}

static struct field ft_print_field(const char *text)
{
	return (struct field){ .present = true,
			       .text = text,
			       .len = (uint32_t)strlen(text) };
}

void ft_print_text(struct ft *ft, const struct tp_format *fmt, const void *raw,
		   size_t len, struct field *out)
{
	int fmt_at = tp_field_index(fmt, "fmt");
	int str_at = fmt_at < 0 ? tp_field_index(fmt, "str") : fmt_at;
	int buf_at = tp_field_index(fmt, "buf");
	int at = tp_field_index(fmt, "text");
	struct bytes args;

	if (at < 0 || str_at < 0 || !out[str_at].present)
		return;
	const char *text = ft_print_find_text(ft, (uint64_t)out[str_at].num);

	if (!text)
		text = "(its text is not in the capture)";
	else if (fmt_at >= 0 && buf_at >= 0) {
		bytes_init(&args, raw, len, ft->in.path, 0, ft->swap);
		if (bytes_skip(&args, fmt->field[buf_at].off, NULL))
			return;
		tp_bprint(&ft->tp, text, &args, ft->printed,
			  sizeof(ft->printed));
		text = ft->printed;
	}
	out[at] = ft_print_field(text);
	/* Set the name of the function that called trace_printk(), or its
	 * address. */
	static const struct tp_conversion name = { .letter = 's' };
	struct text_out o = { .buf = ft->function,
			      .size = sizeof(ft->function) };
	int ip = tp_field_index(fmt, "ip");
	int place = tp_field_index(fmt, "function");

	if (ip < 0 || place < 0 || !out[ip].present)
		return;
	tp_out_pointer(&o, &ft->tp, &name, (uint64_t)out[ip].num);
	out[place] = ft_print_field(ft->function);
}

COMPARE_BY(ft_names_compare, struct ft_cmd, tid);

/* Lines are "PID NAME". */
void ft_names_read(struct ft *ft, const struct bytes *text)
{
	struct scan s = scan_of(text->pos, bytes_left(text));

	while (s.n) {
		struct scan line = scan_line(&s);
		int32_t tid;

		/* <...>: the kernel did not know the name either */
		if (!scan_i32(&line, &tid) || !scan_take(&line, " ") ||
		    scan_is(line, "<...>"))
			continue;
		*mem_add(ft->cmd, ft->n_cmd, ft->cap_cmd) = (struct ft_cmd){
			.tid = tid,
			.name = arena_strndup(&ft->arena, line.p, line.n),
		};
	}
	sort_items(ft->cmd, ft->n_cmd, ft_names_compare);
}

/* The kernel lists threads in the order of their ids; other lines are
 * dropped. */
void ft_tgid_add(struct ft *ft, int32_t tid, int32_t tgid)
{
	if (tgid <= 0 || (ft->n_tgid && ft->tgid[ft->n_tgid - 1].tid >= tid))
		return;
	*mem_add(ft->tgid, ft->n_tgid, ft->cap_tgid) =
		(struct ft_tgid){ tid, tgid };
}

int32_t ft_tgid_of(const struct ft *ft, int32_t tid)
{
	const size_t n = search_where(ft->n_tgid, i, ft->tgid[i].tid >= tid);

	return n < ft->n_tgid && ft->tgid[n].tid == tid ? ft->tgid[n].tgid : -1;
}

const char *ft_name_of(const struct ft *ft, int32_t tid)
{
	const size_t n = search_where(ft->n_cmd, i, ft->cmd[i].tid >= tid);

	return n < ft->n_cmd && ft->cmd[n].tid == tid ? ft->cmd[n].name : NULL;
}

/* The name of an address becomes a field NAME_name of the event and is in its
 * text, like the fields of trace_printk(), so that it is available without the
 * capture. */

#define ADDED_FIELD                                                            \
	"\tfield:__data_loc char[] %.*s_name;\toffset:%u;\tsize:4;\t"          \
	"signed:0;\n"
#define ADDED_MOST 64 /* the longest name of such a field, in bytes */
#define ARGS_MOST 32  /* the most arguments of a print format */
/* The letters of conversions, indexed by the last digit of an added field's
 * offset; a quotation mark: a string */
#define SYMBOL_KINDS "sSfF\""

struct added {
	struct scan name;
	char letter;
};

/* A print format that is being copied with added names. */
struct symbols_text {
	const char *fields; /* from here to the print format */
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

/* Returns the end of a string, from after its first quote; NULL if it has
 * none. */
static const char *symbols_string_end(const char *s)
{
	for (; *s && *s != '"'; s++)
		if (*s == '\\' && s[1])
			s++;
	return *s ? s : NULL;
}

/* Returns the end of an argument: a comma outside of brackets and strings, or
 * the end of the line. Returns NULL if a string has no end. */
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

/* Returns whether the argument is only a field, cast or not, and sets *name to
 * the field. */
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
	while (name->n < arg.n && scan_is_word(arg.p[name->n]))
		name->n++;
	scan_skip(&arg, name->n);
	while (arg.n && (*arg.p == ' ' || *arg.p == ')'))
		scan_skip(&arg, 1);
	return name->n && name->n < ADDED_MOST && !arg.n;
}

/* Returns whether the format declares a field `name` followed by `more`, with
 * that type. */
static bool symbols_declares(const struct symbols_text *st, const char *type,
			     struct scan name, const char *more)
{
	char word[2 * ADDED_MOST];
	int n = snprintf(word, sizeof(word), "%s%.*s%s;\toffset:", type,
			 (int)name.n, name.p, more);

	return memmem(st->fields, st->n_fields, word, (size_t)n);
}

/* Returns what the text has in place of an address: 's', 'S', 'f' or 'F' for a
 * name as after %p, '"' for a string, 0 for nothing. */
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

/* Splits the arguments after the string. Returns their number, or -1 if they
 * are not understood. */
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

/* Makes the new print format, without the final line feed: copies the string,
 * then the arguments. The conversion of a field with a name becomes %s, and its
 * argument the name. Returns false if the text is not understood, or no field
 * gets a name. */
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

/* Returns the format with an added field for each of these names, which the
 * caller frees; NULL if it needs none. */
static char *ft_symbols_format(const struct bytes *text)
{
	static const char head[] = "\nprint fmt: \"";
	const char *s = (const char *)text->pos;
	size_t n = bytes_left(text);
	const char *print = memmem(s, n, head, sizeof(head) - 1);

	if (!print)
		return NULL;
	/* NUL-terminated, as tp_conversion() requires */
	const char *recorded = print + sizeof(head) - 2;
	size_t rest = n - (size_t)(print - s) - (sizeof(head) - 1);
	char *copy OWNED = mem_new(rest + 1, 1);
	struct symbols_text st = {
		.fields = s,
		.n_fields = (size_t)(print - s),
		.out = mem_new(n + ARGS_MOST * (ADDED_MOST + 32), 1),
	};
	char *out = NULL;

	memcpy(copy, print + sizeof(head) - 1, rest);
	if (symbols_print(&st, copy)) {
		FILE *f = mem_stream(&out, NULL);

		fwrite(s, 1, st.n_fields, f);
		for (size_t i = 0; i < st.n; i++) {
			const struct added *a = &st.added[i];
			const char *kind = strchr(SYMBOL_KINDS, a->letter);

			fprintf(f, ADDED_FIELD, (int)a->name.n, a->name.p,
				FT_SYMBOL_OFF + 8 * (unsigned int)i +
					(unsigned int)(kind - SYMBOL_KINDS));
		}
		fprintf(f, "%s%.*s\n" TP_RECORDED_PRINT "%.*s\n", head,
			(int)st.len, st.out, (int)strcspn(copy, "\n") + 1,
			recorded);
		mem_stream_end(f);
	}
	free(st.out);
	return out;
}

/* Returns the index of the field whose name is in the added field i, or -1. */
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

/* Returns the text of the address in the n-th added field, cached by
 * address. */
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

#define FORMAT_MAX ((uint64_t)1 << 20)
#define IDS 65536u

static bool ft_meta_find_line(const struct bytes *b, const char *key,
			      const char **from, const char **end)
{
	const char *s = (const char *)b->pos;
	const char *stop = (const char *)b->end;
	const char *at = memmem(s, (size_t)(stop - s), key, strlen(key));

	if (!at)
		return false;
	const char *nl = memchr(at, '\n', (size_t)(stop - at));

	*from = at;
	*end = nl ? nl : stop;
	return true;
}

/* Reads the kernel's description of its pages: the width of 'commit', which is
 * the kernel's long (the file header has the recorder's), and the size of a
 * page. */
void ft_header_page_read(struct ft *ft, const struct bytes *text)
{
	const char *s, *end;
	uint32_t size = 0;
	uint32_t off = 0;

	if (ft_meta_find_line(text, " commit;", &s, &end) &&
	    tp_number_after(s, end, "size:", &size))
		ft->commit32 = size == 4;
	if (!ft_meta_find_line(text, " data;", &s, &end) ||
	    !tp_number_after(s, end, "size:", &size) ||
	    !tp_number_after(s, end, "offset:", &off) ||
	    size > FT_SUBBUF_MAX - 64 || off > 64)
		return;
	if (size + off >= 64)
		ft->subbuf = size + off;
}

static int ft_meta_take_named(struct bytes *b, const char *want,
			      struct bytes *text, struct err *err)
{
	uint64_t at = bytes_off(b);
	const char *name;
	uint64_t n;

	if (bytes_str(b, &name, err))
		return -1;
	if (strcmp(name, want))
		return err_at(err, b->path, at, "found '%.32s', needs '%s'",
			      name, want);
	return bytes_u64(b, &n, err) || bytes_take(b, n, text, err) ? -1 : 0;
}

static bool ft_meta_parse_format(struct ft *ft, const char *system,
				 const struct bytes *text, struct ft_type *t)
{
	char *longer OWNED = ft_print_format(system, text);
	struct bytes b = *text;

	t->printk = longer != NULL;
	if (!longer)
		longer = ft_symbols_format(text);
	t->named = longer && !t->printk;
	if (!longer)
		longer = ft_print_raw_format(system, text);
	if (longer)
		bytes_init(&b, longer, strlen(longer), text->path,
			   bytes_off(text), false);
	return tp_format_parse(&ft->arena, system, &b, &t->fmt);
}

/* The meaning of an event to the reader, and the fields that it needs. */

struct ft_defer_row {
	const char *system, *name;
	enum event_role role;
	const char *at, *size, *inodes, *dev;
};

/* The event must have the field `at`; the others may be NULL. */
static const struct ft_defer_row rows[] = {
	{ "ftrace", "user_unwind_cookie", ROLE_COOKIE, "cookie", NULL, NULL,
	  NULL },
	{ "ftrace", "user_unwind_stack", ROLE_CHAIN, "stack", "cookie",
	  "inodes", "dev" },
	{ "inode_cache", "inode_cache", ROLE_INODE, "inode", "path", NULL,
	  "dev" },
	{ "ftrace", "print", ROLE_MARKER, "buf", NULL, NULL, NULL },
};

/* Sets the role and the parts of a type from its format. */
static void ft_role_find(struct ft_type *t)
{
	const char *name = t->fmt.name ? t->fmt.name : "";

	t->part = (struct ft_parts){ -1, -1, -1, -1, -1, -1, -1, -1, -1 };
	if (!strcmp(t->fmt.system, "ftrace")) {
		if (!strcmp(name, "kernel_stack"))
			t->role = ROLE_KSTACK;
		else if (!strcmp(name, "user_stack"))
			t->role = ROLE_USTACK;
		if (t->role != ROLE_PLAIN) {
			int caller = tp_field_index(&t->fmt, "caller");

			if (caller < 0) {
				t->role = ROLE_PLAIN;
				return;
			}
			t->part.at =
				(int)(t->fmt.field[caller].off & INT32_MAX);
			t->part.size = tp_field_index(
				&t->fmt,
				t->role == ROLE_KSTACK ? "size" : "tgid");
			return;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct ft_defer_row *r = &rows[i];

		if (strcmp(r->system, t->fmt.system) || !t->fmt.name ||
		    strcmp(r->name, t->fmt.name))
			continue;
		t->part.at = tp_field_index(&t->fmt, r->at);
		t->part.size = tp_field_index(&t->fmt, r->size);
		t->part.inodes = tp_field_index(&t->fmt, r->inodes);
		t->part.dev = tp_field_index(&t->fmt, r->dev);
		if (t->part.at >= 0 && (!r->size || t->part.size >= 0))
			t->role = r->role;
		break;
	}
	if (t->role != ROLE_PLAIN)
		return;
	const struct task_fields *f =
		task_fields_find(t->fmt.system, t->fmt.name);

	if (!f)
		return;
	int tid = tp_field_index(&t->fmt, f->tid);
	int comm = tp_field_index(&t->fmt, f->name);

	if (f->role == ROLE_NAMED && (tid < 0 || comm < 0))
		return;
	t->role = f->role;
	t->part.pid = tid;
	t->part.comm = comm;
	t->part.pid2 = tp_field_index(&t->fmt, f->tid2);
	t->part.comm2 = tp_field_index(&t->fmt, f->name2);
	t->part.state = tp_field_index(&t->fmt, f->extra);
}

void ft_format_add(struct ft *ft, const char *system, const struct bytes *text)
{
	struct ft_type t = { .role = ROLE_PLAIN };

	if (bytes_left(text) > FORMAT_MAX ||
	    !ft_meta_parse_format(ft, system, text, &t)) {
		ft->unread_formats = true;
		ledger_skip(ft->src.ledger, ft->src.index, "event format", 0,
			    bytes_off(text), NULL);
		return;
	}
	if (t.fmt.id >= IDS || ft->by_id[t.fmt.id]) {
		tp_format_release(&t.fmt);
		return;
	}
	ft_role_find(&t);
	ft_entry_set_size(&t);
	*mem_add(ft->type, ft->n_type, ft->cap_type) = t;
	ft->by_id[t.fmt.id] = (uint32_t)ft->n_type;
}

static int ft_meta_take_formats(struct ft *ft, const char *system,
				struct bytes *b, struct err *err)
{
	struct bytes text;
	struct err why;
	uint32_t count;
	uint64_t n;

	if (bytes_u32(b, &count, err))
		return -1;
	for (uint32_t i = 0; i < count; i++) {
		if (bytes_u64(b, &n, err) || bytes_take(b, n, &text, err))
			return -1;
		if (tp_format_check(system, &text, &why))
			reader_damage(&ft->src, "format", bytes_off(&text), n,
				      &why);
		ft_format_add(ft, system, &text);
	}
	return 0;
}

/* Takes a text after its size, which has 8 bytes if `wide`, otherwise 4.
 * trace-cmd (seen with 3.1) asks for the size of a kernel file and then copies
 * it; the names of threads change in between. In version 7 the text is a
 * section: *text gets its whole lines even if this returns -1, because the text
 * is cut within a line or its size is off by half. */
static int ft_meta_take_text(const struct ft *ft, struct bytes *b, bool wide,
			     struct bytes *text, struct err *err)
{
	uint32_t n32 = 0;
	uint64_t n = 0;

	*text = *b;
	text->end = text->pos;
	if (wide ? bytes_u64(b, &n, err) : bytes_u32(b, &n32, err))
		return -1;
	n += n32;
	uint64_t left = bytes_left(b);
	if (ft->version < 7 || n == left)
		return bytes_take(b, n, text, err);
	for (*text = *b; bytes_left(text) && text->end[-1] != '\n';)
		text->end--;
	bool whole = text->end == b->end && n / 2 <= left && left / 2 <= n;
	return bytes_skip(b, whole ? left : n, err);
}

int ft_meta_read(struct ft *ft, uint16_t id, struct bytes *b, struct err *err)
{
	struct bytes text;
	int rc;

	if (id < FT_KNOWN)
		ft->have[id] = true;
	switch (id) {
	case FT_HEADER_INFO:

		if (ft_meta_take_named(b, "header_page", &text, err))
			return -1;
		ft_header_page_read(ft, &text);
		return ft_meta_take_named(b, "header_event", &text, err);
	case FT_FTRACE_EVENTS:
		return ft_meta_take_formats(ft, "ftrace", b, err);
	case FT_EVENT_FORMATS: {
		const char *system;
		uint32_t count;

		if (bytes_u32(b, &count, err))
			return -1;
		for (uint32_t i = 0; i < count; i++)
			if (bytes_str(b, &system, err) ||
			    ft_meta_take_formats(ft, system, b, err))
				return -1;
		return 0;
	}
	case FT_KALLSYMS:
		rc = ft_meta_take_text(ft, b, false, &text, err);
		if (bytes_left(&text) && !ft->kallsyms) {
			ft->kallsyms_len = bytes_left(&text);
			ft->kallsyms = mem_dup(text.pos, bytes_left(&text));
		}
		return rc;
	case FT_PRINTK:
		rc = ft_meta_take_text(ft, b, false, &text, err);
		ft_print_read_formats(ft, &text);
		return rc;
	case FT_CMDLINES:
		rc = ft_meta_take_text(ft, b, true, &text, err);
		ft_names_read(ft, &text);
		return rc;
	default:
		return 0;
	}
}
