/* bare.c - a bare iteration of a trace.dat by libtracecmd: every entry, in
 * order, and nothing made of it. Links to none of our code.
 * usage: bare FILE
 * Prints "entries seconds" (of the processor): from after the file was opened
 * to the end of reading, the best of five. */
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <trace-cmd.h>

#define BUFFERS 16

/* Processor time: other programs may want the machine meanwhile. */
static double bench_bare_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int bench_bare_count(struct tracecmd_input *in, struct tep_record *rec,
			    int cpu, void *arg)
{
	uint64_t *n = arg;

	(void)in;
	(void)rec;
	(void)cpu;
	++*n;
	return 0;
}

/* The file's top buffer, and those with names. */
static int bench_bare_once(const char *path, uint64_t *n, double *took)
{
	struct tracecmd_input *in[BUFFERS];
	int n_in = 1;

	in[0] = tracecmd_open(path, TRACECMD_FL_LOAD_NO_PLUGINS);
	if (!in[0])
		return -1;
	int n_more = tracecmd_buffer_instances(in[0]);

	for (int i = 0; i < n_more && n_in < BUFFERS; i++) {
		in[n_in] = tracecmd_buffer_instance_handle(in[0], i);
		n_in += in[n_in] != NULL;
	}
	double start = bench_bare_now();

	*n = 0;
	int rc = tracecmd_iterate_events_multi(in, n_in, bench_bare_count, n);

	*took = bench_bare_now() - start;
	while (n_in)
		tracecmd_close(in[--n_in]);
	return rc;
}

int main(int argc, char **argv)
{
	uint64_t n = 0;
	double best = 1e9;

	if (argc != 2) {
		fputs("usage: bare FILE\n", stderr);
		return 2;
	}
	tracecmd_set_loglevel(TEP_LOG_NONE);
	for (int i = 0; i < 5; i++) {
		double took = 0;

		if (bench_bare_once(argv[1], &n, &took)) {
			fprintf(stderr, "bare: cannot read %s\n", argv[1]);
			return 1;
		}
		best = took < best ? took : best;
	}
	printf("%" PRIu64 " %.4f\n", n, best);
	return 0;
}
