/* kallsyms.c - libFuzzer target: any bytes as a copy of /proc/kallsyms; the
 * last word of them also as a name to demangle. */
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "symbolize/names/demangle.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int fuzz_kallsyms_count(void *arg, const struct symbol *sym,
			       struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += sym->name ? sym->name[0] != '\0' : 1;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const uint64_t off[] = { 0,	0x10,	  0x1000,    0x1010,
					0x2000, 0x100000, UINT64_MAX };
	enum {
		n = sizeof(off) / sizeof(off[0])
	};
	struct code_place code[n];
	char name[256];
	struct image img = { .kind = IMAGE_KERNEL,
			     .len = 0x100000,
			     .start = 0xffffffff81000000,
			     .path = "[my_mod]" };
	struct image_report rep;
	struct err err;
	size_t called = 0;

	for (size_t i = 0; i < n; i++)
		code[i] = (struct code_place){ .off = off[i],
					       .after_call = i % 2 };
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.kallsyms = fuzz_file(data, len), .no_live = true });
	for (img.kind = IMAGE_KERNEL; img.kind <= IMAGE_MODULE; img.kind++) {
		/* An error only when there is no symbol in it. */
		if (symbolize_image(sy, &img, code, n, fuzz_kallsyms_count,
				    &called, &rep, &err) &&
		    called)
			__builtin_trap();
		report_release(&rep);
	}
	symbolize_free(sy);

	size_t tail = len < sizeof(name) - 1 ? len : sizeof(name) - 1;
	memcpy(name, data + len - tail, tail);
	name[tail] = '\0';
	const char *word = strrchr(name, ' ');
	char plain[128];
	demangle_name(word ? word + 1 : name, plain, sizeof(plain));
	return 0;
}
