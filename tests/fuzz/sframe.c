/* sframe.c - libFuzzer target: any bytes as an SFrame section.
 *
 * clang -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/sframe.c
 * stitch, symbolize and their libraries; seeds: sframe.seeds. */
#include <stdint.h>

#include "stitch/base/err.h"
#include "symbolize/cfi/unwind_rows.h"
#include "symbolize/sframe/sframe.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* Every row must be found again where it was put. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sframe sf;
	struct err err;
	uint32_t bad;

	if (sframe_init(&sf, data, len, "fuzz", 0, 0x10000, &err))
		return 0;
	struct unwind_rows *t = sframe_table(&sf, &bad);
	if (bad > sf.head.funcs)
		__builtin_trap();
	for (size_t i = 0; i < unwind_rows_count(t); i++) {
		uint64_t addr;
		const struct unwind_row *row = unwind_rows_at(t, i, &addr);

		if (i + 1 < unwind_rows_count(t) &&
		    unwind_rows_find(t, addr) != row)
			__builtin_trap();
	}
	unwind_rows_free(t);
	return 0;
}
