/* record.c - records of each sample both what perf -g and what perf
 * --call-graph dwarf would: the kernel's chain along frame pointers, and
 * registers with a dump of the stack.
 *
 * usage: record OUT HERTZ DUMP COMMAND [ARGUMENT...]
 * perf has one or the other. OUT is a perf.data of one event, in order of time:
 * a clock of the processor, in user mode only, of the command and its threads
 * and children. */
#define _GNU_SOURCE
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS_MAX 256
#define RING (1u << 24)
#define HEAD 104

struct ring {
	struct perf_event_mmap_page *page;
	uint64_t tail;
};

struct order {
	uint64_t time;
	size_t at;
};

static struct ring ring[CPUS_MAX];
static char *records;
static size_t len, room;

#if defined(__x86_64__)
#define REGS 0xff0fffull /* all but the segments ds, es, fs and gs */
#else
#define REGS ((1ull << 33) - 1) /* AArch64: x0 to x30, sp, pc */
#endif

static struct perf_event_attr record_wanted(const char *hertz, const char *dump)
{
	struct perf_event_attr a = {
		.size = sizeof(a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.freq = 1,
		.sample_freq = strtoul(hertz, NULL, 10),
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TID |
			       PERF_SAMPLE_TIME | PERF_SAMPLE_CALLCHAIN |
			       PERF_SAMPLE_REGS_USER | PERF_SAMPLE_STACK_USER,
		.sample_regs_user = REGS,
		.sample_stack_user = (uint32_t)strtoul(dump, NULL, 10),
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.exclude_callchain_kernel = 1,
		.disabled = 1,
		.enable_on_exec = 1,
		.inherit = 1,
		.mmap = 1,
		.mmap_data =
			1, /* perf unwinds only by tables that are mapped */
		.mmap2 = 1,
		.build_id = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.sample_id_all = 1,
	};

	return a;
}

static void ring_take(struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
	const char *data = (const char *)r->page + r->page->data_offset;

	if (len + (head - r->tail) > room) {
		room = 2 * (len + (head - r->tail));
		records = realloc(records, room);
		if (!records)
			exit(1);
	}
	while (r->tail < head) {
		size_t off = r->tail & (RING - 1);
		size_t n = head - r->tail;

		if (n > RING - off)
			n = RING - off;
		memcpy(records + len, data + off, n);
		len += n;
		r->tail += n;
	}
	__atomic_store_n(&r->page->data_tail, r->tail, __ATOMIC_RELEASE);
}

static int record_earlier(const void *a, const void *b)
{
	const struct order *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

static int record_put(const char *path, const struct perf_event_attr *a)
{
	uint64_t head[HEAD / 8] = { 0 }, no_ids[2] = { 0 };
	size_t n = 0, max = len / 16;
	struct order *o = malloc((max + 1) * sizeof(*o));
	FILE *f = fopen(path, "w");

	if (!o || !f)
		return 1;
	for (size_t at = 0; at < len;) {
		struct perf_event_header h;

		memcpy(&h, records + at, sizeof(h));
		o[n].at = at;
		/* behind IP and TID; of the others the last of the record */
		memcpy(&o[n].time,
		       records + at +
			       (h.type == PERF_RECORD_SAMPLE ? sizeof(h) + 16
							     : h.size - 8u),
		       8);
		n++;
		at += h.size;
	}
	qsort(o, n, sizeof(*o), record_earlier);
	memcpy(head, "PERFILE2", 8);
	head[1] = HEAD;
	head[2] = sizeof(*a) + sizeof(no_ids);
	head[3] = HEAD;
	head[4] = head[2];
	head[5] = HEAD + head[2];
	head[6] = len;
	fwrite(head, 1, HEAD, f);
	fwrite(a, 1, sizeof(*a), f);
	fwrite(no_ids, 1, sizeof(no_ids), f);
	for (size_t i = 0; i < n; i++) {
		struct perf_event_header h;

		memcpy(&h, records + o[i].at, sizeof(h));
		fwrite(records + o[i].at, 1, h.size, f);
	}
	free(o);
	return fclose(f) != 0;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_CONF);
	int go[2], status = 0, n = 0;
	char byte = 0;

	if (argc < 5 || cpus > CPUS_MAX || pipe(go))
		return 2;
	struct perf_event_attr a = record_wanted(argv[2], argv[3]);
	pid_t child = fork();

	if (!child) {
		close(go[1]);
		if (read(go[0], &byte, 1) != 1)
			_exit(1);
		execvp(argv[4], argv + 4);
		_exit(127);
	}
	for (int cpu = 0; cpu < cpus; cpu++) {
		int fd = (int)syscall(SYS_perf_event_open, &a, child, cpu, -1,
				      PERF_FLAG_FD_CLOEXEC);

		if (fd < 0)
			continue;
		ring[n].page = mmap(NULL, RING + 4096, PROT_READ | PROT_WRITE,
				    MAP_SHARED, fd, 0);
		n += ring[n].page != MAP_FAILED;
	}
	if (!n) {
		fprintf(stderr, "record: no event can be opened\n");
		return 3; /* without its byte the child ends */
	}
	if (write(go[1], &byte, 1) != 1)
		return 1;
	for (;;) {
		pid_t ended = waitpid(child, &status, WNOHANG);

		for (int i = 0; i < n; i++)
			ring_take(&ring[i]);
		if (ended == child)
			break;
		usleep(20000);
	}
	if (record_put(argv[1], &a))
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
