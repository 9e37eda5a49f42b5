/* embed_empty.c - prints C source that holds the pages of an empty database,
 * while the program is built: the table empty_files of schema/db/empty.h. */

#include "schema/db/empty.h"
#include "stitch/base/mem.h"

/* Fewer zeros than this do not end a run. */
#define ZEROS 32u

static const uint32_t page_sizes[] = { EMPTY_SMALL_PAGE, EMPTY_LARGE_PAGE };

#define SIZES ARRAY_SIZE(page_sizes)

/* Returns the number of zeros from byte i on. */
static size_t embed_zeros(const unsigned char *p, size_t i, size_t n)
{
	size_t from = i;

	while (i < n && !p[i])
		i++;
	return i - from;
}

/* Returns the end of the run that begins at byte i. */
static size_t embed_run_end(const unsigned char *p, size_t i, size_t n)
{
	while (i < n) {
		size_t zeros = embed_zeros(p, i, n);

		if (zeros >= ZEROS || i + zeros == n)
			return i;
		i += zeros + 1;
	}
	return n;
}

/* Returns how many runs there are. */
static size_t embed_runs(const unsigned char *p, size_t n, uint32_t page_size)
{
	size_t n_run = 0;

	printf("static const struct empty_run runs_%u[] = {\n", page_size);
	for (size_t i = embed_zeros(p, 0, n); i < n; n_run++) {
		size_t end = embed_run_end(p, i, n);

		printf("\t{ %zu, %zu,\n\t  ", i, end - i);
		for (size_t k = i; k < end; k++) {
			if ((k - i) % 16 == 0)
				printf("%s\"", k > i ? "\"\n\t  " : "");
			printf("\\%03o", p[k]);
		}
		printf("\" },\n");
		i = end + embed_zeros(p, end, n);
	}
	printf("};\n\n");
	return n_run;
}

int main(void)
{
	size_t size[SIZES];
	size_t n_run[SIZES];

	printf("#include \"schema/db/empty.h\"\n\n");
	for (size_t i = 0; i < SIZES; i++) {
		unsigned char *p = empty_image(page_sizes[i], &size[i]);

		if (!p) {
			fprintf(stderr, "SQLite cannot make the tables\n");
			return EXIT_FAILURE;
		}
		n_run[i] = embed_runs(p, size[i], page_sizes[i]);
		free(p);
	}
	printf("const struct empty_file empty_files[] = {\n");
	for (size_t i = 0; i < SIZES; i++)
		printf("\t{ %u, %zu, runs_%u, %zu },\n", page_sizes[i], size[i],
		       page_sizes[i], n_run[i]);
	printf("\t{ 0, 0, 0, 0 }\n};\n");
	return ferror(stdout) || fflush(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
