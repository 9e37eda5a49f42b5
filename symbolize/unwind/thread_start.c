/* thread_start.c - decides whether a thread begins in the function in which a
 * stack ends. */
#include "symbolize/unwind/thread_start.h"

#include <gelf.h>

#include "stitch/base/mem.h"
#include "symbolize/cfi/abi.h"
#include "symbolize/cfi/cfi.h"
#include "symbolize/disasm/code_refs.h"
#include "symbolize/disasm/frame_code.h"
#include "symbolize/elf/elf.h"
#include "symbolize/elf/plt.h"
#include "symbolize/unwind/callsite.h"
#include "symbolize/unwind/callsite_file.h"
#include "symbolize/unwind/frame_share.h"

/* Bytes of startup code without a table at a file's entry point. */
#define ENTRY_MAX 256
/* pthread_create() of glibc 2.36 has 3,821 bytes. */
#define FUNCTION_MAX 16384
/* The most bytes between the instruction that loads the address of a start
 * routine and the call that gets it: 23 bytes in libstdc++, 130 in glibc's
 * create_thread(). */
#define HANDED_MAX 192
#define CHUNK 65536
/* The most bytes from setting the frame pointer to 0 to the end of the call. */
#define MARK_MAX 16
#define SLOTS_MAX 8
#define STARTERS_MAX 32
/* A file with more functions than this is no C library, nor a program with one:
 * glibc 2.36 has 3,600. clone() of glibc for x86-64 has 10 bytes between its
 * two tables, for AArch64 16. */
#define CLONE_FUNCTIONS 20000
#define CLONE_GAP 64

/* Functions that these files define and in which a thread begins. */
static const char *const thread_start_names[] = {
	/* glibc, musl: what crt1.o calls; musl 1.2 has no tables */
	"__libc_start_main", "_start_c", "libc_start_main_stage2", "__clone",
	/* bionic (libc_init_dynamic.cpp, clone.cpp) and uClibc 0.9.28
	 * (__uClibc_main.c): each exits after its callee returns */
	"__libc_init", "__start_thread", "__uClibc_main",
	/* Go 1.19, runtime/asm_*.s and rt0_*.s: a goroutine, a thread, and the
	 * first one. */
	"runtime.goexit", "runtime.goexit.abi0", "runtime.mstart",
	"runtime.mstart.abi0", "runtime.rt0_go", "runtime.rt0_go.abi0",
	"_rt0_amd64", "_rt0_amd64_linux", "_rt0_arm64_linux", "_rt0_386",
	"_rt0_386_linux", "_rt0_s390x_linux",
	/* D's runtime (druntime, core/thread): of a thread and of a fiber. */
	"thread_entryPoint", "fiber_entryPoint"
};

/* Functions that get the address of a start routine, in some argument:
 * pthread_create(3), thrd_create(3), uv_thread_create(3) of libuv 1.44
 * (src/unix/thread.c), Create_Task of GNAT 12 (libgnarl/s-taprop.ads). Callers
 * of them: std::thread of libstdc++ 12 (src/c++11/thread.cc), std::thread of
 * Rust 1.63 (library/std/src/sys/unix/thread.rs), HotSpot 17 (os_linux.cpp),
 * V8, glib. */
static const char *const thread_starters_name[] = {
	"pthread_create", "thrd_create", "uv_thread_create",
	"uv_thread_create_ex",
	"system__task_primitives__operations__create_task"
};
static const uint8_t thread_starters_argument[] = { 2, 1, 1, 2, 1 };

/* ---- references */

static void thread_start_add(struct thread_starts *t, uint64_t addr,
			     enum thread_start kind, bool handed)
{
	*mem_add(t->of, t->n, t->cap) =
		(struct thread_start_of){ addr, kind, handed };
}

static bool thread_start_is_function(const struct callsite_file *f,
				     uint64_t addr)
{
	uint64_t start, end;

	return callsite_function_at(f, addr, &start, &end) && start == addr;
}

/* Returns the code of the function at an ELF address, for the caller to free;
 * NULL if it cannot be read. */
static unsigned char *thread_start_read(const struct callsite_file *f,
					uint64_t addr, size_t *len)
{
	uint64_t start, end;

	*len = 0;
	if (!callsite_function_at(f, addr, &start, &end) || start != addr ||
	    end - start > FUNCTION_MAX)
		return NULL;
	unsigned char *code = mem_new((size_t)(end - start) + 1, 1);

	*len = elf_read_code(f->ef, start, code, (size_t)(end - start));
	return code;
}

static uint64_t thread_start_named(const struct callsite_file *f,
				   const char *name)
{
	size_t n;
	const struct callsite_name *nm = callsite_find_names(
		f, callsite_hash_name(name, strlen(name)), &n);

	return n && !nm->chosen ? nm->addr : 0;
}

/* ---- the first functions of the C library */

/* Adds the function that calls main(). The one that _start calls also calls it
 * or, in musl, jumps to its address; and it passes on the result of main(). */
static void thread_start_add_reached(const struct callsite_file *f,
				     struct thread_starts *t, uint64_t from)
{
	struct code_refs refs;
	struct code_ref ref;
	size_t len;
	unsigned char *code OWNED = thread_start_read(f, from, &len);

	if (code_refs_init(&refs, f->machine, code, len, from))
		while (code_refs_next(&refs, &ref))
			if (ref.kind != CODE_REF_SLOT &&
			    thread_start_is_function(f, ref.to))
				thread_start_add(t, ref.to, START_LIBRARY,
						 true);
}

/* Adds the function to which the entry passes main(): __libc_start_main(),
 * which has no name in a static program without symbols. */
static void thread_start_add_first(const struct callsite_file *f,
				   struct thread_starts *t, uint64_t from,
				   bool named)
{
	const unsigned int first = code_refs_argument(f->machine, 0);
	struct code_refs refs;
	struct code_ref ref;
	size_t len;
	unsigned char *code OWNED = thread_start_read(f, from, &len);

	if (!code_refs_init(&refs, f->machine, code, len, from))
		len = 0;
	while (len && code_refs_next(&refs, &ref)) {
		if (ref.kind == CODE_REF_SLOT ||
		    !thread_start_is_function(f, ref.to))
			continue;
		if (ref.kind == CODE_REF_ADDRESS && ref.reg == first)
			thread_start_add(t, ref.to, START_ENTRY, false);
		if (ref.kind != CODE_REF_CALL || named)
			continue;
		thread_start_add(t, ref.to, START_LIBRARY, false);
		thread_start_add_reached(f, t, ref.to);
	}
}

/* ---- routines that a runtime passes to pthread_create() */

/* A function of thread_starters_name, as a file calls it. */
struct thread_starter {
	uint64_t addr; /* address of the function, its stub or its slot */
	bool slot;
	unsigned int reg;
};

/* Adds a function that takes the routine in any of the first arguments. */
static size_t thread_start_list_any(const struct callsite_file *f,
				    uint64_t addr,
				    struct thread_starter out[STARTERS_MAX],
				    size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (out[i].addr == addr)
			return n;
	for (unsigned int i = 0; i < 3 && n < STARTERS_MAX; i++)
		out[n++] = (struct thread_starter){
			addr, false, code_refs_argument(f->machine, i)
		};
	return n;
}

/* Lists clone() of the C library, which has no name in a stripped file: its
 * table ends at the system call, and the next table, for the child's code, has
 * no return address. */
static size_t thread_start_list_clones(const struct callsite_file *f,
				       struct thread_starter out[STARTERS_MAX])
{
	size_t all = f->cfi ? cfi_functions(f->cfi) : 0;
	size_t n = 0;

	if (all > CLONE_FUNCTIONS)
		return 0;
	for (size_t i = 1; i < all; i++) {
		uint64_t start, end, parent, parent_end;
		struct cfi_rules r;

		cfi_range(f->cfi, i, &start, &end);
		cfi_range(f->cfi, i - 1, &parent, &parent_end);
		if (start > parent_end && start - parent_end <= CLONE_GAP &&
		    cfi_rules(f->cfi, start, &r) &&
		    r.reg[r.ra].kind == RULE_UNDEFINED)
			n = thread_start_list_any(f, parent, out, n);
	}
	return n;
}

static unsigned int thread_start_argument(const struct callsite_file *f,
					  size_t name)
{
	return code_refs_argument(f->machine, thread_starters_argument[name]);
}

/* Lists the functions of thread_starters_name after n others, and the kinds of
 * calls to all of them. */
static size_t thread_start_list(const struct callsite_file *f,
				struct thread_starter out[STARTERS_MAX],
				size_t n, unsigned int *kinds)
{
	struct plt_slot slot[SLOTS_MAX];
	size_t slots = 0;
	bool stubs = false;

	for (size_t k = 0; k < ARRAY_SIZE(thread_starters_name); k++) {
		const char *name = thread_starters_name[k];
		size_t len = strlen(name);
		unsigned int reg = thread_start_argument(f, k);
		uint64_t own = thread_start_named(f, name);

		if (own && n < STARTERS_MAX)
			out[n++] = (struct thread_starter){ own, false, reg };
		for (size_t i = 0; i < f->stubs.n && n < STARTERS_MAX; i++) {
			const struct sym *s = &f->stubs.sym[i];

			if (strncmp(s->name, name, len) || s->name[len] != '@')
				continue;
			out[n++] =
				(struct thread_starter){ s->start, false, reg };
			stubs = true;
		}
	}
	/* A file is linked with stubs or, as Rust's, without any; to read all
	 * relocations takes as long as to read the code. */
	if (!stubs)
		slots = plt_slots(f->ef, thread_starters_name,
				  ARRAY_SIZE(thread_starters_name), slot,
				  SLOTS_MAX);
	*kinds = 1 << CODE_REF_CALL | (slots ? 1 << CODE_REF_SLOT : 0);
	for (size_t i = 0; i < slots && n < STARTERS_MAX; i++)
		out[n++] = (struct thread_starter){ slot[i].addr, true,
						    thread_start_argument(
							    f, slot[i].name) };
	return n;
}

/* Returns the address that was last loaded into a register before a call; 0:
 * none. */
static uint64_t thread_start_handed(const struct callsite_file *f,
				    const unsigned char *code, size_t at,
				    uint64_t addr, unsigned int reg)
{
	size_t n = at < HANDED_MAX ? at : HANDED_MAX;
	struct code_refs refs;
	struct code_ref ref;
	uint64_t to = 0;

	n -= n % 4 * (f->machine == EM_AARCH64);
	code_refs_init(&refs, f->machine, code + at - n, n, addr + at - n);
	while (code_refs_next(&refs, &ref))
		if (ref.kind == CODE_REF_ADDRESS && ref.reg == reg &&
		    thread_start_is_function(f, ref.to))
			to = ref.to;
	return to;
}

/* The file, what was found, and the n functions that start threads. */
struct thread_start_search {
	const struct callsite_file *f;
	struct thread_starts *t;
	struct thread_starter s[STARTERS_MAX];
	size_t n, clones;  /* the first of them are clone() */
	uint64_t routines; /* a bit for some of each routine's address bits, to
			      skip others fast */
};

static uint64_t thread_start_bit(uint64_t addr)
{
	return (uint64_t)1 << addr / 16 % 64;
}

typedef void thread_start_ref_fn(struct thread_start_search *k,
				 const struct code_refs *refs,
				 const struct code_ref *ref);

/* glibc calls clone() from __clone_internal(), which gets the address; on
 * AArch64 it jumps there. */
static void thread_start_take_caller(struct thread_start_search *k,
				     const struct code_refs *refs,
				     const struct code_ref *ref)
{
	uint64_t start, end;

	for (size_t i = 0; i < k->clones; i++)
		if (k->s[i].addr == ref->to &&
		    callsite_function_at(k->f, refs->addr + ref->off, &start,
					 &end)) {
			k->n = thread_start_list_any(k->f, start, k->s, k->n);
			return;
		}
}

static void thread_start_take_call(struct thread_start_search *k,
				   const struct code_refs *refs,
				   const struct code_ref *ref)
{
	const struct callsite_file *f = k->f;
	struct thread_starts *t = k->t;
	const struct thread_starter *s = k->s;

	for (size_t i = 0; i < k->n; i++) {
		if (s[i].addr != ref->to ||
		    s[i].slot != (ref->kind == CODE_REF_SLOT))
			continue;
		uint64_t to = thread_start_handed(f, refs->code, ref->off,
						  refs->addr, s[i].reg);

		if (to)
			thread_start_add(t, to, START_ROUTINE, false);
	}
}

/* A routine that is also called directly may have a caller: drop it. */
static void thread_start_drop_called(struct thread_start_search *k,
				     const struct code_refs *refs UNUSED,
				     const struct code_ref *ref)
{
	struct thread_starts *t = k->t;

	if (!(k->routines & thread_start_bit(ref->to)))
		return;
	for (size_t i = 0; i < t->n; i++)
		if (t->of[i].kind == START_ROUTINE && t->of[i].addr == ref->to)
			t->of[i].kind = START_UNKNOWN;
}

/* Calls fn for each call and jump in the code of the file. */
static void thread_start_scan(struct thread_start_search *k, unsigned int kinds,
			      thread_start_ref_fn *fn)
{
	const struct callsite_file *f = k->f;
	unsigned char *code OWNED = mem_new(HANDED_MAX + CHUNK, 1);

	for (size_t i = 0; i < f->n_seg; i++) {
		uint64_t at = f->seg[i].vaddr;
		size_t kept = 0; /* bytes that are left of the previous chunk */
		size_t got;

		while ((got = elf_read_code(f->ef, at, code + kept, CHUNK))) {
			struct code_refs refs;
			struct code_ref ref;

			code_refs_init(&refs, f->machine, code, kept + got,
				       at - kept);
			/* skip the references of the previous chunk, except
			 * those that were cut */
			refs.off = kept > 8 ? kept - 8 : 0;
			while (code_refs_next_to(&refs, kinds, &ref))
				fn(k, &refs, &ref);
			size_t keep = kept + got < HANDED_MAX ? kept + got
							      : HANDED_MAX;

			memmove(code, code + kept + got - keep, keep);
			at += got;
			kept = keep;
		}
	}
}

/* ---- one file */

static struct thread_starts *thread_starts_of(struct callsite_file *f)
{
	struct thread_starts *t = &f->starts;

	if (t->known)
		return t;
	t->known = true;
	/* Set the entry. Shared libraries made by older linkers have an entry
	 * too, at which nothing begins; glibc and musl have a loader and a real
	 * one. */
	GElf_Ehdr eh;
	uint64_t flags;
	bool loader = elf_has_loader(f->ef);
	bool program =
		f->ef->type == ET_EXEC ||
		(elf_dynamic(f->ef, DT_FLAGS_1, &flags) && flags & DF_1_PIE);

	t->library = (program && !loader) ||
		     thread_start_named(f, "__libc_start_main");
	if ((program || loader || f->loader) && gelf_getehdr(f->ef->elf, &eh))
		t->entry = eh.e_entry;
	for (size_t i = 0; i < ARRAY_SIZE(thread_start_names); i++) {
		uint64_t at = thread_start_named(f, thread_start_names[i]);

		if (at)
			thread_start_add(t, at, START_LIBRARY, false);
	}
	uint64_t first = thread_start_named(f, "__libc_start_main");
	uint64_t create = thread_start_named(f, "pthread_create");

	if (first)
		thread_start_add_reached(f, t, first);
	if (t->entry)
		thread_start_add_first(f, t, t->entry, first);
	/* the function of musl to which the entry jumps */
	thread_start_add_first(f, t, thread_start_named(f, "_start_c"), first);
	/* musl, where start() passes the result on to pthread_exit() */
	if (create)
		thread_start_add_reached(f, t, create);
	return t;
}

const struct frame_share *thread_start_share(struct callsite_file *f,
					     struct symbolizer *sy,
					     const struct image *img)
{
	bool settled = !f->ef;

	if (f->counted)
		return &f->share;
	callsite_reopen(f, sy, img);
	if (f->ef)
		frame_share_count(f->ef, f->cfi, &f->funcs, &f->share);
	f->counted = true;
	if (settled)
		callsite_settle(f);
	return &f->share;
}

/* ---- one frame */

/* Returns whether a result is passed on after its call: that of main() to
 * exit. */
static bool thread_start_hands_on(const struct callsite_file *f, uint64_t vaddr)
{
	unsigned char code[FRAME_CODE_HANDS_ON];
	size_t n = elf_read_code(f->ef, vaddr, code, sizeof(code));

	return frame_code_hands_on(f->machine, code, n);
}

/* Looks up the function that starts at an ELF address. */
static enum thread_start thread_start_find(const struct callsite_file *f,
					   const struct thread_starts *t,
					   uint64_t start, uint64_t vaddr,
					   const struct callsite *site)
{
	for (size_t i = 0; i < t->n; i++) {
		if (t->of[i].addr != start || !t->of[i].kind)
			continue;
		if (!t->of[i].handed || (site->kind == CALLSITE_INDIRECT &&
					 thread_start_hands_on(f, vaddr)))
			return t->of[i].kind;
	}
	return START_UNKNOWN;
}

/* Returns whether the code before a return address sets the frame pointer to 0:
 * code that clones a thread itself does so for the walk to end there. Where a
 * compiler keeps the frame pointer there is no such code. */
static bool thread_start_marks(const struct callsite_file *f, uint64_t ret)
{
	unsigned char code[MARK_MAX];
	size_t n = ret < sizeof(code) ? 0
				      : elf_read_code(f->ef, ret - sizeof(code),
						      code, sizeof(code));

	for (size_t i = 0; n == sizeof(code) && i + 4 <= n; i++) {
		if (f->machine == EM_X86_64 && !memcmp(code + i, "\x31\xed", 2))
			return true;
		/* mov x29, #0; mov x29, xzr */
		if (f->machine == EM_AARCH64 && i % 4 == 0 &&
		    (!memcmp(code + i, "\x1d\0\x80\xd2", 4) ||
		     !memcmp(code + i, "\xfd\x03\x1f\xaa", 4)))
			return true;
	}
	return false;
}

/* Returns whether the code at a return address ends the thread, as Go's
 * runtime.clone(), musl's clone() and programs without a C library do. */
static bool thread_start_exits(const struct callsite_file *f, uint64_t ret)
{
	unsigned char code[FRAME_CODE_EXIT];
	size_t n = elf_read_code(f->ef, ret, code, sizeof(code));

	return frame_code_exits(f->machine, code, n);
}

/* Returns whether the frame pointer at an ELF address before a call is that of
 * the function, which starts at `start`. If not, *used: it is saved, and used
 * for other data. */
static bool thread_start_has_frame(const struct callsite_file *f,
				   uint64_t start, uint64_t vaddr, bool *used)
{
	unsigned char code[FRAME_CODE_PROLOGUE];
	unsigned int fp = abi_of(f->machine)->fp;
	size_t n = vaddr - start < sizeof(code) ? (size_t)(vaddr - start)
						: sizeof(code);
	struct cfi_rules r;
	bool saved = false;

	if (f->cfi && cfi_rules(f->cfi, vaddr, &r)) {
		saved = r.reg[fp].kind == RULE_OFFSET;
		if (r.cfa.kind != RULE_REG || r.cfa_reg == fp ||
		    (f->machine == EM_AARCH64 && saved &&
		     r.reg[r.ra].kind == RULE_OFFSET))
			return true;
	}
	/* tables of Go and of assembly count from SP everywhere */
	if (frame_code_sets(f->machine, code,
			    elf_read_code(f->ef, start, code, n)))
		return true;
	*used = saved;
	return false;
}

/* Returns what the code before a return address shows without reading the whole
 * file. *start: of its function; 0 if unknown. */
static enum thread_start thread_start_soon(struct callsite_file *f,
					   uint64_t vaddr,
					   const struct callsite *site,
					   uint64_t *start)
{
	struct cfi_rules r;
	uint64_t end;

	*start = 0;
	if (site->kind == CALLSITE_START)
		return START_LIBRARY;
	if (thread_start_exits(f, vaddr + 1))
		return START_EXIT;
	if (f->cfi && cfi_rules(f->cfi, vaddr, &r) &&
	    r.reg[r.ra].kind == RULE_UNDEFINED)
		return START_TABLE;
	struct thread_starts *t = thread_starts_of(f);

	if (!callsite_function_at(f, vaddr, start, &end))
		return t->entry && vaddr >= t->entry &&
				       vaddr - t->entry < ENTRY_MAX
			       ? START_ENTRY
			       : START_UNKNOWN;
	if (t->entry >= *start && t->entry < end)
		return START_ENTRY;
	return thread_start_find(f, t, *start, vaddr + 1, site);
}

/* Does the same as thread_start_soon(), and reads the whole file if needed. */
static enum thread_start thread_start_seek(struct callsite_file *f,
					   uint64_t vaddr,
					   const struct callsite *site,
					   uint64_t *start)
{
	enum thread_start found = thread_start_soon(f, vaddr, site, start);

	if (found || !*start || f->starts.read)
		return found;
	struct thread_start_search k = { .f = f, .t = &f->starts };
	struct code_refs refs;
	unsigned int kinds;
	size_t was = f->starts.n;

	f->starts.read = true;
	if (code_refs_init(&refs, f->machine, NULL, 0, 0)) {
		if (f->starts.library)
			k.n = k.clones = thread_start_list_clones(f, k.s);
		if (k.clones)
			thread_start_scan(
				&k, 1 << CODE_REF_CALL | 1 << CODE_REF_JUMP,
				thread_start_take_caller);
		k.n = thread_start_list(f, k.s, k.n, &kinds);
		if (k.n)
			thread_start_scan(&k, kinds, thread_start_take_call);
		for (size_t i = was; i < f->starts.n; i++)
			k.routines |= thread_start_bit(f->starts.of[i].addr);
		if (f->starts.n > was)
			thread_start_scan(
				&k, 1 << CODE_REF_CALL | 1 << CODE_REF_JUMP,
				thread_start_drop_called);
	}
	return thread_start_find(f, &f->starts, *start, vaddr + 1, site);
}

enum thread_start thread_start_at(struct callsite_file *f, uint64_t off,
				  const struct callsite *site)
{
	uint64_t start, vaddr;

	/* a return address may be after its function */
	if (!f->ef || off < 1 || !elf_vaddr(f->seg, f->n_seg, off - 1, &vaddr))
		return START_UNKNOWN;
	enum thread_start found = thread_start_seek(f, vaddr, site, &start);

	if (found || !start)
		return found;
	/* why a walk along frame pointers ends in this function */
	bool used;

	if (thread_start_has_frame(f, start, vaddr, &used))
		return thread_start_marks(f, vaddr + 1) ? START_MARK
							: ENDS_FRAME;
	const struct frame_share *s = thread_start_share(f, NULL, NULL);

	if (!s->functions)
		return START_UNKNOWN;
	return frame_share_is_none(s) ? ENDS_FILE : ENDS_FUNCTION;
}

enum thread_start thread_start_first(struct callsite_file *f, uint64_t off,
				     bool whole)
{
	struct callsite site;
	uint64_t start, entry, end, vaddr;

	if (!f->ef || off < 1 || !elf_vaddr(f->seg, f->n_seg, off - 1, &vaddr))
		return START_UNKNOWN;
	callsite_at(f, off, &site);
	enum thread_start found =
		whole ? thread_start_seek(f, vaddr, &site, &start)
		      : thread_start_soon(f, vaddr, &site, &start);
	/* main() has a caller */
	return found == START_ENTRY && start &&
			       !(callsite_function_at(f, f->starts.entry,
						      &entry, &end) &&
				 entry == start)
		       ? START_UNKNOWN
		       : found;
}

/* Returns whether the code before the call at an ELF address has switched to
 * another stack, as in Go's runtime.morestack(), or the code after it switches
 * back, as in systemstack() and asmcgocall(): the table has nothing on this
 * stack. */
static bool thread_start_switches(const struct callsite_file *f, uint64_t vaddr)
{
	unsigned char code[FRAME_CODE_WHOLE];
	struct cfi_rules r;
	int64_t cfa, fp;

	if (!callsite_is_go(f) || f->machine != EM_X86_64 || !f->cfi ||
	    !cfi_rules(f->cfi, vaddr, &r) || r.cfa.kind != RULE_REG ||
	    r.cfa_reg != abi_of(f->machine)->sp || r.cfa.v != 8)
		return false;
	size_t n = elf_read_code(f->ef, vaddr + 1, code, sizeof(code));

	if (frame_code_ends(f->machine, code, n, &cfa, &fp) ==
	    FRAME_CODE_SWITCHES)
		return true;
	if (vaddr < FRAME_CODE_LEAP)
		return false;
	n = elf_read_code(f->ef, vaddr + 1 - FRAME_CODE_LEAP, code,
			  FRAME_CODE_LEAP);
	return n == FRAME_CODE_LEAP && frame_code_lands(f->machine, code, n);
}

enum thread_start thread_start_midway(struct callsite_file *f, uint64_t off,
				      const struct callsite *site, bool *used)
{
	uint64_t start, end, vaddr;

	*used = false;
	if (!f->ef || off < 1 ||
	    (f->machine != EM_X86_64 && f->machine != EM_AARCH64) ||
	    !elf_vaddr(f->seg, f->n_seg, off - 1, &vaddr) ||
	    !callsite_function_at(f, vaddr, &start, &end) ||
	    thread_start_has_frame(f, start, vaddr, used))
		return START_UNKNOWN;
	if (thread_start_switches(f, vaddr))
		return ENDS_SWITCH;
	if (thread_start_exits(f, vaddr + 1))
		return START_EXIT;
	enum thread_start found = thread_start_find(f, thread_starts_of(f),
						    start, vaddr + 1, site);

	return found ? found : ENDS_FUNCTION;
}
