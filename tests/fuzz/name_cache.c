/* name_cache.c - libFuzzer target: any bytes as remembered names, and as what
 * is known of code, with a right sum. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/files/code_cache.h"
#include "symbolize/files/name_cache.h"
#include "symbolize/report.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int fuzz_memo_count(void *arg, const struct symbol *sym, struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += sym->name ? strlen(sym->name) : 1;
	*n += sym->file ? strlen(sym->file) : 1;
	*n += sym->how ? strlen(sym->how) : 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint64_t off[] = { 0, 0x1000, 0x1010, UINT64_MAX };
	enum {
		n = sizeof(off) / sizeof(off[0])
	};
	struct code_place code[n];
	struct code_place rest[n];
	struct image_report rep = { 0 };
	struct name_cache *m = mem_new(1, sizeof(*m));
	uint64_t sum = hash_content(data, len, 0);
	size_t sum_of_all = 0;
	unsigned char *file = mem_new(len + 16, 1);

	for (size_t i = 0; i < n; i++)
		code[i] = (struct code_place){ .off = off[i],
					       .after_call = i % 2 };
	code_cache_is_sound(data, len);
	memcpy(file, NAME_CACHE_MAGIC, 8);
	memcpy(file + 8, &sum, 8);
	if (len)
		memcpy(file + 16, data, len);
	snprintf(m->path, sizeof(m->path), "%s", fuzz_file(file, len + 16));
	name_cache_load(m);
	size_t n_rest = name_cache_rest(m, code, n, rest);
	size_t n_told = 0;

	for (size_t i = 0; i < n; i++)
		n_told += name_cache_tell(m, &code[i], fuzz_memo_count,
					  &sum_of_all, NULL) == 1;
	if (n_rest + n_told != n)
		__builtin_trap();
	if (name_cache_report(m, &rep) && (!rep.status || !rep.file[0]))
		sum_of_all++;
	report_release(&rep);
	name_cache_release(m);
	free(m);
	free(file);
	return 0;
}
