/* code_bytes.c - libFuzzer target: any bytes as code of a machine, which the
 * last of them chooses, and as the file that the code is read from.
 *
 * What the patterns and capstone make of the same bytes must agree: where the
 * judge sees a call end, the patterns see one. */
#include <elf.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/base/mem.h"
#include "symbolize/disasm/call_insn.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/disasm/code_bytes.h"
#include "symbolize/disasm/disasm.h"
#include "symbolize/symbolize.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

/* In a copy of its own length, so that reading beyond it is seen. */
static void as_code(uint16_t machine, bool big, const uint8_t *data, size_t len)
{
	struct disasm *d = disasm_open(machine, big, len & 1, NULL);
	unsigned char *copy = mem_new(len, 1);
	const unsigned char *p = copy;
	size_t left = len;
	uint64_t addr = 0x1000;
	struct insn in;

	if (!d)
		__builtin_trap();
	memcpy(copy, data, len);
	while (disasm_next(d, &p, &left, &addr, &in)) {
		size_t at = (size_t)(p - copy);
		uint64_t to = 0;
		enum call_kind k;

		if (!in.len || addr != 0x1000 + at || left != len - at)
			__builtin_trap();
		k = call_insn_before(machine, big, copy, at, left, addr, &to);
		if (k == CALL_DIRECT && in.flow == FLOW_CALL && in.has_target &&
		    machine == EM_AARCH64 && to != in.target)
			__builtin_trap();
	}
	if (addr != 0x1000 + len)
		__builtin_trap();
	disasm_close(d);
	free(copy);
}

static void ask_code(struct symbolizer *sy, const struct image *img)
{
	struct code_bytes *c = code_bytes_open(sy, img, NULL);
	unsigned char buf[256];
	uint64_t a;
	uint64_t b;

	for (uint64_t off = 0; c && off < 0x2000; off += 64) {
		if (code_bytes_read(c, off, buf, sizeof(buf)) > sizeof(buf))
			__builtin_trap();
		if (code_bytes_function(c, off, &a, &b) && b <= a)
			__builtin_trap();
		if (code_bytes_addr(c, off, &a))
			code_bytes_off(c, a, &b);
	}
	code_bytes_close(c);
}

static void ask_callsites(struct symbolizer *sy, const struct image *img)
{
	struct callsite site[64];
	struct identity_answer said;
	struct callsite_file *f = callsite_open(sy, img, &said);

	for (size_t i = 0; f && i < 64; i++)
		callsite_at(f, i * 37 + (i << 7), &site[i]);
	if (f)
		callsite_settle(f);
	for (size_t i = 0; f && i < 64; i++)
		if (!callsite_link(f, &site[i], f, (63 - i) * 53))
			__builtin_trap();
	callsite_close(f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint16_t machine[] = { EM_X86_64, EM_386, EM_AARCH64,
					    EM_S390, EM_PPC64 };
	struct image img = { .kind = IMAGE_VDSO };
	const char *dir = fuzz_file_vdso(data, len);
	size_t i = len ? data[len - 1] % (sizeof(machine) / 2) : 0;

	as_code(machine[i], machine[i] == EM_S390, data, len < 512 ? len : 512);

	struct symbolizer *sy = symbolize_new(
		&(struct symbolize_opts){ .symfs = dir, .no_live = true });
	ask_code(sy, &img);
	ask_callsites(sy, &img);
	symbolize_free(sy);
	return 0;
}
