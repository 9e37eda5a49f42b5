/* ftrace_build.h - small trace.dat files made in memory and read, for tests.
 *
 * fb_ring() begins a CPU's ring, which ftrace_write.h and the entries here
 * fill; then fb_file7() or fb_file6() puts the rings into a file and fb_open()
 * opens it. */
#pragma once
#include <zstd.h>

#include "tests/ftrace_write.h"
#include "tests/unit/perf_build.h"
#include "tests/unit/run.h"

#define FB_PAGE 512

/* Ids of the events in the formats below. */
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
	NULL,
};

static const char *const fb_sched[] = {
	"sched",
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
	NULL,
};

static const char *const fb_task[] = {
	"task",
	"name: task_newtask\nID: 104\n" FB_COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n",
	NULL,
};

static const char *const fb_mine[] = {
	"mine",
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
	NULL,
};

static inline void fb_ring(struct fb_ring *r, int32_t cpu, bool big)
{
	memset(r, 0, sizeof(*r));
	r->page = FB_PAGE;
	r->cpu = cpu;
	r->p.big = big;
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

static inline void fb_switch(struct fb_ring *r, uint32_t delta,
			     const char *prev, int32_t pid, uint64_t state,
			     const char *next, int32_t next_pid)
{
	size_t at = fb_begin(r, delta, FB_SWITCH, 0, pid);

	fb_comm(&r->p, prev);
	pb_u32(&r->p, (uint32_t)pid);
	pb_u32(&r->p, 0);
	pb_u64(&r->p, state);
	fb_comm(&r->p, next);
	pb_u32(&r->p, (uint32_t)next_pid);
	fb_end(r, at);
}

/* A piece as zstd packs it, behind its lengths. */
static inline void fb_zstd(struct pb *b, const void *p, size_t n)
{
	size_t cap = ZSTD_compressBound(n);
	void *out = mem_new(cap, 1);
	size_t len = ZSTD_compress(out, cap, p, n, 1);

	pb_u32(b, (uint32_t)len);
	pb_u32(b, (uint32_t)n);
	pb_raw(b, out, len);
	free(out);
}

static inline struct fb_form fb_form_of(bool zstd)
{
	static const char *const *const systems[] = { fb_sched, fb_task,
						      fb_mine, NULL };

	return (struct fb_form){
		.page = FB_PAGE,
		.header = FB_HEADER("496"),
		.formats = fb_ftrace,
		.systems = systems,
		.kallsyms =
			"ffffffff81000000 T _text\nffffffff81000010 T one\n"
			"ffffffff81200000 T _etext\n"
			"ffffffffc0001010 t mod_f\t[mine]\n"
			"ffffffff81000080 t late\nffffffff81000010 t one_more\n"
			"ffffffff81000080 t later\n",
		.printk = "0xffffffff82000010 : \"n=%d \\\"%s\\\" %llx\\n\"\n"
			  "0xffffffff82000000 : \"just text\"\n",
		.cmdlines = "7 seven\n8 eight\n",
		.pack = zstd ? fb_zstd : NULL,
	};
}

static inline void fb_rings_free(struct fb_ring *ring, size_t n)
{
	for (size_t i = 0; i < n; i++)
		free(ring[i].p.d);
}

/* extra is freed. Of several buffers the last is an instance of one ring. */
static inline void fb_buffers7(struct pb *b, bool big, bool zstd,
			       struct pb *extra, const struct fb_ring *ring,
			       size_t n, int buffers)
{
	struct fb_form form = fb_form_of(zstd);

	*b = (struct pb){ .big = big };
	fb_put7(b, &form, extra, ring, n, buffers);
	if (extra)
		free(extra->d);
}

static inline void fb_file7(struct pb *b, bool big, bool zstd, struct pb *extra,
			    const struct fb_ring *ring, size_t n)
{
	fb_buffers7(b, big, zstd, extra, ring, n, 1);
}

static inline void fb_file6(struct pb *b, bool big, const struct fb_ring *ring,
			    size_t n)
{
	struct fb_form form = fb_form_of(false);
	struct pb o = { .big = big };

	*b = (struct pb){ .big = big };
	fb_option(&o, FT_UNAME, "Linux box 6.1 x86_64", 21);
	fb_put6(b, &form, &o, ring, n);
	free(o.d);
}

static inline struct source *fb_open(struct pb *b, struct ledger *lg,
				     struct err *err)
{
	struct source *src = pb_open_cut(b, b->n, NULL, lg, err);

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

/* A thread of this id calls exec of /bin/true. */
static inline void fb_exec(struct fb_ring *r, uint32_t delta, int32_t tid)
{
	size_t at = fb_begin(r, delta, FB_EXEC, 0, tid);

	pb_u32(&r->p, 10u << 16 | 16); /* length, place */
	pb_u32(&r->p, (uint32_t)tid);
	pb_raw(&r->p, "/bin/true", 10);
	fb_end(r, at);
}
