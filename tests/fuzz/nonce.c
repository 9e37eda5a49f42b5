/* nonce.c - libFuzzer target: lines of processes that unwind themselves, by
 * our templates and by the one in the first line. */
#include <stdlib.h>
#include <string.h>

#include "formats/reader/nonce.h"
#include "stitch/base/err.h"
#include "stitch/base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_nonce_read_all(const char *const *templates, struct scan text)
{
	struct user_stack_reader u = { .n = 0 };
	struct nonce_line l;
	struct rec_chain c;
	size_t at = 0;

	while (nonce_next(templates, text, &at, &l)) {
		if (l.kind == NONCE_NONE || at > text.n)
			abort();
		user_stack_reader_start(&u);
		nonce_chain(&l, &u, &c);
		struct addrs a = user_stack_reader_addrs(&u);

		for (uint32_t i = 0; a.place && i < a.n; i++)
			if (a.place[i] && !*a.place[i]->symbol && a.ip[i])
				abort();
	}
	user_stack_reader_release(&u);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct scan text = scan_of(data, size);
	size_t n = scan_find_char(text, '\n');
	char *pattern = mem_dup(data, n);
	const char *const templates[] = { pattern, NULL };
	struct err err;

	fuzz_nonce_read_all(nonce_default, text);
	if (!nonce_check(pattern, &err))
		fuzz_nonce_read_all(templates, scan_tail(text, n + 1));
	free(pattern);
	return 0;
}
