/* perf.c - libFuzzer target: any bytes as a perf.data capture.
 *
 * clang -fsanitize=fuzzer,address,undefined; every input is read as a file
 * (exact order) and as a pipe would be (windows), to the end. */
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct source_opts pipe = { .no_scan = true, .window_bytes = 1 << 20 };
	struct err err = { 0 };
	char path[64];
	int fd = memfd_create("fuzz", 0);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	for (int i = 0; i < 2; i++) {
		struct ledger *lg = ledger_new();

		touch_all(formats_open(path, i ? &pipe : NULL, lg, &err), !i);
		ledger_free(lg);
	}
	close(fd);
	return 0;
}
