/* moments.c - what happened at millions of times, in 6 to 12 bytes each. */
#include "analyze/causes/moments.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

/* Times and events are signed: which one is the least does not matter, as
 * differences from any are read as they were. */
static void moments_measure(struct moments_row *r, const struct moment *x,
			    size_t n)
{
	for (int k = 0; k < MOMENTS_FIELDS; k++) {
		uint64_t least = x[0].field[k];
		uint64_t differ = 0;

		for (size_t i = 1; i < n; i++)
			lower_to(least, x[i].field[k]);
		for (size_t i = 0; i < n; i++)
			differ |= x[i].field[k] - least;
		r->base[k] = least;
		r->zeros[k] = differ ? (uint8_t)__builtin_ctzll(differ) : 0;
		differ >>= r->zeros[k];
		r->bits[k] =
			differ ? (uint8_t)(64 - __builtin_clzll(differ)) : 0;
	}
}

/* Puts a value of `bits` bits to where they are 0. */
static void moments_set(uint8_t *byte, size_t at, unsigned int bits, uint64_t x)
{
	uint64_t with;

	if (bits > MOMENTS_BITS) {
		moments_set(byte, at, 32, (uint32_t)x);
		at += 32;
		x >>= 32;
	}
	memcpy(&with, byte + at / 8, sizeof(with));
	with |= htole64(x << at % 8);
	memcpy(byte + at / 8, &with, sizeof(with));
}

/* Packs the open row. */
static void moments_pack(struct moments *m)
{
	struct moments_row *r = &m->row[m->at];
	size_t n = m->n - m->at * MOMENTS_ROW;
	size_t at = 0;
	size_t bits = 0;

	lower_to(n, MOMENTS_ROW);
	moments_measure(r, m->open, n);
	for (int k = 0; k < MOMENTS_FIELDS; k++)
		bits += r->bits[k];
	free(r->byte);
	/* 8 bytes are read wherever a value begins */
	r->byte = mem_new(n * bits / 8 + sizeof(uint64_t) + 1, 1);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < MOMENTS_FIELDS; at += r->bits[k++])
			if (r->bits[k])
				moments_set(
					r->byte, at, r->bits[k],
					(m->open[i].field[k] - r->base[k]) >>
						r->zeros[k]);
}

/* Makes a row the open one. */
static void moments_open(struct moments *m, size_t row)
{
	if (!m->open)
		m->open = mem_new(MOMENTS_ROW, sizeof(*m->open));
	else if (m->at == row)
		return;
	else
		moments_pack(m);
	m->at = SIZE_MAX;
	for (size_t i = row * MOMENTS_ROW; i < m->n && i / MOMENTS_ROW == row;
	     i++)
		m->open[i % MOMENTS_ROW] = moments_get(m, i);
	m->at = row;
}

void moments_put(struct moments *m, size_t i, const struct moment *x)
{
	if (i == m->n && i / MOMENTS_ROW == m->n_row)
		*mem_add(m->row, m->n_row, m->cap_row) =
			(struct moments_row){ 0 };
	moments_open(m, i / MOMENTS_ROW);
	m->open[i % MOMENTS_ROW] = *x;
	m->n += i == m->n;
}

void moments_cut(struct moments *m, size_t n)
{
	if (n == m->n)
		return;
	moments_open(m, n / MOMENTS_ROW);
	m->n = n;
}

void moments_close(struct moments *m)
{
	if (m->open && m->n)
		moments_pack(m);
	free(m->open);
	m->open = NULL;
}

size_t moments_find(const struct moments *m, int64_t event)
{
	return search_where(m->n, i, moments_get(m, i).event >= event);
}

void moments_release(struct moments *m)
{
	for (size_t i = 0; i < m->n_row; i++)
		free(m->row[i].byte);
	free(m->row);
	free(m->open);
	*m = (struct moments){ 0 };
}
