/* jitdump.c - libFuzzer target: a jitdump file, questions about it, and
 * its unwinding information. */
#include <stdlib.h>
#include <string.h>

#include "formats/code/jitdump.h"
#include "stitch/base/err.h"
#include "stitch/tasks/jit.h"
#include "stitch/base/ledger.h"
#include "stitch/source.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/cfi/unwind_rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Its unwinding information, as unwinding reads it. */
static void make_rows(const struct jit_code *c)
{
	struct cfi *cfi = cfi_memory((uint16_t)c->machine, c->frame, c->n_frame,
				     c->start + c->frame_off, c->swapped);
	struct unwind_rows *rows = cfi ? cfi_rows(cfi, 0, 1) : NULL;

	if (rows)
		unwind_rows_find(rows, c->start);
	unwind_rows_free(rows);
	cfi_close(cfi);
}

static void fuzz_jitdump_ask(struct jit *j, uint64_t addr, int64_t t)
{
	struct jit_hit h = jit_find(j, addr, t);

	for (size_t i = 0; i < h.n; i++) {
		const struct jit_code *c = h.code[i];

		if (addr < c->start || addr - c->start >= c->len ||
		    !memchr(c->name, 0, strlen(c->name) + 1))
			abort();
		for (size_t k = 1; k < c->n_line; k++)
			if (c->line[k].off < c->line[k - 1].off)
				abort();
		if (c->n_bytes && ((const char *)c->bytes)[c->n_bytes - 1] &&
		    c->n_bytes != c->len)
			abort();
		if (c->n_frame)
			make_rows(c);
	}
}

static void read_as(const uint8_t *data, size_t size,
		    const struct source_info *info)
{
	struct err err;
	struct jitdump *d = jitdump_memory(data, size, "fuzz", &err);
	struct ledger *lg = ledger_new();

	if (d) {
		struct jit *j = jitdump_read(d, info, lg, 0);

		for (uint64_t a = 0; a < 0x8000; a += 0x3f8)
			for (int64_t t = 0; t < 5000; t += 700)
				fuzz_jitdump_ask(j, a, t);
		fuzz_jitdump_ask(j, UINT64_MAX, INT64_MAX);
		jit_changes(j, INT64_MAX);
	}
	jitdump_close(d);
	ledger_free(lg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct source_info as[] = {
		{ .has_time = true, .clock = "monotonic", .arch = "x86_64" },
		{ .has_time = true,
		  .clock = "perf",
		  .tsc = { .zero = UINT64_MAX, .mult = 99, .shift = 200 } },
		{ .clock = "perf" },
	};

	for (size_t i = 0; i < sizeof(as) / sizeof(*as); i++)
		read_as(data, size, &as[i]);
	return 0;
}
