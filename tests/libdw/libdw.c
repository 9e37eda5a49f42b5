/* libdw.c - unwinds every stack dump of captures with libdw too, and compares.
 *
 * usage: libdw [--time] [--show CLASS] SYMFS CAPTURE [SYMFS CAPTURE...]
 * One process's files are one Dwfl that is kept while its mappings of code are
 * the same, which is the fastest way to use libdw; a file that is mapped over
 * the data of another one begins a new Dwfl, as modules must not overlap.
 * Samples that have both a chain and a dump are unwound from the dump. Frames
 * that differ belong to a class:
 *
 * unmapped  libdw's last frame is in no executable mapping; we leave it out
 * pointer   at code without a table one of the two goes on by frame pointer
 * further   libdw gives up, or goes on to what is no code, where we come to the
 *           outermost frame, or to a file that is not at hand
 * skipped   the same, but libdw goes on by frame pointer from there, so that it
 *           leaves frames out; the rest are ours
 * switched  our last function has called on another stack, which is not dumped,
 *           and libdw goes on with what is on this one
 * repeated  AArch64: libdw finds no rules, takes the frame pointer's word, and
 *           comes to the same frame twice; we come to the outermost
 * vdso      AArch64's has no rules: the caller is in the link register, where
 *           libdw takes the frame pointer's word
 *
 * signal    s390x: libdw 0.188 takes the vdso's way back from a signal for a
 *           caller, whose address it counts one back
 *
 * "ok" when all that are not identical are in a class. */
#include <elfutils/libdwfl.h>
#include <gelf.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "run.h"
#include "stitch/base/bytes.h"
#include "stitch/base/err.h"
#include "stitch/tasks/frame.h"
#include "stitch/unwinder.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/elf/elf.h"
#include "symbolize/unwind/unwind_images.h"
#include "symbolize/symbolize.h"
#include "symbolize/unwind/unwind.h"

#define FRAMES_MAX 1024
#define SPACES 64

enum outcome {
	SAME,
	UNMAPPED,
	POINTER,
	FURTHER,
	SKIPPED,
	SWITCHED,
	REPEATED,
	VDSO,
	SIGNAL,
	OTHER,
	CLASSES
};

static const char *const words[CLASSES] = { "same",	"unmapped", "pointer",
					    "further",	"skipped",  "switched",
					    "repeated", "vdso",	    "signal",
					    "other" };

/* What one process had mapped at a time, as libdw knows it. */
struct space {
	uint64_t epoch, used;
	Dwfl *dwfl;
	bool attached;
	uint64_t start[256]; /* of the regions that were reported */
	size_t n;
};

struct both {
	struct run run; /* first */
	struct space space[SPACES];
	uint64_t clock;
	size_t count[CLASSES], samples, frames;
	double our_time, their_time;
	size_t shown;
	struct unwind_images_count made;
	/* of the sample at hand */
	const struct unwind_in *in;
	const struct abi *abi;
	struct abi_values v;
	struct space *sp;
	bool stale; /* sp has a file that is not there any more */
	uint64_t ip[FRAMES_MAX];
	uint32_t n;
};

static double libdw_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Of one look at the clock, which is much for what is measured here. */
static double clock_cost;

static void try_clock(void)
{
	double t = libdw_now();

	for (int i = 0; i < 10000; i++)
		libdw_now();
	clock_cost = (libdw_now() - t) / 10001;
}

static int no_elf(Dwfl_Module *m, void **u, const char *n, Dwarf_Addr b,
		  char **f, Elf **e)
{
	(void)m, (void)u, (void)n, (void)b, (void)f, (void)e;
	return -1;
}

static int no_debug(Dwfl_Module *m, void **u, const char *n, Dwarf_Addr b,
		    const char *f, const char *l, GElf_Word crc, char **o)
{
	(void)m, (void)u, (void)n, (void)b, (void)f, (void)l, (void)crc;
	(void)o;
	return -1;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = no_elf,
	.find_debuginfo = no_debug,
	.section_address = dwfl_offline_section_address,
};

/* The address of the first page of the file's first segment. */
static bool base_of(const char *path, uint64_t bias, uint64_t *base)
{
	struct elf_file *ef = elf_file_open(path, NULL);
	bool found = false;
	GElf_Phdr ph;
	size_t n = 0;

	if (ef && !elf_getphdrnum(ef->elf, &n))
		for (size_t i = 0; i < n && !found; i++)
			if (gelf_getphdr(ef->elf, (int)i, &ph) &&
			    ph.p_type == PT_LOAD) {
				*base = bias + (ph.p_vaddr & -ph.p_align);
				found = true;
			}
	elf_file_close(ef);
	return found;
}

/* Captures made here run through our own vdso, which is no file. */
static int own_vdso(void)
{
	const Elf64_Ehdr *eh = (void *)getauxval(AT_SYSINFO_EHDR);
	int fd = eh ? memfd_create("vdso", MFD_CLOEXEC) : -1;
	size_t len = 2 * (size_t)sysconf(_SC_PAGESIZE);

	if (fd >= 0 && write(fd, eh, len) == (ssize_t)len)
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

/* Tells libdw of the file at an address, once. */
static void libdw_report(struct both *b, uint64_t pc)
{
	struct unwind_map map;
	struct space *s = b->sp;
	uint64_t vaddr, base;

	if (!b->in->find(b->in->arg, pc, &map) || !map.image || s->n == 256)
		return;
	for (size_t i = 0; i < s->n; i++)
		if (s->start[i] == map.start)
			return;
	s->start[s->n++] = map.start;
	struct unwind_image *m =
		unwind_images_of(unwind_get_images(b->run.ours), map.image);
	if (!m ||
	    !elf_vaddr(m->seg, m->n_seg, pc - map.start + map.pgoff, &vaddr))
		return;
	Dwfl_Module *known = dwfl_addrmodule(s->dwfl, pc);

	if (known) {
		const char *name = dwfl_module_info(known, NULL, NULL, NULL,
						    NULL, NULL, NULL, NULL);

		b->stale |= strcmp(name, m->path) != 0;
		return;
	}
	if (m->kind == IMAGE_VDSO && !strcmp(m->path, "[vdso]")) {
		int fd = own_vdso();

		if (fd >= 0)
			dwfl_report_elf(s->dwfl, m->path, m->path, fd,
					pc - vaddr, false);
		return;
	}
	if (!base_of(m->path, pc - vaddr, &base))
		return;
	dwfl_report_elf(s->dwfl, m->path, m->path, -1, base, false);
}

static pid_t next_thread(Dwfl *d, void *arg, void **t)
{
	(void)d;
	if (*t)
		return 0;
	*t = arg;
	return 1;
}

static bool get_thread(Dwfl *d, pid_t tid, void *arg, void **t)
{
	(void)d, (void)tid;
	*t = arg;
	return true;
}

static bool read_memory(Dwfl *d, Dwarf_Addr addr, Dwarf_Word *out, void *arg)
{
	struct both *b = arg;
	struct bytes dump;
	uint32_t half;

	(void)d;
	bytes_init(&dump, b->in->stack, b->in->stack ? b->in->len : 0, "", 0,
		   b->in->swap);
	addr -= b->v.reg[b->abi->sp];
	if (b->abi->word == 4) {
		if (bytes_peek_u32(&dump, addr, &half))
			return false;
		*out = half;
		return true;
	}
	if (bytes_peek_u64(&dump, addr, out))
		return false;
	/* libdw 0.188 is not told where authentication bits are. */
	*out &= b->in->user_mask;
	return true;
}

static bool set_registers(Dwfl_Thread *t, void *arg)
{
	struct both *b = arg;
	Dwarf_Word w[ABI_REGS];
	unsigned int n = b->abi->n_reg;

	if (b->abi->machine == EM_AARCH64)
		n = 32;
	for (unsigned int i = 0; i < n; i++)
		w[i] = b->v.reg[i] & b->in->user_mask;
	dwfl_thread_state_register_pc(t, b->v.pc);
	return dwfl_thread_state_registers(t, 0, n, w);
}

static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.get_thread = get_thread,
	.memory_read = read_memory,
	.set_initial_registers = set_registers,
};

static int libdw_take_frame(Dwfl_Frame *f, void *arg)
{
	struct both *b = arg;
	Dwarf_Addr pc;
	bool exact;

	if (!dwfl_frame_pc(f, &pc, &exact) || b->n == FRAMES_MAX)
		return DWARF_CB_ABORT;
	pc &= b->in->user_mask;
	b->ip[b->n++] = exact ? pc : pc - 1;
	libdw_report(b, b->ip[b->n - 1]);
	return DWARF_CB_OK;
}

static void libdw_begin_space(struct both *b, struct space *s)
{
	dwfl_end(s->dwfl);
	*s = (struct space){ .epoch = b->in->epoch, .used = ++b->clock };
	s->dwfl = dwfl_begin(&callbacks);
}

static struct space *libdw_space_of(struct both *b)
{
	struct space *s = &b->space[0];

	for (size_t i = 0; i < SPACES; i++) {
		if (b->space[i].dwfl && b->space[i].epoch == b->in->epoch &&
		    b->in->epoch) {
			b->space[i].used = ++b->clock;
			return &b->space[i];
		}
		if (b->space[i].used < s->used)
			s = &b->space[i];
	}
	libdw_begin_space(b, s);
	return s;
}

static void libdw_walk(struct both *b)
{
	b->n = 0;
	b->stale = false;
	abi_values(b->abi, b->in->regs, &b->v);
	libdw_report(b, b->v.pc);
	if (!b->sp->attached)
		b->sp->attached = dwfl_attach_state(b->sp->dwfl, NULL, 1,
						    &thread_callbacks, b);
	if (b->sp->attached)
		dwfl_getthread_frames(b->sp->dwfl, 1, libdw_take_frame, b);
	if (!b->n)
		b->ip[b->n++] = b->v.pc;
}

static void libdw_by_libdw(struct both *b)
{
	b->sp = libdw_space_of(b);
	libdw_walk(b);
	if (b->stale) {
		libdw_begin_space(b, b->sp);
		libdw_walk(b);
	}
}

static bool is_code(struct both *b, uint64_t pc)
{
	struct unwind_map map;

	return b->in->find(b->in->arg, pc, &map) && map.exec;
}

static bool in_vdso(struct both *b, uint64_t pc)
{
	struct unwind_map map;
	struct unwind_image *m;

	if (!b->in->find(b->in->arg, pc, &map) || !map.image)
		return false;
	m = unwind_images_of(unwind_get_images(b->run.ours), map.image);
	return m && m->kind == IMAGE_VDSO;
}

/* Are libdw's frames from `same` on the last of ours? */
static bool libdw_tail(const struct both *b, const struct unwind_out *o,
		       uint32_t same)
{
	uint32_t n = b->n - same;

	return n && same && same < o->n && n < o->n - same &&
	       !memcmp(b->ip + same, o->ip + o->n - n, n * sizeof(*o->ip));
}

static enum outcome outcome_of(struct both *b, const struct unwind_out *o)
{
	bool whole = o->end == UNWIND_OUTERMOST || o->end == UNWIND_NO_FILE;
	bool arm = b->abi->machine == EM_AARCH64;
	uint32_t n = o->n < b->n ? o->n : b->n;
	uint32_t same = 0;

	while (same < n && o->ip[same] == b->ip[same])
		same++;
	if (same == o->n && same == b->n)
		return SAME;
	if (same == o->n && o->end == UNWIND_FOREIGN)
		return SWITCHED;
	if (same == o->n && !is_code(b, b->ip[same]))
		return UNMAPPED;
	if (arm && whole && in_vdso(b, o->ip[0]))
		return VDSO;
	if ((whole || (same == b->n && o->end == UNWIND_TRUNCATED)) &&
	    (same == b->n || !is_code(b, b->ip[same])))
		return FURTHER;
	if (whole && same < b->n && libdw_tail(b, o, same))
		return SKIPPED;
	if (arm && whole && same && same < b->n &&
	    b->ip[same] == b->ip[same - 1])
		return REPEATED;
	if (b->abi->machine == EM_S390 && same < n &&
	    o->ip[same] == b->ip[same] + 1 && in_vdso(b, o->ip[same]))
		return SIGNAL;
	if (o->guessed <= same || (same == o->n && (o->end == UNWIND_NO_TABLE ||
						    o->end == UNWIND_NO_FILE)))
		return POINTER;
	return OTHER;
}

/* Whoever comes first would pay for bytes that are not in memory yet. */
static void libdw_touch(const struct unwind_in *in)
{
	const volatile unsigned char *p = in->stack;

	for (uint32_t i = 0; p && i < in->len; i += 64)
		(void)p[i];
}

/* Examples of which class to print besides OTHER. */
static enum outcome show_class = OTHER;

static void libdw_show(const struct both *b, const struct unwind_out *o)
{
	printf("  ours (ends %u):", o->end);
	for (uint32_t i = 0; i < o->n; i++)
		printf(" %" PRIx64, o->ip[i]);
	printf("\n  libdw:        ");
	for (uint32_t i = 0; i < b->n; i++)
		printf(" %" PRIx64, b->ip[i]);
	printf("\n");
}

static void libdw_unwind_both(struct unwinder *uw, const struct unwind_in *in,
			      struct unwind_out *out)
{
	struct both *b = (struct both *)uw;
	libdw_touch(in);
	double t0 = libdw_now();

	b->run.ours->ops->unwind(b->run.ours, in, out);
	if (!in->dumped)
		return;
	double t1 = libdw_now();

	b->in = in;
	/* Captures that do not say it are of this machine. */
	b->abi = abi_of(in->machine ? in->machine : EM_X86_64);
	if (!b->abi)
		return;
	libdw_by_libdw(b);
	b->our_time += t1 - t0 - clock_cost;
	b->their_time += libdw_now() - t1 - clock_cost;
	enum outcome c = outcome_of(b, out);

	b->count[c]++;
	b->samples++;
	b->frames += out->n;
	b->made = unwind_images_count(unwind_get_images(b->run.ours));
	if ((c == OTHER || c == show_class) && b->shown++ < 5)
		libdw_show(b, out);
}

static const struct unwinder_ops both_ops = {
	.unwind = libdw_unwind_both,
	.caller = run_caller,
};

static int libdw_one(const char *symfs, const char *path, bool timed)
{
	static struct both b;
	struct err err;

	memset(&b, 0, sizeof(b));
	b.run.uw.ops = &both_ops;
	b.run.dumps = true;
	int rc = run_capture(&b.run, symfs, path, &err);
	for (size_t i = 0; i < SPACES; i++)
		dwfl_end(b.space[i].dwfl);
	if (rc) {
		printf("not ok %s: %s\n", path, err.msg);
		return 1;
	}
	size_t odd = b.samples - b.count[SAME];
	bool good = b.samples && !b.count[OTHER];

	printf("%s %s: %zu of %zu samples as libdw has them",
	       good ? "ok" : "not ok", path, b.count[SAME], b.samples);
	for (size_t i = 1; odd && i < CLASSES; i++)
		if (b.count[i])
			printf(", %zu %s", b.count[i], words[i]);
	printf("\n");
	if (timed)
		printf("  %u images of code, %u tables made; %zu frames; ours %.0f samples/s, libdw %.0f "
		       "samples/s\n",
		       b.made.asked, b.made.built, b.frames,
		       (double)b.samples / b.our_time,
		       (double)b.samples / b.their_time);
	return !good;
}

int main(int argc, char **argv)
{
	bool timed = argc > 1 && !strcmp(argv[1], "--time");
	int i = 1 + timed;
	int failed = 0;

	for (int c = 0; i + 1 < argc && !strcmp(argv[i], "--show"); c++)
		if (c == CLASSES || !strcmp(argv[i + 1], words[c])) {
			show_class = (enum outcome)c;
			i += 2;
		}
	try_clock();
	for (; i + 1 < argc; i += 2)
		failed |= libdw_one(argv[i], argv[i + 1], timed);
	return failed;
}
