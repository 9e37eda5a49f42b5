/* folder.c - libFuzzer target: files of a folder that is a capture: an LTTng
 * session, copies of tracefs, the folder of perf record --threads; and a text
 * of ftrace with what is beside it.
 *
 * Input: for each file the number of its name (1 byte), its length (2 bytes,
 * little-endian), its bytes. The last file has the rest. */
#include <string.h>
#include <sys/stat.h>

#include "formats/ctf/ctf.h"
#include "formats/ftext/ftext.h"
#include "formats/ftrace/ftrace.h"
#include "formats/perf/perf.h"
#include "tests/fuzz_file.h"
#include "tests/touch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum {
	META,
	DATA = 3,
	KALLSYMS = 20,
	TEXT = 22
};

static const char *const names[] = {
	[META] = "metadata",
	"stream_0",
	"stream_1",
	[DATA] = "data",
	"data.0",
	"data.1",
	"cpu0.raw",
	"per_cpu/cpu1/trace_pipe_raw",
	"per_cpu/cpu1/stats",
	"cpu0.stats",
	"sched-sched_switch.format",
	"events/sched/sched_process_fork/format",
	"ftrace-kernel_stack.format",
	"ftrace-user_stack.format",
	"events/syscalls/sys_enter_mmap/format",
	"header_page",
	"saved_cmdlines",
	"saved_tgids",
	"printk_formats",
	"trace_clock",
	[KALLSYMS] = "kallsyms",
	"maps.42",
	[TEXT] = "trace.txt",
};
#define NAMES (sizeof(names) / sizeof(*names))

static char folder[64];

static void fuzz_folder_make(void)
{
	static const char *const below[] = {
		"per_cpu",
		"per_cpu/cpu1",
		"events",
		"events/sched",
		"events/sched/sched_process_fork",
		"events/syscalls",
		"events/syscalls/sys_enter_mmap",
	};
	char path[128];

	fuzz_file_folder(folder, sizeof(folder));
	for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++) {
		snprintf(path, sizeof(path), "%s/%s", folder, below[i]);
		if (mkdir(path, 0700))
			abort();
	}
}

static void fuzz_folder_put(size_t i, const uint8_t *data, size_t n)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	fuzz_file_put(fd, data, n);
	close(fd);
}

static void fuzz_folder_remove(size_t i)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
	unlink(path);
}

/* Reads what is there. The folders of tracefs always are, so the files choose
 * the reader. */
static void fuzz_folder_read(const bool *there)
{
	const struct source_ops *ops = there[META]   ? &ctf_ops
				       : there[DATA] ? &perf_ops
				       : there[TEXT] ? &ftext_ops
						     : &ftrace_ops;
	struct ledger *lg = ledger_new();
	struct err err = { 0 };
	char path[128], kallsyms[128];
	struct source_opts o = { .kallsyms =
					 there[KALLSYMS] ? kallsyms : NULL };

	snprintf(kallsyms, sizeof(kallsyms), "%s/%s", folder, names[KALLSYMS]);
	snprintf(path, sizeof(path), "%s%s%s", folder,
		 ops == &ftext_ops ? "/" : "",
		 ops == &ftext_ops ? names[TEXT] : "");
	touch_all(ops->open(path, &o, lg, &err), true);
	ledger_free(lg);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	bool there[NAMES] = { false };

	if (!folder[0])
		fuzz_folder_make();
	for (size_t at = 0; at + 3 <= size;) {
		size_t i = data[at] % NAMES;
		size_t n = data[at + 1] | (size_t)data[at + 2] << 8;

		at += 3;
		n = n < size - at ? n : size - at;
		fuzz_folder_put(i, data + at, n);
		there[i] = true;
		at += n;
	}
	fuzz_folder_read(there);
	for (size_t i = 0; i < NAMES; i++)
		if (there[i])
			fuzz_folder_remove(i);
	return 0;
}
