/* palette.c - which colour a frame has. */
#include "cli/pictures/palette.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "cli/output/json.h"
#include "stitch/base/table.h"

#define SHADES 8

/* The shades of one class, in equal steps from a to b. */
struct ramp {
	uint8_t a[3], b[3];
};

/* A palette: one ramp for each kind of frame, or the same one for all code. */
struct palette {
	const char *name;
	int by_kind;
	struct ramp ramp[LABEL_KINDS];
};

#define ALL_CODE(...)                                                          \
	{                                                                      \
		[LABEL_GROUP] = __VA_ARGS__, [LABEL_USER] = __VA_ARGS__,       \
		[LABEL_KERNEL] = __VA_ARGS__, [LABEL_INLINED] = __VA_ARGS__,   \
		[LABEL_JIT] = __VA_ARGS__                                      \
	}

#define GROUP_RAMP                                                             \
	{                                                                      \
		{ 222, 214, 200 },                                             \
		{                                                              \
			206, 198, 186                                          \
		}                                                              \
	}

/* Blue against orange is the pair that colour-blind people tell apart;
 * brightness differs as well, for prints without colour. */
static const struct palette palettes[] = {
	{ "kind",
	  1,
	  {
		  [LABEL_GROUP] = GROUP_RAMP,
		  [LABEL_USER] = { { 168, 204, 244 }, { 108, 158, 218 } },
		  [LABEL_KERNEL] = { { 255, 196, 118 }, { 232, 138, 50 } },
		  [LABEL_INLINED] = { { 172, 232, 228 }, { 100, 190, 190 } },
		  [LABEL_JIT] = { { 178, 226, 148 }, { 116, 184, 92 } },
	  } },
	{ "hot", 0, ALL_CODE({ { 242, 96, 44 }, { 252, 214, 60 } }) },
	{ "mem", 0, ALL_CODE({ { 66, 190, 96 }, { 60, 226, 190 } }) },
	{ "io", 0, ALL_CODE({ { 96, 124, 226 }, { 132, 180, 250 } }) },
	{ "java",
	  1,
	  {
		  [LABEL_GROUP] = GROUP_RAMP,
		  [LABEL_USER] = { { 236, 120, 104 }, { 244, 150, 128 } },
		  [LABEL_KERNEL] = { { 244, 150, 52 }, { 238, 172, 84 } },
		  [LABEL_INLINED] = { { 90, 204, 206 }, { 132, 222, 222 } },
		  [LABEL_JIT] = { { 104, 208, 94 }, { 140, 222, 124 } },
	  } },
	{ "js",
	  1,
	  {
		  [LABEL_GROUP] = GROUP_RAMP,
		  [LABEL_USER] = { { 226, 202, 92 }, { 238, 218, 128 } },
		  [LABEL_KERNEL] = { { 244, 150, 52 }, { 238, 172, 84 } },
		  [LABEL_INLINED] = { { 90, 204, 206 }, { 132, 222, 222 } },
		  [LABEL_JIT] = { { 104, 208, 94 }, { 140, 222, 124 } },
	  } },
	{ "perl",
	  1,
	  {
		  [LABEL_GROUP] = GROUP_RAMP,
		  [LABEL_USER] = { { 214, 190, 80 }, { 232, 212, 120 } },
		  [LABEL_KERNEL] = { { 244, 150, 52 }, { 238, 172, 84 } },
		  [LABEL_INLINED] = { { 104, 208, 94 }, { 140, 222, 124 } },
		  [LABEL_JIT] = { { 104, 208, 94 }, { 140, 222, 124 } },
	  } },
	{ "red", 0, ALL_CODE({ { 236, 92, 84 }, { 250, 150, 138 } }) },
	{ "green", 0, ALL_CODE({ { 88, 196, 84 }, { 146, 224, 130 } }) },
	{ "blue", 0, ALL_CODE({ { 102, 142, 232 }, { 158, 190, 250 } }) },
	{ "aqua", 0, ALL_CODE({ { 78, 188, 196 }, { 140, 224, 228 } }) },
	{ "yellow", 0, ALL_CODE({ { 206, 192, 62 }, { 236, 224, 116 } }) },
	{ "purple", 0, ALL_CODE({ { 190, 112, 226 }, { 216, 160, 244 } }) },
	{ "orange", 0, ALL_CODE({ { 238, 140, 50 }, { 250, 182, 104 } }) },
};

const char *const palette_names[] = { "kind",	"hot",	  "mem",  "io",
				      "java",	"js",	  "perl", "red",
				      "green",	"blue",	  "aqua", "yellow",
				      "purple", "orange", NULL };

static const struct ramp grey = { { 214, 214, 214 }, { 190, 190, 190 } };

static const char letter[LABEL_KINDS] = {
	[LABEL_GROUP] = 'g',   [LABEL_USER] = 'u', [LABEL_KERNEL] = 'k',
	[LABEL_INLINED] = 'i', [LABEL_JIT] = 'j',  [LABEL_UNNAMED] = 'n',
	[LABEL_MISSING] = 'm', [LABEL_EXEC] = 'e', [LABEL_BOGUS] = 'b',
};

const struct palette *palette_find(const char *name)
{
	for (size_t i = 0; i < sizeof(palettes) / sizeof(*palettes); i++) {
		if (!strcmp(palettes[i].name, name))
			return &palettes[i];
	}
	return NULL;
}

int palette_by_kind(const struct palette *p)
{
	return p->by_kind;
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

/* Computes one shade. dark: the same hue at 52 % brightness, for white text. */
static void palette_shade(const struct palette *p, int kind, int i, int dark,
			  int c[3])
{
	const struct ramp *r = kind == LABEL_UNNAMED ? &grey : &p->ramp[kind];

	for (int j = 0; j < 3; j++) {
		c[j] = r->a[j] + (r->b[j] - r->a[j]) * i / (SHADES - 1);
		if (dark)
			c[j] = c[j] * 52 / 100;
	}
}

static bool has_shades(int kind)
{
	return !palette_hatched((enum label_kind)kind);
}

static void palette_put_rules(const struct palette *p, FILE *out, int dark)
{
	for (int kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && has_shades(kind); i++) {
			int c[3];

			palette_shade(p, kind, i, dark, c);
			fprintf(out, ".%c%d rect{fill:#%02x%02x%02x}%s",
				letter[kind], i, c[0], c[1], c[2],
				i == SHADES - 1 ? "\n" : "");
		}
	}
}

static void palette_put_color(struct json *j, const int c[3])
{
	char text[24];

	snprintf(text, sizeof(text), "#%02x%02x%02x", c[0], c[1], c[2]);
	json_text(j, NULL, text);
}

void palette_json(const struct palette *p, struct json *j, const char *key)
{
	json_object(j, key);
	for (int kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && has_shades(kind); i++) {
			const char name[] = { letter[kind], (char)('0' + i),
					      0 };
			int c[3];

			json_array(j, name);
			for (int dark = 0; dark < 2; dark++) {
				palette_shade(p, kind, i, dark, c);
				palette_put_color(j, c);
			}
			json_end(j);
		}
	}
	json_end(j);
}

void palette_css(const struct palette *p, FILE *out)
{
	palette_put_rules(p, out, 0);
	fputs("@media (prefers-color-scheme:dark){\n", out);
	palette_put_rules(p, out, 1);
	fputs("}\n", out);
}
