/* ftrace.c - libFuzzer target: any bytes as a trace.dat: sections, options,
 * formats, kallsyms, pages; without the magic, as a copy of /proc/PID/maps. */
#include <string.h>

#include "formats/ftrace/ftrace.h"
#include "formats/code/maps.h"
#include "stitch/tasks/late_maps.h"
#include "stitch/record.h"
#include "tests/fuzz_file.h"
#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Lines come sorted, and each has a length. */
static void maps(const uint8_t *data, size_t size, struct ledger *lg)
{
	struct maps *m = maps_new();
	size_t n;

	maps_text(m, (const char *)data, size, "fuzz", 1, TIME_NONE, lg, 0);
	const struct snapshot *s = maps_list(m, &n);

	for (size_t i = 0; i < s->n; i++)
		if (!s->map[i].len || !s->map[i].path ||
		    (i && s->map[i].start < s->map[i - 1].start))
			abort();
	maps_free(m);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };

	if (size < FT_MAGIC_LEN || memcmp(data, FT_MAGIC, FT_MAGIC_LEN) != 0)
		maps(data, size, lg);
	else
		touch_all(
			ftrace_ops.open(fuzz_file(data, size), NULL, lg, &err),
			true);
	ledger_free(lg);
	return 0;
}
