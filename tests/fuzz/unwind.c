/* unwind.c - libFuzzer target: any bytes as the file whose tables say how to
 * unwind, and as the stack that is unwound. The last byte chooses what kind of
 * image the file is, and where unwinding begins. */
#include "symbolize/unwind/unwind.h"

#include <elf.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/elf/elf.h"
#include "symbolize/symbolize.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

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

/* What unwinds, for some inputs: making it takes longer than using it. */
#define INPUTS 64
static struct frames *fr;
static struct symbolizer *sy;
static struct unwinder *uw;

static void fuzz_unwind_renew(const char *dir)
{
	if (uw)
		uw->ops->free(uw);
	symbolize_free(sy);
	frames_free(fr);
	fr = frames_new();
	sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	uw = unwind_new(sy, fr);
}

/* The file's own bytes are the stack as well: they are what the fuzzer can
 * change. Every register points into it. */
static void some_offsets(uint32_t id, uint64_t epoch, uint16_t machine,
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
				.epoch = epoch,
				.arg = &id };
	uint64_t ip[64];
	struct unwind_out out = { .ip = ip, .max = 64 };

	for (in.pc = 20 * (data[len - 1] / 2 % 8); in.pc < 0x1000;
	     in.pc += 160) {
		for (unsigned int i = 0; i < REGS; i++)
			v[i] = 0x100000 + 8 * (in.pc % 4096) * (i & 1);
		/* x86's sp, ip; those of the others */
		v[7] = v[15] = v[31] = 0x100000;
		v[8] = v[32] = v[33] = in.pc;
		v[30] = 0x1234;
		in.dumped = true;
		uw->ops->unwind(uw, &in, &out);
		fuzz_unwind_look(&in, &out);
	}
	in.dumped = false;
	uw->ops->unwind(uw, &in, &out);
	if (out.n > 2)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static uint64_t n;
	struct image img = { .path = "/[vdso]" };

	/* From memory: what reads beyond the end is seen. */
	struct elf_file *ef =
		elf_file_memory(mem_dup(data, len), len, "fuzz", NULL);
	if (!ef)
		return 0;
	uint16_t machine = ef->machine;
	memcpy(img.id, ef->id, sizeof(img.id));
	img.id_len = ef->id_len;
	elf_file_close(ef);

	const char *dir = fuzz_file_vdso(data, len);
	if (n % INPUTS == 0)
		fuzz_unwind_renew(dir);
	img.t0 = ++n; /* another image than those before */
	img.kind = data[len - 1] & 1 ? IMAGE_FILE : IMAGE_VDSO;
	some_offsets(frames_image(fr, &img), n, machine, data, len);
	return 0;
}
