/* svg.c - a flame tree as one interactive SVG file.
 *
 * Positions are computed in integers (1/1000 px), never in floating point:
 * the bytes must not depend on a compiler, and no locale may put a comma
 * where XML wants a point. */
#include "cli/pictures/svg.h"

#include <errno.h>

#include "analyze/stacks/flame_tree.h"
#include "analyze/stacks/label_facts.h"
#include "stitch/text/safe_text.h"
#include "stitch/audit/callsite.h"
#include "analyze/stacks/word_meanings.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"
#include "stitch/base/wide.h"
#include "stitch/text/human.h"
#include "stitch/text/json.h"

#define SHADES 8
#define DARK 52 /* percent of the light, for white text */

#define GREY                                                                   \
	[LABEL_UNNAMED] = { 0xd6d6d6, 0xbebebe }, [LABEL_WAIT] = { 0xd9cdf0,   \
								   0xbfa8e4 }
#define ALL_CODE(a, b)                                                         \
	{                                                                      \
		[LABEL_GROUP] = { a, b }, [LABEL_USER] = { a, b },             \
		[LABEL_KERNEL] = { a, b }, [LABEL_INLINED] = { a, b },         \
		[LABEL_JIT] = { a, b }, GREY                                   \
	}
/* Two colours each for user, kernel, inlined and JIT code. */
#define BY_KIND(u, u2, k, k2, i, i2, j, j2)                                    \
	{                                                                      \
		[LABEL_GROUP] = { 0xded6c8, 0xcec6ba },                        \
		[LABEL_USER] = { u, u2 }, [LABEL_KERNEL] = { k, k2 },          \
		[LABEL_INLINED] = { i, i2 }, [LABEL_JIT] = { j, j2 }, GREY     \
	}

/* A palette: one ramp for each kind of frame, or the same one for all code.
 *
 * Blue against orange is the pair that colour-blind people tell apart;
 * brightness differs as well, for prints without colour. */
static const struct palette {
	const char *name;
	bool by_kind; /* colours tell kinds: a legend makes sense */
	struct ramp ramp[LABEL_KINDS];
} palettes[] = {
	{ "kind", true,
	  BY_KIND(0xa8ccf4, 0x6c9eda, 0xffc476, 0xe88a32, 0xace8e4, 0x64bebe,
		  0xb2e294, 0x74b85c) },
	{ "hot", false, ALL_CODE(0xf2602c, 0xfcd63c) },
	{ "red", false, ALL_CODE(0xec5c54, 0xfa968a) },
	{ "green", false, ALL_CODE(0x58c454, 0x92e082) },
	{ "blue", false, ALL_CODE(0x668ee8, 0x9ebefa) },
	{ "aqua", false, ALL_CODE(0x4ebcc4, 0x8ce0e4) },
	{ "yellow", false, ALL_CODE(0xcec03e, 0xece074) },
	{ "purple", false, ALL_CODE(0xbe70e2, 0xd8a0f4) },
	{ "orange", false, ALL_CODE(0xee8c32, 0xfab668) },
};

const char *const palette_names[] = { "kind",	"hot",	"red",	  "green",
				      "blue",	"aqua", "yellow", "purple",
				      "orange", NULL };

static const char letter[LABEL_KINDS] = {
	[LABEL_GROUP] = 'g',   [LABEL_USER] = 'u', [LABEL_KERNEL] = 'k',
	[LABEL_INLINED] = 'i', [LABEL_JIT] = 'j',  [LABEL_UNNAMED] = 'n',
	[LABEL_MISSING] = 'm', [LABEL_EXEC] = 'e', [LABEL_BOGUS] = 'b',
	[LABEL_WAIT] = 'w',
};

const struct palette *palette_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(palettes); i++) {
		if (!strcmp(palettes[i].name, name))
			return &palettes[i];
	}
	return NULL;
}

bool palette_hatched(enum label_kind kind)
{
	return kind == LABEL_MISSING || kind == LABEL_EXEC ||
	       kind == LABEL_BOGUS;
}

void palette_class(const struct label *l, char out[3])
{
	/* a second hash spreads the shades of short names */
	uint64_t h = hash_u64(hash_content(l->name, strlen(l->name), 0));

	out[0] = letter[l->kind];
	out[1] = (char)('0' + h % SHADES);
	if (palette_hatched(l->kind))
		out[1] = 0; /* its pattern is in svg.css */
	out[2] = 0;
}

void ramp_shade(const struct ramp *r, int i, int n, int light,
		char out[RAMP_SHADE])
{
	unsigned char c[3];

	for (int j = 0; j < 3; j++) {
		int a = r->a >> (16 - 8 * j) & 255;
		int b = r->b >> (16 - 8 * j) & 255;

		c[j] = (unsigned char)((a + (b - a) * i / (n - 1)) * light /
				       100);
	}
	snprintf(out, RAMP_SHADE, "#%02x%02x%02x", c[0], c[1], c[2]);
}

static void palette_put_rules(const struct palette *p, FILE *out, int light)
{
	for (enum label_kind kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && !palette_hatched(kind); i++) {
			char c[RAMP_SHADE];

			ramp_shade(&p->ramp[kind], i, SHADES, light, c);
			fprintf(out, ".%c%d rect{fill:%s}%s", letter[kind], i,
				c, i == SHADES - 1 ? "\n" : "");
		}
	}
}

void palette_json(const struct palette *p, struct json *j, const char *key)
{
	json_object(j, key);
	for (enum label_kind kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && !palette_hatched(kind); i++) {
			const char name[] = { letter[kind], (char)('0' + i),
					      0 };
			char c[RAMP_SHADE];

			json_array(j, name);
			ramp_shade(&p->ramp[kind], i, SHADES, 100, c);
			json_text(j, NULL, c);
			ramp_shade(&p->ramp[kind], i, SHADES, DARK, c);
			json_text(j, NULL, c);
			json_end(j);
		}
	}
	json_end(j);
}

void palette_css(const struct palette *p, FILE *out)
{
	palette_put_rules(p, out, 100);
	fputs("@media (prefers-color-scheme:dark){\n", out);
	palette_put_rules(p, out, DARK);
	fputs("}\n", out);
}

#define PAD 10	 /* px, on every side */
#define FONT 12u /* px, of all text */
#define LINE (FONT + 5)
#define FRAME 16u /* px, height of a frame */
#define MILLI 1000
#define TEN_CHARS 73 /* px, of a monospace font */

extern const char text_picture_js[];
extern const char text_svg_js[];
extern const char text_svg_css[];

/* A picture while it is drawn. */
struct page {
	FILE *out;
	const struct flame_tree *tree;
	const struct svg_opts *o;
	uint64_t total, plot; /* weight, and 1/1000 px, of the whole width */
	unsigned int buttons; /* px: the base line of their texts */
	unsigned int top;     /* px above the frames */
	unsigned int rows, lines; /* rows of frames; lines of text below them */
	unsigned int height;
	uint32_t kinds;		/* bit set of drawn enum label_kind */
	uint32_t drawn, narrow; /* frames; narrow ones are left out */
	uint64_t narrow_weight; /* each stack is counted at most once */
};

static uint64_t svg_milli_px(const struct page *p, uint64_t weight)
{
	return p->total ? wide_div(wide_mul(weight, p->plot), p->total) : 0;
}

static bool svg_is_narrow(const struct page *p, uint64_t weight)
{
	uint64_t whole = p->o->min_percent ? 100 * MILLI : p->plot;

	return wide_less(weight, whole, p->total, p->o->minwidth);
}

static bool svg_has_legend(const struct page *p)
{
	uint32_t marks =
		1u << LABEL_MISSING | 1u << LABEL_EXEC | 1u << LABEL_BOGUS;

	return p->o->look || p->o->colors->by_kind || (p->kinds & marks);
}

/* Returns how many bytes of a note fit on one line, up to a space. */
static size_t svg_note_line(const struct page *p, const char *s)
{
	size_t room = (p->o->width - 2 * PAD) * 10 / TEN_CHARS;
	size_t n = 0;

	if (strlen(s) <= room)
		return strlen(s);
	for (size_t i = 0; i <= room; i++)
		if (s[i] == ' ')
			n = i;
	return n ? n : strlen(s);
}

/* Moves on to the next line of a note. Returns false after the last one. */
static bool svg_note_next(const char **s, size_t line)
{
	*s += line;
	*s += **s == ' ';
	return **s != '\0';
}

static void svg_put_text(const struct page *p, const char *id,
			 const char *css_class, unsigned int y,
			 const char *anchor, const char *s)
{
	unsigned int x = !strcmp(anchor, "middle") ? p->o->width / 2
			 : !strcmp(anchor, "end")  ? p->o->width - PAD
						   : PAD;

	fprintf(p->out, "<text x=\"%u\" y=\"%u\" text-anchor=\"%s\"", x, y,
		anchor);
	if (id)
		fprintf(p->out, " id=\"%s\"", id);
	if (css_class)
		fprintf(p->out, " class=\"%s\"", css_class);
	fputc('>', p->out);
	safe_text_xml(p->out, s, 0);
	fputs("</text>\n", p->out);
}

/* Writes the start of the file: attributes for the script, and styles. */
static void svg_put_head(const struct page *p)
{
	static const char *const pattern[] = { "missing", "exec", "bogus" };
	const struct svg_opts *o = p->o;
	FILE *out = p->out;

	fprintf(out,
		"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" "
		"height=\"%u\" viewBox=\"0 0 %u %u\" font-size=\"%u\" "
		"font-family=\"monospace\"",
		o->width, p->height, o->width, p->height, FONT);
	fprintf(out, " data-pad=\"%d\" data-plot=\"%u\" data-cell=\"", PAD,
		(unsigned int)(p->plot / MILLI));
	human_put_fixed(out, FONT * 6, 10, 1);
	fprintf(out, "\" data-width=\"%u\" data-height=\"%u\" data-fluid=\"%d",
		o->width, p->height, o->fluid);
	fprintf(out,
		"\" data-step=\"%u\" data-base=\"%u\" data-total=\"%llu\" "
		"data-top=\"%u\" data-rows=\"%u\" data-icicle=\"%d\"",
		FRAME, FRAME - (FRAME - FONT) / 2 - 2,
		(unsigned long long)p->total, p->top, p->rows, !o->upward);
	fputs(" role=\"img\" aria-labelledby=\"name\" "
	      "aria-describedby=\"about\">\n<title id=\"name\">",
	      out);
	safe_text_xml(out, o->title, 0);
	fputs("</title>\n<desc id=\"about\">", out);
	/* for screen readers */
	fprintf(out, "%s frames in %u rows, %s.", HUMAN_GROUPED(p->drawn),
		p->rows, o->upward ? "the root below" : "the root on top");
	for (size_t i = 0; i < SVG_NOTES && o->note[i]; i++) {
		size_t len = strlen(o->note[i]);

		fputc(' ', out);
		safe_text_xml(out, o->note[i], 0);
		/* some are sentences already */
		if (!len || o->note[i][len - 1] != '.')
			fputc('.', out);
	}
	fputs("</desc>\n<style>\n", out);
	palette_css(o->colors, out);
	if (o->look)
		o->look->css(out);
	fputs(text_svg_css, out);
	fputs("</style>\n<defs>\n", out);
	for (int i = 0; i < 3; i++)
		fprintf(out,
			"<pattern id=\"%s\" width=\"6\" height=\"6\" "
			"patternUnits=\"userSpaceOnUse\" "
			"patternTransform=\"rotate(45)\">"
			"<rect class=\"h%d\" width=\"6\" height=\"6\"/>"
			"<rect class=\"h%d\" width=\"2\" height=\"6\"/>"
			"</pattern>\n",
			pattern[i], 2 * i, 2 * i + 1);
	fputs("</defs>\n", out);
}

/* Draws the buttons of the left or the right side. The script moves the right
 * ones when the picture changes its width. */
static void svg_put_buttons(const struct page *p, bool right)
{
	static const struct {
		const char *id, *text, *about;
		bool right;
	} button[] = {
		{ "undo", "Undo", "one step back (u)", false },
		{ "reset", "Reset", "all stacks, no zoom (0)", false },
		{ "only", "Only", "only stacks through the frame (o)", false },
		{ "without", "Without", "no stacks through the frame (w)",
		  false },
		{ "help", "?", "keys (?)", true },
		{ "case", "Aa", "ignore case (i)", true },
		{ "search", "Search", "search (/)", true },
		{ "flip", "Flip", "root below or on top (f)", true },
	};
	unsigned int cell = (FONT * 6 + 9) / 10;
	unsigned int line = LINE;
	unsigned int x = right ? p->o->width - PAD : PAD;

	for (size_t i = 0; i < ARRAY_SIZE(button); i++) {
		unsigned int width =
			((unsigned int)strlen(button[i].text) + 2) * cell;

		if (button[i].right != right)
			continue;
		x -= right ? width : 0;
		fprintf(p->out,
			"<g id=\"%s\" class=\"button\" role=\"button\" "
			"tabindex=\"0\" aria-label=\"%s\"><title>%s</title>"
			"<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" "
			"rx=\"3\"/>"
			"<text x=\"%u\" y=\"%u\" text-anchor=\"middle\">%s"
			"</text></g>\n",
			button[i].id, button[i].about, button[i].about, x,
			p->buttons - line + 2, width, line + 3, x + width / 2,
			p->buttons, button[i].text);
		x = right ? x - 5 : x + width + 5;
	}
}

/* Writes a percentage; "<0.01 %" has to be escaped. */
static void svg_put_percent(FILE *out, uint64_t part, uint64_t whole)
{
	safe_text_xml(out, HUMAN_PERCENT(part, whole), 0);
}

/* Writes the image, offset, build-id and source line of a function. */
static void svg_put_file(const struct page *p, const struct label *l,
			 const struct label_fact *fact)
{
	FILE *out = p->out;

	if (!l->image[0])
		return;
	safe_text_xml(out, l->image, 0);
	if (l->has_off)
		fprintf(out, "+0x%llx", (unsigned long long)l->off);
	if (fact->build[0])
		fprintf(out, ", build-id %s..", fact->build);
	fputc('\n', out);
	if (!fact->file)
		return;
	safe_text_xml(out, fact->file, 0);
	if (fact->line)
		fprintf(out, ":%u", fact->line);
	fputc('\n', out);
}

/* Writes the tooltip. Its first line is the full name alone: the script
 * searches it. The first two lines together identify a function. */
static void svg_put_tooltip(const struct page *p, uint32_t id,
			    const struct flame_node *nd, const struct label *l)
{
	const struct label_fact *fact = label_facts_get(p->o->facts, nd->label);

	fputs("<title>", p->out);
	safe_text_xml(p->out, l->name, 0);
	fputc('\n', p->out);
	svg_put_file(p, l, fact);
	/* Write why the frame may be wrong or incomplete, a line each. */
	const char *mark =
		l->kind == LABEL_MISSING ? mark_meaning(l->name) : NULL;

	if (nd->inferred) {
		fputs("inferred from the code, not recorded: ", p->out);
		svg_put_percent(p->out, nd->inferred, nd->weight);
		fputs(" of it\n", p->out);
	}

	if (l->kind == LABEL_EXEC)
		fputs("of the program that came by exec after the sample: "
		      "not its caller\n",
		      p->out);
	if (mark)
		fprintf(p->out, "%s\n", mark);
	if (l->bogus)
		fprintf(p->out, "fabricated: %s\n",
			strcmp(l->bogus, callsite_kind_name(CALLSITE_NO_CODE))
				? "no call is in front of this return address"
				: "there is no code at this return address");
	else if (fact->bogus)
		fprintf(p->out,
			"%u of its %u places: no call can return to there\n",
			fact->bogus, fact->places);
	FILE *out = p->out;

	if (p->o->show_samples) {
		fprintf(out, "%s %s%s, ", HUMAN_GROUPED(nd->samples),
			p->o->sample_name ? p->o->sample_name : "sample",
			nd->samples == 1 ? "" : "s");
	}
	fprintf(out, "%s ", HUMAN_GROUPED(nd->weight));
	if (nd->weight == 1 && !strcmp(p->o->count_name, "samples"))
		fputs("sample", out);
	else
		safe_text_xml(out, p->o->count_name, 0);
	fputs(", ", out);
	svg_put_percent(out, nd->weight, p->total);
	fputs(" of all", out);
	if (nd->parent != FLAME_NONE) {
		fputs(", ", out);
		svg_put_percent(out, nd->weight,
				p->tree->node[nd->parent].weight);
		fputs(" of its parent", out);
	}
	if (nd->self && nd->self != nd->weight) {
		fputs(", ", out);
		svg_put_percent(out, nd->self, p->total);
		fputs(" in itself", out);
	}
	if (p->o->look)
		p->o->look->tell(p->o->look->arg, id, p->out);
	fputs("</title>", p->out);
}

/* Draws a frame; the weight left of it is start. */
static void svg_put_frame(const struct page *p, uint32_t id, uint64_t start)
{
	const struct flame_node *nd = &p->tree->node[id];
	const struct label *l = labels_get(p->tree->labels, nd->label);
	uint64_t x = (uint64_t)PAD * MILLI + svg_milli_px(p, start);
	uint64_t w =
		(uint64_t)PAD * MILLI + svg_milli_px(p, start + nd->weight) - x;
	uint32_t row = p->o->upward ? p->rows - 1 - nd->depth : nd->depth;
	unsigned int y = p->top + row * FRAME;
	char css_class[SVG_CLASS];

	/* missing stacks and other programs look the same in every picture */
	if (p->o->look && l->kind != LABEL_MISSING && l->kind != LABEL_EXEC)
		p->o->look->css_class(p->o->look->arg, id, css_class);
	else
		palette_class(l, css_class);
	fprintf(p->out, "<g class=\"%s%s\" data-s=\"%llu\" data-w=\"%llu\"",
		css_class, nd->inferred ? " inferred" : "",
		(unsigned long long)start, (unsigned long long)nd->weight);
	/* the short name for the script, where the tooltip has another */
	if (l->shown) {
		fputs(" data-n=\"", p->out);
		safe_text_xml(p->out, l->shown, 0);
		fputc('"', p->out);
	}
	fputc('>', p->out);
	svg_put_tooltip(p, id, nd, l);
	fputs("<rect x=\"", p->out);
	human_put_fixed(p->out, x, MILLI, 2);
	fprintf(p->out, "\" y=\"%u\" width=\"", y);
	human_put_fixed(p->out, w, MILLI, 2);
	fprintf(p->out, "\" height=\"%u\" rx=\"1\"/>", FRAME - 1);
	/* the border of user and kernel code, in the gap between rows */
	if (flame_tree_is_seam(p->tree, id)) {
		fputs("<path class=\"seam\" d=\"M", p->out);
		human_put_fixed(p->out, x, MILLI, 2);
		fprintf(p->out, " %u.5h", p->o->upward ? y + FRAME - 1 : y - 1);
		human_put_fixed(p->out, w, MILLI, 2);
		fputs("\"/>", p->out);
	}
	bool mark = palette_hatched(l->kind);
	uint64_t cells =
		w > 6 * MILLI ? (w - 6 * MILLI) * 10 / (FONT * 6 * MILLI) : 0;
	if (cells >= 3) {
		fputs("<text x=\"", p->out);
		human_put_fixed(p->out, x + 3 * MILLI, MILLI, 2);
		fprintf(p->out, "\" y=\"%u\"%s>",
			y + FRAME - (FRAME - FONT) / 2 - 2,
			mark ? " class=\"halo\"" : "");
		safe_text_xml(p->out, label_shown(l), cells);
		fputs("</text>", p->out);
	}
	fputs("</g>\n", p->out);
}

/* Draws a coloured rectangle and its text. Returns the x after them. */
static unsigned int svg_put_patch(const struct page *p, unsigned int x,
				  unsigned int y, const char *css_class,
				  const char *text)
{
	unsigned int cell = (FONT * 6 + 9) / 10;

	fprintf(p->out,
		"<g class=\"%s\"><rect x=\"%u\" y=\"%u\" width=\"14\""
		" height=\"%u\" rx=\"1\"/></g>"
		"<text class=\"quiet\" x=\"%u\" y=\"%u\">",
		css_class, x, y - FONT + 2, FONT, x + 19, y);
	safe_text_xml(p->out, text, 0);
	fputs("</text>\n", p->out);
	return x + 19 + (unsigned int)strlen(text) * cell + 16;
}

/* Draws the legend: the colours of a comparison, and kinds of frames. */
static void svg_put_legend(const struct page *p, unsigned int y)
{
	static const struct {
		enum label_kind kind;
		const char *css_class, *text;
	} key[] = {
		{ LABEL_USER, "u3", "user" },
		{ LABEL_KERNEL, "k3", "kernel" },
		{ LABEL_INLINED, "i3", "inlined" },
		{ LABEL_JIT, "j3", "JIT" },
		{ LABEL_UNNAMED, "n3", "no name" },
		{ LABEL_MISSING, "m", "stack or caller missing" },
		{ LABEL_EXEC, "e", "stack taken after exec" },
		{ LABEL_BOGUS, "b", "fabricated: no call returns there" },
		{ LABEL_WAIT, "w3", "off the CPU" },
	};
	bool all = p->o->colors->by_kind;
	const struct svg_style *look = p->o->look;
	unsigned int x = PAD;

	for (size_t i = 0; look && look->legend[i].css_class; i++)
		x = svg_put_patch(p, x, y, look->legend[i].css_class,
				  look->legend[i].text);
	for (size_t i = 0; i < ARRAY_SIZE(key); i++) {
		if (!(p->kinds & 1u << key[i].kind))
			continue;
		if ((!all && key[i].kind < LABEL_UNNAMED) ||
		    (look && key[i].kind < LABEL_MISSING))
			continue;
		x = svg_put_patch(p, x, y, key[i].css_class, key[i].text);
	}
}

/* Draws what stays in view when the frames are scrolled: the script moves it
 * along. It comes after the frames in the file, and so is drawn over them. */
static void svg_put_top(const struct page *p)
{
	const struct svg_opts *o = p->o;
	unsigned int line = LINE;
	unsigned int y = p->buttons + line + 5;

	fputs("<g id=\"head\">\n", p->out);
	fprintf(p->out,
		"<rect class=\"page wide\" width=\"%u\" height=\"%u\"/>\n",
		o->width, p->top - 2);
	fprintf(p->out, "<g font-size=\"%u\">\n", FONT + 5);
	svg_put_text(p, "title", "middle", PAD + line, "middle", o->title);
	fputs("</g>\n", p->out);
	if (o->subtitle)
		svg_put_text(p, "subtitle", "quiet middle", PAD + 2 * line,
			     "middle", o->subtitle);
	/* hidden until the script runs: without it they would do nothing */
	fputs("<g id=\"controls\" class=\"hide\">\n", p->out);
	svg_put_buttons(p, false);
	fputs("<g id=\"right\">\n", p->out);
	svg_put_buttons(p, true);
	fprintf(p->out,
		"<g id=\"searchbox\" data-x=\"%u\" data-y=\"%u\" "
		"data-width=\"210\" data-height=\"%u\"></g>\n</g>\n",
		o->width > 300 ? o->width - 280 : 0, p->buttons - line + 2,
		line + 3);
	svg_put_text(p, "matched", "middle", p->buttons - line - 4, "middle",
		     "");
	fputs("</g>\n", p->out);
	fprintf(p->out,
		"<text id=\"details\" x=\"%d\" y=\"%u\" aria-live=\"polite\">",
		PAD, y);
	if (o->look && o->look->lead)
		safe_text_xml(p->out, o->look->lead, 0);
	fputs("</text>\n", p->out);
	fputs("<g id=\"legend\">\n", p->out);
	if (svg_has_legend(p))
		svg_put_legend(p, y + line);
	fputs("</g>\n</g>\n", p->out);
}

/* Draws notes and rows, and counts the frames that are too narrow to draw. */
static void svg_put_foot(const struct page *p)
{
	const struct svg_opts *o = p->o;
	unsigned int line = LINE;
	unsigned int y = p->top + p->rows * FRAME + PAD / 2;

	fprintf(p->out, "<g id=\"notes\" data-y=\"%u\">\n", y);
	for (size_t i = 0; i < SVG_NOTES && o->note[i]; i++) {
		const char *note = o->note[i];
		size_t len;

		do {
			char *text OWNED = mem_strdup(note);

			len = svg_note_line(p, note);
			text[len] = '\0';
			svg_put_text(p, NULL, "quiet", y += line, "start",
				     text);
		} while (svg_note_next(&note, len));
	}
	for (size_t i = 0; o->look && i < o->look->n_rows; i++)
		svg_put_patch(p, PAD, y += line, o->look->rows[i].css_class,
			      o->look->rows[i].text);
	if (p->narrow) {
		fprintf(p->out,
			"<text class=\"quiet\" x=\"%d\" y=\"%u\">%s narrower "
			"than ",
			PAD, y + line, HUMAN_NOUN(p->narrow, "frame"));
		human_put_fixed(p->out, o->minwidth, MILLI,
				o->minwidth % 100     ? 3
				: o->minwidth % MILLI ? 1
						      : 0);
		fprintf(p->out, " %s %s not drawn, ",
			o->min_percent ? "%" : "px",
			p->narrow == 1 ? "is" : "are");
		svg_put_percent(p->out, p->narrow_weight, p->total);
		fputs("</text>\n", p->out);
	}
	fputs("</g>\n", p->out);
}

int svg_write(FILE *out, const struct flame_tree *t, const struct svg_opts *o,
	      struct err *err)
{
	struct page p = {
		.out = out,
		.tree = t,
		.o = o,
		.total = t->node[0].weight,
	};

	p.plot = (uint64_t)(o->width - 2 * PAD) * MILLI;
	/* Find out which frames will be drawn, and how many rows they need. */
	const struct labels *labels = p.tree->labels;
	uint32_t id = 0;

	while (id != FLAME_NONE) {
		const struct flame_node *nd = &p.tree->node[id];
		bool skip = id && svg_is_narrow(&p, nd->weight);

		if (skip) {
			p.narrow_weight += nd->weight;
		} else {
			p.drawn++;
			p.kinds |= 1u << labels_get(labels, nd->label)->kind;
			raise_to(p.rows, nd->depth + 1);
		}
		id = flame_tree_next(p.tree, id, skip);
	}
	p.narrow = p.tree->n - p.drawn;
	p.buttons = LINE * (p.o->subtitle ? 5 : 4);
	/* details, and the legend */
	p.top = p.buttons + LINE * (1 + svg_has_legend(&p)) + PAD + 4;
	p.lines = p.narrow > 0;
	for (size_t i = 0; i < SVG_NOTES && p.o->note[i]; i++) {
		const char *note = p.o->note[i];

		do
			p.lines++;
		while (svg_note_next(&note, svg_note_line(&p, note)));
	}
	if (p.o->look)
		p.lines += (unsigned int)p.o->look->n_rows;
	p.height = p.top + p.rows * FRAME + p.lines * LINE + 2 * PAD;
	svg_put_head(&p);
	fprintf(out, "<rect class=\"page wide\" width=\"%u\" height=\"%u\"/>\n",
		o->width, p.height);
	/* Draw all frames, parents before children. start[depth] is the weight
	 * at which the next child of that depth begins: children lie side by
	 * side from their parent's left end. */
	uint64_t *start = mem_new(p.rows + 1, sizeof(*start));

	fputs("<g id=\"frames\" aria-label=\"frames\">\n", p.out);
	id = 0;
	while (id != FLAME_NONE) {
		const struct flame_node *nd = &p.tree->node[id];
		bool skip = id && svg_is_narrow(&p, nd->weight);

		/* a narrow frame may be one row above the last drawn one */
		if (!skip) {
			svg_put_frame(&p, id, start[nd->depth]);
			start[nd->depth + 1] = start[nd->depth];
		}
		start[nd->depth] += nd->weight;
		id = flame_tree_next(p.tree, id, skip);
	}
	fputs("</g>\n", p.out);
	free(start);
	svg_put_foot(&p);
	svg_put_top(&p);
	fprintf(out,
		"<script><![CDATA[\n(function () {\n\"use strict\";\n%s%s})();\n"
		"]]></script>\n</svg>\n",
		text_picture_js, text_svg_js);
	if (ferror(out))
		return err_set(err, ERR_IO, "cannot write the picture: %s",
			       strerror(errno));
	return 0;
}
