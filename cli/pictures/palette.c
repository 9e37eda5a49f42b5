/* palette.c - which colour a frame has. */
#include "cli/pictures/palette.h"

#include "stitch/text/json.h"
#include "stitch/base/mem.h"
#include "stitch/base/table.h"

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
	bool by_kind;
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

bool palette_by_kind(const struct palette *p)
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

static bool has_shades(int kind)
{
	return !palette_hatched((enum label_kind)kind);
}

static void palette_put_rules(const struct palette *p, FILE *out, int light)
{
	for (int kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && has_shades(kind); i++) {
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
	for (int kind = 0; kind < LABEL_KINDS; kind++) {
		for (int i = 0; i < SHADES && has_shades(kind); i++) {
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
