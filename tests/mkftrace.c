/* mkftrace.c - turns a readable capture.txt into a capture of ftrace, for
 * tests: deferred user stacks by cookie, in the form of patches that are in no
 * released kernel (backstitch-formats(5), "Deferred stacks: ftrace"), and by
 * nonce.
 *
 * usage: mkftrace [-b] [-6] [-t] IN OUT
 *        -b: big-endian   -6: version 6   -t: the text of ftrace
 *
 * One record per line, in the order of times (us), words of key=value, as in
 * mkcap.c. Every line has pid= (of the thread), cpu= and time=.
 *
 *   layout 6
 *       stacks name files: version 6 of the patch, not 5
 *   event [k=A,..] [u=A,..] [cookie=C]
 *   chain cookie=C u=A,.. [ino=I,..] [dev=MAJ:MIN]
 *       ino -1: an address
 *   inode ino=I dev=MAJ:MIN path=
 *   mark text=
 *       written to trace_marker
 *   fork child= [thread]
 *   exec path=
 *   exit
 *   lost [n=N]
 *       in front of the CPU's next record
 *   map pid= start= end= path=
 *       a line of /proc/PID/maps; not in the text */
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/ftrace_write.h"
#include "tests/mktext.h"

#define CPUS 4
#define PAGE 4096

enum id {
	ID_KSTACK = 4,
	ID_PRINT = 5,
	ID_USTACK = 12,
	ID_COOKIE = 14,
	ID_CHAIN,
	ID_PLAIN = 100,
	ID_INODE,
	ID_NEWTASK,
	ID_EXEC,
	ID_EXIT,
};

#define COMMON                                                                 \
	"format:\n\tfield:unsigned short common_type;\toffset:0;\tsize:2;\t"   \
	"signed:0;\n\tfield:unsigned char common_flags;\toffset:2;\tsize:1;\t" \
	"signed:0;\n\tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n\n"
#define STACK_5                                                                \
	"name: user_unwind_stack\nID: 15\n" COMMON                             \
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n"                 \
	"\tfield:__data_loc unsigned long[] stack;\toffset:16;\tsize:4;\t"     \
	"signed:0;\n"

static const char *const ftrace_formats[] = {
	"name: kernel_stack\nID: 4\n" COMMON
	"\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: print\nID: 5\n" COMMON
	"\tfield:unsigned long ip;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:char buf[];\toffset:16;\tsize:0;\tsigned:0;\n\n"
	"print fmt: \"%ps: %s\", (void *)REC->ip, REC->buf\n",
	"name: user_stack\nID: 12\n" COMMON
	"\tfield:unsigned int tgid;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
	"name: user_unwind_cookie\nID: 14\n" COMMON
	"\tfield:u64 cookie;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"cookie=%llx\", REC->cookie\n",
	STACK_5,
	NULL
};

static const char stack_6[] = STACK_5
	"\tfield:__data_loc unsigned long[] inodes;\toffset:20;\tsize:4;\t"
	"signed:0;\n"
	"\tfield:__data_loc unsigned int[] dev;\toffset:24;\tsize:4;\t"
	"signed:0;\n";

static const char *const system_mine[] = {
	"mine",
	"name: plain\nID: 100\n" COMMON
	"\tfield:u64 n;\toffset:8;\tsize:8;\tsigned:0;\n\n"
	"print fmt: \"n=%llu\", REC->n\n",
	NULL
};

static const char *const system_inode[] = {
	"inode_cache",
	"name: inode_cache\nID: 101\n" COMMON
	"\tfield:unsigned long inode;\toffset:8;\tsize:8;\tsigned:0;\n"
	"\tfield:unsigned int dev;\toffset:16;\tsize:4;\tsigned:0;\n"
	"\tfield:__data_loc char[] path;\toffset:20;\tsize:4;\tsigned:0;\n",
	NULL
};

static const char *const system_task[] = {
	"task",
	"name: task_newtask\nID: 102\n" COMMON
	"\tfield:pid_t pid;\toffset:8;\tsize:4;\tsigned:1;\n"
	"\tfield:char comm[16];\toffset:12;\tsize:16;\tsigned:1;\n"
	"\tfield:unsigned long clone_flags;\toffset:32;\tsize:8;\tsigned:0;\n",
	NULL
};

static const char *const system_exec[] = {
	"sched",
	"name: sched_process_exec\nID: 103\n" COMMON
	"\tfield:__data_loc char[] filename;\toffset:8;\tsize:4;\tsigned:0;\n"
	"\tfield:pid_t pid;\toffset:12;\tsize:4;\tsigned:1;\n",
	NULL
};

static const char *const system_exit[] = {
	"sched",
	"name: sched_process_exit\nID: 104\n" COMMON
	"\tfield:char comm[16];\toffset:8;\tsize:16;\tsigned:1;\n"
	"\tfield:pid_t pid;\toffset:24;\tsize:4;\tsigned:1;\n",
	NULL
};

static const char *const *const systems[] = { system_mine, system_inode,
					      system_task, system_exec,
					      system_exit, NULL };

/* The page at hand of a ring: is there one, when was its last entry, and were
 * events lost in front of it? */
struct at {
	bool open, lost;
	uint64_t time, n_lost;
};

static struct {
	bool big, text, v6, files;
	struct fb_ring ring[CPUS];
	struct at at[CPUS];
	struct pb out, maps;
	uint64_t time;
} cap;

/* ---- pages */

static void end_page(size_t cpu)
{
	struct at *a = &cap.at[cpu];

	if (!a->open)
		return;
	uint64_t flags = a->lost ? FB_LOST | (a->n_lost ? FB_STORED : 0) : 0;

	fb_page_end(&cap.ring[cpu], flags, a->n_lost);
	a->open = a->lost = false;
}

/* Makes room for an entry of len bytes, its time and a count of lost events. */
static void mkftrace_open_page(size_t cpu, size_t len, uint64_t time)
{
	struct fb_ring *r = &cap.ring[cpu];

	if (cap.at[cpu].open && r->p.n - r->p.rec + len + 24 > PAGE)
		end_page(cpu);
	if (cap.at[cpu].open)
		return;
	cap.at[cpu].open = true;
	cap.at[cpu].time = time;
	fb_page(r, time);
}

static size_t mkftrace_cpu_of(const struct line *l)
{
	return mktext_number(l, "cpu", 0) % CPUS;
}

static uint64_t mkftrace_time_of(const struct line *l)
{
	return mktext_number(l, "time", 0) * 1000;
}

/* body holds the fields after the common ones. */
static void mkftrace_put_entry(const struct line *l, uint16_t id,
			       const struct pb *body)
{
	size_t cpu = mkftrace_cpu_of(l);
	struct fb_ring *r = &cap.ring[cpu];
	uint64_t time = mkftrace_time_of(l);

	mkftrace_open_page(cpu, (body->n + 3) / 4 * 4 + 8, time);
	uint64_t delta = time - cap.at[cpu].time;

	if (delta >> 27) {
		fb_word(r, 30, delta & ((1u << 27) - 1));
		pb_u32(&r->p, (uint32_t)(delta >> 27));
		delta = 0;
	}
	size_t at = fb_begin(r, (uint32_t)delta, id, 0,
			     (int32_t)mktext_number(l, "pid", 0));

	pb_raw(&r->p, body->d, body->n);
	fb_end(r, at);
	cap.at[cpu].time = time;
}

/* ---- entries */

/* Writes the word that says where in the entry an array of len bytes is. */
static void put_place(struct pb *b, size_t at, size_t len)
{
	pb_u32(b, (uint32_t)(len << 16 | at));
}

static void binary_stack(const struct line *l, enum id id, const char *key)
{
	uint64_t a[MAX_ADDRS];
	size_t n = mktext_addresses(l, key, a);
	struct pb b = { .big = cap.big };

	if (!n)
		return;
	if (id == ID_KSTACK)
		pb_u32(&b, (uint32_t)n);
	else
		mktext_put32(&b, l, "pid", 0);
	pb_u32(&b, 0);
	pb_u64s(&b, a, n);
	if (id == ID_USTACK && n < 8)
		pb_zeros(&b, 8 * (8 - n));
	mkftrace_put_entry(l, id, &b);
	free(b.d);
}

static uint32_t dev_of(const struct line *l, uint64_t *maj, uint64_t *min)
{
	const char *s = mktext_find(l, "dev");
	char *end;

	*maj = s ? mktext_parse(l, s, &end) : 0;
	*min = s ? mktext_parse(l, end + 1, &end) : 0;
	return (uint32_t)(*maj << 20 | *min);
}

static void binary_event(const struct line *l)
{
	struct pb b = { .big = cap.big };

	pb_u64(&b, (uint64_t)l->number);
	mkftrace_put_entry(l, ID_PLAIN, &b);
	b.n = 0;
	binary_stack(l, ID_KSTACK, "k");
	binary_stack(l, ID_USTACK, "u");
	if (mktext_find(l, "cookie")) {
		mktext_put64(&b, l, "cookie", 0);
		mkftrace_put_entry(l, ID_COOKIE, &b);
	}
	free(b.d);
}

static void binary_chain(const struct line *l)
{
	uint64_t a[MAX_ADDRS], ino[MAX_ADDRS] = { 0 };
	uint64_t maj, min;
	uint32_t dev = dev_of(l, &maj, &min);
	size_t n = mktext_addresses(l, "u", a);
	struct pb b = { .big = cap.big };
	size_t at = cap.files ? 28 : 20;

	mktext_addresses(l, "ino", ino);
	mktext_put64(&b, l, "cookie", 0);
	put_place(&b, at, n * 8);
	if (cap.files) {
		put_place(&b, at + n * 8, n * 8);
		put_place(&b, at + n * 16, n * 4);
	}
	pb_u64s(&b, a, n);
	if (cap.files)
		pb_u64s(&b, ino, n);
	for (size_t i = 0; cap.files && i < n; i++)
		pb_u32(&b, ino[i] && ino[i] != UINT64_MAX ? dev : 0);
	mkftrace_put_entry(l, ID_CHAIN, &b);
	free(b.d);
}

static void binary_other(const struct line *l)
{
	const char *kind = l->word[0];
	struct pb b = { .big = cap.big };
	uint64_t maj, min;
	enum id id = ID_EXIT;

	if (!strcmp(kind, "inode")) {
		const char *path = mktext_need(l, "path");

		id = ID_INODE;
		mktext_put64(&b, l, "ino", 0);
		pb_u32(&b, dev_of(l, &maj, &min));
		put_place(&b, 24, strlen(path) + 1);
		pb_str_to(&b, path, 1);
	} else if (!strcmp(kind, "mark")) {
		const char *text = mktext_need(l, "text");

		id = ID_PRINT;
		pb_u64(&b, 0xffffffff81000000);
		pb_raw(&b, text, strlen(text));
		pb_raw(&b, "\n", 2);
	} else if (!strcmp(kind, "fork")) {
		id = ID_NEWTASK;
		mktext_put32(&b, l, "child", 0);
		fb_comm(&b, "app");
		pb_u32(&b, 0);
		pb_u64(&b, mktext_find(l, "thread") ? 0x10000 : 0);
	} else if (!strcmp(kind, "exec")) {
		const char *path = mktext_need(l, "path");

		id = ID_EXEC;
		put_place(&b, 16, strlen(path) + 1);
		mktext_put32(&b, l, "pid", 0);
		pb_str_to(&b, path, 1);
	} else {
		fb_comm(&b, "app");
		mktext_put32(&b, l, "pid", 0);
	}
	mkftrace_put_entry(l, id, &b);
	free(b.d);
}

static void binary_lost(const struct line *l)
{
	size_t cpu = mkftrace_cpu_of(l);

	end_page(cpu);
	cap.at[cpu].lost = true;
	cap.at[cpu].n_lost = mktext_number(l, "n", 0);
}

static void mkftrace_add_map(const struct line *l)
{
	char text[512];
	int n = snprintf(text, sizeof(text),
			 "%" PRIx64 " 1 app\n%" PRIx64 " %" PRIx64 " %s\n",
			 mktext_number(l, "pid", 0),
			 mktext_number(l, "start", 0),
			 mktext_number(l, "end", 0), mktext_need(l, "path"));

	pb_raw(&cap.maps, text, (size_t)n);
}

static void mkftrace_binary(const struct line *l)
{
	const char *kind = l->word[0];

	if (!strcmp(kind, "event"))
		binary_event(l);
	else if (!strcmp(kind, "chain"))
		binary_chain(l);
	else if (!strcmp(kind, "lost"))
		binary_lost(l);
	else if (!strcmp(kind, "map"))
		mkftrace_add_map(l);
	else
		binary_other(l);
}

/* ---- text */

static void mkftrace_say(const char *fmt, ...)
	__attribute__((format(printf, 1, 2)));
static void mkftrace_say(const char *fmt, ...)
{
	char text[8192];
	va_list ap;

	va_start(ap, fmt);
	int n = vsnprintf(text, sizeof(text), fmt, ap);

	va_end(ap);
	pb_raw(&cap.out, text, (size_t)n);
}

static void mkftrace_text_head(const struct line *l)
{
	uint64_t t = mktext_number(l, "time", 0);

	mkftrace_say("%16s-%-7" PRIu64 " [%03" PRIu64 "] ..... %5" PRIu64
		     ".%06" PRIu64 ": ",
		     "app", mktext_number(l, "pid", 0),
		     mktext_number(l, "cpu", 0), t / 1000000, t % 1000000);
}

static void text_stack(const struct line *l, const char *key, const char *name)
{
	uint64_t a[MAX_ADDRS];
	size_t n = mktext_addresses(l, key, a);

	if (!n)
		return;
	mkftrace_text_head(l);
	mkftrace_say("%s\n", name);
	for (size_t i = 0; i < n; i++)
		mkftrace_say(key[0] == 'k' ? " => %016" PRIx64 "\n"
					   : " =>  <%016" PRIx64 ">\n",
			     a[i]);
}

static void text_chain(const struct line *l)
{
	uint64_t a[MAX_ADDRS], ino[MAX_ADDRS] = { 0 };
	size_t n = mktext_addresses(l, "u", a);
	uint64_t maj, min;

	dev_of(l, &maj, &min);
	mktext_addresses(l, "ino", ino);
	mkftrace_text_head(l);
	mkftrace_say("<user stack unwind>\ncookie=%" PRIx64 "\n",
		     mktext_number(l, "cookie", 0));
	for (size_t i = 0; i < n; i++) {
		bool file = ino[i] && ino[i] != UINT64_MAX;

		mkftrace_say(" =>  <%016" PRIx64 ">", a[i]);
		if (cap.files)
			mkftrace_say(" : %" PRIu64 " : %" PRIu64 ":%" PRIu64,
				     ino[i], file ? maj : 0, file ? min : 0);
		mkftrace_say("\n");
	}
}

static void text_other(const struct line *l)
{
	const char *kind = l->word[0];
	uint64_t maj, min;
	uint64_t pid = mktext_number(l, "pid", 0);

	mkftrace_text_head(l);
	if (!strcmp(kind, "inode")) {
		dev_of(l, &maj, &min);
		mkftrace_say("inode_cache: inode=%" PRIu64 " dev=[%" PRIu64
			     ":%" PRIu64 "] path=%s\n",
			     mktext_number(l, "ino", 0), maj, min,
			     mktext_need(l, "path"));
	} else if (!strcmp(kind, "mark")) {
		mkftrace_say("tracing_mark_write: %s\n",
			     mktext_need(l, "text"));
	} else if (!strcmp(kind, "fork")) {
		mkftrace_say("task_newtask: pid=%" PRIu64
			     " comm=app clone_flags=%x "
			     "oom_score_adj=0\n",
			     mktext_number(l, "child", 0),
			     mktext_find(l, "thread") ? 0x10000 : 0);
	} else if (!strcmp(kind, "exec")) {
		mkftrace_say("sched_process_exec: filename=%s pid=%" PRIu64
			     " old_pid=%" PRIu64 "\n",
			     mktext_need(l, "path"), pid, pid);
	} else {
		mkftrace_say("sched_process_exit: comm=app pid=%" PRIu64
			     " prio=120\n",
			     pid);
	}
}

static void mkftrace_text(const struct line *l)
{
	const char *kind = l->word[0];

	if (!strcmp(kind, "map"))
		return;
	if (!strcmp(kind, "lost")) {
		uint64_t n = mktext_number(l, "n", 0);

		mkftrace_say("CPU:%" PRIu64 " [LOST ",
			     mktext_number(l, "cpu", 0));
		if (n)
			mkftrace_say("%" PRIu64 " ", n);
		mkftrace_say("EVENTS]\n");
	} else if (!strcmp(kind, "chain")) {
		text_chain(l);
	} else if (!strcmp(kind, "event")) {
		mkftrace_text_head(l);
		mkftrace_say("plain: n=%d\n", l->number);
		text_stack(l, "k", "<stack trace>");
		text_stack(l, "u", "<user stack trace>");
		if (mktext_find(l, "cookie")) {
			mkftrace_text_head(l);
			mkftrace_say("user_unwind_cookie: cookie=%" PRIx64 "\n",
				     mktext_number(l, "cookie", 0));
		}
	} else {
		text_other(l);
	}
}

/* ---- files */

static void mkftrace_file(void)
{
	const char *formats[ARRAY_SIZE(ftrace_formats)];
	struct fb_form form = {
		.page = PAGE,
		.header = FB_HEADER("4080"),
		.formats = formats,
		.systems = systems,
	};
	struct pb opts = { .big = cap.big };

	memcpy(formats, ftrace_formats, sizeof(formats));
	if (cap.files)
		formats[4] = stack_6;
	if (cap.maps.n)
		fb_option(&opts, FT_PROCMAPS, cap.maps.d, cap.maps.n);
	if (cap.v6)
		fb_put6(&cap.out, &form, &opts, cap.ring, CPUS);
	else
		fb_put7(&cap.out, &form, &opts, cap.ring, CPUS, 1);
	free(opts.d);
}

static void mkftrace_add(const struct line *l)
{
	static const char *const kinds[] = { "event", "chain", "inode", "mark",
					     "fork",  "exec",  "exit",	"lost",
					     "map",   NULL };
	size_t i = 0;

	if (!strcmp(l->word[0], "layout")) {
		cap.files = l->n > 1 && !strcmp(l->word[1], "6");
		return;
	}
	while (kinds[i] && strcmp(kinds[i], l->word[0]))
		i++;
	if (!kinds[i])
		die(l, "no such record:", l->word[0]);
	if (mktext_find(l, "time") && mkftrace_time_of(l) < cap.time)
		die(l, "a time before the last one:", mktext_need(l, "time"));
	if (mktext_find(l, "time"))
		cap.time = mkftrace_time_of(l);
	if (cap.text)
		mkftrace_text(l);
	else
		mkftrace_binary(l);
}

int main(int argc, char **argv)
{
	int i = 1;

	for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
		cap.big |= !strcmp(argv[i], "-b");
		cap.v6 |= !strcmp(argv[i], "-6");
		cap.text |= !strcmp(argv[i], "-t");
	}
	if (argc - i != 2) {
		fputs("usage: mkftrace [-b] [-6] [-t] IN OUT\n", stderr);
		return 2;
	}
	cap.out.big = cap.big;
	for (int32_t k = 0; k < CPUS; k++)
		cap.ring[k] = (struct fb_ring){ .p.big = cap.big,
						.page = PAGE,
						.cpu = k };
	if (cap.text)
		mkftrace_say("# tracer: nop\n#\n");
	read_lines(argv[i], mkftrace_add);
	for (size_t k = 0; k < CPUS; k++)
		end_page(k);
	if (!cap.text)
		mkftrace_file();
	write_file(argv[i + 1], &cap.out);
	for (size_t k = 0; k < CPUS; k++)
		free(cap.ring[k].p.d);
	free(cap.out.d);
	free(cap.maps.d);
	return 0;
}
