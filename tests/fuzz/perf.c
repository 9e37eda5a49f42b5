/* perf.c - libFuzzer target: any bytes as a perf.data capture.
 *
 * Its last byte chooses whether it is read as a file (exact order) or as a pipe
 * would be (windows), to the end. */
#include "formats/perf/perf.h"
#include "tests/fuzz_file.h"
#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source_opts pipe = { .no_scan = true, .window_bytes = 1 << 20 };
	bool as_pipe = size && data[size - 1] & 1;
	struct ledger *lg = ledger_new();
	struct err err = { 0 };

	/* whatever its first bytes are: most of them would be refused */
	touch_all(perf_ops.open(fuzz_file(data, size), as_pipe ? &pipe : NULL,
				lg, &err),
		  !as_pipe);
	ledger_free(lg);
	return 0;
}
