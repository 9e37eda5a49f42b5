/* ftext.c - libFuzzer target: any bytes as a text of ftrace: lines, frames,
 * fields, tasks. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "formats/ftext/ftext.h"
#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	char path[64];
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	/* whatever its first bytes are: most of them would be refused */
	touch_all(ftext_ops.open(path, NULL, lg, &err), true);
	ledger_free(lg);
	close(fd);
	return 0;
}
