/* ptext.c - libFuzzer target: any bytes as a text of perf script, or as folded
 * stacks. */
#include "formats/ptext/ptext.h"
#include "tests/fuzz_file.h"
#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };

	/* whatever its first bytes are: most of them would be refused */
	touch_all(ptext_ops.open(fuzz_file(data, size), NULL, lg, &err), true);
	ledger_free(lg);
	return 0;
}
