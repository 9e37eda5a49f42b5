/* ftrace_build.h - small trace.dat files made in memory, for tests.
 *
 * fb_ring() begins a CPU's pages; fb_page ... fb_event ... fb_page_end; then
 * fb_file7() or fb_file6() puts the rings into a file and fb_open() opens it.
 * Either byte order. */
#ifndef TESTS_FTRACE_BUILD_H
#define TESTS_FTRACE_BUILD_H
#include <zstd.h>

#include "formats/ftrace/ftrace.h"
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

#define FB_PAGE 512
#define FB_CPUS 4

/* Ids of the events in fb_formats. */
enum fb_id {
	FB_KSTACK = 4,
	FB_BPRINT = 6,
	FB_USTACK = 13,
	FB_BPUTS = 15,
	FB_SWITCH = 100,
	FB_FORK,
	FB_EXEC,
	FB_EXIT,
	FB_NEWTASK,
	FB_PLAIN,
	FB_HELD,
	FB_NAMES,
};

#define FB_COMMON                                                              \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"   \
	"signed:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"

static const char *const fb_ftrace[] = {
	"name: kernel_stack\nID: 4\n" FB_COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: user_stack\nID: 13\n" FB_COMMON
	"\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: bprint\nID: 6\n" FB_COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * fmt;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:u32 buf[];\toffset:24;\tsize:0;\tsigned:0;\n\n"
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->fmt\n",
	"name: bputs\nID: 15\n" FB_COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:const char * str;\toffset:16;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->str\n",
};

static const char *const fb_sched[] = {
	"name: sched_switch\nID: 100\n" FB_COMMON
	"\tfield:char prev_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t prev_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:long prev_state;\toffset:32;\tsize:8;\tsigned:1;\n"
	"\tfield:char next_comm[16];\toffset:40;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t next_pid;\toffset:56;\tsize:4;\tsigned:1;\n\n"
	"print fmt: \"%s ==> %s\", REC->prev_comm, REC->next_comm\n",
	"name: sched_process_fork\nID: 101\n" FB_COMMON
	"\tfield:char parent_comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t parent_pid;\toffset:24;\tsize:4;\tsigned:1;\n"
	"\tfield:char child_comm[16];\toffset:28;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t child_pid;\toffset:44;\tsize:4;\tsigned:1;\n",
	"name: sched_process_exec\nID: 102\n" FB_COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n",
	"name: sched_process_exit\nID: 103\n" FB_COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
};

static const char *const fb_task[] = {
	"name: task_newtask\nID: 104\n" FB_COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n",
};

static const char *const fb_mine[] = {
	"name: plain\nID: 105\n" FB_COMMON
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"n=%llu\", REC->n\n",
	"name: held\nID: 106\n" FB_COMMON
	"\tfield:__data_loc unsigned long[] stack;\toffset:8;\tsize:8;"
	"\tsigned:1;\n\n"
	"print fmt: \"stack=%s\", __get_stacktrace(stack)\n",
	"name: names\nID: 107\n" FB_COMMON
	"\tfield:const char * s;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:void * function;\toffset:16;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned long caller;\toffset:24;\tsize:8;\tsigned:0;\n"
	"\tfield:void * timer;\toffset:32;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"%s, 100%% by %ps from %pS at %p (%s)\", REC->s, "
	"REC->function, (void *)REC->caller, REC->timer, "
	"REC->timer ? \"a, b\" : \")\"\n",
};

/* The pages of one CPU; rec is where the page at hand begins. */
struct fb_ring {
	struct pb p;
	int32_t cpu;
};

static inline void fb_ring(struct fb_ring *r, int32_t cpu, bool big)
{
	memset(r, 0, sizeof(*r));
	r->cpu = cpu;
	r->p.big = big;
}

static inline void fb_page(struct fb_ring *r, uint64_t time)
{
	r->p.rec = r->p.n;
	pb_u64(&r->p, time);
	pb_u64(&r->p, 0);
}

static inline void fb_word(struct fb_ring *r, uint32_t type, uint32_t delta)
{
	pb_u32(&r->p, r->p.big ? type << 27 | delta : delta << 5 | type);
}

/* An entry whose payload is begun; fb_end() gives it its length. */
static inline size_t fb_begin(struct fb_ring *r, uint32_t delta, uint16_t id,
			      uint8_t flags, int32_t pid)
{
	size_t at = r->p.n;

	fb_word(r, 0, delta);
	pb_u32(&r->p, 0);
	pb_u16(&r->p, id);
	pb_num(&r->p, flags, 1);
	pb_num(&r->p, 0, 1);
	pb_u32(&r->p, (uint32_t)pid);
	return at;
}

static inline void fb_end(struct fb_ring *r, size_t at)
{
	static const char zero[4];

	pb_raw(&r->p, zero, (4 - (r->p.n - at) % 4) % 4);
	pb_patch(&r->p, at + 4, r->p.n - at - 4, 4);
}

static inline void fb_plain(struct fb_ring *r, uint32_t delta, int32_t pid,
			    uint64_t n)
{
	size_t at = fb_begin(r, delta, FB_PLAIN, 0, pid);

	pb_u64(&r->p, n);
	fb_end(r, at);
}

/* n addresses from ip on, 16 apart. A user stack always has 8 places. */
static inline void fb_stack(struct fb_ring *r, uint16_t id, uint8_t flags,
			    int32_t pid, uint32_t first, uint64_t ip, int n)
{
	size_t at = fb_begin(r, 1, id, flags, pid);

	pb_u32(&r->p, first);
	pb_u32(&r->p, 0);
	for (int i = 0; i < n; i++)
		pb_u64(&r->p, ip + (uint64_t)i * 16);
	for (int i = n; id == FB_USTACK && i < 8; i++)
		pb_u64(&r->p, 0);
	fb_end(r, at);
}

static inline void fb_comm(struct fb_ring *r, const char *comm)
{
	char name[16] = "";

	memcpy(name, comm, strnlen(comm, 15));
	pb_raw(&r->p, name, 16);
}

static inline void fb_switch(struct fb_ring *r, uint32_t delta,
			     const char *prev, int32_t pid, uint64_t state,
			     const char *next, int32_t next_pid)
{
	size_t at = fb_begin(r, delta, FB_SWITCH, 0, pid);

	fb_comm(r, prev);
	pb_u32(&r->p, (uint32_t)pid);
	pb_u32(&r->p, 0);
	pb_u64(&r->p, state);
	fb_comm(r, next);
	pb_u32(&r->p, (uint32_t)next_pid);
	fb_end(r, at);
}

#define FB_LOST ((uint64_t)1 << 31)
#define FB_STORED ((uint64_t)1 << 30)

/* flags: FB_LOST, FB_STORED and then how many. */
static inline void fb_page_end(struct fb_ring *r, uint64_t flags, uint64_t lost)
{
	uint64_t len = r->p.n - r->p.rec - 16;

	pb_patch(&r->p, r->p.rec + 8, len | flags, 8);
	if (flags & FB_STORED)
		pb_u64(&r->p, lost);
	ck_assert_uint_le(r->p.n, r->p.rec + FB_PAGE);
	while (r->p.n < r->p.rec + FB_PAGE)
		pb_num(&r->p, 0, 1);
}

static inline void fb_formats(struct pb *b, const char *const *text, size_t n)
{
	pb_u32(b, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		pb_u64(b, strlen(text[i]));
		pb_raw(b, text[i], strlen(text[i]));
	}
}

/* What both versions have in front of the rings, one part after the other. */
static inline void fb_part(struct pb *b, uint16_t id)
{
	static const char page[] =
		"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
		"\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
		"\tfield: char data;\toffset:16;\tsize:496;\tsigned:1;\n";
	static const char kallsyms[] =
		"ffffffff81000000 T _text\nffffffff81000010 T one\n"
		"ffffffff81200000 T _etext\nffffffffc0001010 t mod_f\t[mine]\n"
		"ffffffff81000080 t late\nffffffff81000010 t one_more\n"
		"ffffffff81000080 t later\n";
	static const char names[] = "7 seven\n8 eight\n";
	static const char printk[] =
		"0xffffffff82000010 : \"n=%d \\\"%s\\\" %llx\\n\"\n"
		"0xffffffff82000000 : \"just text\"\n";

	switch (id) {
	case FT_HEADER_INFO:
		pb_raw(b, "header_page", 12);
		pb_u64(b, sizeof(page) - 1);
		pb_raw(b, page, sizeof(page) - 1);
		pb_raw(b, "header_event", 13);
		pb_u64(b, 0);
		break;
	case FT_FTRACE_EVENTS:
		fb_formats(b, fb_ftrace, 4);
		break;
	case FT_EVENT_FORMATS:
		pb_u32(b, 3);
		pb_raw(b, "sched", 6);
		fb_formats(b, fb_sched, 4);
		pb_raw(b, "task", 5);
		fb_formats(b, fb_task, 1);
		pb_raw(b, "mine", 5);
		fb_formats(b, fb_mine, 3);
		break;
	case FT_KALLSYMS:
		pb_u32(b, sizeof(kallsyms) - 1);
		pb_raw(b, kallsyms, sizeof(kallsyms) - 1);
		break;
	case FT_PRINTK:
		pb_u32(b, sizeof(printk) - 1);
		pb_raw(b, printk, sizeof(printk) - 1);
		break;
	default:
		pb_u64(b, sizeof(names) - 1);
		pb_raw(b, names, sizeof(names) - 1);
	}
}

static const uint16_t fb_parts[] = { FT_HEADER_INFO,   FT_FTRACE_EVENTS,
				     FT_EVENT_FORMATS, FT_KALLSYMS,
				     FT_PRINTK,	       FT_CMDLINES };
#define FB_PARTS (sizeof(fb_parts) / sizeof(fb_parts[0]))

static inline void fb_head(struct pb *b, const char *version, bool big)
{
	memset(b, 0, sizeof(*b));
	b->big = big;
	b->fd = -1;
	pb_raw(b, FT_MAGIC, FT_MAGIC_LEN);
	pb_raw(b, version, strlen(version) + 1);
	pb_num(b, big, 1);
	pb_num(b, 8, 1);
	pb_u32(b, FB_PAGE);
}

static inline void fb_align(struct pb *b)
{
	while (b->n % FB_PAGE)
		pb_num(b, 0, 1);
}

static inline void fb_pages(struct pb *b, const struct fb_ring *r)
{
	if (r->p.n)
		pb_raw(b, r->p.d, r->p.n);
}

/* Options that some tests want, ready for a section; may be empty. */
struct fb_options {
	struct pb p;
};

static inline void fb_option(struct fb_options *o, bool big, uint16_t id,
			     const void *data, size_t n)
{
	o->p.big = big;
	pb_u16(&o->p, id);
	pb_u32(&o->p, (uint32_t)n);
	pb_raw(&o->p, data, n);
}

static inline size_t fb_section(struct pb *b, uint16_t id, uint16_t flags)
{
	size_t at = b->n;

	pb_u16(b, id);
	pb_u16(b, flags);
	pb_u32(b, 0);
	pb_u64(b, 0);
	return at;
}

static inline void fb_section_end(struct pb *b, size_t at)
{
	pb_patch(b, at + 8, b->n - at - 16, 8);
}

/* A part as it is, or packed by zstd. */
static inline void fb_meta(struct pb *b, uint16_t id, bool zstd)
{
	struct pb part = { .big = b->big };
	size_t at = fb_section(b, id, zstd);

	fb_part(&part, id);
	if (zstd) {
		size_t cap = ZSTD_compressBound(part.n);
		void *out = mem_new(cap, 1);
		size_t n = ZSTD_compress(out, cap, part.d, part.n, 1);

		pb_u32(b, (uint32_t)n);
		pb_u32(b, (uint32_t)part.n);
		pb_raw(b, out, n);
		free(out);
	} else {
		pb_raw(b, part.d, part.n);
	}
	fb_section_end(b, at);
	free(part.d);
}

/* One chunk for each page. */
static inline void fb_chunks(struct pb *b, const struct pb *pages)
{
	pb_u32(b, (uint32_t)(pages->n / FB_PAGE));
	for (size_t i = 0; i < pages->n; i += FB_PAGE) {
		char out[2 * FB_PAGE];
		size_t n = ZSTD_compress(out, sizeof(out), pages->d + i,
					 FB_PAGE, 1);

		pb_u32(b, (uint32_t)n);
		pb_u32(b, FB_PAGE);
		pb_raw(b, out, n);
	}
}

/* A buffer's section; its option goes to *opts. */
static inline void fb_buffer(struct pb *b, struct fb_options *opts,
			     const char *name, const struct fb_ring *ring,
			     size_t n, bool zstd)
{
	struct pb o = { .big = b->big };
	size_t at = fb_section(b, FT_BUFFER, zstd);

	pb_u64(&o, at);
	pb_raw(&o, name, strlen(name) + 1);
	pb_raw(&o, "mono", 5);
	pb_u32(&o, FB_PAGE);
	pb_u32(&o, (uint32_t)n);
	for (size_t i = 0; i < n; i++) {
		fb_align(b);
		size_t from = b->n;

		if (zstd)
			fb_chunks(b, &ring[i].p);
		else
			fb_pages(b, &ring[i]);
		pb_u32(&o, (uint32_t)ring[i].cpu);
		pb_u64(&o, from);
		pb_u64(&o, b->n - from);
	}
	fb_section_end(b, at);
	fb_option(opts, b->big, FT_BUFFER, o.d, o.n);
	free(o.d);
}

static inline void fb_rings_free(struct fb_ring *ring, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(ring[i].p.d);
}

/* The order of trace-cmd: parts, options, buffer, options. extra: options of
 * the first section; freed. Where the buffer's options begin: b->data. Of
 * several buffers the last is an instance of one ring. */
static inline void fb_buffers7(struct pb *b, bool big, bool zstd,
			       struct fb_options *extra,
			       const struct fb_ring *ring, size_t n,
			       int buffers)
{
	struct fb_options opts = { .p = { .big = big } };
	size_t where[FB_PARTS];
	unsigned char off[8];

	fb_head(b, "7", big);
	pb_raw(b, zstd ? "zstd\0001" : "none\0", zstd ? 7 : 6);
	size_t first = b->n;

	pb_u64(b, 0);
	for (size_t i = 0; i < FB_PARTS; i++) {
		where[i] = b->n;
		fb_meta(b, fb_parts[i], zstd);
	}
	pb_patch(b, first, b->n, 8);
	size_t at = fb_section(b, FT_OPTIONS, 0);

	for (size_t i = 0; i < FB_PARTS; i++) {
		struct pb num = { .big = big };

		pb_u64(&num, where[i]);
		memcpy(off, num.d, 8);
		fb_option(&opts, big, fb_parts[i], off, 8);
		free(num.d);
	}
	pb_raw(b, opts.p.d, opts.p.n);
	if (extra && extra->p.n)
		pb_raw(b, extra->p.d, extra->p.n);
	pb_u16(b, FT_OPTIONS);
	pb_u32(b, 8);
	size_t link = b->n;

	pb_u64(b, 0);
	fb_section_end(b, at);
	opts.p.n = 0;
	fb_buffer(b, &opts, "", ring, n + 1 - (size_t)buffers, zstd);
	if (buffers > 1)
		fb_buffer(b, &opts, "two", &ring[n - 1], 1, zstd);
	b->data = b->n;
	pb_patch(b, link, b->n, 8);
	at = fb_section(b, FT_OPTIONS, 0);
	pb_raw(b, opts.p.d, opts.p.n);
	pb_u16(b, FT_OPTIONS);
	pb_u32(b, 8);
	pb_u64(b, 0);
	fb_section_end(b, at);
	free(opts.p.d);
	if (extra)
		free(extra->p.d);
}

static inline void fb_file7(struct pb *b, bool big, bool zstd,
			    struct fb_options *extra,
			    const struct fb_ring *ring, size_t n)
{
	fb_buffers7(b, big, zstd, extra, ring, n, 1);
}

static inline void fb_file6(struct pb *b, bool big, const struct fb_ring *ring,
			    size_t n)
{
	fb_head(b, "6", big);
	for (size_t i = 0; i < FB_PARTS; i++)
		fb_part(b, fb_parts[i]);
	pb_u32(b, (uint32_t)n);
	pb_raw(b, "options  ", 10);
	pb_u16(b, FT_UNAME);
	pb_u32(b, 21);
	pb_raw(b, "Linux box 6.1 x86_64", 21);
	pb_u16(b, 0);
	pb_raw(b, "flyrecord", 10);
	size_t table = b->n;

	for (size_t i = 0; i < 2 * n; i++)
		pb_u64(b, 0);
	for (size_t i = 0; i < n; i++) {
		fb_align(b);
		pb_patch(b, table + 16 * i, b->n, 8);
		pb_patch(b, table + 16 * i + 8, ring[i].p.n, 8);
		fb_pages(b, &ring[i]);
	}
}

static inline struct source *fb_open(struct pb *b, struct ledger *lg,
				     struct err *err)
{
	char path[64];

	b->fd = memfd_create("trace", 0);
	ck_assert_int_ge(b->fd, 0);
	ck_assert_int_eq(write(b->fd, b->d, b->n), (ssize_t)b->n);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", b->fd);
	struct source *src = formats_open(path, NULL, lg, err);

	if (src)
		ck_assert_int_eq(src->ops->scan(src, err), 0);
	return src;
}

/* All records as text: "t KIND ...;", made ones left out but for sums. */
static inline void fb_say(struct source *src, const struct record *rec,
			  char *out, size_t size)
{
	const struct rec_sample *s = &rec->sample;
	size_t n = strlen(out);

	switch (rec->kind) {
	case REC_SAMPLE:
		snprintf(out + n, size - n, "%d %s@%d/%d k%u u%u; ",
			 (int)rec->time, src->events[s->event].name, rec->tid,
			 rec->cpu, s->kern.n, s->user.n);
		break;
	case REC_LOST:
		snprintf(out + n, size - n, "%d lost %d/%d; ", (int)rec->time,
			 (int)rec->lost.n, rec->cpu);
		break;
	case REC_LOST_TOTAL:
		snprintf(out + n, size - n, "total %d/%d; ", (int)rec->lost.n,
			 rec->cpu);
		break;
	case REC_COMM:
		snprintf(out + n, size - n, "%d %s=%s@%d; ", (int)rec->time,
			 rec->flags & REC_F_EXEC ? "exec" : "comm",
			 rec->comm.name, rec->tid);
		break;
	case REC_FORK:
		snprintf(out + n, size - n, "%d fork %d:%d of %d; ",
			 (int)rec->time, rec->pid, rec->tid, rec->fork.ptid);
		break;
	case REC_EXIT:
		snprintf(out + n, size - n, "%d exit %d; ", (int)rec->time,
			 rec->tid);
		break;
	default:
		break;
	}
}

/* Reads all; the text is the caller's until the next call. */
static inline const char *fb_read(struct source *src)
{
	static char text[65536];
	struct err err = { 0 };
	struct record rec;
	struct ref ref;
	uint64_t floor = 0;

	text[0] = '\0';
	while (src->ops->next(src, &ref, &err) > 0) {
		ck_assert_uint_ge(src->floor, floor);
		floor = src->floor;
		if (!ref.untimed)
			ck_assert_uint_le(floor, ref.key);
		ck_assert_int_eq(src->ops->decode(src, &ref, &rec, &err), 0);
		fb_say(src, &rec, text, sizeof(text));
	}
	ck_assert_uint_eq(src->floor, UINT64_MAX);
	return text;
}

static inline void fb_close(struct source *src, struct pb *b)
{
	source_close(src);
	if (b->fd >= 0)
		close(b->fd);
	free(b->d);
}

/* A thread of this id calls exec of /bin/true. */
static inline void fb_exec(struct fb_ring *r, uint32_t delta, int32_t tid)
{
	size_t at = fb_begin(r, delta, FB_EXEC, 0, tid);

	pb_u32(&r->p, 10u << 16 | 16); /* length, place */
	pb_u32(&r->p, (uint32_t)tid);
	pb_raw(&r->p, "/bin/true", 10);
	fb_end(r, at);
}
#endif
