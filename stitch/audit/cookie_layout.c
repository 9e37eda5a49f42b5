/* cookie_layout.c - which bits of a cookie are CPU and counter. */
#include "stitch/audit/cookie_layout.h"

#include "stitch/base/words.h"

/* Most bits for the CPU: CPU numbers are below 65536. */
#define BITS_MAX 16

WORDS_FUNCTION(cookie_layout_name,
	       unsigned int, [LAYOUT_AUTO] = "auto", [LAYOUT_KERNEL] = "kernel",
	       [LAYOUT_CPU48] = "cpu48", [LAYOUT_LOWCPU] = "lowcpu",
	       [LAYOUT_PAIR] = "pair", [LAYOUT_OPAQUE] = "opaque");

/* Reads ":BITS". Returns 0 if it is something else. */
static unsigned int parse_bits(const char *s)
{
	unsigned int n = 0;

	if (*s++ != ':' || !*s)
		return 0;
	for (; *s >= '0' && *s <= '9' && n <= BITS_MAX; s++)
		n = n * 10 + (unsigned int)(*s - '0');
	return *s || n > BITS_MAX ? 0 : n;
}

int cookie_layout_parse(const char *word, unsigned int *layout)
{
	const char *low = cookie_layout_name(LAYOUT_LOWCPU);
	const char *name;

	for (*layout = 0; (name = cookie_layout_name(*layout)); ++*layout)
		if (!strcmp(word, name))
			return 0;
	if (strncmp(word, low, strlen(low)) != 0)
		return -1;
	unsigned int bits = parse_bits(word + strlen(low));

	*layout = LAYOUT_LOWCPU | bits << 8;
	return bits ? 0 : -1;
}

void cookie_shapes(struct cookie_shape *shape, unsigned int layout)
{
	static const struct cookie_shape all[COOKIE_SHAPES] = {
		{ LAYOUT_KERNEL, 0, 32, 32, 32, 1, 2, false },
		{ LAYOUT_KERNEL, 32, 32, 0, 32, 1, 2, false },
		{ LAYOUT_CPU48, 48, 16, 0, 48, 0, 1, true },
		{ LAYOUT_LOWCPU, 0, 12, 12, 52, 0, 1, false },
		{ LAYOUT_PAIR, 0, 32, 32, 32, 0, 1, false },
	};
	uint8_t bits = (uint8_t)(layout >> 8);

	memcpy(shape, all, sizeof(all));
	for (size_t i = 0; bits && i < COOKIE_SHAPES; i++) {
		if (shape[i].layout != LAYOUT_LOWCPU)
			continue;
		shape[i].cpu_bits = shape[i].count_at = bits;
		shape[i].count_bits = (uint8_t)(64 - bits);
	}
}
