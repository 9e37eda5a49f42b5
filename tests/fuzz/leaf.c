/* leaf.c - libFuzzer target: any bytes as the file whose tables say where the
 * return address is. */
#include "symbolize/unwind.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stitch/err.h"
#include "stitch/frame.h"
#include "stitch/mem.h"
#include "stitch/record.h"
#include "stitch/unwinder.h"
#include "symbolize/elf.h"
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static char dir[64], path[128];

static void remove_all(void)
{
	unlink(path);
	rmdir(dir);
}

static int find(void *arg, uint64_t addr, struct unwind_map *map)
{
	*map = (struct unwind_map){ 0, UINT64_MAX, 0, *(uint32_t *)arg, true };
	return addr != UINT64_MAX;
}

static void all_offsets(struct unwinder *uw, uint32_t id)
{
	uint64_t lr = 0x1234;
	const struct regs regs = { &lr, 1ull << 30, 1, 2 };
	struct unwind_in in = { .regs = &regs,
				.user_mask = UINT64_MAX,
				.machine = EM_AARCH64,
				.find = find,
				.arg = &id };
	uint64_t ip[2];
	struct unwind_out out = { .ip = ip, .max = 2 };

	for (in.pc = 0; in.pc < 0x1000; in.pc += 20) {
		uw->ops->unwind(uw, &in, &out);
		if (out.n < 1 || out.n > 2)
			__builtin_trap();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct image img = { .kind = IMAGE_VDSO, .path = "/[vdso]" };

	if (!dir[0]) {
		snprintf(dir, sizeof(dir), "/tmp/leaf.XXXXXX");
		if (!mkdtemp(dir))
			__builtin_trap();
		snprintf(path, sizeof(path), "%s/[vdso]", dir);
		atexit(remove_all);
	}
	/* From memory: what reads beyond the end is seen. */
	struct elf_file *ef =
		elf_file_memory(mem_dup(data, len), len, "fuzz", NULL);
	if (!ef)
		return 0;
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
	all_offsets(uw, frames_image(fr, &img));
	img.kind = IMAGE_FILE;
	all_offsets(uw, frames_image(fr, &img));
	uw->ops->free(uw);
	symbolize_free(sy);
	frames_free(fr);
	return 0;
}
