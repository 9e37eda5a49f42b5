/* pq_pages.c - pages on their way into a Parquet file. */
#include "cli/export/parquet/pq_pages.h"

#include <stdbool.h>

#include "formats/pack.h"
#include "stitch/base/err.h"

enum pq_page {
	PQ_PAGE_DATA = 0,
	PQ_PAGE_DICTIONARY = 2
};

int pq_pages_init(struct pq_pages *p, FILE *out, struct err *err)
{
	*p = (struct pq_pages){ .out = out, .zstd = pack_zstd_new(err) };
	return p->zstd ? 0 : -1;
}

void pq_pages_release(struct pq_pages *p)
{
	pack_zstd_free(p->zstd);
	blob_release(&p->body);
	blob_release(&p->packed);
	blob_release(&p->head);
}

void pq_pages_raw(struct pq_pages *p, const void *data, size_t n)
{
	fwrite(data, 1, n, p->out);
	p->at += n;
}

int pq_pages_put(struct pq_pages *p, size_t n_values, int encoding,
		 struct err *err)
{
	size_t room = pack_zstd_room(p->body.n);
	bool dictionary = encoding < 0;
	struct pq_thrift t;
	size_t n = 0;

	if (p->body.n > INT32_MAX || room > INT32_MAX)
		return err_set(err, ERR_LIMIT,
			       "a page of a Parquet file holds 2 GB, not %zu "
			       "bytes",
			       p->body.n);
	p->packed.n = 0;
	if (pack_zstd_put(p->zstd, p->body.at, p->body.n,
			  blob_room(&p->packed, room), &n, err))
		return -1;
	p->packed.n = n;
	p->head.n = 0;
	pq_begin(&t, &p->head);
	pq_i32(&t, 1, dictionary ? PQ_PAGE_DICTIONARY : PQ_PAGE_DATA);
	pq_i32(&t, 2, (int64_t)p->body.n);
	pq_i32(&t, 3, (int64_t)p->packed.n);
	pq_struct(&t, dictionary ? 7 : 5);
	pq_i32(&t, 1, (int64_t)n_values);
	pq_i32(&t, 2, dictionary ? PQ_PLAIN : encoding);
	if (!dictionary) {
		pq_i32(&t, 3, PQ_RLE);
		pq_i32(&t, 4, PQ_RLE);
	}
	pq_end(&t);
	pq_end(&t);
	p->plain += p->head.n + p->body.n;
	pq_pages_raw(p, p->head.at, p->head.n);
	pq_pages_raw(p, p->packed.at, p->packed.n);
	p->body.n = 0;
	return 0;
}
