/* split_dwarf.c - libFuzzer target: any bytes as a program made with
 * -gsplit-dwarf and as the file with the other half of its unit.
 *
 * Input: the length of the program (2 bytes, little-endian), the program, the
 * other file, which is found as a.dwo whatever folder the program names, and as
 * the program's package. */
#include <string.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"
#include "tests/fuzz_file.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int fuzz_split_count(void *arg, const struct symbol *sym,
			    struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += sym->name ? sym->name[0] != '\0' : 1;
	return 0;
}

/* Returns a folder with a.dwo, which NAME.dwp is as well. */
static const char *fuzz_split_other(const uint8_t *data, size_t len,
				    const char *name)
{
	static char folder[64];
	static int fd = -1;
	char dwo[sizeof(folder) + 16];
	char dwp[sizeof(folder) + 16];

	if (fd < 0) {
		fuzz_file_folder(folder, sizeof(folder));
		snprintf(dwo, sizeof(dwo), "%s/a.dwo", folder);
		snprintf(dwp, sizeof(dwp), "%s/%s.dwp", folder, name);
		fd = open(dwo, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
		if (link(dwo, dwp))
			__builtin_trap();
	}
	fuzz_file_put(fd, data, len);
	return folder;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum {
		n = 256
	};
	static struct code_place code[n];
	struct image_report rep;
	size_t called = 0;
	struct err err;

	if (len < 2)
		return 0;
	for (size_t i = 0; i < n; i++)
		code[i] = (struct code_place){ .off = 0x240 + i,
					       .after_call = i % 2 };
	size_t first = data[0] | (size_t)data[1] << 8;
	first = first < len - 2 ? first : len - 2;

	const char *program = fuzz_file(data + 2, first);
	const char *const dirs[] = { fuzz_split_other(
					     data + 2 + first, len - 2 - first,
					     strrchr(program, '/') + 1),
				     NULL };
	const char *path = program + strlen("/proc");
	struct image img = { .kind = IMAGE_FILE, .path = path };
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.debug_dirs = dirs, .symfs = "/proc", .no_live = true });
	if (symbolize_image(sy, &img, code, n, fuzz_split_count, &called, &rep,
			    &err))
		__builtin_trap();
	report_release(&rep);
	symbolize_free(sy);
	return 0;
}
