/* sframe_check.c - libFuzzer target: any bytes as an ELF file whose SFrame
 * section is compared with its code and with .eh_frame. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/base/mem.h"
#include "symbolize/elf/elf.h"
#include "symbolize/sframe/sframe.h"
#include "symbolize/sframe/sframe_check.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct sframe_report r = { .limit = 4 };
	struct sframe_file f;
	struct err err;
	struct elf_file *ef =
		elf_file_memory(mem_dup(data, len), len, "fuzz", &err);

	if (!ef)
		return 0;
	if (sframe_file_open(ef, &f, &err) == 1) {
		if (!sframe_check(ef, &f, &r, &err))
			for (unsigned int t = 0; t < SFRAME_TESTS; t++)
				if (r.kept[t] > r.limit)
					__builtin_trap();
		sframe_report_release(&r);
		sframe_file_release(&f);
	}
	elf_file_close(ef);
	return 0;
}
