/* perfmap.c - libFuzzer target: a perf-PID.map. */
#include <stdlib.h>
#include <string.h>

#include "formats/code/jitdump.h"
#include "stitch/base/err.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger *lg = ledger_new();
	struct err err;
	static const struct source_info info = { .arch = "x86_64" };
	struct perfmap *m = perfmap_text((const char *)data, size, "fuzz",
					 &info, lg, 0, &err);

	for (uint64_t a = 0; m && a < 0x10000; a += 0x1f8) {
		struct jit_hit h = jit_find(perfmap_jit(m), a, 1);

		if (h.found == JIT_SEVERAL ? h.n < 2 : h.n > 1)
			abort();
		for (size_t i = 0; i < h.n; i++)
			if (a < h.code[i]->start || !*h.code[i]->name)
				abort();
	}
	perfmap_close(m);
	ledger_free(lg);
	return 0;
}
