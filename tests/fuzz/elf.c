/* elf.c - libFuzzer target: any bytes as the file of an image.
 *
 * clang -g -fsanitize=fuzzer,address,undefined -I. tests/fuzz/elf.c
 * stitch, symbolize and their libraries; seeds: small ELF files. */
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "symbolize/names/symbol_names.h"
#include "symbolize/symbolize.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int fuzz_elf_count(void *arg, const struct symbol *sym, struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += sym->name ? sym->name[0] != '\0' : 1;
	return 0;
}

static int fuzz_elf_datum(void *arg, uint64_t off, const char *name,
			  uint64_t inside, struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += off + inside + strlen(name);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint64_t off[] = { 0,
					0x10,
					0x1000,
					0x1010,
					0x1020,
					0x1044,
					0x1200,
					0x2000,
					0x28270,
					0x100000,
					UINT64_MAX - 4096,
					UINT64_MAX };
	enum {
		n = sizeof(off) / sizeof(off[0])
	};
	struct code_place code[n];
	const char *path = fuzz_file(data, len);
	struct image img = { .kind = IMAGE_KERNEL };
	struct image_report rep;
	struct err err;
	size_t called = 0;

	for (size_t i = 0; i < n; i++)
		code[i] = (struct code_place){ .off = off[i],
					       .after_call = i % 2 };
	/* Once as a vmlinux, once as a program below the folder /proc, once
	 * as a module. */
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.vmlinux = path, .symfs = "/proc", .no_live = true });
	if (symbolize_image(sy, &img, code, n, fuzz_elf_count, &called, &rep,
			    &err))
		__builtin_trap();
	report_release(&rep);
	img.kind = IMAGE_FILE;
	img.path = path + 5;
	if (symbolize_image(sy, &img, code, n, fuzz_elf_count, &called, &rep,
			    &err))
		__builtin_trap();
	report_release(&rep);
	if (data_names_each(sy, &img, off, n, fuzz_elf_datum, &called, &err))
		__builtin_trap();
	img.kind = IMAGE_MODULE;
	if (symbolize_image(sy, &img, code, n, fuzz_elf_count, &called, &rep,
			    &err))
		__builtin_trap();
	report_release(&rep);
	symbolize_free(sy);
	return 0;
}
