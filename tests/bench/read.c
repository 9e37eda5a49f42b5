/* read.c - reading alone: all records of a capture, in order and decoded, and
 * nothing made of them.
 * usage: read CAPTURE
 * Prints "records samples frames seconds" (of the processor): from after the
 * capture was opened to the end of reading, the best of five. */
#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "formats/formats.h"
#include "stitch/base/err.h"
#include "stitch/base/ledger.h"
#include "stitch/order/order.h"
#include "stitch/source.h"

struct seen {
	uint64_t records, samples, frames;
};

/* Processor time: other programs may want the machine meanwhile. */
static double bench_read_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int bench_read_walk(struct order *ord, struct seen *seen,
			   struct err *err)
{
	struct record *rec;
	int got;

	while ((got = order_next(ord, &rec, err)) > 0) {
		seen->records++;
		if (rec->kind != REC_SAMPLE)
			continue;
		seen->samples++;
		seen->frames += rec->sample.kern.n + rec->sample.user.n;
	}
	return got;
}

static int bench_read_once(const char *path, struct seen *seen, double *took,
			   struct err *err)
{
	const struct source_opts opts = { .temp_dir = "/tmp" };
	struct ledger *lg = ledger_new();
	struct order *ord = order_new(lg, 0, opts.temp_dir);
	struct source *src = formats_open(path, &opts, lg, err);
	int rc = -1;

	*seen = (struct seen){ 0 };
	if (src && !src->ops->scan(src, err)) {
		double start = bench_read_now();

		order_add(ord, src);
		rc = bench_read_walk(ord, seen, err);
		*took = bench_read_now() - start;
	} else if (src) {
		source_close(src);
	}
	order_free(ord);
	ledger_free(lg);
	return rc;
}

int main(int argc, char **argv)
{
	struct seen seen = { 0 };
	struct err err;
	double best = 1e9;

	if (argc != 2) {
		fputs("usage: read CAPTURE\n", stderr);
		return 2;
	}
	for (int i = 0; i < 5; i++) {
		double took = 0;

		if (bench_read_once(argv[1], &seen, &took, &err)) {
			fprintf(stderr, "read: %s\n", err.msg);
			return 1;
		}
		best = took < best ? took : best;
	}
	printf("%" PRIu64 " %" PRIu64 " %" PRIu64 " %.4f\n", seen.records,
	       seen.samples, seen.frames, best);
	return 0;
}
