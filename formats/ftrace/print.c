/* print.c - the text of trace_printk(). Its format or string is in the kernel:
 * pages have the address, printk_formats the text. The text becomes a field of
 * the event, and so does the function that called it, by the capture's
 * kallsyms, so that they are available without the capture too. */

#include "formats/ftrace/ftrace.h"
#include "formats/tracepoint/fields.h"
#include "formats/tracepoint/text.h"
#include "stitch/base/kallsyms_text.h"
#include "stitch/base/mem.h"
#include "stitch/base/search.h"

#define TEXTS_MAX 1000000u
#define LINE_MAX_LEN 4096

/* Replaces "\n", "\t", "\"" and "\\" of a C string. */
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

const char *ft_print_find_text(const struct ft *ft, uint64_t addr)
{
	const size_t n = search_where(ft->n_text, i, ft->text[i].addr >= addr);

	return n < ft->n_text && ft->text[n].addr == addr ? ft->text[n].text
							  : NULL;
}

/* In the order of kallsyms if they are at one address. */
COMPARE_BY(ft_print_compare_symbols, struct tp_symbol, start, name);

/* Symbols of type A are offsets in the areas of CPUs. */
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
	/* Sort the symbols. Those of the kernel itself, which come first, are
	 * in order already: only the others are sorted, and put between them.
	 */
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

/* Where a symbol ends: where the next one of the kernel, or of its module,
 * begins. Programs of BPF have an end of their own, and the kernel names no
 * module for them. */
static void ft_print_end_symbol(struct ft *ft, size_t next,
				struct tp_symbol *out)
{
	const struct tp_symbol *s = ft->symbol + next;

	if (out->module_len == 3 && !memcmp(out->module, "bpf", 3)) {
		out->module_len = 0;
		return;
	}
	if (next < ft->n_symbol && s->module_len == out->module_len &&
	    (!s->module_len || !memcmp(s->module, out->module, s->module_len)))
		out->size = s->start - out->start;
}

/* The last symbol has no end. Of several at an address, the kernel and
 * trace-cmd take the first of kallsyms. */
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
	ft_print_end_symbol(ft, next, out);
	/* a kernel that does not name its data names no address among it by
	 * the marks between its sections either */
	return out->is_code || ft->names_data;
}

void ft_print_names(struct ft *ft)
{
	ft->tp.symbol = ft_print_symbol;
	ft->tp.symbols_of = ft;
}

char *ft_print_raw_format(const char *system, const struct bytes *text)
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

char *ft_print_format(const char *system, const struct bytes *text)
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
	/* The name of the function that called trace_printk(), or its address.
	 */
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
