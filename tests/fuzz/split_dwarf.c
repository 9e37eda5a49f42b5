/* split_dwarf.c - libFuzzer target: any bytes as a program made with
 * -gsplit-dwarf and as the file with the other half of its unit.
 *
 * Input: the length of the program (2 bytes, little-endian), the program, the
 * other file, which is found as a.dwo whatever folder the program names, and as
 * the program's package. */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "symbolize/symbolize.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len);

static int fuzz_split_count(void *arg, const struct symbol *sym,
			    struct err *err)
{
	size_t *n = arg;

	(void)err;
	*n += sym->name ? sym->name[0] != '\0' : 1;
	return 0;
}

/* A folder of this process, gone with it. */
static char folder[] = "/tmp/split.XXXXXX";
static char dwo[sizeof(folder) + 8];
static char dwp[sizeof(folder) + 16];

static void fuzz_split_clean(void)
{
	unlink(dwo);
	rmdir(folder);
}

static void fuzz_split_put(int fd, const uint8_t *data, size_t len)
{
	if (fd < 0 || write(fd, data, len) != (ssize_t)len)
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	enum {
		n = 256
	};
	static struct code_place code[n];
	const char *const dirs[] = { folder, NULL };
	struct image_report rep;
	size_t called = 0;
	char path[64];
	struct err err;

	if (len < 2)
		return 0;
	if (!dwo[0]) {
		if (!mkdtemp(folder))
			__builtin_trap();
		snprintf(dwo, sizeof(dwo), "%s/a.dwo", folder);
		atexit(fuzz_split_clean);
		for (size_t i = 0; i < n; i++)
			code[i] = (struct code_place){ 0x240 + i, i % 2 };
	}
	size_t first = data[0] | (size_t)data[1] << 8;
	first = first < len - 2 ? first : len - 2;

	int fd = memfd_create("program", MFD_CLOEXEC);
	int other = open(dwo, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	fuzz_split_put(fd, data + 2, first);
	fuzz_split_put(other, data + 2 + first, len - 2 - first);
	close(other);
	snprintf(path, sizeof(path), "/self/fd/%d", fd);
	snprintf(dwp, sizeof(dwp), "%s/%d.dwp", folder, fd);
	if (link(dwo, dwp))
		__builtin_trap();

	struct image img = { .kind = IMAGE_FILE, .path = path };
	struct symbolizer *sy = symbolize_new(&(struct symbolize_opts){
		.debug_dirs = dirs, .symfs = "/proc", .no_live = true });
	if (symbolize_image(sy, &img, code, n, fuzz_split_count, &called, &rep,
			    &err))
		__builtin_trap();
	report_release(&rep);
	symbolize_free(sy);
	unlink(dwp);
	close(fd);
	return 0;
}
