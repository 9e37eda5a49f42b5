/* annotate_text.c - annotated code as text, and as JSON. */
#include <inttypes.h>
#include <json-c/json.h>
#include <string.h>

#include "cli/tables/annotate.h"
#include "cli/output/human.h"
#include "cli/output/out.h"
#include "cli/output/output.h"
#include "cli/output/safe_text.h"
#include "cli/output/term.h"

#define BAR 8
#define LEFT (9 + 9 + BAR + 1) /* columns before the code */

double annot_share(uint64_t part, uint64_t whole)
{
	return whole ? 100.0 * (double)part / (double)whole : 0;
}

enum annot_heat annot_heat(const struct annot *a, const struct annot_insn *in)
{
	double share = annot_share(in->weight, a->weight);

	if (!in->samples || share < 0.5)
		return ANNOT_COLD;
	return share < 5 ? ANNOT_WARM : ANNOT_HOT;
}

static void put_head(FILE *out, const struct annot *a)
{
	fputs(term_on(out, STYLE_BOLD), out);
	if (a->name)
		safe_text_put(out, a->name, 0, 0);
	else
		fprintf(out, "0x%" PRIx64, a->start);
	fputs(term_off(out), out);
	fputs(" in ", out);
	safe_text_put(out, a->image, 0, 0);
	fprintf(out, "\nevent: ");
	safe_text_put(out, a->event, 0, 0);
	fputs(", ", out);
	human_put_grouped(out, a->samples);
	fputs(a->samples == 1 ? " sample here, " : " samples here, ", out);
	fprintf(out, "%.2f %% of all\n", annot_share(a->weight, a->all_weight));
	if (a->file && a->file[0] && strcmp(a->file, a->image) != 0) {
		fputs("code: ", out);
		safe_text_put(out, a->file, 0, 0);
		putc('\n', out);
	}
	putc('\n', out);
}

static void put_share(FILE *out, const struct annot *a,
		      const struct annot_insn *in)
{
	enum annot_heat heat = annot_heat(a, in);
	unsigned int bar =
		a->peak ? (unsigned int)((unsigned __int128)in->weight * BAR /
					 a->peak)
			: 0;
	char text[BAR + 1];

	if (!in->samples) {
		fprintf(out, "%*s", LEFT, "");
		return;
	}
	for (unsigned int i = 0; i < BAR; i++)
		text[i] = i < bar || !i ? '#' : ' ';
	text[BAR] = '\0';
	if (heat != ANNOT_COLD)
		fputs(term_on(out, heat == ANNOT_HOT ? STYLE_RED : STYLE_GREEN),
		      out);
	fprintf(out, "%6.2f %% %8" PRIu64 " %s",
		annot_share(in->weight, a->weight), in->samples, text);
	if (heat != ANNOT_COLD)
		fputs(term_off(out), out);
	putc(' ', out);
}

static void put_line(FILE *out, const struct annot_insn *in)
{
	fprintf(out, "%*s", LEFT, "");
	fputs(term_on(out, STYLE_DIM), out);
	fputs("| ", out);
	safe_text_put(out, in->file, 0, 0);
	fprintf(out, ":%u", in->line);
	if (in->inlined) {
		fputs("  (", out);
		safe_text_put(out, in->inlined, 0, 0);
		fputs(", inlined)", out);
	}
	fputs(term_off(out), out);
	putc('\n', out);
}

static void put_target(FILE *out, const struct annot_insn *in)
{
	if (!in->target)
		return;
	fputs("  <", out);
	safe_text_put(out, in->target, 0, 0);
	if (in->beyond)
		fprintf(out, "+0x%" PRIx64, in->beyond);
	putc('>', out);
}

static void put_insn(FILE *out, const struct annot *a,
		     const struct annot_insn *in)
{
	put_share(out, a, in);
	fputs(term_on(out, STYLE_DIM), out);
	fprintf(out, "|%c%6" PRIx64 ":", in->label ? '>' : ' ', in->insn.addr);
	fputs(term_off(out), out);
	fprintf(out, "  %-8s", in->insn.mnemonic);
	if (in->insn.operands[0])
		fprintf(out, " %s", in->insn.operands);
	put_target(out, in);
	putc('\n', out);
}

static bool same_line(const struct annot_insn *x, const struct annot_insn *y)
{
	return x->line == y->line && x->file == y->file &&
	       x->inlined == y->inlined;
}

/* Is there a sample at most `around` instructions away? *next: the place of
 * the next one at or behind i, kept between calls. */
static bool is_near(const struct annot *a, size_t i, long around, long *last,
		    size_t *next)
{
	if (around < 0 || !a->samples)
		return true;
	while (*next < a->n && (*next < i || !a->insn[*next].samples))
		++*next;
	if (a->insn[i].samples)
		*last = (long)i;
	return (*last >= 0 && (long)i - *last <= around) ||
	       (*next < a->n && (long)(*next - i) <= around);
}

void annot_text(FILE *out, const struct annot *a, long around)
{
	const struct annot_insn *shown = NULL;
	long last = -1;
	size_t next = 0;
	size_t hidden = 0;

	put_head(out, a);
	for (size_t i = 0; i < a->n && !out_failed(); i++) {
		const struct annot_insn *in = &a->insn[i];

		if (!is_near(a, i, around, &last, &next)) {
			hidden++;
			continue;
		}
		if (hidden)
			fprintf(out, "%*s| ... %zu without samples\n", LEFT, "",
				hidden);
		hidden = 0;
		if (in->file && (!shown || !same_line(in, shown)))
			put_line(out, in);
		put_insn(out, a, in);
		shown = in;
	}
	if (hidden)
		fprintf(out, "%*s| ... %zu without samples\n", 9 + 9 + BAR + 1,
			"", hidden);
	if (a->left_out)
		fprintf(out,
			"\n%zu more bytes are not shown; --limit 0 shows all\n",
			a->left_out);
}

/* ---- JSON */

static void add_text(struct json_object *o, const char *key, const char *s)
{
	if (s)
		json_object_object_add(o, key, output_json_text(s, strlen(s)));
	else
		json_object_object_add(o, key, NULL);
}

static void add_hex(struct json_object *o, const char *key, uint64_t v)
{
	char text[24];

	snprintf(text, sizeof(text), "0x%" PRIx64, v);
	json_object_object_add(o, key, json_object_new_string(text));
}

static void add_number(struct json_object *o, const char *key, uint64_t v)
{
	json_object_object_add(o, key, json_object_new_uint64(v));
}

static struct json_object *insn_json(const struct annot *a,
				     const struct annot_insn *in)
{
	static const char *const flow[] = { "next", "call", "jump", "return",
					    "bad" };
	struct json_object *o = json_object_new_object();
	char hex[2 * sizeof(in->bytes) + 1] = "";

	for (size_t i = 0; i < in->insn.len && i < sizeof(in->bytes); i++)
		snprintf(hex + 2 * i, 3, "%02x", in->bytes[i]);
	add_hex(o, "offset", in->off);
	add_hex(o, "address", in->insn.addr);
	add_text(o, "bytes", hex);
	add_text(o, "mnemonic", in->insn.mnemonic);
	add_text(o, "operands", in->insn.operands);
	add_text(o, "flow", flow[in->insn.flow]);
	if (in->insn.has_target)
		add_hex(o, "target", in->insn.target);
	if (in->target) {
		add_text(o, "target_symbol", in->target);
		add_number(o, "target_symbol_offset", in->beyond);
	}
	add_number(o, "samples", in->samples);
	add_number(o, "weight", in->weight);
	json_object_object_add(
		o, "percent",
		json_object_new_double(annot_share(in->weight, a->weight)));
	if (in->file) {
		add_text(o, "file", in->file);
		add_number(o, "line", in->line);
	}
	if (in->inlined)
		add_text(o, "inlined", in->inlined);
	return o;
}

void annot_json(const struct annot *a)
{
	struct json_object *o = json_object_new_object();
	struct json_object *list = json_object_new_array();

	add_text(o, "function", a->name);
	add_text(o, "image", a->image);
	add_text(o, "code", a->file);
	add_text(o, "event", a->event);
	add_text(o, "unit", a->unit);
	add_text(o, "syntax", a->syntax);
	add_hex(o, "offset", a->start);
	add_number(o, "size", a->end - a->start);
	add_number(o, "samples", a->samples);
	add_number(o, "weight", a->weight);
	add_number(o, "all_samples", a->all_samples);
	add_number(o, "all_weight", a->all_weight);
	add_number(o, "bytes_left_out", a->left_out);
	for (size_t i = 0; i < a->n; i++)
		json_object_array_add(list, insn_json(a, &a->insn[i]));
	json_object_object_add(o, "instructions", list);
	output_json_line(o);
	json_object_put(o);
}
