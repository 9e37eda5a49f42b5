/* unwind.c - libFuzzer target: any bytes as the file whose tables say how to
 * unwind, and as the stack that is unwound. */
#include "symbolize/unwind/unwind.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char dir[64], path[128];

static void fuzz_unwind_remove_all(void)
{
	unlink(path);
	rmdir(dir);
}

static int fuzz_unwind_find(void *arg, uint64_t addr, struct unwind_map *map)
{
	*map = (struct unwind_map){ .end = UINT64_MAX,
				    .image = *(uint32_t *)arg,
				    .exec = true };
	return addr != UINT64_MAX;
}

#define REGS 34

/* What must hold of every answer. */
static void fuzz_unwind_look(const struct unwind_in *in,
			     const struct unwind_out *out)
{
	if (out->n < 1 || out->n > out->max || out->end == UNWIND_NONE ||
	    out->end >= UNWIND_N ||
	    (out->end == UNWIND_LIMIT && out->n != out->max) ||
	    (out->guessed != UINT32_MAX &&
	     (!out->guessed || out->guessed > out->n)))
		__builtin_trap();
	for (uint32_t i = 1; i < out->n; i++)
		if (out->ip[i] & ~in->user_mask)
			__builtin_trap();
}

/* The file's own bytes are the stack as well: they are what the fuzzer can
 * change. Every register points into it. */
static void all_offsets(struct unwinder *uw, uint32_t id, uint16_t machine,
			const uint8_t *data, size_t len)
{
	uint64_t v[REGS];
	struct regs regs = { v, (1ull << REGS) - 1, REGS, 2 };
	struct unwind_in in = { .regs = &regs,
				.user_mask = (1ull << 48) - 1,
				.machine = machine,
				.find = fuzz_unwind_find,
				.stack = data,
				.len = len < 8192 ? (uint32_t)len : 8192,
				.epoch = 1,
				.arg = &id };
	uint64_t ip[64];
	struct unwind_out out = { .ip = ip, .max = 64 };

	for (in.pc = 0; in.pc < 0x1000; in.pc += 20) {
		for (unsigned int i = 0; i < REGS; i++)
			v[i] = 0x100000 + 8 * (in.pc % 4096) * (i & 1);
		/* x86's sp, ip; those of the others */
		v[7] = v[15] = v[31] = 0x100000;
		v[8] = v[32] = v[33] = in.pc;
		v[30] = 0x1234;
		in.dumped = true;
		uw->ops->unwind(uw, &in, &out);
		fuzz_unwind_look(&in, &out);
		in.dumped = false;
		uw->ops->unwind(uw, &in, &out);
		if (out.n > 2)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct image img = { .kind = IMAGE_VDSO, .path = "/[vdso]" };

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/unwind.XXXXXX");
		if (!mkdtemp(dir))
			__builtin_trap();
		snprintf(path, sizeof(path), "%s/[vdso]", dir);
		atexit(fuzz_unwind_remove_all);
	}
	/* From memory: what reads beyond the end is seen. */
	struct elf_file *ef =
		elf_file_memory(mem_dup(data, len), len, "fuzz", NULL);
	if (!ef)
		return 0;
	uint16_t machine = ef->machine;
	memcpy(img.id, ef->id, sizeof(img.id));
	img.id_len = ef->id_len;
	elf_file_close(ef);

	FILE *f = fopen(path, "wb");
	if (!f || fwrite(data, 1, len, f) != len || fclose(f))
		__builtin_trap();
	struct frames *fr = frames_new();
	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	struct unwinder *uw = unwind_new(sy, fr);
	all_offsets(uw, frames_image(fr, &img), machine, data, len);
	img.kind = IMAGE_FILE;
	all_offsets(uw, frames_image(fr, &img), machine, data, len);
	uw->ops->free(uw);
	symbolize_free(sy);
	frames_free(fr);
	return 0;
}
