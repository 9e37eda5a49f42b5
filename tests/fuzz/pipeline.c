/* pipeline.c - libFuzzer target: any bytes as a capture, through the whole
 * program: read, order, join, store, and the views over what came out.
 *
 * Every input ends with an error of its own or with a database that adds up;
 * anything else is a crash to be found. */
#include "formats/formats.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"
#include "tests/pipeline.h"

/* A few hundred bytes of zstd can unpack to gigabytes, and a small number may
 * stand for a million forks: enough is enough. */
#define RECORDS_MAX 20000

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argc;
	(void)argv;
	pipeline_start();
	return 0;
}

static bool is_small(int fd)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	struct ref ref;
	char path[64];
	int n = 0;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	struct source *src = formats_open(path, NULL, lg, &err);

	if (src && !src->ops->scan(src, &err))
		while (n < RECORDS_MAX && src->ops->next(src, &ref, &err) > 0) {
			if (src->ops->release)
				src->ops->release(src, &ref);
			n++;
		}
	source_close(src);
	ledger_free(lg);
	return n < RECORDS_MAX;
}

static void fuzz_pipeline_ask(struct pipeline *p, const char *what)
{
	struct err err = { 0 };

	if (p->ret && !p->err.msg[0])
		pipeline_die("failed without a message");
	if (p->ret && p->err.code != ERR_FORMAT && p->err.code != ERR_LIMIT)
		pipeline_die(p->err.msg);
	if (p->db && pipeline_ask(p->db, &err)) {
		fprintf(stderr, "%s: ", what);
		pipeline_die(err.msg);
	}
	store_close(p->db);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = pipeline_file(data, size);

	if (is_small(fd)) {
		struct pipeline p = pipeline_load(data, size, NULL);

		fuzz_pipeline_ask(&p, "file");
		if (size % 4 == 0 && size >= 16) {
			p = pipeline_pipe(data, size);
			fuzz_pipeline_ask(&p, "pipe");
		}
	}
	close(fd);
	return 0;
}
