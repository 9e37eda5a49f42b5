/* packed_times.c - keeps millions of timed items in 6 to 12 bytes each. */
#include "analyze/causes/packed_times.h"

#include "stitch/base/mem.h"
#include "stitch/base/search.h"

void loss_ends_init(struct loss_ends *e, size_t n)
{
	e->n = n;
	for (e->size = 1; e->size < n; e->size *= 2)
		;
	e->latest = mem_new(e->size * 2, sizeof(*e->latest));
	for (size_t i = 0; i < e->size; i++)
		e->latest[e->size + i] = INT64_MIN;
}

void loss_ends_release(struct loss_ends *e)
{
	free(e->latest);
}

void loss_ends_put(struct loss_ends *e, size_t i, int64_t end)
{
	e->latest[e->size + i] = end;
}

void loss_ends_seal(struct loss_ends *e)
{
	for (size_t i = e->size; i-- > 1;) {
		e->latest[i] = e->latest[2 * i];
		raise_to(e->latest[i], e->latest[2 * i + 1]);
	}
}

size_t loss_ends_find(const struct loss_ends *e, size_t i, int64_t time)
{
	size_t at = i + e->size;

	if (i >= e->n)
		return e->n;
	while (e->latest[at] < time) {
		at++;
		if (!(at & (at - 1)))
			return e->n; /* the last node: no later loss */
		while (!(at & 1))
			at /= 2;
	}
	while (at < e->size)
		at = 2 * at + (e->latest[2 * at] < time);
	return at - e->size;
}

int64_t loss_ends_latest(const struct loss_ends *e, size_t i, size_t j)
{
	int64_t latest = INT64_MIN;

	for (i += e->size, j += e->size; i < j; i /= 2, j /= 2) {
		if (i & 1)
			raise_to(latest, e->latest[i]);
		if (j & 1)
			raise_to(latest, e->latest[j - 1]);
		i += i & 1;
	}
	return latest;
}

/* Writes x, which has at most `bits` bits, from bit `at` on. The bits there
 * must be 0. */
static void packed_times_set(uint8_t *byte, size_t at, unsigned int bits,
			     uint64_t x)
{
	uint64_t with;

	if (bits > PACKED_TIMES_BITS) {
		packed_times_set(byte, at, 32, (uint32_t)x);
		at += 32;
		x >>= 32;
	}
	memcpy(&with, byte + at / 8, sizeof(with));
	with |= htole64(x << at % 8);
	memcpy(byte + at / 8, &with, sizeof(with));
}

/* Packs the items of the open row into the bytes of that row. */
static void packed_times_pack(struct packed_times *m)
{
	struct packed_times_row *r = &m->row[m->at];
	size_t n = m->n - m->at * PACKED_TIMES_ROW;
	size_t at = 0;
	size_t bits = 0;

	lower_to(n, PACKED_TIMES_ROW);
	/* Times and events are signed, but are compared as unsigned: any base
	 * will do, as its difference from each value restores that value. */
	for (int k = 0; k < PACKED_TIMES_FIELDS; k++) {
		uint64_t least = m->open[0].field[k];
		uint64_t differ = 0;

		for (size_t i = 1; i < n; i++)
			lower_to(least, m->open[i].field[k]);
		for (size_t i = 0; i < n; i++)
			differ |= m->open[i].field[k] - least;
		r->base[k] = least;
		r->zeros[k] = differ ? (uint8_t)__builtin_ctzll(differ) : 0;
		differ >>= r->zeros[k];
		r->bits[k] =
			differ ? (uint8_t)(64 - __builtin_clzll(differ)) : 0;
	}
	for (int k = 0; k < PACKED_TIMES_FIELDS; k++)
		bits += r->bits[k];
	free(r->byte);
	/* reading a value reads 8 bytes from its first one on */
	r->byte = mem_new(n * bits / 8 + sizeof(uint64_t) + 1, 1);
	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < PACKED_TIMES_FIELDS; at += r->bits[k++])
			if (r->bits[k])
				packed_times_set(
					r->byte, at, r->bits[k],
					(m->open[i].field[k] - r->base[k]) >>
						r->zeros[k]);
}

static void packed_times_open(struct packed_times *m, size_t row)
{
	if (!m->open)
		m->open = mem_new(PACKED_TIMES_ROW, sizeof(*m->open));
	else if (m->at == row)
		return;
	else
		packed_times_pack(m);
	m->at = SIZE_MAX;
	for (size_t i = row * PACKED_TIMES_ROW;
	     i < m->n && i / PACKED_TIMES_ROW == row; i++)
		m->open[i % PACKED_TIMES_ROW] = packed_times_get(m, i);
	m->at = row;
}

void packed_times_put(struct packed_times *m, size_t i,
		      const struct packed_time *x)
{
	if (i == m->n && i / PACKED_TIMES_ROW == m->n_row)
		*mem_add(m->row, m->n_row, m->cap_row) =
			(struct packed_times_row){ 0 };
	packed_times_open(m, i / PACKED_TIMES_ROW);
	m->open[i % PACKED_TIMES_ROW] = *x;
	m->n += i == m->n;
}

void packed_times_cut(struct packed_times *m, size_t n)
{
	if (n == m->n)
		return;
	packed_times_open(m, n / PACKED_TIMES_ROW);
	m->n = n;
}

void packed_times_close(struct packed_times *m)
{
	if (m->open && m->n)
		packed_times_pack(m);
	free(m->open);
	m->open = NULL;
}

size_t packed_times_find(const struct packed_times *m, int64_t event)
{
	return search_where(m->n, i, packed_times_get(m, i).event >= event);
}

void packed_times_release(struct packed_times *m)
{
	for (size_t i = 0; i < m->n_row; i++)
		free(m->row[i].byte);
	free_all(m->row, m->open);
	*m = (struct packed_times){ 0 };
}
