/* truth.c - the stacks of the dumps of a perf.data, by libdw.
 *
 * usage: truth CAPTURE
 * Shares no code with backstitch. Of every sample, in the order of the file:
 *
 *   S END PID ADDRESS[!]...   the stack, innermost first; "!": not a return
 *                             address, but what was interrupted
 *   N PID ADDRESS KIND FROM TO FUNCTION   in front of the first that needs it
 *
 * END: "outermost" where the unwind table says that nobody returns, or at a
 * start of musl or Go, whose tables do not; "dump": the
 * rest is not in the dump; "no-table", "no-code": a frame that libdw found has
 * none (it goes on by frame pointer, which proves nothing); "deep".
 * KIND: c in the C library or the loader, v in the vdso, e the function of the
 * ELF entry, "-" else. FILE.full is read in place of FILE where it is: a
 * stripped file's names. */
#include <dwarf.h>
#include <elfutils/libdwfl.h>
#include <fcntl.h>
#include <gelf.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <search.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

#define FRAMES_MAX 2048
#define MAPS_MAX 4096
#define PROCS_MAX 64
#define CODE 4 /* PROT_EXEC */

#if defined(__x86_64__)
#define N_REGS 17
#define REG_RETURN 16
#define REG_SP 7
#define BIT_PC 8
#else /* AArch64 */
#define N_REGS 32
#define REG_RETURN 30
#define REG_SP 31
#define BIT_PC 32
#endif

/* DWARF's number of a register of perf's order. */
static int dwarf_of_perf(int bit)
{
#if defined(__x86_64__)
	static const int low[] = { 0, 3, 2, 1, 4, 5, 6, 7, 16 };

	return bit < 9 ? low[bit] : bit >= 16 && bit < 24 ? bit - 8 : -1;
#else
	return bit;
#endif
}

struct map {
	uint64_t start, end, off;
	char path[256];
};

struct proc {
	uint32_t pid;
	Dwfl *dwfl;
	struct map map[MAPS_MAX];
	size_t n;
	bool stale;
};

static struct {
	const unsigned char *stack;
	uint64_t sp, stack_len, pc, reg[N_REGS];
	uint64_t ip[FRAMES_MAX];
	bool exact[FRAMES_MAX];
	uint32_t n;
	bool beyond; /* the dump */
} look;

static struct proc *procs[PROCS_MAX];

static int truth_no_elf(Dwfl_Module *m, void **u, const char *n, Dwarf_Addr b,
			char **f, Elf **e)
{
	(void)m, (void)u, (void)n, (void)b, (void)f, (void)e;
	return -1;
}

/* Names of the C library, where its package of names is installed. */
static char debug_path[] = "/usr/lib/debug";
static char *debug_paths = debug_path;

static const Dwfl_Callbacks truth_callbacks = {
	.find_elf = truth_no_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo,
	.debuginfo_path = &debug_paths,
	.section_address = dwfl_offline_section_address,
};

static struct proc *truth_proc_of(uint32_t pid)
{
	size_t i = 0;

	while (i < PROCS_MAX && procs[i] && procs[i]->pid != pid)
		i++;
	if (i == PROCS_MAX)
		exit(3);
	if (!procs[i]) {
		procs[i] = calloc(1, sizeof(**procs));
		if (!procs[i])
			exit(3);
		procs[i]->pid = pid;
	}
	return procs[i];
}

static void truth_map_add(struct proc *p, uint64_t start, uint64_t size,
			  uint64_t off, const char *path)
{
	size_t kept = 0;

	for (size_t i = 0; i < p->n; i++)
		if (p->map[i].end <= start || p->map[i].start >= start + size)
			p->map[kept++] = p->map[i];
	p->n = kept;
	if (p->n == MAPS_MAX)
		exit(3);
	struct map *m = &p->map[p->n++];

	m->start = start;
	m->end = start + size;
	m->off = off;
	snprintf(m->path, sizeof(m->path), "%s", path);
	p->stale = true;
}

/* Recorded here: the vdso is our own. */
static int truth_vdso_file(void)
{
	const char *eh = (const char *)(uintptr_t)getauxval(AT_SYSINFO_EHDR);
	FILE *f = eh ? tmpfile() : NULL;

	if (!f || fwrite(eh, 1, 8192, f) != 8192 || fflush(f))
		return -1;
	return dup(fileno(f));
}

/* How far the file is from where it says it wants to be. */
static bool truth_bias_of(int fd, const struct map *m, uint64_t *bias)
{
	Elf *e = elf_begin(fd, ELF_C_READ, NULL);
	bool found = false;
	GElf_Phdr ph;
	size_t n = 0;

	if (e && !elf_getphdrnum(e, &n))
		for (size_t i = 0; i < n && !found; i++)
			if (gelf_getphdr(e, (int)i, &ph) &&
			    ph.p_type == PT_LOAD && (ph.p_flags & PF_X) &&
			    m->off + (m->end - m->start) > ph.p_offset &&
			    m->off < ph.p_offset + ph.p_filesz) {
				*bias = m->start - m->off + ph.p_offset -
					ph.p_vaddr;
				found = true;
			}
	elf_end(e);
	return found;
}

static pid_t truth_next_thread(Dwfl *d, void *arg, void **t)
{
	(void)d;
	if (*t)
		return 0;
	*t = arg;
	return 1;
}

static bool truth_memory_read(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *out,
			      void *arg)
{
	(void)d, (void)arg;
	if (addr < look.sp || addr - look.sp > look.stack_len ||
	    look.stack_len - (addr - look.sp) < 8) {
		look.beyond = true;
		return false;
	}
	memcpy(out, look.stack + (addr - look.sp), 8);
	return true;
}

static bool truth_set_registers(Dwfl_Thread *t, void *arg)
{
	Dwarf_Word w[N_REGS];

	(void)arg;
	for (int i = 0; i < N_REGS; i++)
		w[i] = look.reg[i];
	dwfl_thread_state_register_pc(t, look.pc);
	return dwfl_thread_state_registers(t, 0, N_REGS, w);
}

static const Dwfl_Thread_Callbacks truth_thread_callbacks = {
	.next_thread = truth_next_thread,
	.memory_read = truth_memory_read,
	.set_initial_registers = truth_set_registers,
};

static void truth_report(struct proc *p)
{
	dwfl_end(p->dwfl);
	p->dwfl = dwfl_begin(&truth_callbacks);
	dwfl_report_begin(p->dwfl);
	for (size_t i = 0; i < p->n; i++) {
		const struct map *m = &p->map[i];
		char full[300];
		uint64_t bias;

		snprintf(full, sizeof(full), "%s.full", m->path);
		int fd = !strcmp(m->path, "[vdso]") ? truth_vdso_file()
						    : open(full, O_RDONLY);
		if (fd < 0 && m->path[0] == '/')
			fd = open(m->path, O_RDONLY);
		if (fd < 0)
			continue;
		if (!truth_bias_of(fd, m, &bias) ||
		    !dwfl_report_elf(p->dwfl, m->path, m->path, fd, bias, true))
			close(fd);
	}
	dwfl_report_end(p->dwfl, NULL, NULL);
	dwfl_attach_state(p->dwfl, NULL, 1, &truth_thread_callbacks, p);
	p->stale = false;
}

static int truth_take_frame(Dwfl_Frame *f, void *arg)
{
	(void)arg;
	if (look.n == FRAMES_MAX ||
	    !dwfl_frame_pc(f, &look.ip[look.n], &look.exact[look.n]))
		return DWARF_CB_ABORT;
	look.n++;
	return DWARF_CB_OK;
}

/* Beginnings of threads whose tables do not say so: musl has none, and those
 * of Go give a caller to the first function of a goroutine. */
static bool truth_is_start(Dwfl_Module *m, uint64_t pc)
{
	static const char *const names[] = {
		"_start",
		"_start_c",
		"libc_start_main_stage2",
		"__clone",
		"clone",
		"start",
		"runtime.goexit.abi0",
		"runtime.goexit",
		"runtime.rt0_go.abi0",
		"runtime.mstart.abi0",
		"runtime.mstart",
	};
	const char *name = dwfl_module_addrname(m, pc);

	for (size_t i = 0; name && i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(name, names[i]))
			return true;
	return false;
}

/* NULL: go on. */
static const char *truth_end_at(Dwfl *d, uint32_t i)
{
	uint64_t pc = look.exact[i] ? look.ip[i] : look.ip[i] - 1;
	Dwfl_Module *m = dwfl_addrmodule(d, pc);
	Dwarf_Addr bias = 0;
	Dwarf_Frame *f = NULL;
	Dwarf_Op mem[3], *ops;
	size_t n;

	if (!m)
		return "no-code";
	for (int eh = 1; eh >= 0 && !f; eh--) {
		Dwarf_CFI *cfi = eh ? dwfl_module_eh_cfi(m, &bias)
				    : dwfl_module_dwarf_cfi(m, &bias);

		if (cfi && dwarf_cfi_addrframe(cfi, pc - bias, &f))
			f = NULL;
	}
	if (!f)
		return truth_is_start(m, pc) ? "outermost" : "no-table";
	bool last = !dwarf_frame_register(f, REG_RETURN, mem, &ops, &n) && !n &&
		    ops == mem;

	free(f);
	return last || truth_is_start(m, pc) ? "outermost" : NULL;
}

static int truth_same_name(const void *a, const void *b)
{
	return strcmp(a, b);
}

static void truth_name_of(const struct proc *p, uint64_t ip, bool exact)
{
	static void *known;
	uint64_t pc = exact ? ip : ip - 1;
	Dwfl_Module *m = dwfl_addrmodule(p->dwfl, pc);
	const char *path = m ? dwfl_module_info(m, NULL, NULL, NULL, NULL, NULL,
						NULL, NULL)
			     : "?";
	GElf_Addr bias;
	Elf *e = m ? dwfl_module_getelf(m, &bias) : NULL;
	const char *base = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;
	GElf_Off off = 0;
	GElf_Sym sym;
	const char *name =
		m ? dwfl_module_addrinfo(m, pc, &off, &sym, NULL, NULL, NULL)
		  : NULL;
	GElf_Ehdr eh;
	char kind = '-';
	char *line;

	if (!strncmp(base, "libc.so", 7) || !strncmp(base, "ld-", 3) ||
	    !strncmp(base, "libpthread", 10) || !strncmp(base, "libc.musl", 9))
		kind = 'c';
	else if (!strcmp(path, "[vdso]"))
		kind = 'v';
	else if (e && gelf_getehdr(e, &eh) &&
		 pc - (eh.e_entry + bias) < (name ? sym.st_size + 1 : 48))
		kind = 'e';
	if (asprintf(&line,
		     "N %" PRIu32 " %" PRIx64 " %c %" PRIx64 " %" PRIx64 " %s",
		     p->pid, ip, kind, name ? pc - off : 0,
		     name ? pc - off + sym.st_size : 0, name ? name : "?") < 0)
		exit(3);
	if (*(char **)tsearch(line, &known, truth_same_name) == line)
		puts(line);
	else
		free(line);
}

static void truth_unwind(struct proc *p)
{
	const char *end = NULL;

	if (p->stale || !p->dwfl)
		truth_report(p);
	look.n = 0;
	look.beyond = false;
	dwfl_getthread_frames(p->dwfl, 1, truth_take_frame, NULL);
	if (!look.n) {
		look.ip[look.n] = look.pc;
		look.exact[look.n++] = true;
	}
	for (uint32_t i = 0; i < look.n && !end; i++) {
		end = truth_end_at(p->dwfl, i);
		if (end && strcmp(end, "no-code") != 0)
			look.n = i + 1;
		else if (end)
			look.n = i;
		if (i < look.n)
			truth_name_of(p, look.ip[i], look.exact[i]);
	}
	if (!end)
		end = look.beyond	     ? "dump"
		      : look.n == FRAMES_MAX ? "deep"
					     : "other";
	printf("S %s %u", end, p->pid);
	for (uint32_t i = 0; i < look.n; i++)
		printf(" %" PRIx64 "%s", look.ip[i], look.exact[i] ? "!" : "");
	printf("\n");
}

static uint64_t truth_u64_at(const unsigned char *b)
{
	uint64_t v;

	memcpy(&v, b, sizeof(v));
	return v;
}

static void truth_take_sample(const unsigned char *b,
			      const struct perf_event_attr *a)
{
	uint32_t pid;

	memcpy(&pid, b + 8, sizeof(pid));
	b += 24;
	if (a->sample_type & PERF_SAMPLE_CALLCHAIN)
		b += 8 + 8 * truth_u64_at(b);
	struct proc *p = truth_proc_of(pid);

	memset(look.reg, 0, sizeof(look.reg));
	look.stack_len = 0;
	if (truth_u64_at(b)) {
		b += 8;
		for (int bit = 0; bit < 64; bit++) {
			if (!(a->sample_regs_user >> bit & 1))
				continue;
			int to = dwarf_of_perf(bit);

			if (bit == BIT_PC)
				look.pc = truth_u64_at(b);
			if (to >= 0 && to < N_REGS)
				look.reg[to] = truth_u64_at(b);
			b += 8;
		}
		look.sp = look.reg[REG_SP];
		look.stack = b + 8;
		look.stack_len = truth_u64_at(b);
		if (look.stack_len)
			look.stack_len =
				truth_u64_at(look.stack + look.stack_len);
	} else {
		printf("S no-registers %u\n", pid);
		return;
	}
	truth_unwind(p);
}

static void truth_take_record(const unsigned char *b,
			      const struct perf_event_attr *a)
{
	struct perf_event_header h;
	uint32_t pid, from, prot;

	memcpy(&h, b, sizeof(h));
	memcpy(&pid, b + 8, sizeof(pid));
	if (h.type == PERF_RECORD_SAMPLE) {
		truth_take_sample(b + 8, a);
	} else if (h.type == PERF_RECORD_MMAP2) {
		memcpy(&prot, b + 64, sizeof(prot));
		if (prot & CODE)
			truth_map_add(truth_proc_of(pid), truth_u64_at(b + 16),
				      truth_u64_at(b + 24),
				      truth_u64_at(b + 32),
				      (const char *)b + 72);
	} else if (h.type == PERF_RECORD_COMM &&
		   h.misc & PERF_RECORD_MISC_COMM_EXEC) {
		truth_proc_of(pid)->n = 0;
		truth_proc_of(pid)->stale = true;
	} else if (h.type == PERF_RECORD_FORK) {
		memcpy(&from, b + 12, sizeof(from));
		if (pid == from)
			return;
		struct proc *p = truth_proc_of(pid),
			    *parent = truth_proc_of(from);

		p->n = parent->n;
		memcpy(p->map, parent->map, p->n * sizeof(*p->map));
		p->stale = true;
	}
}

int main(int argc, char **argv)
{
	struct perf_event_attr a = { 0 };
	struct perf_event_header h;
	struct stat st;
	FILE *f = argc == 2 ? fopen(argv[1], "r") : NULL;

	if (!f || fstat(fileno(f), &st) || st.st_size < 104)
		return 2;
	unsigned char *b = malloc((size_t)st.st_size);

	if (!b || fread(b, 1, (size_t)st.st_size, f) != (size_t)st.st_size)
		return 2;
	elf_version(EV_CURRENT);
	memcpy(&a, b + truth_u64_at(b + 24), sizeof(a));
	uint64_t at = truth_u64_at(b + 40), end = at + truth_u64_at(b + 48);

	for (; at < end; at += h.size) {
		memcpy(&h, b + at, sizeof(h));
		truth_take_record(b + at, &a);
	}
	return 0;
}
