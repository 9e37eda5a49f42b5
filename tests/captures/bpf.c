/* bpf.c - a program of two functions of BPF, which call functions of the
 * kernel, at each of many system calls. Built by
 * gcc -O1 -fno-omit-frame-pointer -static -o loader bpf.c */
#define _GNU_SOURCE
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>

#define I(c, d, s, o, i)                                                       \
	{                                                                      \
		.code = c, .dst_reg = d, .src_reg = s, .off = o, .imm = i      \
	}
static char log_[65536];
int main(int, char **argv)
{
	/* r6 = 300; loop: call f; call ktime; r6 -= 1; if r6 goto loop; exit
	 * f: call get_smp; call get_prandom; exit */
	struct bpf_insn p[] = {
		I(0xb7, 6, 0, 0, 60),
		I(0x85, 0, 1, 0, 5), /* call f (+5) */
		I(0x85, 0, 0, 0, 5), /* bpf_ktime_get_ns */
		I(0x07, 6, 0, 0, -1),
		I(0x55, 6, 0, -4, 0),
		I(0xb7, 0, 0, 0, 0),
		I(0x95, 0, 0, 0, 0),
		/* f */
		I(0x85, 0, 0, 0, 7), /* get_prandom_u32 */
		I(0x85, 0, 0, 0, 5), /* ktime */
		I(0xb7, 0, 0, 0, 0),
		I(0x95, 0, 0, 0, 0),
	};
	union bpf_attr a;
	memset(&a, 0, sizeof a);
	a.prog_type = BPF_PROG_TYPE_TRACEPOINT;
	a.insns = (unsigned long)p;
	a.insn_cnt = sizeof p / sizeof *p;
	a.license = (unsigned long)"GPL";
	a.log_buf = (unsigned long)log_;
	a.log_size = sizeof log_;
	a.log_level = 1;
	memcpy(a.prog_name, "busy", sizeof("busy"));
	int fd = syscall(__NR_bpf, BPF_PROG_LOAD, &a, sizeof a);
	if (fd < 0) {
		perror(log_);
		return 1;
	}
	FILE *f = fopen("/sys/kernel/tracing/events/raw_syscalls/sys_enter/id",
			"r");
	int id;
	if (!f || fscanf(f, "%d", &id) != 1) {
		perror("id");
		return 1;
	}
	struct perf_event_attr e = { .type = PERF_TYPE_TRACEPOINT,
				     .size = sizeof e,
				     .config = id,
				     .sample_period = 1 };
	int ev = syscall(__NR_perf_event_open, &e, 0, -1, -1, 0);
	if (ev < 0) {
		perror("open");
		return 1;
	}
	if (ioctl(ev, PERF_EVENT_IOC_SET_BPF, fd) ||
	    ioctl(ev, PERF_EVENT_IOC_ENABLE, 0)) {
		perror("set");
		return 1;
	}
	for (long i = 0; i < strtol(argv[1], NULL, 10); i++)
		syscall(__NR_getppid);
	return 0;
}
